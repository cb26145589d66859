//! Jumps, returns, exception instructions.

use super::unwind::unwind;
use super::{check, dispatch, next, r};
use crate::frame::*;
use crate::methods::fast;
use crate::raise::Result;
use crate::vm::Cx;
use std::sync::atomic::Ordering;
use zakuro_bytecode::{CodeKind, Insn, Intrinsic, Op};
use zakuro_object::*;

pub unsafe fn halt(_: &mut Cx, _: *const Insn, _: *mut Value, _: *const CodeState) -> bool {
    true
}
#[inline(always)]
pub unsafe fn polled(cx: &Cx) -> bool {
    // SAFETY: poll points to the VM's own word.
    unsafe { (*cx.poll).load(Ordering::Relaxed) != 0 }
}
/// Safepoint before the instruction at `ip`.
#[cold]
#[inline(never)]
pub unsafe fn poll_at(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; `ip` is about to be run, so the frame stands there while other threads, traps and the collector look at it.
    // Nothing of the frame is cached here: what ran meanwhile may have changed its registers, but not moved it.
    unsafe {
        (*cx.fp).ip = ip;
        check!(cx, ip, regs, cs, cx.safepoint_slow());
        dispatch!(cx, (*cx.fp).ip, regs, cs)
    }
}
pub unsafe fn jump(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; the verifier has checked the target.
    unsafe { dispatch!(cx, ip.offset((*ip).imm() as isize), regs, cs) }
}
pub unsafe fn loop_(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; the verifier has checked the target.
    unsafe {
        let ip = ip.offset((*ip).imm() as isize);
        if polled(cx) {
            return poll_at(cx, ip, regs, cs);
        }
        dispatch!(cx, ip, regs, cs)
    }
}
macro_rules! conditional {
    ($($name:ident $cond:expr, $poll:expr;)*) => {$(
        pub unsafe fn $name(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
            // SAFETY: the contract of handlers; the verifier has checked register and target, and that an instruction follows.
            unsafe {
                let i = *ip;
                let test: fn(Value) -> bool = $cond;
                if test(r!(regs, i.a)) {
                    let ip = ip.offset(i.imm() as isize);
                    if $poll && polled(cx) {
                        return poll_at(cx, ip, regs, cs);
                    }
                    dispatch!(cx, ip, regs, cs)
                }
                next!(cx, ip, regs, cs)
            }
        }
    )*};
}
conditional! {
    jump_if |v| v.truthy(), false;
    jump_unless |v| !v.truthy(), false;
    loop_if |v| v.truthy(), true;
    loop_unless |v| !v.truthy(), true;
    jump_nil |v| v.is_nil(), false;
    jump_not_nil |v| !v.is_nil(), false;
    jump_def |v| !v.is_undef(), false;
}

pub unsafe fn jump_other(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: as for `conditional`.
    unsafe {
        if !r!(regs, (*ip).a).is_fixnum() || cx.redefined & (fast::INTEGER | fast::TRACED) != 0 {
            dispatch!(cx, ip.offset((*ip).imm() as isize), regs, cs)
        }
        next!(cx, ip, regs, cs)
    }
}
macro_rules! search {
    ($($name:ident $op:tt;)*) => {$(
        pub unsafe fn $name(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
            // SAFETY: as for `conditional`. Fixnums are ordered as their bits are.
            unsafe {
                let i = *ip;
                if (r!(regs, i.a).bits() as i64) $op (Value::fixnum(i.b as i16 as i64).bits() as i64) {
                    dispatch!(cx, ip.offset(i.c as i16 as isize), regs, cs)
                }
                next!(cx, ip, regs, cs)
            }
        }
    )*};
}
search! { jump_below <; jump_same ==; }

pub unsafe fn return_(cx: &mut Cx, ip: *const Insn, regs: *mut Value, _: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; a Ruby frame always has one below it, whose `ip` is its call or a stub: both are followed by an instruction.
    // r0 of this window is the base of that call.
    unsafe {
        r!(regs, 0) = r!(regs, (*ip).a);
        let caller = cx.fp.sub(1);
        cx.fp = caller;
        dispatch!(cx, (*caller).ip.add(1), (*caller).regs, (*caller).code)
    }
}

