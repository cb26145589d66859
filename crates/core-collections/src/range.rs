//! Range: an interval of anything that answers `<=>`; walked by `succ`. Steps of others than Fixnums are in prelude/range.rb.

use crate::enumerable::{collect, walk};
use crate::enumerator::{EnumeratorExt, arithmetic};
use zakuro_core_text::string::succ::each_upto;
use num_bigint::BigInt;
use std::cmp::Ordering;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

mod bsearch;

pub static TABLES: &[&[MethodRow]] = &[methods::METHODS, bsearch::bsearch::METHODS];

pub fn setup(_cx: &mut Cx) {}

type Range = Ref<RangeCell>;

/// `a <=> b` as an order; None when they can't be compared.
fn order(cx: &mut Cx, a: Value, b: Value) -> Result<Option<Ordering>> {
    if Value::both_fixnum(a, b) {
        return Ok(Some(a.fix().cmp(&b.fix())));
    }
    if let (Some(x), Some(y)) = (a.as_float(), b.as_float())
        && cx.is_builtin(a, sym::cmp, ids::FLOAT)
    {
        return Ok(x.partial_cmp(&y));
    }
    let r = cx.call(a, sym::cmp, &[b])?;
    if r.is_nil() { Ok(None) } else { crate::array::sorting::order_of(cx, r, a, b).map(Some) }
}

/// Whether no value can lie between the ends.
fn is_empty(cx: &mut Cx, r: Range) -> Result<bool> {
    if r.low().is_nil() || r.high().is_nil() {
        return Ok(false);
    }
    Ok(match order(cx, r.low(), r.high())? {
        Some(Ordering::Less) => false,
        Some(Ordering::Equal) => r.exclusive(),
        _ => true,
    })
}
/// Whether the beginning of one lies before the end of the other.
fn begins_before_end(cx: &mut Cx, r: Range, other: Range) -> Result<bool> {
    if r.low().is_nil() || other.high().is_nil() {
        return Ok(true);
    }
    Ok(match order(cx, r.low(), other.high())? {
        Some(Ordering::Less) => true,
        Some(Ordering::Equal) => !other.exclusive(),
        _ => false,
    })
}

/// Whether a value lies between the ends, by `<=>`.
pub fn covers(cx: &mut Cx, r: Range, v: Value) -> Result<bool> {
    if !r.low().is_nil() && !matches!(order(cx, r.low(), v)?, Some(Ordering::Less | Ordering::Equal)) {
        return Ok(false);
    }
    if r.high().is_nil() {
        return Ok(true);
    }
    Ok(match order(cx, v, r.high())? {
        Some(Ordering::Less) => true,
        Some(Ordering::Equal) => !r.exclusive(),
        _ => false,
    })
}

fn covers_range(cx: &mut Cx, r: Range, other: Range) -> Result<bool> {
    let (high, low2, high2) = (r.high(), other.low(), other.high());
    if !low2.is_nil() && !high2.is_nil() {
        match order(cx, low2, high2)? {
            None | Some(Ordering::Greater) => return Ok(false),
            Some(Ordering::Equal) if other.exclusive() => return Ok(false),
            _ => {}
        }
    }
    if low2.is_nil() {
        if !r.low().is_nil() {
            return Ok(false);
        }
    } else if !covers(cx, r, low2)? {
        return Ok(false);
    }
    if high.is_nil() {
        return Ok(!(r.exclusive() && high2.is_nil() && !other.exclusive()));
    }
    if high2.is_nil() {
        return Ok(false);
    }
    let ends = order(cx, high, high2)?;
    if r.exclusive() == other.exclusive() || ends.is_none() {
        return Ok(matches!(ends, Some(Ordering::Greater | Ordering::Equal)));
    }
    if r.exclusive() {
        return Ok(ends == Some(Ordering::Greater));
    }
    if matches!(ends, Some(Ordering::Greater | Ordering::Equal)) {
        return Ok(true);
    }
    // (1..3) covers (1...4): the last element decides.
    match cx.rescue(&[ids::TYPE_ERROR, ids::RANGE_ERROR], |cx| cx.call(other.as_value(), sym::max, &[]))? {
        Ok(max) if !max.is_nil() => Ok(matches!(order(cx, high, max)?, Some(Ordering::Greater | Ordering::Equal))),
        _ => Ok(false),
    }
}

