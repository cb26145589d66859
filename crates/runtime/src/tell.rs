//! What the process itself says on standard error: how a VM ended.
//!
//! It is said on the worker that ran the VM, which others wait for: a reader who does not read must not stop it. So a pipe gets what it takes
//! at once; the rest is written by a native thread of its own. Nobody to read at all (closed, broken pipe) is no error.
//! Rejected: `eprint!` (one lock for all workers, held while the pipe is full; panics when the pipe is broken; test harnesses keep what it prints).

use std::io::{Error, ErrorKind};

const FD: i32 = libc::STDERR_FILENO;

/// Writes `text` to standard error without waiting.
pub fn tell(text: impl Into<Vec<u8>>) {
    let mut text = text.into();
    let said = say(&text, true);
    if said == text.len() {
        return;
    }
    text.drain(..said);
    // The process may end before it is all read; so may any writer to that pipe.
    let _ = std::thread::Builder::new().name("stderr".into()).spawn(move || say(&text, false));
}

/// Number of bytes that need no further attempt: written, or in vain. With `now` it stops where writing would wait.
fn say(text: &[u8], now: bool) -> usize {
    let mut done = 0;
    while done < text.len() {
        let mut fd = libc::pollfd { fd: FD, events: libc::POLLOUT, revents: 0 };
        // SAFETY: one pollfd on the stack.
        if now && unsafe { libc::poll(&mut fd, 1, 0) } == 0 {
            return done;
        }
        // What is ready takes PIPE_BUF bytes at once.
        let part = &text[done..text.len().min(done + libc::PIPE_BUF)];
        // SAFETY: `part` is readable for its length.
        let n = unsafe { libc::write(FD, part.as_ptr().cast(), part.len()) };
        match n {
            1.. => done += n as usize,
            _ if Error::last_os_error().kind() == ErrorKind::Interrupted => {}
            _ => return text.len(),
        }
    }
    done
}
