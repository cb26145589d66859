//! Calls: argument layout, blocks, super, yield.
//!
//! A call's window: `base` holds the receiver, then the positional arguments (the last of them an Array when there is a splat), then the
//! keyword Hash, then the block value. A call with a literal block reserves two registers below its base.
//!
//! What is splatted is not copied where nothing of the program's runs between there and the call (`is_quiet`): the callee copies what it keeps.

use crate::branches::is_known;
use crate::operators::self_flag;
use crate::scope::Kind;
use crate::unit::{Compiler, Dest, Frame};
use ruby_prism as prism;
use ruby_prism::Node;
use std::sync::Arc;
use zakuro_base::{Sym, sym};
use zakuro_bytecode::{
    Body, CallSite, Code, CodeKind, Const, Intrinsic, KwRest, MAX_KEYWORDS, NO_BLOCK, NO_KEYWORDS, Op, Params, Place, call_flags,
};

/// More positional arguments than this are passed as an Array.
const MAX_ARGC: usize = 120;

/// Whether evaluating it runs no code of the program's, but what a constant may load. What looks like a method (`to_hash` of a `**variable`) does not count, as in CRuby.
fn is_quiet(n: &Node) -> bool {
    match n {
        Node::LocalVariableReadNode { .. }
        | Node::ItLocalVariableReadNode { .. }
        | Node::InstanceVariableReadNode { .. }
        | Node::GlobalVariableReadNode { .. }
        | Node::ClassVariableReadNode { .. }
        | Node::NumberedReferenceReadNode { .. }
        | Node::BackReferenceReadNode { .. }
        | Node::ConstantReadNode { .. }
        | Node::SelfNode { .. } => true,
        Node::ConstantPathNode { .. } => n.as_constant_path_node().is_some_and(|p| p.parent().is_none_or(|p| is_quiet(&p))),
        Node::ArrayNode { .. } => n.as_array_node().is_some_and(|a| a.elements().iter().all(|e| is_quiet(&e))),
        Node::AssocNode { .. } => n.as_assoc_node().is_some_and(|a| is_quiet(&a.key()) && is_quiet(&a.value())),
        Node::AssocSplatNode { .. } => n.as_assoc_splat_node().is_some_and(|a| a.value().is_none_or(|v| is_quiet(&v))),
        _ => is_known(n),
    }
}
/// Most elements of a literal list that is asked in registers.
const MOST_ASKED: usize = 16;

/// The same of what a call has as its block: a literal one runs later.
fn is_quiet_block(block: Option<&Node>) -> bool {
    block.and_then(|b| b.as_block_argument_node()).and_then(|b| b.expression()).is_none_or(|e| is_quiet(&e))
}

/// What was pushed for a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pushed {
    pub argc: u8,
    pub flags: u16,
    pub block: u16,
    /// Index of the list of keyword names, with KW_NAMES.
    pub keywords: u16,
}

impl Pushed {
    fn simple(self) -> bool {
        self.flags & (call_flags::SPLAT | call_flags::KW | call_flags::BLOCKARG | call_flags::OWN_BLOCK) == 0
    }
}

impl<'pr> Compiler<'pr> {
    /// Pushes the arguments of an assignment to an element or an attribute: with a splat one Array, made for it.
    pub(crate) fn arguments(&mut self, list: Option<&prism::ArgumentsNode<'pr>>) -> Pushed {
        self.pushed_arguments(list, None)
    }

    /// Pushes the arguments of a call, behind which its block follows.
    fn call_arguments(&mut self, list: Option<&prism::ArgumentsNode<'pr>>, block: Option<&Node<'pr>>) -> Pushed {
        self.pushed_arguments(list, Some(is_quiet_block(block)))
    }

