//! Memory that several heaps may use together: those of a VM with a limit and of all that descend from it.
//!
//! Each heap posts what it uses when it has grown by its part of what is left, and after each collection; what the others have posted then stands against its own limit. So allocation costs nothing.
//! A region that several of them hold counts once. So does a large buffer that several cells, messages or images account for: each counts it whole where it stands, and the share takes off
//! what was counted again. Shares are nested: one within another's limit stands for all that are under it.
//!
//! Rejected: limits for each VM alone (a program in a VM of 64 MB made a hundred); handing the limit out in parts (who has most of it idle keeps it from the others).

use crate::shared_buf::SHOWN_FROM;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering::Relaxed};
use zakuro_base::sync::held::Mutex;

/// See the module. All relaxed: sums.
pub struct Share {
    limit: usize,
    /// What was told, without what was counted again.
    used: AtomicIsize,
    /// Heaps that have joined.
    heaps: AtomicUsize,
    /// Bytes of the regions that some of them hold, each once.
    region_bytes: AtomicUsize,
    /// How many of them hold each region. Held for a few instructions.
    regions: Mutex<HashMap<usize, usize>>,
    /// Large buffers that several may account for, by address, and how often each is counted. Touched when one is sent, received or let go of; held for a few instructions.
    buffers: Mutex<HashMap<usize, Counted>>,
    parent: Option<Arc<Share>>,
}