#[cold]
fn cannot_iterate<T>(cx: &mut Cx, v: Value) -> Result<T> {
    let what = cx.class_name_of(v);
    cx.type_error(format!("can't iterate from {what}"))
}

/// Last Integer of a range that starts with an Integer: None for an endless one. The second: whether the range is of this kind.
fn integer_end(r: Range) -> Option<Option<i64>> {
    if !r.low().is_fixnum() {
        return None;
    }
    match (r.high().as_fixnum(), r.high().as_float()) {
        (Some(h), _) => Some(Some(if r.exclusive() { h - 1 } else { h })),
        (_, Some(f)) if f == f64::INFINITY => Some(None),
        (_, Some(f)) if f.abs() < 4e18 => Some(Some(if r.exclusive() && f.fract() == 0.0 { f as i64 - 1 } else { f.floor() as i64 })),
        _ if r.high().is_nil() => Some(None),
        _ => None,
    }
}

fn each_by_succ(cx: &mut Cx, r: Range, f: &mut dyn FnMut(&mut Cx, Value) -> Result<bool>) -> Result<()> {
    let succ = sym::succ;
    let high = r.high();
    let mut v = r.low();
    if high.is_nil() {
        loop {
            if !f(cx, v)? {
                return Ok(());
            }
            cx.safepoint()?;
            v = cx.call(v, succ, &[])?;
        }
    }
    loop {
        match order(cx, v, high)? {
            Some(Ordering::Less) => {}
            Some(Ordering::Equal) => {
                if !r.exclusive() {
                    f(cx, v)?;
                }
                return Ok(());
            }
            _ => return Ok(()),
        }
        if !f(cx, v)? {
            return Ok(());
        }
        cx.safepoint()?;
        v = cx.call(v, succ, &[])?;
    }
}

/// Size as `Range#size` has it.
fn size(cx: &mut Cx, r: Range) -> Result<Value> {
    let (low, high) = (r.low(), r.high());
    if cx.is_integer(low) {
        if high.is_nil() {
            return Ok(cx.float(f64::INFINITY));
        }
        if let Some(Some(end)) = integer_end(r) {
            return Ok(cx.int((end - low.fix() + 1).max(0)));
        }
        if let (Some(a), Some(b)) = (cx.as_big(low), cx.as_big(high)) {
            let n = b - a + i32::from(!r.exclusive());
            return Ok(cx.big(n.max(BigInt::from(0))));
        }
        if let Some(f) = high.as_float()
            && f.is_infinite()
        {
            return Ok(if f > 0.0 { cx.float(f) } else { Value::fixnum(0) });
        }
        if cx.is_a(high, ids::NUMERIC) {
            let end = cx.call(high, sym::floor, &[])?;
            let whole = cx.eq(end, high)?;
            let (Some(a), Some(b)) = (cx.as_big(low), cx.as_big(end)) else { return Ok(Value::NIL) };
            let n: BigInt = b - a + i32::from(!(r.exclusive() && whole));
            return Ok(cx.big(n.max(BigInt::from(0))));
        }
        return Ok(Value::NIL);
    }
    if low.as_float().is_some() || low.is_nil() || !cx.responds(low, sym::succ, false)? {
        return cannot_iterate(cx, low);
    }
    Ok(Value::NIL)
}
fn enum_size(cx: &mut Cx, recv: Value, _: &[Value]) -> Result<Value> {
    match Ref::<RangeCell>::from_value(recv) {
        Some(r) => size(cx, r),
        None => Ok(Value::NIL),
    }
}
fn reverse_size(cx: &mut Cx, recv: Value, _: &[Value]) -> Result<Value> {
    let Some(r) = Ref::<RangeCell>::from_value(recv) else { return Ok(Value::NIL) };
    if r.high().is_nil() {
        return cannot_iterate(cx, Value::NIL);
    }
    if r.low().is_nil() && cx.is_integer(r.high()) {
        return Ok(cx.float(f64::INFINITY));
    }
    if is_numeric(cx, r.high()) && !cx.is_integer(r.low()) {
        return cannot_iterate(cx, r.high());
    }
    size(cx, r)
}

fn is_numeric(cx: &mut Cx, v: Value) -> bool {
    v.is_fixnum() || v.as_float().is_some() || cx.is_a(v, ids::NUMERIC)
}

