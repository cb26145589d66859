//! Why a process can't start: what the system refuses before the first VM runs, for one line on standard error.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Says what is missing and which limit of the system to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartError(String);

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
impl std::error::Error for StartError {}

impl StartError {
    /// No descriptors for the scheduler.
    pub(crate) fn descriptors(e: &std::io::Error) -> StartError {
        StartError(format!("can't start: the scheduler needs three file descriptors: {e}; ulimit -n is {}", limit(libc::RLIMIT_NOFILE, 1)))
    }
    /// No native threads.
    pub fn threads(e: &std::io::Error) -> StartError {
        // mmap of its stack fails with the same error as clone.
        StartError(format!(
            "can't start: the scheduler needs two threads: {e}; ulimit -u is {}, {}",
            limit(libc::RLIMIT_NPROC, 1),
            memory_limits_text()
        ))
    }
    /// No memory.
    pub fn memory() -> StartError {
        StartError(format!("can't start: not enough memory; {}", memory_limits_text()))
    }
}

/// A limit of the system, if it is set.
fn limited(of: u32) -> Option<u64> {
    let mut l = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: writes one plain struct.
    let known = unsafe { libc::getrlimit(of, &mut l) } == 0;
    (known && l.rlim_cur != libc::RLIM_INFINITY).then_some(l.rlim_cur)
}

fn limit(of: u32, unit: u64) -> String {
    limited(of).map_or("unlimited".into(), |n| (n / unit).to_string())
}

/// Bytes of address space and of writable private memory, where they are limited. Allocates nothing.
pub(crate) fn memory_limits() -> (Option<u64>, Option<u64>) {
    (limited(libc::RLIMIT_AS), limited(libc::RLIMIT_DATA))
}

fn memory_limits_text() -> String {
    let space = || format!("ulimit -v is {}", limit(libc::RLIMIT_AS, 1024));
    match memory_limits() {
        (_, None) => space(),
        (None, Some(data)) => format!("ulimit -d is {}", data / 1024),
        (Some(_), Some(data)) => format!("{}, ulimit -d is {}", space(), data / 1024),
    }
}

/// Runs a part of the start; memory that the heap is refused becomes the error. (What malloc is refused: [`crate::allocator::while_starting`].)
pub(crate) fn guarded<T>(f: impl FnOnce() -> Result<T, StartError>) -> Result<T, StartError> {
    // Nothing of what the closure was making is used after a panic.
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(r) => r,
        Err(p) if is_refusal(&*p) => Err(StartError::memory()),
        Err(p) => resume_unwind(p),
    }
}

fn is_refusal(p: &(dyn Any + Send)) -> bool {
    p.is::<zakuro_heap::OutOfMemory>()
}

/// Bytes of native stack that a start surely gets by with.
const STACK: usize = 4 << 20;
const ENOUGH: u64 = 1 << 20;

/// Runs the main function of a process: on its first thread, or on one with enough native stack when that has little (`ulimit -s`).
pub fn with_stack(main: fn() -> i32) -> i32 {
    zakuro_base::memory::without_arenas_of_threads();
    let mut l = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: writes one plain struct.
    let little = unsafe { libc::getrlimit(libc::RLIMIT_STACK, &mut l) } == 0 && l.rlim_cur < ENOUGH;
    if !little { main() } else { on_thread(main) }
}

#[cold]
#[inline(never)]
fn on_thread(main: fn() -> i32) -> i32 {
    match std::thread::Builder::new().name("main".into()).stack_size(STACK).spawn(main) {
        // A panic has been printed; its exit status is Rust's.
        Ok(t) => t.join().unwrap_or(101),
        Err(e) => {
            tell(&StartError::threads(&e));
            1
        }
    }
}

/// The line on standard error.
pub fn tell(e: &dyn std::fmt::Display) {
    crate::tell::tell(format!("zakuro: {e}\n"));
}
