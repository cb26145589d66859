//! What is known of registers, and what is decided by it: a forward analysis to a fixpoint, whose decisions the translation follows.

use super::graph::{Graph, Id, Kind, Set, Unit, Var, What};
use std::ops::Range;
use zakuro_bytecode::machine::seen;
use zakuro_bytecode::op::Role;
use zakuro_bytecode::{Const, Insn, Op};
use zakuro_vm::interp::quiet;
use zakuro_vm::machine::Called;

/// What a register holds, and how: Fixnums and others as [`zakuro_object::Value`]s, doubles as they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    /// Nothing that anybody will read.
    Unset,
    Fixnum,
    Double,
    /// A plain Array, whose elements are known to be where they were found ([`super::arrays`]); and one that may be changed, in a buffer of its own.
    Array,
    Own,
    Any,
}

impl Type {
    fn join(self, other: Type) -> Type {
        match (self, other) {
            (Type::Unset, t) | (t, Type::Unset) => t,
            (a, b) if a == b => a,
            (a, b) if a.is_array() && b.is_array() => Type::Array,
            _ => Type::Any,
        }
    }
    pub fn is_array(self) -> bool {
        matches!(self, Type::Array | Type::Own)
    }
    /// Whether a loop may take a variable for this, which each round leaves it as, although it was found to be `before` so far: who enters looks.
    fn may_follow(self, before: Type) -> bool {
        match self {
            Type::Fixnum | Type::Double => before == Type::Any,
            Type::Array => before == Type::Any,
            Type::Own => matches!(before, Type::Any | Type::Array),
            Type::Any | Type::Unset => false,
        }
    }
    /// The same for a variable of an environment: unset means that it is in no register.
    fn join_kept(self, other: Type) -> Type {
        if other == Type::Unset {
            other
        } else if self == Type::Unset {
            self
        } else {
            self.join(other)
        }
    }
}

#[derive(Clone, PartialEq)]
pub struct State {
    pub types: Vec<Type>,
    /// Those whose place in the window is not up to date.
    pub dirty: Set,
    /// How many frames of inlined scopes stand on the frame stack; those above are not written yet.
    pub pushed: usize,
    /// Scopes whose layout is that of their self ([`super::layouts`]), a bit for each.
    pub laid_out: u64,
}

impl State {
    pub fn is_laid_out(&self, scope: usize) -> bool {
        scope < 64 && self.laid_out >> scope & 1 == 1
    }
    pub fn of(&self, v: Var) -> Type {
        self.types[v]
    }
    fn write(&mut self, v: Var, t: Type) {
        self.types[v] = t;
        self.dirty.add(v);
    }
}

/// What holds where two ways meet. `kept`: variables of environments.
fn join(to: &mut State, other: &State, kept: Range<Var>) {
    for (v, (a, b)) in to.types.iter_mut().zip(&other.types).enumerate() {
        *a = if kept.contains(&v) { a.join_kept(*b) } else { a.join(*b) };
    }
    to.dirty.join(&other.dirty);
    to.pushed = to.pushed.max(other.pushed);
    to.laid_out &= other.laid_out;
    settle_kept(to, kept);
}
/// What is in no register is where it belongs.
fn settle_kept(s: &mut State, kept: Range<Var>) {
    for v in kept {
        if s.types[v] == Type::Unset {
            s.dirty.remove(v);
        }
    }
}

/// How a unit is translated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Plan {
    /// As its opcode says, whatever the operands.
    Plain,
    /// Operands are Fixnums, or it is left.
    Fixnum,
    /// Operands are Floats, or Integers beside one, or it is left.
    Double,
    /// An Array and a Fixnum, or it is left.
    Array,
    /// Whatever comes: fast paths, then a call.
    Generic,
    /// It was never run: it is left.
    Never,
}

pub struct Types<'a> {
    pub graph: &'a Graph,
    /// At leaders: what holds there.
    pub at: Vec<Option<State>>,
}

pub use zakuro_bytecode::machine::{KEPT, LINKS, OPERANDS, REGISTER, UNSEEN};