/// Whether what lies between two such values is a matter of order only: numbers, times, what converts to an Integer.
fn is_linear(cx: &mut Cx, v: Value) -> Result<bool> {
    if is_numeric(cx, v) || cx.is_a(v, ids::TIME) {
        return Ok(true);
    }
    Ok(v.is_kind(Kind::Object) && cx.responds(v, sym::to_int, true)?)
}

fn same(cx: &mut Cx, r: Range, other: Value, strict: bool) -> Result<bool> {
    let Some(o) = Ref::<RangeCell>::from_value(other) else { return Ok(false) };
    if r == o {
        return Ok(true);
    }
    if r.exclusive() != o.exclusive() {
        return Ok(false);
    }
    let done = cx.guard_recursion(r.as_value(), |cx| {
        if strict {
            Ok(cx.eql(r.low(), o.low())? && cx.eql(r.high(), o.high())?)
        } else {
            Ok(cx.eq(r.low(), o.low())? && cx.eq(r.high(), o.high())?)
        }
    })?;
    Ok(done.unwrap_or(true))
}

/// The `n` greatest of a range of Integers of any size, which may have no beginning.
fn greatest(cx: &mut Cx, this: Range, n: Value) -> Result<Value> {
    let count = cx.to_i64(n)?;
    if count < 0 {
        return cx.arg_error(format!("negative size ({count})"));
    }
    let mut list = RootedVec::new(cx);
    let mut next = this.high();
    if this.exclusive() {
        next = cx.call(next, sym::sub, &[Value::fixnum(1)])?;
    }
    while (list.len() as i64) < count {
        if !this.low().is_nil() && order(cx, this.low(), next)? == Some(Ordering::Greater) {
            break;
        }
        list.push(next);
        cx.safepoint()?;
        next = cx.call(next, sym::sub, &[Value::fixnum(1)])?;
    }
    Ok(cx.array(&list))
}

#[ruby_class(ids::RANGE)]
mod methods {
    use super::*;

