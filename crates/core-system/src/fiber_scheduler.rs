//! Fiber schedulers: an object that waits in place of the thread (`Fiber.set_scheduler`).
//!
//! A fiber that may not block asks its thread's scheduler to wait: `block` and `kernel_sleep` for what happens inside the VM (vm::thread::scheduled), and
//! the `io_` hooks, `process_wait` and `address_resolve` here. Hooks beside `block`, `unblock`, `kernel_sleep` and `io_wait` are optional; without them the thread
//! does what it does without a scheduler.

use std::time::Instant;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

pub static TABLES: &[&[MethodRow]] = &[fiber::METHODS];
pub fn setup(_cx: &mut Cx) {}

/// IO::READABLE and its companions.
const READABLE: i64 = 1;
const PRIORITY: i64 = 2;
const WRITABLE: i64 = 4;

/// Calls an optional hook of the running code's scheduler; None: nobody to ask.
pub fn hook(cx: &mut Cx, name: &str, args: &[Value]) -> Result<Option<Value>> {
    let scheduler = cx.fiber_scheduler();
    if scheduler.is_nil() {
        return Ok(None);
    }
    let name = Sym::intern(name);
    if !cx.responds(scheduler, name, false)? {
        return Ok(None);
    }
    cx.call(scheduler, name, args).map(Some)
}

/// Lets the scheduler wait for poll(2) events of a stream. False: the deadline came first. Only for code with a scheduler.
pub fn io_wait(cx: &mut Cx, io: Value, events: i16, deadline: Option<Instant>) -> Result<bool> {
    let scheduler = cx.fiber_scheduler();
    let mut mask = 0;
    for (poll, event) in [(libc::POLLIN, READABLE), (libc::POLLPRI, PRIORITY), (libc::POLLOUT, WRITABLE)] {
        if events & poll != 0 {
            mask |= event;
        }
    }
    let left = deadline.map(|at| at.saturating_duration_since(Instant::now()).as_secs_f64());
    let timeout = left.map_or(Value::NIL, |l| cx.float(l));
    let came = cx.wait_by_hook(io, |cx| cx.call(scheduler, Sym::intern("io_wait"), &[io, Value::fixnum(mask), timeout]))?;
    Ok(came.truthy())
}

/// What `io_read` or `io_write` gave: bytes done, or a system error's number.
fn outcome(cx: &mut Cx, v: Value) -> Result<std::result::Result<usize, i32>> {
    let n = cx.to_i64(v)?;
    Ok(usize::try_from(n).map_err(|_| i32::try_from(-n).unwrap_or(libc::EIO)))
}

fn buffer(cx: &mut Cx, size: usize) -> Result<Value> {
    let Some(class) = cx.const_by_path("IO::Buffer") else { return Ok(Value::NIL) };
    cx.call(class, sym::new, &[Value::fixnum(size as i64)])
}

/// Reads up to `room` bytes by the scheduler's `io_read`. None: it has none.
pub fn io_read(cx: &mut Cx, io: Value, room: usize) -> Result<Option<std::result::Result<Vec<u8>, i32>>> {
    if !has_hook(cx, "io_read")? {
        return Ok(None);
    }
    let b = buffer(cx, room)?;
    loop {
        let Some(n) = hook(cx, "io_read", &[io, b, Value::fixnum(0), Value::fixnum(0)])? else { return Ok(None) };
        match outcome(cx, n)? {
            Ok(n) => return crate::io::buffer::access::with_bytes(cx, b, 0, n.min(room), <[u8]>::to_vec).map(|bytes| Some(Ok(bytes))),
            Err(libc::EAGAIN) => io_wait(cx, io, libc::POLLIN, None)?,
            Err(e) => return Ok(Some(Err(e))),
        };
    }
}

