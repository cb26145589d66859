//! Groups: operators, comparisons with and without a jump, element access, and the small questions that have opcodes.

use super::emit::Emitter;
use super::graph::Id;
use super::types::{Plan, State, is_branch};
use crate::layout::{self, cell, truths, vm};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{I8, I64};
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use zakuro_bytecode::Op;
use zakuro_bytecode::op::Role;
use zakuro_object::{Kind, Value as Ruby, shape};
use zakuro_vm::classes::Truth;
use zakuro_vm::interp::machine::help;
use zakuro_vm::interp::quiet;
use zakuro_vm::methods::fast;

/// What a comparison asks.
#[derive(Clone, Copy, PartialEq)]
enum Ask {
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

/// The comparison that an opcode makes, and whether it jumps (if it does) when that is false.
fn comparison(op: Op) -> Option<(Ask, bool)> {
    use Op::*;
    Some(match op {
        Lt | JumpLt | JumpLtI | LoopLt | LoopLtI => (Ask::Lt, false),
        Le | JumpLe | JumpLeI | LoopLe | LoopLeI => (Ask::Le, false),
        Gt | JumpGt | JumpGtI | LoopGt | LoopGtI => (Ask::Gt, false),
        Ge | JumpGe | JumpGeI | LoopGe | LoopGeI => (Ask::Ge, false),
        Eq | JumpEq | JumpEqI => (Ask::Eq, false),
        Ne => (Ask::Ne, false),
        JumpNotLt | JumpNotLtI => (Ask::Lt, true),
        JumpNotLe | JumpNotLeI => (Ask::Le, true),
        JumpNotGt | JumpNotGtI => (Ask::Gt, true),
        JumpNotGe | JumpNotGeI => (Ask::Ge, true),
        JumpNotEq | JumpNotEqI => (Ask::Eq, true),
        _ => return None,
    })
}
fn of_integers(ask: Ask) -> IntCC {
    match ask {
        Ask::Lt => IntCC::SignedLessThan,
        Ask::Le => IntCC::SignedLessThanOrEqual,
        Ask::Gt => IntCC::SignedGreaterThan,
        Ask::Ge => IntCC::SignedGreaterThanOrEqual,
        Ask::Eq => IntCC::Equal,
        Ask::Ne => IntCC::NotEqual,
    }
}
fn of_doubles(ask: Ask) -> FloatCC {
    match ask {
        Ask::Lt => FloatCC::LessThan,
        Ask::Le => FloatCC::LessThanOrEqual,
        Ask::Gt => FloatCC::GreaterThan,
        Ask::Ge => FloatCC::GreaterThanOrEqual,
        Ask::Eq => FloatCC::Equal,
        Ask::Ne => FloatCC::NotEqual,
    }
}

impl Emitter<'_, '_> {
    pub fn operator(&mut self, id: Id, plan: Plan, s: &mut State) {
        let op = self.graph.units[id].op;
        match (plan, op) {
            (Plan::Fixnum, _) => self.fixnums(id, s),
            (Plan::Double, _) => self.floats(id, s),
            (Plan::Array, Op::Aref) => self.array_get(id, s),
            (Plan::Array, Op::Aset) => self.array_set(id, s),
            (Plan::Array, Op::Len | Op::EmptyP) => self.extent_of_array(id, s),
            (Plan::Array, _) => self.array_push(id, s),
            (_, Op::Aref) => self.element_get(id, s),
            (_, Op::Aset) => self.element_set(id, s),
            (_, Op::Len | Op::EmptyP) => self.length(id, s),
            (_, Op::Not | Op::NilP) => self.question(id, s),
            (_, Op::CaseEq) => self.case_equal(id, s),
            _ => self.generic(id, s),
        }
    }

