//! Runs zakuro over the recorded tests (tests/lang, core, gc, isolation, image_file, insight, jit, apps; those of tests/jit in each mode of machine code) and the golden ones (tests/golden).
//!
//! A recorded test compares standard output and exit status with NAME.out. A golden test NAME is what NAME.args says
//! (one argument a line; without it the single argument NAME.rb) with NAME.stdin as input; compared are NAME.stdout,
//! NAME.stderr and NAME.status where they exist (a missing status means 0, a missing stdout or stderr is not compared).
//! A test whose last line says that it needs the standard library is left out where that is not laid out (no network when it was set up), and so are those of
//! tests/library. In NAME.stdout and NAME.stderr `{*}` stands for anything within a line and a line `{**}` for any number of lines.

use crate::library;
use crate::process::{Outcome, Spec};
use crate::record::{programs_in, read_expected};
use crate::{Args, cpus, find_zakuro, in_parallel, root};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Compared against this many lines on each side of a difference.
const CONTEXT: usize = 2;
const DIFF_LINES: usize = 40;
/// So many tests that failed beside others run once more, alone: some go by the clock, and on busy cores a pause is longer than what it is compared with. More than these have a
/// cause of their own; so has a program that died, or did not end.
const ALONE: usize = 3;

enum Case {
    Recorded(PathBuf),
    Golden(PathBuf),
}

impl Case {
    fn name(&self) -> String {
        let (Case::Recorded(path) | Case::Golden(path)) = self;
        let short = path.strip_prefix(root().join("tests")).unwrap_or(path);
        short.with_extension("").to_string_lossy().into_owned()
    }
}

