//! System call errors as Ruby exceptions.

use zakuro_vm::*;

/// Raises the Errno class of `errno`; `detail` (a path) follows the system's text.
#[cold]
pub fn fail<T>(cx: &mut Cx, errno: i32, detail: &str) -> Result<T> {
    zakuro_core_base::exception::errno_error(cx, errno, detail)
}

/// "No such file or directory @ rb_sysopen - PATH"
#[cold]
pub fn fail_at<T>(cx: &mut Cx, errno: i32, func: &str, path: &[u8]) -> Result<T> {
    let path = String::from_utf8_lossy(path);
    if func.is_empty() {
        return fail(cx, errno, &path);
    }
    fail(cx, errno, &format!("@ {func} - {path}"))
}

/// Raises what the last system call left in errno.
#[cold]
pub fn fail_os<T>(cx: &mut Cx, detail: &str) -> Result<T> {
    fail(cx, last_errno(), detail)
}

pub fn last_errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// IOError.
#[cold]
pub fn io_error<T>(cx: &mut Cx, m: &str) -> Result<T> {
    cx.raise(ids::IO_ERROR, m)
}
