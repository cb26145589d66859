//! Heat: what a VM notes of the Codes that it runs often, which version of their machine code it takes, and what it asks the compiler for.
//!
//! Heat costs the interpreter nothing. A tick of the scheduler sets a bit in the poll word of a VM that runs; at its next safepoint the Codes of the frames on top get
//! *profiling copies* of their instructions, in which the opcode of what is worth knowing is [`PROFILE`]. Its handler notes kinds of operands, and gives the callees that it meets copies of their own.
//! After [`TOLD`] entries and rounds a *counting copy* follows, in which the same opcode stands at the beginning and the heads of loops alone. What runs so often that compiling it pays ([`WORTH`]), and
//! what samples find on top one soon after the other, is watched once more for a moment, since it may do other things now, and machine code is asked for. Once that is published, the instructions in force
//! are a copy in which [`MACHINE`] stands wherever the function can be entered.
//!
//! **What pays** (docs/decisions/0026-thresholds-of-machine-code.md). Compiling takes time in proportion to the instructions, some 20 us each, and each time that one runs in machine code saves a nanosecond
//! or two: 20,000 rounds are worth it, however long the Code is. They must come within 0.3 s of the VM's time: of what is called more rarely, one among thousands of functions, neither instructions nor
//! machine code are in the processor's caches, and the latter, which is larger, gains nothing. A version that is left too often costs as much again, so its guards must have cost as much before.
//!
//! **Choosing.** Versions of a Code are there for all VMs, notes are each VM's own. A VM that comes to a Code takes the newest version at once. A guard that fails often makes it look for a version that
//! serves what it has met, or ask for one. A version that was made for another VM may be slower than need be, since that one has met more kinds of things: a VM that is found in such a version watches
//! for some rounds what it meets itself, and takes, or asks for, one that is made for that. So what one VM feeds to a Code that others run, too, decides nothing for them.

use super::calls::RUBY_CALLS;
use super::machine::LEAVE;
#[cfg(doc)]
use super::machine::MACHINE;
use super::{TABLE, r};
use crate::effects::Effects;
use crate::frame::*;
use crate::machine::{Called, Entry, Met, Payer, Request, Site, compiler, interpreted};
use crate::methods::Method;
use crate::notes::Notes;
use crate::vm::Cx;
use std::sync::Arc;
use zakuro_bytecode::machine::{Exit, Known, Machine, NO_ENTRY, seen};
use zakuro_bytecode::{Code, Insn, NO_BLOCK, Op};
use zakuro_object::*;

/// Pseudo opcode: notes what the instruction meets.
pub(crate) const PROFILE: u8 = 253;

/// Rounds and entries that a Code is watched for at first, and before there is machine code or beside some that was made for another VM.
const TOLD: u32 = 100;
const COMPARED: u32 = 60;
/// Rounds and entries after which compiling pays, if they come within so many samples of the VM, of 10 ms each. What does not run that often is left alone until it is found on top again: counting is not
/// free where a program runs thousands of functions in turn.
const WORTH: u32 = 20_000;
const WITHIN: u32 = 30;
/// Calls by machine code after which a Code without any is looked at.
const BOUNCES: u32 = 1000;
/// Versions of a Code that a VM asks for, each of which relies on less than the one before.
const VERSIONS: u32 = 6;
/// Most instructions of a Code that is inlined, and how many calls away it may be.
const INLINED: usize = 150;
const INLINED_DEPTH: usize = 3;
/// Most Codes with their call sites that a request brings along: calls branch, and few of them fit into one function.
const BROUGHT: usize = 1000;
/// How often a guard fails before it is not relied on again.
const FAILURES: u32 = 16;
/// What a failure costs, in nanoseconds: the way out, and the rest of the round in the interpreter. There is to be another version when that is as much as it will take.
const FAILURE: u64 = 1000;

