//! Encodings: identity and nature of each, and the algorithms over their bytes.
//!
//! Invariants: an [`Encoding`] is one byte, equal in every VM; 0, 1, 2 are BINARY, UTF-8, US-ASCII. Bytes never have to be valid.
//! Rejected: a trait object per encoding (a String cell stores one byte, and the three common ones are matched inline).

pub mod case;
mod charset;
mod emoji;
pub mod inspect;
pub mod letters;
mod multibyte;
pub mod printable;
mod single;
pub mod stream;
#[cfg(test)]
mod stream_tests;
mod table;
pub mod transcode;
pub mod utf8;

#[cfg(test)]
mod tests;

pub use utf8::CodeRange;

/// Id of an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Encoding(u8);

/// One row of the table.
pub(crate) struct Info {
    name: &'static str,
    aliases: &'static [&'static str],
    dummy: bool,
    ascii_compatible: bool,
    kind: Kind,
}

/// How bytes form characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Binary,
    Ascii,
    Utf8,
    Utf16 { big: bool },
    Utf32 { big: bool },
    Latin1,
    Single(usize),
    Multi(Multi),
    Unmapped,
}

/// The two ways to write JIS X 0208 without a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JisForm {
    Euc,
    Shift,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Multi {
    EucJp,
    EucJpMs,
    Cp51932,
    ShiftJis,
    Windows31J,
    Gbk,
    Gb18030,
    Gb2312,
    Big5,
    Cp950,
    Big5Hkscs,
    Big5Uao,
    EucKr,
    Cp949,
    /// Each has a state: a character's bytes mean what the last escape sequence says.
    Iso2022Jp,
    Cp50220,
    Cp50221,
    /// The characters of ISO-2022-JP behind a byte each that says which set they are of.
    StatelessJp,
    /// KDDI's mails: JIS with Microsoft's and its own signs, and the same without a state.
    Iso2022JpKddi,
    StatelessKddi,
    /// Windows-31J with signs of DoCoMo, KDDI or SoftBank in its private rows.
    SjisDoCoMo,
    SjisKddi,
    SjisSoftBank,
    /// UTF-8 of the halves of UTF-16.
    Cesu8,
    /// EBCDIC.
    Ibm037,
    /// Known by the lengths of their characters only.
    EucTw,
    EucJis2004,
}

impl Encoding {
    pub const BINARY: Encoding = Encoding(0);
    pub const UTF_8: Encoding = Encoding(1);
    pub const US_ASCII: Encoding = Encoding(2);
    pub const UTF_16LE: Encoding = Encoding(3);
    pub const UTF_16BE: Encoding = Encoding(4);
    pub const UTF_32LE: Encoding = Encoding(5);
    pub const UTF_32BE: Encoding = Encoding(6);
    pub const UTF_16: Encoding = Encoding(7);
    pub const UTF_32: Encoding = Encoding(8);
    pub const ISO_8859_1: Encoding = Encoding(9);

    pub fn from_id(id: u8) -> Option<Encoding> {
        ((id as usize) < table::TABLE.len()).then_some(Encoding(id))
    }

    pub fn id(self) -> u8 {
        self.0
    }

    pub fn all() -> impl Iterator<Item = Encoding> {
        (0..table::TABLE.len()).map(|i| Encoding(i as u8))
    }

