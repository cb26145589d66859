//! `IO#wait` and `IO#wait_priority`: waiting for events by mask or by name.

use super::object::{self, Side};
use super::wait::{poll_socket, wait_stream};
use zakuro_macros::ruby_class;
use zakuro_vm::*;

const READABLE: i64 = 1;
const PRIORITY: i64 = 2;
const WRITABLE: i64 = 4;
const BITS: [(i64, i16); 3] = [(READABLE, libc::POLLIN), (PRIORITY, libc::POLLPRI), (WRITABLE, libc::POLLOUT)];

/// Events of a name; 0 for none that is known.
fn events_of(name: &str) -> i64 {
    match name {
        "r" | "read" | "readable" => READABLE,
        "w" | "write" | "writable" => WRITABLE,
        "rw" | "read_write" | "readable_writable" => READABLE | WRITABLE,
        _ => 0,
    }
}

/// Seconds of a time-out; nil: for ever.
fn seconds(cx: &mut Cx, v: Value) -> Result<Option<f64>> {
    if v.is_nil() {
        return Ok(None);
    }
    let s = cx.to_f64(v)?;
    if s < 0.0 {
        return cx.arg_error("time interval must not be negative");
    }
    Ok(Some(s))
}

/// Waits; the events that came, as a mask.
fn wait_for(cx: &mut Cx, this: Value, events: i64, seconds: Option<f64>) -> Result<i64> {
    let socket = object::get(cx, this)?.is_socket();
    let asked = BITS.iter().filter(|(e, _)| events & e != 0).fold(0, |all, (_, p)| all | p);
    let side = if events & WRITABLE != 0 { Side::Writing } else { Side::Reading };
    let came = if socket { poll_socket(cx, this, asked, seconds)? } else { wait_stream(cx, this, side, asked, seconds)? };
    // Errors and hang-ups concern whoever waits for anything.
    let all = came & (libc::POLLERR | libc::POLLHUP) != 0;
    Ok(BITS.iter().filter(|(e, p)| events & e != 0 && (all || came & p != 0)).fold(0, |mask, (e, _)| mask | e))
}

#[ruby_class(ids::IO)]
pub mod io {
    use super::*;
    /// Waits until the stream is ready for one of the events (a mask of IO::READABLE, IO::PRIORITY and IO::WRITABLE); those that came, or nil when `timeout`
    /// seconds passed. With names of events (:read, :write, :read_write) and a timeout in any order: the stream, or nil.
    ///
    ///     IO.pipe { |r, w| [r.wait(IO::READABLE, 0), w.wait(0, :write).equal?(w)] }   #=> [nil, true]
    #[method("wait", max = -1)]
    fn wait(cx: &mut Cx, this: Value, args: Rest) -> Result<Value> {
        let io = object::get(cx, this)?;
        let buffered = !io.buffered().is_empty();
        if let [events, timeout] = args
            && events.as_sym().is_none()
            && timeout.as_sym().is_none()
        {
            let events = cx.to_i64(*events)?;
            if events <= 0 {
                return cx.arg_error("Events must be positive integer!");
            }
            let seconds = seconds(cx, *timeout)?;
            if buffered && events & READABLE != 0 {
                return Ok(Value::fixnum(READABLE));
            }
            let came = wait_for(cx, this, events, seconds)?;
            return Ok(if came == 0 { Value::NIL } else { Value::fixnum(came) });
        }
        let (mut events, mut timeout) = (0, None);
        for v in args {
            match v.as_sym() {
                Some(name) => match events_of(&name.name()) {
                    0 => return cx.arg_error(format!("unsupported mode: {}", name.name())),
                    e => events |= e,
                },
                None if timeout.is_some() => return cx.arg_error("timeout given more than once"),
                None => timeout = Some(*v),
            }
        }
        let events = if events == 0 { READABLE } else { events };
        let seconds = seconds(cx, timeout.unwrap_or(Value::NIL))?;
        if buffered && events & READABLE != 0 {
            return Ok(Value::TRUE);
        }
        Ok(if wait_for(cx, this, events, seconds)? == 0 { Value::NIL } else { this })
    }
    /// Waits until there is urgent data; nil when `timeout` seconds passed.
    #[method("wait_priority")]
    fn wait_priority(cx: &mut Cx, this: Value, timeout: Option<Value>) -> Result<Value> {
        let seconds = seconds(cx, timeout.unwrap_or(Value::NIL))?;
        if !object::reader(cx, this)?.buffered().is_empty() {
            return Ok(this);
        }
        Ok(if wait_for(cx, this, PRIORITY, seconds)? == 0 { Value::NIL } else { this })
    }
}
