//! What a function consists of: units (an instruction, or a group of them) of one Code and of those inlined in it, the ways between them, and which registers are live.

use super::elements::{Candidate, Element};
use std::collections::HashMap;
use std::sync::Arc;
use zakuro_bytecode::flow::effect;
use zakuro_bytecode::machine::{Known, Link, seen};
use zakuro_bytecode::op::{Insn, Role};
use zakuro_bytecode::{Code, CodeKind, Const, Op, Place};
use zakuro_vm::Sym;
use zakuro_vm::machine::{Called, Looping, Met, Site, Walk};

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
    /// The same of a set that may be smaller.
    pub fn may_have(&self, v: Var) -> bool {
        v / 64 < self.0.len() && self.has(v)
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

/// Why an activation runs within the function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// It is the function's own.
    Root,
    /// A method, called by the parent.
    Method,
    /// A literal block that is a method, called by the parent.
    Defined,
    /// `initialize`, called by the parent's `new`.
    Init,
    /// The block of the scope `home`, which the parent yields to.
    Yielded { home: usize },
    /// The parent's block, which a builtin's loop yields to.
    Looped,
}

/// An activation: the function's own, or one that is inlined.
pub struct Scope {
    pub code: Arc<Code>,
    pub sites: Vec<Site>,
    /// What was met in it.
    pub known: Known,
    pub adds_ivars: bool,
    /// Number of its r0.
    pub vars: Var,
    pub kind: Kind,
    /// Who calls it, and the unit that does. Of the root: itself.
    pub parent: usize,
    pub call: Id,
    /// What comes after it, of inlined ones.
    after: Option<Id>,
    /// Where its window begins, in registers from the root's.
    pub window: usize,
    /// How many frames stand below its own, from the root's.
    pub depth: usize,
    /// The innermost loop of a builtin whose frame stands below.
    pub within: Option<usize>,
    /// The literal block that it was called with, and where that is written.
    pub block: Option<(usize, Arc<Met>)>,
}

/// A variable in an environment: that of an activation within the function, or one around it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Captured {
    /// The scope whose environment it is, or the root.
    pub owner: usize,
    /// How far above that one's it is.
    pub up: u8,
    pub slot: u16,
}

/// A builtin's loop whose block is inlined.
pub struct Iteration {
    pub kind: Looping,
    pub call: Id,
    pub iterate: Id,
    /// The block's scope.
    pub block: usize,
    /// What comes next (an index as a Fixnum), where it ends, what is walked (of `step` the step, of a Range the place of what comes next), the element at hand, and what is answered: variables
    /// that are in no window.
    pub next: Var,
    pub limit: Var,
    pub object: Var,
    pub item: Var,
    pub result: Var,
    /// The builtin's function.
    pub target: usize,
}

impl Iteration {
    /// The unit behind the last round.
    fn finish(&self) -> Id {
        self.iterate + 1
    }
}

/// What a unit is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// The instruction, or group, as it stands.
    Plain,
    /// A call whose callee, this scope, is inlined.
    Enter(usize),
    /// The return from an inlined scope.
    Leave,
    /// A `return` or `break` in an inlined block that ends this scope and all that it has called.
    Return(usize),
    /// A `break` that ends the builtin's loop whose block it stands in.
    Break(usize),
    /// A call of a builtin that loops: its frame and the block's are made.
    Begin(usize),
    /// The next round of it, or its end.
    Iterate(usize),
    /// It is over.
    Finish(usize),
}

pub struct Unit {
    pub scope: usize,
    pub at: usize,
    pub insn: Insn,
    pub op: Op,
    pub what: What,
    /// Where control goes when it does not jump.
    pub next: Option<Id>,
    pub jump: Option<Id>,
    /// Where it goes when the instruction raises: for what is live, never emitted.
    pub raise: Option<Id>,
    /// Where the interpreter may go when it is left here: the same.
    left: Option<Id>,
    pub live_before: Set,
    pub live_after: Set,
    /// Scopes whose layouts are asked for afterwards, before anything is called, a bit for each.
    pub layouts_after: u64,
    /// More than one way leads here, or machine code is entered here.
    pub leads: bool,
    /// A way leads back here.
    pub is_loop: bool,
}

impl Unit {
    /// Whether the interpreter may enter machine code here: at a loop of the function's own Code.
    pub fn is_entry(&self) -> bool {
        self.is_loop && self.scope == 0 && self.what == What::Plain
    }
    fn new(scope: usize, at: usize, insn: Insn, what: What) -> Unit {
        Unit {
            scope,
            at,
            insn,
            op: insn.opcode(),
            what,
            next: None,
            jump: None,
            raise: None,
            left: None,
            live_before: Set::default(),
            live_after: Set::default(),
            layouts_after: 0,
            leads: false,
            is_loop: false,
        }
    }
}

