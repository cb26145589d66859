//! What a pattern is compiled to: instructions, sets, loops, and what a search may know beforehand.
//!
//! Invariants: a program is immutable, knows its encoding, and is good for any text. Places are bytes, except in sets, which hold codes.
//! Rejected: a tree that is walked (native recursion); bytes packed by hand (decoding costs more than the memory saves).

use super::codec::Coding;
use super::folding::Folder;
use super::ranges::Ranges;
use super::search::Mode;
use std::sync::Arc;

pub type Pc = u32;
/// Bytes that one instruction goes over before the run pauses.
pub const PIECE: usize = 1 << 20;
/// No place, no group.
pub const NONE: usize = usize::MAX;

/// Which first bytes a part may match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct First {
    pub bits: [u64; 4],
    /// It may match nothing at all (or it is unknown what it matches).
    pub empty: bool,
}

impl First {
    pub const NOTHING: First = First { bits: [0; 4], empty: false };
    pub const EMPTY: First = First { bits: [0; 4], empty: true };
    pub const UNKNOWN: First = First { bits: [!0; 4], empty: true };

    pub fn add(&mut self, b: u8) {
        self.bits[b as usize >> 6] |= 1 << (b & 63);
    }
    #[inline(always)]
    pub fn has(&self, b: u8) -> bool {
        self.bits[b as usize >> 6] >> (b & 63) & 1 != 0
    }
    pub fn or(&mut self, other: &First) {
        for (a, b) in self.bits.iter_mut().zip(other.bits) {
            *a |= b;
        }
        self.empty |= other.empty;
    }
    /// This, and when it may be empty what follows.
    pub fn then(&self, next: &First) -> First {
        if !self.empty {
            return *self;
        }
        let mut out = *self;
        out.or(next);
        out.empty = next.empty;
        out
    }
    pub fn meets(&self, other: &First) -> bool {
        self.bits.iter().zip(other.bits).any(|(a, b)| a & b != 0)
    }
    pub fn bytes(&self) -> impl Iterator<Item = u8> + '_ {
        (0..=255).filter(|&b| self.has(b))
    }
    pub fn count(&self) -> u32 {
        self.bits.iter().map(|w| w.count_ones()).sum()
    }
}

