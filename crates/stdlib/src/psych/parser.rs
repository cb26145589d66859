//! Psych::Parser: events of a YAML text for a handler. [`super::scan`] and [`super::grammar`] read it.
//!
//! An IO is read to its end first: the scanner can't stop in the middle of a token while Ruby code waits for more.

use super::grammar::{self, Event};
use super::input::{Encoding, Input};
use super::scan::{Error, Mark};
use crate::args;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// What is asked of an IO at a time.
const PORTION: i64 = 16 << 10;

fn name(s: &str) -> Sym {
    Sym::intern(s)
}

/// The text of `yaml`, a String or what answers `read`.
fn input(cx: &mut Cx, yaml: Value) -> Result<(Input, Encoding)> {
    let by_name = |n: &str| match n {
        "UTF-8" | "US-ASCII" => Some(Encoding::Utf8),
        "UTF-16LE" => Some(Encoding::Utf16Le),
        "UTF-16BE" => Some(Encoding::Utf16Be),
        _ => None,
    };
    if !cx.responds(yaml, name("read"), false)? {
        let text = cx.to_str(yaml)?;
        let encoding = by_name(args::encoding_of(text.encoding()).name());
        if encoding.is_some() {
            return Ok(Input::new(text.to_vec(), encoding));
        }
        let target = cx.str("UTF-8");
        let converted =
            if text.encoding() == string::BINARY { Ok(text.as_value()) } else { cx.call(text.as_value(), name("encode"), &[target]) };
        // What can't be converted is read as it is.
        let text = match converted {
            Ok(v) => cx.to_str(v)?,
            Err(_) => {
                let raised = cx.take_pending();
                let known = cx.class_named("EncodingError")?;
                if !cx.is_a(raised, known) {
                    return cx.repend(raised);
                }
                text
            }
        };
        return Ok(Input::new(text.to_vec(), Some(Encoding::Utf8)));
    }
    let external = cx.call(yaml, name("external_encoding"), &[])?;
    let encoding = if external.is_nil() { None } else { by_name(&cx.to_s_text(external)?) };
    let mut bytes = Vec::new();
    loop {
        let part = cx.call(yaml, name("read"), &[Value::fixnum(PORTION)])?;
        if part.is_nil() {
            break;
        }
        let part = cx.to_str(part)?;
        if part.len() == 0 {
            break;
        }
        bytes.extend_from_slice(part.content(&cx.heap));
    }
    Ok(Input::new(bytes, encoding))
}

/// Strings for the handler: UTF-8, or `Encoding.default_internal`.
struct Texts {
    internal: Value,
}
impl Texts {
    fn make(&self, cx: &mut Cx, s: &str) -> Result<Value> {
        let v = cx.str(s);
        if self.internal.is_nil() { Ok(v) } else { cx.call(v, name("encode"), &[self.internal]) }
    }
    fn optional(&self, cx: &mut Cx, s: Option<String>) -> Result<Value> {
        s.map_or(Ok(Value::NIL), |s| self.make(cx, &s))
    }
}

fn note_mark(cx: &mut Cx, this: Value, m: Mark) -> Result<()> {
    let numbers = [m.index, m.line, m.column].map(|n| Value::fixnum(n as i64));
    let list = cx.array(&numbers);
    cx.ivar_set(this, name("__mark"), list)
}

/// Raises the Psych::SyntaxError of a parser's error.
fn fail<T>(cx: &mut Cx, path: Value, e: &Error) -> Result<T> {
    let problem = cx.str_bytes(e.problem.as_bytes(), string::US_ASCII);
    let context = e.context.map_or(Value::NIL, |c| cx.str_bytes(c.as_bytes(), string::US_ASCII));
    let class = cx.class_named("Psych::SyntaxError")?;
    let class = cx.class_value(class);
    let numbers = [e.mark.line + 1, e.mark.column + 1, e.offset].map(|n| Value::fixnum(n as i64));
    let e = cx.call(class, sym::new, &[path, numbers[0], numbers[1], numbers[2], problem, context])?;
    cx.raise_value(e)
}

