//! A VM as the scheduler sees it: a unit whose threads run until all wait, the main one ends, or the slice is used up.

use crate::process::Process;
use crate::program::{self, Start};
use crate::start::StartError;
use crate::tell::tell;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};
use zakuro_sched::{PollWord, Stack, StackSize, Task, Turn, Unit, set_unit_data};
use zakuro_vm::Vm;
use zakuro_vm::account::{Account, Counting};
use zakuro_vm::allowance::Seat;
use zakuro_vm::fiber::Co;
use zakuro_vm::host::{End, Host, VmControl};
use zakuro_vm::thread::TurnEnd;
use zakuro_vm::transfer::Envelope;

/// See the module.
pub struct VmUnit {
    process: Arc<Process>,
    control: Arc<VmControl>,
    /// Taken when it begins.
    start: Option<Box<Start>>,
    /// Made on the worker that first runs it: a VM that never starts costs nothing.
    body: Option<Body>,
    /// When the VM first could not be made for want of memory.
    refused: Option<Instant>,
    /// What it counts in whose account.
    account: Option<Arc<AtomicUsize>>,
    /// What is counted of it.
    counted: Option<Arc<Account>>,
    /// Its main thread's.
    _seat: Option<Seat>,
}

/// A VM and its main thread, on whose stack it lies ([`zakuro_vm::fiber::layout_with_vm`]).
struct Body {
    vm: NonNull<Vm>,
    /// While the thread lives.
    co: Option<Co>,
    /// The stack, before and after that.
    stack: Option<Stack>,
}

// SAFETY: a VM and its coroutines move between native threads together, and with their unit.
unsafe impl Send for Body {}

impl Body {
    /// A VM on a stack, whose thread is still to be made.
    fn new(stack: Stack, process: &Process, poll: Arc<PollWord>) -> Body {
        let (stacks, vm) = zakuro_vm::fiber::layout_with_vm(&stack);
        // SAFETY: the place is the stack's, which this body has until the VM is gone.
        unsafe { Vm::new_at(vm, process.options.clone(), poll) };
        let mut body = Body { vm, co: None, stack: Some(stack) };
        body.vm().starts_from(process.boot);
        // SAFETY: as above.
        unsafe { body.vm().enter_stacks(stacks) };
        body
    }
    fn vm(&mut self) -> &mut Vm {
        // SAFETY: made in `new`, gone in `drop`; nobody else uses it while its coroutine does not run.
        unsafe { self.vm.as_mut() }
    }
    fn end_thread(&mut self) {
        if let Some(co) = self.co.take() {
            self.stack = Some(co.end());
        }
    }
    fn abandon_thread(&mut self) {
        if let Some(co) = self.co.take() {
            // SAFETY: the VM is over. What only the abandoned frames own is lost; nobody refers to them.
            self.stack = Some(unsafe { co.abandon() });
        }
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        self.end_thread();
        // SAFETY: its thread has ended, and the stack below it goes after this.
        unsafe { self.vm.drop_in_place() };
    }
}

impl Drop for VmUnit {
    fn drop(&mut self) {
        // Whatever came: who waits for the VM hears that it is over.
        if self.control.end().is_none() {
            self.control.finish(End::Killed, None);
        }
        self.control.place.store(std::ptr::null_mut(), Relaxed);
        if let Some(counted) = &self.counted {
            counted.close();
        }
        if let Some(account) = self.account.take() {
            account.fetch_sub(self.control.weight(), Relaxed);
        }
    }
}

/// The part of its limit that malloc may keep of what a VM has left behind.
const MUCH: usize = 32;
/// How long a VM that can't be made for want of memory tries again.
const PATIENCE: Duration = Duration::from_secs(60);
const RETRY: Duration = Duration::from_millis(20);

