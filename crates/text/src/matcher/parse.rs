//! Ruby's pattern syntax to a tree.
//!
//! Input is what [`crate::regexp`]'s look at the escapes left: bytes of the pattern's encoding in which `\u`, `\c`, `\M` and escaped bytes beyond ASCII
//! have become characters. Open groups stand on a list of their own: nesting costs no native stack.
//! Invariants: errors are Ruby's, without the source behind them; characters are codes of the encoding (`Encoding::ord`).
//! Rejected: one pass (whether plain groups capture depends on names further on: such a pattern is parsed twice).

use super::ast::{Anchor, Greed, Id, Node, Target, Tree};
use super::folding::Folder;
use super::property::{self, Type};
use super::ranges::Ranges;
use crate::encoding::Encoding;

const INVALID_CONDITION: &str = "invalid conditional pattern";
/// Ruby's own limit is 4096 groups inside each other.
const DEPTH: usize = 4096;
/// Largest bound of an interval, and number of a group.
const BOUND: u32 = 100_000;
const GROUPS: u32 = 32_767;

#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub ignore_case: bool,
    pub multiline: bool,
    pub extended: bool,
    /// `\w \d \s` are ASCII.
    pub ascii_types: bool,
    /// `[[:alpha:]]` are.
    pub ascii_brackets: bool,
    /// `\b \B` are.
    pub ascii_edges: bool,
}

impl Options {
    pub fn new(ignore_case: bool, multiline: bool, extended: bool) -> Options {
        Options { ignore_case, multiline, extended, ascii_types: true, ascii_brackets: false, ascii_edges: false }
    }
}

pub(super) type Result<T, E = String> = std::result::Result<T, E>;

#[derive(Clone, Debug)]
enum Kind {
    /// The pattern.
    Whole,
    Plain,
    Group(u32),
    Atomic,
    Look {
        behind: bool,
        not: bool,
    },
    Absent,
    Condition(Vec<Ref>),
    /// `(?i)` up to the end of the group around it.
    Rest,
}

/// A reference to be resolved when all groups are known.
#[derive(Clone, Debug)]
enum Ref {
    Number(u32),
    Name(Vec<u8>),
}

struct Open {
    kind: Kind,
    done: Vec<Id>,
    row: Vec<Id>,
    outer: Options,
    /// The last of `row` may take another character.
    joins: bool,
}

pub(super) struct Parser<'a> {
    pub s: &'a [u8],
    pub at: usize,
    pub enc: Encoding,
    pub folder: &'a Folder,
    pub options: Options,
    pub tree: Tree,
    open: Vec<Open>,
    captures: bool,
    plain: bool,
    numbered: bool,
    refs: Vec<(Id, Vec<Ref>)>,
}

/// Parses a pattern.
///
/// # Errors
/// Ruby's message, without the source.
pub fn parse(source: &[u8], options: Options, enc: Encoding, folder: &Folder) -> Result<Tree> {
    let run = |captures| {
        let mut p = Parser {
            s: source,
            at: 0,
            enc,
            folder,
            options,
            tree: Tree { groups: 1, ..Tree::default() },
            open: Vec::new(),
            captures,
            plain: false,
            numbered: false,
            refs: Vec::new(),
        };
        p.run().map(|()| p)
    };
    let mut p = run(true)?;
    if !p.tree.names.is_empty() && p.plain {
        // Beside named groups, plain ones don't capture.
        p = run(false)?;
    }
    p.resolve()?;
    Ok(p.tree)
}

impl<'a> Parser<'a> {
    fn run(&mut self) -> Result<()> {
        self.enter(Kind::Whole);
        while self.at < self.s.len() {
            self.step()?;
        }
        while let Some(open) = self.open.last() {
            match open.kind {
                Kind::Whole | Kind::Rest => {
                    let id = self.leave()?;
                    match self.open.last_mut() {
                        Some(outer) => outer.row.push(id),
                        None => self.tree.root = id,
                    }
                }
                _ => return Err("end pattern with unmatched parenthesis".into()),
            }
        }
        Ok(())
    }