/// `return` in a block: the target is the method or lambda around it.
pub unsafe fn return_block(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; frames from `stacks.frames` up to `fp` are live, and the walk stops below the first (`wrapping_sub`: that
    // address is only compared). States around a running block's are alive, as its unit keeps theirs; EnvCells are reached through `from_value`.
    unsafe {
        let f = cx.fp;
        (*f).ip = ip;
        if (*f).aux & FRAME_LAMBDA != 0 {
            return return_(cx, ip, regs, cs);
        }
        let value = r!(regs, (*ip).a);
        match return_target(cx, f, cs) {
            Some(Target::Call(env)) => {
                let _ = cx.throw::<()>(ThrowKind::Return, env, value);
            }
            Some(Target::Body(env)) => {
                let mark = left_body(cx, RETURNS, value);
                let _ = cx.throw::<()>(ThrowKind::Return, env, mark);
            }
            None => {
                let _ = no_target::<()>(cx, value, false);
            }
        }
        unwind(cx, ip, regs, cs)
    }
}

/// What a `return` in a block leaves, by its environment.
enum Target {
    /// A method or lambda.
    Call(Value),
    /// A class body, whose value then tells the code around to return.
    Body(Value),
}

/// The operand of LeaveBody and LeftBody for `return`.
const RETURNS: u16 = 0;

/// What a class body answers that is left by a jump; the code around goes on with it.
pub(super) fn left_body(cx: &mut Cx, leap: u16, value: Value) -> Value {
    let header = zakuro_object::header(ids::OBJECT, Kind::Throw, ThrowKind::Return as u16);
    alloc_cell(&cx.heap, ThrowCell { header, tag: Value::fixnum(leap as i64), value }).as_value()
}

/// Whether a `return` leads somewhere from where a running class body stands.
unsafe fn leads_out_of_body(cx: &Cx, body: *const Frame) -> bool {
    // SAFETY: as for `return_block`. The frame below a class body's, if it is one of Ruby, stands at the instruction that opens the class; two more follow it
    // in any code, which ends with a return.
    unsafe {
        let mut body = body;
        loop {
            let around = body.wrapping_sub(1);
            let below = around < cx.stacks.frames.cast_const();
            if below || (*around).is_boundary() || (*(*around).ip).op == super::machine::LEAVE {
                return false;
            }
            let code = (*around).code;
            if (*code).opcode_at((*around).ip) != Op::OpenClass {
                return false;
            }
            let (copy, left) = ((*around).ip.add(1), (*around).ip.add(2));
            let awaited = (*code).opcode_at(copy) == Op::Move && (*code).opcode_at(left) == Op::Intrinsic;
            if !awaited || (*left).x != Intrinsic::LeftBody as u8 || (*left).b != RETURNS {
                return false;
            }
            match (*code).code.kind {
                CodeKind::Method => return true,
                CodeKind::Program => return false,
                CodeKind::Block | CodeKind::Eval => return (*around).aux & FRAME_LAMBDA != 0 || return_target(cx, around, code).is_some(),
                CodeKind::Class => body = around,
            }
        }
    }
}

/// Whether a lambda of a program runs between two frames: then a `return` in a Proc of the program has nothing to leave.
unsafe fn runs_in_lambda(from: *const Frame, to: *const Frame, program: *const CodeState) -> bool {
    // SAFETY: caller: two frames of the running stack, `to` below `from`; states around a running block's are alive.
    unsafe {
        let mut g = from.wrapping_sub(1);
        while g > to {
            if !(*g).is_boundary() && (*g).aux & FRAME_LAMBDA != 0 {
                let mut root = (*g).code;
                while matches!((*root).code.kind, CodeKind::Block | CodeKind::Eval) && !(*root).parent.get().is_null() {
                    root = (*root).parent.get();
                }
                if std::ptr::eq(root, program) {
                    return true;
                }
            }
            g = g.wrapping_sub(1);
        }
        false
    }
}

/// Whether a block stands in `-> { }` or `lambda { }`.
unsafe fn written_as_lambda(block: *const CodeState) -> bool {
    // SAFETY: caller: a state around a running block's, which keeps those around it.
    unsafe {
        let parent = (*block).parent.get();
        if parent.is_null() {
            return false;
        }
        let (code, children) = (&(*parent).code, &(*parent).children);
        let is_block = |child: u16| children.get(child as usize).is_some_and(|c| std::ptr::eq(c.get(), block));
        code.insns.iter().any(|i| match i.opcode() {
            Op::NewProc => i.x == 1 && is_block(i.b),
            Op::SendBlk | Op::SendSelfBlk => {
                let site = &code.calls[i.c as usize];
                site.name == sym::lambda && site.literal_block().is_some_and(is_block)
            }
            _ => false,
        })
    }
}

/// What a `return` in the running block leaves.
unsafe fn return_target(cx: &Cx, f: *const Frame, cs: *const CodeState) -> Option<Target> {
    // SAFETY: as for `return_block`.
    unsafe {
        let frames = cx.stacks.frames.cast_const();
        let mut env = super::blocks::parent_env(f);
        let mut around = (*cs).parent.get();
        // Outwards, scope by scope: the first one that may be returned from must be running.
        while !around.is_null() && !env.is_nil() {
            let inner = matches!((*around).code.kind, CodeKind::Block | CodeKind::Eval);
            if (*around).own_env {
                let mut g = f.wrapping_sub(1);
                while g >= frames && ((*g).is_boundary() || !(*(*g).code).own_env || super::blocks::env_of(g) != env) {
                    g = g.wrapping_sub(1);
                }
                let live = g >= frames;
                if live && (*around).code.kind == CodeKind::Class {
                    return leads_out_of_body(cx, g).then_some(Target::Body(env));
                }
                if live && (*around).code.kind == CodeKind::Program && runs_in_lambda(f, g, around) {
                    return None;
                }
                if live && (!inner || (*g).aux & FRAME_LAMBDA != 0) {
                    return Some(Target::Call(env));
                }
                if !live && inner && written_as_lambda(around) {
                    return None;
                }
                env = Ref::<EnvCell>::from_value(env).map_or(Value::NIL, |e| e.parent);
            }
            if !inner {
                break;
            }
            around = (*around).parent.get();
        }
        None
    }
}

/// Whether a frame stands in the call that the block `block` is written at: it has not returned.
unsafe fn gives_block(f: *const Frame, block: *const CodeState) -> bool {
    // SAFETY: caller: a live Ruby frame, whose `ip` is the instruction that called.
    unsafe {
        let (i, code) = (*(*f).ip, (*f).code);
        if !matches!((*code).opcode_at((*f).ip), Op::SendBlk | Op::SendSelfBlk | Op::SendX | Op::Super | Op::SuperX) {
            return false;
        }
        let literal = (&(*code).code.calls)[i.c as usize].literal_block();
        literal.is_some_and(|child| (&(*code).children)[child as usize].get() == block)
    }
}

/// `break` in a block: ends the call that the block was given to.
pub unsafe fn break_block(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; the walk over frames is that of `return_block`, and each frame that `gives_block` looks at waits for a
    // callee.
    unsafe {
        let f = cx.fp;
        (*f).ip = ip;
        if (*f).aux & FRAME_LAMBDA != 0 {
            return return_(cx, ip, regs, cs);
        }
        let value = r!(regs, (*ip).a);
        match break_target(cx, f, cs) {
            Some(env) => {
                let _ = cx.throw::<()>(ThrowKind::Break, env, value);
            }
            None => {
                let _ = no_target::<()>(cx, value, true);
            }
        }
        unwind(cx, ip, regs, cs)
    }
}

/// The environment in which the call stands that a `break` in a block ends.
unsafe fn break_target(cx: &Cx, f: *const Frame, cs: *const CodeState) -> Option<Value> {
    // SAFETY: as for `break_block`.
    unsafe {
        let frames = cx.stacks.frames.cast_const();
        let env = super::blocks::parent_env(f);
        let mut g = f.wrapping_sub(1);
        if env.is_nil() || (*f).aux & FRAME_ORPHAN != 0 {
            return None;
        }
        while g >= frames {
            if !(*g).is_boundary() && (*(*g).code).own_env && super::blocks::env_of(g) == env {
                return gives_block(g, cs).then_some(env);
            }
            g = g.wrapping_sub(1);
        }
        None
    }
}

/// Whether a `break` or `return` of the running block has something to leave.
pub(super) unsafe fn leads_somewhere(cx: &Cx, cs: *const CodeState, is_break: bool) -> bool {
    // SAFETY: the caller is a handler of this frame and its code.
    unsafe {
        let f = cx.fp;
        let leads = if is_break { break_target(cx, f, cs).is_some() } else { return_target(cx, f, cs).is_some() };
        (*f).aux & FRAME_LAMBDA != 0 || leads
    }
}

/// LocalJumpError of a `break` or `return` whose target has ended.
#[cold]
#[inline(never)]
pub(super) fn no_target<T>(cx: &mut Cx, value: Value, is_break: bool) -> Result<T> {
    let (message, reason) = if is_break { ("break from proc-closure", "break") } else { ("unexpected return", "return") };
    let e = cx.exception(ids::LOCAL_JUMP_ERROR, message);
    cx.ivar_set_raw(e, Sym::intern("@exit_value"), value);
    cx.ivar_set_raw(e, Sym::intern("@reason"), Value::sym(Sym::intern(reason)));
    cx.raise_value(e)
}

pub unsafe fn catch(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; `a` is a register.
    unsafe {
        r!(regs, (*ip).a) = cx.take_pending();
        next!(cx, ip, regs, cs)
    }
}
pub unsafe fn rethrow(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; `a` is a register.
    unsafe {
        (*cx.fp).ip = ip;
        cx.pending = r!(regs, (*ip).a);
        unwind(cx, ip, regs, cs)
    }
}
pub unsafe fn get_err(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; `a` is a register.
    unsafe {
        r!(regs, (*ip).a) = cx.errinfo;
        next!(cx, ip, regs, cs)
    }
}
pub unsafe fn set_err(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; `a` is a register.
    unsafe {
        let v = r!(regs, (*ip).a);
        // A jump on its way (ensure during break, throw) is no exception.
        if v.is_nil() || v.is_kind(Kind::Exception) {
            cx.errinfo = v;
        }
        next!(cx, ip, regs, cs)
    }
}
pub unsafe fn rescue_match(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; pattern and exception stay in their registers, which are roots, while `===` runs.
    unsafe {
        let i = *ip;
        (*cx.fp).ip = ip;
        let (pattern, exc) = (r!(regs, i.b), r!(regs, i.c));
        let m = check!(cx, ip, regs, cs, cx.rescue_matches(pattern, exc, i.x == 1));
        r!(regs, i.a) = Value::bool(m);
        next!(cx, ip, regs, cs)
    }
}

impl Cx {
    fn rescue_matches(&mut self, pattern: Value, exc: Value, list: bool) -> crate::raise::Result<bool> {
        if list {
            let Some(a) = Ref::<ArrayCell>::from_value(pattern) else { return Ok(false) };
            let mut i = 0;
            while let Some(p) = a.get(i) {
                if self.rescue_matches(p, exc, false)? {
                    return Ok(true);
                }
                i += 1;
            }
            return Ok(false);
        }
        let Some(c) = self.class_id(pattern) else {
            return self.type_error("class or module required for rescue clause");
        };
        if !self.is_builtin(pattern, sym::eqq, ids::MODULE) {
            return self.case_eq(pattern, exc);
        }
        let wanted = self.tracing & (crate::events::C_CALL | crate::events::C_RETURN) != 0;
        match self.method_of(pattern, sym::eqq).filter(|_| wanted && exc.is_kind(Kind::Exception)) {
            Some(m) => Ok(self.call_told(m, pattern, sym::eqq, &[exc], false, crate::builtin::Block::NONE)?.truthy()),
            None => Ok(self.is_a(exc, c)),
        }
    }
}
