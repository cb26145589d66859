//! Definite assignment: no instruction reads a register that some way to it has not written.
//!
//! A forward dataflow over bit sets, to a fixpoint. Calls lose every register from their window on (overlapping windows), so this
//! finds values that lowering keeps in the wrong place. Too slow for every compilation: tests and fuzzing run it.

use crate::code::*;
use crate::op::{Insn, Op, Role};
use crate::verify::VerifyError;

/// Checks a Code and all Codes in it. The Code must pass [`crate::verify::verify`].
pub fn check(code: &Code) -> Result<(), VerifyError> {
    Flow { code, before: vec![None; code.insns.len()], work: Vec::new() }.run().map_err(|(at, problem)| VerifyError {
        code: format!("{} ({}:{})", code.name, code.file, code.line),
        at,
        problem,
    })?;
    code.children.iter().try_for_each(|c| check(c))
}

#[derive(Clone, PartialEq)]
struct Set(Vec<u64>);

impl Set {
    fn has(&self, r: u16) -> bool {
        self.0[r as usize / 64] >> (r % 64) & 1 == 1
    }
    fn add(&mut self, r: u16) {
        self.0[r as usize / 64] |= 1 << (r % 64);
    }
    fn remove(&mut self, r: u16) {
        self.0[r as usize / 64] &= !(1 << (r % 64));
    }
    fn meet(&mut self, other: &Set) -> bool {
        let mut changed = false;
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            changed |= *a & b != *a;
            *a &= b;
        }
        changed
    }
}

/// What an instruction does to registers.
#[derive(Default)]
pub struct Effect {
    pub reads: Vec<u16>,
    pub writes: Vec<u16>,
    /// Registers from here on are lost first.
    pub lost_from: Option<u16>,
    pub lost: Vec<u16>,
}

struct Flow<'a> {
    code: &'a Code,
    before: Vec<Option<Set>>,
    work: Vec<usize>,
}

impl Flow<'_> {
    fn run(mut self) -> Result<(), (usize, String)> {
        let code = self.code;
        let mut entry = Set(vec![0; code.nregs as usize / 64 + 1]);
        (0..code.nlocals).for_each(|r| entry.add(r));
        if code.env_reg != 0 && matches!(code.kind, CodeKind::Block | CodeKind::Eval) {
            entry.add(code.env_reg);
        }
        self.arrive(0, &entry);
        while let Some(at) = self.work.pop() {
            self.step(at);
        }
        for (at, state) in self.before.iter().enumerate() {
            let Some(state) = state else { continue };
            let effect = effect(code, code.insns[at]);
            if let Some(r) = effect.reads.iter().find(|r| !state.has(**r)) {
                return Err((at, format!("register {r} may be read before it is written")));
            }
        }
        Ok(())
    }

    fn arrive(&mut self, at: usize, state: &Set) {
        let Some(slot) = self.before.get_mut(at) else { return };
        let changed = match slot {
            None => {
                *slot = Some(state.clone());
                true
            }
            Some(old) => old.meet(state),
        };
        if changed {
            self.work.push(at);
        }
    }

    fn step(&mut self, at: usize) {
        let code = self.code;
        let insn = code.insns[at];
        let op = insn.opcode();
        let Some(before) = self.before[at].clone() else { return };
        let e = effect(code, insn);
        let mut raised = before.clone();
        if let Some(from) = e.lost_from {
            (from..code.nregs).for_each(|r| raised.remove(r));
        }
        e.lost.iter().for_each(|r| raised.remove(*r));
        // Handlers that cover the instruction: the first one for exceptions, and the first Ensure for everything.
        for kind in [HandlerKind::Rescue, HandlerKind::Ensure] {
            let first = code
                .handlers
                .iter()
                .find(|h| h.start as usize <= at && at < h.end as usize && (h.kind == kind || kind == HandlerKind::Rescue));
            if let Some(h) = first {
                self.arrive(h.target as usize, &raised);
            }
        }
        let mut after = raised;
        e.writes.iter().for_each(|r| after.add(*r));
        let group = op.group_length();
        if group > 1 {
            let send = code.insns[at + 1];
            let mut slow = before.clone();
            (0..=send.x as u16).for_each(|i| slow.add(send.a + i));
            self.arrive(at + 1, &slow);
        }
        if let Some(distance) = op.field(Role::Jump) {
            self.arrive((at as i64 + insn.signed(distance) as i64) as usize, &after);
        }
        let raises = op == Op::Intrinsic && crate::Intrinsic::ALL[insn.x as usize].always_raises();
        if !op.ends() && !raises {
            self.arrive(at + group, &after);
        }
    }
}

/// From the operands of the opcode table; what a call reads stands in its call site.
pub fn effect(code: &Code, i: Insn) -> Effect {
    let op = i.opcode();
    let mut e = Effect::default();
    for (role, field) in op.operands() {
        let r = i.get(*field);
        match role {
            Role::Read | Role::Env => e.reads.push(r),
            // Without an environment around it there is nothing to read.
            Role::Write if op == Op::NewEnv && i.x == 1 => (e.reads, e.writes) = (vec![r], vec![r]),
            Role::Write => e.writes.push(r),
            Role::Change => {
                e.reads.push(r);
                e.writes.push(r);
            }
            Role::Next => {
                e.reads.push(r + 1);
                e.lost_from = Some(r);
            }
            Role::First => e.reads.extend(r..r + i.c),
            Role::Targets => e.writes.extend(r..r + (i.c & 0xff) + (i.c >> 8) + (i.x & 1) as u16),
            Role::Window => call_effect(code, i, &mut e),
            Role::Arguments => {
                if !crate::Intrinsic::ALL[i.x as usize].names_two() {
                    e.reads.extend(r..r + i.c);
                    // The arguments after the first are the intrinsic's to use.
                    e.lost.extend((r..r + i.c).skip(1));
                }
                e.writes.push(r);
            }
            Role::Count
            | Role::Argc
            | Role::Parts
            | Role::Depth
            | Role::Slot
            | Role::Slots
            | Role::Int
            | Role::Jump
            | Role::Literal
            | Role::Name
            | Role::IvarSite
            | Role::ConstSite
            | Role::CallSite
            | Role::Block
            | Role::Method
            | Role::Class
            | Role::Function
            | Role::Extra
            | Role::Option => {}
        }
    }
    e
}

fn call_effect(code: &Code, i: Insn, e: &mut Effect) {
    let op = i.opcode();
    let site = &code.calls[i.c as usize];
    let own = site.flags & call_flags::FCALL != 0 && op != Op::Send;
    if !own && !matches!(op, Op::Yield | Op::YieldX | Op::Super | Op::SuperX | Op::SendSelf | Op::SendSelfBlk) {
        e.reads.push(i.a);
    }
    let flag = |f: u16| (site.flags & f != 0) as u16;
    let count = i.x as u16 + code.keyword_operands(site) + flag(call_flags::BLOCKARG);
    e.reads.extend(i.a + 1..=i.a + count);
    e.lost_from = Some(i.a);
    if site.literal_block().is_some() {
        e.lost.extend([i.a - 2, i.a - 1]);
    }
    e.writes.push(i.a);
}

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;
