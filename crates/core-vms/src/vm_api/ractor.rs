//! What Ractor (prelude/ractor.rb) needs of Rust: deep freezing, asking for it, Procs without ties.
//!
//! *Shareable*: frozen with everything that it refers to, or a class, a channel, a VM or Ractor handle. In Zakuro that is a promise which nothing
//! depends on: messages are copies whatever they hold. Both walks work with a list, not by recursion.

use super::channel::ChannelHandle;
use super::power::VmHandle;
use std::collections::HashSet;
use zakuro_macros::ruby_class;
use zakuro_vm::thread::Thread;
use zakuro_vm::*;

/// Whether a cell counts as shareable whatever it refers to.
fn is_handle(cx: &Cx, v: Value) -> bool {
    v.is_kind(Kind::Class)
        || v.flags() & flags::SHARED != 0
        || cx.is_data::<ChannelHandle>(v)
        || cx.is_data::<VmHandle>(v)
        || cx.is_a(v, ids::RACTOR)
        || (v.is_kind(Kind::Object) && cx.class(cx.class_of(v)).name == Some(Sym::intern("Ractor::Port")))
}

/// Appends what an object refers to, as far as sharing it goes.
pub(super) fn parts(cx: &mut Cx, v: Value, out: &mut RootedVec) {
    out.extend_from_slice(cx.ivar_list(v).values());
    match v.kind_of_cell() {
        Kind::Array => out.extend_from_slice(Ref::<ArrayCell>::of(v).elements(&cx.heap)),
        Kind::Hash => {
            let h = Ref::<HashCell>::of(v);
            for (k, x) in cx.hash_pairs(h) {
                out.extend([k, x]);
            }
            out.push(h.default);
        }
        Kind::Range => {
            let r = Ref::<RangeCell>::of(v);
            out.extend([r.low(), r.high()]);
        }
        k @ (Kind::Rational | Kind::Complex) => {
            if let Some((a, b)) = PairCell::from_value(v, k) {
                out.extend([a, b]);
            }
        }
        Kind::MethodObj => out.push(Ref::<MethodObjCell>::of(v).receiver),
        Kind::Proc => {
            let p = Ref::<ProcCell>::of(v);
            out.extend([p.self_, p.extra]);
        }
        _ => {}
    }
}

/// Variables of the environments around a block, with their names.
fn outer_variables(cx: &Cx, p: Ref<ProcCell>) -> Vec<(Sym, Value)> {
    let Some(scope) = cx.proc_scope(p) else { return Vec::new() };
    let mut out = Vec::new();
    for e in cx.seen_envs(scope) {
        for (name, slot) in e.names() {
            if let Some(v) = e.env.slots().get(slot as usize) {
                out.push((name, *v));
            }
        }
    }
    out
}

fn shareable(cx: &mut Cx, v: Value) -> bool {
    let mut seen = HashSet::new();
    let mut work = RootedVec::from_slice(cx, &[v]);
    while let Some(v) = work.pop() {
        if !v.is_cell() || is_handle(cx, v) || !seen.insert(v.bits()) {
            continue;
        }
        if !v.is_frozen() || cx.is_data::<Thread>(v) {
            return false;
        }
        if let Some(p) = Ref::<ProcCell>::from_value(v) {
            work.extend(outer_variables(cx, p).into_iter().map(|(_, x)| x));
        }
        parts(cx, v, &mut work);
    }
    true
}

/// Freezes an object with everything that it refers to.
fn freeze_all(cx: &mut Cx, v: Value) -> Result<()> {
    let mut seen = HashSet::new();
    let mut work = RootedVec::from_slice(cx, &[v]);
    while let Some(v) = work.pop() {
        if !v.is_cell() || is_handle(cx, v) || !seen.insert(v.bits()) {
            continue;
        }
        if cx.is_data::<Thread>(v) || (v.is_kind(Kind::Data) && cx.is_a(v, ids::IO)) {
            let shown = cx.inspect_text(v)?;
            return cx.raise(ids::RACTOR_ERROR, format!("can not make shareable object for {shown}"));
        }
        if let Some(p) = Ref::<ProcCell>::from_value(v) {
            if !shareable(cx, p.self_) {
                let shown = cx.inspect_text(v)?;
                return cx.raise(ids::ISOLATION_ERROR, format!("Proc's self is not shareable: {shown}"));
            }
            for (name, x) in outer_variables(cx, p) {
                if !shareable(cx, x) {
                    let shown = cx.inspect_text(x)?;
                    let m = format!("can not make shareable Proc because it can refer unshareable object {shown} from variable '{}'", name.name());
                    return cx.raise(ids::ISOLATION_ERROR, m);
                }
            }
        }
        if !v.is_frozen() {
            cx.call(v, sym::freeze, &[])?;
            if !v.is_frozen() {
                return cx.raise(ids::RACTOR_ERROR, "#freeze does not freeze object correctly");
            }
        }
        parts(cx, v, &mut work);
    }
    Ok(())
}

