//! Frames and [`CodeState`]: what a VM keeps per Code.
//!
//! Registers are windows on one value stack; frames stand on a stack of their own. A callee's window starts at the caller's call
//! base, so arguments need no copy and the result is where the caller looks for it. A frame without code is a *boundary*: native code stands
//! there; its `ip` is the stub whose next instruction halts the interpreter.

use crate::builtin::Block;
use crate::layouts::Layouts;
use crate::machine::Entry;
use crate::notes::Notes;
use crate::sites::{Site, Tables};
use crate::vm::Cx;
use std::cell::{Cell, OnceCell};
use std::mem::MaybeUninit;
use std::sync::Arc;
use zakuro_bytecode::machine::{Machine, index_within};
use zakuro_bytecode::{Code, Insn};
use zakuro_object::{ShapeId, Sym, TracedVec, Value};

/// A handler. True: the code that `run` entered has returned; false: an exception is pending.
///
/// # Safety
/// The contract of handlers, which the SAFETY comments of this module build on, and which a handler that goes on with another one passes on:
/// - *Code.* `ip` points to an instruction of `cs`'s Code or of its traced copy (equal but for opcodes). The verifier has passed the Code; the compiler
///   hands out no other. So operands name registers below `nregs` and entries of the Code's tables, jumps lead to instructions, and whatever goes on to the
///   next instruction, or to the rest of its group, has one. Cache slots are used by one family of opcodes.
/// - *Frame.* `cx.fp` is the running frame, `regs` and `cs` are its own; below it stands its caller or a boundary. Who pushed it made sure that its
///   window, `nregs` values from `regs`, ends below the stack's limit. Stacks do not move.
/// - *State.* `cs`, its Code and its caches belong to this VM and stay while a frame runs in it or waits in it (`codegc`). Only the VM's own
///   thread touches them, and no reference to a cache is used across Ruby code.
/// - *Values.* A register that is read was written before, on each way, with the kind of value that the instruction asks for: the compiler's promise (tests
///   and fuzzing check the first half with `zakuro_bytecode::flow`). Registers are roots, so what they hold is alive; cells do not move.
pub type Handler = unsafe fn(&mut Cx, *const Insn, *mut Value, *const CodeState) -> bool;

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
/// Flags of such a body's frame.
pub const FRAME_DEFINED: usize = FRAME_BLOCK | FRAME_LAMBDA | FRAME_BMETHOD;
/// Program, class body or eval.
pub const FRAME_TOP: usize = 8;
/// A block made into a Proc by `proc {}`: `break` has nowhere to go.
pub const FRAME_ORPHAN: usize = 16;
/// Its entry has been told to a trace.
pub const FRAME_TRACED: usize = 32;

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
    /// Attribute methods: slot of the instance variable in `key`'s shape. Calls with a literal block: its number among the Code's children.
    pub extra: u32,
    /// Attribute methods: shape that `extra` belongs to.
    pub shape: u32,
}

/// Inline cache of an instance variable site.
#[derive(Clone, Copy, Default)]
pub struct IvarCache {
    /// 0: no object's. `slot` then is where classes, and other cells without a layout, had it in their list.
    pub shape: u32,
    pub slot: u32,
    /// For writes that add the variable: the shape afterwards (0: plain overwrite). [`UNSET`] at a read: objects of the shape whose number stands in `slot` don't
    /// have the variable.
    pub next: u32,
}
/// See [`IvarCache::next`].
pub const UNSET: u32 = u32::MAX;

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
    /// The instructions in force: the Code's, or a copy that its profile or its machine code has (`interp::machine`), or while traces want events of it, `traced`.
    pub insns: Cell<*const Insn>,
    /// Set while collecting when a Proc or frame of it is reached (`zakuro_object::CodeHead` is the layout up to here).
    pub seen: Cell<u32>,
    /// Unit of an eval's code (see `codegc`); 0: lives as long as the VM.
    pub unit: Cell<u32>,
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
    /// As in the Code.
    pub of_symbol: bool,
    /// Its parameters are required and optional ones alone.
    pub plain: bool,
    /// They are required ones and a rest parameter behind them, and a block's if it has one.
    pub takes_list: bool,
    /// The rest parameter has no name, so that it can only be passed on: nil where nothing was given for it, and else it may be an Array of the program's.
    pub nameless_rest: bool,
    /// The same of that for keywords, and a Hash.
    pub nameless_kwrest: bool,
    pub required: u16,
    pub code: Arc<Code>,
    /// Its machine code, if the VM has taken note of it; or null. From `Arc::into_raw`.
    pub machine: Cell<*const Machine>,
    /// What the VM has met in it, once that is watched.
    pub(crate) notes: OnceCell<Box<Notes>>,
    /// How machine code calls it: what runs one activation.
    pub entry: Cell<Entry>,
    /// The key (epoch and shape of self) for which the entries in front of the call sites that the machine code in force has linked lead where it takes for granted that they do; 0: none.
    /// Whoever changes such an entry ends that (`Cx::unlink`).
    pub linked: Cell<u64>,
    /// What its machine code in force knows of its call sites ([`crate::sites`]); null without.
    pub sites: Cell<*const Site>,
    /// Where instance variables stand in objects of the shape that machine code has met last ([`crate::layouts`]).
    pub layout: Cell<*const u32>,
    /// How often machine code has called it while it had none.
    pub(crate) bounced: Cell<u32>,
    /// Made when a block or method of this Code is first used.
    pub children: Box<[Cell<*const CodeState>]>,
    /// Its first one.
    pub first_child: *const Cell<*const CodeState>,
    pub once: TracedVec,
    /// State of the Code that this one is a block, or an eval, of; null for others.
    pub parent: Cell<*const CodeState>,
    /// `Proc#ruby2_keywords` was called for a Proc of it.
    pub keeps_keywords: Cell<bool>,
    /// It has got cells since the last minor collection (`crate::fresh`).
    pub(crate) fresh: Cell<bool>,
    /// See [`CodeState::bare`].
    is_bare: bool,
    /// Copy of the instructions with event sites marked (see `interp::trace`). Kept once made: frames may run in it.
    pub(crate) traced: Option<Box<[Insn]>>,
    gained: OnceCell<Box<Gained>>,
    storage: Storage,
}

