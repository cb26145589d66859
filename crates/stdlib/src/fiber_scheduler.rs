//! zakuro/fiber_scheduler: a fiber scheduler over epoll(7). Its logic is Ruby (ruby/zakuro_fiber_scheduler.rb); this is the set of descriptors that it waits at.
//!
//! The thread of the scheduler waits for the epoll descriptor as for any other, so other threads of the VM and other VMs go on.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use zakuro_core_system::io::{fail, wait::wait_timeout};
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::thread::Wait;
use zakuro_vm::*;

/// Most events taken by one call.
const BATCH: usize = 256;

/// IO::READABLE and its companions beside epoll's bits.
const BITS: [(i64, i32); 3] = [(1, libc::EPOLLIN), (2, libc::EPOLLPRI), (4, libc::EPOLLOUT)];

/// Payload of a Poller.
#[derive(Trace)]
struct Poller {
    #[untraced]
    epoll: OwnedFd,
    /// An eventfd in the set: ends a wait from another thread.
    #[untraced]
    bell: OwnedFd,
    /// `ring` was called, and nobody has heard it.
    #[untraced]
    rung: bool,
    /// The thread in `idle`, which hears no bell; 0: none.
    #[untraced]
    idle: u32,
}
impl NativeData for Poller {}

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

fn own(cx: &mut Cx, fd: RawFd, call: &str) -> Result<OwnedFd> {
    if fd < 0 {
        return fail(cx, errno(), call);
    }
    // SAFETY: a new descriptor that nobody else has.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn control(epoll: RawFd, operation: i32, fd: RawFd, bits: i32) -> std::result::Result<(), i32> {
    let mut event = libc::epoll_event { events: bits as u32, u64: fd as u64 };
    // SAFETY: an event that lives through the call.
    if unsafe { libc::epoll_ctl(epoll, operation, fd, &mut event) } == 0 { Ok(()) } else { Err(errno()) }
}

/// Methods of `RubyVM::FiberScheduler::Poller`.
#[ruby_class(ids::OBJECT)]
mod poller {
    use super::*;

    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value) -> Result<Value> {
        // SAFETY: plain system calls; the results are checked.
        let epoll = own(cx, unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) }, "epoll_create(2)")?;
        // SAFETY: as above.
        let bell = own(cx, unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) }, "eventfd(2)")?;
        if let Err(e) = control(epoll.as_raw_fd(), libc::EPOLL_CTL_ADD, bell.as_raw_fd(), libc::EPOLLIN) {
            return fail(cx, e, "epoll_ctl(2)");
        }
        cx.data_init(this, Poller { epoll, bell, rung: false, idle: 0 })?;
        Ok(this)
    }

    /// Waits at a descriptor for a mask of IO's events, 0: not any more. False: it is a file that is always ready.
    #[method("watch")]
    fn watch(cx: &mut Cx, this: Value, fd: i64, events: i64) -> Result<bool> {
        let epoll = cx.data_ref::<Poller>(this)?.epoll.as_raw_fd();
        let fd = fd as RawFd;
        let bits = BITS.iter().filter(|(e, _)| events & e != 0).fold(0, |all, (_, b)| all | b);
        let done = match bits {
            // One that was closed has left by itself.
            0 => control(epoll, libc::EPOLL_CTL_DEL, fd, 0).or(Ok(())),
            bits => control(epoll, libc::EPOLL_CTL_MOD, fd, bits).or_else(|_| control(epoll, libc::EPOLL_CTL_ADD, fd, bits)),
        };
        match done {
            Ok(()) => Ok(true),
            Err(libc::EPERM) => Ok(false),
            Err(e) => fail(cx, e, "epoll_ctl(2)"),
        }
    }

    /// Waits until a descriptor is ready, `ring` is called or the seconds (nil: for ever) are over: descriptors and masks in turn.
    #[method("wait")]
    fn wait(cx: &mut Cx, this: Value, seconds: Option<f64>) -> Result<Value> {
        let p = cx.data_ref::<Poller>(this)?;
        let (epoll, bell) = (p.epoll.as_raw_fd(), p.bell.as_raw_fd());
        let out = cx.new_array();
        if wait_timeout(cx, epoll, libc::POLLIN, seconds)? == 0 {
            return Ok(out.as_value());
        }
        // The object may have been given up meanwhile by `initialize`.
        if cx.data_ref::<Poller>(this)?.epoll.as_raw_fd() != epoll {
            return Ok(out.as_value());
        }
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; BATCH];
        // SAFETY: the kernel writes at most BATCH entries.
        let n = unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), BATCH as i32, 0) }.max(0) as usize;
        for e in &events[..n] {
            let (fd, bits) = ({ e.u64 } as RawFd, { e.events } as i32);
            if fd == bell {
                let mut count = [0u8; 8];
                // SAFETY: eight bytes of an eventfd that is never waited for.
                unsafe { libc::read(bell, count.as_mut_ptr().cast(), 8) };
                cx.data_mut::<Poller>(this)?.rung = false;
                continue;
            }
            // Errors and hang-ups concern whoever waits for anything.
            let all = bits & (libc::EPOLLERR | libc::EPOLLHUP) != 0;
            let mask = BITS.iter().filter(|(_, b)| all || bits & b != 0).fold(0, |m, (e, _)| m | e);
            for n in [fd as i64, mask] {
                ArrayCell::push(out, &mut cx.heap, Value::fixnum(n));
            }
        }
        Ok(out.as_value())
    }

    /// Waits until `ring` is called, where no descriptor and no time can end a wait of a fiber: if nothing else can, that is a deadlock.
    #[method("idle")]
    fn idle(cx: &mut Cx, this: Value) -> Result<()> {
        let me = cx.thread_id();
        let wait = if cx.fibers_wait_outside() { Wait::Outside } else { Wait::Inside };
        let r = cx.wait_as(wait, None, |cx| {
            let p = cx.data_mut::<Poller>(this)?;
            p.idle = me;
            Ok(std::mem::take(&mut p.rung).then_some(()))
        });
        cx.data_mut::<Poller>(this)?.idle = 0;
        r.map(|_| ())
    }

    /// Ends the wait of another thread.
    #[method("ring")]
    fn ring(cx: &mut Cx, this: Value) -> Result<()> {
        let p = cx.data_mut::<Poller>(this)?;
        p.rung = true;
        let (bell, idle) = (p.bell.as_raw_fd(), p.idle);
        if idle != 0 {
            cx.thread_wake(idle);
        }
        // SAFETY: eight bytes to an eventfd.
        unsafe { libc::write(bell, 1u64.to_ne_bytes().as_ptr().cast(), 8) };
        Ok(())
    }
}

/// `require "zakuro/fiber_scheduler"`
pub fn load(cx: &mut Cx) -> Result<()> {
    let outer = cx.class_named("RubyVM")?;
    let scheduler = cx.define_class(outer, "FiberScheduler", ids::OBJECT);
    let poller = cx.define_class(scheduler, "Poller", ids::OBJECT);
    cx.class_mut(poller).alloc = Alloc::Data;
    cx.define_natives(poller, &[poller::METHODS]);
    cx.run_builtin("zakuro/fiber_scheduler")
}
