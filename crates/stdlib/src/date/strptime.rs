//! `Date._strptime`: text read by a format.
//!
//! A directive that is followed by another number takes no more digits than its width; others take what there is. Names are English, in any case of letters.

use super::elements::{Elements, Key};
use super::zone;
use zakuro_base::progress::{Pace, STRIDE};
use zakuro_text::int::{self, Int};
use zakuro_vm::held::Held;
use zakuro_vm::*;

pub const DAYS: [&[u8]; 7] = [b"sunday", b"monday", b"tuesday", b"wednesday", b"thursday", b"friday", b"saturday"];
pub const MONTHS: [&[u8]; 12] =
    [b"january", b"february", b"march", b"april", b"may", b"june", b"july", b"august", b"september", b"october", b"november", b"december"];

/// A text on its way through a format.
struct Scan<'a> {
    s: &'a [u8],
    at: usize,
    encoding: u8,
    /// Where the last byte is that is not ASCII, plus 1; 0 without one. None before it was looked for.
    ascii_from: Option<usize>,
    found: Elements,
    /// `%C`, or the century that two digits mean.
    century: Value,
    /// Hours to add after noon, when `%p` was there.
    half_day: Option<i64>,
    pace: Pace,
}

/// As the C library's, in its own locale.
fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t'..=b'\r')
}

/// The number that starts a format with a digit or a directive of digits.
fn starts_with_number(f: &[u8]) -> bool {
    let f = match f {
        [b'0'..=b'9', ..] => return true,
        [b'%', b'E' | b'O', rest @ ..] | [b'%', rest @ ..] => rest,
        _ => return false,
    };
    f.first().is_some_and(|c| c.is_ascii_digit() || b"CDdeFGgHIjkLlMmNQRrSsTUuVvWwXxYy".contains(c))
}

/// Index of a name that a text begins with, and the bytes of it that are there: the whole name, or its first three.
pub fn name_at(s: &[u8], names: &[&[u8]]) -> Option<(i64, usize)> {
    let first = s.get(..3)?;
    let i = names.iter().position(|n| n[..3].eq_ignore_ascii_case(first))?;
    let whole = s.get(..names[i].len()).is_some_and(|s| s.eq_ignore_ascii_case(names[i]));
    Some((i as i64, if whole { names[i].len() } else { 3 }))
}

/// A fraction of digits behind a point.
pub fn fraction(cx: &mut Cx, digits: &[u8], negative: bool) -> Result<Value> {
    if digits.len() > 17 {
        let n = integer(cx, digits, negative)?;
        let date = super::date_class(cx)?;
        let size = cx.int(digits.len() as i64);
        return cx.call(date, Sym::intern("__fraction"), &[n, size]);
    }
    let n = digits.iter().fold(0i64, |n, d| n * 10 + i64::from(d - b'0'));
    Ok(ratio(cx, if negative { -n } else { n }, 10i64.pow(digits.len() as u32)))
}

/// A Rational of numbers of everyday size.
pub fn ratio(cx: &Cx, n: i64, d: i64) -> Value {
    let g = num_integer::gcd(n, d);
    let (n, d) = (cx.int(n / g), cx.int(d / g));
    PairCell::make(&cx.heap, ids::RATIONAL, Kind::Rational, n, d)
}

pub fn integer(cx: &mut Cx, digits: &[u8], negative: bool) -> Result<Value> {
    if digits.len() <= 18 {
        let n = digits.iter().fold(0i64, |n, d| n * 10 + i64::from(d - b'0'));
        return Ok(cx.int(if negative { -n } else { n }));
    }
    Ok(match int::from_digits(digits, 10, negative, cx)? {
        Int::Small(i) => cx.int(i),
        Int::Big(b) => cx.big(b),
    })
}

