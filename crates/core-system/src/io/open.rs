//! Opening and closing: IO.new, File.new, `open` with a block, pipes, `close`.

use super::cwd;
use super::errors::{fail, fail_at, io_error, last_errno};
use super::modes::{self, Mode};
use super::object::{self, APPEND, Io, READ, WRITE};
use super::{stream, wait};
use crate::process::{descriptors, owner};
use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

/// openat(2) in the VM's directory. Raises "... @ rb_sysopen - PATH".
pub fn sysopen(cx: &mut Cx, path: &[u8], flags: i32, perm: u32) -> Result<i32> {
    descriptors::admit(cx, 1)?;
    let at = cwd::dirfd(cx);
    let p = cwd::c(path);
    let flags = flags | libc::O_CLOEXEC;
    // Opening a FIFO waits for the other side, which may be another thread of this VM.
    let waits = flags & libc::O_NONBLOCK == 0
        && flags & libc::O_ACCMODE != libc::O_RDWR
        && cx.host.is_some()
        && cwd::stat(cx, path, true).is_ok_and(|s| s.st_mode & libc::S_IFMT == libc::S_IFIFO);
    loop {
        let opened = if !waits {
            open_now(at, &p, flags, perm)
        } else if flags & libc::O_ACCMODE == libc::O_WRONLY {
            open_fifo_to_write(cx, at, &p, flags)?
        } else {
            open_fifo_to_read(cx, at, &p, flags)?
        };
        match opened {
            Ok(fd) if !cx.owns_process() && is_of_the_process(fd, flags) => {
                // SAFETY: opened here.
                unsafe { libc::close(fd) };
                return fail_at(cx, libc::EACCES, "rb_sysopen", path);
            }
            Ok(fd) => return Ok(fd),
            Err(libc::EINTR) => cx.safepoint()?,
            Err(libc::EMFILE | libc::ENFILE) if reclaim(cx) => {}
            Err(e) => return fail_at(cx, e, "rb_sysopen", path),
        }
    }
}

/// What /proc offers of the process as a whole: a file there that can be written to, or the memory of all VMs.
fn is_of_the_process(fd: i32, flags: i32) -> bool {
    // SAFETY: plain numbers, which the call fills.
    let on_proc = unsafe {
        let mut about: libc::statfs = std::mem::zeroed();
        libc::fstatfs(fd, &mut about) == 0 && about.f_type == libc::PROC_SUPER_MAGIC
    };
    on_proc
        && (flags & libc::O_ACCMODE != libc::O_RDONLY
            || std::fs::read_link(format!("/proc/self/fd/{fd}")).map_or(true, |at| at.as_os_str().as_encoded_bytes().ends_with(b"/mem")))
}

fn open_now(at: i32, path: &CStr, flags: i32, perm: u32) -> std::result::Result<i32, i32> {
    // SAFETY: a C string.
    let fd = unsafe { libc::openat(at, path.as_ptr(), flags, perm as libc::c_uint) };
    if fd >= 0 { Ok(fd) } else { Err(last_errno()) }
}

