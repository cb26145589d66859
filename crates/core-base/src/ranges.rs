//! What is taken for a Range: Ranges, and what has ends as they do.

use zakuro_vm::*;

/// A Range, or one with the ends of an object that answers `begin`, `end` and `exclude_end?`; None for what has none. Sequences with steps have ends, but are no Ranges.
pub fn as_range(cx: &mut Cx, v: Value) -> Result<Option<Ref<RangeCell>>> {
    if let Some(r) = Ref::<RangeCell>::from_value(v) {
        return Ok(Some(r));
    }
    let known =
        !v.is_cell() || matches!(v.kind(), Some(Kind::String | Kind::Array | Kind::Hash | Kind::Bignum | Kind::Float | Kind::Rational));
    if known || cx.is_a(v, ids::ARITH_SEQ) {
        return Ok(None);
    }
    let (begin, end, excludes) = (Sym::intern("begin"), Sym::intern("end"), Sym::intern("exclude_end?"));
    for name in [begin, end, excludes] {
        if !cx.responds(v, name, true)? {
            return Ok(None);
        }
    }
    let (low, high) = (cx.call(v, begin, &[])?, cx.call(v, end, &[])?);
    let exclusive = cx.call(v, excludes, &[])?.truthy();
    let range = cx.range(low, high, exclusive);
    Ok(Ref::from_value(range))
}
