//! The clock of accounting: ticks of a counter that every core reads alike, and when a task was last queued, began and ended its turn.
//!
//! Invariants: with [`crate::Config::timed`] unset nothing here is called. Each field of [`Times`] has one writer at a time: who queued the task (the state machine says who that is) or the worker whose
//! turn it is; others read it at any time, and what they read is a moment old.
//! Rejected: clock_gettime (three times as dear on x86-64, and a wake-up reads the clock three times).

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Reads the counter. Its unit is between 0.2 and 1 ns ([`Clock`] knows); in models, chance.
#[inline]
pub fn ticks() -> u64 {
    crate::native::cycles()
}

/// What ticks are in nanoseconds: found by a comparison with the system's clock from the start on, so that it gets better with time.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    pub began: Instant,
    pub first: u64,
    /// What the process had used by then.
    before: Duration,
}

impl Clock {
    pub fn start() -> Clock {
        Clock { began: Instant::now(), first: ticks(), before: process_time() }
    }
    /// Processor time of the process since then.
    pub fn used(&self) -> Duration {
        process_time().saturating_sub(self.before)
    }
    /// Now, and nanoseconds per tick.
    pub fn now(&self) -> (u64, f64) {
        let (elapsed, now) = (self.began.elapsed(), ticks());
        (now, elapsed.as_nanos() as f64 / now.saturating_sub(self.first).max(1) as f64)
    }
}

fn process_time() -> Duration {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    Duration::new(t.tv_sec.max(0) as u64, t.tv_nsec.clamp(0, 999_999_999) as u32)
}

/// Of a task, in ticks; 0: not yet.
#[derive(Debug, Default)]
pub struct Times {
    /// When it was last put into a run queue.
    pub(crate) queued: AtomicU64,
    /// When its last turn began.
    pub(crate) began: AtomicU64,
    /// When the last turn that is over ended.
    pub(crate) ended: AtomicU64,
    /// Ticks spent in [`crate::blocking`], all in all, and since when it is there; 0: it is not.
    pub(crate) blocked: AtomicU64,
    pub(crate) blocked_since: AtomicU64,
}

impl Times {
    pub fn queued(&self) -> u64 {
        self.queued.load(Relaxed)
    }
    pub fn began(&self) -> u64 {
        self.began.load(Relaxed)
    }
    pub fn ended(&self) -> u64 {
        self.ended.load(Relaxed)
    }
    pub fn blocked(&self) -> u64 {
        self.blocked.load(Relaxed)
    }
    pub fn blocked_since(&self) -> u64 {
        self.blocked_since.load(Relaxed)
    }
}

/// Adds to a number that has one writer at a time.
#[inline]
pub fn add(to: &AtomicU64, ticks: u64) {
    to.store(to.load(Relaxed).wrapping_add(ticks), Relaxed);
}
