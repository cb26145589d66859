//! The system calls that may wait: everything that reads from or writes to a pipe, socket or terminal goes through here.
//!
//! A Ruby thread that waits parks: its VM's other threads and all other VMs go on. Descriptors stay in blocking mode (they may be shared with
//! other processes), so a call is only made when poll(2) promised that it does not wait. Sockets have calls that never wait: those are tried first, and a
//! socket for which that was in vain is registered with the reactor until it is closed ([`on_socket`]).
//!
//! Each system call gets the number that the stream has at that moment. Who waits holds the stream's lease beside the number: a descriptor that another thread closes meanwhile
//! is not another stream's before the wait is over, which is at once.

use super::errors::{io_error, last_errno};
use super::lease::Leased;
use super::object::{self, Side};
use crate::fiber_scheduler as scheduler;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};
use zakuro_sched::{READABLE, Source, Ticket, URGENT, WRITABLE, blocking};
use zakuro_vm::thread::Wait;
use zakuro_vm::*;

fn poll(fds: &mut [libc::pollfd], timeout_ms: i32) -> i32 {
    // SAFETY: a valid array of its length.
    unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, timeout_ms) }
}

/// IOError when one of the streams was closed that are waited at.
fn check_open(cx: &mut Cx, leases: &[Leased]) -> Result<()> {
    if leases.iter().any(Leased::is_over) { io_error(cx, "stream closed in another thread") } else { Ok(()) }
}

/// Waits until one of the descriptors is ready (`revents` says which) or the seconds are over: false. `leases`: of the streams whose descriptors they are; IOError when one of
/// them is closed meanwhile.
pub fn wait_any(cx: &mut Cx, fds: &mut [libc::pollfd], leases: &[Leased], seconds: Option<f64>) -> Result<bool> {
    wait_until(cx, fds, leases, seconds, Look::First)
}

/// The same for `IO.select`, which tells what was ready for a moment, too. Of several processes that wait at a listening socket one gets the connection; the others are told
/// of it all the same, as by the system call, and their time begins anew.
pub fn select_any(cx: &mut Cx, fds: &mut [libc::pollfd], leases: &[Leased], seconds: Option<f64>) -> Result<bool> {
    wait_until(cx, fds, leases, seconds, Look::Moments)
}

/// How a wait begins and what ends it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Whether there is something is asked first.
    First,
    /// The same; what was ready for a moment counts.
    Moments,
    /// A call has just said that there is nothing.
    Nothing,
}

