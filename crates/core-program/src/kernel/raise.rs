//! raise, catch, throw.

use zakuro_macros::ruby_class;
use zakuro_vm::raise::hidden;
use zakuro_vm::*;

/// The exception that `raise`'s arguments stand for.
fn exception_of(cx: &mut Cx, args: &[Value]) -> Result<Value> {
    let first = args[0];
    if first.is_kind(Kind::String) {
        if args.len() > 1 {
            return cx.type_error("exception class/object expected");
        }
        let class = cx.class_value(ids::RUNTIME_ERROR);
        return cx.call(class, sym::new, &[first]);
    }
    if first.is_kind(Kind::Exception) && args.len() == 1 && cx.tracing == 0 && cx.is_builtin(first, sym::exception, ids::EXCEPTION) {
        return Ok(first);
    }
    if cx.method_of(first, sym::exception).is_none() && !cx.responds(first, sym::exception, true)? {
        return cx.type_error("exception class/object expected");
    }
    let message = &args[1..args.len().min(2)];
    let e = match cx.method_of(first, sym::exception) {
        Some(m) => cx.call_told(m, first, sym::exception, message, false, Block::NONE)?,
        None => cx.call_full(first, sym::exception, message, false, Block::NONE)?,
    };
    if !e.is_kind(Kind::Exception) {
        return cx.type_error("exception object expected");
    }
    Ok(e)
}

/// Whether `e` is among the causes of `cause`.
pub fn is_circular(cx: &mut Cx, e: Value, cause: Value) -> bool {
    let mut c = cause;
    let mut steps = 0;
    while c.is_kind(Kind::Exception) && steps < 1000 {
        if c == e {
            return true;
        }
        c = cx.ivar_get(c, hidden::cause());
        steps += 1;
    }
    false
}

/// `raise` with its arguments, for Kernel#raise, Thread#raise and Fiber#raise: the exception, ready to be raised.
pub fn make_exception(cx: &mut Cx, mut args: Args) -> Result<Value> {
    let kw = args.take_kw();
    let cause = kw.get(sym::cause);
    // Other keywords are a Hash behind the arguments.
    let rest = match kw.hash(cx) {
        Some(h) if h.len() > cause.is_some() as usize => {
            let copy = cx.new_hash();
            for (k, v) in cx.hash_pairs(h) {
                if k != Value::sym(sym::cause) {
                    cx.hash_set(copy, k, v)?;
                }
            }
            Some(copy.as_value())
        }
        _ => None,
    };
    let list = ArgList::new(cx, &[args.all(), rest.as_slice()]);
    if list.len() > 3 {
        return cx.arity_error(list.len(), 0, Some(3));
    }
    let e = if list.is_empty() {
        if cause.is_some() {
            return cx.arg_error("only cause is given with no arguments");
        }
        if cx.errinfo.is_nil() {
            cx.exception(ids::RUNTIME_ERROR, "")
        } else {
            return Ok(cx.errinfo);
        }
    } else {
        exception_of(cx, &list)?
    };
    if let Some(bt) = list.get(2)
        && !bt.is_nil()
    {
        cx.call(e, sym::set_backtrace, &[*bt])?;
    }
    if let Some(c) = cause {
        if !c.is_nil() && !c.is_kind(Kind::Exception) {
            return cx.type_error("exception object expected");
        }
        // nil takes no cause away that the exception has already.
        if c != e && !(c.is_nil() && cx.ivar_lookup(e, hidden::cause()).is_some_and(|c| !c.is_nil())) {
            if is_circular(cx, e, c) {
                return cx.arg_error("circular causes");
            }
            cx.ivar_set_raw(e, hidden::cause(), c);
        }
    }
    Ok(e)
}

/// Whether `f` is the frame of a running `catch` for `tag`. The tag stands in the frame's first register, which is its own.
unsafe fn catches(f: *const frame::Frame, tag: Value) -> bool {
    // SAFETY: caller: a live frame.
    unsafe {
        if !(*f).is_boundary() || *(*f).regs != tag {
            return false;
        }
        Ref::<MethodCell>::from_value((*f).me).and_then(Cx::native_row).is_some_and(|r| r.names[0] == "catch" && r.class == ids::KERNEL)
    }
}

fn is_caught(cx: &Cx, tag: Value) -> bool {
    let mut f = cx.fp;
    // SAFETY: frames between `stacks.frames` and fp are live; each fiber has stacks of its own.
    unsafe {
        while f >= cx.stacks.frames {
            if catches(f, tag) {
                return true;
            }
            f = f.sub(1);
        }
    }
    false
}

#[ruby_class(ids::KERNEL)]
pub mod kernel {
    use super::*;

    /// Raises an exception: `raise`, `raise "text"`, `raise Class, "text", backtrace, cause: e`.
    ///
    ///     (raise ArgumentError, "no" rescue $!.message)   #=> "no"
    ///     (raise "no" rescue $!.class)                    #=> RuntimeError
    #[method("raise", "fail", module_function)]
    fn raise(cx: &mut Cx, _this: Value, args: Args) -> Result<Value> {
        let e = make_exception(cx, args)?;
        cx.raise_value(e)
    }
    /// Runs the block; `throw` with the tag ends it and gives the result.
    ///
    ///     catch(:done) { 10.times { |i| throw :done, i if i == 3 } }   #=> 3
    #[method("catch", module_function)]
    fn catch(cx: &mut Cx, _this: Value, tag: Option<Value>, block: Block) -> Result<Value> {
        let tag = match tag {
            Some(t) => t,
            None => cx.new_object(ids::OBJECT),
        };
        // SAFETY: the top frame is this builtin's; its first register (the receiver, then the result) is no longer needed.
        unsafe { *(*cx.fp).regs = tag };
        match cx.yield1(block, tag) {
            Ok(v) => Ok(v),
            Err(Exc) => match Ref::<ThrowCell>::from_value(cx.pending) {
                Some(t) if t.throw_kind() == ThrowKind::Throw && t.tag == tag => {
                    cx.take_pending();
                    Ok(t.value)
                }
                _ => Err(Exc),
            },
        }
    }
    /// Ends the `catch` block of the tag.
    ///
    ///     (throw :nobody rescue $!.message)   #=> "uncaught throw :nobody"
    #[method("throw", module_function)]
    fn throw(cx: &mut Cx, _this: Value, tag: Value, value: Option<Value>) -> Result<Value> {
        let value = value.unwrap_or(Value::NIL);
        if is_caught(cx, tag) {
            return cx.throw(ThrowKind::Throw, tag, value);
        }
        let shown = cx.inspect_text(tag)?;
        let e = cx.exception(ids::UNCAUGHT_THROW_ERROR, &format!("uncaught throw {shown}"));
        cx.ivar_set_raw(e, Sym::intern("__tag"), tag);
        cx.ivar_set_raw(e, Sym::intern("__value"), value);
        cx.raise_value(e)
    }
}
