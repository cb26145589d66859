//! Ruby's regular expressions over byte strings.
//!
//! Three engines stand behind one type: a substring search for plain literals, a linear-time automaton for the regular subset
//! whose semantics agree with Ruby's, and our own backtracking [`crate::matcher`] for everything else.
//! Invariants: a [`Regexp`] is immutable and `Send + Sync`; lazily compiled parts sit in `OnceLock`s (any thread may fill one, the
//! first wins). What a search needs while it runs is in its [`Search`], which may pause and go on later, over the same bytes at another address.
//! Rejected: the backtracking matcher for all (many times slower on common patterns); one program for all encodings (sets differ).

mod automaton;
mod escapes;
mod linear;
mod programs;
mod show;
mod stepwise;

#[cfg(test)]
mod tests;

pub use automaton::Lane;
pub use show::{UnionPart, escape, union, union_encoding};

use crate::encoding::{CodeRange, Encoding};
use crate::matcher::{self, Matcher, Options, Outcome, Poll};
pub use crate::matcher::{Mode, Warns};
use automaton::{Automaton, Lazy};
use memchr::memmem::Finder;
use programs::Programs;
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::{Anchored, Input};
use stepwise::{LONG, Long, Step};

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
    /// More steps than allowed.
    RetryLimit,
    /// The matcher's stack is full, or the pattern does not compile in the text's encoding: Ruby's message.
    Engine(String),
}

/// Byte ranges of group 0 (the match) and the others. Few need no memory of their own.
pub type Groups = smallvec::SmallVec<[Option<(usize, usize)>; 3]>;

/// Where the groups of a match are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captures {
    pub groups: Groups,
    /// Where the search found it. With `\K` the match itself starts later.
    pub found_at: usize,
}

impl Captures {
    /// Of a match without groups.
    pub fn of_range(range: (usize, usize)) -> Captures {
        Captures { groups: smallvec::smallvec![Some(range)], found_at: range.0 }
    }
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
    Literal(Box<Finder<'static>>),
    /// `ascii_only`: the automaton agrees with Ruby on 7-bit text only (case folding, word boundaries).
    Linear {
        regex: Box<Lazy>,
        ascii_only: bool,
    },
    Backtrack,
}

pub struct Regexp {
    source: Vec<u8>,
    /// The source with its escapes resolved.
    pattern: Vec<u8>,
    flags: RegexFlags,
    enc: Encoding,
    names: Vec<(String, Vec<usize>)>,
    groups: usize,
    engine: Engine,
    programs: Programs,
    /// Bytes that it takes, roughly, without programs and what searches add.
    own: usize,
    /// [`Regexp::check`] has something to tell that Ruby warns of without `-w`, too.
    warns: bool,
}

impl std::fmt::Debug for Regexp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.inspect())
    }
}

/// A pattern is shown with a warning if both have room in this many bytes, each byte of the pattern written with four: as in Ruby, and so that many warnings of a long pattern stay short.
const WARNING: usize = 256;

/// Bits of a literal's options that mean the same in `Regexp#options`.
const OPTION_BITS: u8 = 0x3f;

/// Flags of a literal with these options, and the encoding that the letters `e` and `s` behind it name.
pub fn literal_options(options: u8) -> (RegexFlags, Option<Encoding>) {
    let named = match options & !OPTION_BITS {
        0 => None,
        64 => Encoding::find(b"EUC-JP"),
        _ => Encoding::find(b"Windows-31J"),
    };
    (RegexFlags::from_bits(u32::from(options & OPTION_BITS)), named)
}

/// Flags and encoding of a literal without interpolation in a program of an encoding.
pub fn literal_traits(options: u8, encoding: u8) -> (RegexFlags, Encoding) {
    let (flags, named) = literal_options(options);
    let enc = match named {
        Some(e) => e,
        None if flags.no_encoding => Encoding::BINARY,
        None => Encoding::from_id(encoding).unwrap_or(Encoding::UTF_8),
    };
    (flags, enc)
}

