//! OpenSSL's malloc: what it keeps counts for the VM that it is kept for ([`foreign_memory`]).

use crate::sys::{CRYPTO_set_mem_functions, P};
use std::ffi::{c_char, c_int};
use std::sync::Once;
use zakuro_vm::foreign_memory;

type Place = *const c_char;

extern "C" fn malloc(size: usize, _file: Place, _line: c_int) -> P {
    // As OpenSSL's own: nothing for nothing.
    if size == 0 { std::ptr::null_mut() } else { foreign_memory::allocate(size).cast() }
}

extern "C" fn realloc(p: P, size: usize, file: Place, line: c_int) -> P {
    if size == 0 {
        free(p, file, line);
        return std::ptr::null_mut();
    }
    // SAFETY: OpenSSL gives back what it got here.
    unsafe { foreign_memory::reallocate(p.cast(), size).cast() }
}

extern "C" fn free(p: P, _file: Place, _line: c_int) {
    // SAFETY: as above.
    unsafe { foreign_memory::release(p.cast()) }
}

/// Before OpenSSL is first used in the process: it refuses once it has memory of its own, which changes nothing.
pub fn prepare() {
    static ONCE: Once = Once::new();
    // SAFETY: three functions that live as long as the process.
    ONCE.call_once(|| _ = unsafe { CRYPTO_set_mem_functions(malloc, realloc, free) });
}
