//! Where things stand: fields of the VM, frames and windows, registers as variables of the IR, Floats boxed and unboxed.

use super::emit::{Copy, Emitter};
use super::graph::{Id, Var};
use super::types::{State, Type};
use crate::layout::{cell, frame, vm};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I32, I64};
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value};
use zakuro_object::Value as Ruby;
use zakuro_vm::interp::machine::help;

impl Emitter<'_, '_> {
    // ---- what stands where ----

    pub fn load(&mut self, base: Value, offset: i32) -> Value {
        self.b.ins().load(I64, MemFlagsData::trusted(), base, offset)
    }
    /// What does not change as long as the state lives.
    pub fn load_fixed(&mut self, base: Value, offset: i32) -> Value {
        self.b.ins().load(I64, MemFlagsData::trusted().with_readonly(), base, offset)
    }
    pub fn load_u32(&mut self, base: Value, offset: i32) -> Value {
        self.b.ins().load(I32, MemFlagsData::trusted(), base, offset)
    }
    pub fn load_u8(&mut self, base: Value, offset: i32) -> Value {
        self.b.ins().uload8(I64, MemFlagsData::trusted(), base, offset)
    }
    pub fn load_u16(&mut self, base: Value, offset: i32) -> Value {
        self.b.ins().uload16(I64, MemFlagsData::trusted(), base, offset)
    }
    pub fn store(&mut self, v: Value, base: Value, offset: i32) {
        self.b.ins().store(MemFlagsData::trusted(), v, base, offset);
    }
    pub fn constant(&mut self, n: i64) -> Value {
        self.b.ins().iconst(I64, n)
    }
    pub fn word(&mut self, v: Ruby) -> Value {
        self.constant(v.bits() as i64)
    }
    /// What the interpreter goes on with, of a scope.
    pub fn insn_address(&self, scope: usize, at: usize) -> i64 {
        let insns = if scope == 0 { self.insns } else { &self.graph.scopes[scope].code.insns };
        insns.as_ptr().wrapping_add(at) as i64
    }
    pub fn wait_address(&self, scope: usize, at: usize) -> i64 {
        self.waits[scope].as_ptr().wrapping_add(at) as i64
    }
    /// A scope's frame, from the root's in bytes.
    pub fn frame_offset(&self, scope: usize) -> i32 {
        (self.graph.scopes[scope].depth as i64 * frame::SIZE) as i32
    }
    pub fn frame_of(&mut self, scope: usize) -> Value {
        match self.frame_offset(scope) {
            0 => self.fp,
            offset => self.b.ins().iadd_imm_s(self.fp, offset as i64),
        }
    }
    /// A register of a scope, from the root's r0 in bytes.
    pub fn reg_offset(&self, scope: usize, reg: u16) -> i32 {
        (self.graph.scopes[scope].window as i32 + reg as i32) * 8
    }
    pub fn reg_address(&mut self, scope: usize, reg: u16) -> Value {
        match self.reg_offset(scope, reg) {
            0 => self.regs,
            offset => self.b.ins().iadd_imm_s(self.regs, offset as i64),
        }
    }
    /// A register of the unit's scope, in memory.
    pub fn load_reg(&mut self, id: Id, reg: u16) -> Value {
        let offset = self.reg_offset(self.graph.units[id].scope, reg);
        self.load(self.regs, offset)
    }
    pub fn store_reg(&mut self, v: Value, id: Id, reg: u16) {
        let offset = self.reg_offset(self.graph.units[id].scope, reg);
        self.store(v, self.regs, offset);
    }
    pub fn state_of(&self, id: Id) -> Value {
        self.states[self.graph.units[id].scope]
    }
    /// The arguments of a handler, for a unit's scope: the VM, this `ip`, registers and state.
    pub fn handler_arguments(&mut self, id: Id, ip: Value) -> [Value; 4] {
        let regs = self.reg_address(self.graph.units[id].scope, 0);
        [self.cx, ip, regs, self.state_of(id)]
    }
    pub fn stand_at(&mut self, scope: usize, address: i64) -> Value {
        let ip = self.constant(address);
        let offset = self.frame_offset(scope);
        self.store(ip, self.fp, offset + frame::IP);
        ip
    }
    /// The unit's frame waits at this instruction.
    pub fn wait_at(&mut self, id: Id, at: usize) -> Value {
        let scope = self.graph.units[id].scope;
        self.stand_at(scope, self.wait_address(scope, at))
    }

