//! SQLite3::Database: a connection and the Ruby objects that it calls.

use super::engine::{self, Callback, Shared};
use super::ffi::*;
use super::{c_string, check, closed};
use std::ffi::{CStr, CString, c_int};
use std::sync::Arc;
use zakuro_core_system::process::{descriptors, owner};
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

/// Payload of a SQLite3::Database.
#[derive(Trace)]
struct Database {
    #[untraced]
    shared: Arc<Shared>,
    /// Functions, classes of aggregates, collations: by the number that SQLite knows.
    callbacks: TracedVec,
    /// Aggregates under way; nil: a free place.
    instances: TracedVec,
    busy: Value,
    trace: Value,
    authorizer: Value,
}
impl NativeData for Database {}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Handler {
    Busy,
    Trace,
    Authorizer,
}

fn database(cx: &mut Cx, v: Value) -> Result<&mut Database> {
    if !cx.is_data::<Database>(v) {
        return closed(cx, "cannot use a closed database");
    }
    cx.data_mut::<Database>(v)
}

pub fn shared(cx: &mut Cx, v: Value) -> Result<Arc<Shared>> {
    Ok(database(cx, v)?.shared.clone())
}

/// The connection. SQLite3::Exception when it is closed.
pub fn open(cx: &mut Cx, v: Value) -> Result<*mut sqlite3> {
    let db = database(cx, v)?.shared.db.get();
    if db.is_null() { closed(cx, "cannot use a closed database") } else { Ok(db) }
}

pub fn handler(cx: &mut Cx, v: Value, which: Handler) -> Result<Value> {
    let d = database(cx, v)?;
    Ok(match which {
        Handler::Busy => d.busy,
        Handler::Trace => d.trace,
        Handler::Authorizer => d.authorizer,
    })
}

pub fn callback(cx: &mut Cx, v: Value, number: usize) -> Result<Value> {
    Ok(database(cx, v)?.callbacks.get(number).copied().unwrap_or(Value::NIL))
}

/// Keeps the handler of an aggregate; its number, from 1.
pub fn keep_instance(cx: &mut Cx, v: Value, instance: Value) -> Result<u64> {
    let list = &mut database(cx, v)?.instances;
    Ok(1 + match list.iter().position(|i| i.is_nil()) {
        Some(at) => {
            list[at] = instance;
            at
        }
        None => {
            list.push(instance);
            list.len() - 1
        }
    } as u64)
}

pub fn kept_instance(cx: &mut Cx, v: Value, number: u64) -> Result<Value> {
    Ok(database(cx, v)?.instances.get(number as usize - 1).copied().unwrap_or(Value::NIL))
}

pub fn forget_instance(cx: &mut Cx, v: Value, instance: Value) -> Result<()> {
    for place in database(cx, v)?.instances.iter_mut() {
        if *place == instance {
            *place = Value::NIL;
        }
    }
    Ok(())
}

/// The number of a Ruby object that SQLite will call.
fn registered(cx: &mut Cx, this: Value, object: Value) -> Result<*mut Callback> {
    let d = database(cx, this)?;
    let number = match d.callbacks.iter().position(|c| c.is_nil()) {
        Some(free) => {
            d.callbacks[free] = object;
            free
        }
        None => {
            d.callbacks.push(object);
            d.callbacks.len() - 1
        }
    };
    Ok(Box::into_raw(Box::new(Callback { shared: Arc::as_ptr(&d.shared), number })))
}

/// Lets go of what was replaced.
fn release(cx: &mut Cx, this: Value) -> Result<()> {
    let d = database(cx, this)?;
    for number in d.shared.released() {
        if let Some(place) = d.callbacks.get_mut(number) {
            *place = Value::NIL;
        }
    }
    Ok(())
}

/// A block or the argument, nil without either.
fn given(cx: &mut Cx, argument: Option<Value>, block: Block) -> Value {
    match argument {
        Some(v) if !v.is_nil() => v,
        _ => cx.block_value(block),
    }
}

