//! `begin`/`rescue`/`else`/`ensure`.
//!
//! Raising leaves `$!` alone. A handler saves the old `$!`, sets it to what it caught, and puts the old one back when the clause ends:
//! normally, by a jump (`Control::RestoreErr`), or by another exception (a second handler around the clause).
//!
//! An ensure clause is a subroutine: it is emitted once, and everything that leaves through it jumps there. Four temporaries, held while the body runs, say
//! how to go on afterwards ([`Ensure`]): at the end of the body, with what was caught, or with one of the jumps out of the body, of which there are a
//! handful of kinds at most (see [`Exit`]). After the clause a dispatch over them follows, in which a jump goes on from the construct around, where
//! it may meet the next clause. A small clause is emitted a second time where the body ends normally, so that this way costs nothing; never inside of such a
//! copy. (A copy for each jump would make nested clauses exponential.)
//!
//! The states are told apart by nil, false, true and the undefined marker alone: a comparison of numbers is a method that a program may redefine.

use crate::emit::Label;
use crate::unit::{Compiler, Control, Dest, Ensure, Exit};
use ruby_prism as prism;
use ruby_prism::Node;
use zakuro_base::Sym;
use zakuro_bytecode::{HandlerKind, Op};

/// Bytes of source of a clause that is copied to where the body ends normally.
const SMALL_CLAUSE: u32 = 200;

impl<'pr> Compiler<'pr> {
    /// Registers a handler for what has been emitted since `start`. Inner ranges end first. Jumps that leave a range do not end it: what they emit on
    /// their way raises nothing, but for one that has no target.
    pub(crate) fn protect(&mut self, start: u32, target: Label, kind: HandlerKind) {
        let end = self.f.asm.ip();
        self.f.asm.handler(start, end, target, kind);
    }

    /// Code that runs with `$!` set to `error`, putting back `old` however it ends.
    fn with_error(&mut self, error: u16, old: u16, body: impl FnOnce(&mut Self)) {
        self.f.asm.emit(Op::GetErr, 0, old, 0, 0);
        self.f.asm.emit(Op::SetErr, 0, error, 0, 0);
        self.restoring_error(old, body);
    }

    /// Code that leaves `$!` as it stands in `old` when it ends early.
    fn restoring_error(&mut self, old: u16, body: impl FnOnce(&mut Self)) {
        let start = self.f.asm.ip();
        self.f.control.push(Control::RestoreErr { reg: old });
        body(self);
        self.f.control.pop();
        let (restore, end) = (self.f.asm.label(), self.f.asm.label());
        self.protect(start, restore, HandlerKind::Ensure);
        self.f.asm.jump(end);
        self.f.asm.bind(restore);
        let t = self.push();
        self.f.asm.emit(Op::Catch, 0, t, 0, 0);
        self.f.asm.emit(Op::SetErr, 0, old, 0, 0);
        self.f.asm.emit(Op::Rethrow, 0, t, 0, 0);
        self.pop_to(t);
        self.f.asm.bind(end);
    }

    pub(crate) fn begin(&mut self, n: &prism::BeginNode<'pr>, dest: Dest) -> u16 {
        let Some(ensure) = n.ensure_clause() else { return self.rescue_part(n, dest) };
        let statements = ensure.statements();
        if statements.is_none() {
            return self.rescue_part(n, dest);
        }
        let body = |c: &mut Self, d: Dest| c.ensured(n, statements.as_ref(), d);
        match dest {
            Dest::Discard => {
                body(self, Dest::Discard);
                0
            }
            // The clause may still read the variable.
            _ => self.with_temp(dest, |c, d| body(c, Dest::Reg(d))),
        }
    }