    // ---- registers ----

    /// A register as a word; of a double this makes a Float, which may allocate.
    pub fn get(&mut self, v: Var, s: &State) -> Value {
        match s.of(v) {
            Type::Double => {
                let (d, known) = (self.b.use_var(self.doubles[v]), self.b.use_var(self.words[v]));
                if !self.is_cold() {
                    match self.copied_in.get(&v) {
                        Some(copy) => self.copies[*copy].boxed = true,
                        None => self.boxed_vars.add(v),
                    }
                }
                if self.is_float_of(d, known) {
                    return known;
                }
                let word = self.boxed(d, known);
                if !self.is_cold() {
                    self.b.def_var(self.words[v], word);
                    self.note_boxed(d, word);
                }
                word
            }
            _ => self.b.use_var(self.words[v]),
        }
    }
    /// Notes that a word is a Float of a double.
    pub fn note_boxed(&mut self, d: Value, word: Value) {
        let dfg = &self.b.func.dfg;
        self.floats.insert((dfg.resolve_aliases(d), dfg.resolve_aliases(word)));
    }
    fn is_float_of(&self, d: Value, word: Value) -> bool {
        let dfg = &self.b.func.dfg;
        self.floats.contains(&(dfg.resolve_aliases(d), dfg.resolve_aliases(word)))
    }
    pub fn get_double(&mut self, v: Var) -> Value {
        self.b.use_var(self.doubles[v])
    }
    pub fn set(&mut self, v: Var, value: Value) {
        if !self.is_cold() {
            self.copied_in.remove(&v);
        }
        self.b.def_var(self.words[v], value);
    }
    /// A new double: there is no Float of it.
    pub fn set_double(&mut self, v: Var, value: Value) {
        self.b.def_var(self.doubles[v], value);
        let none = self.constant(0);
        self.set(v, none);
    }
    /// The double of the Float that the variable is: a Float of it is that one again.
    pub fn set_unboxed(&mut self, v: Var, value: Value) {
        self.b.def_var(self.doubles[v], value);
    }
    /// A double becomes that of another variable, too: both are one Float, if somebody wants such of both.
    pub fn copy_double(&mut self, to: Var, from: Var, s: &State) {
        if !self.is_cold() {
            let lives_on = self.graph.units[self.current].live_after.has(from) && !self.graph.ends_unasked(self.current, from);
            // What others may look at lives longer than it seems.
            let escapes = self.graph.kept(to).is_some();
            self.copies.push(Copy {
                unit: self.current,
                from,
                to,
                lives_on,
                of: self.copied_in.get(&from).copied(),
                boxed: false,
                escapes,
            });
            if lives_on && self.boxed_before.contains(&(self.current, to)) {
                self.get(from, s);
            }
        }
        let (d, word) = (self.get_double(from), self.b.use_var(self.words[from]));
        self.b.def_var(self.doubles[to], d);
        self.set(to, word);
        if !self.is_cold() {
            self.copied_in.insert(to, self.copies.len() - 1);
        }
    }
    pub fn is_volatile(&self, id: Id, reg: u16) -> bool {
        self.graph.is_volatile(self.graph.units[id].scope, reg)
    }
    /// A register as an instruction reads it.
    pub fn read(&mut self, id: Id, reg: u16, s: &State) -> Value {
        if self.is_volatile(id, reg) {
            return self.load_reg(id, reg);
        }
        self.get(self.graph.var(id, reg), s)
    }
    /// A register as an instruction writes it. What others look at is written at once.
    pub fn write(&mut self, id: Id, reg: u16, value: Value) {
        self.set(self.graph.var(id, reg), value);
        if self.is_volatile(id, reg) || reg == self.graph.scopes[self.graph.units[id].scope].code.env_reg {
            self.store_reg(value, id, reg);
        }
    }

