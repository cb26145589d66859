//! What a thread carries: variables, name, priority, group, what happens on an exception.

use super::payload;
use zakuro_macros::ruby_class;
use zakuro_vm::thread::Thread;
use zakuro_vm::*;

fn fiber_locals() -> Sym {
    Sym::intern("__locals")
}

/// The Hash of `thread[...]`: it belongs to the fiber that the thread is in. Made when `make`.
fn locals(cx: &mut Cx, this: Value, make: bool) -> Result<Option<Ref<HashCell>>> {
    let (me, current) = (cx.thread_id(), cx.current_fiber);
    let told = |t: &Thread| (if t.id == me { current } else { t.stopped_fiber() }, t.locals);
    let known = Ref::<DataCell>::from_value(this).and_then(|d| d.get::<Thread>().map(told));
    let (fiber, own) = match known {
        Some(known) => known,
        None => told(payload(cx, this)?),
    };
    let found = if fiber.is_nil() { own } else { cx.ivar_get(fiber, fiber_locals()) };
    if let Some(h) = Ref::from_value(found) {
        return Ok(Some(h));
    }
    if !make {
        return Ok(None);
    }
    let h = cx.new_hash();
    if fiber.is_nil() {
        payload(cx, this)?.locals = h.as_value();
    } else {
        cx.ivar_set_raw(fiber, fiber_locals(), h.as_value());
    }
    Ok(Some(h))
}

fn variables(cx: &mut Cx, this: Value) -> Result<Option<Ref<HashCell>>> {
    Ok(Ref::from_value(payload(cx, this)?.variables))
}

fn check_frozen(cx: &mut Cx, this: Value) -> Result<()> {
    if this.flags() & flags::FROZEN != 0 {
        return cx.raise(ids::FROZEN_ERROR, "can't modify frozen thread locals");
    }
    Ok(())
}

fn keys(cx: &mut Cx, h: Option<Ref<HashCell>>) -> Value {
    cx.array_of(h.iter().filter_map(|h| h.table(&cx.heap)).flat_map(|t| t.iter()).map(|e| e.key))
}

/// Attributes of threads.
#[ruby_class(ids::THREAD)]
pub mod thread {
    use super::*;

    /// A variable of the thread's running fiber.
    ///
    ///     t = Thread.new { Thread.current[:a] = 1 }.join; [t[:a], t["a"], t[:b]]   #=> [1, 1, nil]
    #[method("[]")]
    fn get(cx: &mut Cx, this: Value, key: Sym) -> Result<Value> {
        Ok(match locals(cx, this, false)? {
            Some(h) => cx.hash_get_sym(h, key).unwrap_or(Value::NIL),
            None => Value::NIL,
        })
    }

    /// Sets a variable of the thread's running fiber; nil removes it.
    ///
    ///     Thread.current[:x] = 3; Thread.new { Thread.current[:x] }.value   #=> nil
    #[method("[]=")]
    fn set(cx: &mut Cx, this: Value, key: Sym, value: Value) -> Result<Value> {
        check_frozen(cx, this)?;
        if value.is_nil() {
            if let Some(h) = locals(cx, this, false)? {
                cx.hash_delete(h, Value::sym(key))?;
            }
        } else if let Some(h) = locals(cx, this, true)? {
            cx.hash_set(h, Value::sym(key), value)?;
        }
        Ok(value)
    }

    /// Is the variable set?
    ///
    ///     Thread.current.key?(:nope)   #=> false
    #[method("key?")]
    fn has_key(cx: &mut Cx, this: Value, key: Sym) -> Result<bool> {
        Ok(locals(cx, this, false)?.is_some_and(|h| cx.hash_get_sym(h, key).is_some()))
    }

    /// Names of the variables.
    ///
    ///     Thread.new { Thread.current[:z] = 1; Thread.current.keys }.value   #=> [:z]
    #[method("keys")]
    fn keys_(cx: &mut Cx, this: Value) -> Result<Value> {
        let h = locals(cx, this, false)?;
        Ok(keys(cx, h))
    }

    /// The variable, or the default, or what the block gives; else KeyError.
    ///
    ///     Thread.current.fetch(:nope, 7)   #=> 7
    #[method("fetch")]
    fn fetch(cx: &mut Cx, this: Value, key: Value, default: Option<Value>, block: Block) -> Result<Value> {
        let name = cx.to_sym(key)?;
        if default.is_some() && block.is_some() {
            cx.warn_here("block supersedes default value argument")?;
        }
        if let Some(h) = locals(cx, this, false)?
            && let Some(v) = cx.hash_get_sym(h, name)
        {
            return Ok(v);
        }
        if block.is_some() {
            return cx.yield1(block, key);
        }
        match default {
            Some(d) => Ok(d),
            None => {
                let shown = cx.inspect_text(Value::sym(name))?;
                let e = cx.exception(ids::KEY_ERROR, &format!("key not found: {shown}"));
                cx.ivar_set_raw(e, Sym::intern("__receiver"), this);
                cx.ivar_set_raw(e, Sym::intern("__key"), key);
                cx.raise_value(e)
            }
        }
    }

    /// A variable of the thread, whatever fiber runs.
    ///
    ///     Thread.current.thread_variable_set(:v, 5); Thread.current.thread_variable_get("v")   #=> 5
    #[method("thread_variable_get")]
    fn thread_variable_get(cx: &mut Cx, this: Value, key: Sym) -> Result<Value> {
        Ok(match variables(cx, this)? {
            Some(h) => cx.hash_get_sym(h, key).unwrap_or(Value::NIL),
            None => Value::NIL,
        })
    }

