//! Collections, minor and full, and the write barrier.
//!
//! Goal: a minor collection costs what was allocated since the last collection and lives, not what the heap holds.
//!
//! Mark bits are sticky (Demers, Weiser, Hayes, Boehm, Bobrow, Shenker: "Combining generational and conservative garbage collection", POPL 1990): what a
//! collection has marked is *old*. A minor collection marks from the roots and from the old cells that may have been written to, and stops at old cells. A full one
//! forgets the marks first. Cells don't move, and young and old ones share blocks.
//!
//! The barrier is part of the store. The tracer sets the OLD flag in a cell that it traces; who stores a reference in a cell calls [`remember`] first if it has the
//! flag, which takes the flag off and notes the cell in its block's `revisit` bits. So a cell is noted once between two collections, and the test of the flag joins that of
//! FROZEN in fast paths. Kinds of cells that are written to in ways that can't be told never get the flag: their tracer asks for [`Marker::revisit`].
//!
//! A full collection of a large heap marks in steps, between which the program runs ([`Heap::collect_due`]), so that no pause is as long as the marking.
//!
//! Invariants
//! - Whatever a marked cell refers to is marked, or the marked cell is noted. It holds for marked cells that nothing reaches any more, too: so all marked cells can be
//!   looked at.
//! - Roots are traced by each collection; the owner's tables need no barrier.
//!
//! Debug builds follow every minor marking with a full one on the side, and stop at a cell that only the full one found, naming what refers to it
//! ([`Heap::check_marks`]).
//!
//! Rejected
//! - The mark bit in the side table as the barrier's test: two loads more per store.
//! - A list of remembered cells in the heap: stores would need the heap at hand, and the list could find no memory. (Blocks with such cells are linked.)
//! - Ages (a cell is old after two or three collections): a bit more per cell and a barrier that knows ages. A larger nursery does as much against cells
//!   that become old too early.

use std::mem;
use std::time::{Duration, Instant};

use crate::block::{Body, NONE, State};
use crate::figures::{Record, cpu_time, nanos};
use crate::heap::Heap;
use crate::ledger::{BLOCK_SHIFT, BLOCK_SIZE, Ledger};
use crate::mark::{Grown, Lookup, Marker, Naming, Parents};
use crate::region::Holdings;
use crate::size_class::{CLASSES, SIZES};
use crate::slots::Slots;
use crate::state::{HeapState, Run};
use crate::{Header, flags};

/// From so many bytes on everything is marked in steps.
const LARGE: usize = 8 << 20;
/// A step marks about so many cells, or what can be marked in this time where the cells lie far apart,
const STEP_WORK: usize = 12 << 10;
const STEP_TIME: Duration = Duration::from_micros(600);
/// which is looked at after so many.
const SLICE: usize = 1 << 10;
/// and comes when so many bytes were allocated. Where one object has more, the step marks as many times more, in up to so many times the time: else a program
/// that makes large Arrays one after another would have dozens of them before the marking ends.
const STEP_BYTES: usize = 48 << 10;
const LONGER: usize = 4;
/// How often the roots are traced again in steps, as long as so many bytes were allocated since they were.
const ROUNDS: u32 = 3;
const FEW: usize = 1 << 20;

/// A full marking between two of its steps.
#[derive(Default)]
pub(crate) struct Marking {
    stack: Vec<*mut Header>,
    open: Vec<(*mut Header, usize)>,
    overflow: bool,
    live: usize,
    spent: Duration,
    rounds: Rounds,
    /// Of [`Marker::owns`].
    owned: Grown,
}

/// The times that the roots were traced.
#[derive(Clone, Copy, Default)]
struct Rounds {
    /// How often after the first time.
    done: u32,
    /// `Heap::since` at the last.
    scanned: usize,
    /// What was allocated between the last two; 0 before there were.
    between: usize,
}

impl Marking {
    fn of(m: Marker<'_>, spent: Duration) -> Marking {
        Marking { stack: m.stack, open: m.open, overflow: m.overflow, live: m.live, spent, rounds: Rounds::default(), owned: m.owned }
    }
    fn marker<'a>(
        self,
        lookup: Lookup,
        runs: [Run; CLASSES],
        (holdings, slots): (&'a mut Holdings, &'a mut Slots),
        naming: Naming,
    ) -> Marker<'a> {
        let mut m = Marker::new(lookup, runs, holdings, naming).with_slots(slots);
        (m.stack, m.open, m.overflow, m.live, m.owned) = (self.stack, self.open, self.overflow, self.live, self.owned);
        m
    }
}

