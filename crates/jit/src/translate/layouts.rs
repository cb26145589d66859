//! Instance variables of self: where they stand is looked at once for a stretch of code that runs nothing else.
//!
//! A Code's table ([`zakuro_vm::layouts`]) says where the variables that it names stand in objects of one shape. A scope whose table was compared with its self is *laid out* until something runs that may
//! give objects new variables, or freeze or capture them: a call. What has its variables in a list is looked at anew each time; those of classes are written by a helper, in their places. A slow way that rejoins a fast one looks again. Codes that were seen to add variables, such as `initialize`, go by the caches of their sites, as do accesses that no other follows.

use super::emit::Emitter;
use super::graph::Id;
use super::types::State;
use crate::layout::{cell, ivar, state, vm};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value};
use zakuro_object::{EXT_IVARS, GUARDED, Kind, flags};
use zakuro_vm::interp::machine::help;
use zakuro_vm::interp::quiet;
use zakuro_vm::layouts::UNKNOWN;

impl Emitter<'_, '_> {
    /// Takes the table for a scope's self, whatever it is.
    fn lay_out(&mut self, scope: usize, s: &State) {
        let me = self.get(self.graph.scopes[scope].vars, s);
        if self.is_cold() {
            let (table, slots) = self.find_layout(scope, me);
            self.b.def_var(self.layouts[scope], table);
            return self.b.def_var(self.slots[scope], slots);
        }
        let [fast, slow, found, out, done] = [(); 5].map(|()| self.b.create_block());
        self.b.set_cold_block(slow);
        let [table, slots] = [(); 2].map(|()| self.b.append_block_param(done, I64));
        let is = self.is_cell(me);
        self.b.ins().brif(is, fast, &[], slow, &[]);
        self.b.switch_to_block(fast);
        let own_table = self.load(self.states[scope], state::LAYOUT);
        let (own, of) = (self.load_u32(me, cell::SHAPE), self.load_u32(own_table, 0));
        let same = self.b.ins().icmp(IntCC::Equal, own, of);
        self.b.ins().brif(same, found, &[], slow, &[]);
        self.b.switch_to_block(found);
        let within = self.slots(me);
        let flags = self.load_u8(me, cell::FLAGS);
        let outside = self.b.ins().band_imm_s(flags, EXT_IVARS as i64);
        self.b.ins().brif(outside, out, &[], done, &[own_table.into(), within.into()]);
        self.b.switch_to_block(out);
        let list = self.load(me, cell::SLOTS);
        let first = self.load(list, 0);
        self.b.ins().jump(done, &[own_table.into(), first.into()]);
        self.b.switch_to_block(slow);
        let (its_table, its_slots) = self.find_layout(scope, me);
        self.b.ins().jump(done, &[its_table.into(), its_slots.into()]);
        self.b.switch_to_block(done);
        self.b.def_var(self.layouts[scope], table);
        self.b.def_var(self.slots[scope], slots);
    }
    /// The table for a self, and where its variables begin.
    fn find_layout(&mut self, scope: usize, me: Value) -> (Value, Value) {
        let table = self.call_help(help::layout as *const () as usize, &[self.cx, me, self.states[scope]]);
        (table, self.load(self.cx, vm::SLOTS))
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
        if !self.types.lays_out(id, s) {
            let other = self.cold_block();
            let at = self.slot_by_cache(id, me, other);
            self.at_slot(me, at.outside, at.slot, done, |e, slot, offset| e.load(slot, offset));
            self.b.switch_to_block(other);
            let site = self.constant(self.graph.units[id].insn.c as i64);
            let v = self.call_help(quiet::listed as *const () as usize, &[self.cx, me, self.state_of(id), site]);
            let none = self.b.ins().icmp_imm_s(IntCC::Equal, v, zakuro_object::Value::UNDEF.bits() as i64);
            self.branch_away(none, slow);
            return self.result_or_slow(id, v, (slow, done), s);
        }
        let offset = self.offset_of(id, s);
        let none = self.b.ins().icmp_imm_s(IntCC::Equal, offset, UNKNOWN as i32 as i64);
        self.branch_away(none, slow);
        let at = self.at_offset(id, offset);
        let v = self.load(at, 0);
        self.result_or_slow(id, v, (slow, done), s);
    }
    pub fn set_ivar(&mut self, id: Id, s: &State) {
        let (i, at) = (self.graph.units[id].insn, self.graph.units[id].at);
        let (slow, done) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(slow);
        let value = self.read(id, i.a, s);
        let me = self.read(id, 0, s);
        if !self.types.lays_out(id, s) {
            self.set_by_cache(id, me, value, (slow, done));
        } else {
            let offset = self.offset_of(id, s);
            // Unknown, or one that stands in a list: both are odd.
            let odd = self.cold_block();
            let other = self.b.ins().band_imm_s(offset, 1);
            self.branch_away(other, odd);
            let flags = self.load_u8(me, cell::FLAGS);
            let special = self.b.ins().band_imm_s(flags, GUARDED as i64);
            self.branch_away(special, slow);
            let at = self.at_offset(id, offset);
            self.store(value, at, 0);
            self.b.ins().jump(done, &[]);
            // What is written in its place moves nothing: the table stays good.
            self.b.switch_to_block(odd);
            let helped = self.cold_block();
            self.set_in_list(id, me, offset, value, (slow, helped));
            self.b.ins().jump(done, &[]);
            self.b.switch_to_block(helped);
            let site = self.constant(i.c as i64);
            let is = self.call_help(quiet::set_listed as *const () as usize, &[self.cx, me, value, self.state_of(id), site]);
            self.b.ins().brif(is, done, &[], slow, &[]);
        }
        let mut after = s.clone();
        after.laid_out = self.types.laid_out_after(id, s);
        self.b.switch_to_block(slow);
        self.slow(id, at, &after, done, None);
        self.b.switch_to_block(done);
    }