    /// The small Integer in an operator, if it has one.
    fn immediate(&self, id: Id) -> Option<i64> {
        let u = &self.graph.units[id];
        match u.op {
            Op::Succ => Some(1),
            op => op.field(Role::Int).map(|f| u.insn.signed(f) as i64),
        }
    }
    /// The result of an operator that does not jump; of a comparison the next unit may want the condition.
    fn result(&mut self, id: Id, v: Value) {
        let a = self.graph.units[id].insn.a;
        self.write(id, a, v);
    }
    fn answer(&mut self, id: Id, condition: Value, negated: bool, s: &State) {
        let u = &self.graph.units[id];
        if is_branch(u.op) {
            return self.jump_if(id, condition, negated, s);
        }
        let v = self.boolean(condition);
        self.result(id, v);
        self.condition = Some((self.graph.var(id, u.insn.a), condition));
    }

    fn fixnums(&mut self, id: Id, s: &mut State) {
        use zakuro_bytecode::Op::*;
        let op = self.graph.units[id].op;
        let (x, y) = self.types.operands(id);
        let a = self.fixnum(id, x, s);
        let b = match y {
            Some(y) => self.fixnum(id, y, s),
            None => {
                let n = self.immediate(id).unwrap_or(0);
                self.word(Ruby::fixnum(n))
            }
        };
        // What jumps leaves its operands known as what they were found to be.
        let mut after = s.clone();
        let plan = Plan::Fixnum;
        if is_branch(op) {
            self.types.apply(id, plan, &mut after);
        }
        if let Some((ask, negated)) = comparison(op) {
            let c = self.b.ins().icmp(of_integers(ask), a, b);
            return self.answer(id, c, negated, &after);
        }
        let exit = self.exit_of(id, s);
        let v = self.integer(op, a, b, self.immediate(id), exit);
        if op == Neg {
            // Minus one operand.
            let two = self.constant(2);
            let (v, over) = self.b.ins().ssub_overflow(two, a);
            self.branch_away(over, exit);
            return self.result(id, v);
        }
        self.result(id, v);
    }
    /// An operation on two Fixnums; to `away` if its result is none, or the interpreter knows better.
    fn integer(&mut self, op: Op, a: Value, b: Value, small: Option<i64>, away: Block) -> Value {
        use zakuro_bytecode::Op::*;
        match op {
            Add | AddI | Succ | Sub | SubI if small.is_some() => {
                // By a constant: it has gone over if it went the other way.
                let n = small.unwrap_or(0) * if matches!(op, Sub | SubI) { -2 } else { 2 };
                let v = self.b.ins().iadd_imm_s(a, n);
                let asks = if n < 0 { IntCC::SignedGreaterThan } else { IntCC::SignedLessThan };
                let over = self.b.ins().icmp(asks, v, a);
                self.branch_away(over, away);
                v
            }
            Add | AddI | Succ => {
                let rest = self.b.ins().iadd_imm_s(b, -1);
                let (v, over) = self.b.ins().sadd_overflow(a, rest);
                self.branch_away(over, away);
                v
            }
            Sub | SubI => {
                let rest = self.b.ins().iadd_imm_s(b, -1);
                let (v, over) = self.b.ins().ssub_overflow(a, rest);
                self.branch_away(over, away);
                v
            }
            Mul | MulI => {
                let rest = self.b.ins().iadd_imm_s(a, -1);
                let n = self.b.ins().sshr_imm_u(b, 1);
                let (v, over) = self.b.ins().smul_overflow(rest, n);
                self.branch_away(over, away);
                self.b.ins().bor_imm_s(v, 1)
            }
            Div | DivI | Mod | ModI => {
                let (x, y) = (self.b.ins().sshr_imm_u(a, 1), self.b.ins().sshr_imm_u(b, 1));
                let modulo = matches!(op, Mod | ModI);
                if small.is_none_or(|n| n == 0 || n == -1) {
                    // By 0, and by -1, whose quotient may be too large.
                    let next = self.b.ins().iadd_imm_s(y, 1);
                    let bad = self.b.ins().icmp_imm_s(IntCC::UnsignedLessThanOrEqual, next, 1);
                    self.branch_away(bad, away);
                }
                if let Some(n) = small.filter(|n| *n > 0 && (*n as u64).is_power_of_two()) {
                    let v = if modulo { self.b.ins().band_imm_s(x, n - 1) } else { self.b.ins().sshr_imm_u(x, n.trailing_zeros() as i64) };
                    return self.tagged(v);
                }
                let (q, r) = match modulo {
                    true => (None, self.b.ins().srem(x, y)),
                    false => {
                        let q = self.b.ins().sdiv(x, y);
                        let product = self.b.ins().imul(q, y);
                        (Some(q), self.b.ins().isub(x, product))
                    }
                };
                // Towards minus infinity: a rest whose sign is not the divisor's.
                let signs = self.b.ins().bxor(r, y);
                let differ = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, signs, 0);
                let some = self.b.ins().icmp_imm_s(IntCC::NotEqual, r, 0);
                let off = self.b.ins().band(differ, some);
                let v = match q {
                    None => {
                        let moved = self.b.ins().iadd(r, y);
                        self.b.ins().select(off, moved, r)
                    }
                    Some(q) => {
                        let less = self.b.ins().iadd_imm_s(q, -1);
                        self.b.ins().select(off, less, q)
                    }
                };
                self.tagged(v)
            }
            And | AndI => self.b.ins().band(a, b),
            Or => self.b.ins().bor(a, b),
            Xor => {
                let v = self.b.ins().bxor(a, b);
                self.b.ins().bor_imm_s(v, 1)
            }
            Shr | ShrI => {
                let n = self.b.ins().sshr_imm_u(b, 1);
                if small.is_none_or(|n| !(0..63).contains(&n)) {
                    let far = self.b.ins().icmp_imm_s(IntCC::UnsignedGreaterThanOrEqual, n, 63);
                    self.branch_away(far, away);
                }
                let v = self.b.ins().sshr(a, n);
                self.b.ins().bor_imm_s(v, 1)
            }
            Shl | ShlI => {
                let n = self.b.ins().sshr_imm_u(b, 1);
                if small.is_none_or(|n| !(0..62).contains(&n)) {
                    let far = self.b.ins().icmp_imm_s(IntCC::UnsignedGreaterThanOrEqual, n, 62);
                    self.branch_away(far, away);
                }
                let rest = self.b.ins().iadd_imm_s(a, -1);
                let v = self.b.ins().ishl(rest, n);
                let again = self.b.ins().sshr(v, n);
                let over = self.b.ins().icmp(IntCC::NotEqual, again, rest);
                self.branch_away(over, away);
                self.b.ins().bor_imm_s(v, 1)
            }
            _ => a,
        }
    }
    pub fn tagged(&mut self, n: Value) -> Value {
        let v = self.b.ins().ishl_imm_u(n, 1);
        self.b.ins().bor_imm_s(v, 1)
    }

