//! What is known of a channel beside its queue: a name, where it was made, and what came of it where the process counts.
//!
//! Lives as long as anybody is interested, the channel or whoever reports on it. Written under the channel's lock, read at any time. A handle of a channel through a server has a channel of this
//! process inside, whose record is the handle's: what goes through that is not counted, but what the handle says, which is one VM's. So handles of one address know nothing of each other.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::Bounds;

/// See the module.
#[derive(Debug)]
pub struct Record {
    /// The channel's.
    pub id: u64,
    pub name: Option<Box<str>>,
    /// File and line.
    pub place: Option<Box<str>>,
    pub bounds: Bounds,
    /// Of a channel through a server.
    pub remote: bool,
    sent: AtomicU64,
    bytes: AtomicU64,
    /// Of messages that came from the server.
    arrived_bytes: AtomicU64,
    deepest: AtomicU64,
    /// The most that was told of what its users add up to. Written by those who ask.
    told: [AtomicU64; 3],
}

impl Record {
    pub fn new(id: u64, name: Option<Box<str>>, place: Option<Box<str>>, bounds: Bounds) -> Record {
        let [sent, bytes, arrived_bytes, deepest] = [const { AtomicU64::new(0) }; 4];
        Record { id, name, place, bounds, remote: false, sent, bytes, arrived_bytes, deepest, told: Default::default() }
    }
    pub fn remote(id: u64, name: Box<str>) -> Record {
        Record { remote: true, ..Record::new(id, Some(name), None, Bounds::NONE) }
    }
    /// A message went to the server. Called by the VM whose handle it is.
    pub fn handed_over(&self, bytes: usize) {
        self.add(bytes);
    }
    /// A message of the server was received here. Called by the VM whose handle it is.
    pub fn arrived(&self, bytes: usize) {
        self.arrived_bytes.store(self.arrived_bytes() + bytes as u64, Relaxed);
    }
    fn add(&self, bytes: usize) {
        self.sent.store(self.sent() + 1, Relaxed);
        self.bytes.store(self.bytes() + bytes as u64, Relaxed);
    }
    /// Sums of what its users have counted, as they are told: none is less than it was before. They are added up part by part while the users go on.
    pub fn told(&self, now: [u64; 3]) -> [u64; 3] {
        std::array::from_fn(|i| self.told[i].fetch_max(now[i], Relaxed).max(now[i]))
    }
    /// Messages that were queued, all in all.
    pub fn sent(&self) -> u64 {
        self.sent.load(Relaxed)
    }
    /// What they weighed.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }
    /// What messages that came from a server weighed.
    pub fn arrived_bytes(&self) -> u64 {
        self.arrived_bytes.load(Relaxed)
    }
    /// Most messages that were queued at a time, but for those that receivers had taken as a batch.
    pub fn deepest(&self) -> u64 {
        self.deepest.load(Relaxed)
    }
    #[cold]
    #[inline(never)]
    pub(crate) fn pushed(&self, weight: usize, depth: usize) {
        if self.remote {
            return;
        }
        self.add(weight);
        if depth as u64 > self.deepest() {
            self.deepest.store(depth as u64, Relaxed);
        }
    }
}
