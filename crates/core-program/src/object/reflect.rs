//! Methods of an object as values, lists of them, singleton classes, `extend`.

use crate::method;
use crate::module::{include, methods};
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// The object's own singleton class, if it was made.
fn own_singleton(cx: &mut Cx, this: Value) -> Option<ClassId> {
    if let Some(c) = cx.class_id(this) {
        return cx.class(c).singleton;
    }
    let s = cx.dispatch_class(this);
    (cx.class(s).kind == ClassKind::Singleton).then_some(s)
}

/// The singleton classes and their modules that stand before the first class and the modules prepended to it; that class.
fn before_class(cx: &Cx, class: ClassId) -> (Vec<ClassId>, Option<ClassId>) {
    let mut list = cx.ancestor_list(class);
    let Some(at) = list.iter().position(|c| cx.class(*c).kind == ClassKind::Class) else { return (list, None) };
    let class = list[at];
    list.truncate(cx.begin_of_group(&list, at));
    (list, Some(class))
}

/// Public and protected methods of the singleton class (and, with `modules`, of the modules in it; for a class, of its superclasses').
fn singleton_method_names(cx: &mut Cx, this: Value, modules: bool) -> Vec<Sym> {
    let mut names = methods::NameList::default();
    let s = cx.dispatch_class(this);
    if cx.class(s).kind != ClassKind::Singleton || !modules && own_singleton(cx, this).is_none() {
        return names.found;
    }
    for c in before_class(cx, s).0 {
        match cx.class(c).kind {
            ClassKind::Class => break,
            ClassKind::Singleton if modules || c == s => names.add_class(cx, c, methods::Want::PublicOrProtected),
            ClassKind::Module if modules => names.add_class(cx, c, methods::Want::PublicOrProtected),
            _ => {}
        }
    }
    names.found
}

#[ruby_class(ids::KERNEL)]
pub mod kernel {
    use super::*;

    /// The singleton class, made on first use.
    ///
    ///     String.singleton_class   #=> #<Class:String>
    #[method("singleton_class")]
    fn singleton_class(cx: &mut Cx, this: Value) -> Result<Value> {
        let c = cx.singleton_class(this)?;
        Ok(cx.class_value(c))
    }
    /// Includes modules in the singleton class.
    ///
    ///     module Hi; def hi = "hi"; end; Object.new.extend(Hi).hi   #=> "hi"
    #[method("extend", min = 1)]
    fn extend(cx: &mut Cx, this: Value, modules: Rest) -> Result<Value> {
        for m in modules {
            include::module_arg(cx, *m)?;
        }
        if this.is_fixnum() || this.as_float().is_some() || this.is_sym() {
            return cx.type_error("can't define singleton");
        }
        for m in modules.iter().rev() {
            cx.call(*m, sym::extend_object, &[this])?;
            cx.call_hook(*m, sym::extended, this)?;
        }
        Ok(this)
    }
    /// The method of a name as an object.
    ///
    ///     [1, 2].map(&10.method(:+))   #=> [11, 12]
    #[method("method")]
    fn method(cx: &mut Cx, this: Value, name: Value) -> Result<Value> {
        let name = cx.to_sym(name)?;
        method::of_object(cx, this, name, false)
    }
    /// As `method`, for public methods only.
    ///
    ///     1.public_method(:succ).call   #=> 2
    #[method("public_method")]
    fn public_method(cx: &mut Cx, this: Value, name: Value) -> Result<Value> {
        let name = cx.to_sym(name)?;
        method::of_object(cx, this, name, true)
    }
    /// A singleton method as an object.
    ///
    ///     o = Object.new; def o.one = 1; o.singleton_method(:one).call   #=> 1
    #[method("singleton_method")]
    fn singleton_method(cx: &mut Cx, this: Value, name: Value) -> Result<Value> {
        let name = cx.to_sym(name)?;
        // The singleton class and the modules in it, not the classes above.
        if let Some(s) = own_singleton(cx, this)
            && let Some(e) = cx.find_entry_from(s, name, 0)
            && before_class(cx, s).0.into_iter().any(|c| (c == s || cx.class(c).kind == ClassKind::Module) && cx.method_in(c, name).is_some_and(|v| v.as_value() == e.as_value()))
            && let Some(m) = cx.find_method(s, name)
        {
            return Ok(method::make(cx, this, m, s, name));
        }
        let shown = cx.inspect_for_error(this);
        cx.name_error(format!("undefined singleton method '{}' for '{shown}'", name.name()), name, this)
    }
    /// Names of the public and protected methods; with `false` only of the singleton methods.
    ///
    ///     1.methods.include?(:+)   #=> true
    #[method("methods")]
    fn methods(cx: &mut Cx, this: Value, all: Option<Value>) -> Value {
        let names = if all.is_none_or(|a| a.truthy()) {
            let c = cx.dispatch_class(this);
            methods::instance_names(cx, c, methods::Want::PublicOrProtected, true)
        } else {
            singleton_method_names(cx, this, false)
        };
        cx.sym_array(&names)
    }
    /// Names of the singleton methods.
    ///
    ///     o = Object.new; def o.one = 1; o.singleton_methods   #=> [:one]
    #[method("singleton_methods")]
    fn singleton_methods(cx: &mut Cx, this: Value, all: Option<Value>) -> Value {
        let names = singleton_method_names(cx, this, all.is_none_or(|a| a.truthy()));
        cx.sym_array(&names)
    }
    /// Names of the public methods.
    ///
    ///     1.public_methods.include?(:puts)   #=> false
    #[method("public_methods")]
    fn public_methods(cx: &mut Cx, this: Value, all: Option<Value>) -> Value {
        names(cx, this, methods::Want::Only(Visibility::Public), all)
    }
    /// Names of the private methods.
    ///
    ///     1.private_methods.include?(:raise)   #=> true
    #[method("private_methods")]
    fn private_methods(cx: &mut Cx, this: Value, all: Option<Value>) -> Value {
        names(cx, this, methods::Want::Only(Visibility::Private), all)
    }
    /// Names of the protected methods.
    ///
    ///     1.protected_methods   #=> []
    #[method("protected_methods")]
    fn protected_methods(cx: &mut Cx, this: Value, all: Option<Value>) -> Value {
        names(cx, this, methods::Want::Only(Visibility::Protected), all)
    }
    fn names(cx: &mut Cx, this: Value, want: methods::Want, all: Option<Value>) -> Value {
        let c = cx.dispatch_class(this);
        if all.is_none_or(|a| a.truthy()) {
            let list = methods::instance_names(cx, c, want, true);
            return cx.sym_array(&list);
        }
        // What is singleton, and the object's class.
        let mut list = methods::NameList::default();
        let (before, class) = before_class(cx, c);
        for k in before.into_iter().chain(class) {
            list.add_class(cx, k, want);
        }
        cx.sym_array(&list.found)
    }
    /// Defines a singleton method from a block, Proc or Method.
    ///
    ///     o = Object.new; o.define_singleton_method(:twice) { |n| n * 2 }; o.twice(4)   #=> 8
    #[method("define_singleton_method")]
    fn define_singleton_method(cx: &mut Cx, this: Value, name: Value, body: Option<Value>, block: Block) -> Result<Value> {
        let name = cx.to_sym(name)?;
        if this.is_cell() {
            super::super::copy::check_not_frozen(cx, this)?;
        }
        let c = cx.singleton_class(this)?;
        methods::define_method(cx, c, name, body, block, Visibility::Public)
    }
}
