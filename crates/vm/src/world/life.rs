//! How a VM's life ends before its program does: killed, or over a limit.
//!
//! Stages, all seen from the VM's own thread at a safepoint or wait:
//! 1. *Asked*: somebody called `kill`, or a clock ran out. The main thread gets a jump that nothing rescues (kill) or a RubyVM::LimitError;
//!    `ensure` clauses run, and the grace time begins.
//! 2. *Hard*: the grace time is over. Every safepoint of every thread now ends what it interrupts; neither `rescue` nor `ensure` runs any
//!    more. Rust frames are unwound in order, so what they hold (descriptors, watches, buffers) is given back.
//! 3. *Last*: the main thread waits for the other threads to get out; it runs no Ruby code.
//!
//! Memory goes its own way: at the limit a safepoint collects, then raises NoMemoryError, once; the program may rescue it and let go of
//! things. Beyond limit + reserve the VM becomes hard. An allocation that is refused where no Result leads out unwinds as a panic with
//! [`zakuro_heap::OutOfMemory`], which [`crate::interp::run`] turns into the Ruby exception.
//!
//! Rejected: abandoning the coroutine at once (all that its native frames own would leak); ending from another thread (nobody else may
//! touch the VM); counting CPU time in safepoints (a clock per loop).

use crate::allowance::{Allowance, Seat};
use crate::fiber::Out;
use crate::host::{End, Host, VmControl};
use crate::limits::{KeptLimits, Limit, Limits};
use crate::raise::{Exc, Result};
use crate::thread::MAIN;
use crate::vm::Cx;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use zakuro_heap::Native;
use zakuro_object::*;
use zakuro_sched::{TimerId, poll};

/// Why a VM ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    Killed,
    Limit(Limit),
}

/// The VM's part of its end; see the module.
#[derive(Default)]
pub struct Life {
    limits: KeptLimits,
    allowance: Option<Arc<Allowance>>,
    /// Set once, at the first reason.
    pub stop: Option<Stop>,
    /// Status of `exit!`.
    pub exit: Option<i32>,
    /// The main thread has not been told yet.
    untold: bool,
    /// When the grace time is over.
    ends: Option<Instant>,
    hard: bool,
    /// Stage 3.
    last: bool,
    /// NoMemoryError was raised and the heap has not been below the limit since.
    told_memory: bool,
    /// How often it was raised since, while the heap stayed over its limit.
    again: u32,
    /// NoMemoryError was raised because malloc had nothing more, and it has not got anything since.
    told_short: bool,
    /// Collections in a row because malloc had nothing.
    short_checks: u8,
    /// Cell bytes allocated so far, and payload, when it last made room for a VM ([`Cx::admit_main_thread`]).
    collected_at: (u64, usize),
    /// Set by streams that are copied ([`descriptors_are_short`]).
    pub(crate) descriptors_short: std::cell::Cell<bool>,
    /// How long the VM has waited for memory in all.
    waited: Duration,
    /// When the wall limit is reached.
    wall: Option<Instant>,
    /// The same, which the VMs that this one makes end with, too.
    deadline: Option<Instant>,
    /// The thread's clock at the start of this turn.
    turn_began: Option<u64>,
    cpu_timer: Option<TimerId>,
    /// Of the wall limit and the grace time.
    timers: Vec<TimerId>,
}

/// CPU time of the calling native thread in nanoseconds.
fn thread_cpu() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

