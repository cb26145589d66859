//! How SQLite is called, and how it calls back.
//!
//! Whatever may take long or call back runs on a stack of its own, a coroutine. A callback (progress, a busy file, a function, an aggregate, a collation, a trace, an
//! authorizer) suspends it with a question; Ruby answers on the Ruby thread's own stack, and the coroutine goes on. So no Ruby code runs and nothing waits inside
//! SQLite, a program's threads have small stacks (SQLite's parser and code generator recurse as deep as the statement), and an exception never jumps over C.
//! A connection is one fiber's while a call is under way: others wait. It has no mutex of SQLite's, which would belong to a native thread.
//! When a call is given up (a kill, an error in a callback, a fiber that nobody resumes), it is run to its end with no as every answer.
//! Rejected: a native thread for each call (ten microseconds for each row).

use super::ffi::*;
use super::{database, value};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Arc;
use std::time::{Duration, Instant};
use zakuro_vm::*;

/// Instructions of SQLite's machine between two questions whether to go on: some tens of microseconds.
const STEPS: c_int = 1000;
/// Touched page by page: most of it never is.
const STACK: usize = 2 << 20;
/// How long the waits for a busy file are, in milliseconds; the last for all that follow.
const PAUSES: [u64; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

/// What SQLite wants to know. Pointers are valid until the answer.
pub enum Ask {
    Progress,
    Busy(c_int),
    Call { number: usize, context: *mut sqlite3_context, count: c_int, values: *mut *mut sqlite3_value },
    Step { number: usize, context: *mut sqlite3_context, count: c_int, values: *mut *mut sqlite3_value },
    Final { number: usize, context: *mut sqlite3_context },
    Compare { number: usize, a: (*const u8, usize), b: (*const u8, usize) },
    Trace(Vec<u8>),
    Authorize(c_int, [Option<Vec<u8>>; 4]),
}

type Asking = Yielder<c_int, (*const Shared, Ask)>;
type Running = Coroutine<c_int, (*const Shared, Ask), c_int, DefaultStack>;

/// A connection, shared by the objects that use it: the last one frees it. Only the VM that made it touches it, one thread at a time.
pub struct Shared {
    pub db: Cell<*mut sqlite3>,
    /// Through it the callbacks of the call that runs right now ask; null outside.
    asking: Cell<*const Asking>,
    /// Calls under way, the innermost last.
    calls: RefCell<Vec<Running>>,
    /// Every answer is no: what is under way comes to its end.
    ending: Cell<bool>,
    /// Whose calls are under way: a thread and a fiber.
    owner: Cell<(u32, u64)>,
    /// Statements that were collected while a call was under way.
    dead: RefCell<Vec<*mut sqlite3_stmt>>,
    stacks: RefCell<Vec<DefaultStack>>,
    /// Numbers of Ruby objects that SQLite calls no more.
    released: RefCell<Vec<usize>>,
    /// The process that made it: a child of a fork must not close it.
    process: u32,
    pub discarded: Cell<bool>,
    pub readonly: Cell<bool>,
    /// Milliseconds; 0: a busy file is told at once.
    pub busy_timeout: Cell<i64>,
    pub statement_timeout: Cell<i64>,
    pub deadline: Cell<Option<Instant>>,
    pub traced: Cell<bool>,
    pub authorized: Cell<bool>,
    /// Bytes that it held when the heap was last told.
    pub counted: Cell<usize>,
    operations: Cell<u32>,
}

// SAFETY: it hangs on one VM's objects, whose threads run one at a time; a VM goes from native thread to native thread as a whole.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    pub fn new() -> Arc<Shared> {
        Arc::new(Shared {
            db: Cell::new(std::ptr::null_mut()),
            asking: Cell::new(std::ptr::null()),
            calls: RefCell::default(),
            ending: Cell::new(false),
            owner: Cell::new((0, 0)),
            dead: RefCell::default(),
            stacks: RefCell::default(),
            released: RefCell::default(),
            process: std::process::id(),
            discarded: Cell::new(false),
            readonly: Cell::new(false),
            busy_timeout: Cell::new(0),
            statement_timeout: Cell::new(0),
            deadline: Cell::new(None),
            traced: Cell::new(false),
            authorized: Cell::new(false),
            counted: Cell::new(0),
            operations: Cell::new(0),
        })
    }
    pub fn is_in_use(&self) -> bool {
        self.calls.try_borrow().is_ok_and(|calls| !calls.is_empty())
    }
    /// Whether closing it is this process's business.
    pub fn is_ours(&self) -> bool {
        self.readonly.get() || self.process == std::process::id()
    }
    /// Asks Ruby; no when nobody listens.
    fn ask(&self, ask: Ask) -> c_int {
        let asking = self.asking.get();
        if self.ending.get() || asking.is_null() {
            return -1;
        }
        // SAFETY: set while the coroutine that runs this callback runs.
        unsafe { (*asking).suspend((self, ask)) }
    }
    /// Frees a statement, now or when the call that is under way has ended.
    pub fn finalize(&self, statement: *mut sqlite3_stmt) {
        if statement.is_null() || self.discarded.get() {
            return;
        }
        if self.is_in_use() {
            self.dead.borrow_mut().push(statement);
            return;
        }
        // SAFETY: a statement of this connection that nobody else has. Aggregates under way are told to end, and get no answer.
        unsafe { sqlite3_finalize(statement) };
    }
    pub fn released(&self) -> Vec<usize> {
        std::mem::take(&mut *self.released.borrow_mut())
    }
    fn bury(&self) {
        let dead = std::mem::take(&mut *self.dead.borrow_mut());
        dead.into_iter().for_each(|s| self.finalize(s));
    }
    /// Runs calls to their end that nobody will go on with.
    fn wind_down(&self, keep: usize) {
        self.ending.set(true);
        loop {
            let Some(mut call) = self.calls.try_borrow_mut().ok().filter(|c| c.len() > keep).and_then(|mut c| c.pop()) else { break };
            self.asking.set(std::ptr::null());
            // A callback that is suspended gets its answer; those that follow are not asked.
            while !call.done() {
                if matches!(call.resume(-1), CoroutineResult::Return(_)) {
                    break;
                }
            }
            self.stacks.borrow_mut().push(call.into_stack());
        }
        self.ending.set(false);
    }
    /// Closes the connection; statements that are left keep it until they are freed.
    pub fn close(&self) {
        self.wind_down(0);
        self.bury();
        let db = self.db.replace(std::ptr::null_mut());
        if db.is_null() {
            return;
        }
        // SAFETY: a live connection, which is not looked at any more.
        unsafe {
            if self.is_ours() {
                self.ending.set(true);
                sqlite3_close_v2(db);
                self.ending.set(false);
            } else {
                discard(db);
                self.discarded.set(true);
            }
        }
    }
    pub fn discard(&self) {
        let db = self.db.replace(std::ptr::null_mut());
        if !db.is_null() {
            // SAFETY: as above.
            unsafe { discard(db) };
            self.discarded.set(true);
        }
    }
    /// Memory that the connection has, as SQLite counts it.
    fn used(&self) -> usize {
        let db = self.db.get();
        if db.is_null() {
            return 0;
        }
        [SQLITE_DBSTATUS_CACHE_USED, SQLITE_DBSTATUS_SCHEMA_USED, SQLITE_DBSTATUS_STMT_USED]
            .into_iter()
            .map(|what| {
                let (mut now, mut most) = (0, 0);
                // SAFETY: a live connection.
                unsafe { sqlite3_db_status(db, what, &mut now, &mut most, 0) };
                now.max(0) as usize
            })
            .sum()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.close();
    }
}

