//! Arguments that name elements: indexes, ranges, counts.

use zakuro_vm::*;

/// ArgumentError or NoMemoryError for lengths that can't be.
pub fn check_len(cx: &mut Cx, n: usize) -> Result<()> {
    if n > zakuro_object::array::MAX_LEN {
        return cx.arg_error("array size too big");
    }
    cx.admit(n * size_of::<Value>())
}

/// A number of elements. ArgumentError with `message` below zero.
pub fn take_count(cx: &mut Cx, n: Value, message: &str) -> Result<usize> {
    let n = cx.to_i64(n)?;
    if n < 0 { cx.arg_error(message) } else { Ok(n as usize) }
}

/// How many elements of an Array are meant; nil is no number.
pub struct Taken(pub usize);
impl FromValue for Taken {
    const EFFECTS: Effects = Effects::ALL;
    const TAKES_NIL: bool = true;
    fn from_value(cx: &mut Cx, v: Value) -> Result<Taken> {
        take_count(cx, v, "negative array size").map(Taken)
    }
}

/// Index from the front; None when it is before the first element.
pub fn position(len: usize, i: i64) -> Option<usize> {
    let i = if i < 0 { i + len as i64 } else { i };
    usize::try_from(i).ok()
}

/// How a range that leaves the array is treated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    /// Reading: None when the start is outside, the end is clamped.
    Clamp,
    /// Writing: RangeError when the start is before the first element; the end is kept.
    Raise,
}

/// Start and length that `low..high` names in `len` elements.
pub fn bounds(cx: &mut Cx, low: Value, high: Value, exclusive: bool, len: usize, mode: Outside) -> Result<Option<(usize, usize)>> {
    let start = if low.is_nil() { 0 } else { cx.to_i64(low)? };
    let end = if high.is_nil() { -1 } else { cx.to_i64(high)? };
    let exclusive = exclusive && !high.is_nil();
    let Some(start) = position(len, start) else { return Ok(None) };
    if mode == Outside::Clamp && start > len {
        return Ok(None);
    }
    let mut end = if end < 0 { end + len as i64 } else { end };
    if !exclusive {
        end = end.saturating_add(1);
    }
    if mode == Outside::Clamp {
        end = end.min(len as i64);
    }
    Ok(Some((start, (end - start as i64).max(0) as usize)))
}

/// As `bounds` for a Range object; RangeError in the writing mode.
pub fn range_bounds(cx: &mut Cx, r: Ref<RangeCell>, len: usize, mode: Outside) -> Result<Option<(usize, usize)>> {
    match bounds(cx, r.low(), r.high(), r.exclusive(), len, mode)? {
        None if mode == Outside::Raise => {
            let shown = cx.inspect_for_error(r.as_value());
            cx.range_error(format!("{shown} out of range"))
        }
        b => Ok(b),
    }
}

/// Start, length and step of an ArithmeticSequence as an index.
pub fn sequence_bounds(cx: &mut Cx, v: Value, len: usize) -> Result<Option<(usize, usize, i64)>> {
    let part = |cx: &mut Cx, name: &str| cx.ivar_get(v, Sym::intern(name));
    let (mut low, mut high) = (part(cx, "@__begin"), part(cx, "@__end"));
    let mut exclusive = part(cx, "@__exclude").truthy();
    let step = part(cx, "@__step");
    let step = cx.to_i64(step)?;
    if step < 0 {
        if exclusive && !high.is_nil() {
            let h = cx.to_i64(high)?;
            high = cx.int(h + 1);
            exclusive = false;
        }
        std::mem::swap(&mut low, &mut high);
    }
    if (-1..=1).contains(&step) {
        return Ok(bounds(cx, low, high, exclusive, len, Outside::Clamp)?.map(|(s, n)| (s, n, step)));
    }
    match bounds(cx, low, high, exclusive, len, Outside::Raise)? {
        Some((s, n)) if s <= len && n <= len => Ok(Some((s, n.min(len - s), step))),
        _ => {
            let shown = cx.inspect_for_error(v);
            cx.range_error(format!("{shown} out of range"))
        }
    }
}