impl Life {
    /// What stands against the VM.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }
    /// Whether not even `ensure` runs any more.
    #[inline]
    pub fn is_hard(&self) -> bool {
        self.hard
    }
    /// Whether some clock may end the VM.
    #[inline]
    pub(crate) fn is_timed(&self) -> bool {
        self.wall.is_some() || self.limits.cpu.is_some() || self.ends.is_some()
    }
    /// Counts time that a native thread has worked for the VM. Whether that may end it.
    pub(crate) fn spend(&mut self, time: Duration) -> bool {
        self.allowance.as_ref().inspect(|a| a.spend(time.as_nanos() as u64));
        self.limits.cpu.is_some()
    }
    fn cpu_left(&self) -> Option<Duration> {
        let now = self.turn_began.map_or(0, |b| thread_cpu().saturating_sub(b));
        self.allowance.as_ref()?.cpu_left(Duration::from_nanos(now))
    }
    /// What the VM may use together with its family. None: nothing limits it.
    pub fn allowance(&self) -> Option<&Arc<Allowance>> {
        self.allowance.as_ref()
    }
    /// The wall-clock time that is left to it.
    pub fn wall_left(&self) -> Option<Duration> {
        Some(self.deadline?.saturating_duration_since(Instant::now()))
    }
    fn begin_stop(&mut self, why: Stop, grace: Duration, host: &Host) {
        if self.stop.is_none() {
            self.stop = Some(why);
        }
        self.untold = true;
        let at = Instant::now() + grace;
        if self.ends.is_none_or(|e| at < e) {
            self.ends = Some(at);
            if !grace.is_zero() {
                self.timers.push(host.scheduler.timer(at, &host.task));
            }
        }
    }
}