impl<'a> Scan<'a> {
    fn peek(&self) -> Option<u8> {
        self.s.get(self.at).copied()
    }
    fn eat(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }
    fn skip_spaces(&mut self, cx: &mut Cx) -> Result<()> {
        self.at = run(self.s, self.at, usize::MAX, is_space, cx)?;
        Ok(())
    }
    /// As many digits as there are, at most `most`; None without any.
    fn digits(&mut self, most: usize, cx: &mut Cx) -> Result<Option<&'a [u8]>> {
        let from = self.at;
        self.at = run(self.s, from, most, |b| b.is_ascii_digit(), cx)?;
        Ok(if self.at > from { Some(&self.s[from..self.at]) } else { None })
    }
    /// A number of few digits within a range.
    fn small(&mut self, most: usize, low: i64, high: i64) -> Option<i64> {
        let mut n = 0;
        let from = self.at;
        while self.at - from < most
            && let Some(d @ b'0'..=b'9') = self.peek()
        {
            n = n * 10 + i64::from(d - b'0');
            self.at += 1;
        }
        (self.at > from && (low..=high).contains(&n)).then_some(n)
    }
    /// Two places, of which the first may be blank.
    fn padded(&mut self, low: i64, high: i64) -> Option<i64> {
        let most = if self.eat(b' ') { 1 } else { 2 };
        self.small(most, low, high)
    }
    fn put(&mut self, key: Key, n: Option<i64>) -> bool {
        if let Some(n) = n {
            self.found.set_int(key, n);
        }
        n.is_some()
    }
    fn sign(&mut self) -> bool {
        let negative = self.peek() == Some(b'-');
        self.at += usize::from(negative || self.peek() == Some(b'+'));
        negative
    }
    /// Zones are looked for in ASCII alone.
    fn must_be_ascii(&mut self, cx: &mut Cx) -> Result<()> {
        let from = match self.ascii_from {
            Some(from) => from,
            None => {
                let mut end = self.s.len();
                while end > self.at && self.s[end.saturating_sub(STRIDE)..end].is_ascii() {
                    end = end.saturating_sub(STRIDE);
                    cx.safepoint()?;
                }
                let from = self.s[end.saturating_sub(STRIDE)..end].iter().rposition(|b| !b.is_ascii());
                *self.ascii_from.insert(from.map_or(0, |i| end.saturating_sub(STRIDE) + i + 1))
            }
        };
        if self.at < from { cx.arg_error("invalid byte sequence in US-ASCII") } else { Ok(()) }
    }
    fn text(&self, cx: &Cx, from: usize, to: usize) -> Value {
        cx.str_bytes(&self.s[from..to], self.encoding)
    }

    /// Follows a format; false where the text does not.
    fn follow(&mut self, cx: &mut Cx, format: &[u8]) -> Result<bool> {
        let mut f = 0;
        while let Some(&c) = format.get(f) {
            self.pace.at(self.at + f, cx)?;
            f += 1;
            if is_space(c) {
                self.skip_spaces(cx)?;
                continue;
            }
            if c != b'%' {
                if !self.eat(c) {
                    return Ok(false);
                }
                continue;
            }
            let (directive, used) = match &format[f..] {
                [b'E', c @ (b'c' | b'C' | b'x' | b'X' | b'y' | b'Y'), ..] => (*c, 2),
                [b'O', c @ (b'd' | b'e' | b'H' | b'I' | b'm' | b'M' | b'S' | b'u' | b'U' | b'V' | b'w' | b'W' | b'y'), ..] => (*c, 2),
                [b':', b'z', ..] => (b'z', 2),
                [b':', b':', b'z', ..] => (b'z', 3),
                [b':', b':', b':', b'z', ..] => (b'z', 4),
                // What stands for itself: the sign, then what is behind it.
                [b'E' | b'O' | b':', ..] => (b'%', 0),
                [c, ..] => (*c, 1),
                [] => (b'%', 0),
            };
            f += used;
            // Even what asks for no more than room needs something to look at.
            if self.at >= self.s.len() {
                return Ok(false);
            }
            if !self.directive(cx, directive, &format[f..])? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn directive(&mut self, cx: &mut Cx, c: u8, behind: &[u8]) -> Result<bool> {
        // A number that is followed by another takes no more digits than it has to.
        let most = |tight: usize| if starts_with_number(behind) { tight } else { usize::MAX };
        Ok(match c {
            b'A' | b'a' | b'B' | b'b' | b'h' => {
                let (key, names, first): (_, &[&[u8]], _) = if c & !32 == b'A' { (Key::Wday, &DAYS, 0) } else { (Key::Mon, &MONTHS, 1) };
                let Some((i, n)) = name_at(&self.s[self.at..], names) else { return Ok(false) };
                self.at += n;
                self.put(key, Some(i + first))
            }
            b'C' => {
                let Some(d) = self.digits(most(2), cx)? else { return Ok(false) };
                self.century = integer(cx, d, false)?;
                true
            }
            b'c' => self.follow(cx, b"%a %b %e %H:%M:%S %Y")?,
            b'D' | b'x' => self.follow(cx, b"%m/%d/%y")?,
            b'd' | b'e' => {
                let n = self.padded(1, 31);
                self.put(Key::Mday, n)
            }
            b'F' => self.follow(cx, b"%Y-%m-%d")?,
            b'G' | b'Y' => {
                let negative = c == b'Y' && self.sign();
                let Some(d) = self.digits(most(4), cx)? else { return Ok(false) };
                let n = integer(cx, d, negative)?;
                self.found.set(if c == b'G' { Key::Cwyear } else { Key::Year }, n);
                true
            }
            b'g' | b'y' => {
                let Some(n) = self.small(2, 0, 99) else { return Ok(false) };
                if self.century.is_nil() {
                    self.century = Value::fixnum(if n >= 69 { 19 } else { 20 });
                }
                self.put(if c == b'g' { Key::Cwyear } else { Key::Year }, Some(n))
            }
            b'H' | b'k' => {
                let n = self.padded(0, 24);
                self.put(Key::Hour, n)
            }
            b'I' | b'l' => {
                let n = self.padded(1, 12);
                self.put(Key::Hour, n)
            }
            b'j' => {
                let n = self.small(3, 1, 366);
                self.put(Key::Yday, n)
            }
            b'L' | b'N' => {
                let negative = self.sign();
                let Some(d) = self.digits(most(if c == b'L' { 3 } else { 9 }), cx)? else { return Ok(false) };
                let n = fraction(cx, d, negative)?;
                self.found.set(Key::SecFraction, n);
                true
            }
            b'M' => {
                let n = self.small(2, 0, 59);
                self.put(Key::Min, n)
            }
            b'm' => {
                let n = self.small(2, 1, 12);
                self.put(Key::Mon, n)
            }
            b'n' | b't' => {
                self.skip_spaces(cx)?;
                true
            }
            b'P' | b'p' => {
                let hours = match &self.s[self.at..] {
                    [b'A' | b'a', ..] => 0,
                    [b'P' | b'p', ..] => 12,
                    _ => return Ok(false),
                };
                self.at += match &self.s[self.at + 1..] {
                    [b'M' | b'm', ..] => 2,
                    [b'.', b'M' | b'm', b'.', ..] => 4,
                    _ => return Ok(false),
                };
                self.half_day = Some(hours);
                true
            }
            b'Q' | b's' => {
                let negative = self.eat(b'-');
                let Some(d) = self.digits(usize::MAX, cx)? else { return Ok(false) };
                let n = integer(cx, d, negative)?;
                let n = match (c, n.as_fixnum()) {
                    (b's', _) => n,
                    (_, Some(n)) => ratio(cx, n, 1000),
                    _ => {
                        let date = super::date_class(cx)?;
                        cx.call(date, Sym::intern("__fraction"), &[n, Value::fixnum(3)])?
                    }
                };
                self.found.set(Key::Seconds, n);
                true
            }
            b'R' => self.follow(cx, b"%H:%M")?,
            b'r' => self.follow(cx, b"%I:%M:%S %p")?,
            b'S' => {
                let n = self.small(2, 0, 60);
                self.put(Key::Sec, n)
            }
            b'T' | b'X' => self.follow(cx, b"%H:%M:%S")?,
            b'U' | b'W' => {
                let n = self.small(2, 0, 53);
                self.put(if c == b'U' { Key::Wnum0 } else { Key::Wnum1 }, n)
            }
            b'u' => {
                let n = self.small(1, 1, 7);
                self.put(Key::Cwday, n)
            }
            b'V' => {
                let n = self.small(2, 1, 53);
                self.put(Key::Cweek, n)
            }
            b'v' => self.follow(cx, b"%e-%b-%Y")?,
            b'w' => {
                let n = self.small(1, 0, 6);
                self.put(Key::Wday, n)
            }
            b'Z' | b'z' => {
                self.must_be_ascii(cx)?;
                let Some(to) = zone::end(self.s, self.at, cx)? else { return Ok(false) };
                let text = self.text(cx, self.at, to);
                let offset = zone::offset(cx, &self.s[self.at..to], text)?;
                self.at = to;
                self.found.set(Key::Zone, text);
                self.found.set(Key::Offset, offset);
                true
            }
            b'%' => self.eat(b'%'),
            b'+' => self.follow(cx, b"%a %b %e %H:%M:%S %Z %Y")?,
            c => self.eat(b'%') && self.eat(c),
        })
    }
}

/// The end of a run of bytes of a kind, of at most so many.
pub fn run(s: &[u8], mut at: usize, most: usize, kind: impl Fn(u8) -> bool, cx: &mut Cx) -> Result<usize> {
    let end = s.len().min(at.saturating_add(most));
    while at < end {
        let piece = &s[at..end.min(at + STRIDE)];
        match piece.iter().position(|b| !kind(*b)) {
            Some(n) => return Ok(at + n),
            None => at += piece.len(),
        }
        if at < end {
            cx.safepoint()?;
        }
    }
    Ok(at)
}

/// What a text tells by a format; None where it does not follow it.
pub fn strptime(cx: &mut Cx, s: Ref<StringCell>, format: &[u8]) -> Result<Option<Elements>> {
    let text = Held::of(s);
    let mut scan = Scan {
        s: &text,
        at: 0,
        encoding: s.encoding(),
        ascii_from: if s.is_ascii() { Some(0) } else { None },
        found: Elements::new(),
        century: Value::NIL,
        half_day: None,
        pace: Pace::new(),
    };
    if !scan.follow(cx, format)? {
        return Ok(None);
    }
    if scan.at < text.len() {
        let rest = scan.text(cx, scan.at, text.len());
        scan.found.set(Key::Leftover, rest);
    }
    if !scan.century.is_nil() {
        for key in [Key::Cwyear, Key::Year] {
            let year = scan.found.get(key);
            if !year.is_nil() {
                let y = match (cx.as_big(year), cx.as_big(scan.century)) {
                    (Some(y), Some(c)) => cx.big(y + c * 100),
                    _ => year,
                };
                scan.found.set(key, y);
            }
        }
    }
    if let (Some(add), Some(hour)) = (scan.half_day, scan.found.get(Key::Hour).as_fixnum()) {
        scan.found.set_int(Key::Hour, hour % 12 + add);
    }
    Ok(Some(scan.found))
}