/// What is known of a pattern before anything is made of it.
struct Read {
    pattern: Vec<u8>,
    enc: Encoding,
    fixed: bool,
    /// The encoding in which it is read: without one of its own a pattern has the text's, which is UTF-8 most of the time.
    home: Encoding,
    outline: matcher::Outline,
}

fn read(
    source: &[u8],
    flags: &RegexFlags,
    enc: Encoding,
    options: matcher::Options,
    poll: &mut Poll<'_>,
    warns: Warns,
) -> Result<Read, String> {
    let mut enc = enc;
    if enc.is_dummy() {
        return Err("can't make regexp with dummy encoding".into());
    }
    if flags.no_encoding {
        if enc != Encoding::BINARY && !source.is_ascii() {
            return Err("/.../n has a non escaped non ASCII character in non ASCII-8BIT script".into());
        }
        enc = Encoding::BINARY;
    }
    let unescaped = escapes::unescape(source, enc, flags.extended, poll)?;
    let mut fixed = flags.fixed;
    match unescaped.fixed {
        Some(f) => {
            if f != enc && flags.fixed || f != Encoding::BINARY && flags.no_encoding {
                return Err("incompatible character encoding".into());
            }
            enc = f;
            fixed = true;
        }
        None if !enc.is_ascii_compatible() => fixed = true,
        None if !flags.fixed => enc = Encoding::US_ASCII,
        None => {}
    }
    let home = if fixed { enc } else { Encoding::UTF_8 };
    let outline = matcher::outline(&unescaped.pattern, options, home, poll, warns)?;
    Ok(Read { pattern: unescaped.pattern, enc, fixed, home, outline })
}

fn failure(source: &[u8], flags: &RegexFlags, message: String) -> RegexpError {
    if message == matcher::STOPPED {
        return RegexpError(message);
    }
    let mut letters = String::new();
    show::letters(flags, true, &mut letters);
    RegexpError(format!("{message}: /{}/{letters}", show::body(source)))
}

impl Regexp {
    /// Compiles `source`, a String in encoding `enc`.
    ///
    /// # Errors
    /// RegexpError in Ruby's wording.
    pub fn new(source: &[u8], flags: RegexFlags, enc: Encoding) -> Result<Regexp, RegexpError> {
        Regexp::compile(source, flags, enc, &mut || true)
    }

