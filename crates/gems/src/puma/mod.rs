//! Puma's `puma/puma_http11`: the parser of requests ([`request`]), as `Puma::HttpParser`. `Puma::MiniSSL` is Ruby over our OpenSSL (`ruby/puma_puma_http11.rb`).

mod request;

use request::{Found, Parser, Part, upcase};
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

/// Payload of a Puma::HttpParser.
#[derive(Trace)]
struct Http {
    #[untraced]
    parser: Parser,
    body: Value,
}
impl NativeData for Http {}

/// Longest elements, and how the error calls their lengths.
const LIMITS: [(Part, usize, &str, &str); 6] = [
    (Part::Name, 256, "FIELD_NAME", "256"),
    (Part::Value, 80 * 1024, "FIELD_VALUE", "80 * 1024"),
    (Part::Uri, 12 * 1024, "REQUEST_URI", "(1024 * 12)"),
    (Part::Fragment, 1024, "FRAGMENT", "1024"),
    (Part::Path, 8192, "REQUEST_PATH", "(8192)"),
    (Part::Query, 10 * 1024, "QUERY_STRING", "(1024 * 10)"),
];
const ALL: usize = 1024 * (80 + 32);
const ERROR: &str = "Puma::HttpParserError";

fn too_long<T>(cx: &mut Cx, name: &str, limit: &str, length: usize) -> Result<T> {
    cx.raise_named(ERROR, format!("HTTP element {name} is longer than the {limit} allowed length (was {length})"))
}

/// The key of a header.
fn key(cx: &Cx, name: &[u8]) -> Value {
    let name = String::from_utf8_lossy(name);
    if matches!(&*name, "CONTENT_LENGTH" | "CONTENT_TYPE") { cx.frozen_str(&name) } else { cx.frozen_str(&format!("HTTP_{name}")) }
}

fn trimmed(value: &[u8]) -> &[u8] {
    let is_space = |b: &u8| matches!(b, b' ' | b'\t');
    let Some(from) = value.iter().position(|b| !is_space(b)) else { return &[] };
    let to = value.iter().rposition(|b| !is_space(b)).unwrap_or(from);
    &value[from..=to]
}

/// Methods of `Puma::HttpParser`.
#[ruby_class(ids::OBJECT)]
mod parser {
    use super::*;

    /// A parser of requests.
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value) -> Result<()> {
        cx.data_init(this, Http { parser: Parser::default(), body: Value::NIL })
    }
    /// Begins anew.
    #[method("reset")]
    fn reset(cx: &mut Cx, this: Value) -> Result<()> {
        *cx.data_mut::<Http>(this)? = Http { parser: Parser::default(), body: Value::NIL };
        Ok(())
    }
    /// Whether a request's head was read to its end.
    #[method("finish", "finished?")]
    fn finish(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(cx.data_ref::<Http>(this)?.parser.is_finished())
    }
    /// Whether the request is wrong.
    #[method("error?")]
    fn has_failed(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(cx.data_ref::<Http>(this)?.parser.has_failed())
    }
    /// Bytes that were read since the last `reset`.
    #[method("nread")]
    fn nread(cx: &mut Cx, this: Value) -> Result<usize> {
        Ok(cx.data_ref::<Http>(this)?.parser.nread)
    }
    /// What follows the headers, once they are whole.
    #[method("body")]
    fn body(cx: &mut Cx, this: Value) -> Result<Value> {
        Ok(cx.data_ref::<Http>(this)?.body)
    }
    /// Reads on in `data` at `start`, puts what is whole into the Hash; the number of bytes read so far.
    #[method("execute")]
    fn execute(cx: &mut Cx, this: Value, request: Ref<HashCell>, data: Ref<StringCell>, start: i64) -> Result<usize> {
        let text = Held::of(data);
        let from = usize::try_from(start).unwrap_or(usize::MAX);
        if from >= text.len() {
            return cx.raise_named(ERROR, "Requested start is after data buffer end.");
        }
        let mut found = Found::default();
        // A copy while others may run: the program can reach the parser.
        let mut parser = cx.data_ref::<Http>(this)?.parser.clone();
        parser.run(&text, from, &mut found, cx)?;
        let (nread, failed) = (parser.nread, parser.has_failed());
        cx.data_mut::<Http>(this)?.parser = parser;
        cx.check_frozen(request.as_value())?;
        let mut names = found.names.into_iter();
        for (part, range) in found.parts {
            // The program may have given another text than before.
            let bytes = text.get(range.clone()).unwrap_or(&[]);
            if let Some((_, most, element, limit)) = LIMITS.iter().find(|l| l.0 == part && bytes.len() > l.1) {
                debug_assert!(bytes.len() > *most);
                return too_long(cx, element, limit, bytes.len());
            }
            let key = match part {
                Part::Method => cx.frozen_str("REQUEST_METHOD"),
                Part::Path => cx.frozen_str("REQUEST_PATH"),
                Part::Query => cx.frozen_str("QUERY_STRING"),
                Part::Uri => cx.frozen_str("REQUEST_URI"),
                Part::Fragment => cx.frozen_str("FRAGMENT"),
                Part::Protocol => cx.frozen_str("SERVER_PROTOCOL"),
                Part::Name => {
                    // The text shows what was read: Puma cites it in errors.
                    if data.header.flags & flags::FROZEN == 0 && data.len() == text.len() {
                        let upper: Vec<u8> = bytes.iter().map(|b| upcase(*b)).collect();
                        StringCell::splice(data, &mut cx.heap, range.start, range.end, &upper);
                    }
                    continue;
                }
                Part::Value => {
                    let (key, value) = (key(cx, &names.next().unwrap_or_default()), trimmed(bytes));
                    // One that comes again is a list.
                    if let Some(old) = cx.hash_get(request, key)?.and_then(Ref::<StringCell>::from_value) {
                        cx.check_frozen(old.as_value())?;
                        StringCell::append(old, &mut cx.heap, b", ");
                        StringCell::append(old, &mut cx.heap, value);
                    } else {
                        let value = crate::binary(cx, value);
                        cx.hash_set(request, key, value)?;
                    }
                    continue;
                }
                Part::Body => {
                    let body = crate::binary(cx, bytes);
                    cx.data_mut::<Http>(this)?.body = body;
                    continue;
                }
            };
            let value = crate::binary(cx, bytes);
            cx.hash_set(request, key, value)?;
        }
        if nread > ALL {
            return too_long(cx, "HEADER", "(1024 * (80 + 32))", nread);
        }
        if failed {
            return cx
                .raise_named(ERROR, "Invalid HTTP format, parsing fails. Are you trying to open an SSL connection to a non-SSL Puma?");
        }
        Ok(nread)
    }
}

/// `require "puma/puma_http11"`
pub fn load(cx: &mut Cx) -> Result<()> {
    let module = cx.define_module(ids::OBJECT, "Puma");
    let class = cx.define_class(module, "HttpParser", ids::OBJECT);
    cx.class_mut(class).alloc = Alloc::Data;
    cx.define_class(module, "HttpParserError", ids::STANDARD_ERROR);
    cx.define_natives(class, &[parser::METHODS]);
    cx.run_builtin("puma/puma_http11")
}
