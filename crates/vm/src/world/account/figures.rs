//! What an account adds up to at some moment, and sums of several.

use super::{ACTIVITIES, Account, Activity, Event, EventKind, WAITS, WaitKind, load};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed, fence};
use zakuro_sched::clock::add;

/// Parts of a timeline. As time goes on each stands for twice as much.
pub(super) const BINS: usize = 128;
/// Of the first ones, in powers of two of ticks: a fifth of a millisecond or so.
const FIRST_SHIFT: u32 = 19;

/// How much a VM ran when: ticks in each part of the time since the book began. Written by the VM's turn; a reader in the middle of a change sees a part of it twice.
pub(super) struct Bins {
    first: u64,
    shift: AtomicU32,
    bins: Box<[AtomicU64]>,
}

impl Bins {
    pub(super) fn new(first: u64) -> Bins {
        Bins { first, shift: AtomicU32::new(FIRST_SHIFT), bins: (0..BINS).map(|_| AtomicU64::new(0)).collect() }
    }
    /// It ran from one moment to another.
    #[inline]
    pub(super) fn add(&self, from: u64, to: u64) {
        let (from, to) = (from.saturating_sub(self.first), to.saturating_sub(self.first));
        let mut shift = self.shift.load(Relaxed);
        while (to >> shift) as usize >= BINS {
            self.halve();
            shift += 1;
        }
        let (mut at, last) = ((from >> shift) as usize, (to >> shift) as usize);
        let mut from = from;
        while at < last {
            let end = ((at + 1) as u64) << shift;
            add(&self.bins[at], end - from);
            from = end;
            at += 1;
        }
        add(&self.bins[last], to.saturating_sub(from));
    }
    #[cold]
    fn halve(&self) {
        for i in 0..BINS / 2 {
            let both = self.bins[2 * i].load(Relaxed) + self.bins[2 * i + 1].load(Relaxed);
            self.bins[i].store(both, Relaxed);
        }
        self.bins[BINS / 2..].iter().for_each(|b| b.store(0, Relaxed));
        self.shift.store(self.shift.load(Relaxed) + 1, Relaxed);
    }
}

/// Ticks that VMs ran in each part (of 2^`shift` ticks) of the time since the book began.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    pub shift: u32,
    pub bins: Vec<u64>,
}

impl Timeline {
    fn of(bins: &Bins) -> Timeline {
        Timeline { shift: bins.shift.load(Relaxed), bins: bins.bins.iter().map(|b| b.load(Relaxed)).collect() }
    }
    /// It ran from one moment to another, as [`Bins::add`]; `first`: when the book began.
    fn add(&mut self, first: u64, from: u64, to: u64) {
        let (mut from, to) = (from.saturating_sub(first), to.saturating_sub(first));
        while (to >> self.shift) as usize >= BINS {
            self.coarsen(self.shift + 1);
        }
        self.bins.resize(BINS, 0);
        while from < to {
            let at = from >> self.shift;
            let end = to.min((at + 1) << self.shift);
            self.bins[at as usize] += end - from;
            from = end;
        }
    }
    /// In parts of 2^`shift` ticks, which are no shorter than now.
    pub fn coarsen(&mut self, shift: u32) {
        while self.shift < shift {
            self.bins = self.bins.chunks(2).map(|pair| pair.iter().sum()).collect();
            self.shift += 1;
        }
    }
    pub fn merge(&mut self, other: &Timeline) {
        if self.bins.is_empty() {
            *self = other.clone();
            return;
        }
        let mut other = other.clone();
        let shift = self.shift.max(other.shift);
        self.coarsen(shift);
        other.coarsen(shift);
        let len = self.bins.len().max(other.bins.len());
        self.bins.resize(len, 0);
        self.bins.iter_mut().zip(&other.bins).for_each(|(a, b)| *a += b);
    }
}

/// What a VM, or several, did so far, in ticks.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    pub vms: u64,
    pub ended: u64,
    /// From the start to the end, or now; of several the sum.
    pub life: u64,
    /// When the first was started and the last ended (or now).
    pub from: u64,
    pub to: u64,
    /// By [`Activity`].
    pub active: [u64; ACTIVITIES],
    /// By [`WaitKind`]: ticks, and how often.
    pub waits: [u64; WAITS],
    pub wait_counts: [u64; WAITS],
    /// In a run queue.
    pub ready: u64,
    pub turns: u64,
    /// Setting up: what was run before the first message was received, or making the VM, loading and compiling if that is more.
    pub setup: u64,
    pub received: u64,
    pub collections: u64,
    /// Of all threads of VMs that have had more than one.
    pub thread_waits: [u64; WAITS],
    pub thread_run: u64,
    pub thread_ready: u64,
    pub threads: u64,
    /// While some thread waited for a lock.
    pub locked: u64,
    pub timeline: Timeline,
    /// What it does now: of one VM that lives.
    pub now: Option<Now>,
}

