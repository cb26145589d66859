//! Who runs: workers, sleeping native threads, hand-off, and the test whether everything waits.
//!
//! Invariants:
//! - A worker is in exactly one of: borrowed by a native thread (RUNNING), kept at hand by a blocking call (BLOCKED), in the idle
//!   list (IDLE), left to a turn that did not end in time (REPLACED, see `monitor`), unused (SPARE). Only moves through the `Idle` lock change who has it, except
//!   RUNNING <-> BLOCKED by its own thread, and the BLOCKED -> RUNNING compare-exchange that decides between its thread and a taker.
//! - No lost wake-up: a pusher publishes the task, fences, then looks for a spinner or an idle worker; a thread that gives up
//!   stops spinning or enters the idle list, fences, then looks at all queues again.
//! - At most one thread holds the permit to spin; it is passed along with a wake-up, so that a burst of pushes wakes one thread,
//!   which wakes the next when it found work and sees more.
//!
//! Rejected: waking a worker for every wake-up (13 us instead of 0.1 us for a unit that is about to park anyway); releasing the
//! worker in every blocking call at once (a futex wake each time, where most calls return within a microsecond).

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, OnceLock};
use zakuro_base::sync::wide::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
use zakuro_base::sync::wide::{Condvar, Mutex, MutexGuard, thread};

use crate::clock::{self, Times};
use crate::fork::Freeze;
use crate::monitor::Monitor;
use crate::native::{self, EXIT, NONE, Parker, WITH_PERMIT};
use crate::queue::RunQueue;
use crate::reactor::{Care, Descriptors, Reactor};
use crate::task::{State, Task, TaskInner, TaskRef};
use crate::worker::{self, Status, Worker};
use crate::{Unit, current, stack};

const NATIVE_STACK: usize = 8 << 20;
/// Most workers that may be replaced at a time: each costs a native thread. Beyond, a turn that does not end keeps its worker, and others wait for it.
const SPARE: usize = if cfg!(feature = "shuttle") { 2 } else { 256 };

/// How a scheduler is set up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Config {
    /// Units that may run at the same time; 0 means the number of CPUs that the process may use.
    pub workers: usize,
    /// Times of tasks and workers are kept ([`crate::clock`]).
    pub timed: bool,
}

/// Everything about workers and threads that is not on a hot path.
pub(crate) struct Idle {
    /// Workers that nobody borrows, the most recently idle last. Includes those never used yet.
    workers: Vec<u32>,
    /// Native threads that sleep without a worker.
    sleepers: Vec<Arc<Parker>>,
    /// Native threads that are back from a blocking call and want a worker to go on.
    returners: VecDeque<Arc<Parker>>,
    /// Blocking calls (and returners) whose worker another thread took, and turns whose worker was replaced.
    detached: usize,
    /// Workers in state SPARE, the lowest number last.
    spare: Vec<u32>,
    /// Native threads alive.
    natives: usize,
}

pub(crate) struct Inner {
    /// `count` of them work; the others are spare, or were replaced.
    workers: Box<[Worker]>,
    pub(crate) count: usize,
    pub(crate) timed: bool,
    /// Nanoseconds between two questions what runs ([`crate::poll::PROFILE`]); 0: none. Read by the timer thread.
    pub(crate) profile_every: std::sync::atomic::AtomicU64,
    /// No worker from here on is in use. Written under `idle`; read by whoever goes through all workers.
    in_use: AtomicUsize,
    pub(crate) injector: RunQueue,
    /// Taken when a thread goes to sleep, is woken, or changes its worker. Innermost but for run queues (read only).
    idle: Mutex<Idle>,
    /// Mirror of `idle.workers.len()`: written under the lock, read by pushers after a fence.
    idle_workers: AtomicUsize,
    /// Mirror of `idle.returners.len()`, read by workers at turn boundaries.
    returners: AtomicUsize,
    /// Workers in state REPLACED. Written under `idle`; read by the reactor, which ticks while there are any.
    replaced: AtomicUsize,
    pub(crate) monitor: Mutex<Monitor>,
    /// Ticks ask what runs ([`crate::poll::SAMPLE`]).
    pub(crate) samples: std::sync::atomic::AtomicBool,
    /// The permit to spin: 1 while a thread holds it. Taken by compare-exchange, given back by its holder.
    spinning: AtomicUsize,
    /// Workers in state BLOCKED. Raised before the status is set, lowered after it was left.
    pub(crate) blocked: AtomicUsize,
    /// Units spawned and not ended. Changed once per unit.
    live: AtomicUsize,
    next_id: AtomicU64,
    /// Pending timers, watches and holds: whatever may still wake a unit from outside. Raised by whoever arms, lowered after the
    /// wake-up was delivered, so that "zero" implies "already in a queue".
    pub(crate) outside: AtomicUsize,
    /// The idle callback was called and no work was found since. Set under `idle`; cleared by any thread that finds work.
    idle_reported: AtomicBool,
    on_idle: Mutex<Option<Arc<dyn Fn() + Send + Sync>>>,
    /// See [`Scheduler::on_care`].
    care: Mutex<Option<Arc<dyn Fn(bool) -> Care + Send + Sync>>>,
    /// See [`Scheduler::on_rest`]. Set once.
    on_rest: OnceLock<fn()>,
    /// How often [`Scheduler::all_rest`] was called.
    rests_wanted: AtomicU64,
    /// How often [`Scheduler::sleepers_rest`] was called.
    pub(crate) sleepers_rest: AtomicU64,
    stopping: AtomicBool,
    /// Signalled when a native thread ends; used with `idle`.
    ended: Condvar,
    pub(crate) freeze: Freeze,
    pub(crate) reactor: Reactor,
}

