//! Expressions: the dispatch over prism's nodes, variables, statement lists.

use crate::unit::{Compiler, Dest};
use ruby_prism as prism;
use ruby_prism::Node;
use zakuro_base::{Sym, sym};
use zakuro_bytecode::{Const, Intrinsic, Op};

/// The concrete node, known from the match arm around.
macro_rules! cast {
    ($node:expr, $as:ident) => {
        match $node.$as() {
            Some(n) => n,
            None => unreachable!("node kind was matched"),
        }
    };
}
pub(crate) use cast;

/// How the message of [`Compiler::misplaced`] begins.
const MISPLACED: &str = "misplaced ";

impl<'pr> Compiler<'pr> {
    /// Lowers an expression. Returns the register of its value (meaningless for Discard).
    pub(crate) fn expr(&mut self, n: &Node<'pr>, dest: Dest) -> u16 {
        match n {
            Node::CallNode { .. }
            | Node::ConstantReadNode { .. }
            | Node::ConstantPathNode { .. }
            | Node::CallOperatorWriteNode { .. }
            | Node::IndexOperatorWriteNode { .. }
            | Node::LocalVariableOperatorWriteNode { .. }
            | Node::InstanceVariableOperatorWriteNode { .. }
            | Node::ConstantPathOperatorWriteNode { .. } => self.with_span(n, |c| c.lower(n, dest)),
            _ => self.lower(n, dest),
        }
    }