/// What a VM does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Now {
    Active(Activity),
    Ready,
    /// With the number of the channel, if it is one.
    Waiting(WaitKind, u64),
}

impl Figures {
    pub fn active(&self) -> u64 {
        self.active.iter().sum()
    }
    pub fn waiting(&self) -> u64 {
        self.waits.iter().sum()
    }
    pub fn copying(&self) -> u64 {
        self.active[Activity::Pack as usize] + self.active[Activity::Open as usize]
    }
    pub fn merge(&mut self, other: &Figures) {
        self.from = if self.vms == 0 { other.from } else { self.from.min(other.from) };
        self.to = self.to.max(other.to);
        let sums = [
            (&mut self.vms, other.vms),
            (&mut self.ended, other.ended),
            (&mut self.life, other.life),
            (&mut self.ready, other.ready),
            (&mut self.turns, other.turns),
            (&mut self.setup, other.setup),
            (&mut self.received, other.received),
            (&mut self.collections, other.collections),
            (&mut self.thread_run, other.thread_run),
            (&mut self.thread_ready, other.thread_ready),
            (&mut self.threads, other.threads),
            (&mut self.locked, other.locked),
        ];
        sums.into_iter().for_each(|(a, b)| *a += b);
        self.active.iter_mut().zip(other.active).for_each(|(a, b)| *a += b);
        let lists =
            [(&mut self.waits, other.waits), (&mut self.wait_counts, other.wait_counts), (&mut self.thread_waits, other.thread_waits)];
        for (mine, others) in lists {
            mine.iter_mut().zip(others).for_each(|(a, b)| *a += b);
        }
        self.timeline.merge(&other.timeline);
        self.now = None;
    }
}

/// How often an account is read until two readings are the same: then all of it was so at one moment.
const READINGS: usize = 8;

/// What changes with turns: of one moment, if it was read twice alike.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Reading {
    closed: u64,
    began: u64,
    since: u64,
    activity: u8,
    wait: u8,
    wait_channel: u64,
    blocked: u64,
    active: [u64; ACTIVITIES],
    waits: [u64; WAITS],
    wait_counts: [u64; WAITS],
    ready: u64,
    task: Option<Turn>,
}

/// Of the scheduler.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Turn {
    is_running: bool,
    is_queued: bool,
    queued: u64,
    began: u64,
    ended: u64,
    blocked: u64,
    blocked_since: u64,
}

impl Reading {
    fn of(a: &Account) -> Reading {
        let mut last = Reading::once(a);
        for _ in 1..READINGS {
            let again = Reading::once(a);
            if again == last {
                break;
            }
            last = again;
            std::hint::spin_loop();
        }
        last
    }
    fn once(a: &Account) -> Reading {
        // Sums first: what moves to them while this reads is missed, and not counted twice.
        let (active, waits, wait_counts, ready) = (load(&a.active), load(&a.waits), load(&a.wait_counts), a.ready.load(Relaxed));
        fence(std::sync::atomic::Ordering::Acquire);
        let reading = Reading {
            closed: a.closed.load(Relaxed),
            began: a.began.load(Relaxed),
            since: a.since.load(Relaxed),
            activity: a.activity.load(Relaxed),
            wait: a.wait.load(Relaxed),
            wait_channel: a.wait_channel.load(Relaxed),
            blocked: a.blocked.load(Relaxed),
            active,
            waits,
            wait_counts,
            ready,
            task: a.task.get().map(|task| {
                let times = task.times();
                let (is_running, is_queued) = (task.is_running(), task.is_queued());
                fence(std::sync::atomic::Ordering::Acquire);
                Turn {
                    is_running,
                    is_queued,
                    queued: times.queued(),
                    began: times.began(),
                    ended: times.ended(),
                    blocked: times.blocked(),
                    blocked_since: times.blocked_since(),
                }
            }),
        };
        fence(std::sync::atomic::Ordering::Acquire);
        reading
    }
}

impl Account {
    fn locked(&self, now: u64) -> u64 {
        let pending = if self.lock_waiters.load(Relaxed) == 0 { 0 } else { now.saturating_sub(self.lock_since.load(Relaxed)) };
        self.lock_ticks.load(Relaxed) + pending
    }
    /// What it adds up to now.
    pub fn figures(&self, now: u64) -> Figures {
        let reading = Reading::of(self);
        let closed = reading.closed;
        let to = if closed == 0 { now } else { closed };
        let mut f = Figures {
            vms: 1,
            ended: u64::from(closed != 0),
            life: to.saturating_sub(self.opened),
            from: self.opened,
            to,
            active: reading.active,
            waits: reading.waits,
            wait_counts: reading.wait_counts,
            ready: reading.ready,
            turns: self.turns.load(Relaxed),
            setup: 0,
            received: self.messages_received.load(Relaxed),
            collections: self.collections.load(Relaxed),
            thread_waits: load(&self.thread_waits),
            thread_run: self.thread_run.load(Relaxed),
            thread_ready: self.thread_ready.load(Relaxed),
            threads: self.threads.load(Relaxed),
            locked: self.locked(to),
            timeline: Timeline::of(&self.timeline),
            now: None,
        };
        let parts = [Activity::Image, Activity::Load, Activity::Compile];
        f.setup = parts.iter().map(|a| f.active[*a as usize]).sum();
        let first = self.first_receive.load(Relaxed);
        if first != u64::MAX {
            f.setup = f.setup.max(first);
        }
        if closed != 0 {
            if reading.began == 0 {
                f.ready = f.life;
            }
            return f;
        }
        f.now = Some(reading.what_goes_on(&mut f, self.opened, self.timeline.first, now));
        f
    }
}

