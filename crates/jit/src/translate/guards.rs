//! Guards and ways out of the function, and calls of helpers, which may lead to one.

use super::emit::{Emitter, Tail};
use super::graph::{Id, Var};
use super::types::{State, Type};
use crate::layout::{frame, site, state, vm};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I32, I64};
use cranelift_codegen::ir::{AbiParam, Block, BlockArg, InstBuilder, MemFlagsData, SigRef, Signature, StackSlotData, StackSlotKind, Value};
use cranelift_codegen::isa::CallConv;
use zakuro_bytecode::Op;
use zakuro_bytecode::machine::Exit;
use zakuro_vm::interp::machine::{RELIED_ON, handler_of, help};
use zakuro_vm::machine::Left;

impl Emitter<'_, '_> {
    // ---- blocks ----

    /// Whether the code here is off the ways that run often.
    pub fn is_cold(&self) -> bool {
        self.b.current_block().is_some_and(|b| self.b.func.layout.is_cold(b))
    }
    /// A block for what comes after the code here, as cold as it is.
    pub fn next_block(&mut self) -> Block {
        let block = self.b.create_block();
        if self.is_cold() {
            self.b.set_cold_block(block);
        }
        block
    }
    pub fn cold_block(&mut self) -> Block {
        let block = self.b.create_block();
        self.b.set_cold_block(block);
        block
    }

    // ---- guards ----

