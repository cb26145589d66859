//! Character sets of `String#tr`, `tr_s`, `delete`, `squeeze`, `count`.
//!
//! A set is a list of ranges in the order written; nothing is expanded, so `"\u{0}-\u{10ffff}"` costs one entry.
//! In encodings that are not Unicode's a range leaves out the numbers that are no characters: it keeps the runs of those that are.
//! A broken byte is a character beyond all others, equal to itself only.
//! Short texts of ASCII have sets of bits ([`crate::tr_short`]).
//! Rejected: a 256-bit table plus a hash (CRuby's way) for all: faster for one-byte text only.

use crate::encoding::{Encoding, utf8};
use zakuro_base::progress::{Pace, Progress, Stopped, step};

/// ArgumentError: `invalid range "z-a" in string transliteration`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrError(pub String);

/// What keeps a set from being made.
#[derive(Debug)]
pub enum Refused {
    Range(TrError),
    Stopped(Stopped),
}

impl From<Stopped> for Refused {
    fn from(stopped: Stopped) -> Refused {
        Refused::Stopped(stopped)
    }
}

const BROKEN: u32 = 0x8000_0000;

/// What counts as a character of texts and sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Byte,
    Utf8,
    /// A character of an encoding with characters of several bytes.
    Of(Encoding),
}

impl Unit {
    /// Next character as a number: code point, or a broken byte marked.
    fn next(self, s: &[u8]) -> (u32, usize) {
        match self {
            Unit::Byte => (s[0] as u32, 1),
            Unit::Utf8 => utf8::decode(s).unwrap_or((BROKEN | s[0] as u32, 1)),
            Unit::Of(e) => e.first(s).unwrap_or((BROKEN | s[0] as u32, 1)),
        }
    }

    fn put(self, c: u32, out: &mut Vec<u8>) {
        // Beyond 0x800000ff lie characters of GB18030.
        let broken = c & !0xff == BROKEN;
        match self {
            Unit::Utf8 if !broken => {
                utf8::encode(c, out);
            }
            Unit::Of(e) if !broken => {
                e.encode(c, out);
            }
            _ => out.push(c as u8),
        }
    }

    /// May characters below 128 be recognized by their first byte?
    fn is_ascii_compatible(self) -> bool {
        match self {
            Unit::Of(e) => e.is_ascii_compatible(),
            Unit::Byte | Unit::Utf8 => true,
        }
    }

    /// Length of the character at the beginning, if it is `c` of ASCII.
    fn is_at(self, s: &[u8], c: u8) -> Option<usize> {
        match self {
            _ if s.is_empty() => None,
            Unit::Byte | Unit::Utf8 => (s[0] == c).then_some(1),
            Unit::Of(_) => Some(self.next(s)).filter(|n| n.0 == c as u32).map(|n| n.1),
        }
    }
}

/// A range of characters, or one.
#[derive(Clone, Debug)]
struct Part {
    low: u32,
    high: u32,
    /// Characters of the set before it.
    before: u64,
    /// Where not every number between the ends is a character: first and last of each run, and the characters of the part before it.
    runs: Option<Vec<(u32, u32, u64)>>,
}

impl Part {
    fn contains(&self, c: u32) -> bool {
        (self.low..=self.high).contains(&c)
    }

    /// Place in the set of `c`, a character of the part.
    fn index(&self, c: u32) -> u64 {
        let Some(runs) = &self.runs else { return self.before + (c - self.low) as u64 };
        let run = runs.partition_point(|r| r.1 < c).min(runs.len() - 1);
        self.before + runs[run].2 + c.saturating_sub(runs[run].0) as u64
    }

    /// Character at a place of the set that lies in the part.
    fn at(&self, i: u64) -> u32 {
        let i = i - self.before;
        let Some(runs) = &self.runs else { return self.low + i as u32 };
        let (first, _, before) = runs[runs.partition_point(|r| r.2 <= i).max(1) - 1];
        first + (i - before) as u32
    }
}

/// Whether a number that begins as `c` and has any other `bits` at its end may be a character: every encoding takes one of these bytes behind a lead byte.
fn has_characters(e: Encoding, c: u32, bits: u32) -> bool {
    const TRAILS: [u32; 4] = [0x30, 0x41, 0x81, 0xa1];
    TRAILS.iter().any(|t| {
        let (c, bits) = (c | t << (bits - 8), bits - 8);
        if bits == 0 { e.encode(c, &mut Vec::new()) } else { has_characters(e, c, bits) }
    }) || c >> bits == 0
}

#[derive(Clone, Debug)]
struct Set {
    negated: bool,
    parts: Vec<Part>,
    len: u64,
    /// Membership of characters below 128.
    ascii: [bool; 128],
}

