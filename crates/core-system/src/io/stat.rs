//! File::Stat, FileTest, and the questions of File about paths.

use super::cwd;
use super::errors::fail_at;
use super::object;
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

/// Payload of File::Stat.
#[derive(Trace)]
pub struct StatData {
    #[untraced]
    st: libc::stat,
    #[untraced]
    birth: Birth,
}
impl NativeData for StatData {
    fn refers(&self) -> bool {
        false
    }
    fn send_copy(&self) -> Option<SendPayload> {
        Some(Box::new(StatData { ..*self }))
    }
}

/// When a file was made: seconds and nanoseconds, None when the file system does not know. Err: errno.
type Birth = std::result::Result<Option<(i64, i64)>, i32>;

/// statx(2), the only call that tells it.
fn birth_at(fd: i32, path: &std::ffi::CStr, flags: i32) -> Birth {
    // SAFETY: a C string; the struct is filled when the call succeeds.
    unsafe {
        let mut st: libc::statx = std::mem::zeroed();
        if libc::statx(fd, path.as_ptr(), flags, libc::STATX_BTIME, &mut st) != 0 {
            return Err(super::errors::last_errno());
        }
        let known = st.stx_mask & libc::STATX_BTIME != 0;
        Ok(known.then_some((st.stx_btime.tv_sec, st.stx_btime.tv_nsec as i64)))
    }
}

/// All of it by one statx(2). Err: errno.
fn all_at(fd: i32, path: &std::ffi::CStr, flags: i32) -> std::result::Result<StatData, i32> {
    // SAFETY: a C string; the struct is filled when the call succeeds, and the other one is of numbers only.
    let (from, mut st) = unsafe {
        let mut from: libc::statx = std::mem::zeroed();
        if libc::statx(fd, path.as_ptr(), flags, libc::STATX_BASIC_STATS | libc::STATX_BTIME, &mut from) != 0 {
            return Err(super::errors::last_errno());
        }
        (from, std::mem::zeroed::<libc::stat>())
    };
    st.st_dev = libc::makedev(from.stx_dev_major, from.stx_dev_minor);
    st.st_rdev = libc::makedev(from.stx_rdev_major, from.stx_rdev_minor);
    (st.st_ino, st.st_mode, st.st_nlink) = (from.stx_ino, from.stx_mode as libc::mode_t, from.stx_nlink as libc::nlink_t);
    (st.st_uid, st.st_gid, st.st_size) = (from.stx_uid, from.stx_gid, from.stx_size as libc::off_t);
    (st.st_blksize, st.st_blocks) = (from.stx_blksize as libc::blksize_t, from.stx_blocks as libc::blkcnt_t);
    (st.st_atime, st.st_atime_nsec) = (from.stx_atime.tv_sec, from.stx_atime.tv_nsec as i64);
    (st.st_mtime, st.st_mtime_nsec) = (from.stx_mtime.tv_sec, from.stx_mtime.tv_nsec as i64);
    (st.st_ctime, st.st_ctime_nsec) = (from.stx_ctime.tv_sec, from.stx_ctime.tv_nsec as i64);
    let known = from.stx_mask & libc::STATX_BTIME != 0;
    Ok(StatData { st, birth: Ok(known.then_some((from.stx_btime.tv_sec, from.stx_btime.tv_nsec as i64))) })
}

fn birth_of(cx: &mut Cx, v: Value, follow: bool) -> Result<Birth> {
    if cx.is_data::<object::IoData>(v) {
        let fd = object::get(cx, v)?.fd;
        return Ok(birth_at(fd, c"", libc::AT_EMPTY_PATH));
    }
    let p = cwd::c(&cx.path_of(v)?);
    let at = cwd::dirfd(cx);
    Ok(birth_at(at, &p, if follow { 0 } else { libc::AT_SYMLINK_NOFOLLOW }))
}

