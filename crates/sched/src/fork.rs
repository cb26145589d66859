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

/// How long others may have to stand still for one try: a native call that does not end must not hold everybody.
const HELD: Duration = Duration::from_millis(20);
/// How often those who stand still look whether they may go on, and the forking thread whether they stand.
const PAUSE: Duration = Duration::from_micros(50);

/// What came of [`Scheduler::fork`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forked {
    /// This is the process as before; the child's number.
    Parent(i32),
    Child,
    /// Some unit did not come to a turn boundary within 20 ms. Nothing has happened; let others run before the next try.
    Busy,
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
    /// threads beside the scheduler's may take at any time. `begin` is what the child does before it may get a signal; a child that fails there ends, with
    /// status 1 and a line on standard error.
    ///
    /// # Errors
    /// fork(2)'s; EINVAL: no unit calls.
    pub fn fork(&self, holding: &dyn Fn(&mut dyn FnMut()), begin: &dyn Fn() -> io::Result<()>) -> io::Result<Forked> {
        let inner = self.inner();
        // SAFETY: a thread's own record.
        let Some((native, mine)) = unsafe { current::native().as_ref() }.and_then(|n| Some((n, n.worker_in_turn()?))) else {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        };
        let freeze = &inner.freeze;
        let epoch = freeze.last.fetch_add(1, Ordering::SeqCst) + 1;
        if freeze.epoch.compare_exchange(0, epoch, Ordering::SeqCst, Ordering::SeqCst).is_err() {
            return Ok(Forked::Busy);
        }
        let thaw = Thaw(freeze);
        crate::balance::use_all_cpus();
        let asked = Instant::now();
        loop {
            inner.preempt_all();
            inner.reactor.poke();
            let mut forked = None;
            inner.with_idle_locked(|idle| {
                if inner.all_stand_still(mine, epoch) {
                    let signals = BlockedSignals::new();
                    let (mut pid, mut error) = (-1, None);
                    holding(&mut || {
                        // SAFETY: everybody else stands still, or wants a lock that is held.
                        pid = unsafe { libc::fork() };
                        error = Some(io::Error::last_os_error());
                    });
                    if pid == 0 {
                        native.is_alone();
                        inner.start_over(idle, mine);
                    }
                    forked = Some((signals, pid, error));
                }
            });
            match forked {
                Some((signals, 0, _)) => {
                    drop(thaw);
                    if let Err(e) = inner.reactor.start_over().and_then(|()| begin()) {
                        give_up(&e);
                    }
                    drop(signals);
                    return Ok(Forked::Child);
                }
                Some((_, -1, error)) => return Err(error.unwrap_or_else(|| io::ErrorKind::Other.into())),
                Some((_, pid, _)) => return Ok(Forked::Parent(pid)),
                None if asked.elapsed() > HELD => return Ok(Forked::Busy),
                None => std::thread::sleep(PAUSE),
            }
        }
    }
}

/// The child can't go on, and must not as a second parent.
fn give_up(e: &io::Error) -> ! {
    let line = format!("zakuro: fork: the child can't start: {e}\n");
    // SAFETY: writes from a live text, then ends the process without running anything.
    unsafe {
        libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len());
        libc::_exit(1)
    }
}

/// While it lives the calling thread gets no signal: a handler that ran in the child before its signals are its own would tell the parent.
struct BlockedSignals(libc::sigset_t);

impl BlockedSignals {
    fn new() -> BlockedSignals {
        // SAFETY: signal sets of our own.
        unsafe {
            let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = (std::mem::zeroed(), std::mem::zeroed());
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_BLOCK, &all, &mut before);
            BlockedSignals(before)
        }
    }
}

impl Drop for BlockedSignals {
    fn drop(&mut self) {
        // SAFETY: the set that was in force.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, std::ptr::null_mut()) };
    }
}
