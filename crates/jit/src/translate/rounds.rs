//! Blocks that begin their next round themselves, for a builtin whose loop they are called in ([`zakuro_vm::machine::Rounds`]): the frame stays, and so does what the function has looked at once.

use super::emit::Emitter;
use crate::layout::rounds;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use zakuro_object::Value as Ruby;

impl Emitter<'_, '_> {
    /// A round has come to its end with a value; what belongs elsewhere was written there.
    pub fn end_round(&mut self, v: Value) {
        let end = *self.round_end.get_or_insert_with(|| {
            let block = self.b.create_block();
            self.b.append_block_param(block, I64);
            block
        });
        self.b.ins().jump(end, &[v.into()]);
    }
    /// Where rounds end: begins the next one of the builtin's loop that the block goes on with. Where there is none, or somebody wants attention, the function answers the value.
    pub fn begin_next_round(&mut self) {
        let Some(end) = self.round_end else { return };
        self.b.switch_to_block(end);
        (self.exit, self.late) = (None, None);
        let v = self.b.block_params(end)[0];
        let rounds = self.b.use_var(self.rounds);
        let ends = self.b.create_block();
        self.b.set_cold_block(ends);
        self.unless(rounds, ends);
        let asked = self.poll_bits();
        self.jump_away(asked, ends);
        let advance = self.load(rounds, rounds::ADVANCE);
        let (counts, asks) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(advance, asks, &[], counts, &[]);
        let (first, required) = (1, self.graph.scopes[0].code.params.required as usize);
        self.b.switch_to_block(asks);
        let to = self.b.ins().iadd_imm_s(self.regs, 8);
        let more = self.call_at(advance, &[self.cx, rounds, v, to]);
        self.unless(more, ends);
        for v in first..=required {
            let given = self.load(self.regs, v as i32 * 8);
            self.set(v, given);
        }
        self.begin_anew();
        self.b.switch_to_block(counts);
        let element = self.next_element(rounds, ends);
        if required > 0 {
            self.set(first, element);
            self.store(element, self.regs, 8);
        }
        self.begin_anew();
        self.b.switch_to_block(ends);
        self.return_word(v);
    }
    /// Takes the next element of a loop that has no walker, or goes to `ends`.
    fn next_element(&mut self, rounds: Value, ends: Block) -> Value {
        let left = self.load(rounds, rounds::LEFT);
        self.unless(left, ends);
        let next = self.load(rounds, rounds::NEXT);
        let array = self.load(rounds, rounds::ARRAY);
        let (walks, taken) = (self.b.create_block(), self.b.create_block());
        self.b.append_block_param(taken, I64);
        self.b.ins().brif(array, walks, &[], taken, &[next.into()]);
        self.b.switch_to_block(walks);
        let (length, index) = (self.array_length(array), self.b.ins().sshr_imm_u(next, 1));
        let within = self.b.ins().icmp(IntCC::UnsignedLessThan, index, length);
        self.unless(within, ends);
        let element = self.element(array, next);
        self.b.ins().jump(taken, &[element.into()]);
        self.b.switch_to_block(taken);
        let fewer = self.b.ins().iadd_imm_s(left, -1);
        self.store(fewer, rounds, rounds::LEFT);
        let step = self.load(rounds, rounds::STEP);
        let then = self.b.ins().iadd(next, step);
        self.store(then, rounds, rounds::NEXT);
        self.b.block_params(taken)[0]
    }
    /// Goes to the beginning of a round whose parameters are there.
    fn begin_anew(&mut self) {
        let nil = self.word(Ruby::NIL);
        let required = self.graph.scopes[0].code.params.required as usize;
        for v in self.graph.begun_anew().filter(|v| *v > required) {
            self.set(v, nil);
            self.store(nil, self.regs, v as i32 * 8);
        }
        let begun = self.types.beginning();
        self.go_to(0, &begun);
    }
    /// Goes on only if it is not 0.
    fn unless(&mut self, word: Value, ends: Block) {
        let on = self.b.create_block();
        self.b.ins().brif(word, on, &[], ends, &[]);
        self.b.switch_to_block(on);
    }
}
