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
        let hint = (*(*cs).ivars.add(i.c as usize)).slot as usize;
        let name = (&(*cs).code.ivars)[i.c as usize];
        match cx.listed_variable(r!(regs, 0), name, hint) {
            Some((v, at)) if !v.is_template() => {
                if at != hint {
                    note_place(cs, i, at);
                }
                r!(regs, i.a) = v;
                true
            }
            _ => false,
        }
    }
}
/// The same of one that is set and stands in the list already.
#[inline(never)]
pub(super) unsafe fn set_listed(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: as in `get_listed`.
    unsafe {
        let i = *ip;
        let hint = (*(*cs).ivars.add(i.c as usize)).slot as usize;
        let name = (&(*cs).code.ivars)[i.c as usize];
        let at = cx.set_listed(r!(regs, 0), name, r!(regs, i.a), hint);
        at.inspect(|at| note_place(cs, i, *at)).is_some()
    }
}
/// The cache of the site, if nothing else uses it, remembers the place in a list.
unsafe fn note_place(cs: *const CodeState, i: Insn, at: usize) {
    // SAFETY: caller: `i` is a verified instruction of the state's Code with an ivar site, which nobody else looks at meanwhile.
    let c = unsafe { &mut *(*cs).ivars.add(i.c as usize) };
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
