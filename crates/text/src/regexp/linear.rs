//! The regular subset: translates a Ruby pattern for the linear-time engine, or declines.
//!
//! Accepted is only what means the same in both engines: literals, classes of ASCII or single characters, a dot, groups,
//! greedy and lazy repetition of what cannot be empty, `\A \z $`, `^` where a character must follow, and on 7-bit text also
//! `\b \B` and case-insensitive matching. Anything doubtful is declined: the matcher knows it.
//! Rejected: translating look-around and possessive forms (other semantics), Unicode classes by name (other Unicode version).

use super::RegexFlags;
use crate::encoding::utf8;
use regex_automata::{meta, util::syntax};
use regex_syntax::hir::{Hir, HirKind};

pub(super) enum Built {
    Literal(Vec<u8>),
    Automaton { hir: Hir, ascii_only: bool },
}

#[derive(Clone, Copy)]
struct Flags {
    i: bool,
    m: bool,
    x: bool,
}

struct Group {
    flags: Flags,
    consumed: bool,
    /// Extra closing parentheses that options inside opened.
    extra: usize,
}

struct Translator<'a> {
    s: &'a [u8],
    at: usize,
    out: String,
    literal: Option<Vec<u8>>,
    flags: Flags,
    groups: Vec<Group>,
    extra: usize,
    /// May something before this point have consumed a character?
    consumed: bool,
    caret: bool,
    ascii_only: bool,
    named: bool,
    /// The last atom may take a quantifier.
    quantifiable: bool,
}

pub(super) fn build(source: &[u8], flags: &RegexFlags, unicode: bool) -> Option<Built> {
    if !unicode || flags.no_encoding || !utf8::is_valid(source) || source.len() > 4096 {
        return None;
    }
    let mut t = Translator {
        s: source,
        at: 0,
        out: String::with_capacity(source.len() * 2),
        literal: (!flags.ignore_case).then(Vec::new),
        flags: Flags { i: flags.ignore_case, m: flags.multiline, x: flags.extended },
        groups: Vec::new(),
        extra: 0,
        consumed: false,
        caret: false,
        ascii_only: flags.ignore_case,
        named: source.windows(4).any(|w| w.starts_with(b"(?<") && !matches!(w[3], b'=' | b'!')),
        quantifiable: false,
    };
    if flags.ignore_case {
        t.out.push_str("(?i)");
    }
    while t.at < t.s.len() {
        t.step()?;
    }
    if !t.groups.is_empty() {
        return None;
    }
    (0..t.extra).for_each(|_| t.out.push(')'));
    if let Some(bytes) = t.literal {
        return Some(Built::Literal(bytes));
    }
    let config = syntax::Config::new().utf8(false).unicode(true).multi_line(false).nest_limit(100);
    let hir = syntax::parse_with(&t.out, &config).ok()?;
    if t.caret && hir.properties().minimum_len().unwrap_or(0) == 0 {
        return None;
    }
    if !repeats_agree(&hir) {
        return None;
    }
    Some(Built::Automaton { hir, ascii_only: t.ascii_only })
}

/// The engine for a pattern. None: it would be too large.
pub(super) fn engine(hir: &Hir) -> Option<Box<meta::Regex>> {
    let config = meta::Config::new().utf8_empty(true).nfa_size_limit(Some(1 << 20)).hybrid_cache_capacity(1 << 20);
    meta::Builder::new().configure(config).build_from_hir(hir).ok().map(Box::new)
}

/// The engines treat loops over empty matches differently, and huge counters are better left to the backtracker.
fn repeats_agree(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Repetition(r) => {
            let loops = r.max.is_none_or(|m| m > 1);
            (!loops || r.sub.properties().minimum_len().is_some_and(|n| n > 0))
                && r.min <= 1000
                && r.max.unwrap_or(0) <= 1000
                && repeats_agree(&r.sub)
        }
        HirKind::Capture(c) => repeats_agree(&c.sub),
        HirKind::Concat(v) | HirKind::Alternation(v) => v.iter().all(repeats_agree),
        _ => true,
    }
}

