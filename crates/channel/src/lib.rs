//! Channels: process-level FIFO queues of messages between VMs, many senders and many receivers.
//!
//! Invariants:
//! - A message is in the queue, or with one sender, or with one receiver. `promised <= queue.len()`: each claimed receiver has a
//!   message set aside that nobody else takes, and `queue.len() + space <= capacity`: likewise for senders.
//! - Waiters are claimed in the order in which they came. A claim is collected by the waiter's next call on the channel, or handed
//!   on by `unregister`: no wake-up is lost with a thread that is killed or timed out.
//! - If a live waiter stands in line, there is nothing for it: no unpromised message (no free place).
//! - Tasks are woken after the lock is released; nobody suspends under it.
//!
//! Rejected: handing the message to the waiter directly (a killed receiver would take it along; select would need a slot of each
//! type); waking without setting aside (a busy receiver on the same worker would starve the others); swap-all lists (bounds,
//! select and closing need to see the queue).

mod waiter;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use waiter::Entry;
pub use waiter::{Reason, Waiter};

/// Bytes that a message keeps alive, for `queued_bytes`. Must not change while the message is queued.
pub trait Weigh {
    fn weight(&self) -> usize {
        0
    }
}

/// A process-level queue. A handle: clones are the same channel.
pub struct Channel<T>(Arc<Shared<T>>);

struct Shared<T> {
    id: u64,
    capacity: usize,
    /// Taken by senders and receivers on any thread for a push or a pop, and by waiters that come and go. Leaf lock.
    inner: Mutex<Inner<T>>,
}

struct Inner<T> {
    queue: VecDeque<T>,
    bytes: usize,
    closed: bool,
    /// Messages set aside for claimed receivers.
    promised: usize,
    /// Places set aside for claimed senders.
    space: usize,
    receivers: VecDeque<Entry>,
    senders: VecDeque<Entry>,
}

/// Outcome of [`Channel::try_send`] when it fails; the message comes back.
#[derive(Debug, PartialEq, Eq)]
pub enum TrySendError<T> {
    Full(T),
    Closed(T),
}

/// Outcome of [`Channel::try_recv`].
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub enum TryRecv<T> {
    Got(T),
    /// Nothing for this caller now.
    Empty,
    /// Closed and drained.
    Closed,
}

/// Outcome of [`Channel::recv_or_register`].
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub enum Recv<T> {
    Got(T),
    /// Closed and drained.
    Closed,
    /// The waiter stands in line (or is claimed by another channel already): park, and call again when woken.
    Registered,
}

/// Outcome of [`Channel::send_or_register`].
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub enum Send<T> {
    Sent,
    Closed(T),
    /// No room: the waiter stands in line. Park, and call again with the message when woken.
    Registered(T),
}

/// Outcome of [`select`].
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub enum Selected<T> {
    /// Index of the channel, and its message.
    Got(usize, T),
    /// All channels are closed and drained.
    Closed,
    /// Waits at all of them: park, and call again when woken.
    Registered,
}

/// Whom to wake once the lock is released. One message wakes one receiver, so a list is needed only when a channel closes.
#[derive(Default)]
struct Wakes {
    first: Option<Waiter>,
    more: Vec<Waiter>,
}

impl Wakes {
    fn add(&mut self, waiter: Waiter) {
        match self.first {
            None => self.first = Some(waiter),
            Some(_) => self.more.push(waiter),
        }
    }

    fn wake(self) {
        for waiter in self.first.iter().chain(&self.more) {
            waiter.task().wake();
        }
    }
}

/// The source of channel ids: they tell channels apart for as long as the process runs. Incremented once per channel.
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

impl<T: Weigh> Channel<T> {
    pub fn unbounded() -> Channel<T> {
        Channel::with_capacity(usize::MAX)
    }

    /// Holds at most `capacity` messages (at least one).
    pub fn bounded(capacity: usize) -> Channel<T> {
        Channel::with_capacity(capacity.max(1))
    }

    fn with_capacity(capacity: usize) -> Channel<T> {
        Channel(Arc::new(Shared {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            capacity,
            inner: Mutex::new(Inner {
                queue: VecDeque::new(),
                bytes: 0,
                closed: false,
                promised: 0,
                space: 0,
                receivers: VecDeque::new(),
                senders: VecDeque::new(),
            }),
        }))
    }

    /// Unique in the process.
    pub fn id(&self) -> u64 {
        self.0.id
    }

