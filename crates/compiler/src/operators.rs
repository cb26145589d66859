//! Operators as instruction groups (see "Slow paths by re-dispatch" in the opcode table), and conditions as fused jumps.

use crate::emit::Label;
use crate::expr::cast;
use crate::literal::small_int;
use crate::unit::{Compiler, Dest};
use ruby_prism as prism;
use ruby_prism::Node;
use zakuro_base::{Sym, sym};
use zakuro_bytecode::{CallSite, NO_BLOCK, NO_KEYWORDS, Op, call_flags};

/// The instruction for a binary operator, and its form with a small Integer on the right.
pub(crate) fn binary_op(name: Sym) -> Option<(Op, Option<Op>)> {
    const TABLE: &[(Sym, Op, Option<Op>)] = &[
        (sym::add, Op::Add, Some(Op::AddI)),
        (sym::sub, Op::Sub, Some(Op::SubI)),
        (sym::mul, Op::Mul, Some(Op::MulI)),
        (sym::div, Op::Div, Some(Op::DivI)),
        (sym::modulo, Op::Mod, Some(Op::ModI)),
        (sym::pow, Op::Pow, None),
        (sym::lt, Op::Lt, None),
        (sym::le, Op::Le, None),
        (sym::gt, Op::Gt, None),
        (sym::ge, Op::Ge, None),
        (sym::eq, Op::Eq, None),
        (sym::neq, Op::Ne, None),
        (sym::and, Op::And, Some(Op::AndI)),
        (sym::or, Op::Or, None),
        (sym::xor, Op::Xor, None),
        (sym::shl, Op::Shl, Some(Op::ShlI)),
        (sym::shr, Op::Shr, Some(Op::ShrI)),
        (sym::aref, Op::Aref, None),
        (sym::eqq, Op::CaseEq, None),
    ];
    TABLE.iter().find(|t| t.0 == name).map(|t| (t.1, t.2))
}

fn unary_op(name: Sym) -> Option<Op> {
    Some(match name {
        n if n == sym::not => Op::Not,
        n if n == sym::uminus => Op::Neg,
        n if n == sym::length || n == sym::size => Op::Len,
        n if n == sym::succ => Op::Succ,
        n if n == sym::nil_p => Op::NilP,
        n if n == sym::empty_p => Op::EmptyP,
        _ => return None,
    })
}

/// How a comparison becomes a jump: (name, sense) -> forward jump, its immediate form, backward jump, its immediate form.
struct Fused {
    forward: Op,
    forward_imm: Op,
    backward: Option<(Op, Op)>,
}

fn fused(name: Sym, sense: bool) -> Option<Fused> {
    let f = |forward, forward_imm, backward| Some(Fused { forward, forward_imm, backward });
    match (name, sense) {
        (n, true) if n == sym::lt => f(Op::JumpLt, Op::JumpLtI, Some((Op::LoopLt, Op::LoopLtI))),
        (n, true) if n == sym::le => f(Op::JumpLe, Op::JumpLeI, Some((Op::LoopLe, Op::LoopLeI))),
        (n, true) if n == sym::gt => f(Op::JumpGt, Op::JumpGtI, Some((Op::LoopGt, Op::LoopGtI))),
        (n, true) if n == sym::ge => f(Op::JumpGe, Op::JumpGeI, Some((Op::LoopGe, Op::LoopGeI))),
        (n, false) if n == sym::lt => f(Op::JumpNotLt, Op::JumpNotLtI, None),
        (n, false) if n == sym::le => f(Op::JumpNotLe, Op::JumpNotLeI, None),
        (n, false) if n == sym::gt => f(Op::JumpNotGt, Op::JumpNotGtI, None),
        (n, false) if n == sym::ge => f(Op::JumpNotGe, Op::JumpNotGeI, None),
        (n, true) if n == sym::eq => f(Op::JumpEq, Op::JumpEqI, None),
        (n, false) if n == sym::eq => f(Op::JumpNotEq, Op::JumpNotEqI, None),
        // `!=` shares the instructions; the call in the group is `!=` and the third instruction jumps the other way.
        (n, true) if n == sym::neq => f(Op::JumpNotEq, Op::JumpNotEqI, None),
        (n, false) if n == sym::neq => f(Op::JumpEq, Op::JumpEqI, None),
        _ => None,
    }
}

/// A call of an operator: receiver and one plain argument.
struct Binary<'pr> {
    name: Sym,
    receiver: Node<'pr>,
    argument: Node<'pr>,
    at: u32,
}

