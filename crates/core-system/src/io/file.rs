//! Changes to files: File.delete, rename, chmod, links, truncate, flock; constants of File.

use super::cwd;
use super::errors::{fail_at, last_errno};
use super::glob;
use super::object;
use super::open::Umask;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// Target of a symbolic link. Err: errno.
pub fn readlink_bytes(cx: &mut Cx, p: &[u8]) -> std::result::Result<Vec<u8>, i32> {
    let at = cwd::dirfd(cx);
    let c = cwd::c(p);
    // Most of those that are asked are no links.
    let mut buf = [std::mem::MaybeUninit::<u8>::uninit(); libc::PATH_MAX as usize];
    // SAFETY: c is a C string, buf is writable for its length.
    let n = unsafe { libc::readlinkat(at, c.as_ptr(), buf.as_mut_ptr().cast(), buf.len()) };
    if n < 0 {
        return Err(last_errno());
    }
    // SAFETY: so many bytes were written.
    Ok(unsafe { std::slice::from_raw_parts(buf.as_ptr().cast::<u8>(), n as usize) }.to_vec())
}

/// Two paths as CRuby's messages show them.
fn pair(a: &[u8], b: &[u8]) -> Vec<u8> {
    [b"(", a, b", ", b, b")"].concat()
}

/// A time argument as timespec: Time, Integer, Float, nil (now).
fn timespec(cx: &mut Cx, v: Value) -> Result<libc::timespec> {
    if v.is_nil() {
        return Ok(libc::timespec { tv_sec: 0, tv_nsec: libc::UTIME_NOW });
    }
    let (sec, nsec) = crate::time::parts_of(cx, v)?;
    Ok(libc::timespec { tv_sec: sec, tv_nsec: nsec as i64 })
}

fn each_path(cx: &mut Cx, paths: &[Value], func: &str, f: impl Fn(i32, *const libc::c_char) -> i32) -> Result<i64> {
    for v in paths {
        let p = cx.path_of(*v)?;
        let at = cwd::dirfd(cx);
        let c = cwd::c(&p);
        if f(at, c.as_ptr()) != 0 {
            return fail_at(cx, last_errno(), func, &p);
        }
    }
    Ok(paths.len() as i64)
}

fn id_of(cx: &mut Cx, v: Value) -> Result<u32> {
    if v.is_nil() { Ok(u32::MAX) } else { Ok(cx.to_i64(v)? as u32) }
}

fn process_umask() -> u32 {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|s| s.lines().find_map(|l| l.strip_prefix("Umask:").and_then(|m| u32::from_str_radix(m.trim(), 8).ok())))
        .unwrap_or(0o022)
}

