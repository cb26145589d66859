//! The parser's malloc: Rust's global allocator.
//!
//! Goal: prism ends the process when malloc gives null. Its requests go where those of Rust code go, so that a refused one ends the VM that has something
//! compiled, at worst (`zakuro_runtime::allocator`). `include/prism_xallocator.h` names these functions; `.cargo/config.toml` has prism built with it.
//!
//! Invariants: a block starts [`HEAD`] bytes after what the allocator gave, where its size stands.
//! Rejected: asking beforehand whether malloc has what a source will need (another thread may take it meanwhile).

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, handle_alloc_error, realloc};
use std::ffi::c_void;

/// Keeps blocks aligned for whatever C stores in them.
const HEAD: usize = 16;

fn layout(size: usize) -> Layout {
    let whole = size.checked_add(HEAD).and_then(|whole| Layout::from_size_align(whole, HEAD).ok());
    whole.unwrap_or_else(|| handle_alloc_error(Layout::new::<u8>()))
}

/// # Safety
/// `block` is what the allocator gave for `layout(size)`.
unsafe fn begin(block: *mut u8, size: usize) -> *mut c_void {
    if block.is_null() {
        handle_alloc_error(layout(size));
    }
    // SAFETY: there is room for the head before the block's content.
    unsafe {
        block.cast::<usize>().write(size);
        block.add(HEAD).cast()
    }
}

/// As malloc, but never null.
#[unsafe(no_mangle)]
extern "C" fn zakuro_parser_malloc(size: usize) -> *mut c_void {
    // SAFETY: not of size zero.
    unsafe { begin(alloc(layout(size)), size) }
}

/// As calloc, but never null.
#[unsafe(no_mangle)]
extern "C" fn zakuro_parser_calloc(count: usize, size: usize) -> *mut c_void {
    let size = count.saturating_mul(size);
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
    // SAFETY: the head before the block holds its size.
    unsafe {
        let start = block.cast::<u8>().sub(HEAD);
        let old = layout(start.cast::<usize>().read());
        begin(realloc(start, old, layout(size).size()), size)
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
            dealloc(start, layout(start.cast::<usize>().read()));
        }
    }
}