/// What comes to a state since it was made: most have none of it.
#[derive(Default)]
struct Gained {
    layouts: Layouts,
    tables: Tables,
    /// Entries of call sites that have met receivers of several shapes; see [`CodeState::recall`]. Empty until there is such a site.
    others: Box<[Option<Box<[CallCache; OTHERS]>>]>,
    /// How many of them there are.
    others_kept: u32,
}

impl Gained {
    /// Bytes of it.
    fn bytes(&self) -> usize {
        let others = size_of_val(&*self.others) + self.others_kept as usize * size_of::<[CallCache; OTHERS]>();
        size_of::<Gained>() + others + self.layouts.bytes() + self.tables.bytes()
    }
}

/// What every call reads stands in the middle of pages, if malloc can do it in a few attempts: values begin with a page, frames in the last 640 bytes of one (`zakuro_sched::StackPool`), and there they
/// are written all the time; and a load waits for a store to the same address modulo 4 KiB (docs/decisions/0009).
fn placed<T>(make: impl Fn() -> T, address: impl Fn(&T) -> usize, bytes: usize) -> T {
    const HALF: usize = 2048;
    const FROM: usize = HALF - 640;
    let mut elsewhere = [const { None }; 12];
    for other in &mut elsewhere {
        let made = make();
        let at = address(&made) % (2 * HALF);
        if bytes == 0 || bytes > HALF || at >= FROM && at + bytes <= FROM + HALF {
            return made;
        }
        *other = Some(made);
    }
    make()
}

/// The tables of a state, in one block: the more of them stand close together, the fewer pages and cache lines a call of a method that was not called lately
/// waits for. In this order, so that each is aligned.
struct Storage {
    block: Box<[MaybeUninit<u64>]>,
    calls: u32,
    consts_cache: u32,
    consts: u32,
    ivars: u32,
}
/// Entries of a call site beside the one in front.
const OTHERS: usize = 3;

const _: () = {
    assert!(align_of::<CallCache>() == 8 && size_of::<CallCache>().is_multiple_of(8));
    assert!(align_of::<ConstCache>() == 8 && size_of::<ConstCache>().is_multiple_of(8));
    assert!(size_of::<Value>() == 8 && align_of::<IvarCache>() <= 8);
};

