//! How many descriptors a VM has open, and `fd_limit:`, which stands against that.
//!
//! What opens a descriptor for a program asks first ([`admit`]); what keeps one open holds a [`Held`], which counts until it is dropped: streams, directories,
//! and copies of streams that wait in messages and images of the VM. A receiver counts what it has received from then on. Bare numbers (`IO.sysopen`) are looked
//! for in the system when a VM with a limit asks. What a builtin opens and closes within one call is not counted, nor are descriptors 0 to 2.
//!
//! Rejected: RLIMIT_NOFILE (it is the process's); counting in the kernel's table (/proc/self/fd has those of all VMs).

use super::owner::Numbers;
use crate::io::fail;
use crate::io::object::Io;
use crate::io::stream::IoState;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use zakuro_macros::Trace;
use zakuro_vm::*;

/// Count of one VM. Shared with what has left the VM and still counts for it, which may be dropped anywhere (Relaxed: a number).
struct Account {
    open: AtomicUsize,
    limit: usize,
}

/// The count of the running VM; made when it first opens something.
#[derive(Trace, Default)]
struct Open(#[untraced] Option<Arc<Account>>);
impl VmState for Open {}

/// So many descriptors are open.
pub struct Held {
    account: Arc<Account>,
    count: usize,
}

impl Held {
    /// As many again. None: the limit is reached.
    pub fn again(&self) -> Option<Held> {
        let before = self.account.open.fetch_add(self.count, Relaxed);
        let held = Held { account: self.account.clone(), count: self.count };
        (before + self.count <= self.account.limit).then_some(held)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.account.open.fetch_sub(self.count, Relaxed);
    }
}

fn account(cx: &mut Cx) -> Arc<Account> {
    let limit = cx.life.limits().descriptors.unwrap_or(usize::MAX);
    cx.state::<Open>().0.get_or_insert_with(|| Arc::new(Account { open: AtomicUsize::new(0), limit })).clone()
}

/// `count` descriptors were opened and stay open.
pub fn hold(cx: &mut Cx, count: usize) -> Held {
    let account = account(cx);
    account.open.fetch_add(count, Relaxed);
    Held { account, count }
}

/// Raises Errno::EMFILE when the VM may not open so many more, even after a collection.
pub fn admit(cx: &mut Cx, count: usize) -> Result<()> {
    let Some(limit) = cx.life.limits().descriptors else { return Ok(()) };
    if open(cx) + count <= limit {
        return Ok(());
    }
    sweep(cx);
    if open(cx) + count <= limit { Ok(()) } else { fail(cx, libc::EMFILE, &format!("fd_limit of {limit}")) }
}

/// Collects, and has the finalizers run: what is dead gives its descriptor back now, not when its memory is needed.
pub fn sweep(cx: &mut Cx) {
    cx.collect();
    cx.heap.each_cell(&mut |_| {});
}

fn open(cx: &mut Cx) -> usize {
    let held = account(cx).open.load(Relaxed);
    if cx.state::<Numbers>().is_empty() {
        return held;
    }
    let mut streams = HashSet::new();
    cx.state::<IoState>().open.each(|io: &mut Io| {
        if io.owned {
            streams.extend([io.fd, io.wfd]);
        }
    });
    // SAFETY: F_GETFD only asks whether the descriptor is open.
    let bare = |fd: &i32| !streams.contains(fd) && unsafe { libc::fcntl(*fd, libc::F_GETFD) } != -1;
    held + cx.state::<Numbers>().list().iter().filter(|fd| bare(fd)).count()
}