/// Whether an instruction's operands are worth knowing.
fn is_told(op: Op) -> bool {
    use Op::*;
    op.group_length() == 3 && !matches!(op, Not | NilP | CaseEq) || matches!(op, Aset | Loop | LoopIf | LoopUnless) || calls_site(op)
}
/// Whether an instruction calls what its call site's cache knows: that is as warm.
fn calls_site(op: Op) -> bool {
    matches!(op, Op::Send | Op::SendBlk | Op::SendSelf | Op::SendSelfBlk | Op::SendX)
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
pub(super) unsafe fn kinds(code: &Code, at: usize, regs: *mut Value) -> u8 {
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

/// Whether the receiver that a call site met last is a cell, and not a value that stands for itself.
fn of_cell(cs: &CodeState, site: usize) -> bool {
    // SAFETY: there are as many entries as sites.
    let key = unsafe { (*cs.calls.add(site)).key };
    let plain = [ids::INTEGER, ids::FLOAT, ids::SYMBOL, ids::NIL_CLASS, ids::TRUE_CLASS, ids::FALSE_CLASS];
    key != 0 && plain.iter().all(|id| id.0 != key as u32)
}

/// What a request brings along of Codes that could be inlined.
struct Bringing<'a> {
    /// The machine code in force of the Code that is to be compiled.
    base: Option<&'a Machine>,
    left: usize,
}

/// Machine code that a VM runs, for `RubyVM::JIT.version`.
pub struct InForce {
    pub bytes: usize,
    /// It was made for this VM.
    pub own: bool,
    /// Instructions that it takes to meet anything, in its own Code and in those inlined in it.
    pub uncertain: usize,
}

/// Begins to watch a Code.
fn watch(code: &Code) -> *const Insn {
    let marked = code.heat.marked(|| {
        let mut copy = code.insns.clone();
        let mut group_ends = 0;
        for (i, insn) in copy.iter_mut().enumerate() {
            let op = code.insns[i].opcode();
            // What stands inside a group is its call, and a jump that is no round of its own.
            if i >= group_ends && (i == 0 || is_told(op)) || op == Op::Send {
                insn.op = PROFILE;
            }
            if op.group_length() > 1 && i >= group_ends {
                group_ends = i + op.group_length();
            }
        }
        copy
    });
    marked.as_ptr()
}

/// The copy of the instructions in which entries and rounds are counted.
fn count(code: &Code) -> *const Insn {
    let counted = code.heat.counted(|| {
        let mut copy = code.insns.clone();
        for (i, insn) in copy.iter_mut().enumerate() {
            if i == 0 || insn.opcode().polls() {
                insn.op = PROFILE;
            }
        }
        copy
    });
    counted.as_ptr()
}

impl CodeState {
    pub(super) fn notes(&self) -> &Notes {
        // The process's: a few words for each Code that is hot.
        self.notes.get_or_init(|| zakuro_base::memory::going_on(Box::default))
    }
    /// The machine code in force.
    pub(super) fn own_machine(&self) -> Option<&Machine> {
        // SAFETY: null, or held since it came into force.
        unsafe { self.machine.get().as_ref() }
    }
    /// Whether it watches what it meets beside machine code that was made for another VM.
    pub(super) fn compares(&self) -> bool {
        self.notes.get().is_some_and(|n| n.compares.get())
    }
    /// The instructions that tell what they meet.
    pub(super) fn marked(&self) -> *const Insn {
        watch(&self.code)
    }
    /// Whether it was counted, and did not run often.
    fn is_left_alone(&self) -> bool {
        std::ptr::eq(self.insns.get(), self.code.insns.as_ptr()) && self.notes.get().is_some_and(|n| n.counts.get())
    }
    /// Puts the instructions into force that tell or count, whichever is due.
    fn observe(&self) {
        let notes = self.notes();
        if notes.due.get() == 0 {
            notes.due.set(TOLD);
        }
        self.insns.set(if notes.counts.get() { count(&self.code) } else { self.marked() });
    }
    /// Tells what it meets for so many rounds.
    fn observe_for(&self, rounds: u32) {
        let notes = self.notes();
        notes.counts.set(false);
        notes.due.set(notes.count.get().saturating_add(rounds));
        self.observe();
    }
    /// Something that machine code of another Code has done so often counts like entries and rounds of this one, if these are counted.
    #[inline]
    pub(crate) fn count_rounds(&self, rounds: u64) {
        if let Some(notes) = self.notes.get().filter(|n| n.counts.get()) {
            // More than what pays need not be counted.
            notes.count.set(notes.count.get().wrapping_add(rounds.min(WORTH.into()) as u32));
        }
    }
    /// Whether the machine code in force is that of a block which begins its next round itself, and whose rounds are short: there is little of it, and no loop of its own.
    #[inline]
    pub(crate) fn has_short_rounds(&self) -> bool {
        /// Bytes of machine code.
        const LITTLE: usize = 3 << 10;
        // The last entry is that for rounds; the others are at the beginning and at loops.
        self.own_machine()
            .is_some_and(|m| m.bytes <= LITTLE && m.rounds == 1 + u16::from(m.entries.first().is_some_and(|n| *n != NO_ENTRY)))
    }
    /// How often guards of the version in force may fail before there is to be another one.
    fn failures_allowed(&self) -> u32 {
        self.own_machine().map_or(0, |m| (m.took / FAILURE).min(u32::MAX.into()) as u32)
    }
    /// Puts a version into force. Returns the bytes that this takes for the first time.
    fn adopt(&self, m: &Arc<Machine>) -> usize {
        let before = self.machine.replace(Arc::into_raw(m.clone()));
        if !before.is_null() {
            // SAFETY: made by the line above, some time ago.
            let before = unsafe { Arc::from_raw(before) };
            // Frames may stand in it.
            if !Arc::ptr_eq(&before, m) {
                self.notes().hold(before);
                self.notes().left.set(0);
            }
        }
        self.put_into_force(m)
    }
    fn put_into_force(&self, m: &Machine) -> usize {
        let before = self.grown();
        self.sites.set(self.table_of(m));
        // SAFETY: an `Entry` by the compiler's word.
        self.entry.set(unsafe { std::mem::transmute::<usize, Entry>(m.function) });
        self.insns.set(m.insns.as_ptr());
        self.grown() - before
    }
    /// The instructions that are in force while nothing traces.
    pub(crate) fn untraced(&self) -> *const Insn {
        match self.own_machine() {
            Some(_) if self.compares() => self.marked(),
            Some(m) => m.insns.as_ptr(),
            None => self.code.insns.as_ptr(),
        }
    }
    /// What this VM knows of the Code, with what versions know that were made for others: the one in force, and the one of `base`, in which it is inlined.
    fn known(&self, base: Option<&Machine>) -> Known {
        let notes = self.notes.get();
        let mut known = notes.map(|n| n.known()).unwrap_or_default();
        let theirs = self.own_machine().into_iter().chain(base).filter_map(|m| m.known(&*self.code));
        for their in theirs {
            match notes {
                // What it has met itself counts.
                Some(n) if n.compares.get() || n.compared.get() => known.complete(their),
                _ => known.join(their),
            }
        }
        known
    }
}

impl Cx {
    /// Takes the best instructions that there are: machine code's, else the copy that tells. Not while traces have theirs.
    pub(crate) fn heat_up(&mut self, cs: &CodeState, profiling: bool) {
        if cs.is_traced() || cs.compares() {
            return;
        }
        self.unlink(cs);
        let more = if let Some((m, _)) = self.best(cs) {
            cs.adopt(&m)
        } else if let Some(m) = cs.own_machine() {
            cs.put_into_force(m)
        } else {
            if profiling && !cs.code.insns.is_empty() && !cs.is_left_alone() {
                cs.observe();
            }
            0
        };
        if more > 0 {
            self.heap.add_payload(more);
        }
    }
    /// The version that serves what this VM has met of a Code and of those inlined in it, and relies on most of it; with the number of instructions that could be relied on, but are not. Where several
    /// do, it is the one in force, else the newest.
    fn best(&self, cs: &CodeState) -> Option<(Arc<Machine>, usize)> {
        let heat = &cs.code.heat;
        let changes = heat.changes();
        if changes == 0 {
            return None;
        }
        if let Some(n) = cs.notes.get() {
            n.changes.set(changes);
        }
        let own = cs.machine.get();
        heat.versions(|versions| {
            let rated = versions.iter().rev().filter_map(|m| Some((m, self.looseness(cs, m)?)));
            let best = rated.min_by_key(|(m, loose)| (*loose, !std::ptr::eq(Arc::as_ptr(m), own)));
            best.map(|(m, loose)| (m.clone(), loose))
        })
    }
    /// [`Known::looseness`] of a version for this VM; None: it does not serve.
    fn looseness(&self, cs: &CodeState, m: &Machine) -> Option<usize> {
        let mut sum = 0;
        for (code, theirs) in &m.known {
            let key = code.as_ptr();
            let state = if std::ptr::eq(key, &*cs.code) { Some(cs) } else { self.code_states.get(&(key as usize)).map(|s| &**s) };
            let Some((state, notes)) = state.and_then(|s| Some((s, s.notes.get()?))) else { continue };
            let mut loose = notes.with_known(|met| theirs.serves(met).then(|| theirs.looseness(met)))?;
            // What is inlined and has met nothing itself runs well in a version of its own: that one's measure is its.
            if loose == 0 && notes.compared.get() && !std::ptr::eq(state, cs) && notes.with_known(|met| met.seen.is_empty()) {
                loose = theirs.looseness(&state.known(None));
            }
            // What it met while something else was to be found out is no measure.
            sum += if notes.compares.get() || notes.compared.get() || cs.machine.get().is_null() { loose } else { 0 };
        }
        Some(sum)
    }
    /// Takes the best version that there is, and asks for a better one where that could be.
    #[cold]
    #[inline(never)]
    fn improve(&mut self, cs: &CodeState) {
        let best = self.best(cs);
        if best.as_ref().is_none_or(|(_, loose)| *loose > 0) {
            self.ask_for(cs);
        }
        self.heat_up(cs, true);
    }
    /// Machine code has called a Code that has none. What is called that often is worth as much as what runs rounds.
    #[inline(always)]
    pub(crate) fn bounces(&mut self, cs: &CodeState) {
        let n = cs.bounced.get().wrapping_add(1);
        cs.bounced.set(n);
        if n.is_multiple_of(BOUNCES) {
            self.bounced(cs);
        }
    }
    #[cold]
    #[inline(never)]
    fn bounced(&mut self, cs: &CodeState) {
        if !self.options.jit.is_on() || cs.is_traced() || cs.own_machine().is_some() || cs.code.insns.is_empty() {
            return;
        }
        let notes = cs.notes();
        let soon = self.samples.wrapping_sub(notes.bounced.replace(self.samples)) <= WITHIN;
        if soon && notes.asked.get() == 0 && !notes.pays.replace(true) {
            notes.depth.set(0);
            cs.observe_for(COMPARED);
        }
    }
    /// Counts entries and rounds of a Code for a while.
    fn count(&self, cs: &CodeState) {
        let notes = cs.notes();
        notes.since.set(self.samples);
        notes.counts.set(true);
        notes.due.set(notes.count.get().saturating_add(WORTH));
        cs.observe();
    }
    /// A Code was watched long enough.
    #[cold]
    #[inline(never)]
    fn told(&mut self, cs: &CodeState) {
        let notes = cs.notes();
        let pays = notes.pays.replace(false) || notes.is_wanted();
        // Again, if nothing comes of it.
        self.count(cs);
        if pays {
            self.improve(cs);
        }
    }
    /// The number by which versions know for whom they were made.
    fn asker_number(&self) -> u64 {
        self.host.as_ref().map_or(0, |h| h.control.identity().id)
    }
    /// Begins to watch what is met, if the machine code in force was made for another VM that has met more than one would have to.
    fn compare(&self, cs: &CodeState) -> bool {
        let Some(m) = cs.own_machine() else { return false };
        if cs.is_traced() || m.asker == self.asker_number() || cs.notes.get().is_some_and(|n| n.compared.get()) {
            return false;
        }
        let notes = cs.notes();
        if !m.is_loose() {
            notes.compared.set(true);
            return false;
        }
        self.watch_anew(cs);
        true
    }
    /// Watches what is met as if nothing were known, beside the machine code in force.
    fn watch_anew(&self, cs: &CodeState) {
        let notes = cs.notes();
        notes.begin_again();
        notes.due.set(TOLD);
        notes.compares.set(true);
        self.unlink(cs);
        cs.entry.set(interpreted);
        cs.insns.set(cs.marked());
    }
    /// Goes back to machine code: to what suits what was met.
    fn compared(&mut self, cs: &CodeState) {
        cs.notes().compares.set(false);
        cs.notes().compared.set(true);
        self.improve(cs);
    }

    /// The machine code of a Code that this VM runs, if it runs some.
    pub fn version_in_force(&self, code: &Arc<Code>) -> Option<InForce> {
        let state = self.code_states.get(&(Arc::as_ptr(code) as usize))?;
        let machine = state.own_machine().filter(|_| !state.compares())?;
        let uncertain = machine.known.iter().map(|(_, k)| k.uncertain()).sum();
        Some(InForce { bytes: machine.bytes, own: machine.asker == self.asker_number(), uncertain })
    }

    /// What runs when the scheduler ticks is warm. `returned`: a block that has just returned to a builtin, which polls where the block seldom does.
    #[cold]
    pub(crate) fn sample(&mut self, returned: Option<&CodeState>) {
        if !self.options.jit.is_on() || compiler().is_none() || self.tracing != 0 {
            return;
        }
        self.samples = self.samples.wrapping_add(1);
        // SAFETY: frames of this stack up to fp are initialised; states outlive the frames that run them.
        unsafe {
            let mut f = self.fp;
            if let Some(cs) = returned {
                self.found(cs, true);
            }
            for level in usize::from(returned.is_some())..4 {
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
                let at = cs.index_of((*f).ip);
                if self.found(cs, level == 0) {
                    // It goes on in the new copy: at the instruction that it waits in or, on top, that comes next.
                    (*f).ip = cs.insns.get().add(at);
                }
                f = f.sub(1);
            }
        }
    }
    /// A sample has found a Code running, or (not `on_top`) waiting for what it called: whether other instructions may be in force now.
    fn found(&mut self, cs: &CodeState, on_top: bool) -> bool {
        match cs.own_machine() {
            Some(m) if std::ptr::eq(cs.insns.get(), m.insns.as_ptr()) => return self.looks_again(cs),
            Some(_) if cs.compares() => {
                if cs.notes().count.get() > 0 {
                    self.compared(cs);
                }
            }
            _ => {
                self.heat_up(cs, true);
                // It was left for the interpreter, which takes its time.
                if on_top && cs.own_machine().is_some() {
                    let notes = cs.notes();
                    notes.left.set(notes.left.get().saturating_add(cs.failures_allowed() / 2 + 1));
                }
                // Frames below wait in a call, most often a builtin's, which can't be left for machine code.
                if on_top && cs.own_machine().is_none() && !cs.is_traced() {
                    let notes = cs.notes();
                    notes.depth.set(0);
                    notes.sampled(self.samples);
                    if cs.is_left_alone() {
                        self.count(cs);
                    }
                    if notes.is_wanted() {
                        if notes.counts.get() && notes.asked.get() == 0 {
                            cs.observe_for(COMPARED);
                        } else {
                            self.improve(cs);
                        }
                    }
                }
            }
        }
        true
    }
    /// What runs in machine code: whether other instructions are in force now.
    fn looks_again(&mut self, cs: &CodeState) -> bool {
        let before = cs.insns.get();
        if !self.compare(cs) && cs.notes.get().is_some_and(|n| n.compared.get() && n.changes.get() != cs.code.heat.changes()) {
            self.heat_up(cs, true);
        }
        !std::ptr::eq(before, cs.insns.get())
    }
    /// A guard of `owner`'s machine code failed, in the Code `state`, which may be inlined there.
    pub(super) fn guard_failed(&mut self, owner: &CodeState, state: &CodeState, exit: &Exit) {
        let n = owner.notes().failed(exit);
        if n.is_multiple_of(FAILURES) {
            let is_others = owner.own_machine().is_some_and(|m| m.asker != self.asker_number());
            if is_others && !owner.is_traced() && !owner.compares() && !owner.notes().doubted.replace(true) {
                // What somebody else's version relies on says nothing of what would suit this VM.
                self.watch_anew(owner);
                return;
            }
            state.notes().refute(exit.at, exit.what);
            if owner.notes().left.get() >= owner.failures_allowed() || self.options.jit.waits() {
                owner.notes().left.set(0);
                self.improve(owner);
            }
        } else if owner.notes().changes.get() != owner.code.heat.changes() {
            self.heat_up(owner, true);
        }
    }
    /// Asks for machine code of a Code, or for a better version.
    #[cold]
    #[inline(never)]
    fn ask_for(&mut self, cs: &CodeState) {
        let (Some(c), Some(host)) = (compiler(), self.host.as_ref()) else { return };
        let notes = cs.notes();
        // One at a time: what is being made may be what is wanted.
        if notes.asked.get() >= VERSIONS || notes.is_pending() {
            return;
        }
        let asker = host.control.identity().asker.clone();
        notes.asked.set(notes.asked.get() + 1);
        // The process's, whichever VM asks.
        let met = zakuro_base::memory::going_on(|| self.met(cs, 0, &mut Bringing { base: cs.own_machine(), left: BROUGHT }));
        let payer = self.life.allowance().cloned().map(|a| Box::new(move |time| a.spend(time)) as Payer);
        if !c.submit(Request { met, payer, asker, asking: notes.asks() }, self.options.jit.waits()) {
            notes.asked.set(notes.asked.get() - 1);
        }
    }
    /// What the call sites of a Code have met, `depth` calls from the one that is to be compiled.
    fn met(&mut self, cs: &CodeState, depth: usize, with: &mut Bringing) -> Met {
        let small = if depth == 0 { usize::MAX } else { INLINED };
        let known = cs.known(with.base);
        let sites = if depth <= INLINED_DEPTH && cs.code.insns.len() <= small && with.left > 0 {
            with.left -= 1;
            (0..cs.code.calls.len())
                .map(|i| Site {
                    called: self.called(cs, i, depth, with),
                    of_cell: of_cell(cs, i),
                    alone: cs.is_alone(i),
                    block: self.block_met(cs, i, depth, with),
                })
                .collect()
        } else {
            Vec::new()
        };
        Met { code: cs.code.clone(), sites, adds_ivars: cs.adds_ivars(), known }
    }
    fn block_met(&mut self, cs: &CodeState, site: usize, depth: usize, with: &mut Bringing) -> Option<Arc<Met>> {
        let child = cs.children.get(cs.code.calls[site].literal_block()? as usize)?.get();
        // SAFETY: null, or a state that lives as long as this one.
        let state = unsafe { child.as_ref() }?;
        Some(Arc::new(self.met(state, depth + 1, with)))
    }
    /// What a call site has called last.
    fn called(&mut self, cs: &CodeState, site: usize, depth: usize, with: &mut Bringing) -> Called {
        // SAFETY: there are as many entries as sites; a `target` is what its handler says.
        unsafe {
            let c = &*cs.calls.add(site);
            let handler = c.handler as usize;
            if c.key >> 32 != self.epoch as u64 {
                // Methods have changed since: what it calls is not known any more, but that it was run.
                return if c.key == 0 { Called::Unseen } else { Called::Other };
            }
            let mut callee = || Arc::new(self.met(&*(c.target as *const CodeState), depth + 1, with));
            match () {
                _ if RUBY_CALLS.in_place(handler) => Called::Ruby(callee()),
                _ if handler == RUBY_CALLS.defined as usize => Called::Defined(callee()),
                _ if handler == RUBY_CALLS.sent as usize => Called::Sent(callee(), Sym(c.extra)),
                _ if handler == RUBY_CALLS.bound as usize || handler == RUBY_CALLS.bound_blk as usize => Called::Bound,
                _ if handler == RUBY_CALLS.native as usize || handler == RUBY_CALLS.native_blk as usize => {
                    let m: Method = Ref::of_unchecked(c.me);
                    let owner = self.class(m.owner);
                    let of_math = owner.kind == ClassKind::Singleton && self.class_id(owner.attached) == Some(ids::MATH);
                    let of_range = m.owner == ids::ENUMERABLE && c.key as u32 == ids::RANGE.0;
                    let owner = if of_math {
                        ids::MATH
                    } else if of_range {
                        ids::RANGE
                    } else {
                        m.owner
                    };
                    // Kernel's may look at frames.
                    let quiet = Cx::native_row(m).filter(|r| {
                        let loud = [Effects::RAISES, Effects::RUNS_RUBY, Effects::CHANGES];
                        m.owner != ids::KERNEL && !loud.iter().any(|e| r.effects.has(*e)) && r.max >= 0
                    });
                    Called::Native(c.target, owner, m.name, quiet.map(|r| (r.min as u8, r.max as u8)))
                }
                _ if handler == RUBY_CALLS.attr_get as usize => Called::AttrReader,
                _ if handler == RUBY_CALLS.attr_set as usize => Called::AttrWriter,
                _ if handler == RUBY_CALLS.new_object as usize => Called::New(callee(), self.slots_of_new(ClassId(c.extra))),
                _ if handler == RUBY_CALLS.new_plain as usize => Called::NewPlain(self.slots_of_new(ClassId(c.extra))),
                _ => Called::Other,
            }
        }
    }
    /// What a Code that is watched calls is as warm.
    fn watch_callee(&mut self, caller: &CodeState, callee: &CodeState) {
        if std::ptr::eq(callee.insns.get(), callee.code.insns.as_ptr()) {
            let depth = caller.notes().depth.get();
            if depth < INLINED_DEPTH as u8 {
                callee.notes().depth.set(depth + 1);
                self.heat_up(callee, true);
            }
        } else if caller.compares() && !callee.compares() && !self.compare(callee) && callee.own_machine().is_none() {
            // It may be inlined in what is compared: what it meets itself counts, as its caller's does.
            let notes = callee.notes();
            if !notes.compared.replace(true) {
                notes.begin_again();
                notes.due.set(TOLD);
            }
        }
    }
}

/// [`PROFILE`].
pub unsafe fn profile(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; the opcode stands in profiling copies only.
    unsafe {
        let at = match (*cs).code.heat.index_counted(ip) {
            Some(at) => counted(cx, &*cs, at),
            None => profiled(cx, ip, regs, cs),
        };
        let op = (&(*cs).code.insns)[at].opcode();
        // Machine code may have come meanwhile: at the beginning, and in each round of a loop, it goes on in what is in force. In between, what machine code has left for is
        // watched on.
        let ip = if at == 0 || op.polls() || (*cs).is_traced() { (*cs).insns.get().add(at) } else { ip };
        TABLE[op as usize](cx, ip, regs, cs)
    }
}
/// Counts an entry or a round; where it stands.
#[inline(never)]
fn counted(cx: &mut Cx, state: &CodeState, at: usize) -> usize {
    let notes = state.notes();
    let n = notes.count.get().wrapping_add(1);
    notes.count.set(n);
    if !state.machine.get().is_null() || notes.changes.get() != state.code.heat.changes() {
        cx.heat_up(state, true);
    } else if !state.is_traced() {
        if n >= notes.due.get() {
            notes.pays.set(true);
            state.observe_for(COMPARED);
        } else if cx.samples.wrapping_sub(notes.since.get()) > WITHIN {
            state.insns.set(state.code.insns.as_ptr());
        }
    }
    at
}
/// Notes what the instruction at `ip` meets; its index.
#[inline(never)]
unsafe fn profiled(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> usize {
    // SAFETY: as in `profile`.
    unsafe {
        let state = &*cs;
        let code = &*state.code;
        let at = state.index_of(ip);
        let notes = state.notes();
        let op = code.insns[at].opcode();
        if op.group_length() > 1 {
            notes.note(at, kinds(code, at, regs), code.insns.len());
        }
        if calls_site(op) {
            let c = &*state.calls.add(code.insns[at].c as usize);
            let ruby = [RUBY_CALLS.bound, RUBY_CALLS.bound_blk, RUBY_CALLS.new_object, RUBY_CALLS.defined, RUBY_CALLS.sent];
            if c.key >> 32 == cx.epoch as u64 {
                let own = code.calls[code.insns[at].c as usize].takes_self(code.insns[at]);
                let receiver = r!(regs, if own { 0 } else { code.insns[at].a });
                // Only where the callee, or the block that it takes, would be inlined.
                let inlined = [RUBY_CALLS.new_object, RUBY_CALLS.native_blk, RUBY_CALLS.defined, RUBY_CALLS.sent];
                let in_place = RUBY_CALLS.in_place(c.handler as usize);
                if c.key as u32 != receiver.shape_key() && (in_place || inlined.iter().any(|h| *h as usize == c.handler as usize)) {
                    notes.turned(at);
                }
                if in_place || ruby.iter().any(|h| *h as usize == c.handler as usize) {
                    cx.watch_callee(state, &*(c.target as *const CodeState));
                }
            }
            let block = code.calls[code.insns[at].c as usize].child;
            if block != NO_BLOCK
                && let Some(b) = state.children[block as usize].get().as_ref()
            {
                cx.watch_callee(state, b);
            }
        }
        if at == 0 || op.polls() {
            let n = notes.count.get().wrapping_add(1);
            notes.count.set(n);
            if notes.compares.get() {
                if n >= COMPARED {
                    cx.compared(state);
                }
            } else if !state.machine.get().is_null() || notes.changes.get() != code.heat.changes() {
                cx.heat_up(state, true);
            } else if cx.options.jit.waits() && n == 2 {
                cx.improve(state);
            } else if n >= notes.due.get() && !notes.counts.get() && !state.is_traced() {
                cx.told(state);
            }
        }
        at
    }
}
