//! What is known of each node before instructions are made: first bytes, lengths, size; and what look-behind and calls may not hold.
//!
//! Nodes stand behind their parts, so that one loop from front to back does it.

use super::ast::{Greed, Id, Node, Target, Tree};
use super::codec::{BROKEN, Coding};
use super::folding::Folder;
use super::parse::Result;
use super::poll::Poll;
use super::program::First;
use super::ranges::Ranges;

pub struct Analysis {
    pub first: Vec<First>,
    /// The first node of the part of the list that a node and its parts take.
    pub low: Vec<Id>,
    /// Characters that a match takes, if always the same.
    pub fixed: Vec<Option<u32>>,
    /// Least number of characters.
    pub least: Vec<u32>,
    /// Instructions, roughly.
    pub weight: Vec<u32>,
    /// Whether [`GROUP`], [`LOOK`], [`ATOMIC`] are among a node and its parts.
    pub holds: Vec<u8>,
    /// Inside a look-behind.
    pub behind: Vec<bool>,
    /// Groups that something calls; whether a group calls itself, straight or through others.
    pub called: Vec<bool>,
    pub recursive: Vec<bool>,
    /// Node of each group.
    pub group_nodes: Vec<Option<Id>>,
}

/// A group that captures.
pub const GROUP: u8 = 1;
/// A look-around that cuts the stack.
pub const LOOK: u8 = 2;
/// An atomic group, or a possessive loop.
pub const ATOMIC: u8 = 4;

/// Instructions that repeating a part is worth before it gets a counter.
pub const UNROLLED: u32 = 1500;

/// First bytes of a set.
pub fn first_of_set(set: &Ranges, coding: Coding) -> First {
    let mut f = First::NOTHING;
    for &(a, b) in set.pairs() {
        match coding {
            Coding::Single => {
                if a <= 255 {
                    (a..=b.min(255)).for_each(|c| f.add(c as u8));
                }
            }
            Coding::Utf8 => {
                if a < 0x80 {
                    (a..=b.min(0x7f)).for_each(|c| f.add(c as u8));
                }
                if b >= 0x80 && a <= 0x10ffff {
                    (lead(a.max(0x80))..=lead(b.min(0x10ffff))).for_each(|c| f.add(c));
                }
                if b >= BROKEN {
                    (0x80..=0xff).for_each(|c| f.add(c));
                }
            }
            Coding::Multi(enc) => {
                if !enc.is_ascii_compatible() {
                    return First { bits: [!0; 4], empty: false };
                }
                if a < 0x80 {
                    (a..=b.min(0x7f)).for_each(|c| f.add(c as u8));
                }
                if b >= 0x80 {
                    (0x80..=0xff).for_each(|c| f.add(c));
                }
            }
        }
    }
    f
}

/// Lead byte of a code point in UTF-8.
fn lead(c: u32) -> u8 {
    match c {
        0..=0x7f => c as u8,
        0x80..=0x7ff => 0xc0 | (c >> 6) as u8,
        0x800..=0xffff => 0xe0 | (c >> 12) as u8,
        _ => 0xf0 | (c >> 18) as u8,
    }
}

pub fn first_of_code(c: u32, fold: bool, folder: &Folder, coding: Coding) -> First {
    if !fold {
        return first_of_set(&Ranges::single(c), coding);
    }
    let mut f = first_of_set(&folder.closed(&Ranges::single(c)), coding);
    let whole = folder.fold(c);
    // What folds to several characters of which this is the first, or the other way round.
    for &(x, folded) in folder.expanding() {
        if folded.codes()[0] == whole.codes()[0] {
            f.or(&first_of_set(&Ranges::single(x), coding));
        }
    }
    f.or(&first_of_set(&folder.closed(&Ranges::single(whole.codes()[0])), coding));
    f
}