    /// `Range.new(first, last, exclude_end = false)`
    ///
    ///     Range.new(1, 3, true)   #=> 1...3
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Range, low: Value, high: Value, exclusive: Option<bool>) -> Result<Value> {
        let unset = this.low().is_nil() && this.high().is_nil() && !this.exclusive();
        cx.check_frozen(this.as_value())?;
        if !unset {
            return cx.name_error("'initialize' called twice".into(), sym::initialize, this.as_value());
        }
        let known = Value::both_fixnum(low, high) || low.is_nil() || high.is_nil();
        if !known && cx.call(low, sym::cmp, &[high])?.is_nil() {
            return cx.arg_error("bad value for range");
        }
        this.init(low, high, exclusive.unwrap_or(false));
        // Instances of subclasses may have variables.
        if cx.class_of(this.as_value()) == ids::RANGE {
            this.as_value().set_flags(flags::FROZEN);
        }
        Ok(Value::NIL)
    }

    /// Lower end.
    ///
    ///     (1..3).begin   #=> 1
    #[method("begin")]
    fn begin(this: Range) -> Value {
        this.low()
    }

    /// Upper end, nil for an endless range.
    ///
    ///     (1...3).end   #=> 3
    #[method("end")]
    fn end(this: Range) -> Value {
        this.high()
    }

    /// Whether the upper end is left out.
    ///
    ///     (1...3).exclude_end?   #=> true
    #[method("exclude_end?")]
    fn exclude_end(this: Range) -> bool {
        this.exclusive()
    }

    /// The lower end, or the first `n` elements.
    ///
    ///     (5..).first      #=> 5
    ///     (5..).first(2)   #=> [5, 6]
    #[method("first")]
    fn first(cx: &mut Cx, this: Range, n: Option<Value>) -> Result<Value> {
        if this.low().is_nil() {
            return cx.range_error("cannot get the first element of beginless range");
        }
        match n {
            None => Ok(this.low()),
            Some(n) => {
                if cx.to_i64(n)? < 0 {
                    return cx.arg_error("negative array size (or size too big)");
                }
                crate::enumerable::search::methods::take(cx, this.as_value(), n)
            }
        }
    }

    /// The upper end, or the last `n` elements.
    ///
    ///     (1...5).last      #=> 5
    ///     (1...5).last(2)   #=> [3, 4]
    #[method("last")]
    fn last(cx: &mut Cx, this: Range, n: Option<Value>) -> Result<Value> {
        if this.high().is_nil() {
            return cx.range_error("cannot get the last element of endless range");
        }
        let Some(n) = n else { return Ok(this.high()) };
        if !cx.is_builtin(this.as_value(), sym::each, ids::RANGE) {
            let all = collect(cx, this.as_value())?.as_value();
            return cx.call(all, sym::last, &[n]);
        }
        let integers = cx.is_integer(this.high()) && (cx.is_integer(this.low()) || this.low().is_nil());
        if integers && (this.low().is_nil() || !this.low().is_fixnum() || !this.high().is_fixnum()) {
            if cx.to_i64(n)? < 0 {
                return cx.arg_error("negative array size");
            }
            let list = greatest(cx, this, n)?;
            return cx.call(list, Sym::intern("reverse"), &[]);
        }
        if let Some(Some(end)) = integer_end(this)
            && this.high().is_fixnum()
        {
            let n = cx.to_i64(n)?;
            if n < 0 {
                return cx.arg_error("negative array size");
            }
            let from = this.low().fix().max(end.saturating_sub(n).saturating_add(1));
            return Ok(cx.array_of((from..=end).map(Value::fixnum)));
        }
        let all = cx.call(this.as_value(), Sym::intern("to_a"), &[])?;
        cx.call(all, sym::last, &[n])
    }

    /// Yields each element in steps of this size, for others than Strings and Symbols what `+` answers; without a block an Enumerator or an ArithmeticSequence.
    ///
    ///     (1..10).step(4).to_a   #=> [1, 5, 9]
    #[method("step")]
    fn step(cx: &mut Cx, this: Range, step: Option<Value>, block: Block) -> Result<Value> {
        stepped(cx, this, "step", step, block)
    }

    /// An ArithmeticSequence of each element in steps of this size.
    ///
    ///     ((1..10) % 4).to_a   #=> [1, 5, 9]
    #[method("%")]
    fn modulo(cx: &mut Cx, this: Range, step: Value, block: Block) -> Result<Value> {
        stepped(cx, this, "%", Some(step), block)
    }

    fn stepped(cx: &mut Cx, this: Range, name: &str, given: Option<Value>, block: Block) -> Result<Value> {
        let (low, high) = (this.low(), this.high());
        let step = given.unwrap_or(Value::fixnum(1));
        let is_number = |cx: &mut Cx, v: Value| v.is_fixnum() || cx.is_a(v, ids::NUMERIC);
        if let (Some(i), Some(by), Some(end)) = (low.as_fixnum(), step.as_fixnum().filter(|s| *s != 0), high.as_fixnum())
            && block.is_some()
        {
            let distance = if by < 0 { i - end } else { end - i } - this.exclusive() as i64;
            if distance >= 0 {
                cx.yield_rounds(block, &mut Rounds::count(i, by, distance as u64 / by.unsigned_abs() + 1))?;
            }
            return Ok(this.as_value());
        }
        // By what is 0 there are no steps from a number.
        if block.is_none()
            && is_number(cx, step)
            && (low.is_nil() || is_number(cx, low))
            && (is_number(cx, high) || high.is_nil() && !low.is_nil())
            && (low.is_nil() || if step.is_fixnum() { step != Value::fixnum(0) } else { !cx.eq(step, Value::fixnum(0))? })
        {
            return Ok(arithmetic(cx, this.as_value(), name, given.as_slice(), Value::NIL, (low, high, step, this.exclusive())));
        }
        let args = cx.array(given.as_slice());
        cx.call_full(this.as_value(), Sym::intern("__step"), &[Value::sym(Sym::intern(name)), args], false, block)
    }

    /// Yields the elements.
    ///
    ///     ("a".."d").each.to_a   #=> ["a", "b", "c", "d"]
    ///     (1...3).each.to_a      #=> [1, 2]
    #[method("each")]
    pub fn each(cx: &mut Cx, this: Range, block: Block) -> Result<Value> {
        if block.is_none() {
            return cx.sized_enumerator(this.as_value(), "each", &[], enum_size);
        }
        let (low, high) = (this.low(), this.high());
        if let Some(end) = integer_end(this) {
            let mut i = low.fix();
            let end = end.unwrap_or(i64::MAX);
            let small = end.min(value::FIXNUM_MAX);
            if i <= small {
                cx.yield_rounds(block, &mut Rounds::count(i, 1, i.abs_diff(small) + 1))?;
                i = small + 1;
            }
            while i <= end {
                let v = cx.int(i);
                cx.yield1(block, v)?;
                cx.safepoint()?;
                i += 1;
            }
            return Ok(this.as_value());
        }
        if low.is_sym() && (high.is_sym() || high.is_nil()) {
            let text = |cx: &mut Cx, v: Value| if v.is_nil() { Ok(v) } else { cx.to_s(v).map(|s| s.as_value()) };
            let (a, b) = (text(cx, low)?, text(cx, high)?);
            let strings = cx.range(a, b, this.exclusive());
            walk(cx, strings, &[], &|cx, v| {
                let s = crate::enumerable::pack(cx, v);
                let s = cx.to_sym(s)?;
                cx.yield1(block, Value::sym(s))?;
                Ok(true)
            })?;
            return Ok(this.as_value());
        }
        if !low.is_nil()
            && low.as_float().is_none()
            && let Some(first) = cx.try_str(low)?
        {
            if high.is_nil() {
                let endless = Ref::of(cx.range(first.as_value(), high, false));
                each_by_succ(cx, endless, &mut |cx, v| cx.yield1(block, v).map(|_| true))?;
            } else {
                let last = cx.to_str(high)?;
                each_upto(cx, first, last, this.exclusive(), &mut |cx, v| cx.yield1(block, v).map(|_| true))?;
            }
            return Ok(this.as_value());
        }
        if low.as_float().is_some() || low.is_nil() || !cx.responds(low, sym::succ, false)? {
            return cannot_iterate(cx, low);
        }
        each_by_succ(cx, this, &mut |cx, v| cx.yield1(block, v).map(|_| true))?;
        Ok(this.as_value())
    }

    /// Yields the elements from the last to the first.
    ///
    ///     (1..3).reverse_each.to_a        #=> [3, 2, 1]
    ///     (..5).reverse_each.first(2)     #=> [5, 4]
    #[method("reverse_each")]
    fn reverse_each(cx: &mut Cx, this: Range, block: Block) -> Result<Value> {
        if block.is_none() {
            return cx.sized_enumerator(this.as_value(), "reverse_each", &[], reverse_size);
        }
        if this.high().is_nil() {
            return cannot_iterate(cx, Value::NIL);
        }
        if let Some(high) = this.high().as_fixnum()
            && let Some(low) = this.low().as_fixnum()
        {
            let mut i = if this.exclusive() { high - 1 } else { high };
            while i >= low {
                let v = cx.int(i);
                cx.yield1(block, v)?;
                cx.safepoint()?;
                i -= 1;
            }
            return Ok(this.as_value());
        }
        if (this.low().is_nil() || cx.is_integer(this.low()))
            && let Some(mut i) = cx.as_big(this.high())
        {
            if this.exclusive() {
                i -= 1;
            }
            let low = cx.as_big(this.low());
            while low.as_ref().is_none_or(|low| i >= *low) {
                let v = cx.big(i.clone());
                cx.yield1(block, v)?;
                cx.safepoint()?;
                i -= 1;
            }
            return Ok(this.as_value());
        }
        if this.low().is_nil() {
            return cannot_iterate(cx, this.low());
        }
        let all = collect(cx, this.as_value())?;
        let mut i = all.len();
        while i > 0 {
            i -= 1;
            let v = all.get(i).unwrap_or(Value::NIL);
            cx.yield1(block, v)?;
            cx.safepoint()?;
        }
        Ok(this.as_value())
    }

    /// Number of elements of a range of Integers; nil when it isn't known without counting.
    ///
    ///     (1...10).size    #=> 9
    ///     (1..).size       #=> Infinity
    ///     ("a".."z").size  #=> nil
    #[method("size")]
    fn size_(cx: &mut Cx, this: Range) -> Result<Value> {
        size(cx, this)
    }

    /// Number of elements; with an argument or a block as Enumerable#count.
    ///
    ///     ("a".."d").count     #=> 4
    ///     (1..10).count(&:even?)   #=> 5
    #[method("count")]
    fn count(cx: &mut Cx, this: Range, wanted: Option<Value>, block: Block) -> Result<Value> {
        if wanted.is_none() && block.is_none() {
            if this.low().is_nil() || this.high().is_nil() {
                return Ok(cx.float(f64::INFINITY));
            }
            if cx.is_integer(this.low()) && cx.is_integer(this.high()) {
                return size(cx, this);
            }
        }
        let n = crate::enumerable::search::methods::count(cx, this.as_value(), wanted, block)?;
        Ok(cx.int(n))
    }

    /// All elements.
    ///
    ///     (1..3).to_a   #=> [1, 2, 3]
    #[method("to_a", "entries")]
    pub fn to_a(cx: &mut Cx, this: Range) -> Result<Value> {
        if this.high().is_nil() || this.high().as_float() == Some(f64::INFINITY) && this.low().is_fixnum() {
            return cx.range_error("cannot convert endless range to an array");
        }
        if let Some(Some(end)) = integer_end(this)
            && cx.is_builtin(this.as_value(), sym::each, ids::RANGE)
        {
            let low = this.low().fix();
            crate::array::arg::check_len(cx, (end as i128 - low as i128 + 1).max(0) as usize)?;
            let out = cx.new_array();
            ArrayCell::reserve(out, &mut cx.heap, (end - low + 1).max(0) as usize);
            for (at, i) in (low..=end).enumerate() {
                ArrayCell::push(out, &mut cx.heap, Value::fixnum(i));
                zakuro_base::progress::step(at, cx)?;
            }
            return Ok(out.as_value());
        }
        Ok(collect(cx, this.as_value())?.as_value())
    }

    /// Whether a value, or every element of a range, lies between the ends.
    ///
    ///     (1..3).cover?(2.5)        #=> true
    ///     ("a".."d").cover?("bb")   #=> true
    ///     (1..5).cover?(2..3)       #=> true
    #[method("cover?")]
    fn cover(cx: &mut Cx, this: Range, v: Value) -> Result<bool> {
        match Ref::<RangeCell>::from_value(v) {
            Some(o) => covers_range(cx, this, o),
            None => covers(cx, this, v),
        }
    }

    /// As `cover?` for a value: what `case` uses.
    ///
    ///     (1..3) === 2   #=> true
    #[method("===")]
    fn eqq(cx: &mut Cx, this: Range, v: Value) -> Result<bool> {
        covers(cx, this, v)
    }

    /// Whether it is an element. For numbers as `cover?`.
    ///
    ///     (1..3).include?(2.5)        #=> true
    ///     ("a".."d").include?("bb")   #=> false
    #[method("include?", "member?")]
    fn include(cx: &mut Cx, this: Range, v: Value) -> Result<bool> {
        let (low, high) = (this.low(), this.high());
        if is_linear(cx, low)? || is_linear(cx, high)? {
            return covers(cx, this, v);
        }
        if low.is_nil() && high.is_nil() && is_linear(cx, v)? {
            return Ok(true);
        }
        if low.is_nil() || high.is_nil() {
            return cx.type_error("cannot determine inclusion in beginless/endless ranges");
        }
        if let (Some(a), Some(b)) = (Ref::<StringCell>::from_value(low), Ref::<StringCell>::from_value(high)) {
            let Some(s) = cx.try_str(v)? else { return Ok(false) };
            let v = s.as_value();
            if a.len() == 1 && b.len() == 1 && a.is_ascii() && b.is_ascii() {
                return if s.len() == 1 { covers(cx, this, v) } else { Ok(false) };
            }
        }
        let v = match low.is_kind(Kind::String) && high.is_kind(Kind::String) {
            true => cx.try_str(v)?.map_or(v, |s| s.as_value()),
            false => v,
        };
        crate::enumerable::search::methods::include(cx, this.as_value(), v)
    }

    /// The lower end, nil when the range is empty; as Enumerable#min with a number or a block.
    ///
    ///     (1..3).min    #=> 1
    ///     (3..1).min    #=> nil
    #[method("min")]
    fn min(cx: &mut Cx, this: Range, n: Option<Value>, block: Block) -> Result<Value> {
        let (low, high) = (this.low(), this.high());
        if low.is_nil() {
            return cx.range_error("cannot get the minimum of beginless range");
        }
        if block.is_some() {
            if high.is_nil() {
                return cx.range_error("cannot get the minimum of endless range with custom comparison method");
            }
            return crate::enumerable::order::methods::min(cx, this.as_value(), n, block);
        }
        if let Some(n) = n {
            return first(cx, this, Some(n));
        }
        if high.is_nil() {
            return Ok(low);
        }
        Ok(match order(cx, low, high)? {
            Some(Ordering::Less) => low,
            Some(Ordering::Equal) if !this.exclusive() => low,
            _ => Value::NIL,
        })
    }

    /// The upper end, nil when the range is empty; as Enumerable#max with a number or a block.
    ///
    ///     (1..3).max     #=> 3
    ///     (1...3).max    #=> 2
    #[method("max")]
    fn max(cx: &mut Cx, this: Range, n: Option<Value>, block: Block) -> Result<Value> {
        let (low, high) = (this.low(), this.high());
        if high.is_nil() {
            return cx.range_error("cannot get the maximum of endless range");
        }
        if let Some(n) = n
            && block.is_none()
            && cx.is_integer(high)
            && (cx.is_integer(low) || low.is_nil())
        {
            return greatest(cx, this, n);
        }
        if n.is_some() && block.is_none() && low.is_nil() {
            return cx.type_error("can't iterate from NilClass");
        }
        let numeric = is_numeric(cx, high);
        if block.is_some() || n.is_some() || (this.exclusive() && !numeric) {
            if low.is_nil() {
                return cx.range_error("cannot get the maximum of beginless range with custom comparison method");
            }
            return crate::enumerable::order::methods::max(cx, this.as_value(), n, block);
        }
        let c = if low.is_nil() { Some(Ordering::Less) } else { order(cx, low, high)? };
        if !matches!(c, Some(Ordering::Less | Ordering::Equal)) {
            return Ok(Value::NIL);
        }
        if this.exclusive() {
            if !cx.is_integer(high) {
                return cx.type_error("cannot exclude non Integer end value");
            }
            if c == Some(Ordering::Equal) {
                return Ok(Value::NIL);
            }
            if !cx.is_integer(low) && !low.is_nil() {
                return cx.type_error("cannot exclude end value with non Integer begin value");
            }
            return cx.call(high, sym::sub, &[Value::fixnum(1)]);
        }
        Ok(high)
    }

    /// Whether both have elements in common; TypeError for what is no Range.
    ///
    ///     (1..3).overlap?(3..5)   #=> true
    #[method("overlap?")]
    fn overlap(cx: &mut Cx, this: Range, other: Value) -> Result<bool> {
        let Some(other) = Range::from_value(other) else {
            let c = cx.class_name_of(other);
            return cx.type_error(format!("wrong argument type {c} (expected Range)"));
        };
        if is_empty(cx, this)? || is_empty(cx, other)? || !begins_before_end(cx, this, other)? || !begins_before_end(cx, other, this)? {
            return Ok(false);
        }
        // Of two that begin or end nowhere, nothing has been compared yet.
        let same_side = if this.high().is_nil() && other.high().is_nil() { Some((this.low(), other.low())) } else { None };
        let same_side = if this.low().is_nil() && other.low().is_nil() { Some((this.high(), other.high())) } else { same_side };
        Ok(match same_side {
            Some((a, b)) if !a.is_nil() && !b.is_nil() => order(cx, a, b)?.is_some(),
            _ => true,
        })
    }

    /// `[min, max]`
    ///
    ///     (1..3).minmax   #=> [1, 3]
    #[method("minmax")]
    fn minmax(cx: &mut Cx, this: Range, block: Block) -> Result<Value> {
        if block.is_some() {
            if this.low().is_nil() || this.high().is_nil() {
                let which = if this.low().is_nil() { "minimum of beginless" } else { "maximum of endless" };
                return cx.range_error(format!("cannot get the {which} range with custom comparison method"));
            }
            return crate::enumerable::order::methods::minmax(cx, this.as_value(), block);
        }
        let a = cx.call(this.as_value(), sym::min, &[])?;
        let b = cx.call(this.as_value(), sym::max, &[])?;
        Ok(cx.array(&[a, b]))
    }

    /// The sum; of Integers by formula.
    ///
    ///     (1..100).sum              #=> 5050
    ///     (1..3).sum { |x| x * x }  #=> 14
    #[method("sum")]
    fn sum(cx: &mut Cx, this: Range, init: Option<Value>, block: Block) -> Result<Value> {
        if block.is_none()
            && Value::both_fixnum(this.low(), this.high())
            && let Some(init) = init.map_or(Some(0), |i| i.as_fixnum())
        {
            // Of 63 bits each: the product fits.
            let (a, last) = (this.low().fix() as i128, this.high().fix() as i128 - i128::from(this.exclusive()));
            let sum = if last < a { 0 } else { (last - a + 1) * (a + last) / 2 } + init as i128;
            return Ok(i64::try_from(sum).map_or_else(|_| cx.big(sum.into()), |n| cx.int(n)));
        }
        // Floats are added up one by one.
        if block.is_none()
            && init.is_none_or(|i| i.as_float().is_none())
            && let (Some(a), Some(b)) = (cx.as_big(this.low()), cx.as_big(this.high()))
        {
            let last = if this.exclusive() { b - 1 } else { b };
            let none = last < a;
            let sum = if none { BigInt::from(0) } else { (&last - &a + 1) * (&a + &last) / 2 };
            return match init {
                None => Ok(cx.big(sum)),
                Some(init) if none => Ok(init),
                Some(init) => match cx.as_big(init) {
                    Some(init) => Ok(cx.big(sum + init)),
                    // What is added to is the sum's own kind: other numbers are converted as an Integer asks for it.
                    None => {
                        let sum = cx.big(sum);
                        let pair = cx.call(sum, sym::coerce, &[init])?;
                        match Ref::<ArrayCell>::from_value(pair).map(|p| (p.len(), p.get(0), p.get(1))) {
                            Some((2, Some(a), Some(b))) => cx.call(a, sym::add, &[b]),
                            _ => cx.type_error("coerce must return [x, y]"),
                        }
                    }
                },
            };
        }
        crate::enumerable::sum::methods::sum(cx, this.as_value(), init, block)
    }

    /// Equal ends (`==`) and the same kind of end.
    ///
    ///     (1..2) == (1..2.0)   #=> true
    ///     (1..2) == (1...2)    #=> false
    #[method("==")]
    fn eq(cx: &mut Cx, this: Range, other: Value) -> Result<bool> {
        same(cx, this, other, false)
    }

    /// As `==`, ends compared by `eql?`.
    ///
    ///     (1..2).eql?(1..2.0)   #=> false
    #[method("eql?")]
    fn eql(cx: &mut Cx, this: Range, other: Value) -> Result<bool> {
        same(cx, this, other, true)
    }

    /// Equal for ranges that are `eql?`.
    ///
    ///     (1..2).hash == (1..2).hash   #=> true
    #[method("hash")]
    fn hash(cx: &mut Cx, this: Range) -> Result<Value> {
        let (a, b) = (cx.hash_of(this.low())?, cx.hash_of(this.high())?);
        Ok(cx.shown_hash(equality::combine(&[a, b, u64::from(this.exclusive())])))
    }

    /// As source text.
    ///
    ///     ("a"...).inspect   #=> "\"a\"..."
    #[method("inspect")]
    fn inspect(cx: &mut Cx, this: Range) -> Result<Value> {
        let shown = cx.guard_recursion(this.as_value(), |cx| {
            let mut out = Vec::new();
            // That of the first end, unless another one is not ASCII.
            let mut encoding = None;
            let mut add = |cx: &mut Cx, out: &mut Vec<u8>, v: Value| -> Result<()> {
                let s = cx.inspect(v)?;
                if encoding.is_none() || !s.is_ascii() {
                    encoding = Some(s.encoding());
                }
                out.extend_from_slice(s.content(&cx.heap));
                Ok(())
            };
            if !this.low().is_nil() || this.high().is_nil() {
                add(cx, &mut out, this.low())?;
            }
            out.extend_from_slice(if this.exclusive() { b"..." } else { b".." });
            if this.low().is_nil() || !this.high().is_nil() {
                add(cx, &mut out, this.high())?;
            }
            Ok((out, encoding.unwrap_or(zakuro_object::string::US_ASCII)))
        })?;
        Ok(match shown {
            Some((bytes, encoding)) => cx.str_bytes(&bytes, encoding),
            None => cx.str(if this.exclusive() { "(... ... ...)" } else { "(... .. ...)" }),
        })
    }

    /// Both ends as text.
    ///
    ///     ("a".."c").to_s   #=> "a..c"
    #[method("to_s")]
    fn to_s(cx: &mut Cx, this: Range) -> Result<Value> {
        let (a, b) = (cx.to_s(this.low())?, cx.to_s(this.high())?);
        let mut out = a.to_vec();
        out.extend_from_slice(if this.exclusive() { b"..." } else { b".." });
        out.extend_from_slice(b.content(&cx.heap));
        let encoding = if b.is_ascii() { a.encoding() } else { b.encoding() };
        Ok(cx.str_bytes(&out, encoding))
    }
}
