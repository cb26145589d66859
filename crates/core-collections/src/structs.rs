//! Struct: classes with named members.
//!
//! Members are hidden instance variables named like the member (no `@`), so accessors are plain attribute readers and writers that inline
//! caches serve. `ClassData::extra` of a Struct class is a frozen Array `[members, keyword_init]`, inherited by subclasses.

use crate::hash::{self, enumerator};
use zakuro_macros::ruby_class;
use zakuro_object::string::UTF8;
use zakuro_vm::*;

pub static TABLES: &[&[MethodRow]] = &[record::METHODS];

pub fn setup(_cx: &mut Cx) {}

/// Member names of the class of a Struct or Data object.
pub(crate) fn members(cx: &mut Cx, class: ClassId) -> Result<Ref<ArrayCell>> {
    let extra = Ref::<ArrayCell>::from_value(cx.class_extra(class));
    match extra.and_then(|e| e.get(0)).and_then(Ref::<ArrayCell>::from_value) {
        Some(a) => Ok(a),
        None => cx.type_error("uninitialized struct"),
    }
}
pub(crate) fn members_of(cx: &mut Cx, v: Value) -> Result<Ref<ArrayCell>> {
    let c = cx.class_of(v);
    members(cx, c)
}
/// Member names as symbols.
pub(crate) fn names_of(cx: &mut Cx, v: Value) -> Result<Vec<Sym>> {
    Ok(members_of(cx, v)?.elements(&cx.heap).iter().filter_map(|m| m.as_sym()).collect())
}
fn keyword_init(cx: &mut Cx, class: ClassId) -> Value {
    Ref::<ArrayCell>::from_value(cx.class_extra(class)).and_then(|e| e.get(1)).unwrap_or(Value::NIL)
}
/// Array of the values of all members in order.
pub(crate) fn values_of(cx: &mut Cx, v: Value) -> Result<Ref<ArrayCell>> {
    let names = members_of(cx, v)?;
    let out = cx.new_array();
    let mut i = 0;
    while let Some(n) = names.get(i) {
        if let Some(n) = n.as_sym() {
            let x = cx.ivar_get(v, n);
            ArrayCell::push(out, &mut cx.heap, x);
        }
        i += 1;
    }
    Ok(out)
}
/// `[members, option]` as a class keeps it.
pub(crate) fn set_members(cx: &mut Cx, class: ClassId, names: &[Sym], option: Value) {
    let list = cx.sym_array(names);
    list.set_flags(flags::FROZEN);
    let extra = cx.array(&[list, option]);
    extra.set_flags(flags::FROZEN);
    let n = names.len().min(u16::MAX as usize) as u16;
    let d = cx.class_mut(class);
    d.extra = extra;
    d.ivar_hint = n;
}
/// Accessor methods over the hidden variables.
pub(crate) fn define_accessors(cx: &mut Cx, class: ClassId, names: &[Sym], writers: bool) {
    for n in names {
        let reader = MethodCell::make(&cx.heap, *n, class, Visibility::Public, MethodKind::AttrReader, Value::NIL, 0, Value::sym(*n));
        cx.add_method(class, *n, reader);
        if writers {
            let w = n.with(b"", b"=");
            let writer =
                MethodCell::make(&cx.heap, w, class, Visibility::Public, MethodKind::AttrWriter, Value::NIL, 0, Value::sym(*n));
            cx.add_method(class, w, writer);
        }
    }
}
/// Gives a class that `define` made its own `new` and `[]` (Class#new), since the base class's makes classes.
pub(crate) fn define_constructors(cx: &mut Cx, class: ClassId, from: Option<Method>) -> Result<()> {
    let object = cx.class_value(class);
    let s = cx.singleton_class(object)?;
    let base = s;
    let Some(m) = from else { return Ok(()) };
    for name in [sym::new, sym::aref] {
        // Of Class#new the owner stays: call sites know it by that.
        let owner = if m.owner == ids::CLASS { m.owner } else { s };
        let copy = cx.copy_method(m, name, owner, Visibility::Public);
        if m.name != sym::new {
            copy.init_name(name);
        }
        cx.add_method(s, name, copy);
    }
    for (hidden, name) in [("__members", "members"), ("__keyword_init", "keyword_init?")] {
        let Some(from) = cx.find_method(base, Sym::intern(hidden)) else { continue };
        let name = Sym::intern(name);
        let copy = cx.copy_method(from, name, s, Visibility::Public);
        copy.init_name(name);
        cx.add_method(s, name, copy);
    }
    Ok(())
}
type Method = Ref<MethodCell>;

