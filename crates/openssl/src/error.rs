//! OpenSSL's errors as Ruby exceptions. Its queue belongs to the native thread, and a Ruby thread may go on on another one after every wait: so whatever
//! may fail reads and empties the queue before it returns.

use crate::sys::*;
use std::ffi::{CStr, c_char, c_int};
use zakuro_vm::*;

/// What the queue held.
#[derive(Default)]
pub struct Errors {
    /// In the order in which they came, as OpenSSL writes them.
    pub lines: Vec<String>,
    /// The last one's reason, and what was added to it.
    pub last: Option<String>,
    pub code: u64,
}

pub fn text(s: *const c_char) -> String {
    if s.is_null() {
        return String::new();
    }
    // SAFETY: OpenSSL's strings end with NUL.
    unsafe { CStr::from_ptr(s) }.to_string_lossy().into_owned()
}

/// Empties the queue.
pub fn take() -> Errors {
    let mut errors = Errors::default();
    loop {
        let (mut data, mut flags): (*const c_char, c_int) = (std::ptr::null(), 0);
        let null = std::ptr::null_mut::<*const c_char>;
        // SAFETY: the places live through the call; what `data` points at lives until the next error of this thread.
        unsafe {
            let code = ERR_get_error_all(null(), std::ptr::null_mut(), null(), &mut data, &mut flags);
            if code == 0 {
                return errors;
            }
            let mut b = [0 as c_char; 256];
            ERR_error_string_n(code, b.as_mut_ptr(), b.len());
            let more = if flags & 2 != 0 { text(data) } else { String::new() };
            let add = |s: String| if more.is_empty() { s } else { format!("{s} ({more})") };
            errors.lines.push(add(text(b.as_ptr())));
            let reason = ERR_reason_error_string(code);
            errors.last = Some(add(if reason.is_null() { "(null)".into() } else { text(reason) }));
            errors.code = code;
        }
    }
}

/// Raises an exception of a class below OpenSSL, with what the queue says behind `what`.
#[cold]
pub fn fail<T>(cx: &mut Cx, class: &str, what: &str) -> Result<T> {
    let errors = take();
    raise(cx, class, what, errors)
}

#[cold]
pub fn raise<T>(cx: &mut Cx, class: &str, what: &str, errors: Errors) -> Result<T> {
    let message = match errors.last {
        Some(reason) if what.is_empty() => reason,
        Some(reason) => format!("{what}: {reason}"),
        None => what.to_string(),
    };
    let path = format!("OpenSSL::{class}");
    let Some(class) = cx.const_by_path(&path).and_then(|v| cx.class_id(v)) else {
        return cx.raise(ids::NAME_ERROR, format!("uninitialized constant {path}"));
    };
    let class = cx.class_value(class);
    let message = cx.str(&message);
    let e = cx.call(class, sym::new, &[message])?;
    let lines = cx.str_array(&errors.lines);
    cx.ivar_set_raw(e, Sym::intern("@errors"), lines);
    cx.raise_value(e)
}
