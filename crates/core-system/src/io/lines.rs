//! Reading lines: separators, limits, paragraphs, `chomp:`; shared by IO, Kernel#gets and ARGF.

use super::object::{self, fill, fill_up_to};
use super::stream::{self, IoState};
use zakuro_text::encoding::Encoding;
use zakuro_text::encoding::transcode::{Policy, transcode};
use zakuro_vm::*;

/// Arguments of `gets` and friends.
#[derive(Clone, Debug)]
pub struct LineArgs {
    /// None: everything up to the end.
    pub sep: Option<Vec<u8>>,
    /// "" was given: paragraphs.
    pub paragraph: bool,
    pub limit: Option<usize>,
    pub chomp: bool,
    /// Encoding of the separator.
    sep_encoding: u8,
    /// It is the one that `$/` is from the start, which every encoding has.
    usual: bool,
    /// Bytes of the shortest character: what separates lines starts at a multiple.
    unit: usize,
}

/// The same with the separator as UTF-16 and UTF-32 write it.
fn in_encoding(a: &LineArgs, encoding: u8) -> std::borrow::Cow<'_, LineArgs> {
    let e = Encoding::from_id(encoding).unwrap_or(Encoding::BINARY);
    let Some(sep) = a.sep.as_ref().filter(|s| !e.is_ascii_compatible() && s.is_ascii()) else { return std::borrow::Cow::Borrowed(a) };
    let mut wide = Vec::new();
    if !sep.iter().all(|b| e.encode(*b as u32, &mut wide)) {
        return std::borrow::Cow::Borrowed(a);
    }
    let unit = wide.len() / sep.len();
    std::borrow::Cow::Owned(LineArgs { sep: Some(wide), unit, ..a.clone() })
}

/// The same with a separator beyond ASCII as the stream's bytes have it: it is given in the encoding that the program reads. ArgumentError
fn as_in_file<'a>(cx: &mut Cx, a: &'a LineArgs, external: u8, internal: Option<u8>) -> Result<std::borrow::Cow<'a, LineArgs>> {
    let seen = internal.unwrap_or(external);
    let named = |id: u8| Encoding::from_id(id).unwrap_or(Encoding::BINARY);
    let everywhere = a.usual || a.paragraph || named(seen).is_ascii_compatible();
    let Some(sep) = a.sep.as_ref().filter(|s| !s.is_ascii() || !everywhere) else { return Ok(in_encoding(a, external)) };
    if a.sep_encoding != seen {
        return cx.arg_error(format!("encoding mismatch: {} IO with {} RS", named(seen).name(), named(a.sep_encoding).name()));
    }
    // What the file's encoding has no bytes for does not come up in it.
    match internal.map(|_| transcode(named(seen), named(external), sep, &Policy::default())) {
        Some(Ok(sep)) => Ok(std::borrow::Cow::Owned(LineArgs { sep: Some(sep), ..a.clone() })),
        Some(Err(_)) | None => Ok(std::borrow::Cow::Borrowed(a)),
    }
}

/// Parses `(sep = $/, limit = nil, chomp: false)`.
pub fn line_args(cx: &mut Cx, args: &[Value], kw: &Kwargs) -> Result<LineArgs> {
    // Other keywords are none of ours, but no mistake either.
    let chomp = kw.get(sym::chomp).is_some_and(Value::truthy);
    if args.len() > 2 {
        return cx.arity_error(args.len(), 0, Some(2));
    }
    let (mut sep, mut limit) = (None, None);
    match args {
        [] => {}
        [one] if one.is_nil() => sep = Some(Value::NIL),
        [one] => match cx.try_str(*one)? {
            Some(s) => sep = Some(s.as_value()),
            None => limit = Some(cx.to_i64(*one)?),
        },
        [s, l, ..] => {
            sep = Some(if s.is_nil() { *s } else { cx.to_str(*s)?.as_value() });
            if !l.is_nil() {
                limit = Some(cx.to_i64(*l)?);
            }
        }
    }
    let given = sep.is_some();
    let sep = match sep {
        Some(v) => v,
        None => cx.global_get(sym::input_rs)?,
    };
    let sep = Ref::<StringCell>::from_value(sep);
    let sep_encoding = sep.map_or(zakuro_object::string::BINARY, |s| s.encoding());
    let sep = sep.map(|s| s.to_vec());
    let paragraph = sep.as_ref().is_some_and(Vec::is_empty);
    let limit = limit.and_then(|l| usize::try_from(l).ok());
    let usual = !given && sep.as_deref() == Some(b"\n");
    Ok(LineArgs { sep: if paragraph { Some(b"\n\n".to_vec()) } else { sep }, paragraph, limit, chomp, sep_encoding, usual, unit: 1 })
}

