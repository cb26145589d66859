//! Finding the place where a program matches: forward, backward, or at one place.
//!
//! Invariant: a [`Matcher`] that paused goes on where it stopped, whatever has become of the bytes' address.

use super::codec::{Codec, Coding, Multi, Single, Utf8};
use super::exec;
use super::program::{Begin, NONE, PIECE, Program};
use super::quick::{self, Quick};
use super::state::{Outcome, State};
use crate::regexp::Groups;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Forward,
    /// The last place at or before the start.
    Backward,
    /// At the start only.
    Anchored,
}

/// A search in progress.
#[derive(Debug)]
pub struct Matcher {
    state: State,
    mode: Mode,
    /// Where the next attempt begins; [`NONE`]: there is none.
    at: usize,
    running: bool,
    /// What every match needs was found here, or not looked for.
    needed: Option<usize>,
    begun: bool,
    /// How far the search for the next place came, if it stopped in between.
    skipped: usize,
    /// Groups of a match, if it needed no state.
    few: quick::Slots,
    needs_no_state: bool,
}

/// A piece was gone over; nothing was found in it.
struct Paused;

/// What the look for the next place comes to.
enum Next {
    Found,
    None,
    /// A piece was gone over.
    Later,
}

impl Matcher {
    /// A search from byte `from`.
    #[inline(always)]
    pub fn new(from: usize, mode: Mode) -> Matcher {
        Matcher {
            state: State::default(),
            mode,
            at: from,
            running: false,
            needed: None,
            begun: false,
            skipped: 0,
            few: [NONE; 2 * quick::GROUPS],
            needs_no_state: false,
        }
    }

    /// How many steps of the last run's were left.
    pub fn steps_left(&self) -> usize {
        self.state.steps.max(0) as usize
    }

    /// Searches until it is decided or about `steps` steps are used up.
    pub fn run(&mut self, p: &Program, s: &[u8], steps: usize) -> Outcome {
        self.state.steps = steps as isize;
        match p.coding {
            Coding::Utf8 => self.run_with(p, Utf8, s),
            Coding::Single => self.run_with(p, Single, s),
            Coding::Multi(enc) => self.run_with(p, Multi(enc), s),
        }
    }

    fn run_with<C: Codec>(&mut self, p: &Program, codec: C, s: &[u8]) -> Outcome {
        if !self.begun {
            let origin = self.at;
            if p.quick
                && s.len() <= self.at.saturating_add(quick::FAR)
                && let Some(outcome) = self.run_quickly(p, codec, s)
            {
                return outcome;
            }
            self.begun = true;
            self.state.reset(p, s.len(), origin);
        }
        loop {
            if !self.running {
                match self.candidate(p, codec, s) {
                    Next::Found => {}
                    Next::None => return Outcome::No,
                    Next::Later => return Outcome::Paused,
                }
                self.state.begin(self.at, s.len());
                self.running = true;
            }
            match exec::resume(p, codec, &mut self.state, s) {
                Outcome::No => {
                    self.running = false;
                    self.advance(p, codec, s);
                }
                other => return other,
            }
        }
    }

    /// As [`Matcher::run`]; None where that has to go on, from the place at which this stopped.
    fn run_quickly<C: Codec>(&mut self, p: &Program, codec: C, s: &[u8]) -> Option<Outcome> {
        let later = (self.state.steps - quick::STEPS).max(0);
        self.state.steps -= later;
        let outcome = self.run_steps_quickly(p, codec, s);
        self.state.steps += later;
        outcome
    }

    fn run_steps_quickly<C: Codec>(&mut self, p: &Program, codec: C, s: &[u8]) -> Option<Outcome> {
        loop {
            match self.candidate(p, codec, s) {
                Next::Found => {}
                Next::None => return Some(Outcome::No),
                Next::Later => return None,
            }
            match quick::run_at(p, codec, s, self.at, &mut self.few, &mut self.state.steps) {
                Quick::Match(end) => {
                    self.state.at = end;
                    self.needs_no_state = true;
                    return Some(Outcome::Match);
                }
                Quick::No => self.advance(p, codec, s),
                Quick::GivenUp => return None,
            }
            if self.state.steps < 0 {
                return None;
            }
        }
    }

    /// Memory that the search holds, in bytes.
    pub fn memory(&self) -> usize {
        self.state.memory()
    }

    #[cfg(test)]
    pub(super) fn remember_at_once(&mut self, p: &Program, s: &[u8], with: bool) {
        self.begun = true;
        self.state.reset(p, s.len(), self.at);
        if with && p.memo {
            self.state.start_memo(p, s.len());
        }
        self.state.memo_refused = true;
    }

    /// Moves to the next place where a match may begin.
    fn candidate<C: Codec>(&mut self, p: &Program, codec: C, s: &[u8]) -> Next {
        if self.at > s.len() {
            return Next::None;
        }
        match self.mode {
            Mode::Anchored => Next::Found,
            Mode::Backward => match p.begin {
                Begin::Text => {
                    self.at = 0;
                    Next::Found
                }
                _ => loop {
                    if p.first.is_none_or(|f| self.at < s.len() && f.has(s[self.at])) {
                        return Next::Found;
                    }
                    if self.at == 0 {
                        return Next::None;
                    }
                    self.at = codec.prev(s, self.at);
                    self.state.steps -= 1;
                    if self.state.steps < 0 {
                        return Next::Later;
                    }
                },
            },
            Mode::Forward => self.forward(p, codec, s),
        }
    }

