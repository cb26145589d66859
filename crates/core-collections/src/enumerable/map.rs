//! Enumerable: methods that make a new collection element by element.

use super::*;
use crate::array::words::Words;
use zakuro_base::progress::step;
use zakuro_macros::ruby_class;

/// Adds a `[key, value]` pair to a Hash, as `to_h` does.
pub fn store_pair(cx: &mut Cx, h: Ref<HashCell>, v: Value, at: Option<usize>) -> Result<()> {
    let Some(pair) = cx.try_ary(v)? else {
        let what = cx.class_name_of(v);
        return cx.type_error(match at {
            Some(i) => format!("wrong element type {what} at {i} (expected array)"),
            None => format!("wrong element type {what} (expected array)"),
        });
    };
    let (Some(k), Some(value), 2) = (pair.get(0), pair.get(1), pair.len()) else {
        let n = pair.len();
        return cx.arg_error(match at {
            Some(i) => format!("wrong array length at {i} (expected 2, was {n})"),
            None => format!("element has wrong array length (expected 2, was {n})"),
        });
    };
    cx.hash_set(h, k, value)
}

/// Appends to the group of a key.
pub fn add_to_group(cx: &mut Cx, groups: Ref<HashCell>, key: Value, v: Value) -> Result<()> {
    match cx.hash_get(groups, key)?.and_then(Ref::<ArrayCell>::from_value) {
        Some(a) => ArrayCell::push(a, &mut cx.heap, v),
        None => {
            let a = cx.array(&[v]);
            cx.hash_set(groups, key, a)?;
        }
    }
    Ok(())
}

fn count_one(cx: &mut Cx, counts: Ref<HashCell>, v: Value) -> Result<()> {
    let (hash, found) = cx.hash_place(counts, v)?;
    let Some((at, n)) = found else { return cx.hash_add(counts, hash, v, Value::fixnum(1)) };
    if let Some(i) = n.as_fixnum() {
        let n = cx.int(i + 1);
        cx.hash_put(counts, at, n);
        return Ok(());
    }
    if !cx.is_integer(n) {
        let what = cx.describe_for_conversion(n);
        return cx.type_error(format!("wrong argument type {what} (expected Integer)"));
    }
    let n = cx.call(n, sym::add, &[Value::fixnum(1)])?;
    cx.hash_set(counts, v, n)
}

/// `regexp === v` that leaves `$~` alone: nobody can see it.
fn matches_quietly(cx: &mut Cx, regexp: Value, v: Value) -> Result<bool> {
    if !v.is_sym() && cx.try_str(v)?.is_none() {
        return Ok(false);
    }
    Ok(cx.call(regexp, Sym::intern("match?"), &[v])?.truthy())
}

fn grep_by(cx: &mut Cx, this: Value, pattern: Value, block: Block, want: bool) -> Result<Value> {
    let out = cx.new_array();
    let by_regexp = cx.is_builtin(pattern, sym::eqq, ids::REGEXP);
    let quiet = block.is_none() && by_regexp;
    // An `each` in Ruby has a `$~` of its own; the match is the caller's.
    let home = if by_regexp && !quiet { cx.backref_frame() } else { None };
    each_of(cx, this, |cx, v| {
        let e = pack(cx, v);
        let hit = match home {
            _ if quiet => matches_quietly(cx, pattern, e)?,
            Some(home) if cx.ruby_frame() != Some(home) => {
                let hit = matches_quietly(cx, pattern, e)?;
                let m = if hit { cx.call(pattern, Sym::intern("match"), &[e])? } else { Value::NIL };
                cx.set_backref_of(home, m);
                hit
            }
            _ => cx.case_eq(pattern, e)?,
        };
        if hit == want {
            let r = if block.is_some() { yield_packed(cx, block, v, e)? } else { e };
            ArrayCell::push(out, &mut cx.heap, r);
        }
        Ok(true)
    })?;
    Ok(out.as_value())
}

/// The elements without repetitions, if all are words.
fn distinct_words(cx: &mut Cx, a: Ref<ArrayCell>) -> Result<Option<Ref<ArrayCell>>> {
    let Some(mut seen) = Words::for_elements(cx, a) else { return Ok(None) };
    let out = cx.new_array();
    let mut i = 0;
    while let Some(v) = a.get(i) {
        if seen.insert(cx, v) {
            ArrayCell::push(out, &mut cx.heap, v);
        }
        i += 1;
        step(i, cx)?;
    }
    Ok(Some(out))
}

