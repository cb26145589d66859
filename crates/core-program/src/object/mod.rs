//! The instance methods that every object has (defined in Kernel): identity, comparison, inspection, instance variables, calls by name.
//! `copy` holds dup, clone and freeze; `reflect` methods and singleton classes.

pub mod copy;
mod reflect;

use zakuro_core_collections::enumerator::EnumeratorExt;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

pub static TABLES: &[&[MethodRow]] = &[kernel::METHODS, copy::kernel::METHODS, copy::string::METHODS, reflect::kernel::METHODS];

pub fn setup(_cx: &mut Cx) {}

/// Name of an instance variable from an argument. NameError for other names.
pub(crate) fn ivar_name(cx: &mut Cx, this: Value, name: Value) -> Result<Sym> {
    let s = cx.to_sym(name)?;
    if !Cx::is_ivar_name(s) {
        let r = cx.name_error(format!("'{}' is not allowed as an instance variable name", s.name()), s, this);
        cx.ivar_set_raw(cx.pending, Sym::intern("__name"), name);
        return r;
    }
    Ok(s)
}

/// A class or module argument of `is_a?` and the like.
/// A class or module, as `is_a?` asks for it.
struct AnyModule(ClassId);
impl FromValue for AnyModule {
    const EFFECTS: Effects = Effects::RAISES;
    fn from_value(cx: &mut Cx, v: Value) -> Result<AnyModule> {
        match cx.class_id(v) {
            Some(c) => Ok(AnyModule(c)),
            None => cx.type_error("class or module required"),
        }
    }
}

/// `#<Foo:0x...>`, with the visible instance variables when there are some.
pub(crate) fn inspect(cx: &mut Cx, this: Value) -> Result<Value> {
    let head = cx.any_to_s(this);
    let mut vars: Vec<Sym> = cx.ivar_list(this).names().iter().copied().filter(|n| Cx::is_ivar_name(*n)).collect();
    let only = Sym::intern("instance_variables_to_inspect");
    if !vars.is_empty()
        && let Some(m) = cx.method_of(this, only)
        && m.method_kind() != MethodKind::Native
    {
        let list = cx.call(this, only, &[])?;
        if let Some(a) = Ref::<ArrayCell>::from_value(list) {
            vars.retain(|n| a.elements(&cx.heap).contains(&Value::sym(*n)));
        } else if !list.is_nil() {
            let c = cx.class_name_of(list);
            return cx.type_error(format!("Expected #instance_variables_to_inspect to return an Array or nil, but it returned {c}"));
        }
    }
    if vars.is_empty() {
        return Ok(cx.str(&head));
    }
    let head = head.trim_end_matches('>').to_string();
    let text = cx.guard_recursion(this, |cx| {
        let mut out = head.clone().into_bytes();
        for (i, name) in vars.iter().enumerate() {
            // Read now: an inspect of before may have changed it.
            let v = cx.ivar_get(this, *name);
            out.extend_from_slice(if i == 0 { b" " } else { b", " });
            out.extend_from_slice(name.bytes());
            out.push(b'=');
            let s = cx.inspect(v)?;
            out.extend_from_slice(s.content(&cx.heap));
        }
        out.push(b'>');
        Ok(out)
    })?;
    let text = text.unwrap_or_else(|| format!("{head} ...>").into_bytes());
    Ok(cx.str_auto(&text))
}

#[ruby_class(ids::KERNEL)]
mod kernel {
    use super::*;

