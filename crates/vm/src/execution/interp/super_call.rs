//! `super`.

use super::calls::{Laid, enter, hand_keywords, own_keywords, push_entered, spread};
use super::missing::{MissReason, missing};
use super::{check, next, r};
use crate::builtin::Block;
use crate::frame::*;
use crate::methods::Method;
use crate::raise::Result;
use crate::vm::{Cx, List, PendingCall};
use zakuro_bytecode::{CallSite, CodeKind, Insn, call_flags};
use zakuro_object::*;

/// Method above the running one, with its state if it is written in Ruby; the name it is looked up by.
unsafe fn find(cx: &mut Cx, cs: *const CodeState, site: u16, self_: Value) -> Result<(Option<(Method, *const CodeState)>, Sym)> {
    // SAFETY: the frame's `me` is a method cell; caches belong to this VM.
    unsafe {
        let me: Method = Ref::of_unchecked((*cx.fp).me);
        if me.method_kind() == MethodKind::Frame {
            return cx.raise(ids::NO_METHOD_ERROR, "super called outside of method");
        }
        let cache = &mut *(*cs).calls.add(site as usize);
        let key = (cx.epoch as u64) << 32 | self_.shape_key() as u64;
        if cache.key == key && cache.shape == me.owner.0 && cache.extra == me.name.0 && me.place() == 0 {
            return Ok((Some((Ref::of_unchecked(cache.me), cache.target as *const CodeState)), me.name));
        }
        let code = &(*cs).code;
        if code.calls[site as usize].flags & call_flags::ZSUPER != 0 && me.method_kind() == MethodKind::Proc {
            let message = "implicit argument passing of super from method defined by define_method() is not supported. Specify all arguments explicitly.";
            return cx.raise(ids::RUNTIME_ERROR, message);
        }
        if code.kind != CodeKind::Method {
            fits(cx, me, self_)?;
        }
        let class = cx.dispatch_class(self_);
        let found = cx.find_super_method_from(class, me);
        cx.note_cached_name(me.name);
        let found = found.map(|m| (m, if m.method_kind() == MethodKind::Ruby { cx.method_state(m) } else { std::ptr::null() }));
        // The cache knows nothing of further places of the owner.
        if let Some((m, state)) = found
            && me.place() == 0
        {
            cache.key = key;
            cache.shape = me.owner.0;
            cache.extra = me.name.0;
            cx.state_gets_cells(cs);
            cache.me = m.as_value();
            cache.target = state as usize;
        }
        Ok((found, me.name))
    }
}
/// In a block `self` may be another than the method's, and then nothing above the method concerns it: TypeError.
fn fits(cx: &mut Cx, me: Method, self_: Value) -> Result<()> {
    if cx.is_a(self_, me.owner) || cx.refined_class(me.owner).is_some() {
        return Ok(());
    }
    let mut expected = me.owner;
    if cx.class(expected).kind == ClassKind::Module {
        // A module's method may be bound to anything. Where it was found as the method of a class, that class is meant.
        // SAFETY: a live frame of this stack.
        let receiver = cx.method_frame().map(|f| unsafe { *(*f).regs }).filter(|v| cx.is_a(*v, me.owner));
        let Some(receiver) = receiver else { return Ok(()) };
        let class = cx.dispatch_class(receiver);
        let above = |cx: &Cx, c: ClassId| cx.class(c).superclass.filter(|s| cx.inherits(*s, me.owner));
        expected = class;
        while let Some(c) = above(cx, expected) {
            expected = c;
        }
    }
    let (class, expected) = (cx.class_value(cx.class_of(self_)), cx.class_value(expected));
    let (class, expected) = (cx.to_s_text(class)?, cx.to_s_text(expected)?);
    cx.type_error(format!("self has wrong type to call super in this context: {class} (expected {expected})"))
}
unsafe fn literal_block(cx: &mut Cx, regs: *mut Value, cs: *const CodeState, a: u16, site: &CallSite) -> Option<Block> {
    // SAFETY: the compiler reserves the two registers below `a` when the site has a block.
    unsafe {
        let child = cx.child_state(cs, site.literal_block()? as usize);
        let rec = regs.add(a as usize - 2);
        *rec = Value::from_bits(child as u64);
        *rec.add(1) = Value::from_bits(cx.fp as u64);
        Some(Block::on_stack(rec))
    }
}
pub unsafe fn super_(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers (see `Handler`).
    unsafe {
        (*cx.fp).ip = ip;
        describe(cx, ip, regs, cs);
        go(cx, ip, regs, cs)
    }
}
/// Describes a call with arguments as they stand in `cx.call`, but for its method.
unsafe fn describe(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) {
    // SAFETY: operands of a verified `Super`.
    unsafe {
        let i = *ip;
        r!(regs, i.a) = r!(regs, 0);
        let site = &(&(*cs).code.calls)[i.c as usize];
        let block = literal_block(cx, regs, cs, i.a, site).unwrap_or((*cx.fp).block);
        cx.call = PendingCall {
            me: Value::NIL,
            argc: i.x as usize,
            kw: false,
            lent: false,
            list: List::None,
            block,
            name: sym::empty,
            state: std::ptr::null(),
        };
    }
}
/// As [`super_`], for machine code: see [`push_entered`].
pub(super) unsafe fn push(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> Result<*const CodeState> {
    // SAFETY: as in `super_`.
    unsafe {
        describe(cx, ip, regs, cs);
        if prepare(cx, ip, regs, cs)? { push_entered(cx, regs.add((*ip).a as usize)) } else { Ok(std::ptr::null()) }
    }
}
pub unsafe fn super_x(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; `a` is the base of the window.
    unsafe {
        (*cx.fp).ip = ip;
        r!(regs, (*ip).a) = r!(regs, 0);
        check!(cx, ip, regs, cs, lay_out_super(cx, ip, regs, cs));
        go(cx, ip, regs, cs)
    }
}
#[inline(never)]
unsafe fn lay_out_super(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> Result<()> {
    // SAFETY: called by `super_x`: operands as in `spread`.
    unsafe {
        let i = *ip;
        let site = &(&(*cs).code.calls)[i.c as usize];
        let base = regs.add(i.a as usize);
        let Laid { argc, kw, lent, list, block: given, .. } = spread(cx, base, i.x as usize, site, &(*cs).code)?;
        let block = match literal_block(cx, regs, cs, i.a, site) {
            Some(b) => b,
            None if site.flags & call_flags::BLOCKARG != 0 => given,
            None => (*cx.fp).block,
        };
        cx.call = PendingCall { me: Value::NIL, argc, kw, lent, list, block, name: sym::empty, state: std::ptr::null() };
        Ok(())
    }
}
unsafe fn go(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: caller: arguments stand above the base, described by `cx.call`.
    unsafe {
        if check!(cx, ip, regs, cs, prepare(cx, ip, regs, cs)) {
            return enter(cx, ip, regs, cs);
        }
        next!(cx, ip, regs, cs)
    }
}
/// Finds the method: `cx.call` is ready. False: method_missing has answered, its result is in place.
#[inline(never)]
unsafe fn prepare(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> Result<bool> {
    // SAFETY: called by `go`; `missing` reads argc values above the base.
    unsafe {
        let i = *ip;
        let call = cx.call;
        let (m, name) = find(cx, cs, i.c, r!(regs, 0))?;
        match m {
            Some((m, state)) => {
                cx.call = PendingCall { me: m.as_value(), name, state, ..call };
                hand_keywords(cx, regs.add(i.a as usize));
                Ok(true)
            }
            None => {
                let base = regs.add(i.a as usize);
                own_keywords(cx, base, call.argc, call.lent);
                *base = missing(cx, base, call.argc, call.kw, call.block, name, MissReason::Super)?;
                Ok(false)
            }
        }
    }
}
