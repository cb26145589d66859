//! What the VM and machine code agree on. The compiler itself stands above (crate `jit`); without one everything is interpreted.
//!
//! Machine code of a Code is one function ([`Entry`]). It runs one activation whose frame stands on the frame stack as for the interpreter, and either comes to its
//! end, takes the frame off and answers the value, or leaves it as the interpreter would have it at some instruction and answers 0: [`Left`] says why. A caller that is machine code, too,
//! then answers 0 itself, so whatever stands on the native stack is gone before the interpreter goes on: the native stack grows with calls from machine code to machine
//! code only, and each function leaves when it is short. Before a call of anything that may look at frames or registers these are as the interpreter would have them.

pub use crate::asker::Asker;
use crate::frame::CodeState;
use crate::notes::Asking;
use crate::vm::Cx;
use std::any::Any;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use zakuro_bytecode::Code;
use zakuro_bytecode::machine::{Exit, Known, OPERANDS, UNSEEN};
use zakuro_object::{ArrayCell, ClassId, Ref, Sym, Value, ids};

/// Function of a [`zakuro_bytecode::machine::Machine`]: the VM, the number of the entry (0: the beginning), and a handler's `regs` and `cs`. Bits of the value, or 0.
pub type Entry = unsafe extern "C" fn(&mut Cx, usize, *mut Value, *const CodeState) -> u64;

/// Why machine code was left (`Vm::left`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u32)]
pub enum Left {
    /// A guard failed: the instruction at which the frame stands is the interpreter's.
    #[default]
    Guard,
    /// The frame goes on where it stands, in machine code if there is some.
    Resume,
    /// An exception is pending.
    Raised,
    /// The frame stands at a safepoint, and somebody asked for attention.
    Poll,
    /// Native code was unwound (`Vm::unwound`).
    Unwound,
}

/// What a call site has called.
#[derive(Clone, Default)]
pub enum Called {
    /// What the compiler can't help with.
    #[default]
    Other,
    /// Nothing so far, or not since methods have changed.
    Unseen,
    /// A Ruby method whose arguments stand as they are.
    Ruby(Arc<Met>),
    /// A literal block that is a method, the same.
    Defined(Arc<Met>),
    /// The builtin `send` with this name, which led to a Ruby method that takes the other arguments as they stand.
    Sent(Arc<Met>, Sym),
    /// A builtin: its function, and what it is, by the class that it was defined in (MATH for functions of that module, RANGE for what a Range has of Enumerable) and its name. If it does no more
    /// than `interp::quiet` allows: how many arguments it takes, at least and at most.
    Native(usize, ClassId, Sym, Option<(u8, u8)>),
    AttrReader,
    AttrWriter,
    /// `new` with an `initialize` written in Ruby, and the slots that its objects are made with.
    New(Arc<Met>, u16),
    /// `new` without one.
    NewPlain(u16),
    /// A Ruby method whose arguments have to be bound.
    Bound,
}

/// How machine code of a block tells a builtin what a round has come to, and asks for the next one: the VM, the loop, the block's value, and where the values of the next round go. 0 if the
/// block is to return: then it was not told.
pub type Advance = unsafe extern "C" fn(&mut Cx, *mut Rounds, u64, *mut Value) -> u64;

/// What is left of a builtin's loop that hands each element to its block. Machine code of the block takes the next one itself when a round comes to its end, in the frame that it has, as long as
/// nobody wants attention; the builtin finds here what it has left. (Aligned so that no store of two words lies across two pages of the stack, which takes 40 cycles.)
#[repr(C, align(16))]
pub struct Rounds {
    /// How many more there are, unless an Array ends before.
    pub left: u64,
    /// What comes next, a Fixnum: an element, or the index of one.
    pub next: u64,
    /// What is added to it, twice: both are Fixnums' bits.
    pub step: i64,
    /// The Array whose elements these are, or null. One that was moved away meanwhile keeps its layout, and has none.
    pub array: *mut ArrayCell,
    /// Who says what comes next instead of all this.
    pub advance: Option<Advance>,
    pub walker: *mut (),
    /// How many values the block takes, at most: what stands above them in its window is not the walker's.
    pub takes: usize,
    /// Rounds that machine code began, of a walker.
    pub begun: u64,
}

