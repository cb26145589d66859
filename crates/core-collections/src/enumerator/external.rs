//! External iteration: `next`, `peek` and their kin. The enumeration runs in a fiber of its own, whose block gives one item at a time away.
//!
//! The state is a data object in a hidden variable of the enumerator: the fiber, the item that was read ahead, and after the end what `each` returned.
//! A fork has no fibers: its enumerators begin anew. An item is passed as the one value that was yielded; only several (or none) become an Array.
//!
//! Rejected: the same in Ruby (an Array, two blocks and five instance variables for each item).

use super::pack;
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::fiber::{FiberData, FiberState};
use zakuro_vm::*;

/// Where an enumerator keeps its [`External`].
fn place() -> Sym {
    sym::enum_external
}

#[derive(Trace)]
struct External {
    /// nil: not begun, or ended.
    fiber: Value,
    /// The last item: nil, the value, or an Array of several.
    item: Value,
    /// How many values that were.
    count: usize,
    /// The item was read by `peek`: `next` gives it.
    ahead: bool,
    /// What `each` returned.
    result: Option<Value>,
    /// The first StopIteration: the cause of those that follow. Nil before it.
    stopped: Value,
    /// What `yield` returns next in the enumeration.
    feed: Option<Value>,
}

impl NativeData for External {
    fn ends_with_vm(&self) -> bool {
        true
    }
    fn change_tracking(&self) -> ChangeTracking {
        ChangeTracking::Independent
    }
    /// Travels unless it is in the middle: a fiber is bound to its VM.
    fn parcel(&self, values: &mut Gathered) -> Option<Unpack> {
        values.extend([self.fiber, self.result.unwrap_or(Value::NIL), self.feed.unwrap_or(Value::NIL)]);
        let (ended, fed) = (self.result.is_some(), self.feed.is_some());
        Some(Box::new(move |_, v| {
            let (result, feed) = (ended.then_some(v[1]), fed.then_some(v[2]));
            Some(Unpacked::Payload(Box::new(External { fiber: v[0], item: Value::NIL, count: 0, ahead: false, result, stopped: Value::NIL, feed })))
        }))
    }
}

/// The `count` values that were yielded, as an Array.
fn values(cx: &Cx, count: usize, item: Value) -> Value {
    match count {
        0 => cx.array(&[]),
        1 => cx.array(&[item]),
        _ => match Ref::<ArrayCell>::from_value(item) {
            Some(several) => cx.array(several.elements(&cx.heap)),
            None => item,
        },
    }
}

/// The enumerator's state, made when it has none, and the object that holds it.
fn external(cx: &mut Cx, this: Value) -> Result<Value> {
    cx.check_frozen(this)?;
    let held = cx.ivar_get(this, place());
    if cx.is_data::<External>(held) {
        return Ok(held);
    }
    let empty = External { fiber: Value::NIL, item: Value::NIL, count: 0, ahead: false, result: None, stopped: Value::NIL, feed: None };
    let held = cx.data(ids::OBJECT, empty);
    cx.ivar_set_raw(this, place(), held);
    Ok(held)
}

/// Reads the next item, unless there is one.
#[inline(always)]
fn read(cx: &mut Cx, this: Value) -> Result<&mut External> {
    let held = external(cx, this)?;
    let e = cx.data_ref::<External>(held)?;
    if !e.ahead {
        let fiber = if e.fiber.is_nil() { begin(cx, this, held)? } else { e.fiber };
        if cx.fiber_resume(fiber, &[]).is_err() {
            // One that could not be resumed, since it runs, or is another thread's, is under way as before.
            if cx.fiber_state(fiber)? == FiberState::Terminated {
                cx.data_mut::<External>(held)?.fiber = Value::NIL;
            }
            return Err(Exc);
        }
        let e = cx.data_mut::<External>(held)?;
        if let Some(result) = e.result {
            e.fiber = Value::NIL;
            return stop(cx, held, result);
        }
    }
    cx.data_mut::<External>(held)
}

/// Makes the fiber. It inherits the variables of the running one.
#[cold]
#[inline(never)]
fn begin(cx: &mut Cx, this: Value, held: Value) -> Result<Value> {
    if let Some(result) = cx.data_ref::<External>(held)?.result {
        return stop(cx, held, result);
    }
    let both = cx.array(&[this, held]);
    let body = cx.native_proc(enumerate, both, false);
    let mut data = FiberData::new(body).counted(cx);
    data.storage = cx.inherited_storage();
    data.thread = cx.thread_id();
    let fiber = cx.data(ids::FIBER, data);
    cx.data_mut::<External>(held)?.fiber = fiber;
    Ok(fiber)
}

