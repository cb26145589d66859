//! Array: reordering and changing all elements, copies thereof.

use super::sorting::{Order, sort_values};
use super::may_change;
use crate::enumerable::enum_for;
use std::cell::Cell;
use std::collections::HashSet;
use zakuro_base::progress::step;
use zakuro_macros::ruby_class;
use zakuro_vm::vm::FastMap;
use zakuro_vm::*;

/// Appends `a`'s elements to `out`, Arrays in it spread down to `depth` levels (-1: all). Says whether there were any. Nesting may be of any depth: no
/// recursion.
fn flatten_into(cx: &mut Cx, a: Ref<ArrayCell>, depth: i64, out: Ref<ArrayCell>) -> Result<bool> {
    // The Arrays that are being spread, outermost first, and where each goes on. `to_ary` may run Ruby code.
    let mut path = RootedVec::new(cx);
    let mut next: Vec<usize> = vec![0];
    path.push(a.as_value());
    // Those of a long path, by address.
    let mut on_path: HashSet<u64> = HashSet::new();
    let mut found = false;
    while let (Some(&top), Some(at)) = (path.last(), next.last_mut()) {
        let Some(v) = Ref::<ArrayCell>::of(top).get(*at) else {
            path.pop();
            next.pop();
            on_path.remove(&top.bits());
            continue;
        };
        *at += 1;
        let inner = if !v.is_cell() || depth >= 0 && next.len() as i64 > depth { None } else { cx.try_ary(v)? };
        let Some(inner) = inner else {
            ArrayCell::push(out, &mut cx.heap, v);
            continue;
        };
        found = true;
        cx.safepoint()?;
        let v = inner.as_value();
        // A limited depth ends by itself.
        if depth < 0 {
            const SHORT: usize = 32;
            if path.len() == SHORT {
                on_path.extend(path.iter().map(|v| v.bits()));
            }
            if if path.len() < SHORT { path.contains(&v) } else { !on_path.insert(v.bits()) } {
                return cx.arg_error("tried to flatten recursive array");
            }
        }
        path.push(v);
        next.push(0);
    }
    Ok(found)
}

fn depth(cx: &mut Cx, v: Option<Value>) -> Result<i64> {
    match v {
        None | Some(Value::NIL) => Ok(-1),
        Some(v) => Ok(cx.to_i64(v)?.max(-1)),
    }
}

fn rotation(cx: &mut Cx, a: Ref<ArrayCell>, n: Option<Value>) -> Result<usize> {
    let n = match n {
        Some(n) => cx.to_i64(n)?,
        None => 1,
    };
    Ok(if a.is_empty() { 0 } else { n.rem_euclid(a.len() as i64) as usize })
}

/// A random number below `n`: of the `random:` object, or of the VM's generator.
fn random_below(cx: &mut Cx, source: Option<Value>, n: usize) -> Result<usize> {
    library::library().random_below(cx, source, n)
}

fn random_source(cx: &mut Cx, kw: Kwargs) -> Result<Option<Value>> {
    kw.only(cx, &[sym::random])?;
    Ok(kw.get(sym::random))
}

fn shuffled(cx: &mut Cx, a: Ref<ArrayCell>, kw: Kwargs) -> Result<RootedVec> {
    let source = random_source(cx, kw)?;
    let mut v = RootedVec::of(cx, a);
    let mut i = v.len();
    while i > 1 {
        let end = i.saturating_sub(zakuro_base::progress::STRIDE).max(1);
        let Some(part) = v.get_mut(..i) else { break };
        if !library::library().shuffle(cx, source, part, end)? {
            break;
        }
        i = end;
        if i > 1 {
            cx.safepoint()?;
        }
    }
    while i > 1 {
        let k = random_below(cx, source, i)?;
        i -= 1;
        v.swap(i, k);
        zakuro_base::progress::step(i, cx)?;
    }
    Ok(v)
}

#[ruby_class(ids::ARRAY)]
pub mod methods {
    use super::*;

