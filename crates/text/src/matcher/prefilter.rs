//! What a search may skip: where matches can begin, and texts without which there is none.
//!
//! Invariant: a hint is true of every match; a search that heeds none finds the same.

use super::analyze::Analysis;
use super::ast::{Anchor, Greed, Id, Node, Tree};
use super::codec::Coding;
use super::program::{Begin, First, Program};
use crate::encoding::Encoding;
use memchr::memmem::Finder;

pub fn prepare(p: &mut Program, tree: &Tree, a: &Analysis, enc: Encoding) {
    if a.called[0] {
        return;
    }
    let leading = leading(tree);
    p.begin = begin(p, tree, &leading);
    // Bytes are characters, or begin them, only here.
    if matches!(p.coding, Coding::Multi(_)) {
        return;
    }
    let mut first = a.first[tree.root as usize];
    for &id in &leading {
        // What must be seen ahead begins there, too.
        if let Node::Look { behind: false, not: false, of } = tree.node(id) {
            let ahead = a.first[*of as usize];
            if !ahead.empty {
                let both = |i: usize| if first.empty { ahead.bits[i] } else { ahead.bits[i] & first.bits[i] };
                first = First { bits: std::array::from_fn(both), empty: false };
            }
        }
    }
    if !first.empty && first.count() < 256 {
        p.first = Some(first);
        if first.count() <= 3 {
            p.first_few = first.bytes().collect();
        }
    }
    let encode = |codes: &[u32]| {
        let mut bytes = Vec::new();
        for &c in codes {
            if p.coding == Coding::Single {
                bytes.push(c as u8);
            } else {
                enc.encode(c, &mut bytes);
            }
        }
        bytes
    };
    let start = leading.iter().find(|id| !is_place(tree.node(**id)));
    let mut prefix = Vec::new();
    if let Some(&id) = start
        && let Node::Chars { codes, fold: false } = tree.node(id)
    {
        prefix = encode(codes);
    }
    let needed = needed(tree).map(|id| match tree.node(id) {
        Node::Chars { codes, .. } => encode(codes),
        _ => Vec::new(),
    });
    p.is_literal = matches!(tree.node(tree.root), Node::Chars { fold: false, .. });
    if prefix.len() > 1 || p.is_literal && !prefix.is_empty() {
        p.prefix_len = prefix.len();
        p.prefix = Some(Box::new(Finder::new(&prefix).into_owned()));
    }
    if let Some(needed) = needed.filter(|n| !n.is_empty() && *n != prefix) {
        p.needed = Some(Box::new(Finder::new(&needed).into_owned()));
    }
}

fn is_place(node: &Node) -> bool {
    matches!(node, Node::Anchor(_) | Node::Look { .. })
}

/// The nodes that every match begins with, up to the first that may take a character.
fn leading(tree: &Tree) -> Vec<Id> {
    let mut out = Vec::new();
    let mut todo = vec![tree.root];
    while let Some(id) = todo.pop() {
        match tree.node(id) {
            Node::Cat(v) => todo.extend(v.iter().rev()),
            Node::Group { of, .. } | Node::Atomic(of) => todo.push(*of),
            Node::Repeat { of, min: 1.., max, .. } if *max != Some(0) => {
                // The first round; what follows it is not what follows the loop.
                todo.clear();
                todo.push(*of);
            }
            node if is_place(node) => out.push(id),
            _ => {
                out.push(id);
                break;
            }
        }
    }
    out
}

fn begin(p: &Program, tree: &Tree, leading: &[Id]) -> Begin {
    for &id in leading {
        match tree.node(id) {
            Node::Anchor(Anchor::TextStart) => return Begin::Text,
            Node::Anchor(Anchor::SearchStart) => return Begin::Search,
            Node::Anchor(Anchor::LineStart) => return Begin::Line,
            _ => {}
        }
    }
    if !p.memo || p.levels {
        return Begin::Anywhere;
    }
    // `.*` at the very front: a later beginning in the same line sees nothing new.
    let mut id = tree.root;
    loop {
        match tree.node(id) {
            Node::Cat(v) if !v.is_empty() => id = v[0],
            Node::Group { of, .. } => id = *of,
            Node::Repeat { of, min: 0, max: None, greed } if *greed != Greed::Possessive => {
                return match tree.node(*of) {
                    Node::Any { newline: false } => Begin::OncePerLine,
                    Node::Any { newline: true } => Begin::Once,
                    _ => Begin::Anywhere,
                };
            }
            _ => return Begin::Anywhere,
        }
    }
}

/// The longest literal that every match contains.
fn needed(tree: &Tree) -> Option<Id> {
    let mut best: Option<(usize, Id)> = None;
    let mut todo = vec![tree.root];
    while let Some(id) = todo.pop() {
        match tree.node(id) {
            Node::Cat(v) => todo.extend(v),
            Node::Group { of, .. } | Node::Atomic(of) => todo.push(*of),
            Node::Repeat { of, min: 1.., max, .. } if *max != Some(0) => todo.push(*of),
            Node::Chars { codes, fold: false } if best.is_none_or(|b| codes.len() > b.0) => best = Some((codes.len(), id)),
            _ => {}
        }
    }
    best.map(|b| b.1)
}