    pub fn capacity(&self) -> Option<usize> {
        (self.0.capacity != usize::MAX).then_some(self.0.capacity)
    }

    pub fn len(&self) -> usize {
        self.0.inner.lock().queue.len()
    }

    pub fn queued_bytes(&self) -> usize {
        self.0.inner.lock().bytes
    }

    /// Receivers and senders in line.
    pub fn waiting(&self) -> usize {
        let inner = self.0.inner.lock();
        inner.receivers.iter().chain(&inner.senders).filter(|entry| entry.is_live()).count()
    }

    pub fn is_closed(&self) -> bool {
        self.0.inner.lock().closed
    }

    /// Whether both handles are the same channel.
    pub fn same(&self, other: &Channel<T>) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.locked(|shared, inner, wakes| {
            if inner.closed {
                return Err(TrySendError::Closed(message));
            }
            if !inner.has_space(shared.capacity) {
                return Err(TrySendError::Full(message));
            }
            inner.push(shared.id, message, wakes);
            Ok(())
        })
    }

    pub fn try_recv(&self) -> TryRecv<T> {
        self.locked(|shared, inner, wakes| match inner.pop_free(shared, wakes) {
            Some(message) => TryRecv::Got(message),
            None if inner.closed && inner.queue.is_empty() => TryRecv::Closed,
            None => TryRecv::Empty,
        })
    }

    /// Takes a message, or puts the waiter in line, in one step: a message that comes later claims it. A waiter that was claimed
    /// for a message gets the one that was set aside.
    pub fn recv_or_register(&self, waiter: &Waiter) -> Recv<T> {
        self.locked(|shared, inner, wakes| {
            let collected = inner.collect(shared, waiter);
            if let Some(message) = inner.pop_free(shared, wakes) {
                return Recv::Got(message);
            }
            if collected {
                inner.settle(shared, wakes);
            }
            match inner.closed && inner.queue.is_empty() {
                true => Recv::Closed,
                false => {
                    enlist(&mut inner.receivers, waiter);
                    Recv::Registered
                }
            }
        })
    }

    /// Queues the message, or puts the waiter in line for a place.
    pub fn send_or_register(&self, message: T, waiter: &Waiter) -> Send<T> {
        self.locked(|shared, inner, wakes| {
            let collected = inner.collect(shared, waiter);
            if !inner.closed && inner.has_space(shared.capacity) {
                inner.push(shared.id, message, wakes);
                return Send::Sent;
            }
            if collected {
                inner.settle(shared, wakes);
            }
            if inner.closed {
                return Send::Closed(message);
            }
            enlist(&mut inner.senders, waiter);
            Send::Registered(message)
        })
    }

    /// Takes the waiter out of line, after a time-out, a kill, or when another channel of a select had something. True if it was
    /// in line, unclaimed. A claim that this channel had made already goes to the next in line.
    pub fn unregister(&self, waiter: &Waiter) -> bool {
        self.locked(|shared, inner, wakes| {
            let mut found = false;
            for line in [&mut inner.receivers, &mut inner.senders] {
                line.retain(|entry| {
                    let ours = entry.belongs_to(waiter);
                    found |= ours && entry.is_live();
                    !ours
                });
            }
            if inner.collect(shared, waiter) {
                inner.settle(shared, wakes);
            }
            found
        })
    }

    /// No more messages: those queued can still be received. Wakes everybody in line. True if it was open.
    pub fn close(&self) -> bool {
        self.locked(|shared, inner, wakes| {
            if std::mem::replace(&mut inner.closed, true) {
                return false;
            }
            for line in [&mut inner.receivers, &mut inner.senders] {
                line.drain(..).filter_map(|entry| entry.claim(shared.id, Reason::Closed)).for_each(|waiter| wakes.add(waiter));
            }
            true
        })
    }

    /// Takes out all messages that nobody was promised, for a dying process or a flush.
    pub fn drain(&self) -> Vec<T> {
        self.locked(|shared, inner, wakes| std::iter::from_fn(|| inner.pop_free(shared, wakes)).collect())
    }

    /// Runs `f` under the lock, and the wake-ups that it asks for after it.
    fn locked<R>(&self, f: impl FnOnce(&Shared<T>, &mut Inner<T>, &mut Wakes) -> R) -> R {
        let mut wakes = Wakes::default();
        let result = f(&self.0, &mut self.0.inner.lock(), &mut wakes);
        wakes.wake();
        result
    }
}