/// Gives back what a connection that came through a fork has, without touching the file: its locks are the parent's.
///
/// # Safety
/// A live connection, never used again.
unsafe fn discard(db: *mut sqlite3) {
    // SAFETY: the caller's promise.
    unsafe {
        sqlite3_db_release_memory(db);
        let mut at = 0;
        loop {
            let name = sqlite3_db_name(db, at);
            if name.is_null() {
                break;
            }
            close_file(db, name, SQLITE_FCNTL_FILE_POINTER);
            at += 1;
        }
        close_file(db, std::ptr::null(), SQLITE_FCNTL_JOURNAL_POINTER);
    }
}

/// # Safety
/// As above.
unsafe fn close_file(db: *mut sqlite3, name: *const c_char, which: c_int) {
    let mut file: *mut sqlite3_file = std::ptr::null_mut();
    // SAFETY: the caller's promise; SQLite tells its own file.
    unsafe {
        if sqlite3_file_control(db, name, which, (&raw mut file).cast()) == SQLITE_OK
            && !file.is_null()
            && !(*file).pMethods.is_null()
            && let Some(close) = (*(*file).pMethods).xClose
        {
            close(file);
        }
    }
}

/// A connection is one fiber's while calls are under way.
fn acquire(cx: &mut Cx, shared: &Shared) -> Result<()> {
    let me = (cx.thread_id(), cx.current_fiber.bits());
    let mut pause = 1;
    while shared.is_in_use() && shared.owner.get() != me {
        if shared.owner.get().0 == me.0 && cx.fiber_scheduler().is_nil() {
            return cx.raise_named("SQLite3::BusyException", "the connection is in use by another fiber");
        }
        cx.sleep(Some(Duration::from_millis(pause)))?;
        pause = (pause * 2).min(20);
    }
    shared.owner.set(me);
    Ok(())
}

