//! What is learnt of a [`crate::Code`] while it runs, and the machine code that is made of it. Both belong to the Code: all VMs that run it share them.
//!
//! Nothing here names anything of a VM. A [`Profile`] is written by every VM at once, without order: a lost note makes worse machine code, not wrong. A
//! [`Machine`] never changes once it is published; one that replaces another keeps it, since frames of any VM may stand in its instructions.

use crate::{Code, Insn};
use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use zakuro_base::sync::held::Mutex;

/// Where a [`Profile`] and the [`Machine`]s of a Code hang.
#[derive(Default)]
pub struct Heat {
    profile: OnceLock<Box<Profile>>,
    waits: OnceLock<Box<[Insn]>>,
    machine: AtomicPtr<Machine>,
}

/// A copy of a Code is another Code, of which nothing is known.
impl Clone for Heat {
    fn clone(&self) -> Heat {
        Heat::default()
    }
}

impl std::fmt::Debug for Heat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Heat")
    }
}

impl Drop for Heat {
    fn drop(&mut self) {
        let last = *self.machine.get_mut();
        if !last.is_null() {
            // SAFETY: made by `publish` from a Box; who drops the Code is the last to know it.
            drop(unsafe { Box::from_raw(last) });
        }
    }
}

impl Heat {
    /// What is known, if anybody watches.
    #[inline(always)]
    pub fn profile(&self) -> Option<&Profile> {
        self.profile.get().map(|p| &**p)
    }
    /// Begins to watch, with this copy of the instructions.
    pub fn watch(&self, marked: impl FnOnce() -> Box<[Insn]>) -> &Profile {
        // The process's, whichever VM comes first.
        let make = || {
            let insns = marked();
            let seen = insns.iter().map(|_| AtomicU8::new(0)).collect();
            Box::new(Profile { insns, seen, ..Profile::default() })
        };
        self.profile.get_or_init(|| zakuro_base::memory::going_on(make))
    }
    /// The instructions, each with another opcode: where frames stand while machine code waits for what it calls.
    pub fn waits(&self, marked: impl FnOnce() -> Box<[Insn]>) -> &[Insn] {
        self.waits.get_or_init(|| zakuro_base::memory::going_on(marked))
    }
    /// The newest machine code.
    #[inline(always)]
    pub fn machine(&self) -> Option<&Machine> {
        // SAFETY: published once whole, and kept until the Code goes.
        unsafe { self.machine.load(Ordering::Acquire).as_ref() }
    }
    /// Puts machine code into force. By the compiler's thread alone.
    pub fn publish(&self, mut machine: Machine) {
        let before = self.machine.load(Ordering::Acquire);
        if !before.is_null() {
            // SAFETY: as in `drop`: the new one owns it from now on.
            machine.previous = Some(unsafe { Box::from_raw(before) });
        }
        self.machine.store(Box::into_raw(Box::new(machine)), Ordering::Release);
    }
    /// Index of an instruction in one of the copies that this knows.
    pub fn index_of(&self, ip: *const Insn) -> Option<usize> {
        let within =
            |insns: &[Insn]| insns.as_ptr_range().contains(&ip).then(|| (ip as usize - insns.as_ptr() as usize) / size_of::<Insn>());
        let profile = self.profile().and_then(|p| within(&p.insns));
        let waits = || self.waits.get().and_then(|w| within(w));
        profile.or_else(waits).or_else(|| std::iter::successors(self.machine(), |m| m.previous.as_deref()).find_map(|m| within(&m.insns)))
    }
}

/// What a Code has met; see [`seen`].
#[derive(Default)]
pub struct Profile {
    /// The instructions, those marked that tell what they meet.
    pub insns: Box<[Insn]>,
    /// By instruction: kinds of operands, bits of [`seen`].
    pub seen: Box<[AtomicU8]>,
    /// Entries and rounds of loops.
    pub count: AtomicU32,
    /// Samples of running frames that met it.
    pub samples: AtomicU32,
    /// Compiling was asked for so often, that many versions there are or will be.
    pub asked: AtomicU32,
    /// A version is being made. Set by who asks, cleared by the compiler when it is published or refused.
    pub pending: AtomicBool,
    /// Guards that failed often, by instruction and what they looked at (the compiler's numbers): not to be relied on again.
    pub refuted: Mutex<Vec<(u32, u16)>>,
}

impl Profile {
    #[inline(always)]
    pub fn note(&self, at: usize, bits: u8) {
        let seen = &self.seen[at];
        let before = seen.load(Ordering::Relaxed);
        if before | bits != before {
            seen.store(before | bits, Ordering::Relaxed);
        }
    }
    pub fn refute(&self, at: u32, what: u16) {
        let mut list = self.refuted.lock();
        if !list.contains(&(at, what)) {
            list.push((at, what));
        }
    }
}

/// Kinds of operands, by what the instruction can do with them. Of a second operand: shifted by [`seen::SECOND`].
pub mod seen {
    pub const INTEGER: u8 = 1;
    pub const FLOAT: u8 = 2;
    pub const ARRAY: u8 = 4;
    /// Anything else.
    pub const OTHER: u8 = 8;
    pub const SECOND: u32 = 4;
}

/// No entry, in [`Machine::entries`].
pub const NO_ENTRY: u16 = u16::MAX;

/// Machine code of one Code.
pub struct Machine {
    /// Address of its function; zakuro-vm says how it is called.
    pub function: usize,
    /// The instructions, those marked at which the function can be entered.
    pub insns: Box<[Insn]>,
    /// By instruction: the number of the entry there, or [`NO_ENTRY`].
    pub entries: Box<[u16]>,
    /// Its address is in the machine code: as many as there is room for, and never moved.
    pub exits: Vec<Exit>,
    /// Bytes of machine code.
    pub bytes: usize,
    /// Time that compiling took, in nanoseconds.
    pub took: u64,
    /// Codes whose addresses it holds.
    pub keeps: Vec<Arc<Code>>,
    /// The memory, which goes back where it came from.
    pub memory: Box<dyn Any + Send + Sync>,
    pub previous: Option<Box<Machine>>,
}

/// What a guard looks at ([`Exit::what`]): the operands of the instruction.
pub const OPERANDS: u16 = 0;
/// Plus the number of a register: what it holds where a loop begins.
pub const REGISTER: u16 = 1;
/// Nothing: the instruction was never run before.
pub const UNSEEN: u16 = u16::MAX;

/// A place where machine code may be left because something is not as it was: a guard.
pub struct Exit {
    /// The instruction at which the interpreter goes on.
    pub at: u32,
    /// What the guard looks at: the compiler's number.
    pub what: u16,
    /// How many inlined frames stand above the one whose machine code it is.
    pub depth: u16,
    /// How often it failed.
    pub taken: AtomicU32,
}
