//! Waits of fibers under a fiber scheduler (`Fiber.set_scheduler`).
//!
//! A fiber that may not block waits by calling its scheduler's `block`, and stands in lines under a number of its own ([`FIBER`] is set in it). Whoever wakes it
//! may hold the payload of a lock and must not run Ruby code there: the number is noted, and the next safepoint of any thread calls `unblock`. The fiber's own
//! thread is woken for that, too: it may be the only one that still runs.

use super::{State, Threads};
use crate::fiber::FiberData;
use crate::raise::Result;
use crate::vm::{Cx, FastMap};
use std::collections::{BTreeSet, VecDeque};
use std::time::Instant;
use zakuro_object::*;
use zakuro_sched::poll;

/// Numbers of waiting fibers have this bit, those of threads never do.
const FIBER: u32 = 1 << 31;

/// A fiber that waits.
pub(super) struct Waiting {
    fiber: Value,
    scheduler: Value,
    blocker: Value,
    thread: u32,
    woken: bool,
}

/// Fibers of a VM that wait by schedulers.
#[derive(Default)]
pub(super) struct Fibers {
    waiting: FastMap<u32, Waiting>,
    /// Those that were woken and whose schedulers are to be told.
    pub(super) unblocks: VecDeque<u32>,
    /// Those that wait for something outside the VM, and look again whenever it is woken.
    outside: BTreeSet<u32>,
    /// Those that wait at a stream, by its address.
    at_streams: FastMap<u64, Vec<u32>>,
    /// The last number that was given.
    last: u32,
}

impl Fibers {
    pub(super) fn trace(&self, m: &mut Marker<'_>) {
        self.waiting.values().for_each(|w| w.trace(m));
    }
    pub(super) fn wait_outside(&self) -> bool {
        !self.outside.is_empty()
    }
    pub(super) fn keep_those_of(&mut self, thread: u32) {
        self.waiting.retain(|_, w| w.thread == thread);
        self.unblocks.retain(|id| self.waiting.contains_key(id));
        self.outside.retain(|id| self.waiting.contains_key(id));
        self.at_streams.retain(|_, ids| {
            ids.retain(|id| self.waiting.contains_key(id));
            !ids.is_empty()
        });
    }
    /// Puts back what a fiber waited for before, if a hook of its scheduler waited for something else meanwhile.
    fn leave(&mut self, id: u32, before: Option<Waiting>) {
        let now = self.waiting.remove(&id);
        if let Some(mut before) = before {
            before.woken |= now.is_some_and(|w| w.woken);
            self.waiting.insert(id, before);
        } else {
            self.outside.remove(&id);
        }
    }
}

impl Waiting {
    fn trace(&self, m: &mut Marker<'_>) {
        [self.fiber, self.scheduler, self.blocker].iter().for_each(|v| m.mark_value_bits(v.bits()));
    }
}

/// How a fiber asks its scheduler to wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hook {
    /// `block(blocker, timeout)`
    Block,
    /// The same, for something that wakes the VM's unit.
    Outside,
    /// `kernel_sleep(timeout)`
    Sleep,
}

impl Threads {
    /// The VM was woken: fibers that wait for something outside look again.
    pub(super) fn wake_outside_fibers(&mut self) {
        for id in std::mem::take(&mut self.fibers.outside) {
            self.unblock(id);
        }
    }
    /// Ends the wait of a fiber, at the next safepoint. One that does not wait any more: nothing.
    fn unblock(&mut self, id: u32) {
        let Some(w) = self.fibers.waiting.get_mut(&id) else { return };
        w.woken = true;
        let thread = w.thread;
        self.fibers.unblocks.push_back(id);
        if let Some(t) = self.live.get(&thread).copied() {
            // SAFETY: a live thread.
            unsafe {
                if (*t).state == State::Waiting {
                    self.make_ready(t);
                }
            }
        }
    }
}

