//! The parser's malloc: Rust's global allocator.
//!
//! Goal: prism ends the process when malloc gives null. Its requests go where those of Rust code go, so that a refused one ends the VM that has something
//! compiled, at worst (`zakuro_runtime::allocator`). `include/prism_xallocator.h` names these functions; `.cargo/config.toml` has prism built with it.
//!
//! While a source is parsed that somebody may give up ([`crate::job`]), each request is counted, and a parse that is no longer wanted or has taken too
//! much is left from here, for ever: what it holds is found in the list of its blocks.
//!
//! Invariants: a block starts [`HEAD`] bytes after what the allocator gave, where its size and its neighbours in the list stand. Blocks of a parse
//! are given back on the native thread that has parsed.
//! Rejected: asking beforehand whether malloc has what a source will need (another thread may take it meanwhile).

use crate::job;
use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, handle_alloc_error, realloc};
use std::ffi::c_void;
use std::ptr::null_mut;

/// What stands before a block.
#[repr(C)]
struct Head {
    size: usize,
    /// Neighbours in the list of the parse; null at its ends, and in blocks of no list.
    before: *mut Head,
    after: *mut Head,
    /// The list that the block is in.
    list: *mut Blocks,
}

/// Keeps blocks aligned for whatever C stores in them.
const HEAD: usize = 32;
const _: () = assert!(size_of::<Head>() <= HEAD);

/// The blocks of a parse.
pub(crate) struct Blocks {
    first: *mut Head,
    /// Bytes of all, as they count.
    pub bytes: usize,
}

impl Blocks {
    pub const EMPTY: Blocks = Blocks { first: null_mut(), bytes: 0 };

    /// Gives all of them back.
    ///
    /// # Safety
    /// Nothing refers to them any more. `list` is the pointer that the blocks have: no reference to the list may exist, since freeing changes it through theirs.
    pub unsafe fn free(list: *mut Blocks) {
        // SAFETY: by contract; blocks of the list are alive until they are freed, which takes them out.
        unsafe {
            while !(*list).first.is_null() {
                zakuro_parser_free((*list).first.cast::<u8>().add(HEAD).cast());
            }
        }
    }
}

/// A block as it counts: with its head, and what malloc adds to a small one, about. (A parse has many small ones: that is half of what they take.)
fn weight(size: usize) -> usize {
    (size + HEAD) / 8 * 9 + 16
}

fn layout(size: usize) -> Layout {
    let whole = size.checked_add(HEAD).and_then(|whole| Layout::from_size_align(whole, 16).ok());
    whole.unwrap_or_else(|| handle_alloc_error(Layout::new::<u8>()))
}

/// Writes the head of a block, and puts it into the list of the running parse.
///
/// # Safety
/// `block` is what the allocator gave for `layout(size)`.
unsafe fn begin(block: *mut u8, size: usize) -> *mut c_void {
    if block.is_null() {
        handle_alloc_error(layout(size));
    }
    let head = block.cast::<Head>();
    let list = job::blocks();
    // SAFETY: there is room for the head before the block's content; the list is the running parse's, and its blocks are alive.
    unsafe {
        head.write(Head { size, before: null_mut(), after: null_mut(), list });
        if !list.is_null() {
            let next = (*list).first;
            (*head).after = next;
            if !next.is_null() {
                (*next).before = head;
            }
            (*list).first = head;
            (*list).bytes += weight(size);
        }
        block.add(HEAD).cast()
    }
}

/// Takes a block out of its list.
///
/// # Safety
/// A live block's head, on the thread of its parse.
unsafe fn unlink(head: *mut Head) {
    // SAFETY: by contract; neighbours and list of a block in a list are alive.
    unsafe {
        let Head { size, before, after, list } = head.read();
        if list.is_null() {
            return;
        }
        (*list).bytes -= weight(size);
        match before.is_null() {
            true => (*list).first = after,
            false => (*before).after = after,
        }
        if !after.is_null() {
            (*after).before = before;
        }
    }
}

/// As malloc, but never null.
#[unsafe(no_mangle)]
extern "C" fn zakuro_parser_malloc(size: usize) -> *mut c_void {
    job::parser_asks(size);
    // SAFETY: not of size zero.
    unsafe { begin(alloc(layout(size)), size) }
}

/// As calloc, but never null.
#[unsafe(no_mangle)]
extern "C" fn zakuro_parser_calloc(count: usize, size: usize) -> *mut c_void {
    let size = count.saturating_mul(size);
    job::parser_asks(size);
    // SAFETY: not of size zero.
    unsafe { begin(alloc_zeroed(layout(size)), size) }
}

/// As realloc, but never null.
///
/// # Safety
/// `block` is null or came from these functions, and is not used afterwards.
#[unsafe(no_mangle)]
unsafe extern "C" fn zakuro_parser_realloc(block: *mut c_void, size: usize) -> *mut c_void {
    if block.is_null() {
        return zakuro_parser_malloc(size);
    }
    job::parser_asks(size);
    // SAFETY: the head stands before the block; it leaves the list before it may move.
    unsafe {
        let start = block.cast::<u8>().sub(HEAD);
        let old = (*start.cast::<Head>()).size;
        unlink(start.cast());
        begin(realloc(start, layout(old), layout(size).size()), size)
    }
}

/// As free.
///
/// # Safety
/// As for `zakuro_parser_realloc`.
#[unsafe(no_mangle)]
unsafe extern "C" fn zakuro_parser_free(block: *mut c_void) {
    if !block.is_null() {
        // SAFETY: as above.
        unsafe {
            let start = block.cast::<u8>().sub(HEAD);
            unlink(start.cast());
            dealloc(start, layout((*start.cast::<Head>()).size));
        }
    }
}