impl Cx {
    /// Puts the limits in force: the VM starts now.
    pub fn life_begins(&mut self, limits: KeptLimits) {
        self.life.limits = limits.clone();
        let own = || Allowance::under(None, &limits);
        self.life.allowance = self.host.as_ref().and_then(|h| h.control.allowance.get().cloned()).or_else(own);
        if let Some(m) = limits.memory {
            self.heap.set_limit(m, limits.reserve());
            if let Some(share) = self.life.allowance.as_ref().and_then(|a| a.memory()) {
                self.heap.join(share);
            }
            if let Some(host) = &self.host {
                host.control.account.get_or_init(Default::default);
            }
        }
        if let (Some(w), Some(host)) = (limits.wall, &self.host) {
            let at = Instant::now() + w;
            self.life.wall = Some(at);
            self.life.deadline = Some(at);
            self.life.timers.push(host.scheduler.timer(at, &host.task));
        }
    }
    /// The VM is over: its clocks are stopped.
    pub fn life_ends(&mut self) {
        if let Some(host) = &self.host {
            for t in self.life.timers.drain(..) {
                host.scheduler.cancel(t);
            }
        }
    }
    /// The VM gets a native thread.
    #[inline]
    pub fn turn_begins(&mut self) {
        self.lane = zakuro_sched::current_index() as u16;
        if let Some(c) = &mut self.counting {
            c.turn_begins();
        }
        if self.life.is_timed() {
            self.timed_turn();
        }
    }
    #[cold]
    fn timed_turn(&mut self) {
        if self.life.limits.cpu.is_some() {
            self.life.turn_began = Some(thread_cpu());
        }
        // A wake-up of a parked VM leaves no bit: the timer may have been ours.
        if self.life_check(poll::WAKE) {
            self.poll_owner.set(poll::KILL);
        }
    }
    /// Asks to be woken when the CPU time may be used up.
    fn watch_cpu(&mut self) {
        if let (Some(left), Some(host), None) = (self.life.cpu_left(), &self.host, self.life.cpu_timer)
            && !matches!(self.life.stop, Some(Stop::Limit(_)))
        {
            let at = Instant::now() + left.max(Duration::from_millis(1));
            self.life.cpu_timer = Some(host.scheduler.timer(at, &host.task));
        }
    }
    /// The VM's turn is over.
    #[inline]
    pub fn turn_ends(&mut self) {
        if let Some(began) = self.life.turn_began.take() {
            self.life.spend(Duration::from_nanos(thread_cpu().saturating_sub(began)));
            if let (Some(t), Some(host)) = (self.life.cpu_timer.take(), &self.host) {
                host.scheduler.cancel(t);
            }
        }
    }
    /// Looks at the clocks after a wake-up, and at what `kill` left. True: the VM is ending, and somebody has to be told.
    pub(crate) fn life_check(&mut self, bits: u32) -> bool {
        let Some(host) = &self.host else { return false };
        let life = &mut self.life;
        if bits & poll::KILL != 0
            && let Some(grace) = host.control.take_kill()
        {
            life.begin_stop(Stop::Killed, grace.unwrap_or(life.limits.grace()), host);
        }
        if life.is_timed() && bits & (poll::WAKE | poll::KILL) != 0 {
            let now = Instant::now();
            if life.wall.is_some_and(|at| now >= at) {
                life.wall = None;
                life.begin_stop(Stop::Limit(Limit::Wall), life.limits.grace(), host);
            }
            if life.cpu_left().is_some_and(|left| left.is_zero()) && life.stop.is_none() {
                life.begin_stop(Stop::Limit(Limit::Cpu), life.limits.grace(), host);
            }
            let over = life.ends.is_some_and(|at| Instant::now() >= at);
            // The timer has fired, or will be of no use.
            if let Some(t) = life.cpu_timer.take() {
                host.scheduler.cancel(t);
            }
            self.watch_cpu();
            if over {
                self.becomes_hard();
            }
        }
        self.life.hard || self.life.untold
    }
    /// Whether the main thread, which runs, has still to be told of the VM's end: another thread took the notice.
    #[inline]
    pub(crate) fn must_be_told(&self) -> bool {
        self.life.untold && self.thread_id() == MAIN
    }
    /// A cell was refused where nothing can be raised: it gets room beyond the limit, which the next safepoint tells of; when that was not enough, the VM ends.
    #[cold]
    pub(crate) fn makes_room(&mut self, again: bool) {
        if again {
            self.becomes_hard();
        } else {
            self.heap.extend_reserve(0);
            self.poll_owner.set(poll::COLLECT);
        }
    }
    /// Whether the running thread has to get out at once.
    #[inline]
    pub(crate) fn must_leave(&self) -> bool {
        self.life.hard && !(self.life.last && self.thread_id() == MAIN)
    }
    /// The one way into stage 2. Threads that wait look once more, here and never again: whoever waits later asks first, and does not.
    #[cold]
    fn becomes_hard(&mut self) {
        if !std::mem::replace(&mut self.life.hard, true) {
            self.at_exit.clear();
            // What leaving allocates must not be refused.
            self.heap.lift_limit();
            if let Some(t) = &mut self.threads {
                t.wake_all();
            }
        }
        // Every safepoint of every thread, and again for whoever swallows what it gets there.
        self.poll_owner.set(poll::KILL);
    }
    /// The jump that runs nothing on its way.
    #[cold]
    pub(crate) fn leave_at_once<T>(&mut self) -> Result<T> {
        self.poll_owner.set(poll::KILL);
        self.throw(ThrowKind::Kill, Value::NIL, Value::fixnum(1))
    }
    /// Takes the pending exception or jump, for native code that goes on in spite of it. Err, and it stays pending, when the VM has to be left: native code
    /// that tries again without asking this would meet the same jump for ever, and never give the worker up.
    pub fn take_interrupt(&mut self) -> Result<Value> {
        if self.must_leave() { Err(Exc) } else { Ok(self.take_pending()) }
    }
    /// Whether the main thread waits for the others: threads that are made now are ended at once.
    pub fn is_last(&self) -> bool {
        self.life.last
    }
    /// Tells the main thread that the VM is ending.
    #[cold]
    pub(crate) fn tell_stop(&mut self) -> Result<()> {
        if self.must_leave() {
            return self.leave_at_once();
        }
        if !std::mem::take(&mut self.life.untold) || self.life.last {
            return Ok(());
        }
        match self.life.stop {
            Some(Stop::Limit(limit)) => {
                let message = self.limit_message(limit);
                self.raise(ids::LIMIT_ERROR, message)
            }
            _ => self.throw(ThrowKind::Kill, Value::NIL, Value::NIL),
        }
    }
    /// "CPU limit of 2 s exceeded".
    pub fn limit_message(&self, limit: Limit) -> String {
        let seconds = |d: Option<Duration>| d.unwrap_or_default().as_secs_f64();
        match limit {
            Limit::Memory => format!("memory limit of {} bytes exceeded", self.life.limits.memory.unwrap_or(0)),
            Limit::Cpu => format!("CPU limit of {} s exceeded", seconds(self.life.limits.cpu)),
            Limit::Wall => format!("wall-clock limit of {} s exceeded", seconds(self.life.limits.wall)),
        }
    }
    /// `exit!`: the VM ends at once with this status, from whichever thread.
    pub fn exit_at_once<T>(&mut self, status: i32) -> Result<T> {
        self.life.exit = Some(status);
        self.becomes_hard();
        self.leave_at_once()
    }
    /// Whether `exit!` was called.
    pub fn exits_at_once(&self) -> bool {
        self.life.exit.is_some()
    }
    /// The main thread waits for the others to get out, which nothing interrupts; or does so no more.
    pub(crate) fn set_last(&mut self, on: bool) {
        self.life.last = on;
    }
    /// Whether a NoMemoryError says that the VM has reached its limit.
    pub fn has_memory_limit(&self) -> bool {
        self.life.limits.memory.is_some()
    }
    /// Raises NoMemoryError when a request of this many bytes can't be met. For builtins that allocate by a size that the program chose.
    #[inline]
    pub fn admit(&mut self, bytes: usize) -> Result<()> {
        if !self.heap.admits(bytes) {
            // What is dead may be all that stands in the way.
            self.collect();
        }
        if self.heap.admits(bytes) && zakuro_heap::malloc_has(bytes) { Ok(()) } else { self.out_of_memory() }
    }

