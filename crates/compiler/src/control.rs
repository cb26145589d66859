//! Branches, loops and jumps.

use crate::branches;
use crate::emit::{HeldStatements, Label};
use crate::expr::cast;
use crate::literal::small_int;
use crate::scope::Kind;
use crate::unit::{Compiler, Control, Dest, Exit, ExitTo, Leap};
use ruby_prism as prism;
use ruby_prism::Node;
use zakuro_base::{Sym, sym};
use zakuro_bytecode::{Intrinsic, Op};

impl<'pr> Compiler<'pr> {
    /// Two ways to a value: both leave it in the same place.
    pub(crate) fn two_arms(
        &mut self,
        dest: Dest,
        otherwise: Label,
        first: impl FnOnce(&mut Self, Dest),
        second: impl FnOnce(&mut Self, Dest),
    ) -> u16 {
        let end = self.f.asm.label();
        let mark = self.f.top;
        let arm = if dest == Dest::Any { Dest::Push } else { dest };
        first(self, arm);
        self.f.asm.jump(end);
        self.pop_to(mark);
        self.f.asm.bind(otherwise);
        second(self, arm);
        self.f.asm.bind(end);
        match arm {
            Dest::Push => {
                self.pop_to(mark);
                self.push()
            }
            Dest::Reg(r) => r,
            _ => 0,
        }
    }

    pub(crate) fn conditional(&mut self, n: &Node<'pr>, dest: Dest) -> u16 {
        let (predicate, statements, otherwise, sense) = match n {
            Node::IfNode { .. } => {
                let n = cast!(n, as_if_node);
                (n.predicate(), n.statements(), n.subsequent(), false)
            }
            _ => {
                let n = cast!(n, as_unless_node);
                (n.predicate(), n.statements(), n.else_clause().map(|e| e.as_node()), true)
            }
        };
        // It is one wherever it stands.
        self.begin_statement(n);
        let known = branches::is_known(&predicate);
        if self.branches.is_some() && !known {
            return self.counted_conditional(n, (&predicate, statements.as_ref(), otherwise.as_ref(), sense), dest);
        }
        let truth = !matches!(predicate, Node::FalseNode { .. } | Node::NilNode { .. });
        let mut held = self.hold_if(known);
        let other = self.f.asm.label();
        if dest == Dest::Discard && otherwise.is_none() {
            self.branch(&predicate, sense, other, false);
            self.perhaps_dead(known && truth == sense, &mut held, |c| c.statements_opt(statements.as_ref(), Dest::Discard));
            self.f.asm.bind(other);
            self.f.asm.release_statements(&mut held);
            return 0;
        }
        if dest == Dest::Discard && statements.is_none() {
            self.branch(&predicate, !sense, other, false);
            self.perhaps_dead(known && truth != sense, &mut held, |c| c.body(otherwise.as_ref(), Dest::Discard));
            self.f.asm.bind(other);
            self.f.asm.release_statements(&mut held);
            return 0;
        }
        self.branch(&predicate, sense, other, false);
        let held = std::cell::RefCell::new(held);
        self.two_arms(
            dest,
            other,
            |c, d| {
                c.perhaps_dead(known && truth == sense, &mut held.borrow_mut(), |c| c.statements_opt(statements.as_ref(), d));
            },
            |c, d| {
                c.perhaps_dead(known && truth != sense, &mut held.borrow_mut(), |c| c.body(otherwise.as_ref(), d));
            },
        )
    }

    /// Of a conditional whose arm is known, what begins with it: the arm that is kept begins with that.
    pub(crate) fn hold_if(&mut self, known: bool) -> HeldStatements {
        if known { self.f.asm.hold_statements() } else { HeldStatements::default() }
    }

    /// Lowers an arm; one that may run begins with the statements `held`. What can never run has no counters, and no trace sees it.
    pub(crate) fn perhaps_dead<T>(&mut self, dead: bool, held: &mut HeldStatements, arm: impl FnOnce(&mut Self) -> T) {
        if !dead {
            self.f.asm.release_statements(held);
            arm(self);
            return;
        }
        let kept = self.branches.take();
        let seen = self.f.asm.statements.len();
        let unseen = std::mem::replace(&mut self.unseen, true);
        arm(self);
        self.unseen = unseen;
        self.branches = kept;
        self.f.asm.forget_statements(seen);
    }

