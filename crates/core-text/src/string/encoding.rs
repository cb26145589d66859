//! String: its encoding, conversion to another, repair of broken text.

use super::util::*;
use crate::encoding as encodings;
use zakuro_base::progress::Pace;
use zakuro_macros::ruby_class;
use zakuro_text::encoding::transcode::{ConvErr, ConvErrKind, OnInvalid, OnUndefined, Policy, scrub, transcode, transcode_long};
use zakuro_text::encoding::{Encoding, inspect};
use zakuro_vm::held::Held;
use zakuro_vm::string::CodeRange;
use zakuro_vm::*;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Newlines {
    Keep,
    /// "\n" to "\r\n"
    Crlf,
    /// "\n" to "\r"
    Cr,
    /// "\r\n" and "\r" to "\n"
    Lf,
    /// "\r\n" and "\r" to "\n", after the conversion.
    Universal,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Xml {
    No,
    Text,
    Attr,
}

/// Keyword options of `encode`.
pub struct Options {
    pub policy: Policy,
    invalid_given: bool,
    pub fallback: Value,
    pub newlines: Newlines,
    pub xml: Xml,
}

impl Options {
    pub fn none() -> Options {
        Options { policy: Policy::default(), invalid_given: false, fallback: Value::NIL, newlines: Newlines::Keep, xml: Xml::No }
    }
    pub fn forget_fallback(&mut self) {
        self.fallback = Value::NIL;
    }
    /// XML escapes and line ends, on ASCII-compatible bytes.
    pub fn decorated(&self, s: &[u8]) -> Vec<u8> {
        decorate(s, self)
    }
}

fn option(cx: &mut Cx, kw: Kwargs, name: Sym, what: &str) -> Result<Option<Sym>> {
    match kw.get(name) {
        None | Some(Value::NIL) => Ok(None),
        Some(v) => match v.as_sym() {
            Some(s) => Ok(Some(s)),
            None if what.ends_with("character") => cx.arg_error(format!("unknown value for {what} option")),
            None => cx.arg_error(format!("unexpected value for {what} option")),
        },
    }
}

/// Reads the options that `encode` and Encoding::Converter take.
pub fn options(cx: &mut Cx, kw: Kwargs, dst: Encoding) -> Result<Options> {
    let mut o = Options::none();
    if kw.is_empty() {
        return Ok(o);
    }
    match option(cx, kw, sym::invalid, "invalid character")? {
        None => {}
        Some(s) if s == sym::replace => {
            o.policy.invalid = OnInvalid::Replace;
            o.invalid_given = true;
        }
        Some(_) => return cx.arg_error("unknown value for invalid character option"),
    }
    match option(cx, kw, sym::undef, "undefined character")? {
        None => {}
        Some(s) if s == sym::replace => o.policy.undefined = OnUndefined::Replace,
        Some(_) => return cx.arg_error("unknown value for undefined character option"),
    }
    match option(cx, kw, sym::xml, "xml")? {
        None => {}
        Some(s) => {
            o.xml = match s.bytes() {
                b"text" => Xml::Text,
                b"attr" => Xml::Attr,
                _ => return cx.arg_error(format!("unexpected value for xml option: {}", s.name())),
            };
            o.policy.undefined = OnUndefined::CharRef;
        }
    }
    match option(cx, kw, sym::newline, "newline")? {
        None => {}
        Some(s) => {
            o.newlines = match s.bytes() {
                b"universal" => Newlines::Universal,
                b"crlf" => Newlines::Crlf,
                b"cr" => Newlines::Cr,
                b"lf" => Newlines::Lf,
                _ => return cx.arg_error(format!("unexpected value for newline option: {}", s.name())),
            }
        }
    }
    for (name, n) in [
        (sym::universal_newline, Newlines::Universal),
        (sym::crlf_newline, Newlines::Crlf),
        (sym::cr_newline, Newlines::Cr),
        (sym::lf_newline, Newlines::Lf),
    ] {
        if o.newlines == Newlines::Keep && kw.get(name).is_some_and(|v| v.truthy()) {
            o.newlines = n;
        }
    }
    if let Some(v) = kw.get(sym::replace)
        && !v.is_nil()
    {
        let r = cx.to_str(v)?;
        if range(&cx.heap, r) == CodeRange::Broken {
            let shown = inspected(&cx.heap, r);
            return cx.arg_error(format!("replacement string is broken: {shown} as {}", enc(r).name()));
        }
        let bytes = if enc(r) == dst || is_ascii(&cx.heap, r) && dst.is_ascii_compatible() {
            r.to_vec()
        } else {
            match transcode(enc(r), dst, r.content(&cx.heap), &Policy::default()) {
                Ok(b) => b,
                Err(_) => r.to_vec(),
            }
        };
        o.policy.replace = Some(bytes);
    }
    if let Some(f) = kw.get(sym::fallback) {
        o.fallback = f;
    }
    Ok(o)
}

/// Raises the error of a failed conversion.
pub fn conversion_error<T>(cx: &mut Cx, e: ConvErr) -> Result<T> {
    let exc = error_of(cx, e);
    cx.raise_value(exc)
}

/// The error of a failed conversion.
pub fn error_of(cx: &mut Cx, e: ConvErr) -> Value {
    let class = match &e.kind {
        ConvErrKind::Invalid { .. } => ids::INVALID_BYTE_SEQUENCE_ERROR,
        ConvErrKind::Undefined { .. } => ids::UNDEFINED_CONVERSION_ERROR,
        ConvErrKind::NotFound | ConvErrKind::Stopped => ids::CONVERTER_NOT_FOUND_ERROR,
    };
    let exc = cx.exception(class, &e.message);
    let (from, to) = (encodings::object(cx, e.step_source), encodings::object(cx, e.step_target));
    cx.ivar_set_raw(exc, encodings::hidden::source(), from);
    cx.ivar_set_raw(exc, encodings::hidden::destination(), to);
    match &e.kind {
        ConvErrKind::Invalid { error_bytes, readagain_bytes, incomplete } => {
            let (bad, again) = (cx.str_bytes(error_bytes, string::BINARY), cx.str_bytes(readagain_bytes, string::BINARY));
            let again = if *incomplete { Value::NIL } else { again };
            cx.ivar_set_raw(exc, encodings::hidden::error(), bad);
            cx.ivar_set_raw(exc, encodings::hidden::readagain(), again);
            cx.ivar_set_raw(exc, encodings::hidden::incomplete(), Value::bool(*incomplete));
        }
        ConvErrKind::Undefined { error_char } => {
            let c = cx.str_bytes(error_char, e.step_source.id());
            cx.ivar_set_raw(exc, encodings::hidden::error(), c);
        }
        ConvErrKind::NotFound | ConvErrKind::Stopped => {}
    }
    exc
}

/// What the `fallback:` object gives for a character; None when it has nothing.
fn fallback(cx: &mut Cx, f: Value, c: Value) -> Result<Option<Str>> {
    let r = if f.is_kind(Kind::Hash) {
        cx.call(f, sym::aref, &[c])?
    } else if f.is_kind(Kind::Proc) || cx.responds(f, sym::call, false)? {
        cx.call(f, sym::call, &[c])?
    } else if cx.responds(f, sym::aref, false)? {
        cx.call(f, sym::aref, &[c])?
    } else {
        Value::NIL
    };
    if r.is_nil() { Ok(None) } else { cx.to_str(r).map(Some) }
}

/// Converts bytes by the options, decorators apart. Encoding errors.
pub fn convert(cx: &mut Cx, src: Encoding, dst: Encoding, s: &[u8], o: &Options) -> Result<Vec<u8>> {
    convert_until(cx, src, dst, s, o, &mut None)
}

/// The same; `failed_at`: the bytes up to and with those that can't be converted.
pub fn convert_until(
    cx: &mut Cx,
    src: Encoding,
    dst: Encoding,
    s: &[u8],
    o: &Options,
    failed_at: &mut Option<usize>,
) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut rest = s;
    loop {
        match transcode_long(src, dst, rest, &o.policy, cx) {
            Err(e) if e.kind == ConvErrKind::Stopped => return Err(Exc),
            Ok(b) if out.is_empty() => return Ok(b),
            Ok(b) => {
                out.extend_from_slice(&b);
                return Ok(out);
            }
            Err(e) => {
                if let ConvErrKind::Undefined { error_char } = &e.kind
                    && !o.fallback.is_nil()
                {
                    let c = cx.str_bytes(error_char, e.step_source.id());
                    if let Some(r) = fallback(cx, o.fallback, c)? {
                        out.extend_from_slice(&e.partial);
                        if enc(r) == dst || is_ascii(&cx.heap, r) && dst.is_ascii_compatible() {
                            out.extend_from_slice(r.content(&cx.heap));
                        } else {
                            match transcode(enc(r), dst, r.content(&cx.heap), &Policy::default()) {
                                Ok(b) => out.extend_from_slice(&b),
                                Err(_) => return cx.arg_error("too big fallback string"),
                            }
                        }
                        rest = &rest[e.consumed..];
                        continue;
                    }
                }
                *failed_at = Some((s.len() - rest.len() + e.consumed).min(s.len()));
                return conversion_error(cx, e);
            }
        }
    }
}