fn wait_until(cx: &mut Cx, fds: &mut [libc::pollfd], leases: &[Leased], seconds: Option<f64>, look: Look) -> Result<bool> {
    if look != Look::Nothing && poll(fds, 0) > 0 {
        return Ok(true);
    }
    let moments = look == Look::Moments;
    let deadline = seconds.map(|s| Instant::now() + Duration::try_from_secs_f64(s.clamp(0.0, 1e9)).unwrap_or_default());
    if cx.host.is_none() {
        return wait_natively(cx, fds, leases, deadline);
    }
    let host = cx.host_handle()?;
    let mut watches = Vec::new();
    let result = cx.wait_as(Wait::Watch, deadline, |cx| {
        // One for each descriptor, in their order.
        let fired: Vec<bool> = watches.drain(..).map(|w| !host.scheduler.unwatch(w)).collect();
        check_open(cx, leases)?;
        if moments && fired.contains(&true) {
            poll(fds, 0);
            for (f, fired) in fds.iter_mut().zip(fired) {
                f.revents |= if fired { f.events & !libc::POLLPRI } else { 0 };
            }
            if fds.iter().any(|f| f.revents != 0) {
                return Ok(Some(()));
            }
        }
        let waiter = cx.waiter()?;
        // First the watches, then the look: what becomes ready in between wakes the task.
        for i in 0..fds.len() {
            let f = fds[i];
            let (r, w) = (f.events & (libc::POLLIN | libc::POLLPRI) != 0, f.events & libc::POLLOUT != 0);
            match host.scheduler.watch(f.fd, r, w, waiter.clone()) {
                Ok(w) => watches.push(w),
                // A number that is no stream's: poll says so.
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

/// The same for one stream, by the fiber's scheduler if it has one; the events that came, 0 when the time is over. IOError when it is closed meanwhile.
pub fn wait_stream(cx: &mut Cx, v: Value, side: Side, events: i16, seconds: Option<f64>) -> Result<i16> {
    wait_at(cx, v, side, events, seconds, Look::First)
}

/// The same after a call said that it would have to wait.
pub fn wait_stream_on(cx: &mut Cx, v: Value, side: Side, events: i16, seconds: Option<f64>) -> Result<i16> {
    wait_at(cx, v, side, events, seconds, Look::Nothing)
}

fn wait_at(cx: &mut Cx, v: Value, side: Side, events: i16, seconds: Option<f64>, look: Look) -> Result<i16> {
    let leases = [object::lease(cx, v, side)?];
    let mut p = [libc::pollfd { fd: leases[0].fd, events, revents: 0 }];
    if cx.fiber_scheduler().is_nil() {
        return Ok(if wait_until(cx, &mut p, &leases, seconds, look)? { p[0].revents } else { 0 });
    }
    let deadline = seconds.map(|s| Instant::now() + Duration::try_from_secs_f64(s.clamp(0.0, 1e9)).unwrap_or_default());
    loop {
        if poll(&mut p, 0) > 0 {
            return Ok(p[0].revents);
        }
        if !scheduler::io_wait(cx, v, events, deadline)? {
            return Ok(if poll(&mut p, 0) > 0 { p[0].revents } else { 0 });
        }
        check_open(cx, &leases)?;
    }
}

/// Whether a call on a socket may wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Patience {
    Never,
    Until(Option<Instant>),
}

impl Patience {
    /// Of a time-out in seconds; None: for ever.
    pub fn seconds(s: Option<f64>) -> Patience {
        Patience::Until(s.map(|s| Instant::now() + Duration::try_from_secs_f64(s.clamp(0.0, 1e9)).unwrap_or_default()))
    }
}

/// What came of a call on a socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Called {
    Done(usize),
    /// errno
    Failed(i32),
    /// It would have to wait, and may not.
    Later,
    TimedOut,
}

/// Makes a call that never waits (`recv` with MSG_DONTWAIT and the like) on an open socket until it says something else than EAGAIN, parking the thread in between.
/// `events`: READABLE or WRITABLE. `drained`: given the result, whether the socket now has no more for sure.
pub fn on_socket(
    cx: &mut Cx,
    v: Value,
    events: u32,
    patience: Patience,
    drained: impl Fn(usize) -> bool,
    mut call: impl FnMut(RawFd) -> isize,
) -> Result<Called> {
    loop {
        let io = object::get(cx, v)?;
        let fd = io.fd;
        let source = io.source.clone();
        if let Some(source) = &source
            && cx.fiber_scheduler().is_nil()
        {
            if let Patience::Until(deadline) = patience
                && !source.is_ready(events)
            {
                if !wait_source(cx, v, source, events, deadline)? {
                    return Ok(Called::TimedOut);
                }
                let io = object::raw(cx, v)?;
                if io.fd != fd || io.source.is_none() {
                    return io_error(cx, "stream closed in another thread");
                }
                continue;
            }
            source.clear(events);
        }
        let result = call(fd);
        let error = if result < 0 { last_errno() } else { 0 };
        if error != libc::EAGAIN
            && let Some(source) = &source
        {
            source.set(events, result >= 0 && drained(result as usize));
        }
        match error {
            0 => return Ok(Called::Done(result as usize)),
            libc::EINTR => cx.safepoint()?,
            libc::EAGAIN if patience == Patience::Never => return Ok(Called::Later),
            libc::EAGAIN if !cx.fiber_scheduler().is_nil() => {
                let Patience::Until(deadline) = patience else { return Ok(Called::Later) };
                if !scheduler::io_wait(cx, v, poll_bits(events), deadline)? {
                    return Ok(Called::TimedOut);
                }
                if object::raw(cx, v)?.fd != fd {
                    return io_error(cx, "stream closed in another thread");
                }
            }
            libc::EAGAIN if cx.host.is_none() => {
                let bits = poll_bits(events);
                let Patience::Until(deadline) = patience else { return Ok(Called::Later) };
                let lease = object::lease(cx, v, Side::Reading)?;
                if !wait_natively(cx, &mut [libc::pollfd { fd: lease.fd, events: bits, revents: 0 }], &[lease], deadline)? {
                    return Ok(Called::TimedOut);
                }
            }
            libc::EAGAIN if source.is_none() => {
                let scheduler = cx.host_handle()?.scheduler;
                object::get(cx, v)?.source = Some(std::sync::Arc::new(scheduler.source(fd)));
            }
            libc::EAGAIN => {}
            e => return Ok(Called::Failed(e)),
        }
    }
}

fn poll_bits(events: u32) -> i16 {
    [(READABLE, libc::POLLIN), (WRITABLE, libc::POLLOUT), (URGENT, libc::POLLPRI)]
        .iter()
        .filter(|(event, _)| events & event != 0)
        .fold(0, |bits, (_, poll)| bits | poll)
}

/// Waits until a call may succeed. False: the time is over.
fn wait_source(cx: &mut Cx, v: Value, source: &Source, events: u32, deadline: Option<Instant>) -> Result<bool> {
    let mut ticket: Option<Ticket> = None;
    let mut taken = false;
    let result = cx.wait_as(Wait::Event, deadline, |cx| {
        if let Some(t) = ticket.take() {
            source.unwatch(t);
        }
        let waiter = cx.waiter()?;
        match source.watch(events, waiter) {
            Ok(None) => Ok(Some(())),
            Ok(t) => {
                ticket = t;
                Ok(None)
            }
            // Another stream stands on the same descriptor and has registered it.
            Err(e) if e.raw_os_error() == Some(libc::EEXIST) => {
                taken = true;
                Ok(Some(()))
            }
            Err(e) => super::fail(cx, e.raw_os_error().unwrap_or(libc::EBADF), ""),
        }
    });
    if let Some(t) = ticket {
        source.unwatch(t);
    }
    let woken = result?.is_some();
    if !taken {
        return Ok(woken);
    }
    let bits = poll_bits(events);
    let left = deadline.map(|d| d.saturating_duration_since(Instant::now()).as_secs_f64());
    let lease = object::lease(cx, v, Side::Reading)?;
    let ready = wait_any(cx, &mut [libc::pollfd { fd: lease.fd, events: bits, revents: 0 }], &[lease], left)?;
    source.set(events, false);
    Ok(ready)
}

/// Whether none of the poll(2) events is there; errno then is EAGAIN. For calls that can't be told not to wait.
pub fn would_block(fd: RawFd, events: i16) -> bool {
    let nothing = poll(&mut [libc::pollfd { fd, events, revents: 0 }], 0) == 0;
    if nothing {
        // SAFETY: errno is this thread's own.
        unsafe { *libc::__errno_location() = libc::EAGAIN };
    }
    nothing
}

/// Waits for poll(2) events on a socket; those that came, 0 when the time is over.
pub fn poll_socket(cx: &mut Cx, v: Value, events: i16, seconds: Option<f64>) -> Result<i16> {
    let mut bits = 0;
    for (poll, source) in [(libc::POLLIN, READABLE), (libc::POLLOUT, WRITABLE), (libc::POLLPRI, URGENT)] {
        if events & poll != 0 {
            bits |= source;
        }
    }
    let came = std::cell::Cell::new(0);
    let called = on_socket(cx, v, bits, Patience::seconds(seconds), |_| false, |fd| {
        let mut p = [libc::pollfd { fd, events, revents: 0 }];
        match poll(&mut p, 0) {
            0 => {
                // SAFETY: errno is this thread's own.
                unsafe { *libc::__errno_location() = libc::EAGAIN };
                -1
            }
            n => {
                came.set(p[0].revents);
                n as isize
            }
        }
    })?;
    match called {
        Called::Done(_) => Ok(came.get()),
        Called::Failed(e) => super::fail(cx, e, ""),
        Called::Later | Called::TimedOut => Ok(0),
    }
}

/// send(2) of everything. Err: errno; ETIMEDOUT stands for the stream's own time-out.
pub fn write_socket(cx: &mut Cx, v: Value, mut bytes: &[u8]) -> Result<std::result::Result<(), i32>> {
    while !bytes.is_empty() {
        let patience = Patience::seconds(object::get(cx, v)?.timeout);
        let called = on_socket(cx, v, WRITABLE, patience, |_| false, |fd| {
            // SAFETY: bytes is readable for its length.
            unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL) }
        })?;
        match called {
            Called::Done(n) => bytes = &bytes[n..],
            Called::Failed(e) => return Ok(Err(e)),
            Called::Later | Called::TimedOut => return object::io_timeout(cx),
        }
    }
    Ok(Ok(()))
}

/// recv(2) of some bytes. Err: errno.
pub fn read_socket(cx: &mut Cx, v: Value, buf: &mut [u8], patience: Patience, flags: i32) -> Result<Called> {
    let stream = object::get(cx, v)?.socket == Some(libc::SOCK_STREAM);
    let room = buf.len();
    // A stream that gives less than there is room for has no more.
    let drained = move |n: usize| stream && flags == 0 && n > 0 && n < room;
    on_socket(cx, v, READABLE, patience, drained, |fd| {
        // SAFETY: buf is writable for its length.
        unsafe { libc::recv(fd, buf.as_mut_ptr().cast(), buf.len(), flags | libc::MSG_DONTWAIT) }
    })
}

/// The same for a VM without a scheduler.
fn wait_natively(cx: &mut Cx, fds: &mut [libc::pollfd], leases: &[Leased], deadline: Option<Instant>) -> Result<bool> {
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
        check_open(cx, leases)?;
    }
}

