//! Dir: listing, making and removing directories, the VM's working directory.

use super::cwd::{self, Cwd};
use super::errors::{fail_at, io_error, last_errno};
use super::glob;
use super::lease::Numbered;
use super::path;
use super::read::enumerator;
use zakuro_macros::{Trace, ruby_class};
use zakuro_core_text::encoding::external_text;
use zakuro_object::string::UTF8;
use zakuro_text::encoding::Encoding;
use zakuro_vm::*;

/// Payload of Dir: the entries are read when it is opened.
#[derive(Trace)]
pub struct DirData {
    /// None: by descriptor.
    path: Option<Vec<u8>>,
    path_encoding: u8,
    /// Encoding of the names.
    #[untraced]
    encoding: Encoding,
    #[untraced]
    fd: Numbered,
    entries: Vec<Vec<u8>>,
    at: usize,
    closed: bool,
    /// Counts the descriptor, until the end or `close`.
    #[untraced]
    held: Option<crate::process::descriptors::Held>,
}
impl NativeData for DirData {
    fn weight(&self) -> usize {
        let names = self.entries.iter().map(|n| n.capacity().next_multiple_of(16)).sum::<usize>();
        self.path.as_ref().map_or(0, Vec::capacity) + self.entries.capacity() * size_of::<Vec<u8>>() + names
    }
}

fn open_dir(cx: &mut Cx, p: &[u8]) -> std::result::Result<i32, i32> {
    let at = cwd::dirfd(cx);
    let c = cwd::c(p);
    // SAFETY: c is a C string.
    let fd = unsafe { libc::openat(at, c.as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC) };
    if fd < 0 { Err(last_errno()) } else { Ok(fd) }
}

/// Names in an open directory, "." and ".." included.
fn read_entries(fd: i32) -> std::result::Result<Vec<Vec<u8>>, i32> {
    // SAFETY: our own descriptor; that of the object stays as it is but for its position.
    let own = unsafe {
        let dup = libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3);
        if dup < 0 {
            return Err(last_errno());
        }
        libc::lseek(dup, 0, libc::SEEK_SET);
        dup
    };
    let mut out = Vec::new();
    each_entry(own, |name, _| {
        out.push(name.to_vec());
        true
    })?;
    Ok(out)
}

/// Each name in a directory that was opened or sought to its begin just now, and whether it is that of a directory, as far as the file system tells; as long as `row` wants more. Closes the descriptor.
fn each_entry(fd: i32, mut row: impl FnMut(&[u8], Option<bool>) -> bool) -> std::result::Result<(), i32> {
    // SAFETY: the descriptor is the caller's to give and belongs to the DIR, which is closed here; entries are read before the next call.
    unsafe {
        let d = libc::fdopendir(fd);
        if d.is_null() {
            let e = last_errno();
            libc::close(fd);
            return Err(e);
        }
        loop {
            let e = libc::readdir(d);
            if e.is_null() {
                break;
            }
            let directory = match (*e).d_type {
                libc::DT_UNKNOWN => None,
                kind => Some(kind == libc::DT_DIR),
            };
            if !row(std::ffi::CStr::from_ptr((*e).d_name.as_ptr()).to_bytes(), directory) {
                break;
            }
        }
        libc::closedir(d);
        Ok(())
    }
}

/// Names in a directory. Err: errno.
pub fn entries_at(cx: &mut Cx, p: &[u8]) -> std::result::Result<Vec<Vec<u8>>, i32> {
    listed(cx, p, |name, _| name.to_vec())
}

/// The same with whether they are directories (symbolic links are not), as far as the file system tells.
pub fn kinds_at(cx: &mut Cx, p: &[u8]) -> std::result::Result<Vec<(Vec<u8>, Option<bool>)>, i32> {
    listed(cx, p, |name, directory| (name.to_vec(), directory))
}

