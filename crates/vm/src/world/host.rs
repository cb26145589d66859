//! What a VM knows of the process around it: its scheduler task, its control block, how to spawn others, how to wait.

use crate::allowance::{Allowance, Seat};
use crate::channels::Charge;
use crate::image::Seed;
use crate::limits::{KeptLimits, Limit, Limits};
use crate::lineage::Identity;
use crate::raise::{Exc, Result};
use crate::thread::{Wait, scheduled::Hook};
use crate::transfer::Envelope;
use crate::vm::Cx;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use zakuro_base::sync::held::{Mutex, MutexGuard};
use zakuro_object::*;
pub use zakuro_sched::Forked;
use zakuro_sched::{PollWord, Scheduler, StackPool, Task, poll};

/// How a VM ended.
#[derive(Clone, Debug)]
pub enum End {
    /// Its program ran to the end.
    Done,
    /// `exit` with this status.
    Exit(i32),
    /// Uncaught exception.
    Exception {
        class: String,
        message: String,
        /// As printed on standard error.
        report: Vec<u8>,
    },
    /// A Rust panic in the VM.
    Panic(String),
    Killed,
    /// It hit a limit.
    Limit {
        limit: Limit,
        /// What its exception said.
        message: String,
        /// As printed on standard error; may be empty.
        report: Vec<u8>,
    },
    /// Uncaught SignalException.
    Signal {
        number: i32,
        /// As printed on standard error; may be empty.
        report: Vec<u8>,
    },
}

impl End {
    /// Bytes of its texts.
    fn bytes(&self) -> usize {
        match self {
            End::Exception { class, message, report } => class.len() + message.len() + report.len(),
            End::Limit { message, report, .. } => message.len() + report.len(),
            End::Panic(text) => text.len(),
            End::Signal { report, .. } => report.len(),
            End::Done | End::Exit(_) | End::Killed => 0,
        }
    }
    /// Exit status of a process that ended so.
    pub fn status(&self) -> i32 {
        match self {
            End::Done => 0,
            End::Exit(s) => *s,
            End::Signal { number, .. } => 128 + number,
            _ => 1,
        }
    }
}

/// Control block of a VM: power over it. Outlives it, shared by everybody who holds a handle with power. What may be known without power is its [`Identity`],
/// whose fields and methods are the control block's too.
pub struct VmControl {
    identity: Arc<Identity>,
    /// Arguments like a command line: program file or `-e`, `code`, then ARGV.
    pub argv: Box<[Vec<u8>]>,
    pub limits: KeptLimits,
    pub poll: Arc<PollWord>,
    /// Set once by `start`. Read by anyone who wakes or kills the VM.
    task: OnceLock<Task>,
    /// Written by the scheduler's idle callback, taken by the VM at its next interrupt check.
    deadlock: AtomicBool,
    /// `Thread.ignore_deadlock`: written by the VM, read by the idle callback.
    pub ignores_deadlock: AtomicBool,
    /// The process is this VM's: what changes all of it is allowed. Written before the start.
    pub main: AtomicBool,
    /// Id of the VM that is the main Ractor of this one's family; 0: it is no Ractor. Written before the start.
    pub family: AtomicU64,
    /// 0: nobody asked for the end; u64::MAX: somebody did; else nanoseconds of grace + 1. Written by killers, taken by the VM.
    kill: AtomicU64,
    /// Where the VM lies while its unit has it; else null. Written by the unit; read in the child of a fork, where no unit but the caller's runs.
    pub place: AtomicPtr<Cx>,
    /// Bytes that malloc did not have for the VM and that the process's reserve lent it, since it last looked. Written by the allocator, taken by the VM.
    pub borrowed: AtomicUsize,
    /// The VM holds much. Written by the VM when it looks at `borrowed`, read by the allocator: who holds little is not refused what he could do without either.
    pub holds_much: AtomicBool,
    /// Bytes of names that this VM has added to the process's table, and the VMs that it made; shared with its maker when that one has a memory limit.
    /// Empty: nobody counts. Set before the start; added to by whichever of these VMs adds a name (Relaxed: a number), read by each when it looks at its limit.
    pub account: OnceLock<Arc<AtomicUsize>>,
    /// What its limits stand for, with its maker's when that one is limited. Set before the start.
    pub allowance: OnceLock<Arc<Allowance>>,
    /// Its main thread, which counts from the start to the end of the VM.
    pub seat: Mutex<Option<Seat>>,
    /// Bytes of messages that this VM has sent and nobody has received, roughly, where `account` is empty: who holds much when memory is short. Set by the VM; added to by it, taken
    /// from by whoever receives or drops them (Relaxed: a number).
    pub under_way: OnceLock<Arc<AtomicUsize>>,
    /// Bit n: signal n has arrived and was not handled. Written by the signal dispatcher, taken by the VM.
    signals: AtomicU64,
    /// Short lock: end report and those who wait for it. Never held while Ruby code runs or a task is woken.
    state: Mutex<ControlState>,
}

