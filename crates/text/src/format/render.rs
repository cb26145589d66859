//! Rendering of numbers for `format`.
//!
//! Negative numbers in radix 2, 8, 16 without a sign flag appear in two's complement: `..f` stands for endless leading digits.
//! Floats use std's exact decimal expansion; precisions beyond any double's digits are zeros appended by hand, because
//! std's formatter takes 16-bit precisions only.
//! Rejected: calling libc's snprintf (locale, and no control over `Inf`/`NaN`).

use super::Spec;
use crate::big;
use crate::float::{decompose, pow10};
use crate::int::{Int, to_s};
use num_bigint::{BigInt, Sign};
use num_traits::{Signed, ToPrimitive};
use zakuro_base::progress::Progress;

pub(super) fn fill(out: &mut Vec<u8>, byte: u8, n: usize) {
    zakuro_base::memory::fill(out, n, byte);
}

/// Byte length and count of the first `n` UTF-8 characters; a broken byte counts as one.
pub(super) fn utf8_prefix(s: &[u8], n: usize) -> (usize, usize) {
    let (mut at, mut count) = (0, 0);
    while at < s.len() && count < n {
        at += crate::encoding::utf8::char_len(&s[at..]);
        count += 1;
    }
    (at, count)
}

fn sign_of(spec: &Spec, negative: bool) -> &'static [u8] {
    match (negative, spec.plus, spec.space) {
        (true, _, _) => b"-",
        (_, true, _) => b"+",
        (_, _, true) => b" ",
        _ => b"",
    }
}

pub(super) fn integer(out: &mut Vec<u8>, spec: &Spec, conversion: u8, v: &Int, p: &mut dyn Progress) -> big::Result<()> {
    let (bits, prefix): (u32, &[u8]) = match conversion {
        b'x' => (4, b"0x"),
        b'X' => (4, b"0X"),
        b'o' => (3, b"0"),
        b'b' => (1, b"0b"),
        b'B' => (1, b"0B"),
        _ => (0, b""),
    };
    let negative = v.is_negative();
    let complement = negative && bits != 0 && !(spec.plus || spec.space);
    let mut digits = if complement {
        two_complement(v, bits, p)?
    } else {
        let s = to_s(v, if bits == 0 { 10 } else { 1 << bits }, p)?;
        s.strip_prefix('-').map(str::to_owned).unwrap_or(s)
    };
    if conversion == b'X' {
        digits.make_ascii_uppercase();
    }
    let sign = if complement { &b""[..] } else { sign_of(spec, negative) };
    let mut prefix = if spec.alt { prefix } else { b"" };
    let zero = digits == "0";
    // The dots count towards the precision.
    let mut precision = spec.precision.map(|p| if complement { p.saturating_sub(2) } else { p });
    let mut digits = digits.as_str();
    if prefix == b"0" {
        if complement {
            prefix = b"";
        } else if zero {
            // The prefix is the digit.
            digits = "";
            precision = precision.map(|p| p.saturating_sub(1));
        } else if precision.is_some_and(|p| p > digits.len()) {
            prefix = b"";
        }
    } else if zero {
        prefix = b"";
    }
    let taken = sign.len() + prefix.len() + if complement { 2 } else { 0 };
    let mut width = spec.width.unwrap_or(0).saturating_sub(taken);
    let shown;
    if spec.zero && !spec.minus && precision.is_none() {
        shown = width.max(digits.len());
        width = 0;
    } else {
        if precision == Some(0) && zero && prefix.is_empty() {
            digits = "";
        }
        shown = precision.unwrap_or(0).max(digits.len());
        width = width.saturating_sub(shown);
    }
    if !spec.minus {
        fill(out, b' ', width);
    }
    out.extend_from_slice(sign);
    out.extend_from_slice(prefix);
    if complement {
        out.extend_from_slice(b"..");
    }
    let lead = if complement { digits.as_bytes()[0] } else { b'0' };
    fill(out, lead, shown - digits.len());
    out.extend_from_slice(digits.as_bytes());
    if spec.minus {
        fill(out, b' ', width);
    }
    Ok(())
}

/// Digits of a negative number in two's complement, with exactly one of the endless leading ones.
fn two_complement(v: &Int, bits: u32, p: &mut dyn Progress) -> big::Result<String> {
    let radix = 1u32 << bits;
    let top = char::from_digit(radix - 1, radix).unwrap_or('f');
    let v = v.to_big();
    let n = v.bits() / bits as u64 + 1;
    let s = big::to_text(&((BigInt::from(1) << (n * bits as u64)) + v), radix, p)?;
    // Enough digits for the sign make the first one the highest digit, unless the number is -(radix**n) / 2 or so; pad then.
    let s = format!("{}{s}", top.to_string().repeat((n as usize).saturating_sub(s.len())));
    Ok(format!("{top}{}", s.trim_start_matches(top)))
}

