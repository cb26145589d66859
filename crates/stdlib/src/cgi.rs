//! cgi/escape: HTML and URL escapes, as `CGI::Escape`; erb/escape. The names in `CGI` are Ruby (`ruby/cgi_escape.rb`).

use crate::args;
use zakuro_base::progress::{Pace, STRIDE};
use zakuro_macros::ruby_class;
use zakuro_vm::held::Held;
use zakuro_vm::*;

/// A text in an encoding that ASCII is part of, else a copy of it in UTF-8; and its encoding.
fn ascii_based(cx: &mut Cx, s: Ref<StringCell>) -> Result<(Ref<StringCell>, Option<u8>)> {
    if args::encoding_of(s.encoding()).is_ascii_compatible() {
        return Ok((s, None));
    }
    let utf8 = cx.str("UTF-8");
    let v = cx.call(s.as_value(), Sym::intern("encode"), &[utf8])?;
    Ok((cx.to_str(v)?, Some(s.encoding())))
}

/// A result in the encoding that the text had.
fn give(cx: &mut Cx, bytes: &[u8], s: Ref<StringCell>, back: Option<u8>) -> Result<Value> {
    let v = cx.str_bytes(bytes, s.encoding());
    match back {
        None => Ok(v),
        Some(e) => {
            let e = args::encoding_object(cx, e)?;
            cx.call(v, Sym::intern("encode"), &[e])
        }
    }
}

/// The character of a reference that has a name, or of the most usual number.
fn known(name: &[u8]) -> Option<u8> {
    Some(match name {
        b"amp" => b'&',
        b"lt" => b'<',
        b"gt" => b'>',
        b"quot" => b'"',
        b"apos" | b"#39" => b'\'',
        _ => return None,
    })
}

/// The character of another reference (between `&` and `;`), for a text in UTF-8, Latin 1 or another encoding.
fn referenced(name: &[u8], encoding: u8) -> Option<Vec<u8>> {
    let digits = std::str::from_utf8(name.strip_prefix(b"#")?).ok()?;
    let n = match digits.strip_prefix(['x', 'X']) {
        Some(hex) if hex.bytes().all(|b| b.is_ascii_hexdigit()) => u32::from_str_radix(hex, 16).ok()?,
        None if digits.bytes().all(|b| b.is_ascii_digit()) => digits.parse().ok()?,
        _ => return None,
    };
    if encoding == string::UTF8 {
        // Halves of UTF-16, too, are written as the numbers that they are.
        if let 0xD800..=0xDFFF = n {
            return Some(vec![0xED, 0x80 | (n >> 6 & 0x3F) as u8, 0x80 | (n & 0x3F) as u8]);
        }
        return char::from_u32(n).map(|c| c.to_string().into_bytes());
    }
    let most = if args::encoding_of(encoding).name() == "ISO-8859-1" { 256 } else { 128 };
    (n < most).then_some(vec![n as u8])
}

fn hex(b: Option<&u8>) -> Option<u8> {
    b.and_then(|b| char::from(*b).to_digit(16)).map(|d| d as u8)
}

fn url_escape(cx: &mut Cx, s: Ref<StringCell>, space: &[u8]) -> Result<Value> {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    translated(cx, s, |b, out| match b {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'-' | b'~' => out.push(b),
        b' ' => out.extend_from_slice(space),
        _ => out.extend_from_slice(&[b'%', HEX[b as usize >> 4], HEX[b as usize & 15]]),
    })
    .map(|out| cx.str_bytes(&out, s.encoding()))
}

/// What stands for a byte in HTML; empty for the byte itself.
const fn reference(b: u8) -> &'static [u8] {
    match b {
        b'&' => b"&amp;",
        b'<' => b"&lt;",
        b'>' => b"&gt;",
        b'"' => b"&quot;",
        b'\'' => b"&#39;",
        _ => b"",
    }
}

/// Where the first byte with a reference stands. Bytes are compared in blocks, whose loop becomes vector instructions.
fn first_special(bytes: &[u8]) -> Option<usize> {
    const BLOCK: usize = 32;
    let mut blocks = bytes.chunks_exact(BLOCK);
    let mut at = 0;
    for block in &mut blocks {
        let any = block.iter().fold(0, |any, &b| {
            any | u8::from(b == b'&') | u8::from(b == b'<') | u8::from(b == b'>') | u8::from(b == b'"') | u8::from(b == b'\'')
        });
        if any != 0 {
            return block.iter().position(|b| MARKED[*b as usize]).map(|i| at + i);
        }
        at += BLOCK;
    }
    blocks.remainder().iter().position(|b| MARKED[*b as usize]).map(|i| at + i)
}