    /// The elements in reverse order.
    ///
    ///     [1, 2, 3].reverse   #=> [3, 2, 1]
    #[method("reverse")]
    fn reverse(heap: &Heap, this: Ref<ArrayCell>) -> Value {
        ArrayCell::gather(heap, this.len(), this.elements(heap).iter().rev().copied()).as_value()
    }

    /// Reverses the order in place.
    ///
    ///     [1, 2, 3].reverse!   #=> [3, 2, 1]
    #[method("reverse!")]
    fn reverse_bang(heap: &mut Heap, Changing(this): Changing<ArrayCell>) -> Value {
        ArrayCell::as_mut_slice(this, heap).reverse();
        this.as_value()
    }

    /// The elements moved `n` places to the front, the first ones to the end.
    ///
    ///     [1, 2, 3].rotate       #=> [2, 3, 1]
    ///     [1, 2, 3].rotate(-1)   #=> [3, 1, 2]
    #[method("rotate")]
    fn rotate(cx: &mut Cx, this: Ref<ArrayCell>, n: Option<Value>) -> Result<Value> {
        let n = rotation(cx, this, n)?;
        let all = this.elements(&cx.heap);
        let (front, rest) = all.split_at(n.min(all.len()));
        Ok(ArrayCell::gather(&cx.heap, all.len(), rest.iter().chain(front).copied()).as_value())
    }

    /// `rotate` in place.
    ///
    ///     a = [1, 2, 3]; a.rotate!(2); a   #=> [3, 1, 2]
    #[method("rotate!")]
    fn rotate_bang(cx: &mut Cx, this: Ref<ArrayCell>, n: Option<Value>) -> Result<Value> {
        let n = rotation(cx, this, n)?;
        cx.check_frozen(this.as_value())?;
        let s = ArrayCell::as_mut_slice(this, &mut cx.heap);
        let n = n.min(s.len());
        s.rotate_left(n);
        Ok(this.as_value())
    }

    /// Replaces each element by the block's result.
    ///
    ///     [1, 2].map! { |x| x * 2 }   #=> [2, 4]
    #[method("map!", "collect!")]
    fn map_bang(cx: &mut Cx, this: Ref<ArrayCell>, block: Block) -> Result<Value> {
        if block.is_none() {
            return enum_for(cx, this.as_value(), "map!", &[]);
        }
        cx.check_frozen(this.as_value())?;
        let i = Cell::new(0);
        let store = |cx: &mut Cx, r| {
            ArrayCell::store(this, &mut cx.heap, i.replace(i.get() + 1), r);
            true
        };
        cx.walk(block, |_| Some([this.get(i.get())?]), |cx, r| may_change(this) && store(cx, r), |cx, r| {
            cx.check_frozen(this.as_value())?;
            Ok(store(cx, r))
        })?;
        Ok(this.as_value())
    }

    /// Sorts in place.
    ///
    ///     [3, 1, 2].sort!   #=> [1, 2, 3]
    #[method("sort!")]
    fn sort_bang(cx: &mut Cx, this: Ref<ArrayCell>, block: Block) -> Result<Value> {
        cx.check_frozen(this.as_value())?;
        let mut v = RootedVec::of(cx, this);
        let order = Order::new(cx, block);
        sort_values(cx, &mut v, order)?;
        cx.check_frozen(this.as_value())?;
        ArrayCell::replace(this, &mut cx.heap, &v);
        Ok(this.as_value())
    }

    /// Sorts in place by the block's results.
    ///
    ///     %w[bb a].sort_by!(&:size)   #=> ["a", "bb"]
    #[method("sort_by!")]
    fn sort_by_bang(cx: &mut Cx, this: Ref<ArrayCell>, block: Block) -> Result<Value> {
        if block.is_none() {
            return enum_for(cx, this.as_value(), "sort_by!", &[]);
        }
        cx.check_frozen(this.as_value())?;
        // Nobody asks the block about one alone.
        if this.len() > 1 {
            // (Enumerable's `sort_by` calls the program's `each`, a method of Array would not.)
            if !cx.is_builtin(this.as_value(), sym::each, ids::ARRAY) {
                let sorted = cx.call_block(this.as_value(), Sym::intern("sort_by"), &[], block)?;
                let sorted = cx.to_ary(sorted)?;
                cx.check_frozen(this.as_value())?;
                ArrayCell::replace_shared(this, &mut cx.heap, sorted);
                return Ok(this.as_value());
            }
            let v = crate::enumerable::order::sorted_by(cx, this.as_value(), block)?;
            cx.check_frozen(this.as_value())?;
            ArrayCell::replace(this, &mut cx.heap, &v);
        }
        Ok(this.as_value())
    }

