//! socket: BasicSocket and its classes. System calls are native, private methods of BasicSocket and functions of the private module `Socket::Sys`; the interface
//! (classes, Addrinfo, options, arguments, messages) is Ruby (`ruby/socket*.rb`).
//!
//! A socket is a core IO object, so everything that IO has works on it, and it travels and is inherited by forks as one does. Invariants: descriptors are made
//! non-blocking and closed on exec; every call that may wait is one that never does, made through [`wait::on_socket`], which parks the thread; addresses cross to
//! Ruby as Strings of `struct sockaddr`. Name resolution stands in a native thread of its own and the Ruby thread waits for an event (`resolve`), so it can be
//! interrupted and other threads of the VM go on.
//! Rejected: sockets with a payload of their own (IO's buffers, encodings and transfer would be written twice).

mod constants;
mod message;
mod path;
mod resolve;

use std::os::fd::RawFd;
use zakuro_core_system::io::object::{self, Io, READ, WRITE};
use zakuro_core_system::io::wait::{self, Called, Patience};
use zakuro_core_system::io::{cwd, fail, open};
use zakuro_core_system::process::{descriptors, owner};
use zakuro_macros::ruby_class;
use zakuro_sched::{READABLE, WRITABLE};
use zakuro_vm::*;

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// An open socket's descriptor.
fn descriptor(cx: &mut Cx, this: Value) -> Result<RawFd> {
    Ok(object::get(cx, this)?.fd)
}

fn binary(cx: &mut Cx, b: &[u8]) -> Value {
    cx.str_bytes(b, string::BINARY)
}

fn symbol(name: &str) -> Value {
    Value::sym(Sym::intern(name))
}

/// A stream around a new descriptor: bytes both ways, written at once.
fn stream(fd: RawFd, kind: i32) -> Io {
    let mut io = Io::plain(fd, READ | WRITE, Some(kind));
    io.sync = true;
    io.binmode = true;
    io.ext = Some(string::BINARY);
    io
}

/// `wait`: false never waits, true does as long as the stream's own time-out allows.
fn patience(cx: &mut Cx, this: Value, wait: bool) -> Result<Patience> {
    Ok(if wait { Patience::seconds(object::get(cx, this)?.timeout) } else { Patience::Never })
}

/// The result of a call: a number of bytes, or the Symbol that stands for "later". Raises what the system said.
fn finish(cx: &mut Cx, called: Called, later: &str, detail: &str) -> Result<std::result::Result<usize, Value>> {
    match called {
        Called::Done(n) => Ok(Ok(n)),
        Called::Later => Ok(Err(symbol(later))),
        Called::TimedOut => object::io_timeout(cx),
        Called::Failed(e) => fail(cx, e, detail),
    }
}

/// A system call that makes descriptors, tried again after a collection when there are none left.
fn open_descriptor(cx: &mut Cx, detail: &str, mut call: impl FnMut() -> i32) -> Result<i32> {
    descriptors::admit(cx, 1)?;
    loop {
        let n = call();
        if n >= 0 {
            return Ok(n);
        }
        match errno() {
            libc::EINTR => cx.safepoint()?,
            libc::EMFILE | libc::ENFILE if open::reclaim(cx) => {}
            e => return fail(cx, e, detail),
        }
    }
}

/// Memory for an address that a call gives.
struct Address {
    bytes: [u8; 128],
    len: libc::socklen_t,
}

impl Address {
    fn new() -> Address {
        Address { bytes: [0; 128], len: 128 }
    }
    fn get(&self) -> &[u8] {
        &self.bytes[..(self.len as usize).min(128)]
    }
}

/// Methods of `BasicSocket`.
#[ruby_class(ids::OBJECT)]
mod basic {
    use super::*;

