//! Huge pages for large blocks: who fills one has its memory faulted in 2 MiB at a time.
//!
//! A fault of 4 KiB takes 0.1 to 1.2 us, so filling a block that is touched for the first time takes three times as long without (6.4 MB: 2.0 and 0.7 ms on a virtual machine), and places that are
//! far from each other share entries of the TLB. The part of a block that lies on whole huge pages is advised when it is allocated, and taken back when it is freed, so that
//! small blocks which come to lie there do not occupy 2 MiB each.
//!
//! Needs a kernel that has transparent huge pages on request (`madvise`, the default of most distributions) or can restrict a process to those it asks for (Linux 6.18); elsewhere nothing changes.

use super::{HUGE_FROM, mi_usable_size};
use core::ffi::c_void;
use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicU8, Ordering};

const HUGE_PAGE: usize = 2 << 20;

/// What the kernel allows: not asked yet, huge pages on request, none.
static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const ALLOWED: u8 = 1;
const REFUSED: u8 = 2;

/// `PR_THP_DISABLE_EXCEPT_ADVISED` (linux/prctl.h).
const EXCEPT_ADVISED: core::ffi::c_ulong = 1 << 1;

/// Ends what mimalloc asked for when it started (no huge pages for the process), where that leaves them to those who ask. May be called by several threads at once.
#[cold]
fn ask_kernel() -> bool {
    let none: core::ffi::c_ulong = 0;
    // SAFETY: sets a flag of the process's memory.
    let restricted = unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, 1 as core::ffi::c_ulong, EXCEPT_ADVISED, none, none) } == 0;
    // SAFETY: as above.
    let allowed = restricted || (on_request() && unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, none, none, none, none) } == 0);
    STATE.store(if allowed { ALLOWED } else { REFUSED }, Ordering::Relaxed);
    allowed
}

/// Whether the kernel gives huge pages to nobody but those who ask.
fn on_request() -> bool {
    let mut text = [0u8; 64];
    // SAFETY: reads a small file into an array. Nothing here allocates.
    let n = unsafe {
        let fd = libc::open(c"/sys/kernel/mm/transparent_hugepage/enabled".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if fd < 0 {
            return false;
        }
        let n = libc::read(fd, text.as_mut_ptr().cast(), text.len());
        libc::close(fd);
        n
    };
    usize::try_from(n).is_ok_and(|n| text[..n].windows(9).any(|word| word == b"[madvise]"))
}

/// Advises on the huge pages that lie within a block.
fn advise(p: *mut u8, bytes: usize, advice: core::ffi::c_int) {
    let skipped = p.addr().next_multiple_of(HUGE_PAGE) - p.addr();
    let whole = bytes.saturating_sub(skipped) / HUGE_PAGE * HUGE_PAGE;
    if whole != 0 {
        // SAFETY: the range lies in a block of the caller. What fails changes nothing.
        unsafe { libc::madvise(p.wrapping_add(skipped).cast(), whole, advice) };
    }
}

/// A block of at least [`HUGE_FROM`] bytes (or null) begins to live.
#[cold]
pub(super) fn begin(p: *mut u8, bytes: usize) {
    let allowed = match STATE.load(Ordering::Relaxed) {
        UNKNOWN => ask_kernel(),
        state => state == ALLOWED,
    };
    if allowed && !p.is_null() {
        advise(p, bytes, libc::MADV_HUGEPAGE);
    }
}

/// A block that may have been as large once ends.
///
/// # Safety
/// `p` is a live block of mimalloc's.
#[cold]
pub(super) unsafe fn end(p: *mut u8) {
    // SAFETY: the caller's contract.
    let bytes = unsafe { mi_usable_size(p as *const c_void) };
    if bytes >= HUGE_FROM && STATE.load(Ordering::Relaxed) == ALLOWED {
        advise(p, bytes, libc::MADV_NOHUGEPAGE);
    }
}

/// `realloc` of a block that is or was so large, or becomes it.
///
/// # Safety
/// As of [`GlobalAlloc::realloc`].
#[cold]
pub(super) unsafe fn realloc(malloc: &super::Malloc, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
    // SAFETY: the caller's contract; the new block is as large as what is copied.
    unsafe {
        let usable = mi_usable_size(p as *const c_void);
        if size <= usable && size >= usable / 2 {
            return p;
        }
        let new = malloc.alloc(Layout::from_size_align_unchecked(size, layout.align()));
        if !new.is_null() {
            new.copy_from_nonoverlapping(p, layout.size().min(size));
            malloc.dealloc(p, layout);
        }
        new
    }
}
