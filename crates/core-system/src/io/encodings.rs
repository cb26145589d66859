//! Encodings of a stream: what is read and written (external), what a program sees (internal), and how one becomes the other.
//!
//! Invariant: an `Io` holds settled encodings. `ext` None: the default external encoding at the time of reading (`Encoding.default_external=` tells
//! open streams), and no conversion of what is written; `int` is set only when text is converted.

use super::lines;
use super::modes::{self, Mode};
use super::object;
use super::stream::IoState;
use zakuro_core_text::encoding as defaults;
use zakuro_core_text::string::encoding::{Newlines, Options, Xml, options};
use zakuro_core_text::string::util::enc;
use std::sync::Arc;
use zakuro_macros::ruby_class;
use zakuro_text::encoding::Encoding;
use zakuro_text::encoding::stream::{Call, Status, Stream, is_stateful};
use zakuro_vm::*;

/// The internal encoding that was asked for.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Internal {
    /// Nothing was said: the default internal encoding.
    #[default]
    Default,
    /// "-", nil: none.
    Off,
    As(u8),
}

/// External and internal encoding of a stream.
pub fn settle(cx: &mut Cx, ext: Option<u8>, int: Internal) -> (Option<u8>, Option<u8>) {
    let external = ext.unwrap_or_else(|| defaults::default_external(cx).id());
    let internal = match int {
        _ if external == Encoding::BINARY.id() => None,
        Internal::Default => defaults::default_internal(cx).map(|e| e.id()),
        Internal::Off => None,
        Internal::As(i) => Some(i),
    };
    match internal {
        Some(i) if i != external => (Some(external), Some(i)),
        // Both defaults are the same: that is what it stays.
        Some(_) => (Some(external), None),
        None => (ext, None),
    }
}

/// Called when the default external encoding changes.
pub fn default_changed(cx: &mut Cx, id: u8) {
    cx.state::<IoState>().open.each(|io| io.default = id);
}

pub fn find(cx: &mut Cx, name: &[u8]) -> Option<u8> {
    match &name.to_ascii_lowercase()[..] {
        b"locale" => Some(defaults::locale(cx).id()),
        b"external" | b"filesystem" => Some(defaults::default_external(cx).id()),
        b"internal" => defaults::default_internal(cx).map(|e| e.id()),
        _ => Encoding::find(name).map(|e| e.id()),
    }
}

pub fn warn(cx: &mut Cx, text: &str) -> Result<()> {
    zakuro_core_base::exception::warning::emit(cx, &format!("warning: {text}\n"))
}

/// "ext" or "ext:int", perhaps with "BOM|" in front: external, internal, whether a mark is looked for.
pub fn pair(cx: &mut Cx, text: &[u8]) -> Result<(Option<u8>, Internal, bool)> {
    let (mut ext, int) = match text.iter().position(|b| *b == b':') {
        Some(i) => (&text[..i], Some(&text[i + 1..])),
        None => (text, None),
    };
    let mut bom = false;
    if ext.len() > 4 && ext[..4].eq_ignore_ascii_case(b"BOM|") {
        ext = &ext[4..];
        bom = ext.len() >= 3 && ext[..3].eq_ignore_ascii_case(b"utf");
        if !bom {
            let w = format!("BOM with non-UTF encoding {} is nonsense", String::from_utf8_lossy(ext));
            warn(cx, &w)?;
        }
    }
    let mut external = None;
    if ext != b"-" {
        external = find(cx, ext);
        if external.is_none() {
            cx.warn_here(&format!("Unsupported encoding {} ignored", String::from_utf8_lossy(ext)))?;
        }
    }
    let internal = match int {
        None => Internal::Default,
        Some(b"-") => Internal::Off,
        Some(name) => match find(cx, name) {
            // A mark may tell of another external encoding.
            Some(i) if Some(i) == external && !bom => Internal::Off,
            Some(i) => Internal::As(i),
            None => {
                cx.warn_here(&format!("Unsupported encoding {} ignored", String::from_utf8_lossy(name)))?;
                Internal::Default
            }
        },
    };
    Ok((external, internal, bom))
}