/// Where descriptors are used up, those of objects that nobody refers to any more are closed first.
fn listed<T>(cx: &mut Cx, p: &[u8], row: impl Fn(&[u8], Option<bool>) -> T) -> std::result::Result<Vec<T>, i32> {
    let fd = open_or_reclaim(cx, p)?;
    let mut out = Vec::new();
    each_entry(fd, |name, directory| {
        out.push(row(name, directory));
        true
    })?;
    Ok(out)
}

fn open_or_reclaim(cx: &mut Cx, p: &[u8]) -> std::result::Result<i32, i32> {
    loop {
        match open_dir(cx, p) {
            Err(libc::EMFILE | libc::ENFILE) if super::open::reclaim(cx) => {}
            opened => return opened,
        }
    }
}

/// Whether a directory holds nothing but itself and the one above. Err: errno.
fn is_bare(cx: &mut Cx, p: &[u8]) -> std::result::Result<bool, i32> {
    let fd = open_or_reclaim(cx, p)?;
    let mut bare = true;
    each_entry(fd, |name, _| {
        bare = is_dot(name);
        bare
    })?;
    Ok(bare)
}

fn entries_or_fail(cx: &mut Cx, v: Value) -> Result<Vec<Vec<u8>>> {
    let p = cx.path_of(v)?;
    match entries_at(cx, &p) {
        Ok(e) => Ok(e),
        Err(e) => fail_at(cx, e, "dir_initialize", &p),
    }
}

/// Enumerator of a singleton method over a path.
fn lazily(cx: &mut Cx, this: Value, name: &str, path: Value, kw: Kwargs) -> Result<Value> {
    let options = kw.hash(cx).map(|h| h.as_value());
    let args = ArgList::new(cx, &[&[Value::sym(Sym::intern(name)), path], options.as_slice()]);
    cx.call_full(this, sym::to_enum, &args, !kw.is_none(), Block::NONE)
}

fn is_dot(n: &[u8]) -> bool {
    n == b"." || n == b".."
}

/// Encoding of names: `encoding:`, or the file system's.
fn encoding_of(cx: &mut Cx, kw: Kwargs) -> Result<Encoding> {
    kw.only(cx, &[Sym::intern("encoding")])?;
    match kw.named("encoding").filter(|e| !e.is_nil()) {
        Some(e) => zakuro_core_text::encoding::from_value(cx, e),
        None => Ok(zakuro_core_text::encoding::default_external(cx)),
    }
}

fn names(cx: &mut Cx, list: &[Vec<u8>], e: Encoding) -> Value {
    let a = cx.new_array();
    for n in list {
        let s = external_text(cx, n, e);
        ArrayCell::push(a, &mut cx.heap, s);
    }
    a.as_value()
}

fn dir(cx: &mut Cx, v: Value) -> Result<&mut DirData> {
    if !cx.is_data::<DirData>(v) {
        return io_error(cx, "uninitialized Dir");
    }
    let d = cx.data_ref::<DirData>(v)?;
    if d.closed || d.fd.is_over() {
        return io_error(cx, "closed directory");
    }
    cx.data_mut::<DirData>(v)
}

/// The descriptor's number, for the program.
fn number(cx: &mut Cx, v: Value) -> Result<i32> {
    let mut fd = std::mem::replace(&mut dir(cx, v)?.fd, Numbered::own(-1));
    let number = fd.number(cx);
    cx.data_mut::<DirData>(v)?.fd = fd;
    Ok(number)
}

fn close(cx: &mut Cx, v: Value) -> Result<()> {
    let d = cx.data_mut::<DirData>(v)?;
    d.closed = true;
    d.held = None;
    if let Some(e) = d.fd.close() {
        return super::fail(cx, e, "closedir");
    }
    Ok(())
}

/// While a block has the directory, other threads may not change it; its own thread is warned.
fn may_change(cx: &mut Cx, block: Block) -> Result<()> {
    let thread = cx.thread_id();
    let Some((owner, place)) = cx.state::<Cwd>().begun.clone() else { return Ok(()) };
    let conflict = "conflicting chdir during another chdir block";
    if owner != thread {
        return cx.raise(ids::RUNTIME_ERROR, conflict);
    }
    if block.is_none() {
        cx.warn_here(&format!("{conflict}\n{place}: note: previous chdir was here"))?;
    }
    Ok(())
}

