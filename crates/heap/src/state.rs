//! One VM's heap: allocation, collection, questions about cells.
//!
//! Goal: `alloc` is a bump and a compare. Everything else happens once per free run (up to 64 KiB), in cold code.
//!
//! Invariants
//! - Each size class has at most one open free run, `bump..end`, whose alloc bits were all set when it was opened; each block
//!   of the heap is in exactly one place: `current` of its class, one of the class's lists, or the reserve.
//! - Full collections start with everything swept; a minor one leaves unswept blocks as they are: all that lives there is marked, since nothing is allocated in them.
//! - Neither tracer nor finalizer allocates from the heap; `&mut` sees to that.
//!
//! Rejected
//! - Setting alloc bits per allocation: a read-modify-write of metadata on the hottest path, to spare one compare in
//!   conservative lookups.
//! - Counting bytes per allocation: counted per run when it is opened, and the rest taken off when it is closed.
//! - Taking an id and a first block in `new`: most of the cost of a VM that dies young.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use zakuro_base::memory::out_of_memory;

use crate::block::{Body, NONE, State};
use crate::classes::Classes;
use crate::collect::{MIN_RESERVE, Marking};
use crate::figures::Told;
use crate::inspect::Sampler;
use crate::ledger::{BLOCK_SHIFT, BLOCK_SIZE, Ledger};
use crate::limit::Limit;
use crate::mark::{Lookup, Marker, NamedFn};
use crate::region::Holdings;
use crate::share::{Member, Share, Shown};
use crate::size_class::{CLASSES, SIZES, class_of};
use crate::slots::Slots;
use crate::{Header, MAX_CELL, SHOWN_FROM, WATCHED};

/// Marks what a cell refers to. Called once per live cell and collection; must not panic.
pub type TraceFn = unsafe fn(*mut Header, &mut Marker<'_>);
/// Frees what a dead cell owns outside the heap. Called exactly once per finalized cell, in no particular order: other
/// cells that it refers to may be dead or reused already.
pub type FinalizeFn = unsafe fn(*mut Header, &mut FinalizeCx);

/// Blocks taken at a time: as many as the heap has, at most this.
const MAX_BATCH: usize = 16;
/// The first small cells of a heap, a page of them, are taken from the class of 128 bytes, as long as their own class has no block: each block that is begun costs a page of cells and a part of its row in
/// the side table, and a VM that only waits has a dozen of cells.
pub(crate) const BORROWED: u32 = 32;
pub(crate) const LENDER: usize = class_of(128);

/// What a finalizer reports.
#[derive(Default)]
pub struct FinalizeCx {
    pub(crate) freed: usize,
    pub(crate) watched: usize,
    pub(crate) shown: Shown,
    pub(crate) member: Option<Member>,
}

impl FinalizeCx {
    /// [`Heap::hides`](crate::Heap::hides).
    pub fn hides(&mut self, buffer: usize) {
        self.shown.remove(buffer, self.member.as_mut());
    }
    /// `bytes` announced by [`Heap::add_payload`] were freed.
    pub fn sub_payload(&mut self, bytes: usize) {
        self.freed += bytes;
    }
    /// One block of so many of them, told to [`Heap::add_watched`](crate::Heap::add_watched), was freed.
    pub fn sub_watched(&mut self, block: usize) {
        self.watched += watched(block);
    }
}

/// What of a block the allocator counts, too.
#[inline]
pub(crate) fn watched(block: usize) -> usize {
    if block >= WATCHED { block } else { 0 }
}

/// The open free run of a size class.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Run {
    /// Address of the next cell to hand out; `end` when the run is used up.
    pub(crate) bump: usize,
    pub(crate) end: usize,
}

/// What the heap may hold, in bytes of cells and payload; usize::MAX: no limit.
#[derive(Clone, Copy)]
pub(crate) struct Budget {
    /// Beyond this the program hears of it.
    pub(crate) soft: usize,
    /// Beyond this allocation is refused.
    ceiling: usize,
    reserve: usize,
}