    /// The elements of nested Arrays in one, down to a depth.
    ///
    ///     [1, [2, [3]]].flatten      #=> [1, 2, 3]
    ///     [1, [2, [3]]].flatten(1)   #=> [1, 2, [3]]
    #[method("flatten")]
    fn flatten(cx: &mut Cx, this: Ref<ArrayCell>, level: Option<Value>) -> Result<Value> {
        let n = depth(cx, level)?;
        let out = cx.new_array();
        flatten_into(cx, this, n, out)?;
        Ok(out.as_value())
    }

    /// `flatten` in place; nil when there was nothing to flatten.
    ///
    ///     [1, [2]].flatten!   #=> [1, 2]
    ///     [1].flatten!        #=> nil
    #[method("flatten!")]
    fn flatten_bang(cx: &mut Cx, this: Ref<ArrayCell>, level: Option<Value>) -> Result<Value> {
        cx.check_frozen(this.as_value())?;
        let n = depth(cx, level)?;
        if n == 0 {
            return Ok(Value::NIL);
        }
        let out = cx.new_array();
        if !flatten_into(cx, this, n, out)? {
            return Ok(Value::NIL);
        }
        ArrayCell::replace_shared(this, &mut cx.heap, out);
        Ok(this.as_value())
    }

    /// The elements in random order.
    ///
    ///     [1, 2, 3].shuffle.sort   #=> [1, 2, 3]
    #[method("shuffle")]
    fn shuffle(cx: &mut Cx, this: Ref<ArrayCell>, kw: Kwargs) -> Result<Value> {
        let v = shuffled(cx, this, kw)?;
        Ok(cx.array(&v))
    }

    /// `shuffle` in place.
    ///
    ///     [1, 2, 3].shuffle!.size   #=> 3
    #[method("shuffle!")]
    fn shuffle_bang(cx: &mut Cx, this: Ref<ArrayCell>, kw: Kwargs) -> Result<Value> {
        cx.check_frozen(this.as_value())?;
        let n = this.len();
        let v = shuffled(cx, this, kw)?;
        if n != this.len() {
            return cx.raise(ids::RUNTIME_ERROR, "modified during shuffle!");
        }
        ArrayCell::replace(this, &mut cx.heap, &v);
        Ok(this.as_value())
    }

