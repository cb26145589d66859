//! String: conversion to numbers. Each reads the longest prefix that is a number; no number is zero.

use super::util::*;
use num_bigint::BigInt;
use zakuro_base::progress::step;
use zakuro_macros::ruby_class;
use zakuro_text::float::parse_float;
use zakuro_text::big;
use zakuro_text::int::{Int, IntError, from_digits, parse_prefix};
use zakuro_vm::*;

fn check_ascii(cx: &mut Cx, s: Str) -> Result<()> {
    if enc(s).is_ascii_compatible() {
        return Ok(());
    }
    let name = enc(s).name();
    cx.raise(ids::COMPAT_ERROR, format!("ASCII incompatible encoding: {name}"))
}

fn integer(cx: &mut Cx, s: Str, base: i32) -> Result<Value> {
    check_ascii(cx, s)?;
    match parse_prefix(&Held::of(s), base, cx) {
        Ok(i) => Ok(int_value(cx, i)),
        Err(IntError::Stopped) => Err(Exc),
        Err(IntError::Radix | IntError::Invalid) => cx.arg_error(format!("invalid radix {base}")),
    }
}

/// A reader of the number grammar that `to_r` and `to_c` share.
struct Reader<'a> {
    s: &'a [u8],
    at: usize,
}

/// sign * digits * 10**exp / den
struct Number {
    digits: Int,
    exp: i64,
    den: Option<BigInt>,
    /// Had a point or an exponent.
    float: bool,
    /// Of a Float.
    text: Vec<u8>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.s.get(self.at).copied()
    }
    fn space(&mut self) {
        while self.peek().is_some_and(|b| matches!(b, b' ' | b'\t'..=b'\r')) {
            self.at += 1;
        }
    }
    fn sign(&mut self) -> Option<bool> {
        let negative = match self.peek()? {
            b'-' => true,
            b'+' => false,
            _ => return None,
        };
        self.at += 1;
        Some(negative)
    }
    /// Digits with single underscores between them.
    fn digits(&mut self, p: &mut Cx) -> Result<Option<Vec<u8>>> {
        let mut out = Vec::new();
        while let Some(b) = self.peek() {
            step(self.at, p)?;
            if b.is_ascii_digit() {
                out.push(b);
            } else if !(b == b'_' && !out.is_empty() && self.s.get(self.at + 1).is_some_and(u8::is_ascii_digit)) {
                break;
            }
            self.at += 1;
        }
        Ok((!out.is_empty()).then_some(out))
    }
    /// `e` and a number, as far as that may be; None (and nothing read) when there is none.
    fn exponent(&mut self, p: &mut Cx) -> Result<Option<i64>> {
        if self.peek().is_none_or(|b| b | 32 != b'e') {
            return Ok(None);
        }
        let mark = self.at;
        self.at += 1;
        let down = self.sign() == Some(true);
        let Some(digits) = self.digits(p)? else {
            self.at = mark;
            return Ok(None);
        };
        let n = String::from_utf8_lossy(&digits).parse::<i64>().unwrap_or(i64::MAX / 4).min(i64::MAX / 4);
        Ok(Some(if down { -n } else { n }))
    }
    /// Unsigned number; None (and nothing read) when there is none. `exact`: a Rational is wanted.
    fn number(&mut self, negative: bool, exact: bool, p: &mut Cx) -> Result<Option<Number>> {
        let mut digits = match self.digits(p)? {
            Some(d) => d,
            None if self.peek() == Some(b'.') && self.s.get(self.at + 1).is_some_and(u8::is_ascii_digit) => b"0".to_vec(),
            None => return Ok(None),
        };
        let whole = digits.len();
        let (mut exp, mut float) = (0i64, false);
        if self.peek() == Some(b'.') && self.s.get(self.at + 1).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
            if let Some(f) = self.digits(p)? {
                exp -= f.len() as i64;
                digits.extend_from_slice(&f);
                float = true;
            }
        }
        let power = self.exponent(p)?;
        if let Some(n) = power {
            exp += n;
            float = true;
        }
        let mut den = None;
        if self.peek() == Some(b'/') && self.s.get(self.at + 1).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
            if let Some(mut d) = self.digits(p)? {
                if exact && self.peek() == Some(b'.') && self.s.get(self.at + 1).is_some_and(u8::is_ascii_digit) {
                    self.at += 1;
                    let places = self.digits(p)?.unwrap_or_default();
                    exp = exp.saturating_add(places.len() as i64);
                    d.extend(places);
                }
                if exact && let Some(n) = self.exponent(p)? {
                    exp = exp.saturating_sub(n);
                }
                den = Some(from_digits(&d, 10, false, p)?.to_big());
            }
        }
        let mut text = Vec::new();
        // Of a Float the text is read.
        let n = if float && !exact && den.is_none() {
            text.extend(negative.then_some(b'-'));
            text.extend_from_slice(&digits[..whole]);
            if digits.len() > whole {
                text.push(b'.');
                text.extend_from_slice(&digits[whole..]);
            }
            if let Some(n) = power {
                text.extend_from_slice(format!("e{n}").as_bytes());
            }
            Int::Small(0)
        } else {
            from_digits(&digits, 10, negative, p)?
        };
        Ok(Some(Number { digits: n, exp, den, float, text }))
    }
}

