//! Loops that disturb no Arrays: what was found of one at their beginning holds in all rounds.
//!
//! An Array that was looked at ([`super::types::Type::Array`]) is a plain one, and stays so until something runs that may give it a singleton class, variables, or other elements: a call. Its beginning
//! and its length are taken to registers of the machine then. That pays where it is asked again before the next call: in the innermost loops that call nothing, which are found here by their
//! instructions, before anything is known of registers.

use super::graph::{Graph, Id, Set, Unit, Var, What};
use super::types::{OPERANDS, is_call};
use std::collections::HashMap;
use zakuro_bytecode::Op;
use zakuro_bytecode::machine::seen;
use zakuro_vm::machine::Called;

/// How many instructions before an access what it asks is looked for.
const BACK: usize = 8;

/// Whether an instruction that is no operator leaves Arrays what they were found to be, if its slow way does not come back.
pub fn is_calm(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Move | LoadInt
            | LoadNil
            | LoadTrue
            | LoadFalse
            | LoadUndef
            | LoadConst
            | GetEnv
            | SetEnv
            | GetIvar
            | SetIvar
            | GetConst
            | Jump
            | Loop
            | JumpIf
            | JumpUnless
            | LoopIf
            | LoopUnless
            | JumpNil
            | JumpNotNil
            | JumpDef
            | JumpOther
            | JumpBelow
            | JumpSame
            | Return
            | BlockGiven
            | NewStr
            | NewArray
            | NewEnv
    )
}

impl Graph {
    /// Finds units in innermost loops that disturb nothing, and the instructions in these that load an Array of an environment which is asked for elements: whether it is changed, too.
    pub fn find_calm(&mut self) {
        let loops = self.natural_loops();
        if loops.is_empty() {
            return;
        }
        let mut disturbs = Set::new(self.units.len());
        self.order.iter().filter(|id| self.disturbs(**id)).for_each(|id| disturbs.add(*id));
        let mut calm = Set::new(self.units.len());
        let mut calm_loops = Vec::new();
        for body in loops {
            let is_calm = !body.iter().any(|id| disturbs.has(*id));
            for id in &body {
                if is_calm { calm.add(*id) } else { calm.remove(*id) }
            }
            if is_calm {
                calm_loops.push(body);
            }
        }
        self.calm = calm;
        let asks: Vec<Id> = self.order.iter().copied().filter(|id| self.calm.has(*id) && self.asks_array(*id)).collect();
        for id in asks {
            let changes = self.units[id].op == Op::Aset;
            if let Some(from) = self.loaded_by(id, self.asked(id)) {
                *self.looks.entry(from).or_insert(false) |= changes;
            }
        }
        self.find_candidates(&calm_loops);
    }
    /// The units of each loop, in their order: those that come back to its beginning without passing it. Outer ones first.
    fn natural_loops(&self) -> Vec<Vec<Id>> {
        let mut position = vec![usize::MAX; self.units.len()];
        self.order.iter().enumerate().for_each(|(i, id)| position[*id] = i);
        let mut before: Vec<Vec<Id>> = vec![Vec::new(); self.units.len()];
        // What leads back, by where to.
        let mut ends: HashMap<Id, Vec<Id>> = HashMap::new();
        for id in &self.order {
            for to in [self.units[*id].next, self.units[*id].jump].into_iter().flatten() {
                before[to].push(*id);
                if position[to] <= position[*id] && !(self.rounds && position[to] == 0) {
                    ends.entry(to).or_default().push(*id);
                }
            }
        }
        let mut loops: Vec<Vec<Id>> = Vec::new();
        for (begin, mut left) in ends {
            let mut within = Set::new(self.units.len());
            within.add(begin);
            while let Some(id) = left.pop() {
                if !within.has(id) {
                    within.add(id);
                    left.extend(&before[id]);
                }
            }
            let mut body: Vec<Id> = within.iter().collect();
            body.sort_by_key(|id| position[*id]);
            loops.push(body);
        }
        loops.sort_by_key(|body| (std::cmp::Reverse(body.len()), position[body[0]]));
        loops
    }
    /// The register whose elements, or length, a unit asks for.
    pub fn asked(&self, id: Id) -> Var {
        let u = &self.units[id];
        self.var(id, if u.op == Op::Aset { u.insn.a } else { u.insn.b })
    }
    /// Whether a unit asks for elements, or the length, of what was an Array each time.
    pub fn asks_array(&self, id: Id) -> bool {
        let u = &self.units[id];
        let known = &self.scopes[u.scope].known;
        // What asks for the length has no second operand; it is noted as an Integer.
        const WANTED: u8 = seen::ARRAY | seen::INTEGER << seen::SECOND;
        let asks = matches!(u.op, Op::Aref | Op::Aset | Op::Len | Op::EmptyP);
        asks && u.what == What::Plain && known.seen(u.at) == WANTED && !known.is_refuted(&(u.at as u32, OPERANDS))
    }
    /// The unit that loads a register from an environment, shortly before.
    fn loaded_by(&self, id: Id, v: Var) -> Option<Id> {
        let from = self.written_by(id, v)?;
        let u = &self.units[from];
        let is_refuted = self.scopes[u.scope].known.is_refuted(&(u.at as u32, OPERANDS));
        (self.loads_from_env(from) && !is_refuted).then_some(from)
    }
    pub fn loads_from_env(&self, id: Id) -> bool {
        let u = &self.units[id];
        u.what == What::Plain && u.op == Op::GetEnv && !self.is_volatile(u.scope, u.insn.a)
    }
    /// The unit that writes a register, shortly before.
    pub fn written_by(&self, id: Id, v: Var) -> Option<Id> {
        let mut at = id;
        for _ in 0..BACK {
            if self.units[at].leads {
                return None;
            }
            at = at.checked_sub(1).filter(|before| self.units[*before].next == Some(at))?;
            let (_, writes, lost) = self.effects(at);
            if writes.contains(&v) || lost.contains(&v) {
                return Some(at);
            }
        }
        None
    }
    /// Whether a unit may disturb Arrays, by what was seen of it.
    fn disturbs(&self, id: Id) -> bool {
        use Op::*;
        let u = &self.units[id];
        let scope = &self.scopes[u.scope];
        let is_refuted = scope.known.is_refuted(&(u.at as u32, OPERANDS));
        let told = scope.known.seen(u.at);
        match u.op {
            _ if u.what != What::Plain => false,
            GetIvar | SetIvar | GetConst => is_refuted,
            op if is_calm(op) => false,
            op if is_call(op) => !self.calls_function_of_floats(u) || is_refuted,
            Aref | Aset | Len | EmptyP => told != 0 && !self.asks_array(id),
            Shl | Not | NilP | CaseEq | Pow => true,
            op if op.group_length() > 1 => {
                is_refuted || told != 0 && (!seen::is_sharp(told) || told & (seen::ARRAY | seen::ARRAY << seen::SECOND) != 0)
            }
            _ => true,
        }
    }
    fn calls_function_of_floats(&self, u: &Unit) -> bool {
        let called = self.scopes[u.scope].sites.get(u.insn.c as usize).map(|s| &s.called);
        u.op == Op::Send && matches!(called, Some(Called::Native(_, owner, ..)) if *owner == zakuro_object::ids::MATH)
    }
}
