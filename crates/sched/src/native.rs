//! The loop of a native thread: borrow a worker, run units, look for more, give the worker back and sleep.
//!
//! Invariants: a `Native` is touched by its own thread only, except for its `Parker`. While `worker` is set, this thread alone
//! pops from that worker's LIFO slot as an owner and starts its turns. During `blocking` it is unset, so that wake-ups sent by
//! the blocking call go to the injector.
//! Rejected: a worker bound to one native thread (a blocking call would strand its queue).

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use zakuro_base::sync::wide::atomic::{Ordering, fence};
use zakuro_base::sync::wide::spin_loop;

use crate::clock;
use crate::current;
use crate::futex::Futex;
use crate::scheduler::{Inner, Rest};
use crate::task::{OnPark, Task, TaskInner, TaskRef};
use crate::worker::Status;
use crate::{Turn, poll};

/// No worker.
pub(crate) const NONE: u32 = u32::MAX;
/// The thread is to end.
pub(crate) const EXIT: u32 = u32::MAX - 1;

/// Added to a worker's index: the permit to spin comes with it.
pub(crate) const WITH_PERMIT: u32 = 1 << 30;

/// How long a thread without work looks around before it sleeps.
const SPIN: Duration = Duration::from_micros(8);
/// A thread that has slept for this long gives back what it keeps for the next work ([`crate::Scheduler::on_rest`]).
const LONG_REST: Duration = Duration::from_millis(500);
/// The same for one that others have freed memory of.
const SHORT_REST: Duration = Duration::from_millis(5);
/// How long a thread that has done so does not answer the next call of [`crate::Scheduler::all_rest`].
const SOME_TIME: Duration = Duration::from_millis(20);
/// A unit in a LIFO slot may be stolen when its worker has been in the same turn for this long.
const LIFO_AGE: Duration = Duration::from_micros(3);
/// A unit that runs on for this long (in clock ticks of `cycles`) after waking another should have woken a worker for it.
const RAN_ON: u64 = 50_000;

/// Where a native thread sleeps, and how it is handed a worker.
///
/// `word` is NONE while the thread may sleep; whoever hands out a worker (under the Idle lock it took the thread off a list)
/// stores its index and wakes; the thread takes it with an acquiring swap.
pub(crate) struct Parker {
    futex: Futex,
}

impl Parker {
    pub(crate) fn new(word: u32) -> Parker {
        Parker { futex: Futex::new(word) }
    }

    pub(crate) fn assign(&self, worker: u32) {
        self.futex.word().store(worker, Ordering::Release);
        self.futex.wake();
    }

    /// Has a sleeper look whether it should rest once more.
    pub(crate) fn nudge(&self) {
        self.futex.wake();
    }

    /// Sleeps until a worker is there. A thread that is given what rests are for calls [`Inner::long_rest`] when it takes longer than [`LONG_REST`], and when it takes
    /// [`SHORT_REST`] and all shall rest once more.
    pub(crate) fn wait(&self, rests: Option<Rests>) -> u32 {
        let begin = Instant::now();
        let mut rested = false;
        loop {
            let word = self.futex.word().load(Ordering::Acquire);
            if word != NONE {
                self.futex.word().store(NONE, Ordering::Relaxed);
                return word;
            }
            let wanted = rests.map(|r| r.inner.sleepers_rest.load(Ordering::Relaxed));
            let longest =
                rests.and_then(|r| if Some(r.answered.get()) != wanted { Some(SHORT_REST) } else { (!rested).then_some(LONG_REST) });
            self.futex.wait(NONE, longest);
            if !cfg!(feature = "shuttle")
                && let (Some(rests), Some(wanted)) = (rests, wanted)
                && longest.is_some_and(|longest| begin.elapsed() >= longest)
                && self.futex.word().load(Ordering::Relaxed) == NONE
            {
                rested = true;
                rests.answered.set(wanted);
                rests.inner.long_rest();
            }
        }
    }
}

