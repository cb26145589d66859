//! Psych::Emitter: the events of a YAML document, written to an IO. [`super::emit`] does the layout.

use super::emit::{Emitter, Event, Style};
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

/// Payload of a Psych::Emitter.
#[derive(Trace)]
struct Writer {
    io: Value,
    #[untraced]
    emitter: Emitter,
    /// UTF-16, little or big endian, instead of UTF-8.
    wide: Option<bool>,
}

impl NativeData for Writer {}

/// Text that is written before the end of a document.
const FULL: usize = 16 << 10;

/// The payload. The reference must not live across a call into Ruby.
fn writer(cx: &mut Cx, this: Value) -> Result<&mut Writer> {
    cx.data_mut::<Writer>(this)
}

fn emit(cx: &mut Cx, this: Value, e: Event) -> Result<Value> {
    let w = writer(cx, this)?;
    if let Err(problem) = w.emitter.emit(e) {
        return cx.raise(ids::RUNTIME_ERROR, problem);
    }
    if !w.emitter.flush && w.emitter.out.len() < FULL {
        return Ok(this);
    }
    w.emitter.flush = false;
    let (io, text, wide) = (w.io, std::mem::take(&mut w.emitter.out), w.wide);
    if text.is_empty() {
        return Ok(this);
    }
    let text = match wide {
        None => cx.str(&text),
        Some(big) => {
            let bytes: Vec<u8> = text.encode_utf16().flat_map(|u| if big { u.to_be_bytes() } else { u.to_le_bytes() }).collect();
            cx.str_bytes(&bytes, string::UTF8)
        }
    };
    cx.call(io, sym::write, &[text])?;
    Ok(this)
}

fn wrong_type<T>(cx: &mut Cx, v: Value, wanted: &str) -> Result<T> {
    let c = cx.describe_for_conversion(v);
    cx.type_error(format!("wrong argument type {c} (expected {wanted})"))
}

fn text(cx: &mut Cx, v: Value) -> Result<String> {
    let Some(s) = Ref::<StringCell>::from_value(v) else { return wrong_type(cx, v, "String") };
    let name = crate::args::encoding_of(s.encoding()).name();
    let s = if matches!(name, "UTF-8" | "US-ASCII" | "BINARY" | "ASCII-8BIT") {
        s
    } else {
        let target = cx.str("UTF-8");
        let v = cx.call(v, Sym::intern("encode"), &[target])?;
        cx.to_str(v)?
    };
    match std::str::from_utf8(s.content(&cx.heap)) {
        Ok(s) => Ok(s.to_string()),
        Err(_) => cx.raise(ids::RUNTIME_ERROR, "invalid value"),
    }
}

fn optional(cx: &mut Cx, v: Value) -> Result<Option<String>> {
    if v.is_nil() { Ok(None) } else { text(cx, v).map(Some) }
}

fn list(cx: &mut Cx, v: Value) -> Result<Ref<ArrayCell>> {
    match Ref::<ArrayCell>::from_value(v) {
        Some(a) => Ok(a),
        None => wrong_type(cx, v, "Array"),
    }
}

fn start(cx: &mut Cx, this: Value, map: bool, anchor: Value, tag: Value, implicit: Value, style: i64) -> Result<Value> {
    let (anchor, tag) = (optional(cx, anchor)?, optional(cx, tag)?);
    emit(cx, this, Event::Start { map, anchor, tag, implicit: implicit.truthy(), flow: style == 2 })
}

/// Methods of `Psych::Emitter`.
#[ruby_class(ids::OBJECT)]
mod emitter {
    use super::*;

