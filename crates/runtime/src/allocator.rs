//! A reserve behind the process's malloc: a request that can't be met ends or warns the VM that makes it, not the process.
//!
//! Rust code aborts when `alloc` gives null. Most of the core library asks before it allocates by a size that the program chose, and raises. What
//! does not ends here, in this order:
//! 1. A request by somebody who copes with null (`zakuro_base::memory::fallible`; buffers: alignment [`MAY_FAIL`], at least [`FALLIBLE`] bytes) gets null,
//!    unless it is small and his VM holds little memory.
//! 2. A small one is met from a [`Reserve`] that the process keeps, and the VM that asked is told: at its next safepoint it collects and, if that does
//!    not help, raises NoMemoryError. So whoever holds a lock of the process gets what he needs to let go of it.
//! 3. A large one, and a VM that has taken too much from the reserve without passing a safepoint, ends the VM where it stands: on its own stack, or
//!    on the native stack that the parser uses.
//! 4. Who can't be ended (the runtime itself; who holds a lock of the process, which the thread knows: `zakuro_base::sync::held`) gets what is left of the reserve,
//!    then waits and asks again, for [`PATIENCE`]: meanwhile others come to their safepoints and let go.
//!
//! A memory limit stands against every block of [`WATCHED`] bytes and more, for as long as it lives (module `large`), whatever native code wants it for. So a vector that doubles, or a table,
//! asks the VM's budget each time it grows, and nothing else has to be written for that.
//! Wrap the allocator of a host program in [`ReserveAllocator`] to have the same:
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: zakuro_runtime::allocator::ReserveAllocator<std::alloc::System> = zakuro_runtime::allocator::ReserveAllocator(std::alloc::System);
//! # fn main() {}
//! ```
//!
//! What still aborts: who can't be ended, when nobody lets go of anything for so long. Short locks of channels are not counted as held: what grows under them
//! copes with null.
//!
//! Rejected: unwinding out of the allocator (undefined behaviour); memory set aside in malloc and freed when it runs out (nothing says that malloc
//! can use the hole for another size); ending the VM at once for a small request (it could not even report); trusting that nobody takes
//! much under a lock (the request that exceeds a VM's share may be any).

mod large;
mod reserve;

use reserve::{Reserve, Who};
use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zakuro_heap::{FALLIBLE, MAY_FAIL, WATCHED};
use zakuro_vm::life;

/// See the module.
pub struct ReserveAllocator<A>(pub A);

/// Larger requests of VMs are not met from the reserve.
const SMALL: usize = 4 << 20;
/// Who could do without gets no more than this.
const LENT: usize = 1 << 20;
/// How long somebody who can't be ended waits for memory.
const PATIENCE: Duration = Duration::from_secs(20);
const FIRST_WAIT: Duration = Duration::from_micros(200);
const LONGEST_WAIT: Duration = Duration::from_millis(20);

static RESERVE: Reserve = Reserve::new();

/// The process starts: nobody else could let go of memory. Written by the thread that starts it, before and after; read when malloc has nothing.
static STARTING: AtomicBool = AtomicBool::new(false);

/// The process has begun to start: for a host that is nothing but Zakuro, before anything of it allocates.
pub fn starts() {
    STARTING.store(true, Ordering::Relaxed);
}

/// Maps the reserve.
pub(crate) fn open() -> bool {
    RESERVE.open()
}

/// Runs the start of a process that is nothing but Zakuro: when malloc has nothing meanwhile, the process says so and ends, with status 1.
pub fn while_starting<T>(f: impl FnOnce() -> T) -> T {
    STARTING.store(true, Ordering::Relaxed);
    let result = f();
    STARTING.store(false, Ordering::Relaxed);
    result
}

/// The line has been said: several threads can be refused at once.
static SAID: AtomicBool = AtomicBool::new(false);

/// Nothing here may allocate.
fn end_the_start() -> ! {
    let line: &[u8] = match crate::start::memory_limits() {
        (_, None) => b"zakuro: can't start: not enough memory; see ulimit -v\n",
        (None, Some(_)) => b"zakuro: can't start: not enough memory; see ulimit -d\n",
        (Some(_), Some(_)) => b"zakuro: can't start: not enough memory; see ulimit -v and ulimit -d\n",
    };
    while SAID.swap(true, Ordering::Relaxed) {
        // SAFETY: waits for the end that another thread brings.
        unsafe { libc::pause() };
    }
    // SAFETY: writes from a constant, then ends the process without running anything.
    unsafe {
        libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len());
        libc::_exit(1)
    }
}

/// Gives back what of the reserve is not needed any more. Called now and then by the process.
pub(crate) fn tidy() {
    RESERVE.tidy();
}

