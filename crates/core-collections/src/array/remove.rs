//! Array: removing elements.

use super::access::subarray;
use super::arg::*;
use super::may_change;
use crate::enumerable::enum_for;
use std::cell::Cell;
use zakuro_base::progress::step;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// Keeps the elements for which the block's truth is `keep`; whether it was untrue of some. However the block leaves, what it decided so far has happened, as in CRuby.
fn retain(cx: &mut Cx, a: Ref<ArrayCell>, block: Block, keep: bool) -> Result<bool> {
    cx.check_frozen(a.as_value())?;
    let (read, write, now) = (Cell::new(0), Cell::new(0), Cell::new(Value::NIL));
    let next = |_: &mut Cx| {
        now.set(a.get(read.get())?);
        Some([now.get()])
    };
    let moves = |r: Value| r.truthy() == keep && write.get() != read.get();
    let decide = |cx: &mut Cx, r: Value| {
        let at = write.get();
        if moves(r) {
            ArrayCell::store(a, &mut cx.heap, at, now.get());
        }
        write.set(at + (r.truthy() == keep) as usize);
        read.set(read.get() + 1);
        true
    };
    let result = cx.walk(block, next, |cx, r| (!moves(r) || may_change(a)) && decide(cx, r), |cx, r| {
        cx.check_frozen(a.as_value())?;
        Ok(decide(cx, r))
    });
    let (read, write) = (read.get(), write.get());
    let moved_away = !a.as_value().is_kind(Kind::Array);
    if result.is_err() && (moved_away || a.as_value().is_frozen()) {
        return Err(Exc);
    }
    if write < read || moved_away {
        cx.check_frozen(a.as_value())?;
    }
    if write < read.min(a.len()) {
        let end = read.min(a.len());
        ArrayCell::splice(a, &mut cx.heap, write, end, &[]);
    }
    result.map(|()| write != read)
}

#[ruby_class(ids::ARRAY)]
pub mod methods {
    use super::*;

    /// Removes and returns the last element, or the last `n`.
    ///
    ///     a = [1, 2, 3]; [a.pop, a.pop(5), a]   #=> [3, [1, 2], []]
    #[method("pop")]
    fn pop(cx: &mut Cx, this: Ref<ArrayCell>, n: Option<Value>) -> Result<Value> {
        cx.check_frozen(this.as_value())?;
        match n {
            None => Ok(ArrayCell::pop(this).unwrap_or(Value::NIL)),
            Some(n) => {
                let n = take_count(cx, n, "negative array size")?;
                let start = this.len().saturating_sub(n);
                let v = cx.array(&this.elements(&cx.heap)[start..]);
                ArrayCell::truncate(this, start);
                Ok(v)
            }
        }
    }

    /// Removes and returns the first element, or the first `n`.
    ///
    ///     a = [1, 2, 3]; [a.shift, a.shift(1), a]   #=> [1, [2], [3]]
    #[method("shift")]
    fn shift(cx: &mut Cx, this: Ref<ArrayCell>, n: Option<Value>) -> Result<Value> {
        cx.check_frozen(this.as_value())?;
        match n {
            None => Ok(ArrayCell::shift(this, &mut cx.heap).unwrap_or(Value::NIL)),
            Some(n) => {
                let n = take_count(cx, n, "negative array size")?.min(this.len());
                let v = cx.array(&this.elements(&cx.heap)[..n]);
                for _ in 0..n {
                    ArrayCell::shift(this, &mut cx.heap);
                }
                Ok(v)
            }
        }
    }

    /// Removes all elements.
    ///
    ///     [1, 2].clear   #=> []
    #[method("clear")]
    fn clear(heap: &mut Heap, Changing(this): Changing<ArrayCell>) -> Value {
        ArrayCell::clear(this, heap);
        this.as_value()
    }

    /// Removes the elements that equal the argument; returns it (the last one removed), or nil or the block's result when there is none.
    ///
    ///     a = [1, 2, 1]; [a.delete(1), a]       #=> [1, [2]]
    ///     [1].delete(5) { |x| [x, :missing] }   #=> [5, :missing]
    #[method("delete")]
    fn delete(cx: &mut Cx, this: Ref<ArrayCell>, wanted: Value, block: Block) -> Result<Value> {
        let mut found = None;
        let mut i = 0;
        while let Some(v) = this.get(i) {
            step(i, cx)?;
            if cx.eq(v, wanted)? {
                cx.check_frozen(this.as_value())?;
                found = Some(v);
                if i < this.len() {
                    ArrayCell::splice(this, &mut cx.heap, i, i + 1, &[]);
                }
            } else {
                i += 1;
            }
        }
        match found {
            Some(v) => Ok(v),
            None if block.is_some() => cx.yield1(block, wanted),
            None => Ok(Value::NIL),
        }
    }

