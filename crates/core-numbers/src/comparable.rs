//! Comparable: operators made of `<=>`.

use crate::numeric::coerce::sign_of;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

pub static TABLES: &[&[MethodRow]] = &[comparable::METHODS];

pub fn setup(_cx: &mut Cx) {}

/// `a <=> b` as -1, 0 or 1. ArgumentError when they don't compare.
pub fn compare(cx: &mut Cx, a: Value, b: Value) -> Result<i64> {
    if Value::both_fixnum(a, b) {
        return Ok(a.fix().cmp(&b.fix()) as i64);
    }
    let r = cx.call(a, sym::cmp, &[b])?;
    sign_of(cx, r, a, b)
}

#[ruby_class(ids::COMPARABLE)]
mod comparable {
    use super::*;

    /// Equality: the same object, or `<=>` gives 0.
    ///
    ///     "a".clamp("b", "c") == "b"    #=> true
    #[method("==")]
    fn eq(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        if this == other {
            return Ok(true);
        }
        let r = cx.guard_recursion(this, |cx| cx.call(this, sym::cmp, &[other]))?;
        match r {
            None | Some(Value::NIL) => Ok(false),
            Some(r) => Ok(sign_of(cx, r, this, other)? == 0),
        }
    }
    /// Whether `<=>` gives more than 0.
    ///
    ///     "b" > "a"    #=> true
    #[method(">")]
    fn gt(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        Ok(compare(cx, this, other)? > 0)
    }
    /// Whether `<=>` gives 0 or more.
    ///
    ///     "b" >= "b"    #=> true
    #[method(">=")]
    fn ge(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        Ok(compare(cx, this, other)? >= 0)
    }
    /// Whether `<=>` gives less than 0.
    ///
    ///     "b" < "a"    #=> false
    #[method("<")]
    fn lt(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        Ok(compare(cx, this, other)? < 0)
    }
    /// Whether `<=>` gives 0 or less.
    ///
    ///     "b" <= "b"    #=> true
    #[method("<=")]
    fn le(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        Ok(compare(cx, this, other)? <= 0)
    }
    /// Whether it lies between two bounds, these included.
    ///
    ///     3.between?(1, 5)    #=> true
    #[method("between?")]
    fn between(cx: &mut Cx, this: Value, min: Value, max: Value) -> Result<bool> {
        Ok(compare(cx, this, min)? >= 0 && compare(cx, this, max)? <= 0)
    }
    /// The nearest value within bounds; nil is no bound.
    ///
    ///     12.clamp(0, 10)     #=> 10
    ///     12.clamp(..20)      #=> 12
    ///     -1.clamp(0, nil)    #=> 0
    #[method("clamp")]
    fn clamp(cx: &mut Cx, this: Value, min: Value, max: Option<Value>) -> Result<Value> {
        let (min, max) = match max {
            Some(max) => (min, max),
            None => {
                let Some(r) = zakuro_core_base::ranges::as_range(cx, min)? else {
                    let c = cx.class_shown(min);
                    return cx.type_error(format!("wrong argument type {c} (expected Range)"));
                };
                if r.exclusive() && !r.high().is_nil() {
                    return cx.arg_error("cannot clamp with an exclusive range");
                }
                (r.low(), r.high())
            }
        };
        if !min.is_nil() && !max.is_nil() && compare(cx, min, max)? > 0 {
            return cx.arg_error("min argument must be less than or equal to max argument");
        }
        if !min.is_nil() {
            let c = compare(cx, this, min)?;
            if c == 0 {
                return Ok(this);
            }
            if c < 0 {
                return Ok(min);
            }
        }
        if !max.is_nil() && compare(cx, this, max)? > 0 {
            return Ok(max);
        }
        Ok(this)
    }
}