/// Text for HTML, in an encoding that ASCII is part of; None when it is that already.
fn html(cx: &mut Cx, s: Ref<StringCell>) -> Result<Option<Vec<u8>>> {
    if s.len() <= STRIDE {
        return html_of(s.content(&cx.heap), |_| Ok(()));
    }
    let (held, mut pace) = (Held::of(s), Pace::new());
    html_of(&held, |at| Ok(pace.at(at, cx)?))
}
/// The same of its bytes; `pause` is told how far it has come.
fn html_of(bytes: &[u8], mut pause: impl FnMut(usize) -> Result<()>) -> Result<Option<Vec<u8>>> {
    /// The longest reference.
    const LONGEST: usize = 6;
    let mut at = 0;
    // The first one, if there is any: a String without is given back as it is.
    loop {
        let piece = &bytes[at..bytes.len().min(at + STRIDE)];
        if let Some(i) = first_special(piece) {
            at += i;
            break;
        }
        at += piece.len();
        if at == bytes.len() {
            return Ok(None);
        }
        pause(at)?;
    }
    // A short text gets room for whatever it becomes, a long one for what is usual.
    let room = if bytes.len() <= 512 { FILLED * (bytes.len() + 1) } else { bytes.len() + bytes.len() / 4 + 2 * LONGEST };
    let mut out = zakuro_base::memory::with_room(room);
    zakuro_base::memory::extend(&mut out, &bytes[..at]);
    let mut written = [0; FILLED * (SHORT + 1)];
    while at < bytes.len() {
        // Plain bytes up to the next one are copied at once.
        let piece = &bytes[at..bytes.len().min(at + STRIDE)];
        let plain = first_special(piece).unwrap_or(piece.len());
        zakuro_base::memory::extend(&mut out, &bytes[at..at + plain]);
        at += plain;
        // Where they stand close to one another, what is between them goes with them.
        let rest = &bytes[at..bytes.len().min(at + SHORT)];
        let taken = if plain < CLOSE { rest.len() } else { rest.iter().take_while(|b| MARKED[**b as usize]).count() };
        let n = short_html(&rest[..taken], &mut written);
        zakuro_base::memory::extend(&mut out, &written[..n]);
        at += taken;
        pause(at)?;
    }
    Ok(Some(out))
}

/// The same for a text of at most [`SHORT`] bytes, into a buffer: how long it is then, longer if anything was special.
fn short_html(text: &[u8], out: &mut [u8; FILLED * (SHORT + 1)]) -> usize {
    let mut at = 0;
    for b in text {
        // Written with what fills it up to a fixed length, which is cheaper than its own.
        let (written, length) = &WRITTEN[*b as usize];
        out[at..at + FILLED].copy_from_slice(written);
        at += *length as usize;
    }
    at
}
const SHORT: usize = 32;

/// Plain bytes before a special one with fewer of which more such are near.
const CLOSE: usize = 16;

/// Length to which references are filled up.
const FILLED: usize = 8;

/// What each byte is in HTML, filled up, and its length.
static WRITTEN: [([u8; FILLED], u8); 256] = {
    let mut all = [([0; FILLED], 0); 256];
    let mut b = 0;
    while b < 256 {
        let itself = [b as u8];
        let text = match reference(b as u8) {
            [] => &itself,
            text => text,
        };
        let mut i = 0;
        while i < text.len() {
            all[b].0[i] = text[i];
            i += 1;
        }
        all[b].1 = text.len() as u8;
        b += 1;
    }
    all
};

/// The bytes that have a reference.
const MARKED: [bool; 256] = {
    let mut marked = [false; 256];
    let mut b = 0;
    while b < 256 {
        marked[b] = !reference(b as u8).is_empty();
        b += 1;
    }
    marked
};

/// Methods of `ERB::Escape`.
#[ruby_class(ids::OBJECT)]
mod erb {
    use super::*;

