//! Fiber: coroutines of a program. The machinery is `zakuro_vm::fiber`; this is what Ruby sees of it.
//!
//! A killed fiber unwinds by a `throw` whose tag is the fiber itself: `ensure` runs, nothing rescues it, and the resumer sees a plain end.

use zakuro_macros::ruby_class;
use zakuro_vm::fiber::{FiberData, FiberState};
use zakuro_vm::*;

pub static TABLES: &[&[MethodRow]] = &[fiber::METHODS];
pub fn setup(_cx: &mut Cx) {}

/// The running fiber. Outside of fibers an object that stands for that code, made when asked for; one per thread.
pub fn current(cx: &mut Cx) -> Value {
    cx.fiber_current()
}

fn blocking_name() -> Sym {
    Cx::blocking_name()
}

/// A storage Hash given by the program: keys must be Symbols.
fn check_storage(cx: &mut Cx, v: Value) -> Result<Value> {
    if v.is_nil() {
        return Ok(v);
    }
    let Some(h) = Ref::<HashCell>::from_value(v) else {
        return cx.type_error("storage must be a hash");
    };
    if v.flags() & flags::FROZEN != 0 {
        return cx.raise(ids::FROZEN_ERROR, "storage must not be frozen");
    }
    for (k, _) in cx.hash_pairs(h) {
        if !k.is_sym() {
            let c = cx.class_name_of(k);
            return cx.type_error(format!("wrong argument type {c} (expected Symbol)"));
        }
    }
    Ok(cx.copied_storage(v))
}

fn check_key(cx: &mut Cx, key: Value) -> Result<Value> {
    if key.is_sym() {
        return Ok(key);
    }
    if let Some(s) = cx.try_str(key)? {
        return Ok(Value::sym(Sym::intern_bytes(s.content(&cx.heap))));
    }
    let shown = cx.inspect_text(key)?;
    cx.type_error(format!("{shown} is not a symbol nor a string"))
}

#[ruby_class(ids::FIBER)]
mod fiber {
    use super::*;