    /// socket(2)
    #[method("__socket", private)]
    fn socket(cx: &mut Cx, this: Value, domain: i64, kind: i64, protocol: i64) -> Result<()> {
        let flags = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: no memory involved.
        let fd = open_descriptor(cx, "socket(2)", || unsafe { libc::socket(domain as i32, kind as i32 | flags, protocol as i32) })?;
        object::init(cx, this, stream(fd, kind as i32))
    }
    /// Becomes the owner of a descriptor.
    #[method("__adopt", private)]
    fn adopt(cx: &mut Cx, this: Value, fd: i64) -> Result<()> {
        let fd = fd as RawFd;
        owner::check_reserved(cx, fd)?;
        owner::check_number(cx, fd)?;
        // SAFETY: fcntl on a number; the kernel checks it.
        let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
        if flags < 0 {
            return fail(cx, errno(), "");
        }
        let mut io = Io::new(fd, READ | WRITE);
        if io.socket.is_none() {
            io.owned = false;
            return fail(cx, libc::ENOTSOCK, "not a socket file descriptor");
        }
        // The flags of the first three belong to the process.
        if flags & libc::O_NONBLOCK == 0 && fd > 2 {
            // SAFETY: as above.
            unsafe { libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK) };
        }
        io.sync = true;
        io.binmode = true;
        io.ext = Some(string::BINARY);
        object::init_number(cx, this, io)
    }
    /// bind(2)
    #[method("__bind", private)]
    fn bind(cx: &mut Cx, this: Value, address: Ref<StringCell>, detail: Ref<StringCell>) -> Result<i64> {
        let fd = descriptor(cx, this)?;
        let at = cwd::dirfd(cx);
        let address = address.content(&cx.heap).to_vec();
        // SAFETY: our own copy of the address.
        let r = path::with_address(at, &address, |a| unsafe { libc::bind(fd, a.as_ptr().cast(), a.len() as libc::socklen_t) as isize });
        if r < 0 { fail(cx, errno(), &detail.to_text()) } else { Ok(0) }
    }
    /// listen(2)
    #[method("__listen", private)]
    fn listen(cx: &mut Cx, this: Value, backlog: i64) -> Result<i64> {
        let fd = descriptor(cx, this)?;
        // SAFETY: no memory involved.
        let r = unsafe { libc::listen(fd, backlog.clamp(i32::MIN as i64, i32::MAX as i64) as i32) };
        if r < 0 { fail(cx, errno(), "listen(2)") } else { Ok(0) }
    }
    /// connect(2): 0, :wait_writable (it goes on by itself), :timeout
    #[method("__connect", private)]
    fn connect(cx: &mut Cx, this: Value, address: Ref<StringCell>, wait: bool, seconds: Value, detail: Ref<StringCell>) -> Result<Value> {
        let address = address.to_vec();
        let detail = detail.to_text();
        let seconds = if seconds.is_nil() { None } else { Some(cx.to_f64(seconds)?) };
        let mut pause = 1;
        loop {
            let fd = descriptor(cx, this)?;
            let at = cwd::dirfd(cx);
            // SAFETY: our own copy of the address.
            let r =
                path::with_address(at, &address, |a| unsafe { libc::connect(fd, a.as_ptr().cast(), a.len() as libc::socklen_t) as isize });
            if r == 0 {
                return Ok(Value::fixnum(0));
            }
            match errno() {
                libc::EINPROGRESS | libc::EINTR | libc::EALREADY if wait => break,
                libc::EINPROGRESS => return Ok(symbol("wait_writable")),
                // The queue of a UNIX server is full, and nothing tells when it is no more.
                libc::EAGAIN if wait => {
                    cx.sleep(Some(std::time::Duration::from_millis(pause)))?;
                    pause = (pause * 2).min(20);
                }
                e => return fail(cx, e, &detail),
            }
        }
        if wait::poll_socket(cx, this, libc::POLLOUT, seconds)? == 0 {
            return Ok(symbol("timeout"));
        }
        let fd = descriptor(cx, this)?;
        let (mut error, mut size) = (0i32, 4 as libc::socklen_t);
        // SAFETY: writes four bytes into a live number.
        unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_ERROR, (&raw mut error).cast(), &mut size) };
        if error == 0 { Ok(Value::fixnum(0)) } else { fail(cx, error, &detail) }
    }
    /// accept(2): [socket of the class, its address], or :wait_readable
    #[method("__accept", private)]
    fn accept(cx: &mut Cx, this: Value, class: ClassId, wait: bool) -> Result<Value> {
        loop {
            descriptors::admit(cx, 1)?;
            let patience = patience(cx, this, wait)?;
            let kind = object::get(cx, this)?.socket.unwrap_or(libc::SOCK_STREAM);
            let mut a = Address::new();
            let called = wait::on_socket(
                cx,
                this,
                READABLE,
                patience,
                |_| false,
                |fd| {
                    a.len = 128;
                    if fd <= 2 && wait::would_block(fd, libc::POLLIN) {
                        return -1;
                    }
                    // SAFETY: room for 128 bytes.
                    unsafe { libc::accept4(fd, a.bytes.as_mut_ptr().cast(), &mut a.len, libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK) as isize }
                },
            )?;
            if matches!(called, Called::Failed(libc::EMFILE | libc::ENFILE)) && open::reclaim(cx) {
                continue;
            }
            // The other side has given up meanwhile.
            if wait && matches!(called, Called::Failed(libc::ECONNABORTED | libc::EPROTO)) {
                continue;
            }
            return match finish(cx, called, "wait_readable", "accept(2)")? {
                Ok(fd) => {
                    let socket = object::make(cx, class, stream(fd as RawFd, kind));
                    let address = binary(cx, a.get());
                    Ok(cx.array(&[socket, address]))
                }
                Err(later) => Ok(later),
            };
        }
    }
    /// send(2) or, to an address, sendto(2): the number of bytes, or :wait_writable. `what`: the call as errors name it.
    #[method("__send", private)]
    fn send(cx: &mut Cx, this: Value, text: Ref<StringCell>, flags: i64, to: Value, wait: bool, what: Option<Value>) -> Result<Value> {
        object::flush(cx, this)?;
        let patience = patience(cx, this, wait)?;
        let to = if to.is_nil() { None } else { Some(cx.to_str(to)?.to_vec()) };
        let flags = flags as i32 | libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
        // The program may change the String while this thread waits.
        let b = Held::of(text);
        let at = cwd::dirfd(cx);
        let called = wait::on_socket(
            cx,
            this,
            WRITABLE,
            patience,
            |_| false,
            |fd| {
                match &to {
                    // SAFETY: both are readable for their lengths.
                    Some(a) => path::with_address(at, a, |a| unsafe {
                        libc::sendto(fd, b.as_ptr().cast(), b.len(), flags, a.as_ptr().cast(), a.len() as libc::socklen_t)
                    }),
                    // SAFETY: as above.
                    None => unsafe { libc::send(fd, b.as_ptr().cast(), b.len(), flags) },
                }
            },
        )?;
        let what = what.and_then(Ref::<StringCell>::from_value).map(|s| s.to_text());
        let detail = what.as_deref().unwrap_or(if to.is_some() { "sendto(2)" } else { "send(2)" });
        match finish(cx, called, "wait_writable", detail)? {
            Ok(n) => Ok(cx.int(n as i64)),
            Err(later) => Ok(later),
        }
    }
    /// recvfrom(2): the text, with `from` [text, address], or :wait_readable
    #[method("__recv", private)]
    fn recv(cx: &mut Cx, this: Value, max: i64, flags: i64, wait: bool, from: bool) -> Result<Value> {
        if max < 0 {
            return cx.arg_error(format!("negative length {max} given"));
        }
        let io = object::reader(cx, this)?;
        let stream = io.socket == Some(libc::SOCK_STREAM);
        if !io.buffered().is_empty() {
            return cx.raise(ids::IO_ERROR, "recv for buffered IO");
        }
        let patience = patience(cx, this, wait)?;
        let room = (max as usize).min(1 << 26);
        let mut a = Address::new();
        let mut got = Vec::new();
        let drained = |n: usize| stream && flags == 0 && n > 0 && n < room;
        let called = wait::on_socket(cx, this, READABLE, patience, drained, |fd| {
            // Made for each try, so that a thread that waits holds nothing.
            let mut b = Vec::<u8>::with_capacity(room);
            a.len = 128;
            let flags = flags as i32 | libc::MSG_DONTWAIT;
            // SAFETY: the kernel writes at most `room` and 128 bytes and says how many.
            unsafe {
                let n = libc::recvfrom(fd, b.as_mut_ptr().cast(), room, flags, a.bytes.as_mut_ptr().cast(), &mut a.len);
                // With MSG_TRUNC it is the size of the whole message.
                b.set_len((n.max(0) as usize).min(room));
                got = b;
                n
            }
        })?;
        match finish(cx, called, "wait_readable", "recvfrom(2)")? {
            Ok(_) => {
                let text = binary(cx, &got);
                if !from {
                    return Ok(text);
                }
                let address = if a.len == 0 { Value::NIL } else { binary(cx, a.get()) };
                Ok(cx.array(&[text, address]))
            }
            Err(later) => Ok(later),
        }
    }
    /// shutdown(2)
    #[method("__shutdown", private)]
    fn shutdown(cx: &mut Cx, this: Value, how: i64) -> Result<i64> {
        let fd = descriptor(cx, this)?;
        // SAFETY: no memory involved.
        let r = unsafe { libc::shutdown(fd, how as i32) };
        if r < 0 { fail(cx, errno(), "shutdown(2)") } else { Ok(0) }
    }
    /// getsockopt(2)
    #[method("__getsockopt", private)]
    fn getsockopt(cx: &mut Cx, this: Value, level: i64, name: i64) -> Result<Value> {
        let fd = descriptor(cx, this)?;
        let mut b = [0u8; 256];
        let mut size = 256 as libc::socklen_t;
        // SAFETY: room for 256 bytes.
        let r = unsafe { libc::getsockopt(fd, level as i32, name as i32, b.as_mut_ptr().cast(), &mut size) };
        if r < 0 { fail(cx, errno(), "getsockopt(2)") } else { Ok(binary(cx, &b[..(size as usize).min(256)])) }
    }
    /// setsockopt(2)
    #[method("__setsockopt", private)]
    fn setsockopt(cx: &mut Cx, this: Value, level: i64, name: i64, data: Ref<StringCell>) -> Result<i64> {
        let fd = descriptor(cx, this)?;
        let b = data.content(&cx.heap);
        // SAFETY: readable for its length.
        let r = unsafe { libc::setsockopt(fd, level as i32, name as i32, b.as_ptr().cast(), b.len() as libc::socklen_t) };
        if r < 0 { fail(cx, errno(), "setsockopt(2)") } else { Ok(0) }
    }
    /// getsockname(2), or with `other` getpeername(2)
    #[method("__name", private)]
    fn name(cx: &mut Cx, this: Value, other: bool) -> Result<Value> {
        let fd = descriptor(cx, this)?;
        let mut a = Address::new();
        // SAFETY: room for 128 bytes.
        let r = unsafe {
            let to = a.bytes.as_mut_ptr().cast();
            if other { libc::getpeername(fd, to, &mut a.len) } else { libc::getsockname(fd, to, &mut a.len) }
        };
        if r < 0 {
            return fail(cx, errno(), if other { "getpeername(2)" } else { "getsockname(2)" });
        }
        Ok(binary(cx, a.get()))
    }
    /// Closes one side of the stream for Ruby: 0 reading, 1 writing. True when none is left.
    #[method("__close_side", private)]
    fn close_side(cx: &mut Cx, this: Value, side: i64) -> Result<bool> {
        let io = object::get(cx, this)?;
        io.mode &= if side == 0 { !READ } else { !WRITE };
        Ok(io.mode & (READ | WRITE) == 0)
    }
    /// Whether it is open for reading (0) or writing (1).
    #[method("__open_side", private)]
    fn open_side(cx: &mut Cx, this: Value, side: i64) -> Result<bool> {
        let io = object::get(cx, this)?;
        Ok(io.mode & if side == 0 { READ } else { WRITE } != 0)
    }
    /// Bytes read ahead by the methods of IO.
    #[method("__buffered", private)]
    fn buffered(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(object::reader(cx, this)?.buffered().len() as i64)
    }
    /// Whether addresses of this socket are looked up in the reverse direction.
    #[method("do_not_reverse_lookup")]
    fn no_reverse(cx: &mut Cx, this: Value) -> Result<bool> {
        object::get(cx, this)?;
        Ok(cx.ivar_get(this, Sym::intern("__no_reverse")) != Value::FALSE)
    }
    /// Sets whether addresses of this socket are not looked up in the reverse direction.
    #[method("do_not_reverse_lookup=")]
    fn set_no_reverse(cx: &mut Cx, this: Value, on: Value) -> Result<Value> {
        object::get(cx, this)?;
        cx.check_frozen(this)?;
        cx.ivar_set_raw(this, Sym::intern("__no_reverse"), Value::bool(on.truthy()));
        Ok(on)
    }
    /// The path that a UNIX socket was made with, or nil.
    #[method("__path", private)]
    fn path(cx: &mut Cx, this: Value) -> Value {
        cx.ivar_get(this, Sym::intern("__path"))
    }
    /// Keeps the path of a UNIX socket.
    #[method("__keep_path", private)]
    fn keep_path(cx: &mut Cx, this: Value, path: Value) -> Value {
        cx.ivar_set_raw(this, Sym::intern("__path"), path);
        path
    }
}

