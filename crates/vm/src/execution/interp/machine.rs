//! Between interpreter and machine code: what is counted and noted before, how it is entered and left, and what it calls.
//!
//! Heat costs the interpreter nothing. A tick of the scheduler sets a bit in the poll word of a VM that runs; at its next safepoint the Codes of the frames on top get
//! *profiling copies* of their instructions, in which the opcode of what is worth knowing is [`PROFILE`]. Its handler notes kinds of operands, gives the callees that it meets copies of their own, and
//! asks for machine code when it was here often enough. Once that is published, the instructions in force are a copy in which [`MACHINE`] stands wherever the function can be entered.

use super::arith;
use super::calls::{self, RUBY_CALLS, block_record};
use super::control::poll_at;
use super::unwind::unwind;
use super::{TABLE, check, dispatch, r, stub};
use crate::builtin::{Block, NativeFn};
use crate::frame::*;
use crate::machine::{Called, Entry, Left, Looping, Met, Payer, Request, Site, compiler};
use crate::methods::Method;
use crate::raise::{Exc, Result};
use crate::vm::Cx;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use zakuro_bytecode::machine::{Exit, Machine, NO_ENTRY, Profile, seen};
use zakuro_bytecode::{Code, Insn, NO_BLOCK, Op};
use zakuro_object::*;

/// Pseudo opcode: notes what the instruction meets.
pub(crate) const PROFILE: u8 = 253;
/// Pseudo opcode: machine code can be entered here.
pub(crate) const MACHINE: u8 = 252;
/// Pseudo opcode of a copy of the instructions in which frames stand whose machine code waits on the native stack. Who comes back to one ends its run of the interpreter, and
/// unwinding stops there.
pub const LEAVE: u8 = 251;

/// Rounds and entries that a Code is watched for.
const WATCHED: u32 = 600;
/// Versions of a Code, each of which relies on less than the one before.
const VERSIONS: u32 = 6;
/// Most instructions of a Code that is inlined, and how many calls away it may be.
const INLINED: usize = 150;
const INLINED_DEPTH: usize = 3;
/// How often a guard fails before there is to be another version.
const FAILURES: u32 = 16;

/// Whether an instruction's operands are worth knowing.
fn is_told(op: Op) -> bool {
    use Op::*;
    op.group_length() == 3 && !matches!(op, Not | NilP | CaseEq)
        || matches!(op, Aset | Loop | LoopIf | LoopUnless | Send | SendBlk | SendSelf | SendSelfBlk)
}
fn kind_of(v: Value) -> u8 {
    if v.is_fixnum() {
        seen::INTEGER
    } else if v.is_flonum() || v.is_kind(Kind::Float) {
        seen::FLOAT
    } else if v.is_cell() && v.shape_key() == ids::ARRAY.0 {
        seen::ARRAY
    } else {
        seen::OTHER
    }
}
/// Kinds of the operands of an instruction that is told.
unsafe fn kinds(code: &Code, at: usize, regs: *mut Value) -> u8 {
    // SAFETY: the caller's registers are those of the frame that stands there.
    unsafe {
        let i = code.insns[at];
        let op = i.opcode();
        let operands = op.operands();
        let first = operands.iter().find(|(role, _)| *role == zakuro_bytecode::op::Role::Read).map(|(_, f)| i.get(*f));
        let mut reads = operands.iter().filter(|(role, _)| *role == zakuro_bytecode::op::Role::Read).map(|(_, f)| i.get(*f));
        let Some(first) = first else { return 0 };
        reads.next();
        let second = reads.next().map_or(seen::INTEGER, |b| kind_of(r!(regs, b)));
        kind_of(r!(regs, first)) | second << seen::SECOND
    }
}

/// Begins to watch a Code.
fn watch(code: &Code) -> &Profile {
    code.heat.watch(|| {
        let mut copy = code.insns.clone();
        let mut group_ends = 0;
        for (i, insn) in copy.iter_mut().enumerate() {
            let op = code.insns[i].opcode();
            // The call of a group is made by the fast path's machine code, too.
            if i >= group_ends && (i == 0 || is_told(op)) {
                insn.op = PROFILE;
            }
            if op.group_length() > 1 && i >= group_ends {
                group_ends = i + op.group_length();
            }
        }
        copy
    })
}

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

