//! Whole files at once: IO.read, IO.write, IO.readlines, IO.foreach, IO.copy_stream; and IO.select.

use super::errors::last_errno;
use super::lines;
use super::modes;
use super::object::{self, Side, fill};
use super::open;
use zakuro_macros::ruby_class;
use zakuro_object::string::BINARY;
use zakuro_vm::*;

/// Opens `name` for one of these functions; keywords are those of `open`.
fn open_for(cx: &mut Cx, name: Value, kw: &Kwargs, default: &str) -> Result<Value> {
    let p = cx.path_of(name)?;
    let (m, perm) = match open_args(cx, kw)? {
        Some(given) => given,
        None => (modes::parse(cx, Value::NIL, kw, default)?, open::perm_of(cx, None, kw)?),
    };
    let io = open::open_path(cx, &p, &m, perm)?;
    Ok(object::make(cx, ids::FILE, io))
}

/// Mode and permission bits of `open_args:`, the arguments of `open`, beside which no other keyword counts.
fn open_args(cx: &mut Cx, kw: &Kwargs) -> Result<Option<(modes::Mode, u32)>> {
    let Some(list) = kw.named("open_args").filter(|v| !v.is_nil()) else { return Ok(None) };
    let list = cx.to_ary(list)?;
    let mut args = RootedVec::of(cx, list);
    let options = args.last().and_then(|v| Ref::<HashCell>::from_value(*v));
    if options.is_some() {
        args.pop();
    }
    let options = Kwargs::of(options);
    let m = modes::parse(cx, args.first().copied().unwrap_or(Value::NIL), &options, "r")?;
    let perm = open::perm_of(cx, args.get(1).copied(), &options)?;
    Ok(Some((m, perm)))
}

fn offset_of(cx: &mut Cx, v: Option<Value>) -> Result<Option<i64>> {
    match v.filter(|v| !v.is_nil()) {
        Some(v) => {
            let n = cx.to_i64(v)?;
            if n < 0 {
                return cx.arg_error(format!("negative offset {n} given"));
            }
            Ok(Some(n))
        }
        None => Ok(None),
    }
}

fn read_file(cx: &mut Cx, name: Value, len: Option<Value>, offset: Option<Value>, kw: &Kwargs, default: &str) -> Result<Value> {
    let offset = offset_of(cx, offset)?;
    let len = match len.filter(|v| !v.is_nil()) {
        Some(v) => {
            let n = cx.to_i64(v)?;
            if n < 0 {
                return cx.arg_error(format!("negative length {n} given"));
            }
            Some(n as usize)
        }
        None => None,
    };
    let f = open_for(cx, name, kw, default)?;
    let r = (|| {
        if let Some(o) = offset {
            super::read::seek_to(cx, f, o, libc::SEEK_SET)?;
        }
        match len {
            None => {
                let b = lines::read_all(cx, f)?;
                lines::text_value(cx, f, b)
            }
            Some(n) => {
                let b = lines::read_bytes(cx, f, n)?;
                if b.is_empty() && n > 0 {
                    return Ok(Value::NIL);
                }
                Ok(cx.str_bytes(&b, BINARY))
            }
        }
    })();
    open::finish(cx, f, r)
}

/// All that a file, a pipe or a device gives.
pub fn read_path(cx: &mut Cx, path: &[u8]) -> Result<Vec<u8>> {
    let mode = modes::parse(cx, Value::NIL, &Kwargs::NONE, "rb")?;
    let io = open::open_path(cx, path, &mode, 0)?;
    let f = object::make(cx, ids::FILE, io);
    let r = lines::read_all(cx, f);
    open::finish(cx, f, r)
}

fn write_file(cx: &mut Cx, name: Value, text: Value, offset: Option<Value>, kw: &Kwargs, binary: bool) -> Result<i64> {
    // Seeking refuses a negative one.
    let offset = match offset.filter(|v| !v.is_nil()) {
        Some(v) => Some(cx.to_i64(v)?),
        None => None,
    };
    let s = cx.to_s(text)?;
    let p = cx.path_of(name)?;
    let (m, perm) = match open_args(cx, kw)? {
        Some(given) => given,
        None => {
            let mut m = modes::parse(cx, Value::NIL, kw, if binary { "wb" } else { "w" })?;
            if offset.is_some() && !m.given {
                m.flags &= !libc::O_TRUNC;
            }
            (m, open::perm_of(cx, None, kw)?)
        }
    };
    let io = open::open_path(cx, &p, &m, perm)?;
    let f = object::make(cx, ids::FILE, io);
    let r = (|| {
        if let Some(o) = offset {
            super::read::seek_to(cx, f, o, libc::SEEK_SET)?;
        }
        Ok(super::write::write_value(cx, f, s.as_value())? as i64)
    })();
    open::finish(cx, f, r)
}

