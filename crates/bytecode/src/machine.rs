//! What is learnt of a [`crate::Code`] while it runs, and the machine code that is made of it.
//!
//! Machine code belongs to the Code: all VMs that run it share its [`Machine`]s, of which there are several where VMs have met different things. What a VM has met is its own
//! (`zakuro_vm::notes`), and so is which of the versions it runs; a version carries what it was made for ([`Known`]), so that another VM can tell whether it serves. Nothing here names anything of a VM.
//! A [`Machine`] never changes once it is published. Who runs one holds it; the Code keeps those that nobody runs for who comes next, until their memory is wanted.

use crate::{Code, Insn};
use std::any::Any;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use zakuro_base::sync::held::Mutex;

/// Where the copies of a Code's instructions and its [`Machine`]s hang.
#[derive(Default)]
pub struct Heat {
    marked: OnceLock<Box<[Insn]>>,
    counted: OnceLock<Box<[Insn]>>,
    waits: OnceLock<Box<[Insn]>>,
    /// The newest comes last. Locked by VMs that look for a version, never on a call's way, and by the compiler.
    versions: Mutex<Vec<Arc<Machine>>>,
    /// How often a version was added: written under that lock.
    changes: AtomicU32,
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

impl Heat {
    /// The instructions, those marked that tell what they meet.
    pub fn marked(&self, make: impl FnOnce() -> Box<[Insn]>) -> &[Insn] {
        // The process's, whichever VM comes first.
        self.marked.get_or_init(|| zakuro_base::memory::going_on(make))
    }
    /// The instructions, those marked at which entries and rounds are counted.
    pub fn counted(&self, make: impl FnOnce() -> Box<[Insn]>) -> &[Insn] {
        self.counted.get_or_init(|| zakuro_base::memory::going_on(make))
    }
    /// Index of an instruction that may be one of these.
    #[inline]
    pub fn index_counted(&self, ip: *const Insn) -> Option<usize> {
        self.counted.get().and_then(|insns| index_within(insns, ip))
    }
    /// The instructions, each with another opcode: where frames stand while machine code waits for what it calls.
    pub fn waits(&self, make: impl FnOnce() -> Box<[Insn]>) -> &[Insn] {
        self.waits.get_or_init(|| zakuro_base::memory::going_on(make))
    }
    /// How often a version was added: who has seen as many need not look again.
    #[inline(always)]
    pub fn changes(&self) -> u32 {
        self.changes.load(Ordering::Acquire)
    }
    /// Looks at the versions. `f` locks nothing and runs no Ruby code.
    pub fn versions<T>(&self, f: impl FnOnce(&[Arc<Machine>]) -> T) -> T {
        f(&self.versions.lock())
    }
    /// Puts machine code into force, for who looks for some from now on. By the compiler's thread alone.
    pub fn publish(&self, machine: Machine) {
        let mut versions = self.versions.lock();
        versions.push(Arc::new(machine));
        self.changes.fetch_add(1, Ordering::Release);
    }
    /// Takes out the versions that nobody runs and `goes` names: they go when the answer does.
    pub fn purge(&self, mut goes: impl FnMut(&Machine) -> bool) -> Vec<Arc<Machine>> {
        // Who does not hold one can get it under this lock only.
        self.versions.lock().extract_if(.., |m| Arc::strong_count(m) == 1 && goes(m)).collect()
    }
    /// Index of an instruction in one of the copies that this knows.
    pub fn index_of(&self, ip: *const Insn) -> Option<usize> {
        let known = |insns: &OnceLock<Box<[Insn]>>| insns.get().and_then(|insns| index_within(insns, ip));
        known(&self.marked).or_else(|| known(&self.waits)).or_else(|| known(&self.counted))
    }
}

/// Index of an instruction that may be one of these.
pub fn index_within(insns: &[Insn], ip: *const Insn) -> Option<usize> {
    insns.as_ptr_range().contains(&ip).then(|| (ip as usize - insns.as_ptr() as usize) / size_of::<Insn>())
}

/// What a VM has met in a Code, or what a version was made for.
#[derive(Clone, Default, Debug)]
pub struct Known {
    /// It was run.
    pub ran: bool,
    /// By instruction: kinds of operands, bits of [`seen`]. Empty: nothing was met.
    pub seen: Box<[u8]>,
    /// Guards that failed often, by instruction and what they looked at (the compiler's numbers), in order: not to be relied on again.
    pub refuted: Vec<(u32, u16)>,
}

impl Known {
    #[inline]
    pub fn seen(&self, at: usize) -> u8 {
        self.seen.get(at).copied().unwrap_or(0)
    }
    pub fn note(&mut self, at: usize, bits: u8, length: usize) {
        if self.seen.is_empty() {
            self.seen = vec![0; length].into();
        }
        self.seen[at] |= bits;
    }
    pub fn refute(&mut self, at: u32, what: u16) {
        if let Err(place) = self.refuted.binary_search(&(at, what)) {
            self.refuted.insert(place, (at, what));
        }
    }
    pub fn is_refuted(&self, guard: &(u32, u16)) -> bool {
        self.refuted.binary_search(guard).is_ok()
    }
    /// Adds what another one knows.
    pub fn join(&mut self, other: &Known) {
        self.fill(other, |own, their| own | their);
        other.refuted.iter().for_each(|(at, what)| self.refute(*at, *what));
    }
    /// Takes over what it has not met itself.
    pub fn complete(&mut self, other: &Known) {
        self.fill(other, |own, their| if own == 0 { their } else { own });
    }
    fn fill(&mut self, other: &Known, f: impl Fn(u8, u8) -> u8) {
        self.ran |= other.ran;
        if self.seen.is_empty() {
            self.seen = other.seen.clone();
        } else {
            self.seen.iter_mut().zip(&other.seen).for_each(|(own, their)| *own = f(*own, *their));
        }
    }
    /// Whether what was made for this would do for what was met: a guard that would fail again and again makes it useless. What this has not met at all may be rare: it is tried.
    pub fn serves(&self, met: &Known) -> bool {
        let operands =
            |at: usize, own: u8, met: u8| own == 0 || met & !own == 0 || seen::is_any(own) || self.is_refuted(&(at as u32, OPERANDS));
        met.refuted.iter().all(|r| self.is_refuted(r)) && met.seen.iter().enumerate().all(|(at, met)| operands(at, self.seen(at), *met))
    }
    /// How many instructions it takes for less certain than what was met would allow.
    pub fn looseness(&self, met: &Known) -> usize {
        let sharper = |at: usize, met: u8| seen::is_sharp(met) && self.seen(at) != met;
        let instructions = met.seen.iter().enumerate().filter(|(at, met)| sharper(*at, **met)).count();
        instructions + if met.seen.is_empty() { 0 } else { self.refuted.iter().filter(|r| !met.is_refuted(r)).count() }
    }
    /// Whether somebody could have met less.
    pub fn is_loose(&self) -> bool {
        self.uncertain() > 0
    }
    /// How many instructions have met, or are taken to meet, more than one kind of operands, or one that machine code makes nothing of.
    pub fn uncertain(&self) -> usize {
        self.refuted.len() + self.seen.iter().filter(|bits| **bits != 0 && !seen::is_sharp(**bits)).count()
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

    /// Whether machine code for these has a way for whatever comes.
    pub fn is_any(bits: u8) -> bool {
        bits & (OTHER | OTHER << SECOND) != 0
    }
    /// Whether each operand is of one kind that machine code makes something of.
    pub fn is_sharp(bits: u8) -> bool {
        bits != 0 && !is_any(bits) && (bits & 15).count_ones() <= 1 && (bits >> SECOND).count_ones() <= 1
    }
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
    /// The number of the entry of a block that begins its next round itself (`zakuro_vm::machine::Rounds`), or 0.
    pub rounds: u16,
    /// Its address is in the machine code: as many as there is room for, and never moved.
    pub exits: Vec<Exit>,
    /// Call sites whose callee is looked at once for all of an activation. Their address is in the machine code, too.
    pub links: Box<[Link]>,
    /// Call sites that are guarded by the shape of the receiver alone: where they are expected to lead.
    pub sites: Box<[Expected]>,
    /// Bytes of machine code.
    pub bytes: usize,
    /// Time that compiling took, in nanoseconds.
    pub took: u64,
    /// What it was made for: of its own Code, which comes first, and of those that are inlined in it. It holds their addresses, which nobody else gets as long as this is there.
    pub known: Box<[(Weak<Code>, Known)]>,
    /// The VM that it was made for, and the branch of the tree of VMs that it belongs to, by their numbers.
    pub asker: u64,
    pub branch: u64,
    /// The memory, which goes back where it came from.
    pub memory: Box<dyn Any + Send + Sync>,
}

impl Machine {
    /// What it was made for, of a Code.
    pub fn known(&self, code: *const Code) -> Option<&Known> {
        self.known.iter().find(|(c, _)| std::ptr::eq(c.as_ptr(), code)).map(|(_, k)| k)
    }
    /// Whether a VM that has met less could run something faster.
    pub fn is_loose(&self) -> bool {
        self.known.iter().any(|(_, k)| k.is_loose())
    }
}

/// What a guard looks at ([`Exit::what`]): the operands of the instruction.
pub const OPERANDS: u16 = 0;
/// Plus the number of a register: what it holds where a loop begins.
pub const REGISTER: u16 = 1;
/// Plus the number of a variable of an environment that a function keeps in a register: what it holds where a loop begins.
pub const KEPT: u16 = 1 << 15;
/// Nothing: the instruction was never run before.
pub const UNSEEN: u16 = u16::MAX;
/// Where calls on self lead ([`Machine::links`]); at the beginning.
pub const LINKS: u16 = u16::MAX - 1;

/// Where a call site leads, by the inline cache of a VM.
pub struct Expected {
    /// Number of the site in its Code.
    pub site: u16,
    /// The cache's handler. 0: the entry belongs to the one before, a call of `new`, and says with what header objects are made that have as many slots as `native` says.
    /// 1: to the one before, a call of `respond_to?`, and says what that answers for the name `native`.
    pub handler: usize,
    /// Address of the callee's Code, or of the builtin's function, if that matters; else 0.
    pub code: usize,
    pub native: usize,
    /// The cache's `extra`, if that matters.
    pub extra: Option<u32>,
    /// Number of another entry that this one is filled with, for the same receivers, and whose shape it has: no machine code looks at its own. 0: none.
    pub first: u16,
    /// The last of those that are filled with this one, or 0.
    pub last: u16,
}

/// A call on self, of a Ruby method whose arguments stand as they are.
pub struct Link {
    pub site: u16,
    pub arguments: u8,
    /// It calls the method that it stands in.
    pub own: bool,
    /// What it calls; its address is nobody else's as long as this is there.
    pub code: Weak<Code>,
}

/// A place where machine code may be left because something is not as it was: a guard.
pub struct Exit {
    /// The instruction at which the interpreter goes on.
    pub at: u32,
    /// What the guard looks at: the compiler's number.
    pub what: u16,
    /// How many inlined frames stand above the one whose machine code it is.
    pub depth: u16,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(seen: &[u8], refuted: &[(u32, u16)]) -> Known {
        Known { ran: true, seen: seen.into(), refuted: refuted.to_vec() }
    }
    const INTEGERS: u8 = seen::INTEGER | seen::INTEGER << seen::SECOND;
    const FLOATS: u8 = seen::FLOAT | seen::FLOAT << seen::SECOND;
    const OTHERS: u8 = seen::OTHER | seen::OTHER << seen::SECOND;