impl Set {
    fn parse(s: &[u8], unit: Unit, may_negate: bool, p: &mut dyn Progress) -> Result<Set, Refused> {
        let sign = unit.is_at(s, b'^').filter(|n| may_negate && s.len() > *n);
        let negated = sign.is_some();
        let mut set = Set { negated, parts: Vec::new(), len: 0, ascii: [false; 128] };
        let mut at = sign.unwrap_or(0);
        while at < s.len() {
            at += unit.is_at(&s[at..], b'\\').filter(|n| at + n < s.len()).unwrap_or(0);
            let (low, n) = unit.next(&s[at..]);
            at += n;
            match unit.is_at(&s[at..], b'-').filter(|n| at + n < s.len()) {
                Some(dash) => {
                    // The end of a range is taken as it stands, a backslash, too.
                    let (high, n) = unit.next(&s[at + dash..]);
                    at += dash + n;
                    if low > high {
                        return Err(Refused::Range(TrError(if low < 0x80 && high < 0x80 {
                            format!("invalid range \"{}-{}\" in string transliteration", low as u8 as char, high as u8 as char)
                        } else {
                            "invalid range in string transliteration".into()
                        })));
                    }
                    set.add(low, high, unit, p)?;
                }
                None => set.add(low, low, unit, p)?,
            }
        }
        set.ascii = [negated; 128];
        for r in set.parts.iter().filter(|r| r.low < 128) {
            set.ascii[r.low as usize..=r.high.min(127) as usize].fill(!negated);
        }
        Ok(set)
    }

    fn add(&mut self, low: u32, high: u32, unit: Unit, p: &mut dyn Progress) -> Result<(), Stopped> {
        let (mut runs, mut len) = (None, (high - low) as u64 + 1);
        if let Unit::Of(e) = unit
            && !e.is_unicode()
            && low < high
        {
            let (mut found, mut bytes): (Vec<(u32, u32, u64)>, Vec<u8>) = (Vec::new(), Vec::new());
            len = 0;
            let (mut next, mut rounds) = (low as u64, 0);
            while next <= high as u64 {
                step(rounds, p)?;
                rounds += 1;
                let c = next as u32;
                if let Some(empty) = [24, 16, 8].into_iter().find(|bits| c.trailing_zeros() >= *bits && !has_characters(e, c, *bits)) {
                    next += 1 << empty;
                    continue;
                }
                next += 1;
                bytes.clear();
                if !e.encode(c, &mut bytes) {
                    continue;
                }
                match found.last_mut() {
                    Some(run) if run.1 + 1 == c => run.1 = c,
                    _ => found.push((c, c, len)),
                }
                len += 1;
            }
            // Both ends were read as characters; of broken bytes there is no run.
            runs = (!found.is_empty()).then_some(found);
            len = len.max(1);
        }
        self.parts.push(Part { low, high, before: self.len, runs });
        self.len += len;
        Ok(())
    }

    fn contains(&self, c: u32) -> bool {
        match self.ascii.get(c as usize) {
            Some(&b) => b,
            None => self.parts.iter().any(|r| r.contains(c)) != self.negated,
        }
    }

    /// Place of `c`; of several, the last one counts.
    fn index(&self, c: u32) -> Option<u64> {
        self.parts.iter().rev().find(|r| r.contains(c)).map(|r| r.index(c))
    }

    /// Character at a place; the last one beyond the end.
    fn at(&self, i: u64) -> u32 {
        let i = i.min(self.len.saturating_sub(1));
        self.parts[self.parts.partition_point(|r| r.before <= i) - 1].at(i)
    }
}

/// Finds bytes of ASCII a block at a time, where a text may have such.
struct AsciiRuns {
    /// Where it is worth a look again.
    next: usize,
}

impl AsciiRuns {
    const BLOCK: usize = 64;

    fn new(some: bool) -> AsciiRuns {
        AsciiRuns { next: if some { 0 } else { usize::MAX } }
    }

    /// The block that begins there, at a character, if all of it is ASCII.
    fn at<'a>(&mut self, s: &'a [u8], at: usize) -> Option<&'a [u8]> {
        if at < self.next {
            return None;
        }
        let block = &s[at..s.len().min(at + Self::BLOCK)];
        if block.is_ascii() {
            return Some(block);
        }
        self.next = at + Self::BLOCK;
        None
    }
}

/// The intersection of several sets, as `delete`, `squeeze` and `count` take them.
pub struct CharSet {
    sets: Vec<Set>,
    unit: Unit,
}

impl CharSet {
    /// # Errors
    /// A descending range, or that it was stopped.
    pub fn new(specs: &[&[u8]], unit: Unit, p: &mut dyn Progress) -> Result<CharSet, Refused> {
        let sets = specs.iter().map(|s| Set::parse(s, unit, true, p)).collect::<Result<_, _>>()?;
        Ok(CharSet { sets, unit })
    }

    fn contains(&self, c: u32) -> bool {
        self.sets.iter().all(|s| s.contains(c))
    }

