//! Sending and receiving: how a thread of a VM waits at channels.
//!
//! What needs no wait takes one lock and touches no state of the process: the fast path of each function. A wait takes a place in line
//! ([`Waiter`]) from the VM's stock, and gives it back when it is free again: a place in line is made once, not per wait.
//! A wait that ends early (time-out, kill, exception from another thread) leaves the line; a message that was set aside for it meanwhile
//! goes to the next in line.

use crate::account::WaitKind;
use crate::raise::Result;
use crate::thread::Wait;
use crate::transfer::Envelope;
use crate::vm::Cx;
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;
use zakuro_channel::{Channel, Message, Recv, Selected, Send as Sent, TryRecv, TrySendError, Waiter};
use zakuro_heap::{BufRef, Shown};
use zakuro_object::*;

/// Payload of a Channel object.
pub struct ChannelHandle(pub Channel<Envelope>, pub Shows);

/// Whether programs find the handle in ObjectSpace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shows {
    Always,
    /// What the library has it for would break: nobody but who was given it has it.
    Never,
    /// The copy of such a handle in a VM that was spawned from the program state, where it may stand in a variable: it leads to a closed channel, unless the VM was given the one with this id.
    Nothing(u64),
}

/// Whether a value is a handle that is not shown in ObjectSpace.
pub fn is_hidden_channel(v: Value) -> bool {
    let Some(d) = Ref::<DataCell>::from_value(v) else { return false };
    // SAFETY: a live cell; the reference ends here.
    unsafe { (*d.as_ptr()).get::<ChannelHandle>().is_some_and(|handle| handle.1 != Shows::Always) }
}

fn closed() -> Channel<Envelope> {
    let channel = Channel::unbounded();
    channel.close();
    channel
}

impl Trace for ChannelHandle {
    /// Messages are packed: they belong to no heap.
    fn trace(&self, _: &mut Marker<'_>) {
        let ChannelHandle(..) = self;
    }
}
impl NativeData for ChannelHandle {
    fn refers(&self) -> bool {
        false
    }
    fn send_copy(&self) -> Option<SendPayload> {
        Some(Box::new(ChannelHandle(self.0.clone(), self.1)))
    }
    fn snapshot(&self, _values: &mut Gathered) -> Option<Rebuild> {
        let (channel, shows) = match self.1 {
            Shows::Always => (self.0.clone(), Shows::Always),
            Shows::Never => (closed(), Shows::Nothing(self.0.id())),
            Shows::Nothing(id) => (closed(), Shows::Nothing(id)),
        };
        Some(rebuild(move |_, _| Some(Box::new(ChannelHandle(channel.clone(), shows)))))
    }
    fn is_handle(&self) -> bool {
        true
    }
    fn weight(&self) -> usize {
        768
    }
    fn held(&self) -> usize {
        self.weight() + self.0.queued_bytes()
    }
}

impl Message for Envelope {
    #[inline]
    fn weight(&self) -> usize {
        self.bytes()
    }
    #[inline]
    fn has_handles(&self) -> bool {
        self.has_channels()
    }
    fn handles(&self, visit: &mut dyn FnMut(&Channel<Envelope>)) {
        self.each_payload(&mut |payload| {
            if let Some(handle) = (payload as &dyn Any).downcast_ref::<ChannelHandle>() {
                visit(&handle.0);
            }
        });
    }
}

/// Travels with a message or an image, or lies with what another VM keeps, and takes back what it counts.
pub struct Charge {
    account: Arc<AtomicUsize>,
    bytes: usize,
    /// Large buffers, which others of the family may count, too: the share does that, not the account.
    _shown: Shown,
}

impl Charge {
    /// Counts until it is dropped.
    pub(super) fn of(account: Arc<AtomicUsize>, bytes: usize) -> Charge {
        account.fetch_add(bytes, Relaxed);
        Charge { account, bytes, _shown: Shown::default() }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.account.fetch_sub(self.bytes, Relaxed);
    }
}

