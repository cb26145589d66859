//! Matches of simple programs over short texts, with what fits in a few words.
//!
//! A search of some characters is over before [`super::exec`] has its state ready. Programs of characters, loops over one, ways, groups and anchors are run here first: the
//! groups stand in an array, ways that are kept and what to undo in another. Invariant: where this gives up (too many ways, too many steps) nothing is decided, and the state begins anew.
//! Rejected: a copy of all groups for each way that is kept (what was stored in halves and is loaded as a whole has to wait).

use super::codec::Codec;
use super::look::*;
use super::program::*;

/// Groups that a program may have, the whole match included.
pub(super) const GROUPS: usize = 4;
/// Bytes behind the place where it begins.
pub(super) const FAR: usize = 1 << 16;
/// Steps that may be taken here: where it takes more, the state knows how not to go over the same text again and again.
pub(super) const STEPS: isize = 1024;
/// Ways that are kept, with what to undo.
const DEPTH: usize = 16;

pub(super) type Slots = [usize; 2 * GROUPS];

/// Something else to try, or what to undo on the way to that.
struct Kept {
    /// The instruction; with [`UNDO`] a group.
    pc: Pc,
    /// A loop may end anywhere from here up to before `at`; [`NONE`]: a way, from `at`. Of a group, its end.
    low: usize,
    at: usize,
}

/// Group `pc` was from `at` to `low`.
const UNDO: Pc = 1 << 31;

/// What an attempt at one place comes to.
pub(super) enum Quick {
    Match(usize),
    No,
    GivenUp,
}

impl Program {
    /// Whether all that it holds can be run here.
    pub(super) fn is_simple(&self) -> bool {
        let known = |inst: &Inst| match inst {
            Inst::Loop(i) => self.loops[*i as usize].kind != LoopKind::Lazy,
            Inst::Match
            | Inst::Fail
            | Inst::Byte(_)
            | Inst::Literal(..)
            | Inst::LiteralFold(..)
            | Inst::One(_)
            | Inst::Jump(_)
            | Inst::Split(_)
            | Inst::Start(_)
            | Inst::End(_)
            | Inst::LineStart
            | Inst::LineEnd
            | Inst::TextStart
            | Inst::TextEnd
            | Inst::TextEndNewline
            | Inst::WordEdge(..) => true,
            _ => false,
        };
        !self.levels && self.groups as usize <= GROUPS && self.insts.iter().all(known)
    }
}

