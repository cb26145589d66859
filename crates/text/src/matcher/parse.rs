//! Ruby's pattern syntax to a tree.
//!
//! Input is what [`crate::regexp`]'s look at the escapes left: bytes of the pattern's encoding in which `\u`, `\c`, `\M` and escaped bytes beyond ASCII
//! have become characters. Open groups stand on a list of their own: nesting costs no native stack.
//! Invariants: errors are Ruby's, without the source behind them; characters are codes of the encoding (`Encoding::ord`).
//! Rejected: one pass (whether plain groups capture depends on names further on: such a pattern is parsed twice).

mod references;

use super::ast::{Anchor, Greed, Id, Node, Tree};
use super::folding::Folder;
use super::poll::Poll;
use super::property::{self, Type};
use super::ranges::Ranges;
use crate::encoding::Encoding;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

const INVALID_CONDITION: &str = "invalid conditional pattern";
/// Ruby's own limit is 4096 groups inside each other.
const DEPTH: usize = 4096;
/// Largest bound of an interval, and number of a group.
const BOUND: u32 = 100_000;
const GROUPS: u32 = 32_767;
/// Nodes of a tree: about half a gigabyte while it is compiled.
const NODES: usize = 4_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Options are named for it, perhaps those of the outer one.
    named: bool,
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
    /// References to groups, and whether they stand in a look-behind.
    refs: Vec<(Id, Vec<Ref>, bool)>,
    /// Numbers of calls that count from where they stand, as they were written.
    ahead: HashMap<Id, u32>,
    /// Place of each name in `tree.names`.
    name_index: HashMap<&'a [u8], usize>,
    /// Look-behinds that are open.
    behind: usize,
    /// The last group with options of its own.
    optioned: Option<Id>,
    /// Properties that were met, by name.
    pub properties: HashMap<&'a [u8], Ranges>,
    pub brackets: HashMap<&'a [u8], Ranges>,
    /// Each set stands in memory once.
    sets: HashSet<Arc<Ranges>>,
    pub warns: Warns,
    /// What looks like a mistake, as far as somebody wants to know it.
    pub warnings: Vec<String>,
    /// Of members that are named twice: once for a pattern.
    pub warned_twice: bool,
}

/// Parses a pattern.
///
/// # Errors
/// Ruby's message, without the source.
pub fn parse(source: &[u8], options: Options, enc: Encoding, folder: &Folder, poll: &mut Poll<'_>) -> Result<Tree> {
    Ok(parse_warning(source, options, enc, folder, poll, Warns::Nothing)?.0)
}

/// The same, and what looks like a mistake.
pub fn parse_warning(
    source: &[u8],
    options: Options,
    enc: Encoding,
    folder: &Folder,
    poll: &mut Poll<'_>,
    warns: Warns,
) -> Result<(Tree, Vec<String>)> {
    let mut run = |captures| {
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
            ahead: HashMap::new(),
            name_index: HashMap::new(),
            behind: 0,
            optioned: None,
            properties: HashMap::new(),
            brackets: HashMap::new(),
            sets: HashSet::new(),
            warns,
            warnings: Vec::new(),
            warned_twice: false,
        };
        p.run(poll).map(|()| p)
    };
    let mut p = run(true)?;
    if !p.tree.names.is_empty() && p.plain {
        // Beside named groups, plain ones don't capture.
        p = run(false)?;
    }
    p.resolve()?;
    Ok((p.tree, p.warnings))
}

/// Which of what looks like a mistake somebody wants to know.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Warns {
    Nothing,
    /// What Ruby tells unless warnings are off.
    Usual,
    /// With `-w`: members that are named twice and escapes without a meaning, too.
    All,
}

/// Repeats as Ruby names them, by [`named_repeat`].
const REPEATS: [&str; 6] = ["?", "*", "+", "??", "*?", "+?"];

