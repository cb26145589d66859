//! Waiters: how a thread of a VM stands in line at one or several channels.
//!
//! ```text
//!   FREE --arm--> WAITING --claim (under a channel's lock)--> CLAIMING --> CLAIMED --collect or unregister--> FREE
//!                    +------------------ disarm ------------------------------------------------------------^
//! ```
//!
//! Invariants: each arming has its own epoch; a channel's entry holds the epoch of its registration, so entries of an earlier wait
//! can't claim a later one. A waiter is claimed at most once per arming, by whichever channel's compare-exchange comes first.
//! Rejected: a new waiter per wait (a malloc and a free on another core, 150-640 ns).

use zakuro_base::sync::Arc;
use zakuro_base::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::{Mailbox, Task};

const FREE: u64 = 0;
const WAITING: u64 = 1;
const CLAIMING: u64 = 2;
const CLAIMED: u64 = 3;
const STATUS: u64 = 3;
const EPOCH: u64 = 4;

/// Why a waiter was claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A message is set aside for it.
    Message,
    /// A place in the queue is set aside for it.
    Space,
    /// The channel was closed.
    Closed,
}

struct Shared {
    task: Task,
    /// The owner's, with the mailbox's other side; and what is left there, which the owner writes while the waiter is free.
    mailbox: Option<std::sync::Arc<Mailbox>>,
    note: AtomicU32,
    /// Epoch and status. Owner: FREE -> WAITING, WAITING -> FREE, CLAIMED -> FREE. A channel, under its lock: WAITING -> CLAIMING
    /// (compare-exchange), then CLAIMED. All transitions release, all looks acquire.
    state: AtomicU64,
    /// Channel id * 4 + reason, and the weight of the message that room was set aside for. Written between CLAIMING and CLAIMED by
    /// the claimer, read when CLAIMED.
    claim: AtomicU64,
    weight: AtomicU64,
    /// Counts selects. The owner's alone.
    turn: AtomicU64,
}

/// What a channel set aside.
pub(crate) struct Claim {
    pub(crate) reason: Reason,
    pub(crate) weight: usize,
    by: u64,
}

/// One place in line, usable at many channels at once. A handle; reuse it for each wait of the same thread.
#[derive(Clone)]
pub struct Waiter(Arc<Shared>);

/// A registration as a channel keeps it.
pub(crate) struct Entry {
    waiter: Waiter,
    epoch: u64,
    weight: usize,
}

impl Waiter {
    pub fn new(task: &Task) -> Waiter {
        Waiter::with_mailbox(task, None)
    }

    /// Whoever wakes the task leaves a note first that says for which of its threads ([`Waiter::note`]): the others need not look.
    pub fn with_mailbox(task: &Task, mailbox: Option<std::sync::Arc<Mailbox>>) -> Waiter {
        Waiter(Arc::new(Shared {
            task: task.clone(),
            mailbox,
            note: AtomicU32::new(0),
            state: AtomicU64::new(FREE),
            claim: AtomicU64::new(0),
            weight: AtomicU64::new(0),
            turn: AtomicU64::new(0),
        }))
    }

    /// What is left in the mailbox from here on; 0: nothing. The waiter is free. Whether it has a mailbox.
    pub fn note(&self, note: u32) -> bool {
        // Read by who claims it, under the lock of a channel under which it is registered afterwards.
        self.0.note.store(note, Ordering::Relaxed);
        self.0.mailbox.is_some()
    }

    pub fn has_mailbox(&self) -> bool {
        self.0.mailbox.is_some()
    }

    /// After a claim, with no lock held.
    #[inline]
    pub(crate) fn wake(&self) {
        if let Some(mailbox) = &self.0.mailbox {
            match self.0.note.load(Ordering::Relaxed) {
                0 => {}
                note => mailbox.leave(note),
            }
        }
        self.0.task.wake();
    }

    /// The channel that claimed this waiter, and why; None while it waits or is free. What a woken thread looks at first.
    #[inline]
    pub fn claimed(&self) -> Option<(u64, Reason)> {
        self.claim().map(|claim| (claim.by, claim.reason))
    }