pub fn analyze(tree: &Tree, folder: &Folder, coding: Coding, poll: &mut Poll<'_>) -> Result<Analysis> {
    let n = tree.nodes.len();
    let mut a = Analysis {
        first: Vec::with_capacity(n),
        low: Vec::with_capacity(n),
        fixed: Vec::with_capacity(n),
        least: Vec::with_capacity(n),
        weight: Vec::with_capacity(n),
        holds: Vec::with_capacity(n),
        behind: vec![false; n],
        called: vec![false; tree.groups as usize],
        recursive: vec![false; tree.groups as usize],
        group_nodes: vec![None; tree.groups as usize],
    };
    for id in 0..n as Id {
        poll.work(1)?;
        let mut low = id;
        tree.parts(id, &mut |p| low = low.min(a.low[p as usize]));
        a.low.push(low);
        let node = tree.node(id);
        let first = a.first_of(node, folder, coding);
        a.first.push(first);
        let (fixed, least) = a.length_of(node);
        a.fixed.push(fixed);
        a.least.push(least);
        let weight = a.weight_of(node);
        a.weight.push(weight);
        let mut holds = match node {
            Node::Group { .. } => GROUP,
            Node::Look { behind: true, not: false, .. } => 0,
            Node::Look { .. } => LOOK,
            Node::Atomic(_) => ATOMIC,
            Node::Repeat { of, greed: Greed::Possessive, .. } if !matches!(tree.node(*of), Node::Set(_) | Node::Any { .. }) => ATOMIC,
            _ => 0,
        };
        tree.parts(id, &mut |p| holds |= a.holds[p as usize]);
        a.holds.push(holds);
        if let Node::Group { number, .. } = node {
            a.group_nodes[*number as usize] = Some(id);
        }
    }
    a.calls(tree, poll)?;
    a.look_behinds(tree)?;
    Ok(a)
}

impl Analysis {
    fn first_of(&self, node: &Node, folder: &Folder, coding: Coding) -> First {
        let of = |id: &Id| self.first[*id as usize];
        match node {
            Node::Chars { codes, fold } => codes.first().map_or(First::EMPTY, |&c| first_of_code(c, *fold, folder, coding)),
            Node::Set(set) => first_of_set(set, coding),
            Node::Any { newline } => {
                let mut f = First { bits: [!0; 4], empty: false };
                if !newline && !matches!(coding, Coding::Multi(e) if !e.is_ascii_compatible()) {
                    f.bits[0] &= !(1 << b'\n');
                }
                f
            }
            Node::Cat(v) => {
                let mut f = First::EMPTY;
                for x in v {
                    f = f.then(&of(x));
                    if !f.empty {
                        break;
                    }
                }
                f
            }
            Node::Alt(v) => {
                let mut f = First::NOTHING;
                v.iter().for_each(|x| f.or(&of(x)));
                f
            }
            Node::Repeat { of: x, min, max, .. } => {
                let mut f = if *max == Some(0) { First::EMPTY } else { of(x) };
                f.empty |= *min == 0;
                f
            }
            Node::Group { of: x, .. } | Node::Atomic(x) => of(x),
            Node::Look { .. } | Node::Anchor(_) | Node::Keep => First::EMPTY,
            Node::Condition { yes, no, .. } => {
                let mut f = of(yes);
                f.or(&no.as_ref().map_or(First::EMPTY, of));
                f
            }
            Node::Absent(_) | Node::Backref { .. } | Node::Call(_) => First::UNKNOWN,
            Node::Newline => First { bits: [!0; 4], empty: false },
            Node::Grapheme => First { bits: [!0; 4], empty: false },
        }
    }

    /// Fixed length and least length in characters.
    fn length_of(&self, node: &Node) -> (Option<u32>, u32) {
        let fixed = |id: &Id| self.fixed[*id as usize];
        let least = |id: &Id| self.least[*id as usize];
        match node {
            // A fold may stand for several characters.
            Node::Chars { codes, fold } => {
                (Some(codes.len() as u32), if *fold { u32::from(!codes.is_empty()) } else { codes.len() as u32 })
            }
            Node::Set(_) | Node::Any { .. } => (Some(1), 1),
            Node::Newline | Node::Grapheme => (None, 1),
            Node::Cat(v) => (
                v.iter().try_fold(0u32, |n, x| fixed(x).and_then(|m| n.checked_add(m))),
                v.iter().fold(0, |n, x| least(x).saturating_add(n)),
            ),
            Node::Alt(v) => {
                let one = fixed(&v[0]);
                (one.filter(|_| v.iter().all(|x| fixed(x) == one)), v.iter().map(least).min().unwrap_or(0))
            }
            Node::Repeat { of, min, max, .. } => {
                let exact = fixed(of).filter(|_| *max == Some(*min)).and_then(|n| n.checked_mul(*min));
                (if *max == Some(0) { Some(0) } else { exact }, least(of).saturating_mul(*min))
            }
            Node::Group { of, .. } | Node::Atomic(of) => (fixed(of), least(of)),
            Node::Look { .. } | Node::Anchor(_) | Node::Keep => (Some(0), 0),
            Node::Condition { yes, no, .. } => {
                let other = no.as_ref().map_or(Some(0), fixed);
                (fixed(yes).filter(|n| Some(*n) == other), least(yes).min(no.as_ref().map_or(0, least)))
            }
            Node::Absent(_) | Node::Backref { .. } | Node::Call(_) => (None, 0),
        }
    }

