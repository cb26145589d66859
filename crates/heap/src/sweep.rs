//! Sweeping and the end of a heap.
//!
//! Goal: work on metadata only. Memory of a dead cell is read just by its finalizer.
//!
//! Invariants
//! - After a marking each block that it looked at is empty and without finalizers (to the reserve at once), or has nothing to sweep because all of its cells are marked,
//!   or is unswept, for as many minor collections as it takes. Sweeping makes `alloc` what was marked; the marks stay.
//! - The finalizer bit is cleared before the finalizer runs, so that it runs once even if it panics.
//!
//! Rejected
//! - Sweeping each block fully in the pause: the pause would grow with the heap and not with what lives.
//! - Filling blocks that are almost full: a run of one cell costs the slow path per allocation. They rest for a cycle.

use std::{mem, ptr};

use crate::block::{Body, NONE, State};
use crate::ledger::BLOCK_SHIFT;
use crate::size_class::CLASSES;
use crate::state::{FinalizeCx, HeapState};

/// A swept block is worth allocating from if at least this part (1/n) of its cells is free.
const WORTHWHILE: usize = 16;
/// So many blocks may be swept on the side at a time in any case, and looked at for a free cell,
const BLOCKS_AT_A_TIME: usize = 8;
const BLOCKS_LOOKED_AT: usize = 64;
/// unless they have so many cells with finalizers together, which takes 0.2 ms.
const FINALIZED_AT_A_TIME: usize = 4096;

impl HeapState {
    /// A block of `class` with free cells that this heap already uses, sweeping some if need be. None: rather a new block than a longer search.
    pub(crate) fn swept_block(&mut self, class: usize) -> Option<u32> {
        let lists = &self.classes[class];
        let (block, is_open) = if lists.open != NONE { (lists.open, true) } else { (lists.available, false) };
        if block != NONE {
            // SAFETY: this heap owns the block.
            let next = unsafe { (*self.body(block)).next };
            let lists = &mut self.classes[class];
            *(if is_open { &mut lists.open } else { &mut lists.available }) = next;
            return Some(block);
        }
        if self.classes[class].unswept == NONE {
            return None;
        }
        let began = self.told.sweep_begins();
        let (mut found, mut blocks, mut finalized) = (None, BLOCKS_LOOKED_AT, 0);
        while found.is_none()
            && blocks > 0
            && finalized < FINALIZED_AT_A_TIME
            && let Some(block) = self.pop_unswept(class)
        {
            // SAFETY: this heap owns the block.
            finalized += unsafe { (*self.body(block)).finalized } as usize;
            let free = self.sweep_block(block);
            if free > 0 && self.is_worthwhile(block, free) {
                found = Some(block);
            } else {
                self.push_full(class, block);
            }
            blocks -= 1;
        }
        self.told.sweep_ended(began);
        found
    }

    pub(crate) fn has_unswept(&self) -> bool {
        self.unswept != 0
    }

    /// Sweeps all that collections have left. Empty blocks go to the reserve.
    pub(crate) fn finish_sweep(&mut self) {
        if !self.has_unswept() {
            return;
        }
        let began = self.told.sweep_begins();
        for class in 0..CLASSES {
            while let Some(block) = self.pop_unswept(class) {
                self.sweep_and_file(class, block);
            }
        }
        self.told.sweep_ended(began);
    }

    /// Sweeps some of what collections have left: called for each new run, so that little is left for the next full collection to wait for.
    #[inline]
    pub(crate) fn sweep_share(&mut self) {
        if self.sweep_at_a_time != 0 {
            self.sweep_some();
        }
    }
    #[cold]
    fn sweep_some(&mut self) {
        let began = self.told.sweep_begins();
        let (mut blocks, mut finalized) = (self.sweep_at_a_time, 0);
        for class in 0..CLASSES {
            while blocks > 0
                && finalized < FINALIZED_AT_A_TIME
                && let Some(block) = self.pop_unswept(class)
            {
                // SAFETY: this heap owns the block.
                finalized += unsafe { (*self.body(block)).finalized } as usize;
                self.sweep_and_file(class, block);
                blocks -= 1;
            }
        }
        self.told.sweep_ended(began);
        if !self.has_unswept() {
            self.sweep_at_a_time = 0;
            self.is_swept();
        }
    }

