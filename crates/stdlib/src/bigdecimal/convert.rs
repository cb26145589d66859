//! What BigDecimal makes of other numbers, and what other objects make of it (`coerce`).

use super::num::{DOUBLE_FIG, Num, Round, Rules};
use super::{exact, give, text};
use std::sync::Arc;
use zakuro_text::big::{self, Progress};
use zakuro_vm::*;

/// The other operand.
pub enum Operand {
    Own(Num),
    /// The payload of a BigDecimal.
    Of(Arc<Num>),
}
impl std::ops::Deref for Operand {
    type Target = Num;
    fn deref(&self) -> &Num {
        match self {
            Operand::Own(n) => n,
            Operand::Of(n) => n,
        }
    }
}
impl Operand {
    pub fn into_num(self) -> Num {
        match self {
            Operand::Own(n) => n,
            Operand::Of(n) => (*n).clone(),
        }
    }
}

/// Digits to which a Rational is taken beside a number.
pub fn wanted(n: &Num, digits: u64) -> u64 {
    if digits > 0 { digits } else { n.word_digits() }.max(2 * DOUBLE_FIG)
}

/// Numbers that calculate with BigDecimals.
pub fn known(cx: &Cx, v: Value) -> bool {
    cx.is_data::<super::Number>(v) || cx.is_integer(v) || v.as_float().is_some() || cx.is_a(v, ids::RATIONAL)
}

pub fn operand(cx: &mut Cx, v: Value, digits: u64) -> Result<Option<Operand>> {
    if cx.is_data::<super::Number>(v) {
        return Ok(Some(Operand::Of(super::number(cx, v)?)));
    }
    if let Some(i) = cx.as_big(v) {
        return Ok(Some(Operand::Own(Num::integer(&i, cx)?)));
    }
    if let Some(f) = v.as_float() {
        return Ok(Some(Operand::Own(from_float(cx, f, 0)?)));
    }
    if cx.is_a(v, ids::RATIONAL) {
        let mut r = exact(cx)?;
        return Ok(Some(Operand::Own(from_rational(cx, v, digits, &mut r)?)));
    }
    Ok(None)
}

/// The quotient; without `digits`: to as many as the operands have and 16 more, 32 at least.
pub fn divide(r: &mut Rules, a: &Num, b: &Num, digits: u64, p: &mut dyn Progress) -> big::Result<Num> {
    let mut digits = digits;
    if digits == 0 {
        let most = a.precision_scale().0.max(b.precision_scale().0) as u64;
        digits = most.saturating_add(DOUBLE_FIG).max(2 * DOUBLE_FIG);
        if r.limit > 0 {
            digits = digits.min(r.limit);
        }
    }
    r.div(a, b, digits, p)
}

fn from_rational(cx: &mut Cx, v: Value, digits: u64, r: &mut Rules) -> Result<Num> {
    let top = cx.call(v, Sym::intern("numerator"), &[])?;
    let bottom = cx.call(v, Sym::intern("denominator"), &[])?;
    match (cx.as_big(top), cx.as_big(bottom)) {
        (Some(t), Some(b)) => {
            let (t, b) = (Num::integer(&t, cx)?, Num::integer(&b, cx)?);
            Ok(divide(r, &t, &b, digits, cx)?)
        }
        _ => cx.type_error("not a Rational of Integers"),
    }
}

/// A Float: the shortest digits that tell it (16 of them at most), or its value rounded to `digits`.
pub fn from_float(p: &mut dyn Progress, f: f64, digits: u64) -> big::Result<Num> {
    let neg = f.is_sign_negative();
    if f.is_nan() {
        return Ok(Num::NaN);
    }
    if f.is_infinite() {
        return Ok(Num::Infinite { neg });
    }
    if f == 0.0 {
        return Ok(Num::Zero { neg });
    }
    let mut r = Rules { round: Round::Down, limit: 0, flags: 0, too_big: false };
    let text = if digits == 0 { format!("{:e}", f.abs()) } else { format!("{:.*e}", digits as usize - 1, f.abs()) };
    let (mantissa, exp) = text.split_once('e').unwrap_or((&text, "0"));
    let fraction = mantissa.split_once('.').map_or(0, |m| m.1.len()) as i128;
    let digits: Vec<u8> = mantissa.bytes().filter(|b| *b != b'.').collect();
    let number = zakuro_text::int::from_digits(&digits, 10, false, p)?.to_big().magnitude().clone();
    let n = r.number(neg, number, exp.parse::<i128>().unwrap_or(0) - fraction, p)?;
    r.significant(n, DOUBLE_FIG, Round::Down, p)
}

