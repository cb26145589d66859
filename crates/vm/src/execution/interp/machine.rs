//! Between interpreter and machine code: how it is entered and left, and what it calls. What runs in machine code at all: [`super::heat`].

use super::arith;
use super::blocks;
use super::calls::{self, block_record};
use super::control::poll_at;
use super::heat::kinds;
use super::links;
use super::listed;
use super::lists;
use super::sent;
use super::super_call;
use super::unwind::unwind;
use super::{TABLE, check, dispatch};
use crate::builtin::{Block, NativeFn};
use crate::classes::Truth;
use crate::frame::*;
use crate::layouts::Layouts;
use crate::machine::{Act, Left, Looping, Rounds, Walk};
use crate::methods::fast;
use crate::raise::{Exc, Result};
use crate::sites::Site;
use crate::vm::Cx;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use zakuro_bytecode::machine::{Exit, Link, Machine, NO_ENTRY, index_within};
use zakuro_bytecode::{Code, Insn, Op};
use zakuro_object::*;

/// Pseudo opcode: machine code can be entered here.
pub(crate) const MACHINE: u8 = 252;
/// Pseudo opcode of a copy of the instructions in which frames stand whose machine code waits on the native stack. Who comes back to one ends its run of the interpreter, and
/// unwinding stops there.
pub const LEAVE: u8 = 251;

/// What of `Vm::redefined` machine code relies on.
pub const RELIED_ON: u32 = !(fast::CLASS_HASH | fast::OWN_TRUTH | fast::PROC | fast::LIST | fast::TO_F | fast::REFINED_EQUAL);

/// The handler of an opcode.
pub fn handler_of(op: Op) -> Handler {
    TABLE[op as usize]
}

/// Where frames of a Code stand while machine code waits.
pub fn waits(code: &Code) -> &[Insn] {
    code.heat.waits(|| code.insns.iter().map(|i| Insn { op: LEAVE, ..*i }).collect())
}

/// The copy of the instructions in which machine code is entered at these places.
pub fn entered(code: &Code, at: impl Iterator<Item = usize>) -> Box<[Insn]> {
    let mut copy = code.insns.clone();
    at.for_each(|i| copy[i].op = MACHINE);
    copy
}

/// [`MACHINE`].
pub unsafe fn machine(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; the opcode stands in instructions of machine code only, whose versions have the same entries.
    unsafe {
        let m: &Machine = &*(*cs).machine.get();
        let at = index_within(&m.insns, ip).unwrap_or_else(|| (*cs).index_of(ip));
        if (*cs).compares() {
            // It was left for the copy that tells.
            dispatch!(cx, (*cs).marked().add(at), regs, cs)
        }
        let v = match m.entries[at] {
            NO_ENTRY => {
                (*cx.fp).ip = ip;
                cx.left = Left::Guard;
                cx.left_by = std::ptr::null();
                0
            }
            entry => ((*cs).entry.get())(cx, entry as usize, regs, cs),
        };
        if v != 0 {
            *regs = Value::from_bits(v);
            let caller = cx.fp;
            dispatch!(cx, (*caller).ip.add(1), (*caller).regs, (*caller).code)
        }
        leave(cx, ip, regs, cs)
    }
}
/// Goes on with what machine code has left.
#[inline(never)]
pub(super) unsafe fn leave(cx: &mut Cx, _: *const Insn, _: *mut Value, _: *const CodeState) -> bool {
    // SAFETY: the frame on top is as the interpreter would have it.
    unsafe {
        let f = cx.fp;
        let (ip, regs, cs) = ((*f).ip, (*f).regs, (*f).code);
        // What stands there belongs to another way out, unless this is one by a guard.
        let by = if cx.left == Left::Guard { cx.left_by.as_ref() } else { None };
        let tried = std::mem::take(&mut cx.exit_tried);
        if tried {
            cx.leavings.tried += 1
        } else {
            cx.leavings.note(cx.left, by)
        }
        match cx.left {
            Left::Guard => {
                let op = failed(cx, ip, regs, cs, tried);
                TABLE[op as usize](cx, (*f).ip, regs, cs)
            }
            Left::Resume => dispatch!(cx, ip, regs, cs),
            Left::Raised => unwind(cx, ip, regs, cs),
            // Machine code asks at its beginning, too: where somebody always wants attention (`--gc=stress`, an exception that is masked) it would never get further.
            Left::Poll if (*cs).index_of(ip) == 0 => poll_at_beginning(cx, ip, regs, cs),
            Left::Poll => poll_at(cx, ip, regs, cs),
            Left::Unwound => goes_on(cx),
        }
    }
}
/// [`poll_at`] before a Code's first instruction, which the interpreter then runs.
#[cold]
#[inline(never)]
unsafe fn poll_at_beginning(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: as in `poll_at`; an opcode is done at the instruction that it stands in, or that a copy marks.
    unsafe {
        (*cx.fp).ip = ip;
        check!(cx, ip, regs, cs, cx.safepoint_slow());
        let ip = (*cx.fp).ip;
        let op = if (*ip).op == MACHINE { (&(*cs).code.insns)[(*cs).index_of(ip)].op } else { (*ip).op };
        TABLE[op as usize](cx, ip, regs, cs)
    }
}
#[cold]
fn goes_on(cx: &mut Cx) -> ! {
    match cx.unwound.take() {
        Some(panic) => resume_unwind(panic),
        None => unreachable!("machine code was left for a panic"),
    }
}
/// Notes a guard that failed; the opcode that the interpreter is to run.
#[inline(never)]
unsafe fn failed(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState, tried: bool) -> u8 {
    // SAFETY: as in `leave`; exits live as long as the machine code that they are of, which the state of the frame that many levels down holds.
    unsafe {
        let state = &*cs;
        let at = state.index_of(ip);
        let op = state.code.insns[at];
        let exit: *const Exit = std::mem::replace(&mut cx.left_by, std::ptr::null());
        let Some(exit) = exit.as_ref().filter(|_| !tried) else { return op.op };
        if op.opcode().group_length() > 1 {
            state.notes().note(at, kinds(&state.code, at, regs), state.code.insns.len());
        }
        // What comes next may be new, too.
        if !state.is_traced() {
            (*cx.fp).ip = state.marked().add(at);
        }
        let owner = &*(*cx.fp.sub(exit.depth as usize)).code;
        cx.guard_failed(owner, state, exit);
        op.op
    }
}