/// XML escapes and line ends, on ASCII-compatible bytes.
fn decorate(s: &[u8], o: &Options) -> Vec<u8> {
    let mut out = Vec::with_capacity(s.len() + 2);
    if o.xml == Xml::Attr {
        out.push(b'"');
    }
    let mut i = 0;
    while i < s.len() {
        let c = s[i];
        i += 1;
        match (c, o.xml, o.newlines) {
            (b'&', Xml::Text | Xml::Attr, _) => out.extend_from_slice(b"&amp;"),
            (b'<', Xml::Text | Xml::Attr, _) => out.extend_from_slice(b"&lt;"),
            (b'>', Xml::Text | Xml::Attr, _) => out.extend_from_slice(b"&gt;"),
            (b'"', Xml::Attr, _) => out.extend_from_slice(b"&quot;"),
            (b'\'', Xml::Attr, _) => out.extend_from_slice(b"&apos;"),
            (b'\n', _, Newlines::Crlf) => out.extend_from_slice(b"\r\n"),
            (b'\n', _, Newlines::Cr) => out.push(b'\r'),
            (b'\r', _, Newlines::Universal | Newlines::Lf) => {
                if s.get(i) == Some(&b'\n') {
                    i += 1;
                }
                out.push(b'\n');
            }
            _ => out.push(c),
        }
    }
    if o.xml == Xml::Attr {
        out.push(b'"');
    }
    out
}

