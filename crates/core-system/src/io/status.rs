//! What IO objects tell about themselves, and low-level writing.

use super::errors::last_errno;
use super::object::{self, Side};
use super::read::wait_error;
use crate::process::owner;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

#[ruby_class(ids::IO)]
pub mod io {
    use super::*;
    /// The descriptor's number.
    ///
    ///     $stdin.fileno   #=> 0
    #[method("fileno", "to_i")]
    fn fileno(cx: &mut Cx, this: Value) -> Result<i64> {
        let io = object::get(cx, this)?;
        Ok(io.fd.max(if io.fd < 0 { io.wfd } else { io.fd }) as i64)
    }
    /// The stream itself.
    #[method("to_io")]
    fn to_io(this: Value) -> Value {
        this
    }
    /// Whether the stream is a terminal.
    #[method("tty?", "isatty")]
    fn tty(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(object::get(cx, this)?.tty)
    }
    /// Process id of the child of an `IO.popen` stream, else nil.
    #[method("pid")]
    fn pid(cx: &mut Cx, this: Value) -> Result<Option<i64>> {
        let p = object::get(cx, this)?.pid;
        Ok((p > 0).then_some(p as i64))
    }
    /// Path given to File.open or `path:`.
    #[method("path", "to_path")]
    fn path(cx: &mut Cx, this: Value) -> Result<Value> {
        match object::raw(cx, this)?.path.clone() {
            Some(p) => Ok(cx.str_auto(&p)),
            None => Ok(Value::NIL),
        }
    }
    /// Reads and writes bytes from now on, without conversions.
    #[method("binmode")]
    fn binmode(cx: &mut Cx, this: Value) -> Result<Value> {
        let io = object::get(cx, this)?;
        io.binmode = true;
        io.universal = false;
        io.ext = Some(zakuro_object::string::BINARY);
        io.int = None;
        io.conversion = None;
        Ok(this)
    }
    /// Whether `binmode` is set.
    #[method("binmode?")]
    fn is_binmode(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(object::get(cx, this)?.binmode)
    }
    /// Writes what is buffered and waits until it is on the device.
    #[method("fsync", "fdatasync")]
    fn fsync(cx: &mut Cx, this: Value) -> Result<i64> {
        object::flush(cx, this)?;
        let fd = object::get(cx, this)?.write_fd();
        // SAFETY: fsync on an open descriptor.
        if zakuro_sched::blocking(|| unsafe { libc::fsync(fd) }) != 0 {
            return object::fail_path(cx, this, last_errno());
        }
        Ok(0)
    }
    /// One write(2) behind the buffer's back; returns the number of bytes written.
    #[method("syswrite")]
    fn syswrite(cx: &mut Cx, this: Value, text: Value) -> Result<i64> {
        let s = cx.to_s(text)?;
        if !object::writer(cx, this)?.wbuf.is_empty() {
            super::super::encodings::warn(cx, "syswrite for buffered IO")?;
        }
        object::flush(cx, this)?;
        let io = object::get(cx, this)?;
        let (fd, regular, socket) = (io.write_fd(), io.regular, io.is_socket());
        // Others may write to the String while this waits.
        let bytes = Held::of(s);
        // SAFETY: asks for the flags of an open descriptor.
        let partly = !regular && unsafe { libc::fcntl(fd, libc::F_GETFL) } & libc::O_NONBLOCK != 0;
        let written = if partly && !socket {
            match super::super::wait::write_once(cx, this, &bytes)? {
                Ok(n) => return Ok(n as i64),
                Err(e) => Err(e),
            }
        } else if socket {
            super::super::wait::write_socket(cx, this, &bytes)?
        } else {
            super::super::blocking_write(cx, this, regular, &bytes)?
        };
        match written {
            Ok(()) => Ok(bytes.len() as i64),
            Err(e) => object::fail_path(cx, this, e),
        }
    }
    /// Writes what goes without waiting; returns the number of bytes. IO::WaitWritable otherwise.
    #[method("write_nonblock")]
    fn write_nonblock(cx: &mut Cx, this: Value, text: Value, kw: Kwargs) -> Result<Value> {
        let s = cx.to_s(text)?;
        let quiet = super::super::read::quiet(cx, kw)?;
        object::writer(cx, this)?;
        object::flush(cx, this)?;
        let io = object::get(cx, this)?;
        let (fd, regular, socket) = (io.write_fd(), io.regular, io.is_socket());
        let b = s.content(&cx.heap);
        match super::super::wait::write_now(fd, b, socket, regular) {
            Ok(n) => Ok(cx.int(n as i64)),
            Err(libc::EAGAIN) if quiet => Ok(Value::sym(Sym::intern("wait_writable"))),
            Err(libc::EAGAIN) => wait_error(cx, "IO::EAGAINWaitWritable", "Resource temporarily unavailable - write would block"),
            Err(e) => object::fail_path(cx, this, e),
        }
    }
    /// Writes at an offset; the position stays.
    #[method("pwrite")]
    fn pwrite(cx: &mut Cx, this: Value, text: Value, offset: i64) -> Result<i64> {
        let s = cx.to_s(text)?;
        object::writer(cx, this)?;
        object::flush(cx, this)?;
        let fd = object::get(cx, this)?.write_fd();
        let b = s.content(&cx.heap);
        // SAFETY: b is readable for its length.
        let r = unsafe { libc::pwrite(fd, b.as_ptr().cast(), b.len(), offset) };
        if r < 0 { object::fail_path(cx, this, last_errno()) } else { Ok(r as i64) }
    }
    /// Whether the descriptor is closed when a program is executed. (It always is, unless changed.)
    #[method("close_on_exec?")]
    fn close_on_exec(cx: &mut Cx, this: Value) -> Result<bool> {
        let fd = object::get(cx, this)?.fd;
        // SAFETY: fcntl only asks.
        Ok(unsafe { libc::fcntl(fd, libc::F_GETFD) } & libc::FD_CLOEXEC != 0)
    }
    /// Sets whether the descriptor is closed when a program is executed.
    #[method("close_on_exec=")]
    fn set_close_on_exec(cx: &mut Cx, this: Value, on: Value) -> Result<Value> {
        let fd = object::get(cx, this)?.fd;
        owner::check_flags(cx, fd)?;
        // SAFETY: fcntl on an open descriptor.
        unsafe { libc::fcntl(fd, libc::F_SETFD, if on.truthy() { libc::FD_CLOEXEC } else { 0 }) };
        Ok(on)
    }
    /// Whether the descriptor is closed with the object.
    #[method("autoclose?")]
    fn autoclose(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(object::get(cx, this)?.owned)
    }
    /// Sets whether the descriptor is closed with the object.
    #[method("autoclose=")]
    fn set_autoclose(cx: &mut Cx, this: Value, on: Value) -> Result<Value> {
        let io = object::get(cx, this)?;
        let (left, sides) = (io.owned && !on.truthy(), [io.fd, io.wfd]);
        io.owned = on.truthy();
        if left {
            sides.into_iter().for_each(|fd| owner::keep_number(cx, fd));
            object::get(cx, this)?.held = None;
        }
        Ok(on)
    }
    /// Seconds that a read or write may wait, or nil.
    #[method("timeout")]
    fn timeout(cx: &mut Cx, this: Value) -> Result<Value> {
        match object::get(cx, this)?.timeout {
            Some(t) if t.fract() == 0.0 => Ok(cx.int(t as i64)),
            Some(t) => Ok(cx.float(t)),
            None => Ok(Value::NIL),
        }
    }
    /// Sets the seconds that a read or write may wait.
    #[method("timeout=")]
    fn set_timeout(cx: &mut Cx, this: Value, t: Value) -> Result<Value> {
        let s = if t.is_nil() { None } else { Some(cx.to_f64(t)?) };
        object::get(cx, this)?.timeout = s;
        Ok(t)
    }
    /// fcntl(2): the argument is a number, or for the commands about locks a String that holds a `struct flock`.
    #[method("fcntl")]
    fn fcntl(cx: &mut Cx, this: Value, cmd: i64, arg: Option<Value>) -> Result<i64> {
        let fd = object::get(cx, this)?.fd;
        let cmd = cmd as i32;
        let arg = match arg {
            None | Some(Value::NIL | Value::FALSE) => 0,
            Some(Value::TRUE) => 1,
            Some(v) if v.is_kind(Kind::String) => {
                let text = cx.to_str(v)?;
                return lock_record(cx, this, cmd, text);
            }
            Some(v) => cx.to_i64(v)?,
        };
        owner::check_fcntl(cx, fd, cmd, arg as i32)?;
        // A copy is closed on exec, as all descriptors that a program opens are.
        let cmd = if cmd == libc::F_DUPFD { libc::F_DUPFD_CLOEXEC } else { cmd };
        // SAFETY: a command with a number as argument.
        let r = unsafe { libc::fcntl(fd, cmd, arg) };
        if r < 0 {
            return object::fail_path(cx, this, last_errno());
        }
        if cmd == libc::F_DUPFD_CLOEXEC {
            owner::note_number(cx, r);
        }
        Ok(r as i64)
    }
    /// Tells the system how the file will be read: :normal, :sequential, :random, :willneed, :dontneed, :noreuse.
    ///
    ///     File.open("/proc/self/exe") { |f| f.advise(:sequential) }   #=> nil
    #[method("advise")]
    fn advise(cx: &mut Cx, this: Value, advice: Value, offset: Option<i64>, length: Option<i64>) -> Result<()> {
        let Some(name) = advice.as_sym() else {
            let c = cx.class_name_of(advice);
            return cx.type_error(format!("not a Symbol -- {c}"));
        };
        let n = match name.bytes() {
            b"normal" => libc::POSIX_FADV_NORMAL,
            b"sequential" => libc::POSIX_FADV_SEQUENTIAL,
            b"random" => libc::POSIX_FADV_RANDOM,
            b"willneed" => libc::POSIX_FADV_WILLNEED,
            b"dontneed" => libc::POSIX_FADV_DONTNEED,
            b"noreuse" => libc::POSIX_FADV_NOREUSE,
            _ => {
                let shown = cx.inspect_for_error(advice);
                return cx.raise(ids::NOT_IMPLEMENTED_ERROR, format!("Unsupported advice: {shown}"));
            }
        };
        let fd = object::get(cx, this)?.fd;
        // SAFETY: an open descriptor; advice reads and writes no memory of ours.
        match unsafe { libc::posix_fadvise(fd, offset.unwrap_or(0), length.unwrap_or(0), n) } {
            // What is no file takes no advice.
            0 | libc::ESPIPE | libc::EINVAL => Ok(()),
            e => object::fail_path(cx, this, e),
        }
    }
    /// ioctl(2): the argument is a small number, or a String that the system reads and writes.
    ///
    ///     File.open("/proc/self/exe") { |f| f.ioctl(0x5413, nil) rescue $!.class }   #=> Errno::ENOTTY
    #[method("ioctl")]
    fn ioctl(cx: &mut Cx, this: Value, request: Value, arg: Option<Value>) -> Result<i64> {
        // Room for what the request says, and for requests that don't.
        const ROOM: usize = 4096;
        let request = cx.to_i64(request)? as libc::c_ulong;
        object::get(cx, this)?;
        let arg = arg.unwrap_or(Value::NIL);
        let number = match arg {
            Value::NIL | Value::FALSE => Some(0),
            Value::TRUE => Some(1),
            v if cx.is_integer(v) => Some(cx.to_i64(v)?),
            _ => None,
        };
        if let Some(n) = number {
            // A larger one might be an address, which the system would write to.
            if !(-1..=0xffff).contains(&n) {
                return super::super::fail(cx, libc::EINVAL, "ioctl: number too large");
            }
            let fd = object::get(cx, this)?.fd;
            owner::check_terminal(cx, fd)?;
            // SAFETY: the argument is no address of anything.
            let r = unsafe { libc::ioctl(fd, request, n) };
            return if r < 0 { object::fail_path(cx, this, last_errno()) } else { Ok(r as i64) };
        }
        let text = cx.to_str(arg)?;
        cx.check_frozen(text.as_value())?;
        let size = (request >> 16 & 0x3fff) as usize;
        let shown = text.len().max(if size > 0 { size } else { 256 });
        let mut bytes = text.to_vec();
        bytes.resize(shown.max(ROOM), 0);
        let fd = object::get(cx, this)?.fd;
        owner::check_terminal(cx, fd)?;
        // SAFETY: writable for more than any request says.
        let r = unsafe { libc::ioctl(fd, request, bytes.as_mut_ptr()) };
        if r < 0 {
            return object::fail_path(cx, this, last_errno());
        }
        StringCell::set_bytes(text, &mut cx.heap, &bytes[..shown]);
        Ok(r as i64)
    }
    /// `#<File:path>`, `#<IO:fd 5>`, `#<IO:(closed)>`
    ///
    ///     $stdout.inspect   #=> "#<IO:<STDOUT>>"
    #[method("inspect")]
    fn inspect(cx: &mut Cx, this: Value) -> Result<Value> {
        let class = cx.class_name_of(this);
        if !cx.is_data::<object::IoData>(this) {
            let s = cx.any_to_s(this);
            return Ok(cx.str(&s));
        }
        let io = object::raw(cx, this)?;
        let closed = io.is_closed();
        let mut out = format!("#<{class}:").into_bytes();
        match (&io.path, closed) {
            (Some(p), false) => out.extend_from_slice(p),
            (Some(p), true) => out.extend([p, &b" (closed)"[..]].concat()),
            (None, true) => out.extend_from_slice(b"(closed)"),
            (None, false) => out.extend(format!("fd {}", io.fd.max(io.wfd)).bytes()),
        }
        out.push(b'>');
        let (encoding, named) = (io.path_encoding, io.path.as_ref().is_some_and(|p| !p.is_ascii()));
        // A name is of the encoding that it was given in.
        Ok(if named { cx.str_bytes(&out, encoding) } else { cx.str_auto(&out) })
    }
    /// Waits until there is something to read; nil when `timeout` seconds passed.
    #[method("wait_readable")]
    fn wait_readable(cx: &mut Cx, this: Value, timeout: Option<f64>) -> Result<Value> {
        let io = object::reader(cx, this)?;
        if !io.buffered().is_empty() {
            return Ok(Value::TRUE);
        }
        let r = if io.is_socket() {
            super::super::wait::poll_socket(cx, this, libc::POLLIN, timeout)?
        } else {
            super::super::wait::wait_stream(cx, this, Side::Reading, libc::POLLIN, timeout)?
        };
        Ok(if r != 0 { this } else { Value::NIL })
    }
    /// Waits until writing would not block; nil when `timeout` seconds passed.
    #[method("wait_writable")]
    fn wait_writable(cx: &mut Cx, this: Value, timeout: Option<f64>) -> Result<Value> {
        let r = if object::writer(cx, this)?.is_socket() {
            super::super::wait::poll_socket(cx, this, libc::POLLOUT, timeout)?
        } else {
            super::super::wait::wait_stream(cx, this, Side::Writing, libc::POLLOUT, timeout)?
        };
        Ok(if r != 0 { this } else { Value::NIL })
    }
}

