//! The coercion protocol between numbers: `a + b` where `a` does not know `b` asks `b.coerce(a)` for a pair that understands each other.

use super::ints;
use zakuro_vm::*;

/// A number as builtin arithmetic sees it.
#[derive(Clone, Copy)]
pub enum Num {
    Int(Value),
    Float(f64),
    Rational(Value, Value),
    /// Complex numbers, numbers defined by users, and things that are no numbers.
    Other,
}

#[inline(always)]
pub fn classify(v: Value) -> Num {
    if v.is_fixnum() {
        return Num::Int(v);
    }
    if v.is_flonum() {
        return Num::Float(v.flo());
    }
    if !v.is_cell() {
        return Num::Other;
    }
    match v.kind_of_cell() {
        Kind::Bignum => Num::Int(v),
        Kind::Float => Num::Float(v.as_float().unwrap_or(0.0)),
        Kind::Rational => match PairCell::from_value(v, Kind::Rational) {
            Some((n, d)) => Num::Rational(n, d),
            None => Num::Other,
        },
        _ => Num::Other,
    }
}

/// Real part and imaginary part of a Complex.
pub fn complex_parts(v: Value) -> Option<(Value, Value)> {
    PairCell::from_value(v, Kind::Complex)
}

/// `y.coerce(x)` as a pair; None when y has no such method (or answered nil where that is allowed).
fn coerce_pair(cx: &mut Cx, x: Value, y: Value, strict: bool) -> Result<Option<(Value, Value)>> {
    match cx.call_if_responds(y, sym::coerce, &[x])? {
        None => Ok(None),
        Some(Value::NIL) if !strict => Ok(None),
        Some(r) => match Ref::<ArrayCell>::from_value(r) {
            Some(a) if a.len() == 2 => Ok(Some((a.get(0).unwrap_or(Value::NIL), a.get(1).unwrap_or(Value::NIL)))),
            _ => cx.type_error("coerce must return [x, y]"),
        },
    }
}

/// `y.coerce(x)`. TypeError when y can't.
pub fn pair(cx: &mut Cx, x: Value, y: Value) -> Result<(Value, Value)> {
    match coerce_pair(cx, x, y, true)? {
        Some(p) => Ok(p),
        None => coerce_failed(cx, x, y),
    }
}

/// What messages call the other operand: immediates and Floats by inspect, others by class.
pub fn operand_name(cx: &mut Cx, v: Value) -> String {
    if !v.is_cell() || v.as_float().is_some() { cx.inspect_for_error(v) } else { cx.class_shown(v) }
}

/// TypeError "String can't be coerced into Integer".
#[cold]
pub fn coerce_failed<T>(cx: &mut Cx, x: Value, y: Value) -> Result<T> {
    let what = operand_name(cx, y);
    let class = cx.class_shown(x);
    cx.type_error(format!("{what} can't be coerced into {class}"))
}

/// ArgumentError "comparison of Integer with String failed".
#[cold]
pub fn compare_failed<T>(cx: &mut Cx, x: Value, y: Value) -> Result<T> {
    let what = operand_name(cx, y);
    let class = cx.class_shown(x);
    cx.arg_error(format!("comparison of {class} with {what} failed"))
}

/// `x op y` after coercion. TypeError when y can't.
#[inline(never)]
pub fn binary(cx: &mut Cx, x: Value, op: Sym, y: Value) -> Result<Value> {
    match coerce_pair(cx, x, y, true)? {
        Some((a, b)) => cx.call(a, op, &[b]),
        None => coerce_failed(cx, x, y),
    }
}

/// `x op y` after coercion; None when the coerced x has no such operator (Floats and bit operators).
pub fn binary_if_responds(cx: &mut Cx, x: Value, op: Sym, y: Value) -> Result<Option<Value>> {
    match coerce_pair(cx, x, y, true)? {
        Some((a, b)) => cx.call_if_responds(a, op, &[b]),
        None => coerce_failed(cx, x, y),
    }
}

/// `x <=> y` after coercion; nil when they don't compare.
#[inline(never)]
pub fn compare(cx: &mut Cx, x: Value, y: Value) -> Result<Value> {
    match coerce_pair(cx, x, y, false)? {
        Some((a, b)) => cx.call(a, sym::cmp, &[b]),
        None => Ok(Value::NIL),
    }
}

/// `x < y` and the like after coercion. ArgumentError when they don't compare.
#[inline(never)]
pub fn relation(cx: &mut Cx, x: Value, op: Sym, y: Value) -> Result<Value> {
    if let Some((a, b)) = coerce_pair(cx, x, y, false)? {
        let r = cx.call(a, op, &[b])?;
        if !r.is_nil() {
            return Ok(r);
        }
    }
    compare_failed(cx, x, y)
}

/// `x == y` for a y that builtin arithmetic doesn't know: y decides.
#[inline(never)]
pub fn equal(cx: &mut Cx, x: Value, y: Value) -> Result<bool> {
    if !y.is_cell() || matches!(y.kind_of_cell(), Kind::String | Kind::Array | Kind::Hash | Kind::Range | Kind::Class) {
        return Ok(false);
    }
    Ok(cx.call(y, sym::eq, &[x])?.truthy())
}

/// Whether a value counts as exact (Integer or Rational).
pub fn is_exact(v: Value) -> bool {
    ints::is_int(v) || v.is_kind(Kind::Rational)
}

/// Real number (Integer, Float, Rational, or a user's Numeric that says `real?`).
pub fn is_real(cx: &mut Cx, v: Value) -> Result<bool> {
    match classify(v) {
        Num::Other if v.is_kind(Kind::Complex) => Ok(false),
        Num::Other if cx.is_a(v, ids::NUMERIC) => Ok(cx.call(v, Sym::intern("real?"), &[])?.truthy()),
        Num::Other => Ok(false),
        _ => Ok(true),
    }
}

/// Generic arithmetic on any numbers: builtin ones directly, others by calling the operator.
pub fn add(cx: &mut Cx, a: Value, b: Value) -> Result<Value> {
    if ints::is_int(a) && ints::is_int(b) && cx.is_builtin(a, sym::add, ids::INTEGER) { Ok(ints::add(cx, a, b)) } else { cx.call(a, sym::add, &[b]) }
}
pub fn sub(cx: &mut Cx, a: Value, b: Value) -> Result<Value> {
    if ints::is_int(a) && ints::is_int(b) && cx.is_builtin(a, sym::sub, ids::INTEGER) { Ok(ints::sub(cx, a, b)) } else { cx.call(a, sym::sub, &[b]) }
}
pub fn mul(cx: &mut Cx, a: Value, b: Value) -> Result<Value> {
    if ints::is_int(a) && ints::is_int(b) && cx.is_builtin(a, sym::mul, ids::INTEGER) { ints::mul(cx, a, b) } else { cx.call(a, sym::mul, &[b]) }
}
/// -1, 0, 1 of a comparison result that a `<=>` method returned.
pub fn sign_of(cx: &mut Cx, r: Value, a: Value, b: Value) -> Result<i64> {
    match r {
        Value::NIL => compare_failed(cx, a, b),
        v if ints::is_int(v) => Ok(ints::signum(v)),
        v => {
            if cx.call(v, sym::gt, &[ints::ZERO])?.truthy() {
                return Ok(1);
            }
            Ok(if cx.call(v, sym::lt, &[ints::ZERO])?.truthy() { -1 } else { 0 })
        }
    }
}
