//! `String#encode`: bytes of one encoding to bytes of another, by way of Unicode.
//!
//! UTFs, ISO-8859-x and other single-byte charsets use own tables; for CJK ones see `multibyte` and `charset`. Signs of Japanese
//! carriers are exchanged on the way (`emoji`). A failure carries what was written and read so far, so that a caller can substitute (a fallback Hash or Proc) and go on behind it.
//! Rejected: whole-string conversion by encoding_rs (it can't say which bytes failed in Ruby's terms).

use super::charset::Charset;
use super::emoji::{self, Exchange};
use super::multibyte::{is_lead, jis_place, multi_decode, multi_encode, put_place};
use super::stream::{self, Call, Decorators, Status, Stream};
use super::{Encoding, Kind, Multi, inspect, single, utf8};
use zakuro_base::progress::{Pace, Progress, STRIDE, ToTheEnd};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OnInvalid {
    #[default]
    Raise,
    Replace,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OnUndefined {
    #[default]
    Raise,
    Replace,
    /// `&#x3042;` (`xml:` options)
    CharRef,
}

#[derive(Clone, Debug, Default)]
pub struct Policy {
    pub invalid: OnInvalid,
    pub undefined: OnUndefined,
    /// In the target encoding; by default U+FFFD or `?`.
    pub replace: Option<Vec<u8>>,
}

/// What failed; `class` names Ruby's error in Encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConvErrKind {
    /// InvalidByteSequenceError
    Invalid { error_bytes: Vec<u8>, readagain_bytes: Vec<u8>, incomplete: bool },
    /// UndefinedConversionError; `error_char` is in `step_source`.
    Undefined { error_char: Vec<u8> },
    /// ConverterNotFoundError
    NotFound,
    /// Left on the way.
    Stopped,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConvErr {
    pub kind: ConvErrKind,
    /// Ruby's wording.
    pub message: String,
    /// The failing step of the conversion (`source_encoding_name`, `destination_encoding_name`).
    pub step_source: Encoding,
    pub step_target: Encoding,
    /// Source bytes read, the failing ones included.
    pub consumed: usize,
    /// Target bytes written before the failure.
    pub partial: Vec<u8>,
}

pub(super) enum Step {
    /// Bytes that are no character: a byte order mark, an escape sequence.
    Skip(usize),
    Char(char, usize),
    /// Two code points for one character (Big5-HKSCS).
    Pair(char, char, usize),
    Undefined(usize),
    /// A character that one carrier has and the other has not.
    Unknown(char, usize),
    Invalid {
        bad: usize,
        again: usize,
        incomplete: bool,
    },
}

/// Converts `s`.
///
/// # Errors
/// The first problem that `policy` doesn't cover.
pub fn transcode(src: Encoding, dst: Encoding, s: &[u8], policy: &Policy) -> Result<Vec<u8>, ConvErr> {
    transcode_long(src, dst, s, policy, &mut ToTheEnd)
}

/// The work is to be left.
fn stopped(src: Encoding, dst: Encoding) -> ConvErr {
    ConvErr { kind: ConvErrKind::Stopped, message: String::new(), step_source: src, step_target: dst, consumed: 0, partial: Vec::new() }
}

/// [`transcode`] that can be left.
///
/// # Errors
/// Those, and that it was stopped.
pub fn transcode_long(src: Encoding, dst: Encoding, s: &[u8], policy: &Policy, p: &mut dyn Progress) -> Result<Vec<u8>, ConvErr> {
    let stopped = |_| stopped(src, dst);
    let not_found = || ConvErr {
        kind: ConvErrKind::NotFound,
        message: format!("code converter not found ({} to {})", src.name(), dst.name()),
        step_source: src,
        step_target: dst,
        consumed: 0,
        partial: Vec::new(),
    };
    if !is_mapped(src) || !is_mapped(dst) || (src == dst && src.kind() != Kind::Utf8) {
        return Err(not_found());
    }
    if src.is_ascii_compatible() && dst.is_ascii_compatible() && s.is_ascii() {
        return Ok(s.to_vec());
    }
    if stream::is_stateful(src) || stream::is_stateful(dst) {
        return in_stream(src, dst, s, policy, p);
    }
    let mut decoder = Decoder::between(src, dst);
    let mut encoder = Encoder::new(dst);
    let mut out = Vec::with_capacity(s.len() + s.len() / 4 + 4);
    if !s.is_empty() {
        encoder.start(&mut out);
    }
    let mut at = decoder.skip_bom(s);
    let mut pace = Pace::new();
    while at < s.len() {
        pace.at(at, p).map_err(stopped)?;
        if src.is_ascii_compatible() && dst.is_ascii_compatible() {
            let run = s[at..].iter().position(|b| *b >= 0x80).unwrap_or(s.len() - at);
            if run > 0 {
                out.extend_from_slice(&s[at..at + run]);
                at += run;
                continue;
            }
        }
        match decoder.next(&s[at..]) {
            Step::Skip(n) => at += n,
            Step::Char(c, n) => {
                if !encoder.put(c, &mut out) {
                    undefined_char(src, dst, c, at + n, policy, &mut encoder, &mut out)?;
                }
                at += n;
            }
            Step::Pair(a, b, n) => {
                for c in [a, b] {
                    if !encoder.put(c, &mut out) {
                        undefined_char(src, dst, c, at + n, policy, &mut encoder, &mut out)?;
                    }
                }
                at += n;
            }
            Step::Undefined(n) => {
                if let Some(place) = jis_place(src, &s[at..at + n])
                    && put_place(dst, place, &mut out)
                {
                    at += n;
                    continue;
                }
                if policy.undefined == OnUndefined::Raise {
                    return Err(undefined_source(src, dst, &s[at..at + n], at + n, out));
                }
                replacement(policy, &mut encoder, &mut out);
                at += n;
            }
            Step::Unknown(c, n) => {
                if policy.undefined == OnUndefined::Raise {
                    return Err(unknown_sign(src, dst, c, at + n, out));
                }
                replacement(policy, &mut encoder, &mut out);
                at += n;
            }
            Step::Invalid { bad, again, incomplete } => {
                if policy.invalid == OnInvalid::Raise {
                    return Err(invalid(src, dst, &s[at..at + bad], &s[at + bad..at + bad + again], incomplete, at + bad, out));
                }
                replacement(policy, &mut encoder, &mut out);
                at += bad;
            }
        }
    }
    Ok(out)
}

/// What has a state is converted as a stream is.
fn in_stream(src: Encoding, dst: Encoding, s: &[u8], policy: &Policy, p: &mut dyn Progress) -> Result<Vec<u8>, ConvErr> {
    let mut stream = Stream::new(Some((src, dst)), Decorators::default(), policy.clone());
    let mut out = Vec::with_capacity(s.len());
    let mut read = 0;
    let portions = s.chunks(STRIDE).map(|portion| (portion, true)).chain([(&[][..], false)]);
    let mut pace = Pace::new();
    for (portion, partial) in portions {
        pace.at(read, p).map_err(|_| stopped(src, dst))?;
        let mut used = 0;
        if let Status::Failed(mut e) = stream.convert(portion, &mut used, &mut out, Call { partial, ..Call::default() }) {
            // What the error has to say of the bytes behind it, it has read.
            let again = stream.putback(None).len();
            stream.end_state();
            stream.convert(&[], &mut 0, &mut out, Call { partial: true, ..Call::default() });
            e.consumed = (read + used).saturating_sub(again);
            e.partial = out;
            return Err(*e);
        }
        read += used;
    }
    Ok(out)
}

/// `String#scrub`: for every broken sequence `with` (its bytes, what was written so far) appends what stands in for it.
pub fn scrub<E>(
    s: &[u8],
    enc: Encoding,
    mut with: impl FnMut(&[u8], &mut Vec<u8>) -> Result<(), E>,
    mut pause: impl FnMut(usize) -> Result<(), E>,
) -> Result<Vec<u8>, E> {
    if enc.kind() == Kind::Utf8 {
        return scrub_utf8(s, with, pause);
    }
    let mut out = Vec::with_capacity(s.len());
    let mut decoder = Decoder::new(enc);
    let mut at = 0;
    while at < s.len() {
        pause(at)?;
        // Whole runs of what is valid are copied at once, in portions that `pause` sees.
        let rest = &s[at..];
        let valid = valid_run(enc, rest);
        if valid > 0 {
            out.extend_from_slice(&rest[..valid]);
            at += valid;
            continue;
        }
        let n = match decoder.next(rest) {
            Step::Invalid { bad, .. } => bad,
            _ => enc.char_len(rest).unwrap_or_else(|n| n),
        }
        .max(1);
        with(&rest[..n], &mut out)?;
        at += n;
    }
    Ok(out)
}

/// The same of UTF-8: one look tells how far it is valid and how long the broken part behind is.
fn scrub_utf8<E>(
    s: &[u8],
    mut with: impl FnMut(&[u8], &mut Vec<u8>) -> Result<(), E>,
    mut pause: impl FnMut(usize) -> Result<(), E>,
) -> Result<Vec<u8>, E> {
    let mut out = Vec::with_capacity(s.len());
    let mut at = 0;
    while at < s.len() {
        pause(at)?;
        let portion = &s[at..s.len().min(at + SCRUB_PORTION)];
        let Err(e) = std::str::from_utf8(portion) else {
            out.extend_from_slice(portion);
            at += portion.len();
            continue;
        };
        let valid = e.valid_up_to();
        out.extend_from_slice(&portion[..valid]);
        at += valid;
        let bad = match e.error_len() {
            Some(n) => n,
            // A portion ends within a character, whose rest comes with the next one; the text does so at its end.
            None if at - valid + portion.len() < s.len() => continue,
            None => s.len() - at,
        };
        with(&s[at..at + bad], &mut out)?;
        at += bad;
    }
    Ok(out)
}

/// Bytes that are looked at between two questions whether to go on.
const SCRUB_PORTION: usize = 1 << 14;

/// Length of the valid characters that a text begins with, or of a portion of them.
fn valid_run(enc: Encoding, s: &[u8]) -> usize {
    let mut at = 0;
    while at < s.len().min(SCRUB_PORTION) {
        match enc.char_len(&s[at..]) {
            Ok(n) => at += n,
            Err(_) => break,
        }
    }
    at
}

pub(super) fn is_mapped(e: Encoding) -> bool {
    !matches!(e.kind(), Kind::Unmapped | Kind::Multi(Multi::EucTw))
}

/// The encoding that another is a form of, through which it is converted.
pub(super) fn base_of(e: Encoding) -> Option<Encoding> {
    let name = match e.kind() {
        Kind::Multi(Multi::Iso2022Jp | Multi::StatelessJp) => "EUC-JP",
        Kind::Multi(Multi::Cp50220 | Multi::Cp50221) => "CP51932",
        Kind::Multi(Multi::Ibm037) => return Some(Encoding::ISO_8859_1),
        Kind::Multi(Multi::Iso2022JpKddi) => "stateless-ISO-2022-JP-KDDI",
        Kind::Multi(Multi::SjisDoCoMo) => "UTF8-DoCoMo",
        Kind::Multi(Multi::StatelessKddi | Multi::SjisKddi) => "UTF8-KDDI",
        Kind::Multi(Multi::SjisSoftBank) => "UTF8-SoftBank",
        _ => return None,
    };
    Encoding::find(name.as_bytes())
}

fn dumped(bytes: &[u8]) -> String {
    let mut s = String::from("\"");
    for &b in bytes {
        if inspect::special(b, None, &mut s) {
        } else if (0x20..0x7f).contains(&b) {
            s.push(b as char);
        } else {
            inspect::hex_byte(b, &mut s);
        }
    }
    s.push('"');
    s
}

/// A sign that the carrier it is for has not got.
pub(super) fn unknown_sign(src: Encoding, dst: Encoding, c: char, consumed: usize, partial: Vec<u8>) -> ConvErr {
    let steps = stream::path(src, dst);
    let of_unicode = |e: Encoding| e.kind() == Kind::Utf8;
    let step = steps.iter().find(|s| of_unicode(s.0) && of_unicode(s.1)).copied().unwrap_or((src, dst));
    let error_char = c.to_string().into_bytes();
    let shown = if step.0 == Encoding::UTF_8 { format!("U+{:04X}", c as u32) } else { dumped(&error_char) };
    let message = if steps.len() == 1 {
        format!("{shown} from {} to {}", src.name(), dst.name())
    } else {
        format!("{shown} to {} in conversion from {}", step.1.name(), path(src, dst))
    };
    ConvErr { kind: ConvErrKind::Undefined { error_char }, message, step_source: step.0, step_target: step.1, consumed, partial }
}

/// Names in messages: CRuby's tables spell the Windows ones in capitals.
fn shown_name(e: Encoding) -> String {
    if e.name().starts_with("Windows-125") { e.name().to_ascii_uppercase() } else { e.name().to_owned() }
}

/// The conversion's path, through UTF-8 unless one end is, and through the bases of both.
fn path(src: Encoding, dst: Encoding) -> String {
    if base_of(src).or(base_of(dst)).is_some() || emoji::is_carrier(src) || emoji::is_carrier(dst) {
        let steps = stream::path(src, dst);
        let names: Vec<String> = steps.first().map(|s| s.0).into_iter().chain(steps.iter().map(|s| s.1)).map(shown_name).collect();
        names.join(" to ")
    } else if src == Encoding::UTF_8 || dst == Encoding::UTF_8 {
        format!("{} to {}", shown_name(src), shown_name(dst))
    } else {
        format!("{} to UTF-8 to {}", shown_name(src), shown_name(dst))
    }
}

pub(super) fn undefined_source(src: Encoding, dst: Encoding, bytes: &[u8], consumed: usize, partial: Vec<u8>) -> ConvErr {
    // CRuby compares names letter by letter, and its tables write "windows-1252".
    let base = base_of(src);
    let direct = dst == Encoding::UTF_8 && base.is_none() && !src.name().starts_with("Windows-125");
    // What failed is a character of the base.
    let of_base: Vec<u8> = bytes.iter().map(|b| if stream::is_stateful(src) { b | 0x80 } else { *b }).collect();
    let bytes = &of_base[..];
    let shown = dumped(bytes);
    let message = if direct {
        format!("{shown} from {} to UTF-8", src.name())
    } else {
        format!("{shown} to UTF-8 in conversion from {}", path(src, dst))
    };
    ConvErr {
        kind: ConvErrKind::Undefined { error_char: bytes.to_vec() },
        message,
        step_source: base.unwrap_or(src),
        step_target: Encoding::UTF_8,
        consumed,
        partial,
    }
}

pub(super) fn undefined_char(
    src: Encoding,
    dst: Encoding,
    c: char,
    consumed: usize,
    policy: &Policy,
    encoder: &mut Encoder,
    out: &mut Vec<u8>,
) -> Result<(), ConvErr> {
    match policy.undefined {
        OnUndefined::Replace => replacement(policy, encoder, out),
        OnUndefined::CharRef => {
            for c in format!("&#x{:X};", c as u32).chars() {
                encoder.put(c, out);
            }
        }
        OnUndefined::Raise => {
            let mut shown = format!("U+{:04X}", c as u32);
            let mut error_char = c.to_string().into_bytes();
            if let Some(base) = base_of(dst) {
                // The base lacks the character, or the form of it does.
                let mut step = (Encoding::UTF_8, base);
                let mut bytes = Vec::new();
                if Encoder::new(base).put(c, &mut bytes) {
                    step = stream::path(src, dst).into_iter().find(|s| s.0 == base).unwrap_or((base, dst));
                    shown = dumped(&bytes);
                    error_char = bytes;
                }
                let message = format!("{shown} to {} in conversion from {}", shown_name(step.1), path(src, dst));
                let (kind, partial) = (ConvErrKind::Undefined { error_char }, std::mem::take(out));
                return Err(ConvErr { kind, message, step_source: step.0, step_target: step.1, consumed, partial });
            }
            let direct = src == Encoding::UTF_8 && !dst.name().starts_with("Windows-125");
            let message = if direct {
                format!("{shown} from UTF-8 to {}", shown_name(dst))
            } else {
                format!("{shown} to {} in conversion from {}", shown_name(dst), path(src, dst))
            };
            return Err(ConvErr {
                kind: ConvErrKind::Undefined { error_char: std::mem::take(&mut error_char) },
                message,
                step_source: Encoding::UTF_8,
                step_target: dst,
                consumed,
                partial: std::mem::take(out),
            });
        }
    }
    Ok(())
}

pub(super) fn invalid(
    src: Encoding,
    dst: Encoding,
    bad: &[u8],
    again: &[u8],
    incomplete: bool,
    consumed: usize,
    partial: Vec<u8>,
) -> ConvErr {
    let message = if incomplete {
        format!("incomplete {} on {}", dumped(bad), src.name())
    } else if again.is_empty() {
        format!("{} on {}", dumped(bad), src.name())
    } else {
        format!("{} followed by {} on {}", dumped(bad), dumped(again), src.name())
    };
    ConvErr {
        kind: ConvErrKind::Invalid { error_bytes: bad.to_vec(), readagain_bytes: again.to_vec(), incomplete },
        message,
        step_source: src,
        step_target: stream::path(src, dst).first().map_or(dst, |s| s.1),
        consumed,
        partial,
    }
}

fn replacement(policy: &Policy, encoder: &mut Encoder, out: &mut Vec<u8>) {
    match &policy.replace {
        Some(r) => out.extend_from_slice(r),
        None => {
            let mark = if encoder.enc.is_unicode() { '\u{fffd}' } else { '?' };
            encoder.put(mark, out);
        }
    }
}

/// Unicode value of the single valid UTF-16/32 character `c`.
pub(crate) fn decode_char(enc: Encoding, c: &[u8]) -> Option<u32> {
    match Decoder::new(enc).next(c) {
        Step::Char(ch, n) if n == c.len() => Some(ch as u32),
        _ => None,
    }
}

pub(super) fn encode_char(enc: Encoding, c: char, out: &mut Vec<u8>) -> bool {
    Encoder::new(enc).put(c, out)
}

#[derive(Clone)]
pub(super) struct Decoder {
    enc: Encoding,
    kind: Kind,
    upper: Vec<char>,
    charset: Option<&'static Charset>,
    exchange: Option<Exchange>,
    met: Met,
}

/// Characters of two bytes that a conversion has met, as numbers, with what they become: those of a text are few, and the engine takes long for each one.
#[derive(Clone, Default)]
pub(super) struct Met {
    /// None before there are some. A slot without a character has the number 0, which none of two bytes is.
    slots: Option<Box<[(u32, u32); Met::SLOTS]>>,
    asked: u8,
}
impl Met {
    const SLOTS: usize = 256;
    /// Bytes of the slots.
    pub(super) const WEIGHT: usize = Met::SLOTS * size_of::<(u32, u32)>();
    /// So many are looked for by the engine before there are slots.
    const FEW: u8 = 6;

    #[inline]
    fn slot(character: u32) -> usize {
        (character.wrapping_mul(0x9e37_79b1) >> 24) as usize
    }
    #[inline]
    fn get(&self, character: u32) -> Option<u32> {
        let slot = self.slots.as_ref()?[Met::slot(character)];
        (slot.0 == character).then_some(slot.1)
    }
    fn put(&mut self, character: u32, becomes: u32) {
        match &mut self.slots {
            Some(slots) => slots[Met::slot(character)] = (character, becomes),
            None if self.asked < Met::FEW => self.asked += 1,
            none => *none = Some(Box::new([(0, 0); Met::SLOTS])),
        }
    }
}

impl Decoder {
    pub(super) fn new(enc: Encoding) -> Decoder {
        let upper = match enc.kind() {
            Kind::Single(i) => single::TABLES[i].chars().collect(),
            Kind::Multi(Multi::Ibm037) => single::EBCDIC.chars().collect(),
            _ => Vec::new(),
        };
        Decoder { enc, kind: enc.kind(), upper, charset: Charset::of(enc), exchange: None, met: Met::default() }
    }

    /// For characters that are written in `dst`, which another carrier's signs may be for.
    pub(super) fn between(enc: Encoding, dst: Encoding) -> Decoder {
        Decoder { exchange: Exchange::between(enc, dst), ..Decoder::new(enc) }
    }

    /// UTF-16 and UTF-32 tell their byte order by a mark.
    pub(super) fn skip_bom(&mut self, s: &[u8]) -> usize {
        match (self.enc, s) {
            (Encoding::UTF_32, [0xff, 0xfe, 0, 0, ..]) => {
                self.kind = Kind::Utf32 { big: false };
                4
            }
            (Encoding::UTF_32, [0, 0, 0xfe, 0xff, ..]) => 4,
            (Encoding::UTF_16, [0xff, 0xfe, ..]) => {
                self.kind = Kind::Utf16 { big: false };
                2
            }
            (Encoding::UTF_16, [0xfe, 0xff, ..]) => 2,
            _ => 0,
        }
    }

    pub(super) fn next(&mut self, s: &[u8]) -> Step {
        match (self.own(s), &self.exchange) {
            (Step::Char(c, n), Some(exchange)) => exchange.step(c, n),
            (step, _) => step,
        }
    }

    /// The next character as the encoding means it.
    fn own(&mut self, s: &[u8]) -> Step {
        let b = s[0];
        let bad = |n: usize| Step::Invalid { bad: n, again: 0, incomplete: false };
        let incomplete = Step::Invalid { bad: s.len(), again: 0, incomplete: true };
        match self.kind {
            Kind::Binary if b >= 0x80 => Step::Undefined(1),
            Kind::Ascii if b >= 0x80 => bad(1),
            Kind::Binary | Kind::Ascii | Kind::Latin1 => Step::Char(b as char, 1),
            Kind::Single(_) if b < 0x80 => Step::Char(b as char, 1),
            Kind::Single(_) => match self.upper.get(b as usize - 0x80) {
                Some('\u{fffd}') | None => Step::Undefined(1),
                Some(&c) => Step::Char(c, 1),
            },
            Kind::Utf8 => match utf8::decode(s) {
                Some((c, n)) => char::from_u32(c).map_or(bad(1), |c| Step::Char(c, n)),
                None => match std::str::from_utf8(&s[..s.len().min(4)]) {
                    Err(e) if e.valid_up_to() == 0 => match e.error_len() {
                        // A lead byte was fine; what follows is read again.
                        Some(n) => {
                            Step::Invalid { bad: n, again: usize::from((0xc2..=0xf4).contains(&b) && s.len() > n), incomplete: false }
                        }
                        None => incomplete,
                    },
                    _ => bad(1),
                },
            },
            Kind::Utf16 { big } => {
                let read = |i: usize| {
                    s.get(i..i + 2).map(|w| if big { u16::from_be_bytes([w[0], w[1]]) } else { u16::from_le_bytes([w[0], w[1]]) })
                };
                match (read(0), read(2)) {
                    (None, _) => incomplete,
                    (Some(h @ 0xd800..=0xdbff), Some(l @ 0xdc00..=0xdfff)) => {
                        let c = 0x10000 + ((h as u32 & 0x3ff) << 10 | l as u32 & 0x3ff);
                        char::from_u32(c).map_or(bad(2), |c| Step::Char(c, 4))
                    }
                    (Some(0xd800..=0xdbff), None) if big && s.get(2).is_some_and(|b| !(0xdc..=0xdf).contains(b)) => {
                        Step::Invalid { bad: 2, again: 1, incomplete: false }
                    }
                    (Some(0xd800..=0xdbff), None) => incomplete,
                    // Big-endian, the first byte of the next unit tells.
                    (Some(0xd800..=0xdbff), Some(_)) => Step::Invalid { bad: 2, again: if big { 1 } else { 2 }, incomplete: false },
                    (Some(u), _) => char::from_u32(u as u32).map_or(bad(2), |c| Step::Char(c, 2)),
                }
            }
            Kind::Utf32 { big } => match s.get(..4) {
                Some(w) => {
                    let w = [w[0], w[1], w[2], w[3]];
                    let c = if big { u32::from_be_bytes(w) } else { u32::from_le_bytes(w) };
                    char::from_u32(c).map_or(bad(4), |c| Step::Char(c, 4))
                }
                None => incomplete,
            },
            Kind::Multi(Multi::Ibm037) => self.upper.get(b as usize).map_or(Step::Undefined(1), |c| Step::Char(*c, 1)),
            Kind::Multi(Multi::Cesu8) => match super::cesu8(s) {
                Some((c, n)) => char::from_u32(c).map_or(bad(n), |c| Step::Char(c, n)),
                // A first half whose second one has not come, or has not come whole.
                None if matches!(s, [0xed, 0xa0..=0xaf] | [0xed, 0xa0..=0xaf, 0x80..=0xbf])
                    || matches!(s, [0xed, 0xa0..=0xaf, 0x80..=0xbf, 0xed] | [0xed, 0xa0..=0xaf, 0x80..=0xbf, 0xed, 0xb0..=0xbf]) =>
                {
                    incomplete
                }
                None => match std::str::from_utf8(&s[..s.len().min(3)]) {
                    Err(e) if e.error_len().is_none() && b < 0xf0 => incomplete,
                    _ => bad(1),
                },
            },
            Kind::Multi(_) if b < 0x80 => Step::Char(b as char, 1),
            // Which two bytes are a character does not depend on what follows.
            Kind::Multi(_)
                if let Some(c) = self.met.get(u32::from(b) << 8 | s.get(1).map_or(0, |b| u32::from(*b))).and_then(char::from_u32) =>
            {
                Step::Char(c, 2)
            }
            Kind::Multi(m) => match super::converted_len(self.enc, m, s) {
                Ok(n) => match self.charset {
                    Some(charset) => charset.decode(&s[..n]).map_or(Step::Undefined(n), |c| Step::Char(c, n)),
                    None if n == 2 => {
                        let step = multi_decode(m, &s[..2]);
                        if let Step::Char(c, 2) = step {
                            self.met.put(u32::from(b) << 8 | u32::from(s[1]), c as u32);
                        }
                        step
                    }
                    None => multi_decode(m, &s[..n]),
                },
                Err(_) if s.len() == 1 && is_lead(m, b) => incomplete,
                Err(_)
                    if b == 0x8f
                        && matches!(m, Multi::EucJp | Multi::EucJpMs | Multi::Cp51932 | Multi::EucJis2004)
                        && matches!(s[1], 0xa1..=0xfe) =>
                {
                    Step::Invalid { bad: 2, again: usize::from(s.len() > 2), incomplete: s.len() == 2 }
                }
                Err(_) if matches!(m, Multi::StatelessJp | Multi::StatelessKddi) && is_lead(m, b) && matches!(s[1], 0xa1..=0xfe) => {
                    Step::Invalid { bad: 2, again: usize::from(s.len() > 2), incomplete: s.len() == 2 }
                }
                // Four bytes that break off.
                Err(_)
                    if m == Multi::Gb18030
                        && s.len() < 4
                        && s.get(1).is_some_and(|b| b.is_ascii_digit())
                        && s.get(2).is_none_or(|b| (0x81..=0xfe).contains(b)) =>
                {
                    incomplete
                }
                Err(n) => Step::Invalid { bad: n, again: usize::from(is_lead(m, b) && s.len() > n), incomplete: false },
            },
            Kind::Unmapped => Step::Undefined(1),
        }
    }
}

/// The bytes of a single-byte charset by character: open addressing, at most half full.
#[derive(Clone)]
struct Places(Vec<Option<(char, u8)>>);

impl Places {
    const ROOM: usize = 1 << 9;

    /// Of at most 256 characters; a byte that comes later is no other's.
    fn of(all: impl Iterator<Item = (char, u8)>) -> Places {
        let mut slots = vec![None; Places::ROOM];
        for (c, b) in all {
            let at = Places::find(|i| slots[i], c);
            slots[at] = slots[at].or(Some((c, b)));
        }
        Places(slots)
    }

    /// Where the character stands, or would.
    fn find(slot: impl Fn(usize) -> Option<(char, u8)>, c: char) -> usize {
        // Fibonacci hashing (Knuth, volume 3, 6.4): neighbours, as letters are, lie apart.
        let mut at = ((c as u32).wrapping_mul(0x9e37_79b1) >> 23) as usize;
        while slot(at).is_some_and(|p| p.0 != c) {
            at = (at + 1) % Places::ROOM;
        }
        at
    }

    fn byte(&self, c: char) -> Option<u8> {
        self.0[Places::find(|i| self.0[i], c)].map(|p| p.1)
    }
}

#[derive(Clone)]
pub(super) struct Encoder {
    enc: Encoding,
    kind: Kind,
    /// Single-byte charsets.
    places: Places,
    /// EUC-JP: the three-byte characters of JIS X 0212, sorted; read from the decoder when first needed, because the engine
    /// doesn't encode them.
    supplement: Vec<(char, [u8; 3])>,
    charset: Option<&'static Charset>,
    /// Carriers' forms of Windows-31J: characters with several places, as NEC has them.
    nec: &'static [(char, [u8; 2])],
    /// The byte order mark is written (kept by the caller).
    pub(super) begun: bool,
    met: Met,
}

impl Encoder {
    pub(super) fn new(enc: Encoding) -> Encoder {
        let places = match enc.kind() {
            Kind::Single(i) => Places::of(single::TABLES[i].chars().zip(0x80..=0xff).filter(|p| p.0 != '\u{fffd}')),
            Kind::Multi(Multi::Ibm037) => Places::of(single::EBCDIC.chars().zip(0..=0xff)),
            _ => Places(Vec::new()),
        };
        let nec = match enc.kind() {
            Kind::Multi(m) => emoji::nec_rows(m),
            _ => &[],
        };
        Encoder { enc, kind: enc.kind(), places, supplement: Vec::new(), charset: Charset::of(enc), nec, begun: false, met: Met::default() }
    }

    pub(super) fn start(&mut self, out: &mut Vec<u8>) {
        if matches!(self.enc, Encoding::UTF_16 | Encoding::UTF_32) {
            self.put('\u{feff}', out);
        }
    }

    /// False when the charset lacks `c`.
    pub(super) fn put(&mut self, c: char, out: &mut Vec<u8>) -> bool {
        match self.kind {
            Kind::Utf8 => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            Kind::Utf16 { big } => {
                for u in c.encode_utf16(&mut [0; 2]) {
                    out.extend_from_slice(&if big { u.to_be_bytes() } else { u.to_le_bytes() });
                }
            }
            Kind::Utf32 { big } => {
                let c = c as u32;
                out.extend_from_slice(&if big { c.to_be_bytes() } else { c.to_le_bytes() });
            }
            Kind::Multi(Multi::Ibm037) => match self.places.byte(c) {
                Some(b) => out.push(b),
                None => return false,
            },
            Kind::Multi(Multi::Cesu8) => {
                for u in c.encode_utf16(&mut [0; 2]) {
                    match *u {
                        0..=0x7f => out.push(*u as u8),
                        0x80..=0x7ff => out.extend([0xc0 | (*u >> 6) as u8, 0x80 | (*u & 0x3f) as u8]),
                        _ => out.extend([0xe0 | (*u >> 12) as u8, 0x80 | (*u >> 6 & 0x3f) as u8, 0x80 | (*u & 0x3f) as u8]),
                    }
                }
            }
            Kind::Multi(_) if self.charset.is_some() && !c.is_ascii() => {
                return self.charset.is_some_and(|charset| charset.encode(c, out));
            }
            Kind::Multi(m) => {
                if let Some(pair) = self.met.get(c as u32) {
                    out.extend((pair as u16).to_be_bytes());
                    return true;
                }
                if let Ok(i) = self.nec.binary_search_by_key(&c, |p| p.0) {
                    out.extend(self.nec[i].1);
                    return true;
                }
                let from = out.len();
                if multi_encode(m, c, out) {
                    if let [a @ 0x80..=0xff, b] = out[from..] {
                        self.met.put(c as u32, u32::from(a) << 8 | u32::from(b));
                    }
                    return true;
                }
                return matches!(m, Multi::EucJp | Multi::EucJpMs) && self.put_supplement(m, c, out);
            }
            _ if c.is_ascii() => out.push(c as u8),
            Kind::Latin1 if (c as u32) < 0x100 => out.push(c as u32 as u8),
            Kind::Single(_) => match self.places.byte(c) {
                Some(b) => out.push(b),
                None => return false,
            },
            _ => return false,
        }
        true
    }
}

impl Encoder {
    fn put_supplement(&mut self, m: Multi, c: char, out: &mut Vec<u8>) -> bool {
        if self.supplement.is_empty() {
            for row in 0xa1..=0xfe {
                for cell in 0xa1..=0xfe {
                    let bytes = [0x8f, row, cell];
                    if let Step::Char(c, _) = multi_decode(m, &bytes) {
                        self.supplement.push((c, bytes));
                    }
                }
            }
            self.supplement.sort_unstable();
        }
        let found = self.supplement.binary_search_by_key(&c, |p| p.0);
        if let Ok(i) = found {
            out.extend_from_slice(&self.supplement[i].1);
        }
        found.is_ok()
    }
}
