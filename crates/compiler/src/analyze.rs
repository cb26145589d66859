//! The walk that fills [`Scopes`].

use crate::EvalScopes;
use crate::params::{self, Shape};
use crate::scope::{Kind, MAX_DEPTH, Scope, Scopes, flip_flop_var, it_var};
use ruby_prism as prism;
use ruby_prism::{Node, Visit};
use std::collections::HashMap;
use zakuro_base::{Sym, sym};

/// Most variables of one scope.
const MAX_VARS: usize = 30_000;
/// Variables of one scope that are kept for a debugger.
const MOST_KEPT: usize = 1_000;

/// Blocks inside each other: an instruction names at most 255 environments.
const MAX_ENVIRONMENTS: u32 = 250;

/// Analyzes a whole program.
pub(crate) fn analyze<'pr>(program: &prism::ProgramNode<'pr>, eval: Option<&EvalScopes>, keep_locals: bool, encoding: u8) -> Scopes {
    let mut scopes = Scopes::default();
    let mut parent = None;
    if let Some(eval) = eval {
        if eval.envs.len() > MAX_ENVIRONMENTS as usize {
            scopes.too_deep = Some(0);
        }
        for (i, env) in eval.envs.iter().enumerate().rev() {
            let mut s = Scope::new(Kind::Outer, parent);
            s.in_method = eval.in_method && i + 1 == eval.envs.len();
            for (name, slot) in env {
                let v = s.declare(*name);
                s.vars[v].captured = true;
                s.vars[v].slot = *slot;
            }
            if let (true, Some(p)) = (i + 1 == eval.envs.len(), &eval.params) {
                let at = |slot: u16| s.vars.iter().position(|v| v.slot == slot);
                s.params = (0..p.registers()).filter_map(at).collect();
            }
            scopes.list.push(s);
            parent = Some(scopes.list.len() - 1);
        }
        (scopes.eval_backref, scopes.eval_lastline) = (eval.backref, eval.lastline);
    }
    let kind = if eval.is_some() { Kind::Eval } else { Kind::Program };
    scopes.root = scopes.list.len();
    let mut root = Scope::new(kind, parent);
    root.needs_parent_env = parent.is_some();
    root.in_method = parent.is_none() && eval.is_some_and(|e| e.in_method);
    scopes.list.push(root);
    let mut a = Analyzer {
        cur: scopes.root,
        around_class: scopes.root,
        scopes,
        depth: 0,
        loops: 0,
        heredocs: 0,
        aliases: HashMap::new(),
        keep_locals,
        encoding,
    };
    a.declare_locals(&program.locals());
    a.keep();
    a.visit_statements_node(&program.statements());
    let mut scopes = a.scopes;
    scopes.finish();
    scopes
}

struct Analyzer {
    scopes: Scopes,
    cur: usize,
    depth: u32,
    /// The innermost scope around that is no class body.
    around_class: usize,
    /// `while`/`until` around, within the current scope.
    loops: u32,
    /// Heredocs around: their bodies lie outside the source range of the expression they belong to.
    heredocs: u32,
    /// Other names of frame-local globals that the source has given so far, and whether it is `$_`.
    aliases: HashMap<Vec<u8>, bool>,
    /// Each scope is as if it mentioned `binding`.
    keep_locals: bool,
    /// The source's.
    encoding: u8,
}

impl Analyzer {
    fn declare_locals(&mut self, names: &prism::ConstantList<'_>) {
        if names.iter().count() > MAX_VARS {
            self.scopes.too_deep.get_or_insert(0);
            return;
        }
        for name in names.iter() {
            self.scopes.list[self.cur].declare(intern(&name, self.encoding));
        }
        if self.scopes.list[self.cur].vars.len() > MAX_VARS {
            self.scopes.too_deep.get_or_insert(0);
        }
    }