    fn weight_of(&self, node: &Node) -> u32 {
        let of = |id: &Id| self.weight[*id as usize];
        match node {
            Node::Cat(v) => v.iter().fold(0, |n, x| of(x).saturating_add(n)),
            Node::Alt(v) => v.iter().fold(0, |n, x| of(x).saturating_add(n).saturating_add(2)),
            Node::Repeat { of: x, min, max, .. } => {
                let times = max.unwrap_or(*min + 1).max(1);
                let unrolled = (of(x) + 1).saturating_mul(times);
                if unrolled <= UNROLLED { unrolled + 3 } else { of(x).saturating_add(8) }
            }
            Node::Group { of: x, .. } | Node::Atomic(x) | Node::Look { of: x, .. } => of(x).saturating_add(2),
            Node::Absent(x) => of(x).saturating_add(4),
            Node::Condition { yes, no, .. } => of(yes).saturating_add(no.as_ref().map_or(0, of)).saturating_add(3),
            _ => 1,
        }
    }

    /// The parts of a node, with the node: a stretch of the list.
    pub fn within(&self, id: Id) -> std::ops::RangeInclusive<Id> {
        self.low[id as usize]..=id
    }

    /// Finds out what is called, what calls itself, and refuses what never ends.
    fn calls(&mut self, tree: &Tree, poll: &mut Poll<'_>) -> Result<()> {
        let targets = |range: std::ops::RangeInclusive<Id>| {
            range.filter_map(|id| match tree.node(id) {
                Node::Call(Target::Number(n)) => Some(*n as usize),
                _ => None,
            })
        };
        let all: Vec<usize> = targets(0..=tree.nodes.len() as Id - 1).collect();
        if all.is_empty() {
            return Ok(());
        }
        all.iter().for_each(|&n| self.called[n] = true);
        let body = |n: usize| if n == 0 { Some(tree.root) } else { self.group_nodes[n] };
        // From each called group, what its calls reach.
        for start in 0..tree.groups as usize {
            if !self.called[start] {
                continue;
            }
            let mut seen = vec![false; tree.groups as usize];
            let mut todo: Vec<usize> = vec![start];
            while let Some(n) = todo.pop() {
                let Some(id) = body(n) else { continue };
                let whole = if n == 0 { 0..=id } else { self.within(id) };
                poll.work((whole.end() - whole.start()) as usize / 8 + 1)?;
                for t in targets(whole) {
                    if !std::mem::replace(&mut seen[t], true) {
                        todo.push(t);
                    }
                }
            }
            self.recursive[start] = seen[start];
        }
        for n in 0..tree.groups as usize {
            if self.recursive[n] && self.never_ends(tree, n, poll)? {
                return Err("never ending recursion".into());
            }
        }
        Ok(())
    }

    /// Does every way through group `n` call it again, or one of them before anything is taken?
    fn never_ends(&self, tree: &Tree, n: usize, poll: &mut Poll<'_>) -> Result<bool> {
        let id = if n == 0 { Some(tree.root) } else { self.group_nodes[n] };
        let Some(id) = id else { return Ok(false) };
        let inner = match tree.node(id) {
            Node::Group { of, .. } if n != 0 => *of,
            _ => id,
        };
        let mut walk = Walk { tree, a: self, group: n as u32, active: vec![false; tree.groups as usize], left: 200_000 };
        let again = walk.check(inner, true, 0)?;
        poll.work((200_000 - walk.left) as usize / 4)?;
        Ok(again != Again::No)
    }

    /// Look-behind takes parts of fixed length only, alternatives of several at the top.
    fn look_behinds(&mut self, tree: &Tree) -> Result<()> {
        const BAD: &str = "invalid pattern in look-behind";
        for id in 0..tree.nodes.len() as Id {
            let Node::Look { behind: true, not, of } = tree.node(id) else { continue };
            for part in self.within(*of) {
                self.behind[part as usize] = true;
                let allowed = match tree.node(part) {
                    Node::Backref { .. } | Node::Absent(_) | Node::Atomic(_) | Node::Condition { .. } => false,
                    Node::Newline | Node::Grapheme => false,
                    Node::Look { behind, .. } => *behind,
                    Node::Group { .. } => !not,
                    Node::Repeat { greed, .. } => *greed != Greed::Possessive,
                    Node::Anchor(a) => !matches!(a, super::ast::Anchor::TextEnd | super::ast::Anchor::TextEndNewline),
                    _ => true,
                };
                if !allowed {
                    return Err(BAD.into());
                }
            }
            let ways: Vec<Id> = match tree.node(*of) {
                Node::Alt(v) => v.clone(),
                _ => vec![*of],
            };
            for way in ways {
                if self.behind_length(tree, way).is_none() {
                    return Err(BAD.into());
                }
            }
        }
        Ok(())
    }