/// So far below its limit a heap counts as having come back from there.
const MARGIN: usize = 256 << 10;
/// The least that is allocated between two collections near a limit that many heaps share.
const LEAST: usize = 64 << 10;
/// Bytes up to which a heap counts as modest.
const MODEST: usize = 8 << 20;

/// What a heap with a limit knows of malloc. All relaxed: sums.
#[derive(Default)]
pub struct Native {
    /// Bytes of blocks of native code that live. Written by the allocator, for whoever makes or frees one.
    bytes: AtomicUsize,
    /// How many of them the share knows of from here: those of large blocks, at once.
    told: AtomicUsize,
    share: OnceLock<Arc<Share>>,
    /// Bytes that malloc may keep: freed by the sweeper, or large blocks by anybody, since the VM last made malloc give back what it keeps.
    pub freed: AtomicUsize,
}

impl Native {
    /// A small block lives: how many bytes there were before.
    pub fn add(&self, bytes: usize) -> usize {
        self.bytes.fetch_add(bytes, Ordering::Relaxed)
    }
    pub fn sub(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
    /// A block of [`WATCHED`] bytes or more lives: other heaps that share the limit hear of it at once.
    pub fn add_large(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.told.fetch_add(bytes, Ordering::Relaxed);
        if let Some(share) = self.share.get() {
            share.add(bytes);
        }
    }
    pub fn sub_large(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.told.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(share) = self.share.get() {
            share.sub(bytes);
        }
    }
    fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
    fn told(&self) -> usize {
        self.told.load(Ordering::Relaxed)
    }
}

/// What a [`crate::Heap`] consists of: its methods are documented there.
pub struct HeapState {
    pub(crate) runs: [Run; CLASSES],
    /// Bytes allocated since the last collection, cells by run and payload by call.
    pub(crate) since: usize,
    pub(crate) limit: Limit,
    /// Poll word of the VM and the bit to set in it when a collection is wanted. Writer here: this heap's thread (a read-modify-write, but
    /// only when the limit is passed, never per allocation).
    poll: Option<(*const AtomicU32, u32)>,
    pub(crate) payload: usize,
    /// How much of `payload` lies in blocks that `native` counts, too.
    pub(crate) watched: usize,
    /// With a limit only.
    pub(crate) native: Option<Arc<Native>>,
    /// `payload` after the last collection, and how much of it sweeping has freed since.
    pub(crate) payload_then: usize,
    /// How much of it lies in the owner's tables and waits to be used again.
    pub(crate) idle: usize,
    pub(crate) swept: usize,
    /// Told by `add_pressure` since the last full collection.
    pub(crate) pressure: usize,
    /// Bytes that the owner has used up for good, outside the heap.
    spent: usize,
    /// Buffers and regions received last, by address, and the place of the next.
    received: ([usize; 4], usize),
    /// Cell bytes of the runs opened since the last collection.
    pub(crate) cells_since: usize,
    pub(crate) budget: Budget,
    /// With a limit that other heaps share.
    pub(crate) member: Option<Member>,
    /// Buffers that cells account for and others of the share may, too.
    pub(crate) shown: Shown,
    pub(crate) classes: Classes,
    /// Small cells that were taken from LENDER.
    borrowed: u32,
    pub(crate) lookup: Lookup,
    pub(crate) holdings: Holdings,
    pub(crate) slots: Slots,
    /// The first block with noted cells; the blocks know where this stands. None until there is a block.
    pub(crate) noted_blocks: Option<Box<Cell<u32>>>,
    /// Blocks in the lists of the unswept.
    pub(crate) unswept: usize,
    /// How many of them each new run sweeps on the side.
    pub(crate) sweep_at_a_time: usize,
    /// Empty blocks owned by this heap.
    pub(crate) reserve: Vec<u32>,
    /// Blocks in lists or current.
    pub(crate) blocks: usize,
    pub(crate) finalize: FinalizeFn,
    pub(crate) trace: TraceFn,
    /// An allocation was refused because the reservation is used up: what raising the exception needs comes from its last blocks.
    pub(crate) desperate: bool,
    /// It has used such blocks since it was last asked.
    short: bool,
    /// Marking has begun and did not come to its end: while it lasts, or because a tracer panicked.
    pub(crate) cut_short: bool,
    /// Between marking and the partition of the blocks: mark bits tell what lives.
    pub(crate) marked: bool,
    pub(crate) live: usize,
    pub(crate) allocated_bytes: u64,
    pub(crate) allocated_cells: u64,
    pub(crate) collections: u64,
    /// Nanoseconds.
    pub(crate) last_pause: u64,
    pub(crate) last_end: Option<Instant>,
    pub(crate) full_collections: u64,
    pub(crate) last_full: Option<Instant>,
    pub(crate) max_pause: u64,
    /// How often all marks were forgotten, and one.
    pub(crate) epoch: u64,
    /// The running collection, or the last one, marks everything.
    pub(crate) full: bool,
    /// The last collection was full, and `base` is not known yet: that takes the sweep.
    pub(crate) was_full: bool,
    /// Bytes of cells and payload that the last full collection has kept.
    pub(crate) base: usize,
    /// The same of the last collection.
    pub(crate) kept: usize,
    /// A full marking that goes on in steps.
    pub(crate) marking: Option<Box<Marking>>,
    /// Cells allocated since somebody notes them (module `inspect`).
    pub(crate) noted: Option<Vec<usize>>,
    pub(crate) told: Told,
    /// `since` at which something has to be done: `limit.extra`, or a sample before it.
    pub(crate) alarm: usize,
    pub(crate) sampler: Option<Box<Sampler>>,
    pub(crate) describe: Option<fn(*mut Header) -> String>,
    pub(crate) named: (Option<NamedFn>, *const ()),
}

// SAFETY: the pointers lead to blocks and rows that only this heap uses, from whichever thread holds the heap.
unsafe impl Send for HeapState {}

impl HeapState {
    /// An empty heap: no block, no lock, no allocation.
    pub fn new(trace: TraceFn, finalize: FinalizeFn) -> HeapState {
        HeapState {
            runs: [Run { bump: 0, end: 0 }; CLASSES],
            since: 0,
            limit: Limit::new(),
            poll: None,
            payload: 0,
            watched: 0,
            native: None,
            payload_then: 0,
            idle: 0,
            swept: 0,
            pressure: 0,
            spent: 0,
            received: ([0; 4], 0),
            cells_since: 0,
            budget: Budget { soft: usize::MAX, ceiling: usize::MAX, reserve: 0 },
            member: None,
            shown: Shown::default(),
            classes: Classes::new(),
            borrowed: 0,
            lookup: Lookup { low: 0, span: 0, base: 0, table: ptr::null_mut(), id: 0 },
            holdings: Holdings::default(),
            slots: Slots::default(),
            noted_blocks: None,
            unswept: 0,
            sweep_at_a_time: 0,
            reserve: Vec::new(),
            blocks: 0,
            finalize,
            trace,
            desperate: false,
            short: false,
            cut_short: false,
            marked: false,
            live: 0,
            allocated_bytes: 0,
            allocated_cells: 0,
            collections: 0,
            last_pause: 0,
            last_end: None,
            full_collections: 0,
            last_full: None,
            max_pause: 0,
            epoch: 1,
            full: false,
            was_full: false,
            base: 0,
            kept: 0,
            marking: None,
            noted: None,
            told: Told::default(),
            alarm: Limit::new().extra,
            sampler: None,
            describe: None,
            named: (None, ptr::null()),
        }
    }

