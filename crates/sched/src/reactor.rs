//! The timer thread: time slices, timers and readiness, in one native thread around one epoll descriptor.
//!
//! Invariants: it ticks (10 ms, see `monitor`) only while some worker is borrowed, and sleeps until the next timer otherwise; each tick costs
//! loads of shared words. A wake-up is delivered before its source is counted out of `Inner::outside`. No lock is held while a
//! task is woken. Started by the first worker, timer or watch.
//! Watches are for one event; descriptors that stay registered are in `source`.
//! Rejected for now: a timer wheel per worker (a heap push under a short lock costs 22 ns, a futex wake more than all of it).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use zakuro_base::sync::held::Mutex;

use crate::balance::Balancer;
use crate::scheduler::{Inner, Scheduler};
use crate::source::{Sources, Waiter};
use crate::task::Task;

/// How long a unit may run while others wait for its worker.
const SLICE: Duration = Duration::from_millis(10);
/// How often units that run are asked what that is at first, beside the ticks, and how many times in a process: what is hot from the beginning is found before the first ticks.
const LOOK: Duration = Duration::from_millis(2);
const LOOKS: u32 = 16;
/// How often the process looks for memory to give back.
const CARE: Duration = Duration::from_millis(200);
/// And when a call of it had more to do than it was to take time for.
const CARE_GOES_ON: Duration = Duration::from_millis(8);

/// What care for memory leaves: see [`crate::Scheduler::on_care`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Care {
    /// Nothing, until units have run again.
    Done,
    /// There may be more to give back a while later.
    Later,
    /// There is more to give back now.
    Soon,
}

impl Care {
    fn pause(self) -> Option<Duration> {
        match self {
            Care::Done => None,
            Care::Later => Some(CARE),
            Care::Soon => Some(CARE_GOES_ON),
        }
    }
}
const WAKE_TOKEN: u64 = u64::MAX;
const SOURCES_TOKEN: u64 = u64::MAX - 1;

/// Names an armed timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimerId(u64);

/// Names a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WatchId {
    number: u64,
    fd: RawFd,
}

#[derive(Default)]
struct Timers {
    heap: BinaryHeap<Reverse<(Instant, u64)>>,
    /// Armed timers; a heap entry without one was cancelled.
    armed: HashMap<u64, Armed>,
    next: u64,
    /// When the reactor will look again by itself; None: it is awake and will look before it sleeps.
    sleeps_until: Option<Instant>,
}

#[derive(Clone)]
struct Armed {
    task: Task,
    /// It wakes the task, and so is a reason to wait for; else it ends a slice of a running one.
    wakes: bool,
}

struct Watch {
    number: u64,
    events: u32,
    waiter: Waiter,
    /// A pidfd of ours, closed with the watch.
    owned: bool,
}

#[derive(Default)]
struct Watches {
    by_fd: HashMap<RawFd, Vec<Watch>>,
    next: u64,
}

pub(crate) struct Reactor {
    owner: Weak<Inner>,
    epoll: RawFd,
    event: RawFd,
    pub(crate) sources: Sources,
    /// Taken by whoever arms or cancels and by the reactor; never together with `watches`.
    timers: Mutex<Timers>,
    /// Taken by whoever watches and by the reactor, around epoll_ctl calls too (they must agree with the table).
    watches: Mutex<Watches>,
    /// Whether ticks are on. Switched on by whoever hands out a worker, off by the reactor when all are idle.
    ticking: AtomicBool,
    started: AtomicBool,
    stopping: AtomicBool,
}

/// What a reactor needs of the system.
pub(crate) struct Descriptors {
    epoll: OwnedFd,
    event: OwnedFd,
    sources: Sources,
}

impl Descriptors {
    pub(crate) fn open() -> io::Result<Descriptors> {
        let owned = |fd: RawFd| match fd {
            -1 => Err(io::Error::last_os_error()),
            // SAFETY: just made, owned by nobody else.
            fd => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        };
        // SAFETY: plain system calls; results are checked.
        let (epoll, event) = unsafe {
            let epoll = owned(libc::epoll_create1(libc::EPOLL_CLOEXEC))?;
            (epoll, owned(libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK))?)
        };
        let all = Descriptors { epoll, event, sources: Sources::new()? };
        for (fd, token) in [(all.event.as_raw_fd(), WAKE_TOKEN), (all.sources.epoll, SOURCES_TOKEN)] {
            control(all.epoll.as_raw_fd(), libc::EPOLL_CTL_ADD, fd, libc::EPOLLIN as u32, token)?;
        }
        Ok(all)
    }
}

