//! malloc for libraries that are written in C (OpenSSL, SQLite): what they keep for a VM counts for its memory limit, block by block, until it is freed, by whomever.
//!
//! What such a library holds behind one handle can grow without the handle's knowing (certificates in a store, rows in a database in memory), so no weight that a builtin reckons can be true.
//! Large blocks are the global allocator's to count (crates/runtime/src/allocator/large.rs); here the small ones are, which it leaves alone for speed.
//!
//! Rejected: a weight per kind of object (each kind that grows is a hole); asking the library for the size of its objects (few can tell).

use super::life::{self, Asked};
use std::alloc::Layout;
use std::ptr::null_mut;
use std::sync::Arc;
use zakuro_base::memory::fallible;
use zakuro_heap::{Native, WATCHED};

/// What lies right before a block.
struct Head {
    size: usize,
    /// Of the VM that it counts for: a reference of its own, or null.
    account: *const Native,
}
const HEAD: usize = size_of::<Head>();
const ALIGN: usize = 16;
const _: () = assert!(HEAD.is_multiple_of(ALIGN));
/// So many bytes pass between two looks at the limit.
const STEP: usize = 32 << 10;

fn layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size.checked_add(HEAD)?, ALIGN).ok()
}

/// A block as it counts: with its head, and what malloc adds to a small one, about.
fn weight(size: usize) -> usize {
    (size + HEAD) / 8 * 9 + 16
}

/// Whether the limit admits a small block, which counts then.
fn count(account: &Native, size: usize) -> bool {
    let whole = weight(size);
    let before = account.add(whole);
    if before / STEP != (before + whole) / STEP && life::asks(whole) == Asked::Refused {
        account.sub(whole);
        return false;
    }
    true
}

/// As malloc; null when the machine or the limit of the running VM has no room.
pub fn allocate(size: usize) -> *mut u8 {
    let Some(layout) = layout(size) else { return null_mut() };
    let account = if layout.size() < WATCHED { life::native_account() } else { None };
    if account.as_ref().is_some_and(|a| !count(a, size)) {
        return null_mut();
    }
    // SAFETY: not of size zero; the head lies within.
    unsafe {
        let start = fallible(|| std::alloc::alloc(layout));
        if start.is_null() {
            if let Some(a) = account {
                a.sub(weight(size));
            }
            return null_mut();
        }
        start.cast::<Head>().write(Head { size, account: account.map_or(std::ptr::null(), Arc::into_raw) });
        start.add(HEAD)
    }
}

/// As realloc, of a block from here or null; null leaves the block as it is.
///
/// # Safety
/// `p` is null or a live block of [`allocate`].
pub unsafe fn reallocate(p: *mut u8, size: usize) -> *mut u8 {
    if p.is_null() {
        return allocate(size);
    }
    // SAFETY: the caller's word.
    unsafe {
        let old = size_of_block(p);
        if old.min(size) >= WATCHED {
            // The allocator counts it, before and after: it can grow in place.
            let (Some(before), Some(after)) = (layout(old), layout(size)) else { return null_mut() };
            let start = fallible(|| std::alloc::realloc(p.sub(HEAD), before, after.size()));
            if start.is_null() {
                return null_mut();
            }
            (*start.cast::<Head>()).size = size;
            return start.add(HEAD);
        }
        let new = allocate(size);
        if !new.is_null() {
            new.copy_from_nonoverlapping(p, old.min(size));
            release(p);
        }
        new
    }
}

/// As free.
///
/// # Safety
/// As for [`reallocate`].
pub unsafe fn release(p: *mut u8) {
    if p.is_null() {
        return;
    }
    // SAFETY: the caller's word; the head is read before its memory goes.
    unsafe {
        let start = p.sub(HEAD);
        let Head { size, account } = start.cast::<Head>().read();
        if !account.is_null() {
            Arc::from_raw(account).sub(weight(size));
        }
        if let Some(layout) = layout(size) {
            std::alloc::dealloc(start, layout);
        }
    }
}

/// The bytes that the block was asked for with.
///
/// # Safety
/// `p` is a live block of [`allocate`].
pub unsafe fn size_of_block(p: *const u8) -> usize {
    // SAFETY: the caller's word.
    unsafe { (*p.sub(HEAD).cast::<Head>()).size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_keep_their_content_in_all_sizes() {
        let sizes = [0, 1, 100, WATCHED - HEAD - 1, WATCHED - HEAD, WATCHED, 4 * WATCHED, 50, 3 * WATCHED, 7];
        let mut p = null_mut();
        let mut kept = 0;
        for (i, size) in sizes.into_iter().enumerate() {
            // SAFETY: null at first, the block of the round before then; `size` bytes of it are written.
            unsafe {
                p = reallocate(p, size);
                assert!(!p.is_null() && p.addr().is_multiple_of(ALIGN));
                assert_eq!(size_of_block(p), size);
                let same = kept.min(size);
                assert!(i == 0 || std::slice::from_raw_parts(p, same).iter().all(|b| *b == i as u8));
                p.write_bytes(i as u8 + 1, size);
            }
            kept = size;
        }
        // SAFETY: as above.
        unsafe { release(p) };
    }

    #[test]
    fn too_large_is_null() {
        assert!(allocate(usize::MAX - 8).is_null());
    }
}
