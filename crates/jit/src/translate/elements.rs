//! Elements of Arrays that a loop asks for elements in turn: `a[i]` of `a[i][k]`, where the loop changes neither `a` nor `i`.
//!
//! Such an element is kept in a variable of its own, which stands in no window, beside variables of environments ([`super::captured`]): it is known, or unset. Who enters the loop loads it and looks at it as at
//! any Array that rounds take for granted; where nothing is known it is loaded and looked at where the program asks for it. Only calm loops ([`super::calm`]) have any, so nothing but a store in an Array can change one:
//! each asks whether the Array is the one that the element was found in.

use super::emit::Emitter;
use super::graph::{Captured, Graph, Id, Set, Var, What};
use super::types::{KEPT, State, Type, Types};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use std::ops::Range;
use zakuro_bytecode::Op;
use zakuro_object::Value as Ruby;

/// Most of a function.
const MOST: usize = 16;

/// Where an operand stands whose value is the same in all rounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operand {
    Register(Var),
    Env(Captured),
    /// An element, by its number.
    Element(usize),
    Number(i64),
    /// So much more than a register, as a Fixnum.
    More(Var, i64),
}

/// The index of an element: a Fixnum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Index {
    Number(i64),
    Var(Var),
    More(Var, i64),
}

/// One that is worth being kept, before it has its variable.
pub struct Candidate {
    unit: Id,
    array: Operand,
    index: Operand,
    /// It is asked to be changed.
    changes: bool,
    within: Vec<Id>,
}

/// An element that is kept.
pub struct Element {
    pub array: Var,
    pub index: Index,
    pub wanted: Type,
    /// Units in which it may be known.
    pub within: Set,
}

/// What the units of a loop change.
struct Changes {
    registers: Set,
    envs: Vec<Captured>,
    /// Scopes that begin within.
    scopes: Vec<usize>,
}

