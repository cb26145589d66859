//! Events of one VM for a timeline: appended by the worker whose turn the VM has, read by whoever writes the file, without a lock.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

const CHUNK: usize = 1024;
const CHUNKS: usize = 256;

/// What happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum EventKind {
    /// A turn, on a worker.
    Turn,
    /// The VM was parked; `detail`: for what ([`super::WaitKind`]), `object`: the channel.
    Wait,
    /// It stood in a run queue.
    Ready,
    /// A part of a turn; `detail`: what ([`super::Activity`]).
    Activity,
    /// A thread waited (VMs with several).
    ThreadWait,
    /// A message left; `object`: its number in the process, `to`: the channel.
    Sent,
    Received,
}

/// See [`EventKind`]. Times are ticks.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub kind: EventKind,
    pub detail: u8,
    /// The worker's number.
    pub lane: u16,
    pub thread: u32,
    pub from: u64,
    pub to: u64,
    pub object: u64,
}

#[derive(Default)]
struct Slot([AtomicU64; 4]);

type Chunk = Box<[Slot]>;

/// The first 262,144 events (8 MB); later ones are counted only.
pub struct TraceBuffer {
    chunks: OnceLock<Box<[OnceLock<Chunk>]>>,
    /// How many slots are filled. Stored by the one writer with release, after the slot.
    len: AtomicUsize,
    lost: AtomicU64,
}

impl Default for TraceBuffer {
    fn default() -> TraceBuffer {
        TraceBuffer { chunks: OnceLock::new(), len: AtomicUsize::new(0), lost: AtomicU64::new(0) }
    }
}

impl TraceBuffer {
    /// By the VM's worker only.
    pub(super) fn push(&self, e: Event) {
        let at = self.len.load(Ordering::Relaxed);
        if at >= CHUNK * CHUNKS {
            self.lost.store(self.lost.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            return;
        }
        let chunks = self.chunks.get_or_init(|| (0..CHUNKS).map(|_| OnceLock::new()).collect());
        let chunk = chunks[at / CHUNK].get_or_init(|| (0..CHUNK).map(|_| Slot::default()).collect());
        let head = e.kind as u64 | (e.detail as u64) << 8 | (e.lane as u64) << 16 | (e.thread as u64) << 32;
        for (slot, word) in chunk[at % CHUNK].0.iter().zip([head, e.from, e.to, e.object]) {
            slot.store(word, Ordering::Relaxed);
        }
        self.len.store(at + 1, Ordering::Release);
    }
    /// Events so far, in the order in which they were noted.
    pub fn events(&self) -> impl Iterator<Item = Event> + '_ {
        use EventKind::*;
        let kinds = [Turn, Wait, Ready, Activity, ThreadWait, Sent, Received];
        let len = self.len.load(Ordering::Acquire);
        (0..len).filter_map(move |at| {
            let slot = &self.chunks.get()?[at / CHUNK].get()?[at % CHUNK];
            let [head, from, to, object] = [0, 1, 2, 3].map(|i| slot.0[i].load(Ordering::Relaxed));
            let kind = kinds[(head & 0xff) as usize % kinds.len()];
            Some(Event { kind, detail: (head >> 8) as u8, lane: (head >> 16) as u16, thread: (head >> 32) as u32, from, to, object })
        })
    }
    /// Events that were not kept.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}