#[ruby_class(ids::ENUMERABLE)]
pub mod methods {
    use super::*;

    /// The block's results.
    ///
    ///     (1..3).map { |x| x * x }   #=> [1, 4, 9]
    ///     {a: 1}.map { |k, v| [v, k] }   #=> [[1, :a]]
    #[method("map", "collect")]
    fn map(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return enum_for(cx, this, "map", &[]);
        }
        let n = Ref::<ArrayCell>::from_value(this).map_or(0, |a| a.len());
        let out = ArrayCell::for_len(&cx.heap, ids::ARRAY.0, n);
        each_result::<false>(cx, this, block, |cx, _, r| add(cx, out, r))?;
        Ok(out.as_value())
    }

    /// The block's results, Arrays among them spread.
    ///
    ///     (1..3).flat_map { |x| [x] * x }   #=> [1, 2, 2, 3, 3, 3]
    #[method("flat_map", "collect_concat")]
    fn flat_map(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return enum_for(cx, this, "flat_map", &[]);
        }
        let out = cx.new_array();
        // Whatever else it is may have its own `to_ary`.
        let keep = |cx: &mut Cx, _, r: Value| {
            let array = Ref::from_value(r);
            array.map(|a| ArrayCell::extend_from(out, &mut cx.heap, a)).is_some()
        };
        each_yield::<false>(cx, this, block, keep, |cx, _, r| {
            match cx.try_ary(r)? {
                Some(a) => ArrayCell::extend_from(out, &mut cx.heap, a),
                None => add(cx, out, r),
            }
            Ok(true)
        })?;
        Ok(out.as_value())
    }

    /// The elements for which the block is true.
    ///
    ///     (1..5).select(&:odd?)   #=> [1, 3, 5]
    #[method("select", "filter", "find_all")]
    fn select(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return enum_for(cx, this, "select", &[]);
        }
        let out = cx.new_array();
        each_result::<true>(cx, this, block, |cx, e, r| {
            if r.truthy() {
                add(cx, out, e);
            }
        })?;
        Ok(out.as_value())
    }

    /// The elements for which the block is false.
    ///
    ///     (1..5).reject(&:odd?)   #=> [2, 4]
    #[method("reject")]
    fn reject(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return enum_for(cx, this, "reject", &[]);
        }
        let out = cx.new_array();
        each_result::<true>(cx, this, block, |cx, e, r| {
            if !r.truthy() {
                add(cx, out, e);
            }
        })?;
        Ok(out.as_value())
    }

    /// The block's results that are neither nil nor false.
    ///
    ///     (1..5).filter_map { |x| x * 2 if x.even? }   #=> [4, 8]
    #[method("filter_map")]
    fn filter_map(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return enum_for(cx, this, "filter_map", &[]);
        }
        let out = cx.new_array();
        each_result::<false>(cx, this, block, |cx, _, r| {
            if r.truthy() {
                add(cx, out, r);
            }
        })?;
        Ok(out.as_value())
    }

    /// The elements that a pattern matches (`===`), or the block's results for them.
    ///
    ///     [1, "a", 2].grep(Integer)            #=> [1, 2]
    ///     %w[a1 b].grep(/\d/) { |s| s.upcase } #=> ["A1"]
    #[method("grep")]
    fn grep(cx: &mut Cx, this: Value, pattern: Value, block: Block) -> Result<Value> {
        grep_by(cx, this, pattern, block, true)
    }

    /// The elements that a pattern doesn't match, or the block's results for them.
    ///
    ///     [1, "a", 2].grep_v(Integer)   #=> ["a"]
    #[method("grep_v")]
    fn grep_v(cx: &mut Cx, this: Value, pattern: Value, block: Block) -> Result<Value> {
        grep_by(cx, this, pattern, block, false)
    }

    /// Two Arrays: the elements for which the block is true, and the others.
    ///
    ///     (1..5).partition(&:odd?)   #=> [[1, 3, 5], [2, 4]]
    #[method("partition")]
    fn partition(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return enum_for(cx, this, "partition", &[]);
        }
        let (yes, no) = (cx.new_array(), cx.new_array());
        each_result::<true>(cx, this, block, |cx, e, r| add(cx, if r.truthy() { yes } else { no }, e))?;
        Ok(cx.array(&[yes.as_value(), no.as_value()]))
    }

    /// Hash of Arrays: the elements by what the block says.
    ///
    ///     (1..5).group_by(&:odd?)   #=> {true => [1, 3, 5], false => [2, 4]}
    #[method("group_by")]
    fn group_by(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return enum_for(cx, this, "group_by", &[]);
        }
        let groups = cx.new_hash();
        let keep = |cx: &mut Cx, e, key| {
            let group = cx.quick_get(groups, key).flatten().and_then(Ref::from_value);
            group.map(|a| ArrayCell::push(a, &mut cx.heap, e)).is_some()
        };
        each_yield::<true>(cx, this, block, keep, |cx, e, key| add_to_group(cx, groups, key, e).map(|()| true))?;
        Ok(groups.as_value())
    }

    /// How often each element occurs; added to a Hash when one is given.
    ///
    ///     %w[a b a].tally                #=> {"a" => 2, "b" => 1}
    ///     %w[a].tally({"a" => 5})        #=> {"a" => 6}
    #[method("tally")]
    fn tally(cx: &mut Cx, this: Value, hash: Option<Value>) -> Result<Value> {
        let counts = match hash {
            Some(h) => {
                let h = cx.to_hash(h)?;
                cx.check_frozen(h.as_value())?;
                h
            }
            None => cx.new_hash(),
        };
        each_of(cx, this, |cx, v| {
            let e = pack(cx, v);
            count_one(cx, counts, e)?;
            Ok(true)
        })?;
        Ok(counts.as_value())
    }

    /// All elements as an Array.
    ///
    ///     (1..3).to_a          #=> [1, 2, 3]
    ///     {a: 1}.each.to_a     #=> [[:a, 1]]
    #[method("to_a", "entries", min = 0, max = -1)]
    fn to_a(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        let out = cx.new_array();
        if args.kw {
            super::walk_by(cx, this, sym::each, args.all(), true, &|cx, v| {
                let v = pack(cx, v);
                ArrayCell::push(out, &mut cx.heap, v);
                Ok(true)
            })?;
            return Ok(out.as_value());
        }
        let rest = args.all();
        each_with(cx, this, rest, |cx, v| {
            let v = pack(cx, v);
            ArrayCell::push(out, &mut cx.heap, v);
            Ok(true)
        })?;
        Ok(out.as_value())
    }

    /// Hash of `[key, value]` pairs, or of the pairs that the block returns.
    ///
    ///     (1..2).to_h { |x| [x, x * x] }       #=> {1 => 1, 2 => 4}
    ///     [[:a, 1]].each_entry.to_h            #=> {a: 1}
    #[method("to_h")]
    fn to_h(cx: &mut Cx, this: Value, rest: Rest, block: Block) -> Result<Value> {
        let h = cx.new_hash();
        let index = Cell::new(0);
        let array = this.is_kind(Kind::Array);
        if block.is_some() && rest.is_empty() {
            let keep = |cx: &mut Cx, _, r| {
                let quick = Ref::<ArrayCell>::from_value(r).filter(|p| p.len() == 2).is_some_and(|p| {
                    let (k, v) = (p.get(0).unwrap_or(Value::NIL), p.get(1).unwrap_or(Value::NIL));
                    k.is_word() && cx.hash_set(h, k, v).is_ok()
                });
                index.set(index.get() + quick as usize);
                quick
            };
            each_yield::<false>(cx, this, block, keep, |cx, _, r| {
                let at = index.replace(index.get() + 1);
                store_pair(cx, h, r, array.then_some(at)).map(|()| true)
            })?;
            return Ok(h.as_value());
        }
        each_with(cx, this, rest, |cx, v| {
            let pair = if block.is_some() { cx.yield_values(block, v)? } else { pack(cx, v) };
            let at = index.replace(index.get() + 1);
            store_pair(cx, h, pair, array.then_some(at))?;
            Ok(true)
        })?;
        Ok(h.as_value())
    }

    /// The elements without repetitions (compared by `eql?`), or those whose block results differ.
    ///
    ///     [1, 2, 1].each_entry.uniq       #=> [1, 2]
    ///     (1..6).uniq { |x| x % 3 }       #=> [1, 2, 3]
    #[method("uniq")]
    fn uniq(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none()
            && let Some(a) = plain_array(cx, this)
            && let Some(out) = distinct_words(cx, a)?
        {
            return Ok(out.as_value());
        }
        let out = cx.new_array();
        if let Some(a) = plain_array(cx, this).filter(|a| a.len() < 2) {
            // Nobody asks the block about one alone.
            ArrayCell::extend_from(out, &mut cx.heap, a);
            return Ok(out.as_value());
        }
        let seen = cx.new_hash();
        if block.is_some() {
            // Several values that `each` yields at once are one element, but several for the block.
            let keep = |cx: &mut Cx, _, key| matches!(cx.quick_get(seen, key), Some(Some(_)));
            let keep_slowly = |cx: &mut Cx, e, key| {
                if cx.hash_note(seen, key)? {
                    ArrayCell::push(out, &mut cx.heap, e);
                }
                Ok(true)
            };
            if Source::of(cx, this).is_some() {
                each_yield::<false>(cx, this, block, keep, keep_slowly)?;
                return Ok(out.as_value());
            }
        }
        each_of(cx, this, |cx, v| {
            let e = pack(cx, v);
            let key = if block.is_some() { cx.yield_values(block, v)? } else { e };
            if cx.hash_note(seen, key)? {
                ArrayCell::push(out, &mut cx.heap, e);
            }
            Ok(true)
        })?;
        Ok(out.as_value())
    }

    /// The elements that are not nil.
    ///
    ///     [1, nil, 2].each_entry.compact   #=> [1, 2]
    #[method("compact")]
    fn compact(cx: &mut Cx, this: Value) -> Result<Value> {
        let out = cx.new_array();
        each_of(cx, this, |cx, v| {
            let e = pack(cx, v);
            if !e.is_nil() {
                ArrayCell::push(out, &mut cx.heap, e);
            }
            Ok(true)
        })?;
        Ok(out.as_value())
    }

    /// Yields each element with its index.
    ///
    ///     (5..6).each_with_index.to_a   #=> [[5, 0], [6, 1]]
    #[method("each_with_index")]
    fn each_with_index(cx: &mut Cx, this: Value, rest: Rest, block: Block) -> Result<Value> {
        if block.is_none() {
            return enum_for(cx, this, "each_with_index", rest);
        }
        let index = Cell::new(0i64);
        each_with_another(cx, this, rest, block, |e| [e, Value::fixnum(index.replace(index.get() + 1))])?;
        Ok(this)
    }

    /// Yields each element with an object, which is the result.
    ///
    ///     (1..3).each_with_object([]) { |x, a| a << x * 2 }   #=> [2, 4, 6]
    #[method("each_with_object")]
    fn each_with_object(cx: &mut Cx, this: Value, memo: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return enum_for(cx, this, "each_with_object", &[memo]);
        }
        each_with_another(cx, this, &[], block, |e| [e, memo])?;
        Ok(memo)
    }

    /// Yields each element; several values that `each` yields at once come as one Array.
    ///
    ///     (1..2).each_entry.to_a   #=> [1, 2]
    #[method("each_entry")]
    fn each_entry(cx: &mut Cx, this: Value, rest: Rest, block: Block) -> Result<Value> {
        if block.is_none() {
            return enum_for(cx, this, "each_entry", rest);
        }
        each_with(cx, this, rest, |cx, v| {
            let e = pack(cx, v);
            yield_packed(cx, block, v, e)?;
            Ok(true)
        })?;
        Ok(this)
    }

    /// Yields the elements from the last to the first.
    ///
    ///     (1..3).each_entry.reverse_each.to_a   #=> [3, 2, 1]
    #[method("reverse_each")]
    fn reverse_each(cx: &mut Cx, this: Value, rest: Rest, block: Block) -> Result<Value> {
        if block.is_none() {
            return enum_for(cx, this, "reverse_each", rest);
        }
        let all = cx.new_array();
        each_with(cx, this, rest, |cx, v| {
            let e = pack(cx, v);
            ArrayCell::push(all, &mut cx.heap, e);
            Ok(true)
        })?;
        let mut i = all.len();
        while i > 0 {
            i -= 1;
            if let Some(v) = all.get(i) {
                cx.yield1(block, v)?;
                cx.safepoint()?;
            }
        }
        Ok(this)
    }
}
