//! Data: immutable records with named members. Members are kept as Struct keeps them; see structs.rs.

use crate::structs::*;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

pub static TABLES: &[&[MethodRow]] = &[record::METHODS];

pub fn setup(cx: &mut Cx) {
    // Data itself can't be instantiated, nor can it be extended by `new`.
    let data = cx.class_value(ids::DATA);
    if let Ok(s) = cx.singleton_class(data) {
        let m = MethodCell::make(&cx.heap, sym::new, s, Visibility::Public, MethodKind::Undefined, Value::NIL, 0, Value::NIL);
        cx.add_method(s, sym::new, m);
    }
}

fn sym_list(names: &[Sym]) -> String {
    let v: Vec<String> = names.iter().map(|s| format!(":{}", s.name())).collect();
    v.join(", ")
}

/// Sets the members of a new object from keywords and freezes it. Missing or unknown ones: an error, or false unless `strict`.
fn fill(cx: &mut Cx, this: Value, given: Option<Ref<HashCell>>, strict: bool) -> Result<bool> {
    cx.check_frozen(this)?;
    let names = members_of(cx, this)?;
    let pairs = given.map(|h| cx.hash_pairs(h));
    let mut unknown = Vec::new();
    let mut set = RootedVec::filled(cx, Value::UNDEF, names.len());
    for (k, v) in pairs.iter().flat_map(|p| p.iter()) {
        let s = Value::sym(cx.to_sym(k)?);
        if let Some(i) = names.elements(&cx.heap).iter().position(|n| *n == s) {
            set[i] = v;
        } else {
            let shown = if k.is_sym() { k } else { cx.str(&s.as_sym().map_or("".into(), |s| s.name())) };
            unknown.push(cx.inspect_text(shown)?);
        }
    }
    let missing: Vec<Sym> = names.elements(&cx.heap).iter().zip(set.iter()).filter(|(_, v)| v.is_undef()).filter_map(|(n, _)| n.as_sym()).collect();
    if !strict && (!missing.is_empty() || !unknown.is_empty()) {
        return Ok(false);
    }
    if !missing.is_empty() {
        return cx.arg_error(format!("missing keyword{}: {}", if missing.len() > 1 { "s" } else { "" }, sym_list(&missing)));
    }
    if !unknown.is_empty() {
        return cx.arg_error(format!("unknown keyword{}: {}", if unknown.len() > 1 { "s" } else { "" }, unknown.join(", ")));
    }
    for (i, v) in set.iter().enumerate() {
        if let Some(s) = names.get(i).and_then(Value::as_sym) {
            cx.ivar_set_raw(this, s, *v);
        }
    }
    this.set_flags(flags::FROZEN);
    Ok(true)
}

/// New object: `initialize` gets keywords, whatever the caller wrote. Data's own is called only where it raises, so that it stands in the backtrace.
fn make(cx: &mut Cx, class: ClassId, args: Args) -> Result<Value> {
    let names = members(cx, class)?;
    let this = cx.new_object(class);
    let plain = cx.is_builtin(this, sym::initialize, ids::DATA);
    if args.kw {
        if args.len() > 1 {
            return cx.arity_error(args.len(), 0, Some(0));
        }
        if !plain || !fill(cx, this, args.get(0).and_then(Ref::<HashCell>::from_value), false)? {
            cx.call_full(this, sym::initialize, args.all(), true, args.block)?;
        }
        return Ok(this);
    }
    if args.len() > names.len() {
        return cx.arity_error(args.len(), 0, Some(names.len()));
    }
    if plain && args.len() == names.len() {
        for (i, v) in args.all().iter().enumerate() {
            if let Some(s) = names.get(i).and_then(Value::as_sym) {
                cx.ivar_set_raw(this, s, *v);
            }
        }
        this.set_flags(flags::FROZEN);
        return Ok(this);
    }
    let kw = cx.new_hash();
    for (i, v) in args.all().iter().enumerate() {
        if let Some(n) = names.get(i) {
            cx.hash_set(kw, n, *v)?;
        }
    }
    if plain && fill(cx, this, Some(kw), false)? {
        return Ok(this);
    }
    if kw.len() == 0 {
        cx.call_full(this, sym::initialize, &[], false, args.block)?;
    } else {
        cx.call_full(this, sym::initialize, &[kw.as_value()], true, args.block)?;
    }
    Ok(this)
}

/// The methods.
#[ruby_class(ids::DATA)]
mod record {
    use super::*;

    /// A new class with these members. The block is the class body.
    ///
    ///     Data.define(:x, :y).new(x: 1, y: 2).to_h   #=> {x: 1, y: 2}
    #[method("define", singleton)]
    fn define(cx: &mut Cx, this: ClassId, names: Rest, block: Block) -> Result<Value> {
        let names = check_names(cx, names, false)?;
        let class = cx.new_subclass(this)?;
        let object = cx.class_value(class);
        set_members(cx, class, &names, Value::NIL);
        define_accessors(cx, class, &names, false);
        let m = match cx.class(ids::DATA).singleton {
            Some(s) => cx.find_entry_from(s, Sym::intern("__make"), 0),
            None => None,
        };
        define_constructors(cx, class, m)?;
        // The defined class has no `define` of its own.
        let up = cx.class_value(this);
        cx.call_hook(up, sym::inherited, object)?;
        let s = cx.singleton_class(object)?;
        let d = Sym::intern("define");
        let m = MethodCell::make(&cx.heap, d, s, Visibility::Public, MethodKind::Undefined, Value::NIL, 0, Value::NIL);
        cx.add_method(s, d, m);
        class_body(cx, object, block)?;
        Ok(object)
    }

