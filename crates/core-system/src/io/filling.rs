//! Reading from a descriptor into a stream's buffer.

use super::errors::io_error;
use super::object::{LARGEST_PIPE, Side, fail_path, get, io_timeout, raw, reader};
use super::wait::{self, Called, Patience, blocking_read};
use crate::fiber_scheduler as scheduler;
use zakuro_sched::READABLE;
use zakuro_vm::*;

const READ_BUFFER: usize = 16 * 1024;
/// The most that one read(2) is asked for, in bytes.
const LARGEST_READ: usize = 64 * 1024 * 1024;

/// Reads more from the descriptor into the buffer; false at the end of the file.
pub fn fill(cx: &mut Cx, v: Value) -> Result<bool> {
    fill_up_to(cx, v, READ_BUFFER)
}

/// `fill` for a reader that takes up to `wanted` bytes: one read(2) brings them all if they are there. No more are taken from what is no file: who
/// waits at the descriptor next (select, epoll, a child) has to find the rest there.
pub fn fill_up_to(cx: &mut Cx, v: Value, wanted: usize) -> Result<bool> {
    let room = if reader(cx, v)?.regular { wanted.max(READ_BUFFER) } else { wanted.max(1) }.min(LARGEST_READ);
    // What is endless and always ready (/dev/zero) is left here.
    cx.safepoint()?;
    reader(cx, v)?;
    if !cx.fiber_scheduler().is_nil()
        && let Some(read) = scheduler::io_read(cx, v, room.min(READ_BUFFER))?
    {
        return match read {
            Ok(bytes) => {
                zakuro_base::memory::extend(&mut get(cx, v)?.rbuf, &bytes);
                Ok(!bytes.is_empty())
            }
            Err(e) => fail_path(cx, v, e),
        };
    }
    if get(cx, v)?.is_socket() {
        return fill_from_socket(cx, v, room);
    }
    before_read(cx, v)?;
    let mut look = true;
    if !get(cx, v)?.regular && cx.fiber_scheduler().is_nil() {
        let mut chunk = zakuro_base::memory::with_room(room.min(LARGEST_PIPE));
        match wait::read_now(get(cx, v)?.descriptor(Side::Reading), &mut chunk) {
            Ok(_) => return keep(cx, v, chunk),
            Err(e) => look = e != libc::EAGAIN,
        }
    }
    let regular = wait_until_input(cx, v, look)?;
    // No pipe holds more than that, and whoever waits at ten thousand of them needs no room yet.
    let room = if regular { room } else { room.min(LARGEST_PIPE) };
    let mut chunk = zakuro_base::memory::zeroed(room);
    match blocking_read(cx, v, regular, &mut chunk)? {
        Ok(n) => {
            chunk.truncate(n);
            keep(cx, v, chunk)
        }
        // Whoever sat at the terminal of standard input has gone.
        Err(libc::EIO) if raw(cx, v)?.tty && raw(cx, v)?.fd == 0 => Ok(false),
        Err(e) => {
            let p = raw(cx, v)?.path.clone().unwrap_or_default();
            super::errors::fail_at(cx, e, "io_fread", &p)
        }
    }
}

/// Puts what was read behind what is buffered; false for nothing, which is the end.
fn keep(cx: &mut Cx, v: Value, chunk: Vec<u8>) -> Result<bool> {
    if chunk.is_empty() {
        return Ok(false);
    }
    let io = get(cx, v)?;
    if io.rpos > 0 {
        io.rbuf.drain(..io.rpos);
        io.rpos = 0;
    }
    // Half empty, it would hold more memory than what it brought.
    if io.rbuf.is_empty() && chunk.len() >= chunk.capacity() / 2 {
        io.rbuf = chunk;
    } else {
        zakuro_base::memory::extend(&mut io.rbuf, &chunk);
    }
    cx.weigh_data(v);
    Ok(true)
}

/// The same for a socket. Its buffer is as large as what came: there may be ten thousand of them.
fn fill_from_socket(cx: &mut Cx, v: Value, room: usize) -> Result<bool> {
    let io = get(cx, v)?;
    let (patience, stream) = (Patience::seconds(io.timeout), io.socket == Some(libc::SOCK_STREAM));
    let mut got = Vec::new();
    // A stream that gives less than there is room for has no more.
    let called = wait::on_socket(cx, v, READABLE, patience, |n| stream && n > 0 && n < room, |fd| {
        let mut chunk = Vec::<u8>::with_capacity(room);
        // SAFETY: the kernel writes at most `room` bytes and says how many.
        let n = unsafe {
            let n = libc::recv(fd, chunk.as_mut_ptr().cast(), room, libc::MSG_DONTWAIT);
            chunk.set_len(n.max(0) as usize);
            n
        };
        got = if chunk.len() < room / 2 { chunk[..].to_vec() } else { chunk };
        n
    })?;
    match called {
        Called::Done(0) => Ok(false),
        Called::Done(_) => {
            let io = get(cx, v)?;
            if io.buffered().is_empty() {
                io.rbuf = got;
                io.rpos = 0;
            } else {
                io.rbuf.extend_from_slice(&got);
            }
            cx.weigh_data(v);
            Ok(true)
        }
        Called::Later | Called::TimedOut => io_timeout(cx),
        Called::Failed(e) => {
            let p = raw(cx, v)?.path.clone().unwrap_or_default();
            super::errors::fail_at(cx, e, "io_fread", &p)
        }
    }
}

/// What comes before a read: IOError without a descriptor to read from; a terminal shows what was written first.
fn before_read(cx: &mut Cx, v: Value) -> Result<()> {
    let io = reader(cx, v)?;
    if io.fd < 0 {
        return io_error(cx, "not opened for reading");
    }
    if io.fd == 0 || io.tty {
        super::stream::before_terminal_read(cx)?;
    }
    Ok(())
}

/// Waits until the stream can be read; whether it is a regular file. IOError when another thread closes it meanwhile.
pub fn wait_for_input(cx: &mut Cx, v: Value) -> Result<bool> {
    before_read(cx, v)?;
    wait_until_input(cx, v, true)
}

/// `look`: whether it is asked first if there is something; else a call has just said that there is nothing.
fn wait_until_input(cx: &mut Cx, v: Value, look: bool) -> Result<bool> {
    let io = reader(cx, v)?;
    let (regular, socket, timeout) = (io.regular, io.is_socket(), io.timeout);
    if io.fd < 0 {
        return io_error(cx, "not opened for reading");
    }
    if !regular {
        let ready = if socket {
            wait::poll_socket(cx, v, libc::POLLIN, timeout)?
        } else if look {
            wait::wait_stream(cx, v, Side::Reading, libc::POLLIN, timeout)?
        } else {
            wait::wait_stream_on(cx, v, Side::Reading, libc::POLLIN, timeout)?
        };
        if ready == 0 {
            return io_timeout(cx);
        }
    }
    Ok(regular)
}
