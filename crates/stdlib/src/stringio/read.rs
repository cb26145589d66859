//! StringIO: reading bytes, characters and lines.

use super::{encoding, modifiable, reader, state};
use crate::args::{self, LineArgs};
use zakuro_macros::ruby_class;
use zakuro_text::encoding::Encoding;
use zakuro_vm::*;

/// New String of bytes `from..to` of the String, in the stream's encoding (or another one).
fn slice(cx: &mut Cx, this: Value, from: usize, to: usize, enc: Option<u8>) -> Result<Value> {
    let e = match enc {
        Some(e) => e,
        None => encoding(cx, this)?,
    };
    let Some(t) = state(cx, this)?.text() else { return Ok(cx.str_bytes(b"", e)) };
    let to = to.min(t.len());
    let s = StringCell::substring(&cx.heap, ids::STRING.0, t, from.min(to), to);
    if s.encoding() != e {
        s.set_encoding(e);
    }
    Ok(s.as_value())
}

/// Puts what was read into the buffer that the program gave, or hands it out as it is.
fn into_buffer(cx: &mut Cx, buffer: Option<Ref<StringCell>>, got: Value, keep_encoding: bool) -> Result<Value> {
    let (Some(b), Some(s)) = (buffer, Ref::<StringCell>::from_value(got)) else { return Ok(got) };
    cx.check_frozen(b.as_value())?;
    if b != s {
        StringCell::set_string(b, &mut cx.heap, s);
    }
    if !keep_encoding && b.encoding() != s.encoding() {
        b.set_encoding(s.encoding());
    }
    Ok(b.as_value())
}

/// Reads up to `n` bytes at the position; None at the end.
fn take(cx: &mut Cx, this: Value, n: usize, enc: Option<u8>) -> Result<Option<Value>> {
    let s = reader(cx, this)?;
    let (pos, len) = (s.pos, s.len());
    if pos >= len {
        return Ok(None);
    }
    let end = pos.saturating_add(n).min(len);
    let v = slice(cx, this, pos, end, enc)?;
    state(cx, this)?.pos = end;
    Ok(Some(v))
}

#[cold]
fn end_of_file<T>(cx: &mut Cx) -> Result<T> {
    cx.raise(ids::EOF_ERROR, "end of file reached")
}

/// `(length = nil, buffer = nil)`
fn read_args(cx: &mut Cx, length: Option<Value>, buffer: Option<Value>) -> Result<(Option<usize>, Option<Ref<StringCell>>)> {
    let buffer = match buffer {
        None | Some(Value::NIL) => None,
        Some(v) => Some(cx.to_str(v)?),
    };
    let length = match length {
        None | Some(Value::NIL) => None,
        Some(v) => {
            let n = cx.to_i64(v)?;
            match usize::try_from(n) {
                Ok(n) => Some(n),
                Err(_) => return cx.arg_error(format!("negative length {n} given")),
            }
        }
    };
    if let Some(b) = buffer {
        cx.check_frozen(b.as_value())?;
    }
    Ok((length, buffer))
}

fn read_bytes(cx: &mut Cx, this: Value, length: Option<usize>, buffer: Option<Ref<StringCell>>) -> Result<Value> {
    let s = reader(cx, this)?;
    match length {
        None => {
            let got = match take(cx, this, usize::MAX, None)? {
                Some(v) => v,
                None => {
                    let e = encoding(cx, this)?;
                    cx.str_bytes(b"", e)
                }
            };
            into_buffer(cx, buffer, got, false)
        }
        Some(0) => {
            let got = cx.str_bytes(b"", string::BINARY);
            into_buffer(cx, buffer, got, true)
        }
        Some(n) => {
            if s.pos >= s.len() {
                if let Some(b) = buffer {
                    StringCell::set_bytes(b, &mut cx.heap, b"");
                }
                return Ok(Value::NIL);
            }
            let got = take(cx, this, n, Some(string::BINARY))?.unwrap_or(Value::NIL);
            into_buffer(cx, buffer, got, true)
        }
    }
}

