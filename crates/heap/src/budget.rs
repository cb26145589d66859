//! How scarce memory is for the process, told to all of its heaps by one number: which part of the growth that the square-root rule (module `limit`) would grant each heap gets.
//!
//! Looked at once a second, by whoever cares for the process while VMs run, from three sides: what is left of the limits of the control group and those around it (of the machine's memory where there is none), how long tasks
//! of the group stalled for want of memory (PSI, "some", the last ten seconds), and how many page faults had to read from disk. The worst of the three counts.
//! It falls at once and rises slowly, so that heaps don't swing between growing and shrinking.
//!
//! Rejected: asking at each collection (system calls in pauses, and heaps that see different answers); a share per heap (idle ones would keep what busy ones need: with the same factor for all the rule
//! still spends memory where it saves most).

use std::fs::read_to_string;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const EVERY: Duration = Duration::from_secs(1);
/// All of the growth, in percent, and the least.
pub(crate) const ALL: u32 = 100;
const LEAST: u32 = 10;
/// From which part of the memory being left on heaps get less.
const ROOMY: f64 = 0.25;
/// Percent of time stalled, and faults per second, at which they get half.
const STALL: f64 = 10.0;
const FAULTS: f64 = 200.0;
/// Points that it rises per second.
const RISE: u32 = 10;

/// What was seen when somebody looked last.
pub(crate) struct Watch {
    looked: Option<Instant>,
    /// Major faults until then.
    faults: i64,
    /// The control group of the process; None: not known.
    group: Option<PathBuf>,
}

/// Percent of the growth that is granted.
fn granted(left: f64, stalled: f64, faults: f64) -> u32 {
    let room = (left / ROOMY).min(1.0);
    let worst = room.min(STALL / (STALL + stalled.max(0.0))).min(FAULTS / (FAULTS + faults.max(0.0)));
    // A little is always going on.
    let percent = (worst * 100.0).round() as u32;
    if percent >= 95 { ALL } else { percent.max(LEAST) }
}

impl Watch {
    pub(crate) const fn new() -> Watch {
        Watch { looked: None, faults: 0, group: None }
    }
    /// What is granted from now on, if that was `before`. None: it was looked a moment ago.
    pub(crate) fn look(&mut self, before: u32) -> Option<u32> {
        let now = Instant::now();
        let since = self.looked.map(|at| now - at);
        if since.is_some_and(|t| t < EVERY) {
            return None;
        }
        if self.looked.is_none() {
            self.group = own_group();
        }
        let all = major_faults();
        let faults = since.map_or(0.0, |t| (all - self.faults) as f64 / t.as_secs_f64());
        (self.looked, self.faults) = (Some(now), all);
        let group = self.group.as_deref();
        let left = group.and_then(left_in).into_iter().chain(left_on_machine()).fold(1.0, f64::min);
        let pressure =
            group.and_then(|g| read_to_string(g.join("memory.pressure")).ok()).or_else(|| read_to_string("/proc/pressure/memory").ok());
        let stalled = pressure.as_deref().and_then(some_avg10).unwrap_or(0.0);
        let target = granted(left, stalled, faults);
        Some(if target < before { target } else { target.min(before + RISE) })
    }
}

/// Control groups of version 2.
fn own_group() -> Option<PathBuf> {
    let text = read_to_string("/proc/self/cgroup").ok()?;
    let path = text.lines().find_map(|l| l.strip_prefix("0::"))?;
    let dir = Path::new("/sys/fs/cgroup").join(path.trim_start_matches('/'));
    dir.is_dir().then_some(dir)
}

fn number(path: &Path) -> Option<u64> {
    read_to_string(path).ok()?.trim().parse().ok()
}

/// The least part that is left of the limits of a group and those around it. Files in the page cache that nobody used lately count as free.
fn left_in(group: &Path) -> Option<f64> {
    let root = Path::new("/sys/fs/cgroup");
    let of = |dir: &Path| {
        let limit = ["memory.max", "memory.high"].iter().filter_map(|f| number(&dir.join(f))).min()?;
        let cache = read_to_string(dir.join("memory.stat"))
            .ok()
            .and_then(|t| t.lines().find_map(|l| l.strip_prefix("inactive_file ")?.parse::<u64>().ok()));
        let used = number(&dir.join("memory.current"))?.saturating_sub(cache.unwrap_or(0));
        Some(limit.saturating_sub(used) as f64 / limit.max(1) as f64)
    };
    group.ancestors().take_while(|d| d.starts_with(root)).filter_map(of).reduce(f64::min)
}

fn left_on_machine() -> Option<f64> {
    let text = read_to_string("/proc/meminfo").ok()?;
    let of = |name: &str| text.lines().find_map(|l| l.strip_prefix(name)?.trim().trim_end_matches(" kB").parse::<f64>().ok());
    Some(of("MemAvailable:")? / of("MemTotal:")?.max(1.0))
}

/// `some avg10=1.23 avg60=...`
fn some_avg10(text: &str) -> Option<f64> {
    text.lines().find_map(|l| l.strip_prefix("some ")?.split(' ').find_map(|f| f.strip_prefix("avg10=")?.parse().ok()))
}

fn major_faults() -> i64 {
    // SAFETY: writes one structure of our own.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage.ru_majflt
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use super::*;

    #[test]
    fn the_worst_of_three_counts() {
        assert_eq!(granted(0.9, 0.0, 0.0), ALL);
        assert_eq!(granted(0.25, 0.3, 5.0), ALL);
        assert_eq!(granted(0.125, 0.0, 0.0), 50);
        assert_eq!(granted(0.9, 10.0, 0.0), 50);
        assert_eq!(granted(0.9, 0.0, 200.0), 50);
        assert_eq!(granted(0.05, 10.0, 200.0), 20);
        assert_eq!(granted(0.0, 90.0, 1e6), LEAST);
    }

    #[test]
    fn what_the_kernel_writes() {
        let text = "some avg10=2.50 avg60=1.00 avg300=0.10 total=123\nfull avg10=9.00 avg60=0.00 avg300=0.00 total=1\n";
        assert_eq!(some_avg10(text), Some(2.5));
        assert_eq!(some_avg10(""), None);
    }

    /// Falls at once, rises slowly.
    #[test]
    fn limits_of_groups_around_it() {
        let dir = std::env::temp_dir().join(format!("zakuro-budget-{}", std::process::id()));
        assert_eq!(left_in(&dir), None);
        let mut w = Watch::new();
        let first = w.look(LEAST).unwrap_or_default();
        assert!((LEAST..=LEAST + RISE).contains(&first));
        assert_eq!(w.look(first), None);
    }
}
