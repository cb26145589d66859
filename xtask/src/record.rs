//! Recorded outputs: NAME.rb has NAME.out beside it, whose first line says where it comes from:
//! `# recorded with ruby 3.1.2` or `# hand: REASON`, optionally followed by `; status N` for a non-zero exit status.
//! A file that was written by hand is never overwritten.

use crate::process::Spec;
use crate::{Args, cpus, find_program, in_parallel, root};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a test is expected to print and return.
pub struct Expected {
    pub stdout: Vec<u8>,
    pub status: i32,
    pub by_hand: bool,
}

pub fn expected_path(program: &Path) -> PathBuf {
    program.with_extension("out")
}

pub fn read_expected(program: &Path) -> Result<Expected, String> {
    let path = expected_path(program);
    let data = std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let split = data.iter().position(|&b| b == b'\n').ok_or_else(|| format!("{}: no first line", path.display()))?;
    let head = String::from_utf8_lossy(&data[..split]).into_owned();
    let by_hand = head.starts_with("# hand: ");
    if !by_hand && !head.starts_with("# recorded with ruby ") {
        return Err(format!("{}: the first line must say `# recorded with ruby X` or `# hand: reason`", path.display()));
    }
    let status = match head.rsplit_once("; status ") {
        Some((_, n)) => n.trim().parse().map_err(|_| format!("{}: bad status", path.display()))?,
        None => 0,
    };
    Ok(Expected { stdout: data[split + 1..].to_vec(), status, by_hand })
}

/// The command that runs a recorded test: in its own directory, by its bare name, so that no path of the machine shows.
pub fn command(ruby: &Path, program: &Path) -> Spec {
    let dir = program.parent().unwrap_or(Path::new("."));
    // Ruby 4.0 adds suggestions and excerpts to what is shown, not to `message`: leave them out of 3.x too.
    Spec::new(ruby)
        .dir(dir)
        .args(["-W0", "--disable=gems", "--disable=did_you_mean", "--disable=error_highlight"])
        .args(program.file_name())
}

/// The `.rb` files right in a directory, sorted.
pub fn programs_in(dir: &Path) -> Vec<PathBuf> {
    let mut list: Vec<PathBuf> = std::fs::read_dir(dir)
        .map(|entries| entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "rb")).collect())
        .unwrap_or_default();
    list.sort();
    list
}

pub fn run(args: &[String]) -> Result<bool, String> {
    let args = Args::parse(args, &["ruby", "limit"], &[])?;
    let ruby = find_program(args.get("ruby"), "ruby")?;
    let version = Spec::new(&ruby).args(["-e", "print RUBY_VERSION"]).run()?;
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let limit = Duration::from_secs(args.number("limit", 60)?);
    let mut programs = Vec::new();
    let places: Vec<PathBuf> = if args.rest.is_empty() {
        ["tests/lang", "tests/core", "tests/gc", "tests/apps"].iter().map(|d| root().join(d)).collect()
    } else {
        args.rest.iter().map(PathBuf::from).collect()
    };
    for place in places {
        if place.is_dir() { programs.extend(programs_in(&place)) } else { programs.push(place) }
    }
    let notes = in_parallel(&programs, cpus(), |program| -> Result<Option<String>, String> {
        let path = expected_path(program);
        let old = std::fs::read(&path).unwrap_or_default();
        if old.starts_with(b"# hand: ") {
            return Ok(None);
        }
        let program = std::path::absolute(program).map_err(|e| e.to_string())?;
        let outcome = command(&ruby, &program).limit(limit).run()?;
        let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if outcome.timed_out {
            return Err(format!("{name}: no end after {limit:?}"));
        }
        let mut note = None;
        if outcome.status != 0 || !outcome.stderr.is_empty() {
            let said = String::from_utf8_lossy(&outcome.stderr);
            note = Some(format!("{name}: status {}: {}", outcome.status, said.lines().next().unwrap_or("")));
        }
        let mut text = format!("# recorded with ruby {version}");
        if outcome.status != 0 {
            text.push_str(&format!("; status {}", outcome.status));
        }
        text.push('\n');
        let mut data = text.into_bytes();
        data.extend(&outcome.stdout);
        if data != old {
            std::fs::write(&path, data).map_err(|e| format!("{}: {e}", path.display()))?;
        }
        Ok(note)
    });
    let mut good = true;
    for note in notes {
        match note {
            Ok(None) => {}
            Ok(Some(note)) => println!("look at {note}"),
            Err(e) => {
                good = false;
                println!("FAILED {e}");
            }
        }
    }
    println!("{} programs recorded with ruby {version}", programs.len());
    Ok(good)
}