/// Digits of numbers whose product is a fixnum.
const SHORT: usize = 9;

/// The Rational in lowest terms at the beginning of a text that is plain and short: digits, perhaps with a point or a denominator. None: it takes a [`Reader`].
fn short_rational(text: &[u8]) -> Option<(i64, i64)> {
    let (negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] | rest => (false, rest),
    };
    let (mut n, count) = short_digits(text)?;
    let (mut rest, mut den) = (&text[count..], 1);
    if let [b'.', places @ ..] = rest {
        let (f, count) = short_digits(places)?;
        den = 10i64.pow(count as u32);
        n = n * den + f;
        rest = &places[count..];
    }
    if let [b'/', below @ ..] = rest {
        let (d, count) = short_digits(below).filter(|d| d.0 != 0)?;
        den *= d;
        rest = &below[count..];
        if let [b'.', ..] = rest {
            return None;
        }
    }
    if let [b'_' | b'e' | b'E', ..] = rest {
        return None;
    }
    let (mut a, mut b) = (n, den);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    let n = if negative { -n } else { n };
    Some((n / a, den / a))
}

/// The number that up to [`SHORT`] digits make, and how many they are; None for no digits, and more of them.
fn short_digits(text: &[u8]) -> Option<(i64, usize)> {
    let count = text.iter().take(SHORT + 1).take_while(|b| b.is_ascii_digit()).count();
    let n = text[..count].iter().fold(0, |n, b| n * 10 + (b - b'0') as i64);
    (1..=SHORT).contains(&count).then_some((n, count))
}

/// Decimal places that a Rational may have: as many as a power of Integers may (268 million bits).
const MAX_EXP: i64 = 80_000_000;

impl Number {
    fn rational(self, cx: &mut Cx) -> Result<Value> {
        let nothing = self.digits == Int::Small(0) && self.den.as_ref().is_none_or(|d| *d != BigInt::ZERO);
        if nothing {
            return Ok(PairCell::make(&cx.heap, ids::RATIONAL, Kind::Rational, Value::fixnum(0), Value::fixnum(1)));
        }
        if self.exp > MAX_EXP {
            return cx.raise(ids::FLOAT_DOMAIN_ERROR, "Infinity");
        }
        let (mut num, mut den) = (self.digits.to_big(), self.den.unwrap_or_else(|| BigInt::from(1)));
        if self.exp < -MAX_EXP {
            num = BigInt::from(0);
        } else if self.exp >= 0 {
            num = big::mul(&num, &big::pow10(self.exp as u32, cx)?.into(), cx)?;
        } else {
            den = big::mul(&den, &big::pow10(-self.exp as u32, cx)?.into(), cx)?;
        }
        let (n, d) = (cx.big(num), cx.big(den));
        let main = cx.main;
        cx.call(main, Sym::intern("Rational"), &[n, d])
    }
    /// Integer, Float or Rational, as written.
    fn value(self, cx: &mut Cx) -> Result<Value> {
        if self.den.is_some() {
            return self.rational(cx);
        }
        if self.float {
            let f = parse_float(&self.text, false).unwrap_or(0.0);
            return Ok(cx.float(f));
        }
        Ok(int_value(cx, self.digits))
    }
}