#[derive(Default)]
struct ControlState {
    end: Option<Box<Ended>>,
    joiners: Vec<Task>,
    /// Called at the end.
    callbacks: Vec<(u64, Box<dyn FnOnce(&End) + Send>)>,
    /// Somebody took the end report: it need not be shown on standard error.
    joined: bool,
}

struct Ended {
    end: End,
    /// What the texts of the end count for the limited family, as long as anybody has a handle.
    _charge: Option<Charge>,
    /// What the VM's block returned, or the exception that ended it, until somebody takes it.
    result: Option<Envelope>,
}

impl std::ops::Deref for VmControl {
    type Target = Identity;
    fn deref(&self) -> &Identity {
        &self.identity
    }
}

impl VmControl {
    /// The control block of a VM that is not running yet. `maker`: the VM that makes it.
    pub fn new(id: u64, name: &str, argv: Vec<Vec<u8>>, limits: Limits, maker: Option<&Arc<Identity>>) -> Arc<VmControl> {
        Arc::new(VmControl {
            identity: Identity::new(id, name, maker),
            argv: argv.into(),
            limits: limits.into(),
            poll: Arc::new(PollWord::new()),
            task: OnceLock::new(),
            deadlock: AtomicBool::new(false),
            ignores_deadlock: AtomicBool::new(false),
            main: AtomicBool::new(false),
            place: AtomicPtr::new(std::ptr::null_mut()),
            borrowed: AtomicUsize::new(0),
            holds_much: AtomicBool::new(false),
            family: AtomicU64::new(0),
            kill: AtomicU64::new(0),
            account: OnceLock::new(),
            allowance: OnceLock::new(),
            seat: Mutex::new(None),
            under_way: OnceLock::new(),
            signals: AtomicU64::new(0),
            state: Mutex::new(ControlState::default()),
        })
    }
    fn lock(&self) -> MutexGuard<'_, ControlState> {
        self.state.lock()
    }
    /// Records the scheduler task. False when the VM was started before.
    #[must_use]
    pub fn set_task(&self, t: Task) -> bool {
        let first = self.task.set(t).is_ok();
        self.identity.set_started();
        first
    }
    /// Who it is, without power over it.
    pub fn identity(&self) -> &Arc<Identity> {
        &self.identity
    }
    /// Bytes that the VM counts, while it lives, for the limited one that has made it. Fixed before the start.
    pub fn weight(&self) -> usize {
        if self.family.load(Ordering::Relaxed) == 0 { crate::limits::VM } else { crate::limits::RACTOR }
    }
    pub fn started(&self) -> bool {
        self.task.get().is_some()
    }
    pub fn task(&self) -> Option<&Task> {
        self.task.get()
    }
    /// Records the end and wakes those who wait.
    pub fn finish(&self, end: End, result: Option<Envelope>) {
        let (joiners, callbacks) = {
            let mut s = self.lock();
            let _charge = self.account.get().filter(|_| end.bytes() > 0).map(|account| Charge::of(account.clone(), end.bytes()));
            s.end = Some(Box::new(Ended { end: end.clone(), _charge, result }));
            // Under the lock: who sees the one sees the other.
            self.identity.set_ended();
            (std::mem::take(&mut s.joiners), std::mem::take(&mut s.callbacks))
        };
        for (_, f) in callbacks {
            f(&end);
        }
        for t in joiners {
            t.wake();
        }
    }
    /// Registers a function to be called at the end, under a number for `forget_end`. False: the VM has ended already, and the function
    /// was called now.
    pub fn on_end(&self, number: u64, f: Box<dyn FnOnce(&End) + Send>) -> bool {
        let end = {
            let mut s = self.lock();
            match &s.end {
                Some(ended) => ended.end.clone(),
                None => {
                    s.callbacks.push((number, f));
                    return true;
                }
            }
        };
        f(&end);
        false
    }
    /// Takes back what `on_end` registered under a number.
    pub fn forget_end(&self, number: u64) {
        self.lock().callbacks.retain(|(n, _)| *n != number);
    }
    /// What the VM's block returned, or the exception that ended it. It is given once.
    pub fn take_result(&self) -> Option<Envelope> {
        self.lock().end.as_mut()?.result.take()
    }
    pub fn end(&self) -> Option<End> {
        self.lock().end.as_ref().map(|e| e.end.clone())
    }
    /// The end report, or registers the task to be woken at the end.
    pub fn end_or_register(&self, t: &Task) -> Option<End> {
        let mut s = self.lock();
        s.joined = true;
        if s.end.is_none() && !s.joiners.contains(t) {
            s.joiners.push(t.clone());
        }
        s.end.as_ref().map(|e| e.end.clone())
    }
    /// Somebody will take the end report.
    pub fn expect_join(&self) {
        self.lock().joined = true;
    }
    pub fn was_joined(&self) -> bool {
        self.lock().joined
    }
    /// Asks the VM to end at its next safepoint or wait; `ensure` clauses get the grace time of its limits.
    pub fn kill(&self) {
        self.kill_asked(u64::MAX);
    }
    /// The same with a grace time; zero: at once.
    pub fn kill_within(&self, grace: Duration) {
        self.kill_asked((grace.as_nanos() as u64).min(u64::MAX - 2) + 1);
    }
    /// Takes what `kill` left: its grace time, Some(None) when the limits say it.
    pub(crate) fn take_kill(&self) -> Option<Option<Duration>> {
        match self.kill.swap(0, Ordering::AcqRel) {
            0 => None,
            u64::MAX => Some(None),
            n => Some(Some(Duration::from_nanos(n - 1))),
        }
    }
    fn kill_asked(&self, word: u64) {
        self.kill.store(word, Ordering::Release);
        self.poll.set(poll::KILL);
        if let Some(t) = self.task.get() {
            t.wake();
        }
    }
    /// A signal arrived for this VM.
    pub fn deliver_signal(&self, number: i32) {
        self.signals.fetch_or(1 << (number & 63), Ordering::AcqRel);
        self.poll.set(poll::SIGNAL);
        if let Some(t) = self.task.get() {
            t.wake();
        }
    }
    /// Signals that have arrived since the last call, as bits.
    pub fn take_signals(&self) -> u64 {
        self.signals.swap(0, Ordering::AcqRel)
    }
    /// Nothing can ever wake this VM: it raises the deadlock error.
    pub fn report_deadlock(&self) {
        self.deadlock.store(true, Ordering::Release);
        self.poll.set(poll::RAISE);
        if let Some(t) = self.task.get() {
            t.wake();
        }
    }
}

