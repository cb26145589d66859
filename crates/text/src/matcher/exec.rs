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
use super::memo::Known;
use super::program::*;
use super::state::*;

/// Goes on with a match until it is decided or the steps are used up.
pub fn resume<C: Codec>(p: &Program, codec: C, st: &mut State, s: &[u8]) -> Outcome {
    let mut pc = st.pc;
    let mut at = st.at;
    let mut end = st.end;
    let mut failing = st.failing;
    let mut decided = NOWHERE;
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
                            if remembers {
                                let row = st.row(p, l.point, b);
                                if let Some(memo) = &mut st.memo {
                                    memo.fail(row, b);
                                }
                            }
                            if b <= low {
                                break;
                            }
                            if st.steps < 0 {
                                if let Some(top) = st.stack.last_mut() {
                                    top.b = b;
                                }
                                failing = true;
                                leave!(Outcome::Paused);
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
                        // Remembers visits where nothing cuts the stack; else each failure, as if it were a branch.
                        let remembers = l.max == u32::MAX && st.memo.is_some();
                        let visits = remembers && !p.guarded;
                        let marks = remembers && p.guarded;
                        let mut found = false;
                        while n < l.max as usize {
                            if visits {
                                if to != from && st.known(p, l.point, to) != Known::Nothing {
                                    break;
                                }
                                let row = st.row(p, l.point, to);
                                if let Some(memo) = &mut st.memo {
                                    memo.fail(row, to);
                                }
                            }
                            if st.steps < 0 {
                                if let Some(top) = st.stack.last_mut() {
                                    (top.a, top.b) = (to, n);
                                }
                                failing = true;
                                leave!(Outcome::Paused);
                            }
                            let k = one(p, codec, l.one, s, to, end);
                            if k == 0 {
                                break;
                            }
                            to += k;
                            n += 1;
                            // As a failure: what reads the same text from place after place must be remembered some time.
                            st.steps -= 1;
                            st.fails += 1;
                            if marks {
                                match st.known(p, l.point, to) {
                                    Known::Nothing => {}
                                    Known::Failed => break,
                                    Known::Decided => {
                                        decided = l.point;
                                        break;
                                    }
                                }
                                let row = st.row(p, l.point, to);
                                st.stack.pop();
                                push!(Tag::Mark, l.point, to, row);
                                push!(Tag::Lazy, e.arg, to, n);
                            }
                            if l.follow.is_none_or(|f| to < end && f.has(s[to])) {
                                found = true;
                                break;
                            }
                        }
                        if decided != NOWHERE {
                            break;
                        }
                        if !found || visits && st.known(p, l.point, to) != Known::Nothing {
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
                    Tag::Mark | Tag::Failed | Tag::AtomicMark | Tag::AtomicFailed => {
                        st.remember(p, e);
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
        // What the guard around a point comes to is known.
        macro_rules! decide {
            ($point:expr) => {{
                let guard = p.guards[p.points[$point as usize].guard as usize];
                if guard.atomic {
                    let height = st.slots[guard.slot as usize];
                    st.came_through(p, height);
                    st.unwind(height);
                    fail!();
                }
                pc = guard.end;
            }};
        }
        if decided != NOWHERE {
            let point = std::mem::replace(&mut decided, NOWHERE);
            decide!(point);
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
                            if st.memo.is_some() {
                                match st.known(p, b.point, at) {
                                    Known::Nothing => {}
                                    Known::Failed => fail!(),
                                    Known::Decided => {
                                        decide!(b.point);
                                        continue;
                                    }
                                }
                                let row = st.row(p, b.point, at);
                                push!(Tag::Mark, b.point, at, row);
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
                    let remembers = l.max == u32::MAX && st.memo.is_some();
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
                            if remembers {
                                match st.known(p, l.point, at) {
                                    Known::Nothing => {}
                                    Known::Failed => fail!(),
                                    Known::Decided => {
                                        decide!(l.point);
                                        continue;
                                    }
                                }
                                if p.guarded {
                                    let row = st.row(p, l.point, at);
                                    push!(Tag::Mark, l.point, at, row);
                                }
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
                        // As far as nothing is known.
                        let (mut to, mut known) = (low, st.known(p, l.point, low));
                        let pause = st.partial.0;
                        if pause != NONE {
                            (to, known) = (pause, Known::Nothing);
                            st.partial = (NONE, 0);
                        }
                        let piece = to.saturating_add(PIECE);
                        while known == Known::Nothing {
                            let n = one(p, codec, l.one, s, to, end);
                            if n == 0 {
                                break;
                            }
                            if to >= piece {
                                st.work(PIECE);
                                st.partial = (to, 0);
                                pc -= 1;
                                leave!(Outcome::Paused);
                            }
                            known = st.known(p, l.point, to + n);
                            if known != Known::Failed || l.kind == LoopKind::Keep {
                                to += n;
                            }
                        }
                        st.work(to - from);
                        at = to;
                        match known {
                            Known::Failed if l.kind == LoopKind::Keep || to == low && st.known(p, l.point, low) == Known::Failed => {
                                push!(Tag::Failed, pc - 1, low, to);
                                fail!();
                            }
                            Known::Decided => {
                                push!(Tag::Failed, pc - 1, low, to);
                                decide!(l.point);
                            }
                            _ if l.kind == LoopKind::Keep => push!(Tag::Failed, pc - 1, low, to),
                            _ => push!(Tag::Range, pc - 1, low, to),
                        }
                        continue;
                    }
                    let (to, n) = if st.partial.0 == NONE && (end - from <= PIECE || l.max != u32::MAX) {
                        run(p, codec, l, s, (from, 0), end)
                    } else {
                        let start = if st.partial.0 == NONE { (from, 0) } else { st.partial };
                        let (to, n, more) = piece(p, codec, l, s, start, end);
                        if more {
                            st.work(PIECE);
                            st.partial = (to, n);
                            pc -= 1;
                            leave!(Outcome::Paused);
                        }
                        st.partial = (NONE, 0);
                        (to, n)
                    };
                    if n < l.min as usize {
                        fail!();
                    }
                    st.work(to - from);
                    if to - from > 256 && !st.memo_refused && st.fails > 20_000 + 4 * s.len() {
                        // Nothing failed, but look-aheads go over the same text again and again.
                        st.start_memo(p, s.len());
                    }
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
                Inst::CountStep(slot, most) => {
                    let n = st.slots[slot as usize];
                    // Beyond the bound of an endless loop all counts are one.
                    if n < most as usize {
                        set!(slot, n + 1);
                    }
                }
                Inst::CountLoop(i) => {
                    let c = &p.counters[i as usize];
                    let n = st.slots[c.slot as usize];
                    st.steps -= 1;
                    if n < c.min as usize {
                        pc = c.body;
                    } else if c.max != u32::MAX && n >= c.max as usize {
                        pc = c.exit;
                    } else {
                        if st.memo.is_some() {
                            match st.known(p, c.point, at) {
                                Known::Nothing => {}
                                Known::Failed => fail!(),
                                Known::Decided => {
                                    decide!(c.point);
                                    continue;
                                }
                            }
                            let row = st.row(p, c.point, at);
                            push!(Tag::Mark, c.point, at, row);
                        }
                        let (first, second) = if c.lazy { (c.exit, c.body) } else { (c.body, c.exit) };
                        push!(Tag::Choice, second, at, 0);
                        pc = first;
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
                Inst::AtomicEnd(slot, remembers) => {
                    let height = st.slots[slot as usize];
                    st.steps -= ((st.stack.len() - height) >> 4) as isize;
                    if remembers && st.memo.is_some() { st.close_atomic(height) } else { st.cut(height) }
                }
                Inst::AheadStart(slot) => {
                    st.slots[slot as usize] = st.stack.len();
                    push!(Tag::Barrier, 0, at, 0);
                }
                Inst::AheadEnd(slot, remembers) => {
                    let height = st.slots[slot as usize];
                    st.steps -= ((st.stack.len() - height) >> 4) as isize;
                    at = st.stack[height].a;
                    if remembers && st.memo.is_some() {
                        st.came_through(p, height);
                    }
                    st.cut(height);
                }
                Inst::NotStart(slot, after) => {
                    st.slots[slot as usize] = st.stack.len();
                    push!(Tag::Choice, after, at, 0);
                }
                Inst::NotEnd(slot, remembers) => {
                    let height = st.slots[slot as usize];
                    st.steps -= ((st.stack.len() - height) >> 4) as isize;
                    if remembers && st.memo.is_some() {
                        st.came_through(p, height);
                    }
                    st.unwind(height);
                    fail!();
                }
                Inst::Back(n) => {
                    st.steps -= (n >> 3) as isize;
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
                    // What takes no room is kept out up to its place, and not at all at the end of the text.
                    let empty = at == next;
                    if empty && next == start && start < end {
                        fail!();
                    }
                    let before = match at {
                        _ if empty => at,
                        0 => 0,
                        _ => codec.prev(s, at),
                    };
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
