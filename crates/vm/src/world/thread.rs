//! Ruby threads of a VM: who runs next, and what is switched with a thread.
//!
//! The VM is one unit of the scheduler; its threads run one at a time, each on a coroutine of its own. [`turn`] is what the unit does in its
//! turn: it resumes the next ready thread until that one waits, ends or gives the VM up, and parks the unit when all wait.
//! A VM that never makes a second thread has no [`Threads`], and nothing here runs but one test per turn.
//!
//! Waiting threads are of four kinds ([`Wait`]). Those that wait inside the VM (Mutex, Queue, join) are woken one by one by whoever
//! changes what they wait for, as do descriptors ([`Wait::Event`]), which leave a note in the VM's mailbox. Those that wait for something else outside look again at
//! every wake-up of the unit, since wake-ups carry no reason.
//! When all wait inside and none has a deadline, nothing can ever wake one: the main thread raises `fatal`.
//!
//! What a thread owns besides its stacks (fiber, pending exception, `$!`) is in the VM while it runs, in its [`Context`] otherwise.
//! Rejected: a state struct behind a pointer (an indirection on every hot path of the many VMs that have one thread); a scheduler unit per
//! thread (they would need a lock on the VM).

mod interrupts;
pub(crate) mod scheduled;

use crate::account::{Account, Activity, Phase, ThreadTimes, WaitKind};
use crate::allowance::Seat;
use crate::fiber::{Co, Out, Sus, layout};
use crate::frame::Frame;
use crate::gc::{Parked, STACKS};
use crate::make::RootedVec;
use crate::raise::{Exc, Result};
use crate::vm::{Cx, FastMap, PendingCall, Stacks, SuspendedStacks};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};
use zakuro_object::*;
use zakuro_sched::{Mailbox, Resumed, StackSize, TimerId, Waiter, poll};

/// Number of the main thread. Others count up from here.
pub const MAIN: u32 = 1;

/// How long a thread runs while others of the same VM are ready.
const SLICE: Duration = Duration::from_millis(10);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Not started.
    Created,
    Ready,
    Running,
    Waiting,
    Dead,
}

/// What a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// Something outside the VM that wakes the unit.
    Outside,
    /// A descriptor or a channel: what wakes the unit leaves this thread's number in the mailbox ([`Cx::waiter`]).
    Event,
    /// The same, and it looks again when any descriptor of the VM is closed.
    Watch,
    /// Another thread of this VM.
    Inside,
    /// Time, a signal, `Thread#wakeup`: never a deadlock.
    Asleep,
}

/// When an exception from another thread may arrive (`Thread.handle_interrupt`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timing {
    Immediate,
    OnBlocking,
    Never,
}

/// A thread's part of the VM's state while it does not run.
struct Context {
    stacks: Stacks,
    fp: *mut Frame,
    /// Where its native stack stood.
    sp: *const u8,
    suspender: *const (),
    current_fiber: Value,
    root_fiber: Value,
    pending: Value,
    errinfo: Value,
    in_trap: bool,
    inspecting: TracedVec,
    suspended: Vec<SuspendedStacks>,
    call: PendingCall,
    activity: Activity,
}

/// Payload of a Thread.
pub struct Thread {
    pub id: u32,
    /// The object that holds this payload.
    pub object: Value,
    pub state: State,
    pub block: Value,
    /// Array of the arguments of the block.
    pub args: Value,
    /// The last argument is a Hash of keywords.
    pub keywords: bool,
    /// What the block returned.
    pub result: Value,
    /// The exception that ended it, or nil.
    pub error: Value,
    /// `kill` was called: it is on its way out.
    pub dying: bool,
    /// What it takes of a `thread_limit`.
    seat: Option<Seat>,
    /// What its fibers that may not block wait by (`Fiber.set_scheduler`), or nil.
    pub scheduler: Value,
    pub pending: VecDeque<Value>, // Exceptions from other threads that it has not seen yet.
    /// How often something from outside was raised in it.
    pub interrupted: u32,
    /// `handle_interrupt`: classes and their timing, innermost last.
    pub masks: Vec<Vec<(Value, Timing)>>,
    /// Who waits for its end, and the mutexes that it holds.
    pub joiners: Vec<u32>,
    pub held: TracedVec,
    /// `thread[:name]` of its root fiber and `thread_variable_get`: each a Hash or nil.
    pub locals: Value,
    pub variables: Value,
    /// Fiber storage that its root fiber gets when that is made.
    pub storage: Value,
    pub name: Value,
    /// `$?`, unless it is the main thread.
    pub status: Value,
    pub group: Value,
    pub priority: i64,
    pub report: Value, // nil: as `Thread.report_on_exception`.
    pub abort: bool,
    /// Set by `wakeup`, taken by sleeping.
    pub woken: bool,
    /// Waits without a deadline.
    pub forever: bool,
    /// Interrupts meant for the VM (poll bits), kept for the main thread.
    vm_bits: u32,
    wait: Wait,
    deadline: Option<Instant>,
    wait_number: u64,
    /// What it does, where that is counted; and what its next wait is for.
    pub(crate) times: Option<Box<ThreadTimes>>,
    pub(crate) wait_kind: WaitKind,
    co: Option<Co>,
    stacks: Option<Stacks>,
    context: Option<Context>,
    parked: Parked,
}