    /// Removes and returns the element at an index.
    ///
    ///     a = [1, 2, 3]; [a.delete_at(1), a]   #=> [2, [1, 3]]
    #[method("delete_at")]
    fn delete_at(cx: &mut Cx, this: Ref<ArrayCell>, i: i64) -> Result<Value> {
        let Some((at, v)) = position(this.len(), i).and_then(|at| Some((at, this.get(at)?))) else { return Ok(Value::NIL) };
        cx.check_frozen(this.as_value())?;
        ArrayCell::splice(this, &mut cx.heap, at, at + 1, &[]);
        Ok(v)
    }

    /// Removes and returns what `[]` with the same arguments returns.
    ///
    ///     a = [1, 2, 3, 4]; [a.slice!(1, 2), a]   #=> [[2, 3], [1, 4]]
    ///     a = [1, 2]; [a.slice!(-1), a]           #=> [2, [1]]
    #[method("slice!")]
    fn slice_bang(cx: &mut Cx, this: Ref<ArrayCell>, index: Value, n: Option<Value>) -> Result<Value> {
        cx.check_frozen(this.as_value())?;
        let (start, n) = match n {
            Some(n) => {
                let (start, n) = (cx.to_i64(index)?, cx.to_i64(n)?);
                match position(this.len(), start) {
                    Some(s) if n >= 0 && s <= this.len() => (s, n as usize),
                    _ => return Ok(Value::NIL),
                }
            }
            None => match zakuro_core_base::ranges::as_range(cx, index)? {
                Some(r) => match range_bounds(cx, r, this.len(), Outside::Clamp)? {
                    Some(b) => b,
                    None => return Ok(Value::NIL),
                },
                None => {
                    let i = cx.to_i64(index)?;
                    return delete_at(cx, this, i);
                }
            },
        };
        let end = start.saturating_add(n).min(this.len());
        let v = subarray(cx, this, start as i64, (end - start) as i64);
        ArrayCell::splice(this, &mut cx.heap, start, end, &[]);
        Ok(v)
    }

    /// Removes the elements for which the block is true.
    ///
    ///     [1, 2, 3].delete_if(&:odd?)   #=> [2]
    #[method("delete_if")]
    fn delete_if(cx: &mut Cx, this: Ref<ArrayCell>, block: Block) -> Result<Value> {
        if block.is_none() {
            return enum_for(cx, this.as_value(), "delete_if", &[]);
        }
        retain(cx, this, block, false)?;
        Ok(this.as_value())
    }

    /// As `delete_if`; nil when none was removed.
    ///
    ///     [1].reject!(&:even?)   #=> nil
    #[method("reject!")]
    fn reject_bang(cx: &mut Cx, this: Ref<ArrayCell>, block: Block) -> Result<Value> {
        if block.is_none() {
            return enum_for(cx, this.as_value(), "reject!", &[]);
        }
        Ok(if retain(cx, this, block, false)? { this.as_value() } else { Value::NIL })
    }

    /// Keeps the elements for which the block is true; nil when that is all.
    ///
    ///     [1, 2].select!(&:odd?)   #=> [1]
    #[method("select!", "filter!")]
    fn select_bang(cx: &mut Cx, this: Ref<ArrayCell>, block: Block) -> Result<Value> {
        if block.is_none() {
            return enum_for(cx, this.as_value(), "select!", &[]);
        }
        Ok(if retain(cx, this, block, true)? { this.as_value() } else { Value::NIL })
    }

    /// Keeps the elements for which the block is true.
    ///
    ///     [1, 2].keep_if(&:even?)   #=> [2]
    #[method("keep_if")]
    fn keep_if(cx: &mut Cx, this: Ref<ArrayCell>, block: Block) -> Result<Value> {
        if block.is_none() {
            return enum_for(cx, this.as_value(), "keep_if", &[]);
        }
        retain(cx, this, block, true)?;
        Ok(this.as_value())
    }

    /// Removes repetitions; nil when there were none.
    ///
    ///     [1, 1].uniq!   #=> [1]
    ///     [1].uniq!      #=> nil
    #[method("uniq!")]
    fn uniq_bang(cx: &mut Cx, this: Ref<ArrayCell>, block: Block) -> Result<Value> {
        cx.check_frozen(this.as_value())?;
        let u = cx.call_block(this.as_value(), Sym::intern("uniq"), &[], block)?;
        let u = cx.to_ary(u)?;
        if u.len() == this.len() {
            return Ok(Value::NIL);
        }
        cx.check_frozen(this.as_value())?;
        ArrayCell::replace_shared(this, &mut cx.heap, u);
        Ok(this.as_value())
    }
}