    #[inline(always)]
    pub fn alloc(&mut self, size: usize) -> *mut Header {
        debug_assert!((8..=MAX_CELL).contains(&size));
        let class = class_of(size);
        let run = &mut self.runs[class];
        let at = run.bump;
        if at != run.end {
            run.bump = at + SIZES[class] as usize;
            return ptr::with_exposed_provenance_mut(at);
        }
        self.alloc_slow(class)
    }

    #[cold]
    #[inline(never)]
    fn alloc_slow(&mut self, class: usize) -> *mut Header {
        if class < LENDER && self.borrowed < BORROWED && self.classes[class].is_blank() {
            self.borrowed += 1;
            return self.alloc(SIZES[LENDER] as usize);
        }
        if !self.admits(SIZES[class] as usize) {
            out_of_memory();
        }
        if self.open_run(class).is_err() {
            self.desperate = true;
            // Who holds little goes on for a while, and waits at its next safepoint until others have let go.
            if !self.is_modest() || self.open_run(class).is_err() {
                out_of_memory();
            }
            self.short = true;
            self.raise_poll();
        }
        let run = &mut self.runs[class];
        let at = run.bump;
        run.bump = at + SIZES[class] as usize;
        self.note_allocation(at);
        ptr::with_exposed_provenance_mut(at)
    }

