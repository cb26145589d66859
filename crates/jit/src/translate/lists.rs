//! Lists that are taken apart, and ones that are asked without being made.

use super::emit::Emitter;
use super::graph::Id;
use super::types::State;
use crate::layout::vm;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value};
use zakuro_object::Value as Ruby;
use zakuro_vm::interp::quiet;
use zakuro_vm::methods::fast;

impl Emitter<'_, '_> {
    /// `a, b = list` of an Array.
    pub fn expand(&mut self, id: Id, s: &State) {
        let (i, at) = (self.graph.units[id].insn, self.graph.units[id].at);
        let (slow, done) = (self.cold_block(), self.b.create_block());
        let targets = i.a..i.a + i.c;
        for _ in targets.clone() {
            self.b.append_block_param(done, I64);
        }
        let list = self.read(id, i.b, s);
        self.shape_is(list, crate::layout::ARRAY, slow);
        let mut elements: Vec<BlockArg> = Vec::new();
        for k in 0..i.c {
            let index = self.word(Ruby::fixnum(k as i64));
            elements.push(self.element(list, index).into());
        }
        self.b.ins().jump(done, &elements);
        self.b.switch_to_block(slow);
        self.flush(id, s);
        self.step(id, at);
        self.verify_kept(id, s, at + 1, None);
        self.unflush(id, s);
        let elements: Vec<BlockArg> = targets.clone().map(|r| self.load_reg(id, r).into()).collect();
        self.b.ins().jump(done, &elements);
        self.b.switch_to_block(done);
        for (k, r) in targets.enumerate() {
            let v = self.b.block_params(done)[k];
            self.write(id, r, v);
        }
    }
    /// The larger or smaller of two small Integers at once.
    pub fn ask_list(&mut self, id: Id, s: &State) {
        let (scope, i) = (self.graph.units[id].scope, self.graph.units[id].insn);
        let (asks, done) = (self.b.create_block(), self.b.create_block());
        self.b.append_block_param(done, I64);
        let values: Vec<Value> = (i.b..i.b + i.c).map(|r| self.read(id, r, s)).collect();
        if let (0 | 1, &[a, b]) = (i.x, &values[..]) {
            let redefined = self.load_u32(self.cx, vm::REDEFINED);
            let other = self.b.ins().band_imm_s(redefined, fast::LIST as i64);
            self.branch_away(other, asks);
            let both = self.b.ins().band(a, b);
            let small = self.b.ins().band_imm_s(both, 1);
            self.branch_unless(small, asks);
            let order = if i.x == 0 { IntCC::SignedGreaterThan } else { IntCC::SignedLessThan };
            let first = self.b.ins().icmp(order, a, b);
            let v = self.b.ins().select(first, a, b);
            self.b.ins().jump(done, &[v.into()]);
        } else {
            self.b.ins().jump(asks, &[]);
        }
        self.b.switch_to_block(asks);
        for (r, v) in (i.b..).zip(&values) {
            self.store_reg(*v, id, r);
        }
        let (first, what) = (self.reg_address(scope, i.b), self.constant(i.c as i64 | (i.x as i64) << 32));
        let v = self.call_help(quiet::ask_list as *const () as usize, &[self.cx, first, what]);
        self.b.ins().jump(done, &[v.into()]);
        self.b.switch_to_block(done);
        let v = self.b.block_params(done)[0];
        self.write(id, i.a, v);
    }
}
