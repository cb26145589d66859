//! A match in progress: the stack of choices and of what to undo, slots, calls, and failures that are remembered.
//!
//! Invariant: giving up entries from the top restores all that was set since they were pushed; nothing refers to the text but offsets.
//! Rejected: a stack of snapshots of all slots (most choices are given up before a group changes).

use super::memo::Memo;
use super::program::*;
use smallvec::SmallVec;

/// Entries of the stack: 24 bytes each.
pub const STACK_LIMIT: usize = 32 << 20;

/// Slots that need no memory of their own.
const FEW: usize = 16;

#[derive(Clone, Copy, Debug)]
pub(super) enum Tag {
    /// Go on at instruction `arg`, place `a`.
    Choice,
    /// A greedy loop (instruction `arg`) may end anywhere from `a` up to before `b`.
    Range,
    /// Go on at instruction `arg`, from place `b` and then from each character before, down to `a`.
    Span,
    /// A lazy loop stands at `a` after `b` rounds.
    Lazy,
    /// Slot `arg` was `a`.
    Undo,
    /// Nothing to go on with; `a` is the place where it was put.
    Barrier,
    /// Point `arg` has failed at `a`; its row is `b`.
    Mark,
    /// Loop `arg` (an instruction) has failed from each place from `a` to `b`.
    Failed,
    /// Like `Mark` and `Failed`, of an atomic group that is closed: it has failed as a whole.
    AtomicMark,
    AtomicFailed,
    /// A call happened, or a return: the frame was `a`; `b`: frames there were.
    Call,
    Return,
    /// What stands in `(?~` failed here: try the next place. `arg`: the instruction.
    Absent,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) tag: Tag,
    pub(super) arg: u32,
    pub(super) a: usize,
    pub(super) b: usize,
}

/// A call that was not returned from yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) back: Pc,
    pub(super) outer: usize,
    /// Where its copy of the local slots begins.
    pub(super) saved: usize,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Match,
    No,
    /// Steps are used up; run again to go on.
    Paused,
    /// The stack is full, or memory is short.
    Overflow,
}

/// A match in progress.
#[derive(Debug, Default)]
pub struct State {
    /// Most matches need no memory for it.
    pub(super) stack: SmallVec<[Entry; 16]>,
    pub slots: SmallVec<[usize; FEW]>,
    pub(super) frames: Vec<Frame>,
    pub(super) saved: Vec<usize>,
    pub(super) frame: usize,
    pub(super) memo: Option<Box<Memo>>,
    pub(super) memo_refused: bool,
    /// What is on the stack is looked at.
    pub(super) history: bool,
    /// Slots were set without being noted.
    pub(super) dirty: bool,
    /// How far the loop at `pc` came before the run paused: place and rounds; [`NONE`]: it begins.
    pub(super) partial: (usize, usize),
    /// Where the run goes on; `fresh`: it begins.
    pub(super) pc: Pc,
    pub(super) at: usize,
    pub(super) failing: bool,
    /// Where the text ends for now (`(?~` narrows it).
    pub(super) end: usize,
    /// Choices given up so far.
    pub(super) fails: usize,
    /// Steps left before the run pauses.
    pub steps: isize,
    /// Where the search began (`\G`).
    pub origin: usize,
}

impl State {
    /// Makes ready for a program over a text.
    #[inline]
    pub fn reset(&mut self, p: &Program, len: usize, origin: usize) {
        let slots = p.slots as usize;
        self.slots = if slots <= FEW { SmallVec::from_buf_and_len([NONE; FEW], slots) } else { SmallVec::from_elem(NONE, slots) };
        self.memo = None;
        self.memo_refused = !p.memo;
        self.fails = 0;
        self.end = len;
        self.origin = origin;
        self.history = p.levels || !p.group_lists.is_empty();
        self.dirty = false;
    }

    /// Makes ready for a match at `at`.
    #[inline]
    pub fn begin(&mut self, at: usize, end: usize) {
        self.stack.clear();
        self.frames.clear();
        self.saved.clear();
        self.frame = NONE;
        if std::mem::take(&mut self.dirty) {
            self.slots.fill(NONE);
        }
        self.slots[0] = at;
        self.slots[1] = NONE;
        self.pc = 0;
        self.at = at;
        self.failing = false;
        self.end = end;
        self.partial = (NONE, 0);
    }

    /// Memory that this match holds, in bytes.
    pub fn memory(&self) -> usize {
        let stack = if self.stack.spilled() { self.stack.capacity() } else { 0 };
        stack * size_of::<Entry>()
            + self.frames.capacity() * size_of::<Frame>()
            + self.saved.capacity() * size_of::<usize>()
            + self.memo.as_ref().map_or(0, |m| m.memory())
    }

    /// Where the match ended.
    pub fn place(&self) -> usize {
        self.at
    }

    #[inline(always)]
    pub(super) fn push(&mut self, tag: Tag, arg: u32, a: usize, b: usize) -> bool {
        if self.stack.len() == self.stack.capacity() && !self.grow() {
            return false;
        }
        self.stack.push(Entry { tag, arg, a, b });
        true
    }

    #[cold]
    #[inline(never)]
    pub(super) fn grow(&mut self) -> bool {
        let len = self.stack.len();
        len < STACK_LIMIT && self.stack.try_reserve_exact(len.max(64)).is_ok()
    }

    /// Counts `bytes` that a loop went over.
    #[inline(always)]
    pub(super) fn work(&mut self, bytes: usize) {
        let n = bytes >> 5;
        self.steps -= n as isize + 1;
        self.fails += n;
    }

    /// Sets a slot so that it is restored when what happened since is given up.
    #[inline(always)]
    pub(super) fn set(&mut self, slot: u32, value: usize) -> bool {
        if self.stack.is_empty() && !self.history {
            // Nothing to come back to.
            self.slots[slot as usize] = value;
            self.dirty = true;
            return true;
        }
        let old = std::mem::replace(&mut self.slots[slot as usize], value);
        self.push(Tag::Undo, slot, old, 0)
    }

    /// Forgets the choices above `height`, but not what to undo.
    pub(super) fn cut(&mut self, height: usize) {
        let mut to = height;
        for i in height..self.stack.len() {
            let e = self.stack[i];
            if matches!(e.tag, Tag::Undo | Tag::Call | Tag::Return) {
                self.stack[to] = e;
                to += 1;
            }
        }
        self.stack.truncate(to);
    }

    /// Undoes everything above `height`.
    pub(super) fn unwind(&mut self, height: usize) {
        while self.stack.len() > height {
            let Some(e) = self.stack.pop() else { return };
            self.undo(e);
        }
    }

    pub(super) fn undo(&mut self, e: Entry) {
        match e.tag {
            Tag::Undo => self.slots[e.arg as usize] = e.a,
            Tag::Call => {
                self.frame = e.a;
                if let Some(f) = self.frames.get(e.b) {
                    self.saved.truncate(f.saved);
                }
                self.frames.truncate(e.b);
            }
            Tag::Return => self.frame = e.a,
            _ => {}
        }
    }
}
