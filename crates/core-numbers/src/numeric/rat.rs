//! Rational arithmetic on pairs of Integers: what Integer, Float and Rational methods share. A pair is in lowest terms, its denominator positive.

use super::ints::{self, ONE, ZERO};
use std::cmp::Ordering;
use zakuro_text::float::RoundHalf;
use zakuro_vm::*;

pub type Pair = (Value, Value);

/// The Rational object of a pair in lowest terms.
pub fn object(cx: &Cx, p: Pair) -> Value {
    PairCell::make(&cx.heap, ids::RATIONAL, Kind::Rational, p.0, p.1)
}
pub fn parts(v: Value) -> Option<Pair> {
    PairCell::from_value(v, Kind::Rational)
}
/// Lowest terms of n/d. ZeroDivisionError when d is zero.
pub fn reduce(cx: &mut Cx, n: Value, d: Value) -> Result<Pair> {
    if d == ZERO {
        return ints::zero_division(cx);
    }
    let (n, d) = if ints::is_negative(d) { (ints::neg(cx, n), ints::neg(cx, d)) } else { (n, d) };
    if d == ONE {
        return Ok((n, d));
    }
    let g = ints::gcd(cx, n, d)?;
    Ok((ints::exact_div(cx, n, g)?, ints::exact_div(cx, d, g)?))
}
pub fn make(cx: &mut Cx, n: Value, d: Value) -> Result<Value> {
    let p = reduce(cx, n, d)?;
    Ok(object(cx, p))
}

pub fn add(cx: &mut Cx, a: Pair, b: Pair) -> Result<Pair> {
    if a.1 == b.1 {
        let n = ints::add(cx, a.0, b.0);
        return reduce(cx, n, a.1);
    }
    let x = ints::mul(cx, a.0, b.1)?;
    let y = ints::mul(cx, b.0, a.1)?;
    let n = ints::add(cx, x, y);
    let d = ints::mul(cx, a.1, b.1)?;
    reduce(cx, n, d)
}
pub fn neg(cx: &mut Cx, a: Pair) -> Pair {
    (ints::neg(cx, a.0), a.1)
}
pub fn sub(cx: &mut Cx, a: Pair, b: Pair) -> Result<Pair> {
    let b = neg(cx, b);
    add(cx, a, b)
}
pub fn mul(cx: &mut Cx, a: Pair, b: Pair) -> Result<Pair> {
    let n = ints::mul(cx, a.0, b.0)?;
    let d = ints::mul(cx, a.1, b.1)?;
    reduce(cx, n, d)
}
pub fn div(cx: &mut Cx, a: Pair, b: Pair) -> Result<Pair> {
    let n = ints::mul(cx, a.0, b.1)?;
    let d = ints::mul(cx, a.1, b.0)?;
    reduce(cx, n, d)
}
/// Floored quotient (an Integer) of a / b.
pub fn div_floor(cx: &mut Cx, a: Pair, b: Pair) -> Result<Value> {
    let n = ints::mul(cx, a.0, b.1)?;
    let d = ints::mul(cx, a.1, b.0)?;
    ints::div(cx, n, d)
}
pub fn modulo(cx: &mut Cx, a: Pair, b: Pair) -> Result<Pair> {
    let q = div_floor(cx, a, b)?;
    let qb = mul(cx, (q, ONE), b)?;
    sub(cx, a, qb)
}
pub fn cmp(cx: &mut Cx, a: Pair, b: Pair) -> Result<Ordering> {
    if a.1 == b.1 {
        return Ok(ints::cmp(a.0, b.0));
    }
    let x = ints::mul(cx, a.0, b.1)?;
    let y = ints::mul(cx, b.0, a.1)?;
    Ok(ints::cmp(x, y))
}
pub fn equal(a: Pair, b: Pair) -> bool {
    ints::equal(a.0, b.0) && ints::equal(a.1, b.1)
}
pub fn to_f64(p: Pair) -> f64 {
    ints::quotient_f64(p.0, p.1)
}
/// `p ** n` for an Integer n of either sign.
pub fn pow(cx: &mut Cx, p: Pair, n: Value) -> Result<Pair> {
    let (base, n) = if ints::is_negative(n) {
        if p.0 == ZERO {
            return ints::zero_division(cx);
        }
        let flipped = if ints::is_negative(p.0) { (ints::neg(cx, p.1), ints::neg(cx, p.0)) } else { (p.1, p.0) };
        (flipped, ints::neg(cx, n))
    } else {
        (p, n)
    };
    Ok((ints::pow(cx, base.0, n)?, ints::pow(cx, base.1, n)?))
}
pub fn floor(cx: &mut Cx, p: Pair) -> Result<Value> {
    ints::div(cx, p.0, p.1)
}
pub fn ceil(cx: &mut Cx, p: Pair) -> Result<Value> {
    let n = ints::neg(cx, p.0);
    let q = ints::div(cx, n, p.1)?;
    Ok(ints::neg(cx, q))
}
pub fn truncate(cx: &mut Cx, p: Pair) -> Result<Value> {
    if ints::is_negative(p.0) { ceil(cx, p) } else { floor(cx, p) }
}
pub fn round(cx: &mut Cx, p: Pair, half: RoundHalf) -> Result<Value> {
    let negative = ints::is_negative(p.0);
    let n = ints::abs(cx, p.0);
    let (q, r) = ints::divmod(cx, n, p.1)?;
    let twice = ints::add(cx, r, r);
    let up = match ints::cmp(twice, p.1) {
        Ordering::Greater => true,
        Ordering::Less => false,
        Ordering::Equal => match half {
            RoundHalf::Up => true,
            RoundHalf::Down => false,
            RoundHalf::Even => ints::is_odd(q),
        },
    };
    let q = if up { ints::add(cx, q, ONE) } else { q };
    Ok(if negative { ints::neg(cx, q) } else { q })
}

