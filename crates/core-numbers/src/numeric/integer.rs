//! Integer: operators and comparison. Everything else stands in integer_bits.rs, integer_iter.rs and integer_misc.rs.

use super::coerce::{self, Num, classify};
use super::{flt, ints, rat};
use std::cmp::Ordering;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// `this op other` for the three builtin kinds of other operand.
macro_rules! arith {
    ($cx:ident, $this:ident, $other:ident, $sym:expr, $int:expr, |$x:ident, $y:ident| $float:expr, $rat:expr) => {
        match classify($other) {
            Num::Int(b) => $int($cx, $this, b),
            Num::Float($y) => {
                let $x = ints::to_f64($this);
                Ok($cx.float($float))
            }
            Num::Rational(n, d) => {
                let p = $rat($cx, ($this, ints::ONE), (n, d))?;
                Ok(rat::object($cx, p))
            }
            Num::Other => coerce::binary($cx, $this, $sym, $other),
        }
    };
}

fn order(cx: &mut Cx, this: Value, other: Value) -> Result<Option<Option<Ordering>>> {
    Ok(match classify(other) {
        Num::Int(b) => Some(Some(ints::cmp(this, b))),
        Num::Float(f) => Some(ints::cmp_f64(this, f)),
        Num::Rational(n, d) => Some(Some(rat::cmp(cx, (this, ints::ONE), (n, d))?)),
        Num::Other => None,
    })
}
fn related(cx: &mut Cx, this: Value, op: Sym, other: Value, test: fn(Ordering) -> bool) -> Result<Value> {
    match order(cx, this, other)? {
        Some(o) => Ok(Value::bool(o.is_some_and(test))),
        None => coerce::relation(cx, this, op, other),
    }
}

/// `a ** b` for Integers a and b: an Integer, or a Rational for negative b.
pub fn int_pow(cx: &mut Cx, a: Value, b: Value) -> Result<Value> {
    if !ints::is_negative(b) {
        return ints::pow(cx, a, b);
    }
    // The exponent's parity is all that is left of it.
    if a == ints::ONE || a == Value::fixnum(-1) {
        return Ok(if a == ints::ONE || !ints::is_odd(b) { ints::ONE } else { a });
    }
    let p = rat::pow(cx, (a, ints::ONE), b)?;
    Ok(rat::object(cx, p))
}

#[ruby_class(ids::INTEGER)]
mod integer {
    use super::*;