impl Storage {
    fn new(calls: (CallCache, usize), consts_cache: (ConstCache, usize), consts: &[Value], ivars: usize) -> Storage {
        let bytes = calls.1 * size_of::<CallCache>()
            + consts_cache.1 * size_of::<ConstCache>()
            + size_of_val(consts)
            + ivars * size_of::<IvarCache>();
        let block = placed(|| Box::<[u64]>::new_uninit_slice(bytes.div_ceil(8)), |b| b.as_ptr() as usize, bytes);
        let number = |n: usize| n as u32;
        let mut made = Storage {
            block,
            calls: number(calls.1),
            consts_cache: number(consts_cache.1),
            consts: number(consts.len()),
            ivars: number(ivars),
        };
        let (to_calls, to_consts_cache, to_consts, to_ivars) = made.places();
        // SAFETY: the block has room for all of them, one behind the other, and is aligned for each.
        unsafe {
            (0..calls.1).for_each(|k| to_calls.add(k).write(calls.0));
            (0..consts_cache.1).for_each(|k| to_consts_cache.add(k).write(consts_cache.0));
            consts.iter().enumerate().for_each(|(k, v)| to_consts.add(k).write(*v));
            (0..ivars).for_each(|k| to_ivars.add(k).write(IvarCache::default()));
        }
        made
    }
    fn places(&mut self) -> (*mut CallCache, *mut ConstCache, *mut Value, *mut IvarCache) {
        let calls = self.block.as_mut_ptr() as *mut CallCache;
        // SAFETY: within the block, or at its end.
        unsafe {
            let consts_cache = calls.add(self.calls as usize) as *mut ConstCache;
            let consts = consts_cache.add(self.consts_cache as usize) as *mut Value;
            (calls, consts_cache, consts, consts.add(self.consts as usize) as *mut IvarCache)
        }
    }
}

impl Drop for CodeState {
    fn drop(&mut self) {
        let machine = self.machine.get();
        if !machine.is_null() {
            // SAFETY: from `Arc::into_raw`; nothing runs the Code in this VM any more.
            drop(unsafe { Arc::from_raw(machine) });
        }
    }
}