/// Body of the fiber.
fn enumerate(cx: &mut Cx, both: Value, _args: Args) -> Result<Value> {
    let both: Ref<ArrayCell> = Ref::of(both);
    let (this, held) = (both.get(0).unwrap_or(Value::NIL), both.get(1).unwrap_or(Value::NIL));
    let block = cx.native_proc(give, held, false);
    let r = cx.call_block(this, sym::each, &[], Block::from_value(block))?;
    cx.data_mut::<External>(held)?.result = Some(r);
    Ok(Value::NIL)
}

/// The block that the enumeration yields to.
fn give(cx: &mut Cx, held: Value, args: Args) -> Result<Value> {
    let item = pack(cx, args.all());
    let e = cx.data_mut::<External>(held)?;
    e.item = item;
    e.count = args.len();
    cx.fiber_yield(&[Value::NIL])?;
    let e = cx.data_mut::<External>(held)?;
    Ok(e.feed.take().unwrap_or(Value::NIL))
}

/// StopIteration with the result of the finished enumeration.
#[cold]
#[inline(never)]
fn stop<T>(cx: &mut Cx, held: Value, result: Value) -> Result<T> {
    let e = cx.exception(ids::STOP_ITERATION, "iteration reached an end");
    cx.ivar_set_raw(e, Sym::intern("__result"), result);
    match cx.data_ref::<External>(held)?.stopped {
        Value::NIL => cx.data_mut::<External>(held)?.stopped = e,
        first => cx.ivar_set_raw(e, sym::exc_cause, first),
    }
    cx.raise_value(e)
}

#[ruby_class(ids::ENUMERATOR)]
pub(super) mod methods {
    use super::*;

    /// The next item; several values that were yielded together come as an Array. StopIteration after the last one.
    ///
    ///     e = [1, 2].each; [e.next, e.next, (e.next rescue $!.class)]   #=> [1, 2, StopIteration]
    #[method("next")]
    fn next(cx: &mut Cx, this: Value) -> Result<Value> {
        let e = read(cx, this)?;
        e.ahead = false;
        Ok(std::mem::replace(&mut e.item, Value::NIL))
    }

    /// The next item as the Array of the values that were yielded.
    ///
    ///     e = Enumerator.new { |y| y.yield; y.yield nil; y.yield 1, 2 }; Array.new(3) { e.next_values }   #=> [[], [nil], [1, 2]]
    #[method("next_values")]
    fn next_values(cx: &mut Cx, this: Value) -> Result<Value> {
        let e = read(cx, this)?;
        e.ahead = false;
        let (count, item) = (e.count, std::mem::replace(&mut e.item, Value::NIL));
        Ok(values(cx, count, item))
    }

    /// The item that `next` will return.
    ///
    ///     e = [1, 2].each; [e.peek, e.next]   #=> [1, 1]
    #[method("peek")]
    fn peek(cx: &mut Cx, this: Value) -> Result<Value> {
        let e = read(cx, this)?;
        e.ahead = true;
        let (count, item) = (e.count, e.item);
        Ok(if count > 1 { values(cx, count, item) } else { item })
    }

    /// What `next_values` will return.
    ///
    ///     Enumerator.new { |y| y.yield }.peek_values   #=> []
    #[method("peek_values")]
    fn peek_values(cx: &mut Cx, this: Value) -> Result<Value> {
        let e = read(cx, this)?;
        e.ahead = true;
        let (count, item) = (e.count, e.item);
        Ok(values(cx, count, item))
    }

    /// Sets what `yield` returns in the enumeration when it goes on.
    ///
    ///     e = [1, 2].map; e.next; e.feed(:a); e.next; e.feed(:b); begin; e.next; rescue StopIteration; $!.result; end   #=> [:a, :b]
    #[method("feed")]
    fn feed(cx: &mut Cx, this: Value, v: Value) -> Result<Value> {
        let held = external(cx, this)?;
        let e = cx.data_mut::<External>(held)?;
        if e.feed.is_some() {
            return cx.type_error("feed value already set");
        }
        e.feed = Some(v);
        Ok(Value::NIL)
    }

    /// Forgets how far the enumeration is.
    #[method("__forget", private)]
    fn forget(cx: &mut Cx, this: Value) -> Result<Value> {
        cx.check_frozen(this)?;
        cx.ivar_set_raw(this, place(), Value::NIL);
        Ok(this)
    }

    /// Is it in the middle of an external iteration?
    #[method("__begun", private)]
    fn begun(cx: &mut Cx, this: Value) -> Result<bool> {
        let held = cx.ivar_get(this, place());
        Ok(cx.is_data::<External>(held) && !cx.data_ref::<External>(held)?.fiber.is_nil())
    }
}
