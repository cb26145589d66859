//! Queue and SizedQueue.
//!
//! Who waits stands in line by its thread number. A push wakes the first; a waiter that leaves for another reason (time, exception) wakes the
//! next one if there is still something to take, so that no wake-up is lost with it.

use super::deadline;
use super::line::{self, Line};
use std::collections::VecDeque;
use std::time::Instant;
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

/// Payload of both classes.
#[derive(Trace, Default)]
struct QueueData {
    items: VecDeque<Value>,
    closed: bool,
    #[untraced]
    takers: Line,
    #[untraced]
    givers: Line,
    /// The process in which its lines were looked through last.
    #[untraced]
    process: u32,
    /// Room; None for a plain Queue.
    max: Option<usize>,
    /// Bytes of `items` that the heap knows of.
    #[untraced]
    counted: usize,
}

impl NativeData for QueueData {
    fn weight(&self) -> usize {
        self.counted
    }
    fn block(&self) -> usize {
        self.counted
    }
    fn each_value(&self, f: &mut dyn FnMut(Value)) {
        self.items.iter().for_each(|v| f(*v));
    }
    fn snapshot(&self, values: &mut Gathered) -> Option<Rebuild> {
        values.extend(&self.items);
        Some(blueprint(self.closed, self.max))
    }
}

fn blueprint(closed: bool, max: Option<usize>) -> Rebuild {
    let make = move |_: &mut dyn std::any::Any, v: &[Value]| -> Option<Box<dyn NativeData>> {
        Some(Box::new(QueueData { items: v.iter().copied().collect(), closed, max, ..QueueData::default() }))
    };
    let save = move |out: &mut Saved| {
        out.flag(closed).option(max.map(|n| n as u64));
        Some("Queue")
    };
    savable(make, save)
}
zakuro_vm::saved_loader!("Queue", |r| {
    let (closed, max) = (r.flag()?, r.option()?);
    Some(blueprint(closed, max.map(|n| n as usize)))
});

impl QueueData {
    fn bytes(&self) -> usize {
        self.items.capacity() * size_of::<Value>()
    }
    fn full(&self) -> bool {
        self.max.is_some_and(|m| self.items.len() >= m)
    }
}

fn data(cx: &mut Cx, v: Value) -> Result<&mut QueueData> {
    if !cx.is_data::<QueueData>(v) {
        let name = cx.class_name_of(v);
        return cx.type_error(format!("{name} not initialized"));
    }
    cx.data_mut::<QueueData>(v)
}

/// Tells the heap when the room for items has grown.
fn recount(cx: &mut Cx, v: Value) -> Result<()> {
    let q = data(cx, v)?;
    let (before, now) = (q.counted, q.bytes());
    if now > before {
        q.counted = now;
        cx.weigh_data(v);
    }
    Ok(())
}

fn takers(cx: &mut Cx, v: Value) -> Result<&mut Line> {
    Ok(&mut data(cx, v)?.takers)
}
fn givers(cx: &mut Cx, v: Value) -> Result<&mut Line> {
    Ok(&mut data(cx, v)?.givers)
}

fn closed<T>(cx: &mut Cx) -> Result<T> {
    cx.raise(ids::CLOSED_QUEUE_ERROR, "queue closed")
}

/// Which side of the queue a thread waits at.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Take,
    Give,
}

fn line_at(q: &mut QueueData, side: Side) -> &mut Line {
    match side {
        Side::Take => &mut q.takers,
        Side::Give => &mut q.givers,
    }
}

/// Waits until there is something to take (or room to give), or the queue is closed. False: out of time.
fn wait(cx: &mut Cx, this: Value, side: Side, until: Option<Instant>) -> Result<bool> {
    let me = cx.waiter_id();
    let mut place = None;
    cx.waits_for(account::WaitKind::Queue, this.bits());
    let r = cx.wait_inside(this, until, |cx| {
        let q = data(cx, this)?;
        let possible = if side == Side::Take { !q.items.is_empty() } else { !q.full() };
        if possible || q.closed {
            return Ok(Some(()));
        }
        line_at(q, side).stand(me, &mut place);
        Ok(None)
    });
    let q = data(cx, this)?;
    if let Some(place) = place {
        line_at(q, side).leave(place);
    }
    if !matches!(r, Ok(Some(()))) {
        let possible = if side == Side::Take { !q.items.is_empty() } else { !q.full() };
        if possible {
            let first = line_at(q, side).pop();
            let of = if side == Side::Take { takers } else { givers };
            line::wake(cx, this, of, first);
        }
    }
    Ok(r?.is_some())
}

