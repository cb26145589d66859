//! `Array#pack` and `String#unpack`: template parser and codecs.
//!
//! Values come and go through [`PackSource`] and [`Unpacked`]; pointers (`p`, `P`) are refused.
//! Native sizes are those of a 64-bit little-endian Unix: `i` 4, `l` 4, `l!` 8, `j` 8 bytes.
//! Rejected: compiling templates (they are short, and their cost is the values').

use crate::encoding::{Encoding, utf8};
use crate::int::Int;
use num_bigint::{BigInt, Sign};
use num_traits::ToPrimitive;
use zakuro_base::progress::{Progress, STRIDE, Stopped, step};

mod text;
use text::{base64, from_base64, from_quoted_printable, from_uu, quoted_printable, uuencode};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackErrorKind {
    ArgumentError,
    RangeError,
    NoMemoryError,
    /// Left on the way.
    Stopped,
}

/// An error in Ruby's wording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackError {
    pub kind: PackErrorKind,
    pub message: String,
}

/// Appends `n` times `byte`; an error where memory does not suffice.
fn fill(out: &mut Vec<u8>, n: usize, byte: u8) -> Result<(), PackError> {
    if !zakuro_base::memory::has_room(out, n) {
        return Err(PackError { kind: PackErrorKind::NoMemoryError, message: "failed to allocate memory".into() });
    }
    out.resize(out.len() + n, byte);
    Ok(())
}

impl From<Stopped> for PackError {
    fn from(_: Stopped) -> PackError {
        PackError { kind: PackErrorKind::Stopped, message: String::new() }
    }
}

fn argument(message: impl Into<String>) -> PackError {
    PackError { kind: PackErrorKind::ArgumentError, message: message.into() }
}

fn range(message: impl Into<String>) -> PackError {
    PackError { kind: PackErrorKind::RangeError, message: message.into() }
}

/// Repeat count of a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// None written.
    Default,
    N(usize),
    Star,
}

#[derive(Clone, Copy, Debug)]
struct Directive {
    kind: u8,
    native: bool,
    big: Option<bool>,
    count: Count,
}

struct Template<'a> {
    s: &'a [u8],
    at: usize,
}

impl Template<'_> {
    fn next(&mut self) -> Result<Option<Directive>, PackError> {
        loop {
            match self.s.get(self.at) {
                None => return Ok(None),
                Some(b' ' | b'\t'..=b'\r') => self.at += 1,
                Some(b'#') => self.at += memchr::memchr(b'\n', &self.s[self.at..]).unwrap_or(self.s.len() - self.at),
                Some(_) => break,
            }
        }
        let kind = self.s[self.at];
        self.at += 1;
        let mut d = Directive { kind, native: false, big: None, count: Count::Default };
        while let Some(&m) = self.s.get(self.at) {
            match m {
                b'_' | b'!' if b"sSiIlLqQjJ".contains(&kind) => d.native = true,
                b'<' | b'>' if b"sSiIlLqQjJ".contains(&kind) => {
                    if d.big.is_some_and(|b| b != (m == b'>')) {
                        return Err(range("Can't use both '<' and '>'"));
                    }
                    d.big = Some(m == b'>');
                }
                b'_' | b'!' | b'<' | b'>' => return Err(argument(format!("'{}' allowed only after types sSiIlLqQjJ", m as char))),
                _ => break,
            }
            self.at += 1;
        }
        match self.s.get(self.at) {
            Some(b'*') => {
                d.count = Count::Star;
                self.at += 1;
            }
            Some(b'0'..=b'9') => {
                let mut n = 0usize;
                while let Some(b) = self.s.get(self.at).filter(|b| b.is_ascii_digit()) {
                    n = n
                        .checked_mul(10)
                        .and_then(|n| n.checked_add((b - b'0') as usize))
                        .filter(|n| *n <= i64::MAX as usize)
                        .ok_or_else(|| range("pack length too big"))?;
                    self.at += 1;
                }
                d.count = Count::N(n);
            }
            _ => {}
        }
        if !b"aAZbBhHcCsSiIlLqQjJnNvVUwmMuxX@eEfFdDgGpP".contains(&kind) {
            let shown = String::from_utf8_lossy(self.s);
            return Err(argument(format!("unknown pack directive '{}' in '{shown}'", kind as char)));
        }
        Ok(Some(d))
    }
}