/// What a message costs beside its content.
const MESSAGE: usize = 128;
/// Bytes of messages of a VM without a limit of which one message carries the weight.
const SAMPLE: usize = 64 << 10;
/// Bytes of messages after which their sender looks at its limit.
const LOOK: usize = 256 << 10;
/// What a place in a channel's line takes, and the list that the caller has of the channels.
const PLACE: usize = 56;
/// Waits for fewer channels than this are not counted: a thread takes more.
const FEW_LINES: usize = 64;
/// The same of VMs that it makes.
const LOOK_AT_VMS: usize = 1 << 20;

/// What a receive came back with.
pub enum RecvOutcome {
    Got(Envelope),
    Closed,
    TimedOut,
}

/// What a send came to.
pub enum SendOutcome {
    Sent,
    Closed,
    TimedOut,
}

/// What a select came back with.
pub enum SelectOutcome {
    /// Index of the channel, and its message.
    Got(usize, Envelope),
    /// All are closed and empty.
    Closed,
    TimedOut,
}

/// Places in line that a VM keeps: one for each thread that waits at the same time, up to here.
const STOCK: usize = 16;

impl Cx {
    fn take_waiter(&mut self) -> Result<Waiter> {
        match self.waiters.pop() {
            Some(waiter) => Ok(waiter),
            None => {
                let mailbox = self.mailbox();
                Ok(Waiter::with_mailbox(&self.host_handle()?.task, mailbox))
            }
        }
    }

    /// Waits in lines of channels. With several threads a note says which of them was called: the others are not asked.
    fn wait_in_line<T>(
        &mut self,
        waiter: &Waiter,
        deadline: Option<Instant>,
        ready: impl FnMut(&mut Cx) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let thread = if waiter.has_mailbox() && self.fiber_scheduler().is_nil() { self.thread_id() } else { 0 };
        let wait = if waiter.note(thread) && thread != 0 { Wait::Event } else { Wait::Outside };
        self.wait_as(wait, deadline, ready)
    }

    /// The waiter stands in no line any more.
    fn give_waiter(&mut self, waiter: Waiter) {
        if self.waiters.len() < STOCK && waiter.has_mailbox() == self.threads.is_some() && waiter.disarm() {
            self.waiters.push(waiter);
        }
    }

    /// Receives an envelope.
    #[inline(always)]
    pub fn channel_recv(&mut self, ch: &Channel<Envelope>, deadline: Option<Instant>) -> Result<RecvOutcome> {
        if ch.looks_ready()
            && let TryRecv::Got(e) = ch.try_recv()
        {
            self.note_received(ch, &e);
            return Ok(RecvOutcome::Got(e));
        }
        self.recv_waiting(ch, deadline)
    }
    /// Counts a message that was received.
    #[inline(always)]
    pub fn note_received(&mut self, ch: &Channel<Envelope>, e: &Envelope) {
        if self.counting.is_some() {
            self.count_received(ch, e);
        }
    }
    #[cold]
    #[inline(never)]
    fn count_received(&mut self, ch: &Channel<Envelope>, e: &Envelope) {
        if ch.record().is_some_and(|r| r.remote) {
            return;
        }
        if let Some(c) = &mut self.counting {
            c.received(ch.id());
            if c.account.tracing() {
                c.arrived(e, ch.id());
            }
        }
    }
    /// Counts a message that is to be sent.
    #[inline(always)]
    pub fn note_sent(&mut self, ch: &Channel<Envelope>, envelope: &mut Envelope) {
        if self.counting.is_some() {
            self.count_sent(ch, envelope);
        }
    }
    #[cold]
    #[inline(never)]
    fn count_sent(&mut self, ch: &Channel<Envelope>, envelope: &mut Envelope) {
        if ch.record().is_some_and(|r| r.remote) {
            return;
        }
        if let Some(c) = &mut self.counting {
            c.sent(ch.id(), envelope.bytes());
            if c.account.tracing() {
                c.mark(envelope, ch.id());
            }
        }
    }
    #[cold]
    #[inline(never)]
    fn note_wait(&mut self, ch: &Channel<Envelope>, sends: bool) {
        if let Some(c) = &mut self.counting {
            c.waited_at(ch.id(), sends);
        }
    }
    #[inline(never)]
    fn recv_waiting(&mut self, ch: &Channel<Envelope>, deadline: Option<Instant>) -> Result<RecvOutcome> {
        let waiter = self.take_waiter()?;
        self.waits_for(WaitKind::Receive, ch.id());
        let r = self.wait_in_line(&waiter, deadline, |_| {
            if waiter.is_waiting() {
                return Ok(None);
            }
            Ok(match ch.recv_or_register(&waiter) {
                Recv::Got(e) => Some(RecvOutcome::Got(e)),
                Recv::Closed => Some(RecvOutcome::Closed),
                Recv::Registered => None,
            })
        });
        if !matches!(r, Ok(Some(_))) {
            ch.unregister(&waiter);
        }
        self.give_waiter(waiter);
        if self.counting.is_some() {
            self.note_wait(ch, false);
            if let Ok(Some(RecvOutcome::Got(e))) = &r {
                self.count_received(ch, e);
            }
        }
        Ok(r?.unwrap_or(RecvOutcome::TimedOut))
    }

