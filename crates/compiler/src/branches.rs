//! Counters of branches, for the standard library's `coverage`: with [`Options::branches`](crate::Options) each arm of a condition begins with an instruction that
//! counts it ([`Intrinsic::CountBranch`]), and the compilation tells what the counters are of. What is compiled without the option has nothing of it.
//!
//! Kinds, places and their order are what CRuby's `Coverage` reports: programs use them as keys.

use crate::unit::Compiler;
use ruby_prism as prism;
use ruby_prism::Node;
use std::collections::HashMap;
use zakuro_bytecode::{Intrinsic, Op};

/// A condition or loop of a source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Branch {
    /// `if`, `unless`, `case`, `while`, `until`, `&.`
    pub kind: &'static str,
    /// First line, column in bytes, last line, column behind it.
    pub place: [u32; 4],
    pub arms: Vec<Arm>,
}

/// One of the ways that it can go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arm {
    /// `then`, `else`, `when`, `in`, `body`
    pub kind: &'static str,
    pub place: [u32; 4],
    /// Number of its counter.
    pub counter: u32,
}

/// Range of a source in bytes.
pub(crate) type Range = (u32, u32);

/// Those of a compilation so far.
#[derive(Default)]
pub(crate) struct Branches {
    pub list: Vec<Branch>,
    /// First counters by condition: what is lowered twice (ensure clauses, Codes with long jumps) counts in one place.
    of: HashMap<(Range, &'static str), u32>,
    counters: u32,
}

pub(crate) fn range(n: &prism::Location<'_>) -> Range {
    (n.start(), n.end())
}

/// Of the statements, else of what stands around them.
pub(crate) fn statements_or(s: Option<&prism::StatementsNode<'_>>, around: Range) -> Range {
    s.map_or(around, |s| range(&s.location()))
}

/// Of what an `if` does otherwise: `whole` is all of it.
pub(crate) fn otherwise(n: Option<&Node<'_>>, whole: Range) -> Range {
    match n {
        Some(n) => match n.as_else_node() {
            Some(e) => statements_or(e.statements().as_ref(), range(&n.location())),
            None => range(&n.location()),
        },
        None => whole,
    }
}

/// Whether the parser knows which way the condition goes: there is one only.
pub(crate) fn is_known(predicate: &Node<'_>) -> bool {
    matches!(
        predicate,
        Node::TrueNode { .. }
            | Node::FalseNode { .. }
            | Node::NilNode { .. }
            | Node::IntegerNode { .. }
            | Node::FloatNode { .. }
            | Node::RationalNode { .. }
            | Node::ImaginaryNode { .. }
            | Node::StringNode { .. }
            | Node::SymbolNode { .. }
            | Node::LambdaNode { .. }
            | Node::RegularExpressionNode { .. }
    )
}

impl Compiler<'_> {
    fn place_of(&self, (start, end): Range) -> [u32; 4] {
        let column = |at: u32| {
            let line = self.line_offsets.partition_point(|o| *o <= at).saturating_sub(1);
            at - self.line_offsets.get(line).copied().unwrap_or(0)
        };
        [self.line_of(start), column(start), self.line_of(end), column(end)]
    }

    /// Notes a condition and gives the number of its first arm's counter; the others' follow. None: branches are not counted.
    pub(crate) fn branch_arms(&mut self, kind: &'static str, at: Range, arms: &[(&'static str, Range)]) -> Option<u32> {
        let known = self.branches.as_ref()?.of.get(&(at, kind)).copied();
        if known.is_some() {
            return known;
        }
        let place = self.place_of(at);
        let places: Vec<_> = arms.iter().map(|(kind, at)| (*kind, self.place_of(*at))).collect();
        let b = self.branches.as_mut()?;
        let first = b.counters;
        b.counters += arms.len() as u32;
        b.of.insert((at, kind), first);
        let arms = (first..).zip(places).map(|(counter, (kind, place))| Arm { kind, place, counter }).collect();
        b.list.push(Branch { kind, place, arms });
        Some(first)
    }

    /// Counts the arm that begins here.
    pub(crate) fn count_arm(&mut self, counter: Option<u32>) {
        let Some(n) = counter else { return };
        let mark = self.f.top;
        let r = self.load_int(i64::from(n), crate::unit::Dest::Push);
        self.f.asm.emit(Op::Intrinsic, Intrinsic::CountBranch as u8, r, 0, 1);
        self.pop_to(mark);
    }

    /// How many conditions have been noted: for `later`.
    pub(crate) fn branches_so_far(&self) -> usize {
        self.branches.as_ref().map_or(0, |b| b.list.len())
    }

    /// Those noted from `from` to `to` come after all that were noted since: the order of reports is not that of lowering everywhere.
    pub(crate) fn branches_later(&mut self, from: usize, to: usize) {
        if let Some(b) = &mut self.branches {
            b.list[from..].rotate_left(to - from);
        }
    }
}
