//! What keeps a unit from holding a worker for itself: time slices, and the replacement of a worker whose turn does not end although it was asked to.
//!
//! Every [`crate::reactor`] tick looks at each worker. In the same turn as one tick ago while others wait: its unit is asked to make room. Asked before, and still in
//! that turn: native code runs there that does not poll. The worker is *replaced*: a spare one takes its place, with another native thread. The replaced one belongs to
//! the turn that runs on it and to no other thread, until that turn ends ([`Inner::come_back`]) or begins a blocking call: whatever goes by a worker's index or
//! is written by a worker's owner alone needs no protection against the turn that is out of sight.
//!
//! Invariants: RUNNING -> REPLACED is a compare-exchange under the `Idle` lock; all that a replaced worker becomes next is decided there, too. As many workers as were
//! configured are RUNNING, BLOCKED or IDLE at any time. What is queued at a replaced worker goes to the injector at the latest with the next tick; ticks go on while
//! there is one.
//! Rejected: taking the worker itself away from the thread (its LIFO slot would have two threads that put units in, so each wake-up would cost a locked instruction); asking
//! whether the poll bit is still set (a unit may take it without being able to leave its turn); a signal that interrupts the native code (it may hold locks).

use std::sync::atomic::Ordering;

use crate::balance;
use crate::scheduler::Inner;
use crate::worker::{Status, Worker, process_barrier};
use crate::{native, poll};

/// CPU time (ns) that a turn must have used since it was asked to end, to be taken for one that does not poll: a thread that the kernel has not run can't have polled, and
/// one more thread would make that worse. Many times what lies between two safepoints; little, since among many threads each runs but a few milliseconds at a time.
const SPENT: u64 = 1_000_000;

/// What the last tick saw of a worker.
#[derive(Clone, Copy, Default)]
struct Seen {
    turn: u64,
    /// This turn was asked to end, when its thread had used this much CPU time (ns; 0: unknown).
    asked: Option<u64>,
}

/// Behind a lock, which makes its holder the one who pins workers.
#[derive(Default)]
pub(crate) struct Monitor {
    seen: Vec<Seen>,
}

impl Inner {
    /// Time slices, and replacement. By the reactor (in models, by anybody).
    pub(crate) fn tick(&self) {
        let mut monitor = self.monitor.lock();
        let workers = self.in_use();
        let seen = monitor.seen.len().max(workers.len());
        monitor.seen.resize(seen, Seen::default());
        let mut outside = self.injector.len() + self.returners_waiting();
        let mut idle = self.idle_worker_count() + self.blocked.load(Ordering::Relaxed);
        let (mut ask, mut stuck) = (Vec::new(), Vec::new());
        for (index, (worker, seen)) in workers.iter().zip(&mut monitor.seen).enumerate() {
            let turn = worker.turn.load(Ordering::Relaxed);
            let same = turn == seen.turn;
            if !same {
                *seen = Seen { turn, asked: None };
            }
            let status = worker.status.load(Ordering::Relaxed);
            let work = worker.has_work();
            if status == Status::REPLACED {
                // Who took the bit without leaving its turn is asked again.
                ask.push(index);
                if work {
                    self.move_to_injector(worker);
                    self.need_worker();
                }
                continue;
            }
            if !same || status != Status::RUNNING || !(work || outside > 0) {
                continue;
            }
            if idle > 0 {
                idle -= 1;
                self.need_worker();
                continue;
            }
            match seen.asked {
                None => ask.push(index),
                Some(before) if worker.in_turn() && has_spent(worker, before) => {
                    // One more worker for each unit that waits, not for all of them.
                    outside -= usize::from(!work);
                    stuck.push(index);
                }
                Some(_) => {}
            }
        }
        let asked = |index: &&usize| workers[**index].status.load(Ordering::Relaxed) == Status::RUNNING && workers[**index].in_turn();
        ask.iter().filter(asked).for_each(|&index| monitor.seen[index].asked = Some(cpu_time(&workers[index])));
        if self.samples.load(Ordering::Relaxed) {
            // In the order of workers: `pinned` has one writer, and pins what it unpins.
            let all: Vec<(&Worker, u32)> = workers
                .iter()
                .enumerate()
                .map(|(index, w)| (w, poll::SAMPLE | if ask.contains(&index) { poll::PREEMPT } else { 0 }))
                .filter(|(w, bits)| *bits != poll::SAMPLE || w.in_turn())
                .collect();
            tell(&all);
        } else {
            preempt(ask.iter().map(|&index| &workers[index]));
        }
        for index in stuck {
            self.replace(index as u32);
        }
        // No thread could be started for an idle worker when its work came.
        if idle > 0 && !self.injector.is_empty() {
            self.need_worker();
        }
    }

    /// Asks all that run what that is.
    pub(crate) fn profile(&self) {
        let _monitor = self.monitor.lock();
        tell(&self.in_use().iter().filter(|w| w.in_turn()).map(|w| (w, poll::PROFILE)).collect::<Vec<_>>());
    }

    /// Asks all that run what that is, as ticks do ([`poll::SAMPLE`]).
    pub(crate) fn look(&self) {
        let _monitor = self.monitor.lock();
        tell(&self.in_use().iter().filter(|w| w.in_turn()).map(|w| (w, poll::SAMPLE)).collect::<Vec<_>>());
    }

    /// Asks all that run to end their turns.
    pub(crate) fn preempt_all(&self) {
        let _monitor = self.monitor.lock();
        preempt(self.in_use().iter());
    }

    /// What waits at a worker that was replaced goes to everybody. The caller sees to it that somebody looks.
    pub(crate) fn move_to_injector(&self, worker: &Worker) {
        let lifo = std::iter::from_fn(|| worker.take_lifo()).take(1);
        lifo.chain(std::iter::from_fn(|| worker.queue.pop())).for_each(|task| self.injector.push(task));
    }
}

/// Sets PREEMPT for the units that run on these workers. By the holder of the monitor only: `pinned` has one writer.
pub(crate) fn preempt<'a>(workers: impl Iterator<Item = &'a Worker>) {
    tell(&workers.map(|w| (w, poll::PREEMPT)).collect::<Vec<_>>());
}

/// Sets bits for the units that run on workers. As `preempt`.
fn tell(workers: &[(&Worker, u32)]) {
    let mut asymmetric = false;
    for (worker, _) in workers {
        worker.pin();
        asymmetric |= worker.asymmetric;
    }
    // One barrier for all. It can't fail after the registration; if it does, the turns go on until they end by themselves.
    let seen = !asymmetric || process_barrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    for (worker, bits) in workers {
        if seen {
            worker.set_pinned(*bits);
        }
        worker.unpin();
    }
}

/// CPU time (ns) that the thread of a worker has used; 0: not known.
fn cpu_time(worker: &Worker) -> u64 {
    let tid = worker.tid.load(Ordering::Relaxed);
    if cfg!(any(feature = "shuttle", miri)) || tid <= 0 {
        return 0;
    }
    native::cpu_time_of(tid).unwrap_or(0)
}

/// Whether its turn had the chance to poll since its thread had used `before`, or does not run at all: it waits in the kernel.
fn has_spent(worker: &Worker, before: u64) -> bool {
    let now = cpu_time(worker);
    now == 0 || now >= before + SPENT || balance::sleeps(worker.tid.load(Ordering::Relaxed))
}
