//! sqlite3's `sqlite3/sqlite3_native`, for versions 2.x: SQLite itself, compiled from source by libsqlite3-sys. How it is called stands in [`engine`].
//!
//! Nothing is process-wide that a program can change: no shared cache, no named databases in memory, no memory-mapped files (compiled out, `.cargo/config.toml`), pragmas that
//! set what is the process's are refused, and extensions (native code) are the main VM's to load. Relative paths are the VM's; those inside of SQL
//! (`ATTACH`) are the process's.

mod backup;
mod database;
mod engine;
mod ffi;
mod memory;
mod statement;
mod value;

use ffi::*;
use std::ffi::{CStr, CString, c_int};
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// Classes of exceptions by SQLite's codes, from 1.
const ERRORS: [&str; 26] = [
    "SQLException",
    "InternalException",
    "PermissionException",
    "AbortException",
    "BusyException",
    "LockedException",
    "MemoryException",
    "ReadOnlyException",
    "InterruptException",
    "IOException",
    "CorruptException",
    "NotFoundException",
    "FullException",
    "CantOpenException",
    "ProtocolException",
    "EmptyException",
    "SchemaChangedException",
    "TooBigException",
    "ConstraintException",
    "MismatchException",
    "MisuseException",
    "UnsupportedException",
    "AuthorizationException",
    "FormatException",
    "RangeException",
    "NotADatabaseException",
];

fn failure(cx: &mut Cx, status: c_int, message: &str) -> Result<Value> {
    let name = ERRORS.get((status & 0xff) as usize - 1).copied().unwrap_or("Exception");
    let class = cx.class_named(&format!("SQLite3::{name}"))?;
    let e = cx.exception(class, message);
    cx.ivar_set(e, Sym::intern("@code"), Value::fixnum(status as i64))?;
    Ok(e)
}

/// Raises what SQLite says of a status that is no success.
fn check(cx: &mut Cx, db: *mut sqlite3, status: c_int) -> Result<()> {
    if status & 0xff == SQLITE_OK {
        return Ok(());
    }
    let message = message(db);
    let e = failure(cx, status, &message)?;
    cx.raise_value(e)
}

/// The same with the statement that it is about.
fn check_sql(cx: &mut Cx, db: *mut sqlite3, status: c_int, sql: &[u8]) -> Result<()> {
    if status & 0xff == SQLITE_OK {
        return Ok(());
    }
    // SAFETY: a live connection.
    let (message, at) = unsafe { (message(db), sqlite3_error_offset(db)) };
    let e = failure(cx, status, &message)?;
    let sql = cx.str_bytes(sql, string::UTF8);
    cx.ivar_set(e, Sym::intern("@sql"), sql)?;
    cx.ivar_set(e, Sym::intern("@sql_offset"), Value::fixnum(at as i64))?;
    cx.raise_value(e)
}

fn message(db: *mut sqlite3) -> String {
    // SAFETY: a live connection, or NULL: a constant text then.
    unsafe { CStr::from_ptr(sqlite3_errmsg(db)).to_string_lossy().into_owned() }
}

fn closed<T>(cx: &mut Cx, what: &str) -> Result<T> {
    cx.raise_named("SQLite3::Exception", what)
}

/// A text that C reads.
fn c_string(cx: &mut Cx, v: Value) -> Result<CString> {
    let b = cx.to_str(v)?.to_vec();
    CString::new(b).or_else(|_| cx.arg_error("string contains null byte"))
}

/// Methods of `SQLite3`.
#[ruby_class(ids::OBJECT)]
mod native {
    use super::*;

