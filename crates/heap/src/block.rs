//! Metadata of one block, kept in the ledger's side table.
//!
//! Goal: everything that allocation, marking and sweeping ask about a block is in its first cache line, followed by
//! four bitmaps with one bit per cell.
//!
//! Invariants
//! - `fin` is a subset of `alloc`. `mark` is what the last marking found, until the next full one: a cell that is allocated and has no mark is younger.
//! - `revisit` is zero where `remembered` is false. A bit of it counts only together with the mark.
//! - `alloc` also covers the not yet used rest of a free run that the allocator holds; the heap knows that range.
//! - Only the owning heap touches [`Body`]; `owner` and `region` alone are read by others.
//!
//! Rejected: metadata at the start of the block. Reading it would fault in a page of every dead block, and all of
//! them would compete for the same cache sets.

use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{AtomicU64, AtomicUsize};

use crate::ledger::BLOCK_SIZE;
use crate::size_class::{MAX_CELLS, SIZES, reciprocal};

pub(crate) const WORDS: usize = MAX_CELLS / 64;
/// End of a block list.
pub(crate) const NONE: u32 = u32::MAX;

#[repr(C, align(64))]
pub(crate) struct BlockMeta {
    /// Id of the heap that holds the block, 0 while the ledger does.
    ///
    /// Written (Relaxed) by the heap that takes or returns the block; the ledger's mutex orders the two. Read (Relaxed)
    /// by any heap whose address range spans the block: it compares with its own id, and a value that is its own was
    /// written by itself, so no ordering is needed.
    pub(crate) owner: AtomicU64,
    /// Key of the region that the block belongs to, 0 for none (module `region`).
    ///
    /// Written (Relaxed) when a region is sealed and when the block goes back to the ledger. Read (Relaxed) by heaps: one that holds
    /// the region got it after the sealing, through whatever handed the region over; others find it in no table of theirs.
    pub(crate) region: AtomicUsize,
    body: UnsafeCell<Body>,
}

// SAFETY: `body` is only reached through `BlockMeta::body`, by the heap named in `owner`; blocks change hands under the
// ledger's mutex.
unsafe impl Sync for BlockMeta {}

impl BlockMeta {
    #[inline(always)]
    pub(crate) fn body(&self) -> *mut Body {
        self.body.get()
    }
}

#[repr(u8)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// `alloc` is what is allocated.
    Swept = 0,
    /// `alloc & mark` is what lives; the rest waits for its finalizers.
    Unswept = 1,
}

#[repr(C)]
pub(crate) struct Body {
    /// Next block of the list that this one is in.
    pub(crate) next: u32,
    /// See [`reciprocal`].
    pub(crate) recip: u32,
    /// Bytes per cell.
    pub(crate) size: u16,
    /// Cells in the block; 0 while it is in a reserve or in the ledger, whatever the bitmaps say.
    pub(crate) cells: u16,
    /// Number of bits in `mark`.
    pub(crate) marked: u16,
    /// Number of bits in `fin`.
    pub(crate) finalized: u16,
    pub(crate) class: u8,
    pub(crate) state: State,
    /// There are bits in `revisit`, and the block is in the heap's list of such blocks.
    pub(crate) remembered: bool,
    /// The next one of them.
    pub(crate) next_noted: u32,
    /// This block's number.
    number: u32,
    /// Where that list begins.
    noted: *const Cell<u32>,
    /// Keeps the bitmaps off the first cache line (16 bytes of it are `owner` and `region`).
    _line: [u8; 8],
    pub(crate) alloc: [u64; WORDS],
    pub(crate) mark: [u64; WORDS],
    pub(crate) fin: [u64; WORDS],
    /// Marked cells that the next minor collection traces again.
    pub(crate) revisit: [u64; WORDS],
}

