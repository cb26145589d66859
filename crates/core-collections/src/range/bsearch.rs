//! Range#bsearch: over Integers of any size and over doubles in the order of their bits.

use super::Range;
use crate::enumerator::EnumeratorExt;
use num_bigint::BigInt;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// Doubles in order as integers, so that halving visits every one.
fn double_to_order(f: f64) -> i64 {
    let b = (if f == 0.0 { 0.0 } else { f }).to_bits() as i64;
    if b < 0 { i64::MIN - b } else { b }
}
fn order_to_double(i: i64) -> f64 {
    f64::from_bits(if i < 0 { (i64::MIN - i) as u64 } else { i as u64 })
}

#[ruby_class(ids::RANGE)]
pub mod bsearch {
    use super::*;
    use crate::array::bsearch::{Verdict, verdict};

    fn probe(cx: &mut Cx, block: Block, v: Value) -> Result<Verdict> {
        let r = cx.yield1(block, v)?;
        cx.safepoint()?;
        verdict(cx, r)
    }

    /// Among the numbers from `low` to below `high`, each of which stands for an element. What was `found` before is the answer if none of them is.
    fn halving(cx: &mut Cx, block: Block, (low, high): (i64, i64), mut found: Value, element: impl Fn(&mut Cx, i64) -> Value) -> Result<Value> {
        // Neither end is looked at.
        let (mut low, mut high) = (low.saturating_sub(1), high);
        while low < high.saturating_sub(1) {
            // As CRuby rounds: which elements the block sees is a program's to know.
            let mid = if (high < 0) == (low < 0) { low + (high - low) / 2 } else { (low + high) / 2 };
            let v = element(cx, mid);
            match probe(cx, block, v)? {
                Verdict::Found => return Ok(v),
                Verdict::Here => {
                    found = v;
                    high = mid;
                }
                Verdict::Left => high = mid,
                Verdict::Right => low = mid,
            }
        }
        Ok(found)
    }

    fn small(cx: &mut Cx, block: Block, ends: (i64, i64), found: Value) -> Result<Value> {
        halving(cx, block, ends, found, |cx, i| cx.int(i))
    }

    fn integers(cx: &mut Cx, block: Block, mut low: BigInt, mut high: BigInt) -> Result<Value> {
        let mut found = Value::NIL;
        low -= 1;
        loop {
            let mut mid = &low + &high;
            mid >>= 1u8;
            if low >= mid {
                return Ok(found);
            }
            let v = cx.big(mid.clone());
            match probe(cx, block, v)? {
                Verdict::Found => return Ok(v),
                Verdict::Here => {
                    found = v;
                    high = mid;
                }
                Verdict::Left => high = mid,
                Verdict::Right => low = mid,
            }
        }
    }

    /// From one end on in steps that double, until the element lies between two of them.
    fn unbounded(cx: &mut Cx, block: Block, mut end: Value, up: bool) -> Result<Value> {
        let mut step = BigInt::from(if up { 1 } else { -1 });
        let mut found = Value::NIL;
        loop {
            let next = cx.as_big(end).unwrap_or_default() + &step;
            let mid = cx.big(next);
            let verdict = probe(cx, block, mid)?;
            let smaller = match verdict {
                Verdict::Found => return Ok(mid),
                Verdict::Here => {
                    found = mid;
                    true
                }
                Verdict::Left => true,
                Verdict::Right => false,
            };
            if smaller == up {
                let (low, high) = if up { (end, mid) } else { (mid, end) };
                return match (low.as_fixnum(), high.as_fixnum()) {
                    (Some(low), Some(high)) => small(cx, block, (low, high + 1), found),
                    _ => {
                        let (low, high) = (cx.as_big(low).unwrap_or_default(), cx.as_big(high).unwrap_or_default());
                        integers(cx, block, low, high + 1)
                    }
                };
            }
            step <<= 1u8;
            end = mid;
        }
    }

    /// Finds by halving: the first element for which the block is true, or one for which it returns 0.
    ///
    ///     (0..1000).bsearch { |x| x * x >= 200 }       #=> 15
    ///     (0..).bsearch { |x| x >= 12345 }             #=> 12345
    ///     (0.0..10.0).bsearch { |x| x >= 2.5 }         #=> 2.5
    #[method("bsearch")]
    fn bsearch(cx: &mut Cx, this: Range, block: Block) -> Result<Value> {
        let (low, high) = (this.low(), this.high());
        if block.is_none() {
            let halves = |cx: &Cx, v: Value| v.as_float().is_some() || cx.is_integer(v);
            if !halves(cx, low) && !halves(cx, high) {
                let what = cx.class_shown(low);
                return cx.type_error(format!("can't do binary search for {what}"));
            }
            return cx.enumerator(this.as_value(), "bsearch", &[]);
        }
        if low.as_float().is_some() || high.as_float().is_some() {
            let a = if low.is_nil() { f64::NEG_INFINITY } else { cx.to_f64(low)? };
            let b = if high.is_nil() { f64::INFINITY } else { cx.to_f64(high)? };
            let end = double_to_order(b).saturating_add(i64::from(!this.exclusive()));
            return halving(cx, block, (double_to_order(a), end), Value::NIL, |cx, i| cx.float(order_to_double(i)));
        }
        if let (Some(a), Some(b)) = (low.as_fixnum(), high.as_fixnum()) {
            return small(cx, block, (a, b + i64::from(!this.exclusive())), Value::NIL);
        }
        let extra = i32::from(!this.exclusive());
        match (cx.as_big(low), cx.as_big(high)) {
            (Some(a), Some(b)) => integers(cx, block, a, b + extra),
            (Some(_), None) if high.is_nil() => unbounded(cx, block, low, true),
            (None, Some(_)) if low.is_nil() => unbounded(cx, block, high, false),
            _ => {
                let what = cx.class_shown(low);
                cx.type_error(format!("can't do binary search for {what}"))
            }
        }
    }
}
