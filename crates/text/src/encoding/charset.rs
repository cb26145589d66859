//! Charsets of two and three bytes that no engine has: their characters as texts, a row a line.
//!
//! A line is the bytes in front of the last one (hexadecimal), the last byte of the first character and the characters from there on; U+FFFD stands for
//! none. Read once in a process, which takes a millisecond. Rejected: tables of numbers (ten times the size, and nobody can read them).

use super::{Encoding, Kind, Multi};
use std::sync::OnceLock;

pub(super) struct Charset {
    /// Sorted by code.
    by_code: Vec<(u32, char)>,
    /// Sorted by character. Of two places that have one, the first is written.
    by_char: Vec<(char, u32)>,
}

/// Bytes of a character as one number.
fn code(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |n, b| n << 8 | *b as u32)
}

impl Charset {
    /// That of an encoding which is kept as a text.
    pub(super) fn of(e: Encoding) -> Option<&'static Charset> {
        static CHARSETS: [OnceLock<Charset>; 3] = [const { OnceLock::new() }; 3];
        let (at, text) = match e.kind() {
            Kind::Multi(Multi::EucJis2004) => (0, include_str!("jis2004.txt")),
            Kind::Multi(Multi::Big5Hkscs) => (1, include_str!("big5-hkscs.txt")),
            Kind::Multi(Multi::Big5Uao) => (2, include_str!("big5-uao.txt")),
            _ => return None,
        };
        // The process's, whichever VM comes first.
        Some(CHARSETS[at].get_or_init(|| zakuro_base::memory::going_on(|| Charset::read(text))))
    }

    fn read(text: &str) -> Charset {
        let mut by_code = Vec::new();
        for line in text.lines() {
            let mut parts = line.splitn(3, ' ');
            let (Some(row), Some(first), Some(cells)) = (parts.next(), parts.next(), parts.next()) else { continue };
            let (Ok(row), Ok(first)) = (u32::from_str_radix(row, 16), u32::from_str_radix(first, 16)) else { continue };
            let codes = (row << 8 | first)..;
            by_code.extend(codes.zip(cells.chars()).filter(|c| c.1 != '\u{fffd}'));
        }
        by_code.sort_unstable();
        let mut by_char: Vec<_> = by_code.iter().map(|(code, c)| (*c, *code)).collect();
        by_char.sort_unstable();
        by_char.dedup_by_key(|p| p.0);
        Charset { by_code, by_char }
    }

    pub(super) fn decode(&self, bytes: &[u8]) -> Option<char> {
        let code = code(bytes);
        self.by_code.binary_search_by_key(&code, |p| p.0).ok().map(|i| self.by_code[i].1)
    }

    pub(super) fn encode(&self, c: char, out: &mut Vec<u8>) -> bool {
        let Ok(i) = self.by_char.binary_search_by_key(&c, |p| p.0) else { return false };
        let code = self.by_char[i].1.to_be_bytes();
        out.extend(code.iter().skip_while(|b| **b == 0));
        true
    }
}

/// Pairs of bytes that mean nothing in a charset though the engine's, which is larger, has them: first and last, ascending.
pub(super) fn gaps(m: Multi) -> &'static [(u16, u16)] {
    match m {
        Multi::Gbk => &GBK_GAPS,
        Multi::Gb2312 => &GB2312_GAPS,
        _ => &[],
    }
}

const GBK_GAPS: [(u16, u16); 41] = [
    (0xa140, 0xa1a0),
    (0xa240, 0xa2a0),
    (0xa2ab, 0xa2b0),
    (0xa2e3, 0xa2e4),
    (0xa2ef, 0xa2f0),
    (0xa2fd, 0xa3a0),
    (0xa440, 0xa4a0),
    (0xa4f4, 0xa5a0),
    (0xa5f7, 0xa6a0),
    (0xa6b9, 0xa6c0),
    (0xa6d9, 0xa6df),
    (0xa6ec, 0xa6ed),
    (0xa6f3, 0xa6f3),
    (0xa6f6, 0xa7a0),
    (0xa7c2, 0xa7d0),
    (0xa7f2, 0xa7fe),
    (0xa896, 0xa8a0),
    (0xa8bc, 0xa8bc),
    (0xa8bf, 0xa8bf),
    (0xa8c1, 0xa8c4),
    (0xa8ea, 0xa8fe),
    (0xa958, 0xa958),
    (0xa95b, 0xa95b),
    (0xa95d, 0xa95f),
    (0xa989, 0xa995),
    (0xa997, 0xa9a3),
    (0xa9f0, 0xa9fe),
    (0xaaa1, 0xaafe),
    (0xaba1, 0xabfe),
    (0xaca1, 0xacfe),
    (0xada1, 0xadfe),
    (0xaea1, 0xaefe),
    (0xafa1, 0xaffe),
    (0xd7fa, 0xd7fe),
    (0xf8a1, 0xf8fe),
    (0xf9a1, 0xf9fe),
    (0xfaa1, 0xfafe),
    (0xfba1, 0xfbfe),
    (0xfca1, 0xfcfe),
    (0xfda1, 0xfdfe),
    (0xfe50, 0xfefe),
];

const GB2312_GAPS: [(u16, u16); 15] = [
    (0xa2a1, 0xa2b0),
    (0xa2e3, 0xa2e4),
    (0xa2ef, 0xa2f0),
    (0xa2fd, 0xa2fe),
    (0xa4f4, 0xa4fe),
    (0xa5f7, 0xa5fe),
    (0xa6b9, 0xa6c0),
    (0xa6d9, 0xa6fe),
    (0xa7c2, 0xa7d0),
    (0xa7f2, 0xa7fe),
    (0xa8bb, 0xa8c4),
    (0xa8ea, 0xa9a3),
    (0xa9f0, 0xaffe),
    (0xd7fa, 0xd7fe),
    (0xf8a1, 0xfefe),
];

/// Characters that GB 18030-2022 moved, and Ruby has where they were: two bytes, what they mean here, and what they mean to the engine.
pub(super) const MOVED: [(u16, char, char); 20] = [
    (0xa3a0, '\u{e5e5}', '\u{3000}'),
    (0xa6d9, '\u{e78d}', '\u{fe10}'),
    (0xa6da, '\u{e78e}', '\u{fe12}'),
    (0xa6db, '\u{e78f}', '\u{fe11}'),
    (0xa6dc, '\u{e790}', '\u{fe13}'),
    (0xa6dd, '\u{e791}', '\u{fe14}'),
    (0xa6de, '\u{e792}', '\u{fe15}'),
    (0xa6df, '\u{e793}', '\u{fe16}'),
    (0xa6ec, '\u{e794}', '\u{fe17}'),
    (0xa6ed, '\u{e795}', '\u{fe18}'),
    (0xa6f3, '\u{e796}', '\u{fe19}'),
    (0xa8bc, '\u{e7c7}', '\u{1e3f}'),
    (0xfe59, '\u{e81e}', '\u{9fb4}'),
    (0xfe61, '\u{e826}', '\u{9fb5}'),
    (0xfe66, '\u{e82b}', '\u{9fb6}'),
    (0xfe67, '\u{e82c}', '\u{9fb7}'),
    (0xfe6d, '\u{e832}', '\u{9fb8}'),
    (0xfe7e, '\u{e843}', '\u{9fb9}'),
    (0xfe90, '\u{e854}', '\u{9fba}'),
    (0xfea0, '\u{e864}', '\u{9fbb}'),
];
