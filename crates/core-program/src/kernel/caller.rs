//! caller, caller_locations, Thread::Backtrace::Location.

use zakuro_core_base::exception::location::{Loc, locations_value};
use zakuro_macros::ruby_class;
use zakuro_vm::backtrace::Location;
use zakuro_vm::*;

/// The levels that (start, length) or a Range selects; `here` is the number of levels to leave out at least. None: start is too deep.
fn select(cx: &mut Cx, args: Rest, default: i64) -> Result<Option<Vec<Location>>> {
    // The builtin itself is the innermost level.
    let plain = match args {
        [] => Some((default, i64::MAX)),
        [s] => s.as_fixnum().map(|s| (s, i64::MAX)),
        [s, n, ..] => s.as_fixnum().zip(n.as_fixnum()),
    };
    if let Some((s, n)) = plain
        && s >= 0
        && n > 0
    {
        let list = cx.locations_up_to((s as usize).saturating_add(1), n as usize);
        // Else it depends on how many there are.
        if !list.is_empty() {
            return Ok(Some(list));
        }
    }
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
        return Ok((args.len() == 2 && len == Some(0)).then(Vec::new));
    }
    let rest = all.into_iter().skip(start as usize);
    Ok(Some(match len {
        Some(n) => rest.take(n as usize).collect(),
        None => rest.collect(),
    }))
}

#[ruby_class(ids::THREAD)]
pub mod thread {
    use super::*;

    /// Calls the block with each running call as a Thread::Backtrace::Location, without the current one; arguments as for `caller_locations`.
    ///
    ///     def up = Thread.each_caller_location(0, 1) { |l| return l.base_label }; up   #=> "up"
    #[method("each_caller_location", singleton)]
    fn each_caller_location(cx: &mut Cx, _this: Value, args: Args) -> Result<()> {
        if args.block.is_none() {
            return cx.raise(ids::LOCAL_JUMP_ERROR, "no block given");
        }
        if args.len() > 2 || args.kw {
            return cx.arity_error(args.len(), 0, Some(2));
        }
        let list = select(cx, args.all(), 1)?.unwrap_or_default();
        for l in list {
            let v = cx.data(ids::LOCATION, Loc(l));
            cx.yield1(args.block, v)?;
        }
        Ok(())
    }
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
            Some(list) => Ok(locations_value(cx, list)),
            None => Ok(Value::NIL),
        }
    }
}

#[ruby_class(ids::BACKTRACE)]
pub mod backtrace {
    use super::*;

    /// What `--backtrace-limit` says; -1 without it.
    ///
    ///     Thread::Backtrace.limit   #=> -1
    #[method("limit", singleton)]
    fn limit(cx: &Cx, _this: Value) -> i64 {
        cx.options.backtrace_limit.map_or(-1, |n| n as i64)
    }
}

#[ruby_class(ids::LOCATION)]
pub mod location {
    use super::*;

    fn get(cx: &mut Cx, this: Value) -> Result<&Location> {
        Ok(&cx.data_ref::<Loc>(this)?.0)
    }
    /// File name as in `__FILE__`.
    #[method("path")]
    fn path(cx: &mut Cx, this: Value) -> Result<Value> {
        let file = get(cx, this)?.file.clone();
        Ok(cx.str(&file))
    }
    /// Full path of the file, nil for texts.
    #[method("absolute_path")]
    fn absolute_path(cx: &mut Cx, this: Value) -> Result<Option<String>> {
        let l = get(cx, this)?;
        if l.text || l.file.starts_with("(eval") || &*l.file == "-e" {
            return Ok(None);
        }
        let file = l.file.clone();
        let p = super::super::load::path_of_code(cx, file.as_bytes());
        Ok(Some(p.to_string_lossy().into_owned()))
    }
    /// Line number.
    #[method("lineno")]
    fn lineno(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(get(cx, this)?.line as i32 as i64)
    }
    /// Class and method, `block in ...` for blocks.
    #[method("label")]
    fn label(cx: &mut Cx, this: Value) -> Result<String> {
        Ok(get(cx, this)?.label.to_string())
    }
    /// Name of the method.
    #[method("base_label")]
    fn base_label(cx: &mut Cx, this: Value) -> Result<String> {
        Ok(get(cx, this)?.label.base())
    }
    /// The number that prism gives the node of the call (of the definition, where arguments did not fit); nil where no source is kept.
    #[method("__node_id", private)]
    fn node_id(cx: &mut Cx, this: Value) -> Result<Option<i64>> {
        let node = get(cx, this)?.node.clone();
        let found = node.and_then(|(code, at)| Some((code.upgrade()?, at)));
        Ok(found.and_then(|(code, at)| zakuro_compiler::spot::node_id(&code, (at != u32::MAX).then_some(at))).map(i64::from))
    }
    /// As a line of a backtrace.
    #[method("to_s")]
    fn to_s(cx: &mut Cx, this: Value) -> Result<String> {
        Ok(get(cx, this)?.to_string())
    }
    /// `to_s`, inspected.
    #[method("inspect")]
    fn inspect(cx: &mut Cx, this: Value) -> Result<Value> {
        let s = get(cx, this)?.to_string();
        let s = cx.str(&s);
        Ok(cx.inspect(s)?.as_value())
    }
}