/// Encoding argument: an Encoding or the name of one. ArgumentError
fn required(cx: &mut Cx, v: Value) -> Result<u8> {
    Ok(defaults::from_value(cx, v)?.id())
}

/// Encoding argument; a name that is none is ignored with a warning.
fn supported(cx: &mut Cx, v: Value) -> Result<Option<u8>> {
    if let Some(e) = defaults::of(v) {
        return Ok(Some(e.id()));
    }
    let s = cx.to_str(v)?;
    if !enc(s).is_ascii_compatible() {
        return required(cx, v).map(Some);
    }
    let name = s.to_vec();
    let found = find(cx, &name);
    if found.is_none() {
        cx.warn_here(&format!("Unsupported encoding {} ignored", String::from_utf8_lossy(&name)))?;
    }
    Ok(found)
}

/// Encoding argument for the inside: nil and "-" mean none.
fn internal_of(cx: &mut Cx, v: Value) -> Result<Internal> {
    if v.is_nil() {
        return Ok(Internal::Off);
    }
    if defaults::of(v).is_none() {
        let s = cx.to_str(v)?;
        if s.equals(b"-") {
            return Ok(Internal::Off);
        }
        return required(cx, s.as_value()).map(Internal::As);
    }
    required(cx, v).map(Internal::As)
}

/// What the keywords `encoding:`, `external_encoding:` and `internal_encoding:` ask for; None when there are none.
pub fn of_keywords(cx: &mut Cx, kw: &Kwargs) -> Result<Option<(Option<u8>, Internal, bool)>> {
    let key = |n: &str| kw.named(n);
    let (ext, int) = (key("external_encoding"), key("internal_encoding"));
    let both = key("encoding").filter(|e| !e.is_nil());
    if ext.is_some() || int.is_some() {
        if let Some(e) = both {
            let shown = cx.to_s_text(e)?;
            let used = if ext.is_some() { "external" } else { "internal" };
            warn(cx, &format!("Ignoring encoding parameter '{shown}': {used}_encoding is used"))?;
        }
        let (mut external, mut bom) = (None, false);
        if let Some(e) = ext.filter(|e| !e.is_nil()) {
            if defaults::of(e).is_none() {
                let s = cx.to_str(e)?;
                let name = s.to_vec();
                if name.len() > 4 && name[..4].eq_ignore_ascii_case(b"BOM|") {
                    (external, _, bom) = pair(cx, &name)?;
                } else {
                    external = Some(required(cx, s.as_value())?);
                }
            } else {
                external = Some(required(cx, e)?);
            }
        }
        let internal = match int {
            None => Internal::Default,
            Some(i) => match internal_of(cx, i)? {
                Internal::As(i) if Some(i) == external => Internal::Off,
                i => i,
            },
        };
        return Ok(Some((external, internal, bom)));
    }
    let Some(e) = both else { return Ok(None) };
    if let Some(e) = defaults::of(e) {
        return Ok(Some((Some(e.id()), Internal::Default, false)));
    }
    let name = cx.to_str(e)?.to_vec();
    pair(cx, &name).map(Some)
}

/// Options of conversion among the keywords: what to do with what can't be converted, and line ends.
pub fn conversion(cx: &mut Cx, kw: Kwargs, target: Option<u8>) -> Result<Option<Arc<Options>>> {
    const NAMES: [&str; 9] = [
        "invalid",
        "undef",
        "replace",
        "fallback",
        "xml",
        "newline",
        "universal_newline",
        "crlf_newline",
        "cr_newline",
    ];
    if kw.is_empty() || !NAMES.iter().any(|n| kw.named(n).is_some()) && kw.named("lf_newline").is_none() {
        return Ok(None);
    }
    // A replacement is kept in the encoding that it is written in.
    let target = target.and_then(Encoding::from_id).unwrap_or(Encoding::UTF_8);
    let mut o = options(cx, kw, target)?;
    // An Io is not traced: a fallback, which is a Ruby object, has no place there.
    o.forget_fallback();
    Ok(Some(Arc::new(o)))
}

