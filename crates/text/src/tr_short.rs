//! Character sets of ASCII for short texts of ASCII: a bit for each character. Reading a set costs more than such a text otherwise.

use smallvec::SmallVec;

/// Longest text: its result needs no memory of its own, and nobody has to poll.
pub const SHORT: usize = 256;
/// What is made of a short text.
pub type Short = SmallVec<[u8; SHORT]>;

/// Characters in the order written, ranges expanded, and whether all others are meant. None: not ASCII, a descending range, or too many.
fn expanded(spec: &[u8], may_negate: bool) -> Option<(Short, bool)> {
    let negated = may_negate && spec.len() > 1 && spec[0] == b'^';
    let mut rest = &spec[usize::from(negated)..];
    let mut out = Short::new();
    while let [first, more @ ..] = rest {
        rest = more;
        let mut low = *first;
        if let (b'\\', [escaped, more @ ..]) = (low, rest) {
            (low, rest) = (*escaped, more);
        }
        let mut high = low;
        if let [b'-', end, more @ ..] = rest {
            (high, rest) = (*end, more);
        }
        if low > high || high >= 0x80 || out.len() + usize::from(high - low) >= SHORT {
            return None;
        }
        out.extend(low..=high);
    }
    Some((out, negated))
}

/// The intersection of sets ([`crate::tr::CharSet`]).
#[derive(Clone, Copy)]
pub struct AsciiSet([u64; 2]);

impl AsciiSet {
    /// Of all characters.
    pub const ALL: AsciiSet = AsciiSet([u64::MAX; 2]);

    fn of(list: &[u8], negated: bool) -> AsciiSet {
        let mut bits = [0u64; 2];
        for c in list {
            bits[usize::from(c >> 6)] |= 1 << (c & 63);
        }
        AsciiSet(if negated { bits.map(|b| !b) } else { bits })
    }
    /// What is in this one and in the one that is written so. None: that one is none of these.
    pub fn and(self, spec: &[u8]) -> Option<AsciiSet> {
        let (list, negated) = expanded(spec, true)?;
        let other = AsciiSet::of(&list, negated);
        Some(AsciiSet([0, 1].map(|k| self.0[k] & other.0[k])))
    }
    #[inline(always)]
    fn has(self, c: u8) -> bool {
        self.0[usize::from(c >> 6 & 1)] >> (c & 63) & 1 != 0
    }
    pub fn count(self, text: &[u8]) -> usize {
        text.iter().filter(|c| self.has(**c)).count()
    }
    pub fn delete(self, text: &[u8]) -> Short {
        text.iter().copied().filter(|c| !self.has(*c)).collect()
    }
    pub fn squeeze(self, text: &[u8]) -> Short {
        let mut last = None;
        text.iter().copied().filter(|c| last.replace(*c) != Some(*c) || !self.has(*c)).collect()
    }
}

/// As [`crate::tr::tr`]; the outer None: one of the sets is none of these.
pub fn tr(text: &[u8], from: &[u8], to: &[u8], squeeze: bool) -> Option<Option<Short>> {
    let (from, negated) = expanded(from, true)?;
    let (to, _) = expanded(to, false)?;
    let (Some(last), false) = (to.last(), from.is_empty()) else { return None };
    let hits = AsciiSet::of(&from, negated);
    if !text.iter().any(|c| hits.has(*c)) {
        return Some(None);
    }
    let mut table = [*last; 128];
    if !negated {
        for (c, by) in from.iter().zip(to.iter().chain(std::iter::repeat(last))) {
            table[usize::from(*c)] = *by;
        }
    }
    let mut before = None;
    let replaced = text.iter().filter_map(|c| {
        let by = hits.has(*c).then(|| table[usize::from(*c & 0x7f)]);
        let again = squeeze && by.is_some() && before == by;
        before = by;
        if again { None } else { Some(by.unwrap_or(*c)) }
    });
    Some(Some(replaced.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::Rng;
    use crate::tr::{CharSet, Unit};
    use zakuro_base::progress::ToTheEnd;

    /// The same as with the sets that are for all texts.
    #[test]
    fn as_the_others() {
        let mut rng = Rng(11);
        let pieces = ["a", "b", "c", "x", "-", "^", "\\", "a-c", "0-9", "c-a", "\n", "é", "^a", "\\-", "--", "a-"];
        let (mut quick, mut none) = (0, 0);
        for _ in 0..20_000 {
            let (a, b) = (rng.join(&pieces, 4), rng.join(&pieces, 4));
            let text = rng.join(&["a", "b", "c", "aa", "x", "-", "^", "\\", "7", "\n"], 9);
            let (text, a, b) = (&text[..], &a[..], &b[..]);
            let set = AsciiSet::ALL.and(a).and_then(|s| s.and(b));
            match (set, CharSet::new(&[a, b], Unit::Utf8, &mut ToTheEnd)) {
                (Some(set), Ok(general)) => {
                    quick += 1;
                    assert_eq!(set.count(text), general.count(text, &mut ToTheEnd).unwrap(), "{a:?} {b:?} {text:?}");
                    assert_eq!(set.delete(text)[..], general.delete(text, &mut ToTheEnd).unwrap()[..], "{a:?} {b:?} {text:?}");
                    assert_eq!(set.squeeze(text)[..], general.squeeze(text, &mut ToTheEnd).unwrap()[..], "{a:?} {b:?} {text:?}");
                }
                (Some(_), Err(e)) => panic!("{e:?}"),
                (None, _) => none += 1,
            }
            for squeeze in [false, true] {
                if let Some(found) = tr(text, a, b, squeeze) {
                    let general = crate::tr::tr(text, a, b, squeeze, Unit::Utf8, &mut ToTheEnd).unwrap();
                    assert_eq!(found.as_deref(), general.as_deref(), "{text:?}.tr({a:?}, {b:?}), {squeeze}");
                }
            }
        }
        assert!(quick > 5_000 && none > 1_000, "{quick} {none}");
    }
}