/// Methods of `Socket::Sys`.
#[ruby_class(ids::OBJECT)]
mod sys {
    use super::*;

    /// socketpair(2): two sockets of the class
    #[method("pair", singleton)]
    fn pair(cx: &mut Cx, _this: Value, class: ClassId, domain: i64, kind: i64, protocol: i64) -> Result<Value> {
        let mut fds = [0i32; 2];
        let flags = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: room for two descriptors.
        open_descriptor(cx, "socketpair(2)", || unsafe {
            libc::socketpair(domain as i32, kind as i32 | flags, protocol as i32, fds.as_mut_ptr())
        })?;
        let a = object::make(cx, class, stream(fds[0], kind as i32));
        let b = object::make(cx, class, stream(fds[1], kind as i32));
        Ok(cx.array(&[a, b]))
    }
    /// What the class's `for_fd` gives for a descriptor that a message brought; with nil for the class the number.
    #[method("io", singleton)]
    fn io(cx: &mut Cx, _this: Value, class: Value, fd: i64, mode: Value) -> Result<Value> {
        if let Err(e) = descriptors::admit(cx, 1) {
            // SAFETY: nobody else has it.
            unsafe { libc::close(fd as i32) };
            return Err(e);
        }
        owner::note_number(cx, fd as i32);
        let fd = cx.int(fd);
        if class.is_nil() {
            return Ok(fd);
        }
        let args = [fd, mode];
        let args = if mode.is_nil() { &args[..1] } else { &args[..] };
        cx.call(class, Sym::intern("for_fd"), args)
    }
    /// close(2)
    #[method("close", singleton)]
    fn close(_this: Value, fd: i64) {
        // SAFETY: a descriptor that a message brought and that nobody holds.
        unsafe { libc::close(fd as i32) };
    }
    /// The number of the descriptor of a socket that is taken from its object, which stays behind closed.
    #[method("release", singleton)]
    fn release(cx: &mut Cx, _this: Value, socket: Value) -> Result<i64> {
        let io = object::get(cx, socket)?;
        let fd = io.release();
        owner::note_number(cx, fd);
        Ok(fd as i64)
    }
    /// Raises Errno::X.
    #[method("fail", singleton)]
    fn fail_with(cx: &mut Cx, _this: Value, errno: i64, detail: Ref<StringCell>) -> Result<()> {
        let detail = detail.to_text();
        fail(cx, errno as i32, &detail)
    }
}