    fn lower(&mut self, n: &Node<'pr>, dest: Dest) -> u16 {
        match n {
            Node::StatementsNode { .. } => self.statements(&cast!(n, as_statements_node), dest),
            Node::ParenthesesNode { .. } => self.body(cast!(n, as_parentheses_node).body().as_ref(), dest),
            Node::ImplicitNode { .. } => self.expr(&cast!(n, as_implicit_node).value(), dest),

            Node::NilNode { .. } => self.nil(dest),
            Node::TrueNode { .. } => self.simple(Op::LoadTrue, dest),
            Node::FalseNode { .. } => self.simple(Op::LoadFalse, dest),
            Node::SelfNode { .. } => self.self_value(dest),
            Node::IntegerNode { .. }
            | Node::FloatNode { .. }
            | Node::RationalNode { .. }
            | Node::ImaginaryNode { .. }
            | Node::SymbolNode { .. }
            | Node::SourceLineNode { .. } => self.constant_literal(n, dest),
            Node::StringNode { .. } => self.string(&cast!(n, as_string_node), dest),
            Node::SourceFileNode { .. } => self.source_file(&cast!(n, as_source_file_node), dest),
            Node::SourceEncodingNode { .. } => self.source_encoding(dest),
            Node::InterpolatedStringNode { .. } => self.interpolated_string(&cast!(n, as_interpolated_string_node), dest),
            Node::InterpolatedSymbolNode { .. } => self.interpolated_symbol(&cast!(n, as_interpolated_symbol_node), dest),
            Node::XStringNode { .. } => self.x_string(&cast!(n, as_x_string_node), dest),
            Node::InterpolatedXStringNode { .. } => self.interpolated_x_string(&cast!(n, as_interpolated_x_string_node), dest),
            Node::EmbeddedStatementsNode { .. } => match cast!(n, as_embedded_statements_node).statements() {
                Some(s) => match only(&s) {
                    Some(n) => {
                        self.set_line(n.location().start());
                        self.expr(&n, dest)
                    }
                    None => self.statements(&s, dest),
                },
                None => self.nil(dest),
            },
            Node::EmbeddedVariableNode { .. } => self.expr(&cast!(n, as_embedded_variable_node).variable(), dest),
            Node::RegularExpressionNode { .. } => self.regexp(&cast!(n, as_regular_expression_node), dest),
            Node::InterpolatedRegularExpressionNode { .. } => {
                self.interpolated_regexp(&cast!(n, as_interpolated_regular_expression_node), dest)
            }
            Node::MatchLastLineNode { .. } => self.match_last_line(&cast!(n, as_match_last_line_node), dest),
            Node::InterpolatedMatchLastLineNode { .. } => {
                self.interpolated_match_last_line(&cast!(n, as_interpolated_match_last_line_node), dest)
            }
            Node::ArrayNode { .. } => self.array(&cast!(n, as_array_node), dest),
            Node::HashNode { .. } => self.hash(&cast!(n, as_hash_node).elements(), n.location().start(), dest),
            Node::KeywordHashNode { .. } => self.hash(&cast!(n, as_keyword_hash_node).elements(), n.location().start(), dest),
            Node::RangeNode { .. } => self.range(&cast!(n, as_range_node), dest),
            Node::SplatNode { .. } => self.splat_value(&cast!(n, as_splat_node), dest),
            Node::LambdaNode { .. } => self.lambda(&cast!(n, as_lambda_node), dest),

            Node::LocalVariableReadNode { .. } => {
                let n = cast!(n, as_local_variable_read_node);
                let (scope, var) = self.local(&n.name(), n.depth());
                self.load_var(scope, var, dest)
            }
            Node::ItLocalVariableReadNode { .. } => self.hidden(crate::scope::it_var(), dest),
            Node::InstanceVariableReadNode { .. } => {
                let name = self.intern(&cast!(n, as_instance_variable_read_node).name());
                self.get_ivar(name, dest)
            }
            Node::GlobalVariableReadNode { .. } => {
                let name = self.intern(&cast!(n, as_global_variable_read_node).name());
                self.set_line(n.location().start());
                self.get_global(name, dest)
            }
            Node::ClassVariableReadNode { .. } => {
                let name = self.intern(&cast!(n, as_class_variable_read_node).name());
                self.set_line(n.location().start());
                self.sym_intrinsic(Intrinsic::GetCvar, name, dest)
            }
            Node::ConstantReadNode { .. } => {
                let name = self.intern(&cast!(n, as_constant_read_node).name());
                self.set_line(n.location().start());
                self.get_const(name, false, dest)
            }
            Node::ConstantPathNode { .. } => self.constant_path(&cast!(n, as_constant_path_node), dest),
            Node::NumberedReferenceReadNode { .. } => {
                let number = cast!(n, as_numbered_reference_read_node).number();
                self.intrinsic(Intrinsic::BackrefNth, u16::try_from(number).unwrap_or(u16::MAX), dest)
            }
            Node::BackReferenceReadNode { .. } => {
                let which = match cast!(n, as_back_reference_read_node).name().as_slice() {
                    b"$&" => 0,
                    b"$`" => 1,
                    b"$'" => 2,
                    _ => 3,
                };
                self.intrinsic(Intrinsic::BackrefSpecial, which, dest)
            }

            Node::AndNode { .. } => {
                let n = cast!(n, as_and_node);
                self.and_or(&n.left(), &n.right(), false, dest)
            }
            Node::OrNode { .. } => {
                let n = cast!(n, as_or_node);
                self.and_or(&n.left(), &n.right(), true, dest)
            }
            Node::IfNode { .. } | Node::UnlessNode { .. } => self.conditional(n, dest),
            Node::ElseNode { .. } => match cast!(n, as_else_node).statements() {
                Some(s) => self.statements(&s, dest),
                None => self.nil(dest),
            },
            Node::WhileNode { .. } => {
                let n = cast!(n, as_while_node);
                self.while_loop(crate::branches::range(&n.location()), &n.predicate(), n.statements(), true, n.is_begin_modifier(), dest)
            }
            Node::UntilNode { .. } => {
                let n = cast!(n, as_until_node);
                self.while_loop(crate::branches::range(&n.location()), &n.predicate(), n.statements(), false, n.is_begin_modifier(), dest)
            }
            Node::ForNode { .. } => self.for_loop(&cast!(n, as_for_node), dest),
            Node::CaseNode { .. } => self.case(&cast!(n, as_case_node), dest),
            Node::CaseMatchNode { .. } => self.case_match(&cast!(n, as_case_match_node), dest),
            Node::MatchPredicateNode { .. } => self.match_predicate(&cast!(n, as_match_predicate_node), dest),
            Node::MatchRequiredNode { .. } => self.match_required(&cast!(n, as_match_required_node), dest),
            Node::MatchWriteNode { .. } => self.match_write(&cast!(n, as_match_write_node), dest),
            Node::FlipFlopNode { .. } => self.flip_flop(&cast!(n, as_flip_flop_node), dest),
            Node::BeginNode { .. } => self.begin(&cast!(n, as_begin_node), dest),
            Node::RescueModifierNode { .. } => self.rescue_modifier(&cast!(n, as_rescue_modifier_node), dest),
            Node::BreakNode { .. } => self.break_(&cast!(n, as_break_node), dest),
            Node::NextNode { .. } => self.next(&cast!(n, as_next_node), dest),
            Node::RedoNode { .. } => self.redo(n, dest),
            Node::RetryNode { .. } => self.retry(n, dest),
            Node::ReturnNode { .. } => self.return_(&cast!(n, as_return_node), dest),

            Node::CallNode { .. } => self.call(&cast!(n, as_call_node), dest),
            Node::SuperNode { .. } => self.super_(&cast!(n, as_super_node), dest),
            Node::ForwardingSuperNode { .. } => self.zsuper(&cast!(n, as_forwarding_super_node), dest),
            Node::YieldNode { .. } => self.yield_(&cast!(n, as_yield_node), dest),
            Node::DefinedNode { .. } => self.defined(&cast!(n, as_defined_node).value(), dest),

            Node::DefNode { .. } => self.def(&cast!(n, as_def_node), dest),
            Node::ClassNode { .. } => self.class(&cast!(n, as_class_node), dest),
            Node::ModuleNode { .. } => self.module(&cast!(n, as_module_node), dest),
            Node::SingletonClassNode { .. } => self.singleton_class(&cast!(n, as_singleton_class_node), dest),
            Node::AliasMethodNode { .. } => self.alias(&cast!(n, as_alias_method_node), dest),
            Node::AliasGlobalVariableNode { .. } => self.alias_global(&cast!(n, as_alias_global_variable_node), dest),
            Node::UndefNode { .. } => self.undef(&cast!(n, as_undef_node), dest),
            // Hoisted to the start of the program.
            Node::PreExecutionNode { .. } => self.nil(dest),
            Node::PostExecutionNode { .. } => self.post_execution(&cast!(n, as_post_execution_node), dest),
            Node::ShareableConstantNode { .. } => self.shareable_constant(&cast!(n, as_shareable_constant_node), dest),

            Node::LocalVariableWriteNode { .. } => self.local_write(&cast!(n, as_local_variable_write_node), dest),
            Node::MultiWriteNode { .. } => self.multi_write(&cast!(n, as_multi_write_node), dest),
            _ => match self.assignment(n, dest) {
                Some(r) => r,
                None => self.misplaced(n, dest),
            },
        }
    }