/// Ends what is under way when its caller is left by a panic.
struct Guard<'a> {
    shared: &'a Shared,
    depth: usize,
}
impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if self.shared.calls.try_borrow().is_ok_and(|c| c.len() > self.depth) {
            self.shared.wind_down(self.depth);
        }
    }
}

/// Calls SQLite. `db`: the Database whose connection it is; `second`: another one that takes part. The result is what `f` gives; an exception of a callback comes
/// out here.
pub fn call(cx: &mut Cx, db: Value, second: Option<Value>, f: impl FnOnce() -> c_int + 'static) -> Result<c_int> {
    let shared = database::shared(cx, db)?;
    let other = match second {
        Some(v) => Some((v, database::shared(cx, v)?)),
        None => None,
    };
    acquire(cx, &shared)?;
    if let Some((_, other)) = &other
        && !Arc::ptr_eq(other, &shared)
    {
        acquire(cx, other)?;
    }
    cx.check_native_stack()?;
    let stack = shared.stacks.borrow_mut().pop();
    let stack = match stack {
        Some(s) => s,
        None => match DefaultStack::new(STACK) {
            Ok(s) => s,
            Err(_) => return cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory"),
        },
    };
    // Where the coroutine finds itself: on the heap, since this frame may be left behind.
    let asking: Arc<std::sync::atomic::AtomicPtr<Asking>> = Arc::default();
    let place = asking.clone();
    let running: Running = Coroutine::with_stack(stack, move |yielder, _| {
        place.store(std::ptr::from_ref(yielder).cast_mut(), std::sync::atomic::Ordering::Relaxed);
        // Nothing asks before the first resumption has told where; see below.
        let go = yielder.suspend((std::ptr::null(), Ask::Progress));
        if go < 0 { SQLITE_INTERRUPT } else { f() }
    });
    let depth = shared.calls.borrow().len();
    shared.calls.borrow_mut().push(running);
    let guard = Guard { shared: &shared, depth };
    let mut error = None;
    let mut answer = 0;
    let status = loop {
        // Out of the list while it runs: a nested call takes its own place there.
        let Some(mut running) = shared.calls.borrow_mut().pop() else { break SQLITE_INTERRUPT };
        let before = (shared.asking.get(), other.as_ref().map(|o| o.1.asking.get()));
        let mine = asking.load(std::sync::atomic::Ordering::Relaxed).cast_const();
        shared.asking.set(mine);
        if let Some((_, o)) = &other {
            o.asking.set(mine);
        }
        let outcome = running.resume(answer);
        shared.asking.set(before.0);
        if let (Some((_, o)), Some(b)) = (&other, before.1) {
            o.asking.set(b);
        }
        match outcome {
            CoroutineResult::Return(status) => {
                shared.stacks.borrow_mut().push(running.into_stack());
                break status;
            }
            CoroutineResult::Yield((from, ask)) => {
                shared.calls.borrow_mut().push(running);
                if from.is_null() {
                    answer = 0;
                    continue;
                }
                if error.is_some() {
                    answer = refuse(&ask);
                    continue;
                }
                let asked = match &other {
                    Some((v, o)) if std::ptr::eq(Arc::as_ptr(o), from) => (*v, o.clone()),
                    _ => (db, shared.clone()),
                };
                answer = match reply(cx, asked.0, &asked.1, &ask) {
                    Ok(n) => n,
                    Err(e) => {
                        error = Some(e);
                        refuse(&ask)
                    }
                };
            }
        }
    };
    drop(guard);
    if depth == 0 {
        shared.bury();
    }
    if let Some(e) = error {
        return Err(e);
    }
    let operations = shared.operations.get().wrapping_add(1);
    shared.operations.set(operations);
    if operations.is_multiple_of(32) {
        count(cx, &shared);
    }
    Ok(status)
}