impl<'a> Types<'a> {
    pub fn of(graph: &'a Graph) -> Types<'a> {
        let mut t = Types { graph, at: Vec::new() };
        t.run();
        t
    }

    fn start(&self) -> State {
        let mut s = State { types: vec![Type::Any; self.graph.vars], dirty: Set::new(self.graph.vars), pushed: 0, laid_out: 0 };
        s.types[self.graph.all_kept()].fill(Type::Unset);
        s
    }

    /// What holds at the function's beginning.
    pub fn beginning(&self) -> State {
        let mut s = self.start();
        if self.graph.direct {
            (0..self.graph.scopes[0].code.nlocals as usize).for_each(|r| s.dirty.add(r));
        }
        s
    }

    fn run(&mut self) {
        let n = self.graph.units.len();
        self.at = (0..n).map(|_| None).collect();
        // By unit: what comes by ways forwards, and by ways of loops.
        let mut forward: Vec<Option<State>> = (0..n).map(|_| None).collect();
        let mut back = forward.clone();
        let mut position = vec![usize::MAX; n];
        self.graph.order.iter().enumerate().for_each(|(i, id)| position[*id] = i);
        // Types only go up once every loop was seen, so that it ends; the bound is for what a mistake here would do.
        for round in 0..64 {
            let mut changed = false;
            forward.iter_mut().for_each(|s| *s = None);
            forward[0] = Some(self.beginning());
            let mut running: Option<State> = None;
            for id in &self.graph.order {
                let u = &self.graph.units[*id];
                if u.leads {
                    let arrived = self.meet(*id, forward[*id].as_ref(), back[*id].as_ref());
                    changed |= self.at[*id] != arrived;
                    self.at[*id] = arrived.clone();
                    running = arrived;
                }
                let Some(mut s) = running.take() else { continue };
                let plan = self.plan(*id, &s);
                self.apply(*id, plan, &mut s);
                if plan == Plan::Never {
                    continue;
                }
                for to in [u.next, u.jump].into_iter().flatten() {
                    if !self.graph.units[to].leads {
                        running = Some(s.clone());
                        continue;
                    }
                    let list = if position[to] <= position[*id] { &mut back } else { &mut forward };
                    match &mut list[to] {
                        Some(old) => join(old, &s, self.graph.all_kept()),
                        none => *none = Some(s.clone()),
                    }
                }
            }
            if !changed && round > 0 {
                return;
            }
        }
    }

    /// What holds at a leader. A register of any kind that every round of a loop leaves with a number is taken for one from the start: who enters looks.
    fn meet(&self, id: Id, forward: Option<&State>, back: Option<&State>) -> Option<State> {
        let u = &self.graph.units[id];
        // The interpreter may enter a loop whose beginning was not seen.
        let mut s = match forward {
            None if u.is_entry() => self.start(),
            s => s?.clone(),
        };
        if let Some(b) = back {
            for v in u.live_before.iter() {
                let (f, t) = (s.types[v], b.types[v]);
                s.types[v] = match self.graph.is_kept(v) {
                    true if self.may_take_kept(id, v, f, t) => t,
                    true => f.join_kept(t),
                    // Within a builtin's loop there is no instruction at which the interpreter could go on.
                    false
                        if u.what == What::Plain
                            && t.may_follow(f)
                            && self.reg(id, v).is_some_and(|r| !self.is_refuted(id, REGISTER + r)) =>
                    {
                        t
                    }
                    false => f.join(t),
                };
            }
            s.dirty.join(&b.dirty);
            s.pushed = s.pushed.max(b.pushed);
            s.laid_out &= b.laid_out;
        }
        if u.is_loop && u.what == What::Plain {
            // Entered from the interpreter, everything stands in the window; that is less than what is said here.
            for v in u.live_before.iter() {
                if self.reg(id, v).is_some_and(|r| self.is_refuted(id, REGISTER + r)) {
                    s.types[v] = Type::Any;
                }
            }
        }
        // Who enters takes them as they are.
        for v in self.graph.all_kept().filter(|_| u.is_entry()) {
            if s.types[v] != Type::Unset && !s.types[v].is_array() {
                s.types[v] = Type::Any;
            }
        }
        for v in self.graph.all_elements() {
            if s.types[v] != Type::Unset && !self.could_load(v, &s) {
                s.types[v] = Type::Unset;
            }
        }
        settle_kept(&mut s, self.graph.all_kept());
        for v in 0..self.graph.vars {
            if !u.live_before.has(v) {
                s.types[v] = Type::Unset;
                s.dirty.remove(v);
            }
        }
        s.laid_out &= self.graph.layouts_before(id);
        for (k, scope) in self.graph.scopes.iter().enumerate() {
            if s.is_laid_out(k) && !u.live_before.has(scope.vars) {
                s.laid_out &= !(1 << k);
            }
        }
        Some(s)
    }
    /// Whether a loop takes a variable of an environment for what each round leaves it as. A builtin's looks before its call.
    fn may_take_kept(&self, id: Id, v: Var, before: Type, t: Type) -> bool {
        let looks = match self.graph.units[id].what {
            What::Plain if t.is_array() => id,
            What::Iterate(l) => self.graph.loops[l].call,
            _ => return false,
        };
        let before = if before == Type::Unset { Type::Any } else { before };
        t.may_follow(before) && !self.is_refuted(looks, self.graph.name_of_kept(v))
    }
    /// The register of the unit's own scope that a variable is.
    fn reg(&self, id: Id, v: Var) -> Option<u16> {
        let scope = &self.graph.scopes[self.graph.units[id].scope];
        (scope.vars..scope.vars + scope.code.nregs as usize).contains(&v).then(|| (v - scope.vars) as u16)
    }

    pub fn is_refuted(&self, id: Id, what: u16) -> bool {
        let u = &self.graph.units[id];
        self.graph.scopes[u.scope].known.is_refuted(&(u.at as u32, what))
    }

    fn seen(&self, u: &Unit) -> u8 {
        self.graph.scopes[u.scope].known.seen(u.at)
    }

    /// The registers that an operator reads; None stands for the small Integer in the instruction.
    pub fn operands(&self, id: Id) -> (Var, Option<Var>) {
        let u = &self.graph.units[id];
        let mut reads = u.op.operands().iter().filter(|(role, _)| *role == Role::Read).map(|(_, f)| self.graph.var(id, u.insn.get(*f)));
        let first = reads.next().unwrap_or(0);
        (first, reads.next())
    }

    pub fn plan(&self, id: Id, s: &State) -> Plan {
        use Op::*;
        let u = &self.graph.units[id];
        if u.what != What::Plain {
            return Plan::Plain;
        }
        let refuted = self.is_refuted(id, OPERANDS);
        match u.op {
            Add | Sub | Mul | AddI | SubI | MulI | Lt | Le | Gt | Ge | Eq | Ne | Neg | Div | DivI | Mod | ModI => {
                self.numbers(id, s, refuted)
            }
            op if is_branch(op) => self.numbers(id, s, refuted),
            Succ | And | Or | Xor | AndI | ShlI | ShrI | Shr => match self.numbers(id, s, refuted) {
                Plan::Double => Plan::Generic,
                plan => plan,
            },
            Shl => match self.seen(u) & 15 {
                0 if self.kind(s, self.operands(id).0) != seen::INTEGER => Plan::Never,
                seen::ARRAY if !refuted => Plan::Array,
                _ => match self.numbers(id, s, refuted) {
                    Plan::Double => Plan::Generic,
                    plan => plan,
                },
            },
            Aref | Aset => match self.seen(u) {
                0 => Plan::Never,
                k if k == seen::ARRAY | seen::INTEGER << seen::SECOND && !refuted => Plan::Array,
                _ => Plan::Generic,
            },
            Send | SendBlk | SendSelf | SendSelfBlk | SendX
                if self.graph.may_inline(id) && matches!(self.called(id), Called::Unseen) && !self.is_refuted(id, UNSEEN) =>
            {
                Plan::Never
            }
            Len | EmptyP if s.of(self.operands(id).0).is_array() || self.graph.asks_array(id) => Plan::Array,
            Pow | CaseEq | Len | EmptyP | Not | NilP => Plan::Generic,
            _ => Plan::Plain,
        }
    }
    fn kind(&self, s: &State, v: Var) -> u8 {
        match s.of(v) {
            Type::Fixnum => seen::INTEGER,
            Type::Double => seen::FLOAT,
            _ => 0,
        }
    }
    /// By what is known of the operands, and what of the others was seen.
    fn numbers(&self, id: Id, s: &State, refuted: bool) -> Plan {
        let u = &self.graph.units[id];
        let (a, b) = self.operands(id);
        let told = self.seen(u);
        let one = |known: u8, told: u8| if known != 0 { known } else { told };
        let first = one(self.kind(s, a), told & 15);
        let second = b.map_or(seen::INTEGER, |b| one(self.kind(s, b), told >> seen::SECOND));
        let known = self.kind(s, a) != 0 && b.is_none_or(|b| self.kind(s, b) != 0);
        match (first, second) {
            (0, _) | (_, 0) => Plan::Never,
            _ if refuted => Plan::Generic,
            (seen::INTEGER, seen::INTEGER) => Plan::Fixnum,
            // Modulo of Floats has rules of its own.
            _ if matches!(u.op, Op::Mod | Op::ModI) => Plan::Generic,
            (seen::INTEGER | seen::FLOAT, seen::FLOAT) | (seen::FLOAT, seen::INTEGER) => Plan::Double,
            // Integers of any kind beside Floats: only if it is known which.
            _ if known => Plan::Generic,
            _ => Plan::Generic,
        }
    }

    /// What holds after a unit.
    pub fn apply(&self, id: Id, plan: Plan, s: &mut State) {
        use Op::*;
        let u = &self.graph.units[id];
        let (_, writes, lost) = self.graph.effects(id);
        if u.what != What::Plain {
            return self.apply_inlined(id, &lost, s);
        }
        let a = writes.first().copied();
        let (x, y) = self.operands(id);
        match plan {
            Plan::Never => return,
            Plan::Fixnum => {
                s.types[x] = Type::Fixnum;
                if let Some(y) = y {
                    s.types[y] = Type::Fixnum;
                }
                if let Some(a) = a {
                    s.write(a, if makes_number(u.op) { Type::Fixnum } else { Type::Any });
                }
            }
            Plan::Double => {
                for v in [Some(x), y].into_iter().flatten() {
                    if s.types[v] == Type::Any && self.takes_double(id, v, s) {
                        s.types[v] = Type::Double;
                    } else if s.types[v] == Type::Any {
                        s.types[v] = Type::Fixnum;
                    }
                }
                if let Some(a) = a {
                    s.write(a, if makes_number(u.op) { Type::Double } else { Type::Any });
                }
            }
            Plan::Array => {
                let known = self.known_array(id, s);
                if known.is_array() {
                    s.types[x] = known;
                }
                if let (Aref | Aset, Some(y)) = (u.op, y) {
                    s.types[y] = Type::Fixnum;
                }
                if u.op == Aset {
                    self.lost_by_store(id, s).into_iter().for_each(|v| s.types[v] = Type::Unset);
                }
                let loaded = self.element_of(id).map(|v| self.loaded_element(v, s));
                if let Some(a) = a {
                    s.write(a, if u.op == Len { Type::Fixnum } else { loaded.unwrap_or(Type::Any) });
                }
            }
            // Its slow way stores what the window lacks for itself.
            Plan::Generic => {
                if let Some(a) = a {
                    s.write(a, Type::Any);
                }
            }
            Plan::Plain => match u.op {
                Move => {
                    let t = s.types[self.graph.var(id, u.insn.b)];
                    s.write(self.graph.var(id, u.insn.a), t);
                }
                LoadInt => s.write(self.graph.var(id, u.insn.a), Type::Fixnum),
                JumpOther if u.jump.is_none() => s.types[x] = Type::Fixnum,
                LoadConst => {
                    let t = match self.graph.scopes[u.scope].code.consts[u.insn.b as usize] {
                        Const::Int(n) if zakuro_object::Value::try_fixnum(n).is_some() => Type::Fixnum,
                        Const::Float(_) => Type::Double,
                        _ => Type::Any,
                    };
                    s.write(self.graph.var(id, u.insn.a), t);
                }
                Send | SendSelf if let Some(pure) = self.pure(id) => {
                    lost.iter().for_each(|v| {
                        s.types[*v] = Type::Unset;
                        s.dirty.remove(*v);
                    });
                    s.write(self.graph.var(id, u.insn.a), if pure.is_of_floats() { Type::Double } else { Type::Any });
                }
                NewEnv => {
                    for v in self.graph.kept_of(u.scope) {
                        s.types[v] = Type::Unset;
                        s.dirty.remove(v);
                    }
                    s.write(self.graph.var(id, u.insn.a), Type::Any);
                }
                GetEnv if let Some(k) = self.graph.kept_at(id) => {
                    if let Some(wanted) = self.looked_at(id, s) {
                        s.types[k] = wanted;
                    } else if s.types[k] == Type::Unset {
                        s.types[k] = Type::Any;
                    }
                    let t = s.types[k];
                    s.write(self.graph.var(id, u.insn.a), t);
                }
                SetEnv if let Some(k) = self.graph.kept_at(id) => {
                    let t = s.types[self.graph.var(id, u.insn.a)];
                    s.write(k, t);
                    if self.graph.is_written_at_once(id, k) {
                        s.dirty.remove(k);
                    }
                }
                ToS => {
                    let v = self.graph.var(id, u.insn.a);
                    if !matches!(s.types[v], Type::Fixnum | Type::Double) {
                        s.write(v, Type::Any);
                    }
                }
                GetIvar | SetIvar => {
                    s.laid_out = self.laid_out_after(id, s);
                    if let Some(a) = a {
                        s.write(a, Type::Any);
                    }
                }
                Return if self.graph.ends_round(id) => {
                    for v in self.graph.begun_anew() {
                        s.types[v] = Type::Any;
                        s.dirty.remove(v);
                    }
                    // They have been written where they belong.
                    s.types[self.graph.all_kept()].fill(Type::Unset);
                    settle_kept(s, self.graph.all_kept());
                }
                // All of them: `Expand` has several.
                _ if !self.flushes(id) => writes.iter().for_each(|v| s.write(*v, Type::Any)),
                op => {
                    let late = self.late(id, s);
                    s.dirty.clear();
                    late.iter().for_each(|v| s.dirty.add(*v));
                    s.types[self.graph.all_kept()].fill(Type::Unset);
                    s.pushed = self.graph.scopes[u.scope].depth;
                    s.laid_out = 0;
                    lost.iter().for_each(|v| s.types[*v] = Type::Unset);
                    for v in &writes {
                        s.types[*v] = Type::Any;
                        if is_call(op) {
                            s.dirty.add(*v);
                        }
                    }
                }
            },
        }
        if plan == Plan::Generic || !matches!(plan, Plan::Fixnum | Plan::Double) && !self.keeps_arrays(id) {
            s.types[self.graph.all_elements()].fill(Type::Unset);
            s.types.iter_mut().filter(|t| t.is_array()).for_each(|t| *t = Type::Any);
        }
        // What others may write is read anew each time, and written at once.
        for v in writes {
            let reg = (v - self.graph.scopes[u.scope].vars) as u16;
            if self.graph.is_volatile(u.scope, reg) {
                s.types[v] = Type::Any;
                s.dirty.remove(v);
            }
        }
    }
    /// What is known of the Array that a unit asks, once it has: one that is asked again soon, in a loop that disturbs none.
    pub fn known_array(&self, id: Id, s: &State) -> Type {
        let (v, changes) = (self.graph.asked(id), self.graph.units[id].op == Op::Aset);
        match s.of(v) {
            Type::Own => Type::Own,
            Type::Array if !changes => Type::Array,
            Type::Array => Type::Own,
            _ if !self.graph.calm.may_have(id) || !self.graph.units[id].live_after.has(v) || self.is_reg_volatile(id, v) => Type::Any,
            _ if changes => Type::Own,
            _ => Type::Array,
        }
    }
    fn is_reg_volatile(&self, id: Id, v: Var) -> bool {
        self.reg(id, v).is_some_and(|r| self.graph.is_volatile(self.graph.units[id].scope, r))
    }
    /// What an instruction that loads an Array of an environment looks at it for, if it has to.
    pub fn looked_at(&self, id: Id, s: &State) -> Option<Type> {
        let k = self.graph.kept_at(id)?;
        let wanted = if *self.graph.looks.get(&id)? { Type::Own } else { Type::Array };
        let known = s.of(k);
        (known != Type::Own && known != wanted).then_some(wanted)
    }
    /// Whether Arrays are what they were found to be after a unit that has no fast way of its own, if its slow way does not come back; of groups, after that of Arrays.
    pub fn keeps_arrays(&self, id: Id) -> bool {
        use Op::*;
        let u = &self.graph.units[id];
        match u.op {
            GetIvar | SetIvar | GetConst => !self.is_refuted(id, OPERANDS),
            Aref | Aset | Len | EmptyP => true,
            Send | SendSelf => self.pure(id).is_some_and(Pure::is_of_floats),
            op => super::calm::is_calm(op),
        }
    }
    /// Whether an access to an instance variable goes by the table of its scope: one is there, or others follow that it is looked at for.
    pub fn lays_out(&self, id: Id, s: &State) -> bool {
        let u = &self.graph.units[id];
        s.is_laid_out(u.scope) || self.graph.layout_bit(u.scope) & u.layouts_after != 0
    }
    /// Whose layouts are known after an access to an instance variable. Where a variable may have been added, those of all that could be the same object are not.
    pub fn laid_out_after(&self, id: Id, s: &State) -> u64 {
        let u = &self.graph.units[id];
        let known = match u.op {
            _ if self.lays_out(id, s) => s.laid_out | self.graph.layout_bit(u.scope),
            Op::GetIvar => s.laid_out,
            // A new object is self of what `initialize` calls alone.
            _ if self.graph.scopes[u.scope].kind == Kind::Init => s.laid_out & ((1u64 << u.scope.min(63)) - 1),
            _ => 0,
        };
        known & u.layouts_after
    }
    /// What holds after the units of inlined calls.
    fn apply_inlined(&self, id: Id, lost: &[Var], s: &mut State) {
        let g = self.graph;
        let u = &g.units[id];
        match u.what {
            What::Plain => {}
            What::Enter(k) => {
                s.laid_out &= !g.layout_bit(k);
                let callee = &g.scopes[k];
                let own = g.takes_self(id);
                let from = g.var(id, u.insn.a);
                // Arguments stand where the callee looks for them, but for those of `initialize`, and keywords.
                let of = |r: u16| if r == 0 { Some(u.insn.a) } else { g.argument(k, r) };
                let moved = |r: u16, at: u16| callee.kind == Kind::Init || at != u.insn.a + r;
                let parameters = callee.code.params.registers();
                let given: Vec<(Type, bool)> = (0..=parameters)
                    .map(|r| match of(r) {
                        Some(at) => (s.types[g.var(id, at)], moved(r, at) || s.dirty.has(g.var(id, at))),
                        None => (Type::Any, true),
                    })
                    .collect();
                lost.iter().for_each(|v| {
                    s.types[*v] = Type::Unset;
                    s.dirty.remove(*v);
                });
                for (n, (t, dirty)) in given.into_iter().enumerate() {
                    let v = callee.vars + n;
                    let (t, dirty) = match (n, callee.kind) {
                        (0, Kind::Yielded { .. } | Kind::Init) => (Type::Any, true),
                        (0, _) if own => (s.types[g.var(id, 0)], true),
                        _ => (t, dirty),
                    };
                    s.types[v] = t;
                    if dirty { s.dirty.add(v) } else { s.dirty.remove(v) }
                }
                let arguments = parameters as usize + 1;
                for v in (arguments..callee.code.nlocals as usize).map(|r| callee.vars + r).chain(g.home_env(k).and(g.env_of(k))) {
                    s.write(v, Type::Any);
                }
                if callee.kind == Kind::Init {
                    s.write(from, Type::Any);
                }
                if matches!(callee.kind, Kind::Yielded { .. } | Kind::Defined)
                    && g.home_env(k).is_none()
                    && let Some(e) = g.env_of(k)
                {
                    s.write(e, Type::Any);
                }
                self.settle_volatile(k, s);
            }
            What::Leave => {
                s.laid_out &= !g.layout_bit(u.scope);
                let scope = &g.scopes[u.scope];
                let t = s.types[g.var(id, u.insn.a)];
                self.ends(u.scope, s);
                match scope.kind {
                    Kind::Looped => {}
                    Kind::Init => s.pushed = s.pushed.min(scope.depth - 1),
                    _ => {
                        s.pushed = s.pushed.min(scope.depth - 1);
                        s.write(g.result_of(u.scope), t);
                    }
                }
            }
            What::Return(to) => {
                let t = s.types[g.var(id, u.insn.a)];
                for k in g.callers(u.scope, to) {
                    s.laid_out &= !g.layout_bit(k);
                    self.ends(k, s);
                    if g.scopes[k].kind == Kind::Looped {
                        let l = &g.loops[g.scopes[k].within.unwrap_or(0)];
                        for v in [g.scopes[k].vars, l.next, l.limit, l.object, l.item, l.result].into_iter().chain(g.env_of(k)) {
                            s.types[v] = Type::Unset;
                            s.dirty.remove(v);
                        }
                    }
                }
                let scope = &g.scopes[to];
                s.pushed = s.pushed.min(scope.depth.saturating_sub(1));
                if !matches!(scope.kind, Kind::Root | Kind::Init) {
                    s.write(g.result_of(to), t);
                }
            }
            What::Break(l) => {
                s.laid_out &= !g.layout_bit(u.scope);
                self.ends(u.scope, s);
                s.types[g.loops[l].result] = Type::Any;
            }
            What::Begin(l) => {
                let l = &g.loops[l];
                s.dirty.clear();
                // What the block asks for first in each round is asked once, if it calls nothing.
                s.laid_out = g.layout_bit(l.block) & u.layouts_after;
                lost.iter().for_each(|v| s.types[*v] = Type::Unset);
                s.pushed = g.scopes[l.block].depth;
                s.types[l.next] = Type::Fixnum;
                s.types[l.limit] = if l.kind.walks() { Type::Any } else { Type::Fixnum };
                for v in [l.object, l.item, l.result, g.scopes[l.block].vars] {
                    s.types[v] = Type::Any;
                }
                if let Some(e) = g.env_of(l.block) {
                    s.types[e] = Type::Any;
                }
            }
            What::Iterate(l) => {
                let l = &g.loops[l];
                let block = &g.scopes[l.block];
                s.types[l.next] = Type::Fixnum;
                for r in 1..block.code.nlocals {
                    s.write(block.vars + r as usize, Type::Any);
                }
                let element = if l.kind.counts() { Type::Fixnum } else { Type::Any };
                let (first, second) = l.kind.given(element, Type::Fixnum, Type::Any);
                for (n, t) in std::iter::once(first).chain(second).enumerate().take(block.code.params.required as usize) {
                    s.types[block.vars + 1 + n] = t;
                }
                if let Some(e) = g.env_of(l.block) {
                    s.types[e] = Type::Any;
                    if block.code.own_env {
                        s.dirty.add(e);
                    }
                }
                self.settle_volatile(l.block, s);
            }
            What::Finish(l) => {
                let l = &g.loops[l];
                s.pushed = g.scopes[u.scope].depth;
                for v in [l.next, l.limit, l.object, l.item, l.result] {
                    s.types[v] = Type::Unset;
                }
                s.write(g.var(id, u.insn.a), Type::Any);
            }
        }
    }
    /// What a scope had ends with it; of a block of a builtin's loop, which goes on, self and environment stay.
    fn ends(&self, scope: usize, s: &mut State) {
        let (g, sc) = (self.graph, &self.graph.scopes[scope]);
        let own =
            (sc.vars..sc.vars + sc.code.nregs as usize).filter(|v| sc.kind != Kind::Looped || *v > sc.vars && Some(*v) != g.env_of(scope));
        for v in own.chain(g.kept_of(scope)) {
            s.types[v] = Type::Unset;
            s.dirty.remove(v);
        }
    }
    /// Variables of a scope that others may write are read anew each time.
    fn settle_volatile(&self, scope: usize, s: &mut State) {
        let sc = &self.graph.scopes[scope];
        for reg in (0..sc.code.nlocals).filter(|r| self.graph.is_volatile(scope, *r)) {
            s.types[sc.vars + reg as usize] = Type::Any;
            s.dirty.remove(sc.vars + reg as usize);
        }
    }
    /// Numbers that a call leaves out of the window: temporary ones, for which nobody looks there as long as it goes well. (Variables are shown by debuggers.)
    pub fn late(&self, id: Id, s: &State) -> Vec<Var> {
        let u = &self.graph.units[id];
        if !is_call(u.op) || u.what != What::Plain {
            return Vec::new();
        }
        // What is handed over stands in the window.
        let scope = &self.graph.scopes[u.scope];
        let given = scope.vars + u.insn.a as usize..scope.vars + scope.code.nregs as usize;
        let is_number = |v: &Var| matches!(s.of(*v), Type::Fixnum | Type::Double);
        s.dirty.iter().filter(|v| is_number(v) && self.graph.is_temporary(*v) && u.live_before.has(*v) && !given.contains(v)).collect()
    }
    /// Whether registers are written to the window first, on each way: it may run Ruby code, or looks at the window.
    pub fn flushes(&self, id: Id) -> bool {
        use Op::*;
        let u = &self.graph.units[id];
        match u.op {
            Move | LoadInt | LoadNil | LoadTrue | LoadFalse | LoadUndef | LoadConst | GetEnv | SetEnv | GetIvar | SetIvar | GetConst
            | GetConstFrom | Jump | Loop | JumpIf | JumpUnless | LoopIf | LoopUnless | JumpNil | JumpNotNil | JumpDef | JumpOther
            | JumpBelow | JumpSame | Return | BlockGiven | ToS | Interp | NewStr | NewArray | AskList | NewHash | NewEnv | NewRange => {
                false
            }
            Expand => !is_plain_expansion(u.insn),
            Intrinsic => !is_splat(u.insn),
            SendSelf => self.pure(id).is_none(),
            Send => !matches!(self.called(id), Called::AttrReader | Called::AttrWriter) && self.pure(id).is_none(),
            _ => true,
        }
    }
    /// What a call of a builtin that does little has called. `abs`: only where its receiver is known for a Float (`State`).
    pub fn pure(&self, id: Id) -> Option<Pure> {
        let u = &self.graph.units[id];
        let Called::Native(_, owner, name, quiet) = self.called(id) else { return None };
        let own = u.op == Op::SendSelf;
        if !own && u.op != Op::Send || self.is_refuted(id, OPERANDS) || self.graph.link_of(id).is_some() {
            return None;
        }
        if *owner == zakuro_object::ids::KERNEL && u.insn.x == 0 && &*name.name() == "itself" {
            return Some(Pure::Itself);
        }
        if *owner == zakuro_object::ids::KERNEL && &*name.name() == "respond_to?" && self.graph.literal_argument(id).is_some() {
            return Some(Pure::Responds);
        }
        if let Some(f) = quiet::answer(*owner, &name.name(), u.insn.x) {
            return Some(Pure::Answer(f as *const () as usize));
        }
        let pure = match (*owner, &*name.name(), u.insn.x) {
            (zakuro_object::ids::MATH, "sqrt", 1) => Pure::Sqrt,
            (zakuro_object::ids::MATH, "sin", 1) => Pure::Sin,
            (zakuro_object::ids::MATH, "cos", 1) => Pure::Cos,
            (zakuro_object::ids::FLOAT, "abs", 0) => Pure::Abs,
            (zakuro_object::ids::STRING, "getbyte", 1) => Pure::Byte,
            (zakuro_object::ids::STRING, "setbyte", 2) => Pure::SetByte,
            (zakuro_object::ids::INTEGER, "abs" | "magnitude", 0) => Pure::OfFixnum(OfFixnum::Abs),
            (zakuro_object::ids::INTEGER, "even?", 0) => Pure::OfFixnum(OfFixnum::Even),
            (zakuro_object::ids::INTEGER, "odd?", 0) => Pure::OfFixnum(OfFixnum::Odd),
            (zakuro_object::ids::INTEGER, "zero?", 0) => Pure::OfFixnum(OfFixnum::Zero),
            (zakuro_object::ids::INTEGER, "succ" | "next", 0) => Pure::OfFixnum(OfFixnum::Succ),
            (zakuro_object::ids::INTEGER, "pred", 0) => Pure::OfFixnum(OfFixnum::Pred),
            (_, _, n) if quiet.is_some_and(|(least, most)| (least..=most).contains(&n)) => Pure::Quiet,
            _ => return None,
        };
        (!own || !pure.is_of_floats()).then_some(pure)
    }
    /// Whether a call's receivers are taken to be cells.
    pub fn is_of_cell(&self, id: Id) -> bool {
        let u = &self.graph.units[id];
        !self.is_refuted(id, OPERANDS) && self.graph.scopes[u.scope].sites.get(u.insn.c as usize).is_some_and(|s| s.of_cell)
    }
    /// What a call has called.
    pub fn called(&self, id: Id) -> &Called {
        let u = &self.graph.units[id];
        self.graph.scopes[u.scope].sites.get(u.insn.c as usize).map_or(&Called::Other, |s| &s.called)
    }
    /// Whether a unit may have to do with doubles.
    pub fn makes_double(&self, id: Id) -> bool {
        let u = &self.graph.units[id];
        const EITHER: u8 = seen::FLOAT | seen::FLOAT << seen::SECOND;
        match u.op {
            Op::LoadConst => matches!(self.graph.scopes[u.scope].code.consts[u.insn.b as usize], Const::Float(_)),
            Op::Send | Op::SendSelf => self.pure(id).is_some_and(Pure::is_of_floats),
            op => op.group_length() > 1 && self.seen(u) & EITHER != 0,
        }
    }
    /// Whether an operand of an operation of Floats is a double there.
    pub fn is_double(&self, id: Id, v: Var, s: &State) -> bool {
        match s.of(v) {
            Type::Double => true,
            Type::Any => self.takes_double(id, v, s),
            _ => false,
        }
    }
    /// Whether an operand of which nothing is known is looked at as a Float, in an operation of Floats.
    pub fn takes_double(&self, id: Id, v: Var, _: &State) -> bool {
        let (a, _) = self.operands(id);
        let told = self.seen(&self.graph.units[id]);
        (if v == a { told & 15 } else { told >> seen::SECOND }) & seen::FLOAT != 0
    }
}

/// Methods of Integer that are a few instructions where they are called on a Fixnum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OfFixnum {
    Abs,
    Even,
    Odd,
    Zero,
    Succ,
    Pred,
}