/// Runs the activation whose frame native code has just pushed, above a boundary. As [`super::run`].
#[inline(always)]
pub(crate) unsafe fn run_activation(cx: &mut Cx, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the caller's word.
    unsafe { run_rounds(cx, regs, cs, std::ptr::null_mut()) }
}
/// The same of a block, and of further rounds if its machine code goes on with the loop `rounds`, which may be null. The window then has the value of the last one.
#[inline(always)]
pub(crate) unsafe fn run_rounds(cx: &mut Cx, regs: *mut Value, cs: *const CodeState, rounds: *mut Rounds) -> bool {
    // SAFETY: the caller's word. Where machine code is in force, it is this one's.
    unsafe {
        let ip = (*cs).insns.get();
        if (*ip).op != MACHINE {
            return super::run(cx, ip, regs, cs);
        }
        cx.enters_ruby();
        let mut entry = 0;
        if !rounds.is_null() {
            entry = (*(*cs).machine.get()).rounds as usize;
            (*rounds).takes = (*cs).required as usize;
            cx.rounds = rounds;
        }
        let v = ((*cs).entry.get())(cx, entry, regs, cs);
        if v == 0 {
            return super::run_from(cx, leave, std::ptr::null(), std::ptr::null_mut(), std::ptr::null());
        }
        *regs = Value::from_bits(v);
        true
    }
}

/// What machine code calls. Each takes a handler's arguments and answers bits of a value or 0, with `Vm::left` set, unless it says otherwise.
pub mod help {
    use super::*;

    /// Runs what may raise or be unwound.
    #[inline(always)]
    pub(in crate::execution::interp) fn guarded(cx: &mut Cx, f: impl FnOnce(&mut Cx) -> Result<Value>) -> u64 {
        let (fp, inspecting) = (cx.fp, cx.inspecting.len());
        let cx: *mut Cx = cx;
        // SAFETY: nothing else uses the VM while the closure runs.
        match catch_unwind(AssertUnwindSafe(|| f(unsafe { &mut *cx }))) {
            Ok(Ok(v)) => v.bits(),
            // SAFETY: as above.
            Ok(Err(Exc)) => unsafe { raised(&mut *cx) },
            // SAFETY: as above; nothing of what stood on top of the frame runs any more.
            Err(panic) => unsafe {
                if !crate::raise::is_refusal(&*panic) {
                    return unwound(&mut *cx, panic);
                }
                (*cx).fp = fp;
                (*cx).inspecting.truncate(inspecting);
                (*cx).refused();
                raised(&mut *cx)
            },
        }
    }
    /// Runs the interpreter until it comes back to the frame `base`: 1, or 0.
    fn guarded_run(cx: &mut Cx, base: *mut Frame, f: impl FnOnce(&mut Cx) -> bool) -> u64 {
        let inspecting = cx.inspecting.len();
        let cx: *mut Cx = cx;
        // SAFETY: nothing else uses the VM while the closures run.
        unsafe {
            let mut done = catch_unwind(AssertUnwindSafe(|| f(&mut *cx)));
            if let Err(panic) = done {
                if !crate::raise::is_refusal(&*panic) {
                    return unwound(&mut *cx, panic);
                }
                done = catch_unwind(AssertUnwindSafe(|| super::super::refused(&mut *cx, base, inspecting, panic)));
            }
            match done {
                Ok(true) => 1,
                Ok(false) => raised(&mut *cx),
                Err(panic) => unwound(&mut *cx, panic),
            }
        }
    }
    #[cold]
    fn raised(cx: &mut Cx) -> u64 {
        cx.left = Left::Raised;
        0
    }
    #[cold]
    fn unwound(cx: &mut Cx, panic: Box<dyn std::any::Any + Send>) -> u64 {
        cx.left = Left::Unwound;
        cx.unwound = Some(panic);
        0
    }

    pub use crate::machine::no_room;

    /// After a call whose value is `v` (0: it stands where it belongs): the interpreter goes on behind it.
    #[cold]
    pub unsafe extern "C" fn go_on_behind(cx: &mut Cx, v: u64) {
        // SAFETY: the frame stands at its call.
        unsafe {
            let f = cx.fp;
            if v != 0 {
                *(*f).regs.add((*(*f).ip).a as usize) = Value::from_bits(v);
            }
            let cs = &*(*f).code;
            (*f).ip = cs.insns.get().add(cs.index_of((*f).ip) + 1);
        }
        cx.left = Left::Resume;
    }

    /// A guard fails although it holds; the next one to do so comes after some more, each time after another number of them.
    #[cold]
    pub unsafe extern "C" fn exits(cx: &mut Cx) -> u64 {
        const MOST: u32 = 61;
        cx.exit_every = cx.exit_every % MOST + 1;
        cx.exit_in = cx.exit_every;
        cx.exit_tried = true;
        0
    }

