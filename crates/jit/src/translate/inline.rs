//! Calls whose callee is inlined, and builtins' loops whose block is.
//!
//! An inlined activation has a window and, where somebody may look, a frame, like any other; both are written when that is so ([`Emitter::flush`]), and a scope that calls nothing
//! has neither. A loop's frames are written once, before it begins. What leaves a round of a loop can't leave the function, since the builtin's frame is no instruction's:
//! the interpreter runs the rest of the round ([`help::round`]), and the loop goes on behind it.

use super::calls::Leads;
use super::emit::Emitter;
use super::graph::{Id, Kind, Set, Var};
use super::types::{OPERANDS, State, Type};
use crate::layout::{self, call, cell, frame, site, state};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use zakuro_bytecode::Op;
use zakuro_object::Value as Ruby;
use zakuro_vm::frame::{FRAME_BLOCK, FRAME_DEFINED};
use zakuro_vm::interp::RUBY_CALLS;
use zakuro_vm::interp::machine::help;
use zakuro_vm::machine::{Act, Called, Walk};

impl Emitter<'_, '_> {
    // ---- frames ----

    /// The method cell of a scope's frame.
    pub fn method_of(&mut self, scope: usize) -> Value {
        match self.graph.scopes[scope].kind {
            Kind::Root => self.load(self.fp, frame::ME),
            Kind::Method | Kind::Defined | Kind::Init => self.methods[scope],
            Kind::Yielded { home } => self.method_of(home),
            Kind::Looped => self.method_of(self.graph.scopes[scope].parent),
        }
    }
    /// Writes the frames of a scope and of its callers that are not written yet: `pushed` are.
    pub fn push_frames(&mut self, scope: usize, pushed: usize) {
        if self.write_frames(scope, pushed) {
            self.stack_top(self.graph.scopes[scope].depth);
        }
    }
    /// The same for who puts another one on top right behind. Whether there were any.
    pub fn write_frames(&mut self, scope: usize, pushed: usize) -> bool {
        let mut missing = Vec::new();
        let mut at = scope;
        while self.graph.scopes[at].depth > pushed {
            missing.push(at);
            at = self.graph.scopes[at].parent;
        }
        if missing.is_empty() {
            return false;
        }
        for k in missing.into_iter().rev() {
            let s = &self.graph.scopes[k];
            let (parent, call, above, kind) = (s.parent, s.call, s.depth, s.kind);
            self.stand_at(parent, self.insn_address(parent, self.graph.units[call].at));
            let (me, regs) = (self.method_of(k), self.reg_address(k, 0));
            let with_block = matches!(self.graph.units[call].op, Op::SendBlk | Op::SendSelfBlk);
            let block = if kind == Kind::Method && with_block { self.block_record(call, regs).1 } else { self.constant(0) };
            let flags = match kind {
                Kind::Yielded { .. } => FRAME_BLOCK,
                Kind::Defined => FRAME_DEFINED,
                _ => 0,
            };
            let aux = self.constant(flags as i64);
            self.write_frame(above, regs, self.states[k], block, me, aux);
        }
        true
    }

    /// One variable becomes another, with its type.
    fn copy(&mut self, from: Var, to: Var, s: &State) {
        if s.of(from) == Type::Double {
            self.copy_double(to, from, s);
        } else {
            let v = self.get(from, s);
            self.set(to, v);
            self.copy_extent(from, to, s);
        }
    }
    /// Locals of a scope that no argument is for.
    fn clear_locals(&mut self, scope: usize, from: u16) {
        let sc = &self.graph.scopes[scope];
        for r in from..sc.code.nlocals {
            self.begin_local(scope, r, Ruby::NIL);
        }
    }
    /// What a local variable that no argument is for begins with.
    fn begin_local(&mut self, scope: usize, register: u16, with: Ruby) {
        let v = self.word(with);
        self.set(self.graph.scopes[scope].vars + register as usize, v);
        if self.graph.is_volatile(scope, register) {
            let offset = self.reg_offset(scope, register);
            self.store(v, self.regs, offset);
        }
    }
    /// The environment that an inlined block begins with.
    fn around(&mut self, scope: usize, s: &State) -> Value {
        match self.graph.home_env(scope) {
            Some(v) => self.get(v, s),
            None => self.word(Ruby::NIL),
        }
    }

