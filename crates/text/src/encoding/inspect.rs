//! `String#inspect`, `String#dump` and `Symbol#inspect` over bytes.
//!
//! Invariant: `inspect_str` returns valid UTF-8 whatever the input; text of another charset is shown escaped unless it is ASCII
//! or has a Unicode form.
//! Rejected: `escape_debug` of std (other escapes, other idea of printable).

use super::printable::{is_printable, printable_range};
use super::{Encoding, Kind, transcode, utf8};
use zakuro_base::progress::{Pace, Progress, Stopped, to_the_end};

/// `String#inspect`, for a result encoding of UTF-8.
pub fn inspect_str(s: &[u8], enc: Encoding) -> String {
    to_the_end(|p| inspect_long(s, enc, p))
}

/// [`inspect_str`] that can be left.
pub fn inspect_long(s: &[u8], enc: Encoding, p: &mut dyn Progress) -> Result<String, Stopped> {
    let mut out = String::with_capacity(s.len() + 2);
    out.push('"');
    if enc.kind() == Kind::Utf8 {
        quote_utf8(s, &mut out, p)?;
    } else {
        let mut bytes = Vec::new();
        quote_other(s, enc, false, &mut bytes, p)?;
        // ASCII alone.
        out.push_str(std::str::from_utf8(&bytes).unwrap_or_default());
    }
    out.push('"');
    Ok(out)
}

/// `String#inspect` of a text for a result in its own encoding, which is not UTF-8: what is printable stays.
pub fn inspect_own(s: &[u8], enc: Encoding, p: &mut dyn Progress) -> Result<Vec<u8>, Stopped> {
    let mut out = b"\"".to_vec();
    quote_other(s, enc, true, &mut out, p)?;
    out.push(b'"');
    Ok(out)
}

/// Is `c`, a valid character of `enc` beyond ASCII, one to see? Of several bytes all are, also those that stand for nothing.
fn is_seen(c: &[u8], enc: Encoding) -> bool {
    c.len() > 1 && !enc.is_unicode() || transcode::decode_char(enc, c).is_some_and(is_printable)
}

/// ASCII text of a string: characters beyond ASCII become `\\u` escapes (Unicode) or `\\x` escapes of their bytes.
pub fn escape(s: &[u8], enc: Encoding) -> String {
    let mut out = String::with_capacity(s.len());
    for c in enc.chars(s) {
        match enc.ord(c) {
            Some(n) if n < 0x80 => out.push(n as u8 as char),
            Some(n) if enc.is_unicode() => unicode_escape(n, &mut out),
            _ => c.iter().for_each(|b| hex_byte(*b, &mut out)),
        }
    }
    out
}

/// Escapes common to all: true when `c` was written.
pub(super) fn special(c: u8, next: Option<u8>, out: &mut String) -> bool {
    match c {
        b'"' => out.push_str("\\\""),
        b'\\' => out.push_str("\\\\"),
        b'\n' => out.push_str("\\n"),
        b'\r' => out.push_str("\\r"),
        b'\t' => out.push_str("\\t"),
        0x0c => out.push_str("\\f"),
        0x0b => out.push_str("\\v"),
        0x08 => out.push_str("\\b"),
        0x07 => out.push_str("\\a"),
        0x1b => out.push_str("\\e"),
        b'#' if matches!(next, Some(b'{' | b'$' | b'@')) => out.push_str("\\#"),
        _ => return false,
    }
    true
}

pub(super) fn hex_byte(b: u8, out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.push_str("\\x");
    out.push(DIGITS[b as usize >> 4] as char);
    out.push(DIGITS[b as usize & 15] as char);
}

/// `\u0001` or `\u{10FFFF}`.
fn unicode_escape(c: u32, out: &mut String) {
    if c > 0xffff {
        out.push_str(&format!("\\u{{{c:X}}}"));
    } else {
        out.push_str(&format!("\\u{c:04X}"));
    }
}

/// Most bytes that are copied between two looks at the pace.
const RUN: usize = 4096;
/// Bytes that `inspect` shows as they are, wherever they stand.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut b = 0x20;
    while b < 0x7f {
        plain[b] = !matches!(b as u8, b'"' | b'\\' | b'#');
        b += 1;
    }
    plain
};

/// Length of the characters at the beginning of a text that stand for themselves, or of a portion of them.
fn plain_run(s: &[u8]) -> usize {
    let mut at = 0;
    // Characters come in scripts: a range that was looked up holds for the next ones.
    let mut seen = 0..0;
    while at < s.len().min(RUN) {
        if PLAIN[s[at] as usize] {
            at += 1;
            continue;
        }
        let Some((c, n)) = utf8::decode(&s[at..]).filter(|(_, n)| *n > 1) else { break };
        if !seen.contains(&c) {
            match printable_range(c) {
                Some(range) => seen = range,
                None => break,
            }
        }
        at += n;
    }
    at
}