/// Runs the block that the directory is changed for.
fn during_change(cx: &mut Cx, call: impl FnOnce(&mut Cx) -> Result<Value>) -> Result<Value> {
    if cx.state::<Cwd>().blocks == 0 {
        let place = cx.here().map_or(String::new(), |(file, line)| format!("{file}:{line}"));
        cx.state::<Cwd>().begun = Some((cx.thread_id(), place));
    }
    cx.state::<Cwd>().blocks += 1;
    let r = call(cx);
    let cwd = cx.state::<Cwd>();
    cwd.blocks -= 1;
    if cwd.blocks == 0 {
        cwd.begun = None;
    }
    r
}

/// Changes the VM's directory during the block, or for good.
fn chdir_to(cx: &mut Cx, p: &[u8], block: Block) -> Result<Value> {
    may_change(cx, block)?;
    if block.is_none() {
        return match cwd::chdir(cx, p) {
            Ok(()) => Ok(Value::fixnum(0)),
            Err(e) => fail_at(cx, e, "dir_chdir0", p),
        };
    }
    let old = match cwd::pwd(cx) {
        Ok(o) => o,
        Err(e) => return fail_at(cx, e, "rb_dir_getwd", b""),
    };
    if let Err(e) = cwd::chdir(cx, p) {
        return fail_at(cx, e, "dir_chdir0", p);
    }
    let arg = cx.str_bytes(p, UTF8);
    let r = during_change(cx, |cx| cx.yield1(block, arg));
    if let Err(e) = cwd::chdir(cx, &old) {
        r?;
        return fail_at(cx, e, "dir_chdir0", &old);
    }
    r
}

/// Makes an open directory the VM's during the block, or for good.
fn fchdir_to(cx: &mut Cx, fd: i32, block: Block) -> Result<Value> {
    may_change(cx, block)?;
    let kept = cwd::keep(cx);
    if let Err(e) = cwd::fchdir(cx, fd) {
        return super::fail(cx, e, "fchdir");
    }
    if block.is_none() {
        return Ok(Value::fixnum(0));
    }
    let r = during_change(cx, |cx| cx.yield_values(block, &[]));
    cwd::restore(cx, kept);
    r
}

fn glob_args(cx: &mut Cx, kw: &Kwargs) -> Result<(i32, Vec<u8>, bool)> {
    kw.only(cx, &[sym::base, Sym::intern("sort"), Sym::intern("flags")])?;
    let flags = match kw.named("flags") {
        Some(f) => cx.to_i64(f)? as i32,
        None => 0,
    };
    let base = match kw.get(sym::base).filter(|b| !b.is_nil()) {
        Some(b) if cx.is_data::<DirData>(b) => dir(cx, b)?.path.clone().unwrap_or_default(),
        Some(b) => cx.path_of(b)?,
        None => Vec::new(),
    };
    let sort = match kw.named("sort") {
        None | Some(Value::TRUE) => true,
        Some(Value::FALSE) => false,
        Some(other) => {
            let shown = cx.inspect_for_error(other);
            return cx.arg_error(format!("expected true or false as sort: {shown}"));
        }
    };
    Ok((flags, base, sort))
}

/// Paths that match one pattern, and their encoding: the pattern's.
/// `single`: a pattern alone, which could hold several with NULs in between in old versions of Ruby.
fn glob_pattern(
    cx: &mut Cx,
    v: Value,
    (flags, base, sort): (i32, &[u8], bool),
    single: bool,
    out: &mut Vec<(Vec<u8>, u8)>,
) -> Result<()> {
    let v = match cx.call_if_responds(v, sym::to_path, &[])? {
        Some(p) if !v.is_kind(Kind::String) => p,
        _ => v,
    };
    let s = cx.to_str(v)?;
    let p = s.to_vec();
    let e = Encoding::from_id(s.encoding()).unwrap_or(Encoding::UTF_8);
    if !e.is_ascii_compatible() {
        return cx.raise(ids::COMPAT_ERROR, format!("incompatible character encodings: {} and US-ASCII", e.name()));
    }
    if p.contains(&0) {
        return cx.arg_error(if single { "nul-separated glob pattern is deprecated" } else { "path name contains null byte" });
    }
    let e = if e == Encoding::US_ASCII { zakuro_core_text::encoding::default_external(cx) } else { e };
    let mut found = Vec::new();
    glob::glob(cx, &p, flags, base, sort, &mut found)?;
    out.extend(found.into_iter().map(|n| (n, e.id())));
    Ok(())
}