/// Runs the block of `Struct.new` or `Data.define` as a class body.
pub(crate) fn class_body(cx: &mut Cx, class: Value, block: Block) -> Result<()> {
    if block.is_some() {
        cx.call_block(class, Sym::intern("class_eval"), &[], block)?;
    }
    Ok(())
}
/// The class of the object without singleton, for `==` and `inspect`.
fn same_class(cx: &Cx, a: Value, b: Value) -> bool {
    b.is_kind(Kind::Object) && cx.class_of(a) == cx.class_of(b)
}
/// Compares all members of two objects of one class.
pub(crate) fn equal(cx: &mut Cx, this: Value, other: Value, strict: bool) -> Result<bool> {
    if this == other {
        return Ok(true);
    }
    if !same_class(cx, this, other) {
        return Ok(false);
    }
    let names = names_of(cx, this)?;
    let r = crate::array::guard_pair(cx, this, other, |cx| {
        for n in names {
            let (a, b) = (cx.ivar_get(this, n), cx.ivar_get(other, n));
            if !(if strict { cx.eql(a, b)? } else { cx.eq(a, b)? }) {
                return Ok(false);
            }
        }
        Ok(true)
    })?;
    Ok(r.unwrap_or(true))
}
/// Hash code of class and members.
pub(crate) fn hash_code(cx: &mut Cx, this: Value) -> Result<Value> {
    let class = cx.class_of(this).0 as u64;
    let names = members_of(cx, this)?;
    let mut code = equality::Code::new(names.len() + 1).and(class);
    let mut i = 0;
    while let Some(n) = names.get(i) {
        if let Some(n) = n.as_sym() {
            let v = cx.ivar_get(this, n);
            code = code.and(cx.hash_of(v)?);
        }
        i += 1;
    }
    Ok(cx.shown_hash(code.whole()))
}
/// `#<struct Foo a=1>`, `#<data Foo a=1>`
pub(crate) fn inspect(cx: &mut Cx, this: Value, word: &str) -> Result<Value> {
    let class = cx.class_of(this);
    // Names that begin in an anonymous module are left out.
    let path = cx.class_name(class);
    let name = (!path.starts_with('#')).then_some(&*path);
    let head = format!("#<{word} {}", name.unwrap_or_default());
    let names = names_of(cx, this)?;
    let text = cx.guard_recursion(this, |cx| {
        let mut out = head.clone().into_bytes();
        for (i, n) in names.into_iter().enumerate() {
            match i {
                0 if name.is_none() => {}
                0 => out.push(b' '),
                _ => out.extend_from_slice(b", "),
            }
            if is_plain_name(n.bytes()) {
                out.extend_from_slice(n.bytes());
            } else {
                let s = cx.inspect(Value::sym(n))?;
                out.extend_from_slice(s.content(&cx.heap));
            }
            out.push(b'=');
            let v = cx.ivar_get(this, n);
            let s = cx.inspect(v)?;
            out.extend_from_slice(s.content(&cx.heap));
        }
        out.push(b'>');
        Ok(out)
    })?;
    Ok(match text {
        Some(t) => cx.str_bytes(&t, UTF8),
        None => cx.str(&format!("#<{word} {path}:...>")),
    })
}
/// Name of a local variable or constant.
fn is_plain_name(b: &[u8]) -> bool {
    b.first().is_some_and(|c| !c.is_ascii_digit()) && b.iter().all(|c| c.is_ascii_alphanumeric() || *c == b'_' || *c >= 0x80)
}
/// Hash of the members; with a block, of the pairs that it returns.
pub(crate) fn to_h(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
    let out = cx.new_hash();
    for n in names_of(cx, this)? {
        let v = cx.ivar_get(this, n);
        if block.is_some() {
            let r = cx.yield_values(block, &[Value::sym(n), v])?;
            hash::add_pair(cx, out, r)?;
        } else {
            cx.hash_set(out, Value::sym(n), v)?;
        }
    }
    Ok(out.as_value())
}
/// Hash of the asked members, up to the first that does not exist.
/// Keys are names; a Struct takes places too.
pub(crate) fn deconstruct_keys(cx: &mut Cx, this: Value, keys: Value, places: bool) -> Result<Value> {
    if keys.is_nil() {
        return to_h(cx, this, Block::NONE);
    }
    let Some(keys) = Ref::<ArrayCell>::from_value(keys) else {
        let c = cx.class_name_of(keys);
        return cx.type_error(format!("wrong argument type {c} (expected Array or nil)"));
    };
    let out = cx.new_hash();
    let names = names_of(cx, this)?;
    if keys.len() > names.len() {
        return Ok(out.as_value());
    }
    let mut at = 0;
    while let Some(k) = keys.get(at) {
        at += 1;
        let name = if places && !k.is_sym() && !k.is_kind(Kind::String) {
            let i = cx.to_i64(k)?;
            let i = if i < 0 { i.checked_add(names.len() as i64) } else { Some(i) };
            i.and_then(|i| usize::try_from(i).ok()).and_then(|i| names.get(i)).copied()
        } else {
            let s = cx.to_sym(k)?;
            names.contains(&s).then_some(s)
        };
        let Some(name) = name else { break };
        let k = if places || k.is_sym() || k.is_kind(Kind::String) { k } else { cx.str(&name.name()) };
        let v = cx.ivar_get(this, name);
        cx.hash_set(out, k, v)?;
    }
    Ok(out.as_value())
}
/// Checks member names given as arguments.
pub(crate) fn check_names(cx: &mut Cx, names: &[Value], writers: bool) -> Result<Vec<Sym>> {
    let mut out: Vec<Sym> = Vec::new();
    for n in names {
        let s = cx.to_sym(*n)?;
        if s.bytes().ends_with(b"=") {
            let what = if writers { "struct" } else { "data" };
            return cx.arg_error(format!("invalid {what} member: {}", s.name()));
        }
        if out.contains(&s) {
            return cx.arg_error(format!("duplicate member: {}", s.name()));
        }
        out.push(s);
    }
    Ok(out)
}
/// The member that an index or name argument means.
fn member(cx: &mut Cx, this: Value, key: Value) -> Result<Sym> {
    let names = members_of(cx, this)?;
    if key.is_sym() || key.is_kind(Kind::String) {
        let s = cx.to_sym(key)?;
        if names.elements(&cx.heap).contains(&Value::sym(s)) {
            return Ok(s);
        }
        return cx.name_error(format!("no member '{}' in struct", s.name()), s, this);
    }
    let i = cx.to_i64(key)?;
    let n = names.len() as i64;
    if i >= n {
        return cx.index_error(format!("offset {i} too large for struct(size:{n})"));
    }
    if i < -n {
        return cx.index_error(format!("offset {i} too small for struct(size:{n})"));
    }
    Ok(names.get((if i < 0 { i + n } else { i }) as usize).and_then(|m| m.as_sym()).unwrap_or(sym::empty))
}

