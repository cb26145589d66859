//! Who a VM is, and who made it: all that may be known of a VM without power over it.
//!
//! Power over a VM is its control block ([`crate::host::VmControl`]); whoever holds that may end the VM and read what it left. An [`Identity`] leads to no
//! control block, so that what holds only this can't be turned into more.
//!
//! Identities form a tree, from the made to the makers. A maker that has ended is skipped, and forgotten at the next look: a long line of VMs, each of which
//! made the next and ended, keeps none of them.
//! Rejected: a list of ancestors in each VM (a line of n VMs would hold n * n); numbers alone (the line would be cut where a VM has ended).

use crate::asker::Asker;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zakuro_base::sync::held::Mutex;

/// See the module.
pub struct Identity {
    /// Number of the VM in this process.
    pub id: u64,
    pub name: Arc<str>,
    /// Its shares of what the process has once: the compiler's time, memory for machine code.
    pub asker: Arc<Asker>,
    /// Written once each, by whoever starts the VM and by the VM at its end; read by anyone.
    started: AtomicBool,
    ended: AtomicBool,
    /// None: made by the process itself. Replaced by an ancestor when the maker has ended. A short lock: nothing is called, and no other taken, while it is held.
    maker: Mutex<Option<Arc<Identity>>>,
}

impl Identity {
    pub fn new(id: u64, name: &str, maker: Option<&Arc<Identity>>) -> Arc<Identity> {
        if let Some(m) = maker {
            // Here, since otherwise nobody may ever ask: see the module.
            m.living_maker();
        }
        Arc::new(Identity {
            id,
            name: name.into(),
            asker: Asker::below(id, maker.map(|m| &m.asker)),
            started: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            maker: Mutex::new(maker.cloned()),
        })
    }
    pub fn has_started(&self) -> bool {
        self.started.load(Ordering::Acquire)
    }
    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }
    /// Whether it was started and has not ended.
    pub fn is_alive(&self) -> bool {
        self.has_started() && !self.has_ended()
    }
    pub(crate) fn set_started(&self) {
        self.started.store(true, Ordering::Release);
    }
    pub(crate) fn set_ended(&self) {
        self.ended.store(true, Ordering::Release);
    }
    fn maker(&self) -> Option<Arc<Identity>> {
        self.maker.lock().clone()
    }
    /// The nearest ancestor that has not ended.
    fn living_maker(&self) -> Option<Arc<Identity>> {
        let mut at = self.maker();
        let mut skipped = false;
        while let Some(m) = at.take_if(|m| m.has_ended()) {
            at = m.maker();
            skipped = true;
        }
        if skipped {
            // What it replaces is dropped when the lock is free again.
            drop(std::mem::replace(&mut *self.maker.lock(), at.clone()));
        }
        at
    }
    /// Whether this is the VM with the number `ancestor`, or was made by it or by one that descends from it. `known` keeps answers for the next question about
    /// the same ancestor, so that all VMs of a long line together take one walk.
    pub fn descends_from(self: &Arc<Self>, ancestor: u64, known: &mut HashMap<u64, bool>) -> bool {
        let mut line = Vec::new();
        let mut at = Some(self.clone());
        let answer = loop {
            let Some(i) = at else { break false };
            if i.id == ancestor {
                break true;
            }
            if let Some(k) = known.get(&i.id) {
                break *k;
            }
            line.push(i.id);
            at = i.living_maker();
        };
        known.extend(line.into_iter().map(|id| (id, answer)));
        answer
    }
}

impl Drop for Identity {
    /// Not by recursion: a line may be long.
    fn drop(&mut self) {
        let mut next = self.maker.get_mut().take();
        while let Some(m) = next {
            next = Arc::into_inner(m).and_then(|mut m| m.maker.get_mut().take());
        }
    }
}

#[cfg(test)]
#[path = "lineage_tests.rs"]
mod tests;
