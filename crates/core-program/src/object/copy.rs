//! dup, clone, freeze.

use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// Frozen as a program sees it. A class's flag is in its data: the cell may be shared by all VMs.
pub fn is_frozen(cx: &Cx, v: Value) -> bool {
    match cx.class_id(v) {
        Some(c) => cx.class(c).frozen,
        None => v.is_frozen(),
    }
}

pub fn check_not_frozen(cx: &mut Cx, v: Value) -> Result<()> {
    match cx.class_id(v) {
        Some(c) if cx.class(c).frozen => cx.frozen_class_error(v),
        Some(_) => Ok(()),
        None => cx.check_frozen(v),
    }
}

/// Freezes an object (shallow).
pub fn freeze(cx: &mut Cx, v: Value) {
    if let Some(c) = cx.class_id(v) {
        if !cx.class(c).frozen {
            cx.class_mut(c).frozen = true;
        }
        return freeze_singletons(cx, c);
    }
    cx.freeze_cell(v);
    let c = cx.dispatch_class(v);
    if cx.class(c).kind == ClassKind::Singleton {
        freeze_singletons(cx, c);
    }
}

/// Freezes the singleton classes that a class has, its singleton class's one, and so on.
fn freeze_singletons(cx: &mut Cx, class: ClassId) {
    let mut at = class;
    while let Some(s) = cx.class(at).singleton {
        if !cx.class(s).frozen {
            cx.class_mut(s).frozen = true;
        }
        at = s;
    }
}

fn is_immediate_like(v: Value) -> bool {
    !v.is_cell() || matches!(v.kind_of_cell(), Kind::Float | Kind::Bignum | Kind::Rational | Kind::Complex)
}

/// A new object of the same class (no singleton) and state; hooks are the caller's business.
pub(crate) fn shallow(cx: &mut Cx, v: Value) -> Result<Value> {
    let class = cx.class_of(v);
    let unique: &[ClassId] = match v.kind_of_cell() {
        Kind::Object | Kind::Data => &[ids::ARITH_SEQ, ids::LOCATION, ids::ENCODING, ids::THREAD, ids::TRACE_POINT, ids::ISEQ],
        _ => &[],
    };
    if unique.iter().any(|c| cx.inherits(class, *c)) {
        let name = cx.class_name(class);
        return cx.type_error(format!("allocator undefined for {name}"));
    }
    let shape = cx.root_shape(class);
    let copy = match v.kind_of_cell() {
        k @ (Kind::Object | Kind::Exception) => {
            if let Some(copy) = cx.object_copy(v, class) {
                return Ok(copy);
            }
            let copy = cx.new_object_of_kind(class, k);
            cx.ivar_copy(v, copy);
            return Ok(copy);
        }
        Kind::String => {
            let s: Ref<StringCell> = Ref::of(v);
            StringCell::substring(&cx.heap, shape, s, 0, s.len()).as_value()
        }
        Kind::Array => {
            let a: Ref<ArrayCell> = Ref::of(v);
            ArrayCell::slice(&cx.heap, shape, a, 0, a.len()).as_value()
        }
        Kind::Hash => return Ok(zakuro_core_collections::hash::copy(cx, Ref::of(v))),
        Kind::Range => {
            let r: Ref<RangeCell> = Ref::of(v);
            RangeCell::make_open(&cx.heap, shape, r.low(), r.high(), r.exclusive()).as_value()
        }
        Kind::Proc => {
            let p: Ref<ProcCell> = Ref::of(v);
            let mut header = p.header;
            header.shape = shape;
            header.flags &= LAMBDA | ORPHAN;
            alloc_cell(&cx.heap, ProcCell { header, code: p.code, env: p.env, self_: p.self_, me: p.me, extra: ProcCell::origin(p) }).as_value()
        }
        Kind::MethodObj => {
            let m: Ref<MethodObjCell> = Ref::of(v);
            let header = Header { shape, kind: Kind::MethodObj as u8, flags: 0, aux: m.header.aux };
            let cell = MethodObjCell { header, receiver: m.receiver, method: m.method, class: m.class, name: m.name };
            alloc_cell(&cx.heap, cell).as_value()
        }
        Kind::Data => DataCell::make(&cx.heap, shape, None).as_value(),
        Kind::Class => return copy_class(cx, v),
        _ => {
            let c = cx.class_name_of(v);
            return cx.type_error(format!("can't copy {c}"));
        }
    };
    cx.ivar_copy(v, copy);
    Ok(copy)
}

