//! Ways of alternatives, and of loops over them.
//!
//! Invariant: a way is kept only for text that it may begin with.
//! Rejected: a loop over alternatives as it is written (`(?:[^"\\]|\\.)*` keeps a place for each character).

use super::super::ast::{Id, Node};
use super::super::parse::Result;
use super::super::program::{First, Inst};
use super::{Compiler, Task};

impl Compiler<'_, '_> {
    pub(super) fn ways(&self, of: Id) -> Vec<Id> {
        match self.tree.node(of) {
            Node::Alt(v) => v.clone(),
            _ => vec![of],
        }
    }

    pub(super) fn alternatives_behind(&mut self, ways: &[Id]) -> Result<()> {
        let steps: Vec<u32> = ways.iter().map(|&w| self.a.behind_length(self.tree, w).unwrap_or(0)).collect();
        self.alternatives(ways, First::UNKNOWN, &steps, &[])
    }

    /// The body of an endless loop that takes as much as it can, and what may follow the loop. A way that is one character takes all that come: where nothing
    /// else can go on with such a character, having taken fewer would not help.
    pub(super) fn body(&mut self, of: Id, follow: Option<First>) -> Result<()> {
        let mut around = self.first(of);
        around.or(&follow.unwrap_or(First::EMPTY));
        let mut inner = of;
        while let Node::Cat(v) = self.tree.node(inner)
            && let [one] = v[..]
        {
            inner = one;
        }
        let Node::Alt(ways) = self.tree.node(inner) else { return self.expand(of, around) };
        let mut behind = vec![follow.unwrap_or(First::NOTHING); ways.len() + 1];
        for (i, &w) in ways.iter().enumerate().rev() {
            behind[i] = behind[i + 1];
            behind[i].or(&self.first(w));
        }
        let mut others = First::NOTHING;
        let mut many = Vec::with_capacity(ways.len());
        for (i, &w) in ways.iter().enumerate() {
            let own = self.first(w);
            let apart = [others, behind[i + 1]].iter().all(|f| !f.empty && !f.meets(&own));
            many.push(apart && matches!(self.tree.node(w), Node::Set(_) | Node::Any { .. } | Node::Chars { .. }) && self.one(w).is_some());
            others.or(&own);
        }
        self.alternatives(ways, around, &[], &many)
    }

    /// One of several; with `back`, each from so many characters before. Of `many` there may be more than one, one after the other.
    pub(super) fn alternatives(&mut self, ways: &[Id], follow: First, back: &[u32], many: &[bool]) -> Result<()> {
        let end = self.label();
        let mut tasks = Vec::new();
        // What the ways from each on may begin with.
        let mut rest = vec![First::NOTHING; ways.len() + 1];
        for (i, &w) in ways.iter().enumerate().rev() {
            let own = if back.is_empty() { self.first(w).then(&follow) } else { First::UNKNOWN };
            rest[i] = rest[i + 1];
            rest[i].or(&own);
        }
        for (i, &w) in ways.iter().enumerate() {
            let last = i + 1 == ways.len();
            if !last {
                let own = if back.is_empty() { self.first(w).then(&follow) } else { First::UNKNOWN };
                let (this, next) = (self.label(), self.label());
                let split = self.split(this, next, own, rest[i + 1]);
                tasks.push(Task::Inst(split));
                tasks.push(Task::Bind(this));
                tasks.extend(back.get(i).map(|&n| Task::Inst(Inst::Back(n))));
                tasks.push(if many.get(i) == Some(&true) { Task::Many(w) } else { Task::Node(w, follow) });
                tasks.push(Task::Inst(Inst::Jump(end)));
                tasks.push(Task::Bind(next));
            } else {
                tasks.extend(back.get(i).map(|&n| Task::Inst(Inst::Back(n))));
                tasks.push(if many.get(i) == Some(&true) { Task::Many(w) } else { Task::Node(w, follow) });
                tasks.push(Task::Bind(end));
            }
        }
        self.then(tasks);
        Ok(())
    }
}
