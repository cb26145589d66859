//! SQLite's malloc: pages, rows and statements count for the VM that they are kept for ([`foreign_memory`]).

use super::ffi::{SQLITE_CONFIG_MALLOC, SQLITE_OK, sqlite3_config, sqlite3_mem_methods};
use std::ffi::{c_int, c_void};
use std::sync::Once;
use zakuro_vm::foreign_memory;

type P = *mut c_void;

// SQLite asks for no more than an int holds, never for nothing, and gives back what it got here.

unsafe extern "C" fn malloc(size: c_int) -> P {
    foreign_memory::allocate(size as usize).cast()
}
unsafe extern "C" fn realloc(p: P, size: c_int) -> P {
    // SAFETY: see above.
    unsafe { foreign_memory::reallocate(p.cast(), size as usize).cast() }
}
unsafe extern "C" fn free(p: P) {
    // SAFETY: see above.
    unsafe { foreign_memory::release(p.cast()) }
}
unsafe extern "C" fn size(p: P) -> c_int {
    // SAFETY: see above.
    if p.is_null() { 0 } else { unsafe { foreign_memory::size_of_block(p.cast()) as c_int } }
}
unsafe extern "C" fn rounded(size: c_int) -> c_int {
    size.saturating_add(7) & !7
}
unsafe extern "C" fn init(_: P) -> c_int {
    SQLITE_OK
}
unsafe extern "C" fn shutdown(_: P) {}

/// Before SQLite is first used in the process.
pub fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let methods = sqlite3_mem_methods {
            xMalloc: Some(malloc),
            xFree: Some(free),
            xRealloc: Some(realloc),
            xSize: Some(size),
            xRoundup: Some(rounded),
            xInit: Some(init),
            xShutdown: Some(shutdown),
            pAppData: std::ptr::null_mut(),
        };
        // SAFETY: SQLite copies the table; nothing of it has been used yet.
        unsafe { sqlite3_config(SQLITE_CONFIG_MALLOC, &raw const methods) };
    });
}
