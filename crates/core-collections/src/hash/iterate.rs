//! Hash: methods that hand the pairs to a block.
//!
//! Enumerable has all of these in terms of `each`; they stand here natively because Hashes are iterated everywhere. A subclass that redefines
//! `each` gets Enumerable's.

use super::*;
use zakuro_macros::ruby_class;

/// Whether pairs may be read directly.
#[inline]
fn direct(cx: &mut Cx, this: Ref<HashCell>) -> bool {
    this.as_value().shape_key() == ids::HASH.0 && cx.redefined & zakuro_vm::methods::fast::HASH == 0 || cx.is_builtin(this.as_value(), sym::each, ids::HASH)
}

/// Calls Enumerable's method of this name.
#[cold]
fn enumerable(cx: &mut Cx, this: Ref<HashCell>, name: &str, args: Args) -> Result<Value> {
    let v = this.as_value();
    let name = Sym::intern(name);
    match cx.find_method(ids::ENUMERABLE, name) {
        Some(m) => cx.call_method(m, v, name, args.all(), args.kw, args.block),
        None => cx.type_error("Hash#each was redefined"),
    }
}

/// `pattern === [key, value]` for `any?(pattern)` and its like.
fn pattern_matches(cx: &mut Cx, pattern: Value, k: Value, v: Value) -> Result<bool> {
    let pair = cx.array(&[k, v]);
    cx.case_eq(pattern, pair)
}

/// The methods.
#[ruby_class(ids::HASH)]
pub(super) mod hash {
    use super::*;

