//! The parallel benchmarks: bench/parallel/*.rb, those of VMs and channels: bench/vm/*.rb, and of sockets: bench/net/*.rb.
//!
//! `create_join`, `ping_pong`, `string_transfer` and `pool` print `name value unit` lines themselves; the same file takes the
//! reference's nearest means under `ruby`; so do the programs of bench/vm (`vm`: all of them) and bench/net (`net`). `kernels` measures the parallel gain by wall time with set-up:
//! one process doing all, two processes doing half each (the machine's own limit), one VM doing all, two VMs half each.

use crate::bench::{Setup, least_and_most, median, program};
use crate::cpus;
use crate::json::Json;
use crate::process::{Outcome, Spec};
use crate::root;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub const NAMES: &[&str] = &["parallel", "create_join", "ping_pong", "string_transfer", "pool", "kernels", "vm", "net"];

/// Kernels with the number of units that keep one core busy for about a second.
const KERNELS: &[(&str, usize)] =
    &[("call", 1200), ("float", 800), ("string", 600), ("hash", 500), ("alloc", 1200), ("ao", 960), ("tarai", 450), ("page", 500)];

/// A kernel's rounds are short and the speed of a shared machine's cores drifts: three times as many rounds as other programs have runs.
const ROUNDS_PER_RUN: usize = 3;
/// Of two processes beside two VMs, which decide: one such pair differs by 5% from the next.
const PAIRS_PER_RUN: usize = 10;

/// Which line of the reference a line of ours is compared with.
const COUNTERPARTS: &[(&str, &str)] = &[
    ("vm_", "fork_"),
    ("vm_", "process_"),
    ("channel_", "pipe_"),
    ("vm_", "thread_"),
    ("vm_", "pipe_"),
    ("vm_", "ractor_"),
    ("vm_", "marshal_"),
    ("", "pipe_"),
    ("", ""),
];

type Figures = Vec<(String, Json)>;

pub fn known(name: &str) -> bool {
    NAMES.contains(&name)
        || ["vm", "net"].iter().any(|group| group_of(group).iter().any(|program| program == name))
        || KERNELS.iter().any(|(kernel, _)| *kernel == name)
}

pub fn run(setup: &Setup, name: &str) -> Result<(bool, Figures), String> {
    let mut good = true;
    let mut figures = Vec::new();
    for timed in ["create_join", "ping_pong", "string_transfer", "pool"] {
        if name == "parallel" || name == timed {
            good &= report(timed, timings(setup, timed), &mut figures);
        }
    }
    for group in ["vm", "net"] {
        for program in group_of(group) {
            if name == group || name == program {
                good &= report(&program, timings(setup, &program), &mut figures);
            }
        }
    }
    let kernels: Vec<&(&str, usize)> = KERNELS.iter().filter(|(k, _)| name == "parallel" || name == "kernels" || name == *k).collect();
    if !kernels.is_empty() {
        println!(
            "parallel gain of 2, medians of ratios within one of {} interleaved rounds; share = gain of VMs / gain of processes in {} pairs (its bounds hold the true median with 95%)",
            setup.runs * ROUNDS_PER_RUN,
            setup.runs * PAIRS_PER_RUN
        );
        println!(
            "{:8} {:>9} {:>9} {:>9} {:>9} {:>10} {:>8} {:>9} {:>6}",
            "kernel", "1 proc s", "2 procs s", "1 VM s", "2 VMs s", "proc gain", "VM gain", "32/2 time", "share"
        );
        let mut fields = Vec::new();
        for (kernel, units) in kernels {
            match gain(setup, kernel, *units) {
                Ok(json) => fields.push((kernel.to_string(), json)),
                Err(e) => {
                    good = false;
                    println!("{kernel:8} NOT MEASURED: {e}");
                }
            }
        }
        figures.push(("kernels".into(), Json::Object(fields)));
    }
    Ok((good, figures))
}

fn report(name: &str, result: Result<Json, String>, figures: &mut Figures) -> bool {
    match result {
        Ok(json) => {
            figures.push((name.into(), json));
            true
        }
        Err(e) => {
            println!("{name} NOT MEASURED: {e}");
            false
        }
    }
}