/// Tries a simple program at `from`, and takes `steps` as the state would.
pub(super) fn run_at<C: Codec>(p: &Program, codec: C, s: &[u8], from: usize, slots: &mut Slots, steps: &mut isize) -> Quick {
    let end = s.len();
    let mut kept: smallvec::SmallVec<[Kept; DEPTH]> = smallvec::SmallVec::new();
    *slots = [NONE; 2 * GROUPS];
    slots[0] = from;
    let (mut pc, mut at) = (0, from);
    loop {
        let inst = p.insts[pc as usize];
        pc += 1;
        let goes_on = match inst {
            Inst::Match => {
                slots[1] = at;
                return Quick::Match(at);
            }
            Inst::Byte(b) => {
                let is = at < end && s[at] == b;
                at += usize::from(is);
                is
            }
            Inst::Literal(from, len) => {
                let is = s[at..].starts_with(&p.bytes[from as usize..(from + len) as usize]);
                at += if is { len as usize } else { 0 };
                is
            }
            Inst::LiteralFold(from, len) => {
                let text = &p.bytes[from as usize..(from + len) as usize];
                let is = s[at..].get(..len as usize).is_some_and(|t| t.eq_ignore_ascii_case(text));
                at += if is { len as usize } else { 0 };
                is
            }
            Inst::One(o) => {
                let n = one(p, codec, o, s, at, end);
                at += n;
                n > 0
            }
            Inst::Jump(to) => {
                pc = to;
                true
            }
            Inst::Split(i) => {
                let b = &p.branches[i as usize];
                let open = |f: &Option<First>| f.as_ref().is_none_or(|f| at < end && f.has(s[at]));
                *steps -= 1;
                match (open(&b.first_bytes), open(&b.second_bytes)) {
                    (true, true) => {
                        if kept.len() == DEPTH || *steps < 0 {
                            return Quick::GivenUp;
                        }
                        kept.push(Kept { pc: b.second, low: NONE, at });
                        pc = b.first;
                        true
                    }
                    (true, false) => {
                        pc = b.first;
                        true
                    }
                    (false, true) => {
                        pc = b.second;
                        true
                    }
                    (false, false) => false,
                }
            }
            Inst::Loop(i) => {
                let l = &p.loops[i as usize];
                let from = at;
                let (to, n) = run(p, codec, l, s, (from, 0), end);
                *steps -= ((to - from) >> 5) as isize + 1;
                at = to;
                if n < l.min as usize {
                    false
                } else if l.kind == LoopKind::Greedy {
                    let mut low = from;
                    for _ in 0..l.min {
                        low += one(p, codec, l.one, s, low, end);
                    }
                    if to > low {
                        if kept.len() == DEPTH {
                            return Quick::GivenUp;
                        }
                        kept.push(Kept { pc: pc - 1, low, at: to });
                        l.follow.as_ref().is_none_or(|f| at < end && f.has(s[at]))
                    } else {
                        true
                    }
                } else {
                    true
                }
            }
            Inst::Start(n) => {
                if !kept.is_empty() {
                    if kept.len() == DEPTH {
                        return Quick::GivenUp;
                    }
                    kept.push(Kept { pc: UNDO | n, low: slots[2 * n as usize + 1], at: slots[2 * n as usize] });
                }
                slots[2 * n as usize] = at;
                slots[2 * n as usize + 1] = NONE;
                true
            }
            Inst::End(n) => {
                slots[2 * n as usize + 1] = at;
                true
            }
            Inst::LineStart => at == 0 || at < end && is_newline(codec, s, codec.prev(s, at)),
            Inst::LineEnd => at == end || is_newline(codec, s, at),
            Inst::TextStart => at == 0,
            Inst::TextEnd => at == end,
            Inst::TextEndNewline => at == end || is_newline(codec, s, at) && at + codec.len(s, at) == end,
            Inst::WordEdge(ascii, not) => {
                let before = at > 0 && is_word(p, codec, ascii, s, codec.prev(s, at), end);
                (before != is_word(p, codec, ascii, s, at, end)) != not
            }
            _ => false,
        };
        if goes_on {
            continue;
        }
        *steps -= 1;
        loop {
            let Some(last) = kept.last_mut() else { return Quick::No };
            if *steps < 0 {
                return Quick::GivenUp;
            }
            let next = last.pc;
            if next & UNDO != 0 {
                let n = (next & !UNDO) as usize;
                (slots[2 * n], slots[2 * n + 1]) = (last.at, last.low);
            } else if last.low == NONE {
                (pc, at) = (next, last.at);
                kept.pop();
                break;
            } else if let Some(place) = give_back(p, codec, s, last, steps) {
                (pc, at) = (next + 1, place);
                last.at = place;
                break;
            }
            kept.pop();
        }
    }
}

/// The last place before `at` where a loop may end.
fn give_back<C: Codec>(p: &Program, codec: C, s: &[u8], kept: &Kept, steps: &mut isize) -> Option<usize> {
    let Inst::Loop(l) = p.insts[kept.pc as usize] else { return None };
    let l = &p.loops[l as usize];
    let mut at = kept.at;
    while at > kept.low {
        at = if l.bytes_only { at - 1 } else { codec.prev(s, at) };
        *steps -= 1;
        if l.follow.as_ref().is_none_or(|f| at < s.len() && f.has(s[at])) {
            return Some(at);
        }
    }
    None
}