/// Bytes and byte order of an integer directive.
fn int_layout(d: &Directive) -> Option<(usize, bool, bool)> {
    let big = d.big.unwrap_or(false);
    Some(match d.kind {
        b'c' => (1, big, true),
        b'C' => (1, big, false),
        b's' => (2, big, true),
        b'S' => (2, big, false),
        b'i' => (4, big, true),
        b'I' => (4, big, false),
        b'l' => (if d.native { 8 } else { 4 }, big, true),
        b'L' => (if d.native { 8 } else { 4 }, big, false),
        b'q' | b'j' => (8, big, true),
        b'Q' | b'J' => (8, big, false),
        b'n' => (2, true, false),
        b'N' => (4, true, false),
        b'v' => (2, false, false),
        b'V' => (4, false, false),
        _ => return None,
    })
}

/// Single precision? big-endian?
fn float_layout(kind: u8) -> Option<(bool, bool)> {
    Some(match kind {
        b'f' | b'F' | b'e' => (true, false),
        b'g' => (true, true),
        b'd' | b'D' | b'E' => (false, false),
        b'G' => (false, true),
        _ => return None,
    })
}

/// The caller's side of `pack`: each call takes the next element, converted.
pub trait PackSource {
    type Err;
    /// Elements left.
    fn left(&self) -> usize;
    fn integer(&mut self) -> Result<Int, Self::Err>;
    fn float(&mut self) -> Result<f64, Self::Err>;
    /// String bytes; nil counts as empty when `nil_ok`. `to_s` of anything for `M` (`any`).
    fn bytes(&mut self, nil_ok: bool, any: bool) -> Result<Vec<u8>, Self::Err>;
    /// Address of the bytes of a String, which stays valid as long as the result of `pack`; 0 for nil. An error when it has less than `least` bytes.
    fn pointer(&mut self, _least: usize) -> Result<u64, Self::Err> {
        Err(self.error(argument("no pointers here")))
    }
    fn error(&mut self, error: PackError) -> Self::Err;
    /// Asked each `STRIDE` elements or bytes whether to go on.
    fn poll(&mut self) -> Result<(), Self::Err> {
        Ok(())
    }
    /// The template asks for as many bytes of padding: an error when that is too much.
    fn room(&mut self, _bytes: usize) -> Result<(), Self::Err> {
        Ok(())
    }
}

/// `Array#pack`: appends to `out` and returns the encoding of a fresh result.
///
/// # Errors
/// What the source returns, and [`PackError`] through it.
pub fn pack<S: PackSource>(template: &[u8], src: &mut S, out: &mut Vec<u8>) -> Result<Encoding, S::Err> {
    let mut t = Template { s: template, at: 0 };
    let mut enc = None;
    // `@` and `X` count from the beginning of the buffer.
    let base = 0;
    loop {
        let d = match t.next() {
            Ok(Some(d)) => d,
            Ok(None) => break,
            Err(e) => return Err(src.error(e)),
        };
        // The first directive that says something decides.
        enc = match (d.kind, enc) {
            (b'U', None) => Some(Encoding::UTF_8),
            (b'm' | b'M' | b'u', None) => Some(Encoding::US_ASCII),
            (b'm' | b'M' | b'u' | b'U', e) => e,
            _ if enc == Some(Encoding::UTF_8) => enc,
            _ => Some(Encoding::BINARY),
        };
        pack_one(&d, src, out, base)?;
    }
    Ok(enc.unwrap_or(Encoding::US_ASCII))
}