    // ---- calls ----

    pub fn enter_scope(&mut self, id: Id, k: usize, s: &mut State) {
        let u = &self.graph.units[id];
        let (scope, i, op) = (u.scope, u.insn, u.op);
        let callee = &self.graph.scopes[k];
        let (vars, kind, code) = (callee.vars, callee.kind, callee.code.clone());
        let with_block = matches!(op, Op::SendBlk | Op::SendSelfBlk);
        let own = self.graph.takes_self(id);
        if let Kind::Yielded { home } = kind {
            let site = self.graph.units[self.graph.scopes[scope].call].insn.c as usize;
            let block = self.graph.scopes[home].code.calls[site].child;
            let children = self.load_fixed(self.states[home], state::CHILDREN);
            self.states[k] = self.load(children, block as i32 * 8);
            let me = self.get(self.graph.scopes[home].vars, s);
            self.set(vars, me);
            if code.env_reg != 0 {
                let e = self.around(k, s);
                self.set(vars + code.env_reg as usize, e);
            }
        } else {
            let mut made = None;
            match self.graph.link_of(id) {
                Some(link) => {
                    let entry = link.site as i32 * call::SIZE;
                    let calls = self.load_fixed(self.states[0], state::CALLS);
                    self.states[k] = if link.own { self.states[0] } else { self.load(calls, entry + call::TARGET) };
                    self.methods[k] = self.load(calls, entry + call::ME);
                }
                None => {
                    let recv = if own { self.read(id, 0, s) } else { self.read(id, i.a, s) };
                    let miss = self.exit_of(id, s);
                    let handler = match kind {
                        Kind::Init => RUBY_CALLS.new_object,
                        Kind::Defined => RUBY_CALLS.defined,
                        _ if op == Op::SendX => RUBY_CALLS.named,
                        _ => RUBY_CALLS.of_params(code.params.simple, with_block),
                    };
                    // A version is replaced that is left too often: receivers are taken to be cells if those of the VM that asked were.
                    let of_cell = self.types.is_of_cell(id);
                    let mut leads = Leads::code(handler, &code);
                    if let Some(name) = self.graph.sent_name(id) {
                        let given = self.read(id, i.a + 1, s);
                        let same = self.b.ins().icmp_imm_s(IntCC::Equal, given, Ruby::sym(name).bits() as i64);
                        self.branch_unless(same, miss);
                        leads = Leads::sent(&code, name);
                    }
                    let site = self.guard_site(id, recv, of_cell, leads, miss);
                    self.states[k] = self.of_site(site, site::TARGET);
                    self.methods[k] = self.of_site(site, site::ME);
                    made = Some(site);
                }
            }
            if let (Kind::Init, Some(site)) = (kind, made) {
                let slots = if let Called::New(_, slots) = self.types.called(id) { *slots } else { 0 };
                let object = self.new_object(site, slots, |e, class| {
                    let v = e.call_help(help::new_of as *const () as usize, &[e.cx, class]);
                    e.fail_if_refused(v, id, s);
                    v
                });
                self.set(self.graph.var(id, i.a), object);
                self.set(vars, object);
            } else if own {
                self.copy(self.graph.var(id, 0), vars, s);
            } else {
                self.copy(self.graph.var(id, i.a), vars, s);
            }
        }
        let parameters = code.params.registers();
        for r in 1..=parameters {
            match self.graph.argument(k, r) {
                Some(from) => self.copy(self.graph.var(id, from), vars + r as usize, s),
                None => self.begin_local(k, r, Ruby::UNDEF),
            }
        }
        self.clear_locals(k, parameters + 1);
        if kind == Kind::Defined && code.env_reg != 0 {
            let e = self.env_of_method(self.methods[k]);
            self.set(vars + code.env_reg as usize, e);
        }
    }

