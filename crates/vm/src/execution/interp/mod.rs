//! The interpreter: one function per opcode, each ending in a call of the next one, which the compiler turns into a jump.
//!
//! Rules that keep the jump (from opt-level 1 on; `xtask handlers` looks at the machine code of both builds): no local whose address escapes, no destructor alive at the
//! end, slow paths in cold functions of the handler's own signature, helpers with such locals never inlined. `cx`, `ip`, `regs` and `cs` stay in machine registers.
//!
//! A handler that can raise or call stores `ip` in its frame first. Errors go to [`unwind::unwind`], which finds a handler or returns false to
//! the native code that called [`run`].
//!
//! Rejected: one `match` loop (the indirect jump is merged and mispredicted; up to 60% slower with some layouts), closures.

// Code states outlive every frame that runs them, and handlers only read them: references through the raw pointer are sound.
#![allow(dangerous_implicit_autorefs)]

pub use crate::frame::Handler;
use crate::frame::{CodeState, Frame};
use crate::vm::Cx;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use zakuro_bytecode::{Insn, Op};
use zakuro_object::Value;

mod arith;
pub(crate) mod blocks;
pub(crate) mod calls;
mod control;
mod data;
mod defs;
pub mod heat;
mod interpolation;
mod intrinsics;
mod keywords;
mod links;
mod listed;
mod lists;
pub mod machine;
mod missing;
pub(crate) mod own_variables;
pub mod quiet;
mod sent;
mod super_call;
pub mod trace;
mod unwind;

pub use crate::methods::always_private;
pub use calls::{CallHandlers, RUBY_CALLS, RUBY2_KEYWORDS, send_miss};
pub use missing::MissReason;

macro_rules! dispatch {
    ($cx:expr, $ip:expr, $regs:expr, $cs:expr) => {{
        let ip: *const zakuro_bytecode::Insn = $ip;
        return ($crate::interp::TABLE[(*ip).op as usize])($cx, ip, $regs, $cs);
    }};
}
/// Goes on `$n` instructions further.
macro_rules! next {
    ($cx:expr, $ip:expr, $regs:expr, $cs:expr, $n:expr) => {
        $crate::interp::dispatch!($cx, $ip.add($n), $regs, $cs)
    };
    ($cx:expr, $ip:expr, $regs:expr, $cs:expr) => {
        $crate::interp::dispatch!($cx, $ip.add(1), $regs, $cs)
    };
}
/// Register as a place.
macro_rules! r {
    ($regs:expr, $n:expr) => {
        *$regs.add($n as usize)
    };
}
/// A fallible expression: on error unwinds.
macro_rules! check {
    ($cx:expr, $ip:expr, $regs:expr, $cs:expr, $e:expr) => {
        match $e {
            Ok(v) => v,
            Err($crate::raise::Exc) => return $crate::interp::unwind::unwind($cx, $ip, $regs, $cs),
        }
    };
}
pub(crate) use {check, dispatch, next, r};

static STUB: [Insn; 2] = [Insn { op: ENTER, x: 0, a: 0, b: 0, c: 0 }, Insn { op: Op::Halt as u8, x: 0, a: 0, b: 0, c: 0 }];
/// Pseudo opcode behind the table: enters the call described by `cx.call`.
const ENTER: u8 = 255;

/// Instructions of boundary frames: enter a call, halt.
#[inline(always)]
pub fn stub() -> *const Insn {
    STUB.as_ptr()
}

/// Runs from `ip` until the frame below returns to its boundary. True when it returned, false when an exception is pending.
///
/// # Safety
/// `cx.fp` is the frame to run (or, with the stub, the boundary), `regs` and `cs` belong to it.
#[inline(never)]
pub unsafe fn run(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the caller's word.
    unsafe { run_from(cx, TABLE[(*ip).op as usize], ip, regs, cs) }
}
/// The same, beginning with a handler.
///
/// # Safety
/// As for `run`; what is passed is the handler's affair.
#[inline(always)]
unsafe fn run_from(cx: &mut Cx, handler: Handler, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    cx.enters_ruby();
    let cx: *mut Cx = cx;
    // SAFETY: caller; the VM is not used through another reference while the closure runs. Handlers own nothing; what native code below them
    // owns is dropped on the way.
    unsafe {
        let (base, inspecting) = ((*cx).fp, (*cx).inspecting.len());
        match catch_unwind(AssertUnwindSafe(|| handler(&mut *cx, ip, regs, cs))) {
            Ok(done) => done,
            Err(panic) => refused(&mut *cx, base, inspecting, panic),
        }
    }
}

/// Native code was unwound: when memory was refused to it, the frame that called it gets NoMemoryError.
#[cold]
#[inline(never)]
unsafe fn refused(cx: &mut Cx, base: *mut Frame, inspecting: usize, mut panic: Box<dyn Any + Send>) -> bool {
    let cx: *mut Cx = cx;
    // SAFETY: frames from `base` up belong to this run; those of native code are boundaries, and nothing of it runs any more.
    unsafe {
        loop {
            if !crate::raise::is_refusal(&*panic) {
                resume_unwind(panic);
            }
            while (*cx).fp > base && (*(*cx).fp).is_boundary() {
                (*cx).fp = (*cx).fp.sub(1);
            }
            (*cx).inspecting.truncate(inspecting);
            (*cx).refused();
            let none = (std::ptr::null(), std::ptr::null_mut(), std::ptr::null());
            match catch_unwind(AssertUnwindSafe(|| unwind::unwind(&mut *cx, none.0, none.1, none.2))) {
                Ok(done) => return done,
                Err(p) => panic = p,
            }
        }
    }
}