    /// Sum.
    ///
    ///     1 + 2.5             #=> 3.5
    ///     (2 ** 64) + 1       #=> 18446744073709551617
    #[method("+")]
    fn add(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        arith!(cx, this, other, sym::add, |cx, a, b| Ok(ints::add(cx, a, b)), |x, y| x + y, rat::add)
    }
    /// Difference.
    ///
    ///     3 - 5    #=> -2
    #[method("-")]
    fn sub(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        arith!(cx, this, other, sym::sub, |cx, a, b| Ok(ints::sub(cx, a, b)), |x, y| x - y, rat::sub)
    }
    /// Product.
    ///
    ///     4611686018427387904 * 4    #=> 18446744073709551616
    #[method("*")]
    fn mul(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        arith!(cx, this, other, sym::mul, ints::mul, |x, y| x * y, rat::mul)
    }
    /// Quotient, rounded down for Integers. ZeroDivisionError.
    ///
    ///     7 / 2      #=> 3
    ///     -7 / 2     #=> -4
    ///     7 / 2.0    #=> 3.5
    #[method("/")]
    fn div_op(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        match classify(other) {
            Num::Int(b) => ints::div(cx, this, b),
            Num::Float(f) => Ok(cx.float(ints::to_f64(this) / f)),
            Num::Rational(n, d) => {
                let p = rat::div(cx, (this, ints::ONE), (n, d))?;
                Ok(rat::object(cx, p))
            }
            Num::Other => coerce::binary(cx, this, sym::div, other),
        }
    }
    /// Quotient as Integer, rounded down.
    ///
    ///     7.div(2.0)    #=> 3
    #[method("div")]
    fn div(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        match classify(other) {
            Num::Int(b) => ints::div(cx, this, b),
            Num::Float(0.0) => ints::zero_division(cx),
            Num::Float(f) => {
                let q = (ints::to_f64(this) / f).floor();
                cx.float_to_int(q)
            }
            Num::Rational(n, d) => rat::div_floor(cx, (this, ints::ONE), (n, d)),
            Num::Other => coerce::binary(cx, this, Sym::intern("div"), other),
        }
    }
    /// Remainder with the sign of the divisor.
    ///
    ///     -7 % 3       #=> 2
    ///     7 % -3       #=> -2
    ///     7 % 2.5      #=> 2.0
    #[method("%", "modulo")]
    fn modulo(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        match classify(other) {
            Num::Int(b) => ints::modulo(cx, this, b),
            Num::Float(f) => flt::modulo(cx, ints::to_f64(this), f),
            Num::Rational(n, d) => {
                let p = rat::modulo(cx, (this, ints::ONE), (n, d))?;
                Ok(rat::object(cx, p))
            }
            Num::Other => coerce::binary(cx, this, sym::modulo, other),
        }
    }
    /// Remainder with the sign of the receiver.
    ///
    ///     -7.remainder(3)    #=> -1
    #[method("remainder")]
    fn remainder(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        match classify(other) {
            Num::Int(b) => ints::remainder(cx, this, b),
            Num::Float(0.0) => ints::zero_division(cx),
            Num::Float(f) => Ok(cx.float(ints::to_f64(this) % f)),
            Num::Rational(n, d) => {
                let q = rat::div(cx, (this, ints::ONE), (n, d))?;
                let q = rat::truncate(cx, q)?;
                let p = rat::mul(cx, (n, d), (q, ints::ONE))?;
                let p = rat::sub(cx, (this, ints::ONE), p)?;
                Ok(rat::object(cx, p))
            }
            Num::Other => super::super::num::remainder_by_modulo(cx, this, other),
        }
    }
    /// Floored quotient and remainder.
    ///
    ///     -7.divmod(2)     #=> [-4, 1]
    ///     7.divmod(2.5)    #=> [2, 2.0]
    #[method("divmod")]
    fn divmod(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        match classify(other) {
            Num::Int(b) => {
                let (q, m) = ints::divmod(cx, this, b)?;
                Ok(cx.array(&[q, m]))
            }
            Num::Float(f) => flt::divmod(cx, ints::to_f64(this), f),
            Num::Rational(n, d) => {
                let a = (this, ints::ONE);
                let q = rat::div_floor(cx, a, (n, d))?;
                let m = rat::modulo(cx, a, (n, d))?;
                let m = rat::object(cx, m);
                Ok(cx.array(&[q, m]))
            }
            Num::Other => coerce::binary(cx, this, sym::divmod, other),
        }
    }
    /// Quotient as Float, rounded once.
    ///
    ///     4.fdiv(2)       #=> 2.0
    ///     (10**400).fdiv(10**399)   #=> 10.0
    #[method("fdiv")]
    fn fdiv(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        match classify(other) {
            Num::Int(b) => Ok(cx.float(ints::quotient_f64(this, b))),
            Num::Float(f) => Ok(cx.float(ints::to_f64(this) / f)),
            Num::Rational(n, d) => {
                let a = ints::mul(cx, this, d)?;
                Ok(cx.float(ints::quotient_f64(a, n)))
            }
            Num::Other => {
                let q = coerce::binary(cx, this, sym::fdiv, other)?;
                let f = cx.to_f64(q)?;
                Ok(cx.float(f))
            }
        }
    }
    /// Power: Integer, Rational for negative Integer exponents, Float for Floats.
    ///
    ///     2 ** 100    #=> 1267650600228229401496703205376
    ///     2 ** -2     #=> (1/4)
    ///     2 ** 0.5    #=> 1.4142135623730951
    #[method("**")]
    pub fn pow_op(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        match classify(other) {
            Num::Int(b) => int_pow(cx, this, b),
            Num::Float(f) => {
                if f == 0.0 || this == ints::ONE {
                    return Ok(cx.float(1.0));
                }
                let x = ints::to_f64(this);
                if x < 0.0 && f != f.round() {
                    return flt::complex_polar_pi(cx, (-x).powf(f), f);
                }
                Ok(cx.float(x.powf(f)))
            }
            Num::Rational(n, d) => {
                let r = rat::object(cx, (this, ints::ONE));
                let e = rat::object(cx, (n, d));
                cx.call(r, sym::pow, &[e])
            }
            Num::Other => coerce::binary(cx, this, sym::pow, other),
        }
    }
    /// Power, or power modulo a number without the huge intermediate.
    ///
    ///     2.pow(10)            #=> 1024
    ///     3.pow(10**20, 1000)  #=> 1
    #[method("pow")]
    fn pow(cx: &mut Cx, this: Value, other: Value, modulus: Option<Value>) -> Result<Value> {
        let Some(m) = modulus else { return pow_op(cx, this, other) };
        if !ints::is_int(other) {
            return cx.type_error("Integer#pow() 2nd argument not allowed unless a 1st argument is integer");
        }
        if ints::is_negative(other) {
            return cx.range_error("Integer#pow() 1st argument cannot be negative when 2nd argument specified");
        }
        if !ints::is_int(m) {
            return cx.type_error("Integer#pow() 2nd argument not allowed unless all arguments are integers");
        }
        if m == ints::ZERO {
            return ints::zero_division(cx);
        }
        ints::pow_mod(cx, this, other, m)
    }
    /// Negation.
    ///
    ///     -(5)    #=> -5
    #[method("-@")]
    fn uminus(cx: &mut Cx, this: Value) -> Value {
        ints::neg(cx, this)
    }
    /// Absolute value.
    ///
    ///     -5.abs    #=> 5
    #[method("abs", "magnitude")]
    fn abs(cx: &mut Cx, this: Value) -> Value {
        ints::abs(cx, this)
    }
    /// Equality by value.
    ///
    ///     1 == 1.0     #=> true
    ///     1 == "1"     #=> false
    #[method("==", "===")]
    fn eq(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        match classify(other) {
            Num::Int(b) => Ok(ints::equal(this, b)),
            Num::Float(f) => Ok(ints::cmp_f64(this, f) == Some(Ordering::Equal)),
            Num::Rational(n, d) => Ok(d == ints::ONE && ints::equal(this, n)),
            Num::Other => coerce::equal(cx, this, other),
        }
    }
    /// Equality by value and class.
    ///
    ///     1.eql?(1.0)    #=> false
    #[method("eql?")]
    fn eql(this: Value, other: Value) -> bool {
        ints::is_int(other) && ints::equal(this, other)
    }
    /// Hash code.
    ///
    ///     (2**70).hash == (2**70).hash    #=> true
    #[method("hash")]
    fn hash(cx: &Cx, this: Value) -> Value {
        let h = cx.quick_hash(this).unwrap_or(0);
        cx.shown_hash(h)
    }
    /// Order: -1, 0, 1, or nil.
    ///
    ///     1 <=> 2       #=> -1
    ///     1 <=> "x"     #=> nil
    #[method("<=>")]
    fn cmp(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        match order(cx, this, other)? {
            Some(o) => Ok(o.map_or(Value::NIL, |o| Value::fixnum(o as i64))),
            None => coerce::compare(cx, this, other),
        }
    }
    /// Less. ArgumentError when they don't compare.
    ///
    ///     1 < 1.5    #=> true
    #[method("<")]
    fn lt(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        related(cx, this, sym::lt, other, Ordering::is_lt)
    }
    /// Less or equal.
    ///
    ///     2 <= 2r    #=> true
    #[method("<=")]
    fn le(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        related(cx, this, sym::le, other, Ordering::is_le)
    }
    /// Greater.
    ///
    ///     2 ** 64 > 2.0 ** 63    #=> true
    #[method(">")]
    fn gt(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        related(cx, this, sym::gt, other, Ordering::is_gt)
    }
    /// Greater or equal.
    ///
    ///     1 >= 2    #=> false
    #[method(">=")]
    fn ge(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        related(cx, this, sym::ge, other, Ordering::is_ge)
    }
    /// `[other, self]`, both Integers or both Floats.
    ///
    ///     1.coerce(2)      #=> [2, 1]
    ///     1.coerce(2.5)    #=> [2.5, 1.0]
    #[method("coerce")]
    fn coerce(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        if ints::is_int(other) {
            return Ok(cx.array(&[other, this]));
        }
        let a = super::super::kernel::to_float(cx, other)?;
        let (a, b) = (cx.float(a), cx.float(ints::to_f64(this)));
        Ok(cx.array(&[a, b]))
    }
}

pub(crate) use integer::METHODS;
