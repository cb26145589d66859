//! YAML 1.1 text into tokens, with libyaml's marks and messages.
//!
//! A line may turn out to begin a mapping only when its `:` is met, so tokens wait in a queue as long as a *simple key* may still stand
//! before them. Indentation becomes explicit: block starts and ends are tokens. The text is valid UTF-8 without NUL (`input.rs` sees to that),
//! so `'\0'` stands for its end. Scanning keeps no native stack per level.

mod scalar;

use super::input::{Fault, Input};
use std::collections::VecDeque;

/// A position: characters from the start, line and column, from 0.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Mark {
    pub index: usize,
    pub line: usize,
    pub column: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    Plain = 1,
    Single = 2,
    Double = 3,
    Literal = 4,
    Folded = 5,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    StreamStart,
    StreamEnd,
    Version(i64, i64),
    TagDirective(String, String),
    DocumentStart,
    DocumentEnd,
    BlockSequence,
    BlockMapping,
    BlockEnd,
    FlowSequence,
    FlowSequenceEnd,
    FlowMapping,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias(String),
    Anchor(String),
    Tag(String, String),
    Scalar(String, Style),
}

#[derive(Debug)]
pub struct Token {
    pub kind: Kind,
    pub start: Mark,
    pub end: Mark,
}

#[derive(Debug)]
pub struct Error {
    pub problem: &'static str,
    pub context: Option<&'static str>,
    /// Where the context began.
    pub mark: Mark,
    /// Of bytes that are no text.
    pub offset: usize,
}

impl From<Fault> for Error {
    fn from(f: Fault) -> Error {
        Error { problem: f.problem, context: None, mark: Mark::default(), offset: f.offset }
    }
}

pub type Scanned<T> = Result<T, Box<Error>>;

fn error<T>(context: &'static str, mark: Mark, problem: &'static str) -> Scanned<T> {
    Err(Box::new(Error { problem, context: Some(context), mark, offset: 0 }))
}

/// A place where a key on one line may have begun.
#[derive(Clone, Copy, Default)]
struct SimpleKey {
    possible: bool,
    /// What stands there must be a key: nothing else may begin at this column.
    required: bool,
    token: usize,
    mark: Mark,
}

pub struct Scanner {
    input: Input,
    pos: usize,
    mark: Mark,
    tokens: VecDeque<Token>,
    /// Tokens that were taken from the queue.
    taken: usize,
    started: bool,
    ended: bool,
    flow: usize,
    indent: i64,
    indents: Vec<i64>,
    key_allowed: bool,
    /// One for the block level, and one for each flow level; those that are possible, in the order of the text.
    keys: Vec<SimpleKey>,
    /// Those before it are not possible.
    first_key: usize,
}

fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}
fn is_break_or_end(c: char) -> bool {
    c == '\0' || is_break(c)
}
fn is_space_or_end(c: char) -> bool {
    is_blank(c) || is_break_or_end(c)
}
fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

impl Scanner {
    pub fn new(input: Input) -> Scanner {
        Scanner {
            input,
            pos: 0,
            mark: Mark::default(),
            tokens: VecDeque::new(),
            taken: 0,
            started: false,
            ended: false,
            flow: 0,
            indent: -1,
            indents: Vec::new(),
            key_allowed: true,
            keys: vec![SimpleKey::default()],
            first_key: 0,
        }
    }
    /// How far the text was read.
    pub fn mark(&self) -> Mark {
        self.mark
    }

    /// The next token, which stays in the queue. None after the end of the stream.
    pub fn peek(&mut self) -> Scanned<Option<&Token>> {
        self.fill()?;
        Ok(self.tokens.front())
    }
    /// Takes the token that `peek` showed.
    pub fn take(&mut self) -> Option<Token> {
        let t = self.tokens.pop_front();
        self.taken += usize::from(t.is_some());
        t
    }

