//! Definite assignment: no instruction reads a register that some way to it has not written.
//!
//! A forward dataflow over bit sets, to a fixpoint. Calls lose every register from their window on (overlapping windows), so this
//! finds values that lowering keeps in the wrong place. Too slow for every compilation: tests and fuzzing run it.

use crate::code::*;
use crate::op::{Insn, Op, Shape};
use crate::verify::{VerifyError, group_length};

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
struct Effect {
    reads: Vec<u16>,
    writes: Vec<u16>,
    /// Registers from here on are lost first.
    lost_from: Option<u16>,
    lost: Vec<u16>,
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
        let group = group_length(op);
        if group > 1 {
            let send = code.insns[at + 1];
            let mut slow = before.clone();
            (0..=send.x as u16).for_each(|i| slow.add(send.a + i));
            self.arrive(at + 1, &slow);
            self.arrive(at + group, &after);
        }
        match op.shape() {
            Shape::J => self.arrive((at as i64 + insn.imm() as i64) as usize, &after),
            Shape::AJ => {
                self.arrive((at as i64 + insn.imm() as i64) as usize, &after);
                self.arrive(at + 1, &after);
            }
            Shape::ABJ | Shape::AIJ => self.arrive((at as i64 + insn.c as i16 as i64) as usize, &after),
            _ if group > 1 => {}
            _ if matches!(op, Op::Return | Op::ReturnBlock | Op::BreakBlock | Op::Rethrow | Op::Halt) => {}
            _ if op == Op::Intrinsic && always_raises(crate::Intrinsic::ALL[insn.x as usize]) => {}
            _ => self.arrive(at + 1, &after),
        }
    }
}

fn always_raises(id: crate::Intrinsic) -> bool {
    use crate::Intrinsic::*;
    matches!(id, NoMatchingPattern | NoMatchingPatternKey | NoMatchingPatternDetail | BadJump)
}

fn effect(code: &Code, i: Insn) -> Effect {
    let op = i.opcode();
    let mut e = Effect::default();
    match op.shape() {
        Shape::Z | Shape::J => {}
        Shape::A => match op {
            Op::Return | Op::ReturnBlock | Op::BreakBlock | Op::Rethrow | Op::SetErr => e.reads.push(i.a),
            _ => e.writes.push(i.a),
        },
        Shape::AI | Shape::AK | Shape::AC => e.writes.push(i.a),
        Shape::AS => match op {
            Op::SetGlobal => e.reads.push(i.a),
            _ => e.writes.push(i.a),
        },
        Shape::AV => match op {
            Op::SetIvar => e.reads.push(i.a),
            _ => e.writes.push(i.a),
        },
        Shape::AE => {
            e.reads.push(i.c);
            match op {
                Op::SetEnv => e.reads.push(i.a),
                _ => e.writes.push(i.a),
            }
        }
        Shape::AB => match op {
            Op::ArrayPush | Op::ArrayConcat | Op::HashMerge => e.reads.extend([i.a, i.b]),
            _ => {
                e.reads.push(i.b);
                e.writes.push(i.a);
            }
        },
        Shape::ABI => {
            e.reads.push(i.b);
            e.writes.push(i.a);
        }
        Shape::ABC => match op {
            Op::Aset | Op::HashSet => e.reads.extend([i.a, i.b, i.c]),
            _ => {
                e.reads.extend([i.b, i.c]);
                e.writes.push(i.a);
            }
        },
        Shape::AJ => e.reads.push(i.a),
        Shape::ABJ => e.reads.extend([i.a, i.b]),
        Shape::AIJ => e.reads.push(i.a),
        Shape::Range => {
            e.reads.extend(i.b..i.b + i.c);
            e.writes.push(i.a);
        }
        Shape::Call => {
            let site = &code.calls[i.c as usize];
            let own = site.flags & call_flags::FCALL != 0 && op != Op::Send;
            if !own && !matches!(op, Op::Yield | Op::YieldX | Op::Super | Op::SuperX | Op::SendSelf | Op::SendSelfBlk) {
                e.reads.push(i.a);
            }
            let flag = |f: u16| (site.flags & f != 0) as u16;
            let count = i.x as u16 + code.keyword_operands(site) + flag(call_flags::BLOCKARG);
            e.reads.extend(i.a + 1..=i.a + count);
            e.lost_from = Some(i.a);
            if site.block != NO_BLOCK {
                e.lost.extend([i.a - 2, i.a - 1]);
            }
            e.writes.push(i.a);
        }
        Shape::Misc => match op {
            Op::NewEnv => {
                if i.x == 1 {
                    e.reads.push(i.a);
                }
                e.writes.push(i.a);
            }
            Op::GetConstFrom => {
                e.reads.push(i.b);
                e.writes.push(i.a);
            }
            Op::SetConst => e.reads.extend([i.a, i.b]),
            Op::NewProc | Op::DefMethod => e.writes.push(i.a),
            Op::DefSingleton => {
                e.reads.push(i.a);
                e.writes.push(i.a);
            }
            Op::OpenClass => {
                e.reads.extend([i.a, i.a + 1]);
                e.lost_from = Some(i.a);
                e.writes.push(i.a);
            }
            Op::Expand => {
                e.reads.push(i.b);
                e.writes.extend(i.a..i.a + (i.c & 0xff) + (i.c >> 8) + (i.x & 1) as u16);
            }
            _ => {
                if crate::Intrinsic::ALL[i.x as usize] != crate::Intrinsic::AliasGlobal {
                    e.reads.extend(i.a..i.a + i.c);
                    // The arguments after the first are the intrinsic's to use.
                    e.lost.extend((i.a..i.a + i.c).skip(1));
                }
                e.writes.push(i.a);
            }
        },
    }
    e
}

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;