    /// Brings windows and frames up to date for a unit: what is live before it and not there.
    pub fn flush(&mut self, id: Id, s: &State) {
        self.flush_window(id, s);
        self.push_frames(self.graph.units[id].scope, s.pushed);
    }
    /// The same for a call: numbers follow on its ways out. Without `given` what is handed over stays out of the window, too, and the callee's frame is put on top right behind.
    pub fn flush_for_call(&mut self, id: Id, s: &State, given: bool) {
        let late = self.types.late(id, s);
        let u = &self.graph.units[id];
        let scope = &self.graph.scopes[u.scope];
        let window = scope.vars + u.insn.a as usize..scope.vars + scope.code.nregs as usize;
        let dirty = s.dirty.iter().filter(|v| u.live_before.has(*v) && !late.contains(v) && (given || !window.contains(v)));
        self.write_back(dirty.collect(), s);
        if given {
            self.push_frames(self.graph.units[id].scope, s.pushed);
        } else {
            self.write_frames(self.graph.units[id].scope, s.pushed);
        }
        self.late = Some((late, s.clone()));
    }
    /// On a way out of the call at hand.
    pub fn flush_late(&mut self) {
        if let Some((late, s)) = self.late.clone() {
            self.write_back(late, &s);
        }
    }
    pub fn flush_window(&mut self, id: Id, s: &State) {
        let live = &self.graph.units[id].live_before;
        let dirty = s.dirty.iter().filter(|v| live.has(*v)).collect();
        self.write_back(dirty, s);
    }
    pub fn write_back(&mut self, dirty: Vec<Var>, s: &State) {
        for v in dirty {
            let (place, kept) = (self.graph.place(v), self.graph.kept(v));
            if place.is_none() && kept.is_none() {
                continue;
            }
            // Where it is left, the code is better short than fast.
            let cold = self.is_cold();
            let value = if cold && s.of(v) == Type::Double {
                let (d, known) = (self.get_double(v), self.b.use_var(self.words[v]));
                match self.is_float_of(d, known) {
                    true => known,
                    false => self.call_help_double(help::make_float as *const () as usize, self.cx, known, d),
                }
            } else {
                self.get(v, s)
            };
            match (place, kept) {
                (Some(place), _) => self.store(value, self.regs, place as i32 * 8),
                (_, Some(kept)) => self.store_kept(kept, value),
                _ => {}
            }
        }
    }
    /// After a flush on a way that joins one without: the frames that it has written are none again.
    pub fn unflush(&mut self, id: Id, s: &State) {
        if s.pushed < self.graph.scopes[self.graph.units[id].scope].depth {
            let top = self.b.ins().iadd_imm_s(self.fp, s.pushed as i64 * frame::SIZE);
            self.store(top, self.cx, vm::FP);
        }
    }

    // ---- Floats ----