    /// `quiet`: whether what follows the arguments is, or None where an Array is wanted.
    fn pushed_arguments(&mut self, list: Option<&prism::ArgumentsNode<'pr>>, quiet: Option<bool>) -> Pushed {
        let mut p = Pushed { argc: 0, flags: 0, block: NO_BLOCK, keywords: NO_KEYWORDS };
        let Some(list) = list else { return p };
        let mut nodes: Vec<Node<'pr>> = list.arguments().iter().collect();
        let keywords = match nodes.last() {
            Some(Node::KeywordHashNode { .. }) => nodes.pop().and_then(|n| n.as_keyword_hash_node()),
            _ => None,
        };
        let forwarding = matches!(nodes.last(), Some(Node::ForwardingArgumentsNode { .. }));
        if forwarding {
            nodes.pop();
        }
        let is_splat = |n: &Node| matches!(n, Node::SplatNode { .. });
        let splats = nodes.iter().filter(|n| is_splat(n)).count();
        let quiet_keywords = keywords.as_ref().is_none_or(|k| k.elements().iter().all(|e| is_quiet(&e)));
        // A single list, at the end.
        let last = match splats {
            0 => forwarding,
            _ => splats == 1 && !forwarding && nodes.last().is_some_and(is_splat),
        };
        let leading = nodes.len() - splats;
        match quiet {
            Some(quiet) if last && leading < MAX_ARGC => {
                for n in &nodes[..leading] {
                    self.expr(n, Dest::Push);
                }
                match nodes.get(leading) {
                    None => {
                        self.hidden(sym::anon_rest, Dest::Push);
                    }
                    Some(n) => p.flags |= self.lone_splat(n, quiet && quiet_keywords),
                }
                p.argc = leading as u8 + 1;
                p.flags |= call_flags::SPLAT;
            }
            _ if forwarding || splats > 0 || nodes.len() > MAX_ARGC => {
                let array = self.f.top;
                self.array_of(&nodes, None, Dest::Push);
                if forwarding {
                    let rest = self.hidden(sym::anon_rest, Dest::Any);
                    self.f.asm.emit(Op::ArrayConcat, 0, array, rest, 0);
                }
                self.pop_to(array + 1);
                p.argc = 1;
                p.flags |= call_flags::SPLAT | call_flags::SPLAT_FRESH;
            }
            _ => {
                for n in &nodes {
                    self.expr(n, Dest::Push);
                }
                p.argc = nodes.len() as u8;
            }
        }
        if forwarding {
            self.hidden(sym::anon_kwrest, Dest::Push);
            p.flags |= call_flags::KW | self.passed_block(None);
        } else if let Some(k) = keywords {
            self.keywords(&k, quiet.unwrap_or(false), &mut p);
        }
        p
    }

    /// `*list` at the end of the positional arguments: the list itself, or nil, when what follows is quiet, else a copy. Gives the flags of the site.
    fn lone_splat(&mut self, n: &Node<'pr>, quiet: bool) -> u16 {
        let operand = n.as_splat_node().and_then(|s| s.expression());
        self.set_line(n.location().start());
        let list = match operand {
            Some(e) => self.expr(&e, Dest::Push),
            None => self.hidden(sym::anon_rest, Dest::Push),
        };
        if quiet {
            self.f.asm.emit(Op::Intrinsic, Intrinsic::SplatLent as u8, list, 0, 1);
            return 0;
        }
        self.f.asm.emit(Op::Splat, 0, list, list, 0);
        call_flags::SPLAT_FRESH
    }

    /// `quiet`: what follows is.
    fn keywords(&mut self, k: &prism::KeywordHashNode<'pr>, quiet: bool, p: &mut Pushed) {
        let elements = k.elements();
        if let Some(names) = self.keyword_names(&elements) {
            for e in elements.iter().filter_map(|e| e.as_assoc_node()) {
                self.expr(&e.value(), Dest::Push);
            }
            p.keywords = self.f.asm.keyword_list(names);
            p.flags |= call_flags::KW | call_flags::KW_NAMES;
            return;
        }
        if elements.len() == 1
            && let Some(s) = elements.first().and_then(|e| e.as_assoc_splat_node())
            && (quiet || s.value().is_none())
        {
            let r = self.double_splat(&s, Dest::Push);
            if s.value().is_some() {
                self.f.asm.emit(Op::Intrinsic, Intrinsic::ToHash as u8, r, 0, 1);
            }
            p.flags |= call_flags::KW;
            return;
        }
        let at = elements.first().map_or(0, |e| e.location().start());
        self.hash(&elements, at, Dest::Push);
        p.flags |= call_flags::KW | call_flags::KW_FRESH;
    }

    /// The names when all keywords are written as different Symbols: then no Hash is made for a callee that names its keywords.
    fn keyword_names(&mut self, elements: &prism::NodeList<'pr>) -> Option<Vec<Sym>> {
        if elements.is_empty() || elements.len() > MAX_KEYWORDS {
            return None;
        }
        let mut names = Vec::with_capacity(elements.len());
        for e in elements.iter() {
            let key = e.as_assoc_node()?.key();
            key.as_symbol_node()?;
            let name = self.symbol(&key);
            if names.contains(&name) {
                return None;
            }
            names.push(name);
        }
        Some(names)
    }

