//! Set: distinct objects in order of insertion.
//!
//! A Set is a plain object whose hidden variable `__items` is a Hash with the elements as keys, so elements are compared and kept as Hash keys
//! are. What needs tables of sets (`divide` by a relation) is in prelude/set.rb.

use crate::enumerable;
use crate::hash::batch::{self, Source, Wanted};
use crate::hash::{self, by_identity, enumerator, is_iterating};
use std::cell::Cell;
use zakuro_macros::ruby_class;
use zakuro_object::string::UTF8;
use zakuro_vm::*;

pub static TABLES: &[&[MethodRow]] = &[sets::METHODS];

pub fn setup(_cx: &mut Cx) {}

type Items = Ref<HashCell>;

/// Elements of a Set; an object that was never initialised is an empty one.
fn items(cx: &mut Cx, set: Value) -> Items {
    // Few Sets have variables of the program's own.
    if let Some(h) = cx.newest_ivar(set, sym::set_items).and_then(Ref::<HashCell>::from_value) {
        return h;
    }
    if let Some(h) = cx.ivar_lookup(set, sym::set_items).and_then(Ref::<HashCell>::from_value) {
        return h;
    }
    let h = cx.new_hash();
    cx.ivar_set_raw(set, sym::set_items, h.as_value());
    h
}
/// Elements when `v` is a Set.
pub(crate) fn set_items(cx: &mut Cx, v: Value) -> Option<Items> {
    if v.is_kind(Kind::Object) && cx.is_a(v, ids::SET) { Some(items(cx, v)) } else { None }
}
fn need_set(cx: &mut Cx, v: Value) -> Result<Items> {
    match set_items(cx, v) {
        Some(h) => Ok(h),
        None => cx.arg_error("value must be a set"),
    }
}
fn insert(cx: &mut Cx, set: Items, v: Value) -> Result<()> {
    if is_iterating(set) && cx.hash_get(set, v)?.is_none() {
        return cx.raise(ids::RUNTIME_ERROR, "can't add a new item into set during iteration");
    }
    cx.hash_set(set, v, Value::TRUE)
}
/// A Set of the class of `like`, with the elements of `from` (compared as there), or an empty one that compares by `eql?`.
fn new_like(cx: &mut Cx, like: Value, from: Option<Items>) -> (Value, Items) {
    let class = cx.class_of(like);
    let h = match from {
        Some(f) => hash::plain_copy(cx, f),
        None => cx.new_hash(),
    };
    (cx.new_object_with(class, &[(sym::set_items, h.as_value())]), h)
}
/// Calls `f` with each element of a Set, an Array, or what `each_of_others` takes. `f` returns false to stop.
fn each_of(cx: &mut Cx, v: Value, f: &dyn Fn(&mut Cx, Value) -> Result<bool>) -> Result<()> {
    if let Some(h) = set_items(cx, v) {
        return cx.hash_each(h, |cx, k, _| f(cx, k));
    }
    let Some(list) = Ref::<ArrayCell>::from_value(v) else { return each_of_others(cx, v, f) };
    let mut i = 0;
    while let Some(e) = list.get(i) {
        i += 1;
        zakuro_base::progress::step(i, cx)?;
        if !f(cx, e)? {
            break;
        }
    }
    Ok(())
}
/// Calls `f` with what `each_entry` or `each` of an object yields; ArgumentError if it has neither.
fn each_of_others(cx: &mut Cx, v: Value, f: &dyn Fn(&mut Cx, Value) -> Result<bool>) -> Result<()> {
    let name = if cx.is_builtin(v, sym::each_entry, ids::ENUMERABLE) {
        return enumerable::each_of(cx, v, |cx, values| {
            let e = enumerable::pack(cx, values);
            f(cx, e)
        });
    } else if cx.responds(v, sym::each_entry, false)? {
        sym::each_entry
    } else if cx.responds(v, sym::each, false)? {
        sym::each
    } else {
        return cx.arg_error("value must be enumerable");
    };
    enumerable::walk_by(cx, v, name, &[], false, &|cx, values| f(cx, values.first().copied().unwrap_or(Value::NIL)))
}
fn source_of(cx: &mut Cx, from: Value) -> Option<Source<'static>> {
    match Ref::<ArrayCell>::from_value(from) {
        Some(a) => Some(Source::Array(a)),
        None => set_items(cx, from).map(Source::Hash),
    }
}
fn insert_pair(cx: &mut Cx, set: Items, v: Value, _: Value) -> Result<()> {
    insert(cx, set, v)
}
fn add_all(cx: &mut Cx, set: Items, from: Value) -> Result<()> {
    if let Some(from) = source_of(cx, from) {
        return batch::insert_all(cx, set, from, Wanted::All, insert_pair);
    }
    each_of(cx, from, &|cx, e| insert(cx, set, e).map(|_| true))
}
fn remove_all(cx: &mut Cx, set: Items, from: Value) -> Result<()> {
    match source_of(cx, from) {
        Some(Source::Hash(h)) if h == set => {}
        Some(from) => return batch::remove_all(cx, set, from),
        None => {}
    }
    each_of(cx, from, &|cx, e| cx.hash_delete(set, e).map(|_| true))
}
/// Whether all elements of `a` are in `b`.
fn included(cx: &mut Cx, a: Items, b: Items) -> Result<bool> {
    if a.len() > b.len() {
        return Ok(false);
    }
    let mut all = true;
    cx.hash_each(a, |cx, k, _| {
        all = cx.hash_get(b, k)?.is_some();
        Ok(all)
    })?;
    Ok(all)
}
fn intersects(cx: &mut Cx, set: Items, other: Value) -> Result<bool> {
    let found = Cell::new(false);
    if let Some(o) = set_items(cx, other) {
        let (few, many) = if o.len() > set.len() { (set, o) } else { (o, set) };
        if few.len() == 0 {
            return Ok(false);
        }
        cx.hash_each(few, |cx, k, _| {
            found.set(cx.hash_get(many, k)?.is_some());
            Ok(!found.get())
        })?;
        return Ok(found.get());
    }
    if !cx.is_a(other, ids::ENUMERABLE) {
        return cx.arg_error("value must be enumerable");
    }
    each_of(cx, other, &|cx, e| {
        found.set(cx.hash_get(set, e)?.is_some());
        Ok(!found.get())
    })?;
    Ok(found.get())
}
/// Removes the elements for which the block's truth is `wanted`; whether there were any.
fn remove_where(cx: &mut Cx, this: Value, block: Block, wanted: bool) -> Result<bool> {
    cx.check_frozen(this)?;
    let set = items(cx, this);
    let n = set.len();
    cx.hash_each(set, |cx, k, _| {
        if cx.yield1(block, k)?.truthy() == wanted {
            cx.hash_delete(set, k)?;
        }
        Ok(true)
    })?;
    Ok(set.len() != n)
}
/// Adds the elements of `from`, Sets among them opened, to `into`.
fn flatten_into(cx: &mut Cx, into: Items, from: Value, path: &mut RootedVec) -> Result<()> {
    if path.contains(&from) {
        return cx.arg_error("tried to flatten recursive Set");
    }
    cx.check_native_stack()?;
    path.push(from);
    let set = items(cx, from);
    cx.hash_each(set, |cx, k, _| {
        match set_items(cx, k) {
            Some(_) => flatten_into(cx, into, k, path)?,
            None => insert(cx, into, k)?,
        }
        Ok(true)
    })?;
    path.pop();
    Ok(())
}

