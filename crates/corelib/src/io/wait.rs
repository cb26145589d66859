//! The system calls that may wait: everything that reads from or writes to a pipe, socket or terminal goes through here.

//!
//! A Ruby thread that waits parks: its VM's other threads and all other VMs go on. Descriptors stay in blocking mode (they may be shared with
//! other processes), so a call is only made when poll(2) promised that it does not wait.

use super::errors::last_errno;
use std::os::fd::RawFd;
use std::time::{Duration, Instant};
use zakuro_sched::blocking;
use zakuro_vm::*;

fn poll(fds: &mut [libc::pollfd], timeout_ms: i32) -> i32 {
    // SAFETY: a valid array of its length.
    unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, timeout_ms) }
}

/// Waits until one of the descriptors is ready (`revents` says which) or the seconds are over: false.
pub fn wait_any(cx: &mut Cx, fds: &mut [libc::pollfd], seconds: Option<f64>) -> Result<bool> {
    if poll(fds, 0) > 0 {
        return Ok(true);
    }
    let deadline = seconds.map(|s| Instant::now() + Duration::try_from_secs_f64(s.clamp(0.0, 1e9)).unwrap_or_default());
    if cx.host.is_none() {
        return wait_natively(cx, fds, deadline);
    }
    let host = cx.host_handle()?;
    let mut watches = Vec::new();
    let result = cx.wait_until(deadline, |cx| {
        for w in watches.drain(..) {
            host.scheduler.unwatch(w);
        }
        // First the watches, then the look: what becomes ready in between wakes the task.
        for i in 0..fds.len() {
            let f = fds[i];
            let (r, w) = (f.events & (libc::POLLIN | libc::POLLPRI) != 0, f.events & libc::POLLOUT != 0);
            match host.scheduler.watch(f.fd, r, w, &host.task) {
                Ok(w) => watches.push(w),
                // Closed meanwhile: poll says so, and the caller looks at its stream again.
                Err(_) if poll(fds, 0) > 0 => return Ok(Some(())),
                Err(e) => return super::fail(cx, e.raw_os_error().unwrap_or(libc::EBADF), ""),
            }
        }
        match poll(fds, 0) {
            0 => Ok(None),
            n if n > 0 => Ok(Some(())),
            _ if last_errno() == libc::EINTR => Ok(None),
            _ => super::fail_os(cx, ""),
        }
    });
    for w in watches {
        host.scheduler.unwatch(w);
    }
    Ok(result?.is_some())
}

/// The same for a VM without a scheduler.
fn wait_natively(cx: &mut Cx, fds: &mut [libc::pollfd], deadline: Option<Instant>) -> Result<bool> {
    loop {
        let left = deadline.map_or(100, |d| d.saturating_duration_since(Instant::now()).as_millis().min(100) as i32);
        let n = blocking(|| poll(fds, left));
        if n > 0 {
            return Ok(true);
        }
        if n < 0 && last_errno() != libc::EINTR {
            return super::fail_os(cx, "");
        }
        if deadline.is_some_and(|d| Instant::now() >= d) {
            return Ok(false);
        }
        cx.safepoint()?;
    }
}

/// Waits for events on one descriptor; the events that came, 0 when the seconds are over.
pub fn wait_timeout(cx: &mut Cx, fd: RawFd, events: i16, seconds: Option<f64>) -> Result<i16> {
    let mut p = [libc::pollfd { fd, events, revents: 0 }];
    Ok(if wait_any(cx, &mut p, seconds)? { p[0].revents } else { 0 })
}

/// Waits until reading from `fd` would not block.
pub fn wait_readable(cx: &mut Cx, fd: RawFd) -> Result<()> {
    wait_timeout(cx, fd, libc::POLLIN, None)?;
    Ok(())
}

/// Waits until writing to `fd` would not block.
pub fn wait_writable(cx: &mut Cx, fd: RawFd) -> Result<()> {
    wait_timeout(cx, fd, libc::POLLOUT, None)?;
    Ok(())
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
        match last_errno() {
            libc::EINTR => cx.safepoint()?,
            libc::EAGAIN if !regular => cx.safepoint()?,
            e => return Ok(Err(e)),
        }
    }
}

/// What a pipe, socket or terminal takes now, without waiting. Err: errno.
fn write_some(fd: RawFd, bytes: &[u8]) -> std::result::Result<usize, i32> {
    let iov = libc::iovec { iov_base: bytes.as_ptr() as *mut _, iov_len: bytes.len() };
    // SAFETY: bytes is readable for its length.
    unsafe {
        let n = libc::pwritev2(fd, &iov, 1, -1, libc::RWF_NOWAIT);
        if n >= 0 {
            return Ok(n as usize);
        }
        let e = last_errno();
        if !matches!(e, libc::EOPNOTSUPP | libc::EINVAL | libc::ENOSYS | libc::ESPIPE) {
            return Err(e);
        }
        // A pipe that is ready takes PIPE_BUF bytes at once.
        let n = libc::write(fd, bytes.as_ptr().cast(), bytes.len().min(libc::PIPE_BUF));
        if n >= 0 { Ok(n as usize) } else { Err(last_errno()) }
    }
}

/// write(2) of everything, one system call as far as the system takes it. Err: errno.
pub fn blocking_write(cx: &mut Cx, fd: RawFd, regular: bool, mut bytes: &[u8]) -> Result<std::result::Result<(), i32>> {
    while !bytes.is_empty() {
        let r = if regular {
            // SAFETY: bytes is readable for its length.
            let n = unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
            if n >= 0 { Ok(n as usize) } else { Err(last_errno()) }
        } else {
            wait_writable(cx, fd)?;
            write_some(fd, bytes)
        };
        match r {
            Ok(n) => bytes = &bytes[n..],
            Err(libc::EINTR) => cx.safepoint()?,
            Err(libc::EAGAIN) if !regular => cx.safepoint()?,
            Err(e) => return Ok(Err(e)),
        }
    }
    Ok(Ok(()))
}
