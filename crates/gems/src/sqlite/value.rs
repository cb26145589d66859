//! Values on their way between SQLite and Ruby.

use super::ffi::*;
use num_traits::ToPrimitive;
use std::ffi::c_int;
use zakuro_vm::*;

/// Text from SQLite: UTF-8, or what `Encoding.default_internal` wants. Not frozen.
pub fn text(cx: &mut Cx, bytes: &[u8]) -> Result<Value> {
    let v = cx.str_bytes(bytes, string::UTF8);
    let class = cx.class_value(ids::ENCODING);
    let internal = cx.call(class, Sym::intern("default_internal"), &[])?;
    if internal.is_nil() { Ok(v) } else { cx.call(v, Sym::intern("encode"), &[internal]) }
}

pub fn frozen(v: Value) -> Value {
    v.set_flags(flags::FROZEN);
    v
}

/// # Safety
/// `p` is readable for `n` bytes, or there are none.
pub unsafe fn bytes<'a>(p: *const u8, n: c_int) -> &'a [u8] {
    // SAFETY: the caller's promise.
    if p.is_null() || n <= 0 { &[] } else { unsafe { std::slice::from_raw_parts(p, n as usize) } }
}

/// An argument of a function.
///
/// # Safety
/// A value of a callback under way.
pub unsafe fn take(cx: &mut Cx, v: *mut sqlite3_value) -> Result<Value> {
    // SAFETY: the caller's promise.
    unsafe {
        Ok(match sqlite3_value_type(v) {
            SQLITE_INTEGER => cx.int(sqlite3_value_int64(v)),
            SQLITE_FLOAT => cx.float(sqlite3_value_double(v)),
            SQLITE_TEXT => {
                let p = sqlite3_value_text(v);
                frozen(cx.str_bytes(bytes(p, sqlite3_value_bytes(v)), string::UTF8))
            }
            SQLITE_BLOB => {
                let p = sqlite3_value_blob(v);
                frozen(crate::binary(cx, bytes(p.cast(), sqlite3_value_bytes(v))))
            }
            _ => Value::NIL,
        })
    }
}

/// Whether a String stands for bytes.
pub fn is_blob(cx: &mut Cx, s: Ref<StringCell>) -> bool {
    s.encoding() == string::BINARY || {
        let blob = cx.const_by_path("SQLite3::Blob").and_then(|v| cx.class_id(v));
        blob.is_some_and(|blob| cx.class_of(s.as_value()) == blob)
    }
}

/// The result of a function.
pub fn give(cx: &mut Cx, context: *mut sqlite3_context, v: Value) -> Result<()> {
    // SAFETY: the callback is suspended; texts are copied.
    unsafe {
        if v.is_nil() {
            sqlite3_result_null(context);
        } else if let Some(n) = integer(cx, v) {
            sqlite3_result_int64(context, n);
        } else if cx.is_integer(v) || v.as_float().is_some() {
            let d = cx.to_f64(v)?;
            sqlite3_result_double(context, d);
        } else if let Some(s) = Ref::<StringCell>::from_value(v) {
            let blob = is_blob(cx, s);
            let b = s.content(&cx.heap);
            let n = c_int::try_from(b.len()).unwrap_or(c_int::MAX);
            if blob {
                sqlite3_result_blob(context, b.as_ptr().cast(), n, SQLITE_TRANSIENT());
            } else {
                sqlite3_result_text(context, b.as_ptr().cast(), n, SQLITE_TRANSIENT());
            }
        } else {
            let class = cx.class_name_of(v);
            return cx.raise(ids::RUNTIME_ERROR, format!("can't return {class}"));
        }
    }
    Ok(())
}

/// An Integer of 64 bits.
pub fn integer(cx: &Cx, v: Value) -> Option<i64> {
    if let Some(n) = v.as_fixnum() {
        return Some(n);
    }
    if !cx.is_integer(v) {
        return None;
    }
    cx.as_big(v)?.to_i64()
}