/// ArgumentErrors about what does not go together.
pub fn validate(cx: &mut Cx, readable: bool, binmode: bool, ext: Option<u8>, int: Option<u8>, o: Option<&Options>) -> Result<()> {
    let external = match ext {
        Some(e) => Encoding::from_id(e).unwrap_or(Encoding::UTF_8),
        None => defaults::default_external(cx),
    };
    if readable && int.is_none() && !binmode && !external.is_ascii_compatible() {
        return cx.arg_error("ASCII incompatible encoding needs binmode");
    }
    if binmode && o.is_some_and(|o| o.newlines != Newlines::Keep) {
        return cx.arg_error("newline decorator with binary mode");
    }
    Ok(())
}

/// Settles the encodings of a mode, before anything is opened.
pub fn settle_mode(cx: &mut Cx, m: &mut Mode, asked: Option<(Option<u8>, Internal, bool)>, kw: Kwargs) -> Result<()> {
    let (ext, int, bom) = match asked {
        Some(a) => a,
        None if m.binmode => (Some(Encoding::BINARY.id()), Internal::Default, false),
        None => (None, Internal::Default, false),
    };
    m.bom |= bom;
    (m.ext, m.int) = settle(cx, ext, int);
    m.int_after_mark = match int {
        Internal::As(i) if m.bom => Some(i),
        _ => None,
    };
    if kw.named("universal_newline").is_some_and(|u| !u.truthy()) {
        m.textmode = false;
    }
    m.conversion = conversion(cx, kw, m.int.or(m.ext))?;
    validate(cx, m.io & object::READ != 0, m.binmode, m.ext, m.int, m.conversion.as_deref())?;
    if m.conversion.as_ref().is_some_and(|o| o.newlines == Newlines::Universal) {
        m.textmode = true;
    }
    Ok(())
}

/// The encodings of a byte order mark and its length.
pub fn mark(head: &[u8]) -> Option<(&'static str, usize)> {
    Some(match head {
        [0xef, 0xbb, 0xbf, ..] => ("UTF-8", 3),
        [0xff, 0xfe, 0, 0, ..] => ("UTF-32LE", 4),
        [0xff, 0xfe, ..] => ("UTF-16LE", 2),
        [0xfe, 0xff, ..] => ("UTF-16BE", 2),
        [0, 0, 0xfe, 0xff, ..] => ("UTF-32BE", 4),
        _ => return None,
    })
}

/// Bytes of an open stream read as text, brought to its internal encoding.
pub fn to_internal(cx: &mut Cx, stream: Value, bytes: Vec<u8>) -> Result<Value> {
    let io = object::raw(cx, stream)?;
    let ext = lines::text_encoding(io);
    let from = Encoding::from_id(ext).unwrap_or(Encoding::BINARY);
    let (universal, int, conversion) = (io.universal, io.int, io.conversion.clone());
    let bytes = if universal && bytes.contains(&b'\r') && from.is_ascii_compatible() { plain_newlines(&bytes) } else { bytes };
    let Some(int) = int.filter(|i| *i != ext && from != Encoding::BINARY) else { return Ok(cx.str_bytes(&bytes, ext)) };
    let to = Encoding::from_id(int).unwrap_or(Encoding::UTF_8);
    if bytes.is_ascii() && from.is_ascii_compatible() && to.is_ascii_compatible() {
        return Ok(cx.str_bytes(&bytes, int));
    }
    let none = Options::none();
    let o = conversion.as_deref().unwrap_or(&none);
    let mut failed_at = None;
    // Line ends can be told in what is between.
    let between = (universal && !from.is_ascii_compatible() && !to.is_ascii_compatible()).then_some(Encoding::UTF_8);
    let first = zakuro_core_text::string::encoding::convert_until(cx, from, between.unwrap_or(to), &bytes, o, &mut failed_at);
    let converted = match (between, first) {
        (Some(between), Ok(text)) => zakuro_core_text::string::encoding::convert(cx, between, to, &plain_newlines(&text), o),
        (_, first) => first,
    };
    let out = match converted {
        Ok(out) => out,
        Err(e) => {
            // What stands behind can be read next.
            if let Some(at) = failed_at {
                object::raw(cx, stream)?.unread(&bytes[at..]);
            }
            return Err(e);
        }
    };
    let out = if universal && !from.is_ascii_compatible() && to.is_ascii_compatible() { plain_newlines(&out) } else { out };
    Ok(cx.str_bytes(&out, int))
}

