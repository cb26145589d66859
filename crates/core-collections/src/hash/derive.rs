//! Hash: new Hashes and Arrays from old ones.

use super::*;
use zakuro_base::progress::step;
use zakuro_macros::ruby_class;

/// The key that replaces `k` in `transform_keys`.
pub(super) fn new_key(cx: &mut Cx, map: Option<Ref<HashCell>>, block: Block, k: Value) -> Result<Value> {
    if let Some(m) = map {
        if let Some(new) = cx.hash_get(m, k)? {
            return Ok(new);
        }
        if block.is_none() {
            return Ok(k);
        }
    }
    cx.yield1(block, k)
}

fn filter(cx: &mut Cx, this: Ref<HashCell>, block: Block, wanted: bool) -> Result<Value> {
    // The block may add keys to the Hash itself, which are not asked about.
    let (all, out) = (plain_copy(cx, this), empty_like(cx, this));
    let keep = |cx: &mut Cx, _, e: Entry, r: Value| {
        if r.truthy() == wanted {
            HashCell::push(out, &mut cx.heap, e.hash, e.key, e.value);
        }
        true
    };
    cx.hash_walk(all, block, |_, e| [e.key, e.value], keep)?;
    Ok(out.as_value())
}

/// The methods.
#[ruby_class(ids::HASH)]
pub(super) mod hash {
    use super::*;

