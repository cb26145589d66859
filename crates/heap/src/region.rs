//! Shared regions: immutable cells that belong to no VM and are read by many.
//!
//! Goal: a deep-frozen graph is copied once and travels by reference from then on. Using one costs a VM nothing on any hot
//! path: no barrier, no count per reference, no stop; a count is touched once per message and once per collection that
//! finds the region out of use.
//!
//! A region is a *sealed heap*: cells are made with the ordinary constructors in a [`Heap`] of its own that is never
//! collected; [`Region::seal`] flags every cell SHARED and CAPTURED and names the region in the metadata of its blocks.
//! Each heap keeps [`Holdings`], a table of the regions that it holds. Marking doesn't descend into a region: when it meets an
//! address inside one (precisely, or conservatively on a stack) it notes the region, and after the marking the heap drops
//! those that were not noted.
//!
//! Invariants
//! - A sealed cell is never written to again, by anybody. Its references lead to its own region, to regions in [`Region::held`],
//!   or to cells that live as long as the process (boot image).
//! - Whoever has a reference to a region's cell holds the region: a heap by its table, an envelope by a [`Region`]. So what is
//!   found by address is looked up in the heap's own table and never dereferenced before.
//! - A heap that holds a region holds those that it holds, itself.
//!
//! Rejected
//! - A count per cell, or a collection per region: a region lives and dies whole. What it wastes that way is bounded by the
//!   graph that was sent.
//! - One block list with bump allocation and no size classes: denser for tiny regions, which are better copied anyway.
//! - Flattened `held` lists: a chain of n regions, each naming the one before, would cost n^2.

use std::any::Any;
use std::mem;
use std::sync::atomic::Ordering::Relaxed;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use zakuro_base::sync::wide::{Arc, point};

use crate::block::BlockMeta;
use crate::heap::Heap;
use crate::ledger::{BLOCK_SHIFT, BLOCK_SIZE, Ledger};
use crate::state::HeapState;
use crate::{Header, flags};

/// A holder of a sealed heap. The last one to go runs the cells' finalizers and gives all blocks back.
#[derive(Clone)]
pub struct Region(Arc<Inner>);

struct Inner {
    /// Never touched again until it is dropped.
    heap: HeapState,
    /// Regions that cells of this one refer to.
    held: Vec<Region>,
    baggage: Option<Box<dyn Any + Send + Sync>>,
    /// Address range of its blocks.
    range: Range,
    cells: usize,
    bytes: usize,
}

// SAFETY: nothing in it changes between `seal` and the drop of the last holder, which has it alone. What its cells own outside
// (buffers, native payloads) must be fit for that: `seal`'s contract.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

/// Addresses from `low`, `span` bytes; empty at first.
#[derive(Clone, Copy, Default)]
pub(crate) struct Range {
    pub(crate) low: usize,
    pub(crate) span: usize,
}

impl Range {
    #[inline(always)]
    pub(crate) fn contains(self, addr: usize) -> bool {
        addr.wrapping_sub(self.low) < self.span
    }
    fn join(&mut self, other: Range) {
        if self.span == 0 {
            *self = other;
        } else if other.span != 0 {
            let end = (self.low + self.span).max(other.low + other.span);
            self.low = self.low.min(other.low);
            self.span = end - self.low;
        }
    }
}

impl Region {
    /// Makes a region of all cells of `heap`. `held`: the other regions that they refer to. `baggage` is for the owner's own use.
    ///
    /// # Safety
    /// No reference to a cell is used for writing from now on. The cells refer to cells of this heap, of `held`, or of static heaps only. What they
    /// own outside the heap may be read by several threads at once and dropped by any.
    pub unsafe fn seal(heap: Heap, held: Vec<Region>, baggage: Option<Box<dyn Any + Send + Sync>>) -> Region {
        let mut heap = heap.into_state();
        let mut cells = 0;
        heap.each_cell(&mut |cell| {
            cells += 1;
            // SAFETY: an allocated, initialised cell of a heap that is ours alone.
            unsafe { (*cell).flags |= flags::SHARED | flags::CAPTURED };
        });
        heap.trim(0);
        let stats = heap.stats();
        let mut range = Range::default();
        heap.each_block(|_, block| range.join(Range { low: heap.address(block), span: BLOCK_SIZE }));
        let bytes = stats.allocated_bytes as usize + stats.payload_bytes;
        let region = Region(Arc::new(Inner { heap, held, baggage, range, cells, bytes }));
        region.0.heap.each_block(|_, block| {
            point();
            // SAFETY: the region's heap owns the block, whose row is mapped.
            let meta = unsafe { &*region.0.heap.lookup.table.add(block as usize) };
            meta.region.store(region.key(), Relaxed);
        });
        region.0.protect(true);
        region
    }

