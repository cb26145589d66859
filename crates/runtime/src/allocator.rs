//! A net under the process's malloc: a request that can't be met ends or warns the VM that makes it, not the process.
//!
//! Rust code aborts when `alloc` gives null. Most of the core library asks before it allocates by a size that the program chose, and raises. What
//! does not ends here, in this order:
//! 1. A request by somebody who copes with null (`zakuro_base::memory::fallible`; buffers: alignment [`MAY_FAIL`], at least [`FALLIBLE`] bytes) gets null.
//! 2. A small one is met from a [`Reserve`] that the process keeps, and the VM that asked is told: at its next safepoint it collects and, if that does
//!    not help, raises NoMemoryError. So whoever holds a lock of the process gets what he needs to let go of it.
//! 3. A large one, and a VM that has taken too much from the reserve without passing a safepoint, ends the VM where it stands.
//!
//! The memory limit of a VM also stands against single requests of [`LARGE`] bytes and more.
//! Wrap the allocator of a host program in [`Net`] to have the same:
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: zakuro_runtime::allocator::Net<std::alloc::System> = zakuro_runtime::allocator::Net(std::alloc::System);
//! # fn main() {}
//! ```
//!
//! What still aborts: a small request when all of the reserve is in use, outside of VMs or by native code of a VM that can't be left. A VM can't be ended while
//! it holds a lock of the process only because nothing asks for more than [`SMALL`] at a time under one: names are copied before the symbol table is locked and
//! its own growth may be refused, as that of a channel's queue may; the tables of files and regexps are bounded; lists of VMs, timers and tasks
//! hold a hundred thousand in that much.
//!
//! Rejected: unwinding out of the allocator (undefined behaviour); memory set aside in malloc and freed when it runs out (nothing says that malloc
//! can use the hole for another size); ending the VM at once for a small request (it may hold a lock).

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use zakuro_heap::{FALLIBLE, LARGE, MAY_FAIL, machine_has};
use zakuro_vm::life;

/// See the module.
pub struct Net<A>(pub A);

/// Bytes of the reserve. Address space only, until they are needed.
const RESERVE_SIZE: usize = 32 << 20;
/// Larger requests of VMs are not met from the reserve.
const SMALL: usize = 4 << 20;

/// Memory for small requests when there is no other: handed out in a row, and all of it free again when the last piece is.
struct Reserve {
    space: UnsafeCell<Space>,
    /// Bytes handed out << 32 | pieces in use. Written by any thread that gets no memory, or frees a piece (AcqRel: a piece's last use comes before its
    /// next one). Never touched while there is memory.
    state: AtomicU64,
}

#[repr(align(4096))]
struct Space(#[allow(dead_code)] [u8; RESERVE_SIZE]);

// SAFETY: each piece of the space belongs to who was given it; the state is atomic.
unsafe impl Sync for Reserve {}

static RESERVE: Reserve = Reserve { space: UnsafeCell::new(Space([0; RESERVE_SIZE])), state: AtomicU64::new(0) };

impl Reserve {
    #[inline(always)]
    fn holds(&self, p: *mut u8) -> bool {
        (p as usize).wrapping_sub(self.space.get() as usize) < RESERVE_SIZE
    }
    /// Null when the rest is too small.
    fn take(&self, layout: Layout) -> *mut u8 {
        let mut old = self.state.load(Acquire);
        loop {
            let used = (old >> 32) as usize;
            let from = used.next_multiple_of(layout.align());
            let to = from.saturating_add(layout.size());
            if layout.align() > 4096 || to > RESERVE_SIZE {
                return std::ptr::null_mut();
            }
            let new = (to as u64) << 32 | ((old & 0xffff_ffff) + 1);
            match self.state.compare_exchange_weak(old, new, AcqRel, Acquire) {
                Ok(_) => return self.space.get().cast::<u8>().wrapping_add(from),
                Err(now) => old = now,
            }
        }
    }
    /// A piece is free.
    fn give(&self) {
        let last = |old: u64| if old & 0xffff_ffff <= 1 { 0 } else { old - 1 };
        let _ = self.state.fetch_update(AcqRel, Relaxed, |old| Some(last(old)));
    }
}

#[cold]
#[inline(never)]
fn guarded(layout: Layout, get: &dyn Fn() -> *mut u8) -> *mut u8 {
    let size = layout.size();
    // Who copes with null has asked for the limit already.
    if copes(layout) || life::admits(size) && machine_has(size) {
        let p = get();
        if !p.is_null() {
            return p;
        }
    }
    refused(layout)
}

fn copes(layout: Layout) -> bool {
    layout.align() >= MAY_FAIL && layout.size() >= FALLIBLE || zakuro_base::memory::coping()
}

#[cold]
#[inline(never)]
fn refused(layout: Layout) -> *mut u8 {
    if copes(layout) {
        return std::ptr::null_mut();
    }
    // The VM hears of it in any case. Who belongs to none, or stands where it can't be left (the parser's stack), may have what there is.
    let within = life::memory_is_short(layout.size());
    if layout.size() <= SMALL && within || life::outside() {
        let p = RESERVE.take(layout);
        if !p.is_null() {
            return p;
        }
    }
    life::give_up(layout.size());
    // No VM to end: the caller decides, as ever.
    std::ptr::null_mut()
}

// SAFETY: hands requests on unchanged, or meets them with pieces of the reserve, which nobody else has; where it does not return, nothing was allocated.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Net<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract is that of the inner allocator.
        let get = || unsafe { self.0.alloc(layout) };
        if layout.size() >= LARGE {
            return guarded(layout, &get);
        }
        let p = get();
        if p.is_null() { refused(layout) } else { p }
    }
    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let get = || unsafe { self.0.alloc_zeroed(layout) };
        let p = if layout.size() >= LARGE { guarded(layout, &get) } else { get() };
        if !p.is_null() {
            return p;
        }
        let p = if layout.size() >= LARGE { p } else { refused(layout) };
        if !p.is_null() {
            // SAFETY: a piece of the reserve, of that size; it may have been used before.
            unsafe { p.write_bytes(0, layout.size()) };
        }
        p
    }
    #[inline]
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !RESERVE.holds(p) {
            // SAFETY: as above; a failed realloc leaves the block as it was.
            let get = || unsafe { self.0.realloc(p, layout, size) };
            if size >= LARGE && size > layout.size() {
                // SAFETY: the caller's alignment with the caller's size.
                return guarded(unsafe { Layout::from_size_align_unchecked(size, layout.align()) }, &get);
            }
            let q = get();
            if !q.is_null() {
                return q;
            }
        }
        // SAFETY: the block that `p` is.
        unsafe { self.moved(p, layout, size) }
    }
    #[inline]
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        if RESERVE.holds(p) {
            return RESERVE.give();
        }
        // SAFETY: as above.
        unsafe { self.0.dealloc(p, layout) }
    }
}

impl<A: GlobalAlloc> Net<A> {
    /// A block that can't grow where it is: to the reserve, or out of it.
    ///
    /// # Safety
    /// As for `realloc`.
    #[cold]
    #[inline(never)]
    unsafe fn moved(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: by contract; both blocks have as many bytes as are copied, and the old one is not used afterwards.
        unsafe {
            let new = Layout::from_size_align_unchecked(size, layout.align());
            let q = if RESERVE.holds(p) { self.alloc(new) } else { refused(new) };
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