impl CodeState {
    /// Takes the best instructions that there are: machine code's, else the copy that tells. Not while traces have theirs.
    pub(crate) fn heat_up(&self, profiling: bool) {
        if self.is_traced() {
            return;
        }
        if let Some(m) = self.code.heat.machine() {
            self.machine.set(m);
            // SAFETY: an `Entry` by the compiler's word.
            self.entry.set(unsafe { std::mem::transmute::<usize, Entry>(m.function) });
            self.insns.set(m.insns.as_ptr());
        } else if profiling && !self.code.insns.is_empty() {
            self.insns.set(watch(&self.code).insns.as_ptr());
        }
    }
    /// The instructions that are in force while nothing traces.
    pub(crate) fn untraced(&self) -> *const Insn {
        // SAFETY: null or a machine of this Code.
        match unsafe { self.machine.get().as_ref() } {
            Some(m) => m.insns.as_ptr(),
            None => self.code.insns.as_ptr(),
        }
    }
}

impl Cx {
    /// What runs when the scheduler ticks is warm.
    #[cold]
    pub(crate) fn sample(&mut self) {
        if !self.options.jit.is_on() || compiler().is_none() || self.tracing != 0 {
            return;
        }
        // SAFETY: frames of this stack up to fp are initialised; states outlive the frames that run them.
        unsafe {
            let mut f = self.fp;
            for level in 0..4 {
                while f >= self.stacks.frames && (*f).is_boundary() {
                    f = f.sub(1);
                }
                if f < self.stacks.frames {
                    break;
                }
                let cs = &*(*f).code;
                if (*(*f).ip).op == LEAVE {
                    break;
                }
                if cs.machine.get().is_null() || !std::ptr::eq(cs.insns.get(), (*cs.machine.get()).insns.as_ptr()) {
                    let at = cs.index_of((*f).ip);
                    cs.heat_up(true);
                    // Frames below wait in a call, most often a builtin's, which can't be left for machine code.
                    if level == 0
                        && let Some(p) = cs.code.heat.profile()
                        && cs.code.heat.machine().is_none()
                        && p.samples.fetch_add(1, Ordering::Relaxed) >= 1
                    {
                        self.ask_for(cs, p);
                    }
                    // It goes on in the new copy: at the instruction that it waits in or, on top, that comes next.
                    (*f).ip = cs.insns.get().add(at);
                }
                f = f.sub(1);
            }
        }
    }
    /// Asks for machine code of a Code, or for a better version.
    #[cold]
    #[inline(never)]
    fn ask_for(&mut self, cs: &CodeState, p: &Profile) {
        let Some(c) = compiler() else { return };
        // One at a time: what is being made may be what is wanted.
        if p.asked.load(Ordering::Relaxed) >= VERSIONS || p.pending.swap(true, Ordering::AcqRel) {
            return;
        }
        p.asked.fetch_add(1, Ordering::Relaxed);
        // The process's, whichever VM asks.
        let met = zakuro_base::memory::going_on(|| self.met(cs, 0));
        let payer = self.life.allowance().cloned().map(|a| Box::new(move |time| a.spend(time)) as Payer);
        if !c.submit(Request { met, payer }, self.options.jit.waits()) {
            p.asked.fetch_sub(1, Ordering::Relaxed);
            p.pending.store(false, Ordering::Release);
        }
    }
    /// What the call sites of a Code have met, `depth` calls from the one that is to be compiled.
    fn met(&mut self, cs: &CodeState, depth: usize) -> Met {
        let small = if depth == 0 { usize::MAX } else { INLINED };
        let sites = if depth <= INLINED_DEPTH && cs.code.insns.len() <= small {
            (0..cs.code.calls.len()).map(|i| Site { called: self.called(cs, i, depth), block: self.block_met(cs, i, depth) }).collect()
        } else {
            Vec::new()
        };
        Met { code: cs.code.clone(), sites }
    }
    fn block_met(&mut self, cs: &CodeState, site: usize, depth: usize) -> Option<Arc<Met>> {
        let child = cs.children.get(cs.code.calls[site].block as usize)?.get();
        // SAFETY: null, or a state that lives as long as this one.
        let state = unsafe { child.as_ref() }?;
        Some(Arc::new(self.met(state, depth + 1)))
    }
    /// What a call site has called last.
    fn called(&mut self, cs: &CodeState, site: usize, depth: usize) -> Called {
        // SAFETY: there are as many entries as sites; a `target` is what its handler says.
        unsafe {
            let c = &*cs.calls.add(site);
            let handler = c.handler as usize;
            if c.key >> 32 != self.epoch as u64 {
                return Called::Unseen;
            }
            let mut callee = || Arc::new(self.met(&*(c.target as *const CodeState), depth + 1));
            match () {
                _ if handler == RUBY_CALLS.simple as usize || handler == RUBY_CALLS.simple_blk as usize => Called::Ruby(callee()),
                _ if handler == RUBY_CALLS.bound as usize || handler == RUBY_CALLS.bound_blk as usize => Called::Bound,
                _ if handler == RUBY_CALLS.native as usize || handler == RUBY_CALLS.native_blk as usize => {
                    let m: Method = Ref::of_unchecked(c.me);
                    let owner = self.class(m.owner);
                    let of_math = owner.kind == ClassKind::Singleton && self.class_id(owner.attached) == Some(ids::MATH);
                    Called::Native(c.target, if of_math { ids::MATH } else { m.owner }, m.name)
                }
                _ if handler == RUBY_CALLS.attr_get as usize => Called::AttrReader,
                _ if handler == RUBY_CALLS.attr_set as usize => Called::AttrWriter,
                _ if handler == RUBY_CALLS.new_object as usize => Called::New(callee()),
                _ if handler == RUBY_CALLS.new_plain as usize => Called::NewPlain,
                _ => Called::Other,
            }
        }
    }
}