/// `non_block` and `timeout:` of push and pop.
fn limit(cx: &mut Cx, non_block: bool, kw: Kwargs) -> Result<Option<Instant>> {
    kw.only(cx, &[sym::timeout])?;
    let t = kw.get(sym::timeout);
    if non_block && t.is_some_and(|t| !t.is_nil()) {
        return cx.arg_error("can't set a timeout if non_block is enabled");
    }
    deadline(cx, t)
}

fn take(cx: &mut Cx, this: Value, non_block: bool, until: Option<Instant>) -> Result<Value> {
    let q = data(cx, this)?;
    if q.items.is_empty() {
        if non_block {
            return cx.raise(ids::THREAD_ERROR, "queue empty");
        }
        if !wait(cx, this, Side::Take, until)? {
            return Ok(Value::NIL);
        }
    }
    let q = data(cx, this)?;
    match q.items.pop_front() {
        Some(v) => {
            let first = q.givers.pop();
            line::wake(cx, this, givers, first);
            Ok(v)
        }
        None => Ok(Value::NIL),
    }
}

/// Queue.
#[ruby_class(ids::QUEUE)]
pub mod queue {
    use super::*;

    /// A queue, with the elements of a collection.
    ///
    ///     Thread::Queue.new([1, 2]).pop   #=> 1
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, items: Option<Value>) -> Result<Value> {
        let mut q = QueueData::default();
        if let Some(v) = items {
            let Some(list) = cx.call_if_responds(v, sym::to_a, &[])? else {
                let what = cx.class_name_of(v);
                return cx.type_error(format!("can't convert {what} into Array"));
            };
            match Ref::<ArrayCell>::from_value(list) {
                Some(a) => q.items.extend(a.elements(&cx.heap)),
                None => {
                    let (what, got) = (cx.class_name_of(v), cx.class_name_of(list));
                    return cx.type_error(format!("can't convert {what} into Array ({what}#to_a gives {got})"));
                }
            }
        }
        cx.data_init(this, q)?;
        recount(cx, this)?;
        Ok(this)
    }

    /// Appends an object.
    ///
    ///     q = Queue.new; q << 1 << 2; q.size   #=> 2
    #[method("push", "<<", "enq")]
    fn push(cx: &mut Cx, this: Value, object: Value) -> Result<Value> {
        let q = data(cx, this)?;
        if q.closed {
            return closed(cx);
        }
        q.items.push_back(object);
        let first = q.takers.pop();
        recount(cx, this)?;
        line::wake(cx, this, takers, first);
        Ok(this)
    }

    /// Takes the first object; waits for one unless `non_block`. Closed and empty, or out of time: nil.
    ///
    ///     q = Queue.new([1]); [q.pop, q.pop(timeout: 0)]   #=> [1, nil]
    #[method("pop", "shift", "deq")]
    fn pop(cx: &mut Cx, this: Value, non_block: Option<bool>, kw: Kwargs) -> Result<Value> {
        let non_block = non_block.unwrap_or(false);
        let until = limit(cx, non_block, kw)?;
        take(cx, this, non_block, until)
    }

    /// Closes the queue: nothing can be pushed any more, and waiting threads get nil.
    ///
    ///     q = Queue.new; q.close; [q.closed?, q.pop]   #=> [true, nil]
    #[method("close")]
    fn close(cx: &mut Cx, this: Value) -> Result<Value> {
        let q = data(cx, this)?;
        q.closed = true;
        line::wake_all(cx, this, takers);
        line::wake_all(cx, this, givers);
        Ok(this)
    }

    /// Was it closed?
    ///
    ///     Queue.new.closed?   #=> false
    #[method("closed?")]
    fn is_closed(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(data(cx, this)?.closed)
    }

    /// Removes all objects.
    ///
    ///     Queue.new([1, 2]).clear.empty?   #=> true
    #[method("clear")]
    fn clear(cx: &mut Cx, this: Value) -> Result<Value> {
        let q = data(cx, this)?;
        q.items.clear();
        line::wake_all(cx, this, givers);
        Ok(this)
    }

    /// Is nothing in it?
    ///
    ///     Queue.new.empty?   #=> true
    #[method("empty?")]
    fn is_empty(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(data(cx, this)?.items.is_empty())
    }

    /// Number of objects in it.
    ///
    ///     Queue.new([1, 2]).size   #=> 2
    #[method("size", "length")]
    fn size(cx: &mut Cx, this: Value) -> Result<usize> {
        Ok(data(cx, this)?.items.len())
    }

    /// Number of threads that wait at it.
    ///
    ///     Queue.new.num_waiting   #=> 0
    #[method("num_waiting")]
    fn num_waiting(cx: &mut Cx, this: Value) -> Result<usize> {
        let q = data(cx, this)?;
        if q.process != std::process::id() {
            // Those that a fork of the process left behind wait no more.
            q.process = std::process::id();
            let (mut takers, mut givers) = (std::mem::take(&mut q.takers), std::mem::take(&mut q.givers));
            takers.keep(|t| cx.has_waiter(t));
            givers.keep(|t| cx.has_waiter(t));
            let q = data(cx, this)?;
            (q.takers, q.givers) = (takers, givers);
        }
        let q = data(cx, this)?;
        Ok(q.takers.len() + q.givers.len())
    }

    /// Queues can't be frozen.
    ///
    ///     (Queue.new.freeze rescue $!.class)   #=> TypeError
    #[method("freeze")]
    fn freeze(cx: &mut Cx, this: Value) -> Result<Value> {
        let name = cx.any_to_s(this);
        cx.type_error(format!("cannot freeze {name}"))
    }

    /// Queues can't be dumped.
    ///
    ///     (Queue.new.marshal_dump rescue $!.message)   #=> "can't dump Thread::Queue"
    #[method("marshal_dump")]
    fn marshal_dump(cx: &mut Cx, this: Value) -> Result<Value> {
        let name = cx.class_name_of(this);
        cx.type_error(format!("can't dump {name}"))
    }
}

