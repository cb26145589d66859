//! Float to text, text to Float, and rounding to decimal digits, as Ruby does them.
//!
//! Shortest digits come from `zmij`; the layout (`1.0e+16`, decimal for 1e-4 <= |x| < 1e15, and up to 1e16 when a fraction needs it) is Ruby's own.
//! Parsing checks Ruby's grammar (underscores, prefixes, hex floats) and leaves correct rounding to std.
//! Rounding follows CRuby's two ways: scaled doubles up to 14 digits, exact rationals beyond.
//! Rejected: always exact rounding (`2.675.round(2)` would differ from CRuby).

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::Zero;

/// `Float#to_s`.
pub fn float_to_s(x: f64) -> String {
    if x.is_nan() {
        return "NaN".into();
    }
    if x.is_infinite() {
        return if x < 0.0 { "-Infinity" } else { "Infinity" }.into();
    }
    if x == 0.0 {
        return if x.is_sign_negative() { "-0.0" } else { "0.0" }.into();
    }
    let mut digits = [0u8; 20];
    let (len, point) = shortest(x, &mut digits);
    let digits = std::str::from_utf8(&digits[..len]).unwrap_or("0");
    let mut out = String::with_capacity(24);
    if x < 0.0 {
        out.push('-');
    }
    if (-3..=0).contains(&point) {
        out.push_str("0.");
        (0..-point).for_each(|_| out.push('0'));
        out.push_str(digits);
    } else if (1..=15).contains(&point) || (point == 16 && len > 16) {
        let point = point as usize;
        if len <= point {
            out.push_str(digits);
            (len..point).for_each(|_| out.push('0'));
            out.push_str(".0");
        } else {
            out.push_str(&digits[..point]);
            out.push('.');
            out.push_str(&digits[point..]);
        }
    } else {
        out.push_str(&digits[..1]);
        out.push('.');
        out.push_str(if len > 1 { &digits[1..] } else { "0" });
        let e = point - 1;
        out.push_str(if e < 0 { "e-" } else { "e+" });
        let e = e.unsigned_abs();
        if e < 10 {
            out.push('0');
        }
        out.push_str(&e.to_string());
    }
    out
}

/// Shortest digits of a finite nonzero `x` without leading or trailing zeros; the value is `0.DIGITS * 10**point`.
pub fn shortest(x: f64, digits: &mut [u8; 20]) -> (usize, i32) {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(x.abs()).as_bytes();
    let (mut len, mut point, mut seen_point, mut exp) = (0usize, 0i32, false, 0i32);
    let mut i = 0;
    while i < text.len() {
        match text[i] {
            b'.' => seen_point = true,
            b'e' | b'E' => {
                exp = std::str::from_utf8(&text[i + 1..]).ok().and_then(|s| s.parse().ok()).unwrap_or(0);
                break;
            }
            d => {
                if len == 0 && d == b'0' {
                    // Leading zeros carry no digit; after the point they move it.
                    point -= seen_point as i32;
                } else {
                    if len < digits.len() {
                        digits[len] = d;
                        len += 1;
                    }
                    point += !seen_point as i32;
                }
            }
        }
        i += 1;
    }
    while len > 1 && digits[len - 1] == b'0' {
        len -= 1;
    }
    (len, point + exp)
}

fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t'..=b'\r')
}

/// `String#to_f` (`strict` false: the longest valid prefix, never None) or `Float(str)` (`strict` true: None when
/// the text as a whole is no float). Underscores may separate digits; `Float()` also reads hex floats.
pub fn parse_float(s: &[u8], strict: bool) -> Option<f64> {
    let start = s.iter().position(|&b| !is_space(b)).unwrap_or(s.len());
    let mut s = &s[start..];
    if strict {
        let end = s.iter().rposition(|&b| !is_space(b)).map_or(0, |i| i + 1);
        s = &s[..end];
    }
    let body = s.strip_prefix(b"-").or_else(|| s.strip_prefix(b"+")).unwrap_or(s);
    if body.len() > 1 && body[0] == b'0' && body[1] | 32 == b'x' {
        // Documented: to_f reads no hex. (CRuby looks for the prefix before the sign only, so that "-0x1A".to_f slips
        // through there; that is not kept.)
        if !strict {
            return Some(0.0);
        }
        let (value, used) = hex_float(&body[2..])?;
        if used != body.len() - 2 {
            return None;
        }
        return Some(if s[0] == b'-' { -value } else { value });
    }
    let (text, used) = match decimal(body) {
        Some(found) => found,
        None if strict => return None,
        None => return Some(0.0),
    };
    if strict && used != body.len() {
        return None;
    }
    let value: f64 = text.parse().ok()?;
    Some(if s[0] == b'-' { -value } else { value })
}

/// Copies a run of digits (by `is`) with single inner underscores; returns the position after it.
fn digits(s: &[u8], mut i: usize, is: fn(u8) -> bool, out: &mut String) -> usize {
    while i < s.len() {
        if is(s[i]) {
            out.push(s[i] as char);
            i += 1;
        } else if s[i] == b'_' && i > 0 && is(s[i - 1]) && s.get(i + 1).is_some_and(|&b| is(b)) {
            i += 1;
        } else {
            break;
        }
    }
    i
}