/// The methods.
#[ruby_class(ids::SET)]
mod sets {
    use super::*;

    /// A Set of the arguments.
    ///
    ///     Set[1, 2, 1]   #=> Set[1, 2]
    #[method("[]", singleton)]
    fn of(cx: &mut Cx, this: ClassId, args: Rest) -> Result<Value> {
        if this != ids::SET {
            // As the Set in Ruby was: subclasses rely on their `initialize` (CRuby's `set/subclass_compatible`).
            let (class, list) = (cx.class_value(this), cx.array(args));
            return cx.call(class, sym::new, &[list]);
        }
        let h = cx.new_hash();
        let set = cx.new_object_with(this, &[(sym::set_items, h.as_value())]);
        batch::insert_all(cx, h, Source::List(args), Wanted::All, insert_pair)?;
        Ok(set)
    }

    /// A Set of the elements of an enumerable, or of the block's results for them.
    ///
    ///     Set.new([1, 2]) { |x| x * 10 }   #=> Set[10, 20]
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, from: Option<Value>, block: Block) -> Result<Value> {
        cx.check_frozen(this)?;
        let h = cx.new_hash();
        cx.ivar_set_raw(this, sym::set_items, h.as_value());
        let add = Sym::intern("add");
        let own_add = cx.class_of(this) != ids::SET && !cx.is_builtin(this, add, ids::SET);
        // (A subclass's `add` is asked, as it was when Set was Ruby.)
        let own_each = from.is_some_and(|v| set_items(cx, v).is_some() && !cx.is_builtin(v, sym::each, ids::SET));
        let walk = if own_each { each_of_others } else { each_of };
        match from {
            None | Some(Value::NIL) => {}
            Some(v) if block.is_none() && !own_add && !own_each => add_all(cx, h, v)?,
            Some(v) => walk(cx, v, &|cx, e| {
                let e = if block.is_some() { cx.yield1(block, e)? } else { e };
                if own_add { cx.call(this, add, &[e]).map(|_| true) } else { insert(cx, h, e).map(|_| true) }
            })?,
        }
        Ok(this)
    }

    /// Takes over the elements (for `dup` and `clone`).
    ///
    ///     a = Set[1]; b = a.dup; b << 2; a   #=> Set[1]
    #[method("initialize_copy", private)]
    fn initialize_copy(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        cx.check_frozen(this)?;
        let from = need_set(cx, other)?;
        let copy = hash::plain_copy(cx, from);
        cx.ivar_set_raw(this, sym::set_items, copy.as_value());
        Ok(this)
    }

    /// Adds an element.
    ///
    ///     Set[1].add(2) << 2   #=> Set[1, 2]
    #[method("add", "<<")]
    fn add(cx: &mut Cx, this: Value, v: Value) -> Result<Value> {
        cx.check_frozen(this)?;
        let h = items(cx, this);
        insert(cx, h, v)?;
        Ok(this)
    }

    /// Adds an element; nil when it was there.
    ///
    ///     Set[1].add?(1)   #=> nil
    #[method("add?")]
    fn add_p(cx: &mut Cx, this: Value, v: Value) -> Result<Value> {
        cx.check_frozen(this)?;
        let h = items(cx, this);
        let n = h.len();
        insert(cx, h, v)?;
        Ok(if h.len() == n { Value::NIL } else { this })
    }

    /// Removes an element.
    ///
    ///     Set[1, 2].delete(1)   #=> Set[2]
    #[method("delete")]
    fn delete(cx: &mut Cx, this: Value, v: Value) -> Result<Value> {
        cx.check_frozen(this)?;
        let h = items(cx, this);
        cx.hash_delete(h, v)?;
        Ok(this)
    }

    /// Removes an element; nil when it was not there.
    ///
    ///     Set[1].delete?(2)   #=> nil
    #[method("delete?")]
    fn delete_p(cx: &mut Cx, this: Value, v: Value) -> Result<Value> {
        cx.check_frozen(this)?;
        let h = items(cx, this);
        Ok(if cx.hash_delete(h, v)?.is_some() { this } else { Value::NIL })
    }

    /// Whether the object is an element.
    ///
    ///     Set[1].include?(1)   #=> true
    #[method("include?", "member?", "===")]
    fn include(cx: &mut Cx, this: Value, v: Value) -> Result<bool> {
        let h = items(cx, this);
        Ok(cx.hash_get(h, v)?.is_some())
    }

    /// Number of elements.
    ///
    ///     Set[1, 2].size   #=> 2
    #[method("size", "length")]
    fn size(cx: &mut Cx, this: Value) -> usize {
        items(cx, this).len()
    }

    /// Number of elements, or of those that equal the argument or satisfy the block.
    ///
    ///     Set[1, 2, 3].count(&:odd?)   #=> 2
    #[method("count")]
    fn count(cx: &mut Cx, this: Value, v: Option<Value>, block: Block) -> Result<i64> {
        let h = items(cx, this);
        if v.is_none() && block.is_none() {
            return Ok(h.len() as i64);
        }
        let mut n = 0;
        cx.hash_each(h, |cx, k, _| {
            n += match v {
                Some(v) => cx.eq(k, v)?,
                None => cx.yield1(block, k)?.truthy(),
            } as i64;
            Ok(true)
        })?;
        Ok(n)
    }

    /// Whether there is no element.
    ///
    ///     Set[].empty?   #=> true
    #[method("empty?")]
    fn is_empty(cx: &mut Cx, this: Value) -> bool {
        items(cx, this).len() == 0
    }

    /// Calls the block with each element.
    ///
    ///     a = []; Set[1, 2].each { |x| a << x }; a   #=> [1, 2]
    #[method("each")]
    fn each(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this, "each", &[]);
        }
        let h = items(cx, this);
        cx.hash_each(h, |cx, k, _| cx.yield1(block, k).map(|_| true))?;
        Ok(this)
    }

    /// Array of the elements.
    ///
    ///     Set[2, 1].to_a   #=> [2, 1]
    #[method("to_a")]
    fn to_a(cx: &mut Cx, this: Value) -> Value {
        let h = items(cx, this);
        let keys = h.table(&cx.heap).into_iter().flat_map(|t| t.iter()).map(|e| e.key);
        ArrayCell::gather(&cx.heap, h.len(), keys).as_value()
    }

    /// The elements as one String.
    ///
    ///     Set[1, 2].join("-")   #=> "1-2"
    #[method("join")]
    fn join(cx: &mut Cx, this: Value, sep: Option<Value>) -> Result<Value> {
        let a = to_a(cx, this);
        cx.call(a, sym::join, &[sep.unwrap_or(Value::NIL)])
    }

    /// Itself, or with a block a Set of the block's results.
    ///
    ///     s = Set[1]; s.to_set.equal?(s)   #=> true
    #[method("to_set")]
    fn to_set(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        if args.is_empty() && args.block.is_none() {
            return Ok(this);
        }
        let (class, rest) = match args.all() {
            [] => (cx.class_value(ids::SET), &[] as &[Value]),
            [c, rest @ ..] => (*c, rest),
        };
        let all = ArgList::new(cx, &[&[this], rest]);
        cx.call_block(class, sym::new, &all, args.block)
    }

    /// Removes all elements.
    ///
    ///     Set[1].clear   #=> Set[]
    #[method("clear")]
    fn clear(cx: &mut Cx, this: Value) -> Result<Value> {
        cx.check_frozen(this)?;
        let h = items(cx, this);
        cx.cell_changes(h.as_value());
        HashCell::change(h, &mut cx.heap, |t| t.clear());
        Ok(this)
    }

    /// Takes over the elements of an enumerable.
    ///
    ///     Set[1].replace([2, 3])   #=> Set[2, 3]
    #[method("replace")]
    fn replace(cx: &mut Cx, this: Value, from: Value) -> Result<Value> {
        cx.check_frozen(this)?;
        let h = items(cx, this);
        if is_iterating(h) {
            return cx.raise(ids::RUNTIME_ERROR, "cannot replace set during iteration");
        }
        let fresh = match set_items(cx, from) {
            // A Set brings its way of comparing along.
            Some(other) => {
                cx.cell_changes(h.as_value());
                HashCell::replace(h, &mut cx.heap, other);
                return Ok(this);
            }
            None => {
                let fresh = hash::empty_like(cx, h);
                add_all(cx, fresh, from)?;
                fresh
            }
        };
        cx.ivar_set_raw(this, sym::set_items, fresh.as_value());
        Ok(this)
    }

    /// Adds the elements of enumerables.
    ///
    ///     Set[1].merge([2], [3])   #=> Set[1, 2, 3]
    #[method("merge")]
    fn merge(cx: &mut Cx, this: Value, others: Rest, kw: Kwargs) -> Result<Value> {
        if !kw.is_empty() {
            return cx.arg_error("no keywords accepted");
        }
        cx.check_frozen(this)?;
        let h = items(cx, this);
        for o in others {
            add_all(cx, h, *o)?;
        }
        Ok(this)
    }

    /// Removes the elements of an enumerable.
    ///
    ///     Set[1, 2].subtract([2])   #=> Set[1]
    #[method("subtract")]
    fn subtract(cx: &mut Cx, this: Value, from: Value) -> Result<Value> {
        cx.check_frozen(this)?;
        let h = items(cx, this);
        remove_all(cx, h, from)?;
        Ok(this)
    }

    /// Elements of both.
    ///
    ///     Set[1, 2] | [2, 3]   #=> Set[1, 2, 3]
    #[method("|", "+", "union")]
    fn union(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        let own = items(cx, this);
        let (set, h) = new_like(cx, this, Some(own));
        add_all(cx, h, other)?;
        Ok(set)
    }

    /// Elements that are in both.
    ///
    ///     Set[1, 2] & [2, 3]   #=> Set[2]
    #[method("&", "intersection")]
    fn intersection(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        let own = items(cx, this);
        let (set, h) = new_like(cx, this, None);
        if let Some(o) = set_items(cx, other)
            && o.len() > own.len()
        {
            cx.hash_each(own, |cx, k, _| {
                if cx.hash_get(o, k)?.is_some() {
                    insert(cx, h, k)?;
                }
                Ok(true)
            })?;
            return Ok(set);
        }
        if !by_identity(own)
            && let Some(from) = source_of(cx, other)
        {
            batch::insert_all(cx, h, from, Wanted::In(own), insert_pair)?;
            return Ok(set);
        }
        each_of(cx, other, &|cx, e| {
            if cx.hash_get(own, e)?.is_some() {
                insert(cx, h, e)?;
            }
            Ok(true)
        })?;
        Ok(set)
    }

    /// Elements that are not in the other.
    ///
    ///     Set[1, 2] - [2]   #=> Set[1]
    #[method("-", "difference")]
    fn difference(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        let own = items(cx, this);
        let (set, h) = new_like(cx, this, Some(own));
        remove_all(cx, h, other)?;
        Ok(set)
    }

    /// Elements that are in exactly one of them.
    ///
    ///     Set[1, 2] ^ [2, 3]   #=> Set[1, 3]
    #[method("^")]
    fn xor(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        let own = items(cx, this);
        // An enumerable may have an element twice.
        let other = match set_items(cx, other) {
            Some(o) => o,
            None => {
                let o = cx.new_hash();
                add_all(cx, o, other)?;
                o
            }
        };
        let (set, h) = new_like(cx, this, Some(own));
        batch::toggle_all(cx, h, Source::Hash(other), |cx, h, k, _| match cx.hash_delete(h, k)? {
            Some(_) => Ok(()),
            None => insert(cx, h, k),
        })?;
        Ok(set)
    }

    /// Whether all elements are in the other Set.
    ///
    ///     Set[1] <= Set[1, 2]   #=> true
    #[method("<=", "subset?")]
    fn subset(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        let (a, b) = (items(cx, this), need_set(cx, other)?);
        included(cx, a, b)
    }

    /// Whether all elements are in the other, larger Set.
    ///
    ///     Set[1] < Set[1]   #=> false
    #[method("<", "proper_subset?")]
    fn proper_subset(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        let (a, b) = (items(cx, this), need_set(cx, other)?);
        Ok(a.len() < b.len() && included(cx, a, b)?)
    }

    /// Whether all elements of the other Set are in this one.
    ///
    ///     Set[1, 2] >= Set[1]   #=> true
    #[method(">=", "superset?")]
    fn superset(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        let (a, b) = (items(cx, this), need_set(cx, other)?);
        included(cx, b, a)
    }

    /// Whether all elements of the other, smaller Set are in this one.
    ///
    ///     Set[1, 2] > Set[1]   #=> true
    #[method(">", "proper_superset?")]
    fn proper_superset(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        let (a, b) = (items(cx, this), need_set(cx, other)?);
        Ok(b.len() < a.len() && included(cx, b, a)?)
    }

    /// -1, 0 or 1 for subset, equal, superset; nil when neither.
    ///
    ///     Set[1] <=> Set[1, 2]   #=> -1
    #[method("<=>")]
    fn cmp(cx: &mut Cx, this: Value, other: Value) -> Result<Option<i64>> {
        let a = items(cx, this);
        let Some(b) = set_items(cx, other) else { return Ok(None) };
        Ok(match a.len().cmp(&b.len()) {
            std::cmp::Ordering::Less if included(cx, a, b)? => Some(-1),
            std::cmp::Ordering::Equal if included(cx, a, b)? => Some(0),
            std::cmp::Ordering::Greater if included(cx, b, a)? => Some(1),
            _ => None,
        })
    }

    /// Whether some element is in the other, too.
    ///
    ///     Set[1, 2].intersect?([2])   #=> true
    #[method("intersect?")]
    fn intersect(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        let a = items(cx, this);
        intersects(cx, a, other)
    }

    /// Whether no element is in the other.
    ///
    ///     Set[1, 2].disjoint?([3])   #=> true
    #[method("disjoint?")]
    fn disjoint(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        let a = items(cx, this);
        Ok(!intersects(cx, a, other)?)
    }

    /// Same elements, compared in the same way; order does not matter.
    ///
    ///     Set[1, 2] == Set[2, 1]   #=> true
    #[method("==", "eql?")]
    fn eq(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        if this == other {
            return Ok(true);
        }
        let a = items(cx, this);
        let Some(b) = set_items(cx, other) else { return Ok(false) };
        if a.len() != b.len() || by_identity(a) != by_identity(b) {
            return Ok(false);
        }
        let r = cx.guard_recursion(this, |cx| included(cx, a, b))?;
        Ok(r.unwrap_or(true))
    }

    /// Hash code; independent of the order.
    ///
    ///     Set[1, 2].hash == Set[2, 1].hash   #=> true
    #[method("hash")]
    fn hash(cx: &mut Cx, this: Value) -> Result<Value> {
        let h = items(cx, this);
        let mut sum = equality::combine(&[h.len() as u64, u64::from(ids::SET.0)]);
        cx.hash_each(h, |cx, k, _| {
            let c = cx.hash_of(k)?;
            sum = sum.wrapping_add(equality::combine(&[c]));
            Ok(true)
        })?;
        Ok(cx.shown_hash(sum))
    }

    /// Text with class and elements.
    ///
    ///     Set[1, "a"].inspect   #=> "Set[1, \"a\"]"
    #[method("inspect", "to_s")]
    fn inspect(cx: &mut Cx, this: Value) -> Result<Value> {
        let class = cx.class_name_of(this);
        let h = items(cx, this);
        let text = cx.guard_recursion(this, |cx| {
            let mut out = format!("{class}[").into_bytes();
            let mut first = true;
            cx.hash_each(h, |cx, k, _| {
                if !std::mem::take(&mut first) {
                    out.extend_from_slice(b", ");
                }
                let s = cx.inspect(k)?;
                out.extend_from_slice(s.content(&cx.heap));
                Ok(true)
            })?;
            out.push(b']');
            Ok(out)
        })?;
        Ok(match text {
            Some(t) => cx.str_bytes(&t, UTF8),
            None => cx.str(&format!("{class}[...]")),
        })
    }

    /// Deletes the elements for which the block is true.
    ///
    ///     Set[1, 2].delete_if(&:odd?)   #=> Set[2]
    #[method("delete_if")]
    fn delete_if(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this, "delete_if", &[]);
        }
        remove_where(cx, this, block, true)?;
        Ok(this)
    }

    /// Keeps the elements for which the block is true.
    ///
    ///     Set[1, 2].keep_if(&:odd?)   #=> Set[1]
    #[method("keep_if")]
    fn keep_if(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this, "keep_if", &[]);
        }
        remove_where(cx, this, block, false)?;
        Ok(this)
    }

    /// As `delete_if`; nil when nothing changed.
    ///
    ///     Set[1].reject!(&:even?)   #=> nil
    #[method("reject!")]
    fn reject_bang(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this, "reject!", &[]);
        }
        Ok(if remove_where(cx, this, block, true)? { this } else { Value::NIL })
    }

    /// As `keep_if`; nil when nothing changed.
    ///
    ///     Set[1, 2].select!(&:even?)   #=> Set[2]
    #[method("select!", "filter!")]
    fn select_bang(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this, "select!", &[]);
        }
        Ok(if remove_where(cx, this, block, false)? { this } else { Value::NIL })
    }

    /// Replaces the elements by the block's results.
    ///
    ///     Set[1, 2].map! { |x| x * 2 }   #=> Set[2, 4]
    #[method("map!", "collect!")]
    fn map_bang(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this, "map!", &[]);
        }
        cx.check_frozen(this)?;
        let h = items(cx, this);
        let fresh = cx.new_hash();
        cx.hash_each(h, |cx, k, _| {
            let v = cx.yield1(block, k)?;
            insert(cx, fresh, v)?;
            Ok(true)
        })?;
        cx.ivar_set_raw(this, sym::set_items, fresh.as_value());
        Ok(this)
    }

    /// Hash from the block's results to Sets of the elements that gave them.
    ///
    ///     Set[1, 2, 3].classify(&:odd?)   #=> {true => Set[1, 3], false => Set[2]}
    #[method("classify")]
    fn classify(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this, "classify", &[]);
        }
        let h = items(cx, this);
        let out = cx.new_hash();
        cx.hash_each(h, |cx, k, _| {
            let key = cx.yield1(block, k)?;
            let set = match cx.hash_get(out, key)? {
                Some(s) => s,
                None => {
                    let (s, _) = new_like(cx, this, None);
                    cx.hash_set(out, key, s)?;
                    s
                }
            };
            let h = items(cx, set);
            insert(cx, h, k)?;
            Ok(true)
        })?;
        Ok(out.as_value())
    }

    /// A Set in which the elements of Sets among the elements stand themselves.
    ///
    ///     Set[Set[1], 2].flatten   #=> Set[1, 2]
    #[method("flatten")]
    fn flatten(cx: &mut Cx, this: Value) -> Result<Value> {
        let (set, h) = new_like(cx, this, None);
        let mut path = RootedVec::new(cx);
        flatten_into(cx, h, this, &mut path)?;
        Ok(set)
    }

    /// As `flatten` in place; nil when no element was a Set.
    ///
    ///     Set[1].flatten!   #=> nil
    #[method("flatten!")]
    fn flatten_bang(cx: &mut Cx, this: Value) -> Result<Value> {
        cx.check_frozen(this)?;
        let h = items(cx, this);
        let nested = cx.hash_pairs(h).iter().any(|(k, _)| k.is_kind(Kind::Object) && cx.is_a(k, ids::SET));
        if !nested {
            return Ok(Value::NIL);
        }
        let fresh = cx.new_hash();
        let mut path = RootedVec::new(cx);
        flatten_into(cx, fresh, this, &mut path)?;
        cx.ivar_set_raw(this, sym::set_items, fresh.as_value());
        Ok(this)
    }

    /// Compares elements by identity from now on.
    ///
    ///     Set[].compare_by_identity.compare_by_identity?   #=> true
    #[method("compare_by_identity")]
    fn compare_by_identity(cx: &mut Cx, this: Value) -> Result<Value> {
        let h = items(cx, this);
        if !by_identity(h) {
            cx.check_frozen(this)?;
            if is_iterating(h) {
                return cx.raise(ids::RUNTIME_ERROR, "compare_by_identity during iteration");
            }
            cx.check_frozen(h.as_value())?;
            batch::rebuild(cx, h, true)?;
        }
        Ok(this)
    }

    /// Whether elements are compared by identity.
    ///
    ///     Set[].compare_by_identity?   #=> false
    #[method("compare_by_identity?")]
    fn compares_by_identity(cx: &mut Cx, this: Value) -> bool {
        by_identity(items(cx, this))
    }

    /// Computes the places of the elements anew, after elements were changed.
    ///
    ///     a = [1]; s = Set[a]; a << 2; s.reset.include?([1, 2])   #=> true
    #[method("reset")]
    fn reset(cx: &mut Cx, this: Value) -> Result<Value> {
        cx.check_frozen(this)?;
        let h = items(cx, this);
        if is_iterating(h) {
            return cx.raise(ids::RUNTIME_ERROR, "reset during iteration");
        }
        cx.check_frozen(h.as_value())?;
        batch::rebuild(cx, h, by_identity(h))?;
        Ok(this)
    }

    /// The first element, or an Array of the first `n`.
    ///
    ///     Set[3, 4].first   #=> 3
    #[method("first")]
    fn first(cx: &mut Cx, this: Value, n: Option<i64>) -> Result<Value> {
        let h = items(cx, this);
        let Some(n) = n else {
            return Ok(h.table(&cx.heap).and_then(|t| t.iter().next().map(|e| e.key)).unwrap_or(Value::NIL));
        };
        if n < 0 {
            return cx.arg_error("attempt to take negative size");
        }
        let keys = Gathered::of(&cx.heap, h.table(&cx.heap).into_iter().flat_map(|t| t.iter()).map(|e| e.key).take(n as usize));
        Ok(cx.array(&keys))
    }
}