    /// Raises ThreadError when the VM, or its family, has as many threads as it may.
    pub(crate) fn admit_thread(&mut self) -> Result<Option<Seat>> {
        let allowance = self.life.allowance.clone();
        self.take_seat(allowance.as_ref(), "Thread")
    }
    /// The same for the main thread of a VM that this one is about to start. What is dead here makes room for it, if it shares a limit that is nearly used up: it could not
    /// collect that itself, and would be refused.
    pub fn admit_main_thread(&mut self, control: &VmControl) -> Result<Option<Seat>> {
        if let (Some(limit), Some(_)) = (self.life.limits.memory, control.allowance.get())
            && self.heap.room() < limit / 4
            && self.has_grown_by(limit / 32)
        {
            self.collect();
            // The sweep would give it back bit by bit, as this VM allocates.
            self.heap.collect_all_sweep();
            self.heap.post();
        }
        self.take_seat(control.allowance.get(), "RubyVM")
    }
    /// Whether the heap has got so many bytes more since this last said so: one that is merely full need not be collected for each VM that it starts.
    fn has_grown_by(&mut self, bytes: usize) -> bool {
        let now = self.heap.stats();
        let (cells, payload) = self.life.collected_at;
        let grown = (now.allocated_bytes - cells) as usize + now.payload_bytes.saturating_sub(payload);
        if grown >= bytes {
            self.life.collected_at = (now.allocated_bytes, now.payload_bytes);
        }
        grown >= bytes
    }
    fn take_seat(&mut self, allowance: Option<&Arc<Allowance>>, what: &str) -> Result<Option<Seat>> {
        match allowance.map(|a| a.seat()) {
            Some(Err(limit)) => self.raise(ids::THREAD_ERROR, format!("can't create {what}: thread_limit of {limit} reached")),
            seat => Ok(seat.and_then(|s| s.ok())),
        }
    }

    // ---- memory

