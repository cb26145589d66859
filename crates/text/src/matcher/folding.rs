//! Characters that are equal when case is ignored: one to one, and one to several (`ß` and `ss`).
//!
//! Source: Unicode's CaseFolding (statuses C and F), got from the standard library's case mappings: the fold of a character is its upper case
//! in lower case, twice. The one exception is the dotless i, whose upper case is another letter's. Equality under folds is what counts, not
//! which member of a class stands for it.
//! Rejected: a table of our own; one kept for the process (they are needed when a pattern is compiled, for a few microseconds).

use super::ranges::Ranges;
use crate::encoding::{Encoding, transcode};
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

/// Up to three codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folded {
    codes: [u32; 3],
    len: u8,
}

impl Folded {
    fn one(c: u32) -> Folded {
        Folded { codes: [c, 0, 0], len: 1 }
    }

    pub fn codes(&self) -> &[u32] {
        &self.codes[..self.len as usize]
    }
}

/// Full fold of a Unicode character.
pub fn unicode(c: u32) -> Folded {
    if c < 0x80 {
        return Folded::one(if (0x41..=0x5a).contains(&c) { c + 32 } else { c });
    }
    let (Some(ch), false) = (char::from_u32(c), c == 0x131) else { return Folded::one(c) };
    let mut folded = Folded { codes: [0; 3], len: 0 };
    let once = |c: char| c.to_uppercase().flat_map(char::to_lowercase);
    for x in once(ch).flat_map(once) {
        let Some(place) = folded.codes.get_mut(folded.len as usize) else { return Folded::one(c) };
        *place = x as u32;
        folded.len += 1;
    }
    folded
}

/// Blocks that hold the characters which fold to several.
const EXPANDING: [(u32, u32); 10] = [
    (0xdf, 0xdf),
    (0x130, 0x130),
    (0x149, 0x149),
    (0x1f0, 0x1f0),
    (0x390, 0x390),
    (0x3b0, 0x3b0),
    (0x587, 0x587),
    (0x1e96, 0x1e9e),
    (0x1f50, 0x1ffc),
    (0xfb00, 0xfb17),
];

/// Characters that fold to several, with what they fold to.
pub fn expanding() -> impl Iterator<Item = (u32, Folded)> {
    EXPANDING.iter().flat_map(|&(a, b)| a..=b).map(|c| (c, unicode(c))).filter(|p| p.1.len > 1)
}

/// Adds the characters that equal one of a set, one to one.
fn closed_unicode(set: &Ranges) -> Ranges {
    let scalar = |c: u32, up: bool| match char::from_u32(c) {
        Some(c) => c,
        None if up => '\u{e000}',
        None => '\u{d7ff}',
    };
    let inside = set.within(0, 0x10ffff);
    let ranges = inside.pairs().iter().filter(|r| !(r.0 >= 0xd800 && r.1 <= 0xdfff));
    let mut class = ClassUnicode::new(ranges.map(|&(a, b)| ClassUnicodeRange::new(scalar(a, true), scalar(b, false))));
    if class.try_case_fold_simple().is_err() {
        return set.clone();
    }
    let mut out = set.clone();
    let pairs: Vec<(u32, u32)> = class.ranges().iter().map(|r| (r.start() as u32, r.end() as u32)).collect();
    out.union(&Ranges::of(&pairs));
    out
}

/// How an encoding folds.
#[derive(Clone, Debug)]
pub enum Folder {
    Unicode,
    Ascii,
    /// Full folds of the bytes from 0x80 on.
    Single(Box<[Folded; 128]>),
}

impl Folder {
    pub fn of(enc: Encoding) -> Folder {
        if enc.is_unicode() {
            return Folder::Unicode;
        }
        if !super::property::has_own_letters(enc) || !enc.is_single_byte() {
            return Folder::Ascii;
        }
        let to_unicode = |b: u32| transcode::decode_char(enc, &[b as u8]);
        let mut table = Box::new([Folded::one(0); 128]);
        for (i, place) in table.iter_mut().enumerate() {
            let b = i as u32 + 128;
            *place = Folded::one(b);
            let Some(c) = to_unicode(b) else { continue };
            let fold = unicode(c);
            if c == 0xdf {
                *place = fold;
            } else if fold.len == 1 {
                let same = (0x80..=0xff).find(|&x| to_unicode(x) == Some(fold.codes[0]));
                *place = Folded::one(same.unwrap_or(b));
            }
        }
        Folder::Single(table)
    }

    /// Full fold.
    pub fn fold(&self, c: u32) -> Folded {
        match self {
            Folder::Unicode => unicode(c),
            Folder::Single(table) if (0x80..=0xff).contains(&c) => table[c as usize - 128],
            _ if (0x41..=0x5a).contains(&c) => Folded::one(c + 32),
            _ => Folded::one(c),
        }
    }

    /// Characters that fold to several.
    pub fn expanding(&self) -> Vec<(u32, Folded)> {
        match self {
            Folder::Unicode => expanding().collect(),
            Folder::Ascii => Vec::new(),
            Folder::Single(table) => (128..).zip(table.iter().copied()).filter(|p| p.1.len > 1).collect(),
        }
    }

    /// The set with all that equals one of its characters, one to one.
    pub fn closed(&self, set: &Ranges) -> Ranges {
        match self {
            Folder::Unicode => closed_unicode(set),
            _ => {
                let mut out = set.clone();
                for c in 0..256 {
                    let fold = self.fold(c);
                    let f = fold.codes[0];
                    if fold.len == 1 && f != c {
                        if set.contains(c) {
                            out.add(f, f);
                        }
                        if set.contains(f) {
                            out.add(c, c);
                        }
                    }
                }
                out
            }
        }
    }
}