impl Thread {
    pub fn new(object: Value, block: Value, args: Value) -> Thread {
        Thread {
            id: 0,
            object,
            state: State::Created,
            seat: None,
            block,
            args,
            keywords: false,
            result: Value::NIL,
            error: Value::NIL,
            dying: false,
            scheduler: Value::NIL,
            pending: VecDeque::new(),
            interrupted: 0,
            masks: Vec::new(),
            joiners: Vec::new(),
            held: TracedVec::new(),
            locals: Value::NIL,
            variables: Value::NIL,
            storage: Value::NIL,
            name: Value::NIL,
            status: Value::NIL,
            group: Value::NIL,
            priority: 0,
            report: Value::NIL,
            abort: false,
            woken: false,
            forever: false,
            vm_bits: 0,
            wait: Wait::Outside,
            deadline: None,
            wait_number: 0,
            times: None,
            wait_kind: WaitKind::Other,
            co: None,
            stacks: None,
            context: None,
            parked: Parked::default(),
        }
    }
    pub fn alive(&self) -> bool {
        !matches!(self.state, State::Dead | State::Created)
    }
    /// Fiber that it was in when it stopped running; nil outside of fibers.
    pub fn stopped_fiber(&self) -> Value {
        self.context.as_ref().map_or(Value::NIL, |c| c.current_fiber)
    }
    /// What it holds besides stacks.
    pub(crate) fn each_value(&self, f: &mut dyn FnMut(Value)) {
        let own = [self.block, self.args, self.result, self.error, self.locals, self.variables, self.storage, self.name, self.scheduler];
        own.iter().chain(&self.pending).for_each(|v| f(*v));
    }
    /// Its stacks while it does not run.
    pub(crate) fn each_stack(&self, f: &mut dyn FnMut(&Stacks, *const Frame)) {
        let Some(c) = &self.context else { return };
        [(&c.stacks, c.fp)].into_iter().chain(c.suspended.iter().map(|s| (&s.stacks, s.fp))).for_each(|(s, fp)| f(s, fp));
    }
    /// Whether its wait can end by something else than another thread of the VM.
    fn wakeable(&self) -> bool {
        self.wait != Wait::Inside || self.deadline.is_some()
    }
}

impl Trace for Context {
    /// What `Thread::trace` looks through is left to it: the stacks.
    fn trace(&self, m: &mut Marker<'_>) {
        let Context {
            stacks: _,
            fp: _,
            sp: _,
            suspender: _,
            current_fiber,
            root_fiber,
            pending,
            errinfo,
            in_trap: _,
            inspecting,
            suspended: _,
            call,
            activity: _,
        } = self;
        [*current_fiber, *root_fiber, *pending, *errinfo].trace(m);
        inspecting.trace(m);
        let PendingCall { me, argc: _, kw: _, lent: _, list: _, block, name: _, state: _ } = call;
        me.trace(m);
        if block.record().is_none() {
            m.mark_value_bits(block.0);
        }
    }
}

impl Trace for Thread {
    /// Written out: its stacks are looked through once while it does not run.
    #[rustfmt::skip]
    fn trace(&self, m: &mut Marker<'_>) {
        let Thread {
            object, block, args, result, error, scheduler, pending, masks, held, locals, variables, storage, name, status, group, report, context,
            // No values.
            id: _, state: _, keywords: _, dying: _, interrupted: _, joiners: _, priority: _, abort: _, woken: _, seat: _, forever: _, vm_bits: _, wait: _, deadline: _, wait_number: _, times: _, wait_kind: _,
            // With the stacks.
            co: _, stacks: _, parked: _,
        } = self;
        [*object, *block, *args, *result, *error, *scheduler, *locals, *variables, *storage, *name, *status, *group, *report].trace(m);
        pending.trace(m);
        held.trace(m);
        masks.iter().flatten().for_each(|(class, _)| class.trace(m));
        let Some(c) = context else { return };
        c.trace(m);
        let top: *const u8 = c.stacks.native_top;
        let sp = if c.sp.is_null() { top } else { c.sp.min(top) };
        self.parked.trace(m, (sp, top), |m| {
            crate::gc::mark_suspended(m, &c.suspended);
            m.mark_range(((sp as usize + 7) & !7) as *const usize, top as *const usize);
            let used = crate::gc::mark_stacks(m, &c.stacks, c.fp);
            used + self.co.as_ref().map_or(0, |co| co.deepest())
        });
    }
}
impl NativeData for Thread {
    fn weight(&self) -> usize {
        self.parked.weight()
    }
    fn held(&self) -> usize {
        self.weight() + self.context.as_ref().map_or(0, |c| c.stacks.used(c.fp, c.sp))
    }
    fn change_tracking(&self) -> ChangeTracking {
        ChangeTracking::Untracked
    }
    fn snapshot(&self, values: &mut Gathered) -> Option<Rebuild> {
        values.extend([self.object, self.result, self.error, self.locals, self.variables, self.name, self.group]);
        Some(ended_thread())
    }
}

