//! What a channel's lock protects: the queue, who stands in line, what is set aside for whom. See the crate for the invariants.

use std::collections::VecDeque;

use zakuro_base::memory;
use zakuro_base::sync::atomic::{Ordering, fence};

use crate::waiter::{Claim, Entry};
use crate::{Bounds, Message, Reason, Shared, Waiter};

/// A drained queue keeps room for this many messages whatever came of late, and at most for this many.
const KEPT: usize = 1024;
const KEPT_AT_MOST: usize = 64 * 1024;
/// From this many on, receivers take all that is queued at once: under a lock of their own, away from the senders.
const BATCH: usize = if cfg!(any(feature = "loom", feature = "shuttle")) { 2 } else { 8 };

/// A batch that receivers took out of the queue, with a lock of its own (`Shared::front`).
pub(crate) struct Front<T> {
    messages: VecDeque<T>,
    bytes: usize,
}

impl<T: Message> Front<T> {
    pub(crate) fn new() -> Front<T> {
        Front { messages: VecDeque::new(), bytes: 0 }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self, shared: &Shared<T>) -> Option<T> {
        let message = self.messages.pop_front()?;
        self.bytes -= message.weight();
        shared.front.set_count(self.messages.len());
        if self.messages.is_empty() && self.messages.capacity() > KEPT_AT_MOST {
            self.messages.shrink_to(KEPT);
        }
        Some(message)
    }
}

pub(crate) struct Inner<T> {
    pub(crate) queue: VecDeque<T>,
    pub(crate) bytes: usize,
    pub(crate) closed: bool,
    /// Most messages since it was last empty.
    peak: usize,
    /// Queued messages that own channel handles.
    pub(crate) carriers: usize,
    /// Messages set aside for claimed receivers.
    promised: usize,
    /// At least as many messages are in the front. Read anew from its count when it matters: looking there at each push would take
    /// the receivers' cache line away.
    ahead: usize,
    /// Places and bytes set aside for claimed senders.
    places: usize,
    reserved: usize,
    pub(crate) receivers: VecDeque<Entry>,
    pub(crate) senders: VecDeque<Entry>,
}

/// Whom to wake once the lock is released. One message wakes one receiver, so a list is needed only when a channel closes.
#[derive(Default)]
pub(crate) struct Wakes {
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

    #[inline]
    pub(crate) fn wake(self) {
        let Some(first) = self.first else { return };
        first.wake();
        for waiter in &self.more {
            waiter.wake();
        }
    }
}

impl<T: Message> Inner<T> {
    pub(crate) fn new() -> Inner<T> {
        Inner {
            queue: VecDeque::new(),
            bytes: 0,
            closed: false,
            peak: 0,
            carriers: 0,
            promised: 0,
            ahead: 0,
            places: 0,
            reserved: 0,
            receivers: VecDeque::new(),
            senders: VecDeque::new(),
        }
    }

    pub(crate) fn waiting(&self) -> usize {
        self.receivers.iter().chain(&self.senders).filter(|entry| entry.is_live()).count()
    }

    /// Whether the bounds allow another message of this weight.
    pub(crate) fn fits(&mut self, shared: &Shared<T>, weight: usize) -> bool {
        let bounds = &shared.bounds;
        let mut count = self.queue.len() + self.places + self.ahead;
        if count >= bounds.messages && self.ahead > 0 {
            self.ahead = shared.front.count();
            count = self.queue.len() + self.places + self.ahead;
        }
        count == 0 || count < bounds.messages && (self.bytes + self.reserved).saturating_add(weight) <= bounds.bytes
    }

    /// Whether a sender that has not waited may queue a message: not in front of those in line.
    pub(crate) fn has_room(&mut self, shared: &Shared<T>, weight: usize) -> bool {
        if !self.senders.is_empty() {
            prune(&mut self.senders);
        }
        self.senders.is_empty() && self.fits(shared, weight)
    }