/// Bytes and encoding of `this.encode(...)`; None: nothing to do but take the encoding.
fn encoded(cx: &mut Cx, this: Str, args: &[Value], kw: Kwargs) -> Result<(Option<Vec<u8>>, Encoding)> {
    let src = match args.get(1) {
        Some(v) if !v.is_nil() => encodings::from_value(cx, *v).or_else(|e| not_found(cx, e, *v, args[0]))?,
        _ => enc(this),
    };
    let dst = match args.first() {
        Some(v) if !v.is_nil() => encodings::from_value(cx, *v).or_else(|e| {
            let shown = cx.str(src.name());
            not_found(cx, e, shown, *v)
        })?,
        _ => match encodings::default_internal(cx) {
            Some(e) => e,
            None => src,
        },
    };
    let mut o = options(cx, kw, dst)?;
    if args.is_empty() && src != dst {
        // To the default internal encoding, whatever there is.
        o.policy.invalid = OnInvalid::Replace;
        if o.policy.undefined == OnUndefined::Raise {
            o.policy.undefined = OnUndefined::Replace;
        }
    }
    let decorated = o.xml != Xml::No || o.newlines != Newlines::Keep;
    if !decorated {
        if src == dst {
            if o.invalid_given {
                return Ok((Some(scrubbed(cx, &Held::of(this), src, o.policy.replace)?), dst));
            }
            return Ok((None, dst));
        }
        if is_ascii(&cx.heap, this) && src.is_ascii_compatible() && dst.is_ascii_compatible() {
            return Ok((None, dst));
        }
        let bytes = this.to_vec();
        return convert(cx, src, dst, &bytes, &o).map(|b| (Some(b), dst));
    }
    let mut bytes = this.to_vec();
    let mut from = src;
    if !src.is_ascii_compatible() {
        bytes = convert(cx, src, Encoding::UTF_8, &bytes, &o)?;
        from = Encoding::UTF_8;
    }
    cx.safepoint()?;
    bytes = decorate(&bytes, &o);
    if from != dst && !(bytes.is_ascii() && dst.is_ascii_compatible()) {
        bytes = convert(cx, from, dst, &bytes, &o)?;
    }
    Ok((Some(bytes), dst))
}

