//! What a process tells while it runs: a page for a browser on the same machine (`--dashboard`), and `zakuro top` in a terminal.
//!
//! One native thread serves both and takes no worker: it reads what VMs count, as reports do. A page is told nothing without the token of its address, and asks again each second; what
//! it gets is made anew at most five times a second, whoever asks how often. `zakuro top` comes through a socket in a folder that is the user's alone.
//!
//! Nothing changes VMs, but for ending one, where the process was started with that right (`--dashboard-kill`).
//!
//! Map: `http` (requests, answers, what they may be), `server` (the thread, its connections and their limits), `snapshot` (what is told), `place` (the socket), `top` (the terminal).

mod http;
mod place;
mod server;
mod snapshot;
#[cfg(feature = "top")]
pub mod top;

use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use zakuro_base::Insight;
use zakuro_sched::Scheduler;
use zakuro_vm::account::Book;

/// Ends a VM by its number; whether it was there, and none that may not be ended so.
pub type Kill = Arc<dyn Fn(u64) -> bool + Send + Sync>;

/// What is looked at.
pub(crate) struct Source {
    pub book: Arc<Book>,
    pub scheduler: Scheduler,
    /// None: the process was started without that right.
    pub kill: Option<Kill>,
}

/// The server lives as long as the process; at its end the socket's name goes.
pub struct Live {
    socket: Option<std::path::PathBuf>,
    /// Whose it is: not that of a child by fork(2).
    pid: u32,
    listeners: Vec<RawFd>,
}

impl Live {
    /// Whether a descriptor is one that those who ask connect to.
    pub fn listens_at(&self, fd: RawFd) -> bool {
        self.listeners.contains(&fd)
    }
    /// In a child by fork(2), which has no thread that serves: who connects must not wait for it, and the port is the parent's alone. The numbers stay taken.
    pub fn leave(&self) {
        // SAFETY: descriptors of the server, which does not run here.
        unsafe {
            let nothing = libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
            for fd in &self.listeners {
                if nothing < 0 || libc::dup3(nothing, *fd, libc::O_CLOEXEC) < 0 {
                    libc::close(*fd);
                }
            }
            if nothing >= 0 {
                libc::close(nothing);
            }
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if let Some(path) = &self.socket
            && self.pid == std::process::id()
        {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Begins to serve what the options ask for, if anything. The address of the page is written to standard error.
///
/// # Errors
/// What is to be said on standard error: the port is taken, no folder for the socket.
pub fn serve(options: &Insight, book: &Arc<Book>, scheduler: &Scheduler, kill: Kill) -> Result<Option<Live>, String> {
    if options.dashboard.is_none() && !options.top {
        return Ok(None);
    }
    let token = http::token()?;
    let page = match options.dashboard {
        Some(port) => Some(server::listen(port).map_err(|e| format!("--dashboard: 127.0.0.1:{port}: {e}"))?),
        None => None,
    };
    // Who only wants the page gets it where there is no place for a socket, too.
    let socket = match place::listen() {
        Ok(s) => Some(s),
        Err(e) if options.top => return Err(format!("--top: {e}")),
        Err(_) => None,
    };
    let (socket, path) = socket.unzip();
    let port = page.as_ref().and_then(|l| l.local_addr().ok()).map_or(0, |a| a.port());
    if page.is_some() {
        eprintln!("zakuro: dashboard at http://127.0.0.1:{port}/?token={token}");
    }
    let listeners = page.iter().map(AsRawFd::as_raw_fd).chain(socket.iter().map(AsRawFd::as_raw_fd)).collect();
    let source = Source { book: book.clone(), scheduler: scheduler.clone(), kill: options.dashboard_kill.then_some(kill) };
    let server = server::Server::new(source, page, socket, http::Access { port, token });
    zakuro_base::memory::admits_thread(256 << 10)
        .and_then(|()| std::thread::Builder::new().name("zakuro-live".into()).stack_size(256 << 10).spawn(move || server.run()).map(drop))
        .map_err(|e| format!("--dashboard: {e}"))?;
    Ok(Some(Live { socket: path, pid: std::process::id(), listeners }))
}
