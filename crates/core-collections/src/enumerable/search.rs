//! Enumerable: methods that look for something and may stop early.

use super::*;
use crate::array::arg::take_count;
use zakuro_macros::ruby_class;

/// What `all?`, `any?`, `none?` and `one?` test: a pattern, the block, or the element itself.
#[inline(always)]
fn test(cx: &mut Cx, pattern: Option<Value>, block: Block, v: &[Value]) -> Result<bool> {
    Ok(match pattern {
        Some(p) => {
            let e = pack(cx, v);
            cx.case_eq(p, e)?
        }
        None if block.is_some() => cx.yield_values(block, v)?.truthy(),
        None => v.len() > 1 || pack(cx, v).truthy(),
    })
}

/// Whether the block answers something as true, or untrue, as is `wanted` for some element.
fn finds(cx: &mut Cx, this: Value, block: Block, wanted: bool) -> Result<bool> {
    let found = Cell::new(false);
    let keep_slowly = |_: &mut Cx, _, _| {
        found.set(true);
        Ok(false)
    };
    each_yield::<false>(cx, this, block, |_, _, r| r.truthy() != wanted, keep_slowly)?;
    Ok(found.get())
}

#[ruby_class(ids::ENUMERABLE)]
pub mod methods {
    use super::*;

    /// Whether every element passes.
    ///
    ///     (1..3).all? { |x| x > 0 }   #=> true
    ///     [1, nil].all?               #=> false
    ///     %w[a b].all?(/[ab]/)        #=> true
    #[method("all?")]
    fn all(cx: &mut Cx, this: Value, pattern: Option<Value>, block: Block) -> Result<bool> {
        warn_unused(cx, pattern, block)?;
        if pattern.is_none() && block.is_some() {
            return finds(cx, this, block, false).map(|found| !found);
        }
        let r = Cell::new(true);
        each_of(cx, this, |cx, v| {
            if !test(cx, pattern, block, v)? {
                r.set(false);
            }
            Ok(r.get())
        })?;
        Ok(r.get())
    }

    /// Whether some element passes.
    ///
    ///     (1..3).any?(3..9)   #=> true
    ///     [].any?             #=> false
    #[method("any?")]
    fn any(cx: &mut Cx, this: Value, pattern: Option<Value>, block: Block) -> Result<bool> {
        warn_unused(cx, pattern, block)?;
        if pattern.is_none() && block.is_some() {
            return finds(cx, this, block, true);
        }
        let r = Cell::new(false);
        each_of(cx, this, |cx, v| {
            if test(cx, pattern, block, v)? {
                r.set(true);
            }
            Ok(!r.get())
        })?;
        Ok(r.get())
    }

    /// Whether no element passes.
    ///
    ///     (1..3).none?(&:zero?)   #=> true
    #[method("none?")]
    fn none(cx: &mut Cx, this: Value, pattern: Option<Value>, block: Block) -> Result<bool> {
        warn_unused(cx, pattern, block)?;
        if pattern.is_none() && block.is_some() {
            return finds(cx, this, block, true).map(|found| !found);
        }
        let r = Cell::new(true);
        each_of(cx, this, |cx, v| {
            if test(cx, pattern, block, v)? {
                r.set(false);
            }
            Ok(r.get())
        })?;
        Ok(r.get())
    }

    /// Whether exactly one element passes.
    ///
    ///     [1, nil].one?        #=> true
    ///     (1..4).one?(&:even?) #=> false
    #[method("one?")]
    fn one(cx: &mut Cx, this: Value, pattern: Option<Value>, block: Block) -> Result<bool> {
        warn_unused(cx, pattern, block)?;
        let n = Cell::new(0);
        each_of(cx, this, |cx, v| {
            if test(cx, pattern, block, v)? {
                n.set(n.get() + 1);
            }
            Ok(n.get() < 2)
        })?;
        Ok(n.get() == 1)
    }

    /// The first element for which the block is true; else nil, or what `if_none.call` returns.
    ///
    ///     (1..9).find { |x| x * x > 20 }     #=> 5
    ///     [1].find(-> { :no }) { |x| x > 1 } #=> :no
    #[method("find", "detect")]
    fn find(cx: &mut Cx, this: Value, if_none: Option<Value>, block: Block) -> Result<Value> {
        if block.is_none() {
            let args: &[Value] = if_none.as_slice();
            return cx.enumerator(this, "find", args);
        }
        let found = Cell::new(None);
        let keep_slowly = |_: &mut Cx, e, _| {
            found.set(Some(e));
            Ok(false)
        };
        each_yield::<true>(cx, this, block, |_, _, r| !r.truthy(), keep_slowly)?;
        match (found.get(), if_none) {
            (Some(v), _) => Ok(v),
            (None, Some(f)) if !f.is_nil() => cx.call(f, sym::call, &[]),
            _ => Ok(Value::NIL),
        }
    }

    /// Position of the first element that equals the argument or for which the block is true.
    ///
    ///     (5..9).find_index(7)             #=> 2
    ///     (5..9).find_index { |x| x > 9 }  #=> nil
    #[method("find_index")]
    fn find_index(cx: &mut Cx, this: Value, wanted: Option<Value>, block: Block) -> Result<Value> {
        warn_unused(cx, wanted, block)?;
        if wanted.is_none() && block.is_none() {
            return cx.enumerator(this, "find_index", &[]);
        }
        let (index, found) = (Cell::new(0i64), Cell::new(false));
        if wanted.is_none() {
            let keep = |_: &mut Cx, _, r: Value| {
                index.set(index.get() + 1);
                !r.truthy()
            };
            let keep_slowly = |_: &mut Cx, _, _| {
                found.set(true);
                Ok(false)
            };
            each_yield::<false>(cx, this, block, keep, keep_slowly)?;
            return Ok(if found.get() { cx.int(index.get() - 1) } else { Value::NIL });
        }
        each_of(cx, this, |cx, v| {
            let hit = match wanted {
                Some(w) => {
                    let e = pack(cx, v);
                    cx.eq(e, w)?
                }
                None => cx.yield_values(block, v)?.truthy(),
            };
            if hit {
                found.set(true);
            } else {
                index.set(index.get() + 1);
            }
            Ok(!hit)
        })?;
        Ok(if found.get() { cx.int(index.get()) } else { Value::NIL })
    }

