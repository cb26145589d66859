//! Coroutines of a VM: its main one and its fibers, and waiting.
//!
//! Fibers of a thread are driven from the thread's own coroutine, its *root*: a fiber that resumes, transfers, yields or ends names the
//! next one and suspends; the loop in [`Cx::drive`] runs that one, or returns when it is the root's turn. So a resume costs no native depth, any
//! fiber can go on after any other (`transfer`), and code that must wait (channel, sleep) suspends two coroutines at most on its way out to
//! the scheduler's worker.
//!
//! Invariants: a fiber is `Running` exactly while its thread's `current_fiber` is it (nil: the root). The rules of who may resume,
//! transfer to or yield to whom are CRuby's, kept in three fields: `resumer` (who gets what it yields), `resuming` (whom it has resumed) and
//! `yielding` (it stands in `Fiber.yield`).
//!
//! Rejected: nesting the resumed coroutine in the resumer's (no `transfer`; depth grows with every level); symmetric switches straight from fiber to
//! fiber (one switch less when a fiber resumes another, but every stack would have to know how to reach the worker).

use crate::Vm;
use crate::builtin::Block;
use crate::frame::Frame;
use crate::gc::{PAGE, Parked, STACKS};
use crate::interp::trace::events;
use crate::raise::{Exc, Result};
use crate::vm::{Cx, Stacks, SuspendedStacks};
use std::ptr::NonNull;
use zakuro_object::*;
use zakuro_sched::{Coroutine, Resumed, Stack, StackPool, StackSize, Suspender, approximate_stack_pointer};

/// Why a coroutine stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Out {
    /// The VM waits for a wake-up.
    Park,
    /// The VM's time slice is used up.
    Again,
    /// The next thread of the VM may run.
    Rotate,
    /// `Vm::next_fiber` goes on.
    Switch,
    /// Never to be resumed: see [`crate::life::give_up`].
    Abandoned,
}

pub type Co = Coroutine<(), Out, ()>;
pub type Sus = Suspender<(), Out>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FiberState {
    Created,
    Running,
    /// Stands in `Fiber.yield`, `resume` or `transfer`.
    Suspended,
    Terminated,
}

/// Payload of a Fiber.
pub struct FiberData {
    parked: Parked,
    pub state: FiberState,
    co: Option<Co>,
    stacks: Option<Stacks>,
    fp: *mut Frame,
    suspender: *const Sus,
    block: Value,
    /// What the next switch to it passes in.
    transfer: Value,
    /// That is an exception or jump to raise there.
    failed: bool,
    /// `Vm::pending` and `Vm::errinfo` of its code while it is suspended.
    saved: (Value, Value),
    /// `Vm::in_trap`, as well.
    in_trap: bool,
    /// `Vm::inspecting` of its code while it is suspended; while it runs, that of the root.
    inspecting: TracedVec,
    resumer: Value,
    resuming: Value,
    yielding: bool,
    pub storage: Value,
    /// The first resume passed keywords.
    pub keywords: bool,
    /// Number of the thread that it belongs to: its maker's; 0: that of the first resume.
    pub thread: u32,
    /// Its number in lines (`Cx::waiter_id`); 0: none yet.
    pub(crate) waiter: u32,
    /// How many fibers waited for each other when it was first resumed, with it.
    depth: u32,
}

/// Fibers that resume each other. More are a recursion without end, which no depth of a stack stops; CRuby runs out of mappings near 31,700.
const DEEPEST: u32 = 30_000;

impl FiberData {
    /// In a VM with a memory limit a fiber counts what its stacks usually take; in others that would only be cause for collections.
    pub fn counted(mut self, cx: &Cx) -> FiberData {
        self.parked = Parked::counting(if cx.has_memory_limit() { STACKS } else { LEAST });
        self
    }
    /// A fiber that has not started.
    pub fn new(block: Value) -> FiberData {
        FiberData {
            parked: Parked::counting(LEAST),
            state: FiberState::Created,
            co: None,
            stacks: None,
            fp: std::ptr::null_mut(),
            suspender: std::ptr::null(),
            block,
            transfer: Value::NIL,
            failed: false,
            saved: (Value::NIL, Value::NIL),
            in_trap: false,
            inspecting: TracedVec::new(),
            resumer: Value::NIL,
            resuming: Value::NIL,
            yielding: false,
            storage: Value::NIL,
            keywords: false,
            thread: 0,
            waiter: 0,
            depth: 0,
        }
    }
    /// The Proc that it runs.
    pub fn block(&self) -> Value {
        self.block
    }
}

