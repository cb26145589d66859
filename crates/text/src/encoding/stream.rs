//! A conversion in pieces: what `Encoding::Converter` holds.
//!
//! Invariants: input is taken one character at a time, and no further than there is room for output, so that what was not read stays with the caller;
//! bytes that were read and not converted (the start of a character, bytes behind a broken one) wait in `held`, output that found no room in `pending`.
//! Decorators (line ends, XML) see characters between decoder and encoder: they need no ASCII-compatible bytes.
//! Rejected: a chain of converters with buffers between them (it reads ahead; a program that counts bytes would see how far).

use super::emoji::{self, Exchange};
use super::multibyte::{jis_place, multi_decode, put_place};
use super::transcode::{ConvErr, ConvErrKind, Decoder, Encoder, Met, OnInvalid, Policy, Step, is_mapped, unknown_sign};
use super::transcode::{base_of, invalid, undefined_char, undefined_source};
use super::{Encoding, Kind, Multi};

/// What happens to characters on their way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decorators {
    pub xml_text: bool,
    pub ampersands: bool,
    pub xml_attr_content: bool,
    pub xml_attr_quote: bool,
    pub crlf: bool,
    pub cr: bool,
    pub lf: bool,
    pub universal: bool,
}

impl Decorators {
    /// Names in the order of their work, as `convpath` shows them.
    pub fn names(self) -> Vec<&'static str> {
        [
            (self.ampersands, "amp_escape"),
            (self.xml_text, "xml_text_escape"),
            (self.xml_attr_content, "xml_attr_content_escape"),
            (self.xml_attr_quote, "xml_attr_quote"),
            (self.crlf, "crlf_newline"),
            (self.cr, "cr_newline"),
            (self.lf, "lf_newline"),
            (self.universal, "universal_newline"),
        ]
        .into_iter()
        .filter_map(|(on, name)| on.then_some(name))
        .collect()
    }
    /// Switches the decorator of a name on; false when there is none.
    pub fn add(&mut self, name: &[u8]) -> bool {
        match name {
            b"amp_escape" => self.ampersands = true,
            b"xml_text_escape" => self.xml_text = true,
            b"xml_attr_content_escape" => self.xml_attr_content = true,
            b"xml_attr_quote" => self.xml_attr_quote = true,
            b"crlf_newline" => self.crlf = true,
            b"cr_newline" => self.cr = true,
            b"lf_newline" => self.lf = true,
            b"universal_newline" => self.universal = true,
            _ => return false,
        }
        true
    }
}

/// Why a call came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    Finished,
    SourceEmpty,
    DestinationFull,
    AfterOutput,
    Failed(Box<ConvErr>),
}

/// How one call works.
#[derive(Clone, Copy, Debug, Default)]
pub struct Call {
    /// At most this many bytes of output.
    pub room: Option<usize>,
    /// More input will follow.
    pub partial: bool,
    /// Come back after some output.
    pub after_output: bool,
}

#[derive(Clone)]
enum Source {
    /// No charset: bytes pass.
    Bytes,
    Plain(Decoder),
    /// ISO-2022-JP and its like: `set` says what follows.
    Jis {
        form: Multi,
        set: Set,
        exchange: Option<Exchange>,
    },
}

#[derive(Clone)]
enum Sink {
    Bytes,
    Plain(Encoder),
    /// `set` was written last.
    Jis {
        form: Multi,
        set: Set,
        base: Encoder,
        /// CP50220: a half-width character that a mark may follow.
        kana: Option<char>,
    },
}

impl Source {
    fn of(src: Encoding, dst: Encoding) -> Source {
        match form(src) {
            Some(form) => Source::Jis { form, set: Set::Ascii, exchange: Exchange::between(src, dst) },
            None => Source::Plain(Decoder::between(src, dst)),
        }
    }
}

/// Which encoding with a state it is.
fn form(e: Encoding) -> Option<Multi> {
    match e.kind() {
        Kind::Multi(m) if is_stateful(e) => Some(m),
        _ => None,
    }
}

/// What bytes mean behind an escape sequence.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Set {
    Ascii,
    Katakana,
    Kanji,
}

impl Set {
    fn escape(self) -> &'static [u8] {
        match self {
            Set::Ascii => b"\x1b(B",
            Set::Katakana => b"\x1b(I",
            Set::Kanji => b"\x1b$B",
        }
    }
}