    /// Whether the VM has more than it may; collecting may help.
    pub(crate) fn over_limit(&mut self) -> bool {
        self.weigh_outside();
        self.heap.over_limit()
    }
    /// Tells the heap what the VM holds outside of it: names and messages under way; without a limit also stacks, which it counts as payload otherwise.
    fn weigh_outside(&mut self) {
        let Some(h) = &self.host else { return };
        let account = h.control.account.get().or(h.control.under_way.get()).map_or(0, |n| n.load(Ordering::Relaxed));
        let stacks = match self.life.limits.memory {
            None => self.stack_pool.as_ref().map_or(0, |p| p.in_use().saturating_sub(FEW)) * STACK,
            Some(_) => 0,
        };
        self.account_seen = account;
        self.heap.set_spent(account + stacks);
    }
    /// Says whether the VM is one of those that hold much, in case memory becomes short.
    pub(crate) fn publish_share(&mut self) {
        self.weigh_outside();
        if let Some(h) = &self.host {
            h.control.holds_much.store(!self.heap.is_modest(), Ordering::Relaxed);
        }
    }
    /// Whether [`Cx::memory_check`] would raise for the first time that the VM is over its limit.
    pub(crate) fn is_about_to_tell(&mut self) -> bool {
        self.life.limits.memory.is_some() && !self.life.told_memory && !self.life.hard && self.over_limit()
    }
    /// After a collection, at a safepoint: the heap is over its limit.
    #[cold]
    pub(crate) fn memory_check(&mut self) -> Result<()> {
        self.publish_share();
        self.shortage_check()?;
        if self.life.limits.memory.is_none() {
            return Ok(());
        }
        // SAFETY: the running VM.
        unsafe { is_tight(self, 0) };
        let over = self.heap.over_limit();
        if !over {
            // Not when it is just below: of many threads each that dies of NoMemoryError gives its stack back, and the next would be told anew, for ever.
            self.life.told_memory &= !self.heap.has_room_again();
            self.heap.restore_reserve();
        }
        if !over || self.life.hard || (self.life.told_memory && !self.heap.over_reserve()) {
            return Ok(());
        }
        self.out_of_memory()
    }
    /// After a collection: whether there is something again, if there was nothing. Who holds little waits for that a while: those who took the memory are
    /// being refused, too.
    fn shortage_check(&mut self) -> Result<()> {
        let blocks = self.heap.told_short();
        let Some(h) = &self.host else { return Ok(()) };
        let borrowed = h.control.borrowed.swap(0, Ordering::Relaxed) + usize::from(blocks);
        self.life.short_checks = if borrowed == 0 { 0 } else { self.life.short_checks.saturating_add(1) };
        if borrowed == 0 && !self.life.told_short || self.life.hard {
            return Ok(());
        }
        let modest = self.heap.is_modest();
        // There may be large pieces, but none for what is asked for again and again.
        if self.life.short_checks < 4 && there_is_memory() || modest && self.wait_for_memory() {
            self.life.told_short = false;
            return Ok(());
        }
        let Some(h) = &self.host else { return Ok(()) };
        // What a handler needs is less than this.
        let told = std::mem::replace(&mut self.life.told_short, true);
        if told && borrowed < HANDLER {
            h.control.borrowed.fetch_add(borrowed, Ordering::Relaxed);
            return Ok(());
        }
        self.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory")
    }
    /// Lets others run until there is memory again. False: it took too long, or the VM is to end.
    fn wait_for_memory(&mut self) -> bool {
        let mut first = true;
        while self.life.waited < PATIENCE {
            if self.poll_owner.load() & poll::KILL != 0 {
                return true;
            }
            let begin = Instant::now();
            match &self.host {
                _ if std::mem::take(&mut first) => self.yield_now(),
                // With threads, parking would be this thread's affair, and the timer the VM's.
                Some(host) if self.threads.is_none() => {
                    host.scheduler.timer(begin + PAUSE, &host.task);
                    self.park();
                }
                _ => {
                    self.yield_now();
                    std::thread::sleep(PAUSE / 10);
                }
            }
            self.life.waited += begin.elapsed();
            if there_is_memory() {
                return true;
            }
        }
        false
    }
    /// Malloc, or the reservation of cells, had nothing more for this VM since the last check.
    #[inline]
    pub(crate) fn is_short(&self) -> bool {
        self.heap.is_short() || self.host.as_ref().is_some_and(|h| h.control.borrowed.load(Ordering::Relaxed) != 0)
    }
    /// Raises NoMemoryError the first time, however far beyond its limit the VM has come; later, beyond the reserve, ends the VM.
    #[cold]
    pub fn out_of_memory<T>(&mut self) -> Result<T> {
        let limited = self.life.limits.memory.is_some();
        let over = limited && self.heap.over_limit();
        if limited && self.life.told_memory && (self.heap.over_reserve() || over && self.life.again >= PERSISTENT) {
            self.life.stop.get_or_insert(Stop::Limit(Limit::Memory));
            self.becomes_hard();
            return self.leave_at_once();
        }
        self.life.again = if over { self.life.again + 1 } else { 0 };
        // A reserve for the first time only: who swallows the exception and goes on would get one after the other.
        if over && !std::mem::replace(&mut self.life.told_memory, true) {
            self.heap.extend_reserve(LAST_WORDS);
        }
        let message = if limited { self.limit_message(Limit::Memory) } else { "failed to allocate memory".into() };
        self.raise(ids::NO_MEMORY_ERROR, message)
    }
    /// An allocation that was refused has unwound native code up to here: collects what that code held, and raises.
    #[cold]
    #[inline(never)]
    pub(crate) fn refused(&mut self) -> Exc {
        self.collect();
        match self.out_of_memory::<()>() {
            Ok(()) => Exc,
            Err(e) => e,
        }
    }
}

