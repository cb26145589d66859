//! Run queues: one per worker and one for everybody (the injector).
//!
//! Invariants: a queue is FIFO; `len` is written under the lock and read without it, as a hint for thieves and as one side of
//! the sleep handshake (see `scheduler.rs`); a push is complete before the pusher looks for sleepers.
//! Rejected for now: a lock-free ring per worker. The hot path (a unit wakes its partner and parks) goes through the LIFO slot
//! and never takes this lock; batches amortise it elsewhere.

use std::collections::VecDeque;

use zakuro_base::memory;
use zakuro_base::sync::Mutex;
use zakuro_base::sync::atomic::{AtomicUsize, Ordering};

use crate::task::TaskRef;

#[derive(Default)]
pub(crate) struct RunQueue {
    /// Writers: the owning worker (or any thread, for the injector) pushes and pops; thieves take from the front.
    /// Leaf lock: nothing else is taken while it is held.
    tasks: Mutex<VecDeque<TaskRef>>,
    /// Written under `tasks`, read by anyone. The sleep handshake puts a SeqCst fence behind the push and before the read.
    len: AtomicUsize,
}

impl RunQueue {
    pub(crate) fn push(&self, task: TaskRef) {
        let mut tasks = self.tasks.lock();
        tasks.push_back(task);
        self.len.store(tasks.len(), Ordering::Release);
    }

    pub(crate) fn pop(&self) -> Option<TaskRef> {
        if self.is_empty() {
            return None;
        }
        let mut tasks = self.tasks.lock();
        let task = tasks.pop_front();
        memory::give_room_back(&mut tasks);
        self.len.store(tasks.len(), Ordering::Release);
        task
    }

    /// Takes one task to run now and moves up to `share(len) - 1` more into `into`.
    pub(crate) fn take_batch(&self, into: &RunQueue, share: impl FnOnce(usize) -> usize) -> Option<TaskRef> {
        if self.is_empty() {
            return None;
        }
        let mut moved: [Option<TaskRef>; 32] = [None; 32];
        let mut count = 0;
        let first;
        {
            let mut tasks = self.tasks.lock();
            let take = share(tasks.len()).min(moved.len() + 1);
            first = tasks.pop_front()?;
            while count + 1 < take {
                let Some(task) = tasks.pop_front() else { break };
                moved[count] = Some(task);
                count += 1;
            }
            memory::give_room_back(&mut tasks);
            self.len.store(tasks.len(), Ordering::Release);
        }
        if count > 0 {
            let mut own = into.tasks.lock();
            own.extend(moved[..count].iter().flatten());
            into.len.store(own.len(), Ordering::Release);
        }
        Some(first)
    }

    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
