//! Rational: exact fractions.

use super::coerce::{self, Num, classify, complex_parts};
use super::integer_misc::Way;
use super::num::{ascii, rounding_half};
use super::rat::{self, Pair};
use super::{flt, ints};
use std::cmp::Ordering;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// Receiver of Rational methods.
#[derive(Clone, Copy)]
pub struct Rational(pub Pair);
impl FromSelf for Rational {
    const EFFECTS: Effects = Effects::LEAF;
    fn from_self(cx: &mut Cx, v: Value) -> Result<Self> {
        match rat::parts(v) {
            Some(p) => Ok(Rational(p)),
            None => cx.wrong_receiver(v, "Rational"),
        }
    }
}

/// Integer, Float or Rational as exact fraction.
pub fn exact(cx: &mut Cx, v: Value) -> Result<Pair> {
    match classify(v) {
        Num::Int(i) => Ok((i, ints::ONE)),
        Num::Rational(n, d) => Ok((n, d)),
        Num::Float(f) if f.is_finite() => rat::from_f64(cx, f),
        Num::Float(f) => {
            cx.float_to_int(f)?;
            Ok((ints::ZERO, ints::ONE))
        }
        Num::Other => {
            let r = cx.call(v, sym::to_r, &[])?;
            match rat::parts(r) {
                Some(p) => Ok(p),
                None => {
                    let (c, g) = (cx.class_name_of(v), cx.class_name_of(r));
                    cx.type_error(format!("can't convert {c} to Rational ({c}#to_r gives {g})"))
                }
            }
        }
    }
}

pub fn to_text(cx: &mut Cx, p: Pair) -> Result<String> {
    Ok(format!("{}/{}", ints::to_text(cx, p.0, 10)?, ints::to_text(cx, p.1, 10)?))
}

fn arith(
    cx: &mut Cx,
    a: Pair,
    op: Sym,
    v: Value,
    exactly: fn(&mut Cx, Pair, Pair) -> Result<Pair>,
    inexactly: fn(f64, f64) -> f64,
) -> Result<Value> {
    let b = match classify(v) {
        Num::Int(i) => (i, ints::ONE),
        Num::Rational(n, d) => (n, d),
        Num::Float(f) => return Ok(cx.float(inexactly(rat::to_f64(a), f))),
        Num::Other => {
            let x = rat::object(cx, a);
            return coerce::binary(cx, x, op, v);
        }
    };
    let p = exactly(cx, a, b)?;
    Ok(rat::object(cx, p))
}

/// What a floored quotient by a Float leaves, by its definition: the Float is near the number that it was written as, and of that a multiple may be
/// exact where the Float's is not.
fn rest(cx: &mut Cx, this: Rational, divisor: Value, quotient: Value) -> Result<Value> {
    let multiple = cx.call(divisor, sym::mul, &[quotient])?;
    let multiple = cx.to_f64(multiple)?;
    Ok(cx.float(rat::to_f64(this.0) - multiple))
}

fn order(cx: &mut Cx, a: Pair, v: Value) -> Result<Option<Option<Ordering>>> {
    Ok(match classify(v) {
        Num::Int(i) => Some(Some(rat::cmp(cx, a, (i, ints::ONE))?)),
        Num::Rational(n, d) => Some(Some(rat::cmp(cx, a, (n, d))?)),
        Num::Float(f) => Some(rat::to_f64(a).partial_cmp(&f)),
        Num::Other => None,
    })
}

fn related(cx: &mut Cx, a: Pair, op: Sym, v: Value, test: fn(Ordering) -> bool) -> Result<Value> {
    match order(cx, a, v)? {
        Some(Some(o)) => Ok(Value::bool(test(o))),
        Some(None) => {
            let x = rat::object(cx, a);
            coerce::compare_failed(cx, x, v)
        }
        None => {
            let x = rat::object(cx, a);
            coerce::relation(cx, x, op, v)
        }
    }
}

