//! Enumerable: sorting, least and greatest elements.

use super::*;
use crate::array::arg::take_count;
use crate::array::sorting::{Comparer, Order, sort_values, sorted_positions};
use std::cmp::Ordering;
use zakuro_macros::ruby_class;

/// The `n` least (or greatest) elements in order.
fn least(cx: &mut Cx, this: Value, n: Value, block: Block, greatest: bool) -> Result<Value> {
    let n = cx.to_i64(n)?;
    if n < 0 {
        return cx.arg_error(format!("negative size ({n})"));
    }
    let all = collect(cx, this)?;
    let mut v = RootedVec::of(cx, all);
    let order = Order::new(cx, block);
    sort_values(cx, &mut v, order)?;
    if greatest {
        v.reverse();
    }
    v.truncate(n as usize);
    Ok(cx.array(&v))
}

fn extreme(cx: &mut Cx, this: Value, block: Block, want: Ordering) -> Result<Value> {
    if block.is_none()
        && cx.redefined == 0
        && let Some(a) = plain_array(cx, this)
        && !a.is_empty()
        && a.elements(&cx.heap).iter().all(|v| v.is_fixnum())
    {
        let all = a.elements(&cx.heap).iter().map(|v| v.fix());
        let best = if want == Ordering::Greater { all.max() } else { all.min() };
        return Ok(best.map_or(Value::NIL, Value::fixnum));
    }
    let order = Order::new(cx, block);
    let best = Cell::new(None);
    each_of(cx, this, |cx, v| {
        let e = pack(cx, v);
        match best.get() {
            Some(b) if order.compare(cx, e, b)? != want => {}
            _ => best.set(Some(e)),
        }
        Ok(true)
    })?;
    Ok(best.get().unwrap_or(Value::NIL))
}

/// Elements and their keys by the block.
fn keyed(cx: &mut Cx, this: Value, block: Block) -> Result<(RootedVec, RootedVec)> {
    let (items, keys) = (cx.new_array(), cx.new_array());
    each_of(cx, this, |cx, v| {
        let e = pack(cx, v);
        let k = yield_packed(cx, block, v, e)?;
        ArrayCell::push(items, &mut cx.heap, e);
        ArrayCell::push(keys, &mut cx.heap, k);
        Ok(true)
    })?;
    let items = RootedVec::of(cx, items);
    let keys = RootedVec::of(cx, keys);
    Ok((items, keys))
}

/// The elements of `this` in the order of the block's results.
pub fn sorted_by(cx: &mut Cx, this: Value, block: Block) -> Result<RootedVec> {
    let (items, keys) = keyed(cx, this, block)?;
    let perm = sorted_positions(cx, &keys)?;
    let mut sorted = RootedVec::with_capacity(cx, perm.len());
    sorted.extend(perm.iter().map(|i| items[*i as usize]));
    Ok(sorted)
}

fn extreme_by(cx: &mut Cx, this: Value, n: Option<Value>, block: Block, want: Ordering) -> Result<Value> {
    if let Some(n) = n.filter(|n| !n.is_nil()) {
        let n = take_count(cx, n, "negative size")?;
        let mut all = sorted_by(cx, this, block)?;
        if want == Ordering::Greater {
            all.reverse();
        }
        all.truncate(n);
        return Ok(cx.array(&all));
    }
    let c = Comparer::new(cx);
    let best: Cell<Option<(Value, Value)>> = Cell::new(None);
    each_of(cx, this, |cx, v| {
        let e = pack(cx, v);
        let k = yield_packed(cx, block, v, e)?;
        match best.get() {
            Some((b, _)) if c.compare(cx, k, b)? != want => {}
            _ => best.set(Some((k, e))),
        }
        Ok(true)
    })?;
    Ok(best.get().map_or(Value::NIL, |b| b.1))
}

#[ruby_class(ids::ENUMERABLE)]
pub mod methods {
    use super::*;

    /// The elements in ascending order, by `<=>` or by a block that compares two.
    ///
    ///     [3, 1, 2].each_entry.sort                #=> [1, 2, 3]
    ///     (1..3).sort { |a, b| b <=> a }           #=> [3, 2, 1]
    #[method("sort")]
    fn sort(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        let all = collect(cx, this)?;
        let mut v = RootedVec::of(cx, all);
        let order = Order::new(cx, block);
        sort_values(cx, &mut v, order)?;
        Ok(cx.array(&v))
    }