/// `encode` calls an unknown encoding a missing converter.
fn not_found<T>(cx: &mut Cx, e: Exc, src: Value, dst: Value) -> Result<T> {
    let pending = cx.pending;
    if !cx.is_a(pending, ids::ARGUMENT_ERROR) {
        return Err(e);
    }
    cx.take_pending();
    let name = |cx: &mut Cx, v: Value| match encodings::of(v) {
        Some(e) => Ok(e.name().to_string()),
        None => cx.to_s_text(v),
    };
    let (s, d) = (name(cx, src)?, name(cx, dst)?);
    cx.raise(ids::CONVERTER_NOT_FOUND_ERROR, format!("code converter not found ({s} to {d})"))
}

/// Broken parts replaced by a fixed text.
fn scrubbed(cx: &mut Cx, s: &[u8], e: Encoding, with: Option<Vec<u8>>) -> Result<Vec<u8>> {
    let with = with.unwrap_or_else(|| default_replacement(e));
    let mut pace = Pace::new();
    let put = |_: &[u8], out: &mut Vec<u8>| {
        out.extend_from_slice(&with);
        Ok(())
    };
    scrub::<Exc>(s, e, put, |at| Ok(pace.at(at, cx)?))
}

fn default_replacement(e: Encoding) -> Vec<u8> {
    let mut out = Vec::new();
    if !(e.is_unicode() && e.encode(0xfffd, &mut out)) {
        out = b"?".to_vec();
    }
    out
}

/// Bytes of `this.scrub(...)`; None when nothing is broken.
fn scrub_method(cx: &mut Cx, this: Str, with: Option<Value>, block: Block) -> Result<Option<Vec<u8>>> {
    let e = enc(this);
    let with = with.filter(|v| !v.is_nil());
    if with.is_some() && block.is_some() {
        return cx.arg_error("both of block and replacement given");
    }
    if range(&cx.heap, this) != CodeRange::Broken || e.is_dummy() {
        return Ok(None);
    }
    // A text that may stand in for what is broken.
    let replacement = |cx: &mut Cx, r: Str| -> Result<()> {
        if range(&cx.heap, r) == CodeRange::Broken {
            let shown = inspected(&cx.heap, r);
            return cx.arg_error(format!("replacement must be valid byte sequence '{shown}'"));
        }
        if enc(r) != e && !(is_ascii(&cx.heap, r) && e.is_ascii_compatible()) {
            let (e, r) = (shown_name(e), shown_name(enc(r)));
            return cx.raise(ids::COMPAT_ERROR, format!("incompatible character encodings: {e} and {r}"));
        }
        Ok(())
    };
    if let Some(v) = with {
        let r = cx.to_str(v)?;
        replacement(cx, r)?;
        return scrubbed(cx, &Held::of(this), e, Some(r.to_vec())).map(Some);
    }
    if block.is_none() {
        return scrubbed(cx, &Held::of(this), e, None).map(Some);
    }
    // Bytes of its own: a block may write in the text without changing where it lies.
    let bytes = this.to_vec();
    let out = scrub::<Exc>(
        &bytes,
        e,
        |bad, out| {
            let v = cx.str_bytes(bad, e.id());
            let before = (this.address(), this.len());
            let r = cx.yield1(block, v)?;
            let r = cx.to_str(r)?;
            if (this.address(), this.len()) != before {
                return cx.raise(ids::RUNTIME_ERROR, "string modified");
            }
            replacement(cx, r)?;
            out.extend_from_slice(r.content(&cx.heap));
            Ok(())
        },
        |_| Ok(()),
    )?;
    Ok(Some(out))
}