    /// The character at `k` bytes from here (those before it are ASCII).
    fn at(&self, k: usize) -> char {
        let text = self.input.text();
        match text.as_bytes().get(self.pos + k) {
            None => '\0',
            Some(b) if *b < 0x80 => char::from(*b),
            Some(_) => text.get(self.pos + k..).and_then(|t| t.chars().next()).unwrap_or('\0'),
        }
    }
    fn skip(&mut self) {
        let c = self.at(0);
        if c != '\0' {
            self.pos += c.len_utf8();
            self.mark.index += 1;
            self.mark.column += 1;
        }
    }
    fn read(&mut self, to: &mut String) {
        let c = self.at(0);
        if c != '\0' {
            to.push(c);
            self.skip();
        }
    }
    /// Passes a line break, and returns it as text has it.
    fn line(&mut self) -> &'static str {
        let c = self.at(0);
        let (text, bytes, characters) = match c {
            '\r' if self.at(1) == '\n' => ("\n", 2, 2),
            '\r' | '\n' | '\u{85}' => ("\n", c.len_utf8(), 1),
            '\u{2028}' => ("\u{2028}", 3, 1),
            '\u{2029}' => ("\u{2029}", 3, 1),
            _ => return "",
        };
        self.pos += bytes;
        self.mark.index += characters;
        self.mark.line += 1;
        self.mark.column = 0;
        text
    }
    fn skip_blanks(&mut self) {
        while is_blank(self.at(0)) {
            self.skip();
        }
    }
    fn skip_comment(&mut self) {
        if self.at(0) == '#' {
            while !is_break_or_end(self.at(0)) {
                self.skip();
            }
        }
    }
    fn at_document_mark(&self, c: char) -> bool {
        self.mark.column == 0 && (0..3).all(|k| self.at(k) == c) && is_space_or_end(self.at(3))
    }

    /// Reads tokens until the first one is certain.
    fn fill(&mut self) -> Scanned<()> {
        while !self.ended || !self.tokens.is_empty() {
            if !self.tokens.is_empty() {
                self.drop_stale_keys()?;
                // No token from the first key on has been taken.
                let taken = self.taken;
                if self.possible_key().is_none_or(|k| k.token != taken) {
                    break;
                }
            }
            if self.ended {
                break;
            }
            if let Some(f) = self.input.fault_before(self.pos) {
                return Err(Box::new(f.into()));
            }
            self.next()?;
            if let Some(f) = self.input.fault_before(self.pos) {
                return Err(Box::new(f.into()));
            }
        }
        Ok(())
    }

    fn push(&mut self, kind: Kind, start: Mark) {
        let end = self.mark;
        self.tokens.push_back(Token { kind, start, end });
    }
    /// A token of `n` characters.
    fn indicator(&mut self, kind: Kind, n: usize) {
        let start = self.mark;
        for _ in 0..n {
            self.skip();
        }
        self.push(kind, start);
    }

    fn next(&mut self) -> Scanned<()> {
        if !self.started {
            self.started = true;
            self.push(Kind::StreamStart, self.mark);
            return Ok(());
        }
        self.to_next_token();
        self.drop_stale_keys()?;
        self.unroll(self.mark.column as i64);
        let c = self.at(0);
        if c == '\0' {
            return self.stream_end();
        }
        if self.mark.column == 0 && c == '%' {
            return self.directive();
        }
        for (mark, kind) in [('-', Kind::DocumentStart), ('.', Kind::DocumentEnd)] {
            if self.at_document_mark(mark) {
                self.unroll(-1);
                self.forget_key()?;
                self.key_allowed = false;
                self.indicator(kind, 3);
                return Ok(());
            }
        }
        let (in_flow, spaced) = (self.flow > 0, is_space_or_end(self.at(1)));
        match c {
            '[' => self.flow_start(Kind::FlowSequence),
            '{' => self.flow_start(Kind::FlowMapping),
            ']' => self.flow_end(Kind::FlowSequenceEnd),
            '}' => self.flow_end(Kind::FlowMappingEnd),
            ',' => {
                self.forget_key()?;
                self.key_allowed = true;
                self.indicator(Kind::FlowEntry, 1);
                Ok(())
            }
            '-' if spaced => {
                if !in_flow {
                    self.begin_block(Kind::BlockSequence, "block sequence entries are not allowed in this context")?;
                }
                self.forget_key()?;
                self.key_allowed = true;
                self.indicator(Kind::BlockEntry, 1);
                Ok(())
            }
            '?' if in_flow || spaced => {
                if !in_flow {
                    self.begin_block(Kind::BlockMapping, "mapping keys are not allowed in this context")?;
                }
                self.forget_key()?;
                self.key_allowed = !in_flow;
                self.indicator(Kind::Key, 1);
                Ok(())
            }
            ':' if in_flow || spaced => self.value(),
            '*' | '&' => self.anchor(c == '*'),
            '!' => self.tag(),
            '|' | '>' if !in_flow => self.block_scalar(c == '|'),
            '\'' | '"' => self.quoted(c),
            _ => {
                let indicator = "-?:,[]{}#&*!|>'\"%@`".contains(c);
                let begins_anyway = c == '-' && !is_blank(self.at(1)) || !in_flow && matches!(c, '?' | ':') && !spaced;
                if is_space_or_end(c) || indicator && !begins_anyway {
                    return error("while scanning for the next token", self.mark, "found character that cannot start any token");
                }
                self.plain()
            }
        }
    }

    fn to_next_token(&mut self) {
        loop {
            if self.mark.column == 0 && self.at(0) == '\u{feff}' {
                self.skip();
            }
            while self.at(0) == ' ' || self.at(0) == '\t' && (self.flow > 0 || !self.key_allowed) {
                self.skip();
            }
            self.skip_comment();
            if !is_break(self.at(0)) {
                return;
            }
            self.line();
            if self.flow == 0 {
                self.key_allowed = true;
            }
        }
    }

    /// A simple key ends on its line, within 1024 characters.
    fn drop_stale_keys(&mut self) -> Scanned<()> {
        let here = self.mark;
        while let Some(k) = self.possible_key() {
            if k.mark.line >= here.line && k.mark.index + 1024 >= here.index {
                break;
            }
            if k.required {
                return error("while scanning a simple key", k.mark, "could not find expected ':'");
            }
            k.possible = false;
        }
        Ok(())
    }
    /// The first key that is possible. Found without a look at every level: a text may be nothing but brackets.
    fn possible_key(&mut self) -> Option<&mut SimpleKey> {
        while self.keys.get(self.first_key).is_some_and(|k| !k.possible) {
            self.first_key += 1;
        }
        self.keys.get_mut(self.first_key)
    }
    fn note_key(&mut self) -> Scanned<()> {
        if !self.key_allowed {
            return Ok(());
        }
        let required = self.flow == 0 && self.indent == self.mark.column as i64;
        let key = SimpleKey { possible: true, required, token: self.taken + self.tokens.len(), mark: self.mark };
        self.forget_key()?;
        if let Some(k) = self.keys.last_mut() {
            *k = key;
        }
        self.first_key = self.first_key.min(self.keys.len() - 1);
        Ok(())
    }
    fn forget_key(&mut self) -> Scanned<()> {
        match self.keys.last_mut() {
            Some(k) if k.possible && k.required => error("while scanning a simple key", k.mark, "could not find expected ':'"),
            Some(k) => {
                k.possible = false;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Begins a block collection when the column is deeper than the last one's; `at`: the token before which it begins.
    fn roll(&mut self, column: usize, at: Option<usize>, kind: Kind, mark: Mark) {
        if self.flow > 0 || self.indent >= column as i64 {
            return;
        }
        self.indents.push(self.indent);
        self.indent = column as i64;
        let token = Token { kind, start: mark, end: mark };
        match at {
            Some(n) => self.tokens.insert((n - self.taken).min(self.tokens.len()), token),
            None => self.tokens.push_back(token),
        }
    }
    /// Ends the block collections that are deeper than a column.
    fn unroll(&mut self, column: i64) {
        if self.flow > 0 {
            return;
        }
        while self.indent > column {
            self.push(Kind::BlockEnd, self.mark);
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }
    fn begin_block(&mut self, kind: Kind, problem: &'static str) -> Scanned<()> {
        if !self.key_allowed {
            return Err(Box::new(Error { problem, context: None, mark: self.mark, offset: 0 }));
        }
        self.roll(self.mark.column, None, kind, self.mark);
        Ok(())
    }

    fn stream_end(&mut self) -> Scanned<()> {
        if self.mark.column != 0 {
            self.mark.column = 0;
            self.mark.line += 1;
        }
        self.unroll(-1);
        self.forget_key()?;
        self.key_allowed = false;
        self.push(Kind::StreamEnd, self.mark);
        self.ended = true;
        Ok(())
    }
    fn flow_start(&mut self, kind: Kind) -> Scanned<()> {
        self.note_key()?;
        self.keys.push(SimpleKey::default());
        self.flow += 1;
        self.key_allowed = true;
        self.indicator(kind, 1);
        Ok(())
    }
    fn flow_end(&mut self, kind: Kind) -> Scanned<()> {
        self.forget_key()?;
        if self.flow > 0 {
            self.flow -= 1;
            self.keys.pop();
            self.first_key = self.first_key.min(self.keys.len().saturating_sub(1));
        }
        self.key_allowed = false;
        self.indicator(kind, 1);
        Ok(())
    }
    fn value(&mut self) -> Scanned<()> {
        let key = self.keys.last().copied().unwrap_or_default();
        if key.possible {
            let token = Token { kind: Kind::Key, start: key.mark, end: key.mark };
            self.tokens.insert((key.token - self.taken).min(self.tokens.len()), token);
            self.roll(key.mark.column, Some(key.token), Kind::BlockMapping, key.mark);
            if let Some(k) = self.keys.last_mut() {
                k.possible = false;
            }
            self.key_allowed = false;
        } else {
            if self.flow == 0 {
                self.begin_block(Kind::BlockMapping, "mapping values are not allowed in this context")?;
            }
            self.key_allowed = self.flow == 0;
        }
        self.indicator(Kind::Value, 1);
        Ok(())
    }

    fn word(&mut self) -> String {
        let mut s = String::new();
        while is_word(self.at(0)) {
            self.read(&mut s);
        }
        s
    }
    fn directive(&mut self) -> Scanned<()> {
        const CONTEXT: &str = "while scanning a directive";
        self.unroll(-1);
        self.forget_key()?;
        self.key_allowed = false;
        let start = self.mark;
        self.skip();
        let name = self.word();
        if name.is_empty() {
            return error(CONTEXT, start, "could not find expected directive name");
        }
        if !is_space_or_end(self.at(0)) {
            return error(CONTEXT, start, "found unexpected non-alphabetical character");
        }
        let kind = match name.as_str() {
            "YAML" => {
                self.skip_blanks();
                let major = self.version_number(start)?;
                if self.at(0) != '.' {
                    return error("while scanning a %YAML directive", start, "did not find expected digit or '.' character");
                }
                self.skip();
                Kind::Version(major, self.version_number(start)?)
            }
            "TAG" => {
                self.skip_blanks();
                let handle = self.tag_handle(true, start)?;
                if !is_blank(self.at(0)) {
                    return error("while scanning a %TAG directive", start, "did not find expected whitespace");
                }
                self.skip_blanks();
                let prefix = self.tag_uri(true, true, "", start)?;
                if !is_space_or_end(self.at(0)) {
                    return error("while scanning a %TAG directive", start, "did not find expected whitespace or line break");
                }
                Kind::TagDirective(handle, prefix)
            }
            _ => return error(CONTEXT, start, "found unknown directive name"),
        };
        let end = self.mark;
        self.skip_blanks();
        self.skip_comment();
        if !is_break_or_end(self.at(0)) {
            return error(CONTEXT, start, "did not find expected comment or line break");
        }
        self.line();
        self.tokens.push_back(Token { kind, start, end });
        Ok(())
    }
    fn version_number(&mut self, start: Mark) -> Scanned<i64> {
        const CONTEXT: &str = "while scanning a %YAML directive";
        let (mut n, mut length) = (0, 0);
        while let Some(d) = self.at(0).to_digit(10) {
            length += 1;
            if length > 9 {
                return error(CONTEXT, start, "found extremely long version number");
            }
            n = n * 10 + i64::from(d);
            self.skip();
        }
        if length == 0 {
            return error(CONTEXT, start, "did not find expected version number");
        }
        Ok(n)
    }

    fn anchor(&mut self, alias: bool) -> Scanned<()> {
        self.note_key()?;
        self.key_allowed = false;
        let start = self.mark;
        self.skip();
        let name = self.word();
        let c = self.at(0);
        if name.is_empty() || !is_space_or_end(c) && !"?:,]}%@`".contains(c) {
            let context = if alias { "while scanning an alias" } else { "while scanning an anchor" };
            return error(context, start, "did not find expected alphabetic or numeric character");
        }
        self.push(if alias { Kind::Alias(name) } else { Kind::Anchor(name) }, start);
        Ok(())
    }

    fn tag(&mut self) -> Scanned<()> {
        const CONTEXT: &str = "while scanning a tag";
        self.note_key()?;
        self.key_allowed = false;
        let start = self.mark;
        let (handle, suffix) = if self.at(1) == '<' {
            self.skip();
            self.skip();
            let suffix = self.tag_uri(true, false, "", start)?;
            if self.at(0) != '>' {
                return error(CONTEXT, start, "did not find the expected '>'");
            }
            self.skip();
            (String::new(), suffix)
        } else {
            let handle = self.tag_handle(false, start)?;
            if handle.len() > 1 && handle.ends_with('!') {
                let suffix = self.tag_uri(false, false, "", start)?;
                (handle, suffix)
            } else {
                // What looked like a handle is the beginning of the tag itself.
                match self.tag_uri(false, false, &handle, start)? {
                    s if s.is_empty() => (s, "!".to_string()),
                    s => ("!".to_string(), s),
                }
            }
        };
        let c = self.at(0);
        if !is_space_or_end(c) && (self.flow == 0 || c != ',') {
            return error(CONTEXT, start, "did not find expected whitespace or line break");
        }
        self.push(Kind::Tag(handle, suffix), start);
        Ok(())
    }
    fn tag_handle(&mut self, directive: bool, start: Mark) -> Scanned<String> {
        if self.at(0) != '!' {
            let context = if directive { "while scanning a tag directive" } else { "while scanning a tag" };
            return error(context, start, "did not find expected '!'");
        }
        let mut s = String::new();
        self.read(&mut s);
        s.push_str(&self.word());
        if self.at(0) == '!' {
            self.read(&mut s);
        } else if directive && s != "!" {
            return error("while parsing a tag directive", start, "did not find expected '!'");
        }
        Ok(s)
    }
    fn tag_uri(&mut self, brackets: bool, directive: bool, head: &str, start: Mark) -> Scanned<String> {
        let context = if directive { "while parsing a %TAG directive" } else { "while parsing a tag" };
        let mut bytes = head.as_bytes().get(1..).unwrap_or_default().to_vec();
        let mut any = !head.is_empty();
        loop {
            let c = self.at(0);
            if c == '%' {
                self.uri_escape(context, start, &mut bytes)?;
            } else if is_word(c) || ";/?:@&=+$.!~*'()".contains(c) || brackets && ",[]".contains(c) {
                bytes.push(c as u8);
                self.skip();
            } else {
                break;
            }
            any = true;
        }
        if !any {
            return error(context, start, "did not find expected tag URI");
        }
        match String::from_utf8(bytes) {
            Ok(s) => Ok(s),
            Err(_) => error(context, start, "found an incorrect trailing UTF-8 octet"),
        }
    }
    /// A character as `%` and hexadecimal digits for each of its bytes.
    fn uri_escape(&mut self, context: &'static str, start: Mark, bytes: &mut Vec<u8>) -> Scanned<()> {
        let mut left = 0;
        loop {
            let digits = (self.at(1).to_digit(16), self.at(2).to_digit(16));
            let ('%', (Some(high), Some(low))) = (self.at(0), digits) else {
                return error(context, start, "did not find URI escaped octet");
            };
            let octet = (high << 4 | low) as u8;
            if left == 0 {
                left = match octet {
                    0..=0x7f => 1,
                    0xc0..=0xdf => 2,
                    0xe0..=0xef => 3,
                    0xf0..=0xf7 => 4,
                    _ => return error(context, start, "found an incorrect leading UTF-8 octet"),
                };
            } else if octet & 0xc0 != 0x80 {
                return error(context, start, "found an incorrect trailing UTF-8 octet");
            }
            bytes.push(octet);
            for _ in 0..3 {
                self.skip();
            }
            left -= 1;
            if left == 0 {
                return Ok(());
            }
        }
    }
}