    /// Where there are more variables than an environment has room for they stay in registers, which a binding copies.
    fn keep(&mut self) {
        let scope = &self.scopes.list[self.cur];
        if self.keep_locals && scope.kind != Kind::For && scope.vars.len() < MOST_KEPT {
            self.see_binding();
        }
    }

    fn enter(&mut self, kind: Kind, offset: u32, body: impl FnOnce(&mut Self)) {
        let parent = matches!(kind, Kind::Block | Kind::Lambda | Kind::For).then_some(self.cur);
        let mut s = parent;
        let mut environments = 0;
        while let Some(p) = s {
            environments += 1;
            if environments > MAX_ENVIRONMENTS {
                self.scopes.too_deep.get_or_insert(offset);
            }
            self.scopes.list[p].has_blocks = true;
            s = self.scopes.list[p].parent;
        }
        let id = self.scopes.list.len();
        crate::job::took(size_of::<Scope>() + 64);
        self.scopes.list.push(Scope::new(kind, parent));
        self.scopes.by_offset.insert(offset, id);
        let saved = (self.cur, self.loops, self.heredocs);
        if self.scopes.list[id].kind == Kind::Class {
            self.scopes.list[id].around = Some(self.cur);
        }
        let around_class = self.around_class;
        if self.scopes.list[self.cur].kind != Kind::Class {
            self.around_class = self.cur;
        }
        (self.cur, self.loops, self.heredocs) = (id, 0, 0);
        body(self);
        self.keep();
        (self.cur, self.loops, self.heredocs) = saved;
        self.around_class = around_class;
    }

    fn declare_params(&mut self, shape: &Shape) {
        let scope = &mut self.scopes.list[self.cur];
        scope.params = shape
            .registers
            .iter()
            .map(|r| match r {
                Some(name) => scope.declare(*name),
                None => scope.declare_hidden(Sym::intern("~param")),
            })
            .collect();
    }

    fn access(&mut self, name: &prism::ConstantId<'_>, depth: u32) -> (usize, usize) {
        let scope = self.scopes.up(self.cur, depth);
        let var = self.scopes.list[scope].declare(intern(name, self.encoding));
        self.scopes.capture(self.cur, scope, var);
        (scope, var)
    }

    fn write(&mut self, name: &prism::ConstantId<'_>, depth: u32, offset: u32) {
        let (scope, var) = self.access(name, depth);
        let v = &mut self.scopes.list[scope].vars[var];
        v.writes.push(offset);
        v.written_anywhere |= self.heredocs > 0;
    }

    /// Use of a variable that lowering finds by name in the scopes around.
    fn access_hidden(&mut self, name: Sym) {
        if let Some((scope, var)) = self.scopes.find(self.cur, name) {
            self.scopes.capture(self.cur, scope, var);
        }
    }

    /// The current scope is a block whose chain ends in a method.
    fn in_block_of_method(&self) -> Option<usize> {
        let root = self.scopes.root_of(self.cur);
        (root != self.cur && self.scopes.list[root].kind == Kind::Method).then_some(root)
    }

    fn use_block(&mut self) {
        if let Some(root) = self.in_block_of_method() {
            let var = self.scopes.list[root].declare(sym::block_var);
            self.scopes.capture(self.cur, root, var);
        } else {
            self.access_hidden(sym::block_var);
        }
    }

    /// The method does more with its block than ask whether there is one.
    fn pass_block(&mut self) {
        let root = self.scopes.root_of(self.cur);
        self.scopes.list[root].uses_block = true;
        self.use_block();
    }

    /// A `super` passes the method's block on, unless it has one of its own.
    fn pass_unless(&mut self, given: bool) {
        if given { self.use_block() } else { self.pass_block() }
    }

    fn mention_match(&mut self) {
        let root = self.scopes.root_of(self.cur);
        self.scopes.list[root].mentions_match = true;
    }

    fn mention_line(&mut self) {
        let root = self.scopes.root_of(self.cur);
        self.scopes.list[root].mentions_line = true;
    }