    /// A Float that is no flonum. Registers are being written back when this is called, so there is no way to raise: it is made beyond the limit, and the VM hears of that at its next safepoint.
    /// `known`: 0, or a value, which is the Float asked for if it is of the same double.
    pub unsafe extern "C" fn make_float(cx: &mut Cx, known: u64, d: f64) -> u64 {
        // SAFETY: a live value, if it is one.
        if known != 0 && unsafe { Value::from_bits(known) }.as_float().is_some_and(|f| f.to_bits() == d.to_bits()) {
            return known;
        }
        let cx: *mut Cx = cx;
        // SAFETY: nothing else uses the VM while a closure runs; what is refused has done nothing.
        unsafe {
            for again in [false, true] {
                match catch_unwind(AssertUnwindSafe(|| Value::float(&(*cx).heap, d))) {
                    Ok(v) => return v.bits(),
                    Err(panic) if crate::raise::is_refusal(&*panic) => (*cx).makes_room(again),
                    Err(_) => break,
                }
            }
            // The VM ends: nothing runs in it any more that would read this.
            (*cx).owes_refusal = true;
            Value::fixnum(0).bits()
        }
    }

    pub extern "C" fn sine(d: f64) -> f64 {
        d.sin()
    }
    pub extern "C" fn cosine(d: f64) -> f64 {
        d.cos()
    }

    /// Whether the call sites that a version links lead where it takes for granted that they do, for this self, and nothing else that it relies on has changed: [`LINKED`] and the generation.
    /// [`UNLINKED`] or [`UNLIKE`] if not; 0 if an exception is pending. `fp`: the function's frame.
    #[cold]
    pub unsafe extern "C" fn link(cx: &mut Cx, own: u64, fp: *mut Frame, cs: *const CodeState, table: *const Link) -> u64 {
        let mut found = UNLIKE;
        let to = &mut found;
        let v = guarded(cx, |cx| {
            // SAFETY: a live value, a frame of this VM's and its state.
            unsafe {
                if let Some(m) = links::relies_on(cx, cs, table) {
                    *to = if links::link(cx, Value::from_bits(own), (*fp).me, cs, &m.links) { LINKED } else { UNLINKED };
                }
            }
            Ok(Value::NIL)
        });
        match (v, found) {
            (0, _) => 0,
            (_, LINKED) => LINKED | cx.generation.get() as u64,
            (_, found) => found,
        }
    }
    /// What [`link`] answers.
    pub const LINKED: u64 = 1 << 32;
    pub const UNLIKE: u64 = 1;
    pub const UNLINKED: u64 = 2;

    /// A call of a function that the interpreter has to run instead: its frame is pushed, and stands at the beginning then. Answers 0, as if a guard had failed there.
    #[cold]
    pub unsafe extern "C" fn refuse(cx: &mut Cx, by: *const Exit, regs: *mut Value, cs: *const CodeState) -> u64 {
        // SAFETY: called as machine code is.
        unsafe {
            if crate::machine::interpreted(cx, 0, regs, cs) == 0 && cx.left == Left::Resume {
                cx.left = Left::Guard;
                cx.left_by = by;
            }
        }
        0
    }

    /// `v` after what may have run Ruby code. If something that machine code relies on has changed, the interpreter goes on behind the call, with its `value` (0: it stands where it belongs), and 0 is answered.
    /// `table`: the function's call sites; null: machine code looks itself.
    #[inline(always)]
    unsafe fn unless_changed(cx: &mut Cx, v: u64, value: u64, table: *const Site) -> u64 {
        // SAFETY: the caller's word.
        unsafe {
            if v == 0 || table.is_null() || (*table).shape.get() == cx.generation.get() || go_on_unless_changed(cx, table, value) != 0 {
                v
            } else {
                0
            }
        }
    }
    /// The table of call sites, which is that of an earlier generation, holds from now on: 1. Or the interpreter goes on behind a call: 0.
    #[cold]
    pub unsafe extern "C" fn go_on_unless_changed(cx: &mut Cx, table: *const Site, value: u64) -> u64 {
        // SAFETY: the caller's word.
        unsafe {
            if renew(cx, table) == 0 {
                return 1;
            }
            go_on_behind(cx, value);
        }
        0
    }
    /// What ends has a frame that stands where it waited, unless the interpreter goes on behind that: now it stands in the instructions that the interpreter runs.
    #[cold]
    pub unsafe extern "C" fn waits_no_more(f: *mut Frame) {
        // SAFETY: a frame of the function that ends.
        unsafe {
            if (*(*f).ip).op == LEAVE {
                let cs = &*(*f).code;
                (*f).ip = cs.insns.get().add(cs.index_of((*f).ip));
            }
        }
    }