/// Time of birth. NotImplementedError when nobody knows.
fn birthtime(cx: &mut Cx, birth: Birth, path: &[u8]) -> Result<Value> {
    match birth {
        Ok(Some((s, n))) => time(cx, s, n),
        Ok(None) => cx.raise(ids::NOT_IMPLEMENTED_ERROR, "birthtime is unimplemented on this filesystem"),
        Err(libc::ENOSYS) => cx.raise(ids::NOT_IMPLEMENTED_ERROR, "birthtime() function is unimplemented on this machine"),
        Err(e) => fail_at(cx, e, "rb_file_s_birthtime", path),
    }
}

/// What an argument names, asked once: a stream, or a path as a String.
fn named(cx: &mut Cx, v: Value) -> Result<Value> {
    if v.is_kind(Kind::String) || cx.is_data::<object::IoData>(v) {
        return Ok(v);
    }
    match cx.call_if_responds(v, sym::to_io, &[])? {
        Some(io) if cx.is_data::<object::IoData>(io) => Ok(io),
        _ => Ok(cx.path_str(v)?.as_value()),
    }
}

fn stat_data(cx: &mut Cx, v: Value, follow: bool, func: &str) -> Result<StatData> {
    let v = named(cx, v)?;
    if v.is_kind(Kind::String) {
        let p = cx.path_of(v)?;
        match all_at(cwd::dirfd(cx), &cwd::c(&p), if follow { 0 } else { libc::AT_SYMLINK_NOFOLLOW }) {
            Ok(d) => return Ok(d),
            // Not every sandbox knows the call.
            Err(libc::ENOSYS | libc::EPERM | libc::EINVAL) => {}
            Err(e) => return fail_at(cx, e, func, &p),
        }
    }
    let st = stat_or_fail(cx, v, follow, func)?;
    let birth = birth_of(cx, v, follow)?;
    Ok(StatData { st, birth })
}

fn stat_value(cx: &mut Cx, v: Value, follow: bool, func: &str) -> Result<Value> {
    let d = stat_data(cx, v, follow, func)?;
    Ok(cx.data(ids::FILE_STAT, d))
}

/// Is the process in a group?
fn in_group(gid: u32) -> bool {
    let mut list = [0; 512];
    // SAFETY: getegid has no preconditions; the list has room for the number given.
    unsafe {
        if libc::getegid() == gid {
            return true;
        }
        let n = libc::getgroups(list.len() as i32, list.as_mut_ptr());
        list[..n.max(0) as usize].contains(&gid)
    }
}

fn kind(st: &libc::stat) -> libc::mode_t {
    st.st_mode & libc::S_IFMT
}

/// stat of an IO or path. Ok(None) when there is no such file.
pub fn stat_of(cx: &mut Cx, v: Value) -> Result<Option<libc::stat>> {
    Ok(stat_result(cx, v, true)?.ok())
}

fn stat_result(cx: &mut Cx, v: Value, follow: bool) -> Result<std::result::Result<libc::stat, i32>> {
    if cx.is_data::<object::IoData>(v) {
        let fd = object::get(cx, v)?.fd;
        // SAFETY: fstat fills the zeroed struct.
        unsafe {
            let mut st: libc::stat = std::mem::zeroed();
            return Ok(if libc::fstat(fd, &mut st) == 0 { Ok(st) } else { Err(super::errors::last_errno()) });
        }
    }
    if !v.is_kind(Kind::String)
        && let Some(io) = cx.call_if_responds(v, sym::to_io, &[])?
        && cx.is_data::<object::IoData>(io)
    {
        return stat_result(cx, io, follow);
    }
    let p = cx.path_of(v)?;
    Ok(cwd::stat(cx, &p, follow))
}