    /// Text for HTML: `&`, `<`, `>` and quotes as references. A String that has none of them is given back.
    ///
    ///     ERB::Escape.html_escape("<a href='x'>")   #=> "&lt;a href=&#39;x&#39;&gt;"
    #[method("html_escape", module_function)]
    fn html_escape(cx: &mut Cx, _this: Value, text: Value) -> Result<Value> {
        let text = if Ref::<StringCell>::from_value(text).is_some() { text } else { cx.call(text, sym::to_s, &[])? };
        let s = cx.to_str(text)?;
        if !args::encoding_of(s.encoding()).is_ascii_compatible() {
            return escape::escape_html(cx, Value::NIL, s);
        }
        if s.len() <= SHORT {
            let mut out = [0; FILLED * (SHORT + 1)];
            let n = short_html(s.content(&cx.heap), &mut out);
            return Ok(if n == s.len() { text } else { escaped(cx, &out[..n], s) });
        }
        Ok(match html(cx, s)? {
            Some(out) => escaped(cx, &out, s),
            None => text,
        })
    }
}

/// `require "erb/escape"`
pub fn load_erb(cx: &mut Cx) -> Result<()> {
    let erb = cx.define_class(ids::OBJECT, "ERB", ids::OBJECT);
    let module = cx.define_module(erb, "Escape");
    cx.define_natives(module, &[erb::METHODS]);
    Ok(())
}

/// What a function makes of each byte.
fn translated(cx: &mut Cx, s: Ref<StringCell>, mut f: impl FnMut(u8, &mut Vec<u8>)) -> Result<Vec<u8>> {
    let (bytes, mut out) = (Held::of(s), Vec::new());
    for piece in bytes.chunks(STRIDE) {
        // The longest of what stands for a byte.
        zakuro_base::memory::grow(|| out.try_reserve(6 * piece.len()).is_ok());
        piece.iter().for_each(|b| f(*b, &mut out));
        if piece.len() == STRIDE {
            cx.safepoint()?;
        }
    }
    Ok(out)
}

fn url_unescape(cx: &mut Cx, s: Ref<StringCell>, encoding: Option<Value>, plus: bool) -> Result<Value> {
    let encoding = match encoding {
        Some(e) => {
            if !cx.is_a(e, ids::ENCODING) {
                cx.to_str(e)?;
            }
            args::encoding(cx, e)?
        }
        None => {
            let util = cx.class_named("CGI::Util")?;
            let (util, name) = (cx.class_value(util), Value::sym(Sym::intern("@@accept_charset")));
            let charset = cx.call(util, Sym::intern("class_variable_get"), &[name])?;
            args::encoding(cx, charset)?
        }
    };
    let (b, mut out, mut i) = (Held::of(s), zakuro_base::memory::with_room(s.len()), 0);
    let mut pace = Pace::new();
    while let Some(c) = b.get(i) {
        pace.at(i, cx)?;
        match (c, hex(b.get(i + 1)), hex(b.get(i + 2))) {
            (b'%', Some(high), Some(low)) => {
                out.push(high << 4 | low);
                i += 2;
            }
            (b'+', ..) if plus => out.push(b' '),
            _ => out.push(*c),
        }
        i += 1;
    }
    let v = cx.str_bytes(&out, encoding);
    if cx.call(v, Sym::intern("valid_encoding?"), &[])?.truthy() { Ok(v) } else { Ok(cx.str_bytes(&out, s.encoding())) }
}

/// What escaping made of a text: as much ASCII as that was.
fn escaped(cx: &mut Cx, bytes: &[u8], of: Ref<StringCell>) -> Value {
    let v = cx.str_bytes(bytes, of.encoding());
    Ref::<StringCell>::of(v).set_code_range(of.code_range());
    v
}

/// A copy of the same class.
fn copied(cx: &mut Cx, s: Ref<StringCell>) -> Value {
    let shape = cx.root_shape(cx.class_of(s.as_value()));
    StringCell::substring(&cx.heap, shape, s, 0, s.len()).as_value()
}

/// Methods of `CGI::Escape`.
#[ruby_class(ids::OBJECT)]
mod escape {
    use super::*;

