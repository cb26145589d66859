//! Enumerable: everything over `each`. The methods that run a block per element stand here in Rust, once for all receivers; the rarer
//! ones are Ruby (prelude/enumerable.rb).
//!
//! [`each_of`] is the engine, [`each_yield`] where a block is called and nothing else. Arrays, Ranges of Integers and Hashes whose `each` is the builtin one are walked directly; any other
//! object's `each` gets a native block. A native block may outlive its walk (an `each` may keep `&block`), so it reaches its closure
//! through a slot that is emptied when the walk ends; closures are `Fn` with cells, because such an `each` may also call it re-entrantly
//! or from another thread of the VM.
//!
//! Array has most of these methods itself in Ruby. [`own_rows`] gives it rows of its own that point to the same functions.

use crate::enumerator::EnumeratorExt;
use elements::{Element, Elements, walked};
use std::cell::Cell;
use zakuro_macros::Trace;
use zakuro_vm::*;

pub(crate) mod elements;
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
    walk_by(cx, this, sym::each, args, false, step)
}

/// The same with a method of another name; `kw`: the last argument holds keywords.
#[inline(never)]
pub fn walk_by(cx: &mut Cx, this: Value, name: Sym, args: &[Value], kw: bool, step: &Step<'_>) -> Result<()> {
    // SAFETY: only the lifetime changes; `End` empties the slot before `step` goes away.
    let step: *const Step<'static> = unsafe { std::mem::transmute::<&Step<'_>, &Step<'static>>(step) };
    let data = cx.data(ids::OBJECT, Walk(Cell::new(Some(step))));
    let end = End(data);
    let p = cx.native_proc(run_step, data, false);
    let r = cx.call_full(this, name, args, kw, Block::from_value(p));
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

/// Walks Hashes and what else is known directly, others by `walk`.
#[inline(never)]
fn walk_known(cx: &mut Cx, this: Value, step: &Step<'_>) -> Result<()> {
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
    if let Some(mut elements) = Elements::other(cx, this) {
        return walked(cx, elements.hash(), |cx| {
            while let Some(e) = elements.take(cx) {
                let more = match e {
                    Element::Two(a, b) => step(cx, &[a, b])?,
                    one => {
                        let v = one.packed(cx);
                        step(cx, &[v])?
                    }
                };
                if !more {
                    break;
                }
                cx.safepoint()?;
            }
            Ok(())
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
    match Source::of(cx, this) {
        Some(mut source) => {
            while let Some(v) = source.take() {
                if !step(cx, &[v])? {
                    break;
                }
                cx.safepoint()?;
            }
            Ok(())
        }
        None => walk_known(cx, this, &step),
    }
}

/// Elements of an Array, which may change meanwhile, or Fixnums one after the other: what needs no call of `each`, and no memory.
pub(crate) enum Source {
    Array(Ref<ArrayCell>, usize),
    Count(i64, i64),
}

impl Source {
    pub fn of(cx: &mut Cx, this: Value) -> Option<Source> {
        if let Some(a) = plain_array(cx, this) {
            return Some(Source::Array(a, 0));
        }
        if let Some((recv, method)) = crate::enumerator::plain(cx, this) {
            return match method {
                sym::each => builtin_source(cx, recv, method),
                sym::times if cx.is_builtin(recv, method, ids::INTEGER) => recv.as_fixnum().map(|n| Source::Count(0, n - 1)),
                _ => None,
            };
        }
        let r = Ref::<RangeCell>::from_value(this).filter(|_| cx.is_builtin(this, sym::each, ids::RANGE))?;
        let low = r.low().as_fixnum()?;
        let endless = r.high().is_nil() || r.high().as_float() == Some(f64::INFINITY);
        match r.high().as_fixnum() {
            Some(high) => Some(Source::Count(low, if r.exclusive() { high - 1 } else { high })),
            // An end that nobody lives to see is as good as none.
            None if endless && low < value::FIXNUM_MAX / 2 => Some(Source::Count(low, value::FIXNUM_MAX)),
            None => None,
        }
    }
    /// Whether a block takes the elements, Arrays themselves, apart into its two parameters: then [`Source::take_pair`] does.
    #[inline(always)]
    pub fn is_pairs(&self, cx: &mut Cx, block: Block) -> bool {
        matches!(self, Source::Array(a, i) if a.get(*i).is_some_and(|v| v.is_kind(Kind::Array))) && cx.block_arity(block) == (2, false)
    }
    /// The next element, and the first two of its own; None before one that is no Array.
    #[inline(always)]
    pub fn take_pair(&mut self) -> Option<(Value, [Value; 2])> {
        let Source::Array(a, i) = self else { return None };
        let v = a.get(*i)?;
        let pair = Ref::<ArrayCell>::from_value(v)?;
        *i += 1;
        Some((v, [0, 1].map(|k| pair.get(k).unwrap_or(Value::NIL))))
    }
    #[inline(always)]
    pub fn take(&mut self) -> Option<Value> {
        match self {
            Source::Array(a, i) => {
                let v = a.get(*i)?;
                *i += 1;
                Some(v)
            }
            Source::Count(i, end) => {
                let v = (*i <= *end).then(|| Value::fixnum(*i))?;
                *i += 1;
                Some(v)
            }
        }
    }
}

/// Yields what each round of `this.each` yields to a block; `PACKED`: several values as one. `keep` and `keep_slowly` get the element (nil for several values that are not packed) and what the block
/// answers for it: see [`Cx::walk`].
#[inline(always)]
pub(crate) fn each_yield<const PACKED: bool>(
    cx: &mut Cx,
    this: Value,
    block: Block,
    keep: impl Fn(&mut Cx, Value, Value) -> bool,
    keep_slowly: impl Fn(&mut Cx, Value, Value) -> Result<bool>,
) -> Result<()> {
    if let Some(mut source) = Source::of(cx, this) {
        let item = Cell::new(Value::NIL);
        if source.is_pairs(cx, block) {
            let goes_on = Cell::new(true);
            let next = |_: &mut Cx| {
                let (v, pair) = source.take_pair()?;
                item.set(v);
                Some(pair)
            };
            let slowly = |cx: &mut Cx, r| {
                let more = keep_slowly(cx, item.get(), r)?;
                goes_on.set(more);
                Ok(more)
            };
            cx.walk(block, next, |cx, r| keep(cx, item.get(), r), slowly)?;
            if !goes_on.get() {
                return Ok(());
            }
        }
        let next = |_: &mut Cx| {
            let v = source.take()?;
            item.set(v);
            Some([v])
        };
        return cx.walk(block, next, |cx, r| keep(cx, item.get(), r), |cx, r| keep_slowly(cx, item.get(), r));
    }
    if let Some(mut elements) = Elements::other(cx, this) {
        let item = Cell::new(Value::NIL);
        let two = elements.are_pairs() && crate::hash::takes_two(cx, block);
        if two || !elements.are_several() || PACKED && block.proc().is_none_or(|p| !p.is_lambda()) {
            let keep = |cx: &mut Cx, r| keep(cx, item.get(), r);
            let keep_slowly = |cx: &mut Cx, r| keep_slowly(cx, item.get(), r);
            return walked(cx, elements.hash(), |cx| {
                if two {
                    let next = |cx: &mut Cx| {
                        let e = elements.take(cx)?;
                        if PACKED {
                            item.set(e.packed(cx));
                        }
                        Some(e.both())
                    };
                    cx.walk(block, next, keep, keep_slowly)
                } else {
                    let next = |cx: &mut Cx| {
                        item.set(elements.take_packed(cx)?);
                        Some([item.get()])
                    };
                    cx.walk(block, next, keep, keep_slowly)
                }
            });
        }
    }
    walk_known(cx, this, &|cx, v| {
        let e = if PACKED || v.len() == 1 { pack(cx, v) } else { Value::NIL };
        let r = if PACKED { yield_packed(cx, block, v, e)? } else { cx.yield_values(block, v)? };
        if keep(cx, e, r) { Ok(true) } else { keep_slowly(cx, e, r) }
    })
}

/// [`ArrayCell::push`], mostly of what needs neither room nor a barrier.
#[inline(always)]
pub(crate) fn add(cx: &mut Cx, to: Ref<ArrayCell>, v: Value) {
    if !ArrayCell::try_push(to, v) {
        ArrayCell::push(to, &mut cx.heap, v);
    }
}

/// What a builtin of Enumerable walks without a call of `each`, when that is the receiver's method of this name.
fn builtin_source(cx: &mut Cx, recv: Value, method: Sym) -> Option<Source> {
    let owner = match method {
        _ if recv.is_kind(Kind::Array) => ids::ARRAY,
        sym::each => ids::RANGE,
        _ => ids::ENUMERABLE,
    };
    if cx.is_builtin(recv, method, owner) { Source::of(cx, recv) } else { None }
}

/// `with_index` of an Enumerator of one of the methods that are called so most: its result, where it needs no call of the method.
pub(crate) fn with_index(cx: &mut Cx, this: Value, start: i64, block: Block) -> Result<Option<Value>> {
    let Some((recv, method)) = crate::enumerator::plain(cx, this) else { return Ok(None) };
    let keeps: fn(Value, Value) -> Option<Value> = match &*method.name() {
        "each" => |_, _| None,
        "map" | "collect" => |_, r| Some(r),
        "select" | "filter" | "find_all" => |e, r| r.truthy().then_some(e),
        "reject" => |e, r| (!r.truthy()).then_some(e),
        "filter_map" => |_, r| r.truthy().then_some(r),
        _ => return Ok(None),
    };
    let Some(mut source) = builtin_source(cx, recv, method) else { return Ok(None) };
    let out = cx.new_array();
    let (index, item) = (Cell::new(start), Cell::new(Value::NIL));
    let next = |_: &mut Cx| {
        item.set(source.take()?);
        Some([item.get(), Value::fixnum(index.replace(index.get() + 1))])
    };
    let keep = |cx: &mut Cx, r| {
        if let Some(v) = keeps(item.get(), r) {
            add(cx, out, v);
        }
        true
    };
    cx.walk(block, next, keep, |_, _| Ok(true))?;
    Ok(Some(if method == sym::each { recv } else { out.as_value() }))
}

/// Yields as [`each_yield`] does until there is no more.
#[inline(always)]
pub(crate) fn each_result<const PACKED: bool>(cx: &mut Cx, this: Value, block: Block, keep: impl Fn(&mut Cx, Value, Value)) -> Result<()> {
    let keep = |cx: &mut Cx, e, r| {
        keep(cx, e, r);
        true
    };
    each_yield::<PACKED>(cx, this, block, keep, |_, _, _| Ok(true))
}

/// Yields two values for each element, made of it by `given`, to a block.
#[inline(always)]
pub(crate) fn each_with_another(
    cx: &mut Cx,
    this: Value,
    args: &[Value],
    block: Block,
    given: impl Fn(Value) -> [Value; 2],
) -> Result<()> {
    let elements = if args.is_empty() { Elements::of(cx, this) } else { None };
    if let Some(mut elements) = elements {
        return walked(cx, elements.hash(), |cx| {
            cx.walk(block, |cx| Some(given(elements.take_packed(cx)?)), |_, _| true, |_, _| Ok(true))
        });
    }
    each_with(cx, this, args, |cx, v| {
        let e = pack(cx, v);
        cx.yield_values(block, &given(e))?;
        Ok(true)
    })
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

/// Yields what was packed; several values spread over the parameters even of a literal lambda that takes several. (What is made of a Symbol or a Method takes what was packed.)
#[inline(always)]
pub fn yield_packed(cx: &mut Cx, block: Block, values: &[Value], packed: Value) -> Result<Value> {
    if values.len() > 1
        && block.proc().is_some_and(|p| p.is_lambda() && p.proc_kind() == ProcKind::Block)
        && !matches!(cx.block_arity(block).0, -1..=1)
    {
        return cx.yield_values(block, values);
    }
    cx.yield1(block, packed)
}

/// Yields an item that may be a list: one spreads over the parameters even of a lambda that takes several. (Methods and `&:name` get the list.)
pub fn yield_spread(cx: &mut Cx, block: Block, item: Value) -> Result<Value> {
    if block.proc().is_some_and(|p| p.is_lambda())
        && let Some(list) = Ref::<ArrayCell>::from_value(item)
        && let Some(p) = cx.block_code(block).map(|c| &c.params)
        && p.required + p.optional + p.post + u16::from(p.rest) > 1
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
        by_name: false,
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
                        by_name: row.by_name,
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
