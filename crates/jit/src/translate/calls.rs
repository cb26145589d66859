//! Calls, yields and instance variables: what inline caches of the VM decide.

use super::emit::Emitter;
use super::graph::Id;
use super::types::{OfFixnum, Pure, State, Type};
use crate::layout::{self, call, cell, frame, site, state, vm};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::I32;
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use zakuro_bytecode::Op;
use zakuro_bytecode::machine::Expected;
use zakuro_object::{EXT_IVARS, GUARDED, Sym};
use zakuro_vm::frame::FRAME_DEFINED;
use zakuro_vm::interp::RUBY_CALLS;
use zakuro_vm::interp::machine::help;
use zakuro_vm::interp::quiet;
use zakuro_vm::machine::Called;
use zakuro_vm::sites::{ASKED, MADE};

/// Where a call is expected to lead.
pub struct Leads {
    handler: zakuro_vm::frame::Handler,
    code: usize,
    native: usize,
    extra: Option<u32>,
}
impl Leads {
    pub fn to(handler: zakuro_vm::frame::Handler) -> Leads {
        Leads { handler, code: 0, native: 0, extra: None }
    }
    pub fn native(handler: zakuro_vm::frame::Handler, native: usize) -> Leads {
        Leads { native, ..Leads::to(handler) }
    }
    /// The builtin `send`, with this name, to this Code.
    pub fn sent(code: &zakuro_bytecode::Code, name: Sym) -> Leads {
        Leads { extra: Some(name.0), ..Leads::code(RUBY_CALLS.sent, code) }
    }
    pub fn code(handler: zakuro_vm::frame::Handler, code: &zakuro_bytecode::Code) -> Leads {
        Leads { code: std::ptr::from_ref(code) as usize, ..Leads::to(handler) }
    }
}
/// A site's entry.
#[derive(Clone, Copy)]
pub struct At {
    table: Value,
    offset: i32,
}

impl Emitter<'_, '_> {
    // ---- variables of objects ----

    pub fn slots(&mut self, o: Value) -> Value {
        self.b.ins().iadd_imm_s(o, cell::SLOTS as i64)
    }
    /// Has `access` read or write an object's slot of this number, whose address it is given as a base and an offset from it, and goes to `done` with the value. `outside`: whether its variables stand
    /// outside of it. (Each way has an access of its own, since such an address is part of an instruction where one of two would have to be made first.)
    pub fn at_slot(
        &mut self,
        o: Value,
        outside: Value,
        number: Value,
        done: Block,
        mut access: impl FnMut(&mut Self, Value, i32) -> Value,
    ) {
        let (out, within) = (self.cold_block(), self.next_block());
        self.b.ins().brif(outside, out, &[], within, &[]);
        for (block, offset) in [(within, cell::SLOTS), (out, 0)] {
            self.begin_block(block);
            let first = if block == out {
                let list = self.load(o, cell::SLOTS);
                self.load(list, 0)
            } else {
                o
            };
            let from_first = self.b.ins().ishl_imm_u(number, 3);
            let slot = self.b.ins().iadd(first, from_first);
            let v = access(self, slot, offset);
            self.b.ins().jump(done, &[v.into()]);
        }
    }
    /// A unit's result is `v`, or what the interpreter's way at `slow` comes to.
    pub fn result_or_slow(&mut self, id: Id, v: Value, (slow, done): (Block, Block), s: &State) {
        let (i, at) = (self.graph.units[id].insn, self.graph.units[id].at);
        self.b.ins().jump(done, &[v.into()]);
        self.b.switch_to_block(slow);
        self.slow(id, at, s, done, Some(i.a));
        self.begin_block(done);
        let v = self.b.block_params(done)[0];
        self.write(id, i.a, v);
    }
    // ---- calls ----