/// Tells the heap what the connection has come to hold, which the VM's account has block by block: a dead connection is worth a collection.
pub fn count(cx: &mut Cx, shared: &Shared) {
    let now = shared.used();
    let before = shared.counted.replace(now);
    cx.heap.add_pressure(now.saturating_sub(before));
}

/// The answer to whoever asks after an exception.
fn refuse(ask: &Ask) -> c_int {
    if let Ask::Call { context, .. } | Ask::Final { context, .. } = ask {
        // SAFETY: the callback is suspended. Who called sees the exception instead.
        unsafe { sqlite3_result_error(*context, c"Ruby Exception occurred".as_ptr(), -1) };
    }
    -1
}

/// Ruby's answer. Progress: 0 goes on. Busy: 1 tries again. Authorize: SQLite's own numbers. Compare: an order.
fn reply(cx: &mut Cx, db: Value, shared: &Shared, ask: &Ask) -> Result<c_int> {
    match ask {
        Ask::Progress => {
            count(cx, shared);
            if !cx.heap.admits(1) {
                return cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory");
            }
            cx.safepoint()?;
            let limit = shared.statement_timeout.get();
            if limit > 0 {
                let now = Instant::now();
                let deadline = shared.deadline.get().unwrap_or(now + Duration::from_millis(limit as u64));
                shared.deadline.set(Some(deadline));
                return Ok((now > deadline) as c_int);
            }
            Ok(0)
        }
        Ask::Busy(count) => {
            let handler = database::handler(cx, db, database::Handler::Busy)?;
            if !handler.is_nil() {
                let again = cx.call(handler, Sym::intern("call"), &[Value::fixnum(*count as i64)])?;
                return Ok((again != Value::FALSE) as c_int);
            }
            let count = (*count).max(0) as usize;
            let waited: u64 = (0..count).map(|i| PAUSES[i.min(PAUSES.len() - 1)]).sum();
            let left = (shared.busy_timeout.get().max(0) as u64).saturating_sub(waited);
            if left == 0 {
                return Ok(0);
            }
            cx.sleep(Some(Duration::from_millis(PAUSES[count.min(PAUSES.len() - 1)].min(left))))?;
            Ok(1)
        }
        Ask::Call { number, context, count, values } => {
            let function = database::callback(cx, db, *number)?;
            let list = arguments(cx, *count, *values)?;
            let list = ArgList::of_array(cx, list);
            let result = cx.call(function, Sym::intern("call"), &list)?;
            value::give(cx, *context, result)?;
            Ok(0)
        }
        Ask::Step { number, context, count, values } => {
            let handler = instance(cx, db, *number, *context)?;
            let list = arguments(cx, *count, *values)?;
            let list = ArgList::of_array(cx, list);
            cx.call(handler, Sym::intern("step"), &list)?;
            Ok(0)
        }
        Ask::Final { number, context } => {
            let handler = instance(cx, db, *number, *context)?;
            let result = cx.call(handler, Sym::intern("finalize"), &[])?;
            database::forget_instance(cx, db, handler)?;
            value::give(cx, *context, result)?;
            Ok(0)
        }
        Ask::Compare { number, a, b } => {
            let comparator = database::callback(cx, db, *number)?;
            // SAFETY: readable for their lengths while the callback is suspended.
            let (a, b) = unsafe { (std::slice::from_raw_parts(a.0, a.1), std::slice::from_raw_parts(b.0, b.1)) };
            let both = [value::text(cx, a)?, value::text(cx, b)?];
            let order = cx.call(comparator, Sym::intern("compare"), &both)?;
            let order = cx.to_i64(order)?;
            Ok(order.signum() as c_int)
        }
        Ask::Trace(sql) => {
            let handler = database::handler(cx, db, database::Handler::Trace)?;
            if !handler.is_nil() {
                let sql = crate::binary(cx, sql);
                cx.call(handler, Sym::intern("call"), &[sql])?;
            }
            Ok(0)
        }
        Ask::Authorize(action, names) => {
            let handler = database::handler(cx, db, database::Handler::Authorizer)?;
            let mut list = RootedVec::new(cx);
            list.push(Value::fixnum(*action as i64));
            for name in names {
                let v = name.as_ref().map_or(Value::NIL, |b| crate::binary(cx, b));
                list.push(v);
            }
            let list = ArgList::of(cx, &list);
            let result = cx.call(handler, Sym::intern("call"), &list)?;
            Ok(match result.as_fixnum() {
                Some(n) => n as c_int,
                None if result == Value::TRUE => SQLITE_OK,
                None if result == Value::FALSE => SQLITE_DENY,
                None => SQLITE_IGNORE,
            })
        }
    }
}