    /// The error that [`Regexp::new`] would have, unless it is that the pattern is too large; for a tenth of what that takes: letters whose case is ignored need not be found. Without an error:
    /// what looks like a mistake and Ruby warns of.
    ///
    /// # Errors
    /// RegexpError in Ruby's wording.
    pub fn check(
        source: &[u8],
        flags: RegexFlags,
        enc: Encoding,
        warns: Warns,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<String>, RegexpError> {
        let options = matcher::Options { ignore_case: false, ..options(&flags) };
        let read = read(source, &flags, enc, options, &mut Poll::new(go_on), warns).map_err(|m| failure(source, &flags, m))?;
        let shown = |w: &String| w.len() + 4 * read.pattern.len() + 4 < WARNING;
        let with = |w| if shown(&w) { format!("{w}: /{}/", show::in_warning(&read.pattern)) } else { w };
        Ok(read.outline.warnings.into_iter().map(with).collect())
    }

    /// The error of a literal that is refused for a reason which its reader knows.
    pub fn refused(source: &[u8], flags: RegexFlags, why: &str) -> RegexpError {
        failure(source, &flags, why.to_string())
    }

    /// Reads a piece of a pattern for itself, since no character goes on behind its end: the encoding that its characters and escapes ask for, if they do.
    ///
    /// # Errors
    /// What is wrong with an escape, in Ruby's wording.
    pub fn piece(source: &[u8], flags: RegexFlags, enc: Encoding) -> Result<Option<Encoding>, String> {
        Ok(escapes::unescape(source, enc, flags.extended, &mut Poll::new(&mut || true))?.fixed)
    }

    /// As [`Regexp::piece`], with the error of a literal that has such a piece.
    ///
    /// # Errors
    /// RegexpError in Ruby's wording.
    pub fn check_piece(source: &[u8], flags: RegexFlags, enc: Encoding) -> Result<(), RegexpError> {
        Regexp::piece(source, flags, enc).map(|_| ()).map_err(|message| failure(source, &flags, message))
    }

    /// As [`Regexp::new`]; `go_on` is asked now and then, and when it says no, the error is of no account.
    ///
    /// # Errors
    /// RegexpError in Ruby's wording.
    pub fn compile(source: &[u8], flags: RegexFlags, enc: Encoding, go_on: &mut dyn FnMut() -> bool) -> Result<Regexp, RegexpError> {
        let mut poll = Poll::new(go_on);
        let fail = |message| failure(source, &flags, message);
        let Read { pattern, enc, fixed, home, outline } =
            read(source, &flags, enc, options(&flags), &mut poll, Warns::Usual).map_err(fail)?;
        let unicode = matcher::utf8_like(home);
        let engine = match linear::build(source, &flags, unicode) {
            Some(linear::Built::Literal(bytes)) => Engine::Literal(Box::new(Finder::new(&bytes).into_owned())),
            Some(linear::Built::Automaton { hir, ascii_only }) => Engine::Linear { regex: Box::new(Lazy::new(hir)), ascii_only },
            None => Engine::Backtrack,
        };
        let names = outline
            .names
            .into_iter()
            .map(|(name, groups)| (String::from_utf8_lossy(&name).into_owned(), groups.into_iter().map(|g| g as usize).collect()));
        let lazy = if let Engine::Linear { regex, .. } = &engine { regex.weight() } else { 0 };
        let this = Regexp {
            own: std::mem::size_of::<Regexp>() + source.len() + pattern.len() + lazy,
            source: source.to_vec(),
            pattern,
            flags: RegexFlags { fixed, ..flags },
            enc,
            names: names.collect(),
            groups: outline.groups as usize,
            engine,
            programs: Programs::new(home),
            warns: !outline.warnings.is_empty(),
        };
        if matches!(this.engine, Engine::Backtrack) {
            let compiled = this.programs.get(home, |enc| matcher::compile(&this.pattern, options(&this.flags), enc, &mut poll));
            compiled.map_err(fail)?;
        }
        Ok(this)
    }

    /// Whether something looks like a mistake of which Ruby warns whenever a Regexp is made of it.
    pub fn warns(&self) -> bool {
        self.warns
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

    /// Bytes that it takes now, roughly: programs, automata and the scratch memory that searches left.
    #[inline]
    pub fn memory(&self) -> usize {
        let grown = if let Engine::Linear { regex, .. } = &self.engine { regex.made().map_or(0, Automaton::grown) } else { 0 };
        self.own + self.programs.weight() + grown
    }

    /// Gives back what only makes the next search faster.
    pub fn forget_scratch(&self) {
        if let Engine::Linear { regex, .. } = &self.engine
            && let Some(made) = regex.made()
        {
            made.forget();
        }
    }

    /// Does matching take time linear in the text (`Regexp.linear_time?`)?
    pub fn is_linear_time(&self) -> bool {
        matches!(self.engine, Engine::Literal(_)) || self.program(self.programs.home()).is_ok_and(|p| p.linear)
    }

    /// The program for text in an encoding.
    #[inline]
    fn program(&self, enc: Encoding) -> Result<&matcher::Program, String> {
        self.programs.get(enc, |enc| matcher::compile(&self.pattern, options(&self.flags), enc, &mut Poll::new(&mut || true)))
    }

    #[inline]
    fn program_for(&self, text: &Text<'_>) -> Result<&matcher::Program, MatchError> {
        self.program(self.encoding_for(text.enc, || text.range())).map_err(MatchError::Engine)
    }

    /// The encoding whose program searches a text.
    #[inline]
    fn encoding_for(&self, enc: Encoding, range: impl FnOnce() -> CodeRange) -> Encoding {
        let home = self.programs.home();
        // ASCII is the same in all of them.
        let own = self.flags.fixed || enc == home || enc.is_ascii_compatible() && range() == CodeRange::SevenBit;
        if own { home } else { enc }
    }

    /// Compiles what a search of such a text needs, if that is much work and was not done yet. False: `go_on` did.
    pub fn prepare(&self, enc: Encoding, range: CodeRange, go_on: &mut dyn FnMut() -> bool) -> bool {
        if self.pattern.len() < LARGE || matches!(self.engine, Engine::Literal(_)) {
            return true;
        }
        let enc = self.encoding_for(enc, || range);
        let made = self.programs.get(enc, |enc| matcher::compile(&self.pattern, options(&self.flags), enc, &mut Poll::new(go_on)));
        // What else is wrong with it, the search says.
        !made.is_err_and(|e| e == matcher::STOPPED)
    }

    /// First match at or after `start` (at or before it, looking backward) in UTF-8 text. Engine failures count as no match; a VM that
    /// limits matching uses [`Search`].
    pub fn search(&self, text: &[u8], start: usize, backward: bool) -> Option<Captures> {
        self.search_text(Text::utf8(text), start, backward, 0).ok().flatten()
    }

    /// Match that begins exactly at `pos`.
    pub fn match_at(&self, text: &[u8], pos: usize) -> Option<Captures> {
        self.run_to_end(Text::utf8(text), Search::new(pos, Mode::Anchored), 0).ok().flatten()
    }

    /// As [`Regexp::search`]; `steps` bounds the work (0: unbounded).
    ///
    /// # Errors
    /// [`MatchError`] from the backtracking engine.
    pub fn search_text(&self, text: Text<'_>, start: usize, backward: bool, steps: usize) -> Result<Option<Captures>, MatchError> {
        self.run_to_end(text, Search::new(start, if backward { Mode::Backward } else { Mode::Forward }), steps)
    }

    /// As [`Regexp::match_at`]; `steps` bounds the work (0: unbounded).
    ///
    /// # Errors
    /// [`MatchError`] from the backtracking engine.
    pub fn match_text_at(&self, text: Text<'_>, pos: usize, steps: usize) -> Result<Option<Captures>, MatchError> {
        self.run_to_end(text, Search::new(pos, Mode::Anchored), steps)
    }

    fn run_to_end(&self, text: Text<'_>, mut search: Search, steps: usize) -> Result<Option<Captures>, MatchError> {
        loop {
            match search.run::<Captures>(self, text, if steps == 0 { usize::MAX >> 1 } else { steps })? {
                Progress::Done(found) => return Ok(found),
                Progress::Paused if steps == 0 => {}
                Progress::Paused => return Err(MatchError::RetryLimit),
            }
        }
    }
}

fn options(flags: &RegexFlags) -> Options {
    Options::new(flags.ignore_case, flags.multiline, flags.extended)
}

/// What a search is asked for: all groups, the byte range, or whether there is a match.
pub trait Answer: Sized {
    /// The range alone decides.
    const RANGE: bool;
    /// Not even that matters.
    const ANY: bool;
    fn of_range(range: (usize, usize)) -> Self;
    fn of_matcher(m: &Matcher, p: &matcher::Program) -> Self;
    fn linear(regex: &Automatic<'_>, input: Input<'_>, lane: Lane) -> Option<Self>;
}

/// An automaton and how many groups it has.
pub struct Automatic<'a> {
    regex: &'a Automaton,
    groups: usize,
}

impl Answer for Captures {
    const RANGE: bool = false;
    const ANY: bool = false;
    fn of_range(range: (usize, usize)) -> Captures {
        Captures::of_range(range)
    }
    fn of_matcher(m: &Matcher, p: &matcher::Program) -> Captures {
        Captures { groups: m.groups(p), found_at: m.found_at() }
    }
    fn linear(a: &Automatic<'_>, input: Input<'_>, lane: Lane) -> Option<Captures> {
        linear_search(a.regex, input, a.groups, lane)
    }
}

impl Answer for (usize, usize) {
    const RANGE: bool = true;
    const ANY: bool = false;
    fn of_range(range: (usize, usize)) -> (usize, usize) {
        range
    }
    fn of_matcher(m: &Matcher, p: &matcher::Program) -> (usize, usize) {
        m.span(p)
    }
    fn linear(a: &Automatic<'_>, input: Input<'_>, lane: Lane) -> Option<(usize, usize)> {
        a.regex.find(&input, lane)
    }
}

/// Where a match is, and where it was found, before what `\K` leaves out of it.
#[derive(Clone, Copy)]
pub struct Span {
    pub range: (usize, usize),
    pub found_at: usize,
}

impl Answer for Span {
    const RANGE: bool = true;
    const ANY: bool = false;
    fn of_range(range: (usize, usize)) -> Span {
        Span { range, found_at: range.0 }
    }
    fn of_matcher(m: &Matcher, p: &matcher::Program) -> Span {
        Span { range: m.span(p), found_at: m.found_at() }
    }
    fn linear(a: &Automatic<'_>, input: Input<'_>, lane: Lane) -> Option<Span> {
        a.regex.find(&input, lane).map(Span::of_range)
    }
}

/// As [`Span::found_at`] alone.
pub struct FoundAt(pub usize);

impl Answer for FoundAt {
    const RANGE: bool = true;
    const ANY: bool = false;
    fn of_range(range: (usize, usize)) -> FoundAt {
        FoundAt(range.0)
    }
    fn of_matcher(m: &Matcher, _: &matcher::Program) -> FoundAt {
        FoundAt(m.found_at())
    }
    fn linear(a: &Automatic<'_>, input: Input<'_>, lane: Lane) -> Option<FoundAt> {
        a.regex.find(&input, lane).map(FoundAt::of_range)
    }
}

impl Answer for () {
    const RANGE: bool = true;
    const ANY: bool = true;
    fn of_range(_: (usize, usize)) {}
    fn of_matcher(_: &Matcher, _: &matcher::Program) {}
    fn linear(a: &Automatic<'_>, input: Input<'_>, lane: Lane) -> Option<()> {
        a.regex.is_match(input, lane).then_some(())
    }
}

/// How far a search came.
#[derive(Debug)]
pub enum Progress<T> {
    Done(Option<T>),
    Paused,
}

/// A search in progress. Each run must be given the same bytes.
pub struct Search {
    start: usize,
    mode: Mode,
    matcher: Option<Box<Matcher>>,
    long: Option<Box<Long>>,
    /// How far a literal was looked for.
    skipped: Option<usize>,
}

/// Bytes in which a literal is looked for before the search pauses.
const PIECE: usize = 4 << 20;
/// Bytes of a pattern from which on compiling it is work that one may want to leave.
pub const LARGE: usize = 4096;

impl Search {
    /// A search from byte `start`.
    pub fn new(start: usize, mode: Mode) -> Search {
        Search { start, mode, matcher: None, long: None, skipped: None }
    }

