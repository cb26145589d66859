//! Hash: in-place changes.

use super::*;
use zakuro_base::progress::step;
use zakuro_macros::ruby_class;

/// Deletes the pairs for which the block's truth is `wanted`; returns whether there were any.
fn delete_where(cx: &mut Cx, this: Ref<HashCell>, block: Block, wanted: bool) -> Result<bool> {
    let before = this.len();
    cx.hash_each_at(this, |cx, at, k, v| {
        if cx.yield_values(block, &[k, v])?.truthy() == wanted {
            cx.check_frozen(this.as_value())?;
            cx.hash_delete_at(this, at, k)?;
        }
        Ok(true)
    })?;
    Ok(this.len() != before)
}

/// Adds the pairs of `other`; for keys on both sides the block decides.
pub(super) fn merge_into(cx: &mut Cx, this: Ref<HashCell>, other: Ref<HashCell>, block: Block) -> Result<()> {
    if this == other && block.is_none() {
        return Ok(());
    }
    if this.len() == 0 && !is_iterating(this) && other.len() > 0 && by_identity(this) == by_identity(other) {
        HashCell::replace(this, &mut cx.heap, other);
        return Ok(());
    }
    cx.hash_each(other, |cx, k, v| {
        if block.is_some()
            && let Some(old) = cx.hash_get(this, k)?
        {
            // The block must add no key meanwhile; what it takes away stays away.
            HashCell::walk_begins(this);
            let new = cx.yield_values(block, &[k, old, v]);
            HashCell::walk_ends(this);
            let new = new?;
            cx.check_frozen(this.as_value())?;
            if cx.hash_get(this, k)?.is_some() {
                cx.hash_set(this, k, new)?;
            }
            return Ok(true);
        }
        cx.hash_set(this, k, v)?;
        Ok(true)
    })
}

/// The methods.
#[ruby_class(ids::HASH)]
pub(super) mod hash {
    use super::*;

    /// Removes a key and returns its value; nil or the block's result when it is missing.
    ///
    ///     {a: 1}.delete(:a)   #=> 1
    ///     {a: 1}.delete(:b) { |k| "no #{k}" }   #=> "no b"
    #[method("delete")]
    fn delete(cx: &mut Cx, this: Ref<HashCell>, key: Value, block: Block) -> Result<Value> {
        cx.check_frozen(this.as_value())?;
        match cx.hash_delete(this, key)? {
            Some(v) => Ok(v),
            None if block.is_some() => cx.yield1(block, key),
            None => Ok(Value::NIL),
        }
    }

