//! What a function consists of: units (an instruction, or a group of them) of one Code and of those inlined in it, the ways between them, and which registers are live.

use std::sync::Arc;
use zakuro_bytecode::flow::effect;
use zakuro_bytecode::op::{Insn, Role};
use zakuro_bytecode::{Code, Op};
use zakuro_vm::machine::{Met, Site};

/// A unit's number.
pub type Id = usize;
/// Number of a register of some scope.
pub type Var = usize;

/// A set of [`Var`]s.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Set(Vec<u64>);

impl Set {
    pub fn new(size: usize) -> Set {
        Set(vec![0; size.div_ceil(64)])
    }
    pub fn has(&self, v: Var) -> bool {
        self.0[v / 64] >> (v % 64) & 1 == 1
    }
    pub fn add(&mut self, v: Var) {
        self.0[v / 64] |= 1 << (v % 64);
    }
    pub fn remove(&mut self, v: Var) {
        self.0[v / 64] &= !(1 << (v % 64));
    }
    pub fn clear(&mut self) {
        self.0.fill(0);
    }
    /// Whether that added something.
    pub fn join(&mut self, other: &Set) -> bool {
        let mut more = false;
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            more |= *b & !*a != 0;
            *a |= *b;
        }
        more
    }
    pub fn iter(&self) -> impl Iterator<Item = Var> + '_ {
        self.0.iter().enumerate().flat_map(|(i, w)| (0..64).filter(move |b| w >> b & 1 == 1).map(move |b| i * 64 + b))
    }
}

/// An activation: the function's own, or one that is inlined.
pub struct Scope {
    pub code: Arc<Code>,
    pub sites: Vec<Site>,
    /// Number of its r0.
    pub vars: Var,
}

pub struct Unit {
    pub scope: usize,
    pub at: usize,
    pub insn: Insn,
    pub op: Op,
    /// Where control goes when it does not jump.
    pub next: Option<Id>,
    pub jump: Option<Id>,
    /// Where it goes when the instruction raises: for what is live, never emitted.
    raise: Option<Id>,
    pub live_before: Set,
    pub live_after: Set,
    /// More than one way leads here, or machine code is entered here.
    pub leads: bool,
    /// A way leads back here.
    pub is_loop: bool,
}

pub struct Graph {
    pub scopes: Vec<Scope>,
    pub units: Vec<Unit>,
    pub vars: usize,
    /// Units in an order in which all ways but those of loops lead forwards.
    pub order: Vec<Id>,
}

/// Most instructions of a Code that is compiled.
const MOST: usize = 8000;

