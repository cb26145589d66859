//! A parsed pattern: nodes in one list, named by index.
//!
//! Invariant: a node stands behind its parts, so that a loop from front to back sees parts first: nothing that works on trees recurses, however deep
//! a pattern is nested.
//! Rejected: boxed nodes (their walks and their drop recurse on the native stack of a VM).

use super::ranges::Ranges;
use std::sync::Arc;

pub type Id = u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Greed {
    Greedy,
    Lazy,
    Possessive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// `^`
    LineStart,
    /// `$`
    LineEnd,
    /// `\A`
    TextStart,
    /// `\z`
    TextEnd,
    /// `\Z`
    TextEndNewline,
    /// `\G`
    SearchStart,
    /// `\b`, `\B`
    WordEdge { ascii: bool, not: bool },
}

/// What `\g` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Number(u32),
    Name(Vec<u8>),
}

#[derive(Clone, Debug)]
pub enum Node {
    /// Codes of the encoding one after the other.
    Chars {
        codes: Vec<u32>,
        fold: bool,
    },
    Set(Arc<Ranges>),
    Any {
        newline: bool,
    },
    Cat(Vec<Id>),
    Alt(Vec<Id>),
    Repeat {
        of: Id,
        min: u32,
        max: Option<u32>,
        greed: Greed,
    },
    Group {
        number: u32,
        of: Id,
    },
    Atomic(Id),
    Look {
        behind: bool,
        not: bool,
        of: Id,
    },
    Condition {
        groups: Vec<u32>,
        yes: Id,
        no: Option<Id>,
    },
    /// `(?~...)`
    Absent(Id),
    Backref {
        groups: Vec<u32>,
        fold: bool,
        level: Option<i32>,
    },
    /// After resolution, a number.
    Call(Target),
    Anchor(Anchor),
    /// `\K`
    Keep,
    /// `\R`
    Newline,
    /// `\X`
    Grapheme,
}

#[derive(Debug, Default)]
pub struct Tree {
    pub nodes: Vec<Node>,
    pub root: Id,
    /// Groups, the whole match included.
    pub groups: u32,
    /// Names in order of appearance, with their groups.
    pub names: Vec<(Vec<u8>, Vec<u32>)>,
}

impl Tree {
    pub fn push(&mut self, node: Node) -> Id {
        self.nodes.push(node);
        self.nodes.len() as Id - 1
    }

    pub fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    /// Visits the parts of a node.
    pub fn parts(&self, id: Id, f: &mut dyn FnMut(Id)) {
        match self.node(id) {
            Node::Cat(v) | Node::Alt(v) => v.iter().for_each(|&x| f(x)),
            Node::Repeat { of, .. } | Node::Group { of, .. } | Node::Atomic(of) | Node::Look { of, .. } | Node::Absent(of) => f(*of),
            Node::Condition { yes, no, .. } => {
                f(*yes);
                no.iter().for_each(|&x| f(x));
            }
            _ => {}
        }
    }
}