    /// The pairs for which the block is true.
    ///
    ///     {a: 1, b: 2}.select { |k, v| v > 1 }   #=> {b: 2}
    ///     {a: 1, b: 2}.filter { |k, v| k == :a }   #=> {a: 1}
    #[method("select", "filter")]
    fn select(cx: &mut Cx, this: Ref<HashCell>, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this.as_value(), "select", &[]);
        }
        filter(cx, this, block, true)
    }

    /// The pairs for which the block is not true.
    ///
    ///     {a: 1, b: 2}.reject { |k, v| v > 1 }   #=> {a: 1}
    #[method("reject")]
    fn reject(cx: &mut Cx, this: Ref<HashCell>, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this.as_value(), "reject", &[]);
        }
        filter(cx, this, block, false)
    }

    /// A copy with the pairs of other Hashes added; the block decides about keys on both sides.
    ///
    ///     {a: 1}.merge({b: 2}, {c: 3})   #=> {a: 1, b: 2, c: 3}
    ///     {a: 1}.merge({a: 2}) { |k, x, y| [k, x, y] }   #=> {a: [:a, 1, 2]}
    #[method("merge")]
    fn merge(cx: &mut Cx, this: Ref<HashCell>, others: Rest, block: Block) -> Result<Value> {
        let class = cx.class_of(this.as_value());
        let shape = cx.root_shape(class);
        let copy = HashCell::make(&cx.heap, shape);
        if this.len() > 0 || by_identity(this) {
            HashCell::replace(copy, &mut cx.heap, this);
        }
        set_default(copy, this.default, this.default_is_proc());
        for o in others {
            let o = cx.to_hash(*o)?;
            change::merge_into(cx, copy, o, block)?;
        }
        Ok(copy.as_value())
    }

    /// The pairs of some keys, in the order of the arguments.
    ///
    ///     {a: 1, b: 2}.slice(:b, :c)   #=> {b: 2}
    #[method("slice")]
    fn slice(cx: &mut Cx, this: Ref<HashCell>, keys: Rest) -> Result<Value> {
        let out = empty_like(cx, this);
        for k in keys {
            if let Some(v) = cx.hash_get(this, *k)? {
                cx.hash_set(out, *k, v)?;
            }
        }
        Ok(out.as_value())
    }

    /// The pairs without some keys.
    ///
    ///     {a: 1, b: 2}.except(:a)   #=> {b: 2}
    #[method("except")]
    fn except(cx: &mut Cx, this: Ref<HashCell>, keys: Rest) -> Result<Value> {
        let out = plain_copy(cx, this);
        for k in keys {
            cx.hash_delete(out, *k)?;
        }
        Ok(out.as_value())
    }

    /// The pairs whose value is not nil.
    ///
    ///     {a: nil, b: 1}.compact   #=> {b: 1}
    #[method("compact")]
    fn compact(cx: &mut Cx, this: Ref<HashCell>) -> Result<Value> {
        let out = plain_copy(cx, this);
        set_default(out, this.default, this.default_is_proc());
        for (at, (k, v)) in cx.hash_pairs(out).into_iter().enumerate() {
            step(at, cx)?;
            if v.is_nil() {
                cx.hash_delete(out, k)?;
            }
        }
        Ok(out.as_value())
    }

    /// Keys and values exchanged.
    ///
    ///     {a: 1, b: 2}.invert   #=> {1 => :a, 2 => :b}
    #[method("invert")]
    fn invert(cx: &mut Cx, this: Ref<HashCell>) -> Result<Value> {
        let out = cx.new_hash();
        cx.hash_each(this, |cx, k, v| {
            cx.hash_set(out, v, k)?;
            Ok(true)
        })?;
        Ok(out.as_value())
    }

    /// The same keys with the block's results as values.
    ///
    ///     {a: 1, b: 2}.transform_values { |v| v * 10 }   #=> {a: 10, b: 20}
    #[method("transform_values")]
    fn transform_values(cx: &mut Cx, this: Ref<HashCell>, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this.as_value(), "transform_values", &[]);
        }
        let out = plain_copy(cx, this);
        let keep = |cx: &mut Cx, at, _, v| {
            // A program finds even what nobody has given it (ObjectSpace.each_object).
            if out.table(&cx.heap).is_some_and(|t| t.entry(at).is_some()) {
                HashCell::set_value(out, at, v);
            }
            true
        };
        cx.hash_walk(out, block, |_, e| [e.value], keep)?;
        Ok(out.as_value())
    }

    /// The same values under other keys: those of the Hash argument, else the block's results.
    ///
    ///     {a: 1}.transform_keys(&:to_s)   #=> {"a" => 1}
    ///     {a: 1, b: 2}.transform_keys({a: :c})   #=> {c: 1, b: 2}
    #[method("transform_keys")]
    fn transform_keys(cx: &mut Cx, this: Ref<HashCell>, map: Option<Value>, block: Block) -> Result<Value> {
        let map = map.map(|m| cx.to_hash(m)).transpose()?;
        if block.is_none() && map.is_none() {
            return enumerator(cx, this.as_value(), "transform_keys", &[]);
        }
        let out = cx.new_hash();
        cx.hash_each(this, |cx, k, v| {
            let k = new_key(cx, map, block, k)?;
            cx.hash_set(out, k, v)?;
            Ok(true)
        })?;
        Ok(out.as_value())
    }

    /// A plain Hash; with a block, of the pairs that it returns.
    ///
    ///     {a: 1}.to_h { |k, v| [v, k] }   #=> {1 => :a}
    #[method("to_h")]
    fn to_h(cx: &mut Cx, this: Ref<HashCell>, block: Block) -> Result<Value> {
        if block.is_none() {
            if cx.class_of(this.as_value()) == ids::HASH {
                return Ok(this.as_value());
            }
            let copy = plain_copy(cx, this);
            set_default(copy, this.default, this.default_is_proc());
            return Ok(copy.as_value());
        }
        let out = cx.new_hash();
        cx.hash_each(this, |cx, k, v| {
            let r = cx.yield_values(block, &[k, v])?;
            let Some(a) = cx.try_ary(r)? else {
                let c = cx.class_shown(r);
                return cx.type_error(format!("wrong element type {c} (expected array)"));
            };
            match as_pair(a) {
                Some((k, v)) => cx.hash_set(out, k, v)?,
                None => return cx.arg_error(format!("element has wrong array length (expected 2, was {})", a.len())),
            }
            Ok(true)
        })?;
        Ok(out.as_value())
    }

    /// Array of the pairs.
    ///
    ///     {a: 1, b: 2}.to_a   #=> [[:a, 1], [:b, 2]]
    #[method("to_a", "entries")]
    fn to_a(cx: &mut Cx, this: Ref<HashCell>) -> Result<Value> {
        pairs_array(cx, this)
    }

    /// The pairs in one Array, values that are Arrays flattened by `level - 1` more levels.
    ///
    ///     {a: [1, [2]]}.flatten   #=> [:a, [1, [2]]]
    ///     {a: [1, [2]]}.flatten(2)   #=> [:a, 1, [2]]
    #[method("flatten")]
    fn flatten(cx: &mut Cx, this: Ref<HashCell>, level: Option<Value>) -> Result<Value> {
        let level = level.map_or(Ok(1), |v| cx.to_i64(v))?;
        if level == 0 {
            return pairs_array(cx, this);
        }
        let out = cx.new_array();
        ArrayCell::reserve(out, &mut cx.heap, this.len() * 2);
        for (at, (k, v)) in cx.hash_pairs(this).into_iter().enumerate() {
            step(at, cx)?;
            ArrayCell::push(out, &mut cx.heap, k);
            ArrayCell::push(out, &mut cx.heap, v);
        }
        if level < 0 {
            return cx.call(out.as_value(), Sym::intern("flatten"), &[]);
        }
        if level > 1 {
            return cx.call(out.as_value(), Sym::intern("flatten"), &[Value::fixnum(level - 1)]);
        }
        Ok(out.as_value())
    }
}

/// `[[key, value], ...]`
pub(crate) fn pairs_array(cx: &mut Cx, this: Ref<HashCell>) -> Result<Value> {
    let n = this.len();
    let out = ArrayCell::for_len(&cx.heap, ids::ARRAY.0, n);
    ArrayCell::reserve(out, &mut cx.heap, n);
    for (at, (k, v)) in cx.hash_pairs(this).into_iter().enumerate() {
        step(at, cx)?;
        let pair = cx.array(&[k, v]);
        ArrayCell::push(out, &mut cx.heap, pair);
    }
    Ok(out.as_value())
}
