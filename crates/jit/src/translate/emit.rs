//! The function as a whole: entries, blocks, exits, and what every unit needs.

use super::graph::{Graph, Id, Kind, Set, Var, What};
use super::types::{LINKS, Plan, State, Type, Types, is_branch, is_call, is_plain_expansion, is_splat};
use crate::layout::{cell, constant, frame, state, vm};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I8, I32, I64};
use cranelift_codegen::ir::{Block, BlockArg, FuncRef, InstBuilder, JumpTableData, MemFlagsData, SigRef, Value};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, Variable};
use std::collections::{HashMap, HashSet};
use zakuro_bytecode::machine::{Exit, Expected};
use zakuro_bytecode::{Const, Insn, Op};
use zakuro_object::Value as Ruby;
use zakuro_vm::frame::FRAME_LAMBDA;
use zakuro_vm::interp::machine::{help, waits};
use zakuro_vm::interp::quiet;
use zakuro_vm::methods::fast;

pub struct Emitter<'a, 'b> {
    pub b: FunctionBuilder<'b>,
    pub graph: &'a Graph,
    pub types: &'a Types<'a>,
    /// What the interpreter goes on with: the copy of the instructions that has the entries.
    pub insns: &'a [Insn],
    /// By scope: where a frame stands while what it calls runs.
    pub waits: Vec<&'a [Insn]>,
    pub entries: &'a [usize],
    /// Registers as words and as doubles. Beside a double its word is the Float of it, if there is one; else 0.
    pub words: Vec<Variable>,
    pub doubles: Vec<Variable>,
    blocks: HashMap<Id, Block>,
    /// By number of words, and whether a double follows; and that of stubs, with the place where they find arguments.
    pub signatures: HashMap<(usize, bool), SigRef>,
    pub aside: Option<(SigRef, cranelift_codegen::ir::StackSlot)>,
    /// Doubles may stand in registers.
    pub has_doubles: bool,
    pub exits: Vec<Exit>,
    /// Call sites that are guarded by shape, and the table that says which; `None`: there are no calls.
    pub expected: Vec<Expected>,
    pub table: Option<Value>,
    /// Accesses to attributes that take for granted what was found of an object.
    pub groups: Vec<super::groups::Group>,
    /// The exit of the unit at hand, once it has one.
    pub exit: Option<Block>,
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
    pub recoveries: Vec<Option<Block>>,
    /// By scope: the method cell, of inlined methods.
    pub methods: Vec<Value>,
    pub tails: HashMap<Tail, Block>,
    /// Those that are not emitted yet.
    pub tails_left: Vec<Tail>,
    /// The root's self; and the VM's generation when what is linked was last looked at.
    pub own: Variable,
    /// By scope: the table of where its instance variables stand.
    pub layouts: Vec<Variable>,
    /// By scope: where they begin.
    pub slots: Vec<Variable>,
    pub generation: Variable,
    /// Of Arrays that were looked at.
    pub extents: HashMap<Var, super::arrays::Extent>,
    /// The loop that a block goes on with, or 0.
    pub rounds: Variable,
    /// Where all rounds of such a block end, with its value.
    pub round_end: Option<Block>,
    /// What the call at hand leaves out of the window, and where these stand.
    pub late: Option<(Vec<Var>, State)>,
    /// What a direct function is given ([`super::direct`]): self and arguments. Empty: they stand in the window.
    given: Vec<Value>,
    /// The function itself, if it is direct.
    pub itself: Option<FuncRef>,
    /// Doubles, and the word of each that is a Float of it.
    pub floats: HashSet<(Value, Value)>,
    /// Doubles that are made Floats, but for ways out; and which were copied to which, whether they live on then.
    pub boxed_vars: Set,
    pub copies: Vec<Copy>,
    /// The last copy to a variable, in the stretch at hand.
    pub copied_in: HashMap<Var, usize>,
    /// Copies of what lives on that are made Floats in the end, as the translation before has found: these are made first, of what is copied.
    pub boxed_before: HashSet<(Id, Var)>,
    /// The unit at hand.
    pub current: Id,
}

/// A double that becomes that of another variable, too.
pub struct Copy {
    pub unit: Id,
    pub from: Var,
    pub to: Var,
    /// The first one lives on.
    pub lives_on: bool,
    /// The copy that the first one is.
    pub of: Option<usize>,
    /// It is made a Float, in the stretch in which it is made; or lives longer, whatever is made of it.
    pub boxed: bool,
    pub escapes: bool,
}