impl Reading {
    /// Adds what has not been noted yet of a VM that lives. `first`: when the book began.
    fn what_goes_on(&self, f: &mut Figures, opened: u64, first: u64, now: u64) -> Now {
        let Some(turn) = self.task.filter(|turn| turn.began != 0) else {
            f.ready = now.saturating_sub(opened);
            return Now::Ready;
        };
        let activity = Activity::ALL[self.activity as usize % ACTIVITIES];
        let wait = WaitKind::of(self.wait) as usize;
        let (began, ended) = (turn.began, turn.ended);
        let mut spent = ended.saturating_sub(self.since);
        // When it ran: before its last turn ended, and in the one that goes on.
        let mut ran = [(self.since, ended), (0, 0)];
        let mut blocked = turn.blocked.saturating_sub(self.blocked);
        let queued = turn.queued.max(ended);
        let state;
        if began > ended || began == ended && turn.is_running {
            // A turn goes on. Until the VM has noted its beginning, what was before is still to be added.
            if self.since >= began {
                spent = now.saturating_sub(self.since);
                ran = [(self.since, now), (0, 0)];
            } else {
                let queued = queued.min(began);
                if ended == 0 {
                    f.ready = began.saturating_sub(opened);
                } else {
                    f.waits[wait] += queued.saturating_sub(ended);
                    f.ready += began.saturating_sub(queued);
                }
                spent += now.saturating_sub(began);
                ran[1] = (began, now);
            }
            if turn.blocked_since != 0 {
                blocked += now.saturating_sub(turn.blocked_since);
            }
            state = if turn.blocked_since == 0 { Now::Active(activity) } else { Now::Waiting(WaitKind::Call, 0) };
        } else if turn.is_running || turn.is_queued {
            f.waits[wait] += queued - ended;
            // A turn that is about to begin, or to end: nobody knows yet what the last moment was.
            f.ready += if turn.is_running { 0 } else { now.saturating_sub(queued) };
            state = if turn.is_running { Now::Active(activity) } else { Now::Ready };
        } else {
            f.waits[wait] += now.saturating_sub(ended);
            f.wait_counts[wait] += 1;
            state = Now::Waiting(WaitKind::of(self.wait), self.wait_channel);
        }
        let blocked = blocked.min(spent);
        // As in `lap`: it was blocked at the end, most likely.
        let mut left = spent - blocked;
        for (from, to) in ran {
            let length = to.saturating_sub(from).min(left);
            f.timeline.add(first, from, from + length);
            left -= length;
        }
        f.active[activity as usize] += spent - blocked;
        f.waits[WaitKind::Call as usize] += blocked;
        state
    }
}

impl Account {
    /// Events that are noted when the next turn begins: the last turn, and the wait after it.
    pub fn unfinished(&self, now: u64) -> Vec<Event> {
        let Some(task) = self.task.get().filter(|_| !self.is_closed() && self.began.load(Relaxed) != 0) else { return Vec::new() };
        let times = task.times();
        let event = |kind, detail, from, to, object| Event { kind, detail, lane: u16::MAX, thread: 0, from, to, object };
        let began = times.began();
        if task.is_running() {
            return vec![event(EventKind::Turn, 0, began, now, 0)];
        }
        let ended = times.ended().max(began);
        let turn = event(EventKind::Turn, 0, began, ended, 0);
        if task.is_queued() {
            return vec![turn, event(EventKind::Ready, 0, times.queued().max(ended), now, 0)];
        }
        vec![turn, event(EventKind::Wait, self.wait.load(Relaxed), ended, now, self.wait_channel.load(Relaxed))]
    }
    /// The channel that it waits at now, and for how long.
    pub fn waits_at(&self, now: u64) -> Option<(WaitKind, u64, u64)> {
        let task = self.task.get().filter(|t| !t.is_running() && !t.is_queued() && !self.is_closed())?;
        let channel = self.wait_channel.load(Relaxed);
        (channel != 0).then(|| (WaitKind::of(self.wait.load(Relaxed)), channel, now.saturating_sub(task.times().ended())))
    }
}

/// What VMs are told together by: the name without the number at its end.
pub fn group_of(name: &str) -> &str {
    let group = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches(['-', '_', '#', ' ', '/', ':', '.']);
    if group.is_empty() { name } else { group }
}

#[cfg(test)]
#[path = "figures_tests.rs"]
mod tests;