    /// Adds the block of a call: a literal one, or `&value`.
    pub(crate) fn block(&mut self, p: &mut Pushed, block: Option<&Node<'pr>>) {
        match block {
            Some(b @ Node::BlockArgumentNode { .. }) => {
                p.flags |= self.passed_block(b.as_block_argument_node().and_then(|b| b.expression()));
            }
            Some(b) => {
                if let Some(b) = b.as_block_node() {
                    // A literal block takes the place of a forwarded one.
                    p.flags &= !call_flags::OWN_BLOCK;
                    if p.flags & call_flags::BLOCKARG != 0 {
                        p.flags &= !call_flags::BLOCKARG;
                        self.pop_to(self.f.top - 1);
                    }
                    p.block = self.block_code((b.location().start(), b.location().end()), b.parameters(), b.body());
                }
            }
            None => {}
        }
    }

    /// Pushes what stands behind a `&`, or behind none, unless it is the method's own block. Gives the flag of the site.
    fn passed_block(&mut self, operand: Option<Node<'pr>>) -> u16 {
        let own = match &operand {
            Some(e) => self.is_own_block(e),
            None => self.scopes.find(self.f.scope, sym::anon_block).is_some_and(|(scope, var)| self.place(scope, var) == Place::Block),
        };
        match operand {
            _ if own => return call_flags::OWN_BLOCK,
            Some(e) => self.expr(&e, Dest::Push),
            None => self.hidden(sym::anon_block, Dest::Push),
        };
        call_flags::BLOCKARG
    }

    /// Whether this is the variable of the method's block, which no register holds.
    pub(crate) fn is_own_block(&mut self, n: &Node<'pr>) -> bool {
        n.as_local_variable_read_node().is_some_and(|v| {
            let (scope, var) = self.local(&v.name(), v.depth());
            self.place(scope, var) == Place::Block
        })
    }

    /// `block.call(...)` of the method's own block is a `yield` as long as there is no object of it.
    fn block_call(&mut self, n: &prism::CallNode<'pr>, dest: Dest) -> u16 {
        let mark = self.push();
        let base = mark;
        let at = n.message_loc().map_or(n.location().start(), |l| l.start());
        let skip = n.is_safe_navigation().then(|| {
            let (end, given) = (self.f.asm.label(), self.f.asm.label());
            self.set_line(at);
            self.f.asm.emit(Op::BlockGiven, 0, base, 0, 0);
            self.f.asm.jump_op(Op::JumpIf, base, given);
            self.f.asm.emit(Op::LoadNil, 0, base, 0, 0);
            self.f.asm.jump(end);
            self.f.asm.bind(given);
            (end, self.counted_safe(n))
        });
        let p = self.call_arguments(n.arguments().as_ref(), None);
        self.set_line(at);
        let (is_code, called, done) = (self.push(), self.f.asm.label(), self.f.asm.label());
        self.f.asm.emit(Op::BlockGiven, 1, is_code, 0, 0);
        self.f.asm.jump_op(Op::JumpUnless, is_code, called);
        self.pop_to(is_code);
        self.emit_yield(base, &p);
        self.f.asm.jump(done);
        self.f.asm.bind(called);
        self.f.asm.emit(Op::BlockProc, 1, base, 0, 0);
        self.send(base, sym::call, p, 0);
        self.f.asm.bind(done);
        if let Some((l, counter)) = skip {
            self.skipped(l, counter);
        }
        self.deliver(base, mark, dest)
    }

    /// `[a, b].max`, `[a, b].min`, `[a, b].include?(c)`: the Array is made only where values have to be compared by methods.
    fn list_call(&mut self, n: &prism::CallNode<'pr>, dest: Dest) -> Option<u16> {
        let list = n.receiver()?.as_array_node()?;
        let elements: Vec<Node<'pr>> = list.elements().iter().collect();
        let is_plain =
            |e: &Node| !matches!(e, Node::SplatNode { .. } | Node::KeywordHashNode { .. } | Node::ForwardingArgumentsNode { .. });
        let arguments: Vec<Node<'pr>> = n.arguments().map_or_else(Vec::new, |a| a.arguments().iter().collect());
        let what = match (n.name().as_slice(), arguments.len()) {
            (b"max", 0) => 0,
            (b"min", 0) => 1,
            (b"include?", 1) => 2,
            _ => return None,
        };
        let fits = !elements.is_empty() && elements.len() <= MOST_ASKED && elements.iter().chain(&arguments).all(is_plain);
        if !fits || n.block().is_some() || n.is_safe_navigation() {
            return None;
        }
        let constant = self.constant_list(&list).filter(|_| what == 2);
        let at = n.message_loc().map_or(n.location().start(), |l| l.start());
        let mark = self.push();
        let base = self.f.top;
        let count = match &constant {
            Some(all) => {
                self.load_const(Const::Array(all.clone()), Dest::Push);
                1
            }
            None => {
                for e in &elements {
                    self.expr(e, Dest::Push);
                }
                elements.len() as u16
            }
        };
        let argument = self.f.top;
        for a in &arguments {
            self.expr(a, Dest::Push);
        }
        let asked = self.f.asm.label();
        self.set_line(at);
        let what = if constant.is_some() { 3 } else { what };
        self.f.asm.emit(Op::AskList, what, mark, base, self.f.top - base);
        self.f.asm.jump_op(Op::JumpDef, mark, asked);
        match constant {
            Some(_) => self.f.asm.emit(Op::Splat, 0, base, base, 0),
            None => self.f.asm.emit(Op::NewArray, 0, base, base, count),
        }
        if !arguments.is_empty() {
            self.f.asm.mov(base + 1, argument);
        }
        let p = Pushed { argc: arguments.len() as u8, flags: 0, block: NO_BLOCK, keywords: NO_KEYWORDS };
        self.send(base, self.intern(&n.name()), p, 0);
        self.f.asm.mov(mark, base);
        self.f.asm.bind(asked);
        Some(self.deliver(mark, mark, dest))
    }