/// What a thread without work does next.
#[must_use]
pub(crate) enum Rest {
    /// It still has its worker: look again.
    Retry,
    /// The same, after everything was found waiting and that was reported: what the report woke may lie in the worker's own queue.
    Reported,
    /// The worker is given back and the thread registered: wait at the parker.
    Sleep,
    /// There are sleepers enough.
    Exit,
}

impl Inner {
    pub(crate) fn worker(&self, index: u32) -> &Worker {
        &self.workers[index as usize]
    }

    /// All workers that may be at work, or have work.
    pub(crate) fn in_use(&self) -> &[Worker] {
        &self.workers[..self.in_use.load(Ordering::SeqCst)]
    }

    pub(crate) fn stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    // ---- pushing work

    pub(crate) fn enqueue_woken(&self, task: TaskRef) {
        let native = current::native();
        // SAFETY: a thread's own record.
        if unsafe { native.as_ref() }.is_some_and(|native| native.enqueue_woken(self, task)) {
            return;
        }
        self.inject(task);
    }

    fn inject(&self, task: TaskRef) {
        self.injector.push(task);
        self.need_worker();
    }

    /// A runnable unit is in a queue: makes sure that somebody will look there.
    pub(crate) fn need_worker(&self) {
        fence(Ordering::SeqCst);
        if self.spinning.load(Ordering::Relaxed) > 0
            || (self.idle_workers.load(Ordering::Relaxed) == 0 && self.blocked.load(Ordering::Relaxed) == 0)
        {
            return;
        }
        if self.start_spinning() {
            // Without another native thread those that there are will look: there is one since `Scheduler::start`.
            let _ = self.start_worker();
        }
    }

    /// Whether any queue has something for a thief. LIFO slots do not count: their owners will look.
    pub(crate) fn work_visible(&self) -> bool {
        !self.injector.is_empty() || self.in_use().iter().any(|w| !w.queue.is_empty())
    }

    pub(crate) fn start_spinning(&self) -> bool {
        self.spinning.compare_exchange(0, 1, Ordering::SeqCst, Ordering::Relaxed).is_ok()
    }

    pub(crate) fn stop_spinning(&self) {
        self.spinning.store(0, Ordering::SeqCst);
        fence(Ordering::SeqCst);
    }

    /// Gives the permit up without going to rest: whoever pushed meanwhile relied on its holder to look again.
    pub(crate) fn release_permit(&self) {
        self.stop_spinning();
        if self.work_visible() {
            self.need_worker();
        }
    }

    // ---- handing workers out