    /// A SyntaxError that the parser does not see.
    pub(crate) fn refuse(&mut self, at: u32, why: &str, dest: Dest) -> u16 {
        let line = self.line_of(at);
        self.refused.get_or_insert_with(|| (line, why.to_string()));
        self.nil(dest)
    }

    /// A node that the parser makes only beside errors, or that is lowered by what it is a part of.
    pub(crate) fn misplaced(&mut self, n: &Node<'pr>, dest: Dest) -> u16 {
        let text = format!("{n:?}");
        let kind = text.split([' ', '(', '{']).next().unwrap_or("node");
        self.refuse(n.location().start(), &format!("{MISPLACED}{kind}"), dest)
    }

    /// The value of an operand that an instruction reads in place: a local's own register, unless the source range `later` (what
    /// is evaluated between now and the instruction) assigns it.
    pub(crate) fn operand(&mut self, n: &Node<'pr>, later: Option<(u32, u32)>) -> u16 {
        let r = self.expr(n, Dest::Any);
        if let Some(range) = later
            && let Some(var) = self.scopes.var_in_register(self.f.scope, r)
            && self.scopes.written_in(self.f.scope, var, range)
        {
            let t = self.push();
            self.f.asm.mov(t, r);
            return t;
        }
        r
    }

    /// Sets the line of a statement, where a trace sees it: on the line of what it evaluates first.
    pub(crate) fn begin_statement(&mut self, n: &Node<'pr>) {
        self.set_line(n.location().start());
        let predicate = match n {
            Node::IfNode { .. } => Some(cast!(n, as_if_node).predicate()),
            Node::UnlessNode { .. } => Some(cast!(n, as_unless_node).predicate()),
            _ => None,
        };
        if predicate.is_some_and(|p| known_truth(&p).is_some()) {
            // What its arm evaluates first stands for it, or the next statement.
            self.f.asm.no_statement();
        } else if !matches!(n, Node::PreExecutionNode { .. }) {
            let first = evaluated_first(n);
            let line = self.line_of(first);
            self.f.asm.statement(self.f.asm.line, line, first);
        }
    }