    fn emit_yield(&mut self, base: u16, p: &Pushed) {
        let site = self.f.asm.site(CallSite { name: sym::yield_, flags: p.flags, argc: p.argc, child: NO_BLOCK, keywords: p.keywords });
        self.f.asm.emit(if p.simple() { Op::Yield } else { Op::YieldX }, p.argc, base, 0, site);
    }

    /// Start of a call's window, where the receiver is to be pushed; a literal block needs two registers below it.
    pub(crate) fn window(&mut self, block: Option<&Node<'pr>>) -> u16 {
        if matches!(block, Some(Node::BlockNode { .. })) {
            self.push();
            self.push();
        }
        self.f.top
    }

    fn send(&mut self, base: u16, name: Sym, p: Pushed, flags: u16) {
        let own = flags & call_flags::FCALL != 0;
        let op = match (p.simple(), p.block != NO_BLOCK, own) {
            (false, _, _) => Op::SendX,
            (true, false, false) => Op::Send,
            (true, false, true) => Op::SendSelf,
            (true, true, false) => Op::SendBlk,
            (true, true, true) => Op::SendSelfBlk,
        };
        let site = self.f.asm.site(CallSite { name, flags: flags | p.flags, argc: p.argc, child: p.block, keywords: p.keywords });
        self.f.asm.emit(op, p.argc, base, 0, site);
    }

    pub(crate) fn call(&mut self, n: &prism::CallNode<'pr>, dest: Dest) -> u16 {
        if let Some(r) = self.special_call(n, dest) {
            return r;
        }
        if let Some(r) = self.operator_call(n, dest) {
            return r;
        }
        if n.is_attribute_write() {
            return self.attribute_write(n, dest);
        }
        let name = self.intern(&n.name());
        let block = n.block();
        let mark = self.f.top;
        let base = self.window(block.as_ref());
        let at = n.message_loc().map_or(n.location().start(), |l| l.start());
        let mut flags = 0;
        let mut skip = None;
        match n.receiver() {
            None => {
                self.push();
                flags |= call_flags::FCALL;
            }
            Some(Node::SelfNode { .. }) if !n.is_safe_navigation() => {
                self.push();
                flags |= call_flags::FCALL;
            }
            Some(r) => {
                flags |= self_flag(&r);
                self.expr(&r, Dest::Push);
                if n.is_safe_navigation() {
                    let l = self.f.asm.label();
                    self.set_line(at);
                    self.f.asm.jump_op(Op::JumpNil, base, l);
                    skip = Some((l, self.counted_safe(n)));
                }
            }
        }
        if n.is_variable_call() {
            flags |= call_flags::VCALL;
        }
        let mut p = self.call_arguments(n.arguments().as_ref(), block.as_ref());
        self.block(&mut p, block.as_ref());
        self.set_line(at);
        let symbol = block.as_ref().and_then(|b| b.as_block_argument_node()?.expression()).filter(|e| e.as_symbol_node().is_some());
        if let Some(s) = symbol {
            let name = self.symbol(&s);
            p.block = self.symbol_block(name);
        }
        self.send(base, name, p, flags);
        if let Some((l, counter)) = skip {
            self.skipped(l, counter);
        }
        self.deliver(base, mark, dest)
    }