/// Names of the programs in bench/vm or bench/net.
fn group_of(group: &str) -> Vec<String> {
    let entries = std::fs::read_dir(root().join("bench").join(group)).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|e| e.file_name().to_string_lossy().strip_suffix(".rb").map(str::to_string)).collect();
    names.sort();
    names
}

fn file(name: &str) -> PathBuf {
    let at = |group: &str| root().join("bench").join(group).join(format!("{name}.rb"));
    ["parallel", "net"].map(at).into_iter().find(|path| path.exists()).unwrap_or_else(|| at("vm"))
}

fn ended_well(outcome: Outcome, who: &str) -> Result<Outcome, String> {
    if outcome.timed_out {
        return Err(format!("{who}: no end within the limit"));
    }
    if outcome.status != 0 {
        let said = String::from_utf8_lossy(&outcome.stderr).lines().next().unwrap_or("").to_string();
        return Err(format!("{who}: exit status {}: {said}", outcome.status));
    }
    Ok(outcome)
}

/// The `name value unit` lines of an output; others are ignored.
fn lines(outcome: &Outcome) -> Vec<(String, f64, String)> {
    String::from_utf8_lossy(&outcome.stdout)
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let (name, value, unit) = (words.next()?, words.next()?.parse().ok()?, words.next()?);
            words.next().is_none().then(|| (name.to_string(), value, unit.to_string()))
        })
        .collect()
}

/// Values by name over all runs, in the order of their first appearance.
#[derive(Default)]
struct Series(Vec<(String, String, Vec<f64>)>);

impl Series {
    fn add(&mut self, outcome: &Outcome) {
        for (name, value, unit) in lines(outcome) {
            match self.0.iter_mut().find(|(n, _, _)| *n == name) {
                Some((_, _, list)) => list.push(value),
                None => self.0.push((name, unit, vec![value])),
            }
        }
    }

    fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(n, _, _)| n == name).map(|(_, _, list)| median(list))
    }
}

fn timings(setup: &Setup, name: &str) -> Result<Json, String> {
    let path = file(name);
    let mut ruby = Series::default();
    let mut zakuro = Series::default();
    for _ in 0..setup.runs {
        ruby.add(&ended_well(spec(setup, &setup.ruby, &path).run()?, "ruby")?);
        zakuro.add(&ended_well(spec(setup, &setup.zakuro, &path).run()?, "zakuro")?);
    }
    println!("{name}, {} interleaved runs", setup.runs);
    let mut fields = Vec::new();
    for (name, unit, list) in &zakuro.0 {
        let (least, most) = least_and_most(list);
        let other = COUNTERPARTS.iter().find_map(|(ours, theirs)| {
            let theirs = name.strip_prefix(ours).map(|rest| format!("{theirs}{rest}"))?;
            ruby.get(&theirs).map(|value| (theirs, value))
        });
        print!("  {name:32} {:12.3} {unit:3} ({least:.3} - {most:.3})", median(list));
        match &other {
            Some((theirs, value)) => println!("   {:8.3} of {theirs} ({value:.3})", median(list) / value),
            None => println!(),
        }
        fields.push((format!("zakuro {name} {unit}"), Json::numbers(list)));
    }
    for (name, unit, list) in &ruby.0 {
        println!("  ruby {name:27} {:12.3} {unit}", median(list));
        fields.push((format!("ruby {name} {unit}"), Json::numbers(list)));
    }
    Ok(Json::Object(fields))
}

/// Parallel programs are never pinned as a whole.
fn spec(setup: &Setup, interpreter: &Path, path: &Path) -> Spec {
    let free = Setup { ruby: setup.ruby.clone(), zakuro: setup.zakuro.clone(), runs: setup.runs, pin: false, limit: setup.limit };
    program(&free, interpreter, path)
}

fn checksum(outcome: &Outcome) -> Result<i128, String> {
    String::from_utf8_lossy(&outcome.stdout)
        .lines()
        .find_map(|line| line.strip_prefix("checksum ")?.split(' ').nth(1)?.parse().ok())
        .ok_or_else(|| "no checksum in the output".to_string())
}

