//! Which references of large cells were written since the cells were traced.
//!
//! Goal: a minor collection looks at what was written in a list of a million references, not at the list. (Where objects lie apart, each look is a cache miss: four million took 90 ms.)
//!
//! A cell whose tracer watches it ([`Marker::slots_written`](crate::Marker::slots_written)) keeps the OLD flag while single references are stored in it: each is noted by its index, one bit each, and the cell in
//! its block's `revisit` bits. Whoever writes in another way passes [`remember`](crate::remember), which takes the flag off: then all of it is traced again.
//!
//! Invariant: a cell that has the OLD flag and a table here refers to nothing unmarked but at the noted indices, or it is still to be traced. A table may outlive its cell until the end of the next full marking:
//! what it says of another one at that address is only too much.
//!
//! Rejected: a card for several references (one of 32 found half of a list changed where writes are spread); a table in the cell or its buffer, which all Arrays would have room for.

use hashbrown::HashMap;

use crate::state::HeapState;
use crate::{Header, revisit};

#[derive(Default)]
pub(crate) struct Slots {
    /// By address of the cell.
    tables: HashMap<usize, Vec<u64>, foldhash::fast::FixedState>,
}

impl Slots {
    /// The cell is traced from its begin: nothing of it is written. Without memory for it the cell is not watched.
    pub(crate) fn watch(&mut self, cell: *mut Header) {
        if self.tables.try_reserve(1).is_ok() {
            self.tables.entry(cell.addr()).or_default().fill(0);
        }
    }
    /// Calls `f` with the indices that were noted, and forgets them. False: the cell is not watched.
    pub(crate) fn take(&mut self, cell: *mut Header, mut f: impl FnMut(usize)) -> bool {
        let Some(table) = self.tables.get_mut(&cell.addr()) else { return false };
        for (i, word) in table.iter_mut().enumerate() {
            let mut bits = std::mem::take(word);
            while bits != 0 {
                f(i * 64 + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
        true
    }
    /// Notes an index. False: the cell is not watched, or there is no memory.
    fn note(&mut self, cell: *mut Header, index: usize) -> bool {
        let Some(table) = self.tables.get_mut(&cell.addr()) else { return false };
        let word = index / 64;
        if word >= table.len() {
            if table.try_reserve(word + 1 - table.len()).is_err() {
                return false;
            }
            table.resize(word + 1, 0);
        }
        table[word] |= 1 << (index % 64);
        true
    }
    /// Forgets the cells that do not live.
    pub(crate) fn retain(&mut self, lives: impl Fn(usize) -> bool) {
        self.tables.retain(|cell, _| lives(*cell));
        if self.tables.len() < self.tables.capacity() / 4 {
            self.tables.shrink_to_fit();
        }
    }
}

impl HeapState {
    /// See [`Heap::writes_slots`](crate::Heap::writes_slots).
    pub(crate) fn writes_slots(&mut self, cell: *mut Header, at: usize, count: usize) -> bool {
        if !(at..at + count).all(|i| self.slots.note(cell, i)) {
            return false;
        }
        // SAFETY: the caller's cell, live and this heap's.
        unsafe { revisit(cell) };
        true
    }
}
