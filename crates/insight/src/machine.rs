//! The cores that a process can use: logical and physical ones that it may run on, and what a control group grants.

use std::collections::HashSet;

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// CPUs that the process may run on.
    pub logical: usize,
    /// Cores among them: hyper-threads of one core count once.
    pub physical: usize,
    /// CPUs' worth of time that the control group grants, if it limits that.
    pub quota: Option<f64>,
    /// Units that run at the same time.
    pub workers: usize,
}

impl Machine {
    pub fn look(workers: usize) -> Machine {
        let cpus = allowed();
        let cores: HashSet<String> = cpus.iter().map(|cpu| core_of(*cpu)).collect();
        Machine { logical: cpus.len().max(1), physical: cores.len().max(1), quota: quota(), workers }
    }
    /// How many VMs can make progress at full speed at the same time.
    pub fn usable(&self) -> f64 {
        let cores = self.physical.min(self.workers).max(1) as f64;
        self.quota.map_or(cores, |q| q.min(cores)).max(0.01)
    }
}

/// CPUs of the process's mask.
fn allowed() -> Vec<usize> {
    let Some(mask) = zakuro_sched::cpus() else {
        return (0..std::thread::available_parallelism().map_or(1, |n| n.get())).collect();
    };
    // SAFETY: below the size of the mask.
    (0..libc::CPU_SETSIZE as usize).filter(|cpu| unsafe { libc::CPU_ISSET(*cpu, &mask) }).collect()
}

/// Tells the core of a CPU apart from others: its list of hyper-threads.
fn core_of(cpu: usize) -> String {
    let folder = format!("/sys/devices/system/cpu/cpu{cpu}/topology");
    ["core_cpus_list", "thread_siblings_list"]
        .iter()
        .find_map(|name| std::fs::read_to_string(format!("{folder}/{name}")).ok())
        .map_or_else(|| cpu.to_string(), |list| list.trim().into())
}

/// CPU time per time of the control group and those around it: the least.
fn quota() -> Option<f64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let mut least: Option<f64> = None;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let found = match controllers {
            "" => up("/sys/fs/cgroup", path, |folder| quota_of(&std::fs::read_to_string(format!("{folder}/cpu.max")).ok()?)),
            c if c.split(',').any(|c| c == "cpu") => up(&format!("/sys/fs/cgroup/{c}"), path, |folder| {
                let number = |name: &str| std::fs::read_to_string(format!("{folder}/{name}")).ok()?.trim().parse::<f64>().ok();
                let (quota, period) = (number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?);
                (quota > 0.0 && period > 0.0).then(|| quota / period)
            }),
            _ => None,
        };
        least = [least, found].into_iter().flatten().reduce(f64::min);
    }
    least
}

/// The least of what a group's folder and those above say.
fn up(root: &str, path: &str, read: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    let mut path = path.trim_end_matches('/');
    let mut least: Option<f64> = None;
    loop {
        least = [least, read(&format!("{root}{path}"))].into_iter().flatten().reduce(f64::min);
        match path.rfind('/') {
            Some(at) => path = &path[..at],
            None => return least,
        }
    }
}

/// `cpu.max`: "QUOTA PERIOD", "max PERIOD".
fn quota_of(text: &str) -> Option<f64> {
    let mut words = text.split_whitespace();
    let quota: f64 = words.next()?.parse().ok()?;
    let period: f64 = words.next()?.parse().ok()?;
    (period > 0.0).then(|| quota / period)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas() {
        assert_eq!(quota_of("max 100000\n"), None);
        assert_eq!(quota_of("150000 100000\n"), Some(1.5));
        assert_eq!(quota_of(""), None);
        assert_eq!(up("", "/a/b", |f| (f == "/a").then_some(2.0)), Some(2.0));
    }
    #[test]
    fn the_least_counts() {
        let m = Machine { logical: 8, physical: 4, quota: Some(2.5), workers: 8 };
        assert_eq!(m.usable(), 2.5);
        assert_eq!(Machine { quota: None, ..m.clone() }.usable(), 4.0);
        assert_eq!(Machine { quota: None, workers: 3, ..m }.usable(), 3.0);
    }
    #[test]
    fn this_machine_has_cores() {
        let m = Machine::look(2);
        assert!(m.physical >= 1 && m.logical >= m.physical);
    }
}