    #[inline]
    fn claim(&self) -> Option<Claim> {
        let state = self.0.state.load(Ordering::Acquire);
        if state & STATUS != CLAIMED {
            return None;
        }
        let claim = self.0.claim.load(Ordering::Relaxed);
        let reason = match claim & 3 {
            0 => Reason::Message,
            1 => Reason::Space,
            _ => Reason::Closed,
        };
        Some(Claim { reason, weight: self.0.weight.load(Ordering::Relaxed) as usize, by: claim >> 2 })
    }

    /// Another number at each call, by its owner.
    pub(crate) fn next_turn(&self) -> u64 {
        let turn = self.0.turn.load(Ordering::Relaxed);
        self.0.turn.store(turn.wrapping_add(1), Ordering::Relaxed);
        turn
    }

    /// Whether it stands in line now, unclaimed.
    #[inline]
    pub fn is_waiting(&self) -> bool {
        self.0.state.load(Ordering::Acquire) & STATUS == WAITING
    }

    /// Whether it neither waits nor is claimed.
    #[inline]
    pub fn is_free(&self) -> bool {
        self.0.state.load(Ordering::Acquire) & STATUS == FREE
    }

    /// Leaves all lines at once, if nobody has claimed the waiter: entries that are left behind are dead. False: it was claimed,
    /// and the claim has to be collected or handed on (`Channel::unregister`).
    #[inline]
    #[must_use]
    pub fn disarm(&self) -> bool {
        let state = self.0.state.load(Ordering::Acquire);
        match state & STATUS {
            FREE => true,
            WAITING => self.0.state.compare_exchange(state, state & !STATUS, Ordering::AcqRel, Ordering::Relaxed).is_ok(),
            _ => false,
        }
    }

    /// Begins a new wait if the waiter is free; the epoch for its entries. None: it is claimed already, and must not wait.
    #[inline]
    fn arm(&self) -> Option<u64> {
        let state = self.0.state.load(Ordering::Acquire);
        match state & STATUS {
            FREE => {
                let armed = (state + EPOCH) | WAITING;
                // Nobody else touches a free waiter: entries of earlier epochs fail their compare-exchange.
                self.0.state.store(armed, Ordering::Release);
                Some(armed)
            }
            WAITING => Some(state),
            _ => None,
        }
    }

    /// Ends a claim by this channel. Called under the channel's lock, by the waiter's owner.
    #[inline]
    pub(crate) fn collect(&self, channel: u64) -> Option<Claim> {
        let claim = self.claim().filter(|claim| claim.by == channel)?;
        let state = self.0.state.load(Ordering::Relaxed);
        self.0.state.store(state & !STATUS, Ordering::Release);
        Some(claim)
    }
}

impl Entry {
    /// Registers the waiter, beginning a new wait if it is free.
    #[inline]
    pub(crate) fn new(waiter: &Waiter, weight: usize) -> Option<Entry> {
        Some(Entry { epoch: waiter.arm()?, waiter: waiter.clone(), weight })
    }

    /// Registers with the waiter's own entry.
    #[inline]
    pub(crate) fn renew(&mut self, weight: usize) {
        if let Some(epoch) = self.waiter.arm()
            && epoch != self.epoch
        {
            (self.epoch, self.weight) = (epoch, weight);
        }
    }

    /// Whether this entry can claim still.
    #[inline]
    pub(crate) fn is_live(&self) -> bool {
        self.waiter.0.state.load(Ordering::Acquire) == self.epoch
    }

    /// Weight of the message that waits for room.
    pub(crate) fn weight(&self) -> usize {
        self.weight
    }

    pub(crate) fn belongs_to(&self, waiter: &Waiter) -> bool {
        Arc::ptr_eq(&self.waiter.0, &waiter.0)
    }

    /// Tries to claim; the winner gets the waiter whose task to wake after the lock is released (moved, not counted again).
    #[inline]
    pub(crate) fn claim(self, channel: u64, reason: Reason) -> Option<Waiter> {
        let shared = &self.waiter.0;
        let claiming = self.epoch - WAITING + CLAIMING;
        shared.state.compare_exchange(self.epoch, claiming, Ordering::AcqRel, Ordering::Relaxed).ok()?;
        shared.claim.store(channel * 4 + reason as u64, Ordering::Relaxed);
        shared.weight.store(self.weight as u64, Ordering::Relaxed);
        shared.state.store(self.epoch - WAITING + CLAIMED, Ordering::Release);
        Some(self.waiter)
    }
}
