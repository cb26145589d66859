//! `trace_var`: blocks that run when a global variable is assigned.

use zakuro_macros::ruby_class;
use zakuro_vm::*;

pub static TABLE: &[MethodRow] = kernel::METHODS;

fn global_name(cx: &mut Cx, v: Value) -> Result<Sym> {
    let name = cx.to_sym(v)?;
    if !name.bytes().starts_with(b"$") {
        return cx.name_error(format!("'{}' is not allowed as a global variable name", name.name()), name, Value::NIL);
    }
    Ok(name)
}

#[ruby_class(ids::KERNEL)]
mod kernel {
    use super::*;

    /// Runs the block (a Proc, or the text of one) with the new value at every assignment of a global variable.
    ///
    ///     r = []; trace_var(:$traced_doc) { |v| r << v }; $traced_doc = 5; untrace_var(:$traced_doc); r   #=> [5]
    #[method("trace_var", module_function, min = 1, max = 2)]
    fn trace_var(cx: &mut Cx, _this: Value, args: Args) -> Result<Value> {
        let Some(name) = args.get(0) else { return cx.arity_error(0, 1, Some(2)) };
        let command = match args.get(1) {
            Some(Value::NIL) => return untrace(cx, name, None),
            Some(c) => c,
            None if args.block.is_none() => return cx.arg_error("tried to create Proc object without a block"),
            None => cx.block_to_proc(args.block).as_value(),
        };
        let name = global_name(cx, name)?;
        cx.global_traces.get_or_insert_default().entry(name).or_insert_with(TracedVec::new).insert(0, command);
        Ok(Value::NIL)
    }
    /// Takes a trace, or all, off a global variable; returns them.
    #[method("untrace_var", module_function, min = 1, max = 2)]
    fn untrace_var(cx: &mut Cx, _this: Value, args: Args) -> Result<Value> {
        let Some(name) = args.get(0) else { return cx.arity_error(0, 1, Some(2)) };
        untrace(cx, name, args.get(1))
    }
    fn untrace(cx: &mut Cx, name: Value, command: Option<Value>) -> Result<Value> {
        let name = global_name(cx, name)?;
        let mut gone = RootedVec::new(cx);
        let list = cx.global_traces.as_mut().and_then(|t| t.get_mut(&name));
        let Some(list) = list else {
            return match cx.global_defined(name) {
                true => Ok(if command.is_some() { Value::NIL } else { cx.array(&[]) }),
                false => cx.name_error(format!("undefined global variable {}", name.name()), name, Value::NIL),
            };
        };
        gone.extend(list.iter().filter(|v| command.is_none_or(|c| **v == c)));
        list.retain(|v| command.is_some_and(|c| *v != c));
        if command.is_some() && gone.is_empty() {
            return Ok(Value::NIL);
        }
        Ok(cx.array(&gone))
    }
}
