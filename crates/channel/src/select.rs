//! Waiting at several channels at once.
//!
//! Invariants: the waiter stands in line at all of them or, when a call returned something, at none: entries that are left behind are dead. The first
//! channel that is looked at changes from call to call, so that a busy one does not starve the others.
//! Rejected: registering on the way to the first ready channel (most calls find one; each would pay a lock per channel).

use crate::{Channel, Message, Recv, TryRecv, Waiter};

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

/// Receives from a channel that has something, or waits at all of them. When it returns `Got` or `Closed`, the waiter stands in no
/// line. A channel that is given twice counts as its first mention.
pub fn select<T: Message>(channels: &[&Channel<T>], waiter: &Waiter) -> Selected<T> {
    let count = channels.len();
    let start = if count > 0 { waiter.next_turn() as usize % count } else { 0 };
    let order = || (start..count).chain(0..start);
    if waiter.is_free() {
        // Without a place in any line, nothing is promised to us: a look is enough.
        for i in order().filter(|&i| channels[i].looks_ready()) {
            if let TryRecv::Got(message) = channels[i].try_recv() {
                return Selected::Got(first_mention(channels, i), message);
            }
        }
    }
    // The channel that claimed the waiter first: its message is set aside.
    let claimed = waiter.claimed().and_then(|(id, _)| channels.iter().position(|c| c.id() == id));
    // A wait that begins has no living entry in any line; one that goes on, or a channel that is given twice, may have.
    let absent = !waiter.is_waiting() && all_different(channels);
    let mut open = false;
    for i in claimed.into_iter().chain(order().filter(|&i| Some(i) != claimed)) {
        match channels[i].recv_or_enlist(waiter, absent) {
            Recv::Got(message) => {
                leave(channels, waiter);
                return Selected::Got(first_mention(channels, i), message);
            }
            Recv::Closed => {}
            Recv::Registered => open = true,
        }
    }
    if open {
        return Selected::Registered;
    }
    leave(channels, waiter);
    Selected::Closed
}

fn all_different<T: Message>(channels: &[&Channel<T>]) -> bool {
    const FEW: usize = 12;
    if channels.len() <= FEW {
        return (1..channels.len()).all(|i| first_mention(channels, i) == i);
    }
    let mut ids: Vec<u64> = channels.iter().map(|c| c.id()).collect();
    ids.sort_unstable();
    ids.windows(2).all(|pair| pair[0] != pair[1])
}

fn first_mention<T: Message>(channels: &[&Channel<T>], found: usize) -> usize {
    channels[..found].iter().position(|c| c.same(channels[found])).unwrap_or(found)
}

/// Takes the waiter out of all lines of a select that was given up (time-out, kill) or has come to an end.
pub fn leave<T: Message>(channels: &[&Channel<T>], waiter: &Waiter) {
    if waiter.disarm() {
        return;
    }
    // Claimed by one of them, which waits for no answer.
    for channel in channels {
        channel.unregister(waiter);
    }
}
