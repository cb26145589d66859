//! Which references of large cells were written since the cells were traced.
//!
//! Goal: a minor collection looks at what was written in a list of a million references, not at the list. (Where objects lie apart, each look is a cache miss: four million took 90 ms.)
//!
//! A cell whose tracer watches it ([`Marker::slots_written`](crate::Marker::slots_written)) keeps the OLD flag while single references are stored in it: each is noted by its index, one bit each, and the cell in
//! its block's `revisit` bits. Whoever writes in another way passes [`remember`](crate::remember), which takes the flag off: then all of it is traced again.
//!
//! Invariant: a cell that has the OLD flag and a table here refers to nothing unmarked but at the noted indices, or it is still to be traced. A table may outlive its cell until the end of the next full marking,
//! which keeps those alone that it has come to and makes them no larger than their cells: what a table says of another cell at that address is only too much.
//!
//! Rejected: a card for several references (one of 32 found half of a list changed where writes are spread; as in Wilson, Moher: "A card-marking scheme for controlling intergenerational references",
//! SIGPLAN Notices 1989); a table in the cell or its buffer, which all Arrays would have room for.

use hashbrown::HashMap;

use crate::state::HeapState;
use crate::{Header, revisit};

/// Indices of what was written, a bit each.
#[derive(Default)]
pub struct Written(Vec<u64>);

impl Written {
    /// Notes `count` indices from `at` on. False: there is no memory for it, and all must count as written.
    #[must_use]
    pub fn note(&mut self, at: usize, count: usize) -> bool {
        if count == 0 {
            return true;
        }
        let (first, last) = (at / 64, (at + count - 1) / 64);
        if last >= self.0.len() {
            if self.0.try_reserve(last + 1 - self.0.len()).is_err() {
                return false;
            }
            self.0.resize(last + 1, 0);
        }
        for (i, word) in self.0[first..=last].iter_mut().enumerate() {
            let (begin, end) = (at.max((first + i) * 64), (at + count).min((first + i + 1) * 64));
            *word |= !0 >> (64 - (end - begin)) << (begin % 64);
        }
        true
    }
    /// Calls `f` with the indices, and forgets them.
    pub fn take(&mut self, mut f: impl FnMut(usize)) {
        for (i, word) in self.0.iter_mut().enumerate() {
            let mut bits = std::mem::take(word);
            while bits != 0 {
                f(i * 64 + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
    }
    /// Nothing of a list of `len` references is written.
    pub fn clear(&mut self, len: usize) {
        let words = len.div_ceil(64);
        if self.0.len() > words {
            self.0.truncate(words);
            self.0.shrink_to_fit();
        }
        self.0.fill(0);
    }
    /// Number of indices.
    pub fn count(&self) -> usize {
        self.0.iter().map(|w| w.count_ones() as usize).sum()
    }
}

#[derive(Default)]
struct Table {
    written: Written,
    /// That of the marking which came to the cell last.
    epoch: u64,
}

/// Of the cells of a heap, by address.
#[derive(Default)]
pub(crate) struct Slots(HashMap<usize, Table, zakuro_base::hash_seed::Fixed>);

impl Slots {
    /// A cell with `len` references is traced from its begin: nothing of it is written. Without memory for it the cell is not watched.
    pub(crate) fn watch(&mut self, cell: *mut Header, len: usize, epoch: u64) {
        if self.0.try_reserve(1).is_ok() {
            let table = self.0.entry(cell.addr()).or_default();
            table.written.clear(len);
            table.epoch = epoch;
        }
    }
    /// Calls `f` with the indices that were noted, and forgets them. False: the cell is not watched.
    pub(crate) fn take(&mut self, cell: *mut Header, f: impl FnMut(usize)) -> bool {
        self.0.get_mut(&cell.addr()).map(|table| table.written.take(f)).is_some()
    }
    /// Forgets the cells that the marking of this epoch has not come to: they are dead, or not large any more.
    pub(crate) fn retain(&mut self, epoch: u64) {
        self.0.retain(|_, table| table.epoch == epoch);
        if self.0.len() < self.0.capacity() / 4 {
            self.0.shrink_to_fit();
        }
    }
}

impl HeapState {
    /// See [`Heap::writes_slots`](crate::Heap::writes_slots).
    pub(crate) fn writes_slots(&mut self, cell: *mut Header, at: usize, count: usize) -> bool {
        if !self.slots.0.get_mut(&cell.addr()).is_some_and(|table| table.written.note(at, count)) {
            return false;
        }
        // SAFETY: the caller's cell, live and this heap's.
        unsafe { revisit(cell) };
        true
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "slots_tests.rs"]
mod tests;