/// Keywords for opening, without those about lines.
fn split_line_kw(cx: &mut Cx, kw: &Kwargs) -> Result<Kwargs<'static>> {
    let h = cx.new_hash();
    if let Some(c) = kw.get(sym::chomp) {
        cx.hash_set(h, Value::sym(sym::chomp), c)?;
    }
    Ok(Kwargs::of(Some(h)))
}

/// What copy_stream reads from or writes to.
enum End {
    Stream(Value, bool),
    Object(Value),
}

fn copy_end(cx: &mut Cx, v: Value, write: bool) -> Result<End> {
    if cx.is_data::<object::IoData>(v) {
        return Ok(End::Stream(v, false));
    }
    let text = v.is_kind(Kind::String);
    let named = text || cx.responds(v, sym::to_path, false)?;
    // What reads or writes by itself may do more than the descriptor behind it (TLS); what has a path as well is a file (Tempfile).
    let own: &[&str] = if write { &["write"] } else { &["readpartial", "read"] };
    for name in own {
        if !named && cx.responds(v, Sym::intern(name), false)? {
            return Ok(End::Object(v));
        }
    }
    if !text
        && let Some(io) = cx.call_if_responds(v, sym::to_io, &[])?
        && cx.is_data::<object::IoData>(io)
    {
        return Ok(End::Stream(io, false));
    }
    if named {
        let f = open_for(cx, v, &Kwargs::NONE, if write { "wb" } else { "rb" })?;
        return Ok(End::Stream(f, true));
    }
    Ok(End::Object(v))
}

/// Bytes on their way from one end to the other.
enum Chunk {
    Read(Vec<u8>),
    Given(Held),
}
impl std::ops::Deref for Chunk {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            Chunk::Read(bytes) => bytes,
            Chunk::Given(bytes) => bytes,
        }
    }
}

fn copy(cx: &mut Cx, src: &End, dst: &End, limit: Option<i64>, offset: Option<i64>) -> Result<i64> {
    let mut left = limit.unwrap_or(i64::MAX);
    let mut at = offset;
    let mut total = 0;
    // What objects are asked for and given is theirs to see: as much at once as by CRuby, and of a reader into the same String each time.
    let most = if let (End::Stream(..), End::Stream(..)) = (src, dst) { 64 * 1024 } else { 16 * 1024 };
    let buffer = cx.str_bytes(b"", BINARY);
    while left > 0 {
        let want = left.min(most) as usize;
        let chunk = match src {
            End::Stream(v, _) => Chunk::Read(match &mut at {
                Some(o) => {
                    let fd = object::reader(cx, *v)?.fd;
                    let mut b = vec![0u8; want];
                    // SAFETY: b has `want` bytes.
                    let n = unsafe { libc::pread(fd, b.as_mut_ptr().cast(), want, *o) };
                    if n < 0 {
                        return object::fail_path(cx, *v, last_errno());
                    }
                    b.truncate(n as usize);
                    *o += n as i64;
                    b
                }
                None => {
                    if object::reader(cx, *v)?.buffered().is_empty() {
                        fill(cx, *v)?;
                    }
                    let io = object::reader(cx, *v)?;
                    let n = io.buffered().len().min(want);
                    let b = io.buffered()[..n].to_vec();
                    io.consume(n);
                    b
                }
            }),
            End::Object(v) => {
                let n = Value::fixnum(want as i64);
                let name = if cx.responds(*v, Sym::intern("readpartial"), false)? { Sym::intern("readpartial") } else { sym::read };
                match cx.rescue(&[ids::EOF_ERROR], |cx| cx.call(*v, name, &[n, buffer]))? {
                    Ok(s) if !s.is_nil() => Chunk::Given(Held::of(Ref::of(buffer))),
                    _ => break,
                }
            }
        };
        if chunk.is_empty() {
            break;
        }
        match dst {
            End::Stream(v, _) => object::write(cx, *v, &chunk)?,
            End::Object(v) => {
                let s = cx.str_bytes(&chunk, BINARY);
                cx.call(*v, sym::write, &[s])?;
            }
        }
        total += chunk.len() as i64;
        left -= chunk.len() as i64;
        cx.safepoint()?;
    }
    if let End::Stream(v, _) = dst {
        object::flush(cx, *v)?;
    }
    Ok(total)
}

