//! How a Regexp shows itself: `inspect`, `to_s`, and `Regexp.escape`, `Regexp.union`.
//!
//! Rejected: normalizing sources when compiling (`source` must stay as written).

use super::{RegexFlags, Regexp};
use crate::encoding::printable::is_printable;
use crate::encoding::transcode::{Policy, transcode};
use crate::encoding::{Encoding, utf8};

impl Regexp {
    /// `Regexp#inspect`: `/a\/b/mix`.
    pub fn inspect(&self) -> String {
        let mut out = String::from("/");
        out.push_str(&body(&self.source));
        out.push('/');
        letters(&self.flags, true, &mut out);
        if self.flags.no_encoding {
            out.push('n');
        }
        out
    }

    /// `Regexp#to_s`: `(?-mix:...)`. An outer option group of the source is merged.
    pub fn to_s(&self) -> String {
        self.as_group(true)
    }

    /// As [`Regexp::to_s`], for a pattern that this is to be a part of: with bare slashes as they are unless `escapes`.
    pub fn as_group(&self, escapes: bool) -> String {
        let mut flags = self.flags;
        // UTF-16 and UTF-32 are shown as what they say.
        let (wide, enc) = match self.enc.is_ascii_compatible() {
            true => (None, self.enc),
            false => (transcode(self.enc, Encoding::UTF_8, &self.source, &Policy::default()).ok(), Encoding::UTF_8),
        };
        let mut source = wide.as_deref().unwrap_or(&self.source);
        while source.len() >= 4 && source.starts_with(b"(?") {
            match option_group(source, flags) {
                Some((new_flags, rest, true)) => {
                    flags = new_flags;
                    source = rest;
                    continue;
                }
                // `(?i:a)(?i:b)` looks like one group, too: its inside must stand alone.
                Some((new_flags, rest, false)) => {
                    if let Some(inner) = rest.strip_suffix(b")")
                        && Regexp::new(inner, new_flags, enc).is_ok()
                    {
                        flags = new_flags;
                        source = inner;
                        break;
                    }
                }
                None => {}
            }
            // Options that don't cover the whole are left where they are.
            flags = self.flags;
            source = wide.as_deref().unwrap_or(&self.source);
            break;
        }
        let mut out = String::from("(?");
        letters(&flags, true, &mut out);
        if !(flags.multiline && flags.ignore_case && flags.extended) {
            out.push('-');
            letters(&flags, false, &mut out);
        }
        out.push(':');
        out.push_str(&written(source, escapes));
        out.push(')');
        out
    }
}

/// Options that begin `s`: flags, what follows, and whether `)` (rather than `:`) ended them.
fn option_group(s: &[u8], mut flags: RegexFlags) -> Option<(RegexFlags, &[u8], bool)> {
    let s = s.strip_prefix(b"(?")?;
    let mut on = true;
    for (i, &b) in s.iter().enumerate() {
        match b {
            b'm' => flags.multiline = on,
            b'i' => flags.ignore_case = on,
            b'x' => flags.extended = on,
            b'-' if on => on = false,
            b')' if i > 0 => return Some((flags, &s[i + 1..], true)),
            b':' => return Some((flags, &s[i + 1..], false)),
            _ => return None,
        }
    }
    None
}

pub(super) fn letters(flags: &RegexFlags, set: bool, out: &mut String) {
    for (letter, on) in [('m', flags.multiline), ('i', flags.ignore_case), ('x', flags.extended)] {
        if on == set {
            out.push(letter);
        }
    }
}

/// The source between slashes: bare slashes escaped, unprintable characters in hex.
pub(super) fn body(source: &[u8]) -> String {
    written(source, true)
}

fn written(source: &[u8], slashes: bool) -> String {
    let mut out = String::with_capacity(source.len());
    let mut escaped = false;
    for c in utf8::chars(source) {
        match utf8::decode(c) {
            Some((0x2f, _)) if slashes && !escaped => out.push_str("\\/"),
            Some((c, _)) if is_printable(c) || (c < 0x80 && (c as u8).is_ascii_whitespace()) || c == 0x0b => out.extend(char::from_u32(c)),
            Some((c, _)) if c < 0x80 => out.push_str(&format!("\\x{c:02X}")),
            Some((c, _)) => out.push_str(&if c > 0xffff { format!("\\u{{{c:X}}}") } else { format!("\\u{c:04X}") }),
            None => c.iter().for_each(|b| out.push_str(&format!("\\x{b:02X}"))),
        }
        escaped = c == b"\\" && !escaped;
    }
    out
}

/// A pattern in a warning: bare slashes escaped, what can't be seen of ASCII in hex, all else as it is.
pub(super) fn in_warning(pattern: &[u8]) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut escaped = false;
    for c in String::from_utf8_lossy(pattern).chars() {
        match c {
            '/' if !escaped => out.push_str("\\/"),
            c if c.is_ascii_control() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => out.push(c),
        }
        escaped = c == '\\' && !escaped;
    }
    out
}

/// `Regexp.escape`.
pub fn escape(s: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(s.len() + 8);
    for &b in s {
        let letter = match b {
            b'\n' => b'n',
            b'\t' => b't',
            b'\r' => b'r',
            0x0c => b'f',
            0x0b => b'v',
            b'[' | b']' | b'{' | b'}' | b'(' | b')' | b'|' | b'-' | b'*' | b'.' | b'\\' | b'?' | b'+' | b'^' | b'$' | b' ' | b'#' => b,
            _ => {
                out.push(b);
                continue;
            }
        };
        out.extend([b'\\', letter]);
    }
    out
}

/// One operand of [`union`].
pub enum UnionPart<'a> {
    Text(&'a [u8]),
    Regexp(&'a Regexp),
}

/// Source of `Regexp.union(parts)` for other than one Regexp (which is returned as it is).
pub fn union(parts: &[UnionPart<'_>]) -> Vec<u8> {
    if parts.is_empty() {
        return b"(?!)".to_vec();
    }
    let sources: Vec<Vec<u8>> = parts
        .iter()
        .map(|p| match p {
            UnionPart::Text(t) => escape(t),
            UnionPart::Regexp(r) => r.to_s().into_bytes(),
        })
        .collect();
    sources.join(&b'|')
}

/// Encoding in which a union of `parts` compiles.
pub fn union_encoding(parts: &[UnionPart<'_>]) -> Encoding {
    let fixed = parts.iter().find_map(|p| match p {
        UnionPart::Regexp(r) if r.is_fixed_encoding() => Some(r.encoding()),
        _ => None,
    });
    fixed.unwrap_or(Encoding::UTF_8)
}
