//! System call errors as Ruby exceptions.

use zakuro_vm::*;

/// Raises the Errno class of `errno`; `detail` follows the system's text: "rb_sysopen - PATH" after an `@`, or just a path.
#[cold]
pub fn fail<T>(cx: &mut Cx, errno: i32, detail: &str) -> Result<T> {
    let text = message(errno);
    let m = if detail.is_empty() { text } else { format!("{text} - {detail}") };
    raise(cx, errno, &m)
}

/// "No such file or directory @ rb_sysopen - PATH"
#[cold]
pub fn fail_at<T>(cx: &mut Cx, errno: i32, func: &str, path: &[u8]) -> Result<T> {
    let m = format!("{} @ {func} - {}", message(errno), String::from_utf8_lossy(path));
    raise(cx, errno, &m)
}

/// Raises what the last system call left in errno.
#[cold]
pub fn fail_os<T>(cx: &mut Cx, detail: &str) -> Result<T> {
    fail(cx, last_errno(), detail)
}

pub fn last_errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

fn raise<T>(cx: &mut Cx, errno: i32, m: &str) -> Result<T> {
    let class = crate::exception::errno::class_of_errno(cx, errno).unwrap_or(ids::SYSTEM_CALL_ERROR);
    let e = cx.exception(class, m);
    let n = cx.int(errno as i64);
    cx.ivar_set_raw(e, Sym::intern("__errno"), n);
    cx.raise_value(e)
}

/// The system's text for an error number.
pub fn message(errno: i32) -> String {
    let s = std::io::Error::from_raw_os_error(errno).to_string();
    match s.rfind(" (os error") {
        Some(i) => s[..i].to_string(),
        None => s,
    }
}

/// IOError.
#[cold]
pub fn io_error<T>(cx: &mut Cx, m: &str) -> Result<T> {
    cx.raise(ids::IO_ERROR, m)
}