/// The receiver is written `self`: private methods may be called.
pub(crate) fn self_flag(receiver: &Node<'_>) -> u16 {
    if matches!(receiver, Node::SelfNode { .. }) { call_flags::FCALL } else { 0 }
}

fn range_of(n: &Node<'_>) -> (u32, u32) {
    (n.location().start(), n.location().end())
}

fn binary<'pr>(n: &prism::CallNode<'pr>) -> Option<Binary<'pr>> {
    if n.is_safe_navigation() || n.block().is_some() || n.is_attribute_write() {
        return None;
    }
    let receiver = n.receiver()?;
    let arguments = n.arguments()?.arguments();
    if arguments.len() != 1 {
        return None;
    }
    let argument = arguments.first()?;
    if matches!(argument, Node::SplatNode { .. } | Node::KeywordHashNode { .. } | Node::ForwardingArgumentsNode { .. }) {
        return None;
    }
    let name = Sym::intern_bytes(n.name().as_slice());
    let at = n.message_loc().map_or(n.location().start(), |l| l.start());
    Some(Binary { name, receiver, argument, at })
}

impl<'pr> Compiler<'pr> {
    /// The second and third instruction of a group that leaves its result in `to`.
    fn group_tail(&mut self, name: Sym, flags: u16, argc: u8, to: u16) {
        let base = self.f.top;
        self.reserve(argc as u16 + 1);
        let site = self.f.asm.site(CallSite { name, flags, argc, child: NO_BLOCK, keywords: NO_KEYWORDS });
        self.f.asm.emit(Op::Send, argc, base, 0, site);
        // Not `mov`: the group has three instructions even when this one has nothing to do.
        self.f.asm.emit(Op::Move, 0, to, base, 0);
    }

    /// A group `op to, b, c` for operands in registers.
    pub(crate) fn group(&mut self, op: Op, name: Sym, flags: u16, to: u16, b: u16, c: u16) {
        let at = self.f.asm.insns.len();
        self.f.asm.emit(op, 0, to, b, c);
        // One result, the receiver, and what it is called with.
        let argc = op.operands().len() as u8 - 2;
        self.group_tail(name, flags, argc, to);
        debug_assert_eq!(self.f.asm.insns.len(), at + 3);
    }

    /// `op left, right` where `left` stands in a register; pops to `mark`.
    pub(crate) fn binary_with(&mut self, name: Sym, flags: u16, left: u16, right: &Node<'pr>, at: u32, mark: u16, dest: Dest) -> u16 {
        if let Some((op, imm)) = binary_op(name) {
            if let (Some(imm), Some(i)) = (imm, small_int(right)) {
                self.set_line(at);
                return self.group_to(imm, name, flags, left, i as u16, mark, dest);
            }
            let right = self.operand(right, None);
            self.set_line(at);
            return self.group_to(op, name, flags, left, right, mark, dest);
        }
        let base = self.push();
        self.f.asm.mov(base, left);
        self.expr(right, Dest::Push);
        self.set_line(at);
        let site = self.f.asm.site(CallSite { name, flags, argc: 1, child: NO_BLOCK, keywords: NO_KEYWORDS });
        self.f.asm.emit(Op::Send, 1, base, 0, site);
        self.deliver(base, mark, dest)
    }

    /// A group whose result goes to `dest`; its operands' temporaries are popped to `mark`.
    fn group_to(&mut self, op: Op, name: Sym, flags: u16, b: u16, c: u16, mark: u16, dest: Dest) -> u16 {
        let to = match dest {
            Dest::Reg(r) => r,
            _ => {
                self.f.top = self.f.top.max(mark + 1);
                self.reserve(0);
                mark
            }
        };
        // The window of the slow path lies above the operands.
        self.group(op, name, flags, to, b, c);
        match dest {
            Dest::Reg(_) | Dest::Discard => self.pop_to(mark),
            _ => self.pop_to(mark + 1),
        }
        to
    }

    /// A call that has an instruction of its own.
    pub(crate) fn operator_call(&mut self, n: &prism::CallNode<'pr>, dest: Dest) -> Option<u16> {
        let mark = self.f.top;
        if let Some(b) = binary(n) {
            binary_op(b.name)?;
            let left = self.operand(&b.receiver, Some(range_of(&b.argument)));
            return Some(self.binary_with(b.name, self_flag(&b.receiver), left, &b.argument, b.at, mark, dest));
        }
        if n.is_safe_navigation() || n.block().is_some() || n.arguments().is_some() {
            return None;
        }
        let receiver = n.receiver()?;
        let name = Sym::intern_bytes(n.name().as_slice());
        let op = unary_op(name)?;
        let b = self.operand(&receiver, None);
        self.set_line(n.message_loc().map_or(n.location().start(), |l| l.start()));
        Some(self.group_to(op, name, self_flag(&receiver), b, 0, mark, dest))
    }

