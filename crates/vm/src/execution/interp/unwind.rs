//! Unwinding: finds the handler of a pending exception or the target of a jump, frame by frame.

use super::dispatch;
use crate::frame::*;
use crate::vm::Cx;
use zakuro_bytecode::{HandlerKind, Insn};
use zakuro_object::*;

/// Continues after an error. `cx.pending` is an exception or a jump; every frame's `ip` says where it stands.
#[cold]
#[inline(never)]
pub unsafe fn unwind(cx: &mut Cx, _: *const Insn, _: *mut Value, _: *const CodeState) -> bool {
    // SAFETY: frames down to the boundary are live.
    unsafe {
        loop {
            let f = cx.fp;
            if (*f).is_boundary() || (*(*f).ip).op == super::machine::LEAVE {
                return false;
            }
            let cs = (*f).code;
            let regs = (*f).regs;
            let at = (*cs).index_of((*f).ip) as u32;
            let jump = Ref::<ThrowCell>::from_value(cx.pending);
            let mine = jump.is_some_and(|j| (*cs).own_env && !j.tag.is_nil() && super::blocks::env_of(f) == j.tag);
            if mine
                && let Some(j) = jump
                && j.throw_kind() == ThrowKind::Break
            {
                let base = (*(*f).ip).a;
                *regs.add(base as usize) = j.value;
                cx.pending = Value::NIL;
                dispatch!(cx, (*f).ip.add(1), regs, cs)
            }
            let is_exception = jump.is_none();
            // exit! runs no ensure clause, and nothing does after the grace time.
            let at_once = cx.life.is_hard() || jump.is_some_and(|j| j.throw_kind() == ThrowKind::Kill && j.value.is_fixnum());
            let found = (*cs)
                .code
                .handlers
                .iter()
                .find(|h| h.start <= at && at < h.end && !at_once && (is_exception || h.kind == HandlerKind::Ensure))
                .map(|h| h.target);
            if let Some(target) = found {
                let ip = (*cs).insns.get().add(target as usize);
                (*f).ip = ip;
                dispatch!(cx, ip, regs, cs)
            }
            if mine
                && let Some(j) = jump
                && j.throw_kind() == ThrowKind::Return
            {
                if cx.tracing != 0 {
                    cx.trace_left(f, j.value);
                }
                *regs = j.value;
                cx.pending = Value::NIL;
                let caller = f.sub(1);
                cx.fp = caller;
                dispatch!(cx, (*caller).ip.add(1), (*caller).regs, (*caller).code)
            }
            if cx.tracing != 0 {
                // A block that breaks answers what it breaks with; the calls between it and its target answer nothing.
                let broken = jump.filter(|j| j.throw_kind() == ThrowKind::Break && super::blocks::parent_env(f) == j.tag);
                cx.trace_left(f, broken.map_or(Value::NIL, |j| j.value));
            }
            cx.fp = f.sub(1);
        }
    }
}
