//! Array: set operations, by `hash` and `eql?`.

use super::words::{Words, are_all};
use zakuro_base::progress::step;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// Calls `f` with each element.
fn each_element(cx: &mut Cx, a: Ref<ArrayCell>, mut f: impl FnMut(&mut Cx, Value)) -> Result<()> {
    let mut i = 0;
    while let Some(v) = a.get(i) {
        f(cx, v);
        i += 1;
        step(i, cx)?;
    }
    Ok(())
}

/// The words of `b`, if it and `a` hold nothing else.
fn words(cx: &mut Cx, a: Ref<ArrayCell>, b: Ref<ArrayCell>) -> Result<Option<Words>> {
    if !are_all(cx, a) {
        return Ok(None);
    }
    let Some(mut words) = Words::for_elements(cx, b) else { return Ok(None) };
    each_element(cx, b, |cx, v| {
        words.insert(cx, v);
    })?;
    Ok(Some(words))
}

/// Hash with the elements as keys.
fn members(cx: &mut Cx, a: Ref<ArrayCell>) -> Result<Ref<HashCell>> {
    let h = cx.new_hash();
    let mut i = 0;
    while let Some(v) = a.get(i) {
        cx.hash_note(h, v)?;
        i += 1;
        step(i, cx)?;
    }
    Ok(h)
}

/// Appends the elements that `wanted` names.
fn add_if(cx: &mut Cx, from: Ref<ArrayCell>, out: Ref<ArrayCell>, mut wanted: impl FnMut(&mut Cx, Value) -> Result<bool>) -> Result<()> {
    let mut i = 0;
    while let Some(v) = from.get(i) {
        if wanted(cx, v)? {
            ArrayCell::push(out, &mut cx.heap, v);
        }
        i += 1;
        step(i, cx)?;
    }
    Ok(())
}

/// Appends the elements that `seen` lacks, and notes them there.
fn add_new(cx: &mut Cx, seen: Ref<HashCell>, from: Ref<ArrayCell>, out: Ref<ArrayCell>) -> Result<()> {
    add_if(cx, from, out, |cx, v| {
        cx.hash_note(seen, v)
    })
}

/// Of so few elements no table is made: `eql?` alone is asked, as CRuby does.
const SMALL: usize = 16;

/// Whether an element is `eql?` to the value.
fn has(cx: &mut Cx, a: Ref<ArrayCell>, v: Value) -> Result<bool> {
    cx.safepoint()?;
    let mut i = 0;
    while let Some(e) = a.get(i) {
        if cx.eql(v, e)? {
            return Ok(true);
        }
        i += 1;
    }
    Ok(false)
}

fn minus(cx: &mut Cx, a: Ref<ArrayCell>, b: Ref<ArrayCell>) -> Result<Ref<ArrayCell>> {
    let out = cx.new_array();
    if b.len() <= SMALL {
        add_if(cx, a, out, |cx, v| Ok(!has(cx, b, v)?))?;
    } else if let Some(gone) = words(cx, a, b)? {
        add_if(cx, a, out, |cx, v| Ok(!gone.has(cx, v)))?;
    } else {
        let gone = members(cx, b)?;
        add_if(cx, a, out, |cx, v| Ok(cx.hash_get(gone, v)?.is_none()))?;
    }
    Ok(out)
}

fn common(cx: &mut Cx, a: Ref<ArrayCell>, b: Ref<ArrayCell>) -> Result<Ref<ArrayCell>> {
    let out = cx.new_array();
    if a.len() <= SMALL && b.len() <= SMALL {
        add_if(cx, a, out, |cx, v| Ok(has(cx, b, v)? && !has(cx, out, v)?))?;
    } else if let Some(there) = words(cx, a, b)?
        && let Some(mut seen) = Words::for_elements(cx, a)
    {
        add_if(cx, a, out, |cx, v| Ok(there.has(cx, v) && seen.insert(cx, v)))?;
    } else {
        let there = members(cx, b)?;
        add_if(cx, a, out, |cx, v| Ok(cx.hash_delete(there, v)?.is_some()))?;
    }
    Ok(out)
}

