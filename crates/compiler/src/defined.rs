//! `defined?`: what an expression is, without running more of it than necessary.

use crate::analyze::intern;
use crate::emit::Label;
use crate::expr::cast;
use crate::scope::Kind;
use crate::unit::{Compiler, Dest};
use ruby_prism as prism;
use ruby_prism::Node;
use zakuro_base::sym;
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
                    Some(s) if s.body().len() == 1 => match s.body().first() {
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
                let name = self.ivar_name(intern(&cast!(n, as_instance_variable_read_node).name()));
                let t = self.sym_intrinsic(Intrinsic::DefinedIvar, name, Dest::Push);
                self.branch_register(t, false, no, false);
                "instance-variable"
            }
            Node::GlobalVariableReadNode { .. } => {
                let name = intern(&cast!(n, as_global_variable_read_node).name());
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
                let name = intern(&cast!(n, as_class_variable_read_node).name());
                let t = self.sym_intrinsic(Intrinsic::DefinedCvar, name, Dest::Push);
                self.branch_register(t, false, no, false);
                "class variable"
            }
            Node::ConstantReadNode { .. } => {
                let name = intern(&cast!(n, as_constant_read_node).name());
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
                for e in cast!(n, as_array_node).elements().iter() {
                    if !matches!(e, Node::SplatNode { .. } | Node::KeywordHashNode { .. }) {
                        self.defined_test(&e, no);
                    }
                }
                "expression"
            }
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
        let name = n.name().map_or(sym::empty, |n| intern(&n));
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
        for a in arguments.arguments().iter() {
            if !matches!(a, Node::SplatNode { .. } | Node::KeywordHashNode { .. } | Node::ForwardingArgumentsNode { .. }) {
                self.defined_test(&a, no);
            }
        }
    }

    fn defined_call(&mut self, n: &prism::CallNode<'pr>, no: Label) -> &'static str {
        if matches!(n.block(), Some(Node::BlockNode { .. })) {
            return "expression";
        }
        if let Some(arguments) = n.arguments() {
            self.defined_arguments(&arguments, no);
        }
        let name = intern(&n.name());
        let fcall = match n.receiver() {
            None => true,
            Some(receiver) => {
                self.defined_test(&receiver, no);
                let t = self.push();
                self.guarded(no, |c| {
                    c.expr(&receiver, Dest::Reg(t));
                });
                let s = self.f.asm.sym(name);
                self.f.asm.emit(Op::Intrinsic, Intrinsic::DefinedMethod as u8, t, s, 1);
                self.branch_register(t, false, no, false);
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
