//! Array: reading elements.

use super::arg::*;
use super::part;
use zakuro_base::progress::step;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// Elements start.. `step` apart; a negative step reads from the end of the part.
fn stepped(cx: &mut Cx, a: Ref<ArrayCell>, start: usize, n: usize, step: i64) -> Result<Value> {
    if start > a.len() {
        return Ok(Value::NIL);
    }
    let n = n.min(a.len() - start);
    if n == 0 {
        return Ok(cx.array(&[]));
    }
    if step == 0 {
        return cx.arg_error("slice step cannot be zero");
    }
    if step == 1 {
        return Ok(part(&cx.heap, a, start, start + n).as_value());
    }
    let all = &a.elements(&cx.heap)[start..start + n];
    let by = step.unsigned_abs() as usize;
    let count = n.div_ceil(by);
    let picked = if step > 0 {
        ArrayCell::gather(&cx.heap, count, all.iter().step_by(by).copied())
    } else {
        ArrayCell::gather(&cx.heap, count, all.iter().rev().step_by(by).copied())
    };
    Ok(picked.as_value())
}

/// `a[start, n]`
pub fn subarray(cx: &mut Cx, a: Ref<ArrayCell>, start: i64, n: i64) -> Value {
    match position(a.len(), start) {
        Some(s) if s <= a.len() && n >= 0 => part(&cx.heap, a, s, s.saturating_add(n as usize)).as_value(),
        _ => Value::NIL,
    }
}

#[inline(always)]
pub fn at_index(a: Ref<ArrayCell>, i: i64) -> Value {
    position(a.len(), i).and_then(|i| a.get(i)).unwrap_or(Value::NIL)
}

#[ruby_class(ids::ARRAY)]
pub mod methods {
    use super::*;

    /// Element at an index (negative: from the end), or the elements of a range, of `start, length`, or of every nth place.
    ///
    ///     [1, 2, 3][-1]              #=> 3
    ///     [1, 2, 3][1..]             #=> [2, 3]
    ///     [1, 2, 3][3, 1]            #=> []
    ///     [1, 2, 3, 4][(0..) % 2]    #=> [1, 3]
    ///     [1][5]                     #=> nil
    #[method("[]", "slice")]
    fn aref(cx: &mut Cx, this: Ref<ArrayCell>, index: Value, n: Option<Value>) -> Result<Value> {
        if let Some(n) = n {
            let (start, n) = (cx.to_i64(index)?, cx.to_i64(n)?);
            return Ok(subarray(cx, this, start, n));
        }
        if let Some(i) = index.as_fixnum() {
            return Ok(at_index(this, i));
        }
        if let Some(r) = zakuro_core_base::ranges::as_range(cx, index)? {
            return Ok(match range_bounds(cx, r, this.len(), Outside::Clamp)? {
                Some((s, n)) => part(&cx.heap, this, s, s + n).as_value(),
                None => Value::NIL,
            });
        }
        if cx.is_a(index, ids::ARITH_SEQ) {
            return match sequence_bounds(cx, index, this.len())? {
                Some((s, n, step)) => stepped(cx, this, s, n, step),
                None => Ok(Value::NIL),
            };
        }
        let i = cx.to_i64(index)?;
        Ok(at_index(this, i))
    }

    /// Element at an index.
    ///
    ///     [1, 2].at(-1)   #=> 2
    #[method("at")]
    fn at(this: Ref<ArrayCell>, i: i64) -> Value {
        at_index(this, i)
    }

    /// Element at an index; IndexError, the default or the block's result when there is none.
    ///
    ///     [1].fetch(0)              #=> 1
    ///     [1].fetch(5, :none)       #=> :none
    ///     [1].fetch(5) { |i| -i }   #=> -5
    #[method("fetch")]
    fn fetch(cx: &mut Cx, this: Ref<ArrayCell>, index: Value, default: Option<Value>, block: Block) -> Result<Value> {
        if default.is_some() && block.is_some() {
            cx.warn_here("block supersedes default value argument")?;
        }
        let i = cx.to_i64(index)?;
        if let Some(v) = position(this.len(), i).and_then(|i| this.get(i)) {
            return Ok(v);
        }
        if block.is_some() {
            return cx.yield1(block, index);
        }
        match default {
            Some(d) => Ok(d),
            None => {
                let n = this.len();
                cx.index_error(format!("index {i} outside of array bounds: {}...{n}", -(n as i64)))
            }
        }
    }