/// Reads what `dump` wrote.
fn undump(cx: &mut Cx, this: Str) -> Result<Value> {
    let all = Held::of(this);
    if !enc(this).is_ascii_compatible() {
        let name = enc(this).name();
        return cx.raise(ids::COMPAT_ERROR, format!("ASCII incompatible encoding: {name}"));
    }
    if !is_ascii(&cx.heap, this) {
        return cx.raise(ids::RUNTIME_ERROR, "non-ASCII character detected at the undump");
    }
    if all.contains(&0) {
        return cx.raise(ids::RUNTIME_ERROR, "string contains null byte");
    }
    if !all.starts_with(b"\"") {
        return cx.raise(ids::RUNTIME_ERROR, "invalid dumped string; not wrapped with '\"' nor '\"...\".force_encoding(\"...\")' form");
    }
    let mut out = Vec::new();
    let mut pace = Pace::new();
    let (mut i, mut closed) = (1, false);
    let (mut utf8, mut binary) = (false, false);
    let hex = |s: &[u8]| std::str::from_utf8(s).ok().and_then(|s| u32::from_str_radix(s, 16).ok());
    while let Some(&c) = all.get(i) {
        pace.at(i, cx)?;
        i += 1;
        if c == b'"' {
            closed = true;
            break;
        }
        if c != b'\\' {
            out.push(c);
            continue;
        }
        let Some(&c) = all.get(i) else { return cx.raise(ids::RUNTIME_ERROR, "invalid escape") };
        i += 1;
        match c {
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'f' => out.push(0x0c),
            b'v' => out.push(0x0b),
            b'b' => out.push(0x08),
            b'a' => out.push(0x07),
            b'e' => out.push(0x1b),
            b'x' => {
                let Some(v) = all.get(i..i + 2).and_then(hex) else { return cx.raise(ids::RUNTIME_ERROR, "invalid hex escape") };
                if v > 0x7f {
                    if utf8 {
                        return cx.raise(ids::RUNTIME_ERROR, "hex escape and Unicode escape are mixed");
                    }
                    binary = true;
                }
                out.push(v as u8);
                i += 2;
            }
            b'u' => {
                if binary {
                    return cx.raise(ids::RUNTIME_ERROR, "hex escape and Unicode escape are mixed");
                }
                utf8 = true;
                let mut put = |cx: &mut Cx, v: Option<u32>| -> Result<()> {
                    match v.and_then(char::from_u32) {
                        Some(c) => {
                            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                            Ok(())
                        }
                        None => cx.raise(ids::RUNTIME_ERROR, "invalid Unicode codepoint"),
                    }
                };
                if all.get(i) == Some(&b'{') {
                    let Some(n) = memchr::memchr(b'}', &all[i..]) else {
                        return cx.raise(ids::RUNTIME_ERROR, "invalid Unicode escape");
                    };
                    for (k, part) in all[i + 1..i + n].split(|b| *b == b' ').filter(|p| !p.is_empty()).enumerate() {
                        zakuro_base::progress::step(k, cx)?;
                        put(cx, hex(part))?;
                    }
                    i += n + 1;
                } else {
                    let Some(v) = all.get(i..i + 4).and_then(hex) else {
                        return cx.raise(ids::RUNTIME_ERROR, "invalid Unicode escape");
                    };
                    put(cx, Some(v))?;
                    i += 4;
                }
            }
            b'"' | b'\\' | b'#' => out.push(c),
            c => out.extend_from_slice(&[b'\\', c]),
        }
    }
    if !closed {
        return cx.raise(ids::RUNTIME_ERROR, "unterminated dumped string");
    }
    let mut e = if utf8 { Encoding::UTF_8 } else { enc(this) };
    let tail = &all[i..];
    if !tail.is_empty() {
        let body = tail.strip_prefix(b".dup").unwrap_or(tail);
        let name = body.strip_prefix(b".force_encoding(\"").and_then(|t| t.strip_suffix(b"\")"));
        let Some(name) = name else {
            return cx.raise(
                ids::RUNTIME_ERROR,
                "invalid dumped string; not wrapped with '\"' nor '\"...\".force_encoding(\"...\")' form",
            );
        };
        if utf8 {
            return cx.raise(ids::RUNTIME_ERROR, "dumped string contained Unicode escape but used force_encoding");
        }
        match Encoding::find(name) {
            Some(found) => e = found,
            None => {
                let name = String::from_utf8_lossy(name);
                return cx.raise(ids::RUNTIME_ERROR, format!("dumped string has unknown encoding name: {name}"));
            }
        }
    }
    Ok(cx.str_bytes(&out, e.id()))
}

#[ruby_class(ids::STRING)]
pub mod encoding_methods {
    use super::*;

    /// The encoding.
    ///
    ///     "abc".encoding   #=> #<Encoding:UTF-8>
    #[method("encoding")]
    fn encoding(cx: &Cx, this: Str) -> Value {
        encodings::object(cx, enc(this))
    }

    /// The same bytes seen in another encoding.
    ///
    ///     (+"\xE9").force_encoding("ISO-8859-1").encode("UTF-8")   #=> "é"
    #[method("force_encoding")]
    fn force_encoding(cx: &mut Cx, this: Str, e: Value) -> Result<Str> {
        cx.check_frozen(this.as_value())?;
        let e = encodings::from_value(cx, e)?;
        if this.encoding() != e.id() {
            let ascii = this.code_range() == CodeRange::Ascii && enc(this).is_ascii_compatible() && e.is_ascii_compatible();
            this.set_encoding(e.id());
            if ascii {
                this.set_code_range(CodeRange::Ascii);
            }
        }
        Ok(this)
    }