impl Cx {
    /// Runs native code at the bottom of a coroutine: a refusal of memory becomes the exception.
    pub(crate) fn guarded<T>(&mut self, f: impl FnOnce(&mut Cx) -> Result<T>) -> Result<T> {
        let cx: *mut Cx = self;
        // SAFETY: `self` is not used while the closure runs.
        match catch_unwind(AssertUnwindSafe(|| f(unsafe { &mut *cx }))) {
            Ok(r) => r,
            Err(p) if crate::raise::is_refusal(&*p) => Err(self.refused()),
            Err(p) => resume_unwind(p),
        }
    }
}

/// The allocator can't give `size` bytes to native code that has no way to say so: ends the running VM where it stands, so that the process
/// lives on. What its native frames own is lost. Comes back when no VM runs here, or it can't be left here.
///
/// Rejected: unwinding (allocators must not), aborting (the other VMs would pay).
pub fn give_up(size: usize) {
    if !can_be_ended() {
        return;
    }
    let cx = zakuro_sched::turn_data() as *mut Cx;
    // SAFETY: set by the unit for its turn. Whoever holds a reference to the VM on this stack never runs again.
    unsafe {
        // What is allocated from here on must not come back here.
        zakuro_base::memory::going_on(|| {
            let limits: &Limits = &(*cx).life.limits;
            let limited = limits.memory.is_some();
            if limited {
                (*cx).life.stop = Some(Stop::Limit(Limit::Memory));
            }
            let message = if limited { (*cx).limit_message(Limit::Memory) } else { format!("failed to allocate {size} bytes") };
            (*cx).end = Some(Box::new(if limited {
                End::Limit { limit: Limit::Memory, message, report: Vec::new() }
            } else {
                let report = format!("{} (NoMemoryError)\n", message).into_bytes();
                End::Exception { class: "NoMemoryError".into(), message, report }
            }));
            (*cx).life.hard = true;
        });
        // All coroutines of a VM have these types.
        zakuro_sched::leave_native_stack(Out::Abandoned);
        (*cx).leave(Out::Abandoned);
    }
}

/// Whether the code that runs here does so for a VM, and the VM can be ended where it stands: on a coroutine or the native stack under one, without a lock of the
/// process.
pub fn can_be_ended() -> bool {
    let here = !zakuro_sched::unit_data().is_null() || zakuro_sched::on_native_stack_for_another() && !zakuro_sched::turn_data().is_null();
    here && !zakuro_base::memory::holds_locks()
}

