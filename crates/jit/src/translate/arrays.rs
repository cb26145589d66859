//! Elements of Arrays, and what is known of one that was looked at.
//!
//! Where the types say that a variable is such an Array ([`Type::Array`], [`Type::Own`]), the address of its first element and its length stand in variables of the IR beside it, until something may disturb
//! it ([`super::calm`]). Each access names the Array itself on its slow way: so it is reachable from a register as long as its elements are asked for.

use super::emit::Emitter;
use super::graph::{Id, Var};
use super::types::{REGISTER, State, Type};
use crate::layout::{self, cell};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use cranelift_frontend::Variable;
use zakuro_bytecode::Op;
use zakuro_heap::SharedBuf;
use zakuro_object::{GUARDED, Value as Ruby};
use zakuro_vm::interp::machine::help;

/// Where an Array that was looked at has its elements, and their number as a Fixnum.
#[derive(Clone, Copy)]
pub struct Extent {
    begin: Variable,
    length: Variable,
}

impl Emitter<'_, '_> {
    // ---- what is known ----

    fn extent(&mut self, v: Var) -> Extent {
        if let Some(e) = self.extents.get(&v) {
            return *e;
        }
        let e = Extent { begin: self.b.declare_var(I64), length: self.b.declare_var(I64) };
        self.extents.insert(v, e);
        e
    }
    /// One variable becomes another: what is known of an Array is known of it, too.
    pub fn copy_extent(&mut self, from: Var, to: Var, s: &State) {
        if s.of(from).is_array() {
            let (from, to) = (self.extent(from), self.extent(to));
            let (begin, length) = (self.b.use_var(from.begin), self.b.use_var(from.length));
            self.b.def_var(to.begin, begin);
            self.b.def_var(to.length, length);
        }
    }
    /// Where an Array has its first element, in its cell or outside, and how many.
    fn place_of(&mut self, a: Value) -> (Value, Value) {
        let inline = self.load_u8(a, cell::ARRAY_INLINE_LENGTH);
        let out = self.b.ins().icmp_imm_s(IntCC::Equal, inline, cell::ARRAY_OUT);
        let (far, length) = (self.load(a, cell::ARRAY_POINTER), self.load(a, cell::ARRAY_LENGTH));
        let near = self.b.ins().iadd_imm_s(a, cell::ARRAY_INLINE as i64);
        let begin = self.b.ins().select(out, far, near);
        let length = self.b.ins().select(out, length, inline);
        (begin, length)
    }
    /// Takes where an Array has its elements.
    fn take_extent(&mut self, v: Var, a: Value) {
        let e = self.extent(v);
        let (begin, length) = self.place_of(a);
        let length = self.tagged(length);
        self.b.def_var(e.begin, begin);
        self.b.def_var(e.length, length);
    }
    /// Looks at what has to be an Array, one that may be changed if `wanted` says so; to `away` if it is none.
    pub fn look_at(&mut self, v: Var, a: Value, wanted: Type, away: Block) {
        self.shape_is(a, layout::ARRAY, away);
        if wanted == Type::Own {
            self.may_change(a, away);
            let (out, own) = (self.next_block(), self.next_block());
            let inline = self.load_u8(a, cell::ARRAY_INLINE_LENGTH);
            let is_out = self.b.ins().icmp_imm_s(IntCC::Equal, inline, cell::ARRAY_OUT);
            self.b.ins().brif(is_out, out, &[], own, &[]);
            self.b.switch_to_block(out);
            let alone = self.has_own_buffer(a);
            self.b.ins().brif(alone, own, &[], away, &[]);
            self.b.switch_to_block(own);
        }
        self.take_extent(v, a);
    }
    /// Takes anew where all Arrays that are known have their elements, after one was changed.
    fn take_extents(&mut self, s: &State) {
        for v in (0..self.graph.vars).filter(|v| s.of(*v).is_array()) {
            let a = self.b.use_var(self.words[v]);
            self.take_extent(v, a);
        }
    }
    /// Whether something is known of an Array that a slow way could change.
    pub fn knows_arrays(&self, s: &State) -> bool {
        s.types.iter().any(|t| t.is_array())
    }
    /// How an exit names a variable that is not what is wanted where a loop begins.
    pub fn spot(&self, id: Id, v: Var) -> u16 {
        match self.graph.is_kept(v) {
            true => self.graph.name_of_kept(v),
            false => REGISTER + (v - self.graph.scopes[self.graph.units[id].scope].vars) as u16,
        }
    }
    /// Makes a variable's word, of which nothing is known, what is wanted of it; to `away` if it is something else.
    pub fn make(&mut self, v: Var, value: Value, wanted: Type, away: Block) {
        match wanted {
            Type::Double => {
                let d = self.unboxed(value, away);
                self.set_unboxed(v, d);
                self.note_boxed(d, value);
            }
            Type::Fixnum => {
                let bit = self.b.ins().band_imm_s(value, 1);
                self.branch_unless(bit, away);
            }
            Type::Array | Type::Own => self.look_at(v, value, wanted, away),
            Type::Any | Type::Unset => {}
        }
    }

