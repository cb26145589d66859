//! Runs CRuby's own tests of the libraries, in a tree that the caller has checked out outside this repository: one process per file with a time limit, on Zakuro
//! and on a reference build; with `--keep` only those that have no log of an earlier run. Tallies tests, failures and errors of both into docs/library-tests.md.
//!
//! The tests of the language and of what isn't the libraries' (test/ruby, RubyGems, Bundler, C extensions for tests, other collectors, DTrace) are left out. `language-tests` takes these of the
//! language alone: test/ruby, and bootstraptest, whose runner counts assertions. For Zakuro, which has no continuations, a library of that name is laid out whose
//! `callcc` raises NotImplementedError: without it five files of several hundred tests end at their first line for the sake of a dozen.

use crate::process::Spec;
use crate::tally::Tally;
use crate::{Args, cpus, find_program, find_zakuro, in_parallel};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `file or directory | why tests fail there that do not fail on the reference`
const NOTES: &str = include_str!("library_tests_notes.txt");
const LEFT_OUT: [&str; 8] =
    ["test/ruby", "test/rubygems", "test/bundler", "test/-ext-", "test/mkmf", "test/mmtk", "test/dtrace", "test/lib"];

/// `file | pattern of tests that the runner does not come back from, on one of the two`
const NEVER_RUN: [(&str, &str); 1] = [
    // A failure whose text is larger than a pipe: the runner waits for the end of the process that writes it before it reads. The tree has syntax of a later Ruby.
    ("test/ruby/test_syntax.rb", "/test_syntax_test$/"),
];
/// Tests of CRuby's own compilers to machine code: files that run no test where there is no `RubyVM::YJIT` or `RubyVM::ZJIT`.
const OF_COMPILERS: [&str; 2] = ["test/ruby/test_yjit", "test/ruby/test_zjit"];
/// The library `continuation` for an interpreter without one.
const CONTINUATION: &str = "module Kernel\n  def callcc = raise(NotImplementedError, \"no continuations\")\nend\nclass Continuation\nend\n";

/// The columns of the tables.
fn cells(t: &Tally) -> String {
    format!("{} | {} | {} | {} | {} | {}", t.tests, t.failures, t.errors, t.skips, t.died - t.hung, t.hung)
}

/// What is run.
#[derive(Clone, Copy, PartialEq)]
pub enum Part {
    Libraries,
    Language,
}

pub fn run(args: &[String], part: Part) -> Result<bool, String> {
    let args = Args::parse(args, &["cruby", "ruby", "zakuro", "limit", "jobs", "logs", "out", "profile"], &["keep"])?;
    let tree = args.get("cruby").ok_or("--cruby DIR, CRuby's tree, is needed")?;
    let tree = PathBuf::from(tree).canonicalize().map_err(|e| format!("{tree}: {e}"))?;
    let zakuro = find_zakuro(&args, args.get("profile").unwrap_or("debug"))?;
    let ruby = find_program(args.get("ruby"), "ruby")?;
    let name = if part == Part::Libraries { "library-tests" } else { "language-tests" };
    let logs = args.get("logs").map_or_else(|| crate::target().join(name), PathBuf::from);
    std::fs::create_dir_all(&logs).map_err(|e| format!("{}: {e}", logs.display()))?;
    let limit = Duration::from_secs(args.number("limit", 120)?);
    let stand_ins = logs.join("stand-ins");
    std::fs::create_dir_all(&stand_ins)
        .and_then(|()| std::fs::write(stand_ins.join("continuation.rb"), CONTINUATION))
        .map_err(|e| format!("{}: {e}", stand_ins.display()))?;
    let mut files = Vec::new();
    if part == Part::Libraries {
        collect(&tree, &tree.join("test"), &mut files);
    } else {
        collect(&tree, &tree.join("bootstraptest"), &mut files);
        collect(&tree, &tree.join("test/ruby"), &mut files);
    }
    files.retain(|f| args.rest.is_empty() || args.rest.iter().any(|name| f.contains(name.as_str())));
    let results = in_parallel(&files, args.number("jobs", cpus() as u64)? as usize, |file| {
        let log = |who: &str| logs.join(format!("{}.{who}", file.replace('/', "-")));
        let run = |program: &Path, who: &str, with: Option<&Path>| match std::fs::read(log(who)) {
            Ok(text) if args.has("keep") => Ok(tally(&String::from_utf8_lossy(&text))),
            _ => one(program, &tree, file, limit, &log(who), with),
        };
        let stand_ins = (part == Part::Language).then_some(&*stand_ins);
        let (theirs, ours) = (run(&ruby, "ruby", None)?, run(&zakuro, "zakuro", stand_ins)?);
        if ours.bad() > theirs.bad() || ours.tests < theirs.tests {
            println!("{file}: {} | {}", cells(&ours), cells(&theirs));
        }
        Ok::<_, String>((ours, theirs))
    });
    let (mut all, mut all_theirs, mut of_compilers) = (Tally::default(), Tally::default(), Tally::default());
    let mut groups: Vec<(String, Tally, Tally)> = Vec::new();
    let mut rows = String::new();
    for (file, result) in files.iter().zip(results) {
        let (ours, theirs) = result?;
        if ours.bad() > 0 || ours.tests < theirs.tests {
            rows.push_str(&format!("| {file} | {} | {} | {} |\n", cells(&ours), cells(&theirs), note(file)));
        }
        let group = file.rsplit_once('/').map_or("", |(dir, _)| dir).to_string();
        match groups.iter_mut().find(|(g, ..)| *g == group) {
            Some((_, a, b)) => {
                a.add(&ours);
                b.add(&theirs);
            }
            None => groups.push((group, ours.clone(), theirs.clone())),
        }
        all.add(&ours);
        all_theirs.add(&theirs);
        if OF_COMPILERS.iter().any(|name| file.starts_with(name)) {
            of_compilers.add(&theirs);
        }
    }
    println!("{} files, {} | {}", all.files, cells(&all), cells(&all_theirs));
    if let Some(out) = args.get("out") {
        let mut share = share(&all, &all_theirs, &of_compilers);
        if part == Part::Language {
            share.push_str(&left_out());
        }
        groups.push(("**all**".into(), all, all_theirs));
        std::fs::write(out, document(part, &zakuro, &ruby, &tree, &share, &groups, &rows)).map_err(|e| format!("{out}: {e}"))?;
    }
    Ok(true)
}