    /// Tells regions apart while they live.
    pub fn key(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Bytes of its cells and of what they own.
    pub fn bytes(&self) -> usize {
        self.0.bytes
    }

    /// Number of its cells.
    pub fn cells(&self) -> usize {
        self.0.cells
    }

    /// Regions that its cells refer to.
    pub fn held(&self) -> &[Region] {
        &self.0.held
    }

    /// What `seal` was given, when it is of this type.
    pub fn baggage<T: Any>(&self) -> Option<&T> {
        self.0.baggage.as_ref()?.downcast_ref()
    }

    /// Whether `cell` is one of its cells.
    pub fn owns(&self, cell: *mut Header) -> bool {
        self.0.heap.owns(cell)
    }

    /// Holders at this moment: for tests and reports.
    pub fn holders(&self) -> usize {
        Arc::strong_count(&self.0)
    }
}

impl Inner {
    /// In builds with debug assertions: writing to a cell of a region of some size is a fault, wherever it comes from.
    fn protect(&self, on: bool) {
        if !cfg!(debug_assertions) || cfg!(miri) || self.cells < 64 {
            return;
        }
        let prot = libc::PROT_READ | if on { 0 } else { libc::PROT_WRITE };
        self.heap.each_block(|_, block| {
            let at = self.heap.address(block);
            // SAFETY: a block of the region's own heap. A refusal to protect (too many mappings) does no harm.
            let r = unsafe { libc::mprotect(std::ptr::with_exposed_provenance_mut(at), BLOCK_SIZE, prot) };
            assert!(on || r == 0, "a region's block can't be made writable again");
        });
    }
}

impl Drop for Inner {
    /// Lets go of the regions it holds one by one: a chain of them must not recurse natively.
    fn drop(&mut self) {
        self.protect(false);
        let mut work = mem::take(&mut self.held);
        while let Some(region) = work.pop() {
            if let Some(mut last) = Arc::into_inner(region.0) {
                work.append(&mut last.held);
            }
        }
    }
}

struct Hold {
    region: Region,
    /// Noted in the running collection. New holds begin unnoted: what was just received is on a stack.
    seen: bool,
    /// See [`Heap::stamp`].
    stamp: u32,
}

/// The regions that a heap holds.
#[derive(Default)]
pub(crate) struct Holdings {
    table: HashMap<usize, Hold, zakuro_base::hash_seed::Fixed>,
    /// Covers all of them; every metadata row between is mapped.
    pub(crate) range: Range,
    bytes: usize,
}

impl Holdings {
    /// Holds a region and those that it holds. Returns the bytes that are new, each region of which `added` is told.
    fn add(&mut self, region: &Region, added: &dyn Fn(usize, usize)) -> usize {
        if self.table.contains_key(&region.key()) {
            return 0;
        }
        let mut new = 0;
        let mut work = vec![region];
        while let Some(region) = work.pop() {
            if let Entry::Vacant(place) = self.table.entry(region.key()) {
                place.insert(Hold { region: region.clone(), seen: false, stamp: 0 });
                self.range.join(region.0.range);
                new += region.0.bytes;
                added(region.key(), region.0.bytes);
                work.extend(&region.0.held);
            }
        }
        self.bytes += new;
        new
    }