/// As `read`, but EOFError at the end (nil when `quiet`).
fn read_or_eof(cx: &mut Cx, this: Value, args: &[Value], quiet: bool) -> Result<Value> {
    reader(cx, this)?;
    let (length, buffer) = read_args(cx, args.first().copied(), args.get(1).copied())?;
    let s = reader(cx, this)?;
    if length.is_some_and(|n| n > 0) && s.pos >= s.len() {
        if let Some(b) = buffer {
            StringCell::set_bytes(b, &mut cx.heap, b"");
        }
        return if quiet { Ok(Value::NIL) } else { end_of_file(cx) };
    }
    read_bytes(cx, this, length, buffer)
}

/// Arguments of what reads lines, with the separator as the stream's encoding writes it. ArgumentError for one that it can't have.
fn line_args(cx: &mut Cx, this: Value, args: Args) -> Result<LineArgs> {
    let mut a = args::line_args(cx, args)?;
    let id = encoding(cx, this)?;
    let e = args::encoding_of(id);
    let Some(given) = a.separator.as_mut().filter(|_| a.encoding != id) else { return Ok(a) };
    if given.is_empty() || e.is_ascii_compatible() && given.is_ascii() {
        return Ok(a);
    }
    let mut wide = Vec::new();
    if !a.usual || !given.is_ascii() || !given.iter().all(|b| e.encode(u32::from(*b), &mut wide)) {
        let of = args::encoding_of(a.encoding);
        return cx.arg_error(format!("encoding mismatch: {} IO with {} RS", e.name(), of.name()));
    }
    a.unit = wide.len() / given.len();
    *given = wide;
    Ok(a)
}

/// The next line; None at the end.
fn line(cx: &mut Cx, this: Value, a: &LineArgs) -> Result<Option<Value>> {
    reader(cx, this)?;
    next_line(cx, this, a)
}

/// The same of a stream that may have been closed meanwhile.
fn next_line(cx: &mut Cx, this: Value, a: &LineArgs) -> Result<Option<Value>> {
    let enc = encoding(cx, this)?;
    let s = *state(cx, this)?;
    let Some(t) = s.text() else { return Ok(None) };
    if a.limit == Some(0) {
        return Ok(Some(cx.str_bytes(b"", enc)));
    }
    let bytes = t.content(&cx.heap);
    if s.pos >= bytes.len() {
        return Ok(None);
    }
    let mut from = s.pos;
    // Nothing is looked at behind the limit, which is never inside a character.
    let bytes = match a.limit {
        Some(l) if l < bytes.len() - from => {
            let e = args::encoding_of(enc);
            let mut at = from + l;
            if !e.is_single_byte() {
                let mut c = from;
                while c < at {
                    c += e.char_len(&bytes[c..]).unwrap_or_else(|n| n).max(1);
                }
                at = c.min(bytes.len());
            }
            &bytes[..at]
        }
        _ => bytes,
    };
    let paragraph = a.separator.as_ref().is_some_and(Vec::is_empty);
    if paragraph {
        while bytes.get(from) == Some(&b'\n') {
            from += 1;
        }
        if from == bytes.len() {
            return Ok(None);
        }
    }
    // The end of the line, of what is kept of it when chomped, and of what is skipped behind it.
    let (mut end, mut kept, mut next) = (bytes.len(), bytes.len(), bytes.len());
    match a.separator.as_deref() {
        None => {}
        Some(b"") => {
            let mut at = from;
            while let Some(i) = memchr::memchr(b'\n', &bytes[at..]) {
                at += i + 1;
                let rest = &bytes[at..];
                let width = if rest.starts_with(b"\n") {
                    1
                } else if rest.starts_with(b"\r\n") {
                    2
                } else {
                    continue;
                };
                kept = at - 1 - (bytes[..at - 1].ends_with(b"\r") as usize);
                end = at + width;
                while bytes[end..].starts_with(b"\n") || bytes[end..].starts_with(b"\r\n") {
                    end += if bytes[end] == b'\n' { 1 } else { 2 };
                }
                next = end;
                break;
            }
        }
        Some(b"\n") => {
            if let Some(i) = memchr::memchr(b'\n', &bytes[from..]) {
                end = from + i + 1;
                kept = from + i - bytes[from..from + i].ends_with(b"\r") as usize;
                next = end;
            }
        }
        Some(sep) => {
            let found = memchr::memmem::find_iter(&bytes[from..], sep).find(|i| i % a.unit == 0);
            if let Some(i) = found {
                (end, kept) = (from + i + sep.len(), from + i);
                next = end;
            }
        }
    }
    let s = state(cx, this)?;
    s.pos = next;
    s.lineno += 1;
    let to = if a.chomp { kept } else { end };
    slice(cx, this, from, to, Some(enc)).map(Some)
}

