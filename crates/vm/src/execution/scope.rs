//! Variables as `binding`, `eval` and `local_variables` see them: environments with the Codes that name their slots.
//!
//! An environment cell holds values only; the names are in [`Code::locals`], and a block's Code is found around its child through
//! [`CodeState::parent`]. A scope that owns no environment (no variable of it is captured) shows nothing.

use crate::builtin::Block;
use crate::frame::{CodeState, FRAME_BLOCK, Frame};
use crate::interp::blocks::env_of;
use crate::raise::Result;
use crate::vm::Cx;
use std::sync::{Arc, Weak};
use zakuro_bytecode::{Code, CodeKind, Place};
use zakuro_object::*;

/// A point in the nest of scopes.
#[derive(Clone, Copy)]
pub struct Scope {
    pub code: *const CodeState,
    /// Environment that code runs in: its own, or the nearest one around.
    pub env: Value,
}

/// The Codes of a nest of scopes, innermost first, without a VM: to find or make their states in another one.
pub struct CodeChain(Vec<Arc<Code>>);

impl CodeChain {
    pub fn of(state: *const CodeState) -> CodeChain {
        let mut codes = Vec::new();
        let mut at = state;
        while !at.is_null() {
            // SAFETY: code states live as long as the VM, whose Code this is.
            let s = unsafe { &*at };
            codes.push(s.code.clone());
            at = s.parent.get();
        }
        CodeChain(codes)
    }
    pub fn codes(&self) -> &[Arc<Code>] {
        &self.0
    }
    /// From a file: the innermost first. None: they are none, or no Codes.
    pub fn from_shared(list: &[Arc<dyn std::any::Any + Send + Sync>]) -> Option<CodeChain> {
        let codes: Option<Vec<_>> = list.iter().map(|c| c.clone().downcast::<Code>().ok()).collect();
        codes.filter(|c| !c.is_empty()).map(CodeChain)
    }
    /// State of the innermost Code in a VM.
    pub fn state(&self, cx: &mut Cx) -> *const CodeState {
        let mut around: *const CodeState = std::ptr::null();
        for code in self.0.iter().rev() {
            let s = cx.code_state(code);
            // SAFETY: lives as long as the VM.
            unsafe { (*s).parent.set(around) };
            around = s;
        }
        around
    }
}

/// One environment that a scope sees.
#[derive(Clone, Copy)]
pub struct SeenEnv {
    pub code: &'static Code,
    pub env: Ref<EnvCell>,
}

impl SeenEnv {
    fn own(&self) -> impl Iterator<Item = (Sym, u16)> {
        self.code.locals.iter().filter_map(|l| match l.place {
            Place::Env { depth: 0, slot } => Some((l.name, slot)),
            _ => None,
        })
    }
    /// Names and slots of the variables, hidden ones included.
    pub fn names(&self) -> Vec<(Sym, u16)> {
        self.own().collect()
    }
    pub fn slot(&self, name: Sym) -> Option<usize> {
        self.own().find(|(n, _)| *n == name).map(|(_, s)| s as usize)
    }
}

/// Whether a variable's name is one that a program can write.
pub fn is_visible_local(name: Sym) -> bool {
    match name.bytes() {
        [b'_', b'1'..=b'9'] => false,
        [b'a'..=b'z' | b'_' | 0x80.., ..] => true,
        _ => false,
    }
}

