//! Ruby's answer to `Regexp.linear_time?`.
//!
//! Ruby's engine remembers failures, but not beside references, calls, conditions and absence, groups in look-around and atomic groups, look-around in
//! atomic groups and the other way round, and counted loops in loops. It counts what takes more than so many bytes of instructions to write out, and makes a loop
//! atomic whose follower could not match inside. [`super::memo`] remembers in some more cases; the answer is Ruby's.
//! Rejected: the answer for our own program (programs ask it to find patterns that other Rubies match slowly).

use super::ast::{Greed, Id, Node, Tree};
use super::property::Type;
use super::ranges::Ranges;
use crate::encoding::Encoding;

/// Bytes of instructions beyond which Ruby's engine counts.
const EXPANDED: u64 = 50;
/// Longest text that a repeated text is written out to.
const EXPANDED_TEXT: u64 = 100;
// Sizes of operands.
const CODE: u64 = 1;
const ADDRESS: u64 = 4;
const NUMBER: u64 = 2;
const LENGTH: u64 = 4;
const PUSH: u64 = CODE + ADDRESS;
const BITSET: u64 = 32;

/// What Ruby's engine makes of a node.
#[derive(Clone, Copy, Default)]
struct Shape {
    bytes: u64,
    /// Cannot be remembered, whatever stands around it.
    never: bool,
    group: bool,
    look: bool,
    atomic: bool,
    counted: bool,
    may_be_empty: bool,
}

impl Shape {
    fn sized(bytes: u64) -> Shape {
        Shape { bytes, ..Shape::default() }
    }

    fn with(mut self, other: Shape) -> Shape {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.never |= other.never;
        self.group |= other.group;
        self.look |= other.look;
        self.atomic |= other.atomic;
        self.counted |= other.counted;
        self
    }

    fn plus(mut self, bytes: u64) -> Shape {
        self.bytes = self.bytes.saturating_add(bytes);
        self
    }
}

pub fn linear_time(tree: &Tree, enc: Encoding) -> bool {
    let word = Type::Word.ascii();
    let words = [word.negated(), word];
    let mut shapes: Vec<Shape> = Vec::with_capacity(tree.nodes.len());
    for id in 0..tree.nodes.len() as Id {
        let shape = shape(tree, id, enc, &words, &shapes);
        shapes.push(shape);
    }
    !shapes[tree.root as usize].never
}

fn char_bytes(code: u32, enc: Encoding) -> u64 {
    let mut bytes = Vec::new();
    enc.encode(code, &mut bytes);
    bytes.len().max(1) as u64
}

fn shape(tree: &Tree, id: Id, enc: Encoding, words: &[Ranges; 2], shapes: &[Shape]) -> Shape {
    let of = |id: &Id| shapes[*id as usize];
    let empty = |shape: Shape| Shape { may_be_empty: true, ..shape };
    match tree.node(id) {
        Node::Chars { codes, .. } if codes.is_empty() => empty(Shape::default()),
        Node::Chars { codes, fold } => {
            let bytes = codes.iter().map(|&c| char_bytes(c, enc)).sum::<u64>();
            let short = if *fold { codes.len() == 1 } else { bytes <= 5 };
            Shape::sized(CODE + if short { 0 } else { LENGTH } + bytes)
        }
        Node::Set(set) => Shape::sized(set_bytes(set, enc, words)),
        Node::Any { .. } => Shape::sized(CODE),
        Node::Anchor(_) | Node::Keep => empty(Shape::sized(CODE)),
        Node::Newline => Shape { atomic: true, ..Shape::sized(2 * PUSH + BITSET) },
        Node::Grapheme => Shape { atomic: true, ..Shape::sized(1000) },
        Node::Cat(v) => {
            let all = v.iter().fold(Shape::default(), |s, x| s.with(of(x)));
            let gives_nothing_back = v.windows(2).any(|pair| is_apart(tree, pair[0], pair[1]));
            Shape { may_be_empty: v.iter().all(|x| of(x).may_be_empty), atomic: all.atomic || gives_nothing_back, ..all }
        }
        Node::Alt(v) => {
            let all = v.iter().fold(Shape::default(), |s, x| s.with(of(x)).plus(2 * PUSH));
            Shape { bytes: all.bytes - 2 * PUSH, may_be_empty: v.iter().any(|x| of(x).may_be_empty), ..all }
        }
        Node::Repeat { of: x, min, max, greed } => {
            let repeat = repeat(tree.node(*x), of(x), *min, *max, *greed);
            match greed {
                Greed::Possessive => atomic(repeat),
                _ => repeat,
            }
        }
        Node::Group { of: x, .. } => Shape { group: true, ..of(x).plus(2 * (CODE + NUMBER)) },
        Node::Atomic(x) => atomic(of(x)),
        Node::Look { behind: true, not: false, of: x } => empty(of(x).plus(CODE + LENGTH)),
        Node::Look { of: x, behind, not } => {
            let inner = of(x);
            let around = 2 * CODE + if *not { ADDRESS } else { 0 } + if *behind { LENGTH } else { 0 };
            Shape { look: true, never: inner.never || inner.group || inner.atomic, may_be_empty: true, ..inner.plus(around) }
        }
        Node::Condition { .. } | Node::Absent(_) | Node::Backref { .. } | Node::Call(_) => {
            Shape { never: true, may_be_empty: true, ..Shape::default() }
        }
    }
}