    /// Sets a native thread to work on an idle worker, or on one that a blocking call keeps at hand. The caller holds the permit
    /// to spin, which goes with it. An error: no native thread was to be had, and the worker is idle again.
    fn start_worker(&self) -> io::Result<()> {
        let (idle, index) = loop {
            let mut idle = self.idle.lock();
            if let Some(index) = idle.workers.pop() {
                self.idle_workers.store(idle.workers.len(), Ordering::SeqCst);
                break (idle, index);
            }
            if let Some(index) = self.take_blocked() {
                idle.detached += 1;
                break (idle, index);
            }
            drop(idle);
            // A pusher may have relied on our permit since we looked. But only a worker that is really to be had is worth another try: while a
            // call is about to begin or end, `blocked` counts one that is not, and whoever begins it looks at the queues himself.
            self.stop_spinning();
            if !self.work_visible() || !self.worker_to_be_had() || !self.start_spinning() {
                return Ok(());
            }
        };
        self.worker(index).status.store(Status::RUNNING, Ordering::SeqCst);
        let result = self.put_to_work(idle, index | WITH_PERMIT);
        self.reactor.start_ticking();
        result
    }

    fn worker_to_be_had(&self) -> bool {
        self.idle_workers.load(Ordering::SeqCst) > 0 || self.in_use().iter().any(|w| w.status.load(Ordering::SeqCst) == Status::BLOCKED)
    }

    fn take_blocked(&self) -> Option<u32> {
        let taken = self.in_use().iter().position(|w| {
            w.status.load(Ordering::Relaxed) == Status::BLOCKED
                && w.status.compare_exchange(Status::BLOCKED, Status::RUNNING, Ordering::SeqCst, Ordering::Relaxed).is_ok()
        })?;
        self.blocked.fetch_sub(1, Ordering::SeqCst);
        Some(taken as u32)
    }

    /// A sleeper, or a new native thread, gets the worker. Consumes the lock: a thread is started without it.
    fn put_to_work(&self, mut idle: MutexGuard<'_, Idle>, word: u32) -> io::Result<()> {
        if let Some(sleeper) = idle.sleepers.pop() {
            drop(idle);
            sleeper.assign(word);
            return Ok(());
        }
        idle.natives += 1;
        let number = idle.natives;
        drop(idle);
        let Some(inner) = self.reactor.owner() else { return Ok(()) };
        let parker = Arc::new(Parker::new(word));
        // Of the first one, whoever starts the process wants to hear.
        let admitted = if number == 1 { Ok(()) } else { zakuro_base::memory::admits_thread(NATIVE_STACK) };
        let started = admitted.and_then(|()| {
            thread::Builder::new().name(format!("zakuro-{number}")).stack_size(NATIVE_STACK).spawn(move || native::main(inner, parker))
        });
        started.map(drop).inspect_err(|_| {
            // No thread to be had: the worker goes back, and whoever runs already will do the work.
            let mut idle = self.idle.lock();
            idle.natives -= 1;
            self.give_back(&mut idle, word & !WITH_PERMIT);
            drop(idle);
            if word & WITH_PERMIT != 0 {
                self.stop_spinning();
            }
        })
    }

    /// The worker goes to a returner if one waits, else to the idle list.
    fn give_back(&self, idle: &mut Idle, index: u32) {
        if let Some(returner) = self.pop_returner(idle) {
            returner.assign(index);
            return;
        }
        self.worker(index).status.store(Status::IDLE, Ordering::SeqCst);
        idle.workers.push(index);
        self.idle_workers.store(idle.workers.len(), Ordering::SeqCst);
    }

    fn pop_returner(&self, idle: &mut Idle) -> Option<Arc<Parker>> {
        let returner = idle.returners.pop_front()?;
        self.returners.store(idle.returners.len(), Ordering::SeqCst);
        idle.detached -= 1;
        Some(returner)
    }

    // ---- going to sleep

    pub(crate) fn rest(&self, index: u32, parker: &Arc<Parker>) -> Rest {
        let mut idle = self.idle.lock();
        if self.stopping() || self.worker(index).is_replaced() {
            return Rest::Retry;
        }
        if let Some(returner) = self.pop_returner(&mut idle) {
            returner.assign(index);
            return self.sleep_or_exit(&mut idle, parker);
        }
        self.worker(index).status.store(Status::IDLE, Ordering::SeqCst);
        idle.workers.push(index);
        self.idle_workers.store(idle.workers.len(), Ordering::SeqCst);
        fence(Ordering::SeqCst);
        // The other half of the handshake with `need_worker`. Sources from outside are read before the queues: they are counted
        // down after their wake-up was queued.
        let all_wait = idle.workers.len() == self.count
            && idle.detached == 0
            && self.outside.load(Ordering::SeqCst) == 0
            && self.live.load(Ordering::SeqCst) > 0;
        if self.work_visible() {
            self.take_back(&mut idle, index);
            return Rest::Retry;
        }
        if all_wait && !self.idle_reported.swap(true, Ordering::SeqCst) {
            self.take_back(&mut idle, index);
            drop(idle);
            let callback = self.on_idle.lock().clone();
            if let Some(callback) = callback {
                callback();
            }
            return Rest::Reported;
        }
        self.sleep_or_exit(&mut idle, parker)
    }