    fn enter(&mut self, kind: Kind) {
        self.open.push(Open { kind, done: Vec::new(), row: Vec::new(), outer: self.options, joins: false });
    }

    /// Ends the alternative of the innermost group.
    fn end_row(&mut self) -> Option<()> {
        let row = std::mem::take(&mut self.open.last_mut()?.row);
        let id = match row[..] {
            [one] => one,
            _ => self.tree.push(Node::Cat(row)),
        };
        let open = self.open.last_mut()?;
        open.done.push(id);
        open.joins = false;
        Some(())
    }

    /// Closes the innermost group: its node.
    fn leave(&mut self) -> Result<Id> {
        self.end_row();
        let Some(open) = self.open.pop() else { return Err("unmatched close parenthesis".into()) };
        self.options = open.outer;
        if let Kind::Condition(refs) = open.kind {
            let (yes, no) = match open.done[..] {
                [yes] => (yes, None),
                [yes, no] => (yes, Some(no)),
                _ => return Err(INVALID_CONDITION.into()),
            };
            let id = self.tree.push(Node::Condition { groups: Vec::new(), yes, no });
            self.refs.push((id, refs));
            return Ok(id);
        }
        let of = match open.done[..] {
            [one] => one,
            _ => self.tree.push(Node::Alt(open.done)),
        };
        Ok(match open.kind {
            Kind::Group(number) => self.tree.push(Node::Group { number, of }),
            Kind::Atomic => self.tree.push(Node::Atomic(of)),
            Kind::Look { behind, not } => self.tree.push(Node::Look { behind, not, of }),
            Kind::Absent => self.tree.push(Node::Absent(of)),
            Kind::Whole | Kind::Plain | Kind::Rest | Kind::Condition(_) => of,
        })
    }

    /// Inside a look-behind, whose characters keep their length.
    pub(super) fn is_behind(&self) -> bool {
        self.open.iter().any(|o| matches!(o.kind, Kind::Look { behind: true, .. }))
    }

    pub(super) fn peek(&self, n: usize) -> Option<u8> {
        self.s.get(self.at + n).copied()
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        &self.s[self.at..]
    }

    /// The character that begins here.
    pub(super) fn take_char(&mut self) -> Result<u32> {
        let rest = self.rest();
        let bad = || "invalid multibyte character".to_string();
        let n = self.enc.char_len(rest).map_err(|_| bad())?;
        self.at += n;
        if self.enc.is_single_byte() {
            return Ok(u32::from(rest[0]));
        }
        self.enc.ord(&rest[..n]).ok_or_else(bad)
    }

    fn push(&mut self, node: Node) {
        let id = self.tree.push(node);
        if let Some(open) = self.open.last_mut() {
            open.row.push(id);
            open.joins = false;
        }
    }

    pub(super) fn push_code(&mut self, code: u32) {
        let fold = self.options.ignore_case;
        if let Some(open) = self.open.last_mut()
            && open.joins
            && let Some(&last) = open.row.last()
            && let Node::Chars { codes, fold: same } = &mut self.tree.nodes[last as usize]
            && *same == fold
        {
            codes.push(code);
            return;
        }
        self.push(Node::Chars { codes: vec![code], fold });
        if let Some(open) = self.open.last_mut() {
            open.joins = true;
        }
    }