#[ruby_class(ids::FILE)]
pub mod file {
    use super::*;
    /// Removes files; returns their number.
    #[method("delete", "unlink", singleton)]
    fn delete(cx: &mut Cx, _this: Value, paths: Rest) -> Result<i64> {
        // SAFETY: a C string.
        each_path(cx, paths, "apply2files", |at, p| unsafe { libc::unlinkat(at, p, 0) })
    }
    /// Renames a file.
    #[method("rename", singleton)]
    fn rename(cx: &mut Cx, _this: Value, from: Value, to: Value) -> Result<i64> {
        let (a, b) = (cx.path_of(from)?, cx.path_of(to)?);
        let (ca, cb, at) = (cwd::c(&a), cwd::c(&b), cwd::dirfd(cx));
        // SAFETY: C strings.
        if unsafe { libc::renameat(at, ca.as_ptr(), at, cb.as_ptr()) } != 0 {
            return fail_at(cx, last_errno(), "rb_file_s_rename", &pair(&a, &b));
        }
        Ok(0)
    }
    /// Makes a symbolic link `new` to `old`.
    #[method("symlink", singleton)]
    fn symlink(cx: &mut Cx, _this: Value, old: Value, new: Value) -> Result<i64> {
        let (a, b) = (cx.path_of(old)?, cx.path_of(new)?);
        let (ca, cb, at) = (cwd::c(&a), cwd::c(&b), cwd::dirfd(cx));
        // SAFETY: C strings.
        if unsafe { libc::symlinkat(ca.as_ptr(), at, cb.as_ptr()) } != 0 {
            return fail_at(cx, last_errno(), "rb_file_s_symlink", &pair(&a, &b));
        }
        Ok(0)
    }
    /// Makes a hard link `new` to `old`.
    #[method("link", singleton)]
    fn link(cx: &mut Cx, _this: Value, old: Value, new: Value) -> Result<i64> {
        let (a, b) = (cx.path_of(old)?, cx.path_of(new)?);
        let (ca, cb, at) = (cwd::c(&a), cwd::c(&b), cwd::dirfd(cx));
        // SAFETY: C strings.
        if unsafe { libc::linkat(at, ca.as_ptr(), at, cb.as_ptr(), 0) } != 0 {
            return fail_at(cx, last_errno(), "rb_file_s_link", &pair(&a, &b));
        }
        Ok(0)
    }
    /// Target of a symbolic link.
    #[method("readlink", singleton)]
    fn readlink(cx: &mut Cx, _this: Value, path: Value) -> Result<Value> {
        let p = cx.path_of(path)?;
        match readlink_bytes(cx, &p) {
            Ok(t) => Ok(cx.str_bytes(&t, zakuro_object::string::UTF8)),
            Err(e) => fail_at(cx, e, "rb_readlink", &p),
        }
    }
    /// Sets permission bits of files; returns their number.
    #[method("chmod", singleton)]
    fn chmod(cx: &mut Cx, _this: Value, mode: i64, paths: Rest) -> Result<i64> {
        // SAFETY: a C string.
        each_path(cx, paths, "apply2files", |at, p| unsafe { libc::fchmodat(at, p, mode as libc::mode_t, 0) })
    }
    /// Sets owner and group of files (nil or -1: unchanged); returns their number.
    #[method("chown", singleton)]
    fn chown(cx: &mut Cx, _this: Value, owner: Value, group: Value, paths: Rest) -> Result<i64> {
        let (u, g) = (id_of(cx, owner)?, id_of(cx, group)?);
        // SAFETY: a C string.
        each_path(cx, paths, "apply2files", |at, p| unsafe { libc::fchownat(at, p, u, g, 0) })
    }
    /// As `chown`, of symbolic links themselves.
    #[method("lchown", singleton)]
    fn lchown(cx: &mut Cx, _this: Value, owner: Value, group: Value, paths: Rest) -> Result<i64> {
        let (u, g) = (id_of(cx, owner)?, id_of(cx, group)?);
        // SAFETY: a C string.
        each_path(cx, paths, "apply2files", |at, p| unsafe { libc::fchownat(at, p, u, g, libc::AT_SYMLINK_NOFOLLOW) })
    }
    /// As `chmod`, of symbolic links themselves: Errno::ENOTSUP where the system has no modes for them.
    #[method("lchmod", singleton)]
    fn lchmod(cx: &mut Cx, _this: Value, mode: i64, paths: Rest) -> Result<i64> {
        let mode = mode as libc::mode_t;
        // SAFETY: a C string.
        each_path(cx, paths, "apply2files", |at, p| unsafe { libc::fchmodat(at, p, mode, libc::AT_SYMLINK_NOFOLLOW) })
    }
    /// Sets times of access and change of files; returns their number.
    #[method("utime", singleton)]
    fn utime(cx: &mut Cx, _this: Value, atime: Value, mtime: Value, paths: Rest) -> Result<i64> {
        let times = [timespec(cx, atime)?, timespec(cx, mtime)?];
        // SAFETY: a C string and two timespecs.
        each_path(cx, paths, "apply2files", |at, p| unsafe { libc::utimensat(at, p, times.as_ptr(), 0) })
    }
    /// As `utime`, of symbolic links themselves.
    #[method("lutime", singleton)]
    fn lutime(cx: &mut Cx, _this: Value, atime: Value, mtime: Value, paths: Rest) -> Result<i64> {
        let times = [timespec(cx, atime)?, timespec(cx, mtime)?];
        // SAFETY: a C string and two timespecs.
        each_path(cx, paths, "apply2files", |at, p| unsafe { libc::utimensat(at, p, times.as_ptr(), libc::AT_SYMLINK_NOFOLLOW) })
    }
    /// Makes a named pipe.
    #[method("mkfifo", singleton)]
    fn mkfifo(cx: &mut Cx, _this: Value, path: Value, mode: Option<i64>) -> Result<i64> {
        let m = mode.unwrap_or(0o666) as libc::mode_t;
        // SAFETY: a C string.
        each_path(cx, &[path], "rb_file_s_mkfifo", |at, p| unsafe { libc::mkfifoat(at, p, m) })?;
        Ok(0)
    }
    /// The VM's file creation mask; with an argument sets it and returns the old one.
    #[method("umask", singleton)]
    fn umask(cx: &mut Cx, _this: Value, mask: Option<i64>) -> Result<i64> {
        // umask(2) belongs to the process: a VM's own mask can only take further bits away.
        let old = cx.state::<Umask>().0 | process_umask();
        if let Some(m) = mask {
            cx.state::<Umask>().0 = m as u32 & 0o777;
        }
        Ok(old as i64)
    }
    /// Cuts or extends a file to a size.
    #[method("truncate", singleton)]
    fn truncate(cx: &mut Cx, _this: Value, path: Value, size: i64) -> Result<i64> {
        let p = cx.path_of(path)?;
        let at = cwd::dirfd(cx);
        let c = cwd::c(&p);
        // SAFETY: c is a C string; the descriptor is closed here.
        unsafe {
            let fd = libc::openat(at, c.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
            if fd < 0 {
                return fail_at(cx, last_errno(), "rb_file_s_truncate", &p);
            }
            let r = libc::ftruncate(fd, size);
            let e = last_errno();
            libc::close(fd);
            if r != 0 {
                return fail_at(cx, e, "rb_file_s_truncate", &p);
            }
        }
        Ok(0)
    }
    /// Cuts or extends the file to a size.
    #[method("truncate")]
    fn own_truncate(cx: &mut Cx, this: Value, size: i64) -> Result<i64> {
        object::writer(cx, this)?;
        object::flush(cx, this)?;
        let fd = object::get(cx, this)?.fd;
        // SAFETY: ftruncate on an open descriptor.
        if unsafe { libc::ftruncate(fd, size) } != 0 {
            return object::fail_path(cx, this, last_errno());
        }
        Ok(0)
    }
    /// Sets permission bits.
    #[method("chmod")]
    fn own_chmod(cx: &mut Cx, this: Value, mode: i64) -> Result<i64> {
        let fd = object::get(cx, this)?.fd;
        // SAFETY: fchmod on an open descriptor.
        if unsafe { libc::fchmod(fd, mode as libc::mode_t) } != 0 {
            return object::fail_path(cx, this, last_errno());
        }
        Ok(0)
    }
    /// Sets owner and group.
    #[method("chown")]
    fn own_chown(cx: &mut Cx, this: Value, owner: Value, group: Value) -> Result<i64> {
        let (u, g) = (id_of(cx, owner)?, id_of(cx, group)?);
        let fd = object::get(cx, this)?.fd;
        // SAFETY: fchown on an open descriptor.
        if unsafe { libc::fchown(fd, u, g) } != 0 {
            return object::fail_path(cx, this, last_errno());
        }
        Ok(0)
    }
    /// Locks or unlocks the file (File::LOCK_*); false when LOCK_NB found it locked.
    #[method("flock")]
    fn flock(cx: &mut Cx, this: Value, op: i64) -> Result<Value> {
        if object::get(cx, this)?.writable() {
            object::flush(cx, this)?;
        }
        loop {
            let fd = object::get(cx, this)?.fd;
            // The holder may be another thread of this VM: look again and again instead of blocking it.
            // SAFETY: flock on an open descriptor.
            if unsafe { libc::flock(fd, op as i32 | libc::LOCK_NB) } == 0 {
                return Ok(Value::fixnum(0));
            }
            match last_errno() {
                libc::EINTR => cx.safepoint()?,
                libc::EWOULDBLOCK if op as i32 & libc::LOCK_NB != 0 => return Ok(Value::FALSE),
                libc::EWOULDBLOCK => {
                    // What is slept here is no sleep of the program's: a report says that it waited for a file.
                    cx.waits_for(account::WaitKind::Descriptor, 0);
                    cx.sleep(Some(std::time::Duration::from_millis(5)))?;
                }
                e => return object::fail_path(cx, this, e),
            }
        }
    }
}

/// File::Constants, IO::SEEK_*, File::SEPARATOR.
pub fn setup(cx: &mut Cx) {
    let constants = cx.define_module(ids::FILE, "Constants");
    let ints: &[(&str, i32)] = &[
        ("RDONLY", libc::O_RDONLY),
        ("WRONLY", libc::O_WRONLY),
        ("RDWR", libc::O_RDWR),
        ("APPEND", libc::O_APPEND),
        ("CREAT", libc::O_CREAT),
        ("EXCL", libc::O_EXCL),
        ("NONBLOCK", libc::O_NONBLOCK),
        ("TRUNC", libc::O_TRUNC),
        ("NOCTTY", libc::O_NOCTTY),
        ("BINARY", 0),
        ("SHARE_DELETE", 0),
        ("SYNC", libc::O_SYNC),
        ("DSYNC", libc::O_DSYNC),
        ("RSYNC", libc::O_RSYNC),
        ("NOFOLLOW", libc::O_NOFOLLOW),
        ("DIRECT", libc::O_DIRECT),
        ("NOATIME", libc::O_NOATIME),
        ("TMPFILE", libc::O_TMPFILE),
        ("LOCK_SH", libc::LOCK_SH),
        ("LOCK_EX", libc::LOCK_EX),
        ("LOCK_NB", libc::LOCK_NB),
        ("LOCK_UN", libc::LOCK_UN),
        ("FNM_NOESCAPE", glob::NOESCAPE),
        ("FNM_PATHNAME", glob::PATHNAME),
        ("FNM_DOTMATCH", glob::DOTMATCH),
        ("FNM_CASEFOLD", glob::CASEFOLD),
        ("FNM_EXTGLOB", glob::EXTGLOB),
        ("FNM_SYSCASE", 0),
        ("FNM_SHORTNAME", 0),
    ];
    for (n, v) in ints {
        cx.const_set(constants, Sym::intern(n), Value::fixnum(*v as i64));
    }
    let null = cx.frozen_str("/dev/null");
    cx.const_set(constants, Sym::intern("NULL"), null);
    let _ = cx.include_module(ids::IO, constants);
    let places = [("SEEK_SET", 0), ("SEEK_CUR", 1), ("SEEK_END", 2), ("SEEK_DATA", libc::SEEK_DATA.into()), ("SEEK_HOLE", libc::SEEK_HOLE.into())];
    for (n, v) in places.into_iter().chain([("READABLE", 1), ("PRIORITY", 2), ("WRITABLE", 4)]) {
        cx.const_set(ids::IO, Sym::intern(n), Value::fixnum(v));
    }
    for n in ["SEPARATOR", "Separator"] {
        let s = cx.frozen_str("/");
        cx.const_set(ids::FILE, Sym::intern(n), s);
    }
    cx.const_set(ids::FILE, Sym::intern("ALT_SEPARATOR"), Value::NIL);
    let s = cx.frozen_str(":");
    cx.const_set(ids::FILE, Sym::intern("PATH_SEPARATOR"), s);
    let _ = cx.include_module(ids::FILE_STAT, ids::COMPARABLE);
    let r = cx.define_module(ids::IO, "WaitReadable");
    let w = cx.define_module(ids::IO, "WaitWritable");
    let again = cx.const_by_path("Errno::EAGAIN").and_then(|c| cx.class_id(c)).unwrap_or(ids::SYSTEM_CALL_ERROR);
    for (name, module) in [("EAGAINWaitReadable", r), ("EAGAINWaitWritable", w)] {
        let c = cx.define_class(ids::IO, name, again);
        let _ = cx.include_module(c, module);
        let short = name.replace("EAGAIN", "EWOULDBLOCK");
        let v = cx.class_value(c);
        cx.const_set(ids::IO, Sym::intern(&short), v);
    }
    cx.define_class(ids::IO, "TimeoutError", ids::IO_ERROR);
}