    fn forward<C: Codec>(&mut self, p: &Program, codec: C, s: &[u8]) -> Next {
        let from = self.at;
        if let Some(needed) = &p.needed
            && self.needed.is_none_or(|n| n < from)
        {
            match self.find(s, from, needed.needle().len(), |text| needed.find(text)) {
                Ok(Some(i)) => self.needed = Some(i),
                Ok(None) => return Next::None,
                Err(Paused) => return Next::Later,
            }
        }
        match p.begin {
            Begin::Text if from > 0 => return Next::None,
            Begin::Text | Begin::Search => return Next::Found,
            Begin::Line => {
                let mut at = from;
                while at > 0 && (at == s.len() || s[codec.prev(s, at)] != b'\n') && !matches!(p.coding, Coding::Multi(_)) {
                    match self.find(s, at, 1, |text| memchr::memchr(b'\n', text)) {
                        Ok(Some(i)) => at = i + 1,
                        Ok(None) => return Next::None,
                        Err(Paused) => return Next::Later,
                    }
                }
                self.at = at;
                return Next::Found;
            }
            _ => {}
        }
        let found = if let Some(prefix) = &p.prefix {
            self.find(s, from, p.prefix_len, |text| prefix.find(text))
        } else if let Some(first) = &p.first {
            match p.first_few[..] {
                [a] => self.find(s, from, 1, |text| memchr::memchr(a, text)),
                [a, b] => self.find(s, from, 1, |text| memchr::memchr2(a, b, text)),
                [a, b, c] => self.find(s, from, 1, |text| memchr::memchr3(a, b, c, text)),
                _ => self.find(s, from, 1, |text| text.iter().position(|&b| first.has(b))),
            }
        } else {
            return Next::Found;
        };
        match found {
            Ok(Some(i)) => {
                self.state.steps -= ((i - from) >> 6) as isize;
                self.at = i;
                Next::Found
            }
            Ok(None) => Next::None,
            Err(Paused) => Next::Later,
        }
    }

    /// Where something of `len` bytes stands at or behind `from`. Goes over one piece of a long text, then pauses.
    #[inline(always)]
    fn find(&mut self, s: &[u8], from: usize, len: usize, find: impl Fn(&[u8]) -> Option<usize>) -> Result<Option<usize>, Paused> {
        if s.len() - from <= PIECE {
            return Ok(find(&s[from..]).map(|i| from + i));
        }
        self.find_far(s, from, len, find)
    }

    #[cold]
    fn find_far(&mut self, s: &[u8], from: usize, len: usize, find: impl Fn(&[u8]) -> Option<usize>) -> Result<Option<usize>, Paused> {
        let start = from.max(self.skipped);
        let stop = start.saturating_add(PIECE);
        let end = stop.saturating_add(len).min(s.len());
        match find(&s[start..end]) {
            Some(i) => {
                self.skipped = 0;
                Ok(Some(start + i))
            }
            None if end == s.len() => Ok(None),
            None => {
                self.skipped = stop;
                Err(Paused)
            }
        }
    }

    /// After an attempt that failed.
    fn advance<C: Codec>(&mut self, p: &Program, codec: C, s: &[u8]) {
        self.state.steps -= 1;
        let at = self.at;
        self.at = match self.mode {
            Mode::Anchored => NONE,
            Mode::Backward if at == 0 || p.begin == Begin::Text => NONE,
            Mode::Backward => codec.prev(s, at),
            Mode::Forward if at >= s.len() || matches!(p.begin, Begin::Text | Begin::Search | Begin::Once) => NONE,
            Mode::Forward if p.begin == Begin::OncePerLine && !matches!(p.coding, Coding::Multi(_)) => {
                memchr::memchr(b'\n', &s[at..]).map_or(NONE, |i| at + i + 1)
            }
            Mode::Forward => at + codec.len(s, at),
        };
    }

    /// Byte ranges of the groups of a match; the first is the whole.
    pub fn groups(&self, p: &Program) -> Groups {
        let slots = &self.slots()[..p.groups as usize * 2];
        let group = |g: &[usize]| (g[0] != NONE && g[1] != NONE).then_some((g[0], g[1]));
        let whole = Some(self.span(p));
        // What needs no memory is put in its place.
        match slots.len() / 2 {
            1 => Groups::from_buf_and_len([whole, None, None], 1),
            2 => Groups::from_buf_and_len([whole, group(&slots[2..]), None], 2),
            3 => Groups::from_buf_and_len([whole, group(&slots[2..]), group(&slots[4..])], 3),
            n => {
                let mut out = Groups::with_capacity(n);
                out.push(whole);
                out.extend(slots[2..].chunks_exact(2).map(group));
                out
            }
        }
    }

    /// Where the match was found; what `\K` leaves out comes first.
    pub fn found_at(&self) -> usize {
        self.slots()[0]
    }

    #[inline]
    fn slots(&self) -> &[usize] {
        if self.needs_no_state { &self.few } else { &self.state.slots }
    }

    /// Byte range of the match.
    #[inline]
    pub fn span(&self, p: &Program) -> (usize, usize) {
        let end = self.state.place();
        if self.needs_no_state {
            return (self.few[0], end);
        }
        let slots = &self.state.slots;
        let keep = slots[p.groups as usize * 2];
        (if keep == NONE { slots[0] } else { keep.min(end) }, end)
    }
}
