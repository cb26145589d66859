//! Runs ruby/spec with mspec, both checked out by the caller outside this repository: one process per spec file with a time
//! limit and a process-group kill, so that a crash costs one file. Tallies examples, failures, errors and died files.

use crate::process::Spec;
use crate::tally::Tally;
use crate::{Args, cpus, find_program, find_zakuro, in_parallel, root};
use std::path::{Path, PathBuf};
use std::time::Duration;

const NOTES: &str = include_str!("spec_notes.txt");

pub fn run(args: &[String]) -> Result<bool, String> {
    let args = Args::parse(args, &["suite", "mspec", "ruby", "zakuro", "limit", "jobs", "out", "profile"], &["verbose"])?;
    let place = |name: &str| -> Result<PathBuf, String> {
        let given = args.get(name).ok_or_else(|| format!("spec needs --{name} DIR"))?;
        PathBuf::from(given).canonicalize().map_err(|e| format!("{given}: {e}"))
    };
    let suite = place("suite")?;
    let mspec = place("mspec")?;
    let interpreter = match args.get("ruby") {
        Some(path) => find_program(Some(path), "ruby")?,
        None => find_zakuro(&args, args.get("profile").unwrap_or("release"))?,
    };
    let limit = Duration::from_secs(args.number("limit", 20)?);
    let names: Vec<String> = if args.rest.is_empty() { vec!["language".into()] } else { args.rest.clone() };
    let mut files = Vec::new();
    for name in &names {
        let path = suite.join(name);
        if path.is_dir() {
            collect(&path, &mut files);
        } else if path.is_file() {
            files.push(path);
        } else {
            return Err(format!("no {name} in the suite"));
        }
    }
    let results = in_parallel(&files, args.number("jobs", cpus() as u64)? as usize, |file| one(&interpreter, &suite, &mspec, file, limit));

    let mut total = Tally::default();
    let mut groups: Vec<(String, Tally)> = Vec::new();
    let mut rows = String::new();
    for (file, result) in files.iter().zip(results) {
        let (tally, output) = result?;
        let short = file.strip_prefix(&suite).unwrap_or(file).to_string_lossy().into_owned();
        if tally.failures + tally.errors + tally.died > 0 {
            println!(
                "{short}: {} examples, {} failures, {} errors{}",
                tally.tests,
                tally.failures,
                tally.errors,
                if tally.died > 0 { ", DIED" } else { "" }
            );
            if args.has("verbose") {
                println!("{output}");
            }
        }
        let died = if tally.died > 0 { "died" } else { "" };
        let why = if tally.failures + tally.errors + tally.died > 0 { note(&short) } else { "" };
        rows.push_str(&format!("| {short} | {} | {} | {} | {died} | {why} |\n", tally.tests, tally.failures, tally.errors));
        let group = file.parent().and_then(|p| p.strip_prefix(&suite).ok()).unwrap_or(Path::new("")).to_string_lossy().into_owned();
        match groups.iter_mut().find(|(g, _)| *g == group) {
            Some((_, sum)) => sum.add(&tally),
            None => groups.push((group, tally.clone())),
        }
        total.add(&tally);
    }
    println!(
        "{} files, {} examples, {} expectations, {} failures, {} errors, {} died",
        total.files, total.tests, total.expectations, total.failures, total.errors, total.died
    );
    let out = args.get("out").map_or_else(|| root().join("docs/compat.md"), PathBuf::from);
    std::fs::write(&out, document(&interpreter, &suite, &names, &total, &groups, &rows)).map_err(|e| format!("{}: {e}", out.display()))?;
    Ok(total.failures + total.errors + total.died == 0)
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    let mut entries: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, files);
        } else if path.to_string_lossy().ends_with("_spec.rb") {
            files.push(path);
        }
    }
}