impl FiberData {
    /// The stacks of a fiber that waits to be resumed.
    pub(crate) fn each_stack(&self, f: &mut dyn FnMut(&Stacks, *const Frame)) {
        if let (FiberState::Suspended, Some(s)) = (self.state, &self.stacks) {
            f(s, self.fp);
        }
    }
}

impl Trace for FiberData {
    /// Written out: its stacks are looked through once while it is suspended.
    #[rustfmt::skip]
    fn trace(&self, m: &mut Marker<'_>) {
        let FiberData {
            block, transfer, saved, inspecting, resumer, resuming, storage,
            // No values.
            state: _, failed: _, in_trap: _, yielding: _, keywords: _, thread: _, waiter: _, depth: _,
            // With the stacks.
            parked: _, co: _, stacks: _, fp: _, suspender: _,
        } = self;
        [*block, *transfer, *resumer, *resuming, *storage].trace(m);
        saved.trace(m);
        inspecting.trace(m);
        if let (FiberState::Suspended, Some(co), Some(s)) = (self.state, &self.co, &self.stacks) {
            self.parked.trace(m, (co.saved_sp(), co.top()), |m| {
                let sp = (co.saved_sp() as usize + 7) & !7;
                m.mark_range(sp as *const usize, co.top() as *const usize);
                crate::gc::mark_stacks(m, s, self.fp) + co.deepest()
            });
        }
    }
}
impl NativeData for FiberData {
    fn ends_with_vm(&self) -> bool {
        true
    }
    /// Its stack is memory, too, that a dead fiber keeps: some of it calls for collections.
    fn weight(&self) -> usize {
        self.parked.weight()
    }
    fn held(&self) -> usize {
        let suspended = self.stacks.filter(|_| self.state == FiberState::Suspended && !self.fp.is_null());
        self.weight() + suspended.map_or(0, |s| s.used(self.fp, std::ptr::null()))
    }
    fn change_tracking(&self) -> ChangeTracking {
        ChangeTracking::Independent
    }
}

impl Drop for FiberData {
    fn drop(&mut self) {
        if let Some(co) = self.co.take() {
            if co.started() && !co.done() {
                // SAFETY: nothing on the abandoned stack is used again. What lives there is leaked: at most boxed root lists.
                drop(unsafe { co.abandon() });
            } else {
                drop(co);
            }
        }
    }
}

/// Divides a stack slot: frames first, on the page where native code begins, then values, from a page's begin. Frames get so much that values run out no later than with eleven for each of them.
pub fn layout(stack: &Stack) -> Stacks {
    divide(stack, 0).0
}

/// The same for a VM's main thread: the VM itself stands first on the page of values, which has room for both until the program goes deeper.
pub fn layout_with_vm(stack: &Stack) -> (Stacks, NonNull<Vm>) {
    divide(stack, size_of::<Vm>().next_multiple_of(CACHE_LINE))
}

const CACHE_LINE: usize = 64;
/// What is left of the page is for the values of a program that waits: without that each VM would take a page more (docs/decisions/0039).
const _: () = assert!(cfg!(debug_assertions) || size_of::<Vm>() <= PAGE - 512);

/// `before`: bytes between the page's begin and the first value.
fn divide(stack: &Stack, before: usize) -> (Stacks, NonNull<Vm>) {
    let (base, len) = stack.vm_area();
    let frames = base as *mut Frame;
    let frame_bytes = (base as usize + len / 20 * 7) / PAGE * PAGE - base as usize;
    // SAFETY: both parts lie inside the slot's VM area.
    unsafe {
        let page = base.add(frame_bytes);
        let stacks = Stacks {
            values: page.add(before) as *mut Value,
            values_end: base.add(len) as *mut Value,
            frames,
            frames_end: frames.add(frame_bytes / size_of::<Frame>()),
            native_limit: stack.native_limit().add(NATIVE_RESERVE),
            native_top: stack.top(),
        };
        (stacks, NonNull::new_unchecked(page.cast()))
    }
}

