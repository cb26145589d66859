//! The system calls that may wait: everything that reads from or writes to a pipe, socket or terminal goes through here.

use std::os::fd::RawFd;
use zakuro_sched::blocking;
use zakuro_vm::*;

fn poll_one(fd: RawFd, events: i16, timeout_ms: i32) -> i32 {
    let mut p = libc::pollfd { fd, events, revents: 0 };
    // SAFETY: one valid pollfd.
    unsafe { libc::poll(&mut p, 1, timeout_ms) }
}

fn wait(cx: &mut Cx, fd: RawFd, events: i16) -> Result<()> {
    if poll_one(fd, events, 0) > 0 {
        return Ok(());
    }
    loop {
        // A signal or a request to this VM must be seen while it waits.
        let r = blocking(|| poll_one(fd, events, 100));
        if r > 0 {
            return Ok(());
        }
        if r < 0 {
            let e = super::errors::last_errno();
            if e != libc::EINTR {
                return super::fail(cx, e, "");
            }
        }
        cx.safepoint()?;
    }
}

/// Waits until reading from `fd` would not block.
pub fn wait_readable(cx: &mut Cx, fd: RawFd) -> Result<()> {
    wait(cx, fd, libc::POLLIN)
}

/// Waits until writing to `fd` would not block.
pub fn wait_writable(cx: &mut Cx, fd: RawFd) -> Result<()> {
    wait(cx, fd, libc::POLLOUT)
}

/// Waits with a time limit; false when it passed.
pub fn wait_timeout(cx: &mut Cx, fd: RawFd, events: i16, seconds: Option<f64>) -> Result<i16> {
    let end = seconds.map(|s| std::time::Instant::now() + std::time::Duration::from_secs_f64(s.clamp(0.0, 1e9)));
    loop {
        let left = match end {
            Some(e) => (e.saturating_duration_since(std::time::Instant::now()).as_secs_f64() * 1000.0).ceil() as i32,
            None => 100,
        };
        let mut p = libc::pollfd { fd, events, revents: 0 };
        // SAFETY: one valid pollfd.
        let r = blocking(|| unsafe { libc::poll(&mut p, 1, left.min(100)) });
        if r > 0 {
            return Ok(p.revents);
        }
        if r < 0 && super::errors::last_errno() != libc::EINTR {
            return super::fail_os(cx, "");
        }
        if end.is_some_and(|e| std::time::Instant::now() >= e) {
            return Ok(0);
        }
        cx.safepoint()?;
    }
}

/// read(2), waiting first when the descriptor is no regular file. Err: errno.
pub fn blocking_read(cx: &mut Cx, fd: RawFd, regular: bool, buf: &mut [u8]) -> Result<std::result::Result<usize, i32>> {
    loop {
        if !regular {
            wait_readable(cx, fd)?;
        }
        // SAFETY: buf is writable for its length.
        let n = unsafe { libc::read(fd, buf.as_mut_ptr().cast(), buf.len()) };
        if n >= 0 {
            return Ok(Ok(n as usize));
        }
        match super::errors::last_errno() {
            libc::EINTR => cx.safepoint()?,
            libc::EAGAIN if !regular => cx.safepoint()?,
            e => return Ok(Err(e)),
        }
    }
}

/// write(2) of everything, one system call as far as the system takes it. Err: errno.
pub fn blocking_write(cx: &mut Cx, fd: RawFd, regular: bool, mut bytes: &[u8]) -> Result<std::result::Result<(), i32>> {
    while !bytes.is_empty() {
        // SAFETY: bytes is readable for its length.
        let call = || unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
        let n = if regular {
            call()
        } else {
            wait_writable(cx, fd)?;
            // Small writes fit what poll promised; large ones may block.
            if bytes.len() <= 4096 { call() } else { blocking(call) }
        };
        if n >= 0 {
            bytes = &bytes[n as usize..];
            continue;
        }
        match super::errors::last_errno() {
            libc::EINTR | libc::EAGAIN => cx.safepoint()?,
            e => return Ok(Err(e)),
        }
    }
    Ok(Ok(()))
}