/// stat that raises; `func` as CRuby names the call.
pub fn stat_or_fail(cx: &mut Cx, v: Value, follow: bool, func: &str) -> Result<libc::stat> {
    match stat_result(cx, v, follow)? {
        Ok(s) => Ok(s),
        Err(e) => {
            let p = if cx.is_data::<object::IoData>(v) { object::raw(cx, v)?.path.clone().unwrap_or_default() } else { cx.path_of(v)? };
            fail_at(cx, e, func, &p)
        }
    }
}

/// faccessat(2) for the effective (or real) user.
fn access(cx: &mut Cx, v: Value, mode: i32, real: bool) -> Result<bool> {
    if cx.is_data::<object::IoData>(v) {
        let fd = object::get(cx, v)?.fd;
        let p = cwd::c(format!("/proc/self/fd/{fd}").as_bytes());
        // SAFETY: p is a C string.
        return Ok(unsafe { libc::access(p.as_ptr(), mode) } == 0);
    }
    let p = cwd::c(&cx.path_of(v)?);
    let at = cwd::dirfd(cx);
    // SAFETY: p is a C string.
    Ok(unsafe { libc::faccessat(at, p.as_ptr(), mode, if real { 0 } else { libc::AT_EACCESS }) } == 0)
}

pub fn ftype(st: &libc::stat) -> &'static str {
    match kind(st) {
        libc::S_IFREG => "file",
        libc::S_IFDIR => "directory",
        libc::S_IFCHR => "characterSpecial",
        libc::S_IFBLK => "blockSpecial",
        libc::S_IFIFO => "fifo",
        libc::S_IFLNK => "link",
        libc::S_IFSOCK => "socket",
        _ => "unknown",
    }
}

fn time(cx: &mut Cx, sec: i64, nsec: i64) -> Result<Value> {
    crate::time::local(cx, sec, nsec as u32)
}

/// The tests that File, FileTest and (on an open stat) File::Stat share.
fn is(cx: &mut Cx, v: Value, f: fn(&libc::stat) -> bool) -> Result<bool> {
    Ok(stat_of(cx, v)?.is_some_and(|s| f(&s)))
}

