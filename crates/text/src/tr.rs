//! Character sets of `String#tr`, `tr_s`, `delete`, `squeeze`, `count`.
//!
//! A set is a list of ranges in the order written; nothing is expanded, so `"\u{0}-\u{10ffff}"` costs one entry.
//! A broken byte is a character beyond Unicode, equal to itself only.
//! Rejected: a 256-bit table plus a hash (CRuby's way): faster for one-byte text only.

use crate::encoding::utf8;
use zakuro_base::progress::{Pace, Progress, Stopped};

/// ArgumentError: `invalid range "z-a" in string transliteration`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrError(pub String);

const BROKEN: u32 = 0x8000_0000;

/// Next character as a number: code point, or a broken byte marked.
fn next(s: &[u8], utf8_text: bool) -> (u32, usize) {
    if !utf8_text {
        return (s[0] as u32, 1);
    }
    utf8::decode(s).unwrap_or((BROKEN | s[0] as u32, 1))
}

fn put(c: u32, utf8_text: bool, out: &mut Vec<u8>) {
    if !utf8_text || c & BROKEN != 0 {
        out.push(c as u8);
    } else {
        utf8::encode(c, out);
    }
}

#[derive(Clone, Debug)]
struct Set {
    negated: bool,
    /// First and last character, and the number of characters before in the set.
    ranges: Vec<(u32, u32, u64)>,
    len: u64,
    /// Membership of one-byte characters.
    ascii: [bool; 128],
}

impl Set {
    fn parse(s: &[u8], utf8_text: bool, may_negate: bool) -> Result<Set, TrError> {
        let negated = may_negate && s.len() > 1 && s[0] == b'^';
        let mut set = Set { negated, ranges: Vec::new(), len: 0, ascii: [false; 128] };
        let mut at = negated as usize;
        while at < s.len() {
            if s[at] == b'\\' && at + 1 < s.len() {
                at += 1;
            }
            let (low, n) = next(&s[at..], utf8_text);
            at += n;
            if s.get(at) == Some(&b'-') && at + 1 < s.len() {
                // The end of a range is taken as it stands, a backslash, too.
                let (high, n) = next(&s[at + 1..], utf8_text);
                at += 1 + n;
                if low > high {
                    return Err(TrError(if low < 0x80 && high < 0x80 {
                        format!("invalid range \"{}-{}\" in string transliteration", low as u8 as char, high as u8 as char)
                    } else {
                        "invalid range in string transliteration".into()
                    }));
                }
                set.add(low, high);
            } else {
                set.add(low, low);
            }
        }
        set.ascii = [negated; 128];
        for r in set.ranges.iter().filter(|r| r.0 < 128) {
            set.ascii[r.0 as usize..=r.1.min(127) as usize].fill(!negated);
        }
        Ok(set)
    }

    fn add(&mut self, low: u32, high: u32) {
        self.ranges.push((low, high, self.len));
        self.len += (high - low) as u64 + 1;
    }

    fn contains(&self, c: u32) -> bool {
        match self.ascii.get(c as usize) {
            Some(&b) => b,
            None => self.ranges.iter().any(|r| (r.0..=r.1).contains(&c)) != self.negated,
        }
    }

    /// Place of `c`; of several, the last one counts.
    fn index(&self, c: u32) -> Option<u64> {
        self.ranges.iter().rev().find(|r| (r.0..=r.1).contains(&c)).map(|r| r.2 + (c - r.0) as u64)
    }

    /// Character at a place; the last one beyond the end.
    fn at(&self, i: u64) -> u32 {
        let i = i.min(self.len.saturating_sub(1));
        let k = self.ranges.partition_point(|r| r.2 <= i) - 1;
        let r = self.ranges[k];
        r.0 + (i - r.2) as u32
    }
}

/// The intersection of several sets, as `delete`, `squeeze` and `count` take them.
pub struct CharSet {
    sets: Vec<Set>,
    utf8_text: bool,
}

impl CharSet {
    /// # Errors
    /// A descending range.
    pub fn new(specs: &[&[u8]], utf8_text: bool) -> Result<CharSet, TrError> {
        let sets = specs.iter().map(|s| Set::parse(s, utf8_text, true)).collect::<Result<_, _>>()?;
        Ok(CharSet { sets, utf8_text })
    }

    fn contains(&self, c: u32) -> bool {
        self.sets.iter().all(|s| s.contains(c))
    }

