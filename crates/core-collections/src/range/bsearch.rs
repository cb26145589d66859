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

    fn integers(cx: &mut Cx, block: Block, low: BigInt, high: BigInt) -> Result<Value> {
        let (mut low, mut high) = (low, high);
        let mut found = Value::NIL;
        while low < high {
            let mid: BigInt = (&low + &high) >> 1;
            let v = cx.big(mid.clone());
            match probe(cx, block, v)? {
                Verdict::Found => return Ok(v),
                Verdict::Here => {
                    found = v;
                    high = mid;
                }
                Verdict::Left => high = mid,
                Verdict::Right => low = mid + 1,
            }
        }
        Ok(found)
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
            let (mut i, mut j) = (double_to_order(a), double_to_order(b));
            if !this.exclusive() {
                j = j.saturating_add(1);
            }
            let mut found = Value::NIL;
            while i < j {
                let mid = ((i as i128 + j as i128) >> 1) as i64;
                let v = cx.float(order_to_double(mid));
                match probe(cx, block, v)? {
                    Verdict::Found => return Ok(v),
                    Verdict::Here => {
                        found = v;
                        j = mid;
                    }
                    Verdict::Left => j = mid,
                    Verdict::Right => i = mid + 1,
                }
            }
            return Ok(found);
        }
        let extra = i32::from(!this.exclusive());
        match (cx.as_big(low), cx.as_big(high)) {
            (Some(a), Some(b)) => integers(cx, block, a, b + extra),
            (Some(a), None) if high.is_nil() => {
                let mut step = BigInt::from(1);
                loop {
                    let v = cx.big(&a + &step);
                    match probe(cx, block, v)? {
                        Verdict::Found => return Ok(v),
                        Verdict::Right => step <<= 1,
                        _ => return integers(cx, block, a.clone(), a + step + 1),
                    }
                }
            }
            (None, Some(b)) if low.is_nil() => {
                let mut step = BigInt::from(1);
                loop {
                    let v = cx.big(&b - &step);
                    match probe(cx, block, v)? {
                        Verdict::Found => return Ok(v),
                        Verdict::Right => return integers(cx, block, &b - &step, b + extra),
                        _ => step <<= 1,
                    }
                }
            }
            _ => {
                let what = cx.class_shown(low);
                cx.type_error(format!("can't do binary search for {what}"))
            }
        }
    }
}