    /// Searches until it is decided or about `steps` steps were taken.
    ///
    /// # Errors
    /// [`MatchError`] from the backtracking engine.
    #[inline]
    pub fn run<T: Answer>(&mut self, re: &Regexp, text: Text<'_>, steps: usize) -> Result<Progress<T>, MatchError> {
        if self.matcher.is_none() {
            if let Some(found) = self.here(re, &text) {
                return Ok(Progress::Done(found));
            }
            if text.bytes.len() > LONG + self.start {
                if let Some(progress) = self.far(re, &text) {
                    return Ok(progress);
                }
            } else if let Some(found) = self.at_once(re, &text) {
                return Ok(Progress::Done(found));
            }
        }
        self.backtrack(re, text, steps)
    }

    /// Memory that the search holds, in bytes.
    pub fn memory(&self) -> usize {
        self.matcher.as_ref().map_or(0, |m| m.memory()) + self.long.as_ref().map_or(0, |l| l.scratch.memory())
    }

    /// As [`Search::at_once`], over long texts: a piece at a time.
    #[cold]
    #[inline(never)]
    fn far<T: Answer>(&mut self, re: &Regexp, text: &Text<'_>) -> Option<Progress<T>> {
        match &re.engine {
            Engine::Literal(literal) if is_byte_searchable(text.enc) && self.mode == Mode::Forward => {
                let needle = literal.needle();
                let from = self.skipped.unwrap_or(self.start);
                let stop = from.saturating_add(PIECE);
                let end = stop.saturating_add(needle.len()).min(text.bytes.len());
                let found = literal.find(&text.bytes[from..end]).map(|i| i + from);
                if found.is_none() && end < text.bytes.len() {
                    self.skipped = Some(stop);
                    return Some(Progress::Paused);
                }
                Some(Progress::Done(found.map(|i| T::of_range((i, i + needle.len())))))
            }
            Engine::Linear { regex, ascii_only } if self.mode != Mode::Backward && linear_applies(text, *ascii_only) => {
                // None: the matcher does it.
                let regex = regex.automaton()?;
                let stepwise = regex.stepwise()?;
                let anchored = self.mode == Mode::Anchored;
                let (start, mode) = (self.start, self.mode);
                let long =
                    self.long.get_or_insert_with(|| Box::new(Long::new(regex.take_scratch(stepwise, text.lane), start, anchored, T::ANY)));
                let step = long.run(stepwise, text.bytes);
                if matches!(step, Step::Paused) {
                    return Some(Progress::Paused);
                }
                if let Some(long) = self.long.take() {
                    regex.give_back(long.scratch, text.lane);
                }
                let Step::Done(found) = step else {
                    self.matcher = Some(Box::new(Matcher::new(start, mode)));
                    return None;
                };
                let Some((from, to)) = found else { return Some(Progress::Done(None)) };
                if T::RANGE || re.groups == 1 {
                    return Some(Progress::Done(Some(T::of_range((from, to)))));
                }
                if to - from > LONG {
                    // The matcher finds the same groups, and pauses.
                    self.matcher = Some(Box::new(Matcher::new(from, Mode::Anchored)));
                    return None;
                }
                let automatic = Automatic { regex, groups: re.groups };
                let input = Input::new(text.bytes).span(from..to).anchored(Anchored::Yes);
                Some(Progress::Done(T::linear(&automatic, input, text.lane)))
            }
            _ => self.at_once(re, text).map(Progress::Done),
        }
    }

