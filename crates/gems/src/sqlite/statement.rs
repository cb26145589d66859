//! SQLite3::Statement: a statement that was compiled, its values and its rows.

use super::engine::{self, Shared};
use super::ffi::*;
use super::{check, check_sql, closed, database, value};
use std::ffi::{CStr, CString, c_int};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

/// Payload of a SQLite3::Statement.
#[derive(Trace)]
struct Statement {
    #[untraced]
    p: *mut sqlite3_stmt,
    #[untraced]
    shared: Arc<Shared>,
    database: Value,
    done: bool,
}
// SAFETY: as `Shared`: one VM's, one thread at a time.
unsafe impl Send for Statement {}
impl NativeData for Statement {}
impl Drop for Statement {
    fn drop(&mut self) {
        self.shared.finalize(self.p);
    }
}

/// What a statement may be asked for.
fn live(cx: &mut Cx, this: Value) -> Result<(*mut sqlite3_stmt, Value)> {
    if !cx.is_data::<Statement>(this) {
        return closed(cx, "cannot use a closed statement");
    }
    let s = cx.data_ref::<Statement>(this)?;
    let (p, db, discarded) = (s.p, s.database, s.shared.discarded.get());
    if discarded {
        return closed(cx, "cannot use a statement associated with a discarded database");
    }
    if p.is_null() {
        return closed(cx, "cannot use a closed statement");
    }
    Ok((p, db))
}

/// Compiles the first statement of a text; the statement (NULL: there was none), and where the next one begins.
pub fn compile(cx: &mut Cx, db: Value, sql: &[u8]) -> Result<(*mut sqlite3_stmt, usize)> {
    let connection = database::open(cx, db)?;
    database::shared(cx, db)?.deadline.set(None);
    let n = sql.iter().position(|b| *b == 0).unwrap_or(sql.len());
    let Ok(text) = CString::new(&sql[..n]) else { return cx.arg_error("string contains null byte") };
    // On the heap: the call may outlive this frame.
    let found = Arc::new(Found::default());
    let place = found.clone();
    let status = engine::call(cx, db, None, move || {
        let (mut p, mut tail) = (std::ptr::null_mut(), std::ptr::null());
        // SAFETY: a live connection; the text ends with NUL and lives as long as the call.
        let status = unsafe { sqlite3_prepare_v2(connection, text.as_ptr(), -1, &mut p, &mut tail) };
        place.p.store(p, Relaxed);
        place.tail.store(if tail.is_null() { 0 } else { tail as usize - text.as_ptr() as usize }, Relaxed);
        status
    })?;
    check_sql(cx, connection, status, sql)?;
    Ok((found.p.load(Relaxed), found.tail.load(Relaxed)))
}
/// The call goes along with its VM from native thread to native thread: atomics, of which one thread at a time knows.
#[derive(Default)]
struct Found {
    p: AtomicPtr<sqlite3_stmt>,
    tail: AtomicUsize,
}

/// One call of a statement that may run the program's code.
fn run(cx: &mut Cx, db: Value, p: *mut sqlite3_stmt, f: unsafe extern "C" fn(*mut sqlite3_stmt) -> c_int) -> Result<c_int> {
    // SAFETY: a live statement, which its payload frees only when no call is under way.
    engine::call(cx, db, None, move || unsafe { f(p) })
}

fn column(cx: &mut Cx, p: *mut sqlite3_stmt, i: c_int) -> Result<Value> {
    // SAFETY: a live statement; texts are copied before anything else runs.
    unsafe {
        Ok(match sqlite3_column_type(p, i) {
            SQLITE_INTEGER => cx.int(sqlite3_column_int64(p, i)),
            SQLITE_FLOAT => cx.float(sqlite3_column_double(p, i)),
            SQLITE_TEXT => {
                let text = sqlite3_column_text(p, i);
                let b = value::bytes(text, sqlite3_column_bytes(p, i));
                if !cx.heap.admits(b.len()) {
                    return cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory");
                }
                cx.str_bytes(b, string::UTF8)
            }
            SQLITE_BLOB => {
                let blob = sqlite3_column_blob(p, i);
                let b = value::bytes(blob.cast(), sqlite3_column_bytes(p, i));
                if !cx.heap.admits(b.len()) {
                    return cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory");
                }
                crate::binary(cx, b)
            }
            _ => Value::NIL,
        })
    }
}