    /// Whether there is memory to queue one more. Asked before a message is handed over: who is refused must not be ended by the allocator here, where he
    /// holds the lock, and neither may his message be dropped here.
    #[inline]
    pub(crate) fn has_memory(&mut self) -> bool {
        self.queue.len() < self.queue.capacity() || self.grow()
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> bool {
        memory::fallible(|| self.queue.try_reserve(1)).is_ok()
    }

    /// The caller has asked [`Inner::has_memory`].
    #[inline]
    pub(crate) fn push(&mut self, shared: &Shared<T>, message: T, wakes: &mut Wakes) {
        let weight = message.weight();
        self.bytes += weight;
        if message.has_handles() {
            self.carriers += 1;
            message.handles(&mut |channel| channel.enter_queue());
        }
        self.queue.push_back(message);
        shared.inner.set_count(self.queue.len());
        self.peak = self.peak.max(self.queue.len());
        if let Some(record) = &shared.record {
            record.pushed(weight, self.queue.len());
        }
        if !self.receivers.is_empty() {
            self.promise_messages(shared.id, wakes);
        }
        // A place that was set aside may have been larger than the message, and others wait for the rest.
        if !self.senders.is_empty() {
            self.grant_room(shared, wakes);
        }
    }

    /// The oldest message, if one is not set aside for others. Takes a batch to the front when many are queued that anybody may have: also while woken
    /// receivers are on their way, or several of them would meet the senders at each message.
    #[inline]
    pub(crate) fn pop(&mut self, shared: &Shared<T>, wakes: &mut Wakes) -> Option<T> {
        // Only a holder of this lock makes it other than 0.
        if shared.front.count() != 0
            && let Some(message) = shared.front.lock().pop(shared)
        {
            if !self.senders.is_empty() {
                self.settle(shared, wakes);
            }
            return Some(message);
        }
        let free = self.queue.len() - self.promised;
        if free >= BATCH && self.carriers == 0 && shared.bounds.bytes == usize::MAX {
            return self.advance(shared, free, wakes);
        }
        self.pop_free(shared, wakes)
    }

    /// The `free` oldest messages of the queue become the front.
    fn advance(&mut self, shared: &Shared<T>, free: usize, wakes: &mut Wakes) -> Option<T> {
        let mut front = shared.front.lock();
        debug_assert!(front.messages.is_empty());
        if self.promised > 0 && memory::fallible(|| front.messages.try_reserve(self.promised)).is_err() {
            drop(front);
            return self.pop_free(shared, wakes);
        }
        std::mem::swap(&mut front.messages, &mut self.queue);
        front.bytes = std::mem::take(&mut self.bytes);
        self.drained();
        if self.promised > 0 {
            // As many as there are claimed receivers stay where those look for them.
            self.queue.extend(front.messages.drain(free..));
            self.bytes = self.queue.iter().map(Message::weight).sum();
            front.bytes -= self.bytes;
        }
        shared.inner.set_count(self.queue.len());
        let message = front.pop(shared);
        if shared.bounds != Bounds::NONE {
            self.ahead = front.messages.len();
            drop(front);
            self.watch_front(shared, wakes);
        }
        message
    }

    /// Messages that were not received.
    pub(crate) fn count(&self, shared: &Shared<T>) -> usize {
        self.queue.len() + shared.front.count()
    }

    fn pop_free(&mut self, shared: &Shared<T>, wakes: &mut Wakes) -> Option<T> {
        if self.queue.len() <= self.promised {
            return None;
        }
        let message = self.queue.pop_front()?;
        self.bytes -= message.weight();
        if message.has_handles() {
            self.carriers -= 1;
            message.handles(&mut |channel| channel.leave_queue());
        }
        shared.inner.set_count(self.queue.len());
        if self.queue.is_empty() {
            self.drained();
        }
        self.settle(shared, wakes);
        Some(message)
    }

    /// Gives room back that was not needed of late.
    #[inline]
    fn drained(&mut self) {
        let (capacity, peak) = (self.queue.capacity(), std::mem::take(&mut self.peak));
        if capacity > 4 * KEPT && (capacity > KEPT_AT_MOST || capacity / 4 > peak) {
            self.queue.shrink_to((2 * peak).clamp(KEPT, KEPT_AT_MOST));
        }
    }

    /// All messages at once, of a channel that nobody uses any more. Their handles count as inside still.
    pub(crate) fn take_all(&mut self, shared: &Shared<T>) -> [VecDeque<T>; 2] {
        self.carriers = 0;
        self.bytes = 0;
        self.ahead = 0;
        let front = std::mem::replace(&mut *shared.front.lock(), Front::new()).messages;
        shared.front.set_count(0);
        [front, std::mem::take(&mut self.queue)]
    }

    /// Turns a claim by this channel back into a free message or room, which the caller then takes or passes on. True if there
    /// was one.
    #[inline]
    pub(crate) fn collect(&mut self, shared: &Shared<T>, waiter: &Waiter) -> bool {
        let Some(Claim { reason, weight, .. }) = waiter.collect(shared.id) else { return false };
        match reason {
            Reason::Message => self.promised -= 1,
            Reason::Space => {
                self.places -= 1;
                self.reserved -= weight;
            }
            Reason::Closed => {}
        }
        true
    }

    /// Sets what is free aside for those in line.
    #[inline]
    pub(crate) fn settle(&mut self, shared: &Shared<T>, wakes: &mut Wakes) {
        if !self.receivers.is_empty() {
            self.promise_messages(shared.id, wakes);
        }
        if !self.senders.is_empty() {
            self.grant_room(shared, wakes);
        }
        if self.senders.is_empty() && shared.blocked.load(Ordering::Relaxed) {
            shared.blocked.store(false, Ordering::Relaxed);
        }
        if self.closed && self.queue.is_empty() {
            // Receivers that came after the close and waited for messages promised to others.
            self.dismiss(shared, wakes);
        }
    }

    pub(crate) fn enlist_sender(&mut self, shared: &Shared<T>, waiter: &Waiter, weight: usize, wakes: &mut Wakes) {
        enlist(&mut self.senders, waiter, weight, false);
        self.watch_front(shared, wakes);
    }

    /// A sender has got in line, or the front was filled. Receivers take from the front without this lock: they look at `blocked` after each
    /// message, and we at their count after setting it, so one of us sees the other.
    fn watch_front(&mut self, shared: &Shared<T>, wakes: &mut Wakes) {
        if self.ahead > 0 && !self.senders.is_empty() {
            shared.blocked.store(true, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            self.grant_room(shared, wakes);
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
        memory::give_room_back(&mut self.receivers);
    }

    fn grant_room(&mut self, shared: &Shared<T>, wakes: &mut Wakes) {
        while !self.closed {
            prune(&mut self.senders);
            let Some(weight) = self.senders.front().map(Entry::weight) else { break };
            if !self.fits(shared, weight) {
                break;
            }
            if let Some(waiter) = self.senders.pop_front().and_then(|entry| entry.claim(shared.id, Reason::Space)) {
                self.places += 1;
                self.reserved += weight;
                wakes.add(waiter);
            }
        }
        memory::give_room_back(&mut self.senders);
    }

    /// Wakes everybody in line for the end of the channel.
    pub(crate) fn dismiss(&mut self, shared: &Shared<T>, wakes: &mut Wakes) {
        for line in [&mut self.receivers, &mut self.senders] {
            std::mem::take(line)
                .into_iter()
                .filter_map(|entry| entry.claim(shared.id, Reason::Closed))
                .for_each(|waiter| wakes.add(waiter));
        }
    }

    /// Takes the waiter out of the lines. True if it stood there, unclaimed.
    pub(crate) fn remove(&mut self, waiter: &Waiter) -> bool {
        let mut found = false;
        for line in [&mut self.receivers, &mut self.senders] {
            line.retain(|entry| {
                let ours = entry.belongs_to(waiter);
                found |= ours && entry.is_live();
                !ours
            });
        }
        found
    }
}

/// Lets entries go that were left behind, from the front; the others are skipped when their turn comes.
#[inline]
fn prune(line: &mut VecDeque<Entry>) {
    while line.front().is_some_and(|entry| !entry.is_live()) {
        line.pop_front();
    }
}

/// Puts the waiter at the end of the line, once. `absent`: the caller knows that it does not stand in it.
#[inline]
pub(crate) fn enlist(line: &mut VecDeque<Entry>, waiter: &Waiter, weight: usize, absent: bool) {
    // Its entry of an earlier wait, with nobody behind it.
    if let Some(last) = line.back_mut()
        && last.belongs_to(waiter)
    {
        last.renew(weight);
        return prune(line);
    }
    prune(line);
    if !absent && waiter.is_waiting() && line.iter().any(|entry| entry.belongs_to(waiter) && entry.is_live()) {
        return;
    }
    if line.len() == line.capacity() {
        make_room(line);
    }
    if let Some(entry) = Entry::new(waiter, weight) {
        line.push_back(entry);
    }
}

/// Before a line grows: dead entries go from its middle, too. What is left of it has room for as many again, so this is paid by those who came.
#[cold]
fn make_room(line: &mut VecDeque<Entry>) {
    line.retain(Entry::is_live);
    memory::grow(|| line.try_reserve(line.len().max(4)).is_ok());
}
