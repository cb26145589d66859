//! [`Compiler`]: the state of lowering, and how one Code is made from a scope.

use crate::emit::{Asm, AsmError, Label};
use crate::scope::{Kind, Scopes};
use ruby_prism::Node;
use std::collections::HashMap;
use std::sync::Arc;
use zakuro_base::{Sym, sym};
use zakuro_bytecode::{Body, Code, CodeKind, Local, Op, Params, Place};

/// Where the value of an expression is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Dest {
    /// In this register. A register of a local variable must be written by the last instruction of the expression only.
    Reg(u16),
    /// In any register: a local's own, or pushed.
    Any,
    /// In the next temporary, which stays allocated.
    Push,
    /// Nowhere.
    Discard,
}

/// What surrounds the code being emitted, within one Code; jumps unwind it.
pub(crate) enum Control {
    Loop {
        brk: Label,
        next: Label,
        redo: Label,
        value: Option<u16>,
        /// Its condition is being compiled: `next` is behind.
        tests: bool,
    },
    /// A body whose ensure clause is run by everything that leaves it.
    Ensure(Ensure),
    /// `$!` is put back from the register when left.
    RestoreErr { reg: u16 },
    /// Where `retry` goes.
    Retry { start: Label },
}

/// A body with an ensure clause, whose end is a subroutine with a dispatch after it; see the module `exception`.
pub(crate) struct Ensure {
    /// nil: the body has ended; true: something was thrown, it is in `held`; undefined: `exits[0]`; false: one of the others.
    pub how: u16,
    /// Of the others nil: the first; false, undefined, true: the next ones.
    pub which: u16,
    /// What was caught, or the value that the jump takes along.
    pub held: u16,
    /// Where jumps enter the clause.
    pub enter: Label,
    /// The jumps out of the body, and the line of the first one of each kind.
    pub exits: Vec<(Exit, u32)>,
}

/// How a jump ends: above which of the constructs around, and how. From one place there are at most five: `next`, `break` and `redo` of the innermost loop or
/// block around, `retry` of the innermost rescue clause, and `return`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Exit {
    pub keep: usize,
    pub to: ExitTo,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExitTo {
    /// Forwards.
    Forward(Label),
    /// Backwards.
    Back(Label),
    /// Out of the Code by this instruction, with a value.
    Out(Op),
}

/// A jump out of a class body, by its number as the operand of LeaveBody.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Leap {
    Return,
    Break,
    Next,
}

impl Exit {
    pub fn has_value(self) -> bool {
        matches!(self.to, ExitTo::Out(_))
    }
}

/// The Code being made.
pub(crate) struct Frame {
    pub scope: usize,
    pub asm: Asm,
    /// Next free temporary.
    pub top: u16,
    pub(crate) max: u16,
    pub first_temp: u16,
    pub control: Vec<Control>,
    pub children: Vec<Arc<Code>>,
    /// Scope -> index in `children`: the copies of an ensure clause share their blocks.
    pub child_of: HashMap<usize, u16>,
    pub name: Sym,
    pub once_sites: u16,
    /// Fused jumps would not reach.
    pub wide: bool,
    /// A default of the parameters is being compiled: those behind it are not set yet.
    pub in_defaults: bool,
    /// Start of a block's body.
    pub redo: Option<Label>,
    /// Inside the second copy of an ensure clause.
    pub copying: bool,
    /// Line of the `end`.
    pub end_line: u32,
}

pub(crate) struct Compiler<'pr> {
    pub scopes: Scopes,
    pub f: Box<Frame>,
    pub file: Arc<str>,
    pub source: Arc<[u8]>,
    pub line_offsets: Vec<u32>,
    pub first_line: u32,
    /// `-n` or `-p`: the parser has put the program into a loop.
    pub wrapped: bool,
    /// Encoding id of string literals.
    pub encoding: u8,
    pub frozen_strings: bool,
    /// Strings of literals are told where they stand.
    pub literal_places: bool,
    /// As in the options.
    pub hidden_ivars: bool,
    /// Whether warnings of regexps are collected.
    pub verbose: bool,
    pub data_offset: Option<usize>,
    /// In an arm that never runs: no trace sees what is in it.
    pub unseen: bool,
    /// Inside `# shareable_constant_value`.
    pub shareable: Option<crate::shareable::Shareable>,
    /// Parameters of the methods being lowered, for `super` without arguments.
    pub method_params: HashMap<usize, Params>,
    /// Whether Codes keep source ranges for error reports: not those of eval texts and of the prelude.
    pub spans: bool,
    /// Source range of the definition whose Code is made next.
    pub definition: Option<(u32, u32)>,
    /// The jumps by which the class body just lowered is left, each once.
    pub left_body: Vec<Leap>,
    /// Beside the parser's.
    pub warnings: Vec<crate::Warning>,
    /// Why the source can't be compiled, and the line: things that the parser lets pass.
    pub refused: Option<(u32, String)>,
    /// Conditions whose arms are counted; None: they are not.
    pub branches: Option<crate::branches::Branches>,
    pub tree: std::marker::PhantomData<&'pr ()>,
}

