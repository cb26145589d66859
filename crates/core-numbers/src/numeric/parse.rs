//! Rational and Complex numbers from text: `Rational("1/3")`, `"1+2i".to_c` and their kin.

use super::{ints, rat};
use zakuro_text::{float, int};
use zakuro_vm::*;

fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t'..=b'\r')
}
fn skip_space(s: &[u8], mut i: usize) -> usize {
    while s.get(i).is_some_and(|&b| is_space(b)) {
        i += 1;
    }
    i
}
/// End of a run of digits with single underscores between them.
fn digits(s: &[u8], from: usize) -> usize {
    let mut i = from;
    while let Some(&b) = s.get(i) {
        let inner = b == b'_' && i > from && s[i - 1] != b'_' && s.get(i + 1).is_some_and(u8::is_ascii_digit);
        if !b.is_ascii_digit() && !inner {
            break;
        }
        i += 1;
    }
    i
}

/// End of an unsigned decimal number: digits, fraction, exponent. None when there is none.
fn decimal_end(s: &[u8], from: usize) -> Option<usize> {
    let mut i = digits(s, from);
    let whole = i > from;
    if s.get(i) == Some(&b'.') && s.get(i + 1).is_some_and(u8::is_ascii_digit) {
        i = digits(s, i + 1);
    } else if !whole {
        return None;
    }
    if s.get(i).is_some_and(|b| b | 32 == b'e') {
        let mut j = i + 1;
        if matches!(s.get(j), Some(b'+' | b'-')) {
            j += 1;
        }
        if s.get(j).is_some_and(u8::is_ascii_digit) {
            i = digits(s, j);
        }
    }
    Some(i)
}

/// The exact value of an unsigned decimal number.
fn decimal_value(cx: &mut Cx, s: &[u8]) -> Result<rat::Pair> {
    let e = s.iter().position(|b| b | 32 == b'e');
    let (mantissa, exp) = match e {
        Some(i) => (&s[..i], &s[i + 1..]),
        None => (s, &s[..0]),
    };
    let mut text: Vec<u8> = Vec::with_capacity(mantissa.len());
    let mut scale: i64 = 0;
    let mut fraction = false;
    for &b in mantissa {
        match b {
            b'.' => fraction = true,
            b'_' => {}
            d => {
                text.push(d);
                scale += fraction as i64;
            }
        }
    }
    let n = match int::from_digits(&text, 10, false, cx)? {
        int::Int::Small(i) => cx.int(i),
        int::Int::Big(b) => cx.big(b),
    };
    if n == ints::ZERO {
        return Ok((ints::ZERO, ints::ONE));
    }
    let exp = match int::parse_prefix(exp, 10, cx) {
        Ok(int::Int::Small(i)) => i.clamp(-(1 << 40), 1 << 40),
        Ok(big) => {
            if big.is_negative() {
                -(1 << 40)
            } else {
                1 << 40
            }
        }
        Err(int::IntError::Stopped) => return Err(Exc),
        Err(_) => 0,
    } - scale;
    // Beyond all that could be written down.
    if exp <= -(1 << 39) {
        return Ok((ints::ZERO, ints::ONE));
    }
    if exp >= 1 << 39 {
        return cx.raise(ids::FLOAT_DOMAIN_ERROR, "Infinity");
    }
    let p = ints::pow10(cx, exp.unsigned_abs())?;
    if exp >= 0 { Ok((ints::mul(cx, n, p)?, ints::ONE)) } else { rat::reduce(cx, n, p) }
}

/// Reads a Rational. `strict`: None unless the whole text is one; else the longest prefix, 0 when there is none.
pub fn rational(cx: &mut Cx, s: &[u8], strict: bool) -> Result<Option<rat::Pair>> {
    let none = Ok(if strict { None } else { Some((ints::ZERO, ints::ONE)) });
    let mut i = skip_space(s, 0);
    let negative = s.get(i) == Some(&b'-');
    if matches!(s.get(i), Some(b'+' | b'-')) {
        i += 1;
    }
    let Some(mut end) = decimal_end(s, i) else { return none };
    let mut p = decimal_value(cx, &s[i..end])?;
    if s.get(end) == Some(&b'/') {
        match decimal_end(s, end + 1) {
            Some(e) => {
                let d = decimal_value(cx, &s[end + 1..e])?;
                p = rat::div(cx, p, d)?;
                end = e;
            }
            None if strict => return Ok(None),
            None => {}
        }
    }
    if strict && skip_space(s, end) != s.len() {
        return Ok(None);
    }
    Ok(Some(if negative { rat::neg(cx, p) } else { p }))
}