    /// A copy as bytes.
    ///
    ///     "é".b           #=> "\xC3\xA9"
    #[method("b")]
    fn b(cx: &Cx, this: Str) -> Value {
        let v = copy(cx, this);
        let s = Ref::<StringCell>::of(v);
        let ascii = s.code_range() == CodeRange::Ascii;
        s.set_encoding(string::BINARY);
        if ascii {
            s.set_code_range(CodeRange::Ascii);
        }
        v
    }

    /// Are all bytes characters of the encoding?
    ///
    ///     "é".valid_encoding?      #=> true
    ///     "\xFF".valid_encoding?   #=> false
    #[method("valid_encoding?", effect = "leaf", reason = "looks at the bytes")]
    fn valid_encoding(heap: &Heap, this: Str) -> bool {
        range(heap, this) != CodeRange::Broken
    }

    /// Only ASCII characters, in an ASCII-compatible encoding?
    ///
    ///     "abc".ascii_only?   #=> true
    ///     "é".ascii_only?     #=> false
    #[method("ascii_only?", effect = "leaf", reason = "looks at the bytes")]
    fn ascii_only(heap: &Heap, this: Str) -> bool {
        is_ascii(heap, this)
    }

    /// Converted to another encoding. Options: `invalid: :replace`, `undef: :replace`, `replace:`, `fallback:`, `xml:`, `newline:`.
    ///
    ///     "é".encode("ISO-8859-1").bytes                     #=> [233]
    ///     "é".encode("US-ASCII", undef: :replace)            #=> "?"
    ///     "é".encode("US-ASCII", fallback: { "é" => "e" })   #=> "e"
    ///     "<é>".encode("US-ASCII", xml: :text)               #=> "&lt;&#xE9;&gt;"
    #[method("encode", max = 2)]
    fn encode(cx: &mut Cx, this: Str, args: Rest, kw: Kwargs) -> Result<Value> {
        let (bytes, e) = encoded(cx, this, args, kw)?;
        match bytes {
            Some(b) => Ok(cx.str_bytes(&b, e.id())),
            None => {
                let v = copy(cx, this);
                if enc(this) != e {
                    Ref::<StringCell>::of(v).set_encoding(e.id());
                }
                Ok(v)
            }
        }
    }

    /// `encode` in place.
    ///
    ///     (+"é").encode!("ISO-8859-1").bytesize   #=> 1
    #[method("encode!", max = 2)]
    fn encode_bang(cx: &mut Cx, this: Str, args: Rest, kw: Kwargs) -> Result<Str> {
        cx.check_frozen(this.as_value())?;
        let (bytes, e) = encoded(cx, this, args, kw)?;
        if let Some(b) = bytes {
            StringCell::set_bytes(this, &mut cx.heap, &b);
        }
        if enc(this) != e {
            this.set_encoding(e.id());
        }
        Ok(this)
    }

    /// With broken parts replaced, by a text or the block's result.
    ///
    ///     "a\xFFb".scrub("?")                 #=> "a?b"
    ///     "a\xFFb".scrub { |b| b.bytes.inspect }   #=> "a[255]b"
    #[method("scrub")]
    fn scrub_copy(cx: &mut Cx, this: Str, with: Option<Value>, block: Block) -> Result<Value> {
        match scrub_method(cx, this, with, block)? {
            Some(b) => Ok(make(cx, &b, this)),
            None => Ok(copy(cx, this)),
        }
    }

    /// `scrub` in place.
    ///
    ///     (+"a\xFF").scrub!("?")   #=> "a?"
    #[method("scrub!")]
    fn scrub_bang(cx: &mut Cx, this: Str, with: Option<Value>, block: Block) -> Result<Str> {
        if let Some(b) = scrub_method(cx, this, with, block)? {
            cx.check_frozen(this.as_value())?;
            StringCell::set_bytes(this, &mut cx.heap, &b);
        }
        Ok(this)
    }

    /// The reverse of `dump`.
    ///
    ///     "é\n".dump.undump   #=> "é\n"
    #[method("undump")]
    fn undump_method(cx: &mut Cx, this: Str) -> Result<Value> {
        undump(cx, this)
    }
}

/// Text of `String#inspect`, for messages.
pub fn inspected(heap: &Heap, s: Str) -> String {
    inspect::inspect_str(s.content(heap), enc(s))
}