    /// Calls a method without arguments, by its own instruction if it has one.
    pub(crate) fn quick_call(&mut self, name: Sym, flags: u16, receiver: u16, to: u16) {
        if let Some(op) = unary_op(name) {
            return self.group(op, name, flags, to, receiver, 0);
        }
        let base = self.push();
        self.f.asm.mov(base, receiver);
        let site = self.f.asm.site(CallSite { name, flags, argc: 0, child: NO_BLOCK, keywords: NO_KEYWORDS });
        self.f.asm.emit(Op::Send, 0, base, 0, site);
        self.f.asm.mov(to, base);
    }

    /// Jumps to `to` when the truth of `n` is `sense`, else falls through. `back`: the jump goes backwards and polls.
    pub(crate) fn branch(&mut self, n: &Node<'pr>, sense: bool, to: Label, back: bool) {
        match n {
            Node::ParenthesesNode { .. } => match cast!(n, as_parentheses_node).body() {
                Some(body) => self.branch(&body, sense, to, back),
                None => self.branch_constant(false, sense, to, back),
            },
            Node::StatementsNode { .. } => {
                let body = cast!(n, as_statements_node).body();
                let count = body.len();
                for (i, n) in body.iter().enumerate() {
                    if i + 1 == count {
                        self.begin_statement(&n);
                        self.branch(&n, sense, to, back);
                    } else {
                        self.passed(&n);
                    }
                }
                if count == 0 {
                    self.branch_constant(false, sense, to, back);
                }
            }
            Node::TrueNode { .. } | Node::IntegerNode { .. } | Node::SymbolNode { .. } | Node::StringNode { .. } => {
                self.branch_constant(true, sense, to, back)
            }
            Node::NilNode { .. } | Node::FalseNode { .. } => self.branch_constant(false, sense, to, back),
            Node::AndNode { .. } => {
                let n = cast!(n, as_and_node);
                self.branch_pair(&n.left(), &n.right(), false, sense, to, back);
            }
            Node::OrNode { .. } => {
                let n = cast!(n, as_or_node);
                self.branch_pair(&n.left(), &n.right(), true, sense, to, back);
            }
            Node::CallNode { .. } => {
                let call = cast!(n, as_call_node);
                match binary(&call).and_then(|b| Some((fused(b.name, sense)?, b))) {
                    Some((f, b)) if !self.f.wide => self.with_span(n, |c| c.branch_compare(&b, &f, sense, to, back)),
                    _ => self.branch_value(n, sense, to, back),
                }
            }
            _ if self.is_own_block(n) => {
                let given = self.simple(Op::BlockGiven, Dest::Push);
                self.pop_to(given);
                self.branch_register(given, sense, to, back);
            }
            _ => self.branch_value(n, sense, to, back),
        }
    }

    /// `and` (`stops_on` false) and `or` (true) as a condition.
    fn branch_pair(&mut self, left: &Node<'pr>, right: &Node<'pr>, stops_on: bool, sense: bool, to: Label, back: bool) {
        if sense == stops_on {
            self.branch(left, sense, to, back);
            self.branch(right, sense, to, back);
        } else {
            let skip = self.f.asm.label();
            self.branch(left, stops_on, skip, false);
            self.branch(right, sense, to, back);
            self.f.asm.bind(skip);
        }
    }

    fn branch_constant(&mut self, value: bool, sense: bool, to: Label, back: bool) {
        if value == sense {
            match back {
                true => self.f.asm.jump_op(Op::Loop, 0, to),
                false => self.f.asm.jump(to),
            }
        }
    }

    fn branch_value(&mut self, n: &Node<'pr>, sense: bool, to: Label, back: bool) {
        let mark = self.f.top;
        let r = self.expr(n, Dest::Any);
        self.pop_to(mark);
        self.branch_register(r, sense, to, back);
    }

    pub(crate) fn branch_register(&mut self, r: u16, sense: bool, to: Label, back: bool) {
        let op = match (sense, back) {
            (true, false) => Op::JumpIf,
            (false, false) => Op::JumpUnless,
            (true, true) => Op::LoopIf,
            (false, true) => Op::LoopUnless,
        };
        self.f.asm.jump_op(op, r, to);
    }

