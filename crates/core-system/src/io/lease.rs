//! Who has a descriptor of the VM, where more than one may: streams, Dirs, threads that wait there, the program itself by its bare number.
//!
//! A number that is closed may be any VM's a moment later. So what may close one has a lease of it, and the first who closes it ends the lease for all.

use super::errors::last_errno;
use super::object::Io;
use super::stream::IoState;
use crate::process::descriptors::{self, Held};
use crate::process::owner::Numbers;
use std::cell::RefCell;
use std::collections::HashMap;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Weak};
use zakuro_base::sync::held::Mutex;
use zakuro_vm::*;

/// Held by a stream and by each thread that waits at a descriptor of it: the number that the stream gives up stays open, and so nobody else's, until the last of them lets go.
/// Whoever gives it up wakes them. One VM has it at a time: the atomics (Relaxed) are there for a stream that travels.
pub(super) struct Lease {
    over: AtomicBool,
    /// Those who have it beside the ones that wait: a stream, others that `IO.for_fd` was given its number for, the list of [`Numbers`]. The first that closes the descriptor does so for all of them.
    holders: AtomicUsize,
    /// What the last one closes; else -1.
    given_up: AtomicI32,
    /// The descriptor counts by itself, whoever has it.
    held: Mutex<Option<Held>>,
}
impl Lease {
    pub fn new() -> Arc<Lease> {
        Arc::new(Lease { over: AtomicBool::new(false), holders: AtomicUsize::new(1), given_up: AtomicI32::new(-1), held: Mutex::new(None) })
    }
    /// One more holder.
    pub fn shared(self: &Arc<Lease>) -> Arc<Lease> {
        self.holders.fetch_add(1, Relaxed);
        self.clone()
    }
    pub fn is_over(&self) -> bool {
        self.over.load(Relaxed)
    }
    /// The number is somebody else's from here on.
    pub fn end(&self) {
        self.over.store(true, Relaxed);
        self.held.lock().take();
    }
    pub fn close(&self) {
        let fd = self.given_up.swap(-1, Relaxed);
        if fd >= 0 {
            // SAFETY: the stream has left the descriptor to its lease, and nobody else uses the number.
            unsafe { libc::close(fd) };
        }
    }
}
impl Drop for Lease {
    fn drop(&mut self) {
        self.close();
    }
}

/// Closes a descriptor that its holder has forgotten just now, or has the last who waits at it do so. Returns errno of a failure.
pub(super) fn give_up(fd: RawFd, owned: bool, lease: Option<Arc<Lease>>) -> Option<i32> {
    let mut holders = 1;
    if let Some(lease) = &lease {
        holders = lease.holders.fetch_sub(1, Relaxed);
        if lease.is_over() {
            // Another one has closed it, and the number may be anybody's: close(2) is not asked, and says what it would say.
            return (fd > 2 && owned).then_some(libc::EBADF);
        }
        // One that does not close the descriptor (`autoclose: false`) leaves it to the other.
        if owned || holders == 1 {
            lease.end();
        }
    }
    // Standard descriptors belong to the process.
    if fd <= 2 || !owned {
        return None;
    }
    if let Some(lease) = lease.filter(|lease| Arc::strong_count(lease) > holders) {
        lease.given_up.store(fd, Relaxed);
        return None;
    }
    // SAFETY: the descriptor was the holder's, and nobody else uses its number.
    if unsafe { libc::close(fd) } == 0 { None } else { Some(last_errno()) }
}

/// A descriptor that somebody waits at.
pub struct Leased {
    pub fd: RawFd,
    pub(super) lease: Arc<Lease>,
}
impl Leased {
    /// Whether the stream has closed it meanwhile.
    pub fn is_over(&self) -> bool {
        self.lease.is_over()
    }
}

/// Numbers that the program knows beside those of streams, as long as their holder lives. The last one who got a number has it.
#[derive(Default)]
pub(super) struct Known(RefCell<HashMap<RawFd, Weak<Lease>>>);
impl Known {
    fn find(&self, fd: RawFd) -> Option<Arc<Lease>> {
        self.0.borrow().get(&fd).and_then(Weak::upgrade).filter(|l| !l.is_over())
    }
}

/// Adds to a list of what may be gone, and drops what is from time to time.
pub(super) fn add<T>(list: &RefCell<Vec<T>>, one: T, lives: fn(&T) -> bool) {
    let mut list = list.borrow_mut();
    if list.len() >= 16 && list.len().is_power_of_two() {
        list.retain(lives);
    }
    list.push(one);
}

/// The lease of a number that somebody in this VM has, for one more of them.
pub(super) fn find(cx: &mut Cx, fd: RawFd) -> Option<Arc<Lease>> {
    let open = &cx.state::<IoState>().open;
    let mut lease = open.known.find(fd);
    open.each(|other: &mut Io| lease = other.lease_of(fd).cloned().or(lease.take()));
    lease.map(|l| l.shared())
}

/// A descriptor that the program may know by its number: a Dir's, or one that nothing but the number stands for. IO objects and Dirs may be made of it.
pub struct Numbered {
    fd: RawFd,
    /// Whether it ends with this; else by `close` only.
    owned: bool,
    lease: Option<Arc<Lease>>,
}
impl Numbered {
    /// One that was opened just now.
    pub fn own(fd: RawFd) -> Numbered {
        Numbered { fd, owned: true, lease: None }
    }
    /// One that the program knows by its number. A bare one becomes its own; a stream's stays the stream's, and what the process was started with stays open until it is closed.
    pub fn given(cx: &mut Cx, fd: RawFd) -> Numbered {
        let owned = cx.state::<Numbers>().has(fd);
        let mut made = Numbered { fd, owned, lease: find(cx, fd) };
        made.number(cx);
        made
    }
    /// One that the VM has whatever becomes of those who have it now: it is closed with the VM, unless they close it.
    pub fn kept(cx: &mut Cx, fd: RawFd) -> Numbered {
        let mut made = Numbered { fd, owned: true, lease: find(cx, fd) };
        made.number(cx);
        made
    }
    /// The number, which the program gets to know.
    pub fn number(&mut self, cx: &mut Cx) -> RawFd {
        if self.lease.is_none() {
            let lease = Lease::new();
            cx.state::<IoState>().open.known.0.borrow_mut().insert(self.fd, Arc::downgrade(&lease));
            self.lease = Some(lease);
        }
        self.fd
    }
    /// The descriptor counts for the VM as long as it is open, and not for those who have it.
    pub fn counts(&mut self, cx: &mut Cx) {
        self.number(cx);
        if let Some(lease) = &self.lease {
            *lease.held.lock() = Some(descriptors::hold(cx, 1));
        }
    }
    /// Whether somebody else with the number has closed it.
    pub fn is_over(&self) -> bool {
        self.fd < 0 || self.lease.as_ref().is_some_and(|l| l.is_over())
    }
    /// For a look that makes no call into Ruby.
    pub fn fd(&self) -> RawFd {
        self.fd
    }
    /// Returns errno of a failure.
    pub fn close(&mut self) -> Option<i32> {
        give_up(std::mem::replace(&mut self.fd, -1), true, self.lease.take())
    }
    /// The number was closed by other means, and may be anybody's.
    pub fn forget(&mut self) {
        self.lease.take().inspect(|l| l.end());
        self.fd = -1;
    }
}
impl Drop for Numbered {
    fn drop(&mut self) {
        give_up(self.fd, self.owned, self.lease.take());
    }
}