/// A file's name as SQLite gets it: absolute, since the working directory is the VM's. `file:` begins a URI.
fn path(cx: &mut Cx, file: Value) -> Result<CString> {
    let name = c_string(cx, file)?;
    let b = name.as_bytes();
    if b.is_empty() || b == b":memory:" || b.starts_with(b"/") || b.starts_with(b"file:/") || b.starts_with(b"file::memory:") {
        return Ok(name);
    }
    let (prefix, rest) = match b.strip_prefix(b"file:") {
        Some(rest) => (&b"file:"[..], rest),
        None => (&b""[..], b),
    };
    let end = if prefix.is_empty() { rest.len() } else { rest.iter().position(|c| matches!(c, b'?' | b'#')).unwrap_or(rest.len()) };
    if end == 0 {
        return Ok(name);
    }
    let directory = cx.class_value(ids::DIR);
    let directory = cx.call(directory, Sym::intern("pwd"), &[])?;
    let directory = cx.to_str(directory)?.to_vec();
    let mut full = prefix.to_vec();
    for c in directory {
        match c {
            b'?' | b'#' | b'%' if !prefix.is_empty() => full.extend_from_slice(format!("%{c:02x}").as_bytes()),
            c => full.push(c),
        }
    }
    full.push(b'/');
    full.extend_from_slice(rest);
    CString::new(full).or_else(|_| cx.arg_error("string contains null byte"))
}

fn connect(cx: &mut Cx, this: Value, file: Value, mode: c_int, vfs: Option<CString>) -> Result<()> {
    if cx.is_data::<Database>(this) && !database(cx, this)?.shared.db.get().is_null() {
        return closed(cx, "cannot open a database that is already open");
    }
    let file = path(cx, file)?;
    descriptors::admit(cx, 1)?;
    let shared = Shared::new();
    let d = Database {
        shared: shared.clone(),
        callbacks: TracedVec::new(),
        instances: TracedVec::new(),
        busy: Value::NIL,
        trace: Value::NIL,
        authorizer: Value::NIL,
    };
    cx.data_init(this, d)?;
    let mode = mode & !(SQLITE_OPEN_SHAREDCACHE | SQLITE_OPEN_FULLMUTEX) | SQLITE_OPEN_NOMUTEX;
    shared.readonly.set(mode & SQLITE_OPEN_READONLY != 0);
    let place = shared.clone();
    let status = engine::call(cx, this, None, move || {
        let mut db = std::ptr::null_mut();
        let vfs = vfs.as_ref().map_or(std::ptr::null(), |v| v.as_ptr());
        // SAFETY: texts that end with NUL, and a place for the connection.
        let status = unsafe { sqlite3_open_v2(file.as_ptr(), &mut db, mode, vfs) };
        place.db.set(db);
        status
    })?;
    let db = shared.db.get();
    if status != SQLITE_OK {
        let message = super::message(db);
        shared.close();
        let e = super::failure(cx, status, &message)?;
        return cx.raise_value(e);
    }
    let largest = cx.heap.room() / 2;
    // SAFETY: a new connection and its own `Shared`.
    unsafe { engine::install(&shared, db, largest) };
    Ok(())
}

/// Runs statements to their ends.
fn execute(cx: &mut Cx, this: Value, sql: &'static CStr) -> Result<c_int> {
    let db = open(cx, this)?;
    // SAFETY: a live connection, a constant text.
    engine::call(cx, this, None, move || unsafe { sqlite3_exec(db, sql.as_ptr(), None, std::ptr::null_mut(), std::ptr::null_mut()) })
}

/// Methods of `SQLite3::Database`.
#[ruby_class(ids::OBJECT)]
mod native {
    use super::*;