/// Test files below a directory, as paths from the tree, in order.
fn collect(tree: &Path, dir: &Path, files: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    let mut entries: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    entries.sort();
    for path in entries {
        let short = path.strip_prefix(tree).unwrap_or(&path).to_string_lossy().into_owned();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if !LEFT_OUT.contains(&short.as_str()) {
                collect(tree, &path, files);
            }
        } else if name.ends_with(".rb") && (name.starts_with("test_") && name != "test_helper.rb" || name.ends_with("_test.rb")) {
            files.push(short);
        }
    }
}

fn one(ruby: &Path, tree: &Path, file: &str, limit: Duration, log: &Path, stand_ins: Option<&Path>) -> Result<Tally, String> {
    let mut spec = Spec::new(ruby).dir(tree).limit(limit);
    let outcome = if file.starts_with("bootstraptest/") {
        // It starts the interpreter once more for each assertion; its first argument is a command line.
        spec.args(["-I", "tool/lib", "bootstraptest/runner.rb", "-q"]).args([format!("--ruby={}", ruby.display()), file.into()]).run()?
    } else {
        if let Some(dir) = stand_ins {
            spec = spec.args([Path::new("-I"), dir]);
        }
        spec = spec.args(["-I", "tool/lib", "-I", "test/lib", "-I", "test", "tool/test/runner.rb", file]);
        if let Some((_, tests)) = NEVER_RUN.iter().find(|(name, _)| *name == file) {
            spec = spec.args(["-n", &format!("!{tests}")]);
        }
        spec.args(["--ruby"]).args([ruby]).run()?
    };
    let mut output = String::from_utf8_lossy(&outcome.stdout).into_owned();
    output.push_str(&String::from_utf8_lossy(&outcome.stderr));
    if outcome.timed_out {
        output.push_str(&format!("\n{LATE}\n"));
    }
    std::fs::write(log, &output).map_err(|e| format!("{}: {e}", log.display()))?;
    Ok(tally(&output))
}

const LATE: &str = "(no end within the limit)";

fn tally(output: &str) -> Tally {
    let found = output.lines().rev().find_map(summary);
    let hung = u64::from(output.ends_with(&format!("{LATE}\n")));
    let died = hung.max(u64::from(found.is_none()));
    Tally { files: 1, died, hung, ..found.unwrap_or_default() }
}

/// The closing line: `161 tests, 1302 assertions, 10 failures, 14 errors, 0 skips`; of bootstraptest's runner `PASS all 200 tests` or `FAIL 3/200 tests failed`.
fn summary(line: &str) -> Option<Tally> {
    if let Some(n) = line.strip_prefix("PASS all ").and_then(|l| l.strip_suffix(" tests")) {
        return Some(Tally { tests: n.parse().ok()?, ..Tally::default() });
    }
    if let Some((failed, all)) = line.strip_prefix("FAIL ").and_then(|l| l.strip_suffix(" tests failed")).and_then(|l| l.split_once('/')) {
        return Some(Tally { tests: all.parse().ok()?, failures: failed.parse().ok()?, ..Tally::default() });
    }
    let mut numbers = Vec::new();
    for (part, what) in line.split(", ").zip(["tests", "assertions", "failures", "errors", "skips"]) {
        numbers.push(part.trim().strip_suffix(what)?.trim().parse().ok()?);
    }
    let [tests, _, failures, errors, skips] = numbers[..] else { return None };
    Some(Tally { tests, failures, errors, skips, ..Tally::default() })
}