    fn see_binding(&mut self) {
        self.mention_match();
        self.mention_line();
        let root = self.scopes.root_of(self.cur);
        if self.scopes.list[root].kind == Kind::Method {
            self.scopes.list[root].declare(sym::block_var);
        }
        let mut s = self.cur;
        loop {
            self.scopes.list[s].sees_binding = true;
            let Some(p) = self.scopes.list[s].parent else { break };
            self.scopes.list[s].needs_parent_env = true;
            s = p;
        }
    }

    fn too_deep(&mut self, offset: u32) -> bool {
        if self.depth > MAX_DEPTH {
            self.scopes.too_deep.get_or_insert(offset);
        }
        self.scopes.too_deep.is_some()
    }

    fn in_loop(&mut self, body: impl FnOnce(&mut Self)) {
        self.loops += 1;
        body(self);
        self.loops -= 1;
    }

    fn opens_heredoc(&mut self, opening: Option<prism::Location<'_>>, body: impl FnOnce(&mut Self)) {
        let heredoc = opening.is_some_and(|l| l.as_slice().starts_with(b"<<"));
        self.heredocs += heredoc as u32;
        body(self);
        self.heredocs -= heredoc as u32;
    }

    fn block_params(&mut self, node: Option<Node<'_>>) {
        let shape = params::block_shape(node.as_ref(), self.encoding);
        self.declare_params(&shape);
    }
}

/// A name of the source, which is in this encoding.
pub(crate) fn intern(name: &prism::ConstantId<'_>, encoding: u8) -> Sym {
    Sym::intern_in(name.as_slice(), encoding)
}

/// Stops the walk where the tree is nested too deeply.
macro_rules! guarded {
    ($($visit:ident $node:ident),* $(,)?) => {
        $(fn $visit(&mut self, node: &prism::$node<'pr>) {
            if !self.too_deep(node.location().start()) {
                prism::$visit(self, node);
            }
        })*
    };
}

/// Records an assignment and goes on with the value.
macro_rules! writes {
    ($($visit:ident $node:ident),* $(,)?) => {
        $(fn $visit(&mut self, node: &prism::$node<'pr>) {
            self.write(&node.name(), node.depth(), node.location().start());
            prism::$visit(self, node);
        })*
    };
}

impl<'pr> Visit<'pr> for Analyzer {
    fn visit_branch_node_enter(&mut self, _node: Node<'pr>) {
        self.depth += 1;
        crate::job::stands_at(self.depth);
    }
    fn visit_branch_node_leave(&mut self) {
        self.depth -= 1;
    }

    guarded! {
        visit_statements_node StatementsNode, visit_and_node AndNode, visit_or_node OrNode, visit_if_node IfNode,
        visit_unless_node UnlessNode, visit_rescue_modifier_node RescueModifierNode, visit_rescue_node RescueNode,
        visit_constant_path_node ConstantPathNode, visit_alternation_pattern_node AlternationPatternNode,
        visit_capture_pattern_node CapturePatternNode, visit_array_node ArrayNode, visit_hash_node HashNode,
        visit_arguments_node ArgumentsNode, visit_match_predicate_node MatchPredicateNode,
        visit_match_required_node MatchRequiredNode, visit_array_pattern_node ArrayPatternNode,
        visit_hash_pattern_node HashPatternNode, visit_range_node RangeNode, visit_multi_target_node MultiTargetNode,
        visit_defined_node DefinedNode, visit_begin_node BeginNode,
    }

    writes! {
        visit_local_variable_write_node LocalVariableWriteNode, visit_local_variable_target_node LocalVariableTargetNode,
        visit_local_variable_and_write_node LocalVariableAndWriteNode,
        visit_local_variable_or_write_node LocalVariableOrWriteNode,
        visit_local_variable_operator_write_node LocalVariableOperatorWriteNode,
    }

    fn visit_local_variable_read_node(&mut self, node: &prism::LocalVariableReadNode<'pr>) {
        self.access(&node.name(), node.depth());
    }

