//! A conversion in pieces: what `Encoding::Converter` holds.
//!
//! Invariants: input is taken one character at a time, and no further than there is room for output, so that what was not read stays with the caller;
//! bytes that were read and not converted (the start of a character, bytes behind a broken one) wait in `held`, output that found no room in `pending`.
//! Decorators (line ends, XML) see characters between decoder and encoder: they need no ASCII-compatible bytes.
//! Rejected: a chain of converters with buffers between them (it reads ahead; a program that counts bytes would see how far).

use super::transcode::{ConvErr, ConvErrKind, Decoder, Encoder, OnInvalid, Policy, Step, is_mapped};
use super::transcode::{invalid, undefined_char, undefined_source};
use super::{Encoding, Kind, Multi};

/// What happens to characters on their way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decorators {
    pub xml_text: bool,
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
    /// Two-byte characters follow.
    Iso2022 {
        double: bool,
    },
}

#[derive(Clone)]
enum Sink {
    Bytes,
    Plain(Encoder),
    /// Two-byte characters were written last.
    Iso2022 {
        euc: Encoder,
        double: bool,
    },
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
        if is_iso_2022_jp(e) {
            way.extend([named("stateless-ISO-2022-JP"), euc]);
        }
        way
    };
    let (mut way, mut back) = (up(src), up(dst));
    let near = |e: Option<&Encoding>| e.is_some_and(|e| *e == euc || *e == sjis);
    if !(near(way.last()) && near(back.last())) {
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

fn is_iso_2022_jp(e: Encoding) -> bool {
    e.kind() == Kind::Multi(Multi::Iso2022Jp)
}

impl Stream {
    /// A converter between two encodings; None: decorators only.
    pub fn new(ends: Option<(Encoding, Encoding)>, decorators: Decorators, policy: Policy) -> Stream {
        let euc = || Encoder::new(Encoding::find(b"EUC-JP").unwrap_or(Encoding::UTF_8));
        let (source, sink) = match ends {
            None => (Source::Bytes, Sink::Bytes),
            Some((src, dst)) => (
                if is_iso_2022_jp(src) { Source::Iso2022 { double: false } } else { Source::Plain(Decoder::new(src)) },
                if is_iso_2022_jp(dst) { Sink::Iso2022 { euc: euc(), double: false } } else { Sink::Plain(Encoder::new(dst)) },
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
        if let Sink::Iso2022 { double, .. } = &mut self.sink
            && std::mem::take(double)
        {
            self.pending.extend_from_slice(b"\x1b(B");
        }
        self.pending.extend_from_slice(bytes);
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
            Source::Iso2022 { double } => iso_2022_step(window, double),
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
                if self.policy.undefined == super::transcode::OnUndefined::Raise {
                    let (src, dst) = self.named_ends();
                    return Err(Box::new(undefined_source(src, dst, &window[..n], n, Vec::new())));
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
            '&' if d.xml_text || d.xml_attr_content => "&amp;",
            '<' if d.xml_text || d.xml_attr_content => "&lt;",
            '>' if d.xml_text || d.xml_attr_content => "&gt;",
            '"' if d.xml_attr_content => "&quot;",
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
        self.insert(b"");
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
            Sink::Iso2022 { euc, double } => {
                let mut bytes = Vec::with_capacity(3);
                if !euc.put(c, &mut bytes) {
                    return false;
                }
                match bytes[..] {
                    [b] => {
                        if std::mem::take(double) {
                            self.pending.extend_from_slice(b"\x1b(B");
                        }
                        self.pending.push(b);
                    }
                    // JIS X 0208; half-width katakana and JIS X 0212 have no place there.
                    [a @ 0xa1..=0xff, b] => {
                        if !std::mem::replace(double, true) {
                            self.pending.extend_from_slice(b"\x1b$B");
                        }
                        self.pending.extend_from_slice(&[a & 0x7f, b & 0x7f]);
                    }
                    _ => return false,
                }
            }
        }
        true
    }

    /// Is the failure the end of the text inside a character?
    pub fn is_incomplete(e: &ConvErr) -> bool {
        matches!(e.kind, ConvErrKind::Invalid { incomplete: true, .. })
    }
}

/// The next character or escape sequence of ISO-2022-JP.
fn iso_2022_step(s: &[u8], double: &mut bool) -> Step {
    const ESCAPES: [(&[u8], bool); 4] = [(b"\x1b(B", false), (b"\x1b(J", false), (b"\x1b$@", true), (b"\x1b$B", true)];
    for (escape, mode) in ESCAPES {
        if s.starts_with(escape) {
            *double = mode;
            return Step::Skip(escape.len());
        }
    }
    if ESCAPES.iter().any(|(escape, _)| escape.starts_with(s)) {
        return Step::Invalid { bad: s.len(), again: 0, incomplete: true };
    }
    match (s[0], s.get(1)) {
        (0x1b | 0x80.., _) => Step::Invalid { bad: 1, again: 0, incomplete: false },
        (b, _) if !*double || b <= 0x20 => Step::Char(b as char, 1),
        (_, None) => Step::Invalid { bad: 1, again: 0, incomplete: true },
        (a, Some(b @ 0x21..=0x7e)) => match super::transcode::multi_decode(Multi::EucJp, &[a | 0x80, b | 0x80]) {
            Step::Char(c, n) => Step::Char(c, n),
            _ => Step::Undefined(2),
        },
        _ => Step::Invalid { bad: 1, again: 1, incomplete: false },
    }
}