/// Stacks of a VM that count for nothing when it is asked whether it holds much, and what each of the others counts: address space is short, too.
const FEW: usize = 8;
const STACK: usize = 64 << 10;
/// How long a VM that holds little waits for memory in its life.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(2);

fn there_is_memory() -> bool {
    zakuro_heap::malloc_has(ENOUGH) && zakuro_heap::Ledger::get().has_spare()
}

/// Whether the running VM is lent what it could do without, too: it holds little, and will wait at its next safepoint.
pub fn is_modest() -> bool {
    let cx = zakuro_sched::turn_data() as *const Cx;
    // SAFETY: as in `memory_is_short`.
    !cx.is_null() && unsafe { (*cx).host.as_ref() }.is_some_and(|h| !h.control.holds_much.load(Ordering::Relaxed))
}

/// What malloc must be able to give after a collection, or NoMemoryError is raised.
const ENOUGH: usize = 4 << 20;
/// What a VM may borrow before it hears of it again.
const HANDLER: usize = 512 << 10;
/// What a VM may borrow between two safepoints; and one that holds much.
const QUOTA: usize = 4 << 20;
const QUOTA_OF_HOLDERS: usize = 1 << 20;

/// Malloc has no `size` bytes for the running VM, which borrows them: at its next safepoint it collects, and hears of it if that did not help. False: it
/// has borrowed too much. (Code that belongs to no VM may borrow what there is.)
pub fn memory_is_short(size: usize) -> bool {
    let cx = zakuro_sched::turn_data() as *const Cx;
    if cx.is_null() {
        return true;
    }
    // SAFETY: as in `give_up`; only atomics are touched, and the host handle stays as it is while the VM runs.
    let Some(host) = (unsafe { (*cx).host.as_ref() }) else { return true };
    let before = host.control.borrowed.fetch_add(size.max(1), Ordering::Relaxed);
    // Not each time: a program that can't let go of anything would do nothing but collect.
    if before == 0 || before / HANDLER != (before + size) / HANDLER {
        host.control.poll.set(crate::gc::POLL_COLLECT);
    }
    let quota = if host.control.holds_much.load(Ordering::Relaxed) { QUOTA_OF_HOLDERS } else { QUOTA };
    before.saturating_add(size) <= quota
}

/// What an exception, its message and its backtrace take at most, in bytes.
const LAST_WORDS: usize = 512 << 10;

/// So many times NoMemoryError is raised in a program that lets go of nothing, each after a full collection. The next time ends it: what it asks for may be too large for what is left of
/// its reserve, and would be refused for ever.
const PERSISTENT: u32 = 50;

/// How far beyond its limit a block of native code may take a VM that is told at its next safepoint; less where the limit is small.
const OVERDRAFT: usize = 4 << 20;

/// Names that a VM adds before it looks at its limit.
const NAMES: usize = 256 << 10;

/// The running VM has added a name to the process's table, which takes `bytes` for ever.
pub fn name_added(bytes: usize) {
    let cx = zakuro_sched::turn_data() as *const Cx;
    if cx.is_null() {
        return;
    }
    // SAFETY: as in `memory_is_short`.
    let Some(control) = (unsafe { (*cx).host.as_ref() }).map(|h| &h.control) else { return };
    let Some(account) = control.account.get() else { return };
    let before = account.fetch_add(bytes, Ordering::Relaxed);
    if before / NAMES != (before + bytes) / NAMES {
        control.poll.set(crate::gc::POLL_COLLECT);
    }
}

/// A copy of a stream was refused a descriptor in the running VM, or the next will be: a collection may make room ([`Cx::made_room`]).
pub fn descriptors_are_short() {
    let cx = zakuro_sched::turn_data() as *const Cx;
    if !cx.is_null() {
        // SAFETY: as in `give_up`; a plain flag of the VM whose turn this thread has.
        unsafe { (*cx).life.descriptors_short.set(true) };
    }
}