    /// A statement whose value nobody takes. Of one that takes no instruction nothing is seen.
    pub(crate) fn passed(&mut self, n: &Node<'pr>) {
        let (seen, at, first) = (self.f.asm.statements.len(), self.f.asm.ip(), self.f.asm.statement_first);
        self.begin_statement(n);
        self.expr(n, Dest::Discard);
        if self.f.asm.ip() == at {
            self.f.asm.forget_statements(seen);
            self.f.asm.statement_first = first;
        }
    }

    pub(crate) fn statements(&mut self, s: &prism::StatementsNode<'pr>, dest: Dest) -> u16 {
        let body = s.body();
        let count = body.len();
        if count == 0 {
            return self.nil(dest);
        }
        let mut result = 0;
        for (i, n) in body.iter().enumerate() {
            if i + 1 < count || dest == Dest::Discard {
                self.passed(&n);
            } else {
                self.begin_statement(&n);
                result = self.expr(&n, dest);
            }
        }
        result
    }

    /// An optional body; nothing is nil.
    pub(crate) fn body(&mut self, n: Option<&Node<'pr>>, dest: Dest) -> u16 {
        match n {
            Some(n) => self.expr(n, dest),
            None => self.nil(dest),
        }
    }

    pub(crate) fn statements_opt(&mut self, s: Option<&prism::StatementsNode<'pr>>, dest: Dest) -> u16 {
        match s {
            Some(s) => self.statements(s, dest),
            None => self.nil(dest),
        }
    }

    /// The last expression of a Code: returns its value. Branches return on their own.
    pub(crate) fn tail(&mut self, n: &Node<'pr>) {
        match n {
            Node::StatementsNode { .. } => {
                let body = cast!(n, as_statements_node).body();
                let count = body.len();
                for (i, n) in body.iter().enumerate() {
                    if i + 1 == count {
                        self.begin_statement(&n);
                        return self.tail(&n);
                    }
                    self.passed(&n);
                }
                self.tail_opt(None);
            }
            Node::ParenthesesNode { .. } => self.tail_opt(cast!(n, as_parentheses_node).body().as_ref()),
            Node::IfNode { .. } if self.branches.is_none() => {
                self.begin_statement(n);
                let n = cast!(n, as_if_node);
                let known = known_truth(&n.predicate());
                let mut held = self.hold_if(known.is_some());
                let otherwise = self.f.asm.label();
                self.branch(&n.predicate(), false, otherwise, false);
                self.perhaps_dead(known == Some(false), &mut held, |c| c.tail_statements(n.statements()));
                self.f.asm.bind(otherwise);
                self.perhaps_dead(known == Some(true), &mut held, |c| c.tail_opt(n.subsequent().as_ref()));
            }
            Node::UnlessNode { .. } if self.branches.is_none() => {
                self.begin_statement(n);
                let n = cast!(n, as_unless_node);
                let known = known_truth(&n.predicate());
                let mut held = self.hold_if(known.is_some());
                let otherwise = self.f.asm.label();
                self.branch(&n.predicate(), true, otherwise, false);
                self.perhaps_dead(known == Some(true), &mut held, |c| c.tail_statements(n.statements()));
                self.f.asm.bind(otherwise);
                self.perhaps_dead(known == Some(false), &mut held, |c| c.tail_statements(n.else_clause().and_then(|e| e.statements())));
            }
            Node::ElseNode { .. } => self.tail_statements(cast!(n, as_else_node).statements()),
            _ => {
                let mark = self.f.top;
                let r = self.expr(n, Dest::Any);
                if self.f.asm.reachable() {
                    self.f.asm.emit(Op::Return, 0, r, 0, 0);
                }
                self.pop_to(mark);
            }
        }
    }

    pub(crate) fn tail_statements(&mut self, s: Option<prism::StatementsNode<'pr>>) {
        self.tail_opt(s.map(|s| s.as_node()).as_ref());
    }

    pub(crate) fn tail_opt(&mut self, n: Option<&Node<'pr>>) {
        match n {
            Some(n) => self.tail(n),
            None => {
                let t = self.push();
                self.f.asm.emit(Op::LoadNil, 0, t, 0, 0);
                self.f.asm.emit(Op::Return, 0, t, 0, 0);
                self.pop_to(t);
            }
        }
    }

    // ---- small values ----

    pub(crate) fn simple(&mut self, op: Op, dest: Dest) -> u16 {
        if dest == Dest::Discard {
            return 0;
        }
        let d = self.out(dest);
        self.f.asm.emit(op, 0, d, 0, 0);
        d
    }