    /// `String#count`
    pub fn count(&self, s: &[u8], p: &mut dyn Progress) -> Result<usize, Stopped> {
        let (mut at, mut n) = (0, 0);
        let mut pace = Pace::new();
        let ascii = self.unit.is_ascii_compatible();
        if let [set] = &self.sets[..]
            && ascii
        {
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
            if ascii && s[at] < 128 {
                n += self.sets.iter().all(|set| set.ascii[s[at] as usize]) as usize;
                at += 1;
                continue;
            }
            let (c, len) = self.unit.next(&s[at..]);
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
        // A table is worth it for more than a few characters.
        let long = s.len() > AsciiRuns::BLOCK && self.unit.is_ascii_compatible();
        let mut runs = AsciiRuns::new(long);
        let gone: [bool; 128] = if long { std::array::from_fn(|c| self.contains(c as u32)) } else { [false; 128] };
        while at < s.len() {
            pace.at(at, p)?;
            if let Some(run) = runs.at(s, at) {
                out.extend(run.iter().filter(|c| !gone[(**c & 127) as usize]));
                at += run.len();
                continue;
            }
            let (c, len) = self.unit.next(&s[at..]);
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
        let long = s.len() > AsciiRuns::BLOCK && self.unit.is_ascii_compatible();
        let mut runs = AsciiRuns::new(long);
        let once: [bool; 128] = if long { std::array::from_fn(|c| self.contains(c as u32)) } else { [false; 128] };
        while at < s.len() {
            pace.at(at, p)?;
            if let Some(run) = runs.at(s, at) {
                let begin = out.len();
                out.extend_from_slice(run);
                let doubles = run.iter().zip(&run[1..]).fold(last == Some(u32::from(run[0])), |any, (a, b)| any | (a == b));
                if doubles {
                    let block = &mut out[begin..];
                    let (mut kept, mut before) = (0, last.unwrap_or(BROKEN));
                    for i in 0..block.len() {
                        let c = block[i];
                        block[kept] = c;
                        kept += usize::from(u32::from(c) != before || !once[usize::from(c & 127)]);
                        before = u32::from(c);
                    }
                    out.truncate(begin + kept);
                }
                last = run.last().map(|c| u32::from(*c));
                at += run.len();
                continue;
            }
            let (c, len) = self.unit.next(&s[at..]);
            if last != Some(c) || !self.contains(c) {
                out.extend_from_slice(&s[at..at + len]);
            }
            last = Some(c);
            at += len;
        }
        Ok(out)
    }
}

/// `String#tr` (`squeeze` false) or `tr_s`; None when no character of `s` was one to replace.
///
/// # Errors
/// A descending range, or that it was stopped.
pub fn tr(s: &[u8], from: &[u8], to: &[u8], squeeze: bool, unit: Unit, p: &mut dyn Progress) -> Result<Option<Vec<u8>>, Refused> {
    if s.is_empty() {
        return Ok(None);
    }
    if to.is_empty() {
        let left = CharSet::new(&[from], unit, p)?.delete(s, p)?;
        return Ok((left.len() < s.len()).then_some(left));
    }
    let from = Set::parse(from, unit, true, p)?;
    if from.parts.is_empty() {
        return Ok(None);
    }
    let to = Set::parse(to, unit, false, p)?;
    let map = |c: u32| {
        if from.negated { from.contains(c).then(|| to.at(u64::MAX)) } else { from.index(c).map(|i| to.at(i)) }
    };
    let mut ascii: [Option<u32>; 128] = [None; 128];
    if from.negated {
        ascii = std::array::from_fn(|c| map(c as u32));
    } else {
        // Of several places the last one counts.
        for r in from.parts.iter().filter(|r| r.low < 128) {
            for c in r.low..=r.high.min(127) {
                ascii[c as usize] = Some(to.at(r.index(c)));
            }
        }
    }
    let mut out = Vec::with_capacity(s.len());
    let (mut at, mut last, mut replaced) = (0, None, false);
    let mut pace = Pace::new();
    // Bytes for bytes, where what is ASCII becomes ASCII.
    let plain = !squeeze && unit.is_ascii_compatible() && ascii.iter().flatten().all(|m| *m < 128);
    let mut runs = AsciiRuns::new(plain);
    let mut table: [u8; 128] = std::array::from_fn(|c| c as u8);
    let mut hits = [false; 128];
    for (c, m) in ascii.iter().enumerate().filter_map(|(c, m)| m.map(|m| (c, m))).filter(|_| plain) {
        (table[c], hits[c]) = (m as u8, true);
    }
    while at < s.len() {
        pace.at(at, p)?;
        if let Some(run) = runs.at(s, at) {
            out.extend(run.iter().map(|c| table[(*c & 127) as usize]));
            replaced = replaced || run.iter().any(|c| hits[(*c & 127) as usize]);
            at += run.len();
            continue;
        }
        let (c, len) = unit.next(&s[at..]);
        let mapped = match ascii.get(c as usize) {
            Some(&m) => m,
            None => map(c),
        };
        match mapped {
            Some(m) => {
                if !squeeze || last != Some(m) {
                    unit.put(m, &mut out);
                }
                last = Some(m);
                replaced = true;
            }
            None => {
                out.extend_from_slice(&s[at..at + len]);
                last = None;
            }
        }
        at += len;
    }
    Ok(replaced.then_some(out))
}