    /// After marking: empty blocks to the reserve, the others to the unswept lists; those with finalizers are swept here instead, as long as `finalize_now` cells have one.
    /// Where not all was marked anew, blocks in which nothing was allocated since the last marking stay as they are: nothing died there.
    pub(crate) fn partition(&mut self, all: bool, mut finalize_now: usize) {
        let reserved = self.reserve.len();
        for class in 0..CLASSES {
            if self.classes[class].is_blank() {
                continue;
            }
            let lists = &mut self.classes[class];
            let mut chains = [mem::replace(&mut lists.open, NONE), mem::replace(&mut lists.filled, NONE), NONE, NONE];
            if all {
                (chains[2], chains[3]) = (mem::replace(&mut lists.available, NONE), mem::replace(&mut lists.full, NONE));
            }
            for first in chains {
                let mut block = first;
                while block != NONE {
                    let body = self.body(block);
                    // SAFETY: this heap owns the block; the reference ends before anything else looks at it.
                    let (next, marked, finalized) = unsafe { ((*body).next, (*body).marked, (*body).finalized) };
                    // SAFETY: as above.
                    if marked != 0 && unsafe { (*body).all_marked() } {
                        // SAFETY: as above.
                        let free = unsafe { (*body).cells - marked } as usize;
                        self.file(class, block, free);
                    } else if finalized != 0 && finalize_now != 0 {
                        finalize_now = finalize_now.saturating_sub(finalized as usize);
                        self.sweep_and_file(class, block);
                    } else if marked == 0 && finalized == 0 {
                        self.assert_unnoted(block);
                        self.release_block(block);
                    } else {
                        // SAFETY: as above.
                        unsafe {
                            (*body).state = State::Unswept;
                            (*body).next = self.classes[class].unswept;
                        }
                        self.classes[class].unswept = block;
                        self.unswept += 1;
                    }
                    block = next;
                }
            }
        }
        // Done when half of the next cycle's blocks were opened; what takes longer than a few blocks at a time, when the old part has grown by a quarter of what it may.
        let done_in = |blocks: usize, bytes: usize| blocks.div_ceil((bytes >> BLOCK_SHIFT).max(1));
        self.sweep_at_a_time =
            done_in(2 * self.unswept, self.limit.extra).min(done_in(4 * self.unswept, self.limit.growth).max(BLOCKS_AT_A_TIME));
        // The lists start with the block filled last, which is the likeliest to be in the cache; the reserve is popped
        // from its end.
        self.reserve[reserved..].reverse();
    }

    fn pop_unswept(&mut self, class: usize) -> Option<u32> {
        let block = self.classes[class].unswept;
        if block == NONE {
            return None;
        }
        // SAFETY: this heap owns the block.
        self.classes[class].unswept = unsafe { (*self.body(block)).next };
        self.unswept -= 1;
        Some(block)
    }

    fn push_full(&mut self, class: usize, block: u32) {
        // SAFETY: this heap owns the block.
        unsafe { (*self.body(block)).next = self.classes[class].full };
        self.classes[class].full = block;
    }

    fn sweep_and_file(&mut self, class: usize, block: u32) {
        let free = self.sweep_block(block);
        self.file(class, block, free);
    }

    /// Puts a swept block with so many free cells where it belongs.
    fn file(&mut self, class: usize, block: u32, free: usize) {
        // SAFETY: this heap owns the block.
        let cells = unsafe { (*self.body(block)).cells } as usize;
        if free == cells {
            self.assert_unnoted(block);
            self.release_block(block);
        } else if self.is_worthwhile(block, free) {
            // SAFETY: as above.
            unsafe { (*self.body(block)).next = self.classes[class].available };
            self.classes[class].available = block;
        } else {
            self.push_full(class, block);
        }
    }

    fn is_worthwhile(&self, block: u32, free: usize) -> bool {
        // SAFETY: this heap owns the block.
        free * WORTHWHILE >= unsafe { (*self.body(block)).cells } as usize
    }

