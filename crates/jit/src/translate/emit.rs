//! The function as a whole: entries, blocks, exits, and what every unit needs.

use super::graph::{Graph, Id, Kind, Var, What};
use super::types::{Plan, REGISTER, State, Type, Types, is_branch};
use crate::layout::{cell, constant, frame, state, vm};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I32, I64};
use cranelift_codegen::ir::{AbiParam, Block, BlockArg, InstBuilder, JumpTableData, MemFlagsData, SigRef, Signature, Value};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, Variable};
use std::collections::HashMap;
use zakuro_bytecode::machine::Exit;
use zakuro_bytecode::{Const, Insn, Op};
use zakuro_object::Value as Ruby;
use zakuro_vm::interp::machine::{handler_of, help, waits};
use zakuro_vm::machine::Left;
use zakuro_vm::methods::fast;

/// What of `Vm::redefined` machine code relies on.
const RELIED_ON: u32 = !(fast::CLASS_HASH | fast::OWN_TRUTH);

pub struct Emitter<'a, 'b> {
    pub b: FunctionBuilder<'b>,
    pub graph: &'a Graph,
    pub types: &'a Types<'a>,
    /// What the interpreter goes on with: the copy of the instructions that has the entries.
    insns: &'a [Insn],
    /// By scope: where a frame stands while what it calls runs.
    waits: Vec<&'a [Insn]>,
    entries: &'a [usize],
    /// Registers as words and as doubles.
    words: Vec<Variable>,
    doubles: Vec<Variable>,
    blocks: HashMap<Id, Block>,
    signatures: HashMap<(usize, bool), SigRef>,
    exits: Vec<Exit>,
    /// The exit of the unit at hand, once it has one.
    exit: Option<Block>,
    /// Whether a register is truthy, as it was found by the unit before.
    pub condition: Option<(Var, Value)>,
    /// Guards fail although they hold, each in turn (`--jit=exit-everywhere`).
    pub tries_exits: bool,
    pub cx: Value,
    pub regs: Value,
    /// By scope: its state, once its call was emitted.
    pub states: Vec<Value>,
    /// The root's frame.
    pub fp: Value,
    /// By loop of a builtin: where what leaves a round goes.
    recoveries: Vec<Option<Block>>,
    /// By scope: the method cell, of inlined methods.
    pub methods: Vec<Value>,
    tails: HashMap<Tail, Block>,
    /// Those that are not emitted yet.
    tails_left: Vec<Tail>,
}

/// Where ways out of the function come together: what they have in common is emitted once.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Tail {
    /// The interpreter goes on at an instruction of a scope, by an exit (both are given). So many frames are written.
    Leave { scope: usize, pushed: usize },
    /// The same at an instruction (given), with `Vm::left` set and all frames written.
    Fail { scope: usize },
    /// The interpreter goes on behind a call whose value is given.
    Behind { scope: usize },
}

/// Registers that a call needs above its caller's window, beside its own.
const SPARE: i64 = 8;

/// Exits are numbered before their table has its place.
const MOST_EXITS: usize = 1 << 14;

impl<'a, 'b> Emitter<'a, 'b> {
    pub fn new(mut b: FunctionBuilder<'b>, graph: &'a Graph, types: &'a Types<'a>, insns: &'a [Insn], entries: &'a [usize]) -> Self {
        let first = b.create_block();
        b.append_block_params_for_function_params(first);
        b.switch_to_block(first);
        let params = b.block_params(first).to_vec();
        let words = (0..graph.vars).map(|_| b.declare_var(I64)).collect();
        let doubles = (0..graph.vars).map(|_| b.declare_var(F64)).collect();
        let fp = b.ins().load(I64, MemFlagsData::trusted(), params[0], vm::FP);
        Emitter {
            graph,
            types,
            insns,
            waits: graph.scopes.iter().map(|s| waits(&s.code)).collect(),
            entries,
            words,
            doubles,
            blocks: HashMap::new(),
            signatures: HashMap::new(),
            exits: Vec::with_capacity(MOST_EXITS.min(graph.units.len() * 2 + 16 + entries.len() * graph.vars)),
            exit: None,
            condition: None,
            tries_exits: false,
            cx: params[0],
            regs: params[2],
            states: vec![params[3]; graph.scopes.len()],
            fp,
            recoveries: vec![None; graph.loops.len()],
            methods: vec![params[0]; graph.scopes.len()],
            tails: HashMap::new(),
            tails_left: Vec::new(),
            b,
        }
    }

