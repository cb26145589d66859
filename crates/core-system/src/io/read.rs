//! Input methods of IO.

use super::errors::{io_error, last_errno};
use super::lines::*;
use super::object::{self, fill, fill_up_to};
use super::wait::{Called, Patience, blocking_read, read_now, read_socket};
use zakuro_macros::ruby_class;
use zakuro_object::string::BINARY;
use zakuro_vm::*;

/// Enumerator for a method without a block.
pub fn enumerator(cx: &mut Cx, this: Value, name: &str, args: &[Value]) -> Result<Value> {
    let all = ArgList::new(cx, &[&[Value::sym(Sym::intern(name))], args]);
    cx.call(this, sym::to_enum, &all)
}

fn length(cx: &mut Cx, v: Value) -> Result<usize> {
    let n = cx.to_i64(v)?;
    if n < 0 {
        return cx.arg_error(format!("negative length {n} given"));
    }
    Ok(n as usize)
}

/// Bytes that are there now, waiting only when there are none. None at the end.
fn read_some(cx: &mut Cx, this: Value, max: usize) -> Result<Option<Vec<u8>>> {
    if object::reader(cx, this)?.buffered().is_empty() && !fill_up_to(cx, this, max)? {
        return Ok(None);
    }
    let io = object::reader(cx, this)?;
    Ok(Some(io.take_buffered(max)))
}

/// The buffer argument as it is, or a new String: for reading nothing.
fn untouched(cx: &mut Cx, buf: Option<Value>) -> Result<Value> {
    match buf.filter(|b| !b.is_nil()) {
        Some(b) => Ok(cx.to_str(b)?.as_value()),
        None => Ok(cx.str_bytes(b"", BINARY)),
    }
}

/// `exception:` of the methods that don't wait: whether they say it by their result. ArgumentError
pub fn quiet(cx: &mut Cx, kw: Kwargs) -> Result<bool> {
    kw.only(cx, &[sym::exception])?;
    match kw.get(sym::exception) {
        None | Some(Value::TRUE) => Ok(false),
        Some(Value::FALSE) => Ok(true),
        Some(other) => {
            let shown = cx.inspect_for_error(other);
            cx.arg_error(format!("expected true or false as exception: {shown}"))
        }
    }
}

/// Runs what may wait while nobody else may change the String that is to take what comes.
fn while_locked<T>(cx: &mut Cx, buf: Option<Value>, f: impl FnOnce(&mut Cx) -> Result<T>) -> Result<T> {
    let Some(buf) = buf.filter(|b| !b.is_nil()) else { return f(cx) };
    // What takes nothing is refused before anything is read.
    let buf = cx.to_str(buf)?.as_value();
    cx.lock_string(buf)?;
    let r = f(cx);
    cx.unlock_string(buf);
    r
}

/// Puts bytes in front of what is read next: as many as a buffer takes.
fn put_back(cx: &mut Cx, this: Value, bytes: &[u8]) -> Result<()> {
    const ROOM: usize = 8192;
    let io = object::reader(cx, this)?;
    let have = io.buffered().len();
    if have > 0 && io.int.is_none() && have + bytes.len() > io.rbuf.len().max(ROOM) {
        return io_error(cx, "ungetbyte failed");
    }
    io.unread(bytes);
    Ok(())
}

fn at_end<T>(cx: &mut Cx, buf: Option<Value>) -> Result<T> {
    if buf.is_some_and(|b| !b.is_nil()) {
        into_buffer(cx, buf, b"", BINARY)?;
    }
    eof_error(cx)
}

