//! Interleaved comparison with the `ruby` on the machine: A B A B ..., medians of ratios, peak memory, refusal to compare
//! programs whose outputs differ. Single-thread programs are bench/*.rb; the parallel ones are in parallel.rs.
//!
//! All ratios are zakuro / ruby: below 1 zakuro is faster or smaller.

use crate::json::Json;
use crate::process::{Outcome, Spec};
use crate::record::programs_in;
use crate::{Args, accounting, cpus, find_program, find_zakuro, parallel, root, start, svg};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub struct Setup {
    pub ruby: PathBuf,
    pub zakuro: PathBuf,
    pub runs: usize,
    pub pin: bool,
    pub limit: Duration,
}

/// One program's figures.
struct Comparison {
    name: String,
    ruby_seconds: Vec<f64>,
    zakuro_seconds: Vec<f64>,
    ruby_kib: Vec<f64>,
    zakuro_kib: Vec<f64>,
    /// CPU time ratios: they tell a slow program from a busy machine.
    cpu_ratios: Vec<f64>,
}

impl Comparison {
    fn ratios(&self) -> Vec<f64> {
        self.zakuro_seconds.iter().zip(&self.ruby_seconds).map(|(z, r)| z / r).collect()
    }

    fn memory(&self) -> f64 {
        median(&self.zakuro_kib) / median(&self.ruby_kib)
    }
}

pub fn median(list: &[f64]) -> f64 {
    let mut sorted = list.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

pub fn least_and_most(list: &[f64]) -> (f64, f64) {
    list.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), &x| (lo.min(x), hi.max(x)))
}

fn geometric_mean(list: &[f64]) -> f64 {
    (list.iter().map(|x| x.ln()).sum::<f64>() / list.len() as f64).exp()
}

pub fn run(args: &[String]) -> Result<bool, String> {
    let args = Args::parse(args, &["runs", "ruby", "zakuro", "limit", "against"], &["pin", "plot", "no-save"])?;
    let setup = Setup {
        ruby: find_program(args.get("ruby"), "ruby")?,
        zakuro: find_zakuro(&args, "release")?,
        runs: args.number("runs", 5)?.max(1) as usize,
        pin: args.has("pin"),
        limit: Duration::from_secs(args.number("limit", 300)?),
    };
    let programs = programs_in(&root().join("bench"));
    let stem = |p: &Path| p.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut single: Vec<PathBuf> = Vec::new();
    let mut parallel_names: Vec<String> = Vec::new();
    let mut starts = args.rest.is_empty();
    let mut counts = false;
    if args.rest.is_empty() {
        single = programs.clone();
        parallel_names.push("parallel".into());
    }
    for name in &args.rest {
        let name = name.trim_end_matches(".rb").rsplit('/').next().unwrap_or(name).to_string();
        if name == "single" {
            single.extend(programs.iter().cloned());
        } else if let Some(path) = programs.iter().find(|p| stem(p) == name) {
            single.push(path.clone());
        } else if name == "start" {
            starts = true;
        } else if name == "accounting" {
            counts = true;
        } else if parallel::known(&name) {
            parallel_names.push(name);
        } else {
            let known: Vec<String> = programs.iter().map(|p| stem(p)).collect();
            return Err(format!("no benchmark {name}; there are {}, start, accounting and {}", known.join(" "), parallel::NAMES.join(" ")));
        }
    }

    let mut good = true;
    let mut fields = machine(&setup);
    let mut comparisons = Vec::new();
    if !single.is_empty() {
        println!("single-thread programs, zakuro / ruby, {} interleaved runs{}", setup.runs, if setup.pin { ", pinned" } else { "" });
        println!("{:14} {:>8} {:>8} {:>7} {:>15} {:>7}", "program", "ruby s", "zakuro s", "ratio", "spread", "memory");
        for path in &single {
            match compare(&setup, path, &stem(path)) {
                Ok(c) => {
                    let (lo, hi) = least_and_most(&c.ratios());
                    println!(
                        "{:14} {:8.3} {:8.3} {:7.3} {:>15} {:7.2}",
                        c.name,
                        median(&c.ruby_seconds),
                        median(&c.zakuro_seconds),
                        median(&c.ratios()),
                        format!("{lo:.3} - {hi:.3}"),
                        c.memory()
                    );
                    comparisons.push(c);
                }
                Err(e) => {
                    good = false;
                    println!("{:14} NOT COMPARED: {e}", stem(path));
                }
            }
        }
        if !comparisons.is_empty() {
            let time = geometric_mean(&comparisons.iter().map(|c| median(&c.ratios())).collect::<Vec<_>>());
            let memory = geometric_mean(&comparisons.iter().map(Comparison::memory).collect::<Vec<_>>());
            println!("{:14} {:8} {:8} {time:7.3} {:15} {memory:7.2}", "geometric mean", "", "", "");
            fields.push(("geometric_mean_time".into(), Json::Number(time)));
            fields.push(("geometric_mean_memory".into(), Json::Number(memory)));
            fields.push(("single".into(), Json::Object(comparisons.iter().map(describe).collect())));
        }
    }
    if starts {
        fields.extend(start::run(&setup)?);
    }
    if counts {
        fields.push(accounting::run(&setup, args.get("against").map(Path::new))?);
    }
    for name in &parallel_names {
        let (fine, mut figures) = parallel::run(&setup, name)?;
        good &= fine;
        for (name, json) in figures.drain(..) {
            match (fields.iter_mut().find(|(n, _)| *n == name), json) {
                // Kernels named one by one are one table.
                (Some((_, Json::Object(have))), Json::Object(more)) => have.extend(more),
                (_, json) => fields.push((name, json)),
            }
        }
    }

    let date = date();
    let results = root().join("bench/results");
    if !args.has("no-save") {
        std::fs::create_dir_all(&results).map_err(|e| e.to_string())?;
        let mut text = String::new();
        Json::Object(fields).write(&mut text, 0);
        text.push('\n');
        let path = results.join(format!("{date}.json"));
        std::fs::write(&path, text).map_err(|e| e.to_string())?;
        println!("written: bench/results/{date}.json");
    }
    if args.has("plot") && !comparisons.is_empty() {
        std::fs::create_dir_all(&results).map_err(|e| e.to_string())?;
        let bars: Vec<svg::Bar> = comparisons
            .iter()
            .map(|c| {
                let (least, most) = least_and_most(&c.ratios());
                svg::Bar { name: c.name.clone(), value: median(&c.ratios()), least, most }
            })
            .collect();
        let path = results.join(format!("{date}.svg"));
        std::fs::write(path, svg::bars("time, zakuro / ruby (below 1: faster)", &bars)).map_err(|e| e.to_string())?;
        println!("written: bench/results/{date}.svg");
    }
    Ok(good)
}