pub fn run(args: &[String]) -> Result<bool, String> {
    let args = Args::parse(args, &["zakuro", "gc", "jit", "jobs", "limit", "profile", "slowest"], &["bless", "quiet", "all"])?;
    let zakuro = find_zakuro(&args, args.get("profile").unwrap_or("debug"))?;
    let gc = args.get("gc");
    if let Some(other) = gc.filter(|gc| !["stress", "sites"].contains(gc)) {
        return Err(format!("--gc={other}: only `stress` and `sites` are known"));
    }
    // Those that can't be run like that: left out, or run as usual.
    let others = args.has("all");
    let gc_of = |case: &Case| gc.filter(|_| !(others && (only_without_stress(case) || needs_servers(case))));
    let jit = args.get("jit");
    let limit = Duration::from_secs(args.number("limit", if gc.is_some() { 180 } else { 60 })?);
    // Some wait for most of their time.
    let jobs = args.number("jobs", cpus() as u64 + 1)? as usize;
    let mut cases = Vec::new();
    for dir in ["lang", "core", "stdlib", "library", "gc", "isolation", "image_file", "insight", "jit", "apps", "apps/parallel", "cluster"]
    {
        cases.extend(programs_in(&root().join("tests").join(dir)).into_iter().map(Case::Recorded));
    }
    cases.extend(golden_names(&root().join("tests/golden")).into_iter().map(Case::Golden));
    cases.retain(|case| args.rest.is_empty() || args.rest.iter().any(|filter| case.name().contains(filter.as_str())));
    if gc.is_some() && !others {
        cases.retain(|case| !only_without_stress(case) && !needs_servers(case));
    }
    // Found as the binary finds it.
    let prefix = zakuro.parent().and_then(Path::parent);
    if !prefix.is_some_and(library::is_there) {
        let all = cases.len();
        cases.retain(|case| !needs_library(case));
        println!("SKIPPED {} tests: the standard library is not there; `xtask library` sets it up", all - cases.len());
    } else if !prefix.is_some_and(library::has_prism) {
        let all = cases.len();
        cases.retain(|case| !ends_with(case, b"# Needs prism.\n"));
        println!("SKIPPED {} tests: the standard library has no prism; `xtask library --again` tries to get it", all - cases.len());
    }
    let missing = missing_servers();
    if !missing.is_empty() {
        let all = cases.len();
        cases.retain(|case| !needs_servers(case));
        if cases.len() < all {
            println!("SKIPPED {} tests: there is no {} here; it is a package of this name", all - cases.len(), missing.join(" and no "));
        }
    }
    let test = |case: &Case| {
        let gc = gc_of(case);
        match case {
            // Whatever is made into machine code, these print the same.
            Case::Recorded(path) if jit.is_none() && path.parent().is_some_and(|d| d.ends_with("jit")) => {
                // Collecting at every safepoint is slow: one way of machine code then, the others are for `./test jit`.
                let modes: Vec<_> =
                    MODES.iter().map(|mode| (gc.filter(|_| *mode == "always"), *mode)).filter(|(its, _)| others || *its == gc).collect();
                modes.iter().try_for_each(|(gc, jit)| {
                    recorded(&zakuro, path, (*gc, Some(jit)), limit).map_err(|f| Failure { why: format!("  --jit={jit}:\n{}", f.why), ..f })
                })
            }
            Case::Recorded(path) => recorded(&zakuro, path, (gc, jit), limit),
            Case::Golden(path) => golden(&zakuro, path, (gc, jit), limit, args.has("bless")),
        }
    };
    // Those of a folder are alike: side by side they all wait for servers, or all want the cores.
    cases.sort_by_cached_key(|case| BuildHasherDefault::<DefaultHasher>::default().hash_one(case.name()));
    let results = in_parallel(&cases, jobs, |case| {
        let start = Instant::now();
        (test(case), start.elapsed())
    });
    let mut times: Vec<_> = cases.iter().zip(&results).map(|(case, (_, time))| (*time, case.name())).collect();
    times.sort_unstable_by(|a, b| b.cmp(a));
    for (time, name) in times.iter().take(args.number("slowest", 0)? as usize) {
        println!("{:6.1} s  {name}", time.as_secs_f64());
    }
    let mut passed = 0;
    let mut failed = 0;
    let mut alone = 0;
    let again = results.iter().filter(|(result, _)| result.is_err()).count() <= ALONE && !args.has("bless");
    for (case, (result, _)) in cases.iter().zip(results) {
        match result {
            Ok(()) => passed += 1,
            Err(failure) if again && !failure.grave && test(case).is_ok() => {
                alone += 1;
                println!("ALONE {}: passed when nothing else ran; before\n{}", case.name(), failure.why.trim_end());
            }
            Err(Failure { why, .. }) => {
                failed += 1;
                println!("FAILED {}", case.name());
                if !args.has("quiet") {
                    println!("{}", why.trim_end());
                }
            }
        }
    }
    if alone > 0 {
        println!("{passed} passed beside others, {alone} alone");
    }
    println!("{} passed, {failed} failed", passed + alone);
    Ok(failed == 0)
}

/// Programs that fill heaps to their limits a hundred times begin so: with a collection at every safepoint that takes minutes.
fn only_without_stress(case: &Case) -> bool {
    let Case::Recorded(path) = case else { return false };
    std::fs::read(path).is_ok_and(|text| text.starts_with(b"# Without --gc=stress."))
}

/// Those of tests/cluster.
fn needs_servers(case: &Case) -> bool {
    matches!(case, Case::Recorded(path) if std::fs::read(path).is_ok_and(|text| text.starts_with(b"# Needs redis-server and nats-server.")))
}

fn missing_servers() -> Vec<&'static str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Debian has one of them where only root looks.
    let folders: Vec<_> = std::env::split_paths(&path).chain([Path::new("/usr/sbin").to_path_buf()]).collect();
    ["redis-server", "nats-server"].into_iter().filter(|name| !folders.iter().any(|f| f.join(name).is_file())).collect()
}

fn needs_library(case: &Case) -> bool {
    let Case::Recorded(path) = case else { return false };
    path.parent().is_some_and(|d| d.ends_with("library")) || ends_with(case, b"# Needs the standard library.\n")
}