fn arguments(cx: &mut Cx, count: c_int, values: *mut *mut sqlite3_value) -> Result<Ref<ArrayCell>> {
    let list = cx.new_array();
    for i in 0..count.max(0) as usize {
        // SAFETY: as many values as it says, valid while the callback is suspended.
        let v = unsafe { value::take(cx, *values.add(i)) }?;
        ArrayCell::push(list, &mut cx.heap, v);
    }
    Ok(list)
}

/// The handler of an aggregate that is under way: made when it is first asked.
fn instance(cx: &mut Cx, db: Value, number: usize, context: *mut sqlite3_context) -> Result<Value> {
    // SAFETY: the callback is suspended; SQLite keeps eight bytes for it, zero at first.
    let place = unsafe { sqlite3_aggregate_context(context, 8).cast::<u64>() };
    if place.is_null() {
        return cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory");
    }
    // SAFETY: as above; it is not zero once it is set.
    unsafe {
        if *place == 0 {
            let class = database::callback(cx, db, number)?;
            let made = cx.call(class, sym::new, &[])?;
            *place = database::keep_instance(cx, db, made)?;
        }
        database::kept_instance(cx, db, *place)
    }
}

/// What SQLite calls with: which connection, and the number of the Ruby object.
pub struct Callback {
    pub shared: *const Shared,
    pub number: usize,
}

pub unsafe extern "C" fn free_callback(p: *mut c_void) {
    // SAFETY: made by `Box::into_raw`, given back once, while the connection lives.
    unsafe {
        let callback = Box::from_raw(p.cast::<Callback>());
        (*callback.shared).released.borrow_mut().push(callback.number);
    }
}

/// # Safety
/// A function's context in a call under way.
unsafe fn callback<'a>(context: *mut sqlite3_context) -> (&'a Shared, usize) {
    // SAFETY: the connection lives as long as its functions.
    unsafe {
        let c = &*sqlite3_user_data(context).cast::<Callback>();
        (&*c.shared, c.number)
    }
}