    /// The class of the object.
    ///
    ///     1.class     #=> Integer
    ///     nil.class   #=> NilClass
    #[method("class", effect = "leaf", reason = "looks at the tables of classes")]
    fn class(cx: &mut Cx, this: Value) -> Value {
        cx.shown_class(this)
    }
    /// Class name and address.
    ///
    ///     Object.new.to_s.sub(/0x\h+/, "0x0")   #=> "#<Object:0x0>"
    #[method("to_s")]
    fn to_s(cx: &Cx, this: Value) -> Value {
        let s = cx.any_to_s(this);
        cx.str(&s)
    }
    /// Class name, address and instance variables.
    ///
    ///     class Pt; def initialize; @x = 1; end; end; Pt.new.inspect.sub(/0x\h+/, "0x0")   #=> "#<Pt:0x0 @x=1>"
    #[method("inspect")]
    fn inspect(cx: &mut Cx, this: Value) -> Result<Value> {
        super::inspect(cx, this)
    }
    /// Whether the objects are the same or equal.
    ///
    ///     Object.new === 1   #=> false
    #[method("===")]
    fn eqq(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        Ok(this == other || cx.eq(this, other)?)
    }
    /// 0 when the objects are the same or equal, else nil.
    ///
    ///     o = Object.new; [o <=> o, o <=> 1]   #=> [0, nil]
    #[method("<=>")]
    fn cmp(cx: &mut Cx, this: Value, other: Value) -> Result<Option<i64>> {
        Ok((this == other || cx.eq(this, other)?).then_some(0))
    }
    /// Whether `=~` gives nil or false.
    ///
    ///     "abc" !~ /x/   #=> true
    #[method("!~")]
    fn nmatch(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        Ok(!cx.call(this, sym::match_op, &[other])?.truthy())
    }
    /// Whether both are the same object; Hash keys of the same `hash` are compared by it.
    ///
    ///     Object.new.eql?(Object.new)   #=> false
    #[method("eql?")]
    fn eql(this: Value, other: Value) -> bool {
        this == other
    }
    /// A number for Hash lookup: equal for objects that are `eql?`.
    ///
    ///     :a.hash == :a.hash   #=> true
    #[method("hash")]
    fn hash(cx: &Cx, this: Value) -> Value {
        let h = match cx.quick_hash(this) {
            Some(h) => h,
            None => cx.object_hash(this),
        };
        cx.shown_hash(h)
    }
    /// A number that no other live object of this VM has.
    ///
    ///     true.object_id   #=> 20
    #[method("object_id")]
    fn object_id(cx: &mut Cx, this: Value) -> Value {
        cx.object_id(this)
    }
    /// False.
    ///
    ///     1.nil?   #=> false
    #[method("nil?")]
    fn nil_p(this: Value) -> bool {
        this.is_nil()
    }
    /// The object itself.
    ///
    ///     [1, 1, 2].group_by(&:itself)   #=> {1 => [1, 1], 2 => [2]}
    #[method("itself")]
    fn itself(this: Value) -> Value {
        this
    }
    /// Yields the object to the block and returns it.
    ///
    ///     [1].tap { |a| a << 2 }   #=> [1, 2]
    #[method("tap")]
    fn tap(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        cx.yield1(block, this)?;
        Ok(this)
    }
    /// Yields the object to the block and returns the block's result.
    ///
    ///     3.then { |n| n + 1 }   #=> 4
    #[method("then", "yield_self")]
    fn then(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return cx.sized_enumerator(this, "then", &[], |_, _, _| Ok(Value::fixnum(1)));
        }
        cx.yield1(block, this)
    }
    /// Whether the object is an instance of a class, of a subclass of it, or includes a module.
    ///
    ///     1.is_a?(Comparable)   #=> true
    #[method("is_a?", "kind_of?", effect = "leaf", reason = "looks at the tables of classes")]
    fn is_a(cx: &Cx, this: Value, class: AnyModule) -> bool {
        cx.is_a(this, class.0)
    }
    /// Whether the class of the object is this very class.
    ///
    ///     1.instance_of?(Numeric)   #=> false
    #[method("instance_of?", effect = "leaf", reason = "looks at the tables of classes")]
    fn instance_of(cx: &Cx, this: Value, class: AnyModule) -> bool {
        cx.class_of(this) == class.0
    }
    /// Whether the object has a public method of this name (any with `true`), or says so by `respond_to_missing?`.
    ///
    ///     "a".respond_to?(:upcase)        #=> true
    ///     "a".respond_to?(:puts)          #=> false
    ///     "a".respond_to?(:puts, true)    #=> true
    #[method("respond_to?")]
    fn respond_to(cx: &mut Cx, this: Value, name: Value, private: Option<Value>) -> Result<bool> {
        let name = cx.to_sym(name)?;
        // Refinements of the caller's scope count.
        if cx.active_refinements(cx.current_cref()).is_some()
            && let Some(m) = cx.method_of_here(this, name)
            && m.visibility() == Visibility::Public
        {
            return Ok(true);
        }
        cx.basic_responds(this, name, private.is_some_and(|p| p.truthy()))
    }
    /// Asked by `respond_to?` for names without a method. False.
    #[method("respond_to_missing?", private)]
    fn respond_to_missing(_this: Value, _name: Value, _private: Value) -> bool {
        false
    }
    /// Calls a method by name, private ones included.
    ///
    ///     1.send(:+, 2)   #=> 3
    #[method("send")]
    fn send(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        crate::basic::send(cx, this, args)
    }
    /// Calls a public method by name.
    ///
    ///     1.public_send("+", 2)   #=> 3
    #[method("public_send")]
    fn public_send(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        let Some(name) = args.get(0) else { return cx.arg_error("no method name given") };
        let name = cx.to_sym(name)?;
        cx.call_public_here(this, name, &args.all()[1..], args.kw, args.block)
    }
    /// The value of an instance variable, nil when unset.
    ///
    ///     class Pt; def initialize; @x = 1; end; end; Pt.new.instance_variable_get(:@x)   #=> 1
    #[method("instance_variable_get")]
    fn ivar_get(cx: &mut Cx, this: Value, name: Value) -> Result<Value> {
        let n = ivar_name(cx, this, name)?;
        Ok(cx.ivar_get(this, n))
    }
    /// Sets an instance variable.
    ///
    ///     o = Object.new; o.instance_variable_set(:@a, 2); o.instance_variable_get("@a")   #=> 2
    #[method("instance_variable_set")]
    fn ivar_set(cx: &mut Cx, this: Value, name: Value, value: Value) -> Result<Value> {
        let n = ivar_name(cx, this, name)?;
        cx.ivar_set(this, n, value)?;
        Ok(value)
    }
    /// Whether an instance variable is set.
    ///
    ///     Object.new.instance_variable_defined?(:@a)   #=> false
    #[method("instance_variable_defined?")]
    fn ivar_defined(cx: &mut Cx, this: Value, name: Value) -> Result<bool> {
        let n = ivar_name(cx, this, name)?;
        Ok(cx.ivar_defined(this, n))
    }
    /// Removes an instance variable; returns its value.
    ///
    ///     o = Object.new; o.instance_variable_set(:@a, 2); [o.remove_instance_variable(:@a), o.instance_variables]   #=> [2, []]
    #[method("remove_instance_variable")]
    fn ivar_remove(cx: &mut Cx, this: Value, name: Value) -> Result<Value> {
        let n = ivar_name(cx, this, name)?;
        super::copy::check_not_frozen(cx, this)?;
        match cx.ivar_remove(this, n) {
            Some(v) => Ok(v),
            None => {
                cx.name_error(format!("instance variable {} not defined", n.name()), n, this)
            }
        }
    }
    /// Names of the instance variables, oldest first.
    ///
    ///     o = Object.new; o.instance_variable_set(:@a, 2); o.instance_variables   #=> [:@a]
    #[method("instance_variables")]
    fn ivars(cx: &mut Cx, this: Value) -> Value {
        let mut names = cx.ivar_names(this);
        names.retain(|n| Cx::is_ivar_name(*n));
        cx.sym_array(&names)
    }
    /// Writes the object's `to_s` to `$stdout` or another stream.
    #[method("display")]
    fn display(cx: &mut Cx, this: Value, out: Option<Value>) -> Result<Value> {
        let out = match out {
            Some(o) => o,
            None => cx.global_get(sym::stdout)?,
        };
        cx.call(out, sym::write, &[this])?;
        Ok(Value::NIL)
    }
}