#[ruby_class(ids::RACTOR)]
pub mod ractor {
    use super::*;

    /// Freezes the object with everything that it refers to, or with `copy: true` a copy of it. Returns it.
    ///
    ///     Ractor.make_shareable([["a"]]).first.first.frozen?  #=> true
    #[method("make_shareable", singleton)]
    fn make_shareable(cx: &mut Cx, _this: Value, object: Value, kw: Kwargs) -> Result<Value> {
        let copy = Sym::intern("copy");
        kw.only(cx, &[copy])?;
        let mut v = object;
        if kw.get(copy).is_some_and(Value::truthy) && !shareable(cx, v) {
            let e = cx.pack(v)?;
            v = cx.open(e)?;
        }
        freeze_all(cx, v)?;
        Ok(v)
    }

    /// The object, which is to be the value of a constant with the given name: IsolationError unless it is shareable.
    #[method("__ensure_shareable", singleton)]
    fn ensure_shareable(cx: &mut Cx, _this: Value, object: Value, name: Ref<StringCell>) -> Result<Value> {
        if shareable(cx, object) {
            return Ok(object);
        }
        cx.raise(ids::ISOLATION_ERROR, format!("cannot assign unshareable object to {}", name.to_text()))
    }

    /// As `make_shareable` with `copy: true`.
    #[method("__shareable_copy", singleton)]
    fn shareable_copy(cx: &mut Cx, _this: Value, object: Value) -> Result<Value> {
        let v = if shareable(cx, object) {
            object
        } else {
            let e = cx.pack(object)?;
            cx.open(e)?
        };
        freeze_all(cx, v)?;
        Ok(v)
    }

    /// Whether the object is frozen with everything that it refers to.
    ///
    ///     [Ractor.shareable?([1, :a].freeze), Ractor.shareable?(["a"].freeze)]  #=> [true, false]
    #[method("shareable?", singleton)]
    fn is_shareable(cx: &mut Cx, _this: Value, object: Value) -> bool {
        shareable(cx, object)
    }

    /// A frozen copy of a Proc with another `self` and with copies of the outer variables that it uses, which must be shareable.
    #[method("__isolate", singleton)]
    fn isolate(cx: &mut Cx, _this: Value, block: Ref<ProcCell>, self_: Value, lambda: bool) -> Result<Value> {
        if !shareable(cx, self_) {
            let shown = cx.inspect_text(self_)?;
            return cx.raise(ids::ISOLATION_ERROR, format!("self should be shareable: {shown}"));
        }
        let used = transfer::OuterUse::of(block);
        let uses = |level: usize, slot: usize| used.as_ref().is_none_or(|u| u.uses(level, slot));
        let levels = cx.proc_scope(block).map_or(Vec::new(), |s| cx.seen_envs(s));
        let names = levels.iter().enumerate().flat_map(|(level, e)| e.names().into_iter().map(move |(name, slot)| (level, e, name, slot as usize)));
        let captured: Vec<(Sym, Value)> = names
            .filter(|(level, _, _, slot)| uses(*level, *slot))
            .filter_map(|(_, e, name, slot)| e.env.slots().get(slot).map(|v| (name, *v)))
            .collect();
        for (name, v) in captured {
            if !shareable(cx, v) {
                let shown = cx.inspect_text(v)?;
                let m = format!("cannot make a shareable Proc because it can refer unshareable object {shown} from variable '{}'", name.name());
                return cx.raise(ids::ISOLATION_ERROR, m);
            }
        }
        let mut envs = Vec::new();
        let mut at = block.env;
        while let Some(e) = Ref::<EnvCell>::from_value(at) {
            envs.push(e);
            at = e.parent;
        }
        let mut env = at;
        for (level, e) in envs.into_iter().enumerate().rev() {
            let copy = EnvCell::make(&cx.heap, env, e.slots().len());
            for (i, v) in e.slots().iter().enumerate() {
                // SAFETY: the copy has as many slots.
                unsafe { *copy.slots_ptr().add(i) = if uses(level, i) { *v } else { Value::NIL } };
            }
            env = copy.as_value();
        }
        let mut header = block.header;
        header.flags = flags::FROZEN | (block.header.flags & ORPHAN) | if lambda { LAMBDA } else { block.header.flags & LAMBDA };
        let copy = ProcCell { header, code: block.code, env, self_, me: block.me, extra: block.extra };
        Ok(alloc_cell(&cx.heap, copy).as_value())
    }
}
