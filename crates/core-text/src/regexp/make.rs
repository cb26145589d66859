//! Making Regexp objects: from literals, Strings, pieces; escaping and joining sources.

use super::cache::{self, Failure, SharedRegexp};
use super::engine::{RegexpData, regexp_of};
use crate::string::util::{self, Str};
use zakuro_macros::Trace;
use zakuro_text::encoding::Encoding;
use zakuro_text::regexp::{self, RegexFlags, RegexpError, Warns};
use zakuro_vm::*;

/// Payload of a literal that does not compile, which the compiler refuses, but code that another version has kept may hold: whoever uses it gets the error.
#[derive(Trace)]
pub struct Invalid {
    pub message: String,
}
impl NativeData for Invalid {
    fn send_copy(&self) -> Option<SendPayload> {
        Some(Box::new(Invalid { message: self.message.clone() }))
    }
    fn save(&self, out: &mut Saved) -> Option<&'static str> {
        out.blob(self.message.as_bytes());
        Some("invalid Regexp")
    }
}
zakuro_vm::saved_loader!("invalid Regexp", |r| {
    let message = String::from_utf8_lossy(r.blob()?).into_owned();
    r.ends(0)?;
    Some(rebuild(move |_, _| Some(Box::new(Invalid { message: message.clone() }))))
});

/// New Regexp object of class Regexp.
pub fn object(cx: &mut Cx, regexp: SharedRegexp) -> Value {
    let data = RegexpData::new(cx, regexp);
    cx.data(ids::REGEXP, data)
}

/// Compiles, or RegexpError.
pub fn compile(cx: &mut Cx, source: &[u8], flags: RegexFlags, enc: Encoding) -> Result<SharedRegexp> {
    let made = cache::compile(cx, source, flags, enc);
    let r = or_raise(cx, made)?;
    let warns = if cx.is_verbose() { Warns::All } else { Warns::Usual };
    if r.warns() || warns == Warns::All {
        let warnings = cache::warnings(cx, source, flags, enc, warns);
        for w in or_raise(cx, warnings)? {
            cx.warn_here(&w)?;
        }
    }
    Ok(r)
}

fn or_raise<T>(cx: &mut Cx, made: std::result::Result<T, Failure>) -> Result<T> {
    match made {
        Ok(made) => Ok(made),
        Err(Failure::Regexp(RegexpError(m))) => cx.raise(ids::REGEXP_ERROR, m),
        Err(Failure::Stopped(e)) => Err(e),
    }
}

/// Compiles the content of a String.
pub fn compile_str(cx: &mut Cx, s: Str, flags: RegexFlags) -> Result<SharedRegexp> {
    let enc = util::enc(s);
    // Copied: compiling may raise, and nothing keeps Ruby code from changing the String.
    let source = s.to_vec();
    compile(cx, &source, flags, enc)
}

/// Hook: the Regexp of a literal, frozen.
pub fn literal(cx: &mut Cx, source: &[u8], options: u8, encoding: u8) -> Value {
    let (flags, enc) = regexp::literal_traits(options, encoding);
    let v = match cache::compile_at_once(cx, source, flags, enc) {
        Ok(r) => object(cx, r),
        Err(RegexpError(message)) => cx.data(ids::REGEXP, Invalid { message }),
    };
    v.set_flags(flags::FROZEN);
    v
}

/// Hook: the Regexp of a literal with interpolation.
pub fn dynamic(cx: &mut Cx, pieces: &[Value], options: u8) -> Result<Value> {
    let (flags, mut enc) = regexp::literal_options(options);
    let mut source = Vec::new();
    for piece in pieces {
        let s = cx.part_to_s(*piece)?;
        source.extend_from_slice(s.content(&cx.heap));
        if !util::is_ascii(&cx.heap, s) {
            if !util::enc(s).is_valid(s.content(&cx.heap)) {
                return cx.arg_error("invalid multibyte character");
            }
            enc = Some(joined(cx, enc, util::enc(s))?);
        } else if names_bytes(s.content(&cx.heap)) {
            // What US-ASCII has no characters for are bytes.
            let ascii = util::enc(s) == Encoding::US_ASCII;
            let own = if flags.no_encoding || ascii { Encoding::BINARY } else { util::enc(s) };
            match regexp::Regexp::piece(s.content(&cx.heap), flags, own) {
                Ok(Some(Encoding::BINARY)) if ascii && pieces.len() == 1 => enc = Some(joined(cx, enc, Encoding::US_ASCII)?),
                Ok(Some(e)) => enc = Some(joined(cx, enc, e)?),
                Ok(None) => {}
                Err(message) => return cx.arg_error(message),
            }
        }
    }
    let enc = enc.unwrap_or(if flags.no_encoding { Encoding::BINARY } else { Encoding::UTF_8 });
    let r = compile(cx, &source, flags, enc)?;
    let v = object(cx, r);
    v.set_flags(flags::FROZEN);
    Ok(v)
}