impl Reactor {
    pub(crate) fn new(owner: Weak<Inner>, all: Descriptors) -> Reactor {
        Reactor {
            owner,
            epoll: all.epoll.into_raw_fd(),
            event: all.event.into_raw_fd(),
            sources: all.sources,
            timers: Mutex::default(),
            watches: Mutex::default(),
            ticking: AtomicBool::new(false),
            started: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
        }
    }

    pub(crate) fn owner(&self) -> Option<Arc<Inner>> {
        self.owner.upgrade()
    }

    /// Those that it lives by.
    pub(crate) fn descriptors(&self) -> [RawFd; 3] {
        [self.epoll, self.event, self.sources.epoll]
    }

    pub(crate) fn is_started(&self) -> bool {
        self.started.load(Ordering::SeqCst)
    }

    /// A worker was handed out: time slices matter from now on.
    pub(crate) fn start_ticking(&self) {
        fence(Ordering::SeqCst);
        if !self.ticking.load(Ordering::Relaxed) && !self.ticking.swap(true, Ordering::SeqCst) {
            let _ = self.start();
            self.poke();
        }
    }

    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        self.poke();
    }

    /// Starts the timer thread unless it runs. When there is none to be had the next caller tries again; until then there are no time slices, timers and wake-ups
    /// by descriptors. (A process makes sure of it before there is work: [`Scheduler::start`].)
    pub(crate) fn start(&self) -> io::Result<()> {
        // Models have no timer thread: they tick by themselves.
        if cfg!(feature = "shuttle") || self.started.load(Ordering::Relaxed) || self.stopping.load(Ordering::Relaxed) {
            return Ok(());
        }
        if self.started.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        let Some(inner) = self.owner.upgrade() else { return Ok(()) };
        let thread = std::thread::Builder::new().name("zakuro-timer".into()).stack_size(256 << 10).spawn(move || inner.reactor.run(&inner));
        thread.map(drop).inspect_err(|_| {
            self.started.store(false, Ordering::SeqCst);
            self.ticking.store(false, Ordering::SeqCst);
        })
    }

    pub(crate) fn poke(&self) {
        let one = 1u64;
        // SAFETY: writes eight bytes from a live word; a full counter means that a poke is pending.
        unsafe { libc::write(self.event, (&raw const one).cast(), 8) };
    }

    /// In the child of a fork: descriptors of its own under the numbers that the parent's had (the kernel's objects behind those are the parent's, too), nothing armed, and a
    /// timer thread.
    pub(crate) fn start_over(&self) -> io::Result<()> {
        let fresh = Descriptors::open()?;
        for (new, old) in
            [(fresh.epoll.as_raw_fd(), self.epoll), (fresh.event.as_raw_fd(), self.event), (fresh.sources.epoll, self.sources.epoll)]
        {
            // SAFETY: descriptors of ours.
            if unsafe { libc::dup3(new, old, libc::O_CLOEXEC) } < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        // What was registered in the set goes on under the kernel's objects, which have new numbers now.
        drop(fresh);
        // Tasks of units that are not here any more are leaked.
        std::mem::forget(std::mem::take(&mut *self.timers.lock()));
        std::mem::forget(std::mem::take(&mut *self.watches.lock()));
        self.sources.start_over();
        self.started.store(false, Ordering::SeqCst);
        self.ticking.store(false, Ordering::SeqCst);
        self.start_ticking();
        if self.is_started() { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::EAGAIN)) }
    }

    fn run(&self, inner: &Inner) {
        let mut balancer = Balancer::default();
        let mut next_tick = Instant::now() + SLICE;
        let mut was_ticking = false;
        let mut next_care = None;
        let mut next_profile: Option<Instant> = None;
        let mut looks = LOOKS;
        let mut next_look: Option<Instant> = None;
        while !self.stopping.load(Ordering::SeqCst) {
            inner.pass_gate(None);
            let now = Instant::now();
            self.fire(inner, now);
            let mut ticking = self.ticking.load(Ordering::SeqCst);
            if ticking && !was_ticking {
                next_tick = now + SLICE;
            }
            if ticking && now >= next_tick {
                next_tick = now + SLICE;
                if inner.nobody_works() {
                    ticking = !self.stop_ticking(inner);
                    balancer.finish();
                } else {
                    inner.tick();
                    balancer.tick(inner.in_use(), now);
                }
            }
            was_ticking = ticking;
            let profile = Duration::from_nanos(if ticking { inner.profile_every.load(Ordering::Relaxed) } else { 0 });
            if profile.is_zero() {
                next_profile = None;
            } else if next_profile.is_none_or(|at| now >= at) {
                if next_profile.is_some() {
                    inner.profile();
                }
                next_profile = Some(now + profile);
            }
            if looks == 0 || !ticking || !inner.samples.load(Ordering::Relaxed) {
                next_look = None;
            } else if next_look.is_none_or(|at| now >= at) {
                if next_look.is_some() {
                    inner.look();
                    looks -= 1;
                }
                next_look = Some(now + LOOK);
            }
            if next_care.is_some_and(|at| now >= at) {
                next_care = inner.take_care(ticking).pause().map(|pause| now + pause);
            }
            if ticking && next_care.is_none() {
                next_care = Some(now + CARE);
            }
            let until = {
                let mut timers = self.timers.lock();
                let timer = timers.heap.peek().map(|Reverse((at, _))| *at);
                let until = match (timer, ticking.then_some(next_tick)) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                };
                let until = match (until, next_care) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                };
                let until = match (until, next_profile) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                };
                let until = match (until, next_look) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                };
                // A year stands for "for ever": an earlier timer pokes.
                timers.sleeps_until = Some(until.unwrap_or(now + Duration::from_secs(365 * 86400)));
                until
            };
            self.wait(inner, until);
            self.timers.lock().sleeps_until = None;
        }
        balancer.finish();
        self.started.store(false, Ordering::SeqCst);
    }

    /// True if ticks are off now: nobody works.
    fn stop_ticking(&self, inner: &Inner) -> bool {
        self.ticking.store(false, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        // Whoever took a worker before this saw `ticking` set and left it at that.
        inner.nobody_works() || self.ticking.swap(true, Ordering::SeqCst)
    }

    fn fire(&self, inner: &Inner, now: Instant) {
        loop {
            let mut due: [Option<Armed>; 64] = [const { None }; 64];
            let mut count = 0;
            {
                let mut timers = self.timers.lock();
                while count < due.len() && timers.heap.peek().is_some_and(|Reverse((at, _))| *at <= now) {
                    let Some(Reverse((_, id))) = timers.heap.pop() else { break };
                    if let Some(armed) = timers.armed.remove(&id) {
                        due[count] = Some(armed);
                        count += 1;
                    }
                }
            }
            if count == 0 {
                return;
            }
            let mut ended = 0;
            for armed in due.iter().flatten() {
                if armed.wakes {
                    armed.task.wake();
                    ended += 1;
                } else {
                    armed.task.interrupt();
                }
            }
            if ended > 0 {
                inner.outside_ended(ended);
            }
        }
    }

    fn wait(&self, inner: &Inner, until: Option<Instant>) {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 64];
        let left = until.map(|at| at.saturating_duration_since(Instant::now()));
        let count = epoll_wait(self.epoll, &mut events, left);
        for event in events.iter().take(count) {
            let (bits, token) = (event.events, event.u64);
            if token == WAKE_TOKEN {
                let mut word = 0u64;
                // SAFETY: reads eight bytes into a live word.
                unsafe { libc::read(self.event, (&raw mut word).cast(), 8) };
                continue;
            }
            if token == SOURCES_TOKEN {
                self.sources.deliver(inner);
                continue;
            }
            self.ready(inner, token as RawFd, bits);
        }
    }

    fn ready(&self, inner: &Inner, fd: RawFd, bits: u32) {
        let mut woken: Vec<Watch> = Vec::new();
        {
            let mut watches = self.watches.lock();
            let Some(list) = watches.by_fd.get_mut(&fd) else { return };
            // Errors and hang-ups concern readers and writers alike.
            let all = bits & (libc::EPOLLERR | libc::EPOLLHUP) as u32 != 0;
            let mut i = 0;
            while i < list.len() {
                if all || list[i].events & bits != 0 {
                    woken.push(list.remove(i));
                } else {
                    i += 1;
                }
            }
            let rest = list.iter().fold(0, |events, watch| events | watch.events);
            if rest == 0 {
                watches.by_fd.remove(&fd);
            } else {
                let _ = self.arm(fd, rest);
            }
            close_owned(fd, &woken);
        }
        for watch in &woken {
            watch.waiter.wake();
        }
        if !woken.is_empty() {
            inner.outside_ended(woken.len());
        }
    }

    /// Registers the descriptor for one event, whether epoll knows it already or not (it forgets closed ones by itself).
    fn arm(&self, fd: RawFd, events: u32) -> io::Result<()> {
        let events = events | libc::EPOLLONESHOT as u32;
        match self.control(libc::EPOLL_CTL_MOD, fd, events, fd as u64) {
            Err(e) if e.raw_os_error() == Some(libc::ENOENT) => self.control(libc::EPOLL_CTL_ADD, fd, events, fd as u64),
            other => other,
        }
    }

    fn control(&self, operation: libc::c_int, fd: RawFd, events: u32, token: u64) -> io::Result<()> {
        control(self.epoll, operation, fd, events, token)
    }
}