/// Waits for events on a descriptor that is no stream's; the events that came, 0 when the seconds are over.
pub fn wait_timeout(cx: &mut Cx, fd: RawFd, events: i16, seconds: Option<f64>) -> Result<i16> {
    let mut p = [libc::pollfd { fd, events, revents: 0 }];
    Ok(if wait_any(cx, &mut p, &[], seconds)? { p[0].revents } else { 0 })
}

/// Waits until reading from the stream would not block.
fn wait_readable(cx: &mut Cx, v: Value) -> Result<()> {
    wait_stream(cx, v, Side::Reading, libc::POLLIN, None)?;
    Ok(())
}

/// Waits until writing to the stream would not block, as long as its `timeout` says.
fn wait_writable(cx: &mut Cx, v: Value) -> Result<()> {
    let seconds = object::get(cx, v)?.timeout;
    match wait_stream(cx, v, Side::Writing, libc::POLLOUT, seconds)? {
        0 if seconds.is_some() => object::io_timeout(cx),
        _ => Ok(()),
    }
}

/// read(2) of what is there, without waiting. Err: errno; one of [`cant_say`] where the system has no such way for it.
fn read_some(fd: RawFd, buf: &mut [u8]) -> std::result::Result<usize, i32> {
    let iov = libc::iovec { iov_base: buf.as_mut_ptr().cast(), iov_len: buf.len() };
    // SAFETY: buf is writable for its length.
    let n = unsafe { libc::preadv2(fd, &iov, 1, -1, libc::RWF_NOWAIT) };
    if n >= 0 { Ok(n as usize) } else { Err(last_errno()) }
}

