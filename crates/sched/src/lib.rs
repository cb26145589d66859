//! Runs many units (VMs) on few native threads, and what a unit needs to wait without holding one: coroutine stacks, wake-ups,
//! timers, readiness, hand-off around blocking calls. Knows no Ruby value.
//!
//! Map: `task` (state machine), `queue` (run queues), `worker`, `scheduler` (who runs: sleepers, hand-off, idle detection),
//! `native` (the loop of a native thread), `clock` (times of tasks and workers, when they are counted), `monitor` (time slices, turns that do not end), `reactor` (the timer thread: ticks, timers,
//! epoll), `source` (descriptors that stay registered), `balance` (two busy workers on one
//! CPU), `fork` (all stand still while the process is forked), `stack` and `coroutine`. A *worker* is a run queue with the right to run; a *native thread* borrows one.
//! (One that was replaced has the queue still, but the right went to another one.)
//!
//! Locks, in order: `Monitor` -> `Idle` -> run queues. `Timers` -> nothing. `Watches` -> nothing. A source's state -> `by_number` -> nothing. Mailboxes, run queues, stack shards: leaves. No lock is held
//! while a unit runs or a task is woken.

mod balance;
pub mod clock;
mod coroutine;
mod current;
mod fork;
mod futex;
mod monitor;
mod native;
pub mod poll;
mod queue;
mod reactor;
mod scheduler;
mod source;
mod stack;
mod task;
mod worker;

#[cfg(all(test, feature = "loom"))]
mod loom_tests;
#[cfg(all(test, feature = "shuttle"))]
mod shuttle_tests;

pub use balance::{cpus, use_all_cpus};
pub use coroutine::{
    Coroutine, Resumed, Suspender, approximate_stack_pointer, leave_native_stack, on_native_stack, on_native_stack_for_another,
};
pub use fork::Forked;
pub use native::{blocking, current_index, set_unit_data, turn_data, unit_data};
pub use poll::PollWord;
pub use reactor::{Care, TimerId, WatchId};
pub use scheduler::{Config, IdleHold, Scheduler};
pub use source::{Mailbox, READABLE, Source, Ticket, URGENT, WRITABLE, Waiter};
pub use stack::{Stack, StackPool, StackSize};
pub use task::Task;

use std::sync::Arc;

/// What the scheduler runs: a VM.
pub trait Unit: Send {
    /// Runs until the unit waits, ends, or sees [`poll::PREEMPT`]. Called on any worker, never twice at once; dropped on the
    /// worker after `Done`. Must not panic: a panic that gets here ends the unit.
    fn run(&mut self, task: &Task) -> Turn;

    /// The word that this unit polls at its safepoints. Asked for once, by `spawn`.
    fn poll_word(&self) -> Arc<PollWord> {
        Arc::new(PollWord::new())
    }
}

/// Why a turn ended.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Runnable: goes to the back of the queue.
    Again,
    /// Waits for [`Task::wake`].
    Park,
    /// Ended.
    Done,
}