/// Whether a pattern has escapes that may name bytes beyond ASCII, or may end within one.
fn names_bytes(pattern: &[u8]) -> bool {
    memchr::memchr_iter(b'\\', pattern).any(|at| matches!(pattern.get(at + 1), None | Some(b'x' | b'u' | b'M' | b'C' | b'c' | b'1'..=b'3')))
}

fn joined(cx: &mut Cx, known: Option<Encoding>, e: Encoding) -> Result<Encoding> {
    match known {
        Some(k) if k != e => {
            let message = format!("encoding mismatch in dynamic regexp : {} and {}", k.name(), e.name());
            cx.raise(ids::REGEXP_ERROR, message)
        }
        _ => Ok(e),
    }
}

/// Options that `Regexp.new` was given: Integer bits, letters, or whether case is ignored.
pub fn options(cx: &mut Cx, v: Value) -> Result<RegexFlags> {
    if v.is_fixnum() {
        let all = RegexFlags::IGNORECASE
            | RegexFlags::EXTENDED
            | RegexFlags::MULTILINE
            | RegexFlags::FIXEDENCODING
            | RegexFlags::NOENCODING;
        return Ok(RegexFlags::from_bits(v.fix() as u32 & all));
    }
    let mut flags = RegexFlags::default();
    if let Some(s) = Ref::<StringCell>::from_value(v) {
        for b in s.content(&cx.heap) {
            match b {
                b'i' => flags.ignore_case = true,
                b'm' => flags.multiline = true,
                b'x' => flags.extended = true,
                _ => {
                    let t = s.to_text();
                    return cx.arg_error(format!("unknown regexp option: {t}"));
                }
            }
        }
        return Ok(flags);
    }
    if v.truthy() && v != Value::TRUE && cx.global_get(sym::verbose)? == Value::TRUE {
        let t = cx.inspect_text(v)?;
        cx.warn_here(&format!("expected true or false as ignorecase: {t}"))?;
    }
    flags.ignore_case = v.truthy();
    Ok(flags)
}

/// Source that matches the String literally.
pub fn escape(heap: &Heap, s: Str) -> Vec<u8> {
    let enc = util::enc(s);
    if util::is_ascii(heap, s) || enc == Encoding::UTF_8 || enc.is_single_byte() {
        return regexp::escape(s.content(heap));
    }
    if !enc.is_ascii_compatible() {
        let mut out = Vec::with_capacity(s.len() + 8);
        for c in enc.chars(s.content(heap)) {
            match enc.ord(c).and_then(|c| u8::try_from(c).ok()).filter(u8::is_ascii).map(|b| regexp::escape(&[b])) {
                Some(escaped) => {
                    for b in escaped {
                        enc.encode(b as u32, &mut out);
                    }
                }
                None => out.extend_from_slice(c),
            }
        }
        return out;
    }
    // The second byte of a character may look like a special one.
    let mut out = Vec::with_capacity(s.len() + 8);
    for c in enc.chars(s.content(heap)) {
        if c.len() == 1 { out.extend(regexp::escape(c)) } else { out.extend_from_slice(c) }
    }
    out
}

/// Bytes that are escaped between two safepoints.
const PIECE: usize = 1 << 20;