fn pack_one<S: PackSource>(d: &Directive, src: &mut S, out: &mut Vec<u8>, base: usize) -> Result<(), S::Err> {
    let repeat = |src: &S| match d.count {
        Count::Default => 1,
        Count::N(n) => n,
        Count::Star => src.left(),
    };
    let short = |src: &mut S| if src.left() == 0 { Err(src.error(argument("too few arguments"))) } else { Ok(()) };
    if let Some((size, big, _)) = int_layout(d) {
        for at in 0..repeat(src) {
            pause(at, src)?;
            short(src)?;
            let v = low_bits(&src.integer()?);
            let bytes = v.to_le_bytes();
            if big {
                out.extend(bytes[..size].iter().rev());
            } else {
                out.extend_from_slice(&bytes[..size]);
            }
        }
        return Ok(());
    }
    if let Some((single, big)) = float_layout(d.kind) {
        for at in 0..repeat(src) {
            pause(at, src)?;
            short(src)?;
            let x = src.float()?;
            match (single, big) {
                (true, false) => out.extend_from_slice(&(x as f32).to_le_bytes()),
                (true, true) => out.extend_from_slice(&(x as f32).to_be_bytes()),
                (false, false) => out.extend_from_slice(&x.to_le_bytes()),
                (false, true) => out.extend_from_slice(&x.to_be_bytes()),
            }
        }
        return Ok(());
    }
    match d.kind {
        b'a' | b'A' | b'Z' => {
            short(src)?;
            let s = src.bytes(true, false)?;
            let n = match d.count {
                Count::Default => 1,
                Count::N(n) => n,
                Count::Star => s.len() + (d.kind == b'Z') as usize,
            };
            let taken = s.len().min(n);
            src.room(n)?;
            out.extend_from_slice(&s[..taken]);
            fill(out, n - taken, if d.kind == b'A' { b' ' } else { 0 }).map_err(|e| src.error(e))?;
        }
        b'b' | b'B' | b'h' | b'H' => {
            short(src)?;
            let s = src.bytes(true, false)?;
            let n = match d.count {
                Count::Default => 1,
                Count::N(n) => n,
                Count::Star => s.len(),
            };
            src.room(n / 2)?;
            // Whole bytes at a time.
            let mut left = n;
            for part in s[..n.min(s.len())].chunks(STRIDE) {
                src.poll()?;
                left -= part.len();
                digits(d.kind, part, out);
            }
            // A count beyond the text pads with zero bytes: as many as the digits would have been, and one for every two missing bits.
            let taken = n.min(s.len());
            let pad = if d.kind | 32 == b'b' { left.div_ceil(2) } else { n.div_ceil(2) - taken.div_ceil(2) };
            fill(out, pad, 0).map_err(|e| src.error(e))?;
        }
        b'U' => {
            for at in 0..repeat(src) {
                pause(at, src)?;
                short(src)?;
                match src.integer()? {
                    Int::Small(c) if c < 0 => return Err(src.error(range("pack(U): value out of range"))),
                    Int::Small(c) if c <= 0x7fff_ffff => wide_utf8(c as u32, out),
                    _ => return Err(src.error(range("pack(U): value out of range"))),
                }
            }
        }
        b'p' => {
            for at in 0..repeat(src) {
                pause(at, src)?;
                short(src)?;
                out.extend_from_slice(&src.pointer(0)?.to_le_bytes());
            }
        }
        b'P' => {
            short(src)?;
            let least = if let Count::N(n) = d.count { n } else { 1 };
            out.extend_from_slice(&src.pointer(least)?.to_le_bytes());
        }
        b'w' => {
            for at in 0..repeat(src) {
                pause(at, src)?;
                short(src)?;
                let v = src.integer()?;
                if v.is_negative() {
                    return Err(src.error(argument("can't compress negative numbers")));
                }
                let mut groups = v.to_big().magnitude().to_radix_le(128);
                for g in groups.iter_mut().skip(1) {
                    *g |= 0x80;
                }
                out.extend(groups.iter().rev());
            }
        }
        b'm' => {
            short(src)?;
            let s = src.bytes(false, false)?;
            match d.count {
                Count::N(0) => {
                    for part in s.chunks(STRIDE / 3 * 3) {
                        src.poll()?;
                        base64(part, out);
                    }
                }
                count => {
                    let line = line_length(count, 45);
                    for (at, part) in s.chunks(line).enumerate() {
                        pause(at, src)?;
                        base64(part, out);
                        out.push(b'\n');
                    }
                }
            }
        }
        b'u' => {
            short(src)?;
            let s = src.bytes(false, false)?;
            for (at, part) in s.chunks(line_length(d.count, 45).min(63)).enumerate() {
                pause(at, src)?;
                uuencode(part, out);
            }
        }
        b'M' => {
            short(src)?;
            let s = src.bytes(true, true)?;
            let width = match d.count {
                Count::N(n) if n > 1 => n,
                _ => 72,
            };
            quoted_printable(&s, width, out, |at| pause(at, src))?;
        }
        b'x' => {
            let n = match d.count {
                Count::Default => 1,
                Count::N(n) => n,
                Count::Star => 0,
            };
            src.room(n)?;
            fill(out, n, 0).map_err(|e| src.error(e))?;
        }
        b'X' => {
            let n = match d.count {
                Count::Default => 1,
                Count::N(n) => n,
                Count::Star => 0,
            };
            if out.len() - base < n {
                return Err(src.error(argument("X outside of string")));
            }
            out.truncate(out.len() - n);
        }
        _ => {
            // `@`: an absolute position.
            let n = match d.count {
                Count::Default => 1,
                Count::N(n) => n,
                Count::Star => 0,
            };
            src.room(n)?;
            fill(out, (base + n).saturating_sub(out.len()), 0).map_err(|e| src.error(e))?;
            out.truncate(base + n);
        }
    }
    Ok(())
}