    /// What `&:name` does with one value: the Code of a block that calls the method. (The Proc is another thing.)
    fn symbol_block(&mut self, name: Sym) -> u16 {
        let (scope, around, line) = (self.f.scope, self.f.name, self.f.asm.line);
        if self.f.children.len() >= NO_BLOCK as usize {
            return NO_BLOCK;
        }
        const VALUE: u16 = 1;
        crate::job::took(size_of::<Code>() + size_of::<Body>());
        let saved = std::mem::replace(&mut self.f, Box::new(Frame::new(scope, VALUE + 1, around)));
        self.f.asm.line = line;
        let answer = self.push();
        self.quick_call(name, call_flags::PUBLIC, VALUE, answer);
        self.f.asm.emit(Op::Return, 0, answer, 0, 0);
        let Frame { asm, max, .. } = *std::mem::replace(&mut self.f, saved);
        let params = Params { required: 1, simple: true, list: vec![("req", None)], ..Params::default() };
        let body = Body {
            end_line: line,
            insns: asm.insns.into(),
            calls: asm.calls.into(),
            lines: asm.lines.into(),
            first_line: self.first_line,
            uses_block: true,
            params,
            nregs: max,
            nlocals: VALUE + 1,
            frozen_strings: self.frozen_strings,
            of_symbol: true,
            ..Body::default()
        };
        let (file, source) = (self.file.clone(), self.source.clone());
        self.f.children.push(Arc::new(Code {
            kind: CodeKind::Block,
            name: around,
            file,
            line,
            source,
            heat: Default::default(),
            body: body.into(),
        }));
        self.f.children.len() as u16 - 1
    }

    /// The call of a `&.` begins: counts it, and gives the counter of the other way.
    fn counted_safe(&mut self, n: &prism::CallNode<'pr>) -> Option<u32> {
        // Without a literal block.
        let literal = n.block().is_some_and(|b| b.as_block_node().is_some());
        let end = match (n.closing_loc(), n.arguments(), n.message_loc()) {
            _ if !literal => n.location().end(),
            (Some(l), ..) => l.end(),
            (_, Some(a), _) => a.location().end(),
            (.., Some(l)) => l.end(),
            _ => n.location().end(),
        };
        let at = (n.location().start(), end);
        let first = self.branch_arms("&.", at, &[("then", at), ("else", at)]);
        self.count_arm(first);
        first.map(|n| n + 1)
    }

    /// Where a `&.` goes on that has no receiver.
    fn skipped(&mut self, label: crate::emit::Label, counter: Option<u32>) {
        if counter.is_none() {
            return self.f.asm.bind(label);
        }
        let end = self.f.asm.label();
        self.f.asm.jump(end);
        self.f.asm.bind(label);
        // Above the value.
        let mark = self.f.top;
        self.push();
        self.count_arm(counter);
        self.pop_to(mark);
        self.f.asm.bind(end);
    }

    /// Calls that are known by their form.
    fn special_call(&mut self, n: &prism::CallNode<'pr>, dest: Dest) -> Option<u16> {
        match n.receiver() {
            None => {
                let plain = n.arguments().is_none() && n.block().is_none();
                (plain && n.name().as_slice() == b"block_given?").then(|| self.block_given(dest))
            }
            Some(Node::StringNode { .. }) if n.name().as_slice() == b"freeze" => {
                let plain = n.arguments().is_none() && n.block().is_none() && !n.is_safe_navigation();
                let s = n.receiver()?.as_string_node()?;
                plain.then(|| self.interned_string(&s, dest))
            }
            Some(Node::ArrayNode { .. }) => self.list_call(n, dest),
            Some(r) if n.name().as_slice() == b"call" && n.block().is_none() && self.is_own_block(&r) => Some(self.block_call(n, dest)),
            _ => None,
        }
    }

    /// `a.b = v`, `a[i] = v` outside multiple assignment: the value of the expression is `v`.
    fn attribute_write(&mut self, n: &prism::CallNode<'pr>, dest: Dest) -> u16 {
        let name = self.intern(&n.name());
        let Some(receiver) = n.receiver() else { return self.misplaced(&n.as_node(), dest) };
        let at = n.message_loc().map_or(n.location().start(), |l| l.start());
        let flags = self_flag(&receiver) | call_flags::ATTR_ASSIGN;
        let mark = self.f.top;
        if let Some(r) = self.element_write(n, &receiver, name, flags, at, dest) {
            return r;
        }
        let value = (dest != Dest::Discard).then(|| self.push());
        let base = match &receiver {
            // The instruction fills in self.
            Node::SelfNode { .. } if !n.is_safe_navigation() => self.push(),
            _ => self.expr(&receiver, Dest::Push),
        };
        let skip = n.is_safe_navigation().then(|| self.f.asm.label());
        if let Some(l) = skip {
            if let Some(v) = value {
                self.f.asm.emit(Op::LoadNil, 0, v, 0, 0);
            }
            self.f.asm.jump_op(Op::JumpNil, base, l);
        }
        let counter = if skip.is_some() { self.counted_safe(n) } else { None };
        let mut p = self.arguments(n.arguments().as_ref());
        if let Some(v) = value {
            if p.flags & call_flags::SPLAT != 0 {
                // The assigned value is the last element.
                let t = self.push();
                self.f.asm.mov(t, base + 1);
                self.load_int(-1, Dest::Push);
                self.f.asm.emit(Op::Intrinsic, Intrinsic::ArrayAt as u8, t, 0, 2);
                self.f.asm.mov(v, t);
                self.pop_to(t);
            } else {
                self.f.asm.mov(v, base + p.argc as u16);
            }
        }
        self.block(&mut p, n.block().as_ref());
        self.set_line(at);
        self.send(base, name, p, flags);
        if let Some(l) = skip {
            self.skipped(l, counter);
        }
        match value {
            Some(v) => self.deliver(v, mark, dest),
            None => {
                self.pop_to(mark);
                0
            }
        }
    }