impl Graph {
    /// Finds elements that stay within calm loops, outer ones first.
    pub fn find_candidates(&mut self, loops: &[Vec<Id>]) {
        for body in loops {
            let asked: Vec<(Id, Id)> = body.iter().filter_map(|id| Some((*id, self.asks_element(*id)?))).collect();
            if asked.is_empty() {
                continue;
            }
            let changes = self.changes(body);
            for (by, unit) in asked {
                let changed = self.units[by].op == Op::Aset;
                if let Some(known) = self.candidates.iter_mut().find(|c| c.unit == unit) {
                    known.changes |= changed;
                    continue;
                }
                let i = self.units[unit].insn;
                let (Some(array), Some(index)) = (self.operand(unit, i.b, &changes), self.operand(unit, i.c, &changes)) else { continue };
                let is_array = matches!(array, Operand::Register(_) | Operand::Env(_) | Operand::Element(_));
                let is_index = matches!(index, Operand::Register(_) | Operand::Env(_) | Operand::Number(_) | Operand::More(..));
                // An Array that the loop itself changes would be asked in vain.
                let is_changed = || {
                    body.iter().any(|id| {
                        let u = &self.units[*id];
                        u.op == Op::Aset && u.what == What::Plain && self.operand(*id, u.insn.a, &changes) == Some(array)
                    })
                };
                if self.candidates.len() < MOST && is_array && is_index && !is_changed() {
                    self.candidates.push(Candidate { unit, array, index, changes: changed, within: body.clone() });
                }
            }
        }
    }
    /// The unit that loads the Array which a unit asks, from another one.
    fn asks_element(&self, id: Id) -> Option<Id> {
        if !self.asks_array(id) {
            return None;
        }
        let from = self.written_by(id, self.asked(id))?;
        let u = &self.units[from];
        let volatile = [u.insn.a, u.insn.b, u.insn.c].into_iter().any(|r| self.is_volatile(u.scope, r));
        (u.op == Op::Aref && self.asks_array(from) && !volatile).then_some(from)
    }
    fn changes(&self, body: &[Id]) -> Changes {
        let mut c = Changes { registers: Set::new(self.vars), envs: Vec::new(), scopes: Vec::new() };
        for id in body {
            let u = &self.units[*id];
            let (_, writes, lost) = self.effects(*id);
            writes.into_iter().chain(lost).for_each(|v| c.registers.add(v));
            match (u.what, u.op) {
                (What::Enter(scope), _) => c.scopes.push(scope),
                (What::Begin(l) | What::Iterate(l), _) => c.scopes.push(self.loops[l].block),
                (What::Plain, Op::NewEnv) => c.scopes.push(u.scope),
                (What::Plain, Op::SetEnv) => c.envs.extend(self.captured_at(*id)),
                _ => {}
            }
        }
        c
    }
    /// Where a register that a unit reads has its value from, if that is the same in all rounds.
    fn operand(&self, id: Id, reg: u16, changes: &Changes) -> Option<Operand> {
        let v = self.var(id, reg);
        if !changes.registers.has(v) {
            return Some(Operand::Register(v));
        }
        let from = self.written_by(id, v)?;
        let u = &self.units[from];
        match u.op {
            Op::GetEnv if self.loads_from_env(from) => {
                let c = self.captured_at(from)?;
                (!changes.envs.contains(&c) && !changes.scopes.contains(&c.owner)).then_some(Operand::Env(c))
            }
            Op::Aref => self.candidates.iter().position(|c| c.unit == from).map(Operand::Element),
            Op::LoadInt => Some(Operand::Number(u.insn.signed(zakuro_bytecode::op::Field::Imm) as i64)),
            Op::AddI | Op::SubI => {
                let n = u.insn.signed(zakuro_bytecode::op::Field::C) as i64;
                let of = self.var(from, u.insn.b);
                (!changes.registers.has(of)).then_some(Operand::More(of, if u.op == Op::SubI { -n } else { n }))
            }
            _ => None,
        }
    }
    /// Whether a unit loads a variable of an environment that is asked of an element that is worth being kept.
    pub fn is_wanted_of_env(&self, c: Captured) -> bool {
        self.candidates.iter().any(|e| [e.array, e.index].contains(&Operand::Env(c)))
    }
    /// Gives candidates their variables.
    pub fn keep_elements(&mut self) {
        let mut numbers: Vec<Option<usize>> = Vec::new();
        for c in std::mem::take(&mut self.candidates) {
            let of = |o: Operand| match o {
                Operand::Register(v) => Some(v),
                Operand::Env(c) => Some(self.first_captured + self.captured.iter().position(|k| *k == c)?),
                Operand::Element(n) => Some(self.first_element() + numbers[n]?),
                Operand::Number(_) | Operand::More(..) => None,
            };
            let index = match c.index {
                Operand::Number(n) => Some(Index::Number(n)),
                Operand::More(v, n) => Some(Index::More(v, n)),
                o => of(o).map(Index::Var),
            };
            let number = of(c.array).zip(index).map(|(array, index)| {
                let mut within = Set::new(self.units.len());
                c.within.iter().for_each(|id| within.add(*id));
                let wanted = if c.changes { Type::Own } else { Type::Array };
                Element { array, index, wanted, within }
            });
            numbers.push(number.map(|element| {
                let same = |e: &Element| e.array == element.array && e.index == element.index && e.within == element.within;
                let n = match self.elements.iter().position(same) {
                    Some(n) => {
                        if element.wanted == Type::Own {
                            self.elements[n].wanted = Type::Own;
                        }
                        n
                    }
                    None => {
                        self.elements.push(element);
                        self.elements.len() - 1
                    }
                };
                self.element_units.insert(c.unit, n);
                n
            }));
        }
        self.vars += self.elements.len();
    }
    fn first_element(&self) -> Var {
        self.first_captured + self.captured.len()
    }
    pub fn all_elements(&self) -> Range<Var> {
        self.all_kept().end - self.elements.len()..self.all_kept().end
    }
    /// The element that is kept in a variable.
    pub fn element(&self, v: Var) -> Option<&Element> {
        self.elements.get(v.checked_sub(self.first_element())?)
    }
    /// The variables of those that may be known at a unit.
    pub fn elements_at(&self, id: Id) -> impl Iterator<Item = Var> + '_ {
        let first = self.first_element();
        self.elements.iter().enumerate().filter(move |(_, e)| e.within.has(id)).map(move |(n, _)| first + n)
    }
    /// How exits name what is kept in a variable.
    pub fn name_of_kept(&self, v: Var) -> u16 {
        KEPT + (v - self.first_captured) as u16
    }
}