/// floor, ceil, truncate and round with digits: an Integer without or for digits below 1.
/// Digits after the point of a number with this denominator; None: infinitely many.
fn decimals(mut denominator: i64) -> Option<i64> {
    let mut count = |factor| {
        let mut n = 0;
        while denominator % factor == 0 {
            denominator /= factor;
            n += 1;
        }
        n
    };
    let digits = count(2).max(count(5));
    (denominator == 1).then_some(digits)
}

fn rounded(cx: &mut Cx, p: Pair, digits: Option<Value>, way: Way) -> Result<Value> {
    let whole = |cx: &mut Cx, p: Pair| match way {
        Way::Floor => rat::floor(cx, p),
        Way::Ceil => rat::ceil(cx, p),
        Way::Truncate => rat::truncate(cx, p),
        Way::Round(half) => rat::round(cx, p, half),
    };
    let Some(n) = digits else { return whole(cx, p) };
    if !ints::is_int(n) {
        return cx.type_error("not an integer");
    }
    if n.is_fixnum() && p.1.is_fixnum() && n.fix() >= decimals(p.1.fix()).unwrap_or(i64::MAX).max(1) {
        return Ok(rat::object(cx, p));
    }
    let scale = rat::pow(cx, (ints::TEN, ints::ONE), n)?;
    let scaled = rat::mul(cx, p, scale)?;
    let i = whole(cx, scaled)?;
    let r = rat::div(cx, (i, ints::ONE), scale)?;
    if ints::signum(n) < 1 { rat::floor(cx, r) } else { Ok(rat::object(cx, r)) }
}

#[ruby_class(ids::RATIONAL)]
mod rational {
    use super::*;