/// A program's command; with `pin` on the last CPU we may use, away from the one that takes most interrupts.
pub fn program(setup: &Setup, interpreter: &Path, file: &Path) -> Spec {
    let spec = Spec::new(interpreter).dir(root()).args([file]).limit(setup.limit);
    if setup.pin { spec.pin(cpus() - 1) } else { spec }
}

fn compare(setup: &Setup, path: &Path, name: &str) -> Result<Comparison, String> {
    let checked = |interpreter: &Path, who: &str| -> Result<Outcome, String> {
        let outcome = program(setup, interpreter, path).run()?;
        if outcome.timed_out {
            return Err(format!("{who}: no end after {:?}", setup.limit));
        }
        if outcome.status != 0 {
            let said = String::from_utf8_lossy(&outcome.stderr).lines().next().unwrap_or("").to_string();
            return Err(format!("{who}: exit status {}: {said}", outcome.status));
        }
        Ok(outcome)
    };
    let mut c = Comparison {
        name: name.into(),
        ruby_seconds: vec![],
        zakuro_seconds: vec![],
        ruby_kib: vec![],
        zakuro_kib: vec![],
        cpu_ratios: vec![],
    };
    for _ in 0..setup.runs {
        let ruby = checked(&setup.ruby, "ruby")?;
        let zakuro = checked(&setup.zakuro, "zakuro")?;
        if ruby.stdout != zakuro.stdout {
            return Err("the outputs differ".into());
        }
        c.ruby_seconds.push(ruby.wall.as_secs_f64());
        c.zakuro_seconds.push(zakuro.wall.as_secs_f64());
        c.cpu_ratios.push(zakuro.cpu.as_secs_f64() / ruby.cpu.as_secs_f64());
        c.ruby_kib.push(ruby.max_rss as f64);
        c.zakuro_kib.push(zakuro.max_rss as f64);
    }
    Ok(c)
}

fn describe(c: &Comparison) -> (String, Json) {
    let (least, most) = least_and_most(&c.ratios());
    let fields = vec![
        ("ratio".into(), Json::Number(median(&c.ratios()))),
        ("least".into(), Json::Number(least)),
        ("most".into(), Json::Number(most)),
        ("memory_ratio".into(), Json::Number(c.memory())),
        ("cpu_ratio".into(), Json::Number(median(&c.cpu_ratios))),
        ("ruby_seconds".into(), Json::numbers(&c.ruby_seconds)),
        ("zakuro_seconds".into(), Json::numbers(&c.zakuro_seconds)),
        ("ruby_kib".into(), Json::numbers(&c.ruby_kib)),
        ("zakuro_kib".into(), Json::numbers(&c.zakuro_kib)),
    ];
    (c.name.clone(), Json::Object(fields))
}

/// What a reader needs to judge the figures.
fn machine(setup: &Setup) -> Vec<(String, Json)> {
    let first_line = |path: &Path, arg: &str| {
        Spec::new(path)
            .args([arg])
            .run()
            .map_or(String::new(), |o| String::from_utf8_lossy(&o.stdout).lines().next().unwrap_or("").to_string())
    };
    let commit = Spec::new("git")
        .dir(root())
        .args(["rev-parse", "HEAD"])
        .run()
        .map_or(String::new(), |o| String::from_utf8_lossy(&o.stdout).trim().to_string());
    let model = std::fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|t| t.lines().find(|l| l.starts_with("model name")).and_then(|l| l.split_once(':')).map(|(_, v)| v.trim().to_string()))
        .unwrap_or_default();
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default().split(' ').next().unwrap_or("").to_string();
    vec![
        ("date".into(), Json::text(date())),
        ("commit".into(), Json::text(commit)),
        ("ruby".into(), Json::text(first_line(&setup.ruby, "--version"))),
        ("zakuro".into(), Json::text(first_line(&setup.zakuro, "--version"))),
        ("cpu".into(), Json::text(model)),
        ("cpus".into(), Json::Number(cpus() as f64)),
        ("load_before".into(), Json::text(load)),
        ("runs".into(), Json::Number(setup.runs as f64)),
        ("pinned".into(), Json::text(if setup.pin { "yes" } else { "no" })),
    ]
}

/// `YYYY-MM-DDTHHMM` in UTC (days to civil date: Howard Hinnant, "chrono-compatible low-level date algorithms").
fn date() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs()) as i64;
    let z = seconds / 86_400 + 719_468;
    let era = z / 146_097;
    let doe = z % 146_097;
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}{:02}", seconds % 86_400 / 3600, seconds % 3600 / 60)
}
