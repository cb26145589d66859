//! Numeric: what all numbers share, and helpers for them. The rest of Numeric is Ruby (prelude/numeric.rb).

use super::coerce;
use super::{ints, kernel};
use zakuro_macros::ruby_class;
use zakuro_object::string::US_ASCII;
use zakuro_text::float::RoundHalf;
use zakuro_vm::*;

/// A new String of ASCII text, in the encoding that numbers print in.
pub fn ascii(cx: &Cx, s: &str) -> Value {
    cx.str_bytes(s.as_bytes(), US_ASCII)
}

/// The `half:` keyword of the round methods.
pub fn rounding_half(cx: &mut Cx, kw: Kwargs) -> Result<RoundHalf> {
    if kw.is_none() {
        return Ok(RoundHalf::Up);
    }
    kw.only(cx, &[sym::half])?;
    let v = kw.get(sym::half).unwrap_or(Value::NIL);
    if v.is_nil() {
        return Ok(RoundHalf::Up);
    }
    let name = match v.as_sym() {
        Some(s) => s.name().into_owned(),
        None => match cx.try_str(v)? {
            Some(s) => {
                if let Some(e) = zakuro_text::encoding::Encoding::from_id(s.encoding()).filter(|e| !e.is_ascii_compatible()) {
                    return cx.raise(ids::COMPAT_ERROR, format!("ASCII incompatible encoding: {}", e.name()));
                }
                s.to_text()
            }
            None => cx.to_s_text(v)?,
        },
    };
    match name.as_str() {
        "up" => Ok(RoundHalf::Up),
        "even" => Ok(RoundHalf::Even),
        "down" => Ok(RoundHalf::Down),
        _ => cx.arg_error(format!("invalid rounding mode: {name}")),
    }
}

/// Numeric#remainder: the modulo, corrected when the signs differ.
pub fn remainder_by_modulo(cx: &mut Cx, x: Value, y: Value) -> Result<Value> {
    let (x, y) = if cx.is_a(y, ids::NUMERIC) { (x, y) } else { coerce::pair(cx, x, y)? };
    let z = cx.call(x, sym::modulo, &[y])?;
    if cx.eq(z, ints::ZERO)? {
        return Ok(z);
    }
    let opposite = is_negative(cx, x)? && is_positive(cx, y)? || is_positive(cx, x)? && is_negative(cx, y)?;
    if !opposite {
        return Ok(z);
    }
    if y.as_float().is_some_and(f64::is_infinite) { Ok(x) } else { coerce::sub(cx, z, y) }
}

/// `v > 0`
fn is_positive(cx: &mut Cx, v: Value) -> Result<bool> {
    if ints::is_int(v) {
        return Ok(ints::signum(v) > 0);
    }
    match cx.call_if_responds(v, sym::gt, &[ints::ZERO])? {
        Some(r) => Ok(r.truthy()),
        None => coerce::compare_failed(cx, v, ints::ZERO),
    }
}

/// `v < 0`
pub fn is_negative(cx: &mut Cx, v: Value) -> Result<bool> {
    if ints::is_int(v) {
        return Ok(ints::is_negative(v));
    }
    if let Some(f) = v.as_float() {
        return Ok(f < 0.0);
    }
    match cx.call_if_responds(v, sym::lt, &[ints::ZERO])? {
        Some(r) => Ok(r.truthy()),
        None => coerce::compare_failed(cx, v, ints::ZERO),
    }
}

#[ruby_class(ids::NUMERIC)]
mod numeric {
    use super::*;

    /// `[other, self]` of one class: as they are when they have one already, else as Floats.
    ///
    ///     1.5.coerce(2)    #=> [2.0, 1.5]
    #[method("coerce")]
    fn coerce(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        if cx.class_of(this) == cx.class_of(other) {
            return Ok(cx.array(&[other, this]));
        }
        let a = kernel::to_float(cx, other)?;
        let b = kernel::to_float(cx, this)?;
        let (a, b) = (cx.float(a), cx.float(b));
        Ok(cx.array(&[a, b]))
    }
    /// Equality by value and class.
    ///
    ///     1.eql?(1.0)    #=> false
    #[method("eql?")]
    fn eql(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        if cx.class_of(this) != cx.class_of(other) {
            return Ok(false);
        }
        cx.eq(this, other)
    }
    /// 0 for itself, else nil.
    ///
    ///     Numeric.new <=> 1    #=> nil
    #[method("<=>")]
    fn cmp(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        Ok(if this == other || cx.eq(this, other)? { ints::ZERO } else { Value::NIL })
    }
    /// Numbers are their own copies.
    ///
    ///     1.dup    #=> 1
    #[method("dup")]
    fn dup(this: Value) -> Value {
        this
    }
    /// Numbers are their own copies; `freeze: false` is refused.
    ///
    ///     1.clone(freeze: true)    #=> 1
    #[method("clone")]
    fn clone(cx: &mut Cx, this: Value, kw: Kwargs) -> Result<Value> {
        let freeze = Sym::intern("freeze");
        kw.only(cx, &[freeze])?;
        match kw.get(freeze) {
            Some(Value::FALSE) => {
                let c = cx.class_shown(this);
                cx.arg_error(format!("can't unfreeze {c}"))
            }
            None | Some(Value::NIL | Value::TRUE) => Ok(this),
            Some(v) => {
                let c = cx.class_shown(v);
                cx.arg_error(format!("unexpected value for freeze: {c}"))
            }
        }
    }
    /// Remainder with the sign of the receiver.
    ///
    ///     -7.5.remainder(2)    #=> -1.5
    #[method("remainder")]
    fn remainder(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        remainder_by_modulo(cx, this, other)
    }
}

pub(crate) use numeric::METHODS;
