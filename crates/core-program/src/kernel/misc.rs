//! Functions of Kernel that belong nowhere else, and the methods of `main`.

use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// What programs ask about the interpreter.
///
/// The engine is "ruby": gems take a branch for each engine that their authors know, and what the branch for CRuby expects is true here (threads of a VM run one
/// at a time). Who wants to know it asks ZAKURO_VERSION or RUBY_DESCRIPTION; `ZAKURO_ENGINE=zakuro` tells the name.
fn version_constants(cx: &mut Cx) {
    let platform = format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS);
    let description = format!("zakuro {} (ruby 4.0.0) +PRISM [{platform}]", env!("CARGO_PKG_VERSION"));
    let texts = [
        ("RUBY_VERSION", "4.0.0"),
        ("RUBY_RELEASE_DATE", "2025-12-25"),
        ("RUBY_PLATFORM", &platform),
        ("RUBY_ENGINE", "ruby"),
        ("RUBY_ENGINE_VERSION", "4.0.0"),
        ("RUBY_COPYRIGHT", "zakuro - Copyright (C) the Zakuro developers"),
        ("RUBY_DESCRIPTION", &description),
        ("RUBY_REVISION", "0"),
    ];
    // Each is RUBY_X and Ruby::X, one object.
    for (name, text) in texts {
        let v = cx.frozen_str(text);
        cx.const_set(ids::OBJECT, Sym::intern(name), v);
        cx.const_set(ids::RUBY, Sym::intern(&name["RUBY_".len()..]), v);
    }
    let own = cx.frozen_str(env!("CARGO_PKG_VERSION"));
    cx.const_set(ids::OBJECT, Sym::intern("ZAKURO_VERSION"), own);
    cx.const_set(ids::OBJECT, Sym::intern("RUBY_PATCHLEVEL"), Value::fixnum(0));
    cx.const_set(ids::RUBY, Sym::intern("PATCHLEVEL"), Value::fixnum(0));
}

/// The VM tells another name of its engine than "ruby".
pub fn name_engine(cx: &mut Cx, engine: &str) {
    for (name, text) in [("ENGINE", engine), ("ENGINE_VERSION", env!("CARGO_PKG_VERSION"))] {
        let v = cx.frozen_str(text);
        for (module, name) in [(ids::OBJECT, format!("RUBY_{name}")), (ids::RUBY, name.to_string())] {
            cx.const_remove(module, Sym::intern(&name));
            cx.const_set(module, Sym::intern(&name), v);
        }
    }
}

/// The singleton methods of `main`. Every VM's main object starts with the shape that the boot image's has then.
pub fn setup(cx: &mut Cx) {
    version_constants(cx);
    let main = cx.main;
    let Ok(class) = cx.singleton_class(main) else { return };
    for row in main::METHODS {
        let vis = if row.vis == builtin::Vis::Public { Visibility::Public } else { Visibility::Private };
        for name in row.names {
            let (name, body) = (Sym::intern(name), row as *const MethodRow as usize);
            let m = MethodCell::make(&cx.heap, name, class, vis, MethodKind::Native, Value::NIL, body, Value::NIL);
            cx.add_method(class, name, m);
        }
    }
}

/// Methods of `main`.
#[ruby_class(ids::OBJECT)]
mod main {
    use super::*;
    use crate::module::{include, methods, visibility};

