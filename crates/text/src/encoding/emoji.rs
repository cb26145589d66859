//! Signs of Japanese telephone carriers: what DoCoMo, KDDI and SoftBank had in private characters before Unicode had them.
//!
//! Each carrier's signs have private characters of their own, so a text of one is exchanged character by character on its way to another or to Unicode. The
//! table (`emoji.txt`) has a line of one width for each character that does not stay the same: the character, and what it is to the three others; `-`: nothing.
//! Rejected: one row for each sign (several signs of one carrier are one of another, and not the same one on the way back).

use super::multibyte::multi_decode;
use super::transcode::Step;
use super::{Encoding, Kind, Multi};
use std::sync::OnceLock;

/// Lines of each family: DoCoMo, KDDI, SoftBank, Unicode.
const LINES: [usize; 4] = [282, 1294, 485, 727];
const WIDTH: usize = 42;
const TABLE: &str = include_str!("emoji.txt");
const UNICODE: usize = 3;

/// Whose signs an encoding's private characters are.
fn family(e: Encoding) -> usize {
    match (e.kind(), e.name()) {
        (Kind::Multi(Multi::SjisDoCoMo), _) | (_, "UTF8-DoCoMo") => 0,
        (Kind::Multi(Multi::SjisKddi | Multi::Iso2022JpKddi | Multi::StatelessKddi), _) | (_, "UTF8-KDDI") => 1,
        (Kind::Multi(Multi::SjisSoftBank), _) | (_, "UTF8-SoftBank") => 2,
        _ => UNICODE,
    }
}

pub(super) fn is_carrier(e: Encoding) -> bool {
    family(e) != UNICODE
}

/// The exchange of one family's characters for another's.
#[derive(Clone)]
pub(super) struct Exchange {
    lines: &'static str,
    column: usize,
}

impl Exchange {
    /// None: the characters stay what they are.
    pub(super) fn between(src: Encoding, dst: Encoding) -> Option<Exchange> {
        let (from, to) = (family(src), family(dst));
        if from == to {
            return None;
        }
        let first: usize = LINES[..from].iter().sum();
        let lines = TABLE.get(first * WIDTH..(first + LINES[from]) * WIDTH)?;
        Some(Exchange { lines, column: 6 + 12 * (to - usize::from(to > from)) })
    }

    fn line(&self, at: usize) -> (u32, &'static str) {
        let line = self.lines.get(at * WIDTH..(at + 1) * WIDTH).unwrap_or_default();
        let c = line.get(..5).and_then(|c| u32::from_str_radix(c.trim_start(), 16).ok()).unwrap_or(0);
        (c, line.get(self.column..(self.column + 11).min(WIDTH)).unwrap_or_default().trim_end())
    }

    pub(super) fn step(&self, c: char, n: usize) -> Step {
        if c.is_ascii() {
            return Step::Char(c, n);
        }
        let (mut low, mut high) = (0, self.lines.len() / WIDTH);
        while low < high {
            let middle = low.midpoint(high);
            match self.line(middle).0.cmp(&(c as u32)) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => {
                    let mut to = self.line(middle).1.split('+').map(|c| u32::from_str_radix(c, 16).ok().and_then(char::from_u32));
                    return match (to.next().flatten(), to.next().flatten()) {
                        (Some(a), Some(b)) => Step::Pair(a, b, n),
                        (Some(a), None) => Step::Char(a, n),
                        (None, _) => Step::Unknown(c, n),
                    };
                }
            }
        }
        Step::Char(c, n)
    }
}

/// A run of signs: the place of the first one, its character, how many.
type Run = (u32, u32, u32);

fn of_place(runs: &[Run], place: u32) -> Option<char> {
    runs.iter().find(|r| (r.0..r.0 + r.2).contains(&place)).and_then(|r| char::from_u32(r.1 + place - r.0))
}

fn place_of(runs: &[Run], c: char) -> Option<u32> {
    let c = c as u32;
    runs.iter().find(|r| (r.1..r.1 + r.2).contains(&c)).map(|r| r.0 + c - r.1)
}

/// Place of a pair of bytes of Shift_JIS, counted from F040.
const fn sjis(a: u8, b: u8) -> u32 {
    (a as u32 - 0xf0) * 188 + b as u32 - 0x40 - (b > 0x7f) as u32
}

fn sjis_bytes(place: u32) -> [u8; 2] {
    let trail = 0x40 + place % 188;
    [(0xf0 + place / 188) as u8, (trail + u32::from(trail >= 0x7f)) as u8]
}