pub struct Graph {
    pub scopes: Vec<Scope>,
    pub loops: Vec<Iteration>,
    pub units: Vec<Unit>,
    pub vars: usize,
    /// Units in an order in which all ways but those of loops lead forwards.
    pub order: Vec<Id>,
    /// Variables of environments that are kept in registers, and the number of the first of them.
    pub captured: Vec<Captured>,
    pub first_captured: Var,
    /// Call sites of the root's Code that are looked at once for an activation.
    pub links: Box<[Link]>,
    /// The root is called with its receiver and arguments in registers of the machine, too.
    pub direct: bool,
    /// The root is a block that begins its next round itself ([`zakuro_vm::machine::Rounds`]): its ends lead back to its beginning, too.
    pub rounds: bool,
    /// By scope: see [`Graph::layout_bit`].
    layout_bits: Vec<u64>,
    /// Units in innermost loops that disturb no Arrays, and those that load one of an environment there ([`super::calm`]).
    pub calm: Set,
    pub looks: HashMap<Id, bool>,
    /// Elements of Arrays that are kept ([`super::elements`]), behind variables of environments, and the units that load them.
    pub candidates: Vec<Candidate>,
    pub elements: Vec<Element>,
    pub element_units: HashMap<Id, usize>,
    /// Instructions of what is inlined.
    inlined: usize,
}

/// Whether an operator is called like any method: it has met nothing but objects that have one of the program's own for it; or, of those that ask for a length, a builtin one that has no fast way.
fn is_call_of_group(met: &Met, at: usize, insn: Insn) -> bool {
    use Op::*;
    let op = insn.opcode();
    // Of these most are asked of values that need no call.
    let asked_of_all = matches!(op, Eq | Ne | CaseEq | Not | NilP | JumpEq | JumpNotEq | JumpEqI | JumpNotEqI);
    if op.group_length() < 2 || asked_of_all || met.known.seen(at) & 15 != seen::OTHER {
        return false;
    }
    let site = met.code.insns[at + 1].c as usize;
    let is_refuted = met.known.is_refuted(&(at as u32 + 1, super::types::OPERANDS));
    // The fast ways of these are those of Strings, Arrays and Hashes.
    let asks_for_length = matches!(op, Len | EmptyP);
    !is_refuted
        && met.sites.get(site).is_some_and(|s| match s.called {
            Called::Ruby(_) | Called::AttrReader => s.of_cell || asks_for_length,
            Called::Native(..) => asks_for_length,
            _ => false,
        })
}

/// Most instructions of a Code that is compiled; of a method that is inlined, and of all that are inlined when one is added; the same of blocks, and of methods that are given one, whose loops gain
/// more by it. Compiling takes 20 us for each, and a call of a method no more than a few nanoseconds.
const MOST: usize = 8000;
const MOST_INLINED: usize = 30;
const MOST_INLINED_IN_ALL: usize = 100;
const MOST_BLOCK: usize = 150;
const MOST_BLOCKS_IN_ALL: usize = 300;
/// Most variables of environments that are kept in registers.
const MOST_CAPTURED: usize = 32;
/// Most variables that are live where loops begin, all in all: the allocator of registers follows each through all of them. 200 loops in turn over 200 variables took nine seconds and 900 MB.
const MOST_AT_LOOPS: usize = 4000;
/// Most arguments that are passed in registers.
const MOST_DIRECT: usize = 4;
/// How often a Code may stand in a chain of calls.
const MOST_RECURSION: usize = 2;
/// Most frames above the function's own.
const DEEPEST: usize = 6;

