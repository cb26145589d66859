//! Class: allocation, `new`, inheritance.

use super::eval;
use zakuro_macros::ruby_class;
use zakuro_core_base::allocate::{allocate, is_blank};
use zakuro_vm::*;

fn superclass_arg(cx: &mut Cx, v: Value) -> Result<ClassId> {
    match cx.class_id(v) {
        Some(c) if cx.class(c).kind != ClassKind::Module => Ok(c),
        _ => {
            let what = cx.class_name_of(v);
            cx.type_error(format!("superclass must be an instance of Class (given an instance of {what})"))
        }
    }
}

#[ruby_class(ids::CLASS)]
pub mod class {
    use super::*;

    /// A new anonymous class; the block is its body.
    ///
    ///     Class.new(Array) { def second = self[1] }.new([1, 2]).second   #=> 2
    #[method("new", singleton)]
    fn new_class(cx: &mut Cx, this: ClassId, superclass: Option<Value>, block: Block) -> Result<Value> {
        if cx.class(this).kind == ClassKind::Singleton {
            return cx.type_error("can't create instance of singleton class");
        }
        let sup = match superclass {
            Some(s) => superclass_arg(cx, s)?,
            None => ids::OBJECT,
        };
        let id = cx.new_subclass(sup)?;
        let v = cx.class_value(id);
        let up = cx.class_value(sup);
        cx.call_hook(up, sym::inherited, v)?;
        if block.is_some() {
            eval::module_exec(cx, v, &[v], false, block)?;
        }
        Ok(v)
    }
    /// A new instance: allocates it and calls `initialize` with the arguments and the block.
    ///
    ///     class Pnt; def initialize(x) = @x = x; attr_reader :x; end; Pnt.new(3).x   #=> 3
    #[method("new")]
    fn new(cx: &mut Cx, this: ClassId, args: Args) -> Result<Value> {
        if cx.class(this).alloc == Alloc::None && !is_blank(cx, this) {
            let (v, n) = (cx.class_value(this), sym::new);
            return cx.no_method_error(v, n, args.all(), interp::MissReason::None);
        }
        let object = allocate(cx, this)?;
        let Some(m) = cx.find_method(this, sym::initialize) else {
            return cx.no_method_error(object, sym::initialize, &[], interp::MissReason::None);
        };
        // It takes no arguments, and says so from its own frame. A module's does nothing without a block.
        let does_nothing = m.owner == ids::BASIC_OBJECT || m.owner == ids::MODULE && args.block.is_none();
        if does_nothing && m.method_kind() == MethodKind::Native && args.is_empty() && cx.tracing == 0 {
            return Ok(object);
        }
        cx.call_told(m, object, sym::initialize, args.all(), args.kw, args.block)?;
        Ok(object)
    }
    /// A new instance without calling `initialize`.
    ///
    ///     Array.allocate   #=> []
    #[method("allocate")]
    fn allocate_(cx: &mut Cx, this: ClassId) -> Result<Value> {
        // Their own `allocate` is undefined; who has this one gets a zero.
        if this == ids::RATIONAL || this == ids::COMPLEX {
            let (main, name) = (cx.main, Sym::intern(if this == ids::RATIONAL { "Rational" } else { "Complex" }));
            return cx.call(main, name, &[Value::fixnum(0)]);
        }
        allocate(cx, this)
    }
    /// The class that this one inherits from; nil for BasicObject.
    ///
    ///     [Integer.superclass, BasicObject.superclass]   #=> [Numeric, nil]
    #[method("superclass")]
    fn superclass(cx: &mut Cx, this: ClassId) -> Result<Value> {
        match cx.visible_superclass(this) {
            Some(s) => Ok(cx.class_value(s)),
            None if is_blank(cx, this) => cx.type_error("uninitialized class"),
            None => Ok(Value::NIL),
        }
    }
    /// Gives a class that was only allocated its superclass and its body.
    ///
    ///     c = Class.allocate; c.send(:initialize, String); c.new("x")   #=> "x"
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: ClassId, superclass: Option<Value>, block: Block) -> Result<Value> {
        if !is_blank(cx, this) {
            return cx.type_error("already initialized class");
        }
        let sup = match superclass {
            Some(s) => superclass_arg(cx, s)?,
            None => ids::OBJECT,
        };
        cx.check_superclass(sup)?;
        cx.initialize_class(this, sup);
        let (v, up) = (cx.class_value(this), cx.class_value(sup));
        cx.call_hook(up, sym::inherited, v)?;
        if block.is_some() {
            eval::module_exec(cx, v, &[v], false, block)?;
        }
        Ok(v)
    }
    /// The classes that inherit directly from this one.
    ///
    ///     class Ani; end; class Dog < Ani; end; Ani.subclasses   #=> [Dog]
    #[method("subclasses")]
    fn subclasses(cx: &Cx, this: ClassId) -> Value {
        let below = |d: &&ClassId| cx.class(**d).kind == ClassKind::Class && cx.class(**d).superclass == Some(this);
        cx.array_of(cx.class(this).dependents.iter().rev().filter(below).map(|d| cx.class_value(*d)))
    }
    /// The object that a singleton class belongs to.
    ///
    ///     String.singleton_class.attached_object   #=> String
    #[method("attached_object")]
    fn attached_object(cx: &mut Cx, this: ClassId) -> Result<Value> {
        if cx.class(this).kind != ClassKind::Singleton {
            let n = cx.class_name(this);
            return cx.type_error(format!("'{n}' is not a singleton class"));
        }
        Ok(cx.attached(this))
    }
    /// Hook: a class inherited from this one. Does nothing.
    #[method("inherited", private)]
    fn inherited(_this: Value, _class: Value) -> Value {
        Value::NIL
    }
}