    fn visit_it_local_variable_read_node(&mut self, _node: &prism::ItLocalVariableReadNode<'pr>) {
        self.access_hidden(it_var());
    }

    // ---- scopes ----

    fn visit_def_node(&mut self, node: &prism::DefNode<'pr>) {
        if let Some(r) = node.receiver() {
            self.visit(&r);
        }
        self.enter(Kind::Method, node.location().start(), |a| {
            let shape = params::method_shape(node.parameters().as_ref(), a.encoding);
            a.declare_params(&shape);
            let scope = &mut a.scopes.list[a.cur];
            // One that a parameter before it is named like is not found by its name.
            let is_named = shape.params.block && shape.registers.last().is_some_and(|r| r.is_some());
            scope.block_param = scope.params.last().copied().filter(|_| is_named);
            a.declare_locals(&node.locals());
            if let Some(p) = node.parameters() {
                a.visit_parameters_node(&p);
            }
            if let Some(b) = node.body() {
                a.visit(&b);
            }
        });
    }

    fn visit_class_node(&mut self, node: &prism::ClassNode<'pr>) {
        self.visit(&node.constant_path());
        if let Some(s) = node.superclass() {
            self.visit(&s);
        }
        self.enter(Kind::Class, node.location().start(), |a| {
            a.declare_locals(&node.locals());
            if let Some(b) = node.body() {
                a.visit(&b);
            }
        });
    }

    fn visit_module_node(&mut self, node: &prism::ModuleNode<'pr>) {
        self.visit(&node.constant_path());
        self.enter(Kind::Class, node.location().start(), |a| {
            a.declare_locals(&node.locals());
            if let Some(b) = node.body() {
                a.visit(&b);
            }
        });
    }

    fn visit_singleton_class_node(&mut self, node: &prism::SingletonClassNode<'pr>) {
        self.visit(&node.expression());
        self.enter(Kind::Class, node.location().start(), |a| {
            a.declare_locals(&node.locals());
            if let Some(b) = node.body() {
                a.visit(&b);
            }
        });
    }

    fn visit_block_node(&mut self, node: &prism::BlockNode<'pr>) {
        self.enter(Kind::Block, node.location().start(), |a| {
            a.block_params(node.parameters());
            a.declare_locals(&node.locals());
            prism::visit_block_node(a, node);
        });
    }

    fn visit_lambda_node(&mut self, node: &prism::LambdaNode<'pr>) {
        if self.too_deep(node.location().start()) {
            return;
        }
        self.enter(Kind::Lambda, node.location().start(), |a| {
            a.block_params(node.parameters());
            a.declare_locals(&node.locals());
            prism::visit_lambda_node(a, node);
        });
    }

    fn visit_for_node(&mut self, node: &prism::ForNode<'pr>) {
        self.visit(&node.collection());
        self.enter(Kind::For, node.location().start(), |a| {
            a.declare_params(&params::for_shape(&node.index()));
            a.visit(&node.index());
            if let Some(s) = node.statements() {
                a.visit_statements_node(&s);
            }
        });
    }

    fn visit_post_execution_node(&mut self, node: &prism::PostExecutionNode<'pr>) {
        // As in the body of `for`, variables are those of the scope around.
        self.enter(Kind::For, node.location().start(), |a| prism::visit_post_execution_node(a, node));
    }

    // ---- jumps ----

    fn visit_while_node(&mut self, node: &prism::WhileNode<'pr>) {
        if !self.too_deep(node.location().start()) {
            self.in_loop(|a| prism::visit_while_node(a, node));
        }
    }

    fn visit_until_node(&mut self, node: &prism::UntilNode<'pr>) {
        if !self.too_deep(node.location().start()) {
            self.in_loop(|a| prism::visit_until_node(a, node));
        }
    }

