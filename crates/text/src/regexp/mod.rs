//! Ruby's regular expressions over byte strings.
//!
//! Three engines stand behind one type: a substring search for plain literals, a linear-time automaton for the regular subset
//! whose semantics agree with Onigmo's, and Oniguruma (after a rewrite to Ruby's meaning) for everything else.
//! Invariants: a [`Regexp`] is immutable and `Send + Sync`; lazily compiled parts sit in `OnceLock`s (any thread may fill one, the
//! first wins). Oniguruma never sees broken UTF-8: such text is searched in a copy whose broken bytes became SUB characters.
//! Rejected: Oniguruma for all (25 times slower on common patterns); one engine per encoding object (two suffice: UTF-8, bytes).

mod automaton;
mod linear;
mod rewrite;
mod show;

#[cfg(test)]
mod tests;

pub use automaton::Lane;
pub use show::{UnionPart, escape, union, union_encoding};

use crate::encoding::{CodeRange, Encoding, utf8};
use automaton::Automaton;
use onig::{EncodedBytes, EncodedChars, MatchParam, RegexOptions, Region, SearchOptions, Syntax};
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::{Anchored, Input};
use std::borrow::Cow;
use std::sync::OnceLock;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegexFlags {
    /// `i`
    pub ignore_case: bool,
    /// `m`: a dot matches a newline
    pub multiline: bool,
    /// `x`
    pub extended: bool,
    /// `n`: no encoding
    pub no_encoding: bool,
    /// `u`, `e`, `s` given: the encoding is fixed whatever the source holds
    pub fixed: bool,
}

impl RegexFlags {
    pub const IGNORECASE: u32 = 1;
    pub const EXTENDED: u32 = 2;
    pub const MULTILINE: u32 = 4;
    pub const FIXEDENCODING: u32 = 16;
    pub const NOENCODING: u32 = 32;

    /// From `Regexp#options` bits.
    pub fn from_bits(bits: u32) -> RegexFlags {
        RegexFlags {
            ignore_case: bits & Self::IGNORECASE != 0,
            extended: bits & Self::EXTENDED != 0,
            multiline: bits & Self::MULTILINE != 0,
            fixed: bits & Self::FIXEDENCODING != 0,
            no_encoding: bits & Self::NOENCODING != 0,
        }
    }

    pub fn bits(self) -> u32 {
        self.ignore_case as u32 * Self::IGNORECASE
            + self.extended as u32 * Self::EXTENDED
            + self.multiline as u32 * Self::MULTILINE
            + self.fixed as u32 * Self::FIXEDENCODING
            + self.no_encoding as u32 * Self::NOENCODING
    }
}

/// RegexpError: `message: /source/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegexpError(pub String);

/// Why a search gave up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatchError {
    /// More backtracking steps than allowed (a VM turns this into Regexp::TimeoutError or asks for more).
    RetryLimit,
    /// Out of matcher stack or another engine failure; Oniguruma's wording.
    Engine(String),
}

/// Byte offsets of group 0 (the match) and the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captures {
    pub groups: Vec<Option<(usize, usize)>>,
}

impl Captures {
    pub fn start(&self) -> usize {
        self.groups[0].map_or(0, |g| g.0)
    }
    pub fn end(&self) -> usize {
        self.groups[0].map_or(0, |g| g.1)
    }
}

/// A text to search, with what its owner knows about it.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    pub bytes: &'a [u8],
    pub enc: Encoding,
    /// None: unknown; found out when needed.
    pub range: Option<CodeRange>,
    /// Who searches it.
    pub lane: Lane,
}

impl<'a> Text<'a> {
    pub fn utf8(bytes: &'a [u8]) -> Text<'a> {
        Text { bytes, enc: Encoding::UTF_8, range: None, lane: Lane::ONLY }
    }

    fn range(&self) -> CodeRange {
        self.range.unwrap_or_else(|| self.enc.code_range(self.bytes))
    }
}

enum Engine {
    Literal(Vec<u8>),
    /// `ascii_only`: the automaton agrees with Ruby on 7-bit text only (case folding, word boundaries).
    Linear {
        regex: Automaton,
        ascii_only: bool,
    },
    Backtrack,
}

pub struct Regexp {
    source: Vec<u8>,
    flags: RegexFlags,
    enc: Encoding,
    names: Vec<(String, Vec<usize>)>,
    groups: usize,
    engine: Engine,
    /// Oniguruma for UTF-8 text, and for text taken as bytes. Written by the first user, read by all.
    utf8: OnceLock<Result<onig::Regex, String>>,
    bytes: OnceLock<Result<onig::Regex, String>>,
}

impl std::fmt::Debug for Regexp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.inspect())
    }
}

