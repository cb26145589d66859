//! Assignment: targets, operator assignment, multiple assignment.

use crate::operators::self_flag;
use crate::unit::{Compiler, Dest};
use ruby_prism as prism;
use ruby_prism::Node;
use zakuro_base::{Sym, sym};
use zakuro_bytecode::{CallSite, Intrinsic, NO_BLOCK, NO_KEYWORDS, Op, call_flags};

/// A place to assign to, its receiver and arguments already evaluated into registers.
pub(crate) enum Target {
    Local(usize, usize),
    Ivar(Sym),
    Global(Sym),
    Cvar(Sym),
    Const(Sym),
    ConstIn(u16, Sym),
    /// `::A`
    ConstTop(Sym),
    Attr {
        receiver: u16,
        reader: Sym,
        writer: Sym,
        flags: u16,
        safe: bool,
        at: u32,
    },
    Index {
        receiver: u16,
        first: u16,
        count: u16,
        splat: bool,
        flags: u16,
        safe: bool,
        at: u32,
    },
    Multi {
        lefts: Vec<Target>,
        rest: Option<Option<Box<Target>>>,
        rights: Vec<Target>,
    },
    /// None: the source is refused.
    Nothing,
}

/// What an operator assignment does.
enum Update {
    And,
    Or,
    Op(Sym, u32),
}

impl<'pr> Compiler<'pr> {
    pub(crate) fn local_write(&mut self, n: &prism::LocalVariableWriteNode<'pr>, dest: Dest) -> u16 {
        let (scope, var) = self.local(&n.name(), n.depth());
        if let zakuro_bytecode::Place::Reg(r) = self.place(scope, var) {
            self.expr(&n.value(), Dest::Reg(r));
            return self.deliver(r, self.f.top, dest);
        }
        self.write_with(Target::Local(scope, var), &n.value(), dest)
    }

    /// `target = value` for a target without evaluation of its own.
    fn write_with(&mut self, target: Target, value: &Node<'pr>, dest: Dest) -> u16 {
        let mark = self.f.top;
        let want = match dest {
            Dest::Discard => Dest::Any,
            Dest::Reg(r) if r < self.f.first_temp => Dest::Any,
            d => d,
        };
        let v = self.expr(value, want);
        self.store(&target, v);
        match want == dest {
            true => v,
            false => self.deliver(v, mark, dest),
        }
    }

    fn const_write(&mut self, target: Target, value: &Node<'pr>, at: u32, dest: Dest) -> u16 {
        if self.shareable.is_none() {
            self.set_line(at);
            return self.write_with(target, value, dest);
        }
        self.with_temp(dest, |c, d| {
            c.shareable_value(value, d);
            c.store(&target, d);
        })
    }

