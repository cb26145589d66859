//! Everything around the runtime that is not the runtime: structure checks, recorded tests, the language's specification
//! suite, benchmarks. `./test` and `bench/run` are thin shells over it.
//!
//! Depends on no crate of the workspace, so that it builds in seconds and can never be broken by what it checks.

mod accounting;
mod bench;
mod check;
mod fuzz;
mod fuzz_hot;
mod fuzz_regexp;
mod gems;
mod handlers;
mod install;
mod json;
mod library;
mod library_tests;
mod lists;
mod order;
mod parallel;
mod process;
mod record;
mod reference;
mod spec;
mod start;
mod svg;
mod tally;
mod tests;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo run -q -p xtask -- COMMAND
  check                                       dependency arrows, process-wide state, file sizes, machine paths
  lists [--all]                               variables of builtins and the VM that hold values unseen by the collector
  reference [--out DIR] [--bare] [--examples] [--zakuro PATH]
                                              API reference from the declarations, a page per class (target/reference);
                                              --bare: methods without text; --examples: run those in comments of Ruby
  handlers [--zakuro PATH] [--profile release|debug]
                                              machine code of the interpreter: jumps, and no saved registers
  order [--zakuro PATH]                       which functions an empty program runs, for the linker (crates/cli/start.ld)
  record [--ruby PATH] [FILE|DIR...]          write NAME.out with the ruby on the machine (tests/lang and tests/core)
  test [--zakuro PATH] [--gc=stress|sites] [--jit=MODE] [--jobs N] [--limit S] [--slowest N] [--all] [--bless] [FILTER...]
                                              run the recorded, isolation, collection and golden tests;
                                              --all: with --gc, those that would take too long then without it
  spec --suite DIR --mspec DIR [--ruby PATH] [--limit S] [--jobs N] [--out FILE] NAME...
                                              run ruby/spec, one process per file, tally into docs/compat.md
  library-tests, language-tests --cruby DIR [--ruby PATH] [--zakuro PATH] [--limit S] [--jobs N] [--logs DIR] [--keep] [--out FILE] [NAME...]
                                              run CRuby's tests of the libraries, or of the language (test/ruby, bootstraptest), one process per file, beside a reference
  fuzz [--zakuro PATH] [--jobs N] [--seed N] [--corpus] [--regexps] [--hot] [SECONDS]
                                              feed mutated programs; --corpus: run tests/fuzz/corpus again;
                                              --regexps: patterns and texts only
  install PREFIX [--ruby]                     binary, library and executables of its gems below PREFIX
  dist [--to DIR]                             the same as a tar.gz and a .deb (target/dist)
  library [--to DIR] [--jar FILE] [--again]    lay the standard library out in DIR/lib/ruby/zakuro (target)
  gems --dir DIR [--ruby PATH] [--zakuro PATH] [--limit S] [--logs DIR] [NAME...]
                                              test suites of gems that are checked out in DIR, beside the ruby on the machine
  bench [--runs N] [--ruby PATH] [--zakuro PATH] [--pin] [--plot] [--no-save] [NAME...]
                                              interleaved comparison; NAME: a program of bench/, `single`, `parallel`
                                              or create_join, ping_pong, string_transfer, kernels, KERNEL";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let command = args.next().unwrap_or_default();
    let rest: Vec<String> = args.collect();
    let result = match command.as_str() {
        "check" => check::run(&rest),
        "record" => record::run(&rest),
        "test" => tests::run(&rest),
        "spec" => spec::run(&rest),
        "bench" => bench::run(&rest),
        "fuzz" => fuzz::run(&rest),
        "gems" => gems::run(&rest),
        "install" => install::run(&rest),
        "dist" => install::dist(&rest),
        "library" => library::run(&rest),
        "library-tests" => library_tests::run(&rest, library_tests::Part::Libraries),
        "language-tests" => library_tests::run(&rest, library_tests::Part::Language),
        "lists" => lists::run(&rest),
        "reference" => reference::run(&rest),
        "handlers" => handlers::run(&rest),
        "order" => order::run(&rest),
        _ => Err(USAGE.to_string()),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::from(2)
        }
    }
}

/// The repository.
fn root() -> PathBuf {
    // The tree that one stands in, and not the one where this was built: a copied program would write another tree's files.
    let is_root = |dir: &&Path| dir.join("xtask/Cargo.toml").is_file();
    let here = std::env::current_dir().ok();
    match here.as_deref().and_then(|d| d.ancestors().find(is_root)) {
        Some(dir) => dir.to_path_buf(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_path_buf),
    }
}

/// Cargo's directory of what is built.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Options of the form `--name value` or `--name=value`, flags and what is left over.
struct Args {
    options: Vec<(String, String)>,
    rest: Vec<String>,
}

impl Args {
    /// `valued` names options that take a value; `flags` names those that take none.
    fn parse(args: &[String], valued: &[&str], flags: &[&str]) -> Result<Args, String> {
        let mut options = Vec::new();
        let mut rest = Vec::new();
        let mut it = args.iter();
        while let Some(arg) = it.next() {
            let Some(name) = arg.strip_prefix("--") else {
                rest.push(arg.clone());
                continue;
            };
            let (name, given) = match name.split_once('=') {
                Some((n, v)) => (n, Some(v.to_string())),
                None => (name, None),
            };
            if flags.contains(&name) && given.is_none() {
                options.push((name.to_string(), String::new()));
            } else if valued.contains(&name) {
                let value = match given {
                    Some(v) => v,
                    None => it.next().cloned().ok_or_else(|| format!("--{name} needs a value"))?,
                };
                options.push((name.to_string(), value));
            } else {
                return Err(format!("unknown option {arg}\n{USAGE}"));
            }
        }
        Ok(Args { options, rest })
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.options.iter().rev().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    fn number(&self, name: &str, default: u64) -> Result<u64, String> {
        match self.get(name) {
            None => Ok(default),
            Some(v) => v.parse().map_err(|_| format!("--{name}: not a number: {v}")),
        }
    }
}

/// Logical CPUs that this process may use.
fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// An executable given by option, else by name through PATH.
fn find_program(given: Option<&str>, name: &str) -> Result<PathBuf, String> {
    if let Some(path) = given {
        let path = PathBuf::from(path);
        let path = if path.components().count() == 1 { return find_program(None, &path.to_string_lossy()) } else { path };
        return path.canonicalize().map_err(|e| format!("{}: {e}", path.display()));
    }
    std::env::var_os("PATH")
        .into_iter()
        .flat_map(|p| std::env::split_paths(&p).collect::<Vec<_>>())
        .map(|dir| dir.join(name))
        .find(|p| p.is_file())
        .ok_or_else(|| format!("no `{name}` on PATH"))
}

/// The built interpreter: `--zakuro PATH`, else target/PROFILE/zakuro.
fn find_zakuro(args: &Args, profile: &str) -> Result<PathBuf, String> {
    if let Some(path) = args.get("zakuro") {
        return find_program(Some(path), "zakuro");
    }
    let path = target().join(profile).join("zakuro");
    if path.is_file() { Ok(path) } else { Err(format!("{} is not built; give --zakuro PATH or build it", path.display())) }
}

/// Applies `work` to every item on `jobs` threads; results come in the items' order.
fn in_parallel<T: Sync, R: Send>(items: &[T], jobs: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, items.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(i) else { break };
                    let result = work(item);
                    *results[i].lock().expect("no worker panicked") = Some(result);
                }
            });
        }
    });
    results.into_iter().map(|m| m.into_inner().expect("no worker panicked").expect("every item was worked on")).collect()
}
