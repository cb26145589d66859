//! Marking: from roots to all that they reach.
//!
//! Goal: a cell is looked at once; whether it is marked, ours, or a cell at all is answered by the side table. Depth
//! lives in an explicit stack, never in native recursion.
//!
//! Invariants
//! - While a [`Marker`] exists the heap allocates nothing. It holds no open free run, so `alloc` is exact, but in the steps of a marking.
//! - A full marking begins when everything is swept; a minor one may find blocks unswept, in which nothing is young.
//! - A cell is pushed exactly once, when its mark bit goes from 0 to 1. When there is no memory for a larger stack it is not pushed; what such cells
//!   refer to is found by going through all marked cells once more.
//!
//! Rejected
//! - Testing the SHARED flag before ownership: it reads the cell, which is a cache miss that the side table spares; shared
//!   cells are never owned by a heap, so the ownership test covers them.
//! - Tracing straight from the stack's top: the cell just pushed is never in the cache. A FIFO of a few cells between
//!   stack and tracer gives the prefetch time to arrive (Cher, Hosking, Vitek: "Software prefetching for mark-sweep
//!   garbage collection", ASPLOS 2004).

use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;

use crate::Header;
use crate::block::{BlockMeta, Body};
use crate::ledger::{BLOCK_SHIFT, BLOCK_SIZE};
use crate::region::{Holdings, Range};
use crate::size_class::CLASSES;
use crate::slots::Slots;
use crate::state::{HeapState, Run, TraceFn, watched};

/// Turns addresses into cells of one heap.
#[derive(Clone, Copy)]
pub(crate) struct Lookup {
    /// Lowest block that the heap ever held, as an address.
    pub(crate) low: usize,
    /// Bytes from `low` to the end of the highest such block; all rows between are mapped.
    pub(crate) span: usize,
    /// Address of block 0.
    pub(crate) base: usize,
    pub(crate) table: *mut BlockMeta,
    /// 0 until the heap takes its first block.
    pub(crate) id: u64,
}

impl Lookup {
    /// The metadata of the block around `addr`, if this heap owns it.
    #[inline(always)]
    pub(crate) fn body(&self, addr: usize) -> Option<*mut Body> {
        if addr.wrapping_sub(self.low) >= self.span {
            return None;
        }
        // SAFETY: the address lies between blocks that were handed out, so the row is mapped.
        let meta = unsafe { &*self.table.add((addr - self.base) >> BLOCK_SHIFT) };
        if meta.owner.load(Relaxed) == self.id { Some(meta.body()) } else { None }
    }

    /// The cell around `addr` that is allocated, and not dead and waiting to be swept, with its metadata and index.
    #[inline]
    pub(crate) fn cell(&self, addr: usize) -> Option<(*mut Header, *mut Body, usize)> {
        let body = self.body(addr)?;
        // SAFETY: this heap owns the block, and the caller holds the heap.
        let b = unsafe { &*body };
        let index = b.index(addr % BLOCK_SIZE);
        if index >= b.cells as usize || b.lives(index >> 6) >> (index & 63) & 1 == 0 {
            return None;
        }
        let cell = (addr & !(BLOCK_SIZE - 1)) + index * b.size as usize;
        Some((ptr::with_exposed_provenance_mut(cell), body, index))
    }
}

/// References of a cell that are marked at a time.
pub(crate) const PART: usize = if cfg!(miri) { 16 } else { 1 << 14 };