    /// Whether an element equals the argument.
    ///
    ///     (1..3).each_entry.include?(2)   #=> true
    #[method("include?", "member?")]
    pub fn include(cx: &mut Cx, this: Value, wanted: Value) -> Result<bool> {
        let found = Cell::new(false);
        each_of(cx, this, |cx, v| {
            let e = pack(cx, v);
            found.set(cx.eq(e, wanted)?);
            Ok(!found.get())
        })?;
        Ok(found.get())
    }

    /// Number of elements, of those that equal the argument, or of those for which the block is true.
    ///
    ///     (1..4).each_entry.count         #=> 4
    ///     [1, 2, 1].each_entry.count(1)   #=> 2
    ///     (1..4).count(&:even?)           #=> 2
    #[method("count")]
    pub fn count(cx: &mut Cx, this: Value, wanted: Option<Value>, block: Block) -> Result<i64> {
        warn_unused(cx, wanted, block)?;
        let n = Cell::new(0);
        if wanted.is_none() && block.is_some() {
            each_result::<false>(cx, this, block, |_, _, r| n.set(n.get() + r.truthy() as i64))?;
            return Ok(n.get());
        }
        each_of(cx, this, |cx, v| {
            let hit = match wanted {
                Some(w) => {
                    let e = pack(cx, v);
                    cx.eq(e, w)?
                }
                None => true,
            };
            if hit {
                n.set(n.get() + 1);
            }
            Ok(true)
        })?;
        Ok(n.get())
    }

    /// The first element (nil when there is none), or the first `n`.
    ///
    ///     {a: 1, b: 2}.first        #=> [:a, 1]
    ///     (1..9).each_entry.first(2)  #=> [1, 2]
    #[method("first")]
    fn first(cx: &mut Cx, this: Value, n: Option<Value>) -> Result<Value> {
        if let Some(n) = n {
            return take(cx, this, n);
        }
        let found = Cell::new(Value::NIL);
        each_of(cx, this, |cx, v| {
            let v = pack(cx, v);
            found.set(v);
            Ok(false)
        })?;
        Ok(found.get())
    }

    /// The first `n` elements.
    ///
    ///     (1..Float::INFINITY).take(2)   #=> [1, 2]
    #[method("take")]
    pub fn take(cx: &mut Cx, this: Value, n: Value) -> Result<Value> {
        let n = take_count(cx, n, "attempt to take negative size")?;
        if n > zakuro_object::array::MAX_LEN {
            return cx.arg_error("array size too big");
        }
        let out = cx.new_array();
        if n == 0 {
            return Ok(out.as_value());
        }
        each_of(cx, this, |cx, v| {
            let v = pack(cx, v);
            ArrayCell::push(out, &mut cx.heap, v);
            Ok(out.len() < n)
        })?;
        Ok(out.as_value())
    }

    /// The elements up to the first for which the block is false.
    ///
    ///     (1..9).take_while { |x| x < 3 }   #=> [1, 2]
    #[method("take_while")]
    fn take_while(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return cx.enumerator(this, "take_while", &[]);
        }
        let out = cx.new_array();
        if Source::of(cx, this).is_some() {
            let keep = |cx: &mut Cx, e, r: Value| {
                if r.truthy() {
                    ArrayCell::push(out, &mut cx.heap, e);
                }
                r.truthy()
            };
            each_yield::<false>(cx, this, block, keep, |_, _, _| Ok(false))?;
            return Ok(out.as_value());
        }
        each_of(cx, this, |cx, v| {
            let more = cx.yield_values(block, v)?.truthy();
            if more {
                let v = pack(cx, v);
                ArrayCell::push(out, &mut cx.heap, v);
            }
            Ok(more)
        })?;
        Ok(out.as_value())
    }

    /// All but the first `n` elements.
    ///
    ///     (1..5).drop(3)   #=> [4, 5]
    #[method("drop")]
    fn drop_(cx: &mut Cx, this: Value, n: Value) -> Result<Value> {
        let n = take_count(cx, n, "attempt to drop negative size")?;
        let out = cx.new_array();
        let at = Cell::new(0);
        each_of(cx, this, |cx, v| {
            if at.replace(at.get() + 1) >= n {
                let v = pack(cx, v);
                ArrayCell::push(out, &mut cx.heap, v);
            }
            Ok(true)
        })?;
        Ok(out.as_value())
    }

    /// The elements from the first for which the block is false.
    ///
    ///     (1..5).drop_while { |x| x < 4 }   #=> [4, 5]
    #[method("drop_while")]
    fn drop_while(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return cx.enumerator(this, "drop_while", &[]);
        }
        let out = cx.new_array();
        let dropping = Cell::new(true);
        each_of(cx, this, |cx, v| {
            let e = pack(cx, v);
            if dropping.get() && !yield_packed(cx, block, v, e)?.truthy() {
                dropping.set(false);
            }
            if !dropping.get() {
                ArrayCell::push(out, &mut cx.heap, e);
            }
            Ok(true)
        })?;
        Ok(out.as_value())
    }
}
