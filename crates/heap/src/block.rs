//! Metadata of one block, kept in the ledger's side tables.
//!
//! Goal: everything that allocation, marking and sweeping ask about a block is in its first cache line. Four bitmaps with one bit per cell follow it where they are short, as those of the first block of a heap;
//! those of small cells stand in a table of their own: so a VM that waits has a thirteenth of a page there, and not half of one.
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

/// Words of the longest bitmap.
pub(crate) const WORDS: usize = MAX_CELLS / 64;
/// Words of those that stand behind the block's first cache line: of 512 cells.
const NEAR: usize = 8;
/// The bitmaps of a block that are longer.
pub(crate) type FarBits = [u64; 4 * WORDS];
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
    near: UnsafeCell<[u64; 4 * NEAR]>,
}

// SAFETY: `body` is only reached through `BlockMeta::body`, by the heap named in `owner`; blocks change hands under the
// ledger's mutex.
unsafe impl Sync for BlockMeta {}

impl BlockMeta {
    #[inline(always)]
    pub(crate) fn body(&self) -> *mut Body {
        self.body.get()
    }
    /// Where short bitmaps stand.
    pub(crate) fn near(&self) -> *mut u64 {
        self.near.get().cast()
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
    /// Words from one bitmap to the next.
    stride: u8,
    /// The next one of them.
    pub(crate) next_noted: u32,
    /// This block's number.
    number: u32,
    /// Where that list begins.
    noted: *const Cell<u32>,
    /// The first of four bitmaps: `alloc`, `mark`, `fin`, `revisit`.
    bits: *mut u64,
}

macro_rules! bitmaps {
    ($($(#[$attribute:meta])* $name:ident $name_mut:ident $place:literal;)*) => {
        $($(#[$attribute])*
        #[inline(always)]
        pub(crate) fn $name(&self) -> &[u64] {
            // SAFETY: as many words as cells need, which `init` has provided; they belong to the block as this does.
            unsafe { std::slice::from_raw_parts(self.bits.add($place * self.stride as usize), self.words()) }
        }
        #[inline(always)]
        pub(crate) fn $name_mut(&mut self) -> &mut [u64] {
            // SAFETY: as above.
            unsafe { std::slice::from_raw_parts_mut(self.bits.add($place * self.stride as usize), self.words()) }
        })*
    };
}

impl Body {
    bitmaps! {
        alloc alloc_mut 0;
        mark mark_mut 1;
        fin fin_mut 2;
        /// Marked cells that the next minor collection traces again.
        revisit revisit_mut 3;
    }

    /// Prepares a block, of whatever past, as one open run of cells of `class`. Returns their number.
    ///
    /// # Safety
    /// `near` is the block's [`BlockMeta::near`], `far` points to its [`FarBits`].
    pub(crate) unsafe fn init(&mut self, class: usize, number: u32, noted: *const Cell<u32>, near: *mut u64, far: *mut u64) -> usize {
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
        let (first, stride) = if words <= NEAR { (near, NEAR) } else { (far, WORDS) };
        self.stride = stride as u8;
        self.bits = first;
        let cells = self.cells as usize;
        let alloc = self.alloc_mut();
        alloc.fill(!0);
        alloc[words - 1] >>= words * 64 - cells;
        self.mark_mut().fill(0);
        self.fin_mut().fill(0);
        self.revisit_mut().fill(0);
        self.remembered = false;
        cells
    }

    /// A word of bits of the cells that are allocated, without those that wait for their sweeping.
    #[inline(always)]
    pub(crate) fn lives(&self, word: usize) -> u64 {
        match self.state {
            State::Swept => self.alloc()[word],
            State::Unswept => self.alloc()[word] & self.mark()[word],
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
        if let Some(word) = self.revisit_mut().get_mut(index >> 6) {
            *word |= 1 << (index & 63);
            if !self.remembered {
                self.remembered = true;
                // SAFETY: the heap that has the block keeps the cell where it is, and the caller has the heap.
                self.next_noted = unsafe { (*self.noted).replace(self.number) };
            }
        }
    }

    #[inline]
    pub(crate) fn is_marked(&self, index: usize) -> bool {
        self.mark()[index >> 6] >> (index & 63) & 1 == 1
    }

    /// What is marked, and noted to be traced again, for [`Body::set_marks`].
    pub(crate) fn marks(&self) -> Marks {
        Marks { mark: self.mark().into(), marked: self.marked, revisit: self.revisit().into(), remembered: self.remembered }
    }
    /// The block has as many cells as when `marks` was asked.
    pub(crate) fn set_marks(&mut self, marks: &Marks) {
        self.mark_mut().copy_from_slice(&marks.mark);
        self.revisit_mut().copy_from_slice(&marks.revisit);
        (self.marked, self.remembered) = (marks.marked, marks.remembered);
    }

    /// Forgets what was marked.
    pub(crate) fn clear_marks(&mut self) {
        self.mark_mut().fill(0);
        self.marked = 0;
        self.revisit_mut().fill(0);
        // The heap forgets its list, too.
        self.remembered = false;
    }

    /// Whether every allocated cell is marked.
    pub(crate) fn all_marked(&self) -> bool {
        self.alloc().iter().map(|w| w.count_ones()).sum::<u32>() == self.marked as u32
    }

    /// The first run of free cells at or after `from`, as (start, end), marked as allocated.
    pub(crate) fn take_run(&mut self, from: usize) -> Option<(usize, usize)> {
        let cells = self.cells as usize;
        if from >= cells {
            return None;
        }
        let alloc = self.alloc_mut();
        let words = alloc.len();
        let mut w = from >> 6;
        let mut free = !alloc[w] & (!0 << (from & 63));
        while free == 0 {
            w += 1;
            if w >= words {
                return None;
            }
            free = !alloc[w];
        }
        let start = w * 64 + free.trailing_zeros() as usize;
        if start >= cells {
            return None;
        }
        let mut used = alloc[w] & (!0 << (start & 63));
        while used == 0 {
            w += 1;
            if w >= words {
                break;
            }
            used = alloc[w];
        }
        let end = if used == 0 { cells } else { (w * 64 + used.trailing_zeros() as usize).min(cells) };
        each_word(start, end, |w, bits| alloc[w] |= bits);
        Some((start, end))
    }

    /// Marks the cells `start..end` as free again.
    pub(crate) fn give_back(&mut self, start: usize, end: usize) {
        let alloc = self.alloc_mut();
        each_word(start, end, |w, bits| alloc[w] &= !bits);
    }
}

/// See [`Body::marks`].
pub(crate) struct Marks {
    pub(crate) mark: Box<[u64]>,
    marked: u16,
    revisit: Box<[u64]>,
    remembered: bool,
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

const _: () = assert!(size_of::<BlockMeta>() == 64 + 4 * 8 * NEAR && WORDS <= u8::MAX as usize);

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "block_tests.rs"]
mod tests;