/// Starts VMs; implemented by the runtime.
pub trait Spawner: Send + Sync {
    /// A control block for a VM that is not running yet. `maker`: the VM that makes it; None: the process.
    fn create(&self, name: &str, argv: Vec<Vec<u8>>, limits: Limits, maker: Option<&Arc<Identity>>) -> Arc<VmControl>;
    /// Starts it with the objects in `args`.
    fn start(&self, control: &Arc<VmControl>, args: Envelope);
    /// Starts it from an image whose root is an Array of a block and its arguments. `args` carries what is inherited beside the program state.
    fn start_image(&self, control: &Arc<VmControl>, args: Envelope, image: Seed);
    /// Power over a VM and over those that descend from it, as far as they have started and not ended. (There is no way for a VM to ask for all.)
    fn descendants(&self, of: &Arc<Identity>) -> Vec<Arc<VmControl>>;
    /// Number of Ractors that live in the family of a main Ractor's VM.
    fn family_size(&self, id: u64) -> usize;
    /// Forks the process while all other VMs stand still, if they come to that soon. In the child the calling VM is the only one; its other threads are for the caller to forget.
    /// `leave` gets each other VM there, which never runs again and whose memory stays as it is.
    fn fork(&self, control: &Arc<VmControl>, leave: &dyn Fn(*mut Cx)) -> std::io::Result<Forked>;
    /// Ends the process as if the main VM's program had ended with `result`, without unwinding what runs: for blocks that a child process was forked for.
    fn end_process(&self, cx: &mut Cx, result: Result<Value>) -> !;
    /// Says what a VM does about a signal. True: whoever started the process had it ignore the signal, until now. An error is the system's number for it.
    fn on_signal(&self, control: &Arc<VmControl>, number: i32, action: SignalAction) -> std::result::Result<bool, i32>;
    /// The main VM sends the process a signal. False: the dispatcher does not handle it, use kill(2).
    fn send_signal(&self, number: i32) -> bool;
    /// Another VM sends "its process" a signal: it means itself. An error is the system's number for it.
    fn signal_vm(&self, control: &Arc<VmControl>, number: i32) -> std::result::Result<(), i32>;
    /// Whether a descriptor is one that the process itself cannot do without: no VM may have it, the main VM neither.
    fn reserves(&self, fd: i32) -> bool;
}