impl Rounds {
    /// `count` Fixnums from `from` on, each `step` after the one before: all are Fixnums, and what would come after them may be none.
    pub fn count(from: i64, step: i64, count: u64) -> Rounds {
        Rounds {
            left: count,
            next: Value::fixnum(from).bits(),
            step: step.wrapping_mul(2),
            array: std::ptr::null_mut(),
            advance: None,
            walker: std::ptr::null_mut(),
            takes: 0,
            begun: 0,
        }
    }
    /// The elements of an Array, which may change meanwhile, from an index on.
    pub fn elements(array: Ref<ArrayCell>, from: usize) -> Rounds {
        Rounds { left: u64::MAX, array: array.as_ptr(), ..Rounds::count(from as i64, 1, 0) }
    }
    /// What a walker says.
    pub fn walk<W>(walker: *mut W, advance: Advance) -> Rounds {
        Rounds { advance: Some(advance), walker: walker.cast(), ..Rounds::count(0, 1, u64::MAX) }
    }
    /// Takes the next element.
    pub fn take(&mut self) -> Option<Value> {
        if self.left == 0 {
            return None;
        }
        // SAFETY: a Fixnum's bits, and the builtin's receiver.
        let v = unsafe {
            let next = Value::from_bits(self.next);
            if self.array.is_null() { next } else { Ref::from_ptr(self.array).get(next.as_fixnum()? as usize)? }
        };
        self.left -= 1;
        self.next = self.next.wrapping_add_signed(self.step);
        Some(v)
    }
}

/// What a builtin's loop walks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Walk {
    Times,
    Upto,
    Downto,
    /// `step` of an Integer, by an Integer up or down to one.
    Step,
    /// A Range of Integers, which may have no end.
    Range,
    Array,
    /// The receiver itself, once.
    Once,
}

/// What it does with the elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Act {
    Each,
    EachIndex,
    WithIndex,
    WithObject,
    Map,
    Select,
    Reject,
    /// `inject` that begins with the first element, and with an argument.
    Inject,
    Fold,
    Any,
    All,
    None,
    Find,
    Count,
    /// Answers the block's value.
    Then,
}

/// Builtins whose loops are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Looping {
    pub walk: Walk,
    pub act: Act,
}

