//! nio4r's `nio4r_ext`: NIO::Selector over an epoll instance of its own. Classes, locks and messages are Ruby (`ruby/nio4r_ext.rb`).
//!
//! Who selects asks epoll without waiting; when nothing is ready the Ruby thread parks until the epoll descriptor itself is readable, as for any other descriptor,
//! so no worker is held and every end of a wait acts. Registrations stay between two selects: its cost is that of what is ready.
//! Rejected: IO.select (the cost of all that is registered, each time).

use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};
use zakuro_core_system::io::wait::wait_timeout;
use zakuro_core_system::io::{fail, fail_os};
use zakuro_core_system::process::{descriptors, owner};
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

const READ: i64 = 1;
const WRITE: i64 = 2;
/// The event of `wakeup`.
const WAKE: u64 = u64::MAX;

/// Payload of a NIO::Selector.
#[derive(Trace)]
struct Poller {
    #[untraced]
    epoll: OwnedFd,
    #[untraced]
    event: OwnedFd,
    /// What is registered: number of the monitor by descriptor. A stream that was closed has left epoll by itself, and its number may be another's.
    #[untraced]
    known: BTreeMap<RawFd, u64>,
    /// Regular files, which epoll refuses: always ready. Events by monitor.
    #[untraced]
    always: BTreeMap<u64, i64>,
}
impl NativeData for Poller {
    fn refers(&self) -> bool {
        false
    }
}