#[derive(Clone)]
pub struct Stream {
    ends: Option<(Encoding, Encoding)>,
    source: Source,
    sink: Sink,
    decorators: Decorators,
    pub policy: Policy,
    held: Vec<u8>,
    /// Bytes at the start of `held` that the last failure put there.
    again: usize,
    pending: Vec<u8>,
    started: bool,
    opened: bool,
    /// A carriage return whose line feed may follow.
    return_seen: bool,
    finished: bool,
}

impl Stream {
    /// malloc'ed bytes that it may come to, beside what it is given: for accounting.
    pub fn weight(&self) -> usize {
        // Both ways of a conversion remember characters.
        if self.ends.is_some() { 2 * Met::WEIGHT } else { 0 }
    }
}

/// Is there a conversion between these?
pub fn exists(src: Encoding, dst: Encoding) -> bool {
    src != dst && is_mapped(src) && is_mapped(dst)
}

/// Steps of a conversion, as `convpath` shows them: by way of UTF-8, but for the Japanese charsets, which have ways of their own.
pub fn path(src: Encoding, dst: Encoding) -> Vec<(Encoding, Encoding)> {
    let named = |n: &str| Encoding::find(n.as_bytes()).unwrap_or(Encoding::UTF_8);
    let (euc, sjis) = (named("EUC-JP"), named("Shift_JIS"));
    // From an encoding to the one that it is read through, up to UTF-8 (or EUC-JP for what is near it).
    let up = |e: Encoding| {
        let mut way = vec![e];
        if e.kind() == Kind::Multi(Multi::Iso2022Jp) {
            way.push(named("stateless-ISO-2022-JP"));
        }
        let mut base = base_of(e);
        while let Some(b) = base {
            way.push(b);
            base = base_of(b);
        }
        way
    };
    let (mut way, mut back) = (up(src), up(dst));
    let near = |e: Option<&Encoding>| e.is_some_and(|e| *e == euc || *e == sjis);
    let exchanged = emoji::is_carrier(src) && emoji::is_carrier(dst);
    if !(near(way.last()) && near(back.last()) || exchanged) {
        for w in [&mut way, &mut back] {
            if w.last() != Some(&Encoding::UTF_8) {
                w.push(Encoding::UTF_8);
            }
        }
    }
    let meet = way.iter().enumerate().find_map(|(i, e)| back.iter().position(|b| b == e).map(|j| (i, j)));
    if let Some((i, j)) = meet {
        way.truncate(i + 1);
        back.truncate(j);
    }
    way.extend(back.into_iter().rev());
    way.windows(2).map(|w| (w[0], w[1])).collect()
}

/// Do bytes mean what stood before them says?
pub fn is_stateful(e: Encoding) -> bool {
    matches!(e.kind(), Kind::Multi(Multi::Iso2022Jp | Multi::Iso2022JpKddi | Multi::Cp50220 | Multi::Cp50221))
}

impl Stream {
    /// A converter between two encodings; None: decorators only.
    pub fn new(ends: Option<(Encoding, Encoding)>, decorators: Decorators, policy: Policy) -> Stream {
        let (source, sink) = match ends {
            None => (Source::Bytes, Sink::Bytes),
            Some((src, dst)) => (
                Source::of(src, dst),
                match form(dst) {
                    Some(form) => {
                        let base = Encoder::new(base_of(dst).unwrap_or(Encoding::UTF_8));
                        Sink::Jis { form, set: Set::Ascii, base, kana: None }
                    }
                    None => Sink::Plain(Encoder::new(dst)),
                },
            ),
        };
        Stream {
            ends,
            source,
            sink,
            decorators,
            policy,
            held: Vec::new(),
            again: 0,
            pending: Vec::new(),
            started: false,
            opened: false,
            return_seen: false,
            finished: false,
        }
    }

    pub fn ends(&self) -> Option<(Encoding, Encoding)> {
        self.ends
    }

    /// What comes next is of another encoding; what has been written goes on.
    pub fn read_from(&mut self, src: Encoding) {
        if let Some(ends) = self.ends.as_mut().filter(|e| e.0 != src) {
            ends.0 = src;
            self.source = Source::of(src, ends.1);
            self.started = false;
        }
    }

