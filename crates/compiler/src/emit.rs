//! The assembler of one [`Code`](zakuro_bytecode::Code): instructions, labels, tables of sites, line table, handler ranges.
//!
//! Labels are resolved once, in [`Asm::resolve`]. Fused compare-and-branch instructions reach 32,767 instructions; when one of
//! them would have to reach farther the whole Code is lowered again without them (`Reach::Wide`), which is so rare that a
//! relaxation pass would be dead weight.

use std::collections::HashMap;
use std::sync::Arc;
use zakuro_base::Sym;
use zakuro_bytecode::op::{Field, Role};
use zakuro_bytecode::{CallSite, Const, ConstSite, Handler, HandlerKind, Insn, Op};

/// A jump target, bound at most once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Label(u32);

const UNBOUND: u32 = u32::MAX;

/// After so many instructions the assembler looks whether the Code is still wanted.
const LOOK: usize = 256;
/// Bytes that an instruction takes with its share of all tables, those of Code and assembler.
const INSTRUCTION: usize = 64;

struct PendingHandler {
    start: u32,
    end: u32,
    target: Label,
    kind: HandlerKind,
}

/// Statements that are to begin further on than where they were met.
#[derive(Default)]
pub(crate) struct HeldStatements {
    statements: Vec<(u32, u32)>,
    first: Option<(u32, u32)>,
}

/// Why a Code could not be assembled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AsmError {
    /// A 16-bit jump is too short: lower again without fused jumps.
    NeedsWide,
    /// More than 65,535 registers, sites or literals.
    TooBig,
}

#[derive(Default)]
pub(crate) struct Asm {
    pub insns: Vec<Insn>,
    pub lines: Vec<(u32, u32)>,
    /// Instructions at which a line's first statement begins, with the line.
    pub statements: Vec<(u32, u32)>,
    /// First instructions of the bodies of rescue clauses.
    pub rescues: Vec<u32>,
    statement_line: u32,
    /// Where in the code and in the source the last one begins.
    pub statement_first: Option<(u32, u32)>,
    /// Line given to the instructions emitted next.
    pub line: u32,
    pub spans: Vec<(u32, u32, u32)>,
    /// Source range (start, length) of the node being lowered, when errors in it are to be marked.
    pub span: Option<(u32, u32)>,
    labels: Vec<u32>,
    fixups: Vec<(u32, Label)>,
    /// Largest instruction index that some label is bound to.
    last_bound: usize,
    pub syms: Vec<Sym>,
    sym_index: HashMap<Sym, u16>,
    pub consts: Vec<Const>,
    const_index: HashMap<ConstKey, u16>,
    pub calls: Vec<CallSite>,
    pub keyword_lists: Vec<Box<[Sym]>>,
    keyword_index: HashMap<Box<[Sym]>, u16>,
    pub ivars: Vec<Sym>,
    pub const_sites: Vec<ConstSite>,
    handlers: Vec<PendingHandler>,
    pub too_big: bool,
}

/// Instructions that keep the source range of their node: those at which a frame stands when a name is missing or a builtin raises.
fn marked(op: Op) -> bool {
    matches!(op, Op::Send | Op::SendBlk | Op::SendSelf | Op::SendSelfBlk | Op::SendX | Op::GetConst | Op::GetConstFrom | Op::Intrinsic)
}

#[derive(PartialEq, Eq, Hash)]
enum ConstKey {
    Int(i64),
    Float(u64),
    Sym(Sym),
    Str(Arc<[u8]>, u8),
    Interned(Arc<[u8]>, u8),
}

impl Asm {
    pub fn ip(&self) -> u32 {
        self.insns.len() as u32
    }

    pub fn emit(&mut self, op: Op, x: u8, a: u16, b: u16, c: u16) {
        self.push(Insn::new(op, x, a, b, c));
    }

    pub fn emit_imm(&mut self, op: Op, a: u16, imm: i32) {
        self.push(Insn::with_imm(op, 0, a, imm));
    }

