//! Pattern matching: `case`/`in`, `value => pattern`, `value in pattern`.
//!
//! A pattern is code that falls through when it matches and jumps to a label when it does not. With a single pattern Ruby
//! explains the failure; the explanation (kind and operands) is left in registers on the way out, on the failing path only.

use crate::branches;
use crate::emit::Label;
use crate::expr::cast;
use crate::unit::{Compiler, Dest};
use ruby_prism as prism;
use ruby_prism::Node;
use zakuro_base::{Sym, sym};
use zakuro_bytecode::{Const, Intrinsic, Op};

/// Why a single pattern failed; `NoMatchingPatternDetail` words it.
#[derive(Clone, Copy)]
enum Failure {
    /// "%p === %p does not return true"
    NotEqual = 1,
    /// "%p does not respond to #deconstruct"
    NoDeconstruct = 2,
    /// "%p length mismatch (given %p, expected %p)"
    Length = 3,
    /// the same with "expected %p+"
    LengthAtLeast = 4,
    /// "%p does not match to find pattern"
    Find = 5,
    /// "%p does not respond to #deconstruct_keys"
    NoDeconstructKeys = 6,
    /// "key not found: %p": NoMatchingPatternKeyError
    Key = 7,
    /// "%p is not empty"
    NotEmpty = 8,
    /// "rest of %p is not empty"
    RestNotEmpty = 9,
    /// "guard clause does not return true"
    Guard = 10,
}

/// One `case`/`in` or `=>` being lowered.
#[derive(Clone, Copy)]
struct Matching {
    /// First of three registers for the explanation of a failure: kind, and two operands. Single patterns only.
    failure: Option<u16>,
    /// Register that keeps the result of `deconstruct` of the subject.
    cache: Option<u16>,
}

impl Matching {
    /// For a part of the subject.
    fn inner(self) -> Matching {
        Matching { cache: None, ..self }
    }
}

impl<'pr> Compiler<'pr> {
    fn matching(&mut self, explain: bool) -> Matching {
        let cache = Some(self.simple(Op::LoadUndef, Dest::Push));
        let failure = explain.then(|| {
            let first = self.load_int(0, Dest::Push);
            self.nil(Dest::Push);
            self.nil(Dest::Push);
            first
        });
        Matching { failure, cache }
    }

    fn fail(&mut self, m: Matching, why: Failure, a: Option<u16>, b: Option<u16>, to: Label) {
        if let Some(first) = m.failure {
            self.f.asm.emit_imm(Op::LoadInt, first, why as i32);
            if let Some(a) = a {
                self.f.asm.mov(first + 1, a);
            }
            if let Some(b) = b {
                self.f.asm.mov(first + 2, b);
            }
        }
        self.f.asm.jump(to);
    }

    /// Fails unless the truth of register `r` is `sense`.
    fn require(&mut self, r: u16, sense: bool, m: Matching, why: Failure, a: Option<u16>, b: Option<u16>, fail: Label) {
        if m.failure.is_none() {
            return self.branch_register(r, !sense, fail, false);
        }
        let ok = self.f.asm.label();
        self.branch_register(r, sense, ok, false);
        self.fail(m, why, a, b, fail);
        self.f.asm.bind(ok);
    }

    /// Fails when register `r` is nil.
    fn require_some(&mut self, r: u16, m: Matching, why: Failure, subject: u16, fail: Label) {
        if m.failure.is_none() {
            return self.f.asm.jump_op(Op::JumpNil, r, fail);
        }
        let ok = self.f.asm.label();
        self.f.asm.jump_op(Op::JumpNotNil, r, ok);
        self.fail(m, why, Some(subject), None, fail);
        self.f.asm.bind(ok);
    }