/// A FIFO says at once whether somebody reads: look again and again.
fn open_fifo_to_write(cx: &mut Cx, at: i32, path: &CStr, flags: i32) -> Result<std::result::Result<i32, i32>> {
    let mut pause = Duration::from_micros(200);
    loop {
        match open_now(at, path, flags | libc::O_NONBLOCK, 0) {
            Err(libc::ENXIO) => {}
            Ok(fd) => {
                // SAFETY: our descriptor; the flags are those that were asked for.
                unsafe { libc::fcntl(fd, libc::F_SETFL, flags & !libc::O_NONBLOCK) };
                return Ok(Ok(fd));
            }
            e => return Ok(e),
        }
        cx.sleep(Some(pause))?;
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

/// Nothing tells whether somebody writes to a FIFO but the open(2) that waits for it: that stands in a native thread of its own, and the Ruby thread waits for
/// an event. An interrupt frees the native thread by being the writer for a moment. Both open what the path led to at first, which may have lost that name
/// meanwhile.
fn open_fifo_to_read(cx: &mut Cx, at: i32, path: &CStr, flags: i32) -> Result<std::result::Result<i32, i32>> {
    // SAFETY: a new descriptor, which the guard owns from here on.
    let done = unsafe {
        match libc::eventfd(0, libc::EFD_CLOEXEC) {
            -1 => return Ok(Err(last_errno())),
            fd => OwnedFd::from_raw_fd(fd),
        }
    };
    let event = done.as_raw_fd();
    let place = match open_now(at, path, libc::O_PATH | libc::O_CLOEXEC | flags & libc::O_NOFOLLOW, 0) {
        // SAFETY: opened here.
        Ok(fd) => unsafe { OwnedFd::from_raw_fd(fd) },
        Err(e) => return Ok(Err(e)),
    };
    let (at, name, flags) = match CString::new(format!("/proc/self/fd/{}", place.as_raw_fd())) {
        // SAFETY: a C string.
        Ok(link) if flags & libc::O_EXCL == 0 && unsafe { libc::access(link.as_ptr(), libc::F_OK) } == 0 => {
            (libc::AT_FDCWD, link, flags & !(libc::O_CREAT | libc::O_NOFOLLOW))
        }
        _ => (at, path.to_owned(), flags),
    };
    let writer = name.clone();
    let work = move || {
        let opened = open_now(at, &name, flags, 0);
        // SAFETY: eight bytes to an eventfd that lives until this thread was joined.
        unsafe { libc::write(event, 1u64.to_ne_bytes().as_ptr().cast(), 8) };
        opened
    };
    let opener = zakuro_base::memory::admits_thread(64 << 10)
        .and_then(|()| std::thread::Builder::new().name("zakuro-open".into()).stack_size(64 << 10).spawn(work));
    let Ok(opener) = opener else { return Ok(Err(libc::EAGAIN)) };
    let waited = wait::wait_timeout(cx, event, libc::POLLIN, None);
    while waited.is_err() && !opener.is_finished() {
        if let Ok(fd) = open_now(at, &writer, libc::O_WRONLY | libc::O_NONBLOCK | libc::O_CLOEXEC, 0) {
            // SAFETY: opened here.
            drop(unsafe { OwnedFd::from_raw_fd(fd) });
        }
        std::thread::yield_now();
    }
    let opened = opener.join().unwrap_or(Err(libc::EIO));
    if let (Err(e), Ok(fd)) = (&waited, &opened) {
        // SAFETY: opened for this call, which gives it to nobody.
        drop(unsafe { OwnedFd::from_raw_fd(*fd) });
        return Err(*e);
    }
    waited.map(|_| opened)
}

/// Collects once, so that descriptors of dead IO objects are given back.
pub fn reclaim(cx: &mut Cx) -> bool {
    let before = cx.state::<super::stream::IoState>().open.count();
    descriptors::sweep(cx);
    cx.state::<super::stream::IoState>().open.count() < before
}

/// Opens a file as a stream.
pub fn open_path(cx: &mut Cx, path: &[u8], m: &Mode, perm: u32) -> Result<Io> {
    let fd = sysopen(cx, path, m.flags, perm)?;
    let mut io = Io::new(fd, m.io);
    m.apply(&mut io);
    io.owned = true;
    io.path = Some(path.to_vec());
    if m.bom {
        skip_bom(&mut io, m.int_after_mark);
    }
    Ok(io)
}

/// Reads over a byte order mark, which decides the encoding.
fn skip_bom(io: &mut Io, internal: Option<u8>) {
    if !io.regular || !io.readable() {
        return;
    }
    let mut b = [0u8; 4];
    // SAFETY: b has four bytes; a regular file.
    let n = unsafe { libc::pread(io.fd, b.as_mut_ptr().cast(), 4, 0) }.max(0) as usize;
    let Some((enc, skip)) = super::encodings::mark(&b[..n]) else { return };
    // SAFETY: lseek on our descriptor.
    unsafe { libc::lseek(io.fd, skip as i64, libc::SEEK_SET) };
    if let Some(e) = zakuro_text::encoding::Encoding::find(enc.as_bytes()) {
        io.ext = Some(e.id());
        io.int = internal.or(io.int).filter(|i| *i != e.id());
    }
}

/// Close of a stream by its method or directly when it is the builtin one.
pub fn close_value(cx: &mut Cx, v: Value) -> Result<()> {
    if cx.is_builtin(v, sym::close, ids::IO) {
        close(cx, v)
    } else {
        match cx.call(v, sym::close, &[]) {
            Ok(_) => Ok(()),
            Err(e) => {
                // That it is closed already is what was wanted.
                let exc = cx.pending;
                let message = cx.exception_message(exc);
                let closed = Ref::<StringCell>::from_value(message).is_some_and(|m| m.equals(b"closed stream"));
                if closed && cx.is_a(exc, ids::IO_ERROR) {
                    cx.take_pending();
                    return Ok(());
                }
                Err(e)
            }
        }
    }
}

/// Writes, closes, reaps the child of a popen stream. Closed streams stay closed.
pub fn close(cx: &mut Cx, v: Value) -> Result<()> {
    let io = object::raw(cx, v)?;
    if io.is_closed() {
        return if std::mem::take(&mut io.lost) { object::fail_path(cx, v, libc::EBADF) } else { Ok(()) };
    }
    io.end_text();
    let flushed = if io.wbuf.is_empty() { Ok(()) } else { object::flush(cx, v) };
    let io = object::raw(cx, v)?;
    io.wbuf = Vec::new();
    let pid = std::mem::take(&mut io.pid);
    // Threads of this VM that wait for it must look again. Those that read from a socket are woken by its registration.
    let watched = !io.regular;
    let fd = if io.owned { io.fd } else { -1 };
    if fd > 2 && !cx.fiber_scheduler().is_nil() {
        if let Some(source) = object::raw(cx, v)?.source.take() {
            source.close();
        }
        let closed = crate::fiber_scheduler::hook(cx, "io_close", &[Value::fixnum(fd.into())])?;
        if closed.is_some_and(Value::truthy) {
            let io = object::raw(cx, v)?;
            // That another stream has closed it is what was wanted.
            io.lost = false;
            io.release();
        }
    }
    let err = object::raw(cx, v)?.close_fds();
    if watched {
        cx.wake_watchers();
    }
    cx.interrupt_fibers(v, |cx| cx.exception(ids::IO_ERROR, "stream closed in another thread"))?;
    if pid > 0 {
        let hurry = cx.is_dying();
        crate::process::wait_child(cx, pid, hurry)?;
    }
    flushed?;
    match err {
        Some(e) => object::fail_path(cx, v, e),
        None => Ok(()),
    }
}

/// `yield io` and close it afterwards, whatever happens.
pub fn with_block(cx: &mut Cx, v: Value, block: Block) -> Result<Value> {
    let r = cx.yield1(block, v);
    finish(cx, v, r)
}

/// Closes `v` after an operation; its error is the later one's only when there was none before.
pub fn finish<T>(cx: &mut Cx, v: Value, r: Result<T>) -> Result<T> {
    match r {
        Ok(x) => {
            let closed = cx.is_data::<object::IoData>(v) && {
                let io = object::raw(cx, v)?;
                io.is_closed() && !io.lost
            };
            if !closed {
                close_value(cx, v)?;
            }
            Ok(x)
        }
        Err(e) => {
            let pending = cx.take_pending();
            if close_value(cx, v).is_err() {
                cx.take_pending();
            }
            cx.pending = pending;
            Err(e)
        }
    }
}

/// Permission bits argument.
pub fn perm_of(cx: &mut Cx, v: Option<Value>, kw: &Kwargs) -> Result<u32> {
    match v.filter(|v| !v.is_nil()).or(kw.get(sym::perm)) {
        Some(p) if !p.is_nil() => Ok((cx.to_i64(p)? as u32) & 0o7777 & !umask(cx)),
        _ => Ok(0o666 & !umask(cx)),
    }
}

/// The VM's file creation mask, beyond the process's own.
#[derive(Trace, Default)]
pub struct Umask(pub u32);
impl VmState for Umask {
    fn snapshot(&self, _values: &mut Gathered) -> Option<Restore> {
        Some(Umask::blueprint(self.0))
    }
}
impl Umask {
    fn blueprint(mask: u32) -> Restore {
        let save = move |out: &mut Saved| {
            out.number(mask.into());
            Some("umask")
        };
        savable_state(move |cx, _| cx.state::<Umask>().0 = mask, save)
    }
}
zakuro_vm::state_loader!("umask", |r| {
    let mask: u32 = r.narrow()?;
    r.ends(0)?;
    Some(Umask::blueprint(mask & 0o777))
});
pub fn umask(cx: &mut Cx) -> u32 {
    cx.state::<Umask>().0
}

/// Mode of a descriptor that is already open.
pub fn fd_mode(fd: i32) -> std::result::Result<u8, i32> {
    // SAFETY: fcntl(F_GETFL) only asks.
    let fl = unsafe { libc::fcntl(fd, libc::F_GETFL) };
    if fl < 0 {
        return Err(last_errno());
    }
    Ok(match fl & libc::O_ACCMODE {
        libc::O_WRONLY => WRITE,
        libc::O_RDWR => READ | WRITE,
        _ => READ,
    } | if fl & libc::O_APPEND != 0 { APPEND } else { 0 })
}

/// `new` calls no block.
fn block_warning(cx: &mut Cx, this: Value, block: Block) -> Result<()> {
    if block.is_none() {
        return Ok(());
    }
    let c = cx.class_name_of(this);
    super::encodings::warn(cx, &format!("{c}::new() does not take block; use {c}::open() instead"))
}

/// `IO#initialize` over a descriptor.
fn init_fd(cx: &mut Cx, this: Value, fd: Value, mode: Option<Value>, kw: Kwargs) -> Result<()> {
    let fd = cx.to_i64(fd)? as i32;
    owner::check_reserved(cx, fd)?;
    owner::check_number(cx, fd)?;
    let have = match fd_mode(fd) {
        Ok(m) => m,
        Err(e) => return fail(cx, e, ""),
    };
    let mut m = modes::parse(cx, mode.unwrap_or(Value::NIL), &kw, "r")?;
    if !m.given {
        m.io = have;
    } else if m.io & READ != 0 && have & READ == 0 || m.io & WRITE != 0 && have & WRITE == 0 {
        return fail(cx, libc::EINVAL, "");
    }
    let mut io = Io::new(fd, m.io);
    m.apply(&mut io);
    io.path = m.path.clone();
    if fd == 2 {
        io.sync = true;
    }
    object::init_number(cx, this, io)
}

#[ruby_class(ids::IO)]
pub mod io {
    use super::*;
    /// A stream over an open descriptor.
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, fd: Value, mode: Option<Value>, kw: Kwargs, block: Block) -> Result<()> {
        block_warning(cx, this, block)?;
        init_fd(cx, this, fd, mode, kw)
    }
    /// As `new`; with a block the stream is passed to it and closed afterwards.
    #[method("open", singleton)]
    fn open(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        let v = cx.call_full(this, sym::new, args.all(), args.kw, Block::NONE)?;
        if args.block.is_none() {
            return Ok(v);
        }
        with_block(cx, v, args.block)
    }
    /// As `new`.
    #[method("for_fd", singleton)]
    fn for_fd(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        cx.call_full(this, sym::new, args.all(), args.kw, args.block)
    }
    /// Opens a file and returns the descriptor.
    #[method("sysopen", singleton)]
    fn sysopen(cx: &mut Cx, _this: Value, path: Value, mode: Option<Value>, perm: Option<Value>) -> Result<i64> {
        let p = cx.path_of(path)?;
        let m = modes::parse(cx, mode.unwrap_or(Value::NIL), &Kwargs::NONE, "r")?;
        let perm = perm_of(cx, perm, &Kwargs::NONE)?;
        let fd = super::sysopen(cx, &p, m.flags, perm)?;
        owner::note_number(cx, fd);
        Ok(fd as i64)
    }
    /// The two ends of a new pipe, for reading and writing; with a block both are passed to it and closed afterwards.
    ///
    ///     r, w = IO.pipe; w << "hi"; w.close; r.read   #=> "hi"
    #[method("pipe", singleton)]
    fn pipe(cx: &mut Cx, this: ClassId, enc: Rest, kw: Kwargs, block: Block) -> Result<Value> {
        descriptors::admit(cx, 2)?;
        let mut fds = [0i32; 2];
        // SAFETY: room for two descriptors.
        if unsafe { libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
            return super::super::fail_os(cx, "");
        }
        let mut r = Io::new(fds[0], READ);
        let mut w = Io::new(fds[1], WRITE);
        w.sync = true;
        if kw.named("binmode").is_some_and(Value::truthy) {
            (r.binmode, w.binmode) = (true, true);
            if enc.is_empty() {
                (r.ext, w.ext) = (Some(zakuro_object::string::BINARY), Some(zakuro_object::string::BINARY));
                (r.settled, w.settled) = (true, true);
            }
        }
        if let Some(e) = enc.first().filter(|e| !e.is_nil()) {
            let (ext, int) = super::super::encodings::of_arguments(cx, *e, enc.get(1).copied())?;
            (r.ext, r.int) = (ext, int);
            r.settled = true;
        }
        r.conversion = super::super::encodings::conversion(cx, kw, r.int.or(r.ext))?;
        r.universal = r.settled && r.conversion.as_ref().is_some_and(|o| o.newlines == zakuro_core_text::string::encoding::Newlines::Universal);
        let r = pipe_end(cx, this, r)?;
        let w = pipe_end(cx, this, w)?;
        let pair = cx.array(&[r, w]);
        if block.is_none() {
            return Ok(pair);
        }
        let res = cx.yield_values(block, &[r, w]);
        let res = finish(cx, r, res);
        finish(cx, w, res)
    }
    /// The object itself when it is an IO, what its `to_io` gives, or nil.
    #[method("try_convert", singleton)]
    fn try_convert(cx: &mut Cx, _this: Value, v: Value) -> Result<Value> {
        if cx.is_a(v, ids::IO) {
            return Ok(v);
        }
        let Some(io) = cx.call_if_responds(v, sym::to_io, &[])?.filter(|io| !io.is_nil()) else { return Ok(Value::NIL) };
        if !cx.is_a(io, ids::IO) {
            let (from, to) = (cx.class_name_of(v), cx.class_name_of(io));
            return cx.type_error(format!("can't convert {from} to IO ({from}#to_io gives {to})"));
        }
        Ok(io)
    }
    /// Writes what is buffered and closes the stream.
    #[method("close")]
    fn close(cx: &mut Cx, this: Value) -> Result<()> {
        super::close(cx, this)
    }
    /// Whether the stream is closed.
    #[method("closed?")]
    fn is_closed(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(object::raw(cx, this)?.is_closed())
    }
    /// Closes the reading side.
    #[method("close_read")]
    fn close_read(cx: &mut Cx, this: Value) -> Result<()> {
        let io = object::raw(cx, this)?;
        if io.is_closed() {
            return Ok(());
        }
        if io.wfd >= 0 && io.fd >= 0 {
            io.close_reading();
            cx.wake_watchers();
            return Ok(());
        }
        if is_socket(io.fd) {
            // SAFETY: shutdown(2) touches no memory.
            unsafe { libc::shutdown(io.fd, libc::SHUT_RD) };
            io.mode &= !READ;
            return if io.writable() { Ok(()) } else { super::close(cx, this) };
        }
        if io.wfd >= 0 {
            return Ok(());
        }
        if io.writable() || !io.readable() {
            return io_error(cx, "closing non-duplex IO for reading");
        }
        super::close(cx, this)
    }
    /// Closes the writing side.
    #[method("close_write")]
    fn close_write(cx: &mut Cx, this: Value) -> Result<()> {
        let io = object::raw(cx, this)?;
        if io.is_closed() {
            return Ok(());
        }
        io.end_text();
        if io.wfd >= 0 && io.fd >= 0 {
            object::flush(cx, this)?;
            let io = object::raw(cx, this)?;
            io.close_writing();
            cx.wake_watchers();
            return Ok(());
        }
        if is_socket(io.write_fd()) {
            object::flush(cx, this)?;
            let io = object::raw(cx, this)?;
            // SAFETY: shutdown(2) touches no memory.
            unsafe { libc::shutdown(io.write_fd(), libc::SHUT_WR) };
            io.mode &= !WRITE;
            return if io.readable() { Ok(()) } else { super::close(cx, this) };
        }
        if io.pid > 0 && !io.writable() {
            return Ok(());
        }
        if io.readable() || !io.writable() {
            return io_error(cx, "closing non-duplex IO for writing");
        }
        super::close(cx, this)
    }
    /// A copy with a descriptor of its own.
    #[method("initialize_copy", private)]
    fn initialize_copy(cx: &mut Cx, this: Value, from: Value) -> Result<Value> {
        if this == from {
            return Ok(this);
        }
        cx.check_frozen(this)?;
        if object::get(cx, from)?.writable() {
            object::flush(cx, from)?;
        }
        descriptors::admit(cx, 1)?;
        let src = object::get(cx, from)?;
        src.drop_readahead();
        let dup = |fd: i32| {
            // SAFETY: fcntl on an open descriptor.
            if fd < 0 { fd } else { unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3) } }
        };
        let (fd, wfd) = (dup(src.fd), dup(src.wfd));
        if fd < 0 && src.fd >= 0 {
            return super::super::fail_os(cx, "");
        }
        let mut io = Io::new(fd, src.mode);
        io.wfd = wfd;
        io.binmode = src.binmode;
        io.universal = src.universal;
        io.ext = src.ext;
        io.int = src.int;
        io.settled = true;
        io.conversion = src.conversion.clone();
        io.sync = src.sync;
        io.path = src.path.clone();
        io.lineno = src.lineno;
        io.timeout = src.timeout;
        object::init(cx, this, io)?;
        Ok(this)
    }
    /// Turns the stream into another one: an IO, or a file by path and mode.
    #[method("reopen")]
    fn reopen(cx: &mut Cx, this: Value, other: Value, mode: Option<Value>, kw: Kwargs) -> Result<Value> {
        let target = if cx.is_a(other, ids::IO) { Some(other) } else { cx.call_if_responds(other, sym::to_io, &[])? };
        let old = object::raw(cx, this)?;
        if old.is_closed() && target.is_some() {
            return io_error(cx, "closed stream");
        }
        if !old.is_closed() && old.writable() {
            object::flush(cx, this)?;
        }
        if target.is_some() {
            // What was read ahead is given back: the other one may be a reader of the same file.
            let old = object::raw(cx, this)?;
            if old.readable() {
                old.drop_readahead();
            }
        }
        let is_standard = stream::number_of(cx, this);
        let fresh = match target {
            Some(t) => {
                let (old, new) = (object::raw(cx, this)?.mode, object::get(cx, t)?.mode);
                if let Some(n) = is_standard {
                    keeps_access(cx, n, old, if n == 0 { READ } else { WRITE }, new)?;
                }
                if object::get(cx, t)?.writable() {
                    object::flush(cx, t)?;
                }
                let src = object::get(cx, t)?;
                src.drop_readahead();
                // SAFETY: fcntl on an open descriptor.
                let fd = unsafe { libc::fcntl(src.fd.max(src.wfd), libc::F_DUPFD_CLOEXEC, 3) };
                if fd < 0 {
                    return super::super::fail_os(cx, "");
                }
                let mut io = Io::new(fd, src.mode);
                io.path = src.path.clone();
                io.sync = src.sync;
                io.binmode = src.binmode;
                io
            }
            None => {
                let p = cx.path_of(other)?;
                let default = {
                    let old = object::raw(cx, this)?;
                    match (old.readable(), old.writable(), old.mode & APPEND != 0) {
                        (true, true, _) => "r+",
                        (false, true, true) => "a",
                        (false, true, false) => "w",
                        _ => "r",
                    }
                };
                let m = modes::parse(cx, mode.unwrap_or(Value::NIL), &kw, default)?;
                let perm = perm_of(cx, None, &kw)?;
                if let Some(n) = is_standard {
                    let old = object::raw(cx, this)?.mode;
                    keeps_access(cx, n, old, old & (READ | WRITE), m.io)?;
                }
                open_path(cx, &p, &m, perm)?
            }
        };
        let mut fresh = fresh;
        let old = object::raw(cx, this)?;
        // A stream of its own descriptor keeps the number; the process's standard descriptors are left alone.
        if old.fd > 2 && old.owned {
            if let Some(source) = old.source.take() {
                source.close();
            }
            // SAFETY: both descriptors are open; the temporary one is closed with `fresh`.
            unsafe {
                libc::dup3(fresh.fd, old.fd, libc::O_CLOEXEC);
                libc::close(fresh.fd);
            }
            fresh.fd = old.fd;
            fresh.succeed(old);
            old.fd = -1;
        }
        fresh.sync |= old.sync;
        old.held = None;
        object::hold(cx, &mut fresh);
        *object::raw(cx, this)? = fresh;
        // Who waited at the old file waits at the new one.
        cx.wake_watchers();
        Ok(this)
    }
}