impl Regexp {
    /// Compiles `source`, a String in encoding `enc`.
    ///
    /// # Errors
    /// RegexpError in Ruby's wording.
    pub fn new(source: &[u8], flags: RegexFlags, enc: Encoding) -> Result<Regexp, RegexpError> {
        let fail = |message: String| {
            let mut letters = String::new();
            show::letters(&flags, true, &mut letters);
            RegexpError(format!("{message}: /{}/{letters}", show::body(source)))
        };
        let mut unicode = source.is_ascii() || (enc == Encoding::UTF_8 && !flags.no_encoding);
        let mut rewritten = rewrite::rewrite(source, &flags, unicode);
        if rewritten.is_err() && unicode && enc == Encoding::BINARY {
            // Escapes of bytes that are no UTF-8.
            unicode = false;
            rewritten = rewrite::rewrite(source, &flags, unicode);
        }
        let rewritten = rewritten.map_err(fail)?;
        // A pattern with raw \xHH bytes works on bytes only.
        let as_bytes = !unicode || rewritten.raw_bytes;
        let mut fixed = flags.fixed;
        let enc = if rewritten.needs_utf8 || (unicode && !source.is_ascii()) {
            fixed = true;
            Encoding::UTF_8
        } else if flags.fixed {
            enc
        } else if rewritten.raw_bytes || !source.is_ascii() {
            fixed = !flags.no_encoding;
            if flags.no_encoding { Encoding::BINARY } else { enc }
        } else {
            Encoding::US_ASCII
        };
        let final_flags = RegexFlags { fixed, ..flags };
        let engine = match linear::build(source, &flags, !as_bytes) {
            Some(linear::Built::Literal(bytes)) => Engine::Literal(bytes),
            Some(linear::Built::Automaton { regex, ascii_only }) => Engine::Linear { regex: Automaton::new(regex), ascii_only },
            None => Engine::Backtrack,
        };
        let mut this = Regexp {
            source: source.to_vec(),
            flags: final_flags,
            enc,
            names: Vec::new(),
            groups: 1,
            engine,
            utf8: OnceLock::new(),
            bytes: OnceLock::new(),
        };
        match &this.engine {
            Engine::Literal(_) => {}
            Engine::Linear { regex, .. } => {
                this.groups = regex.groups();
                this.names = rewritten.names.into_iter().enumerate().map(|(i, n)| (n, vec![i + 1])).collect();
            }
            Engine::Backtrack => {
                let regex = this.onig(!as_bytes).map_err(fail)?;
                let mut names: Vec<(String, Vec<usize>)> = Vec::new();
                regex.foreach_name(|name, groups| {
                    names.push((name.to_owned(), groups.iter().map(|&g| g as usize).collect()));
                    true
                });
                let groups = regex.captures_len() + 1;
                names.sort_by_key(|n| n.1.first().copied());
                this.names = names;
                this.groups = groups;
            }
        }
        Ok(this)
    }

    pub fn source(&self) -> &[u8] {
        &self.source
    }

    pub fn flags(&self) -> RegexFlags {
        self.flags
    }

    pub fn encoding(&self) -> Encoding {
        self.enc
    }

    pub fn is_fixed_encoding(&self) -> bool {
        self.flags.fixed
    }

    /// Group names in order of appearance, with their numbers.
    pub fn names(&self) -> &[(String, Vec<usize>)] {
        &self.names
    }

    /// Groups, the whole match included.
    pub fn group_count(&self) -> usize {
        self.groups
    }

    /// Does matching take time linear in the text (`Regexp.linear_time?`)?
    pub fn is_linear_time(&self) -> bool {
        !matches!(self.engine, Engine::Backtrack)
    }

    fn onig(&self, unicode: bool) -> Result<&onig::Regex, String> {
        let cell = if unicode { &self.utf8 } else { &self.bytes };
        cell.get_or_init(|| {
            let rewritten = rewrite::rewrite(&self.source, &self.flags, unicode)?;
            let mut options = RegexOptions::REGEX_OPTION_NONE;
            options.set(RegexOptions::REGEX_OPTION_IGNORECASE, self.flags.ignore_case);
            options.set(RegexOptions::REGEX_OPTION_EXTEND, self.flags.extended);
            options.set(RegexOptions::REGEX_OPTION_MULTILINE, self.flags.multiline);
            onig::Regex::with_options_and_encoding(encoded(&rewritten.pattern, unicode), options, Syntax::ruby())
                .map_err(|e| e.description().to_owned())
        })
        .as_ref()
        .map_err(Clone::clone)
    }

    /// First match at or after `start` (at or before it, looking backward) in UTF-8 text. Engine failures count as no match; a VM that
    /// limits matching uses [`Regexp::search_text`].
    pub fn search(&self, text: &[u8], start: usize, backward: bool) -> Option<Captures> {
        self.search_text(Text::utf8(text), start, backward, 0).ok().flatten()
    }

