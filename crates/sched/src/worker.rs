//! Workers: a run queue, the unit woken last, and whose turn it is. Who has which is decided in `scheduler` and `monitor`.
//!
//! Invariants: the native thread that borrowed a worker is its owner; the owner alone starts turns and puts units into the slot. Everybody may take units out of the slot
//! and the queue.

use std::sync::Arc;

use zakuro_base::sync::wide::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering, compiler_fence};
use zakuro_base::sync::wide::spin_loop;

use crate::poll::PollWord;
use crate::queue::RunQueue;
use crate::task::{TaskInner, TaskRef};

/// Values of `Worker::status`.
pub(crate) struct Status;
impl Status {
    pub(crate) const IDLE: u32 = 0;
    pub(crate) const RUNNING: u32 = 1;
    pub(crate) const BLOCKED: u32 = 2;
    pub(crate) const REPLACED: u32 = 3;
    pub(crate) const SPARE: u32 = 4;
}

/// A run queue and the right to run units.
#[repr(align(128))]
pub(crate) struct Worker {
    /// The unit woken last by the running one. Swapped in by the owner, out by the owner or by a thief.
    lifo: AtomicPtr<TaskInner>,
    pub(crate) queue: RunQueue,
    /// Counts turns. Stored by the owner without a read-modify-write; the monitor and thieves compare two readings.
    pub(crate) turn: AtomicU64,
    /// See [`Status`]; who moves it when: `scheduler`.
    pub(crate) status: AtomicU32,
    /// Poll word of the unit whose turn it is. Stored by the owner; read by the monitor while `pinned`.
    poll: AtomicPtr<PollWord>,
    /// Set by the holder of the monitor before it reads `poll`, cleared after its last use. The owner takes `poll` out, then waits until this is
    /// clear, and only then gives the task up. Between its write and its read the owner has a compiler fence only, the monitor, which
    /// comes by seldom, a barrier for all threads of the process (`asymmetric`); without that, both are sequentially consistent.
    pinned: AtomicBool,
    pub(crate) asymmetric: bool,
    /// The native thread that borrows the worker, for the CPU balancer and the monitor.
    pub(crate) tid: AtomicI32,
    /// Ticks in which units ran here, blocking calls left out, where the scheduler is timed. Stored by the owner.
    pub(crate) busy: std::sync::atomic::AtomicU64,
    /// Since when one runs that is not in `busy` yet; 0: none does. Stored by the owner.
    pub(crate) busy_since: std::sync::atomic::AtomicU64,
    /// The fork of the process at which the owner stands still. Stored by it.
    pub(crate) frozen_at: std::sync::atomic::AtomicU64,
}

impl Worker {
    pub(crate) fn new(asymmetric: bool, status: u32) -> Worker {
        Worker {
            lifo: AtomicPtr::default(),
            queue: RunQueue::default(),
            turn: AtomicU64::new(0),
            status: AtomicU32::new(status),
            poll: AtomicPtr::default(),
            pinned: AtomicBool::new(false),
            asymmetric,
            tid: AtomicI32::new(0),
            busy: std::sync::atomic::AtomicU64::new(0),
            busy_since: std::sync::atomic::AtomicU64::new(0),
            frozen_at: std::sync::atomic::AtomicU64::new(0),
        }
    }

    /// Ticks in which units ran here, with the turn that goes on at `now`.
    pub(crate) fn busy_until(&self, now: u64) -> u64 {
        loop {
            let busy = self.busy.load(Ordering::Acquire);
            let since = self.busy_since.load(Ordering::Acquire);
            // Whoever ends a turn says first that none goes on: what is read in between is too little, not too much.
            if self.busy.load(Ordering::Relaxed) == busy {
                return busy + if since == 0 { 0 } else { now.saturating_sub(since) };
            }
        }
    }

    /// Takes the unit out of the LIFO slot.
    pub(crate) fn take_lifo(&self) -> Option<TaskRef> {
        if self.lifo.load(Ordering::Relaxed).is_null() {
            return None;
        }
        TaskRef::from_raw(self.lifo.swap(std::ptr::null_mut(), Ordering::AcqRel))
    }

    /// Puts a unit into the slot; returns the one that was there.
    pub(crate) fn put_lifo(&self, task: TaskRef) -> Option<TaskRef> {
        if self.lifo.load(Ordering::Relaxed).is_null() {
            // Nobody but the owner puts anything in, and thieves only take out: it stays empty until this.
            self.lifo.store(task.as_ptr(), Ordering::Release);
            return None;
        }
        TaskRef::from_raw(self.lifo.swap(task.as_ptr(), Ordering::AcqRel))
    }

    pub(crate) fn has_work(&self) -> bool {
        !self.lifo.load(Ordering::Relaxed).is_null() || !self.queue.is_empty()
    }

    /// A turn starts.
    pub(crate) fn publish(&self, poll: &Arc<PollWord>) {
        self.turn.store(self.turn.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        self.poll.store(Arc::as_ptr(poll).cast_mut(), Ordering::Release);
    }

    /// A turn ends: after this, nobody looks at its poll word through the worker.
    pub(crate) fn unpublish(&self) {
        if self.asymmetric {
            self.poll.store(std::ptr::null_mut(), Ordering::Release);
            compiler_fence(Ordering::SeqCst);
        } else {
            self.poll.swap(std::ptr::null_mut(), Ordering::SeqCst);
        }
        while self.pinned.load(Ordering::SeqCst) {
            spin_loop();
        }
    }

    /// Whether a unit has its turn here, or had just now.
    pub(crate) fn in_turn(&self) -> bool {
        !self.poll.load(Ordering::Relaxed).is_null()
    }

    /// Whether another worker does what this one should, while its turn does not end.
    #[inline]
    pub(crate) fn is_replaced(&self) -> bool {
        self.status.load(Ordering::Relaxed) == Status::REPLACED
    }

    pub(crate) fn pin(&self) {
        self.pinned.store(true, Ordering::SeqCst);
    }

    /// Adds bits to the poll word of the unit that runs here, if any. Between [`Worker::pin`], followed by the barrier, and [`Worker::unpin`].
    pub(crate) fn set_pinned(&self, bits: u32) {
        let poll = self.poll.load(Ordering::SeqCst);
        // SAFETY: not null means that the owner has not passed `unpublish` (it waits there while we are pinned), so the task
        // and its poll word are alive.
        if let Some(poll) = unsafe { poll.as_ref() } {
            poll.set(bits);
        }
    }

    pub(crate) fn unpin(&self) {
        self.pinned.store(false, Ordering::SeqCst);
    }
}

/// membarrier(2). False: the kernel doesn't have it.
pub(crate) fn process_barrier(command: libc::c_int) -> bool {
    // SAFETY: no memory is passed.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}
