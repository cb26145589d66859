//! Accesses to attributes of one object, one after the other, whose shape is looked at once.
//!
//! An entry of the table of call sites ([`super::calls`]) says where the attribute stands in objects of its shape. The first access of a group compares the receiver's shape with its own entry's, and those
//! of the others are filled for the same shape ([`Expected::first`]): these compare nothing. For that to hold, nothing between the first and the last may give the object another shape: such a stretch has
//! no calls and no ways that join. So a slow way in it does not come back: the interpreter goes on behind the instruction. Where that happens often it is refuted as other guards are, and the next
//! version has the site in no group. (Rejected: slow ways that look again and join. There is one for each access to a variable of self, and each would look at all objects at hand.)

use super::calls::Leads;
use super::emit::Emitter;
use super::graph::{Id, Var, What};
use super::types::{OPERANDS, Plan, State};
use crate::layout::cell;
use cranelift_codegen::ir::{InstBuilder, Value};
use zakuro_bytecode::Op;
use zakuro_object::{EXT_IVARS, GUARDED};
use zakuro_vm::interp::RUBY_CALLS;
use zakuro_vm::machine::Called;

/// Accesses whose first was emitted.
pub struct Group {
    /// Number of its entry.
    first: u16,
    /// Those that follow.
    rest: Vec<Id>,
}

/// How many units a group is looked for, and before its first one what the receiver is a copy of.
const FAR: usize = 160;
const BACK: usize = 6;
/// Fewest accesses behind the first one.
const FEWEST: usize = 2;

impl Emitter<'_, '_> {
    /// Whether accesses follow that take for granted what was found of an object: nothing may join then.
    pub fn is_held(&self) -> bool {
        !self.groups.is_empty()
    }
    /// The variable with the receiver of an access to an attribute that may be one of a group.
    fn accessed(&self, id: Id) -> Option<Var> {
        let g = self.graph;
        let u = &g.units[id];
        let is = u.what == What::Plain
            && matches!(u.op, Op::Send | Op::SendSelf)
            && matches!(self.types.called(id), Called::AttrReader | Called::AttrWriter)
            && self.types.is_of_cell(id)
            && g.scopes[u.scope].sites.get(u.insn.c as usize).is_some_and(|s| s.alone);
        is.then(|| g.var(id, if g.takes_self(id) { 0 } else { u.insn.a }))
    }
    /// The variables that a unit copies: to which, from which.
    fn copied(&self, id: Id) -> Option<(Var, Var)> {
        let u = &self.graph.units[id];
        let is = u.what == What::Plain && u.op == Op::Move && !self.is_volatile(id, u.insn.a) && !self.is_volatile(id, u.insn.b);
        is.then(|| (self.graph.var(id, u.insn.a), self.graph.var(id, u.insn.b)))
    }
    /// Whether a unit gives no object another shape where it comes to its end, as long as its slow way does not join.
    fn keeps_shapes(&self, id: Id, plan: Plan, s: &State) -> bool {
        use Op::*;
        let u = &self.graph.units[id];
        if u.what != What::Plain || self.types.is_refuted(id, OPERANDS) {
            return false;
        }
        match u.op {
            Move | LoadInt | LoadNil | LoadTrue | LoadFalse | LoadConst | GetIvar | GetConst | JumpIf | JumpUnless | JumpNil
            | JumpNotNil => true,
            SetIvar => self.types.lays_out(id, s),
            Send => self.accessed(id).is_some() || self.types.pure(id).is_some_and(|p| p.is_of_floats()),
            SendSelf => self.accessed(id).is_some(),
            Aref => plan == Plan::Array,
            op => op.group_length() > 1 && !op.polls() && matches!(plan, Plan::Fixnum | Plan::Double),
        }
    }
    /// The accesses that follow one on the same object, in the stretch that it begins.
    fn followers(&self, id: Id, s: &State) -> Vec<Id> {
        let g = self.graph;
        let mut found = Vec::new();
        let Some(recv) = self.accessed(id) else { return found };
        let mut same = vec![recv];
        let (mut at, mut written) = (id, Vec::new());
        for _ in 0..BACK {
            let Some(before) = at.checked_sub(1).filter(|b| g.units[*b].next == Some(at) && !g.units[at].leads) else { break };
            if let Some((to, from)) = self.copied(before)
                && same.contains(&to)
                && !written.contains(&to)
                && !written.contains(&from)
            {
                same.push(from);
            }
            if g.units[before].what != What::Plain {
                break;
            }
            written.extend(g.effects(before).1);
            at = before;
        }
        let (mut at, mut s) = (id, s.clone());
        let mut plan = self.types.plan(at, &s);
        for _ in 0..FAR {
            let (_, writes, lost) = g.effects(at);
            let copy = self.copied(at).filter(|(_, from)| same.contains(from));
            same.retain(|v| !writes.contains(v) && !lost.contains(v));
            same.extend(copy.map(|(to, _)| to));
            if same.is_empty() {
                break;
            }
            self.types.apply(at, plan, &mut s);
            let Some(next) = g.units[at].next.filter(|n| !g.units[*n].leads) else { break };
            at = next;
            plan = self.types.plan(at, &s);
            if !self.keeps_shapes(at, plan, &s) {
                break;
            }
            if self.accessed(at).is_some_and(|v| same.contains(&v)) {
                found.push(at);
            }
        }
        found
    }