impl<T: Weigh> Inner<T> {
    fn has_space(&self, capacity: usize) -> bool {
        self.queue.len() + self.space < capacity
    }

    fn push(&mut self, id: u64, message: T, wakes: &mut Wakes) {
        self.bytes += message.weight();
        self.queue.push_back(message);
        self.promise_messages(id, wakes);
    }

    /// The oldest message, if one is not set aside for others.
    fn pop_free(&mut self, shared: &Shared<T>, wakes: &mut Wakes) -> Option<T> {
        if self.queue.len() <= self.promised {
            return None;
        }
        let message = self.queue.pop_front()?;
        self.bytes -= message.weight();
        self.settle(shared, wakes);
        Some(message)
    }

    /// Turns a claim by this channel back into a free message or place, which the caller then takes or passes on. True if there
    /// was one.
    fn collect(&mut self, shared: &Shared<T>, waiter: &Waiter) -> bool {
        match waiter.collect(shared.id) {
            Some(Reason::Message) => self.promised -= 1,
            Some(Reason::Space) => self.space -= 1,
            Some(Reason::Closed) => {}
            None => return false,
        }
        true
    }

    /// Sets what is free aside for those in line.
    fn settle(&mut self, shared: &Shared<T>, wakes: &mut Wakes) {
        self.promise_messages(shared.id, wakes);
        while !self.closed && self.has_space(shared.capacity) {
            let Some(entry) = self.senders.pop_front() else { break };
            if let Some(waiter) = entry.claim(shared.id, Reason::Space) {
                self.space += 1;
                wakes.add(waiter);
            }
        }
        if self.closed && self.queue.is_empty() {
            // Receivers that came after the close and waited for messages promised to others.
            self.receivers.drain(..).filter_map(|entry| entry.claim(shared.id, Reason::Closed)).for_each(|waiter| wakes.add(waiter));
        }
    }

    fn promise_messages(&mut self, id: u64, wakes: &mut Wakes) {
        while self.queue.len() > self.promised {
            let Some(entry) = self.receivers.pop_front() else { break };
            if let Some(waiter) = entry.claim(id, Reason::Message) {
                self.promised += 1;
                wakes.add(waiter);
            }
        }
    }
}

/// Puts the waiter at the end of the line, once. Dead entries at the front go; the rest is skipped when its turn comes.
fn enlist(line: &mut VecDeque<Entry>, waiter: &Waiter) {
    while line.front().is_some_and(|entry| !entry.is_live()) {
        line.pop_front();
    }
    if waiter.is_waiting() && line.iter().any(|entry| entry.belongs_to(waiter) && entry.is_live()) {
        return;
    }
    if let Some(entry) = waiter.arm() {
        line.push_back(entry);
    }
}

/// Receives from the first channel that has something, or waits at all of them. When it returns `Got` or `Closed`, the waiter
/// stands in no line.
pub fn select<T: Weigh>(channels: &[&Channel<T>], waiter: &Waiter) -> Selected<T> {
    // The channel that claimed the waiter first: its message is set aside.
    let claimed = waiter.claimed().and_then(|(id, _)| channels.iter().position(|c| c.id() == id));
    let order = claimed.into_iter().chain((0..channels.len()).filter(|&i| Some(i) != claimed));
    let fresh = waiter.is_free();
    let mut open = false;
    for i in order {
        match channels[i].recv_or_register(waiter) {
            Recv::Got(message) => {
                if !(fresh && waiter.is_free()) {
                    leave(channels, waiter);
                }
                return Selected::Got(i, message);
            }
            Recv::Closed => {}
            Recv::Registered => open = true,
        }
    }
    if open { Selected::Registered } else { Selected::Closed }
}

/// Takes the waiter out of all lines of a select that was given up (time-out, kill).
pub fn leave<T: Weigh>(channels: &[&Channel<T>], waiter: &Waiter) {
    for channel in channels {
        channel.unregister(waiter);
    }
}

impl<T> Clone for Channel<T> {
    fn clone(&self) -> Channel<T> {
        Channel(self.0.clone())
    }
}

macro_rules! weightless {
    ($($t:ty),*) => { $(impl Weigh for $t {})* };
}
weightless!((), u32, u64, usize, i64, f64);

impl Weigh for String {
    fn weight(&self) -> usize {
        self.len()
    }
}

impl Weigh for Vec<u8> {
    fn weight(&self) -> usize {
        self.len()
    }
}

#[cfg(test)]
#[path = "channel_tests.rs"]
mod tests;