    /// Undoes the push of our own worker, under the same lock hold.
    fn take_back(&self, idle: &mut Idle, index: u32) {
        let last = idle.workers.pop();
        debug_assert_eq!(last, Some(index));
        self.idle_workers.store(idle.workers.len(), Ordering::SeqCst);
        self.worker(index).status.store(Status::RUNNING, Ordering::SeqCst);
    }

    fn sleep_or_exit(&self, idle: &mut Idle, parker: &Arc<Parker>) -> Rest {
        if idle.sleepers.len() >= self.count || self.stopping() {
            return Rest::Exit;
        }
        idle.sleepers.push(parker.clone());
        Rest::Sleep
    }

    /// Work was found after a search: the process is not idle any more.
    pub(crate) fn work_resumed(&self) {
        if self.idle_reported.load(Ordering::Relaxed) {
            self.idle_reported.store(false, Ordering::SeqCst);
        }
    }

    /// A source of wake-ups from outside went away without waking anybody: if everything waits, somebody has to notice.
    pub(crate) fn outside_ended(&self, count: usize) {
        let before = self.outside.fetch_sub(count, Ordering::SeqCst);
        if before == count && self.idle_workers.load(Ordering::SeqCst) == self.count && self.start_spinning() {
            let _ = self.start_worker();
        }
    }

    // ---- blocking calls

