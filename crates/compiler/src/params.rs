//! Parameter lists: their shape for the VM ([`Params`]), and the prologue that gives parameters their defaults and places.

use crate::analyze::intern;
use crate::unit::{Compiler, Dest};
use ruby_prism as prism;
use ruby_prism::Node;
use zakuro_base::{Sym, sym};
use zakuro_bytecode::{Keyword, KwRest, MAX_ENV_SLOTS, Op, Params};

/// A parameter list and the names of its registers (None: only lowering refers to it).
#[derive(Default)]
pub(crate) struct Shape {
    pub params: Params,
    pub registers: Vec<Option<Sym>>,
}

impl Shape {
    fn add(&mut self, kind: &'static str, name: Option<Sym>, listed: Option<Sym>) {
        self.registers.push(name);
        self.params.list.push((kind, listed));
    }

    fn required(&mut self, node: &Node<'_>, encoding: u8) {
        match node.as_required_parameter_node() {
            Some(p) => {
                let name = intern(&p.name(), encoding);
                self.add("req", (!p.is_repeated_parameter()).then_some(name), Some(name));
            }
            None => self.add("req", None, None),
        }
    }

    fn fill(&mut self, node: &prism::ParametersNode<'_>, encoding: u8) {
        for p in node.requireds().iter() {
            self.required(&p, encoding);
            self.params.required = self.params.required.saturating_add(1);
        }
        for p in node.optionals().iter().filter_map(|p| p.as_optional_parameter_node()) {
            let name = intern(&p.name(), encoding);
            self.add("opt", (!p.is_repeated_parameter()).then_some(name), Some(name));
            self.params.optional = self.params.optional.saturating_add(1);
        }
        match node.rest() {
            Some(Node::ImplicitRestNode { .. }) => self.params.excessed_comma = true,
            Some(rest) => {
                let rest = rest.as_rest_parameter_node();
                let name = rest.as_ref().and_then(|r| r.name()).map(|n| intern(&n, encoding));
                let repeated = rest.is_some_and(|r| r.is_repeated_parameter());
                let register = name.unwrap_or(sym::anon_rest);
                self.add("rest", (!repeated).then_some(register), Some(name.unwrap_or(sym::mul)));
                self.params.rest = true;
            }
            None => {}
        }
        let forwarding = matches!(node.keyword_rest(), Some(Node::ForwardingParameterNode { .. }));
        if forwarding {
            self.add("rest", Some(sym::anon_rest), Some(sym::mul));
            self.params.rest = true;
        }
        for p in node.posts().iter() {
            self.required(&p, encoding);
            self.params.post = self.params.post.saturating_add(1);
        }
        for p in node.keywords().iter() {
            let (name, required) = match (p.as_required_keyword_parameter_node(), p.as_optional_keyword_parameter_node()) {
                (Some(k), _) => (intern(&k.name(), encoding), true),
                (_, Some(k)) => (intern(&k.name(), encoding), false),
                _ => continue,
            };
            self.add(if required { "keyreq" } else { "key" }, Some(name), Some(name));
            self.params.keywords.push(Keyword { name, required });
        }
        match node.keyword_rest() {
            Some(Node::NoKeywordsParameterNode { .. }) => {
                self.params.kwrest = KwRest::Refused;
                self.params.list.push(("nokey", None));
            }
            Some(_) if forwarding => {
                self.add("keyrest", Some(sym::anon_kwrest), Some(sym::pow));
                self.params.kwrest = KwRest::Named;
                self.params.forwards_all = true;
            }
            Some(rest) => {
                let name = rest.as_keyword_rest_parameter_node().and_then(|r| r.name()).map(|n| intern(&n, encoding));
                self.add("keyrest", Some(name.unwrap_or(sym::anon_kwrest)), Some(name.unwrap_or(sym::pow)));
                self.params.kwrest = KwRest::Named;
            }
            None => {}
        }
        match node.block() {
            Some(Node::NoBlockParameterNode { .. }) => self.params.no_block = true,
            Some(block) => {
                let name = block.as_block_parameter_node().and_then(|b| b.name()).map(|n| intern(&n, encoding));
                self.add("block", Some(name.unwrap_or(sym::anon_block)), Some(name.unwrap_or(sym::and)));
                self.params.block = true;
            }
            None if forwarding => {
                self.add("block", Some(sym::anon_block), Some(sym::and));
                self.params.block = true;
            }
            None => {}
        }
        // Two parameters of one name (`|_a, _a|`): the first owns it.
        let mut seen = std::collections::HashSet::new();
        for name in &mut self.registers {
            if name.is_some_and(|n| !seen.insert(n)) {
                *name = None;
            }
        }
    }

    /// The block is no register's.
    pub(crate) fn without_block(mut self) -> Shape {
        self.registers.pop();
        self.params.block = false;
        self.done()
    }

    fn done(mut self) -> Shape {
        let p = &mut self.params;
        p.simple = p.registers() == p.required && p.kwrest == KwRest::None && !p.no_block && !p.excessed_comma;
        self
    }
}

/// The parameters of a `def`; their names are in this encoding.
pub(crate) fn method_shape(node: Option<&prism::ParametersNode<'_>>, encoding: u8) -> Shape {
    let mut shape = Shape::default();
    if let Some(p) = node {
        shape.fill(p, encoding);
    }
    shape.done()
}

