//! Array: storing and adding elements.

use super::arg::*;
use super::may_change;
use std::cell::Cell;
use zakuro_base::progress::step;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// `a[start, n] = with`, filling up with nil when it starts beyond the end. IndexError for a start before the first element.
/// `with` is no part of the Array's content.
pub fn replace_part(cx: &mut Cx, a: Ref<ArrayCell>, start: i64, n: i64, with: &[Value]) -> Result<()> {
    let len = a.len();
    if n < 0 {
        return cx.index_error(format!("negative length ({n})"));
    }
    let Some(start) = position(len, start) else {
        return cx.index_error(format!("index {start} too small for array; minimum: {}", -(len as i64)));
    };
    if start >= len {
        if start >= zakuro_object::array::MAX_LEN {
            return cx.index_error(format!("index {start} too big"));
        }
        check_len(cx, start.saturating_add(with.len()))?;
        if start > len {
            ArrayCell::store(a, &mut cx.heap, start - 1, Value::NIL);
        }
        ArrayCell::extend(a, &mut cx.heap, with);
        return Ok(());
    }
    let end = start.saturating_add(n as usize).min(len);
    ArrayCell::splice(a, &mut cx.heap, start, end, with);
    Ok(())
}

/// `a[i] = v`
pub fn store_at(cx: &mut Cx, a: Ref<ArrayCell>, i: i64, v: Value) -> Result<()> {
    match position(a.len(), i) {
        Some(at) => {
            if at >= zakuro_object::array::MAX_LEN {
                return cx.index_error(format!("index {i} too big"));
            }
            check_len(cx, at)?;
            ArrayCell::store(a, &mut cx.heap, at, v);
            Ok(())
        }
        None => {
            let n = a.len();
            cx.index_error(format!("index {i} too small for array; minimum: {}", -(n as i64)))
        }
    }
}

/// What an assignment to a part stores: the elements of an Array, or the one value.
fn elements(cx: &mut Cx, v: Value) -> Result<RootedVec> {
    Ok(match cx.try_ary(v)? {
        Some(a) => RootedVec::of(cx, a),
        None => RootedVec::from_slice(cx, &[v]),
    })
}

/// Sets element after element from the block, or all to one value.
fn fill_part(cx: &mut Cx, a: Ref<ArrayCell>, start: usize, end: usize, value: Value, block: Block) -> Result<()> {
    check_len(cx, end)?;
    if block.is_none() {
        for i in start..end {
            step(i - start, cx)?;
            cx.check_frozen(a.as_value())?;
            ArrayCell::store(a, &mut cx.heap, i, value);
        }
        return Ok(());
    }
    for i in a.len()..end {
        step(i, cx)?;
        cx.check_frozen(a.as_value())?;
        ArrayCell::store(a, &mut cx.heap, i, Value::NIL);
    }
    let i = Cell::new(start);
    // A block that makes the Array shorter ends it.
    let store = |cx: &mut Cx, r| {
        let at = i.replace(i.get() + 1);
        let there = at < a.len();
        if there {
            ArrayCell::store(a, &mut cx.heap, at, r);
        }
        there
    };
    let next = |_: &mut Cx| (i.get() < end).then(|| [Value::fixnum(i.get() as i64)]);
    cx.walk(block, next, |cx, r| may_change(a) && store(cx, r), |cx, r| {
        cx.check_frozen(a.as_value())?;
        Ok(store(cx, r))
    })
}

#[ruby_class(ids::ARRAY)]
pub mod methods {
    use super::*;

    /// Replaces the element at an index, or the elements of a range or of `start, length` by those of an Array (or by one value).
    ///
    ///     a = [1, 2, 3]; a[1] = :b; a            #=> [1, :b, 3]
    ///     a = [1, 2, 3]; a[0..1] = [9]; a        #=> [9, 3]
    ///     a = [1]; a[3] = 4; a                   #=> [1, nil, nil, 4]
    ///     a = [1, 2]; a[1, 0] = [7, 8]; a        #=> [1, 7, 8, 2]
    #[method("[]=", min = 2, max = 3)]
    fn aset(cx: &mut Cx, this: Ref<ArrayCell>, args: Args) -> Result<Value> {
        // A place before the first element is refused before what is frozen is.
        if let [index, _] = *args.all()
            && let Some(i) = index.as_fixnum()
            && i < -(this.len() as i64)
            && cx.class_of(this.as_value()) == ids::ARRAY
        {
            store_at(cx, this, i, Value::NIL)?;
        }
        cx.check_frozen(this.as_value())?;
        match *args.all() {
            [start, n, v] => {
                let (start, n) = (cx.to_i64(start)?, cx.to_i64(n)?);
                let with = elements(cx, v)?;
                replace_part(cx, this, start, n, &with)?;
                Ok(v)
            }
            [index, v] => {
                if !index.is_fixnum()
                    && let Some(r) = zakuro_core_base::ranges::as_range(cx, index)?
                {
                    if let Some((start, n)) = range_bounds(cx, r, this.len(), Outside::Raise)? {
                        let with = elements(cx, v)?;
                        replace_part(cx, this, start as i64, n as i64, &with)?;
                    }
                    return Ok(v);
                }
                let i = cx.to_i64(index)?;
                store_at(cx, this, i, v)?;
                Ok(v)
            }
            _ => Ok(Value::NIL),
        }
    }