/// Cells with finalizers that a collection sweeps before the program goes on, which takes 0.2 ms.
const SWEPT_NOW: usize = 4096;
/// Empty blocks that a heap may keep in any case.
pub(crate) const MIN_RESERVE: usize = 16;

/// The write barrier's slow path: `cell`, which has the OLD flag, is about to refer to another one. Does nothing for SHARED cells, on which the bit means
/// something else.
///
/// # Safety
/// A live cell of a heap that the caller has for itself.
#[cold]
#[inline(never)]
pub unsafe fn remember(cell: *mut Header) {
    // SAFETY: the caller's promise; the row of a heap's block is mapped, and the heap's alone.
    unsafe {
        if (*cell).flags & (flags::SHARED | flags::OLD) != flags::OLD {
            return;
        }
        (*cell).flags &= !flags::OLD;
        let ledger = Ledger::get();
        let body = (*ledger.table().add((cell.addr() - ledger.base()) >> BLOCK_SHIFT)).body();
        let index = (*body).index(cell.addr() % BLOCK_SIZE);
        (*body).note(index);
    }
}

/// The next minor collection, or the end of the marking that goes on, traces this cell again, if it was traced: for stores that the flag doesn't tell of. Does nothing for
/// SHARED cells.
///
/// # Safety
/// As [`remember`].
#[cold]
pub unsafe fn revisit(cell: *mut Header) {
    // SAFETY: as in `remember`.
    unsafe {
        if (*cell).flags & flags::SHARED == 0 {
            let ledger = Ledger::get();
            let body = (*ledger.table().add((cell.addr() - ledger.base()) >> BLOCK_SHIFT)).body();
            let index = (*body).index(cell.addr() % BLOCK_SIZE);
            (*body).note(index);
        }
    }
}

impl HeapState {
    pub(crate) fn naming(&self, full: bool) -> Naming {
        let (named, owner) = self.named;
        Naming { named, owner, full, epoch: self.epoch }
    }

