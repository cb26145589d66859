//! Asking for memory that may not be there.
//!
//! Rust's collections abort when malloc fails, and a global allocator can't know whether its caller would rather be told (`try_reserve`). So whoever copes says
//! so for the time of the call; the allocator of `zakuro` (runtime::allocator) lets such requests fail, and does what it can for all others.

use std::cell::Cell;
use std::collections::VecDeque;

thread_local! {
    /// The running call copes with null. Set and cleared within one never-inlined function that can't suspend, so that no coroutine takes it along to
    /// another native thread.
    static COPING: Cell<bool> = const { Cell::new(false) };
    /// Locks of the process that this native thread holds ([`crate::sync::held`]). Touched in never-inlined functions: a coroutine that goes on
    /// on another thread holds none.
    static LOCKS: Cell<u32> = const { Cell::new(0) };
}

#[inline(never)]
pub(crate) fn lock_taken() {
    LOCKS.with(|l| l.set(l.get() + 1));
}

#[inline(never)]
pub(crate) fn lock_given() {
    LOCKS.with(|l| l.set(l.get().saturating_sub(1)));
}

/// Runs `f` as if a lock were held: it comes to its end whatever it allocates. It must not run Ruby code or wait.
pub fn going_on<T>(f: impl FnOnce() -> T) -> T {
    struct Given;
    impl Drop for Given {
        fn drop(&mut self) {
            lock_given();
        }
    }
    lock_taken();
    let _given = Given;
    f()
}

/// Whether the calling thread holds a lock of the process, so that what runs must come to its end. For allocators.
#[inline(never)]
pub fn holds_locks() -> bool {
    LOCKS.with(Cell::get) != 0
}

/// What a refused allocation unwinds with, where no Result leads out.
pub struct OutOfMemory;

/// Refuses an allocation: unwinds to the interpreter, which raises NoMemoryError. Call it before anything is changed.
#[cold]
#[inline(never)]
pub fn out_of_memory() -> ! {
    // Not `panic`: nothing is to be printed.
    std::panic::resume_unwind(Box::new(OutOfMemory))
}

/// Whether the request that is being made may fail. For allocators.
#[inline(never)]
pub fn coping() -> bool {
    COPING.with(Cell::get)
}

/// Runs `f`, whose allocations may fail. It must not run Ruby code or wait.
#[inline(never)]
pub fn fallible<T>(f: impl FnOnce() -> T) -> T {
    /// Puts back what was, also when `f` unwinds: the native thread goes on with other VMs.
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            COPING.with(|c| c.set(self.0));
        }
    }
    let _before = Before(COPING.with(|c| c.replace(true)));
    f()
}

/// [`fallible`], and [`out_of_memory`] when it says false. Call it before anything is changed.
pub fn grow(f: impl FnOnce() -> bool) {
    if !fallible(f) {
        out_of_memory();
    }
}

/// After a crowd that stood in a line (100,000 VMs that the end of a channel woke): by halves, so that a line that grows and shrinks again and again is not moved each time. A line keeps
/// room for 4,096.
#[inline]
pub fn give_room_back<T>(line: &mut VecDeque<T>) {
    const KEPT: usize = 4096;
    if line.capacity() > KEPT && line.len() < line.capacity() / 8 {
        line.shrink_to(line.capacity() / 2);
    }
}

/// Whether there is memory for one more native thread with a stack of so many bytes. The standard library's own part of a start (names, registrations with the C library, a stack for
/// signals) ends the process when it is refused. So there must be some more than all that takes, since others allocate meanwhile.
///
/// # Errors
/// ENOMEM.
pub fn admits_thread(stack: usize) -> std::io::Result<()> {
    // The C library reserves an arena of 64 MB for a thread that registers a destructor, at first twice that to align it. Where it gets neither, others have what was free, and it ends the process.
    const BESIDE: usize = 144 << 20;
    const REGISTRATIONS: usize = 64 << 10;
    let refused = || Err(std::io::Error::from_raw_os_error(libc::ENOMEM));
    // SAFETY: memory that nobody sees, and that is given back at once.
    unsafe {
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let room = libc::mmap(std::ptr::null_mut(), stack + BESIDE, libc::PROT_NONE, kind, -1, 0);
        if room == libc::MAP_FAILED {
            return refused();
        }
        libc::munmap(room, stack + BESIDE);
        let p = libc::malloc(REGISTRATIONS);
        if p.is_null() {
            return refused();
        }
        libc::free(p);
    }
    Ok(())
}

