//! Finding the place where a program matches: forward, backward, or at one place.
//!
//! Invariant: a [`Matcher`] that paused goes on where it stopped, whatever has become of the bytes' address.

use super::codec::{Codec, Coding, Multi, Single, Utf8};
use super::exec;
use super::program::{Begin, NONE, Program};
use super::state::{Outcome, State};

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
}

impl Matcher {
    /// A search from byte `from`.
    pub fn new(from: usize, mode: Mode) -> Matcher {
        Matcher { state: State::default(), mode, at: from, running: false, needed: None, begun: false }
    }

    /// Searches until it is decided or about `steps` steps are used up.
    pub fn run(&mut self, p: &Program, s: &[u8], steps: usize) -> Outcome {
        if !self.begun {
            self.begun = true;
            self.state.reset(p, s.len(), self.at);
        }
        self.state.steps = steps as isize;
        match p.coding {
            Coding::Utf8 => self.run_with(p, Utf8, s),
            Coding::Single => self.run_with(p, Single, s),
            Coding::Multi(enc) => self.run_with(p, Multi(enc), s),
        }
    }

    fn run_with<C: Codec>(&mut self, p: &Program, codec: C, s: &[u8]) -> Outcome {
        loop {
            if !self.running {
                if !self.candidate(p, codec, s) {
                    return Outcome::No;
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

    /// Moves to the next place where a match may begin.
    fn candidate<C: Codec>(&mut self, p: &Program, codec: C, s: &[u8]) -> bool {
        if self.at > s.len() {
            return false;
        }
        match self.mode {
            Mode::Anchored => true,
            Mode::Backward => match p.begin {
                Begin::Text => {
                    self.at = 0;
                    true
                }
                _ => loop {
                    if p.first.is_none_or(|f| self.at < s.len() && f.has(s[self.at])) {
                        return true;
                    }
                    if self.at == 0 {
                        return false;
                    }
                    self.at = codec.prev(s, self.at);
                },
            },
            Mode::Forward => self.forward(p, codec, s),
        }
    }

    fn forward<C: Codec>(&mut self, p: &Program, codec: C, s: &[u8]) -> bool {
        let from = self.at;
        if let Some(needed) = &p.needed
            && self.needed.is_none_or(|n| n < from)
        {
            match needed.find(&s[from..]) {
                Some(i) => self.needed = Some(from + i),
                None => return false,
            }
        }
        match p.begin {
            Begin::Text if from > 0 => return false,
            Begin::Text | Begin::Search => return true,
            Begin::Line => {
                let mut at = from;
                while at > 0 && (at == s.len() || s[codec.prev(s, at)] != b'\n') && !matches!(p.coding, Coding::Multi(_)) {
                    match memchr::memchr(b'\n', &s[at..]) {
                        Some(i) => at += i + 1,
                        None => return false,
                    }
                }
                self.at = at;
                return true;
            }
            _ => {}
        }
        if let Some(prefix) = &p.prefix {
            return match prefix.find(&s[from..]) {
                Some(i) => {
                    self.at = from + i;
                    true
                }
                None => false,
            };
        }
        if let Some(first) = &p.first {
            let rest = &s[from..];
            let found = match p.first_few[..] {
                [a] => memchr::memchr(a, rest),
                [a, b] => memchr::memchr2(a, b, rest),
                [a, b, c] => memchr::memchr3(a, b, c, rest),
                _ => rest.iter().position(|&b| first.has(b)),
            };
            let Some(i) = found else { return false };
            self.at = from + i;
            self.state.steps -= (i >> 6) as isize;
        }
        true
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
    pub fn groups(&self, p: &Program) -> Vec<Option<(usize, usize)>> {
        let slots = &self.state.slots;
        let mut out: Vec<Option<(usize, usize)>> =
            slots[..p.groups as usize * 2].chunks_exact(2).map(|g| (g[0] != NONE && g[1] != NONE).then_some((g[0], g[1]))).collect();
        out[0] = Some(self.span(p));
        out
    }

    /// Byte range of the match.
    pub fn span(&self, p: &Program) -> (usize, usize) {
        let slots = &self.state.slots;
        let end = self.state.place();
        let keep = slots[p.groups as usize * 2];
        (if keep == NONE { slots[0] } else { keep.min(end) }, end)
    }
}
