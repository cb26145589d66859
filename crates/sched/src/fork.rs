//! fork(2) of a process with a scheduler: all native threads stand still where they hold no lock, the process is forked, and the child's scheduler is made anew around the
//! unit that asked.
//!
//! Invariants: a native thread that has a RUNNING worker looks at `Freeze::epoch` after it got the worker (by a hand-out, by its return from a blocking call) and before
//! each turn, and stays there while it is set, holding nothing. Whoever forks sets the epoch first, then looks at all workers under the `Idle` lock until none
//! is RUNNING or REPLACED elsewhere but at the gate. Both sides are sequentially consistent: a thread that becomes RUNNING after the look sees the epoch.
//! Threads without a worker are in calls that block or asleep; when they come back they want a worker or the `Idle` lock, which the forking thread holds.
//!
//! In the child there is one native thread, the caller's, with its worker and unit. Other units never run again: their memory stays as it was, shared with the parent until
//! somebody writes.
//! Rejected: forking from a thread that never runs units (the unit's stack belongs to the worker's thread); taking every lock of the process (channels' are without number).

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::current;
use crate::scheduler::{Inner, Scheduler};
use crate::worker::{Status, Worker};

/// How long others may take to come to where they stand still.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often those who stand still look whether they may go on, and the forking thread whether they stand.
const PAUSE: Duration = Duration::from_micros(50);

/// Which process this is after [`Scheduler::fork`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forked {
    /// With the child's number.
    Parent(i32),
    Child,
}

/// The gate at which native threads stand still.
#[derive(Default)]
pub(crate) struct Freeze {
    /// Number of the fork that goes on; 0: none. Written by the forking thread, read by all others before turns.
    epoch: AtomicU64,
    /// The last number.
    last: AtomicU64,
    /// The fork at which the timer thread stands still. Written by it.
    timer: AtomicU64,
}

impl Inner {
    /// Stands still while the process is being forked. By the owner of a worker, or the timer thread (None); holding no lock.
    #[inline]
    pub(crate) fn pass_gate(&self, worker: Option<&Worker>) {
        if self.freeze.epoch.load(Ordering::SeqCst) != 0 {
            self.stand_still(worker);
        }
    }

    #[cold]
    fn stand_still(&self, worker: Option<&Worker>) {
        let stands = worker.map_or(&self.freeze.timer, |w| &w.frozen_at);
        loop {
            let epoch = self.freeze.epoch.load(Ordering::SeqCst);
            if epoch == 0 {
                return;
            }
            stands.store(epoch, Ordering::SeqCst);
            std::thread::sleep(PAUSE);
        }
    }

    /// Whether nobody but the owner of worker `mine` runs. Under the `Idle` lock.
    fn all_stand_still(&self, mine: u32, epoch: u64) -> bool {
        let stands = |w: &Worker| w.frozen_at.load(Ordering::SeqCst) == epoch;
        let workers = self.in_use().iter().enumerate().all(|(index, w)| {
            index as u32 == mine || !matches!(w.status.load(Ordering::SeqCst), Status::RUNNING | Status::REPLACED) || stands(w)
        });
        workers && (!self.reactor.is_started() || self.freeze.timer.load(Ordering::SeqCst) == epoch)
    }
}

/// Lets everybody go on.
struct Thaw<'a>(&'a Freeze);

impl Drop for Thaw<'_> {
    fn drop(&mut self) {
        self.0.epoch.store(0, Ordering::SeqCst);
    }
}

impl Scheduler {
    /// Forks the process, from a unit in its turn. `holding` is given the call that forks and makes it while it holds whatever locks
    /// threads beside the scheduler's may take at any time. In the child all signals are blocked for the calling thread until [`unblock_signals`].
    ///
    /// # Errors
    /// fork(2)'s; EAGAIN: some unit has not come to a turn boundary within [`PATIENCE`]; EINVAL: no unit calls.
    pub fn fork(&self, holding: &dyn Fn(&mut dyn FnMut())) -> io::Result<Forked> {
        let inner = self.inner();
        // SAFETY: a thread's own record.
        let Some((native, mine)) = unsafe { current::native().as_ref() }.and_then(|n| Some((n, n.worker_in_turn()?))) else {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        };
        let freeze = &inner.freeze;
        let epoch = freeze.last.fetch_add(1, Ordering::SeqCst) + 1;
        if freeze.epoch.compare_exchange(0, epoch, Ordering::SeqCst, Ordering::SeqCst).is_err() {
            return Err(io::Error::from_raw_os_error(libc::EAGAIN));
        }
        let thaw = Thaw(freeze);
        let begin = Instant::now();
        loop {
            inner.preempt_all();
            inner.reactor.poke();
            let mut result = None;
            inner.with_idle_locked(|idle| {
                if !inner.all_stand_still(mine, epoch) {
                    return;
                }
                let mut pid = -1;
                holding(&mut || pid = fork_with_signals_blocked());
                result = Some(match pid {
                    -1 => Err(io::Error::last_os_error()),
                    0 => {
                        native.is_alone();
                        inner.start_over(idle, mine);
                        Ok(Forked::Child)
                    }
                    pid => Ok(Forked::Parent(pid)),
                });
            });
            match result {
                Some(Ok(Forked::Child)) => {
                    drop(thaw);
                    inner.reactor.start_over()?;
                    return Ok(Forked::Child);
                }
                Some(result) => {
                    unblock_signals();
                    return result;
                }
                None if begin.elapsed() > PATIENCE => return Err(io::Error::from_raw_os_error(libc::EAGAIN)),
                None => std::thread::sleep(PAUSE),
            }
        }
    }
}

/// A handler that ran in the child before its signals are its own would tell the parent.
fn fork_with_signals_blocked() -> i32 {
    // SAFETY: signal sets of our own; fork takes nothing.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &all, std::ptr::null_mut());
        libc::fork()
    }
}

/// The calling thread takes signals again. Threads of a scheduler block none.
pub fn unblock_signals() {
    // SAFETY: a signal set of our own.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::pthread_sigmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
    }
}
