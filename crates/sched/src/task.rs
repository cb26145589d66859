//! Tasks: the scheduler's handle on a unit, and the five-state machine that makes wake-ups exact.
//!
//! ```text
//!            wake                 worker takes it             wake
//!   IDLE ----------> QUEUED ------------------------> RUNNING ----> RUNNING_NOTIFIED
//!    ^                 ^                                |  |            |
//!    |                 +------ Turn::Again -------------+  |            |
//!    +---------------------- Turn::Park -------------------+            |
//!                      ^---------- Turn::Park or Turn::Again -----------+
//!   Turn::Done: RUNNING | RUNNING_NOTIFIED -> DONE
//! ```
//!
//! Invariants: a task is in at most one run queue, exactly while it is QUEUED. A wake-up that arrives while the unit runs is
//! kept in the state, so a `Park` that races with it does not sleep. A task that is not DONE owns one reference to itself
//! (taken in `spawn`, released after `Done`); run queues therefore hold plain pointers and move no reference count.
//! Rejected: counted references in queues (14 ns a clone, contended more); a mutex per task.

use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::Arc;

use zakuro_base::sync::atomic::{AtomicU8, Ordering};
use zakuro_base::sync::wide::atomic::AtomicU32;

use crate::Unit;
use crate::clock::{Times, ticks};
use crate::poll::{self, PollWord};
use crate::scheduler::Inner;

const IDLE: u8 = 0;
const QUEUED: u8 = 1;
const RUNNING: u8 = 2;
const RUNNING_NOTIFIED: u8 = 3;
const DONE: u8 = 4;

/// What a wake-up has to do after the transition.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OnWake {
    /// The task was idle: the caller puts it into a run queue.
    Enqueue,
    /// It runs now: the notice is kept, and the caller raises the poll flag.
    Notified,
    /// Queued already, or done.
    Nothing,
}

/// What the worker has to do after a unit asked to park.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OnPark {
    /// Parked; the worker must not touch the unit any more.
    Parked,
    /// A wake-up came in between; the task is QUEUED and the caller enqueues it.
    Enqueue,
}

/// The state word.
///
/// Read and written by wakers (any thread) and by the one worker that runs the task. Every wake is a read-modify-write even
/// when it changes nothing: what the waker wrote before it is then visible to the turn that follows.
#[derive(Debug)]
pub(crate) struct State(AtomicU8);

impl State {
    pub(crate) fn queued() -> State {
        State(AtomicU8::new(QUEUED))
    }

    pub(crate) fn wake(&self) -> OnWake {
        let mut seen = self.0.load(Ordering::Relaxed);
        loop {
            let (next, then) = match seen {
                IDLE => (QUEUED, OnWake::Enqueue),
                // Again at each wake-up: a VM with threads takes the flag many times in a turn.
                RUNNING | RUNNING_NOTIFIED => (RUNNING_NOTIFIED, OnWake::Notified),
                DONE => return OnWake::Nothing,
                same => (same, OnWake::Nothing),
            };
            match self.0.compare_exchange_weak(seen, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return then,
                Err(now) => seen = now,
            }
        }
    }

    /// QUEUED -> RUNNING, by the worker that took the task out of a queue.
    pub(crate) fn start(&self) {
        let before = self.0.swap(RUNNING, Ordering::AcqRel);
        debug_assert_eq!(before, QUEUED);
    }

    /// The unit is runnable still: RUNNING* -> QUEUED.
    pub(crate) fn again(&self) {
        let before = self.0.swap(QUEUED, Ordering::AcqRel);
        debug_assert!(before == RUNNING || before == RUNNING_NOTIFIED);
    }

    pub(crate) fn park(&self) -> OnPark {
        match self.0.compare_exchange(RUNNING, IDLE, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => OnPark::Parked,
            Err(before) => {
                debug_assert_eq!(before, RUNNING_NOTIFIED);
                self.0.swap(QUEUED, Ordering::AcqRel);
                OnPark::Enqueue
            }
        }
    }

    pub(crate) fn finish(&self) {
        self.0.swap(DONE, Ordering::AcqRel);
    }

    pub(crate) fn runs(&self) -> bool {
        matches!(self.0.load(Ordering::Relaxed), RUNNING | RUNNING_NOTIFIED)
    }

    pub(crate) fn is_queued(&self) -> bool {
        self.0.load(Ordering::Relaxed) == QUEUED
    }

    pub(crate) fn is_done(&self) -> bool {
        self.0.load(Ordering::Acquire) == DONE
    }
}