/// `dig` with one name or number.
pub(crate) fn dig_once(cx: &mut Cx, this: Value, key: Value) -> Result<Value> {
    if key.is_sym() || key.is_kind(Kind::String) {
        // Unlike `[]`, no error for an unknown name.
        let m = cx.to_sym(key)?;
        if names_of(cx, this)?.contains(&m) { Ok(cx.ivar_get(this, m)) } else { Ok(Value::NIL) }
    } else {
        let i = cx.to_i64(key)?;
        let values = values_of(cx, this)?;
        let i = if i < 0 { i + values.len() as i64 } else { i };
        Ok(if i < 0 { Value::NIL } else { values.get(i as usize).unwrap_or(Value::NIL) })
    }
}

/// The methods.
#[ruby_class(ids::STRUCT)]
mod record {
    use super::*;

    /// A new Struct class with these members; a String first names it under Struct. The block is the class body.
    ///
    ///     Struct.new(:x, :y).new(1, 2).to_a   #=> [1, 2]
    ///     Struct.new(:x, keyword_init: true).new(x: 1).x   #=> 1
    #[method("new", singleton, min = 0, max = -1)]
    fn new(cx: &mut Cx, this: ClassId, args: Args) -> Result<Value> {
        let mut args = args;
        if this != ids::STRUCT && !cx.class(this).extra.is_nil() {
            // A subclass whose own `new` calls super past the copy in its Struct class.
            let object = cx.class_value(this);
            return match cx.find_method(ids::CLASS, sym::new) {
                Some(m) => cx.call_method(m, object, sym::new, args.all(), args.kw, args.block),
                None => Ok(Value::NIL),
            };
        }
        let kw = args.take_kw();
        kw.only(cx, &[sym::keyword_init])?;
        let option = match kw.get(sym::keyword_init) {
            Some(v) if !v.is_nil() => Value::bool(v.truthy()),
            _ => Value::NIL,
        };
        let mut list = args.all();
        let mut constant = None;
        if let Some(first) = list.first()
            && !first.is_sym()
        {
            if !first.is_nil() {
                let name = cx.to_str(*first)?;
                constant = Some(Sym::intern_in(name.content(&cx.heap), name.encoding()));
            }
            list = &list[1..];
        }
        let names = check_names(cx, list, true)?;
        if names.len() > zakuro_vm::ivars::MOST as usize {
            return cx.arg_error("too many members");
        }
        if let Some(c) = constant
            && !c.bytes().first().is_some_and(|b| b.is_ascii_uppercase())
        {
            let o = cx.class_value(ids::STRUCT);
            return cx.name_error(format!("identifier {} needs to be constant", c.name()), c, o);
        }
        let class = cx.new_subclass(this)?;
        let object = cx.class_value(class);
        set_members(cx, class, &names, option);
        define_accessors(cx, class, &names, true);
        let m = cx.find_method(ids::CLASS, sym::new);
        define_constructors(cx, class, m)?;
        if let Some(c) = constant {
            if cx.const_entry(this, c).is_some() {
                let path = cx.class_name(this);
                cx.warn_here(&format!("redefining constant {path}::{}", c.name()))?;
                cx.const_remove(this, c);
            }
            cx.const_set(this, c, object);
        }
        let up = cx.class_value(this);
        cx.call_hook(up, sym::inherited, object)?;
        class_body(cx, object, args.block)?;
        Ok(object)
    }