fn paths(cx: &mut Cx, list: &[(Vec<u8>, u8)]) -> Value {
    let a = cx.new_array();
    for (n, e) in list {
        let s = cx.str_bytes(n, *e);
        ArrayCell::push(a, &mut cx.heap, s);
    }
    a.as_value()
}

#[ruby_class(ids::DIR)]
pub mod dir_class {
    use super::*;
    /// The VM's working directory.
    ///
    ///     Dir.chdir("/") { Dir.pwd }   #=> "/"
    #[method("pwd", "getwd", singleton)]
    fn pwd(cx: &mut Cx, _this: Value) -> Result<Value> {
        match cwd::pwd(cx) {
            Ok(p) => {
                let e = zakuro_core_text::encoding::default_external(cx);
                Ok(cx.str_bytes(&p, if e == Encoding::US_ASCII { Encoding::BINARY } else { e }.id()))
            }
            Err(e) => fail_at(cx, e, "rb_dir_getwd", b""),
        }
    }
    /// Changes the VM's working directory (to HOME without an argument); with a block only during it.
    #[method("chdir", singleton)]
    fn chdir(cx: &mut Cx, _this: Value, path: Option<Value>, block: Block) -> Result<Value> {
        let p = match path {
            Some(p) => cx.path_of(p)?,
            None => match crate::env::get(cx, b"HOME").or_else(|| crate::env::get(cx, b"LOGDIR")) {
                Some(h) => h,
                None => return cx.arg_error("HOME/LOGDIR not set"),
            },
        };
        chdir_to(cx, &p, block)
    }
    /// Makes a directory the root of the whole process. Only the main VM may, and only who has the right to.
    ///
    ///     Dir.chroot("a\0b") rescue $!.class   #=> ArgumentError
    #[method("chroot", singleton)]
    fn chroot(cx: &mut Cx, _this: Value, path: Value) -> Result<i64> {
        let p = cx.path_of(path)?;
        crate::process::owner::main_only(cx, "Dir.chroot changes the whole process")?;
        // From the VM's working directory, which is no business of the process's.
        let mut at = if p.starts_with(b"/") { Vec::new() } else { cwd::pwd(cx).unwrap_or_default() };
        if !at.is_empty() {
            at.push(b'/');
        }
        at.extend_from_slice(&p);
        let Ok(name) = std::ffi::CString::new(at) else { return cx.arg_error("string contains null byte") };
        // SAFETY: a terminated name.
        if unsafe { libc::chroot(name.as_ptr()) } != 0 {
            let errno = last_errno();
            return fail_at(cx, errno, "dir_s_chroot", &p);
        }
        Ok(0)
    }
    /// Makes the directory of a descriptor the VM's working directory; with a block only during it.
    ///
    ///     Dir.open("/") { |d| Dir.fchdir(d.fileno) { Dir.pwd } }   #=> "/"
    #[method("fchdir", singleton)]
    fn fchdir(cx: &mut Cx, _this: Value, fd: i64, block: Block) -> Result<Value> {
        fchdir_to(cx, fd as i32, block)
    }
    /// A Dir over the descriptor of an open directory.
    #[method("for_fd", singleton)]
    fn for_fd(cx: &mut Cx, this: ClassId, fd: i64) -> Result<Value> {
        let fd = fd as i32;
        crate::process::owner::check_number(cx, fd)?;
        let entries = match read_entries(fd) {
            Ok(e) => e,
            Err(e) => return super::super::fail(cx, e, "fdopendir"),
        };
        let encoding = zakuro_core_text::encoding::default_external(cx);
        let fd = Numbered::given(cx, fd);
        let d = DirData { path: None, path_encoding: UTF8, encoding, fd, entries, at: 0, closed: false, held: None };
        Ok(cx.data(this, d))
    }
    /// Makes a directory.
    #[method("mkdir", singleton)]
    fn mkdir(cx: &mut Cx, _this: Value, path: Value, mode: Option<i64>) -> Result<i64> {
        let p = cx.path_of(path)?;
        let at = cwd::dirfd(cx);
        let c = cwd::c(&p);
        let mode = mode.unwrap_or(0o777) as libc::mode_t & !cx.state::<super::super::open::Umask>().0;
        // SAFETY: c is a C string.
        if unsafe { libc::mkdirat(at, c.as_ptr(), mode) } != 0 {
            return fail_at(cx, last_errno(), "dir_s_mkdir", &p);
        }
        Ok(0)
    }
    /// Removes an empty directory.
    #[method("rmdir", "delete", "unlink", singleton)]
    fn rmdir(cx: &mut Cx, _this: Value, path: Value) -> Result<i64> {
        let p = cx.path_of(path)?;
        let at = cwd::dirfd(cx);
        let c = cwd::c(&p);
        // SAFETY: c is a C string.
        if unsafe { libc::unlinkat(at, c.as_ptr(), libc::AT_REMOVEDIR) } != 0 {
            return fail_at(cx, last_errno(), "dir_s_rmdir", &p);
        }
        Ok(0)
    }
    /// All names in a directory, "." and ".." included.
    #[method("entries", singleton)]
    fn entries(cx: &mut Cx, _this: Value, path: Value, kw: Kwargs) -> Result<Value> {
        let encoding = encoding_of(cx, kw)?;
        let e = entries_or_fail(cx, path)?;
        Ok(names(cx, &e, encoding))
    }
    /// All names in a directory but "." and "..".
    #[method("children", singleton)]
    fn children(cx: &mut Cx, _this: Value, path: Value, kw: Kwargs) -> Result<Value> {
        let encoding = encoding_of(cx, kw)?;
        let mut e = entries_or_fail(cx, path)?;
        e.retain(|n| !is_dot(n));
        Ok(names(cx, &e, encoding))
    }
    /// Yields each name in a directory but "." and "..".
    #[method("each_child", singleton)]
    fn each_child(cx: &mut Cx, this: Value, path: Value, kw: Kwargs, block: Block) -> Result<Value> {
        if block.is_none() {
            return lazily(cx, this, "each_child", path, kw);
        }
        let encoding = encoding_of(cx, kw)?;
        for n in entries_or_fail(cx, path)? {
            if !is_dot(&n) {
                let s = external_text(cx, &n, encoding);
                cx.yield1(block, s)?;
            }
        }
        Ok(Value::NIL)
    }
    /// Yields each name in a directory.
    #[method("foreach", singleton)]
    fn foreach(cx: &mut Cx, this: Value, path: Value, kw: Kwargs, block: Block) -> Result<Value> {
        if block.is_none() {
            return lazily(cx, this, "foreach", path, kw);
        }
        let encoding = encoding_of(cx, kw)?;
        for n in entries_or_fail(cx, path)? {
            let s = external_text(cx, &n, encoding);
            cx.yield1(block, s)?;
        }
        Ok(Value::NIL)
    }
    /// Whether there is such a directory.
    ///
    ///     Dir.exist?("/")   #=> true
    #[method("exist?", singleton)]
    fn exist(cx: &mut Cx, _this: Value, path: Value) -> Result<bool> {
        Ok(super::super::stat::stat_of(cx, path)?.is_some_and(|s| s.st_mode & libc::S_IFMT == libc::S_IFDIR))
    }
    /// Whether it is a directory without entries.
    ///
    ///     Dir.empty?("/")   #=> false
    #[method("empty?", singleton)]
    fn is_empty(cx: &mut Cx, _this: Value, path: Value) -> Result<bool> {
        let p = cx.path_of(path)?;
        match is_bare(cx, &p) {
            Ok(bare) => Ok(bare),
            Err(libc::ENOTDIR) => Ok(false),
            Err(e) => fail_at(cx, e, "rb_dir_s_empty_p", &p),
        }
    }
    /// Home directory of the user, or of another one by name.
    #[method("home", singleton)]
    fn home(cx: &mut Cx, _this: Value, user: Option<Ref<StringCell>>) -> Result<Value> {
        // No name is one's own.
        let u = user.map(|u| u.to_vec()).filter(|u| !u.is_empty());
        let h = path::home(cx, u.as_deref())?;
        Ok(cx.str_bytes(&h, UTF8))
    }
    /// Paths that match a pattern or any of several, sorted.
    ///
    ///     Dir.glob("/dev/nul[l]")   #=> ["/dev/null"]
    #[method("glob", singleton)]
    fn glob(cx: &mut Cx, _this: Value, pattern: Value, flags: Option<Value>, kw: Kwargs, block: Block) -> Result<Value> {
        let (mut f, base, sort) = glob_args(cx, &kw)?;
        if let Some(v) = flags.filter(|v| !v.is_nil() && kw.named("flags").is_none()) {
            f = cx.to_i64(v)? as i32;
        }
        let flags = f;
        let mut out = Vec::new();
        match cx.try_ary(pattern)? {
            Some(a) => {
                let mut i = 0;
                while let Some(p) = a.get(i) {
                    glob_pattern(cx, p, (flags, &base, sort), false, &mut out)?;
                    i += 1;
                }
            }
            None => glob_pattern(cx, pattern, (flags, &base, sort), true, &mut out)?,
        }
        if block.is_none() {
            return Ok(paths(cx, &out));
        }
        for (n, e) in out {
            let s = cx.str_bytes(&n, e);
            cx.yield1(block, s)?;
        }
        Ok(Value::NIL)
    }
    /// As `glob`.
    #[method("[]", singleton)]
    fn aref(cx: &mut Cx, _this: Value, patterns: Rest, kw: Kwargs) -> Result<Value> {
        let (flags, base, sort) = glob_args(cx, &kw)?;
        let mut out = Vec::new();
        for p in patterns {
            glob_pattern(cx, *p, (flags, &base, sort), patterns.len() == 1, &mut out)?;
        }
        Ok(paths(cx, &out))
    }
    /// Opens a directory; with a block closes it afterwards.
    #[method("open", singleton)]
    fn open(cx: &mut Cx, this: Value, path: Value, kw: Kwargs, block: Block) -> Result<Value> {
        let options = kw.hash(cx).map(|h| h.as_value());
        let args = ArgList::new(cx, &[&[path], options.as_slice()]);
        let d = cx.call_full(this, sym::new, &args, !kw.is_none(), Block::NONE)?;
        if block.is_none() {
            return Ok(d);
        }
        let r = cx.yield1(block, d);
        super::close(cx, d)?;
        r
    }
    /// Opens a directory.
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, path: Value, kw: Kwargs) -> Result<()> {
        let encoding = encoding_of(cx, kw)?;
        let given = cx.path_str(path)?;
        let (p, path_encoding) = (given.to_vec(), given.encoding());
        crate::process::descriptors::admit(cx, 1)?;
        let fd = match open_dir(cx, &p) {
            Ok(f) => f,
            Err(e) => return fail_at(cx, e, "dir_initialize", &p),
        };
        let entries = match read_entries(fd) {
            Ok(e) => e,
            Err(e) => {
                // SAFETY: opened just above.
                unsafe { libc::close(fd) };
                return fail_at(cx, e, "dir_initialize", &p);
            }
        };
        let held = Some(crate::process::descriptors::hold(cx, 1));
        cx.data_init(this, DirData { path: Some(p), path_encoding, encoding, fd: Numbered::own(fd), entries, at: 0, closed: false, held })
    }
    /// The next name, nil at the end.
    #[method("read")]
    fn read(cx: &mut Cx, this: Value) -> Result<Value> {
        let d = dir(cx, this)?;
        let Some(n) = d.entries.get(d.at).cloned() else { return Ok(Value::NIL) };
        d.at += 1;
        let encoding = d.encoding;
        Ok(external_text(cx, &n, encoding))
    }
    /// Yields each name.
    #[method("each")]
    fn each(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this, "each", &[]);
        }
        dir(cx, this)?.at = 0;
        loop {
            let n = read(cx, this)?;
            if n.is_nil() {
                return Ok(this);
            }
            cx.yield1(block, n)?;
        }
    }
    /// Names but "." and "..".
    #[method("children")]
    fn own_children(cx: &mut Cx, this: Value) -> Result<Value> {
        let d = dir(cx, this)?;
        d.at = d.entries.len();
        let list: Vec<Vec<u8>> = d.entries.iter().filter(|n| !is_dot(n)).cloned().collect();
        let encoding = d.encoding;
        Ok(names(cx, &list, encoding))
    }
    /// Yields each name but "." and "..".
    #[method("each_child")]
    fn own_each_child(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this, "each_child", &[]);
        }
        dir(cx, this)?.at = 0;
        loop {
            let d = dir(cx, this)?;
            while d.entries.get(d.at).is_some_and(|n| is_dot(n)) {
                d.at += 1;
            }
            let n = read(cx, this)?;
            if n.is_nil() {
                return Ok(this);
            }
            cx.yield1(block, n)?;
        }
    }
    /// The path it was opened with.
    #[method("path", "to_path")]
    fn path(cx: &mut Cx, this: Value) -> Result<Value> {
        if !cx.is_data::<DirData>(this) {
            return Ok(Value::NIL);
        }
        let d = cx.data_ref::<DirData>(this)?;
        let encoding = d.path_encoding;
        match d.path.clone() {
            Some(p) => Ok(cx.str_bytes(&p, encoding)),
            None => Ok(Value::NIL),
        }
    }
    /// The descriptor's number.
    #[method("fileno")]
    fn fileno(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(number(cx, this)? as i64)
    }
    /// Position for `seek`.
    #[method("tell", "pos")]
    fn tell(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(dir(cx, this)?.at as i64)
    }
    /// Goes to a position that `tell` gave.
    #[method("seek")]
    fn seek(cx: &mut Cx, this: Value, at: i64) -> Result<Value> {
        let d = dir(cx, this)?;
        d.at = (at.max(0) as usize).min(d.entries.len());
        Ok(this)
    }
    /// Goes to a position that `tell` gave.
    #[method("pos=")]
    fn set_pos(cx: &mut Cx, this: Value, at: i64) -> Result<i64> {
        seek(cx, this, at)?;
        Ok(at)
    }
    /// Back to the first name; the directory is read again.
    #[method("rewind")]
    fn rewind(cx: &mut Cx, this: Value) -> Result<Value> {
        let d = dir(cx, this)?;
        if let Ok(e) = read_entries(d.fd.fd()) {
            d.entries = e;
        }
        d.at = 0;
        Ok(this)
    }
    /// Makes it the VM's working directory; with a block only during it.
    #[method("chdir")]
    fn own_chdir(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        let fd = dir(cx, this)?.fd.fd();
        fchdir_to(cx, fd, block)
    }
    /// Closes the directory.
    #[method("close")]
    fn close(cx: &mut Cx, this: Value) -> Result<()> {
        super::close(cx, this)
    }
    /// `#<Dir:path>`
    #[method("inspect")]
    fn inspect(cx: &mut Cx, this: Value) -> Result<Value> {
        let c = cx.class_name_of(this);
        let p = match cx.is_data::<DirData>(this) {
            true => {
                let d = cx.data_ref::<DirData>(this)?;
                d.path.clone().unwrap_or_else(|| format!("fd {}", d.fd.fd()).into_bytes())
            }
            false => Vec::new(),
        };
        let b = [b"#<", c.as_bytes(), b":", &p, b">"].concat();
        Ok(cx.str_auto(&b))
    }
}
