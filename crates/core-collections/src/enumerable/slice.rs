//! Enumerable: groups of neighbours, several collections at once, repetition.

use super::*;
use zakuro_macros::ruby_class;

/// Longest group that is filled in one go: nobody polls meanwhile.
const SHORT: usize = 1024;

/// The size argument of each_slice and each_cons.
fn positive(cx: &mut Cx, n: Value, message: &str) -> Result<usize> {
    let n = cx.to_i64(n)?;
    if n <= 0 { cx.arg_error(message) } else { Ok(n as usize) }
}

fn size(cx: &mut Cx, recv: Value) -> Result<Option<i64>> {
    let v = crate::enumerator::size_of_receiver(cx, recv, &[])?;
    Ok(v.as_fixnum())
}
fn slice_size(cx: &mut Cx, recv: Value, args: &[Value]) -> Result<Value> {
    let n = cx.to_i64(args.first().copied().unwrap_or(Value::fixnum(1)))?.max(1);
    match size(cx, recv)? {
        Some(s) => Ok(cx.int((s + n - 1) / n)),
        None => crate::enumerator::size_of_receiver(cx, recv, &[]),
    }
}
fn cons_size(cx: &mut Cx, recv: Value, args: &[Value]) -> Result<Value> {
    let n = cx.to_i64(args.first().copied().unwrap_or(Value::fixnum(1)))?.max(1);
    match size(cx, recv)? {
        Some(s) => Ok(cx.int((s - n + 1).max(0))),
        None => crate::enumerator::size_of_receiver(cx, recv, &[]),
    }
}
fn cycle_size(cx: &mut Cx, recv: Value, args: &[Value]) -> Result<Value> {
    let s = crate::enumerator::size_of_receiver(cx, recv, &[])?;
    let n = match args.first().copied().unwrap_or(Value::NIL) {
        _ if recv.is_kind(Kind::Array) && s == Value::fixnum(0) => return Ok(s),
        Value::NIL => None,
        n => Some(cx.to_i64(n)?.max(0)),
    };
    if s.is_nil() || s == Value::fixnum(0) {
        return Ok(s);
    }
    let Some(n) = n else { return Ok(cx.float(f64::INFINITY)) };
    let n = cx.int(n);
    cx.call(s, sym::mul, &[n])
}

/// A source of `zip`: an Array read by index, or an Enumerator read by `next` until it ends.
fn zip_source(cx: &mut Cx, v: Value) -> Result<Value> {
    if let Some(a) = cx.try_ary(v)? {
        return Ok(a.as_value());
    }
    if !cx.responds(v, sym::each, false)? {
        let what = cx.class_name_of(v);
        return cx.type_error(format!("wrong argument type {what} (must respond to :each)"));
    }
    cx.call(v, sym::to_enum, &[Value::sym(sym::each)])
}

#[ruby_class(ids::ENUMERABLE)]
pub mod methods {
    use super::*;

    /// Yields Arrays of `n` consecutive elements each; the last may be shorter.
    ///
    ///     (1..5).each_slice(2).to_a   #=> [[1, 2], [3, 4], [5]]
    #[method("each_slice")]
    fn each_slice(cx: &mut Cx, this: Value, n: Value, block: Block) -> Result<Value> {
        let count = positive(cx, n, "invalid slice size")?;
        if block.is_none() {
            return cx.sized_enumerator(this, "each_slice", &[n], slice_size);
        }
        if count <= SHORT
            && let Some(mut elements) = Elements::of(cx, this)
        {
            let hash = elements.hash();
            // A short group is the last one, whatever its block adds.
            let mut ended = false;
            let next = |cx: &mut Cx| {
                if ended {
                    return None;
                }
                let first = elements.take_packed(cx)?;
                let group = ArrayCell::for_len(&cx.heap, ids::ARRAY.0, count);
                ArrayCell::reserve(group, &mut cx.heap, count);
                ArrayCell::push(group, &mut cx.heap, first);
                while group.len() < count
                    && let Some(v) = elements.take_packed(cx)
                {
                    ArrayCell::push(group, &mut cx.heap, v);
                }
                ended = group.len() < count;
                Some([group.as_value()])
            };
            walked(cx, hash, |cx| cx.walk(block, next, |_, _| true, |_, _| Ok(true)))?;
            return Ok(this);
        }
        let now = Cell::new(cx.new_array());
        each_of(cx, this, |cx, v| {
            let e = pack(cx, v);
            let group = now.get();
            ArrayCell::push(group, &mut cx.heap, e);
            if group.len() == count {
                let fresh = cx.new_array();
                now.set(fresh);
                cx.yield1(block, group.as_value())?;
            }
            Ok(true)
        })?;
        if !now.get().is_empty() {
            cx.yield1(block, now.get().as_value())?;
        }
        Ok(this)
    }

