//! Compiling for somebody who may give up: with a limit of memory, and left when it is not wanted any more.
//!
//! Goal: a hostile source takes neither more memory than its VM may have, nor time from others, and does not go on when its VM has ended. prism is C: it
//! can't be asked to stop, it does not survive a null from malloc, and nothing may unwind through it. Analysis and lowering are Rust.
//!
//! A [`Job`] is a native thread. On it prism runs on a stack of its own, that of a coroutine. Its malloc (module `malloc`) is where a parse is left: the
//! coroutine is suspended there, never to be resumed; its stack and the list of its blocks are given back. The frames on it own nothing else, and prism has
//! no state but its parser's. Analysis and lowering say what they have taken ([`took`]), and unwind.
//!
//! A source of a few kilobytes is compiled in its place instead ([`in_place`]), by the same rules: starting a thread takes longer than such a source does. It is left
//! when its VM is wanted, or is nested too deeply for the stack there; then a job begins anew.
//!
//! Who waits looks between two [`Job::wait`]s whether he still has to. Dropping the Job abandons it: the thread ends at the parser's next request, or some
//! instructions later. (prism has loops without a request; the size of the source and the limit of its depth bound them.)
//!
//! Rejected: limits on the size of sources (a byte may take 1 KB, an ordinary one takes 50); longjmp and unwinding through C (undefined); ending the thread
//! from outside; parking it until somebody frees it (it would hold its memory and stack).

use crate::malloc::Blocks;
use crate::serialize::{Question, answer_here};
use crate::{Compiled, EvalScopes, Options, STACK, SyntaxError, Wrap, compile_here};
use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use ruby_prism as prism;
use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;
use zakuro_base::symbol;

/// Why a compilation was left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Left {
    /// It would have taken more memory than it may.
    Memory,
    /// Nobody waits for it.
    Abandoned,
    /// It is nested more deeply than the stack allows where it is compiled ([`in_place`]).
    Deep,
}

/// What a compilation may take.
struct Terms<'a> {
    limit: usize,
    /// Levels of nesting.
    depth: u32,
    /// Bytes taken by analysis and lowering.
    took: Cell<usize>,
    /// Most bytes of stack that prism was seen to use: they are touched, and stay until it is done.
    deepest: Cell<usize>,
    /// Whether nobody waits for it.
    abandoned: &'a dyn Fn() -> bool,
}

impl Terms<'_> {
    fn left(&self, parser: usize, more: usize) -> Option<Left> {
        if (self.abandoned)() {
            return Some(Left::Abandoned);
        }
        (parser.saturating_add(self.took.get()).saturating_add(self.deepest.get()).saturating_add(more) > self.limit)
            .then_some(Left::Memory)
    }
}

/// What a native thread compiles; all null on others.
struct Here {
    terms: Cell<*const Terms<'static>>,
    /// The list of the parser's blocks.
    blocks: Cell<*mut Blocks>,
    /// Where to leave prism, while it runs.
    parser: Cell<*const Yielder<(), Left>>,
    /// Where its stack begins.
    base: Cell<usize>,
}

thread_local! {
    static JOB: Here = const { Here { terms: Cell::new(null()), blocks: Cell::new(null_mut()), parser: Cell::new(null()), base: Cell::new(0) } };
}

/// The list for the parser's blocks, or null.
pub(crate) fn blocks() -> *mut Blocks {
    JOB.with(|j| j.blocks.get())
}

fn taken(blocks: *mut Blocks) -> usize {
    // SAFETY: null, or the list that `run` holds.
    if blocks.is_null() { 0 } else { unsafe { (*blocks).bytes } }
}

/// The parser wants `size` bytes. Does not come back when it is to be left.
pub(crate) fn parser_asks(size: usize) {
    let leave = JOB.with(|j| {
        // SAFETY: set for as long as they live, on this thread.
        let (terms, parser) = unsafe { (j.terms.get().as_ref()?, j.parser.get().as_ref()?) };
        let depth = j.base.get().saturating_sub((&raw const size).addr());
        terms.deepest.set(terms.deepest.get().max(depth));
        Some((parser, terms.left(taken(j.blocks.get()), size)?))
    });
    if let Some((parser, why)) = leave {
        parser.suspend(why);
        unreachable!("a parser that was left has been resumed");
    }
}

