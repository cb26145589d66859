//! Definitions: methods, classes, aliases, `END`.

use crate::expr::only;
use crate::unit::{Compiler, Dest, Leap};
use ruby_prism as prism;
use ruby_prism::Node;
use zakuro_base::{Sym, sym};
use zakuro_bytecode::{Intrinsic, Op, Params};

/// Operand x of OpenClass.
const CLASS: u8 = 0;
const MODULE: u8 = 1;
const SINGLETON: u8 = 2;

impl<'pr> Compiler<'pr> {
    pub(crate) fn def(&mut self, n: &prism::DefNode<'pr>, dest: Dest) -> u16 {
        let mark = self.f.top;
        let object = n.receiver().map(|r| self.expr(&r, Dest::Push));
        let offset = n.location().start();
        let scope = self.scopes.at(offset);
        let name = self.intern(&n.name());
        let line = self.line_of(offset);
        let child = self.child(scope, |c| {
            let mut shape = crate::params::method_shape(n.parameters().as_ref(), c.encoding);
            if c.scopes.list[scope].block_param.is_some() {
                shape = shape.without_block();
            }
            c.method_params.insert(scope, shape.params.clone());
            c.defining(&n.as_node());
            let code = c.code(scope, name, line, shape.params, &|c, p| {
                if let Some(list) = n.parameters() {
                    c.prologue(&list, p);
                }
                c.f.end_line = c.line_of(n.location().end().saturating_sub(1));
                match n.body().and_then(|b| only(&b.as_statements_node()?)).filter(|_| n.equal_loc().is_some()) {
                    // The body of an endless method is no statement of its own.
                    Some(body) => {
                        c.set_line(body.location().start());
                        c.tail(&body);
                    }
                    None => c.tail_opt(n.body().as_ref()),
                }
            });
            c.method_params.remove(&scope);
            code
        });
        self.set_line(offset);
        let s = self.f.asm.sym(name);
        match object {
            Some(r) => {
                self.f.asm.emit(Op::DefSingleton, 0, r, s, child);
                self.deliver(r, mark, dest)
            }
            None => {
                let d = self.out(dest);
                self.f.asm.emit(Op::DefMethod, 0, d, s, child);
                d
            }
        }
    }

    /// Pushes the module that is to hold a class, and returns its register and the class's name.
    fn holder(&mut self, path: &Node<'pr>) -> (u16, Sym) {
        if let Some(p) = path.as_constant_path_node() {
            let name = p.name().map_or(sym::empty, |n| self.intern(&n));
            let r = match p.parent() {
                Some(parent) => self.expr(&parent, Dest::Push),
                None => self.get_const(sym::Object, true, Dest::Push),
            };
            return (r, name);
        }
        let name = path.as_constant_read_node().map_or(sym::empty, |c| self.intern(&c.name()));
        (self.simple(Op::LoadUndef, Dest::Push), name)
    }

    fn open_class(&mut self, (at, end): (u32, u32), kind: u8, base: u16, name: Sym, body: Option<Node<'pr>>, dest: Dest) -> u16 {
        let scope = self.scopes.at(at);
        let line = self.line_of(at);
        let end_line = self.line_of(end.saturating_sub(1));
        let label = match kind {
            CLASS => name.with(b"<class:", b">"),
            MODULE => name.with(b"<module:", b">"),
            _ => name,
        };
        let around = std::mem::take(&mut self.left_body);
        if self.scopes.list[scope].sees_binding {
            // Text that is evaluated there may hold a Proc that returns.
            self.note_leap(Leap::Return);
        }
        let child = self.child(scope, |c| {
            c.code(scope, label, line, Params::default(), &|c, _| {
                c.f.end_line = end_line;
                c.tail_opt(body.as_ref())
            })
        });
        let left = std::mem::replace(&mut self.left_body, around);
        self.set_line(at);
        let s = self.f.asm.sym(name);
        self.f.asm.emit(Op::OpenClass, kind, base, s, child);
        self.leave_body(base, &left);
        self.deliver(base, base, dest)
    }

    pub(crate) fn class(&mut self, n: &prism::ClassNode<'pr>, dest: Dest) -> u16 {
        let (base, name) = self.holder(&n.constant_path());
        match n.superclass() {
            Some(s) => self.expr(&s, Dest::Push),
            None => self.simple(Op::LoadUndef, Dest::Push),
        };
        self.open_class((n.location().start(), n.location().end()), CLASS, base, name, n.body(), dest)
    }

