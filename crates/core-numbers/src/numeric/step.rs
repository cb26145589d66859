//! Numeric#step and the sizes of arithmetic sequences.

use super::coerce::{self, compare_failed};
use super::{flt, ints, num};
use zakuro_core_collections::enumerator::{EnumeratorExt, SizeFn, arithmetic};
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// Enumerator of a method that was called without a block.
pub fn sized(cx: &mut Cx, recv: Value, name: &str, args: &[Value], size: SizeFn) -> Result<Value> {
    cx.sized_enumerator(recv, name, args, size)
}

/// Number of elements of `from`, `from + step`, ... up to `to`: an Integer or Infinity.
pub fn interval_size(cx: &mut Cx, from: Value, to: Value, step: Value, exclusive: bool) -> Result<Value> {
    if let (Some(a), Some(b), Some(s)) = (from.as_fixnum(), to.as_fixnum(), step.as_fixnum()) {
        if s == 0 {
            return Ok(cx.float(f64::INFINITY));
        }
        let delta = if s < 0 { a - b } else { b - a } - exclusive as i64;
        return Ok(if delta < 0 { ints::ZERO } else { cx.int(delta / s.abs() + 1) });
    }
    if from.as_float().is_some() || to.as_float().is_some() || step.as_float().is_some() {
        let (a, b, s) = (cx.to_f64(from)?, cx.to_f64(to)?, cx.to_f64(step)?);
        let n = flt::step_size(a, b, s, exclusive);
        return if n.is_infinite() { Ok(cx.float(n)) } else { cx.float_to_int(n) };
    }
    let sign = cx.call(step, sym::cmp, &[ints::ZERO])?;
    let op = match coerce::sign_of(cx, sign, step, ints::ZERO)? {
        0 => return Ok(cx.float(f64::INFINITY)),
        1 => sym::gt,
        _ => sym::lt,
    };
    if cx.call(from, op, &[to])?.truthy() {
        return Ok(ints::ZERO);
    }
    let span = coerce::sub(cx, to, from)?;
    let n = cx.call(span, Sym::intern("div"), &[step])?;
    let covered = coerce::mul(cx, n, step)?;
    let last = coerce::add(cx, from, covered)?;
    if !exclusive || cx.call(to, op, &[last])?.truthy() { coerce::add(cx, n, ints::ONE) } else { Ok(n) }
}

/// Runs the Float loop of `step` when one of the numbers is a Float; false when none is.
pub fn float_loop(cx: &mut Cx, from: Value, to: Value, step: Value, exclusive: bool, block: Block) -> Result<bool> {
    if from.as_float().is_none() && to.as_float().is_none() && step.as_float().is_none() {
        return Ok(false);
    }
    let unit = cx.to_f64(step)?;
    let begin = cx.to_f64(from)?;
    let end = if to.is_nil() { if unit < 0.0 { f64::NEG_INFINITY } else { f64::INFINITY } } else { cx.to_f64(to)? };
    let n = flt::step_size(begin, end, unit, exclusive);
    if unit.is_infinite() {
        if n > 0.0 {
            let v = cx.float(begin);
            cx.yield1(block, v)?;
        }
        return Ok(true);
    }
    if unit == 0.0 {
        loop {
            let v = cx.float(begin);
            cx.yield1(block, v)?;
        }
    }
    let mut i = 0.0;
    while i < n {
        let v = cx.float(flt::step_at(begin, end, unit, exclusive, i));
        cx.yield1(block, v)?;
        i += 1.0;
    }
    Ok(true)
}

/// Limit and step of a call to `step`.
struct StepArgs {
    to: Value,
    step: Value,
}

fn step_args(cx: &mut Cx, limit: Option<Value>, step: Option<Value>, kw: Kwargs, yields: bool) -> Result<StepArgs> {
    kw.only(cx, &[sym::by, sym::to])?;
    let (by, to) = (kw.get(sym::by), kw.get(sym::to));
    if to.is_some() && limit.is_some() {
        return cx.arg_error("to is given twice");
    }
    if by.is_some() && step.is_some() {
        return cx.arg_error("step is given twice");
    }
    let to = to.or(limit).unwrap_or(Value::NIL);
    let step = match by.or(step) {
        None => ints::ONE,
        Some(Value::NIL) if step.is_some() && yields => return cx.type_error("step must be numeric"),
        Some(Value::NIL) => ints::ONE,
        Some(s) => s,
    };
    if step == ints::ZERO || !step.is_fixnum() && cx.eq(step, ints::ZERO)? {
        return cx.arg_error("step can't be 0");
    }
    Ok(StepArgs { to, step })
}