    #[inline]
    pub fn alloc_finalized(&mut self, size: usize) -> *mut Header {
        let cell = self.alloc(size);
        self.set_finalized(cell);
        cell
    }

    #[inline]
    pub fn set_finalized(&mut self, cell: *mut Header) {
        if let Some((b, word, bit)) = self.bit_of(cell)
            && b.fin()[word] & bit == 0
        {
            b.fin_mut()[word] |= bit;
            b.finalized += 1;
        }
    }

    pub fn is_modest(&self) -> bool {
        self.used() <= MODEST
    }

    pub fn is_short(&self) -> bool {
        self.short
    }

    pub fn told_short(&mut self) -> bool {
        std::mem::take(&mut self.short)
    }

    #[inline]
    pub fn clear_finalized(&mut self, cell: *mut Header) {
        if let Some((b, word, bit)) = self.bit_of(cell)
            && b.fin()[word] & bit != 0
        {
            b.fin_mut()[word] &= !bit;
            b.finalized -= 1;
        }
    }

    #[inline(always)]
    fn bit_of(&mut self, cell: *mut Header) -> Option<(&mut Body, usize, u64)> {
        let body = self.lookup.body(cell.addr())?;
        // SAFETY: this heap owns the block and is borrowed mutably.
        let b = unsafe { &mut *body };
        let index = b.index(cell.addr() % BLOCK_SIZE);
        debug_assert_eq!(index * b.size as usize, cell.addr() % BLOCK_SIZE, "not the start of a cell");
        Some((b, (index >> 6) % crate::block::WORDS, 1 << (index & 63)))
    }

    #[inline(always)]
    pub fn add_payload(&mut self, bytes: usize) {
        self.payload = self.payload.wrapping_add(bytes);
        self.count(bytes);
        if bytes >= LEAST {
            self.post_large();
        }
    }
    #[cold]
    #[inline(never)]
    fn post_large(&mut self) {
        self.post();
    }

    #[inline]
    pub fn add_pressure(&mut self, bytes: usize) {
        self.pressure = self.pressure.saturating_add(bytes);
        self.count(bytes);
    }

    #[inline(always)]
    fn count(&mut self, bytes: usize) {
        self.since = self.since.wrapping_add(bytes);
        if self.since >= self.alarm {
            self.alarmed();
        }
    }

    pub fn receive(&mut self, buffer: usize, bytes: usize) {
        let (last, next) = &mut self.received;
        if !last.contains(&buffer) {
            last[*next] = buffer;
            *next = (*next + 1) % last.len();
            self.add_pressure(bytes);
        }
    }