fn ended_thread() -> Rebuild {
    savable(|_, v| Some(Box::new(Thread::ended_copy(v)?)), |_| Some("Thread"))
}
crate::saved_loader!("Thread", |r| r.ends(7).map(|()| ended_thread()));

impl Thread {
    /// A thread of another VM as a VM spawned from its image sees it: dead, with its locals and, if it had ended, its result.
    fn ended_copy(values: &[Value]) -> Option<Thread> {
        let &[object, result, error, locals, variables, name, group] = values else { return None };
        let mut t = Thread::new(object, Value::NIL, Value::NIL);
        t.state = State::Dead;
        (t.result, t.error, t.locals, t.variables, t.name, t.group) = (result, error, locals, variables, name, group);
        Some(t)
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        if let Some(co) = self.co.take() {
            if co.started() && !co.done() {
                // SAFETY: nothing on the abandoned stack is used again: the VM is going away.
                drop(unsafe { co.abandon() });
            } else {
                drop(co);
            }
        }
    }
}

/// The threads of a VM that has more than one, or has asked for its Thread object.
pub struct Threads {
    /// Those that are alive. The pointers lead into the payloads of Thread objects, which are roots while they are in here.
    live: FastMap<u32, *mut Thread>,
    /// The thread whose state is in the VM. Null right after a thread ended.
    current: *mut Thread,
    main: *mut Thread,
    ready: VecDeque<*mut Thread>,
    /// Numbers of threads and waits that look again at the next wake-up.
    outside: Vec<(u32, u64)>,
    /// Notes of what wakes the unit for one thread, and those taken out of it.
    mailbox: Arc<Mailbox>,
    notes: Vec<u32>,
    deadlines: BinaryHeap<Reverse<(Instant, u32, u64)>>,
    /// Numbers of threads and waits that look again when a descriptor is closed.
    watchers: Vec<(u32, u64)>,
    /// Waiting threads that something else than a thread of this VM can wake.
    wakeable: usize,
    next_id: u32,
    next_wait: u64,
    slice: Option<(Instant, TimerId)>,
    pub abort_on_exception: bool,
    /// `Thread.report_on_exception`
    pub report_on_exception: bool,
    pub default_group: Value,
    /// `Thread.ignore_deadlock`
    pub ignore_deadlock: bool,
    fibers: scheduled::Fibers,
    /// In a process that counts.
    account: Option<Arc<Account>>,
    /// When the thread that ran last stopped, for the one that goes on at once; 0: the clock is to be read.
    left: u64,
}