    /// Deletes the pairs for which the block is true.
    ///
    ///     {a: 1, b: 2}.delete_if { |k, v| v > 1 }   #=> {a: 1}
    #[method("delete_if")]
    fn delete_if(cx: &mut Cx, this: Ref<HashCell>, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this.as_value(), "delete_if", &[]);
        }
        cx.check_frozen(this.as_value())?;
        delete_where(cx, this, block, true)?;
        Ok(this.as_value())
    }

    /// As `delete_if`; nil when nothing changed.
    ///
    ///     {a: 1}.reject! { |k, v| v > 1 }   #=> nil
    #[method("reject!")]
    fn reject_bang(cx: &mut Cx, this: Ref<HashCell>, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this.as_value(), "reject!", &[]);
        }
        cx.check_frozen(this.as_value())?;
        Ok(if delete_where(cx, this, block, true)? { this.as_value() } else { Value::NIL })
    }

    /// Keeps the pairs for which the block is true; nil when nothing changed.
    ///
    ///     {a: 1, b: 2}.select! { |k, v| v > 1 }   #=> {b: 2}
    ///     {a: 1, b: 2}.filter! { |k, v| v > 0 }    #=> nil
    #[method("select!", "filter!")]
    fn select_bang(cx: &mut Cx, this: Ref<HashCell>, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this.as_value(), "select!", &[]);
        }
        cx.check_frozen(this.as_value())?;
        Ok(if delete_where(cx, this, block, false)? { this.as_value() } else { Value::NIL })
    }

    /// Keeps the pairs for which the block is true.
    ///
    ///     {a: 1, b: 2}.keep_if { |k, v| v > 1 }   #=> {b: 2}
    #[method("keep_if")]
    fn keep_if(cx: &mut Cx, this: Ref<HashCell>, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this.as_value(), "keep_if", &[]);
        }
        cx.check_frozen(this.as_value())?;
        delete_where(cx, this, block, false)?;
        Ok(this.as_value())
    }

    /// Adds the pairs of other Hashes; for keys that are there already, the block gets key, old and new value and decides.
    ///
    ///     {a: 1}.merge!({a: 2, b: 3})   #=> {a: 2, b: 3}
    ///     {a: 1}.update({a: 2}) { |k, old, new| old + new }   #=> {a: 3}
    #[method("merge!", "update")]
    fn merge_bang(cx: &mut Cx, this: Ref<HashCell>, others: Rest, block: Block) -> Result<Value> {
        cx.check_frozen(this.as_value())?;
        for o in others {
            let o = cx.to_hash(*o)?;
            merge_into(cx, this, o, block)?;
        }
        Ok(this.as_value())
    }

    /// Takes over the pairs of another Hash.
    ///
    ///     {a: 1}.replace({b: 2})   #=> {b: 2}
    #[method("replace")]
    fn replace(cx: &mut Cx, this: Ref<HashCell>, other: Value) -> Result<Value> {
        cx.check_frozen(this.as_value())?;
        let other = cx.to_hash(other)?;
        cx.check_frozen(this.as_value())?;
        if this == other {
            return Ok(this.as_value());
        }
        if is_iterating(this) {
            return cx.raise(ids::RUNTIME_ERROR, "can't replace hash during iteration");
        }
        HashCell::replace(this, &mut cx.heap, other);
        set_default(this, other.default, other.default_is_proc());
        Ok(this.as_value())
    }

    /// Removes all pairs.
    ///
    ///     {a: 1}.clear   #=> {}
    #[method("clear")]
    fn clear(cx: &mut Cx, this: Ref<HashCell>) -> Result<Value> {
        cx.check_frozen(this.as_value())?;
        if this.len() > 0 {
            HashCell::change(this, &mut cx.heap, |t| t.clear());
        }
        Ok(this.as_value())
    }

    /// Removes and returns the first pair; nil when there is none.
    ///
    ///     h = {a: 1, b: 2}; [h.shift, h]   #=> [[:a, 1], {b: 2}]
    #[method("shift")]
    fn shift(cx: &mut Cx, this: Ref<HashCell>) -> Result<Value> {
        cx.check_frozen(this.as_value())?;
        let Some(t) = this.table(&cx.heap) else { return Ok(Value::NIL) };
        let Some(first) = t.iter().next().copied() else { return Ok(Value::NIL) };
        let at = t.find(first.hash, |k| k == first.key);
        if let Some(at) = at {
            HashCell::change(this, &mut cx.heap, |t| t.remove_at(at));
        }
        Ok(cx.array(&[first.key, first.value]))
    }

    /// Removes the pairs whose value is nil; nil when there were none.
    ///
    ///     {a: nil, b: 1}.compact!   #=> {b: 1}
    #[method("compact!")]
    fn compact_bang(cx: &mut Cx, this: Ref<HashCell>) -> Result<Value> {
        cx.check_frozen(this.as_value())?;
        let before = this.len();
        for (at, (k, v)) in cx.hash_pairs(this).into_iter().enumerate() {
            step(at, cx)?;
            if v.is_nil() {
                cx.hash_delete(this, k)?;
            }
        }
        Ok(if this.len() == before { Value::NIL } else { this.as_value() })
    }

    /// Computes the places of all keys anew, after keys were changed.
    ///
    ///     k = [1]; h = {k => 1}; k << 2; h.rehash[[1, 2]]   #=> 1
    #[method("rehash")]
    fn rehash(cx: &mut Cx, this: Ref<HashCell>) -> Result<Value> {
        if is_iterating(this) {
            return cx.raise(ids::RUNTIME_ERROR, "rehash during iteration");
        }
        cx.check_frozen(this.as_value())?;
        if this.len() == 0 {
            return Ok(this.as_value());
        }
        // Of keys that became equal, the first stays with the last value.
        super::batch::rebuild(cx, this, by_identity(this))?;
        Ok(this.as_value())
    }

    /// Replaces each value by the block's result.
    ///
    ///     {a: 1}.transform_values! { |v| v + 1 }   #=> {a: 2}
    #[method("transform_values!")]
    fn transform_values_bang(cx: &mut Cx, this: Ref<HashCell>, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this.as_value(), "transform_values!", &[]);
        }
        cx.check_frozen(this.as_value())?;
        cx.hash_each(this, |cx, k, v| {
            let before = this.len();
            let v = cx.yield1(block, v)?;
            cx.check_frozen(this.as_value())?;
            // (A key that the block deleted stays so.)
            if this.len() == before || cx.hash_get(this, k)?.is_some() {
                cx.hash_set(this, k, v)?;
            }
            Ok(true)
        })?;
        Ok(this.as_value())
    }

    /// Replaces each key by its value in the Hash argument, else by the block's result.
    ///
    ///     {a: 1, b: 2}.transform_keys!({a: :c})   #=> {c: 1, b: 2}
    #[method("transform_keys!")]
    fn transform_keys_bang(cx: &mut Cx, this: Ref<HashCell>, map: Option<Value>, block: Block) -> Result<Value> {
        let map = map.map(|m| cx.to_hash(m)).transpose()?;
        if block.is_none() && map.is_none() {
            return enumerator(cx, this.as_value(), "transform_keys!", &[]);
        }
        cx.check_frozen(this.as_value())?;
        let pairs = plain_copy(cx, this);
        let seen = empty_like(cx, this);
        cx.hash_each(pairs, |cx, k, v| {
            let new = derive::new_key(cx, map, block, k)?;
            cx.check_frozen(this.as_value())?;
            if cx.hash_get(seen, k)?.is_none() {
                cx.hash_delete(this, k)?;
            }
            cx.hash_set(this, new, v)?;
            cx.hash_set(seen, new, Value::NIL)?;
            Ok(true)
        })?;
        Ok(this.as_value())
    }
}
