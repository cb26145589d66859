//! Who asks the compiler for machine code, and what share of the compiler's time and memory each has.
//!
//! Askers form a tree, as VMs do: a VM's stands below that of the VM that made it. Shares are divided at each branch between a VM, for itself, and each of those that it made with all that
//! descend from them: making VMs gives nobody a larger share. Unlike `world::lineage` this forgets no maker that has ended, so that nobody gets away from what it used; a line of VMs, each of
//! which made the next, shares one asker from some depth on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// How deep the tree is. What is made deeper shares its maker's.
const DEEPEST: usize = 6;

/// See the module. Counts are relaxed: bytes are added by the compiler's thread and taken off by whoever drops machine code last; times are the compiler's, under the lock of its queue.
#[derive(Default)]
pub struct Asker {
    /// The VM's number.
    pub number: u64,
    maker: Option<Arc<Asker>>,
    depth: usize,
    own: Used,
    /// With all below it.
    all: Used,
    /// What the part of it whose turn it was last had used.
    clock: AtomicU64,
}

/// What was used.
#[derive(Default)]
struct Used {
    bytes: AtomicUsize,
    /// Nanoseconds of compiling, from a beginning that is moved on for who did not ask for a while ([`Asker::joins`]).
    time: AtomicU64,
}

impl Asker {
    pub fn below(number: u64, maker: Option<&Arc<Asker>>) -> Arc<Asker> {
        match maker {
            Some(m) if m.depth == DEEPEST => m.clone(),
            Some(m) => Arc::new(Asker { number, maker: Some(m.clone()), depth: m.depth + 1, ..Asker::default() }),
            None => Arc::new(Asker { number, ..Asker::default() }),
        }
    }
    /// From itself to the root.
    fn line(&self) -> impl Iterator<Item = &Asker> {
        std::iter::successors(Some(self), |a| a.maker.as_deref())
    }
    /// The one of its line at this depth; itself, if it is not as deep.
    fn at_depth(&self, depth: usize) -> &Asker {
        self.line().find(|a| a.depth <= depth).unwrap_or(self)
    }
    /// The number of what it belongs to where the process's first VM divides its share: that VM itself, or one that it made.
    pub fn branch(&self) -> u64 {
        self.at_depth(1).number
    }

    // ---- memory ----

    /// Most bytes of machine code that it may have, of `limit` in all: at each branch of the tree half of what the others have left, so that there is always some for who comes next.
    pub fn memory_left(&self, limit: usize) -> usize {
        let mut share = limit;
        let mut left = limit;
        for depth in 0..=self.depth {
            let at = self.at_depth(depth);
            let mine = if depth == self.depth { &at.own } else { &self.at_depth(depth + 1).all };
            let (all, mine) = (at.all.bytes.load(Relaxed), mine.bytes.load(Relaxed));
            share = share.saturating_sub(all.saturating_sub(mine)) / 2;
            left = left.min(share.saturating_sub(mine));
        }
        left
    }
    /// Bytes that it has, without those below it.
    pub fn bytes(&self) -> usize {
        self.own.bytes.load(Relaxed)
    }
    pub fn takes(&self, bytes: usize) {
        self.own.bytes.fetch_add(bytes, Relaxed);
        self.line().for_each(|a| _ = a.all.bytes.fetch_add(bytes, Relaxed));
    }
    pub fn gives_back(&self, bytes: usize) {
        self.own.bytes.fetch_sub(bytes, Relaxed);
        self.line().for_each(|a| _ = a.all.bytes.fetch_sub(bytes, Relaxed));
    }
    /// Whether it is `other`, or descends from it.
    pub fn is_below(&self, other: &Asker) -> bool {
        self.line().any(|a| std::ptr::eq(a, other))
    }

    // ---- time: under the lock of the compiler's queue ----