/// One real number of a Complex: Integer, Rational with a slash, Float with a point or exponent.
fn real_value(cx: &mut Cx, s: &[u8]) -> Result<Value> {
    if s.contains(&b'/') {
        let p = rational(cx, s, false)?.unwrap_or((ints::ZERO, ints::ONE));
        return Ok(rat::object(cx, p));
    }
    if s.iter().any(|b| matches!(b, b'.' | b'e' | b'E')) {
        let f = float::parse_float(s, false).unwrap_or(0.0);
        return Ok(cx.float(f));
    }
    Ok(match int::parse_prefix(s, 10, cx) {
        Ok(int::Int::Small(i)) => cx.int(i),
        Ok(int::Int::Big(b)) => cx.big(b),
        Err(int::IntError::Stopped) => return Err(Exc),
        Err(_) => ints::ZERO,
    })
}

/// End of an unsigned real: decimal, or decimal/digits.
fn real_end(s: &[u8], from: usize) -> Option<usize> {
    let end = decimal_end(s, from)?;
    if s.get(end) == Some(&b'/') && s.get(end + 1).is_some_and(u8::is_ascii_digit) {
        return Some(digits(s, end + 1));
    }
    Some(end)
}
fn is_unit(b: Option<&u8>) -> bool {
    matches!(b, Some(b'i' | b'I' | b'j' | b'J'))
}

/// What text of a Complex means.
pub enum ComplexText {
    Rect(Value, Value),
    Polar(Value, Value),
}

/// Reads a Complex. `strict` as for `rational`.
pub fn complex(cx: &mut Cx, s: &[u8], strict: bool) -> Result<Option<ComplexText>> {
    let zero = ints::ZERO;
    let start = skip_space(s, 0);
    let sign_at = |i: usize| matches!(s.get(i), Some(b'+' | b'-'));
    let mut i = start + sign_at(start) as usize;
    let finish = |v: ComplexText, end: usize| {
        if strict && skip_space(s, end) != s.len() { Ok(None) } else { Ok(Some(v)) }
    };
    let unit = |negative: bool| Value::fixnum(if negative { -1 } else { 1 });
    if is_unit(s.get(i)) {
        return finish(ComplexText::Rect(zero, unit(s.get(start) == Some(&b'-'))), i + 1);
    }
    let Some(end) = real_end(s, i) else {
        return Ok(if strict { None } else { Some(ComplexText::Rect(zero, zero)) });
    };
    let first = real_value(cx, &s[start..end])?;
    if is_unit(s.get(end)) {
        return finish(ComplexText::Rect(zero, first), end + 1);
    }
    if s.get(end) == Some(&b'@') {
        let from = end + 1;
        i = from + sign_at(from) as usize;
        return match real_end(s, i) {
            Some(e) => {
                let angle = real_value(cx, &s[from..e])?;
                finish(ComplexText::Polar(first, angle), e)
            }
            None => finish(ComplexText::Rect(first, zero), end),
        };
    }
    if sign_at(end) {
        i = end + 1;
        if is_unit(s.get(i)) {
            return finish(ComplexText::Rect(first, unit(s[end] == b'-')), i + 1);
        }
        if let Some(e) = real_end(s, i) {
            let second = real_value(cx, &s[end..e])?;
            if is_unit(s.get(e)) {
                return finish(ComplexText::Rect(first, second), e + 1);
            }
            if strict {
                return Ok(None);
            }
            // "1+2" without a unit: Ruby keeps the real part only.
            return Ok(Some(ComplexText::Rect(first, zero)));
        }
    }
    finish(ComplexText::Rect(first, zero), end)
}