fn repeat(node: &Node, inner: Shape, min: u32, max: Option<u32>, greed: Greed) -> Shape {
    let lazy = greed == Greed::Lazy;
    let may_be_empty = inner.may_be_empty || min == 0;
    let (low, size) = (u64::from(min), inner.bytes);
    let sized = |bytes: u64, counts: bool| Shape {
        bytes,
        may_be_empty,
        never: inner.never || inner.counted,
        counted: inner.counted || counts,
        ..inner
    };
    let checked = if inner.may_be_empty { size + 2 * (CODE + NUMBER) } else { size };
    if let Node::Chars { codes, fold: false } = node
        && min > 1
        && codes.len() as u64 * low <= EXPANDED_TEXT
    {
        // Written out; then what may follow.
        let bytes = codes.len() as u64 * low;
        let text = Shape::sized(CODE + if bytes <= 5 { 0 } else { LENGTH } + bytes);
        return match max.map(|high| high - min) {
            Some(0) => text,
            more => text.with(repeat(node, inner, 0, more, greed)),
        };
    }
    match max {
        Some(0) => Shape { may_be_empty: true, ..Shape::default() },
        None if !lazy && matches!(node, Node::Any { .. }) => sized(CODE + size * low, false),
        None if min <= 1 || size * low <= EXPANDED => {
            let first = if min == 1 && size > EXPANDED { PUSH } else { size * low };
            sized(first + 2 * PUSH + checked, false)
        }
        Some(high) if !lazy && (high == 1 || (size + PUSH) * u64::from(high) <= EXPANDED) => {
            sized(size * low + (PUSH + size) * u64::from(high.saturating_sub(min)), false)
        }
        Some(1) if lazy && min == 0 => sized(2 * PUSH + size, false),
        _ => sized(2 * (CODE + NUMBER) + ADDRESS + checked, true),
    }
}

fn atomic(inner: Shape) -> Shape {
    Shape { atomic: true, never: inner.never || inner.group || inner.look || inner.atomic, ..inner.plus(2 * CODE) }
}

/// Is this an endless loop over a character or text, and can what follows not match inside?
fn is_apart(tree: &Tree, id: Id, next: Id) -> bool {
    let mut id = id;
    while let Node::Group { of, .. } = tree.node(id) {
        id = *of;
    }
    let Node::Repeat { of, min: 0 | 1, max: None, greed: Greed::Greedy } = tree.node(id) else { return false };
    let simple = matches!(tree.node(*of), Node::Chars { .. } | Node::Set(_));
    simple && matches!((head(tree, *of), head(tree, next)), (Some(a), Some(b)) if a.intersection(&b).is_empty())
}

/// The characters that a node begins with, where Ruby's engine looks for them.
fn head(tree: &Tree, id: Id) -> Option<Ranges> {
    let mut id = id;
    loop {
        match tree.node(id) {
            Node::Chars { codes, fold: false } => return codes.first().map(|&c| Ranges::single(c)),
            Node::Set(set) => return Some(Ranges::clone(set)),
            Node::Cat(v) => id = *v.first()?,
            Node::Group { of, .. } | Node::Atomic(of) | Node::Look { of, behind: false, not: false } => id = *of,
            Node::Repeat { of, min: 1.., max, .. } if *max != Some(0) => id = *of,
            _ => return None,
        }
    }
}

fn set_bytes(set: &Ranges, enc: Encoding, words: &[Ranges; 2]) -> u64 {
    if words.contains(set) {
        return CODE;
    }
    if let Some(code) = set.only() {
        return CODE + char_bytes(code, enc);
    }
    let border = if enc.is_single_byte() { 0x100 } else { 0x80 };
    let beyond = set.pairs().iter().filter(|r| r.1 >= border && r.0 <= 0x10ffff).count() as u64;
    let inside = set.pairs().iter().any(|r| r.0 < border);
    let wide = if beyond > 0 && !enc.is_single_byte() { LENGTH + 4 + 8 * beyond } else { 0 };
    CODE + wide + if inside || wide == 0 { BITSET } else { 0 }
}