/// [`PROFILE`].
pub unsafe fn profile(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; the opcode stands in profiling copies only.
    unsafe {
        let at = profiled(cx, ip, regs, cs);
        let op = (&(*cs).code.insns)[at].opcode();
        // Machine code may have come meanwhile: at the beginning, and in each round of a loop, it goes on in what is in force. In between, what machine code has left for is
        // watched on.
        let ip = if at == 0 || op.polls() || (*cs).is_traced() { (*cs).insns.get().add(at) } else { ip };
        TABLE[op as usize](cx, ip, regs, cs)
    }
}
/// Notes what the instruction at `ip` meets; its index.
#[inline(never)]
unsafe fn profiled(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> usize {
    // SAFETY: as in `profile`.
    unsafe {
        let state = &*cs;
        let code = &*state.code;
        let at = state.index_of(ip);
        let Some(p) = code.heat.profile() else { return at };
        let op = code.insns[at].opcode();
        if op.group_length() > 1 {
            p.note(at, kinds(code, at, regs));
        }
        if matches!(op, Op::Send | Op::SendBlk | Op::SendSelf | Op::SendSelfBlk) {
            // What it calls is as warm.
            let c = &*state.calls.add(code.insns[at].c as usize);
            let ruby = [RUBY_CALLS.simple, RUBY_CALLS.simple_blk, RUBY_CALLS.bound, RUBY_CALLS.bound_blk, RUBY_CALLS.new_object];
            if c.key >> 32 == cx.epoch as u64 && ruby.iter().any(|h| *h as usize == c.handler as usize) {
                let callee = &*(c.target as *const CodeState);
                if std::ptr::eq(callee.insns.get(), callee.code.insns.as_ptr()) {
                    callee.heat_up(true);
                }
            }
            let block = code.calls[code.insns[at].c as usize].block;
            if block != NO_BLOCK
                && let Some(b) = state.children[block as usize].get().as_ref()
                && std::ptr::eq(b.insns.get(), b.code.insns.as_ptr())
            {
                b.heat_up(true);
            }
        }
        if at == 0 || op.polls() {
            let n = p.count.load(Ordering::Relaxed).wrapping_add(1);
            p.count.store(n, Ordering::Relaxed);
            if code.heat.machine().is_some() {
                state.heat_up(true);
            } else if n == WATCHED || cx.options.jit.waits() && n == 2 {
                cx.ask_for(state, p);
                state.heat_up(true);
            }
        }
        at
    }
}

/// [`MACHINE`].
pub unsafe fn machine(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; the opcode stands in instructions of machine code only, whose versions have the same entries.
    unsafe {
        let at = (*cs).index_of(ip);
        let m: &Machine = &*(*cs).machine.get();
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
    // SAFETY: as in `leave`; exits live as long as the Code whose machine code it was, which runs in the frame that many levels down.
    unsafe {
        let state = &*cs;
        let at = state.index_of(ip);
        let op = state.code.insns[at];
        let exit: *const Exit = std::mem::replace(&mut cx.left_by, std::ptr::null());
        let Some(exit) = exit.as_ref().filter(|_| !tried) else { return op.op };
        if let Some(p) = state.code.heat.profile() {
            if op.opcode().group_length() > 1 {
                p.note(at, kinds(&state.code, at, regs));
            }
            // What comes next may be new, too.
            if !state.is_traced() {
                (*cx.fp).ip = p.insns.as_ptr().add(at);
            }
        }
        let n = exit.taken.load(Ordering::Relaxed) + 1;
        exit.taken.store(n, Ordering::Relaxed);
        let owner = &*(*cx.fp.sub(exit.depth as usize)).code;
        if let Some(p) = owner.code.heat.profile() {
            let newest = owner.code.heat.machine().map_or(std::ptr::null(), |m| m as *const Machine);
            if !std::ptr::eq(newest, owner.machine.get()) {
                owner.heat_up(true);
            } else if n.is_multiple_of(FAILURES) {
                if let Some(own) = state.code.heat.profile() {
                    own.refute(exit.at, exit.what);
                }
                cx.ask_for(owner, p);
            }
        }
        op.op
    }
}

/// Runs the activation whose frame native code has just pushed, above a boundary. As [`super::run`].
#[inline(always)]
pub(crate) unsafe fn run_activation(cx: &mut Cx, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the caller's word.
    unsafe {
        let ip = (*cs).insns.get();
        if (*ip).op != MACHINE {
            return super::run(cx, ip, regs, cs);
        }
        cx.enters_ruby();
        let v = ((*cs).entry.get())(cx, 0, regs, cs);
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
    fn guarded(cx: &mut Cx, f: impl FnOnce(&mut Cx) -> Result<Value>) -> u64 {
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
    pub unsafe extern "C" fn make_float(cx: &mut Cx, d: f64) -> u64 {
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

    /// The call site's entry for this receiver stands in front afterwards: 1, or 0 if there is none.
    pub unsafe extern "C" fn recall(cx: &mut Cx, ip: *const Insn, recv: u64, cs: *const CodeState) -> u64 {
        // SAFETY: `ip` is a call of this state's Code.
        unsafe {
            let key = (cx.epoch as u64) << 32 | Value::from_bits(recv).shape_key() as u64;
            let site = (*ip).c as usize;
            u64::from((*(*cs).calls.add(site)).key == key || (*(cs as *mut CodeState)).recall(site, key))
        }
    }

    unsafe fn call_native(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState, with_block: bool) -> u64 {
        guarded(cx, |cx| {
            // SAFETY: machine code has compared key and handler: `target` is a builtin's function. The rest is as in `calls::call_native`.
            unsafe {
                let i = *ip;
                let base = regs.add(i.a as usize);
                let fp = cx.fp;
                (*fp).ip = ip;
                let nf = fp.add(1);
                if nf >= cx.frame_limit {
                    return cx.stack_error();
                }
                let cache = &*(*cs).calls.add(i.c as usize);
                let f: NativeFn = std::mem::transmute(cache.target);
                let me = cache.me;
                let block = if with_block { block_record(cx, regs, cs, i.a, cache.extra as u16) } else { Block::NONE };
                nf.write(Frame { ip: stub(), regs: base, code: std::ptr::null(), block, me, aux: base.add(i.x as usize + 1) as usize });
                cx.fp = nf;
                let result = calls::call_builtin(cx, f, me, *base, base.add(1), i.x as usize, block);
                cx.fp = fp;
                result
            }
        })
    }
    pub unsafe extern "C" fn native(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> u64 {
        // SAFETY: the caller's word.
        unsafe { call_native(cx, ip, regs, cs, false) }
    }
    pub unsafe extern "C" fn native_blk(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> u64 {
        // SAFETY: the caller's word.
        unsafe { call_native(cx, ip, regs, cs, true) }
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
    pub unsafe extern "C" fn new_plain(cx: &mut Cx, ip: *const Insn, _: *mut Value, cs: *const CodeState) -> u64 {
        guarded(cx, |cx| {
            // SAFETY: machine code has compared key and handler.
            let id = unsafe { ClassId((*(*cs).calls.add((*ip).c as usize)).extra) };
            Ok(cx.new_object(id))
        })
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
    /// Length of a plain Array, Hash or, with `empty`, String, as a Fixnum; 0 for others.
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
            } else if strings != 0 && shape == ids::STRING.0 {
                Ref::<StringCell>::of_unchecked(v).len()
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
            match Ref::<ClassCell>::from_value(p) {
                Some(c) if cx.is_builtin(p, sym::eqq, ids::MODULE) => Ok(Value::bool(cx.is_a(v, c.id))),
                _ => Ok(Value::UNDEF),
            }
        })
    }
    /// Stores in a slot of an old environment.
    pub unsafe extern "C" fn set_old_env(e: u64, slot: usize, v: u64) {
        // SAFETY: machine code has found the environment as the interpreter does.
        unsafe { EnvCell::set(Ref::from_ptr(e as *mut EnvCell), slot, Value::from_bits(v)) }
    }

    /// Runs an instruction that does not jump by its handler, whatever that calls: 1, or 0.
    pub unsafe extern "C" fn step(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState, handler: usize) -> u64 {
        // SAFETY: `handler` is a [`Handler`]; `ip` stands in a copy of [`LEAVE`]: behind the instruction, and when what it calls has returned, its handler ends this run.
        unsafe {
            let handler = std::mem::transmute::<usize, Handler>(handler);
            (*cx.fp).ip = ip;
            guarded_run(cx, cx.fp, |cx| handler(cx, ip, regs, cs))
        }
    }

    /// A safepoint of a loop in machine code, with a builtin's frame on top: 1, or 0.
    #[cold]
    pub unsafe extern "C" fn safepoint(cx: &mut Cx) -> u64 {
        guarded(cx, |cx| cx.safepoint_slow().map(|()| Value::NIL))
    }

    /// A new Array for what a loop collects.
    pub unsafe extern "C" fn new_array(cx: &mut Cx) -> u64 {
        guarded(cx, |cx| Ok(ArrayCell::plain(&cx.heap, &[]).as_value()))
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
    /// The rest of a builtin's loop, whose frame is on top, from `next` on, as the builtin does it: what it answers.
    #[cold]
    pub unsafe extern "C" fn rest(cx: &mut Cx, kind: u64, next: u64, limit: u64, object: u64, result: u64) -> u64 {
        guarded(cx, |cx| {
            // SAFETY: live values, of the kinds that the loop was begun with.
            let (mut i, end, object, result, block) = unsafe {
                let limit = Value::from_bits(limit).as_fixnum().unwrap_or(0);
                (Value::from_bits(next).as_fixnum().unwrap_or(0), limit, Value::from_bits(object), Value::from_bits(result), (*cx.fp).block)
            };
            let Some(kind) = Looping::numbered(kind) else { return Ok(result) };
            let goes_on = |cx: &Cx, i: i64| match kind {
                Looping::Times => i < end,
                Looping::Upto => i <= end,
                Looping::Downto => i >= end,
                // SAFETY: an Array by its shape.
                _ => i < unsafe { Ref::<ArrayCell>::of_unchecked(object) }.elements(&cx.heap).len() as i64,
            };
            while goes_on(cx, i) {
                let index = Value::fixnum(i);
                let element = match kind.walks() {
                    // SAFETY: as above; the index was compared.
                    true => unsafe { Ref::<ArrayCell>::of_unchecked(object) }.elements(&cx.heap)[i as usize],
                    false => index,
                };
                i += if kind == Looping::Downto { -1 } else { 1 };
                let v = match kind {
                    Looping::EachWithIndex => cx.yield_values(block, &[element, index])?,
                    Looping::EachIndex => cx.yield1(block, index)?,
                    _ => cx.yield1(block, element)?,
                };
                let kept = match kind {
                    Looping::Map => Some(v),
                    Looping::Select if v.truthy() => Some(element),
                    Looping::Reject if !v.truthy() => Some(element),
                    _ => None,
                };
                if let Some(v) = kept {
                    // SAFETY: the loop's own Array, which the caller's registers hold.
                    ArrayCell::push(unsafe { Ref::of_unchecked(result) }, &mut cx.heap, v);
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