pub unsafe extern "C" fn on_call(context: *mut sqlite3_context, count: c_int, values: *mut *mut sqlite3_value) {
    // SAFETY: SQLite calls it with its own.
    let (shared, number) = unsafe { callback(context) };
    if shared.ask(Ask::Call { number, context, count, values }) < 0 {
        refuse(&Ask::Call { number, context, count, values });
    }
}
pub unsafe extern "C" fn on_step(context: *mut sqlite3_context, count: c_int, values: *mut *mut sqlite3_value) {
    // SAFETY: as above.
    let (shared, number) = unsafe { callback(context) };
    shared.ask(Ask::Step { number, context, count, values });
}
pub unsafe extern "C" fn on_final(context: *mut sqlite3_context) {
    // SAFETY: as above.
    let (shared, number) = unsafe { callback(context) };
    if shared.ask(Ask::Final { number, context }) < 0 {
        refuse(&Ask::Final { number, context });
    }
}
pub unsafe extern "C" fn on_compare(p: *mut c_void, a_len: c_int, a: *const c_void, b_len: c_int, b: *const c_void) -> c_int {
    // SAFETY: as above.
    let (shared, number) = unsafe {
        let c = &*p.cast::<Callback>();
        (&*c.shared, c.number)
    };
    let side = |p: *const c_void, n: c_int| -> (*const u8, usize) {
        if n <= 0 || p.is_null() { (std::ptr::NonNull::dangling().as_ptr(), 0) } else { (p.cast(), n as usize) }
    };
    shared.ask(Ask::Compare { number, a: side(a, a_len), b: side(b, b_len) })
}
unsafe extern "C" fn on_progress(p: *mut c_void) -> c_int {
    // SAFETY: the connection's own `Shared`.
    unsafe { (*p.cast::<Shared>()).ask(Ask::Progress) }
}
unsafe extern "C" fn on_busy(p: *mut c_void, count: c_int) -> c_int {
    // SAFETY: as above.
    (unsafe { (*p.cast::<Shared>()).ask(Ask::Busy(count)) } > 0) as c_int
}
unsafe extern "C" fn on_trace(_event: u32, p: *mut c_void, statement: *mut c_void, text: *mut c_void) -> c_int {
    // SAFETY: as above; a statement that begins, and its text or a comment.
    unsafe {
        let shared = &*p.cast::<Shared>();
        if shared.traced.get() && !text.is_null() {
            let text = CStr::from_ptr(text.cast()).to_bytes().to_vec();
            let text = if text.starts_with(b"--") { text } else { expanded(statement.cast()).unwrap_or(text) };
            shared.ask(Ask::Trace(text));
        }
    }
    0
}

/// The text of a statement with its values.
///
/// # Safety
/// A live statement.
pub unsafe fn expanded(statement: *mut sqlite3_stmt) -> Option<Vec<u8>> {
    // SAFETY: the caller's promise; the text is copied before it is freed.
    unsafe {
        let text = sqlite3_expanded_sql(statement);
        if text.is_null() {
            return None;
        }
        let copy = CStr::from_ptr(text).to_bytes().to_vec();
        sqlite3_free(text.cast());
        Some(copy)
    }
}

/// Settings that are the whole process's.
const OF_THE_PROCESS: [&[u8]; 4] = [b"soft_heap_limit", b"hard_heap_limit", b"temp_store_directory", b"data_store_directory"];

unsafe extern "C" fn on_authorize(
    p: *mut c_void,
    action: c_int,
    a: *const c_char,
    b: *const c_char,
    c: *const c_char,
    d: *const c_char,
) -> c_int {
    // SAFETY: as above; texts or NULL.
    unsafe {
        let shared = &*p.cast::<Shared>();
        let text = |p: *const c_char| if p.is_null() { None } else { Some(CStr::from_ptr(p).to_bytes().to_vec()) };
        if action == SQLITE_PRAGMA
            && !b.is_null()
            && text(a).is_some_and(|name| OF_THE_PROCESS.contains(&name.to_ascii_lowercase().as_slice()))
        {
            return SQLITE_DENY;
        }
        if !shared.authorized.get() {
            return SQLITE_OK;
        }
        match shared.ask(Ask::Authorize(action, [text(a), text(b), text(c), text(d)])) {
            -1 => SQLITE_DENY,
            n => n,
        }
    }
}

/// Prepares a new connection.
///
/// # Safety
/// A live connection, whose `Shared` it is.
pub unsafe fn install(shared: &Arc<Shared>, db: *mut sqlite3, largest: usize) {
    let p = Arc::as_ptr(shared).cast_mut().cast::<c_void>();
    // SAFETY: the caller's promise; the connection never outlives its `Shared`.
    unsafe {
        sqlite3_progress_handler(db, STEPS, Some(on_progress), p);
        sqlite3_busy_handler(db, Some(on_busy), p);
        sqlite3_trace_v2(db, SQLITE_TRACE_STMT, Some(on_trace), p);
        sqlite3_set_authorizer(db, Some(on_authorize), p);
        // As the gem's own library is set: no foreign keys unless they are asked for. No native threads for sorting.
        sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FKEY, 0 as c_int, std::ptr::null_mut::<c_int>());
        sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
        sqlite3_limit(db, SQLITE_LIMIT_LENGTH, largest.clamp(1 << 20, 1_000_000_000) as c_int);
    }
}