    /// To `miss` unless the inline cache of a call site is for this receiver, now, and leads to this handler.
    fn guard_handler(&mut self, id: Id, recv: Value, handler: zakuro_vm::frame::Handler, miss: Block) {
        let calls = self.load_fixed(self.state_of(id), state::CALLS);
        let entry = self.graph.units[id].insn.c as i32 * call::SIZE;
        let shape = self.shape_key(recv);
        let known = self.load_u32(calls, entry + call::SHAPE);
        let of_shape = self.b.ins().icmp(IntCC::Equal, shape, known);
        let (epoch, now) = (self.load_u32(calls, entry + call::EPOCH), self.load_u32(self.cx, vm::EPOCH));
        let of_epoch = self.b.ins().icmp(IntCC::Equal, epoch, now);
        let same = self.b.ins().band(of_shape, of_epoch);
        self.branch_unless(same, miss);
        let own = self.load(calls, entry + call::HANDLER);
        let wanted = self.constant(handler as usize as i64);
        let same = self.b.ins().icmp(IntCC::Equal, own, wanted);
        self.branch_unless(same, miss);
    }
    /// To `miss` unless a call on this receiver leads to a handler and, if that is said, to this Code or builtin: where the site's entry stands in the table. `of_cell`: receivers are taken to be cells.
    pub fn guard_site(&mut self, id: Id, recv: Value, of_cell: bool, to: Leads, miss: Block) -> At {
        let shape = if of_cell {
            let is = self.is_cell(recv);
            self.branch_unless(is, miss);
            self.load_u32(recv, cell::SHAPE)
        } else {
            self.shape_key(recv)
        };
        self.guard_site_shape(id, (recv, shape), to, miss)
    }
    fn expect(&mut self, id: Id, to: Leads) -> At {
        let Some(table) = self.table else { unreachable!("a function with calls has a table of them") };
        let site = self.graph.units[id].insn.c;
        self.expected.push(Expected {
            site,
            handler: to.handler as usize,
            code: to.code,
            native: to.native,
            extra: to.extra,
            first: 0,
            last: 0,
        });
        At { table, offset: self.expected.len() as i32 * site::SIZE }
    }
    /// What the entry of a site says beside the shape, which is that of another one, whose number is given.
    pub fn expect_of_group(&mut self, id: Id, to: Leads, first: u16) -> Value {
        let at = self.expect(id, to);
        let n = self.expected.len();
        self.expected[n - 1].first = first;
        self.expected[first as usize - 1].last = n as u16;
        self.extra_of_site(at)
    }
    /// The same of a site whose receivers are cells, for what its entry says beside the shape: both are read at once.
    pub fn guard_site_for_extra(&mut self, id: Id, recv: Value, to: Leads, miss: Block) -> Value {
        use cranelift_codegen::ir::types::I64;
        const _: () = assert!(site::EXTRA == site::SHAPE + 4 && cfg!(target_endian = "little"));
        let is = self.is_cell(recv);
        self.branch_unless(is, miss);
        let shape = self.load_u32(recv, cell::SHAPE);
        let at = self.expect(id, to);
        let n = self.expected.len() as i64;
        let both = self.load(at.table, at.offset + site::SHAPE);
        let known = self.b.ins().ireduce(I32, both);
        let same = self.b.ins().icmp(IntCC::Equal, shape, known);
        let (on, again, filled) = (self.next_block(), self.cold_block(), self.cold_block());
        self.b.append_block_param(on, I64);
        self.try_exit(miss);
        self.b.ins().brif(same, on, &[both.into()], again, &[]);
        self.begin_block(again);
        let number = self.constant(n);
        let found = self.call_help(help::site as *const () as usize, &[self.cx, recv, self.state_of(id), at.table, number]);
        self.b.ins().brif(found, filled, &[], miss, &[]);
        self.begin_block(filled);
        let both = self.load(at.table, at.offset + site::SHAPE);
        self.b.ins().jump(on, &[both.into()]);
        self.begin_block(on);
        let both = self.b.block_params(on)[0];
        self.b.ins().ushr_imm_u(both, 32)
    }
    fn guard_site_shape(&mut self, id: Id, (recv, shape): (Value, Value), to: Leads, miss: Block) -> At {
        let at = self.expect(id, to);
        let (table, n) = (at.table, self.expected.len());
        let known = self.load_u32(table, at.offset + site::SHAPE);
        let same = self.b.ins().icmp(IntCC::Equal, shape, known);
        let (on, again) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(again);
        self.try_exit(miss);
        self.b.ins().brif(same, on, &[], again, &[]);
        self.begin_block(again);
        let number = self.constant(n as i64);
        let found = self.call_help(help::site as *const () as usize, &[self.cx, recv, self.state_of(id), table, number]);
        self.b.ins().brif(found, on, &[], miss, &[]);
        self.begin_block(on);
        at
    }
    /// The entry behind that of the last site, a call of `new`, for what it makes ([`Expected::handler`]).
    pub fn expect_made(&mut self, slots: u16) -> At {
        let Some(table) = self.table else { unreachable!("a function with calls has a table of them") };
        self.expected.push(Expected { site: 0, handler: MADE, code: 0, native: slots as usize, extra: None, first: 0, last: 0 });
        At { table, offset: self.expected.len() as i32 * site::SIZE }
    }
    /// What a site's entry says.
    pub fn of_site(&mut self, at: At, field: i32) -> Value {
        self.load(at.table, at.offset + field)
    }
    /// Its [`zakuro_vm::sites::Site::shape`].
    pub fn shape_of_site(&mut self, at: At) -> Value {
        self.load_u32(at.table, at.offset + site::SHAPE)
    }
    /// Its [`zakuro_vm::sites::Site::extra`].
    pub fn extra_of_site(&mut self, at: At) -> Value {
        let extra = self.load_u32(at.table, at.offset + site::EXTRA);
        self.b.ins().uextend(cranelift_codegen::ir::types::I64, extra)
    }
    /// As `Value::shape_key`. No way parts here: where a value is none of a cell, it is looked up by its lowest bits.
    pub fn shape_key(&mut self, v: Value) -> Value {
        let is_cell = self.is_cell(v);
        let table = self.constant(layout::SHAPES_OF_WORDS.as_ptr() as i64 - cell::SHAPE as i64);
        let bits = self.b.ins().band_imm_s(v, layout::WORD_BITS);
        let offset = self.b.ins().ishl_imm_u(bits, 2);
        let entry = self.b.ins().iadd(table, offset);
        let from = self.b.ins().select(is_cell, v, entry);
        self.load_u32(from, cell::SHAPE)
    }