/// Puts sign, an optional `0x`, zero padding and body together.
fn assemble(out: &mut Vec<u8>, spec: &Spec, sign: &[u8], prefix: &[u8], body: &[u8], zeros: bool) {
    let pad = spec.width.unwrap_or(0).saturating_sub(sign.len() + prefix.len() + body.len());
    let zeros = zeros && spec.zero && !spec.minus;
    if !spec.minus && !zeros {
        fill(out, b' ', pad);
    }
    out.extend_from_slice(sign);
    out.extend_from_slice(prefix);
    if zeros {
        fill(out, b'0', pad);
    }
    out.extend_from_slice(body);
    if spec.minus {
        fill(out, b' ', pad);
    }
}

/// Integer or Rational: exact for `%f`, through a double otherwise.
pub(super) fn exact(out: &mut Vec<u8>, spec: &Spec, conversion: u8, num: &BigInt, den: &BigInt, p: &mut dyn Progress) -> big::Result<()> {
    if conversion != b'f' {
        let x = match (num.to_f64(), den.to_f64()) {
            (Some(n), Some(d)) => n / d,
            _ => f64::NAN,
        };
        float(out, spec, conversion, x);
        return Ok(());
    }
    let precision = spec.precision.unwrap_or(6);
    let scaled = big::mul(&num.abs(), &big::pow10(precision as u32, p)?.into(), p)?;
    let (q, r) = big::div_trunc(&scaled, den, p)?;
    let q = if (r << 1u32) >= *den { q + 1 } else { q };
    let mut digits = big::to_text(&q, 10, p)?;
    if digits.len() <= precision {
        let mut zeros = zakuro_base::memory::with_room(precision + 1);
        zeros.resize(precision + 1 - digits.len(), b'0');
        digits.insert_str(0, &String::from_utf8_lossy(&zeros));
    }
    if precision > 0 {
        digits.insert(digits.len() - precision, '.');
    }
    // CRuby ignores `#` here.
    assemble(out, spec, sign_of(spec, num.sign() == Sign::Minus), b"", digits.as_bytes(), true);
    Ok(())
}

pub(super) fn float(out: &mut Vec<u8>, spec: &Spec, conversion: u8, x: f64) {
    let sign = sign_of(spec, x.is_sign_negative() && !x.is_nan());
    if !x.is_finite() {
        return assemble(out, spec, sign, b"", if x.is_nan() { b"NaN" } else { b"Inf" }, false);
    }
    let x = x.abs();
    let upper = conversion.is_ascii_uppercase();
    let (prefix, mut body): (&[u8], String) = match conversion.to_ascii_lowercase() {
        b'f' => (b"", fixed(x, spec.precision.unwrap_or(6), spec.alt)),
        b'e' => (b"", exponential(x, spec.precision.unwrap_or(6), spec.alt)),
        b'g' => (b"", general(x, spec.precision.unwrap_or(6), spec.alt)),
        _ => (b"0x", hexadecimal(x, spec.precision, spec.alt)),
    };
    if upper {
        body.make_ascii_uppercase();
    }
    assemble(out, spec, sign, if upper && !prefix.is_empty() { b"0X" } else { prefix }, body.as_bytes(), true);
}

/// No double has more decimals than this.
const MAX_DECIMALS: usize = 1080;

fn fixed(x: f64, precision: usize, alt: bool) -> String {
    let mut s = far_from_tie(x, precision)
        .or_else(|| tie(&x.to_string(), precision))
        .unwrap_or_else(|| format!("{:.*}", precision.min(MAX_DECIMALS), x));
    s.extend(std::iter::repeat_n('0', precision.saturating_sub(MAX_DECIMALS)));
    if alt && precision == 0 {
        s.push('.');
    }
    s
}

/// A number that is not large, rounded in integers: None where it lies so near to a half that the error of scaling it may count.
fn far_from_tie(x: f64, precision: usize) -> Option<String> {
    // Below 2**40 the product is off by less than 2**-12.
    const MOST: f64 = (1u64 << 40) as f64;
    const NEAR: f64 = 1.0 / 1024.0;
    let scale = pow10(precision.min(12) as i32);
    let scaled = x * scale;
    let whole = scaled.floor();
    let rest = scaled - whole;
    if precision > 12 || scaled >= MOST || (rest - 0.5).abs() < NEAR {
        return None;
    }
    let (rounded, scale) = (whole as u64 + u64::from(rest > 0.5), scale as u64);
    let (int, decimals) = (rounded / scale, rounded % scale);
    Some(if precision == 0 { int.to_string() } else { format!("{int}.{decimals:0precision$}") })
}

