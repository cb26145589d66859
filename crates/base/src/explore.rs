//! Runs a model under shuttle: thousands of schedules, the same ones each time, and a file to replay the one that failed. See docs/testing-models.md.
//!
//! Half of the schedules switch threads at random, half follow PCT (Burckhardt et al., "A randomized scheduler with probabilistic guarantees of finding
//! bugs", ASPLOS 2010): few switches, at bad moments. A few more are run twice to show that nothing but the schedule decides what happens, which is what
//! a replay relies on.
//!
//! Environment: `MODEL_SEED` (other schedules), `MODEL_SCHEDULES` (how many), `MODEL_REPLAY` (the file that a failure named: only that schedule).
//! Rejected: a fresh seed per run (a red run of continuous integration that nobody can repeat; longer hunts set the seed themselves).

use std::path::PathBuf;

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler, UncontrolledNondeterminismCheckScheduler};
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};

/// Threads that PCT delays at a chosen step, plus one.
const DEPTH: usize = 4;
/// Schedules that are run twice.
const TWICE: usize = 20;
/// A schedule of so many steps has run into an endless loop.
const STEPS: usize = 200_000;
/// Bytes of a model's thread; a panic needs more than shuttle's own 32 KiB.
const STACK: usize = 256 << 10;
const SEED: u64 = 0x5eed;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(otherwise)
}

/// Explores so many schedules of `model`, which panics when something is wrong. A lost wake-up shows as a deadlock, which shuttle reports.
pub fn explore(schedules: usize, model: impl Fn() + Clone + Send + Sync + 'static) {
    if let Ok(file) = std::env::var("MODEL_REPLAY") {
        return shuttle::replay_from_file(model, file);
    }
    let seed = number("MODEL_SEED", SEED);
    let schedules = number("MODEL_SCHEDULES", schedules as u64) as usize;
    let random = |n| RandomScheduler::new_from_seed(seed, n);
    run(UncontrolledNondeterminismCheckScheduler::new(random(TWICE.min(schedules))), model.clone());
    run(random(schedules.div_ceil(2)), model.clone());
    run(PctScheduler::new_from_seed(seed, DEPTH, schedules.div_ceil(2)), model);
}

fn run(scheduler: impl Scheduler + 'static, model: impl Fn() + Send + Sync + 'static) {
    let failures: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "..", "target", "models"].iter().collect();
    let mut config = Config::new();
    config.silence_warnings = true;
    config.stack_size = STACK;
    config.max_steps = MaxSteps::FailAfter(STEPS);
    if std::fs::create_dir_all(&failures).is_ok() {
        config.failure_persistence = FailurePersistence::File(Some(failures));
    }
    Runner::new(scheduler, config).run(model);
}
