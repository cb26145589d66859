//! Instance variables of self: where they stand is looked at once for a stretch of code that runs nothing else.
//!
//! A Code's table ([`zakuro_vm::layouts`]) says where the variables that it names stand in objects of one shape. A scope whose table was compared with its self is *laid out* until something runs that may
//! give objects new variables, or freeze or capture them: a call. A slow way that rejoins a fast one looks again. Codes that were seen to add variables, such as `initialize`, go by the caches of their sites.

use super::emit::Emitter;
use super::graph::Id;
use super::types::State;
use crate::layout::{cell, ivar, state};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value};
use zakuro_object::{EXT_IVARS, GUARDED, Value as Ruby};
use zakuro_vm::interp::machine::help;
use zakuro_vm::layouts::{MISSING, UNKNOWN};

impl Emitter<'_, '_> {
    /// Takes the table for a scope's self, whatever it is.
    fn lay_out(&mut self, scope: usize, s: &State) {
        let (fast, slow, found, out, done) =
            (self.b.create_block(), self.b.create_block(), self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(slow);
        self.b.append_block_param(found, I64);
        self.b.append_block_param(done, I64);
        let me = self.get(self.graph.scopes[scope].vars, s);
        let is = self.is_cell(me);
        self.b.ins().brif(is, fast, &[], slow, &[]);
        self.b.switch_to_block(fast);
        let table = self.load(self.states[scope], state::LAYOUT);
        let (own, of) = (self.load_u32(me, cell::SHAPE), self.load_u32(table, 0));
        let same = self.b.ins().icmp(IntCC::Equal, own, of);
        self.b.ins().brif(same, found, &[table.into()], slow, &[]);
        self.b.switch_to_block(slow);
        let table = self.call_help(help::layout as *const () as usize, &[self.cx, me, self.states[scope]]);
        // Of what is no object nothing is known.
        let some = self.load_u32(table, 0);
        let none = self.constant(0);
        self.b.def_var(self.layouts[scope], table);
        self.b.ins().brif(some, found, &[table.into()], done, &[none.into()]);
        self.b.switch_to_block(found);
        let table = self.b.block_params(found)[0];
        self.b.def_var(self.layouts[scope], table);
        let slots = self.slots(me);
        let flags = self.load_u8(me, cell::FLAGS);
        let outside = self.b.ins().band_imm_s(flags, EXT_IVARS as i64);
        self.b.ins().brif(outside, out, &[], done, &[slots.into()]);
        self.b.switch_to_block(out);
        let list = self.load(me, cell::SLOTS);
        let slots = self.load(list, 0);
        self.b.ins().jump(done, &[slots.into()]);
        self.b.switch_to_block(done);
        let slots = self.b.block_params(done)[0];
        self.b.def_var(self.slots[scope], slots);
    }
    /// The same for these scopes.
    pub fn lay_out_all(&mut self, scopes: u64, s: &State) {
        for scope in (0..self.graph.scopes.len().min(64)).filter(|k| scopes >> k & 1 == 1) {
            self.lay_out(scope, s);
        }
    }
    /// The offset of a unit's variable among those of self, which is laid out from then on.
    fn offset_of(&mut self, id: Id, s: &State) -> Value {
        let u = &self.graph.units[id];
        if !s.is_laid_out(u.scope) {
            self.lay_out(u.scope, s);
        }
        let table = self.b.use_var(self.layouts[u.scope]);
        self.load_u32(table, (1 + u.insn.c as i32) * 4)
    }
    /// Where it stands.
    fn at_offset(&mut self, id: Id, offset: Value) -> Value {
        let slots = self.b.use_var(self.slots[self.graph.units[id].scope]);
        let offset = self.b.ins().uextend(I64, offset);
        self.b.ins().iadd(slots, offset)
    }

    pub fn get_ivar(&mut self, id: Id, s: &State) {
        let (slow, done) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(slow);
        self.b.append_block_param(done, I64);
        let me = self.read(id, 0, s);
        if self.graph.layout_bit(self.graph.units[id].scope) == 0 {
            let at = self.slot_by_cache(id, me, slow);
            let v = self.load(at.slot, 0);
            return self.result_or_slow(id, v, (slow, done), s);
        }
        let offset = self.offset_of(id, s);
        let (found, nowhere) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(nowhere);
        let none = self.b.ins().icmp_imm_s(IntCC::UnsignedGreaterThanOrEqual, offset, MISSING as i32 as i64);
        self.b.ins().brif(none, nowhere, &[], found, &[]);
        self.b.switch_to_block(nowhere);
        let nil = self.word(Ruby::NIL);
        let missing = self.b.ins().icmp_imm_s(IntCC::NotEqual, offset, UNKNOWN as i32 as i64);
        self.b.ins().brif(missing, done, &[nil.into()], slow, &[]);
        self.b.switch_to_block(found);
        let at = self.at_offset(id, offset);
        let v = self.load(at, 0);
        self.result_or_slow(id, v, (slow, done), s);
    }
    pub fn set_ivar(&mut self, id: Id, s: &State) {
        let (i, at, scope) = (self.graph.units[id].insn, self.graph.units[id].at, self.graph.units[id].scope);
        let (slow, done) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(slow);
        let value = self.read(id, i.a, s);
        let me = self.read(id, 0, s);
        if self.graph.layout_bit(scope) == 0 {
            self.set_by_cache(id, me, value, (slow, done));
        } else {
            let offset = self.offset_of(id, s);
            let none = self.b.ins().icmp_imm_s(IntCC::UnsignedGreaterThanOrEqual, offset, MISSING as i32 as i64);
            self.branch_away(none, slow);
            let flags = self.load_u8(me, cell::FLAGS);
            let special = self.b.ins().band_imm_s(flags, GUARDED as i64);
            self.branch_away(special, slow);
            let at = self.at_offset(id, offset);
            self.store(value, at, 0);
            self.b.ins().jump(done, &[]);
        }
        let mut after = s.clone();
        after.laid_out = self.types.laid_out_after(id, s);
        self.b.switch_to_block(slow);
        self.slow(id, at, &after, done, None);
        self.b.switch_to_block(done);
    }

    // ---- by the cache of a site ----

    /// Where a variable of `me` stands, by the site's cache; to `slow` if that is for another shape.
    fn slot_by_cache(&mut self, id: Id, me: Value, slow: Block) -> Cached {
        let is = self.is_cell(me);
        self.branch_unless(is, slow);
        let caches = self.load_fixed(self.state_of(id), state::IVARS);
        let entry = self.graph.units[id].insn.c as i32 * ivar::SIZE;
        let (own, known) = (self.load_u32(me, cell::SHAPE), self.load_u32(caches, entry + ivar::SHAPE));
        let same = self.b.ins().icmp(IntCC::Equal, own, known);
        self.branch_unless(same, slow);
        let number = self.load_u32(caches, entry + ivar::SLOT);
        let next = self.load_u32(caches, entry + ivar::NEXT);
        let flags = self.load_u8(me, cell::FLAGS);
        let outside = self.b.ins().band_imm_s(flags, EXT_IVARS as i64);
        let slot = self.slot_in_or_out(me, outside, number);
        Cached { slot, number, next, flags, outside }
    }
    fn set_by_cache(&mut self, id: Id, me: Value, value: Value, (slow, done): (Block, Block)) {
        let at = self.slot_by_cache(id, me, slow);
        let special = self.b.ins().band_imm_s(at.flags, GUARDED as i64);
        self.branch_away(special, slow);
        let grows = self.b.create_block();
        self.branch_away(at.next, grows);
        self.store(value, at.slot, 0);
        self.b.ins().jump(done, &[]);
        // A new variable: it fits if there is room in the cell.
        self.b.switch_to_block(grows);
        self.branch_away(at.outside, slow);
        let room = self.b.ins().uload16(I64, MemFlagsData::trusted(), me, cell::AUX);
        let room = self.b.ins().ireduce(I32, room);
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThan, at.number, room);
        self.branch_unless(fits, slow);
        self.store(value, at.slot, 0);
        self.b.ins().store(MemFlagsData::trusted(), at.next, me, cell::SHAPE);
        self.b.ins().jump(done, &[]);
    }
}

/// What the cache of a site says of an object.
struct Cached {
    slot: Value,
    number: Value,
    next: Value,
    flags: Value,
    outside: Value,
}
