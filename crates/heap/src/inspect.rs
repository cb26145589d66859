//! For programs that look at the heap: what a cell refers to, and which cells were allocated since somebody asked.
//!
//! References are what the tracer marks when it gets the one cell, on empty mark bits that are put back afterwards: so there is no second description of the layouts that
//! could differ from the collector's. Allocations are noted in the cold path of `alloc`: while somebody notes, free runs have one cell each, and each allocation goes there.
//! Rejected: a question in `alloc` itself (the hottest path, for what hardly any program asks).

use std::mem;

use crate::Header;
use crate::mark::Marker;
use crate::state::HeapState;

/// Cells noted and not taken yet; more are left out.
const NOTED: usize = 1 << 20;

impl HeapState {
    /// The cells of this heap that a live cell refers to, each once. None: a marking is under way; a full collection ends it.
    pub fn references(&mut self, cell: *mut Header) -> Option<Vec<*mut Header>> {
        if self.marking.is_some() {
            return None;
        }
        if !self.owns(cell) {
            return Some(Vec::new());
        }
        self.finish_sweep();
        self.close_runs();
        let mut kept = Vec::new();
        self.each_body(&mut |_, b| {
            kept.push((b.mark, b.marked, b.revisit, b.remembered));
            b.mark.fill(0);
            b.marked = 0;
        });
        let (naming, trace) = (self.naming(true), self.trace);
        let mut marker = Marker::new(self.lookup, self.runs, &mut self.holdings, naming);
        marker.is_check = true;
        // SAFETY: a live cell of this heap, which the caller has; nothing runs meanwhile. The tracer notes in the flags that it was there.
        unsafe {
            let flags = (*cell).flags;
            trace(cell, &mut marker);
            marker.trace_rest(trace);
            (*cell).flags = flags;
        }
        let found = mem::take(&mut marker.stack);
        let mut kept = kept.into_iter();
        self.each_body(&mut |_, b| {
            if let Some(k) = kept.next() {
                (b.mark, b.marked, b.revisit, b.remembered) = k;
            }
        });
        Some(found)
    }

    /// Whether cells are noted from now on, as they are allocated. Forgets what was noted.
    pub fn note_allocations(&mut self, on: bool) {
        if on && self.noted.is_none() && self.marking.is_none() {
            self.finish_sweep();
            self.close_runs();
        }
        self.noted = on.then(Vec::new);
    }

    /// Addresses of the cells noted since this was asked last: some may be dead.
    pub fn noted_allocations(&mut self) -> Vec<usize> {
        self.noted.as_mut().map(mem::take).unwrap_or_default()
    }

    #[inline]
    pub(crate) fn note_allocation(&mut self, cell: usize) {
        if let Some(noted) = &mut self.noted
            && noted.len() < NOTED
        {
            noted.push(cell);
        }
    }
}

#[cfg(test)]
#[path = "inspect_tests.rs"]
mod tests;