    /// A random element (nil when there is none), or `n` elements from different places.
    ///
    ///     [7].sample            #=> 7
    ///     [1, 2].sample(5).sort #=> [1, 2]
    #[method("sample")]
    fn sample(cx: &mut Cx, this: Ref<ArrayCell>, n: Option<Value>, kw: Kwargs) -> Result<Value> {
        let source = random_source(cx, kw)?;
        let Some(n) = n else {
            let len = this.len();
            if len == 0 {
                return Ok(Value::NIL);
            }
            let i = random_below(cx, source, len)?;
            return Ok(this.get(i).unwrap_or(Value::NIL));
        };
        let n = super::super::arg::take_count(cx, n, "negative sample number")?;
        let len = this.len();
        let n = n.min(len);
        // As CRuby draws: two and three elements by comparing, more by a partial shuffle.
        let mut picked: Vec<usize> = Vec::with_capacity(n);
        match n {
            0 => {}
            1 => picked.push(random_below(cx, source, len)?),
            2 => {
                let i = random_below(cx, source, len)?;
                let mut j = random_below(cx, source, len - 1)?;
                if j >= i {
                    j += 1;
                }
                picked.extend([i, j]);
            }
            3 => {
                let i = random_below(cx, source, len)?;
                let mut j = random_below(cx, source, len - 1)?;
                let mut k = random_below(cx, source, len - 2)?;
                let (mut l, mut g) = (j, i);
                if j >= i {
                    l = i;
                    j += 1;
                    g = j;
                }
                if k >= l {
                    k += 1;
                    if k >= g {
                        k += 1;
                    }
                }
                picked.extend([i, j, k]);
            }
            _ if n <= 10 => {
                let mut sorted: Vec<usize> = Vec::with_capacity(n);
                for i in 0..n {
                    let mut k = random_below(cx, source, len - i)?;
                    let mut at = 0;
                    while at < sorted.len() && k >= sorted[at] {
                        k += 1;
                        at += 1;
                    }
                    sorted.insert(at, k);
                    picked.push(k);
                }
            }
            _ if n < len / 16 || len > u32::MAX as usize => {
                // The same shuffle; only places that were swapped are kept.
                let mut moved: FastMap<usize, usize> = FastMap::default();
                for i in 0..n {
                    let k = random_below(cx, source, len - i)? + i;
                    let here = moved.get(&i).copied().unwrap_or(i);
                    picked.push(moved.insert(k, here).unwrap_or(k));
                    zakuro_base::progress::step(i, cx)?;
                }
            }
            _ => {
                let mut all: Vec<u32> = (0..len as u32).collect();
                for i in 0..n {
                    let k = random_below(cx, source, len - i)? + i;
                    all.swap(i, k);
                    zakuro_base::progress::step(i, cx)?;
                }
                picked.extend(all[..n].iter().map(|i| *i as usize));
            }
        }
        // The source of numbers may have taken elements away: the rest of a long choice is left, of a short one nothing.
        let left = this.len();
        if n <= 10 && picked.iter().any(|i| *i >= left) {
            picked.clear();
        }
        picked.truncate(left);
        Ok(cx.array_of(picked.iter().map(|i| this.get(*i).unwrap_or(Value::NIL))))
    }

    /// The elements that are not nil.
    ///
    ///     [1, nil, 2].compact   #=> [1, 2]
    #[method("compact")]
    fn compact(heap: &Heap, this: Ref<ArrayCell>) -> Value {
        let set = this.elements(heap).iter().filter(|v| !v.is_nil());
        ArrayCell::gather(heap, set.clone().count(), set.copied()).as_value()
    }

    /// Removes nils; nil when there were none.
    ///
    ///     [1, nil].compact!   #=> [1]
    ///     [1].compact!        #=> nil
    #[method("compact!")]
    fn compact_bang(cx: &mut Cx, this: Ref<ArrayCell>) -> Result<Value> {
        cx.check_frozen(this.as_value())?;
        let set = this.elements(&cx.heap).iter().filter(|v| !v.is_nil());
        let n = set.clone().count();
        if n == this.len() {
            return Ok(Value::NIL);
        }
        let kept = ArrayCell::gather(&cx.heap, n, set.copied());
        ArrayCell::replace_shared(this, &mut cx.heap, kept);
        Ok(this.as_value())
    }

    /// Arrays of the elements with the same position in the Arrays that it holds.
    ///
    ///     [[1, 2], [3, 4]].transpose   #=> [[1, 3], [2, 4]]
    #[method("transpose")]
    fn transpose(cx: &mut Cx, this: Ref<ArrayCell>) -> Result<Value> {
        let mut rows = RootedVec::new(cx);
        let mut i = 0;
        while let Some(v) = this.get(i) {
            step(i, cx)?;
            let a = cx.to_ary(v)?;
            rows.push(a.as_value());
            i += 1;
        }
        let width = rows.first().map_or(0, |r| Ref::<ArrayCell>::of(*r).len());
        for r in rows.iter() {
            let n = Ref::<ArrayCell>::of(*r).len();
            if n != width {
                return cx.index_error(format!("element size differs ({n} should be {width})"));
            }
        }
        let out = cx.new_array();
        for k in 0..width {
            let column = cx.array_of(rows.iter().map(|r| Ref::<ArrayCell>::of(*r).get(k).unwrap_or(Value::NIL)));
            ArrayCell::push(out, &mut cx.heap, column);
            cx.safepoint()?;
        }
        Ok(out.as_value())
    }
}