/// What a pipe or device has now, up to the room of a buffer, without waiting and without being asked first. Err: errno; EAGAIN where it has nothing, anything else
/// where only a call that may wait can tell.
pub fn read_now(fd: RawFd, out: &mut Vec<u8>) -> std::result::Result<usize, i32> {
    let iov = libc::iovec { iov_base: out.as_mut_ptr().cast(), iov_len: out.capacity() };
    // SAFETY: the buffer can be written up to its capacity, and the kernel says how much it wrote.
    unsafe {
        let n = libc::preadv2(fd, &iov, 1, -1, libc::RWF_NOWAIT);
        if n < 0 {
            return Err(last_errno());
        }
        out.set_len(n as usize);
        Ok(n as usize)
    }
}

/// read(2), waiting when a descriptor that is no regular file has nothing yet. Err: errno.
pub fn blocking_read(cx: &mut Cx, v: Value, regular: bool, buf: &mut [u8]) -> Result<std::result::Result<usize, i32>> {
    // A fiber scheduler is asked before each.
    let mut tries = !regular && cx.fiber_scheduler().is_nil();
    loop {
        if tries {
            cx.safepoint()?;
            match read_some(object::get(cx, v)?.descriptor(Side::Reading), buf) {
                Ok(n) => return Ok(Ok(n)),
                Err(libc::EINTR) => continue,
                Err(libc::EAGAIN) => {
                    wait_readable(cx, v)?;
                    continue;
                }
                // If that is an error of its own, the next call tells it.
                Err(_) => tries = false,
            }
        }
        if !regular {
            wait_readable(cx, v)?;
        }
        let fd = object::get(cx, v)?.descriptor(Side::Reading);
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

/// What a pipe, socket or terminal takes now, without waiting. Err: errno; one of [`cant_say`] where the system has no such way for it.
fn write_some(fd: RawFd, bytes: &[u8]) -> std::result::Result<usize, i32> {
    let iov = libc::iovec { iov_base: bytes.as_ptr() as *mut _, iov_len: bytes.len() };
    // SAFETY: bytes is readable for its length.
    let n = unsafe { libc::pwritev2(fd, &iov, 1, -1, libc::RWF_NOWAIT) };
    if n >= 0 { Ok(n as usize) } else { Err(last_errno()) }
}

/// Errors by which the system says that it can't read or write a descriptor without waiting.
fn cant_say(errno: i32) -> bool {
    matches!(errno, libc::EOPNOTSUPP | libc::EINVAL | libc::ENOSYS | libc::ESPIPE)
}

/// The same of a descriptor that is ready, whatever the system can do.
fn write_at_once(fd: RawFd, bytes: &[u8]) -> std::result::Result<usize, i32> {
    match write_some(fd, bytes) {
        Err(e) if cant_say(e) => {}
        r => return r,
    }
    let write = |fd: RawFd| {
        // A pipe that is ready takes PIPE_BUF bytes at once.
        // SAFETY: bytes is readable for that length.
        let n = unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len().min(libc::PIPE_BUF)) };
        if n >= 0 { Ok(n as usize) } else { Err(last_errno()) }
    };
    match another_way_to_terminal(fd) {
        Some(own) => write(own.as_raw_fd()),
        None => write(fd),
    }
}