    /// Elements at several indexes; IndexError or the block's results for those that are missing.
    ///
    ///     %w[a b c].fetch_values(0, -1)         #=> ["a", "c"]
    ///     %w[a].fetch_values(3) { |i| i }       #=> [3]
    #[method("fetch_values")]
    fn fetch_values(cx: &mut Cx, this: Ref<ArrayCell>, rest: Rest, block: Block) -> Result<Value> {
        let out = cx.new_array();
        for index in rest {
            let v = fetch(cx, this, *index, None, block)?;
            ArrayCell::push(out, &mut cx.heap, v);
        }
        Ok(out.as_value())
    }

    /// Elements at indexes and in ranges; nil for those that are missing.
    ///
    ///     %w[a b c].values_at(0, 2, 5)    #=> ["a", "c", nil]
    ///     %w[a b c].values_at(1..3)       #=> ["b", "c", nil]
    #[method("values_at")]
    fn values_at(cx: &mut Cx, this: Ref<ArrayCell>, rest: Rest) -> Result<Value> {
        let out = cx.new_array();
        for index in rest {
            if let Some(i) = index.as_fixnum() {
                ArrayCell::push(out, &mut cx.heap, at_index(this, i));
            } else if let Some(r) = zakuro_core_base::ranges::as_range(cx, *index)? {
                // Beyond the end nil stands in.
                if let Some((s, n)) = range_bounds(cx, r, this.len(), Outside::Raise)? {
                    check_len(cx, n)?;
                    let end = (s + n).min(this.len());
                    if s < end {
                        let piece = part(&cx.heap, this, s, end);
                        ArrayCell::extend_from(out, &mut cx.heap, piece);
                    }
                    for _ in end.max(s)..s + n {
                        ArrayCell::push(out, &mut cx.heap, Value::NIL);
                    }
                }
            } else {
                let i = cx.to_i64(*index)?;
                ArrayCell::push(out, &mut cx.heap, at_index(this, i));
            }
        }
        Ok(out.as_value())
    }

    /// The first element, or the first `n`.
    ///
    ///     [1, 2, 3].first      #=> 1
    ///     [1, 2, 3].first(2)   #=> [1, 2]
    #[method("first")]
    fn first(heap: &Heap, this: Ref<ArrayCell>, n: Option<Taken>) -> Value {
        match n {
            None => this.get(0).unwrap_or(Value::NIL),
            Some(n) => part(heap, this, 0, n.0).as_value(),
        }
    }

    /// The last element, or the last `n`.
    ///
    ///     [1, 2, 3].last      #=> 3
    ///     [1, 2, 3].last(2)   #=> [2, 3]
    #[method("last")]
    fn last(heap: &Heap, this: Ref<ArrayCell>, n: Option<Taken>) -> Value {
        match n {
            None => this.len().checked_sub(1).and_then(|i| this.get(i)).unwrap_or(Value::NIL),
            Some(n) => part(heap, this, this.len().saturating_sub(n.0), this.len()).as_value(),
        }
    }

    /// The first `n` elements.
    ///
    ///     [1, 2, 3].take(2)   #=> [1, 2]
    #[method("take")]
    fn take(cx: &mut Cx, this: Ref<ArrayCell>, n: Value) -> Result<Value> {
        let n = take_count(cx, n, "attempt to take negative size")?;
        Ok(part(&cx.heap, this, 0, n).as_value())
    }

    /// All but the first `n` elements.
    ///
    ///     [1, 2, 3].drop(2)   #=> [3]
    #[method("drop")]
    fn drop_(cx: &mut Cx, this: Ref<ArrayCell>, n: Value) -> Result<Value> {
        let n = take_count(cx, n, "attempt to drop negative size")?;
        Ok(part(&cx.heap, this, n, this.len()).as_value())
    }

    /// Element at an index, then `dig` in it with the other arguments.
    ///
    ///     [[1, [2]]].dig(0, 1, 0)   #=> 2
    #[method("dig")]
    fn dig(cx: &mut Cx, this: Ref<ArrayCell>, index: Value, rest: Rest) -> Result<Value> {
        let i = cx.to_i64(index)?;
        crate::hash::dig_further(cx, at_index(this, i), rest)
    }

