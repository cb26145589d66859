//! Where a parser stands in its text, and how far one that gets its text in portions has looked.

/// Lines and columns of a text that is read from its beginning.
#[derive(Default)]
pub struct Places {
    /// What was counted so far.
    at: usize,
    ends: u32,
    /// Where the last line began; negative: in what is gone.
    start: isize,
}
impl Places {
    pub fn line(&mut self, text: &str, at: usize) -> u32 {
        if self.at < at {
            let part = &text.as_bytes()[self.at..at];
            if let Some(last) = part.iter().rposition(|b| *b == b'\n') {
                self.start = (self.at + last + 1) as isize;
            }
            self.ends += part.iter().filter(|b| **b == b'\n').count() as u32;
            self.at = at;
        }
        self.ends + 1
    }
    pub fn column(&mut self, text: &str, at: usize) -> u32 {
        self.line(text, at);
        ((at as isize - self.start).max(0) + 1) as u32
    }
    /// Takes away what was read of a text, once it is much.
    pub fn forget(&mut self, text: &mut String, at: &mut usize) {
        if *at > 1 << 16 {
            self.line(text, *at);
            text.drain(..*at);
            self.start -= *at as isize;
            (self.at, *at) = (0, 0);
        }
    }
}

/// How far a push parser has looked for the end of what is not complete yet, so that small portions do not make it look at all of it each time.
#[derive(Default)]
pub struct Search {
    at: usize,
    seen: usize,
    quote: u8,
    inside: i64,
}
impl Search {
    /// So many bytes before went.
    pub fn moved(&mut self, by: usize) {
        self.at = self.at.wrapping_sub(by);
    }
    /// Goes on with what begins at a place, or begins anew.
    pub fn of(&mut self, at: usize) -> &mut Search {
        if self.at != at {
            *self = Search { at, ..Search::default() };
        }
        self
    }
    /// Whether a mark comes, at `skip` or later, in letters of any case.
    pub fn mark(&mut self, rest: &str, skip: usize, mark: &str) -> bool {
        let from = skip.max((self.seen + 1).saturating_sub(mark.len()));
        self.seen = rest.len();
        rest.as_bytes().get(from..).is_some_and(|b| b.windows(mark.len()).any(|w| w.eq_ignore_ascii_case(mark.as_bytes())))
    }
    /// The first of these bytes.
    pub fn byte(&mut self, rest: &str, any: &[u8]) -> Option<usize> {
        let found = rest.as_bytes()[self.seen.min(rest.len())..].iter().position(|b| any.contains(b)).map(|n| self.seen + n);
        self.seen = found.unwrap_or(rest.len());
        found
    }
    /// Whether a tag of HTML ends: with `>` outside of a value in quotes, which follow `=`.
    pub fn tag(&mut self, rest: &str) -> bool {
        for b in rest.bytes().skip(self.seen) {
            self.seen += 1;
            match b {
                _ if self.quote != 0 => {
                    if b == self.quote {
                        self.quote = 0;
                    }
                }
                b'>' => return true,
                b'"' | b'\'' if self.inside == 1 => (self.quote, self.inside) = (b, 0),
                b if b.is_ascii_whitespace() => {}
                b => self.inside = (b == b'=') as i64,
            }
        }
        false
    }
    /// Whether markup ends, with `>` outside of quotes and brackets (if they mean anything).
    pub fn markup(&mut self, rest: &str, brackets: bool) -> bool {
        for b in rest.bytes().skip(self.seen) {
            match b {
                q @ (b'"' | b'\'') if self.quote == 0 => self.quote = q,
                q if q == self.quote => self.quote = 0,
                _ if self.quote != 0 => {}
                b'[' if brackets => self.inside += 1,
                b']' if brackets => self.inside -= 1,
                b'>' if self.inside <= 0 => return true,
                _ => {}
            }
            self.seen += 1;
        }
        false
    }
}