    /// Sets a variable of the thread; nil removes it.
    ///
    ///     Thread.current.thread_variable_set(:v, 5)   #=> 5
    #[method("thread_variable_set")]
    fn thread_variable_set(cx: &mut Cx, this: Value, key: Sym, value: Value) -> Result<Value> {
        check_frozen(cx, this)?;
        let h = match variables(cx, this)? {
            Some(h) => h,
            None => {
                let h = cx.new_hash();
                payload(cx, this)?.variables = h.as_value();
                h
            }
        };
        if value.is_nil() {
            cx.hash_delete(h, Value::sym(key))?;
        } else {
            cx.hash_set(h, Value::sym(key), value)?;
        }
        Ok(value)
    }

    /// Is the variable of the thread set?
    ///
    ///     Thread.current.thread_variable?(:unset)   #=> false
    #[method("thread_variable?")]
    fn has_thread_variable(cx: &mut Cx, this: Value, key: Sym) -> Result<bool> {
        Ok(variables(cx, this)?.is_some_and(|h| cx.hash_get_sym(h, key).is_some()))
    }

    /// Names of the thread's variables.
    ///
    ///     Thread.new { Thread.current.thread_variables }.value   #=> []
    #[method("thread_variables")]
    fn thread_variables(cx: &mut Cx, this: Value) -> Result<Value> {
        let h = variables(cx, this)?;
        Ok(keys(cx, h))
    }

    /// The name given to it.
    ///
    ///     Thread.new {}.name   #=> nil
    #[method("name")]
    fn name(cx: &mut Cx, this: Value) -> Result<Value> {
        Ok(payload(cx, this)?.name)
    }

    /// Names the thread.
    ///
    ///     t = Thread.new {}; t.name = "w"; t.name   #=> "w"
    #[method("name=")]
    fn set_name(cx: &mut Cx, this: Value, name: Value) -> Result<Value> {
        let stored = if name.is_nil() {
            Value::NIL
        } else {
            let s = cx.to_str(name)?;
            if s.has_nul() {
                return cx.arg_error("string contains null byte");
            }
            let copy = cx.str_bytes(s.content(&cx.heap), s.encoding());
            copy.set_flags(flags::FROZEN);
            copy
        };
        if !cx.is_data::<Thread>(this) && cx.is_a(this, ids::THREAD) {
            // `initialize` of a subclass names it before it begins.
            cx.ivar_set_raw(this, Sym::intern("__name"), stored);
            return Ok(name);
        }
        payload(cx, this)?.name = stored;
        Ok(name)
    }

    /// Its priority. The scheduler does not look at it.
    ///
    ///     Thread.current.priority   #=> 0
    #[method("priority")]
    fn priority(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(payload(cx, this)?.priority)
    }

    /// Sets the priority, from -3 to 3.
    ///
    ///     t = Thread.new {}; t.priority = 9; t.priority   #=> 3
    #[method("priority=")]
    fn set_priority(cx: &mut Cx, this: Value, n: i64) -> Result<i64> {
        payload(cx, this)?.priority = n.clamp(-3, 3);
        Ok(n)
    }

    /// Its group.
    ///
    ///     Thread.current.group == ThreadGroup::Default   #=> true
    #[method("group")]
    fn group(cx: &mut Cx, this: Value) -> Result<Value> {
        Ok(payload(cx, this)?.group)
    }

    /// Is an exception that ends the thread reported on `$stderr`?
    ///
    ///     Thread.current.report_on_exception   #=> true
    #[method("report_on_exception")]
    fn report(cx: &mut Cx, this: Value) -> Result<bool> {
        let r = payload(cx, this)?.report;
        Ok(if r.is_nil() { cx.threads().report_on_exception } else { r.truthy() })
    }

    /// Sets whether the thread reports the exception that ends it.
    #[method("report_on_exception=")]
    fn set_report(cx: &mut Cx, this: Value, on: bool) -> Result<bool> {
        payload(cx, this)?.report = Value::bool(on);
        Ok(on)
    }

    /// Do new threads report the exception that ends them?
    ///
    ///     Thread.report_on_exception   #=> true
    #[method("report_on_exception", singleton)]
    fn report_default(cx: &mut Cx, _this: Value) -> bool {
        cx.threads().report_on_exception
    }

    /// Sets whether new threads report the exception that ends them.
    #[method("report_on_exception=", singleton)]
    fn set_report_default(cx: &mut Cx, _this: Value, on: bool) -> bool {
        cx.threads().report_on_exception = on;
        on
    }

    /// Is an exception that ends the thread raised in the main thread?
    ///
    ///     Thread.current.abort_on_exception   #=> false
    #[method("abort_on_exception")]
    fn abort(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(payload(cx, this)?.abort)
    }

    /// Sets whether an exception that ends the thread is raised in the main thread.
    #[method("abort_on_exception=")]
    fn set_abort(cx: &mut Cx, this: Value, on: bool) -> Result<bool> {
        payload(cx, this)?.abort = on;
        Ok(on)
    }

    /// Is an exception that ends any thread raised in the main thread?
    ///
    ///     Thread.abort_on_exception   #=> false
    #[method("abort_on_exception", singleton)]
    fn abort_default(cx: &mut Cx, _this: Value) -> bool {
        cx.threads().abort_on_exception
    }

    /// Sets whether an exception that ends any thread is raised in the main thread.
    #[method("abort_on_exception=", singleton)]
    fn set_abort_default(cx: &mut Cx, _this: Value, on: bool) -> bool {
        cx.threads().abort_on_exception = on;
        on
    }
}