    /// The elements in the order of the block's results. Stable.
    ///
    ///     %w[bb a ccc].sort_by(&:size)   #=> ["a", "bb", "ccc"]
    #[method("sort_by")]
    fn sort_by(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return enum_for(cx, this, "sort_by", &[]);
        }
        let v = sorted_by(cx, this, block)?;
        Ok(cx.array(&v))
    }

    /// The least element, or the `n` least.
    ///
    ///     [3, 1, 2].each_entry.min      #=> 1
    ///     [3, 1, 2].each_entry.min(2)   #=> [1, 2]
    #[method("min")]
    pub fn min(cx: &mut Cx, this: Value, n: Option<Value>, block: Block) -> Result<Value> {
        match n {
            Some(n) if !n.is_nil() => least(cx, this, n, block, false),
            _ => extreme(cx, this, block, Ordering::Less),
        }
    }

    /// The greatest element, or the `n` greatest.
    ///
    ///     %w[a ccc bb].max { |a, b| a.size <=> b.size }   #=> "ccc"
    ///     [3, 1, 2].each_entry.max(2)                     #=> [3, 2]
    #[method("max")]
    pub fn max(cx: &mut Cx, this: Value, n: Option<Value>, block: Block) -> Result<Value> {
        match n {
            Some(n) if !n.is_nil() => least(cx, this, n, block, true),
            _ => extreme(cx, this, block, Ordering::Greater),
        }
    }

    /// The least and the greatest element.
    ///
    ///     [3, 1, 2].each_entry.minmax   #=> [1, 3]
    #[method("minmax")]
    pub fn minmax(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        let order = Order::new(cx, block);
        let found: Cell<Option<(Value, Value)>> = Cell::new(None);
        each_of(cx, this, |cx, v| {
            let e = pack(cx, v);
            let (mut lo, mut hi) = found.get().unwrap_or((e, e));
            if found.get().is_some() {
                if order.compare(cx, e, lo)? == Ordering::Less {
                    lo = e;
                }
                if order.compare(cx, e, hi)? == Ordering::Greater {
                    hi = e;
                }
            }
            found.set(Some((lo, hi)));
            Ok(true)
        })?;
        let (lo, hi) = found.get().unwrap_or((Value::NIL, Value::NIL));
        Ok(cx.array(&[lo, hi]))
    }

    /// The element with the least result of the block, or the `n` first in that order.
    ///
    ///     %w[bb a].min_by(&:size)          #=> "a"
    ///     %w[bb a ccc].min_by(2, &:size)   #=> ["a", "bb"]
    #[method("min_by")]
    fn min_by(cx: &mut Cx, this: Value, n: Option<Value>, block: Block) -> Result<Value> {
        if block.is_none() {
            let args: &[Value] = n.as_slice();
            return enum_for(cx, this, "min_by", args);
        }
        extreme_by(cx, this, n, block, Ordering::Less)
    }

    /// The element with the greatest result of the block, or the `n` last in that order.
    ///
    ///     %w[bb a].max_by(&:size)   #=> "bb"
    #[method("max_by")]
    fn max_by(cx: &mut Cx, this: Value, n: Option<Value>, block: Block) -> Result<Value> {
        if block.is_none() {
            let args: &[Value] = n.as_slice();
            return enum_for(cx, this, "max_by", args);
        }
        extreme_by(cx, this, n, block, Ordering::Greater)
    }

    /// The elements with the least and the greatest result of the block.
    ///
    ///     %w[bb a ccc].minmax_by(&:size)   #=> ["a", "ccc"]
    #[method("minmax_by")]
    fn minmax_by(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return enum_for(cx, this, "minmax_by", &[]);
        }
        let c = Comparer::new(cx);
        let (items, keys) = keyed(cx, this, block)?;
        if items.is_empty() {
            return Ok(cx.array(&[Value::NIL, Value::NIL]));
        }
        let (mut lo, mut hi) = (0, 0);
        for i in 1..items.len() {
            if c.compare(cx, keys[i], keys[lo])? == Ordering::Less {
                lo = i;
            }
            if c.compare(cx, keys[i], keys[hi])? == Ordering::Greater {
                hi = i;
            }
        }
        Ok(cx.array(&[items[lo], items[hi]]))
    }
}