/// Methods, constants and variables of a class for a copy of it.
fn copy_class_data(cx: &mut Cx, from: ClassId, to: ClassId) {
    let (original, copied) = (cx.class_value(from), cx.class_value(to));
    // The scope of the original's methods, and that of the copy's: it looks for constants and class variables in the copy.
    let mut scopes = (Value::NIL, Value::NIL);
    for name in cx.class(from).method_order.clone().iter() {
        if let Some(m) = cx.method_in(from, name) {
            let owner = if m.owner == from { to } else { m.owner };
            let copy = match Ref::<CrefCell>::from_value(m.cref) {
                Some(scope) if m.method_kind() == MethodKind::Ruby && scope.class == original => {
                    if scopes.0 != m.cref {
                        let header = scope.header;
                        let (parent, refinements) = (scope.parent, scope.refinements);
                        let new = alloc_cell(&cx.heap, CrefCell { header, class: copied, parent, definee: Value::NIL, refinements });
                        scopes = (m.cref, new.as_value());
                    }
                    cx.copy_method_into(m, scopes.1, owner)
                }
                _ => cx.copy_method(m, m.called, owner, m.visibility()),
            };
            cx.add_method(to, name, copy);
        }
    }
    // The copy is new: there is nothing that a module could refuse.
    let _ = cx.copy_modules(from, to);
}

fn copy_class(cx: &mut Cx, v: Value) -> Result<Value> {
    let Some(from) = cx.class_id(v) else { return Ok(v) };
    let (kind, superclass) = (cx.class(from).kind, cx.class(from).superclass);
    if kind == ClassKind::Singleton {
        return cx.type_error("can't create instance of singleton class");
    }
    if from == ids::BASIC_OBJECT {
        return cx.type_error("can't copy the root class");
    }
    let class = cx.shape(v.shape_key()).class;
    let to = cx.new_class_of(class, kind, if kind == ClassKind::Class { superclass } else { None });
    let copy = cx.class_value(to);
    copy_class_data(cx, from, to);
    let (consts, order) = (cx.class(from).consts.clone(), cx.class(from).const_order.clone());
    let (cvars, ivars) = (cx.class(from).cvars.clone(), cx.class(from).ivars.clone());
    let (alloc, hint, extra) = (cx.class(from).alloc, cx.class(from).ivar_hint, cx.class(from).extra);
    cx.cvars_changed();
    let d = cx.class_mut(to);
    d.consts = consts;
    d.const_order = order;
    d.cvars = cvars;
    d.ivars = ivars;
    d.alloc = alloc;
    d.ivar_hint = hint;
    d.extra = extra;
    if let Some(s) = cx.class(from).singleton {
        let t = cx.singleton_class(copy)?;
        copy_class_data(cx, s, t);
    }
    Ok(copy)
}

/// Whether `name` is still the builtin hook that does nothing beyond what `shallow` did.
fn hook_is_builtin(cx: &mut Cx, v: Value, name: Sym) -> bool {
    cx.is_builtin(v, name, ids::KERNEL)
}

/// The same of `initialize_copy`: those of String, Array and Hash take over the content, which the copy has.
fn copies_by_itself(cx: &mut Cx, copy: Value) -> bool {
    let owner = match copy.kind_of_cell() {
        Kind::String => ids::STRING,
        Kind::Array => ids::ARRAY,
        Kind::Hash => ids::HASH,
        _ => ids::KERNEL,
    };
    cx.is_builtin(copy, sym::initialize_copy, owner)
}

/// A String, Array or Hash whose `initialize_copy` the program has replaced begins empty: the content is what that takes over.
fn without_content(cx: &mut Cx, copy: Value) {
    if let Some(a) = Ref::<ArrayCell>::from_value(copy) {
        ArrayCell::clear(a, &mut cx.heap);
    } else if let Some(s) = Ref::<StringCell>::from_value(copy) {
        StringCell::clear(s, &mut cx.heap);
    } else if let Some(h) = Ref::<HashCell>::from_value(copy) {
        HashCell::change(h, &mut cx.heap, |t| t.clear());
        HashCell::set_default(h, Value::NIL, false);
    }
}

/// `v.dup`
pub fn dup(cx: &mut Cx, v: Value) -> Result<Value> {
    if is_immediate_like(v) {
        return Ok(v);
    }
    let copy = shallow(cx, v)?;
    crate::gc::copy_finalizers(cx, v, copy)?;
    let by_itself = copies_by_itself(cx, copy);
    // As in CRuby, a plain String asks no hook.
    let plain = copy.is_kind(Kind::String) && v.shape_key() == ids::STRING.0;
    if plain || hook_is_builtin(cx, copy, sym::initialize_dup) && by_itself {
        return Ok(copy);
    }
    if !by_itself {
        without_content(cx, copy);
    }
    cx.call(copy, sym::initialize_dup, &[v])?;
    Ok(copy)
}

/// Gives a copy what the original's singleton class has.
pub(crate) fn copy_singleton(cx: &mut Cx, v: Value, copy: Value) -> Result<()> {
    let s = cx.dispatch_class(v);
    if !v.is_kind(Kind::Class) && cx.class(s).kind == ClassKind::Singleton && cx.attached(s) == v {
        let t = cx.singleton_class(copy)?;
        copy_class_data(cx, s, t);
        let (consts, order) = (cx.class(s).consts.clone(), cx.class(s).const_order.clone());
        let d = cx.class_mut(t);
        d.consts = consts;
        d.const_order = order;
        // And what the singleton class's own singleton class has.
        let (mut from, mut to) = (s, t);
        while let Some(s) = cx.class(from).singleton {
            let class = cx.class_value(to);
            let t = cx.singleton_class(class)?;
            copy_class_data(cx, s, t);
            (from, to) = (s, t);
        }
    }
    Ok(())
}