    /// Match that begins exactly at `pos`.
    pub fn match_at(&self, text: &[u8], pos: usize) -> Option<Captures> {
        self.match_text_at(Text::utf8(text), pos, 0).ok().flatten()
    }

    /// As [`Regexp::search`]; `retries` bounds backtracking (0: unbounded).
    ///
    /// # Errors
    /// [`MatchError`] from the backtracking engine.
    pub fn search_text(&self, text: Text<'_>, start: usize, backward: bool, retries: u32) -> Result<Option<Captures>, MatchError> {
        let hay = text.bytes;
        if start > hay.len() {
            return Ok(None);
        }
        match &self.engine {
            Engine::Literal(needle) if is_byte_searchable(text.enc) => {
                let found = if backward {
                    memchr::memmem::rfind(&hay[..(start + needle.len()).min(hay.len())], needle)
                } else {
                    memchr::memmem::find(&hay[start..], needle).map(|i| i + start)
                };
                return Ok(found.map(|i| Captures { groups: vec![Some((i, i + needle.len()))] }));
            }
            Engine::Linear { regex, ascii_only } if !backward && linear_applies(&text, *ascii_only) => {
                return Ok(linear_search(regex, Input::new(hay).span(start..hay.len()), self.groups, text.lane));
            }
            Engine::Linear { regex, ascii_only } if linear_applies(&text, *ascii_only) => {
                let mut at = Some(start);
                while let Some(pos) = at {
                    let input = Input::new(hay).span(pos..hay.len()).anchored(Anchored::Yes);
                    if let Some(c) = linear_search(regex, input, self.groups, text.lane) {
                        return Ok(Some(c));
                    }
                    at = char_before(hay, text.enc, pos);
                }
                return Ok(None);
            }
            _ => {}
        }
        self.backtrack(text, start, if backward { Mode::Backward } else { Mode::Forward }, retries)
    }

    /// Byte range of the first match at or after `start`; `retries` bounds backtracking (0: unbounded). Cheaper than `search_text`.
    ///
    /// # Errors
    /// [`MatchError`] from the backtracking engine.
    pub fn find(&self, text: Text<'_>, start: usize, retries: u32) -> Result<Option<(usize, usize)>, MatchError> {
        let hay = text.bytes;
        match &self.engine {
            Engine::Literal(needle) if is_byte_searchable(text.enc) && start <= hay.len() => {
                Ok(memchr::memmem::find(&hay[start..], needle).map(|i| (i + start, i + start + needle.len())))
            }
            Engine::Linear { regex, ascii_only } if start <= hay.len() && linear_applies(&text, *ascii_only) => {
                Ok(regex.find(&Input::new(hay).span(start..hay.len()), text.lane))
            }
            _ => Ok(self.search_text(text, start, false, retries)?.map(|c| (c.start(), c.end()))),
        }
    }

    /// As [`Regexp::match_at`]; `retries` bounds backtracking (0: unbounded).
    ///
    /// # Errors
    /// [`MatchError`] from the backtracking engine.
    pub fn match_text_at(&self, text: Text<'_>, pos: usize, retries: u32) -> Result<Option<Captures>, MatchError> {
        let hay = text.bytes;
        if pos > hay.len() {
            return Ok(None);
        }
        match &self.engine {
            Engine::Literal(needle) if is_byte_searchable(text.enc) => {
                return Ok(hay[pos..].starts_with(needle).then(|| Captures { groups: vec![Some((pos, pos + needle.len()))] }));
            }
            Engine::Linear { regex, ascii_only } if linear_applies(&text, *ascii_only) => {
                return Ok(linear_search(regex, Input::new(hay).span(pos..hay.len()).anchored(Anchored::Yes), self.groups, text.lane));
            }
            _ => {}
        }
        self.backtrack(text, pos, Mode::Anchored, retries)
    }

    /// Is there a match at or after `start`? Needs no captures.
    pub fn is_match(&self, text: Text<'_>, start: usize, retries: u32) -> Result<bool, MatchError> {
        if let Engine::Linear { regex, ascii_only } = &self.engine
            && start <= text.bytes.len()
            && linear_applies(&text, *ascii_only)
        {
            return Ok(regex.is_match(Input::new(text.bytes).span(start..text.bytes.len()), text.lane));
        }
        Ok(self.search_text(text, start, false, retries)?.is_some())
    }