    pub fn leave_scope(&mut self, id: Id, s: &mut State) {
        let u = &self.graph.units[id];
        let (scope, reg) = (u.scope, u.insn.a);
        let sc = &self.graph.scopes[scope];
        let kind = sc.kind;
        let kept = self.graph.kept_of(scope);
        self.write_kept(&kept, s);
        if kind == Kind::Looped {
            let l = sc.within.unwrap_or(0);
            // What else has changed is written back if the loop is left.
            let changed = self.graph.all_kept().filter(|v| s.dirty.has(*v) && !kept.contains(v)).collect();
            self.late = Some((changed, s.clone()));
            let v = if self.graph.loops[l].kind.asks() { self.read(id, reg, s) } else { self.word(Ruby::NIL) };
            return self.round_done(l, v);
        }
        self.give(id, scope, s);
    }
    /// An inlined scope ends with the value of a unit's register.
    fn give(&mut self, id: Id, scope: usize, s: &State) {
        let sc = &self.graph.scopes[scope];
        let (kind, depth) = (sc.kind, sc.depth);
        if s.pushed >= depth {
            self.stack_top(depth - 1);
        }
        if kind != Kind::Init {
            let (u, to) = (&self.graph.units[id], self.graph.result_of(scope));
            let reg = u.insn.a;
            if self.graph.is_volatile(u.scope, reg) {
                let v = self.read(id, reg, s);
                self.set(to, v);
            } else {
                self.copy(self.graph.var(id, reg), to, s);
            }
        }
    }
    /// A `return` or `break` in a block ends all scopes up to this one.
    pub fn return_from(&mut self, id: Id, to: usize, s: &State) {
        let kept: Vec<Var> = self.graph.callers(self.graph.units[id].scope, to).flat_map(|k| self.graph.kept_of(k)).collect();
        self.write_kept(&kept, s);
        if self.graph.scopes[to].kind == Kind::Root { self.return_value(id, s) } else { self.give(id, to, s) }
    }
    /// A `break` is the value of a builtin's loop.
    pub fn break_loop(&mut self, id: Id, l: usize, s: &State) {
        let (scope, reg) = (self.graph.units[id].scope, self.graph.units[id].insn.a);
        let kept = self.graph.kept_of(scope);
        self.write_kept(&kept, s);
        let v = self.read(id, reg, s);
        self.set(self.graph.loops[l].result, v);
    }

    // ---- loops ----

    /// Writes the frame of a loop's block, with the self and environment in its window, and puts it on top.
    fn push_block(&mut self, l: usize) {
        let block = self.graph.loops[l].block;
        // What ran above the builtin's frame has used these, and a block's value comes where its self stood.
        let (vars, env) = (self.graph.scopes[block].vars, self.graph.env_of(block));
        for v in std::iter::once(vars).chain(env) {
            let (value, offset) = (self.word_of(v), self.reg_offset(block, (v - vars) as u16));
            self.store(value, self.regs, offset);
        }
        let (above, parent) = (self.graph.scopes[block].depth, self.graph.scopes[block].parent);
        let (regs, me) = (self.reg_address(block, 0), self.method_of(parent));
        let (none, aux) = (self.constant(0), self.constant(FRAME_BLOCK as i64));
        self.write_frame(above, regs, self.states[block], none, me, aux);
        self.stand_at(block, self.insn_address(block, 0));
        self.stack_top(above);
    }
    /// The builtin's frame is on top.
    fn builtin_on_top(&mut self, l: usize) {
        let above = self.graph.scopes[self.graph.loops[l].block].depth - 1;
        self.stack_top(above);
    }
    /// The builtin has raised: its frame goes, and so does the function, or the round of the loop around it.
    fn fail_loop(&mut self, l: usize) {
        self.flush_late();
        let call = self.graph.loops[l].call;
        let scope = self.graph.units[call].scope;
        self.stack_top(self.graph.scopes[scope].depth);
        self.stand_at(scope, self.insn_address(scope, self.graph.units[call].at));
        self.end(scope);
    }
    fn fail_loop_if_none(&mut self, v: Value, l: usize) {
        let (on, away) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(away);
        self.b.ins().brif(v, on, &[], away, &[]);
        self.b.switch_to_block(away);
        self.fail_loop(l);
        self.b.switch_to_block(on);
    }
    fn word_of(&mut self, v: Var) -> Value {
        let none = State { types: vec![Type::Any; self.graph.vars], dirty: Set::new(self.graph.vars), pushed: 0, laid_out: 0 };
        self.get(v, &none)
    }

