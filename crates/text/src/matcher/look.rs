//! What instructions look at: characters of the text, stretches that must be equal, and what groups were before.
//!
//! Invariant: nothing here changes a match; what does not fit before `end` does not match.
//! Rejected: comparing code points of plain text (bytes are equal where characters are).

use super::codec::{BROKEN, Codec};
use super::program::*;
use super::state::{State, Tag};

/// Length of the character at `at` if the set has it; 0 otherwise.
#[inline(always)]
pub(super) fn in_set<C: Codec>(codec: C, set: &Set, s: &[u8], at: usize, end: usize) -> usize {
    if at >= end {
        return 0;
    }
    match set.table[s[at] as usize] {
        0 => 0,
        1 => 1,
        _ => decoded(codec, set, s, at, end),
    }
}

#[inline(never)]
pub(super) fn decoded<C: Codec>(codec: C, set: &Set, s: &[u8], at: usize, end: usize) -> usize {
    let (c, n) = codec.decode(s, at);
    if at + n <= end && set.ranges.contains(c) { n } else { 0 }
}

#[inline(always)]
pub(super) fn one<C: Codec>(p: &Program, codec: C, one: One, s: &[u8], at: usize, end: usize) -> usize {
    match one {
        One::Byte(b) => usize::from(at < end && s[at] == b),
        One::Set(set) => in_set(codec, &p.sets[set as usize], s, at, end),
        One::All | One::Any => {
            if at >= end {
                return 0;
            }
            let n = codec.len(s, at);
            if at + n > end || one == One::Any && is_newline(codec, s, at) { 0 } else { n }
        }
    }
}

#[inline(always)]
pub(super) fn is_newline<C: Codec>(codec: C, s: &[u8], at: usize) -> bool {
    // The first byte decides in all encodings but the wide ones.
    s[at] == b'\n' && (codec.len(s, at) == 1 || codec.decode(s, at).0 == 10) || s[at] == 0 && codec.decode(s, at).0 == 10
}

/// As [`run`], for a loop without a bound, over one piece of a long text: also whether there may be more.
#[cold]
#[inline(never)]
pub(super) fn piece<C: Codec>(p: &Program, codec: C, l: &Loop, s: &[u8], start: (usize, usize), end: usize) -> (usize, usize, bool) {
    if end - start.0 <= PIECE {
        let (to, n) = run(p, codec, l, s, start, end);
        return (to, n, false);
    }
    let limit = start.0 + PIECE;
    let (to, n) = run(p, codec, l, s, start, limit);
    // A character may stand across the border.
    (to, n, limit - to < 8)
}

/// Takes as many as there are, up to `max`: where they end, and how many when they are few enough to be counted. Some may be counted already.
#[inline(always)]
pub(super) fn run<C: Codec>(p: &Program, codec: C, l: &Loop, s: &[u8], (from, counted): (usize, usize), end: usize) -> (usize, usize) {
    let (mut at, mut n) = (from, counted);
    if l.max == u32::MAX && l.min <= 1 {
        // Whole stretches: only whether there was one counts.
        let text = &s[..end];
        let stop = match l.one {
            One::All if l.bytes_only => Some(end),
            One::Any if l.bytes_only => Some(memchr::memchr(b'\n', &text[from..]).map_or(end, |i| from + i)),
            One::Set(set) => match p.sets[set as usize].except {
                Some((1, [a, ..])) => Some(memchr::memchr(a, &text[from..]).map_or(end, |i| from + i)),
                Some((2, [a, b, _])) => Some(memchr::memchr2(a, b, &text[from..]).map_or(end, |i| from + i)),
                Some((_, [a, b, c])) => Some(memchr::memchr3(a, b, c, &text[from..]).map_or(end, |i| from + i)),
                None => None,
            },
            _ => None,
        };
        if let Some(stop) = stop {
            return (stop, counted + stop - from);
        }
    }
    let max = l.max as usize;
    match l.one {
        One::Set(set) => {
            let set = &p.sets[set as usize];
            while n < max {
                let k = in_set(codec, set, s, at, end);
                if k == 0 {
                    break;
                }
                at += k;
                n += 1;
            }
        }
        other => {
            while n < max {
                let k = one(p, codec, other, s, at, end);
                if k == 0 {
                    break;
                }
                at += k;
                n += 1;
            }
        }
    }
    (at, n)
}

/// Is there a word character at `at`?
pub(super) fn is_word<C: Codec>(p: &Program, codec: C, ascii: bool, s: &[u8], at: usize, end: usize) -> bool {
    if at >= end {
        return false;
    }
    match &p.word {
        Some(set) if !ascii => in_set(codec, set, s, at, end) != 0,
        _ => codec.len(s, at) == 1 && (s[at].is_ascii_alphanumeric() || s[at] == b'_'),
    }
}

