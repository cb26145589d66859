//! `defined?`: what an expression is, without running more of it than necessary.

use crate::emit::Label;
use crate::expr::cast;
use crate::scope::Kind;
use crate::unit::{Compiler, Dest};
use ruby_prism as prism;
use ruby_prism::Node;
use zakuro_base::{Sym, sym};
use zakuro_bytecode::{Const, Intrinsic, Op};

impl<'pr> Compiler<'pr> {
    pub(crate) fn defined(&mut self, n: &Node<'pr>, dest: Dest) -> u16 {
        if dest == Dest::Discard {
            return 0;
        }
        self.with_temp(dest, |c, d| {
            let (no, end) = (c.f.asm.label(), c.f.asm.label());
            let mark = c.f.top;
            let what = c.defined_test(n, no);
            c.pop_to(mark);
            if c.f.asm.reachable() {
                c.load_const(Const::Str { bytes: what.as_bytes().into(), encoding: 2 }, Dest::Reg(d));
                c.f.asm.jump(end);
            }
            c.f.asm.bind(no);
            c.f.asm.emit(Op::LoadNil, 0, d, 0, 0);
            c.f.asm.bind(end);
        })
    }

    /// Jumps to `no` unless `n` is defined; returns what it is.
    fn defined_test(&mut self, n: &Node<'pr>, no: Label) -> &'static str {
        let mark = self.f.top;
        let what = match n {
            Node::ParenthesesNode { .. } => {
                let body = cast!(n, as_parentheses_node).body();
                match body.as_ref().and_then(|b| b.as_statements_node()) {
                    None if body.is_none() => "nil",
                    Some(s) if s.body().len() == 1 && !cast!(n, as_parentheses_node).is_multiple_statements() => match s.body().first() {
                        Some(only) => self.defined_test(&only, no),
                        None => "nil",
                    },
                    _ => "expression",
                }
            }
            Node::NilNode { .. } => "nil",
            Node::SelfNode { .. } => "self",
            Node::TrueNode { .. } => "true",
            Node::FalseNode { .. } => "false",
            Node::LocalVariableReadNode { .. } | Node::ItLocalVariableReadNode { .. } => "local-variable",
            Node::InstanceVariableReadNode { .. } => {
                let name = self.ivar_name(self.intern(&cast!(n, as_instance_variable_read_node).name()));
                let t = self.sym_intrinsic(Intrinsic::DefinedIvar, name, Dest::Push);
                self.branch_register(t, false, no, false);
                "instance-variable"
            }
            Node::GlobalVariableReadNode { .. } => {
                let name = self.intern(&cast!(n, as_global_variable_read_node).name());
                if name != sym::errinfo && name != sym::lastmatch {
                    let t = self.sym_intrinsic(Intrinsic::DefinedGlobal, name, Dest::Push);
                    self.branch_register(t, false, no, false);
                }
                "global-variable"
            }
            Node::NumberedReferenceReadNode { .. } | Node::BackReferenceReadNode { .. } => {
                let t = self.expr(n, Dest::Push);
                self.f.asm.jump_op(Op::JumpNil, t, no);
                "global-variable"
            }
            Node::ClassVariableReadNode { .. } => {
                let name = self.intern(&cast!(n, as_class_variable_read_node).name());
                let t = self.sym_intrinsic(Intrinsic::DefinedCvar, name, Dest::Push);
                self.branch_register(t, false, no, false);
                "class variable"
            }
            Node::ConstantReadNode { .. } => {
                let name = self.intern(&cast!(n, as_constant_read_node).name());
                let t = self.sym_intrinsic(Intrinsic::DefinedConst, name, Dest::Push);
                self.branch_register(t, false, no, false);
                "constant"
            }
            Node::ConstantPathNode { .. } => {
                self.defined_path(&cast!(n, as_constant_path_node), no);
                "constant"
            }
            Node::CallNode { .. } => self.defined_call(&cast!(n, as_call_node), no),
            Node::YieldNode { .. } => {
                match self.method_block() {
                    Some((scope, var)) => {
                        let t = self.load_var(scope, var, Dest::Push);
                        self.f.asm.jump_op(Op::JumpNil, t, no);
                    }
                    None => {
                        let t = match self.scope_kind() {
                            Kind::Method => self.simple(Op::BlockGiven, Dest::Push),
                            _ => self.intrinsic(Intrinsic::DefinedYield, 0, Dest::Push),
                        };
                        self.branch_register(t, false, no, false);
                    }
                }
                "yield"
            }
            Node::SuperNode { .. } | Node::ForwardingSuperNode { .. } => {
                if let Some(arguments) = n.as_super_node().and_then(|s| s.arguments()) {
                    self.defined_arguments(&arguments, no);
                }
                let t = self.intrinsic(Intrinsic::DefinedSuper, 0, Dest::Push);
                self.branch_register(t, false, no, false);
                "super"
            }
            Node::AndNode { .. } | Node::OrNode { .. } => "expression",
            Node::ArrayNode { .. } => {
                self.defined_all(&cast!(n, as_array_node).elements(), no);
                "expression"
            }
            Node::HashNode { .. } => {
                self.defined_all(&cast!(n, as_hash_node).elements(), no);
                "expression"
            }
            Node::KeywordHashNode { .. } => {
                self.defined_all(&cast!(n, as_keyword_hash_node).elements(), no);
                "expression"
            }
            Node::AssocNode { .. } => {
                let pair = cast!(n, as_assoc_node);
                self.defined_test(&pair.key(), no);
                self.defined_test(&pair.value(), no);
                "expression"
            }
            Node::AssocSplatNode { .. } => {
                if let Some(value) = cast!(n, as_assoc_splat_node).value() {
                    self.defined_test(&value, no);
                }
                "expression"
            }
            Node::SplatNode { .. } => {
                if let Some(list) = cast!(n, as_splat_node).expression() {
                    self.defined_test(&list, no);
                }
                "expression"
            }
            Node::ImplicitNode { .. } => self.defined_test(&cast!(n, as_implicit_node).value(), no),
            Node::LocalVariableWriteNode { .. }
            | Node::LocalVariableAndWriteNode { .. }
            | Node::LocalVariableOrWriteNode { .. }
            | Node::LocalVariableOperatorWriteNode { .. }
            | Node::InstanceVariableWriteNode { .. }
            | Node::InstanceVariableAndWriteNode { .. }
            | Node::InstanceVariableOrWriteNode { .. }
            | Node::InstanceVariableOperatorWriteNode { .. }
            | Node::GlobalVariableWriteNode { .. }
            | Node::GlobalVariableAndWriteNode { .. }
            | Node::GlobalVariableOrWriteNode { .. }
            | Node::GlobalVariableOperatorWriteNode { .. }
            | Node::ClassVariableWriteNode { .. }
            | Node::ClassVariableAndWriteNode { .. }
            | Node::ClassVariableOrWriteNode { .. }
            | Node::ClassVariableOperatorWriteNode { .. }
            | Node::ConstantWriteNode { .. }
            | Node::ConstantAndWriteNode { .. }
            | Node::ConstantOrWriteNode { .. }
            | Node::ConstantOperatorWriteNode { .. }
            | Node::ConstantPathWriteNode { .. }
            | Node::ConstantPathAndWriteNode { .. }
            | Node::ConstantPathOrWriteNode { .. }
            | Node::ConstantPathOperatorWriteNode { .. }
            | Node::CallAndWriteNode { .. }
            | Node::CallOrWriteNode { .. }
            | Node::CallOperatorWriteNode { .. }
            | Node::IndexAndWriteNode { .. }
            | Node::IndexOrWriteNode { .. }
            | Node::IndexOperatorWriteNode { .. }
            | Node::MultiWriteNode { .. } => "assignment",
            _ => "expression",
        };
        self.pop_to(mark);
        what
    }

    fn defined_path(&mut self, n: &prism::ConstantPathNode<'pr>, no: Label) {
        let name = n.name().map_or(sym::empty, |n| self.intern(&n));
        let t = match n.parent() {
            None => self.get_const(sym::Object, true, Dest::Push),
            Some(parent) => {
                self.defined_test(&parent, no);
                let t = self.push();
                self.guarded(no, |c| {
                    c.expr(&parent, Dest::Reg(t));
                });
                t
            }
        };
        let s = self.f.asm.sym(name);
        self.f.asm.emit(Op::Intrinsic, Intrinsic::DefinedConstFrom as u8, t, s, 1);
        self.branch_register(t, false, no, false);
    }

    fn defined_arguments(&mut self, arguments: &prism::ArgumentsNode<'pr>, no: Label) {
        self.defined_all(&arguments.arguments(), no);
    }

    fn defined_all(&mut self, list: &prism::NodeList<'pr>, no: Label) {
        for n in list.iter() {
            self.defined_test(&n, no);
        }
    }

    /// Puts the value of a receiver into register `t`; each call of a chain runs once.
    fn defined_value(&mut self, n: &Node<'pr>, t: u16, no: Label) {
        if let Some(call) = n.as_call_node()
            && let Some(receiver) = call.receiver()
            && call.arguments().is_none()
            && call.block().is_none()
            && !call.is_safe_navigation()
            && !matches!(receiver, Node::SelfNode { .. })
        {
            let name = self.intern(&call.name());
            self.defined_value(&receiver, t, no);
            self.has_method(t, name, no);
            self.guarded(no, |c| {
                c.set_line(call.location().start());
                c.send_regs(t, name, &[], 0, Dest::Reg(t));
            });
            return;
        }
        self.defined_test(n, no);
        self.guarded(no, |c| {
            c.expr(n, Dest::Reg(t));
        });
    }

    /// Jumps to `no` unless the value in register `t` has a method.
    fn has_method(&mut self, t: u16, name: Sym, no: Label) {
        let mark = self.f.top;
        let asked = self.push();
        self.f.asm.mov(asked, t);
        let s = self.f.asm.sym(name);
        self.f.asm.emit(Op::Intrinsic, Intrinsic::DefinedMethod as u8, asked, s, 1);
        self.branch_register(asked, false, no, false);
        self.pop_to(mark);
    }

    fn defined_call(&mut self, n: &prism::CallNode<'pr>, no: Label) -> &'static str {
        if matches!(n.block(), Some(Node::BlockNode { .. })) {
            return "expression";
        }
        if let Some(arguments) = n.arguments() {
            self.defined_arguments(&arguments, no);
        }
        let name = self.intern(&n.name());
        let fcall = match n.receiver() {
            None => true,
            Some(receiver) => {
                let t = self.push();
                self.defined_value(&receiver, t, no);
                self.has_method(t, name, no);
                false
            }
        };
        if fcall {
            let t = self.sym_intrinsic(Intrinsic::DefinedFcall, name, Dest::Push);
            self.branch_register(t, false, no, false);
        }
        "method"
    }
}