    fn step(&mut self) -> Result<()> {
        let b = self.s[self.at];
        if b >= 0x80 || !self.enc.is_ascii_compatible() {
            let c = self.take_char()?;
            self.push_code(c);
            return Ok(());
        }
        match b {
            b'\\' => return self.escape(),
            b'[' => {
                self.at += 1;
                let id = self.class()?;
                if let Some(open) = self.open.last_mut() {
                    open.row.push(id);
                    open.joins = false;
                }
                return Ok(());
            }
            b'(' => return self.group(),
            b')' => {
                self.at += 1;
                return self.close();
            }
            b'|' => {
                self.end_row();
            }
            b'.' => self.push(Node::Any { newline: self.options.multiline }),
            b'^' => self.push(Node::Anchor(Anchor::LineStart)),
            b'$' => self.push(Node::Anchor(Anchor::LineEnd)),
            b'*' | b'+' | b'?' => {
                self.at += 1;
                let (min, max) = match b {
                    b'*' => (0, None),
                    b'+' => (1, None),
                    _ => (0, Some(1)),
                };
                let greed = match self.peek(0) {
                    Some(b'?') => Greed::Lazy,
                    Some(b'+') => Greed::Possessive,
                    _ => Greed::Greedy,
                };
                self.at += usize::from(greed != Greed::Greedy);
                return self.repeat(min, max, greed);
            }
            b'{' => {
                if let Some((min, max, len)) = self.interval()? {
                    self.at += len;
                    // `{n}?` may be absent, `{n,m}+` repeats.
                    let lazy = self.peek(0) == Some(b'?') && max != Some(min);
                    self.at += usize::from(lazy);
                    return self.repeat(min, max, if lazy { Greed::Lazy } else { Greed::Greedy });
                }
                self.push_code(u32::from(b));
            }
            b'#' if self.options.extended => {
                self.at += memchr::memchr(b'\n', self.rest()).unwrap_or(self.rest().len() - 1);
            }
            b' ' | b'\t'..=b'\r' if self.options.extended => {}
            _ => self.push_code(u32::from(b)),
        }
        self.at += 1;
        Ok(())
    }

    /// `{n}`, `{n,}`, `{,m}`, `{n,m}`: the bounds and the length. None: a literal brace.
    fn interval(&self) -> Result<Option<(u32, Option<u32>, usize)>> {
        let rest = self.rest();
        let number = |from: usize| -> Result<(Option<u32>, usize)> {
            let digits = rest[from..].iter().take_while(|b| b.is_ascii_digit()).count();
            let value = rest[from..from + digits].iter().fold(0u32, |v, b| v.saturating_mul(10).saturating_add(u32::from(b - b'0')));
            if value > BOUND {
                return Err("too big number for repeat range".into());
            }
            Ok(((digits > 0).then_some(value), from + digits))
        };
        let (low, mut at) = number(1)?;
        let mut high = low;
        let comma = rest.get(at) == Some(&b',');
        if comma {
            (high, at) = number(at + 1)?;
        }
        if rest.get(at) != Some(&b'}') || low.is_none() && high.is_none() {
            return Ok(None);
        }
        let min = low.unwrap_or(0);
        if high.is_some_and(|h| h < min) {
            return Err("upper is smaller than lower in repeat range".into());
        }
        Ok(Some((min, high, at + 1)))
    }

    fn repeat(&mut self, min: u32, max: Option<u32>, greed: Greed) -> Result<()> {
        const MISSING: &str = "target of repeat operator is not specified";
        let fold = self.options.ignore_case;
        let Some(open) = self.open.last_mut() else { return Err(MISSING.into()) };
        let joins = std::mem::take(&mut open.joins);
        let Some(last) = open.row.pop() else { return Err(MISSING.into()) };
        let mut of = last;
        // Of several characters the last is repeated.
        if joins
            && let Node::Chars { codes, .. } = &mut self.tree.nodes[last as usize]
            && codes.len() > 1
            && let Some(code) = codes.pop()
        {
            open.row.push(last);
            of = self.tree.push(Node::Chars { codes: vec![code], fold });
        }
        // Characters a fixed number of times are written out (`/s{2}/i` matches a sharp s).
        let written = match self.tree.node(of) {
            Node::Chars { codes, fold } if max == Some(min) && min > 1 && codes.len() * min as usize <= 100 => {
                Some(Node::Chars { codes: codes.repeat(min as usize), fold: *fold })
            }
            _ => None,
        };
        let id = self.tree.push(written.unwrap_or(Node::Repeat { of, min, max, greed }));
        if let Some(open) = self.open.last_mut() {
            open.row.push(id);
        }
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        loop {
            match self.open.last() {
                Some(open) if matches!(open.kind, Kind::Whole) => return Err("unmatched close parenthesis".into()),
                Some(open) => {
                    let rest = matches!(open.kind, Kind::Rest);
                    // Options in the middle of a group reach over all that follows, alternatives too.
                    if rest && self.open.len() == 2 {
                        return Err("unmatched close parenthesis".into());
                    }
                    let id = self.leave()?;
                    if let Some(outer) = self.open.last_mut() {
                        outer.row.push(id);
                        outer.joins = false;
                    }
                    if !rest {
                        return Ok(());
                    }
                }
                None => return Err("unmatched close parenthesis".into()),
            }
        }
    }

