//! Sets of character codes as sorted ranges, and the operations that classes are made of.
//!
//! Invariant: ranges are sorted, neither overlap nor touch, and end at [`MAX`] at most. A set knows nothing of encodings.
//! Rejected: bitmaps for all codes (a class of Unicode letters would take 140 KB); the class type of regex-syntax (scalar values only: bytes and
//! codes of other encodings are none).

/// Largest code. Beyond Unicode, so that complements hold what is no character ([`super::codec::BROKEN`]).
pub const MAX: u32 = 0x7fff_ffff;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ranges(Vec<(u32, u32)>);

impl Ranges {
    pub fn new() -> Ranges {
        Ranges::default()
    }

    pub fn of(pairs: &[(u32, u32)]) -> Ranges {
        let mut r = Ranges(pairs.to_vec());
        r.normalize();
        r
    }

    pub fn single(c: u32) -> Ranges {
        Ranges(vec![(c, c)])
    }

    pub fn pairs(&self) -> &[(u32, u32)] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn contains(&self, c: u32) -> bool {
        let i = self.0.partition_point(|r| r.1 < c);
        self.0.get(i).is_some_and(|r| r.0 <= c)
    }

    /// The one code of a set of one.
    pub fn only(&self) -> Option<u32> {
        match self.0[..] {
            [(a, b)] if a == b => Some(a),
            _ => None,
        }
    }

    fn normalize(&mut self) {
        self.0.sort_unstable();
        let mut out: Vec<(u32, u32)> = Vec::with_capacity(self.0.len());
        for &(a, b) in &self.0 {
            match out.last_mut() {
                Some(last) if a <= last.1.saturating_add(1) => last.1 = last.1.max(b),
                _ => out.push((a, b)),
            }
        }
        self.0 = out;
    }

    pub fn add(&mut self, from: u32, to: u32) {
        match self.0.last_mut() {
            Some(last) if from > last.1.saturating_add(1) => self.0.push((from, to)),
            Some(last) if from >= last.0 => last.1 = last.1.max(to),
            None => self.0.push((from, to)),
            _ => {
                self.0.push((from, to));
                self.normalize();
            }
        }
    }

    pub fn union(&mut self, other: &Ranges) {
        if !other.is_empty() {
            self.0.extend_from_slice(&other.0);
            self.normalize();
        }
    }

    pub fn negated(&self) -> Ranges {
        let mut out = Vec::with_capacity(self.0.len() + 1);
        let mut from = 0;
        for &(a, b) in &self.0 {
            if a > from {
                out.push((from, a - 1));
            }
            from = b.saturating_add(1);
        }
        if from <= MAX {
            out.push((from, MAX));
        }
        Ranges(out)
    }

    pub fn intersection(&self, other: &Ranges) -> Ranges {
        let (mut i, mut j) = (0, 0);
        let mut out = Vec::new();
        while let (Some(&(a, b)), Some(&(c, d))) = (self.0.get(i), other.0.get(j)) {
            let (from, to) = (a.max(c), b.min(d));
            if from <= to {
                out.push((from, to));
            }
            if b < d { i += 1 } else { j += 1 }
        }
        Ranges(out)
    }

    /// The codes from `from` to `to` that are in the set.
    pub fn within(&self, from: u32, to: u32) -> Ranges {
        self.intersection(&Ranges(vec![(from, to)]))
    }

    pub fn minus(&self, other: &Ranges) -> Ranges {
        self.intersection(&other.negated())
    }

    /// Codes one by one; for sets known to be small.
    pub fn codes(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().flat_map(|&(a, b)| a..=b)
    }
}
