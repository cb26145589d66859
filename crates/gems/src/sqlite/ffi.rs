//! What is used of libsqlite3-sys, and what its bindings leave out.

pub use libsqlite3_sys::*;
use std::ffi::{c_char, c_int, c_void};

unsafe extern "C" {
    pub fn sqlite3_close_v2(db: *mut sqlite3) -> c_int;
    pub fn sqlite3_bind_text16(
        statement: *mut sqlite3_stmt,
        at: c_int,
        text: *const c_void,
        bytes: c_int,
        free: Option<unsafe extern "C" fn(*mut c_void)>,
    ) -> c_int;
    /// There because the bundled library is compiled with SQLITE_ENABLE_COLUMN_METADATA.
    pub fn sqlite3_column_database_name(statement: *mut sqlite3_stmt, at: c_int) -> *const c_char;
}
