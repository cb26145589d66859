//! Running a block or a text in another object or module: instance_eval, instance_exec, class_eval, class_exec.
//!
//! A block keeps its lexical scope for constants and class variables; only `self` and the place where `def` puts methods change. So the
//! frame gets a copy of its home's method cell with a scope that differs in `definee`. The singleton class that `def` in an
//! instance_eval needs is made when something is defined, not before: DSLs call instance_eval often and define nothing.

use crate::kernel::eval::{Source, eval_source};
use zakuro_macros::ruby_class;
use zakuro_vm::frame::Frame;
use zakuro_vm::*;

/// What a text is evaluated for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Instance,
    Module,
}

/// Method cell of the frame that a block was written in; None for Procs that are not literal blocks.
fn home_method(block: Block) -> Option<Ref<MethodCell>> {
    if let Some(rec) = block.record() {
        // SAFETY: a block record [code, home frame] is valid while the block may be called.
        let me = unsafe { (*((*rec.add(1)).bits() as *const Frame)).me };
        return Ref::from_value(me);
    }
    let p = block.proc()?;
    if p.proc_kind() == ProcKind::Block { Ref::from_value(p.me) } else { None }
}

/// A copy of a method cell with another place for definitions.
fn with_definee(cx: &mut Cx, m: Ref<MethodCell>, definee: Value) -> Value {
    let cref = match Ref::<CrefCell>::from_value(m.cref) {
        // The scope of a text that instance_eval ran is an object's; a block in it keeps the constants of that object's singleton class.
        Some(c) if c.definee == Value::FALSE => {
            let class = match cx.singleton_class(c.class) {
                Ok(class) => cx.class_value(class),
                // A number has none: nothing can be defined there.
                Err(Exc) => {
                    cx.take_pending();
                    c.class
                }
            };
            cx.new_cref(class, c.parent)
        }
        Some(c) => cx.new_cref(c.class, c.parent),
        None => {
            let object = cx.class_value(ids::OBJECT);
            cx.new_cref(object, Value::NIL)
        }
    };
    if let Some(c) = Ref::<CrefCell>::from_value(cref) {
        c.set_definee(definee);
        c.set_refinements(Ref::<CrefCell>::from_value(m.cref).map_or(Value::NIL, |h| h.refinements));
    }
    let copy = cx.copy_method(m, m.called, m.owner, m.visibility());
    copy.set_cref(cref);
    copy.as_value()
}

fn exec(cx: &mut Cx, self_: Value, definee: Value, args: &[Value], kw: bool, block: Block) -> Result<Value> {
    match home_method(block) {
        Some(m) => {
            let me = with_definee(cx, m, definee);
            cx.yield_full(block, args, kw, Block::NONE, Some((self_, me)))
        }
        None => cx.yield_full(block, args, kw, Block::NONE, None),
    }
}

/// Runs a block with another `self`.
pub fn instance_exec(cx: &mut Cx, self_: Value, args: &[Value], kw: bool, block: Block) -> Result<Value> {
    exec(cx, self_, Value::TRUE, args, kw, block)
}

/// Runs a block as a part of a module's body.
pub fn module_exec(cx: &mut Cx, module: Value, args: &[Value], kw: bool, block: Block) -> Result<Value> {
    exec(cx, module, module, args, kw, block)
}

/// Runs the block of `refine`: the module's refinements are active in it.
pub fn refine_exec(cx: &mut Cx, refinement: Value, own: Ref<ArrayCell>, block: Block) -> Result<()> {
    if let Some(m) = home_method(block) {
        // The module's, also those that are still to come, and behind them what is active around.
        let mut active = own.as_value();
        if let Some(around) = cx.active_refinements(m.cref) {
            let mut all = RootedVec::of(cx, own);
            let others = RootedVec::of(cx, around);
            all.extend(others.iter().filter(|r| !own.elements(&cx.heap).contains(r)));
            active = cx.array(&all);
        }
        let me = with_definee(cx, m, refinement);
        if let Some(c) = Ref::<MethodCell>::from_value(me).and_then(|m| Ref::<CrefCell>::from_value(m.cref)) {
            c.set_refinements(active);
        }
        cx.yield_full(block, &[], false, Block::NONE, Some((refinement, me)))?;
    }
    Ok(())
}

/// Runs a text: arguments (string, file, line).
pub fn eval_text(cx: &mut Cx, this: Value, args: Args, target: Target) -> Result<Value> {
    if args.is_empty() {
        return cx.arg_error("wrong number of arguments (given 0, expected 1..3)");
    }
    if args.len() > 3 {
        return cx.arity_error(args.len(), 1, Some(3));
    }
    let Some(f) = cx.ruby_frame() else { return cx.raise(ids::RUNTIME_ERROR, "no frame to evaluate in") };
    let scope = cx.frame_scope(f);
    // SAFETY: a live Ruby frame.
    let home: Ref<MethodCell> = Ref::of(unsafe { (*f).me });
    let me = match target {
        Target::Instance | Target::Module => {
            let cref = cx.new_cref(this, home.cref);
            if target == Target::Instance
                && let Some(c) = Ref::<CrefCell>::from_value(cref)
            {
                c.set_definee(Value::FALSE);
            }
            let copy = cx.copy_method(home, home.called, home.owner, home.visibility());
            copy.set_cref(cref);
            copy.as_value()
        }
    };
    let source = Source::from_args(cx, args.get(0), args.get(1), args.get(2))?;
    Ok(eval_source(cx, &source, scope, this, me)?.0)
}

#[ruby_class(ids::MODULE)]
pub mod module {
    use super::*;

    /// Runs a block or a text as a part of the module's body.
    ///
    ///     String.class_eval { self }   #=> String
    #[method("module_eval", "class_eval")]
    fn module_eval(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        if args.block.is_some() {
            if !args.is_empty() {
                return cx.arity_error(args.len(), 0, Some(0));
            }
            return module_exec(cx, this, &[this], false, args.block);
        }
        eval_text(cx, this, args, Target::Module)
    }
    /// As `class_eval` with a block that gets the arguments.
    ///
    ///     Class.new.class_exec(:a) { |n| attr_reader n }   #=> [:a]
    #[method("module_exec", "class_exec")]
    fn module_exec_(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        if args.block.is_none() {
            return cx.raise(ids::LOCAL_JUMP_ERROR, "no block given (yield)");
        }
        module_exec(cx, this, args.all(), args.kw, args.block)
    }
}
