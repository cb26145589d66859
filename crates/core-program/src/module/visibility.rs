//! public, private, protected, module_function and their kin.

use super::methods::find;
use zakuro_bytecode::CodeKind;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// The method that the class has or inherits, whatever it prepends.
fn find_own(cx: &mut Cx, class: ClassId, name: Sym) -> Option<Ref<MethodCell>> {
    if let Some(refined) = cx.refined_class(class)
        && cx.method_in(class, name).is_none()
    {
        return find(cx, refined, name, true);
    }
    if cx.class(class).prepends.is_empty() {
        return find(cx, class, name, true);
    }
    let at = cx.ancestors(class).position(|c| c == class).unwrap_or(0);
    match cx.find_entry_from(class, name, at) {
        Some(m) if m.method_kind() == MethodKind::Undefined => None,
        None if cx.class(class).kind == ClassKind::Module => cx.find_method(ids::OBJECT, name),
        m => m,
    }
}

/// Changes the visibility of a method as seen from a class. An inherited one gets an entry that only says so.
pub fn set_visibility(cx: &mut Cx, class: ClassId, name: Sym, vis: Visibility) -> Result<()> {
    if cx.class(class).frozen {
        let o = cx.class_value(class);
        return cx.frozen_class_error(o);
    }
    let Some(m) = find_own(cx, class, name) else { return cx.undefined_for_class(class, name) };
    if m.visibility() == vis {
        return Ok(());
    }
    let own = cx.method_in(class, name);
    let entry = match own {
        Some(o) if o.method_kind() != MethodKind::ZSuper => cx.copy_method(o, o.called, o.owner, vis),
        _ => MethodCell::make(&cx.heap, name, class, vis, MethodKind::ZSuper, Value::NIL, 0, Value::NIL),
    };
    cx.add_method(class, name, entry);
    if own.is_some() {
        return Ok(());
    }
    if cx.class(class).kind == ClassKind::Singleton {
        let attached = cx.attached(class);
        cx.call_hook(attached, sym::singleton_method_added, Value::sym(name))
    } else {
        let object = cx.class_value(class);
        cx.call_hook(object, sym::method_added, Value::sym(name))
    }
}

/// Names given as arguments: each one, or one Array of them.
fn names_of(cx: &mut Cx, args: Rest) -> Result<Vec<Sym>> {
    let mut names = Vec::new();
    if let [one] = args
        && let Some(a) = Ref::<ArrayCell>::from_value(*one)
    {
        for n in RootedVec::of(cx, a).iter() {
            names.push(cx.to_sym(*n)?);
        }
        return Ok(names);
    }
    for n in args {
        names.push(cx.to_sym(*n)?);
    }
    Ok(names)
}

/// What `private` and the like return: their arguments.
fn result(cx: &mut Cx, args: Rest) -> Value {
    match args {
        [] => Value::NIL,
        [one] => *one,
        many => cx.array(many),
    }
}

/// `public`, `private`, `protected` with their arguments.
pub fn change(cx: &mut Cx, class: ClassId, args: Rest, vis: Visibility) -> Result<Value> {
    if args.is_empty() {
        set_default(cx, vis as u16)?;
        return Ok(Value::NIL);
    }
    for n in names_of(cx, args)? {
        set_visibility(cx, class, n, vis)?;
    }
    Ok(result(cx, args))
}

/// Visibility of the methods that follow in this class body. Inside a method it is that of the class body around the method, while that runs.
fn set_default(cx: &mut Cx, vis: u16) -> Result<()> {
    if let Some(f) = cx.ruby_frame() {
        // SAFETY: a live Ruby frame.
        let in_method = unsafe { (&*(*f).code).code.kind == CodeKind::Method };
        if in_method {
            let name = cx.current_method().name.name();
            cx.warn_here(&format!("calling {name} without arguments inside a method may not have the intended effect"))?;
        }
        cx.set_scope_visibility(vis);
    }
    Ok(())
}

fn change_singleton(cx: &mut Cx, this: Value, args: Rest, vis: Visibility) -> Result<()> {
    if cx.class_id(this).is_some_and(|c| cx.class(c).frozen) {
        return cx.frozen_class_error(this);
    }
    let s = cx.singleton_class(this)?;
    for n in names_of(cx, args)? {
        set_visibility(cx, s, n, vis)?;
    }
    Ok(())
}

#[ruby_class(ids::MODULE)]
pub mod module {
    use super::*;

    /// Makes methods public: the named ones, or those that follow.
    ///
    ///     Class.new { private; def a = 1; public; def b = 2 }.public_instance_methods(false)   #=> [:b]
    #[method("public", private)]
    fn public(cx: &mut Cx, this: ClassId, names: Rest) -> Result<Value> {
        change(cx, this, names, Visibility::Public)
    }
    /// Makes methods private.
    ///
    ///     (Class.new { private def a = 1 }.new.a rescue $!.class)   #=> NoMethodError
    #[method("private", private)]
    fn private(cx: &mut Cx, this: ClassId, names: Rest) -> Result<Value> {
        change(cx, this, names, Visibility::Private)
    }
    /// Makes methods protected.
    ///
    ///     Class.new { protected def a = 1; def b(o) = o.a }.then { |c| c.new.b(c.new) }   #=> 1
    #[method("protected", private)]
    fn protected(cx: &mut Cx, this: ClassId, names: Rest) -> Result<Value> {
        change(cx, this, names, Visibility::Protected)
    }
    /// Makes methods callable on the module itself too, and private in those who include it.
    ///
    ///     module Mth; def twice(n) = n * 2; module_function :twice; end; Mth.twice(3)   #=> 6
    #[method("module_function", private)]
    fn module_function(cx: &mut Cx, this: ClassId, names: Rest) -> Result<Value> {
        if cx.class(this).kind != ClassKind::Module {
            return cx.type_error("module_function must be called for modules");
        }
        if names.is_empty() {
            set_default(cx, 3)?;
            return Ok(Value::NIL);
        }
        let object = cx.class_value(this);
        let s = cx.singleton_class(object)?;
        for n in names_of(cx, names)? {
            let Some(m) = find(cx, this, n, true) else { return cx.undefined_for_class(this, n) };
            let copy = cx.copy_method(m, n, s, Visibility::Public);
            copy.init_name(n);
            cx.add_method(s, n, copy);
            cx.call_hook(object, sym::singleton_method_added, Value::sym(n))?;
            set_visibility(cx, this, n, Visibility::Private)?;
        }
        Ok(result(cx, names))
    }
    /// Makes singleton methods private.
    ///
    ///     (Class.new { def self.a = 1; private_class_method :a }.a rescue $!.class)   #=> NoMethodError
    #[method("private_class_method")]
    fn private_class_method(cx: &mut Cx, this: Value, names: Rest) -> Result<Value> {
        change_singleton(cx, this, names, Visibility::Private)?;
        Ok(Value::NIL)
    }
    /// Makes singleton methods public.
    ///
    ///     Class.new { class << self; private def a = 1; end; public_class_method :a }.a   #=> 1
    #[method("public_class_method")]
    fn public_class_method(cx: &mut Cx, this: Value, names: Rest) -> Result<Value> {
        change_singleton(cx, this, names, Visibility::Public)?;
        Ok(Value::NIL)
    }
}