/// Encoding of text read from a stream.
pub fn text_encoding(io: &object::Io) -> u8 {
    io.ext.unwrap_or(io.default)
}

/// String of bytes read as text: encoded, and converted to the internal encoding.
pub fn text_value(cx: &mut Cx, v: Value, bytes: Vec<u8>) -> Result<Value> {
    super::encodings::to_internal(cx, v, bytes)
}

/// The next line's bytes; None at the end.
pub fn read_line(cx: &mut Cx, v: Value, a: &LineArgs) -> Result<Option<Vec<u8>>> {
    if a.limit == Some(0) {
        object::reader(cx, v)?;
        return Ok(Some(Vec::new()));
    }
    let io = object::reader(cx, v)?;
    let (encoding, int, universal) = (text_encoding(io), io.int, io.reads_newlines());
    io.by_characters = true;
    let a = &as_in_file(cx, a, encoding, int)?;
    if universal {
        return universal_line(cx, v, a, encoding);
    }
    if a.paragraph {
        // Newlines in front of a paragraph don't count.
        if !pass_newlines(cx, v, b"\n")? {
            return Ok(None);
        }
    }
    let characters = Encoding::from_id(encoding).filter(|e| !e.is_single_byte() && *e != Encoding::UTF_8);
    let mut from = 0;
    // What was walked by whole characters.
    let mut aligned = 0;
    let (mut end, mut found) = (0, false);
    let (mut converted, mut at_end) = (Converted::default(), false);
    loop {
        let io = object::reader(cx, v)?;
        let b = io.buffered();
        // Another thread may have read what stood here while this one waited.
        if b.len() < from {
            (from, aligned, converted) = (0, 0, Converted::default());
        }
        if let Some(sep) = &a.sep {
            let last = sep[sep.len() - 1];
            let mut at = from;
            while let Some(i) = memchr::memchr(last, &b[at..]) {
                at += i + 1;
                if b[..at].ends_with(sep) && at.is_multiple_of(a.unit) {
                    // The end of one character and the start of the next are no separator.
                    if let Some(e) = characters.filter(|_| !sep.is_ascii()) {
                        while aligned < at - sep.len() {
                            aligned += e.char_len(&b[aligned..]).unwrap_or_else(|n| n).max(1);
                        }
                        if aligned > at - sep.len() {
                            continue;
                        }
                    }
                    found = true;
                    end = at;
                    break;
                }
            }
        }
        if let Some(l) = a.limit
            && (int.is_some() || found && end > l || !found && b.len() >= l)
        {
            // Cut at the limit, but never inside a character.
            let enc = Encoding::from_id(encoding).unwrap_or(Encoding::BINARY);
            if let Some(to) = int.and_then(Encoding::from_id) {
                let text = if found { &b[..end] } else { b };
                converted.go_on(text, enc, to, l, found || at_end);
                if converted.to < l && !found && !at_end {
                    from = b.len();
                    at_end = !fill(cx, v)?;
                    continue;
                }
                end = converted.from;
                break;
            }
            let mut cut = l.min(b.len());
            if enc == Encoding::UTF_8 {
                // What is no character goes on being read, for 16 bytes.
                if b.len() < l + 16 && starts_character(&b[..cut]) && fill(cx, v)? {
                    continue;
                }
                let b = object::reader(cx, v)?.buffered();
                cut = cut.min(b.len());
                let last = (l + 16).min(b.len());
                while cut < last && starts_character(&b[..cut]) {
                    cut += 1;
                }
            } else if !enc.is_single_byte() {
                let mut at = 0;
                while at < cut {
                    at += enc.char_len(&b[at..]).unwrap_or_else(|n| n).max(1);
                }
                cut = at.min(b.len());
                if b.len() - l < 8 && b.len() == cut {
                    if fill(cx, v)? {
                        continue;
                    }
                    cut = cut.min(object::reader(cx, v)?.buffered().len());
                }
            }
            end = cut;
            break;
        }
        if found {
            break;
        }
        from = b.len();
        end = from;
        if !fill(cx, v)? {
            break;
        }
    }
    let io = object::reader(cx, v)?;
    end = end.min(io.buffered().len());
    if end == 0 {
        return Ok(None);
    }
    let mut line = io.buffered()[..end].to_vec();
    io.consume(end);
    if a.paragraph {
        pass_newlines(cx, v, b"\n")?;
    }
    if a.chomp {
        // Wide text that is not converted keeps its carriage returns, as in CRuby.
        let returns = a.unit == 1 || object::raw(cx, v)?.int.is_some();
        chomp(&mut line, a, returns);
    }
    Ok(Some(line))
}