impl Body {
    /// Prepares a block, of whatever past, as one open run of cells of `class`. Returns their number.
    pub(crate) fn init(&mut self, class: usize, number: u32, noted: *const Cell<u32>) -> usize {
        (self.number, self.noted, self.next_noted) = (number, noted, NONE);
        let size = SIZES[class];
        self.next = NONE;
        self.recip = reciprocal(size);
        self.size = size;
        self.cells = (BLOCK_SIZE / size as usize) as u16;
        self.marked = 0;
        self.finalized = 0;
        self.class = class as u8;
        self.state = State::Swept;
        let words = self.words();
        self.alloc[..words].fill(!0);
        self.alloc[words - 1] >>= words * 64 - self.cells as usize;
        self.mark[..words].fill(0);
        self.fin[..words].fill(0);
        self.revisit[..words].fill(0);
        self.remembered = false;
        self.cells as usize
    }

    /// A word of bits of the cells that are allocated, without those that wait for their sweeping.
    #[inline(always)]
    pub(crate) fn lives(&self, word: usize) -> u64 {
        match self.state {
            State::Swept => self.alloc[word],
            State::Unswept => self.alloc[word] & self.mark[word],
        }
    }

    /// Words of each bitmap in use.
    #[inline]
    pub(crate) fn words(&self) -> usize {
        (self.cells as usize).div_ceil(64).min(WORDS)
    }

    /// Index of the cell that contains byte `offset` of the block; `>= cells` in the unused end of the block.
    #[inline(always)]
    pub(crate) fn index(&self, offset: usize) -> usize {
        ((offset as u64 * self.recip as u64) >> 32) as usize
    }

    /// Has the next minor collection trace a cell again.
    #[inline]
    pub(crate) fn note(&mut self, index: usize) {
        if let Some(word) = self.revisit.get_mut(index >> 6) {
            *word |= 1 << (index & 63);
            if !self.remembered {
                self.remembered = true;
                // SAFETY: the heap that has the block keeps the cell where it is, and the caller has the heap.
                self.next_noted = unsafe { (*self.noted).replace(self.number) };
            }
        }
    }

    /// Forgets what was marked.
    pub(crate) fn clear_marks(&mut self) {
        let words = self.words();
        self.mark[..words].fill(0);
        self.marked = 0;
        self.revisit[..words].fill(0);
        // The heap forgets its list, too.
        self.remembered = false;
    }

    /// Whether every allocated cell is marked.
    pub(crate) fn all_marked(&self) -> bool {
        self.alloc[..self.words()].iter().map(|w| w.count_ones()).sum::<u32>() == self.marked as u32
    }

    /// The first run of free cells at or after `from`, as (start, end), marked as allocated.
    pub(crate) fn take_run(&mut self, from: usize) -> Option<(usize, usize)> {
        let cells = self.cells as usize;
        if from >= cells {
            return None;
        }
        let words = self.words();
        let mut w = from >> 6;
        let mut free = !self.alloc[w] & (!0 << (from & 63));
        while free == 0 {
            w += 1;
            if w >= words {
                return None;
            }
            free = !self.alloc[w];
        }
        let start = w * 64 + free.trailing_zeros() as usize;
        if start >= cells {
            return None;
        }
        let mut used = self.alloc[w] & (!0 << (start & 63));
        while used == 0 {
            w += 1;
            if w >= words {
                break;
            }
            used = self.alloc[w];
        }
        let end = if used == 0 { cells } else { (w * 64 + used.trailing_zeros() as usize).min(cells) };
        each_word(start, end, |w, bits| self.alloc[w] |= bits);
        Some((start, end))
    }

    /// Marks the cells `start..end` as free again.
    pub(crate) fn give_back(&mut self, start: usize, end: usize) {
        each_word(start, end, |w, bits| self.alloc[w] &= !bits);
    }
}

/// Calls `f(word, bits)` for each bitmap word that the cells `start..end` touch.
#[inline]
fn each_word(start: usize, end: usize, mut f: impl FnMut(usize, u64)) {
    let mut at = start;
    while at < end {
        let w = at >> 6;
        let stop = end.min((w + 1) * 64);
        let bits = (!0u64 >> (64 - (stop - at))) << (at & 63);
        f(w, bits);
        at = stop;
    }
}

const _: () = assert!(size_of::<BlockMeta>() == 64 + 4 * 8 * WORDS);

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "block_tests.rs"]
mod tests;
