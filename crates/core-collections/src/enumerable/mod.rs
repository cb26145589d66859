//! Enumerable: everything over `each`. The methods that run a block per element stand here in Rust, once for all receivers; the rarer
//! ones are Ruby (prelude/enumerable.rb).
//!
//! [`each_of`] is the engine. Arrays, Ranges of Integers and Hashes whose `each` is the builtin one are walked directly; any other
//! object's `each` gets a native block. A native block may outlive its walk (an `each` may keep `&block`), so it reaches its closure
//! through a slot that is emptied when the walk ends; closures are `Fn` with cells, because such an `each` may also call it re-entrantly
//! or from another thread of the VM.
//!
//! Array has most of these methods itself in Ruby. [`own_rows`] gives it rows of its own that point to the same functions.

use crate::enumerator::EnumeratorExt;
use std::cell::Cell;
use zakuro_macros::Trace;
use zakuro_vm::*;

pub mod map;
pub mod order;
pub mod search;
pub mod slice;
pub mod sum;

pub static TABLES: &[&[MethodRow]] =
    &[map::methods::METHODS, search::methods::METHODS, order::methods::METHODS, slice::methods::METHODS, sum::methods::METHODS];

pub fn setup(_cx: &mut Cx) {}

/// A step of a walk: false ends it.
pub type Step<'a> = dyn Fn(&mut Cx, &[Value]) -> Result<bool> + 'a;