    fn floats(&mut self, id: Id, s: &mut State) {
        use zakuro_bytecode::Op::*;
        let u = &self.graph.units[id];
        let op = u.op;
        let (x, y) = self.types.operands(id);
        let a = self.double(id, x, s);
        let b = match y {
            Some(y) => self.double(id, y, s),
            None => {
                let n = self.immediate(id).unwrap_or(0);
                self.b.ins().f64const(n as f64)
            }
        };
        if let Some((ask, negated)) = comparison(op) {
            // An Integer is compared as it is, not as the double next to it.
            for v in [Some(x), y].into_iter().flatten().filter(|v| !self.types.is_double(id, *v, s)) {
                const EXACT: i64 = 1 << 53;
                let exit = self.exit_of(id, s);
                let word = self.get(v, s);
                let n = self.b.ins().sshr_imm_u(word, 1);
                let n = self.b.ins().iadd_imm_s(n, EXACT);
                let far = self.b.ins().icmp_imm_s(IntCC::UnsignedGreaterThan, n, 2 * EXACT);
                self.branch_away(far, exit);
            }
            let mut after = s.clone();
            if is_branch(op) {
                self.types.apply(id, Plan::Double, &mut after);
            }
            let c = self.b.ins().fcmp(of_doubles(ask), a, b);
            return self.answer(id, c, negated, &after);
        }
        let v = match op {
            Add | AddI => self.b.ins().fadd(a, b),
            Sub | SubI => self.b.ins().fsub(a, b),
            Mul | MulI => self.b.ins().fmul(a, b),
            Div | DivI => self.b.ins().fdiv(a, b),
            _ => self.b.ins().fneg(a),
        };
        self.set_double(self.graph.var(id, u.insn.a), v);
        let code_env = self.graph.scopes[u.scope].code.env_reg;
        if self.graph.is_volatile(u.scope, u.insn.a) || u.insn.a == code_env {
            let none = self.constant(0);
            let v = self.boxed(v, none);
            self.result(id, v);
        }
    }