    fn backtrack(&self, text: Text<'_>, pos: usize, mode: Mode, retries: u32) -> Result<Option<Captures>, MatchError> {
        let unicode = text.enc == Encoding::UTF_8 || (text.enc == Encoding::US_ASCII && text.range() == CodeRange::SevenBit);
        let hay: Cow<'_, [u8]> =
            if unicode && text.range() == CodeRange::Broken { Cow::Owned(mended(text.bytes)) } else { Cow::Borrowed(text.bytes) };
        let regex = self.onig(unicode).map_err(MatchError::Engine)?;
        let mut param = MatchParam::default();
        param.set_retry_limit_in_match(retries);
        let mut region = Region::with_capacity(self.groups);
        let chars = encoded(&hay, unicode);
        let none = SearchOptions::SEARCH_OPTION_NONE;
        let found = match mode {
            Mode::Forward => regex.search_with_param(chars, pos, hay.len(), none, Some(&mut region), param).map(|r| r.is_some()),
            // `\G` is where the search begins; only Oniguruma's own search can say so.
            Mode::Backward if memchr::memmem::find(&self.source, b"\\G").is_some() => {
                regex.search_with_param(chars, pos, 0, none, Some(&mut region), param).map(|r| r.is_some())
            }
            // Its backward search lets no match reach beyond the character at `pos`; Ruby's does.
            Mode::Backward => {
                let mut at = Some(pos);
                loop {
                    let Some(pos) = at else { break Ok(false) };
                    let mut param = MatchParam::default();
                    param.set_retry_limit_in_match(retries);
                    match regex.match_with_param(encoded(&hay, unicode), pos, none, Some(&mut region), param) {
                        Ok(None) => at = char_before(text.bytes, text.enc, pos),
                        Ok(Some(_)) => break Ok(true),
                        Err(e) => break Err(e),
                    }
                }
            }
            Mode::Anchored => regex.match_with_param(chars, pos, none, Some(&mut region), param).map(|r| r.is_some()),
        };
        /// ONIGERR_RETRY_LIMIT_IN_MATCH_OVER
        const RETRY_LIMIT: i32 = -17;
        match found {
            Ok(true) => Ok(Some(Captures { groups: (0..self.groups).map(|i| region.pos(i)).collect() })),
            Ok(false) => Ok(None),
            Err(e) if e.code() == RETRY_LIMIT => Err(MatchError::RetryLimit),
            Err(e) => Err(MatchError::Engine(e.description().to_owned())),
        }
    }
}

enum Mode {
    Forward,
    Backward,
    Anchored,
}

/// Where the character before byte `at` begins.
fn char_before(s: &[u8], enc: Encoding, at: usize) -> Option<usize> {
    if at == 0 {
        return None;
    }
    if enc == Encoding::UTF_8 {
        return Some(utf8::prev_char(s, at));
    }
    if enc.is_single_byte() {
        return Some(at - 1);
    }
    let mut before = 0;
    for c in enc.chars(&s[..at]) {
        let next = before + c.len();
        if next >= at {
            break;
        }
        before = next;
    }
    Some(before)
}

/// Encodings in which a match of bytes is a match of characters.
fn is_byte_searchable(enc: Encoding) -> bool {
    enc == Encoding::UTF_8 || enc.is_single_byte()
}

fn linear_applies(text: &Text<'_>, ascii_only: bool) -> bool {
    match text.enc {
        Encoding::UTF_8 if !ascii_only => true,
        enc => enc.is_ascii_compatible() && text.range() == CodeRange::SevenBit,
    }
}

fn linear_search(regex: &Automaton, input: Input<'_>, groups: usize, lane: Lane) -> Option<Captures> {
    if groups == 1 {
        return regex.find(&input, lane).map(|range| Captures { groups: vec![Some(range)] });
    }
    // Slots on the stack: a Captures object would be made and dropped for each match.
    let mut few = [None; 2 * FEW_GROUPS];
    let mut many = Vec::new();
    let slots: &mut [Option<NonMaxUsize>] = if groups <= FEW_GROUPS {
        &mut few[..2 * groups]
    } else {
        many.resize(2 * groups, None);
        &mut many
    };
    if !regex.slots(&input, slots, lane) {
        return None;
    }
    let group = |pair: &[Option<NonMaxUsize>]| Some((pair[0]?.get(), pair[1]?.get()));
    Some(Captures { groups: slots.chunks_exact(2).map(group).collect() })
}

/// Groups that need no allocation while searching.
const FEW_GROUPS: usize = 8;

fn encoded(bytes: &[u8], unicode: bool) -> EncodedBytes<'_> {
    if unicode { EncodedBytes::from_parts(bytes, EncodedChars::encoding(&"")) } else { EncodedBytes::ascii(bytes) }
}

/// A copy with every broken byte replaced, so that offsets stay.
fn mended(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for c in utf8::chars(bytes) {
        if c.len() == 1 && c[0] >= 0x80 {
            out.push(0x1a);
        } else {
            out.extend_from_slice(c);
        }
    }
    out
}