    /// The same with a counter in each arm. The arm of a true condition comes first, as in CRuby's reports.
    fn counted_conditional(
        &mut self,
        n: &Node<'pr>,
        (predicate, statements, otherwise, sense): (&Node<'pr>, Option<&prism::StatementsNode<'pr>>, Option<&Node<'pr>>, bool),
        dest: Dest,
    ) -> u16 {
        let other = self.f.asm.label();
        self.branch(predicate, sense, other, false);
        let whole = branches::range(&n.location());
        let end = predicate.location().end();
        let then = ("then", branches::statements_or(statements, if sense { whole } else { (end, end) }));
        let not = ("else", branches::otherwise(otherwise, whole));
        let (kind, arms) = if sense { ("unless", [not, then]) } else { ("if", [then, not]) };
        let first = self.branch_arms(kind, whole, &arms);
        let [then, not] = if sense { [first.map(|n| n + 1), first] } else { [first, first.map(|n| n + 1)] };
        let from = self.branches_so_far();
        let mut to = from;
        let r = self.two_arms(
            dest,
            other,
            |c, d| {
                c.count_arm(then);
                c.statements_opt(statements, d);
                to = c.branches_so_far();
            },
            |c, d| {
                c.count_arm(not);
                c.body(otherwise, d);
            },
        );
        if sense {
            self.branches_later(from, to);
        }
        r
    }

    // ---- loops ----

    pub(crate) fn while_loop(
        &mut self,
        at: branches::Range,
        predicate: &Node<'pr>,
        statements: Option<prism::StatementsNode<'pr>>,
        sense: bool,
        body_first: bool,
        dest: Dest,
    ) -> u16 {
        let mark = self.f.top;
        let value = match dest {
            Dest::Discard => None,
            _ => Some(self.push()),
        };
        let (redo, next, brk) = (self.f.asm.label(), self.f.asm.label(), self.f.asm.label());
        let endless = match predicate {
            Node::TrueNode { .. } | Node::IntegerNode { .. } => sense,
            Node::FalseNode { .. } | Node::NilNode { .. } => !sense,
            _ => false,
        };
        let kind = if sense { "while" } else { "until" };
        let counter = self.branch_arms(kind, at, &[("body", branches::statements_or(statements.as_ref(), at))]);
        self.f.control.push(Control::Loop { brk, next, redo, value, tests: false });
        if !body_first && !endless {
            self.f.asm.jump(next);
        } else if statements.is_some() && self.f.asm.begins_statement() {
            // Else the body's first statement would take the loop's place.
            self.f.asm.jump(redo);
        }
        self.f.asm.bind(redo);
        self.count_arm(counter);
        self.statements_opt(statements.as_ref(), Dest::Discard);
        self.f.asm.bind(next);
        self.set_line(predicate.location().start());
        if let Some(Control::Loop { tests, .. }) = self.f.control.last_mut() {
            *tests = true;
        }
        self.branch(predicate, sense, redo, true);
        self.f.control.pop();
        if let Some(v) = value
            && self.f.asm.reachable()
        {
            self.f.asm.emit(Op::LoadNil, 0, v, 0, 0);
        }
        self.f.asm.bind(brk);
        match value {
            Some(v) => self.deliver(v, mark, dest),
            None => 0,
        }
    }

    /// `for` is `each` with a block whose parameters are then assigned to the targets.
    pub(crate) fn for_loop(&mut self, n: &prism::ForNode<'pr>, dest: Dest) -> u16 {
        let mark = self.f.top;
        self.push();
        self.push();
        let base = self.expr(&n.collection(), Dest::Push);
        let offset = n.location().start();
        let scope = self.scopes.at(offset);
        let (line, name) = (self.line_of(offset), self.f.name);
        let child = self.child(scope, |c| {
            let shape = crate::params::for_shape(&n.index());
            c.code(scope, name, line, shape.params, &|c, _| {
                match n.index().as_multi_target_node() {
                    None => match n.index().as_splat_node() {
                        // `for *list in lists`: as an assignment to `*list`.
                        Some(splat) => {
                            let list = c.push();
                            c.f.asm.emit(Op::Expand, 1, list, 1, 0);
                            if let Some(target) = splat.expression() {
                                let t = c.target(&target);
                                c.store(&t, list);
                            }
                        }
                        None => {
                            let t = c.target(&n.index());
                            c.store(&t, 1);
                        }
                    },
                    Some(m) => {
                        let rest = m.rest().and_then(|r| r.as_splat_node()).map(|s| s.expression());
                        let mut targets: Vec<Option<Node<'pr>>> = m.lefts().iter().map(Some).collect();
                        targets.extend(rest);
                        targets.extend(m.rights().iter().map(Some));
                        for (reg, target) in (1..).zip(&targets) {
                            let mark = c.f.top;
                            if let Some(target) = target {
                                let t = c.target(target);
                                c.store(&t, reg);
                            }
                            c.pop_to(mark);
                        }
                    }
                }
                c.pop_to(c.f.first_temp);
                let redo = c.f.asm.here();
                c.f.redo = Some(redo);
                c.tail_statements(n.statements());
            })
        });
        self.set_line(offset);
        let site = zakuro_bytecode::CallSite { name: sym::each, flags: 0, argc: 0, child, keywords: zakuro_bytecode::NO_KEYWORDS };
        let site = self.f.asm.site(site);
        self.f.asm.emit(Op::SendBlk, 0, base, 0, site);
        self.deliver(base, mark, dest)
    }

    // ---- jumps ----

    /// The value of a jump's arguments.
    fn jump_value(&mut self, arguments: Option<&prism::ArgumentsNode<'pr>>, dest: Dest) -> u16 {
        let nodes: Vec<Node<'pr>> = arguments.map(|a| a.arguments().iter().collect()).unwrap_or_default();
        match nodes.as_slice() {
            [] => self.nil(dest),
            [n] if !matches!(n, Node::SplatNode { .. }) => self.expr(n, dest),
            _ => self.array_of(&nodes, None, dest),
        }
    }

    /// Leaves the constructs above `exit.keep` and goes where `exit` says; `value` goes along. An ensure clause on the way is entered, and goes on from there.
    pub(crate) fn leave(&mut self, exit: Exit, value: u16) {
        let mut error = None;
        let mut clause = None;
        for (i, c) in self.f.control.iter().enumerate().skip(exit.keep).rev() {
            match c {
                Control::Ensure(_) => {
                    clause = Some(i);
                    break;
                }
                // The outermost one's is what counts.
                Control::RestoreErr { reg } => error = Some(*reg),
                Control::Loop { .. } | Control::Retry { .. } => {}
            }
        }
        if let Some(reg) = error {
            self.f.asm.emit(Op::SetErr, 0, reg, 0, 0);
        }
        match (clause, exit.to) {
            (Some(i), _) => self.through_clause(i, exit, value),
            (None, ExitTo::Forward(label)) => self.f.asm.jump(label),
            (None, ExitTo::Back(label)) => self.f.asm.jump_op(Op::Loop, 0, label),
            (None, ExitTo::Out(op)) => self.f.asm.emit(op, 0, value, 0, 0),
        }
    }

    fn runs_ensure(&self, keep: usize) -> bool {
        self.f.control[keep..].iter().any(|c| matches!(c, Control::Ensure(_)))
    }

    /// Evaluates the value of a jump out of this Code and leaves by `op`. A written `return` with no ensure clause around is marked: traces tell its line.
    fn exit(&mut self, arguments: Option<&prism::ArgumentsNode<'pr>>, op: Op, explicit: bool, at: u32, dest: Dest) -> u16 {
        let mark = self.f.top;
        let ensure = self.runs_ensure(0);
        let hold = if ensure { Dest::Push } else { Dest::Any };
        let v = self.jump_value(arguments, hold);
        self.set_line(at);
        if ensure && matches!(op, Op::ReturnBlock | Op::BreakBlock) {
            self.f.asm.emit(Op::Intrinsic, Intrinsic::JumpCheck as u8, v, u16::from(op == Op::BreakBlock), 1);
        }
        self.exit_with(v, op, explicit && !ensure);
        self.pop_to(mark);
        self.dead(dest)
    }

    /// Leaves by `op` with the value in a register.
    fn exit_with(&mut self, v: u16, op: Op, traced: bool) {
        if !traced {
            return self.leave(Exit { keep: 0, to: ExitTo::Out(op) }, v);
        }
        // No ensure clause is around.
        let outermost = self.f.control.iter().find_map(|c| if let Control::RestoreErr { reg } = c { Some(*reg) } else { None });
        if let Some(reg) = outermost {
            self.f.asm.emit(Op::SetErr, 0, reg, 0, 0);
        }
        self.f.asm.emit(op, 1, v, 0, 0);
    }

    /// The value of an expression that never gives one.
    fn dead(&mut self, dest: Dest) -> u16 {
        match dest {
            Dest::Push | Dest::Any => self.push(),
            Dest::Reg(r) => r,
            Dest::Discard => 0,
        }
    }

    fn innermost_loop(&self) -> Option<usize> {
        self.f.control.iter().rposition(|c| matches!(c, Control::Loop { .. }))
    }

    pub(crate) fn break_(&mut self, n: &prism::BreakNode<'pr>, dest: Dest) -> u16 {
        let at = n.location().start();
        let arguments = n.arguments();
        let Some(i) = self.innermost_loop() else {
            if self.scope_kind() == Kind::Class {
                return self.leap(arguments.as_ref(), Leap::Break, at, dest);
            }
            // A lambda literal returns.
            let op = if self.scope_kind() == Kind::Lambda { Op::Return } else { Op::BreakBlock };
            return self.exit(arguments.as_ref(), op, false, at, dest);
        };
        let Control::Loop { brk, value, .. } = self.f.control[i] else { return 0 };
        let mark = self.f.top;
        match value {
            Some(v) => self.jump_value(arguments.as_ref(), Dest::Reg(v)),
            None => self.jump_value(arguments.as_ref(), Dest::Discard),
        };
        self.leave(Exit { keep: i + 1, to: ExitTo::Forward(brk) }, 0);
        self.pop_to(mark);
        self.dead(dest)
    }

    pub(crate) fn next(&mut self, n: &prism::NextNode<'pr>, dest: Dest) -> u16 {
        let arguments = n.arguments();
        let Some(i) = self.innermost_loop() else {
            let at = n.location().start();
            if self.scope_kind() == Kind::Class {
                return self.leap(arguments.as_ref(), Leap::Next, at, dest);
            }
            return self.exit(arguments.as_ref(), Op::Return, false, at, dest);
        };
        let Control::Loop { next, tests, .. } = self.f.control[i] else { return 0 };
        self.jump_value(arguments.as_ref(), Dest::Discard);
        // In the condition it begins the condition anew.
        let to = if tests { ExitTo::Back(next) } else { ExitTo::Forward(next) };
        self.leave(Exit { keep: i + 1, to }, 0);
        self.dead(dest)
    }

    pub(crate) fn redo(&mut self, n: &Node<'pr>, dest: Dest) -> u16 {
        let (keep, target) = match self.innermost_loop() {
            Some(i) => match self.f.control[i] {
                Control::Loop { redo, .. } => (i + 1, Some(redo)),
                _ => (0, None),
            },
            None => (0, self.f.redo),
        };
        let Some(target) = target else { return self.refuse(n.location().start(), "Invalid redo", dest) };
        self.leave(Exit { keep, to: ExitTo::Back(target) }, 0);
        self.dead(dest)
    }

    pub(crate) fn retry(&mut self, n: &Node<'pr>, dest: Dest) -> u16 {
        let Some(i) = self.f.control.iter().rposition(|c| matches!(c, Control::Retry { .. })) else {
            // In a block or class body inside of a rescue clause.
            return self.refuse(n.location().start(), "Invalid retry", dest);
        };
        let Control::Retry { start } = self.f.control[i] else { return 0 };
        self.leave(Exit { keep: i + 1, to: ExitTo::Back(start) }, 0);
        self.dead(dest)
    }

    pub(crate) fn return_(&mut self, n: &prism::ReturnNode<'pr>, dest: Dest) -> u16 {
        let at = n.location().start();
        if self.scope_kind() == Kind::Class {
            // The parser lets it pass in `class << self` in a method, which it leaves.
            return self.leap(n.arguments().as_ref(), Leap::Return, at, dest);
        }
        if self.scope_kind() == Kind::Program && n.arguments().is_some() {
            let message = "argument of top-level return is ignored".to_string();
            self.warnings.push(crate::Warning { line: self.line_of(at), message, verbose: false });
        }
        let op = self.return_op();
        if op == Op::ReturnBlock && self.scopes.list[self.scopes.root_of(self.f.scope)].kind == Kind::Class {
            self.note_leap(Leap::Return);
        }
        self.exit(n.arguments().as_ref(), op, true, at, dest)
    }

    fn return_op(&self) -> Op {
        match self.scope_kind() {
            Kind::Block | Kind::For | Kind::Eval => Op::ReturnBlock,
            _ => Op::Return,
        }
    }

    /// Leaves a class body: what is behind it jumps on.
    fn leap(&mut self, arguments: Option<&prism::ArgumentsNode<'pr>>, leap: Leap, at: u32, dest: Dest) -> u16 {
        let v = self.jump_value(arguments, Dest::Push);
        self.set_line(at);
        self.leap_with(v, leap);
        self.pop_to(v);
        self.dead(dest)
    }

    /// The same with the value in register `v`, the topmost temporary.
    fn leap_with(&mut self, v: u16, leap: Leap) {
        self.note_leap(leap);
        self.f.asm.emit(Op::Intrinsic, Intrinsic::LeaveBody as u8, v, leap as u16, 1);
        self.exit_with(v, Op::Return, false);
    }

    /// The class body around may be left by this jump. `return` stands first: a block's looks there, right behind the body, whether it is awaited.
    pub(crate) fn note_leap(&mut self, leap: Leap) {
        if !self.left_body.contains(&leap) {
            let at = if leap == Leap::Return { 0 } else { self.left_body.len() };
            self.left_body.insert(at, leap);
        }
    }

    /// After a class body whose value is in `base`: goes on with the jumps out of it.
    pub(crate) fn leave_body(&mut self, base: u16, leaps: &[Leap]) {
        for leap in leaps {
            let (left, on) = (self.f.asm.label(), self.f.asm.label());
            let v = self.push();
            self.f.asm.mov(v, base);
            self.f.asm.emit(Op::Intrinsic, Intrinsic::LeftBody as u8, v, *leap as u16, 1);
            self.f.asm.jump_op(Op::JumpDef, v, left);
            self.f.asm.jump(on);
            self.f.asm.bind(left);
            self.leap_on(v, *leap);
            self.f.asm.bind(on);
            self.pop_to(v);
        }
    }

    /// Does a jump whose value is in register `v`, the topmost temporary.
    fn leap_on(&mut self, v: u16, leap: Leap) {
        let around = if leap == Leap::Return { None } else { self.innermost_loop() };
        if let Some(i) = around
            && let Control::Loop { brk, next, value, tests, .. } = self.f.control[i]
        {
            let to = match leap {
                Leap::Next if tests => ExitTo::Back(next),
                Leap::Next => ExitTo::Forward(next),
                _ => ExitTo::Forward(brk),
            };
            if leap == Leap::Break
                && let Some(value) = value
            {
                self.f.asm.mov(value, v);
            }
            return self.leave(Exit { keep: i + 1, to }, 0);
        }
        let op = match (leap, self.scope_kind()) {
            (_, Kind::Class) => return self.leap_with(v, leap),
            (Leap::Return, _) => self.return_op(),
            (Leap::Next, _) | (_, Kind::Lambda) => Op::Return,
            (Leap::Break, _) => Op::BreakBlock,
        };
        if self.runs_ensure(0) && matches!(op, Op::ReturnBlock | Op::BreakBlock) {
            self.f.asm.emit(Op::Intrinsic, Intrinsic::JumpCheck as u8, v, u16::from(op == Op::BreakBlock), 1);
        }
        self.exit_with(v, op, false);
    }

    // ---- case ----

    pub(crate) fn case(&mut self, n: &prism::CaseNode<'pr>, dest: Dest) -> u16 {
        let mark = self.f.top;
        let arm = if dest == Dest::Any { Dest::Push } else { dest };
        // The result is pushed below the subject.
        let result = (arm == Dest::Push).then(|| self.push());
        let arm = result.map_or(arm, Dest::Reg);
        let range = (n.location().start(), n.location().end());
        let subject = n.predicate().map(|p| self.operand(&p, Some(range)));
        let whole = branches::range(&n.location());
        let mut arms: Vec<_> = n
            .conditions()
            .iter()
            .filter_map(|w| w.as_when_node())
            .map(|w| ("when", branches::statements_or(w.statements().as_ref(), branches::range(&w.location()))))
            .collect();
        arms.push(("else", branches::otherwise(n.else_clause().map(|e| e.as_node()).as_ref(), whole)));
        let mut counter = self.branch_arms("case", whole, &arms);
        let end = self.f.asm.label();
        let inner = self.f.top;
        let whens: Vec<_> = n.conditions().iter().filter_map(|w| w.as_when_node()).map(|w| (self.f.asm.label(), w)).collect();
        let mut searched = subject.and_then(|s| self.search(s, &whens));
        let mut bodies = Vec::new();
        for (body, when) in whens {
            for condition in when.conditions().iter() {
                if let Some((count, rest)) = searched {
                    searched = count.checked_sub(1).map(|n| (n, rest));
                    if searched.is_none() {
                        self.f.asm.bind(rest);
                    }
                }
                self.set_line(condition.location().start());
                self.when(&condition, subject, body);
                self.pop_to(inner);
            }
            bodies.push((body, when.statements()));
        }
        if let Some((_, rest)) = searched {
            self.f.asm.bind(rest);
        }
        let from = self.branches_so_far();
        self.count_arm(counter.map(|n| n + bodies.len() as u32));
        match n.else_clause() {
            Some(e) => self.statements_opt(e.statements().as_ref(), arm),
            None => self.nil(arm),
        };
        let to = self.branches_so_far();
        self.f.asm.jump(end);
        for (label, statements) in bodies {
            self.pop_to(inner);
            self.f.asm.bind(label);
            self.count_arm(counter);
            counter = counter.map(|n| n + 1);
            self.statements_opt(statements.as_ref(), arm);
            self.f.asm.jump(end);
        }
        self.branches_later(from, to);
        self.f.asm.bind(end);
        match result {
            Some(r) => self.deliver(r, mark, Dest::Push),
            None => {
                self.pop_to(mark);
                if let Dest::Reg(r) = arm { r } else { 0 }
            }
        }
    }

    /// Small Integers are looked for by halves where the first conditions of a `case` are such literals: how many of them there are, and where it goes on when the subject is none of
    /// these. Any other subject is compared with one after another.
    fn search(&mut self, subject: u16, whens: &[(Label, prism::WhenNode<'pr>)]) -> Option<(usize, Label)> {
        /// Fewer are found as fast one after another.
        const WORTH: usize = 4;
        let mut literals = Vec::new();
        'all: for (body, when) in whens {
            for condition in when.conditions().iter() {
                let Some(n) = small_int(&condition) else { break 'all };
                literals.push((n, *body));
            }
        }
        if literals.len() < WORTH || self.f.wide {
            return None;
        }
        let count = literals.len();
        // Of equal ones the first is meant: the sort is stable.
        literals.sort_by_key(|l| l.0);
        literals.dedup_by_key(|l| l.0);
        let (others, rest) = (self.f.asm.label(), self.f.asm.label());
        self.f.asm.jump_op(Op::JumpOther, subject, others);
        self.halves(subject, &literals, rest);
        self.f.asm.bind(others);
        Some((count, rest))
    }
    fn halves(&mut self, subject: u16, literals: &[(i16, Label)], rest: Label) {
        if literals.len() <= 3 {
            for (n, body) in literals {
                self.f.asm.jump_fused(Op::JumpSame, subject, *n as u16, *body);
            }
            return self.f.asm.jump(rest);
        }
        let (low, high) = literals.split_at(literals.len() / 2);
        let below = self.f.asm.label();
        self.f.asm.jump_fused(Op::JumpBelow, subject, high[0].0 as u16, below);
        self.halves(subject, high, rest);
        self.f.asm.bind(below);
        self.halves(subject, low, rest);
    }

    fn when(&mut self, condition: &Node<'pr>, subject: Option<u16>, body: Label) {
        if let Some(splat) = condition.as_splat_node() {
            return self.when_splat(&splat, subject, body);
        }
        let Some(subject) = subject else { return self.branch(condition, true, body, false) };
        let pattern = match condition.as_string_node() {
            Some(s) => self.frozen_string(&s, Dest::Push),
            None => self.operand(condition, None),
        };
        self.case_eq(pattern, subject, true, body);
    }

    /// Jumps to `to` when `pattern === value` is `sense`.
    pub(crate) fn case_eq(&mut self, pattern: u16, value: u16, sense: bool, to: Label) {
        let t = self.push();
        self.group(Op::CaseEq, sym::eqq, zakuro_bytecode::call_flags::FCALL, t, pattern, value);
        self.pop_to(t);
        self.branch_register(t, sense, to, false);
    }

    /// `when *list`: any element that matches (or is true, without a subject).
    fn when_splat(&mut self, splat: &prism::SplatNode<'pr>, subject: Option<u16>, body: Label) {
        let list = match splat.expression() {
            Some(e) => self.expr(&e, Dest::Push),
            None => self.hidden(sym::anon_rest, Dest::Push),
        };
        self.f.asm.emit(Op::Intrinsic, Intrinsic::SplatArray as u8, list, 0, 1);
        let length = self.push();
        self.f.asm.mov(length, list);
        self.f.asm.emit(Op::Intrinsic, Intrinsic::ArrayLength as u8, length, 0, 1);
        let i = self.load_int(0, Dest::Push);
        let (again, test) = (self.f.asm.label(), self.f.asm.label());
        self.f.asm.jump(test);
        self.f.asm.bind(again);
        let element = self.push();
        self.f.asm.mov(element, list);
        let index = self.push();
        self.f.asm.mov(index, i);
        self.f.asm.emit(Op::Intrinsic, Intrinsic::ArrayAt as u8, element, 0, 2);
        match subject {
            Some(s) => self.case_eq(element, s, true, body),
            None => self.branch_register(element, true, body, false),
        }
        self.group(Op::AddI, sym::add, 0, i, i, 1);
        self.f.asm.bind(test);
        let done = self.f.asm.label();
        self.branch_regs(i, sym::lt, length, false, done);
        self.f.asm.jump_op(Op::Loop, 0, again);
        self.f.asm.bind(done);
    }

    // ---- oddities ----

    /// A range of conditions as a condition: true from the left one on until the right one.
    pub(crate) fn flip_flop(&mut self, n: &prism::FlipFlopNode<'pr>, dest: Dest) -> u16 {
        let name = crate::scope::flip_flop_var(n.location().start());
        let Some((scope, var)) = self.scopes.find(self.f.scope, name) else {
            return self.misplaced(&n.as_node(), dest);
        };
        self.with_temp(dest, |c, d| {
            let (on, off, end, no) = (c.f.asm.label(), c.f.asm.label(), c.f.asm.label(), c.f.asm.label());
            let state = c.load_var(scope, var, Dest::Any);
            c.branch_register(state, true, on, false);
            c.pop_to(d + 1);
            match n.left() {
                Some(l) => c.flip_flop_end(&l, no),
                None => c.f.asm.jump(no),
            }
            c.f.asm.emit(Op::LoadTrue, 0, d, 0, 0);
            c.store_var(scope, var, d);
            if n.is_exclude_end() {
                c.f.asm.jump(end);
            }
            // Already on: true now, and off from the next time when the right side holds.
            c.f.asm.bind(on);
            match n.right() {
                Some(r) => c.flip_flop_end(&r, off),
                None => c.f.asm.jump(off),
            }
            c.f.asm.emit(Op::LoadFalse, 0, d, 0, 0);
            c.store_var(scope, var, d);
            c.f.asm.bind(off);
            c.f.asm.emit(Op::LoadTrue, 0, d, 0, 0);
            c.f.asm.jump(end);
            c.f.asm.bind(no);
            c.f.asm.emit(Op::LoadFalse, 0, d, 0, 0);
            c.f.asm.bind(end);
        })
    }

    /// Jumps to `no` unless an end of a flip-flop holds. An Integer is a line number: it is compared with `$.`.
    fn flip_flop_end(&mut self, n: &Node<'pr>, no: Label) {
        if !matches!(n, Node::IntegerNode { .. }) {
            return self.branch(n, false, no, false);
        }
        let mark = self.f.top;
        let line = self.get_global(Sym::intern("$."), Dest::Push);
        let same = self.binary_with(sym::eq, 0, line, n, n.location().start(), mark, Dest::Push);
        self.branch_register(same, false, no, false);
        self.pop_to(mark);
    }

    /// `/(?<name>..)/ =~ string`
    pub(crate) fn match_write(&mut self, n: &prism::MatchWriteNode<'pr>, dest: Dest) -> u16 {
        self.with_temp(dest, |c, d| {
            c.expr(&n.call().as_node(), Dest::Reg(d));
            let found = c.intrinsic(Intrinsic::BackrefMatch, 0, Dest::Push);
            for target in n.targets().iter().filter_map(|t| t.as_local_variable_target_node()) {
                let t = c.push();
                c.f.asm.mov(t, found);
                let name = c.intern(&target.name());
                c.load_sym(name, Dest::Push);
                c.f.asm.emit(Op::Intrinsic, Intrinsic::NamedGroup as u8, t, 0, 2);
                let (scope, var) = c.local(&target.name(), target.depth());
                c.store_var(scope, var, t);
                c.pop_to(t);
            }
        })
    }
}