    /// Yields each `n` neighbours.
    ///
    ///     (1..4).each_cons(2).to_a   #=> [[1, 2], [2, 3], [3, 4]]
    #[method("each_cons")]
    fn each_cons(cx: &mut Cx, this: Value, n: Value, block: Block) -> Result<Value> {
        let count = positive(cx, n, "invalid size")?;
        if block.is_none() {
            return cx.sized_enumerator(this, "each_cons", &[n], cons_size);
        }
        if count <= SHORT
            && let Some(mut elements) = Elements::of(cx, this)
        {
            let hash = elements.hash();
            let window = cx.new_array();
            let next = |cx: &mut Cx| {
                if window.len() == count {
                    ArrayCell::shift(window, &mut cx.heap);
                }
                while window.len() < count {
                    let v = elements.take_packed(cx)?;
                    ArrayCell::push(window, &mut cx.heap, v);
                }
                Some([cx.array(window.elements(&cx.heap))])
            };
            walked(cx, hash, |cx| cx.walk(block, next, |_, _| true, |_, _| Ok(true)))?;
            return Ok(this);
        }
        let window = cx.new_array();
        each_of(cx, this, |cx, v| {
            let e = pack(cx, v);
            if window.len() == count {
                ArrayCell::shift(window, &mut cx.heap);
            }
            ArrayCell::push(window, &mut cx.heap, e);
            if window.len() == count {
                let copy = cx.array(window.elements(&cx.heap));
                cx.yield1(block, copy)?;
            }
            Ok(true)
        })?;
        Ok(this)
    }

    /// Arrays of the elements with the same position in all collections. With a block they are yielded instead.
    ///
    ///     (1..2).zip(3..4)            #=> [[1, 3], [2, 4]]
    ///     (1..2).zip([5], [6, 7])     #=> [[1, 5, 6], [2, nil, 7]]
    #[method("zip")]
    fn zip(cx: &mut Cx, this: Value, rest: Rest, block: Block) -> Result<Value> {
        let mut sources = RootedVec::new(cx);
        for v in rest {
            let s = zip_source(cx, *v)?;
            sources.push(s);
        }
        if let (1, Some(a)) = (sources.len(), sources.first().and_then(|s| Ref::<ArrayCell>::from_value(*s)))
            && let Some(mut source) = Source::of(cx, this)
        {
            let mut at = 0;
            let out = cx.new_array();
            while let Some(e) = source.take() {
                let tuple = cx.array(&[e, a.get(at).unwrap_or(Value::NIL)]);
                at += 1;
                if block.is_some() {
                    yield_spread(cx, block, tuple)?;
                } else {
                    ArrayCell::push(out, &mut cx.heap, tuple);
                }
                cx.safepoint()?;
            }
            return Ok(if block.is_some() { Value::NIL } else { out.as_value() });
        }
        let done = std::cell::RefCell::new(vec![false; sources.len()]);
        let index = Cell::new(0);
        let out = cx.new_array();
        each_of(cx, this, |cx, v| {
            let e = pack(cx, v);
            let tuple = cx.new_array();
            ArrayCell::push(tuple, &mut cx.heap, e);
            let at = index.replace(index.get() + 1);
            for (k, s) in sources.iter().enumerate() {
                let item = match Ref::<ArrayCell>::from_value(*s) {
                    Some(a) => a.get(at).unwrap_or(Value::NIL),
                    None if done.borrow()[k] => Value::NIL,
                    None => match cx.rescue(&[ids::STOP_ITERATION], |cx| cx.call(*s, sym::next, &[]))? {
                        Ok(v) => v,
                        Err(_) => {
                            done.borrow_mut()[k] = true;
                            Value::NIL
                        }
                    },
                };
                ArrayCell::push(tuple, &mut cx.heap, item);
            }
            if block.is_some() && sources.is_empty() && !this.is_kind(Kind::Array) {
                cx.yield1(block, e)?;
            } else if block.is_some() {
                yield_spread(cx, block, tuple.as_value())?;
            } else {
                ArrayCell::push(out, &mut cx.heap, tuple.as_value());
            }
            Ok(true)
        })?;
        Ok(if block.is_some() { Value::NIL } else { out.as_value() })
    }

    /// Yields all elements again and again, or `n` times.
    ///
    ///     (1..2).cycle(2).to_a    #=> [1, 2, 1, 2]
    ///     (1..2).cycle.first(3)   #=> [1, 2, 1]
    #[method("cycle")]
    fn cycle(cx: &mut Cx, this: Value, n: Option<Value>, block: Block) -> Result<Value> {
        if block.is_none() {
            let args: &[Value] = n.as_slice();
            return cx.sized_enumerator(this, "cycle", args, cycle_size);
        }
        let mut left = match n {
            None | Some(Value::NIL) => None,
            Some(n) => Some(cx.to_i64(n)?),
        };
        if left.is_some_and(|n| n <= 0) {
            return Ok(Value::NIL);
        }
        let saved = match Ref::<ArrayCell>::from_value(this) {
            Some(a) => a,
            None => {
                let saved = cx.new_array();
                each_of(cx, this, |cx, v| {
                    let e = pack(cx, v);
                    ArrayCell::push(saved, &mut cx.heap, e);
                    yield_packed(cx, block, v, e)?;
                    Ok(true)
                })?;
                left = left.map(|n| n - 1);
                saved
            }
        };
        while !saved.is_empty() && left.is_none_or(|n| n > 0) {
            let mut i = 0;
            while let Some(v) = saved.get(i) {
                yield_spread(cx, block, v)?;
                cx.safepoint()?;
                i += 1;
            }
            left = left.map(|n| n - 1);
        }
        Ok(Value::NIL)
    }
}