    /// Calls the builtin that a site's entry leads to.
    #[inline(always)]
    unsafe fn call_site(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState, site: *const Site, with_block: bool) -> u64 {
        guarded(cx, |cx| {
            // SAFETY: machine code has compared the receiver's shape with the entry's, whose `target` is a builtin's function. The rest is as in `calls::call_native`.
            unsafe {
                let i = *ip;
                (*cx.fp).ip = ip;
                let f: NativeFn = std::mem::transmute((*site).target.get());
                let (me, base) = ((*site).me.get(), regs.add(i.a as usize));
                let block = if with_block { block_record(cx, regs, cs, i.a, (*site).extra.get() as u16) } else { Block::NONE };
                calls::run_builtin(cx, base, f, me, i.x as usize, block)
            }
        })
    }
    unsafe fn call_native(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState, with_block: bool) -> u64 {
        guarded(cx, |cx| {
            // SAFETY: machine code has compared key and handler: `target` is a builtin's function. The rest is as in `calls::call_native`.
            unsafe {
                let i = *ip;
                (*cx.fp).ip = ip;
                let cache = &*(*cs).calls.add(i.c as usize);
                let f: NativeFn = std::mem::transmute(cache.target);
                let (me, base) = (cache.me, regs.add(i.a as usize));
                let block = if with_block { block_record(cx, regs, cs, i.a, cache.extra as u16) } else { Block::NONE };
                calls::run_builtin(cx, base, f, me, i.x as usize, block)
            }
        })
    }
    pub unsafe extern "C" fn native(
        cx: &mut Cx,
        ip: *const Insn,
        regs: *mut Value,
        cs: *const CodeState,
        table: *const Site,
        site: *const Site,
    ) -> u64 {
        // SAFETY: the caller's word.
        unsafe {
            let v = call_site(cx, ip, regs, cs, site, false);
            unless_changed(cx, v, v, table)
        }
    }
    pub unsafe extern "C" fn native_blk(
        cx: &mut Cx,
        ip: *const Insn,
        regs: *mut Value,
        cs: *const CodeState,
        table: *const Site,
        site: *const Site,
    ) -> u64 {
        // SAFETY: the caller's word.
        unsafe {
            let v = call_site(cx, ip, regs, cs, site, true);
            unless_changed(cx, v, v, table)
        }
    }