    pub(crate) fn case_match(&mut self, n: &prism::CaseMatchNode<'pr>, dest: Dest) -> u16 {
        let mark = self.f.top;
        let arm = if dest == Dest::Any { Dest::Push } else { dest };
        let result = (arm == Dest::Push).then(|| self.push());
        let arm = result.map_or(arm, Dest::Reg);
        let subject = self.body(n.predicate().as_ref(), Dest::Push);
        let conditions: Vec<prism::InNode<'pr>> = n.conditions().iter().filter_map(|c| c.as_in_node()).collect();
        let explain = conditions.len() == 1 && n.else_clause().is_none();
        let m = self.matching(explain);
        let whole = branches::range(&n.location());
        let mut arms: Vec<_> =
            conditions.iter().map(|c| ("in", branches::statements_or(c.statements().as_ref(), branches::range(&c.location())))).collect();
        arms.push(("else", branches::otherwise(n.else_clause().map(|e| e.as_node()).as_ref(), whole)));
        let mut counter = self.branch_arms("case", whole, &arms);
        let inner = self.f.top;
        let end = self.f.asm.label();
        for clause in &conditions {
            let next = self.f.asm.label();
            self.set_line(clause.location().start());
            self.pattern(&clause.pattern(), subject, m, next);
            self.pop_to(inner);
            self.count_arm(counter);
            counter = counter.map(|n| n + 1);
            self.statements_opt(clause.statements().as_ref(), arm);
            self.f.asm.jump(end);
            self.f.asm.bind(next);
            self.pop_to(inner);
        }
        self.count_arm(counter);
        match n.else_clause() {
            Some(e) => {
                self.statements_opt(e.statements().as_ref(), arm);
            }
            None => {
                self.set_line(n.location().start());
                self.no_match(subject, m);
            }
        }
        self.f.asm.bind(end);
        match result {
            Some(r) => self.deliver(r, mark, Dest::Push),
            None => {
                self.pop_to(mark);
                if let Dest::Reg(r) = arm { r } else { 0 }
            }
        }
    }

    fn no_match(&mut self, subject: u16, m: Matching) {
        let t = self.push();
        self.f.asm.mov(t, subject);
        match m.failure {
            None => self.f.asm.emit(Op::Intrinsic, Intrinsic::NoMatchingPattern as u8, t, 0, 1),
            Some(first) => {
                for i in 0..3 {
                    let r = self.push();
                    self.f.asm.mov(r, first + i);
                }
                self.f.asm.emit(Op::Intrinsic, Intrinsic::NoMatchingPatternDetail as u8, t, 0, 4);
            }
        }
        self.pop_to(t);
    }

    /// `value => pattern`
    pub(crate) fn match_required(&mut self, n: &prism::MatchRequiredNode<'pr>, dest: Dest) -> u16 {
        let mark = self.f.top;
        let subject = self.expr(&n.value(), Dest::Push);
        let m = self.matching(true);
        let (fail, end) = (self.f.asm.label(), self.f.asm.label());
        self.pattern(&n.pattern(), subject, m, fail);
        self.f.asm.jump(end);
        self.f.asm.bind(fail);
        self.set_line(n.location().start());
        self.no_match(subject, m);
        self.f.asm.bind(end);
        self.pop_to(mark);
        self.nil(dest)
    }

    /// `value in pattern`
    pub(crate) fn match_predicate(&mut self, n: &prism::MatchPredicateNode<'pr>, dest: Dest) -> u16 {
        self.with_temp(dest, |c, d| {
            let mark = c.f.top;
            let subject = c.expr(&n.value(), Dest::Push);
            let m = c.matching(false);
            let (fail, end) = (c.f.asm.label(), c.f.asm.label());
            c.pattern(&n.pattern(), subject, m, fail);
            c.f.asm.emit(Op::LoadTrue, 0, d, 0, 0);
            c.f.asm.jump(end);
            c.f.asm.bind(fail);
            c.f.asm.emit(Op::LoadFalse, 0, d, 0, 0);
            c.f.asm.bind(end);
            c.pop_to(mark);
        })
    }