    /// A body with an ensure clause.
    fn ensured(&mut self, n: &prism::BeginNode<'pr>, clause: Option<&prism::StatementsNode<'pr>>, dest: Dest) {
        let Some(clause) = clause else { return };
        let mark = self.f.top;
        let (how, which, held, old) = (self.push(), self.push(), self.push(), self.push());
        let enter = self.f.asm.label();
        let start = self.f.asm.ip();
        self.f.control.push(Control::Ensure(Ensure { how, which, held, enter, exits: Vec::new() }));
        let from = self.branches_so_far();
        self.rescue_part(n, dest);
        let to = self.branches_so_far();
        let exits = match self.f.control.pop() {
            Some(Control::Ensure(e)) => e.exits,
            _ => Vec::new(),
        };
        // Before the clause: an exception in it does not run it again.
        let (caught, run, end) = (self.f.asm.label(), self.f.asm.label(), self.f.asm.label());
        self.protect(start, caught, HandlerKind::Ensure);
        let mut ends = self.f.asm.reachable();
        let l = clause.location();
        if ends && !self.f.copying && l.end() - l.start() <= SMALL_CLAUSE {
            self.f.copying = true;
            self.statements(clause, Dest::Discard);
            self.f.copying = false;
            self.f.asm.jump(end);
            ends = false;
        }
        let shared = ends || !exits.is_empty();
        if shared {
            if ends {
                self.f.asm.emit(Op::LoadNil, 0, how, 0, 0);
                self.f.asm.emit(Op::LoadNil, 0, which, 0, 0);
                self.f.asm.emit(Op::LoadNil, 0, held, 0, 0);
            }
            self.f.asm.bind(enter);
            self.f.asm.emit(Op::GetErr, 0, old, 0, 0);
            self.f.asm.jump(run);
        }
        self.f.asm.bind(caught);
        self.f.asm.emit(Op::Catch, 0, held, 0, 0);
        if shared {
            self.f.asm.emit(Op::LoadTrue, 0, how, 0, 0);
            self.f.asm.emit(Op::LoadNil, 0, which, 0, 0);
        }
        self.f.asm.emit(Op::GetErr, 0, old, 0, 0);
        self.f.asm.emit(Op::SetErr, 0, held, 0, 0);
        self.f.asm.bind(run);
        let line = self.f.asm.set_apart();
        self.restoring_error(old, |c| {
            c.statements(clause, Dest::Discard);
        });
        self.f.asm.end_apart(line);
        if self.f.asm.reachable() {
            let line = self.f.asm.line;
            if ends {
                self.f.asm.jump_op(Op::JumpNil, how, end);
            }
            self.go_on(&exits, how, which, held);
            self.f.asm.emit(Op::SetErr, 0, old, 0, 0);
            self.f.asm.emit(Op::Rethrow, 0, held, 0, 0);
            self.f.asm.line = line;
        }
        // The clause comes first in reports.
        self.branches_later(from, to);
        self.pop_to(mark);
        self.f.asm.bind(end);
    }

    /// After an ensure clause: the jumps that it has interrupted go on. Falls through with what was caught.
    fn go_on(&mut self, exits: &[(Exit, u32)], how: u16, which: u16, held: u16) {
        let Some((first, others)) = exits.split_first() else { return };
        let next = self.f.asm.label();
        self.f.asm.jump_op(Op::JumpDef, how, next);
        self.exit_from(first, held);
        self.f.asm.bind(next);
        let Some((last, others)) = others.split_last() else { return };
        let thrown = self.f.asm.label();
        self.f.asm.jump_op(Op::JumpIf, how, thrown);
        for (exit, op) in others.iter().zip([Op::JumpNotNil, Op::JumpIf, Op::JumpDef]) {
            let next = self.f.asm.label();
            self.f.asm.jump_op(op, which, next);
            self.exit_from(exit, held);
            self.f.asm.bind(next);
        }
        self.exit_from(last, held);
        self.f.asm.bind(thrown);
    }

    fn exit_from(&mut self, (exit, line): &(Exit, u32), held: u16) {
        self.f.asm.line = *line;
        self.leave(*exit, held);
    }

