//! The builtin `send`: its call becomes that of the method which its first argument names, without a frame of its own.

use super::calls::{becomes, call_native, describe, enter, first_argument, push_entered, push_simple};
use super::control::{poll_at, polled};
use super::dispatch;
use crate::builtin::{Block, NativeFn};
use crate::frame::*;
use crate::methods::Method;
use crate::raise::Result;
use crate::vm::{Cx, PendingCall};
use zakuro_bytecode::Insn;
use zakuro_object::*;

/// `send` with a name whose method is one in Ruby that takes the other arguments as they stand, or a builtin: its frame takes the call's place, as long as the name is the same.
pub(super) fn prepare_sent(cx: &mut Cx, recv: Value, name: Value, argc: u8, cache: &mut CallCache) {
    let Some(name) = name.as_sym() else { return };
    let Some(m) = cx.method_of_here(recv, name) else { return };
    let (target, handler): (usize, Handler) = match m.method_kind() {
        MethodKind::Ruby => {
            let callee = cx.method_state(m);
            // SAFETY: the state of a method of this VM.
            if !unsafe { (*callee).simple && (*callee).required == argc as u16 - 1 } {
                return;
            }
            (callee as usize, sent)
        }
        MethodKind::Native => (Cx::native_fn(m) as usize, sent_native),
        _ => return,
    };
    cx.note_cached_name(name);
    cache.target = target;
    cache.me = m.as_value();
    cache.extra = name.0;
    cache.handler = handler;
}
/// Whether the call of a `send` is the one that its cache is prepared for; then its arguments stand where the method wants them.
#[inline(always)]
pub(super) unsafe fn takes_sent(cx: &Cx, base: *mut Value, argc: u8, cache: *const CallCache) -> bool {
    // SAFETY: caller: argc values, at least one of them, stand above the base.
    unsafe {
        if *base.add(1) != Value::sym(Sym((*cache).extra)) || cx.tracing != 0 {
            return false;
        }
        // A loop, and no call of memmove, for so few.
        for k in 1..argc as usize {
            *base.add(k) = base.add(k + 1).read_volatile();
        }
        true
    }
}
pub(super) unsafe fn sent(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; `send_miss` chose this handler for a `send` with a name.
    unsafe {
        let i = *ip;
        let cache = (*cs).calls.add(i.c as usize);
        if takes_sent(cx, regs.add(i.a as usize), i.x, cache) {
            return push_simple::<false>(cx, ip, regs, cache, Block::NONE);
        }
        sent_other(cx, ip, regs, cs)
    }
}
/// The same of a builtin.
pub(super) unsafe fn sent_native(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: as in `sent`; `target` is the builtin's function.
    unsafe {
        let i = *ip;
        let cache = (*cs).calls.add(i.c as usize);
        if takes_sent(cx, regs.add(i.a as usize), i.x, cache) {
            let f: NativeFn = std::mem::transmute((*cache).target);
            return call_native(cx, ip, regs, cs, f, (*cache).me, i.x as usize - 1, Block::NONE);
        }
        sent_other(cx, ip, regs, cs)
    }
}
/// `send` with another name than the cache knows.
#[inline(never)]
unsafe fn sent_other(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: as in `sent`.
    unsafe {
        (*cx.fp).ip = ip;
        if let Some(callee) = push_sent_simple(cx, regs.add((*ip).a as usize), (*ip).x) {
            let base = (*cx.fp).regs;
            if polled(cx) {
                return poll_at(cx, (*callee).insns.get(), base, callee);
            }
            dispatch!(cx, (*callee).insns.get(), base, callee)
        }
        describe_sent(cx, ip, regs, cs);
        enter(cx, ip, regs, cs)
    }
}
/// A `send` of any name whose method is one in Ruby that takes the other arguments as they stand: the state of that, whose frame is the current one. None: nothing has happened.
unsafe fn push_sent_simple(cx: &mut Cx, base: *mut Value, argc: u8) -> Option<*const CodeState> {
    // SAFETY: as in `sent`, and in `push_simple`.
    unsafe {
        let name = (*base.add(1)).as_sym().filter(|_| cx.tracing == 0)?;
        if cx.active_refinements(Method::of((*cx.fp).me).cref).is_some() {
            return None;
        }
        let class = cx.dispatch_class(*base);
        let m = cx.find_method(class, name).filter(|m| m.method_kind() == MethodKind::Ruby)?;
        let callee = cx.method_state(m);
        let nf = cx.fp.add(1);
        let fits = (*callee).simple && (*callee).required == argc as u16 - 1;
        if !fits || nf >= cx.frame_limit || base.wrapping_add((*callee).nregs as usize) >= cx.stack_limit {
            return None;
        }
        for k in 1..argc as usize {
            *base.add(k) = base.add(k + 1).read_volatile();
        }
        for k in (*callee).nil_from..(*callee).nlocals {
            *base.add(k as usize) = Value::NIL;
        }
        nf.write(Frame { ip: (*callee).insns.get(), regs: base, code: callee, block: Block::NONE, me: m.as_value(), aux: 0 });
        cx.fp = nf;
        Some(callee)
    }
}
/// The same for machine code: see [`push_entered`].
pub(super) unsafe fn push_sent_other(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> Result<*const CodeState> {
    // SAFETY: as in `sent`.
    unsafe {
        if let Some(callee) = push_sent_simple(cx, regs.add((*ip).a as usize), (*ip).x) {
            return Ok(callee);
        }
        push_sent_entered(cx, ip, regs, cs)
    }
}
#[inline(never)]
unsafe fn push_sent_entered(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> Result<*const CodeState> {
    // SAFETY: as in `sent`.
    unsafe {
        describe_sent(cx, ip, regs, cs);
        push_entered(cx, regs.add((*ip).a as usize))
    }
}
/// `cx.call` becomes the call that a `send` makes, or its own.
unsafe fn describe_sent(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) {
    // SAFETY: as in `sent`. The key matches: the method is the one that `send_miss` found.
    unsafe {
        let base = regs.add((*ip).a as usize);
        describe(cx, ip, regs, cs);
        if !sends_on(cx, base)
            && let Some(m) = sender(cx, *base, (&(*cs).code.calls)[(*ip).c as usize].name)
        {
            cx.call.me = m.as_value();
        }
    }
}
/// The builtin `send` itself, whose cache has what it led to.
pub(super) unsafe fn sender(cx: &mut Cx, recv: Value, name: Sym) -> Option<Method> {
    let class = cx.dispatch_class(recv);
    // SAFETY: the frame on top is of Ruby code.
    cx.find_method_from(Method::of(unsafe { (*cx.fp).me }).cref, class, name)
}
/// `cx.call`, a call of the builtin `send`, becomes that of the method which its first argument names. False: that is for the builtin.
pub(super) unsafe fn sends_on(cx: &mut Cx, base: *mut Value) -> bool {
    // SAFETY: caller: argc values stand above the base.
    unsafe {
        if cx.tracing != 0 {
            return false;
        }
        let Some(name) = first_argument(cx, base).and_then(|n| n.as_sym()) else { return false };
        cx.method_of_here(*base, name).is_some_and(|to| becomes(cx, base, to, name, true))
    }
}
/// Pushes the frame of what [`takes_sent`] has found, for machine code.
pub(super) unsafe fn push_sent(cx: &mut Cx, base: *mut Value, cache: *const CallCache) -> Result<*const CodeState> {
    // SAFETY: as in `push_simple`.
    unsafe {
        let callee = (*cache).target as *const CodeState;
        let nf = cx.fp.add(1);
        if nf >= cx.frame_limit || base.wrapping_add((*callee).nregs as usize) >= cx.stack_limit {
            return cx.stack_error();
        }
        nf.write(Frame { ip: (*callee).insns.get(), regs: base, code: callee, block: Block::NONE, me: (*cache).me, aux: 0 });
        for k in (*callee).nil_from..(*callee).nlocals {
            *base.add(k as usize) = Value::NIL;
        }
        cx.fp = nf;
        Ok(callee)
    }
}

/// The cache of a SendX-like site that calls the builtin `send` has the method that it leads to, and behind the name's number what is never 0.
pub(super) unsafe fn prepare_sent_x(cx: &mut Cx, base: *const Value, positional: usize, cache: &mut CallCache) {
    // SAFETY: caller: so many values stand above the base.
    let (recv, name) = unsafe { (*base, (positional > 0).then(|| *base.add(1))) };
    let Some(name) = name.and_then(|n| n.as_sym()) else { return };
    let Some(m) = cx.method_of_here(recv, name) else { return };
    cache.target = match m.method_kind() {
        MethodKind::Ruby => cx.method_state(m) as usize,
        MethodKind::Native => 0,
        _ => return,
    };
    cx.note_cached_name(name);
    cache.me = m.as_value();
    cache.extra = name.0 + 1;
}
/// `cx.call` becomes the call that a cache knows, if it is one with the same name ([`prepare_sent_x`]).
pub(super) unsafe fn sends_known(cx: &mut Cx, base: *mut Value, cache: &CallCache) -> bool {
    // SAFETY: caller: argc values stand above the base.
    unsafe {
        let name = Sym(cache.extra - 1);
        if cx.tracing != 0 || first_argument(cx, base) != Some(Value::sym(name)) {
            return false;
        }
        let call = cx.call;
        for k in 1..call.argc {
            *base.add(k) = base.add(k + 1).read_volatile();
        }
        let state = cache.target as *const CodeState;
        cx.call = PendingCall { me: cache.me, argc: call.argc - 1, name, state, ..call };
        true
    }
}
/// Whether it is the builtin `send`, which calls what its first argument names.
pub(super) fn sends(m: Method) -> bool {
    Cx::native_row(m).is_some_and(|r| matches!(r.class, ids::KERNEL | ids::BASIC_OBJECT) && matches!(r.names[0], "send" | "__send__"))
}
