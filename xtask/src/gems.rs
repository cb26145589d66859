//! Runs test suites of gems that the caller has checked out outside this repository, on Zakuro and on the Ruby of the machine, and puts the counts and the
//! processor time of both side by side. What belongs to a suite stands in tests/gems/suites.txt; nothing is downloaded.
//!
//! DIR holds a directory for each gem (the names of suites.txt). Libraries that a suite needs only for its own purposes (coverage, reporters) are stood in
//! for by tests/gems/stand_ins. The suite named `all` is none: its directories (from DIR) and features are every suite's, after its own directories and
//! before its own features. `--path DIR:DIR` are directories for the reference alone: extensions built for it, where it lacks what Zakuro has.

use crate::{Args, find_program, find_zakuro, root};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A line of suites.txt: name | framework | include directories | features | patterns of test files.
struct Suite {
    name: String,
    framework: String,
    include: Vec<String>,
    features: Vec<String>,
    patterns: Vec<String>,
}

fn suites() -> Result<Vec<Suite>, String> {
    let path = root().join("tests/gems/suites.txt");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let words = |s: &str| s.split_whitespace().map(str::to_string).collect();
    text.lines()
        .filter(|l| !l.starts_with('#') && !l.trim().is_empty())
        .map(|l| {
            let f: Vec<&str> = l.split('|').map(str::trim).collect();
            let [name, framework, include, features, patterns] = f[..] else { return Err(format!("suites.txt: {l}")) };
            Ok(Suite {
                name: name.into(),
                framework: framework.into(),
                include: words(include),
                features: words(features),
                patterns: words(patterns),
            })
        })
        .collect()
}

/// What a suite's process does before its tests run: the files are found, then required in order.
const LOADER: &str = "files = ARGV.slice!(0..ARGV.index('--'))[0..-2].partition { |a| !a.start_with?('-') }\n\
    list = files[0].flat_map { |g| Dir.glob(g).sort } - files[1].flat_map { |g| Dir.glob(g[1..]) }\n\
    list.uniq.each { |f| require File.expand_path(f) }";

fn command(ruby: &Path, dir: &Path, s: &Suite, all: Option<&Suite>, path: &[PathBuf]) -> Command {
    let mut c = Command::new(ruby);
    let home = dir.join(&s.name);
    let stand_ins = root().join("tests/gems/stand_ins");
    for i in &s.include {
        c.arg("-I").arg(home.join(i));
    }
    let mut own = false;
    if s.framework == "rspec" {
        for part in ["core", "expectations", "mocks", "support"] {
            c.arg("-I").arg(dir.join(format!("rspec/rspec-{part}/lib")));
        }
        c.arg("-I").arg(dir.join("rspec/rspec/lib")).arg("-I").arg(dir.join("diff-lcs/lib"));
        own = true;
    }
    c.arg("-I").arg(stand_ins);
    // Programs that a suite starts find these too.
    let shared = all.iter().flat_map(|a| &a.include).map(|i| dir.join(i));
    let lib = std::env::join_paths(path.iter().cloned().chain(shared)).unwrap_or_default();
    c.env("RUBYLIB", lib);
    for f in all.iter().flat_map(|a| &a.features).chain(&s.features) {
        c.arg("-r").arg(f);
    }
    if own {
        c.arg(dir.join("rspec/rspec-core/exe/rspec")).args(["--options", "/dev/null", "--seed", "1", "--no-color"]);
        c.args(
            std::fs::read_to_string(home.join(".rspec"))
                .is_ok_and(|t| t.contains("spec_helper"))
                .then_some(["-r", "spec_helper"])
                .into_iter()
                .flatten(),
        );
        for p in &s.patterns {
            match p.strip_prefix('-') {
                Some(p) => c.arg("--exclude-pattern").arg(p),
                None => c.arg("--pattern").arg(p),
            };
        }
    } else {
        c.arg("-e").arg(LOADER).args(&s.patterns).arg("--");
        if s.framework == "minitest" {
            c.args(["--seed", "1"]);
        }
    }
    // Plugins of another minitest that is installed as a gem would load that one beside the suite's.
    c.current_dir(home).env("NO_COLOR", "1").env("MT_NO_PLUGINS", "1").stdin(Stdio::null());
    c
}