/// `v < 0` as step asks it: by `>`, since that is what numbers must have.
fn is_descending(cx: &mut Cx, step: Value) -> Result<bool> {
    if ints::is_int(step) || step.as_float().is_some() {
        return num::is_negative(cx, step);
    }
    match cx.call_if_responds(step, sym::gt, &[ints::ZERO])? {
        Some(r) => Ok(!r.truthy()),
        None => compare_failed(cx, ints::ZERO, step),
    }
}

fn step_size(cx: &mut Cx, from: Value, args: &[Value]) -> Result<Value> {
    let (to, step) = (args.first().copied().unwrap_or(Value::NIL), args.get(1).copied().unwrap_or(ints::ONE));
    if to.is_nil() {
        return Ok(cx.float(f64::INFINITY));
    }
    if !step.is_fixnum() && !cx.is_a(step, ids::NUMERIC) {
        is_descending(cx, step)?;
    }
    interval_size(cx, from, to, step, false)
}

#[ruby_class(ids::NUMERIC)]
mod numeric_step {
    use super::*;

    /// Yields self, self + step, ... up to the limit; without a limit it never ends.
    ///
    ///     1.step(10, 4).to_a              #=> [1, 5, 9]
    ///     10.step(by: -3, to: 1).to_a     #=> [10, 7, 4, 1]
    ///     1.0.step(2.0, 0.5).to_a         #=> [1.0, 1.5, 2.0]
    #[method("step")]
    fn step(cx: &mut Cx, this: Value, limit: Option<Value>, by: Option<Value>, kw: Kwargs, block: Block) -> Result<Value> {
        let a = step_args(cx, limit, by, kw, block.is_some())?;
        if block.is_none() {
            let numeric = |cx: &mut Cx, v: Value| v.is_fixnum() || cx.is_a(v, ids::NUMERIC);
            if (a.to.is_nil() || numeric(cx, a.to)) && numeric(cx, a.step) {
                let args = RootedVec::gather(cx, limit.into_iter().chain(by));
                let kw = kw.hash(cx).map_or(Value::NIL, |h| h.as_value());
                return Ok(arithmetic(cx, this, "step", &args, kw, (this, a.to, a.step, false)));
            }
            return sized(cx, this, "step", &[a.to, a.step], step_size);
        }
        let desc = is_descending(cx, a.step)?;
        if let (Some(i), Some(d)) = (this.as_fixnum(), a.step.as_fixnum())
            && (a.to.is_nil() || a.to.is_fixnum())
            && d != 0
        {
            let end = a.to.as_fixnum().unwrap_or(if desc { value::FIXNUM_MIN } else { value::FIXNUM_MAX });
            let rounds = crate::numeric::integer_iter::rounds(i, d, end);
            cx.yield_rounds(block, &mut Rounds::count(i, d, rounds))?;
            if a.to.is_nil() {
                // Endless counting left the Fixnums: go on by Bignums.
                let from = cx.int(i.wrapping_add(d.wrapping_mul(rounds as i64)));
                endless(cx, from, a.step, block)?;
            }
            return Ok(this);
        }
        if float_loop(cx, this, a.to, a.step, false, block)? {
            return Ok(this);
        }
        if a.to.is_nil() {
            endless(cx, this, a.step, block)?;
            return Ok(this);
        }
        let op = if desc { sym::lt } else { sym::gt };
        let mut i = this;
        while !cx.call(i, op, &[a.to])?.truthy() {
            cx.yield1(block, i)?;
            i = coerce::add(cx, i, a.step)?;
        }
        Ok(this)
    }

    fn endless(cx: &mut Cx, from: Value, step: Value, block: Block) -> Result<()> {
        let mut i = from;
        loop {
            cx.yield1(block, i)?;
            i = coerce::add(cx, i, step)?;
        }
    }
}

pub(crate) use numeric_step::METHODS;