/// Writes all by the scheduler's `io_write`. None: it has none.
pub fn io_write(cx: &mut Cx, io: Value, bytes: &[u8]) -> Result<Option<std::result::Result<(), i32>>> {
    if !has_hook(cx, "io_write")? {
        return Ok(None);
    }
    let b = buffer(cx, bytes.len())?;
    crate::io::buffer::access::with_bytes_mut(cx, b, 0, bytes.len(), |to| to.copy_from_slice(bytes))?;
    let mut done = 0;
    while done < bytes.len() {
        let (left, at) = (Value::fixnum((bytes.len() - done) as i64), Value::fixnum(done as i64));
        let Some(n) = hook(cx, "io_write", &[io, b, left, at])? else { return Ok(None) };
        match outcome(cx, n)? {
            Ok(0) => return Ok(Some(Err(libc::EIO))),
            Ok(n) => done += n,
            Err(libc::EAGAIN) => {
                io_wait(cx, io, libc::POLLOUT, None)?;
            }
            Err(e) => return Ok(Some(Err(e))),
        }
    }
    Ok(Some(Ok(())))
}

fn has_hook(cx: &mut Cx, name: &str) -> Result<bool> {
    let scheduler = cx.fiber_scheduler();
    Ok(!scheduler.is_nil() && cx.responds(scheduler, Sym::intern(name), false)?)
}

/// Gives the running thread another scheduler, or none (nil). The one before runs to its end first.
pub fn set(cx: &mut Cx, scheduler: Value) -> Result<()> {
    if !scheduler.is_nil() {
        for name in ["block", "unblock", "kernel_sleep", "io_wait"] {
            if !cx.responds(scheduler, Sym::intern(name), false)? {
                return cx.arg_error(format!("Scheduler must implement #{name}"));
            }
        }
        if !cx.responds(scheduler, Sym::intern("fiber_interrupt"), false)? {
            cx.warn_here("Scheduler should implement #fiber_interrupt")?;
        }
    }
    let before = cx.threads().current().scheduler;
    if !before.is_nil() {
        let closed = close(cx, before);
        cx.threads().current().scheduler = Value::NIL;
        closed?;
    }
    cx.threads().current().scheduler = scheduler;
    Ok(())
}

/// The end of the running thread's program: its scheduler runs what is left.
pub fn finish(cx: &mut Cx) -> Result<()> {
    if cx.thread_scheduler().is_nil() { Ok(()) } else { set(cx, Value::NIL) }
}

fn close(cx: &mut Cx, scheduler: Value) -> Result<()> {
    for name in ["scheduler_close", "close"] {
        let name = Sym::intern(name);
        if cx.responds(scheduler, name, false)? {
            cx.call(scheduler, name, &[])?;
            break;
        }
    }
    Ok(())
}

#[ruby_class(ids::FIBER)]
pub mod fiber {
    use super::*;

    /// Makes an object the running thread's scheduler: fibers that may not block wait by calling it. It must have `block`, `unblock`, `kernel_sleep` and
    /// `io_wait`; nil: none. The scheduler before is closed first, which runs its fibers to their ends.
    ///
    ///     Fiber.set_scheduler(nil)   #=> nil
    #[method("set_scheduler", singleton)]
    fn set_scheduler(cx: &mut Cx, _this: Value, scheduler: Value) -> Result<Value> {
        set(cx, scheduler)?;
        Ok(scheduler)
    }

    /// The running thread's scheduler, or nil.
    ///
    ///     Fiber.scheduler   #=> nil
    #[method("scheduler", singleton)]
    fn scheduler(cx: &mut Cx, _this: Value) -> Value {
        cx.thread_scheduler()
    }

    /// The same, but nil where the running fiber may block.
    ///
    ///     Fiber.current_scheduler   #=> nil
    #[method("current_scheduler", singleton)]
    fn current_scheduler(cx: &mut Cx, _this: Value) -> Value {
        cx.fiber_scheduler()
    }

    /// Runs the block in a fiber of the thread's scheduler; returns what its `fiber` gives, mostly the fiber. RuntimeError without a scheduler.
    ///
    ///     (Fiber.schedule {} rescue $!.message)   #=> "No scheduler is available!"
    #[method("schedule", singleton)]
    fn schedule(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        let s = scheduler(cx, this);
        if s.is_nil() {
            return cx.raise(ids::RUNTIME_ERROR, "No scheduler is available!");
        }
        let mut given = RootedVec::new(cx);
        (0..args.len()).filter_map(|i| args.get(i)).for_each(|v| given.push(v));
        cx.call_full(s, Sym::intern("fiber"), &given, args.kw, args.block)
    }
}