impl Threads {
    /// A thread does something else from now on.
    #[inline]
    unsafe fn note(&mut self, t: *mut Thread, to: Phase) {
        if let Some(account) = &self.account {
            let left = std::mem::take(&mut self.left);
            // SAFETY: caller: a live thread.
            if let Some(times) = unsafe { (*t).times.as_deref_mut() } {
                times.change(account, to, if to == Phase::Run { left } else { 0 });
            }
        }
    }
    /// The thread that ran stops.
    #[inline]
    unsafe fn note_stop(&mut self, t: *mut Thread, to: Phase) {
        if let Some(account) = &self.account {
            // SAFETY: caller: a live thread.
            if let Some(times) = unsafe { (*t).times.as_deref_mut() } {
                self.left = times.change(account, to, 0);
            }
        }
    }
    pub(crate) fn trace(&self, m: &mut Marker<'_>) {
        m.mark_value_bits(self.default_group.bits());
        self.fibers.trace(m);
        for t in self.live.values() {
            // SAFETY: live threads' payloads are kept by their objects, which are marked here.
            m.mark_value_bits(unsafe { (**t).object.bits() });
        }
    }
    pub fn main(&mut self) -> &mut Thread {
        // SAFETY: the main thread's object is pinned in `live` as long as the VM.
        unsafe { &mut *self.main }
    }
    pub fn current(&mut self) -> &mut Thread {
        // SAFETY: some thread runs whenever builtins run, and it is alive.
        unsafe { &mut *self.current }
    }
    pub fn get(&mut self, id: u32) -> Option<&mut Thread> {
        // SAFETY: as for `trace`.
        self.live.get(&id).map(|t| unsafe { &mut **t })
    }
    /// Numbers of the live threads, in order of creation.
    fn ids(&self) -> Vec<u32> {
        let mut ids: Vec<u32> = self.live.keys().copied().collect();
        ids.sort_unstable();
        ids
    }
    pub fn count(&self) -> usize {
        self.live.len()
    }
    unsafe fn make_ready(&mut self, t: *mut Thread) {
        // SAFETY: caller: a live thread.
        unsafe {
            if (*t).state == State::Waiting {
                if (*t).wakeable() {
                    self.wakeable -= 1;
                }
                (*t).state = State::Ready;
                self.note(t, Phase::Ready);
                self.ready.push_back(t);
            }
        }
    }
    /// Lets every waiting thread look again, the main thread before all others: it says how the VM ended.
    pub(crate) fn wake_all(&mut self) {
        let all: Vec<*mut Thread> = self.live.values().copied().collect();
        // SAFETY: live threads.
        all.into_iter().for_each(|t| unsafe { self.make_ready(t) });
        if let Some(at) = self.ready.iter().position(|t| std::ptr::eq(*t, self.main)) {
            self.ready.remove(at);
            self.ready.push_front(self.main);
        }
    }
    unsafe fn park(&mut self, t: *mut Thread) {
        // SAFETY: caller: a live thread that has just stopped running.
        unsafe {
            (*t).state = State::Waiting;
            if self.account.is_some() {
                let kind = std::mem::replace(&mut (*t).wait_kind, WaitKind::Other);
                self.note_stop(t, Phase::Wait(kind));
            }
            self.next_wait += 1;
            (*t).wait_number = self.next_wait;
            if (*t).wakeable() {
                self.wakeable += 1;
            }
            if (*t).wait == Wait::Outside {
                self.outside.push(((*t).id, self.next_wait));
                return;
            }
            if (*t).wait == Wait::Watch {
                if self.watchers.len() > 256 && self.watchers.len() > 4 * self.live.len() {
                    let mut all = std::mem::take(&mut self.watchers);
                    all.retain(|(id, number)| self.waits_as(*id, *number).is_some());
                    self.watchers = all;
                }
                self.watchers.push(((*t).id, self.next_wait));
            }
            if let Some(at) = (*t).deadline {
                if self.deadlines.len() > 256 && self.deadlines.len() > 4 * self.live.len() {
                    // Most waits end before their deadlines.
                    let mut all = std::mem::take(&mut self.deadlines);
                    all.retain(|Reverse((_, id, number))| self.waits_as(*id, *number).is_some());
                    self.deadlines = all;
                }
                self.deadlines.push(Reverse((at, (*t).id, self.next_wait)));
            }
        }
    }
    unsafe fn waits_as(&self, id: u32, number: u64) -> Option<*mut Thread> {
        let t = *self.live.get(&id)?;
        // SAFETY: alive.
        unsafe { ((*t).state == State::Waiting && (*t).wait_number == number).then_some(t) }
    }
    /// Lets the threads look again that wait for any descriptor: one was closed.
    fn wake_watchers(&mut self) {
        for (id, number) in std::mem::take(&mut self.watchers) {
            // SAFETY: live threads.
            unsafe {
                if let Some(t) = self.waits_as(id, number) {
                    self.make_ready(t);
                }
            }
        }
    }
    /// The unit was woken: who may go on? True when the time slice of the running thread is over.
    fn woken(&mut self) -> bool {
        self.mailbox.take(&mut self.notes);
        // SAFETY: live threads only.
        unsafe {
            let mut notes = std::mem::take(&mut self.notes);
            for id in notes.drain(..) {
                // A note may be late: its thread waits for something else now, and would look in vain.
                if let Some(t) = self.live.get(&id).copied()
                    && matches!((*t).wait, Wait::Event | Wait::Watch)
                {
                    self.make_ready(t);
                }
            }
            self.notes = notes;
            if self.fibers.wait_outside() {
                self.wake_outside_fibers();
            }
            if !self.outside.is_empty() {
                for (id, number) in std::mem::take(&mut self.outside) {
                    if let Some(t) = self.waits_as(id, number) {
                        self.make_ready(t);
                    }
                }
            }
            if self.deadlines.is_empty() && self.slice.is_none() {
                return false;
            }
            let now = Instant::now();
            while let Some(Reverse((at, id, number))) = self.deadlines.peek().copied() {
                let waits = self.waits_as(id, number);
                if waits.is_some() && at > now {
                    break;
                }
                self.deadlines.pop();
                if let Some(t) = waits {
                    self.make_ready(t);
                }
            }
            match self.slice {
                Some((at, _)) if now >= at => {
                    self.slice = None;
                    true
                }
                _ => false,
            }
        }
    }
}