fn is_digit(b: u8) -> bool {
    b.is_ascii_digit()
}

/// The longest decimal float at the start of `s`: its text without underscores, and the bytes used.
fn decimal(s: &[u8]) -> Option<(String, usize)> {
    let mut text = String::with_capacity(s.len().min(32));
    let mut i = digits_from(s, 0, &mut text);
    let whole = i > 0;
    if s.get(i) == Some(&b'.') {
        if s.get(i + 1).is_some_and(|&b| is_digit(b)) {
            text.push('.');
            i = digits_from(s, i + 1, &mut text);
        } else if whole && s.get(i + 1).is_none_or(|&b| b | 32 == b'e') {
            // Since Ruby 3.4 the digits after the point may be missing.
            i += 1;
        }
    }
    if i == 0 || text.is_empty() {
        return None;
    }
    if s.get(i).is_some_and(|&b| b | 32 == b'e') {
        let mut j = i + 1;
        let mut exp = String::from("e");
        if let Some(&sign @ (b'+' | b'-')) = s.get(j) {
            exp.push(sign as char);
            j += 1;
        }
        if s.get(j).is_some_and(|&b| is_digit(b)) {
            i = digits_from(s, j, &mut exp);
            text.push_str(&exp);
        }
    }
    Some((text, i))
}

fn digits_from(s: &[u8], i: usize, out: &mut String) -> usize {
    // A run never starts with an underscore: `digits` looks at the byte before it.
    if s.get(i).is_some_and(|&b| is_digit(b)) { digits(s, i, is_digit, out) } else { i }
}

/// Hex float after its `0x`: value and bytes used.
fn hex_float(s: &[u8]) -> Option<(f64, usize)> {
    fn is_hex(b: u8) -> bool {
        b.is_ascii_hexdigit()
    }
    let digit_at = |i: usize| s.get(i).is_some_and(|&b| is_hex(b));
    let mut text = String::new();
    // `0x.1` has no digits before the point.
    let mut i = match digit_at(0) {
        true => digits(s, 0, is_hex, &mut text),
        false if s.first() == Some(&b'.') => 0,
        false => return None,
    };
    let whole = text.len();
    if s.get(i) == Some(&b'.') {
        if digit_at(i + 1) {
            i = digits(s, i + 1, is_hex, &mut text);
        } else if s.get(i + 1).is_none_or(|&b| b | 32 == b'p') {
            // As of decimals, the digits after the point may be missing.
            i += 1;
        }
    }
    let mut exp = -4 * (text.len() - whole) as i64;
    if s.get(i).is_some_and(|&b| b | 32 == b'p') {
        let mut j = i + 1;
        let negative = s.get(j) == Some(&b'-');
        if matches!(s.get(j), Some(b'+' | b'-')) {
            j += 1;
        }
        let mut e = String::new();
        let end = digits_from(s, j, &mut e);
        if end > j {
            let e: i64 = e.parse().unwrap_or(1 << 40);
            exp += if negative { -e } else { e };
            i = end;
        }
    }
    // 60 bits and a sticky one decide the rounding.
    let (mut m, mut sticky) = (0u64, false);
    for d in text.bytes() {
        let d = (d as char).to_digit(16).unwrap_or(0) as u64;
        if m >> 58 == 0 {
            m = m << 4 | d;
        } else {
            sticky |= d != 0;
            exp += 4;
        }
    }
    Some((scale((m | sticky as u64) as f64, exp), i))
}

/// `x * 2**e` without early overflow or underflow.
pub(crate) fn scale(mut x: f64, e: i64) -> f64 {
    let mut e = e.clamp(-3000, 3000) as i32;
    while e > 1000 {
        x *= 2f64.powi(1000);
        e -= 1000;
    }
    while e < -900 {
        x *= 2f64.powi(-900);
        e += 900;
    }
    x * 2f64.powi(e)
}

/// How `round` treats a value half-way between two candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundHalf {
    Up,
    Even,
    Down,
}

/// Binary exponent as C's frexp: 0.5 <= |m| < 1.
fn frexp_exp(x: f64) -> i32 {
    let (m, e) = decompose(x);
    if m == 0 { 0 } else { e + (64 - m.leading_zeros() as i32) }
}

/// |x| = m * 2**e exactly, for finite x.
pub(crate) fn decompose(x: f64) -> (u64, i32) {
    let bits = x.to_bits();
    let e = (bits >> 52 & 0x7ff) as i32;
    let m = bits & ((1 << 52) - 1);
    if e == 0 { (m, -1074) } else { (m | 1 << 52, e - 1075) }
}

/// All 17 significant digits lie left of the wanted position: nothing to round.
fn all_digits_kept(ndigits: i32, binexp: i32) -> bool {
    ndigits >= 17 - if binexp > 0 { binexp / 4 } else { binexp / 3 - 1 }
}