#[ruby_class(ids::IO)]
pub mod io {
    use super::*;
    /// The content of a file, or `length` bytes of it from `offset`.
    ///
    ///     File.read("/dev/null")   #=> ""
    #[method("read", singleton)]
    fn read(cx: &mut Cx, _this: Value, name: Value, len: Option<Value>, offset: Option<Value>, kw: Kwargs) -> Result<Value> {
        read_file(cx, name, len, offset, &kw, "r")
    }
    /// As `read`, as bytes.
    #[method("binread", singleton)]
    fn binread(cx: &mut Cx, _this: Value, name: Value, len: Option<Value>, offset: Option<Value>) -> Result<Value> {
        if let Some(o) = offset.filter(|o| !o.is_nil())
            && cx.to_i64(o)? < 0
        {
            let p = cx.path_of(name)?;
            return super::super::fail(cx, libc::EINVAL, &String::from_utf8_lossy(&p));
        }
        read_file(cx, name, len, offset, &Kwargs::NONE, "rb")
    }
    /// Writes a file; returns the number of bytes.
    ///
    ///     File.write("/dev/null", "abc")   #=> 3
    #[method("write", singleton)]
    fn write(cx: &mut Cx, _this: Value, name: Value, text: Value, offset: Option<Value>, kw: Kwargs) -> Result<i64> {
        write_file(cx, name, text, offset, &kw, false)
    }
    /// As `write`, as bytes.
    #[method("binwrite", singleton)]
    fn binwrite(cx: &mut Cx, _this: Value, name: Value, text: Value, offset: Option<Value>, kw: Kwargs) -> Result<i64> {
        write_file(cx, name, text, offset, &kw, true)
    }
    /// The lines of a file.
    ///
    ///     File.readlines("/dev/null")   #=> []
    #[method("readlines", singleton)]
    fn readlines(cx: &mut Cx, _this: Value, name: Value, args: Rest, kw: Kwargs) -> Result<Value> {
        let line_kw = split_line_kw(cx, &kw)?;
        let a = lines::line_args(cx, args, &line_kw)?;
        lines::check_limit(cx, &a, "readlines")?;
        let f = open_for(cx, name, &kw, "r")?;
        let r = lines::readlines(cx, f, &a);
        open::finish(cx, f, r)
    }
    /// Yields each line of a file.
    #[method("foreach", singleton)]
    fn foreach(cx: &mut Cx, this: Value, all: Args) -> Result<Value> {
        if all.is_empty() {
            return cx.arity_error(0, 1, None);
        }
        if all.block.is_none() {
            let args = ArgList::new(cx, &[&[Value::sym(Sym::intern("foreach"))], all.all()]);
            return cx.call_full(this, sym::to_enum, &args, all.kw, Block::NONE);
        }
        let mut args = all;
        let kw = args.take_kw();
        // What is left when the keywords are taken.
        let Some((&name, rest)) = args.all().split_first() else { return cx.arity_error(0, 1, None) };
        let line_kw = split_line_kw(cx, &kw)?;
        let a = lines::line_args(cx, rest, &line_kw)?;
        lines::check_limit(cx, &a, "foreach")?;
        let f = open_for(cx, name, &kw, "r")?;
        let r = (|| {
            loop {
                let line = lines::gets(cx, f, &a)?;
                if line.is_nil() {
                    return Ok(lines::set_last(cx, Value::NIL));
                }
                cx.yield1(all.block, line)?;
            }
        })();
        open::finish(cx, f, r)
    }
    /// Copies from one stream, path or object with `read` to another; returns the number of bytes.
    #[method("copy_stream", singleton)]
    fn copy_stream(cx: &mut Cx, _this: Value, src: Value, dst: Value, len: Option<Value>, offset: Option<Value>) -> Result<i64> {
        let limit = match len.filter(|l| !l.is_nil()) {
            Some(l) => Some(cx.to_i64(l)?),
            None => None,
        };
        let offset = offset_of(cx, offset)?;
        let from = copy_end(cx, src, false)?;
        if offset.is_some() && matches!(from, End::Object(_)) {
            return cx.arg_error("cannot specify src_offset for non-IO");
        }
        let to = copy_end(cx, dst, true)?;
        let r = copy(cx, &from, &to, limit, offset);
        let mut r = r;
        for end in [from, to] {
            if let End::Stream(v, true) = end {
                r = open::finish(cx, v, r);
            }
        }
        r
    }
    /// Waits until one of the streams is ready: [readable, writable, exceptional], or nil when `timeout` seconds passed.
    #[method("select", singleton)]
    fn select(cx: &mut Cx, _this: Value, r: Value, w: Option<Value>, e: Option<Value>, timeout: Option<Value>) -> Result<Value> {
        let (w, e, timeout) = (w.unwrap_or(Value::NIL), e.unwrap_or(Value::NIL), timeout.unwrap_or(Value::NIL));
        if let Some(chosen) = crate::fiber_scheduler::hook(cx, "io_select", &[r, w, e, timeout])? {
            return Ok(chosen);
        }
        super::select(cx, r, w, e, timeout)
    }
}

