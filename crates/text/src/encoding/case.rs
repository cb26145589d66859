//! Case mapping of UTF-8 text with Unicode's full mappings, as `String#upcase` and friends.
//!
//! Broken bytes pass unchanged. As in CRuby, the final sigma is not treated (`"ΑΣ".downcase` is `"ασ"`).
//! Rejected: an own case table (std's follows Unicode; title case differs from upper case for few characters only).

use super::utf8;
use zakuro_base::progress::{Pace, Progress, STRIDE, Stopped};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseOp {
    Up,
    Down,
    Capitalize,
    Swap,
    /// `downcase(:fold)`
    Fold,
}

/// Options of the case methods (`:lithuanian` has no effect, as in CRuby).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaseOptions {
    pub ascii: bool,
    pub turkic: bool,
}

/// Maps `s` (UTF-8, or with `ascii` any ASCII-compatible single-byte text).
pub fn map(s: &[u8], op: CaseOp, options: CaseOptions, p: &mut dyn Progress) -> Result<Vec<u8>, Stopped> {
    let mut out = Vec::with_capacity(s.len());
    if options.ascii || (s.is_ascii() && !options.turkic) {
        let mut op = op;
        for (at, part) in s.chunks(STRIDE).enumerate() {
            let from = out.len();
            out.extend_from_slice(part);
            if at > 0 {
                p.poll()?;
                op = if op == CaseOp::Capitalize { CaseOp::Down } else { op };
            }
            ascii(&mut out[from..], op);
        }
        return Ok(out);
    }
    let (mut at, mut pace) = (0, Pace::new());
    while at < s.len() {
        pace.at(at, p)?;
        let op = match op {
            CaseOp::Capitalize if at > 0 => CaseOp::Down,
            op => op,
        };
        if !options.turkic {
            let from = out.len();
            if s[at] < 0x80 {
                out.push(s[at]);
                ascii(&mut out[from..], op);
                at += 1;
                continue;
            }
            if let [a @ 0xc3..=0xd1, b @ 0x80..=0xbf, ..] = s[at..]
                && let Some(c) = simple((a as u32 & 31) << 6 | b as u32 & 63, op)
            {
                out.extend_from_slice(&[0xc0 | (c >> 6) as u8, 0x80 | (c & 63) as u8]);
                at += 2;
                continue;
            }
        }
        let Some(c) = utf8::chars(&s[at..]).next() else { break };
        at += c.len();
        match utf8::decode(c).and_then(|(c, _)| char::from_u32(c)) {
            Some(c) => one(c, op, options.turkic, &mut out),
            None => out.extend_from_slice(c),
        }
    }
    Ok(out)
}

/// The mapping of a letter of U+00C0 to U+00FF, of Greek and of Cyrillic that has one of the same length in UTF-8 in each direction; None for all other characters.
/// (The tables of the standard library are searched, which takes several times as long.)
fn simple(c: u32, op: CaseOp) -> Option<u32> {
    let (upper, lower) = match c {
        0xc0..=0xd6 | 0xd8..=0xde => (c, c + 32),
        0xe0..=0xf6 | 0xf8..=0xfe => (c - 32, c),
        0x391..=0x3a1 | 0x3a3..=0x3a9 => (c, c + 32),
        0x3b1..=0x3c1 | 0x3c3..=0x3c9 => (c - 32, c),
        0x400..=0x40f => (c, c + 80),
        0x410..=0x42f => (c, c + 32),
        0x430..=0x44f => (c - 32, c),
        0x450..=0x45f => (c - 80, c),
        _ => return None,
    };
    Some(match op {
        CaseOp::Up | CaseOp::Capitalize => upper,
        CaseOp::Down | CaseOp::Fold => lower,
        CaseOp::Swap => upper + lower - c,
    })
}

/// Maps letters of ASCII in place.
pub fn ascii(s: &mut [u8], op: CaseOp) {
    match op {
        CaseOp::Up => s.make_ascii_uppercase(),
        CaseOp::Down | CaseOp::Fold => s.make_ascii_lowercase(),
        CaseOp::Capitalize => {
            s.make_ascii_lowercase();
            if let Some(c) = s.first_mut() {
                c.make_ascii_uppercase();
            }
        }
        CaseOp::Swap => s.iter_mut().filter(|c| c.is_ascii_alphabetic()).for_each(|c| *c ^= 32),
    }
}

