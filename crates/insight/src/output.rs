//! What the process writes at its end.

use crate::causes::causes;
use crate::picture::Picture;
use crate::{json, profile, report, timeline};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::time::Duration;
use zakuro_base::Insight;
use zakuro_sched::Scheduler;
use zakuro_vm::account::Book;

/// Between two samples of a profile.
const EVERY: Duration = Duration::from_millis(1);

/// What the options ask for is written here at the end.
#[derive(Default)]
pub struct Outputs(Vec<Output>);

struct Output {
    name: String,
    /// None: a regular file, which is opened again by its name. Others stay open: whoever reads a pipe would take a close for its end.
    open: Option<File>,
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
pub fn open(options: &Insight) -> Result<Outputs, String> {
    if let Some(name) = options.profile.iter().find(|name| !PROFILES.contains(&end_of(name))) {
        return Err(format!("--profile={name}: a file that ends in .{} is needed", PROFILES.join(", .")));
    }
    // A program whose name stands where that of a file should would be overwritten, and not run.
    let all = [&options.report, &options.trace, &options.profile].into_iter().flatten();
    if let Some(name) = all.clone().find(|name| end_of(name) == "rb" || is_script(name)) {
        return Err(format!("{name} is a Ruby program, which would be overwritten: another name is needed for the file"));
    }
    let mut made: Vec<Output> = Vec::new();
    for name in all {
        if name.is_empty() {
            made.push(Output { name: String::new(), open: None });
            continue;
        }
        if made.iter().any(|o| o.name == *name) {
            return Err(format!("{name} is to hold two things: give each a file of its own"));
        }
        let open = one(name).map_err(|e| format!("can't write {name}: {e}"))?;
        made.push(Output { name: name.clone(), open });
    }
    Ok(Outputs(made))
}

/// Makes a file. Of a FIFO this waits for who reads it, as a shell's `>` does.
fn one(name: &str) -> std::io::Result<Option<File>> {
    if let Some(fd) = descriptor(name) {
        return duplicate(fd).map(Some);
    }
    let file = File::create(name)?;
    Ok(if file.metadata()?.is_file() { None } else { Some(file) })
}

/// The descriptor that a name stands for. Opened anew, a file behind it would lose what was written there before.
fn descriptor(name: &str) -> Option<RawFd> {
    match name {
        "/dev/stdin" => Some(0),
        "/dev/stdout" => Some(1),
        "/dev/stderr" => Some(2),
        _ => name.strip_prefix("/dev/fd/").or_else(|| name.strip_prefix("/proc/self/fd/"))?.parse().ok(),
    }
}

/// The same open file under a number of our own: the program may close the other.
fn duplicate(fd: RawFd) -> std::io::Result<File> {
    // SAFETY: asks about a number.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
    if flags >= 0 && flags & libc::O_ACCMODE == libc::O_RDONLY {
        return Err(std::io::Error::from_raw_os_error(libc::EBADF));
    }
    // SAFETY: a number; the result is checked.
    let own = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3) };
    if own < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: just made, and nobody else has it.
    Ok(unsafe { File::from_raw_fd(own) })
}

/// Whether a file names the interpreter that it is for. Only regular files are looked into: of others, what was read would be gone, or there is nothing to read.
fn is_script(name: &str) -> bool {
    let mut begin = [0; 2];
    descriptor(name).is_none()
        && std::fs::metadata(name).is_ok_and(|m| m.is_file())
        && File::open(name).is_ok_and(|mut file| file.read_exact(&mut begin).is_ok())
        && begin == *b"#!"
}

/// All of it, also into what does not block (a pipe that whoever gave it to us reads from an event loop).
fn write_whole(to: &mut (impl Write + AsRawFd), mut content: &[u8]) -> std::io::Result<()> {
    while !content.is_empty() {
        match to.write(content) {
            Ok(0) => return Err(std::io::ErrorKind::WriteZero.into()),
            Ok(n) => content = &content[n..],
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {
                let mut wait = libc::pollfd { fd: to.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
                // SAFETY: one entry, for the time of the call.
                unsafe { libc::poll(&mut wait, 1, -1) };
            }
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

fn end_of(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, end)| end)
}

/// Ends of names that a profile can be written to.
const PROFILES: &[&str] = &["json", "svg", "html", "txt", "folded"];

impl Outputs {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// Whether a descriptor is one that is kept for the end.
    pub fn have(&self, fd: RawFd) -> bool {
        self.0.iter().any(|o| o.open.as_ref().is_some_and(|file| file.as_raw_fd() == fd))
    }
    /// Writes what the options ask for; returns what could not be written.
    pub fn write(mut self, options: &Insight, book: &Book, scheduler: &Scheduler) -> Vec<String> {
        let mut failed = Vec::new();
        let mut files: Vec<(&str, Vec<u8>)> = Vec::new();
        if !options.report.is_empty() {
            let p = Picture::take(book, scheduler, true, &mut |_| true);
            let causes = causes(&p);
            for name in &options.report {
                if name.is_empty() {
                    let text = format!("\nzakuro report\n{}", report::text(&p, &causes));
                    if let Err(e) = write_whole(&mut std::io::stderr(), text.as_bytes()) {
                        failed.push(format!("can't write the report to standard error: {e}"));
                    }
                } else {
                    let content = if name.ends_with(".json") { json::text(&p, &causes) } else { report::text(&p, &causes) };
                    files.push((name, content.into_bytes()));
                }
            }
        }
        for name in &options.trace {
            files.push((name, timeline::text(book, 0).into_bytes()));
        }
        for name in &options.profile {
            files.push((name, profile::text(book, end_of(name)).into_bytes()));
        }
        for (name, content) in files {
            let open = self.0.iter_mut().find(|o| o.name == name).and_then(|o| o.open.take());
            let written = match open {
                Some(mut file) => write_whole(&mut file, &content),
                None => std::fs::write(name, &content),
            };
            if let Err(e) = written {
                failed.push(format!("can't write {name} to its end: {e}"));
            }
        }
        failed
    }
}