impl Frame {
    pub fn new(scope: usize, first_temp: u16, name: Sym) -> Frame {
        Frame {
            scope,
            asm: Asm::default(),
            top: first_temp,
            max: first_temp,
            first_temp,
            control: Vec::new(),
            children: Vec::new(),
            child_of: HashMap::new(),
            name,
            once_sites: 0,
            wide: false,
            in_defaults: false,
            redo: None,
            copying: false,
            end_line: 0,
        }
    }
}

impl<'pr> Compiler<'pr> {
    // ---- registers ----

    /// Allocates the next temporary.
    pub fn push(&mut self) -> u16 {
        let r = self.f.top;
        self.f.top += 1;
        self.reserve(0);
        r
    }

    /// Makes sure that `n` registers above the allocated ones exist.
    pub fn reserve(&mut self, n: u16) {
        let need = self.f.top as u32 + n as u32;
        if need > 60_000 {
            self.f.asm.too_big = true;
            self.f.top = self.f.first_temp;
            return;
        }
        self.f.max = self.f.max.max(need as u16);
    }

    pub fn pop_to(&mut self, mark: u16) {
        self.f.top = mark;
    }

    /// The register to write a result to.
    pub fn out(&mut self, dest: Dest) -> u16 {
        match dest {
            Dest::Reg(r) => r,
            Dest::Any | Dest::Push => self.push(),
            Dest::Discard => {
                self.reserve(1);
                self.f.top
            }
        }
    }

    /// Delivers a value that stands in `from`, after popping to `mark`. With Any the value stays where it is.
    pub fn deliver(&mut self, from: u16, mark: u16, dest: Dest) -> u16 {
        self.pop_to(mark);
        match dest {
            Dest::Discard => 0,
            Dest::Any => {
                if from >= self.f.first_temp {
                    self.f.top = from + 1;
                    self.reserve(0);
                }
                from
            }
            Dest::Reg(r) => {
                self.f.asm.mov(r, from);
                r
            }
            Dest::Push => {
                let r = self.push();
                self.f.asm.mov(r, from);
                r
            }
        }
    }

    /// Runs `body` with a temporary to leave a value in, for expressions that write their result before they have read all of
    /// their operands.
    pub fn with_temp(&mut self, dest: Dest, body: impl FnOnce(&mut Self, u16)) -> u16 {
        match dest {
            Dest::Reg(r) if r >= self.f.first_temp => {
                body(self, r);
                r
            }
            _ => {
                let t = self.push();
                body(self, t);
                match dest {
                    Dest::Push | Dest::Any => {
                        self.pop_to(t + 1);
                        t
                    }
                    _ => self.deliver(t, t, dest),
                }
            }
        }
    }

    // ---- places ----

    pub fn place(&self, scope: usize, var: usize) -> Place {
        let v = &self.scopes.list[scope].vars[var];
        match v.captured {
            true => Place::Env { depth: self.scopes.env_depth(self.f.scope, scope) as u8, slot: v.slot },
            false if self.scopes.list[scope].block_param == Some(var) => Place::Block,
            false => Place::Reg(v.reg),
        }
    }

    pub fn env_reg(&self) -> u16 {
        self.scopes.list[self.f.scope].env_reg
    }

    pub fn store_var(&mut self, scope: usize, var: usize, from: u16) {
        match self.place(scope, var) {
            Place::Reg(r) => self.f.asm.mov(r, from),
            Place::Env { depth, slot } => {
                let env = self.env_reg();
                self.f.asm.emit(Op::SetEnv, depth, from, slot, env);
            }
            // Nothing is assigned to it.
            Place::Block => {}
        }
    }

