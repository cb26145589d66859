//! Frames and [`CodeState`]: what a VM keeps per Code.
//!
//! Registers are windows on one value stack; frames stand on a stack of their own. A callee's window starts at the caller's call
//! base, so arguments need no copy and the result is where the caller looks for it. A frame without code is a *boundary*: native code stands
//! there; its `ip` is the stub whose next instruction halts the interpreter.

use crate::builtin::Block;
use crate::interp::Handler;
use std::sync::Arc;
use zakuro_bytecode::{Code, Insn};
use zakuro_object::Value;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Frame {
    /// Instruction being executed when the frame called something (for a boundary: the stub).
    pub ip: *const Insn,
    pub regs: *mut Value,
    /// Null for a boundary.
    pub code: *const CodeState,
    pub block: Block,
    /// Method cell: name, owner, lexical scope.
    pub me: Value,
    /// Ruby frame: `FRAME_*` flags. Boundary: first free value above the arguments.
    pub aux: usize,
}

/// A block's activation.
pub const FRAME_BLOCK: usize = 1;
/// `return` and `break` end this activation (lambda, method made by define_method).
pub const FRAME_LAMBDA: usize = 2;
/// The body of a method made by define_method.
pub const FRAME_BMETHOD: usize = 4;
/// Program, class body or eval.
pub const FRAME_TOP: usize = 8;
/// A block made into a Proc by `proc {}`: `break` has nowhere to go.
pub const FRAME_ORPHAN: usize = 16;

impl Frame {
    pub fn is_boundary(&self) -> bool {
        self.code.is_null()
    }
}

/// Inline cache of a call site. `key` is `epoch << 32 | shape`; 0 never matches.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CallCache {
    pub key: u64,
    /// Goes on with the call when the key matches.
    pub handler: Handler,
    /// Ruby method: its CodeState. Native: its function.
    pub target: usize,
    pub me: Value,
    /// Attribute methods: slot of the instance variable in `key`'s shape.
    pub extra: u32,
    /// Attribute methods: shape that `extra` belongs to.
    pub shape: u32,
}

/// Inline cache of an instance variable site.
#[derive(Clone, Copy, Default)]
pub struct IvarCache {
    pub shape: u32,
    pub slot: u32,
    /// For writes that add the variable: the shape afterwards (0: plain overwrite).
    pub next: u32,
}

/// Inline cache of a constant site.
#[derive(Clone, Copy)]
pub struct ConstCache {
    pub epoch: u32,
    pub cref: Value,
    pub value: Value,
}

/// What a VM owns per Code.
#[repr(C)]
pub struct CodeState {
    pub insns: *const Insn,
    pub calls: *mut CallCache,
    pub ivars: *mut IvarCache,
    pub consts_cache: *mut ConstCache,
    pub consts: *const Value,
    pub nregs: u32,
    pub nlocals: u16,
    /// First register to set to nil at entry: 1 + parameter registers.
    pub nil_from: u16,
    pub env_reg: u16,
    pub own_env: bool,
    pub simple: bool,
    pub required: u16,
    pub code: Arc<Code>,
    /// Made when a block or method of this Code is first used.
    pub children: Box<[std::cell::Cell<*const CodeState>]>,
    pub once: Vec<Value>,
    /// State of the Code that this one is a block, or an eval, of; null for others.
    pub parent: std::cell::Cell<*const CodeState>,
    storage: Storage,
}

struct Storage {
    calls: Box<[CallCache]>,
    ivars: Box<[IvarCache]>,
    consts_cache: Box<[ConstCache]>,
    consts: Box<[Value]>,
}

impl CodeState {
    pub fn new(code: Arc<Code>, consts: Box<[Value]>, miss: Handler) -> Box<CodeState> {
        let empty = CallCache { key: 0, handler: miss, target: 0, me: Value::NIL, extra: 0, shape: 0 };
        let mut storage = Storage {
            calls: vec![empty; code.calls.len()].into(),
            ivars: vec![IvarCache::default(); code.ivars.len()].into(),
            consts_cache: vec![ConstCache { epoch: 0, cref: Value::NIL, value: Value::NIL }; code.const_sites.len()].into(),
            consts,
        };
        Box::new(CodeState {
            insns: code.insns.as_ptr(),
            calls: storage.calls.as_mut_ptr(),
            ivars: storage.ivars.as_mut_ptr(),
            consts_cache: storage.consts_cache.as_mut_ptr(),
            consts: storage.consts.as_ptr(),
            nregs: code.nregs as u32,
            nlocals: code.nlocals,
            nil_from: 1 + code.params.registers(),
            env_reg: code.env_reg,
            own_env: code.own_env,
            simple: code.params.simple,
            required: code.params.required,
            children: code.children.iter().map(|_| std::cell::Cell::new(std::ptr::null())).collect(),
            once: vec![Value::UNDEF; code.once_sites as usize],
            parent: std::cell::Cell::new(std::ptr::null()),
            code,
            storage,
        })
    }
    /// The state of a Code in an image, which no VM runs: only its once-sites count.
    pub fn bare(code: Arc<Code>) -> Box<CodeState> {
        let storage = Storage { calls: [].into(), ivars: [].into(), consts_cache: [].into(), consts: [].into() };
        Box::new(CodeState {
            insns: code.insns.as_ptr(),
            calls: std::ptr::null_mut(),
            ivars: std::ptr::null_mut(),
            consts_cache: std::ptr::null_mut(),
            consts: std::ptr::null(),
            nregs: code.nregs as u32,
            nlocals: code.nlocals,
            nil_from: 1 + code.params.registers(),
            env_reg: code.env_reg,
            own_env: code.own_env,
            simple: code.params.simple,
            required: code.params.required,
            children: [].into(),
            once: vec![Value::UNDEF; code.once_sites as usize],
            parent: std::cell::Cell::new(std::ptr::null()),
            code,
            storage,
        })
    }
    /// Index of an instruction of this Code.
    pub fn index_of(&self, ip: *const Insn) -> usize {
        (ip as usize - self.insns as usize) / size_of::<Insn>()
    }
    pub fn line_of(&self, ip: *const Insn) -> u32 {
        self.code.line_at(self.index_of(ip))
    }
    /// Every value that the state keeps alive.
    pub fn each_value(&self, f: &mut dyn FnMut(Value)) {
        self.storage.consts.iter().for_each(|v| f(*v));
        self.storage.consts_cache.iter().for_each(|c| {
            f(c.value);
            f(c.cref)
        });
        self.storage.calls.iter().for_each(|c| f(c.me));
        self.once.iter().for_each(|v| f(*v));
    }
}