pub(crate) struct TaskInner {
    pub(crate) state: State,
    /// Owned by the worker that moved the state to RUNNING, until it moves it on.
    pub(crate) unit: UnsafeCell<Option<Box<dyn Unit>>>,
    pub(crate) poll: Arc<PollWord>,
    pub(crate) id: u64,
    /// How often, lately, this unit ran on for long after waking another one (0..=3). Written and read only by the worker that
    /// runs the task: a relaxed load and store, no read-modify-write.
    pub(crate) runs_on: AtomicU32,
    /// Kept where the scheduler is timed.
    pub(crate) times: Times,
    pub(crate) scheduler: Arc<Inner>,
}

// SAFETY: `unit` is the only field that is not Sync by itself; the state machine gives it to one worker at a time, with
// acquire/release on every hand-over, and `Unit: Send`.
unsafe impl Sync for TaskInner {}
// SAFETY: as above; all other fields are Send.
unsafe impl Send for TaskInner {}

/// A task in a run queue: kept alive by the reference that a live task holds on itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct TaskRef(NonNull<TaskInner>);

// SAFETY: TaskInner is Send + Sync and outlives its stay in a queue.
unsafe impl Send for TaskRef {}

impl TaskRef {
    pub(crate) fn from_raw(raw: *mut TaskInner) -> Option<TaskRef> {
        NonNull::new(raw).map(TaskRef)
    }

    pub(crate) fn as_ptr(self) -> *mut TaskInner {
        self.0.as_ptr()
    }

    /// Makes the self-reference of a new task and hands out the queue's view of it.
    pub(crate) fn adopt(task: &Task) -> TaskRef {
        let raw = Arc::into_raw(task.0.clone()).cast_mut();
        // SAFETY: Arc pointers are never null.
        TaskRef(unsafe { NonNull::new_unchecked(raw) })
    }

    /// # Safety
    /// The task must be QUEUED or RUNNING on behalf of the caller.
    pub(crate) unsafe fn get<'a>(self) -> &'a TaskInner {
        // SAFETY: a task that is not DONE holds a reference to itself; the caller keeps it from getting DONE.
        unsafe { self.0.as_ref() }
    }

    /// Takes over the self-reference. Call once, when the task is done or thrown away.
    ///
    /// # Safety
    /// The caller must own the task (RUNNING -> DONE, or drained from a queue) and not use this `TaskRef` again.
    pub(crate) unsafe fn into_task(self) -> Task {
        // SAFETY: made by `adopt` with Arc::into_raw; the caller guarantees that this happens once.
        Task(unsafe { Arc::from_raw(self.0.as_ptr()) })
    }
}

/// Handle on a spawned unit.
#[derive(Clone)]
#[repr(transparent)]
pub struct Task(pub(crate) Arc<TaskInner>);

impl Task {
    /// Makes the unit runnable. From any thread, as often as one likes; a wake-up during `run` makes the `Park` that ends this
    /// turn return at once and sets [`poll::WAKE`] in the poll word.
    pub fn wake(&self) {
        match self.0.state.wake() {
            OnWake::Enqueue => {
                if self.0.scheduler.timed {
                    // Nobody else queues it before it has run.
                    self.0.times.queued.store(ticks(), std::sync::atomic::Ordering::Relaxed);
                }
                let raw = Arc::as_ptr(&self.0).cast_mut();
                if let Some(task) = TaskRef::from_raw(raw) {
                    self.0.scheduler.enqueue_woken(task);
                }
            }
            OnWake::Notified => self.0.poll.set(poll::WAKE),
            OnWake::Nothing => {}
        }
    }

    /// Sets [`poll::WAKE`] in the poll word of a unit that runs; one that waits goes on waiting.
    pub(crate) fn interrupt(&self) {
        if self.0.state.runs() {
            self.0.poll.set(poll::WAKE);
        }
    }

    /// Unique in its scheduler.
    pub fn id(&self) -> u64 {
        self.0.id
    }

    /// The unit's poll word, as returned by [`Unit::poll_word`].
    pub fn poll_flag(&self) -> &Arc<PollWord> {
        &self.0.poll
    }

    /// The unit will not run again, whoever wakes it: in the child of a fork, for units that are not the caller's. Its memory is leaked.
    pub fn disown(&self) {
        self.0.state.finish();
    }
    pub fn is_done(&self) -> bool {
        self.0.state.is_done()
    }

    /// Whether its turn goes on.
    pub fn is_running(&self) -> bool {
        self.0.state.runs()
    }

    /// Whether it stands in a run queue.
    pub fn is_queued(&self) -> bool {
        self.0.state.is_queued()
    }

    /// When it was queued, began and ended; zeros where the scheduler is not timed.
    pub fn times(&self) -> &Times {
        &self.0.times
    }

    /// The scheduler that runs this task.
    pub fn scheduler(&self) -> crate::Scheduler {
        crate::Scheduler::from_inner(self.0.scheduler.clone())
    }
}

impl PartialEq for Task {
    fn eq(&self, other: &Task) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
impl Eq for Task {}

impl std::fmt::Debug for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Task({})", self.0.id)
    }
}