fn rounds_to_zero(ndigits: i32, binexp: i32) -> bool {
    ndigits < -if binexp > 0 { binexp / 3 + 1 } else { binexp / 4 }
}

pub(crate) fn pow10(n: i32) -> f64 {
    // These are doubles.
    const EXACT: [f64; 16] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    if let Some(known) = usize::try_from(n).ok().and_then(|n| EXACT.get(n)) {
        return *known;
    }
    format!("1e{n}").parse().unwrap_or(f64::INFINITY)
}

/// `Float#round(ndigits, half:)` for `ndigits` > 0. With `ndigits` = 0 the result is integral: convert it.
pub fn float_round(x: f64, ndigits: i32, half: RoundHalf) -> f64 {
    if !x.is_finite() || x == 0.0 {
        return x;
    }
    let binexp = frexp_exp(x);
    if all_digits_kept(ndigits, binexp) {
        return x;
    }
    if rounds_to_zero(ndigits, binexp) {
        return 0.0;
    }
    if ndigits > 14 {
        return exactly(x, ndigits, |num, den| {
            let (q, r) = num.div_rem(den);
            let twice = r << 1u32;
            let up = match twice.cmp(den) {
                std::cmp::Ordering::Greater => true,
                std::cmp::Ordering::Less => false,
                std::cmp::Ordering::Equal => match half {
                    RoundHalf::Up => true,
                    RoundHalf::Down => false,
                    RoundHalf::Even => q.is_odd(),
                },
            };
            if up { q + 1u32 } else { q }
        });
    }
    let s = pow10(ndigits);
    let magnitude = x.abs();
    let xs = magnitude * s;
    let f = match half {
        RoundHalf::Up => {
            let f = xs.round();
            // x * s may have been rounded down across the half.
            if s != 1.0 && (f + 0.5) / s <= magnitude { f + 1.0 } else { f }
        }
        RoundHalf::Down => {
            let f = xs.round();
            if (f - 0.5) / s >= magnitude { f - 1.0 } else { f }
        }
        RoundHalf::Even => {
            let f = xs.floor();
            let d = xs - f;
            // A half by rounding of x * s only is no tie.
            if d > 0.5 || d == 0.5 && (f + 0.5) / s < magnitude {
                f + 1.0
            } else if d == 0.5 || (f + 0.5) / s <= magnitude {
                f + f % 2.0
            } else {
                f
            }
        }
    };
    (f / s).copysign(x)
}

/// Rounds |x| * 10**ndigits with `how`(numerator, denominator) and scales back, correctly rounded.
fn exactly(x: f64, ndigits: i32, how: impl Fn(&BigUint, &BigUint) -> BigUint) -> f64 {
    let (m, e) = decompose(x);
    let num = BigUint::from(m) * BigUint::from(10u32).pow(ndigits as u32);
    let q = if e >= 0 { how(&(num << e as u32), &BigUint::from(1u32)) } else { how(&num, &(BigUint::from(1u32) << (-e) as u32)) };
    let v: f64 = format!("{q}e-{ndigits}").parse().unwrap_or(0.0);
    // A Rational has no negative zero.
    if v == 0.0 { v } else { v.copysign(x) }
}

/// `Float#floor(ndigits)` for `ndigits` > 0.
pub fn float_floor(x: f64, ndigits: i32) -> f64 {
    toward(x, ndigits, false)
}

/// `Float#ceil(ndigits)` for `ndigits` > 0.
pub fn float_ceil(x: f64, ndigits: i32) -> f64 {
    toward(x, ndigits, true)
}

fn toward(x: f64, ndigits: i32, up: bool) -> f64 {
    if !x.is_finite() || x == 0.0 {
        return x;
    }
    let binexp = frexp_exp(x);
    if all_digits_kept(ndigits, binexp) {
        return x;
    }
    if (x < 0.0) == up && rounds_to_zero(ndigits, binexp) {
        return 0.0;
    }
    if ndigits > 14 {
        return exactly(x, ndigits, |num, den| if (x > 0.0) == up { num.div_ceil(den) } else { num.div_floor(den) });
    }
    let s = pow10(ndigits);
    // The neighbour may already be the nearest double to x, when x * s was rounded.
    if up {
        let f = (x * s).ceil();
        let lower = (f - 1.0) / s;
        if lower >= x { lower } else { f / s }
    } else {
        let f = (x * s).floor();
        let upper = (f + 1.0) / s;
        if upper <= x { upper } else { f / s }
    }
}

/// The integer part of a finite `x` (`Float#to_i`), exactly.
pub fn float_to_bigint(x: f64) -> BigInt {
    let (m, e) = decompose(x);
    let v = if !x.is_finite() {
        BigInt::zero()
    } else if e >= 0 {
        BigInt::from(m) << e as u32
    } else if e <= -64 {
        BigInt::zero()
    } else {
        BigInt::from(m >> -e)
    };
    if x < 0.0 { -v } else { v }
}