    pub(crate) fn nil(&mut self, dest: Dest) -> u16 {
        self.simple(Op::LoadNil, dest)
    }

    fn self_value(&mut self, dest: Dest) -> u16 {
        match dest {
            Dest::Any | Dest::Discard => 0,
            _ => {
                let d = self.out(dest);
                self.f.asm.mov(d, 0);
                d
            }
        }
    }

    pub(crate) fn load_int(&mut self, value: i64, dest: Dest) -> u16 {
        if dest == Dest::Discard {
            return 0;
        }
        match i32::try_from(value) {
            Ok(i) => {
                let d = self.out(dest);
                self.f.asm.emit_imm(Op::LoadInt, d, i);
                d
            }
            Err(_) => self.load_const(Const::Int(value), dest),
        }
    }

    pub(crate) fn load_const(&mut self, c: Const, dest: Dest) -> u16 {
        if dest == Dest::Discard {
            return 0;
        }
        let d = self.out(dest);
        let k = self.f.asm.konst(c);
        self.f.asm.emit(Op::LoadConst, 0, d, k, 0);
        d
    }

    pub(crate) fn load_sym(&mut self, s: Sym, dest: Dest) -> u16 {
        self.load_const(Const::Sym(s), dest)
    }

    /// A frozen string of the compiler's own.
    pub(crate) fn load_str(&mut self, text: &[u8], to: u16) {
        self.load_const(Const::Str { bytes: text.into(), encoding: 1 }, Dest::Reg(to));
    }

    /// An intrinsic without arguments.
    pub(crate) fn intrinsic(&mut self, id: Intrinsic, extra: u16, dest: Dest) -> u16 {
        let mark = self.f.top;
        let t = match dest {
            Dest::Reg(r) => r,
            _ => self.push(),
        };
        self.f.asm.emit(Op::Intrinsic, id as u8, t, extra, 0);
        match dest {
            Dest::Discard => {
                self.pop_to(mark);
                0
            }
            _ => t,
        }
    }

    pub(crate) fn sym_intrinsic(&mut self, id: Intrinsic, name: Sym, dest: Dest) -> u16 {
        let s = self.f.asm.sym(name);
        self.intrinsic(id, s, dest)
    }

    // ---- variables ----

    pub(crate) fn local(&mut self, name: &prism::ConstantId<'pr>, depth: u32) -> (usize, usize) {
        let scope = self.scopes.up(self.f.scope, depth);
        let name = self.intern(name);
        match self.scopes.list[scope].var(name) {
            Some(v) => (scope, v),
            // The analysis declares every name it meets.
            None => self.scopes.find(self.f.scope, name).unwrap_or((scope, 0)),
        }
    }

    /// A variable found by name in the scopes around; nil when there is none.
    pub(crate) fn hidden(&mut self, name: Sym, dest: Dest) -> u16 {
        match self.scopes.find(self.f.scope, name) {
            Some((scope, var)) => self.load_var(scope, var, dest),
            None => self.nil(dest),
        }
    }

    /// The name under which a variable is kept: without `@` it is no name that Ruby can write.
    pub(crate) fn ivar_name(&self, name: Sym) -> Sym {
        if self.hidden_ivars && name.bytes().starts_with(b"@__") { Sym::intern_bytes(&name.bytes()[1..]) } else { name }
    }

    pub(crate) fn get_ivar(&mut self, name: Sym, dest: Dest) -> u16 {
        if dest == Dest::Discard {
            return 0;
        }
        let site = self.f.asm.ivar(self.ivar_name(name));
        let d = self.out(dest);
        self.f.asm.emit(Op::GetIvar, 0, d, 0, site);
        d
    }

    pub(crate) fn get_global(&mut self, name: Sym, dest: Dest) -> u16 {
        if name == sym::errinfo {
            return self.simple(Op::GetErr, dest);
        }
        if name == sym::lastmatch {
            return self.intrinsic(Intrinsic::BackrefMatch, 0, dest);
        }
        let s = self.f.asm.sym(name);
        let d = self.out(dest);
        self.f.asm.emit(Op::GetGlobal, 0, d, s, 0);
        d
    }

    pub(crate) fn get_const(&mut self, name: Sym, top: bool, dest: Dest) -> u16 {
        let site = self.f.asm.const_site(name, top);
        let d = self.out(dest);
        self.f.asm.emit(Op::GetConst, 0, d, 0, site);
        d
    }