/// fcntl(2) of a `struct flock`: asks for a lock, sets one, or waits for one. Such locks are the process's.
fn lock_record(cx: &mut Cx, this: Value, cmd: i32, text: Ref<StringCell>) -> Result<i64> {
    if ![libc::F_GETLK, libc::F_SETLK, libc::F_SETLKW].contains(&cmd) {
        return super::fail(cx, libc::EINVAL, "fcntl: command without a number as argument");
    }
    if cmd != libc::F_GETLK {
        owner::main_only(cx, "fcntl: locks of records belong to the whole process")?;
    }
    cx.check_frozen(text.as_value())?;
    let mut bytes = text.to_vec();
    let shown = bytes.len();
    bytes.resize(shown.max(size_of::<libc::flock>()), 0);
    // The holder is another process: this thread looks again and again instead of keeping its VM from working.
    let asked = if cmd == libc::F_SETLKW { libc::F_SETLK } else { cmd };
    loop {
        let fd = object::get(cx, this)?.fd;
        // SAFETY: writable for as much as the commands read and write.
        let r = unsafe { libc::fcntl(fd, asked, bytes.as_mut_ptr()) };
        if r >= 0 {
            bytes.truncate(shown);
            StringCell::set_bytes(text, &mut cx.heap, &bytes);
            return Ok(r as i64);
        }
        match last_errno() {
            libc::EINTR => cx.safepoint()?,
            libc::EACCES | libc::EAGAIN if cmd == libc::F_SETLKW => {
                cx.sleep(Some(std::time::Duration::from_millis(5)))?;
            }
            e => return object::fail_path(cx, this, e),
        }
    }
}