/// `IO.select`
pub fn select(cx: &mut Cx, r: Value, w: Value, e: Value, timeout: Value) -> Result<Value> {
    let seconds = if timeout.is_nil() {
        None
    } else {
        if timeout.as_float().is_some_and(f64::is_nan) {
            return cx.range_error("NaN out of Time range");
        }
        Some(zakuro_core_base::interval::duration(cx, timeout)?.as_secs_f64())
    };
    let mut fds: Vec<libc::pollfd> = Vec::new();
    let mut leases = Vec::new();
    let mut entries: Vec<(usize, usize)> = Vec::new();
    let lists = [(r, libc::POLLIN), (w, libc::POLLOUT), (e, libc::POLLPRI)];
    let results: Vec<Ref<ArrayCell>> = lists.iter().map(|_| cx.new_array()).collect();
    let (r0, r1, r2) = (results[0], results[1], results[2]);
    let out = cx.array(&[r0.as_value(), r1.as_value(), r2.as_value()]);
    let mut ready = false;
    for (which, (list, events)) in lists.iter().enumerate() {
        if list.is_nil() {
            continue;
        }
        let a = cx.to_ary(*list)?;
        let mut i = 0;
        while let Some(v) = a.get(i) {
            let io = io_of(cx, v)?;
            if which == 0 && !object::get(cx, io)?.buffered().is_empty() {
                ready = true;
                ArrayCell::push(results[0], &mut cx.heap, v);
            } else {
                if which == 1 && !object::get(cx, io)?.wbuf.is_empty() {
                    object::flush(cx, io)?;
                }
                let lease = object::lease(cx, io, if which == 1 { Side::Writing } else { Side::Reading })?;
                fds.push(libc::pollfd { fd: lease.fd, events: *events, revents: 0 });
                leases.push(lease);
                entries.push((which, i));
            }
            i += 1;
        }
    }
    let more = super::wait::select_any(cx, &mut fds, &leases, if ready { Some(0.0) } else { seconds })?;
    if more {
        for (p, (which, i)) in fds.iter().zip(&entries) {
            let mask = if *which == 2 { libc::POLLPRI } else { p.events | libc::POLLHUP | libc::POLLERR };
            if p.revents & mask != 0
                && let Some(v) = Ref::<ArrayCell>::from_value(lists[*which].0).and_then(|a| a.get(*i))
            {
                ArrayCell::push(results[*which], &mut cx.heap, v);
                ready = true;
            }
        }
    }
    Ok(if ready { out } else { Value::NIL })
}

/// The IO of an argument: itself or its `to_io`.
pub fn io_of(cx: &mut Cx, v: Value) -> Result<Value> {
    if cx.is_data::<object::IoData>(v) {
        return Ok(v);
    }
    match cx.call_if_responds(v, sym::to_io, &[])? {
        Some(io) => Ok(io),
        None => cx.no_conversion(v, "IO"),
    }
}