fn push(out: &mut Vec<u8>, c: char) {
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

fn one(c: char, op: CaseOp, turkic: bool, out: &mut Vec<u8>) {
    match op {
        CaseOp::Up if turkic && c == 'i' => push(out, 'İ'),
        CaseOp::Capitalize if turkic && c == 'i' => push(out, 'İ'),
        CaseOp::Down | CaseOp::Fold if turkic && c == 'I' => push(out, 'ı'),
        CaseOp::Down | CaseOp::Fold if turkic && c == 'İ' => push(out, 'i'),
        CaseOp::Swap if turkic && matches!(c, 'i' | 'I' | 'İ') => one(c, if c == 'i' { CaseOp::Up } else { CaseOp::Down }, true, out),
        CaseOp::Up => c.to_uppercase().for_each(|c| push(out, c)),
        CaseOp::Down => c.to_lowercase().for_each(|c| push(out, c)),
        CaseOp::Capitalize => title(c, out),
        CaseOp::Swap => {
            // Title-case characters have both cases in them: each half is swapped.
            if let Some(i) = ['ǅ', 'ǈ', 'ǋ', 'ǲ'].iter().position(|&t| t == c) {
                out.extend_from_slice(["dŽ", "lJ", "nJ", "dZ"][i].as_bytes());
            } else if matches!(c as u32, 0x1f88..=0x1f8f | 0x1f98..=0x1f9f | 0x1fa8..=0x1faf | 0x1fbc | 0x1fcc | 0x1ffc) {
                let mut halves = c.to_lowercase().flat_map(char::to_uppercase);
                halves.next().into_iter().flat_map(char::to_lowercase).for_each(|c| push(out, c));
                halves.for_each(|c| push(out, c));
            } else if c.is_lowercase() {
                c.to_uppercase().for_each(|c| push(out, c));
            } else {
                c.to_lowercase().for_each(|c| push(out, c));
            }
        }
        CaseOp::Fold => match c {
            'ı' => push(out, c),
            'ẞ' => out.extend_from_slice(b"ss"),
            '\u{13a0}'..='\u{13f5}' => push(out, c),
            '\u{ab70}'..='\u{abbf}' | '\u{13f8}'..='\u{13fd}' => c.to_uppercase().for_each(|c| push(out, c)),
            'İ' => c.to_lowercase().for_each(|c| push(out, c)),
            _ => c.to_uppercase().flat_map(char::to_lowercase).for_each(|c| push(out, c)),
        },
    }
}

/// Title case: the first character upper, the rest of a full mapping lower, but for characters with own title forms.
fn title(c: char, out: &mut Vec<u8>) {
    let own = match c as u32 {
        0x1c4..=0x1c6 => 0x1c5,
        0x1c7..=0x1c9 => 0x1c8,
        0x1ca..=0x1cc => 0x1cb,
        0x1f1..=0x1f3 => 0x1f2,
        // Georgian has capitals, but writes no titles with them.
        n @ (0x10d0..=0x10fa | 0x10fd..=0x10ff) => n,
        n @ (0x1c90..=0x1cba | 0x1cbd..=0x1cbf) => n - 0xbc0,
        n @ (0x1f80..=0x1faf) => n | 8,
        n @ (0x1fb3 | 0x1fc3 | 0x1ff3) => n + 9,
        n @ (0x1fbc | 0x1fcc | 0x1ffc) => n,
        _ => 0,
    };
    if own != 0 {
        if let Some(c) = char::from_u32(own) {
            push(out, c);
        }
        return;
    }
    let mut upper = c.to_uppercase();
    if c == 'ŉ' {
        upper.for_each(|c| push(out, c));
        return;
    }
    if let Some(c) = upper.next() {
        push(out, c);
    }
    for c in upper {
        match c {
            // An iota subscript stays one behind a capital that has no own form.
            'Ι' if is_iota_subscripted(out) => push(out, '\u{345}'),
            c if matches!(c, '\u{300}'..='\u{36f}') => push(out, c),
            c => c.to_lowercase().for_each(|c| push(out, c)),
        }
    }
}

fn is_iota_subscripted(out: &[u8]) -> bool {
    // Only Greek capitals (with or without accents) lead such mappings.
    let at = if out.is_empty() { return false } else { utf8::prev_char(out, out.len()) };
    matches!(utf8::decode(&out[at..]), Some((0x300..=0x3ff | 0x1f00..=0x1fff, _)))
}