    #[test]
    fn a_version_serves_who_has_met_no_more() {
        let sharp = known(&[0, INTEGERS, 0], &[]);
        assert!(sharp.serves(&Known::default()) && sharp.serves(&known(&[0, INTEGERS, 0], &[])));
        assert!(!sharp.serves(&known(&[0, FLOATS, 0], &[])) && !sharp.serves(&known(&[], &[(1, OPERANDS)])));
        assert!(sharp.serves(&known(&[0, 0, INTEGERS], &[])) && !sharp.serves(&known(&[0, 0, INTEGERS], &[(2, UNSEEN)])));
        let generic = known(&[0, OTHERS, 0], &[]);
        assert!(generic.serves(&known(&[0, FLOATS, 0], &[])) && known(&[0, INTEGERS], &[(1, OPERANDS)]).serves(&known(&[0, OTHERS], &[])));
    }

    #[test]
    fn a_version_is_loose_for_who_has_met_less() {
        let generic = known(&[0, OTHERS | INTEGERS, OTHERS], &[(2, OPERANDS)]);
        assert!(generic.is_loose() && !known(&[0, INTEGERS], &[]).is_loose());
        assert_eq!(generic.looseness(&Known::default()), 0, "nothing is known");
        assert_eq!(generic.looseness(&known(&[0, INTEGERS, 0], &[])), 2);
        assert_eq!(generic.looseness(&known(&[0, OTHERS | INTEGERS, OTHERS], &[(2, OPERANDS)])), 0, "the VM that it was made for");
    }

    #[test]
    fn what_nobody_runs_is_purged() {
        let heat = Heat::default();
        let machine = |asker| Machine {
            function: 0,
            insns: [].into(),
            entries: [].into(),
            rounds: 0,
            exits: Vec::new(),
            links: [].into(),
            sites: [].into(),
            bytes: 0,
            took: 0,
            known: [].into(),
            asker,
            branch: asker,
            memory: Box::new(()),
        };
        (0..3).for_each(|n| heat.publish(machine(n)));
        let held = heat.versions(|v| v[1].clone());
        assert_eq!((heat.changes(), heat.purge(|m| m.asker != 2).len()), (3, 1));
        assert_eq!(heat.versions(|v| v.iter().map(|m| m.asker).collect::<Vec<_>>()), [1, 2]);
        drop(held);
        assert_eq!(heat.purge(|_| true).len(), 2);
    }
}