    // ---- elements ----

    /// The element of an Array at an index that is a Fixnum.
    pub fn element(&mut self, a: Value, index: Value) -> Value {
        let n = self.b.ins().sshr_imm_u(index, 1);
        let (outside, done) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(outside);
        self.b.append_block_param(done, I64);
        let at = self.element_address(a, (index, n), outside, |_| ());
        let v = self.load(at, 0);
        self.b.ins().jump(done, &[v.into()]);
        self.element_outside(a, n, (outside, done));
        self.b.switch_to_block(done);
        self.b.block_params(done)[0]
    }
    /// Counted from the end, or none.
    fn element_outside(&mut self, a: Value, n: Value, (outside, done): (Block, Block)) {
        self.b.switch_to_block(outside);
        let (start, length) = self.place_of(a);
        let below = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, n, 0);
        let from_end = self.b.ins().iadd(n, length);
        let n = self.b.ins().select(below, from_end, n);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, n, length);
        let (within, nil) = (self.b.create_block(), self.word(Ruby::NIL));
        self.b.set_cold_block(within);
        self.b.ins().brif(inside, within, &[], done, &[nil.into()]);
        self.b.switch_to_block(within);
        let offset = self.b.ins().ishl_imm_u(n, 3);
        let at = self.b.ins().iadd(start, offset);
        let v = self.load(at, 0);
        self.b.ins().jump(done, &[v.into()]);
    }
    /// Where an Array has the element at an index, a Fixnum and the number that it is; to `other` if there is none. `look` asks more of one whose elements lie outside of its cell.
    fn element_address(&mut self, a: Value, (index, n): (Value, Value), other: Block, look: impl FnOnce(&mut Self)) -> Value {
        let (out, near, at) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.append_block_param(at, I64);
        let inline = self.load_u8(a, cell::ARRAY_INLINE_LENGTH);
        let is_out = self.b.ins().icmp_imm_s(IntCC::Equal, inline, cell::ARRAY_OUT);
        self.b.ins().brif(is_out, out, &[], near, &[]);
        self.b.switch_to_block(near);
        let within = self.b.ins().icmp(IntCC::UnsignedLessThan, n, inline);
        self.branch_unless(within, other);
        let start = self.b.ins().iadd_imm_s(a, cell::ARRAY_INLINE as i64);
        self.b.ins().jump(at, &[start.into()]);
        self.b.switch_to_block(out);
        let length = self.load(a, cell::ARRAY_LENGTH);
        let within = self.b.ins().icmp(IntCC::UnsignedLessThan, n, length);
        self.branch_unless(within, other);
        look(self);
        let start = self.load(a, cell::ARRAY_POINTER);
        self.b.ins().jump(at, &[start.into()]);
        self.b.switch_to_block(at);
        let start = self.b.block_params(at)[0];
        self.address_of(start, index)
    }
    /// A Fixnum is twice its number and one: so the processor adds it by itself.
    fn address_of(&mut self, begin: Value, index: Value) -> Value {
        let offset = self.b.ins().ishl_imm_u(index, 2);
        let behind = self.b.ins().iadd(begin, offset);
        self.b.ins().iadd_imm_s(behind, -4)
    }
    /// The same of an Array that is known.
    fn known_address(&mut self, v: Var, index: Value, other: Block) -> Value {
        let e = self.extent(v);
        let (begin, length) = (self.b.use_var(e.begin), self.b.use_var(e.length));
        // A negative one is a large one; what both have beside their numbers is the same.
        let within = self.b.ins().icmp(IntCC::UnsignedLessThan, index, length);
        self.branch_unless(within, other);
        self.address_of(begin, index)
    }
    pub fn array_get(&mut self, id: Id, s: &mut State) {
        let (x, y) = self.types.operands(id);
        let Some(y) = y else { return };
        let exit = self.exit_of(id, s);
        let index = self.fixnum(id, y, s);
        let a = self.get(x, s);
        let (known, kept) = (self.types.known_array(id, s), self.types.element_of(id));
        let v = if known.is_array() {
            if !s.of(x).is_array() {
                self.look_at(x, a, known, exit);
            }
            if let Some(v) = kept.filter(|v| s.of(*v).is_array()) {
                return self.use_element(id, v, s);
            }
            let (outside, done) = (self.cold_block(), self.b.create_block());
            self.b.append_block_param(done, I64);
            let at = self.known_address(x, index, outside);
            let v = self.load(at, 0);
            self.b.ins().jump(done, &[v.into()]);
            let n = self.number_in(index, outside);
            self.element_outside(a, n, (outside, done));
            self.b.switch_to_block(done);
            self.b.block_params(done)[0]
        } else {
            self.shape_is(a, layout::ARRAY, exit);
            self.element(a, index)
        };
        if let Some(kept) = kept {
            self.keep_element(id, kept, v, s);
            return self.use_element(id, kept, s);
        }
        self.write(id, self.graph.units[id].insn.a, v);
    }
    /// A Fixnum's number, computed in a block.
    fn number_in(&mut self, index: Value, block: Block) -> Value {
        self.b.switch_to_block(block);
        self.b.ins().sshr_imm_u(index, 1)
    }
    pub fn array_set(&mut self, id: Id, s: &mut State) {
        let (x, y) = self.types.operands(id);
        let Some(y) = y else { return };
        let exit = self.exit_of(id, s);
        let index = self.fixnum(id, y, s);
        let a = self.get(x, s);
        let from = self.graph.var(id, self.graph.units[id].insn.c);
        let value = self.get(from, s);
        let known = self.types.known_array(id, s);
        self.ask_elements(id, a, s);
        let (other, done) = (self.cold_block(), self.b.create_block());
        let mut after = s.clone();
        if known.is_array() {
            if s.of(x) != Type::Own {
                self.look_at(x, a, Type::Own, exit);
                after.types[x] = Type::Own;
            }
            if s.of(from) != Type::Fixnum && !self.is_literal_word(value) {
                self.unless_told(a, value, other);
            }
            let at = self.known_address(x, index, other);
            self.store(value, at, 0);
        } else {
            self.shape_is(a, layout::ARRAY, exit);
            self.may_change(a, exit);
            let n = self.b.ins().sshr_imm_u(index, 1);
            self.store_element(a, (index, n), value, other);
        }
        self.b.ins().jump(done, &[]);
        let n = self.number_in(index, other);
        let v = self.call_help(help::array_set as *const () as usize, &[self.cx, a, n, value]);
        self.fail_if_refused(v, id, s);
        let refused = self.b.ins().icmp_imm_s(IntCC::Equal, v, Ruby::FALSE.bits() as i64);
        self.branch_away(refused, exit);
        self.take_extents(&after);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }
    /// Whether a word is written in the program, and no cell.
    fn is_literal_word(&self, v: Value) -> bool {
        let dfg = &self.b.func.dfg;
        let made = dfg.value_def(dfg.resolve_aliases(v)).inst();
        let number = made.and_then(|i| match dfg.insts[i] {
            cranelift_codegen::ir::InstructionData::UnaryImm { imm, .. } => Some(imm.bits()),
            _ => None,
        });
        number.is_some_and(|n| n & 7 != 0)
    }
    /// To `other` if the collector has to be told that an Array refers to a value: an old one to a cell.
    fn unless_told(&mut self, a: Value, value: Value, other: Block) {
        let flags = self.load_u8(a, cell::FLAGS);
        let old = self.b.ins().band_imm_s(flags, zakuro_object::flags::OLD as i64);
        let old = self.b.ins().icmp_imm_s(IntCC::NotEqual, old, 0);
        let refers = self.is_cell(value);
        let told = self.b.ins().band(old, refers);
        self.branch_away(told, other);
    }
    fn has_own_buffer(&mut self, a: Value) -> Value {
        let buffer = self.load(a, cell::ARRAY_BUFFER);
        let holders = self.load(buffer, SharedBuf::HOLDERS as i32);
        let holders = self.b.ins().band_imm_s(holders, !SharedBuf::NO_HOLDER as i64);
        self.b.ins().icmp_imm_s(IntCC::Equal, holders, 1)
    }
    /// Stores in an Array that may be changed, at an index that exists, in a buffer of its own; else to `other`. An old Array gets no reference so.
    pub fn store_element(&mut self, a: Value, at: (Value, Value), value: Value, other: Block) {
        self.unless_told(a, value, other);
        let at = self.element_address(a, at, other, |e| {
            let own = e.has_own_buffer(a);
            e.branch_unless(own, other);
        });
        self.store(value, at, 0);
    }
    pub fn array_push(&mut self, id: Id, s: &mut State) {
        let (x, y) = self.types.operands(id);
        let Some(y) = y else { return };
        let exit = self.exit_of(id, s);
        let (a, value) = (self.get(x, s), self.get(y, s));
        self.shape_is(a, layout::ARRAY, exit);
        self.may_change(a, exit);
        let v = self.call_help(help::array_push as *const () as usize, &[self.cx, a, value]);
        self.fail_if_refused(v, id, s);
        self.write(id, self.graph.units[id].insn.a, v);
    }
    /// `length` and `empty?` of an Array.
    pub fn extent_of_array(&mut self, id: Id, s: &mut State) {
        let (x, _) = self.types.operands(id);
        let a = self.get(x, s);
        let known = self.types.known_array(id, s);
        let n = if known.is_array() {
            if !s.of(x).is_array() {
                let exit = self.exit_of(id, s);
                self.look_at(x, a, known, exit);
            }
            let e = self.extent(x);
            self.b.use_var(e.length)
        } else {
            let exit = self.exit_of(id, s);
            self.shape_is(a, layout::ARRAY, exit);
            let n = self.array_length(a);
            self.tagged(n)
        };
        let i = self.graph.units[id].insn;
        if self.graph.units[id].op == Op::Len {
            return self.write(id, i.a, n);
        }
        let none = self.b.ins().icmp_imm_s(IntCC::Equal, n, Ruby::fixnum(0).bits() as i64);
        let v = self.boolean(none);
        self.write(id, i.a, v);
        self.condition = Some((self.graph.var(id, i.a), none));
    }
    /// Loads an Array of an environment that a loop asks for elements: it is looked at here.
    pub fn look_at_kept(&mut self, id: Id, k: Var, s: &mut State) {
        let Some(wanted) = self.types.looked_at(id, s) else { return };
        let exit = self.exit_of(id, s);
        if s.of(k) == Type::Unset {
            self.fetch_kept(k);
        }
        let a = self.get(k, s);
        self.look_at(k, a, wanted, exit);
        s.types[k] = wanted;
    }
    /// An Array or Hash that helpers are to change: they tell the collector of old ones.
    pub fn may_change(&mut self, v: Value, away: Block) {
        let flags = self.load_u8(v, cell::FLAGS);
        let guarded = self.b.ins().band_imm_s(flags, (GUARDED & !zakuro_object::flags::OLD) as i64);
        self.branch_away(guarded, away);
    }
}