/// A text that the same statement always has: one String for all.
fn interned(cx: &mut Cx, text: *const std::ffi::c_char) -> Result<Value> {
    if text.is_null() {
        return Ok(Value::NIL);
    }
    // SAFETY: ends with NUL; copied.
    let v = cx.str_bytes(unsafe { CStr::from_ptr(text) }.to_bytes(), string::UTF8);
    cx.call(v, Sym::intern("-@"), &[])
}

const STATS: [(&str, c_int); 8] = [
    ("fullscan_steps", 1),
    ("sorts", 2),
    ("autoindexes", 3),
    ("vm_steps", 4),
    ("reprepares", 5),
    ("runs", 6),
    ("filter_misses", 7),
    ("filter_hits", 8),
];

/// Methods of `SQLite3::Statement`.
#[ruby_class(ids::OBJECT)]
mod native {
    use super::*;

    /// Compiles the first statement; the rest of the text.
    #[method("prepare", private)]
    fn prepare(cx: &mut Cx, this: Value, db: Value, sql: Ref<StringCell>) -> Result<Value> {
        let sql = sql.to_vec();
        let (p, tail) = compile(cx, db, &sql)?;
        let shared = database::shared(cx, db)?;
        if cx.is_data::<Statement>(this) {
            shared.finalize(p);
            return closed(cx, "the statement was prepared before");
        }
        cx.data_init(this, Statement { p, shared, database: db, done: false })?;
        let end = sql.iter().position(|b| *b == 0).unwrap_or(sql.len());
        Ok(cx.str_bytes(&sql[tail.min(end)..end], string::UTF8))
    }
    /// Closes the statement.
    #[method("close")]
    fn close(cx: &mut Cx, this: Value) -> Result<Value> {
        if !cx.is_data::<Statement>(this) || cx.data_ref::<Statement>(this)?.p.is_null() {
            return closed(cx, "cannot use a closed statement");
        }
        let s = cx.data_mut::<Statement>(this)?;
        let (p, shared, db) = (s.p, s.shared.clone(), s.database);
        s.p = std::ptr::null_mut();
        if shared.discarded.get() || shared.is_in_use() {
            shared.finalize(p);
        } else {
            run(cx, db, p, sqlite3_finalize)?;
        }
        Ok(this)
    }
    /// Whether the statement is closed.
    #[method("closed?")]
    fn is_closed(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(!cx.is_data::<Statement>(this) || cx.data_ref::<Statement>(this)?.p.is_null())
    }
    /// The next row, frozen; nil after the last.
    #[method("step")]
    fn step(cx: &mut Cx, this: Value) -> Result<Value> {
        let (p, db) = live(cx, this)?;
        if cx.data_ref::<Statement>(this)?.done {
            return Ok(Value::NIL);
        }
        match run(cx, db, p, sqlite3_step)? {
            SQLITE_ROW => {}
            SQLITE_DONE => {
                cx.data_mut::<Statement>(this)?.done = true;
                return Ok(Value::NIL);
            }
            status => {
                // SAFETY: a live statement. The message stays: resetting tells the same error again.
                let connection = unsafe { sqlite3_db_handle(p) };
                let message = super::super::message(connection);
                run(cx, db, p, sqlite3_reset)?;
                cx.data_mut::<Statement>(this)?.done = false;
                let e = super::super::failure(cx, status, &message)?;
                return cx.raise_value(e);
            }
        }
        let class = cx.class_value(ids::ENCODING);
        let internal = cx.call(class, Sym::intern("default_internal"), &[])?;
        let list = cx.new_array();
        // SAFETY: a live statement.
        for i in 0..unsafe { sqlite3_column_count(p) } {
            let mut v = column(cx, p, i)?;
            if let Some(s) = Ref::<StringCell>::from_value(v) {
                if !internal.is_nil() && s.encoding() == string::UTF8 {
                    v = cx.call(v, Sym::intern("encode"), &[internal])?;
                }
                value::frozen(v);
            }
            ArrayCell::push(list, &mut cx.heap, v);
        }
        Ok(value::frozen(list.as_value()))
    }
    /// Whether there are no more rows.
    #[method("done?")]
    fn is_done(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(cx.is_data::<Statement>(this) && cx.data_ref::<Statement>(this)?.done)
    }
    /// Begins anew, with the same bindings.
    #[method("reset!")]
    fn reset(cx: &mut Cx, this: Value) -> Result<Value> {
        let (p, db) = live(cx, this)?;
        run(cx, db, p, sqlite3_reset)?;
        cx.data_mut::<Statement>(this)?.done = false;
        Ok(this)
    }
    /// Sets all parameters to NULL.
    #[method("clear_bindings!")]
    fn clear_bindings(cx: &mut Cx, this: Value) -> Result<Value> {
        let (p, _) = live(cx, this)?;
        // SAFETY: a live statement.
        unsafe { sqlite3_clear_bindings(p) };
        cx.data_mut::<Statement>(this)?.done = false;
        Ok(this)
    }
    /// Binds a value to a parameter, by its number or name.
    #[method("bind_param")]
    fn bind_param(cx: &mut Cx, this: Value, key: Value, value: Value) -> Result<Value> {
        live(cx, this)?;
        let name = match (key.as_sym(), Ref::<StringCell>::from_value(key)) {
            (Some(name), _) => Some(name.bytes().to_vec()),
            (_, Some(s)) => Some(s.to_vec()),
            _ => None,
        };
        let at = match name {
            Some(mut name) => {
                if name.first() != Some(&b':') {
                    name.insert(0, b':');
                }
                name.truncate(name.iter().position(|b| *b == 0).unwrap_or(name.len()));
                let name = CString::new(name).unwrap_or_default();
                let (p, _) = live(cx, this)?;
                // SAFETY: a live statement, a text that ends with NUL.
                unsafe { sqlite3_bind_parameter_index(p, name.as_ptr()) }
            }
            None => cx.to_i64(key)? as c_int,
        };
        if at == 0 {
            return closed(cx, "no such bind parameter");
        }
        let mut value = value;
        let (mut blob, mut wide) = (false, false);
        if let Some(s) = Ref::<StringCell>::from_value(value) {
            blob = value::is_blob(cx, s);
            if !(blob || s.encoding() == string::UTF8 || s.encoding() == string::US_ASCII) {
                let encoding = cx.call(value, Sym::intern("encoding"), &[])?;
                wide = cx.to_s_text(encoding)? == "UTF-16LE" && cfg!(target_endian = "little");
                if !wide {
                    let utf8 = cx.str("UTF-8");
                    value = cx.call(value, Sym::intern("encode"), &[utf8])?;
                }
            }
        }
        let number = value::integer(cx, value);
        let double = if number.is_none() && (cx.is_integer(value) || value.as_float().is_some()) { Some(cx.to_f64(value)?) } else { None };
        let (p, _) = live(cx, this)?;
        // SAFETY: a live statement; texts are copied.
        let status = unsafe {
            if value.is_nil() {
                sqlite3_bind_null(p, at)
            } else if let Some(n) = number {
                sqlite3_bind_int64(p, at, n)
            } else if let Some(d) = double {
                sqlite3_bind_double(p, at, d)
            } else if let Some(s) = Ref::<StringCell>::from_value(value) {
                let b = s.content(&cx.heap);
                let Ok(n) = c_int::try_from(b.len()) else { return cx.range_error("string too long to bind") };
                match (blob, wide) {
                    (true, _) => sqlite3_bind_blob(p, at, b.as_ptr().cast(), n, SQLITE_TRANSIENT()),
                    (_, true) => sqlite3_bind_text16(p, at, b.as_ptr().cast(), n, SQLITE_TRANSIENT()),
                    _ => sqlite3_bind_text(p, at, b.as_ptr().cast(), n, SQLITE_TRANSIENT()),
                }
            } else {
                let class = cx.class_name_of(value);
                return cx.raise(ids::RUNTIME_ERROR, format!("can't prepare {class}"));
            }
        };
        // SAFETY: a live statement.
        let connection = unsafe { sqlite3_db_handle(p) };
        check(cx, connection, status)?;
        Ok(this)
    }
    /// The number of columns.
    #[method("column_count")]
    fn column_count(cx: &mut Cx, this: Value) -> Result<i64> {
        let (p, _) = live(cx, this)?;
        // SAFETY: a live statement.
        Ok(unsafe { sqlite3_column_count(p) } as i64)
    }
    /// The name of a column by its place.
    #[method("column_name")]
    fn column_name(cx: &mut Cx, this: Value, at: i64) -> Result<Value> {
        let (p, _) = live(cx, this)?;
        // SAFETY: as above; SQLite looks at the number.
        interned(cx, unsafe { sqlite3_column_name(p, at as c_int) })
    }
    /// The type that a column was declared with, or nil.
    #[method("column_decltype")]
    fn column_decltype(cx: &mut Cx, this: Value, at: i64) -> Result<Value> {
        let (p, _) = live(cx, this)?;
        // SAFETY: as above.
        unsafe {
            let text = sqlite3_column_decltype(p, at as c_int);
            Ok(if text.is_null() { Value::NIL } else { crate::binary(cx, CStr::from_ptr(text).to_bytes()) })
        }
    }
    /// The database that a column is from, or nil.
    #[method("database_name")]
    fn database_name(cx: &mut Cx, this: Value, at: i64) -> Result<Value> {
        let (p, _) = live(cx, this)?;
        // SAFETY: as above.
        unsafe {
            let text = sqlite3_column_database_name(p, at as c_int);
            Ok(if text.is_null() { Value::NIL } else { cx.str_bytes(CStr::from_ptr(text).to_bytes(), string::UTF8) })
        }
    }
    /// The number of parameters.
    #[method("bind_parameter_count")]
    fn bind_parameter_count(cx: &mut Cx, this: Value) -> Result<i64> {
        let (p, _) = live(cx, this)?;
        // SAFETY: as above.
        Ok(unsafe { sqlite3_bind_parameter_count(p) } as i64)
    }
    /// Names of the parameters that have one, without what stands before it.
    #[method("named_params")]
    fn named_params(cx: &mut Cx, this: Value) -> Result<Value> {
        let (p, _) = live(cx, this)?;
        let list = cx.new_array();
        // SAFETY: as above.
        for i in 1..=unsafe { sqlite3_bind_parameter_count(p) } {
            // SAFETY: as above; a text or NULL, at least one character long.
            unsafe {
                let name = sqlite3_bind_parameter_name(p, i);
                if !name.is_null() && *name as u8 != b'?' && *name != 0 {
                    let name = interned(cx, name.add(1))?;
                    ArrayCell::push(list, &mut cx.heap, name);
                }
            }
        }
        Ok(value::frozen(list.as_value()))
    }
    /// The text of the statement.
    #[method("sql")]
    fn sql(cx: &mut Cx, this: Value) -> Result<Value> {
        let (p, _) = live(cx, this)?;
        // SAFETY: as above.
        let text = unsafe { sqlite3_sql(p) };
        if text.is_null() {
            return Ok(Value::NIL);
        }
        // SAFETY: ends with NUL; copied.
        Ok(value::frozen(cx.str_bytes(unsafe { CStr::from_ptr(text) }.to_bytes(), string::UTF8)))
    }
    /// The text of the statement with the values of its parameters.
    #[method("expanded_sql")]
    fn expanded_sql(cx: &mut Cx, this: Value) -> Result<Value> {
        let (p, _) = live(cx, this)?;
        // SAFETY: as above.
        let text = unsafe { engine::expanded(p) }.unwrap_or_default();
        Ok(value::frozen(cx.str_bytes(&text, string::UTF8)))
    }
    /// The bytes that the statement takes.
    #[method("memused")]
    fn memused(cx: &mut Cx, this: Value) -> Result<i64> {
        let (p, _) = live(cx, this)?;
        // SAFETY: as above.
        Ok(unsafe { sqlite3_stmt_status(p, 99, 0) } as i64)
    }
    #[method("stats_as_hash", private)]
    fn stats_as_hash(cx: &mut Cx, this: Value) -> Result<Value> {
        let (p, _) = live(cx, this)?;
        let hash = cx.new_hash();
        for (name, number) in STATS {
            // SAFETY: as above.
            let n = cx.int(unsafe { sqlite3_stmt_status(p, number, 0) } as i64);
            cx.hash_set(hash, Value::sym(Sym::intern(name)), n)?;
        }
        Ok(hash.as_value())
    }
    #[method("stat_for", private)]
    fn stat_for(cx: &mut Cx, this: Value, key: Value) -> Result<i64> {
        let (p, _) = live(cx, this)?;
        let Some(name) = key.as_sym() else { return cx.type_error("non-symbol given") };
        match STATS.iter().find(|s| s.0 == &*name.name()) {
            // SAFETY: as above.
            Some((_, number)) => Ok(unsafe { sqlite3_stmt_status(p, *number, 0) } as i64),
            None => cx.arg_error(format!("unknown key: {}", &*name.name())),
        }
    }
}
pub(super) use native::METHODS;