/// SizedQueue.
#[ruby_class(ids::SIZED_QUEUE)]
pub mod sized {
    use super::*;

    fn size_of(cx: &mut Cx, n: i64) -> Result<usize> {
        if n < 1 {
            return cx.arg_error("queue size must be positive");
        }
        Ok(n as usize)
    }

    /// A queue of at most so many elements; who adds more waits.
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, max: i64) -> Result<Value> {
        let max = size_of(cx, max)?;
        cx.data_init(this, QueueData { max: Some(max), ..QueueData::default() })?;
        Ok(this)
    }

    /// Appends an object; waits for room unless `non_block`. Out of time: nil.
    ///
    ///     q = SizedQueue.new(1); q << 1; q.push(2, timeout: 0)   #=> nil
    #[method("push", "<<", "enq")]
    fn push(cx: &mut Cx, this: Value, object: Value, non_block: Option<bool>, kw: Kwargs) -> Result<Value> {
        let non_block = non_block.unwrap_or(false);
        let until = limit(cx, non_block, kw)?;
        let q = data(cx, this)?;
        if q.closed {
            return closed(cx);
        }
        if q.full() {
            if non_block {
                return cx.raise(ids::THREAD_ERROR, "queue full");
            }
            if !wait(cx, this, Side::Give, until)? {
                return Ok(Value::NIL);
            }
        }
        let q = data(cx, this)?;
        if q.closed {
            return closed(cx);
        }
        q.items.push_back(object);
        let first = q.takers.pop();
        recount(cx, this)?;
        line::wake(cx, this, takers, first);
        Ok(this)
    }

    /// How much it holds.
    ///
    ///     SizedQueue.new(4).max   #=> 4
    #[method("max")]
    fn max(cx: &mut Cx, this: Value) -> Result<usize> {
        Ok(data(cx, this)?.max.unwrap_or(0))
    }

    /// Changes how much it holds.
    ///
    ///     q = SizedQueue.new(1); q.max = 3; q.max   #=> 3
    #[method("max=")]
    fn set_max(cx: &mut Cx, this: Value, n: i64) -> Result<i64> {
        let max = size_of(cx, n)?;
        let q = data(cx, this)?;
        q.max = Some(max);
        line::wake_all(cx, this, givers);
        Ok(n)
    }
}