    /// The matcher's answer for patterns of the automaton that are looked for at one place, if few steps lead to it: the automaton takes longer to begin.
    #[inline]
    fn here<T: Answer>(&self, re: &Regexp, text: &Text<'_>) -> Option<Option<T>> {
        let Engine::Linear { regex, ascii_only } = &re.engine else { return None };
        let begins = self.mode == Mode::Forward && regex.begins_text;
        if !begins && self.mode != Mode::Anchored || !regex.matcher_is_cheap() || !linear_applies(text, *ascii_only) {
            return None;
        }
        if self.start > text.bytes.len() || begins && self.start > 0 {
            return Some(None);
        }
        self.groups(re, regex, text)
    }

    /// The answer of the engines that need no steps; None when another must do it.
    fn at_once<T: Answer>(&self, re: &Regexp, text: &Text<'_>) -> Option<Option<T>> {
        let (hay, start) = (text.bytes, self.start);
        if start > hay.len() {
            return Some(None);
        }
        match &re.engine {
            Engine::Literal(literal) if is_byte_searchable(text.enc) => {
                let needle = literal.needle();
                let found = match self.mode {
                    Mode::Forward => literal.find(&hay[start..]).map(|i| i + start),
                    Mode::Backward => memchr::memmem::rfind(&hay[..(start + needle.len()).min(hay.len())], needle),
                    Mode::Anchored => hay[start..].starts_with(needle).then_some(start),
                };
                Some(found.map(|i| T::of_range((i, i + needle.len()))))
            }
            // Would begin anew at each place, over the same text.
            Engine::Linear { .. } if self.mode == Mode::Backward => None,
            Engine::Linear { regex, ascii_only } if linear_applies(text, *ascii_only) => {
                if hay.len() - start <= automaton::SHORT
                    && self.mode == Mode::Forward
                    && !regex.begins_text
                    && regex.matcher_is_cheap()
                    && (!T::RANGE && re.groups > 1 || re.program_for(text).is_ok_and(|p| p.quick && p.branches.is_empty()))
                    && let Some(found) = self.groups(re, regex, text)
                {
                    return Some(found);
                }
                if regex.waits(hay.len() - start)
                    && let Some(tried) = Tried::new(re, text, (start, self.mode), automaton::TRIED)
                {
                    return Some(tried.found);
                }
                let regex = regex.automaton()?;
                let automatic = Automatic { regex, groups: re.groups };
                let anchored = if self.mode == Mode::Anchored { Anchored::Yes } else { Anchored::No };
                Some(T::linear(&automatic, Input::new(hay).span(start..hay.len()).anchored(anchored), text.lane))
            }
            _ => None,
        }
    }