    pub(crate) fn returners_wait(&self) -> bool {
        self.returners.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn returners_waiting(&self) -> usize {
        self.returners.load(Ordering::Relaxed)
    }

    /// At a turn boundary: hands the worker to a thread that came back from a blocking call. False if none waits any more, or it was replaced.
    pub(crate) fn give_to_returner(&self, index: u32) -> bool {
        let mut idle = self.idle.lock();
        if self.worker(index).is_replaced() {
            return false;
        }
        match self.pop_returner(&mut idle) {
            Some(returner) => {
                returner.assign(index);
                true
            }
            None => false,
        }
    }

    /// True: wait at the parker. False: end.
    pub(crate) fn join_sleepers(&self, parker: &Arc<Parker>) -> bool {
        matches!(self.sleep_or_exit(&mut self.idle.lock(), parker), Rest::Sleep)
    }

    /// A blocking call begins and there is work: another thread takes the worker over, if it was not replaced before.
    pub(crate) fn detach(&self, index: u32) {
        let mut idle = self.idle.lock();
        if self.worker(index).is_replaced() {
            // Its turn counts as detached already, and comes back as a returner.
            self.leave_replaced(&mut idle, index);
            drop(idle);
            return self.need_worker();
        }
        idle.detached += 1;
        if let Some(returner) = self.pop_returner(&mut idle) {
            return returner.assign(index);
        }
        let _ = self.put_to_work(idle, index);
    }

    /// A blocking call is over: true if its worker is still at hand.
    pub(crate) fn reclaim(&self, index: u32) -> bool {
        let status = &self.worker(index).status;
        let kept = status.compare_exchange(Status::BLOCKED, Status::RUNNING, Ordering::SeqCst, Ordering::Relaxed).is_ok();
        if kept {
            self.blocked.fetch_sub(1, Ordering::SeqCst);
        }
        kept
    }

    /// A blocking call is over and its worker gone: takes an idle one or waits in line.
    pub(crate) fn attach(&self, parker: &Arc<Parker>) -> u32 {
        {
            let mut idle = self.idle.lock();
            if let Some(index) = idle.workers.pop() {
                self.idle_workers.store(idle.workers.len(), Ordering::SeqCst);
                self.worker(index).status.store(Status::RUNNING, Ordering::SeqCst);
                idle.detached -= 1;
                drop(idle);
                self.work_resumed();
                self.reactor.start_ticking();
                return index;
            }
            if let Some(index) = self.take_blocked() {
                // Its call is detached in our place.
                return index;
            }
            idle.returners.push_back(parker.clone());
            self.returners.store(idle.returners.len(), Ordering::SeqCst);
        }
        parker.wait(None) & !WITH_PERMIT
    }

    // ---- turns that do not end

    /// The turn on this worker does not end: a spare worker goes to work in its place, while the turn keeps this one.
    pub(crate) fn replace(&self, index: u32) {
        let mut idle = self.idle.lock();
        let worker = self.worker(index);
        if self.stopping() || idle.spare.is_empty() {
            return;
        }
        if worker.status.compare_exchange(Status::RUNNING, Status::REPLACED, Ordering::SeqCst, Ordering::Relaxed).is_err() {
            return;
        }
        idle.detached += 1;
        self.replaced.fetch_add(1, Ordering::SeqCst);
        self.move_to_injector(worker);
        let Some(fresh) = idle.spare.pop() else { return };
        self.count_in_use(&idle);
        self.worker(fresh).status.store(Status::RUNNING, Ordering::SeqCst);
        if let Some(returner) = self.pop_returner(&mut idle) {
            return returner.assign(fresh);
        }
        let _ = self.put_to_work(idle, fresh);
    }

    /// A turn is over whose worker was replaced. If some worker does nothing, this one takes its place again; else the thread gives up what was left to it.
    pub(crate) fn come_back(&self, index: u32, parker: &Arc<Parker>) -> Rest {
        let mut idle = self.idle.lock();
        let unused =
            if self.stopping() { None } else { idle.workers.pop().or_else(|| self.take_blocked().inspect(|_| idle.detached += 1)) };
        idle.detached -= 1;
        if let Some(other) = unused {
            self.idle_workers.store(idle.workers.len(), Ordering::SeqCst);
            self.replaced.fetch_sub(1, Ordering::SeqCst);
            self.worker(index).status.store(Status::RUNNING, Ordering::SeqCst);
            self.make_spare(&mut idle, other);
            drop(idle);
            self.work_resumed();
            self.reactor.start_ticking();
            return Rest::Retry;
        }
        self.leave_replaced(&mut idle, index);
        let rest = self.sleep_or_exit(&mut idle, parker);
        drop(idle);
        self.need_worker();
        rest
    }

    /// The thread of a replaced worker lets go of it.
    fn leave_replaced(&self, idle: &mut Idle, index: u32) {
        self.move_to_injector(self.worker(index));
        self.replaced.fetch_sub(1, Ordering::SeqCst);
        self.make_spare(idle, index);
    }

    fn make_spare(&self, idle: &mut Idle, index: u32) {
        self.worker(index).status.store(Status::SPARE, Ordering::SeqCst);
        idle.spare.push(index);
        // Low numbers are taken first, so that few workers have to be looked at.
        idle.spare.sort_unstable_by(|a, b| b.cmp(a));
        self.count_in_use(idle);
    }

    fn count_in_use(&self, idle: &Idle) {
        let unused = idle.spare.iter().zip((0..self.workers.len() as u32).rev()).take_while(|(spare, last)| *spare == last).count();
        self.in_use.store(self.workers.len() - unused, Ordering::SeqCst);
    }

    /// Whether all workers are idle, and no turn goes on that was left out of sight.
    pub(crate) fn nobody_works(&self) -> bool {
        self.idle_worker_count() == self.count && self.replaced.load(Ordering::SeqCst) == 0
    }

    // ---- units and threads

    pub(crate) fn unit_ended(&self) {
        self.live.fetch_sub(1, Ordering::SeqCst);
    }

    pub(crate) fn take_care(&self, busy: bool) -> Care {
        let callback = self.care.lock().clone();
        callback.map_or(Care::Done, |f| f(busy))
    }

    /// On a native thread that has slept for a while, and will sleep on.
    pub(crate) fn long_rest(&self) {
        if let Some(f) = self.on_rest.get() {
            f();
        }
    }

    pub(crate) fn rests_wanted(&self) -> u64 {
        self.rests_wanted.load(Ordering::Relaxed)
    }

    pub(crate) fn idle_worker_count(&self) -> usize {
        self.idle_workers.load(Ordering::SeqCst)
    }

    /// The scheduler stops: the worker goes back for good.
    pub(crate) fn abandon_worker(&self, index: u32) {
        if index < WITH_PERMIT {
            let mut idle = self.idle.lock();
            if self.worker(index).is_replaced() {
                idle.detached -= 1;
                return self.leave_replaced(&mut idle, index);
            }
            self.give_back(&mut idle, index);
        }
    }

    pub(crate) fn with_idle_locked(&self, f: impl FnOnce(&mut Idle)) {
        f(&mut self.idle.lock());
    }

    /// In the child of a fork, where the caller's is the only native thread and worker `mine` is its own: everything else is as if new. Units that were queued are
    /// leaked with their memory, which nobody will look at again.
    pub(crate) fn start_over(&self, idle: &mut Idle, mine: u32) {
        let all = self.workers.len() as u32;
        let others: Vec<u32> = (0..all).rev().filter(|index| *index != mine).collect();
        // Low numbers work, as many as were configured with the caller's.
        let (spare, work) = others.split_at(others.len() + 1 - self.count);
        (idle.workers, idle.spare) = (work.to_vec(), spare.to_vec());
        work.iter().for_each(|&index| self.worker(index).status.store(Status::IDLE, Ordering::SeqCst));
        spare.iter().for_each(|&index| self.worker(index).status.store(Status::SPARE, Ordering::SeqCst));
        self.worker(mine).status.store(Status::RUNNING, Ordering::SeqCst);
        for worker in &self.workers {
            while worker.take_lifo().is_some() || worker.queue.pop().is_some() {}
        }
        while self.injector.pop().is_some() {}
        std::mem::take(&mut idle.sleepers).into_iter().chain(std::mem::take(&mut idle.returners)).for_each(std::mem::forget);
        (idle.detached, idle.natives) = (0, 1);
        self.count_in_use(idle);
        self.idle_workers.store(idle.workers.len(), Ordering::SeqCst);
        for counter in [&self.returners, &self.replaced, &self.spinning, &self.blocked, &self.outside] {
            counter.store(0, Ordering::SeqCst);
        }
        self.live.store(1, Ordering::SeqCst);
        self.idle_reported.store(false, Ordering::SeqCst);
    }

    pub(crate) fn native_ended(&self) {
        self.idle.lock().natives -= 1;
        self.ended.notify_all();
    }
}

/// The process's scheduler. A handle; clones are the same scheduler.
#[derive(Clone)]
pub struct Scheduler {
    inner: Arc<Inner>,
}

impl Scheduler {
    /// Makes a scheduler. Starts no thread: that happens when there is work, or by [`Scheduler::start`].
    ///
    /// # Panics
    /// If the process may not open three descriptors.
    pub fn new(config: Config) -> Scheduler {
        match Scheduler::open(config) {
            Ok(s) => s,
            Err(e) => panic!("no descriptors for the scheduler: {e}"),
        }
    }