impl CodeState {
    pub fn new(code: Arc<Code>, consts: Box<[Value]>, miss: Handler) -> Box<CodeState> {
        let (storage, children) = CodeState::parts(&code, &consts, miss);
        CodeState::with(code, storage, children, false)
    }
    fn parts(code: &Code, consts: &[Value], miss: Handler) -> (Storage, Box<[Cell<*const CodeState>]>) {
        let call = CallCache { key: 0, handler: miss, target: 0, me: Value::NIL, extra: 0, shape: 0 };
        let found = ConstCache { epoch: 0, cref: Value::NIL, value: Value::NIL };
        let storage = Storage::new((call, code.calls.len()), (found, code.const_sites.len()), consts, code.ivars.len());
        (storage, code.children.iter().map(|_| Cell::new(std::ptr::null())).collect())
    }
    /// Gives a bare one what running it takes.
    pub(crate) fn complete(&mut self, consts: &[Value], miss: Handler) {
        (self.storage, self.children) = CodeState::parts(&self.code, consts, miss);
        self.first_child = self.children.as_ptr();
        (self.calls, self.consts_cache, self.consts, self.ivars) = {
            let (calls, consts_cache, consts, ivars) = self.storage.places();
            (calls, consts_cache, consts.cast_const(), ivars)
        };
        self.is_bare = false;
    }
    pub(crate) fn is_bare(&self) -> bool {
        self.is_bare
    }
    /// The state of a Code that nothing runs, as long as it is not made whole: in an image, where only its once-sites count, or that of a Code around a block that a VM begins with.
    pub fn bare(code: Arc<Code>) -> Box<CodeState> {
        let storage = Storage { block: [].into(), calls: 0, consts_cache: 0, consts: 0, ivars: 0 };
        CodeState::with(code, storage, [].into(), true)
    }
    fn with(code: Arc<Code>, mut storage: Storage, children: Box<[Cell<*const CodeState>]>, is_bare: bool) -> Box<CodeState> {
        let first_child = children.as_ptr();
        let (calls, consts_cache, consts, ivars) = storage.places();
        let place = placed(Box::<CodeState>::new_uninit, |b| &raw const **b as usize, size_of::<CodeState>());
        Box::write(
            place,
            CodeState {
                insns: Cell::new(code.insns.as_ptr()),
                seen: Cell::new(0),
                unit: Cell::new(0),
                calls,
                ivars,
                consts_cache,
                consts,
                nregs: code.nregs as u32,
                nlocals: code.nlocals,
                nil_from: 1 + code.params.registers(),
                env_reg: code.env_reg,
                own_env: code.own_env,
                simple: code.params.simple,
                of_symbol: code.of_symbol,
                nameless_rest: code.params.is_nameless("rest", zakuro_base::sym::mul),
                nameless_kwrest: code.params.is_nameless("keyrest", zakuro_base::sym::pow),
                plain: code.params.registers() == code.params.required + code.params.optional && !code.params.no_block,
                takes_list: code.params.rest
                    && code.params.registers() == code.params.required + 1 + u16::from(code.params.block)
                    && !code.params.takes_keywords(),
                required: code.params.required,
                children,
                first_child,
                once: TracedVec::filled(Value::UNDEF, code.once_sites as usize),
                parent: Cell::new(std::ptr::null()),
                keeps_keywords: Cell::new(false),
                fresh: Cell::new(false),
                traced: None,
                is_bare,
                gained: OnceCell::new(),
                machine: Cell::new(std::ptr::null()),
                notes: OnceCell::new(),
                entry: Cell::new(crate::machine::interpreted),
                linked: Cell::new(0),
                sites: Cell::new(std::ptr::null()),
                layout: Cell::new(Layouts::none()),
                bounced: Cell::new(0),
                code,
                storage,
            },
        )
    }
    /// Index of an instruction of this Code.
    pub fn index_of(&self, ip: *const Insn) -> usize {
        let i = (ip as usize).wrapping_sub(self.code.insns.as_ptr() as usize) / size_of::<Insn>();
        if i < self.code.insns.len() {
            return i;
        }
        // SAFETY: null, or held since it came into force.
        let own = unsafe { self.machine.get().as_ref() }.and_then(|m| index_within(&m.insns, ip));
        let held = || self.notes.get().and_then(|n| n.index_of(ip));
        match (&self.traced, own.or_else(|| self.code.heat.index_of(ip)).or_else(held)) {
            (_, Some(i)) => i,
            (Some(t), None) => (ip as usize - t.as_ptr() as usize) / size_of::<Insn>(),
            (None, None) => i,
        }
    }
    /// Whether traces have their copy of the instructions in force.
    pub(crate) fn is_traced(&self) -> bool {
        self.traced.as_ref().is_some_and(|t| std::ptr::eq(self.insns.get(), t.as_ptr()))
    }
    /// What is done at an instruction, marked or not.
    pub fn opcode_at(&self, ip: *const Insn) -> zakuro_bytecode::Op {
        self.code.insns[self.index_of(ip)].opcode()
    }
    pub fn line_of(&self, ip: *const Insn) -> u32 {
        self.code.line_at(self.index_of(ip))
    }
    fn call_caches(&mut self) -> impl Iterator<Item = &mut CallCache> {
        // SAFETY: the block of this state, which nothing else looks at meanwhile.
        let front = unsafe { std::slice::from_raw_parts_mut(self.calls, self.storage.calls as usize) };
        let others = self.gained.get_mut().into_iter().flat_map(|g| g.others.iter_mut().flatten());
        front.iter_mut().chain(others.flat_map(|o| o.iter_mut()))
    }
    fn const_caches(&mut self) -> &mut [ConstCache] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.consts_cache, self.storage.consts_cache as usize) }
    }
    /// The entry of a call site for this key.
    pub(crate) fn call_of(&self, site: usize, key: u64) -> Option<&CallCache> {
        // SAFETY: there are as many entries as sites.
        let front = unsafe { &*self.calls.add(site) };
        if front.key == key { Some(front) } else { self.other(site, key) }
    }
    /// The entry for this key that does not stand in front.
    #[inline(always)]
    pub(crate) fn other(&self, site: usize, key: u64) -> Option<&CallCache> {
        self.gained.get()?.others.get(site)?.as_ref()?.iter().find(|c| c.key == key)
    }
    /// Whether a call site has had no receivers of another kind than the last.
    pub(crate) fn is_alone(&self, site: usize) -> bool {
        self.gained.get().is_none_or(|g| g.others.get(site).is_none_or(|o| o.is_none()))
    }
    /// Puts the entry for this key in front of those of its call site, if there is one.
    #[inline]
    pub(crate) fn recall(&mut self, site: usize, key: u64) -> bool {
        let Some(Some(others)) = self.gained.get_mut().and_then(|g| g.others.get_mut(site)) else { return false };
        let Some(found) = others.iter_mut().find(|c| c.key == key) else { return false };
        // SAFETY: there are as many entries as sites.
        std::mem::swap(unsafe { &mut *self.calls.add(site) }, found);
        true
    }
    /// Keeps the entry in front, which another one is to replace, if it is still good. Returns the bytes that this takes for the first time.
    pub(crate) fn set_aside(&mut self, site: usize, epoch: u32) -> usize {
        // SAFETY: as above.
        let front = unsafe { *self.calls.add(site) };
        if front.key >> 32 != epoch as u64 {
            return 0;
        }
        let before = self.grown();
        let calls = self.storage.calls;
        let gained = self.gained_mut();
        if gained.others.is_empty() {
            gained.others = (0..calls).map(|_| None).collect();
        }
        let is_new = gained.others[site].is_none();
        let others = gained.others[site].get_or_insert_with(|| Box::new([CallCache { key: 0, me: Value::NIL, ..front }; OTHERS]));
        others.rotate_right(1);
        others[0] = front;
        gained.others_kept += u32::from(is_new);
        self.grown() - before
    }
    /// Bytes that came to it since it was made: entries beside those in front, layouts, tables of call sites.
    pub(crate) fn grown(&self) -> usize {
        self.gained.get().map_or(0, |g| g.bytes())
    }
    fn gained(&self) -> &Gained {
        // What stands in the way of no call: the limit is looked at when the bytes are counted.
        self.gained.get_or_init(|| zakuro_base::memory::going_on(Box::default))
    }
    fn gained_mut(&mut self) -> &mut Gained {
        self.gained();
        self.gained.get_mut().expect("made just now")
    }
    /// The table of call sites for a version of its machine code.
    pub(crate) fn table_of(&self, m: &Machine) -> *const Site {
        self.gained().tables.of(m)
    }
    /// Finds the layout of objects of a shape, for machine code, and makes it the one in force. `slot`: where a variable stands. Returns the bytes that this takes for the first time.
    pub(crate) fn take_layout(&mut self, shape: ShapeId, slot: impl Fn(Sym) -> Option<usize>) -> usize {
        let before = self.grown();
        self.gained();
        let CodeState { code, gained, layout, .. } = self;
        layout.set(gained.get_mut().map_or_else(Layouts::none, |g| g.layouts.of(shape, &code.ivars, slot)));
        self.grown() - before
    }
    /// The same of a list of variables, which is known by `stamp`, or by nothing (0).
    pub(crate) fn take_listed(&mut self, list: &[(Sym, Value)], stamp: u64) -> usize {
        let before = self.grown();
        self.gained();
        let CodeState { code, gained, layout, .. } = self;
        layout.set(gained.get_mut().map_or_else(Layouts::none, |g| g.layouts.of_list(list, &code.ivars, stamp)));
        self.grown() - before
    }
    /// The table for the list that it was taken for last, if that is the one of this stamp.
    #[inline]
    pub(crate) fn listed_at_hand(&self, stamp: u64) -> Option<*const u32> {
        self.gained.get()?.layouts.at_hand(stamp)
    }
    /// Whether an access to an instance variable has met objects that it added the variable to.
    pub(crate) fn adds_ivars(&self) -> bool {
        // SAFETY: as in `call_caches`.
        let caches = unsafe { std::slice::from_raw_parts(self.ivars, self.storage.ivars as usize) };
        caches.iter().any(|c| !matches!(c.next, 0 | UNSET))
    }
    /// Empties the caches that go by a number which is to mean something else. (Of what else stands in the same fields, some goes with them.)
    pub(crate) fn forget_numbers(&mut self, shape: &dyn Fn(u32) -> bool, class: &dyn Fn(u32) -> bool) {
        self.linked.set(0);
        for c in self.call_caches() {
            if shape(c.key as u32) || shape(c.shape) || class(c.shape) || class(c.extra) {
                c.key = 0;
                c.me = Value::NIL;
            }
        }
        if let Some(gained) = self.gained.get_mut() {
            gained.layouts.forget(shape);
        }
        // SAFETY: as in `call_caches`.
        for c in unsafe { std::slice::from_raw_parts_mut(self.ivars, self.storage.ivars as usize) } {
            if shape(c.shape) || shape(c.slot) || shape(c.next) {
                *c = IvarCache::default();
            }
        }
    }
    /// Empties the caches that hold dead cells.
    pub(crate) fn forget_dead(&mut self, alive: &dyn Fn(Value) -> bool) {
        self.linked.set(0);
        for c in self.call_caches().filter(|c| !alive(c.me)) {
            c.key = 0;
            c.me = Value::NIL;
        }
        for c in self.const_caches().iter_mut().filter(|c| !alive(c.value) || !alive(c.cref)) {
            *c = ConstCache { epoch: 0, cref: Value::NIL, value: Value::NIL };
        }
    }
    /// Whether its caches hold no dead cell. For checks.
    pub(crate) fn holds_living(&mut self, alive: &dyn Fn(Value) -> bool) -> bool {
        self.call_caches().all(|c| alive(c.me)) && self.const_caches().iter().all(|c| alive(c.value) && alive(c.cref))
    }
    /// Every value that the state keeps alive; caches don't.
    pub fn each_own_value(&self, f: &mut dyn FnMut(Value)) {
        // SAFETY: the block of this state; nobody writes to this part of it.
        unsafe { std::slice::from_raw_parts(self.consts, self.storage.consts as usize) }.iter().for_each(|v| f(*v));
        self.once.iter().for_each(|v| f(*v));
    }
}