#[ruby_class(ids::IO)]
pub mod io {
    use super::*;
    /// Everything up to the end, or up to `length` bytes (nil at the end of the file).
    ///
    ///     File.open("/dev/null") { |f| [f.read, f.read(1)] }   #=> ["", nil]
    #[method("read")]
    fn read(cx: &mut Cx, this: Value, len: Option<Value>, buf: Option<Value>) -> Result<Value> {
        object::reader(cx, this)?;
        match len.filter(|l| !l.is_nil()) {
            None => {
                let b = read_all(cx, this)?;
                let text = text_value(cx, this, b)?;
                if buf.is_some_and(|b| !b.is_nil())
                    && let Some(t) = Ref::<StringCell>::from_value(text)
                {
                    let bytes = t.to_vec();
                    let s = into_buffer(cx, buf, &bytes, t.encoding())?;
                    Ref::<StringCell>::of(s).set_encoding(t.encoding());
                    return Ok(s);
                }
                Ok(text)
            }
            Some(l) => {
                let n = length(cx, l)?;
                let b = while_locked(cx, buf, |cx| read_bytes(cx, this, n))?;
                let s = into_buffer(cx, buf, &b, BINARY)?;
                Ok(if b.is_empty() && n > 0 { Value::NIL } else { s })
            }
        }
    }
    /// Up to `max` bytes of what is there, waiting only while there is nothing. EOFError at the end.
    #[method("readpartial")]
    fn readpartial(cx: &mut Cx, this: Value, max: Value, buf: Option<Value>) -> Result<Value> {
        let n = length(cx, max)?;
        object::reader(cx, this)?;
        if n == 0 {
            return into_buffer(cx, buf, b"", BINARY);
        }
        match while_locked(cx, buf, |cx| read_some(cx, this, n))? {
            Some(b) => into_buffer(cx, buf, &b, BINARY),
            None => at_end(cx, buf),
        }
    }
    /// One read(2). EOFError at the end; IOError when the stream has buffered data.
    #[method("sysread")]
    fn sysread(cx: &mut Cx, this: Value, max: Value, buf: Option<Value>) -> Result<Value> {
        let n = length(cx, max)?;
        let io = object::reader(cx, this)?;
        if n == 0 {
            return untouched(cx, buf);
        }
        if !io.buffered().is_empty() && io.by_characters {
            return io_error(cx, "sysread for buffered IO");
        }
        io.drop_readahead();
        if !io.buffered().is_empty() {
            // Of a pipe: it can't be given back.
            let n = n.min(io.buffered().len());
            let b = io.buffered()[..n].to_vec();
            io.consume(n);
            return into_buffer(cx, buf, &b, BINARY);
        }
        let regular = while_locked(cx, buf, |cx| object::wait_for_input(cx, this))?;
        let mut chunk = zakuro_base::memory::zeroed(n.min(1 << 26));
        if object::reader(cx, this)?.is_socket() {
            let patience = Patience::seconds(object::get(cx, this)?.timeout);
            return match read_socket(cx, this, &mut chunk, patience, 0)? {
                Called::Done(0) => at_end(cx, buf),
                Called::Done(n) => into_buffer(cx, buf, &chunk[..n], BINARY),
                Called::Failed(e) => object::fail_path(cx, this, e),
                Called::Later | Called::TimedOut => object::io_timeout(cx),
            };
        }
        match blocking_read(cx, this, regular, &mut chunk)? {
            Ok(0) => at_end(cx, buf),
            Ok(n) => into_buffer(cx, buf, &chunk[..n], BINARY),
            Err(e) => object::fail_path(cx, this, e),
        }
    }
    /// As `readpartial` but never waits: IO::WaitReadable (or :wait_readable with `exception: false`).
    #[method("read_nonblock")]
    fn read_nonblock(cx: &mut Cx, this: Value, max: Value, buf: Option<Value>, kw: Kwargs) -> Result<Value> {
        let n = length(cx, max)?;
        let quiet = quiet(cx, kw)?;
        let io = object::reader(cx, this)?;
        if n == 0 {
            return into_buffer(cx, buf, b"", BINARY);
        }
        let plain = !io.regular && !io.tty && !io.is_socket() && cx.fiber_scheduler().is_nil();
        let io = object::reader(cx, this)?;
        if plain && io.buffered().is_empty() {
            let mut there = zakuro_base::memory::with_room(n.min(object::LARGEST_PIPE));
            match read_now(io.descriptor(object::Side::Reading), &mut there) {
                Ok(0) if quiet => return Ok(Value::NIL),
                Ok(0) => return at_end(cx, buf),
                Ok(_) => return into_buffer(cx, buf, &there, BINARY),
                Err(libc::EAGAIN) if quiet => return Ok(Value::sym(Sym::intern("wait_readable"))),
                Err(libc::EAGAIN) => return wait_error(cx, "IO::EAGAINWaitReadable", "Resource temporarily unavailable - read would block"),
                // What the system can't tell so is asked for in the other way, which tells errors, too.
                Err(_) => {}
            }
        }
        let io = object::reader(cx, this)?;
        if io.buffered().is_empty() && !io.regular {
            let mut p = libc::pollfd { fd: io.fd, events: libc::POLLIN, revents: 0 };
            // SAFETY: one valid pollfd.
            if unsafe { libc::poll(&mut p, 1, 0) } == 0 {
                if quiet {
                    return Ok(Value::sym(Sym::intern("wait_readable")));
                }
                return wait_error(cx, "IO::EAGAINWaitReadable", "Resource temporarily unavailable - read would block");
            }
        }
        match read_some(cx, this, n)? {
            Some(b) => into_buffer(cx, buf, &b, BINARY),
            None if quiet => Ok(Value::NIL),
            None => at_end(cx, buf),
        }
    }
    /// Bytes at an offset; the position stays.
    #[method("pread")]
    fn pread(cx: &mut Cx, this: Value, len: Value, offset: i64, buf: Option<Value>) -> Result<Value> {
        let n: usize = match cx.to_i64(len)?.try_into() {
            Ok(n) => n,
            Err(_) => return cx.arg_error("negative string size (or size too big)"),
        };
        let fd = object::reader(cx, this)?.fd;
        if n == 0 {
            return untouched(cx, buf);
        }
        let mut b = zakuro_base::memory::zeroed(n.min(1 << 30));
        // SAFETY: b has n bytes.
        let r = unsafe { libc::pread(fd, b.as_mut_ptr().cast(), b.len(), offset) };
        if r < 0 {
            return object::fail_path(cx, this, last_errno());
        }
        if r == 0 && n > 0 {
            return eof_error(cx);
        }
        into_buffer(cx, buf, &b[..r as usize], BINARY)
    }
    /// The next line, nil at the end; sets `$_`.
    #[method("gets", max = -1)]
    fn gets(cx: &mut Cx, this: Value, args: Rest, kw: Kwargs) -> Result<Value> {
        let a = line_args(cx, args, &kw)?;
        let v = super::gets(cx, this, &a)?;
        Ok(set_last(cx, v))
    }
    /// The next line; EOFError at the end.
    #[method("readline", max = -1)]
    fn readline(cx: &mut Cx, this: Value, args: Rest, kw: Kwargs) -> Result<Value> {
        let a = line_args(cx, args, &kw)?;
        let v = super::gets(cx, this, &a)?;
        set_last(cx, v);
        if v.is_nil() { eof_error(cx) } else { Ok(v) }
    }
    /// The remaining lines.
    #[method("readlines", "to_a", max = -1)]
    fn readlines(cx: &mut Cx, this: Value, args: Rest, kw: Kwargs) -> Result<Value> {
        let a = line_args(cx, args, &kw)?;
        super::readlines(cx, this, &a)
    }
    /// Yields each line.
    #[method("each_line", "each", max = -1)]
    fn each_line(cx: &mut Cx, this: Value, all: Args) -> Result<Value> {
        if all.block.is_none() {
            let args = ArgList::new(cx, &[&[Value::sym(Sym::intern("each_line"))], all.all()]);
            return cx.call_full(this, sym::to_enum, &args, all.kw, Block::NONE);
        }
        let mut args = all;
        let kw = args.take_kw();
        let a = line_args(cx, args.all(), &kw)?;
        check_limit(cx, &a, "each_line")?;
        loop {
            let line = super::gets(cx, this, &a)?;
            if line.is_nil() {
                return Ok(this);
            }
            cx.yield1(all.block, line)?;
        }
    }
    /// The next character, nil at the end.
    #[method("getc")]
    fn getc(cx: &mut Cx, this: Value) -> Result<Value> {
        match read_char(cx, this)? {
            Some(c) => text_value(cx, this, c),
            None => Ok(Value::NIL),
        }
    }
    /// The next character; EOFError at the end.
    #[method("readchar")]
    fn readchar(cx: &mut Cx, this: Value) -> Result<Value> {
        match read_char(cx, this)? {
            Some(c) => text_value(cx, this, c),
            None => eof_error(cx),
        }
    }
    /// The next byte, nil at the end.
    #[method("getbyte")]
    fn getbyte(cx: &mut Cx, this: Value) -> Result<Value> {
        let b = read_bytes(cx, this, 1)?;
        Ok(b.first().map_or(Value::NIL, |b| Value::fixnum(*b as i64)))
    }
    /// The next byte; EOFError at the end.
    #[method("readbyte")]
    fn readbyte(cx: &mut Cx, this: Value) -> Result<Value> {
        let b = read_bytes(cx, this, 1)?;
        match b.first() {
            Some(b) => Ok(Value::fixnum(*b as i64)),
            None => eof_error(cx),
        }
    }
    /// Yields each byte.
    #[method("each_byte")]
    fn each_byte(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this, "each_byte", &[]);
        }
        while let Some(b) = read_bytes(cx, this, 1)?.first() {
            cx.yield1(block, Value::fixnum(*b as i64))?;
        }
        Ok(this)
    }
    /// Yields each character.
    #[method("each_char")]
    fn each_char(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this, "each_char", &[]);
        }
        while let Some(c) = read_char(cx, this)? {
            let v = text_value(cx, this, c)?;
            cx.yield1(block, v)?;
        }
        Ok(this)
    }
    /// Puts characters back in front of what is read next.
    #[method("ungetc")]
    fn ungetc(cx: &mut Cx, this: Value, c: Value) -> Result<()> {
        let bytes = if cx.is_integer(c) {
            let e = zakuro_text::encoding::Encoding::from_id(text_encoding(object::reader(cx, this)?));
            let n = cx.to_i64(c)? as u32;
            let mut b = Vec::new();
            if !e.is_some_and(|e| e.encode(n, &mut b)) {
                b = vec![n as u8];
            }
            b
        } else {
            cx.to_str(c)?.to_vec()
        };
        put_back(cx, this, &bytes)
    }
    /// Puts bytes back in front of what is read next.
    #[method("ungetbyte")]
    fn ungetbyte(cx: &mut Cx, this: Value, b: Value) -> Result<()> {
        if b.is_nil() {
            return Ok(());
        }
        let bytes = if cx.is_integer(b) {
            let low = cx.call(b, Sym::intern("&"), &[Value::fixnum(0xff)])?;
            vec![cx.to_i64(low)? as u8]
        } else {
            cx.to_str(b)?.to_vec()
        };
        put_back(cx, this, &bytes)
    }
    /// Whether nothing is left to read.
    #[method("eof?", "eof")]
    fn eof(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(object::reader(cx, this)?.buffered().is_empty() && !fill(cx, this)?)
    }
    /// Number of lines read.
    #[method("lineno")]
    fn lineno(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(object::reader(cx, this)?.lineno)
    }
    /// Sets the number of lines read.
    #[method("lineno=")]
    fn set_lineno(cx: &mut Cx, this: Value, n: i64) -> Result<i64> {
        object::reader(cx, this)?;
        if i32::try_from(n).is_err() {
            let what = if n < 0 { "small" } else { "big" };
            return cx.range_error(format!("integer {n} too {what} to convert to 'int'"));
        }
        object::reader(cx, this)?.lineno = n;
        Ok(n)
    }
    /// Position in bytes.
    ///
    ///     File.open("/dev/null", &:pos)   #=> 0
    #[method("pos", "tell")]
    fn pos(cx: &mut Cx, this: Value) -> Result<i64> {
        let io = object::get(cx, this)?;
        // SAFETY: lseek only asks.
        let at = unsafe { libc::lseek(io.fd, 0, libc::SEEK_CUR) };
        if at < 0 {
            return object::fail_path(cx, this, last_errno());
        }
        if io.mode & object::APPEND != 0 && !io.wbuf.is_empty() {
            object::flush(cx, this)?;
            return pos(cx, this);
        }
        Ok(at - io.buffered().len() as i64 + io.wbuf.len() as i64)
    }
    /// Moves to a position in bytes.
    #[method("pos=")]
    fn set_pos(cx: &mut Cx, this: Value, n: i64) -> Result<i64> {
        seek_to(cx, this, n, libc::SEEK_SET)?;
        Ok(n)
    }
    /// Moves by `offset` from the start, the current position (IO::SEEK_CUR) or the end (IO::SEEK_END).
    #[method("seek")]
    fn seek(cx: &mut Cx, this: Value, offset: i64, whence: Option<Value>) -> Result<i64> {
        let w = whence_of(cx, whence)?;
        seek_to(cx, this, offset, w)?;
        Ok(0)
    }
    /// lseek(2). IOError when the stream has buffered data.
    #[method("sysseek")]
    fn sysseek(cx: &mut Cx, this: Value, offset: i64, whence: Option<Value>) -> Result<i64> {
        let w = whence_of(cx, whence)?;
        let io = object::get(cx, this)?;
        if io.readable() && !io.buffered().is_empty() {
            if io.by_characters {
                return io_error(cx, "sysseek for buffered IO");
            }
            io.drop_readahead();
        }
        // SAFETY: lseek on an open descriptor.
        let r = unsafe { libc::lseek(io.fd, offset, w) };
        if r < 0 { object::fail_path(cx, this, last_errno()) } else { Ok(r) }
    }
    /// Back to the start; line numbers too.
    #[method("rewind")]
    fn rewind(cx: &mut Cx, this: Value) -> Result<i64> {
        seek_to(cx, this, 0, libc::SEEK_SET)?;
        object::get(cx, this)?.lineno = 0;
        Ok(0)
    }
}

