//! Hash: equality, order by inclusion, hash code, text.

use super::*;
use zakuro_macros::ruby_class;
use zakuro_object::string::{US_ASCII, UTF8};
use zakuro_vm::equality::combine;

/// Whether both have the same keys with values that are the same by `same`.
fn equal(cx: &mut Cx, a: Ref<HashCell>, other: Value, name: Sym) -> Result<bool> {
    let Some(b) = Ref::<HashCell>::from_value(other) else {
        if other.is_cell() && cx.responds(other, sym::to_hash, false)? {
            return Ok(cx.call(other, name, &[a.as_value()])?.truthy());
        }
        return Ok(false);
    };
    if a == b {
        return Ok(true);
    }
    if a.len() != b.len() {
        return Ok(false);
    }
    if a.len() == 0 {
        return Ok(true);
    }
    if by_identity(a) != by_identity(b) {
        return Ok(false);
    }
    let r = crate::array::guard_pair(cx, a.as_value(), b.as_value(), |cx| {
        let mut same = true;
        cx.hash_each(a, |cx, k, v| {
            same = match cx.hash_get(b, k)? {
                // What is one object is equal, NaN too.
                Some(w) if v == w => true,
                Some(w) if name == sym::eq => cx.eq(v, w)?,
                Some(w) => cx.eql(v, w)?,
                None => false,
            };
            Ok(same)
        })?;
        Ok(same)
    })?;
    Ok(r.unwrap_or(true))
}

/// Whether every pair of `a` is in `b`.
fn subset(cx: &mut Cx, a: Ref<HashCell>, b: Ref<HashCell>) -> Result<bool> {
    if a.len() > b.len() {
        return Ok(false);
    }
    let mut all = true;
    cx.hash_each(a, |cx, k, v| {
        all = match cx.hash_get(b, k)? {
            Some(w) => v == w || cx.eq(v, w)?,
            None => false,
        };
        Ok(all)
    })?;
    Ok(all)
}

/// How a Symbol key stands before its value: `name: `, or `"odd name": `.
/// Returns the encoding of what is not ASCII.
fn symbol_key(cx: &mut Cx, s: Sym, out: &mut Vec<u8>) -> Result<Option<u8>> {
    let name = s.bytes();
    let body = match name.last() {
        Some(b'?' | b'!') => &name[..name.len() - 1],
        _ => name,
    };
    let plain = !body.is_empty() && !body[0].is_ascii_digit() && body.iter().all(|c| c.is_ascii_alphanumeric() || *c == b'_');
    let mut encoding = None;
    if plain {
        out.extend_from_slice(name);
    } else {
        // `:"odd name"` or `:name` as Symbol#inspect gives it.
        let shown = cx.inspect(Value::sym(s))?;
        encoding = (!name.is_ascii()).then(|| if shown.is_ascii() { UTF8 } else { shown.encoding() });
        let text = shown.content(&cx.heap).strip_prefix(b":").unwrap_or(shown.content(&cx.heap));
        let quoted = text.first() == Some(&b'"');
        // Elsewhere the last byte may be part of a character.
        let single = shown.is_ascii() || shown.encoding() == UTF8;
        let odd = matches!(text.first(), Some(b'@' | b'$' | b'!'))
            || single
                && matches!(
                text.last(),
                Some(b'+' | b'-' | b'*' | b'/' | b'`' | b'%' | b'^' | b'&' | b'|' | b']' | b'<' | b'=' | b'>' | b'~' | b'@')
            );
        if !quoted && odd {
            out.push(b'"');
            out.extend_from_slice(text);
            out.push(b'"');
        } else {
            out.extend_from_slice(text);
        }
    }
    out.extend_from_slice(b": ");
    Ok(encoding)
}