fn complex(cx: &mut Cx, s: Str) -> Result<Value> {
    let text = s.to_vec();
    let mut r = Reader { s: &text, at: 0 };
    r.space();
    let is_unit = |r: &Reader<'_>| r.peek().is_some_and(|b| matches!(b, b'i' | b'I' | b'j' | b'J'));
    let one = |negative: bool| Value::fixnum(if negative { -1 } else { 1 });
    let zero = Value::fixnum(0);
    let sign = r.sign();
    let first = match r.number(sign == Some(true), false, cx)? {
        Some(n) => n.value(cx)?,
        None if sign.is_some() && is_unit(&r) => return make_complex(cx, zero, one(sign == Some(true))),
        None if is_unit(&r) => return make_complex(cx, zero, one(false)),
        None => return make_complex(cx, zero, zero),
    };
    if is_unit(&r) {
        return make_complex(cx, zero, first);
    }
    if r.peek() == Some(b'@') {
        r.at += 1;
        let sign = r.sign();
        if let Some(n) = r.number(sign == Some(true), false, cx)? {
            let angle = n.value(cx)?;
            let class = cx.class_value(ids::COMPLEX);
            return cx.call(class, Sym::intern("polar"), &[first, angle]);
        }
        return make_complex(cx, first, zero);
    }
    if let Some(negative) = r.sign() {
        let imaginary = match r.number(negative, false, cx)? {
            Some(n) => n.value(cx)?,
            None => one(negative),
        };
        if is_unit(&r) {
            return make_complex(cx, first, imaginary);
        }
    }
    make_complex(cx, first, zero)
}

fn make_complex(cx: &Cx, re: Value, im: Value) -> Result<Value> {
    Ok(PairCell::make(&cx.heap, ids::COMPLEX, Kind::Complex, re, im))
}

#[ruby_class(ids::STRING)]
pub mod numbers {
    use super::*;

    /// Integer at the beginning, in a base of 2 to 36.
    ///
    ///     "12abc".to_i       #=> 12
    ///     "ff".to_i(16)      #=> 255
    ///     "0b11".to_i(0)     #=> 3
    #[method("to_i")]
    fn to_i(cx: &mut Cx, this: Str, base: Option<i64>) -> Result<Value> {
        let base = base.unwrap_or(10);
        if base < 0 || base == 1 || base > 36 {
            return cx.arg_error(format!("invalid radix {base}"));
        }
        integer(cx, this, base as i32)
    }

    /// Hexadecimal number at the beginning.
    ///
    ///     "0xff".hex   #=> 255
    #[method("hex")]
    fn hex(cx: &mut Cx, this: Str) -> Result<Value> {
        integer(cx, this, 16)
    }

    /// Octal number at the beginning; a prefix sets another base.
    ///
    ///     "17".oct     #=> 15
    ///     "0x1f".oct   #=> 31
    #[method("oct")]
    fn oct(cx: &mut Cx, this: Str) -> Result<Value> {
        integer(cx, this, -8)
    }

    /// Float at the beginning.
    ///
    ///     "1.5e3x".to_f   #=> 1500.0
    #[method("to_f")]
    fn to_f(cx: &mut Cx, this: Str) -> Result<f64> {
        check_ascii(cx, this)?;
        Ok(parse_float(this.content(&cx.heap), false).unwrap_or(0.0))
    }

    /// Rational at the beginning.
    ///
    ///     "1/3".to_r    #=> (1/3)
    ///     "0.75".to_r   #=> (3/4)
    #[method("to_r")]
    fn to_r(cx: &mut Cx, this: Str) -> Result<Value> {
        check_ascii(cx, this)?;
        if let Some((n, d)) = short_rational(this.content(&cx.heap)) {
            return Ok(PairCell::make(&cx.heap, ids::RATIONAL, Kind::Rational, Value::fixnum(n), Value::fixnum(d)));
        }
        let text = this.to_vec();
        let mut r = Reader { s: &text, at: 0 };
        r.space();
        let negative = r.sign() == Some(true);
        match r.number(negative, true, cx)? {
            Some(n) => n.rational(cx),
            None => Number { digits: Int::Small(0), exp: 0, den: None, float: false, text: Vec::new() }.rational(cx),
        }
    }

    /// Complex at the beginning.
    ///
    ///     "1+2i".to_c   #=> (1+2i)
    ///     "3".to_c      #=> (3+0i)
    #[method("to_c")]
    fn to_c(cx: &mut Cx, this: Str) -> Result<Value> {
        check_ascii(cx, this)?;
        complex(cx, this)
    }
}
