//! Blocks of [`WATCHED`] bytes and more.
//!
//! Each has a head before it, which says whose it is: a block that native code asks for in a turn of a VM with a memory limit counts for that VM until it is freed, on whichever
//! thread and in whichever VM. It is asked for when the block is made, and when it grows: a vector that doubles in any builtin is stopped there. Buffers of Strings and Arrays
//! have asked the heap, and count there. What is made under a lock of the process (the table of names grows in somebody's turn) is nobody's.
//!
//! Those of a VM that is near its limit come from the system one by one and go back to it at once: malloc keeps what is freed for a while, which nobody counts, and a block that grows is moved by
//! the kernel without ever being there twice. All others are malloc's, which is faster: it has pages at hand (a program that makes and drops 300 KB is 25 times as fast with them).
//!
//! Rejected: asking in each builtin that makes something large (there are hundreds, and the next one forgets it); a vector type for builtins (libraries for numbers, text and
//! compression have their own); counting each block of malloc (a head for each, and two atomic operations).

use super::{copes, is_buffer, refused};
use std::alloc::{GlobalAlloc, Layout};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use zakuro_heap::{LARGE, Native, WATCHED, machine_has};
use zakuro_vm::life::{self, Asked};

/// What lies right before the block.
struct Head {
    /// Of the VM that it was made for: a reference of its own.
    account: Option<Arc<Native>>,
    /// It counts there: it is no buffer.
    counted: bool,
    /// It is a mapping of its own.
    mapped: bool,
}

/// Bytes before the block: its alignment is kept.
const HEAD: usize = 64;
const _: () = assert!(size_of::<Head>() <= HEAD && WATCHED > 2 * HEAD);
const PAGE: usize = 4096;

fn front(layout: Layout) -> usize {
    layout.align().max(HEAD)
}

/// The block with its head, as the inner allocator sees it. None: too large.
fn whole(layout: Layout, size: usize) -> Option<Layout> {
    Layout::from_size_align(size.checked_add(front(layout))?, front(layout)).ok()
}

/// # Safety
/// `p` is a block from here.
unsafe fn head<'a>(p: *mut u8) -> &'a mut Head {
    // SAFETY: the caller's word: HEAD bytes before it are the head's.
    unsafe { &mut *p.sub(HEAD).cast::<Head>() }
}

/// Whether the limit of the running VM has room for `more` bytes. Comes back with false only to who copes; ends the VM otherwise, unless it can't be ended here.
fn within_limit(layout: Layout, more: usize) -> bool {
    match life::asks(more) {
        Asked::Fits => true,
        Asked::Overdrawn => !copes(layout),
        Asked::Refused if copes(layout) => false,
        Asked::Refused => {
            life::give_up(more);
            true
        }
    }
}

fn machine_may_have(size: usize) -> bool {
    size < LARGE || machine_has(size)
}

fn map(bytes: usize) -> *mut u8 {
    // SAFETY: a new anonymous mapping touches nothing that exists.
    let at =
        unsafe { libc::mmap(ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) };
    if at == libc::MAP_FAILED { ptr::null_mut() } else { at.cast() }
}

/// A block for a VM, or for nobody; null: there is no memory.
///
/// # Safety
/// As for `alloc`.
unsafe fn make<A: GlobalAlloc>(inner: &A, layout: Layout, zeroed: bool, account: Option<Arc<Native>>) -> *mut u8 {
    let Some(whole) = whole(layout, layout.size()) else { return ptr::null_mut() };
    let mapped = account.is_some() && layout.align() <= PAGE && life::takes_from_system(layout.size());
    let counted = !is_buffer(layout);
    // SAFETY: not of size zero; the head lies before the block, within what was allocated.
    unsafe {
        let start = match () {
            _ if mapped => map(whole.size()),
            _ if zeroed => inner.alloc_zeroed(whole),
            _ => inner.alloc(whole),
        };
        if start.is_null() {
            return start;
        }
        if let Some(account) = &account
            && counted
        {
            account.add_large(layout.size());
        }
        let p = start.add(front(layout));
        p.sub(HEAD).cast::<Head>().write(Head { account, counted, mapped });
        p
    }
}