    pub fn run(mut self, config: TargetFrontendConfig) -> Vec<Exit> {
        for id in &self.graph.order {
            if self.types.at[*id].is_some() {
                let block = self.b.create_block();
                self.blocks.insert(*id, block);
            }
        }
        self.enter();
        let order = self.graph.order.clone();
        let mut running: Option<State> = None;
        for id in order {
            if let Some(at) = &self.types.at[id] {
                let block = self.blocks[&id];
                if let Some(s) = running.take() {
                    self.go_to(id, &s);
                }
                self.b.switch_to_block(block);
                self.condition = None;
                running = Some(at.clone());
            }
            let Some(mut s) = running.take() else { continue };
            self.exit = None;
            let plan = self.types.plan(id, &s);
            let goes_on = self.unit(id, plan, &mut s);
            if goes_on {
                running = Some(s);
                if let Some(next) = self.graph.units[id].next
                    && self.types.at[next].is_some()
                    && let Some(s) = running.take()
                {
                    self.go_to(next, &s);
                }
            }
        }
        // Inner loops may end rounds of those around them.
        self.end_tails();
        for l in (0..self.recoveries.len()).rev() {
            if let Some(block) = self.recoveries[l] {
                self.recover(l, block);
                self.end_tails();
            }
        }
        self.b.seal_all_blocks();
        self.b.finalize(config);
        self.exits
    }

    /// The beginning, and the entries at loops.
    fn enter(&mut self) {
        let entry = self.b.func.dfg.block_params(self.b.current_block().unwrap_or_else(|| unreachable!("a block was begun")))[1];
        let start = self.b.create_block();
        let loops: Vec<(Id, Block)> = self
            .entries
            .iter()
            .copied()
            .map(|at| {
                let id = self.graph.units.iter().position(|u| u.is_entry() && u.at == at).unwrap_or(0);
                (id, self.b.create_block())
            })
            .collect();
        let others = self.b.create_block();
        self.b.ins().brif(entry, others, &[], start, &[]);
        self.b.switch_to_block(others);
        if loops.is_empty() {
            self.b.ins().jump(start, &[]);
        } else {
            let refused = self.b.create_block();
            let pool = &mut self.b.func.dfg.value_lists;
            let call = |block| cranelift_codegen::ir::BlockCall::new(block, std::iter::empty::<BlockArg>(), pool);
            let mut call = call;
            let default = call(refused);
            let table: Vec<_> = std::iter::once(default).chain(loops.iter().map(|(_, block)| call(*block))).collect();
            let table = self.b.create_jump_table(JumpTableData::new(default, &table));
            let small = self.b.ins().ireduce(I32, entry);
            self.b.ins().br_table(small, table);
            self.b.switch_to_block(refused);
            self.b.ins().jump(start, &[]);
        }
        for (id, block) in loops {
            self.b.switch_to_block(block);
            if self.types.at[id].is_none() {
                self.leave(id, None);
                continue;
            }
            self.refuse_if_unlike(id);
            let s = self.loaded(id);
            self.go_to(id, &s);
        }
        self.b.switch_to_block(start);
        self.prologue();
        let s = self.loaded(0);
        self.go_to(0, &s);
    }

    /// Loads what is live at a leader from the window.
    fn loaded(&mut self, id: Id) -> State {
        let mut s = State { types: vec![Type::Unset; self.graph.vars], dirty: super::graph::Set::new(self.graph.vars), pushed: 0 };
        for v in self.graph.units[id].live_before.iter() {
            let Some(place) = self.graph.place(v) else { continue };
            let value = self.load(self.regs, place as i32 * 8);
            self.b.def_var(self.words[v], value);
            s.types[v] = Type::Any;
        }
        s
    }

