//! Capture analysis: which variables live in registers and which in environments.
//!
//! One walk over the tree before lowering. prism has resolved every local variable to a number of scopes to go up; a variable
//! that is reached from a nested block is *captured* and gets an environment slot. `def`, `class`, `module` and `class <<` start a
//! new chain. Things that only exist at run time are treated as variables too: the method's block when a block yields to it, `$~`,
//! `$_`, the states of flip-flops.
//!
//! `for` makes no scope in Ruby, but its body is lowered as a block: a `For` scope owns no named variable and is skipped when
//! prism's depths are counted.

use std::collections::HashMap;
use zakuro_base::{Sym, sym};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Program,
    Method,
    Class,
    Block,
    Lambda,
    For,
    Eval,
    /// A scope around an eval, known by its environment only.
    Outer,
}

#[derive(Debug)]
pub(crate) struct Var {
    pub name: Sym,
    pub captured: bool,
    /// Slot when captured.
    pub slot: u16,
    /// Register when not captured, or of the parameter.
    pub reg: u16,
    /// Source offsets of assignments, ascending.
    pub(crate) writes: Vec<u32>,
    /// Assigned where offsets say nothing (inside a heredoc).
    pub(crate) written_anywhere: bool,
}

#[derive(Debug)]
pub(crate) struct Scope {
    pub kind: Kind,
    pub parent: Option<usize>,
    /// The scope around a class body, whose variables it does not see.
    pub(crate) around: Option<usize>,
    pub vars: Vec<Var>,
    by_name: HashMap<Sym, usize>,
    /// Variables of the parameters, in register order.
    pub params: Vec<usize>,
    pub own_env: bool,
    /// The environment around is read, or must be found by `break`/`return`.
    pub needs_parent_env: bool,
    pub has_blocks: bool,
    pub(crate) sees_binding: bool,
    /// The variable of a method's `&block`; after the walk only if objects are made of the block where they are wanted ([`Place::Block`]).
    pub(crate) block_param: Option<usize>,
    /// A method that passes its block on, or yields to it.
    pub(crate) uses_block: bool,
    pub(crate) mentions_match: bool,
    pub(crate) mentions_line: bool,
    /// The outermost scope of an eval inside a method.
    pub in_method: bool,
    /// Environment slots (own environments only).
    pub slots: u16,
    pub nlocals: u16,
    pub env_reg: u16,
    pub first_temp: u16,
    /// Register -> variable that lives in it.
    in_registers: Vec<Option<u32>>,
}

impl Scope {
    pub(crate) fn new(kind: Kind, parent: Option<usize>) -> Scope {
        Scope {
            kind,
            parent,
            around: None,
            vars: Vec::new(),
            by_name: HashMap::new(),
            params: Vec::new(),
            own_env: kind == Kind::Outer || kind == Kind::Eval,
            needs_parent_env: false,
            has_blocks: false,
            sees_binding: false,
            block_param: None,
            uses_block: false,
            mentions_match: false,
            mentions_line: false,
            in_method: false,
            slots: 0,
            nlocals: 0,
            env_reg: 0,
            first_temp: 0,
            in_registers: Vec::new(),
        }
    }

    pub fn var(&self, name: Sym) -> Option<usize> {
        self.by_name.get(&name).copied()
    }

    pub(crate) fn declare(&mut self, name: Sym) -> usize {
        if let Some(i) = self.by_name.get(&name) {
            return *i;
        }
        let i = self.declare_hidden(name);
        self.by_name.insert(name, i);
        i
    }

    /// A variable that no name finds.
    pub(crate) fn declare_hidden(&mut self, name: Sym) -> usize {
        crate::job::took(size_of::<Var>() + 32);
        self.vars.push(Var { name, captured: false, slot: 0, reg: 0, writes: Vec::new(), written_anywhere: false });
        self.vars.len() - 1
    }
}

/// All scopes of a source.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    pub list: Vec<Scope>,
    /// Scope node's source offset -> scope. No two scope nodes begin with the same token.
    pub(crate) by_offset: HashMap<u32, usize>,
    pub root: usize,
    pub too_deep: Option<u32>,
    /// (environments up from the eval's parent environment, slot) of `$~`
    pub eval_backref: Option<(u8, u16)>,
    pub eval_lastline: Option<(u8, u16)>,
}

/// Deepest nesting of nodes that is lowered.
pub(crate) const MAX_DEPTH: u32 = 10_000;

impl Scopes {
    pub fn at(&self, offset: u32) -> usize {
        self.by_offset.get(&offset).copied().unwrap_or(self.root)
    }

    /// The scope that prism means by `depth` seen from `from`.
    pub fn up(&self, from: usize, depth: u32) -> usize {
        let mut s = self.named(from);
        for _ in 0..depth {
            let Some(p) = self.list[s].parent else { break };
            s = self.named(p);
        }
        s
    }

    /// The nearest scope that can own named variables.
    fn named(&self, mut s: usize) -> usize {
        while self.list[s].kind == Kind::For {
            match self.list[s].parent {
                Some(p) => s = p,
                None => break,
            }
        }
        s
    }

