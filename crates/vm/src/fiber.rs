//! Coroutines of a VM: its main one and its fibers, and waiting.
//!
//! Resuming a fiber nests its coroutine in the resumer's. When code in a fiber must wait (channel, sleep), every coroutine on the way out
//! suspends with the same reason, and the scheduler's worker is free; on wake-up they are resumed inwards again.
//! Rejected: switching from the fiber straight to the worker (needs symmetric coroutines and a second way to find the stacks).

use crate::builtin::Block;
use crate::frame::Frame;
use crate::raise::{Exc, Result};
use crate::vm::{Cx, Stacks, SuspendedStacks};
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
    /// A fiber yields to its resumer.
    Yield,
    /// Never to be resumed: see [`crate::life::give_up`].
    Abandoned,
}

pub type Co = Coroutine<(), Out, ()>;
pub type Sus = Suspender<(), Out>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FiberState {
    Created,
    Running,
    /// It resumed another fiber.
    Resuming,
    Suspended,
    Terminated,
}

/// Payload of a Fiber.
pub struct FiberData {
    pub state: FiberState,
    co: Option<Co>,
    stacks: Option<Stacks>,
    fp: *mut Frame,
    suspender: *const Sus,
    block: Value,
    /// What resume passes in, what yield or the end passes out.
    transfer: Value,
    /// The exception it ended with.
    failed: bool,
    saved: (Value, Value, Vec<Value>),
    resumer: Value,
    pub storage: Value,
    /// The first resume passed keywords.
    pub keywords: bool,
    /// Number of the thread that it belongs to: its maker's; 0: that of the first resume.
    pub thread: u32,
}

impl FiberData {
    /// A fiber that has not started.
    pub fn new(block: Value) -> FiberData {
        FiberData {
            state: FiberState::Created,
            co: None,
            stacks: None,
            fp: std::ptr::null_mut(),
            suspender: std::ptr::null(),
            block,
            transfer: Value::NIL,
            failed: false,
            saved: (Value::NIL, Value::NIL, Vec::new()),
            resumer: Value::NIL,
            storage: Value::NIL,
            keywords: false,
            thread: 0,
        }
    }
    /// The Proc that it runs.
    pub fn block(&self) -> Value {
        self.block
    }
}