    /// Fixnums at once, the rest by a call.
    fn generic(&mut self, id: Id, s: &mut State) {
        use zakuro_bytecode::Op::*;
        let op = self.graph.units[id].op;
        let (x, y) = self.types.operands(id);
        let a = self.get(x, s);
        let b = match y {
            Some(y) => self.get(y, s),
            None => {
                let n = self.immediate(id).unwrap_or(0);
                self.word(Ruby::fixnum(n))
            }
        };
        let (slow, done) = (self.b.create_block(), self.b.create_block());
        let asks = comparison(op);
        self.b.append_block_param(done, if asks.is_some() { I8 } else { I64 });
        // A method may answer a comparison with anything: its value stands beside the condition.
        let told = asks.is_some() && !is_branch(op);
        if told {
            self.b.append_block_param(done, I64);
        }
        if !matches!(op, Pow | Neg) {
            let both = self.b.ins().band(a, b);
            let bit = self.b.ins().band_imm_s(both, 1);
            let has_other = op == Shl || matches!(asks, Some((Ask::Eq | Ask::Ne, _)));
            let other = if has_other { self.b.create_block() } else { slow };
            self.branch_unless(bit, other);
            let v = match asks {
                Some((ask, _)) => self.b.ins().icmp(of_integers(ask), a, b),
                None => self.integer(op, a, b, self.immediate(id), slow),
            };
            self.tell(done, v, told);
            if op == Shl {
                self.b.switch_to_block(other);
                self.shape_is(a, layout::STRING, slow);
                self.may_change(a, slow);
                let v = self.call_help(quiet::append as *const () as usize, &[self.cx, a, b]);
                self.fail_if_refused(v, id, s);
                let other = self.b.ins().icmp_imm_s(IntCC::Equal, v, Ruby::UNDEF.bits() as i64);
                self.jump_away(other, slow);
                self.b.ins().jump(done, &[v.into()]);
            } else if other != slow {
                self.b.switch_to_block(other);
                let ask = if asks.is_some_and(|a| a.0 == Ask::Eq) { Ask::Eq } else { Ask::Ne };
                // nil, true, false and Symbols equal only themselves.
                let tag = self.b.ins().band_imm_s(a, 7);
                let alone = self.b.ins().icmp_imm_s(IntCC::Equal, tag, 4);
                let (same, unlike) = (self.b.create_block(), self.b.create_block());
                self.b.ins().brif(alone, same, &[], unlike, &[]);
                self.b.switch_to_block(same);
                let v = self.b.ins().icmp(of_integers(ask), a, b);
                self.tell(done, v, told);
                self.b.switch_to_block(unlike);
                let (of_cell, object, text) = (self.next_block(), self.next_block(), self.next_block());
                let is = self.is_cell(a);
                self.b.ins().brif(is, of_cell, &[], text, &[]);
                self.b.switch_to_block(of_cell);
                let kind = self.load_u8(a, cell::KIND);
                let is = self.b.ins().icmp_imm_s(IntCC::Equal, kind, Kind::Object as i64);
                self.b.ins().brif(is, object, &[], text, &[]);
                self.b.switch_to_block(object);
                self.ask_class(id, a, Truth::Equal, (same, slow), s);
                self.b.switch_to_block(text);
                let known = self.call_help(help::equal as *const () as usize, &[a, b]);
                self.branch_unless(known, slow);
                let want = if ask == Ask::Eq { Ruby::TRUE } else { Ruby::FALSE };
                let v = self.b.ins().icmp_imm_s(IntCC::Equal, known, want.bits() as i64);
                self.tell(done, v, told);
            }
        } else {
            self.b.ins().jump(slow, &[]);
        }
        self.b.switch_to_block(slow);
        let operands = if matches!(op, Neg | Succ) { vec![a] } else { vec![a, b] };
        let v = self.call_of_group(id, &operands, s);
        if told {
            let c = self.is_truthy(v);
            self.b.ins().jump(done, &[c.into(), v.into()]);
            self.b.switch_to_block(done);
            let (c, v) = (self.b.block_params(done)[0], self.b.block_params(done)[1]);
            self.result(id, v);
            self.condition = Some((self.graph.var(id, self.graph.units[id].insn.a), c));
            return;
        }
        let v = match asks {
            // `a != b` as a jump is the opposite of `==`, by a call of `!=`.
            Some((_, negated)) => {
                let c = self.is_truthy(v);
                let jumps_if_not = is_branch(op) && matches!(self.third(id), JumpUnless | LoopUnless);
                if is_branch(op) && negated != jumps_if_not { self.b.ins().bxor_imm_s(c, 1) } else { c }
            }
            None => v,
        };
        self.b.ins().jump(done, &[v.into()]);
        self.b.switch_to_block(done);
        let v = self.b.block_params(done)[0];
        match asks {
            Some((_, negated)) => self.answer(id, v, negated, s),
            None => self.result(id, v),
        }
    }
    /// To `done` with what an operator has come to; as a Ruby value, too, where its block takes one.
    fn tell(&mut self, done: Block, v: Value, told: bool) {
        if told {
            let value = self.boolean(v);
            self.b.ins().jump(done, &[v.into(), value.into()]);
        } else {
            self.b.ins().jump(done, &[v.into()]);
        }
    }
    fn third(&self, id: Id) -> Op {
        let u = &self.graph.units[id];
        self.graph.scopes[u.scope].code.insns[u.at + 2].opcode()
    }
    /// Puts operands where the call of a group looks for them.
    fn put_operands(&mut self, id: Id, operands: &[Value]) {
        let u = &self.graph.units[id];
        let base = self.graph.scopes[u.scope].code.insns[u.at + 1].a;
        for (k, v) in operands.iter().enumerate() {
            self.store_reg(*v, id, base + k as u16);
        }
    }
    /// The call of a group: operands are put where it looks for them. Its value.
    fn call_of_group(&mut self, id: Id, operands: &[Value], s: &State) -> Value {
        let u = &self.graph.units[id];
        let base = self.graph.scopes[u.scope].code.insns[u.at + 1].a;
        let at = u.at + 1;
        self.flush(id, s);
        self.put_operands(id, operands);
        self.step(id, at);
        self.verify_kept(id, s, at + 1, None);
        self.unflush(id, s);
        self.load_reg(id, base)
    }