/// What cells refer to by number: the owner of the heap knows what is meant ([`Heap::set_named`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// The shape of a cell.
    Shape(u32),
    /// A class.
    Class(u32),
    /// All that belongs to a class: its cell is traced.
    OfClass(u32),
    /// What belongs to the cell of this address, outside its layout.
    OfCell(usize),
}
/// Marks what a number stands for. Gets what [`Heap::set_named`] was given.
pub type NamedFn = unsafe fn(*const (), Named, &mut Marker<'_>);

/// Who is asked what numbers mean, and for what kind of marking.
#[derive(Clone, Copy)]
pub(crate) struct Naming {
    pub(crate) named: Option<NamedFn>,
    pub(crate) owner: *const (),
    /// Everything is marked anew, not what is young alone.
    pub(crate) full: bool,
    /// Changes when all marks are forgotten; never 0.
    pub(crate) epoch: u64,
}

/// Numbers that a marker has asked for lately; a power of two.
const NUMBERS: usize = 128;
/// Tells the numbers of classes from those of shapes.
const CLASS: u32 = 1 << 31;

/// Who was found through whom; 0: a root.
#[derive(Default)]
pub(crate) struct Parents {
    pub(crate) current: usize,
    pub(crate) of: hashbrown::HashMap<usize, usize, zakuro_base::hash_seed::Fixed>,
}

/// Collects what is reachable; handed to the roots function and to the tracer.
pub struct Marker<'a> {
    lookup: Lookup,
    /// The heap's open runs, during a step.
    runs: [Run; CLASSES],
    pub(crate) stack: Vec<*mut Header>,
    /// Large cells of which a part was traced, and where the next part begins.
    pub(crate) open: Vec<(*mut Header, usize)>,
    naming: Naming,
    numbers: [u32; NUMBERS],
    /// The traced cell was traced before.
    retracing: bool,
    pub(crate) is_check: bool,
    /// What has become of what traced cells own outside the heap since they were traced last.
    pub(crate) owned: Grown,
    /// Where the traced cell's next part begins.
    from: usize,
    /// What was done in this step, in traced cells.
    work: usize,
    pub(crate) live: usize,
    /// Of the heap; apart, so that a word outside costs one compare.
    regions: Range,
    holdings: *mut Holdings,
    /// Null where the tracer is to leave no trace.
    slots: *mut Slots,
    /// The region noted last.
    noted: usize,
    /// Some marked cell was not pushed.
    pub(crate) overflow: bool,
    /// For a list of references: cells of other heaps that were met.
    pub(crate) outside: Option<Vec<*mut Header>>,
    /// The cell whose references are marked now, and who was the first to refer to each: for the check of minor collections in debug builds.
    pub(crate) parents: Option<Parents>,
    /// There was no memory for a larger stack. Not asked for again: malloc takes long to say no, and every cell would ask.
    refused: bool,
    heap: PhantomData<&'a mut HeapState>,
}

/// What a cell owns outside the heap.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Owned {
    pub bytes: usize,
    /// How much of that is one block, if that is large ([`Heap::add_watched`](crate::Heap::add_watched)).
    pub block: usize,
}

/// Bytes that are more now, or fewer, of what cells own outside the heap, and how much of that is in blocks that the allocator counts, too.
#[derive(Clone, Copy, Default)]
pub(crate) struct Grown {
    pub bytes: isize,
    pub watched: isize,
}