    #[method("open_v2", private)]
    fn open_v2(cx: &mut Cx, this: Value, file: Value, mode: i64, vfs: Value) -> Result<Value> {
        let vfs = if vfs.is_nil() { None } else { Some(c_string(cx, vfs)?) };
        connect(cx, this, file, mode as c_int, vfs)?;
        Ok(this)
    }
    /// For a name in UTF-16: a new database has that encoding.
    #[method("open16", private)]
    fn open16(cx: &mut Cx, this: Value, file: Value) -> Result<i64> {
        let mut name = cx.to_str(file)?.as_value();
        let wide = {
            let e = cx.call(name, Sym::intern("encoding"), &[])?;
            cx.to_s_text(e)?.starts_with("UTF-16")
        };
        if !wide {
            let e = cx.str("UTF-16LE");
            name = cx.call(name, Sym::intern("dup"), &[])?;
            name = cx.call(name, Sym::intern("force_encoding"), &[e])?;
        }
        let utf8 = cx.str("UTF-8");
        let name = cx.call(name, Sym::intern("encode"), &[utf8])?;
        if cx.to_str(name)?.content(&cx.heap).contains(&0) {
            return cx.arg_error("string contains null char");
        }
        connect(cx, this, name, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, None)?;
        execute(cx, this, c"PRAGMA encoding = 'UTF-16'")?;
        Ok(0)
    }
    #[method("disable_quirk_mode", private)]
    fn disable_quirk_mode(cx: &mut Cx, this: Value) -> Result<bool> {
        let db = database(cx, this)?.shared.db.get();
        if db.is_null() {
            return Ok(false);
        }
        // SAFETY: a live connection; no place for the answer.
        unsafe {
            sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0 as c_int, std::ptr::null_mut::<c_int>());
            sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0 as c_int, std::ptr::null_mut::<c_int>());
        }
        Ok(true)
    }
    /// Closes the connection; BusyException if it is in use.
    #[method("close")]
    fn close(cx: &mut Cx, this: Value) -> Result<Value> {
        if !cx.is_data::<Database>(this) {
            return Ok(this);
        }
        let shared = shared(cx, this)?;
        if shared.is_in_use() {
            return cx.raise_named("SQLite3::BusyException", "the connection is in use");
        }
        shared.counted.set(0);
        shared.close();
        Ok(this)
    }
    #[method("discard", private)]
    fn discard(cx: &mut Cx, this: Value) -> Result<Value> {
        shared(cx, this)?.discard();
        Ok(this)
    }
    /// Whether the connection is closed.
    #[method("closed?")]
    fn is_closed(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(!cx.is_data::<Database>(this) || database(cx, this)?.shared.db.get().is_null())
    }
    /// The rows that were changed since the connection was opened.
    #[method("total_changes")]
    fn total_changes(cx: &mut Cx, this: Value) -> Result<i64> {
        let db = open(cx, this)?;
        // SAFETY: a live connection.
        Ok(unsafe { sqlite3_total_changes(db) } as i64)
    }
    /// The rows that the last statement changed.
    #[method("changes")]
    fn changes(cx: &mut Cx, this: Value) -> Result<i64> {
        let db = open(cx, this)?;
        // SAFETY: as above.
        Ok(unsafe { sqlite3_changes(db) } as i64)
    }
    /// The number of the row that was inserted last.
    #[method("last_insert_row_id")]
    fn last_insert_row_id(cx: &mut Cx, this: Value) -> Result<i64> {
        let db = open(cx, this)?;
        // SAFETY: as above.
        Ok(unsafe { sqlite3_last_insert_rowid(db) })
    }
    /// Whether a transaction is open.
    #[method("transaction_active?")]
    fn is_in_transaction(cx: &mut Cx, this: Value) -> Result<bool> {
        let db = open(cx, this)?;
        // SAFETY: as above.
        Ok(unsafe { sqlite3_get_autocommit(db) } == 0)
    }
    /// Ends the statement that runs, by an InterruptException.
    #[method("interrupt")]
    fn interrupt(cx: &mut Cx, this: Value) -> Result<Value> {
        let db = open(cx, this)?;
        // SAFETY: as above.
        unsafe { sqlite3_interrupt(db) };
        Ok(this)
    }
    /// The text of the last error.
    #[method("errmsg")]
    fn errmsg(cx: &mut Cx, this: Value) -> Result<Value> {
        let db = open(cx, this)?;
        let message = super::super::message(db);
        Ok(crate::binary(cx, message.as_bytes()))
    }
    /// The number of the last error.
    #[method("errcode")]
    fn errcode(cx: &mut Cx, this: Value) -> Result<i64> {
        let db = open(cx, this)?;
        // SAFETY: as above.
        Ok(unsafe { sqlite3_errcode(db) } as i64)
    }
    /// Whether a text ends with a whole statement.
    #[method("complete?")]
    fn is_complete(cx: &mut Cx, _this: Value, sql: Value) -> Result<bool> {
        let sql = cx.to_str(sql)?.to_vec();
        let end = sql.iter().position(|b| *b == 0).unwrap_or(sql.len());
        let sql = CString::new(&sql[..end]).unwrap_or_default();
        // SAFETY: ends with NUL.
        Ok(unsafe { sqlite3_complete(sql.as_ptr()) } != 0)
    }
    /// Sets whether errors have their longer numbers.
    #[method("extended_result_codes=")]
    fn set_extended(cx: &mut Cx, this: Value, on: bool) -> Result<Value> {
        let db = open(cx, this)?;
        // SAFETY: as above.
        let status = unsafe { sqlite3_extended_result_codes(db, on as c_int) };
        check(cx, db, status)?;
        Ok(this)
    }
    /// Sets the milliseconds for which a statement waits for a locked database.
    #[method("busy_timeout=")]
    fn set_busy_timeout(cx: &mut Cx, this: Value, milliseconds: i64) -> Result<Value> {
        open(cx, this)?;
        let d = database(cx, this)?;
        d.busy = Value::NIL;
        d.shared.busy_timeout.set(milliseconds.max(0));
        Ok(this)
    }
    /// Sets what is called with the number of tries when the database is locked, and answers whether to try again; nil: nothing.
    #[method("busy_handler")]
    fn busy_handler(cx: &mut Cx, this: Value, handler: Option<Value>, block: Block) -> Result<Value> {
        open(cx, this)?;
        let handler = given(cx, handler, block);
        let d = database(cx, this)?;
        d.busy = handler;
        d.shared.busy_timeout.set(0);
        Ok(this)
    }
    /// Milliseconds that a statement may take; 0: any number.
    #[method("statement_timeout=")]
    fn set_statement_timeout(cx: &mut Cx, this: Value, milliseconds: i64) -> Result<Value> {
        let shared = shared(cx, this)?;
        shared.statement_timeout.set(milliseconds);
        shared.deadline.set(None);
        Ok(this)
    }
    /// Sets what is called with the text of each statement; nil: nothing.
    #[method("trace")]
    fn trace(cx: &mut Cx, this: Value, handler: Option<Value>, block: Block) -> Result<Value> {
        open(cx, this)?;
        let handler = given(cx, handler, block);
        let d = database(cx, this)?;
        d.trace = handler;
        d.shared.traced.set(!handler.is_nil());
        Ok(this)
    }
    /// Sets what is asked whether a statement may do something; nil: nobody.
    #[method("authorizer=")]
    fn set_authorizer(cx: &mut Cx, this: Value, handler: Value) -> Result<Value> {
        open(cx, this)?;
        let d = database(cx, this)?;
        d.authorizer = handler;
        d.shared.authorized.set(!handler.is_nil());
        Ok(this)
    }
    /// Defines a function of SQL, by a block that gets its arguments; flags of SQLite.
    #[method("define_function_with_flags")]
    fn define_function_with_flags(cx: &mut Cx, this: Value, name: Value, flags: i64, block: Block) -> Result<Value> {
        open(cx, this)?;
        if block.is_none() {
            return cx.arg_error("tried to create Proc object without a block");
        }
        let name = c_string(cx, name)?;
        let function = cx.block_value(block);
        let arity = cx.call(function, Sym::intern("arity"), &[])?;
        let arity = cx.to_i64(arity)? as c_int;
        let db = open(cx, this)?;
        let data = registered(cx, this, function)?;
        // SAFETY: a live connection; the function's data is given back through `free_callback`, also when it fails.
        let status = unsafe {
            sqlite3_create_function_v2(
                db,
                name.as_ptr(),
                arity,
                flags as c_int,
                data.cast(),
                Some(engine::on_call),
                None,
                None,
                Some(engine::free_callback),
            )
        };
        release(cx, this)?;
        check(cx, db, status)?;
        let list = cx.ivar_get(this, Sym::intern("@functions"));
        if let Some(list) = Ref::<ArrayCell>::from_value(list) {
            ArrayCell::push(list, &mut cx.heap, function);
        }
        Ok(this)
    }
    /// Defines a function of SQL, by a block that gets its arguments.
    #[method("define_function")]
    fn define_function(cx: &mut Cx, this: Value, name: Value, block: Block) -> Result<Value> {
        define_function_with_flags(cx, this, name, SQLITE_UTF8 as i64, block)
    }
    #[method("define_aggregator2", private)]
    fn define_aggregator2(cx: &mut Cx, this: Value, aggregator: Value, name: Value) -> Result<Value> {
        open(cx, this)?;
        let name = c_string(cx, name)?;
        let mut arity = -1;
        if cx.responds(aggregator, Sym::intern("arity"), false)? {
            let n = cx.call(aggregator, Sym::intern("arity"), &[])?;
            arity = cx.to_i64(n)?;
        }
        if !(-1..=127).contains(&arity) {
            let this = cx.to_s_text(this)?;
            return cx.arg_error(format!("{this} arity={arity} out of range -1..127"));
        }
        let db = open(cx, this)?;
        let data = registered(cx, this, aggregator)?;
        // SAFETY: as above.
        let status = unsafe {
            sqlite3_create_function_v2(
                db,
                name.as_ptr(),
                arity as c_int,
                SQLITE_UTF8,
                data.cast(),
                None,
                Some(engine::on_step),
                Some(engine::on_final),
                Some(engine::free_callback),
            )
        };
        release(cx, this)?;
        check(cx, db, status)?;
        Ok(this)
    }
    /// Defines an order of texts, by an object with `compare`; nil removes it.
    #[method("collation")]
    fn collation(cx: &mut Cx, this: Value, name: Value, comparator: Value) -> Result<Value> {
        open(cx, this)?;
        let text = c_string(cx, name)?;
        let db = open(cx, this)?;
        // SAFETY: as above; without a comparator there is no data.
        let status = unsafe {
            if comparator.is_nil() {
                sqlite3_create_collation_v2(db, text.as_ptr(), SQLITE_UTF8, std::ptr::null_mut(), None, None)
            } else {
                let data = registered(cx, this, comparator)?;
                let status = sqlite3_create_collation_v2(
                    db,
                    text.as_ptr(),
                    SQLITE_UTF8,
                    data.cast(),
                    Some(engine::on_compare),
                    Some(engine::free_callback),
                );
                // Alone of its kind, this call keeps nothing when it fails.
                if status != SQLITE_OK {
                    engine::free_callback(data.cast());
                }
                status
            }
        };
        release(cx, this)?;
        check(cx, db, status)?;
        let known = cx.ivar_get(this, Sym::intern("@collations"));
        if let Some(known) = Ref::<HashCell>::from_value(known) {
            cx.hash_set(known, name, comparator)?;
        }
        Ok(this)
    }
    /// Sets whether extensions can be loaded: by the main VM alone.
    #[method("enable_load_extension")]
    fn enable_load_extension(cx: &mut Cx, this: Value, on: Value) -> Result<Value> {
        let db = open(cx, this)?;
        let on = match on {
            Value::TRUE => 1,
            Value::FALSE => 0,
            n => cx.to_i64(n)?,
        };
        if on != 0 {
            owner::main_only(cx, "extensions are native code in the process")?;
        }
        // SAFETY: a live connection.
        let status = unsafe { sqlite3_enable_load_extension(db, (on != 0) as c_int) };
        check(cx, db, status)?;
        Ok(this)
    }
    #[method("load_extension_internal", private)]
    fn load_extension(cx: &mut Cx, this: Value, file: Value) -> Result<Value> {
        let db = open(cx, this)?;
        let file = c_string(cx, file)?;
        // SAFETY: a live connection, a text that ends with NUL. What the library does is the program's business, as with any native code.
        let status = engine::call(cx, this, None, move || unsafe {
            sqlite3_load_extension(db, file.as_ptr(), std::ptr::null(), std::ptr::null_mut())
        })?;
        check(cx, db, status)?;
        Ok(this)
    }
    /// Every statement of a text, one after the other: the rows of all, as texts.
    #[method("exec_batch", private)]
    fn exec_batch(cx: &mut Cx, this: Value, sql: Value, as_hash: Value) -> Result<Value> {
        let mut rest = cx.to_str(sql)?.to_vec();
        rest.truncate(rest.iter().position(|b| *b == 0).unwrap_or(rest.len()));
        let rows = cx.new_array();
        while !rest.is_empty() {
            let db = open(cx, this)?;
            let (statement, tail) = super::super::statement::compile(cx, this, &rest)?;
            if statement.is_null() && tail >= rest.len() {
                break;
            }
            let result = if statement.is_null() { Ok(()) } else { each_row(cx, this, statement, rows, as_hash.truthy()) };
            let shared = shared(cx, this)?;
            shared.finalize(statement);
            result?;
            debug_assert!(!db.is_null());
            rest.drain(..tail.min(rest.len()));
        }
        Ok(rows.as_value())
    }
    #[method("db_filename", private)]
    fn db_filename(cx: &mut Cx, this: Value, name: Value) -> Result<Value> {
        let name = c_string(cx, name)?;
        let db = open(cx, this)?;
        // SAFETY: a live connection; a text or NULL.
        unsafe {
            let file = sqlite3_db_filename(db, name.as_ptr());
            Ok(if file.is_null() { Value::NIL } else { cx.str_bytes(CStr::from_ptr(file.cast()).to_bytes(), string::UTF8) })
        }
    }
}
pub(super) use native::METHODS;