    /// Text for HTML: `&`, `<`, `>` and quotes as references.
    ///
    ///     CGI.escapeHTML("<a href='x'>")   #=> "&lt;a href=&#39;x&#39;&gt;"
    #[method("escapeHTML")]
    pub fn escape_html(cx: &mut Cx, _this: Value, s: Ref<StringCell>) -> Result<Value> {
        let (s, back) = ascii_based(cx, s)?;
        if back.is_none() && s.len() <= SHORT {
            let mut out = [0; FILLED * (SHORT + 1)];
            let n = short_html(s.content(&cx.heap), &mut out);
            return Ok(if n == s.len() { copied(cx, s) } else { escaped(cx, &out[..n], s) });
        }
        match (html(cx, s)?, back) {
            (Some(out), None) => Ok(escaped(cx, &out, s)),
            (Some(out), _) => give(cx, &out, s, back),
            (None, None) => Ok(copied(cx, s)),
            (None, _) => give(cx, &Held::of(s), s, back),
        }
    }
    /// The text that HTML stands for; of references by name the five of XML.
    ///
    ///     CGI.unescapeHTML("&lt;&#x3b1;&gt; &nbsp;")   #=> "<α> &nbsp;"
    #[method("unescapeHTML")]
    fn unescape_html(cx: &mut Cx, _this: Value, s: Ref<StringCell>) -> Result<Value> {
        let (s, back) = ascii_based(cx, s)?;
        let (b, mut out) = (Held::of(s), zakuro_base::memory::with_room(s.len()));
        let mut rest = &b[..];
        let mut pace = Pace::new();
        while let Some(at) = memchr::memchr(b'&', rest) {
            pace.at(b.len() - rest.len(), cx)?;
            out.extend_from_slice(&rest[..at]);
            rest = &rest[at..];
            // No reference is longer.
            let end = rest.iter().take(16).position(|b| *b == b';');
            if let Some((e, known)) = end.and_then(|e| known(&rest[1..e]).map(|c| (e, c))) {
                out.push(known);
                rest = &rest[e + 1..];
                continue;
            }
            match end.and_then(|e| referenced(&rest[1..e], s.encoding()).map(|c| (e, c))) {
                Some((e, c)) => {
                    out.extend_from_slice(&c);
                    rest = &rest[e + 1..];
                }
                None => {
                    out.push(b'&');
                    rest = &rest[1..];
                }
            }
        }
        out.extend_from_slice(rest);
        give(cx, &out, s, back)
    }
    /// Text for a query of a URL.
    ///
    ///     CGI.escape("a b&c=ü")   #=> "a+b%26c%3D%C3%BC"
    #[method("escape")]
    fn escape(cx: &mut Cx, _this: Value, s: Ref<StringCell>) -> Result<Value> {
        url_escape(cx, s, b"+")
    }
    /// Text from a query of a URL, in UTF-8 unless told otherwise.
    ///
    ///     CGI.unescape("a+b%26c")   #=> "a b&c"
    #[method("unescape")]
    fn unescape(cx: &mut Cx, _this: Value, s: Ref<StringCell>, encoding: Option<Value>) -> Result<Value> {
        url_unescape(cx, s, encoding, true)
    }
    /// Text for any part of a URL.
    ///
    ///     CGI.escapeURIComponent("a b")   #=> "a%20b"
    #[method("escapeURIComponent", "escape_uri_component")]
    fn escape_component(cx: &mut Cx, _this: Value, s: Ref<StringCell>) -> Result<Value> {
        url_escape(cx, s, b"%20")
    }
    /// Text from any part of a URL, in UTF-8 unless told otherwise.
    ///
    ///     CGI.unescapeURIComponent("a%20b+c")   #=> "a b+c"
    #[method("unescapeURIComponent", "unescape_uri_component")]
    fn unescape_component(cx: &mut Cx, _this: Value, s: Ref<StringCell>, encoding: Option<Value>) -> Result<Value> {
        url_unescape(cx, s, encoding, false)
    }
}

pub static DOCUMENTED: &[MethodRow] = escape::METHODS;
pub static DOCUMENTED_ERB: &[MethodRow] = erb::METHODS;

/// `require "cgi/escape"`
pub fn load(cx: &mut Cx) -> Result<()> {
    let cgi = cx.define_class(ids::OBJECT, "CGI", ids::OBJECT);
    let module = cx.define_module(cgi, "Escape");
    cx.define_natives(module, &[escape::METHODS]);
    cx.run_builtin("cgi/escape")
}