    /// `a[i] = v` with one plain index.
    fn element_write(&mut self, n: &prism::CallNode<'pr>, receiver: &Node<'pr>, name: Sym, flags: u16, at: u32, dest: Dest) -> Option<u16> {
        if name != sym::aset || n.block().is_some() || n.is_safe_navigation() {
            return None;
        }
        let arguments: Vec<Node<'pr>> = n.arguments()?.arguments().iter().collect();
        let [index, value] = arguments.as_slice() else { return None };
        if [index, value].iter().any(|n| matches!(n, Node::SplatNode { .. } | Node::KeywordHashNode { .. })) {
            return None;
        }
        let mark = self.f.top;
        // The value comes first in the frame, so that it can stay as the result.
        let kept = (dest != Dest::Discard).then(|| self.push());
        let end = value.location().end();
        let a = self.operand(receiver, Some((index.location().start(), end)));
        let b = self.operand(index, Some((value.location().start(), end)));
        let c = match kept {
            Some(k) => self.expr(value, Dest::Reg(k)),
            None => self.operand(value, None),
        };
        self.set_line(at);
        self.element_set(a, b, c, flags);
        match kept {
            Some(k) => Some(self.deliver(k, mark, dest)),
            None => {
                self.pop_to(mark);
                Some(0)
            }
        }
    }

    /// The group of two `a[b] = c`.
    pub(crate) fn element_set(&mut self, a: u16, b: u16, c: u16, flags: u16) {
        let base = self.f.top;
        self.reserve(3);
        self.f.asm.emit(Op::Aset, 0, a, b, c);
        let site = self.f.asm.site(CallSite { name: sym::aset, flags, argc: 2, child: NO_BLOCK, keywords: NO_KEYWORDS });
        self.f.asm.emit(Op::Send, 2, base, 0, site);
    }

    /// A call without block on a value in a register, for lowering's own use; the arguments stand in registers.
    pub(crate) fn send_regs(&mut self, receiver: u16, name: Sym, args: &[u16], flags: u16, dest: Dest) -> u16 {
        let base = self.push();
        self.f.asm.mov(base, receiver);
        for a in args {
            let r = self.push();
            self.f.asm.mov(r, *a);
        }
        let p = Pushed { argc: args.len() as u8, flags: 0, block: NO_BLOCK, keywords: NO_KEYWORDS };
        self.send(base, name, p, flags);
        self.deliver(base, base, dest)
    }

    // ---- blocks ----

    pub(crate) fn lambda(&mut self, n: &prism::LambdaNode<'pr>, dest: Dest) -> u16 {
        if dest == Dest::Discard {
            return 0;
        }
        let whole = n.location();
        let child = self.block_code_opened((whole.start(), n.opening_loc().start(), whole.end()), n.parameters(), n.body());
        self.set_line(n.location().start());
        let d = self.out(dest);
        self.f.asm.emit(Op::NewProc, 1, d, child, 0);
        d
    }

    pub(crate) fn scope_kind(&self) -> Kind {
        self.scopes.list[self.f.scope].kind
    }

    /// The variable that holds the block of the method around, when the code stands in a block of it (or in an eval).
    pub(crate) fn method_block(&self) -> Option<(usize, usize)> {
        if self.scope_kind() == Kind::Method { None } else { self.scopes.find(self.f.scope, sym::block_var) }
    }

    pub(crate) fn block_given(&mut self, dest: Dest) -> u16 {
        if dest == Dest::Discard {
            return 0;
        }
        if self.scope_kind() == Kind::Method {
            return self.simple(Op::BlockGiven, dest);
        }
        let root = self.scopes.root_of(self.f.scope);
        match self.method_block() {
            Some((scope, var)) => self.with_temp(dest, |c, d| {
                c.load_var(scope, var, Dest::Reg(d));
                let given = c.f.asm.label();
                c.f.asm.jump_op(Op::JumpNil, d, given);
                c.f.asm.emit(Op::LoadTrue, 0, d, 0, 0);
                let end = c.f.asm.label();
                c.f.asm.jump(end);
                c.f.asm.bind(given);
                c.f.asm.emit(Op::LoadFalse, 0, d, 0, 0);
                c.f.asm.bind(end);
            }),
            None if self.scopes.list[root].kind == Kind::Outer => self.intrinsic(Intrinsic::DefinedYield, 0, dest),
            None => self.simple(Op::LoadFalse, dest),
        }
    }