/// The last line of a recorded program tells what it needs.
fn ends_with(case: &Case, line: &[u8]) -> bool {
    matches!(case, Case::Recorded(path) if std::fs::read(path).is_ok_and(|text| text.ends_with(line)))
}

/// How the tests of machine code are run.
const MODES: &[&str] = &["off", "on", "always", "exit-everywhere"];

/// The way of collecting, unless it is the usual one; the way of machine code, or that of the environment.
type Mode<'a> = (Option<&'a str>, Option<&'a str>);

fn with_mode(spec: Spec, (gc, jit): Mode, limit: Duration) -> Spec {
    let spec = match jit {
        Some(jit) => spec.env("ZAKURO_JIT", jit),
        None => spec,
    };
    // Whatever the machine's locale is: where none is named, text from outside is US-ASCII.
    spec.env("LC_ALL", "C.UTF-8").env("ZAKURO_TEST_SCALE", if gc.is_some() { "small" } else { "full" }).limit(limit)
}

fn recorded(zakuro: &Path, program: &Path, mode: Mode, limit: Duration) -> Result<(), Failure> {
    let expected = read_expected(program)?;
    let mut spec = Spec::new(zakuro).dir(program.parent().unwrap_or(Path::new(".")));
    if let Some(gc) = mode.0 {
        spec = spec.args([format!("--gc={gc}")]);
    }
    let outcome = with_mode(spec.args(["-W0"]).args(program.file_name()), mode, limit).run()?;
    let mut why = String::new();
    if outcome.stdout != expected.stdout {
        let source = if expected.by_hand { "written by hand" } else { "recorded" };
        why.push_str(&format!("  standard output differs (- {source}, + zakuro):\n{}", diff(&expected.stdout, &outcome.stdout)));
    }
    finish(why, &outcome, expected.status, limit, true)
}

/// What is wrong.
struct Failure {
    why: String,
    /// The program died, or did not end.
    grave: bool,
}

impl From<String> for Failure {
    fn from(why: String) -> Failure {
        Failure { why, grave: true }
    }
}

fn finish(mut why: String, outcome: &Outcome, status: i32, limit: Duration, show_stderr: bool) -> Result<(), Failure> {
    if outcome.timed_out {
        why.push_str(&format!("  no end after {limit:?}\n"));
    } else if outcome.status != status {
        why.push_str(&format!("  exit status {} instead of {status}\n", outcome.status));
    }
    if why.is_empty() {
        return Ok(());
    }
    if show_stderr && !outcome.stderr.is_empty() {
        why.push_str("  standard error:\n");
        for line in String::from_utf8_lossy(&outcome.stderr).lines().take(12) {
            why.push_str(&format!("    {line}\n"));
        }
    }
    // A panic ends with 101, a signal above 128.
    Err(Failure { why, grave: outcome.timed_out || (outcome.status != status && outcome.status > 100) })
}

fn golden_names(dir: &Path) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> = std::fs::read_dir(dir)
        .map(|entries| {
            entries
                .flatten()
                .map(|e| e.path())
                .filter(|p| p.extension().is_some_and(|e| e == "stdout" || e == "stderr" || e == "status"))
                .map(|p| p.with_extension("rb"))
                .collect()
        })
        .unwrap_or_default();
    names.sort();
    names.dedup();
    names
}

