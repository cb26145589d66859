//! What the process writes at its end.

use crate::causes::causes;
use crate::picture::Picture;
use crate::{json, profile, report, timeline};
use std::io::{Read, Write};
use std::time::Duration;
use zakuro_base::Insight;
use zakuro_sched::Scheduler;
use zakuro_vm::account::Book;

/// Between two samples of a profile.
const EVERY: Duration = Duration::from_millis(1);

/// A file that was asked for.
pub struct Output {
    pub name: String,
    pub content: Vec<u8>,
}

/// Begins what the options ask for.
pub fn start(options: &Insight, scheduler: &Scheduler) {
    if !options.profile.is_empty() && !options.allocations {
        scheduler.profile(EVERY);
    }
}

/// Whether the files can be written, before a program has run for hours. Makes them.
///
/// # Errors
/// What is to be said on standard error.
pub fn check(options: &Insight) -> Result<(), String> {
    if let Some(name) = options.profile.iter().find(|name| !PROFILES.contains(&end_of(name))) {
        return Err(format!("--profile={name}: a file that ends in .{} is needed", PROFILES.join(", .")));
    }
    // A program whose name stands where that of a file should would be overwritten, and not run.
    let all = [&options.report, &options.trace, &options.profile].into_iter().flatten();
    if let Some(name) = all.clone().find(|name| end_of(name) == "rb" || is_script(name)) {
        return Err(format!("{name} is a Ruby program, which would be overwritten: another name is needed for the file"));
    }
    let mut names: Vec<&String> = Vec::new();
    for name in all.filter(|name| !name.is_empty()) {
        if names.contains(&name) {
            return Err(format!("{name} is to hold two things: give each a file of its own"));
        }
        std::fs::File::create(name).map_err(|e| format!("can't write {name}: {e}"))?;
        names.push(name);
    }
    Ok(())
}

/// Whether a file names the interpreter that it is for.
fn is_script(name: &str) -> bool {
    let mut begin = [0; 2];
    std::fs::File::open(name).is_ok_and(|mut file| file.read_exact(&mut begin).is_ok()) && begin == *b"#!"
}

fn end_of(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, end)| end)
}

/// Ends of names that a profile can be written to.
const PROFILES: &[&str] = &["json", "svg", "html", "txt", "folded"];

/// Writes what the options ask for; returns what could not be written.
pub fn finish(options: &Insight, book: &Book, scheduler: &Scheduler) -> Vec<String> {
    let mut files = Vec::new();
    let mut failed = Vec::new();
    if !options.report.is_empty() {
        let p = Picture::take(book, scheduler, true, &mut |_| true);
        let causes = causes(&p);
        for name in &options.report {
            if name.is_empty() {
                let text = format!("\nzakuro report\n{}", report::text(&p, &causes));
                if let Err(e) = std::io::stderr().write_all(text.as_bytes()) {
                    failed.push(format!("can't write the report to standard error: {e}"));
                }
            } else {
                let content = if name.ends_with(".json") { json::text(&p, &causes) } else { report::text(&p, &causes) };
                files.push(Output { name: name.clone(), content: content.into_bytes() });
            }
        }
    }
    for name in &options.trace {
        files.push(Output { name: name.clone(), content: timeline::text(book, 0).into_bytes() });
    }
    for name in &options.profile {
        let content = profile::text(book, end_of(name));
        files.push(Output { name: name.clone(), content: content.into_bytes() });
    }
    for file in files {
        if let Err(e) = std::fs::write(&file.name, &file.content) {
            failed.push(format!("can't write {} to its end: {e}", file.name));
        }
    }
    failed
}