impl Looping {
    /// `owner`: the class that has the method; RANGE for Enumerable's that were called on Ranges.
    pub fn of(owner: ClassId, name: Sym, arguments: u8) -> Option<Looping> {
        use Act::*;
        let name = name.name();
        let (walk, act) = match (owner, &*name, arguments) {
            (ids::INTEGER, "times", 0) => (Walk::Times, Each),
            (ids::INTEGER, "upto", 1) => (Walk::Upto, Each),
            (ids::INTEGER, "downto", 1) => (Walk::Downto, Each),
            (ids::INTEGER | ids::NUMERIC, "step", 1 | 2) => (Walk::Step, Each),
            (ids::ARRAY, "each_index", 0) => (Walk::Array, EachIndex),
            (ids::KERNEL, "tap", 0) => (Walk::Once, Each),
            (ids::KERNEL, "then" | "yield_self", 0) => (Walk::Once, Then),
            (ids::ARRAY | ids::RANGE, name, arguments) => {
                let act = match (name, arguments) {
                    ("each", 0) => Each,
                    ("each_with_index", 0) => WithIndex,
                    ("each_with_object", 1) => WithObject,
                    ("map" | "collect", 0) => Map,
                    ("select" | "filter", 0) => Select,
                    ("reject", 0) => Reject,
                    ("inject" | "reduce", 0) => Inject,
                    ("inject" | "reduce", 1) => Fold,
                    ("any?", 0) => Any,
                    ("all?", 0) => All,
                    ("none?", 0) => Act::None,
                    ("find" | "detect", 0) => Find,
                    ("count", 0) => Count,
                    _ => return Option::None,
                };
                (if owner == ids::ARRAY { Walk::Array } else { Walk::Range }, act)
            }
            _ => return Option::None,
        };
        Some(Looping { walk, act })
    }
    /// Whether an Array is walked.
    pub fn walks(self) -> bool {
        self.walk == Walk::Array
    }
    /// Whether it answers a new Array.
    pub fn collects(self) -> bool {
        matches!(self.act, Act::Map | Act::Select | Act::Reject)
    }
    /// Whether it makes something of the block's values.
    pub fn asks(self) -> bool {
        !matches!(self.act, Act::Each | Act::EachIndex | Act::WithIndex | Act::WithObject)
    }
    /// Whether elements are Integers.
    pub fn counts(self) -> bool {
        !matches!(self.walk, Walk::Array | Walk::Once) || self.act == Act::EachIndex
    }
    /// The number that [`help::rest`](crate::interp::machine::help::rest) knows it by.
    pub fn number(self) -> u64 {
        (self.walk as u64) << 8 | self.act as u64
    }
    pub fn numbered(n: u64) -> Option<Looping> {
        use Act::*;
        let walks = [Walk::Times, Walk::Upto, Walk::Downto, Walk::Step, Walk::Range, Walk::Array, Walk::Once];
        let acts = [Each, EachIndex, WithIndex, WithObject, Map, Select, Reject, Inject, Fold, Any, All, Act::None, Find, Count, Then];
        let walk = walks.into_iter().find(|w| *w as u64 == n >> 8)?;
        Some(Looping { walk, act: acts.into_iter().find(|a| *a as u64 == n & 255)? })
    }
    /// What the block is given: one argument, or two. `result`: what the loop has made so far.
    pub fn given<T: Copy>(self, element: T, index: T, result: T) -> (T, Option<T>) {
        match self.act {
            Act::WithIndex => (element, Some(index)),
            Act::WithObject => (element, Some(result)),
            Act::Inject | Act::Fold => (result, Some(element)),
            _ => (element, None),
        }
    }
}

/// A call site: what it has called, and the block that is written there.
#[derive(Clone, Default)]
pub struct Site {
    pub called: Called,
    /// Its receiver was a cell.
    pub of_cell: bool,
    /// It has had receivers of one kind.
    pub alone: bool,
    pub block: Option<Arc<Met>>,
}

/// A Code with what it and its call sites have met in the VM that asks; without sites if it is too large, or too far from the one that is compiled.
pub struct Met {
    pub code: Arc<Code>,
    pub sites: Vec<Site>,
    /// It has given objects new instance variables.
    pub adds_ivars: bool,
    pub known: Known,
}

impl Met {
    /// What was met in a Code: in this one, or in one that could be inlined in it.
    pub fn known_of(&self, code: *const Code) -> Option<&Known> {
        if std::ptr::eq(&*self.code, code) {
            return Some(&self.known);
        }
        self.sites.iter().find_map(|site| {
            let callee = match &site.called {
                Called::Ruby(met) | Called::Defined(met) | Called::Sent(met, _) | Called::New(met, _) => Some(met),
                _ => None,
            };
            callee.into_iter().chain(&site.block).find_map(|met| met.known_of(code))
        })
    }
}

/// A Code that is to be compiled.
pub struct Request {
    pub met: Met,
    /// Whose processor time it is: told of nanoseconds.
    pub payer: Option<Payer>,
    /// For whom it is.
    pub asker: Arc<Asker>,
    /// Dropped with the request: whatever came of it, the VM may ask again.
    pub asking: Asking,
}
pub type Payer = Box<dyn Fn(u64) + Send + Sync>;

/// What the compiler has done for all VMs of the process, for `RubyVM::JIT.stat`.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Versions that were made, and how many of them took the place of another one.
    pub compiled: u64,
    pub replaced: u64,
    /// Requests that came to nothing, by reason.
    pub refused: Vec<(String, u64)>,
    /// Requests that wait.
    pub waiting: u64,
    /// Bytes of machine code that there are, and that there may be.
    pub bytes: u64,
    pub limit: u64,
    /// Processor time of compiling.
    pub nanoseconds: u64,
}