    fn pattern(&mut self, n: &Node<'pr>, subject: u16, m: Matching, fail: Label) {
        let mark = self.f.top;
        match n {
            Node::ArrayPatternNode { .. } => self.array_pattern(&cast!(n, as_array_pattern_node), subject, m, fail),
            Node::FindPatternNode { .. } => self.find_pattern(&cast!(n, as_find_pattern_node), subject, m, fail),
            Node::HashPatternNode { .. } => self.hash_pattern(&cast!(n, as_hash_pattern_node), subject, m, fail),
            Node::AlternationPatternNode { .. } => {
                let n = cast!(n, as_alternation_pattern_node);
                let (other, end) = (self.f.asm.label(), self.f.asm.label());
                self.pattern(&n.left(), subject, m, other);
                self.f.asm.jump(end);
                self.f.asm.bind(other);
                self.pattern(&n.right(), subject, m, fail);
                self.f.asm.bind(end);
            }
            Node::CapturePatternNode { .. } => {
                let n = cast!(n, as_capture_pattern_node);
                self.pattern(&n.value(), subject, m, fail);
                let t = self.target(&n.target().as_node());
                self.store(&t, subject);
            }
            Node::LocalVariableTargetNode { .. } => {
                let t = self.target(n);
                self.store(&t, subject);
            }
            Node::ImplicitNode { .. } => self.pattern(&cast!(n, as_implicit_node).value(), subject, m, fail),
            Node::ParenthesesNode { .. } => match cast!(n, as_parentheses_node).body() {
                Some(body) => self.pattern(&body, subject, m, fail),
                None => self.value_pattern(n, subject, m, fail),
            },
            Node::StatementsNode { .. } => match cast!(n, as_statements_node).body().first() {
                Some(only) => self.pattern(&only, subject, m, fail),
                None => self.value_pattern(n, subject, m, fail),
            },
            // A guard: the pattern is the body of a modifier.
            Node::IfNode { .. } => {
                let n = cast!(n, as_if_node);
                self.guard(&n.predicate(), n.statements(), true, subject, m, fail);
            }
            Node::UnlessNode { .. } => {
                let n = cast!(n, as_unless_node);
                self.guard(&n.predicate(), n.statements(), false, subject, m, fail);
            }
            Node::PinnedVariableNode { .. } => self.value_pattern(&cast!(n, as_pinned_variable_node).variable(), subject, m, fail),
            Node::PinnedExpressionNode { .. } => self.value_pattern(&cast!(n, as_pinned_expression_node).expression(), subject, m, fail),
            _ => self.value_pattern(n, subject, m, fail),
        }
        self.pop_to(mark);
    }

    fn guard(
        &mut self,
        condition: &Node<'pr>,
        pattern: Option<prism::StatementsNode<'pr>>,
        sense: bool,
        subject: u16,
        m: Matching,
        fail: Label,
    ) {
        if let Some(p) = pattern {
            self.pattern(&p.as_node(), subject, m, fail);
        }
        if m.failure.is_none() {
            return self.branch(condition, !sense, fail, false);
        }
        let ok = self.f.asm.label();
        self.branch(condition, sense, ok, false);
        self.fail(m, Failure::Guard, None, None, fail);
        self.f.asm.bind(ok);
    }

    /// Anything that is compared with `===`.
    fn value_pattern(&mut self, n: &Node<'pr>, subject: u16, m: Matching, fail: Label) {
        self.set_line(n.location().start());
        let pattern = match n.as_string_node() {
            Some(s) => self.frozen_string(&s, Dest::Push),
            None => self.expr(n, Dest::Any),
        };
        let t = self.push();
        self.group(Op::CaseEq, sym::eqq, zakuro_bytecode::call_flags::FCALL, t, pattern, subject);
        self.require(t, true, m, Failure::NotEqual, Some(pattern), Some(subject), fail);
    }

    fn constant_check(&mut self, constant: Option<Node<'pr>>, subject: u16, m: Matching, fail: Label) {
        if let Some(c) = constant {
            let mark = self.f.top;
            self.value_pattern(&c, subject, m, fail);
            self.pop_to(mark);
        }
    }

    /// The Array that `deconstruct` gives, pushed.
    fn deconstruct(&mut self, subject: u16, m: Matching, fail: Label) -> u16 {
        let list = match m.cache {
            Some(cache) => {
                let known = self.f.asm.label();
                self.f.asm.jump_op(Op::JumpDef, cache, known);
                let t = self.push();
                self.f.asm.mov(t, subject);
                self.f.asm.emit(Op::Intrinsic, Intrinsic::Deconstruct as u8, t, 0, 1);
                self.f.asm.mov(cache, t);
                self.pop_to(t);
                self.f.asm.bind(known);
                cache
            }
            None => {
                let t = self.push();
                self.f.asm.mov(t, subject);
                self.f.asm.emit(Op::Intrinsic, Intrinsic::Deconstruct as u8, t, 0, 1);
                t
            }
        };
        self.require_some(list, m, Failure::NoDeconstruct, subject, fail);
        list
    }

    fn array_length(&mut self, list: u16) -> u16 {
        let t = self.push();
        self.f.asm.mov(t, list);
        self.f.asm.emit(Op::Intrinsic, Intrinsic::ArrayLength as u8, t, 0, 1);
        t
    }