    pub fn collect(&mut self, roots: &mut dyn FnMut(&mut Marker<'_>)) {
        self.collect_with_weak(roots, &mut |_| {});
    }

    pub fn collect_with_weak(&mut self, roots: &mut dyn FnMut(&mut Marker<'_>), after_mark: &mut dyn FnMut(&Heap)) {
        let start = self.told.pause_begins();
        self.prepare(true);
        self.set_reason(Some("force"), "method");
        self.run(true, start, roots, after_mark);
    }

    pub fn collect_due(&mut self, roots: &mut dyn FnMut(&mut Marker<'_>), after_mark: &mut dyn FnMut(&Heap)) {
        let start = self.told.pause_begins();
        if self.marking.is_some() {
            return self.step(self.missed() + 1, STEP_WORK, start, roots, after_mark);
        }
        let over = self.over_limit();
        self.prepare(over || self.budget.soft != usize::MAX || self.pressure >= self.limit.growth);
        // By how much the old part has grown is known when all is swept.
        let full = over || !self.has_unswept() && self.grown() >= self.limit.growth && !self.told.minor_only;
        let why = if over || self.pressure > self.limit.growth / 2 { "oldmalloc" } else { "oldgen" };
        let by = if self.cells_since >= self.since / 2 { "newobj" } else { "malloc" };
        self.set_reason(full.then_some(why), by);
        if full && !over && !self.cut_short && self.kept >= LARGE {
            return self.begin(start, roots);
        }
        self.run(full, start, roots, after_mark);
    }

    pub fn collect_step(&mut self, work: usize, roots: &mut dyn FnMut(&mut Marker<'_>), after_mark: &mut dyn FnMut(&Heap)) {
        let start = self.told.pause_begins();
        if self.marking.is_some() {
            return self.step(1, work, start, roots, after_mark);
        }
        self.prepare(true);
        self.set_reason(Some("force"), "newobj");
        self.begin(start, roots);
    }

    pub fn collect_minor(&mut self, roots: &mut dyn FnMut(&mut Marker<'_>), after_mark: &mut dyn FnMut(&Heap)) {
        let start = self.told.pause_begins();
        self.prepare(false);
        match self.marking.take() {
            Some(m) => self.finish(*m, start, roots, after_mark),
            None => {
                self.set_reason(None, "method");
                self.run(false, start, roots, after_mark);
            }
        }
    }

    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Sweeps what the collections before have left, `all` of it or a share, and closes the open runs.
    fn prepare(&mut self, all: bool) {
        if all {
            self.finish_sweep();
        } else {
            self.sweep_share();
        }
        self.close_runs();
        if self.marking.is_none() && !self.has_unswept() {
            self.see_kept();
        }
    }

    /// All that collections have left was swept while the program ran: after a full one it is known now how much is alive.
    pub(crate) fn is_swept(&mut self) {
        if self.was_full && self.marking.is_none() {
            self.limit.lives((self.live + self.payload_then).saturating_sub(self.swept + self.idle));
            self.hold_limit();
        }
        self.trim_reserve();
    }

    /// What is empty now is what the next cycle will fill: it stays, to the size of the cycle.
    fn trim_reserve(&mut self) {
        let keep = (self.limit.extra >> BLOCK_SHIFT).max(MIN_RESERVE);
        if self.reserve.len() > keep + keep / 4 {
            self.trim(keep);
        }
    }

    pub fn weighed(&mut self, before: usize, now: usize, idle: usize) {
        if now > before {
            self.add_payload(now - before);
        } else {
            self.sub_payload(before - now);
        }
        self.payload_then = (self.payload_then + now).saturating_sub(before);
        self.idle = idle;
        // What is still to be swept counts as alive until then.
        self.is_swept();
    }

    /// After sweeping: what the last collection has kept.
    pub(crate) fn see_kept(&mut self) {
        let kept = self.live + self.payload_then.saturating_sub(self.swept);
        if mem::replace(&mut self.was_full, false) {
            self.base = kept;
        }
        self.kept = kept;
    }

    /// Bytes of cells and payload by which the old part has grown since the last full collection, and what it may hold besides.
    pub(crate) fn grown(&self) -> usize {
        self.kept.saturating_sub(self.base).saturating_add(self.pressure)
    }

    fn run(&mut self, full: bool, start: Instant, roots: &mut dyn FnMut(&mut Marker<'_>), after_mark: &mut dyn FnMut(&Heap)) {
        if let Some(m) = self.marking.take() {
            self.owned(m.owned);
        }
        let noted = if full || self.cut_short { None } else { self.take_noted() };
        if !full && noted.is_none() {
            self.told.reason.full = Some("force");
        }
        let full = noted.is_none();
        if full {
            self.forget_marks();
        }
        self.complete(full, Marking::default(), noted.unwrap_or_default(), start, roots, after_mark);
    }

    fn forget_marks(&mut self) {
        // The marks say what lives in unswept blocks.
        self.finish_sweep();
        self.epoch += 1;
        self.each_body(&mut |_, b| b.clear_marks());
        if let Some(first) = &self.noted_blocks {
            first.set(NONE);
        }
        self.holdings.forget_notes();
    }

    /// Begins a full marking that is done in steps.
    ///
    /// Until its end the mark bits say what was found so far, and OLD what was traced so far (or in a collection before: such a cell may be noted in vain). What is
    /// stored in a traced cell is found because the barrier has noted the cell, what is allocated meanwhile because it is unmarked and the roots are traced again in the end
    /// (incremental update, as in Steele: "Multiprocessing compactifying garbage collection", CACM 1975). So the end of the marking is a minor collection.
    fn begin(&mut self, start: Instant, roots: &mut dyn FnMut(&mut Marker<'_>)) {
        self.forget_marks();
        self.cut_short = true;
        let naming = self.naming(true);
        let mut marker = Marker::new(self.lookup, self.runs, &mut self.holdings, naming).with_slots(&mut self.slots);
        roots(&mut marker);
        let rounds = Rounds { scanned: self.since, ..Rounds::default() };
        let m = Marking { rounds, ..Marking::of(marker, start.elapsed()) };
        self.cut_short = false;
        self.pause(start, m);
    }

    /// For how many steps, of those that the allocations since the last one called for, none was done.
    fn missed(&self) -> usize {
        // `limit.extra` is where `pause` has set it.
        self.since.saturating_sub(self.limit.extra) / STEP_BYTES
    }

    /// Does a step of the marking that goes on, or several in one.
    fn step(
        &mut self,
        steps: usize,
        work: usize,
        start: Instant,
        roots: &mut dyn FnMut(&mut Marker<'_>),
        after_mark: &mut dyn FnMut(&Heap),
    ) {
        let Some(m) = self.marking.take().map(|m| *m) else { return };
        self.cut_short = true;
        let (spent, rounds) = (m.spent, m.rounds);
        let naming = self.naming(true);
        let mut marker = m.marker(self.lookup, self.runs, (&mut self.holdings, &mut self.slots), naming);
        let (mut empty, mut done) = (false, 0);
        let (work, time) = (work.saturating_mul(steps), STEP_TIME * steps.min(LONGER) as u32);
        while !empty && done < work && (done == 0 || start.elapsed() < time) {
            empty = marker.step(self.trace, SLICE.min(work));
            done += SLICE;
        }
        let m = Marking { rounds, ..Marking::of(marker, spent + start.elapsed()) };
        self.cut_short = false;
        if !empty {
            return self.pause(start, m);
        }
        // What was not used of the open runs has been taken back since.
        let since = self.since.saturating_sub(rounds.scanned);
        // Where a round has not left half of what the one before did, another would not either.
        if rounds.done >= ROUNDS || since < FEW || rounds.done > 0 && since > rounds.between / 2 {
            self.close_runs();
            return self.finish(m, start, roots, after_mark);
        }
        // Much was allocated since the roots were traced: another round in steps, or the last step would be a long one.
        self.close_runs();
        let Some(noted) = self.take_noted() else {
            self.owned(m.owned);
            return self.run(true, start, roots, after_mark);
        };
        self.cut_short = true;
        let rounds = Rounds { done: rounds.done + 1, scanned: self.since, between: since };
        let mut marker = m.marker(self.lookup, self.runs, (&mut self.holdings, &mut self.slots), naming);
        marker.retrace(noted, self.trace);
        roots(&mut marker);
        let m = Marking { rounds, ..Marking::of(marker, spent) };
        self.cut_short = false;
        self.pause(start, m);
    }

    /// Cells that were traced own so much more outside the heap.
    fn owned(&mut self, more: Grown) {
        self.payload = self.payload.saturating_add_signed(more.bytes);
        self.watched = self.watched.saturating_add_signed(more.watched);
    }

    /// The program goes on, until it has allocated some more.
    fn pause(&mut self, start: Instant, m: Marking) {
        self.marking = Some(Box::new(m));
        self.limit.extra = self.since + STEP_BYTES;
        self.set_alarm();
        let pause = start.elapsed();
        self.paused(pause);
    }

    fn paused(&mut self, pause: Duration) {
        self.last_pause = nanos(pause);
        self.max_pause = self.max_pause.max(self.last_pause);
        self.told.pause_ended(pause);
    }

    fn finish(&mut self, mut m: Marking, start: Instant, roots: &mut dyn FnMut(&mut Marker<'_>), after_mark: &mut dyn FnMut(&Heap)) {
        let noted = self.take_noted();
        if noted.is_none() {
            self.forget_marks();
            self.owned(m.owned);
            m = Marking::default();
        }
        self.complete(true, m, noted.unwrap_or_default(), start, roots, after_mark);
    }

    /// Marks what is left to mark, and partitions the blocks.
    fn complete(
        &mut self,
        full: bool,
        m: Marking,
        noted: Vec<*mut Header>,
        start: Instant,
        roots: &mut dyn FnMut(&mut Marker<'_>),
        after_mark: &mut dyn FnMut(&Heap),
    ) {
        let (marking, spent, old) = (Instant::now(), m.spent, if full { 0 } else { self.live });
        self.full = full;
        self.cut_short = true;
        let naming = self.naming(full);
        let mut marker = m.marker(self.lookup, self.runs, (&mut self.holdings, &mut self.slots), naming);
        let retracing = Instant::now();
        marker.retrace(noted, self.trace);
        let tracing = Instant::now();
        roots(&mut marker);
        let rooted = Instant::now();
        marker.drain(self.trace);
        // What depends on how much was allocated and lives.
        let proportional = rooted.elapsed() + (tracing - retracing);
        let owned = marker.owned;
        self.live = old + marker.live;
        self.owned(owned);
        let marking = spent + marking.elapsed();
        if cfg!(debug_assertions) && (!full || spent > Duration::ZERO) {
            self.check_marks(roots);
        }
        self.cut_short = false;
        if full {
            self.holdings.spread();
            self.slots.retain(self.epoch);
        }
        self.marked = true;
        after_mark(Heap::of(self));
        self.marked = false;
        if full {
            let member = self.member.as_ref();
            self.holdings.drop_unseen(&|key, bytes| _ = member.inspect(|m| m.let_go(key, bytes)));
        }
        // Payload of the dead is worth a short pause when there is more of it than of cells: malloc can't reuse it before. Near a limit it would count as alive.
        let sweeping = self.told.sweep_begins();
        self.partition(full, if self.budget.soft != usize::MAX { usize::MAX } else { (self.payload > self.live) as usize * SWEPT_NOW });
        self.told.sweep_ended(sweeping);
        let sweeping = sweeping.map_or(Duration::ZERO, |began| began.elapsed());
        if full {
            let time = self.last_full.map(|end| start.saturating_duration_since(end));
            self.limit.full(self.live + self.payload, self.grown(), time, marking, Ledger::get().granted());
            self.was_full = true;
            self.pressure = 0;
        } else {
            let mutating = self.last_end.map(|end| start.saturating_duration_since(end));
            let fixed = start.elapsed().saturating_sub(proportional + sweeping);
            self.limit.minor(self.since, mutating, proportional, fixed);
        }
        self.sampler_goes_on();
        self.since = 0;
        (self.payload_then, self.swept) = (self.payload, 0);
        self.cells_since = 0;
        self.post();
        self.hold_limit();
        self.trim_reserve();
        if self.desperate && (!self.reserve.is_empty() || Ledger::get().has_spare()) {
            self.desperate = false;
        }
        let end = Instant::now();
        self.collections += 1;
        let pause = end - start;
        self.paused(pause);
        if self.told.keeps_records() {
            self.told.record(Record {
                number: self.collections - 1,
                reason: self.told.reason,
                began: start,
                cpu: cpu_time(),
                pause,
                mark: marking,
                sweep: self.told.sweep_in_pause(),
                live_bytes: self.live,
                blocks: self.blocks,
                cells: self.all_cells(),
            });
        }
        self.last_end = Some(end);
        if full {
            self.last_full = Some(end);
            self.full_collections += 1;
        }
    }

    /// The marked cells that were noted since the last collection; they are not noted any more. None: there is no memory for the list.
    fn take_noted(&mut self) -> Option<Vec<*mut Header>> {
        let mut list: Vec<*mut Header> = Vec::new();
        let mut refused = false;
        let mut block = self.noted_blocks.as_ref().map_or(NONE, |first| first.replace(NONE));
        while block != NONE {
            let start = self.address(block);
            // SAFETY: this heap owns the block: cells of it are noted while it has some, and those that are free had none at the last marking.
            let b = unsafe { &mut *self.body(block) };
            block = b.next_noted;
            b.remembered = false;
            for w in 0..b.words() {
                let mut bits = mem::replace(&mut b.revisit_mut()[w], 0) & b.mark()[w];
                refused = refused || !zakuro_base::memory::has_room(&mut list, bits.count_ones() as usize);
                if refused {
                    continue;
                }
                while bits != 0 {
                    let cell = start + (w * 64 + bits.trailing_zeros() as usize) * b.size as usize;
                    bits &= bits - 1;
                    list.push(std::ptr::with_exposed_provenance_mut(cell));
                }
            }
        }
        (!refused).then_some(list)
    }

    /// Calls `f` with address and metadata of each block that has cells, with no run open.
    pub(crate) fn each_body(&mut self, f: &mut dyn FnMut(usize, &mut Body)) {
        for class in 0..CLASSES {
            let lists = self.classes[class];
            debug_assert!(lists.current == NONE);
            for first in lists.lists().into_iter().chain([lists.unswept]) {
                let mut block = first;
                while block != NONE {
                    // SAFETY: this heap owns the block.
                    let b = unsafe { &mut *self.body(block) };
                    f(self.address(block), b);
                    block = b.next;
                }
            }
        }
    }

    /// Marks everything on the side and stops at a cell that the marking before, minor or in steps, did not find: something stored it in a marked cell without
    /// the barrier.
    #[cold]
    fn check_marks(&mut self, roots: &mut dyn FnMut(&mut Marker<'_>)) {
        let mut found = Vec::new();
        self.each_body(&mut |_, b| {
            let marks = b.marks();
            let before: Box<[u64]> = b.alloc().into();
            let state = mem::replace(&mut b.state, State::Swept);
            if state == State::Unswept {
                for (alloc, mark) in b.alloc_mut().iter_mut().zip(&marks.mark) {
                    *alloc &= mark;
                }
            }
            found.push((marks, before, state));
        });
        let naming = self.naming(self.full);
        let mut again = |heap: &mut HeapState, parents| {
            heap.each_body(&mut |_, b| {
                b.mark_mut().fill(0);
                b.marked = 0;
            });
            let mut marker = Marker::new(heap.lookup, heap.runs, &mut heap.holdings, naming);
            marker.is_check = true;
            marker.parents = parents;
            roots(&mut marker);
            marker.drain(heap.trace);
            marker.parents.take().unwrap_or_default()
        };
        again(self, None);
        let (mut missed, mut at) = (0, found.iter());
        self.each_body(&mut |start, b| {
            let Some((marks, ..)) = at.next() else { return };
            for (w, (now, before)) in b.mark().iter().zip(&marks.mark).enumerate() {
                let lost = now & !before;
                if lost != 0 {
                    missed = start + (w * 64 + lost.trailing_zeros() as usize) * b.size as usize;
                }
            }
        });
        // Only now, since it takes long.
        let parents = if missed != 0 { again(self, Some(Parents::default())) } else { Parents::default() };
        let mut found = found.into_iter();
        self.each_body(&mut |_, b| {
            if let Some(f) = found.next() {
                b.set_marks(&f.0);
                b.alloc_mut().copy_from_slice(&f.1);
                b.state = f.2;
            }
        });
        if missed != 0 {
            let mut shown = format!("a collection would free a cell that is reachable: {}", self.shown(missed));
            // Up to the one that was written to: it is marked.
            let mut at = missed;
            while let Some(p) = parents.of.get(&at).copied() {
                at = p;
                if p == 0 {
                    shown.push_str(" <- a root");
                    break;
                }
                shown.push_str(&format!(" <- {}", self.shown(p)));
                if self.is_marked(p) {
                    break;
                }
            }
            panic!("{shown}: a store without the write barrier");
        }
    }

    fn is_marked(&self, cell: usize) -> bool {
        self.lookup.cell(cell).is_some_and(|(_, body, index)| {
            // SAFETY: this heap owns the block.
            unsafe { (*body).is_marked(index) }
        })
    }

    fn shown(&self, cell: usize) -> String {
        let cell: *mut Header = std::ptr::with_exposed_provenance_mut(cell);
        match self.describe {
            Some(describe) => describe(cell),
            // SAFETY: a live cell of this heap.
            None => unsafe { format!("{:?}", *cell) },
        }
    }

    pub fn set_describe(&mut self, describe: fn(*mut Header) -> String) {
        self.describe = Some(describe);
    }

    /// Gives the unused rests of the open runs back to their blocks and puts the current blocks into lists.
    pub(crate) fn close_runs(&mut self) {
        let (cells, bytes) = self.unused();
        self.allocated_cells -= cells as u64;
        self.allocated_bytes -= bytes as u64;
        self.since = self.since.saturating_sub(bytes);
        self.cells_since = self.cells_since.saturating_sub(bytes);
        for (class, size) in SIZES.into_iter().enumerate() {
            if self.classes[class].current == NONE {
                debug_assert_eq!(self.runs[class].bump, self.runs[class].end, "a run without a block");
                continue;
            }
            let run = mem::replace(&mut self.runs[class], Run { bump: 0, end: 0 });
            self.classes[class].cells -= ((run.end - run.bump) / size as usize) as u64;
            let current = mem::replace(&mut self.classes[class].current, NONE);
            // SAFETY: this heap owns the block.
            let b = unsafe { &mut *self.body(current) };
            if run.bump != run.end {
                let (base, size) = (self.address(current), size as usize);
                b.give_back((run.bump - base) / size, (run.end - base) / size);
            }
            b.next = mem::replace(&mut self.classes[class].open, current);
        }
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "collect_tests.rs"]
mod tests;