    /// Member names of a Struct class.
    ///
    ///     Struct.new(:x, :y).members   #=> [:x, :y]
    #[method("__members", singleton, private)]
    fn class_members(cx: &mut Cx, this: ClassId) -> Result<Value> {
        let list = members(cx, this)?;
        let list = RootedVec::of(cx, list);
        Ok(cx.array(&list))
    }

    /// What the class was made with.
    ///
    ///     Struct.new(:x, keyword_init: true).keyword_init?   #=> true
    #[method("__keyword_init", singleton, private)]
    fn class_keyword_init(cx: &mut Cx, this: ClassId) -> Value {
        keyword_init(cx, this)
    }

    /// Name of the class, with a note when it takes keywords only.
    ///
    ///     Struct.inspect   #=> "Struct"
    #[method("inspect", singleton)]
    fn class_inspect(cx: &mut Cx, this: ClassId) -> String {
        let name = cx.class_name(this);
        if keyword_init(cx, this) == Value::TRUE { format!("{name}(keyword_init: true)") } else { name }
    }

    /// Sets the members from positional arguments or keywords.
    ///
    ///     Struct.new(:a, :b).new(1).b   #=> nil
    ///     Struct.new(:a, :b).new(a: 1, b: 2).to_a   #=> [1, 2]
    #[method("initialize", private, min = 0, max = -1)]
    fn initialize(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        cx.check_frozen(this)?;
        let class = cx.class_of(this);
        let option = keyword_init(cx, class);
        let names = members(cx, class)?;
        let by_keywords = option == Value::TRUE || option.is_nil() && args.kw && args.len() == 1;
        if by_keywords {
            if args.len() > 1 || args.len() == 1 && !args.get(0).is_some_and(|v| v.is_kind(Kind::Hash)) {
                return cx.arity_error(args.len(), 0, Some(0));
            }
            let given = args.get(0).and_then(Ref::<HashCell>::from_value);
            for i in 0..names.len() {
                if let Some(s) = names.get(i).and_then(Value::as_sym) {
                    cx.ivar_set_raw(this, s, Value::NIL);
                }
            }
            let Some(given) = given else { return Ok(Value::NIL) };
            let mut unknown = Vec::new();
            for (k, v) in cx.hash_pairs(given) {
                let s = k.as_sym().or_else(|| Ref::<StringCell>::from_value(k).map(|s| Sym::intern_in(s.content(&cx.heap), s.encoding())));
                match s {
                    Some(s) if names.elements(&cx.heap).contains(&Value::sym(s)) => cx.ivar_set_raw(this, s, v),
                    Some(s) => unknown.push(s.name().into_owned()),
                    None => unknown.push(cx.inspect_text(k)?),
                }
            }
            if !unknown.is_empty() {
                return cx.arg_error(format!("unknown keywords: {}", unknown.join(", ")));
            }
            return Ok(Value::NIL);
        }
        if args.len() > names.len() {
            return cx.arg_error("struct size differs");
        }
        let given = |i| args.get(i).unwrap_or(Value::NIL);
        if cx.ivars_begin(this, names, given) {
            return Ok(Value::NIL);
        }
        for i in 0..names.len() {
            if let Some(s) = names.get(i).and_then(Value::as_sym) {
                cx.ivar_set_raw(this, s, given(i));
            }
        }
        Ok(Value::NIL)
    }