/// What a fiber weighs in any VM.
const LEAST: usize = 1 << 10;

/// Bytes of native stack kept for code that runs after the depth check (builtins, allocation, formatting of the error).
const NATIVE_RESERVE: usize = 48 * 1024;

/// Payload of what was checked to be a fiber before: the running one, one that it has resumed or that resumed it, an argument after `may_resume`.
#[inline(always)]
fn known(cx: &mut Cx, fiber: Value) -> Result<&mut FiberData> {
    // SAFETY: cells don't move and the fiber is alive, as for `data_ref`; its payload never changes its type, and stays while the VM is borrowed.
    match unsafe { DataCell::get_known::<FiberData>(Ref::of(fiber)) } {
        Some(f) => Ok(f),
        None => cx.data_mut::<FiberData>(fiber),
    }
}

impl Cx {
    /// Gives the worker away until somebody wakes the VM's task. May return early: callers loop.
    pub fn park(&mut self) {
        self.leave(Out::Park);
    }
    /// Lets other VMs run.
    pub fn yield_now(&mut self) {
        self.leave(Out::Again);
    }
    #[inline]
    pub(crate) fn leave(&mut self, out: Out) {
        let s = self.suspender as *const Sus;
        if s.is_null() {
            std::thread::yield_now();
            return;
        }
        // Registers that the switch saves lie a little lower.
        self.left_at = approximate_stack_pointer().wrapping_sub(1024);
        // SAFETY: the suspender lives at the bottom of the running coroutine.
        unsafe { (*s).suspend(out) };
    }
    fn fiber_error<T>(&mut self, message: &str) -> Result<T> {
        self.raise(ids::FIBER_ERROR, message)
    }
    /// Hidden instance variable that says whether a fiber blocks.
    pub fn blocking_name() -> Sym {
        Sym::intern("__blocking")
    }
    /// The running fiber. Outside of fibers an object that stands for that code, made when asked for; one per thread.
    pub fn fiber_current(&mut self) -> Value {
        if !self.current_fiber.is_nil() {
            return self.current_fiber;
        }
        if self.root_fiber.is_nil() {
            let mut data = FiberData::new(Value::NIL);
            data.state = FiberState::Running;
            data.thread = self.thread_id();
            if let Some(t) = self.threads.as_deref_mut() {
                data.storage = std::mem::replace(&mut t.current().storage, Value::NIL);
            }
            let f = self.data(ids::FIBER, data);
            self.ivar_set_raw(f, Cx::blocking_name(), Value::TRUE);
            self.root_fiber = f;
        }
        self.root_fiber
    }
    /// The running thread ends, and with it the fiber that stands for its code, where one was made.
    pub fn root_fiber_ends(&mut self) {
        let root = self.root_fiber;
        if !root.is_nil()
            && let Ok(f) = self.data_mut::<FiberData>(root)
        {
            fiber_ended(f);
        }
    }
    /// Runs a fiber until it yields or ends. `args` become the block's arguments or the value of `Fiber.yield`.
    ///
    /// All of it in one native frame, with the switch at its end: a return address that was pushed before a switch is one that the processor
    /// predicts wrong.
    #[inline(always)]
    pub fn fiber_resume(&mut self, fiber: Value, args: &[Value]) -> Result<Value> {
        let current = if self.current_fiber.is_nil() { self.fiber_current() } else { self.current_fiber };
        let thread = self.thread_id();
        let f = self.data_mut::<FiberData>(fiber)?;
        // One that stands in Fiber.yield: nothing more to be asked.
        let ready = f.state == FiberState::Suspended && f.yielding && f.resumer.is_nil() && f.thread == thread;
        let created = if ready && args.len() <= 1 {
            f.transfer = args.first().copied().unwrap_or(Value::NIL);
            f.failed = false;
            f.resumer = current;
            f.yielding = false;
            false
        } else {
            self.prepare_resume(fiber, current, args, ready)?
        };
        known(self, current)?.resuming = fiber;
        if !self.current_fiber.is_nil() || created {
            return self.switch_fiber(fiber);
        }
        self.next_fiber = fiber;
        self.drive();
        self.switched_back(current)
    }
    /// The rest of the ways in which a resume begins; whether it is the first.
    #[inline(never)]
    fn prepare_resume(&mut self, fiber: Value, current: Value, args: &[Value], ready: bool) -> Result<bool> {
        if !ready {
            self.may_resume(fiber)?;
        }
        self.pass_arguments(fiber, args)?;
        let f = known(self, fiber)?;
        f.resumer = current;
        f.yielding = false;
        Ok(f.state == FiberState::Created)
    }
    /// CRuby's rules of `resume`.
    #[inline(never)]
    fn may_resume(&mut self, fiber: Value) -> Result<()> {
        let current = self.fiber_current();
        let f = self.data_ref::<FiberData>(fiber)?;
        let problem = if f.state == FiberState::Terminated {
            "attempt to resume a terminated fiber"
        } else if fiber == current {
            "attempt to resume the current fiber"
        } else if !f.resumer.is_nil() {
            "attempt to resume a resumed fiber (double resume)"
        } else if !f.resuming.is_nil() {
            "attempt to resume a resuming fiber"
        } else if f.state != FiberState::Created && !f.yielding {
            "attempt to resume a transferring fiber"
        } else {
            return self.may_switch(fiber);
        };
        self.fiber_error(problem)
    }
    fn may_switch(&mut self, fiber: Value) -> Result<()> {
        let thread = self.thread_id();
        let f = self.data_mut::<FiberData>(fiber)?;
        if f.state == FiberState::Terminated {
            return self.fiber_error("dead fiber called");
        }
        if f.thread != 0 && f.thread != thread {
            return self.fiber_error("fiber called across threads");
        }
        f.thread = thread;
        if f.state != FiberState::Created || f.co.is_some() {
            return Ok(());
        }
        let depth = if self.current_fiber.is_nil() { 1 } else { known(self, self.current_fiber)?.depth + 1 };
        if depth > DEEPEST {
            return self.fiber_error(&format!("can't alloc machine stack to fiber: {DEEPEST} fibers wait for each other"));
        }
        let Some(pool) = self.stack_pool.clone() else { return self.fiber_error("no stacks in this VM") };
        let stack = match pool.take(StackSize::Fiber) {
            Ok(s) => s,
            Err(e) => return self.fiber_error(&format!("can't alloc machine stack to fiber: {e}")),
        };
        let stacks = layout(&stack);
        let cx: *mut Cx = self;
        let me = fiber;
        let f = self.data_mut::<FiberData>(fiber)?;
        f.stacks = Some(stacks);
        f.depth = depth;
        // SAFETY: what the body touches (VM, fiber, its block) lives as long as somebody can switch to the fiber; values on its stack are scanned.
        f.co = Some(unsafe { Co::new(stack, move |s: &Suspender<(), Out>, ()| fiber_body(cx, me, s)) });
        Ok(())
    }
    /// Lays the arguments of a resume or transfer down for the fiber.
    #[inline(never)]
    fn pass_arguments(&mut self, fiber: Value, args: &[Value]) -> Result<()> {
        let created = known(self, fiber)?.state == FiberState::Created;
        let v = match args {
            _ if created => self.array(args),
            [] => Value::NIL,
            [v] => *v,
            _ => self.array(args),
        };
        let f = known(self, fiber)?;
        f.transfer = v;
        f.failed = false;
        Ok(())
    }
    fn resume_with_passed(&mut self, fiber: Value) -> Result<Value> {
        let current = self.fiber_current();
        known(self, current)?.resuming = fiber;
        let f = known(self, fiber)?;
        f.resumer = current;
        f.yielding = false;
        self.switch_fiber(fiber)
    }
    /// Goes on in a fiber, which need not come back here.
    pub fn fiber_transfer(&mut self, fiber: Value, args: &[Value]) -> Result<Value> {
        self.may_transfer(fiber)?;
        self.pass_arguments(fiber, args)?;
        self.switch_fiber(fiber)
    }
    /// CRuby's rules of `transfer`.
    fn may_transfer(&mut self, fiber: Value) -> Result<()> {
        let f = self.data_ref::<FiberData>(fiber)?;
        if !f.resuming.is_nil() {
            return self.fiber_error("attempt to transfer to a resuming fiber");
        }
        if f.yielding {
            return self.fiber_error("attempt to transfer to a yielding fiber");
        }
        self.may_switch(fiber)
    }
    /// `Fiber.yield`: gives a value to the resumer; returns what the next resume passes. In one native frame, as `fiber_resume`.
    #[inline(always)]
    pub fn fiber_yield(&mut self, args: &[Value]) -> Result<Value> {
        let fiber = self.current_fiber;
        let resumer = if fiber.is_nil() { Value::NIL } else { std::mem::replace(&mut known(self, fiber)?.resumer, Value::NIL) };
        if resumer.is_nil() {
            return self.fiber_error("attempt to yield on a not resumed fiber");
        }
        known(self, fiber)?.yielding = true;
        let r = known(self, resumer)?;
        r.resuming = Value::NIL;
        match args {
            [v] => {
                r.transfer = *v;
                r.failed = false;
            }
            _ => self.pass_arguments(resumer, args)?,
        }
        self.next_fiber = resumer;
        let s = self.suspender as *const Sus;
        // SAFETY: the suspender lives at the bottom of the running coroutine.
        unsafe { (*s).suspend(Out::Switch) };
        self.switched_back(fiber)
    }
    /// Resumes a fiber so that the exception (or jump) is raised in it.
    pub fn fiber_raise(&mut self, fiber: Value, exc: Value) -> Result<Value> {
        let mut fiber = fiber;
        // Where it waits for another one, that one gets it.
        loop {
            let inner = self.data_ref::<FiberData>(fiber)?.resuming;
            if inner.is_nil() {
                break;
            }
            fiber = inner;
        }
        if fiber == self.fiber_current() {
            return if exc.is_kind(Kind::Exception) { self.raise_value(exc) } else { self.repend(exc) };
        }
        let f = self.data_ref::<FiberData>(fiber)?;
        let (state, yielding) = (f.state, f.yielding);
        let transferred = state == FiberState::Suspended && !yielding;
        if state == FiberState::Created {
            return self.fiber_error("cannot raise exception on unborn fiber");
        }
        if transferred {
            self.may_transfer(fiber)?;
            self.leave_scheduled()?;
        } else {
            self.may_resume(fiber)?;
        }
        let f = self.data_mut::<FiberData>(fiber)?;
        f.transfer = exc;
        f.failed = true;
        if transferred { self.switch_fiber(fiber) } else { self.resume_with_passed(fiber) }
    }
    /// Gives control to a fiber for which a value is laid down; returns what is laid down for this one when its turn comes again.
    #[inline(never)]
    fn switch_fiber(&mut self, fiber: Value) -> Result<Value> {
        let current = self.fiber_current();
        if fiber != current {
            self.next_fiber = fiber;
            if self.current_fiber.is_nil() {
                self.drive();
            } else {
                let s = self.suspender as *const Sus;
                // SAFETY: the suspender lives at the bottom of the running coroutine.
                unsafe { (*s).suspend(Out::Switch) };
            }
            return self.switched_back(current);
        }
        Ok(std::mem::replace(&mut known(self, current)?.transfer, Value::NIL))
    }
    /// What was laid down for the fiber whose turn has come again.
    #[inline(always)]
    fn switched_back(&mut self, current: Value) -> Result<Value> {
        if self.tracing & events::FIBER_SWITCH != 0 {
            self.switched()?;
        }
        let f = known(self, current)?;
        let v = std::mem::replace(&mut f.transfer, Value::NIL);
        if std::mem::take(&mut f.failed) {
            return self.arrived(v);
        }
        Ok(v)
    }
    /// An exception (or jump) from another fiber; one that was never raised gets its backtrace here.
    #[cold]
    fn arrived(&mut self, exc: Value) -> Result<Value> {
        use crate::raise::hidden;
        let fresh =
            exc.is_kind(Kind::Exception) && self.ivar_get(exc, hidden::raw()).is_nil() && self.ivar_get(exc, hidden::backtrace()).is_nil();
        if fresh {
            return self.raise_value(exc);
        }
        // It is raised once more, here.
        if exc.is_kind(Kind::Exception) && self.tracing & events::RAISE != 0 {
            self.trace_event(events::RAISE, None, None, exc)?;
        }
        self.repend(exc)
    }
    /// Tells traces that another fiber goes on.
    #[cold]
    fn switched(&mut self) -> Result<()> {
        let thread = self.current_thread();
        self.trace_event(events::FIBER_SWITCH, Some(thread), None, Value::NIL)
    }
    /// Variables (Fiber storage) that a fiber or thread made now gets: a copy of the running fiber's, or nil.
    pub fn inherited_storage(&mut self) -> Value {
        let current = if self.current_fiber.is_nil() { self.root_fiber } else { self.current_fiber };
        let mine = match current.is_nil() {
            true => self.threads.as_deref_mut().map_or(Value::NIL, |t| t.current().storage),
            false => self.data_ref::<FiberData>(current).map_or(Value::NIL, |f| f.storage),
        };
        self.copied_storage(mine)
    }
    /// A copy of a storage Hash (nil for none): fibers inherit their maker's variables but not later changes.
    pub fn copied_storage(&mut self, storage: Value) -> Value {
        let Some(from) = Ref::<HashCell>::from_value(storage) else { return Value::NIL };
        let to = self.new_hash();
        for (k, v) in self.hash_pairs(from) {
            // Symbols are compared without a call.
            let _ = self.hash_set(to, k, v);
        }
        to.as_value()
    }
    /// The root's loop: runs `next_fiber` after `next_fiber` until it is the root's turn.
    #[inline(always)]
    fn drive(&mut self) {
        let root = self.root_fiber;
        // The root's side: scanned as a root while fibers run.
        let saved = SuspendedStacks {
            id: root.bits(),
            stacks: self.stacks,
            fp: self.fp,
            sp: approximate_stack_pointer().wrapping_sub(1024),
            pending: self.pending,
            errinfo: self.errinfo,
            in_trap: self.in_trap,
        };
        let my_suspender = self.suspender;
        self.suspended.push(saved);
        if let Ok(f) = known(self, root) {
            f.state = FiberState::Suspended;
        }
        loop {
            let fiber = std::mem::replace(&mut self.next_fiber, Value::NIL);
            if fiber == root {
                break;
            }
            let Ok(f) = known(self, fiber) else { break };
            let f: *mut FiberData = f;
            // SAFETY: the fiber is alive (current_fiber is a root of the collector), its payload boxed and stable; one thread runs the VM.
            unsafe {
                let Some(stacks) = (*f).stacks else { break };
                self.current_fiber = fiber;
                std::mem::swap(&mut self.inspecting, &mut (*f).inspecting);
                if (*f).state == FiberState::Suspended {
                    self.use_stacks(stacks, (*f).fp);
                    (self.pending, self.errinfo) = (*f).saved;
                    self.set_in_trap((*f).in_trap);
                    self.suspender = (*f).suspender as *const ();
                } else {
                    self.enter_stacks(stacks);
                    self.own_variables_of((*f).block);
                    self.pending = Value::NIL;
                    self.errinfo = Value::NIL;
                }
                (*f).state = FiberState::Running;
                (*f).parked.runs();
                let Some(co) = (*f).co.as_mut() else { break };
                let ended = loop {
                    match co.resume(()) {
                        Resumed::Yielded(Out::Switch) => break false,
                        Resumed::Yielded(out) => {
                            // The whole thread waits: pass it on outwards. The fiber's registers stay in force.
                            let s = my_suspender as *const Sus;
                            if !s.is_null() {
                                (*s).suspend(out);
                            }
                        }
                        Resumed::Returned(()) => break true,
                    }
                };
                std::mem::swap(&mut self.inspecting, &mut (*f).inspecting);
                if ended {
                    fiber_ended(&mut *f);
                } else {
                    (*f).state = FiberState::Suspended;
                    (*f).fp = self.fp;
                    (*f).suspender = self.suspender as *const Sus;
                    (*f).saved = (self.pending, self.errinfo);
                    (*f).in_trap = self.in_trap;
                }
            }
        }
        self.suspended.pop();
        self.use_stacks(saved.stacks, saved.fp);
        self.suspender = my_suspender;
        self.pending = saved.pending;
        self.errinfo = saved.errinfo;
        self.set_in_trap(saved.in_trap);
        self.current_fiber = Value::NIL;
        if let Ok(f) = known(self, root) {
            f.state = FiberState::Running;
        }
    }
    /// Who goes on when the running fiber has ended: its resumer, else the innermost one that the root has resumed.
    fn after_end(&mut self, fiber: Value) -> Result<Value> {
        let resumer = std::mem::replace(&mut self.data_mut::<FiberData>(fiber)?.resumer, Value::NIL);
        if !resumer.is_nil() {
            self.data_mut::<FiberData>(resumer)?.resuming = Value::NIL;
            return Ok(resumer);
        }
        let mut at = self.root_fiber;
        loop {
            let inner = self.data_ref::<FiberData>(at)?.resuming;
            if inner.is_nil() || inner == fiber {
                return Ok(at);
            }
            at = inner;
        }
    }
    /// Backtrace of a fiber; of one that has resumed another what it stands in.
    pub fn fiber_locations(&mut self, fiber: Value) -> Result<Vec<crate::backtrace::Location>> {
        let f = self.data_ref::<FiberData>(fiber)?;
        let (state, place) = (f.state, f.stacks.map(|s| (s, f.fp)));
        let root = self.suspended.iter().find(|s| s.id == fiber.bits()).map(|s| (s.stacks, s.fp));
        match (state, place.or(root)) {
            (FiberState::Running, _) => Ok(self.locations(0)),
            (FiberState::Suspended, Some((stacks, fp))) => Ok(self.locations_on(stacks, fp)),
            _ => Ok(Vec::new()),
        }
    }
    pub fn fiber_state(&mut self, fiber: Value) -> Result<FiberState> {
        Ok(self.data_ref::<FiberData>(fiber)?.state)
    }
}

