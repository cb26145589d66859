//! What a match remembers: points of the program that failed at a place, and points in look-arounds and atomic groups that came through.
//!
//! Source: Davis, Servant, Lee, "Using Selective Memoization to Defeat Regular Expression Denial of Service" (2021); for look-around and atomic groups,
//! Fujinami and Hasuo, "Efficient Matching with Memoization for Regexes with Look-around and Atomic Grouping" (2024).
//! A row of bits belongs to each state that a point can be in: of a branch that stands in counted loops, one for each count. Bit `n` is place `n`.
//! Invariants: a bit in `failed` says that from there no match (of the whole, or of the body of the guard around it) can be reached, whatever the
//! groups hold. A bit in `decided` says, of a look-around, that its body comes through from there; of an atomic group, that its body comes through and what
//! follows fails. Set is only what was tried out.
//! Rejected: rows of hashed states (unbounded); remembering visits (wrong where the stack is cut).

use super::program::*;
use super::state::{Entry, State, Tag};

/// Memory that one match may take for it: bits.
const LIMIT: usize = 1 << 31;

#[derive(Debug)]
pub(super) struct Memo {
    failed: Vec<u64>,
    /// Empty if the program has no guard that remembers.
    decided: Vec<u64>,
    width: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Nothing,
    Failed,
    Decided,
}

fn zeros(bits: usize) -> Option<Vec<u64>> {
    let mut words = Vec::new();
    words.try_reserve_exact(bits / 64 + 1).ok()?;
    words.resize(bits / 64 + 1, 0);
    Some(words)
}

impl Memo {
    fn new(p: &Program, len: usize) -> Option<Memo> {
        let width = len + 1;
        let kinds = if p.guards.is_empty() { 1 } else { 2 };
        let bits = width.checked_mul(p.rows as usize).filter(|&b| b <= LIMIT / kinds)?;
        let decided = if kinds == 2 { zeros(bits)? } else { Vec::new() };
        Some(Memo { failed: zeros(bits)?, decided, width })
    }

    pub(super) fn memory(&self) -> usize {
        (self.failed.len() + self.decided.len()) * size_of::<u64>()
    }

    #[inline(always)]
    pub(super) fn fail(&mut self, row: usize, at: usize) {
        let i = row * self.width + at;
        self.failed[i >> 6] |= 1 << (i & 63);
    }

    fn decide(&mut self, row: usize, at: usize) {
        let i = row * self.width + at;
        if let Some(word) = self.decided.get_mut(i >> 6) {
            *word |= 1 << (i & 63);
        }
    }

    #[inline(always)]
    pub(super) fn known(&self, row: usize, at: usize) -> Known {
        let i = row * self.width + at;
        let has = |words: &[u64]| words.get(i >> 6).is_some_and(|w| w >> (i & 63) & 1 != 0);
        if has(&self.failed) {
            Known::Failed
        } else if has(&self.decided) {
            Known::Decided
        } else {
            Known::Nothing
        }
    }
}

impl State {
    #[cold]
    #[inline(never)]
    pub(super) fn start_memo(&mut self, p: &Program, len: usize) {
        self.memo_refused = true;
        self.memo = Memo::new(p, len).map(Box::new);
    }

    /// The row of a point, in the state that the counted loops around it are in.
    #[inline(always)]
    pub(super) fn row(&self, p: &Program, point: u32, at: usize) -> usize {
        let info = p.points[point as usize];
        if info.counter == NOWHERE { info.base as usize } else { self.counted_row(p, info, at) }
    }

    fn counted_row(&self, p: &Program, info: Point, at: usize) -> usize {
        let (mut index, mut counter) = (0, info.counter);
        while counter != NOWHERE {
            let c = &p.counters[counter as usize];
            let mut state = self.slots[c.slot as usize];
            if c.empty != NOWHERE {
                state = 2 * state + usize::from(self.slots[c.empty as usize] == at);
            }
            index = index * c.states as usize + state;
            counter = c.outer;
        }
        info.base as usize + index
    }

    #[inline(always)]
    pub(super) fn known(&self, p: &Program, point: u32, at: usize) -> Known {
        match &self.memo {
            None => Known::Nothing,
            Some(memo) => memo.known(self.row(p, point, at), at),
        }
    }

    /// Remembers what an entry says that was given up.
    pub(super) fn remember(&mut self, p: &Program, e: Entry) {
        let Some(mut memo) = self.memo.take() else { return };
        match e.tag {
            Tag::Mark => memo.fail(e.b, e.a),
            Tag::AtomicMark => memo.decide(e.b, e.a),
            // Places inside characters are marked, too: nobody asks for them.
            Tag::Failed => self.each(p, e, |row, at| memo.fail(row, at)),
            Tag::AtomicFailed => self.each(p, e, |row, at| memo.decide(row, at)),
            _ => {}
        }
        self.memo = Some(memo);
    }

    fn each(&self, p: &Program, e: Entry, mut f: impl FnMut(usize, usize)) {
        let Inst::Loop(l) = p.insts[e.arg as usize] else { return };
        let l = &p.loops[l as usize];
        if l.max != u32::MAX {
            return;
        }
        let point = l.point;
        (e.a..=e.b).for_each(|at| f(self.row(p, point, at), at));
    }

    fn is_uncounted(&self, p: &Program, e: Entry) -> bool {
        matches!(p.insts[e.arg as usize], Inst::Loop(l) if p.points[p.loops[l as usize].point as usize].counter == NOWHERE)
    }

    /// The body of a guard is decided: so would it be from every point on the way. (Loops in counted loops are left out: the counts were others.)
    pub(super) fn came_through(&mut self, p: &Program, height: usize) {
        let Some(mut memo) = self.memo.take() else { return };
        for i in height..self.stack.len() {
            let e = self.stack[i];
            match e.tag {
                Tag::Mark => memo.decide(e.b, e.a),
                Tag::Range | Tag::Failed if self.is_uncounted(p, e) => self.each(p, e, |row, at| memo.decide(row, at)),
                _ => {}
            }
        }
        self.memo = Some(memo);
    }

    /// The body of an atomic group came through. Forgets its choices; keeps what will have failed with it.
    pub(super) fn close_atomic(&mut self, height: usize) {
        let mut to = height;
        for i in height..self.stack.len() {
            let mut e = self.stack[i];
            e.tag = match e.tag {
                Tag::Mark => Tag::AtomicMark,
                Tag::Range | Tag::Failed => Tag::AtomicFailed,
                Tag::Undo | Tag::Call | Tag::Return => e.tag,
                _ => continue,
            };
            self.stack[to] = e;
            to += 1;
        }
        self.stack.truncate(to);
    }
}
