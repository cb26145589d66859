//! Who waits for the compiler, and whose turn it is.
//!
//! Requests wait in a line for each VM that asks; turns go by the tree of VMs ([`Asker::next`]), so one that asks without end waits for itself. The thread takes a share of a core in the long run,
//! with something in advance ([`Credit`]). A branch of the tree has a small credit of its own beside the process's: when somebody has used up that, who has asked for little still gets what it asks for.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};
use zakuro_base::sync::held::{Condvar, Mutex};
use zakuro_vm::machine::{Asker, Request};

/// Requests that may wait for one VM, and in all; more are turned away, and asked for again by who is still hot. Beyond the second, a VM may have one.
const MOST_OF_ONE: usize = 64;
const MOST: usize = 4096;
/// Who has run less than that while the thread waited for credit is idle.
const IDLE: Duration = Duration::from_millis(5);

/// A request, and who waits for it.
pub struct Asked {
    pub request: Request,
    pub done: Option<Arc<Done>>,
}

#[derive(Default)]
pub struct Done {
    is: Mutex<bool>,
    told: Condvar,
}

impl Done {
    pub fn tell(&self) {
        *self.is.lock() = true;
        self.told.notify_all();
    }
    pub fn wait(&self) {
        let mut is = self.is.lock();
        while !*is {
            self.told.wait(&mut is);
        }
    }
}

/// Time that the process has run: its processor time without the compiler's, but no more than what goes by, since the share is one of a core.
pub struct Clock {
    at: Instant,
    used: u64,
    ran: u64,
}

impl Clock {
    fn new() -> Clock {
        Clock { at: Instant::now(), used: process_time(), ran: 0 }
    }
    /// Nanoseconds since it was made; `own`: what the compiler has used of late.
    fn read(&mut self, own: u64) -> u64 {
        let (now, used) = (Instant::now(), process_time());
        let went_by = now.duration_since(self.at).as_nanos() as u64;
        self.ran += used.saturating_sub(self.used).saturating_sub(own).min(went_by);
        (self.at, self.used) = (now, used);
        self.ran
    }
}
/// Processor time of the process, in nanoseconds.
fn process_time() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// How much processor time may still be taken at once: it grows with the time that the process runs ([`Clock`]), so that in the long run it is a share of a core, and of what the program itself uses.
pub struct Credit {
    nanoseconds: i64,
    most: i64,
    /// The clock when it grew last.
    at: u64,
}

impl Credit {
    /// What there is for the process at most.
    pub const MOST: i64 = 500_000_000;
    /// What there is at first: a program that ends soon has not much use of machine code.
    pub const FIRST: i64 = 50_000_000;
    /// What comes in addition in the first seconds that the process runs, half of it in the first two: programs that are warm soon don't wait.
    const EARLY: u64 = 600_000_000;
    const EARLY_HALF: u64 = 2_000_000_000;
    /// What there is for a branch, at first and at most.
    pub const BRANCH: i64 = 100_000_000;

    pub fn new(first: i64, most: i64, at: u64) -> Credit {
        Credit { nanoseconds: first, most, at }
    }
    /// Adds what is given in the first seconds only; `from` and `to` are the clock's.
    fn grow_early(&mut self, from: u64, to: u64) {
        let given = |at: u64| (Self::EARLY as u128 * at as u128 / (at + Self::EARLY_HALF) as u128) as i64;
        self.nanoseconds = (self.nanoseconds + given(to) - given(from)).min(self.most);
    }
    pub fn spend(&mut self, nanoseconds: u64) {
        self.nanoseconds -= nanoseconds as i64;
    }
    /// How long one has to wait at least, if a second brings `share` nanoseconds.
    pub fn wait(&mut self, share: i64, now: u64) -> Option<Duration> {
        let grown = now.saturating_sub(self.at) as i128 * share as i128 / 1_000_000_000;
        self.at = now;
        self.nanoseconds = (self.nanoseconds as i128 + grown).min(self.most as i128) as i64;
        (self.nanoseconds < 0).then(|| Duration::from_nanos((-self.nanoseconds as i128 * 1_000_000_000 / share.max(1) as i128) as u64))
    }
}

struct Line {
    asker: Arc<Asker>,
    requests: VecDeque<Asked>,
}

pub struct Queue {
    /// What somebody waits for without going on: first, and at nobody's expense. For tests.
    urgent: VecDeque<Asked>,
    /// None is empty.
    lines: Vec<Line>,
    waiting: usize,
    /// What a second brings, in nanoseconds.
    share: i64,
    credit: Credit,
    clock: Clock,
    /// What the compiler has used since the clock was read.
    used: u64,
    /// Of branches that have used some of theirs.
    branches: HashMap<u64, Credit>,
}