impl Graph {
    pub fn build(met: &Met) -> Result<Graph, &'static str> {
        let code = &met.code;
        if code.insns.is_empty() || code.insns.len() > MOST {
            return Err("too many instructions");
        }
        let mut g = Graph { scopes: Vec::new(), units: Vec::new(), vars: 0, order: Vec::new() };
        g.add_scope(met);
        g.arrange();
        g.find_live();
        Ok(g)
    }

    fn add_scope(&mut self, met: &Met) {
        let code = met.code.clone();
        let scope = self.scopes.len();
        let mut at_unit = vec![None; code.insns.len() + 1];
        let first = self.units.len();
        let mut at = 0;
        while let Some(insn) = code.insns.get(at) {
            let op = insn.opcode();
            at_unit[at] = Some(self.units.len());
            let empty = Set::default();
            self.units.push(Unit {
                scope,
                at,
                insn: *insn,
                op,
                next: None,
                jump: None,
                raise: None,
                live_before: empty.clone(),
                live_after: empty,
                leads: false,
                is_loop: false,
            });
            at += op.group_length();
        }
        for id in first..self.units.len() {
            let u = &mut self.units[id];
            let always_raises = u.op == Op::Intrinsic && zakuro_bytecode::Intrinsic::ALL[u.insn.x as usize].always_raises();
            if !u.op.ends() && !always_raises {
                u.next = at_unit[u.at + u.op.group_length()];
            }
            if let Some(field) = u.op.field(Role::Jump) {
                u.jump = at_unit[(u.at as i64 + u.insn.signed(field) as i64) as usize];
            }
            let at = u.at as u32;
            u.raise = code.handlers.iter().find(|h| h.start <= at && at < h.end).and_then(|h| at_unit[h.target as usize]);
        }
        let vars = self.vars;
        self.vars += code.nregs as usize;
        self.scopes.push(Scope { code, sites: met.sites.clone(), vars });
    }

    /// Finds loops, leaders and an order. What only an exception leads to is left out: the interpreter runs it.
    fn arrange(&mut self) {
        let n = self.units.len();
        let mut state = vec![0u8; n];
        let mut ways = vec![0u32; n];
        let mut order = Vec::with_capacity(n);
        let mut stack = vec![(0, 0)];
        state[0] = 1;
        ways[0] = 1;
        while let Some((id, step)) = stack.pop() {
            let to = match step {
                // What follows comes last, so that in the end it stands right behind.
                0 => self.units[id].jump,
                1 => self.units[id].next,
                _ => {
                    state[id] = 2;
                    order.push(id);
                    continue;
                }
            };
            stack.push((id, step + 1));
            let Some(to) = to else { continue };
            ways[to] += 1;
            match state[to] {
                0 => {
                    state[to] = 1;
                    stack.push((to, 0));
                }
                1 => self.units[to].is_loop = true,
                _ => {}
            }
        }
        order.reverse();
        for id in &order {
            let jumped = self.units[*id].jump;
            if let Some(to) = jumped {
                self.units[to].leads = true;
            }
            if ways[*id] > 1 || self.units[*id].is_loop {
                self.units[*id].leads = true;
            }
        }
        self.units[0].leads = true;
        self.order = order;
    }

    /// Registers of a unit as variables.
    pub fn var(&self, id: Id, reg: u16) -> Var {
        self.scopes[self.units[id].scope].vars + reg as usize
    }

    /// What a unit reads and writes; of a group, what its fast path does.
    pub fn effects(&self, id: Id) -> (Vec<Var>, Vec<Var>, Vec<Var>) {
        let u = &self.units[id];
        let code = &self.scopes[u.scope].code;
        let e = effect(code, u.insn);
        let vars = |list: Vec<u16>| list.into_iter().map(|r| self.var(id, r)).collect::<Vec<_>>();
        let mut lost = vars(e.lost);
        if let Some(from) = e.lost_from {
            lost.extend((from..code.nregs).map(|r| self.var(id, r)));
        }
        let mut reads = vars(e.reads);
        if matches!(u.op, Op::SendSelf | Op::SendSelfBlk | Op::Super | Op::SuperX | Op::GetIvar | Op::SetIvar | Op::SendX) {
            reads.push(self.var(id, 0));
        }
        (reads, vars(e.writes), lost)
    }

    fn find_live(&mut self) {
        let n = self.units.len();
        for u in &mut self.units {
            u.live_before = Set::new(self.vars);
            u.live_after = Set::new(self.vars);
        }
        let effects: Vec<_> = (0..n).map(|id| self.effects(id)).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for id in (0..n).rev() {
                let u = &self.units[id];
                let mut after = Set::new(self.vars);
                for to in [u.next, u.jump].into_iter().flatten() {
                    after.join(&self.units[to].live_before);
                }
                let (reads, writes, lost) = &effects[id];
                let mut before = after.clone();
                lost.iter().chain(writes).for_each(|v| before.remove(*v));
                reads.iter().for_each(|v| before.add(*v));
                if let Some(to) = u.raise {
                    before.join(&self.units[to].live_before);
                }
                let scope = &self.scopes[u.scope];
                // Others read these in its window: the self of blocks, and the environment.
                before.add(scope.vars);
                if scope.code.env_reg != 0 && u.at > 0 {
                    before.add(scope.vars + scope.code.env_reg as usize);
                }
                let u = &mut self.units[id];
                changed |= u.live_before.join(&before);
                u.live_after = after;
            }
        }
    }

    /// Variables that something outside of the function may write: where `$~` and `$_` are kept.
    pub fn is_volatile(&self, scope: usize, reg: u16) -> bool {
        use zakuro_bytecode::Place;
        let code = &self.scopes[scope].code;
        [code.backref, code.lastline].into_iter().flatten().any(|p| p == Place::Reg(reg))
    }
}