    fn group(&mut self) -> Result<()> {
        if self.open.len() > DEPTH {
            return Err("parse depth limit over".into());
        }
        self.at += 1;
        if self.peek(0) != Some(b'?') {
            self.plain = true;
            if self.captures {
                let number = self.new_group()?;
                self.enter(Kind::Group(number));
            } else {
                self.enter(Kind::Plain);
            }
            return Ok(());
        }
        self.at += 1;
        const END: &str = "end pattern in group";
        let Some(b) = self.peek(0) else { return Err(END.into()) };
        self.at += 1;
        let kind = match b {
            b'#' => {
                // A comment; an escaped parenthesis does not end it.
                loop {
                    match self.peek(0) {
                        None => return Err(END.into()),
                        Some(b'\\') => self.at += 2,
                        Some(b')') => {
                            self.at += 1;
                            return Ok(());
                        }
                        Some(_) => self.at += self.enc.char_len(self.rest()).unwrap_or_else(|n| n),
                    }
                }
            }
            b':' => Kind::Plain,
            b'=' => Kind::Look { behind: false, not: false },
            b'!' => Kind::Look { behind: false, not: true },
            b'>' => Kind::Atomic,
            b'~' => Kind::Absent,
            b'\'' => self.named_group(b'\'')?,
            b'<' => match self.peek(0) {
                Some(b @ (b'=' | b'!')) => {
                    self.at += 1;
                    Kind::Look { behind: true, not: b == b'!' }
                }
                None => return Err("end pattern with unmatched parenthesis".into()),
                _ => self.named_group(b'>')?,
            },
            b'(' => Kind::Condition(self.condition()?),
            _ => {
                self.at -= 1;
                return self.option_group();
            }
        };
        self.enter(kind);
        Ok(())
    }

    fn new_group(&mut self) -> Result<u32> {
        let number = self.tree.groups;
        if number > GROUPS {
            return Err("too many capture groups are specified".into());
        }
        self.tree.groups += 1;
        Ok(number)
    }

    fn named_group(&mut self, end: u8) -> Result<Kind> {
        let name = self.name(end)?;
        if name[0].is_ascii_digit() || name[0] == b'-' || !self.is_word_name(name) {
            return Err(format!("invalid group name <{}>", String::from_utf8_lossy(name)));
        }
        let number = self.new_group()?;
        match self.tree.names.iter_mut().find(|n| n.0 == name) {
            Some(known) => known.1.push(number),
            None => self.tree.names.push((name.to_vec(), vec![number])),
        }
        Ok(Kind::Group(number))
    }