    #[inline]
    pub fn used(&self) -> usize {
        self.live
            .saturating_add(self.cells_since)
            .saturating_add(self.payload)
            .saturating_add(self.holdings.bytes())
            .saturating_add(self.spent)
            .saturating_add(self.native_alone())
            .saturating_add_signed(self.taken_by_others())
    }
    /// What other heaps that share the limit leave less of it.
    #[inline]
    fn taken_by_others(&self) -> isize {
        self.member.as_ref().map_or(0, |m| m.taken_by_others(self.budget.soft, self.holdings.bytes() + self.native_told()))
    }
    /// Bytes that stand in the share beside what is posted and the regions.
    fn native_told(&self) -> usize {
        self.native.as_ref().map_or(0, |n| n.told())
    }
    /// Before native code makes blocks for this heap.
    pub fn join(&mut self, share: &Arc<Share>) {
        let native = self.native.get_or_insert_default();
        if native.share.set(share.clone()).is_ok() {
            share.add(native.told());
        }
        self.member = Some(Member::join(share.clone()));
        self.shown = Shown::of(Some(share));
        self.holdings.each(&mut |region, bytes| share.hold(region, bytes));
        self.post();
    }
    pub fn post(&mut self) {
        if let Some(member) = &mut self.member {
            let small = self.native.as_ref().map_or(0, |n| n.bytes().saturating_sub(n.told()));
            // What is watched is in large blocks.
            let payload = self.payload.saturating_sub(self.watched);
            member.post(self.live.saturating_add(self.cells_since).saturating_add(payload).saturating_add(small));
        }
    }
    pub fn shows(&mut self, buffer: usize, bytes: usize) {
        if bytes >= SHOWN_FROM && self.member.is_some() {
            self.shown.add(buffer, bytes);
            self.post();
        }
    }
    pub fn hides(&mut self, buffer: usize) {
        self.shown.remove(buffer, self.member.as_mut());
    }
    /// Bytes of large native blocks that no payload tells of.
    #[inline]
    fn native_alone(&self) -> usize {
        self.native.as_ref().map_or(0, |n| n.bytes().saturating_sub(self.watched))
    }
    pub fn add_watched(&mut self, block: usize) {
        self.watched += watched(block);
    }
    pub fn sub_watched(&mut self, block: usize) {
        self.watched = self.watched.saturating_sub(watched(block));
    }
    pub fn native(&self) -> Option<Arc<Native>> {
        self.native.clone()
    }
    pub fn set_spent(&mut self, bytes: usize) {
        self.spent = bytes;
    }
    #[inline]
    pub fn admits(&mut self, bytes: usize) -> bool {
        if bytes >= LEAST {
            self.post();
        }
        self.budget.ceiling == usize::MAX || bytes <= self.budget.ceiling.saturating_sub(self.used())
    }
    pub fn capacity_for(&mut self, len: usize, cap: usize, ideal: usize, unit: usize) -> Option<usize> {
        [ideal, cap.max(len + len / 4), cap.max(len + len / 32)].into_iter().find(|n| self.admits(n.saturating_mul(unit)))
    }
    pub fn room(&self) -> usize {
        if self.budget.ceiling == usize::MAX { usize::MAX } else { self.budget.ceiling.saturating_sub(self.used()) }
    }
    pub fn set_limit(&mut self, soft: usize, reserve: usize) {
        self.budget = Budget { soft, ceiling: soft.saturating_add(reserve), reserve };
        self.native.get_or_insert_default();
        self.hold_limit();
    }
    /// # Safety
    /// As for [`Heap::room_in_passing`](crate::Heap::room_in_passing).
    pub(crate) unsafe fn room_in_passing(this: *const HeapState, beyond: usize) -> usize {
        // SAFETY: the caller's word.
        unsafe {
            let ceiling = (&raw const (*this).budget.ceiling).read_volatile();
            if ceiling == usize::MAX || (&raw const (*this).cut_short).read_volatile() {
                return usize::MAX;
            }
            let read = |at: *const usize| at.read_volatile();
            let (native, told) = (*this).native.as_ref().map_or((0, 0), |n| (n.bytes(), n.told()));
            let used = read(&raw const (*this).live)
                .saturating_add(read(&raw const (*this).cells_since))
                .saturating_add(read(&raw const (*this).payload))
                .saturating_add((*this).holdings.bytes())
                .saturating_add(read(&raw const (*this).spent))
                .saturating_add(native.saturating_sub(read(&raw const (*this).watched)))
                .saturating_add_signed(
                    (*this).member.as_ref().map_or(0, |m| m.taken_by_others((*this).budget.soft, (*this).holdings.bytes() + told)),
                );
            ceiling.saturating_add(beyond).saturating_sub(used)
        }
    }
    pub fn over_limit(&self) -> bool {
        self.used() > self.budget.soft
    }
    pub fn has_room_again(&self) -> bool {
        self.used().saturating_add(MARGIN.min(self.budget.soft / 16)) <= self.budget.soft
    }
    pub fn over_reserve(&self) -> bool {
        self.budget.ceiling != usize::MAX && self.used().saturating_add(2 * BLOCK_SIZE) > self.budget.ceiling
    }
    pub fn extend_reserve(&mut self, least: usize) {
        if self.budget.ceiling != usize::MAX {
            // Half a reserve more at most: the whole stays within a quarter of the limit.
            let most = self.budget.soft.saturating_add(self.budget.reserve).saturating_add(self.budget.reserve / 2);
            let used = self.used();
            let wanted = used.saturating_add(self.budget.reserve).min(most).max(used.saturating_add(least));
            self.budget.ceiling = self.budget.ceiling.max(wanted);
        }
    }
    pub fn restore_reserve(&mut self) {
        if self.budget.ceiling != usize::MAX {
            self.budget.ceiling = self.budget.soft.saturating_add(self.budget.reserve);
        }
    }
    pub fn lift_limit(&mut self) {
        self.budget = Budget { soft: usize::MAX, ceiling: usize::MAX, reserve: 0 };
        self.leave_share();
    }
    /// The heap's memory is on its way back.
    pub(crate) fn leave_share(&mut self) {
        if let Some(member) = self.member.take() {
            self.holdings.each(&mut |region, bytes| member.let_go(region, bytes));
            // What it posted goes before what it counted again.
            drop(member);
            self.shown = Shown::default();
        }
    }
    /// The next collection comes well before the limit is reached.
    pub(crate) fn hold_limit(&mut self) {
        if self.budget.soft != usize::MAX {
            // Half of what is left: native code that asks for a large block can't collect first, so what is dead by then must leave room for it.
            // Of heaps that share it each gets a part, since none hears of the others in between.
            let heaps = match self.member.as_ref().map_or(1, Member::heaps) {
                1 => 1,
                heaps => 2 * heaps,
            };
            let left = (self.budget.soft.saturating_sub(self.used()) / 2 / heaps).max(self.budget.reserve / 4 / heaps).max(LEAST);
            self.limit.extra = self.limit.extra.min(left);
        }
        self.set_alarm();
    }