fn is_buffer(layout: Layout) -> bool {
    layout.align() >= MAY_FAIL && layout.size() >= FALLIBLE
}

fn copes(layout: Layout) -> bool {
    is_buffer(layout) || zakuro_base::memory::coping()
}

#[cold]
#[inline(never)]
fn refused(layout: Layout, get: &dyn Fn() -> *mut u8) -> *mut u8 {
    if STARTING.load(Ordering::Relaxed) && !copes(layout) {
        end_the_start();
    }
    if copes(layout) {
        let lent = layout.size() <= LENT && life::is_modest() && life::memory_is_short(layout.size());
        return if lent { RESERVE.take(layout, Who::Modest) } else { std::ptr::null_mut() };
    }
    let can_be_ended = life::can_be_ended();
    // The VM hears of it in any case.
    let within = life::memory_is_short(layout.size());
    if layout.size() <= SMALL && within || !can_be_ended {
        let who = match () {
            _ if !can_be_ended => Who::Urgent,
            _ if life::is_modest() => Who::Modest,
            _ => Who::Holder,
        };
        let p = RESERVE.take(layout, who);
        if !p.is_null() {
            return p;
        }
    }
    if can_be_ended {
        life::give_up(layout.size());
    }
    if layout.size() > reserve::PIECE {
        // Nobody would let go of so much.
        return std::ptr::null_mut();
    }
    let (mut waited, mut wait) = (Duration::ZERO, FIRST_WAIT);
    while waited < PATIENCE {
        std::thread::sleep(wait);
        waited += wait;
        wait = (wait * 2).min(LONGEST_WAIT);
        let p = get();
        let p = if p.is_null() { RESERVE.take(layout, Who::Urgent) } else { p };
        if !p.is_null() {
            return p;
        }
    }
    // The caller decides, as ever.
    std::ptr::null_mut()
}

// SAFETY: hands requests on unchanged, or meets them with pieces of the reserve, which nobody else has; where it does not return, nothing was allocated.
unsafe impl<A: GlobalAlloc> GlobalAlloc for ReserveAllocator<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract is that of the inner allocator.
        let get = || unsafe { self.0.alloc(layout) };
        if layout.size() >= WATCHED {
            // SAFETY: the same.
            return unsafe { large::alloc(&self.0, layout, false) };
        }
        let p = get();
        if p.is_null() { refused(layout, &get) } else { p }
    }
    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.size() >= WATCHED {
            // SAFETY: as above.
            return unsafe { large::alloc(&self.0, layout, true) };
        }
        // SAFETY: as above.
        let get = || unsafe { self.0.alloc_zeroed(layout) };
        let p = get();
        if !p.is_null() {
            return p;
        }
        let p = refused(layout, &get);
        if !p.is_null() {
            // SAFETY: a piece of the reserve, of that size; it may have been used before.
            unsafe { p.write_bytes(0, layout.size()) };
        }
        p
    }
    #[inline]
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !RESERVE.holds(p) {
            match (layout.size() >= WATCHED, size >= WATCHED) {
                // SAFETY: as above; a failed realloc leaves the block as it was.
                (true, true) => return unsafe { large::realloc(&self.0, p, layout, size) },
                (false, false) => {
                    // SAFETY: as above.
                    let q = unsafe { self.0.realloc(p, layout, size) };
                    if !q.is_null() {
                        return q;
                    }
                }
                _ => {}
            }
        }
        // SAFETY: the block that `p` is.
        unsafe { self.moved(p, layout, size) }
    }
    #[inline]
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        if RESERVE.holds(p) {
            // SAFETY: the caller's contract.
            return unsafe { RESERVE.give(p, layout) };
        }
        if layout.size() >= WATCHED {
            // SAFETY: as above.
            return unsafe { large::dealloc(&self.0, p, layout) };
        }
        // SAFETY: as above.
        unsafe { self.0.dealloc(p, layout) }
    }
}

impl<A: GlobalAlloc> ReserveAllocator<A> {
    /// A block that can't grow where it is: to the reserve, or out of it, or into one that is watched, or out of that.
    ///
    /// # Safety
    /// As for `realloc`.
    #[cold]
    #[inline(never)]
    unsafe fn moved(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: by contract; both blocks have as many bytes as are copied, and the old one is not used afterwards.
        unsafe {
            let new = Layout::from_size_align_unchecked(size, layout.align());
            let elsewhere = RESERVE.holds(p) || size.max(layout.size()) >= WATCHED;
            let q = if elsewhere { self.alloc(new) } else { refused(new, &|| self.0.alloc(new)) };
            if !q.is_null() {
                q.copy_from_nonoverlapping(p, size.min(layout.size()));
                self.dealloc(p, layout);
            }
            q
        }
    }
}

#[cfg(test)]
#[path = "allocator_tests.rs"]
mod tests;
