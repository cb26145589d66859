//! Channels that only queued messages lead to: two that hold each other, one that holds itself, rings of any length.
//!
//! Each channel counts its handles outside of queues and those inside (`Shared::handles`). When the last outside handle goes:
//! - and there is none inside either, nobody can ever receive what is queued: the messages go now, by a list, not by recursion
//!   (a chain of a million channels is dropped on a small stack);
//! - and some are inside while its own queue holds handles, it may lie on a ring: trial deletion over what its queue leads to
//!   (Lins, "Cyclic reference counting with lazy mark-scan", 1992, reduced to the one place where rings close here).
//!
//! Why that is exact: a ring becomes garbage by the drop of an outside handle to one of its channels, or to a channel that leads to
//! it, and that drop is what starts the search. The search holds the locks of all channels that it judges: nothing enters or leaves
//! their queues. A channel without outside handles whose inside ones all lie in those queues can't be reached by anybody, so
//! the counts that were read stay true.
//!
//! Searches run one at a time, since each takes several channels' locks. Everybody else takes one lock at a time.
//! Rejected: weak handles inside messages (a message would lose its reply channel when the sender drops its own handle);
//! searching at every drop (a server's inbox with a million requests that hold reply channels would be walked a million times).

use std::collections::HashMap;
use std::collections::VecDeque;

use zakuro_base::sync::Arc;
use zakuro_base::sync::atomic::Ordering;

use crate::{Channel, INSIDE, Message, OUTSIDE, Shared};

/// Lets one search run at a time. See the module.
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
static SEARCHING: zakuro_base::sync::Mutex<()> = zakuro_base::sync::Mutex::new(());

#[cfg(feature = "loom")]
loom::lazy_static! {
    static ref SEARCHING: zakuro_base::sync::Mutex<()> = zakuro_base::sync::Mutex::new(());
}

#[cfg(feature = "shuttle")]
shuttle::lazy_static! {
    static ref SEARCHING: zakuro_base::sync::Mutex<()> = zakuro_base::sync::Mutex::new(());
}

/// An outside handle goes.
pub(crate) fn release<T: Message>(shared: &Arc<Shared<T>>) {
    if drop_outside(shared) {
        bury(shared.clone());
    }
}

/// Counts an outside handle down. True if it was the last.
fn drop_outside<T: Message>(shared: &Shared<T>) -> bool {
    shared.handles.fetch_sub(OUTSIDE, Ordering::AcqRel) % INSIDE == OUTSIDE
}

/// Drops what nobody can receive any more, beginning with a channel that has no outside handle.
#[cold]
fn bury<T: Message>(first: Arc<Shared<T>>) {
    let mut suspects = vec![first];
    while let Some(shared) = suspects.pop() {
        let messages = match shared.handles.load(Ordering::Acquire) {
            0 => shared.inner.lock().take_all(&shared).into(),
            handles if handles % INSIDE == 0 && shared.inner.lock().carriers > 0 => search(&shared),
            _ => continue,
        };
        for message in messages.into_iter().flatten() {
            // The channels that the message leads to outlive it, so that its drop is not the end of theirs.
            let mut held: Vec<Arc<Shared<T>>> = Vec::new();
            if message.has_handles() {
                message.handles(&mut |channel| {
                    channel.leave_queue();
                    channel.0.handles.fetch_add(OUTSIDE, Ordering::Relaxed);
                    held.push(channel.0.clone());
                });
            }
            drop(message);
            suspects.extend(held.into_iter().filter(|shared| drop_outside(shared)));
        }
    }
}

/// The queues of the channels that `seed` leads to and that nobody outside can reach; none if `seed` itself can be.
fn search<T: Message>(seed: &Arc<Shared<T>>) -> Vec<VecDeque<T>> {
    let _alone = SEARCHING.lock();
    let mut found = vec![seed.clone()];
    let mut numbers: HashMap<u64, usize> = HashMap::from([(seed.id, 0)]);
    let mut walked = 0;
    loop {
        // What they lead to, one lock at a time.
        while walked < found.len() {
            let shared = found[walked].clone();
            walked += 1;
            for channel in leads_to(&shared.inner.lock()) {
                note(&mut found, &mut numbers, channel);
            }
        }
        // Again, with all of them locked. More may have come in between.
        let mut locked: Vec<_> = found.iter().map(|shared| shared.inner.lock()).collect();
        let mut new = Vec::new();
        let mut inside = vec![0; locked.len()];
        let mut edges: Vec<Vec<usize>> = Vec::new();
        for inner in &locked {
            let mut targets = Vec::new();
            for channel in leads_to(inner) {
                match numbers.get(&channel.id) {
                    Some(&number) => targets.push(number),
                    None => new.push(channel),
                }
            }
            edges.push(targets);
        }
        if !new.is_empty() {
            drop(locked);
            new.into_iter().for_each(|channel| note(&mut found, &mut numbers, channel));
            continue;
        }
        edges.iter().flatten().for_each(|&target| inside[target] += 1);
        let mut work: Vec<usize> = (0..found.len()).filter(|&i| found[i].handles.load(Ordering::Acquire) != inside[i] * INSIDE).collect();
        let mut alive = vec![false; found.len()];
        while let Some(i) = work.pop() {
            if !std::mem::replace(&mut alive[i], true) {
                work.extend(&edges[i]);
            }
        }
        return (0..found.len()).filter(|&i| !alive[i]).flat_map(|i| locked[i].take_all(&found[i])).collect();
    }
}

fn note<T: Message>(found: &mut Vec<Arc<Shared<T>>>, numbers: &mut HashMap<u64, usize>, channel: Arc<Shared<T>>) {
    numbers.entry(channel.id).or_insert_with(|| {
        found.push(channel);
        found.len() - 1
    });
}

/// The channels that the queued messages hold, each as often as it is held.
fn leads_to<T: Message>(inner: &crate::queue::Inner<T>) -> Vec<Arc<Shared<T>>> {
    let mut targets = Vec::new();
    if inner.carriers > 0 {
        for message in inner.queue.iter().filter(|message| message.has_handles()) {
            message.handles(&mut |channel: &Channel<T>| targets.push(channel.0.clone()));
        }
    }
    targets
}