/// Signs that do not stand where user-defined characters of Windows-31J do.
const SJIS_KDDI: [Run; 5] = [
    (sjis(0xf3, 0x40), 0xe5cd, 19),
    (sjis(0xf3, 0x53), 0xea80, 123),
    (sjis(0xf3, 0xcf), 0xeb0e, 129),
    (sjis(0xf7, 0xd2), 0xeafb, 19),
    (sjis(0xf7, 0xe5), 0xe5b5, 24),
];
const SJIS_SOFTBANK: [Run; 6] = [
    (sjis(0xf7, 0x41), 0xe101, 90),
    (sjis(0xf7, 0xa1), 0xe201, 90),
    (sjis(0xf9, 0x41), 0xe001, 90),
    (sjis(0xf9, 0xa1), 0xe301, 77),
    (sjis(0xfb, 0x41), 0xe401, 76),
    (sjis(0xfb, 0xa1), 0xe501, 62),
];
/// Rows of KDDI's mails, places counted from A1A1.
const JIS_KDDI: [Run; 5] = [
    (jis(0xf5, 0xa1), 0xe468, 333),
    (jis(0xf8, 0xd4), 0xeafb, 19),
    (jis(0xf8, 0xe7), 0xe5b5, 43),
    (jis(0xf9, 0xb4), 0xea80, 123),
    (jis(0xfa, 0xd1), 0xeb0e, 129),
];

const fn jis(a: u8, b: u8) -> u32 {
    (a as u32 - 0xa1) * 94 + b as u32 - 0xa1
}

fn runs(m: Multi) -> &'static [Run] {
    match m {
        Multi::SjisKddi => &SJIS_KDDI,
        Multi::SjisSoftBank => &SJIS_SOFTBANK,
        _ => &[],
    }
}

/// The sign of two bytes of a carrier's Shift_JIS.
pub(super) fn private_row(m: Multi, c: &[u8]) -> Option<char> {
    match c {
        &[a @ 0xf0..=0xff, b] => of_place(runs(m), sjis(a, b)),
        _ => None,
    }
}

/// Two bytes of a carrier's Shift_JIS for one of its signs.
pub(super) fn private_bytes(m: Multi, c: char) -> Option<[u8; 2]> {
    if m == Multi::SjisKddi
        && let Some([a, b]) = kddi_code(c)
    {
        return Some([a + 7, b]);
    }
    place_of(runs(m), c).map(sjis_bytes)
}

/// KDDI's signs have a second character each, whose number is the bytes of Shift_JIS 7 rows before.
fn kddi_code(c: char) -> Option<[u8; 2]> {
    let [a, b] = u16::try_from(c as u32).ok()?.to_be_bytes();
    let known = match a {
        0xec | 0xef | 0xf0 => matches!(b, 0x40..=0x7e | 0x80..=0xfc),
        0xed => matches!(b, 0x40..=0x7e | 0x80..=0x93),
        _ => false,
    };
    known.then_some([a, b])
}

/// The sign of a pair of bytes of KDDI's mails, the highest bits set.
pub(super) fn kddi_row(c: &[u8]) -> Option<char> {
    match c {
        &[a @ 0xa1..=0xff, b @ 0xa1..=0xff] => of_place(&JIS_KDDI, jis(a, b)),
        _ => None,
    }
}

pub(super) fn kddi_bytes(c: char) -> Option<[u8; 2]> {
    let place = match kddi_code(c) {
        Some([a, b]) => {
            let row = match a {
                0xec => 0x79,
                0xed => 0x7b,
                0xef => 0x75,
                _ => 0x77,
            };
            (row - 0x21) * 94 + b as u32 - 0x40 - u32::from(b > 0x7f)
        }
        None => match place_of(&JIS_KDDI, c) {
            Some(place) => place,
            // NEC's row goes before that of JIS, where both have a character.
            None => (0..94).map(|cell| jis(0xad, 0xa1) + cell).find(|p| {
                let [a, b] = jis_bytes(*p);
                matches!(multi_decode(Multi::Cp51932, &[a, b]), Step::Char(d, _) if d == c)
            })?,
        },
    };
    Some(jis_bytes(place))
}

fn jis_bytes(place: u32) -> [u8; 2] {
    [(0xa1 + place / 94) as u8, (0xa1 + place % 94) as u8]
}

/// Characters in the rows of NEC, which carriers write where there are several places; sorted. None for other encodings.
pub(super) fn nec_rows(m: Multi) -> &'static [(char, [u8; 2])] {
    static NEC_ROWS: [OnceLock<Vec<(char, [u8; 2])>>; 3] = [const { OnceLock::new() }; 3];
    let at = match m {
        Multi::SjisDoCoMo => 0,
        Multi::SjisKddi => 1,
        Multi::SjisSoftBank => 2,
        _ => return &[],
    };
    // The process's, whichever VM comes first.
    NEC_ROWS[at].get_or_init(|| zakuro_base::memory::going_on(|| read_nec_rows(m)))
}

fn read_nec_rows(m: Multi) -> Vec<(char, [u8; 2])> {
    let mut all = Vec::new();
    for row in [0x87, 0xed, 0xee] {
        for cell in (0x40..=0x7e).chain(0x80..=0xfc) {
            if let Step::Char(c, _) = multi_decode(m, &[row, cell]) {
                all.push((c, [row, cell]));
            }
        }
    }
    all.sort_unstable();
    all.dedup_by_key(|p| p.0);
    all
}