/// What a VM wants of a signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SignalAction {
    /// To be told.
    Trap,
    /// That nobody is told.
    Ignore,
    /// What happens without it.
    Default,
    /// What the system does by itself.
    System,
}

/// See the module.
#[derive(Clone)]
pub struct Host {
    pub scheduler: Scheduler,
    pub pool: StackPool,
    pub task: Task,
    pub control: Arc<VmControl>,
    pub spawner: Arc<dyn Spawner>,
}

impl Cx {
    /// Whether this is the process's main VM, to which the process belongs. A host program's VMs are all tenants.
    pub fn owns_process(&self) -> bool {
        self.host.as_ref().is_some_and(|h| h.control.main.load(Ordering::Relaxed))
    }
    /// Whether this VM may call foreign code: the main VM, and those that were given it (`foreign: true`) by one that may.
    pub fn may_call_foreign(&self) -> bool {
        self.owns_process() || self.host.as_ref().is_some_and(|h| h.control.limits.foreign)
    }
    fn host(&mut self) -> Result<&Host> {
        if self.host.is_none() {
            return self.raise(ids::RUNTIME_ERROR, "this VM has no scheduler");
        }
        match &self.host {
            Some(h) => Ok(h),
            None => Err(Exc),
        }
    }
    /// A copy of the host handles.
    pub fn host_handle(&mut self) -> Result<Host> {
        self.host().cloned()
    }
    /// Handles interrupts that came while waiting.
    pub fn check_interrupts(&mut self) -> Result<()> {
        self.safepoint()?;
        self.thread_interrupts(false)
    }
    /// Waits until `ready` gives a value. `ready` must register the task to be woken when it gives None. Time-out: None.
    #[inline]
    pub fn wait_until<T>(&mut self, deadline: Option<Instant>, ready: impl FnMut(&mut Cx) -> Result<Option<T>>) -> Result<Option<T>> {
        self.wait_as(Wait::Outside, deadline, ready)
    }
    /// As `wait_until`, saying who will end the wait. Waits inside the VM are ended by [`Cx::thread_wake`]; `ready` registers for that.
    #[inline]
    pub fn wait_as<T>(
        &mut self,
        wait: Wait,
        deadline: Option<Instant>,
        mut ready: impl FnMut(&mut Cx) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        if wait == Wait::Outside {
            let scheduler = self.fiber_scheduler();
            if !scheduler.is_nil() {
                return self.wait_scheduled(scheduler, Hook::Outside, Value::NIL, deadline, ready);
            }
        }
        // What was asked of this VM while its task stood in a run queue left no wake-up, and a native call polls nothing on its way here.
        self.safepoint()?;
        let mut noted = None;
        let mut timer = None;
        let result = loop {
            // What was asked of the VM before this turn has woken it already, and will not do so again. Not between `ready` and parking:
            // a yield there would use up the wake-up that `ready` has registered for.
            if let Err(e) = self.safepoint().and_then(|()| self.thread_interrupts(true)) {
                break Err(e);
            }
            match ready(self) {
                Ok(Some(v)) => break Ok(Some(v)),
                Err(e) => break Err(e),
                Ok(None) => {}
            }
            if deadline.is_some_and(|at| Instant::now() >= at) {
                break Ok(None);
            }
            if let (Some(at), None) = (deadline, timer) {
                let host = match self.host() {
                    Ok(h) => h,
                    Err(e) => break Err(e),
                };
                timer = Some(host.scheduler.timer(at, &host.task));
            }
            if wait == Wait::Inside && deadline.is_none() && self.threads.is_none() {
                let report = self.deadlock_report();
                break self.raise(ids::FATAL, report);
            }
            if self.must_be_told()
                && let Err(e) = self.tell_stop()
            {
                break Err(e);
            }
            if self.counting.is_some() {
                self.wait_begins(wait, &mut noted);
            }
            self.park_as(wait, deadline);
        };
        if self.counting.is_some() {
            self.wait_ends(noted);
        }
        if let (Some(t), Some(host)) = (timer, &self.host) {
            host.scheduler.cancel(t);
        }
        result
    }
    /// As `wait_inside` until it is there, whatever comes: an exception (or jump) that arrives meanwhile is raised afterwards, the first of them. What `ready` raises
    /// and a deadlock end the wait, and so does the VM's end when nothing runs any more. The only wait that goes on after an interrupt.
    pub fn wait_surely<T>(&mut self, blocker: Value, mut ready: impl FnMut(&mut Cx) -> Result<Option<T>>) -> Result<T> {
        let mut first = Value::NIL;
        loop {
            let mut failed = false;
            let r = self.wait_inside(blocker, None, |cx| {
                let r = ready(cx);
                failed = r.is_err();
                r
            });
            match r {
                Ok(Some(v)) if first.is_nil() => return Ok(v),
                Ok(Some(_)) => return self.repend(first),
                Ok(None) => {}
                Err(Exc) if failed || self.is_a(self.pending, ids::FATAL) => return Err(Exc),
                Err(Exc) => {
                    let e = self.take_interrupt()?;
                    if first.is_nil() {
                        first = e;
                    }
                }
            }
        }
    }
    /// Sleeps; None: until woken. False: the time is over.
    pub fn sleep(&mut self, how_long: Option<Duration>) -> Result<bool> {
        let at = how_long.map(|d| Instant::now() + d.min(Duration::from_secs(86_400 * 365 * 50)));
        // A sleeper without an end can be woken by a signal: the process is not deadlocked.
        let _hold = if at.is_none() { Some(self.host()?.scheduler.hold()) } else { None };
        if let Some(t) = &mut self.threads {
            t.current().woken = false;
        }
        let woken = self.wait_as(Wait::Asleep, at, |cx| {
            Ok(match &mut cx.threads {
                Some(t) => std::mem::take(&mut t.current().woken).then_some(()),
                None => None,
            })
        })?;
        Ok(woken.is_some())
    }
    /// The interrupt hook of VMs that run under a scheduler.
    pub fn handle_interrupts(&mut self, _bits: u32) -> Result<()> {
        let mut bits =
            self.poll_owner.take(poll::PREEMPT | poll::KILL | poll::RAISE | poll::WAKE | poll::SIGNAL | poll::SAMPLE | poll::PROFILE);
        if bits & poll::SAMPLE != 0 {
            self.sample(None);
        }
        if bits & poll::PROFILE != 0 {
            self.profile_sample();
        }
        if std::mem::take(&mut self.owes_refusal) {
            self.poll_owner.set(bits & !(poll::SAMPLE | poll::PROFILE));
            return Err(self.refused());
        }
        if bits & poll::KILL != 0 || self.life.is_timed() {
            bits = if self.life_check(bits) { bits | poll::KILL } else { bits & !poll::KILL };
            if self.life.is_hard() {
                // It stays set: every thread has to see it, whichever takes it first.
                self.poll_owner.set(poll::KILL);
                if self.must_leave() {
                    return self.leave_at_once();
                }
            }
        }
        if self.threads.is_some() {
            return self.threads_interrupted(bits);
        }
        if bits & (poll::KILL | poll::RAISE | poll::SIGNAL) != 0 {
            self.vm_interrupts(bits)?;
        }
        if bits & poll::PREEMPT != 0 {
            self.yield_now();
        }
        Ok(())
    }
    /// What is meant for the VM as a whole, in its main thread.
    #[cold]
    pub(crate) fn vm_interrupts(&mut self, bits: u32) -> Result<()> {
        if bits & poll::KILL != 0 {
            self.tell_stop()?;
        }
        let Some(host) = &self.host else { return Ok(()) };
        if bits & poll::RAISE != 0 && host.control.deadlock.swap(false, Ordering::AcqRel) {
            let report = self.deadlock_report();
            return self.raise(ids::FATAL, report);
        }
        if bits & poll::SIGNAL != 0 {
            return crate::library::library().signal(self).or_else(|Exc| self.trap_failed());
        }
        Ok(())
    }
}
