//! Characters that are equal when case is ignored: one to one, and one to several (`ß` and `ss`).
//!
//! Source: Unicode's CaseFolding (statuses C and F), got from the standard library's case mappings: the fold of a character is its upper case
//! in lower case, twice. The one exception is the dotless i, whose upper case is another letter's. Equality under folds is what counts, not
//! which member of a class stands for it.
//! Rejected: a table of our own; one kept for the process (they are needed when a pattern is compiled, for a few microseconds).

use super::ranges::Ranges;
use crate::encoding::letters::Letters;
use crate::encoding::{Encoding, JisForm};
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};
use std::sync::OnceLock;

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
pub struct Folder {
    kind: Kind,
    /// Filled when something asks: most patterns don't ignore case.
    expanding: OnceLock<Vec<(u32, Folded)>>,
}

#[derive(Clone, Debug)]
enum Kind {
    Unicode,
    Ascii,
    /// Rows of large and small letters of a charset of two bytes: the first of each, and how many.
    Rows(&'static [(u32, u32, u32)]),
    /// Full folds of the bytes from 0x80 on.
    Single(Box<[Folded; 128]>),
}

/// Latin, Greek and Cyrillic letters of JIS, as EUC-JP has them.
const EUC_ROWS: [(u32, u32, u32); 3] = [(0xa3c1, 0xa3e1, 26), (0xa6a1, 0xa6c1, 24), (0xa7a1, 0xa7d1, 33)];
/// The same as Shift_JIS has them; no second byte is 0x7f.
const SJIS_ROWS: [(u32, u32, u32); 4] = [(0x8260, 0x8281, 26), (0x839f, 0x83bf, 24), (0x8440, 0x8470, 15), (0x844f, 0x8480, 18)];

impl Kind {
    fn of(enc: Encoding) -> Kind {
        if enc.is_unicode() {
            return Kind::Unicode;
        }
        match enc.jis_form() {
            Some(JisForm::Euc) => return Kind::Rows(&EUC_ROWS),
            Some(JisForm::Shift) => return Kind::Rows(&SJIS_ROWS),
            None => {}
        }
        let Some(letters) = Letters::of(enc) else { return Kind::Ascii };
        let mut table = Box::new([Folded::one(0); 128]);
        for (place, b) in table.iter_mut().zip(0x80..=0xff) {
            *place = match letters.regexp_fold(b) {
                Some(b) => Folded::one(u32::from(b)),
                None => unicode(0xdf),
            };
        }
        Kind::Single(table)
    }
}

impl Folder {
    pub fn of(enc: Encoding) -> Folder {
        Folder { kind: Kind::of(enc), expanding: OnceLock::new() }
    }

    /// Full fold.
    pub fn fold(&self, c: u32) -> Folded {
        match &self.kind {
            Kind::Unicode => unicode(c),
            Kind::Single(table) if (0x80..=0xff).contains(&c) => table[c as usize - 128],
            _ if (0x41..=0x5a).contains(&c) => Folded::one(c + 32),
            Kind::Rows(rows) => Folded::one(rows.iter().find(|r| (r.0..r.0 + r.2).contains(&c)).map_or(c, |r| c - r.0 + r.1)),
            _ => Folded::one(c),
        }
    }

    /// Characters that fold to several.
    pub fn expanding(&self) -> &[(u32, Folded)] {
        self.expanding.get_or_init(|| match &self.kind {
            Kind::Unicode => expanding().collect(),
            Kind::Ascii | Kind::Rows(_) => Vec::new(),
            Kind::Single(table) => (128..).zip(table.iter().copied()).filter(|p| p.1.len > 1).collect(),
        })
    }

    /// Do folded codes hold what a single character folds to?
    pub fn holds_expansion(&self, folded: &[u32]) -> bool {
        folded.windows(2).enumerate().any(|(i, pair)| {
            let expands = |f: &Folded| f.codes().starts_with(pair) && folded[i..].starts_with(f.codes());
            self.expanding().iter().any(|e| expands(&e.1))
        })
    }

    /// The set with all that equals one of its characters, one to one.
    pub fn closed(&self, set: &Ranges) -> Ranges {
        match self.kind {
            Kind::Unicode => closed_unicode(set),
            _ => {
                let mut out = set.clone();
                let alone = matches!(set.pairs(), [(a, b)] if a == b);
                for c in 0..256 {
                    let fold = self.fold(c);
                    let f = fold.codes[0];
                    // The dotted I is `i`, and `I`, where it stands for itself; in sets, as in CRuby, it is neither.
                    if fold.len == 1 && f != c && ((c < 0x80) == (f < 0x80) || alone) {
                        let upper = if c >= 0x80 && f < 0x80 { f - 32 } else { f };
                        if set.contains(c) {
                            out.add(f, f);
                            out.add(upper, upper);
                        }
                        if set.contains(f) || set.contains(upper) {
                            out.add(c, c);
                        }
                    }
                }
                if let Kind::Rows(rows) = self.kind {
                    for (large, small) in rows.iter().flat_map(|&(large, small, n)| (0..n).map(move |i| (large + i, small + i))) {
                        if set.contains(large) || set.contains(small) {
                            out.add(large, large);
                            out.add(small, small);
                        }
                    }
                }
                out
            }
        }
    }
}