/// Whether the process's address space is limited (`ulimit -v`), so that nothing should be reserved for later.
pub fn space_is_limited() -> bool {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: writes a pair of numbers.
    unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) != 0 || limit.rlim_cur != libc::RLIM_INFINITY }
}

/// Where the address space is limited, the C library is to make no arena for a thread: it reserves 64 or 128 MB for each, and a thread that gets none in between, when it registers a
/// destructor, ends the process. For the main function of a process that has no other thread yet: it is a setting of the whole process.
pub fn without_arenas_of_threads() {
    #[cfg(target_env = "gnu")]
    if space_is_limited() {
        // SAFETY: a setting of the C library's allocator.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
    }
}

/// Gives the pages from `end` up to `top` of a stack back to the system, if the stack has reached below `top`: no frame is larger than what is looked at.
///
/// # Safety
/// Pages of a mapping of the caller's, in whose content nobody is interested.
pub unsafe fn give_back_unless_untouched(end: usize, top: usize) {
    const PAGE: usize = 4 << 10;
    const LOOK: usize = 64 << 10;
    if top.saturating_sub(end) < LOOK {
        return;
    }
    let mut resident = [0u8; LOOK / PAGE];
    // SAFETY: the caller's pages; the system writes a byte for each (fewer where its pages are larger).
    unsafe {
        let told = libc::mincore((top - LOOK) as *mut _, LOOK, resident.as_mut_ptr().cast()) == 0;
        if !told || resident.iter().any(|r| r & 1 != 0) {
            libc::madvise(end as *mut _, top - end, libc::MADV_DONTNEED);
        }
    }
}

/// Whether `vec` has room for `more`, made now if need be.
pub fn has_room<T>(vec: &mut Vec<T>, more: usize) -> bool {
    vec.capacity() - vec.len() >= more || fallible(|| makes_room(vec, more))
}

/// Grows by as much again, as vectors do; by an eighth, or by what is needed, where there is no memory for that.
fn makes_room<T>(vec: &mut Vec<T>, more: usize) -> bool {
    let step = vec.len() / 8;
    vec.try_reserve(more).is_ok()
        || more < step && vec.try_reserve_exact(step).is_ok()
        || more >= step && vec.try_reserve_exact(more).is_ok()
}

/// An empty vector with room for `n`, a number that the program chose; unwinds with [`OutOfMemory`] when there is no memory for so many.
pub fn with_room<T>(n: usize) -> Vec<T> {
    let mut list = Vec::new();
    grow(|| list.try_reserve_exact(n).is_ok());
    list
}

/// The same, filled with zeros.
pub fn zeroed(n: usize) -> Vec<u8> {
    let mut bytes = with_room(n);
    bytes.resize(n, 0);
    bytes
}

/// Appends `n` times `byte`; as [`with_room`].
pub fn fill(out: &mut Vec<u8>, n: usize, byte: u8) {
    if out.capacity() - out.len() < n {
        grow(|| makes_room(out, n));
    }
    out.resize(out.len() + n, byte);
}

/// Appends bytes to a buffer that grows as long as the program likes; as [`with_room`].
#[inline]
pub fn extend(out: &mut Vec<u8>, bytes: &[u8]) {
    if out.capacity() - out.len() < bytes.len() {
        grow(|| makes_room(out, bytes.len()));
    }
    out.extend_from_slice(bytes);
}