/// CRuby takes a number whose shortest decimals lie half-way between two results (`2.345` for two places) for exactly that, and rounds
/// to even, though the double lies a little beside: `shortest` rounded to `precision` places, None when it is no such tie.
fn tie(shortest: &str, precision: usize) -> Option<String> {
    let (_, decimals) = shortest.split_once('.')?;
    if decimals.len() != precision + 1 || !decimals.ends_with('5') {
        return None;
    }
    let kept = shortest[..shortest.len() - 1].trim_end_matches('.');
    if !kept.bytes().any(|b| matches!(b, b'1'..=b'9')) {
        // No digit is left: CRuby compares exactly.
        return None;
    }
    let mut out = kept.as_bytes().to_vec();
    if out.last().is_some_and(|d| (d - b'0') % 2 == 1) {
        for at in (0..=out.len()).rev() {
            match at.checked_sub(1).map(|i| (i, out[i])) {
                None => out.insert(0, b'1'),
                Some((_, b'.')) => continue,
                Some((i, b'9')) => {
                    out[i] = b'0';
                    continue;
                }
                Some((i, _)) => out[i] += 1,
            }
            break;
        }
    }
    String::from_utf8(out).ok()
}

fn exponential(x: f64, precision: usize, alt: bool) -> String {
    let (mut mantissa, e) = exponent_parts(x, precision);
    if alt && precision == 0 {
        mantissa.push('.');
    }
    format!("{mantissa}e{}{:02}", if e < 0 { '-' } else { '+' }, e.abs())
}

fn exponent_parts(x: f64, precision: usize) -> (String, i32) {
    let short = format!("{x:e}");
    if let Some((digits, e)) = short.split_once('e')
        && let Some(mantissa) = tie(digits, precision)
    {
        let e = e.parse().unwrap_or(0);
        // 9.5 becomes 10, which is 1 with the next exponent.
        return match mantissa.strip_prefix("10") {
            Some(rest) => (format!("1{}", if rest.is_empty() { "".into() } else { format!(".0{}", &rest[1..rest.len() - 1]) }), e + 1),
            None => (mantissa, e),
        };
    }
    let s = format!("{:.*e}", precision.min(MAX_DECIMALS), x);
    let (mantissa, e) = s.split_once('e').unwrap_or((&s, "0"));
    let mut mantissa = mantissa.to_owned();
    mantissa.extend(std::iter::repeat_n('0', precision.saturating_sub(MAX_DECIMALS)));
    (mantissa, e.parse().unwrap_or(0))
}

fn general(x: f64, precision: usize, alt: bool) -> String {
    let p = precision.max(1);
    let e = if x == 0.0 { 0 } else { exponent_parts(x, p - 1).1 };
    let strip = |s: &mut String| {
        if !alt && s.contains('.') {
            s.truncate(s.trim_end_matches('0').trim_end_matches('.').len());
        }
    };
    if e >= -4 && (e as i64) < p as i64 {
        let mut s = fixed(x, (p as i64 - 1 - e as i64) as usize, alt);
        strip(&mut s);
        s
    } else {
        let s = exponential(x, p - 1, alt);
        let at = s.find('e').unwrap_or(s.len());
        let mut mantissa = s[..at].to_owned();
        strip(&mut mantissa);
        mantissa + &s[at..]
    }
}

/// Without `0x`: a leading 1 (0 for zero), hex digits, binary exponent.
fn hexadecimal(x: f64, precision: Option<usize>, alt: bool) -> String {
    let (mut m, mut e) = decompose(x);
    if m == 0 {
        e = 0;
    } else {
        let up = m.leading_zeros() - 11;
        m <<= up;
        e += 52 - up as i32;
    }
    if let Some(p) = precision.filter(|&p| p < 13) {
        let drop = 52 - 4 * p as u32;
        let (kept, rest, half) = (m >> drop, m & ((1 << drop) - 1), 1u64 << (drop - 1));
        let up = rest > half || (rest == half && kept & 1 == 1);
        m = (kept + up as u64) << drop;
        if m >> 53 != 0 {
            m >>= 1;
            e += 1;
        }
    }
    let all = format!("{:013x}", m & ((1 << 52) - 1));
    let mut fraction = match precision {
        None => all.trim_end_matches('0').to_owned(),
        Some(p) => all[..p.min(13)].to_owned(),
    };
    fraction.extend(std::iter::repeat_n('0', precision.unwrap_or(0).saturating_sub(13)));
    let point = if fraction.is_empty() && !alt { "" } else { "." };
    format!("{}{point}{fraction}p{e:+}", m >> 52)
}