impl Translator<'_> {
    fn peek(&self, n: usize) -> Option<u8> {
        self.s.get(self.at + n).copied()
    }

    fn push_char(&mut self, c: char) {
        if let Some(l) = &mut self.literal {
            l.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
        self.out.push_str(&format!("\\x{{{:x}}}", c as u32));
        self.atom();
    }

    fn atom(&mut self) {
        self.consumed = true;
        self.quantifiable = true;
    }

    fn special(&mut self, text: &str) {
        self.literal = None;
        self.out.push_str(text);
    }

    fn step(&mut self) -> Option<()> {
        let b = self.s[self.at];
        match b {
            b'\\' => self.escape(),
            b'[' => self.class(),
            b'(' => self.open(),
            b')' => {
                let group = self.groups.pop()?;
                (0..self.extra).for_each(|_| self.out.push(')'));
                self.extra = group.extra;
                self.flags = group.flags;
                self.special(")");
                self.consumed = true;
                self.quantifiable = true;
                self.at += 1;
                Some(())
            }
            b'|' => {
                // Options inside reach over alternatives; the groups they opened do, too.
                self.special("|");
                self.consumed = self.groups.last().is_some_and(|g| g.consumed);
                self.quantifiable = false;
                self.at += 1;
                Some(())
            }
            b'.' => {
                self.special(if self.flags.m { "(?s:.)" } else { "." });
                self.atom();
                self.at += 1;
                Some(())
            }
            b'^' => {
                if self.consumed {
                    return None;
                }
                self.caret = true;
                self.special("(?m:^)");
                self.quantifiable = false;
                self.at += 1;
                Some(())
            }
            b'$' => {
                self.special("(?m:$)");
                self.quantifiable = false;
                self.at += 1;
                Some(())
            }
            b'*' | b'+' | b'?' => self.quantifier(&(b as char).to_string(), 1, false),
            b'{' => {
                let rest = &self.s[self.at..];
                let end = memchr::memchr(b'}', rest)?;
                let text = std::str::from_utf8(&rest[1..end]).ok()?;
                let (low, high) = text.split_once(',').map_or((text, None), |(l, h)| (l, Some(h)));
                let number = |s: &str| s.is_empty() || (s.len() <= 4 && s.bytes().all(|b| b.is_ascii_digit()));
                if !number(low) || !number(high.unwrap_or("")) || (low.is_empty() && high.is_none_or(str::is_empty)) {
                    return None;
                }
                let low = if low.is_empty() { "0" } else { low };
                let form = match high {
                    None => format!("{{{low}}}"),
                    Some(h) => format!("{{{low},{h}}}"),
                };
                self.quantifier(&form, end + 1, true)
            }
            b'#' if self.flags.x => {
                self.at += memchr::memchr(b'\n', &self.s[self.at..]).unwrap_or(self.s.len() - self.at);
                Some(())
            }
            b' ' | b'\t'..=b'\r' if self.flags.x => {
                self.at += 1;
                Some(())
            }
            _ => {
                let (c, n) = utf8::decode(&self.s[self.at..])?;
                self.at += n;
                self.push_char(char::from_u32(c)?);
                if c >= 0x80 && self.flags.i {
                    return None;
                }
                Some(())
            }
        }
    }

    fn quantifier(&mut self, form: &str, len: usize, interval: bool) -> Option<()> {
        if !self.quantifiable {
            return None;
        }
        self.at += len;
        self.special(form);
        match self.peek(0) {
            // `a{2}?` is an optional a{2} in Ruby, `a++` possessive.
            Some(b'?') if interval => return None,
            Some(b'?') => {
                self.out.push('?');
                self.at += 1;
            }
            _ => {}
        }
        if matches!(self.peek(0), Some(b'*' | b'+' | b'?' | b'{'))
            || (self.flags.x && matches!(self.peek(0), Some(b' ' | b'\t'..=b'\r' | b'#')))
        {
            return None;
        }
        self.quantifiable = false;
        Some(())
    }

    fn open(&mut self) -> Option<()> {
        let rest = &self.s[self.at..];
        let before = Group { flags: self.flags, consumed: self.consumed, extra: self.extra };
        if rest.starts_with(b"(?#") {
            self.at += memchr::memchr(b')', rest)? + 1;
            return Some(());
        }
        self.quantifiable = false;
        if rest.starts_with(b"(?<") && !matches!(rest.get(3), Some(b'=' | b'!')) {
            let end = memchr::memchr(b'>', rest)?;
            let name = &rest[3..end];
            let twice = [b"(?<", name, b">"].concat();
            let plain = !name.is_empty() && !name[0].is_ascii_digit() && name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_');
            if !plain || memchr::memmem::find_iter(self.s, &twice).count() != 1 {
                return None;
            }
            self.special("(");
            self.at += end + 1;
        } else if let Some(options) = rest.strip_prefix(b"(?") {
            let n = options.iter().position(|b| !matches!(b, b'm' | b'i' | b'x' | b'-'))?;
            if options[n] != b':' {
                return None;
            }
            let mut on = true;
            for &b in &options[..n] {
                match b {
                    b'-' => on = false,
                    b'm' => self.flags.m = on,
                    b'x' => self.flags.x = on,
                    _ => self.flags.i = on,
                }
            }
            self.ascii_only |= self.flags.i;
            self.special(if self.flags.i { "(?i:" } else { "(?-i:" });
            self.at += 2 + n + 1;
        } else {
            // Beside named groups, plain ones don't capture.
            self.special(if self.named { "(?:" } else { "(" });
            self.at += 1;
        }
        self.groups.push(before);
        self.extra = 0;
        Some(())
    }

    fn escape(&mut self) -> Option<()> {
        let c = self.peek(1)?;
        let mut len = 2;
        match c {
            b'd' => self.special("[0-9]"),
            b'D' => self.special("[^0-9]"),
            b'w' => self.special("[0-9A-Za-z_]"),
            b'W' => self.special("[^0-9A-Za-z_]"),
            b's' => self.special("[\\t-\\r ]"),
            b'S' => self.special("[^\\t-\\r ]"),
            b'h' => self.special("[0-9a-fA-F]"),
            b'H' => self.special("[^0-9a-fA-F]"),
            b'A' | b'z' | b'b' | b'B' => {
                self.special(match c {
                    b'A' => "\\A",
                    b'z' => "\\z",
                    b'b' => "(?-u:\\b)",
                    _ => "(?-u:\\B)",
                });
                self.ascii_only |= matches!(c, b'b' | b'B');
                self.quantifiable = false;
                self.at += 2;
                return Some(());
            }
            _ => {
                let (ch, n) = self.escaped_char()?;
                len = n;
                self.at += len;
                self.push_char(ch);
                return Some(());
            }
        }
        // Under /i, a class may hold characters that fold beyond ASCII; the text is 7-bit then.
        self.atom();
        self.at += len;
        Some(())
    }

    /// An escape that stands for one character, ASCII or from `\u`.
    fn escaped_char(&self) -> Option<(char, usize)> {
        let c = self.peek(1)?;
        let simple = match c {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'f' => '\x0c',
            b'v' => '\x0b',
            b'a' => '\x07',
            b'e' => '\x1b',
            b'u' => {
                let hex = self.s.get(self.at + 2..self.at + 6)?;
                let c =
                    u32::from_str_radix(std::str::from_utf8(hex).ok().filter(|h| h.bytes().all(|b| b.is_ascii_hexdigit()))?, 16).ok()?;
                return Some((char::from_u32(c)?, 6)).filter(|p| !self.flags.i || p.0.is_ascii());
            }
            _ if c.is_ascii_punctuation() || c == b' ' => c as char,
            _ => return None,
        };
        Some((simple, 2))
    }

    /// A single character of a class, which may begin a range.
    fn class_char(&mut self, c: char, n: usize, text: &mut String) -> Option<Option<char>> {
        self.at += n;
        text.push_str(&format!("\\x{{{:x}}}", c as u32));
        if self.flags.i && !c.is_ascii() { None } else { Some(Some(c)) }
    }

    fn class(&mut self) -> Option<()> {
        let mut text = String::from("[");
        self.at += 1;
        if self.peek(0) == Some(b'^') {
            text.push('^');
            self.at += 1;
        }
        let mut last: Option<char> = None;
        let mut items = 0;
        loop {
            let b = self.peek(0)?;
            match b {
                b']' if items > 0 => break,
                b']' | b'[' => return None,
                b'&' if self.peek(1) == Some(b'&') => return None,
                b'-' => {
                    // A range, or a dash at either end.
                    let next = self.peek(1)?;
                    match last {
                        Some(from) if next != b']' => {
                            self.at += 1;
                            let (to, n) = if next == b'\\' {
                                self.escaped_char()?
                            } else {
                                utf8::decode(&self.s[self.at..]).and_then(|(c, n)| Some((char::from_u32(c)?, n)))?
                            };
                            if next == b'[' || from > to || (self.flags.i && !to.is_ascii()) {
                                return None;
                            }
                            self.at += n;
                            text.push_str(&format!("-\\x{{{:x}}}", to as u32));
                            last = None;
                        }
                        _ if items == 0 || next == b']' => last = self.class_char('-', 1, &mut text)?,
                        _ => return None,
                    }
                }
                b'\\' => {
                    let set = match self.peek(1)? {
                        b'd' => Some("0-9"),
                        b'w' => Some("0-9A-Za-z_"),
                        b's' => Some("\\t-\\r "),
                        b'h' => Some("0-9a-fA-F"),
                        b'b' => Some("\\x{8}"),
                        b'D' => Some("[^0-9]"),
                        b'W' => Some("[^0-9A-Za-z_]"),
                        b'S' => Some("[^\\t-\\r ]"),
                        _ => None,
                    };
                    match set {
                        Some(set) => {
                            text.push_str(set);
                            last = None;
                            self.at += 2;
                            if self.peek(0) == Some(b'-') && self.peek(1) != Some(b']') {
                                return None;
                            }
                        }
                        None => {
                            let (c, n) = self.escaped_char()?;
                            last = self.class_char(c, n, &mut text)?;
                        }
                    }
                }
                _ => {
                    let (c, n) = utf8::decode(&self.s[self.at..])?;
                    last = self.class_char(char::from_u32(c)?, n, &mut text)?;
                }
            }
            items += 1;
        }
        self.at += 1;
        text.push(']');
        self.special(&text);
        self.atom();
        Some(())
    }
}
