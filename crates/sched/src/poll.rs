//! The poll word: one `u32` per VM through which everybody else asks the VM for attention.
//!
//! Invariants: bits are only ever added by others and removed by the owner, so a request cannot be lost; a bit that is set
//! too often costs the owner one slow-path visit and nothing else.
//! Rejected: a word inside the task (the interpreter would need the task to find it), one word per Ruby thread (a safepoint
//! would read two words).

use zakuro_base::sync::atomic::{AtomicU32, Ordering};

/// The time slice is used up and other units wait for this worker. The scheduler clears it when the next turn starts.
pub const PREEMPT: u32 = 1;
/// The VM's heap wants a collection.
pub const COLLECT: u32 = 2;
/// A signal was delivered to the VM.
pub const SIGNAL: u32 = 4;
/// The VM is to end.
pub const KILL: u32 = 8;
/// One of the VM's threads has an asynchronous exception pending (`Thread#raise`).
pub const RAISE: u32 = 16;
/// Somebody woke the unit while it was running: one of its waiting threads may have become ready.
pub const WAKE: u32 = 32;
/// A tick found the unit running: it may want to know what it runs ([`crate::monitor`]).
pub const SAMPLE: u32 = 64;
/// A profile wants to know what the unit runs ([`crate::Scheduler::profile`]).
pub const PROFILE: u32 = 128;

/// Attention bits of one VM.
///
/// Written (`set`) by any thread; read by the owner at safepoints with a relaxed load, and cleared by the owner.
/// `set` releases and `take` acquires, so what a requester wrote before `set` is visible after `take` returns the bit.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct PollWord(AtomicU32);

impl PollWord {
    pub fn new() -> PollWord {
        PollWord(AtomicU32::new(0))
    }

    /// Adds `bits`. Always a read-modify-write, even if they are set: it publishes what the requester wrote before.
    pub fn set(&self, bits: u32) {
        self.0.fetch_or(bits, Ordering::AcqRel);
    }

    /// Removes `bits` and tells which of them were set.
    pub fn take(&self, bits: u32) -> u32 {
        if self.0.load(Ordering::Relaxed) & bits == 0 {
            return 0;
        }
        self.0.fetch_and(!bits, Ordering::AcqRel) & bits
    }

    /// The safepoint test: one relaxed load.
    #[inline(always)]
    pub fn load(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// The raw word, for generated code that reads it by address.
    #[inline(always)]
    pub fn word(&self) -> &AtomicU32 {
        &self.0
    }
}