pub fn from_text(cx: &mut Cx, s: &str, raises: bool) -> Result<Value> {
    let mut r = exact(cx)?;
    match text::parse(s, true, &mut r, cx)? {
        Some(n) => give(cx, r, n),
        None if raises => cx.arg_error(format!("invalid value for BigDecimal(): \"{s}\"")),
        None => Ok(Value::NIL),
    }
}

/// `BigDecimal(value, digits, exception: raises)`
pub fn convert(cx: &mut Cx, v: Value, digits: Option<Value>, raises: bool) -> Result<Value> {
    let digits = match digits {
        Some(d) => {
            let n = cx.to_i64(d)?;
            if n < 0 {
                return if raises { cx.arg_error("negative precision") } else { Ok(Value::NIL) };
            }
            Some(n as u64)
        }
        None => None,
    };
    if v.is_nil() || v == Value::TRUE || v == Value::FALSE {
        let what = cx.describe_for_conversion(v);
        return if raises { cx.type_error(format!("can't convert {what} into BigDecimal")) } else { Ok(Value::NIL) };
    }
    let mut r = exact(cx)?;
    if cx.is_data::<super::Number>(v) {
        let n = (*super::number(cx, v)?).clone();
        super::checked(cx, r, n)?;
        return Ok(v);
    }
    if let Some(i) = cx.as_big(v) {
        let n = Num::integer(&i, cx)?;
        return give(cx, r, n);
    }
    if let Some(f) = v.as_float() {
        if digits.is_some_and(|d| d > DOUBLE_FIG) && f.is_finite() && f != 0.0 {
            return if raises { cx.arg_error("precision too large.") } else { Ok(Value::NIL) };
        }
        let n = from_float(cx, f, digits.unwrap_or(0))?;
        return give(cx, r, n);
    }
    if cx.is_a(v, ids::RATIONAL) {
        let Some(digits) = digits else {
            let c = cx.class_name_of(v);
            return if raises { cx.arg_error(format!("can't omit precision for a {c}.")) } else { Ok(Value::NIL) };
        };
        let n = from_rational(cx, v, digits, &mut r)?;
        return give(cx, r, n);
    }
    if cx.is_a(v, ids::COMPLEX) {
        let imaginary = cx.call(v, Sym::intern("imaginary"), &[])?;
        if !cx.call(imaginary, Sym::intern("=="), &[Value::fixnum(0)])?.truthy() {
            return cx.arg_error("Unable to make a BigDecimal from non-zero imaginary number");
        }
        let real = cx.call(v, Sym::intern("real"), &[])?;
        let digits = digits.map(|d| Value::fixnum(d as i64));
        return convert(cx, real, digits, raises);
    }
    let text = match Ref::<StringCell>::from_value(v) {
        Some(s) => Some(s),
        None => cx.try_str(v)?,
    };
    match text {
        Some(s) if s.has_nul() => {
            if raises {
                cx.arg_error("string contains null byte")
            } else {
                Ok(Value::NIL)
            }
        }
        Some(s) => {
            let s = s.to_text();
            from_text(cx, &s, raises)
        }
        None if raises => {
            let c = cx.class_name_of(v);
            cx.type_error(format!("can't convert {c} into BigDecimal"))
        }
        None => Ok(Value::NIL),
    }
}

/// `other.coerce(this)`. None when it has none and `must` is false.
pub fn coerced(cx: &mut Cx, this: Value, other: Value, must: bool) -> Result<Option<(Value, Value)>> {
    let name = Sym::intern("coerce");
    if !cx.responds(other, name, false)? {
        if !must {
            return Ok(None);
        }
        let what = if other.is_cell() { cx.class_name_of(other) } else { cx.inspect_for_error(other) };
        return cx.type_error(format!("{what} can't be coerced into BigDecimal"));
    }
    let both = cx.call(other, name, &[this])?;
    match Ref::<ArrayCell>::from_value(both) {
        Some(a) if a.len() == 2 => Ok(a.get(0).zip(a.get(1))),
        _ if both.is_nil() && !must => Ok(None),
        _ => cx.type_error("coerce must return [x, y]"),
    }
}

/// An operator of what `coerce` gives.
pub fn other_way(cx: &mut Cx, this: Value, other: Value, op: &str) -> Result<Value> {
    match coerced(cx, this, other, true)? {
        Some((a, b)) => cx.call(a, Sym::intern(op), &[b]),
        None => Ok(Value::NIL),
    }
}