impl NativeData for FiberData {
    fn steadiness(&self) -> Steadiness {
        Steadiness::Always
    }
    fn trace(&self, m: &mut Marker<'_>) {
        for v in [self.block, self.transfer, self.saved.0, self.saved.1, self.resumer, self.storage] {
            m.mark_value_bits(v.0);
        }
        self.saved.2.iter().for_each(|v| m.mark_value_bits(v.0));
        if let (FiberState::Suspended, Some(co), Some(s)) = (self.state, &self.co, &self.stacks) {
            let sp = (co.saved_sp() as usize + 7) & !7;
            m.mark_range(sp as *const usize, co.top() as *const usize);
            crate::gc::mark_stacks(m, s, self.fp);
        }
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

/// Divides a stack slot: frames first, then values, native code in the upper half.
pub fn layout(stack: &Stack) -> Stacks {
    let (base, len) = stack.vm_area();
    let frames = base as *mut Frame;
    let frame_bytes = (len / 4) & !63;
    // SAFETY: both parts lie inside the slot's VM area.
    unsafe {
        let values = base.add(frame_bytes) as *mut Value;
        Stacks {
            values,
            values_end: base.add(len) as *mut Value,
            frames,
            frames_end: frames.add(frame_bytes / size_of::<Frame>()),
            native_limit: stack.native_limit().add(NATIVE_RESERVE),
            native_top: stack.top(),
        }
    }
}

/// Bytes of native stack kept for code that runs after the depth check (builtins, allocation, formatting of the error).
const NATIVE_RESERVE: usize = 48 * 1024;

impl Cx {
    /// Gives the worker away until somebody wakes the VM's task. May return early: callers loop.
    pub fn park(&mut self) {
        self.leave(Out::Park);
    }
    /// Lets other VMs run.
    pub fn yield_now(&mut self) {
        self.leave(Out::Again);
    }
    #[inline(never)]
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
    /// New fiber of a block.
    pub fn new_fiber(&mut self, class: ClassId, block: Value) -> Value {
        self.data(class, FiberData::new(block))
    }
    fn fiber_error<T>(&mut self, message: &str) -> Result<T> {
        self.raise(ids::FIBER_ERROR, message)
    }
    /// Runs a fiber until it yields or ends. `args` become the block's arguments or the value of `Fiber.yield`.
    #[inline(never)]
    pub fn fiber_resume(&mut self, fiber: Value, args: &[Value]) -> Result<Value> {
        let f: *mut FiberData = self.data_mut::<FiberData>(fiber)?;
        // SAFETY: `fiber` is alive (argument on a scanned stack), its payload boxed and stable; one thread runs the VM.
        unsafe {
            match (*f).state {
                FiberState::Terminated => return self.fiber_error("attempt to resume a terminated fiber"),
                FiberState::Running => return self.fiber_error("attempt to resume the current fiber"),
                FiberState::Resuming if (*f).co.is_none() => return self.fiber_error("attempt to resume a resuming fiber"),
                FiberState::Resuming => return self.fiber_error("attempt to resume a resumed fiber (double resume)"),
                _ => {}
            }
            let thread = self.thread_id();
            if (*f).thread != 0 && (*f).thread != thread {
                return self.fiber_error("fiber called across threads");
            }
            (*f).thread = thread;
            self.check_native_stack()?;
            if (*f).co.is_none() {
                let Some(pool) = self.stack_pool.clone() else { return self.fiber_error("no stacks in this VM") };
                let stack = match pool.take(StackSize::Fiber) {
                    Ok(s) => s,
                    Err(e) => return self.fiber_error(&format!("can't alloc machine stack to fiber: {e}")),
                };
                (*f).stacks = Some(layout(&stack));
                let cx: *mut Cx = self;
                let me = fiber;
                (*f).co = Some(Co::new(stack, move |s: &Suspender<(), Out>, ()| fiber_body(cx, me, s)));
            }
            let mut list = crate::make::RootedVec::from_vec(self, args.to_vec());
            (*f).transfer = if (*f).state == FiberState::Created || args.len() != 1 { self.array(&list) } else { args[0] };
            list.clear();
            if (*f).state == FiberState::Suspended && args.is_empty() {
                (*f).transfer = Value::NIL;
            }
            drop(list);
            let started = (*f).state == FiberState::Suspended;
            let parent = self.current_fiber;
            if !parent.is_nil()
                && let Ok(p) = self.data_mut::<FiberData>(parent)
            {
                p.state = FiberState::Resuming;
            }
            (*f).state = FiberState::Running;
            (*f).resumer = parent;
            // The resumer's side: scanned as a root while the fiber runs.
            let saved = SuspendedStacks {
                id: fiber.0,
                stacks: self.stacks,
                fp: self.fp,
                sp: approximate_stack_pointer().wrapping_sub(1024),
                pending: self.pending,
                errinfo: self.errinfo,
            };
            let my_suspender = self.suspender;
            let my_inspecting = std::mem::take(&mut self.inspecting);
            self.suspended.push(saved);
            self.current_fiber = fiber;
            let Some(stacks) = (*f).stacks else { return self.fiber_error("fiber without stacks") };
            if started {
                let (pending, errinfo, inspecting) = std::mem::replace(&mut (*f).saved, (Value::NIL, Value::NIL, Vec::new()));
                self.use_stacks(stacks, (*f).fp);
                self.pending = pending;
                self.errinfo = errinfo;
                self.inspecting = inspecting;
                self.suspender = (*f).suspender as *const ();
            } else {
                self.enter_stacks(stacks);
                self.errinfo = Value::NIL;
            }
            let ended = loop {
                let Some(co) = (*f).co.as_mut() else { break true };
                match co.resume(()) {
                    Resumed::Yielded(Out::Yield) => break false,
                    Resumed::Yielded(out) => {
                        // The whole VM waits: pass it on outwards. The inner fiber's registers stay in force.
                        let s = my_suspender as *const Sus;
                        if !s.is_null() {
                            (*s).suspend(out);
                        }
                    }
                    Resumed::Returned(()) => break true,
                }
            };
            if ended {
                (*f).state = FiberState::Terminated;
                (*f).co = None;
                (*f).stacks = None;
            } else {
                (*f).state = FiberState::Suspended;
                (*f).fp = self.fp;
                (*f).suspender = self.suspender as *const Sus;
                (*f).saved = (self.pending, self.errinfo, std::mem::take(&mut self.inspecting));
            }
            self.suspended.pop();
            self.use_stacks(saved.stacks, saved.fp);
            self.suspender = my_suspender;
            self.inspecting = my_inspecting;
            self.pending = saved.pending;
            self.errinfo = saved.errinfo;
            self.current_fiber = parent;
            if !parent.is_nil()
                && let Ok(p) = self.data_mut::<FiberData>(parent)
            {
                p.state = FiberState::Running;
            }
            (*f).resumer = Value::NIL;
            let v = std::mem::replace(&mut (*f).transfer, Value::NIL);
            if std::mem::take(&mut (*f).failed) {
                self.pending = v;
                return Err(Exc);
            }
            Ok(v)
        }
    }
    /// `Fiber.yield`: gives a value to the resumer; returns what the next resume passes.
    #[inline(never)]
    pub fn fiber_yield(&mut self, args: &[Value]) -> Result<Value> {
        let fiber = self.current_fiber;
        if fiber.is_nil() {
            return self.fiber_error("attempt to yield on a not resumed fiber");
        }
        let v = match args {
            [] => Value::NIL,
            [v] => *v,
            _ => self.array(args),
        };
        let f: *mut FiberData = self.data_mut::<FiberData>(fiber)?;
        // SAFETY: as in fiber_resume.
        unsafe {
            (*f).transfer = v;
            let s = self.suspender as *const Sus;
            (*s).suspend(Out::Yield);
            let v = std::mem::replace(&mut (*f).transfer, Value::NIL);
            if std::mem::take(&mut (*f).failed) {
                self.pending = v;
                return Err(Exc);
            }
            Ok(v)
        }
    }
    /// Resumes a fiber so that the exception is raised in it.
    pub fn fiber_raise(&mut self, fiber: Value, exc: Value) -> Result<Value> {
        let f: *mut FiberData = self.data_mut::<FiberData>(fiber)?;
        // SAFETY: as in fiber_resume.
        unsafe {
            match (*f).state {
                FiberState::Created => {
                    (*f).state = FiberState::Terminated;
                    self.raise_value(exc)
                }
                FiberState::Suspended => {
                    (*f).failed = true;
                    let r = self.fiber_resume_with_failure(fiber, exc);
                    (*f).failed = false;
                    r
                }
                _ => self.fiber_error("dead fiber called"),
            }
        }
    }
    fn fiber_resume_with_failure(&mut self, fiber: Value, exc: Value) -> Result<Value> {
        self.fiber_resume(fiber, &[exc])
    }
    pub fn fiber_state(&mut self, fiber: Value) -> Result<FiberState> {
        Ok(self.data_ref::<FiberData>(fiber)?.state)
    }
}

/// What runs on a fiber's own stack.
fn fiber_body(cx: *mut Cx, fiber: Value, s: &Suspender<(), Out>) {
    // SAFETY: the VM and the fiber outlive the run (fiber_resume keeps both).
    unsafe {
        let cx = &mut *cx;
        cx.suspender = s as *const Suspender<(), Out> as *const ();
        let Ok(f) = cx.data_mut::<FiberData>(fiber) else { return };
        let f: *mut FiberData = f;
        let args = (*f).transfer;
        let block = Block::from_value((*f).block);
        let args: Vec<Value> = Ref::<ArrayCell>::from_value(args).map_or(Vec::new(), |a| a.as_slice().to_vec());
        let r = cx.guarded(|cx| cx.yield_full(block, &args, (*f).keywords, Block::NONE, None));
        drop(args);
        match r {
            Ok(v) => (*f).transfer = v,
            Err(Exc) => {
                let e = cx.take_pending();
                (*f).failed = true;
                (*f).transfer = e;
            }
        }
    }
}

/// The pool that this VM's coroutines take their stacks from.
pub type Pool = StackPool;