/// What a sleeper rests for.
#[derive(Clone, Copy)]
pub(crate) struct Rests<'a> {
    inner: &'a Inner,
    /// Which call of [`crate::Scheduler::sleepers_rest`] the thread has answered.
    answered: &'a Cell<u64>,
}

/// Time since `begin`. In models, which must not depend on a clock, by rounds of a search.
fn since(begin: Instant, round: u32) -> Duration {
    if cfg!(feature = "shuttle") { LIFO_AGE * round } else { begin.elapsed() }
}

/// How long a rest was. In models, any time.
fn rested(begin: Instant) -> Duration {
    #[cfg(feature = "shuttle")]
    return begin + Duration::from_millis(shuttle::rand::Rng::gen_range(&mut shuttle::rand::thread_rng(), 0..3)) - begin;
    #[cfg(not(feature = "shuttle"))]
    begin.elapsed()
}

pub(crate) struct Native {
    inner: Arc<Inner>,
    parker: Arc<Parker>,
    /// The borrowed worker, or NONE.
    worker: Cell<u32>,
    /// The task whose turn this is.
    running: Cell<*const TaskInner>,
    /// This thread holds the scheduler's one permit to spin.
    spinning: Cell<bool>,
    turns: Cell<u32>,
    /// The last turn used its slice up.
    preempted: Cell<bool>,
    /// It reported that everything waits, and has found no work since.
    reported: Cell<bool>,
    /// When this turn first put a unit into the LIFO slot; 0: not.
    lifo_since: Cell<u64>,
    /// Which call of [`crate::Scheduler::all_rest`] was answered last, and when.
    answered: Cell<(u64, Option<Instant>)>,
    last_rest: Cell<Duration>,
    /// Which call of [`crate::Scheduler::sleepers_rest`] was answered last.
    sleepers_rest: Cell<u64>,
    tid: Cell<i32>,
    /// When the last turn ended, if nothing has been waited or searched for since.
    clock: Cell<u64>,
    /// Since when it runs a unit, blocking calls left out.
    busy_since: Cell<u64>,
    /// What the running unit has left here for its turn.
    data: Cell<*mut ()>,
}

/// Leaves a pointer for [`unit_data`] until the turn ends. Called by the unit, in its turn.
pub fn set_unit_data(data: *mut ()) {
    // SAFETY: a thread's own record.
    if let Some(native) = unsafe { current::native().as_ref() } {
        native.data.set(data);
    }
}

/// What the unit that runs on this thread has left; null outside of coroutines that may suspend here and now (in [`blocking`], on the native
/// stack, on threads of others).
pub fn unit_data() -> *mut () {
    // SAFETY: a thread's own record.
    match unsafe { current::native().as_ref() } {
        Some(native) if native.worker.get() < EXIT && !current::anchor().is_null() => native.data.get(),
        _ => ptr::null_mut(),
    }
}

/// The same on the native stack, too, while the unit waits for what runs there: to say who it is done for. Null in [`blocking`] and on threads of others.
pub fn turn_data() -> *mut () {
    // SAFETY: a thread's own record.
    match unsafe { current::native().as_ref() } {
        Some(native) if native.worker.get() < EXIT => native.data.get(),
        _ => ptr::null_mut(),
    }
}

/// Index of the calling thread's worker, 0 on other threads: for sharding only.
pub fn current_index() -> usize {
    let native = current::native();
    if native.is_null() {
        return 0;
    }
    // SAFETY: the record belongs to this thread and lives until the thread unsets it.
    let worker = unsafe { (*native).worker.get() };
    if worker == NONE { 0 } else { worker as usize + 1 }
}

/// A cheap clock for rough comparisons; its unit is between 0.2 and 1 ns. In models, chance.
pub(crate) fn cycles() -> u64 {
    #[cfg(feature = "shuttle")]
    return shuttle::rand::Rng::gen_range(&mut shuttle::rand::thread_rng(), 1..4 * RAN_ON);
    #[cfg(all(target_arch = "x86_64", not(feature = "shuttle")))]
    // SAFETY: reads a counter.
    unsafe {
        std::arch::x86_64::_rdtsc()
    }
    #[cfg(all(not(target_arch = "x86_64"), not(feature = "shuttle")))]
    {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: writes one timespec.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
        now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
    }
}

