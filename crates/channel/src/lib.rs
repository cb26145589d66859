//! Channels: process-level FIFO queues of messages between VMs, many senders and many receivers.
//!
//! Map: `queue` (what is under a channel's lock), `record` (name and counters), `waiter` (standing in line), `select` (waiting at several), `reclaim` (channels
//! that only messages lead to). The state of a line and of a claim is explored by loom, and run by Miri: tests/models.rs; channels over a whole
//! scheduler by shuttle: shuttle_tests.rs.
//!
//! Invariants:
//! - A message is in the queue, or with one sender, or with one receiver. `promised <= queue.len()`: each claimed receiver has a
//!   message set aside that nobody else takes. What is queued and set aside for claimed senders is within the bounds.
//! - Waiters are claimed in the order in which they came. A claim is collected by the waiter's next call on the channel, or handed
//!   on by `unregister`: no wake-up is lost with a thread that is killed or timed out.
//! - What is oldest may lie in `front`, a batch that receivers took out of the queue at once, without handles in it (not where bytes are
//!   bounded). It is filled only when it is empty; what is set aside for claimed receivers stays in the queue. So no receiver stands in line while it
//!   holds messages. It counts against the bounds.
//! - If a live waiter stands in line, there is nothing for it: no unpromised message (no room for the first sender).
//! - Tasks are woken after the lock is released; nobody suspends under it. A message is dropped outside of it.
//! - A handle is either outside, or inside a queued message. What has no way from outside is dropped.
//!
//! Rejected: handing the message to the waiter directly (a killed receiver would take it along; select would need a slot of each
//! type); waking without setting aside (a busy receiver on the same worker would starve the others); swap-all lists everywhere (bounds
//! and rings of channels need to see the queue); a private batch for each receiver (a slow or killed one would keep what it took).

mod queue;
mod reclaim;
mod record;
mod select;
mod waiter;

/// What waits. Models bring their own.
#[cfg(not(any(feature = "loom", miri)))]
use zakuro_sched::{Mailbox, Task};
#[cfg(any(feature = "loom", miri))]
pub mod model;
#[cfg(any(feature = "loom", miri))]
use model::{Mailbox, Task};

use std::sync::atomic::AtomicU64 as Counter;

use zakuro_base::memory;
use zakuro_base::sync::Arc;
use zakuro_base::sync::Short;
use zakuro_base::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};

use queue::{Front, Inner, Wakes};
pub use record::Record;
pub use select::{Selected, leave, select};
pub use waiter::{Reason, Waiter};

/// What travels.
pub trait Message: Sized {
    /// Bytes that a message keeps alive, for `queued_bytes` and limits. Must not change while the message is queued.
    fn weight(&self) -> usize {
        0
    }

    /// Whether `handles` visits any. Asked for each message, so it has to be quick.
    fn has_handles(&self) -> bool {
        false
    }

    /// Shows the channel handles that the message owns: each once. The same ones, as long as the message is queued.
    fn handles(&self, visit: &mut dyn FnMut(&Channel<Self>)) {
        let _ = visit;
    }
}

/// A process-level queue. A handle: clones are the same channel.
pub struct Channel<T: Message>(Arc<Shared<T>>);

/// One handle outside of messages / inside a queued one, in `Shared::handles`.
const OUTSIDE: u64 = 1;
const INSIDE: u64 = 1 << 32;

pub(crate) struct Shared<T: Message> {
    id: u64,
    bounds: Bounds,
    record: Option<std::sync::Arc<Record>>,
    /// Mirror of `inner.closed`: written under the lock, for senders that would make a message in vain.
    closed: AtomicBool,
    /// Senders may stand in line while messages are in the front. Written under `inner`, read by receivers that took one of those without it.
    blocked: AtomicBool,
    /// How many handles are outside (low half) and how many lie in queued messages (high half). Outside ones are counted by whoever
    /// makes and drops them; a message's cross over when it is queued or taken out, under that queue's lock. One word, so that a
    /// look at it is a look at both. All changes release, the looks of `reclaim` acquire.
    handles: AtomicU64,
    /// What receivers of a flood use: the oldest messages, if receivers took a batch. Its lock is taken for a pop, and inside `inner` to fill it;
    /// no lock is taken under it. Its `count` is the length: made other than 0 under both locks, counted down under this one. So whoever holds
    /// `inner` and reads 0 knows that the front stays empty. A hint to others.
    front: Apart<Counted<Front<T>>>,
    /// Taken by senders for a push, by receivers for a pop or a batch, and by waiters that come and go. Leaf lock but for `front`; `reclaim`
    /// takes those of several channels that nobody else can reach. `count` mirrors `queue.len()`: written under the lock, read without it as a hint.
    inner: Apart<Counted<Inner<T>>>,
}

/// A lock, and beside it (on the cache line that its holders have anyway) a count that can be read without it.
struct Counted<T> {
    lock: Short<T>,
    count: AtomicUsize,
}

impl<T> Counted<T> {
    fn new(value: T) -> Counted<T> {
        Counted { lock: Short::new(value), count: AtomicUsize::new(0) }
    }

