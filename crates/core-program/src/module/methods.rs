//! Method tables: lists of names, methods as objects, definition and removal.

use crate::method;
use zakuro_macros::ruby_class;
use zakuro_text::encoding::Encoding;
use zakuro_vm::*;

/// Which methods a list is to hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Want {
    Only(Visibility),
    PublicOrProtected,
}
impl Want {
    fn wants(self, v: Visibility) -> bool {
        match self {
            Want::Only(w) => v == w,
            Want::PublicOrProtected => v != Visibility::Private,
        }
    }
}

/// Helpers of the core library are not listed.
fn is_helper(c: ClassId, name: Sym) -> bool {
    let b = name.bytes();
    c.0 < shape::FIRST_DYNAMIC && b.starts_with(b"__") && !b.ends_with(b"__")
}

/// Collects names; the first entry of a name decides.
#[derive(Default)]
pub struct NameList {
    seen: vm::FastMap<Sym, ()>,
    pub found: Vec<Sym>,
}
impl NameList {
    pub fn add_class(&mut self, cx: &Cx, c: ClassId, want: Want) {
        let d = cx.class(c);
        for name in d.method_order.iter() {
            let stands_in = |v: &Value| Ref::<MethodCell>::from_value(*v).is_some_and(|m| m.is_stand_in());
            if d.methods.get(&name).is_some_and(stands_in) {
                continue;
            }
            if self.seen.insert(name, ()).is_some() {
                continue;
            }
            if let Some(m) = d.methods.get(&name).and_then(|v| Ref::<MethodCell>::from_value(*v))
                && m.method_kind() != MethodKind::Undefined
                && want.wants(m.visibility())
                && !is_helper(c, name)
            {
                self.found.push(name);
            }
        }
    }
}

/// Names of the instance methods of a class.
pub fn instance_names(cx: &mut Cx, c: ClassId, want: Want, inherit: bool) -> Vec<Sym> {
    let mut names = NameList::default();
    if inherit {
        for k in cx.ancestor_list(c) {
            names.add_class(cx, k, want);
        }
    } else {
        names.add_class(cx, c, want);
    }
    names.found
}

/// The method that instances of `c` would call; modules see Object's methods too when `object`.
pub fn find(cx: &mut Cx, c: ClassId, name: Sym, object: bool) -> Option<Ref<MethodCell>> {
    let cref = cx.current_cref();
    match cx.find_method_from(cref, c, name) {
        None if object && cx.class(c).kind == ClassKind::Module => cx.find_method(ids::OBJECT, name),
        m => m,
    }
}

/// A new method entry from a block, Proc, Method or UnboundMethod.
pub fn define_method(cx: &mut Cx, class: ClassId, name: Sym, body: Option<Value>, block: Block, vis: Visibility) -> Result<Value> {
    let body = match body {
        Some(b) => b,
        None if block.is_some() => cx.block_to_proc(block).as_value(),
        None => return cx.arg_error("tried to create Proc object without a block"),
    };
    let cell = if let Some(p) = Ref::<ProcCell>::from_value(body) {
        let cref = Ref::<MethodCell>::from_value(p.me).map_or(Value::NIL, |m| m.cref);
        MethodCell::make(&cx.heap, name, class, vis, MethodKind::Proc, cref, 0, body)
    } else if let Some(o) = Ref::<MethodObjCell>::from_value(body) {
        let m: Ref<MethodCell> = Ref::of(o.method);
        let owner = m.owner;
        if cx.class(owner).kind != ClassKind::Module && !cx.inherits(class, owner) {
            if cx.class(owner).kind == ClassKind::Singleton {
                return cx.type_error("can't bind singleton method to a different class");
            }
            let n = cx.class_name(owner);
            return cx.type_error(format!("bind argument must be a subclass of {n}"));
        }
        // Like an alias it keeps the name that it was defined by.
        cx.copy_method(m, name, class, vis)
    } else {
        let c = cx.class_name_of(body);
        return cx.type_error(format!("wrong argument type {c} (expected Proc/Method/UnboundMethod)"));
    };
    cx.define_method_entry(class, name, cell)?;
    Ok(Value::sym(name))
}

