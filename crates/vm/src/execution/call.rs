//! Calls from Rust into Ruby, blocks and Procs.
//!
//! Each call stands behind a *boundary* frame whose instruction pointer is a stub: `[Enter, Halt]`. The callee's result is in the boundary's
//! first register. A builtin that is called from Ruby code already has a boundary: its own frame.

use crate::builtin::{Args, Block, KW_FLAG};
use crate::frame::*;
use crate::interp;
use crate::machine::Rounds;
use crate::make::ArgList;
use crate::methods::Method;
use crate::raise::{Exc, Result};
use crate::vm::{Cx, List, PendingCall};
use std::sync::atomic::Ordering;
use zakuro_bytecode::CodeKind;
use zakuro_object::*;

/// Arguments above which a call asks whether the stack has room for them.
pub(crate) const MANY: usize = 4096;

impl Cx {
    /// `v.name(*args)`, private methods included (as `send`).
    #[inline]
    pub fn call(&mut self, v: Value, name: Sym, args: &[Value]) -> Result<Value> {
        self.call_full(v, name, args, false, Block::NONE)
    }
    /// The same; says that calling private methods is meant.
    pub fn call_private(&mut self, v: Value, name: Sym, args: &[Value]) -> Result<Value> {
        self.call_full(v, name, args, false, Block::NONE)
    }
    /// Call with a block.
    pub fn call_block(&mut self, v: Value, name: Sym, args: &[Value], block: Block) -> Result<Value> {
        self.call_full(v, name, args, false, block)
    }
    /// Call with everything: `kw` says that the last argument is a Hash of keywords.
    pub fn call_full(&mut self, v: Value, name: Sym, args: &[Value], kw: bool, block: Block) -> Result<Value> {
        match self.method_of(v, name) {
            Some(m) => self.call_method(m, v, name, args, kw, block),
            None => self.call_missing(v, name, args, kw, block, interp::MissReason::None),
        }
    }
    /// Passes the arguments of a builtin on.
    pub fn forward(&mut self, v: Value, name: Sym, args: Args) -> Result<Value> {
        self.call_full(v, name, args.all(), args.kw, args.block)
    }
    /// Public call: NoMethodError for private and protected methods.
    pub fn call_public(&mut self, v: Value, name: Sym, args: &[Value], kw: bool, block: Block) -> Result<Value> {
        let m = self.method_of(v, name);
        self.call_if_public(m, v, name, args, kw, block)
    }
    /// The same with the refinements of the innermost Ruby frame.
    pub fn call_public_here(&mut self, v: Value, name: Sym, args: &[Value], kw: bool, block: Block) -> Result<Value> {
        let m = self.method_of_here(v, name);
        self.call_if_public(m, v, name, args, kw, block)
    }
    fn call_if_public(&mut self, m: Option<Method>, v: Value, name: Sym, args: &[Value], kw: bool, block: Block) -> Result<Value> {
        match m {
            Some(m) if m.visibility() == Visibility::Public => self.call_method(m, v, name, args, kw, block),
            Some(m) => {
                let why = if m.visibility() == Visibility::Private { interp::MissReason::Private } else { interp::MissReason::Protected };
                self.call_missing(v, name, args, kw, block, why)
            }
            None => self.call_missing(v, name, args, kw, block, interp::MissReason::None),
        }
    }
    /// Calls a method when the object responds to it (private methods too, as conversions do); None otherwise.
    pub fn call_if_responds(&mut self, v: Value, name: Sym, args: &[Value]) -> Result<Option<Value>> {
        if v.is_cell() && self.has_own_respond_to(v) {
            // A respond_to? written in Ruby decides; when it is wrong, nobody answers.
            if !self.responds(v, name, true)? {
                return Ok(None);
            }
            let missing = self.method_of(v, name).is_none()
                && self.method_of(v, sym::method_missing).is_some_and(|m| m.method_kind() == MethodKind::Native);
            return if missing { Ok(None) } else { Ok(Some(self.call(v, name, args)?)) };
        }
        if self.method_of(v, name).is_some() {
            return Ok(Some(self.call(v, name, args)?));
        }
        if !v.is_cell() {
            return Ok(None);
        }
        // A respond_to_missing? of the program's decides; without one its method_missing is tried, which may say no by NoMethodError.
        if self.method_of(v, sym::respond_to_missing).is_some_and(|m| m.method_kind() != MethodKind::Native) {
            return if self.basic_responds(v, name, true)? { Ok(Some(self.call(v, name, args)?)) } else { Ok(None) };
        }
        match self.method_of(v, sym::method_missing) {
            Some(m) if m.method_kind() != MethodKind::Native => Ok(self.rescue(&[ids::NO_METHOD_ERROR], |cx| cx.call(v, name, args))?.ok()),
            _ => Ok(None),
        }
    }
    /// First free value above the top frame.
    #[inline]
    fn stack_top(&self) -> *mut Value {
        // SAFETY: fp always points to a frame of the current stack.
        unsafe {
            let f = &*self.fp;
            if f.is_boundary() { f.aux as *mut Value } else { f.regs.add((*f.code).nregs as usize) }
        }
    }
    /// Pushes a boundary frame with room for `n` values; returns its registers.
    fn push_boundary(&mut self, n: usize) -> Result<*mut Value> {
        let top = self.stack_top();
        // SAFETY: both limits are checked before writing.
        unsafe {
            let fp = self.fp.add(1);
            if fp >= self.frame_limit || top.wrapping_add(n + 8) >= self.stack_limit {
                return self.stack_error();
            }
            let me = (*self.fp).me;
            fp.write(Frame { ip: interp::stub(), regs: top, code: std::ptr::null(), block: Block::NONE, me, aux: top.add(n) as usize });
            self.fp = fp;
            Ok(top)
        }
    }
    /// Runs `f`, which may run Ruby code, while values that no frame covers yet stand below `top`: what it calls begins above them.
    ///
    /// # Safety
    /// `top` lies in the running stack's values, everything below it is initialised, and there is room for a frame.
    pub(crate) unsafe fn above<R>(&mut self, top: *mut Value, f: impl FnOnce(&mut Cx) -> Result<R>) -> Result<R> {
        let fp = self.fp;
        let top = top.max(self.stack_top());
        // SAFETY: caller; the limit is checked before writing.
        unsafe {
            if fp.add(1) >= self.frame_limit {
                return self.stack_error();
            }
            let me = (*fp).me;
            fp.add(1).write(Frame { ip: interp::stub(), regs: top, code: std::ptr::null(), block: Block::NONE, me, aux: top as usize });
            self.fp = fp.add(1);
        }
        let r = f(self);
        self.fp = fp;
        r
    }
    /// Base for a call from here: above the running builtin's arguments, whose frame is the boundary, or above a new boundary. The flag says whether
    /// one was pushed.
    #[inline(always)]
    fn call_base(&mut self, n: usize) -> Result<(*mut Value, bool)> {
        // SAFETY: fp always points to a frame of the current stack; the limit is checked before use.
        unsafe {
            let f = &*self.fp;
            if f.is_boundary() {
                let top = f.aux as *mut Value;
                if top.wrapping_add(n + 8) < self.stack_limit {
                    return Ok((top, false));
                }
            }
        }
        Ok((self.push_boundary(n)?, true))
    }
    /// SystemStackError when the native stack is nearly used up. Native code that recurses by itself asks this.
    #[inline(always)]
    pub fn check_native_stack(&mut self) -> Result<()> {
        if self.has_native_stack() { Ok(()) } else { self.stack_error() }
    }
    /// Whether native code may recurse further: for those that have an error of their own.
    #[inline(always)]
    pub fn has_native_stack(&self) -> bool {
        let here = 0u8;
        (&raw const here) >= self.native_limit
    }
    /// Calls a method entry on a receiver.
    pub fn call_method(&mut self, m: Method, recv: Value, name: Sym, args: &[Value], kw: bool, block: Block) -> Result<Value> {
        self.check_native_stack()?;
        self.enters_ruby();
        let n = args.len();
        if n > MANY && !kw && !self.has_room_for(n) {
            let list = ArrayCell::plain(&self.heap, args);
            return self.call_with_list(m, recv, list, block);
        }
        if m.method_kind() != MethodKind::Native {
            let (base, pushed) = self.call_base(n + 1)?;
            let fp = self.fp;
            // SAFETY: room was made; the callee's frame is pushed above the boundary, here or by `enter`.
            unsafe {
                *base = recv;
                for (i, a) in args.iter().enumerate() {
                    *base.add(1 + i) = *a;
                }
                if !kw && let Some(cs) = self.push_plain_method(m, base, n, block) {
                    let ok = interp::machine::run_activation(self, base, cs);
                    self.fp = if pushed { fp.sub(1) } else { fp };
                    return if ok { self.polled_after(Ok(*base), cs) } else { Err(Exc) };
                }
                self.call =
                    PendingCall { me: m.as_value(), argc: n, kw, lent: false, list: List::None, block, name, state: std::ptr::null() };
                let ok = interp::run(self, interp::stub(), base, std::ptr::null());
                self.fp = if pushed { fp.sub(1) } else { fp };
                return if ok { Ok(*base) } else { Err(Exc) };
            }
        }
        let base = self.push_boundary(n + 1)?;
        let fp = self.fp;
        // SAFETY: push_boundary made room for receiver and arguments.
        unsafe {
            *base = recv;
            for (i, a) in args.iter().enumerate() {
                *base.add(1 + i) = *a;
            }
            {
                (*fp).me = m.as_value();
                (*fp).block = block;
                let f = Cx::native_fn(m);
                let argc = n | if kw { KW_FLAG } else { 0 };
                let r = interp::calls::call_builtin(self, f, m.as_value(), recv, base.add(1), argc, block);
                self.fp = fp.sub(1);
                self.polled_after(r, std::ptr::null())
            }
        }
    }
    /// Whether so many arguments have room above the running frame.
    pub(crate) fn has_room_for(&self, n: usize) -> bool {
        self.stack_top().wrapping_add(n + 16) < self.stack_limit
    }
    /// A call whose arguments have no room in the stack: they stay in `list`, which is nobody else's. Builtins read them there, and a method in Ruby gets its rest parameter from there; what else
    /// a method wants to have of them is SystemStackError.
    #[cold]
    pub(crate) fn call_with_list(&mut self, m: Method, recv: Value, list: Ref<ArrayCell>, block: Block) -> Result<Value> {
        self.check_native_stack()?;
        self.enters_ruby();
        let n = list.len();
        let state = (m.method_kind() == MethodKind::Ruby).then(|| self.method_state(m));
        // SAFETY: a method's state is alive as long as it is.
        let required = match state.map(|cs| unsafe { &*cs }) {
            Some(cs) if cs.takes_list && n >= cs.required as usize => cs.required as usize,
            None if m.method_kind() == MethodKind::Native => 0,
            Some(cs) if !cs.code.params.rest => return interp::blocks::arity_error(self, &cs.code.params, n),
            _ => return self.stack_error(),
        };
        let base = self.push_boundary(required + 3)?;
        let fp = self.fp;
        // SAFETY: there is room for the receiver, for the list or what is required of it, and for a block parameter. The list is out of line, and nothing changes it: the program does not know it.
        unsafe {
            std::slice::from_raw_parts_mut(base, required + 3).fill(Value::NIL);
            *base = recv;
            *base.add(1) = list.as_value();
            let r = match state {
                None => {
                    (*fp).me = m.as_value();
                    (*fp).block = block;
                    (*fp).aux = base.add(2) as usize;
                    let arguments = list.elements(&self.heap).as_ptr();
                    interp::calls::call_builtin(self, Cx::native_fn(m), m.as_value(), recv, arguments, n, block)
                }
                Some(cs) => {
                    let above = fp.add(1);
                    if above >= self.frame_limit || base.wrapping_add((*cs).nregs as usize + 8) >= self.stack_limit {
                        self.fp = fp.sub(1);
                        return self.stack_error();
                    }
                    let rest = ArrayCell::slice(&self.heap, ids::ARRAY.0, list, required, n);
                    for k in 0..required {
                        *base.add(1 + k) = list.elements(&self.heap)[k];
                    }
                    *base.add(1 + required) = rest.as_value();
                    *base.add(2 + required) = Value::NIL;
                    for k in (*cs).nil_from..(*cs).nlocals {
                        *base.add(k as usize) = Value::NIL;
                    }
                    above.write(Frame { ip: (*cs).insns.get(), regs: base, code: cs, block, me: m.as_value(), aux: 0 });
                    self.fp = above;
                    if interp::machine::run_activation(self, base, cs) { Ok(*base) } else { Err(Exc) }
                }
            };
            self.fp = fp.sub(1);
            self.polled_after(r, state.unwrap_or(std::ptr::null()))
        }
    }
    /// Pushes the frame of a method in Ruby that takes so many arguments as they stand above `base`; None for others.
    #[inline]
    unsafe fn push_plain_method(&mut self, m: Method, base: *mut Value, argc: usize, block: Block) -> Option<*const CodeState> {
        if m.method_kind() != MethodKind::Ruby {
            return None;
        }
        let cs = self.method_state(m);
        // SAFETY: caller: `base` stands above the boundary on top, and receiver and arguments at it; both limits are compared before anything else is written.
        unsafe {
            let fp = self.fp.add(1);
            let fits = fp < self.frame_limit && base.wrapping_add((*cs).nregs as usize + 8) < self.stack_limit;
            if !fits || !(*cs).simple || (*cs).required as usize != argc {
                return None;
            }
            for k in (*cs).nil_from..(*cs).nlocals {
                *base.add(k as usize) = Value::NIL;
            }
            fp.write(Frame { ip: (*cs).insns.get(), regs: base, code: cs, block, me: m.as_value(), aux: 0 });
            self.fp = fp;
        }
        Some(cs)
    }
    /// Yields values to a block. LocalJumpError when there is none.
    #[inline]
    pub fn yield_values(&mut self, block: Block, args: &[Value]) -> Result<Value> {
        match *args {
            [a] => self.yield_exact(block, [a]),
            [a, b] => self.yield_exact(block, [a, b]),
            _ => self.yield_plain(block, args),
        }
    }
    #[inline]
    pub fn yield1(&mut self, block: Block, v: Value) -> Result<Value> {
        self.yield_exact(block, [v])
    }
    /// The usual case of [`Self::yield_plain`]: a builtin, whose frame is on top, yields as many values as the block has parameters.
    fn yield_exact<const N: usize>(&mut self, block: Block, args: [Value; N]) -> Result<Value> {
        self.yield_to(block, args, std::ptr::null_mut())
    }
    /// `rounds`: where machine code of the block finds the next element; or null.
    #[inline(always)]
    pub(super) fn yield_to<const N: usize>(&mut self, block: Block, args: [Value; N], rounds: *mut Rounds) -> Result<Value> {
        if let Some(rec) = block.record()
            && self.has_native_stack()
        {
            // SAFETY: fp always points to a frame of the current stack, and a block's record is valid while the block may be called; both limits are checked before anything is written.
            unsafe {
                let (below, cs) = (self.fp, (*rec).bits() as *const CodeState);
                let (base, fp) = ((*below).aux as *mut Value, below.add(1));
                let required = (*cs).required as usize;
                // What a block doesn't take of a round's values is left out.
                let code = &(*cs).code;
                let takes_less = required < N && !rounds.is_null() && code.params.numbered == 0;
                let exact = (*cs).simple && (required == N || takes_less);
                if exact
                    && (*below).is_boundary()
                    && fp < self.frame_limit
                    && base.wrapping_add((*cs).nregs as usize + N + 8) < self.stack_limit
                {
                    interp::blocks::write_block_frame(fp, base, cs, (*rec.add(1)).bits() as *const Frame, |base| {
                        for (i, a) in args.iter().enumerate().take(required) {
                            *base.add(1 + i) = *a;
                        }
                    });
                    self.fp = fp;
                    let ok = interp::machine::run_rounds(self, base, cs, rounds);
                    self.fp = below;
                    return if ok { self.polled_after(Ok(*base), cs) } else { Err(Exc) };
                }
            }
        }
        self.yield_plain(block, &args)
    }
    fn yield_plain(&mut self, block: Block, args: &[Value]) -> Result<Value> {
        if block.record().is_none() {
            return self.yield_flags(block, args, false, Block::NONE, None, 0);
        }
        self.check_native_stack()?;
        let n = args.len();
        let (base, pushed) = self.call_base(n + 2)?;
        let fp = self.fp;
        // SAFETY: room was made; push_plain_block pushes the block's frame above this boundary.
        unsafe {
            let Some(cs) = interp::blocks::push_plain_block(self, block, base, args) else {
                self.fp = if pushed { fp.sub(1) } else { fp };
                return self.yield_flags(block, args, false, Block::NONE, None, 0);
            };
            let ok = interp::machine::run_activation(self, base, cs);
            self.fp = if pushed { fp.sub(1) } else { fp };
            if ok { self.polled_after(Ok(*base), cs) } else { Err(Exc) }
        }
    }
    /// Yields with everything. `self_`: another receiver and lexical method (instance_exec, define_method).
    pub fn yield_full(&mut self, block: Block, args: &[Value], kw: bool, pass: Block, self_: Option<(Value, Value)>) -> Result<Value> {
        self.yield_flags(block, args, kw, pass, self_, 0)
    }
    pub(crate) fn yield_flags(
        &mut self,
        block: Block,
        args: &[Value],
        kw: bool,
        pass: Block,
        self_: Option<(Value, Value)>,
        flags: usize,
    ) -> Result<Value> {
        if block.is_none() {
            return self.raise(ids::LOCAL_JUMP_ERROR, "no block given (yield)");
        }
        if let Some(p) = block.proc()
            && p.proc_kind() != ProcKind::Block
        {
            return self.call_native_proc(p, args, kw, pass, self_);
        }
        self.check_native_stack()?;
        let n = args.len();
        let (base, pushed) = self.call_base(n + 2)?;
        let fp = self.fp;
        // SAFETY: room was made; push_block_frame pushes the block's frame above this boundary.
        unsafe {
            for (i, a) in args.iter().enumerate() {
                *base.add(1 + i) = *a;
            }
            let r = interp::blocks::push_block_frame(self, block, base, n, kw, List::None, pass, self_, flags);
            let ran = match r {
                Ok(cs) => interp::machine::run_activation(self, base, cs).then_some(cs),
                Err(Exc) => None,
            };
            self.fp = if pushed { fp.sub(1) } else { fp };
            ran.map_or(Err(Exc), |cs| self.polled_after(Ok(*base), cs))
        }
    }
    /// A native loop that calls native methods or empty blocks runs no Ruby code that polls: it is interrupted here. (Before the call, arguments
    /// in a vector would not be seen by a collection.) `ran`: the Code of the block, or null.
    #[inline(always)]
    fn polled_after(&mut self, r: Result<Value>, ran: *const CodeState) -> Result<Value> {
        // SAFETY: poll points to the VM's own word.
        if unsafe { (*self.poll).load(Ordering::Relaxed) } != 0 && r.is_ok() { self.poll_after_slow(r, ran) } else { r }
    }
    #[cold]
    #[inline(never)]
    fn poll_after_slow(&mut self, r: Result<Value>, ran: *const CodeState) -> Result<Value> {
        // SAFETY: null, or a block's that has just returned: nothing was collected since, and no other thread ran.
        if let Some(cs) = unsafe { ran.as_ref() }
            && self.poll_owner.take(zakuro_sched::poll::SAMPLE) != 0
        {
            self.sample(Some(cs));
        }
        self.safepoint_slow()?;
        std::hint::black_box(r)
    }
    /// Calls a Proc (`call`): lambda rules when it is one.
    pub fn call_proc(&mut self, p: Ref<ProcCell>, args: &[Value], kw: bool, pass: Block) -> Result<Value> {
        let flags = if p.is_lambda() { FRAME_LAMBDA } else { 0 };
        self.yield_flags(Block(p.as_value().bits()), args, kw, pass, None, flags)
    }
    /// Procs that are not literal blocks.
    pub(crate) fn call_native_proc(
        &mut self,
        p: Ref<ProcCell>,
        args: &[Value],
        kw: bool,
        pass: Block,
        self_: Option<(Value, Value)>,
    ) -> Result<Value> {
        match p.proc_kind() {
            ProcKind::Symbol => {
                let name = p.extra.as_sym().unwrap_or(sym::empty);
                // `self` does not matter, not even as a method's body.
                let Some((recv, rest)) = args.split_first() else { return self.arg_error("no receiver given") };
                let recv = *recv;
                // The caller's list may be reused while the method runs.
                let kept = (!rest.is_empty()).then(|| ArgList::of(self, rest));
                let rest = kept.as_deref().unwrap_or_default();
                let scope = self.scope_of_symbol_proc(p);
                if self.active_refinements(scope).is_some() {
                    let class = self.dispatch_class(recv);
                    if let Some(found) = self.find_method_from(scope, class, name)
                        && found.visibility() == Visibility::Public
                    {
                        return self.call_told(found, recv, name, rest, kw, pass);
                    }
                }
                match self.method_of(recv, name) {
                    Some(m) if self.tracing != 0 && m.visibility() == Visibility::Public => self.call_told(m, recv, name, rest, kw, pass),
                    m => self.call_if_public(m, recv, name, rest, kw, pass),
                }
            }
            ProcKind::Method => match Ref::<MethodObjCell>::from_value(p.extra) {
                Some(o) => self.call_method(Ref::of(o.method), o.receiver, o.name, args, kw, pass),
                None => self.type_error("not a Method"),
            },
            ProcKind::Native => {
                // SAFETY: native_proc stored this very function type.
                let f: fn(&mut Cx, Value, Args) -> Result<Value> = unsafe { std::mem::transmute(p.code) };
                self.check_native_stack()?;
                let base = self.push_boundary(args.len() + 1)?;
                let fp = self.fp;
                // SAFETY: room was made for the arguments.
                unsafe {
                    *base = self_.map_or(Value::NIL, |s| s.0);
                    for (i, a) in args.iter().enumerate() {
                        *base.add(1 + i) = *a;
                    }
                    let argc = args.len() | if kw { KW_FLAG } else { 0 };
                    self.enters_ruby();
                    let r = f(self, p.extra, Args::new(base.add(1), argc, pass));
                    self.fp = fp.sub(1);
                    self.polled_after(r, std::ptr::null())
                }
            }
            ProcKind::Wrapped | ProcKind::Block => match Ref::<ProcCell>::from_value(p.extra) {
                Some(q) => self.call_proc(q, args, kw, pass),
                None => self.type_error("not a Proc"),
            },
        }
    }
    /// The Proc of a block. A block that is one already is returned as it is.
    pub fn block_to_proc(&mut self, b: Block) -> Ref<ProcCell> {
        if let Some(p) = b.proc() {
            return p;
        }
        let Some(rec) = b.record() else { unreachable!("no block") };
        // SAFETY: a block record is valid while its block may be used (see Block).
        unsafe {
            let cs = (*rec).bits() as *const CodeState;
            let home = (*rec.add(1)).bits() as *const Frame;
            let p = self.make_proc(cs, home, false);
            // Whoever was handed the block has this Proc from now on: it is made once.
            let mut f = self.fp;
            if home >= self.stacks.frames.cast_const() {
                while f.cast_const() > home {
                    if (*f).block == b {
                        (*f).block = Block(p.as_value().bits());
                    }
                    f = f.sub(1);
                }
            }
            p
        }
    }
    /// New Proc of a block literal whose home is `home`.
    pub(crate) unsafe fn make_proc(&mut self, cs: *const CodeState, home: *const Frame, lambda: bool) -> Ref<ProcCell> {
        // SAFETY: caller: home is a live Ruby frame.
        unsafe {
            let mut header = zakuro_object::header(ids::PROC, Kind::Proc, ProcKind::Block as u16);
            if lambda {
                header.flags |= LAMBDA;
            }
            let env = interp::blocks::env_of(home);
            alloc_cell(&self.heap, ProcCell { header, code: cs as usize, env, self_: *(*home).regs, me: (*home).me, extra: Value::NIL })
        }
    }
    /// Number of parameters a block takes, as Proc#arity; and whether it is a lambda.
    pub fn block_arity(&mut self, b: Block) -> (i64, bool) {
        let code = self.block_code(b);
        let lambda = b.proc().is_some_and(|p| p.is_lambda());
        match code {
            Some(c) => (c.params.arity(), lambda),
            None => match b.proc() {
                Some(p) if p.proc_kind() == ProcKind::Symbol => (-2, true),
                Some(p) => match Ref::<MethodObjCell>::from_value(p.extra) {
                    Some(o) => (self.method_arity(Ref::of(o.method)), true),
                    None => (-1, lambda),
                },
                None => (-1, false),
            },
        }
    }
    /// Code of a literal block.
    pub fn block_code(&self, b: Block) -> Option<&'static zakuro_bytecode::Code> {
        // SAFETY: code states live as long as the VM; the reference is used while it runs.
        unsafe {
            if let Some(rec) = b.record() {
                return Some(&*std::sync::Arc::as_ptr(&(*((*rec).bits() as *const CodeState)).code));
            }
            let p = b.proc()?;
            (p.proc_kind() == ProcKind::Block).then(|| &*std::sync::Arc::as_ptr(&(*(p.code as *const CodeState)).code))
        }
    }
    /// As Method#arity.
    pub fn method_arity(&mut self, m: Method) -> i64 {
        if let Some(arity) = self.declared_arity(m) {
            return arity;
        }
        match m.method_kind() {
            MethodKind::Ruby => Cx::method_code(m).map_or(-1, |c| c.params.arity()),
            MethodKind::Native => Cx::native_row(m).map_or(-1, |r| r.arity()),
            MethodKind::AttrReader => 0,
            MethodKind::AttrWriter => 1,
            MethodKind::Proc => match Ref::<ProcCell>::from_value(m.data) {
                Some(p) => {
                    let (a, _) = self.block_arity(Block(p.as_value().bits()));
                    match self.block_code(Block(p.as_value().bits())) {
                        Some(c) if c.params.optional > 0 || c.params.rest => c.params.arity(),
                        _ => a,
                    }
                }
                None => -1,
            },
            _ => -1,
        }
    }
    /// Innermost Ruby frame at or below the top (the caller of the running builtin; what `&:name` calls has the same one as the builtin that was given that).
    pub fn ruby_frame(&self) -> Option<*mut Frame> {
        let mut f = self.fp;
        // SAFETY: frames between `stacks.frames` and fp are initialised.
        unsafe {
            while f >= self.stacks.frames {
                if !(*f).is_boundary() && !(*(*f).code).of_symbol {
                    return Some(f);
                }
                f = f.sub(1);
            }
        }
        None
    }
    /// The innermost Ruby frame that is not of the core library.
    pub fn callers_frame(&self) -> Option<*mut Frame> {
        let mut f = self.ruby_frame()?;
        // SAFETY: frames between `stacks.frames` and fp are initialised; a Ruby frame's code is alive.
        unsafe {
            while (*f).is_boundary() || crate::backtrace::internal(&(*(*f).code).code) {
                if f == self.stacks.frames {
                    return None;
                }
                f = f.sub(1);
            }
        }
        Some(f)
    }
    /// Lexical scope of the innermost Ruby frame.
    pub fn current_cref(&self) -> Value {
        match self.ruby_frame() {
            // SAFETY: a live frame; me is a method cell.
            Some(f) => unsafe { Ref::<MethodCell>::of((*f).me).cref },
            None => Value::NIL,
        }
    }
    /// self of the innermost Ruby frame.
    pub fn current_self(&self) -> Value {
        // SAFETY: a live frame's r0.
        self.ruby_frame().map_or(self.main, |f| unsafe { *(*f).regs })
    }
    /// Method entry of the running builtin or innermost frame.
    pub fn current_method(&self) -> Method {
        // SAFETY: fp points to a live frame.
        Ref::of(unsafe { (*self.fp).me })
    }
    /// Method-level frame around the innermost Ruby frame (blocks are skipped by environment identity): for `block_given?`, `__method__`.
    pub fn method_frame(&self) -> Option<*mut Frame> {
        let f = self.ruby_frame()?;
        // SAFETY: live frames of this stack.
        unsafe { self.home_method_frame(f) }
    }
    pub(crate) unsafe fn home_method_frame(&self, f: *mut Frame) -> Option<*mut Frame> {
        // SAFETY: caller: f is a live Ruby frame.
        unsafe {
            let mut f = f;
            loop {
                let code = &(*(*f).code).code;
                if (*f).aux & FRAME_BLOCK == 0 || code.kind == CodeKind::Method {
                    return Some(f);
                }
                let parent = interp::blocks::parent_env(f);
                let me = (*f).me;
                let mut g = f.sub(1);
                loop {
                    if g < self.stacks.frames {
                        return None;
                    }
                    if !(*g).is_boundary() {
                        let same_env = (*(*g).code).own_env && interp::blocks::env_of(g) == parent;
                        if same_env || (parent.is_nil() && (*g).me == me && (*g).aux & FRAME_BLOCK == 0) {
                            break;
                        }
                    }
                    g = g.sub(1);
                }
                f = g;
            }
        }
    }
    /// Keeps the arguments of the running call: for natives that call `super`-like things.
    pub fn top_method(&mut self) -> Value {
        // SAFETY: fp is valid once the VM has stacks.
        if self.fp.is_null() { Value::NIL } else { unsafe { (*self.fp).me } }
    }
}
