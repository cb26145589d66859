//! The linear engine over long texts, a piece at a time, so that a search can pause.
//!
//! A lazily built automaton finds where the first match ends, another one, backward from there, where it begins.
//! Invariant: a search that paused owns its scratch memory (states of the automaton are good for the memory that they were built in); one that ended
//! gives it back.
//! Rejected: the whole engine over stretches of the text (a match that crosses a border would have to be searched again from its beginning, which
//! nobody knows); the backtracking matcher for long texts (memory for each choice).

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Builder, Cache, Config, DFA};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::prefilter::Prefilter;
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::Hir;

/// Texts up to this length are searched at once: some milliseconds at most.
pub(super) const LONG: usize = 1 << 20;
/// Bytes that a prefilter skips before the search pauses.
const PIECE: usize = 1 << 20;
/// Bytes between two pauses: each may cost a new state.
const STEP: usize = 16 << 10;

pub(super) struct Stepwise {
    forward: DFA,
    reverse: DFA,
    prefilter: Option<Prefilter>,
}

/// Scratch memory of both directions.
pub(super) struct Scratch {
    forward: Cache,
    reverse: Cache,
}

#[derive(Clone, Copy)]
enum Phase {
    Begin,
    /// State, place, end of the match so far.
    Forward(LazyStateID, usize, Option<usize>),
    /// The end of the match is known.
    Turn(usize),
    /// State, place, end, beginning so far.
    Reverse(LazyStateID, usize, usize, Option<usize>),
}

/// A search in progress.
pub(super) struct Long {
    pub scratch: Box<Scratch>,
    phase: Phase,
    start: usize,
    anchored: bool,
    /// The range does not matter.
    any: bool,
}

pub(super) enum Step {
    Done(Option<(usize, usize)>),
    Paused,
    /// The automaton does not know.
    GaveUp,
}

impl Stepwise {
    /// None: not for this pattern.
    pub fn new(hir: &Hir) -> Option<Stepwise> {
        // An empty match inside a character would have to be skipped.
        if hir.properties().minimum_len() == Some(0) {
            return None;
        }
        let build = |reverse: bool| {
            let config =
                thompson::Config::new().utf8(true).reverse(reverse).which_captures(WhichCaptures::None).nfa_size_limit(Some(4 << 20));
            let nfa = thompson::Compiler::new().configure(config).build_from_hir(hir).ok()?;
            let config = Config::new()
                .match_kind(if reverse { MatchKind::All } else { MatchKind::LeftmostFirst })
                .specialize_start_states(!reverse)
                .unicode_word_boundary(true)
                .skip_cache_capacity_check(true)
                .cache_capacity(1 << 20);
            Builder::new().configure(config).build_from_nfa(nfa).ok()
        };
        let prefilter = Prefilter::from_hir_prefix(MatchKind::LeftmostFirst, hir).filter(Prefilter::is_fast);
        Some(Stepwise { forward: build(false)?, reverse: build(true)?, prefilter })
    }

    /// Bytes that it takes, without scratch memory.
    pub fn weight(&self) -> usize {
        self.forward.memory_usage() + self.reverse.memory_usage() + self.prefilter.as_ref().map_or(0, Prefilter::memory_usage)
    }

    pub fn scratch(&self) -> Box<Scratch> {
        Box::new(Scratch { forward: self.forward.create_cache(), reverse: self.reverse.create_cache() })
    }
}

impl Scratch {
    pub fn memory(&self) -> usize {
        self.forward.memory_usage() + self.reverse.memory_usage()
    }
}

impl Long {
    pub fn new(scratch: Box<Scratch>, start: usize, anchored: bool, any: bool) -> Long {
        Long { scratch, phase: Phase::Begin, start, anchored, any }
    }

    pub fn run(&mut self, re: &Stepwise, hay: &[u8]) -> Step {
        self.go(re, hay).unwrap_or(Step::GaveUp)
    }

    /// None: the automaton does not know.
    fn go(&mut self, re: &Stepwise, hay: &[u8]) -> Option<Step> {
        let mut left = STEP;
        loop {
            match self.phase {
                Phase::Begin => {
                    let sid = self.first(re, hay, self.start)?;
                    self.phase = Phase::Forward(sid, self.start, None);
                }
                Phase::Forward(sid, at, last) => {
                    if let Some(step) = self.forward(re, hay, (sid, at, last), &mut left)? {
                        return Some(step);
                    }
                }
                Phase::Turn(end) => {
                    if self.any || self.anchored {
                        return Some(Step::Done(Some((self.start, end))));
                    }
                    let input = Input::new(hay).span(self.start..end).anchored(Anchored::Yes);
                    let sid = re.reverse.start_state_reverse(&mut self.scratch.reverse, &input).ok()?;
                    self.phase = Phase::Reverse(sid, end, end, None);
                }
                Phase::Reverse(sid, at, end, best) => return self.reverse(re, hay, (sid, at, end, best), left),
            }
        }
    }

    fn first(&mut self, re: &Stepwise, hay: &[u8], at: usize) -> Option<LazyStateID> {
        let anchored = if self.anchored { Anchored::Yes } else { Anchored::No };
        let input = Input::new(hay).span(at..hay.len()).anchored(anchored);
        re.forward.start_state_forward(&mut self.scratch.forward, &input).ok()
    }

