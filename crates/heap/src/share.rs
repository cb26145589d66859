//! Memory that several heaps may use together: those of a VM with a limit and of all that descend from it.
//!
//! Each heap posts what it uses when it has grown by its part of what is left, and after each collection; what the others have posted then stands against its own limit. So allocation costs nothing.
//! A region that several of them hold counts once. Shares are nested: one within another's limit stands for all that are under it.
//!
//! Rejected: limits for each VM alone (a program in a VM of 64 MB made a hundred); handing the limit out in parts (who has most of it idle keeps it from the others).

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use zakuro_base::sync::held::Mutex;

/// See the module. Relaxed throughout: sums.
pub struct Share {
    limit: usize,
    used: AtomicUsize,
    /// Heaps that have joined.
    heaps: AtomicUsize,
    /// Bytes of the regions that some of them hold, each once.
    region_bytes: AtomicUsize,
    /// How many of them hold each region. Held for a few instructions.
    regions: Mutex<HashMap<usize, usize>>,
    parent: Option<Arc<Share>>,
}

impl Share {
    /// Of `limit` bytes, which the limit of `parent` stands against, too.
    pub fn new(limit: usize, parent: Option<Arc<Share>>) -> Arc<Share> {
        Arc::new(Share {
            limit,
            used: AtomicUsize::new(0),
            heaps: AtomicUsize::new(0),
            region_bytes: AtomicUsize::new(0),
            regions: Mutex::new(HashMap::new()),
            parent,
        })
    }
    /// Bytes in use, as far as the heaps have told.
    pub fn used(&self) -> usize {
        self.used.load(Relaxed) + self.region_bytes.load(Relaxed)
    }
    fn chain(&self) -> impl Iterator<Item = &Share> {
        std::iter::successors(Some(self), |s| s.parent.as_deref())
    }
    pub(crate) fn hold(&self, region: usize, bytes: usize) {
        for share in self.chain() {
            let mut regions = share.regions.lock();
            let holders = regions.entry(region).or_insert(0);
            *holders += 1;
            if *holders == 1 {
                share.region_bytes.fetch_add(bytes, Relaxed);
            }
        }
    }
    fn let_go(&self, region: usize, bytes: usize) {
        for share in self.chain() {
            let mut regions = share.regions.lock();
            if let Some(holders) = regions.get_mut(&region) {
                *holders -= 1;
                if *holders == 0 {
                    regions.remove(&region);
                    share.region_bytes.fetch_sub(bytes, Relaxed);
                }
            }
        }
    }
}

/// A heap's part of a share; leaves it when dropped.
pub(crate) struct Member {
    share: Arc<Share>,
    posted: usize,
}

impl Member {
    pub fn join(share: Arc<Share>) -> Member {
        share.chain().for_each(|s| _ = s.heaps.fetch_add(1, Relaxed));
        Member { share, posted: 0 }
    }
    /// Tells the others what the heap uses, without its regions.
    pub fn post(&mut self, now: usize) {
        let before = std::mem::replace(&mut self.posted, now);
        for s in self.share.chain() {
            if now > before {
                s.used.fetch_add(now - before, Relaxed)
            } else {
                s.used.fetch_sub(before - now, Relaxed)
            };
        }
    }
    /// Bytes that others leave less than `limit`, the heap's own one. `regions`: bytes of those that it holds.
    pub fn taken_by_others(&self, limit: usize, regions: usize) -> usize {
        let taken = |s: &Share| s.used().saturating_sub(self.posted + regions).saturating_sub(s.limit.saturating_sub(limit));
        self.share.chain().map(taken).max().unwrap_or(0)
    }
    pub fn heaps(&self) -> usize {
        self.share.chain().map(|s| s.heaps.load(Relaxed)).max().unwrap_or(1).max(1)
    }
    pub fn hold(&self, region: usize, bytes: usize) {
        self.share.hold(region, bytes);
    }
    pub fn let_go(&self, region: usize, bytes: usize) {
        self.share.let_go(region, bytes);
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.post(0);
        self.share.chain().for_each(|s| _ = s.heaps.fetch_sub(1, Relaxed));
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn others_leave_less() {
        let outer = Share::new(100, None);
        let inner = Share::new(30, Some(outer.clone()));
        let (mut a, mut b, mut c) = (Member::join(outer.clone()), Member::join(inner.clone()), Member::join(inner.clone()));
        assert_eq!((a.heaps(), b.heaps()), (3, 3));
        a.post(50);
        // 50 of 100 are left, which is more than the 30 that it may have.
        assert_eq!((a.taken_by_others(100, 0), b.taken_by_others(30, 0)), (0, 0));
        a.post(90);
        assert_eq!(b.taken_by_others(30, 0), 20);
        a.post(0);
        b.post(20);
        assert_eq!((c.taken_by_others(30, 0), a.taken_by_others(100, 0), b.taken_by_others(30, 0)), (20, 20, 0));
        c.post(5);
        drop(b);
        assert_eq!((inner.used(), outer.used()), (5, 5));
    }

    #[test]
    fn a_region_counts_once() {
        let share = Share::new(100, None);
        let (a, b) = (Member::join(share.clone()), Member::join(share.clone()));
        a.hold(1, 40);
        b.hold(1, 40);
        assert_eq!(share.used(), 40);
        // It holds it itself.
        assert_eq!((a.taken_by_others(100, 40), Member::join(share.clone()).taken_by_others(100, 0)), (0, 40));
        a.let_go(1, 40);
        assert_eq!(share.used(), 40);
        b.let_go(1, 40);
        assert_eq!(share.used(), 0);
    }
}