impl<'a> Marker<'a> {
    /// The holdings are the heap's; nothing else touches them while the marker exists.
    pub(crate) fn new(lookup: Lookup, runs: [Run; CLASSES], holdings: &mut Holdings, naming: Naming) -> Marker<'a> {
        let regions = holdings.range;
        Marker {
            lookup,
            runs,
            stack: Vec::with_capacity(512),
            open: Vec::new(),
            naming,
            numbers: [0; NUMBERS],
            retracing: false,
            is_check: false,
            owned: Grown::default(),
            from: 0,
            work: 0,
            live: 0,
            regions,
            holdings,
            slots: ptr::null_mut(),
            noted: 0,
            overflow: false,
            outside: None,
            parents: None,
            refused: false,
            heap: PhantomData,
        }
    }

    /// The heap's tables of what was written in large cells; as the holdings.
    pub(crate) fn with_slots(mut self, slots: &mut Slots) -> Marker<'a> {
        self.slots = slots;
        self
    }

    /// For a cell with `len` references, many, of which the owner tells single stores ([`Heap::writes_slots`](crate::Heap::writes_slots)): calls `f` with the indices that were written since it was traced.
    /// False: it has to be traced by [`Marker::part`], and is watched from then on. `told`: the cell had the OLD flag when the tracer came to it.
    pub fn slots_written(&mut self, cell: *mut Header, len: usize, told: bool, mut f: impl FnMut(&mut Self, usize)) -> bool {
        if self.slots.is_null() {
            return false;
        }
        // SAFETY: the heap that made this marker is borrowed for as long as it exists; `f` marks, which comes to no table.
        let slots = unsafe { &mut *self.slots };
        if self.retracing && told && self.from == 0 && slots.take(cell, |i| f(self, i)) {
            return true;
        }
        if self.from == 0 {
            slots.watch(cell, len, self.naming.epoch);
        }
        false
    }

    /// Traces cells that were traced before, and were noted because they may have been written to since.
    pub(crate) fn retrace(&mut self, cells: Vec<*mut Header>, trace: TraceFn) {
        self.retracing = true;
        for cell in cells {
            self.traces(cell);
            // SAFETY: a marked cell of this heap.
            unsafe { trace(cell, self) };
        }
        self.retracing = false;
    }

    /// The cell that is traced was traced before, in this marking or in the one that a minor collection goes on from: only what was stored in it since needs to be marked.
    #[inline]
    pub fn is_retracing(&self) -> bool {
        self.retracing
    }

    /// Everything is marked anew. Else what is young: what was found before is not looked at again.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.naming.full
    }

    /// Number of the time since all marks were forgotten; never 0. What was marked within it is marked until it ends.
    #[inline]
    pub fn epoch(&self) -> u64 {
        self.naming.epoch
    }

    /// The traced cell owns `now` outside the heap, and said `before` when it was made or traced last.
    pub fn owns(&mut self, before: Owned, now: Owned) {
        self.owned.bytes += now.bytes as isize - before.bytes as isize;
        self.owned.watched += watched(now.block) as isize - watched(before.block) as isize;
    }

    /// A cell of this heap that was not found so far.
    pub fn is_unmarked(&self, cell: *mut Header) -> bool {
        self.lookup.cell(cell.addr()).is_some_and(|(_, body, index)| {
            // SAFETY: as in `mark`.
            unsafe { !(*body).is_marked(index) }
        })
    }

    /// The word leads into a cell of this heap that was not found so far. For checks.
    pub fn leads_to_unmarked(&self, word: usize) -> bool {
        self.lookup.cell(word).is_some_and(|(cell, ..)| self.is_unmarked(cell))
    }

    /// The traced cell has this shape, which is not 0.
    #[inline(always)]
    pub fn mark_shape(&mut self, shape: u32) {
        let known = &mut self.numbers[shape as usize % NUMBERS];
        if *known != shape {
            *known = shape;
            self.mark_named(Named::Shape(shape));
        }
    }

    /// The traced cell names this class by number.
    #[inline]
    pub fn mark_class(&mut self, class: u32) {
        let known = &mut self.numbers[class as usize % NUMBERS];
        if *known != class | CLASS {
            *known = class | CLASS;
            self.mark_named(Named::Class(class));
        }
    }

    /// Marks what a number stands for.
    #[inline(never)]
    pub fn mark_named(&mut self, what: Named) {
        if let Some(named) = self.naming.named {
            // SAFETY: `owner` is what came with the function, for this collection.
            unsafe { named(self.naming.owner, what, self) }
        }
    }

    /// Nothing depends on this marking: the tracer leaves no trace.
    #[inline]
    pub fn is_check(&self) -> bool {
        self.is_check
    }

    /// Which of a cell's `len` references the tracer marks now: all of them, or a part of very many. It comes again for the rest, so neither a step of the
    /// marking nor its stack grows with the cell. The owner passes the barrier before it moves references within such a cell.
    #[inline]
    pub fn part(&mut self, cell: *mut Header, len: usize) -> std::ops::Range<usize> {
        if len <= PART {
            return 0..len;
        }
        let from = self.from.min(len);
        let to = len.min(from + PART);
        self.work += (to - from) / 4;
        if to < len {
            self.open.push((cell, to));
        }
        from..to
    }

    /// The traced cell is traced from its begin, not from where an earlier [`Marker::part`] of it ended.
    #[inline(always)]
    pub fn begins(&self) -> bool {
        self.from == 0
    }

    /// Has the next minor collection trace a cell again, whatever is stored in it meanwhile: for cells that are written to without telling. Called by
    /// the tracer for the cell that it traces.
    #[inline]
    pub fn revisit(&mut self, cell: *mut Header) {
        if self.is_check {
            return;
        }
        if let Some(body) = self.lookup.body(cell.addr()) {
            // SAFETY: as in `mark`.
            let b = unsafe { &mut *body };
            let index = b.index(cell.addr() % BLOCK_SIZE);
            b.note(index);
        }
    }

    /// A word that leads to no cell of this heap: notes the region that it leads into, if any.
    #[inline(always)]
    fn elsewhere(&mut self, addr: usize) {
        if self.regions.contains(addr) {
            self.note(addr);
        }
    }

    /// Has cells of other heaps listed instead of noted. Words of stacks, which may lead anywhere, are not.
    pub(crate) fn lists_others(&mut self) {
        self.outside = Some(Vec::new());
        self.regions = Range { low: 1, span: usize::MAX };
    }

    #[inline(never)]
    fn note(&mut self, addr: usize) {
        if let Some(list) = &mut self.outside {
            list.push(ptr::with_exposed_provenance_mut(addr));
            return;
        }
        // SAFETY: the heap that made this marker is borrowed for as long as it exists, and touches its holdings only afterwards.
        self.noted = unsafe { (*self.holdings).note(addr, self.noted) };
    }

    /// Marks a cell. Null, static cells and other heaps' cells are ignored; of a region's cell the region is noted. `cell` must be a cell's start.
    #[inline]
    pub fn mark(&mut self, cell: *mut Header) {
        let addr = cell.addr();
        let Some(body) = self.lookup.body(addr) else { return self.elsewhere(addr) };
        // SAFETY: this heap owns the block and the marker borrows the heap.
        let b = unsafe { &mut *body };
        let index = b.index(addr % BLOCK_SIZE);
        debug_assert_eq!(index * b.size as usize, addr % BLOCK_SIZE, "not the start of a cell");
        debug_assert!(b.alloc()[index >> 6] >> (index & 63) & 1 == 1, "marking a free cell: a reference was not traced earlier");
        self.mark_at(cell, b, index);
    }

    /// Marks the cell around `word`, if it is an address inside one.
    pub fn mark_conservative(&mut self, word: usize) {
        if let Some((cell, body, index)) = self.lookup.cell(word) {
            // SAFETY: as in `mark`.
            let b = unsafe { &mut *body };
            // In a step the cells of open runs that are still to be handed out count as allocated: a suspended stack may hold an old address of one.
            let run = self.runs[b.class as usize % CLASSES];
            if !(run.bump..run.end).contains(&cell.addr()) {
                self.mark_at(cell, b, index);
            }
        } else if self.regions.contains(word) && self.outside.is_none() {
            self.note(word);
        }
    }

    /// Scans `lo..hi` conservatively. The range must be readable memory (a suspended stack, saved registers).
    #[allow(clippy::not_unsafe_ptr_arg_deref)] // The signature is shared with callers that scan what they own.
    pub fn mark_range(&mut self, lo: *const usize, hi: *const usize) {
        let mut at = lo;
        while at < hi {
            // SAFETY: the caller vouches for the range. Volatile, because other code's view of it may be uninitialised.
            let word = unsafe { at.read_volatile() };
            self.mark_conservative(word);
            at = at.wrapping_add(1);
        }
    }

    /// Marks the cell that a tagged Value points to: `bits != 0 && bits & 7 == 0`.
    #[inline]
    pub fn mark_value_bits(&mut self, bits: u64) {
        // Zero needs no test of its own: address 0 is in no heap.
        if bits & 7 == 0 {
            self.mark(ptr::with_exposed_provenance_mut(bits as usize));
        }
    }

    #[inline(always)]
    fn mark_at(&mut self, cell: *mut Header, b: &mut Body, index: usize) {
        let size = b.size as usize;
        let Some(word) = b.mark_mut().get_mut(index >> 6) else { return };
        let bit = 1u64 << (index & 63);
        if *word & bit == 0 {
            *word |= bit;
            b.marked += 1;
            self.live += size;
            if cfg!(debug_assertions)
                && let Some(p) = &mut self.parents
            {
                p.of.insert(cell.addr(), p.current);
            }
            if self.stack.len() == self.stack.capacity() && !self.grow() {
                return;
            }
            self.stack.push(cell);
        }
    }

    /// Makes room in the stack. False: there is no memory.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> bool {
        let more = self.stack.capacity().max(512);
        #[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
        let no_stack = tests::NO_STACK.with(|n| n.get());
        #[cfg(not(all(test, not(any(feature = "loom", feature = "shuttle")))))]
        let no_stack = false;
        self.refused = self.refused || no_stack || !zakuro_base::memory::has_room(&mut self.stack, more);
        self.overflow |= self.refused;
        !self.refused
    }

    /// Traces every marked cell again, for those that found no room in the stack.
    #[cold]
    #[inline(never)]
    fn rescan(&mut self, trace: TraceFn) {
        let Lookup { low, span, base, table, id } = self.lookup;
        let first = (low - base) >> BLOCK_SHIFT;
        for block in first..first + (span >> BLOCK_SHIFT) {
            // SAFETY: rows between the heap's blocks are mapped; this heap's are its own, and its cells are initialised.
            unsafe {
                let meta = &*table.add(block);
                if meta.owner.load(Relaxed) != id {
                    continue;
                }
                // Blocks in the reserve have no cells.
                let body = meta.body();
                for w in 0..(*body).words() {
                    let mut bits = (&(*body)).mark()[w];
                    while bits != 0 {
                        let at = base + (block << BLOCK_SHIFT) + (w * 64 + bits.trailing_zeros() as usize) * (*body).size as usize;
                        bits &= bits - 1;
                        trace(ptr::with_exposed_provenance_mut(at), self);
                        loop {
                            while let Some(cell) = self.stack.pop() {
                                trace(cell, self);
                            }
                            let Some((cell, from)) = self.open.pop() else { break };
                            self.from = from;
                            trace(cell, self);
                            self.from = 0;
                        }
                    }
                }
            }
        }
    }

    /// Traces until nothing is left.
    pub(crate) fn drain(&mut self, trace: TraceFn) {
        while !self.step(trace, usize::MAX) || self.overflow {
            if std::mem::take(&mut self.overflow) {
                self.rescan(trace);
            }
        }
    }

    /// Traces about `work` cells. Returns whether nothing is left (but what an overflow has left out).
    pub(crate) fn step(&mut self, trace: TraceFn, work: usize) -> bool {
        const AHEAD: usize = 8;
        let mut queue = [ptr::null_mut(); AHEAD];
        let (mut head, mut len) = (0, 0);
        self.work = 0;
        loop {
            let spent = self.work >= work;
            while len < AHEAD && !spent {
                let Some(cell) = self.stack.pop() else { break };
                prefetch(cell);
                queue[(head + len) % AHEAD] = cell;
                len += 1;
            }
            if len == 0 {
                if spent {
                    return self.stack.is_empty() && self.open.is_empty();
                }
                let Some((cell, from)) = self.open.pop() else { return true };
                self.from = from;
                self.traces(cell);
                // SAFETY: as below.
                unsafe { trace(cell, self) };
                self.from = 0;
                continue;
            }
            let cell = queue[head];
            head = (head + 1) % AHEAD;
            len -= 1;
            self.work += 1;
            self.traces(cell);
            // SAFETY: the cell is allocated in this heap, and its owner initialised it before this safepoint.
            unsafe { trace(cell, self) };
        }
    }

    /// Traces the parts of large cells that are left.
    ///
    /// # Safety
    /// The cells are live ones of this heap, initialised.
    pub(crate) unsafe fn trace_rest(&mut self, trace: TraceFn) {
        while let Some((cell, from)) = self.open.pop() {
            self.from = from;
            // SAFETY: the caller's promise.
            unsafe { trace(cell, self) };
            self.from = 0;
        }
    }

    #[inline(always)]
    fn traces(&mut self, cell: *mut Header) {
        if cfg!(debug_assertions)
            && let Some(p) = &mut self.parents
        {
            p.current = cell.addr();
        }
    }
}

#[inline(always)]
fn prefetch(cell: *mut Header) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch never faults.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(cell.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = cell;
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "mark_tests.rs"]
mod tests;