impl VmUnit {
    pub fn new(process: Arc<Process>, control: Arc<VmControl>, start: Box<Start>) -> VmUnit {
        let account = control.account.get().cloned();
        let _seat = control.seat.lock().take();
        let counted = process.book.as_ref().map(|book| book.open(control.identity()));
        VmUnit { account, counted, _seat, process, control, start: Some(start), body: None, refused: None }
    }
    fn begin(&mut self, task: &Task) -> std::io::Result<()> {
        let stack = self.process.pool.take(StackSize::Main)?;
        // Our starter does it too, but perhaps later than we first wait: who would wake us?
        let _ = self.control.set_task(task.clone());
        let poll = self.control.poll.clone();
        let mut body = Body::new(stack, &self.process, poll.clone());
        let cx: *mut Vm = body.vm.as_ptr();
        let vm = body.vm();
        vm.name = self.control.name.clone();
        vm.stack_pool = Some(self.process.pool.separate());
        vm.interrupt_hook = Some(Vm::handle_interrupts);
        vm.host = Some(Host {
            scheduler: self.process.scheduler.clone(),
            pool: self.process.pool.clone(),
            task: task.clone(),
            control: self.control.clone(),
            spawner: self.process.clone(),
        });
        vm.counting = match (&self.process.book, &self.counted) {
            (Some(book), Some(account)) => Some(Box::new(Counting::new(book.clone(), account.clone(), task.clone()))),
            _ => None,
        };
        vm.profile_allocations();
        vm.life_begins(self.control.limits.clone());
        if vm.options.gc_stress {
            poll.set(zakuro_sched::poll::COLLECT);
        }
        let start = self.start.take().unwrap_or_else(|| Box::new(Start { args: Envelope::nil(), image: None }));
        let control = self.control.clone();
        // SAFETY: the VM moves between native threads together with this coroutine; no thread-local is kept across suspensions.
        body.co = body.stack.take().map(|stack| unsafe {
            Co::new(stack, move |s, ()| {
                let cx = &mut *cx;
                cx.suspender = std::ptr::from_ref(s) as *const ();
                program::run_vm(cx, &control, start);
            })
        });
        self.control.place.store(cx, Relaxed);
        self.body = Some(body);
        Ok(())
    }
    fn take_end(&mut self) -> Option<End> {
        self.body.as_mut()?.vm().end.take().map(|end| *end)
    }
    /// Native code of the VM has unwound to here: that is its end.
    fn broke(&mut self, panic: &(dyn Any + Send)) -> Turn {
        if panic.is::<zakuro_heap::OutOfMemory>() {
            // Not even the exception could be made.
            let report = b"failed to allocate memory (NoMemoryError)\n".to_vec();
            self.finish(Some(End::Exception { class: "NoMemoryError".into(), message: "failed to allocate memory".into(), report }));
        } else {
            let text = panic_text(panic);
            // Not eprintln: a closed standard error must not be a second panic.
            tell(format!("[BUG] VM {}: Rust panic: {text}\n", self.control.name));
            self.finish(Some(End::Panic(text)));
        }
        Turn::Done
    }
    fn finish(&mut self, end: Option<End>) {
        self.control.place.store(std::ptr::null_mut(), Relaxed);
        let (mut owned, mut result) = (0, None);
        if let Some(mut body) = self.body.take() {
            body.end_thread();
            let vm = body.vm();
            vm.life_ends();
            if let Some(counting) = &mut vm.counting {
                counting.close();
            }
            owned = vm.heap.stats().payload_bytes;
            result = vm.result.take().map(|result| *result);
        }
        if self.control.limits.memory.is_some_and(|limit| owned > limit / MUCH) {
            // Its family may use as much at once; malloc would keep this beside.
            self.process.scheduler.all_rest();
        }
        if let Some(end) = end {
            tell_end(&self.control, end, result);
        }
    }
}

/// Records how the VM ended and tells those who wait for it. Once: of two ends the first is the one.
pub(crate) fn tell_end(control: &VmControl, end: End, result: Option<Envelope>) {
    if control.end().is_none() {
        // As a thread's: whoever joins gets the exception raised, and it is shown here in case nobody ever does.
        if let End::Exception { report, .. } | End::Limit { report, .. } = &end
            && !report.is_empty()
            && !control.main.load(Relaxed)
            && !control.was_joined()
        {
            let mut text = format!("#<RubyVM: {}> terminated with exception:\n", control.name).into_bytes();
            text.extend_from_slice(report);
            tell(text);
        }
        control.finish(end, result);
    }
}

fn panic_text(p: &(dyn Any + Send)) -> String {
    p.downcast_ref::<&str>().map(|s| s.to_string()).or_else(|| p.downcast_ref::<String>().cloned()).unwrap_or_else(|| "panic".into())
}

impl Unit for VmUnit {
    fn run(&mut self, task: &Task) -> Turn {
        if self.body.is_none() {
            if self.start.is_none() {
                return Turn::Done;
            }
            let begun = match catch_unwind(AssertUnwindSafe(|| self.begin(task))) {
                Ok(begun) => begun,
                Err(panic) => return self.broke(&*panic),
            };
            if let Err(e) = begun {
                // Others end, and leave their stacks.
                if self.control.main.load(Relaxed) {
                    // Nobody else runs.
                    let report = format!("zakuro: {}\n", StartError::memory()).into_bytes();
                    self.finish(Some(End::Exception { class: "NoMemoryError".into(), message: e.to_string(), report }));
                    return Turn::Done;
                }
                if self.refused.get_or_insert_with(Instant::now).elapsed() < PATIENCE {
                    self.process.scheduler.timer(Instant::now() + RETRY, task);
                    return Turn::Park;
                }
                let message = format!("failed to allocate memory: no stack for the VM: {e}");
                let report = format!("{message} (NoMemoryError)\n").into_bytes();
                self.finish(Some(End::Exception { class: "NoMemoryError".into(), message, report }));
                return Turn::Done;
            }
        }
        let Some(Body { vm, co: Some(co), .. }) = self.body.as_mut() else { return Turn::Done };
        let cx: *mut Vm = vm.as_ptr();
        // SAFETY: it lives as long as its body, and no coroutine of it runs.
        unsafe { (*cx).turn_begins() };
        set_unit_data(cx.cast());
        // SAFETY: `co` runs the main thread of this VM, which stays where it is and is not touched through the body before the turn has ended.
        let turn = catch_unwind(AssertUnwindSafe(|| unsafe { zakuro_vm::thread::turn(cx, co) }));
        set_unit_data(std::ptr::null_mut());
        if let Some(body) = self.body.as_mut() {
            body.vm().turn_ends();
        }
        match turn {
            Ok(TurnEnd::Park) => Turn::Park,
            Ok(TurnEnd::Again) => Turn::Again,
            Ok(TurnEnd::Ended) => {
                let end = self.take_end().unwrap_or(End::Done);
                self.finish(Some(end));
                Turn::Done
            }
            Ok(TurnEnd::Abandoned) => {
                if let Some(body) = self.body.as_mut() {
                    body.abandon_thread();
                }
                let end = self.take_end().unwrap_or(End::Killed);
                self.finish(Some(end));
                Turn::Done
            }
            // A coroutine that panicked is gone; cells of this VM are released with its heap.
            Err(panic) => self.broke(&*panic),
        }
    }
    fn poll_word(&self) -> Arc<PollWord> {
        self.control.poll.clone()
    }
}