impl Queue {
    pub fn new(percent: u32) -> Queue {
        Queue {
            urgent: VecDeque::new(),
            lines: Vec::new(),
            waiting: 0,
            share: i64::from(percent) * 10_000_000,
            credit: Credit::new(Credit::FIRST, Credit::MOST, 0),
            clock: Clock::new(),
            used: 0,
            branches: HashMap::new(),
        }
    }
    pub fn waiting(&self) -> usize {
        self.waiting + self.urgent.len()
    }
    /// False: too many wait.
    pub fn push(&mut self, asked: Asked) -> bool {
        if asked.done.is_some() {
            self.urgent.push_back(asked);
            return true;
        }
        let asker = asked.request.asker.clone();
        let line = self.lines.iter().position(|l| Arc::ptr_eq(&l.asker, &asker));
        match line {
            Some(i) if self.waiting >= MOST || self.lines[i].requests.len() >= MOST_OF_ONE => return false,
            Some(i) => self.lines[i].requests.push_back(asked),
            None => {
                asker.joins(self.lines.iter().map(|l| &*l.asker));
                self.lines.push(Line { asker, requests: [asked].into() });
            }
        }
        self.waiting += 1;
        true
    }
    /// The next request; or how long its turn is away, None if nothing waits.
    pub fn pop(&mut self) -> Result<Asked, Option<Duration>> {
        if let Some(asked) = self.urgent.pop_front() {
            return Ok(asked);
        }
        let before = self.clock.ran;
        let now = self.clock.read(std::mem::take(&mut self.used));
        self.credit.grow_early(before, now);
        let mut may: Vec<&Asker> = self.lines.iter().map(|l| &*l.asker).collect();
        if let Some(mut wait) = self.credit.wait(self.share, now) {
            let mut asking: Vec<u64> = may.iter().map(|a| a.branch()).collect();
            asking.sort_unstable();
            asking.dedup();
            let share = self.share / asking.len().max(1) as i64;
            asking.retain(|b| match self.branches.get_mut(b).and_then(|c| c.wait(share, now)) {
                Some(theirs) => {
                    wait = wait.min(theirs);
                    false
                }
                None => true,
            });
            may.retain(|a| asking.binary_search(&a.branch()).is_ok());
            if may.is_empty() {
                // Credit grows no faster than that; a process that does nothing is not woken all the time for it.
                let idle = now - before < IDLE.as_nanos() as u64;
                let least = if idle { Duration::from_secs(1) } else { IDLE };
                return Err((!self.lines.is_empty()).then_some(wait.max(least)));
            }
        }
        let Some(next) = Asker::next(&may).map(std::ptr::from_ref) else { return Err(None) };
        let Some(i) = self.lines.iter().position(|l| std::ptr::eq(&*l.asker, next)) else { return Err(None) };
        let asked = self.lines[i].requests.pop_front();
        if self.lines[i].requests.is_empty() {
            self.lines.swap_remove(i);
        }
        self.waiting -= 1;
        asked.ok_or(None)
    }
    /// A request took so long.
    pub fn spent(&mut self, asker: &Asker, nanoseconds: u64) {
        asker.spends(nanoseconds);
        self.credit.spend(nanoseconds);
        self.used += nanoseconds;
        let now = self.clock.ran;
        let branch = self.branches.entry(asker.branch()).or_insert_with(|| Credit::new(Credit::BRANCH, Credit::BRANCH, now));
        // What the process had saved goes first: a branch owes no more than that would pay back in some seconds.
        branch.spend(nanoseconds);
        branch.nanoseconds = branch.nanoseconds.max(-Credit::BRANCH);
        const KEPT: usize = 256;
        if self.branches.len() > KEPT {
            let share = self.share;
            self.branches.retain(|_, c| {
                c.wait(share, now);
                c.nanoseconds < c.most
            });
        }
    }
    /// Takes out all that wait: what was asked for in another process.
    pub fn clear(&mut self) -> Vec<Asked> {
        self.waiting = 0;
        let lines = std::mem::take(&mut self.lines);
        self.urgent.drain(..).chain(lines.into_iter().flat_map(|l| l.requests)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn compiling_takes_its_share_in_the_long_run() {
        const SHARE: i64 = 100_000_000;
        let mut c = Credit::new(Credit::MOST, Credit::MOST, 0);
        assert_eq!(c.wait(SHARE, 0), None);
        c.spend(Credit::MOST as u64 / 2);
        assert_eq!(c.wait(SHARE, 0), None, "what was saved may go at once");
        c.spend(Credit::MOST as u64);
        let wait = c.wait(SHARE, 0).expect("it is in debt");
        assert_eq!(wait, Duration::from_nanos(Credit::MOST as u64 / 2) * 10);
        assert!(c.wait(SHARE, wait.as_nanos() as u64 - 1000).is_some());
        assert_eq!(c.wait(SHARE, wait.as_nanos() as u64), None);
    }

    #[test]
    fn the_first_seconds_bring_more() {
        let mut c = Credit::new(0, 10 * Credit::MOST, 0);
        let mut after = |from, to| {
            let before = c.nanoseconds;
            c.grow_early(from * SECOND, to * SECOND);
            c.nanoseconds - before
        };
        assert_eq!(after(0, 2), 300_000_000);
        assert!(after(100, 102) < 1_000_000);
    }

    #[test]
    fn what_the_compiler_uses_is_not_the_programs() {
        let mut clock = Clock::new();
        let mut ran = |own| {
            (clock.used, clock.at) = (0, Instant::now() - Duration::from_millis(30));
            let before = clock.ran;
            clock.read(own) - before
        };
        assert_eq!(ran(u64::MAX), 0);
        assert!(ran(0) > 0);
    }
}