    /// A fiber that runs the block once `resume` is called. `blocking: true` keeps the scheduler out; `storage:` is a Hash of its variables, true a copy of the running fiber's.
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, kw: Kwargs, block: Block) -> Result<Value> {
        let (blocking, storage) = (Sym::intern("blocking"), Sym::intern("storage"));
        // CRuby takes `pool:` without doing anything with it.
        kw.only(cx, &[blocking, Sym::intern("pool"), storage])?;
        if block.is_none() {
            return cx.arg_error("tried to create Proc object without a block");
        }
        let body = cx.block_value(block);
        let storage = match kw.get(storage) {
            None | Some(Value::TRUE) => cx.inherited_storage(),
            Some(v) => check_storage(cx, v)?,
        };
        let mut data = FiberData::new(body).counted(cx);
        data.storage = storage;
        data.thread = cx.thread_id();
        cx.data_init(this, data)?;
        if kw.get(blocking).is_some_and(Value::truthy) {
            cx.ivar_set_raw(this, blocking_name(), Value::TRUE);
        }
        Ok(this)
    }

    /// Runs the fiber until it yields or ends. The arguments go to the block at first, later they are what `Fiber.yield` returns.
    ///
    ///     Fiber.new { |x| Fiber.yield(x + 1); :end }.then { |f| [f.resume(1), f.resume, f.alive?] }   #=> [2, :end, false]
    #[method("resume")]
    fn resume(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        if args.kw {
            cx.data_mut::<FiberData>(this)?.keywords |= cx.fiber_state(this)? == FiberState::Created;
        }
        cx.fiber_resume(this, args.all())
    }

    /// Gives the arguments to the code that resumed the running fiber.
    ///
    ///     f = Fiber.new { Fiber.yield(1, 2) }; f.resume   #=> [1, 2]
    #[method("yield", singleton)]
    fn yield_(cx: &mut Cx, _this: Value, args: Rest) -> Result<Value> {
        cx.fiber_yield(args)
    }

    /// Can it still be resumed?
    ///
    ///     Fiber.new {}.alive?   #=> true
    #[method("alive?")]
    fn alive(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(cx.fiber_state(this)? != FiberState::Terminated)
    }

    /// Raises an exception where the fiber waits.
    ///
    ///     f = Fiber.new { begin; Fiber.yield; rescue => e; e.message; end }; f.resume; f.raise("x")   #=> "x"
    #[method("raise")]
    fn raise(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        let e = if args.is_empty() { cx.exception(ids::RUNTIME_ERROR, "") } else { zakuro_core_program::kernel::raise::make_exception(cx, args)? };
        let cause = zakuro_vm::raise::hidden::cause();
        if !cx.ivar_defined(e, cause) && cx.errinfo != e {
            let current = cx.errinfo;
            cx.ivar_set_raw(e, cause, current);
        }
        if cx.fiber_current() == this {
            return cx.raise_value(e);
        }
        cx.fiber_raise(this, e)
    }

    /// Levels of its backtrace; none before its beginning and after its end.
    ///
    ///     f = Fiber.new { Fiber.yield }; f.resume; f.backtrace.class   #=> Array
    #[method("backtrace")]
    fn backtrace(cx: &mut Cx, this: Value, start: Option<Value>, length: Option<Value>) -> Result<Value> {
        let list = locations(cx, this)?;
        let lines: Vec<String> = list.iter().map(|l| l.to_string()).collect();
        let all = cx.str_array(&lines);
        part(cx, all, start, length)
    }

    /// The same as objects.
    ///
    ///     Fiber.new {}.tap(&:resume).backtrace_locations   #=> []
    #[method("backtrace_locations")]
    fn backtrace_locations(cx: &mut Cx, this: Value, start: Option<Value>, length: Option<Value>) -> Result<Value> {
        let list = locations(cx, this)?;
        let all = zakuro_core_base::exception::location::locations_value(cx, list);
        part(cx, all, start, length)
    }
    /// Of none there are no others to leave out.
    fn part(cx: &mut Cx, all: Value, start: Option<Value>, length: Option<Value>) -> Result<Value> {
        if Ref::<ArrayCell>::from_value(all).is_some_and(|a| a.is_empty()) {
            return Ok(all);
        }
        crate::thread::class::part(cx, all, start, length)
    }

    /// Where it stands.
    fn locations(cx: &mut Cx, this: Value) -> Result<Vec<zakuro_vm::backtrace::Location>> {
        match cx.fiber_state(this)? {
            FiberState::Terminated => Ok(Vec::new()),
            _ => cx.fiber_locations(this),
        }
    }

    /// Ends the fiber where it waits; `ensure` clauses run.
    ///
    ///     f = Fiber.new { Fiber.yield }; f.resume; f.kill.alive?   #=> false
    #[method("kill")]
    fn kill(cx: &mut Cx, this: Value) -> Result<Value> {
        match cx.fiber_state(this)? {
            FiberState::Terminated => {}
            FiberState::Created => cx.data_mut::<FiberData>(this)?.state = FiberState::Terminated,
            FiberState::Running => return cx.throw(ThrowKind::Throw, this, Value::NIL),
            FiberState::Suspended => {
                if let Err(Exc) = cx.throw::<Value>(ThrowKind::Throw, this, Value::NIL) {
                    let t = cx.take_pending();
                    cx.fiber_raise(this, t)?;
                }
            }
        }
        Ok(this)
    }

    /// The running fiber.
    ///
    ///     Fiber.current.alive?   #=> true
    #[method("current", singleton)]
    fn current_(cx: &mut Cx, _this: Value) -> Value {
        current(cx)
    }

    /// A variable of the running fiber, inherited by the fibers that it makes.
    ///
    ///     Fiber[:id] = 7; Fiber.new { Fiber[:id] }.resume   #=> 7
    #[method("[]", singleton)]
    fn get(cx: &mut Cx, _this: Value, key: Value) -> Result<Value> {
        let key = check_key(cx, key)?;
        let me = current(cx);
        let s = cx.data_ref::<FiberData>(me)?.storage;
        match Ref::<HashCell>::from_value(s) {
            Some(h) => Ok(cx.hash_get(h, key)?.unwrap_or(Value::NIL)),
            None => Ok(Value::NIL),
        }
    }

    /// Sets a variable of the running fiber; nil removes it.
    ///
    ///     Fiber[:a] = 1   #=> 1
    #[method("[]=", singleton)]
    fn set(cx: &mut Cx, _this: Value, key: Value, value: Value) -> Result<Value> {
        let key = check_key(cx, key)?;
        let me = current(cx);
        let mut s = cx.data_ref::<FiberData>(me)?.storage;
        if s.is_nil() {
            if value.is_nil() {
                return Ok(value);
            }
            s = cx.new_hash().as_value();
            cx.data_mut::<FiberData>(me)?.storage = s;
        }
        let h = cx.to_hash(s)?;
        if value.is_nil() {
            cx.hash_delete(h, key)?;
        } else {
            cx.hash_set(h, key, value)?;
        }
        Ok(value)
    }

    /// A copy of the fiber's variables; only the running fiber may ask.
    ///
    ///     Fiber.new(storage: {a: 1}) { Fiber.current.storage }.resume   #=> {a: 1}
    #[method("storage")]
    fn storage(cx: &mut Cx, this: Value) -> Result<Value> {
        own_storage(cx, this)?;
        let s = cx.data_ref::<FiberData>(this)?.storage;
        Ok(cx.copied_storage(s))
    }

    /// Replaces the variables of the running fiber.
    ///
    ///     Fiber.new { Fiber.current.storage = {b: 2}; Fiber[:b] }.resume   #=> 2
    #[method("storage=")]
    fn set_storage(cx: &mut Cx, this: Value, v: Value) -> Result<Value> {
        own_storage(cx, this)?;
        let s = check_storage(cx, v)?;
        cx.data_mut::<FiberData>(this)?.storage = s;
        Ok(v)
    }

    fn own_storage(cx: &mut Cx, this: Value) -> Result<()> {
        if current(cx) != this {
            return cx.arg_error("Fiber storage can only be accessed from the Fiber it belongs to");
        }
        Ok(())
    }

    /// Was it made with `blocking: true`?
    ///
    ///     Fiber.new {}.blocking?   #=> false
    #[method("blocking?")]
    fn blocking(cx: &mut Cx, this: Value) -> bool {
        cx.ivar_get(this, blocking_name()).truthy()
    }

    /// 1 when the running fiber is a blocking one, else false.
    ///
    ///     Fiber.new { Fiber.blocking? }.resume   #=> false
    #[method("blocking?", singleton)]
    fn current_blocking(cx: &mut Cx, _this: Value) -> Value {
        let me = current(cx);
        if cx.ivar_get(me, blocking_name()).truthy() { Value::fixnum(1) } else { Value::FALSE }
    }

    /// Runs the block with the running fiber as a blocking one.
    ///
    ///     Fiber.new { Fiber.blocking { |f| f.blocking? } }.resume   #=> true
    #[method("blocking", singleton)]
    fn with_blocking(cx: &mut Cx, _this: Value, block: Block) -> Result<Value> {
        let me = current(cx);
        let was = cx.ivar_get(me, blocking_name());
        cx.ivar_set_raw(me, blocking_name(), Value::TRUE);
        let r = cx.yield1(block, me);
        cx.ivar_set_raw(me, blocking_name(), was);
        r
    }

    /// Goes on in the fiber without becoming its resumer: it need not come back. A fiber that was transferred to ends in the
    /// thread's first code.
    ///
    ///     a = Fiber.new { |x| Fiber.yield(x); :end }; f = Fiber.new { |x| x * 2 }; f.transfer(4)   #=> 8
    #[method("transfer")]
    fn transfer(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        if args.kw {
            cx.data_mut::<FiberData>(this)?.keywords |= cx.fiber_state(this)? == FiberState::Created;
        }
        cx.fiber_transfer(this, args.all())
    }

    /// Where the block stands, and the state.
    #[method("inspect", "to_s")]
    fn inspect(cx: &mut Cx, this: Value) -> Result<String> {
        let d = cx.data_ref::<FiberData>(this)?;
        let state = match d.state {
            FiberState::Created => "created",
            FiberState::Running => "resumed",
            FiberState::Suspended => "suspended",
            FiberState::Terminated => "terminated",
        };
        let block = Block::from_value(d.block());
        let place = match cx.block_code(block) {
            Some(c) => format!(" {}:{}", c.file, c.line),
            None => String::new(),
        };
        let name = cx.any_to_s(this);
        Ok(format!("{}{place} ({state})>", name.trim_end_matches('>')))
    }
}