fn control(epoll: RawFd, operation: libc::c_int, fd: RawFd, events: u32, token: u64) -> io::Result<()> {
    let mut event = libc::epoll_event { events, u64: token };
    // SAFETY: reads the event; descriptors are checked by the kernel.
    match unsafe { libc::epoll_ctl(epoll, operation, fd, &mut event) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

impl Drop for Reactor {
    fn drop(&mut self) {
        // SAFETY: our own descriptors; the thread holds the scheduler, so it has ended.
        unsafe {
            libc::close(self.epoll);
            libc::close(self.event);
        }
    }
}

/// Waits for events with nanosecond time-outs where the kernel has them (5.11), else rounded up to milliseconds.
fn epoll_wait(epoll: RawFd, events: &mut [libc::epoll_event], left: Option<Duration>) -> usize {
    let time = left.map(|left| libc::timespec { tv_sec: left.as_secs() as _, tv_nsec: left.subsec_nanos() as _ });
    let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let signals = std::ptr::null::<libc::sigset_t>();
    // SAFETY: the kernel writes at most events.len() entries and reads the time.
    let count = unsafe { libc::syscall(libc::SYS_epoll_pwait2, epoll, events.as_mut_ptr(), events.len(), time, signals, 8) };
    if count >= 0 {
        return count as usize;
    }
    if io::Error::last_os_error().raw_os_error() != Some(libc::ENOSYS) {
        return 0;
    }
    let millis = left.map_or(-1, |left| left.as_nanos().div_ceil(1_000_000).min(i32::MAX as u128) as i32);
    // SAFETY: as above.
    let count = unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), events.len() as i32, millis) };
    count.max(0) as usize
}

