//! Two busy workers on one CPU: the kernel leaves them there for seconds when other process groups are busy elsewhere. After two
//! ticks one of them is moved by affinity for 100 ms; then its mask is restored.
//!
//! Invariants: a thread's mask is ours to change only while it is `nudged`, and is put back even if the worker has moved on.
//! The CPU is read from procfs by the reactor, so that workers pay nothing, and long turns are seen as well.
//! Rejected: pinning (containers with quotas all see CPU 0..n); sched_getcpu at turn boundaries (20-40 ns each, and a unit that
//! computes for seconds has none).

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::worker::{Status, Worker};

const NUDGE: Duration = Duration::from_millis(100);

/// Used by the reactor's thread alone.
#[derive(Default)]
pub(crate) struct Balancer {
    /// The thread that shared its CPU at the last tick.
    crowded: Option<i32>,
    nudged: Option<(i32, libc::cpu_set_t, Instant)>,
}

impl Balancer {
    pub(crate) fn tick(&mut self, workers: &[Worker], now: Instant) {
        if let Some((tid, mask, until)) = self.nudged {
            if now < until {
                return;
            }
            set_affinity(tid, &mask);
            self.nudged = None;
        }
        let busy: Vec<i32> = workers
            .iter()
            .filter(|w| w.status.load(Ordering::Relaxed) == Status::RUNNING)
            .map(|w| w.tid.load(Ordering::Relaxed))
            .filter(|&tid| tid > 0)
            .collect();
        if busy.len() < 2 {
            self.crowded = None;
            return;
        }
        let cpus: Vec<Option<usize>> = busy.iter().map(|&tid| running_on(tid)).collect();
        let shared = (1..busy.len()).find(|&i| cpus[i].is_some() && cpus[..i].contains(&cpus[i]));
        let before = self.crowded.take();
        let Some(shared) = shared else { return };
        self.crowded = Some(busy[shared]);
        if before != self.crowded {
            return;
        }
        self.crowded = None;
        // Read now, since the allowed set of a container may change at any time.
        let tid = busy[shared];
        let Some(allowed) = affinity(tid) else { return };
        let mut elsewhere = allowed;
        for cpu in cpus.into_iter().flatten() {
            // SAFETY: a CPU number below the set's size, as read from the kernel.
            unsafe { libc::CPU_CLR(cpu, &mut elsewhere) };
        }
        // SAFETY: reads a set.
        if unsafe { libc::CPU_COUNT(&elsewhere) } > 0 && set_affinity(tid, &elsewhere) {
            self.nudged = Some((tid, allowed, now + NUDGE));
        }
    }

    /// Before the reactor sleeps for long.
    pub(crate) fn finish(&mut self) {
        if let Some((tid, mask, _)) = self.nudged.take() {
            set_affinity(tid, &mask);
        }
        self.crowded = None;
    }
}

/// The CPU on which a thread of this process runs; None if it does not run or wait for a CPU just now.
fn running_on(tid: i32) -> Option<usize> {
    let (runs, cpu) = stat(tid)?;
    (runs && cpu < libc::CPU_SETSIZE as usize).then_some(cpu)
}

/// Whether a thread of this process waits for something else than a CPU.
pub(crate) fn sleeps(tid: i32) -> bool {
    stat(tid).is_some_and(|(runs, _)| !runs)
}

/// Whether a thread of this process runs or waits for a CPU, and which CPU it was on last.
fn stat(tid: i32) -> Option<(bool, usize)> {
    let stat = std::fs::read_to_string(format!("/proc/self/task/{tid}/stat")).ok()?;
    // The name in parentheses may hold anything; fields are counted behind it. State is field 3, processor field 39.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    Some((state == "R", fields.nth(35)?.parse().ok()?))
}

fn affinity(tid: i32) -> Option<libc::cpu_set_t> {
    // SAFETY: a zeroed set is a valid empty one, and the call writes at most its size.
    unsafe {
        let mut set = std::mem::zeroed();
        (libc::sched_getaffinity(tid, size_of::<libc::cpu_set_t>(), &mut set) == 0).then_some(set)
    }
}

/// The CPUs that this process may use. A worker that was moved may use fewer for a moment, and only one is at a time: those of all threads together.
pub fn cpus() -> Option<libc::cpu_set_t> {
    let mut all = affinity(0)?;
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    for set in threads.filter_map(|t| affinity(t.file_name().to_str()?.parse().ok()?)) {
        // SAFETY: compares sets.
        if unsafe { libc::CPU_EQUAL(&set, &all) } {
            continue;
        }
        // SAFETY: numbers below the sets' size.
        (0..libc::CPU_SETSIZE as usize).for_each(|cpu| unsafe {
            if libc::CPU_ISSET(cpu, &set) {
                libc::CPU_SET(cpu, &mut all);
            }
        });
    }
    Some(all)
}
/// Gives the calling thread all of them: before it begins a process, which inherits what it has.
pub fn use_all_cpus() {
    if let Some(set) = cpus() {
        set_affinity(0, &set);
    }
}

fn set_affinity(tid: i32, set: &libc::cpu_set_t) -> bool {
    // SAFETY: reads the set.
    unsafe { libc::sched_setaffinity(tid, size_of::<libc::cpu_set_t>(), set) == 0 }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "balance_tests.rs"]
mod tests;