    #[inline(always)]
    fn lock(&self) -> impl std::ops::DerefMut<Target = T> + '_ {
        self.lock.lock()
    }

    #[inline(always)]
    fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn set_count(&self, count: usize) {
        self.count.store(count, Ordering::Relaxed);
    }
}

/// Begins a pair of cache lines (they are fetched in pairs). Senders and receivers of a flood write a pair each; what both read (bounds, `closed`)
/// lies on a third, which nobody writes: a shared one made has_room alone a quarter of a sender's time.
#[repr(align(128))]
struct Apart<T>(T);

impl<T> std::ops::Deref for Apart<T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

/// What a channel may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Most messages, at least one.
    pub messages: usize,
    /// Most bytes. A message that weighs more passes when the queue is empty.
    pub bytes: usize,
}

impl Bounds {
    pub const NONE: Bounds = Bounds { messages: usize::MAX, bytes: usize::MAX };
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

/// The source of channel ids: they tell channels apart for as long as the process runs. Incremented once per channel.
static NEXT_ID: Counter = Counter::new(1);

impl<T: Message> Channel<T> {
    pub fn unbounded() -> Channel<T> {
        Channel::new(Bounds::NONE)
    }

    /// Holds at most `capacity` messages (at least one).
    pub fn bounded(capacity: usize) -> Channel<T> {
        Channel::new(Bounds { messages: capacity.max(1), ..Bounds::NONE })
    }

    pub fn new(bounds: Bounds) -> Channel<T> {
        Channel::recorded(bounds, |_| None)
    }

    /// With what is to be known of it; `record` gets its id.
    pub fn recorded(bounds: Bounds, record: impl FnOnce(u64) -> Option<std::sync::Arc<Record>>) -> Channel<T> {
        let id = NEXT_ID.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Channel(Arc::new(Shared {
            id,
            bounds,
            record: record(id),
            handles: AtomicU64::new(OUTSIDE),
            closed: AtomicBool::new(false),
            blocked: AtomicBool::new(false),
            front: Apart(Counted::new(Front::new())),
            inner: Apart(Counted::new(Inner::new())),
        }))
    }

    /// Unique in the process.
    pub fn id(&self) -> u64 {
        self.0.id
    }

    pub fn record(&self) -> Option<&std::sync::Arc<Record>> {
        self.0.record.as_ref()
    }

    pub fn bounds(&self) -> Bounds {
        self.0.bounds
    }

    pub fn len(&self) -> usize {
        self.0.inner.lock().count(&self.0)
    }

    pub fn queued_bytes(&self) -> usize {
        let inner = self.0.inner.lock();
        inner.bytes + self.0.front.lock().bytes()
    }

    /// Receivers and senders in line.
    pub fn waiting(&self) -> usize {
        self.0.inner.lock().waiting()
    }

    pub fn is_closed(&self) -> bool {
        self.0.closed.load(Ordering::Acquire)
    }

    /// Whether both handles are the same channel.
    pub fn same(&self, other: &Channel<T>) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether a message of this weight would not be queued now: its maker may save the work. None: the channel is closed.
    pub fn has_room(&self, weight: usize) -> Option<bool> {
        let mut inner = self.0.inner.lock();
        (!inner.closed).then(|| inner.has_room(&self.0, weight))
    }

    /// Written out rather than by `locked`: each closure on the way would copy the message.
    #[inline]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        let mut wakes = Wakes::default();
        let shared = &*self.0;
        let mut inner = shared.inner.lock();
        if inner.closed {
            return Err(TrySendError::Closed(message));
        }
        if shared.bounds != Bounds::NONE && !inner.has_room(shared, message.weight()) {
            return Err(TrySendError::Full(message));
        }
        if !inner.has_memory() {
            drop(inner);
            drop(message);
            memory::out_of_memory();
        }
        inner.push(shared, message, &mut wakes);
        drop(inner);
        wakes.wake();
        Ok(())
    }

    #[inline]
    pub fn try_recv(&self) -> TryRecv<T> {
        if let Some(message) = self.pop_front() {
            return TryRecv::Got(message);
        }
        self.locked(|shared, inner, wakes| match inner.pop(shared, wakes) {
            Some(message) => TryRecv::Got(message),
            None if inner.closed && inner.queue.is_empty() => TryRecv::Closed,
            None => TryRecv::Empty,
        })
    }

    /// Takes a message, or puts the waiter in line, in one step: a message that comes later claims it. A waiter that was claimed
    /// for a message gets the one that was set aside.
    pub fn recv_or_register(&self, waiter: &Waiter) -> Recv<T> {
        self.recv_or_enlist(waiter, false)
    }