/// Where ways out of the function come together: what they have in common is emitted once.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tail {
    /// The interpreter goes on at an instruction of a scope, by an exit (both are given). So many frames are written.
    Leave { scope: usize, pushed: usize },
    /// The same at an instruction (given), with `Vm::left` set and all frames written.
    Fail { scope: usize },
    /// The function ends, with `Vm::left` set, in a frame that stands where it waited, or where the interpreter goes on.
    Waited { scope: usize },
    /// The interpreter goes on behind a call whose value is given.
    Behind { scope: usize },
    /// The function ends without a value.
    Left,
}

/// Registers that a call needs above its caller's window, beside its own.
const SPARE: i64 = 8;

/// Exits are numbered before their table has its place.
const MOST_EXITS: usize = 1 << 14;

impl<'a, 'b> Emitter<'a, 'b> {
    /// `direct`: the function has the signature of direct ones.
    pub fn new(
        mut b: FunctionBuilder<'b>,
        graph: &'a Graph,
        types: &'a Types<'a>,
        insns: &'a [Insn],
        entries: &'a [usize],
        direct: bool,
    ) -> Self {
        let first = b.create_block();
        b.append_block_params_for_function_params(first);
        b.switch_to_block(first);
        let params = b.block_params(first).to_vec();
        let words = (0..graph.vars).map(|_| b.declare_var(I64)).collect();
        let doubles = (0..graph.vars).map(|_| b.declare_var(F64)).collect();
        let (own, generation, rounds) = (b.declare_var(I64), b.declare_var(I32), b.declare_var(I64));
        let [layouts, slots] = [(); 2].map(|()| graph.scopes.iter().map(|_| b.declare_var(I64)).collect());
        let plain = MemFlagsData::trusted();
        let (fp, regs, cs) = if direct {
            (params[1], b.ins().load(I64, plain, params[1], frame::REGS), params[2])
        } else {
            (b.ins().load(I64, plain, params[0], vm::FP), params[2], params[3])
        };
        let given = if direct { params[3..].to_vec() } else { Vec::new() };
        let calls = graph.units.iter().any(|u| is_call(u.op) || matches!(u.what, What::Enter(_)));
        let table = calls.then(|| b.ins().load(I64, plain, cs, state::SITES));
        if !graph.links.is_empty() {
            let me = given.first().copied().unwrap_or_else(|| b.ins().load(I64, plain, regs, 0));
            b.def_var(own, me);
            let now = b.ins().load(I32, plain, params[0], vm::GENERATION);
            b.def_var(generation, now);
        }
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
            aside: None,
            has_doubles: graph.order.iter().any(|id| types.makes_double(*id)),
            exits: Vec::with_capacity(MOST_EXITS.min(graph.units.len() * 2 + 16 + entries.len() * graph.vars)),
            expected: Vec::new(),
            table,
            groups: Vec::new(),
            exit: None,
            condition: None,
            tries_exits: false,
            cx: params[0],
            regs,
            states: vec![cs; graph.scopes.len()],
            fp,
            recoveries: vec![None; graph.loops.len()],
            methods: vec![params[0]; graph.scopes.len()],
            tails: HashMap::new(),
            tails_left: Vec::new(),
            own,
            layouts,
            slots,
            generation,
            extents: HashMap::new(),
            rounds,
            round_end: None,
            late: None,
            given,
            itself: None,
            floats: HashSet::new(),
            boxed_vars: Set::new(graph.vars),
            copies: Vec::new(),
            copied_in: HashMap::new(),
            boxed_before: HashSet::new(),
            current: 0,
            b,
        }
    }

    /// Emits the function: its exits, call sites, and of a direct one the exit for links which lead elsewhere; and which copies of doubles are made Floats.
    pub fn run(mut self, config: TargetFrontendConfig) -> (Vec<Exit>, Vec<Expected>, *const Exit, HashSet<(Id, Var)>) {
        self.exits.push(Exit { at: 0, what: LINKS, depth: 0 });
        let lost = self.exits.as_ptr();
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
                self.groups.clear();
                self.copied_in.clear();
                running = Some(at.clone());
            }
            let Some(mut s) = running.take() else { continue };
            self.exit = None;
            self.late = None;
            self.current = id;
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
        self.begin_next_round();
        // Inner loops may end rounds of those around them.
        self.end_tails();
        for l in (0..self.recoveries.len()).rev() {
            if let Some(block) = self.recoveries[l] {
                self.recover(l, block);
                self.end_tails();
            }
        }
        self.b.seal_all_blocks();
        let boxed = self.boxed_copies();
        self.b.finalize(config);
        (self.exits, self.expected, lost, boxed)
    }
    /// Copies of what lives on that are made Floats, or are copied to such: the unit that makes each, and to which variable.
    fn boxed_copies(&self) -> HashSet<(Id, Var)> {
        let mut vars = self.boxed_vars.clone();
        let mut boxed: Vec<bool> = self.copies.iter().map(|c| c.boxed).collect();
        let mut more = true;
        while more {
            more = false;
            // Later ones are copies of earlier ones.
            for (n, c) in self.copies.iter().enumerate().rev() {
                boxed[n] |= c.escapes && vars.has(c.to);
                match c.of {
                    _ if !boxed[n] => {}
                    Some(of) => {
                        more |= !boxed[of];
                        boxed[of] = true;
                    }
                    None => {
                        more |= !vars.has(c.from);
                        vars.add(c.from);
                    }
                }
            }
        }
        let of_lasting = self.copies.iter().zip(&boxed).filter(|(c, boxed)| c.lives_on && **boxed);
        of_lasting.map(|(c, _)| (c.unit, c.to)).collect()
    }

    /// The beginning, and the entries at loops.
    fn enter(&mut self) {
        if !self.given.is_empty() {
            let s = self.given();
            self.prologue(&s);
            return self.go_to(0, &s);
        }
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
        let alone = self.constant(0);
        self.b.def_var(self.rounds, alone);
        self.b.ins().brif(entry, others, &[], start, &[]);
        self.b.switch_to_block(others);
        let goes_round = self.graph.rounds.then(|| self.b.create_block());
        if loops.is_empty() && goes_round.is_none() {
            self.b.ins().jump(start, &[]);
        } else {
            let refused = self.b.create_block();
            let pool = &mut self.b.func.dfg.value_lists;
            let call = |block| cranelift_codegen::ir::BlockCall::new(block, std::iter::empty::<BlockArg>(), pool);
            let mut call = call;
            let default = call(refused);
            let entries = loops.iter().map(|(_, block)| *block).chain(goes_round);
            let table: Vec<_> = std::iter::once(default).chain(entries.map(call)).collect();
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
        if let Some(block) = goes_round {
            self.b.switch_to_block(block);
            let rounds = self.load(self.cx, vm::ROUNDS);
            self.b.def_var(self.rounds, rounds);
            self.b.ins().jump(start, &[]);
        }
        self.b.switch_to_block(start);
        let none = self.types.beginning();
        self.prologue(&none);
        let s = self.loaded(0);
        self.go_to(0, &s);
    }

    /// Loads what is live at a leader from the window.
    fn loaded(&mut self, id: Id) -> State {
        let mut s =
            State { types: vec![Type::Unset; self.graph.vars], dirty: super::graph::Set::new(self.graph.vars), pushed: 0, laid_out: 0 };
        for v in self.graph.units[id].live_before.iter() {
            let Some(place) = self.graph.place(v) else { continue };
            let value = self.load(self.regs, place as i32 * 8);
            self.b.def_var(self.words[v], value);
            s.types[v] = Type::Any;
        }
        s
    }

    /// A direct function has self and arguments in registers, and its other locals are nil.
    fn given(&mut self) -> State {
        let nil = self.word(Ruby::NIL);
        for r in 0..self.graph.scopes[0].code.nlocals as usize {
            let v = self.given.get(r).copied().unwrap_or(nil);
            self.set(r, v);
        }
        self.types.beginning()
    }
    /// Writes all that a direct function was given to the window, for who begins the call anew.
    fn write_given(&mut self) {
        for (r, v) in self.given.clone().into_iter().enumerate() {
            self.store(v, self.regs, r as i32 * 8);
        }
    }

    /// Looks whether there is room, and whether somebody wants attention. `s`: what holds at the beginning.
    fn prologue(&mut self, s: &State) {
        let code = self.graph.scopes[0].code.clone();
        let direct = !self.given.is_empty();
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
        if !direct {
            self.clear_window();
        }
        let sp = self.b.ins().get_stack_pointer(I64);
        let limit = self.load(self.cx, vm::NATIVE_LIMIT);
        let short = self.b.ins().icmp(IntCC::UnsignedLessThan, sp, limit);
        let (away, lost) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(away);
        self.b.set_cold_block(lost);
        self.branch_away(short, away);
        // Who calls a direct function has looked.
        if !direct {
            self.enter_linked(away, lost, |e| {
                e.stand_at(0, e.insn_address(0, 0));
                e.end(0);
            });
        }
        let here = self.b.current_block();
        for (block, what) in [(away, None), (lost, Some(LINKS))] {
            self.b.switch_to_block(block);
            self.flush(0, s);
            self.leave(0, what);
        }
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
        self.write_given();
        self.b.ins().brif(alone, slim, &[], none, &[]);
        self.b.switch_to_block(slim);
        self.clear_window();
        self.leave(0, None);
        self.b.switch_to_block(none);
        self.call_help(help::no_room as *const () as usize, &[self.cx]);
        self.end(0);
        if let Some(here) = here {
            self.b.switch_to_block(here);
        }
        self.poll(0, direct.then_some(s));
    }
    /// The root's locals that no argument is for, in its window.
    fn clear_window(&mut self) {
        let code = &self.graph.scopes[0].code;
        for r in 1 + code.params.registers()..code.nlocals {
            let nil = self.word(Ruby::NIL);
            self.store(nil, self.regs, r as i32 * 8);
        }
    }

    // ---- ways ----

    /// Goes to a leader: what is known there is made so.
    pub fn go_to(&mut self, to: Id, from: &State) {
        let Some(wanted) = self.types.at[to].clone() else {
            // Never run so far, and nothing is known.
            return self.go_nowhere(to, from);
        };
        for (v, copy) in &self.copied_in {
            self.copies[*copy].escapes |= self.graph.units[to].live_before.has(*v);
        }
        for v in self.graph.units[to].live_before.clone().iter() {
            match (from.of(v), wanted.of(v)) {
                (now, wanted) if now == wanted => {}
                (Type::Own, Type::Array) => {}
                (Type::Double, Type::Any) => {
                    let value = self.get(v, from);
                    self.set(v, value);
                }
                (Type::Unset, Type::Any) => self.fetch_kept(v),
                (Type::Unset, _) if !self.graph.is_kept(v) => {}
                (_, Type::Unset) => self.write_kept(&[v], from),
                (_, Type::Any) => {}
                (known, wanted) => {
                    let other = self.misfit(to, v, from);
                    if known == Type::Unset {
                        self.fetch_kept(v);
                    }
                    let value = self.get(v, from);
                    self.make(v, value, wanted, other);
                }
            }
        }
        if from.pushed < wanted.pushed {
            self.push_frames(self.graph.units[to].scope, from.pushed);
        }
        self.lay_out_all(wanted.laid_out & !from.laid_out, from);
        self.b.ins().jump(self.blocks[&to], &[]);
    }
    /// Where it goes when a register doesn't hold what is wanted at a leader: the interpreter goes on there.
    fn misfit(&mut self, to: Id, v: Var, from: &State) -> Block {
        let here = self.b.current_block();
        let block = self.b.create_block();
        self.b.set_cold_block(block);
        self.b.switch_to_block(block);
        self.leave_from(to, from, Some(self.spot(to, v)));
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
            What::Return(to) => {
                self.return_from(id, to, s);
                self.types.apply(id, plan, s);
                return u.next.is_some();
            }
            What::Break(l) => {
                self.break_loop(id, l, s);
                self.types.apply(id, plan, s);
                return true;
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
        // What puts operands in place for the call of a group stands for none of the interpreter's instructions.
        let stands = self.graph.scopes[u.scope].code.insns[at].op == i.op;
        if self.tries_exits && stands {
            let exit = self.exit_of(id, s);
            self.try_exit(exit);
        }
        match op {
            Move => {
                let from = self.graph.var(id, i.b);
                if s.of(from) == Type::Double && !self.is_volatile(id, i.b) {
                    self.copy_double(self.graph.var(id, i.a), from, s);
                    if self.is_volatile(id, i.a) {
                        let v = self.get(from, s);
                        self.write(id, i.a, v);
                    }
                } else {
                    let v = self.read(id, i.b, s);
                    self.write(id, i.a, v);
                    self.copy_extent(from, self.graph.var(id, i.a), s);
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
                    let (v, value) = (self.graph.var(id, i.a), self.b.ins().f64const(d));
                    self.set_double(v, value);
                    if Ruby::flonum(d).is_none() {
                        let literal = self.literal(id);
                        self.set(v, literal);
                    }
                }
                _ => {
                    let v = self.literal(id);
                    self.write(id, i.a, v);
                }
            },
            GetEnv | SetEnv => self.environment(id, s),
            NewStr | NewArray | NewEnv => self.new_cell(id, s),
            NewRange => self.new_range(id, s),
            AskList => self.ask_list(id, s),
            Expand if is_plain_expansion(i) => self.expand(id, s),
            Interp => {
                let (scope, x) = (u.scope, i.x as i64);
                let method = self.method_of(scope);
                self.of_values(id, quiet::interpolate as *const (), x << 32, &[method], s)
            }
            NewHash => self.of_values(id, quiet::hash as *const (), 0, &[], s),
            GetIvar => self.get_ivar(id, s),
            SetIvar => self.set_ivar(id, s),
            GetConst | GetConstFrom => self.get_const(id, s),
            ToS if matches!(s.of(self.graph.var(id, i.a)), Type::Fixnum | Type::Double) => {}
            ToS => self.to_s(id, s),
            Intrinsic if is_splat(i) => self.splat(id, s),
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
            // Which way it goes is known.
            JumpDef if u.jump.is_none() => {}
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
                let kept = self.graph.kept_of(0);
                self.write_kept(&kept, s);
                let v = self.read(id, i.a, s);
                match self.graph.rounds {
                    true => self.end_round(v),
                    false => self.return_word(v),
                }
                return false;
            }
            BlockProc if u.scope != 0 => {
                self.leave_from(id, s, None);
                return false;
            }
            // Of a lambda, or a method that is a block, it is the end.
            ReturnBlock | BreakBlock if u.scope == 0 && u.raise.is_none() => {
                let aux = self.load(self.fp, frame::AUX);
                let lambda = self.b.ins().band_imm_s(aux, FRAME_LAMBDA as i64);
                let (ends, other) = (self.b.create_block(), self.cold_block());
                self.b.ins().brif(lambda, ends, &[], other, &[]);
                self.aside(other, |e| e.leave_from(id, s, None));
                self.b.switch_to_block(ends);
                if self.graph.rounds {
                    let rounds = self.b.use_var(self.rounds);
                    self.branch_away(rounds, other);
                }
                let kept = self.graph.kept_of(0);
                self.write_kept(&kept, s);
                self.return_value(id, s);
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
            BlockGiven => {
                let given = self.block_given(u.scope, i.x == 1);
                let v = self.boolean(given);
                self.write(id, i.a, v);
                self.condition = Some((self.graph.var(id, i.a), given));
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

    /// Whether the method of a scope has a block; with `yields`: one of which there is no object, and `Proc#call` is the builtin one.
    fn block_given(&mut self, scope: usize, yields: bool) -> Value {
        let builtin = yields.then(|| {
            let redefined = self.load_u32(self.cx, vm::REDEFINED);
            let bit = self.b.ins().band_imm_s(redefined, fast::PROC as i64);
            self.b.ins().icmp_imm_s(IntCC::Equal, bit, 0)
        });
        if scope == 0 {
            let block = self.load(self.fp, frame::BLOCK);
            let Some(builtin) = builtin else { return self.b.ins().icmp_imm_s(IntCC::NotEqual, block, 0) };
            let bit = self.b.ins().band_imm_s(block, 1);
            let is_record = self.b.ins().icmp_imm_s(IntCC::NotEqual, bit, 0);
            return self.b.ins().band(is_record, builtin);
        }
        let scope = &self.graph.scopes[scope];
        let given = scope.kind == Kind::Method && matches!(self.graph.units[scope.call].op, Op::SendBlk | Op::SendSelfBlk);
        match builtin {
            Some(builtin) if given => builtin,
            _ => {
                let given = self.constant(given as i64);
                self.b.ins().ireduce(I8, given)
            }
        }
    }
    /// The function answers a unit's register.
    pub fn return_value(&mut self, id: Id, s: &State) {
        let v = self.read(id, self.graph.units[id].insn.a, s);
        self.return_word(v);
    }
    pub fn return_word(&mut self, v: Value) {
        let below = self.b.ins().iadd_imm_s(self.fp, -frame::SIZE);
        self.store(below, self.cx, vm::FP);
        self.b.ins().return_(&[v]);
    }
    /// Strings, and what stands in the word itself, stay what they are.
    fn to_s(&mut self, id: Id, s: &State) {
        let (slow, done) = (self.cold_block(), self.b.create_block());
        self.b.append_block_param(done, I64);
        let v = self.read(id, self.graph.units[id].insn.a, s);
        let cell = self.is_cell(v);
        let asks = self.b.create_block();
        self.b.ins().brif(cell, asks, &[], done, &[v.into()]);
        self.b.switch_to_block(asks);
        self.shape_is(v, crate::layout::STRING, slow);
        self.result_or_slow(id, v, (slow, done), s);
    }
    /// An Array that is splatted is its own list.
    fn splat(&mut self, id: Id, s: &State) {
        let (slow, done) = (self.cold_block(), self.b.create_block());
        self.b.append_block_param(done, I64);
        let v = self.read(id, self.graph.units[id].insn.a, s);
        self.shape_is(v, crate::layout::ARRAY, slow);
        self.result_or_slow(id, v, (slow, done), s);
    }
    /// What a helper makes of the values from register `b` on: parts of a String, keys and values in turn. The interpreter does if it answers none. `with`: bits beside their number.
    fn of_values(&mut self, id: Id, helper: *const (), with: i64, more: &[Value], s: &State) {
        let (scope, i) = (self.graph.units[id].scope, self.graph.units[id].insn);
        let (slow, done) = (self.cold_block(), self.b.create_block());
        self.b.append_block_param(done, I64);
        for r in i.b..i.b + i.c {
            let v = self.read(id, r, s);
            self.store_reg(v, id, r);
        }
        let (first, n) = (self.reg_address(scope, i.b), self.constant(i.c as i64 | with));
        let given: Vec<Value> = [self.cx, first, n].iter().chain(more).copied().collect();
        let v = self.call_help(helper as usize, &given);
        self.fail_if_refused(v, id, s);
        let none = self.b.ins().icmp_imm_s(IntCC::Equal, v, Ruby::UNDEF.bits() as i64);
        self.branch_away(none, slow);
        self.result_or_slow(id, v, (slow, done), s);
    }
    /// A Range of small Integers runs no `<=>`.
    fn new_range(&mut self, id: Id, s: &State) {
        let i = self.graph.units[id].insn;
        let (slow, done) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(slow);
        self.b.append_block_param(done, I64);
        let (low, high) = (self.read(id, i.b, s), self.read(id, i.c, s));
        let exclusive = self.constant(i.x as i64);
        let v = self.call_help(quiet::range as *const () as usize, &[self.cx, low, high, exclusive]);
        self.fail_if_refused(v, id, s);
        let none = self.b.ins().icmp_imm_s(IntCC::Equal, v, Ruby::UNDEF.bits() as i64);
        self.branch_away(none, slow);
        self.result_or_slow(id, v, (slow, done), s);
    }

    /// The slow way of a unit that has a fast one: the interpreter's, whose result is then in register `a`. Ends with a jump.
    pub fn slow(&mut self, id: Id, at: usize, s: &State, to: Block, result: Option<u16>) {
        self.flush(id, s);
        if self.graph.units[id].op == Op::SendSelf {
            let me = self.read(id, 0, s);
            self.store_reg(me, id, self.graph.units[id].insn.a);
        }
        self.step(id, at);
        // What it may have disturbed is not looked at again.
        if self.is_held() || self.types.keeps_arrays(id) && self.knows_arrays(s) {
            return self.leave_behind(id, at);
        }
        self.verify_kept(id, s, at + 1, None);
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

    /// The object that stands for a literal.
    pub fn literal(&mut self, id: Id) -> Value {
        let consts = self.load_fixed(self.state_of(id), state::CONSTS);
        self.load_fixed(consts, self.graph.units[id].insn.b as i32 * 8)
    }

    fn get_const(&mut self, id: Id, s: &State) {
        let (i, at) = (self.graph.units[id].insn, self.graph.units[id].at);
        let caches = self.load_fixed(self.state_of(id), state::CONSTS_CACHE);
        let entry = i.c as i32 * constant::SIZE;
        let known = self.load_u32(caches, entry + constant::EPOCH);
        let epoch = self.load_u32(self.cx, vm::CONST_EPOCH);
        let same = self.b.ins().icmp(IntCC::Equal, known, epoch);
        let cref = self.load(caches, entry + constant::CREF);
        let own = match i.opcode() {
            Op::GetConstFrom => self.read(id, i.b, s),
            _ => {
                let me = self.method_of(self.graph.units[id].scope);
                self.load(me, cell::METHOD_CREF)
            }
        };
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
