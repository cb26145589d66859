//! Hash: insertion-ordered key/value pairs.
//!
//! Split by concept: [`access`] reading and making, [`change`] in-place changes, [`derive`] new Hashes from old ones, [`iterate`] block methods,
//! [`compare`] equality, order, text, [`batch`] many keys at once. What all of them share stands here: lookup with defaults, and how a pair reaches a block.

mod access;
pub(crate) mod batch;
mod change;
mod compare;
mod derive;
mod iterate;

use crate::enumerator::{EnumeratorExt, size_of_receiver};
use zakuro_base::progress::step;
use zakuro_object::hash::Entry;
use zakuro_vm::*;

pub static TABLES: &[&[MethodRow]] =
    &[access::hash::METHODS, change::hash::METHODS, derive::hash::METHODS, iterate::hash::METHODS, compare::hash::METHODS];

pub fn setup(_cx: &mut Cx) {}

/// Blocks that take a pair as two parameters are yielded two values, which spares the Array; all others get `[key, value]`.
#[derive(Clone, Copy)]
pub(crate) struct PairBlock {
    block: Block,
    two: bool,
}

impl PairBlock {
    pub fn new(cx: &mut Cx, block: Block) -> PairBlock {
        PairBlock { block, two: takes_two(cx, block) }
    }
    /// Calls it with each pair of a Hash, until `keep` says no to what it answers. `keep` does what [`Cx::walk`] says that it may.
    pub fn walk(self, cx: &mut Cx, h: Ref<HashCell>, mut keep: impl FnMut(&mut Cx, Value, Value, Value) -> bool) -> Result<()> {
        if self.two {
            return cx.hash_walk(h, self.block, |_, e| [e.key, e.value], |cx, _, e, r| keep(cx, e.key, e.value, r));
        }
        cx.hash_walk(h, self.block, |cx, e| [cx.array(&[e.key, e.value])], |cx, _, e, r| keep(cx, e.key, e.value, r))
    }
    #[inline]
    pub fn call(self, cx: &mut Cx, k: Value, v: Value) -> Result<Value> {
        if self.two {
            return cx.yield_values(self.block, &[k, v]);
        }
        let pair = cx.array(&[k, v]);
        cx.yield1(self.block, pair)
    }
}

/// Whether a block takes two values, or an Array apart.
pub(crate) fn takes_two(cx: &mut Cx, block: Block) -> bool {
    let (arity, lambda) = cx.block_arity(block);
    let min = if arity < 0 { -arity - 1 } else { arity };
    !lambda && min > 1
}

/// A copy with the pairs, the default and the way of comparing; of the same class, without a singleton class.
pub fn copy(cx: &mut Cx, h: Ref<HashCell>) -> Value {
    let class = cx.class_of(h.as_value());
    let shape = cx.root_shape(class);
    let c = HashCell::make(&cx.heap, shape);
    if h.table(&cx.heap).is_some() {
        HashCell::replace(c, &mut cx.heap, h);
    }
    HashCell::set_default(c, h.default, h.default_is_proc());
    cx.ivar_copy(h.as_value(), c.as_value());
    c.as_value()
}

/// Enumerator for a method that was called without its block; its size is that of the receiver.
pub(crate) fn enumerator(cx: &mut Cx, this: Value, name: &str, args: &[Value]) -> Result<Value> {
    cx.sized_enumerator(this, name, args, size_of_receiver)
}

/// `hash[key]` with default value, default Proc, and a redefined `default`.
pub(crate) fn lookup(cx: &mut Cx, h: Ref<HashCell>, key: Value) -> Result<Value> {
    if let Some(v) = cx.hash_get(h, key)? {
        return Ok(v);
    }
    missing(cx, h, key)
}

/// What `hash[key]` gives for a key that is not there.
pub(crate) fn missing(cx: &mut Cx, h: Ref<HashCell>, key: Value) -> Result<Value> {
    let this = h.as_value();
    if this.shape_key() != ids::HASH.0 && !cx.is_builtin(this, sym::default, ids::HASH) {
        return cx.call(this, sym::default, &[key]);
    }
    default_for(cx, h, key)
}

pub(crate) fn default_for(cx: &mut Cx, h: Ref<HashCell>, key: Value) -> Result<Value> {
    if !h.default_is_proc() {
        return Ok(h.default);
    }
    match Ref::<ProcCell>::from_value(h.default) {
        Some(p) => cx.call_proc(p, &[h.as_value(), key], false, Block::NONE),
        None => Ok(Value::NIL),
    }
}