    /// Same class and equal members.
    ///
    ///     s = Struct.new(:a); s.new(1) == s.new(1)   #=> true
    #[method("==")]
    fn eq(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        equal(cx, this, other, false)
    }

    /// As `==`, members compared by `eql?`.
    ///
    ///     s = Struct.new(:a); s.new(1).eql?(s.new(1.0))   #=> false
    #[method("eql?")]
    fn eql(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        equal(cx, this, other, true)
    }

    /// Hash code of class and members.
    ///
    ///     s = Struct.new(:a); s.new(1).hash == s.new(1).hash   #=> true
    #[method("hash")]
    fn hash(cx: &mut Cx, this: Value) -> Result<Value> {
        hash_code(cx, this)
    }

    /// Text with class and members.
    ///
    ///     Struct.new(:a, :b).new(1, "x").inspect   #=> "#<struct a=1, b=\"x\">"
    #[method("inspect", "to_s")]
    fn inspect_(cx: &mut Cx, this: Value) -> Result<Value> {
        inspect(cx, this, "struct")
    }

    /// Array of the members' values.
    ///
    ///     Struct.new(:a, :b).new(1, 2).to_a   #=> [1, 2]
    #[method("to_a", "deconstruct", "values")]
    fn to_a(cx: &mut Cx, this: Value) -> Result<Value> {
        Ok(values_of(cx, this)?.as_value())
    }

    /// Hash of the members; with a block, of the pairs that it returns.
    ///
    ///     Struct.new(:a, :b).new(1, 2).to_h   #=> {a: 1, b: 2}
    #[method("to_h")]
    fn to_h_(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        to_h(cx, this, block)
    }

    /// Hash of the asked members, for pattern matching.
    ///
    ///     Struct.new(:a, :b).new(1, 2).deconstruct_keys([:a])   #=> {a: 1}
    #[method("deconstruct_keys")]
    fn deconstruct_keys_(cx: &mut Cx, this: Value, keys: Value) -> Result<Value> {
        deconstruct_keys(cx, this, keys, true)
    }

    /// Member names.
    ///
    ///     Struct.new(:a, :b).new.members   #=> [:a, :b]
    #[method("members")]
    fn members_(cx: &mut Cx, this: Value) -> Result<Value> {
        let list = members_of(cx, this)?;
        let list = RootedVec::of(cx, list);
        Ok(cx.array(&list))
    }

