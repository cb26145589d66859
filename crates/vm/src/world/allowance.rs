//! What a limited VM and all that descend from it may use together.
//!
//! A limit that stood for each VM alone would be none: its program makes as many as it likes, and the one that it made last can make the next when its own time is over. So counts hang on an
//! [`Allowance`], which a VM shares with those that it makes; one that is made with narrower limits has an allowance of its own within its maker's.
//! Relaxed atomics, touched by VMs with limits alone: at the ends of turns, with each thread and descriptor, never on the way of a program. (Memory: `zakuro_heap::Share`.)

use super::limits::Limits;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use zakuro_heap::Share;

/// See the module.
pub struct Allowance {
    parent: Option<Arc<Allowance>>,
    cpu: Option<Duration>,
    threads: Option<usize>,
    descriptors: Option<usize>,
    /// Nanoseconds of turns that are over.
    spent: AtomicU64,
    live_threads: AtomicUsize,
    open: AtomicUsize,
    memory: Option<(usize, Arc<Share>)>,
    depth: u32,
}

/// So many narrower limits stand within each other. What is made deeper has its own limits for itself alone, beside those that it shares: a chain without an end would be work and memory that nobody counts.
const DEEPEST: u32 = 32;

impl Allowance {
    /// The allowance of a VM with these limits, which are within its maker's. None: nothing limits it.
    pub fn under(parent: Option<&Arc<Allowance>>, limits: &Limits) -> Option<Arc<Allowance>> {
        let outer = parent.map_or((None, None, None, None), |p| (p.memory.as_ref().map(|m| m.0), p.cpu, p.threads, p.descriptors));
        if outer == (limits.memory, limits.cpu, limits.threads, limits.descriptors) || parent.is_some_and(|p| p.depth == DEEPEST) {
            return parent.cloned();
        }
        let outer = parent.and_then(|p| p.memory.clone());
        let memory = limits.memory.map(|limit| match outer {
            Some((known, share)) if known == limit => (limit, share),
            outer => (limit, Share::new(limit, outer.map(|o| o.1))),
        });
        Some(Arc::new(Allowance {
            cpu: limits.cpu,
            threads: limits.threads,
            descriptors: limits.descriptors,
            spent: AtomicU64::new(0),
            live_threads: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            memory,
            depth: parent.map_or(0, |p| p.depth + 1),
            parent: parent.cloned(),
        }))
    }
    fn chain(&self) -> impl Iterator<Item = &Allowance> {
        std::iter::successors(Some(self), |a| a.parent.as_deref())
    }
    /// Memory that is shared.
    pub fn memory(&self) -> Option<&Arc<Share>> {
        self.memory.as_ref().map(|m| &m.1)
    }
    /// CPU time that is left when `now` is about to be added. None: it is not limited.
    pub fn cpu_left(&self, now: Duration) -> Option<Duration> {
        self.chain().filter_map(|a| Some(a.cpu?.saturating_sub(Duration::from_nanos(a.spent.load(Relaxed)) + now))).min()
    }
    /// CPU time was used.
    pub fn spend(&self, nanoseconds: u64) {
        self.chain().for_each(|a| _ = a.spent.fetch_add(nanoseconds, Relaxed));
    }
    /// Room for one more thread.
    ///
    /// # Errors
    /// The limit that has been reached.
    pub fn seat(self: &Arc<Allowance>) -> Result<Seat, usize> {
        let seat = Seat(self.clone());
        let over = |a: &Allowance| {
            let before = a.live_threads.fetch_add(1, Relaxed);
            a.threads.filter(|limit| before >= *limit)
        };
        // All are counted before anything is said: the seat takes itself back as a whole.
        match self.chain().map(over).fold(None, Option::or) {
            Some(limit) => Err(limit),
            None => Ok(seat),
        }
    }
    /// `count` descriptors more are open.
    pub fn open(&self, count: usize) {
        self.chain().for_each(|a| _ = a.open.fetch_add(count, Relaxed));
    }
    /// `count` of them were closed.
    pub fn close(&self, count: usize) {
        self.chain().for_each(|a| _ = a.open.fetch_sub(count, Relaxed));
    }
    /// The limit against which so many descriptors more would be.
    pub fn refuses_descriptors(&self, count: usize) -> Option<usize> {
        self.chain().find_map(|a| a.descriptors.filter(|limit| a.open.load(Relaxed) + count > *limit))
    }
}

/// A thread that counts.
pub struct Seat(Arc<Allowance>);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.chain().for_each(|a| _ = a.live_threads.fetch_sub(1, Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(memory: usize, threads: usize) -> Limits {
        let second = Some(Duration::from_secs(1));
        Limits { memory: Some(memory), cpu: second, threads: Some(threads), descriptors: Some(3), ..Limits::default() }
    }

    #[test]
    fn those_of_one_family_share() {
        assert!(Allowance::under(None, &Limits::default()).is_none());
        let outer = Allowance::under(None, &limits(100, 3)).expect("limited");
        let same = Allowance::under(Some(&outer), &limits(100, 3)).expect("limited");
        assert!(Arc::ptr_eq(&outer, &same));
        let inner = Allowance::under(Some(&outer), &limits(100, 1)).expect("limited");
        assert!(Arc::ptr_eq(outer.memory().expect("shared"), inner.memory().expect("shared")));
        let one = inner.seat().ok();
        assert_eq!((inner.seat().err(), outer.live_threads.load(Relaxed)), (Some(1), 1));
        let more = [outer.seat().ok(), outer.seat().ok()];
        assert_eq!((outer.seat().err(), outer.live_threads.load(Relaxed)), (Some(3), 3));
        drop((one, more));
        assert!(inner.seat().is_ok());
        inner.spend(400_000_000);
        outer.spend(300_000_000);
        assert_eq!(inner.cpu_left(Duration::from_millis(100)), Some(Duration::from_millis(200)));
        inner.open(2);
        assert_eq!((outer.refuses_descriptors(1), outer.refuses_descriptors(2)), (None, Some(3)));
        inner.close(2);
        assert_eq!(outer.refuses_descriptors(3), None);
    }

    #[test]
    fn chains_end() {
        let mut last = Allowance::under(None, &limits(10_000, 1)).expect("limited");
        for n in 1..1000 {
            last = Allowance::under(Some(&last), &limits(10_000 - n, 1)).expect("limited");
        }
        assert_eq!(last.chain().count(), DEEPEST as usize + 1);
    }
}
