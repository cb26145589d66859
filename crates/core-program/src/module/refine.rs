//! Refinements: `refine`, `using` and the class Refinement. How calls find refined methods is told in the VM's `refine`.

use super::{eval, include};
use zakuro_bytecode::CodeKind;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// Hidden variable of a module: Array of its refinements, in the order in which they are asked inside of `refine` blocks.
fn list_name() -> Sym {
    Sym::intern("__refinements")
}
/// Hidden variable of a refinement: the module whose `refine` made it.
fn home_name() -> Sym {
    Sym::intern("__defined_at")
}

fn own_refinements(cx: &mut Cx, module: Value) -> Option<Ref<ArrayCell>> {
    Ref::from_value(cx.ivar_get(module, list_name()))
}

/// `#<refinement:String@Shout>`; None for other modules.
pub fn describe(cx: &mut Cx, module: ClassId) -> Result<Option<String>> {
    if cx.refined_class(module).is_none() {
        return Ok(None);
    }
    let (target, object) = (cx.class(module).extra, cx.class_value(module));
    let home = cx.ivar_get(object, home_name());
    let (t, h) = (cx.inspect(target)?, cx.inspect(home)?);
    Ok(Some(format!("#<refinement:{}@{}>", t.to_text(), h.to_text())))
}

/// Activates the refinements of a module and of its ancestors in the caller's lexical scope.
pub fn using(cx: &mut Cx, module: Value) -> Result<()> {
    if cx.class_id(module).is_some_and(|m| cx.refined_class(m).is_some()) {
        return cx.arg_error("refinement object is not permitted");
    }
    let id = include::module_arg(cx, module)?;
    let mut found = RootedVec::new(cx);
    for m in cx.ancestor_list(id).into_iter().rev() {
        let object = cx.class_value(m);
        if let Some(list) = own_refinements(cx, object) {
            found.extend(list.elements(&cx.heap).iter().rev());
        }
    }
    cx.activate_refinements(&found);
    Ok(())
}

fn active(cx: &mut Cx) -> RootedVec {
    match cx.active_refinements(cx.current_cref()) {
        Some(list) => RootedVec::of(cx, list),
        None => RootedVec::new(cx),
    }
}

#[ruby_class(ids::MODULE)]
pub mod module {
    use super::*;

    /// Makes a refinement of a class: methods that only code with `using` of this module sees.
    ///
    ///     Module.new { $r = refine(String) { def shout = upcase + "!" } }; $r.target   #=> String
    #[method("refine", private)]
    fn refine(cx: &mut Cx, this: Value, target: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return cx.arg_error("no block given");
        }
        if block.proc().is_some() {
            return cx.arg_error("can't pass a Proc as a block to Module#refine");
        }
        if cx.class_id(this).is_some_and(|c| cx.class(c).kind != ClassKind::Module) {
            return cx.no_method_error(this, Sym::intern("refine"), &[target], zakuro_vm::interp::MissReason::None);
        }
        if cx.class_id(target).is_none() {
            let c = cx.class_name_of(target);
            return cx.type_error(format!("wrong argument type {c} (expected Class or Module)"));
        }
        let list = match own_refinements(cx, this) {
            Some(l) => l,
            None => {
                let l = cx.new_array();
                cx.ivar_set_raw(this, list_name(), l.as_value());
                l
            }
        };
        let known = list.elements(&cx.heap).iter().copied().find(|r| cx.class_id(*r).is_some_and(|r| cx.class(r).extra == target));
        let refinement = match known {
            Some(r) => r,
            None => {
                let r = zakuro_core_base::allocate::new_module(cx, ids::REFINEMENT);
                if let Some(id) = cx.class_id(r) {
                    cx.class_mut(id).extra = target;
                }
                cx.ivar_set_raw(r, home_name(), this);
                ArrayCell::push(list, &mut cx.heap, r);
                cx.forget_call_caches();
                r
            }
        };
        eval::refine_exec(cx, refinement, list, block)?;
        Ok(refinement)
    }
    /// Activates the refinements of a module in the rest of the class body or file.
    #[method("using", private)]
    fn using(cx: &mut Cx, this: Value, module: Value) -> Result<Value> {
        if cx.scope_kind() == CodeKind::Method {
            return cx.raise(ids::RUNTIME_ERROR, "Module#using is not permitted in methods");
        }
        if cx.current_self() != this {
            return cx.raise(ids::RUNTIME_ERROR, "Module#using is not called on self");
        }
        super::using(cx, module)?;
        Ok(this)
    }
    /// The refinements that the module defines.
    ///
    ///     Comparable.refinements   #=> []
    #[method("refinements")]
    fn refinements(cx: &mut Cx, this: Value) -> Value {
        let Some(list) = own_refinements(cx, this) else { return cx.array(&[]) };
        cx.array(list.elements(&cx.heap))
    }
    /// Modules whose refinements are active at the call, the last `using` first.
    ///
    ///     Module.used_modules   #=> []
    #[method("used_modules", singleton)]
    fn used_modules(cx: &mut Cx, _this: Value) -> Value {
        let mut out = RootedVec::new(cx);
        for r in active(cx).iter().copied() {
            let home = cx.ivar_get(r, home_name());
            if !out.contains(&home) {
                out.push(home);
            }
        }
        cx.array(&out)
    }
    /// Refinements that are active at the call.
    ///
    ///     Module.used_refinements   #=> []
    #[method("used_refinements", singleton)]
    fn used_refinements(cx: &mut Cx, _this: Value) -> Value {
        let list = active(cx);
        cx.array(&list)
    }
}