fn parse(cx: &mut Cx, this: Value, handler: Value, yaml: Value, path: Value) -> Result<Value> {
    let (input, encoding) = input(cx, yaml)?;
    let class = cx.class_value(ids::ENCODING);
    let texts = Texts { internal: cx.call(class, name("default_internal"), &[])? };
    let mut parser = grammar::Parser::new(input);
    loop {
        let next = parser.next();
        note_mark(cx, this, parser.mark())?;
        let (event, from, to) = match next {
            Ok(e) => e,
            Err(e) => return fail(cx, path, &e),
        };
        let place = [from.line, from.column, to.line, to.column].map(|n| Value::fixnum(n as i64));
        cx.call(handler, name("event_location"), &place)?;
        match event {
            Event::StreamStart => {
                cx.call(handler, name("start_stream"), &[Value::fixnum(encoding as i64)])?;
            }
            Event::StreamEnd => {
                cx.call(handler, name("end_stream"), &[])?;
                return Ok(this);
            }
            Event::DocumentStart { version, tags, implicit } => {
                let version = match version {
                    Some((major, minor)) => cx.array(&[major, minor].map(Value::fixnum)),
                    None => cx.array(&[]),
                };
                let pairs = cx.new_array();
                for (handle, prefix) in tags {
                    let pair = [texts.make(cx, &handle)?, texts.make(cx, &prefix)?];
                    let pair = cx.array(&pair);
                    ArrayCell::push(pairs, &mut cx.heap, pair);
                }
                cx.call(handler, name("start_document"), &[version, pairs.as_value(), Value::bool(implicit)])?;
            }
            Event::DocumentEnd { implicit } => {
                cx.call(handler, name("end_document"), &[Value::bool(implicit)])?;
            }
            Event::Alias(anchor) => {
                let anchor = texts.make(cx, &anchor)?;
                cx.call(handler, name("alias"), &[anchor])?;
            }
            Event::Scalar { anchor, tag, value, plain, quoted, style } => {
                let (value, anchor, tag) = (texts.make(cx, &value)?, texts.optional(cx, anchor)?, texts.optional(cx, tag)?);
                let (plain, quoted) = (Value::bool(plain), Value::bool(quoted));
                cx.call(handler, name("scalar"), &[value, anchor, tag, plain, quoted, Value::fixnum(style as i64)])?;
            }
            Event::Start { map, anchor, tag, implicit, flow } => {
                let (anchor, tag) = (texts.optional(cx, anchor)?, texts.optional(cx, tag)?);
                let method = name(if map { "start_mapping" } else { "start_sequence" });
                cx.call(handler, method, &[anchor, tag, Value::bool(implicit), Value::fixnum(if flow { 2 } else { 1 })])?;
            }
            Event::End { map } => {
                cx.call(handler, name(if map { "end_mapping" } else { "end_sequence" }), &[])?;
            }
        }
    }
}

/// Methods of `Psych::Parser`.
#[ruby_class(ids::OBJECT)]
mod parser {
    use super::*;

    /// Parses a String or IO, and tells `handler` what it finds. Psych::SyntaxError names `path`.
    #[method("_native_parse", private)]
    fn native_parse(cx: &mut Cx, this: Value, handler: Value, yaml: Value, path: Value) -> Result<Value> {
        super::parse(cx, this, handler, yaml, path)
    }
    /// Parses a String or IO, and tells the parser's handler what it finds.
    #[method("parse")]
    fn parse(cx: &mut Cx, this: Value, yaml: Value, path: Option<Value>) -> Result<Value> {
        let path = match path {
            Some(p) => p,
            None if cx.responds(yaml, name("path"), false)? => cx.call(yaml, name("path"), &[])?,
            None => cx.str("<unknown>"),
        };
        let handler = cx.ivar_get(this, name("@handler"));
        super::parse(cx, this, handler, yaml, path)
    }
    /// How far the parser came: `Mark` of index, line and column.
    #[method("mark")]
    fn mark(cx: &mut Cx, this: Value) -> Result<Value> {
        let class = cx.class_named("Psych::Parser::Mark")?;
        let class = cx.class_value(class);
        let noted = cx.ivar_get(this, name("__mark"));
        let zero = Value::fixnum(0);
        let mut numbers = [zero; 3];
        if let Some(a) = Ref::<ArrayCell>::from_value(noted) {
            numbers = [0, 1, 2].map(|i| a.get(i).unwrap_or(zero));
        }
        cx.call(class, sym::new, &numbers)
    }
}

pub(crate) use parser::METHODS;