macro_rules! path_tests {
    ($module:ident, $class:expr_2021) => {
        #[ruby_class($class)]
        pub mod $module {
            use super::*;
            /// Whether there is such a file.
            ///
            ///     File.exist?("/dev/null")   #=> true
            #[method("exist?", singleton)]
            fn exist(cx: &mut Cx, _this: Value, v: Value) -> Result<bool> {
                Ok(stat_of(cx, v)?.is_some())
            }
            /// Whether it is a regular file.
            ///
            ///     File.file?("/")   #=> false
            #[method("file?", singleton)]
            fn is_file(cx: &mut Cx, _this: Value, v: Value) -> Result<bool> {
                is(cx, v, |s| kind(s) == libc::S_IFREG)
            }
            /// Whether it is a directory.
            ///
            ///     File.directory?("/")   #=> true
            #[method("directory?", singleton)]
            fn is_directory(cx: &mut Cx, _this: Value, v: Value) -> Result<bool> {
                is(cx, v, |s| kind(s) == libc::S_IFDIR)
            }
            /// Whether it is a symbolic link.
            #[method("symlink?", singleton)]
            fn is_symlink(cx: &mut Cx, _this: Value, v: Value) -> Result<bool> {
                Ok(stat_result(cx, v, false)?.is_ok_and(|s| kind(&s) == libc::S_IFLNK))
            }
            /// Whether it is a pipe.
            #[method("pipe?", singleton)]
            fn is_pipe(cx: &mut Cx, _this: Value, v: Value) -> Result<bool> {
                is(cx, v, |s| kind(s) == libc::S_IFIFO)
            }
            /// Whether it is a socket.
            #[method("socket?", singleton)]
            fn is_socket(cx: &mut Cx, _this: Value, v: Value) -> Result<bool> {
                is(cx, v, |s| kind(s) == libc::S_IFSOCK)
            }
            /// Whether it is a block device.
            #[method("blockdev?", singleton)]
            fn is_blockdev(cx: &mut Cx, _this: Value, v: Value) -> Result<bool> {
                is(cx, v, |s| kind(s) == libc::S_IFBLK)
            }
            /// Whether it is a character device.
            #[method("chardev?", singleton)]
            fn is_chardev(cx: &mut Cx, _this: Value, v: Value) -> Result<bool> {
                is(cx, v, |s| kind(s) == libc::S_IFCHR)
            }
            /// Whether it exists and is empty.
            #[method("zero?", "empty?", singleton)]
            fn is_zero(cx: &mut Cx, _this: Value, v: Value) -> Result<bool> {
                is(cx, v, |s| s.st_size == 0)
            }
            /// Its size, nil when it is empty or missing.
            #[method("size?", singleton)]
            fn size_p(cx: &mut Cx, _this: Value, v: Value) -> Result<Option<i64>> {
                Ok(stat_of(cx, v)?.map(|s| s.st_size).filter(|n| *n > 0))
            }
            /// Its size in bytes.
            #[method("size", singleton)]
            fn size(cx: &mut Cx, _this: Value, v: Value) -> Result<i64> {
                if cx.is_data::<object::IoData>(v) && object::get(cx, v)?.writable() {
                    object::flush(cx, v)?;
                }
                Ok(stat_or_fail(cx, v, true, "rb_file_s_size")?.st_size)
            }
            /// Whether it can be read.
            #[method("readable?", singleton)]
            fn is_readable(cx: &mut Cx, _this: Value, v: Value) -> Result<bool> {
                access(cx, v, libc::R_OK, false)
            }
            /// Whether it can be read by the real user.
            #[method("readable_real?", singleton)]
            fn is_readable_real(cx: &mut Cx, _this: Value, v: Value) -> Result<bool> {
                access(cx, v, libc::R_OK, true)
            }
            /// Whether it can be written.
            #[method("writable?", singleton)]
            fn is_writable(cx: &mut Cx, _this: Value, v: Value) -> Result<bool> {
                access(cx, v, libc::W_OK, false)
            }
            /// Whether it can be written by the real user.
            #[method("writable_real?", singleton)]
            fn is_writable_real(cx: &mut Cx, _this: Value, v: Value) -> Result<bool> {
                access(cx, v, libc::W_OK, true)
            }
            /// Whether it can be executed (a directory: entered).
            #[method("executable?", singleton)]
            fn is_executable(cx: &mut Cx, _this: Value, v: Value) -> Result<bool> {
                access(cx, v, libc::X_OK, false)
            }
            /// Whether it can be executed by the real user.
            #[method("executable_real?", singleton)]
            fn is_executable_real(cx: &mut Cx, _this: Value, v: Value) -> Result<bool> {
                access(cx, v, libc::X_OK, true)
            }
            /// Permission bits when everyone may read it, else nil.
            #[method("world_readable?", singleton)]
            fn world_readable(cx: &mut Cx, _this: Value, v: Value) -> Result<Option<i64>> {
                Ok(stat_of(cx, v)?.filter(|s| s.st_mode & 0o004 != 0).map(|s| (s.st_mode & 0o777) as i64))
            }
            /// Permission bits when everyone may write it, else nil.
            #[method("world_writable?", singleton)]
            fn world_writable(cx: &mut Cx, _this: Value, v: Value) -> Result<Option<i64>> {
                Ok(stat_of(cx, v)?.filter(|s| s.st_mode & 0o002 != 0).map(|s| (s.st_mode & 0o777) as i64))
            }
            /// Whether it belongs to this process's user.
            #[method("owned?", singleton)]
            fn is_owned(cx: &mut Cx, _this: Value, v: Value) -> Result<bool> {
                // SAFETY: geteuid has no preconditions.
                is(cx, v, |s| s.st_uid == unsafe { libc::geteuid() })
            }
            /// Whether it belongs to this process's group.
            #[method("grpowned?", singleton)]
            fn is_grpowned(cx: &mut Cx, _this: Value, v: Value) -> Result<bool> {
                is(cx, v, |s| in_group(s.st_gid))
            }
            /// Whether the set-user-id bit is set.
            #[method("setuid?", singleton)]
            fn is_setuid(cx: &mut Cx, _this: Value, v: Value) -> Result<bool> {
                is(cx, v, |s| s.st_mode & libc::S_ISUID != 0)
            }
            /// Whether the set-group-id bit is set.
            #[method("setgid?", singleton)]
            fn is_setgid(cx: &mut Cx, _this: Value, v: Value) -> Result<bool> {
                is(cx, v, |s| s.st_mode & libc::S_ISGID != 0)
            }
            /// Whether the sticky bit is set.
            #[method("sticky?", singleton)]
            fn is_sticky(cx: &mut Cx, _this: Value, v: Value) -> Result<bool> {
                is(cx, v, |s| s.st_mode & libc::S_ISVTX != 0)
            }
            /// Whether two paths or streams are the same file.
            #[method("identical?", singleton)]
            fn is_identical(cx: &mut Cx, _this: Value, a: Value, b: Value) -> Result<bool> {
                let (Some(x), Some(y)) = (stat_of(cx, a)?, stat_of(cx, b)?) else { return Ok(false) };
                Ok(x.st_dev == y.st_dev && x.st_ino == y.st_ino)
            }
        }
    };
}
path_tests!(file_tests, ids::FILE);
path_tests!(file_test, ids::FILE_TEST);