    /// To `away` unless it is a cell of this shape.
    pub fn shape_is(&mut self, v: Value, shape: i64, away: Block) {
        let is = self.is_cell(v);
        self.branch_unless(is, away);
        let own = self.load_u32(v, cell::SHAPE);
        let same = self.b.ins().icmp_imm_s(IntCC::Equal, own, shape);
        self.branch_unless(same, away);
    }
    fn element_get(&mut self, id: Id, s: &mut State) {
        let (x, y) = self.types.operands(id);
        let Some(y) = y else { return };
        let (a, k) = (self.get(x, s), self.get(y, s));
        let (slow, no_array, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.append_block_param(done, I64);
        let is = self.is_cell(a);
        let immediate = self.b.create_block();
        self.branch_unless(is, immediate);
        let shape = self.load_u32(a, cell::SHAPE);
        let array = self.b.ins().icmp_imm_s(IntCC::Equal, shape, layout::ARRAY);
        self.branch_unless(array, no_array);
        let bit = self.b.ins().band_imm_s(k, 1);
        self.branch_unless(bit, slow);
        let v = self.element(a, k);
        self.b.ins().jump(done, &[v.into()]);
        // A bit of an Integer.
        self.b.switch_to_block(immediate);
        let both = self.b.ins().band(a, k);
        let bit = self.b.ins().band_imm_s(both, 1);
        self.branch_unless(bit, slow);
        let n = self.b.ins().sshr_imm_u(k, 1);
        let far = self.b.ins().icmp_imm_s(IntCC::UnsignedGreaterThanOrEqual, n, 62);
        self.branch_away(far, slow);
        let n = self.b.ins().iadd_imm_s(n, 1);
        let bits = self.b.ins().sshr(a, n);
        let bit = self.b.ins().band_imm_s(bits, 1);
        let v = self.tagged(bit);
        self.b.ins().jump(done, &[v.into()]);
        self.b.switch_to_block(no_array);
        let hash = self.b.ins().icmp_imm_s(IntCC::Equal, shape, layout::HASH);
        self.branch_unless(hash, slow);
        self.flush(id, s);
        let at = self.graph.units[id].at;
        self.wait_at(id, at);
        let v = self.call_help(help::hash_get as *const () as usize, &[self.cx, a, k]);
        self.fail_if_none(v, id, at);
        let missing = self.b.ins().icmp_imm_s(IntCC::Equal, v, Ruby::UNDEF.bits() as i64);
        let unknown = self.b.create_block();
        self.jump_away(missing, unknown);
        let result = Some((self.graph.units[id].insn.a, v));
        self.verify_kept(id, s, at + 3, result);
        self.leave_if_unlike(id, at + 3, result);
        self.unflush(id, s);
        self.b.ins().jump(done, &[v.into()]);
        self.b.switch_to_block(unknown);
        self.put_operands(id, &[a, k]);
        self.verify_kept(id, s, at + 1, None);
        self.unflush(id, s);
        self.b.ins().jump(slow, &[]);
        self.b.switch_to_block(slow);
        let v = self.call_of_group(id, &[a, k], s);
        self.b.ins().jump(done, &[v.into()]);
        self.b.switch_to_block(done);
        let v = self.b.block_params(done)[0];
        self.result(id, v);
    }
    fn element_set(&mut self, id: Id, s: &mut State) {
        let (x, y) = self.types.operands(id);
        let Some(y) = y else { return };
        let u = &self.graph.units[id];
        let at = u.at;
        let (a, k, value) = (self.get(x, s), self.get(y, s), self.get(self.graph.var(id, u.insn.c), s));
        let (slow, no_array, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let is = self.is_cell(a);
        self.branch_unless(is, slow);
        self.may_change(a, slow);
        let shape = self.load_u32(a, cell::SHAPE);
        let array = self.b.ins().icmp_imm_s(IntCC::Equal, shape, layout::ARRAY);
        self.branch_unless(array, no_array);
        let bit = self.b.ins().band_imm_s(k, 1);
        self.branch_unless(bit, slow);
        let n = self.b.ins().sshr_imm_u(k, 1);
        let helped = self.cold_block();
        self.store_element(a, (k, n), value, helped);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(helped);
        let v = self.call_help(help::array_set as *const () as usize, &[self.cx, a, n, value]);
        self.fail_if_refused(v, id, s);
        let refused = self.b.ins().icmp_imm_s(IntCC::Equal, v, Ruby::FALSE.bits() as i64);
        self.b.ins().brif(refused, slow, &[], done, &[]);
        self.b.switch_to_block(no_array);
        let hash = self.b.ins().icmp_imm_s(IntCC::Equal, shape, layout::HASH);
        self.branch_unless(hash, slow);
        self.flush(id, s);
        self.wait_at(id, at);
        let v = self.call_help(help::hash_set as *const () as usize, &[self.cx, a, k, value]);
        self.fail_if_none(v, id, at);
        self.verify_kept(id, s, at + 2, None);
        self.leave_if_unlike(id, at + 2, None);
        self.unflush(id, s);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(slow);
        self.call_of_group(id, &[a, k, value], s);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }
    fn length(&mut self, id: Id, s: &mut State) {
        let (x, _) = self.types.operands(id);
        let empty = self.graph.units[id].op == Op::EmptyP;
        let a = self.get(x, s);
        let (other, fast, slow, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.append_block_param(done, I64);
        self.b.append_block_param(fast, I64);
        self.b.set_cold_block(slow);
        self.shape_is(a, layout::ARRAY, other);
        let n = self.array_length(a);
        let n = self.tagged(n);
        self.b.ins().jump(fast, &[n.into()]);
        self.b.switch_to_block(other);
        let strings = self.constant(empty as i64);
        let n = self.call_help(help::length as *const () as usize, &[a, strings]);
        self.b.ins().brif(n, fast, &[n.into()], slow, &[]);
        self.b.switch_to_block(fast);
        let n = self.b.block_params(fast)[0];
        let v = match empty {
            true => {
                let none = self.b.ins().icmp_imm_s(IntCC::Equal, n, Ruby::fixnum(0).bits() as i64);
                self.boolean(none)
            }
            false => n,
        };
        self.b.ins().jump(done, &[v.into()]);
        self.b.switch_to_block(slow);
        let v = self.call_of_group(id, &[a], s);
        self.b.ins().jump(done, &[v.into()]);
        self.b.switch_to_block(done);
        let v = self.b.block_params(done)[0];
        self.result(id, v);
    }

    /// `!a` and `a.nil?`: objects may answer for themselves.
    fn question(&mut self, id: Id, s: &mut State) {
        let (x, _) = self.types.operands(id);
        let op = self.graph.units[id].op;
        let a = self.get(x, s);
        let (slow, plain, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.append_block_param(done, I8);
        self.b.set_cold_block(slow);
        let is = self.is_cell(a);
        self.branch_unless(is, plain);
        let kind = self.load_u8(a, cell::KIND);
        for moved in [Kind::Moved, Kind::MovedString, Kind::MovedArray, Kind::MovedHash] {
            let is = self.b.ins().icmp_imm_s(IntCC::Equal, kind, moved as i64);
            self.branch_away(is, slow);
        }
        let (object, other) = (self.b.create_block(), self.b.create_block());
        let is = self.b.ins().icmp_imm_s(IntCC::Equal, kind, Kind::Object as i64);
        self.b.ins().brif(is, object, &[], other, &[]);
        self.b.switch_to_block(object);
        let truth = if op == Op::Not { Truth::Not } else { Truth::Nil };
        self.ask_class(id, a, truth, (plain, slow), s);
        self.b.switch_to_block(other);
        // So may those of a program's own subclass of a core class, once there is such a method.
        let own = self.b.create_block();
        self.b.set_cold_block(own);
        let shape = self.load_u32(a, cell::SHAPE);
        let dynamic = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, shape, shape::FIRST_DYNAMIC as i64);
        self.b.ins().brif(dynamic, own, &[], plain, &[]);
        self.b.switch_to_block(own);
        let redefined = self.load_u32(self.cx, vm::REDEFINED);
        let answers = self.b.ins().band_imm_s(redefined, fast::OWN_TRUTH as i64);
        self.b.ins().brif(answers, slow, &[], plain, &[]);
        self.b.switch_to_block(plain);
        let c = match op {
            Op::Not => {
                let c = self.is_truthy(a);
                self.b.ins().bxor_imm_s(c, 1)
            }
            _ => self.b.ins().icmp_imm_s(IntCC::Equal, a, Ruby::NIL.bits() as i64),
        };
        self.b.ins().jump(done, &[c.into()]);
        self.b.switch_to_block(slow);
        // A method that is not redefined answers truth values, but which is called the interpreter finds out.
        let v = self.call_of_group(id, &[a], s);
        let c = self.is_truthy(v);
        let as_told = self.boolean(c);
        let plain_truth = self.b.ins().icmp(IntCC::Equal, as_told, v);
        let odd = self.b.create_block();
        self.b.set_cold_block(odd);
        self.b.ins().brif(plain_truth, done, &[c.into()], odd, &[]);
        self.b.switch_to_block(odd);
        // It answered something else: the interpreter takes it from where the call has left it.
        let at = self.graph.units[id].at + 2;
        self.flush(id, s);
        self.leave_at(id, at, None);
        self.b.switch_to_block(done);
        let c = self.b.block_params(done)[0];
        self.answer(id, c, false, s);
    }

    /// To the first block if a class has the builtin methods that are asked for, to the second if not. `a`: an object of it.
    fn ask_class(&mut self, id: Id, a: Value, truth: Truth, (builtin, own): (Block, Block), s: &State) {
        let (known, asks, told) = (self.next_block(), self.cold_block(), self.cold_block());
        let shape = self.load_u32(a, cell::SHAPE);
        let shape = self.b.ins().uextend(I64, shape);
        let epoch = self.load_u32(self.cx, vm::EPOCH);
        let epoch = self.b.ins().uextend(I64, epoch);
        let epoch = self.b.ins().ishl_imm_u(epoch, 32);
        let key = self.b.ins().bor(epoch, shape);
        let high = self.b.ins().ushr_imm_u(shape, 4);
        let place = self.b.ins().bxor(shape, high);
        let place = self.b.ins().band_imm_s(place, truths::ROWS - 1);
        let place = self.b.ins().ishl_imm_u(place, truths::SIZE_LOG);
        let row = self.b.ins().iadd(self.cx, place);
        let of = self.load(row, truths::KEY);
        let same = self.b.ins().icmp(IntCC::Equal, of, key);
        self.b.ins().brif(same, known, &[], asks, &[]);
        self.b.switch_to_block(known);
        let (asked, is) = truth.bits();
        let answers = self.load(row, truths::ANSWERS);
        let both = self.b.ins().band_imm_s(answers, (asked | is) as i64);
        let yes = self.b.ins().icmp_imm_s(IntCC::Equal, both, (asked | is) as i64);
        self.b.ins().brif(yes, builtin, &[], told, &[]);
        self.b.switch_to_block(told);
        self.b.ins().brif(both, own, &[], asks, &[]);
        self.b.switch_to_block(asks);
        let truth = self.constant(truth as i64);
        let answer = self.call_help(help::has_builtin_truth as *const () as usize, &[self.cx, a, truth]);
        self.fail_if_refused(answer, id, s);
        let yes = self.b.ins().icmp_imm_s(IntCC::Equal, answer, Ruby::TRUE.bits() as i64);
        self.b.ins().brif(yes, builtin, &[], own, &[]);
    }

    fn case_equal(&mut self, id: Id, s: &mut State) {
        let (x, y) = self.types.operands(id);
        let Some(y) = y else { return };
        let (pattern, v) = (self.get(x, s), self.get(y, s));
        let (equal, slow, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(slow);
        self.b.append_block_param(done, I8);
        self.b.append_block_param(done, I64);
        // nil, true, false and Symbols are equal to themselves alone.
        let tag = self.b.ins().band_imm_s(pattern, 7);
        let alone = self.b.ins().icmp_imm_s(IntCC::Equal, tag, 4);
        let asks = self.b.create_block();
        self.b.ins().brif(alone, equal, &[], asks, &[]);
        self.b.switch_to_block(equal);
        let same = self.b.ins().icmp(IntCC::Equal, pattern, v);
        self.tell(done, same, true);
        self.b.switch_to_block(asks);
        let known = self.call_help(help::case_equal as *const () as usize, &[self.cx, pattern, v]);
        self.fail_if_refused(known, id, s);
        let unknown = self.b.ins().icmp_imm_s(IntCC::Equal, known, Ruby::UNDEF.bits() as i64);
        self.branch_away(unknown, slow);
        let matches = self.b.ins().icmp_imm_s(IntCC::Equal, known, Ruby::TRUE.bits() as i64);
        self.b.ins().jump(done, &[matches.into(), known.into()]);
        self.b.switch_to_block(slow);
        let v = self.call_of_group(id, &[pattern, v], s);
        let matches = self.is_truthy(v);
        self.b.ins().jump(done, &[matches.into(), v.into()]);
        self.b.switch_to_block(done);
        let (matches, v) = (self.b.block_params(done)[0], self.b.block_params(done)[1]);
        self.result(id, v);
        self.condition = Some((self.graph.var(id, self.graph.units[id].insn.a), matches));
    }
}
