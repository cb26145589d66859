//! Cells that machine code takes from the heap's open runs itself, as [`zakuro_heap::Heap::alloc`] does: one addition and one comparison. Where a run ends, the helper is called that makes such a cell.

use super::calls::At;
use super::emit::Emitter;
use super::graph::Id;
use super::types::State;
use crate::layout::{self, cell, site, vm};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use zakuro_bytecode::Op;
use zakuro_heap::{Header, RunLayout};
use zakuro_object::{Kind, Value as Ruby, array_layout, ids, string};
use zakuro_vm::interp::quiet;

/// Most elements of a literal Array that is made here.
const MOST_STORED: usize = 8;

impl Emitter<'_, '_> {
    /// A cell of that many bytes; goes to `none` if the run is used up. Its header must be written before anything else is called.
    fn take_cell(&mut self, size: usize, none: Block) -> Value {
        let run = RunLayout::of(size);
        let (next, end) = (vm::HEAP + run.next as i32, vm::HEAP + run.end as i32);
        let (at, end) = (self.load(self.cx, next), self.load(self.cx, end));
        let over = self.b.ins().icmp(IntCC::Equal, at, end);
        self.branch_away(over, none);
        let behind = self.b.ins().iadd_imm_s(at, run.cell as i64);
        self.store(behind, self.cx, next);
        at
    }
    fn put_header(&mut self, at: Value, shape: i64, kind: Kind, aux: u16) {
        let word = Header { shape: shape as u32, kind: kind as u8, flags: 0, aux }.word();
        let word = self.constant(word as i64);
        self.store(word, at, cell::SHAPE);
    }
    fn put_all(&mut self, v: Value, at: Value, from: i32, n: usize) {
        for k in 0..n as i32 {
            self.store(v, at, from + k * 8);
        }
    }
    /// What `fast` makes, which goes to the block that it is given if it can't, or `slow` then.
    fn made(&mut self, fast: impl FnOnce(&mut Self, Block) -> Value, slow: impl FnOnce(&mut Self) -> Value) -> Value {
        // Where machine code is left it is better short than fast.
        if self.is_cold() {
            return slow(self);
        }
        let (other, done) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(other);
        self.b.append_block_param(done, I64);
        let v = fast(self, other);
        self.b.ins().jump(done, &[v.into()]);
        self.b.switch_to_block(other);
        let v = slow(self);
        self.b.ins().jump(done, &[v.into()]);
        self.b.switch_to_block(done);
        self.b.block_params(done)[0]
    }

    /// A new object, of the class that the entry of a call of `new` names, with so many slots. `of_class` makes it by the helper.
    pub fn new_object(&mut self, of: At, slots: u16, of_class: impl FnOnce(&mut Self, Value) -> Value) -> Value {
        let entry = self.expect_made(slots);
        self.made(
            |e, none| {
                let known = e.shape_of_site(entry);
                e.branch_unless(known, none);
                let at = e.take_cell(8 + 8 * slots as usize, none);
                let header = e.of_site(entry, site::TARGET);
                e.store(header, at, cell::SHAPE);
                let empty = e.word(Ruby::UNDEF);
                e.put_all(empty, at, cell::SLOTS, slots as usize);
                at
            },
            |e| {
                let class = e.extra_of_site(of);
                of_class(e, class)
            },
        )
    }
    /// What takes a cell and does nothing else.
    pub fn new_cell(&mut self, id: Id, s: &State) {
        let i = self.graph.units[id].insn;
        let v = match self.graph.units[id].op {
            Op::NewStr => self.new_string(id, s),
            Op::NewArray => self.new_array(id, s),
            _ => self.new_environment(id, s),
        };
        self.write(id, i.a, v);
    }
    /// A String of a literal. One whose bytes lie in its cell is the same cell again, but for its flags.
    fn new_string(&mut self, id: Id, s: &State) -> Value {
        let i = self.graph.units[id].insn;
        let literal = self.literal(id);
        self.made(
            |e, none| {
                let word = e.load(literal, cell::SHAPE);
                let inline = Header { shape: 0, kind: 0, flags: 0, aux: string::INLINE_BIT }.word();
                let inline = e.constant(inline as i64);
                let inline = e.b.ins().band(word, inline);
                e.branch_unless(inline, none);
                let at = e.take_cell(string::CELL, none);
                let kept = e.constant(Header { shape: 0, kind: u8::MAX, flags: 0, aux: u16::MAX }.word() as i64);
                let own = e.constant(Header { shape: ids::STRING.0, kind: 0, flags: i.x, aux: 0 }.word() as i64);
                let word = e.b.ins().band(word, kept);
                let word = e.b.ins().bor(word, own);
                e.store(word, at, cell::SHAPE);
                for k in (8..string::CELL as i32).step_by(8) {
                    let part = e.load(literal, k);
                    e.store(part, at, k);
                }
                at
            },
            |e| {
                let flags = e.constant(i.x as i64);
                let v = e.call_help(quiet::string as *const () as usize, &[e.cx, literal, flags]);
                e.fail_if_refused(v, id, s);
                v
            },
        )
    }
    fn new_array(&mut self, id: Id, s: &State) -> Value {
        let (scope, i) = (self.graph.units[id].scope, self.graph.units[id].insn);
        let items: Vec<Value> = (i.b..i.b + i.c).map(|r| self.read(id, r, s)).collect();
        let large = |e: &mut Self, items: &[Value]| {
            for (r, v) in (i.b..).zip(items) {
                e.store_reg(*v, id, r);
            }
            let (first, n) = (e.reg_address(scope, i.b), e.constant(i.c as i64));
            let v = e.call_help(quiet::array as *const () as usize, &[e.cx, first, n]);
            e.fail_if_refused(v, id, s);
            v
        };
        // Storing many values takes more code than it is worth.
        let few = items.len() <= MOST_STORED;
        let Some((size, aux)) = array_layout::cell_of(items.len()).filter(|_| few) else { return large(self, &items) };
        self.made(
            |e, none| {
                let at = e.take_cell(size, none);
                e.put_header(at, layout::ARRAY, Kind::Array, aux);
                for (k, v) in items.iter().enumerate() {
                    e.store(*v, at, cell::ARRAY_INLINE + k as i32 * 8);
                }
                at
            },
            |e| large(e, &items),
        )
    }
    fn new_environment(&mut self, id: Id, s: &State) -> Value {
        let i = self.graph.units[id].insn;
        let around = if i.x == 1 { self.read(id, i.a, s) } else { self.word(Ruby::NIL) };
        let by_helper = |e: &mut Self| {
            let slots = e.constant(i.b as i64);
            let v = e.call_help(quiet::environment as *const () as usize, &[e.cx, around, slots]);
            e.fail_if_refused(v, id, s);
            v
        };
        // Storing in many slots takes more code than it is worth.
        if i.b > 16 {
            return by_helper(self);
        }
        self.made(
            |e, none| {
                let at = e.take_cell(cell::ENV_SLOTS as usize + 8 * i.b as usize, none);
                e.put_header(at, layout::shape(ids::BINDING), Kind::Env, i.b);
                e.store(around, at, cell::ENV_PARENT);
                let empty = e.word(Ruby::NIL);
                e.put_all(empty, at, cell::ENV_SLOTS, i.b as usize);
                at
            },
            by_helper,
        )
    }
}