/// Compares a stretch of text with the text at `at`, fold against fold: where that ends.
pub(super) fn folded_equal<C: Codec>(p: &Program, codec: C, s: &[u8], from: usize, to: usize, at: usize, end: usize) -> Option<usize> {
    let mut wanted = Vec::new();
    let mut i = from;
    while i < to {
        let (c, n) = codec.decode(s, i);
        wanted.extend_from_slice(p.folder.fold(c).codes());
        i += n;
    }
    folded_at(p, codec, &wanted, s, at, end)
}

/// Matches folded codes at `at`: where they end.
pub(super) fn folded_at<C: Codec>(p: &Program, codec: C, wanted: &[u32], s: &[u8], mut at: usize, end: usize) -> Option<usize> {
    let mut i = 0;
    while i < wanted.len() {
        if at >= end {
            return None;
        }
        let (c, n) = codec.decode(s, at);
        if c == BROKEN || at + n > end {
            return None;
        }
        let folded = p.folder.fold(c);
        let codes = folded.codes();
        if !wanted[i..].starts_with(codes) {
            return None;
        }
        i += codes.len();
        at += n;
    }
    Some(at)
}

pub(super) enum Change {
    None,
    Some,
    /// Only where an empty group stood.
    Moved,
}

/// Did an empty iteration of a loop change groups? Looks at what they were when the iteration set them.
pub(super) fn changed(st: &State, slot: u32, groups: &[u32], at: usize) -> Change {
    let Some(from) = st.stack.iter().rposition(|e| matches!(e.tag, Tag::Undo) && e.arg == slot) else { return Change::None };
    let mut moved = false;
    // Each beginning of a group saved its start, then its end. The first that was unset or not empty decides.
    for pair in st.stack[from..].windows(2) {
        let [start, stop] = pair else { continue };
        let starts = matches!((start.tag, stop.tag), (Tag::Undo, Tag::Undo)) && start.arg & 1 == 0 && stop.arg == start.arg + 1;
        if !starts || !groups.contains(&(start.arg / 2)) {
            continue;
        }
        // What is as it was (in a look-around) would be so for ever.
        let same = (start.a, stop.a) == (st.slots[start.arg as usize], st.slots[stop.arg as usize]);
        if same && stop.a != NONE {
            continue;
        }
        if stop.a == NONE || start.a == NONE || start.a != stop.a {
            return Change::Some;
        }
        moved |= stop.a != at;
    }
    if moved { Change::Moved } else { Change::None }
}

pub(super) fn backref<C: Codec>(p: &Program, codec: C, st: &State, b: &Backref, s: &[u8], at: usize, end: usize) -> Option<usize> {
    let same = |from: usize, to: usize| -> Option<usize> {
        if from > to {
            return None;
        }
        if b.fold {
            return folded_equal(p, codec, s, from, to, at, end);
        }
        s[at..end].starts_with(&s[from..to]).then_some(at + to - from)
    };
    if let Some(level) = b.level {
        return at_level(st, &b.groups, level).and_then(|(from, to)| same(from, to));
    }
    // The last group of a name that took part and fits.
    b.groups.iter().rev().find_map(|&g| {
        let (from, to) = (st.slots[2 * g as usize], st.slots[2 * g as usize + 1]);
        if from == NONE || to == NONE { None } else { same(from, to) }
    })
}

/// The latest match of a group `level` calls away from here, found in what is to be undone.
fn at_level(st: &State, groups: &[u32], level: i32) -> Option<(usize, usize)> {
    let mut now: Vec<(usize, usize)> = groups.iter().map(|&g| (st.slots[2 * g as usize], st.slots[2 * g as usize + 1])).collect();
    let mut depth = 0;
    let mut stop = None;
    for e in st.stack.iter().rev() {
        match e.tag {
            Tag::Call => depth -= 1,
            Tag::Return => depth += 1,
            Tag::Undo => {
                let Some(i) = groups.iter().position(|&g| e.arg / 2 == g && e.arg < 2 * g + 2) else { continue };
                let is_end = e.arg & 1 == 1;
                let value = if is_end { now[i].1 } else { now[i].0 };
                if depth == level && value != NONE {
                    if is_end {
                        stop = Some(value);
                    } else if let Some(to) = stop {
                        return Some((value, to));
                    }
                }
                if is_end {
                    now[i].1 = e.a;
                } else {
                    now[i].0 = e.a;
                }
            }
            _ => {}
        }
    }
    None
}