/// How far converted text was counted: bytes of what it is converted from, and what they become.
#[derive(Default)]
struct Converted {
    from: usize,
    to: usize,
}

impl Converted {
    /// Goes on to `limit` bytes of what it becomes, to the end of a character there, or to the end of the text: of what was read so far, unless that is the `whole`, its last character
    /// may not be all there.
    fn go_on(&mut self, text: &[u8], from: Encoding, to: Encoding, limit: usize, whole: bool) {
        const LONGEST: usize = 16;
        let last = if whole { text.len() } else { text.len().saturating_sub(LONGEST) };
        while self.from < last && self.to < limit {
            let rest = &text[self.from..];
            let n = from.char_len(rest).unwrap_or_else(|n| n).clamp(1, rest.len());
            self.to += transcode(from, to, &rest[..n], &Policy::default()).map_or(n, |c| c.len());
            self.from += n;
        }
    }
}

/// Reads over newlines, which belong to no paragraph; false at the end of the stream.
fn pass_newlines(cx: &mut Cx, v: Value, newlines: &[u8]) -> Result<bool> {
    loop {
        let io = object::reader(cx, v)?;
        let b = io.buffered();
        let n = b.iter().position(|c| !newlines.contains(c)).unwrap_or(b.len());
        let more = n < b.len();
        io.consume(n);
        if more {
            return Ok(true);
        }
        if !fill(cx, v)? {
            return Ok(false);
        }
    }
}

/// A line of text whose line ends, of whatever kind, are read as "\n" before the separator is looked for. What stands behind it stays as it is in the buffer.
fn universal_line(cx: &mut Cx, v: Value, a: &LineArgs, encoding: u8) -> Result<Option<Vec<u8>>> {
    let enc = Encoding::from_id(encoding).unwrap_or(Encoding::BINARY);
    let last = a.sep.as_ref().and_then(|s| s.last().copied()).unwrap_or(b'\r');
    let mut line: Vec<u8> = Vec::new();
    let (mut taken, mut at_end) = (0, false);
    'read: loop {
        let b = object::reader(cx, v)?.buffered();
        // Another thread may have read what stood here while this one waited.
        if b.len() < taken {
            taken = 0;
            line.clear();
        }
        while let Some(&c) = b.get(taken) {
            if c == b'\r' {
                let next = b.get(taken + 1);
                if next.is_none() && !at_end {
                    break;
                }
                taken += 1 + usize::from(next == Some(&b'\n'));
                line.push(b'\n');
            } else if a.limit.is_some() {
                let n = match enc.char_len(&b[taken..]) {
                    Ok(n) => n,
                    Err(_) if b.len() - taken < 8 && !at_end => break,
                    Err(n) => n,
                };
                let n = n.clamp(1, b.len() - taken);
                line.extend_from_slice(&b[taken..taken + n]);
                taken += n;
            } else {
                let n = memchr::memchr2(b'\r', last, &b[taken..]).map_or(b.len() - taken, |i| i + usize::from(b[taken + i] != b'\r'));
                line.extend_from_slice(&b[taken..taken + n]);
                taken += n;
            }
            if a.paragraph && line == b"\n" {
                line.clear();
            }
            if a.sep.as_ref().is_some_and(|s| line.ends_with(s)) || a.limit.is_some_and(|l| line.len() >= l) {
                break 'read;
            }
        }
        if at_end {
            break;
        }
        at_end = !fill(cx, v)?;
    }
    let io = object::reader(cx, v)?;
    io.consume(taken.min(io.buffered().len()));
    if line.is_empty() {
        return Ok(None);
    }
    if a.paragraph {
        pass_newlines(cx, v, b"\r\n")?;
    }
    if a.chomp {
        chomp(&mut line, a, false);
    }
    Ok(Some(line))
}