    /// The same for those who can do without.
    ///
    /// # Errors
    /// The process may not open three descriptors.
    pub fn open(config: Config) -> io::Result<Scheduler> {
        let count = match config.workers {
            0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
            n => n,
        };
        // Neither Miri nor shuttle has the kernel's barrier.
        let asymmetric = !cfg!(any(feature = "shuttle", miri)) && worker::process_barrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
        let descriptors = Descriptors::open()?;
        // Where address space is short, the VMs need it more than the stacks of further threads.
        let spare = if cfg!(feature = "shuttle") { SPARE } else { SPARE.min(stack::address_space() / 32 / NATIVE_STACK) };
        let inner = Arc::new_cyclic(|owner| Inner {
            workers: (0..count + spare)
                .map(|index| Worker::new(asymmetric, if index < count { Status::IDLE } else { Status::SPARE }))
                .collect(),
            count,
            timed: config.timed,
            profile_every: std::sync::atomic::AtomicU64::new(0),
            in_use: AtomicUsize::new(count),
            injector: RunQueue::default(),
            idle: Mutex::new(Idle {
                workers: (0..count as u32).rev().collect(),
                sleepers: Vec::new(),
                returners: VecDeque::new(),
                detached: 0,
                spare: (count as u32..(count + spare) as u32).rev().collect(),
                natives: 0,
            }),
            idle_workers: AtomicUsize::new(count),
            returners: AtomicUsize::new(0),
            replaced: AtomicUsize::new(0),
            monitor: Mutex::new(Monitor::default()),
            samples: std::sync::atomic::AtomicBool::new(false),
            spinning: AtomicUsize::new(0),
            blocked: AtomicUsize::new(0),
            live: AtomicUsize::new(0),
            next_id: AtomicU64::new(1),
            outside: AtomicUsize::new(0),
            idle_reported: AtomicBool::new(false),
            on_idle: Mutex::new(None),
            care: Mutex::new(None),
            on_rest: OnceLock::new(),
            rests_wanted: AtomicU64::new(0),
            sleepers_rest: AtomicU64::new(0),
            stopping: AtomicBool::new(false),
            ended: Condvar::new(),
            freeze: Freeze::default(),
            reactor: Reactor::new(owner.clone(), descriptors),
        });
        Ok(Scheduler { inner })
    }