impl Share {
    /// Of `limit` bytes, which the limit of `parent` stands against, too.
    pub fn new(limit: usize, parent: Option<Arc<Share>>) -> Arc<Share> {
        Arc::new(Share {
            limit,
            used: AtomicIsize::new(0),
            heaps: AtomicUsize::new(0),
            region_bytes: AtomicUsize::new(0),
            regions: Mutex::new(HashMap::new()),
            buffers: Mutex::new(HashMap::new()),
            parent,
        })
    }
    /// Bytes in use, as far as the heaps have told. (Less than nothing where what is counted again is not told of yet, or by an account of messages.)
    /// Who counts something again, or no more, changes the sum twice, and takes off first: where it were too large in between, memory that is there would be refused.
    pub fn used(&self) -> isize {
        self.used.load(Relaxed) + self.region_bytes.load(Relaxed) as isize
    }
    pub(crate) fn add(&self, bytes: usize) {
        self.chain().for_each(|s| _ = s.used.fetch_add(bytes as isize, Relaxed));
    }
    pub(crate) fn sub(&self, bytes: usize) {
        self.chain().for_each(|s| _ = s.used.fetch_sub(bytes as isize, Relaxed));
    }
    fn count_buffer(&self, buffer: usize, bytes: usize) {
        for share in self.chain() {
            let mut buffers = share.buffers.lock();
            let counted = buffers.entry(buffer).or_insert(Counted { times: 0, bytes });
            counted.times += 1;
            if counted.times > 1 {
                share.used.fetch_sub(counted.bytes as isize, Relaxed);
            }
        }
    }
    fn uncount_buffer(&self, buffer: usize) {
        for share in self.chain() {
            let mut buffers = share.buffers.lock();
            let Entry::Occupied(mut counted) = buffers.entry(buffer) else { continue };
            counted.get_mut().times -= 1;
            if counted.get().times == 0 {
                counted.remove();
            } else {
                share.used.fetch_add(counted.get().bytes as isize, Relaxed);
            }
        }
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

struct Counted {
    times: usize,
    /// As told first: in a share, what is taken off is what is put on again, whatever the address stands for by then.
    bytes: usize,
}

/// Large buffers that a heap, a message or an image accounts for and others may, too. They are counted for themselves when this is dropped.
/// Empty where no share counts them: nothing is noted then.
#[derive(Default)]
pub struct Shown(Option<Box<Noted>>);

struct Noted {
    share: Arc<Share>,
    /// How often each is accounted for here, and its bytes.
    own: HashMap<usize, Counted>,
    /// Bytes that the share has been told of here, and not by a heap.
    carried: usize,
}

impl Shown {
    /// What is shown counts for `share`; without one nothing is noted.
    pub fn of(share: Option<&Arc<Share>>) -> Shown {
        Shown(share.map(|share| Box::new(Noted { share: share.clone(), own: HashMap::new(), carried: 0 })))
    }
    /// Somebody accounts for the buffer of `bytes` here. Buffers below [`SHOWN_FROM`](crate::SHOWN_FROM) are not worth it.
    pub fn add(&mut self, buffer: usize, bytes: usize) {
        if let Some(noted) = self.0.as_mut().filter(|_| bytes >= SHOWN_FROM) {
            noted.share.count_buffer(buffer, bytes);
            noted.own.entry(buffer).or_insert(Counted { times: 0, bytes }).times += 1;
        }
    }
    /// [`Shown::add`] by what is no heap: whether the share counts these bytes from here on.
    pub fn carry(&mut self, buffer: usize, bytes: usize) -> bool {
        self.add(buffer, bytes);
        let Some(noted) = self.0.as_mut().filter(|_| bytes >= SHOWN_FROM) else { return false };
        noted.share.add(bytes);
        noted.carried += bytes;
        true
    }
    /// One less does, and has `member` tell so. Before it lets go: the address may be another buffer's after that.
    pub(crate) fn remove(&mut self, buffer: usize, member: Option<&mut Member>) {
        let Some(noted) = &mut self.0 else { return };
        if let Entry::Occupied(mut own) = noted.own.entry(buffer) {
            if let Some(member) = member {
                member.take_back(own.get().bytes);
            }
            noted.share.uncount_buffer(buffer);
            own.get_mut().times -= 1;
            if own.get().times == 0 {
                own.remove();
            }
        }
    }
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|noted| noted.own.is_empty())
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        self.share.sub(self.carried);
        for (buffer, own) in self.own.drain() {
            (0..own.times).for_each(|_| self.share.uncount_buffer(buffer));
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
            s.used.fetch_add(now.wrapping_sub(before) as isize, Relaxed);
        }
    }
    /// Bytes that were posted are on their way back.
    fn take_back(&mut self, bytes: usize) {
        let now = self.posted.saturating_sub(bytes);
        self.post(now);
    }
    /// Bytes that others leave less than `limit`, the heap's own one. `beside`: bytes that the share has of this heap beside what was posted: regions that it holds, large
    /// native blocks. Less than nothing: the heap counts so much more than once.
    pub fn taken_by_others(&self, limit: usize, beside: usize) -> isize {
        let taken = |s: &Share| {
            let others = s.used() - (self.posted + beside) as isize;
            others.min(0).max(others - s.limit.saturating_sub(limit) as isize)
        };
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

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
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

    /// Messages and heaps that come and go beside a holder never make it look like more than one.
    #[test]
    fn never_twice_in_between() {
        let share = Share::new(1 << 30, None);
        let size = SHOWN_FROM;
        let mut holder = Shown::of(Some(&share));
        holder.carry(1, size);
        std::thread::scope(|scope| {
            let message = || {
                for _ in 0..20_000 {
                    assert!(Shown::of(Some(&share)).carry(1, size));
                }
            };
            let heap = || {
                let (mut member, mut shown) = (Member::join(share.clone()), Shown::of(Some(&share)));
                for _ in 0..20_000 {
                    shown.add(1, size);
                    member.post(size);
                    shown.remove(1, Some(&mut member));
                }
            };
            let all = [scope.spawn(message), scope.spawn(message), scope.spawn(heap)];
            while !all.iter().all(|t| t.is_finished()) {
                assert!(share.used() <= size as isize);
            }
        });
        assert_eq!(share.used(), size as isize);
    }

    #[test]
    fn a_buffer_counts_once() {
        let outer = Share::new(1 << 20, None);
        let inner = Share::new(1 << 20, Some(outer.clone()));
        let size = SHOWN_FROM;
        let (mut a, mut b) = (Member::join(outer.clone()), Member::join(inner.clone()));
        let (mut of_a, mut of_b) = (Shown::of(Some(&outer)), Shown::of(Some(&inner)));
        a.post(2 * size);
        of_a.add(1, size);
        of_a.add(1, size);
        assert_eq!((outer.used(), a.taken_by_others(1 << 20, 0)), (size as isize, -(size as isize)));
        b.post(size);
        of_b.add(1, size);
        of_b.add(2, size - 1);
        assert_eq!((outer.used(), inner.used()), (size as isize, size as isize));
        assert_eq!(b.taken_by_others(1 << 20, 0), 0);
        of_a.remove(1, None);
        of_a.remove(2, None);
        a.post(size);
        assert_eq!((outer.used(), inner.used()), (size as isize, size as isize));
        drop(of_a);
        a.post(0);
        assert_eq!((outer.used(), inner.used()), (size as isize, size as isize));
        of_b.remove(1, None);
        assert!(of_b.is_empty());
        b.post(0);
        let mut message = Shown::of(Some(&inner));
        assert!(message.carry(1, size) && message.carry(1, size) && !message.carry(2, size - 1));
        assert_eq!((outer.used(), inner.used()), (size as isize, size as isize));
        drop(message);
        drop((a, b));
        assert_eq!((outer.used(), inner.used(), outer.buffers.lock().len()), (0, 0, 0));
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
