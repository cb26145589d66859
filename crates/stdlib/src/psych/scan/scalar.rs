//! Scalars as they are read: plain, in quotes, literal and folded.

use super::{Kind, Mark, Scanned, Scanner, Style, Token, error, is_blank, is_break, is_break_or_end, is_space_or_end};

/// White space inside a scalar that goes over several lines: blanks, or breaks that are folded.
#[derive(Default)]
struct Gap {
    blanks: String,
    first: String,
    rest: String,
    /// A break was among it: blanks that follow are indentation.
    broken: bool,
}
impl Gap {
    fn is_empty(&self) -> bool {
        !self.broken && self.blanks.is_empty()
    }
    fn flush(&mut self, text: &mut String) {
        if self.broken {
            // After an escaped break there is no first one: the others stay as they are.
            if !self.first.starts_with('\n') {
                text.push_str(&self.first);
                text.push_str(&self.rest);
            } else if self.rest.is_empty() {
                text.push(' ');
            } else {
                text.push_str(&self.rest);
            }
            self.first.clear();
            self.rest.clear();
            self.broken = false;
        } else {
            text.push_str(&self.blanks);
        }
        self.blanks.clear();
    }
}

impl Scanner {
    pub(super) fn block_scalar(&mut self, literal: bool) -> Scanned<()> {
        const CONTEXT: &str = "while scanning a block scalar";
        self.forget_key()?;
        self.key_allowed = true;
        let start = self.mark;
        self.skip();
        let (mut chomp, mut step) = (None, None);
        for _ in 0..2 {
            let c = self.at(0);
            match c {
                '+' | '-' if chomp.is_none() => chomp = Some(c),
                '0' if step.is_none() => return error(CONTEXT, start, "found an indentation indicator equal to 0"),
                '1'..='9' if step.is_none() => step = c.to_digit(10).map(i64::from),
                _ => break,
            }
            self.skip();
        }
        self.skip_blanks();
        self.skip_comment();
        if !is_break_or_end(self.at(0)) {
            return error(CONTEXT, start, "did not find expected comment or line break");
        }
        self.line();
        let mut end = self.mark;
        let mut indent = step.map_or(0, |n| self.indent.max(0) + n);
        let (mut text, mut first, mut breaks) = (String::new(), "", String::new());
        self.block_breaks(&mut indent, &mut breaks, start, &mut end)?;
        let mut was_blank = false;
        while self.mark.column as i64 == indent && self.at(0) != '\0' {
            let blank = is_blank(self.at(0));
            if !literal && first.starts_with('\n') && !was_blank && !blank {
                if breaks.is_empty() {
                    text.push(' ');
                }
            } else {
                text.push_str(first);
            }
            text.push_str(&breaks);
            breaks.clear();
            was_blank = blank;
            while !is_break_or_end(self.at(0)) {
                self.read(&mut text);
            }
            first = self.line();
            self.block_breaks(&mut indent, &mut breaks, start, &mut end)?;
        }
        if chomp != Some('-') {
            text.push_str(first);
        }
        if chomp == Some('+') {
            text.push_str(&breaks);
        }
        self.tokens.push_back(Token { kind: Kind::Scalar(text, if literal { Style::Literal } else { Style::Folded }), start, end });
        Ok(())
    }
    /// Passes indentation and blank lines; finds the indentation where it isn't known (0).
    fn block_breaks(&mut self, indent: &mut i64, breaks: &mut String, start: Mark, end: &mut Mark) -> Scanned<()> {
        let mut deepest = 0;
        *end = self.mark;
        loop {
            while (*indent == 0 || (self.mark.column as i64) < *indent) && self.at(0) == ' ' {
                self.skip();
            }
            deepest = deepest.max(self.mark.column as i64);
            if (*indent == 0 || (self.mark.column as i64) < *indent) && self.at(0) == '\t' {
                let problem = "found a tab character where an indentation space is expected";
                return error("while scanning a block scalar", start, problem);
            }
            if !is_break(self.at(0)) {
                break;
            }
            breaks.push_str(self.line());
            *end = self.mark;
        }
        if *indent == 0 {
            *indent = deepest.max(self.indent + 1).max(1);
        }
        Ok(())
    }