/// How a VM's turn ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TurnEnd {
    Park,
    Again,
    /// The main thread has ended.
    Ended,
    /// The running coroutine must not be resumed; the VM is over.
    Abandoned,
}

/// One turn of a VM: see the module.
///
/// # Safety
/// `main` is the coroutine of the VM's main thread; no code of the VM runs; the VM stays where it is.
#[inline]
pub unsafe fn turn(cx: *mut Cx, main: &mut Co) -> TurnEnd {
    // SAFETY: caller; references to the VM are made anew after each resume, since the coroutine uses it meanwhile.
    unsafe {
        if let Some(t) = (*cx).threads.as_deref_mut() {
            t.left = 0;
            t.woken();
            if (*cx).poll_owner.load() & OF_VM != 0 {
                t.make_ready(t.main);
            }
        }
        loop {
            let mut thread: *mut Thread = std::ptr::null_mut();
            if let Some(t) = (*cx).threads.as_deref_mut() {
                if t.ready.is_empty() && t.wakeable == 0 && !t.ignore_deadlock {
                    (*t.main).vm_bits |= DEADLOCK;
                    t.make_ready(t.main);
                }
                match t.ready.pop_front() {
                    Some(next) => thread = next,
                    None => return TurnEnd::Park,
                }
                (*cx).switch_to(thread);
                (*cx).arm_slice();
            }
            let resumed = match thread.as_mut() {
                Some(t) if t.id != MAIN => match t.co.as_mut() {
                    Some(co) => co.resume(()),
                    None => Resumed::Returned(()),
                },
                _ => main.resume(()),
            };
            if matches!(resumed, Resumed::Yielded(Out::Abandoned)) {
                return TurnEnd::Abandoned;
            }
            let Some(t) = (*cx).threads.as_deref_mut() else {
                return match resumed {
                    Resumed::Yielded(Out::Park) => TurnEnd::Park,
                    Resumed::Yielded(_) => TurnEnd::Again,
                    Resumed::Returned(()) => TurnEnd::Ended,
                };
            };
            let me = t.current;
            match resumed {
                Resumed::Yielded(Out::Park) => t.park(me),
                Resumed::Yielded(out) => {
                    (*me).state = State::Ready;
                    t.note_stop(me, Phase::Ready);
                    t.ready.push_back(me);
                    if out == Out::Again || t.ready.len() == 1 {
                        return TurnEnd::Again;
                    }
                }
                Resumed::Returned(()) if (*me).id == MAIN => return TurnEnd::Ended,
                Resumed::Returned(()) => {
                    t.note_stop(me, Phase::Ended);
                    t.live.remove(&(*me).id);
                    t.current = std::ptr::null_mut();
                    (*me).state = State::Dead;
                    // The stack goes back to the pool. The object itself may go with the next collection.
                    (*me).co = None;
                    (*me).stacks = None;
                    (*cx).heap.sub_payload((*me).parked.weighs(0));
                }
            }
            if (*cx).poll_owner.load() & poll::PREEMPT != 0 && !t.ready.is_empty() {
                return TurnEnd::Again;
            }
        }
    }
}

/// Poll bits that are for the main thread.
const OF_VM: u32 = poll::KILL | poll::RAISE | poll::SIGNAL;

/// Beside the poll bits: all threads wait for each other.
const DEADLOCK: u32 = 1 << 31;