/// The parameters of a block or lambda.
pub(crate) fn block_shape(node: Option<&Node<'_>>, encoding: u8) -> Shape {
    let mut shape = Shape::default();
    match node {
        Some(n @ Node::BlockParametersNode { .. }) => {
            if let Some(p) = n.as_block_parameters_node().and_then(|b| b.parameters()) {
                shape.fill(&p, encoding);
            }
        }
        Some(n @ Node::NumberedParametersNode { .. }) => {
            let max = n.as_numbered_parameters_node().map_or(0, |n| n.maximum());
            for i in 1..=max {
                let name = Sym::intern(&format!("_{i}"));
                shape.add("req", Some(name), Some(name));
            }
            shape.params.required = max as u16;
            shape.params.numbered = max;
        }
        Some(Node::ItParametersNode { .. }) => {
            shape.add("req", Some(crate::scope::it_var()), None);
            shape.params.required = 1;
            shape.params.numbered = 255;
        }
        _ => {}
    }
    shape.done()
}

/// The hidden parameters of the block that a `for` becomes: one for each target, so that `each` destructures as for a block.
pub(crate) fn for_shape(index: &Node<'_>) -> Shape {
    let mut shape = Shape::default();
    match index.as_multi_target_node() {
        None => {
            shape.add("req", None, None);
            shape.params.required = 1;
        }
        Some(m) => {
            for _ in m.lefts().iter() {
                shape.add("req", None, None);
                shape.params.required += 1;
            }
            match m.rest() {
                Some(Node::ImplicitRestNode { .. }) => shape.params.excessed_comma = true,
                Some(_) => {
                    shape.add("rest", None, None);
                    shape.params.rest = true;
                }
                None => {}
            }
            for _ in m.rights().iter() {
                shape.add("req", None, None);
                shape.params.post += 1;
            }
        }
    }
    shape.done()
}

impl<'pr> Compiler<'pr> {
    /// Opens the environment, moves captured parameters into it, materialises the method's block where blocks use it.
    /// Parameters with a default follow in the prologue: until then their slots are nil, never the undefined marker.
    pub(crate) fn open_scope(&mut self, params: &Params) {
        let scope = self.f.scope;
        let s = &self.scopes.list[scope];
        let env = s.env_reg;
        let (own, slots, parent) = (s.own_env, s.slots, s.needs_parent_env);
        if own {
            if slots > MAX_ENV_SLOTS {
                let line = self.f.asm.line;
                let why = format!("too many local variables for blocks, eval or a binding to see (at most {MAX_ENV_SLOTS} in one scope)");
                self.refused.get_or_insert((line, why));
            }
            self.f.asm.emit(Op::NewEnv, parent as u8, env, slots, 0);
        }
        let optional = params.optional_start()..params.rest_reg();
        let keywords = params.keyword_start();
        for p in self.scopes.list[scope].params.clone() {
            let v = &self.scopes.list[scope].vars[p];
            let defaulted = optional.contains(&v.reg)
                || (v.reg >= keywords && params.keywords.get((v.reg - keywords) as usize).is_some_and(|k| !k.required));
            if v.captured && !defaulted {
                let (reg, slot) = (v.reg, v.slot);
                self.f.asm.emit(Op::SetEnv, 0, reg, slot, env);
            }
        }
        if let Some(v) = self.scopes.list[scope].var(sym::block_var)
            && self.scopes.list[scope].kind == crate::scope::Kind::Method
        {
            let t = self.push();
            self.f.asm.emit(Op::BlockProc, 0, t, 0, 0);
            self.store_var(scope, v, t);
            self.pop_to(t);
        }
    }

    /// Defaults of optional parameters and keywords, then destructuring, in CRuby's order.
    pub(crate) fn prologue(&mut self, node: &prism::ParametersNode<'pr>, params: &Params) {
        let scope = self.f.scope;
        let vars = self.scopes.list[scope].params.clone();
        for (i, p) in node.optionals().iter().enumerate() {
            if let Some(p) = p.as_optional_parameter_node() {
                let reg = params.optional_start() + i as u16;
                self.default_value(scope, vars[reg as usize - 1], reg, &p.value());
            }
        }
        for (i, p) in node.keywords().iter().enumerate() {
            if let Some(p) = p.as_optional_keyword_parameter_node() {
                let reg = params.keyword_start() + i as u16;
                self.default_value(scope, vars[reg as usize - 1], reg, &p.value());
            }
        }
        for (list, first) in [(node.requireds(), 1), (node.posts(), params.post_start())] {
            for (i, p) in list.iter().enumerate() {
                if let Some(m) = p.as_multi_target_node() {
                    self.destructure(&m.lefts(), m.rest(), &m.rights(), first + i as u16);
                }
            }
        }
    }

    fn default_value(&mut self, scope: usize, var: usize, reg: u16, value: &Node<'pr>) {
        let given = self.f.asm.label();
        self.f.asm.line = self.line_of(value.location().start());
        self.f.asm.jump_op(Op::JumpDef, reg, given);
        let simple = matches!(
            value,
            Node::NilNode { .. }
                | Node::TrueNode { .. }
                | Node::FalseNode { .. }
                | Node::IntegerNode { .. }
                | Node::SymbolNode { .. }
                | Node::StringNode { .. }
                | Node::FloatNode { .. }
        );
        let captured = self.scopes.list[scope].vars[var].captured;
        if !simple && !captured {
            // `def f(a = a)`: the parameter is nil in its own default.
            self.f.asm.emit(Op::LoadNil, 0, reg, 0, 0);
        }
        let before = std::mem::replace(&mut self.f.in_defaults, true);
        self.expr(value, Dest::Reg(reg));
        self.f.in_defaults = before;
        self.f.asm.bind(given);
        if captured {
            self.store_var(scope, var, reg);
        }
    }
}