unsafe fn bad_opcode(_: &mut Cx, ip: *const Insn, _: *mut Value, _: *const CodeState) -> bool {
    // SAFETY: ip points to an instruction.
    unreachable!("opcode {}", unsafe { (*ip).op })
}

/// The handler of an opcode. An opcode without one does not compile.
const fn handler(op: Op) -> Handler {
    macro_rules! handlers {
        ($($op:ident => $f:path),* $(,)?) => { match op { $(Op::$op => $f,)* } };
    }
    handlers! {
        Halt => control::halt, Move => data::mov, LoadInt => data::load_int, LoadNil => data::load_nil,
        LoadTrue => data::load_true, LoadFalse => data::load_false, LoadUndef => data::load_undef, LoadConst => data::load_const,
        NewStr => data::new_str, NewEnv => data::new_env, GetEnv => data::get_env, SetEnv => data::set_env, GetIvar => data::get_ivar,
        SetIvar => data::set_ivar, GetGlobal => data::get_global, SetGlobal => data::set_global, GetConst => data::get_const,
        GetConstFrom => data::get_const_from, SetConst => data::set_const,
        Jump => control::jump, Loop => control::loop_, JumpIf => control::jump_if, JumpUnless => control::jump_unless,
        LoopIf => control::loop_if, LoopUnless => control::loop_unless, JumpNil => control::jump_nil, JumpNotNil => control::jump_not_nil,
        JumpDef => control::jump_def, JumpOther => control::jump_other, JumpBelow => control::jump_below, JumpSame => control::jump_same,
        JumpLt => arith::jump_lt, JumpLe => arith::jump_le, JumpGt => arith::jump_gt, JumpGe => arith::jump_ge, JumpEq => arith::jump_eq,
        JumpNotLt => arith::jump_not_lt, JumpNotLe => arith::jump_not_le, JumpNotGt => arith::jump_not_gt, JumpNotGe => arith::jump_not_ge,
        JumpNotEq => arith::jump_not_eq, LoopLt => arith::loop_lt, LoopLe => arith::loop_le, LoopGt => arith::loop_gt, LoopGe => arith::loop_ge,
        JumpLtI => arith::jump_lt_i, JumpLeI => arith::jump_le_i, JumpGtI => arith::jump_gt_i, JumpGeI => arith::jump_ge_i,
        JumpEqI => arith::jump_eq_i, JumpNotLtI => arith::jump_not_lt_i, JumpNotLeI => arith::jump_not_le_i,
        JumpNotGtI => arith::jump_not_gt_i, JumpNotGeI => arith::jump_not_ge_i, JumpNotEqI => arith::jump_not_eq_i,
        LoopLtI => arith::loop_lt_i, LoopLeI => arith::loop_le_i, LoopGtI => arith::loop_gt_i, LoopGeI => arith::loop_ge_i,
        Add => arith::add, Sub => arith::sub, Mul => arith::mul, Div => arith::div, Mod => arith::modulo, Pow => arith::slow_group,
        AddI => arith::add_i, SubI => arith::sub_i, MulI => arith::mul_i, DivI => arith::div_i, ModI => arith::mod_i, AndI => arith::and_i,
        ShlI => arith::shl_i, ShrI => arith::shr_i, Lt => arith::lt, Le => arith::le, Gt => arith::gt, Ge => arith::ge, Eq => arith::eq,
        Ne => arith::ne, And => arith::and, Or => arith::or, Xor => arith::xor, Shl => arith::shl, Shr => arith::shr, Aref => data::aref,
        CaseEq => arith::case_eq, Aset => data::aset, Not => arith::not, Neg => arith::neg, Len => data::len, Succ => arith::succ,
        NilP => arith::nil_p, EmptyP => data::empty_p,
        Send => calls::send, SendBlk => calls::send, SendSelf => calls::send_self, SendSelfBlk => calls::send_self, SendX => calls::send_x,
        Super => super_call::super_, SuperX => super_call::super_x, Yield => blocks::yield_, YieldX => blocks::yield_x,
        Return => control::return_, ReturnBlock => control::return_block, BreakBlock => control::break_block,
        BlockGiven => blocks::block_given, BlockProc => blocks::block_proc, NewProc => blocks::new_proc, DefMethod => defs::def_method,
        DefSingleton => defs::def_singleton, OpenClass => defs::open_class, NewArray => data::new_array, AskList => data::ask_list, ArrayPush => data::array_push,
        ArrayConcat => data::array_concat, Splat => data::splat, NewHash => data::new_hash, HashSet => data::hash_set,
        HashMerge => data::hash_merge, NewRange => data::new_range, ToS => data::to_s, Interp => data::interp, Intern => data::intern,
        NewRegexp => data::new_regexp, Expand => data::expand, Catch => control::catch, Rethrow => control::rethrow,
        RescueMatch => control::rescue_match, GetErr => control::get_err, SetErr => control::set_err, Intrinsic => intrinsics::intrinsic,
    }
}

const fn table() -> [Handler; 256] {
    let mut t: [Handler; 256] = [bad_opcode; 256];
    let mut i = 0;
    while i < Op::COUNT {
        t[i] = handler(Op::ALL[i]);
        i += 1;
    }
    t[ENTER as usize] = calls::enter;
    t[trace::TRACE as usize] = trace::trace;
    t[heat::PROFILE as usize] = heat::profile;
    t[machine::MACHINE as usize] = machine::machine;
    t[machine::LEAVE as usize] = machine::step_done;
    t
}

pub(crate) static TABLE: [Handler; 256] = table();