    fn push(&mut self, insn: Insn) {
        if self.lines.last().is_none_or(|l| l.1 != self.line) {
            let at = self.ip();
            match self.lines.last_mut() {
                Some(last) if last.0 == at => last.1 = self.line,
                _ => self.lines.push((at, self.line)),
            }
        }
        if let Some((start, len)) = self.span
            && marked(insn.opcode())
        {
            self.spans.push((self.ip(), start, len));
        }
        self.insns.push(insn);
        if self.insns.len().is_multiple_of(LOOK) {
            crate::job::took(LOOK * INSTRUCTION);
        }
    }

    /// A statement that stands on line `own` begins here; a trace tells of it on `line`, that of what it evaluates first, which is at `first` of the source. One on the line of the
    /// statement before it is not seen, nor one that begins with what that one begins with.
    pub fn statement(&mut self, own: u32, line: u32, first: u32) {
        if own != self.statement_line {
            self.statement_line = own;
            let at = self.ip();
            if self.statement_first.replace((at, first)) != Some((at, first)) || !self.begins_statement() {
                self.statements.push((at, line));
            }
        }
    }

    /// What begins next is seen, whatever its line.
    pub fn no_statement(&mut self) {
        self.statement_line = 0;
    }

    /// Takes back the statements after the first `count`: they never run, or nothing was made of them. The next one stands for them.
    pub fn forget_statements(&mut self, count: usize) {
        if self.statements.len() > count {
            self.statements.truncate(count);
            self.statement_line = 0;
        }
    }

    /// Takes out the statements that would begin with the next instruction.
    pub fn hold_statements(&mut self) -> HeldStatements {
        let at = self.ip();
        let from = self.statements.partition_point(|s| s.0 < at);
        HeldStatements { statements: self.statements.split_off(from), first: self.statement_first }
    }

    /// Lets those begin here.
    pub fn release_statements(&mut self, held: &mut HeldStatements) {
        if held.statements.is_empty() {
            return;
        }
        let at = self.ip();
        self.statements.extend(held.statements.drain(..).map(|(_, line)| (at, line)));
        self.statement_first = held.first.map(|(_, first)| (at, first));
    }

    /// Lowers what is a Code of its own in CRuby: its first statement is seen on whatever line, and what follows is as if it was not there.
    pub fn set_apart(&mut self) -> u32 {
        std::mem::replace(&mut self.statement_line, 0)
    }

    pub fn end_apart(&mut self, line: u32) {
        self.statement_line = line;
    }

    /// Whether a statement begins with the next instruction.
    pub fn begins_statement(&self) -> bool {
        self.statements.last().is_some_and(|s| s.0 == self.ip())
    }

    pub fn mov(&mut self, to: u16, from: u16) {
        if to != from {
            self.emit(Op::Move, 0, to, from, 0);
        }
    }

    // ---- labels ----

    pub fn label(&mut self) -> Label {
        self.labels.push(UNBOUND);
        Label(self.labels.len() as u32 - 1)
    }

    pub fn bind(&mut self, label: Label) {
        debug_assert_eq!(self.labels[label.0 as usize], UNBOUND, "label bound twice");
        self.labels[label.0 as usize] = self.ip();
        self.last_bound = self.insns.len();
    }

    /// A label bound here.
    pub fn here(&mut self) -> Label {
        let l = self.label();
        self.bind(l);
        l
    }

    /// Whether control can arrive at the next instruction.
    pub fn reachable(&self) -> bool {
        let Some(last) = self.insns.last() else { return true };
        let leaves = matches!(last.opcode(), Op::Return | Op::ReturnBlock | Op::BreakBlock | Op::Jump | Op::Loop | Op::Rethrow);
        !leaves || self.last_bound == self.insns.len()
    }

    /// `Jump`, dropped where control cannot arrive.
    pub fn jump(&mut self, to: Label) {
        if self.reachable() {
            self.jump_op(Op::Jump, 0, to);
        }
    }

    /// A jump with a 32-bit distance.
    pub fn jump_op(&mut self, op: Op, a: u16, to: Label) {
        self.fixups.push((self.ip(), to));
        self.emit_imm(op, a, 0);
    }