    pub unsafe fn set_poll(&mut self, poll: *const AtomicU32, bit: u32) {
        self.poll = Some((poll, bit));
    }

    /// `since` has come to `alarm`.
    #[cold]
    #[inline(never)]
    fn alarmed(&mut self) {
        if let Some(bit) = self.sample_due()
            && let Some((word, _)) = self.poll
        {
            // SAFETY: as in `raise_poll`.
            unsafe { (*word).fetch_or(bit, Ordering::Release) };
        }
        if self.wants_collection() {
            self.raise_poll();
        }
    }

    #[cold]
    #[inline(never)]
    fn raise_poll(&mut self) {
        self.post();
        if let Some((word, bit)) = self.poll {
            // SAFETY: `set_poll`: the word outlives the heap.
            unsafe { (*word).fetch_or(bit, Ordering::Release) };
        }
    }

    #[inline(always)]
    pub fn sub_payload(&mut self, bytes: usize) {
        self.payload = self.payload.saturating_sub(bytes);
        self.since = self.since.saturating_sub(bytes);
    }

    #[inline(always)]
    pub fn wants_collection(&self) -> bool {
        self.since >= self.limit.extra
    }

    pub fn collect_all_sweep(&mut self) {
        self.finish_sweep();
        self.trim(MIN_RESERVE);
    }

