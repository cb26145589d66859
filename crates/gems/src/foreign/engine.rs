//! How foreign functions are called, and how they call back.
//!
//! A call runs on a stack of its own, a coroutine: foreign code expects more room than a fiber has, and recurses as it likes. A callback suspends it with a question; Ruby
//! answers on the Ruby thread's own stack, and the call goes on. So no Ruby code runs above foreign frames, nothing waits there, an exception never jumps
//! over them, and threads and fibers of the VM may call and be called back in any order: each call has its stack.
//!
//! - **Where a callback belongs** is known by the stack on which it finds itself (`Registry::standing`). One that stands on none of them comes from a native thread that
//!   foreign code has started: it waits there until a Ruby thread has answered (`Registry::asked`).
//! - **Aside**: a call that may wait (`blocking: true`, Fiddle's) is resumed on a native thread beside the workers, while its Ruby thread waits and can be interrupted. Others are resumed
//!   where they are; one that takes long loses the worker like all native work (decision 0012).
//! - **An exception** in a callback stays until the call has returned; that callback and those that follow give zero. Foreign code that goes on asking is left after
//!   [`PATIENCE`], its frames never run again. So are those of a fiber that nobody resumes.
//! - **Given up**: a call aside whose Ruby thread was interrupted goes on by itself. Nothing that was allocated here is freed meanwhile (`Graves`).
//!
//! Rejected: running calls on the Ruby thread's stack (half a megabyte in a fiber; foreign frames under Ruby's, which an exception or a kill would have to cross); a native
//! thread for each call (ten microseconds).

mod closures;

use super::interface::{Cif, Interface, Kind};
use super::memory::{self, Block, Memory};
use super::permitted;
use closures::reply;
pub use closures::{Closure, prepare};
use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use libffi_sys::*;
use std::cell::Cell;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use zakuro_macros::Trace;
use zakuro_vm::*;

/// Touched page by page: most of it never is.
const STACK: usize = 4 << 20;
/// Stacks and native threads that a VM keeps for the next calls.
const KEPT: usize = 4;
/// Calls of one VM that are under way: within each other, in other threads and fibers, given up.
const DEEPEST: usize = 1000;
/// How long foreign code may go on calling back after an exception.
const PATIENCE: Duration = Duration::from_secs(1);
/// Texts that were arguments and stay readable, for functions that give back a pointer into one.
const COPIES: usize = 16;

fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(|e| e.into_inner())
}

/// A callback wants to know. Pointers are valid until the answer.
#[derive(Clone, Copy)]
struct Ask {
    closure: u64,
    arguments: *mut *mut c_void,
    result: *mut c_void,
}
// SAFETY: what it points at is looked at by the one who has the suspended call alone.
unsafe impl Send for Ask {}

type Voice = Yielder<(), Ask>;
type Running = Coroutine<(), Ask, (), DefaultStack>;

/// A call on its stack. Left where it stands when it is dropped: what foreign frames own is lost.
struct Standing {
    running: Option<Running>,
    call: Box<Call>,
    registry: Arc<Registry>,
}

// SAFETY: one thread has it at a time. The foreign frames on it are told in the module's documentation to move between native threads at callbacks only.
unsafe impl Send for Standing {}