fn plain_newlines(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let b = bytes[i];
        i += 1;
        if b == b'\r' {
            i += usize::from(bytes.get(i) == Some(&b'\n'));
            out.push(b'\n');
        } else {
            out.push(b);
        }
    }
    out
}

/// A String as the stream writes it: in its external encoding, with its line ends.
pub fn to_external(cx: &mut Cx, io: Value, s: Ref<StringCell>) -> Result<Ref<StringCell>> {
    let stream = object::raw(cx, io)?;
    let newlines = stream.conversion.as_ref().map_or(Newlines::Keep, |o| o.newlines);
    let newlines = if newlines == Newlines::Universal { Newlines::Keep } else { newlines };
    let conversion = stream.conversion.clone();
    let from = enc(s);
    let to = stream.ext.and_then(Encoding::from_id).filter(|t| *t != Encoding::BINARY && *t != from);
    let to = to.filter(|t| *t != Encoding::UTF_16 && *t != Encoding::UTF_32 && !(t.is_ascii_compatible() && from.is_ascii_compatible() && s.is_ascii()));
    let none = Options::none();
    let o = conversion.as_deref().unwrap_or(&none);
    let escapes = o.xml != Xml::No;
    if to.is_none() && newlines == Newlines::Keep && !escapes {
        return Ok(s);
    }
    if (escapes || to.is_some_and(is_stateful)) && o.fallback.is_nil() {
        return in_middle(cx, io, s, o);
    }
    let mut bytes = s.to_vec();
    if newlines != Newlines::Keep && from.is_ascii_compatible() {
        bytes = o.decorated(&bytes);
    }
    let target = match to {
        Some(to) => {
            bytes = zakuro_core_text::string::encoding::convert(cx, from, to, &bytes, o)?;
            to
        }
        None => from,
    };
    let v = cx.str_bytes(&bytes, target.id());
    cx.to_str(v)
}

/// Text behind what the stream has written so far.
fn in_middle(cx: &mut Cx, io: Value, s: Ref<StringCell>, o: &Options) -> Result<Ref<StringCell>> {
    let (from, bytes) = (enc(s), s.to_vec());
    let mut decorators = zakuro_core_text::encoding::converter::decorators_of(o);
    decorators.universal = false;
    let stream = object::raw(cx, io)?;
    let to = stream.ext.and_then(Encoding::from_id).filter(|t| *t != Encoding::BINARY);
    // Without an encoding of its own each text stays in that which it is in.
    let to = to.or((!from.is_ascii_compatible()).then_some(from));
    // Bytes are taken for what they are written as.
    let from = if from == Encoding::BINARY { to.unwrap_or(from) } else { from };
    let ends = to.map(|to| (from, to));
    let mut writer = match stream.writer.take() {
        Some(mut w) if w.ends().map(|e| e.1) == to => {
            if to.is_some() {
                w.read_from(from);
            }
            w
        }
        // Of another encoding: what that one has begun is over.
        other => {
            stream.writer = other;
            stream.end_text();
            Box::new(Stream::new(ends, decorators, o.policy.clone()))
        }
    };
    let mut out = Vec::new();
    let status = writer.convert(&bytes, &mut 0, &mut out, Call { partial: true, ..Call::default() });
    object::raw(cx, io)?.writer = Some(writer);
    if let Status::Failed(e) = status {
        return zakuro_core_text::string::encoding::conversion_error(cx, *e);
    }
    let v = cx.str_bytes(&out, to.unwrap_or(from).id());
    cx.to_str(v)
}