/// What a stream's descriptor takes now, without waiting. Err: errno, EAGAIN where it takes nothing.
pub(super) fn write_now(fd: RawFd, bytes: &[u8], socket: bool, regular: bool) -> std::result::Result<usize, i32> {
    // SAFETY: bytes is readable for its length.
    let n = unsafe {
        match (socket, regular) {
            (true, _) => libc::send(fd, bytes.as_ptr().cast(), bytes.len(), libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL),
            (_, true) => libc::write(fd, bytes.as_ptr().cast(), bytes.len()),
            _ => return write_unless_full(fd, bytes),
        }
    };
    if n >= 0 { Ok(n as usize) } else { Err(last_errno()) }
}

fn write_unless_full(fd: RawFd, bytes: &[u8]) -> std::result::Result<usize, i32> {
    match write_some(fd, bytes) {
        Err(e) if cant_say(e) && would_block(fd, libc::POLLOUT) => Err(libc::EAGAIN),
        Err(e) if cant_say(e) => write_at_once(fd, bytes),
        r => r,
    }
}

/// A terminal that is ready may take a single byte and keep whoever writes more. Its flags are its other users', too, so it is opened once more. (The side of the
/// emulator can't be: those are non-blocking from the start, see pty.)
fn another_way_to_terminal(fd: RawFd) -> Option<OwnedFd> {
    let mut number = 0u32;
    // SAFETY: questions about a descriptor; the answer fits. What is opened belongs to the result.
    unsafe {
        if libc::isatty(fd) == 0 || libc::ioctl(fd, libc::TIOCGPTN, &mut number) == 0 {
            return None;
        }
        let path = std::ffi::CString::new(format!("/proc/self/fd/{fd}")).ok()?;
        let flags = libc::O_WRONLY | libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
        let own = libc::open(path.as_ptr(), flags);
        (own >= 0).then(|| OwnedFd::from_raw_fd(own))
    }
}

/// What one write(2) takes, to a descriptor in non-blocking mode. Err: errno.
pub fn write_once(cx: &mut Cx, v: Value, bytes: &[u8]) -> Result<std::result::Result<usize, i32>> {
    loop {
        wait_writable(cx, v)?;
        let fd = object::get(cx, v)?.write_fd();
        // SAFETY: bytes is readable for its length.
        let n = unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
        if n >= 0 {
            return Ok(Ok(n as usize));
        }
        match last_errno() {
            libc::EINTR | libc::EAGAIN => cx.safepoint()?,
            e => return Ok(Err(e)),
        }
    }
}

/// write(2) of everything, one system call as far as the system takes it. Err: errno.
pub fn blocking_write(cx: &mut Cx, v: Value, regular: bool, mut bytes: &[u8]) -> Result<std::result::Result<(), i32>> {
    let mut tries = !regular && cx.fiber_scheduler().is_nil();
    while !bytes.is_empty() {
        let r = if regular {
            let fd = object::get(cx, v)?.write_fd();
            // SAFETY: bytes is readable for its length.
            let n = unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
            if n >= 0 { Ok(n as usize) } else { Err(last_errno()) }
        } else if tries {
            cx.safepoint()?;
            write_some(object::get(cx, v)?.write_fd(), bytes)
        } else {
            wait_writable(cx, v)?;
            write_at_once(object::get(cx, v)?.write_fd(), bytes)
        };
        match r {
            Ok(n) => bytes = &bytes[n..],
            Err(libc::EINTR) => cx.safepoint()?,
            Err(libc::EAGAIN) if tries => wait_writable(cx, v)?,
            Err(libc::EAGAIN) if !regular => cx.safepoint()?,
            Err(e) if tries && cant_say(e) => tries = false,
            Err(e) => return Ok(Err(e)),
        }
    }
    Ok(Ok(()))
}
