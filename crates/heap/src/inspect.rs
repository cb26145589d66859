//! For programs that look at the heap: what a cell refers to, which cells were allocated since somebody asked, and samples of allocation by bytes.
//!
//! References are what the tracer marks when it gets the one cell, on empty mark bits that are put back afterwards: so there is no second description of the layouts that
//! could differ from the collector's. Allocations are noted in the cold path of `alloc`: while somebody notes, free runs have one cell each, and each allocation goes there.
//! Samples: where so many bytes were allocated, a bit is set in the poll word, and the owner looks what it runs. Free runs end where the next sample is due, so the owner is told by who
//! allocates there; what cells own outside (payload) counts by the comparison that calls for collections anyway. Distances vary, or a loop would always be met at the same place.
//! Rejected: a question in `alloc` itself (the hottest path, for what hardly any program asks).

use std::mem;

use crate::Header;
use crate::mark::Marker;
use crate::state::HeapState;

/// Cells noted and not taken yet; more are left out.
const NOTED: usize = 1 << 20;

/// Samples of allocation; see the module.
pub(crate) struct Sampler {
    /// Bytes between two samples, on average.
    every: usize,
    /// What is set in the poll word.
    bit: u32,
    /// `since` at the next sample; usize::MAX: the owner has been told, and did not come yet.
    at: usize,
    /// What was allocated until the last collection.
    before: u64,
    /// Bytes and cells that were allocated until the last sample.
    told: (u64, u64),
    random: u64,
}

impl Sampler {
    fn distance(&mut self) -> usize {
        // Marsaglia: "Xorshift RNGs", Journal of Statistical Software 8, 2003.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.every / 2 + self.random as usize % self.every.max(1)
    }
}

impl HeapState {
    pub fn sample_allocations(&mut self, every: usize, bit: u32) {
        self.close_runs();
        let mut s = Sampler { every, bit, at: 0, before: 0, told: (0, self.allocated_cells), random: 0x9E37_79B9_7F4A_7C15 };
        s.told.0 = self.since as u64;
        s.at = self.since + s.distance();
        self.sampler = Some(Box::new(s));
        self.set_alarm();
    }
    /// Bytes of cells and payload, and cells, allocated since this was asked last; None: nobody samples.
    pub fn take_sample(&mut self) -> Option<(u64, u64)> {
        let (cells, bytes) = self.unused();
        let (since, allocated) = (self.since, self.allocated_cells - cells as u64);
        let s = self.sampler.as_mut()?;
        let now = (s.before + since.saturating_sub(bytes) as u64, allocated);
        let before = s.told;
        s.told = (now.0.max(before.0), now.1.max(before.1));
        s.at = since + s.distance();
        self.set_alarm();
        Some((now.0.saturating_sub(before.0), now.1.saturating_sub(before.1)))
    }
    /// A sample is due: what to set in the poll word. Once for each sample.
    pub(crate) fn sample_due(&mut self) -> Option<u32> {
        let since = self.since;
        let s = self.sampler.as_mut().filter(|s| since >= s.at)?;
        s.at = usize::MAX;
        let bit = s.bit;
        self.set_alarm();
        Some(bit)
    }
    pub(crate) fn set_alarm(&mut self) {
        self.alarm = self.sampler.as_ref().map_or(usize::MAX, |s| s.at).min(self.limit.extra);
    }
    /// `since` begins anew.
    pub(crate) fn sampler_goes_on(&mut self) {
        let since = self.since;
        if let Some(s) = &mut self.sampler {
            s.before += since as u64;
            if s.at != usize::MAX {
                s.at = s.at.saturating_sub(since);
            }
        }
    }
    /// Where a free run of the current block ends so that the next sample finds who allocates there; the rest is given back.
    #[inline]
    pub(crate) fn until_sample(&mut self, class: usize, start: usize, end: usize) -> usize {
        let Some(s) = &self.sampler else { return end };
        let cells = (s.at.saturating_sub(self.since) / crate::size_class::SIZES[class] as usize).max(1);
        let shorter = end.min(start.saturating_add(cells));
        if shorter < end {
            // SAFETY: this heap owns the block.
            unsafe { (*self.body(self.classes[class].current)).give_back(shorter, end) };
        }
        shorter
    }

    /// The cells that a live cell of this heap refers to, each of this heap once, others as often as it does. None: a marking is under way; a full collection ends it.
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
            kept.push(b.marks());
            b.mark_mut().fill(0);
            b.marked = 0;
        });
        let (naming, trace) = (self.naming(true), self.trace);
        let mut marker = Marker::new(self.lookup, self.runs, &mut self.holdings, naming);
        marker.is_check = true;
        marker.lists_others();
        // SAFETY: a live cell of this heap, which the caller has; nothing runs meanwhile. The tracer notes in the flags that it was there.
        unsafe {
            let flags = (*cell).flags;
            trace(cell, &mut marker);
            marker.trace_rest(trace);
            (*cell).flags = flags;
        }
        let mut found = mem::take(&mut marker.stack);
        found.extend(marker.outside.take().into_iter().flatten());
        let mut kept = kept.into_iter();
        self.each_body(&mut |_, b| {
            if let Some(k) = kept.next() {
                b.set_marks(&k);
            }
        });
        Some(found)
    }

    /// Whether the last collection, or one before, has found the cell: minor ones don't look at it any more.
    pub fn is_old(&self, cell: *mut Header) -> bool {
        self.lookup.cell(cell.addr()).is_some_and(|(_, body, index)| {
            // SAFETY: this heap owns the block.
            unsafe { (*body).is_marked(index) }
        })
    }

    /// Calls `f` with address and size of each free cell of the blocks in use.
    pub fn each_free(&mut self, f: &mut dyn FnMut(usize, usize)) {
        self.finish_sweep();
        self.each_block(|class, block| {
            // SAFETY: this heap owns the block.
            let b = unsafe { &*self.body(block) };
            let (start, size, run) = (self.address(block), b.size as usize, self.runs[class]);
            for i in 0..b.cells as usize {
                let cell = start + i * size;
                if b.alloc()[i >> 6] >> (i & 63) & 1 == 0 || (run.bump..run.end).contains(&cell) {
                    f(cell, size);
                }
            }
        });
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

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "inspect_tests.rs"]
mod tests;
