//! Float: operators, comparison, text, neighbours, rounding and conversions.

use super::coerce::{self, Num, classify};
use super::integer_misc::{Way, digits_arg, round_to};
use super::num::{ascii, rounding_half};
use super::{flt, ints, rat};
use std::cmp::Ordering;
use zakuro_macros::ruby_class;
use zakuro_text::float as text;
use zakuro_vm::*;

pub fn setup(cx: &mut Cx) {
    let f = |cx: &mut Cx, name: &str, v: f64| {
        let v = cx.float(v);
        cx.const_set(ids::FLOAT, Sym::intern(name), v);
    };
    f(cx, "INFINITY", f64::INFINITY);
    f(cx, "NAN", f64::NAN);
    f(cx, "EPSILON", f64::EPSILON);
    f(cx, "MAX", f64::MAX);
    f(cx, "MIN", f64::MIN_POSITIVE);
    for (name, v) in
        [("DIG", 15), ("MANT_DIG", 53), ("RADIX", 2), ("MAX_EXP", 1024), ("MIN_EXP", -1021), ("MAX_10_EXP", 308), ("MIN_10_EXP", -307)]
    {
        cx.const_set(ids::FLOAT, Sym::intern(name), Value::fixnum(v));
    }
}

/// The other operand as double, when it is a builtin real number.
#[inline(always)]
fn real(v: Value) -> Option<f64> {
    match classify(v) {
        Num::Float(f) => Some(f),
        Num::Int(i) => Some(ints::to_f64(i)),
        Num::Rational(n, d) => Some(rat::to_f64((n, d))),
        Num::Other => None,
    }
}
fn order(x: f64, v: Value) -> Option<Option<Ordering>> {
    match classify(v) {
        Num::Float(f) => Some(x.partial_cmp(&f)),
        Num::Int(i) => Some(ints::cmp_f64(i, x).map(Ordering::reverse)),
        // As CRuby: the Rational is rounded first.
        Num::Rational(n, d) => Some(x.partial_cmp(&rat::to_f64((n, d)))),
        Num::Other => None,
    }
}
fn related(cx: &mut Cx, x: f64, op: Sym, v: Value, test: fn(Ordering) -> bool) -> Result<Value> {
    match order(x, v) {
        Some(o) => Ok(Value::bool(o.is_some_and(test))),
        None => {
            let x = cx.float(x);
            coerce::relation(cx, x, op, v)
        }
    }
}
fn other(cx: &mut Cx, x: f64, op: Sym, v: Value) -> Result<Value> {
    let x = cx.float(x);
    coerce::binary(cx, x, op, v)
}

/// Float#floor and Float#ceil.
fn toward(cx: &mut Cx, x: f64, digits: Option<Value>, way: Way) -> Result<Value> {
    let n = digits_arg(cx, digits)?;
    if n > 0 {
        let r = if way == Way::Floor { text::float_floor(x, n as i32) } else { text::float_ceil(x, n as i32) };
        return Ok(cx.float(r));
    }
    let i = cx.float_to_int(if way == Way::Floor { x.floor() } else { x.ceil() })?;
    round_to(cx, i, n, way)
}

#[ruby_class(ids::FLOAT)]
mod float {
    use super::*;