    /// Fails unless `length` is `count` (or more).
    fn check_length(&mut self, list: u16, length: u16, count: usize, or_more: bool, m: Matching, fail: Label) {
        let count = i16::try_from(count).unwrap_or_else(|_| {
            self.f.asm.too_big = true;
            0
        });
        if count == 0 && or_more {
            return;
        }
        let test = if or_more { sym::ge } else { sym::eq };
        if m.failure.is_none() {
            return self.branch_int(length, test, count, false, fail);
        }
        let ok = self.f.asm.label();
        self.branch_int(length, test, count, true, ok);
        if let Some(first) = m.failure {
            // given and expected travel as one Array
            let t = self.push();
            self.f.asm.mov(t, length);
            self.load_int(count as i64, Dest::Push);
            self.f.asm.emit(Op::NewArray, 0, first + 2, t, 2);
            self.pop_to(t);
        }
        self.fail(m, if or_more { Failure::LengthAtLeast } else { Failure::Length }, Some(list), None, fail);
        self.f.asm.bind(ok);
    }

    /// Pushes the element of `list` at `index`, given by a register or a number.
    fn element(&mut self, list: u16, index: Result<u16, i64>) -> u16 {
        let t = self.push();
        self.f.asm.mov(t, list);
        match index {
            Ok(r) => {
                let i = self.push();
                self.f.asm.mov(i, r);
            }
            Err(i) => {
                self.load_int(i, Dest::Push);
            }
        }
        self.f.asm.emit(Op::Intrinsic, Intrinsic::ArrayAt as u8, t, 0, 2);
        self.pop_to(t + 1);
        t
    }

    fn array_pattern(&mut self, n: &prism::ArrayPatternNode<'pr>, subject: u16, m: Matching, fail: Label) {
        self.constant_check(n.constant(), subject, m, fail);
        let requireds: Vec<Node<'pr>> = n.requireds().iter().collect();
        let posts: Vec<Node<'pr>> = n.posts().iter().collect();
        let list = self.deconstruct(subject, m, fail);
        let length = self.array_length(list);
        let count = requireds.len() + posts.len();
        self.check_length(list, length, count, n.rest().is_some(), m, fail);
        let m = m.inner();
        for (i, p) in requireds.iter().enumerate() {
            let e = self.element(list, Err(i as i64));
            self.pattern(p, e, m, fail);
            self.pop_to(e);
        }
        if let Some(target) = n.rest().and_then(|r| r.as_splat_node()).and_then(|s| s.expression()) {
            let t = self.push();
            self.f.asm.mov(t, list);
            self.load_int(requireds.len() as i64, Dest::Push);
            let rest = self.push();
            self.sub_int(rest, length, count);
            self.f.asm.emit(Op::Intrinsic, Intrinsic::ArraySlice as u8, t, 0, 3);
            self.pop_to(t + 1);
            self.pattern(&target, t, m, fail);
            self.pop_to(t);
        }
        for (i, p) in posts.iter().enumerate() {
            let e = self.element(list, Err(i as i64 - posts.len() as i64));
            self.pattern(p, e, m, fail);
            self.pop_to(e);
        }
    }

    /// to <- from - n
    fn sub_int(&mut self, to: u16, from: u16, n: usize) {
        self.group(Op::SubI, sym::sub, 0, to, from, n as u16);
    }

    fn find_pattern(&mut self, n: &prism::FindPatternNode<'pr>, subject: u16, m: Matching, fail: Label) {
        self.constant_check(n.constant(), subject, m, fail);
        let requireds: Vec<Node<'pr>> = n.requireds().iter().collect();
        let list = self.deconstruct(subject, m, fail);
        let length = self.array_length(list);
        self.check_length(list, length, requireds.len(), true, m, fail);
        let last = self.push();
        self.sub_int(last, length, requireds.len());
        let i = self.load_int(0, Dest::Push);
        let (again, next, found) = (self.f.asm.here(), self.f.asm.label(), self.f.asm.label());
        let inner = Matching { failure: None, cache: None };
        for (k, p) in requireds.iter().enumerate() {
            let at = self.push();
            match k {
                0 => self.f.asm.mov(at, i),
                _ => self.group(Op::AddI, sym::add, 0, at, i, k as u16),
            }
            let e = self.element(list, Ok(at));
            self.pattern(p, e, inner, next);
            self.pop_to(at);
        }
        self.f.asm.jump(found);
        self.f.asm.bind(next);
        self.group(Op::AddI, sym::add, 0, i, i, 1);
        let over = self.f.asm.label();
        self.branch_regs(i, sym::le, last, false, over);
        self.f.asm.jump_op(Op::Loop, 0, again);
        self.f.asm.bind(over);
        self.fail(m, Failure::Find, Some(list), None, fail);
        self.f.asm.bind(found);
        let m = m.inner();
        if let Some(target) = n.left().expression() {
            let t = self.push();
            self.f.asm.mov(t, list);
            self.load_int(0, Dest::Push);
            let count = self.push();
            self.f.asm.mov(count, i);
            self.f.asm.emit(Op::Intrinsic, Intrinsic::ArraySlice as u8, t, 0, 3);
            self.pop_to(t + 1);
            self.pattern(&target, t, m, fail);
            self.pop_to(t);
        }
        if let Some(target) = n.right().expression() {
            let t = self.push();
            self.f.asm.mov(t, list);
            let start = self.push();
            self.group(Op::AddI, sym::add, 0, start, i, requireds.len() as u16);
            let count = self.push();
            self.group(Op::Sub, sym::sub, 0, count, length, start);
            self.f.asm.emit(Op::Intrinsic, Intrinsic::ArraySlice as u8, t, 0, 3);
            self.pop_to(t + 1);
            self.pattern(&target, t, m, fail);
            self.pop_to(t);
        }
    }