/// What analysis and lowering unwind with.
struct Unwound(Left);

/// Analysis or lowering has taken about `bytes` more: unwinds when that is too much, or nobody waits.
pub(crate) fn took(bytes: usize) {
    let leave = JOB.with(|j| {
        // SAFETY: as above.
        let terms = unsafe { j.terms.get().as_ref()? };
        terms.took.set(terms.took.get().saturating_add(bytes));
        terms.left(taken(j.blocks.get()), 0)
    });
    if let Some(why) = leave {
        resume_unwind(Box::new(Unwound(why)));
    }
}

/// Analysis stands so many levels deep in the tree: unwinds when the stack may be too short for more.
pub(crate) fn stands_at(depth: u32) {
    // SAFETY: as above.
    if JOB.with(|j| unsafe { j.terms.get().as_ref() }.is_some_and(|t| depth > t.depth)) {
        resume_unwind(Box::new(Unwound(Left::Deep)));
    }
}

/// Bytes of native stack for a source: a level of nesting takes a byte of it at least, and 32 KiB of stack at most.
fn stack_for(source: usize) -> usize {
    STACK.min((4 << 20) + source.saturating_mul(32 << 10))
}

/// A stack, also where address space is short (`ulimit -v`): those of jobs that are just over come back within moments.
fn stack_of(bytes: usize) -> Option<DefaultStack> {
    for _ in 0..20 {
        if let Ok(stack) = DefaultStack::new(bytes) {
            return Some(stack);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    None
}

/// Bytes of the largest source whose parser's stack is kept by the native thread.
const KEPT: usize = 2 << 10;
/// Of a kept stack the system takes back what lies further from its top.
const KEPT_PAGES: usize = 256 << 10;

thread_local! {
    /// The parser's stack for sources of up to [`KEPT`] bytes: mapping one and giving it back takes longer than parsing.
    static KEPT_STACK: Cell<Option<DefaultStack>> = const { Cell::new(None) };
}

/// The stack that the parser runs on.
struct ParserStack {
    stack: Option<DefaultStack>,
    kept: bool,
}

impl ParserStack {
    fn take(source: usize) -> Option<ParserStack> {
        let kept = source <= KEPT && !zakuro_base::memory::space_is_limited();
        let stack = if kept { KEPT_STACK.take() } else { None };
        let stack = stack.or_else(|| stack_of(stack_for(if kept { KEPT } else { source })))?;
        Some(ParserStack { stack: Some(stack), kept })
    }

    fn get(&mut self) -> &mut DefaultStack {
        self.stack.as_mut().expect("a stack until it is dropped")
    }
}

impl Drop for ParserStack {
    fn drop(&mut self) {
        let Some(stack) = self.stack.take().filter(|_| self.kept) else { return };
        let (top, end) = (stack.base().get(), stack.limit().get());
        // SAFETY: pages of the stack, on which nothing runs.
        unsafe { zakuro_base::memory::give_back_unless_untouched(end, top - KEPT_PAGES) };
        KEPT_STACK.set(Some(stack));
    }
}

/// Parses, as [`in_parser`] does.
pub(crate) fn parse<'a>(source: &'a [u8], options: &'a prism::ParseOptions) -> prism::ParseResult<'a> {
    in_parser(source.len(), || prism::parse_with_options(source, options))
}

/// Does what calls prism with a source of that length, on a stack of its own when this is a job, which unwinds from here when the parser was left. `work` owns
/// nothing while prism runs.
pub(crate) fn in_parser<R>(source: usize, work: impl Fn() -> R) -> R {
    if JOB.with(|j| j.terms.get().is_null()) {
        return work();
    }
    // Without one it parses where it stands, and can't be left before it is done.
    let Some(mut stack) = ParserStack::take(source) else { return work() };
    let there = |yielder: &Yielder<(), Left>, ()| {
        JOB.with(|j| {
            j.parser.set(yielder);
            j.base.set((&raw const yielder).addr());
        });
        let r = work();
        JOB.with(|j| j.parser.set(null()));
        r
    };
    // SAFETY: what the closure borrows outlives the coroutine, which ends or is reset below.
    let mut coroutine: Coroutine<(), Left, R, &mut DefaultStack> = unsafe { Coroutine::with_stack_unchecked(stack.get(), there) };
    match coroutine.resume(()) {
        CoroutineResult::Return(r) => r,
        CoroutineResult::Yield(why) => {
            JOB.with(|j| j.parser.set(null()));
            // SAFETY: it stands in the parser's malloc, called by C, called by a closure that owns nothing yet: no frame has anything to drop. What C
            // has allocated is in the list.
            unsafe { coroutine.force_reset() };
            resume_unwind(Box::new(Unwound(why)))
        }
    }
}

/// [`Options`] that own their texts.
struct Owned {
    source: Arc<[u8]>,
    file: String,
    eval: Option<EvalScopes>,
    line: u32,
    frozen_string_literal: Option<bool>,
    literal_places: bool,
    keep_locals: bool,
    encoding: Option<u8>,
    wrap: Wrap,
    main_script: bool,
    warn: bool,
    verbose: bool,
    branches: bool,
    hidden_ivars: bool,
}

impl Owned {
    fn new(source: Arc<[u8]>, o: &Options) -> Owned {
        let Options {
            file,
            line,
            frozen_string_literal,
            literal_places,
            keep_locals,
            encoding,
            wrap,
            eval,
            main_script,
            warn,
            verbose,
            branches,
            hidden_ivars,
        } = *o;
        let (file, eval) = (file.to_string(), eval.cloned());
        Owned {
            source,
            file,
            eval,
            line,
            frozen_string_literal,
            literal_places,
            keep_locals,
            encoding,
            wrap,
            main_script,
            warn,
            verbose,
            branches,
            hidden_ivars,
        }
    }

    fn options(&self) -> Options<'_> {
        Options {
            file: &self.file,
            line: self.line,
            frozen_string_literal: self.frozen_string_literal,
            literal_places: self.literal_places,
            keep_locals: self.keep_locals,
            encoding: self.encoding,
            wrap: self.wrap,
            eval: self.eval.as_ref(),
            main_script: self.main_script,
            warn: self.warn,
            verbose: self.verbose,
            branches: self.branches,
            hidden_ivars: self.hidden_ivars,
        }
    }
}

/// Bytes of the largest source that [`in_place`] takes: what is nested in the worst way then takes some 20 ms.
pub const IN_PLACE: usize = 4 << 10;

/// Levels of nesting for which 8 MiB of stack are enough.
const PLACE_DEPTH: u32 = 200;

/// Compiles a source of at most [`IN_PLACE`] bytes here, on a native stack of 8 MiB. `limit`: bytes that it may take. `wanted` is asked again and again: whether the
/// native thread has something else to do.
pub fn in_place(source: &Arc<[u8]>, options: &Options, limit: usize, wanted: &dyn Fn() -> bool) -> Result<Compilation, Left> {
    debug_assert!(source.len() <= IN_PLACE);
    let terms = Terms { limit, depth: PLACE_DEPTH, took: Cell::new(0), deepest: Cell::new(0), abandoned: wanted };
    run(|| compile_here(source, options), &terms).unwrap_or_else(|panic| resume_unwind(panic))
}

/// A compilation or what went wrong with it.
pub type Compilation = Result<Compiled, SyntaxError>;

/// Works under terms, on this native thread.
fn run<T>(work: impl FnOnce() -> T, terms: &Terms<'_>) -> Result<Result<T, Left>, Box<dyn Any + Send>> {
    let mut blocks = Blocks::EMPTY;
    let list = &raw mut blocks;
    JOB.with(|j| {
        j.terms.set((&raw const *terms).cast());
        j.blocks.set(list);
    });
    let result = catch_unwind(AssertUnwindSafe(work));
    JOB.with(|j| {
        j.terms.set(null());
        j.blocks.set(null_mut());
    });
    // SAFETY: the tree is dropped, or the parser was left: nobody looks at a block any more.
    unsafe { Blocks::free(list) };
    match result {
        Ok(r) => Ok(Ok(r)),
        Err(panic) => panic.downcast::<Unwound>().map(|u| Err(u.0)),
    }
}

struct Report<T> {
    result: Result<Result<T, Left>, Box<dyn Any + Send>>,
    /// Bytes of names that the process did not have.
    names: usize,
}

/// A compilation, or another work of the parser, that goes on on a native thread of its own.
pub struct Job<T = Compilation> {
    report: Receiver<Report<T>>,
    abandoned: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<()>,
}

impl Job {
    /// Begins to compile. `limit`: bytes that it may take. None: there is no thread for it.
    pub fn start(source: Arc<[u8]>, options: &Options, limit: usize) -> Option<Job> {
        let length = source.len();
        let what = Owned::new(source, options);
        Job::begin(length, limit, move || compile_here(&what.source, &what.options()))
    }
}

impl Job<Vec<u8>> {
    /// Begins to answer a question about a source, likewise.
    pub fn ask(question: Question, limit: usize) -> Option<Job<Vec<u8>>> {
        Job::begin(question.source_len(), limit, move || answer_here(&question))
    }
}

impl<T: Send + 'static> Job<T> {
    fn begin(length: usize, limit: usize, work: impl FnOnce() -> T + Send + 'static) -> Option<Job<T>> {
        let abandoned = Arc::new(AtomicBool::new(false));
        let (to, report) = sync_channel(1);
        let given_up = abandoned.clone();
        let there = move || {
            // Set by the one who waited; nothing else is ordered by it.
            let abandoned = || given_up.load(Ordering::Relaxed);
            let terms = Terms { limit, depth: u32::MAX, took: Cell::new(0), deepest: Cell::new(0), abandoned: &abandoned };
            let result = run(work, &terms);
            // Nobody waits any more: there is nobody to tell.
            let _ = to.send(Report { result, names: symbol::added_here() });
        };
        let stack = stack_for(length);
        zakuro_base::memory::admits_thread(stack).ok()?;
        let thread = std::thread::Builder::new().name("compiler".into()).stack_size(stack).spawn(there).ok()?;
        Some(Job { report, abandoned, thread })
    }

    /// Waits for the end, at most so long. A panic of the compiler goes on here.
    pub fn wait(&self, time: Duration) -> Option<Result<T, Left>> {
        let report = match self.report.recv_timeout(time) {
            Ok(r) => r,
            Err(RecvTimeoutError::Timeout) => return None,
            Err(RecvTimeoutError::Disconnected) => return Some(Err(Left::Abandoned)),
        };
        if report.names > 0 {
            symbol::tell(report.names);
        }
        Some(report.result.unwrap_or_else(|panic| resume_unwind(panic)))
    }

    /// CPU time that it has used so far. None: it is over, or the system does not tell.
    pub fn cpu_time(&self) -> Option<Duration> {
        use std::os::unix::thread::JoinHandleExt;
        let mut clock = 0;
        let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the handle keeps the thread's number from being used again; writes a clock's number and a timespec.
        let told =
            unsafe { libc::pthread_getcpuclockid(self.thread.as_pthread_t(), &mut clock) == 0 && libc::clock_gettime(clock, &mut t) == 0 };
        told.then(|| Duration::new(t.tv_sec as u64, t.tv_nsec as u32))
    }
}

impl<T> Drop for Job<T> {
    fn drop(&mut self) {
        self.abandoned.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
#[path = "job_tests.rs"]
mod tests;