/// Visibility for methods that a call in a class body defines (`private` above an `attr_reader` or `define_method`).
/// The flag says that it is `module_function`.
pub fn definition_visibility(cx: &Cx, class: ClassId) -> (Visibility, bool) {
    let here = Ref::<CrefCell>::from_value(cx.current_cref())
        .is_some_and(|c| cx.class_id(if c.definee.is_nil() { c.class } else { c.definee }) == Some(class));
    if !here {
        return (Visibility::Public, false);
    }
    match cx.scope_visibility() {
        1 if class != ids::OBJECT => (Visibility::Private, false),
        2 => (Visibility::Protected, false),
        3 => (Visibility::Private, true),
        _ => (Visibility::Public, false),
    }
}

fn define_attr(cx: &mut Cx, class: ClassId, name: Value, reader: bool, writer: bool, made: &mut Vec<Sym>) -> Result<()> {
    let s = cx.to_sym(name)?;
    let b = s.bytes();
    // By characters: the second byte of one may be that of a sign.
    let chars = Encoding::from_id(s.encoding()).map_or_else(|| b.chunks(1).collect(), |e| e.chars(b).collect::<Vec<_>>());
    let letter = |c: &[u8]| c[0].is_ascii_alphabetic() || c[0] == b'_' || c[0] >= 0x80;
    let ok = chars.first().is_some_and(|c| letter(c)) && chars.iter().all(|c| letter(c) || c[0].is_ascii_digit());
    if !ok {
        let o = cx.class_value(class);
        return cx.name_error(format!("invalid attribute name '{}'", s.name()), s, o);
    }
    let (vis, function) = definition_visibility(cx, class);
    if function {
        cx.warn_here("attribute accessor as module_function")?;
    }
    // For source_location: builtin accessors have no lexical scope to keep.
    let place = match cx.here() {
        Some((file, line)) => {
            let f = cx.str(&file);
            cx.array(&[f, Value::fixnum(line as i64)])
        }
        None => Value::NIL,
    };
    let ivar = Value::sym(s.with(b"@", b""));
    for (want, kind, suffix) in [(reader, MethodKind::AttrReader, &b""[..]), (writer, MethodKind::AttrWriter, b"=")] {
        if want {
            let name = s.with(b"", suffix);
            let m = MethodCell::make(&cx.heap, name, class, vis, kind, place, 0, ivar);
            cx.define_method_entry(class, name, m)?;
            made.push(name);
        }
    }
    Ok(())
}

fn attrs(cx: &mut Cx, class: ClassId, names: Rest, reader: bool, writer: bool) -> Result<Value> {
    let mut made = Vec::new();
    for n in names {
        define_attr(cx, class, *n, reader, writer, &mut made)?;
    }
    Ok(cx.sym_array(&made))
}

fn defined(cx: &mut Cx, class: ClassId, name: Value, inherit: Option<Value>, want: Want) -> Result<bool> {
    let name = cx.to_sym(name)?;
    let m = if inherit.is_none_or(|i| i.truthy()) {
        cx.find_method(class, name)
    } else {
        cx.method_in(class, name).filter(|m| m.method_kind() != MethodKind::Undefined && !m.is_stand_in())
    };
    Ok(m.is_some_and(|m| want.wants(m.visibility())))
}

