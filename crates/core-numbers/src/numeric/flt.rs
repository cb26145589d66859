//! Double arithmetic as Ruby defines it: what Float, Integer and Range share.

use super::{ints, rat};
use zakuro_vm::*;

/// `x % y` with the sign of y. ZeroDivisionError.
pub fn modulo(cx: &mut Cx, x: f64, y: f64) -> Result<Value> {
    if y.is_nan() {
        return Ok(cx.float(y));
    }
    if y == 0.0 {
        return ints::zero_division(cx);
    }
    let m = if y.is_infinite() && x.is_finite() { x } else { x % y };
    Ok(cx.float(if y * m < 0.0 { m + y } else { m }))
}

/// Floored quotient and remainder as doubles. ZeroDivisionError.
pub fn div_mod(cx: &mut Cx, x: f64, y: f64) -> Result<(f64, f64)> {
    if y.is_nan() {
        return Ok((y, y));
    }
    if y == 0.0 {
        return ints::zero_division(cx);
    }
    let mut m = if y.is_infinite() && x.is_finite() { x } else { x % y };
    let mut q = if x.is_infinite() && y.is_finite() { x } else { (x - m) / y };
    if y * m < 0.0 {
        m += y;
        q -= 1.0;
    }
    if q != 0.0 && q.is_finite() {
        let f = q.floor();
        q = if q - f > 0.5 { f + 1.0 } else { f };
    }
    Ok((q, m))
}

/// `[q, m]` as Ruby values, q an Integer.
pub fn divmod(cx: &mut Cx, x: f64, y: f64) -> Result<Value> {
    let (q, m) = div_mod(cx, x, y)?;
    let q = cx.float_to_int(q)?;
    let m = cx.float(m);
    Ok(cx.array(&[q, m]))
}

/// The Complex of a modulus and an angle in half turns: the power of a negative number by a fraction.
pub fn complex_polar_pi(cx: &mut Cx, abs: f64, angle: f64) -> Result<Value> {
    let fr = angle.fract();
    let whole = angle.trunc();
    let odd = whole % 2.0 != 0.0;
    if fr == 0.0 {
        return Ok(cx.float(if odd { -abs } else { abs }));
    }
    let (re, im) = if fr.abs() == 0.5 {
        let up = (fr > 0.0) != odd;
        (cx.float(0.0), cx.float(if up { abs } else { -abs }))
    } else {
        {
            let (sin, cos) = (std::f64::consts::PI * angle).sin_cos();
            (cx.float(abs * cos), cx.float(abs * sin))
        }
    };
    Ok(PairCell::make(&cx.heap, ids::COMPLEX, Kind::Complex, re, im))
}

/// The simplest Rational that rounds to this finite double.
pub fn rationalize(cx: &mut Cx, x: f64) -> Result<rat::Pair> {
    let (m, e) = rat::decompose(x.abs());
    if e >= 0 || m == 0 {
        return rat::from_f64(cx, x);
    }
    // Half an ulp to each side.
    let (low, high) = (cx.int(2 * m - 1), cx.int(2 * m + 1));
    let den = ints::shift_left(cx, ints::ONE, Value::fixnum(1 - e as i64))?;
    let a = rat::reduce(cx, low, den)?;
    let b = rat::reduce(cx, high, den)?;
    let p = rat::simplest_between(cx, a, b)?;
    Ok(if x < 0.0 { rat::neg(cx, p) } else { p })
}

/// The simplest Rational within `precision` of a Rational.
pub fn rationalize_within(cx: &mut Cx, p: rat::Pair, precision: rat::Pair) -> Result<rat::Pair> {
    let negative = ints::is_negative(p.0);
    let p = if negative { rat::neg(cx, p) } else { p };
    let e = if ints::is_negative(precision.0) { rat::neg(cx, precision) } else { precision };
    let (a, b) = (rat::sub(cx, p, e)?, rat::add(cx, p, e)?);
    let r = if rat::equal(a, b) { p } else { rat::simplest_between(cx, a, b)? };
    Ok(if negative { rat::neg(cx, r) } else { r })
}

/// Number of elements of a Float sequence begin, begin + unit, ... up to end.
pub fn step_size(begin: f64, end: f64, unit: f64, exclusive: bool) -> f64 {
    let n = (end - begin) / unit;
    let err = ((begin.abs() + end.abs() + (end - begin).abs()) / unit.abs() * f64::EPSILON).min(0.5);
    if unit.is_infinite() {
        return if unit > 0.0 { (begin <= end) as u8 as f64 } else { (begin >= end) as u8 as f64 };
    }
    if unit == 0.0 {
        return f64::INFINITY;
    }
    if exclusive {
        if n <= 0.0 {
            return 0.0;
        }
        let mut n = if n < 1.0 { 0.0 } else { (n - err).floor() };
        let d = (n + 1.0) * unit + begin;
        if begin < end && d < end || begin > end && d > end {
            n += 1.0;
        }
        return n + 1.0;
    }
    if n < 0.0 {
        return 0.0;
    }
    (n + err).floor() + 1.0
}

/// Element i of such a sequence.
#[inline]
pub fn step_at(begin: f64, end: f64, unit: f64, exclusive: bool, i: f64) -> f64 {
    let d = i * unit + begin;
    if !exclusive && (if unit >= 0.0 { end < d } else { d < end }) { end } else { d }
}
