//! The matcher: runs a program at one place of a text, backtracking on a stack of its own.
//!
//! State is explicit ([`State`]): a run may stop when its steps are used up and go on later, over the same bytes wherever they are then. The stack
//! holds choices and, between them, what to undo (slots of groups and loops), so that giving up a choice restores what it saw.
//! Invariants: no native recursion; memory is bounded by [`STACK_LIMIT`]; the place is always the beginning of a character or the end.
//! Where failure depends on instruction and place alone, it is remembered once a match takes long (Davis, Servant, Lee: "Using Selective
//! Memoization to Defeat Regular Expression Denial of Service", 2021): such a match takes time linear in the text. What is remembered is failure
//! itself (a `Mark` under a choice), not the visit: cutting the stack (atomic groups, look-ahead) forgets nothing false.
//! Rejected: a callback that looks for interrupts (the VM would run Ruby code under a borrowed text).

use super::codec::{BROKEN, Codec};
use super::program::*;

/// Entries of the stack: 24 bytes each.
pub const STACK_LIMIT: usize = 32 << 20;

#[derive(Clone, Copy, Debug)]
enum Tag {
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
    /// Point `arg` has failed at `a`.
    Mark,
    /// A call happened, or a return: the frame was `a`; `b`: frames there were.
    Call,
    Return,
    /// What stands in `(?~` failed here: try the next place. `arg`: the instruction.
    Absent,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    tag: Tag,
    arg: u32,
    a: usize,
    b: usize,
}

/// A call that was not returned from yet.
#[derive(Clone, Copy, Debug)]
struct Frame {
    back: Pc,
    outer: usize,
    /// Where its copy of the local slots begins.
    saved: usize,
}

/// Failures that are known: a bit for each point and place.
#[derive(Debug)]
struct Memo {
    bits: Vec<u64>,
    width: usize,
}

impl Memo {
    #[inline(always)]
    fn has(&self, point: u32, at: usize) -> bool {
        let i = point as usize * self.width + at;
        self.bits[i >> 6] >> (i & 63) & 1 != 0
    }
    #[inline(always)]
    fn set(&mut self, point: u32, at: usize) {
        let i = point as usize * self.width + at;
        self.bits[i >> 6] |= 1 << (i & 63);
    }
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
    stack: Vec<Entry>,
    pub slots: Vec<usize>,
    frames: Vec<Frame>,
    saved: Vec<usize>,
    frame: usize,
    memo: Option<Box<Memo>>,
    memo_refused: bool,
    /// What is on the stack is looked at.
    history: bool,
    /// Slots were set without being noted.
    dirty: bool,
    /// Where the run goes on; `fresh`: it begins.
    pc: Pc,
    at: usize,
    failing: bool,
    /// Where the text ends for now (`(?~` narrows it).
    end: usize,
    /// Choices given up so far.
    fails: usize,
    /// Steps left before the run pauses.
    pub steps: isize,
    /// Where the search began (`\G`).
    pub origin: usize,
}

/// Memory that remembered failures may take: bits.
const MEMO_LIMIT: usize = 1 << 31;

impl State {
    /// Makes ready for a program over a text.
    pub fn reset(&mut self, p: &Program, len: usize, origin: usize) {
        self.slots.clear();
        self.slots.resize(p.slots as usize, NONE);
        self.memo = None;
        self.memo_refused = !p.memo;
        self.fails = 0;
        self.end = len;
        self.origin = origin;
        self.history = p.levels || !p.group_lists.is_empty();
        self.dirty = false;
    }