    /// Where a unit goes when it can't go on: the interpreter does it again.
    pub fn exit_of(&mut self, id: Id, s: &State) -> Block {
        if let Some(b) = self.exit {
            return b;
        }
        let here = self.b.current_block();
        let block = self.cold_block();
        self.b.switch_to_block(block);
        self.leave_from(id, s, Some(super::types::OPERANDS));
        if let Some(here) = here {
            self.b.switch_to_block(here);
        }
        self.exit = Some(block);
        block
    }
    /// Ends the function at a unit, with everything in the windows.
    pub fn leave(&mut self, id: Id, what: Option<u16>) {
        self.leave_at(id, self.graph.units[id].at, what);
    }
    /// The same at an instruction of its scope.
    pub fn leave_at(&mut self, id: Id, at: usize, what: Option<u16>) {
        let scope = self.graph.units[id].scope;
        self.stand_at(scope, self.insn_address(scope, at));
        let by = self.exit_by(scope, at, what);
        self.leave_by(scope, by);
    }
    /// The same where windows and frames are not up to date.
    pub fn leave_from(&mut self, id: Id, s: &State, what: Option<u16>) {
        self.flush_window(id, s);
        let (scope, at) = (self.graph.units[id].scope, self.graph.units[id].at);
        let (ip, by) = (self.constant(self.insn_address(scope, at)), self.exit_by(scope, at, what));
        let tail = self.tail(Tail::Leave { scope, pushed: s.pushed.min(self.graph.scopes[scope].depth) }, 2);
        self.b.ins().jump(tail, &[ip.into(), by.into()]);
    }
    pub fn tail(&mut self, tail: Tail, parameters: usize) -> Block {
        if let Some(b) = self.tails.get(&tail) {
            return *b;
        }
        let block = self.cold_block();
        for _ in 0..parameters {
            self.b.append_block_param(block, I64);
        }
        self.tails.insert(tail, block);
        self.tails_left.push(tail);
        block
    }
    pub fn end_tails(&mut self) {
        while let Some(tail) = self.tails_left.pop() {
            let block = self.tails[&tail];
            self.b.switch_to_block(block);
            let given = self.b.block_params(block).to_vec();
            match tail {
                Tail::Leave { scope, pushed } => {
                    self.push_frames(scope, pushed);
                    let offset = self.frame_offset(scope);
                    self.store(given[0], self.fp, offset + frame::IP);
                    self.leave_by(scope, given[1]);
                }
                Tail::Fail { scope } => {
                    let offset = self.frame_offset(scope);
                    self.store(given[0], self.fp, offset + frame::IP);
                    self.end(scope);
                }
                Tail::Waited { scope } => {
                    let f = self.frame_of(scope);
                    self.call_help(help::waits_no_more as *const () as usize, &[f]);
                    self.end(scope);
                }
                Tail::Left => {
                    let none = self.constant(0);
                    self.b.ins().return_(&[none]);
                }
                Tail::Behind { scope } => {
                    self.call_help(help::go_on_behind as *const () as usize, &[self.cx, given[0]]);
                    self.end(scope);
                }
            }
        }
    }
    pub fn leave_by(&mut self, scope: usize, by: Value) {
        let why = self.b.ins().iconst(I32, Left::Guard as i64);
        self.b.ins().store(MemFlagsData::trusted(), why, self.cx, vm::LEFT);
        self.store(by, self.cx, vm::LEFT_BY);
        self.end(scope);
    }
    /// An exit, as `Vm::left_by` names it.
    pub fn exit_by(&mut self, scope: usize, at: usize, what: Option<u16>) -> Value {
        let by = match what {
            // The table is never made larger than it is made for, so it stays where it is.
            Some(what) if self.exits.len() < self.exits.capacity() => {
                let depth = self.graph.scopes[scope].depth as u16;
                self.exits.push(Exit { at: at as u32, what, depth });
                self.exits.as_ptr().wrapping_add(self.exits.len() - 1) as i64
            }
            _ => 0,
        };
        self.constant(by)
    }
    /// Ends the function, with `Vm::left` set and frames as the interpreter would have them. In a builtin's loop it ends this round only.
    pub fn end(&mut self, scope: usize) {
        match self.graph.scopes[scope].within {
            None => {
                let left = self.tail(Tail::Left, 0);
                self.b.ins().jump(left, &[]);
            }
            Some(l) => {
                let block = self.recovery(l);
                self.b.ins().jump(block, &[]);
            }
        }
    }
    pub fn recovery(&mut self, l: usize) -> Block {
        if let Some(b) = self.recoveries[l] {
            return b;
        }
        let block = self.cold_block();
        self.recoveries[l] = Some(block);
        block
    }
    /// Goes to `away` if so, else on. If `away` is a cold block, this is a guard: what stands there must be right whether or not the condition holds.
    pub fn branch_away(&mut self, condition: Value, away: Block) {
        self.try_exit(away);
        self.jump_away(condition, away);
    }
    pub fn branch_unless(&mut self, condition: Value, away: Block) {
        self.try_exit(away);
        let on = self.next_block();
        self.b.ins().brif(condition, on, &[], away, &[]);
        self.begin_block(on);
    }
    /// The same where `away` is right only if the condition holds.
    pub fn jump_away(&mut self, condition: Value, away: Block) {
        let on = self.next_block();
        self.b.ins().brif(condition, away, &[], on, &[]);
        self.begin_block(on);
    }
    /// Goes on in a block that all ways to were emitted of: what variables hold there is found at once.
    pub fn begin_block(&mut self, block: Block) {
        self.b.seal_block(block);
        self.b.switch_to_block(block);
    }
    /// A guard that holds fails all the same when it is its turn.
    pub fn try_exit(&mut self, away: Block) {
        if !self.tries_exits || !self.b.func.layout.is_cold(away) {
            return;
        }
        let (on, fails) = (self.next_block(), self.cold_block());
        let n = self.load_u32(self.cx, vm::EXIT_IN);
        let n = self.b.ins().iadd_imm_s(n, -1);
        self.store(n, self.cx, vm::EXIT_IN);
        self.b.ins().brif(n, on, &[], fails, &[]);
        self.b.switch_to_block(fails);
        self.call_help(help::exits as *const () as usize, &[self.cx]);
        self.b.ins().jump(away, &[]);
        self.b.switch_to_block(on);
    }
    /// A register that has to hold a Fixnum from now on.
    pub fn fixnum(&mut self, id: Id, v: Var, s: &mut State) -> Value {
        let value = self.get(v, s);
        if s.of(v) != Type::Fixnum {
            let exit = self.exit_of(id, s);
            let bit = self.b.ins().band_imm_s(value, 1);
            self.branch_unless(bit, exit);
        }
        value
    }
    /// A register that has to hold a Float, or an Integer if that is what was seen: as a double.
    pub fn double(&mut self, id: Id, v: Var, s: &mut State) -> Value {
        match s.of(v) {
            Type::Double => self.get_double(v),
            Type::Any if self.types.takes_double(id, v, s) => {
                let exit = self.exit_of(id, s);
                let value = self.get(v, s);
                let d = self.unboxed(value, exit);
                self.set_unboxed(v, d);
                self.note_boxed(d, value);
                d
            }
            _ => {
                let n = self.fixnum(id, v, s);
                let n = self.b.ins().sshr_imm_u(n, 1);
                self.b.ins().fcvt_from_sint(F64, n)
            }
        }
    }