#[ruby_class(ids::REFINEMENT)]
pub mod refinement {
    use super::*;

    /// The class or module that it refines.
    ///
    ///     Module.new { $r = refine(Array) { } }; $r.target   #=> Array
    #[method("target")]
    fn target(cx: &Cx, this: ClassId) -> Value {
        cx.class(this).extra
    }
    /// Copies the methods of modules into the refinement.
    #[method("import_methods", private, min = 1)]
    fn import_methods(cx: &mut Cx, this: ClassId, modules: Rest) -> Result<Value> {
        let object = cx.class_value(this);
        let home = cx.ivar_get(object, home_name());
        let scope = own_refinements(cx, home).map_or(Value::NIL, |l| l.as_value());
        let mut ids = Vec::new();
        for m in modules.iter() {
            ids.push(include::module_arg(cx, *m)?);
        }
        for id in ids {
            let name = cx.class_name(id);
            if cx.ancestors(id).nth(1).is_some() {
                cx.warn_here(&format!("{name} has ancestors, but Refinement#import_methods doesn't import their methods"))?;
            }
            for n in cx.class(id).method_order.clone().iter() {
                let Some(m) = cx.method_in(id, n) else { continue };
                let Some(code) = Cx::method_code(m) else {
                    return cx.arg_error(format!("Can't import method which is not defined with Ruby code: {name}#{}", n.name()));
                };
                let code = std::sync::Arc::new(code.detached());
                let cref = match Ref::<CrefCell>::from_value(m.cref) {
                    Some(c) => cx.new_cref(c.class, c.parent),
                    None => Value::NIL,
                };
                if let Some(c) = Ref::<CrefCell>::from_value(cref) {
                    c.set_refinements(scope);
                }
                let copy = cx.ruby_method(n, this, m.visibility(), &code, cref);
                cx.define_method_entry(this, n, copy)?;
            }
        }
        Ok(object)
    }
    /// Refinements have no ancestors.
    #[method("include", min = 1)]
    fn include(cx: &mut Cx, _this: Value, _modules: Rest) -> Result<Value> {
        cx.type_error("Refinement#include has been removed")
    }
    /// Refinements have no ancestors.
    #[method("prepend", min = 1)]
    fn prepend(cx: &mut Cx, _this: Value, _modules: Rest) -> Result<Value> {
        cx.type_error("Refinement#prepend has been removed")
    }
}