    /// Jumps to the innermost of the clauses around, `ensure`, from where `exit` will go on.
    pub(crate) fn through_clause(&mut self, ensure: usize, exit: Exit, value: u16) {
        let line = self.f.asm.line;
        let Control::Ensure(e) = &mut self.f.control[ensure] else { return };
        let index = match e.exits.iter().position(|(x, _)| *x == exit) {
            Some(i) => i,
            None => {
                e.exits.push((exit, line));
                e.exits.len() - 1
            }
        };
        let (how, which, held, enter) = (e.how, e.which, e.held, e.enter);
        match exit.has_value() {
            true => self.f.asm.mov(held, value),
            false => self.f.asm.emit(Op::LoadNil, 0, held, 0, 0),
        }
        self.f.asm.emit(if index == 0 { Op::LoadUndef } else { Op::LoadFalse }, 0, how, 0, 0);
        let state = match index {
            0 | 1 => Op::LoadNil,
            2 => Op::LoadFalse,
            3 => Op::LoadUndef,
            4 => Op::LoadTrue,
            _ => {
                debug_assert!(false, "more kinds of jumps than a place has");
                self.f.asm.too_big = true;
                return;
            }
        };
        self.f.asm.emit(state, 0, which, 0, 0);
        self.f.asm.jump(enter);
    }

    fn rescue_part(&mut self, n: &prism::BeginNode<'pr>, dest: Dest) -> u16 {
        let Some(rescue) = n.rescue_clause() else {
            return match n.else_clause() {
                None => self.statements_opt(n.statements().as_ref(), dest),
                Some(e) => {
                    self.statements_opt(n.statements().as_ref(), Dest::Discard);
                    self.statements_opt(e.statements().as_ref(), dest)
                }
            };
        };
        let otherwise = n.else_clause();
        self.value_or_discard(dest, |c, d| {
            c.protected(
                |c| match &otherwise {
                    None => {
                        c.statements_opt(n.statements().as_ref(), d);
                    }
                    Some(_) => {
                        c.statements_opt(n.statements().as_ref(), Dest::Discard);
                    }
                },
                |c| {
                    if let Some(e) = &otherwise {
                        c.statements_opt(e.statements().as_ref(), d);
                    }
                },
                |c, error, end| c.rescue_clauses(&rescue, error, d, end),
            );
        })
    }

    /// Gives `body` a fixed destination.
    fn value_or_discard(&mut self, dest: Dest, body: impl FnOnce(&mut Self, Dest)) -> u16 {
        match dest {
            Dest::Discard => {
                body(self, Dest::Discard);
                0
            }
            Dest::Reg(r) => {
                body(self, dest);
                r
            }
            Dest::Any | Dest::Push => {
                let t = self.push();
                body(self, Dest::Reg(t));
                self.pop_to(t + 1);
                t
            }
        }
    }

    /// A body, what follows it when nothing was raised, and the clauses for what was. `clauses` jumps to the label that it gets
    /// after a clause has run, and falls through when none matches.
    fn protected(&mut self, body: impl FnOnce(&mut Self), otherwise: impl FnOnce(&mut Self), clauses: impl FnOnce(&mut Self, u16, Label)) {
        let mark = self.f.top;
        let start = self.f.asm.here();
        let first = self.f.asm.ip();
        body(self);
        let (caught, end) = (self.f.asm.label(), self.f.asm.label());
        self.protect(first, caught, HandlerKind::Rescue);
        otherwise(self);
        self.f.asm.jump(end);
        self.f.asm.bind(caught);
        let error = self.push();
        let old = self.push();
        self.f.asm.emit(Op::Catch, 0, error, 0, 0);
        self.f.control.push(Control::Retry { start });
        let done = self.f.asm.label();
        let line = self.f.asm.set_apart();
        self.with_error(error, old, |c| {
            clauses(c, error, done);
            if c.f.asm.reachable() {
                c.f.asm.emit(Op::Rethrow, 0, error, 0, 0);
            }
            c.f.asm.bind(done);
        });
        self.f.asm.end_apart(line);
        self.f.control.pop();
        self.f.asm.emit(Op::SetErr, 0, old, 0, 0);
        self.f.asm.bind(end);
        self.pop_to(mark);
    }