/// # Safety
/// As for [`GlobalAlloc::alloc`]; the layout is for at least [`WATCHED`] bytes.
#[cold]
#[inline(never)]
pub(super) unsafe fn alloc<A: GlobalAlloc>(inner: &A, layout: Layout, zeroed: bool) -> *mut u8 {
    // What grows under a lock of the process is the process's, and must not be refused because it happens to grow in the turn of a VM with a small limit.
    let native = if zakuro_base::memory::holds_locks() { None } else { life::native_account() };
    // SAFETY: the caller's word.
    let get = || unsafe { make(inner, layout, zeroed, native.clone()) };
    if native.is_some() && !is_buffer(layout) && !within_limit(layout, layout.size()) {
        return ptr::null_mut();
    }
    if machine_may_have(layout.size()) {
        let p = get();
        if !p.is_null() {
            return p;
        }
    }
    let p = refused(layout, &get);
    if zeroed && !p.is_null() && super::RESERVE.holds(p) {
        // SAFETY: a piece of that size; it may have been used before.
        unsafe { p.write_bytes(0, layout.size()) };
    }
    p
}

/// # Safety
/// As for [`GlobalAlloc::dealloc`], of a block from here.
#[cold]
#[inline(never)]
pub(super) unsafe fn dealloc<A: GlobalAlloc>(inner: &A, p: *mut u8, layout: Layout) {
    // SAFETY: the caller's word; the head is read before its memory goes.
    unsafe {
        let Head { account, counted, mapped } = p.sub(HEAD).cast::<Head>().read();
        if let Some(whole) = whole(layout, layout.size()) {
            let start = p.sub(front(layout));
            if mapped {
                libc::munmap(start.cast(), whole.size());
            } else {
                inner.dealloc(start, whole);
            }
        }
        if let Some(account) = account {
            if counted {
                account.sub_large(layout.size());
            }
            if !mapped {
                account.freed.fetch_add(layout.size(), Relaxed);
            }
        }
    }
}

/// # Safety
/// As for [`GlobalAlloc::realloc`], of a block from here; both sizes are at least [`WATCHED`].
#[cold]
#[inline(never)]
pub(super) unsafe fn realloc<A: GlobalAlloc>(inner: &A, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
    // SAFETY: the caller's word.
    let Head { account, counted, mapped } = unsafe { head(p) };
    let (account, counted, mapped) = (account.clone(), *counted && account.is_some(), *mapped);
    // SAFETY: the caller's alignment with the caller's size.
    let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
    // A failed attempt leaves the block as it was.
    let get = || {
        if !mapped && account.is_some() && life::takes_from_system(size) {
            // SAFETY: another block; the old one is not used afterwards.
            unsafe {
                let q = make(inner, wanted, false, account.clone());
                if !q.is_null() {
                    q.copy_from_nonoverlapping(p, size.min(layout.size()));
                    dealloc(inner, p, layout);
                }
                return q;
            }
        }
        let (Some(old), Some(new)) = (whole(layout, layout.size()), whole(layout, size)) else { return ptr::null_mut() };
        // SAFETY: the block with its head, as it was allocated; the head goes along.
        let start = unsafe {
            let start = p.sub(front(layout));
            match mapped {
                true => {
                    let at = libc::mremap(start.cast(), old.size(), new.size(), libc::MREMAP_MAYMOVE);
                    if at == libc::MAP_FAILED { ptr::null_mut() } else { at.cast() }
                }
                false => inner.realloc(start, old, new.size()),
            }
        };
        let Some(start) = NonNull::new(start) else { return ptr::null_mut() };
        // SAFETY: as above.
        unsafe {
            let q = start.as_ptr().add(front(layout));
            if let Some(account) = &account {
                if counted {
                    account.add_large(size);
                    account.sub_large(layout.size());
                }
                if !mapped {
                    // Where it was before, perhaps.
                    account.freed.fetch_add(layout.size(), Relaxed);
                }
            }
            q
        }
    };
    let more = size.saturating_sub(layout.size());
    if counted && more > 0 && !within_limit(wanted, more) {
        return ptr::null_mut();
    }
    if more == 0 || machine_may_have(size) {
        let q = get();
        if !q.is_null() {
            return q;
        }
    }
    if copes(wanted) {
        return ptr::null_mut();
    }
    // Ends the VM, or comes back with a block of the reserve's.
    let q = refused(wanted, &get);
    if !q.is_null() && super::RESERVE.holds(q) {
        // SAFETY: another block, of that size; the old one is not used afterwards.
        unsafe {
            q.copy_from_nonoverlapping(p, size.min(layout.size()));
            dealloc(inner, p, layout);
        }
    }
    q
}