/// CPU time (ns) that a thread of this process has used. None: the system doesn't say.
pub(crate) fn cpu_time_of(tid: i32) -> Option<u64> {
    // As <linux/posix-timers.h> makes it: the complement of the thread's id, "per thread" and "by the scheduler's account".
    let clock = (!tid << 3) | 6;
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one timespec; the kernel checks the clock.
    let result = unsafe { libc::clock_gettime(clock, &mut now) };
    (result == 0).then_some(now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64)
}

/// Body of a native thread.
pub(crate) fn main(inner: Arc<Inner>, parker: Arc<Parker>) {
    // SAFETY: no arguments.
    let tid = unsafe { libc::gettid() };
    let native = Native {
        inner,
        parker,
        worker: Cell::new(NONE),
        running: Cell::new(ptr::null()),
        spinning: Cell::new(false),
        turns: Cell::new(0),
        preempted: Cell::new(false),
        reported: Cell::new(false),
        lifo_since: Cell::new(0),
        answered: Cell::new((0, None)),
        last_rest: Cell::new(Duration::ZERO),
        sleepers_rest: Cell::new(0),
        tid: Cell::new(tid),
        clock: Cell::new(0),
        busy_since: Cell::new(0),
        data: Cell::new(ptr::null_mut()),
    };
    current::set_native(&native);
    native.awoken(native.parker.wait(None));
    native.work();
    current::set_native(ptr::null());
    native.inner.native_ended();
}

impl Native {
    fn take(&self, worker: u32) {
        self.worker.set(worker);
        if worker < WITH_PERMIT {
            self.inner.worker(worker).tid.store(self.tid.get(), Ordering::Relaxed);
        }
    }

    fn work(&self) {
        loop {
            if self.worker.get() == EXIT {
                return;
            }
            self.inner.pass_gate(Some(self.inner.worker(self.worker.get())));
            if self.inner.worker(self.worker.get()).is_replaced() {
                self.clear_spinning();
                self.settle(self.inner.come_back(self.worker.get(), &self.parker));
                continue;
            }
            if self.inner.stopping() {
                self.clear_spinning();
                return self.inner.abandon_worker(self.worker.get());
            }
            if self.inner.returners_wait() && self.inner.give_to_returner(self.worker.get()) {
                self.worker.set(NONE);
                self.release_permit();
                self.sleep_without_worker();
                continue;
            }
            let task = match self.next() {
                // The permit must not be held through a turn, which may be long: nobody else would be woken.
                Some(task) => {
                    if self.reported.replace(false) {
                        self.inner.work_resumed();
                    }
                    self.release_permit();
                    Some(task)
                }
                None => self.search(),
            };
            match task {
                Some(task) => self.turn(task),
                None => self.rest(),
            }
        }
    }

    /// Own work: the LIFO slot first, except every 32nd turn, when the oldest unit has its chance (local and injected in turn).
    fn next(&self) -> Option<TaskRef> {
        let worker = self.inner.worker(self.worker.get());
        let turns = self.turns.get().wrapping_add(1);
        self.turns.set(turns);
        // Long turns: 64 of them would be a second. What came from outside (a timer, a descriptor) is as old as what waits here.
        if self.preempted.replace(false)
            && let Some(task) = self.inner.injector.pop()
        {
            return Some(task);
        }
        if turns.is_multiple_of(32) {
            let fair = if turns.is_multiple_of(64) {
                self.inner.injector.pop().or_else(|| worker.queue.pop())
            } else {
                worker.queue.pop().or_else(|| self.inner.injector.pop())
            };
            if fair.is_some() {
                return fair;
            }
        }
        worker.take_lifo().or_else(|| worker.queue.pop())
    }