/// Makes machine code. Called by any VM; nothing of a VM is kept.
pub trait Compiler: Sync + Send {
    /// Takes a request, unless it has too many: whether it did. With `wait` it is done when this returns.
    fn submit(&'static self, request: Request, wait: bool) -> bool;
    fn figures(&self) -> Figures;
    /// `rest` has malloc give back what it keeps for the calling thread: called on the compiler's when it has compiled. The first one stays.
    fn on_rest(&self, rest: fn());
    /// Runs `call`, which forks the process, while the compiler holds no lock that the child would find taken.
    fn hold(&self, call: &mut dyn FnMut());
}

/// How often machine code was left in a VM, by [`Left`] and what failed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Leavings {
    /// A guard on operands.
    pub operands: u64,
    /// A guard on what a register holds where a loop begins.
    pub registers: u64,
    /// What was never run before.
    pub unseen: u64,
    /// What machine code has no other way for: a redefined operator, a trace, instructions that it does not know, no room.
    pub others: u64,
    pub resumed: u64,
    pub raised: u64,
    pub polled: u64,
    pub unwound: u64,
    /// Guards that failed although they held (`--jit=exit-everywhere`).
    pub tried: u64,
    /// None of these: rounds that blocks began themselves ([`Rounds`]).
    pub rounds: u64,
}

impl Leavings {
    pub(crate) fn note(&mut self, left: Left, by: Option<&Exit>) {
        let count = match (left, by.map(|e| e.what)) {
            (Left::Guard, Some(OPERANDS)) => &mut self.operands,
            (Left::Guard, Some(UNSEEN)) => &mut self.unseen,
            (Left::Guard, Some(_)) => &mut self.registers,
            (Left::Guard, None) => &mut self.others,
            (Left::Resume, _) => &mut self.resumed,
            (Left::Raised, _) => &mut self.raised,
            (Left::Poll, _) => &mut self.polled,
            (Left::Unwound, _) => &mut self.unwound,
        };
        *count += 1;
    }
}

static COMPILER: OnceLock<&'static dyn Compiler> = OnceLock::new();

/// Names the compiler, once, before there are VMs.
pub fn set_compiler(c: &'static dyn Compiler) {
    let _ = COMPILER.set(c);
}
pub fn compiler() -> Option<&'static dyn Compiler> {
    COMPILER.get().copied()
}

/// A panic on its way through machine code, which no unwinder crosses.
pub type Unwound = Option<Box<dyn Any + Send>>;

/// The entry of a Code without machine code: the interpreter runs it.
pub(crate) unsafe extern "C" fn interpreted(cx: &mut Cx, _: usize, regs: *mut Value, cs: *const CodeState) -> u64 {
    // SAFETY: called as machine code is: the frame is pushed, but for its `ip`.
    unsafe {
        cx.left = Left::Resume;
        let f = cx.fp;
        if f >= cx.frame_limit || regs.wrapping_add((*cs).nregs as usize) >= cx.stack_limit {
            return no_room(cx);
        }
        for k in (*cs).nil_from..(*cs).nlocals {
            *regs.add(k as usize) = Value::NIL;
        }
        cx.bounces(&*cs);
        (*f).ip = (*cs).insns.get();
        if (*cx.poll).load(Ordering::Relaxed) != 0 {
            cx.left = Left::Poll;
        }
        0
    }
}

/// The frame on top has no room for its registers: it is taken off, and the interpreter makes the call again, which raises.
#[cold]
pub unsafe extern "C" fn no_room(cx: &mut Cx) -> u64 {
    // SAFETY: below a method's frame stands its caller's, at the call.
    cx.fp = unsafe { cx.fp.sub(1) };
    cx.left = Left::Guard;
    cx.left_by = std::ptr::null();
    0
}