/// Builtins that do no more than their name says: they run no Ruby code, and raise nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pure {
    Sqrt,
    Sin,
    Cos,
    Abs,
    /// String#getbyte.
    Byte,
    /// String#setbyte.
    SetByte,
    /// A method of Integer; of large ones it is called like any other.
    OfFixnum(OfFixnum),
    /// Where this function has no answer, it is called like any other ([`quiet::Answer`]).
    Answer(usize),
    /// Kernel#itself.
    Itself,
    /// Kernel#respond_to? of a Symbol that is written there: the table of call sites knows the answer for objects of one shape.
    Responds,
    /// Any other.
    Quiet,
}

impl Pure {
    /// Whether it makes a Float of a Float.
    pub fn is_of_floats(self) -> bool {
        matches!(self, Pure::Sqrt | Pure::Sin | Pure::Cos | Pure::Abs)
    }
}

/// Most variables that machine code fills itself.
const MOST_EXPANDED: u16 = 4;
/// `a, b = list` and nothing more.
pub fn is_plain_expansion(i: Insn) -> bool {
    i.x & 1 == 0 && i.c <= MOST_EXPANDED
}
/// `f(*list)`, before the call.
pub fn is_splat(i: Insn) -> bool {
    i.opcode() == Op::Intrinsic && i.x == zakuro_bytecode::Intrinsic::SplatLent as u8
}
/// Operators whose result is a number, when their operands are.
pub fn makes_number(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Add | Sub | Mul | AddI | SubI | MulI | Neg | Succ | Div | DivI | Mod | ModI | And | Or | Xor | AndI | ShlI | ShrI | Shr | Shl
    )
}
/// Fused comparisons.
pub fn is_branch(op: Op) -> bool {
    op.group_length() == 3 && op.field(Role::Jump).is_some()
}
/// Calls that machine code makes itself, whose value comes in a register of the machine.
pub fn is_call(op: Op) -> bool {
    use Op::*;
    matches!(op, Send | SendBlk | SendSelf | SendSelfBlk | Yield)
}