    /// The name up to `end`, which is passed.
    fn name(&mut self, end: u8) -> Result<&'a [u8]> {
        let rest = self.rest();
        let stop = rest.iter().position(|&b| b == end || b == b')');
        let n = match stop {
            _ if rest.is_empty() || rest[0] == end => return Err("group name is empty".into()),
            Some(n) if rest[n] == end => n,
            Some(n) => return Err(format!("invalid group name <{}>", String::from_utf8_lossy(&rest[..n]))),
            None => return Err(format!("invalid group name <{}>", String::from_utf8_lossy(rest))),
        };
        self.at += n + 1;
        Ok(&rest[..n])
    }

    fn is_word_name(&self, name: &[u8]) -> bool {
        // Only its first character is looked at.
        name.first().is_some_and(|&b| b >= 0x80 || b.is_ascii_alphanumeric() || b == b'_')
    }

    /// What stands in `(?(...)`, whose second parenthesis was read.
    fn condition(&mut self) -> Result<Vec<Ref>> {
        let (text, quoted) = match self.peek(0) {
            Some(b @ (b'<' | b'\'')) => {
                self.at += 1;
                let end = if b == b'<' { b'>' } else { b };
                let name = self.name(end)?;
                // A sign begins a level, which has no meaning here.
                if name[1..].iter().any(|b| matches!(b, b'+' | b'-')) {
                    return Err(format!("invalid group name <{}>", String::from_utf8_lossy(name)));
                }
                if self.peek(0) != Some(b')') {
                    return Err("undefined group option".into());
                }
                self.at += 1;
                (name, true)
            }
            Some(b'0'..=b'9') => (self.name(b')')?, false),
            _ => return Err(INVALID_CONDITION.into()),
        };
        Ok(match self.reference(text)? {
            Some(n) => {
                self.numbered = true;
                vec![Ref::Number(n)]
            }
            None if quoted => vec![Ref::Name(text.to_vec())],
            None => return Err(format!("invalid group name <{}>", String::from_utf8_lossy(text))),
        })
    }

    /// The group that a number, plain or relative, stands for; None for a name.
    fn reference(&self, text: &[u8]) -> Result<Option<u32>> {
        let (sign, digits) = match text[0] {
            b @ (b'-' | b'+') => (Some(b), &text[1..]),
            _ => (None, text),
        };
        if !digits.first().is_some_and(u8::is_ascii_digit) {
            if sign.is_some() || !self.is_word_name(text) {
                return Err(format!("invalid group name <{}>", String::from_utf8_lossy(text)));
            }
            return Ok(None);
        }
        if !digits.iter().all(u8::is_ascii_digit) {
            return Err(format!("invalid group name <{}>", String::from_utf8_lossy(text)));
        }
        let n = digits.iter().fold(0u32, |v, b| v.saturating_mul(10).saturating_add(u32::from(b - b'0')));
        if n > 0x7fff_ffff {
            return Err("too big number".into());
        }
        let open = self.tree.groups;
        Ok(Some(match sign {
            Some(b'-') if n >= open || n == 0 => return Err("invalid backref number/name".into()),
            Some(b'-') => open - n,
            Some(_) if n == 0 => return Err("invalid backref number/name".into()),
            Some(_) => (open - 1).saturating_add(n),
            None => n,
        }))
    }

    fn option_group(&mut self) -> Result<()> {
        const UNKNOWN: &str = "undefined group option";
        let mut o = self.options;
        let mut on = true;
        loop {
            let Some(b) = self.peek(0) else { return Err("end pattern in group".into()) };
            self.at += 1;
            match b {
                b'-' => on = false,
                b'i' => o.ignore_case = on,
                b'm' => o.multiline = on,
                b'x' => o.extended = on,
                b'a' if on => (o.ascii_types, o.ascii_brackets, o.ascii_edges) = (true, true, true),
                b'u' if on => (o.ascii_types, o.ascii_brackets, o.ascii_edges) = (false, false, false),
                b'd' if on => (o.ascii_types, o.ascii_brackets, o.ascii_edges) = (true, false, false),
                b':' => {
                    self.enter(Kind::Plain);
                    break;
                }
                b')' => {
                    self.enter(Kind::Rest);
                    break;
                }
                _ => return Err(UNKNOWN.into()),
            }
        }
        self.options = o;
        Ok(())
    }

    fn escape(&mut self) -> Result<()> {
        let Some(c) = self.peek(1) else { return Err("end pattern at escape".into()) };
        if c >= 0x80 {
            self.at += 1;
            let c = self.take_char()?;
            self.push_code(c);
            return Ok(());
        }
        let node = match c {
            b'w' | b'W' | b'd' | b'D' | b's' | b'S' | b'h' | b'H' => Node::Set(self.type_set(c)),
            b'b' | b'B' => Node::Anchor(Anchor::WordEdge { ascii: self.options.ascii_edges, not: c == b'B' }),
            b'A' => Node::Anchor(Anchor::TextStart),
            b'z' => Node::Anchor(Anchor::TextEnd),
            b'Z' => Node::Anchor(Anchor::TextEndNewline),
            b'G' => Node::Anchor(Anchor::SearchStart),
            b'K' => Node::Keep,
            b'R' => Node::Newline,
            b'X' => Node::Grapheme,
            b'p' | b'P' if self.peek(2) == Some(b'{') => {
                let id = self.property_node()?;
                if let Some(open) = self.open.last_mut() {
                    open.row.push(id);
                    open.joins = false;
                }
                return Ok(());
            }
            b'k' if matches!(self.peek(2), Some(b'<' | b'\'')) => return self.named_backref(),
            b'g' if matches!(self.peek(2), Some(b'<' | b'\'')) => return self.call(),
            b'1'..=b'9' => {
                let digits = self.s[self.at + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
                let text = &self.s[self.at + 1..self.at + 1 + digits];
                let n = text.iter().fold(0u32, |v, b| v.saturating_mul(10).saturating_add(u32::from(b - b'0')));
                if n < self.tree.groups || n <= 9 {
                    self.at += 1 + digits;
                    self.numbered = true;
                    self.push_backref(vec![Ref::Number(n)], None);
                    return Ok(());
                }
                if c >= b'8' {
                    self.at += 2;
                    self.push_code(u32::from(c));
                    return Ok(());
                }
                let code = self.simple_escape()?;
                self.push_code(code);
                return Ok(());
            }
            _ => {
                let code = self.simple_escape()?;
                self.push_code(code);
                return Ok(());
            }
        };
        self.at += 2;
        self.push(node);
        Ok(())
    }

    /// The set of `\w` and its like.
    pub(super) fn type_set(&self, letter: u8) -> Ranges {
        let kind = match letter | 32 {
            b'w' => Type::Word,
            b'd' => Type::Digit,
            b's' => Type::Space,
            _ => Type::XDigit,
        };
        let set = if self.options.ascii_types { kind.ascii() } else { kind.set(self.enc) };
        if letter.is_ascii_uppercase() { set.negated() } else { set }
    }

    /// `\p{...}`, `\P{...}`, `\p{^...}` at the backslash: the set, and whether it is negated.
    pub(super) fn property(&mut self) -> Result<(Ranges, bool)> {
        let mut not = self.peek(1) == Some(b'P');
        self.at += 3;
        if self.peek(0) == Some(b'^') {
            not = !not;
            self.at += 1;
        }
        let rest = self.rest();
        let n = rest.iter().position(|b| matches!(b, b'}' | b'(' | b')' | b'{' | b'|')).filter(|&n| rest[n] == b'}');
        let fail = |name: &[u8]| format!("invalid character property name {{{}}}", String::from_utf8_lossy(name));
        let Some(n) = n else { return Err(fail(&[])) };
        self.at += n + 1;
        let set = property::named(self.enc, &rest[..n]).ok_or_else(|| fail(&rest[..n]))?;
        Ok((set, not))
    }

    /// An escape that stands for one character, inside a class or outside.
    pub(super) fn simple_escape(&mut self) -> Result<u32> {
        let Some(c) = self.peek(1) else { return Err("end pattern at escape".into()) };
        if c >= 0x80 {
            self.at += 1;
            return self.take_char();
        }
        self.at += 2;
        Ok(u32::from(match c {
            b't' => b'\t',
            b'n' => b'\n',
            b'r' => b'\r',
            b'f' => 0x0c,
            b'v' => 0x0b,
            b'a' => 7,
            b'e' => 0x1b,
            b'x' => {
                let digits = self.rest().iter().take(2).take_while(|b| b.is_ascii_hexdigit()).count();
                let text = std::str::from_utf8(&self.rest()[..digits]).unwrap_or("");
                self.at += digits;
                u8::from_str_radix(text, 16).map_err(|_| "invalid hex escape")?
            }
            b'0'..=b'7' => {
                let more = self.rest().iter().take(2).take_while(|b| (b'0'..=b'7').contains(b)).count();
                let value = self.s[self.at - 1..self.at + more].iter().fold(0u32, |v, b| v * 8 + u32::from(b - b'0'));
                self.at += more;
                u8::try_from(value).map_err(|_| "invalid escape code")?
            }
            c => c,
        }))
    }

    fn push_backref(&mut self, refs: Vec<Ref>, level: Option<i32>) {
        self.push(Node::Backref { groups: Vec::new(), fold: self.options.ignore_case, level });
        self.refs.push((self.tree.nodes.len() as Id - 1, refs));
    }

    /// `\k<...>`
    fn named_backref(&mut self) -> Result<()> {
        let end = if self.peek(2) == Some(b'<') { b'>' } else { b'\'' };
        self.at += 3;
        let text = self.name(end)?;
        // A level stands behind a sign that is not the first.
        let sign = text.iter().skip(1).position(|b| matches!(b, b'+' | b'-')).map(|n| n + 1);
        let (name, level) = match sign {
            Some(n) => {
                let digits = &text[n + 1..];
                if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
                    return Err(format!("invalid group name <{}>", String::from_utf8_lossy(text)));
                }
                let level = digits.iter().fold(0i32, |v, b| v.saturating_mul(10).saturating_add(i32::from(b - b'0')));
                (&text[..n], Some(if text[n] == b'-' { -level } else { level }))
            }
            None => (text, None),
        };
        let r = match self.reference(name)? {
            Some(0) => return Err("invalid backref number/name".into()),
            Some(n) => {
                self.numbered = true;
                Ref::Number(n)
            }
            None => {
                // Only what stands before.
                if !self.tree.names.iter().any(|n| n.0 == name) {
                    return Err(format!("undefined name <{}> reference", String::from_utf8_lossy(name)));
                }
                Ref::Name(name.to_vec())
            }
        };
        self.push_backref(vec![r], level);
        Ok(())
    }

    /// `\g<...>`
    fn call(&mut self) -> Result<()> {
        let end = if self.peek(2) == Some(b'<') { b'>' } else { b'\'' };
        self.at += 3;
        let text = self.name(end)?;
        let target = match self.reference(text)? {
            Some(n) => {
                self.numbered |= n != 0;
                Target::Number(n)
            }
            None => Target::Name(text.to_vec()),
        };
        self.push(Node::Call(target));
        Ok(())
    }

    /// Gives references their groups.
    fn resolve(&mut self) -> Result<()> {
        if self.numbered && !self.tree.names.is_empty() {
            return Err("numbered backref/call is not allowed. (use name)".into());
        }
        let count = self.tree.groups;
        for (id, refs) in std::mem::take(&mut self.refs) {
            let mut found = Vec::new();
            for r in refs {
                match r {
                    Ref::Number(n) if n < count => found.push(n),
                    Ref::Number(_) => return Err("invalid backref number/name".into()),
                    Ref::Name(name) => match self.tree.names.iter().find(|n| n.0 == name) {
                        Some(n) => found.extend_from_slice(&n.1),
                        None => return Err(format!("undefined name <{}> reference", String::from_utf8_lossy(&name))),
                    },
                }
            }
            match &mut self.tree.nodes[id as usize] {
                Node::Backref { groups, .. } | Node::Condition { groups, .. } => *groups = found,
                _ => {}
            }
        }
        let names = &self.tree.names;
        for node in &mut self.tree.nodes {
            let Node::Call(target) = node else { continue };
            let number = match target {
                Target::Number(n) if *n < count => *n,
                Target::Number(n) => return Err(format!("undefined group <{n}> reference")),
                Target::Name(name) => match names.iter().find(|n| n.0 == *name) {
                    Some((_, numbers)) if numbers.len() == 1 => numbers[0],
                    Some(_) => return Err(format!("multiplex definition name <{}> call", String::from_utf8_lossy(name))),
                    None => return Err(format!("undefined name <{}> reference", String::from_utf8_lossy(name))),
                },
            };
            *target = Target::Number(number);
        }
        Ok(())
    }
}
