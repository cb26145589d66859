//! `begin`/`rescue`/`else`/`ensure`.
//!
//! Raising leaves `$!` alone. A handler saves the old `$!`, sets it to what it caught, and puts the old one back when the clause ends:
//! normally, by a jump (`Control::RestoreErr`), or by another exception (a second handler around the clause).
//! An ensure clause is emitted once for the normal end, once for each jump that leaves through it, and once as a handler.

use crate::emit::Label;
use crate::unit::{Compiler, Control, Dest, Region};
use ruby_prism as prism;
use ruby_prism::Node;
use std::rc::Rc;
use zakuro_base::Sym;
use zakuro_bytecode::{HandlerKind, Op};

impl<'pr> Compiler<'pr> {
    // ---- protected ranges ----

    pub(crate) fn new_region(&mut self) -> usize {
        let open = Some(self.f.asm.ip());
        self.f.regions.push(Region { open, done: Vec::new() });
        self.f.regions.len() - 1
    }

    pub(crate) fn close(&mut self, region: usize) {
        let ip = self.f.asm.ip();
        let r = &mut self.f.regions[region];
        if let Some(start) = r.open.take() {
            r.done.push((start, ip));
        }
    }

    pub(crate) fn open(&mut self, region: usize) {
        self.f.regions[region].open = Some(self.f.asm.ip());
    }

    /// Ends a region; `target` handles it.
    pub(crate) fn protect(&mut self, region: usize, target: Label, kind: HandlerKind) {
        self.close(region);
        for (start, end) in std::mem::take(&mut self.f.regions[region].done) {
            self.f.asm.handler(start, end, target, kind);
        }
    }

    /// Code that runs with `$!` set to `error`, putting back `old` however it ends.
    fn with_error(&mut self, error: u16, old: u16, body: impl FnOnce(&mut Self)) {
        self.f.asm.emit(Op::GetErr, 0, old, 0, 0);
        self.f.asm.emit(Op::SetErr, 0, error, 0, 0);
        let region = self.new_region();
        self.f.control.push(Control::RestoreErr { reg: old });
        self.f.control.push(Control::Region { region });
        body(self);
        self.f.control.pop();
        self.f.control.pop();
        let (restore, end) = (self.f.asm.label(), self.f.asm.label());
        self.protect(region, restore, HandlerKind::Ensure);
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
        let body = |c: &mut Self, d: Dest| {
            let region = c.new_region();
            let statements = Rc::new(statements);
            c.f.control.push(Control::Ensure { body: statements.clone(), region });
            c.rescue_part(n, d);
            c.f.control.pop();
            let (caught, end) = (c.f.asm.label(), c.f.asm.label());
            // Closed before the inlined copy: an exception in an ensure clause does not run it again.
            c.close(region);
            if c.f.asm.reachable() {
                c.ensure_body(&statements);
                c.f.asm.jump(end);
            }
            c.protect(region, caught, HandlerKind::Ensure);
            c.f.asm.bind(caught);
            let mark = c.f.top;
            let error = c.push();
            let old = c.push();
            c.f.asm.emit(Op::Catch, 0, error, 0, 0);
            c.with_error(error, old, |c| c.ensure_body(&statements));
            if c.f.asm.reachable() {
                c.f.asm.emit(Op::SetErr, 0, old, 0, 0);
                c.f.asm.emit(Op::Rethrow, 0, error, 0, 0);
            }
            c.pop_to(mark);
            c.f.asm.bind(end);
        };
        match dest {
            Dest::Discard => {
                body(self, Dest::Discard);
                0
            }
            // The clause may still read the variable.
            _ => self.with_temp(dest, |c, d| body(c, Dest::Reg(d))),
        }
    }

    fn ensure_body(&mut self, statements: &Rc<Option<prism::StatementsNode<'pr>>>) {
        if let Some(s) = statements.as_ref() {
            self.statements(s, Dest::Discard);
        }
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
        let region = self.new_region();
        self.f.control.push(Control::Region { region });
        body(self);
        self.f.control.pop();
        let (caught, end) = (self.f.asm.label(), self.f.asm.label());
        self.protect(region, caught, HandlerKind::Rescue);
        otherwise(self);
        self.f.asm.jump(end);
        self.f.asm.bind(caught);
        let error = self.push();
        let old = self.push();
        self.f.asm.emit(Op::Catch, 0, error, 0, 0);
        self.f.control.push(Control::Retry { start });
        let done = self.f.asm.label();
        self.with_error(error, old, |c| {
            clauses(c, error, done);
            if c.f.asm.reachable() {
                c.f.asm.emit(Op::Rethrow, 0, error, 0, 0);
            }
            c.f.asm.bind(done);
        });
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
        let region = self.new_region();
        self.f.control.push(Control::Region { region });
        body(self);
        self.f.control.pop();
        let (caught, end) = (self.f.asm.label(), self.f.asm.label());
        self.protect(region, caught, HandlerKind::Rescue);
        self.f.asm.jump(end);
        self.f.asm.bind(caught);
        let t = self.push();
        self.f.asm.emit(Op::Catch, 0, t, 0, 0);
        self.pop_to(t);
        self.f.asm.jump(failed);
        self.f.asm.bind(end);
    }
}