/// Length of the character at byte `at`.
fn char_len(bytes: &[u8], enc: u8) -> usize {
    args::encoding_of(enc).char_len(bytes).unwrap_or_else(|n| n).clamp(1, bytes.len())
}

fn next_char(cx: &mut Cx, this: Value) -> Result<Option<Value>> {
    let enc = encoding(cx, this)?;
    let s = *reader(cx, this)?;
    let Some(t) = s.text().filter(|t| s.pos < t.len()) else { return Ok(None) };
    let rest = &t.content(&cx.heap)[s.pos..];
    let n = char_len(rest, enc);
    let c = cx.str_bytes(&rest[..n], enc);
    state(cx, this)?.pos += n;
    Ok(Some(c))
}

fn next_byte(cx: &mut Cx, this: Value) -> Result<Option<i64>> {
    let s = reader(cx, this)?;
    let b = s.text().and_then(|t| t.byte(s.pos));
    if b.is_some() {
        s.pos += 1;
    }
    Ok(b.map(i64::from))
}

/// Bytes of the character of this number, a C `int`. What is no character by Unicode, but has the form of one, is taken.
fn char_bytes(cx: &mut Cx, c: Value, e: Encoding) -> Result<Vec<u8>> {
    let n = cx.to_i64(c)?;
    if i32::try_from(n).is_err() && u32::try_from(n).is_err() {
        let size = if n < 0 { "small" } else { "big" };
        return cx.range_error(format!("integer {n} too {size} to convert to 'int'"));
    }
    let (n, mut out) = (n as u32, Vec::new());
    match n {
        0xffff_fffe.. if e == Encoding::UTF_8 => out.push(n as u8),
        0xd800..=0xdfff if e == Encoding::UTF_8 => {
            out.extend([0xe0 | (n >> 12) as u8, 0x80 | (n >> 6 & 0x3f) as u8, 0x80 | (n & 0x3f) as u8])
        }
        0x80..=0xff if e == Encoding::US_ASCII => out.push(n as u8),
        _ if e.encode(n, &mut out) => {}
        _ if e.is_unicode() => return cx.range_error(format!("{n} out of char range")),
        _ => {
            let name = if e == Encoding::BINARY { "ASCII-8BIT" } else { e.name() };
            return cx.range_error(format!("invalid codepoint 0x{n:X} in {name}"));
        }
    }
    Ok(out)
}

/// Puts bytes in front of the position: over what was read, or before the start.
fn unget(cx: &mut Cx, this: Value, bytes: &[u8]) -> Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let Some(t) = modifiable(cx, this)? else { return Ok(()) };
    let s = *state(cx, this)?;
    if s.pos > t.len() {
        let gap = zakuro_base::memory::zeroed(s.pos - t.len());
        StringCell::append(t, &mut cx.heap, &gap);
    }
    let from = s.pos.saturating_sub(bytes.len());
    StringCell::splice(t, &mut cx.heap, from, s.pos, bytes);
    state(cx, this)?.pos = from;
    Ok(())
}

pub(crate) use string_io::METHODS;

/// Methods of `StringIO`.
#[ruby_class(ids::OBJECT)]
mod string_io {
    use super::*;