    /// The first Array in it whose first element equals the argument.
    ///
    ///     [[1, :a], [2, :b]].assoc(2)   #=> [2, :b]
    #[method("assoc")]
    fn assoc(cx: &mut Cx, this: Ref<ArrayCell>, key: Value) -> Result<Value> {
        let mut i = 0;
        while let Some(v) = this.get(i) {
            step(i, cx)?;
            if let Some(a) = cx.try_ary(v)?
                && let Some(k) = a.get(0)
                && cx.eq(k, key)?
            {
                return Ok(a.as_value());
            }
            i += 1;
        }
        Ok(Value::NIL)
    }

    /// The first Array in it whose second element equals the argument.
    ///
    ///     [[1, :a], [2, :b]].rassoc(:b)   #=> [2, :b]
    #[method("rassoc")]
    fn rassoc(cx: &mut Cx, this: Ref<ArrayCell>, value: Value) -> Result<Value> {
        let mut i = 0;
        while let Some(v) = this.get(i) {
            step(i, cx)?;
            if let Some(a) = cx.try_ary(v)?
                && let Some(x) = a.get(1)
                && cx.eq(x, value)?
            {
                return Ok(a.as_value());
            }
            i += 1;
        }
        Ok(Value::NIL)
    }

    /// Position of the first element that equals the argument or for which the block is true.
    ///
    ///     %w[a b].index("b")             #=> 1
    ///     [1, 5].index { |x| x > 3 }     #=> 1
    #[method("index", "find_index")]
    fn index(cx: &mut Cx, this: Ref<ArrayCell>, wanted: Option<Value>, block: Block) -> Result<Value> {
        crate::enumerable::warn_unused(cx, wanted, block)?;
        use crate::enumerator::EnumeratorExt;
        if wanted.is_none() && block.is_none() {
            return cx.enumerator(this.as_value(), "index", &[]);
        }
        let Some(wanted) = wanted else {
            let (mut next, mut found) = (0, false);
            let take = |_: &mut Cx| {
                next += 1;
                Some([this.get(next - 1)?])
            };
            cx.walk(block, take, |_, r| !r.truthy(), |_, _| {
                found = true;
                Ok(false)
            })?;
            return Ok(if found { Value::fixnum(next as i64 - 1) } else { Value::NIL });
        };
        let mut i = 0;
        while let Some(v) = this.get(i) {
            step(i, cx)?;
            if cx.eq(v, wanted)? {
                return Ok(Value::fixnum(i as i64));
            }
            cx.safepoint()?;
            i += 1;
        }
        Ok(Value::NIL)
    }

    /// Position of the last such element.
    ///
    ///     [1, 2, 1].rindex(1)   #=> 2
    #[method("rindex")]
    fn rindex(cx: &mut Cx, this: Ref<ArrayCell>, wanted: Option<Value>, block: Block) -> Result<Value> {
        crate::enumerable::warn_unused(cx, wanted, block)?;
        use crate::enumerator::EnumeratorExt;
        if wanted.is_none() && block.is_none() {
            return cx.enumerator(this.as_value(), "rindex", &[]);
        }
        let mut i = this.len();
        while i > 0 {
            i -= 1;
            // The block may have shortened it.
            let Some(v) = this.get(i) else {
                i = this.len();
                continue;
            };
            let hit = match wanted {
                Some(w) => cx.eq(v, w)?,
                None => cx.yield1(block, v)?.truthy(),
            };
            if hit {
                return Ok(Value::fixnum(i as i64));
            }
            cx.safepoint()?;
        }
        Ok(Value::NIL)
    }

    /// Whether an element equals the argument.
    ///
    ///     [1, 2].include?(2.0)   #=> true
    #[method("include?", "member?")]
    fn include(cx: &mut Cx, this: Ref<ArrayCell>, wanted: Value) -> Result<bool> {
        let mut i = 0;
        while let Some(v) = this.get(i) {
            step(i, cx)?;
            if cx.eq(v, wanted)? {
                return Ok(true);
            }
            i += 1;
        }
        Ok(false)
    }
}
