//! What a VM has met in a Code, and the machine code of it that the VM has taken.
//!
//! Notes are the VM's own: what it meets decides which version it runs, and what it asks the compiler for. Versions are shared ([`zakuro_bytecode::machine`]), so VMs that meet the same run the same one,
//! and a VM that meets odd things makes nobody else's slower. What it has taken it holds as long as its state of the Code lives: frames of its stacks may stand in the copies of instructions, and native
//! stacks of its fibers in the function, as long as the state may be run.

use crate::vm::FastMap;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use zakuro_bytecode::Insn;
use zakuro_bytecode::machine::{Exit, Known, Machine, OPERANDS, index_within};

/// Whether a version is being made: the process that asked for one, or 0. Set by the VM, cleared by the compiler's thread when the request is done with, whatever came of it. A child of fork(2) has not got
/// that thread: what was asked for in another process is not waited for.
#[derive(Clone, Default)]
pub struct Pending(Arc<AtomicU32>);

impl Pending {
    pub fn is(&self) -> bool {
        let process = self.0.load(Ordering::Acquire);
        process != 0 && process == std::process::id()
    }
    fn set(&self) {
        self.0.store(std::process::id(), Ordering::Release);
    }
}

/// A version is pending as long as this is there.
pub struct Asking(Pending);

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.0.store(0, Ordering::Release);
    }
}

const NEAR: u32 = 4;
/// How often a call site meets another class than before, while it is watched, before its callee is not inlined.
const TURNS: u8 = 3;

/// See the module. Touched by the VM alone.
#[derive(Default)]
pub struct Notes {
    known: RefCell<Known>,
    /// How often guards failed, by the address of the [`Exit`], which a version that is held keeps.
    failures: RefCell<FastMap<usize, u32>>,
    /// How often a call met a receiver of another class than its cache, by instruction.
    turns: RefCell<FastMap<u32, u8>>,
    /// How often guards of the version in force failed, all together.
    pub left: Cell<u32>,
    /// Versions that were in force before the one that is.
    held: RefCell<Vec<Arc<Machine>>>,
    /// Entries and rounds of loops while they were counted.
    pub count: Cell<u32>,
    /// The count at which it changes between the copy of the instructions that tells what they meet and the one that counts, or something is asked for.
    pub due: Cell<u32>,
    /// It counts only.
    pub counts: Cell<bool>,
    /// How many calls away from what a sample has found.
    pub depth: Cell<u8>,
    /// The VM's samples when machine code had last called it so many times in vain.
    pub bounced: Cell<u32>,
    /// It ran often enough for machine code to pay.
    pub pays: Cell<bool>,
    /// The VM's samples when it began to count.
    pub since: Cell<u32>,
    /// How near to each other the VM's samples were that found it on top, and the last of them.
    nearness: Cell<u32>,
    sampled: Cell<u32>,
    /// Versions that were asked for.
    pub asked: Cell<u32>,
    /// It watches what it meets although there is machine code, which was made for a VM that had met more.
    pub compares: Cell<bool>,
    /// It has done so, or what it runs was made for itself.
    pub compared: Cell<bool>,
    /// It has begun to watch because guards of somebody else's version failed.
    pub doubted: Cell<bool>,
    /// [`zakuro_bytecode::machine::Heat::changes`] when it last looked for a version.
    pub changes: Cell<u32>,
    pending: Pending,
}

impl Notes {
    pub fn note(&self, at: usize, bits: u8, length: usize) {
        if self.known.borrow().seen(at) | bits != self.known.borrow().seen(at) {
            self.known.borrow_mut().note(at, bits, length);
        }
    }
    pub fn refute(&self, at: u32, what: u16) {
        self.known.borrow_mut().refute(at, what);
    }
    /// A call met a receiver of another class than the one before: a guard of what it called last would fail as often.
    pub fn turned(&self, at: usize) {
        let at = at as u32;
        let n = *self.turns.borrow_mut().entry(at).and_modify(|n| *n = n.saturating_add(1)).or_insert(1);
        if n == TURNS {
            self.refute(at, OPERANDS);
        }
    }
    pub fn known(&self) -> Known {
        let ran = self.count.get() > 0;
        Known { ran, ..self.known.borrow().clone() }
    }
    /// Forgets what it has met.
    pub fn begin_again(&self) {
        *self.known.borrow_mut() = Known::default();
        self.failures.borrow_mut().clear();
        self.turns.borrow_mut().clear();
        self.count.set(0);
        self.counts.set(false);
    }
    /// A guard failed: how often by now.
    pub fn failed(&self, exit: &Exit) -> u32 {
        let mut failures = self.failures.borrow_mut();
        let n = failures.entry(std::ptr::from_ref(exit) as usize).or_default();
        *n = n.wrapping_add(1);
        self.left.set(self.left.get().saturating_add(1));
        *n
    }
    /// Keeps a version that is not in force any more.
    pub fn hold(&self, machine: Arc<Machine>) {
        self.held.borrow_mut().push(machine);
    }
    /// Looks at what is known. `f` looks at nothing else of these notes.
    pub fn with_known<T>(&self, f: impl FnOnce(&Known) -> T) -> T {
        f(&self.known.borrow())
    }
    pub fn is_pending(&self) -> bool {
        self.pending.is()
    }
    /// The VM's sample of this number, which is never 0, found it on top.
    pub fn sampled(&self, number: u32) {
        let nearness = match (number.wrapping_sub(self.sampled.replace(number)), self.nearness.get()) {
            (since, _) if since == number => 0,
            (0..=3, n) => n + 4,
            (4..=16, n) => n + 2,
            (17..=64, n) => n + 1,
            _ => 0,
        };
        self.nearness.set(nearness.min(NEAR));
    }
    /// Whether samples have found it on top so often that machine code is wanted, however few its rounds are: twice in a row, or more often if others were on top in between.
    pub fn is_wanted(&self) -> bool {
        self.nearness.get() >= NEAR
    }
    /// A version is pending as long as the answer is there.
    pub fn asks(&self) -> Asking {
        self.pending.set();
        Asking(self.pending.clone())
    }
    /// Index of an instruction in the copies of versions.
    pub fn index_of(&self, ip: *const Insn) -> Option<usize> {
        self.held.borrow().iter().find_map(|m| index_within(&m.insns, ip))
    }
}