    pub(crate) fn constant_path(&mut self, n: &prism::ConstantPathNode<'pr>, dest: Dest) -> u16 {
        let Some(name) = n.name().map(|n| self.intern(&n)) else { return self.misplaced(&n.as_node(), dest) };
        match n.parent() {
            None => {
                self.set_line(n.location().start());
                self.get_const(name, true, dest)
            }
            Some(parent) => {
                let mark = self.f.top;
                let from = self.expr(&parent, Dest::Any);
                self.pop_to(mark);
                self.set_line(n.location().start());
                self.get_const_from(from, name, dest)
            }
        }
    }

    pub(crate) fn get_const_from(&mut self, from: u16, name: Sym, dest: Dest) -> u16 {
        let site = self.f.asm.const_site(name, false);
        let d = self.out(dest);
        self.f.asm.emit(Op::GetConstFrom, 0, d, from, site);
        d
    }
}

/// Where what a statement evaluates first begins: its line is what a trace tells of.
fn evaluated_first(n: &Node<'_>) -> u32 {
    let mut at = n.location().start();
    let mut within = first_within(n);
    // No recursion: chains of calls are as long as somebody writes them.
    while let Some(inner) = within {
        at = inner.location().start();
        within = first_within(&inner);
    }
    at
}

/// The statement of a list of one.
pub(crate) fn only<'pr>(s: &prism::StatementsNode<'pr>) -> Option<Node<'pr>> {
    let body = s.body();
    if body.len() == 1 { body.first() } else { None }
}

/// The first statement of which something is made: literals and variables whose value nobody takes are dropped.
fn first_kept<'pr>(s: &prism::StatementsNode<'pr>) -> Option<Node<'pr>> {
    let dropped = |n: &Node<'pr>| {
        is_plain_constant(n) || matches!(n, Node::LocalVariableReadNode { .. } | Node::SelfNode { .. } | Node::StringNode { .. })
    };
    let body = s.body();
    body.iter().find(|n| !dropped(n)).or_else(|| body.last())
}

/// Whether a Hash begins with a pair that is always the same: CRuby has made something of it before the first element that is evaluated.
fn begins_at_once(n: &Node<'_>) -> bool {
    let first = n.as_hash_node().and_then(|h| h.elements().first()?.as_assoc_node());
    first.is_some_and(|a| is_plain_constant(&a.key()) && is_plain_constant(&a.value()))
}