    /// As `Kernel#Rational`.
    ///
    ///     Rational.send(:convert, 6, 4)    #=> (3/2)
    #[method("convert", singleton, private)]
    fn convert(cx: &mut Cx, _this: Value, a: Value, b: Option<Value>, kw: Kwargs) -> Result<Value> {
        super::super::kernel::rational_of(cx, a, b, kw)
    }
    /// Sum.
    ///
    ///     1/2r + 1/3r    #=> (5/6)
    #[method("+")]
    fn add(cx: &mut Cx, this: Rational, v: Value) -> Result<Value> {
        arith(cx, this.0, sym::add, v, rat::add, |a, b| a + b)
    }
    /// Difference.
    ///
    ///     1/2r - 1    #=> (-1/2)
    #[method("-")]
    fn sub(cx: &mut Cx, this: Rational, v: Value) -> Result<Value> {
        arith(cx, this.0, sym::sub, v, rat::sub, |a, b| a - b)
    }
    /// Product.
    ///
    ///     Rational(2, 3) * 3    #=> (2/1)
    #[method("*")]
    fn mul(cx: &mut Cx, this: Rational, v: Value) -> Result<Value> {
        arith(cx, this.0, sym::mul, v, rat::mul, |a, b| a * b)
    }
    /// Quotient. ZeroDivisionError for an exact zero.
    ///
    ///     Rational(2, 3) / 4    #=> (1/6)
    #[method("/", "quo")]
    fn div(cx: &mut Cx, this: Rational, v: Value) -> Result<Value> {
        arith(cx, this.0, sym::div, v, rat::div, |a, b| a / b)
    }
    /// Quotient as Float.
    ///
    ///     Rational(2, 3).fdiv(1)    #=> 0.6666666666666666
    #[method("fdiv")]
    fn fdiv(cx: &mut Cx, this: Rational, v: Value) -> Result<Value> {
        if v == ints::ZERO {
            return Ok(cx.float(rat::to_f64(this.0) / 0.0));
        }
        let q = div(cx, this, v)?;
        match classify(q) {
            Num::Other => cx.call(q, sym::to_f, &[]),
            _ => {
                let f = cx.to_f64(q)?;
                Ok(cx.float(f))
            }
        }
    }
    /// Power: exact for Integer exponents.
    ///
    ///     Rational(2, 3) ** -2     #=> (9/4)
    ///     Rational(1, 4) ** 0.5    #=> 0.5
    #[method("**")]
    fn pow(cx: &mut Cx, this: Rational, v: Value) -> Result<Value> {
        let exponent = match classify(v) {
            Num::Int(i) => Some(i),
            Num::Rational(n, d) if d == ints::ONE => Some(n),
            Num::Other => {
                let x = rat::object(cx, this.0);
                return coerce::binary(cx, x, sym::pow, v);
            }
            _ => None,
        };
        if let Some(n) = exponent {
            let p = rat::pow(cx, this.0, n)?;
            return Ok(rat::object(cx, p));
        }
        if this.0.0 == ints::ZERO
            && let Some(e) = rat::parts(v)
        {
            return if ints::is_negative(e.0) { ints::zero_division(cx) } else { Ok(rat::object(cx, this.0)) };
        }
        let f = cx.float(rat::to_f64(this.0));
        let e = cx.to_f64(v)?;
        let e = cx.float(e);
        cx.call(f, sym::pow, &[e])
    }
    /// Floored quotient.
    ///
    ///     Rational(7, 2).div(1)    #=> 3
    #[method("div")]
    fn int_div(cx: &mut Cx, this: Rational, v: Value) -> Result<Value> {
        match classify(v) {
            Num::Int(i) => rat::div_floor(cx, this.0, (i, ints::ONE)),
            Num::Rational(n, d) => rat::div_floor(cx, this.0, (n, d)),
            Num::Float(0.0) => ints::zero_division(cx),
            _ => {
                let q = div(cx, this, v)?;
                cx.call(q, sym::floor, &[])
            }
        }
    }
    /// Remainder with the sign of the divisor.
    ///
    ///     Rational(7, 2) % 1    #=> (1/2)
    #[method("%", "modulo")]
    fn modulo(cx: &mut Cx, this: Rational, v: Value) -> Result<Value> {
        if let Num::Float(_) = classify(v) {
            let q = int_div(cx, this, v)?;
            return rest(cx, this, v, q);
        }
        arith(cx, this.0, sym::modulo, v, rat::modulo, |a, _| a)
    }
    /// Floored quotient and remainder.
    ///
    ///     Rational(7, 2).divmod(1)    #=> [3, (1/2)]
    #[method("divmod")]
    fn divmod(cx: &mut Cx, this: Rational, v: Value) -> Result<Value> {
        let q = int_div(cx, this, v)?;
        let m = if let Num::Float(_) = classify(v) { rest(cx, this, v, q)? } else { modulo(cx, this, v)? };
        Ok(cx.array(&[q, m]))
    }
    /// Negation.
    ///
    ///     -Rational(1, 2)    #=> (-1/2)
    #[method("-@")]
    fn uminus(cx: &mut Cx, this: Rational) -> Value {
        let p = rat::neg(cx, this.0);
        rat::object(cx, p)
    }
    /// Absolute value.
    ///
    ///     Rational(-1, 2).abs    #=> (1/2)
    #[method("abs", "magnitude")]
    fn abs(cx: &mut Cx, this: Rational) -> Value {
        let n = ints::abs(cx, this.0.0);
        rat::object(cx, (n, this.0.1))
    }
    /// Order.
    ///
    ///     Rational(1, 2) <=> 0.5    #=> 0
    #[method("<=>")]
    fn cmp(cx: &mut Cx, this: Rational, v: Value) -> Result<Value> {
        match order(cx, this.0, v)? {
            Some(o) => Ok(o.map_or(Value::NIL, |o| Value::fixnum(o as i64))),
            None => {
                let x = rat::object(cx, this.0);
                coerce::compare(cx, x, v)
            }
        }
    }
    /// Equality by value.
    ///
    ///     Rational(2, 1) == 2    #=> true
    #[method("==")]
    fn eq(cx: &mut Cx, this: Rational, v: Value) -> Result<bool> {
        match classify(v) {
            Num::Int(i) => Ok(rat::equal(this.0, (i, ints::ONE))),
            Num::Rational(n, d) => Ok(rat::equal(this.0, (n, d))),
            Num::Float(f) => Ok(rat::to_f64(this.0) == f),
            Num::Other => {
                let x = rat::object(cx, this.0);
                coerce::equal(cx, x, v)
            }
        }
    }
    /// Less.
    ///
    ///     Rational(1, 3) < Rational(1, 2)    #=> true
    #[method("<")]
    fn lt(cx: &mut Cx, this: Rational, v: Value) -> Result<Value> {
        related(cx, this.0, sym::lt, v, Ordering::is_lt)
    }
    /// Less or equal.
    ///
    ///     Rational(1, 3) <= 0    #=> false
    #[method("<=")]
    fn le(cx: &mut Cx, this: Rational, v: Value) -> Result<Value> {
        related(cx, this.0, sym::le, v, Ordering::is_le)
    }
    /// Greater.
    ///
    ///     Rational(1, 3) > 0.3    #=> true
    #[method(">")]
    fn gt(cx: &mut Cx, this: Rational, v: Value) -> Result<Value> {
        related(cx, this.0, sym::gt, v, Ordering::is_gt)
    }
    /// Greater or equal.
    ///
    ///     Rational(1, 2) >= 0.5    #=> true
    #[method(">=")]
    fn ge(cx: &mut Cx, this: Rational, v: Value) -> Result<Value> {
        related(cx, this.0, sym::ge, v, Ordering::is_ge)
    }
    /// A pair of one kind: Rationals for exact numbers, Floats for a Float.
    ///
    ///     Rational(1, 2).coerce(1)      #=> [(1/1), (1/2)]
    ///     Rational(1, 2).coerce(1.0)    #=> [1.0, 0.5]
    #[method("coerce")]
    fn coerce(cx: &mut Cx, this: Rational, v: Value) -> Result<Value> {
        let me = rat::object(cx, this.0);
        let pair = match classify(v) {
            Num::Int(i) => [rat::object(cx, (i, ints::ONE)), me],
            Num::Rational(..) => [v, me],
            Num::Float(_) => [v, cx.float(rat::to_f64(this.0))],
            Num::Other => match complex_parts(v) {
                Some((re, im)) if im == ints::ZERO => {
                    let p = exact(cx, re)?;
                    [rat::object(cx, p), me]
                }
                Some(_) => [v, PairCell::make(&cx.heap, ids::COMPLEX, Kind::Complex, me, ints::ZERO)],
                None => return coerce::coerce_failed(cx, me, v),
            },
        };
        Ok(cx.array(&pair))
    }
    /// Hash code.
    ///
    ///     Rational(1, 2).hash == Rational(2, 4).hash    #=> true
    #[method("hash")]
    fn hash(cx: &Cx, this: Rational) -> Value {
        let [n, d] = [this.0.0, this.0.1].map(|n| cx.quick_hash(n).unwrap_or(0));
        cx.shown_hash(equality::combine(&[n, d, u64::from(ids::RATIONAL.0)]))
    }
    /// Numerator, with the sign.
    ///
    ///     Rational(-2, 4).numerator    #=> -1
    #[method("numerator")]
    fn numerator(this: Rational) -> Value {
        this.0.0
    }
    /// Denominator, positive.
    ///
    ///     Rational(-2, 4).denominator    #=> 2
    #[method("denominator")]
    fn denominator(this: Rational) -> Value {
        this.0.1
    }
    /// Text.
    ///
    ///     Rational(1, 2).to_s    #=> "1/2"
    #[method("to_s")]
    fn to_s(cx: &mut Cx, this: Rational) -> Result<Value> {
        let text = to_text(cx, this.0)?;
        Ok(ascii(cx, &text))
    }
    /// Text in parentheses.
    ///
    ///     Rational(1, 2).inspect    #=> "(1/2)"
    #[method("inspect")]
    fn inspect(cx: &mut Cx, this: Rational) -> Result<Value> {
        let text = to_text(cx, this.0)?;
        Ok(ascii(cx, &format!("({text})")))
    }
    /// Truncated.
    ///
    ///     Rational(-7, 2).to_i    #=> -3
    #[method("to_i")]
    fn to_i(cx: &mut Cx, this: Rational) -> Result<Value> {
        rat::truncate(cx, this.0)
    }
    /// The nearest Float.
    ///
    ///     Rational(1, 3).to_f    #=> 0.3333333333333333
    #[method("to_f")]
    fn to_f(this: Rational) -> f64 {
        rat::to_f64(this.0)
    }
    /// self.
    ///
    ///     Rational(1, 2).to_r    #=> (1/2)
    #[method("to_r")]
    fn to_r(this: Value) -> Value {
        this
    }
    /// The simplest Rational within a precision.
    ///
    ///     Rational(5033165, 16777216).rationalize(Rational("0.01"))    #=> (3/10)
    #[method("rationalize")]
    fn rationalize(cx: &mut Cx, this: Rational, precision: Option<Value>) -> Result<Value> {
        let Some(e) = precision else { return Ok(rat::object(cx, this.0)) };
        let e = exact(cx, e)?;
        let p = flt::rationalize_within(cx, this.0, e)?;
        Ok(rat::object(cx, p))
    }
    /// Rounded down.
    ///
    ///     Rational(-7, 2).floor           #=> -4
    ///     Rational(22, 7).floor(2)        #=> (157/50)
    #[method("floor")]
    fn floor(cx: &mut Cx, this: Rational, digits: Option<Value>) -> Result<Value> {
        rounded(cx, this.0, digits, Way::Floor)
    }
    /// Rounded up.
    ///
    ///     Rational(7, 2).ceil    #=> 4
    #[method("ceil")]
    fn ceil(cx: &mut Cx, this: Rational, digits: Option<Value>) -> Result<Value> {
        rounded(cx, this.0, digits, Way::Ceil)
    }
    /// Rounded towards zero.
    ///
    ///     Rational(-7, 2).truncate    #=> -3
    #[method("truncate")]
    fn truncate(cx: &mut Cx, this: Rational, digits: Option<Value>) -> Result<Value> {
        rounded(cx, this.0, digits, Way::Truncate)
    }
    /// Rounded to the nearest.
    ///
    ///     Rational(5, 2).round                  #=> 3
    ///     Rational(5, 2).round(half: :even)     #=> 2
    #[method("round")]
    fn round(cx: &mut Cx, this: Rational, digits: Option<Value>, kw: Kwargs) -> Result<Value> {
        let half = rounding_half(cx, kw)?;
        rounded(cx, this.0, digits, Way::Round(half))
    }
    /// Whether it is 0.
    ///
    ///     Rational(0, 5).zero?    #=> true
    #[method("zero?")]
    fn zero_p(this: Rational) -> bool {
        this.0.0 == ints::ZERO
    }
    /// Whether it is above 0.
    ///
    ///     Rational(1, 2).positive?    #=> true
    #[method("positive?")]
    fn positive_p(this: Rational) -> bool {
        ints::signum(this.0.0) > 0
    }
    /// Whether it is below 0.
    ///
    ///     Rational(1, 2).negative?    #=> false
    #[method("negative?")]
    fn negative_p(this: Rational) -> bool {
        ints::signum(this.0.0) < 0
    }
    /// For Marshal: numerator and denominator.
    #[method("marshal_dump", private)]
    fn marshal_dump(cx: &Cx, this: Rational) -> Value {
        cx.array(&[this.0.0, this.0.1])
    }
}

pub(crate) use rational::METHODS;
