//! The matcher: runs a program at one place of a text, backtracking on a stack of its own.
//!
//! State is explicit ([`super::state::State`]): a run may stop when its steps are used up and go on later, over the same bytes wherever they are then. The stack
//! holds choices and, between them, what to undo (slots of groups and loops), so that giving up a choice restores what it saw.
//! Invariants: no native recursion; memory is bounded by [`super::state::STACK_LIMIT`]; the place is always the beginning of a character or the end.
//! Where failure depends on instruction and place alone, it is remembered once a match takes long (Davis, Servant, Lee: "Using Selective
//! Memoization to Defeat Regular Expression Denial of Service", 2021): such a match takes time linear in the text. What is remembered is failure
//! itself (a `Mark` under a choice), not the visit: cutting the stack (atomic groups, look-ahead) forgets nothing false.
//! Rejected: a callback that looks for interrupts (the VM would run Ruby code under a borrowed text).

use super::codec::Codec;
use super::look::*;
use super::program::*;
use super::state::*;

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