impl Cx {
    /// Scope of a live Ruby frame.
    pub fn frame_scope(&self, f: *mut Frame) -> Scope {
        // SAFETY: a live Ruby frame.
        unsafe { Scope { code: (*f).code, env: env_of(f) } }
    }
    /// Scope around a block's Proc. None for Procs that are not literal blocks.
    pub fn proc_scope(&self, p: Ref<ProcCell>) -> Option<Scope> {
        if p.proc_kind() != ProcKind::Block {
            return None;
        }
        // SAFETY: code states live as long as the VM.
        let around = unsafe { (*(p.code as *const CodeState)).parent.get() };
        (!around.is_null()).then_some(Scope { code: around, env: p.env })
    }
    /// Variables that no block captures, of the frames around a block that was given to a call which still runs: innermost first, with what they hold now.
    pub fn live_variables(&mut self, p: Ref<ProcCell>) -> Vec<(Sym, Value)> {
        let mut out = Vec::new();
        let Some(mut around) = self.proc_scope(p).map(|s| s.code) else { return out };
        let given = Block(p.as_value().bits());
        let mut f = self.fp.cast_const();
        // The oldest frame that the block was handed to stands above the block's home.
        let mut above: *const Frame = std::ptr::null();
        // SAFETY: frames from the top one down to the first of the stack were written; Ruby frames have live registers for their locals, and code
        // states live as long as the VM.
        unsafe {
            while f >= self.stacks.frames.cast_const() {
                if (*f).block == given {
                    above = f;
                }
                f = f.sub(1);
            }
            if above.is_null() {
                return out;
            }
            f = above.sub(1);
            while f >= self.stacks.frames.cast_const() && !around.is_null() {
                if (*f).code == around {
                    let state = &*around;
                    out.extend(self.held_variables(f.cast_mut(), &state.code));
                    if state.code.kind != CodeKind::Block {
                        break;
                    }
                    around = state.parent.get();
                }
                f = f.sub(1);
            }
        }
        out
    }
    /// Variables of a live frame that no environment holds, with what they hold now.
    ///
    /// # Safety
    /// A live Ruby frame, and its Code.
    unsafe fn held_variables(&mut self, f: *mut Frame, code: &Code) -> Vec<(Sym, Value)> {
        let visible = code.locals.iter().filter(|l| is_visible_local(l.name));
        visible
            .filter_map(|l| match l.place {
                // SAFETY: registers of a frame up to nlocals are initialised.
                Place::Reg(r) => Some((l.name, unsafe { *(*f).regs.add(r as usize) })),
                // SAFETY: the block of a frame is valid while that is live.
                Place::Block => Some((l.name, unsafe { self.block_object(f) })),
                Place::Env { .. } => None,
            })
            .collect()
    }
    /// Environments that a scope sees, innermost first.
    pub fn seen_envs(&self, s: Scope) -> Vec<SeenEnv> {
        self.walk_envs(s).collect()
    }
    /// The same, one at a time.
    pub fn walk_envs(&self, s: Scope) -> impl Iterator<Item = SeenEnv> + use<> {
        let (mut cs, mut env) = (s.code, s.env);
        std::iter::from_fn(move || {
            while !cs.is_null() {
                // SAFETY: code states live as long as the VM; the reference is used while it runs.
                let state: &'static CodeState = unsafe { &*cs };
                let is_last = !matches!(state.code.kind, CodeKind::Block | CodeKind::Eval);
                cs = if is_last { std::ptr::null() } else { state.parent.get() };
                if state.own_env {
                    let Some(e) = Ref::<EnvCell>::from_value(env) else { break };
                    env = e.parent;
                    return Some(SeenEnv { code: &state.code, env: e });
                }
            }
            None
        })
    }
    /// Whether code in this scope runs inside a method.
    pub fn scope_in_method(&self, s: Scope) -> bool {
        let mut cs = s.code;
        while !cs.is_null() {
            // SAFETY: as above.
            let state = unsafe { &*cs };
            match state.code.kind {
                CodeKind::Block | CodeKind::Eval => cs = state.parent.get(),
                k => return k == CodeKind::Method,
            }
        }
        false
    }
    /// Names and values of the implicit parameters (`_1`, `it`) of the innermost block of a scope.
    pub fn implicit_parameters(&self, s: Scope) -> Vec<(Sym, Value)> {
        let mut cs = s.code;
        while !cs.is_null() {
            // SAFETY: as above.
            let state: &'static CodeState = unsafe { &*cs };
            if state.code.kind == CodeKind::Eval {
                cs = state.parent.get();
                continue;
            }
            let n = state.code.params.numbered;
            let names: Vec<(Sym, Sym)> = match n {
                0 => Vec::new(),
                255 => vec![(Sym::intern("it"), Sym::intern("~it"))],
                n => (1..=n).map(|i| Sym::intern(&format!("_{i}"))).map(|s| (s, s)).collect(),
            };
            let envs = self.seen_envs(s);
            let env = envs.iter().find(|e| std::ptr::eq(e.code, &*state.code));
            let value = |hidden| env.and_then(|e| e.env.slots().get(e.slot(hidden)?).copied()).unwrap_or(Value::NIL);
            return names.into_iter().map(|(shown, hidden)| (shown, value(hidden))).collect();
        }
        Vec::new()
    }
    /// `ruby2_keywords` for a method written in Ruby, and for its aliases.
    pub fn keep_method_keywords(&mut self, m: Ref<MethodCell>) {
        if m.method_kind() == MethodKind::Ruby {
            let cs = self.method_state(m);
            // SAFETY: code states live while their method does.
            unsafe { (*cs).keeps_keywords.set(true) };
        } else if let Some(code) = self.block_code(Block(m.data.bits())) {
            self.keep_keywords(code);
        }
    }
    /// `ruby2_keywords` for the Procs of a Code.
    pub fn keep_keywords(&mut self, code: &Code) {
        self.changed();
        if let Some(cs) = self.code_states.get(&(code as *const Code as usize)) {
            cs.keeps_keywords.set(true);
        }
    }
    /// Parameters of the method that code in this scope runs in, when its environment holds them.
    pub fn scope_params(&self, s: Scope) -> Option<zakuro_bytecode::Params> {
        let mut cs = s.code;
        while !cs.is_null() {
            // SAFETY: as above.
            let state = unsafe { &*cs };
            match state.code.kind {
                CodeKind::Block | CodeKind::Eval => cs = state.parent.get(),
                CodeKind::Method if state.own_env => {
                    let p = &state.code.params;
                    let held = |i: usize| state.code.locals.get(i).is_some_and(|l| l.place == Place::Env { depth: 0, slot: i as u16 });
                    return (0..p.registers() as usize).all(held).then(|| p.clone());
                }
                _ => return None,
            }
        }
        None
    }
    /// Where `$~` and `$_` live, as [`zakuro_compiler::EvalScopes`] wants it.
    pub fn scope_specials(&self, s: Scope) -> [Option<(u8, u16)>; 2] {
        if s.code.is_null() {
            return [None; 2];
        }
        // SAFETY: as above.
        let state = unsafe { &*s.code };
        [state.code.backref, state.code.lastline].map(|place| match place {
            Some(Place::Env { depth, slot }) => Some((depth, slot)),
            _ => None,
        })
    }
    /// The state of an eval's Code in a scope: with it the Code lives until a full collection finds that nothing refers to it.
    pub fn keep_eval(&mut self, code: &Arc<Code>, s: Scope) -> *const CodeState {
        let cs = self.code_state(code);
        // SAFETY: just made, or alive: it lives until a collection.
        unsafe { (*cs).parent.set(s.code) };
        self.begin_unit(cs);
        cs
    }
    /// Runs the Code of an eval in a scope. Also returns the scope with the eval's own variables.
    pub fn run_eval(&mut self, code: &Arc<Code>, s: Scope, self_: Value, me: Value) -> (Result<Value>, Scope) {
        let cs = self.keep_eval(code, s);
        let (result, env) = self.run_code_in(code, self_, me, s.env, FRAME_BLOCK, Block::NONE);
        (result, Scope { code: cs, env: if env.is_kind(Kind::Env) { env } else { s.env } })
    }
}