/// Settled encodings of the arguments of `set_encoding` and `pipe`.
pub fn of_arguments(cx: &mut Cx, ext: Value, int: Option<Value>) -> Result<(Option<u8>, Option<u8>)> {
    let int = int.filter(|i| !i.is_nil());
    let (external, internal) = match int {
        Some(i) => {
            let external = supported(cx, ext)?;
            let internal = if defaults::of(i).is_none() && cx.to_str(i)?.equals(b"-") { None } else { supported(cx, i)? };
            match (external, internal) {
                // There is nothing to convert from.
                (None, Some(internal)) => (Some(internal), Internal::Off),
                (external, internal) => (external, internal.map_or(Internal::Off, Internal::As)),
            }
        }
        None if ext.is_nil() => (None, Internal::Default),
        None if defaults::of(ext).is_some() => (Some(required(cx, ext)?), Internal::Default),
        None => {
            let s = cx.to_str(ext)?;
            if enc(s).is_ascii_compatible() {
                let text = s.to_vec();
                let (e, i, _) = pair(cx, &text)?;
                (e, i)
            } else {
                (Some(required(cx, ext)?), Internal::Default)
            }
        }
    };
    Ok(settle(cx, external, internal))
}

#[ruby_class(ids::IO)]
pub mod io {
    use super::*;
    /// Encoding of what is read; nil for a stream that is written and has none.
    ///
    ///     File.open("/dev/null", &:external_encoding)   #=> #<Encoding:UTF-8>
    #[method("external_encoding")]
    fn external_encoding(cx: &mut Cx, this: Value) -> Result<Value> {
        let io = object::raw(cx, this)?;
        match io.ext {
            Some(e) => modes::encoding_value(cx, e),
            None if io.writable() => Ok(Value::NIL),
            None => {
                let e = io.default;
                modes::encoding_value(cx, e)
            }
        }
    }
    /// Encoding that text is converted to when read, or nil.
    ///
    ///     File.open("/dev/null", "r:iso-8859-1:utf-8", &:internal_encoding)   #=> #<Encoding:UTF-8>
    #[method("internal_encoding")]
    fn internal_encoding(cx: &mut Cx, this: Value) -> Result<Value> {
        match object::raw(cx, this)?.int {
            Some(e) => modes::encoding_value(cx, e),
            None => Ok(Value::NIL),
        }
    }
    /// Sets external and internal encoding: two arguments, or "ext:int"; nil for the defaults. Options are those of String#encode.
    ///
    ///     File.open("/dev/null") { |f| f.set_encoding("iso-8859-1:utf-8").internal_encoding }   #=> #<Encoding:UTF-8>
    #[method("set_encoding")]
    fn set_encoding(cx: &mut Cx, this: Value, ext: Value, int: Option<Value>, kw: Kwargs) -> Result<Value> {
        let (external, internal) = of_arguments(cx, ext, int)?;
        let conversion = conversion(cx, kw, internal.or(external))?;
        let io = object::get(cx, this)?;
        let (readable, binmode) = (io.readable(), io.binmode);
        validate(cx, readable, binmode, external, internal, conversion.as_deref())?;
        let io = object::get(cx, this)?;
        (io.ext, io.int) = (external, internal);
        io.universal = conversion.as_ref().is_some_and(|o| o.newlines == Newlines::Universal);
        io.conversion = conversion;
        Ok(this)
    }
    /// Sets the encoding from a byte order mark at the start; nil when there is none.
    #[method("set_encoding_by_bom")]
    fn set_encoding_by_bom(cx: &mut Cx, this: Value) -> Result<Value> {
        let io = object::get(cx, this)?;
        if !io.binmode {
            return cx.arg_error("ASCII incompatible encoding needs binmode");
        }
        if io.int.is_some() {
            return cx.arg_error("encoding conversion is set");
        }
        if let Some(e) = io.ext.filter(|e| *e != Encoding::BINARY.id()) {
            let name = Encoding::from_id(e).map_or("UTF-8", |e| e.name());
            return cx.arg_error(format!("encoding is set to {name} already"));
        }
        if !io.readable() {
            return Ok(Value::NIL);
        }
        let head = lines::read_bytes(cx, this, 4)?;
        let io = object::reader(cx, this)?;
        let found = mark(&head);
        io.unread(&head[found.map_or(0, |f| f.1)..]);
        let Some(e) = found.and_then(|(name, _)| Encoding::find(name.as_bytes())) else { return Ok(Value::NIL) };
        let (external, internal) = settle(cx, Some(e.id()), Internal::Default);
        let io = object::reader(cx, this)?;
        (io.ext, io.int) = (external, internal);
        modes::encoding_value(cx, e.id())
    }
}
