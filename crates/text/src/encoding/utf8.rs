//! UTF-8 over bytes that may be broken: validity, character walks, counts.
//!
//! Invariant: every byte sequence splits into characters; a byte that starts no valid character is a character of its own,
//! as in CRuby. Surrogates and values above U+10FFFF are broken.
//! Rejected: `str` based code (broken Strings are ordinary in Ruby) and counting by lead bytes alone (wrong for broken ones).

/// What a String's bytes are, as CRuby's code range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeRange {
    SevenBit,
    Valid,
    Broken,
}

pub fn is_valid(s: &[u8]) -> bool {
    std::str::from_utf8(s).is_ok()
}

pub fn code_range(s: &[u8]) -> CodeRange {
    if s.is_ascii() {
        CodeRange::SevenBit
    } else if is_valid(s) {
        CodeRange::Valid
    } else {
        CodeRange::Broken
    }
}

/// Length and code point of the valid character at the start of `s`; None for a broken or missing one.
pub fn decode(s: &[u8]) -> Option<(u32, usize)> {
    let b0 = *s.first()? as u32;
    let tail = |i: usize| s.get(i).filter(|&&b| b & 0xc0 == 0x80).map(|&b| b as u32 & 0x3f);
    match b0 {
        0..=0x7f => Some((b0, 1)),
        0xc2..=0xdf => Some(((b0 & 0x1f) << 6 | tail(1)?, 2)),
        0xe0..=0xef => {
            let c = (b0 & 0xf) << 12 | tail(1)? << 6 | tail(2)?;
            (c >= 0x800 && !(0xd800..0xe000).contains(&c)).then_some((c, 3))
        }
        0xf0..=0xf4 => {
            let c = (b0 & 7) << 18 | tail(1)? << 12 | tail(2)? << 6 | tail(3)?;
            (0x10000..0x110000).contains(&c).then_some((c, 4))
        }
        _ => None,
    }
}

/// Bytes of the first character of nonempty `s`; a broken byte counts as one.
#[inline]
pub fn char_len(s: &[u8]) -> usize {
    if s[0] < 0x80 { 1 } else { decode(s).map_or(1, |(_, n)| n) }
}

/// Number of characters.
pub fn char_count(s: &[u8]) -> usize {
    // Lead bytes (all but 10xxxxxx) of valid text; the loop vectorizes.
    if is_valid(s) {
        return s.iter().map(|&b| ((b as i8) >= -0x40) as usize).sum();
    }
    chars(s).count()
}

/// Byte offset of character `n` (its length in bytes when `n` is the count); None beyond.
pub fn byte_offset(s: &[u8], n: usize) -> Option<usize> {
    let mut at = 0;
    let mut left = n;
    while left > 0 {
        // Whole words of ASCII at once.
        if left >= 8
            && let Some(word) = s.get(at..at + 8)
            && u64::from_le_bytes([word[0], word[1], word[2], word[3], word[4], word[5], word[6], word[7]]) & 0x8080_8080_8080_8080 == 0
        {
            at += 8;
            left -= 8;
            continue;
        }
        if at >= s.len() {
            return None;
        }
        at += char_len(&s[at..]);
        left -= 1;
    }
    Some(at)
}

/// Start of the character that ends before byte `at` (> 0).
pub fn prev_char(s: &[u8], at: usize) -> usize {
    for back in 2..=4.min(at) {
        let start = at - back;
        if s[start] >= 0xc2 && decode(&s[start..at]).is_some_and(|(_, n)| n == back) {
            return start;
        }
    }
    at - 1
}

/// Is byte `at` the start of a character (or the end)?
pub fn is_boundary(s: &[u8], at: usize) -> bool {
    if at == 0 || at >= s.len() {
        return at <= s.len();
    }
    if s[at] & 0xc0 != 0x80 {
        return true;
    }
    // A continuation byte is inside a character only if a valid one spans it.
    (1..=3.min(at)).all(|back| decode(&s[at - back..]).is_none_or(|(_, n)| n <= back))
}

/// Characters as byte slices; broken bytes one by one.
pub fn chars(s: &[u8]) -> Chars<'_> {
    Chars { rest: s }
}

#[derive(Clone)]
pub struct Chars<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Chars<'a> {
    type Item = &'a [u8];
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let (c, rest) = self.rest.split_at(char_len(self.rest));
        self.rest = rest;
        Some(c)
    }
}

/// Appends code point `c` (also surrogates' range is refused); false when it has no UTF-8 form.
pub fn encode(c: u32, out: &mut Vec<u8>) -> bool {
    match char::from_u32(c) {
        Some(c) => {
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            true
        }
        None => false,
    }
}
