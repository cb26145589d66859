//! What counting costs: programs with and without `--account`, in turns; and without it, against another build (`--against FILE`), what it costs to be able to count.

use crate::bench::{Setup, least_and_most};
use crate::json::Json;
use crate::process::Spec;
use crate::root;
use std::path::Path;

/// Programs with their arguments: computing, collecting, messages of all kinds, threads that change places.
const PROGRAMS: &[(&str, &[&str])] = &[
    ("fib", &[]),
    ("binary_trees", &[]),
    ("hash_work", &[]),
    ("vm/messages", &["0.2"]),
    ("vm/graph_copy", &["5"]),
    ("vm/threads", &["10000"]),
];

/// CPU seconds of one run.
fn once(setup: &Setup, zakuro: &Path, counts: bool, program: &(&str, &[&str])) -> Result<f64, String> {
    let mut spec = Spec::new(zakuro).dir(root()).limit(setup.limit);
    if counts {
        spec = spec.args(["--account"]);
    }
    let outcome = spec.args([root().join("bench").join(format!("{}.rb", program.0))]).args(program.1).run()?;
    if outcome.timed_out || outcome.status != 0 {
        return Err(format!("{}: exit status {}", program.0, outcome.status));
    }
    Ok(outcome.cpu.as_secs_f64())
}

pub fn run(setup: &Setup, against: Option<&Path>) -> Result<(String, Json), String> {
    println!("cost of counting: least CPU time with --account / without{}", if against.is_some() { "; without / other build" } else { "" });
    let mut rows = Vec::new();
    for program in PROGRAMS {
        // In turns, and the best of each: a shared machine's cores drift by half, and only upwards.
        let (mut on, mut off, mut other) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..setup.runs {
            off.push(once(setup, &setup.zakuro, false, program)?);
            on.push(once(setup, &setup.zakuro, true, program)?);
            if let Some(binary) = against {
                other.push(once(setup, binary, false, program)?);
            }
        }
        let least = |times: &[f64]| least_and_most(times).0;
        let ratio = |of: &[f64], to: &[f64]| least(of) / least(to);
        let mut row = vec![("on".into(), Json::numbers(&on)), ("off".into(), Json::numbers(&off))];
        let mut line = format!("{:16} {:6.3}   ({:.3} s, {:.3} s)", program.0, ratio(&on, &off), least(&on), least(&off));
        if !other.is_empty() {
            line.push_str(&format!("   {:6.3}", ratio(&off, &other)));
            row.push(("other".into(), Json::numbers(&other)));
        }
        println!("{line}");
        rows.push((program.0.into(), Json::Object(row)));
    }
    Ok(("accounting".into(), Json::Object(rows)))
}