/// As [`escape`]; a long text piece by piece.
pub fn escape_pausing(cx: &mut Cx, s: Str) -> Result<Vec<u8>> {
    let enc = util::enc(s);
    if s.len() <= PIECE || !(util::is_ascii(&cx.heap, s) || enc == Encoding::UTF_8 || enc.is_single_byte()) {
        return Ok(escape(&cx.heap, s));
    }
    let mut out = Vec::new();
    let mut at = 0;
    // Other threads may change the String meanwhile.
    while let Some(piece) = s.content(&cx.heap).get(at..(at + PIECE).min(s.len())).filter(|p| !p.is_empty()) {
        at += piece.len();
        out.extend(regexp::escape(piece));
        cx.safepoint()?;
    }
    Ok(out)
}

/// Encoding of an escaped source.
pub fn escaped_encoding(heap: &Heap, s: Str) -> Encoding {
    if util::is_ascii(heap, s) { Encoding::US_ASCII } else { util::enc(s) }
}

/// `Regexp.try_convert`: a Regexp, what `to_regexp` gives, or nil.
pub fn try_convert(cx: &mut Cx, v: Value) -> Result<Value> {
    if cx.is_a(v, ids::REGEXP) {
        return Ok(v);
    }
    match cx.call_if_responds(v, Sym::intern("to_regexp"), &[])? {
        None | Some(Value::NIL) => Ok(Value::NIL),
        Some(r) if cx.is_a(r, ids::REGEXP) => Ok(r),
        Some(r) => {
            let (c, g) = (cx.class_name_of(v), cx.class_name_of(r));
            cx.type_error(format!("can't convert {c} to Regexp ({c}#to_regexp gives {g})"))
        }
    }
}

/// The pattern of a String method: a Regexp as it is, a String escaped.
pub fn quoted(cx: &mut Cx, s: Str) -> Result<Value> {
    let (source, enc) = (escape_pausing(cx, s)?, util::enc(s));
    let r = compile(cx, &source, RegexFlags::default(), enc)?;
    Ok(object(cx, r))
}

/// `Regexp.union`.
pub fn union(cx: &mut Cx, patterns: &[Value]) -> Result<Value> {
    let mut source = Vec::new();
    // Encodings that the parts need: one that is no superset of ASCII, one that is; or none.
    let (mut wide, mut fixed, mut plain) = (None, None, false);
    if patterns.is_empty() {
        source.extend_from_slice(b"(?!)");
    }
    for (i, p) in patterns.iter().enumerate() {
        let re = try_convert(cx, *p)?;
        if !re.is_nil() && patterns.len() == 1 {
            return Ok(re);
        }
        if i > 0 {
            wide.unwrap_or(Encoding::BINARY).encode(u32::from(b'|'), &mut source);
        }
        let (own, free) = match regexp_of(&re) {
            Some(d) => {
                source.extend_from_slice(d.regexp.as_group(false).as_bytes());
                (d.regexp.encoding(), !d.regexp.is_fixed_encoding())
            }
            None => {
                let s = if patterns.len() == 1 { str_or_sym(cx, *p)? } else { cx.to_str(*p)? };
                source.extend(escape_pausing(cx, s)?);
                (util::enc(s), util::is_ascii(&cx.heap, s))
            }
        };
        if !own.is_ascii_compatible() {
            agree(cx, &mut wide, own)?;
        } else if free {
            plain = true;
        } else {
            agree(cx, &mut fixed, own)?;
        }
        match (wide, fixed) {
            (Some(w), _) if plain => return cx.arg_error(format!("ASCII incompatible encoding: {}", w.name())),
            (Some(w), Some(f)) => return incompatible(cx, w, f),
            _ => {}
        }
    }
    let r = compile(cx, &source, RegexFlags::default(), wide.or(fixed).unwrap_or(Encoding::BINARY))?;
    Ok(object(cx, r))
}

fn agree(cx: &mut Cx, known: &mut Option<Encoding>, own: Encoding) -> Result<()> {
    match *known {
        Some(k) if k != own => incompatible(cx, k, own),
        _ => {
            *known = Some(own);
            Ok(())
        }
    }
}

fn incompatible<T>(cx: &mut Cx, a: Encoding, b: Encoding) -> Result<T> {
    cx.arg_error(format!("incompatible encodings: {} and {}", util::shown_name(a), util::shown_name(b)))
}

/// A String, or the name of a Symbol; TypeError for everything else.
pub fn str_or_sym(cx: &mut Cx, v: Value) -> Result<Str> {
    if v.is_sym() {
        return cx.to_s(v);
    }
    cx.to_str(v)
}