/// `v.clone(freeze: ...)`; `frozen` None keeps the state.
pub fn clone(cx: &mut Cx, v: Value, frozen: Option<bool>) -> Result<Value> {
    if is_immediate_like(v) {
        if frozen == Some(false) {
            let c = cx.class_name_of(v);
            return cx.arg_error(format!("can't unfreeze {c}"));
        }
        return Ok(v);
    }
    let copy = shallow(cx, v)?;
    crate::gc::copy_finalizers(cx, v, copy)?;
    copy_singleton(cx, v, copy)?;
    let by_itself = copies_by_itself(cx, copy);
    if !by_itself {
        without_content(cx, copy);
    }
    if !(hook_is_builtin(cx, copy, sym::initialize_clone) && by_itself) {
        match frozen {
            None => cx.call(copy, sym::initialize_clone, &[v])?,
            Some(f) => {
                let kw = cx.new_hash();
                cx.hash_set(kw, Value::sym(sym::freeze), Value::bool(f))?;
                cx.call_full(copy, sym::initialize_clone, &[v, kw.as_value()], true, Block::NONE)?
            }
        };
    }
    if frozen == Some(true) || frozen.is_none() && is_frozen(cx, v) {
        freeze(cx, copy);
    } else if frozen.is_none() && v.is_chilled() {
        copy.set_flags(v.flags() & (flags::FROZEN | CHILLED | CHILLED_SYMBOL));
    }
    Ok(copy)
}

#[ruby_class(ids::STRING)]
pub mod string {
    use super::*;

    /// A copy that is not frozen, as of any object; a plain String's runs no hook.
    ///
    ///     s = "a".freeze; t = s.dup; t << "b"; [s, t]   #=> ["a", "ab"]
    #[method("dup")]
    fn dup(cx: &mut Cx, this: Value) -> Result<Value> {
        super::dup(cx, this)
    }
}

#[ruby_class(ids::KERNEL)]
pub mod kernel {
    use super::*;

    /// A shallow copy: same class and variables, not frozen, without singleton methods.
    ///
    ///     a = [1, [2]].freeze; b = a.dup; b << 3; [a, b]   #=> [[1, [2]], [1, [2], 3]]
    #[method("dup")]
    fn dup(cx: &mut Cx, this: Value) -> Result<Value> {
        super::dup(cx, this)
    }
    /// A shallow copy with singleton methods and frozen state (`freeze: true` or `false` decides otherwise).
    ///
    ///     "a".freeze.clone.frozen?                  #=> true
    ///     "a".freeze.clone(freeze: false).frozen?   #=> false
    #[method("clone")]
    fn clone(cx: &mut Cx, this: Value, kw: Kwargs) -> Result<Value> {
        kw.only(cx, &[sym::freeze])?;
        let frozen = match kw.get(sym::freeze) {
            None | Some(Value::NIL) => None,
            Some(Value::TRUE) => Some(true),
            Some(Value::FALSE) => Some(false),
            Some(v) => {
                let c = cx.class_shown(v);
                return cx.arg_error(format!("unexpected value for freeze: {c}"));
            }
        };
        super::clone(cx, this, frozen)
    }
    /// Called on a copy with the original.
    #[method("initialize_copy", private)]
    fn initialize_copy(cx: &mut Cx, this: Value, original: Value) -> Result<Value> {
        if this == original {
            return Ok(this);
        }
        check_not_frozen(cx, this)?;
        if cx.class_of(this) != cx.class_of(original) {
            return cx.type_error("initialize_copy should take same class object");
        }
        Ok(this)
    }
    /// Called on the copy that `dup` made: calls `initialize_copy`.
    #[method("initialize_dup", private)]
    fn initialize_dup(cx: &mut Cx, this: Value, original: Value) -> Result<Value> {
        cx.call(this, sym::initialize_copy, &[original])?;
        Ok(this)
    }
    /// Called on the copy that `clone` made: calls `initialize_copy`.
    #[method("initialize_clone", private)]
    fn initialize_clone(cx: &mut Cx, this: Value, original: Rest, kw: Kwargs) -> Result<Value> {
        let [original] = original[..] else { return cx.arity_error(original.len(), 1, Some(1)) };
        kw.only(cx, &[sym::freeze])?;
        cx.call(this, sym::initialize_copy, &[original])?;
        Ok(this)
    }
    /// Makes the object unchangeable (shallow).
    ///
    ///     a = [1].freeze; (a << 2 rescue $!.message)   #=> "can't modify frozen Array: [1]"
    #[method("freeze")]
    fn freeze(cx: &mut Cx, this: Value) -> Value {
        super::freeze(cx, this);
        this
    }
    /// Whether the object can't be changed.
    ///
    ///     [1.frozen?, :a.frozen?, [].frozen?]   #=> [true, true, false]
    #[method("frozen?", effect = "leaf", reason = "looks at the tables of classes")]
    fn frozen(cx: &Cx, this: Value) -> bool {
        is_frozen(cx, this)
    }
}