    pub fn trim(&mut self, keep: usize) {
        if self.reserve.len() > keep {
            Ledger::get().give(&self.reserve[keep..]);
            self.told.given.add(self.reserve.len() - keep);
            self.reserve.truncate(keep);
        }
    }

    pub fn cell_at(&self, addr: usize) -> Option<*mut Header> {
        let (cell, body, _) = self.lookup.cell(addr)?;
        // SAFETY: this heap owns the block.
        let class = unsafe { (*body).class } as usize;
        if self.in_open_run(class, cell.addr()) { None } else { Some(cell) }
    }

    #[inline(always)]
    fn in_open_run(&self, class: usize, addr: usize) -> bool {
        let run = self.runs[class];
        addr >= run.bump && addr < run.end
    }

    #[inline]
    pub fn owns(&self, cell: *mut Header) -> bool {
        self.lookup.body(cell.addr()).is_some()
    }

    #[inline]
    pub fn cell_size(&self, cell: *mut Header) -> usize {
        // SAFETY: this heap owns the block.
        self.lookup.body(cell.addr()).map_or(0, |body| unsafe { (*body).size as usize })
    }

    pub fn is_marked_or_new(&self, cell: *mut Header) -> bool {
        let Some(body) = self.lookup.body(cell.addr()) else {
            return !self.marked || !self.full || self.holdings.seen(cell.addr()).unwrap_or(true);
        };
        // SAFETY: this heap owns the block.
        let b = unsafe { &*body };
        let index = b.index(cell.addr() % BLOCK_SIZE);
        let bits = if self.marked || b.state == State::Unswept { b.mark() } else { b.alloc() };
        index < b.cells as usize && bits[index >> 6] >> (index & 63) & 1 == 1
    }

    /// Calls `f` with each block in use and its size class.
    pub(crate) fn each_block(&self, mut f: impl FnMut(usize, u32)) {
        for (class, lists) in self.classes.iter().enumerate() {
            // The current block is in no list.
            if lists.current != NONE {
                f(class, lists.current);
            }
            for first in lists.lists().into_iter().chain([lists.unswept]) {
                let mut block = first;
                while block != NONE {
                    f(class, block);
                    // SAFETY: this heap owns the block.
                    block = unsafe { (*self.body(block)).next };
                }
            }
        }
    }

    pub fn each_cell(&mut self, f: &mut dyn FnMut(*mut Header)) {
        self.finish_sweep();
        self.each_cell_at_rest(f);
    }

    pub fn each_cell_at_rest(&self, f: &mut dyn FnMut(*mut Header)) {
        self.each_block(|class, block| {
            // SAFETY: this heap owns the block.
            let b = unsafe { &*self.body(block) };
            let start = self.address(block);
            for w in 0..b.words() {
                let mut bits = b.alloc()[w];
                while bits != 0 {
                    let cell = start + (w * 64 + bits.trailing_zeros() as usize) * b.size as usize;
                    bits &= bits - 1;
                    if !self.in_open_run(class, cell) {
                        f(ptr::with_exposed_provenance_mut(cell));
                    }
                }
            }
        });
    }

    pub(crate) fn payload_freed(&mut self, freed: &FinalizeCx) {
        self.swept += freed.freed;
        if let Some(native) = &self.native {
            native.freed.fetch_add(freed.freed, Ordering::Relaxed);
        }
        self.payload = self.payload.saturating_sub(freed.freed);
        self.watched = self.watched.saturating_sub(freed.watched);
    }

    /// Metadata of a block; valid for blocks of this heap.
    #[inline]
    pub(crate) fn body(&self, block: u32) -> *mut Body {
        // SAFETY: the heap knows only open blocks, whose rows are mapped.
        unsafe { (*self.lookup.table.add(block as usize)).body() }
    }