fn one(interpreter: &Path, suite: &Path, mspec: &Path, file: &Path, limit: Duration) -> Result<(Tally, String), String> {
    let scratch = std::env::temp_dir().join(format!("spec-{}-{:x}", std::process::id(), hash(file)));
    let outcome = Spec::new(interpreter)
        .dir(suite)
        .env("RUBY_EXE", interpreter)
        .env("RUBY_FLAGS", "")
        .env("SPEC_TEMP_DIR", &scratch)
        .env("MSPEC_RUNNER", "1")
        .args(["-I"])
        .args([mspec.join("lib")])
        .args([mspec.join("bin/mspec-run")])
        .args(["--format", "dotted"])
        .args([file])
        .limit(limit)
        .run()?;
    let _ = std::fs::remove_dir_all(&scratch);
    let mut output = String::from_utf8_lossy(&outcome.stdout).into_owned();
    output.push_str(&String::from_utf8_lossy(&outcome.stderr));
    let mut tally = output.lines().rev().find_map(summary).unwrap_or_default();
    tally.files = 1;
    if outcome.timed_out || !output.lines().any(|line| summary(line).is_some()) {
        tally.died = 1;
        if outcome.timed_out {
            output.push_str("\n(no end within the limit)");
        }
    }
    Ok((tally, output))
}

/// Why a file's examples fail that are not to be mended, from `spec_notes.txt`.
fn note(file: &str) -> &'static str {
    NOTES.lines().filter_map(|l| l.split_once(" | ")).find(|(name, _)| *name == file).map_or("", |(_, why)| why.trim())
}

/// mspec's closing line: `1 file, 12 examples, 30 expectations, 0 failures, 0 errors, 0 tagged`.
fn summary(line: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut seen = 0;
    for part in line.split(", ") {
        let (number, what) = part.trim().split_once(' ')?;
        let number: u64 = number.parse().ok()?;
        let field = match what.trim_end_matches('s') {
            "file" => &mut tally.files,
            "example" => &mut tally.tests,
            "expectation" => &mut tally.expectations,
            "failure" => &mut tally.failures,
            "error" => &mut tally.errors,
            _ => continue,
        };
        *field = number;
        seen += 1;
    }
    (seen == 5).then_some(tally)
}

fn hash(path: &Path) -> u64 {
    // FNV-1a: only has to keep the scratch directories of one run apart.
    path.to_string_lossy().bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

fn document(interpreter: &Path, suite: &Path, names: &[String], total: &Tally, groups: &[(String, Tally)], rows: &str) -> String {
    let said = |spec: Spec| spec.run().map_or(String::new(), |o| String::from_utf8_lossy(&o.stdout).trim().to_string());
    let commit = said(Spec::new("git").dir(suite).args(["rev-parse", "--short", "HEAD"]));
    let version = said(Spec::new(interpreter).args(["--version"]));
    let mut out = format!(
        "# ruby/spec\n\n*reference* — written by `cargo run -p xtask -- spec`, never by hand.\n\nSuite at {commit}, parts: {}. Interpreter: {version}.\n\n\
         | part | files | examples | failures | errors | died |\n|---|---|---|---|---|---|\n",
        names.join(", ")
    );
    for (name, t) in groups {
        out.push_str(&format!("| {name} | {} | {} | {} | {} | {} |\n", t.files, t.tests, t.failures, t.errors, t.died));
    }
    out.push_str(&format!("| **all** | {} | {} | {} | {} | {} |\n", total.files, total.tests, total.failures, total.errors, total.died));
    out.push_str("\n## By file\n\n| file | examples | failures | errors | died | note |\n|---|---|---|---|---|---|\n");
    out.push_str(rows);
    out
}

#[cfg(test)]
mod unit {
    #[test]
    fn summary_line() {
        let t = super::summary("1 file, 12 examples, 30 expectations, 2 failures, 1 error, 0 tagged").expect("parsed");
        assert_eq!((t.tests, t.failures, t.errors), (12, 2, 1));
        assert!(super::summary("..F..").is_none());
    }

    #[test]
    fn notes() {
        assert!(super::note("library/mkmf/mkmf_spec.rb").contains("headers"));
        assert_eq!(super::note("language/if_spec.rb"), "");
    }
}