    /// What `asker`, which is it or below it, has used of its share where this one's is divided.
    fn used_below<'a>(&'a self, asker: &'a Asker) -> &'a AtomicU64 {
        if asker.depth == self.depth { &self.own.time } else { &asker.at_depth(self.depth + 1).all.time }
    }
    /// It asks, and did not wait for anything so far; `others` wait. What they have used meanwhile is no claim to as much: it begins where whoever had the last turn stood (start-time fair queueing: Goyal, Vin,
    /// Cheng 1996).
    pub fn joins<'a>(&self, others: impl Iterator<Item = &'a Asker> + Clone) {
        for depth in 0..=self.depth {
            let at = self.at_depth(depth);
            let mine = at.used_below(self);
            // Who shares that part of the tree with somebody that waits goes on with what is counted there.
            if !others.clone().any(|o| o.is_below(at) && std::ptr::eq(at.used_below(o), mine)) {
                mine.fetch_max(at.clock.load(Relaxed), Relaxed);
            }
        }
    }
    /// So much time was taken.
    pub fn spends(&self, nanoseconds: u64) {
        self.own.time.fetch_add(nanoseconds, Relaxed);
        self.line().for_each(|a| _ = a.all.time.fetch_add(nanoseconds, Relaxed));
    }
    /// Whose turn it is, which it has with that: at each branch of the tree that of the part which has used least.
    pub fn next<'a>(waiting: &[&'a Asker]) -> Option<&'a Asker> {
        let mut left: Vec<&Asker> = waiting.to_vec();
        for depth in 0..=DEEPEST {
            let first = *left.first()?;
            let at = first.at_depth(depth);
            let least = left.iter().copied().min_by_key(|a| at.used_below(a).load(Relaxed))?;
            let part = at.used_below(least);
            at.clock.store(part.load(Relaxed), Relaxed);
            left.retain(|a| std::ptr::eq(at.used_below(a), part));
            if least.depth <= depth {
                return Some(least);
            }
        }
        left.first().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family() -> (Arc<Asker>, Arc<Asker>, Arc<Asker>, Vec<Arc<Asker>>) {
        let root = Asker::below(0, None);
        let (good, bad) = (Asker::below(1, Some(&root)), Asker::below(2, Some(&root)));
        let children = (3..103).map(|n| Asker::below(n, Some(&bad))).collect();
        (root, good, bad, children)
    }

    #[test]
    fn turns_go_by_branches_of_the_tree() {
        let (root, good, bad, children) = family();
        let mut waiting: Vec<&Asker> = children.iter().map(|c| &**c).collect();
        waiting.extend([&*bad, &*good, &*root]);
        let mut turns = [0; 3];
        for _ in 0..300 {
            let next = Asker::next(&waiting).expect("there are some");
            next.spends(1000);
            turns[next.branch() as usize] += 1;
        }
        assert_eq!(turns, [100, 100, 100], "a hundred VMs have the share of one");
        assert!(Asker::next(&[]).is_none());
        let own = children.iter().filter(|c| c.own.time.load(Relaxed) > 0).count();
        assert!(own >= 99, "they take turns among each other, and with the one that made them");
    }

    #[test]
    fn who_did_not_ask_has_saved_nothing() {
        let (_, good, bad, _) = family();
        let turn = |waiting: &[&Asker]| {
            let next = Asker::next(waiting).expect("there are some").number;
            waiting.iter().find(|a| a.number == next).expect("it waits").spends(1000);
            next
        };
        (0..50).for_each(|_| _ = turn(&[&bad]));
        good.joins([&*bad].into_iter());
        let turns: Vec<u64> = (0..4).map(|_| turn(&[&bad, &good])).collect();
        assert!(turns.contains(&1) && turns.contains(&2), "{turns:?}");
    }

    #[test]
    fn there_is_always_memory_for_who_comes_next() {
        const ALL: usize = 1 << 20;
        let (root, good, bad, children) = family();
        assert_eq!(root.memory_left(ALL), ALL / 2);
        let mut taken = 0;
        for hog in children.iter().chain([&bad]) {
            let bytes = hog.memory_left(ALL);
            hog.takes(bytes);
            taken += bytes;
        }
        assert!(taken <= ALL / 2, "{taken}");
        assert!(good.memory_left(ALL) >= ALL / 8);
        good.takes(ALL / 8);
        assert!(root.memory_left(ALL) >= ALL / 8);
        children.iter().for_each(|c| c.gives_back(c.own.bytes.load(Relaxed)));
        bad.gives_back(bad.own.bytes.load(Relaxed));
        good.gives_back(ALL / 8);
        assert_eq!(root.memory_left(ALL), ALL / 2);
    }

    #[test]
    fn a_line_without_end_shares_one() {
        let mut last = Asker::below(0, None);
        for n in 1..100 {
            last = Asker::below(n, Some(&last));
        }
        assert_eq!((last.line().count(), last.branch()), (DEEPEST + 1, 1));
    }
}
