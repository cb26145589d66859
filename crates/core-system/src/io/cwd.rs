//! The working directory of a VM, and paths as system calls take them.
//!
//! Until a VM calls Dir.chdir it works in the process's directory; from then on it holds a descriptor of its own, and every path goes
//! through an `*at` call relative to it. chdir(2) would change all VMs.

use super::errors::last_errno;
use std::ffi::CString;
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd, RawFd};
use zakuro_macros::Trace;
use zakuro_vm::*;

/// Directory of one VM.
#[derive(Trace)]
pub struct Cwd {
    /// -1: the process's.
    fd: RawFd,
    /// Depth of `Dir.chdir` blocks.
    pub blocks: usize,
    /// Who began the outermost of them: number of the thread, and where the call stands.
    pub begun: Option<(u32, String)>,
}
impl Default for Cwd {
    fn default() -> Self {
        Cwd { fd: -1, blocks: 0, begun: None }
    }
}
impl Drop for Cwd {
    fn drop(&mut self) {
        if self.fd >= 0 {
            // SAFETY: the descriptor is this VM's own.
            unsafe { libc::close(self.fd) };
        }
    }
}
impl VmState for Cwd {}

/// First argument of `*at` calls.
pub fn dirfd(cx: &mut Cx) -> RawFd {
    let fd = cx.state::<Cwd>().fd;
    if fd >= 0 { fd } else { libc::AT_FDCWD }
}

/// The VM's own directory descriptor, when it has one (for child processes).
pub fn own_fd(cx: &mut Cx) -> Option<RawFd> {
    let fd = cx.state::<Cwd>().fd;
    (fd >= 0).then_some(fd)
}

/// A path for C. The bytes hold no NUL: `path_of` refused them.
pub fn c(path: &[u8]) -> CString {
    let end = path.iter().position(|b| *b == 0).unwrap_or(path.len());
    CString::new(&path[..end]).unwrap_or_default()
}

/// Absolute path of the directory. Err: errno.
pub fn pwd(cx: &mut Cx) -> std::result::Result<Vec<u8>, i32> {
    use std::os::unix::ffi::OsStringExt;
    let fd = cx.state::<Cwd>().fd;
    if fd >= 0 && is_gone(fd) {
        return Err(libc::ENOENT);
    }
    let r = if fd < 0 { std::env::current_dir() } else { std::fs::read_link(format!("/proc/self/fd/{fd}")) };
    match r {
        Ok(p) => Ok(p.into_os_string().into_vec()),
        Err(e) => Err(e.raw_os_error().unwrap_or(libc::ENOENT)),
    }
}

/// Whether an open directory was deleted: what `/proc` says of it is no path then.
fn is_gone(fd: RawFd) -> bool {
    // SAFETY: st is writable; fd is open.
    unsafe {
        let mut st: libc::stat = std::mem::zeroed();
        libc::fstat(fd, &mut st) == 0 && st.st_nlink == 0
    }
}

/// Makes `path` the VM's directory. Err: errno.
pub fn chdir(cx: &mut Cx, path: &[u8]) -> std::result::Result<(), i32> {
    let at = dirfd(cx);
    let p = c(path);
    // SAFETY: p is a C string; the new descriptor is kept by the state or closed here.
    unsafe {
        let fd = libc::openat(at, p.as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC | libc::O_PATH);
        if fd < 0 {
            return Err(last_errno());
        }
        if libc::faccessat(fd, c".".as_ptr(), libc::X_OK, 0) != 0 {
            let e = last_errno();
            libc::close(fd);
            return Err(e);
        }
        let state = cx.state::<Cwd>();
        if state.fd >= 0 {
            libc::close(state.fd);
        }
        state.fd = fd;
    }
    Ok(())
}

/// Starts in the directory of the VM that made this one.
pub fn adopt(cx: &mut Cx, directory: OwnedFd) {
    *cx.state::<Cwd>() = Cwd { fd: directory.into_raw_fd(), blocks: 0, begun: None };
}

/// Makes an open directory the VM's. Err: errno.
pub fn fchdir(cx: &mut Cx, fd: RawFd) -> std::result::Result<(), i32> {
    // SAFETY: fcntl and faccessat on a number that need not be open; the new descriptor is kept by the state or closed here.
    unsafe {
        let mut st: libc::stat = std::mem::zeroed();
        if libc::fstat(fd, &mut st) != 0 {
            return Err(last_errno());
        }
        if st.st_mode & libc::S_IFMT != libc::S_IFDIR {
            return Err(libc::ENOTDIR);
        }
        let own = libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3);
        if own < 0 {
            return Err(last_errno());
        }
        take(cx, own);
    }
    Ok(())
}

fn take(cx: &mut Cx, fd: RawFd) {
    let state = cx.state::<Cwd>();
    let old = std::mem::replace(&mut state.fd, fd);
    if old >= 0 {
        // SAFETY: the descriptor was this VM's own.
        unsafe { libc::close(old) };
    }
}

/// The VM's directory as it is now, wherever it is moved to or removed; None while it is the process's.
pub fn keep(cx: &mut Cx) -> Option<OwnedFd> {
    let fd = cx.state::<Cwd>().fd;
    if fd < 0 {
        return None;
    }
    // SAFETY: the copy is the guard's own.
    match unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3) } {
        -1 => None,
        // SAFETY: made right above.
        fd => Some(unsafe { OwnedFd::from_raw_fd(fd) }),
    }
}

/// Goes back to what `keep` gave.
pub fn restore(cx: &mut Cx, kept: Option<OwnedFd>) {
    take(cx, kept.map_or(-1, IntoRawFd::into_raw_fd));
}

/// fstatat(2). Err: errno.
pub fn stat(cx: &mut Cx, path: &[u8], follow: bool) -> std::result::Result<libc::stat, i32> {
    let at = dirfd(cx);
    let p = c(path);
    // SAFETY: p is a C string; the struct is filled when the call succeeds.
    unsafe {
        let mut st: libc::stat = std::mem::zeroed();
        if libc::fstatat(at, p.as_ptr(), &mut st, if follow { 0 } else { libc::AT_SYMLINK_NOFOLLOW }) == 0 {
            Ok(st)
        } else {
            Err(last_errno())
        }
    }
}