    /// `String#count`
    pub fn count(&self, s: &[u8], p: &mut dyn Progress) -> Result<usize, Stopped> {
        let (mut at, mut n) = (0, 0);
        let mut pace = Pace::new();
        if let [set] = &self.sets[..] {
            // What is ASCII at the start, mostly all.
            let mut table = [0u8; 256];
            for (t, has) in table.iter_mut().zip(&set.ascii) {
                *t = *has as u8;
            }
            for chunk in s.chunks(64) {
                if !chunk.is_ascii() {
                    break;
                }
                pace.at(at, p)?;
                // At most 64: no overflow.
                n += chunk.iter().fold(0u8, |n, c| n + table[*c as usize]) as usize;
                at += chunk.len();
            }
        }
        while at < s.len() {
            pace.at(at, p)?;
            if s[at] < 128 {
                n += self.sets.iter().all(|set| set.ascii[s[at] as usize]) as usize;
                at += 1;
                continue;
            }
            let (c, len) = next(&s[at..], self.utf8_text);
            n += self.contains(c) as usize;
            at += len;
        }
        Ok(n)
    }

    /// `String#delete`
    pub fn delete(&self, s: &[u8], p: &mut dyn Progress) -> Result<Vec<u8>, Stopped> {
        let mut out = Vec::with_capacity(s.len());
        let mut at = 0;
        let mut pace = Pace::new();
        while at < s.len() {
            pace.at(at, p)?;
            let (c, len) = next(&s[at..], self.utf8_text);
            if !self.contains(c) {
                out.extend_from_slice(&s[at..at + len]);
            }
            at += len;
        }
        Ok(out)
    }

    /// `String#squeeze`; with no sets, every character counts.
    pub fn squeeze(&self, s: &[u8], p: &mut dyn Progress) -> Result<Vec<u8>, Stopped> {
        let mut out = Vec::with_capacity(s.len());
        let mut at = 0;
        let mut last = None;
        let mut pace = Pace::new();
        while at < s.len() {
            pace.at(at, p)?;
            let (c, len) = next(&s[at..], self.utf8_text);
            if last != Some(c) || !self.contains(c) {
                out.extend_from_slice(&s[at..at + len]);
            }
            last = Some(c);
            at += len;
        }
        Ok(out)
    }
}

/// `String#tr` (`squeeze` false) or `tr_s`.
///
/// # Errors
/// A descending range; within, that it was stopped.
pub fn tr(
    s: &[u8],
    from: &[u8],
    to: &[u8],
    squeeze: bool,
    utf8_text: bool,
    p: &mut dyn Progress,
) -> Result<Result<Vec<u8>, Stopped>, TrError> {
    if s.is_empty() {
        return Ok(Ok(Vec::new()));
    }
    if to.is_empty() {
        return Ok(CharSet::new(&[from], utf8_text)?.delete(s, p));
    }
    let from = Set::parse(from, utf8_text, true)?;
    if from.ranges.is_empty() {
        return Ok(Ok(s.to_vec()));
    }
    let to = Set::parse(to, utf8_text, false)?;
    let map = |c: u32| {
        if from.negated { from.contains(c).then(|| to.at(u64::MAX)) } else { from.index(c).map(|i| to.at(i)) }
    };
    let mut ascii: [Option<u32>; 128] = [None; 128];
    if from.negated {
        ascii = std::array::from_fn(|c| map(c as u32));
    } else {
        // Of several places the last one counts.
        for r in from.ranges.iter().filter(|r| r.0 < 128) {
            for c in r.0..=r.1.min(127) {
                ascii[c as usize] = Some(to.at(r.2 + (c - r.0) as u64));
            }
        }
    }
    let mut out = Vec::with_capacity(s.len());
    let mut at = 0;
    let mut last = None;
    let mut pace = Pace::new();
    while at < s.len() {
        if let Err(stopped) = pace.at(at, p) {
            return Ok(Err(stopped));
        }
        let (c, len) = next(&s[at..], utf8_text);
        let mapped = match ascii.get(c as usize) {
            Some(&m) => m,
            None => map(c),
        };
        match mapped {
            Some(m) => {
                if !squeeze || last != Some(m) {
                    put(m, utf8_text, &mut out);
                }
                last = Some(m);
            }
            None => {
                out.extend_from_slice(&s[at..at + len]);
                last = None;
            }
        }
        at += len;
    }
    Ok(Ok(out))
}