fn close_owned(fd: RawFd, watches: &[Watch]) {
    if watches.iter().any(|watch| watch.owned) {
        // SAFETY: a pidfd that we opened and that nobody else knows.
        unsafe { libc::close(fd) };
    }
}

impl Scheduler {
    /// Wakes the task at `at` or a little later. The unit looks at its own deadlines then: wake-ups carry no reason.
    pub fn timer(&self, at: Instant, task: &Task) -> TimerId {
        self.inner().outside.fetch_add(1, Ordering::SeqCst);
        self.arm(at, Armed { task: task.clone(), wakes: true })
    }

    /// Interrupts the task at `at` or a little later if it runs then: [`poll::WAKE`](crate::poll::WAKE) in its poll word. One that waits goes on waiting, as if there were no such timer.
    pub fn slice_timer(&self, at: Instant, task: &Task) -> TimerId {
        self.arm(at, Armed { task: task.clone(), wakes: false })
    }

    fn arm(&self, at: Instant, armed: Armed) -> TimerId {
        let reactor = &self.inner().reactor;
        let (id, poke) = {
            let mut timers = reactor.timers.lock();
            timers.next += 1;
            let id = timers.next;
            timers.heap.push(Reverse((at, id)));
            timers.armed.insert(id, armed);
            (id, timers.sleeps_until.is_some_and(|until| at < until))
        };
        let _ = reactor.start();
        if poke {
            reactor.poke();
        }
        TimerId(id)
    }