    /// The matcher's answer, if a few steps lead to it.
    fn groups<T: Answer>(&self, re: &Regexp, regex: &Lazy, text: &Text<'_>) -> Option<Option<T>> {
        let tried = Tried::new(re, text, (self.start, self.mode), automaton::FOR_GROUPS);
        let (steps, end) = tried.as_ref().map_or((usize::MAX, 0), |t| (t.steps, t.end));
        regex.matcher_took(steps, end.saturating_sub(self.start));
        tried.map(|t| t.found)
    }

    fn backtrack<T: Answer>(&mut self, re: &Regexp, text: Text<'_>, steps: usize) -> Result<Progress<T>, MatchError> {
        let program = re.program_for(&text)?;
        if self.matcher.is_none() && program.is_refused(self.mode, text.bytes, self.start) {
            return Ok(Progress::Done(None));
        }
        let mut first;
        let (matcher, fresh) = match &mut self.matcher {
            Some(m) => (&mut **m, false),
            None => {
                first = Matcher::new(self.start, self.mode);
                (&mut first, true)
            }
        };
        match matcher.run(program, text.bytes, steps) {
            Outcome::Match => Ok(Progress::Done(Some(T::of_matcher(matcher, program)))),
            Outcome::No => Ok(Progress::Done(None)),
            Outcome::Overflow => Err(MatchError::Engine(format!("Stack overflow in regexp matcher: {}", re.inspect()))),
            Outcome::Paused => {
                if fresh {
                    let going = std::mem::replace(matcher, Matcher::new(0, Mode::Anchored));
                    self.matcher = Some(Box::new(going));
                }
                Ok(Progress::Paused)
            }
        }
    }
}

/// What the matcher came to.
struct Tried<T> {
    found: Option<T>,
    steps: usize,
    /// How far it went: the end of the match, or of the text.
    end: usize,
}

impl<T: Answer> Tried<T> {
    /// None: it takes more steps than `most`.
    #[inline(never)]
    fn new(re: &Regexp, text: &Text<'_>, (from, mode): (usize, Mode), most: usize) -> Option<Tried<T>> {
        let program = re.program_for(text).ok()?;
        if program.is_refused(mode, text.bytes, from) {
            return Some(Tried { found: None, steps: 0, end: from });
        }
        let mut matcher = Matcher::new(from, mode);
        let (found, end) = match matcher.run(program, text.bytes, most) {
            Outcome::Match => (Some(T::of_matcher(&matcher, program)), matcher.span(program).1),
            Outcome::No => (None, text.bytes.len()),
            Outcome::Overflow | Outcome::Paused => return None,
        };
        Some(Tried { found, steps: most - matcher.steps_left(), end })
    }
}

/// Encodings in which a match of bytes is a match of characters.
fn is_byte_searchable(enc: Encoding) -> bool {
    enc == Encoding::UTF_8 || enc.is_single_byte()
}

#[inline]
fn linear_applies(text: &Text<'_>, ascii_only: bool) -> bool {
    match text.enc {
        Encoding::UTF_8 if !ascii_only => true,
        enc => enc.is_ascii_compatible() && text.range() == CodeRange::SevenBit,
    }
}

fn linear_search(regex: &Automaton, input: Input<'_>, groups: usize, lane: Lane) -> Option<Captures> {
    if groups == 1 {
        return regex.find(&input, lane).map(Captures::of_range);
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
    let groups: Groups = slots.chunks_exact(2).map(group).collect();
    let found_at = groups[0].map_or(0, |g| g.0);
    Some(Captures { groups, found_at })
}

/// Groups that need no allocation while searching.
const FEW_GROUPS: usize = 8;