    fn info(self) -> &'static Info {
        &table::TABLE[self.0 as usize]
    }

    pub(crate) fn kind(self) -> Kind {
        self.info().kind
    }

    pub fn name(self) -> &'static str {
        self.info().name
    }

    pub fn aliases(self) -> &'static [&'static str] {
        self.info().aliases
    }

    pub fn is_ascii_compatible(self) -> bool {
        self.info().ascii_compatible
    }

    pub fn is_dummy(self) -> bool {
        self.info().dummy
    }

    /// A UTF: code points are Unicode's.
    pub fn is_unicode(self) -> bool {
        matches!(self.kind(), Kind::Utf8 | Kind::Utf16 { .. } | Kind::Utf32 { .. } | Kind::Multi(Multi::Cesu8))
    }

    /// How the rows of JIS X 0208 are written, where they are.
    pub fn jis_form(self) -> Option<JisForm> {
        match self.kind() {
            Kind::Multi(Multi::EucJp | Multi::EucJpMs | Multi::Cp51932) => Some(JisForm::Euc),
            Kind::Multi(Multi::ShiftJis | Multi::Windows31J | Multi::SjisDoCoMo | Multi::SjisKddi | Multi::SjisSoftBank) => {
                Some(JisForm::Shift)
            }
            _ => None,
        }
    }

    /// Every byte is a character.
    pub fn is_single_byte(self) -> bool {
        matches!(self.kind(), Kind::Binary | Kind::Ascii | Kind::Latin1 | Kind::Single(_) | Kind::Unmapped)
    }

    /// By name or alias, ignoring ASCII case. (`locale`, `external`, `filesystem`, `internal` are the VM's business.)
    pub fn find(name: &[u8]) -> Option<Encoding> {
        let is = |n: &str| n.as_bytes().eq_ignore_ascii_case(name);
        table::TABLE.iter().position(|i| is(i.name) || i.aliases.iter().any(|a| is(a))).map(|i| Encoding(i as u8))
    }

    /// Bytes of the character at the start of nonempty `s`; Err with the bytes to step over when it is broken.
    pub fn char_len(self, s: &[u8]) -> Result<usize, usize> {
        let b = s[0];
        let unit = |n: usize, whole: bool| if whole { Ok(n) } else { Err(n.min(s.len())) };
        match self.kind() {
            Kind::Binary | Kind::Latin1 | Kind::Single(_) | Kind::Unmapped => Ok(1),
            Kind::Ascii => {
                if b < 0x80 {
                    Ok(1)
                } else {
                    Err(1)
                }
            }
            Kind::Utf8 => utf8::decode(s).map(|(_, n)| n).ok_or(1),
            // Without a byte order there are no characters.
            Kind::Utf16 { .. } | Kind::Utf32 { .. } if self.is_dummy() => Ok(1),
            Kind::Utf16 { big } => {
                let read = |i: usize| {
                    s.get(i..i + 2).map(|w| if big { u16::from_be_bytes([w[0], w[1]]) } else { u16::from_le_bytes([w[0], w[1]]) })
                };
                match read(0) {
                    Some(0xd800..=0xdbff) => match read(2) {
                        Some(0xdc00..=0xdfff) => Ok(4),
                        _ => Err(2),
                    },
                    Some(0xdc00..=0xdfff) => Err(2),
                    other => unit(2, other.is_some()),
                }
            }
            Kind::Utf32 { big } => match s.get(..4) {
                Some(w) => {
                    let w = [w[0], w[1], w[2], w[3]];
                    let c = if big { u32::from_be_bytes(w) } else { u32::from_le_bytes(w) };
                    unit(4, char::from_u32(c).is_some())
                }
                None => Err(s.len()),
            },
            Kind::Multi(m) => multi_len(m, s),
        }
    }

    /// The last beginning of a character at or before byte `at`, or the end. Looked for from close by: behind a byte that ends a character wherever it stands.
    pub fn char_start(self, s: &[u8], at: usize) -> usize {
        let at = at.min(s.len());
        let mut start = match self.kind() {
            Kind::Utf16 { .. } | Kind::Utf32 { .. } if self.is_dummy() => at,
            Kind::Utf16 { .. } => {
                let even = at & !1;
                if even >= 2 && self.char_len(&s[even - 2..]) == Ok(4) { even - 2 } else { even }
            }
            Kind::Utf32 { .. } => at & !3,
            Kind::Utf8 => {
                let spans = |start: &usize| utf8::decode(&s[*start..]).is_some_and(|(_, n)| start + n > at);
                (at.saturating_sub(3)..at).find(spans).unwrap_or(at)
            }
            Kind::Multi(m) => {
                let ends = |b: &u8| *b < 0x80 && !(m == Multi::Gb18030 && b.is_ascii_digit());
                s[..at].iter().rposition(ends).map_or(0, |i| i + 1)
            }
            _ => at,
        };
        while start < at {
            let next = start + self.char_len(&s[start..]).unwrap_or_else(|n| n).clamp(1, s.len() - start);
            if next > at {
                break;
            }
            start = next;
        }
        start
    }

    pub fn code_range(self, s: &[u8]) -> CodeRange {
        if self.kind() == Kind::Utf8 {
            return utf8::code_range(s);
        }
        if self.is_ascii_compatible() && s.is_ascii() {
            return CodeRange::SevenBit;
        }
        // With a charset that is known when this is compiled.
        let is_valid = match self.kind() {
            Kind::Multi(Multi::ShiftJis | Multi::Windows31J) => is_walked(s, |s| multi_len_of(Multi::ShiftJis, s)),
            Kind::Multi(Multi::EucJp | Multi::EucJpMs | Multi::Cp51932) => is_walked(s, |s| multi_len_of(Multi::EucJp, s)),
            Kind::Multi(Multi::Gbk) => is_walked(s, |s| multi_len_of(Multi::Gbk, s)),
            Kind::Multi(Multi::Big5) => is_walked(s, |s| multi_len_of(Multi::Big5, s)),
            Kind::Multi(Multi::EucKr) => is_walked(s, |s| multi_len_of(Multi::EucKr, s)),
            _ => is_walked(s, |s| self.char_len(s)),
        };
        if is_valid { CodeRange::Valid } else { CodeRange::Broken }
    }

    pub fn is_valid(self, s: &[u8]) -> bool {
        self.code_range(s) != CodeRange::Broken
    }

    /// Every character has four bytes.
    fn is_four_byte(self) -> bool {
        matches!(self.kind(), Kind::Utf32 { .. }) && !self.is_dummy()
    }

    pub fn char_count(self, s: &[u8]) -> usize {
        match self.kind() {
            Kind::Utf8 => utf8::char_count(s),
            _ if self.is_single_byte() => s.len(),
            _ if self.is_four_byte() => s.len().div_ceil(4),
            _ => self.chars(s).count(),
        }
    }

    /// Byte offset of character `n`; the length for n = count; None beyond.
    pub fn byte_offset(self, s: &[u8], n: usize) -> Option<usize> {
        if self.kind() == Kind::Utf8 {
            return utf8::byte_offset(s, n);
        }
        if self.is_single_byte() {
            return (n <= s.len()).then_some(n);
        }
        // A broken character is four bytes too, or what is left.
        if self.is_four_byte() {
            return (n <= s.len().div_ceil(4)).then(|| (n * 4).min(s.len()));
        }
        let mut at = 0;
        for _ in 0..n {
            if at >= s.len() {
                return None;
            }
            at += self.char_len(&s[at..]).unwrap_or_else(|n| n);
        }
        Some(at)
    }

    /// Characters as byte slices; broken ones as the bytes to step over.
    pub fn chars(self, s: &[u8]) -> Chars<'_> {
        Chars { enc: self, rest: s }
    }

    /// Code point (`String#ord`) of the valid character `c`: Unicode for UTFs, else its bytes as a big-endian number.
    pub fn ord(self, c: &[u8]) -> Option<u32> {
        if c.is_empty() {
            return None;
        }
        match self.kind() {
            Kind::Utf8 => utf8::decode(c).map(|(c, _)| c),
            Kind::Utf16 { .. } | Kind::Utf32 { .. } if !self.is_dummy() => transcode::decode_char(self, c),
            Kind::Multi(Multi::Cesu8) => transcode::decode_char(self, c),
            _ => self.char_len(c).is_ok().then(|| c.iter().fold(0, |v, &b| v << 8 | b as u32)),
        }
    }

    /// The code point of the character that nonempty `s` begins with, and its length; None when that is broken.
    pub fn first(self, s: &[u8]) -> Option<(u32, usize)> {
        if let Kind::Multi(m) = self.kind()
            && m != Multi::Cesu8
        {
            let n = multi_len(m, s).ok()?;
            return Some((s[..n].iter().fold(0, |v, b| v << 8 | u32::from(*b)), n));
        }
        let n = self.char_len(s).ok()?;
        self.ord(&s[..n]).map(|c| (c, n))
    }

    /// Bytes of code point `c` (`Integer#chr`); false when it has none: RangeError `invalid codepoint 0x.. in ..` or `.. out of char range`.
    pub fn encode(self, c: u32, out: &mut Vec<u8>) -> bool {
        match self.kind() {
            Kind::Utf8 => utf8::encode(c, out),
            Kind::Utf16 { .. } | Kind::Utf32 { .. } | Kind::Multi(Multi::Cesu8) => {
                char::from_u32(c).is_some_and(|c| transcode::encode_char(self, c, out))
            }
            kind => {
                let bytes = c.to_be_bytes();
                let from = (c.leading_zeros() as usize / 8).min(3);
                let ok = self.char_len(&bytes[from..]) == Ok(4 - from) && (kind != Kind::Ascii || c < 0x80);
                if ok {
                    out.extend_from_slice(&bytes[from..]);
                }
                ok
            }
        }
    }
}