    /// The method, class body, program (or outermost known scope of an eval) around.
    pub fn root_of(&self, mut s: usize) -> usize {
        while let Some(p) = self.list[s].parent {
            s = p;
        }
        s
    }

    /// Finds `name` in the scope chain from `from` outwards.
    pub fn find(&self, from: usize, name: Sym) -> Option<(usize, usize)> {
        let mut s = from;
        loop {
            if let Some(v) = self.list[s].var(name) {
                return Some((s, v));
            }
            s = self.list[s].parent?;
        }
    }

    /// Number of environments between the one that `from` runs in and the one of `to`.
    pub fn env_depth(&self, from: usize, to: usize) -> u16 {
        let mut depth = 0;
        let mut s = from;
        while s != to {
            depth += self.list[s].own_env as u16;
            match self.list[s].parent {
                Some(p) => s = p,
                None => break,
            }
        }
        depth
    }

    /// Whether variable `var` of `scope` is assigned in source range `range`.
    pub fn written_in(&self, scope: usize, var: usize, range: (u32, u32)) -> bool {
        let v = &self.list[scope].vars[var];
        v.written_anywhere || v.writes[v.writes.partition_point(|w| *w < range.0)..].first().is_some_and(|w| *w < range.1)
    }

    /// The variable in register `reg` of `scope`.
    pub fn var_in_register(&self, scope: usize, reg: u16) -> Option<usize> {
        let s = &self.list[scope];
        if reg == 0 || reg >= s.nlocals {
            return None;
        }
        s.in_registers.get(reg as usize).copied().flatten().map(|v| v as usize)
    }

    pub(crate) fn capture(&mut self, from: usize, scope: usize, var: usize) {
        if from == scope {
            return;
        }
        self.list[scope].vars[var].captured = true;
        let mut s = from;
        while s != scope {
            self.list[s].needs_parent_env = true;
            match self.list[s].parent {
                Some(p) => s = p,
                None => break,
            }
        }
    }

    /// Makes every scope from `from`'s parent to its root findable by `break` and `return`.
    pub(crate) fn force_envs(&mut self, from: usize) {
        let mut s = from;
        while let Some(p) = self.list[s].parent {
            self.list[s].needs_parent_env = true;
            self.list[p].own_env = true;
            s = p;
        }
    }

    pub(crate) fn finish(&mut self) {
        for s in 0..self.list.len() {
            let root = self.root_of(s);
            let owner = if self.list[root].kind == Kind::Outer { self.root } else { root };
            if self.list[root].mentions_match && !(owner != root && self.eval_backref.is_some()) {
                let v = self.list[owner].declare(sym::match_var);
                self.capture(s, owner, v);
            }
            if self.list[root].kind == Kind::Outer && s > self.root {
                self.list[s].needs_parent_env = true;
            }
            if self.list[root].mentions_line && !(owner != root && self.eval_lastline.is_some()) {
                let v = self.list[owner].declare(line_var());
                self.capture(s, owner, v);
            }
        }
        for s in &mut self.list {
            if s.kind == Kind::Outer {
                continue;
            }
            if s.sees_binding || s.kind == Kind::Eval {
                s.own_env = true;
                s.vars.iter_mut().for_each(|v| v.captured = true);
            }
            s.own_env |= s.vars.iter().any(|v| v.captured);
            s.block_param = s.block_param.filter(|p| {
                let v = &s.vars[*p];
                !v.captured && v.writes.is_empty() && !v.written_anywhere
            });
            if let Some(block) = s.block_param {
                s.params.retain(|p| *p != block);
            }
            let mut next = 1;
            let mut is_param = vec![false; s.vars.len()];
            for p in &s.params {
                is_param[*p] = true;
                s.vars[*p].reg = next;
                next = next.wrapping_add(1);
            }
            for (i, v) in s.vars.iter_mut().enumerate() {
                v.writes.sort_unstable();
                if v.captured {
                    v.slot = s.slots;
                    // More than fit are refused before anything is lowered.
                    s.slots = s.slots.wrapping_add(1);
                } else if !is_param[i] && s.block_param != Some(i) {
                    v.reg = next;
                    next = next.wrapping_add(1);
                }
            }
            s.nlocals = next;
            s.in_registers = vec![None; next as usize];
            for (i, v) in s.vars.iter().enumerate().rev().filter(|(_, v)| !v.captured) {
                if let Some(place) = s.in_registers.get_mut(v.reg as usize) {
                    *place = Some(i as u32);
                }
            }
            if s.own_env || s.needs_parent_env {
                s.env_reg = next;
                next = next.wrapping_add(1);
            }
            s.first_temp = next;
        }
    }
}

/// Name of the hidden variable that holds `$_`.
pub(crate) fn line_var() -> Sym {
    Sym::intern("~line")
}

/// Name of the parameter that `it` refers to. Not `it`: a real variable of that name may exist beside it.
pub(crate) fn it_var() -> Sym {
    Sym::intern("~it")
}

/// Name of the state of the flip-flop at a source offset.
pub(crate) fn flip_flop_var(offset: u32) -> Sym {
    Sym::intern(&format!("~flip{offset}"))
}