fn golden(zakuro: &Path, program: &Path, mode: Mode, limit: Duration, bless: bool) -> Result<(), Failure> {
    let file = |ext: &str| program.with_extension(ext);
    let read = |ext: &str| std::fs::read(file(ext)).ok();
    let args: Vec<String> = match read("args") {
        Some(data) => String::from_utf8_lossy(&data).lines().map(str::to_string).collect(),
        None => vec![program.file_name().unwrap_or_default().to_string_lossy().into_owned()],
    };
    let mut spec = Spec::new(zakuro).dir(program.parent().unwrap_or(Path::new(".")));
    if let Some(gc) = mode.0 {
        spec = spec.args([format!("--gc={gc}")]);
    }
    spec.stdin = read("stdin").unwrap_or_default();
    let outcome = with_mode(spec.args(args), mode, limit).run()?;
    let status = read("status").and_then(|d| String::from_utf8_lossy(&d).trim().parse().ok()).unwrap_or(0);
    let mut why = String::new();
    for (ext, got) in [("stdout", &outcome.stdout), ("stderr", &outcome.stderr)] {
        let Some(expected) = read(ext) else { continue };
        if matches(&String::from_utf8_lossy(&expected), &String::from_utf8_lossy(got)) {
            continue;
        }
        if bless {
            std::fs::write(file(ext), got).map_err(|e| e.to_string())?;
            println!("blessed {}: review it", file(ext).display());
            continue;
        }
        why.push_str(&format!("  {ext} differs (- golden, + zakuro):\n{}", diff(&expected, got)));
    }
    finish(why, &outcome, status, limit, file("stderr").is_file().eq(&false))
}

/// Compares text with a pattern, see the file's head.
fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<&str> = pattern.lines().collect();
    let text: Vec<&str> = text.lines().collect();
    lines_match(&pattern, &text)
}

fn lines_match(pattern: &[&str], text: &[&str]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some((&"{**}", rest)) => (0..=text.len()).any(|skip| lines_match(rest, &text[skip..])),
        Some((first, rest)) => text.split_first().is_some_and(|(line, more)| line_matches(first, line) && lines_match(rest, more)),
    }
}

fn line_matches(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.split("{*}");
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    for (i, part) in parts.iter().enumerate() {
        if i + 1 == parts.len() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.is_empty()
}

/// A line diff by longest common subsequence; long outputs are cut to the lines around the first difference.
fn diff(expected: &[u8], got: &[u8]) -> String {
    let expected = String::from_utf8_lossy(expected);
    let got = String::from_utf8_lossy(got);
    let a: Vec<&str> = expected.split_inclusive('\n').collect();
    let b: Vec<&str> = got.split_inclusive('\n').collect();
    let same = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let from = same.saturating_sub(CONTEXT);
    let a = &a[from..a.len().min(from + 400)];
    let b = &b[from..b.len().min(from + 400)];
    let mut table = vec![vec![0u16; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            table[i][j] = if a[i] == b[j] { table[i + 1][j + 1] + 1 } else { table[i + 1][j].max(table[i][j + 1]) };
        }
    }
    let mut out = format!("    @ line {}\n", from + 1);
    let (mut i, mut j, mut lines) = (0, 0, 0);
    let show = |mark: char, line: &str, out: &mut String| {
        out.push_str(&format!("    {mark}{}", line.trim_end_matches('\n')));
        out.push_str(if line.ends_with('\n') { "\n" } else { "\u{23ce}missing\n" });
    };
    while (i < a.len() || j < b.len()) && lines < DIFF_LINES {
        lines += 1;
        if i < a.len() && j < b.len() && a[i] == b[j] {
            show(' ', a[i], &mut out);
            i += 1;
            j += 1;
        } else if i < a.len() && (j == b.len() || table[i + 1][j] >= table[i][j + 1]) {
            show('-', a[i], &mut out);
            i += 1;
        } else {
            show('+', b[j], &mut out);
            j += 1;
        }
    }
    if i < a.len() || j < b.len() {
        out.push_str("    ...\n");
    }
    out
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn patterns() {
        assert!(matches("a\n{**}\nz\n", "a\nb\nc\nz\n"));
        assert!(matches("x.rb:{*}: oops {*}\n", "x.rb:3:in 'm': oops here\n"));
        assert!(!matches("a\n", "a\nb\n"));
        assert!(line_matches("{*}b", "aab") && !line_matches("a{*}b", "ac"));
    }

    #[test]
    fn differences() {
        let text = diff(b"a\nb\nc\n", b"a\nx\nc\n");
        assert!(text.contains("    -b\n") && text.contains("    +x\n") && text.contains("     c\n"), "{text}");
    }
}