    /// A block that goes must not stand in the list of those with noted cells.
    fn assert_unnoted(&self, block: u32) {
        // SAFETY: this heap owns the block.
        debug_assert!(unsafe { !(*self.body(block)).remembered }, "a block without marked cells has noted ones");
    }

    fn release_block(&mut self, block: u32) {
        // The alloc bits stay as they are; with no cells, a conservative lookup doesn't come to them.
        // SAFETY: this heap owns the block.
        unsafe { (*self.body(block)).cells = 0 };
        self.blocks -= 1;
        self.reserve.push(block);
    }

    /// Frees what was not marked. Returns the number of free cells.
    fn sweep_block(&mut self, block: u32) -> usize {
        let body = self.body(block);
        // SAFETY: this heap owns the block. Finalizers get no way to it while the reference lives: they see their cell
        // and the context only.
        let b = unsafe { &mut *body };
        let start = self.address(block);
        b.state = State::Swept;
        if b.finalized > 0 {
            self.finalize_cells(b, start, |b, w| b.alloc()[w] & !b.mark()[w] & b.fin()[w]);
        }
        #[cfg(debug_assertions)]
        poison(b, start);
        for w in 0..b.words() {
            let marked = b.mark()[w];
            b.alloc_mut()[w] &= marked;
        }
        b.cells as usize - b.marked as usize
    }

    /// Runs the finalizers of the cells that `select` names, word by word.
    fn finalize_cells(&mut self, b: &mut Body, start: usize, select: impl Fn(&Body, usize) -> u64) {
        let mut cx = FinalizeCx { shown: mem::take(&mut self.shown), member: self.member.take(), ..FinalizeCx::default() };
        for w in 0..b.words() {
            let mut dead = select(b, w);
            while dead != 0 {
                let bit = dead & dead.wrapping_neg();
                dead ^= bit;
                b.fin_mut()[w] ^= bit;
                b.finalized -= 1;
                let cell = start + (w * 64 + bit.trailing_zeros() as usize) * b.size as usize;
                // SAFETY: an allocated cell, whose owner asked for this call.
                unsafe { (self.finalize)(ptr::with_exposed_provenance_mut(cell), &mut cx) };
            }
        }
        self.payload_freed(&cx);
        (self.shown, self.member) = (cx.shown, cx.member);
    }

    /// Runs the finalizers that are left in the blocks of a chain; moves the blocks to the reserve.
    fn dissolve(&mut self, first: u32) {
        let mut block = first;
        while block != NONE {
            // SAFETY: this heap owns the block.
            let b = unsafe { &mut *self.body(block) };
            if b.finalized > 0 {
                let start = self.address(block);
                self.finalize_cells(b, start, |b, w| b.fin()[w]);
            }
            let next = b.next;
            self.release_block(block);
            block = next;
        }
    }
}

impl Drop for HeapState {
    /// Runs the finalizers of all remaining cells, dead or alive, and gives the blocks back unseen.
    fn drop(&mut self) {
        self.leave_share();
        if self.lookup.id == 0 {
            return;
        }
        self.reserve.reserve(self.blocks);
        for class in 0..CLASSES {
            let lists = self.classes[class];
            if lists.lists().into_iter().fold(lists.current & lists.unswept, |all, list| all & list) == NONE {
                continue;
            }
            if lists.current != NONE {
                // SAFETY: this heap owns the block.
                unsafe { (*self.body(lists.current)).next = NONE };
            }
            for first in [lists.current, lists.unswept].into_iter().chain(lists.lists()) {
                self.dissolve(first);
            }
        }
        self.trim(0);
    }
}

/// Overwrites dead cells, so that a missed reference shows at once: in builds with debug assertions, which is what most tests run.
#[cfg(debug_assertions)]
fn poison(b: &Body, start: usize) {
    for w in 0..b.words() {
        let mut dead = b.alloc()[w] & !b.mark()[w];
        while dead != 0 {
            let cell = start + (w * 64 + dead.trailing_zeros() as usize) * b.size as usize;
            dead &= dead - 1;
            // SAFETY: a dead cell of this heap.
            unsafe { ptr::with_exposed_provenance_mut::<u8>(cell).write_bytes(0xDB, b.size as usize) };
        }
    }
}