    /// Key of the region whose block is around `addr`; 0 for none.
    #[inline]
    fn key_at(&self, addr: usize) -> usize {
        if !self.range.contains(addr) {
            return 0;
        }
        let ledger = Ledger::get();
        // SAFETY: the address lies between blocks that were handed out, so the row is mapped. The name of a region that this heap holds was
        // written before the heap got it; any other value is only compared.
        let meta: &BlockMeta = unsafe { &*ledger.table().add((addr - ledger.base()) >> BLOCK_SHIFT) };
        point();
        meta.region.load(Relaxed)
    }

    /// Notes the region around `addr`, any address at all. Returns its key, 0 for none.
    pub(crate) fn note(&mut self, addr: usize, last: usize) -> usize {
        let key = self.key_at(addr);
        if key != 0
            && key != last
            && let Some(hold) = self.table.get_mut(&key)
        {
            hold.seen = true;
        }
        key
    }

    /// Before a marking of everything.
    pub(crate) fn forget_notes(&mut self) {
        self.table.values_mut().for_each(|hold| hold.seen = false);
    }

    /// After a marking: what a noted region holds counts as noted.
    pub(crate) fn spread(&mut self) {
        let mut work: Vec<Region> =
            self.table.values().filter(|h| h.seen && !h.region.0.held.is_empty()).map(|h| h.region.clone()).collect();
        while let Some(region) = work.pop() {
            for inner in &region.0.held {
                if let Some(hold) = self.table.get_mut(&inner.key())
                    && !mem::replace(&mut hold.seen, true)
                {
                    work.push(inner.clone());
                }
            }
        }
    }

    /// Tells of each region its key and its bytes.
    pub(crate) fn each(&self, f: &mut dyn FnMut(usize, usize)) {
        self.table.values().for_each(|hold| f(hold.region.key(), hold.region.0.bytes));
    }

    /// Drops what was not noted, and begins anew. `dropped` is told of each.
    pub(crate) fn drop_unseen(&mut self, dropped: &dyn Fn(usize, usize)) {
        if self.table.is_empty() {
            return;
        }
        let (mut range, mut bytes) = (Range::default(), 0);
        self.table.retain(|_, hold| {
            let keep = mem::replace(&mut hold.seen, false);
            if keep {
                range.join(hold.region.0.range);
                bytes += hold.region.0.bytes;
            } else {
                dropped(hold.region.key(), hold.region.0.bytes);
            }
            keep
        });
        self.range = range;
        self.bytes = bytes;
    }

    /// Bytes of the regions held.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// None: not in a region. Else whether the region around `addr` was noted in this collection.
    pub(crate) fn seen(&self, addr: usize) -> Option<bool> {
        match self.key_at(addr) {
            0 => None,
            key => Some(self.table.get(&key).is_some_and(|h| h.seen)),
        }
    }
}

impl HeapState {
    pub fn hold(&mut self, region: &Region) {
        let member = self.member.as_ref();
        let new = self.holdings.add(region, &|key, bytes| _ = member.inspect(|m| m.hold(key, bytes)));
        if new > 0 {
            // One that comes again and again calls for no collection each time that one has let it go.
            self.receive(region.key(), new);
        }
    }

    #[inline]
    pub fn stamp(&self, region: &Region) -> u32 {
        self.holdings.table.get(&region.key()).map_or(0, |hold| hold.stamp)
    }

    pub fn set_stamp(&mut self, region: &Region, stamp: u32) {
        if let Some(hold) = self.holdings.table.get_mut(&region.key()) {
            hold.stamp = stamp;
        }
    }

    pub fn region_of(&self, cell: *mut Header) -> Option<&Region> {
        match self.holdings.key_at(cell.addr()) {
            0 => None,
            key => self.holdings.table.get(&key).map(|h| &h.region),
        }
    }

    pub fn regions(&self) -> Vec<Region> {
        self.holdings.table.values().map(|h| h.region.clone()).collect()
    }

    pub fn region_stats(&self) -> (usize, usize) {
        (self.holdings.table.len(), self.holdings.bytes)
    }
}

#[cfg(all(test, feature = "shuttle"))]
#[path = "shuttle_tests.rs"]
mod shuttle_tests;
#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "region_tests.rs"]
mod tests;