fn union_all(cx: &mut Cx, a: Ref<ArrayCell>, others: &[Value]) -> Result<Value> {
    let lengths = others.iter().map(|o| Ref::<ArrayCell>::from_value(*o).map_or(SMALL + 1, |o| o.len()));
    if lengths.fold(a.len(), usize::saturating_add) <= SMALL {
        let out = cx.new_array();
        for from in std::iter::once(a.as_value()).chain(others.iter().copied()) {
            add_if(cx, Ref::of(from), out, |cx, v| Ok(!has(cx, out, v)?))?;
        }
        return Ok(out.as_value());
    }
    let out = cx.new_array();
    if let [other] = others {
        let other = cx.to_ary(*other)?;
        if let (Some(mut seen), Some(mut more)) = (Words::for_elements(cx, a), Words::for_elements(cx, other)) {
            add_if(cx, a, out, |cx, v| Ok(seen.insert(cx, v)))?;
            add_if(cx, other, out, |cx, v| Ok(!seen.has(cx, v) && more.insert(cx, v)))?;
            return Ok(out.as_value());
        }
    }
    let seen = cx.new_hash();
    add_new(cx, seen, a, out)?;
    for o in others {
        let o = cx.to_ary(*o)?;
        add_new(cx, seen, o, out)?;
    }
    Ok(out.as_value())
}

#[ruby_class(ids::ARRAY)]
pub mod methods {
    use super::*;

    /// The elements that the other doesn't have.
    ///
    ///     [1, 2, 2, 3] - [2]   #=> [1, 3]
    #[method("-")]
    fn difference_op(cx: &mut Cx, this: Ref<ArrayCell>, other: Ref<ArrayCell>) -> Result<Ref<ArrayCell>> {
        minus(cx, this, other)
    }

    /// The elements that none of the others has.
    ///
    ///     [1, 2, 3].difference([2], [3])   #=> [1]
    #[method("difference")]
    fn difference(cx: &mut Cx, this: Ref<ArrayCell>, rest: Rest) -> Result<Value> {
        let start = cx.array(this.elements(&cx.heap));
        let mut a = Ref::<ArrayCell>::of(start);
        for o in rest {
            let o = cx.to_ary(*o)?;
            a = minus(cx, a, o)?;
        }
        Ok(a.as_value())
    }

    /// The elements that both have, each once.
    ///
    ///     [1, 1, 2] & [2, 1]   #=> [1, 2]
    #[method("&")]
    fn and(cx: &mut Cx, this: Ref<ArrayCell>, other: Ref<ArrayCell>) -> Result<Ref<ArrayCell>> {
        common(cx, this, other)
    }

    /// The elements that all have, each once.
    ///
    ///     [1, 2, 3].intersection([2, 3], [3])   #=> [3]
    #[method("intersection")]
    fn intersection(cx: &mut Cx, this: Ref<ArrayCell>, rest: Rest) -> Result<Value> {
        let start = union_all(cx, this, &[])?;
        let mut a = Ref::<ArrayCell>::of(start);
        for o in rest {
            let o = cx.to_ary(*o)?;
            a = common(cx, a, o)?;
        }
        Ok(a.as_value())
    }

    /// Whether both have an element in common.
    ///
    ///     [1, 2].intersect?([2, 3])   #=> true
    #[method("intersect?")]
    fn intersect(cx: &mut Cx, this: Ref<ArrayCell>, other: Ref<ArrayCell>) -> Result<bool> {
        if this.len() <= SMALL && other.len() <= SMALL {
            let mut i = 0;
            while let Some(v) = this.get(i) {
                if has(cx, other, v)? {
                    return Ok(true);
                }
                i += 1;
            }
            return Ok(false);
        }
        let words = words(cx, this, other)?;
        let table = if words.is_none() { Some(members(cx, other)?) } else { None };
        let mut i = 0;
        while let Some(v) = this.get(i) {
            let there = match (&words, table) {
                (Some(words), _) => words.has(cx, v),
                (None, Some(table)) => cx.hash_get(table, v)?.is_some(),
                (None, None) => false,
            };
            if there {
                return Ok(true);
            }
            i += 1;
            step(i, cx)?;
        }
        Ok(false)
    }

    /// The elements of both, each once.
    ///
    ///     [1, 2] | [2, 3]   #=> [1, 2, 3]
    #[method("|")]
    fn or(cx: &mut Cx, this: Ref<ArrayCell>, other: Ref<ArrayCell>) -> Result<Value> {
        union_all(cx, this, &[other.as_value()])
    }

    /// The elements of all, each once.
    ///
    ///     [1].union([2], [1, 3])   #=> [1, 2, 3]
    #[method("union")]
    fn union(cx: &mut Cx, this: Ref<ArrayCell>, rest: Rest) -> Result<Value> {
        union_all(cx, this, rest)
    }
}
