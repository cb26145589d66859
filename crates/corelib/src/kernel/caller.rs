//! caller and caller_locations.

use zakuro_macros::ruby_class;
use zakuro_vm::backtrace::Location;
use zakuro_vm::*;

/// The levels that (start, length) or a Range selects; `here` is the number of levels to leave out at least. None: start is too deep.
fn select(cx: &mut Cx, args: Rest, default: i64) -> Result<Option<Vec<Location>>> {
    // The builtin itself is the innermost level.
    let all = cx.locations(1);
    let count = all.len() as i64;
    let (start, len) = match args {
        [] => (default, None),
        [r] if r.is_kind(Kind::Range) => {
            let r: Ref<RangeCell> = Ref::of(*r);
            let mut low = if r.low().is_nil() { 0 } else { cx.to_i64(r.low())? };
            if low < 0 {
                low += count;
            }
            let mut high = if r.high().is_nil() { -1 } else { cx.to_i64(r.high())? };
            let exclusive = r.exclusive() && !r.high().is_nil();
            if high < 0 {
                high += count;
            }
            (low, Some((high - low + !exclusive as i64).max(0)))
        }
        [s] => (cx.to_i64(*s)?, None),
        [s, n, ..] => {
            let len = if n.is_nil() { None } else { Some(cx.to_i64(*n)?) };
            (cx.to_i64(*s)?, len)
        }
    };
    if start < 0 {
        return cx.arg_error(format!("negative level ({start})"));
    }
    if len.is_some_and(|n| n < 0) {
        return cx.arg_error(format!("negative size ({})", len.unwrap_or(0)));
    }
    if start > count {
        return Ok(None);
    }
    let rest = all.into_iter().skip(start as usize);
    Ok(Some(match len {
        Some(n) => rest.take(n as usize).collect(),
        None => rest.collect(),
    }))
}

#[ruby_class(ids::KERNEL)]
pub mod kernel {
    use super::*;

    /// The running calls as texts, without the current one.
    ///
    ///     def up = caller(0, 1).size; up   #=> 1
    #[method("caller", module_function, max = 2)]
    fn caller(cx: &mut Cx, _this: Value, args: Rest) -> Result<Value> {
        match select(cx, args, 1)? {
            Some(list) => {
                let lines: Vec<String> = list.iter().map(|l| l.to_string()).collect();
                Ok(cx.str_array(&lines))
            }
            None => Ok(Value::NIL),
        }
    }
    /// The running calls as Thread::Backtrace::Location objects, without the current one.
    ///
    ///     def loc = caller_locations(0, 1).first.base_label; loc   #=> "loc"
    #[method("caller_locations", module_function, max = 2)]
    fn caller_locations(cx: &mut Cx, _this: Value, args: Rest) -> Result<Value> {
        match select(cx, args, 1)? {
            Some(list) => Ok(crate::exception::location::list(cx, &list)),
            None => Ok(Value::NIL),
        }
    }
}