    /// Others' work: the injector, then the queues of the other workers; then, for the one spinner, a while longer.
    fn search(&self) -> Option<TaskRef> {
        self.clock.set(0);
        if let Some(task) = self.search_once() {
            self.found();
            return Some(task);
        }
        // Spin only when the last rest was short: after a long one, the next will be long too.
        if !self.spinning.get() && (self.last_rest.get() > Duration::from_millis(1) || !self.inner.start_spinning()) {
            return None;
        }
        self.spinning.set(true);
        let begin = Instant::now();
        let first: Vec<u64> = self.inner.in_use().iter().map(|w| w.turn.load(Ordering::Relaxed)).collect();
        let mut round = 0;
        loop {
            round += 1;
            for _ in 0..if cfg!(feature = "shuttle") { 1 } else { 16 } {
                spin_loop();
            }
            if let Some(task) = self.search_once() {
                self.found();
                return Some(task);
            }
            let age = since(begin, round);
            if age >= LIFO_AGE {
                for (worker, &turn) in self.inner.in_use().iter().zip(&first) {
                    if worker.turn.load(Ordering::Relaxed) == turn
                        && let Some(task) = worker.take_lifo()
                    {
                        self.found();
                        return Some(task);
                    }
                }
            }
            if age >= SPIN || self.inner.stopping() || self.inner.returners_wait() {
                self.clear_spinning();
                return None;
            }
        }
    }

    fn search_once(&self) -> Option<TaskRef> {
        let inner = &*self.inner;
        let own = self.worker.get() as usize;
        let queue = &inner.worker(own as u32).queue;
        if let Some(task) = inner.injector.take_batch(queue, |len| len / inner.count + 1) {
            return Some(task);
        }
        let workers = inner.in_use();
        let count = workers.len();
        let start = self.turns.get() as usize;
        (0..count)
            .map(|i| (start + i) % count)
            .filter(|&victim| victim != own)
            .find_map(|victim| workers[victim].queue.take_batch(queue, |len| len.div_ceil(2)))
    }

    /// After a search came up with work: the permit to spin goes on to another thread if there is more to find.
    fn found(&self) {
        self.inner.work_resumed();
        self.release_permit();
    }

    fn release_permit(&self) {
        if self.spinning.replace(false) {
            self.inner.release_permit();
        }
    }

    fn clear_spinning(&self) {
        if self.spinning.replace(false) {
            self.inner.stop_spinning();
        }
    }