fn pause<S: PackSource>(at: usize, src: &mut S) -> Result<(), S::Err> {
    if at % STRIDE == STRIDE - 1 { src.poll() } else { Ok(()) }
}

fn low_bits(v: &Int) -> u64 {
    match v {
        Int::Small(i) => *i as u64,
        Int::Big(b) => {
            let low = b.magnitude().iter_u64_digits().next().unwrap_or(0);
            if b.sign() == Sign::Minus { low.wrapping_neg() } else { low }
        }
    }
}

/// Code points up to 31 bits in the original six-byte UTF-8, as CRuby packs them.
fn wide_utf8(c: u32, out: &mut Vec<u8>) {
    let tail = |n: u32| 0x80 | (c >> (6 * n) & 0x3f) as u8;
    match c {
        0..=0x7f => out.push(c as u8),
        0x80..=0x7ff => out.extend([0xc0 | (c >> 6) as u8, tail(0)]),
        0x800..=0xffff => out.extend([0xe0 | (c >> 12) as u8, tail(1), tail(0)]),
        0x1_0000..=0x1f_ffff => out.extend([0xf0 | (c >> 18) as u8, tail(2), tail(1), tail(0)]),
        0x20_0000..=0x3ff_ffff => out.extend([0xf8 | (c >> 24) as u8, tail(3), tail(2), tail(1), tail(0)]),
        _ => out.extend([0xfc | (c >> 30) as u8, tail(4), tail(3), tail(2), tail(1), tail(0)]),
    }
}

fn line_length(count: Count, default: usize) -> usize {
    match count {
        Count::N(n) if n > 2 => n / 3 * 3,
        _ => default,
    }
}

/// `b B h H`: bits or nibbles from the characters of `s`, `n` of them.
fn digits(kind: u8, s: &[u8], out: &mut Vec<u8>) {
    let bits = if kind | 32 == b'b' { 1 } else { 4 };
    let per_byte = 8 / bits;
    let high_first = kind.is_ascii_uppercase();
    let value = |c: u8| match (bits, c) {
        (1, c) => c & 1,
        (_, c) if c.is_ascii_alphabetic() => ((c & 15) + 9) & 15,
        (_, c) => c & 15,
    };
    for group in s.chunks(per_byte) {
        let mut byte = 0;
        for (i, &c) in group.iter().enumerate() {
            let place = if high_first { per_byte - 1 - i } else { i };
            byte |= value(c) << (place * bits);
        }
        out.push(byte);
    }
}

/// One result of [`unpack`].
#[derive(Clone, Debug, PartialEq)]
pub enum Unpacked {
    Nil,
    Int(Int),
    Float(f64),
    Bytes(Vec<u8>, Encoding),
    /// What `p` or `P` packed: the String at the address, or as many bytes of it.
    Pointer(u64, Option<usize>),
}

