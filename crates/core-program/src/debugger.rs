//! What the gem debug expects of its extension (`debug/debug`): the running frames with their bindings, and what it asks of InstructionSequences. Nothing of it
//! is there until that is required.
//!
//! From then on the VM compiles sources so that each local variable can be set through a binding of its frame (`Options::keep_locals`); of those that were compiled before, a debugger sees copies
//! unless the scope mentions `binding`.

use crate::iseq::{self, Iseq};
use crate::proc::binding;
use std::collections::HashSet;
use std::sync::Arc;
use zakuro_bytecode::Code;
use zakuro_core_base::exception::location::Loc;
use zakuro_macros::ruby_class;
use zakuro_vm::library::Feature;
use zakuro_vm::*;

pub static TABLES: &[&[MethodRow]] = &[];
pub fn setup(_cx: &mut Cx) {}

pub static FEATURES: &[(&str, Feature)] = &[("debug/debug", load)];

fn code(cx: &mut Cx, this: Value) -> Result<Arc<Code>> {
    cx.data_ref::<Iseq>(this)?;
    match iseq::code(cx, this) {
        Some(c) => Ok(c),
        None => cx.type_error("uninitialized InstructionSequence"),
    }
}

/// A Code and those in it, each once.
fn collect(code: &Arc<Code>, seen: &mut HashSet<usize>, out: &mut Vec<Arc<Code>>) {
    if seen.insert(Arc::as_ptr(code) as usize) {
        out.push(code.clone());
        code.children.iter().filter(|c| !c.of_symbol).for_each(|c| collect(c, seen, out));
    }
}

fn all_codes(cx: &Cx) -> Vec<Arc<Code>> {
    let (mut seen, mut out) = (HashSet::new(), Vec::new());
    for c in cx.all_codes() {
        if !c.file.starts_with("<internal") {
            collect(&c, &mut seen, &mut out);
        }
    }
    out
}

/// Methods of `DEBUGGER__`.
#[ruby_class(ids::OBJECT)]
mod debugger {
    use super::*;

    /// The running calls without this one, the innermost first, as `FrameInfo`s; without those whose file begins with a text (nil: all).
    #[method("capture_frames", singleton)]
    fn capture_frames(cx: &mut Cx, this: Value, without: Value) -> Result<Value> {
        let without = if without.is_nil() { None } else { Some(cx.to_str(without)?.to_text()) };
        let info = cx.call(this, Sym::intern("const_get"), &[Value::sym(Sym::intern("FrameInfo"))])?;
        let frames = cx.running_calls();
        let depth = frames.len() as i64;
        let list = cx.new_array();
        for (i, f) in frames.into_iter().enumerate().skip(1) {
            let path = match &f.code {
                Some(c) => crate::kernel::load::absolute(cx, c.file.as_bytes()).to_string_lossy().into_owned(),
                None => f.location.file.to_string(),
            };
            if without.as_ref().is_some_and(|w| path.starts_with(w.as_str())) {
                continue;
            }
            let bound = match f.frame {
                Some(frame) => {
                    let scope = cx.frame_snapshot(frame);
                    binding::make_at(cx, scope, f.self_, f.me, f.location.file.clone(), f.location.line)
                }
                None => Value::NIL,
            };
            let sequence = match f.code {
                Some(c) => iseq::make(cx, c),
                None => Value::NIL,
            };
            let class = f.class.map_or(Value::NIL, |c| cx.class_value(c));
            let location = cx.data(ids::LOCATION, Loc(f.location));
            let v = cx.call(info, sym::new, &[location, f.self_, bound, sequence, class, Value::fixnum(depth - i as i64)])?;
            ArrayCell::push(list, &mut cx.heap, v);
        }
        Ok(list.as_value())
    }
    /// How many calls run, this one included.
    #[method("frame_depth", singleton)]
    fn frame_depth(cx: &mut Cx, _this: Value) -> i64 {
        cx.locations(0).len() as i64
    }
}

#[ruby_class(ids::ISEQ)]
mod sequences {
    use super::*;

    /// The kind of code: `:top`, `:method`, `:block`, `:class`, ...
    #[method("type")]
    fn kind(cx: &mut Cx, this: Value) -> Result<Value> {
        let c = code(cx, this)?;
        Ok(Value::sym(Sym::intern(iseq::kind_name(&c))))
    }
    /// Names of the parameters that have one.
    #[method("parameters_symbols")]
    fn parameters_symbols(cx: &mut Cx, this: Value) -> Result<Value> {
        let c = code(cx, this)?;
        let all = crate::method::parameters_value(cx, &c.params.list);
        let list = cx.new_array();
        let Some(all) = Ref::<ArrayCell>::from_value(all) else { return Ok(list.as_value()) };
        let mut i = 0;
        while let Some(pair) = all.get(i).and_then(Ref::<ArrayCell>::from_value) {
            i += 1;
            if let Some(name) = pair.get(1).filter(|n| n.as_sym().is_some_and(|s| !matches!(&*s.name(), "*" | "**" | "&"))) {
                ArrayCell::push(list, &mut cx.heap, name);
            }
        }
        Ok(list.as_value())
    }
    /// The first line of the code.
    #[method("first_line")]
    fn first_line(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(code(cx, this)?.line as i64)
    }
    /// The last line of the code.
    #[method("last_line")]
    fn last_line(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(code(cx, this)?.end_line as i64)
    }
}

#[ruby_class(ids::OBJECT_SPACE)]
mod space {
    use super::*;

    /// Every sequence that the VM has, those in others included.
    #[method("each_iseq", singleton)]
    fn each_iseq(cx: &mut Cx, _this: Value, block: Block) -> Result<Value> {
        for c in all_codes(cx) {
            let v = iseq::make(cx, c);
            cx.yield1(block, v)?;
        }
        Ok(Value::NIL)
    }
    /// The number of sequences that the VM has.
    #[method("count_iseq", singleton)]
    fn count_iseq(cx: &mut Cx, _this: Value) -> i64 {
        all_codes(cx).len() as i64
    }
}

/// `require "debug/debug"`
fn load(cx: &mut Cx) -> Result<()> {
    let Some(module) = cx.const_by_path("DEBUGGER__").and_then(|v| cx.class_id(v)) else {
        return cx.raise(ids::NAME_ERROR, "uninitialized constant DEBUGGER__");
    };
    for row in debugger::METHODS {
        cx.define_native_in(row, module);
    }
    for row in sequences::METHODS {
        cx.define_native_in(row, ids::ISEQ);
    }
    for row in space::METHODS {
        cx.define_native_in(row, ids::OBJECT_SPACE);
    }
    // The gem asks whether its Ruby files and its extension are of one version.
    let version = cx.const_by_path("DEBUGGER__::VERSION").unwrap_or(Value::NIL);
    cx.const_set(module, Sym::intern("SO_VERSION"), version);
    Arc::make_mut(&mut cx.options).keep_locals = true;
    Ok(())
}