    /// To `away` if something that this relies on is not as it was when the function was entered, or looked last. `fail`: what ends it when an exception is pending.
    pub fn away_if_unlike(&mut self, away: Block, fail: impl FnOnce(&mut Self)) {
        if self.graph.links.is_empty() {
            return match self.table {
                Some(table) => self.renew_if_unlike(table, Some(away)),
                None => {
                    let unlike = self.is_redefined();
                    self.branch_away(unlike, away)
                }
            };
        }
        let (now, then) = (self.load_u32(self.cx, vm::GENERATION), self.b.use_var(self.generation));
        let same = self.b.ins().icmp(IntCC::Equal, now, then);
        let (again, on) = (self.cold_block(), self.next_block());
        self.branch_unless(same, again);
        self.link_again((again, on), away, away, fail);
    }
    /// The same after what may have run Ruby code. Behind slow ways the code is better short: the table of call sites is renewed where the function is entered again.
    fn away_after_call(&mut self, id: Id, away: Block) {
        let cold = self.is_cold();
        match self.table {
            Some(table) if cold && self.graph.links.is_empty() => {
                let same = self.is_of_generation(table);
                self.branch_unless(same, away);
            }
            _ => {
                let (scope, at) = (self.graph.units[id].scope, self.graph.units[id].at);
                self.away_if_unlike(away, |e| e.fail_at(scope, at));
            }
        }
    }
    /// Whether a table of call sites holds for the VM as it is now.
    fn is_of_generation(&mut self, table: Value) -> Value {
        let (own, now) = (self.load_u32(table, site::GENERATION), self.load_u32(self.cx, vm::GENERATION));
        self.b.ins().icmp(IntCC::Equal, own, now)
    }
    /// Looks at the links, where the function is entered from elsewhere; to `lost` if they lead somewhere else.
    pub fn enter_linked(&mut self, away: Block, lost: Block, fail: impl FnOnce(&mut Self)) {
        if self.graph.links.is_empty() {
            return self.away_if_unlike(away, fail);
        }
        let (again, on) = (self.cold_block(), self.next_block());
        let unlike = self.is_redefined();
        self.branch_away(unlike, again);
        let own = self.b.use_var(self.own);
        let shape = self.shape_key(own);
        let shape = self.b.ins().uextend(I64, shape);
        let epoch = self.load_u32(self.cx, vm::EPOCH);
        let epoch = self.b.ins().uextend(I64, epoch);
        let epoch = self.b.ins().ishl_imm_u(epoch, 32);
        let key = self.b.ins().bor(epoch, shape);
        let known = self.load(self.states[0], state::LINKED);
        let same = self.b.ins().icmp(IntCC::Equal, key, known);
        self.branch_unless(same, again);
        let now = self.load_u32(self.cx, vm::GENERATION);
        self.b.def_var(self.generation, now);
        if let Some(table) = self.table {
            self.renew_if_unlike(table, None);
        }
        self.link_again((again, on), away, lost, fail);
    }
    /// Whether something that all machine code relies on is redefined.
    fn is_redefined(&mut self) -> Value {
        let redefined = self.load_u32(self.cx, vm::REDEFINED);
        let bits = self.b.ins().band_imm_s(redefined, RELIED_ON as i64);
        self.b.ins().icmp_imm_s(IntCC::NotEqual, bits, 0)
    }
    /// Empties the table of call sites if it is one of an earlier generation; to `away` if something is redefined.
    fn renew_if_unlike(&mut self, table: Value, away: Option<Block>) {
        let same = self.is_of_generation(table);
        let (on, again) = (self.next_block(), self.cold_block());
        if let Some(away) = away {
            self.try_exit(away);
        }
        self.b.ins().brif(same, on, &[], again, &[]);
        self.b.switch_to_block(again);
        let unlike = self.call_help(help::renew as *const () as usize, &[self.cx, table]);
        match away {
            Some(away) => self.b.ins().brif(unlike, away, &[], on, &[]),
            None => self.b.ins().jump(on, &[]),
        };
        self.b.switch_to_block(on);
    }
    /// Goes on in `on`; what comes to `again` links anew before.
    fn link_again(&mut self, (again, on): (Block, Block), away: Block, lost: Block, fail: impl FnOnce(&mut Self)) {
        self.b.ins().jump(on, &[]);
        self.b.switch_to_block(again);
        self.link(away, lost, fail);
        if let Some(table) = self.table {
            self.call_help(help::renew as *const () as usize, &[self.cx, table]);
        }
        self.b.ins().jump(on, &[]);
        self.b.switch_to_block(on);
    }
    /// Emits what stands in another block, and goes on where the code is.
    pub fn aside(&mut self, block: Block, f: impl FnOnce(&mut Self)) {
        let here = self.b.current_block();
        self.b.switch_to_block(block);
        f(self);
        if let Some(here) = here {
            self.b.switch_to_block(here);
        }
    }
    /// Who comes to `away` goes on in the interpreter at `next`. `result`: what is still to be left in the window.
    pub fn leave_aside(&mut self, away: Block, id: Id, next: usize, result: Option<(u16, Value)>) {
        self.aside(away, |e| {
            if let Some((reg, v)) = result {
                e.store_reg(v, id, reg);
            }
            e.leave_at(id, next, None);
        });
    }
    /// Links anew.
    pub fn link(&mut self, away: Block, lost: Block, fail: impl FnOnce(&mut Self)) {
        let own = self.b.use_var(self.own);
        let table = self.constant(self.graph.links.as_ptr() as i64);
        let v = self.call_help(help::link as *const () as usize, &[self.cx, own, self.fp, self.states[0], table]);
        let (failed, on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(failed);
        self.b.set_cold_block(on);
        self.b.ins().brif(v, on, &[], failed, &[]);
        self.b.switch_to_block(failed);
        fail(self);
        self.b.switch_to_block(on);
        for (answer, to) in [(help::UNLIKE, away), (help::UNLINKED, lost)] {
            let so = self.b.ins().icmp_imm_s(IntCC::Equal, v, answer as i64);
            self.branch_away(so, to);
        }
        let now = self.b.ins().ireduce(I32, v);
        self.b.def_var(self.generation, now);
    }
    /// An exception is pending: the function ends with the frame at this instruction.
    pub fn fail_at(&mut self, scope: usize, at: usize) {
        self.flush_late();
        let ip = self.constant(self.insn_address(scope, at));
        let tail = self.tail(Tail::Fail { scope }, 1);
        self.b.ins().jump(tail, &[ip.into()]);
    }
    pub fn refuse_if_unlike(&mut self, id: Id) {
        let away = self.cold_block();
        let (scope, at) = (self.graph.units[id].scope, self.graph.units[id].at);
        self.enter_linked(away, away, |e| e.fail_at(scope, at));
        self.aside(away, |e| e.leave(id, None));
    }
    /// After what may have run Ruby code: the interpreter goes on behind it if something has changed. `value`: what is still to be left in the window.
    pub fn go_on_if_like(&mut self, id: Id, value: Option<Value>) {
        if let Some(table) = self.table
            && self.graph.links.is_empty()
            && !self.tries_exits
        {
            let same = self.is_of_generation(table);
            let (on, again) = (self.next_block(), self.cold_block());
            self.b.ins().brif(same, on, &[], again, &[]);
            self.b.switch_to_block(again);
            let value = value.unwrap_or_else(|| self.constant(0));
            let goes_on = self.call_help(help::go_on_unless_changed as *const () as usize, &[self.cx, table, value]);
            self.go_if_any(goes_on, id, on, &[]);
            self.b.switch_to_block(on);
            return;
        }
        let away = self.cold_block();
        self.away_after_call(id, away);
        self.aside(away, |e| {
            let value = value.unwrap_or_else(|| e.constant(0));
            e.go_on_behind(id, value);
        });
    }
    pub fn go_on_behind(&mut self, id: Id, value: Value) {
        self.flush_late();
        let tail = self.tail(Tail::Behind { scope: self.graph.units[id].scope }, 1);
        self.b.ins().jump(tail, &[value.into()]);
    }
    /// The same where the interpreter goes on at `next`; windows and frames are up to date but for a result.
    pub fn leave_if_unlike(&mut self, id: Id, next: usize, result: Option<(u16, Value)>) {
        let away = self.cold_block();
        self.away_after_call(id, away);
        self.leave_aside(away, id, next, result);
    }
    /// Attention that somebody asks for.
    pub fn poll_bits(&mut self) -> Value {
        let word = self.load_fixed(self.cx, vm::POLL);
        // Others write it: a plain load in a loop that stores nothing would be taken for the one before the loop.
        self.b.ins().atomic_load(I32, MemFlagsData::trusted(), word)
    }
    /// Asks for interrupts before a unit; `from`: what is not in the window.
    pub fn poll(&mut self, id: Id, from: Option<&State>) {
        let bits = self.poll_bits();
        let away = self.cold_block();
        self.branch_away(bits, away);
        self.aside(away, |e| {
            if let Some(s) = from {
                e.flush(id, s);
            }
            let scope = e.graph.units[id].scope;
            e.stand_at(scope, e.insn_address(scope, e.graph.units[id].at));
            let why = e.b.ins().iconst(I32, Left::Poll as i64);
            e.b.ins().store(MemFlagsData::trusted(), why, e.cx, vm::LEFT);
            e.end(scope);
        });
    }

    // ---- calls of helpers ----

    fn signature(&mut self, arguments: usize, double: bool) -> SigRef {
        if let Some(s) = self.signatures.get(&(arguments, double)) {
            return *s;
        }
        let mut s: Signature = super::signature(arguments);
        if double {
            s.params.push(AbiParam::new(F64));
        }
        let r = self.b.import_signature(s);
        self.signatures.insert((arguments, double), r);
        r
    }
    pub fn call_help(&mut self, address: usize, arguments: &[Value]) -> Value {
        if let Some(v) = self.call_aside(address, arguments, None) {
            return v;
        }
        let to = self.constant(address as i64);
        self.call_at(to, arguments)
    }
    /// A call from cold code leaves all registers as they are. Not in direct functions without doubles: what lives across their calls stands where no call clobbers it anyway.
    fn call_aside(&mut self, helper: usize, arguments: &[Value], double: Option<Value>) -> Option<Value> {
        let wants = self.has_doubles || !self.graph.direct;
        if !wants || !self.is_cold() {
            return None;
        }
        let of_vm = arguments.first() == Some(&self.cx);
        let stub = crate::aside::of(helper, self.has_doubles || double.is_some(), of_vm)?;
        let (signature, slot) = match self.aside {
            Some(aside) => aside,
            None => {
                let mut s: Signature = super::signature(2);
                s.call_conv = CallConv::PreserveAll;
                let slot = self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, 6 * 8, 3));
                *self.aside.insert((self.b.import_signature(s), slot))
            }
        };
        for (n, v) in arguments.iter().enumerate().skip(of_vm as usize) {
            self.b.ins().stack_store(I64, *v, slot, n as i32 * 8);
        }
        if let Some(d) = double {
            self.b.ins().stack_store(I64, d, slot, 5 * 8);
        }
        let (to, given) = (self.constant(stub as i64), self.b.ins().stack_addr(I64, slot, 0));
        let call = self.b.ins().call_indirect(signature, to, &[self.cx, given]);
        Some(self.b.inst_results(call)[0])
    }
    pub fn call_at(&mut self, to: Value, arguments: &[Value]) -> Value {
        let signature = self.signature(arguments.len(), false);
        let call = self.b.ins().call_indirect(signature, to, arguments);
        self.b.inst_results(call)[0]
    }
    /// Calls a function of one double.
    pub fn call_of_double(&mut self, address: usize, d: Value) -> Value {
        let mut s = super::signature(0);
        s.params.push(AbiParam::new(F64));
        s.returns[0] = AbiParam::new(F64);
        let signature = self.b.import_signature(s);
        let to = self.constant(address as i64);
        let call = self.b.ins().call_indirect(signature, to, &[d]);
        self.b.inst_results(call)[0]
    }
    pub fn call_help_double(&mut self, address: usize, cx: Value, word: Value, d: Value) -> Value {
        if let Some(v) = self.call_aside(address, &[cx, word], Some(d)) {
            return v;
        }
        let signature = self.signature(2, true);
        let to = self.constant(address as i64);
        let call = self.b.ins().call_indirect(signature, to, &[cx, word, d]);
        self.b.inst_results(call)[0]
    }
    /// Ends the function if the helper has answered 0: it has said why in `Vm::left`, and the frame stands at `at` then.
    pub fn fail_if_none(&mut self, v: Value, id: Id, at: usize) {
        let (on, away) = (self.next_block(), self.cold_block());
        self.b.ins().brif(v, on, &[], away, &[]);
        self.b.switch_to_block(away);
        self.fail_at(self.graph.units[id].scope, at);
        self.b.switch_to_block(on);
    }
    /// The same where the frame waits at its call, or stands where the interpreter goes on already.
    pub fn end_if_none(&mut self, v: Value, id: Id) {
        let on = self.next_block();
        self.go_if_any(v, id, on, &[]);
        self.b.switch_to_block(on);
    }
    /// The same; who goes on does so in `to`, with what it takes.
    pub fn go_if_any(&mut self, v: Value, id: Id, to: Block, given: &[Value]) {
        let tail = self.tail(Tail::Waited { scope: self.graph.units[id].scope }, 0);
        let given: Vec<BlockArg> = given.iter().map(|v| BlockArg::from(*v)).collect();
        if self.late.as_ref().is_none_or(|(late, _)| late.is_empty()) {
            self.b.ins().brif(v, to, &given, tail, &[]);
            return;
        }
        let away = self.cold_block();
        self.b.ins().brif(v, to, &given, away, &[]);
        self.aside(away, |e| {
            e.flush_late();
            e.b.ins().jump(tail, &[]);
        });
    }
    /// For helpers that look themselves whether something that this relies on has changed: whether that is enough, and what they are given.
    pub fn table_to_look(&mut self) -> (bool, Value) {
        match self.table {
            Some(table) if self.graph.links.is_empty() => (true, table),
            _ => (false, self.constant(0)),
        }
    }
    /// As [`Emitter::fail_if_none`] where windows and frames are not up to date yet.
    pub fn fail_if_refused(&mut self, v: Value, id: Id, s: &State) {
        let (on, away) = (self.next_block(), self.cold_block());
        self.b.ins().brif(v, on, &[], away, &[]);
        self.b.switch_to_block(away);
        self.flush(id, s);
        let scope = self.graph.units[id].scope;
        self.stand_at(scope, self.insn_address(scope, self.graph.units[id].at));
        self.end(scope);
        self.b.switch_to_block(on);
    }
    /// Runs an instruction as the interpreter does. Everything is in the window, results too.
    pub fn step(&mut self, id: Id, at: usize) {
        let scope = self.graph.units[id].scope;
        let ip = self.constant(self.wait_address(scope, at));
        let op = self.graph.scopes[scope].code.insns[at].opcode();
        let handler = self.constant(handler_of(op) as usize as i64);
        let [cx, ip, regs, cs] = self.handler_arguments(id, ip);
        // What is called runs without an interpreter in between.
        let help = match op {
            Op::Send | Op::SendBlk | Op::SendSelf | Op::SendSelfBlk => help::send as *const (),
            Op::SendX => help::send_x as *const (),
            Op::Super => help::super_ as *const (),
            Op::Yield => help::yield_ as *const (),
            Op::GetIvar => help::get_ivar as *const (),
            Op::SetIvar => help::set_ivar as *const (),
            _ => help::step as *const (),
        };
        let (looks, table) = self.table_to_look();
        let v = self.call_help(help as usize, &[cx, ip, regs, cs, handler, table]);
        self.end_if_none(v, id);
        if !looks {
            self.go_on_if_like(id, None);
        }
    }
}