/// Adds the rows of a statement, each value as text.
fn each_row(cx: &mut Cx, this: Value, statement: *mut sqlite3_stmt, rows: Ref<ArrayCell>, as_hash: bool) -> Result<()> {
    loop {
        // SAFETY: a live statement, which the caller frees.
        let status = engine::call(cx, this, None, move || unsafe { sqlite3_step(statement) })?;
        if status == SQLITE_DONE {
            return Ok(());
        }
        if status != SQLITE_ROW {
            let db = open(cx, this)?;
            return check(cx, db, status);
        }
        // SAFETY: as above; texts are copied.
        unsafe {
            let n = sqlite3_column_count(statement);
            let (list, hash) = (cx.new_array(), cx.new_hash());
            for i in 0..n {
                let text = sqlite3_column_text(statement, i);
                let v = if text.is_null() { Value::NIL } else { crate::binary(cx, CStr::from_ptr(text.cast()).to_bytes()) };
                if as_hash {
                    let name = sqlite3_column_name(statement, i);
                    let name = if name.is_null() { Vec::new() } else { CStr::from_ptr(name).to_bytes().to_vec() };
                    let name = crate::binary(cx, &name);
                    cx.hash_set(hash, name, v)?;
                } else {
                    ArrayCell::push(list, &mut cx.heap, v);
                }
            }
            let row = if as_hash { hash.as_value() } else { list.as_value() };
            ArrayCell::push(rows, &mut cx.heap, row);
        }
    }
}