fn passed(t: &Tally) -> u64 {
    t.tests.saturating_sub(t.failures + t.errors)
}

/// How many of the tests that the reference passes pass here. Skips count as passed.
fn share(ours: &Tally, theirs: &Tally, of_compilers: &Tally) -> String {
    let percent = |a: u64, b: u64| a as f64 * 100.0 / b.max(1) as f64;
    let (ours, theirs, others) = (passed(ours), passed(theirs), passed(theirs) - passed(of_compilers));
    let mut out = format!("Of {theirs} tests that CRuby passes, {ours} pass here: {:.1}%.", percent(ours, theirs));
    if others < theirs {
        out.push_str(&format!(
            " Without those of its compilers to machine code (test_yjit, test_zjit) it passes {others}, and {:.1}% of that pass here.",
            percent(ours, others)
        ));
    }
    out + " Skips count as passed.\n\n"
}

/// What is run on neither of the two, and what runs here otherwise.
fn left_out() -> String {
    let mut out = String::from("Left out:");
    for (file, tests) in NEVER_RUN {
        out.push_str(&format!(" `{}` of {file}, which the runner does not come back from;", tests.trim_matches(['/', '$'])));
    }
    out + " `basictest`, `test/-ext-` and the tests of libraries and packages ([library-tests.md](library-tests.md)). Here a library `continuation` without continuations is on the load path, so that files that require it run; tests that \
     call `callcc` fail.\n\n"
}

/// What stands in the notes for a file, else for its directory.
fn note(file: &str) -> &'static str {
    let said = |name: &str| NOTES.lines().filter_map(|l| l.split_once(" | ")).find(|(n, _)| *n == name).map(|(_, why)| why.trim());
    said(file).or_else(|| said(file.rsplit_once('/')?.0)).unwrap_or("")
}

fn document(part: Part, zakuro: &Path, ruby: &Path, tree: &Path, share: &str, groups: &[(String, Tally, Tally)], rows: &str) -> String {
    let own = Spec::new("git").dir(env!("CARGO_MANIFEST_DIR")).args(["rev-parse", "--short", "HEAD"]);
    let said = |spec: Spec| spec.run().map_or(String::new(), |o| String::from_utf8_lossy(&o.stdout).trim().to_string());
    let commit = said(Spec::new("git").dir(tree).args(["rev-parse", "--short", "HEAD"]));
    let commit = if commit.is_empty() { String::new() } else { format!(" at {commit}") };
    let (title, command, what) = match part {
        Part::Libraries => (
            "of the libraries",
            "library-tests",
            "`test` but those of the language, RubyGems, Bundler and C extensions. What the reference was built without counts as died there",
        ),
        Part::Language => {
            ("of the language and the core", "language-tests", "`bootstraptest` (each assertion counts as a test) and `test/ruby`")
        }
    };
    let mut out = format!(
        "# CRuby's tests {title} (reference)\n\nWritten by `cargo run -p xtask -- {command} --cruby DIR --ruby PATH --out docs/{command}.md`, never by hand: the files of CRuby's{commit} {what}; \
         one process each, on {} at commit {} and on {}.\n\n{share}\
         | directory | files | tests | failures | errors | skips | died | hung | CRuby: tests | failures | errors | skips | died | hung |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        said(Spec::new(zakuro).args(["--version"])),
        said(own),
        said(Spec::new(ruby).args(["--version"])),
    );
    for (name, ours, theirs) in groups {
        out.push_str(&format!("| {name} | {} | {} | {} |\n", ours.files, cells(ours), cells(theirs)));
    }
    out.push_str(
        "\n## Files with failures\n\n| file | tests | failures | errors | skips | died | hung | CRuby: tests | failures | errors | skips | died | hung | note |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    out.push_str(rows);
    out
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn summary_line() {
        let t = summary("161 tests, 1302 assertions, 10 failures, 14 errors, 2 skips").expect("parsed");
        assert_eq!(t, Tally { tests: 161, failures: 10, errors: 14, skips: 2, ..Tally::default() });
        assert_eq!(summary("PASS all 200 tests").map(|t| (t.tests, t.failures)), Some((200, 0)));
        assert_eq!(summary("FAIL 3/200 tests failed").map(|t| (t.tests, t.failures)), Some((200, 3)));
        assert!(summary("Finished tests in 0.1s, 12 tests/s, 9845.18 assertions/s.").is_none());
    }
}