    pub fn decorators(&self) -> Decorators {
        self.decorators
    }

    /// Takes back the last `n` (all when None) of the bytes that the last failure left to be read again.
    pub fn putback(&mut self, n: Option<usize>) -> Vec<u8> {
        let n = n.unwrap_or(self.again).min(self.again);
        let bytes = self.held.drain(self.again - n..self.again).collect();
        self.again -= n;
        bytes
    }

    /// Bytes in the target encoding that are written next.
    pub fn insert(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.end_state();
            self.pending.extend_from_slice(bytes);
        }
    }

    /// A text that is written next, where the target has a state; false when it has none, or no place for a character.
    pub fn insert_text(&mut self, text: &str) -> bool {
        matches!(self.sink, Sink::Jis { .. }) && text.chars().all(|c| self.encode(c))
    }

    /// Bytes mean ASCII again.
    pub(super) fn end_state(&mut self) {
        if let Sink::Jis { kana, .. } = &mut self.sink
            && let Some(c) = kana.take()
        {
            self.full_width(c);
        }
        self.switch(Set::Ascii);
    }

    /// Converts what of `input` there is room for: appends to `out` and adds to `consumed` what was read.
    pub fn convert(&mut self, input: &[u8], consumed: &mut usize, out: &mut Vec<u8>, call: Call) -> Status {
        let first = out.len();
        loop {
            if !self.pending.is_empty() {
                let room = call.room.map_or(usize::MAX, |r| r - (out.len() - first));
                let n = room.min(self.pending.len());
                out.extend(self.pending.drain(..n));
                if !self.pending.is_empty() {
                    return Status::DestinationFull;
                }
            }
            if call.after_output && out.len() > first {
                return Status::AfterOutput;
            }
            if self.finished {
                return Status::Finished;
            }
            // Without a charset nothing is read that there is no room for.
            let plain = matches!(self.source, Source::Bytes) && self.decorators == Decorators::default();
            if plain && *consumed < input.len() && call.room.is_some_and(|room| out.len() - first >= room) {
                return Status::DestinationFull;
            }
            if self.held.is_empty() && call.room.is_none() && !call.after_output {
                self.plain_run(input, consumed, out);
            }
            let mut window = [0u8; 16];
            let n = self.held.len().min(16);
            window[..n].copy_from_slice(&self.held[..n]);
            let more = (16 - n).min(input.len() - *consumed);
            window[n..n + more].copy_from_slice(&input[*consumed..*consumed + more]);
            let window = &window[..n + more];
            if window.is_empty() {
                if call.partial {
                    return Status::SourceEmpty;
                }
                if let Err(e) = self.finish() {
                    return Status::Failed(e);
                }
                self.finished = true;
                continue;
            }
            let step = match self.step(window, call.partial) {
                Some(step) => step,
                None => {
                    self.hold(input, consumed, window.len());
                    return Status::SourceEmpty;
                }
            };
            if let Err(e) = self.take(step, window, input, consumed) {
                return Status::Failed(e);
            }
        }
    }

    /// Copies ASCII that nothing changes.
    fn plain_run(&mut self, input: &[u8], consumed: &mut usize, out: &mut Vec<u8>) {
        let plain = matches!((&self.source, &self.sink), (Source::Plain(_), Sink::Plain(_)) | (Source::Bytes, Sink::Bytes));
        let compatible = self.ends.is_none_or(|(s, d)| s.is_ascii_compatible() && d.is_ascii_compatible());
        if plain && compatible && self.decorators == Decorators::default() {
            let rest = &input[*consumed..];
            let n = rest.iter().position(|b| *b >= 0x80).unwrap_or(rest.len());
            out.extend_from_slice(&rest[..n]);
            *consumed += n;
        }
    }

    /// The next character of the window; None: its end has not come yet.
    fn step(&mut self, window: &[u8], partial: bool) -> Option<Step> {
        let step = match &mut self.source {
            Source::Bytes => return Some(Step::Char(window[0] as char, 1)),
            Source::Plain(decoder) => {
                if !self.started {
                    let mark = match self.ends {
                        Some((Encoding::UTF_16, _)) => 2,
                        Some((Encoding::UTF_32, _)) => 4,
                        _ => 0,
                    };
                    if window.len() < mark && partial {
                        return None;
                    }
                    self.started = true;
                    let n = decoder.skip_bom(window);
                    if n > 0 {
                        return Some(Step::Skip(n));
                    }
                }
                decoder.next(window)
            }
            Source::Jis { form, set, exchange } => match (jis_step(window, *form, set), exchange) {
                (Step::Char(c, n), Some(exchange)) => exchange.step(c, n),
                (step, _) => step,
            },
        };
        match step {
            Step::Invalid { incomplete: true, .. } if partial => None,
            step => Some(step),
        }
    }

    /// Moves bytes of the input to what is held, until `n` are.
    fn hold(&mut self, input: &[u8], consumed: &mut usize, n: usize) {
        let more = n.saturating_sub(self.held.len());
        self.held.extend_from_slice(&input[*consumed..*consumed + more]);
        *consumed += more;
        self.again = 0;
    }

    fn drop_bytes(&mut self, consumed: &mut usize, n: usize) {
        let of_held = n.min(self.held.len());
        self.held.drain(..of_held);
        self.again = self.again.saturating_sub(of_held);
        *consumed += n - of_held;
    }

    fn take(&mut self, step: Step, window: &[u8], input: &[u8], consumed: &mut usize) -> Result<(), Box<ConvErr>> {
        match step {
            Step::Skip(n) => self.drop_bytes(consumed, n),
            Step::Char(c, n) => {
                self.drop_bytes(consumed, n);
                self.decorated(c)?;
            }
            Step::Pair(a, b, n) => {
                self.drop_bytes(consumed, n);
                self.decorated(a)?;
                self.decorated(b)?;
            }
            Step::Undefined(n) => {
                self.drop_bytes(consumed, n);
                if self.put_place(&window[..n]) {
                    return Ok(());
                }
                if self.policy.undefined == super::transcode::OnUndefined::Raise {
                    let (src, dst) = self.named_ends();
                    return Err(Box::new(undefined_source(src, dst, &window[..n], n, Vec::new())));
                }
                self.replacement()?;
            }
            Step::Unknown(c, n) => {
                self.drop_bytes(consumed, n);
                if self.policy.undefined == super::transcode::OnUndefined::Raise {
                    let (src, dst) = self.named_ends();
                    return Err(Box::new(unknown_sign(src, dst, c, n, Vec::new())));
                }
                self.replacement()?;
            }
            Step::Invalid { bad, again, incomplete } => {
                self.drop_bytes(consumed, bad);
                if self.policy.invalid == OnInvalid::Raise {
                    let (src, dst) = self.named_ends();
                    self.hold(input, consumed, again);
                    self.again = again;
                    let e = invalid(src, dst, &window[..bad], &window[bad..bad + again], incomplete, bad, Vec::new());
                    return Err(Box::new(e));
                }
                self.replacement()?;
            }
        }
        Ok(())
    }

    fn named_ends(&self) -> (Encoding, Encoding) {
        self.ends.unwrap_or((Encoding::BINARY, Encoding::BINARY))
    }

    fn replacement(&mut self) -> Result<(), Box<ConvErr>> {
        match self.policy.replace.clone() {
            Some(r) => self.insert(&r),
            None => {
                let mark = if self.named_ends().1.is_unicode() { '\u{fffd}' } else { '?' };
                self.put(mark)?;
            }
        }
        Ok(())
    }

    /// One character through the decorators.
    fn decorated(&mut self, c: char) -> Result<(), Box<ConvErr>> {
        let d = self.decorators;
        if d == Decorators::default() {
            return self.put(c);
        }
        self.open_quote()?;
        if d.universal || d.lf {
            if std::mem::take(&mut self.return_seen) {
                self.put('\n')?;
                if c == '\n' {
                    return Ok(());
                }
            }
            if c == '\r' {
                self.return_seen = true;
                return Ok(());
            }
        }
        let text = match c {
            '&' if d.ampersands || d.xml_text || d.xml_attr_content => "&amp;",
            '<' if d.xml_text || d.xml_attr_content => "&lt;",
            '>' if d.xml_text || d.xml_attr_content => "&gt;",
            '"' if d.xml_attr_content => "&quot;",
            '\'' if d.xml_attr_content => "&apos;",
            '\n' if d.crlf => "\r\n",
            '\n' if d.cr => "\r",
            c => return self.put(c),
        };
        text.chars().try_for_each(|c| self.put(c))
    }

    fn open_quote(&mut self) -> Result<(), Box<ConvErr>> {
        if self.decorators.xml_attr_quote && !std::mem::replace(&mut self.opened, true) { self.put('"') } else { Ok(()) }
    }

    /// What stands behind the last character.
    fn finish(&mut self) -> Result<(), Box<ConvErr>> {
        if std::mem::take(&mut self.return_seen) {
            self.put('\n')?;
        }
        if self.decorators.xml_attr_quote {
            self.open_quote()?;
            self.put('"')?;
        }
        self.end_state();
        Ok(())
    }

    /// Encodes one character; what the charset lacks goes by the policy.
    fn put(&mut self, c: char) -> Result<(), Box<ConvErr>> {
        if self.encode(c) {
            return Ok(());
        }
        let (src, dst) = self.named_ends();
        match self.policy.undefined {
            super::transcode::OnUndefined::Replace => self.replacement(),
            super::transcode::OnUndefined::CharRef => {
                for c in format!("&#x{:X};", c as u32).chars() {
                    self.encode(c);
                }
                Ok(())
            }
            super::transcode::OnUndefined::Raise => {
                let mut encoder = Encoder::new(dst);
                match undefined_char(src, dst, c, 0, &Policy::default(), &mut encoder, &mut Vec::new()) {
                    Err(e) => Err(Box::new(e)),
                    Ok(()) => Ok(()),
                }
            }
        }
    }

    fn encode(&mut self, c: char) -> bool {
        match &mut self.sink {
            Sink::Bytes => self.pending.push(c as u32 as u8),
            Sink::Plain(encoder) => {
                if !std::mem::replace(&mut encoder.begun, true) {
                    encoder.start(&mut self.pending);
                }
                return encoder.put(c, &mut self.pending);
            }
            Sink::Jis { form: Multi::Cp50220, kana, .. } if kana.is_some() || half_width(c).is_some() => {
                let before = kana.take();
                if let Some(marked) = before.and_then(|before| with_mark(before, c)) {
                    return self.jis(marked);
                }
                if let Some(before) = before {
                    self.full_width(before);
                }
                match (half_width(c), &mut self.sink) {
                    (Some(_), Sink::Jis { kana, .. }) if with_mark(c, VOICED).is_some() => *kana = Some(c),
                    (Some(full), _) => return self.jis(full),
                    _ => return self.jis(c),
                }
            }
            Sink::Jis { .. } => return self.jis(c),
        }
        true
    }

    /// Writes a half-width character of katakana as a whole one.
    fn full_width(&mut self, c: char) {
        self.jis(half_width(c).unwrap_or(c));
    }

    /// Encodes a character of a set that the sink can switch to.
    fn jis(&mut self, c: char) -> bool {
        let Sink::Jis { form, base, .. } = &mut self.sink else { return false };
        let mut bytes = Vec::with_capacity(3);
        if !base.put(c, &mut bytes) {
            return false;
        }
        let set = match bytes[..] {
            [_] => Set::Ascii,
            [0x92, a, b] if *form == Multi::Iso2022JpKddi => {
                bytes = vec![a & 0x7f, b & 0x7f];
                Set::Kanji
            }
            [0x8e, k] if matches!(form, Multi::Cp50220 | Multi::Cp50221) => {
                bytes = vec![k & 0x7f];
                Set::Katakana
            }
            // JIS X 0208; JIS X 0212 has no place there.
            [a @ 0xa1..=0xff, b] => {
                bytes = vec![a & 0x7f, b & 0x7f];
                Set::Kanji
            }
            _ => return false,
        };
        self.switch(set);
        self.pending.extend(bytes);
        true
    }

    /// What is no character of the Japanese charsets has a place in each of them all the same.
    fn put_place(&mut self, c: &[u8]) -> bool {
        let (src, dst) = self.named_ends();
        let Some(place) = jis_place(src, c) else { return false };
        if let Sink::Jis { form: Multi::Iso2022Jp, .. } = self.sink {
            self.switch(Set::Kanji);
            self.pending.extend(place.map(|b| b & 0x7f));
            return true;
        }
        put_place(dst, place, &mut self.pending)
    }

    fn switch(&mut self, to: Set) {
        if let Sink::Jis { set, .. } = &mut self.sink
            && std::mem::replace(set, to) != to
        {
            self.pending.extend_from_slice(to.escape());
        }
    }

    /// Is the failure the end of the text inside a character?
    pub fn is_incomplete(e: &ConvErr) -> bool {
        matches!(e.kind, ConvErrKind::Invalid { incomplete: true, .. })
    }
}