    /// Sum.
    ///
    ///     1.5 + 1    #=> 2.5
    #[method("+")]
    fn add(cx: &mut Cx, this: f64, v: Value) -> Result<Value> {
        match real(v) {
            Some(y) => Ok(cx.float(this + y)),
            None => other(cx, this, sym::add, v),
        }
    }
    /// Difference.
    ///
    ///     1.5 - 1    #=> 0.5
    #[method("-")]
    fn sub(cx: &mut Cx, this: f64, v: Value) -> Result<Value> {
        match real(v) {
            Some(y) => Ok(cx.float(this - y)),
            None => other(cx, this, sym::sub, v),
        }
    }
    /// Product.
    ///
    ///     1.5 * 2    #=> 3.0
    #[method("*")]
    fn mul(cx: &mut Cx, this: f64, v: Value) -> Result<Value> {
        match real(v) {
            Some(y) => Ok(cx.float(this * y)),
            None => other(cx, this, sym::mul, v),
        }
    }
    /// Quotient.
    ///
    ///     1.0 / 0    #=> Infinity
    #[method("/")]
    fn div_op(cx: &mut Cx, this: f64, v: Value) -> Result<Value> {
        match real(v) {
            Some(y) => Ok(cx.float(this / y)),
            None => other(cx, this, sym::div, v),
        }
    }
    /// Quotient.
    ///
    ///     3.0.fdiv(2)    #=> 1.5
    #[method("fdiv", "quo")]
    fn fdiv(cx: &mut Cx, this: f64, v: Value) -> Result<Value> {
        div_op(cx, this, v)
    }
    /// Quotient rounded down to an Integer.
    ///
    ///     7.5.div(2)    #=> 3
    #[method("div")]
    fn div(cx: &mut Cx, this: f64, v: Value) -> Result<Value> {
        match real(v) {
            Some(0.0) => ints::zero_division(cx),
            Some(y) => cx.float_to_int((this / y).floor()),
            None => {
                let q = other(cx, this, sym::div, v)?;
                cx.call(q, sym::floor, &[])
            }
        }
    }
    /// Remainder with the sign of the divisor.
    ///
    ///     -7.5 % 2    #=> 0.5
    #[method("%", "modulo")]
    fn modulo(cx: &mut Cx, this: f64, v: Value) -> Result<Value> {
        match real(v) {
            Some(y) => flt::modulo(cx, this, y),
            None => other(cx, this, sym::modulo, v),
        }
    }
    /// Remainder with the sign of the receiver.
    ///
    ///     -7.5.remainder(2)    #=> -1.5
    #[method("remainder")]
    fn remainder(cx: &mut Cx, this: f64, v: Value) -> Result<Value> {
        match real(v) {
            Some(0.0) => ints::zero_division(cx),
            Some(y) => Ok(cx.float(this % y)),
            None => {
                let x = cx.float(this);
                super::super::num::remainder_by_modulo(cx, x, v)
            }
        }
    }
    /// Floored quotient and remainder.
    ///
    ///     7.5.divmod(2)    #=> [3, 1.5]
    #[method("divmod")]
    fn divmod(cx: &mut Cx, this: f64, v: Value) -> Result<Value> {
        match real(v) {
            Some(y) => flt::divmod(cx, this, y),
            None => other(cx, this, sym::divmod, v),
        }
    }
    /// Power; Complex for a fractional power of a negative number.
    ///
    ///     2.0 ** 3    #=> 8.0
    #[method("**")]
    fn pow(cx: &mut Cx, this: f64, v: Value) -> Result<Value> {
        match real(v) {
            Some(y) if this < 0.0 && y != y.round() => flt::complex_polar_pi(cx, (-this).powf(y), y),
            Some(y) => Ok(cx.float(this.powf(y))),
            None => other(cx, this, sym::pow, v),
        }
    }
    /// Negation.
    ///
    ///     -(1.5)    #=> -1.5
    #[method("-@")]
    fn uminus(this: f64) -> f64 {
        -this
    }
    /// Absolute value.
    ///
    ///     -1.5.abs    #=> 1.5
    #[method("abs", "magnitude")]
    fn abs(this: f64) -> f64 {
        this.abs()
    }
    /// Equality by value.
    ///
    ///     1.0 == 1    #=> true
    #[method("==", "===")]
    fn eq(cx: &mut Cx, this: f64, v: Value) -> Result<bool> {
        match order(this, v) {
            Some(o) => Ok(o == Some(Ordering::Equal)),
            None => {
                let x = cx.float(this);
                coerce::equal(cx, x, v)
            }
        }
    }
    /// Equality by value and class.
    ///
    ///     1.0.eql?(1)    #=> false
    #[method("eql?")]
    fn eql(this: f64, v: Value) -> bool {
        v.as_float() == Some(this)
    }
    /// Hash code; 0.0 and -0.0 have the same.
    ///
    ///     0.0.hash == -0.0.hash    #=> true
    #[method("hash")]
    fn hash(cx: &Cx, this: f64) -> Value {
        let v = cx.float(if this == 0.0 { 0.0 } else { this });
        cx.shown_hash(cx.quick_hash(v).unwrap_or(0))
    }
    /// Order: -1, 0, 1, or nil.
    ///
    ///     1.5 <=> 2           #=> -1
    ///     Float::NAN <=> 1    #=> nil
    #[method("<=>")]
    fn cmp(cx: &mut Cx, this: f64, v: Value) -> Result<Value> {
        if let Some(o) = order(this, v) {
            return Ok(o.map_or(Value::NIL, |o| Value::fixnum(o as i64)));
        }
        // An object that says it is infinite compares with an infinity.
        if this.is_infinite()
            && let Some(i) = cx.call_if_responds(v, Sym::intern("infinite?"), &[])?
        {
            if let Some(j) = i.as_fixnum().filter(|_| i.truthy()) {
                let s = if this > 0.0 { 1 } else { -1 };
                return Ok(Value::fixnum(if j.signum() == s { 0 } else { s }));
            }
            return Ok(Value::fixnum(if this > 0.0 { 1 } else { -1 }));
        }
        let x = cx.float(this);
        coerce::compare(cx, x, v)
    }
    /// Less.
    ///
    ///     1.5 < 2    #=> true
    #[method("<")]
    fn lt(cx: &mut Cx, this: f64, v: Value) -> Result<Value> {
        related(cx, this, sym::lt, v, Ordering::is_lt)
    }
    /// Less or equal.
    ///
    ///     1.5 <= 1    #=> false
    #[method("<=")]
    fn le(cx: &mut Cx, this: f64, v: Value) -> Result<Value> {
        related(cx, this, sym::le, v, Ordering::is_le)
    }
    /// Greater.
    ///
    ///     1.5 > 1    #=> true
    #[method(">")]
    fn gt(cx: &mut Cx, this: f64, v: Value) -> Result<Value> {
        related(cx, this, sym::gt, v, Ordering::is_gt)
    }
    /// Greater or equal.
    ///
    ///     1.5 >= 1.5    #=> true
    #[method(">=")]
    fn ge(cx: &mut Cx, this: f64, v: Value) -> Result<Value> {
        related(cx, this, sym::ge, v, Ordering::is_ge)
    }
    /// `[other, self]` as Floats.
    ///
    ///     1.5.coerce(2)    #=> [2.0, 1.5]
    #[method("coerce")]
    fn coerce(cx: &mut Cx, this: f64, v: Value) -> Result<Value> {
        let a = super::super::kernel::to_float(cx, v)?;
        let (a, b) = (cx.float(a), cx.float(this));
        Ok(cx.array(&[a, b]))
    }
    /// The shortest text that reads back as the same Float.
    ///
    ///     0.1.to_s     #=> "0.1"
    ///     1e20.to_s    #=> "1.0e+20"
    #[method("to_s", "inspect")]
    fn to_s(cx: &Cx, this: f64) -> Value {
        ascii(cx, &text::float_to_s(this))
    }
    /// Truncated to an Integer. FloatDomainError for NaN and infinities.
    ///
    ///     -1.9.to_i    #=> -1
    #[method("to_i", "to_int")]
    fn to_i(cx: &mut Cx, this: f64) -> Result<Value> {
        cx.float_to_int(this)
    }
    /// self.
    ///
    ///     1.5.to_f    #=> 1.5
    #[method("to_f")]
    fn to_f(this: Value) -> Value {
        this
    }
    /// The exact value as Rational.
    ///
    ///     0.5.to_r    #=> (1/2)
    #[method("to_r")]
    fn to_r(cx: &mut Cx, this: f64) -> Result<Value> {
        finite(cx, this)?;
        let p = rat::from_f64(cx, this)?;
        Ok(rat::object(cx, p))
    }
    /// The simplest Rational that rounds to self, or within a precision.
    ///
    ///     0.1.rationalize             #=> (1/10)
    ///     3.14.rationalize(0.1r)      #=> (16/5)
    #[method("rationalize")]
    fn rationalize(cx: &mut Cx, this: f64, precision: Option<Value>) -> Result<Value> {
        finite(cx, this)?;
        let p = match precision {
            None => flt::rationalize(cx, this)?,
            Some(v) => {
                let e = cx.to_f64(v)?.abs();
                let (low, high) = (this.abs() - e, this.abs() + e);
                let p = if low == high {
                    rat::from_f64(cx, this.abs())?
                } else {
                    let (a, b) = (rat::from_f64(cx, low)?, rat::from_f64(cx, high)?);
                    rat::simplest_between(cx, a, b)?
                };
                if this < 0.0 { rat::neg(cx, p) } else { p }
            }
        };
        Ok(rat::object(cx, p))
    }
    /// Numerator of the exact value.
    ///
    ///     0.5.numerator    #=> 1
    #[method("numerator")]
    fn numerator(cx: &mut Cx, this: f64) -> Result<Value> {
        if !this.is_finite() { Ok(cx.float(this)) } else { Ok(rat::from_f64(cx, this)?.0) }
    }
    /// Denominator of the exact value.
    ///
    ///     0.5.denominator    #=> 2
    #[method("denominator")]
    fn denominator(cx: &mut Cx, this: f64) -> Result<Value> {
        if !this.is_finite() { Ok(ints::ONE) } else { Ok(rat::from_f64(cx, this)?.1) }
    }
    /// Rounded to digits after the point; an Integer when none are kept.
    ///
    ///     2.5.round                  #=> 3
    ///     2.5.round(half: :even)     #=> 2
    ///     1.235.round(2)             #=> 1.24
    ///     1234.5.round(-2)           #=> 1200
    #[method("round")]
    fn round(cx: &mut Cx, this: f64, digits: Option<Value>, kw: Kwargs) -> Result<Value> {
        let half = rounding_half(cx, kw)?;
        let n = digits_arg(cx, digits)?;
        if n > 0 {
            return Ok(cx.float(text::float_round(this, n as i32, half)));
        }
        if n == 0 {
            return cx.float_to_int(text::float_round(this, 0, half));
        }
        let i = cx.float_to_int(this)?;
        round_to(cx, i, n, Way::Round(half))
    }
    /// Rounded down.
    ///
    ///     -1.5.floor        #=> -2
    ///     1.289.floor(2)    #=> 1.28
    #[method("floor")]
    fn floor(cx: &mut Cx, this: f64, digits: Option<Value>) -> Result<Value> {
        toward(cx, this, digits, Way::Floor)
    }
    /// Rounded up.
    ///
    ///     1.2.ceil        #=> 2
    ///     1.281.ceil(2)   #=> 1.29
    #[method("ceil")]
    fn ceil(cx: &mut Cx, this: f64, digits: Option<Value>) -> Result<Value> {
        toward(cx, this, digits, Way::Ceil)
    }
    /// Rounded towards zero.
    ///
    ///     -1.9.truncate      #=> -1
    ///     1.289.truncate(2)  #=> 1.28
    #[method("truncate")]
    fn truncate(cx: &mut Cx, this: f64, digits: Option<Value>) -> Result<Value> {
        toward(cx, this, digits, if this > 0.0 { Way::Floor } else { Way::Ceil })
    }
    /// Whether it is not a number.
    ///
    ///     Float::NAN.nan?    #=> true
    #[method("nan?")]
    fn nan_p(this: f64) -> bool {
        this.is_nan()
    }
    /// 1 or -1 for the infinities, else nil.
    ///
    ///     (-1.0 / 0).infinite?    #=> -1
    #[method("infinite?")]
    fn infinite_p(this: f64) -> Option<i64> {
        this.is_infinite().then_some(if this > 0.0 { 1 } else { -1 })
    }
    /// Neither NaN nor infinite.
    ///
    ///     1.5.finite?    #=> true
    #[method("finite?")]
    fn finite_p(this: f64) -> bool {
        this.is_finite()
    }
    /// Whether it is 0.
    ///
    ///     -0.0.zero?    #=> true
    #[method("zero?")]
    fn zero_p(this: f64) -> bool {
        this == 0.0
    }
    /// Whether it is above 0.
    ///
    ///     1.5.positive?    #=> true
    #[method("positive?")]
    fn positive_p(this: f64) -> bool {
        this > 0.0
    }
    /// Whether it is below 0.
    ///
    ///     -0.0.negative?    #=> false
    #[method("negative?")]
    fn negative_p(this: f64) -> bool {
        this < 0.0
    }
    /// The next Float above.
    ///
    ///     1.0.next_float    #=> 1.0000000000000002
    #[method("next_float")]
    fn next_float(this: f64) -> f64 {
        this.next_up()
    }
    /// The next Float below.
    ///
    ///     1.0.prev_float    #=> 0.9999999999999999
    #[method("prev_float")]
    fn prev_float(this: f64) -> f64 {
        this.next_down()
    }
    /// 0, or pi for negative numbers; NaN stays.
    ///
    ///     -1.0.arg    #=> 3.141592653589793
    #[method("arg", "angle", "phase")]
    fn arg(cx: &Cx, this: Value) -> Value {
        match this.as_float() {
            Some(f) if f.is_nan() => this,
            Some(f) if f.is_sign_negative() => cx.float(std::f64::consts::PI),
            _ => ints::ZERO,
        }
    }

    fn finite(cx: &mut Cx, x: f64) -> Result<()> {
        if x.is_finite() { Ok(()) } else { cx.float_to_int(x).map(|_| ()) }
    }
}

pub(crate) use float::METHODS;