    /// Appends an element.
    ///
    ///     [1] << 2 << 3   #=> [1, 2, 3]
    #[method("<<")]
    fn append(heap: &mut Heap, Changing(this): Changing<ArrayCell>, v: Value) -> Value {
        ArrayCell::push(this, heap, v);
        this.as_value()
    }

    /// Appends elements.
    ///
    ///     [1].push(2, 3)   #=> [1, 2, 3]
    #[method("push", "append")]
    fn push(heap: &mut Heap, Changing(this): Changing<ArrayCell>, rest: Rest) -> Value {
        ArrayCell::extend(this, heap, rest);
        this.as_value()
    }

    /// Puts elements in front.
    ///
    ///     [3].unshift(1, 2)   #=> [1, 2, 3]
    #[method("unshift", "prepend")]
    fn unshift(heap: &mut Heap, Changing(this): Changing<ArrayCell>, rest: Rest) -> Value {
        if !rest.is_empty() {
            ArrayCell::splice(this, heap, 0, 0, rest);
        }
        this.as_value()
    }

    /// Puts elements before the one at an index; a negative index counts from the end and puts them behind it.
    ///
    ///     [1, 4].insert(1, 2, 3)    #=> [1, 2, 3, 4]
    ///     [1, 2].insert(-2, :x)     #=> [1, :x, 2]
    #[method("insert")]
    fn insert(cx: &mut Cx, this: Ref<ArrayCell>, index: Value, rest: Rest) -> Result<Value> {
        cx.check_frozen(this.as_value())?;
        let i = cx.to_i64(index)?;
        if rest.is_empty() {
            return Ok(this.as_value());
        }
        let len = this.len() as i64;
        let at = if i < 0 { i + len + 1 } else { i };
        if at < 0 {
            return cx.index_error(format!("index {i} too small for array; minimum: -{}", len + 1));
        }
        replace_part(cx, this, at, 0, rest)?;
        Ok(this.as_value())
    }

    /// Appends the elements of other Arrays.
    ///
    ///     [1].concat([2], [3, 4])   #=> [1, 2, 3, 4]
    #[method("concat")]
    fn concat(cx: &mut Cx, this: Ref<ArrayCell>, rest: Rest) -> Result<Value> {
        cx.check_frozen(this.as_value())?;
        let mut all = RootedVec::new(cx);
        for v in rest {
            let a = cx.to_ary(*v)?;
            all.extend_from_slice(a.elements(&cx.heap));
        }
        ArrayCell::extend(this, &mut cx.heap, &all);
        Ok(this.as_value())
    }

    /// Sets all elements, or those of `start, length` or of a range, to a value or to the block's results for their indexes.
    ///
    ///     [1, 2, 3].fill(0)                  #=> [0, 0, 0]
    ///     [1, 2, 3].fill(0, 1)               #=> [1, 0, 0]
    ///     [1, 2, 3].fill(0, 1, 1)            #=> [1, 0, 3]
    ///     [1, 2, 3].fill(1..) { |i| i * i }  #=> [1, 1, 4]
    #[method("fill", min = 0, max = -1)]
    fn fill(cx: &mut Cx, this: Ref<ArrayCell>, args: Args) -> Result<Value> {
        let (mut given, block) = (args.all(), args.block);
        let mut value = Value::NIL;
        if block.is_none() {
            let Some((first, others)) = given.split_first() else { return cx.arity_error(0, 1, Some(3)) };
            if others.len() > 2 {
                return cx.arity_error(given.len(), 1, Some(3));
            }
            value = *first;
            given = others;
        } else if given.len() > 2 {
            return cx.arity_error(given.len(), 0, Some(2));
        }
        let len = this.len();
        let from = |cx: &mut Cx, v: Value| -> Result<usize> {
            let i = cx.to_i64(v)?;
            Ok(if i < 0 { (i + len as i64).max(0) as usize } else { i as usize })
        };
        let (start, end) = match *given {
            [] | [Value::NIL] => (0, len),
            [v] => match zakuro_core_base::ranges::as_range(cx, v)? {
                Some(r) => range_bounds(cx, r, len, Outside::Raise)?.map_or((0, 0), |(s, n)| (s, s + n)),
                None => (from(cx, v)?, len),
            },
            [v, n, ..] => {
                let start = if v.is_nil() { 0 } else { from(cx, v)? };
                if n.is_nil() {
                    (start, len)
                } else {
                    let n = cx.to_i64(n)?;
                    if n > zakuro_object::array::MAX_LEN as i64 {
                        return cx.arg_error("argument too big");
                    }
                    (start, start.saturating_add(n.max(0) as usize))
                }
            }
        };
        cx.check_frozen(this.as_value())?;
        fill_part(cx, this, start, end, value, block)?;
        Ok(this.as_value())
    }
}