impl Standing {
    fn resume(&mut self) -> Option<Ask> {
        let running = self.running.as_mut().filter(|r| !r.done())?;
        match running.resume(()) {
            CoroutineResult::Yield(ask) => Some(ask),
            CoroutineResult::Return(()) => None,
        }
    }
    fn into_stack(mut self) -> Option<DefaultStack> {
        self.leave()
    }
    fn leave(&mut self) -> Option<DefaultStack> {
        let mut running = self.running.take()?;
        let low = self.call.low;
        lock(&self.registry.standing).retain(|s| s.low != low);
        if running.started() && !running.done() {
            // SAFETY: nothing of ours on it needs to be dropped; what foreign frames own is lost, as when CRuby jumps over them.
            unsafe { running.force_reset() };
        }
        Some(running.into_stack())
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        self.leave();
        self.registry.calls.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a call takes, gives and keeps.
struct Call {
    cif: Arc<Cif>,
    function: usize,
    /// Places of arguments: sixteen bytes for each, or where a structure lies.
    values: Vec<[u64; 2]>,
    pointers: Vec<*mut c_void>,
    result: Vec<u64>,
    errno: i32,
    /// The lowest address of its stack.
    low: usize,
    /// Copies of texts, with the argument that each came from.
    texts: Vec<(usize, Vec<u8>)>,
    /// Allocated memory that it was given.
    _blocks: Vec<Arc<Block>>,
}

/// A stack on which a call stands, and through what a callback there asks.
struct Place {
    low: usize,
    high: usize,
    asking: *const Voice,
}
// SAFETY: the pointer is only used by the native thread that runs on this stack.
unsafe impl Send for Place {}

/// A callback on a native thread that is none of ours.
struct Outside {
    ask: Ask,
    done: Arc<(Mutex<bool>, Condvar)>,
}

/// What is freed when no call that was given up runs any more.
#[derive(Default)]
pub struct Graves {
    running: usize,
    addresses: Vec<usize>,
}

impl Graves {
    pub fn bury(registry: &Registry, address: usize) {
        let mut graves = lock(&registry.graves);
        if graves.running > 0 {
            graves.addresses.push(address);
        } else {
            // SAFETY: allocated by calloc, freed once.
            unsafe { libc::free(address as *mut c_void) };
        }
    }
    fn ended(registry: &Registry) {
        let mut graves = lock(&registry.graves);
        graves.running -= 1;
        if graves.running == 0 {
            // SAFETY: as above.
            graves.addresses.drain(..).for_each(|a| unsafe { libc::free(a as *mut c_void) });
        }
    }
}

/// What a VM's calls, closures and memory share. Closures look at it from any native thread.
#[derive(Default)]
pub struct Registry {
    standing: Mutex<Vec<Place>>,
    /// How many [`Standing`] there are: a fiber that nobody resumes takes its own along, wherever it stands.
    calls: AtomicUsize,
    asked: Mutex<VecDeque<Outside>>,
    /// Who is told when something is asked from outside.
    answerer: Mutex<Option<zakuro_sched::Task>>,
    graves: Mutex<Graves>,
    closures: AtomicU64,
    /// The VM has ended: nobody answers.
    ended: std::sync::atomic::AtomicBool,
}

/// A native thread beside the workers.
struct Helper {
    jobs: Sender<(Standing, Arc<Slot>)>,
}

/// Where a helper puts what it is done with.
struct Slot {
    state: Mutex<SlotState>,
    task: zakuro_sched::Task,
}

enum SlotState {
    Running,
    Back(Standing, Option<Ask>),
    GivenUp,
}

fn help(jobs: Receiver<(Standing, Arc<Slot>)>) {
    while let Ok((mut standing, slot)) = jobs.recv() {
        let ask = standing.resume();
        let mut state = lock(&slot.state);
        if matches!(*state, SlotState::GivenUp) {
            drop(state);
            let registry = standing.registry.clone();
            drop(standing);
            Graves::ended(&registry);
            continue;
        }
        *state = SlotState::Back(standing, ask);
        drop(state);
        slot.task.wake();
    }
}

/// What a VM has for its calls.
#[derive(Default, Trace)]
struct Foreign {
    #[untraced]
    registry: Arc<Registry>,
    #[untraced]
    stacks: Vec<DefaultStack>,
    #[untraced]
    helpers: Vec<Helper>,
    /// The process that started the helpers: a child of a fork has none of them.
    #[untraced]
    process: u32,
    #[untraced]
    copies: VecDeque<Vec<u8>>,
}
impl VmState for Foreign {}

impl Drop for Foreign {
    fn drop(&mut self) {
        self.registry.ended.store(true, Ordering::SeqCst);
        *lock(&self.registry.answerer) = None;
        for outside in lock(&self.registry.asked).drain(..) {
            answered(&outside.done);
        }
    }
}

fn answered(done: &(Mutex<bool>, Condvar)) {
    *lock(&done.0) = true;
    done.1.notify_all();
}

pub fn registry(cx: &mut Cx) -> Arc<Registry> {
    cx.state::<Foreign>().registry.clone()
}

/// How Ruby wants a call to be made.
pub mod mode {
    /// Beside the workers; other threads of the VM run meanwhile.
    pub const ASIDE: i64 = 1;
    /// Integers are pointers, too.
    pub const INTEGERS: i64 = 2;
    /// `errno` is not kept.
    pub const NO_ERRNO: i64 = 4;
}

/// Prepares one argument.
fn argument(cx: &mut Cx, call: &mut Call, i: usize, kind: Kind, v: Value, how: i64) -> Result<()> {
    let place = match kind {
        Kind::Text | Kind::Pointer => {
            let text = if kind == Kind::Text && !v.is_nil() { Some(cx.to_str(v)?) } else { Ref::<StringCell>::from_value(v) };
            match text {
                Some(s) => {
                    if kind == Kind::Text && s.has_nul() {
                        return cx.arg_error("string contains null byte");
                    }
                    memory::room(cx, s.len())?;
                    let mut copy = s.to_vec();
                    copy.push(0);
                    let address = copy.as_ptr() as u64;
                    call.texts.push((i, copy));
                    [address, 0]
                }
                None if v.is_nil() => [0, 0],
                None => {
                    let mut v = v;
                    if !cx.is_data::<Memory>(v) && !cx.is_integer(v) {
                        v = match cx.call_if_responds(v, Sym::intern("to_ptr"), &[])? {
                            Some(p) if cx.is_data::<Memory>(p) => p,
                            Some(_) => return cx.arg_error("to_ptr returned an invalid pointer"),
                            None => return cx.arg_error(":pointer argument is not a valid pointer"),
                        };
                    }
                    if cx.is_integer(v) {
                        if how & mode::INTEGERS == 0 {
                            return cx.arg_error(":pointer argument is not a valid pointer");
                        }
                        [memory::address(cx, v)? as u64, 0]
                    } else {
                        let m = cx.data_ref::<Memory>(v)?;
                        let address = m.address as u64;
                        call._blocks.extend(m.block.clone());
                        [address, 0]
                    }
                }
            }
        }
        Kind::Struct(size) => {
            let Some(bytes) = structure(cx, v, size)? else { return cx.arg_error("structure is NULL") };
            let mut copy = vec![0u8; size.max(bytes.len()).next_multiple_of(16) + 16];
            // Aligned for whatever may be in it.
            let from = copy.as_ptr().align_offset(16);
            copy[from..from + bytes.len()].copy_from_slice(&bytes);
            call.pointers[i] = copy[from..].as_mut_ptr().cast();
            call.texts.push((usize::MAX, copy));
            return Ok(());
        }
        Kind::Bool if v != Value::TRUE && v != Value::FALSE => {
            return cx.type_error("wrong argument type  (expected a boolean parameter)");
        }
        _ => {
            let b = memory::bytes_of(cx, kind, v)?;
            [u64::from_ne_bytes(b[..8].try_into().unwrap_or_default()), u64::from_ne_bytes(b[8..].try_into().unwrap_or_default())]
        }
    };
    call.values[i] = place;
    Ok(())
}

/// The bytes of a structure: a String of them, or where it lies. None: at NULL.
fn structure(cx: &mut Cx, v: Value, size: usize) -> Result<Option<Vec<u8>>> {
    if let Some(s) = Ref::<StringCell>::from_value(v) {
        return Ok(Some(s.to_vec()));
    }
    let at = memory::address(cx, v)?;
    memory::room(cx, size)?;
    // SAFETY: a structure of this size, as the program says.
    Ok((at != 0).then(|| unsafe { std::slice::from_raw_parts(at as *const u8, size) }.to_vec()))
}

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Calls a function. The result as [`memory::read`] gives it.
pub fn call(cx: &mut Cx, interface: Value, function: usize, arguments: Ref<ArrayCell>, how: i64) -> Result<Value> {
    permitted(cx)?;
    let cif = cx.data_ref::<Interface>(interface)?.0.clone();
    let count = cif.parameters.len();
    if arguments.len() != count {
        return cx.arg_error(format!("wrong number of arguments ({} for {count})", arguments.len()));
    }
    if function == 0 {
        return cx.raise(ids::RUNTIME_ERROR, "foreign function at address 0");
    }
    memory::room(cx, cif.result.size().saturating_add(count.saturating_mul(24)))?;
    let mut call = Box::new(Call {
        result: vec![0; (cif.result.size() / 8 + 1).max(2)],
        values: vec![[0; 2]; count],
        pointers: vec![std::ptr::null_mut(); count],
        cif,
        function,
        errno: 0,
        low: 0,
        texts: Vec::new(),
        _blocks: Vec::new(),
    });
    for i in 0..count {
        let kind = call.cif.parameters[i];
        let v = arguments.get(i).unwrap_or(Value::NIL);
        argument(cx, &mut call, i, kind, v, how)?;
    }
    for i in 0..count {
        if call.pointers[i].is_null() {
            call.pointers[i] = call.values[i].as_mut_ptr().cast();
        }
    }
    cx.check_native_stack()?;
    let foreign = cx.state::<Foreign>();
    if foreign.registry.calls.load(Ordering::Relaxed) >= DEEPEST {
        return cx.stack_error();
    }
    let registry = foreign.registry.clone();
    let stack = match foreign.stacks.pop() {
        Some(s) => s,
        None => match DefaultStack::new(STACK) {
            Ok(s) => s,
            Err(_) => return cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory"),
        },
    };
    call.low = stack.limit().get();
    let (low, high) = (call.low, stack.base().get());
    let (its, place): (*mut Call, Arc<Registry>) = (&mut *call, registry.clone());
    let running: Running = Coroutine::with_stack(stack, move |yielder, ()| {
        lock(&place.standing).push(Place { low, high, asking: std::ptr::from_ref(yielder) });
        // Only this frame may be left behind, with nothing in it.
        drop(place);
        // SAFETY: the call outlives its stack; nobody else looks at it meanwhile.
        unsafe {
            let call = &mut *its;
            *libc::__errno_location() = 0;
            call.cif.call(call.function, call.result.as_mut_ptr().cast(), call.pointers.as_mut_ptr());
            call.errno = errno();
        }
    });
    registry.calls.fetch_add(1, Ordering::Relaxed);
    let standing = Standing { running: Some(running), call, registry };
    let (standing, error) = go_on(cx, standing, how & mode::ASIDE != 0)?;
    let mut call = finish(cx, standing);
    if let Some(e) = error {
        return Err(e);
    }
    if how & mode::NO_ERRNO == 0 {
        set_errno(cx, call.errno);
    }
    // What the function wrote into a text is the String's, too.
    for (i, copy) in &call.texts {
        let Some(s) = arguments.get(*i).and_then(Ref::<StringCell>::from_value) else { continue };
        let new = &copy[..copy.len().saturating_sub(1)];
        if call.cif.parameters[*i] == Kind::Pointer && !s.equals(new) && !s.as_value().is_frozen() {
            StringCell::set_bytes(s, &mut cx.heap, new);
        }
    }
    // SAFETY: room for the result.
    let result = unsafe { result(cx, call.cif.result, call.result.as_ptr().cast()) };
    let copies = &mut cx.state::<Foreign>().copies;
    for (i, copy) in call.texts.drain(..) {
        if i != usize::MAX && copy.len() < 1 << 16 {
            copies.push_back(copy);
        }
    }
    while copies.len() > COPIES {
        copies.pop_front();
    }
    Ok(result)
}

/// libffi widens small results to a word.
///
/// # Safety
/// The place of a result of this kind.
unsafe fn result(cx: &mut Cx, kind: Kind, at: *const c_void) -> Value {
    let shift = if cfg!(target_endian = "big") { 8usize.saturating_sub(kind.size().clamp(1, 8)) } else { 0 };
    // SAFETY: the caller's word.
    unsafe { memory::read(cx, kind, at.byte_add(shift)) }
}

/// Gives the stack back.
fn finish(cx: &mut Cx, mut standing: Standing) -> Call {
    let empty = Call {
        cif: standing.call.cif.clone(),
        function: 0,
        values: Vec::new(),
        pointers: Vec::new(),
        result: Vec::new(),
        errno: 0,
        low: standing.call.low,
        texts: Vec::new(),
        _blocks: Vec::new(),
    };
    let call = std::mem::replace(&mut *standing.call, empty);
    let stack = standing.into_stack();
    let stacks = &mut cx.state::<Foreign>().stacks;
    if stacks.len() < KEPT {
        stacks.extend(stack);
    }
    call
}

/// Runs a call to its end. With the first exception of a callback, which is pending.
fn go_on(cx: &mut Cx, mut standing: Standing, is_aside: bool) -> Result<(Standing, Option<Exc>)> {
    let mut error: Option<(Exc, Instant)> = None;
    loop {
        let ask = if is_aside && error.is_none() && cx.host.is_some() {
            let (back, ask) = aside(cx, standing)?;
            standing = back;
            ask
        } else {
            standing.resume()
        };
        let Some(ask) = ask else { return Ok((standing, error.map(|e| e.0))) };
        if let Some((_, since)) = &error {
            if since.elapsed() > PATIENCE {
                return Ok((standing, error.map(|e| e.0)));
            }
            continue;
        }
        // What Ruby does in a fiber may never come back here: its native stack is dropped as it stands, and the call must not lie there.
        let at = Asking::put(cx, standing);
        let answered = reply(cx, &ask);
        standing = match cx.state::<Asking>().calls.get_mut(at).and_then(Option::take) {
            Some((_, s)) => s,
            None => return cx.raise(ids::RUNTIME_ERROR, "a foreign call was lost"),
        };
        if let Err(e) = answered {
            error = Some((e, Instant::now()));
        }
    }
}

/// Calls whose callbacks are being answered, each with its fiber: when that is collected, so is the call.
#[derive(Default, Trace)]
struct Asking {
    #[untraced]
    calls: Vec<Option<(Value, Standing)>>,
}
impl VmState for Asking {
    fn sweep(&mut self, heap: &Heap) {
        for place in &mut self.calls {
            place.take_if(|(fiber, _)| fiber.is_cell() && !heap.is_marked_or_new(fiber.bits() as *mut Header));
        }
    }
}
impl Asking {
    fn put(cx: &mut Cx, standing: Standing) -> usize {
        // Nil: no fiber but the thread's own, which ends in order.
        let entry = Some((cx.current_fiber, standing));
        let calls = &mut cx.state::<Asking>().calls;
        // Calls within calls come and go at the end.
        while calls.last().is_some_and(Option::is_none) {
            calls.pop();
        }
        calls.push(entry);
        calls.len() - 1
    }
}

/// Resumes a call on a native thread beside the workers.
fn aside(cx: &mut Cx, standing: Standing) -> Result<(Standing, Option<Ask>)> {
    let host = cx.host_handle()?;
    let foreign = cx.state::<Foreign>();
    if foreign.process != std::process::id() {
        foreign.process = std::process::id();
        std::mem::take(&mut foreign.helpers).into_iter().for_each(std::mem::forget);
    }
    let helper = match foreign.helpers.pop() {
        Some(h) => h,
        None => {
            let (jobs, to_do) = channel();
            let started = zakuro_base::memory::admits_thread(256 << 10)
                .and_then(|()| std::thread::Builder::new().name("zakuro-foreign".into()).stack_size(256 << 10).spawn(move || help(to_do)));
            if started.is_err() {
                return cx.raise(ids::THREAD_ERROR, "can't create a native thread for a foreign call");
            }
            Helper { jobs }
        }
    };
    let slot = Arc::new(Slot { state: Mutex::new(SlotState::Running), task: host.task.clone() });
    let registry = standing.registry.clone();
    if helper.jobs.send((standing, slot.clone())).is_err() {
        return cx.raise(ids::THREAD_ERROR, "a native thread for foreign calls has ended");
    }
    // Whatever the function waits for may come from outside of the process.
    let _hold = host.scheduler.hold();
    let waited = cx.wait_until(None, |_| {
        let mut state = lock(&slot.state);
        Ok(match &*state {
            SlotState::Back(..) => Some(std::mem::replace(&mut *state, SlotState::Running)),
            _ => None,
        })
    });
    match waited {
        Ok(Some(SlotState::Back(standing, ask))) => {
            let helpers = &mut cx.state::<Foreign>().helpers;
            if helpers.len() < KEPT {
                helpers.push(helper);
            }
            Ok((standing, ask))
        }
        other => {
            let mut state = lock(&slot.state);
            if let SlotState::Running = *state {
                lock(&registry.graves).running += 1;
            }
            // What is back already is dropped here.
            *state = SlotState::GivenUp;
            drop(state);
            match other {
                Err(e) => Err(e),
                Ok(_) => cx.raise(ids::RUNTIME_ERROR, "a foreign call was lost"),
            }
        }
    }
}

/// Payload of a callback from outside that waits for its answer.
#[derive(Trace)]
pub struct Question {
    #[untraced]
    outside: Option<Outside>,
}
impl NativeData for Question {
    fn refers(&self) -> bool {
        false
    }
}
impl Drop for Question {
    fn drop(&mut self) {
        if let Some(o) = self.outside.take() {
            answered(&o.done);
        }
    }
}

/// Waits for a callback from a native thread of foreign code.
pub fn next_question(cx: &mut Cx) -> Result<Question> {
    let registry = registry(cx);
    let host = cx.host_handle()?;
    *lock(&registry.answerer) = Some(host.task.clone());
    let _hold = host.scheduler.hold();
    let outside = cx.wait_until(None, |_| Ok(lock(&registry.asked).pop_front()))?;
    Ok(Question { outside })
}

/// Answers it.
pub fn answer(cx: &mut Cx, question: Value) -> Result<()> {
    let Some(outside) = cx.data_mut::<Question>(question)?.outside.take() else { return Ok(()) };
    let ask = outside.ask;
    // Whatever becomes of this thread, the other one must not wait for ever.
    let held = Question { outside: Some(outside) };
    let r = reply(cx, &ask);
    drop(held);
    r
}

fn errno_name() -> Sym {
    Sym::intern("__foreign_errno")
}

/// `errno` after the last call of this Ruby thread.
pub fn last_errno(cx: &mut Cx) -> Value {
    let thread = cx.current_thread();
    cx.ivar_lookup(thread, errno_name()).unwrap_or(Value::fixnum(0))
}

pub fn set_errno(cx: &mut Cx, n: i32) {
    let thread = cx.current_thread();
    cx.ivar_set_raw(thread, errno_name(), Value::fixnum(n as i64));
}