    /// Number of members.
    ///
    ///     Struct.new(:a, :b).new.size   #=> 2
    #[method("size", "length")]
    fn size(cx: &mut Cx, this: Value) -> Result<usize> {
        Ok(members_of(cx, this)?.len())
    }

    /// A member by name or index.
    ///
    ///     s = Struct.new(:a, :b).new(1, 2); [s[:a], s["b"], s[-1]]   #=> [1, 2, 2]
    #[method("[]")]
    fn aref(cx: &mut Cx, this: Value, key: Value) -> Result<Value> {
        let m = member(cx, this, key)?;
        Ok(cx.ivar_get(this, m))
    }

    /// Sets a member by name or index.
    ///
    ///     s = Struct.new(:a).new; s[:a] = 3; s.a   #=> 3
    #[method("[]=")]
    fn aset(cx: &mut Cx, this: Value, key: Value, value: Value) -> Result<Value> {
        let m = member(cx, this, key)?;
        cx.ivar_set(this, m, value)?;
        Ok(value)
    }

    /// Walks down nested structures.
    ///
    ///     Struct.new(:a).new({b: 1}).dig(:a, :b)   #=> 1
    #[method("dig")]
    fn dig(cx: &mut Cx, this: Value, key: Value, rest: Rest) -> Result<Value> {
        let v = dig_once(cx, this, key)?;
        hash::dig_further(cx, v, rest)
    }

    /// Members by index or Range.
    ///
    ///     Struct.new(:a, :b).new(1, 2).values_at(1, 0)   #=> [2, 1]
    #[method("values_at")]
    fn values_at(cx: &mut Cx, this: Value, keys: Rest) -> Result<Value> {
        for k in keys {
            if !k.is_kind(Kind::Range) {
                let i = Value::fixnum(i64::from(cx.to_i32(*k)?));
                member(cx, this, i)?;
            }
        }
        let a = values_of(cx, this)?.as_value();
        cx.call(a, Sym::intern("values_at"), keys)
    }

    /// Calls the block with each value.
    ///
    ///     Struct.new(:a, :b).new(1, 2).each.to_a   #=> [1, 2]
    #[method("each")]
    fn each(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this, "each", &[]);
        }
        for n in names_of(cx, this)? {
            let v = cx.ivar_get(this, n);
            cx.yield1(block, v)?;
        }
        Ok(this)
    }

    /// Calls the block with each name and value.
    ///
    ///     Struct.new(:a, :b).new(1, 2).each_pair.to_a   #=> [[:a, 1], [:b, 2]]
    #[method("each_pair")]
    fn each_pair(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this, "each_pair", &[]);
        }
        let b = hash::PairBlock::new(cx, block);
        for n in names_of(cx, this)? {
            let v = cx.ivar_get(this, n);
            b.call(cx, Value::sym(n), v)?;
        }
        Ok(this)
    }

    /// The values for which the block is true.
    ///
    ///     Struct.new(:a, :b).new(1, 2).select { |v| v > 1 }   #=> [2]
    #[method("select", "filter")]
    fn select(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this, "select", &[]);
        }
        let out = cx.new_array();
        for n in names_of(cx, this)? {
            let v = cx.ivar_get(this, n);
            if cx.yield1(block, v)?.truthy() {
                ArrayCell::push(out, &mut cx.heap, v);
            }
        }
        Ok(out.as_value())
    }

    /// Takes over the members (for `dup` and `clone`).
    ///
    ///     Struct.new(:a).new([1]).dup.a   #=> [1]
    #[method("initialize_copy", private)]
    fn initialize_copy(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        if this == other {
            return Ok(this);
        }
        cx.check_frozen(this)?;
        if !same_class(cx, this, other) {
            return cx.type_error("initialize_copy should take same class object");
        }
        for n in names_of(cx, this)? {
            let v = cx.ivar_get(other, n);
            cx.ivar_set_raw(this, n, v);
        }
        Ok(this)
    }
}