fn first_part(parts: prism::NodeList<'_>) -> Option<Node<'_>> {
    parts.first().filter(|p| matches!(p, Node::EmbeddedStatementsNode { .. } | Node::InterpolatedStringNode { .. }))
}

fn first_argument(arguments: Option<prism::ArgumentsNode<'_>>) -> Option<Node<'_>> {
    arguments.and_then(|a| a.arguments().first())
}

/// What a condition that is a literal says: the arm that it rules out is dropped.
fn known_truth(predicate: &Node<'_>) -> Option<bool> {
    crate::branches::is_known(predicate).then_some(!matches!(predicate, Node::FalseNode { .. } | Node::NilNode { .. }))
}

/// The part of a node that is evaluated before anything else of it.
fn first_within<'pr>(n: &Node<'pr>) -> Option<Node<'pr>> {
    match n {
        Node::LocalVariableWriteNode { .. } => Some(cast!(n, as_local_variable_write_node).value()),
        Node::InstanceVariableWriteNode { .. } => Some(cast!(n, as_instance_variable_write_node).value()),
        Node::ClassVariableWriteNode { .. } => Some(cast!(n, as_class_variable_write_node).value()),
        Node::GlobalVariableWriteNode { .. } => Some(cast!(n, as_global_variable_write_node).value()),
        Node::ConstantWriteNode { .. } => Some(cast!(n, as_constant_write_node).value()),
        Node::CallNode { .. } => cast!(n, as_call_node).receiver(),
        Node::AndNode { .. } => Some(cast!(n, as_and_node).left()),
        Node::OrNode { .. } => Some(cast!(n, as_or_node).left()),
        Node::IfNode { .. } => {
            let n = cast!(n, as_if_node);
            let kept = match known_truth(&n.predicate()) {
                None => return Some(n.predicate()),
                Some(true) => n.statements().map(|s| s.as_node()),
                Some(false) => n.subsequent(),
            };
            Some(kept.unwrap_or_else(|| n.predicate()))
        }
        Node::UnlessNode { .. } => {
            let n = cast!(n, as_unless_node);
            let kept = match known_truth(&n.predicate()) {
                None => return Some(n.predicate()),
                Some(false) => n.statements().map(|s| s.as_node()),
                Some(true) => n.else_clause().map(|e| e.as_node()),
            };
            Some(kept.unwrap_or_else(|| n.predicate()))
        }
        Node::ElseNode { .. } => cast!(n, as_else_node).statements().map(|s| s.as_node()),
        Node::CaseNode { .. } => {
            let n = cast!(n, as_case_node);
            n.predicate().or_else(|| n.conditions().first()?.as_when_node()?.conditions().first())
        }
        Node::CaseMatchNode { .. } => cast!(n, as_case_match_node).predicate(),
        Node::ReturnNode { .. } => first_argument(cast!(n, as_return_node).arguments()),
        Node::BreakNode { .. } => first_argument(cast!(n, as_break_node).arguments()),
        Node::NextNode { .. } => first_argument(cast!(n, as_next_node).arguments()),
        Node::YieldNode { .. } => first_argument(cast!(n, as_yield_node).arguments()),
        // One of literals only is made at once.
        Node::ArrayNode { .. } if !is_constant(n) => cast!(n, as_array_node).elements().first(),
        Node::HashNode { .. } if !is_constant(n) => cast!(n, as_hash_node).elements().first().filter(|_| !begins_at_once(n)),
        Node::KeywordHashNode { .. } => cast!(n, as_keyword_hash_node).elements().first(),
        Node::AssocNode { .. } => Some(cast!(n, as_assoc_node).key()),
        Node::RangeNode { .. } if !is_constant(n) => cast!(n, as_range_node).left(),
        Node::MultiWriteNode { .. } => {
            let n = cast!(n, as_multi_write_node);
            let plain = |t: Node<'pr>| {
                !matches!(t, Node::CallTargetNode { .. } | Node::IndexTargetNode { .. } | Node::ConstantPathTargetNode { .. })
            };
            n.lefts().iter().chain(n.rights().iter()).all(plain).then(|| n.value())
        }
        Node::SplatNode { .. } => cast!(n, as_splat_node).expression(),
        // Text in front of it would be loaded where the literal begins.
        Node::InterpolatedStringNode { .. } => first_part(cast!(n, as_interpolated_string_node).parts()),
        Node::InterpolatedSymbolNode { .. } => first_part(cast!(n, as_interpolated_symbol_node).parts()),
        Node::InterpolatedRegularExpressionNode { .. } => first_part(cast!(n, as_interpolated_regular_expression_node).parts()),
        Node::EmbeddedStatementsNode { .. } => cast!(n, as_embedded_statements_node).statements().map(|s| s.as_node()),
        Node::ParenthesesNode { .. } => cast!(n, as_parentheses_node).body(),
        Node::StatementsNode { .. } => first_kept(&cast!(n, as_statements_node)),
        Node::BeginNode { .. } => cast!(n, as_begin_node).statements().and_then(|s| first_kept(&s)),
        _ => None,
    }
}

/// Whether a node is a literal that is always the same, or an Array, Hash or Range of such.
fn is_constant(n: &Node<'_>) -> bool {
    match n {
        Node::ArrayNode { .. } => cast!(n, as_array_node).elements().iter().all(|e| is_plain_constant(&e)),
        Node::HashNode { .. } => cast!(n, as_hash_node)
            .elements()
            .iter()
            .all(|e| e.as_assoc_node().is_some_and(|a| is_plain_constant(&a.key()) && is_plain_constant(&a.value()))),
        Node::RangeNode { .. } => {
            let n = cast!(n, as_range_node);
            [n.left(), n.right()].iter().flatten().all(|e| matches!(e, Node::IntegerNode { .. } | Node::NilNode { .. }))
        }
        Node::IntegerNode { .. }
        | Node::FloatNode { .. }
        | Node::RationalNode { .. }
        | Node::ImaginaryNode { .. }
        | Node::SymbolNode { .. } => true,
        Node::NilNode { .. } | Node::TrueNode { .. } | Node::FalseNode { .. } => true,
        _ => false,
    }
}

/// One that may stand in an Array or Hash that is made at once.
fn is_plain_constant(n: &Node<'_>) -> bool {
    is_constant(n) && !matches!(n, Node::ArrayNode { .. } | Node::HashNode { .. } | Node::RangeNode { .. })
}