/// Variables that one environment of a Binding's own takes.
pub const OWN_SLOTS: usize = 64;

impl Cx {
    /// State of a Code that is never run: it names the slots of an environment. Fresh Bindings of one place that get the same variables share it, so that an
    /// eval in them is one place, too, and its text is compiled once.
    fn naming_state(&mut self, s: Scope, names: &[Sym]) -> *const CodeState {
        // SAFETY: code states live while something refers to them.
        let unit = if s.code.is_null() { 0 } else { unsafe { (*s.code).unit.get() } };
        let key = (s.code as usize, unit, Box::from(names));
        if let Some(code) = self.units.naming.get(&key).and_then(Weak::upgrade)
            && self.has_code_state(&code)
        {
            return self.keep_eval(&code, s);
        }
        let (file, line, name) = match s.code.is_null() {
            true => (Arc::from("(eval)"), 1, sym::empty),
            // SAFETY: as above.
            false => unsafe {
                let code = &(&*s.code).code;
                (code.file.clone(), code.line, code.name)
            },
        };
        let locals =
            names.iter().enumerate().map(|(i, n)| zakuro_bytecode::Local { name: *n, place: Place::Env { depth: 0, slot: i as u16 } });
        let specials = self.scope_specials(s).map(|place| place.map(|(depth, slot)| Place::Env { depth: depth.saturating_add(1), slot }));
        let code = Arc::new(Code::naming(file, line, name, locals.collect(), specials));
        self.units.add_naming(key, &code);
        self.keep_eval(&code, s)
    }
    /// A scope inside of `s` with variables of its own, nil at first. There is room for up to [`OWN_SLOTS`].
    pub fn inner_scope(&mut self, s: Scope, names: &[Sym]) -> Scope {
        let code = self.naming_state(s, names);
        let env = EnvCell::make(&self.heap, s.env, names.len().max(OWN_SLOTS));
        Scope { code, env: env.as_value() }
    }
    /// The same environment with more names, as seen from the scope around.
    pub fn renamed_scope(&mut self, around: Scope, inner: Scope, names: &[Sym]) -> Scope {
        Scope { code: self.naming_state(around, names), env: inner.env }
    }
    /// Scope of a frame that stands before the instruction which makes its environment (its call is being told): the parameters are still in registers,
    /// the other variables nil.
    fn scope_at_entry(&mut self, f: *mut Frame) -> Option<Scope> {
        // SAFETY: a live Ruby frame, whose parameters' registers are set; the register of the environment has that around where the instruction says so.
        let (around, held) = unsafe {
            let state = &*(*f).code;
            let code = &state.code;
            let first = code.insns.first()?;
            if !state.own_env || state.index_of((*f).ip) != 0 || first.opcode() != zakuro_bytecode::Op::NewEnv {
                return None;
            }
            let around = match first.x {
                0 => Scope { code: std::ptr::null(), env: Value::NIL },
                _ => Scope { code: state.parent.get(), env: env_of(f) },
            };
            // One register for each parameter, in order; what is no parameter of its own (`**nil`) has none.
            let list: Vec<Option<Sym>> = code.params.list.iter().filter(|(kind, _)| *kind != "nokey").map(|p| p.1).collect();
            let known = list.len() == code.params.registers() as usize;
            let value = |name: Sym| {
                let at = if known { list.iter().position(|n| *n == Some(name)) } else { None };
                let v = at.map_or(Value::NIL, |i| *(*f).regs.add(1 + i));
                if v.is_undef() { Value::NIL } else { v }
            };
            let names = code.locals.iter().map(|l| l.name).filter(|n| is_visible_local(*n));
            (around, names.map(|n| (n, value(n))).collect::<Vec<(Sym, Value)>>())
        };
        if held.len() > EnvCell::MAX_SLOTS {
            return Some(around);
        }
        let names: Vec<Sym> = held.iter().map(|h| h.0).collect();
        let inner = self.inner_scope(around, &names);
        if let Some(e) = Ref::<EnvCell>::from_value(inner.env) {
            for (i, (_, v)) in held.iter().enumerate() {
                EnvCell::set(e, i, *v);
            }
        }
        Some(inner)
    }
    /// Scope of a live frame, with copies of the variables that live in registers.
    pub fn frame_snapshot(&mut self, f: *mut Frame) -> Scope {
        if let Some(s) = self.scope_at_entry(f) {
            return s;
        }
        let s = self.frame_scope(f);
        // SAFETY: a live Ruby frame, and its state.
        let held = unsafe { self.held_variables(f, &(*s.code).code) };
        if held.is_empty() || held.len() > EnvCell::MAX_SLOTS {
            return s;
        }
        let names: Vec<Sym> = held.iter().map(|h| h.0).collect();
        let inner = self.inner_scope(s, &names);
        if let Some(e) = Ref::<EnvCell>::from_value(inner.env) {
            for (i, (_, v)) in held.iter().enumerate() {
                // SAFETY: the new environment has a slot per name.
                unsafe { *e.slots_ptr().add(i) = if v.is_undef() { Value::NIL } else { *v } };
            }
        }
        inner
    }
    /// Outermost Ruby frame of this stack, when it runs a program.
    pub fn program_frame(&self) -> Option<*mut Frame> {
        let mut f = self.stacks.frames;
        // SAFETY: frames between `stacks.frames` and fp are initialised.
        unsafe {
            while f <= self.fp {
                if !(*f).is_boundary() {
                    return ((&*(*f).code).code.kind == CodeKind::Program).then_some(f);
                }
                f = f.add(1);
            }
        }
        None
    }
    /// Keeps a Code for the life of the VM, so that its address stays its own.
    pub fn keep_code(&mut self, code: &Arc<Code>) {
        self.kept_codes.entry(Arc::as_ptr(code) as usize).or_insert_with(|| code.clone());
    }
}