/// Wall seconds and checksum of `parts` (first unit, number of units) as processes of their own, at once.
fn processes(setup: &Setup, kernel: &str, parts: &[(usize, usize)], vms: usize) -> Result<(f64, i128), String> {
    let path = file("kernel");
    let start = Instant::now();
    let outcomes: Vec<Result<Outcome, String>> = std::thread::scope(|scope| {
        let handles: Vec<_> = parts
            .iter()
            .enumerate()
            .map(|(i, (first, count))| {
                let mut spec = spec(setup, &setup.zakuro, &path);
                spec = spec.args([kernel.to_string(), count.to_string(), vms.to_string(), first.to_string()]);
                // Two processes on one core would lower the yardstick; the runtime spreads its VMs itself.
                if parts.len() > 1 && cpus() >= parts.len() {
                    spec = spec.pin(i);
                }
                scope.spawn(move || spec.run())
            })
            .collect();
        handles.into_iter().map(|h| h.join().unwrap_or_else(|_| Err("a thread of the harness panicked".into()))).collect()
    });
    let wall = start.elapsed().as_secs_f64();
    let mut sum = 0;
    for outcome in outcomes {
        sum += checksum(&ended_well(outcome?, if vms == 0 { "process" } else { "VMs" })?)?;
    }
    Ok((wall, sum))
}

/// Bounds that hold the true median with 95%: order statistics, for any distribution (binomial, by its normal approximation). `sorted` is not empty.
fn confidence(sorted: &[f64]) -> (f64, f64) {
    let n = sorted.len() as f64;
    let below = ((n - 1.96 * n.sqrt()) / 2.0).floor().max(1.0) as usize - 1;
    (sorted[below], sorted[sorted.len() - 1 - below])
}

fn gain(setup: &Setup, kernel: &str, units: usize) -> Result<Json, String> {
    let half = units / 2;
    let all: &[(usize, usize)] = &[(0, units)];
    let shapes: [(&[(usize, usize)], usize); 5] = [(all, 0), (&[(0, half), (half, units - half)], 0), (all, 1), (all, 2), (all, 32)];
    let mut walls: [Vec<f64>; 5] = Default::default();
    let mut expected = None;
    for round in 0..setup.runs * PAIRS_PER_RUN {
        // Neighbours in time swap places from round to round: a core's speed drifts.
        let order: &[usize] = match (round < setup.runs * ROUNDS_PER_RUN, round % 2) {
            (true, 0) => &[0, 1, 3, 4, 2],
            (true, _) => &[2, 4, 3, 1, 0],
            (false, 0) => &[1, 3],
            (false, _) => &[3, 1],
        };
        for &i in order {
            let (parts, vms) = &shapes[i];
            let (wall, sum) = processes(setup, kernel, parts, *vms)?;
            if *expected.get_or_insert(sum) != sum {
                return Err(format!("the results differ: {sum} instead of {}", expected.unwrap_or(0)));
            }
            walls[i].push(wall);
        }
    }
    let ratio = |a: &[f64], b: &[f64]| median(&a.iter().zip(b).map(|(x, y)| x / y).collect::<Vec<_>>());
    let process_gain = ratio(&walls[0], &walls[1]);
    let vm_gain = ratio(&walls[0], &walls[3]);
    let share = ratio(&walls[1], &walls[3]);
    let mut shares: Vec<f64> = walls[1].iter().zip(&walls[3]).map(|(p, v)| p / v).collect();
    shares.sort_by(f64::total_cmp);
    let many = ratio(&walls[4], &walls[3]);
    let (low, high) = confidence(&shares);
    println!(
        "{kernel:8} {:9.3} {:9.3} {:9.3} {:9.3} {process_gain:10.2} {vm_gain:8.2} {many:9.2} {share:6.2} ({low:.2} - {high:.2})",
        median(&walls[0]),
        median(&walls[1]),
        median(&walls[2]),
        median(&walls[3])
    );
    Ok(Json::Object(vec![
        ("process_gain".into(), Json::Number(process_gain)),
        ("vm_gain".into(), Json::Number(vm_gain)),
        ("share".into(), Json::Number(share)),
        ("time_of_32_vms_over_2".into(), Json::Number(many)),
        ("shares".into(), Json::numbers(&shares)),
        ("one_process_seconds".into(), Json::numbers(&walls[0])),
        ("two_processes_seconds".into(), Json::numbers(&walls[1])),
        ("one_vm_seconds".into(), Json::numbers(&walls[2])),
        ("two_vms_seconds".into(), Json::numbers(&walls[3])),
        ("vms_32_seconds".into(), Json::numbers(&walls[4])),
    ]))
}