    pub(crate) fn module(&mut self, n: &prism::ModuleNode<'pr>, dest: Dest) -> u16 {
        let (base, name) = self.holder(&n.constant_path());
        self.simple(Op::LoadUndef, Dest::Push);
        self.open_class((n.location().start(), n.location().end()), MODULE, base, name, n.body(), dest)
    }

    pub(crate) fn singleton_class(&mut self, n: &prism::SingletonClassNode<'pr>, dest: Dest) -> u16 {
        let base = self.expr(&n.expression(), Dest::Push);
        self.simple(Op::LoadUndef, Dest::Push);
        self.open_class((n.location().start(), n.location().end()), SINGLETON, base, Sym::intern("singleton class"), n.body(), dest)
    }

    pub(crate) fn alias(&mut self, n: &prism::AliasMethodNode<'pr>, dest: Dest) -> u16 {
        let base = self.expr(&n.new_name(), Dest::Push);
        self.expr(&n.old_name(), Dest::Push);
        self.set_line(n.location().start());
        self.f.asm.emit(Op::Intrinsic, Intrinsic::Alias as u8, base, 0, 2);
        self.f.asm.emit(Op::LoadNil, 0, base, 0, 0);
        self.deliver(base, base, dest)
    }

    pub(crate) fn alias_global(&mut self, n: &prism::AliasGlobalVariableNode<'pr>, dest: Dest) -> u16 {
        let name = |n: &Node<'pr>, encoding: u8| Sym::intern_in(n.location().as_slice(), encoding);
        let new = self.f.asm.sym(name(&n.new_name(), self.encoding));
        let old = self.f.asm.sym(name(&n.old_name(), self.encoding));
        let t = self.push();
        self.set_line(n.location().start());
        self.f.asm.emit(Op::Intrinsic, Intrinsic::AliasGlobal as u8, t, new, old);
        self.f.asm.emit(Op::LoadNil, 0, t, 0, 0);
        self.deliver(t, t, dest)
    }

    pub(crate) fn undef(&mut self, n: &prism::UndefNode<'pr>, dest: Dest) -> u16 {
        for name in n.names().iter() {
            let t = self.expr(&name, Dest::Push);
            self.set_line(n.location().start());
            self.f.asm.emit(Op::Intrinsic, Intrinsic::Undef as u8, t, 0, 1);
            self.pop_to(t);
        }
        self.nil(dest)
    }

    /// `END { }`: registered the first time control comes by.
    pub(crate) fn post_execution(&mut self, n: &prism::PostExecutionNode<'pr>, dest: Dest) -> u16 {
        let offset = n.location().start();
        let site = self.f.once_sites;
        self.f.once_sites += 1;
        let child = self.block_code((offset, n.location().end()), None, n.statements().map(|s| s.as_node()));
        self.set_line(offset);
        let done = self.f.asm.label();
        let t = self.intrinsic(Intrinsic::OnceTest, site, Dest::Push);
        self.f.asm.jump_op(Op::JumpUnless, t, done);
        self.f.asm.emit(Op::NewProc, 0, t, child, 0);
        self.f.asm.emit(Op::Intrinsic, Intrinsic::RegisterAtExit as u8, t, site, 1);
        self.f.asm.emit(Op::Intrinsic, Intrinsic::OnceSet as u8, t, site, 1);
        self.f.asm.bind(done);
        self.pop_to(t);
        self.nil(dest)
    }
}

impl<'pr> Compiler<'pr> {
    fn begin_blocks(&mut self, statements: &prism::StatementsNode<'pr>) {
        for n in statements.body().iter().filter_map(|n| n.as_pre_execution_node()) {
            if let Some(s) = n.statements() {
                // One in another runs before it.
                self.begin_blocks(&s);
                self.statements(&s, Dest::Discard);
            }
        }
    }

    /// A whole program: `BEGIN` blocks first.
    pub(crate) fn program(&mut self, program: &prism::ProgramNode<'pr>) {
        let statements = program.statements();
        self.begin_blocks(&statements);
        // `-n` puts the program into a loop.
        let wrapped = self.wrapped;
        for n in statements.body().iter().filter(|_| wrapped).filter_map(|n| n.as_while_node()) {
            if let Some(s) = n.statements() {
                self.begin_blocks(&s);
            }
        }
        self.tail(&statements.as_node());
    }
}