    fn visit_break_node(&mut self, node: &prism::BreakNode<'pr>) {
        // In a class body it leaves the loop or block around that.
        let from = if self.scopes.list[self.cur].kind == Kind::Class { self.around_class } else { self.cur };
        if self.loops == 0 && matches!(self.scopes.list[from].kind, Kind::Block | Kind::For) {
            self.scopes.force_envs(from);
        }
        prism::visit_break_node(self, node);
    }

    fn visit_return_node(&mut self, node: &prism::ReturnNode<'pr>) {
        // In a class body it leaves the code around that.
        let mut from = Some(self.cur);
        while let Some(scope) = from {
            if matches!(self.scopes.list[scope].kind, Kind::Block | Kind::For | Kind::Eval) {
                self.scopes.force_envs(scope);
            }
            from = self.scopes.list[self.scopes.root_of(scope)].around;
        }
        prism::visit_return_node(self, node);
    }

    // ---- the method's block ----

    fn visit_yield_node(&mut self, node: &prism::YieldNode<'pr>) {
        self.pass_block();
        prism::visit_yield_node(self, node);
    }

    fn visit_super_node(&mut self, node: &prism::SuperNode<'pr>) {
        self.pass_unless(node.block().is_some());
        prism::visit_super_node(self, node);
    }

    fn visit_forwarding_super_node(&mut self, node: &prism::ForwardingSuperNode<'pr>) {
        self.pass_unless(node.block().is_some());
        let root = self.scopes.root_of(self.cur);
        if root != self.cur {
            for var in self.scopes.list[root].params.clone() {
                self.scopes.capture(self.cur, root, var);
            }
        }
        if self.scopes.list[root].kind == Kind::Outer {
            self.access_hidden(sym::block_var);
        }
        prism::visit_forwarding_super_node(self, node);
    }

    fn visit_block_argument_node(&mut self, node: &prism::BlockArgumentNode<'pr>) {
        if node.expression().is_none() {
            self.access_hidden(sym::anon_block);
        }
        prism::visit_block_argument_node(self, node);
    }

    fn visit_splat_node(&mut self, node: &prism::SplatNode<'pr>) {
        if node.expression().is_none() {
            self.access_hidden(sym::anon_rest);
        }
        prism::visit_splat_node(self, node);
    }

    fn visit_assoc_splat_node(&mut self, node: &prism::AssocSplatNode<'pr>) {
        if node.value().is_none() {
            self.access_hidden(sym::anon_kwrest);
        }
        prism::visit_assoc_splat_node(self, node);
    }

    fn visit_forwarding_arguments_node(&mut self, _node: &prism::ForwardingArgumentsNode<'pr>) {
        for name in [sym::anon_rest, sym::anon_kwrest, sym::anon_block] {
            self.access_hidden(name);
        }
    }

    // ---- $~ and $_ ----

    fn visit_constant_read_node(&mut self, node: &prism::ConstantReadNode<'pr>) {
        // Its Binding shows the program's variables.
        if node.name().as_slice() == b"TOPLEVEL_BINDING" {
            self.see_binding();
        }
    }

    fn visit_numbered_reference_read_node(&mut self, _node: &prism::NumberedReferenceReadNode<'pr>) {
        self.mention_match();
    }

    fn visit_back_reference_read_node(&mut self, _node: &prism::BackReferenceReadNode<'pr>) {
        self.mention_match();
    }

    fn visit_match_write_node(&mut self, node: &prism::MatchWriteNode<'pr>) {
        self.mention_match();
        prism::visit_match_write_node(self, node);
    }

    fn visit_global_variable_read_node(&mut self, node: &prism::GlobalVariableReadNode<'pr>) {
        self.mention_global(&node.name());
    }

    fn visit_global_variable_write_node(&mut self, node: &prism::GlobalVariableWriteNode<'pr>) {
        self.mention_global(&node.name());
        prism::visit_global_variable_write_node(self, node);
    }

    fn visit_global_variable_target_node(&mut self, node: &prism::GlobalVariableTargetNode<'pr>) {
        self.mention_global(&node.name());
    }