/// A set of characters, with an answer for each first byte.
#[derive(Clone, Debug)]
pub struct Set {
    /// 0: not in the set; 1: in the set, one byte; 2: decode and look.
    pub table: [u8; 256],
    pub ranges: Arc<Ranges>,
    /// All members are one byte long.
    pub bytes_only: bool,
    /// The set is everything but these one, two or three ASCII bytes (how many, which).
    pub except: Option<(u8, [u8; 3])>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum One {
    Set(u32),
    /// A dot that stops at a newline.
    Any,
    /// Every character.
    All,
    Byte(u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopKind {
    Greedy,
    Lazy,
    /// Gives nothing back: possessive.
    Keep,
    /// Greedy, but what follows could not match inside.
    Apart,
}

/// A repeated single character.
#[derive(Clone, Debug)]
pub struct Loop {
    pub one: One,
    pub min: u32,
    /// `u32::MAX`: no bound.
    pub max: u32,
    pub kind: LoopKind,
    /// What must follow; None: anything, or nothing.
    pub follow: Option<First>,
    /// The only byte that may follow.
    pub follow_byte: Option<u8>,
    /// Its number among what is memoized.
    pub point: u32,
    /// Members are one byte long.
    pub bytes_only: bool,
}

/// What a branch looks at before it takes a way.
#[derive(Clone, Debug)]
pub struct Branch {
    pub first: Pc,
    pub second: Pc,
    /// The ways are open for these bytes only.
    pub first_bytes: Option<First>,
    pub second_bytes: Option<First>,
    pub point: u32,
}

#[derive(Clone, Debug)]
pub struct Backref {
    pub groups: Vec<u32>,
    pub fold: bool,
    pub level: Option<i32>,
}

#[derive(Clone, Copy, Debug)]
pub enum Inst {
    Match,
    Fail,
    Byte(u8),
    /// Part of `bytes`.
    Literal(u32, u32),
    /// ASCII letters in lower case in `bytes`; the text may have either case.
    LiteralFold(u32, u32),
    /// Folded codes in `codes`; the text is folded in full.
    Folded(u32, u32),
    One(One),
    Jump(Pc),
    /// Tries the first way, keeps the second.
    Split(u32),
    Loop(u32),
    /// A group begins; its end is unset.
    Start(u32),
    End(u32),
    /// As `Start` and `End`, for groups that contain calls of themselves: the place in a local slot.
    StartRecursive(u32, u32),
    EndRecursive(u32, u32),
    /// An iteration of a loop that may be empty begins.
    EmptyStart(u32),
    /// ... ends: when it was empty, the loop is over. The second: groups inside (in `group_lists`, `u32::MAX`: none).
    EmptyEnd(u32, u32, Pc),
    /// Sets a counter to 0.
    CountInit(u32),
    /// ... and counts, up to the second.
    CountStep(u32, u32),
    /// In `counters`.
    CountLoop(u32),
    LineStart,
    LineEnd,
    TextStart,
    TextEnd,
    TextEndNewline,
    SearchStart,
    /// ASCII words; not at an edge.
    WordEdge(bool, bool),
    Backref(u32),
    /// Goes on if one of the groups took part.
    Condition(u32, Pc),
    Call(Pc),
    Return,
    AtomicStart(u32),
    /// The second, here and below: it remembers what came through.
    AtomicEnd(u32, bool),
    /// Looks ahead: the place is restored.
    AheadStart(u32),
    AheadEnd(u32, bool),
    /// Negative look: goes on at the second when the body fails.
    NotStart(u32, Pc),
    NotEnd(u32, bool),
    /// Back by so many characters.
    Back(u32),
    /// Local slots from here on: start, next try, limit, outer end; where the body ended.
    AbsentStart(u32),
    AbsentTry(u32, Pc),
    AbsentEnd(u32),
    Keep,
    Newline,
    Grapheme,
}

/// What is remembered of a branch or loop: where its rows of bits begin, and what beside the place tells them apart.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    pub base: u32,
    /// The counted loop that it stands in; [`NOWHERE`]: none.
    pub counter: u32,
    /// The innermost guard, if that is [`Guard::remembers`]; else [`NOWHERE`].
    pub guard: u32,
}

/// No counter, no guard.
pub const NOWHERE: u32 = u32::MAX;

/// Something that cuts the stack behind its body.
#[derive(Clone, Copy, Debug)]
pub struct Guard {
    pub atomic: bool,
    /// The instruction that ends the body.
    pub end: Pc,
    /// Where the height of the stack stands.
    pub slot: u32,
}

#[derive(Clone, Debug)]
pub struct Counter {
    pub slot: u32,
    /// Where an iteration began, if it may be empty; else [`NOWHERE`].
    pub empty: u32,
    /// The counted loop around this one; or [`NOWHERE`].
    pub outer: u32,
    /// How many states its bodies have: counts, and whether the iteration is empty up to now.
    pub states: u32,
    pub point: u32,
    pub min: u32,
    /// `u32::MAX`: no bound.
    pub max: u32,
    pub lazy: bool,
    pub body: Pc,
    pub exit: Pc,
}

/// Where matches can begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    Anywhere,
    /// `\A`
    Text,
    /// `\G`
    Search,
    /// `^`
    Line,
    /// `.*`: what fails in a line fails further on in it.
    OncePerLine,
    /// `(?m).*`
    Once,
}

#[derive(Debug)]
pub struct Program {
    pub coding: Coding,
    pub folder: Folder,
    pub insts: Vec<Inst>,
    pub sets: Vec<Set>,
    pub loops: Vec<Loop>,
    pub branches: Vec<Branch>,
    pub counters: Vec<Counter>,
    pub backrefs: Vec<Backref>,
    pub group_lists: Vec<Vec<u32>>,
    pub bytes: Vec<u8>,
    pub codes: Vec<u32>,
    /// Groups, the whole match included.
    pub groups: u32,
    /// Where local slots begin, and how many slots there are.
    pub locals: u32,
    pub slots: u32,
    pub names: Vec<(Vec<u8>, Vec<u32>)>,
    /// Characters of a word: Unicode's or the encoding's, and ASCII's.
    pub word: Option<Set>,
    pub grapheme: Option<Box<super::grapheme::Tables>>,
    pub newline: Ranges,
    /// Failure depends on instruction and place alone: it can be remembered.
    pub memo: bool,
    /// Something cuts the stack: atomic groups, look-ahead.
    pub guarded: bool,
    /// What can be remembered, and how many rows of bits that takes.
    pub points: Vec<Point>,
    pub rows: u32,
    pub guards: Vec<Guard>,
    /// Ruby's answer to `Regexp.linear_time?`.
    pub linear: bool,
    /// `\k<n+1>` looks at the history of the stack: nothing may be left out of it.
    pub levels: bool,
    pub begin: Begin,
    /// Every match begins with one of these bytes.
    pub first: Option<First>,
    /// The few of them.
    pub first_few: Vec<u8>,
    /// Every match begins with this text.
    pub prefix: Option<Box<memchr::memmem::Finder<'static>>>,
    pub prefix_len: usize,
    /// Every match contains this text.
    pub needed: Option<Box<memchr::memmem::Finder<'static>>>,
    /// The whole pattern is `prefix`.
    pub is_literal: bool,
    /// Its matches are tried without the state of a search first.
    pub quick: bool,
}

impl Program {
    /// Whether a match may begin at byte `at`, as far as the byte there tells.
    #[inline]
    pub fn may_begin_at(&self, s: &[u8], at: usize) -> bool {
        self.first.as_ref().is_none_or(|f| at < s.len() && f.has(s[at]))
    }

    /// Whether a search from byte `from` looks at one place alone, and the byte there tells that nothing matches.
    #[inline]
    pub fn is_refused(&self, mode: Mode, s: &[u8], from: usize) -> bool {
        match (mode, self.begin) {
            (Mode::Anchored, _) | (Mode::Forward, Begin::Search) => !self.may_begin_at(s, from),
            (Mode::Forward, Begin::Text) => from > 0 || !self.may_begin_at(s, 0),
            _ => false,
        }
    }

    /// Memory that it holds, in bytes, roughly.
    pub fn weight(&self) -> usize {
        let lists: usize = self.group_lists.iter().map(|l| l.len() * 4 + 24).sum();
        // Lists have room for up to as much again.
        let lengths = self.insts.len() * size_of::<Inst>()
            + self.sets.iter().map(|s| size_of::<Set>() + s.ranges.pairs().len() * 8).sum::<usize>()
            + self.loops.len() * size_of::<Loop>()
            + self.branches.len() * size_of::<Branch>()
            + self.points.len() * size_of::<Point>()
            + self.counters.len() * size_of::<Counter>()
            + self.backrefs.len() * size_of::<Backref>()
            + self.bytes.len()
            + self.codes.len() * 4
            + self.names.iter().map(|n| n.0.len() + 64).sum::<usize>()
            + lists;
        size_of::<Program>() + lengths + lengths * 3 / 4
    }
}