#[ruby_class(ids::FILE)]
pub mod file {
    use super::*;
    /// What is known about a file.
    #[method("stat", singleton)]
    fn stat(cx: &mut Cx, _this: Value, v: Value) -> Result<Value> {
        stat_value(cx, v, true, "rb_file_s_stat")
    }
    /// What is known about a file or symbolic link itself.
    #[method("lstat", singleton)]
    fn lstat(cx: &mut Cx, _this: Value, v: Value) -> Result<Value> {
        stat_value(cx, v, false, "rb_file_s_lstat")
    }
    /// "file", "directory", "link", "fifo", "socket", "characterSpecial", "blockSpecial"
    ///
    ///     File.ftype("/dev/null")   #=> "characterSpecial"
    #[method("ftype", singleton)]
    fn ftype(cx: &mut Cx, _this: Value, v: Value) -> Result<Value> {
        let s = stat_or_fail(cx, v, false, "rb_file_s_ftype")?;
        Ok(cx.str(super::ftype(&s)))
    }
    /// Time of the last change of the content.
    #[method("mtime", singleton)]
    fn mtime(cx: &mut Cx, _this: Value, v: Value) -> Result<Value> {
        let s = stat_or_fail(cx, v, true, "rb_file_s_mtime")?;
        time(cx, s.st_mtime, s.st_mtime_nsec)
    }
    /// Time of the last access.
    #[method("atime", singleton)]
    fn atime(cx: &mut Cx, _this: Value, v: Value) -> Result<Value> {
        let s = stat_or_fail(cx, v, true, "rb_file_s_atime")?;
        time(cx, s.st_atime, s.st_atime_nsec)
    }
    /// Time of the last change of the file's data or attributes.
    #[method("ctime", singleton)]
    fn ctime(cx: &mut Cx, _this: Value, v: Value) -> Result<Value> {
        let s = stat_or_fail(cx, v, true, "rb_file_s_ctime")?;
        time(cx, s.st_ctime, s.st_ctime_nsec)
    }
    /// Time when the file was made.
    #[method("birthtime", singleton)]
    fn birthtime(cx: &mut Cx, _this: Value, v: Value) -> Result<Value> {
        let v = named(cx, v)?;
        let b = birth_of(cx, v, true)?;
        let p = if cx.is_data::<object::IoData>(v) { Vec::new() } else { cx.path_of(v)? };
        super::birthtime(cx, b, &p)
    }
    /// Time when the file was made.
    #[method("birthtime")]
    fn own_birthtime(cx: &mut Cx, this: Value) -> Result<Value> {
        let b = birth_of(cx, this, true)?;
        super::birthtime(cx, b, b"")
    }
    /// What is known about the open file.
    #[method("lstat")]
    fn own_lstat(cx: &mut Cx, this: Value) -> Result<Value> {
        stat_value(cx, this, true, "")
    }
    /// Time of the last change of the content.
    #[method("mtime")]
    fn own_mtime(cx: &mut Cx, this: Value) -> Result<Value> {
        let s = stat_or_fail(cx, this, true, "")?;
        time(cx, s.st_mtime, s.st_mtime_nsec)
    }
    /// Time of the last access.
    #[method("atime")]
    fn own_atime(cx: &mut Cx, this: Value) -> Result<Value> {
        let s = stat_or_fail(cx, this, true, "")?;
        time(cx, s.st_atime, s.st_atime_nsec)
    }
    /// Time of the last change of data or attributes.
    #[method("ctime")]
    fn own_ctime(cx: &mut Cx, this: Value) -> Result<Value> {
        let s = stat_or_fail(cx, this, true, "")?;
        time(cx, s.st_ctime, s.st_ctime_nsec)
    }
    /// Size in bytes; what is buffered is written first.
    #[method("size")]
    fn own_size(cx: &mut Cx, this: Value) -> Result<i64> {
        if object::get(cx, this)?.writable() {
            object::flush(cx, this)?;
        }
        Ok(stat_or_fail(cx, this, true, "")?.st_size)
    }
}