pub struct Chars<'a> {
    enc: Encoding,
    rest: &'a [u8],
}

impl<'a> Iterator for Chars<'a> {
    type Item = &'a [u8];
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let n = self.enc.char_len(self.rest).unwrap_or_else(|n| n).clamp(1, self.rest.len());
        let (c, rest) = self.rest.split_at(n);
        self.rest = rest;
        Some(c)
    }
}

/// The first character of a text in CESU-8, and its length.
pub(super) fn cesu8(s: &[u8]) -> Option<(u32, usize)> {
    let trail = |i: usize| s.get(i).filter(|b| **b & 0xc0 == 0x80).map(|b| (b & 0x3f) as u32);
    match s[0] {
        b @ 0..=0x7f => Some((b as u32, 1)),
        b @ 0xc2..=0xdf => Some(((b as u32 & 0x1f) << 6 | trail(1)?, 2)),
        b @ 0xe0..=0xef => {
            let c = (b as u32 & 0x0f) << 12 | trail(1)? << 6 | trail(2)?;
            match c {
                0..=0x7ff | 0xdc00..=0xdfff => None,
                0xd800..=0xdbff if s.get(3) == Some(&0xed) => {
                    let low = 0xd000 | trail(4)? << 6 | trail(5)?;
                    (low >= 0xdc00).then_some((0x10000 + ((c & 0x3ff) << 10 | low & 0x3ff), 6))
                }
                0xd800..=0xdbff => None,
                c => Some((c, 3)),
            }
        }
        _ => None,
    }
}