/// Seconds of processor time of the children that have been waited for.
fn children_time() -> f64 {
    // SAFETY: getrusage fills the struct.
    let usage = unsafe {
        let mut u: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut u);
        u
    };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Runs a suite: its last line of counts, and the processor time.
fn one(mut command: Command, s: &Suite, log: &Path, limit: Duration) -> Result<(String, f64), String> {
    let out = File::create(log).map_err(|e| format!("{}: {e}", log.display()))?;
    let err = out.try_clone().map_err(|e| e.to_string())?;
    let before = children_time();
    let mut child = command.stdout(out).stderr(err).spawn().map_err(|e| format!("{}: {e}", s.name))?;
    let start = std::time::Instant::now();
    loop {
        match child.try_wait().map_err(|e| e.to_string())? {
            Some(_) => break,
            None if start.elapsed() > limit => {
                let _ = child.kill();
                let _ = child.wait();
                return Ok(("over the limit".into(), limit.as_secs_f64()));
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    }
    let text = String::from_utf8_lossy(&std::fs::read(log).unwrap_or_default()).into_owned();
    let counts =
        |l: &&str| l.starts_with(|c: char| c.is_ascii_digit()) && [" runs, ", " tests, ", " examples, "].iter().any(|w| l.contains(w));
    let line = text.lines().rev().find(counts).unwrap_or("no counts: see the log");
    Ok((line.to_string(), children_time() - before))
}

pub fn run(args: &[String]) -> Result<bool, String> {
    let args = Args::parse(args, &["dir", "ruby", "zakuro", "limit", "logs", "profile", "path"], &[])?;
    let dir = args.get("dir").ok_or("gems needs --dir DIR, with a directory for each gem")?;
    let dir = PathBuf::from(dir).canonicalize().map_err(|e| format!("{dir}: {e}"))?;
    let zakuro = find_zakuro(&args, args.get("profile").unwrap_or("release"))?;
    let ruby = find_program(args.get("ruby"), "ruby")?;
    let logs = args.get("logs").map_or_else(|| dir.join("logs"), PathBuf::from);
    std::fs::create_dir_all(&logs).map_err(|e| format!("{}: {e}", logs.display()))?;
    let limit = Duration::from_secs(args.number("limit", 300)?);
    let path: Vec<PathBuf> = args.get("path").map_or_else(Vec::new, |p| p.split(':').map(PathBuf::from).collect());
    let (all, suites): (Vec<Suite>, Vec<Suite>) = suites()?.into_iter().partition(|s| s.name == "all");
    let all = all.first();
    // A suite that starts `ruby` means the one that runs it.
    let path_of = |side: &str, program: &Path| -> Result<std::ffi::OsString, String> {
        let bin = logs.join(format!("bin-{side}"));
        let at = |e: std::io::Error| format!("{}: {e}", bin.display());
        std::fs::create_dir_all(&bin).map_err(at)?;
        let link = bin.join("ruby");
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(program, &link).map_err(at)?;
        let old = std::env::var_os("PATH").unwrap_or_default();
        std::env::join_paths(std::iter::once(bin.clone()).chain(std::env::split_paths(&old))).map_err(|e| e.to_string())
    };
    let (ruby_path, zakuro_path) = (path_of("ruby", &ruby)?, path_of("zakuro", &zakuro)?);
    let mut clean = true;
    for s in suites {
        if !args.rest.is_empty() && !args.rest.contains(&s.name) || !dir.join(&s.name).is_dir() {
            continue;
        }
        let log = |side: &str| logs.join(format!("{}.{side}", s.name.replace('/', "-")));
        let (mut rc, mut zc) = (command(&ruby, &dir, &s, all, &path), command(&zakuro, &dir, &s, all, &[]));
        rc.env("PATH", &ruby_path);
        zc.env("PATH", &zakuro_path);
        let (r, r_time) = one(rc, &s, &log("ruby"), limit)?;
        let (z, z_time) = one(zc, &s, &log("zakuro"), limit)?;
        println!(
            "{:<20} ruby    {r_time:7.2} s  {r}\n{:<20} zakuro  {z_time:7.2} s  {z}   time {:.2}",
            s.name,
            "",
            z_time / r_time.max(0.001)
        );
        clean &= r == z;
    }
    Ok(clean)
}