/// Gives back what only a fiber that can go on needs.
#[inline(never)]
fn fiber_ended(f: &mut FiberData) {
    f.state = FiberState::Terminated;
    f.co = None;
    f.stacks = None;
    f.inspecting = TracedVec::new();
}

/// What runs on a fiber's own stack.
fn fiber_body(cx: *mut Cx, fiber: Value, s: &Suspender<(), Out>) {
    // SAFETY: the VM and the fiber outlive the run (`drive` keeps both).
    unsafe {
        let cx = &mut *cx;
        cx.suspender = s as *const Suspender<(), Out> as *const ();
        let Ok(f) = cx.data_mut::<FiberData>(fiber) else { return };
        let f: *mut FiberData = f;
        let args = (*f).transfer;
        let block = Block::from_value((*f).block);
        let args = match Ref::<ArrayCell>::from_value(args) {
            Some(a) => crate::make::ArgList::of_array(cx, a),
            None => crate::make::ArgList::of(cx, &[]),
        };
        let r = cx.guarded(|cx| {
            if cx.tracing & events::FIBER_SWITCH != 0 {
                cx.switched()?;
            }
            cx.yield_full(block, &args, (*f).keywords, Block::NONE, None)
        });
        drop(args);
        let (v, failed) = match r {
            Ok(v) => (v, false),
            Err(Exc) => {
                let e = cx.take_pending();
                // A killed fiber ends by a jump to itself: a plain end for the others.
                match Ref::<ThrowCell>::from_value(e).is_some_and(|t| t.tag == fiber) {
                    true => (Value::NIL, false),
                    false => (e, true),
                }
            }
        };
        let next = cx.after_end(fiber).unwrap_or(cx.root_fiber);
        if let Ok(n) = cx.data_mut::<FiberData>(next) {
            n.transfer = v;
            n.failed = failed;
        }
        cx.next_fiber = next;
    }
}

/// The pool that this VM's coroutines take their stacks from.
pub type Pool = StackPool;