impl Cx {
    /// Copies are about to be made.
    pub(crate) fn copies_begin(&self) {
        self.life.descriptors_short.set(false);
    }
    /// Whether copies made since then lacked descriptors. If so, what is dead has given its own back, and it is worth trying again.
    pub(crate) fn made_room(&mut self) -> bool {
        let short = self.life.descriptors_short.take();
        if short {
            self.collect();
            self.heap.each_cell(&mut |_| {});
        }
        short
    }
}

/// What the running VM's memory limit says to a large block that native code asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    Fits,
    /// Beyond what is left, by little: who can't cope with a refusal gets it, and the VM collects at its next safepoint, which raises if that does not help.
    Overdrawn,
    Refused,
}

/// Whether the running VM may have `more` bytes of native memory.
pub fn asks(more: usize) -> Asked {
    let cx = zakuro_sched::turn_data() as *const Cx;
    if cx.is_null() {
        return Asked::Fits;
    }
    // SAFETY: as in `give_up`: the VM whose turn this thread has. Limits and host handle stay as they are while it runs.
    unsafe {
        let room = |beyond| zakuro_heap::Heap::room_in_passing(&raw const (*cx).heap, beyond);
        if more <= room(0) {
            return Asked::Fits;
        }
        let limits: &Limits = &(*cx).life.limits;
        let Some(limit) = limits.memory else { return Asked::Fits };
        if let Some(host) = (*cx).host.as_ref() {
            host.control.poll.set(crate::gc::POLL_COLLECT);
        }
        if more <= room((limit / 32).min(OVERDRAFT)) { Asked::Overdrawn } else { Asked::Refused }
    }
}

/// What counts the large native blocks of the running VM; None without a limit.
pub fn native_account() -> Option<Arc<Native>> {
    let cx = zakuro_sched::turn_data() as *const Cx;
    // SAFETY: as in `asks`.
    if cx.is_null() { None } else { unsafe { zakuro_heap::Heap::native_in_passing(&raw const (*cx).heap) } }
}

/// Whether the running VM is to take a block of `size` bytes from the system itself, which gets it back at once: a large part of its limit, or it comes near that with so much. Malloc keeps
/// what is freed for a while. What it keeps already is given back when the VM is near its limit.
pub fn takes_from_system(size: usize) -> bool {
    let cx = zakuro_sched::turn_data() as *const Cx;
    // SAFETY: as in `asks`.
    !cx.is_null() && unsafe { is_tight(cx, size) }
}

/// # Safety
/// As for `asks`.
unsafe fn is_tight(cx: *const Cx, size: usize) -> bool {
    // SAFETY: the caller's word.
    unsafe {
        let limits: &Limits = &(*cx).life.limits;
        let (Some(limit), Some(native)) = (limits.memory, zakuro_heap::Heap::native_in_passing(&raw const (*cx).heap)) else {
            return false;
        };
        let left = zakuro_heap::Heap::room_in_passing(&raw const (*cx).heap, 0).saturating_sub(size);
        let tight = left < limit / 8 * 3;
        let freed = native.freed.load(Ordering::Relaxed);
        // Far from the limit, too, once malloc may keep more than what is left: work on big numbers frees megabytes in blocks that malloc has, and then needs as much in larger ones.
        if (tight || left < freed)
            && freed > limit / KEPT
            && let Some(host) = (*cx).host.as_ref()
        {
            native.freed.store(0, Ordering::Relaxed);
            host.scheduler.rests();
            // What the VM made where it ran before only those threads can give back.
            host.scheduler.all_rest();
        }
        tight || size > limit / LARGE_PART
    }
}

/// A block of more than this part of the limit is large for the VM.
const LARGE_PART: usize = 24;
/// The part of its limit that malloc may keep of what a VM near it has freed.
const KEPT: usize = 32;