fn multi_len(m: Multi, s: &[u8]) -> Result<usize, usize> {
    multi_len_of(m, s)
}

/// Whether characters follow one another up to the end.
#[inline(always)]
fn is_walked(mut s: &[u8], length: impl Fn(&[u8]) -> Result<usize, usize>) -> bool {
    while !s.is_empty() {
        match length(s) {
            Ok(n) => s = &s[n..],
            Err(_) => return false,
        }
    }
    true
}

/// The second byte of a character of Big5 and what was made of it.
fn is_big5_second(b: u8) -> bool {
    matches!(b, 0x40..=0x7e | 0xa1..=0xfe)
}

/// Length of the character that nonempty `s` begins with, for conversions: these know rows of Big5 that are no characters of a String.
fn converted_len(e: Encoding, m: Multi, s: &[u8]) -> Result<usize, usize> {
    let of_big5 = matches!(m, Multi::Big5 | Multi::Cp950 | Multi::Big5Hkscs | Multi::Big5Uao);
    if of_big5 && matches!(s, [0x81..=0xa0, second, ..] if is_big5_second(*second)) {
        return Ok(2);
    }
    e.char_len(s)
}

#[inline(always)]
fn multi_len_of(m: Multi, s: &[u8]) -> Result<usize, usize> {
    let b = s[0];
    if m == Multi::Ibm037 {
        return Ok(1);
    }
    if b < 0x80 {
        return Ok(1);
    }
    let second = |ok: fn(u8) -> bool| if s.get(1).is_some_and(|&t| ok(t)) { Ok(2) } else { Err(1) };
    match m {
        Multi::EucJp | Multi::EucJpMs | Multi::Cp51932 => match b {
            0x8e => second(|t| (0xa1..=0xfe).contains(&t)),
            0x8f if s.len() >= 3 && s[1] >= 0xa1 && s[2] >= 0xa1 && s[1] < 0xff && s[2] < 0xff => Ok(3),
            0xa1..=0xfe => second(|t| (0xa1..=0xfe).contains(&t)),
            _ => Err(1),
        },
        Multi::ShiftJis | Multi::Windows31J | Multi::SjisDoCoMo | Multi::SjisKddi | Multi::SjisSoftBank => match b {
            0xa1..=0xdf => Ok(1),
            0x81..=0x9f | 0xe0..=0xfc => second(|t| matches!(t, 0x40..=0x7e | 0x80..=0xfc)),
            _ => Err(1),
        },
        Multi::Big5 | Multi::Cp950 | Multi::Big5Hkscs | Multi::Big5Uao => match b {
            0xa1..=0xfe => second(is_big5_second),
            _ => Err(1),
        },
        Multi::Gbk => match b {
            0x80 => Ok(1),
            0x81..=0xfe => second(|t| matches!(t, 0x40..=0x7e | 0x80..=0xfe)),
            _ => Err(1),
        },
        Multi::Cp949 => match b {
            0x80 => Ok(1),
            0x81..=0xfe => second(|t| matches!(t, 0x41..=0x5a | 0x61..=0x7a | 0x81..=0xfe)),
            _ => Err(1),
        },
        Multi::EucKr | Multi::Gb2312 => match b {
            0xa1..=0xfe => second(|t| (0xa1..=0xfe).contains(&t)),
            _ => Err(1),
        },
        Multi::Gb18030 => match (b, s.get(1)) {
            (0x81..=0xfe, Some(0x30..=0x39)) => match (s.get(2), s.get(3)) {
                (Some(0x81..=0xfe), Some(0x30..=0x39)) => Ok(4),
                _ => Err(1),
            },
            (0x81..=0xfe, Some(0x40..=0x7e | 0x80..=0xfe)) => Ok(2),
            _ => Err(1),
        },
        Multi::EucJis2004 => multi_len(Multi::EucJp, s),
        Multi::EucTw => match b {
            0x8e if matches!(s, [_, 0xa1..=0xb0, 0xa1..=0xfe, 0xa1..=0xfe, ..]) => Ok(4),
            0xa1..=0xfe => second(|t| (0xa1..=0xfe).contains(&t)),
            _ => Err(1),
        },
        Multi::StatelessJp | Multi::StatelessKddi => match s {
            [0x90 | 0x92, 0xa1..=0xfe, 0xa1..=0xfe, ..] => Ok(3),
            _ => Err(1),
        },
        Multi::Cesu8 => cesu8(s).map(|c| c.1).ok_or(1),
        Multi::Iso2022Jp | Multi::Iso2022JpKddi | Multi::Cp50220 | Multi::Cp50221 | Multi::Ibm037 => Err(1),
    }
}