impl Types<'_> {
    /// The variable of the element that a unit loads.
    pub fn element_of(&self, id: Id) -> Option<Var> {
        let v = self.graph.first_element() + self.graph.element_units.get(&id)?;
        (!self.is_refuted(id, self.graph.name_of_kept(v))).then_some(v)
    }
    /// Whether an element could be loaded where this holds.
    pub fn could_load(&self, v: Var, s: &State) -> bool {
        self.graph.element(v).is_none_or(|e| {
            let known = match e.index {
                Index::Number(_) => true,
                Index::Var(i) | Index::More(i, _) => s.of(i) == Type::Fixnum,
            };
            known && s.of(e.array).is_array()
        })
    }
    /// What holds after a unit has loaded an element that is kept.
    pub fn loaded_element(&self, v: Var, s: &mut State) -> Type {
        let Some(e) = self.graph.element(v) else { return Type::Any };
        // The register that was looked at has its value from there.
        if let Index::Var(i) = e.index
            && self.graph.kept(i).is_some()
            && s.of(i) == Type::Any
        {
            s.types[i] = Type::Fixnum;
        }
        if s.of(v) != Type::Own {
            s.types[v] = e.wanted;
        }
        s.of(v)
    }
    /// The elements that a store may have changed: it was found to be one in the Array that they are found in.
    pub fn lost_by_store(&self, id: Id, s: &State) -> Vec<Var> {
        self.known_elements(s).filter(|v| self.is_refuted(id, self.graph.name_of_kept(*v))).collect()
    }
    fn known_elements(&self, s: &State) -> impl Iterator<Item = Var> {
        self.graph.all_elements().filter(|v| s.of(*v).is_array())
    }
}

impl Emitter<'_, '_> {
    /// Loads an element whose Array and index are known: nil where there is none.
    pub fn fetch_element(&mut self, v: Var) {
        let Some(e) = self.graph.element(v) else { return };
        let a = self.b.use_var(self.words[e.array]);
        let index = match e.index {
            Index::Number(n) => self.word(Ruby::fixnum(n)),
            Index::Var(i) => self.b.use_var(self.words[i]),
            // Beyond the least or the largest Fixnum there are no elements, and none at the other end.
            Index::More(i, n) => {
                let i = self.b.use_var(self.words[i]);
                self.b.ins().iadd_imm_s(i, n * 2)
            }
        };
        let value = self.element(a, index);
        self.set(v, value);
    }
    /// After a unit has loaded an element that is kept.
    pub fn keep_element(&mut self, id: Id, v: Var, value: Value, s: &mut State) {
        let Some(wanted) = self.graph.element(v).map(|e| e.wanted) else { return };
        let away = self.unlike(id, v, s);
        self.look_at(v, value, wanted, away);
        self.set(v, value);
        s.types[v] = wanted;
    }
    /// The way out of a unit where an element is not what it was taken for, by its name.
    fn unlike(&mut self, id: Id, v: Var, s: &State) -> Block {
        let (away, name) = (self.cold_block(), self.graph.name_of_kept(v));
        self.aside(away, |e| e.leave_from(id, s, Some(name)));
        away
    }
    /// A unit loads an element that is known.
    pub fn use_element(&mut self, id: Id, v: Var, s: &State) {
        let reg = self.graph.units[id].insn.a;
        let value = self.b.use_var(self.words[v]);
        self.write(id, reg, value);
        self.copy_extent(v, self.graph.var(id, reg), s);
    }
    /// Before a store in an Array: it is not the one that an element was found in.
    pub fn ask_elements(&mut self, id: Id, a: Value, s: &State) {
        let mut asked: Vec<Var> = Vec::new();
        let lost = self.types.lost_by_store(id, s);
        let types = self.types;
        for v in types.known_elements(s).filter(|v| !lost.contains(v)) {
            let Some(array) = self.graph.element(v).map(|e| e.array).filter(|array| !asked.contains(array)) else { continue };
            asked.push(array);
            let of = self.b.use_var(self.words[array]);
            let same = self.b.ins().icmp(IntCC::Equal, a, of);
            let away = self.unlike(id, v, s);
            self.branch_away(same, away);
        }
    }
}