    /// Starts the timer thread and a first thread that runs units, which stays: so a process that may have none hears of it here, not when nobody is there to
    /// be told.
    ///
    /// # Errors
    /// A native thread can't be started.
    pub fn start(&self) -> io::Result<()> {
        self.inner.reactor.start()?;
        if self.inner.start_spinning() {
            self.inner.start_worker()?;
        }
        Ok(())
    }

    /// From now on ticks set [`crate::poll::SAMPLE`] for the units that run.
    pub fn sample(&self) {
        self.inner.samples.store(true, Ordering::Relaxed);
    }

    /// From now on units that run are asked so often, with [`crate::poll::PROFILE`]; zero: not any more.
    pub fn profile(&self, every: std::time::Duration) {
        self.inner.profile_every.store(every.as_nanos() as u64, Ordering::Relaxed);
        self.inner.reactor.poke();
    }

    /// Whether a descriptor is the scheduler's own.
    pub fn reserves(&self, fd: std::os::fd::RawFd) -> bool {
        self.inner.reactor.descriptors().contains(&fd)
    }

    /// Ticks in which each worker has run units so far: first those that were configured, then those that took the places of others whose turns did not end.
    pub fn busy_ticks(&self) -> Vec<u64> {
        let now = clock::ticks();
        self.inner.workers.iter().map(|w| w.busy_until(now)).collect()
    }

    pub(crate) fn from_inner(inner: Arc<Inner>) -> Scheduler {
        Scheduler { inner }
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }

    /// What is not where it belongs when nobody works and nothing is queued.
    #[cfg(test)]
    pub(crate) fn unrest(&self) -> Option<String> {
        let inner = &self.inner;
        let idle = inner.idle.lock();
        let lists = (idle.workers.len(), idle.spare.len(), idle.returners.len());
        let counts =
            (idle.detached, inner.blocked.load(Ordering::SeqCst), inner.replaced.load(Ordering::SeqCst), inner.idle_worker_count());
        if (lists, counts) != ((inner.count, inner.workers.len() - inner.count, 0), (0, 0, 0, inner.count)) {
            return Some(format!("{lists:?} {counts:?}"));
        }
        inner.workers.iter().enumerate().find_map(|(index, worker)| {
            let spare = idle.spare.contains(&(index as u32));
            let status = worker.status.load(Ordering::SeqCst);
            let wanted = if spare { Status::SPARE } else { Status::IDLE };
            let misplaced = status != wanted || worker.has_work() || !spare && index >= inner.in_use.load(Ordering::SeqCst);
            misplaced.then(|| format!("worker {index}: {status} for {wanted}, work: {}", worker.has_work()))
        })
    }

    /// Makes the unit runnable. From any thread; from a unit, the new one starts on the same worker unless another is free.
    pub fn spawn(&self, unit: Box<dyn Unit>) -> Task {
        let inner = &self.inner;
        let task = Task(Arc::new(TaskInner {
            state: State::queued(),
            poll: unit.poll_word(),
            unit: std::cell::UnsafeCell::new(Some(unit)),
            id: inner.next_id.fetch_add(1, Ordering::Relaxed),
            runs_on: AtomicU32::new(0),
            times: Times::default(),
            scheduler: inner.clone(),
        }));
        if inner.timed {
            task.0.times.queued.store(clock::ticks(), Ordering::Relaxed);
        }
        inner.live.fetch_add(1, Ordering::SeqCst);
        let queued = TaskRef::adopt(&task);
        let native = current::native();
        // SAFETY: a thread's own record.
        if !unsafe { native.as_ref() }.is_some_and(|native| native.enqueue_spawned(inner, queued)) {
            inner.inject(queued);
        }
        task
    }

    /// Units spawned and not ended, waiting ones included.
    pub fn live_units(&self) -> usize {
        self.inner.live.load(Ordering::SeqCst)
    }

