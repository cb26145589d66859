//! How many descriptors a VM has open, and `fd_limit:`, which stands against that.
//!
//! What opens a descriptor for a program asks first ([`admit`]); what keeps one open holds a [`Held`], which counts until it is dropped: streams, directories,
//! bare numbers (`IO.sysopen`), and copies of streams that wait in messages and images of the VM. A receiver counts what it has received from then on. What a builtin opens and closes within one call is not counted, nor are descriptors 0 to 2.
//!
//! Rejected: RLIMIT_NOFILE (it is the process's); counting in the kernel's table (/proc/self/fd has those of all VMs).

use crate::io::fail;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use zakuro_macros::Trace;
use zakuro_vm::allowance::Allowance;
use zakuro_vm::life::descriptors_are_short;
use zakuro_vm::*;

/// Count of one VM. Shared with what has left the VM and still counts for it, which may be dropped anywhere (Relaxed: a number).
struct Account {
    open: AtomicUsize,
    limit: usize,
    /// What the VM shares with those that it makes.
    family: Option<Arc<Allowance>>,
}
impl Account {
    fn open(&self, count: usize) -> usize {
        self.family.as_ref().inspect(|f| f.open(count));
        self.open.fetch_add(count, Relaxed)
    }
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
    /// As many again. None: the limit is reached. It is said, too, when a copy of the copy would reach it: a VM that starts from it makes one, where nothing can be collected.
    pub fn again(&self) -> Option<Held> {
        let open = self.account.open(self.count) + self.count;
        let held = Held { account: self.account.clone(), count: self.count };
        let refuses = |more| open + more > self.account.limit || self.account.family.as_ref().is_some_and(|f| f.refuses_descriptors(more).is_some());
        if refuses(self.count) {
            descriptors_are_short();
        }
        (!refuses(0)).then_some(held)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.account.open.fetch_sub(self.count, Relaxed);
        self.account.family.as_ref().inspect(|f| f.close(self.count));
    }
}

fn account(cx: &mut Cx) -> Arc<Account> {
    let limit = cx.life.limits().descriptors.unwrap_or(usize::MAX);
    let family = cx.life.allowance().cloned();
    cx.state::<Open>().0.get_or_insert_with(|| Arc::new(Account { open: AtomicUsize::new(0), limit, family })).clone()
}

/// `count` descriptors were opened and stay open.
pub fn hold(cx: &mut Cx, count: usize) -> Held {
    let account = account(cx);
    account.open(count);
    Held { account, count }
}

/// Raises Errno::EMFILE when the VM may not open so many more, even after a collection.
pub fn admit(cx: &mut Cx, count: usize) -> Result<()> {
    if refused(cx, count).is_none() {
        return Ok(());
    }
    sweep(cx);
    match refused(cx, count) {
        Some(limit) => fail(cx, libc::EMFILE, &format!("fd_limit of {limit}")),
        None => Ok(()),
    }
}

/// The limit against which so many more would be.
fn refused(cx: &mut Cx, count: usize) -> Option<usize> {
    let limit = cx.life.limits().descriptors?;
    if account(cx).open.load(Relaxed) + count > limit { Some(limit) } else { cx.life.allowance()?.refuses_descriptors(count) }
}

/// Collects, and has the finalizers run: what is dead gives its descriptor back now, not when its memory is needed.
pub fn sweep(cx: &mut Cx) {
    cx.collect();
    cx.heap.each_cell(&mut |_| {});
}
