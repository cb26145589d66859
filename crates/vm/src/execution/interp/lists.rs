//! Calls with a list at the end of their arguments, where the site's cache tells what they call.

use super::calls::{calls_proc, generic, send_x};
use super::sent::sends;
use crate::builtin::{Block, NativeFn};
use crate::frame::*;
use crate::methods::Method;
use crate::vm::Cx;
use zakuro_bytecode::{CallSite, Insn, call_flags};
use zakuro_object::*;

/// `f(a, *list)`, if it calls a Ruby method that takes so many arguments as they stand: the state of that, whose frame is the current one. None: nothing has happened.
#[inline]
pub(super) unsafe fn push_splat(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> Option<*const CodeState> {
    use call_flags::*;
    // SAFETY: the contract of handlers; operands as in `spread`, the frame's `ip` is stored. As in `push_simple`: a cache's `target` is the state of the Ruby method `me`, or null, and with `extra` it is another one's.
    unsafe {
        let i = *ip;
        let site = &(&(*cs).code.calls)[i.c as usize];
        let base = regs.add(i.a as usize);
        if site.flags & !(FCALL | SPLAT_FRESH | PUBLIC) != SPLAT || site.child != zakuro_bytecode::NO_BLOCK {
            return None;
        }
        let recv = if site.flags & FCALL != 0 && i.b == 0 { *regs } else { *base };
        let cache = &*(*cs).calls.add(i.c as usize);
        let callee = cache.target as *const CodeState;
        if cache.key != (cx.epoch as u64) << 32 | recv.shape_key() as u64 || callee.is_null() || cache.extra != 0 || !(*callee).simple {
            return None;
        }
        let to = base.add(i.x as usize);
        let given: &[Value] = match Ref::<ArrayCell>::from_value(*to) {
            Some(list) => list.elements(&cx.heap),
            None => &[],
        };
        let is_keywords = |v: &Value| v.is_kind(Kind::Hash) && v.flags() & KEYWORDS != 0;
        if i.x as usize - 1 + given.len() != (*callee).required as usize || given.last().is_some_and(is_keywords) {
            return None;
        }
        let nf = cx.fp.add(1);
        if nf >= cx.frame_limit || base.wrapping_add((*callee).nregs as usize) >= cx.stack_limit {
            return None;
        }
        for (k, v) in given.iter().enumerate() {
            *to.add(k) = *v;
        }
        *base = recv;
        for k in (*callee).nil_from..(*callee).nlocals {
            *base.add(k as usize) = Value::NIL;
        }
        nf.write(Frame { ip: (*callee).insns.get(), regs: base, code: callee, block: Block::NONE, me: cache.me, aux: 0 });
        cx.fp = nf;
        Some(callee)
    }
}

/// What the cache of a SendX site has, as [`generic`], when it calls a builtin with nothing but values, a list, and `**hash`: see [`lay_for_builtin`].
unsafe fn builtin_x(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers.
    unsafe { send_x(cx, ip, regs, cs) }
}
/// The handler of such a site's cache.
pub(super) fn handler_x(m: Method, site: &CallSite) -> Handler {
    use call_flags::*;
    let plain = site.flags & !(FCALL | PUBLIC | SPLAT | SPLAT_FRESH | KW | KW_FRESH) == 0 && site.child == zakuro_bytecode::NO_BLOCK;
    if plain && m.method_kind() == MethodKind::Native && !calls_proc(m) && !sends(m) { builtin_x } else { generic }
}
/// `f(a, *list)`, or with a `**hash` that has nothing, if it calls the builtin that the site's cache has: that, and the number of the arguments, which stand
/// in plain order then. None: nothing has happened.
#[inline(always)]
pub(super) unsafe fn lay_for_builtin(
    cx: &mut Cx,
    ip: *const Insn,
    regs: *mut Value,
    cs: *const CodeState,
) -> Option<(NativeFn, Value, usize)> {
    // SAFETY: the contract of handlers; operands as in `spread`. The list may be a variable's, so it is only read, and nothing runs while it is.
    unsafe {
        let i = *ip;
        let cache = &*(*cs).calls.add(i.c as usize);
        if cache.handler as usize != builtin_x as *const () as usize {
            return None;
        }
        let flags = (&(*cs).code.calls)[i.c as usize].flags;
        let base = regs.add(i.a as usize);
        let recv = if flags & call_flags::FCALL != 0 && i.b == 0 { *regs } else { *base };
        if cache.key != (cx.epoch as u64) << 32 | recv.shape_key() as u64 {
            return None;
        }
        let mut argc = i.x as usize;
        let has_kw = flags & call_flags::KW != 0;
        if has_kw && Ref::<HashCell>::from_value(*base.add(1 + argc)).is_some_and(|h| h.len() > 0) {
            return None;
        }
        if flags & call_flags::SPLAT != 0 {
            let at = base.add(argc);
            argc -= 1;
            if let Some(list) = Ref::<ArrayCell>::from_value(*at) {
                let mut given = list.elements(&cx.heap);
                if !has_kw
                    && let Some((last, others)) = given.split_last()
                    && let Some(h) = Ref::<HashCell>::from_value(*last)
                    && h.header.flags & KEYWORDS != 0
                {
                    if h.len() > 0 {
                        return None;
                    }
                    given = others;
                }
                if base.wrapping_add(argc + given.len() + 8) >= cx.stack_limit {
                    return None;
                }
                for (k, v) in given.iter().enumerate() {
                    *at.add(k) = *v;
                }
                argc += given.len();
            }
        }
        *base = recv;
        Some((Cx::native_fn(Ref::of_unchecked(cache.me)), cache.me, argc))
    }
}