    pub fn load_var(&mut self, scope: usize, var: usize, dest: Dest) -> u16 {
        match (self.place(scope, var), dest) {
            (_, Dest::Discard) => 0,
            (Place::Reg(r), Dest::Any) => r,
            (Place::Reg(r), _) => {
                let d = self.out(dest);
                self.f.asm.mov(d, r);
                d
            }
            (Place::Block, _) => {
                let d = self.out(dest);
                self.f.asm.emit(Op::BlockProc, 0, d, 0, 0);
                d
            }
            (Place::Env { depth, slot }, _) => {
                let env = self.env_reg();
                let d = self.out(dest);
                self.f.asm.emit(Op::GetEnv, depth, d, slot, env);
                d
            }
        }
    }

    // ---- lines ----

    /// Lowers a node whose errors are to be marked in its source range.
    pub fn with_span<R>(&mut self, n: &Node<'pr>, body: impl FnOnce(&mut Self) -> R) -> R {
        if !self.spans {
            return body(self);
        }
        let l = n.location();
        let saved = self.f.asm.span.replace((l.start(), l.end() - l.start()));
        let r = body(self);
        self.f.asm.span = saved;
        r
    }

    /// The next Code is that of `n`.
    pub fn defining(&mut self, n: &Node<'pr>) {
        let l = n.location();
        self.definition = Some((l.start(), l.end() - l.start()));
    }

    pub fn line_of(&self, offset: u32) -> u32 {
        self.first_line.wrapping_add(self.line_offsets.partition_point(|o| *o <= offset).saturating_sub(1) as u32)
    }

    pub fn set_line(&mut self, offset: u32) {
        self.f.asm.line = self.line_of(offset);
    }

    /// Emits an instruction that makes a literal, which is in the line where the literal begins; what follows is where it was.
    pub fn emit_literal(&mut self, at: u32, op: Op, operands: (u8, u16, u16, u16)) {
        let line = self.f.asm.line;
        self.set_line(at);
        let (x, a, b, c) = operands;
        self.f.asm.emit(op, x, a, b, c);
        self.f.asm.line = line;
    }

    // ---- Codes ----