    pub(crate) fn yield_(&mut self, n: &prism::YieldNode<'pr>, dest: Dest) -> u16 {
        let at = n.location().start();
        let root = self.scopes.root_of(self.f.scope);
        if self.scopes.list[root].kind != Kind::Method && !self.scopes.list[root].in_method {
            return self.refuse(at, "Invalid yield", dest);
        }
        let mark = self.push();
        let base = mark;
        if self.scope_kind() == Kind::Method {
            let p = self.call_arguments(n.arguments().as_ref(), None);
            self.set_line(at);
            self.emit_yield(base, &p);
            return self.deliver(base, mark, dest);
        }
        self.set_line(at);
        match self.method_block() {
            Some((scope, var)) => self.load_var(scope, var, Dest::Reg(base)),
            None => self.simple(Op::LoadNil, Dest::Reg(base)),
        };
        let p = self.call_arguments(n.arguments().as_ref(), None);
        self.set_line(at);
        // Arguments are evaluated before it counts whether there is a block.
        self.f.asm.emit(Op::Intrinsic, Intrinsic::YieldCheck as u8, base, 0, 1);
        let site = self.f.asm.site(CallSite {
            name: sym::call,
            flags: p.flags | call_flags::YIELD,
            argc: p.argc,
            child: NO_BLOCK,
            keywords: p.keywords,
        });
        self.f.asm.emit(if p.simple() { Op::Send } else { Op::SendX }, p.argc, base, 0, site);
        self.deliver(base, mark, dest)
    }

    // ---- super ----

    fn emit_super(&mut self, base: u16, mut p: Pushed, flags: u16, dest: Dest, mark: u16) -> u16 {
        // What is passed in any case.
        p.flags &= !call_flags::OWN_BLOCK;
        // In a block the frame's own block is not the method's.
        if p.block == NO_BLOCK
            && p.flags & call_flags::BLOCKARG == 0
            && let Some((scope, var)) = self.method_block()
        {
            self.load_var(scope, var, Dest::Push);
            p.flags |= call_flags::BLOCKARG;
        }
        let name = self.f.name;
        let site = self.f.asm.site(CallSite {
            name,
            flags: flags | p.flags | call_flags::FCALL,
            argc: p.argc,
            child: p.block,
            keywords: p.keywords,
        });
        self.f.asm.emit(if p.simple() { Op::Super } else { Op::SuperX }, p.argc, base, 0, site);
        self.deliver(base, mark, dest)
    }

    pub(crate) fn super_(&mut self, n: &prism::SuperNode<'pr>, dest: Dest) -> u16 {
        let mark = self.f.top;
        let block = n.block();
        let base = self.window(block.as_ref());
        self.push();
        let mut p = self.call_arguments(n.arguments().as_ref(), block.as_ref());
        self.block(&mut p, block.as_ref());
        self.set_line(n.location().start());
        self.emit_super(base, p, 0, dest, mark)
    }