    /// New object from positional arguments or keywords: the `new` of classes made by `define`.
    ///
    ///     Data.define(:x).new(1).x   #=> 1
    #[method("__make", singleton, private, min = 0, max = -1)]
    fn make_(cx: &mut Cx, this: ClassId, args: Args) -> Result<Value> {
        make(cx, this, args)
    }

    /// Member names of a class made by `define`.
    ///
    ///     Data.define(:x, :y).members   #=> [:x, :y]
    #[method("__members", singleton, private)]
    fn class_members(cx: &mut Cx, this: ClassId) -> Result<Value> {
        let list = members(cx, this)?;
        let list = RootedVec::of(cx, list);
        Ok(cx.array(&list))
    }

    /// Sets all members from keywords; ArgumentError when some are missing or unknown.
    ///
    ///     Data.define(:x).new(x: [1]).x   #=> [1]
    #[method("initialize", private, min = 0, max = -1)]
    fn initialize(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        let mut args = args;
        cx.check_frozen(this)?;
        let given = match args.len() {
            0 => None,
            1 if args.kw => args.take_kw().hash(cx),
            1 if args.get(0).is_some_and(|v| v.is_kind(Kind::Hash)) => args.get(0).and_then(Ref::<HashCell>::from_value),
            n => return cx.arity_error(n, 0, Some(0)),
        };
        fill(cx, this, given, true)?;
        Ok(Value::NIL)
    }

    /// A copy with some members replaced.
    ///
    ///     Data.define(:x, :y).new(1, 2).with(y: 5).to_h   #=> {x: 1, y: 5}
    #[method("with", min = 0, max = -1)]
    fn with(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        let mut args = args;
        let kw = args.take_kw();
        if !args.is_empty() {
            return cx.arity_error(args.len(), 0, Some(0));
        }
        let Some(kw) = kw.hash(cx) else { return Ok(this) };
        let h = to_h(cx, this, Block::NONE)?;
        let h: Ref<HashCell> = Ref::of(h);
        for (k, v) in cx.hash_pairs(kw) {
            let s = cx.to_sym(k)?;
            cx.hash_set(h, Value::sym(s), v)?;
        }
        let class = cx.class_of(this);
        let new = cx.new_object(class);
        if !cx.is_builtin(new, sym::initialize, ids::DATA) || !fill(cx, new, Some(h), false)? {
            cx.call_full(new, sym::initialize, &[h.as_value()], true, Block::NONE)?;
        }
        Ok(new)
    }

    /// Same class and equal members.
    ///
    ///     d = Data.define(:a); d.new(1) == d.new(1.0)   #=> true
    #[method("==")]
    fn eq(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        equal(cx, this, other, false)
    }

    /// As `==`, members compared by `eql?`.
    ///
    ///     d = Data.define(:a); d.new(1).eql?(d.new(1.0))   #=> false
    #[method("eql?")]
    fn eql(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        equal(cx, this, other, true)
    }

    /// Hash code of class and members.
    ///
    ///     d = Data.define(:a); d.new(1).hash == d.new(1).hash   #=> true
    #[method("hash")]
    fn hash(cx: &mut Cx, this: Value) -> Result<Value> {
        hash_code(cx, this)
    }

    /// Text with class and members.
    ///
    ///     Data.define(:a).new(1).inspect   #=> "#<data a=1>"
    #[method("inspect", "to_s")]
    fn inspect_(cx: &mut Cx, this: Value) -> Result<Value> {
        inspect(cx, this, "data")
    }

    /// Hash of the members; with a block, of the pairs that it returns.
    ///
    ///     Data.define(:a).new(1).to_h { |k, v| [v, k] }   #=> {1 => :a}
    #[method("to_h")]
    fn to_h_(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        to_h(cx, this, block)
    }

    /// Array of the members' values, for pattern matching.
    ///
    ///     Data.define(:a, :b).new(1, 2).deconstruct   #=> [1, 2]
    #[method("deconstruct")]
    fn deconstruct(cx: &mut Cx, this: Value) -> Result<Value> {
        Ok(values_of(cx, this)?.as_value())
    }

    /// Hash of the asked members, for pattern matching.
    ///
    ///     Data.define(:a, :b).new(1, 2).deconstruct_keys([:b])   #=> {b: 2}
    #[method("deconstruct_keys")]
    fn deconstruct_keys_(cx: &mut Cx, this: Value, keys: Value) -> Result<Value> {
        deconstruct_keys(cx, this, keys, false)
    }

    /// Member names.
    ///
    ///     Data.define(:a).new(1).members   #=> [:a]
    #[method("members")]
    fn members_(cx: &mut Cx, this: Value) -> Result<Value> {
        let list = members_of(cx, this)?;
        let list = RootedVec::of(cx, list);
        Ok(cx.array(&list))
    }

    /// Takes over the members (for `dup` and `clone`).
    ///
    ///     Data.define(:a).new(1).dup.a   #=> 1
    #[method("initialize_copy", private)]
    fn initialize_copy(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        if this == other {
            return Ok(this);
        }
        cx.check_frozen(this)?;
        for n in names_of(cx, other)? {
            let v = cx.ivar_get(other, n);
            cx.ivar_set_raw(this, n, v);
        }
        this.set_flags(flags::FROZEN);
        Ok(this)
    }
}
