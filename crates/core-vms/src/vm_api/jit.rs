//! `RubyVM::JIT`: what there is of machine code (docs/jit.md).

use zakuro_macros::ruby_class;
use zakuro_vm::machine::{Leavings, compiler};
use zakuro_vm::*;

fn key(name: &str) -> Value {
    Value::sym(Sym::intern(name))
}
fn counts(cx: &mut Cx, rows: &[(&str, u64)]) -> Result<Value> {
    let h = cx.new_hash();
    for (name, n) in rows {
        cx.hash_set(h, key(name), Value::fixnum(*n as i64))?;
    }
    Ok(h.as_value())
}

#[ruby_class(ids::VM_JIT)]
pub mod jit_class {
    use super::*;

    /// Whether machine code is made of what runs often (`--jit=off` and `ZAKURO_JIT=off` say no).
    ///
    ///     [true, false].include?(RubyVM::JIT.enabled?)   #=> true
    #[method("enabled?", singleton)]
    fn is_enabled(cx: &mut Cx, _this: Value) -> bool {
        cx.options.jit.is_on() && compiler().is_some()
    }

    /// What there is of machine code. Of the process, for all its VMs: `:compiled` versions were made so far, `:replaced` of them took the place of an earlier one of the same method or block;
    /// `:refused` tells how often nothing came of it, by reason; `:waiting` requests wait; `:bytes` of machine code there are, `:limit` there may be (`--jit-memory`); `:time` is the
    /// processor time of compiling in seconds. Of this VM: `:own` is the machine code that was made for it, in bytes, `:left` how much more there may be; `:exits` tells how often the interpreter has gone
    /// on, by reason; `:rounds` how many rounds of builtins' loops blocks began themselves.
    ///
    ///     RubyVM::JIT.stat.keys   #=> [:mode, :compiled, :replaced, :refused, :waiting, :bytes, :limit, :time, :own, :left, :exits, :rounds]
    ///     RubyVM::JIT.stat[:exits].keys   #=> [:operands, :registers, :unseen, :others, :resumed, :raised, :polled, :unwound, :tried]
    ///     RubyVM::JIT.stat[:bytes] <= RubyVM::JIT.stat[:limit]   #=> true
    #[method("stat", singleton)]
    fn stat(cx: &mut Cx, _this: Value) -> Result<Value> {
        let f = compiler().map(|c| c.figures()).unwrap_or_default();
        let mode = if compiler().is_some() { cx.options.jit.name() } else { "off" };
        let refused: Vec<(&str, u64)> = f.refused.iter().map(|(why, n)| (why.as_str(), *n)).collect();
        // Reasons are texts: a Hash by String.
        let reasons = cx.new_hash();
        for (why, n) in refused {
            let why = cx.str(why);
            cx.hash_set(reasons, why, Value::fixnum(n as i64))?;
        }
        let Leavings { operands, registers, unseen, others, resumed, raised, polled, unwound, tried, rounds } = cx.leavings;
        let exits = counts(
            cx,
            &[
                ("operands", operands),
                ("registers", registers),
                ("unseen", unseen),
                ("others", others),
                ("resumed", resumed),
                ("raised", raised),
                ("polled", polled),
                ("unwound", unwound),
                ("tried", tried),
            ],
        )?;
        let asker = cx.host_handle()?.control.identity().asker.clone();
        let (own, left) = (asker.bytes(), asker.memory_left(f.limit as usize));
        let stat = cx.new_hash();
        let time = Value::float(&cx.heap, f.nanoseconds as f64 / 1e9);
        for (name, v) in [
            ("mode", key(mode)),
            ("compiled", Value::fixnum(f.compiled as i64)),
            ("replaced", Value::fixnum(f.replaced as i64)),
            ("refused", reasons.as_value()),
            ("waiting", Value::fixnum(f.waiting as i64)),
            ("bytes", Value::fixnum(f.bytes as i64)),
            ("limit", Value::fixnum(f.limit as i64)),
            ("time", time),
            ("own", Value::fixnum(own as i64)),
            ("left", Value::fixnum(left as i64)),
            ("exits", exits),
            ("rounds", Value::fixnum(rounds as i64)),
        ] {
            cx.hash_set(stat, key(name), v)?;
        }
        Ok(stat.as_value())
    }

    /// The machine code of a Method, UnboundMethod or Proc that is in force in this VM, or nil: `:bytes` of it, those of what is inlined in it included; whether it was made for this VM (`:own`) or for another one that
    /// runs the same; and how many of its instructions are prepared for anything, rather than for what they have met (`:uncertain`).
    ///
    ///     RubyVM::JIT.version(1.method(:+))   #=> nil
    ///     RubyVM::JIT.version(1) rescue $!.class   #=> TypeError
    #[method("version", singleton)]
    fn version(cx: &mut Cx, _this: Value, code: Value) -> Result<Value> {
        let is_code = Ref::<ProcCell>::from_value(code).is_some() || Ref::<MethodObjCell>::from_value(code).is_some();
        if !is_code {
            let what = cx.class_name_of(code);
            return cx.type_error(format!("wrong argument type {what} (expected Method, UnboundMethod or Proc)"));
        }
        let Some(found) = zakuro_core_program::tracepoint::code_of(cx, code).and_then(|c| cx.version_in_force(&c)) else { return Ok(Value::NIL) };
        let h = cx.new_hash();
        for (name, v) in [
            ("bytes", Value::fixnum(found.bytes as i64)),
            ("own", Value::bool(found.own)),
            ("uncertain", Value::fixnum(found.uncertain as i64)),
        ] {
            cx.hash_set(h, key(name), v)?;
        }
        Ok(h.as_value())
    }
}