impl Graph {
    pub fn build(met: &Met) -> Result<Graph, &'static str> {
        let code = &met.code;
        if code.insns.is_empty() || code.insns.len() > MOST {
            return Err("too many instructions");
        }
        let mut g = Graph {
            scopes: Vec::new(),
            loops: Vec::new(),
            units: Vec::new(),
            vars: 0,
            order: Vec::new(),
            captured: Vec::new(),
            first_captured: 0,
            links: [].into(),
            direct: false,
            rounds: false,
            layout_bits: Vec::new(),
            calm: Set::default(),
            looks: HashMap::new(),
            candidates: Vec::new(),
            elements: Vec::new(),
            element_units: HashMap::new(),
            inlined: 0,
        };
        g.add_scope(met, Kind::Root, 0, 0, 0, None);
        g.go_round();
        g.arrange();
        g.find_calm();
        g.first_captured = g.vars;
        g.find_captured();
        g.keep_elements();
        g.link();
        g.find_live();
        let at_loops: usize = g.units.iter().filter(|u| u.is_loop).map(|u| u.live_before.iter().count()).sum();
        if at_loops > MOST_AT_LOOPS {
            return Err("too many variables at loops");
        }
        g.find_layouts();
        Ok(g)
    }

    /// Has a block go round, unless each round wants an environment of its own, or somebody else may write its variables.
    fn go_round(&mut self) {
        let code = self.scopes[0].code.clone();
        let in_window = (0..code.nlocals).any(|r| self.is_volatile(0, r));
        self.rounds = code.kind == CodeKind::Block && code.params.simple && code.params.required <= 2 && !code.own_env && !in_window;
        if self.rounds {
            let ends = |u: &&mut Unit| u.op == Op::Return && u.what == What::Plain;
            self.units.iter_mut().filter(ends).for_each(|u| u.jump = Some(0));
        }
    }
    /// Whether a way leads back to where it came from.
    pub fn has_loops(&self) -> bool {
        self.rounds || self.units.iter().any(|u| u.is_loop)
    }
    /// Whether something else than the end of a round leads back to the beginning.
    pub fn jumps_to_beginning(&self) -> bool {
        self.units.iter().any(|u| u.scope == 0 && u.jump == Some(0) && u.op != Op::Return)
    }
    /// Whether a round of such a block ends here.
    pub fn ends_round(&self, id: Id) -> bool {
        let u = &self.units[id];
        self.rounds && u.op == Op::Return && u.what == What::Plain
    }
    /// Whether a unit is the last one before the end of a round of a builtin's loop, which is given this register and does not ask for it.
    pub fn ends_unasked(&self, id: Id, v: Var) -> bool {
        let Some(next) = self.units[id].next else { return false };
        let (u, s) = (&self.units[next], &self.scopes[self.units[next].scope]);
        u.what == What::Leave
            && s.kind == Kind::Looped
            && s.within.is_some_and(|l| !self.loops[l].kind.asks())
            && self.var(next, u.insn.a) == v
    }
    /// The variables with which the next round begins: they stand in the window, too.
    pub fn begun_anew(&self) -> impl Iterator<Item = Var> + use<> {
        let code = &self.scopes[0].code;
        let env = code.env_reg as usize;
        (1..code.nlocals as usize).filter(move |v| *v != env)
    }

    /// Finds what can be linked. Elsewhere than in a method that calls itself it would cost more code, behind each call, than it saves.
    fn link(&mut self) {
        let root = &self.scopes[0];
        if root.known.is_refuted(&(0, super::types::LINKS)) {
            return;
        }
        let mut links: Vec<Link> = Vec::new();
        for id in &self.order {
            let u = &self.units[*id];
            let site = u.insn.c;
            if u.op != Op::SendSelf || !self.is_own(u.scope) || links.iter().any(|l| l.site == site) {
                continue;
            }
            let Some(Site { called: Called::Ruby(met), .. }) = root.sites.get(site as usize) else { continue };
            if !met.code.params.simple {
                continue;
            }
            let own = Arc::ptr_eq(&met.code, &root.code);
            links.push(Link { site, arguments: u.insn.x, own, code: Arc::downgrade(&met.code) });
        }
        let p = &root.code.params;
        let enters_loops = self.order.iter().any(|id| self.units[*id].is_entry());
        let in_window = (0..root.code.nlocals).any(|r| self.is_volatile(0, r));
        let calls_itself = links.iter().any(|l| l.own);
        if calls_itself && !self.rounds && !enters_loops && !in_window && p.simple && p.required as usize <= MOST_DIRECT {
            self.direct = true;
            self.links = links.into();
        }
    }
    /// Whether a scope is the root's method, called on the root's self: itself, or inlined in itself, or in a block of itself.
    fn is_own(&self, scope: usize) -> bool {
        let s = &self.scopes[scope];
        match s.kind {
            Kind::Root => true,
            Kind::Method => Arc::ptr_eq(&s.code, &self.scopes[0].code) && self.units[s.call].op == Op::SendSelf && self.is_of_own(s.parent),
            _ => false,
        }
    }
    /// The same, or a block in it.
    fn is_of_own(&self, scope: usize) -> bool {
        self.is_own(scope) || self.home_of(scope).is_some_and(|home| self.is_of_own(home))
    }
    /// The link of a call. One in a block leads where the method's own call of itself by that name does.
    pub fn link_of(&self, id: Id) -> Option<&Link> {
        let u = &self.units[id];
        if u.op != Op::SendSelf || self.links.is_empty() || !self.is_of_own(u.scope) {
            return None;
        }
        if self.is_own(u.scope) {
            return self.links.iter().find(|l| l.site == u.insn.c);
        }
        let name = self.scopes[u.scope].code.calls[u.insn.c as usize].name;
        let sites = &self.scopes[0].code.calls;
        self.links.iter().find(|l| l.own && l.arguments == u.insn.x && sites[l.site as usize].name == name)
    }

    /// The number of registers from the root's r0 on, and of frames, that it takes at most.
    pub fn extent(&self) -> (usize, usize) {
        let registers = self.scopes.iter().map(|s| s.window + s.code.nregs as usize).max().unwrap_or(0);
        (registers, self.scopes.iter().map(|s| s.depth).max().unwrap_or(0))
    }

    /// Adds a Code's units: its scope. A returning unit of an inlined one leads to `after`.
    fn add_scope(&mut self, met: &Met, kind: Kind, parent: usize, call: Id, window: usize, after: Option<Id>) -> usize {
        let code = met.code.clone();
        let scope = self.scopes.len();
        let first = self.units.len();
        let (depth, within) = match kind {
            Kind::Root => (0, None),
            Kind::Looped => (self.scopes[parent].depth + 2, Some(self.loops.len() - 1)),
            _ => (self.scopes[parent].depth + 1, self.scopes[parent].within),
        };
        let vars = self.vars;
        self.vars += code.nregs as usize;
        self.scopes.push(Scope {
            code: code.clone(),
            sites: met.sites.clone(),
            known: met.known.clone(),
            adds_ivars: met.adds_ivars,
            vars,
            kind,
            parent,
            call,
            after,
            window,
            depth,
            within,
            block: None,
        });
        if kind == Kind::Method && matches!(self.units[call].op, Op::SendBlk | Op::SendSelfBlk) {
            let site = self.units[call].insn.c as usize;
            self.scopes[scope].block = self.scopes[parent].sites[site].block.clone().map(|met| (parent, met));
        }
        let mut at_unit = vec![None; code.insns.len() + 1];
        let mut at = 0;
        while let Some(insn) = code.insns.get(at) {
            at_unit[at] = Some(self.units.len());
            if is_call_of_group(met, at, *insn) {
                // The fast path is left out: its operands are put where the call looks for them.
                let base = code.insns[at + 1].a;
                let operands = insn.opcode().operands().iter().filter(|(role, _)| matches!(role, Role::Read | Role::Int));
                for (to, (role, field)) in (base..).zip(operands) {
                    let moves = match role {
                        Role::Int => Insn::with_imm(Op::LoadInt, 0, to, insn.signed(*field)),
                        _ => Insn::new(Op::Move, 0, to, insn.get(*field), 0),
                    };
                    self.units.push(Unit::new(scope, at, moves, What::Plain));
                }
                at += 1;
                continue;
            }
            let what = if insn.opcode() == Op::Return && kind != Kind::Root { What::Leave } else { What::Plain };
            self.units.push(Unit::new(scope, at, *insn, what));
            at += insn.opcode().group_length();
        }
        let last = self.units.len();
        for id in first..last {
            let known = self.known_default(scope, self.units[id].insn);
            let same = self.units[id..last].get(1).is_some_and(|next| next.at == self.units[id].at);
            let u = &mut self.units[id];
            let always_raises = u.op == Op::Intrinsic && zakuro_bytecode::Intrinsic::ALL[u.insn.x as usize].always_raises();
            if u.what == What::Leave {
                u.next = after;
            } else if same {
                u.next = Some(id + 1);
            } else if !u.op.ends() && !always_raises {
                u.next = at_unit[u.at + u.op.group_length()];
            }
            if let Some(field) = u.op.field(Role::Jump) {
                u.jump = at_unit[(u.at as i64 + u.insn.signed(field) as i64) as usize];
            }
            // A `case` that was given nothing but Integers so far: others are left to the interpreter.
            if u.op == Op::JumpOther && !met.known.is_refuted(&(u.at as u32, super::types::OPERANDS)) {
                u.left = u.jump.take();
            }
            if let Some(given) = known {
                let on = u.jump.take();
                u.next = if given { on } else { u.next };
            }
            let at = u.at as u32;
            u.raise = code.handlers.iter().find(|h| h.start <= at && at < h.end).and_then(|h| at_unit[h.target as usize]);
            if u.raise.is_none() && kind != Kind::Root {
                self.units[id].raise = self.units[call].raise;
            }
            self.leap(id);
        }
        for id in first..last {
            self.inline(id);
        }
        scope
    }

    /// Whether a unit is a call whose callee may be inlined, once it is known.
    pub fn may_inline(&self, id: Id) -> bool {
        let u = &self.units[id];
        match u.op {
            Op::Send | Op::SendBlk | Op::SendSelf | Op::SendSelfBlk => true,
            Op::SendX => self.scopes[u.scope].code.calls[u.insn.c as usize].gives_names(),
            _ => false,
        }
    }
    /// Whether a call takes self as its receiver.
    pub fn takes_self(&self, id: Id) -> bool {
        let u = &self.units[id];
        self.scopes[u.scope].code.calls.get(u.insn.c as usize).is_some_and(|site| site.takes_self(u.insn))
    }
    /// The Symbol that a call's only argument is, if that is written there.
    pub fn literal_argument(&self, id: Id) -> Option<Sym> {
        let (u, before) = (&self.units[id], self.units.get(id.checked_sub(1)?)?);
        let stands =
            before.scope == u.scope && before.op == Op::LoadConst && before.insn.a == u.insn.a + 1 && !u.leads && before.next == Some(id);
        match self.scopes[u.scope].code.consts.get(before.insn.b as usize)? {
            Const::Sym(name) if stands && u.insn.x == 1 => Some(*name),
            _ => None,
        }
    }
    /// The caller's register whose value an inlined method's parameter register gets; None: nothing is given for it.
    pub fn argument(&self, scope: usize, register: u16) -> Option<u16> {
        let s = &self.scopes[scope];
        let call = &self.units[s.call];
        let (mut base, mut count) = (call.insn.a, call.insn.x as u16);
        if self.sent_name(s.call).is_some() {
            (base, count) = (base + 1, count - 1);
        }
        if register <= count || call.op != Op::SendX {
            return (register <= count).then_some(base + register);
        }
        let (code, p) = (&self.scopes[s.parent].code, &s.code.params);
        let names = &code.keyword_lists[code.calls[call.insn.c as usize].keywords as usize];
        let keyword = p.keywords.get(register.checked_sub(p.keyword_start())? as usize)?;
        names.iter().position(|n| *n == keyword.name).map(|at| base + 1 + count + at as u16)
    }
    /// The name behind which the arguments of a call of the builtin `send` stand that is known to lead to a Ruby method.
    pub fn sent_name(&self, id: Id) -> Option<Sym> {
        let u = &self.units[id];
        match self.scopes[u.scope].sites.get(u.insn.c as usize)?.called {
            Called::Sent(_, name) if matches!(u.op, Op::Send | Op::SendSelf) => Some(name),
            _ => None,
        }
    }
    /// What a method's question whether a parameter was given comes to, where the call says it.
    fn known_default(&self, scope: usize, insn: Insn) -> Option<bool> {
        let s = &self.scopes[scope];
        let p = &s.code.params;
        let has_default = (p.optional_start()..p.rest_reg()).contains(&insn.a) || (p.keyword_start()..p.kwrest_reg()).contains(&insn.a);
        let asks = matches!(s.kind, Kind::Method | Kind::Defined | Kind::Init) && insn.opcode() == Op::JumpDef && has_default;
        asks.then(|| self.argument(scope, insn.a).is_some())
    }

    /// Where a `return` or `break` in an inlined block goes, if that is within the function and no `ensure` or `rescue` stands between.
    fn leap(&mut self, id: Id) {
        let u = &self.units[id];
        let from = &self.scopes[u.scope];
        let what = match (u.op, from.kind) {
            _ if u.raise.is_some() => return,
            (Op::ReturnBlock | Op::BreakBlock, Kind::Defined) => What::Return(u.scope),
            (Op::ReturnBlock, Kind::Yielded { .. } | Kind::Looped) => {
                let mut to = u.scope;
                while let Some(home) = self.home_of(to) {
                    to = home;
                }
                if self.scopes[to].code.kind != CodeKind::Method && self.scopes[to].kind != Kind::Defined {
                    return;
                }
                What::Return(to)
            }
            (Op::BreakBlock, Kind::Looped) => What::Break(from.within.unwrap_or(0)),
            (Op::BreakBlock, Kind::Yielded { home }) => {
                // Who was given the block.
                let given = |s: &Scope| {
                    s.kind == Kind::Method && s.block.as_ref().is_some_and(|(h, met)| *h == home && Arc::ptr_eq(&met.code, &from.code))
                };
                let mut to = from.parent;
                while !given(&self.scopes[to]) {
                    if self.scopes[to].kind == Kind::Root {
                        return;
                    }
                    to = self.scopes[to].parent;
                }
                What::Return(to)
            }
            _ => return,
        };
        let next = match what {
            What::Break(l) => Some(self.loops[l].finish()),
            What::Return(to) => self.scopes[to].after,
            _ => None,
        };
        let u = &mut self.units[id];
        (u.what, u.next) = (what, next);
    }
    /// The scope in which an inlined block stands.
    fn home_of(&self, scope: usize) -> Option<usize> {
        match self.scopes[scope].kind {
            Kind::Yielded { home } => Some(home),
            Kind::Looped => Some(self.scopes[scope].parent),
            _ => None,
        }
    }
    /// A scope, who has called it, and so on, up to another one, which is the last.
    pub fn callers(&self, from: usize, to: usize) -> impl Iterator<Item = usize> + use<> {
        let mut list = vec![from];
        let mut at = from;
        while at != to && self.scopes[at].kind != Kind::Root {
            at = self.scopes[at].parent;
            list.push(at);
        }
        list.into_iter()
    }
    /// Whether a guard of this instruction failed so often that it is not relied on again.
    fn is_refuted(&self, id: Id) -> bool {
        let u = &self.units[id];
        self.scopes[u.scope].known.refuted.contains(&(u.at as u32, super::types::OPERANDS))
    }
    /// Whether a Code may be inlined: it was run and is known, and there is room. `is_block`: it is a block, or is given one.
    fn fits(&self, met: &Met, caller: usize, depth: usize, is_block: bool) -> bool {
        let (most, most_in_all) = if is_block { (MOST_BLOCK, MOST_BLOCKS_IN_ALL) } else { (MOST_INLINED, MOST_INLINED_IN_ALL) };
        let n = met.code.insns.len();
        let mut same = 0;
        let mut at = caller;
        loop {
            let s = &self.scopes[at];
            same += Arc::ptr_eq(&s.code, &met.code) as usize;
            if s.kind == Kind::Root {
                break;
            }
            at = s.parent;
        }
        n > 0
            && same < MOST_RECURSION
            && n <= most
            && self.inlined + n <= most_in_all
            && depth <= DEEPEST
            && (met.code.calls.is_empty() || !met.sites.is_empty())
            && met.known.ran
            // What an object is made of stands in the frame, which an inlined activation writes anew.
            && !met.code.insns.iter().any(|i| i.opcode() == Op::BlockProc && i.x == 0)
    }

    /// Inlines what a unit calls, if it is worth it.
    fn inline(&mut self, id: Id) {
        let (scope, insn, op, after) = (self.units[id].scope, self.units[id].insn, self.units[id].op, self.units[id].next);
        let (window, depth) = (self.scopes[scope].window, self.scopes[scope].depth);
        if op == Op::Yield {
            let Some((home, met)) = self.scopes[scope].block.clone() else { return };
            let p = &met.code.params;
            if !p.simple || p.required != insn.x as u16 || !self.fits(&met, scope, depth + 1, true) {
                return;
            }
            return self.enter(id, &met, Kind::Yielded { home }, window + insn.a as usize, after);
        }
        if !self.may_inline(id) {
            return;
        }
        let Some(site) = self.scopes[scope].sites.get(insn.c as usize).cloned() else { return };
        let with_block = matches!(op, Op::SendBlk | Op::SendSelfBlk);
        match site.called {
            // (A `&block` of a site without a block is nil, and no parameter that has a default.)
            Called::Ruby(met) if op == Op::SendX && met.code.params.block => {}
            Called::Ruby(met) if self.fits(&met, scope, depth + 1, with_block) && !self.is_refuted(id) => {
                self.enter(id, &met, Kind::Method, window + insn.a as usize, after);
            }
            Called::Defined(met) if op == Op::SendX && met.code.params.block => {}
            Called::Defined(met) if !with_block && self.fits(&met, scope, depth + 1, false) && !self.is_refuted(id) => {
                self.enter(id, &met, Kind::Defined, window + insn.a as usize, after);
            }
            Called::Sent(met, _) if self.sent_name(id).is_some() && self.fits(&met, scope, depth + 1, false) && !self.is_refuted(id) => {
                self.enter(id, &met, Kind::Method, window + insn.a as usize, after);
            }
            Called::New(met, _) if !with_block && self.fits(&met, scope, depth + 1, false) && !self.is_refuted(id) => {
                self.enter(id, &met, Kind::Init, window + insn.a as usize + 1, after);
            }
            Called::Native(target, owner, name, _) if with_block => {
                let (Some(kind), Some(met)) = (Looping::of(owner, name, insn.x), site.block) else { return };
                let (p, given) = (&met.code.params, 1 + usize::from(kind.given((), (), ()).1.is_some()));
                if !p.simple || p.required as usize > given || p.numbered != 0 && p.required as usize != given {
                    return;
                }
                if self.fits(&met, scope, depth + 2, true) && !self.is_refuted(id) {
                    self.begin(id, kind, &met, target, after);
                }
            }
            _ => {}
        }
    }
    fn enter(&mut self, id: Id, met: &Met, kind: Kind, window: usize, after: Option<Id>) {
        self.inlined += met.code.insns.len();
        let first = self.units.len();
        let callee = self.add_scope(met, kind, self.units[id].scope, id, window, after);
        let u = &mut self.units[id];
        u.what = What::Enter(callee);
        u.next = Some(first);
    }
    fn begin(&mut self, id: Id, kind: Looping, met: &Met, target: usize, after: Option<Id>) {
        self.inlined += met.code.insns.len();
        let (scope, at, insn, raise) = (self.units[id].scope, self.units[id].at, self.units[id].insn, self.units[id].raise);
        let number = self.loops.len();
        let (iterate, finish) = (self.units.len(), self.units.len() + 1);
        self.units.push(Unit { jump: Some(finish), raise, ..Unit::new(scope, at, insn, What::Iterate(number)) });
        self.units.push(Unit { next: after, raise, ..Unit::new(scope, at, insn, What::Finish(number)) });
        let first = self.vars;
        self.vars += 5;
        let (next, limit, object, item, result) = (first, first + 1, first + 2, first + 3, first + 4);
        let block = self.scopes.len();
        self.loops.push(Iteration { kind, call: id, iterate, block, next, limit, object, item, result, target });
        self.units[iterate].next = Some(self.units.len());
        let window = self.scopes[scope].window + insn.a as usize + insn.x as usize + 1;
        self.add_scope(met, Kind::Looped, scope, id, window, Some(iterate));
        let u = &mut self.units[id];
        u.what = What::Begin(number);
        u.next = Some(iterate);
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
            // A round that is left goes on with the next one, whether or not it comes to its end here.
            if ways[*id] > 1 || self.units[*id].is_loop || matches!(self.units[*id].what, What::Iterate(_)) {
                self.units[*id].leads = true;
            }
        }
        self.units[0].leads = true;
        // The interpreter may come back to it although no way here does, from a `rescue`.
        self.units[0].is_loop |= self.jumps_to_beginning();
        self.order = order;
    }

    /// Registers of a unit as variables.
    pub fn var(&self, id: Id, reg: u16) -> Var {
        self.scopes[self.units[id].scope].vars + reg as usize
    }

    /// What a unit reads, writes and loses; of a group, what its fast path does.
    pub fn effects(&self, id: Id) -> (Vec<Var>, Vec<Var>, Vec<Var>) {
        let u = &self.units[id];
        let code = &self.scopes[u.scope].code;
        let e = effect(code, u.insn);
        let vars = |list: Vec<u16>| list.into_iter().map(|r| self.var(id, r)).collect::<Vec<_>>();
        match u.what {
            What::Iterate(l) => {
                let l = &self.loops[l];
                let mut writes = vec![l.next, l.item];
                writes.extend((l.kind.walk == Walk::Range).then_some(l.object));
                let block = &self.scopes[l.block];
                writes.extend((1..block.code.nlocals).map(|r| block.vars + r as usize));
                let mut reads = vec![l.next, l.limit, l.object, l.result, block.vars];
                if block.code.env_reg != 0 {
                    writes.push(block.vars + block.code.env_reg as usize);
                    reads.extend(self.home_env(l.block));
                }
                return (reads, writes, Vec::new());
            }
            What::Finish(l) => return (vec![self.loops[l].result], vec![self.var(id, u.insn.a)], Vec::new()),
            What::Break(l) => return (vec![self.var(id, u.insn.a)], vec![self.loops[l].result], Vec::new()),
            What::Return(to) => {
                let writes = match self.scopes[to].kind {
                    Kind::Root | Kind::Init => Vec::new(),
                    _ => vec![self.result_of(to)],
                };
                return (vec![self.var(id, u.insn.a)], writes, Vec::new());
            }
            What::Leave => {
                let scope = &self.scopes[u.scope];
                let (mut reads, mut writes) = (vec![self.var(id, u.insn.a)], Vec::new());
                match scope.kind {
                    Kind::Looped => {
                        let l = &self.loops[scope.within.unwrap_or(0)];
                        reads.extend([l.item, l.result]);
                    }
                    // The object is there already.
                    Kind::Init => {}
                    _ => writes.push(self.result_of(u.scope)),
                }
                return (reads, writes, Vec::new());
            }
            _ => {}
        }
        let mut lost = vars(e.lost);
        if let Some(from) = e.lost_from {
            lost.extend((from..code.nregs).map(|r| self.var(id, r)));
        }
        let mut reads = vars(e.reads);
        if matches!(u.op, Op::SendSelf | Op::SendSelfBlk | Op::Super | Op::SuperX | Op::GetIvar | Op::SetIvar | Op::SendX) {
            reads.push(self.var(id, 0));
        }
        let mut writes = vars(e.writes);
        if self.ends_round(id) {
            writes.extend(self.begun_anew());
        }
        match u.what {
            What::Enter(k) => {
                let callee = &self.scopes[k];
                writes.retain(|_| callee.kind == Kind::Init);
                writes.extend((0..callee.code.nlocals).map(|r| callee.vars + r as usize));
                if callee.code.env_reg != 0
                    && let Kind::Yielded { home } = callee.kind
                {
                    writes.push(callee.vars + callee.code.env_reg as usize);
                    reads.extend(self.env_of(home));
                }
                match callee.kind {
                    Kind::Yielded { home } => reads.push(self.scopes[home].vars),
                    Kind::Defined => writes.extend(self.env_of(k)),
                    _ => {}
                }
            }
            What::Begin(l) => {
                let l = &self.loops[l];
                let block = &self.scopes[l.block];
                writes = vec![l.next, l.limit, l.object, l.item, l.result, block.vars];
                if block.code.env_reg != 0 {
                    writes.push(block.vars + block.code.env_reg as usize);
                    reads.extend(self.home_env(l.block));
                }
                reads.push(self.var(id, 0));
            }
            _ => {}
        }
        (reads, writes, lost)
    }
    /// The variable that holds a scope's environment.
    pub fn env_of(&self, scope: usize) -> Option<Var> {
        let s = &self.scopes[scope];
        (s.code.env_reg != 0).then(|| s.vars + s.code.env_reg as usize)
    }
    /// The environment around an inlined block.
    pub fn home_env(&self, scope: usize) -> Option<Var> {
        self.home_of(scope).and_then(|home| self.env_of(home))
    }
    /// The parent's variable that the value of an inlined call goes to.
    pub fn result_of(&self, scope: usize) -> Var {
        let call = self.scopes[scope].call;
        self.var(call, self.units[call].insn.a)
    }
    /// The scope that a variable is a register of.
    fn scope_of(&self, v: Var) -> Option<&Scope> {
        self.scopes.iter().find(|s| s.vars <= v && v < s.vars + s.code.nregs as usize)
    }
    /// Where a variable stands in memory, in registers from the root's r0; None for those of loops.
    pub fn place(&self, v: Var) -> Option<usize> {
        self.scope_of(v).map(|s| s.window + v - s.vars)
    }
    /// Whether it is a register, but no local variable.
    pub fn is_temporary(&self, v: Var) -> bool {
        self.scope_of(v).is_some_and(|s| v - s.vars >= s.code.nlocals as usize)
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
                // A `return` or `break` of an inlined block goes on behind the call of one of its callers.
                let mut number = u.scope;
                while u.next.is_none() && u.jump.is_none() && self.scopes[number].kind != Kind::Root {
                    if let Some(to) = self.scopes[number].after {
                        after.join(&self.units[to].live_before);
                    }
                    number = self.scopes[number].parent;
                }
                let (reads, writes, lost) = &effects[id];
                let mut before = after.clone();
                lost.iter().chain(writes).for_each(|v| before.remove(*v));
                reads.iter().for_each(|v| before.add(*v));
                for to in [u.raise, u.left].into_iter().flatten() {
                    before.join(&self.units[to].live_before);
                }
                // Variables that a direct function was given stand nowhere else.
                if self.direct {
                    (0..self.scopes[0].code.nlocals as usize).for_each(|r| before.add(r));
                }
                // Nobody knows them elsewhere.
                self.all_elements().for_each(|v| before.remove(v));
                self.elements_at(id).for_each(|v| before.add(v));
                // Others read these in its window, and in those of its callers: the self of blocks, and the environment.
                let (mut number, mut at) = (u.scope, u.at);
                loop {
                    let scope = &self.scopes[number];
                    let own = self.captured.iter().enumerate().filter(|(_, c)| c.owner == number);
                    own.for_each(|(k, _)| before.add(self.first_captured + k));
                    before.add(scope.vars);
                    // A method makes its own with the first instruction; a block has that around it from the beginning.
                    let has_env = at > 0 || matches!(scope.kind, Kind::Yielded { .. } | Kind::Looped | Kind::Defined);
                    if scope.code.env_reg != 0 && has_env {
                        before.add(scope.vars + scope.code.env_reg as usize);
                    }
                    if scope.kind == Kind::Root {
                        break;
                    }
                    (number, at) = (scope.parent, self.units[scope.call].at);
                }
                let u = &mut self.units[id];
                changed |= u.live_before.join(&before);
                u.live_after = after;
            }
        }
    }

    /// Finds where layouts are of use.
    fn find_layouts(&mut self) {
        self.layout_bits = (0..self.scopes.len()).map(|k| if self.has_layout(k) { 1 << k } else { 0 }).collect();
        let mut changed = self.layout_bits.iter().any(|bit| *bit != 0);
        while changed {
            changed = false;
            for k in (0..self.order.len()).rev() {
                let id = self.order[k];
                let u = &self.units[id];
                let after = [u.next, u.jump].into_iter().flatten().fold(0, |all, to| all | self.layouts_before(to));
                changed |= u.layouts_after != after;
                self.units[id].layouts_after = after;
            }
        }
    }
    /// Scopes whose layouts are asked for at a unit or afterwards.
    pub fn layouts_before(&self, id: Id) -> u64 {
        use Op::*;
        let u = &self.units[id];
        match u.op {
            GetIvar | SetIvar => u.layouts_after | self.layout_bit(u.scope),
            SendBlk | SendSelf | SendSelfBlk | SendX | Super | SuperX | Yield if u.what == What::Plain => 0,
            _ => u.layouts_after,
        }
    }
    /// The variable in an environment that an instruction reads or writes.
    pub fn captured_at(&self, id: Id) -> Option<Captured> {
        let u = &self.units[id];
        let (mut scope, mut up) = (u.scope, u.insn.x);
        loop {
            let s = &self.scopes[scope];
            let home = self.home_of(scope);
            let own = s.code.own_env;
            match home {
                _ if up == 0 && own || scope == 0 => return Some(Captured { owner: scope, up, slot: u.insn.b }),
                Some(h) => (scope, up) = (h, up - u8::from(own)),
                None => return None,
            }
        }
    }
    /// Finds variables of environments that are worth being kept: those that an inlined block writes, and Arrays that loops ask for elements. They are live as long as their scope is.
    fn find_captured(&mut self) {
        let mut found = Vec::new();
        for id in 0..self.units.len() {
            let u = &self.units[id];
            if !matches!(u.op, Op::GetEnv | Op::SetEnv) {
                continue;
            }
            let code = &self.scopes[u.scope].code;
            let special = [code.backref, code.lastline].into_iter().flatten();
            let is_special = special.into_iter().any(|p| matches!(p, Place::Env { depth, slot } if depth == u.insn.x && slot == u.insn.b));
            match self.captured_at(id) {
                // What natives write, too, stays where they look for it.
                None => return,
                Some(_) if is_special || u.insn.c != code.env_reg => return,
                Some(c) if found.contains(&c) => {}
                Some(c) if u.op == Op::SetEnv && c.owner != u.scope || self.looks.contains_key(&id) || self.is_wanted_of_env(c) => {
                    found.push(c)
                }
                Some(_) => {}
            }
        }
        if found.len() <= MOST_CAPTURED {
            self.vars += found.len();
            self.captured = found;
        }
    }
    /// The variable that an instruction's variable in an environment is kept in.
    pub fn kept_at(&self, id: Id) -> Option<Var> {
        let c = self.captured_at(id)?;
        Some(self.first_captured + self.captured.iter().position(|k| *k == c)?)
    }
    /// Whether a write goes to the environment at once: one that is not made in a block within, which may run again and again.
    pub fn is_written_at_once(&self, id: Id, v: Var) -> bool {
        self.kept(v).is_some_and(|c| c.owner == self.units[id].scope)
    }
    /// What is kept in a variable.
    pub fn kept(&self, v: Var) -> Option<Captured> {
        self.captured.get(v.checked_sub(self.first_captured)?).copied()
    }
    /// Those of a scope's environment.
    pub fn kept_of(&self, scope: usize) -> Vec<Var> {
        self.all_kept().filter(|v| self.kept(*v).is_some_and(|c| c.owner == scope)).collect()
    }
    /// All that are kept, elements of Arrays behind others.
    pub fn all_kept(&self) -> std::ops::Range<Var> {
        self.first_captured..self.first_captured + self.captured.len() + self.elements.len()
    }
    pub fn is_kept(&self, v: Var) -> bool {
        self.all_kept().contains(&v)
    }

    /// A scope's bit in [`super::types::State::laid_out`], or none.
    pub fn layout_bit(&self, scope: usize) -> u64 {
        self.layout_bits[scope]
    }
    /// Scopes that ask for no instance variables have none, or for too many, or add some, and those within another one of the same Code.
    fn has_layout(&self, scope: usize) -> bool {
        let s = &self.scopes[scope];
        let sites = 1..=zakuro_vm::layouts::MOST_SITES;
        let within_itself = || self.callers(scope, 0).skip(1).any(|k| Arc::ptr_eq(&self.scopes[k].code, &s.code));
        scope < 64 && sites.contains(&s.code.ivars.len()) && !s.adds_ivars && !within_itself()
    }
    /// Variables that something outside of the function may write: where `$~` and `$_` are kept.
    pub fn is_volatile(&self, scope: usize, reg: u16) -> bool {
        let code = &self.scopes[scope].code;
        [code.backref, code.lastline].into_iter().flatten().any(|p| p == Place::Reg(reg))
    }
}
