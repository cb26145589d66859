//! Instance variables of what has no layout: classes, modules, objects of the core's classes. They stand in lists, and a site remembers the place of its own.
//!
//! Apart from the handlers: what looks through a list would keep them from jumping on.

use super::r;
use crate::frame::*;
use crate::methods::Method;
use crate::vm::Cx;
use zakuro_bytecode::Insn;
use zakuro_object::*;

/// Reads a variable of a self without a layout; false where that is to be asked for elsewhere.
#[inline(never)]
pub(super) unsafe fn get_listed(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers, as in `get_ivar`.
    unsafe {
        let i = *ip;
        let found = value_of(cx, r!(regs, 0), cs, i.c as usize);
        found.inspect(|v| r!(regs, i.a) = *v).is_some()
    }
}
/// The value of the variable that a site names.
pub(super) unsafe fn value_of(cx: &mut Cx, me: Value, cs: *const CodeState, site: usize) -> Option<Value> {
    // SAFETY: caller: a site of this state.
    unsafe {
        let hint = (*(*cs).ivars.add(site)).slot as usize;
        let name = (&(*cs).code.ivars)[site];
        let (v, at) = cx.listed_variable(me, name, hint).filter(|(v, _)| !v.is_template())?;
        if at != hint {
            note_place(cs, site, at);
        }
        Some(v)
    }
}
/// The same of one that is set and stands in the list already.
#[inline(never)]
pub(super) unsafe fn set_listed(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: as in `get_listed`.
    unsafe {
        let i = *ip;
        set_value(cx, r!(regs, 0), r!(regs, i.a), cs, i.c as usize)
    }
}
/// Sets the variable that a site names, where it stands in a list already.
pub(super) unsafe fn set_value(cx: &mut Cx, me: Value, v: Value, cs: *const CodeState, site: usize) -> bool {
    // SAFETY: caller: a site of this state.
    unsafe {
        let hint = (*(*cs).ivars.add(site)).slot as usize;
        let name = (&(*cs).code.ivars)[site];
        let at = cx.set_listed(me, name, v, hint);
        at.inspect(|at| note_place(cs, site, *at)).is_some()
    }
}
/// The cache of the site, if nothing else uses it, remembers the place in a list.
unsafe fn note_place(cs: *const CodeState, site: usize, at: usize) {
    // SAFETY: caller: a site of this state, which nobody else looks at meanwhile.
    let c = unsafe { &mut *(*cs).ivars.add(site) };
    if c.shape == 0 && c.next == 0 {
        c.slot = at as u32;
    }
}
/// What a reader answers of a list of variables takes the receiver's place; false if that is to be asked for elsewhere.
#[inline(never)]
pub(super) unsafe fn read_listed(cx: &mut Cx, base: *mut Value, cache: *const CallCache) -> bool {
    // SAFETY: caller: the receiver stands at `base`, and the key of this entry of a call site matches; its handler is `attr_listed`.
    unsafe {
        let m: Method = Ref::of_unchecked((*cache).me);
        let found = m.data.as_sym().and_then(|name| cx.listed_variable(*base, name, (*cache).extra as usize));
        match found {
            Some((v, _)) if !v.is_template() => {
                *base = v;
                true
            }
            _ => false,
        }
    }
}