    fn rests(&self) -> Rests<'_> {
        Rests { inner: &self.inner, answered: &self.sleepers_rest }
    }

    /// Gives the worker back and sleeps until there is a new one.
    fn rest(&self) {
        self.clear_spinning();
        self.settle(self.inner.rest(self.worker.get(), &self.parker));
    }

    fn settle(&self, rest: Rest) {
        match rest {
            Rest::Retry => {}
            Rest::Reported => self.reported.set(true),
            Rest::Sleep => {
                self.worker.set(NONE);
                let begin = Instant::now();
                let worker = self.parker.wait(Some(self.rests()));
                self.last_rest.set(rested(begin));
                self.awoken(worker);
            }
            Rest::Exit => self.worker.set(EXIT),
        }
    }

    fn sleep_without_worker(&self) {
        if self.inner.join_sleepers(&self.parker) {
            let worker = self.parker.wait(Some(self.rests()));
            self.awoken(worker);
        } else {
            self.worker.set(EXIT);
        }
    }

    fn awoken(&self, word: u32) {
        self.clock.set(0);
        if word == EXIT {
            return self.take(EXIT);
        }
        self.spinning.set(word & WITH_PERMIT != 0);
        self.take(word & !WITH_PERMIT);
    }

    /// Somebody wants what the threads keep for themselves. Not more often than each [`SOME_TIME`]: it costs, and others feel it.
    #[cold]
    fn rest_as_wanted(&self, wanted: u64) {
        self.clock.set(0);
        if self.answered.get().1.is_none_or(|then| then.elapsed() >= SOME_TIME) {
            self.answered.set((wanted, Some(Instant::now())));
            self.inner.long_rest();
        }
    }

    fn turn(&self, task: TaskRef) {
        let wanted = self.inner.rests_wanted();
        if wanted != self.answered.get().0 {
            self.rest_as_wanted(wanted);
        }
        // SAFETY: taken from a queue, so QUEUED on our behalf; alive until `Done` below.
        let inner = unsafe { task.get() };
        inner.state.start();
        inner.poll.take(poll::PREEMPT);
        self.running.set(inner);
        self.lifo_since.set(0);
        self.inner.worker(self.worker.get()).publish(&inner.poll);
        let timed = self.inner.timed;
        if timed {
            // Turns that follow each other at once share a reading of the clock.
            let now = match self.clock.take() {
                0 => cycles(),
                ended => ended.max(inner.times.queued()),
            };
            inner.times.began.store(now, Relaxed);
            self.busy_from(now);
        }

        // SAFETY: a Task is a transparent Arc<TaskInner>, and an Arc is a pointer to the inner value's allocation as made by
        // Arc::into_raw; ManuallyDrop keeps the borrowed count untouched.
        let handle = std::mem::ManuallyDrop::new(Task(unsafe { Arc::from_raw(task.as_ptr()) }));
        // SAFETY: the state RUNNING makes the unit ours.
        let unit = unsafe { &mut *inner.unit.get() };
        let turn = match unit {
            Some(unit) => catch_unwind(AssertUnwindSafe(|| unit.run(&handle))).unwrap_or(Turn::Done),
            None => Turn::Done,
        };

        // The worker may be another one now, after a blocking call.
        let worker = self.inner.worker(self.worker.get());
        if timed {
            let times = &inner.times;
            let now = cycles();
            times.ended.store(now, Relaxed);
            // Until somebody wakes it: it may go on at once.
            times.queued.store(now, Relaxed);
            self.clock.set(now);
            self.busy_until(now);
        }
        worker.unpublish();
        self.running.set(ptr::null());
        let since = self.lifo_since.get();
        if since != 0 {
            let before = inner.runs_on.load(Ordering::Relaxed);
            let after = if cycles().wrapping_sub(since) > RAN_ON { (before + 1).min(3) } else { before.saturating_sub(1) };
            inner.runs_on.store(after, Ordering::Relaxed);
        }
        match turn {
            Turn::Again => {
                self.preempted.set(true);
                inner.state.again();
                worker.queue.push(task);
            }
            Turn::Park => match inner.state.park() {
                OnPark::Parked => {}
                OnPark::Enqueue => worker.queue.push(task),
            },
            Turn::Done => {
                // A unit's destructor may run foreign code: keep its panic away from the worker.
                let _ = catch_unwind(AssertUnwindSafe(|| unit.take()));
                inner.state.finish();
                self.inner.unit_ended();
                // SAFETY: we moved the task to DONE; nothing else takes the self-reference.
                drop(unsafe { task.into_task() });
            }
        }
    }

    /// Queues a woken unit on this thread's worker. False if there is none, or it belongs to another scheduler.
    pub(crate) fn enqueue_woken(&self, inner: &Inner, task: TaskRef) -> bool {
        let index = self.worker.get();
        if index >= EXIT || !ptr::eq(&*self.inner, inner) {
            return false;
        }
        let worker = inner.worker(index);
        if let Some(displaced) = worker.put_lifo(task) {
            worker.queue.push(displaced);
            inner.need_worker();
        } else if let Some(running) = self.running_task() {
            let runs_on = running.runs_on.load(Ordering::Relaxed);
            // The clock costs as much as the rest of a wake-up: a sample of the turns is enough to learn from.
            if self.lifo_since.get() == 0 && (runs_on > 0 || self.turns.get().is_multiple_of(4)) {
                self.lifo_since.set(cycles());
            }
            if runs_on >= 2 {
                inner.need_worker();
            }
        }
        true
    }

    /// Queues a new unit, first in, first out.
    pub(crate) fn enqueue_spawned(&self, inner: &Inner, task: TaskRef) -> bool {
        let index = self.worker.get();
        if index >= EXIT || !ptr::eq(&*self.inner, inner) {
            return false;
        }
        inner.worker(index).queue.push(task);
        inner.need_worker();
        true
    }

    fn running_task(&self) -> Option<&TaskInner> {
        // SAFETY: set for the length of a turn, in which the task is alive.
        unsafe { self.running.get().as_ref() }
    }

    /// The worker of the unit whose turn this is.
    pub(crate) fn worker_in_turn(&self) -> Option<u32> {
        (self.worker.get() < EXIT && !self.running.get().is_null()).then(|| self.worker.get())
    }

    /// In the child of a fork this thread has another number, and no turn gave it what it had from others.
    pub(crate) fn is_alone(&self) {
        // SAFETY: no arguments.
        self.tid.set(unsafe { libc::gettid() });
        self.spinning.set(false);
        self.take(self.worker.get());
    }

    /// Lets go of the worker. Some(index): it is kept at hand, since nothing waits for it. None: another thread has it.
    fn enter_blocking(&self) -> Option<u32> {
        let index = self.worker.replace(NONE);
        let inner = &*self.inner;
        let worker = inner.worker(index);
        worker.unpublish();
        if worker.has_work() || !inner.injector.is_empty() || inner.returners_wait() {
            inner.detach(index);
            return None;
        }
        inner.blocked.fetch_add(1, Ordering::SeqCst);
        if worker.status.compare_exchange(Status::RUNNING, Status::BLOCKED, Ordering::SeqCst, Ordering::Relaxed).is_err() {
            // Replaced.
            inner.blocked.fetch_sub(1, Ordering::SeqCst);
            inner.detach(index);
            return None;
        }
        fence(Ordering::SeqCst);
        if inner.work_visible() {
            inner.need_worker();
        }
        Some(index)
    }

    /// From now on its worker runs a unit, where the scheduler is timed.
    fn busy_from(&self, now: u64) {
        self.busy_since.set(now);
        self.inner.worker(self.worker.get()).busy_since.store(now, Relaxed);
    }
    /// Until now.
    fn busy_until(&self, now: u64) {
        let worker = self.inner.worker(self.worker.get());
        worker.busy_since.store(0, Relaxed);
        // Who reads the new sum sees that the turn is over.
        let busy = worker.busy.load(Relaxed) + now.saturating_sub(self.busy_since.get());
        worker.busy.store(busy, Ordering::Release);
    }

    fn leave_blocking(&self, kept: Option<u32>) {
        let inner = &*self.inner;
        let index = match kept.filter(|&index| inner.reclaim(index)) {
            Some(index) => index,
            None => inner.attach(&self.parker),
        };
        self.take(index);
        inner.pass_gate(Some(inner.worker(index)));
        if let Some(task) = self.running_task() {
            inner.worker(index).publish(&task.poll);
        }
    }
}