/// Whether parameters are such that `ruby2_keywords` means something for them; a warning when not. `kind`: "proc", or "method" of a name.
pub fn may_keep_keywords(cx: &mut Cx, code: &zakuro_bytecode::Code, name: &str, kind: &str) -> Result<bool> {
    let p = &code.params;
    let accepts_keywords = p.takes_keywords() || p.kwrest != zakuro_bytecode::KwRest::None;
    if p.rest && p.post == 0 && !accepts_keywords {
        return Ok(true);
    }
    let why = format!("({kind} accepts keywords or post arguments or {kind} does not accept argument splat)");
    cx.warn_here(&format!("Skipping set of ruby2_keywords flag for {name} {why}"))?;
    Ok(false)
}

#[ruby_class(ids::MODULE)]
pub mod module {
    use super::*;

    fn list(cx: &mut Cx, this: ClassId, want: Want, inherit: Option<Value>) -> Value {
        let names = instance_names(cx, this, want, inherit.is_none_or(|i| i.truthy()));
        cx.sym_array(&names)
    }
    /// Names of the public and protected instance methods; with `false` without the inherited ones.
    ///
    ///     Comparable.instance_methods.sort   #=> [:<, :<=, :==, :>, :>=, :between?, :clamp]
    #[method("instance_methods")]
    fn instance_methods(cx: &mut Cx, this: ClassId, inherit: Option<Value>) -> Value {
        list(cx, this, Want::PublicOrProtected, inherit)
    }
    /// Names of the public instance methods.
    ///
    ///     Module.new { def a = 1; private def b = 2 }.public_instance_methods   #=> [:a]
    #[method("public_instance_methods")]
    fn public_instance_methods(cx: &mut Cx, this: ClassId, inherit: Option<Value>) -> Value {
        list(cx, this, Want::Only(Visibility::Public), inherit)
    }
    /// Names of the private instance methods.
    ///
    ///     Module.new { def a = 1; private def b = 2 }.private_instance_methods   #=> [:b]
    #[method("private_instance_methods")]
    fn private_instance_methods(cx: &mut Cx, this: ClassId, inherit: Option<Value>) -> Value {
        list(cx, this, Want::Only(Visibility::Private), inherit)
    }
    /// Names of the protected instance methods.
    ///
    ///     Module.new { protected def a = 1 }.protected_instance_methods   #=> [:a]
    #[method("protected_instance_methods")]
    fn protected_instance_methods(cx: &mut Cx, this: ClassId, inherit: Option<Value>) -> Value {
        list(cx, this, Want::Only(Visibility::Protected), inherit)
    }
    /// Names that were undefined in this module.
    ///
    ///     Class.new { def a = 1; undef a }.undefined_instance_methods   #=> [:a]
    #[method("undefined_instance_methods")]
    fn undefined_instance_methods(cx: &Cx, this: ClassId) -> Value {
        let d = cx.class(this);
        let undefined = |n: &Sym| {
            d.methods.get(n).and_then(|v| Ref::<MethodCell>::from_value(*v)).is_some_and(|m| m.method_kind() == MethodKind::Undefined)
        };
        cx.array_of(d.method_order.iter().filter(undefined).map(Value::sym))
    }
    /// Whether instances have a public or protected method of this name.
    ///
    ///     String.method_defined?(:upcase)   #=> true
    #[method("method_defined?")]
    fn method_defined(cx: &mut Cx, this: ClassId, name: Value, inherit: Option<Value>) -> Result<bool> {
        defined(cx, this, name, inherit, Want::PublicOrProtected)
    }
    /// Whether instances have a public method of this name.
    ///
    ///     String.public_method_defined?(:puts)   #=> false
    #[method("public_method_defined?")]
    fn public_method_defined(cx: &mut Cx, this: ClassId, name: Value, inherit: Option<Value>) -> Result<bool> {
        defined(cx, this, name, inherit, Want::Only(Visibility::Public))
    }
    /// Whether instances have a private method of this name.
    ///
    ///     String.private_method_defined?(:raise)   #=> true
    #[method("private_method_defined?")]
    fn private_method_defined(cx: &mut Cx, this: ClassId, name: Value, inherit: Option<Value>) -> Result<bool> {
        defined(cx, this, name, inherit, Want::Only(Visibility::Private))
    }
    /// Whether instances have a protected method of this name.
    ///
    ///     String.protected_method_defined?(:upcase)   #=> false
    #[method("protected_method_defined?")]
    fn protected_method_defined(cx: &mut Cx, this: ClassId, name: Value, inherit: Option<Value>) -> Result<bool> {
        defined(cx, this, name, inherit, Want::Only(Visibility::Protected))
    }
    /// The instance method of a name as an UnboundMethod.
    ///
    ///     String.instance_method(:upcase).bind_call("a")   #=> "A"
    #[method("instance_method")]
    fn instance_method(cx: &mut Cx, this: ClassId, name: Value) -> Result<Value> {
        let name = cx.to_sym(name)?;
        match find(cx, this, name, false) {
            Some(m) => Ok(method::make_unbound(cx, m, this, name)),
            None => cx.undefined_for_class(this, name),
        }
    }
    /// As `instance_method`, for public methods only.
    ///
    ///     String.public_instance_method(:upcase).name   #=> :upcase
    #[method("public_instance_method")]
    fn public_instance_method(cx: &mut Cx, this: ClassId, name: Value) -> Result<Value> {
        let name = cx.to_sym(name)?;
        match find(cx, this, name, false) {
            Some(m) if m.visibility() == Visibility::Public => Ok(method::make_unbound(cx, m, this, name)),
            Some(m) => {
                let v = if m.visibility() == Visibility::Private { "private" } else { "protected" };
                let what = if cx.class(this).kind == ClassKind::Module { "module" } else { "class" };
                let n = cx.class_name(this);
                let o = cx.class_value(this);
                cx.name_error(format!("method '{}' for {what} '{n}' is {v}", name.name()), name, o)
            }
            None => cx.undefined_for_class(this, name),
        }
    }
    /// Defines an instance method from a block, Proc or method object; returns its name.
    ///
    ///     Class.new { define_method(:inc) { |n| n + 1 } }.new.inc(2)   #=> 3
    #[method("define_method")]
    fn define_method(cx: &mut Cx, this: ClassId, name: Value, body: Option<Value>, block: Block) -> Result<Value> {
        let name = cx.to_sym(name)?;
        let (vis, function) = definition_visibility(cx, this);
        let vis = if interp::always_private(name) { Visibility::Private } else { vis };
        let r = super::define_method(cx, this, name, body, block, vis)?;
        if function {
            let o = cx.class_value(this);
            let s = cx.singleton_class(o)?;
            super::define_method(cx, s, name, body, block, Visibility::Public)?;
        }
        Ok(r)
    }
    /// Gives a method a second name; returns it.
    ///
    ///     class Wrd < String; alias_method :yell, :upcase; end; Wrd.new("a").yell   #=> "A"
    #[method("alias_method")]
    fn alias_method(cx: &mut Cx, this: ClassId, new: Sym, old: Sym) -> Result<Value> {
        cx.alias_method(this, new, old)?;
        Ok(Value::sym(new))
    }
    /// Removes methods from this very module; inherited ones show through again.
    ///
    ///     class Par; def a = 1; end; class Chi < Par; def a = 2; remove_method :a; end; Chi.new.a   #=> 1
    #[method("remove_method")]
    fn remove_method(cx: &mut Cx, this: ClassId, names: Rest) -> Result<Value> {
        let object = cx.class_value(this);
        for n in names {
            let name = cx.to_sym(*n)?;
            crate::object::copy::check_not_frozen(cx, object)?;
            cx.warn_serious(this, name, "removing")?;
            let there = cx.method_in(this, name);
            if !there.is_some_and(|m| m.method_kind() != MethodKind::Undefined && !m.is_stand_in()) {
                let c = cx.class_name(this);
                return cx.name_error(format!("method '{}' not defined in {c}", name.name()), name, object);
            }
            cx.remove_method(this, name);
            if cx.class(this).kind == ClassKind::Singleton {
                let a = cx.attached(this);
                cx.call_hook(a, sym::singleton_method_removed, Value::sym(name))?;
            } else {
                cx.call_hook(object, sym::method_removed, Value::sym(name))?;
            }
        }
        Ok(object)
    }
    /// Makes instances not answer to names any more, inherited or not.
    ///
    ///     Class.new(String) { undef_method :upcase }.new.respond_to?(:upcase)   #=> false
    #[method("undef_method")]
    fn undef_method(cx: &mut Cx, this: ClassId, names: Rest) -> Result<Value> {
        for n in names {
            let name = cx.to_sym(*n)?;
            cx.undef_method(this, name)?;
        }
        Ok(cx.class_value(this))
    }
    /// Defines readers of instance variables; returns their names.
    ///
    ///     Class.new { attr_reader :a; def initialize; @a = 1; end }.new.a   #=> 1
    #[method("attr_reader")]
    fn attr_reader(cx: &mut Cx, this: ClassId, names: Rest) -> Result<Value> {
        attrs(cx, this, names, true, false)
    }
    /// As `attr_reader` (with a trailing `true`, which is deprecated, as `attr_accessor`).
    #[method("attr")]
    fn attr(cx: &mut Cx, this: ClassId, names: Rest) -> Result<Value> {
        if let [name, flag @ (Value::TRUE | Value::FALSE)] = names {
            cx.warn_category("optional boolean argument is obsoleted", "deprecated")?;
            let mut made = Vec::new();
            define_attr(cx, this, *name, true, flag.truthy(), &mut made)?;
            return Ok(cx.sym_array(&made));
        }
        attrs(cx, this, names, true, false)
    }
    /// Defines writers of instance variables; returns their names.
    ///
    ///     Class.new.class_eval { attr_writer :a, :b }   #=> [:a=, :b=]
    #[method("attr_writer")]
    fn attr_writer(cx: &mut Cx, this: ClassId, names: Rest) -> Result<Value> {
        attrs(cx, this, names, false, true)
    }
    /// Defines readers and writers of instance variables; returns their names.
    ///
    ///     Class.new.class_eval { attr_accessor :a }   #=> [:a, :a=]
    #[method("attr_accessor")]
    fn attr_accessor(cx: &mut Cx, this: ClassId, names: Rest) -> Result<Value> {
        attrs(cx, this, names, true, true)
    }
    /// Marks methods with a rest parameter: keywords in it are passed on as keywords when it is splatted.
    ///
    ///     class Fwd; def a(x: 0) = x; ruby2_keywords def b(*args) = a(*args); end; Fwd.new.b(x: 3)   #=> 3
    #[method("ruby2_keywords", private)]
    pub fn ruby2_keywords(cx: &mut Cx, this: ClassId, names: Rest) -> Result<Value> {
        for n in names {
            let name = cx.to_sym(*n)?;
            let Some(m) = find(cx, this, name, true) else { return cx.undefined_for_class(this, name) };
            if m.owner != this {
                let o = cx.class_value(this);
                return cx.name_error(format!("method '{}' is not defined in {}", name.name(), cx.class_name(this)), name, o);
            }
            let code = if m.method_kind() == MethodKind::Proc { cx.block_code(Block(m.data.bits())) } else { Cx::method_code(m) };
            let Some(code) = code else {
                cx.warn_here(&format!("Skipping set of ruby2_keywords flag for {} (method not defined in Ruby)", name.name()))?;
                continue;
            };
            if may_keep_keywords(cx, code, &name.name(), "method")? {
                cx.keep_method_keywords(m);
                let copy = cx.copy_method(m, m.called, this, m.visibility());
                copy.init_copy(copy.called, copy.reserved | interp::RUBY2_KEYWORDS);
                cx.add_method(this, name, copy);
            }
        }
        Ok(Value::NIL)
    }
}