    #[inline]
    pub(crate) fn address(&self, block: u32) -> usize {
        self.lookup.base + ((block as usize) << BLOCK_SHIFT)
    }

    /// Finds the next free run for `class`: in its current block, its other blocks, or a new one.
    fn open_run(&mut self, class: usize) -> Result<(), NoBlock> {
        loop {
            let c = self.classes[class];
            if c.current != NONE {
                // SAFETY: this heap owns the block.
                let b = unsafe { &mut *self.body(c.current) };
                if let Some((start, end)) = b.take_run(c.next_cell as usize) {
                    self.set_run(class, start, end);
                    return Ok(());
                }
                b.next = c.filled;
                let lists = &mut self.classes[class];
                lists.filled = c.current;
                lists.current = NONE;
            }
            self.sweep_share();
            let Some(block) = self.swept_block(class) else { return self.open_block(class) };
            let lists = &mut self.classes[class];
            lists.current = block;
            lists.next_cell = 0;
        }
    }

    /// Opens the cells `start..end` of the current block as the run of `class`.
    fn set_run(&mut self, class: usize, start: usize, mut end: usize) {
        let size = SIZES[class] as usize;
        if self.noted.is_some() && end > start + 1 {
            // Each allocation is to come by.
            // SAFETY: this heap owns the block.
            unsafe { (*self.body(self.classes[class].current)).give_back(start + 1, end) };
            end = start + 1;
        }
        end = self.until_sample(class, start, end);
        let base = self.address(self.classes[class].current);
        self.runs[class] = Run { bump: base + start * size, end: base + end * size };
        self.classes[class].next_cell = end as u32;
        self.since = self.since.wrapping_add((end - start) * size);
        self.cells_since += (end - start) * size;
        if self.since >= self.alarm {
            self.alarmed();
        }
        self.allocated_bytes += ((end - start) * size) as u64;
        self.allocated_cells += (end - start) as u64;
        self.classes[class].cells += (end - start) as u64;
    }

    /// Takes an empty block for `class` and opens it as one run.
    fn open_block(&mut self, class: usize) -> Result<(), NoBlock> {
        // Its table first: for that, too, there may be no memory.
        let _ = &mut self.classes[class];
        if self.reserve.is_empty() {
            self.refill();
        }
        let block = self.reserve.pop().ok_or(NoBlock)?;
        let noted: *const Cell<u32> = &**self.noted_blocks.get_or_insert_with(|| Box::new(Cell::new(NONE)));
        // SAFETY: this heap owns the block.
        let cells = unsafe {
            let meta = self.lookup.table.add(block as usize);
            (*(*meta).body()).init(class, block, noted, (*meta).near(), Ledger::get().far(block).cast())
        };
        self.blocks += 1;
        let lists = &mut self.classes[class];
        lists.opened += 1;
        lists.current = block;
        self.set_run(class, 0, cells);
        Ok(())
    }

    fn refill(&mut self) {
        let ledger = Ledger::get();
        ledger.take(self.blocks.clamp(1, MAX_BATCH), self.desperate, &mut self.lookup.id, &mut self.reserve);
        self.told.taken.add(self.reserve.len());
        self.lookup.base = ledger.base();
        self.lookup.table = ledger.table();
        let (Some(&min), Some(&max)) = (self.reserve.iter().min(), self.reserve.iter().max()) else { return };
        let (low, end) = (self.address(min), self.address(max) + BLOCK_SIZE);
        if self.lookup.span == 0 {
            self.lookup.low = low;
            self.lookup.span = end - low;
        } else {
            let end = end.max(self.lookup.low + self.lookup.span);
            self.lookup.low = self.lookup.low.min(low);
            self.lookup.span = end - self.lookup.low;
        }
    }
}

/// The ledger has no block to give.
#[derive(Debug)]
struct NoBlock;