/// Sets default value or default Proc.
pub(crate) fn set_default(h: Ref<HashCell>, value: Value, is_proc: bool) {
    HashCell::set_default(h, value, is_proc);
}

/// KeyError with receiver and key.
#[cold]
pub(crate) fn key_error<T>(cx: &mut Cx, message: String, receiver: Value, key: Value) -> Result<T> {
    let e = cx.exception(ids::KEY_ERROR, &message);
    cx.ivar_set_raw(e, Sym::intern("__receiver"), receiver);
    cx.ivar_set_raw(e, Sym::intern("__key"), key);
    cx.raise_value(e)
}

/// Characters of a key that a message shows at most.
const MAX_SHOWN_KEY: usize = 65;

/// KeyError "key not found: ..."
#[cold]
pub(crate) fn key_not_found<T>(cx: &mut Cx, receiver: Value, key: Value) -> Result<T> {
    let mut shown = cx.inspect_text(key)?;
    if shown.chars().count() > MAX_SHOWN_KEY {
        shown = shown.chars().take(MAX_SHOWN_KEY - 3).chain("...".chars()).collect();
    }
    key_error(cx, format!("key not found: {shown}"), receiver, key)
}

/// A plain Hash with the pairs of another, compared in the same way (by identity or not); no default.
pub(crate) fn plain_copy(cx: &mut Cx, h: Ref<HashCell>) -> Ref<HashCell> {
    let copy = cx.new_hash();
    if h.len() > 0 || by_identity(h) {
        HashCell::replace(copy, &mut cx.heap, h);
    }
    copy
}

/// An empty plain Hash that compares keys as `h` does.
pub(crate) fn empty_like(cx: &mut Cx, h: Ref<HashCell>) -> Ref<HashCell> {
    let new = cx.new_hash();
    if by_identity(h) {
        HashCell::change(new, &mut cx.heap, |t| t.by_identity = true);
    }
    new
}

pub(crate) fn by_identity(h: Ref<HashCell>) -> bool {
    h.by_identity()
}

pub(crate) fn is_iterating(h: Ref<HashCell>) -> bool {
    h.is_iterating()
}

/// An Array as `[key, value]`, or None.
pub(crate) fn as_pair(a: Ref<ArrayCell>) -> Option<(Value, Value)> {
    if a.len() == 2 { Some((a.get(0)?, a.get(1)?)) } else { None }
}

/// Adds a block's result to a Hash, as `to_h { }` and `Set#to_h` do: it must be a pair.
pub(crate) fn add_pair(cx: &mut Cx, into: Ref<HashCell>, result: Value) -> Result<()> {
    let Some(a) = cx.try_ary(result)? else {
        let c = cx.class_name_of(result);
        return cx.type_error(format!("wrong element type {c} (expected array)"));
    };
    match as_pair(a) {
        Some((k, v)) => cx.hash_set(into, k, v),
        None => cx.arg_error(format!("element has wrong array length (expected 2, was {})", a.len())),
    }
}

/// `dig` goes on in `v` with the keys that are left: in a loop through Arrays, Hashes and Structs, else by calls.
pub(crate) fn dig_further(cx: &mut Cx, mut v: Value, mut rest: &[Value]) -> Result<Value> {
    let dig = Sym::intern("dig");
    while let [key, more @ ..] = rest {
        if v.is_nil() {
            break;
        }
        step(rest.len(), cx)?;
        v = if let Some(a) = Ref::<ArrayCell>::from_value(v)
            && cx.is_builtin(v, dig, ids::ARRAY)
        {
            let i = cx.to_i64(*key)?;
            crate::array::access::at_index(a, i)
        } else if let Some(h) = Ref::<HashCell>::from_value(v)
            && cx.is_builtin(v, dig, ids::HASH)
        {
            lookup(cx, h, *key)?
        } else if cx.is_builtin(v, dig, ids::STRUCT) {
            crate::structs::dig_once(cx, v, *key)?
        } else if cx.responds(v, dig, true)? {
            return cx.call_private(v, dig, rest);
        } else {
            let c = cx.class_name_of(v);
            return cx.type_error(format!("{c} does not have #dig method"));
        };
        rest = more;
    }
    Ok(v)
}