/// `require "socket"`
pub fn load(cx: &mut Cx) -> Result<()> {
    if cx.const_by_path("Socket::Sys").is_some() {
        return Ok(());
    }
    crate::check_constant(cx, "BasicSocket", Some(ids::IO))?;
    crate::check_constant(cx, "Socket::Constants", None)?;
    let socket_error = cx.define_class(ids::OBJECT, "SocketError", ids::STANDARD_ERROR);
    let basic = cx.define_class(ids::OBJECT, "BasicSocket", ids::IO);
    let socket = cx.define_class(ids::OBJECT, "Socket", basic);
    cx.define_class(socket, "ResolutionError", socket_error);
    let sys = cx.define_module(socket, "Sys");
    cx.define_natives(basic, &[basic::METHODS, message::basic::METHODS]);
    cx.define_natives(sys, &[sys::METHODS, resolve::sys::METHODS]);
    constants::define(cx, socket);
    let progress = cx.const_by_path("Errno::EINPROGRESS").and_then(|c| cx.class_id(c)).unwrap_or(ids::SYSTEM_CALL_ERROR);
    for (name, module) in [("EINPROGRESSWaitWritable", "IO::WaitWritable"), ("EINPROGRESSWaitReadable", "IO::WaitReadable")] {
        let class = cx.define_class(ids::IO, name, progress);
        let module = cx.class_named(module)?;
        cx.include_module(class, module)?;
    }
    cx.run_builtin("socket_option")?;
    cx.run_builtin("socket_addrinfo")?;
    cx.run_builtin("socket")?;
    cx.run_builtin("socket_tcp")
}