/// Slot of a native block: the closure while its walk runs.
#[derive(Trace)]
struct Walk(#[untraced] Cell<Option<*const Step<'static>>>);
impl NativeData for Walk {}

fn run_step(cx: &mut Cx, data: Value, args: Args) -> Result<Value> {
    // Whoever kept the block calls it for nobody.
    let Some(step) = cx.data_ref::<Walk>(data)?.0.get() else { return Ok(Value::NIL) };
    // SAFETY: the slot holds the closure exactly while the `walk` that owns it is on some native stack of this VM.
    let more = unsafe { (*step)(cx, args.all()) }?;
    if more { Ok(Value::NIL) } else { cx.throw(ThrowKind::Stop, data, Value::NIL) }
}

/// Empties the slot however the walk ends.
struct End(Value);
impl Drop for End {
    fn drop(&mut self) {
        if let Some(w) = Ref::<DataCell>::from_value(self.0).as_ref().and_then(|d| d.get::<Walk>()) {
            w.0.set(None);
        }
    }
}

/// `this.each(*args)` with a step per round, whatever the receiver is.
#[inline(never)]
pub fn walk(cx: &mut Cx, this: Value, args: &[Value], step: &Step<'_>) -> Result<()> {
    walk_keywords(cx, this, args, false, step)
}

/// The same; `kw`: the last argument holds keywords.
#[inline(never)]
pub fn walk_keywords(cx: &mut Cx, this: Value, args: &[Value], kw: bool, step: &Step<'_>) -> Result<()> {
    // SAFETY: only the lifetime changes; `End` empties the slot before `step` goes away.
    let step: *const Step<'static> = unsafe { std::mem::transmute::<&Step<'_>, &Step<'static>>(step) };
    let data = cx.data(ids::OBJECT, Walk(Cell::new(Some(step))));
    let end = End(data);
    let p = cx.native_proc(run_step, data, false);
    let r = cx.call_full(this, sym::each, args, kw, Block::from_value(p));
    drop(end);
    match r {
        Ok(_) => Ok(()),
        Err(e) => match Ref::<ThrowCell>::from_value(cx.pending) {
            Some(t) if t.throw_kind() == ThrowKind::Stop && t.tag == data => {
                cx.take_pending();
                Ok(())
            }
            _ => Err(e),
        },
    }
}

/// Walks Ranges of Integers and Hashes directly, others by `walk`.
#[inline(never)]
fn walk_known(cx: &mut Cx, this: Value, step: &Step<'_>) -> Result<()> {
    if let Some(r) = Ref::<RangeCell>::from_value(this)
        && let Some(low) = r.low().as_fixnum()
        && (r.high().is_fixnum() || r.high().is_nil() || r.high().as_float() == Some(f64::INFINITY))
        && cx.is_builtin(this, sym::each, ids::RANGE)
    {
        let high = r.high().as_fixnum().map_or(i64::MAX, |h| if r.exclusive() { h - 1 } else { h });
        let mut i = low;
        while i <= high {
            let v = cx.int(i);
            if !step(cx, &[v])? {
                break;
            }
            cx.safepoint()?;
            i += 1;
        }
        return Ok(());
    }
    if let Some(h) = Ref::<HashCell>::from_value(this)
        && cx.is_builtin(this, sym::each, ids::HASH)
    {
        return cx.hash_each(h, |cx, k, v| {
            let pair = cx.array(&[k, v]);
            let more = step(cx, &[pair])?;
            cx.safepoint()?;
            Ok(more)
        });
    }
    walk(cx, this, &[], step)
}

/// The Array to walk by index, when `this` is one and nobody redefined its `each`.
#[inline(always)]
pub(super) fn plain_array(cx: &mut Cx, this: Value) -> Option<Ref<ArrayCell>> {
    let a = Ref::<ArrayCell>::from_value(this)?;
    let plain = this.shape_key() == ids::ARRAY.0 && cx.redefined & zakuro_vm::methods::fast::ARRAY == 0;
    (plain || walks_itself(cx, this)).then_some(a)
}
/// Whether the builtin `each` is in force, or a method of Array runs: Ruby's own don't call `each`.
#[cold]
#[inline(never)]
fn walks_itself(cx: &mut Cx, this: Value) -> bool {
    cx.is_builtin(this, sym::each, ids::ARRAY) || cx.current_method().owner == ids::ARRAY
}

/// Calls `step` with what each round of `this.each` yields, until it returns false.
#[inline(always)]
pub fn each_of<F: Fn(&mut Cx, &[Value]) -> Result<bool>>(cx: &mut Cx, this: Value, step: F) -> Result<()> {
    match plain_array(cx, this) {
        Some(a) => {
            let mut i = 0;
            while let Some(v) = a.get(i) {
                if !step(cx, &[v])? {
                    break;
                }
                cx.safepoint()?;
                i += 1;
            }
            Ok(())
        }
        None => walk_known(cx, this, &step),
    }
}

/// `each_of` with arguments for `each`.
pub fn each_with<F: Fn(&mut Cx, &[Value]) -> Result<bool>>(cx: &mut Cx, this: Value, args: &[Value], step: F) -> Result<()> {
    if args.is_empty() { each_of(cx, this, step) } else { walk(cx, this, args, &step) }
}

/// All elements as a fresh Array.
pub fn collect(cx: &mut Cx, this: Value) -> Result<Ref<ArrayCell>> {
    let out = cx.new_array();
    if let Some(a) = plain_array(cx, this) {
        ArrayCell::extend_from(out, &mut cx.heap, a);
        return Ok(out);
    }
    each_of(cx, this, |cx, v| {
        let v = pack(cx, v);
        ArrayCell::push(out, &mut cx.heap, v);
        Ok(true)
    })?;
    Ok(out)
}

/// The elements as an Array to read: the receiver itself when it is one.
pub fn as_array(cx: &mut Cx, this: Value) -> Result<Ref<ArrayCell>> {
    match plain_array(cx, this) {
        Some(a) => Ok(a),
        None => collect(cx, this),
    }
}

/// Values yielded together as one.
#[inline(always)]
pub fn pack(cx: &mut Cx, v: &[Value]) -> Value {
    match v {
        [v] => *v,
        _ => crate::enumerator::pack(cx, v),
    }
}

/// Yields what was packed; several values spread over the parameters even of a lambda.
#[inline(always)]
pub fn yield_packed(cx: &mut Cx, block: Block, values: &[Value], packed: Value) -> Result<Value> {
    if values.len() > 1 && block.proc().is_some_and(|p| p.is_lambda()) { cx.yield_values(block, values) } else { cx.yield1(block, packed) }
}

/// Yields an item that may be a list: one spreads over the parameters even of a lambda that takes several.
pub fn yield_spread(cx: &mut Cx, block: Block, item: Value) -> Result<Value> {
    if block.proc().is_some_and(|p| p.is_lambda())
        && let Some(list) = Ref::<ArrayCell>::from_value(item)
        && cx.block_arity(block).0 != 1
    {
        let items = RootedVec::of(cx, list);
        return cx.yield_values(block, &items);
    }
    cx.yield1(block, item)
}

/// Warns when a block comes with an argument that takes its place.
pub fn warn_unused(cx: &mut Cx, argument: Option<Value>, block: Block) -> Result<()> {
    if argument.is_some() && block.is_some() { cx.warn_here("given block not used") } else { Ok(()) }
}

/// Enumerator of a method called without a block, sized as the receiver.
pub fn enum_for(cx: &mut Cx, this: Value, name: &str, args: &[Value]) -> Result<Value> {
    cx.sized_enumerator(this, name, args, crate::enumerator::size_of_receiver)
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// Rows of Enumerable (by first name) as methods that `class` itself has.
pub const fn own_rows<const N: usize>(class: ClassId, names: [&'static str; N]) -> [MethodRow; N] {
    const NONE: MethodRow = MethodRow {
        class: ids::ENUMERABLE,
        singleton: false,
        names: &[],
        min: 0,
        max: 0,
        vis: zakuro_vm::builtin::Vis::Public,
        unimplemented: false,
        effects: zakuro_vm::Effects::LEAF,
        direct: zakuro_vm::Effects::LEAF,
        func: nothing,
        doc: "",
    };
    let mut out = [NONE; N];
    let mut i = 0;
    while i < N {
        let mut t = 0;
        while t < TABLES.len() {
            let table = TABLES[t];
            let mut k = 0;
            while k < table.len() {
                let row = &table[k];
                if same(row.names[0], names[i]) {
                    out[i] = MethodRow {
                        class,
                        singleton: false,
                        names: row.names,
                        min: row.min,
                        max: row.max,
                        vis: zakuro_vm::builtin::Vis::Public,
                        unimplemented: false,
                        effects: row.effects,
                        direct: row.direct,
                        func: row.func,
                        doc: "",
                    };
                }
                k += 1;
            }
            t += 1;
        }
        assert!(!out[i].names.is_empty(), "no such row in Enumerable");
        i += 1;
    }
    out
}

fn nothing(_: &mut Cx, _: Value, _: *const Value, _: usize, _: Block) -> Result<Value> {
    Ok(Value::NIL)
}