    /// A jump with a 16-bit distance in `c`.
    pub fn jump_fused(&mut self, op: Op, a: u16, b: u16, to: Label) {
        self.fixups.push((self.ip(), to));
        self.emit(op, 0, a, b, 0);
    }

    // ---- tables ----

    fn index(&mut self, n: usize) -> u16 {
        // u16::MAX is NO_BLOCK in some of the tables.
        if n >= u16::MAX as usize {
            self.too_big = true;
            return 0;
        }
        n as u16
    }

    pub fn sym(&mut self, s: Sym) -> u16 {
        if let Some(i) = self.sym_index.get(&s) {
            return *i;
        }
        let i = self.index(self.syms.len());
        self.syms.push(s);
        self.sym_index.insert(s, i);
        i
    }

    pub fn konst(&mut self, c: Const) -> u16 {
        let key = match &c {
            Const::Int(n) => Some(ConstKey::Int(*n)),
            Const::Float(f) => Some(ConstKey::Float(f.to_bits())),
            Const::Sym(s) => Some(ConstKey::Sym(*s)),
            Const::Str { bytes, encoding } => Some(ConstKey::Str(bytes.clone(), *encoding)),
            Const::Interned { bytes, encoding } => Some(ConstKey::Interned(bytes.clone(), *encoding)),
            _ => None,
        };
        if let Some(i) = key.as_ref().and_then(|k| self.const_index.get(k)) {
            return *i;
        }
        let i = self.index(self.consts.len());
        crate::job::took(size_of::<Const>() + size_of::<ConstKey>() + c.payload());
        self.consts.push(c);
        if let Some(k) = key {
            self.const_index.insert(k, i);
        }
        i
    }

    pub fn keyword_list(&mut self, names: Vec<Sym>) -> u16 {
        if let Some(i) = self.keyword_index.get(&*names) {
            return *i;
        }
        let i = self.index(self.keyword_lists.len());
        let names: Box<[Sym]> = names.into();
        self.keyword_lists.push(names.clone());
        self.keyword_index.insert(names, i);
        i
    }

    pub fn site(&mut self, site: CallSite) -> u16 {
        let i = self.index(self.calls.len());
        self.calls.push(site);
        i
    }

    pub fn ivar(&mut self, name: Sym) -> u16 {
        let i = self.index(self.ivars.len());
        self.ivars.push(name);
        i
    }

    pub fn const_site(&mut self, name: Sym, top: bool) -> u16 {
        let i = self.index(self.const_sites.len());
        self.const_sites.push(ConstSite { name, top });
        i
    }

    // ---- handlers ----

    /// Registers a handler for `start..end`; inner ranges must be registered before outer ones.
    pub fn handler(&mut self, start: u32, end: u32, target: Label, kind: HandlerKind) {
        if start < end {
            self.handlers.push(PendingHandler { start, end, target, kind });
        }
    }

    /// Fills in the jump distances and returns the handlers.
    pub fn resolve(&mut self) -> Result<Vec<Handler>, AsmError> {
        if self.too_big {
            return Err(AsmError::TooBig);
        }
        for (at, label) in &self.fixups {
            let target = self.labels[label.0 as usize];
            debug_assert_ne!(target, UNBOUND, "unbound label");
            let distance = target as i64 - *at as i64;
            let insn = &mut self.insns[*at as usize];
            match insn.opcode().field(Role::Jump) {
                Some(Field::C) => insn.c = i16::try_from(distance).map_err(|_| AsmError::NeedsWide)? as u16,
                _ => {
                    let d = i32::try_from(distance).map_err(|_| AsmError::TooBig)?;
                    insn.b = d as u16;
                    insn.c = (d >> 16) as u16;
                }
            }
        }
        let labels = &self.labels;
        Ok(self
            .handlers
            .iter()
            .map(|h| Handler { start: h.start, end: h.end, target: labels[h.target.0 as usize], kind: h.kind })
            .collect())
    }
}