    /// The same where the variable may stand in a list, as that of a core object does: lists are looked through whole by each collection. `helped`: those of classes, which are told of.
    fn set_in_list(&mut self, id: Id, me: Value, offset: Value, value: Value, (slow, helped): (Block, Block)) {
        let none = self.b.ins().icmp_imm_s(IntCC::Equal, offset, UNKNOWN as i32 as i64);
        self.branch_away(none, slow);
        let kind = self.load_u8(me, cell::KIND);
        let class = self.b.ins().icmp_imm_s(IntCC::Equal, kind, Kind::Class as i64);
        self.branch_away(class, helped);
        let flags = self.load_u8(me, cell::FLAGS);
        let own = self.b.ins().band_imm_s(flags, (flags::HAS_IVARS | flags::FROZEN | flags::CAPTURED | flags::SHARED) as i64);
        let own = self.b.ins().icmp_imm_s(IntCC::Equal, own, flags::HAS_IVARS as i64);
        self.branch_unless(own, slow);
        let at = self.at_offset(id, offset);
        self.store(value, at, 0);
    }

    // ---- by the cache of a site ----

    /// What the site's cache says of a variable of `me`; to `slow` if that is for another shape.
    fn slot_by_cache(&mut self, id: Id, me: Value, slow: Block) -> Cached {
        let is = self.is_cell(me);
        self.branch_unless(is, slow);
        let caches = self.load_fixed(self.state_of(id), state::IVARS);
        let entry = self.graph.units[id].insn.c as i32 * ivar::SIZE;
        let (own, known) = (self.load_u32(me, cell::SHAPE), self.load_u32(caches, entry + ivar::SHAPE));
        let same = self.b.ins().icmp(IntCC::Equal, own, known);
        self.branch_unless(same, slow);
        let number = self.load_u32(caches, entry + ivar::SLOT);
        let wide = self.b.ins().uextend(I64, number);
        let next = self.load_u32(caches, entry + ivar::NEXT);
        let flags = self.load_u8(me, cell::FLAGS);
        let outside = self.b.ins().band_imm_s(flags, EXT_IVARS as i64);
        Cached { slot: wide, number, next, flags, outside }
    }
    fn set_by_cache(&mut self, id: Id, me: Value, value: Value, (slow, done): (Block, Block)) {
        let at = self.slot_by_cache(id, me, slow);
        let special = self.b.ins().band_imm_s(at.flags, GUARDED as i64);
        self.branch_away(special, slow);
        let grows = self.b.create_block();
        self.branch_away(at.next, grows);
        let stored = self.b.create_block();
        self.b.append_block_param(stored, I64);
        let put = |e: &mut Self, slot, offset| {
            e.store(value, slot, offset);
            value
        };
        self.at_slot(me, at.outside, at.slot, stored, put);
        self.b.switch_to_block(stored);
        self.b.ins().jump(done, &[]);
        // A new variable: it fits if there is room in the cell.
        self.b.switch_to_block(grows);
        self.branch_away(at.outside, slow);
        let room = self.b.ins().uload16(I64, MemFlagsData::trusted(), me, cell::AUX);
        let room = self.b.ins().ireduce(I32, room);
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThan, at.number, room);
        self.branch_unless(fits, slow);
        let offset = self.b.ins().ishl_imm_u(at.slot, 3);
        let slot = self.b.ins().iadd(me, offset);
        self.store(value, slot, cell::SLOTS);
        self.b.ins().store(MemFlagsData::trusted(), at.next, me, cell::SHAPE);
        self.b.ins().jump(done, &[]);
    }
}

/// What the cache of a site says of an object.
struct Cached {
    slot: Value,
    /// The same, narrow.
    number: Value,
    next: Value,
    flags: Value,
    outside: Value,
}
