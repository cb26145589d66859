//! Child processes with a time limit: each runs in a process group of its own, the whole group is killed at the limit and
//! after the end, and `wait4` reports what it used.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

pub struct Spec {
    pub command: Command,
    pub stdin: Vec<u8>,
    pub limit: Duration,
}

pub struct Outcome {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// Exit status as a shell shows it: 128 + signal for a signal.
    pub status: i32,
    pub timed_out: bool,
    pub wall: Duration,
    /// User and system CPU time of the process and the children it waited for.
    pub cpu: Duration,
    /// Peak resident memory in KiB.
    pub max_rss: u64,
}

impl Spec {
    /// A program with an environment that can't colour its output.
    pub fn new(program: impl Into<PathBuf>) -> Spec {
        let mut command = Command::new(program.into());
        for name in ["RUBYOPT", "RUBYLIB", "GEM_HOME", "GEM_PATH", "BUNDLE_GEMFILE", "RUBY_GC_HEAP_GROWTH_FACTOR"] {
            command.env_remove(name);
        }
        command.env("LC_ALL", "C.UTF-8").env("LANG", "C.UTF-8").env("TZ", "UTC").env_remove("NO_COLOR").env("TERM", "dumb");
        Spec { command, stdin: Vec::new(), limit: Duration::from_secs(60) }
    }

    pub fn args<S: AsRef<std::ffi::OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Spec {
        self.command.args(args);
        self
    }

    pub fn dir(mut self, dir: impl AsRef<std::path::Path>) -> Spec {
        self.command.current_dir(dir);
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Spec {
        self.command.env(name, value);
        self
    }

    pub fn limit(mut self, limit: Duration) -> Spec {
        self.limit = limit;
        self
    }

    /// Binds the process to one CPU, so that both sides of a comparison run under the same condition.
    pub fn pin(mut self, cpu: usize) -> Spec {
        // SAFETY: between fork and exec only async-signal-safe calls on memory of our own.
        unsafe {
            self.command.pre_exec(move || {
                let mut set: libc::cpu_set_t = std::mem::zeroed();
                libc::CPU_SET(cpu, &mut set);
                libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
                Ok(())
            });
        }
        self
    }

    pub fn run(mut self) -> Result<Outcome, String> {
        let (mut out, out_write) = temporary()?;
        let (mut err, err_write) = temporary()?;
        let name = self.command.get_program().to_string_lossy().into_owned();
        self.command.stdin(if self.stdin.is_empty() { Stdio::null() } else { Stdio::piped() });
        self.command.stdout(out_write).stderr(err_write).process_group(0);
        let start = Instant::now();
        let mut child = self.command.spawn().map_err(|e| format!("{name}: {e}"))?;
        let pid = child.id() as libc::pid_t;
        if let Some(mut pipe) = child.stdin.take() {
            let data = std::mem::take(&mut self.stdin);
            std::thread::spawn(move || {
                // A child that doesn't read its input is no error of ours.
                let _ = pipe.write_all(&data);
            });
        }
        let (ended, at_end) = mpsc::channel::<()>();
        let limit = self.limit;
        let watchdog = std::thread::spawn(move || {
            let late = at_end.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout);
            if late {
                // SAFETY: the group's leader isn't reaped before this thread is joined, so the id is still its own.
                unsafe { libc::kill(-pid, libc::SIGKILL) };
            }
            late
        });
        // SAFETY: plain system calls on our own child; WNOWAIT keeps its id reserved until wait4 below.
        let (wall, timed_out, status, usage) = unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            while libc::waitid(libc::P_PID, pid as libc::id_t, &mut info, libc::WEXITED | libc::WNOWAIT) < 0 {}
            let wall = start.elapsed();
            drop(ended);
            let timed_out = watchdog.join().unwrap_or(false);
            libc::kill(-pid, libc::SIGKILL);
            let mut status = 0;
            let mut usage: libc::rusage = std::mem::zeroed();
            while libc::wait4(pid, &mut status, 0, &mut usage) < 0 {}
            (wall, timed_out, status, usage)
        };
        let code = if libc::WIFSIGNALED(status) { 128 + libc::WTERMSIG(status) } else { libc::WEXITSTATUS(status) };
        let micros = |t: libc::timeval| t.tv_sec as u64 * 1_000_000 + t.tv_usec as u64;
        Ok(Outcome {
            stdout: read_back(&mut out)?,
            stderr: read_back(&mut err)?,
            status: code,
            timed_out,
            wall,
            cpu: Duration::from_micros(micros(usage.ru_utime) + micros(usage.ru_stime)),
            max_rss: usage.ru_maxrss as u64,
        })
    }
}

/// An unnamed file and a second handle of it. A file, not a pipe: a grandchild that keeps it open can't keep us waiting.
fn temporary() -> Result<(File, File), String> {
    use std::sync::atomic::{AtomicU64, Ordering};
    // Numbers the files of this process; only uniqueness matters.
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let path = std::env::temp_dir().join(format!("xtask-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed)));
    let open = || -> std::io::Result<(File, File)> {
        let file = File::options().read(true).append(true).create_new(true).open(&path)?;
        std::fs::remove_file(&path)?;
        let second = file.try_clone()?;
        Ok((file, second))
    };
    open().map_err(|e| format!("temporary file: {e}"))
}

fn read_back(file: &mut File) -> Result<Vec<u8>, String> {
    use std::io::{Seek, SeekFrom};
    let mut data = Vec::new();
    file.seek(SeekFrom::Start(0)).map_err(|e| e.to_string())?;
    file.read_to_end(&mut data).map_err(|e| e.to_string())?;
    Ok(data)
}
