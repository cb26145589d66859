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

/// The extreme of an Array of Integers, of Floats or of Strings.
fn extreme_of_one_kind(cx: &mut Cx, a: Ref<ArrayCell>, want: Ordering) -> Result<Option<Value>> {
    const MOST: usize = 256;
    let c = Comparer::new(cx);
    let (mut at, mut best) = (0, None);
    while let Some(part) = a.elements(&cx.heap).get(at..).filter(|p| !p.is_empty()) {
        let part = &part[..part.len().min(MOST)];
        at += part.len();
        best = c.extreme(&cx.heap, part, best, want);
        if best.is_none() {
            break;
        }
        cx.safepoint()?;
    }
    Ok(best)
}

fn extreme(cx: &mut Cx, this: Value, block: Block, want: Ordering) -> Result<Value> {
    if block.is_none()
        && let Some(a) = plain_array(cx, this)
        && let Some(best) = extreme_of_one_kind(cx, a, want)?
    {
        return Ok(best);
    }
    let order = Order::new(cx, block);
    let best = Cell::new(None);
    // An Array asks the best one, others the new one: messages about what can't be compared name them in that order.
    let asks_best = block.is_none() && plain_array(cx, this).is_some();
    each_of(cx, this, |cx, v| {
        let e = pack(cx, v);
        match best.get() {
            Some(b) if asks_best && order.compare(cx, b, e)? != want.reverse() => {}
            Some(b) if !asks_best && order.compare(cx, e, b)? != want => {}
            _ => best.set(Some(e)),
        }
        Ok(true)
    })?;
    Ok(best.get().unwrap_or(Value::NIL))
}

/// The least and the greatest of what is shown one after the other. Two at a time are compared with each other first, then the less one with the least and
/// the greater one with the greatest.
#[derive(Clone, Copy)]
struct Extremes<T: Copy> {
    ends: Option<(T, T)>,
    /// The first of two.
    first: Option<T>,
}

impl<T: Copy> Extremes<T> {
    fn new() -> Extremes<T> {
        Extremes { ends: None, first: None }
    }
    fn show(&mut self, e: T, compare: &mut dyn FnMut(T, T) -> Result<Ordering>) -> Result<()> {
        match self.first.take() {
            None => {
                self.first = Some(e);
                Ok(())
            }
            Some(first) => match compare(first, e)? {
                Ordering::Less => self.take(first, e, compare),
                Ordering::Equal => self.take(first, first, compare),
                Ordering::Greater => self.take(e, first, compare),
            },
        }
    }
    fn take(&mut self, less: T, greater: T, compare: &mut dyn FnMut(T, T) -> Result<Ordering>) -> Result<()> {
        let Some((mut lo, mut hi)) = self.ends else {
            self.ends = Some((less, greater));
            return Ok(());
        };
        if compare(less, lo)? == Ordering::Less {
            lo = less;
        }
        if compare(greater, hi)? == Ordering::Greater {
            hi = greater;
        }
        self.ends = Some((lo, hi));
        Ok(())
    }
    fn ends(mut self, compare: &mut dyn FnMut(T, T) -> Result<Ordering>) -> Result<Option<(T, T)>> {
        if let Some(last) = self.first.take() {
            self.take(last, last, compare)?;
        }
        Ok(self.ends)
    }
}

/// Elements and their keys by the block.
fn keyed(cx: &mut Cx, this: Value, block: Block) -> Result<(RootedVec, RootedVec)> {
    let (items, keys) = (cx.new_array(), cx.new_array());
    each_result::<true>(cx, this, block, |cx, e, k| {
        add(cx, items, e);
        add(cx, keys, k);
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
    let keep = |_: &mut Cx, e, k| match best.get() {
        None => {
            best.set(Some((k, e)));
            true
        }
        Some((b, _)) => match c.quick(k, b) {
            Some(order) => {
                if order == want {
                    best.set(Some((k, e)));
                }
                true
            }
            None => false,
        },
    };
    each_yield::<true>(cx, this, block, keep, |cx, e, k| {
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
        if block.is_none() && plain_array(cx, this).is_some() {
            let lo = extreme(cx, this, block, Ordering::Less)?;
            let hi = extreme(cx, this, block, Ordering::Greater)?;
            return Ok(cx.array(&[lo, hi]));
        }
        let order = Order::new(cx, block);
        let found = Cell::new(Extremes::new());
        each_of(cx, this, |cx, v| {
            let e = pack(cx, v);
            let mut so_far = found.get();
            so_far.show(e, &mut |a, b| order.compare(cx, a, b))?;
            found.set(so_far);
            Ok(true)
        })?;
        let mut compare = |a, b| order.compare(cx, a, b);
        let (lo, hi) = found.get().ends(&mut compare)?.unwrap_or((Value::NIL, Value::NIL));
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
        let mut found = Extremes::new();
        let mut compare = |a: usize, b: usize| c.compare(cx, keys[a], keys[b]);
        for i in 0..items.len() {
            found.show(i, &mut compare)?;
        }
        let ends = found.ends(&mut compare)?;
        let (lo, hi) = ends.map_or((Value::NIL, Value::NIL), |(lo, hi)| (items[lo], items[hi]));
        Ok(cx.array(&[lo, hi]))
    }
}