    /// Pushes the frame of a Ruby method whose arguments have to be bound: its state.
    unsafe fn push_bound(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState, with_block: bool) -> u64 {
        let mut callee: *const CodeState = std::ptr::null();
        let to = &mut callee;
        let v = guarded(cx, |cx| {
            // SAFETY: machine code has compared key and handler.
            unsafe {
                (*cx.fp).ip = ip;
                *to = calls::push_bound(cx, ip, regs, cs, with_block)?;
            }
            Ok(Value::NIL)
        });
        if v == 0 { 0 } else { callee as u64 }
    }
    pub unsafe extern "C" fn bound(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> u64 {
        // SAFETY: the caller's word.
        unsafe { push_bound(cx, ip, regs, cs, false) }
    }
    pub unsafe extern "C" fn bound_blk(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> u64 {
        // SAFETY: the caller's word.
        unsafe { push_bound(cx, ip, regs, cs, true) }
    }

    /// `new`: makes the object, in the call's base, and pushes the frame of `initialize` one register further: its state.
    pub unsafe extern "C" fn new_object(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> u64 {
        let mut callee: *const CodeState = std::ptr::null();
        let to = &mut callee;
        let v = guarded(cx, |cx| {
            // SAFETY: machine code has compared key and handler; as in `calls::new_object`.
            unsafe {
                (*cx.fp).ip = ip;
                *to = calls::push_new(cx, ip, regs, cs)?;
            }
            Ok(Value::NIL)
        });
        if v == 0 { 0 } else { callee as u64 }
    }
    /// `a[i] = v` of a plain Array that may be changed; 0 if the interpreter has to do it.
    pub unsafe extern "C" fn array_set(cx: &mut Cx, a: u64, i: i64, v: u64) -> u64 {
        guarded(cx, |cx| {
            // SAFETY: machine code has looked at shape and flags.
            unsafe {
                let (a, v) = (Ref::<ArrayCell>::of_unchecked(Value::from_bits(a)), Value::from_bits(v));
                if i >= 0 && ArrayCell::try_set(a, i as usize, v) {
                    return Ok(Value::TRUE);
                }
                if i >= 0 && i < a.len() as i64 + 1024 {
                    ArrayCell::store(a, &mut cx.heap, i as usize, v);
                    return Ok(Value::TRUE);
                }
            }
            Ok(Value::FALSE)
        })
    }
    /// `a << v` of a plain Array that may be changed.
    pub unsafe extern "C" fn array_push(cx: &mut Cx, a: u64, v: u64) -> u64 {
        guarded(cx, |cx| {
            // SAFETY: machine code has looked at shape and flags.
            unsafe {
                let (r, v) = (Ref::<ArrayCell>::of_unchecked(Value::from_bits(a)), Value::from_bits(v));
                if !ArrayCell::try_push(r, v) {
                    ArrayCell::push(r, &mut cx.heap, v);
                }
                Ok(Value::from_bits(a))
            }
        })
    }
    /// `h[k]` of a plain Hash, whose default is nil; UNDEF if the interpreter has to do it.
    pub unsafe extern "C" fn hash_get(cx: &mut Cx, h: u64, k: u64) -> u64 {
        guarded(cx, |cx| {
            // SAFETY: machine code has looked at the shape; both stand in registers.
            let h: Ref<HashCell> = unsafe { Ref::of_unchecked(Value::from_bits(h)) };
            // SAFETY: a live value.
            let found = cx.hash_get(h, unsafe { Value::from_bits(k) })?;
            Ok(match found {
                Some(v) => v,
                None if h.default.is_nil() => Value::NIL,
                None => Value::UNDEF,
            })
        })
    }
    /// `h[k] = v` of a plain Hash that may be changed.
    pub unsafe extern "C" fn hash_set(cx: &mut Cx, h: u64, k: u64, v: u64) -> u64 {
        guarded(cx, |cx| {
            // SAFETY: machine code has looked at shape and flags; all stand in registers.
            unsafe { cx.hash_set(Ref::of_unchecked(Value::from_bits(h)), Value::from_bits(k), Value::from_bits(v))? };
            Ok(Value::TRUE)
        })
    }
    /// Length of a plain Array, Hash or ASCII String, with `strings` number of bytes of any String, as a Fixnum; 0 for others.
    pub unsafe extern "C" fn length(v: u64, strings: u64) -> u64 {
        // SAFETY: a live value; the shape tells the layout.
        unsafe {
            let v = Value::from_bits(v);
            if !v.is_cell() {
                return 0;
            }
            let shape = v.shape_key();
            let n = if shape == ids::ARRAY.0 {
                Ref::<ArrayCell>::of_unchecked(v).len()
            } else if shape == ids::HASH.0 {
                Ref::<HashCell>::of_unchecked(v).len()
            } else if shape == ids::STRING.0 {
                let s = Ref::<StringCell>::of_unchecked(v);
                // Characters of others have to be counted.
                if strings == 0 && s.code_range() != zakuro_object::string::CodeRange::Ascii {
                    return 0;
                }
                s.len()
            } else {
                return 0;
            };
            Value::fixnum(n as i64).bits()
        }
    }
    /// Whether two values are equal without a call of a method: TRUE, FALSE, or 0 if that takes one.
    pub unsafe extern "C" fn equal(a: u64, b: u64) -> u64 {
        // SAFETY: live values.
        let (a, b) = unsafe { (Value::from_bits(a), Value::from_bits(b)) };
        if arith::only_identical(a, b) {
            return Value::bool(a == b).bits();
        }
        arith::string_eq(a, b).map_or(0, |e| Value::bool(e).bits())
    }
    /// `pattern === v` without a call of a method written in Ruby: TRUE, FALSE, or UNDEF if that takes one.
    pub unsafe extern "C" fn case_equal(cx: &mut Cx, pattern: u64, v: u64) -> u64 {
        // SAFETY: live values.
        let known = unsafe { equal(pattern, v) };
        if known != 0 {
            return known;
        }
        guarded(cx, |cx| {
            // SAFETY: live values.
            let (p, v) = unsafe { (Value::from_bits(pattern), Value::from_bits(v)) };
            Ok(cx.matches_builtin(p, v).map_or(Value::UNDEF, Value::bool))
        })
    }
    /// Whether what is asked of an object's class is so, for callers without refinements of that: TRUE or FALSE.
    pub unsafe extern "C" fn has_builtin_truth(cx: &mut Cx, v: u64, truth: Truth) -> u64 {
        // SAFETY: a live value.
        let v = unsafe { Value::from_bits(v) };
        let key = (cx.epoch as u64) << 32 | v.shape_key() as u64;
        if let Some(is) = cx.truths_known.find(key, truth) {
            return Value::bool(is).bits();
        }
        guarded(cx, |cx| {
            let (names, owner): (&[Sym], _) = match truth {
                Truth::Nil => (&[sym::nil_p], ids::KERNEL),
                Truth::Not => (&[sym::not], ids::BASIC_OBJECT),
                Truth::Equal => (&[sym::eq, sym::neq], ids::BASIC_OBJECT),
            };
            let class = cx.dispatch_class(v);
            let is = (truth != Truth::Equal || cx.redefined & fast::REFINED_EQUAL == 0)
                && names.iter().all(|name| {
                    let found = cx.find_method(class, *name);
                    found.is_some_and(|m| m.method_kind() == MethodKind::Native && m.owner == owner && m.visibility() == Visibility::Public)
                });
            cx.truths_known.note((cx.epoch as u64) << 32 | v.shape_key() as u64, truth, is);
            Ok(Value::bool(is))
        })
    }
    /// Stores in a slot of an old environment.
    pub unsafe extern "C" fn set_old_env(e: u64, slot: usize, v: u64) {
        // SAFETY: machine code has found the environment as the interpreter does.
        unsafe { EnvCell::set(Ref::from_ptr(e as *mut EnvCell), slot, Value::from_bits(v)) }
    }
    /// Whether a call on `recv` leads where machine code expects; the site's entry in its table says so from now on.
    pub unsafe extern "C" fn site(cx: &mut Cx, recv: u64, cs: *const CodeState, table: *const Site, number: usize) -> u64 {
        // SAFETY: a live value, the state whose site it is, and what machine code keeps for the site.
        unsafe {
            let key = (cx.epoch as u64) << 32 | Value::from_bits(recv).shape_key() as u64;
            let leads = crate::sites::fill(table, number, &*cs, key);
            if leads {
                crate::sites::fill_made(table, number, |class| {
                    let slots = cx.slots_of_new(class);
                    let header = Header { shape: cx.class(class).root_shape, kind: Kind::Object as u8, flags: 0, aux: slots };
                    (header.word(), slots as usize)
                });
                crate::sites::fill_asked(table, number, |name| {
                    zakuro_base::memory::going_on(|| cx.responds_for_now(Value::from_bits(recv), name))
                });
            }
            leads as u64
        }
    }
    /// The table of call sites is that of an earlier generation: it is emptied, unless something is redefined that machine code relies on (1). Then it stays one of an earlier generation.
    #[cold]
    pub unsafe extern "C" fn renew(cx: &mut Cx, table: *const Site) -> u64 {
        if cx.redefined & RELIED_ON != 0 {
            return 1;
        }
        // SAFETY: the table of the function that runs.
        unsafe { crate::sites::renew(table, cx.generation.get()) };
        0
    }
    /// A new object of a class without anything of its own for that.
    pub unsafe extern "C" fn new_of(cx: &mut Cx, class: u64) -> u64 {
        guarded(cx, |cx| Ok(cx.new_object(ClassId(class as u32))))
    }
    /// The table of where instance variables that a Code names stand in `me` ([`crate::layouts`]): never null. Their beginning is in `Vm::slots`.
    pub unsafe extern "C" fn layout(cx: &mut Cx, me: u64, cs: *const CodeState) -> *const u32 {
        // SAFETY: a live value.
        let me = unsafe { Value::from_bits(me) };
        if !(me.is_kind(Kind::Object) || me.is_kind(Kind::Exception)) {
            if let Some((list, stamp)) = cx.list_at_hand(me)
                // SAFETY: a live state.
                && let Some(table) = unsafe { (*cs).listed_at_hand(stamp) }
            {
                cx.slots = list.as_ptr().cast::<u8>().wrapping_sub(1).cast();
                return table;
            }
            let Some(list) = cx.variable_list(me).map(std::ptr::from_ref) else { return Layouts::none() };
            cx.slots = list.cast::<u8>().wrapping_sub(1).cast_mut().cast();
            let stamp = cx.list_at_hand(me).map_or(0, |(_, stamp)| stamp);
            // SAFETY: nothing changes the list before it is read; the state is the one that runs, which nobody else looks at meanwhile.
            let more = unsafe { (*(cs as *mut CodeState)).take_listed(&*list, stamp) };
            if more > 0 {
                cx.heap.add_payload(more);
            }
            // SAFETY: as above.
            return unsafe { (*cs).layout.get() };
        }
        // SAFETY: both kinds are laid out as objects are.
        cx.slots = unsafe { (*(me.bits() as *const ObjectCell)).slots_ptr() };
        // SAFETY: the state that runs, which nobody else looks at meanwhile.
        let more = unsafe { (*(cs as *mut CodeState)).take_layout(me.shape_key(), |name| cx.slot_known(me.shape_key(), name)) };
        if more > 0 {
            cx.heap.add_payload(more);
        }
        // SAFETY: as above.
        unsafe { (*cs).layout.get() }
    }
    /// Runs an instruction that does not jump by its handler, whatever that calls: 1, or 0.
    unsafe fn stepped(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState, handler: usize) -> u64 {
        // SAFETY: `handler` is a [`Handler`]; `ip` stands in a copy of [`LEAVE`]: behind the instruction, and when what it calls has returned, its handler ends this run.
        unsafe {
            let handler = std::mem::transmute::<usize, Handler>(handler);
            (*cx.fp).ip = ip;
            guarded_run(cx, cx.fp, |cx| handler(cx, ip, regs, cs))
        }
    }

    /// An instance variable of self that is read by its site's slow way. As [`step`].
    unsafe fn got_ivar(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState, handler: usize) -> u64 {
        // SAFETY: as in `step`.
        unsafe {
            (*cx.fp).ip = ip;
            if listed::get_listed(cx, ip, regs, cs) { 1 } else { stepped(cx, ip, regs, cs, handler) }
        }
    }
    /// The same of one that is set.
    unsafe fn put_ivar(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState, handler: usize) -> u64 {
        // SAFETY: as in `step`.
        unsafe {
            (*cx.fp).ip = ip;
            match guarded(cx, |cx| Ok(Value::bool(listed::set_listed(cx, ip, regs, cs)))) {
                0 => 0,
                v if v == Value::TRUE.bits() => 1,
                _ => stepped(cx, ip, regs, cs, handler),
            }
        }
    }

    /// Runs what pushes the frame of a callee, or answers at once (null): its value stands at `base` then. 1, or 0.
    #[inline(always)]
    unsafe fn calls(cx: &mut Cx, base: *mut Value, push: impl FnOnce(&mut Cx) -> Result<*const CodeState>) -> u64 {
        let mut callee: *const CodeState = std::ptr::null();
        let to = &mut callee;
        let pushed = guarded(cx, |cx| {
            *to = push(cx)?;
            Ok(Value::NIL)
        });
        // SAFETY: the frame on top is the callee's.
        unsafe {
            match pushed {
                0 => 0,
                _ if callee.is_null() => 1,
                _ => runs(cx, base, callee),
            }
        }
    }
    /// Runs the callee whose frame was pushed; its value goes to `base`: 1, or 0.
    #[inline(always)]
    unsafe fn runs(cx: &mut Cx, base: *mut Value, callee: *const CodeState) -> u64 {
        // SAFETY: the frame on top is the callee's; below it stands the caller's, which waits in a copy of [`LEAVE`].
        unsafe {
            let own = cx.fp.sub(1);
            let window = (*cx.fp).regs;
            let mut v = ((*callee).entry.get())(cx, 0, window, callee);
            if v == 0 {
                v = nested(cx, window, own);
                if v == 0 {
                    return 0;
                }
            }
            // An object that is made stands below the window of its `initialize`, and is the value.
            if std::ptr::eq(window, base) {
                *base = Value::from_bits(v);
            }
            1
        }
    }

    /// A builtin's value goes to `base`: 1, or 0.
    unsafe fn answers(base: *mut Value, v: u64) -> u64 {
        if v == 0 {
            return 0;
        }
        // SAFETY: the caller's word.
        unsafe { *base = Value::from_bits(v) };
        1
    }
    /// A call, whatever it meets: what is written in Ruby runs from here, without an interpreter in between, where its cache has it. As [`step`].
    unsafe fn sent(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState, handler: usize) -> u64 {
        // SAFETY: as in `step`; what a cache's handler says of its entry holds. Receiver and arguments stand in the window.
        unsafe {
            let i = *ip;
            let base = regs.add(i.a as usize);
            let mut cache: *const CallCache = (*cs).calls.add(i.c as usize);
            let key = (cx.epoch as u64) << 32 | (*base).shape_key() as u64;
            let in_front = (*cache).key == key;
            if !in_front {
                let Some(other) = (*cs).other(i.c as usize, key) else { return stepped(cx, ip, regs, cs, handler) };
                cache = other;
            }
            (*cx.fp).ip = ip;
            let (h, known) = ((*cache).handler as usize, &calls::RUBY_CALLS);
            let filled = h == known.filled as usize || h == known.filled_blk as usize;
            let defined = h == known.defined as usize;
            if filled || defined || h == known.simple as usize || h == known.simple_blk as usize {
                let callee = (*cache).target as *const CodeState;
                let with_block = h == known.simple_blk as usize || h == known.filled_blk as usize;
                let block = if with_block { block_record(cx, regs, cs, i.a, (*cache).extra as u16) } else { Block::NONE };
                let nf = cx.fp.add(1);
                if nf >= cx.frame_limit || base.wrapping_add((*callee).nregs as usize) >= cx.stack_limit {
                    return stepped(cx, ip, regs, cs, handler);
                }
                nf.write(Frame {
                    ip: (*callee).insns.get(),
                    regs: base,
                    code: callee,
                    block,
                    me: (*cache).me,
                    aux: if defined { FRAME_DEFINED } else { 0 },
                });
                if filled || defined {
                    calls::fill(base, i.x, callee);
                }
                if defined {
                    calls::put_around(base, cache);
                }
                cx.fp = nf;
                return runs(cx, base, callee);
            }
            if h == known.attr_get as usize {
                let o = (*base).bits() as *mut ObjectCell;
                *base = *(*o).slots_ptr().add((*cache).extra as usize);
                return 1;
            }
            if h == known.attr_listed as usize && listed::read_listed(cx, base, cache) {
                return 1;
            }
            if !in_front && !cx.recall(cs, i.c, key) {
                return stepped(cx, ip, regs, cs, handler);
            }
            if h == known.proc_call as usize {
                return match calls::is_entered(cx, *base) {
                    Some(p) => calls(cx, base, |cx| calls::push_proc(cx, base, p, i.x as usize)),
                    None => answers(base, call_native(cx, ip, regs, cs, false)),
                };
            }
            if h == known.generic as usize {
                return calls(cx, base, |cx| calls::push_generic(cx, ip, regs, cs));
            }
            if h == known.bound as usize || h == known.bound_blk as usize {
                return calls(cx, base, |cx| calls::push_bound(cx, ip, regs, cs, h == known.bound_blk as usize));
            }
            if h == known.native as usize || h == known.native_blk as usize {
                return answers(base, call_native(cx, ip, regs, cs, h == known.native_blk as usize));
            }
            if h == known.new_object as usize {
                return calls(cx, base, |cx| calls::push_new(cx, ip, regs, cs));
            }
            if h == known.new_bound as usize {
                return calls(cx, base, |cx| calls::push_new_bound(cx, ip, regs, cs));
            }
            if h == known.sent as usize || h == known.sent_native as usize {
                return sent_by_name(cx, ip, regs, cs);
            }
            stepped(cx, ip, regs, cs, handler)
        }
    }
    /// A call of the builtin `send` whose cache, which matches, has what it led to. As [`step`].
    #[inline(never)]
    unsafe fn sent_by_name(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> u64 {
        // SAFETY: as in `sent`; the frame's `ip` is stored.
        unsafe {
            let i = *ip;
            let base = regs.add(i.a as usize);
            let cache = (*cs).calls.add(i.c as usize);
            if !sent::takes_sent(cx, base, i.x, cache) {
                return calls(cx, base, |cx| sent::push_sent_other(cx, ip, regs, cs));
            }
            if (*cache).handler as usize == calls::RUBY_CALLS.sent as usize {
                return calls(cx, base, |cx| sent::push_sent(cx, base, cache));
            }
            let f: NativeFn = std::mem::transmute((*cache).target);
            let me = (*cache).me;
            let v = guarded(cx, |cx| calls::run_builtin(cx, base, f, me, i.x as usize - 1, Block::NONE));
            answers(base, v)
        }
    }
    /// The same of a call with keywords, lists or a block argument.
    unsafe fn sent_x(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState, _: usize) -> u64 {
        // SAFETY: as in `send`.
        unsafe {
            (*cx.fp).ip = ip;
            let base = regs.add((*ip).a as usize);
            if let Some(callee) = lists::push_splat(cx, ip, regs, cs) {
                return runs(cx, base, callee);
            }
            if let Some((f, me, argc)) = lists::lay_for_builtin(cx, ip, regs, cs) {
                let v = guarded(cx, |cx| calls::run_builtin(cx, base, f, me, argc, Block::NONE));
                return answers(base, v);
            }
            calls(cx, base, |cx| calls::push_send_x(cx, ip, regs, cs))
        }
    }
    /// The same of `super`, with arguments as they stand.
    unsafe fn above(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState, _: usize) -> u64 {
        // SAFETY: as in `send`.
        unsafe {
            (*cx.fp).ip = ip;
            let base = regs.add((*ip).a as usize);
            calls(cx, base, |cx| super_call::push(cx, ip, regs, cs))
        }
    }
    /// The same of a `yield`.
    unsafe fn yielded(cx: &mut Cx, ip: *const Insn, regs: *mut Value, _: *const CodeState, _: usize) -> u64 {
        // SAFETY: as in `send`.
        unsafe {
            (*cx.fp).ip = ip;
            let base = regs.add((*ip).a as usize);
            calls(cx, base, |cx| blocks::push_yield(cx, base, (*ip).x as usize))
        }
    }

    /// Functions that machine code calls for instructions: each runs one of these and looks whether something has changed ([`unless_changed`]).
    macro_rules! looking {
        ($($name:ident $runs:ident)*) => {$(
            pub unsafe extern "C" fn $name(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState, handler: usize, table: *const Site) -> u64 {
                // SAFETY: the caller's word.
                unsafe {
                    let v = $runs(cx, ip, regs, cs, handler);
                    unless_changed(cx, v, 0, table)
                }
            }
        )*};
    }
    looking! { step stepped send sent send_x sent_x super_ above yield_ yielded get_ivar got_ivar set_ivar put_ivar }

    /// A safepoint of a loop in machine code, with a builtin's frame on top: 1, or 0.
    #[cold]
    pub unsafe extern "C" fn safepoint(cx: &mut Cx) -> u64 {
        guarded(cx, |cx| cx.safepoint_slow().map(|()| Value::NIL))
    }

    /// A new Array for what a loop collects, which is to have `n` elements as far as is known.
    pub unsafe extern "C" fn new_array(cx: &mut Cx, n: usize) -> u64 {
        guarded(cx, |cx| Ok(ArrayCell::for_len(&cx.heap, ids::ARRAY.0, n).as_value()))
    }
    /// A round of a builtin's loop was left: the interpreter goes on with it until it returns to the builtin's frame. The block's value, from its `window`, or 0 if that raises.
    #[cold]
    pub unsafe extern "C" fn round(cx: &mut Cx, window: *mut Value, boundary: *mut Frame) -> u64 {
        // SAFETY: frames are as the interpreter would have them.
        unsafe {
            if cx.left == Left::Unwound {
                return 0;
            }
            match guarded_run(cx, boundary, |cx| leave(cx, std::ptr::null(), std::ptr::null_mut(), std::ptr::null())) {
                0 => 0,
                _ => (*window).bits(),
            }
        }
    }
    /// Whether a Range walks by the builtin `each`: then Enumerable's methods count.
    pub unsafe extern "C" fn walks_itself(cx: &mut Cx, range: u64) -> u64 {
        // SAFETY: a live value.
        u64::from(cx.is_builtin(unsafe { Value::from_bits(range) }, sym::each, ids::RANGE))
    }
    /// The rest of a builtin's loop, whose frame is on top, from `next` on, as the builtin does it: what it answers. `object`: the Array, the step, or the index of the next element of a Range.
    #[cold]
    pub unsafe extern "C" fn rest(cx: &mut Cx, kind: u64, next: u64, limit: u64, object: u64, result: u64) -> u64 {
        guarded(cx, |cx| {
            // SAFETY: live values, of the kinds that the loop was begun with.
            let (mut i, end, object, mut result, block) = unsafe {
                let limit = Value::from_bits(limit).as_fixnum().unwrap_or(0);
                (Value::from_bits(next).as_fixnum().unwrap_or(0), limit, Value::from_bits(object), Value::from_bits(result), (*cx.fp).block)
            };
            let Some(kind) = Looping::numbered(kind) else { return Ok(result) };
            let step = match kind.walk {
                Walk::Downto => -1,
                Walk::Step => object.as_fixnum().unwrap_or(1),
                _ => 1,
            };
            let mut at = object.as_fixnum().unwrap_or(0);
            loop {
                let index = Value::fixnum(i);
                let element = match kind.walk {
                    Walk::Times | Walk::Once if i >= end => break,
                    Walk::Once => object,
                    Walk::Array => {
                        // SAFETY: an Array by its shape.
                        let Some(v) = unsafe { Ref::<ArrayCell>::of_unchecked(object) }.elements(&cx.heap).get(i as usize).copied() else {
                            break;
                        };
                        if kind.act == Act::EachIndex { index } else { v }
                    }
                    Walk::Upto | Walk::Downto | Walk::Step | Walk::Range if if step < 0 { i < end } else { i > end } => break,
                    _ => index,
                };
                let place = if kind.walks() { index } else { Value::fixnum(at) };
                (i, at) = (i + step, at + 1);
                let v = match kind.given(element, place, result) {
                    (a, Some(b)) => cx.yield_values(block, &[a, b])?,
                    (a, None) => cx.yield1(block, a)?,
                };
                cx.safepoint()?;
                let kept = match kind.act {
                    Act::Map => Some(v),
                    Act::Select if v.truthy() => Some(element),
                    Act::Reject if !v.truthy() => Some(element),
                    _ => None,
                };
                if let Some(v) = kept {
                    // SAFETY: the loop's own Array, which the caller's registers hold.
                    ArrayCell::push(unsafe { Ref::of_unchecked(result) }, &mut cx.heap, v);
                }
                match kind.act {
                    Act::Inject | Act::Fold | Act::Then => result = v,
                    Act::Any if v.truthy() => return Ok(Value::TRUE),
                    Act::All if !v.truthy() => return Ok(Value::FALSE),
                    Act::None if v.truthy() => return Ok(Value::FALSE),
                    Act::Find if v.truthy() => return Ok(element),
                    Act::Count if v.truthy() => result = Value::fixnum(result.as_fixnum().unwrap_or(0) + 1),
                    _ => {}
                }
            }
            Ok(result)
        })
    }

    /// A callee has answered 0: the interpreter goes on from there until it returns to the caller, which waits in a copy of [`LEAVE`]. The value, from the callee's `window`, or 0 if the
    /// caller, whose frame it is, has to answer 0, too.
    #[cold]
    pub unsafe extern "C" fn nested(cx: &mut Cx, window: *mut Value, frame: *mut Frame) -> u64 {
        // SAFETY: frames are as the interpreter would have them.
        unsafe {
            if cx.left == Left::Unwound || !cx.has_native_stack() {
                return 0;
            }
            match guarded_run(cx, frame, |cx| leave(cx, std::ptr::null(), std::ptr::null_mut(), std::ptr::null())) {
                0 => 0,
                _ => (*window).bits(),
            }
        }
    }
}

/// [`LEAVE`]: the native code that began this run goes on.
pub unsafe fn step_done(_: &mut Cx, _: *const Insn, _: *mut Value, _: *const CodeState) -> bool {
    true
}