fn whence_of(cx: &mut Cx, v: Option<Value>) -> Result<i32> {
    let Some(v) = v else { return Ok(libc::SEEK_SET) };
    if let Some(s) = v.as_sym() {
        return match &*s.name() {
            "SET" => Ok(libc::SEEK_SET),
            "CUR" => Ok(libc::SEEK_CUR),
            "END" => Ok(libc::SEEK_END),
            other => cx.arg_error(format!("unknown whence: {other}")),
        };
    }
    Ok(cx.to_i64(v)? as i32)
}

/// Seeks a stream: buffers are written and forgotten.
pub fn seek_to(cx: &mut Cx, v: Value, offset: i64, whence: i32) -> Result<()> {
    object::get(cx, v)?;
    object::flush(cx, v)?;
    let io = object::get(cx, v)?;
    let ahead = io.buffered().len() as i64;
    let offset = if whence == libc::SEEK_CUR { offset - ahead } else { offset };
    // SAFETY: lseek on an open descriptor.
    let r = unsafe { libc::lseek(io.fd, offset, whence) };
    if r < 0 {
        return object::fail_path(cx, v, last_errno());
    }
    io.rbuf.clear();
    io.rpos = 0;
    Ok(())
}

/// An IO::WaitReadable or IO::WaitWritable error.
pub fn wait_error<T>(cx: &mut Cx, class: &str, message: &str) -> Result<T> {
    match cx.const_by_path(class).and_then(|c| cx.class_id(c)) {
        Some(c) => cx.raise(c, message),
        None => super::fail(cx, libc::EAGAIN, "would block"),
    }
}