    /// `super` without arguments passes the method's parameters as they are now.
    /// What a parameter holds, for an implicit `super`: nil where it is not set yet, in the default of one before it.
    fn push_parameter(&mut self, root: usize, var: usize) -> u16 {
        let reg = self.load_var(root, var, Dest::Push);
        if self.f.in_defaults {
            let set = self.f.asm.label();
            self.f.asm.jump_op(Op::JumpDef, reg, set);
            self.f.asm.emit(Op::LoadNil, 0, reg, 0, 0);
            self.f.asm.bind(set);
        }
        reg
    }
    pub(crate) fn zsuper(&mut self, n: &prism::ForwardingSuperNode<'pr>, dest: Dest) -> u16 {
        let root = self.scopes.root_of(self.f.scope);
        let known = self.method_params.get(&root).is_some_and(|p| p.registers() as usize == self.scopes.list[root].params.len());
        if self.scopes.list[root].kind != Kind::Method && !known {
            let what = match self.scopes.list[root].in_method {
                // The method keeps its parameters where only itself finds them (`proc.binding`).
                true => "implicit argument passing of super from eval needs the method's own binding. Specify all arguments explicitly.",
                false => {
                    "implicit argument passing of super from method defined by define_method() is not supported. \
                     Specify all arguments explicitly."
                }
            };
            return self.raise_runtime_error(what, dest);
        }
        let mark = self.f.top;
        let block = n.block().map(|b| b.as_node());
        let base = self.window(block.as_ref());
        self.push();
        let params = self.method_params.get(&root).cloned().unwrap_or_default();
        let vars = self.scopes.list[root].params.clone();
        let mut p = Pushed { argc: 0, flags: 0, block: NO_BLOCK, keywords: NO_KEYWORDS };
        let positional = (params.required + params.optional) as usize;
        let post = params.post_start() as usize - 1;
        if params.rest && params.post == 0 && positional < MAX_ARGC {
            for var in &vars[..positional] {
                self.push_parameter(root, *var);
            }
            self.load_var(root, vars[params.rest_reg() as usize - 1], Dest::Push);
            // A variable may hold anything by now.
            self.f.asm.emit(Op::Intrinsic, Intrinsic::SplatLent as u8, self.f.top - 1, 0, 1);
            p.argc = positional as u8 + 1;
            p.flags |= call_flags::SPLAT;
        } else if params.rest || positional + params.post as usize > MAX_ARGC {
            let array = self.f.top;
            for var in &vars[..positional] {
                self.push_parameter(root, *var);
            }
            self.pop_to(array);
            self.push();
            self.f.asm.emit(Op::NewArray, 0, array, array, positional as u16);
            if params.rest {
                let t = self.load_var(root, vars[params.rest_reg() as usize - 1], Dest::Any);
                self.f.asm.emit(Op::ArrayConcat, 0, array, t, 0);
                self.pop_to(array + 1);
            }
            for var in &vars[post..post + params.post as usize] {
                let t = self.load_var(root, *var, Dest::Any);
                self.f.asm.emit(Op::ArrayPush, 0, array, t, 0);
                self.pop_to(array + 1);
            }
            p.argc = 1;
            p.flags |= call_flags::SPLAT | call_flags::SPLAT_FRESH;
        } else {
            for var in vars[..positional].iter().chain(&vars[post..post + params.post as usize]) {
                self.push_parameter(root, *var);
                p.argc += 1;
            }
        }
        let at = params.keyword_start() as usize - 1;
        if params.kwrest == KwRest::Named {
            let rest = self.load_var(root, vars[params.kwrest_reg() as usize - 1], Dest::Push);
            self.f.asm.emit(Op::Intrinsic, Intrinsic::ToHash as u8, rest, 0, 1);
            p.flags |= call_flags::KW;
            if !params.keywords.is_empty() {
                let hash = self.push();
                self.f.asm.emit(Op::NewHash, 0, hash, hash, 0);
                self.f.asm.emit(Op::HashMerge, 0, hash, rest, 0);
                for (i, k) in params.keywords.iter().enumerate() {
                    let key = self.load_sym(k.name, Dest::Push);
                    let value = self.push_parameter(root, vars[at + i]);
                    self.f.asm.emit(Op::HashSet, 0, hash, key, value);
                    self.pop_to(hash + 1);
                }
                self.f.asm.mov(rest, hash);
                self.pop_to(rest + 1);
                p.flags |= call_flags::KW_FRESH;
            }
        } else if params.takes_keywords() && params.keywords.len() <= MAX_KEYWORDS {
            for i in 0..params.keywords.len() {
                self.push_parameter(root, vars[at + i]);
            }
            p.keywords = self.f.asm.keyword_list(params.keywords.iter().map(|k| k.name).collect());
            p.flags |= call_flags::KW | call_flags::KW_NAMES;
        } else if params.takes_keywords() {
            let first = self.f.top;
            for (i, k) in params.keywords.iter().enumerate() {
                self.load_sym(k.name, Dest::Push);
                self.push_parameter(root, vars[at + i]);
            }
            self.pop_to(first);
            self.push();
            self.f.asm.emit(Op::NewHash, 0, first, first, params.keywords.len() as u16 * 2);
            p.flags |= call_flags::KW | call_flags::KW_FRESH;
        }
        self.block(&mut p, block.as_ref());
        self.set_line(n.location().start());
        self.emit_super(base, p, call_flags::ZSUPER, dest, mark)
    }

    fn raise_runtime_error(&mut self, message: &str, dest: Dest) -> u16 {
        let base = self.push();
        self.get_const(Sym::intern("RuntimeError"), true, Dest::Push);
        let m = self.push();
        self.load_str(message.as_bytes(), m);
        let site =
            self.f.asm.site(CallSite { name: sym::raise, flags: call_flags::FCALL, argc: 2, child: NO_BLOCK, keywords: NO_KEYWORDS });
        self.f.asm.emit(Op::SendSelf, 2, base, 0, site);
        self.deliver(base, base, dest)
    }
}