    /// Makes ready for a match at `at`.
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
    }

    /// Where the match ended.
    pub fn place(&self) -> usize {
        self.at
    }

    #[inline(always)]
    fn push(&mut self, tag: Tag, arg: u32, a: usize, b: usize) -> bool {
        if self.stack.len() == self.stack.capacity() && !self.grow() {
            return false;
        }
        self.stack.push(Entry { tag, arg, a, b });
        true
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> bool {
        let len = self.stack.len();
        len < STACK_LIMIT && self.stack.try_reserve_exact(len.max(64)).is_ok()
    }

    /// Counts `bytes` that a loop went over.
    #[inline(always)]
    fn work(&mut self, bytes: usize) {
        let n = bytes >> 5;
        self.steps -= n as isize + 1;
        self.fails += n;
    }

    /// Sets a slot so that it is restored when what happened since is given up.
    #[inline(always)]
    fn set(&mut self, slot: u32, value: usize) -> bool {
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
    fn cut(&mut self, height: usize) {
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
    fn unwind(&mut self, height: usize) {
        while self.stack.len() > height {
            let Some(e) = self.stack.pop() else { return };
            self.undo(e);
        }
    }

    fn undo(&mut self, e: Entry) {
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

    #[cold]
    #[inline(never)]
    fn start_memo(&mut self, p: &Program, len: usize) {
        self.memo_refused = true;
        let width = len + 1;
        let Some(bits) = width.checked_mul(p.points as usize).filter(|&b| b <= MEMO_LIMIT) else { return };
        let mut words = Vec::new();
        if words.try_reserve_exact(bits / 64 + 1).is_ok() {
            words.resize(bits / 64 + 1, 0);
            self.memo = Some(Box::new(Memo { bits: words, width }));
        }
    }
}

/// Length of the character at `at` if the set has it; 0 otherwise.
#[inline(always)]
fn in_set<C: Codec>(codec: C, set: &Set, s: &[u8], at: usize, end: usize) -> usize {
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
fn decoded<C: Codec>(codec: C, set: &Set, s: &[u8], at: usize, end: usize) -> usize {
    let (c, n) = codec.decode(s, at);
    if at + n <= end && set.ranges.contains(c) { n } else { 0 }
}

#[inline(always)]
fn one<C: Codec>(p: &Program, codec: C, one: One, s: &[u8], at: usize, end: usize) -> usize {
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
fn is_newline<C: Codec>(codec: C, s: &[u8], at: usize) -> bool {
    // The first byte decides in all encodings but the wide ones.
    s[at] == b'\n' && (codec.len(s, at) == 1 || codec.decode(s, at).0 == 10) || s[at] == 0 && codec.decode(s, at).0 == 10
}

/// Takes as many as there are, up to `max`: where they end, and how many when they are few enough to be counted.
#[inline(always)]
fn run<C: Codec>(p: &Program, codec: C, l: &Loop, s: &[u8], from: usize, end: usize) -> (usize, usize) {
    let (mut at, mut n) = (from, 0);
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
            return (stop, stop - from);
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
fn is_word<C: Codec>(p: &Program, codec: C, ascii: bool, s: &[u8], at: usize, end: usize) -> bool {
    if at >= end {
        return false;
    }
    match &p.word {
        Some(set) if !ascii => in_set(codec, set, s, at, end) != 0,
        _ => codec.len(s, at) == 1 && (s[at].is_ascii_alphanumeric() || s[at] == b'_'),
    }
}

/// Compares a stretch of text with the text at `at`, fold against fold: where that ends.
fn folded_equal<C: Codec>(p: &Program, codec: C, s: &[u8], from: usize, to: usize, at: usize, end: usize) -> Option<usize> {
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
fn folded_at<C: Codec>(p: &Program, codec: C, wanted: &[u32], s: &[u8], mut at: usize, end: usize) -> Option<usize> {
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

/// Goes on with a match until it is decided or the steps are used up.
pub fn resume<C: Codec>(p: &Program, codec: C, st: &mut State, s: &[u8]) -> Outcome {
    let mut pc = st.pc;
    let mut at = st.at;
    let mut end = st.end;
    let mut failing = st.failing;
    macro_rules! leave {
        ($outcome:expr) => {{
            st.pc = pc;
            st.at = at;
            st.end = end;
            st.failing = failing;
            return $outcome;
        }};
    }
    macro_rules! push {
        ($tag:expr, $arg:expr, $a:expr, $b:expr) => {
            if !st.push($tag, $arg, $a, $b) {
                leave!(Outcome::Overflow);
            }
        };
    }
    macro_rules! set {
        ($slot:expr, $value:expr) => {
            if !st.set($slot, $value) {
                leave!(Outcome::Overflow);
            }
        };
    }
    'run: loop {
        if failing {
            failing = false;
            st.fails += 1;
            st.steps -= 1;
            if st.steps < 0 {
                failing = true;
                leave!(Outcome::Paused);
            }
            if !st.memo_refused && st.fails > 20_000 + 4 * s.len() {
                st.start_memo(p, s.len());
            }
            loop {
                let Some(&e) = st.stack.last() else { leave!(Outcome::No) };
                match e.tag {
                    Tag::Choice => {
                        (pc, at) = (e.arg, e.a);
                        st.stack.pop();
                        break;
                    }
                    Tag::Range => {
                        let l = match p.insts[e.arg as usize] {
                            Inst::Loop(l) => &p.loops[l as usize],
                            _ => unreachable!("a range belongs to a loop"),
                        };
                        let low = e.a;
                        let mut b = e.b;
                        let mut found = NONE;
                        let remembers = l.max == u32::MAX && st.memo.is_some();
                        loop {
                            if remembers && let Some(memo) = &mut st.memo {
                                memo.set(l.point, b);
                            }
                            if b <= low {
                                break;
                            }
                            if let Some(byte) = l.follow_byte
                                && l.bytes_only
                                && !remembers
                            {
                                // Back to where what must follow stands.
                                match memchr::memrchr(byte, &s[low..b]) {
                                    Some(i) => {
                                        st.work(b - low - i);
                                        b = low + i;
                                    }
                                    None => {
                                        st.work(b - low);
                                        break;
                                    }
                                }
                            } else {
                                b = if l.bytes_only { b - 1 } else { codec.prev(s, b) };
                            }
                            if l.follow.is_none_or(|f| b < end && f.has(s[b])) {
                                found = b;
                                break;
                            }
                            st.work(8);
                        }
                        if found == NONE {
                            st.stack.pop();
                            continue;
                        }
                        pc = e.arg + 1;
                        at = found;
                        if found == low && !remembers {
                            st.stack.pop();
                        } else if let Some(top) = st.stack.last_mut() {
                            top.b = found;
                        }
                        break;
                    }
                    Tag::Span => {
                        (pc, at) = (e.arg, e.b);
                        match st.stack.last_mut() {
                            Some(top) if e.b > e.a => top.b = codec.prev(s, e.b),
                            _ => {
                                st.stack.pop();
                            }
                        }
                        break;
                    }
                    Tag::Lazy => {
                        let l = match p.insts[e.arg as usize] {
                            Inst::Loop(l) => &p.loops[l as usize],
                            _ => unreachable!("belongs to a loop"),
                        };
                        let (from, mut n) = (e.a, e.b);
                        let mut to = from;
                        // Remembers visits: true where nothing cuts the stack.
                        let remembers = l.max == u32::MAX && !p.guarded;
                        let mut found = false;
                        while n < l.max as usize {
                            if let Some(memo) = &mut st.memo
                                && remembers
                            {
                                if memo.has(l.point, to) && to != from {
                                    break;
                                }
                                memo.set(l.point, to);
                            }
                            let k = one(p, codec, l.one, s, to, end);
                            if k == 0 {
                                break;
                            }
                            to += k;
                            n += 1;
                            st.work(8);
                            if l.follow.is_none_or(|f| to < end && f.has(s[to])) {
                                found = true;
                                break;
                            }
                        }
                        if !found || st.memo.as_ref().is_some_and(|m| remembers && m.has(l.point, to)) {
                            st.stack.pop();
                            continue;
                        }
                        pc = e.arg + 1;
                        at = to;
                        if let Some(top) = st.stack.last_mut() {
                            (top.a, top.b) = (to, n);
                        }
                        break;
                    }
                    Tag::Undo => {
                        st.slots[e.arg as usize] = e.a;
                        st.stack.pop();
                    }
                    Tag::Barrier => {
                        st.stack.pop();
                    }
                    Tag::Mark => {
                        if let Some(memo) = &mut st.memo {
                            memo.set(e.arg, e.a);
                        }
                        st.stack.pop();
                    }
                    Tag::Call | Tag::Return => {
                        st.stack.pop();
                        st.undo(e);
                    }
                    Tag::Absent => {
                        // The body does not match here: the next place.
                        let (slot, place) = (e.b as u32, e.a);
                        pc = e.arg;
                        st.stack.pop();
                        end = st.slots[slot as usize + 3];
                        st.slots[slot as usize + 1] = if place < end { place + codec.len(s, place) } else { NONE };
                        at = place;
                        break;
                    }
                }
            }
        }
        macro_rules! fail {
            () => {{
                failing = true;
                continue 'run;
            }};
        }
        loop {
            let inst = p.insts[pc as usize];
            pc += 1;
            match inst {
                Inst::Match => {
                    st.slots[1] = at;
                    leave!(Outcome::Match);
                }
                Inst::Fail => fail!(),
                Inst::Byte(b) => {
                    if at < end && s[at] == b {
                        at += 1;
                    } else {
                        fail!();
                    }
                }
                Inst::Literal(from, len) => {
                    let text = &p.bytes[from as usize..(from + len) as usize];
                    if s[at..end].starts_with(text) {
                        at += len as usize;
                    } else {
                        fail!();
                    }
                }
                Inst::LiteralFold(from, len) => {
                    let text = &p.bytes[from as usize..(from + len) as usize];
                    match s[at..end].get(..len as usize) {
                        Some(t) if t.eq_ignore_ascii_case(text) => at += len as usize,
                        _ => fail!(),
                    }
                }
                Inst::Folded(from, len) => {
                    let wanted = &p.codes[from as usize..(from + len) as usize];
                    match folded_at(p, codec, wanted, s, at, end) {
                        Some(to) => at = to,
                        None => fail!(),
                    }
                }
                Inst::One(o) => {
                    let n = one(p, codec, o, s, at, end);
                    if n == 0 {
                        fail!();
                    }
                    at += n;
                }
                Inst::Jump(to) => pc = to,
                Inst::Split(i) => {
                    let b = &p.branches[i as usize];
                    let open = |f: &Option<First>| match f {
                        Some(f) => at < end && f.has(s[at]),
                        None => true,
                    };
                    st.steps -= 1;
                    match (open(&b.first_bytes), open(&b.second_bytes)) {
                        (true, true) => {
                            if let Some(memo) = &st.memo {
                                if memo.has(b.point, at) {
                                    fail!();
                                }
                                push!(Tag::Mark, b.point, at, 0);
                            }
                            push!(Tag::Choice, b.second, at, 0);
                            pc = b.first;
                        }
                        (true, false) => pc = b.first,
                        (false, true) => pc = b.second,
                        (false, false) => fail!(),
                    }
                    if st.steps < 0 {
                        leave!(Outcome::Paused);
                    }
                }
                Inst::Loop(i) => {
                    let l = &p.loops[i as usize];
                    let from = at;
                    if l.kind == LoopKind::Lazy {
                        for _ in 0..l.min {
                            let n = one(p, codec, l.one, s, at, end);
                            if n == 0 {
                                fail!();
                            }
                            at += n;
                        }
                        st.steps -= 1 + (l.min >> 4) as isize;
                        if l.max > l.min {
                            if l.max == u32::MAX && !p.guarded && st.memo.as_ref().is_some_and(|m| m.has(l.point, at)) {
                                fail!();
                            }
                            push!(Tag::Lazy, pc - 1, at, l.min as usize);
                            if l.follow.is_some_and(|f| at >= end || !f.has(s[at])) {
                                fail!();
                            }
                        }
                        continue;
                    }
                    // Where the loop may end at the earliest.
                    let mut low = from;
                    let remembers = l.kind != LoopKind::Keep && st.memo.is_some() && l.max == u32::MAX;
                    if (l.kind == LoopKind::Greedy || remembers) && l.min > 0 {
                        for _ in 0..l.min {
                            let n = one(p, codec, l.one, s, low, end);
                            if n == 0 {
                                fail!();
                            }
                            low += n;
                        }
                    }
                    if remembers {
                        // As far as nothing is known to fail.
                        let mut to = low;
                        let known = |m: &Option<Box<Memo>>, at| m.as_ref().is_some_and(|m| m.has(l.point, at));
                        if known(&st.memo, to) {
                            fail!();
                        }
                        loop {
                            let n = one(p, codec, l.one, s, to, end);
                            if n == 0 || known(&st.memo, to + n) {
                                break;
                            }
                            to += n;
                        }
                        st.work(to - from);
                        at = to;
                        push!(Tag::Range, pc - 1, low, at);
                        continue;
                    }
                    let (to, n) = run(p, codec, l, s, from, end);
                    if n < l.min as usize {
                        fail!();
                    }
                    st.work(to - from);
                    at = to;
                    if l.kind == LoopKind::Greedy && to > low {
                        push!(Tag::Range, pc - 1, low, to);
                        if l.follow.is_some_and(|f| at >= end || !f.has(s[at])) {
                            fail!();
                        }
                    }
                }
                Inst::Start(n) => {
                    set!(2 * n, at);
                    set!(2 * n + 1, NONE);
                }
                // Needs no undoing: the beginning restores the end. (What stands inside a group sees the end of a way that failed, as in Ruby.)
                Inst::End(n) if !p.levels => st.slots[2 * n as usize + 1] = at,
                Inst::End(n) => set!(2 * n + 1, at),
                Inst::StartRecursive(n, slot) => {
                    set!(slot, at);
                    set!(2 * n, at);
                    set!(2 * n + 1, NONE);
                }
                Inst::EndRecursive(n, slot) => {
                    let from = st.slots[slot as usize];
                    // In this order: what looks like a beginning is one (`changed`).
                    set!(2 * n + 1, at);
                    set!(2 * n, from);
                }
                Inst::EmptyStart(slot) => set!(slot, at),
                Inst::EmptyEnd(slot, groups, exit) => {
                    if st.slots[slot as usize] == at {
                        match groups {
                            u32::MAX => pc = exit,
                            list => match changed(st, slot, &p.group_lists[list as usize], at) {
                                Change::None => pc = exit,
                                Change::Some => {}
                                Change::Moved => fail!(),
                            },
                        }
                    }
                }
                Inst::CountInit(slot) => set!(slot, 0),
                Inst::CountStep(slot) => {
                    let n = st.slots[slot as usize];
                    set!(slot, n + 1);
                }
                Inst::CountLoop(i) => {
                    let c = &p.counters[i as usize];
                    let n = st.slots[c.slot as usize];
                    st.steps -= 1;
                    if n < c.min as usize {
                        pc = c.body;
                    } else if c.max != u32::MAX && n >= c.max as usize {
                        pc = c.exit;
                    } else if c.lazy {
                        push!(Tag::Choice, c.body, at, 0);
                        pc = c.exit;
                    } else {
                        push!(Tag::Choice, c.exit, at, 0);
                        pc = c.body;
                    }
                    if st.steps < 0 {
                        leave!(Outcome::Paused);
                    }
                }
                Inst::LineStart => {
                    let here = at == 0 || at < s.len() && is_newline(codec, s, codec.prev(s, at));
                    if !here {
                        fail!();
                    }
                }
                Inst::LineEnd => {
                    if !(at == s.len() || is_newline(codec, s, at)) {
                        fail!();
                    }
                }
                Inst::TextStart => {
                    if at != 0 {
                        fail!();
                    }
                }
                Inst::TextEnd => {
                    if at != s.len() {
                        fail!();
                    }
                }
                Inst::TextEndNewline => {
                    let last = at < s.len() && is_newline(codec, s, at) && at + codec.len(s, at) == s.len();
                    if at != s.len() && !last {
                        fail!();
                    }
                }
                Inst::SearchStart => {
                    if at != st.origin {
                        fail!();
                    }
                }
                Inst::WordEdge(ascii, not) => {
                    let before = at > 0 && is_word(p, codec, ascii, s, codec.prev(s, at), s.len());
                    let edge = before != is_word(p, codec, ascii, s, at, s.len());
                    if edge == not {
                        fail!();
                    }
                }
                Inst::Backref(i) => {
                    st.steps -= 1;
                    match backref(p, codec, st, &p.backrefs[i as usize], s, at, end) {
                        Some(to) => {
                            st.steps -= ((to - at) >> 5) as isize;
                            at = to;
                        }
                        None => fail!(),
                    }
                }
                Inst::Condition(list, no) => {
                    let set = p.group_lists[list as usize].iter().any(|&g| st.slots[2 * g as usize + 1] != NONE);
                    if !set {
                        pc = no;
                    }
                }
                Inst::Call(to) => {
                    st.steps -= 1;
                    let (outer, there) = (st.frame, st.frames.len());
                    if there >= STACK_LIMIT / 4 || st.saved.len() >= STACK_LIMIT {
                        leave!(Outcome::Overflow);
                    }
                    push!(Tag::Call, 0, outer, there);
                    st.frames.push(Frame { back: pc, outer, saved: st.saved.len() });
                    st.frame = there;
                    st.saved.extend_from_slice(&st.slots[p.locals as usize..]);
                    pc = to;
                }
                Inst::Return => {
                    let f = st.frames[st.frame];
                    push!(Tag::Return, 0, st.frame, 0);
                    st.frame = f.outer;
                    for i in 0..(p.slots - p.locals) as usize {
                        let (slot, old) = (p.locals + i as u32, st.saved[f.saved + i]);
                        if st.slots[slot as usize] != old {
                            set!(slot, old);
                        }
                    }
                    pc = f.back;
                }
                Inst::AtomicStart(slot) => st.slots[slot as usize] = st.stack.len(),
                Inst::AtomicEnd(slot) => {
                    let height = st.slots[slot as usize];
                    st.cut(height);
                }
                Inst::AheadStart(slot) => {
                    st.slots[slot as usize] = st.stack.len();
                    push!(Tag::Barrier, 0, at, 0);
                }
                Inst::AheadEnd(slot) => {
                    let height = st.slots[slot as usize];
                    at = st.stack[height].a;
                    st.cut(height);
                }
                Inst::NotStart(slot, after) => {
                    st.slots[slot as usize] = st.stack.len();
                    push!(Tag::Choice, after, at, 0);
                }
                Inst::NotEnd(slot) => {
                    let height = st.slots[slot as usize];
                    st.unwind(height);
                    fail!();
                }
                Inst::Back(n) => {
                    for _ in 0..n {
                        if at == 0 {
                            fail!();
                        }
                        at = codec.prev(s, at);
                    }
                }
                Inst::AbsentStart(slot) => {
                    // Start, next try, limit, end of the text outside.
                    set!(slot, at);
                    set!(slot + 1, at);
                    set!(slot + 2, end);
                    set!(slot + 3, end);
                }
                Inst::AbsentTry(slot, exit) => {
                    let i = slot as usize;
                    let (start, next, limit, outer) = (st.slots[i], st.slots[i + 1], st.slots[i + 2], st.slots[i + 3]);
                    st.steps -= 1;
                    if st.steps < 0 {
                        pc -= 1;
                        leave!(Outcome::Paused);
                    }
                    if next == NONE || next > limit || next == limit && next > start {
                        // Everywhere up to the limit, the longest first.
                        end = outer;
                        push!(Tag::Span, exit, start, limit);
                        fail!();
                    }
                    at = next;
                    st.slots[i + 4] = st.stack.len();
                    push!(Tag::Absent, pc - 1, next, slot as usize);
                    end = limit;
                }
                Inst::AbsentEnd(slot) => {
                    let i = slot as usize;
                    let (start, next) = (st.slots[i], st.slots[i + 1]);
                    let height = st.slots[i + 4];
                    let entry = st.stack[height];
                    st.unwind(height);
                    end = st.slots[i + 3];
                    if at == start && next == start {
                        // What must be absent is empty: it is everywhere.
                        fail!();
                    }
                    let before = if at > 0 { codec.prev(s, at) } else { 0 };
                    st.slots[i + 2] = st.slots[i + 2].min(before.max(start));
                    st.slots[i + 1] = if next < end { next + codec.len(s, next) } else { NONE };
                    pc = entry.arg;
                }
                Inst::Keep => set!(p.groups * 2, at),
                Inst::Newline => {
                    if at + 1 < end && s[at] == b'\r' && s[at + 1] == b'\n' {
                        at += 2;
                    } else if at < end {
                        let (c, n) = codec.decode(s, at);
                        if !p.newline.contains(c) || at + n > end {
                            fail!();
                        }
                        at += n;
                    } else {
                        fail!();
                    }
                }
                Inst::Grapheme => {
                    if at >= end {
                        fail!();
                    }
                    at = match &p.grapheme {
                        Some(tables) => tables.end(codec, s, at, end),
                        None if at + 1 < end && s[at] == b'\r' && s[at + 1] == b'\n' => at + 2,
                        None => at + codec.len(s, at),
                    };
                }
            }
        }
    }
}

enum Change {
    None,
    Some,
    /// Only where an empty group stood.
    Moved,
}

/// Did an empty iteration of a loop change groups? Looks at what they were when the iteration set them.
fn changed(st: &State, slot: u32, groups: &[u32], at: usize) -> Change {
    let Some(from) = st.stack.iter().rposition(|e| matches!(e.tag, Tag::Undo) && e.arg == slot) else { return Change::None };
    let mut moved = false;
    // Each beginning of a group saved its start, then its end. The first that was unset or not empty decides.
    for pair in st.stack[from..].windows(2) {
        let [start, stop] = pair else { continue };
        let starts = matches!((start.tag, stop.tag), (Tag::Undo, Tag::Undo)) && start.arg & 1 == 0 && stop.arg == start.arg + 1;
        if !starts || !groups.contains(&(start.arg / 2)) {
            continue;
        }
        if stop.a == NONE || start.a == NONE || start.a != stop.a {
            return Change::Some;
        }
        moved |= stop.a != at;
    }
    if moved { Change::Moved } else { Change::None }
}

fn backref<C: Codec>(p: &Program, codec: C, st: &State, b: &Backref, s: &[u8], at: usize, end: usize) -> Option<usize> {
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
