//! Bytes to character codes and back, for each family of encodings.
//!
//! Invariants: every byte sequence splits into characters; what is none counts as [`BROKEN`], as long as the encoding steps over. Nothing reads
//! outside the text.
//! Rejected: a trait object per encoding (a call for each character); one decoder that asks for the encoding (a branch for each).

use crate::encoding::{Encoding, utf8};

/// The code of bytes that are no character: in every negated class and under every dot, in nothing else.
pub const BROKEN: u32 = super::ranges::MAX;

/// How a program reads its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    Utf8,
    Single,
    Multi(Encoding),
}

impl Coding {
    pub fn of(enc: Encoding) -> Coding {
        if enc.is_single_byte() || enc.is_dummy() {
            Coding::Single
        } else if utf8_like(enc) {
            Coding::Utf8
        } else {
            Coding::Multi(enc)
        }
    }
}

/// UTF-8 and what is its like (UTF8-MAC).
pub fn utf8_like(enc: Encoding) -> bool {
    enc.is_unicode() && enc.is_ascii_compatible()
}

pub trait Codec: Copy {
    /// Code and length of the character at `at`, which is inside.
    fn decode(self, s: &[u8], at: usize) -> (u32, usize);
    /// Its length alone.
    fn len(self, s: &[u8], at: usize) -> usize;
    /// Where the character before `at` begins; `at` is not 0.
    fn prev(self, s: &[u8], at: usize) -> usize;
}

#[derive(Clone, Copy)]
pub struct Utf8;

impl Codec for Utf8 {
    #[inline(always)]
    fn decode(self, s: &[u8], at: usize) -> (u32, usize) {
        match s[at] {
            b if b < 0x80 => (u32::from(b), 1),
            _ => utf8::decode(&s[at..]).unwrap_or((BROKEN, 1)),
        }
    }
    #[inline(always)]
    fn len(self, s: &[u8], at: usize) -> usize {
        utf8::char_len(&s[at..])
    }
    #[inline(always)]
    fn prev(self, s: &[u8], at: usize) -> usize {
        if s[at - 1] < 0x80 { at - 1 } else { utf8::prev_char(s, at) }
    }
}

#[derive(Clone, Copy)]
pub struct Single;

impl Codec for Single {
    #[inline(always)]
    fn decode(self, s: &[u8], at: usize) -> (u32, usize) {
        (u32::from(s[at]), 1)
    }
    #[inline(always)]
    fn len(self, _: &[u8], _: usize) -> usize {
        1
    }
    #[inline(always)]
    fn prev(self, _: &[u8], at: usize) -> usize {
        at - 1
    }
}

#[derive(Clone, Copy)]
pub struct Multi(pub Encoding);

impl Codec for Multi {
    fn decode(self, s: &[u8], at: usize) -> (u32, usize) {
        match self.0.char_len(&s[at..]) {
            Ok(n) => (self.0.ord(&s[at..at + n]).unwrap_or(BROKEN), n),
            Err(n) => (BROKEN, n.clamp(1, s.len() - at)),
        }
    }
    fn len(self, s: &[u8], at: usize) -> usize {
        self.0.char_len(&s[at..]).unwrap_or_else(|n| n).clamp(1, s.len() - at)
    }
    fn prev(self, s: &[u8], at: usize) -> usize {
        // From the last place where a character is known to begin: behind a byte that ends one in every encoding.
        let mut from = 0;
        if self.0.is_ascii_compatible() {
            from = s[..at - 1].iter().rposition(|&b| b < 0x30).map_or(0, |n| n + 1);
        }
        loop {
            let next = from + self.len(s, from);
            if next >= at {
                return from;
            }
            from = next;
        }
    }
}