fn new_descriptor(cx: &mut Cx, fd: RawFd, call: &str) -> Result<OwnedFd> {
    if fd < 0 {
        return fail_os(cx, call);
    }
    // SAFETY: just made, and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Methods of `NIO::Selector`.
#[ruby_class(ids::OBJECT)]
mod selector {
    use super::*;

    #[method("__open", private)]
    fn open(cx: &mut Cx, this: Value) -> Result<()> {
        descriptors::admit(cx, 2)?;
        // SAFETY: no memory involved.
        let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        let epoll = new_descriptor(cx, fd, "epoll_create1(2)")?;
        // SAFETY: as above.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        let event = new_descriptor(cx, fd, "eventfd(2)")?;
        let mut e = libc::epoll_event { events: libc::EPOLLIN as u32, u64: WAKE };
        // SAFETY: a live event.
        if unsafe { libc::epoll_ctl(epoll.as_raw_fd(), libc::EPOLL_CTL_ADD, event.as_raw_fd(), &mut e) } != 0 {
            return fail_os(cx, "epoll_ctl(2)");
        }
        cx.data_init(this, Poller { epoll, event, known: BTreeMap::new(), always: BTreeMap::new() })
    }
    /// What a monitor waits for, by its number: 1 to read, 2 to write, 0 nothing.
    #[method("__watch", private)]
    fn watch(cx: &mut Cx, this: Value, fd: i64, monitor: i64, interests: i64) -> Result<()> {
        let (fd, id) = (fd as RawFd, monitor as u64);
        let poller = cx.data_mut::<Poller>(this)?;
        poller.always.remove(&id);
        let mine = poller.known.get(&fd) == Some(&id);
        if interests == 0 {
            if mine {
                poller.known.remove(&fd);
                // SAFETY: a number; the kernel knows whether it is registered.
                unsafe { libc::epoll_ctl(poller.epoll.as_raw_fd(), libc::EPOLL_CTL_DEL, fd, std::ptr::null_mut()) };
            }
            return Ok(());
        }
        owner::check_number(cx, fd)?;
        let poller = cx.data_mut::<Poller>(this)?;
        let bits = |bit: i64, event: i32| if interests & bit != 0 { event as u32 } else { 0 };
        let mut e = libc::epoll_event { events: bits(READ, libc::EPOLLIN) | bits(WRITE, libc::EPOLLOUT), u64: id };
        let mut call = if mine { libc::EPOLL_CTL_MOD } else { libc::EPOLL_CTL_ADD };
        for _ in 0..2 {
            // SAFETY: a live event.
            if unsafe { libc::epoll_ctl(poller.epoll.as_raw_fd(), call, fd, &mut e) } == 0 {
                poller.known.insert(fd, id);
                return Ok(());
            }
            match std::io::Error::last_os_error().raw_os_error().unwrap_or(0) {
                libc::EPERM => {
                    poller.always.insert(id, interests);
                    return Ok(());
                }
                libc::EEXIST => call = libc::EPOLL_CTL_MOD,
                libc::ENOENT => call = libc::EPOLL_CTL_ADD,
                errno => return fail(cx, errno, "epoll_ctl(2)"),
            }
        }
        fail_os(cx, "epoll_ctl(2)")
    }
    /// Waits for so many seconds (nil: for ever): [monitor, events, ...], nil when the time is over. A `wakeup` ends the wait with what there is.
    #[method("__wait", private)]
    fn wait(cx: &mut Cx, this: Value, seconds: Value) -> Result<Value> {
        let seconds = if seconds.is_nil() { None } else { Some(cx.to_f64(seconds)?.clamp(0.0, 1e9)) };
        let deadline = seconds.map(|s| Instant::now() + Duration::try_from_secs_f64(s).unwrap_or_default());
        loop {
            let poller = cx.data_ref::<Poller>(this)?;
            let (fd, event) = (poller.epoll.as_raw_fd(), poller.event.as_raw_fd());
            let mut ready: Vec<(u64, i64)> = poller.always.iter().map(|(id, interests)| (*id, *interests)).collect();
            let mut woken = false;
            let mut events = [libc::epoll_event { events: 0, u64: 0 }; 256];
            // SAFETY: room for as many events as it says.
            let n = unsafe { libc::epoll_wait(fd, events.as_mut_ptr(), events.len() as i32, 0) };
            for e in events.iter().take(n.max(0) as usize) {
                if e.u64 == WAKE {
                    let mut count = [0u8; 8];
                    // SAFETY: eight bytes.
                    unsafe { libc::read(event, count.as_mut_ptr().cast(), 8) };
                    woken = true;
                    continue;
                }
                // An error or a hang-up shows at the next read or write.
                let (events, gone) = (e.events as i32, e.events as i32 & (libc::EPOLLERR | libc::EPOLLHUP) != 0);
                let bit = |event: i32, bit: i64| if gone || events & event != 0 { bit } else { 0 };
                ready.push((e.u64, bit(libc::EPOLLIN, READ) | bit(libc::EPOLLOUT, WRITE)));
            }
            if woken || !ready.is_empty() {
                return Ok(cx.array_of(ready.into_iter().flat_map(|(id, bits)| [Value::fixnum(id as i64), Value::fixnum(bits)])));
            }
            let left = deadline.map(|d| d.saturating_duration_since(Instant::now()).as_secs_f64());
            if left == Some(0.0) {
                return Ok(Value::NIL);
            }
            wait_timeout(cx, fd, libc::POLLIN, left)?;
        }
    }
    #[method("__wake", private)]
    fn wake(cx: &mut Cx, this: Value) -> Result<()> {
        let event = cx.data_ref::<Poller>(this)?.event.as_raw_fd();
        // SAFETY: eight bytes to a descriptor that never waits.
        unsafe { libc::write(event, 1u64.to_ne_bytes().as_ptr().cast(), 8) };
        Ok(())
    }
}

/// `require "nio4r_ext"`
pub fn load(cx: &mut Cx) -> Result<()> {
    let module = cx.define_module(ids::OBJECT, "NIO");
    let class = cx.define_class(module, "Selector", ids::OBJECT);
    cx.class_mut(class).alloc = Alloc::Data;
    cx.define_natives(class, &[selector::METHODS]);
    cx.run_builtin("nio4r_ext")
}