/// Katakana and marks of a character's width from U+FF61 on, as half-width ones have them.
const FULL_WIDTH: &str =
    "。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン゛゜";
/// The half-width marks of voiced and half-voiced sounds.
const VOICED: char = '\u{ff9e}';
const HALF_VOICED: char = '\u{ff9f}';

/// The whole form of a half-width character of katakana.
fn half_width(c: char) -> Option<char> {
    let at = (c as u32).checked_sub(0xff61)?;
    FULL_WIDTH.chars().nth(at as usize)
}

/// The whole form of a half-width character with a mark behind it, where there is such a character.
fn with_mark(c: char, mark: char) -> Option<char> {
    let full = half_width(c)? as u32;
    let add = match (c, mark) {
        ('\u{ff76}'..='\u{ff84}' | '\u{ff8a}'..='\u{ff8e}', VOICED) => 1,
        ('\u{ff8a}'..='\u{ff8e}', HALF_VOICED) => 2,
        _ => return None,
    };
    char::from_u32(full + add)
}

/// The next character or escape sequence of ISO-2022-JP or, with half-width katakana and Microsoft's characters, of CP50220 and CP50221.
fn jis_step(s: &[u8], form: Multi, set: &mut Set) -> Step {
    const ESCAPES: [(&[u8], Set); 5] =
        [(b"\x1b(B", Set::Ascii), (b"\x1b(J", Set::Ascii), (b"\x1b$@", Set::Kanji), (b"\x1b$B", Set::Kanji), (b"\x1b(I", Set::Katakana)];
    let wide = matches!(form, Multi::Cp50220 | Multi::Cp50221);
    let escapes = &ESCAPES[..if wide { 5 } else { 4 }];
    let bad = |bad: usize| Step::Invalid { bad, again: usize::from(s.len() > bad), incomplete: false };
    let katakana = |b: u8| char::from_u32(0xff61 + (b & 0x7f) as u32 - 0x21).map_or(Step::Undefined(1), |c| Step::Char(c, 1));
    if s[0] == 0x1b {
        if let Some((escape, to)) = escapes.iter().find(|e| s.starts_with(e.0)) {
            *set = *to;
            return Step::Skip(escape.len());
        }
        let begun = (1..=s.len().min(3)).rev().find(|n| escapes.iter().any(|e| e.0.starts_with(&s[..*n]))).unwrap_or(1);
        return if begun == s.len() { Step::Invalid { bad: begun, again: 0, incomplete: true } } else { bad(begun) };
    }
    match (s[0], *set) {
        (0x0e, _) if wide => {
            *set = Set::Katakana;
            Step::Skip(1)
        }
        (0x0f, _) if wide => {
            *set = Set::Ascii;
            Step::Skip(1)
        }
        (b @ 0xa1..=0xdf, _) if wide => katakana(b),
        (0x0e | 0x0f | 0x80.., _) => Step::Invalid { bad: 1, again: 0, incomplete: false },
        (b @ 0x21..=0x5f, Set::Katakana) => katakana(b),
        (b, Set::Ascii | Set::Katakana) => Step::Char(b as char, 1),
        (0..=0x20 | 0x7f, Set::Kanji) => Step::Invalid { bad: 1, again: 0, incomplete: false },
        (a, Set::Kanji) => match s.get(1) {
            None => Step::Invalid { bad: 1, again: 0, incomplete: true },
            Some(b @ 0x21..=0x7e) => {
                let decoded = match form {
                    Multi::Iso2022JpKddi => multi_decode(Multi::StatelessKddi, &[0x92, a | 0x80, b | 0x80]),
                    _ => multi_decode(if wide { Multi::Cp51932 } else { Multi::EucJp }, &[a | 0x80, b | 0x80]),
                };
                match decoded {
                    Step::Char(c, 3) => Step::Char(c, 2),
                    Step::Char(c, n) => Step::Char(c, n),
                    _ => Step::Undefined(2),
                }
            }
            Some(_) => bad(1),
        },
    }
}