    /// White space of a scalar over several lines.
    fn gap(&mut self, gap: &mut Gap) {
        let c = self.at(0);
        if is_blank(c) {
            if gap.broken { self.skip() } else { self.read(&mut gap.blanks) }
        } else if gap.broken {
            gap.rest.push_str(self.line());
        } else {
            gap.blanks.clear();
            gap.first.push_str(self.line());
            gap.broken = true;
        }
    }
    pub(super) fn quoted(&mut self, quote: char) -> Scanned<()> {
        const CONTEXT: &str = "while scanning a quoted scalar";
        self.note_key()?;
        self.key_allowed = false;
        let start = self.mark;
        self.skip();
        let (mut text, mut gap) = (String::new(), Gap::default());
        loop {
            if self.at_document_mark('-') || self.at_document_mark('.') {
                return error(CONTEXT, start, "found unexpected document indicator");
            }
            if self.at(0) == '\0' {
                return error(CONTEXT, start, "found unexpected end of stream");
            }
            while !is_space_or_end(self.at(0)) {
                let c = self.at(0);
                if quote == '\'' && c == quote && self.at(1) == quote {
                    text.push(c);
                    self.skip();
                    self.skip();
                } else if c == quote {
                    break;
                } else if quote == '"' && c == '\\' && is_break(self.at(1)) {
                    // A break that stands for nothing.
                    self.skip();
                    self.line();
                    gap.broken = true;
                    break;
                } else if quote == '"' && c == '\\' {
                    self.escape(start, &mut text)?;
                } else {
                    self.read(&mut text);
                }
            }
            if self.at(0) == quote {
                break;
            }
            while is_blank(self.at(0)) || is_break(self.at(0)) {
                self.gap(&mut gap);
            }
            gap.flush(&mut text);
        }
        self.skip();
        self.push(Kind::Scalar(text, if quote == '"' { Style::Double } else { Style::Single }), start);
        Ok(())
    }
    fn escape(&mut self, start: Mark, text: &mut String) -> Scanned<()> {
        const CONTEXT: &str = "while parsing a quoted scalar";
        let digits = match self.at(1) {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            c => {
                text.push(match c {
                    '0' => '\0',
                    'a' => '\x07',
                    'b' => '\x08',
                    't' | '\t' => '\t',
                    'n' => '\n',
                    'v' => '\x0b',
                    'f' => '\x0c',
                    'r' => '\r',
                    'e' => '\x1b',
                    ' ' | '"' | '/' | '\\' => c,
                    'N' => '\u{85}',
                    '_' => '\u{a0}',
                    'L' => '\u{2028}',
                    'P' => '\u{2029}',
                    _ => return error(CONTEXT, start, "found unknown escape character"),
                });
                self.skip();
                self.skip();
                return Ok(());
            }
        };
        self.skip();
        self.skip();
        let mut value = 0u32;
        for k in 0..digits {
            let Some(d) = self.at(k).to_digit(16) else {
                return error(CONTEXT, start, "did not find expected hexdecimal number");
            };
            value = value << 4 | d;
        }
        let Some(c) = char::from_u32(value) else {
            return error(CONTEXT, start, "found invalid Unicode character escape code");
        };
        text.push(c);
        for _ in 0..digits {
            self.skip();
        }
        Ok(())
    }

    pub(super) fn plain(&mut self) -> Scanned<()> {
        const CONTEXT: &str = "while scanning a plain scalar";
        self.note_key()?;
        self.key_allowed = false;
        let start = self.mark;
        let (mut end, indent) = (start, self.indent + 1);
        let (mut text, mut gap) = (String::new(), Gap::default());
        while !self.at_document_mark('-') && !self.at_document_mark('.') && self.at(0) != '#' {
            while !is_space_or_end(self.at(0)) {
                let (c, following) = (self.at(0), self.at(1));
                if self.flow > 0 && c == ':' && ",?[]{}".contains(following) {
                    return error(CONTEXT, start, "found unexpected ':'");
                }
                if c == ':' && is_space_or_end(following) || self.flow > 0 && ",[]{}".contains(c) {
                    break;
                }
                if !gap.is_empty() {
                    gap.flush(&mut text);
                }
                self.read(&mut text);
                end = self.mark;
            }
            if !is_blank(self.at(0)) && !is_break(self.at(0)) {
                break;
            }
            while is_blank(self.at(0)) || is_break(self.at(0)) {
                if gap.broken && (self.mark.column as i64) < indent && self.at(0) == '\t' {
                    return error(CONTEXT, start, "found a tab character that violates indentation");
                }
                self.gap(&mut gap);
            }
            if self.flow == 0 && (self.mark.column as i64) < indent {
                break;
            }
        }
        if gap.broken {
            self.key_allowed = true;
        }
        self.tokens.push_back(Token { kind: Kind::Scalar(text, Style::Plain), start, end });
        Ok(())
    }
}