impl Cx {
    /// What `Fiber.set_scheduler` gave the running thread, or nil.
    pub fn thread_scheduler(&mut self) -> Value {
        self.threads.as_deref_mut().map_or(Value::NIL, |t| t.current().scheduler)
    }
    /// The scheduler that the running code waits by; nil: it blocks its thread.
    #[inline]
    pub fn fiber_scheduler(&mut self) -> Value {
        let fiber = self.current_fiber;
        if fiber.is_nil() {
            return Value::NIL;
        }
        let scheduler = self.thread_scheduler();
        if scheduler.is_nil() || self.ivar_get(fiber, Cx::blocking_name()).truthy() { Value::NIL } else { scheduler }
    }
    pub(crate) fn is_fiber_waiter(id: u32) -> bool {
        id & FIBER != 0
    }
    /// Number under which the running code stands in lines: its thread's, or that of a fiber that waits by a scheduler.
    pub fn waiter_id(&mut self) -> u32 {
        if self.fiber_scheduler().is_nil() {
            return self.thread_id();
        }
        let fiber = self.current_fiber;
        let known = self.data_ref::<FiberData>(fiber).map_or(0, |f| f.waiter);
        if known != 0 {
            return known;
        }
        let fibers = &mut self.threads().fibers;
        fibers.last = fibers.last.wrapping_add(1);
        let id = fibers.last | FIBER;
        if let Ok(f) = self.data_mut::<FiberData>(fiber) {
            f.waiter = id;
        }
        id
    }
    /// Whether that is a fiber's number; [`Cx::thread_wake`] comes here with it.
    pub(super) fn wakes_fiber(&mut self, id: u32) -> bool {
        if id & FIBER == 0 {
            return false;
        }
        if let Some(ts) = self.threads.as_deref_mut() {
            ts.unblock(id);
            self.poll_owner.set(poll::WAKE);
        }
        true
    }
    /// As [`Cx::wait_as`] for something inside the VM. `blocker`: what is waited for, told to a fiber scheduler. `ready` registers [`Cx::waiter_id`].
    pub fn wait_inside<T>(
        &mut self,
        blocker: Value,
        deadline: Option<Instant>,
        ready: impl FnMut(&mut Cx) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let scheduler = self.fiber_scheduler();
        if scheduler.is_nil() {
            return self.wait_as(super::Wait::Inside, deadline, ready);
        }
        self.wait_scheduled(scheduler, Hook::Block, blocker, deadline, ready)
    }
    pub(crate) fn wait_scheduled<T>(
        &mut self,
        scheduler: Value,
        hook: Hook,
        blocker: Value,
        deadline: Option<Instant>,
        mut ready: impl FnMut(&mut Cx) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        self.check_interrupts()?;
        let id = self.waiter_id();
        let (fiber, thread) = (self.current_fiber, self.thread_id());
        let waiting = Waiting { fiber, scheduler, blocker, thread, woken: false };
        let before = self.threads().fibers.waiting.insert(id, waiting);
        let result = loop {
            match ready(self) {
                Ok(Some(v)) => break Ok(Some(v)),
                Err(e) => break Err(e),
                Ok(None) => {}
            }
            let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
            if left.is_some_and(|l| l.is_zero()) {
                break Ok(None);
            }
            if hook == Hook::Outside {
                self.threads().fibers.outside.insert(id);
            }
            let timeout = left.map_or(Value::NIL, |l| self.float(l.as_secs_f64()));
            let called = match hook {
                Hook::Block | Hook::Outside => self.call(scheduler, Sym::intern("block"), &[blocker, timeout]),
                Hook::Sleep => self.call(scheduler, Sym::intern("kernel_sleep"), &[timeout]),
            };
            if let Err(e) = called {
                break Err(e);
            }
        };
        self.threads().fibers.leave(id, before);
        result
    }
    /// Sleeps until [`Cx::wake_sleeper`] (true) or the deadline (false).
    pub fn sleep_until_woken(&mut self, wait: super::Wait, until: Option<Instant>) -> Result<bool> {
        let scheduler = self.fiber_scheduler();
        let woken = if scheduler.is_nil() {
            return self.thread_sleep(wait, until);
        } else {
            let id = self.waiter_id();
            self.wait_scheduled(scheduler, Hook::Sleep, Value::NIL, until, |cx| {
                Ok(cx.threads().fibers.waiting.get(&id).is_some_and(|w| w.woken).then_some(()))
            })
        };
        Ok(woken?.is_some())
    }
    fn thread_sleep(&mut self, wait: super::Wait, until: Option<Instant>) -> Result<bool> {
        self.threads().current().woken = false;
        Ok(self.wait_as(wait, until, |cx| Ok(std::mem::take(&mut cx.threads().current().woken).then_some(())))?.is_some())
    }
    /// `Thread.stop`: the thread sleeps, whoever waits by its scheduler.
    pub fn stop_thread(&mut self) -> Result<()> {
        self.thread_sleep(super::Wait::Inside, None).map(|_| ())
    }
    /// Whether any fiber waits by a scheduler for something outside the VM.
    pub fn fibers_wait_outside(&mut self) -> bool {
        self.threads().fibers.wait_outside()
    }
    /// Before the running fiber goes over to another one that does not come back by itself: its scheduler may have it go on later.
    pub(crate) fn leave_scheduled(&mut self) -> Result<()> {
        let scheduler = self.fiber_scheduler();
        let hook = Sym::intern("fiber_leave");
        if !scheduler.is_nil() && self.responds(scheduler, hook, false)? {
            let fiber = self.current_fiber;
            self.call(scheduler, hook, &[fiber])?;
        }
        Ok(())
    }
    /// Ends the sleep of who has this number.
    pub fn wake_sleeper(&mut self, id: u32) {
        if let Some(t) = self.threads().get(id) {
            t.woken = true;
        }
        self.thread_wake(id);
    }
    /// Runs a hook that waits for a stream, of which the fiber is told when it is closed ([`Cx::interrupt_fibers`]).
    pub fn wait_by_hook(&mut self, io: Value, hook: impl FnOnce(&mut Cx) -> Result<Value>) -> Result<Value> {
        let id = self.waiter_id();
        let (fiber, thread, scheduler) = (self.current_fiber, self.thread_id(), self.fiber_scheduler());
        let fibers = &mut self.threads().fibers;
        let before = fibers.waiting.insert(id, Waiting { fiber, scheduler, blocker: io, thread, woken: false });
        fibers.at_streams.entry(io.bits()).or_default().push(id);
        let result = hook(self);
        let fibers = &mut self.threads().fibers;
        fibers.leave(id, before);
        if let Some(ids) = fibers.at_streams.get_mut(&io.bits()) {
            if let Some(i) = ids.iter().position(|other| *other == id) {
                ids.swap_remove(i);
            }
            if ids.is_empty() {
                fibers.at_streams.remove(&io.bits());
            }
        }
        result
    }
    /// Has the fibers that wait for a stream get an exception by their schedulers' `fiber_interrupt`.
    pub fn interrupt_fibers(&mut self, io: Value, error: impl Fn(&mut Cx) -> Value) -> Result<()> {
        let Some(ts) = self.threads.as_deref() else { return Ok(()) };
        let ids = ts.fibers.at_streams.get(&io.bits()).cloned().unwrap_or_default();
        for id in ids {
            // One that was told may have ended another's wait.
            let Some(w) = self.threads().fibers.waiting.get(&id) else { continue };
            let (scheduler, fiber) = (w.scheduler, w.fiber);
            if fiber == self.current_fiber || !self.responds(scheduler, Sym::intern("fiber_interrupt"), false)? {
                continue;
            }
            let e = error(self);
            self.call(scheduler, Sym::intern("fiber_interrupt"), &[fiber, e])?;
        }
        Ok(())
    }
    /// Tells schedulers whose fibers were woken.
    pub(super) fn run_unblocks(&mut self) -> Result<()> {
        while let Some(id) = self.threads.as_deref_mut().and_then(|t| t.fibers.unblocks.pop_front()) {
            let Some(w) = self.threads().fibers.waiting.get(&id) else { continue };
            let (scheduler, blocker, fiber) = (w.scheduler, w.blocker, w.fiber);
            self.call(scheduler, Sym::intern("unblock"), &[blocker, fiber])?;
        }
        Ok(())
    }
}