    /// A builtin that looks at no frame and runs no Ruby code; whatever else it is called on now is the interpreter's.
    fn quiet(&mut self, id: Id, pure: Pure, target: usize, s: &State) {
        let i = self.graph.units[id].insn;
        let (slow, done) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(slow);
        self.b.append_block_param(done, cranelift_codegen::ir::types::I64);
        let own = self.graph.takes_self(id);
        let given: Vec<Value> = (0..=i.x as u16).map(|n| self.read(id, if own && n == 0 { 0 } else { i.a + n }, s)).collect();
        let recv = given[0];
        let at = self.guard_site(id, recv, false, Leads::native(RUBY_CALLS.native, target), slow);
        let v = if pure == Pure::Itself {
            recv
        } else if pure == Pure::Responds {
            self.responds(id, at, slow)
        } else if pure == Pure::Byte {
            let small = self.b.ins().band_imm_s(given[1], 1);
            self.branch_unless(small, slow);
            let at = self.b.ins().sshr_imm_u(given[1], 1);
            self.call_help(quiet::getbyte as *const () as usize, &[given[0], at])
        } else if pure == Pure::SetByte {
            let v = self.call_help(quiet::setbyte as *const () as usize, &[self.cx, given[0], given[1], given[2]]);
            self.answered(id, v, s, slow)
        } else if let Pure::OfFixnum(what) = pure {
            self.of_fixnum(what, given[0], slow)
        } else if let Pure::Answer(f) = pure {
            let argument = given.get(1).copied().unwrap_or_else(|| self.word(zakuro_object::Value::NIL));
            let v = self.call_help(f, &[self.cx, given[0], argument]);
            self.answered(id, v, s, slow)
        } else {
            for (n, v) in given.into_iter().enumerate() {
                self.store_reg(v, id, i.a + n as u16);
            }
            let base = self.reg_address(self.graph.units[id].scope, i.a);
            let (f, argc) = (self.constant(target as i64), self.constant(i.x as i64));
            let v = self.call_help(quiet::native as *const () as usize, &[self.cx, f, base, argc]);
            self.fail_if_refused(v, id, s);
            v
        };
        self.b.ins().jump(done, &[v.into()]);
        self.b.switch_to_block(slow);
        self.slow(id, self.graph.units[id].at, s, done, Some(i.a));
        self.b.switch_to_block(done);
        let v = self.b.block_params(done)[0];
        self.write(id, i.a, v);
    }
    /// What a helper has answered: to `slow` if it is for the interpreter.
    fn answered(&mut self, id: Id, v: Value, s: &State, slow: Block) -> Value {
        self.fail_if_refused(v, id, s);
        let none = self.b.ins().icmp_imm_s(IntCC::Equal, v, zakuro_object::Value::UNDEF.bits() as i64);
        self.jump_away(none, slow);
        v
    }
    /// What the entry behind that of a call of `respond_to?` says for receivers of its shape; goes to `slow` where it doesn't.
    fn responds(&mut self, id: Id, site: At, slow: Block) -> Value {
        let Some(name) = self.graph.literal_argument(id) else { unreachable!("a name that is written there") };
        self.expected.push(Expected { site: 0, handler: ASKED, code: 0, native: name.0 as usize, extra: None, first: 0, last: 0 });
        let at = At { table: site.table, offset: self.expected.len() as i32 * site::SIZE };
        let v = self.of_site(at, site::TARGET);
        let (no, done) = (self.b.create_block(), self.b.create_block());
        let yes = self.b.ins().icmp_imm_s(IntCC::Equal, v, zakuro_object::Value::TRUE.bits() as i64);
        self.b.ins().brif(yes, done, &[], no, &[]);
        self.b.switch_to_block(no);
        let is_no = self.b.ins().icmp_imm_s(IntCC::Equal, v, zakuro_object::Value::FALSE.bits() as i64);
        self.branch_unless(is_no, slow);
        // A refinement of the scope may have it.
        let me = self.method_of(self.graph.units[id].scope);
        let cref = self.load(me, cell::METHOD_CREF);
        let is = self.is_cell(cref);
        self.branch_unless(is, slow);
        let refinements = self.load(cref, cell::CREF_REFINEMENTS);
        let none = self.b.ins().icmp_imm_s(IntCC::Equal, refinements, zakuro_object::Value::NIL.bits() as i64);
        self.branch_unless(none, slow);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
        v
    }
    /// A method of Integer on a word that is a Fixnum, 2n + 1; goes `away` if it is not, or if the result is none.
    fn of_fixnum(&mut self, what: OfFixnum, v: Value, away: Block) -> Value {
        let small = self.b.ins().band_imm_s(v, 1);
        self.branch_unless(small, away);
        match what {
            OfFixnum::Abs => {
                let two = self.constant(2);
                let below = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, v, 0);
                let other = self.b.ins().isub(two, v);
                let v = self.b.ins().select(below, other, v);
                // Of the least one the result is too large.
                let over = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, v, 0);
                self.branch_away(over, away);
                v
            }
            OfFixnum::Even | OfFixnum::Odd => {
                let bit = self.b.ins().band_imm_s(v, 2);
                let c = self.b.ins().icmp_imm_s(IntCC::Equal, bit, if what == OfFixnum::Even { 0 } else { 2 });
                self.boolean(c)
            }
            OfFixnum::Zero => {
                let c = self.b.ins().icmp_imm_s(IntCC::Equal, v, 1);
                self.boolean(c)
            }
            OfFixnum::Succ | OfFixnum::Pred => {
                let (step, last) = if what == OfFixnum::Succ { (2, i64::MAX) } else { (-2, i64::MIN + 1) };
                let last = self.constant(last);
                let over = self.b.ins().icmp(IntCC::Equal, v, last);
                self.branch_away(over, away);
                let step = self.constant(step);
                self.b.ins().iadd(v, step)
            }
        }
    }
    /// A function of Floats, on a Float; anything else is the interpreter's.
    fn pure(&mut self, id: Id, pure: Pure, target: usize, s: &mut State) {
        let u = &self.graph.units[id];
        let i = u.insn;
        let exit = self.exit_of(id, s);
        let to = Leads::native(RUBY_CALLS.native, target);
        let (recv, operand) = (self.graph.var(id, i.a), self.graph.var(id, if pure == Pure::Abs { i.a } else { i.a + 1 }));
        if pure == Pure::Abs && s.of(recv) == Type::Double {
            // As any Float.
            let (some, shape) = (self.constant(0x8000_0000_0000_0002u64 as i64), self.b.ins().iconst(I32, layout::FLOAT));
            self.guard_site_shape(id, (some, shape), to, exit);
        } else {
            let recv = self.read(id, i.a, s);
            self.guard_site(id, recv, false, to, exit);
        }
        let d = match s.of(operand) {
            Type::Double => self.get_double(operand),
            _ => {
                let v = self.get(operand, s);
                self.unboxed(v, exit)
            }
        };
        let v = match pure {
            Pure::Abs => self.b.ins().fabs(d),
            Pure::Sin => self.call_of_double(help::sine as *const () as usize, d),
            Pure::Cos => self.call_of_double(help::cosine as *const () as usize, d),
            Pure::Sqrt => {
                // Below nought it raises; of minus nought the root is nought.
                let zero = self.b.ins().f64const(0.0);
                let below = self.b.ins().fcmp(FloatCC::LessThan, d, zero);
                self.branch_away(below, exit);
                let root = self.b.ins().sqrt(d);
                self.b.ins().fadd(root, zero)
            }
            Pure::Byte | Pure::SetByte | Pure::OfFixnum(_) | Pure::Answer(_) | Pure::Itself | Pure::Responds | Pure::Quiet => return,
        };
        self.set_double(recv, v);
    }

    /// A call. Its value goes to the window, too, as the interpreter leaves it there: else the receiver would stay reachable.
    pub fn send(&mut self, id: Id, s: &mut State) {
        if let Some(pure) = self.types.pure(id)
            && let Called::Native(target, ..) = *self.types.called(id)
        {
            return if pure.is_of_floats() { self.pure(id, pure, target, s) } else { self.quiet(id, pure, target, s) };
        }
        let u = &self.graph.units[id];
        let (i, at) = (u.insn, u.at);
        let with_block = matches!(u.op, Op::SendBlk | Op::SendSelfBlk);
        let own = self.graph.takes_self(id);
        let called = self.types.called(id).clone();
        let (miss, done) = (self.b.create_block(), self.b.create_block());
        self.b.append_block_param(done, cranelift_codegen::ir::types::I64);
        let recv = if own { self.read(id, 0, s) } else { self.read(id, i.a, s) };
        if let Some(link) = self.graph.link_of(id) {
            let (calls_itself, site) = (link.own, link.site);
            return self.send_linked(id, recv, (calls_itself, site), s);
        }
        if self.types.flushes(id) {
            self.flush_for_call(id, s, true);
            s.pushed = self.graph.scopes[u.scope].depth;
            if own {
                self.store_reg(recv, id, i.a);
            }
        }
        let handlers = &RUBY_CALLS;
        match called {
            Called::Ruby(_) | Called::NewPlain(_) => {
                let leads = match &called {
                    // How many parameters are filled is this one's matter.
                    Called::Ruby(met) if !met.code.params.simple => Leads::code(handlers.of_params(false, with_block), &met.code),
                    Called::Ruby(_) => Leads::to(handlers.of_params(true, with_block)),
                    _ => Leads::to(handlers.new_plain),
                };
                let site = self.guard_site(id, recv, false, leads, miss);
                if let Called::Ruby(met) = &called {
                    self.fill(id, met.code.params.registers());
                }
                let v = if let Called::NewPlain(slots) = called {
                    // Where it goes on, if the function is left behind the call.
                    self.wait_at(id, at);
                    self.new_object(site, slots, |e, class| {
                        let v = e.call_help(help::new_of as *const () as usize, &[e.cx, class]);
                        e.fail_if_none(v, id, at);
                        v
                    })
                } else {
                    let (callee, me) = (self.of_site(site, site::TARGET), self.of_site(site, site::ME));
                    self.call_ruby(id, callee, me, with_block)
                };
                self.go_on_if_like(id, Some(v));
                self.store_reg(v, id, i.a);
                self.b.ins().jump(done, &[v.into()]);
                self.b.set_cold_block(miss);
            }
            Called::Defined(met) => {
                let site = self.guard_site(id, recv, false, Leads::code(handlers.defined, &met.code), miss);
                self.fill(id, met.code.params.registers());
                let (callee, me) = (self.of_site(site, site::TARGET), self.of_site(site, site::ME));
                if met.code.env_reg != 0 {
                    let e = self.env_of_method(me);
                    self.store_reg(e, id, i.a + met.code.env_reg);
                }
                let v = self.call_in_place(id, callee, me, false, FRAME_DEFINED);
                self.go_on_if_like(id, Some(v));
                self.store_reg(v, id, i.a);
                self.b.ins().jump(done, &[v.into()]);
                self.b.set_cold_block(miss);
            }
            Called::Native(..) => {
                let to = Leads::to(if with_block { handlers.native_blk } else { handlers.native });
                let site = self.guard_site(id, recv, false, to, miss);
                let entry = self.b.ins().iadd_imm_s(site.table, site.offset as i64);
                let f = if with_block { help::native_blk as *const () } else { help::native as *const () };
                let ip = self.constant(self.wait_address(u.scope, at));
                let [cx, ip, regs, cs] = self.handler_arguments(id, ip);
                let (looks, table) = self.table_to_look();
                let v = self.call_help(f as usize, &[cx, ip, regs, cs, table, entry]);
                self.end_if_none(v, id);
                if !looks {
                    self.go_on_if_like(id, Some(v));
                }
                self.store_reg(v, id, i.a);
                self.b.ins().jump(done, &[v.into()]);
                self.b.set_cold_block(miss);
            }
            Called::New(..) | Called::Bound => {
                let v = if let Called::New(..) = called {
                    self.guard_handler(id, recv, handlers.new_object, miss);
                    self.call_pushed(id, i.a + 1, help::new_object as *const () as usize);
                    self.load_reg(id, i.a)
                } else {
                    self.guard_handler(id, recv, if with_block { handlers.bound_blk } else { handlers.bound }, miss);
                    let push = if with_block { help::bound_blk as *const () } else { help::bound as *const () };
                    self.call_pushed(id, i.a, push as usize)
                };
                self.go_on_if_like(id, Some(v));
                self.store_reg(v, id, i.a);
                self.b.ins().jump(done, &[v.into()]);
                self.b.set_cold_block(miss);
            }
            Called::AttrReader | Called::AttrWriter if self.access_of_group(id, recv, s) => return,
            Called::AttrReader | Called::AttrWriter => {
                let reads = matches!(called, Called::AttrReader);
                let to = Leads::to(if reads { handlers.attr_get } else { handlers.attr_set });
                let number = self.guard_site_for_extra(id, recv, to, miss);
                let flags = self.load_u8(recv, cell::FLAGS);
                if !reads {
                    let guarded = self.b.ins().band_imm_s(flags, GUARDED as i64);
                    self.branch_away(guarded, miss);
                }
                let outside = self.b.ins().band_imm_s(flags, EXT_IVARS as i64);
                let given = if reads { None } else { Some(self.read(id, i.a + 1, s)) };
                self.at_slot(recv, outside, number, done, |e, slot, offset| match given {
                    Some(v) => {
                        e.store(v, slot, offset);
                        v
                    }
                    None => e.load(slot, offset),
                });
                self.b.set_cold_block(miss);
                self.b.switch_to_block(miss);
                self.flush(id, s);
                if own {
                    self.store_reg(recv, id, i.a);
                }
                self.step(id, at);
                if self.is_held() {
                    self.leave_behind(id, at);
                } else {
                    self.verify_kept(id, s, at + 1, None);
                    self.unflush(id, s);
                    let v = self.load_reg(id, i.a);
                    self.b.ins().jump(done, &[v.into()]);
                }
                self.begin_block(done);
                let v = self.b.block_params(done)[0];
                return self.write(id, i.a, v);
            }
            Called::Sent(..) | Called::Other | Called::Unseen => {
                self.b.ins().jump(miss, &[]);
            }
        }
        self.b.switch_to_block(miss);
        self.step(id, at);
        let v = self.load_reg(id, i.a);
        self.b.ins().jump(done, &[v.into()]);
        self.b.switch_to_block(done);
        let v = self.b.block_params(done)[0];
        self.write(id, i.a, v);
    }

    /// The parameters of a call's callee that nothing is given for.
    fn fill(&mut self, id: Id, parameters: u16) {
        let i = self.graph.units[id].insn;
        let undef = self.word(zakuro_object::Value::UNDEF);
        for k in i.x as u16 + 1..=parameters {
            self.store_reg(undef, id, i.a + k);
        }
    }

    /// A call that was looked at when the function was entered, and whenever something could have changed since.
    fn send_linked(&mut self, id: Id, recv: Value, (calls_itself, site): (bool, u16), s: &mut State) {
        let (scope, i) = (self.graph.units[id].scope, self.graph.units[id].insn);
        let direct = self.itself.filter(|_| calls_itself);
        let given: Vec<Value> = match direct {
            Some(_) => (1..=i.x as u16).map(|n| self.read(id, i.a + n, s)).collect(),
            None => Vec::new(),
        };
        self.flush_for_call(id, s, direct.is_none());
        s.pushed = self.graph.scopes[scope].depth;
        let Some(direct) = direct else {
            self.store_reg(recv, id, i.a);
            let (calls, entry) = (self.load_fixed(self.states[0], state::CALLS), site as i32 * call::SIZE);
            let (callee, me) = (self.load(calls, entry + call::TARGET), self.load(calls, entry + call::ME));
            let v = self.call_ruby(id, callee, me, false);
            self.go_on_if_like(id, Some(v));
            return self.write(id, i.a, v);
        };
        let base = self.reg_address(scope, i.a);
        // Its method is not always the caller's: a module may stand in several places of the ancestors.
        let calls = self.load_fixed(self.states[0], state::CALLS);
        let (me, none) = (self.load(calls, site as i32 * call::SIZE + call::ME), self.constant(0));
        let above = self.graph.scopes[scope].depth + 1;
        self.write_frame(above, base, self.states[0], none, me, none);
        self.stack_top(above);
        let at = self.graph.units[id].at;
        self.wait_at(id, at);
        let frame = self.b.ins().iadd_imm_s(self.fp, above as i64 * frame::SIZE);
        let mut arguments = vec![self.cx, frame, self.states[0], recv];
        arguments.extend(given);
        let call = self.b.ins().call(direct, &arguments);
        let v = self.b.inst_results(call)[0];
        let (left, done) = (self.b.create_block(), self.b.create_block());
        self.b.append_block_param(done, cranelift_codegen::ir::types::I64);
        self.b.set_cold_block(left);
        self.b.ins().brif(v, done, &[v.into()], left, &[]);
        self.b.switch_to_block(left);
        let again = self.b.create_block();
        self.b.set_cold_block(again);
        self.b.append_block_param(again, cranelift_codegen::ir::types::I64);
        self.nested(id, i.a, again);
        self.b.switch_to_block(again);
        let v = self.b.block_params(again)[0];
        let away = self.b.create_block();
        self.b.set_cold_block(away);
        self.link(away, away, |e| e.fail_at(scope, at));
        self.b.ins().jump(done, &[v.into()]);
        self.b.switch_to_block(away);
        self.go_on_behind(id, v);
        self.b.switch_to_block(done);
        let v = self.b.block_params(done)[0];
        self.write(id, i.a, v);
    }

    /// A Ruby method whose arguments stand as they are: its value.
    fn call_ruby(&mut self, id: Id, callee: Value, me: Value, with_block: bool) -> Value {
        self.call_in_place(id, callee, me, with_block, 0)
    }
    /// The environment around a literal block that is a method.
    pub fn env_of_method(&mut self, me: Value) -> Value {
        let made_of = self.load_fixed(me, cell::METHOD_DATA);
        self.load_fixed(made_of, cell::PROC_ENV)
    }
    /// The same of anything whose frame has these flags.
    fn call_in_place(&mut self, id: Id, callee: Value, me: Value, with_block: bool, flags: usize) -> Value {
        let (scope, i) = (self.graph.units[id].scope, self.graph.units[id].insn);
        let base = self.reg_address(scope, i.a);
        let block = if with_block { self.block_record(id, base).1 } else { self.constant(0) };
        let aux = self.constant(flags as i64);
        let above = self.graph.scopes[scope].depth + 1;
        self.write_frame(above, base, callee, block, me, aux);
        self.stack_top(above);
        self.enter_callee(id, i.a, base, callee)
    }
    /// Writes the record of a call's literal block, below the call's window at `base`: the block's state, and the record as a frame's block. Who has filled the cache has made the state.
    pub fn block_record(&mut self, id: Id, base: Value) -> (Value, Value) {
        let u = &self.graph.units[id];
        let block = self.graph.scopes[u.scope].code.calls[u.insn.c as usize].child;
        let children = self.load_fixed(self.states[u.scope], state::CHILDREN);
        let child = self.load(children, block as i32 * 8);
        self.store(child, base, -16);
        let home = self.frame_of(u.scope);
        self.store(home, base, -8);
        (child, self.b.ins().iadd_imm_s(base, -15))
    }
    /// Writes a frame, but for its `ip`: so many above the root's.
    pub fn write_frame(&mut self, above: usize, regs: Value, code: Value, block: Value, me: Value, aux: Value) {
        let at = above as i32 * frame::SIZE as i32;
        for (v, field) in [(regs, frame::REGS), (code, frame::CODE), (block, frame::BLOCK), (me, frame::ME), (aux, frame::AUX)] {
            self.store(v, self.fp, at + field);
        }
    }
    /// The frame that stands so many above the root's is on top.
    pub fn stack_top(&mut self, above: usize) {
        let top = self.b.ins().iadd_imm_s(self.fp, above as i64 * frame::SIZE);
        self.store(top, self.cx, vm::FP);
    }
    /// Calls what runs the frame on top, whose window begins at register `reg`: its value.
    fn enter_callee(&mut self, id: Id, reg: u16, base: Value, callee: Value) -> Value {
        let at = self.graph.units[id].at;
        self.wait_at(id, at);
        let to = self.load(callee, state::ENTRY);
        let begin = self.constant(0);
        let v = self.call_at(to, &[self.cx, begin, base, callee]);
        let (left, done) = (self.b.create_block(), self.b.create_block());
        self.b.append_block_param(done, cranelift_codegen::ir::types::I64);
        self.b.set_cold_block(left);
        self.b.ins().brif(v, done, &[v.into()], left, &[]);
        self.b.switch_to_block(left);
        self.nested(id, reg, done);
        self.b.switch_to_block(done);
        self.b.block_params(done)[0]
    }
    /// The interpreter goes on with a callee that was left, and leaves the value in its window's first register: `to` is given it.
    fn nested(&mut self, id: Id, reg: u16, to: Block) {
        let scope = self.graph.units[id].scope;
        let window = self.reg_address(scope, reg);
        let own = self.frame_of(scope);
        let v = self.call_help(help::nested as *const () as usize, &[self.cx, window, own]);
        self.go_if_any(v, id, to, &[v]);
    }
    /// Calls a method whose frame a helper pushes.
    fn call_pushed(&mut self, id: Id, reg: u16, push: usize) -> Value {
        let (scope, at) = (self.graph.units[id].scope, self.graph.units[id].at);
        let ip = self.constant(self.wait_address(scope, at));
        let arguments = self.handler_arguments(id, ip);
        let callee = self.call_help(push, &arguments);
        self.end_if_none(callee, id);
        let base = self.reg_address(scope, reg);
        self.enter_callee(id, reg, base, callee)
    }

    pub fn yields(&mut self, id: Id, s: &mut State) {
        let (scope, i, at) = (self.graph.units[id].scope, self.graph.units[id].insn, self.graph.units[id].at);
        let (other, done) = (self.b.create_block(), self.b.create_block());
        self.b.append_block_param(done, cranelift_codegen::ir::types::I64);
        self.b.set_cold_block(other);
        self.flush_for_call(id, s, true);
        let own = self.frame_offset(scope);
        s.pushed = self.graph.scopes[scope].depth;
        let block = self.load(self.fp, own + frame::BLOCK);
        let bit = self.b.ins().band_imm_s(block, 1);
        self.branch_unless(bit, other);
        let record = self.b.ins().iadd_imm_s(block, -1);
        let callee = self.load(record, 0);
        let simple = self.load_u8(callee, state::SIMPLE);
        self.branch_unless(simple, other);
        let required = self.load_u16(callee, state::REQUIRED);
        let same = self.b.ins().icmp_imm_s(IntCC::Equal, required, i.x as i64);
        self.branch_unless(same, other);
        let home = self.load(record, 8);
        let windows = self.load(home, frame::REGS);
        let base = self.reg_address(scope, i.a);
        let me = self.load(windows, 0);
        self.store(me, base, 0);
        // The environment around it.
        let reg = self.load_u16(callee, state::ENV_REG);
        let (with, on) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(reg, with, &[], on, &[]);
        self.b.switch_to_block(with);
        let code = self.load(home, frame::CODE);
        let its = self.load_u16(code, state::ENV_REG);
        let offset = self.b.ins().ishl_imm_u(its, 3);
        let from = self.b.ins().iadd(windows, offset);
        let (has, put) = (self.b.create_block(), self.b.create_block());
        self.b.append_block_param(put, cranelift_codegen::ir::types::I64);
        let nil = self.word(zakuro_object::Value::NIL);
        self.b.ins().brif(its, has, &[], put, &[nil.into()]);
        self.b.switch_to_block(has);
        let e = self.load(from, 0);
        self.b.ins().jump(put, &[e.into()]);
        self.b.switch_to_block(put);
        let e = self.b.block_params(put)[0];
        let offset = self.b.ins().ishl_imm_u(reg, 3);
        let to = self.b.ins().iadd(base, offset);
        self.store(e, to, 0);
        self.b.ins().jump(on, &[]);
        self.b.switch_to_block(on);
        let method = self.load(home, frame::ME);
        let (none, aux) = (self.constant(0), self.constant(zakuro_vm::frame::FRAME_BLOCK as i64));
        let above = self.graph.scopes[scope].depth + 1;
        self.write_frame(above, base, callee, none, method, aux);
        self.stack_top(above);
        let v = self.enter_callee(id, i.a, base, callee);
        self.go_on_if_like(id, Some(v));
        self.store_reg(v, id, i.a);
        self.b.ins().jump(done, &[v.into()]);
        self.b.switch_to_block(other);
        self.step(id, at);
        let v = self.load_reg(id, i.a);
        self.b.ins().jump(done, &[v.into()]);
        self.b.switch_to_block(done);
        let v = self.b.block_params(done)[0];
        self.write(id, i.a, v);
    }
}