    pub fn begin_loop(&mut self, id: Id, l: usize, s: &mut State) {
        let u = &self.graph.units[id];
        let (scope, i, at) = (u.scope, u.insn, u.at);
        let (kind, target, block, next, limit, object, item, result) = {
            let it = &self.graph.loops[l];
            (it.kind, it.target, it.block, it.next, it.limit, it.object, it.item, it.result)
        };
        let own = self.graph.takes_self(id);
        let recv = if own { self.read(id, 0, s) } else { self.read(id, i.a, s) };
        self.flush(id, s);
        s.pushed = self.graph.scopes[scope].depth;
        if own {
            self.store_reg(recv, id, i.a);
        }
        let away = self.b.create_block();
        self.b.set_cold_block(away);
        let site = self.guard_site(id, recv, false, Leads::native(RUBY_CALLS.native_blk, target), away);
        let nil = self.word(Ruby::NIL);
        let zero = self.word(Ruby::fixnum(0));
        let (mut first, mut last, mut walked) = (zero, nil, zero);
        match kind.walk {
            Walk::Array => {
                self.shape_is(recv, layout::ARRAY, away);
                walked = recv;
            }
            Walk::Times => {
                self.small(recv, away);
                last = recv;
            }
            Walk::Once => (last, walked) = (self.word(Ruby::fixnum(1)), recv),
            Walk::Upto | Walk::Downto => {
                self.small(recv, away);
                let to = self.load_reg(id, i.a + 1);
                self.small(to, away);
                // What comes after the last one must be a Fixnum, too.
                let edge = if kind.walk == Walk::Upto { i64::MAX } else { i64::MIN + 1 };
                let at_edge = self.b.ins().icmp_imm_s(IntCC::Equal, to, edge);
                self.branch_away(at_edge, away);
                (first, last) = (recv, to);
            }
            Walk::Step => {
                self.small(recv, away);
                let to = self.load_reg(id, i.a + 1);
                self.small(to, away);
                walked = if i.x == 2 { self.load_reg(id, i.a + 2) } else { self.word(Ruby::fixnum(1)) };
                self.small(walked, away);
                let none = self.b.ins().icmp_imm_s(IntCC::Equal, walked, Ruby::fixnum(0).bits() as i64);
                self.branch_away(none, away);
                let rest = self.b.ins().iadd_imm_s(walked, -1);
                let (_, over) = self.b.ins().sadd_overflow(to, rest);
                self.branch_away(over, away);
                (first, last) = (recv, to);
            }
            Walk::Range => {
                self.shape_is(recv, layout::RANGE, away);
                if kind.act != Act::Each {
                    let own = self.call_help(help::walks_itself as *const () as usize, &[self.cx, recv]);
                    self.branch_unless(own, away);
                }
                first = self.load(recv, cell::RANGE_LOW);
                self.small(first, away);
                let high = self.load(recv, cell::RANGE_HIGH);
                // Without an end it is one that nobody lives to see.
                const FAR: i64 = i64::MAX - 2;
                let far = self.constant(FAR);
                let endless = self.b.ins().icmp_imm_s(IntCC::Equal, high, Ruby::NIL.bits() as i64);
                let high = self.b.ins().select(endless, far, high);
                self.small(high, away);
                let exclusive = self.load_u16(recv, cell::AUX);
                let less = self.b.ins().ishl_imm_u(exclusive, 1);
                let (end, over) = self.b.ins().ssub_overflow(high, less);
                self.branch_away(over, away);
                let beyond = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, end, FAR);
                self.branch_away(beyond, away);
                let late = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, first, FAR / 2);
                let late = self.b.ins().band(late, endless);
                self.branch_away(late, away);
                last = end;
            }
        }
        let answer = match kind.act {
            Act::Map | Act::Select | Act::Reject => {
                let known = kind.act == Act::Map && kind.walks();
                let n = if known { self.array_length(recv) } else { self.constant(0) };
                let a = self.call_help(help::new_array as *const () as usize, &[self.cx, n]);
                self.fail_if_none(a, id, at);
                a
            }
            Act::Each | Act::EachIndex | Act::WithIndex => recv,
            Act::WithObject | Act::Fold => self.load_reg(id, i.a + 1),
            Act::Any => self.word(Ruby::FALSE),
            Act::All | Act::None => self.word(Ruby::TRUE),
            Act::Find | Act::Then => nil,
            Act::Count => zero,
            // The first element is what the second one is combined with.
            Act::Inject if kind.walks() => {
                let a = self.element(recv, first);
                first = self.word(Ruby::fixnum(1));
                a
            }
            Act::Inject => {
                let some = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, first, last);
                let (a, then) = (self.b.ins().select(some, first, nil), self.b.ins().iadd_imm_s(first, 2));
                first = self.b.ins().select(some, then, first);
                a
            }
        };
        for (v, value) in [(next, first), (limit, last), (object, walked), (item, nil), (result, answer)] {
            self.set(v, value);
        }
        self.make_kept(id, l, s);
        // The builtin's frame, and above it the block's.
        let base = self.reg_address(scope, i.a);
        let (child, record) = self.block_record(id, base);
        self.states[block] = child;
        self.stand_at(scope, self.insn_address(scope, at));
        let me = self.of_site(site, site::ME);
        let (none, top) = (self.constant(0), self.reg_address(scope, i.a + i.x as u16 + 1));
        let above = self.graph.scopes[scope].depth + 1;
        self.write_frame(above, base, none, record, me, top);
        let stub = self.constant(zakuro_vm::interp::stub() as i64);
        self.store(stub, self.fp, above as i32 * frame::SIZE as i32 + frame::IP);
        let me = self.get(self.graph.scopes[scope].vars, s);
        let (vars, env) = (self.graph.scopes[block].vars, self.graph.env_of(block));
        self.set(vars, me);
        if let Some(v) = env {
            let e = self.around(block, s);
            self.set(v, e);
        }
        self.push_block(l);
        self.lay_out_all(self.graph.layout_bit(block) & self.graph.units[id].layouts_after, s);
        self.aside(away, |e| e.leave(id, Some(OPERANDS)));
    }

    /// What rounds take for granted of variables of environments is looked at once, before anything is begun.
    fn make_kept(&mut self, id: Id, l: usize, s: &mut State) {
        let Some(wanted) = self.types.at[self.graph.loops[l].iterate].clone() else { return };
        for v in self.graph.all_kept() {
            let (now, wanted) = (s.of(v), wanted.of(v));
            if now == wanted || matches!(wanted, Type::Unset | Type::Any) || (now, wanted) == (Type::Own, Type::Array) {
                continue;
            }
            let away = self.cold_block();
            if now == Type::Unset {
                self.fetch_kept(v);
            }
            let value = self.get(v, s);
            self.make(v, value, wanted, away);
            let what = self.spot(id, v);
            self.aside(away, |e| e.leave(id, Some(what)));
            s.types[v] = wanted;
        }
    }

    pub fn next_round(&mut self, id: Id, l: usize, s: &mut State) {
        let (kind, block, next, limit, object, item, result) = {
            let it = &self.graph.loops[l];
            (it.kind, it.block, it.next, it.limit, it.object, it.item, it.result)
        };
        // A native loop asks after each round; frames stand as then.
        let bits = self.poll_bits();
        let (asked, on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(asked);
        self.b.ins().brif(bits, asked, &[], on, &[]);
        self.b.switch_to_block(asked);
        let kept: Vec<Var> = self.graph.all_kept().collect();
        self.write_kept(&kept, s);
        self.builtin_on_top(l);
        let v = self.call_help(help::safepoint as *const () as usize, &[self.cx]);
        self.fail_loop_if_none(v, l);
        self.rest_if_unlike(l);
        self.fetch_for_round(l, s);
        self.push_block(l);
        self.lay_out_all(s.laid_out, s);
        self.b.ins().jump(on, &[]);
        self.b.switch_to_block(on);
        let n = self.word_of(next);
        let (end, walked) = (self.word_of(limit), self.word_of(object));
        let more = match kind.walk {
            Walk::Times | Walk::Once => self.b.ins().icmp(IntCC::SignedLessThan, n, end),
            Walk::Upto | Walk::Range => self.b.ins().icmp(IntCC::SignedLessThanOrEqual, n, end),
            Walk::Downto => self.b.ins().icmp(IntCC::SignedGreaterThanOrEqual, n, end),
            Walk::Step => {
                let up = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, n, end);
                let down = self.b.ins().icmp(IntCC::SignedGreaterThanOrEqual, n, end);
                let descends = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, walked, 0);
                self.b.ins().select(descends, down, up)
            }
            Walk::Array => {
                let length = self.array_length(walked);
                let index = self.b.ins().sshr_imm_u(n, 1);
                self.b.ins().icmp(IntCC::SignedLessThan, index, length)
            }
        };
        self.jump_if(id, more, true, s);
        let element = match kind.walk {
            Walk::Once => walked,
            _ if kind.counts() => n,
            _ => self.element(walked, n),
        };
        self.set(item, element);
        let place = if kind.walks() { n } else { walked };
        let so_far = self.word_of(result);
        let (vars, required) = (self.graph.scopes[block].vars, self.graph.scopes[block].code.params.required as usize);
        let (first, second) = kind.given(element, place, so_far);
        for (k, v) in std::iter::once(first).chain(second).enumerate().take(required) {
            self.set(vars + 1 + k, v);
        }
        self.clear_locals(block, required as u16 + 1);
        if let Some(v) = self.graph.env_of(block) {
            let e = self.around(block, s);
            self.set(v, e);
        }
        let then = match kind.walk {
            Walk::Downto => self.b.ins().iadd_imm_s(n, -2),
            Walk::Step => {
                let rest = self.b.ins().iadd_imm_s(walked, -1);
                self.b.ins().iadd(n, rest)
            }
            _ => self.b.ins().iadd_imm_s(n, 2),
        };
        self.set(next, then);
        if kind.walk == Walk::Range {
            let later = self.b.ins().iadd_imm_s(walked, 2);
            self.set(object, later);
        }
    }

    /// A round has come to its end with a value.
    fn round_done(&mut self, l: usize, v: Value) {
        let (kind, next, item, result) = {
            let it = &self.graph.loops[l];
            (it.kind, it.next, it.item, it.result)
        };
        if !kind.asks() {
            return;
        }
        if matches!(kind.act, Act::Inject | Act::Fold | Act::Then) {
            return self.set(result, v);
        }
        let so_far = self.word_of(result);
        let (keep, done) = (self.b.create_block(), self.b.create_block());
        if kind.act == Act::Map {
            self.b.ins().jump(keep, &[]);
        } else {
            let truthy = self.is_truthy(v);
            let (yes, no) = if matches!(kind.act, Act::Reject | Act::All) { (done, keep) } else { (keep, done) };
            self.b.ins().brif(truthy, yes, &[], no, &[]);
        }
        self.b.switch_to_block(keep);
        match kind.act {
            Act::Map | Act::Select | Act::Reject => {
                let kept = if kind.act == Act::Map { v } else { self.word_of(item) };
                let pushed = self.call_help(help::array_push as *const () as usize, &[self.cx, so_far, kept]);
                self.fail_loop_if_none(pushed, l);
            }
            Act::Count => {
                let more = self.b.ins().iadd_imm_s(so_far, 2);
                self.set(result, more);
            }
            // It is found: there is no next round.
            _ => {
                let found = match kind.act {
                    Act::Find => self.word_of(item),
                    act => self.word(if act == Act::Any { Ruby::TRUE } else { Ruby::FALSE }),
                };
                self.set(result, found);
                let end = self.constant(i64::MAX);
                self.set(next, end);
            }
        }
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }
    /// To `away` unless it is a Fixnum.
    fn small(&mut self, v: Value, away: cranelift_codegen::ir::Block) {
        let bit = self.b.ins().band_imm_s(v, 1);
        self.branch_unless(bit, away);
    }

    pub fn finish_loop(&mut self, id: Id, l: usize) {
        let scope = self.graph.units[id].scope;
        self.stack_top(self.graph.scopes[scope].depth);
        let v = self.word_of(self.graph.loops[l].result);
        self.write(id, self.graph.units[id].insn.a, v);
    }

    /// With the builtin's frame on top: if something is not as it was, the builtin itself does the rest, and the interpreter goes on behind the call.
    fn rest_if_unlike(&mut self, l: usize) {
        let away = self.rest_of_loop(l);
        self.away_if_unlike(away, |e| e.fail_loop(l));
    }
    /// Where the builtin does the rest. Everything is in windows and environments.
    pub fn rest_of_loop(&mut self, l: usize) -> cranelift_codegen::ir::Block {
        let here = self.b.current_block();
        let away = self.b.create_block();
        self.b.set_cold_block(away);
        self.b.switch_to_block(away);
        let (kind, call, next, limit, object, result) = {
            let it = &self.graph.loops[l];
            (it.kind, it.call, it.next, it.limit, it.object, it.result)
        };
        let number = self.constant(kind.number() as i64);
        let [next, limit, object, result] = [next, limit, object, result].map(|v| self.word_of(v));
        let v = self.call_help(help::rest as *const () as usize, &[self.cx, number, next, limit, object, result]);
        self.fail_loop_if_none(v, l);
        let (scope, at) = (self.graph.units[call].scope, self.graph.units[call].at);
        self.stack_top(self.graph.scopes[scope].depth);
        self.wait_at(call, at);
        self.call_help(help::go_on_behind as *const () as usize, &[self.cx, v]);
        self.end(scope);
        if let Some(here) = here {
            self.b.switch_to_block(here);
        }
        away
    }

    /// Where rounds go that are left: the interpreter ends them.
    pub fn recover(&mut self, l: usize, from: cranelift_codegen::ir::Block) {
        let (block, iterate) = (self.graph.loops[l].block, self.graph.loops[l].iterate);
        self.b.switch_to_block(from);
        self.late = None;
        let above = self.graph.scopes[block].depth;
        let window = self.reg_address(block, 0);
        let boundary = self.b.ins().iadd_imm_s(self.fp, (above as i64 - 1) * frame::SIZE);
        let v = self.call_help(help::round as *const () as usize, &[self.cx, window, boundary]);
        self.fail_loop_if_none(v, l);
        self.round_done(l, v);
        self.rest_if_unlike(l);
        let Some(wanted) = self.types.at[iterate].clone() else {
            return self.fail_loop(l);
        };
        let s = State { types: wanted.types, dirty: Set::new(self.graph.vars), pushed: above, laid_out: 0 };
        self.fetch_for_round(l, &s);
        self.push_block(l);
        self.go_to(iterate, &s);
    }
    /// Number of an Array's elements.
    pub fn array_length(&mut self, a: Value) -> Value {
        let inline = self.load_u8(a, layout::cell::ARRAY_INLINE_LENGTH);
        let out = self.b.ins().icmp_imm_s(IntCC::Equal, inline, layout::cell::ARRAY_OUT);
        let length = self.load(a, layout::cell::ARRAY_LENGTH);
        self.b.ins().select(out, length, inline)
    }
}
