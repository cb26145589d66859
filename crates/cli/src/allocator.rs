//! The process's malloc and its settings.
//!
//! mimalloc lets the kernel use huge pages for its arenas, which triples the resident memory of a small program (67 against 24 MB in
//! bench/string_build): switched off before the first allocation. Blocks of [`HUGE_FROM`] and more ask for them by themselves (module `huge_pages`).
//!
//! Blocks of more than 64 KiB come from its arenas one by one (`MI_ENABLE_LARGE_PAGES=0` in .cargo/config.toml). By default each size up to 512 KiB has pages of 4 MiB: what a buffer that grows has left in one
//! serves no other size (the peaks of bench/'s hash_work, array_work and string_build are 29.7, 26.5 and 28.9 MB for 35.1, 29.1 and 30.7; the processor time is the same, a String of 100 KB made and dropped takes 0.2 us more of 1.3).
//!
//! What is freed goes back to the system [`DELAY`] after. mimalloc looks at the clock only when it is called for something else, so the process's care calls it,
//! and once more when all VMs wait. Rejected: a delay of 1 ms (a program that collects every few milliseconds gave its memory back each time and
//! had it faulted in again: 24,000 faults in 0.14 s of `ary.uniq`, 15% of the time; 2,200 now, 1,100 of them before its first line; resident the same);
//! never giving back; environment variables (child processes would inherit them).

mod huge_pages;

use core::ffi::c_void;
use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicU32, Ordering};

#[global_allocator]
static ALLOCATOR: zakuro_runtime::allocator::ReserveAllocator<Malloc> = zakuro_runtime::allocator::ReserveAllocator(Malloc);

/// mimalloc, not asked for an alignment that all its blocks have: asked for one, it takes a larger block, and an address within it, whenever the page at hand has
/// no free block.
struct Malloc;

/// Alignment of its blocks of at least that size (`MI_MAX_ALIGN_SIZE`), as of the C library's; smaller ones have their size's.
const ALIGNED: usize = 16;

fn is_aligned_anyway(layout: Layout) -> bool {
    layout.align() <= ALIGNED && layout.align() <= layout.size()
}

/// From this size on a block gets huge pages for what of it they can cover.
const HUGE_FROM: usize = 4 << 20;

// SAFETY: mimalloc is an allocator; a block is freed in the same way however it was asked for, and grows by the function that keeps its alignment.
unsafe impl GlobalAlloc for Malloc {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract.
        let p = unsafe { if is_aligned_anyway(layout) { mi_malloc(layout.size()).cast() } else { MiMalloc.alloc(layout) } };
        if layout.size() >= HUGE_FROM {
            huge_pages::begin(p, layout.size());
        }
        p
    }
    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract.
        let p = unsafe { if is_aligned_anyway(layout) { mi_zalloc(layout.size()).cast() } else { MiMalloc.alloc_zeroed(layout) } };
        if layout.size() >= HUGE_FROM {
            huge_pages::begin(p, layout.size());
        }
        p
    }
    #[inline]
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        if layout.size() >= HUGE_FROM / 2 {
            // SAFETY: the block is the caller's to free.
            unsafe { huge_pages::end(p) };
        }
        // SAFETY: the caller's contract.
        unsafe { mi_free(p.cast()) }
    }
    #[inline]
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's contract.
        unsafe {
            if layout.size() >= HUGE_FROM / 2 || size >= HUGE_FROM {
                return huge_pages::realloc(self, p, layout, size);
            }
            match layout.align() <= ALIGNED && layout.align() <= layout.size().min(size) {
                true => mi_realloc(p.cast(), size).cast(),
                false => MiMalloc.realloc(p, layout, size),
            }
        }
    }
}

unsafe extern "C" {
    fn mi_malloc(size: usize) -> *mut c_void;
    fn mi_zalloc(size: usize) -> *mut c_void;
    fn mi_realloc(p: *mut c_void, size: usize) -> *mut c_void;
    fn mi_free(p: *mut c_void);
    fn mi_usable_size(p: *const c_void) -> usize;
    fn mi_collect(force: bool);
    fn mi_option_set(option: core::ffi::c_int, value: core::ffi::c_long);
}

/// Milliseconds for which free memory stays with the process.
const DELAY: core::ffi::c_long = 1000;
/// KiB of the first arenas; later ones are larger. The tables of one of 1 GiB (the default) are 150 KB, which a start writes.
const FIRST_ARENAS: core::ffi::c_long = 128 << 10;
/// Calls of [`care`] (every 200 ms) after the last VM fell idle.
const ENOUGH: u32 = 5;

/// Numbers of mimalloc's options (enum mi_option_t of the version that the crate vendors).
const ARENA_EAGER_COMMIT: core::ffi::c_int = 4;
const PURGE_DELAY: core::ffi::c_int = 15;
const ARENA_RESERVE: core::ffi::c_int = 23;
const ALLOW_THP: core::ffi::c_int = 43;

extern "C" fn configure() {
    // SAFETY: sets plain numbers, before other code of the process runs.
    unsafe {
        mi_option_set(ALLOW_THP, 0);
        mi_option_set(ARENA_EAGER_COMMIT, 0);
        mi_option_set(PURGE_DELAY, DELAY);
        mi_option_set(ARENA_RESERVE, FIRST_ARENAS);
    }
    zakuro_runtime::allocator::starts();
}

/// Gives back what has been free long enough. For `Process::care_for_malloc`.
pub fn care() -> zakuro_runtime::process::MallocCare {
    // Calls since VMs ran. Written by the timer thread alone.
    let idle = AtomicU32::new(0);
    Box::new(move |busy| {
        let calls = if busy { 0 } else { idle.load(Ordering::Relaxed) + 1 };
        idle.store(calls % ENOUGH, Ordering::Relaxed);
        let last = !busy && calls % ENOUGH == 0;
        // The last time for long also what has not been free for DELAY: 65 MB of arenas after 20,000 idle VMs.
        // SAFETY: collects the calling thread's heap, and gives back memory that is free.
        unsafe { mi_collect(last) };
        !last
    })
}

/// Gives back what the calling thread keeps. For `Process::rest_for_malloc`.
///
/// What a VM allocated belongs to the thread that it ran on then, and only that one can give its pages back: 100 of the 310 MB that 20,000 idle VMs had in
/// malloc stayed with threads that slept.
pub fn rest() {
    // SAFETY: collects the calling thread's heap, and gives back memory that is free.
    unsafe { mi_collect(true) };
}

/// Called by the loader before `main` and before Rust's own start-up allocates.
#[used]
#[unsafe(link_section = ".init_array")]
static CONFIGURE: extern "C" fn() = configure;