    /// A Float of a double. `known`: that which there is already, if it is no flonum, or something else.
    pub fn boxed(&mut self, d: Value, known: Value) -> Value {
        let bits = self.b.ins().bitcast(I64, MemFlagsData::new(), d);
        // Bits 60 to 62 are 3 or 4: seen in the upper half, without the sign. The least of these go the long way, since the very first is none.
        let high = self.b.ins().ushr_imm_u(bits, 32);
        let high = self.b.ins().ireduce(I32, high);
        let twice = self.b.ins().iadd(high, high);
        let above = self.b.ins().iadd_imm_s(twice, -0x6000_0001);
        let fits = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, above, 0x3fff_ffff);
        let (small, large, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.append_block_param(done, I64);
        self.b.set_cold_block(large);
        if self.is_cold() {
            [small, done].into_iter().for_each(|block| self.b.set_cold_block(block));
        }
        self.b.ins().brif(fits, small, &[], large, &[]);
        self.begin_block(small);
        let turned = self.b.ins().rotl_imm_u(bits, 3);
        let cleared = self.b.ins().band_imm_s(turned, !3);
        let tagged = self.b.ins().bor_imm_s(cleared, 2);
        self.b.ins().jump(done, &[tagged.into()]);
        self.begin_block(large);
        let zero = self.b.ins().icmp_imm_s(IntCC::Equal, bits, 0);
        let made = self.cold_block();
        let nought = self.constant(0x8000_0000_0000_0002u64 as i64);
        self.b.ins().brif(zero, done, &[nought.into()], made, &[]);
        self.begin_block(made);
        let v = self.call_help_double(help::make_float as *const () as usize, self.cx, known, d);
        self.b.ins().jump(done, &[v.into()]);
        self.begin_block(done);
        self.b.block_params(done)[0]
    }
    /// The double of a flonum.
    pub fn unpacked(&mut self, v: Value) -> Value {
        // The lowest two bits are 1 and 0. They have to be 0 and 1, one less, where the third that is turned back with them is set, which is the word's sign.
        let sign = self.b.ins().sshr_imm_u(v, 63);
        let bits = self.b.ins().iadd(v, sign);
        let bits = self.b.ins().rotr_imm_u(bits, 3);
        let zero = self.b.ins().icmp_imm_s(IntCC::Equal, v, 0x8000_0000_0000_0002u64 as i64);
        let none = self.constant(0);
        let bits = self.b.ins().select(zero, none, bits);
        self.b.ins().bitcast(F64, MemFlagsData::new(), bits)
    }
    /// The double of a Float of either kind; anything else goes to `other`.
    pub fn unboxed(&mut self, v: Value, other: Block) -> Value {
        let (flonum, rest, cell_block, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.append_block_param(done, F64);
        self.b.set_cold_block(rest);
        self.b.set_cold_block(cell_block);
        if self.is_cold() {
            [flonum, done].into_iter().for_each(|block| self.b.set_cold_block(block));
        }
        let from_flonum = self.b.ins().iadd_imm_s(v, -2);
        let tag = self.b.ins().band_imm_s(from_flonum, 3);
        self.b.ins().brif(tag, rest, &[], flonum, &[]);
        self.begin_block(rest);
        let is_cell = self.is_cell(v);
        self.b.ins().brif(is_cell, cell_block, &[], other, &[]);
        self.begin_block(cell_block);
        let kind = self.load_u8(v, cell::KIND);
        let is = self.b.ins().icmp_imm_s(IntCC::Equal, kind, zakuro_object::Kind::Float as i64);
        let heap = self.b.create_block();
        self.b.set_cold_block(heap);
        self.b.ins().brif(is, heap, &[], other, &[]);
        self.begin_block(heap);
        let d = self.b.ins().load(F64, MemFlagsData::trusted(), v, cell::FLOAT_VALUE);
        self.b.ins().jump(done, &[d.into()]);
        self.begin_block(flonum);
        let d = self.unpacked(v);
        self.b.ins().jump(done, &[d.into()]);
        self.begin_block(done);
        self.b.block_params(done)[0]
    }
    pub fn is_cell(&mut self, v: Value) -> Value {
        let tag = self.b.ins().band_imm_s(v, 7);
        self.b.ins().icmp_imm_s(IntCC::Equal, tag, 0)
    }
    pub fn is_truthy(&mut self, v: Value) -> Value {
        // nil and false differ in one bit. (Compared with 0, what is left of the others takes no instruction of its own.)
        const NIL: i64 = Ruby::NIL.bits() as i64;
        const OTHERS: i64 = !(NIL ^ Ruby::FALSE.bits() as i64);
        let from_nil = self.b.ins().iadd_imm_s(v, -NIL);
        let rest = self.b.ins().band_imm_s(from_nil, OTHERS);
        self.b.ins().icmp_imm_s(IntCC::NotEqual, rest, 0)
    }
    pub fn boolean(&mut self, condition: Value) -> Value {
        let (yes, no) = (self.word(Ruby::TRUE), self.word(Ruby::FALSE));
        self.b.ins().select(condition, yes, no)
    }
}