    /// Assignments but those to local variables; None for a node that is none.
    pub(crate) fn assignment(&mut self, n: &Node<'pr>, dest: Dest) -> Option<u16> {
        /// Operator assignments of nodes with a plain name.
        macro_rules! named {
            ($as:ident, $target:ident, And) => {{
                let n = n.$as()?;
                let t = Target::$target(self.intern(&n.name()));
                self.update(t, Update::And, &n.value(), n.location().start(), dest)
            }};
            ($as:ident, $target:ident, Or) => {{
                let n = n.$as()?;
                let t = Target::$target(self.intern(&n.name()));
                self.update(t, Update::Or, &n.value(), n.location().start(), dest)
            }};
            ($as:ident, $target:ident, Op) => {{
                let n = n.$as()?;
                let t = Target::$target(self.intern(&n.name()));
                let op = Update::Op(self.intern(&n.binary_operator()), n.binary_operator_loc().start());
                self.update(t, op, &n.value(), n.location().start(), dest)
            }};
            ($as:ident, $target:ident, Write) => {{
                let n = n.$as()?;
                self.set_line(n.location().start());
                self.write_with(Target::$target(self.intern(&n.name())), &n.value(), dest)
            }};
        }
        /// Operator assignments of nodes whose target is evaluated.
        macro_rules! evaluated {
            ($as:ident, $make:ident, And) => {{
                let n = n.$as()?;
                let mark = self.f.top;
                let kept = self.keep(dest);
                let t = $make!(n);
                self.update_evaluated(t, Update::And, &n.value(), n.location().start(), kept, mark, dest)
            }};
            ($as:ident, $make:ident, Or) => {{
                let n = n.$as()?;
                let mark = self.f.top;
                let kept = self.keep(dest);
                let t = $make!(n);
                self.update_evaluated(t, Update::Or, &n.value(), n.location().start(), kept, mark, dest)
            }};
            ($as:ident, $make:ident, Op) => {{
                let n = n.$as()?;
                let mark = self.f.top;
                let kept = self.keep(dest);
                let t = $make!(n);
                let op = Update::Op(self.intern(&n.binary_operator()), n.binary_operator_loc().start());
                self.update_evaluated(t, op, &n.value(), n.location().start(), kept, mark, dest)
            }};
        }
        macro_rules! attr {
            ($n:ident) => {{
                let at = $n.message_loc().map_or($n.location().start(), |l| l.start());
                self.attr_target($n.receiver(), self.intern(&$n.read_name()), self.intern(&$n.write_name()), $n.is_safe_navigation(), at)
            }};
        }
        macro_rules! index {
            ($n:ident) => {
                self.index_target($n.receiver(), $n.arguments(), $n.block().is_some(), $n.is_safe_navigation(), &$n.as_node())
            };
        }
        macro_rules! path {
            ($n:ident) => {
                self.const_path_target(&$n.target())
            };
        }
        macro_rules! local {
            ($as:ident, $op:expr) => {{
                let n = n.$as()?;
                let (scope, var) = self.local(&n.name(), n.depth());
                let op = $op(&n);
                self.update(Target::Local(scope, var), op, &n.value(), n.location().start(), dest)
            }};
        }
        Some(match n {
            Node::InstanceVariableWriteNode { .. } => named!(as_instance_variable_write_node, Ivar, Write),
            Node::InstanceVariableAndWriteNode { .. } => named!(as_instance_variable_and_write_node, Ivar, And),
            Node::InstanceVariableOrWriteNode { .. } => named!(as_instance_variable_or_write_node, Ivar, Or),
            Node::InstanceVariableOperatorWriteNode { .. } => named!(as_instance_variable_operator_write_node, Ivar, Op),
            Node::GlobalVariableWriteNode { .. } => named!(as_global_variable_write_node, Global, Write),
            Node::GlobalVariableAndWriteNode { .. } => named!(as_global_variable_and_write_node, Global, And),
            Node::GlobalVariableOrWriteNode { .. } => named!(as_global_variable_or_write_node, Global, Or),
            Node::GlobalVariableOperatorWriteNode { .. } => named!(as_global_variable_operator_write_node, Global, Op),
            Node::ClassVariableWriteNode { .. } => named!(as_class_variable_write_node, Cvar, Write),
            Node::ClassVariableAndWriteNode { .. } => named!(as_class_variable_and_write_node, Cvar, And),
            Node::ClassVariableOrWriteNode { .. } => named!(as_class_variable_or_write_node, Cvar, Or),
            Node::ClassVariableOperatorWriteNode { .. } => named!(as_class_variable_operator_write_node, Cvar, Op),
            Node::ConstantWriteNode { .. } => {
                let n = n.as_constant_write_node()?;
                self.const_write(Target::Const(self.intern(&n.name())), &n.value(), n.location().start(), dest)
            }
            Node::ConstantAndWriteNode { .. } => named!(as_constant_and_write_node, Const, And),
            Node::ConstantOrWriteNode { .. } => named!(as_constant_or_write_node, Const, Or),
            Node::ConstantOperatorWriteNode { .. } => named!(as_constant_operator_write_node, Const, Op),
            Node::ConstantPathWriteNode { .. } => {
                let n = n.as_constant_path_write_node()?;
                let mark = self.f.top;
                let kept = self.keep(dest);
                let t = self.const_path_target(&n.target());
                let v = match kept {
                    Some(k) => self.const_write(t, &n.value(), n.location().start(), Dest::Reg(k)),
                    None => self.const_write(t, &n.value(), n.location().start(), Dest::Discard),
                };
                self.deliver(v, mark, dest)
            }
            Node::ConstantPathAndWriteNode { .. } => evaluated!(as_constant_path_and_write_node, path, And),
            Node::ConstantPathOrWriteNode { .. } => evaluated!(as_constant_path_or_write_node, path, Or),
            Node::ConstantPathOperatorWriteNode { .. } => evaluated!(as_constant_path_operator_write_node, path, Op),
            Node::CallAndWriteNode { .. } => evaluated!(as_call_and_write_node, attr, And),
            Node::CallOrWriteNode { .. } => evaluated!(as_call_or_write_node, attr, Or),
            Node::CallOperatorWriteNode { .. } => evaluated!(as_call_operator_write_node, attr, Op),
            Node::IndexAndWriteNode { .. } => evaluated!(as_index_and_write_node, index, And),
            Node::IndexOrWriteNode { .. } => evaluated!(as_index_or_write_node, index, Or),
            Node::IndexOperatorWriteNode { .. } => evaluated!(as_index_operator_write_node, index, Op),
            Node::LocalVariableAndWriteNode { .. } => local!(as_local_variable_and_write_node, |_: &_| Update::And),
            Node::LocalVariableOrWriteNode { .. } => local!(as_local_variable_or_write_node, |_: &_| Update::Or),
            Node::LocalVariableOperatorWriteNode { .. } => {
                local!(as_local_variable_operator_write_node, |n: &prism::LocalVariableOperatorWriteNode<'pr>| {
                    Update::Op(self.intern(&n.binary_operator()), n.binary_operator_loc().start())
                })
            }
            _ => return None,
        })
    }

    // ---- targets ----

    /// A register below the target's own for the value of the whole expression.
    fn keep(&mut self, dest: Dest) -> Option<u16> {
        (dest != Dest::Discard).then(|| self.push())
    }

    fn attr_target(&mut self, receiver: Option<Node<'pr>>, reader: Sym, writer: Sym, safe: bool, at: u32) -> Target {
        let flags = receiver.as_ref().map_or(call_flags::FCALL, self_flag);
        let receiver = match receiver {
            None | Some(Node::SelfNode { .. }) => 0,
            Some(r) => self.expr(&r, Dest::Push),
        };
        Target::Attr { receiver, reader, writer, flags, safe, at }
    }

    fn index_target(
        &mut self,
        receiver: Option<Node<'pr>>,
        arguments: Option<prism::ArgumentsNode<'pr>>,
        block: bool,
        safe: bool,
        n: &Node<'pr>,
    ) -> Target {
        let flags = receiver.as_ref().map_or(call_flags::FCALL, self_flag);
        let receiver = match receiver {
            None | Some(Node::SelfNode { .. }) => 0,
            Some(r) => self.expr(&r, Dest::Push),
        };
        let at = n.location().start();
        let p = self.arguments(arguments.as_ref());
        let splat = p.flags & call_flags::SPLAT != 0;
        let first = self.f.top - p.argc as u16;
        if block || p.flags & (call_flags::KW | call_flags::BLOCKARG) != 0 {
            // The parser says so, too.
            self.refuse(at, "unexpected keyword or block arg given in index assignment", Dest::Discard);
        }
        Target::Index { receiver, first, count: p.argc as u16, splat, flags, safe, at }
    }

    fn const_path_target(&mut self, n: &prism::ConstantPathNode<'pr>) -> Target {
        let Some(name) = n.name().map(|n| self.intern(&n)) else {
            self.misplaced(&n.as_node(), Dest::Discard);
            return Target::Nothing;
        };
        self.const_in(n.parent(), name)
    }

    fn const_in(&mut self, parent: Option<Node<'pr>>, name: Sym) -> Target {
        match parent {
            None => Target::ConstTop(name),
            Some(p) => Target::ConstIn(self.expr(&p, Dest::Push), name),
        }
    }

    /// Evaluates the receivers and arguments of a target; they stay pushed.
    pub(crate) fn target(&mut self, n: &Node<'pr>) -> Target {
        if let Some(t) = n.as_local_variable_target_node() {
            let (scope, var) = self.local(&t.name(), t.depth());
            return Target::Local(scope, var);
        }
        if let Some(t) = n.as_instance_variable_target_node() {
            return Target::Ivar(self.intern(&t.name()));
        }
        if let Some(t) = n.as_global_variable_target_node() {
            return Target::Global(self.intern(&t.name()));
        }
        if let Some(t) = n.as_class_variable_target_node() {
            return Target::Cvar(self.intern(&t.name()));
        }
        if let Some(t) = n.as_constant_target_node() {
            return Target::Const(self.intern(&t.name()));
        }
        if let Some(t) = n.as_constant_path_target_node()
            && let Some(name) = t.name().map(|n| self.intern(&n))
        {
            return self.const_in(t.parent(), name);
        }
        if let Some(t) = n.as_call_target_node() {
            let writer = self.intern(&t.name());
            return self.attr_target(Some(t.receiver()), writer, writer, t.is_safe_navigation(), t.message_loc().start());
        }
        if let Some(t) = n.as_index_target_node() {
            return self.index_target(Some(t.receiver()), t.arguments(), t.block().is_some(), t.is_safe_navigation(), n);
        }
        if let Some(t) = n.as_multi_target_node() {
            return self.multi_target(&t.lefts(), t.rest(), &t.rights());
        }
        if let Some(t) = n.as_required_parameter_node() {
            // A name in a destructured parameter.
            let name = self.intern(&t.name());
            if let Some(var) = self.scopes.list[self.f.scope].var(name) {
                return Target::Local(self.f.scope, var);
            }
        }
        if let Some(t) = n.as_splat_node()
            && let Some(e) = t.expression()
        {
            return self.target(&e);
        }
        self.misplaced(n, Dest::Discard);
        Target::Nothing
    }

    fn multi_target(&mut self, lefts: &prism::NodeList<'pr>, rest: Option<Node<'pr>>, rights: &prism::NodeList<'pr>) -> Target {
        let lefts = lefts.iter().map(|n| self.target(&n)).collect();
        let rest = match rest {
            Some(Node::SplatNode { .. }) => {
                let inner = rest.and_then(|r| r.as_splat_node()).and_then(|s| s.expression());
                Some(inner.map(|n| Box::new(self.target(&n))))
            }
            _ => None,
        };
        let rights = rights.iter().map(|n| self.target(&n)).collect();
        Target::Multi { lefts, rest, rights }
    }

    /// Assigns the value in register `v`. Uses temporaries above the top only.
    pub(crate) fn store(&mut self, t: &Target, v: u16) {
        let mark = self.f.top;
        match t {
            Target::Local(scope, var) => self.store_var(*scope, *var, v),
            Target::Ivar(name) => {
                let site = self.f.asm.ivar(self.ivar_name(*name));
                self.f.asm.emit(Op::SetIvar, 0, v, 0, site);
            }
            Target::Global(name) => {
                let s = self.f.asm.sym(*name);
                self.f.asm.emit(Op::SetGlobal, 0, v, s, 0);
            }
            Target::Cvar(name) => {
                let r = self.push();
                self.f.asm.mov(r, v);
                let s = self.f.asm.sym(*name);
                self.f.asm.emit(Op::Intrinsic, Intrinsic::SetCvar as u8, r, s, 1);
            }
            Target::Const(name) => {
                let m = self.push();
                self.f.asm.emit(Op::LoadUndef, 0, m, 0, 0);
                let s = self.f.asm.sym(*name);
                self.f.asm.emit(Op::SetConst, 0, v, m, s);
            }
            Target::ConstTop(name) => {
                let m = self.get_const(sym::Object, true, Dest::Push);
                let s = self.f.asm.sym(*name);
                self.f.asm.emit(Op::SetConst, 0, v, m, s);
            }
            Target::ConstIn(module, name) => {
                let s = self.f.asm.sym(*name);
                self.f.asm.emit(Op::SetConst, 0, v, *module, s);
            }
            Target::Attr { receiver, writer, flags, safe, at, .. } => {
                let skip = self.f.asm.label();
                if *safe {
                    self.f.asm.jump_op(Op::JumpNil, *receiver, skip);
                }
                self.set_line(*at);
                self.send_regs(*receiver, *writer, &[v], flags | call_flags::ATTR_ASSIGN, Dest::Discard);
                self.f.asm.bind(skip);
            }
            Target::Index { receiver, first, count, splat, flags, at, .. } => {
                self.set_line(*at);
                let flags = flags | call_flags::ATTR_ASSIGN;
                if *splat {
                    let base = self.push();
                    self.f.asm.mov(base, *receiver);
                    let list = self.push();
                    self.f.asm.emit(Op::Splat, 0, list, *first, 0);
                    self.f.asm.emit(Op::ArrayPush, 0, list, v, 0);
                    let flags = flags | call_flags::SPLAT | call_flags::SPLAT_FRESH;
                    let site = self.f.asm.site(CallSite { name: sym::aset, flags, argc: 1, child: NO_BLOCK, keywords: NO_KEYWORDS });
                    self.f.asm.emit(Op::SendX, 1, base, 0, site);
                } else if *count == 1 {
                    self.element_set(*receiver, *first, v, flags);
                } else {
                    let mut args: Vec<u16> = (*first..*first + *count).collect();
                    args.push(v);
                    self.send_regs(*receiver, sym::aset, &args, flags, Dest::Discard);
                }
            }
            Target::Multi { lefts, rest, rights } => {
                let total = lefts.len() + rights.len() + rest.is_some() as usize;
                if rights.len() > 255 {
                    self.f.asm.too_big = true;
                    return;
                }
                let first = self.f.top;
                for _ in 0..total + (lefts.len() > 255) as usize {
                    self.push();
                }
                // One instruction expands up to 255 elements; what is left of the Array then stands behind them.
                let (mut left, mut at, mut from) = (lefts.len() as u16, first, v);
                while left > 255 {
                    self.f.asm.emit(Op::Expand, 1, at, from, 255);
                    (left, at) = (left - 255, at + 255);
                    from = at;
                }
                self.f.asm.emit(Op::Expand, rest.is_some() as u8, at, from, left | (rights.len() as u16) << 8);
                let mut r = first;
                for t in lefts {
                    self.store(t, r);
                    r += 1;
                }
                if let Some(rest) = rest {
                    if let Some(t) = rest {
                        self.store(t, r);
                    }
                    r += 1;
                }
                for t in rights {
                    self.store(t, r);
                    r += 1;
                }
            }
            Target::Nothing => {}
        }
        self.pop_to(mark);
    }

    /// Reads the present value of a target.
    fn fetch(&mut self, t: &Target, dest: Dest) -> u16 {
        match t {
            Target::Local(scope, var) => self.load_var(*scope, *var, dest),
            Target::Ivar(name) => self.get_ivar(*name, dest),
            Target::Global(name) => self.get_global(*name, dest),
            Target::Cvar(name) => self.sym_intrinsic(Intrinsic::GetCvar, *name, dest),
            Target::Const(name) => self.get_const(*name, false, dest),
            Target::ConstTop(name) => self.get_const(*name, true, dest),
            Target::ConstIn(module, name) => self.get_const_from(*module, *name, dest),
            Target::Attr { receiver, reader, flags, at, .. } => {
                self.set_line(*at);
                self.send_regs(*receiver, *reader, &[], *flags, dest)
            }
            Target::Index { receiver, first, count, splat, flags, at, .. } => {
                self.set_line(*at);
                if *splat {
                    let base = self.push();
                    self.f.asm.mov(base, *receiver);
                    let list = self.push();
                    self.f.asm.emit(Op::Splat, 0, list, *first, 0);
                    let flags = flags | call_flags::SPLAT | call_flags::SPLAT_FRESH;
                    let site = self.f.asm.site(CallSite { name: sym::aref, flags, argc: 1, child: NO_BLOCK, keywords: NO_KEYWORDS });
                    self.f.asm.emit(Op::SendX, 1, base, 0, site);
                    return self.deliver(base, base, dest);
                }
                if *count == 1 {
                    let d = self.out(dest);
                    self.group(Op::Aref, sym::aref, *flags, d, *receiver, *first);
                    return d;
                }
                let args: Vec<u16> = (*first..*first + *count).collect();
                self.send_regs(*receiver, sym::aref, &args, *flags, dest)
            }
            Target::Multi { .. } | Target::Nothing => self.nil(dest),
        }
    }

    /// Jumps to `unset` when the target has no value yet: `X ||= v` must not raise.
    fn jump_unset(&mut self, t: &Target, unset: crate::emit::Label) {
        let mark = self.f.top;
        let known = match t {
            Target::Global(name) if *name != sym::errinfo && *name != sym::lastmatch => {
                self.sym_intrinsic(Intrinsic::DefinedGlobal, *name, Dest::Push)
            }
            Target::Cvar(name) => self.sym_intrinsic(Intrinsic::DefinedCvar, *name, Dest::Push),
            Target::Const(name) => self.sym_intrinsic(Intrinsic::DefinedConst, *name, Dest::Push),
            Target::ConstTop(name) => {
                let m = self.get_const(sym::Object, true, Dest::Push);
                let s = self.f.asm.sym(*name);
                self.f.asm.emit(Op::Intrinsic, Intrinsic::DefinedConstFrom as u8, m, s, 1);
                m
            }
            Target::ConstIn(module, name) => {
                let m = self.push();
                self.f.asm.mov(m, *module);
                let s = self.f.asm.sym(*name);
                self.f.asm.emit(Op::Intrinsic, Intrinsic::DefinedConstFrom as u8, m, s, 1);
                m
            }
            _ => return,
        };
        self.pop_to(mark);
        self.branch_register(known, false, unset, false);
    }

    /// `target op= value` for a target without registers of its own.
    fn update(&mut self, t: Target, op: Update, value: &Node<'pr>, at: u32, dest: Dest) -> u16 {
        self.set_line(at);
        let mark = self.f.top;
        if let Target::Local(scope, var) = &t
            && let zakuro_bytecode::Place::Reg(r) = self.place(*scope, *var)
        {
            match op {
                Update::Op(name, at) => {
                    let range = (value.location().start(), value.location().end());
                    let mut left = r;
                    if self.scopes.written_in(*scope, *var, range) {
                        left = self.push();
                        self.f.asm.mov(left, r);
                    }
                    self.binary_with(name, 0, left, value, at, mark, Dest::Reg(r));
                }
                Update::And | Update::Or => {
                    let end = self.f.asm.label();
                    self.branch_register(r, matches!(op, Update::Or), end, false);
                    self.expr(value, Dest::Reg(r));
                    self.f.asm.bind(end);
                }
            }
            return self.deliver(r, mark, dest);
        }
        let kept = self.keep(dest);
        self.update_evaluated(t, op, value, at, kept, mark, dest)
    }

    fn update_evaluated(&mut self, t: Target, op: Update, value: &Node<'pr>, at: u32, kept: Option<u16>, mark: u16, dest: Dest) -> u16 {
        let skip = self.f.asm.label();
        let safe = match &t {
            Target::Attr { receiver, safe: true, .. } | Target::Index { receiver, safe: true, .. } => Some(*receiver),
            _ => None,
        };
        if let Some(receiver) = safe {
            if let Some(k) = kept {
                self.f.asm.emit(Op::LoadNil, 0, k, 0, 0);
            }
            self.f.asm.jump_op(Op::JumpNil, receiver, skip);
        }
        let v = match kept {
            Some(k) => k,
            None => self.push(),
        };
        match op {
            Update::Op(name, op_at) => {
                self.set_line(at);
                let top = self.f.top;
                let left = self.fetch(&t, Dest::Push);
                self.binary_with(name, 0, left, value, op_at, top, Dest::Reg(v));
                self.store(&t, v);
            }
            Update::And | Update::Or => {
                let unset = self.f.asm.label();
                if matches!(op, Update::Or) {
                    self.jump_unset(&t, unset);
                }
                self.fetch(&t, Dest::Reg(v));
                self.branch_register(v, matches!(op, Update::Or), skip, false);
                self.f.asm.bind(unset);
                if self.shareable.is_some() {
                    self.shareable_value(value, v);
                } else {
                    self.expr(value, Dest::Reg(v));
                }
                self.set_line(at);
                self.store(&t, v);
            }
        }
        self.f.asm.bind(skip);
        self.deliver(v, mark, dest)
    }

    // ---- multiple assignment ----

    pub(crate) fn multi_write(&mut self, n: &prism::MultiWriteNode<'pr>, dest: Dest) -> u16 {
        let mark = self.f.top;
        let kept = self.keep(dest);
        let target = self.multi_target(&n.lefts(), n.rest(), &n.rights());
        let value = n.value();
        if kept.is_none()
            && let Some(array) = value.as_array_node()
            && let Target::Multi { lefts, rest: None, rights } = &target
            && rights.is_empty()
        {
            let elements: Vec<Node<'pr>> = array.elements().iter().collect();
            if !elements.iter().any(|e| matches!(e, Node::SplatNode { .. } | Node::KeywordHashNode { .. })) && elements.len() <= 64 {
                self.assign_each(lefts, &elements);
                self.pop_to(mark);
                return 0;
            }
        }
        let v = match kept {
            Some(k) => self.expr(&value, Dest::Reg(k)),
            None => self.expr(&value, Dest::Any),
        };
        self.set_line(n.location().start());
        self.store(&target, v);
        self.deliver(v, mark, dest)
    }

    /// `a, b = x, y` without an Array: all values first, then the assignments.
    fn assign_each(&mut self, targets: &[Target], values: &[Node<'pr>]) {
        let mut registers = Vec::new();
        for (i, v) in values.iter().enumerate() {
            registers.push(match i < targets.len() {
                true => self.expr(v, Dest::Push),
                false => self.expr(v, Dest::Discard),
            });
        }
        for (i, t) in targets.iter().enumerate() {
            match registers.get(i) {
                Some(r) => self.store(t, *r),
                None => {
                    let r = self.nil(Dest::Push);
                    self.store(t, r);
                    self.pop_to(r);
                }
            }
        }
    }

    /// Destructures register `from` into the targets of a parameter.
    pub(crate) fn destructure(&mut self, lefts: &prism::NodeList<'pr>, rest: Option<Node<'pr>>, rights: &prism::NodeList<'pr>, from: u16) {
        let mark = self.f.top;
        let t = self.multi_target(lefts, rest, rights);
        self.store(&t, from);
        self.pop_to(mark);
    }
}