    /// The text `main`.
    #[method("to_s", "inspect")]
    fn to_s(cx: &Cx, _this: Value) -> Value {
        cx.str("main")
    }
    /// Object, or the module that the running file was loaded into: `main` is a copy there.
    fn top(cx: &mut Cx, this: Value, method: &str) -> Result<ClassId> {
        let mut top = ids::OBJECT;
        if this != cx.main {
            let mut at = Ref::<CrefCell>::from_value(cx.current_cref());
            while let Some(c) = at {
                at = Ref::from_value(c.parent);
                if at.is_some() {
                    top = cx.class_id(c.class).unwrap_or(top);
                }
            }
            if cx.is_verbose() {
                cx.warn_here(&format!("main.{method} in the wrapped load is effective only in wrapper module"))?;
            }
        }
        Ok(top)
    }
    /// Includes modules in Object.
    #[method("include", private, min = 1)]
    fn include(cx: &mut Cx, this: Value, modules: Rest) -> Result<Value> {
        let top = top(cx, this, "include")?;
        let object = cx.class_value(top);
        include::add_modules(cx, object, modules, sym::append_features, sym::included)
    }
    /// Makes methods of Object public: the named ones, or those that follow.
    #[method("public", private)]
    fn public(cx: &mut Cx, this: Value, names: Rest) -> Result<Value> {
        let top = top(cx, this, "public")?;
        visibility::change(cx, top, names, Visibility::Public)
    }
    /// Makes methods of Object private.
    #[method("private", private)]
    fn private(cx: &mut Cx, this: Value, names: Rest) -> Result<Value> {
        let top = top(cx, this, "private")?;
        visibility::change(cx, top, names, Visibility::Private)
    }
    /// Defines a method of Object.
    #[method("define_method", private)]
    fn define_method(cx: &mut Cx, this: Value, name: Value, body: Option<Value>, block: Block) -> Result<Value> {
        let name = cx.to_sym(name)?;
        let top = top(cx, this, "define_method")?;
        methods::define_method(cx, top, name, body, block, Visibility::Public)
    }
    /// As `Module#ruby2_keywords`, for methods of Object.
    #[method("ruby2_keywords", private)]
    fn ruby2_keywords(cx: &mut Cx, this: Value, names: Rest) -> Result<Value> {
        let top = top(cx, this, "ruby2_keywords")?;
        methods::module::ruby2_keywords(cx, top, names)
    }
    /// Activates the refinements of a module in the rest of the file.
    #[method("using", private)]
    fn using(cx: &mut Cx, this: Value, module: Value) -> Result<Value> {
        // An eval with TOPLEVEL_BINDING has no program around it.
        let outermost = Ref::<CrefCell>::from_value(cx.current_cref()).is_none_or(|c| c.parent.is_nil());
        let permitted = match cx.scope_kind() {
            zakuro_bytecode::CodeKind::Program => true,
            zakuro_bytecode::CodeKind::Eval => outermost,
            _ => false,
        };
        if !permitted || cx.current_self() != this {
            return cx.raise(ids::RUNTIME_ERROR, "main.using is permitted only at toplevel");
        }
        crate::module::refine::using(cx, module)?;
        Ok(this)
    }
}

#[ruby_class(ids::KERNEL)]
pub mod kernel {
    use super::*;

    /// A Hash of the argument by `to_hash`; nil and the empty Array give an empty one.
    ///
    ///     [Hash(nil), Hash([]), Hash({a: 1})]   #=> [{}, {}, {a: 1}]
    #[method("Hash", module_function)]
    fn hash(cx: &mut Cx, _this: Value, v: Value) -> Result<Value> {
        if v.is_nil() || Ref::<ArrayCell>::from_value(v).is_some_and(|a| a.is_empty()) {
            return Ok(cx.new_hash().as_value());
        }
        match cx.try_hash(v)? {
            Some(h) => Ok(h.as_value()),
            None => {
                let c = cx.class_name_of(v);
                cx.type_error(format!("can't convert {c} into Hash"))
            }
        }
    }
    /// Has a file required when a constant is first read.
    #[method("autoload", module_function)]
    fn autoload(cx: &mut Cx, _this: Value, name: Value, path: Value) -> Result<Value> {
        let holder = scope_class(cx)?;
        crate::module::set_autoload(cx, holder, name, path)
    }
    /// The file that `autoload` registered for a constant.
    #[method("autoload?", module_function)]
    fn autoload_p(cx: &mut Cx, _this: Value, name: Value, inherit: Option<Value>) -> Result<Value> {
        let holder = scope_class(cx)?;
        crate::module::autoload_path(cx, holder, name, inherit.is_none_or(|i| i.truthy()))
    }
    /// Innermost module around the caller; the class of an object whose `instance_eval` runs.
    fn scope_class(cx: &mut Cx) -> Result<ClassId> {
        let mut class = cx.default_definee()?;
        while cx.class(class).kind == ClassKind::Singleton
            && let Some(up) = cx.class(class).superclass
        {
            class = up;
        }
        Ok(class)
    }
}