    /// Calls the block with each pair.
    ///
    ///     a = []; {x: 1, y: 2}.each { |k, v| a << k << v }; a   #=> [:x, 1, :y, 2]
    ///     {a: 1}.each_pair.to_a                                 #=> [[:a, 1]]
    #[method("each", "each_pair")]
    fn each(cx: &mut Cx, this: Ref<HashCell>, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this.as_value(), "each", &[]);
        }
        PairBlock::new(cx, block).walk(cx, this, |_, _, _, _| true)?;
        Ok(this.as_value())
    }

    /// Calls the block with each key.
    ///
    ///     a = []; {x: 1}.each_key { |k| a << k }; a   #=> [:x]
    #[method("each_key")]
    fn each_key(cx: &mut Cx, this: Ref<HashCell>, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this.as_value(), "each_key", &[]);
        }
        cx.hash_yield(this, block, |k, _| [k])?;
        Ok(this.as_value())
    }

    /// Calls the block with each value.
    ///
    ///     a = []; {x: 1}.each_value { |v| a << v }; a   #=> [1]
    #[method("each_value")]
    fn each_value(cx: &mut Cx, this: Ref<HashCell>, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this.as_value(), "each_value", &[]);
        }
        cx.hash_yield(this, block, |_, v| [v])?;
        Ok(this.as_value())
    }

    /// Array of the block's results.
    ///
    ///     {a: 1, b: 2}.map { |k, v| v * 2 }   #=> [2, 4]
    #[method("map", "collect")]
    fn map(cx: &mut Cx, this: Ref<HashCell>, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this.as_value(), "map", &[]);
        }
        let args = Args::none(block);
        if !direct(cx, this) {
            return enumerable(cx, this, "map", args);
        }
        let out = cx.new_array();
        // A lambda with two parameters is given the pair's parts too: map alone does so.
        let (arity, lambda) = cx.block_arity(block);
        let b = PairBlock::new(cx, block);
        let b = PairBlock { two: b.two || lambda && arity == 2, ..b };
        b.walk(cx, this, |cx, _, _, r| {
            ArrayCell::push(out, &mut cx.heap, r);
            true
        })?;
        Ok(out.as_value())
    }

    /// The block's results that are true.
    ///
    ///     {a: 1, b: 2}.filter_map { |k, v| k if v > 1 }   #=> [:b]
    #[method("filter_map")]
    fn filter_map(cx: &mut Cx, this: Ref<HashCell>, args: Args) -> Result<Value> {
        if args.block.is_none() || !args.is_empty() || !direct(cx, this) {
            return enumerable(cx, this, "filter_map", args);
        }
        let b = PairBlock::new(cx, args.block);
        let out = cx.new_array();
        b.walk(cx, this, |cx, _, _, r| {
            if r.truthy() {
                ArrayCell::push(out, &mut cx.heap, r);
            }
            true
        })?;
        Ok(out.as_value())
    }

    /// Whether some pair satisfies the block or pattern; without both, whether there is a pair.
    ///
    ///     {a: 1, b: 2}.any? { |k, v| v > 1 }   #=> true
    ///     {}.any?   #=> false
    #[method("any?")]
    fn any(cx: &mut Cx, this: Ref<HashCell>, pattern: Option<Value>, block: Block) -> Result<bool> {
        if pattern.is_none() && block.is_none() {
            return Ok(this.len() > 0);
        }
        crate::enumerable::warn_unused(cx, pattern, block)?;
        finds(cx, this, pattern, block, true)
    }

    /// Whether all pairs satisfy the block or pattern.
    ///
    ///     {a: 1, b: 2}.all? { |k, v| v > 1 }   #=> false
    #[method("all?")]
    fn all(cx: &mut Cx, this: Ref<HashCell>, args: Args) -> Result<Value> {
        if args.len() > 1 || !direct(cx, this) {
            return enumerable(cx, this, "all?", args);
        }
        if args.is_empty() && args.block.is_none() {
            return Ok(Value::TRUE);
        }
        crate::enumerable::warn_unused(cx, args.get(0), args.block)?;
        finds(cx, this, args.get(0), args.block, false).map(|found| Value::bool(!found))
    }

    /// Whether no pair satisfies the block or pattern.
    ///
    ///     {a: 1, b: 2}.none? { |k, v| v > 5 }   #=> true
    #[method("none?")]
    fn none(cx: &mut Cx, this: Ref<HashCell>, args: Args) -> Result<Value> {
        if args.len() > 1 || !direct(cx, this) {
            return enumerable(cx, this, "none?", args);
        }
        if args.is_empty() && args.block.is_none() {
            return Ok(Value::bool(this.len() == 0));
        }
        crate::enumerable::warn_unused(cx, args.get(0), args.block)?;
        finds(cx, this, args.get(0), args.block, true).map(|found| Value::bool(!found))
    }

    /// Whether the pattern, or else the block, says `wanted` of some pair.
    fn finds(cx: &mut Cx, this: Ref<HashCell>, pattern: Option<Value>, block: Block, wanted: bool) -> Result<bool> {
        let mut found = false;
        match pattern {
            Some(p) => cx.hash_each(this, |cx, k, v| {
                found = pattern_matches(cx, p, k, v)? == wanted;
                Ok(!found)
            })?,
            None => PairBlock::new(cx, block).walk(cx, this, |_, _, _, r| {
                found = r.truthy() == wanted;
                !found
            })?,
        }
        Ok(found)
    }

    /// Number of pairs that satisfy the block or equal the argument; of all without both.
    ///
    ///     {a: 1, b: 2}.count { |k, v| v > 1 }   #=> 1
    ///     {a: 1, b: 2}.count   #=> 2
    #[method("count")]
    fn count(cx: &mut Cx, this: Ref<HashCell>, args: Args) -> Result<Value> {
        if !args.is_empty() || !direct(cx, this) {
            return enumerable(cx, this, "count", args);
        }
        if args.block.is_none() {
            return Ok(Value::fixnum(this.len() as i64));
        }
        let b = PairBlock::new(cx, args.block);
        let mut n = 0;
        b.walk(cx, this, |_, _, _, r| {
            n += r.truthy() as i64;
            true
        })?;
        Ok(Value::fixnum(n))
    }

    /// The first pair for which the block is true.
    ///
    ///     {a: 1, b: 2}.find { |k, v| v > 1 }   #=> [:b, 2]
    #[method("find", "detect")]
    fn find(cx: &mut Cx, this: Ref<HashCell>, args: Args) -> Result<Value> {
        if args.block.is_none() || !args.is_empty() || !direct(cx, this) {
            return enumerable(cx, this, "find", args);
        }
        let b = PairBlock::new(cx, args.block);
        let mut found = Value::NIL;
        b.walk(cx, this, |cx, k, v, r| {
            if r.truthy() {
                found = cx.array(&[k, v]);
            }
            !r.truthy()
        })?;
        Ok(found)
    }
}