/// Refuses to make a standard stream one that can't do what it is for. Modes are those of [`Io::mode`].
fn keeps_access(cx: &mut Cx, n: usize, old: u8, needed: u8, new: u8) -> Result<()> {
    if needed & !new == 0 {
        return Ok(());
    }
    let named = |mode: u8| match (mode & READ != 0, mode & WRITE != 0, mode & APPEND != 0) {
        (true, true, true) => "a+",
        (true, true, false) => "r+",
        (_, true, true) => "a",
        (_, true, false) => "w",
        _ => "r",
    };
    let name = stream::NAMES[n];
    cx.arg_error(format!("{name} can't change access mode from \"{}\" to \"{}\"", named(old), named(new)))
}

/// A stream of a class that may have an `initialize` of its own, which is called as for an open descriptor.
fn pipe_end(cx: &mut Cx, class: ClassId, io: Io) -> Result<Value> {
    let plain = class == ids::IO || cx.find_method(class, sym::initialize).is_none_or(|m| m.owner == ids::IO);
    if plain {
        return Ok(object::make(cx, class, io));
    }
    let (fd, flags) = (io.fd, if io.readable() { libc::O_RDONLY } else { libc::O_WRONLY });
    // From here on the descriptor is the new stream's, if there is one.
    let mut io = io;
    io.owned = false;
    let v = zakuro_core_base::allocate::allocate(cx, class);
    owner::note_number(cx, fd);
    let r = v.and_then(|v| cx.call(v, sym::initialize, &[Value::fixnum(fd as i64), Value::fixnum(flags as i64)]).map(|_| v));
    match v {
        Ok(v) if cx.is_data::<object::IoData>(v) => {
            let made = object::raw(cx, v)?;
            if made.fd == fd {
                (made.ext, made.int, made.sync) = (io.ext, io.int, io.sync);
            }
        }
        // SAFETY: nothing else holds it.
        _ => drop(unsafe { OwnedFd::from_raw_fd(fd) }),
    }
    r
}