    /// Writes to `io`; `options` answer `line_width`, `indentation` and `canonical`.
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, io: Value, options: Option<Value>) -> Result<()> {
        let mut emitter = Emitter::new();
        if let Some(o) = options.filter(|o| !o.is_nil()) {
            let width = cx.call(o, Sym::intern("line_width"), &[])?;
            emitter.line_width = cx.to_i64(width)?;
            let step = cx.call(o, Sym::intern("indentation"), &[])?;
            emitter.indentation = cx.to_i64(step)?;
            emitter.canonical = cx.call(o, Sym::intern("canonical"), &[])?.truthy();
        }
        cx.data_init(this, Writer { io, emitter, wide: None })
    }
    /// Begins a stream in an encoding (`Nodes::Stream::UTF8`, `UTF16LE`, `UTF16BE`).
    #[method("start_stream")]
    fn start_stream(cx: &mut Cx, this: Value, encoding: Value) -> Result<Value> {
        if !encoding.is_fixnum() {
            return wrong_type(cx, encoding, "Integer");
        }
        let w = writer(cx, this)?;
        w.wide = match encoding.fix() {
            2 => Some(false),
            3 => Some(true),
            _ => None,
        };
        if w.wide.is_some() {
            w.emitter.out.push('\u{feff}');
        }
        emit(cx, this, Event::StreamStart)
    }
    /// Ends the stream.
    #[method("end_stream")]
    fn end_stream(cx: &mut Cx, this: Value) -> Result<Value> {
        emit(cx, this, Event::StreamEnd)
    }
    /// Begins a document: version (`[1, 1]` or `[]`), pairs of tag handles and prefixes, and whether `---` may be left out.
    #[method("start_document")]
    fn start_document(cx: &mut Cx, this: Value, version: Value, tags: Value, implicit: Value) -> Result<Value> {
        let numbers = list(cx, version)?;
        let version = match (numbers.get(0), numbers.get(1)) {
            (Some(major), Some(minor)) => Some((cx.to_i64(major)?, cx.to_i64(minor)?)),
            _ => None,
        };
        let (pairs, mut tags) = (list(cx, tags)?, Vec::new());
        // What conversions add is none of this document's.
        let (mut i, count) = (0, pairs.len());
        while let Some(pair) = pairs.get(i).filter(|_| i < count) {
            let pair = list(cx, pair)?;
            let (Some(handle), Some(prefix)) = (pair.get(0), pair.get(1)) else {
                return cx.raise(ids::RUNTIME_ERROR, "tag tuple must be of length 2");
            };
            let handle = cx.to_str(handle)?.as_value();
            let handle = text(cx, handle)?;
            let prefix = cx.to_str(prefix)?.as_value();
            tags.push((handle, text(cx, prefix)?));
            i += 1;
        }
        emit(cx, this, Event::DocumentStart { version, tags, implicit: implicit.truthy() })
    }
    /// Ends a document; `implicit`: `...` may be left out.
    #[method("end_document")]
    fn end_document(cx: &mut Cx, this: Value, implicit: Value) -> Result<Value> {
        emit(cx, this, Event::DocumentEnd { implicit: implicit.truthy() })
    }
    /// A scalar. `plain` and `quoted`: whether its tag may be left out in such a style.
    #[method("scalar")]
    fn scalar(cx: &mut Cx, this: Value, value: Value, anchor: Value, tag: Value, plain: Value, quoted: Value, style: i64) -> Result<Value> {
        let (value, anchor, tag) = (text(cx, value)?, optional(cx, anchor)?, optional(cx, tag)?);
        let style = match style {
            1 => Style::Plain,
            2 => Style::Single,
            3 => Style::Double,
            4 => Style::Literal,
            5 => Style::Folded,
            _ => Style::Any,
        };
        emit(cx, this, Event::Scalar { anchor, tag, value, plain: plain.truthy(), quoted: quoted.truthy(), style })
    }
    /// Begins a sequence; `implicit`: its tag may be left out. Style: 1 in lines, 2 in brackets.
    #[method("start_sequence")]
    fn start_sequence(cx: &mut Cx, this: Value, anchor: Value, tag: Value, implicit: Value, style: i64) -> Result<Value> {
        start(cx, this, false, anchor, tag, implicit, style)
    }
    /// Ends a sequence.
    #[method("end_sequence")]
    fn end_sequence(cx: &mut Cx, this: Value) -> Result<Value> {
        emit(cx, this, Event::End { map: false })
    }
    /// Begins a mapping; `implicit`: its tag may be left out. Style: 1 in lines, 2 in braces.
    #[method("start_mapping")]
    fn start_mapping(cx: &mut Cx, this: Value, anchor: Value, tag: Value, implicit: Value, style: i64) -> Result<Value> {
        start(cx, this, true, anchor, tag, implicit, style)
    }
    /// Ends a mapping.
    #[method("end_mapping")]
    fn end_mapping(cx: &mut Cx, this: Value) -> Result<Value> {
        emit(cx, this, Event::End { map: true })
    }
    /// Writes a reference to an anchor.
    #[method("alias")]
    fn alias(cx: &mut Cx, this: Value, anchor: Value) -> Result<Value> {
        let anchor = text(cx, anchor)?;
        emit(cx, this, Event::Alias { anchor })
    }
    /// Whether everything is written out: quoted, tagged, in brackets.
    #[method("canonical")]
    fn canonical(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(writer(cx, this)?.emitter.canonical)
    }
    /// Sets whether everything is written out.
    #[method("canonical=")]
    fn set_canonical(cx: &mut Cx, this: Value, v: Value) -> Result<Value> {
        writer(cx, this)?.emitter.canonical = v.truthy();
        Ok(v)
    }
    /// Spaces by which a level is indented.
    #[method("indentation")]
    fn indentation(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(writer(cx, this)?.emitter.indentation)
    }
    /// Sets the spaces by which a level is indented.
    #[method("indentation=")]
    fn set_indentation(cx: &mut Cx, this: Value, n: i64) -> Result<i64> {
        writer(cx, this)?.emitter.indentation = n;
        Ok(n)
    }
    /// Columns after which text is folded; 0: 80, negative: never.
    #[method("line_width")]
    fn line_width(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(writer(cx, this)?.emitter.line_width)
    }
    /// Sets the columns after which text is folded.
    #[method("line_width=")]
    fn set_line_width(cx: &mut Cx, this: Value, n: i64) -> Result<i64> {
        writer(cx, this)?.emitter.line_width = n;
        Ok(n)
    }
}

pub(crate) use emitter::METHODS;