/// x = m * 2**e exactly, for finite x, with 53 bits in m (fewer only for zero).
pub fn decompose(x: f64) -> (i64, i32) {
    let bits = x.to_bits();
    let e = (bits >> 52 & 0x7ff) as i32;
    let m = (bits & ((1 << 52) - 1)) as i64;
    let (m, e) = if e == 0 {
        if m == 0 {
            return (0, 0);
        }
        let shift = m.leading_zeros() as i32 - 11;
        (m << shift, -1074 - shift)
    } else {
        (m | 1 << 52, e - 1075)
    };
    (if x < 0.0 { -m } else { m }, e)
}
/// A finite double as exact fraction.
pub fn from_f64(cx: &mut Cx, f: f64) -> Result<Pair> {
    let (m, e) = decompose(f);
    let m = cx.int(m);
    if m == ZERO {
        return Ok((ZERO, ONE));
    }
    if e >= 0 {
        let n = ints::shift_left(cx, m, Value::fixnum(e as i64))?;
        return Ok((n, ONE));
    }
    let d = ints::shift_left(cx, ONE, Value::fixnum(-e as i64))?;
    reduce(cx, m, d)
}

/// The simplest fraction p/q between a and b, a < b (Stern-Brocot descent along the continued fraction).
pub fn simplest_between(cx: &mut Cx, a: Pair, b: Pair) -> Result<Pair> {
    if equal(a, b) {
        return Ok(a);
    }
    let (mut a, mut b) = (a, b);
    let (mut p0, mut p1, mut q0, mut q1) = (ZERO, ONE, ONE, ZERO);
    loop {
        let c = ceil(cx, a)?;
        if cmp(cx, (c, ONE), b)? == Ordering::Less {
            let (n, d) = (ints::mul(cx, c, p1)?, ints::mul(cx, c, q1)?);
            return Ok((ints::add(cx, n, p0), ints::add(cx, d, q0)));
        }
        let k = ints::sub(cx, c, ONE);
        let (n, d) = (ints::mul(cx, k, p1)?, ints::mul(cx, k, q1)?);
        let (p2, q2) = (ints::add(cx, n, p0), ints::add(cx, d, q0));
        let (low, high) = (sub(cx, a, (k, ONE))?, sub(cx, b, (k, ONE))?);
        a = div(cx, (ONE, ONE), high)?;
        b = div(cx, (ONE, ONE), low)?;
        (p0, p1, q0, q1) = (p1, p2, q1, q2);
    }
}