    /// An access that belongs to a group, or begins one; whether it does.
    pub fn access_of_group(&mut self, id: Id, recv: Value, s: &State) -> bool {
        let Some(to) = self.accessed(id).map(|_| match self.types.called(id) {
            Called::AttrReader => RUBY_CALLS.attr_get,
            _ => RUBY_CALLS.attr_set,
        }) else {
            return false;
        };
        let first = self.groups.iter().find(|g| g.rest.contains(&id)).map(|g| g.first);
        let slot = if let Some(first) = first {
            for g in &mut self.groups {
                g.rest.retain(|of| *of != id);
            }
            self.groups.retain(|g| !g.rest.is_empty());
            self.expect_of_group(id, Leads::to(to), first)
        } else {
            let rest = self.followers(id, s);
            if rest.len() < FEWEST || self.expected.len() + rest.len() >= u16::MAX as usize {
                return false;
            }
            let exit = self.exit_of(id, s);
            let slot = self.guard_site_for_extra(id, recv, Leads::to(to), exit);
            let first = self.expected.len() as u16;
            let flags = self.load_u8(recv, cell::FLAGS);
            let outside = self.b.ins().band_imm_s(flags, EXT_IVARS as i64);
            self.branch_away(outside, exit);
            self.groups.push(Group { first, rest });
            slot
        };
        let i = self.graph.units[id].insn;
        let from_first = self.b.ins().ishl_imm_u(slot, 3);
        let at = self.b.ins().iadd(recv, from_first);
        if to as usize == RUBY_CALLS.attr_get as usize {
            let v = self.load(at, cell::SLOTS);
            self.write(id, i.a, v);
            return true;
        }
        let v = self.read(id, i.a + 1, s);
        let flags = self.load_u8(recv, cell::FLAGS);
        let guarded = self.b.ins().band_imm_s(flags, GUARDED as i64);
        let slow = self.cold_block();
        self.branch_away(guarded, slow);
        self.store(v, at, cell::SLOTS);
        self.aside(slow, |e| {
            e.flush(id, s);
            if e.graph.takes_self(id) {
                e.store_reg(recv, id, i.a);
            }
            e.step(id, e.graph.units[id].at);
            e.leave_at(id, e.graph.units[id].at + 1, None);
        });
        self.write(id, i.a, v);
        true
    }
    /// After a slow way, before which all was written back: the interpreter goes on behind the instruction.
    pub fn leave_behind(&mut self, id: Id, at: usize) {
        let scope = self.graph.units[id].scope;
        self.stand_at(scope, self.insn_address(scope, at + 1));
        let by = self.exit_by(scope, at, Some(OPERANDS));
        self.leave_by(scope, by);
    }
}