/// The caller's side of `unpack`. Asked each `STRIDE` bytes of long text; values it counts itself.
pub trait UnpackSink: Progress {
    /// Takes a value; false stops (`unpack1`).
    fn take(&mut self, value: Unpacked) -> bool;
}

/// A sink without a VM.
pub struct Each<F>(pub F);
impl<F> Progress for Each<F> {
    fn poll(&mut self) -> Result<(), Stopped> {
        Ok(())
    }
}
impl<F: FnMut(Unpacked) -> bool> UnpackSink for Each<F> {
    fn take(&mut self, value: Unpacked) -> bool {
        (self.0)(value)
    }
}

/// `String#unpack` from byte `offset`.
///
/// # Errors
/// [`PackError`] for templates and text that don't fit.
pub fn unpack(template: &[u8], s: &[u8], offset: usize, sink: &mut dyn UnpackSink) -> Result<(), PackError> {
    if offset > s.len() {
        return Err(argument("offset outside of string"));
    }
    let mut t = Template { s: template, at: 0 };
    let mut at = offset;
    while let Some(d) = t.next()? {
        let left = s.len() - at;
        let length = |default: usize| match d.count {
            Count::Default => default,
            Count::N(n) => n,
            Count::Star => left,
        };
        if let Some((size, big, signed)) = int_layout(&d) {
            if !for_each_fixed(s, &mut at, size, d.count, sink, |b| Unpacked::Int(int_value(b, big, signed))) {
                return Ok(());
            }
            continue;
        }
        if let Some((single, big)) = float_layout(d.kind) {
            if !for_each_fixed(s, &mut at, if single { 4 } else { 8 }, d.count, sink, |b| Unpacked::Float(float_value(b, single, big))) {
                return Ok(());
            }
            continue;
        }
        let value = match d.kind {
            b'a' | b'A' | b'Z' => {
                let n = length(1).min(left);
                let mut v = &s[at..at + n];
                at += n;
                match d.kind {
                    b'A' => v = &v[..v.iter().rposition(|b| !matches!(b, b' ' | 0)).map_or(0, |i| i + 1)],
                    b'Z' => {
                        if let Some(i) = memchr::memchr(0, v) {
                            if d.count == Count::Star {
                                at = at - n + i + 1;
                            }
                            v = &v[..i];
                        }
                    }
                    _ => {}
                }
                Unpacked::Bytes(v.to_vec(), Encoding::BINARY)
            }
            b'b' | b'B' | b'h' | b'H' => {
                let bits = if d.kind | 32 == b'b' { 1 } else { 4 };
                let per_byte = 8 / bits;
                let n = match d.count {
                    Count::Star => left * per_byte,
                    Count::Default => 1.min(left * per_byte),
                    Count::N(n) => n.min(left * per_byte),
                };
                let mut v = Vec::with_capacity(n);
                for i in 0..n {
                    step(i, sink)?;
                    let byte = s[at + i / per_byte];
                    let place = if d.kind.is_ascii_uppercase() { per_byte - 1 - i % per_byte } else { i % per_byte };
                    v.push(b"0123456789abcdef"[(byte >> (place * bits)) as usize & ((1 << bits) - 1)]);
                }
                at += n.div_ceil(per_byte);
                Unpacked::Bytes(v, Encoding::US_ASCII)
            }
            b'U' => {
                let mut n = length(1);
                while n > 0 && at < s.len() {
                    let (c, len) = wide_value(&s[at..])?;
                    at += len;
                    n -= 1;
                    if !sink.take(Unpacked::Int(Int::Small(c as i64))) {
                        return Ok(());
                    }
                }
                continue;
            }
            b'p' | b'P' => {
                let (times, most) = if d.kind == b'P' { (1, Some(length(1))) } else { (length(1), None) };
                for _ in 0..times {
                    let Some(b) = s.get(at..at + 8) else { break };
                    at += 8;
                    let address = b.iter().rev().fold(0, |n, b| n << 8 | *b as u64);
                    if !sink.take(Unpacked::Pointer(address, most)) {
                        return Ok(());
                    }
                }
                continue;
            }
            b'w' => {
                let mut n = length(1);
                let mut groups: Vec<u8> = Vec::new();
                while n > 0 && at < s.len() {
                    step(at, sink)?;
                    groups.push(s[at] & 0x7f);
                    at += 1;
                    if s[at - 1] & 0x80 == 0 {
                        let v = crate::big::from_digits(&groups, 128, sink)?;
                        groups.clear();
                        n -= 1;
                        if !sink.take(Unpacked::Int(Int::from_big(BigInt::from(v)))) {
                            return Ok(());
                        }
                    }
                }
                continue;
            }
            b'm' => {
                let v = from_base64(&s[at..], d.count == Count::N(0), sink)?;
                at = s.len();
                Unpacked::Bytes(v, Encoding::BINARY)
            }
            b'u' => {
                let v = from_uu(s, &mut at, sink)?;
                Unpacked::Bytes(v, Encoding::BINARY)
            }
            b'M' => {
                let v = from_quoted_printable(&s[at..], sink)?;
                at = s.len();
                Unpacked::Bytes(v, Encoding::BINARY)
            }
            b'x' => {
                let n = length(1);
                if n > left {
                    return Err(argument("x outside of string"));
                }
                at += n;
                continue;
            }
            b'X' => {
                let n = length(1);
                if n > at {
                    return Err(argument("X outside of string"));
                }
                at -= n;
                continue;
            }
            _ => {
                let n = length(0);
                if offset + n > s.len() {
                    return Err(argument("@ outside of string"));
                }
                at = offset + n;
                continue;
            }
        };
        if !sink.take(value) {
            return Ok(());
        }
    }
    Ok(())
}