    fn hash_pattern(&mut self, n: &prism::HashPatternNode<'pr>, subject: u16, m: Matching, fail: Label) {
        self.constant_check(n.constant(), subject, m, fail);
        let pairs: Vec<prism::AssocNode<'pr>> = n.elements().iter().filter_map(|e| e.as_assoc_node()).collect();
        let keys: Vec<Sym> = pairs.iter().map(|p| self.symbol(&p.key())).collect();
        let rest = n.rest();
        let refuses_rest = matches!(rest, Some(Node::NoKeywordsParameterNode { .. }));
        let rest_target = rest.as_ref().and_then(|r| r.as_assoc_splat_node());
        let constant_keys = Const::Array(keys.iter().map(|k| Const::Sym(*k)).collect());

        let hash = self.push();
        self.f.asm.mov(hash, subject);
        // All keys are asked for where some may be left over that the pattern has something to say of, and by an empty one.
        let all = match (&rest, &rest_target) {
            (None, _) => keys.is_empty(),
            (Some(_), Some(r)) => r.value().is_some(),
            (Some(_), None) => true,
        };
        match all {
            true => self.nil(Dest::Push),
            false => self.load_const(constant_keys.clone(), Dest::Push),
        };
        self.f.asm.emit(Op::Intrinsic, Intrinsic::DeconstructKeys as u8, hash, 0, 2);
        self.pop_to(hash + 1);
        self.require_some(hash, m, Failure::NoDeconstructKeys, subject, fail);
        let inner = m.inner();
        for (pair, key) in pairs.iter().zip(&keys) {
            let v = self.push();
            self.f.asm.mov(v, hash);
            let k = self.load_sym(*key, Dest::Push);
            self.f.asm.emit(Op::Intrinsic, Intrinsic::HashFetchOrUndef as u8, v, 0, 2);
            let found = self.f.asm.label();
            self.f.asm.jump_op(Op::JumpDef, v, found);
            if m.failure.is_some() {
                self.load_sym(*key, Dest::Reg(k));
            }
            self.fail(m, Failure::Key, Some(hash), Some(k), fail);
            self.f.asm.bind(found);
            self.pop_to(v + 1);
            self.pattern(&pair.value(), v, inner, fail);
            self.pop_to(v);
        }
        if refuses_rest || (pairs.is_empty() && rest.is_none()) {
            let left = self.push();
            self.f.asm.mov(left, hash);
            self.load_const(constant_keys, Dest::Push);
            self.f.asm.emit(Op::Intrinsic, Intrinsic::HashExcept as u8, left, 0, 2);
            self.pop_to(left + 1);
            let empty = self.push();
            self.group(Op::EmptyP, sym::empty_p, 0, empty, left, 0);
            let why = if refuses_rest { Failure::RestNotEmpty } else { Failure::NotEmpty };
            self.require(empty, true, m, why, Some(left), None, fail);
            self.pop_to(left);
        } else if let Some(target) = rest_target.and_then(|r| r.value()) {
            let left = self.push();
            self.f.asm.mov(left, hash);
            self.load_const(constant_keys, Dest::Push);
            self.f.asm.emit(Op::Intrinsic, Intrinsic::HashExcept as u8, left, 0, 2);
            self.pop_to(left + 1);
            self.pattern(&target, left, inner, fail);
            self.pop_to(left);
        }
    }
}
