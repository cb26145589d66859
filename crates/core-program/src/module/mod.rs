//! Module and Class: names, comparison, hooks. `include` ancestors, `methods` method tables, `consts` constants and class variables,
//! `eval` running code in an object or module, `class` instances and inheritance.

pub mod class;
mod consts;
pub mod eval;
pub mod include;
pub mod methods;
pub mod refine;
pub mod visibility;

use zakuro_macros::ruby_class;
use zakuro_vm::classes::{is_constant_path, is_temporary};
use zakuro_vm::*;

pub static TABLES: &[&[MethodRow]] = &[
    module::METHODS,
    include::module::METHODS,
    methods::module::METHODS,
    visibility::module::METHODS,
    consts::module::METHODS,
    eval::module::METHODS,
    class::class::METHODS,
    refine::module::METHODS,
    refine::refinement::METHODS,
];

pub use self::consts::{autoload_path, set_autoload};
pub use self::methods::may_keep_keywords;

pub fn setup(cx: &mut Cx) {
    // What a program finds in CRuby because RubyGems has loaded it, and RubyGems.
    // (Pathname is part of the core library from 4.0 on.)
    for (name, feature) in [("Gem", "rubygems"), ("RbConfig", "rbconfig"), ("Pathname", "pathname"), ("SyntaxSuggest", "syntax_suggest/core_ext")] {
        let feature = cx.str(feature);
        feature.set_flags(flags::FROZEN);
        cx.const_autoload(ids::OBJECT, Sym::intern(name), feature);
    }
}

/// Names that `Module#name` has given: the same String each time. With the class, which an entry does not keep.
#[derive(Default)]
struct Names(vm::FastMap<ClassId, (Sym, Value, Value)>);
impl Trace for Names {
    /// Written out: a class is not kept by its name.
    fn trace(&self, m: &mut Marker<'_>) {
        let Names(names) = self;
        names.values().for_each(|(_, name, _class)| name.trace(m));
    }
}
impl VmState for Names {
    fn sweep(&mut self, heap: &Heap) {
        self.0.retain(|_, (_, _, class)| heap.is_marked_or_new(class.header()));
    }
}

/// The class of an operand of `<`, `<=` and so on.
fn operand(cx: &mut Cx, v: Value) -> Result<ClassId> {
    match cx.class_id(v) {
        Some(c) => Ok(c),
        None => cx.type_error("compared with non class/module"),
    }
}

fn below(cx: &Cx, a: ClassId, b: ClassId) -> Option<bool> {
    if cx.inherits(a, b) {
        Some(true)
    } else if cx.inherits(b, a) {
        Some(false)
    } else {
        None
    }
}

/// Gives a class another temporary name, and the classes in it that have theirs from it. `done`: they may hold each other.
fn rename(cx: &mut Cx, class: ClassId, name: Option<Sym>, done: &mut Vec<ClassId>) {
    if done.contains(&class) {
        return;
    }
    done.push(class);
    cx.class_mut(class).name = name;
    let inner: Vec<(Sym, Value)> = cx.class(class).consts.iter().map(|(n, e)| (*n, e.value)).collect();
    for (n, v) in inner {
        let Some(id) = cx.class_id(v) else { continue };
        let c = cx.class(id);
        if c.kind != ClassKind::Singleton && c.lexical_parent == Some(class) && c.name.is_none_or(is_temporary) {
            let full = name.map(|o| n.within(o));
            rename(cx, id, full, done);
        }
    }
}

/// A class's name as a String: in the encoding of the source that it stands in, if that is another than UTF-8.
fn text_of(cx: &Cx, name: Sym) -> Value {
    let own = !name.bytes().is_ascii() && name.encoding() != string::UTF8;
    if own { cx.str_bytes(name.bytes(), name.encoding()) } else { cx.str_plain(name.bytes()) }
}

#[ruby_class(ids::MODULE)]
mod module {
    use super::*;