    fn rescue_clauses(&mut self, first: &prism::RescueNode<'pr>, error: u16, dest: Dest, done: Label) {
        let mut clause = first.subsequent();
        self.rescue_clause(first, error, dest, done);
        while let Some(c) = clause {
            self.rescue_clause(&c, error, dest, done);
            clause = c.subsequent();
        }
    }

    fn rescue_clause(&mut self, n: &prism::RescueNode<'pr>, error: u16, dest: Dest, done: Label) {
        let (body, next) = (self.f.asm.label(), self.f.asm.label());
        let mark = self.f.top;
        let exceptions: Vec<Node<'pr>> = n.exceptions().iter().collect();
        self.set_line(n.location().start());
        if exceptions.is_empty() {
            self.rescue_match(error, body, |c| c.get_const(Sym::intern("StandardError"), true, Dest::Push));
        }
        for e in &exceptions {
            self.set_line(e.location().start());
            match e.as_splat_node() {
                None => self.rescue_match(error, body, |c| c.expr(e, Dest::Push)),
                Some(s) => {
                    let t = self.splat_value(&s, Dest::Push);
                    self.f.asm.emit(Op::RescueMatch, 1, t, t, error);
                    self.pop_to(t);
                    self.branch_register(t, true, body, false);
                }
            }
        }
        self.f.asm.jump(next);
        self.f.asm.bind(body);
        self.rescued();
        if let Some(reference) = n.reference() {
            let t = self.target(&reference);
            self.store(&t, error);
            self.pop_to(mark);
        }
        self.statements_opt(n.statements().as_ref(), dest);
        self.f.asm.jump(done);
        self.f.asm.bind(next);
        self.pop_to(mark);
    }

    /// The body of a clause begins here.
    fn rescued(&mut self) {
        let at = self.f.asm.ip();
        self.f.asm.rescues.push(at);
    }

    fn rescue_match(&mut self, error: u16, body: Label, class: impl FnOnce(&mut Self) -> u16) {
        let t = class(self);
        self.f.asm.emit(Op::RescueMatch, 0, t, t, error);
        self.pop_to(t);
        self.branch_register(t, true, body, false);
    }

    pub(crate) fn rescue_modifier(&mut self, n: &prism::RescueModifierNode<'pr>, dest: Dest) -> u16 {
        self.value_or_discard(dest, |c, d| {
            c.protected(
                |c| {
                    c.expr(&n.expression(), d);
                },
                |_| {},
                |c, error, done| {
                    let (body, next) = (c.f.asm.label(), c.f.asm.label());
                    c.rescue_match(error, body, |c| c.get_const(Sym::intern("StandardError"), true, Dest::Push));
                    c.f.asm.jump(next);
                    c.f.asm.bind(body);
                    c.rescued();
                    c.expr(&n.rescue_expression(), d);
                    c.f.asm.jump(done);
                    c.f.asm.bind(next);
                },
            );
        })
    }

    /// Runs `body`; an exception in it jumps to `failed` with nothing said (`defined?`).
    pub(crate) fn guarded(&mut self, failed: Label, body: impl FnOnce(&mut Self)) {
        let first = self.f.asm.ip();
        body(self);
        let (caught, end) = (self.f.asm.label(), self.f.asm.label());
        self.protect(first, caught, HandlerKind::Rescue);
        self.f.asm.jump(end);
        self.f.asm.bind(caught);
        let t = self.push();
        self.f.asm.emit(Op::Catch, 0, t, 0, 0);
        self.pop_to(t);
        self.f.asm.jump(failed);
        self.f.asm.bind(end);
    }
}
