//! A net under the process's malloc: a huge request that can't be met ends the VM that makes it, not the process.
//!
//! Rust code aborts when `alloc` gives null. Most of the core library asks before it allocates by a size that the program chose, and raises; what
//! does not (temporary vectors of native code) ends here. The memory limit of a VM also stands against single requests of this size.
//! Wrap the allocator of a host program in [`Net`] to have the same:
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: zakuro_runtime::allocator::Net<std::alloc::System> = zakuro_runtime::allocator::Net(std::alloc::System);
//! # fn main() {}
//! ```
//!
//! Limits of it: requests below 16 MiB that fail still abort; and a VM that is ended while it holds a lock of the process (tables
//! of symbols and compiled files, which grow by 16 MiB only with many million entries) keeps the lock.

use std::alloc::{GlobalAlloc, Layout};
use zakuro_heap::{LARGE, MAY_FAIL, machine_has};
use zakuro_vm::life;

/// See the module.
pub struct Net<A>(pub A);

#[cold]
#[inline(never)]
fn guarded(size: usize, align: usize, get: &dyn Fn() -> *mut u8) -> *mut u8 {
    let copes = align >= MAY_FAIL;
    // Who copes with null has asked for the limit already.
    if copes || life::admits(size) && machine_has(size) {
        let p = get();
        if !p.is_null() || copes {
            return p;
        }
    }
    life::give_up(size);
    // No VM to end: the caller decides, as ever.
    std::ptr::null_mut()
}

// SAFETY: hands requests on unchanged; where it does not return, nothing was allocated.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Net<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract is that of the inner allocator.
        let get = || unsafe { self.0.alloc(layout) };
        if layout.size() < LARGE { get() } else { guarded(layout.size(), layout.align(), &get) }
    }
    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let get = || unsafe { self.0.alloc_zeroed(layout) };
        if layout.size() < LARGE { get() } else { guarded(layout.size(), layout.align(), &get) }
    }
    #[inline]
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above; a failed realloc leaves the block as it was.
        let get = || unsafe { self.0.realloc(p, layout, size) };
        if size < LARGE || size <= layout.size() { get() } else { guarded(size, layout.align(), &get) }
    }
    #[inline]
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { self.0.dealloc(p, layout) }
    }
}