/// Runs a call that may block the native thread, such as a foreign library's. Other units go on: the worker is handed to
/// another native thread if anything waits for it, now or later. `f` must not suspend the coroutine that called `blocking`.
///
/// On a thread that runs no unit it just calls `f`.
pub fn blocking<R>(f: impl FnOnce() -> R) -> R {
    struct Leave<'a>(&'a Native, Option<u32>, u64);
    impl Drop for Leave<'_> {
        fn drop(&mut self) {
            self.0.leave_blocking(self.1);
            if self.2 != 0
                && let Some(task) = self.0.running_task()
            {
                // In this order who reads sees less for a moment, not more.
                task.times.blocked_since.store(0, Relaxed);
                let now = cycles();
                clock::add(&task.times.blocked, now.saturating_sub(self.2));
                self.0.busy_from(now);
            }
        }
    }

    let native = current::native();
    // SAFETY: the record belongs to this thread, and the coroutine stays on the thread until `f` returned.
    let Some(native) = (unsafe { native.as_ref() }) else { return f() };
    if native.worker.get() >= EXIT || native.running.get().is_null() {
        return f();
    }
    let since = if native.inner.timed { cycles() } else { 0 };
    if since != 0
        && let Some(task) = native.running_task()
    {
        task.times.blocked_since.store(since, Relaxed);
        native.busy_until(since);
    }
    let kept = native.enter_blocking();
    let _leave = Leave(native, kept, since);
    f()
}
