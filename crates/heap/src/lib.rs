//! Cells and the memory under them: the arena ledger of the process, one heap per VM, mark/sweep, shared buffers.
//!
//! Goal: an allocation costs a bump and a compare; no VM ever waits for, or is seen by, another VM's collection; a
//! dead VM gives its memory back without looking at it.
//!
//! This crate knows cells, not Ruby: what a cell refers to is told by a [`TraceFn`], what it owns outside the heap is
//! freed by a [`FinalizeFn`].
//!
//! Invariants
//! - A cell starts with a [`Header`] and never moves. Cells are 16-byte aligned and at most [`MAX_CELL`] bytes; what
//!   is larger lives in a [`SharedBuf`] or in a malloc'ed box that a finalized cell owns.
//! - Allocation never collects. The owner asks [`Heap::wants_collection`] at safepoints and calls [`Heap::collect`].
//! - A cell that has the OLD flag is [`remember`]ed before a reference is stored in it (module `collect`).
//! - All that is known about a cell besides its content (allocated, marked, finalized, size) is in a side table, so
//!   neither marking a cell twice nor sweeping touches its memory.
//!
//! Rejected
//! - Mark bits in the header: marking would write to every live cell (and to its page after a fork or a capture), and
//!   sweeping would read every dead one.
//! - Thread-local caches shared by the VMs of a worker (as malloc does): a VM's death would need a sweep.
//! - Free lists threaded through dead cells: they cost a cache miss per allocation and make conservative lookups
//!   guess; runs of free cells are found in the bitmap instead.

mod block;
mod budget;
mod classes;
mod collect;
mod figures;
mod heap;
mod inspect;
mod ledger;
mod limit;
mod mark;
mod region;
mod share;
pub mod shared_buf;
mod size_class;
mod slots;
mod state;
mod sweep;

pub use collect::{remember, revisit};
pub use figures::{HeapStats, Lots, Reason, Record, SizeClass};
pub use heap::{Heap, RunLayout};
pub use ledger::{BLOCK_SIZE, CHUNK_SIZE, Ledger, LedgerStats};
pub use mark::{Marker, Named, NamedFn, Owned};
pub use region::Region;
pub use share::{Share, Shown};
pub use shared_buf::{BufRef, FALLIBLE, LARGE, MAY_FAIL, SHOWN_FROM, SharedBuf, WATCHED, machine_has, malloc_has};
pub use size_class::size_of_cell;
pub use slots::Written;
pub use state::{FinalizeCx, FinalizeFn, Native, TraceFn};
pub use zakuro_base::memory::{OutOfMemory, out_of_memory};

/// The first word of each cell.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Fixes class and ivar layout.
    pub shape: u32,
    /// Tells the tracer and the finalizer how the cell is laid out.
    pub kind: u8,
    /// Bits of [`flags`].
    pub flags: u8,
    /// Free for the kind's own use.
    pub aux: u16,
}

impl Header {
    /// Its bits.
    pub const fn word(self) -> u64 {
        // SAFETY: eight bytes without padding.
        unsafe { std::mem::transmute(self) }
    }
}

/// Bits of [`Header::flags`].
pub mod flags {
    /// Mutation raises FrozenError.
    pub const FROZEN: u8 = 1;
    /// Part of a captured image: the first mutation takes the slow path.
    pub const CAPTURED: u8 = 2;
    /// Lives outside any VM's heap (region, static); never marked, never swept.
    pub const SHARED: u8 = 4;
    /// Was traced, and is not traced by minor collections any more: [`crate::remember`] is called before a reference is stored in it. Set by the
    /// owner's tracer on the kinds of cells that such stores happen to (the bit means something else on others).
    pub const OLD: u8 = 8;
    /// Has instance variables outside its own layout.
    pub const HAS_IVARS: u8 = 16;
    /// Has been asked for its object id.
    pub const HAS_ID: u8 = 32;
    /// Free for the kind's own use.
    pub const USER1: u8 = 64;
    /// Free for the kind's own use.
    pub const USER2: u8 = 128;
}

/// Largest cell in bytes: an environment of 2,000 captured variables fits.
pub const MAX_CELL: usize = 16384;