    fn forward(
        &mut self,
        re: &Stepwise,
        hay: &[u8],
        (mut sid, mut at, mut last): (LazyStateID, usize, Option<usize>),
        left: &mut usize,
    ) -> Option<Option<Step>> {
        let prefilter = if self.anchored { None } else { re.prefilter.as_ref() };
        while at < hay.len() {
            if sid.is_start()
                && let Some(prefilter) = prefilter
            {
                let stop = at.saturating_add(PIECE);
                let end = stop.saturating_add(prefilter.max_needle_len()).min(hay.len());
                match prefilter.find(hay, (at..end).into()) {
                    Some(span) if span.start > at => {
                        *left = left.saturating_sub((span.start - at) >> 6);
                        at = span.start;
                        sid = self.first(re, hay, at)?;
                    }
                    Some(_) => {}
                    None if end == hay.len() => return Some(Some(Step::Done(None))),
                    None => {
                        let sid = self.first(re, hay, stop)?;
                        self.phase = Phase::Forward(sid, stop, last);
                        return Some(Some(Step::Paused));
                    }
                }
            }
            if *left == 0 {
                self.phase = Phase::Forward(sid, at, last);
                return Some(Some(Step::Paused));
            }
            *left -= 1;
            sid = re.forward.next_state(&mut self.scratch.forward, sid, hay[at]).ok()?;
            if sid.is_tagged() {
                if sid.is_match() {
                    // Matches show a byte late.
                    last = Some(at);
                    if self.any {
                        break;
                    }
                } else if sid.is_dead() {
                    break;
                } else if sid.is_quit() {
                    return None;
                }
            }
            at += 1;
        }
        if at == hay.len() {
            sid = re.forward.next_eoi_state(&mut self.scratch.forward, sid).ok()?;
            if sid.is_match() {
                last = Some(at);
            }
        }
        match last {
            Some(end) => {
                self.phase = Phase::Turn(end);
                Some(None)
            }
            None => Some(Some(Step::Done(None))),
        }
    }

    fn reverse(
        &mut self,
        re: &Stepwise,
        hay: &[u8],
        (mut sid, mut at, end, mut best): (LazyStateID, usize, usize, Option<usize>),
        mut left: usize,
    ) -> Option<Step> {
        let cache = &mut self.scratch.reverse;
        while at > self.start {
            if left == 0 {
                self.phase = Phase::Reverse(sid, at, end, best);
                return Some(Step::Paused);
            }
            left -= 1;
            sid = re.reverse.next_state(cache, sid, hay[at - 1]).ok()?;
            if sid.is_tagged() {
                if sid.is_match() {
                    best = Some(at);
                } else if sid.is_dead() {
                    return best.map(|from| Step::Done(Some((from, end))));
                } else if sid.is_quit() {
                    return None;
                }
            }
            at -= 1;
        }
        // What stands before is looked at, but not matched.
        sid = match at {
            0 => re.reverse.next_eoi_state(cache, sid).ok()?,
            _ => re.reverse.next_state(cache, sid, hay[at - 1]).ok()?,
        };
        if sid.is_match() {
            best = Some(at);
        } else if sid.is_quit() {
            return None;
        }
        best.map(|from| Step::Done(Some((from, end))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::Rng;
    use regex_automata::meta;

    /// Over short texts, with a pause at each byte, against the engine that needs none.
    #[test]
    fn finds_what_the_engine_finds() {
        const ATOMS: [&str; 14] =
            ["a", "b", "ab", "[ab]", "a+", "b*?a", "(?:a|ab)", "(?:ab|a)b?", "(?:b|a|bc)+", "\\A", "\\z", "(?-u:\\b)", "c", "(?:foo|bar)"];
        let mut rng = Rng(5);
        for _ in 0..3000 {
            let pattern = String::from_utf8(rng.join(&ATOMS, 4)).unwrap();
            let hir = regex_syntax::parse(&pattern).unwrap();
            let Some(re) = Stepwise::new(&hir) else { continue };
            let whole = meta::Builder::new().build_from_hir(&hir).unwrap();
            let text = rng.join(&["a", "b", "ab", "c", " ", "foo", "é"], 9);
            let text = String::from_utf8(text).unwrap();
            for anchored in [false, true] {
                let start = (0..=text.len()).filter(|&i| text.is_char_boundary(i)).nth(rng.below(3).min(text.chars().count())).unwrap();
                let mode = if anchored { Anchored::Yes } else { Anchored::No };
                let expected = whole.search(&Input::new(&text).span(start..text.len()).anchored(mode)).map(|m| (m.start(), m.end()));
                let mut long = Long::new(re.scratch(), start, anchored, false);
                let found = loop {
                    match long.run(&re, text.as_bytes()) {
                        Step::Done(found) => break found,
                        Step::Paused => {}
                        Step::GaveUp => break expected,
                    }
                };
                assert_eq!(found, expected, "{pattern} on {text:?} from {start}");
            }
        }
    }

    #[test]
    fn long_texts_pause() {
        let re = Stepwise::new(&regex_syntax::parse("a[bc]*d").unwrap()).unwrap();
        let text = [b"x".repeat(3 * PIECE), b"a".to_vec(), b"b".repeat(100_000), b"d".to_vec()].concat();
        let mut long = Long::new(re.scratch(), 0, false, false);
        let mut pauses = 0;
        let found = loop {
            match long.run(&re, &text) {
                Step::Done(found) => break found,
                Step::Paused => pauses += 1,
                Step::GaveUp => panic!("knows no words"),
            }
        };
        assert_eq!(found, Some((3 * PIECE, text.len())));
        assert!(pauses >= 10, "{pauses}");
    }
}