/// Does UTF-8 text end within a character?
fn starts_character(b: &[u8]) -> bool {
    let head = (1..=b.len().min(3)).find(|n| b[b.len() - n] & 0xc0 != 0x80);
    head.is_some_and(|n| std::str::from_utf8(&b[b.len() - n..]).is_err_and(|e| e.error_len().is_none()))
}

fn chomp(line: &mut Vec<u8>, a: &LineArgs, returns: bool) {
    let Some(sep) = &a.sep else { return };
    if a.paragraph {
        // A single line end stands at the end of the file.
        if line.ends_with(b"\n\n") {
            while line.last() == Some(&b'\n') {
                line.pop();
            }
        }
    } else if line.ends_with(sep) {
        line.truncate(line.len() - sep.len());
        let newline = sep.len() == a.unit && sep.contains(&b'\n');
        let return_ = sep.iter().map(|b| if *b == b'\n' { b'\r' } else { *b }).collect::<Vec<u8>>();
        if newline && returns && line.ends_with(&return_) {
            line.truncate(line.len() - a.unit);
        }
    }
}

/// `gets` without `$_`: nil at the end. Counts lines.
pub fn gets(cx: &mut Cx, v: Value, a: &LineArgs) -> Result<Value> {
    match read_line(cx, v, a)? {
        None => Ok(Value::NIL),
        Some(line) => {
            if a.limit != Some(0) {
                let io = object::raw(cx, v)?;
                io.lineno += 1;
                let n = io.lineno;
                cx.state::<IoState>().last_lineno = n;
            }
            text_value(cx, v, line)
        }
    }
}

/// All remaining lines as an Array.
pub fn readlines(cx: &mut Cx, v: Value, a: &LineArgs) -> Result<Value> {
    check_limit(cx, a, "readlines")?;
    let out = cx.new_array();
    loop {
        let line = gets(cx, v, a)?;
        if line.is_nil() {
            return Ok(out.as_value());
        }
        ArrayCell::push(out, &mut cx.heap, line);
        cx.safepoint()?;
    }
}

/// A limit of 0 would never end.
pub fn check_limit(cx: &mut Cx, a: &LineArgs, name: &str) -> Result<()> {
    if a.limit == Some(0) { cx.arg_error(format!("invalid limit: 0 for {name}")) } else { Ok(()) }
}

/// Everything up to the end of the file.
pub fn read_all(cx: &mut Cx, v: Value) -> Result<Vec<u8>> {
    let io = object::reader(cx, v)?;
    let mut out = io.buffered().to_vec();
    let n = out.len();
    io.consume(n);
    let (fd, regular) = (io.fd, io.regular);
    if regular && cx.fiber_scheduler().is_nil() {
        // SAFETY: fstat fills the zeroed struct; lseek only asks.
        let left = unsafe {
            let mut st: libc::stat = std::mem::zeroed();
            if libc::fstat(fd, &mut st) == 0 { st.st_size - libc::lseek(fd, 0, libc::SEEK_CUR).max(0) } else { 0 }
        };
        // The system makes some files as they are read, at once, and tells no size of them.
        cx.reserve(&mut out, if left > 0 { left as usize + 1 } else { 64 * 1024 })?;
        loop {
            if out.capacity() == out.len() {
                cx.reserve(&mut out, 64 * 1024)?;
            }
            let at = out.len();
            // A portion at a time: a large file is left between two.
            let room = (out.capacity() - at).min(1 << 26);
            let fd = object::get(cx, v)?.fd;
            // SAFETY: read(2) writes at most `room` bytes into the reserve; only those are added to the length.
            let n = unsafe { libc::read(fd, out.as_mut_ptr().add(at).cast(), room) };
            match n {
                0 => return Ok(out),
                n if n > 0 => {
                    // SAFETY: read(2) has written the n bytes behind the old length.
                    unsafe { out.set_len(at + n as usize) };
                    cx.safepoint()?;
                }
                _ if super::errors::last_errno() == libc::EINTR => cx.safepoint()?,
                _ => {
                    let e = super::errors::last_errno();
                    let p = object::raw(cx, v)?.path.clone().unwrap_or_default();
                    return super::errors::fail_at(cx, e, "io_fread", &p);
                }
            }
        }
    }
    loop {
        if !fill(cx, v)? {
            return Ok(out);
        }
        let io = object::reader(cx, v)?;
        out.extend_from_slice(io.buffered());
        let n = io.buffered().len();
        io.consume(n);
    }
}