    fn visit_global_variable_or_write_node(&mut self, node: &prism::GlobalVariableOrWriteNode<'pr>) {
        self.mention_global(&node.name());
        prism::visit_global_variable_or_write_node(self, node);
    }

    fn visit_global_variable_and_write_node(&mut self, node: &prism::GlobalVariableAndWriteNode<'pr>) {
        self.mention_global(&node.name());
        prism::visit_global_variable_and_write_node(self, node);
    }

    fn visit_global_variable_operator_write_node(&mut self, node: &prism::GlobalVariableOperatorWriteNode<'pr>) {
        self.mention_global(&node.name());
        prism::visit_global_variable_operator_write_node(self, node);
    }

    fn visit_match_last_line_node(&mut self, _node: &prism::MatchLastLineNode<'pr>) {
        self.mention_line();
    }

    fn visit_interpolated_match_last_line_node(&mut self, node: &prism::InterpolatedMatchLastLineNode<'pr>) {
        self.mention_line();
        prism::visit_interpolated_match_last_line_node(self, node);
    }

    fn visit_flip_flop_node(&mut self, node: &prism::FlipFlopNode<'pr>) {
        let root = self.scopes.root_of(self.cur);
        let owner = if self.scopes.list[root].kind == Kind::Outer { self.scopes.root } else { root };
        let var = self.scopes.list[owner].declare(flip_flop_var(node.location().start()));
        self.scopes.capture(self.cur, owner, var);
        prism::visit_flip_flop_node(self, node);
    }

    fn visit_interpolated_string_node(&mut self, node: &prism::InterpolatedStringNode<'pr>) {
        self.opens_heredoc(node.opening_loc(), |a| prism::visit_interpolated_string_node(a, node));
    }

    fn visit_interpolated_x_string_node(&mut self, node: &prism::InterpolatedXStringNode<'pr>) {
        self.opens_heredoc(Some(node.opening_loc()), |a| prism::visit_interpolated_x_string_node(a, node));
    }

    // ---- calls that look at variables ----

    fn visit_alias_global_variable_node(&mut self, node: &prism::AliasGlobalVariableNode<'pr>) {
        let line = match node.old_name().location().as_slice() {
            b"$_" => true,
            b"$~" | b"$&" | b"$`" | b"$'" | b"$+" => false,
            _ => return,
        };
        // The first one counts.
        self.aliases.entry(node.new_name().location().as_slice().to_vec()).or_insert(line);
    }

    fn visit_call_node(&mut self, node: &prism::CallNode<'pr>) {
        if self.too_deep(node.location().start()) {
            return;
        }
        match node.name().as_slice() {
            b"binding" | b"local_variables" | b"eval" => self.see_binding(),
            b"instance_eval" | b"class_eval" | b"module_eval" if node.arguments().is_some() => self.see_binding(),
            b"last_match" => self.mention_match(),
            // Without arguments it prints `$_`.
            b"print" if node.arguments().is_none() => self.mention_line(),
            // With `-n` they change `$_`.
            b"chomp" | b"chop" | b"sub" | b"gsub" if node.receiver().is_none() => self.mention_line(),
            b"block_given?" if node.receiver().is_none() && node.arguments().is_none() => self.use_block(),
            _ => {}
        }
        prism::visit_call_node(self, node);
    }
}

impl Analyzer {
    fn mention_global(&mut self, name: &prism::ConstantId<'_>) {
        match name.as_slice() {
            b"$~" => self.mention_match(),
            b"$_" => self.mention_line(),
            // Aliases that another file made are not known here, but for those of the library `English`.
            b"$LAST_MATCH_INFO" | b"$MATCH" | b"$PREMATCH" | b"$POSTMATCH" | b"$LAST_PAREN_MATCH" => self.mention_match(),
            b"$LAST_READ_LINE" => self.mention_line(),
            name => match self.aliases.get(name) {
                Some(true) => self.mention_line(),
                Some(false) => self.mention_match(),
                None => {}
            },
        }
    }
}