    /// Length of a way of a look-behind; through calls, which may name groups further on.
    pub fn behind_length(&self, tree: &Tree, id: Id) -> Option<u32> {
        if let Some(n) = self.fixed[id as usize] {
            return Some(n);
        }
        match tree.node(id) {
            Node::Cat(v) => v.iter().try_fold(0u32, |n, x| {
                let len = match tree.node(*x) {
                    Node::Call(Target::Number(g)) if !self.recursive[*g as usize] => {
                        self.group_nodes[*g as usize].and_then(|id| self.fixed[id as usize])
                    }
                    _ => self.fixed[*x as usize],
                };
                len.and_then(|m| n.checked_add(m))
            }),
            Node::Call(Target::Number(g)) if !self.recursive[*g as usize] => {
                self.group_nodes[*g as usize].and_then(|id| self.fixed[id as usize])
            }
            _ => None,
        }
    }
}

#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Again {
    No,
    /// On this way, behind something.
    Yes,
    /// Before anything was taken.
    AtOnce,
}

/// Looks for ways into a group from inside it. Recursion here is bounded by the depth that is given along.
struct Walk<'a> {
    tree: &'a Tree,
    a: &'a Analysis,
    group: u32,
    active: Vec<bool>,
    left: u32,
}

impl Walk<'_> {
    fn check(&mut self, id: Id, head: bool, depth: u32) -> Result<Again> {
        self.left = self.left.saturating_sub(1);
        if depth > 1000 || self.left == 0 {
            return Err("parse depth limit over".into());
        }
        let found = |head: bool| if head { Again::AtOnce } else { Again::Yes };
        match self.tree.node(id) {
            Node::Cat(v) => {
                let (mut head, mut again) = (head, Again::No);
                for &x in v {
                    let r = self.check(x, head, depth + 1)?;
                    if r == Again::AtOnce {
                        return Ok(r);
                    }
                    if r == Again::Yes {
                        again = r;
                    }
                    head &= self.a.least[x as usize] == 0;
                }
                Ok(again)
            }
            Node::Alt(v) => {
                let mut all = Again::Yes;
                for &x in v {
                    match self.check(x, head, depth + 1)? {
                        Again::AtOnce => return Ok(Again::AtOnce),
                        Again::No => all = Again::No,
                        Again::Yes => {}
                    }
                }
                Ok(all)
            }
            Node::Repeat { of, min, max, .. } => {
                if *max == Some(0) {
                    return Ok(Again::No);
                }
                let r = self.check(*of, head, depth + 1)?;
                Ok(if r == Again::Yes && *min == 0 { Again::No } else { r })
            }
            Node::Group { number, of } => {
                if *number == self.group {
                    return Ok(found(head));
                }
                if std::mem::replace(&mut self.active[*number as usize], true) {
                    return Ok(Again::No);
                }
                let r = self.check(*of, head, depth + 1);
                self.active[*number as usize] = false;
                r
            }
            Node::Call(Target::Number(n)) => {
                if *n == self.group {
                    return Ok(found(head));
                }
                let target = if *n == 0 { Some(self.tree.root) } else { self.a.group_nodes[*n as usize] };
                match target {
                    Some(id) if *n != 0 => self.check(id, head, depth + 1),
                    Some(id) => {
                        if std::mem::replace(&mut self.active[0], true) {
                            return Ok(Again::No);
                        }
                        let r = self.check(id, head, depth + 1);
                        self.active[0] = false;
                        r
                    }
                    None => Ok(Again::No),
                }
            }
            Node::Atomic(of) | Node::Look { of, .. } => self.check(*of, head, depth + 1),
            Node::Condition { yes, no, .. } => {
                let r = self.check(*yes, head, depth + 1)?;
                match no {
                    _ if r == Again::AtOnce => Ok(r),
                    Some(no) => {
                        let other = self.check(*no, head, depth + 1)?;
                        Ok(if other == Again::AtOnce {
                            other
                        } else if other == Again::No {
                            Again::No
                        } else {
                            r
                        })
                    }
                    None => Ok(Again::No),
                }
            }
            _ => Ok(Again::No),
        }
    }
}
