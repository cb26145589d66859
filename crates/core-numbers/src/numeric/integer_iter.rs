//! Integer: loops (`times`, `upto`, `downto`). These are among the hottest builtins: the Fixnum loops do nothing but yield.

use super::coerce::{self, Num, classify};
use super::ints;
use super::step::{interval_size, sized};
use zakuro_macros::ruby_class;
use zakuro_vm::*;

fn times_size(cx: &mut Cx, this: Value, _args: &[Value]) -> Result<Value> {
    let _ = cx;
    Ok(if ints::is_negative(this) { ints::ZERO } else { this })
}
fn upto_size(cx: &mut Cx, this: Value, args: &[Value]) -> Result<Value> {
    interval_size(cx, this, args.first().copied().unwrap_or(Value::NIL), ints::ONE, false)
}
fn downto_size(cx: &mut Cx, this: Value, args: &[Value]) -> Result<Value> {
    interval_size(cx, this, args.first().copied().unwrap_or(Value::NIL), Value::fixnum(-1), false)
}

/// How many numbers there are from `from` to `end` inclusive, each `step` after the one before.
pub(super) fn rounds(from: i64, step: i64, end: i64) -> u64 {
    let beyond = if step > 0 { from > end } else { from < end };
    if beyond { 0 } else { from.abs_diff(end) / step.unsigned_abs() + 1 }
}
/// Counts by Fixnums from `from` to `end` inclusive.
fn count(cx: &mut Cx, from: i64, step: i64, end: i64, block: Block) -> Result<()> {
    cx.yield_rounds(block, &mut Rounds::count(from, step, rounds(from, step, end)))
}

/// The last integer not beyond a limit, when the limit is a builtin real number.
fn integer_limit(cx: &mut Cx, limit: Value, up: bool) -> Result<Option<Value>> {
    match classify(limit) {
        Num::Int(v) => Ok(Some(v)),
        Num::Float(f) if f.is_finite() => cx.float_to_int(if up { f.floor() } else { f.ceil() }).map(Some),
        _ => Ok(None),
    }
}

#[ruby_class(ids::INTEGER)]
mod iter {
    use super::*;

    /// Yields 0 up to self - 1.
    ///
    ///     3.times.to_a               #=> [0, 1, 2]
    ///     a = []; 3.times { |i| a << i }; a    #=> [0, 1, 2]
    #[method("times")]
    fn times(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return sized(cx, this, "times", &[], times_size);
        }
        match this.as_fixnum() {
            Some(n) => {
                cx.yield_rounds(block, &mut Rounds::count(0, 1, n.max(0) as u64))?;
            }
            None => {
                let mut i = ints::ZERO;
                while ints::cmp(i, this).is_lt() {
                    cx.yield1(block, i)?;
                    i = ints::add(cx, i, ints::ONE);
                }
            }
        }
        Ok(this)
    }
    /// Yields self up to the limit.
    ///
    ///     1.upto(3).to_a      #=> [1, 2, 3]
    ///     1.upto(2.5).to_a    #=> [1, 2]
    #[method("upto")]
    fn upto(cx: &mut Cx, this: Value, limit: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return sized(cx, this, "upto", &[limit], upto_size);
        }
        let last = integer_limit(cx, limit, true)?;
        if let (Some(from), Some(to)) = (this.as_fixnum(), last.and_then(Value::as_fixnum)) {
            count(cx, from, 1, to, block)?;
            return Ok(this);
        }
        let mut i = this;
        loop {
            let beyond = match last {
                Some(l) => ints::cmp(i, l).is_gt(),
                None => cx.call(i, sym::gt, &[limit])?.truthy(),
            };
            if beyond {
                return Ok(this);
            }
            cx.yield1(block, i)?;
            i = ints::add(cx, i, ints::ONE);
        }
    }
    /// Yields self down to the limit.
    ///
    ///     3.downto(1).to_a    #=> [3, 2, 1]
    #[method("downto")]
    fn downto(cx: &mut Cx, this: Value, limit: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return sized(cx, this, "downto", &[limit], downto_size);
        }
        let last = integer_limit(cx, limit, false)?;
        if let (Some(from), Some(to)) = (this.as_fixnum(), last.and_then(Value::as_fixnum)) {
            count(cx, from, -1, to, block)?;
            return Ok(this);
        }
        let mut i = this;
        loop {
            let beyond = match last {
                Some(l) => ints::cmp(i, l).is_lt(),
                None => cx.call(i, sym::lt, &[limit])?.truthy(),
            };
            if beyond {
                return Ok(this);
            }
            cx.yield1(block, i)?;
            i = ints::sub(cx, i, ints::ONE);
        }
    }
    /// The next Integer.
    ///
    ///     1.succ    #=> 2
    #[method("succ", "next")]
    fn succ(cx: &mut Cx, this: Value) -> Value {
        ints::add(cx, this, ints::ONE)
    }
    /// The Integer before.
    ///
    ///     1.pred    #=> 0
    #[method("pred")]
    fn pred(cx: &mut Cx, this: Value) -> Value {
        ints::sub(cx, this, ints::ONE)
    }
    /// Quotient rounded up.
    ///
    ///     7.ceildiv(3)     #=> 3
    ///     -7.ceildiv(3)    #=> -2
    #[method("ceildiv")]
    fn ceildiv(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        if ints::is_int(other) {
            let n = ints::neg(cx, this);
            let q = ints::div(cx, n, other)?;
            return Ok(ints::neg(cx, q));
        }
        let zero = coerce::sub(cx, ints::ZERO, other)?;
        let q = cx.call(this, Sym::intern("div"), &[zero])?;
        coerce::sub(cx, ints::ZERO, q)
    }
}

pub(crate) use iter::METHODS;
