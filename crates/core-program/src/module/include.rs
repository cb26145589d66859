//! Ancestors: include, prepend, extend and their hooks.

use crate::object::copy::check_not_frozen;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// A module (not a class) given to include, prepend or extend.
pub fn module_arg(cx: &mut Cx, v: Value) -> Result<ClassId> {
    match cx.class_id(v) {
        Some(c) if cx.refined_class(c).is_some() => cx.type_error("wrong argument type Refinement (expected Module)"),
        Some(c) if cx.class(c).kind == ClassKind::Module => Ok(c),
        Some(_) => cx.type_error("wrong argument type Class (expected Module)"),
        None => {
            let c = cx.class_name_of(v);
            cx.type_error(format!("wrong argument type {c} (expected Module)"))
        }
    }
}

fn values(cx: &mut Cx, list: Vec<ClassId>) -> Value {
    cx.array_of(list.into_iter().map(|c| cx.class_value(c)))
}

/// `include` and `prepend`: the work is done by the module's own hooks.
pub fn add_modules(cx: &mut Cx, this: Value, modules: &[Value], work: Sym, hook: Sym) -> Result<Value> {
    for m in modules {
        if cx.class_id(*m).is_some_and(|c| cx.refined_class(c).is_some()) {
            let verb = if hook == sym::included { "include" } else { "prepend" };
            return cx.type_error(format!("Cannot {verb} refinement"));
        }
        module_arg(cx, *m)?;
    }
    for m in modules.iter().rev() {
        cx.call(*m, work, &[this])?;
        cx.call_hook(*m, hook, this)?;
    }
    Ok(this)
}

#[ruby_class(ids::MODULE)]
pub mod module {
    use super::*;

    /// The module, what it prepends and includes, its superclass and so on, in the order of method lookup.
    ///
    ///     Integer.ancestors.first(3)   #=> [Integer, Numeric, Comparable]
    #[method("ancestors")]
    fn ancestors(cx: &mut Cx, this: ClassId) -> Value {
        let list = cx.ancestor_list(this);
        values(cx, list)
    }
    /// The modules among the ancestors.
    ///
    ///     String.included_modules.first   #=> Comparable
    #[method("included_modules")]
    fn included_modules(cx: &mut Cx, this: ClassId) -> Value {
        let list = cx.ancestors(this).filter(|c| *c != this && cx.class(*c).kind == ClassKind::Module).collect();
        values(cx, list)
    }
    /// Whether a module is among the ancestors.
    ///
    ///     String.include?(Comparable)   #=> true
    #[method("include?")]
    fn has(cx: &mut Cx, this: ClassId, module: Value) -> Result<bool> {
        let m = module_arg(cx, module)?;
        Ok(m != this && cx.inherits(this, m))
    }
    /// Puts modules behind this one in the order of method lookup.
    ///
    ///     class Sz; include Comparable; end; Sz.ancestors.first(2)   #=> [Sz, Comparable]
    #[method("include", min = 1)]
    fn include(cx: &mut Cx, this: Value, modules: Rest) -> Result<Value> {
        add_modules(cx, this, modules, sym::append_features, sym::included)
    }
    /// Puts modules before this one in the order of method lookup.
    ///
    ///     module Loud; def to_s = super.upcase; end; class Who; def to_s = "me"; prepend Loud; end; Who.new.to_s   #=> "ME"
    #[method("prepend", min = 1)]
    fn prepend(cx: &mut Cx, this: Value, modules: Rest) -> Result<Value> {
        add_modules(cx, this, modules, Sym::intern("prepend_features"), sym::prepended)
    }
    /// What `include` does with this module: adds it to the other's ancestors.
    #[method("append_features", private)]
    fn append_features(cx: &mut Cx, this: Value, target: ClassId) -> Result<Value> {
        let m = module_arg(cx, this)?;
        let o = cx.class_value(target);
        check_not_frozen(cx, o)?;
        cx.include_module(target, m)?;
        Ok(this)
    }
    /// What `prepend` does with this module.
    #[method("prepend_features", private)]
    fn prepend_features(cx: &mut Cx, this: Value, target: ClassId) -> Result<Value> {
        let m = module_arg(cx, this)?;
        let o = cx.class_value(target);
        check_not_frozen(cx, o)?;
        cx.prepend_module(target, m)?;
        Ok(this)
    }
    /// What `extend` does with this module: adds it to the object's singleton class.
    #[method("extend_object", private)]
    fn extend_object(cx: &mut Cx, this: Value, object: Value) -> Result<Value> {
        let m = module_arg(cx, this)?;
        // The singleton class of nil, true and false is their class, which is not frozen as they are.
        if !matches!(object, Value::NIL | Value::TRUE | Value::FALSE) {
            check_not_frozen(cx, object)?;
        }
        let s = cx.singleton_class(object)?;
        cx.include_module(s, m)?;
        Ok(object)
    }
}