    /// True if the timer had not fired.
    pub fn cancel(&self, timer: TimerId) -> bool {
        let inner = self.inner();
        let armed = {
            let mut guard = inner.reactor.timers.lock();
            let timers = &mut *guard;
            let armed = timers.armed.remove(&timer.0);
            if timers.heap.len() > 64 && timers.heap.len() > 2 * timers.armed.len() {
                let still = &timers.armed;
                timers.heap.retain(|Reverse((_, id))| still.contains_key(id));
            }
            armed
        };
        if armed.as_ref().is_some_and(|a| a.wakes) {
            inner.outside_ended(1);
        }
        armed.is_some()
    }

    /// Wakes the task once the descriptor is readable or writable (or has failed), one time. A descriptor that cannot be waited
    /// for (regular files) is ready at once.
    pub fn watch(&self, fd: RawFd, readable: bool, writable: bool, task: impl Into<Waiter>) -> io::Result<WatchId> {
        let mut events = 0;
        if readable {
            events |= (libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLPRI) as u32;
        }
        if writable {
            events |= libc::EPOLLOUT as u32;
        }
        self.watch_events(fd, events, task.into(), false)
    }

    fn watch_events(&self, fd: RawFd, events: u32, waiter: Waiter, owned: bool) -> io::Result<WatchId> {
        let inner = self.inner();
        let reactor = &inner.reactor;
        let (number, armed) = {
            let mut guard = reactor.watches.lock();
            let watches = &mut *guard;
            watches.next += 1;
            let number = watches.next;
            let list = watches.by_fd.entry(fd).or_default();
            let all = list.iter().fold(events, |events, watch| events | watch.events);
            let armed = reactor.arm(fd, all);
            if armed.is_ok() {
                inner.outside.fetch_add(1, Ordering::SeqCst);
                list.push(Watch { number, events, waiter: waiter.clone(), owned });
            } else if list.is_empty() {
                watches.by_fd.remove(&fd);
            }
            (number, armed)
        };
        match armed {
            Ok(()) => drop(reactor.start()),
            Err(e) if e.raw_os_error() == Some(libc::EPERM) => waiter.wake(),
            Err(e) => return Err(e),
        }
        Ok(WatchId { number, fd })
    }

    /// True if the watch had not fired. Call it before the descriptor is closed.
    pub fn unwatch(&self, watch: WatchId) -> bool {
        let inner = self.inner();
        {
            let mut watches = inner.reactor.watches.lock();
            let Some(list) = watches.by_fd.get_mut(&watch.fd) else { return false };
            let Some(at) = list.iter().position(|w| w.number == watch.number) else { return false };
            let gone = list.remove(at);
            if list.is_empty() {
                watches.by_fd.remove(&watch.fd);
                // Otherwise a dup of the descriptor would keep the registration alive and armed.
                let _ = inner.reactor.control(libc::EPOLL_CTL_DEL, watch.fd, 0, 0);
            }
            close_owned(watch.fd, &[gone]);
        }
        inner.outside_ended(1);
        true
    }

    /// Wakes the task when the child process has ended (and can be reaped without waiting).
    pub fn watch_pid(&self, pid: i32, task: &Task) -> io::Result<WatchId> {
        // SAFETY: no memory involved.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) } as RawFd;
        if fd >= 0 {
            let watch = self.watch_events(fd, libc::EPOLLIN as u32, task.into(), true);
            if watch.is_err() {
                // SAFETY: opened above, known to nobody.
                unsafe { libc::close(fd) };
            }
            return watch;
        }
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::ENOSYS) {
            return Err(error);
        }
        // Kernels before 5.3: a thread that waits without reaping.
        let (task, hold) = (task.clone(), self.hold());
        std::thread::Builder::new().stack_size(64 << 10).spawn(move || {
            // SAFETY: siginfo is written by the kernel and not used; zeroed is a valid value.
            unsafe {
                let mut info: libc::siginfo_t = std::mem::zeroed();
                libc::waitid(libc::P_PID, pid as libc::id_t, &mut info, libc::WEXITED | libc::WNOWAIT);
            }
            task.wake();
            drop(hold);
        })?;
        Ok(WatchId { number: 0, fd: -1 })
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "reactor_tests.rs"]
mod tests;