    fn prologue(&mut self) {
        let code = self.graph.scopes[0].code.clone();
        let full = self.b.create_block();
        self.b.set_cold_block(full);
        // Room for the registers and frames, those of inlined calls too; the caller has written this one, where there always is room for a few more.
        let (registers, frames) = self.graph.extent();
        let end = self.b.ins().iadd_imm_s(self.regs, (registers as i64 + SPARE) * 8);
        let limit = self.load(self.cx, vm::STACK_LIMIT);
        let over = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, end, limit);
        self.jump_away(over, full);
        let top = self.b.ins().iadd_imm_s(self.fp, frames as i64 * frame::SIZE);
        let limit = self.load(self.cx, vm::FRAME_LIMIT);
        let over = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, top, limit);
        self.jump_away(over, full);
        for r in 1 + code.params.registers()..code.nlocals {
            let nil = self.word(Ruby::NIL);
            self.store(nil, self.regs, r as i32 * 8);
        }
        let sp = self.b.ins().get_stack_pointer(I64);
        let limit = self.load(self.cx, vm::NATIVE_LIMIT);
        let short = self.b.ins().icmp(IntCC::UnsignedLessThan, sp, limit);
        let away = self.b.create_block();
        self.b.set_cold_block(away);
        self.branch_away(short, away);
        let unlike = self.unlike();
        self.branch_away(unlike, away);
        let here = self.b.current_block();
        self.b.switch_to_block(away);
        self.leave(0, None);
        self.b.switch_to_block(full);
        // There may be room for this frame alone.
        let own = self.b.ins().iadd_imm_s(self.regs, code.nregs as i64 * 8);
        let limit = self.load(self.cx, vm::STACK_LIMIT);
        let values = self.b.ins().icmp(IntCC::UnsignedLessThan, own, limit);
        let limit = self.load(self.cx, vm::FRAME_LIMIT);
        let frames = self.b.ins().icmp(IntCC::UnsignedLessThan, self.fp, limit);
        let alone = self.b.ins().band(values, frames);
        let (slim, none) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(none);
        self.b.set_cold_block(slim);
        self.b.ins().brif(alone, slim, &[], none, &[]);
        self.b.switch_to_block(slim);
        for r in 1 + code.params.registers()..code.nlocals {
            let nil = self.word(Ruby::NIL);
            self.store(nil, self.regs, r as i32 * 8);
        }
        self.leave(0, None);
        self.b.switch_to_block(none);
        let none = self.call_help(help::no_room as *const () as usize, &[self.cx]);
        self.b.ins().return_(&[none]);
        if let Some(here) = here {
            self.b.switch_to_block(here);
        }
        self.poll(0, None);
    }

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
                let d = self.b.use_var(self.doubles[v]);
                self.boxed(d)
            }
            _ => self.b.use_var(self.words[v]),
        }
    }
    pub fn get_double(&mut self, v: Var) -> Value {
        self.b.use_var(self.doubles[v])
    }
    pub fn set(&mut self, v: Var, value: Value) {
        self.b.def_var(self.words[v], value);
    }
    pub fn set_double(&mut self, v: Var, value: Value) {
        self.b.def_var(self.doubles[v], value);
    }
    fn is_volatile(&self, id: Id, reg: u16) -> bool {
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
    fn flush_window(&mut self, id: Id, s: &State) {
        let live = self.graph.units[id].live_before.clone();
        let dirty: Vec<Var> = s.dirty.iter().filter(|v| live.has(*v)).collect();
        for v in dirty {
            let Some(place) = self.graph.place(v) else { continue };
            // Where it is left, the code is better short than fast.
            let cold = self.b.current_block().is_some_and(|b| self.b.func.layout.is_cold(b));
            let value = if cold && s.of(v) == Type::Double {
                let d = self.get_double(v);
                self.call_help_double(help::make_float as *const () as usize, self.cx, d)
            } else {
                self.get(v, s)
            };
            self.store(value, self.regs, place as i32 * 8);
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

    /// A Float of a double.
    pub fn boxed(&mut self, d: Value) -> Value {
        let bits = self.b.ins().bitcast(I64, MemFlagsData::new(), d);
        let top = self.b.ins().ushr_imm_u(bits, 60);
        let next = self.b.ins().iadd_imm_s(top, 1);
        let common = self.b.ins().band_imm_s(next, 6);
        let common = self.b.ins().icmp_imm_s(IntCC::Equal, common, 4);
        let edge = self.b.ins().icmp_imm_s(IntCC::NotEqual, bits, 0x3000_0000_0000_0000);
        let fits = self.b.ins().band(common, edge);
        let (small, large, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.append_block_param(done, I64);
        self.b.set_cold_block(large);
        self.b.ins().brif(fits, small, &[], large, &[]);
        self.b.switch_to_block(small);
        let turned = self.b.ins().rotl_imm_u(bits, 3);
        let cleared = self.b.ins().band_imm_s(turned, !3);
        let tagged = self.b.ins().bor_imm_s(cleared, 2);
        self.b.ins().jump(done, &[tagged.into()]);
        self.b.switch_to_block(large);
        let zero = self.b.ins().icmp_imm_s(IntCC::Equal, bits, 0);
        let (nought, made) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(zero, nought, &[], made, &[]);
        self.b.switch_to_block(nought);
        let zero = self.constant(0x8000_0000_0000_0002u64 as i64);
        self.b.ins().jump(done, &[zero.into()]);
        self.b.switch_to_block(made);
        let v = self.call_help_double(help::make_float as *const () as usize, self.cx, d);
        self.b.ins().jump(done, &[v.into()]);
        self.b.switch_to_block(done);
        self.b.block_params(done)[0]
    }
    /// The double of a flonum.
    fn unpacked(&mut self, v: Value) -> Value {
        let sign = self.b.ins().ushr_imm_u(v, 63);
        let two = self.constant(2);
        let low = self.b.ins().isub(two, sign);
        let rest = self.b.ins().band_imm_s(v, !3);
        let turned = self.b.ins().bor(low, rest);
        let bits = self.b.ins().rotr_imm_u(turned, 3);
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
        let tag = self.b.ins().band_imm_s(v, 3);
        let is = self.b.ins().icmp_imm_s(IntCC::Equal, tag, 2);
        self.b.ins().brif(is, flonum, &[], rest, &[]);
        self.b.switch_to_block(rest);
        let is_cell = self.is_cell(v);
        self.b.ins().brif(is_cell, cell_block, &[], other, &[]);
        self.b.switch_to_block(cell_block);
        let kind = self.load_u8(v, cell::KIND);
        let is = self.b.ins().icmp_imm_s(IntCC::Equal, kind, zakuro_object::Kind::Float as i64);
        let heap = self.b.create_block();
        self.b.set_cold_block(heap);
        self.b.ins().brif(is, heap, &[], other, &[]);
        self.b.switch_to_block(heap);
        let d = self.b.ins().load(F64, MemFlagsData::trusted(), v, cell::FLOAT_VALUE);
        self.b.ins().jump(done, &[d.into()]);
        self.b.switch_to_block(flonum);
        let d = self.unpacked(v);
        self.b.ins().jump(done, &[d.into()]);
        self.b.switch_to_block(done);
        self.b.block_params(done)[0]
    }
    pub fn is_cell(&mut self, v: Value) -> Value {
        let tag = self.b.ins().band_imm_s(v, 7);
        self.b.ins().icmp_imm_s(IntCC::Equal, tag, 0)
    }
    pub fn is_truthy(&mut self, v: Value) -> Value {
        let rest = self.b.ins().band_imm_s(v, !0x10);
        self.b.ins().icmp_imm_s(IntCC::NotEqual, rest, 4)
    }
    pub fn boolean(&mut self, condition: Value) -> Value {
        let (yes, no) = (self.word(Ruby::TRUE), self.word(Ruby::FALSE));
        self.b.ins().select(condition, yes, no)
    }

    // ---- guards ----

    /// Where a unit goes when it can't go on: the interpreter does it again.
    pub fn exit_of(&mut self, id: Id, s: &State) -> Block {
        if let Some(b) = self.exit {
            return b;
        }
        let here = self.b.current_block();
        let block = self.b.create_block();
        self.b.set_cold_block(block);
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
    fn leave_from(&mut self, id: Id, s: &State, what: Option<u16>) {
        self.flush_window(id, s);
        let (scope, at) = (self.graph.units[id].scope, self.graph.units[id].at);
        let (ip, by) = (self.constant(self.insn_address(scope, at)), self.exit_by(scope, at, what));
        let tail = self.tail(Tail::Leave { scope, pushed: s.pushed.min(self.graph.scopes[scope].depth) }, 2);
        self.b.ins().jump(tail, &[ip.into(), by.into()]);
    }
    fn tail(&mut self, tail: Tail, parameters: usize) -> Block {
        if let Some(b) = self.tails.get(&tail) {
            return *b;
        }
        let block = self.b.create_block();
        self.b.set_cold_block(block);
        for _ in 0..parameters {
            self.b.append_block_param(block, I64);
        }
        self.tails.insert(tail, block);
        self.tails_left.push(tail);
        block
    }
    fn end_tails(&mut self) {
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
                Tail::Behind { scope } => {
                    self.call_help(help::go_on_behind as *const () as usize, &[self.cx, given[0]]);
                    self.end(scope);
                }
            }
        }
    }
    fn leave_by(&mut self, scope: usize, by: Value) {
        let why = self.b.ins().iconst(I32, Left::Guard as i64);
        self.b.ins().store(MemFlagsData::trusted(), why, self.cx, vm::LEFT);
        self.store(by, self.cx, vm::LEFT_BY);
        self.end(scope);
    }
    /// An exit, as `Vm::left_by` names it.
    fn exit_by(&mut self, scope: usize, at: usize, what: Option<u16>) -> Value {
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
                let none = self.constant(0);
                self.b.ins().return_(&[none]);
            }
            Some(l) => {
                let block = self.recovery(l);
                self.b.ins().jump(block, &[]);
            }
        }
    }
    fn recovery(&mut self, l: usize) -> Block {
        if let Some(b) = self.recoveries[l] {
            return b;
        }
        let block = self.b.create_block();
        self.b.set_cold_block(block);
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
        let on = self.b.create_block();
        self.b.ins().brif(condition, on, &[], away, &[]);
        self.b.switch_to_block(on);
    }
    /// The same where `away` is right only if the condition holds.
    pub fn jump_away(&mut self, condition: Value, away: Block) {
        let on = self.b.create_block();
        self.b.ins().brif(condition, away, &[], on, &[]);
        self.b.switch_to_block(on);
    }
    /// A guard that holds fails all the same when it is its turn.
    fn try_exit(&mut self, away: Block) {
        if !self.tries_exits || !self.b.func.layout.is_cold(away) {
            return;
        }
        let (on, fails) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(fails);
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
                self.set_double(v, d);
                d
            }
            _ => {
                let n = self.fixnum(id, v, s);
                let n = self.b.ins().sshr_imm_u(n, 1);
                self.b.ins().fcvt_from_sint(F64, n)
            }
        }
    }

    /// Whether something that this relies on is not as it was.
    pub fn unlike(&mut self) -> Value {
        let redefined = self.load_u32(self.cx, vm::REDEFINED);
        let bits = self.b.ins().band_imm_s(redefined, RELIED_ON as i64);
        self.b.ins().icmp_imm_s(IntCC::NotEqual, bits, 0)
    }
    fn refuse_if_unlike(&mut self, id: Id) {
        let away = self.b.create_block();
        self.b.set_cold_block(away);
        let unlike = self.unlike();
        self.branch_away(unlike, away);
        let here = self.b.current_block();
        self.b.switch_to_block(away);
        self.leave(id, None);
        if let Some(here) = here {
            self.b.switch_to_block(here);
        }
    }
    /// After what may have run Ruby code: the interpreter goes on behind it if something has changed. `value`: what is still to be left in the window.
    pub fn go_on_if_like(&mut self, id: Id, value: Option<Value>) {
        let away = self.b.create_block();
        self.b.set_cold_block(away);
        let unlike = self.unlike();
        self.branch_away(unlike, away);
        let here = self.b.current_block();
        self.b.switch_to_block(away);
        let value = value.unwrap_or_else(|| self.constant(0));
        let tail = self.tail(Tail::Behind { scope: self.graph.units[id].scope }, 1);
        self.b.ins().jump(tail, &[value.into()]);
        if let Some(here) = here {
            self.b.switch_to_block(here);
        }
    }
    /// The same where the interpreter goes on at `next` if `also`; windows and frames are up to date but for a result.
    pub fn leave_if_unlike(&mut self, id: Id, next: usize, also: Option<Value>, result: Option<(u16, Value)>) {
        let away = self.b.create_block();
        self.b.set_cold_block(away);
        let unlike = self.unlike();
        let leaves = match also {
            Some(c) => self.b.ins().band(unlike, c),
            None => unlike,
        };
        self.jump_away(leaves, away);
        let here = self.b.current_block();
        self.b.switch_to_block(away);
        if let Some((reg, v)) = result {
            self.store_reg(v, id, reg);
        }
        self.leave_at(id, next, None);
        if let Some(here) = here {
            self.b.switch_to_block(here);
        }
    }
    /// Attention that somebody asks for.
    pub fn poll_bits(&mut self) -> Value {
        let word = self.load_fixed(self.cx, vm::POLL);
        // Others write it: a plain load in a loop that stores nothing would be taken for the one before the loop.
        self.b.ins().atomic_load(I32, MemFlagsData::trusted(), word)
    }
    /// Asks for interrupts before a unit; `from`: what is not in the window.
    fn poll(&mut self, id: Id, from: Option<&State>) {
        let bits = self.poll_bits();
        let away = self.b.create_block();
        self.b.set_cold_block(away);
        self.branch_away(bits, away);
        let here = self.b.current_block();
        self.b.switch_to_block(away);
        if let Some(s) = from {
            self.flush(id, s);
        }
        let scope = self.graph.units[id].scope;
        self.stand_at(scope, self.insn_address(scope, self.graph.units[id].at));
        let why = self.b.ins().iconst(I32, Left::Poll as i64);
        self.b.ins().store(MemFlagsData::trusted(), why, self.cx, vm::LEFT);
        self.end(scope);
        if let Some(here) = here {
            self.b.switch_to_block(here);
        }
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
        let to = self.constant(address as i64);
        self.call_at(to, arguments)
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
    fn call_help_double(&mut self, address: usize, cx: Value, d: Value) -> Value {
        let signature = self.signature(1, true);
        let to = self.constant(address as i64);
        let call = self.b.ins().call_indirect(signature, to, &[cx, d]);
        self.b.inst_results(call)[0]
    }
    /// Ends the function if the helper has answered 0: it has said why in `Vm::left`, and the frame stands at `at` then.
    pub fn fail_if_none(&mut self, v: Value, id: Id, at: usize) {
        let (on, away) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(away);
        self.b.ins().brif(v, on, &[], away, &[]);
        self.b.switch_to_block(away);
        let scope = self.graph.units[id].scope;
        let ip = self.constant(self.insn_address(scope, at));
        let tail = self.tail(Tail::Fail { scope }, 1);
        self.b.ins().jump(tail, &[ip.into()]);
        self.b.switch_to_block(on);
    }
    /// The same where windows and frames are not up to date yet.
    pub fn fail_if_refused(&mut self, v: Value, id: Id, s: &State) {
        let (on, away) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(away);
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
        let handler = self.constant(handler_of(self.graph.scopes[scope].code.insns[at].opcode()) as usize as i64);
        let [cx, ip, regs, cs] = self.handler_arguments(id, ip);
        let v = self.call_help(help::step as *const () as usize, &[cx, ip, regs, cs, handler]);
        self.fail_if_none(v, id, at);
        self.go_on_if_like(id, None);
    }

    // ---- ways ----

    /// Goes to a leader: what is known there is made so.
    pub fn go_to(&mut self, to: Id, from: &State) {
        let Some(wanted) = self.types.at[to].clone() else {
            // Never run so far, and nothing is known.
            return self.go_nowhere(to, from);
        };
        for v in self.graph.units[to].live_before.clone().iter() {
            match (from.of(v), wanted.of(v)) {
                (Type::Any, Type::Double) => {
                    let other = self.misfit(to, v, from);
                    let value = self.get(v, from);
                    let d = self.unboxed(value, other);
                    self.set_double(v, d);
                }
                (Type::Any, Type::Fixnum) => {
                    let other = self.misfit(to, v, from);
                    let value = self.get(v, from);
                    let bit = self.b.ins().band_imm_s(value, 1);
                    self.branch_unless(bit, other);
                }
                (Type::Double, Type::Any) => {
                    let value = self.get(v, from);
                    self.set(v, value);
                }
                _ => {}
            }
        }
        if from.pushed < wanted.pushed {
            self.push_frames(self.graph.units[to].scope, from.pushed);
        }
        self.b.ins().jump(self.blocks[&to], &[]);
    }
    /// Where it goes when a register doesn't hold what is wanted at a leader: the interpreter goes on there.
    fn misfit(&mut self, to: Id, v: Var, from: &State) -> Block {
        let here = self.b.current_block();
        let block = self.b.create_block();
        self.b.set_cold_block(block);
        self.b.switch_to_block(block);
        let u = &self.graph.units[to];
        let reg = (v - self.graph.scopes[u.scope].vars) as u16;
        self.leave_from(to, from, Some(REGISTER + reg));
        if let Some(here) = here {
            self.b.switch_to_block(here);
        }
        block
    }
    fn go_nowhere(&mut self, to: Id, from: &State) {
        self.leave_from(to, from, None);
    }
    /// A block that goes to the target of a jump.
    pub fn way_to(&mut self, to: Id, polls: bool, s: &State) -> Block {
        let here = self.b.current_block();
        let block = self.b.create_block();
        self.b.switch_to_block(block);
        if polls {
            self.poll(to, Some(s));
        }
        self.go_to(to, s);
        if let Some(here) = here {
            self.b.switch_to_block(here);
        }
        block
    }
    /// Jumps if so, else goes on.
    pub fn jump_if(&mut self, id: Id, condition: Value, negated: bool, s: &State) {
        let u = &self.graph.units[id];
        let Some(to) = u.jump else { return };
        let way = self.way_to(to, u.op.polls(), s);
        if negated { self.branch_unless(condition, way) } else { self.branch_away(condition, way) }
    }

    /// Emits a unit. False: control does not go on to the next one.
    fn unit(&mut self, id: Id, plan: Plan, s: &mut State) -> bool {
        use Op::*;
        let u = &self.graph.units[id];
        let (i, at, op) = (u.insn, u.at, u.op);
        let condition = self.condition.take();
        match u.what {
            What::Plain => {}
            What::Enter(k) => {
                self.enter_scope(id, k, s);
                self.types.apply(id, plan, s);
                return true;
            }
            What::Leave => {
                self.leave_scope(id, s);
                self.types.apply(id, plan, s);
                return u.next.is_some();
            }
            What::Begin(l) => {
                self.begin_loop(id, l, s);
                self.types.apply(id, plan, s);
                return true;
            }
            What::Iterate(l) => {
                self.next_round(id, l, s);
                self.types.apply(id, plan, s);
                return true;
            }
            What::Finish(l) => {
                self.finish_loop(id, l);
                self.types.apply(id, plan, s);
                return u.next.is_some();
            }
        }
        if plan == Plan::Never {
            self.leave_from(id, s, Some(super::types::UNSEEN));
            return false;
        }
        if self.tries_exits {
            let exit = self.exit_of(id, s);
            self.try_exit(exit);
        }
        match op {
            Move => {
                let from = self.graph.var(id, i.b);
                if s.of(from) == Type::Double && !self.is_volatile(id, i.b) {
                    let d = self.get_double(from);
                    self.set_double(self.graph.var(id, i.a), d);
                    if self.is_volatile(id, i.a) {
                        let v = self.boxed(d);
                        self.write(id, i.a, v);
                    }
                } else {
                    let v = self.read(id, i.b, s);
                    self.write(id, i.a, v);
                }
                self.condition = condition.filter(|c| c.0 == from).map(|c| (self.graph.var(id, i.a), c.1));
            }
            LoadInt => {
                let v = self.word(Ruby::fixnum(i.imm() as i64));
                self.write(id, i.a, v);
            }
            LoadNil | LoadTrue | LoadFalse | LoadUndef => {
                let v = self.word(match op {
                    LoadNil => Ruby::NIL,
                    LoadTrue => Ruby::TRUE,
                    LoadFalse => Ruby::FALSE,
                    _ => Ruby::UNDEF,
                });
                self.write(id, i.a, v);
            }
            LoadConst => match self.graph.scopes[u.scope].code.consts[i.b as usize] {
                Const::Float(d) => {
                    let d = self.b.ins().f64const(d);
                    self.set_double(self.graph.var(id, i.a), d);
                }
                _ => {
                    let consts = self.load_fixed(self.states[u.scope], state::CONSTS);
                    let v = self.load_fixed(consts, i.b as i32 * 8);
                    self.write(id, i.a, v);
                }
            },
            GetEnv | SetEnv => self.environment(id, s),
            GetIvar => self.get_ivar(id, s),
            SetIvar => self.set_ivar(id, s),
            GetConst => self.get_const(id, s),
            Jump | Loop => {
                if let Some(to) = u.jump {
                    if op.polls() {
                        self.poll(to, Some(s));
                    }
                    self.go_to(to, s);
                }
                return false;
            }
            JumpIf | JumpUnless | LoopIf | LoopUnless => {
                let v = self.graph.var(id, i.a);
                let known = condition.filter(|c| c.0 == v).map(|c| c.1);
                let truthy = match known {
                    Some(c) => c,
                    None => {
                        let value = self.read(id, i.a, s);
                        self.is_truthy(value)
                    }
                };
                self.jump_if(id, truthy, matches!(op, JumpUnless | LoopUnless), s);
            }
            JumpNil | JumpNotNil | JumpDef => {
                let v = self.read(id, i.a, s);
                let what = if op == JumpDef { Ruby::UNDEF } else { Ruby::NIL };
                let is = self.b.ins().icmp_imm_s(IntCC::Equal, v, what.bits() as i64);
                self.jump_if(id, is, op != JumpNil, s);
            }
            JumpOther if u.jump.is_none() => {
                self.fixnum(id, self.graph.var(id, i.a), s);
            }
            JumpOther => {
                let v = self.read(id, i.a, s);
                let small = self.b.ins().band_imm_s(v, 1);
                self.jump_if(id, small, true, s);
            }
            JumpBelow | JumpSame => {
                let v = self.read(id, i.a, s);
                let asks = if op == JumpSame { IntCC::Equal } else { IntCC::SignedLessThan };
                let so = self.b.ins().icmp_imm_s(asks, v, Ruby::fixnum(i.signed(zakuro_bytecode::op::Field::B) as i64).bits() as i64);
                self.jump_if(id, so, false, s);
            }
            Return => {
                let v = self.read(id, i.a, s);
                let below = self.b.ins().iadd_imm_s(self.fp, -frame::SIZE);
                self.store(below, self.cx, vm::FP);
                self.b.ins().return_(&[v]);
                return false;
            }
            ReturnBlock | BreakBlock | Rethrow | OpenClass | DefSingleton | DefMethod | Halt | Catch => {
                self.leave_from(id, s, None);
                return false;
            }
            // It always raises.
            _ if u.next.is_none() => {
                self.leave_from(id, s, None);
                return false;
            }
            BlockGiven if u.scope != 0 => {
                let scope = &self.graph.scopes[u.scope];
                let given = scope.kind == Kind::Method && matches!(self.graph.units[scope.call].op, SendBlk | SendSelfBlk);
                let v = self.word(if given { Ruby::TRUE } else { Ruby::FALSE });
                self.write(id, i.a, v);
            }
            BlockGiven => {
                let block = self.load(self.fp, frame::BLOCK);
                let given = self.b.ins().icmp_imm_s(IntCC::NotEqual, block, 0);
                let v = self.boolean(given);
                self.write(id, i.a, v);
            }
            Send | SendBlk | SendSelf | SendSelfBlk => self.send(id, s),
            Yield => self.yields(id, s),
            op if op.group_length() > 1 => {
                self.operator(id, plan, s);
            }
            _ => {
                self.flush(id, s);
                self.step(id, at);
                let (_, writes, _) = self.graph.effects(id);
                for v in writes {
                    let Some(place) = self.graph.place(v) else { continue };
                    let value = self.load(self.regs, place as i32 * 8);
                    self.set(v, value);
                }
            }
        }
        self.types.apply(id, plan, s);
        u.next.is_some() || is_branch(op)
    }

    fn environment(&mut self, id: Id, s: &State) {
        let i = self.graph.units[id].insn;
        let mut e = self.read(id, i.c, s);
        for _ in 0..i.x {
            e = self.load_fixed(e, cell::ENV_PARENT);
        }
        let slot = cell::ENV_SLOTS + i.b as i32 * 8;
        if self.graph.units[id].op == Op::GetEnv {
            let v = self.load(e, slot);
            return self.write(id, i.a, v);
        }
        let v = self.read(id, i.a, s);
        let flags = self.load_u8(e, cell::FLAGS);
        let old = self.b.ins().band_imm_s(flags, zakuro_object::flags::OLD as i64);
        let (young, aged, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(aged);
        self.b.ins().brif(old, aged, &[], young, &[]);
        self.b.switch_to_block(aged);
        let number = self.constant(i.b as i64);
        self.call_help(help::set_old_env as *const () as usize, &[e, number, v]);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(young);
        self.store(v, e, slot);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// The slow way of a unit that has a fast one: the interpreter's, whose result is then in register `a`. Ends with a jump.
    pub fn slow(&mut self, id: Id, at: usize, s: &State, to: Block, result: Option<u16>) {
        self.flush(id, s);
        self.step(id, at);
        self.unflush(id, s);
        match result {
            Some(reg) => {
                let v = self.load_reg(id, reg);
                self.b.ins().jump(to, &[v.into()]);
            }
            None => {
                self.b.ins().jump(to, &[]);
            }
        }
    }

    fn get_const(&mut self, id: Id, s: &State) {
        let (i, at) = (self.graph.units[id].insn, self.graph.units[id].at);
        let caches = self.load_fixed(self.state_of(id), state::CONSTS_CACHE);
        let entry = i.c as i32 * constant::SIZE;
        let known = self.load_u32(caches, entry + constant::EPOCH);
        let epoch = self.load_u32(self.cx, vm::CONST_EPOCH);
        let same = self.b.ins().icmp(IntCC::Equal, known, epoch);
        let cref = self.load(caches, entry + constant::CREF);
        let me = self.load(self.fp, frame::ME);
        let own = self.load(me, cell::METHOD_CREF);
        let mine = self.b.ins().icmp(IntCC::Equal, cref, own);
        let good = self.b.ins().band(same, mine);
        let (fast, slow, done) = self.two_ways(good, true);
        self.b.switch_to_block(slow);
        self.slow(id, at, s, done, Some(i.a));
        self.b.switch_to_block(fast);
        let v = self.load(caches, entry + constant::VALUE);
        self.b.ins().jump(done, &[v.into()]);
        self.b.switch_to_block(done);
        let v = self.b.block_params(done)[0];
        self.write(id, i.a, v);
    }

    /// Blocks for a fast way, a slow one, and what comes after, with a value or without.
    pub fn two_ways(&mut self, good: Value, value: bool) -> (Block, Block, Block) {
        let (fast, slow, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(slow);
        if value {
            self.b.append_block_param(done, I64);
        }
        self.b.ins().brif(good, fast, &[], slow, &[]);
        (fast, slow, done)
    }
}