    /// How many workers there are: units that can run at the same time.
    pub fn workers(&self) -> usize {
        self.inner.count
    }

    /// Native threads that the scheduler has now, the reactor's included.
    pub fn native_threads(&self) -> usize {
        self.inner.idle.lock().natives + usize::from(self.inner.reactor.is_started())
    }

    /// Calls `callback` each time that everything waits for each other: no unit runnable or running, no blocking call, no
    /// timer, no watch and no hold, yet live units. Once per transition, from a worker's thread, without a lock. The callback may
    /// wake units. Replaces an earlier callback.
    pub fn on_idle(&self, callback: Box<dyn Fn() + Send + Sync>) {
        *self.inner.on_idle.lock() = Some(Arc::from(callback));
    }

    /// Calls `callback` on the timer thread a few times a second while units run, and after that until it returns [`Care::Done`]: for giving back in bulk
    /// what nobody has needed for a while. Its argument: whether units run. Timers are late by what it takes.
    pub fn on_care(&self, callback: Box<dyn Fn(bool) -> Care + Send + Sync>) {
        *self.inner.care.lock() = Some(Arc::from(callback));
    }

    /// Calls `callback` on each native thread of the scheduler that has had nothing to do for half a second, once until it has worked again: for what
    /// belongs to the thread and only it can give back. The first callback stays.
    pub fn on_rest(&self, callback: fn()) {
        let _ = self.inner.on_rest.set(callback);
    }

    /// Calls what [`Scheduler::on_rest`] was given, for the calling thread.
    pub fn rests(&self) {
        self.inner.long_rest();
    }

    /// Asks each native thread to do so before its next turn, those that sleep when they have done so for long. One that has done it lately does it a little later.
    pub fn all_rest(&self) {
        self.inner.rests_wanted.fetch_add(1, Ordering::Relaxed);
    }

    /// Has each native thread do so when it next sleeps, at once if it does: others may have freed since what belongs to it.
    pub fn sleepers_rest(&self) {
        self.inner.sleepers_rest.fetch_add(1, Ordering::Relaxed);
        let sleepers = self.inner.idle.lock().sleepers.clone();
        sleepers.iter().for_each(|sleeper| sleeper.nudge());
    }

    /// While the guard lives, units may be woken from outside the scheduler: no idle callback.
    pub fn hold(&self) -> IdleHold {
        self.inner.outside.fetch_add(1, Ordering::SeqCst);
        IdleHold { inner: self.inner.clone() }
    }

    /// See [`crate::blocking`].
    pub fn blocking<R>(&self, f: impl FnOnce() -> R) -> R {
        native::blocking(f)
    }

    /// Ends all native threads at the next turn boundary of each and waits for them, except for those in a blocking call, and
    /// except for the caller's own. Units that have not ended are not run again; end them before if they own anything.
    pub fn shutdown(&self) {
        let inner = &self.inner;
        inner.stopping.store(true, Ordering::SeqCst);
        inner.preempt_all();
        inner.reactor.stop();
        let own = usize::from(!current::native().is_null());
        let mut idle = inner.idle.lock();
        loop {
            for sleeper in idle.sleepers.drain(..) {
                sleeper.assign(EXIT);
            }
            let blocked = idle.detached + inner.blocked.load(Ordering::SeqCst);
            if idle.natives <= blocked + own {
                break;
            }
            inner.ended.wait_for(&mut idle, std::time::Duration::from_millis(5));
        }
        drop(idle);
        for worker in &inner.workers {
            if let Some(task) = worker.take_lifo() {
                worker.queue.push(task);
            }
        }
        let queues = inner.workers.iter().map(|w| &w.queue).chain([&inner.injector]);
        for queue in queues {
            while let Some(task) = queue.pop() {
                // SAFETY: it was queued, nobody runs it, and nobody will.
                drop(unsafe { task.into_task() });
            }
        }
    }
}

/// Keeps the idle callback from being called; see [`Scheduler::hold`].
pub struct IdleHold {
    inner: Arc<Inner>,
}

impl Drop for IdleHold {
    fn drop(&mut self) {
        self.inner.outside_ended(1);
    }
}

const _: () = assert!(NONE > WITH_PERMIT && EXIT > WITH_PERMIT);

#[cfg(test)]
#[path = "scheduler_tests.rs"]
pub(crate) mod tests;