fn quote_utf8(s: &[u8], out: &mut String, p: &mut dyn Progress) -> Result<(), Stopped> {
    let mut at = 0;
    let mut pace = Pace::new();
    while at < s.len() {
        pace.at(at, p)?;
        // What stands for itself is copied at once.
        let plain = plain_run(&s[at..]);
        if plain > 0 {
            // Whole characters.
            out.push_str(std::str::from_utf8(&s[at..at + plain]).unwrap_or_default());
            at += plain;
            continue;
        }
        let b = s[at];
        if b < 0x80 {
            if !special(b, s.get(at + 1).copied(), out) {
                if (0x20..0x7f).contains(&b) {
                    out.push(b as char);
                } else {
                    unicode_escape(b as u32, out);
                }
            }
            at += 1;
            continue;
        }
        match utf8::decode(&s[at..]) {
            Some((c, n)) => {
                match char::from_u32(c) {
                    Some(ch) if is_printable(c) => out.push(ch),
                    _ => unicode_escape(c, out),
                }
                at += n;
            }
            None => {
                // A truncated character is shown byte by byte.
                hex_byte(b, out);
                at += 1;
            }
        }
    }
    Ok(())
}

/// `own`: the result is of the same encoding.
fn quote_other(s: &[u8], enc: Encoding, own: bool, to: &mut Vec<u8>, p: &mut dyn Progress) -> Result<(), Stopped> {
    let unicode = enc.is_unicode() && !enc.is_dummy();
    // Of other texts nobody knows what looks as in ASCII.
    let known = unicode || enc.is_ascii_compatible();
    let mut at = 0;
    let mut pace = Pace::new();
    let mut escaped = String::new();
    let out = &mut escaped;
    while at < s.len() {
        pace.at(at, p)?;
        to.extend_from_slice(out.as_bytes());
        out.clear();
        let (n, valid) = match enc.char_len(&s[at..]) {
            Ok(n) => (n, true),
            Err(n) => (n.max(1), false),
        };
        let c = &s[at..at + n];
        at += n;
        if !valid {
            c.iter().for_each(|&b| hex_byte(b, out));
            continue;
        }
        let ascii = match enc.ord(c) {
            Some(o) if o < 0x80 => Some(o as u8),
            _ => None,
        };
        if let Some(a) = ascii {
            let next = s.get(at..).filter(|r| !r.is_empty()).and_then(|r| {
                let n = enc.char_len(r).ok()?;
                enc.ord(&r[..n]).and_then(|o| u8::try_from(o).ok())
            });
            if (known || !matches!(a, b'"' | b'\\' | b'#')) && special(a, next, out) {
            } else if known && (0x20..0x7f).contains(&a) {
                out.push(a as char);
            } else if unicode {
                unicode_escape(a as u32, out);
            } else {
                hex_byte(a, out);
            }
            continue;
        }
        if own && is_seen(c, enc) {
            to.extend_from_slice(c);
        } else if unicode {
            match enc.ord(c) {
                // The result is UTF-8: characters of another encoding are never copied.
                Some(o) => unicode_escape(o, out),
                None => c.iter().for_each(|&b| hex_byte(b, out)),
            }
        } else if c.len() > 1 {
            out.push_str("\\x{");
            c.iter().for_each(|b| out.push_str(&format!("{b:02X}")));
            out.push('}');
        } else {
            hex_byte(c[0], out);
        }
    }
    to.extend_from_slice(out.as_bytes());
    Ok(())
}

/// `String#dump`: ASCII only, readable back by `undump`.
pub fn dump(s: &[u8], enc: Encoding, p: &mut dyn Progress) -> Result<String, Stopped> {
    let mut out = String::with_capacity(s.len() + 2);
    out.push('"');
    let mut at = 0;
    let mut pace = Pace::new();
    while at < s.len() {
        pace.at(at, p)?;
        let b = s[at];
        if special(b, s.get(at + 1).copied(), &mut out) {
            at += 1;
            continue;
        }
        if (0x20..0x7f).contains(&b) {
            out.push(b as char);
        } else if enc.kind() == Kind::Utf8
            && b > 0x7f
            && let Some((c, n)) = utf8::decode(&s[at..])
        {
            unicode_escape(c, &mut out);
            at += n;
            continue;
        } else {
            hex_byte(b, &mut out);
        }
        at += 1;
    }
    out.push('"');
    if !enc.is_ascii_compatible() {
        out.push_str(&format!(".dup.force_encoding(\"{}\")", enc.name()));
    }
    Ok(out)
}