    /// Makes the Code of `scope`; `body` emits it and may run twice.
    pub fn code(&mut self, scope: usize, name: Sym, line: u32, params: Params, body: &dyn Fn(&mut Self, &Params)) -> Arc<Code> {
        let first_temp = self.scopes.list[scope].first_temp;
        let definition = self.definition.take();
        let mut wide = false;
        let (frame, handlers) = loop {
            let mut frame = Box::new(Frame::new(scope, first_temp, name));
            frame.wide = wide;
            frame.asm.line = line;
            let saved = std::mem::replace(&mut self.f, frame);
            self.open_scope(&params);
            body(self, &params);
            let mut frame = std::mem::replace(&mut self.f, saved);
            match frame.asm.resolve() {
                Ok(h) => break (frame, h),
                Err(AsmError::NeedsWide) if !wide => wide = true,
                Err(_) => {
                    self.refused.get_or_insert((line, "too large for one method, block or class body".into()));
                    break (Box::new(Frame::new(scope, first_temp, name)), Vec::new());
                }
            }
        };
        let s = &self.scopes.list[scope];
        let Frame { mut asm, children, once_sites, max, end_line, .. } = *frame;
        if self.unseen {
            asm.forget_statements(0);
        }
        let seen_from = |owner: usize, name: Sym| {
            let var = self.scopes.list[owner].var(name)?;
            let v = &self.scopes.list[owner].vars[var];
            Some(match v.captured {
                true => Place::Env { depth: self.scopes.env_depth(scope, owner) as u8, slot: v.slot },
                false => Place::Reg(v.reg),
            })
        };
        let root = self.scopes.root_of(scope);
        let owner = if self.scopes.list[root].kind == Kind::Outer { self.scopes.root } else { root };
        // Where an eval's scope has it already.
        let outside = |place: Option<(u8, u16)>| {
            let (depth, slot) = place.filter(|_| owner != root)?;
            let depth = depth as u16 + self.scopes.env_depth(scope, self.scopes.root) + 1;
            Some(Place::Env { depth: depth as u8, slot })
        };
        let backref = outside(self.scopes.eval_backref).or_else(|| seen_from(owner, sym::match_var));
        let lastline = outside(self.scopes.eval_lastline).or_else(|| seen_from(owner, crate::scope::line_var()));
        let kind = match s.kind {
            Kind::Program => CodeKind::Program,
            Kind::Method => CodeKind::Method,
            Kind::Class => CodeKind::Class,
            Kind::Eval | Kind::Outer => CodeKind::Eval,
            Kind::Block | Kind::Lambda | Kind::For => CodeKind::Block,
        };
        let body = Body {
            end_line: (end_line as i32).max(line as i32) as u32,
            insns: exact(asm.insns),
            consts: exact(asm.consts),
            syms: exact(asm.syms),
            calls: exact(asm.calls),
            keyword_lists: asm.keyword_lists.into(),
            ivars: exact(asm.ivars),
            const_sites: exact(asm.const_sites),
            children: children.into(),
            handlers: exact(handlers),
            lines: exact(asm.lines),
            statements: exact(asm.statements),
            rescues: exact(asm.rescues),
            spans: exact(asm.spans),
            span: definition.filter(|_| self.spans),
            first_line: self.first_line,
            uses_block: s.kind != Kind::Method
                || s.uses_block
                || s.sees_binding
                || s.block_param.is_some()
                || params.block
                || params.no_block,
            params,
            nregs: max,
            nlocals: s.nlocals,
            env_reg: s.env_reg,
            own_env: s.own_env,
            locals: s
                .vars
                .iter()
                .enumerate()
                .map(|(i, v)| Local {
                    name: v.name,
                    place: match v.captured {
                        true => Place::Env { depth: 0, slot: v.slot },
                        false if s.block_param == Some(i) => Place::Block,
                        false => Place::Reg(v.reg),
                    },
                })
                .collect(),
            backref,
            lastline,
            once_sites,
            frozen_strings: self.frozen_strings,
            of_symbol: false,
            data_offset: self.data_offset,
        };
        Arc::new(Code {
            kind,
            name,
            file: self.file.clone(),
            line,
            source: self.source.clone(),
            heat: Default::default(),
            body: body.into(),
        })
    }

    /// Index in `children` of the Code of `scope`, made on first use.
    pub fn child(&mut self, scope: usize, make: impl FnOnce(&mut Self) -> Arc<Code>) -> u16 {
        if let Some(i) = self.f.child_of.get(&scope) {
            return *i;
        }
        let code = make(self);
        if self.f.children.len() >= u16::MAX as usize {
            self.f.asm.too_big = true;
            return 0;
        }
        let i = self.f.children.len() as u16;
        self.f.children.push(code);
        self.f.child_of.insert(scope, i);
        i
    }

    /// A block, lambda or `for` body: runs `body` for its parameters and statements.
    pub fn block_code(&mut self, (offset, end): (u32, u32), params: Option<Node<'pr>>, body: Option<Node<'pr>>) -> u16 {
        self.block_code_opened((offset, offset, end), params, body)
    }

    /// The same of a lambda literal: it counts as written where its body opens, which may be lines behind its parameters.
    pub fn block_code_opened(
        &mut self,
        (offset, opening, end): (u32, u32, u32),
        params: Option<Node<'pr>>,
        body: Option<Node<'pr>>,
    ) -> u16 {
        let scope = self.scopes.at(offset);
        let line = self.line_of(opening);
        let name = self.f.name;
        let end_line = self.line_of(end.saturating_sub(1));
        self.child(scope, |c| {
            let shape = crate::params::block_shape(params.as_ref(), c.encoding);
            c.definition = Some((offset, end - offset));
            c.code(scope, name, line, shape.params, &|c, p| {
                if let Some(list) = params.as_ref().and_then(|n| n.as_block_parameters_node()).and_then(|b| b.parameters()) {
                    c.prologue(&list, p);
                }
                let redo = c.f.asm.here();
                c.f.redo = Some(redo);
                c.f.end_line = end_line;
                c.tail_opt(body.as_ref());
            })
        })
    }
}

/// In a block of its own size. Malloc leaves a block that shrinks to half of it where it is, with all that it had, for as long as the Code lives.
fn exact<T>(list: Vec<T>) -> Box<[T]> {
    let mut own = Vec::with_capacity(list.len());
    own.extend(list);
    own.into_boxed_slice()
}