/// Which of [`REPEATS`] a repeat is; a possessive one as its greedy brother.
fn named_repeat(min: u32, max: Option<u32>, greed: Greed) -> Option<usize> {
    let kind = match (min, max) {
        (0, Some(1)) => 0,
        (0, None) => 1,
        (1, None) => 2,
        _ => return None,
    };
    Some(kind + if greed == Greed::Lazy { 3 } else { 0 })
}

/// What Ruby's own matcher makes of a repeat of a repeat (rows: the inner one; columns: the outer). Empty: the outer one changes nothing. It is the same matches here.
const NESTED: [[Option<&str>; 6]; 6] = {
    const SAME: Option<&str> = Some("");
    const ANY: Option<&str> = Some("*");
    const FEW: Option<&str> = Some("*?");
    const BOTH: Option<&str> = Some("+ and ??");
    [
        [SAME, ANY, ANY, Some("??"), FEW, None],
        [SAME, SAME, SAME, BOTH, BOTH, SAME],
        [ANY, ANY, SAME, None, BOTH, SAME],
        [SAME, FEW, FEW, SAME, FEW, FEW],
        [SAME; 6],
        [None, None, None, FEW, FEW, SAME],
    ]
};

impl<'a> Parser<'a> {
    fn run(&mut self, poll: &mut Poll<'_>) -> Result<()> {
        self.enter(Kind::Whole);
        while self.at < self.s.len() {
            let from = self.at;
            self.step()?;
            poll.work(1 + (self.at - from) / 4)?;
            if self.tree.nodes.len() > NODES {
                return Err("too big regexp".into());
            }
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
        self.behind += usize::from(matches!(kind, Kind::Look { behind: true, .. }));
        self.open.push(Open { kind, done: Vec::new(), row: Vec::new(), outer: self.options, named: false, joins: false });
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
        let optioned = open.named || open.outer != self.options;
        self.options = open.outer;
        self.behind -= usize::from(matches!(open.kind, Kind::Look { behind: true, .. }));
        if let Kind::Condition(refs) = open.kind {
            let (yes, no) = match open.done[..] {
                [yes] => (yes, None),
                [yes, no] => (yes, Some(no)),
                _ => return Err(INVALID_CONDITION.into()),
            };
            let id = self.tree.push(Node::Condition { groups: Vec::new(), yes, no });
            self.refs.push((id, refs, self.is_behind()));
            return Ok(id);
        }
        let of = match open.done[..] {
            [one] => one,
            _ => self.tree.push(Node::Alt(open.done)),
        };
        if optioned {
            self.optioned = Some(of);
        }
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
        self.behind > 0
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

    pub(super) fn warn(&mut self, message: impl FnOnce() -> String) {
        if self.warns != Warns::Nothing {
            self.warnings.push(message());
        }
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
            b']' if self.at > 0 => {
                self.warn(|| "regular expression has ']' without escape".into());
                self.push_code(u32::from(b));
            }
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
        if let Node::Repeat { min: m, max: n, greed: inner, .. } = *self.tree.node(of)
            && inner != Greed::Possessive
            && self.optioned != Some(last)
            && let (Some(inner), Some(outer)) = (named_repeat(m, n, inner), named_repeat(min, max, greed))
            && let Some(whole) = NESTED[inner][outer]
        {
            let (inner, outer) = (REPEATS[inner], REPEATS[outer]);
            self.warn(|| match whole {
                "" => format!("regular expression has redundant nested repeat operator '{inner}'"),
                _ => format!("nested repeat operator '{inner}' and '{outer}' was replaced with '{whole}' in regular expression"),
            });
        }
        // Characters a fixed number of times are written out (`/s{2}/i` matches a sharp s), but those in a group with options (`/(?i:s){2}/` does not).
        let written = match self.tree.node(of) {
            Node::Chars { codes, fold }
                if max == Some(min) && min > 1 && self.optioned != Some(last) && codes.len() * min as usize <= 100 =>
            {
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
        let from = self.at;
        let name = self.name(end)?;
        if name[0].is_ascii_digit() || name[0] == b'-' {
            // As in Ruby, a pattern that ends with the name is shown to its end.
            let to = if self.at == self.s.len() { self.at } else { from + name.len() };
            return Err(format!("invalid group name <{}>", String::from_utf8_lossy(&self.s[from..to])));
        }
        let number = self.new_group()?;
        match self.name_index.get(name) {
            Some(&known) => self.tree.names[known].1.push(number),
            None => {
                self.name_index.insert(name, self.tree.names.len());
                self.tree.names.push((name.to_vec(), vec![number]));
            }
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
            _ => return Err(format!("invalid group name <{}>", String::from_utf8_lossy(rest))),
        };
        self.at += n + 1;
        Ok(&rest[..n])
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
            None => return Err("undefined group option".into()),
            _ => return Err(INVALID_CONDITION.into()),
        };
        Ok(match self.reference(text)? {
            Some(n) => {
                self.numbered = true;
                vec![Ref::Number(n)]
            }
            // Only what stands before.
            None if quoted && !self.name_index.contains_key(text) => {
                return Err(format!("undefined name <{}> reference", String::from_utf8_lossy(text)));
            }
            None if quoted => vec![Ref::Name(text.to_vec())],
            None => return Err(format!("invalid group name <{}>", String::from_utf8_lossy(text))),
        })
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
                    if let Some(open) = self.open.last_mut() {
                        open.named = true;
                    }
                    break;
                }
                b')' if self.s[self.at - 2] != b'?' => {
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
            b'w' | b'W' | b'd' | b'D' | b's' | b'S' | b'h' | b'H' => {
                let set = self.type_set(c);
                Node::Set(self.shared(set))
            }
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
                match c {
                    b'g' | b'k' if self.peek(2).is_none() => {}
                    b'g' => self.warn(|| "invalid subexp call".into()),
                    b'k' => self.warn(|| "invalid back reference".into()),
                    _ => self.warn_of_escape(c, b"ijlmqyEFIJLNOTUVY"),
                }
                let code = self.simple_escape()?;
                self.push_code(code);
                return Ok(());
            }
        };
        self.at += 2;
        self.push(node);
        Ok(())
    }

    /// An escaped letter that stands for itself, if it is one of these.
    pub(super) fn warn_of_escape(&mut self, letter: u8, unknown: &[u8]) {
        match char::from(letter) {
            p @ ('p' | 'P') => self.warn(|| format!("invalid Unicode Property \\{p}")),
            c if self.warns == Warns::All && unknown.contains(&letter) => self.warn(|| format!("Unknown escape \\{c} is ignored")),
            _ => {}
        }
    }

    /// The one copy of a set.
    pub(super) fn shared(&mut self, set: Ranges) -> Arc<Ranges> {
        if let Some(known) = self.sets.get(&set) {
            return known.clone();
        }
        let set = Arc::new(set);
        self.sets.insert(set.clone());
        set
    }

    /// The set of `\w` and its like.
    pub(super) fn type_set(&self, letter: u8) -> Ranges {
        let kind = match letter | 32 {
            b'w' => Type::Word,
            b'd' => Type::Digit,
            b's' => Type::Space,
            _ => Type::XDigit,
        };
        let set = if self.options.ascii_types { kind.narrow(self.enc) } else { kind.set(self.enc) };
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
        let fail = |name: &[u8]| format!("invalid character property name {{{}}}", String::from_utf8_lossy(name));
        let n = match rest.iter().position(|b| matches!(b, b'}' | b'(' | b')' | b'{' | b'|')) {
            Some(n) if rest[n] == b'}' => n,
            Some(n) => return Err(fail(&rest[..n])),
            // Shown up to the last character.
            None => return Err(fail(&rest[..self.enc.chars(rest).last().map_or(0, |c| rest.len() - c.len())])),
        };
        self.at += n + 1;
        let name = &rest[..n];
        if let Some(set) = self.properties.get(name) {
            return Ok((set.clone(), not));
        }
        let set = property::named(self.enc, name).ok_or_else(|| fail(name))?;
        self.properties.insert(name, set.clone());
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
}