    /// False: this SQLite does not encrypt.
    #[method("sqlcipher?", singleton)]
    fn is_sqlcipher(_this: Value) -> bool {
        false
    }
    /// The version of SQLite as number: 3045001.
    #[method("libversion", singleton)]
    fn libversion(_this: Value) -> i32 {
        // SAFETY: a constant.
        unsafe { sqlite3_libversion_number() }
    }
    /// 1 if threads may use connections side by side.
    #[method("threadsafe", singleton)]
    fn threadsafe(_this: Value) -> i32 {
        // SAFETY: a constant.
        unsafe { sqlite3_threadsafe() }
    }
    /// A figure of the process, {current:, highwater:}: for the main VM, others get zeros. Those about memory are not kept.
    #[method("status", singleton)]
    fn status(cx: &mut Cx, _this: Value, what: i64, reset: Option<Value>) -> Result<Value> {
        let reset = reset.is_some_and(|v| v.truthy());
        let (mut now, mut most) = (0, 0);
        if cx.owns_process() {
            // SAFETY: two live numbers.
            unsafe { sqlite3_status64(what.clamp(0, 1000) as c_int, &mut now, &mut most, reset.into()) };
        }
        let hash = cx.new_hash();
        for (name, n) in [("current", now), ("highwater", most)] {
            let n = cx.int(n);
            cx.hash_set(hash, Value::sym(Sym::intern(name)), n)?;
        }
        Ok(hash.as_value())
    }
}

/// `require "sqlite3/sqlite3_native"`
pub fn load(cx: &mut Cx) -> Result<()> {
    memory::prepare();
    // SAFETY: it may be called any number of times, by any thread.
    if unsafe { sqlite3_initialize() } != SQLITE_OK {
        return cx.raise(ids::LOAD_ERROR, "SQLite can't be initialized");
    }
    let module = cx.define_module(ids::OBJECT, "SQLite3");
    cx.define_class(module, "Blob", ids::STRING);
    cx.define_natives(module, &[native::METHODS]);
    for (name, table) in [("Database", database::METHODS), ("Statement", statement::METHODS), ("Backup", backup::METHODS)] {
        let class = cx.define_class(module, name, ids::OBJECT);
        cx.class_mut(class).alloc = Alloc::Data;
        cx.define_natives(class, &[table]);
    }
    let version = SQLITE_VERSION.to_string_lossy();
    for name in ["SQLITE_VERSION", "SQLITE_LOADED_VERSION"] {
        let v = cx.frozen_str(&version);
        cx.const_set(module, Sym::intern(name), v);
    }
    cx.const_set(module, Sym::intern("SQLITE_VERSION_NUMBER"), Value::fixnum(SQLITE_VERSION_NUMBER as i64));
    cx.const_set(module, Sym::intern("SQLITE_PACKAGED_LIBRARIES"), Value::TRUE);
    cx.const_set(module, Sym::intern("SQLITE_PRECOMPILED_LIBRARIES"), Value::FALSE);
    let constants = cx.define_module(module, "Constants");
    let open = cx.define_module(constants, "Open");
    for (name, n) in [
        ("READONLY", SQLITE_OPEN_READONLY),
        ("READWRITE", SQLITE_OPEN_READWRITE),
        ("CREATE", SQLITE_OPEN_CREATE),
        ("DELETEONCLOSE", SQLITE_OPEN_DELETEONCLOSE),
        ("EXCLUSIVE", SQLITE_OPEN_EXCLUSIVE),
        ("MAIN_DB", SQLITE_OPEN_MAIN_DB),
        ("TEMP_DB", SQLITE_OPEN_TEMP_DB),
        ("TRANSIENT_DB", SQLITE_OPEN_TRANSIENT_DB),
        ("MAIN_JOURNAL", SQLITE_OPEN_MAIN_JOURNAL),
        ("TEMP_JOURNAL", SQLITE_OPEN_TEMP_JOURNAL),
        ("SUBJOURNAL", SQLITE_OPEN_SUBJOURNAL),
        ("MASTER_JOURNAL", SQLITE_OPEN_SUPER_JOURNAL),
        ("SUPER_JOURNAL", SQLITE_OPEN_SUPER_JOURNAL),
        ("NOMUTEX", SQLITE_OPEN_NOMUTEX),
        ("FULLMUTEX", SQLITE_OPEN_FULLMUTEX),
        ("AUTOPROXY", SQLITE_OPEN_AUTOPROXY),
        ("SHAREDCACHE", SQLITE_OPEN_SHAREDCACHE),
        ("PRIVATECACHE", SQLITE_OPEN_PRIVATECACHE),
        ("WAL", SQLITE_OPEN_WAL),
        ("URI", SQLITE_OPEN_URI),
        ("MEMORY", SQLITE_OPEN_MEMORY),
    ] {
        cx.const_set(open, Sym::intern(name), Value::fixnum(n as i64));
    }
    Ok(())
}