    /// The next `length` bytes (nil at the end), or all the rest; into `buffer` when one is given.
    ///
    ///     StringIO.new("hello").read   #=> "hello"
    ///     StringIO.new("hello").read(2)   #=> "he"
    ///     StringIO.new("").read(1)   #=> nil
    #[method("read")]
    fn read(cx: &mut Cx, this: Value, length: Option<Value>, buffer: Option<Value>) -> Result<Value> {
        reader(cx, this)?;
        let (length, buffer) = read_args(cx, length, buffer)?;
        if buffer.is_some_and(|b| state(cx, this).is_ok_and(|s| b.as_value() == s.string)) {
            return cx.arg_error("cannot read into the underlying string");
        }
        read_bytes(cx, this, length, buffer)
    }
    /// Bytes at an offset; the position stays.
    ///
    ///     StringIO.new("hello").pread(2, 1)   #=> "el"
    #[method("pread")]
    fn pread(cx: &mut Cx, this: Value, length: i64, offset: i64, buffer: Option<Value>) -> Result<Value> {
        reader(cx, this)?;
        if length < 0 {
            return cx.arg_error(format!("negative string size (or size too big): {length}"));
        }
        if offset < 0 {
            return crate::raise_errno(cx, "EINVAL", Some(&format!("pread: Invalid offset argument: {offset}")));
        }
        let buffer = match buffer {
            None | Some(Value::NIL) => None,
            Some(v) => Some(cx.to_str(v)?),
        };
        let s = reader(cx, this)?;
        if buffer.is_some_and(|b| b.as_value() == s.string) {
            return cx.arg_error("cannot read into the underlying string");
        }
        let (length, offset) = (length as usize, offset as usize);
        if length == 0 {
            // A buffer stays as it is.
            return match buffer {
                Some(b) => Ok(b.as_value()),
                None => Ok(cx.str_bytes(b"", string::BINARY)),
            };
        }
        if offset >= s.len() {
            return end_of_file(cx);
        }
        let got = slice(cx, this, offset, offset.saturating_add(length), Some(string::BINARY))?;
        into_buffer(cx, buffer, got, true)
    }
    /// The next line, up to a separator, a limit of bytes, or both; nil at the end. Sets `$_`.
    ///
    ///     StringIO.new("a\nb").gets   #=> "a\n"
    ///     StringIO.new("a\nb").gets(chomp: true)   #=> "a"
    ///     StringIO.new("a,b").gets(",")   #=> "a,"
    ///     StringIO.new("a\n\n\nb").gets("")   #=> "a\n\n\n"
    #[method("gets", min = 0, max = -1)]
    fn gets(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        reader(cx, this)?;
        let a = line_args(cx, this, args)?;
        let v = line(cx, this, &a)?.unwrap_or(Value::NIL);
        cx.set_lastline(v);
        Ok(v)
    }
    /// The lines that are left.
    ///
    ///     StringIO.new("a\nb").readlines   #=> ["a\n", "b"]
    #[method("readlines", min = 0, max = -1)]
    fn readlines(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        reader(cx, this)?;
        let a = line_args(cx, this, args)?;
        if a.limit == Some(0) {
            return cx.arg_error("invalid limit: 0 for readlines");
        }
        let out = cx.new_array();
        while let Some(v) = line(cx, this, &a)? {
            ArrayCell::push(out, &mut cx.heap, v);
            if out.len().is_multiple_of(512) {
                cx.safepoint()?;
            }
        }
        Ok(out.as_value())
    }
    /// Yields each line that is left; arguments as for `gets`.
    ///
    ///     StringIO.new("a\nb").each_line(chomp: true).to_a   #=> ["a", "b"]
    #[method("each_line", "each", min = 0, max = -1)]
    fn each_line(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        if args.block.is_none() {
            return crate::enumerator(cx, this, "each_line", args);
        }
        reader(cx, this)?;
        let a = line_args(cx, this, args)?;
        if a.limit == Some(0) {
            return cx.arg_error("invalid limit: 0 for each_line");
        }
        // The block may close it.
        while let Some(v) = next_line(cx, this, &a)? {
            cx.yield1(args.block, v)?;
        }
        Ok(this)
    }
    /// The next character; nil at the end.
    ///
    ///     StringIO.new("äb").getc   #=> "ä"
    #[method("getc")]
    fn getc(cx: &mut Cx, this: Value) -> Result<Option<Value>> {
        next_char(cx, this)
    }
    /// The next byte; nil at the end.
    ///
    ///     StringIO.new("a").getbyte   #=> 97
    #[method("getbyte")]
    fn getbyte(cx: &mut Cx, this: Value) -> Result<Option<i64>> {
        next_byte(cx, this)
    }
    /// Yields each byte that is left.
    #[method("each_byte", min = 0, max = 0)]
    fn each_byte(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        if args.block.is_none() {
            return crate::enumerator(cx, this, "each_byte", args);
        }
        while let Some(b) = next_byte(cx, this)? {
            cx.yield1(args.block, Value::fixnum(b))?;
        }
        Ok(this)
    }
    /// Yields each character that is left.
    ///
    ///     StringIO.new("äb").each_char.to_a   #=> ["ä", "b"]
    #[method("each_char", min = 0, max = 0)]
    fn each_char(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        if args.block.is_none() {
            return crate::enumerator(cx, this, "each_char", args);
        }
        while let Some(c) = next_char(cx, this)? {
            cx.yield1(args.block, c)?;
        }
        Ok(this)
    }
    /// Yields the code point of each character that is left.
    #[method("each_codepoint", min = 0, max = 0)]
    fn each_codepoint(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        if args.block.is_none() {
            return crate::enumerator(cx, this, "each_codepoint", args);
        }
        while let Some(c) = next_char(cx, this)? {
            let n = cx.call(c, Sym::intern("ord"), &[])?;
            cx.yield1(args.block, n)?;
        }
        Ok(this)
    }
    /// Puts a character (String or code point) back in front of the position.
    ///
    ///     io = StringIO.new(+"abc"); io.getc; io.ungetc("X"); io.string   #=> "Xbc"
    #[method("ungetc")]
    fn ungetc(cx: &mut Cx, this: Value, c: Value) -> Result<()> {
        reader(cx, this)?;
        if c.is_nil() {
            return Ok(());
        }
        modifiable(cx, this)?;
        let enc = encoding(cx, this)?;
        if cx.is_integer(c) {
            let out = char_bytes(cx, c, args::encoding_of(enc))?;
            return unget(cx, this, &out);
        }
        let s = cx.to_str(c)?;
        let bytes = super::super::write::converted(&cx.heap, s, enc).into_owned();
        unget(cx, this, &bytes)
    }
    /// Puts a byte, or the bytes of a String, back in front of the position.
    ///
    ///     io = StringIO.new(+"abc"); io.ungetbyte(0x41); io.read   #=> "Aabc"
    #[method("ungetbyte")]
    fn ungetbyte(cx: &mut Cx, this: Value, b: Value) -> Result<()> {
        reader(cx, this)?;
        if b.is_nil() {
            return Ok(());
        }
        modifiable(cx, this)?;
        if cx.is_integer(b) {
            let low = match cx.as_int(b) {
                Some(zakuro_vm::convert::Int::Small(n)) => n as u8,
                Some(i) => i.to_big().to_signed_bytes_le().first().copied().unwrap_or(0),
                None => 0,
            };
            return unget(cx, this, &[low]);
        }
        let s = cx.to_str(b)?.to_vec();
        unget(cx, this, &s)
    }
}