    /// Runs the block, if any, as the module's body.
    ///
    ///     Module.new { def hi = "hi" }.instance_methods   #=> [:hi]
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_some() {
            eval::module_exec(cx, this, &[this], false, block)?;
        }
        Ok(this)
    }
    /// The name, nil while anonymous.
    ///
    ///     [String.name, Module.new.name]   #=> ["String", nil]
    #[method("name")]
    fn name(cx: &mut Cx, this: ClassId) -> Value {
        match cx.class(this).name {
            Some(n) => {
                let known = cx.state::<Names>().0.get(&this).copied();
                if let Some((name, text, _)) = known
                    && name == n
                {
                    return text;
                }
                let v = text_of(cx, n);
                v.set_flags(flags::FROZEN);
                let class = cx.class_value(this);
                cx.state::<Names>().0.insert(this, (n, v, class));
                v
            }
            None => Value::NIL,
        }
    }
    /// The name, or a text with the address while anonymous.
    ///
    ///     Comparable.to_s          #=> "Comparable"
    ///     String.singleton_class.inspect   #=> "#<Class:String>"
    #[method("to_s", "inspect")]
    fn to_s(cx: &mut Cx, this: ClassId) -> Result<Value> {
        let d = cx.class(this);
        if d.kind == ClassKind::Singleton && cx.class_id(d.attached).is_none() {
            let a = cx.attached(this);
            let s = cx.any_to_s(a);
            return Ok(cx.str(&format!("#<Class:{s}>")));
        }
        if let Some(text) = refine::describe(cx, this)? {
            return Ok(cx.str(&text));
        }
        if let Some(name) = cx.class(this).name.filter(|_| cx.class(this).kind != ClassKind::Singleton) {
            return Ok(text_of(cx, name));
        }
        let n = cx.class_name(this);
        Ok(cx.str_plain(&n))
    }
    /// Gives an anonymous module a name for `inspect` until it is assigned to a constant.
    ///
    ///     Module.new.set_temporary_name("fake_name").inspect   #=> "fake_name"
    #[method("set_temporary_name")]
    fn set_temporary_name(cx: &mut Cx, this: ClassId, name: Value) -> Result<Value> {
        let object = cx.class_value(this);
        if cx.class(this).name.is_some_and(|n| !is_temporary(n)) {
            return cx.raise(ids::RUNTIME_ERROR, "can't change permanent name");
        }
        if name.is_nil() {
            rename(cx, this, None, &mut Vec::new());
            return Ok(object);
        }
        let s = cx.to_str(name)?;
        if s.len() == 0 {
            return cx.arg_error("empty class/module name");
        }
        let text = s.to_text();
        if is_constant_path(text.strip_prefix("::").unwrap_or(&text)) {
            return cx.arg_error("the temporary name must not be a constant path to avoid confusion");
        }
        rename(cx, this, Some(Sym::intern(&text)), &mut Vec::new());
        Ok(object)
    }
    /// Whether the object is an instance of the module or its descendants.
    ///
    ///     Integer === 3   #=> true
    #[method("===", effect = "leaf", reason = "looks at the tables of classes")]
    fn eqq(cx: &Cx, this: ClassId, other: Value) -> bool {
        cx.is_a(other, this)
    }
    /// Whether both are the same module.
    ///
    ///     String == String   #=> true
    #[method("==")]
    fn eq(this: Value, other: Value) -> bool {
        this == other
    }
    /// Whether the module inherits from or includes the other; nil when they are not related.
    ///
    ///     [Integer < Numeric, Numeric < Integer, String < Integer]   #=> [true, false, nil]
    #[method("<")]
    fn lt(cx: &mut Cx, this: ClassId, other: Value) -> Result<Option<bool>> {
        let o = operand(cx, other)?;
        Ok(if this == o { Some(false) } else { below(cx, this, o) })
    }
    /// As `<`, true for the same module.
    ///
    ///     Integer <= Integer   #=> true
    #[method("<=")]
    fn le(cx: &mut Cx, this: ClassId, other: Value) -> Result<Option<bool>> {
        let o = operand(cx, other)?;
        Ok(if this == o { Some(true) } else { below(cx, this, o) })
    }
    /// Whether the other inherits from or includes this module; nil when they are not related.
    ///
    ///     Numeric > Integer   #=> true
    #[method(">")]
    fn gt(cx: &mut Cx, this: ClassId, other: Value) -> Result<Option<bool>> {
        let o = operand(cx, other)?;
        Ok(if this == o { Some(false) } else { below(cx, o, this) })
    }
    /// As `>`, true for the same module.
    ///
    ///     Comparable >= String   #=> true
    #[method(">=")]
    fn ge(cx: &mut Cx, this: ClassId, other: Value) -> Result<Option<bool>> {
        let o = operand(cx, other)?;
        Ok(if this == o { Some(true) } else { below(cx, o, this) })
    }
    /// -1 below the other, 0 same, 1 above, nil not related.
    ///
    ///     [Integer <=> Numeric, Numeric <=> Integer, String <=> Integer]   #=> [-1, 1, nil]
    #[method("<=>")]
    fn cmp(cx: &Cx, this: ClassId, other: Value) -> Option<i64> {
        let o = cx.class_id(other)?;
        if this == o {
            return Some(0);
        }
        below(cx, this, o).map(|b| if b { -1 } else { 1 })
    }
    /// A number for Hash lookup.
    #[method("hash")]
    fn hash(cx: &Cx, this: Value) -> Value {
        cx.shown_hash(cx.identity_hash(this))
    }
    /// Makes the module unchangeable.
    ///
    ///     m = Module.new.freeze; (m.define_method(:x) { } rescue $!.class)   #=> FrozenError
    #[method("freeze")]
    fn freeze(cx: &mut Cx, this: Value) -> Value {
        crate::object::copy::freeze(cx, this);
        this
    }
    /// Whether the module is a singleton class.
    ///
    ///     [String, String.singleton_class].map(&:singleton_class?)   #=> [false, true]
    #[method("singleton_class?")]
    fn is_singleton(cx: &Cx, this: ClassId) -> bool {
        cx.class(this).kind == ClassKind::Singleton
    }
    /// Hook: does nothing.
    #[method("included", private)]
    #[method("extended", private)]
    #[method("prepended", private)]
    #[method("method_added", private)]
    #[method("method_removed", private)]
    #[method("method_undefined", private)]
    #[method("const_added", private)]
    fn hook(_this: Value, _arg: Value) -> Value {
        Value::NIL
    }
    /// Modules that are lexically around the call, innermost first.
    ///
    ///     module Outer; module Inner; NEST = Module.nesting; end; end; Outer::Inner::NEST   #=> [Outer::Inner, Outer]
    #[method("nesting", singleton)]
    fn nesting(cx: &mut Cx, _this: Value) -> Value {
        let mut list = RootedVec::new(cx);
        let mut c = cx.current_cref();
        while let Some(s) = Ref::<CrefCell>::from_value(c) {
            if !s.parent.is_nil()
                && let Some(id) = cx.scope_class(s)
            {
                list.push(cx.class_value(id));
            }
            c = s.parent;
        }
        cx.array(&list)
    }
}