    /// [`Channel::recv_or_register`]. `absent`: the waiter is known not to stand in line here, so nobody looks for it among the others.
    pub(crate) fn recv_or_enlist(&self, waiter: &Waiter, absent: bool) -> Recv<T> {
        self.locked(|shared, inner, wakes| {
            let collected = inner.collect(shared, waiter);
            if let Some(message) = inner.pop(shared, wakes) {
                return Recv::Got(message);
            }
            if collected {
                inner.settle(shared, wakes);
            }
            match inner.closed && inner.queue.is_empty() {
                true => Recv::Closed,
                false => {
                    queue::enlist(&mut inner.receivers, waiter, 0, absent);
                    Recv::Registered
                }
            }
        })
    }

    /// Queues the message, or puts the waiter in line for room.
    pub fn send_or_register(&self, message: T, waiter: &Waiter) -> Send<T> {
        let sent = self.locked(|shared, inner, wakes| {
            if !inner.has_memory() {
                return Err(message);
            }
            let weight = message.weight();
            // What was set aside for it is its own, whoever stands in line behind.
            let collected = inner.collect(shared, waiter);
            if !inner.closed && (collected && inner.fits(shared, weight) || inner.has_room(shared, weight)) {
                inner.push(shared, message, wakes);
                return Ok(Send::Sent);
            }
            if collected {
                inner.settle(shared, wakes);
            }
            if inner.closed {
                return Ok(Send::Closed(message));
            }
            inner.enlist_sender(shared, waiter, weight, wakes);
            Ok(Send::Registered(message))
        });
        sent.unwrap_or_else(|message| {
            drop(message);
            memory::out_of_memory()
        })
    }

    /// Takes the waiter out of line, after a time-out, a kill, or when another channel of a select had something. True if it was
    /// in line, unclaimed. A claim that this channel had made already goes to the next in line.
    pub fn unregister(&self, waiter: &Waiter) -> bool {
        self.locked(|shared, inner, wakes| {
            let found = inner.remove(waiter);
            // A sender that goes away may have kept smaller messages behind it waiting.
            if inner.collect(shared, waiter) || found {
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
            shared.closed.store(true, Ordering::Release);
            inner.dismiss(shared, wakes);
            true
        })
    }

    /// Takes out all messages that nobody was promised, for a dying process or a flush.
    pub fn drain(&self) -> Vec<T> {
        self.locked(|shared, inner, wakes| std::iter::from_fn(|| inner.pop(shared, wakes)).collect())
    }

    /// Runs `f` under the lock, and the wake-ups that it asks for after it.
    #[inline(always)]
    fn locked<R>(&self, f: impl FnOnce(&Shared<T>, &mut Inner<T>, &mut Wakes) -> R) -> R {
        let mut wakes = Wakes::default();
        let shared = &*self.0;
        let result = f(shared, &mut shared.inner.lock(), &mut wakes);
        wakes.wake();
        result
    }

    /// Whether messages are queued, without the lock: a hint for receivers that would wait otherwise.
    #[inline]
    pub fn looks_ready(&self) -> bool {
        self.0.front.count() != 0 || self.0.inner.count() != 0
    }

    /// The oldest message of a batch. Nobody stands in line to receive while there is one.
    #[inline(always)]
    fn pop_front(&self) -> Option<T> {
        let shared = &*self.0;
        if shared.front.count() == 0 {
            return None;
        }
        if shared.bounds != Bounds::NONE {
            return self.pop_front_bounded();
        }
        shared.front.lock().pop(shared)
    }

    /// The same where senders may stand in line for the place that it leaves. See `Inner::watch_front`.
    #[inline(never)]
    fn pop_front_bounded(&self) -> Option<T> {
        let shared = &*self.0;
        let message = shared.front.lock().pop(shared);
        fence(Ordering::SeqCst);
        if shared.blocked.load(Ordering::Relaxed) {
            self.locked(|shared, inner, wakes| inner.settle(shared, wakes));
        }
        message
    }

    /// The message that owns this handle is queued: from now on it leads here only from that queue.
    pub(crate) fn enter_queue(&self) {
        self.0.handles.fetch_add(INSIDE - OUTSIDE, Ordering::AcqRel);
    }

    /// The message that owns this handle has left its queue.
    pub(crate) fn leave_queue(&self) {
        self.0.handles.fetch_sub(INSIDE - OUTSIDE, Ordering::AcqRel);
    }
}

impl<T: Message> Clone for Channel<T> {
    fn clone(&self) -> Channel<T> {
        self.0.handles.fetch_add(OUTSIDE, Ordering::Relaxed);
        Channel(self.0.clone())
    }
}

impl<T: Message> Drop for Channel<T> {
    fn drop(&mut self) {
        reclaim::release(&self.0);
    }
}

macro_rules! weightless {
    ($($t:ty),*) => { $(impl Message for $t {})* };
}
weightless!((), u32, u64, usize, i64, f64);

impl Message for String {
    fn weight(&self) -> usize {
        self.len()
    }
}

impl Message for Vec<u8> {
    fn weight(&self) -> usize {
        self.len()
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "reclaim_tests.rs"]
mod reclaim_tests;
#[cfg(all(test, feature = "shuttle"))]
mod shuttle_tests;
#[cfg(all(test, not(any(feature = "loom", feature = "shuttle", miri))))]
#[path = "channel_tests.rs"]
mod tests;