/// Methods of `IO::generic_readable`: what is made of the methods above.
#[ruby_class(ids::OBJECT)]
pub mod readable {
    use super::*;

    /// As `read`, but EOFError at the end.
    #[method("sysread", "readpartial", min = 0, max = 2)]
    fn sysread(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        read_or_eof(cx, this, args.all(), false)
    }
    /// As `sysread`; with `exception: false` nil at the end.
    ///
    ///     StringIO.new("").read_nonblock(1, exception: false)   #=> nil
    #[method("read_nonblock", min = 1, max = -1)]
    fn read_nonblock(cx: &mut Cx, this: Value, mut args: Args) -> Result<Value> {
        let kw = args.take_kw();
        builtin::check_arity(cx, args.len(), 1, 2)?;
        kw.only(cx, &[sym::exception])?;
        let quiet = kw.get(sym::exception) == Some(Value::FALSE);
        read_or_eof(cx, this, args.all(), quiet)
    }
    /// As `gets`, but EOFError at the end.
    #[method("readline", min = 0, max = -1)]
    fn readline(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        let a = line_args(cx, this, args)?;
        let v = line(cx, this, &a)?;
        cx.set_lastline(v.unwrap_or(Value::NIL));
        match v {
            Some(v) => Ok(v),
            None => end_of_file(cx),
        }
    }
    /// As `getc`, but EOFError at the end.
    #[method("readchar")]
    fn readchar(cx: &mut Cx, this: Value) -> Result<Value> {
        match next_char(cx, this)? {
            Some(v) => Ok(v),
            None => end_of_file(cx),
        }
    }
    /// As `getbyte`, but EOFError at the end.
    #[method("readbyte")]
    fn readbyte(cx: &mut Cx, this: Value) -> Result<i64> {
        match next_byte(cx, this)? {
            Some(b) => Ok(b),
            None => end_of_file(cx),
        }
    }
}