/// From so many bytes on it matters how a buffer grows.
const DOUBLED: usize = 64 << 10;

/// Up to `n` bytes; fewer only at the end of the file.
pub fn read_bytes(cx: &mut Cx, v: Value, n: usize) -> Result<Vec<u8>> {
    let hopeless = n >= zakuro_heap::LARGE && !zakuro_heap::machine_has(n);
    let io = object::reader(cx, v)?;
    if io.buffered().is_empty() {
        io.by_characters = false;
    }
    loop {
        let there = object::reader(cx, v)?.buffered().len();
        if there >= n || !fill_up_to(cx, v, n - there)? {
            let io = object::reader(cx, v)?;
            return Ok(io.take_buffered(n));
        }
        // As much room as has come, and no more than is asked for: doubled as it comes, the buffer would be up to twice that large.
        let io = object::reader(cx, v)?;
        let (there, room) = (io.buffered().len(), io.rbuf.capacity() - io.rbuf.len());
        if there >= DOUBLED && there < n && room < (n - there).min(there) {
            zakuro_base::memory::grow(|| io.rbuf.try_reserve_exact((n - there).min(there)).is_ok());
        }
        // A short file is read however much is asked for; what has no end would fill the machine first.
        if hopeless && object::reader(cx, v)?.buffered().len() >= zakuro_heap::LARGE {
            return cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory");
        }
    }
}

/// Bytes of the next character; None at the end.
pub fn read_char(cx: &mut Cx, v: Value) -> Result<Option<Vec<u8>>> {
    object::reader(cx, v)?.by_characters = true;
    loop {
        let io = object::reader(cx, v)?;
        let b = io.buffered();
        if b.is_empty() {
            if !fill(cx, v)? {
                return Ok(None);
            }
            continue;
        }
        let enc = Encoding::from_id(text_encoding(io)).unwrap_or(Encoding::BINARY);
        let n = match enc.char_len(b) {
            Ok(n) => n,
            Err(n) => {
                if b.len() < 8 && !enc.is_single_byte() && fill(cx, v)? {
                    continue;
                }
                n
            }
        };
        let io = object::reader(cx, v)?;
        let n = n.clamp(1, io.buffered().len());
        let out = io.buffered()[..n].to_vec();
        io.consume(n);
        if out == b"\r" && io.reads_newlines() {
            if !io.buffered().is_empty() || fill(cx, v)? {
                let io = object::reader(cx, v)?;
                io.consume(usize::from(io.buffered().first() == Some(&b'\n')));
            }
            return Ok(Some(b"\n".to_vec()));
        }
        return Ok(Some(out));
    }
}

/// EOFError.
pub fn eof_error<T>(cx: &mut Cx) -> Result<T> {
    cx.raise(ids::EOF_ERROR, "end of file reached")
}

/// Puts `bytes` into the buffer argument of a read method, or makes a String.
pub fn into_buffer(cx: &mut Cx, buf: Option<Value>, bytes: &[u8], encoding: u8) -> Result<Value> {
    match buf.filter(|b| !b.is_nil()) {
        Some(b) => {
            let s = cx.to_str(b)?;
            cx.check_frozen(s.as_value())?;
            StringCell::set_bytes(s, &mut cx.heap, bytes);
            Ok(s.as_value())
        }
        None => Ok(cx.str_bytes(bytes, encoding)),
    }
}

/// `$stdin.gets` as Kernel#gets does it, with `$_`.
pub fn set_last(cx: &mut Cx, v: Value) -> Value {
    cx.set_lastline(v);
    v
}

pub fn stdin(cx: &mut Cx) -> Value {
    stream::current(cx, 0)
}