/// `Symbol#inspect`.
pub fn inspect_sym(s: &[u8], enc: Encoding) -> String {
    if is_simple_symbol(s) && enc.is_ascii_compatible() && (s.is_ascii() || (enc.kind() == Kind::Utf8 && all_printable(s))) {
        return format!(":{}", String::from_utf8_lossy(s));
    }
    format!(":{}", inspect_str(s, enc))
}

/// A name with a byte beyond ASCII in the place of each longer character, whose bytes may look like ASCII.
fn stood_for(s: &[u8], enc: Encoding) -> Vec<u8> {
    enc.chars(s).map(|c| if c.len() == 1 { c[0] } else { 0x80 }).collect()
}

/// `Symbol#inspect` for a result of encoding `to`.
pub fn inspect_sym_in(s: &[u8], enc: Encoding, to: Encoding, p: &mut dyn Progress) -> Result<Vec<u8>, Stopped> {
    let seen = |c: &[u8]| c[0] < 0x80 || enc.char_len(c).is_ok() && is_seen(c, enc);
    if s.is_ascii() || enc.kind() == Kind::Utf8 && to.kind() == Kind::Utf8 {
        return Ok(inspect_sym(s, enc).into_bytes());
    }
    let mut out = b":".to_vec();
    if enc != to {
        let text = inspect_long(s, enc, p)?;
        out.extend_from_slice(if enc.kind() == Kind::Utf8 { escape(text.as_bytes(), enc) } else { text }.as_bytes());
    } else if is_simple_symbol(&stood_for(s, enc)) && enc.is_ascii_compatible() && enc.chars(s).all(seen) {
        out.extend_from_slice(s);
    } else {
        out.extend_from_slice(&inspect_own(s, enc, p)?);
    }
    Ok(out)
}

fn all_printable(s: &[u8]) -> bool {
    utf8::chars(s).all(|c| utf8::decode(c).is_some_and(|(c, _)| is_printable(c)))
}

/// Hash#inspect since Ruby 3.4: may the key be shown as `name: `?
pub fn is_simple_hash_key(s: &[u8]) -> bool {
    is_simple_symbol(s)
        && !matches!(s.first(), Some(b'@' | b'$'))
        && is_identifier(s.strip_suffix(b"?").or_else(|| s.strip_suffix(b"!")).unwrap_or(s))
}

fn is_ident_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80
}

fn is_identifier(s: &[u8]) -> bool {
    !s.is_empty() && !s[0].is_ascii_digit() && s.iter().all(|&b| is_ident_byte(b))
}

/// Can the symbol be written without quotes?
pub fn is_simple_symbol(s: &[u8]) -> bool {
    let operators: &[&[u8]] = &[
        b"[]", b"[]=", b"+", b"-", b"*", b"/", b"%", b"**", b"==", b"!=", b"!", b"~", b"+@", b"-@", b"<", b"<=", b">", b">=", b"<=>",
        b"===", b"=~", b"!~", b"&", b"|", b"^", b"<<", b">>", b"`",
    ];
    if operators.contains(&s) {
        return true;
    }
    match s {
        [b'@', b'@', rest @ ..] | [b'@', rest @ ..] => is_identifier(rest),
        [b'$', rest @ ..] => is_global(rest),
        _ => {
            let body = match s.split_last() {
                Some((b'?' | b'!' | b'=', body)) => body,
                _ => s,
            };
            is_identifier(body)
        }
    }
}

fn is_global(rest: &[u8]) -> bool {
    match rest {
        [b'-', c] => is_ident_byte(*c),
        [b'-', c @ ..] => c.len() <= 4 && c.first().is_some_and(|&b| b >= 0x80) && utf8::char_count(c) == 1,
        [c] if b"~*$?!@/\\;,.=:<>\"&`'+0".contains(c) => true,
        [b'1'..=b'9', more @ ..] => more.iter().all(u8::is_ascii_digit),
        _ => is_identifier(rest),
    }
}

/// Bytes of `s` as UTF-8 for display when they are in another charset; None when they have no such form.
pub fn to_display(s: &[u8], enc: Encoding) -> Option<String> {
    transcode::transcode(enc, Encoding::UTF_8, s, &transcode::Policy::default()).ok().and_then(|v| String::from_utf8(v).ok())
}