/// An error that names a file says the name in the encoding that it was given in.
fn named_in<T>(cx: &mut Cx, result: Result<T>, path: &[u8], encoding: u8) -> Result<T> {
    let exc = cx.pending;
    if result.is_ok() || path.is_ascii() || encoding == zakuro_object::string::UTF8 || !cx.is_a(exc, ids::SYSTEM_CALL_ERROR) {
        return result;
    }
    let message = cx.exception_message(exc);
    if let Some(text) = Ref::<StringCell>::from_value(message)
        && let Some(at) = memchr::memmem::find(text.content(&cx.heap), b" - ")
    {
        let named = [&text.content(&cx.heap)[..at + 3], path].concat();
        let named = cx.str_bytes(&named, encoding);
        cx.ivar_set_raw(exc, zakuro_vm::raise::hidden::message(), named);
    }
    result
}

fn is_socket(fd: i32) -> bool {
    // SAFETY: fstat fills the zeroed struct.
    unsafe {
        let mut st: libc::stat = std::mem::zeroed();
        libc::fstat(fd, &mut st) == 0 && st.st_mode & libc::S_IFMT == libc::S_IFSOCK
    }
}

#[ruby_class(ids::FILE)]
pub mod file {
    use super::*;
    /// Opens a file by path (or a stream over a descriptor) with mode, permission bits and keywords.
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, path: Option<Value>, mode: Option<Value>, perm: Option<Value>, kw: Kwargs, block: Block) -> Result<()> {
        if cx.is_data::<object::IoData>(this) {
            return cx.raise(ids::RUNTIME_ERROR, "reinitializing File");
        }
        let Some(path) = path else { return cx.arity_error(0, 1, Some(3)) };
        block_warning(cx, this, block)?;
        if cx.is_integer(path) {
            return init_fd(cx, this, path, mode, kw);
        }
        let given = cx.path_str(path)?;
        let (p, encoding) = (given.to_vec(), given.encoding());
        let m = modes::parse(cx, mode.unwrap_or(Value::NIL), &kw, "r")?;
        let perm = perm_of(cx, perm, &kw)?;
        let opened = open_path(cx, &p, &m, perm);
        let mut io = named_in(cx, opened, &p, encoding)?;
        io.path_encoding = encoding;
        if m.flags & libc::O_TMPFILE == libc::O_TMPFILE {
            // The path is that of the directory: the file has none.
            io.path = None;
        }
        object::init(cx, this, io)
    }
    /// The path that the file was opened with.
    ///
    ///     File.open("/dev/null", &:path)   #=> "/dev/null"
    #[method("path", "to_path")]
    fn path(cx: &mut Cx, this: Value) -> Result<Value> {
        let io = object::raw(cx, this)?;
        let encoding = io.path_encoding;
        match io.path.clone() {
            Some(p) => Ok(cx.str_bytes(&p, encoding)),
            None => Ok(Value::NIL),
        }
    }
}