#[ruby_class(ids::IO)]
pub mod io {
    use super::*;
    /// What is known about the open file.
    #[method("stat")]
    fn stat(cx: &mut Cx, this: Value) -> Result<Value> {
        stat_value(cx, this, true, "")
    }
}

#[ruby_class(ids::FILE_STAT)]
pub mod stat {
    use super::*;
    fn st(cx: &mut Cx, v: Value) -> Result<&libc::stat> {
        Ok(&cx.data_ref::<StatData>(v)?.st)
    }
    /// What is known about a path.
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, path: Value) -> Result<()> {
        let d = stat_data(cx, path, true, "rb_file_s_stat")?;
        cx.data_init(this, d)
    }
    /// As `File.ftype`.
    ///
    ///     File.stat("/").ftype   #=> "directory"
    #[method("ftype")]
    fn ftype(cx: &mut Cx, this: Value) -> Result<&'static str> {
        Ok(super::ftype(st(cx, this)?))
    }
    /// Type and permission bits.
    #[method("mode")]
    fn mode(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(st(cx, this)?.st_mode as i64)
    }
    /// Size in bytes.
    #[method("size")]
    fn size(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(st(cx, this)?.st_size)
    }
    /// Size in bytes, nil for zero.
    #[method("size?")]
    fn size_p(cx: &mut Cx, this: Value) -> Result<Option<i64>> {
        Ok(Some(st(cx, this)?.st_size).filter(|n| *n > 0))
    }
    /// Whether the size is zero.
    #[method("zero?")]
    fn is_zero(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(st(cx, this)?.st_size == 0)
    }
    /// Number of hard links.
    #[method("nlink")]
    fn nlink(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(st(cx, this)?.st_nlink as i64)
    }
    /// Owner.
    #[method("uid")]
    fn uid(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(st(cx, this)?.st_uid as i64)
    }
    /// Group.
    #[method("gid")]
    fn gid(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(st(cx, this)?.st_gid as i64)
    }
    /// Inode number.
    #[method("ino")]
    fn ino(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(st(cx, this)?.st_ino as i64)
    }
    /// Device number.
    #[method("dev")]
    fn dev(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(st(cx, this)?.st_dev as i64)
    }
    /// Major number of the device.
    #[method("dev_major")]
    fn dev_major(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(libc::major(st(cx, this)?.st_dev) as i64)
    }
    /// Minor number of the device.
    #[method("dev_minor")]
    fn dev_minor(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(libc::minor(st(cx, this)?.st_dev) as i64)
    }
    /// Device number of a device file.
    #[method("rdev")]
    fn rdev(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(st(cx, this)?.st_rdev as i64)
    }
    /// Major number of a device file.
    ///
    ///     File.stat("/dev/null").rdev_major   #=> 1
    #[method("rdev_major")]
    fn rdev_major(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(libc::major(st(cx, this)?.st_rdev) as i64)
    }
    /// Minor number of a device file.
    ///
    ///     File.stat("/dev/null").rdev_minor   #=> 3
    #[method("rdev_minor")]
    fn rdev_minor(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(libc::minor(st(cx, this)?.st_rdev) as i64)
    }
    /// Is the process in the group of the file?
    #[method("grpowned?")]
    fn is_grpowned(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(in_group(st(cx, this)?.st_gid))
    }
    /// Time when the file was made.
    #[method("birthtime")]
    fn birthtime(cx: &mut Cx, this: Value) -> Result<Value> {
        let b = cx.data_ref::<StatData>(this)?.birth;
        super::birthtime(cx, b, b"")
    }
    /// Preferred block size.
    #[method("blksize")]
    fn blksize(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(st(cx, this)?.st_blksize as i64)
    }
    /// Number of 512-byte blocks.
    #[method("blocks")]
    fn blocks(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(st(cx, this)?.st_blocks)
    }
    /// Time of the last change of the content.
    #[method("mtime")]
    fn mtime(cx: &mut Cx, this: Value) -> Result<Value> {
        let &libc::stat { st_mtime, st_mtime_nsec, .. } = st(cx, this)?;
        time(cx, st_mtime, st_mtime_nsec)
    }
    /// Time of the last access.
    #[method("atime")]
    fn atime(cx: &mut Cx, this: Value) -> Result<Value> {
        let &libc::stat { st_atime, st_atime_nsec, .. } = st(cx, this)?;
        time(cx, st_atime, st_atime_nsec)
    }
    /// Time of the last change of data or attributes.
    #[method("ctime")]
    fn ctime(cx: &mut Cx, this: Value) -> Result<Value> {
        let &libc::stat { st_ctime, st_ctime_nsec, .. } = st(cx, this)?;
        time(cx, st_ctime, st_ctime_nsec)
    }
    /// Whether it is a regular file.
    #[method("file?")]
    fn is_file(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(kind(st(cx, this)?) == libc::S_IFREG)
    }
    /// Whether it is a directory.
    #[method("directory?")]
    fn is_directory(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(kind(st(cx, this)?) == libc::S_IFDIR)
    }
    /// Whether it is a symbolic link.
    #[method("symlink?")]
    fn is_symlink(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(kind(st(cx, this)?) == libc::S_IFLNK)
    }
    /// Whether it is a pipe.
    #[method("pipe?")]
    fn is_pipe(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(kind(st(cx, this)?) == libc::S_IFIFO)
    }
    /// Whether it is a socket.
    #[method("socket?")]
    fn is_socket(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(kind(st(cx, this)?) == libc::S_IFSOCK)
    }
    /// Whether it is a block device.
    #[method("blockdev?")]
    fn is_blockdev(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(kind(st(cx, this)?) == libc::S_IFBLK)
    }
    /// Whether it is a character device.
    #[method("chardev?")]
    fn is_chardev(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(kind(st(cx, this)?) == libc::S_IFCHR)
    }
    /// Whether it belongs to this process's user.
    #[method("owned?")]
    fn is_owned(cx: &mut Cx, this: Value) -> Result<bool> {
        // SAFETY: geteuid has no preconditions.
        Ok(st(cx, this)?.st_uid == unsafe { libc::geteuid() })
    }
    fn allowed(cx: &mut Cx, this: Value, bit: u32) -> Result<bool> {
        let s = st(cx, this)?;
        // SAFETY: these calls have no preconditions.
        let (uid, gid) = unsafe { (libc::geteuid(), libc::getegid()) };
        if uid == 0 {
            return Ok(bit != 1 || s.st_mode & 0o111 != 0);
        }
        let shift = if s.st_uid == uid {
            6
        } else if s.st_gid == gid {
            3
        } else {
            0
        };
        Ok(s.st_mode >> shift & bit != 0)
    }
    /// Whether it can be read.
    #[method("readable?", "readable_real?")]
    fn is_readable(cx: &mut Cx, this: Value) -> Result<bool> {
        allowed(cx, this, 4)
    }
    /// Whether it can be written.
    #[method("writable?", "writable_real?")]
    fn is_writable(cx: &mut Cx, this: Value) -> Result<bool> {
        allowed(cx, this, 2)
    }
    /// Whether it can be executed.
    #[method("executable?", "executable_real?")]
    fn is_executable(cx: &mut Cx, this: Value) -> Result<bool> {
        allowed(cx, this, 1)
    }
    /// Permission bits when everyone may read it, else nil.
    #[method("world_readable?")]
    fn world_readable(cx: &mut Cx, this: Value) -> Result<Option<i64>> {
        let m = st(cx, this)?.st_mode;
        Ok((m & 0o004 != 0).then_some((m & 0o777) as i64))
    }
    /// Permission bits when everyone may write it, else nil.
    #[method("world_writable?")]
    fn world_writable(cx: &mut Cx, this: Value) -> Result<Option<i64>> {
        let m = st(cx, this)?.st_mode;
        Ok((m & 0o002 != 0).then_some((m & 0o777) as i64))
    }
    /// Whether the set-user-id bit is set.
    #[method("setuid?")]
    fn is_setuid(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(st(cx, this)?.st_mode & libc::S_ISUID != 0)
    }
    /// Whether the set-group-id bit is set.
    #[method("setgid?")]
    fn is_setgid(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(st(cx, this)?.st_mode & libc::S_ISGID != 0)
    }
    /// Whether the sticky bit is set.
    #[method("sticky?")]
    fn is_sticky(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(st(cx, this)?.st_mode & libc::S_ISVTX != 0)
    }
    /// Compares by time of last change.
    #[method("<=>")]
    fn cmp(cx: &mut Cx, this: Value, other: Value) -> Result<Option<i64>> {
        if !cx.is_data::<StatData>(other) {
            return Ok(None);
        }
        let (a, b) = cx.data_pair::<StatData>(this, other)?;
        let (a, b) = (&a.st, &b.st);
        Ok(Some((a.st_mtime, a.st_mtime_nsec).cmp(&(b.st_mtime, b.st_mtime_nsec)) as i64))
    }
    /// All of it as text.
    #[method("inspect")]
    fn inspect(cx: &mut Cx, this: Value) -> Result<String> {
        let s = *st(cx, this)?;
        let mut times = Vec::new();
        for (sec, ns) in [(s.st_atime, s.st_atime_nsec), (s.st_mtime, s.st_mtime_nsec), (s.st_ctime, s.st_ctime_nsec)] {
            let t = time(cx, sec, ns)?;
            times.push(cx.inspect_text(t)?);
        }
        Ok(format!(
            "#<File::Stat dev=0x{:x}, ino={}, mode=0{:o}, nlink={}, uid={}, gid={}, rdev=0x{:x}, size={}, blksize={}, blocks={}, atime={}, mtime={}, ctime={}>",
            s.st_dev, s.st_ino, s.st_mode, s.st_nlink, s.st_uid, s.st_gid, s.st_rdev, s.st_size, s.st_blksize, s.st_blocks, times[0], times[1],
            times[2]
        ))
    }
}