/// `{a: 1, "b" => 2}`
pub(crate) fn inspect_pairs(cx: &mut Cx, h: Ref<HashCell>) -> Result<Value> {
    if h.len() == 0 {
        return Ok(cx.str_bytes(b"{}", US_ASCII));
    }
    let text = cx.guard_recursion(h.as_value(), |cx| {
        let mut out: Vec<u8> = b"{".to_vec();
        // That of the first key's text, until one is not ASCII.
        let mut encoding = US_ASCII;
        cx.hash_each(h, |cx, k, v| {
            let first = out.len() == 1;
            if !first {
                out.extend_from_slice(b", ");
            }
            match k.as_sym() {
                Some(s) => {
                    if let Some(e) = symbol_key(cx, s, &mut out)? {
                        encoding = e;
                    }
                }
                None => {
                    let k = cx.inspect(k)?;
                    if first || !k.is_ascii() {
                        encoding = k.encoding();
                    }
                    out.extend_from_slice(k.content(&cx.heap));
                    out.extend_from_slice(b" => ");
                }
            }
            let v = cx.inspect(v)?;
            if !v.is_ascii() {
                encoding = v.encoding();
            }
            out.extend_from_slice(v.content(&cx.heap));
            Ok(true)
        })?;
        out.push(b'}');
        Ok((out, encoding))
    })?;
    Ok(match text {
        Some((t, encoding)) => cx.str_bytes(&t, encoding),
        None => cx.str("{...}"),
    })
}

/// The methods.
#[ruby_class(ids::HASH)]
pub(super) mod hash {
    use super::*;

    /// Same keys with equal values; order does not matter.
    ///
    ///     {a: 1, b: 2} == {b: 2, a: 1}   #=> true
    #[method("==")]
    fn eq(cx: &mut Cx, this: Ref<HashCell>, other: Value) -> Result<bool> {
        equal(cx, this, other, sym::eq)
    }

    /// As `==`, values compared by `eql?`.
    ///
    ///     {a: 1}.eql?({a: 1.0})   #=> false
    #[method("eql?")]
    fn eql(cx: &mut Cx, this: Ref<HashCell>, other: Value) -> Result<bool> {
        equal(cx, this, other, sym::eql)
    }

    /// Hash code; independent of the order of the pairs.
    ///
    ///     {a: 1, b: 2}.hash == {b: 2, a: 1}.hash   #=> true
    #[method("hash")]
    fn hash_code(cx: &mut Cx, this: Ref<HashCell>) -> Result<Value> {
        let mut sum = combine(&[this.len() as u64, u64::from(ids::HASH.0)]);
        cx.hash_each(this, |cx, k, v| {
            let (k, v) = (cx.hash_of(k)?, cx.hash_of(v)?);
            sum = sum.wrapping_add(combine(&[k, v]));
            Ok(true)
        })?;
        Ok(cx.shown_hash(sum))
    }

    /// Whether all pairs are in the other Hash.
    ///
    ///     {a: 1} <= {a: 1, b: 2}   #=> true
    #[method("<=")]
    fn le(cx: &mut Cx, this: Ref<HashCell>, other: Ref<HashCell>) -> Result<bool> {
        subset(cx, this, other)
    }

    /// Whether all pairs are in the other, larger Hash.
    ///
    ///     {a: 1} < {a: 1}   #=> false
    #[method("<")]
    fn lt(cx: &mut Cx, this: Ref<HashCell>, other: Ref<HashCell>) -> Result<bool> {
        Ok(this.len() < other.len() && subset(cx, this, other)?)
    }

    /// Whether all pairs of the other Hash are in this one.
    ///
    ///     {a: 1, b: 2} >= {b: 2}   #=> true
    #[method(">=")]
    fn ge(cx: &mut Cx, this: Ref<HashCell>, other: Ref<HashCell>) -> Result<bool> {
        subset(cx, other, this)
    }

    /// Whether all pairs of the other, smaller Hash are in this one.
    ///
    ///     {a: 1, b: 2} > {b: 2}   #=> true
    #[method(">")]
    fn gt(cx: &mut Cx, this: Ref<HashCell>, other: Ref<HashCell>) -> Result<bool> {
        Ok(other.len() < this.len() && subset(cx, other, this)?)
    }

    /// Text as in a program.
    ///
    ///     {name: 1, "a" => nil, 2 => [3]}.inspect   #=> "{name: 1, \"a\" => nil, 2 => [3]}"
    ///     {"a b": 1, :+ => 2, ok?: 3}   #=> {"a b": 1, "+": 2, ok?: 3}
    #[method("inspect", "to_s")]
    fn inspect(cx: &mut Cx, this: Ref<HashCell>) -> Result<Value> {
        inspect_pairs(cx, this)
    }
}
