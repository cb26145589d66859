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

/// How much processor time may still be taken at once: it grows with the time that goes by, so that in the long run it is a share of a core.
pub struct Credit {
    nanoseconds: i64,
    most: i64,
    at: Instant,
}

impl Credit {
    /// What there is for the process at first and at most: programs that are warm soon don't wait.
    pub const MOST: i64 = 500_000_000;
    /// The same for a branch.
    pub const BRANCH: i64 = 100_000_000;

    pub fn new(most: i64) -> Credit {
        Credit { nanoseconds: most, most, at: Instant::now() }
    }
    pub fn spend(&mut self, nanoseconds: u64) {
        self.nanoseconds -= nanoseconds as i64;
    }
    /// How long one has to wait, if a second brings `share` nanoseconds.
    pub fn wait(&mut self, share: i64) -> Option<Duration> {
        let now = Instant::now();
        let grown = now.duration_since(self.at).as_nanos() as i128 * share as i128 / 1_000_000_000;
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
            credit: Credit::new(Credit::MOST),
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
        let mut may: Vec<&Asker> = self.lines.iter().map(|l| &*l.asker).collect();
        if let Some(mut wait) = self.credit.wait(self.share) {
            let mut asking: Vec<u64> = may.iter().map(|a| a.branch()).collect();
            asking.sort_unstable();
            asking.dedup();
            let share = self.share / asking.len().max(1) as i64;
            asking.retain(|b| match self.branches.get_mut(b).and_then(|c| c.wait(share)) {
                Some(theirs) => {
                    wait = wait.min(theirs);
                    false
                }
                None => true,
            });
            may.retain(|a| asking.binary_search(&a.branch()).is_ok());
            if may.is_empty() {
                return Err((!self.lines.is_empty()).then_some(wait));
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
        let branch = self.branches.entry(asker.branch()).or_insert_with(|| Credit::new(Credit::BRANCH));
        // What the process had saved goes first: a branch owes no more than that would pay back in some seconds.
        branch.spend(nanoseconds);
        branch.nanoseconds = branch.nanoseconds.max(-Credit::BRANCH);
        const KEPT: usize = 256;
        if self.branches.len() > KEPT {
            let share = self.share;
            self.branches.retain(|_, c| {
                c.wait(share);
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

    #[test]
    fn compiling_takes_its_share_in_the_long_run() {
        const SHARE: i64 = 100_000_000;
        let mut c = Credit::new(Credit::MOST);
        assert_eq!(c.wait(SHARE), None);
        c.spend(Credit::MOST as u64 / 2);
        assert_eq!(c.wait(SHARE), None, "what was saved may go at once");
        c.spend(Credit::MOST as u64);
        let wait = c.wait(SHARE).expect("it is in debt");
        let debt = Duration::from_nanos(Credit::MOST as u64 / 2);
        assert!(wait > debt * 9 && wait <= debt * 10, "{wait:?}");
        c.at -= wait;
        assert_eq!(c.wait(SHARE), None);
    }
}