impl Cx {
    /// The table of threads, made when first asked for, by the main thread.
    pub fn threads(&mut self) -> &mut Threads {
        if self.threads.is_none() {
            let object = self.data(ids::THREAD, Thread::new(Value::NIL, Value::NIL, Value::NIL));
            let group = self.const_by_path("ThreadGroup::Default").unwrap_or(Value::NIL);
            let times = self.main_thread_times();
            let account = self.counting.as_ref().map(|c| c.account.clone());
            let Ok(t) = self.data_mut::<Thread>(object) else { unreachable!("made just above") };
            t.object = object;
            t.id = MAIN;
            t.state = State::Running;
            t.group = group;
            t.times = times;
            let main: *mut Thread = t;
            let mut live = FastMap::default();
            live.insert(MAIN, main);
            self.threads = Some(Box::new(Threads {
                live,
                current: main,
                main,
                ready: VecDeque::new(),
                outside: Vec::new(),
                mailbox: Arc::default(),
                notes: Vec::new(),
                deadlines: BinaryHeap::new(),
                watchers: Vec::new(),
                wakeable: 0,
                next_id: MAIN,
                next_wait: 0,
                slice: None,
                abort_on_exception: false,
                report_on_exception: true,
                default_group: group,
                ignore_deadlock: false,
                fibers: scheduled::Fibers::default(),
                account,
                left: 0,
            }));
        }
        match &mut self.threads {
            Some(t) => t,
            None => unreachable!("made just above"),
        }
    }
    /// How many threads are alive.
    pub fn thread_count(&self) -> usize {
        self.threads.as_ref().map_or(1, |t| t.count())
    }
    /// Whether the running code belongs to a signal's handler, which must not wait for locks: what it interrupts may hold them. A fiber that such code starts
    /// belongs to it, too, as in CRuby.
    #[inline]
    pub fn is_in_trap(&self) -> bool {
        self.in_trap
    }
    /// A handler begins or ends, or another fiber or thread runs. Answers how it was.
    #[inline]
    pub fn set_in_trap(&mut self, on: bool) -> bool {
        let before = std::mem::replace(&mut self.in_trap, on);
        if !on && self.later_signals != 0 {
            self.deliver_later_signals();
        }
        before
    }
    /// Handlers do not interrupt each other: such signals come when this one is over.
    pub fn defer_signals(&mut self, bits: u64) {
        self.later_signals |= bits;
    }
    #[cold]
    #[inline(never)]
    fn deliver_later_signals(&mut self) {
        let bits = std::mem::take(&mut self.later_signals);
        if let Ok(host) = self.host_handle() {
            (1..64).filter(|n| bits & (1 << n) != 0).for_each(|n| host.control.deliver_signal(n));
        }
    }
    /// Number of the running thread. Cheap, and makes nothing.
    #[inline]
    pub fn thread_id(&self) -> u32 {
        match &self.threads {
            // SAFETY: the running thread is alive.
            Some(t) => unsafe { (*t.current).id },
            None => MAIN,
        }
    }
    /// Whether a thread has not ended; None: it is no thread's object.
    pub(crate) fn thread_lives(&mut self, v: Value) -> Option<bool> {
        self.data_mut_of::<Thread>(v).map(|t| t.alive())
    }
    /// The running thread's object.
    pub fn current_thread(&mut self) -> Value {
        self.threads().current().object
    }
    /// Starts a thread: `body` is called with its object, on a stack of its own. The object's payload is a [`Thread`].
    pub fn thread_start(&mut self, object: Value, body: fn(&mut Cx, Value)) -> Result<()> {
        let Some(pool) = self.stack_pool.clone() else {
            return self.raise(ids::THREAD_ERROR, "can't create Thread: no stacks in this VM");
        };
        let seat = self.admit_thread()?;
        let stack = match pool.take(StackSize::Main).or_else(|_| pool.take(StackSize::Fiber)) {
            Ok(s) => s,
            Err(e) => return self.raise(ids::THREAD_ERROR, format!("can't create Thread: {e}")),
        };
        let storage = self.inherited_storage();
        let weight = if self.has_memory_limit() { STACKS } else { 0 };
        self.heap.add_payload(weight);
        let times = self.new_thread_times();
        let t: *mut Thread = self.data_mut::<Thread>(object)?;
        let cx: *mut Cx = self;
        // SAFETY: the payload stays where it is while the thread is alive; the coroutine moves with the VM.
        unsafe {
            let group = (*self.threads().current).group;
            let ts = self.threads();
            ts.next_id += 1;
            (*t).id = ts.next_id;
            (*t).object = object;
            (*t).group = group;
            (*t).seat = seat;
            (*t).times = times;
            (*t).storage = storage;
            (*t).masks = (*ts.current).masks.clone();
            (*t).stacks = Some(layout(&stack));
            (*t).parked.weighs(weight);
            (*t).co = Some(Co::new(stack, move |s: &Sus, ()| {
                let cx = &mut *cx;
                cx.suspender = std::ptr::from_ref(s) as *const ();
                let _ = cx.guarded(|cx| {
                    body(cx, (*t).object);
                    Ok(())
                });
                cx.thread_ends(t);
            }));
            (*t).state = State::Ready;
            ts.live.insert((*t).id, t);
            ts.ready.push_back(t);
        }
        self.arm_slice();
        // The main thread has told all others to end, and waits for that.
        if self.is_last() { self.thread_kill(object) } else { Ok(()) }
    }
    /// Last act of a thread: wakes those who wait for it.
    unsafe fn thread_ends(&mut self, t: *mut Thread) {
        // SAFETY: caller: the running thread.
        unsafe {
            (*t).state = State::Dead;
            (*t).pending.clear();
            (*t).seat = None;
            self.root_fiber_ends();
            for id in std::mem::take(&mut (*t).joiners) {
                self.thread_wake(id);
            }
            self.pending = Value::NIL;
            self.errinfo = Value::NIL;
        }
    }
    /// Lets a waiting thread (or fiber: [`Cx::waiter_id`]) look again. False: there is no such thread any more.
    pub fn thread_wake(&mut self, id: u32) -> bool {
        if self.wakes_fiber(id) {
            return true;
        }
        let Some(ts) = self.threads.as_deref_mut() else { return false };
        let Some(t) = ts.live.get(&id).copied() else { return false };
        // SAFETY: a live thread.
        unsafe { ts.make_ready(t) };
        self.arm_slice();
        true
    }
    /// Whether there is such a thread (or fiber: [`Cx::waiter_id`]) still.
    pub fn has_waiter(&mut self, id: u32) -> bool {
        Cx::is_fiber_waiter(id) || self.threads.as_deref().is_some_and(|t| t.live.contains_key(&id))
    }
    /// Whether the running thread became the main one by a fork: with it the program ends.
    pub fn is_main_by_fork(&self) -> bool {
        // SAFETY: the running thread.
        self.threads.as_deref().is_some_and(|t| t.current == t.main && unsafe { (*t.current).id } != MAIN)
    }
    /// In the child of a fork: the running thread is the only one, and the main one. Gives the mutexes that the others held.
    pub fn forget_other_threads(&mut self) -> RootedVec {
        let mut held = RootedVec::new(self);
        let Some(ts) = self.threads.as_deref_mut() else { return held };
        let current = ts.current;
        for t in ts.live.values().copied().filter(|t| *t != current) {
            // SAFETY: live threads. Their stacks are kept: what only they own is lost, as after a kill in native code.
            unsafe {
                (*t).state = State::Dead;
                held.extend_from_slice(&(*t).held);
                (*t).held.clear();
                (*t).pending.clear();
                std::mem::forget((*t).co.take());
                (*t).stacks = None;
                (*t).context = None;
            }
        }
        ts.live.retain(|_, t| *t == current);
        ts.main = current;
        ts.ready.clear();
        ts.outside.clear();
        ts.deadlines.clear();
        ts.watchers.clear();
        ts.wakeable = 0;
        ts.slice = None;
        // SAFETY: the running thread.
        let me = unsafe { (*current).id };
        ts.fibers.keep_those_of(me);
        held
    }
    /// The threads that are alive, in order of creation.
    pub fn live_threads(&mut self) -> RootedVec {
        let mut list = RootedVec::new(self);
        let ts = self.threads();
        // SAFETY: as for `Threads::trace`.
        list.extend(ts.ids().iter().map(|id| unsafe { (*ts.live[id]).object }));
        list
    }
    /// Where notes for its threads are left; None while there is only one.
    pub(crate) fn mailbox(&self) -> Option<Arc<Mailbox>> {
        self.threads.as_deref().map(|t| t.mailbox.clone())
    }
    /// Whom to wake for the running thread, if it waits as [`Wait::Event`].
    pub fn waiter(&mut self) -> Result<Waiter> {
        let task = self.host_handle()?.task;
        let note = self.threads.as_deref_mut().map(|t| (t.mailbox.clone(), t.current().id));
        Ok(Waiter { task, note })
    }
    /// A descriptor was closed: threads of this VM that wait as [`Wait::Watch`] look again.
    pub fn wake_watchers(&mut self) {
        if let Some(t) = self.threads.as_deref_mut() {
            t.wake_watchers();
            self.arm_slice();
        }
    }
    /// Has an exception (or a jump) raised in a thread when it next looks.
    pub fn thread_interrupt(&mut self, thread: Value, exc: Value) -> Result<()> {
        let t = self.data_mut::<Thread>(thread)?;
        t.pending.push_back(exc);
        let id = t.id;
        self.thread_wake(id);
        Ok(())
    }
    /// Whether the running thread was asked to end.
    pub fn is_dying(&mut self) -> bool {
        self.threads.as_deref_mut().is_some_and(|t| t.current().dying)
    }
    /// Asks a thread to end. The running one: Err, the jump is on its way.
    pub fn thread_kill(&mut self, thread: Value) -> Result<()> {
        let t = self.data_mut::<Thread>(thread)?;
        if !t.alive() {
            return Ok(());
        }
        t.dying = true;
        let id = t.id;
        let jump = match self.throw::<()>(ThrowKind::Kill, thread, Value::NIL) {
            Ok(()) => return Ok(()),
            Err(Exc) => self.take_pending(),
        };
        if self.thread_id() == id {
            return self.repend(jump);
        }
        self.thread_interrupt(thread, jump)
    }
    /// Ends all other threads and waits for their ends: what the main thread does last.
    pub fn kill_other_threads(&mut self) {
        self.set_last(true);
        self.end_threads();
        self.set_last(false);
    }
    fn end_threads(&mut self) {
        for _ in 0..3 {
            let me = self.thread_id();
            let Some(ts) = self.threads.as_deref_mut() else { return };
            if ts.count() == 1 {
                return;
            }
            for v in self.live_threads().iter().copied() {
                let ours = self.data_mut::<Thread>(v).is_ok_and(|t| {
                    t.masks.clear();
                    t.joiners.push(me);
                    t.id == me
                });
                if !ours && self.thread_kill(v).is_err() {
                    self.take_pending();
                }
            }
            if self.wait_as(Wait::Inside, None, |cx| Ok((cx.threads().count() == 1).then_some(()))).is_ok() {
                return;
            }
            // An `ensure` clause that waits for ever: the deadlock is reported to us.
            self.take_pending();
        }
    }
    /// Gives the VM to the next ready thread, or the worker to another VM.
    pub fn thread_pass(&mut self) -> Result<()> {
        self.leave(Out::Rotate);
        self.check_interrupts()
    }
    /// Stops until woken, as a thread that waits for `wait`.
    #[inline]
    pub(crate) fn park_as(&mut self, wait: Wait, deadline: Option<Instant>) {
        if let Some(ts) = self.threads.as_deref_mut() {
            let t = ts.current();
            t.wait = wait;
            t.deadline = deadline;
            t.forever = deadline.is_none();
        }
        self.leave(Out::Park);
    }
    /// Asks for an end of the running thread's slice, when others are ready.
    pub(crate) fn arm_slice(&mut self) {
        let (Some(ts), Some(host)) = (self.threads.as_deref_mut(), &self.host) else { return };
        if ts.slice.is_none() && !ts.ready.is_empty() {
            let at = Instant::now() + SLICE;
            ts.slice = Some((at, host.scheduler.slice_timer(at, &host.task)));
        }
    }
    /// Puts a thread's state into the VM.
    unsafe fn switch_to(&mut self, to: *mut Thread) {
        // SAFETY: caller: `to` is alive and not running.
        unsafe {
            let from = match &mut self.threads {
                Some(t) => {
                    t.note(to, Phase::Run);
                    std::mem::replace(&mut t.current, to)
                }
                None => return,
            };
            (*to).state = State::Running;
            (*to).parked.runs();
            if from == to {
                return;
            }
            if !from.is_null() {
                (*from).context = Some(Context {
                    stacks: self.stacks,
                    fp: self.fp,
                    sp: self.left_at,
                    suspender: self.suspender,
                    current_fiber: self.current_fiber,
                    root_fiber: self.root_fiber,
                    pending: self.pending,
                    errinfo: self.errinfo,
                    in_trap: self.in_trap,
                    inspecting: std::mem::replace(&mut self.inspecting, TracedVec::new()),
                    suspended: std::mem::take(&mut self.suspended),
                    call: self.call,
                    activity: self.begin_activity(Activity::Run),
                });
            }
            match (*to).context.take() {
                Some(c) => {
                    self.use_stacks(c.stacks, c.fp);
                    self.suspender = c.suspender;
                    self.current_fiber = c.current_fiber;
                    self.root_fiber = c.root_fiber;
                    self.pending = c.pending;
                    self.errinfo = c.errinfo;
                    self.set_in_trap(c.in_trap);
                    self.inspecting = c.inspecting;
                    self.suspended = c.suspended;
                    self.call = c.call;
                    self.end_activity(c.activity);
                }
                None => {
                    self.suspender = std::ptr::null();
                    self.current_fiber = Value::NIL;
                    self.root_fiber = Value::NIL;
                    self.pending = Value::NIL;
                    self.errinfo = Value::NIL;
                    self.set_in_trap(false);
                    self.inspecting.clear();
                    self.suspended.clear();
                    if let Some(s) = (*to).stacks {
                        self.enter_stacks(s);
                        self.own_variables_of((*to).block);
                    }
                }
            }
        }
    }
    /// Backtrace of a thread that does not run.
    pub fn thread_locations(&mut self, thread: Value) -> Result<Vec<crate::backtrace::Location>> {
        let t: *mut Thread = self.data_mut::<Thread>(thread)?;
        // SAFETY: alive (an argument); its frames stay while it is suspended.
        let (context, id) = unsafe { ((*t).context.as_ref().map(|c| (c.stacks, c.fp)), (*t).id) };
        let Some((stacks, fp)) = context else {
            return Ok(if self.thread_id() == id { self.locations(0) } else { Vec::new() });
        };
        Ok(self.locations_on(stacks, fp))
    }
    /// Backtrace of suspended code.
    pub(crate) fn locations_on(&mut self, stacks: Stacks, fp: *mut Frame) -> Vec<crate::backtrace::Location> {
        let mine = (self.stacks, self.fp);
        self.use_stacks(stacks, fp);
        let l = self.locations(0);
        self.use_stacks(mine.0, mine.1);
        l
    }
}