/// Values of a fixed size; a count that asks for more than there is yields nils, a star does not. False: stopped.
fn for_each_fixed(
    s: &[u8],
    at: &mut usize,
    size: usize,
    count: Count,
    sink: &mut dyn UnpackSink,
    value: impl Fn(&[u8]) -> Unpacked,
) -> bool {
    let available = (s.len() - *at) / size;
    let wanted = match count {
        Count::Default => 1,
        Count::N(n) => n,
        Count::Star => available,
    };
    for i in 0..wanted {
        let v = if i < available { value(&s[*at..*at + size]) } else { Unpacked::Nil };
        *at += if i < available { size } else { 0 };
        if !sink.take(v) {
            return false;
        }
    }
    true
}

fn int_value(b: &[u8], big: bool, signed: bool) -> Int {
    let mut bytes = [0u8; 8];
    for (i, &x) in b.iter().enumerate() {
        bytes[if big { b.len() - 1 - i } else { i }] = x;
    }
    let v = u64::from_le_bytes(bytes);
    let unused = 64 - 8 * b.len() as u32;
    if signed { Int::Small((v << unused) as i64 >> unused) } else { v.to_i64().map_or_else(|| Int::Big(BigInt::from(v)), Int::Small) }
}

fn float_value(b: &[u8], single: bool, big: bool) -> f64 {
    let mut bytes = [0u8; 8];
    for (i, &x) in b.iter().enumerate() {
        bytes[if big { b.len() - 1 - i } else { i }] = x;
    }
    if single { f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as f64 } else { f64::from_le_bytes(bytes) }
}

/// A character of the original UTF-8 (up to six bytes).
fn wide_value(s: &[u8]) -> Result<(u32, usize), PackError> {
    if let Some(found) = utf8::decode(s) {
        return Ok(found);
    }
    let b = s[0];
    let len = match b {
        0..=0x7f => 1,
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf7 => 4,
        0xf8..=0xfb => 5,
        0xfc..=0xfd => 6,
        _ => return Err(argument("malformed UTF-8 character")),
    };
    if s.len() < len {
        return Err(argument(format!("malformed UTF-8 character (expected {len} bytes, given {} bytes)", s.len())));
    }
    let mut c = (b & (0x7f >> len)) as u32;
    for &t in &s[1..len] {
        if t & 0xc0 != 0x80 {
            return Err(argument("malformed UTF-8 character"));
        }
        c = c << 6 | (t & 0x3f) as u32;
    }
    let least = [0, 0, 0x80, 0x800, 0x1_0000, 0x20_0000, 0x400_0000][len];
    if c < least {
        return Err(argument("redundant UTF-8 sequence"));
    }
    Ok((c, len))
}
