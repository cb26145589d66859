//! Variables that inlined blocks write, as long as nobody looks at the environments where they belong.
//!
//! Which environment an instruction means is known: that of an activation within the function, or one so many above the root's. A variable is loaded when it is first read. What the activation whose
//! environment it is writes goes there at once; what an inlined block writes follows where other code could look: before calls and whatever else runs Ruby code, on ways out, when a builtin's loop is interrupted, and at the end of the activation whose environment it is. After a call
//! it is loaded anew. A slow way that rejoins a fast one looks whether the variable is still what it was, and is left for the interpreter if not.

use super::emit::Emitter;
use super::graph::{Captured, Id, Var};
use super::types::{State, Type};
use crate::layout::cell;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use zakuro_bytecode::Op;
use zakuro_vm::interp::machine::help;

impl Emitter<'_, '_> {
    /// The environment that a variable belongs to.
    fn environment_of(&mut self, c: Captured) -> Value {
        let reg = self.graph.env_of(c.owner).unwrap_or_default();
        let mut e = self.b.use_var(self.words[reg]);
        for _ in 0..c.up {
            e = self.load_fixed(e, cell::ENV_PARENT);
        }
        e
    }
    fn load_kept(&mut self, c: Captured) -> Value {
        let e = self.environment_of(c);
        self.load(e, cell::ENV_SLOTS + c.slot as i32 * 8)
    }
    /// Loads a variable that is in no register.
    pub fn fetch_kept(&mut self, v: Var) {
        if let Some(c) = self.graph.kept(v) {
            let value = self.load_kept(c);
            self.set(v, value);
        } else {
            self.fetch_element(v);
        }
    }
    /// Writes a variable back.
    pub fn store_kept(&mut self, c: Captured, value: Value) {
        let e = self.environment_of(c);
        self.store_in_environment(e, c.slot, value);
    }
    pub fn store_in_environment(&mut self, e: Value, number: u16, v: Value) {
        let slot = self.constant(number as i64);
        // Where it is left, the code is better short than fast.
        if self.is_cold() {
            self.call_help(help::set_old_env as *const () as usize, &[e, slot, v]);
            return;
        }
        let flags = self.load_u8(e, cell::FLAGS);
        let old = self.b.ins().band_imm_s(flags, zakuro_object::flags::OLD as i64);
        let (young, aged, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(aged);
        self.b.ins().brif(old, aged, &[], young, &[]);
        self.b.switch_to_block(aged);
        self.call_help(help::set_old_env as *const () as usize, &[e, slot, v]);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(young);
        self.store(v, e, cell::ENV_SLOTS + number as i32 * 8);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    pub fn environment(&mut self, id: Id, s: &mut State) {
        let i = self.graph.units[id].insn;
        let gets = self.graph.units[id].op == Op::GetEnv;
        let Some(k) = self.graph.kept_at(id) else {
            let mut e = self.read(id, i.c, s);
            for _ in 0..i.x {
                e = self.load_fixed(e, cell::ENV_PARENT);
            }
            if gets {
                let v = self.load(e, cell::ENV_SLOTS + i.b as i32 * 8);
                return self.write(id, i.a, v);
            }
            let v = self.read(id, i.a, s);
            return self.store_in_environment(e, i.b, v);
        };
        let reg = self.graph.var(id, i.a);
        let volatile = self.is_volatile(id, i.a);
        if gets {
            self.look_at_kept(id, k, s);
        }
        match (gets, s.of(k)) {
            (true, Type::Double) if !volatile => {
                self.copy_double(reg, k, s);
            }
            (true, t) => {
                if t == Type::Unset {
                    self.fetch_kept(k);
                }
                let v = if t == Type::Double { self.get(k, s) } else { self.b.use_var(self.words[k]) };
                self.write(id, i.a, v);
                self.copy_extent(k, reg, s);
            }
            (false, _) => {
                if self.graph.is_written_at_once(id, k) {
                    let (e, v) = (self.read(id, i.c, s), self.read(id, i.a, s));
                    let e = (0..i.x).fold(e, |e, _| self.load_fixed(e, cell::ENV_PARENT));
                    self.store_in_environment(e, i.b, v);
                }
                if s.of(reg) == Type::Double && !volatile {
                    self.copy_double(k, reg, s);
                } else {
                    let v = self.read(id, i.a, s);
                    self.set(k, v);
                    self.copy_extent(reg, k, s);
                }
            }
        }
    }

    /// Writes back what has changed of these.
    pub fn write_kept(&mut self, of: &[Var], s: &State) {
        let dirty = of.iter().copied().filter(|v| s.dirty.has(*v)).collect();
        self.write_back(dirty, s);
    }
    /// After Ruby code ran on a way that joins one without, before which all was written back: the interpreter goes on at `next` if it has changed one.
    /// `result`: what is still to be left in the window.
    pub fn verify_kept(&mut self, id: Id, s: &State, next: usize, result: Option<(u16, Value)>) {
        self.lay_out_all(s.laid_out & self.graph.units[id].layouts_after, s);
        let held: Vec<Var> = self.graph.all_kept().filter(|v| s.of(*v) != Type::Unset).collect();
        if held.is_empty() {
            return;
        }
        let away = self.b.create_block();
        self.b.set_cold_block(away);
        for v in held {
            let Some(c) = self.graph.kept(v) else { continue };
            let now = self.load_kept(c);
            let then = match s.of(v) {
                Type::Double => {
                    let (d, known) = (self.get_double(v), self.b.use_var(self.words[v]));
                    self.call_help_double(help::make_float as *const () as usize, self.cx, known, d)
                }
                _ => self.get(v, s),
            };
            let same = self.b.ins().icmp(IntCC::Equal, now, then);
            self.branch_unless(same, away);
        }
        self.leave_aside(away, id, next, result);
    }
    /// After a round of a builtin's loop was interrupted: what `wanted` has in registers is loaded, and the builtin does the rest if that is of another kind now.
    pub fn fetch_for_round(&mut self, l: usize, wanted: &State) {
        let held: Vec<Var> = self.graph.all_kept().filter(|v| wanted.of(*v) != Type::Unset).collect();
        let elements = self.graph.all_elements();
        held.iter().filter(|v| !elements.contains(v)).for_each(|v| self.fetch_kept(*v));
        // Numbers in other variables are what they were.
        let is_kept = |v: &Var| held.contains(v);
        let made: Vec<Var> = (0..self.graph.vars)
            .filter(|v| wanted.of(*v).is_array() || is_kept(v) && matches!(wanted.of(*v), Type::Fixnum | Type::Double))
            .collect();
        if made.is_empty() {
            return;
        }
        let away = self.rest_of_loop(l);
        for v in made {
            // What it is found in has been looked at then.
            if elements.contains(&v) {
                self.fetch_kept(v);
            }
            let value = self.b.use_var(self.words[v]);
            self.make(v, value, wanted.of(v), away);
        }
    }
}