    /// Sends an envelope, waiting for room in a bounded channel.
    #[inline(always)]
    pub fn channel_send(&mut self, ch: &Channel<Envelope>, envelope: Envelope, deadline: Option<Instant>) -> Result<SendOutcome> {
        let mut envelope = self.weighed(envelope);
        self.note_sent(ch, &mut envelope);
        match ch.try_send(envelope) {
            Ok(()) => Ok(SendOutcome::Sent),
            Err(TrySendError::Closed(_)) => Ok(SendOutcome::Closed),
            Err(TrySendError::Full(m)) => self.send_waiting(ch, m, deadline),
        }
    }
    /// A message that is sent: what it weighs counts for its sender until it is received or dropped. Of a VM without a memory limit only some carry
    /// what those before them weigh, too: that tells well enough who holds much when the machine's memory is short.
    #[inline(always)]
    pub fn weighed(&mut self, envelope: Envelope) -> Envelope {
        if !self.has_memory_limit() {
            self.unweighed += MESSAGE + envelope.bytes();
            if self.unweighed < SAMPLE {
                return envelope;
            }
        }
        self.charged(envelope)
    }
    #[cold]
    #[inline(never)]
    fn charged(&mut self, mut envelope: Envelope) -> Envelope {
        let Some(control) = self.host.as_ref().map(|h| &h.control) else { return envelope };
        let account = control.account.get().unwrap_or_else(|| control.under_way.get_or_init(Default::default)).clone();
        // The same region or buffer again is no second one.
        let shared = envelope.shared_address();
        let own = shared.is_none() || shared != self.last_charged;
        self.last_charged = shared.or(self.last_charged);
        let before = std::mem::take(&mut self.unweighed).saturating_sub(MESSAGE + envelope.bytes());
        let mut _shown = Shown::of(self.life.allowance().filter(|_| own).and_then(|a| a.memory()));
        let mut carried = 0;
        envelope.each_buffer(&mut |buf| carried += if _shown.carry(buf.address(), buf.cap()) { buf.cap() } else { 0 });
        let bytes = before + MESSAGE + if own { envelope.bytes().saturating_sub(carried) } else { 0 };
        let before = account.fetch_add(bytes, Relaxed);
        if before / LOOK != (before + bytes) / LOOK || self.has_carried(carried) {
            match self.has_memory_limit() {
                true => self.poll_owner.set(crate::gc::POLL_COLLECT),
                false => self.publish_share(),
            }
        }
        envelope.attach(Box::new(Charge { account, bytes, _shown }));
        envelope
    }
    /// Bytes that the VM has made outside of its heap count for it and its family until this is dropped, by whomever. None: it has no memory limit.
    /// `buffers`: those among them that others may account for, too.
    pub fn charge<'a>(&mut self, bytes: usize, buffers: impl Iterator<Item = &'a BufRef>) -> Option<Charge> {
        let account = self.host.as_ref().filter(|_| self.has_memory_limit())?.control.account.get()?.clone();
        let mut _shown = Shown::of(self.life.allowance().and_then(|a| a.memory()));
        let carried = buffers.map(|buf| if _shown.carry(buf.address(), buf.cap()) { buf.cap() } else { 0 }).sum();
        let whole = bytes;
        let bytes = bytes.saturating_sub(carried);
        account.fetch_add(bytes, Relaxed);
        if whole >= LOOK || self.has_carried(carried) {
            self.poll_owner.set(crate::gc::POLL_COLLECT);
        } else {
            self.account_has_grown();
        }
        Some(Charge { account, bytes, _shown })
    }
    /// Large buffers went into messages and images: whether it is time to look at the limit.
    fn has_carried(&mut self, bytes: usize) -> bool {
        let before = self.carried;
        self.carried = self.carried.wrapping_add(bytes);
        before / LOOK != self.carried / LOOK
    }
    /// Bytes were added to the account of what the VM has outside of its heap, by it or those that it made: it looks at its limit now and then.
    pub fn account_has_grown(&mut self) {
        let account = self.host.as_ref().and_then(|h| h.control.account.get()).map_or(0, |a| a.load(Relaxed));
        if self.has_memory_limit() && account.abs_diff(self.account_seen) >= LOOK_AT_VMS {
            self.account_seen = account;
            self.poll_owner.set(crate::gc::POLL_COLLECT);
        }
    }
    #[inline(never)]
    fn send_waiting(&mut self, ch: &Channel<Envelope>, envelope: Envelope, deadline: Option<Instant>) -> Result<SendOutcome> {
        let mut message = Some(envelope);
        let waiter = self.take_waiter()?;
        self.waits_for(WaitKind::Send, ch.id());
        let r = self.wait_in_line(&waiter, deadline, |_| {
            if waiter.is_waiting() {
                return Ok(None);
            }
            let Some(m) = message.take() else { return Ok(Some(SendOutcome::Sent)) };
            Ok(match ch.send_or_register(m, &waiter) {
                Sent::Sent => Some(SendOutcome::Sent),
                Sent::Closed(_) => Some(SendOutcome::Closed),
                Sent::Registered(m) => {
                    message = Some(m);
                    None
                }
            })
        });
        if !matches!(r, Ok(Some(_))) {
            ch.unregister(&waiter);
        }
        self.give_waiter(waiter);
        self.note_wait(ch, true);
        Ok(r?.unwrap_or(SendOutcome::TimedOut))
    }

    /// Receives from one of several channels that has something.
    pub fn channel_select(&mut self, list: &[&Channel<Envelope>], deadline: Option<Instant>) -> Result<SelectOutcome> {
        let waiter = self.take_waiter()?;
        self.waits_for(WaitKind::Select, list.first().map_or(0, |ch| ch.id()));
        let _lines = if list.len() < FEW_LINES { None } else { self.charge(list.len() * PLACE, std::iter::empty()) };
        let r = self.wait_in_line(&waiter, deadline, |_| {
            if waiter.is_waiting() {
                return Ok(None);
            }
            Ok(match zakuro_channel::select(list, &waiter) {
                Selected::Got(i, e) => Some(SelectOutcome::Got(i, e)),
                Selected::Closed => Some(SelectOutcome::Closed),
                Selected::Registered => None,
            })
        });
        if !matches!(r, Ok(Some(_))) {
            zakuro_channel::leave(list, &waiter);
        }
        self.give_waiter(waiter);
        if self.counting.is_some()
            && let Ok(Some(SelectOutcome::Got(i, e))) = &r
        {
            self.note_wait(list[*i], false);
            self.count_received(list[*i], e);
        }
        Ok(r?.unwrap_or(SelectOutcome::TimedOut))
    }
}