    fn branch_compare(&mut self, b: &Binary<'pr>, f: &Fused, sense: bool, to: Label, back: bool) {
        // A backward jump without an instruction of its own: jump over a Loop with the opposite condition.
        if back && f.backward.is_none() {
            let skip = self.f.asm.label();
            if let Some(opposite) = fused(b.name, !sense) {
                self.branch_compare(b, &opposite, !sense, skip, false);
            }
            self.f.asm.jump_op(Op::Loop, 0, to);
            self.f.asm.bind(skip);
            return;
        }
        let mark = self.f.top;
        let left = self.operand(&b.receiver, Some(range_of(&b.argument)));
        let small = small_int(&b.argument);
        let right = match small {
            Some(i) => i as u16,
            None => self.operand(&b.argument, None),
        };
        let op = match (back.then_some(f.backward).flatten(), small.is_some()) {
            (Some((op, _)), false) => op,
            (Some((_, op)), true) => op,
            (None, false) => f.forward,
            (None, true) => f.forward_imm,
        };
        self.set_line(b.at);
        self.compare_group(op, b.name, self_flag(&b.receiver), left, right, sense, to, back);
        self.pop_to(mark);
    }

    /// A fused comparison; `right` is a register or a small Integer, as `op` says.
    fn compare_group(&mut self, op: Op, name: Sym, flags: u16, left: u16, right: u16, sense: bool, to: Label, back: bool) {
        let base = self.f.top;
        self.reserve(2);
        self.f.asm.jump_fused(op, left, right, to);
        let site = self.f.asm.site(CallSite { name, flags, argc: 1, child: NO_BLOCK, keywords: NO_KEYWORDS });
        self.f.asm.emit(Op::Send, 1, base, 0, site);
        self.branch_register(base, sense, to, back);
    }

    /// Jumps to `to` when `register op value` is `sense`, for the compiler's own Integers.
    pub(crate) fn branch_int(&mut self, register: u16, name: Sym, value: i16, sense: bool, to: Label) {
        match fused(name, sense) {
            Some(f) if !self.f.wide => self.compare_group(f.forward_imm, name, 0, register, value as u16, sense, to, false),
            _ => {
                let mark = self.f.top;
                let t = self.push();
                let v = self.load_int(value as i64, Dest::Push);
                if let Some((op, _)) = binary_op(name) {
                    self.group(op, name, 0, t, register, v);
                }
                self.pop_to(mark);
                self.branch_register(t, sense, to, false);
            }
        }
    }

    /// Jumps when `left op right` (both registers) is `sense`.
    pub(crate) fn branch_regs(&mut self, left: u16, name: Sym, right: u16, sense: bool, to: Label) {
        match fused(name, sense) {
            Some(f) if !self.f.wide => self.compare_group(f.forward, name, 0, left, right, sense, to, false),
            _ => {
                let t = self.push();
                if let Some((op, _)) = binary_op(name) {
                    self.group(op, name, 0, t, left, right);
                }
                self.pop_to(t);
                self.branch_register(t, sense, to, false);
            }
        }
    }

    /// `&&` (`stops_on` false) and `||` (true) as a value.
    pub(crate) fn and_or(&mut self, left: &Node<'pr>, right: &Node<'pr>, stops_on: bool, dest: Dest) -> u16 {
        match dest {
            Dest::Discard => {
                let end = self.f.asm.label();
                self.branch(left, stops_on, end, false);
                self.expr(right, Dest::Discard);
                self.f.asm.bind(end);
                0
            }
            // The right side may still read the variable.
            Dest::Reg(r) if r < self.f.first_temp => {
                let (other, end) = (self.f.asm.label(), self.f.asm.label());
                let mark = self.f.top;
                let l = self.expr(left, Dest::Any);
                self.branch_register(l, !stops_on, other, false);
                self.deliver(l, mark, dest);
                self.f.asm.jump(end);
                self.f.asm.bind(other);
                self.expr(right, dest);
                self.f.asm.bind(end);
                r
            }
            _ => self.with_temp(dest, |c, d| {
                let end = c.f.asm.label();
                c.expr(left, Dest::Reg(d));
                c.branch_register(d, stops_on, end, false);
                c.expr(right, Dest::Reg(d));
                c.f.asm.bind(end);
            }),
        }
    }
}
