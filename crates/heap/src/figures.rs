//! What a heap tells of itself: figures at a moment, those of its size classes, and of single collections.
//!
//! Counted where it costs nothing: when a free run is opened or closed, when blocks come or go, once per collection. Lazy sweeping reads the clock twice per block that it sweeps,
//! which some hundreds of allocations share.
//!
//! Invariant: marking and sweeping times are apart, and their sum is what collecting costs: pauses, and what allocation sweeps on its way.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::block::{NONE, State};
use crate::size_class::{SIZES, reciprocal};
use crate::state::HeapState;

/// Cells of one size, of [`Heap::size_classes`](crate::Heap::size_classes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeClass {
    /// Bytes of a cell.
    pub size: usize,
    pub blocks: usize,
    /// Cells of the blocks.
    pub cells: usize,
    /// Those that were handed out and not found dead; what the last collection found dead counts as free, swept or not.
    pub live: usize,
    /// Those that the last collection has marked.
    pub marked: usize,
    /// Cells handed out since the heap was made.
    pub allocated: u64,
    /// Blocks opened for this size since the heap was made.
    pub opened: u64,
}

/// Figures of [`Heap::stats`](crate::Heap::stats); bytes where the name says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeapStats {
    /// Minor and full ones.
    pub collections: u64,
    pub full_collections: u64,
    /// Cell bytes marked: alive after the last full collection, or since.
    pub live_bytes: usize,
    /// Cell bytes allocated since the heap was made.
    pub allocated_bytes: u64,
    /// Cells allocated since the heap was made.
    pub allocated_cells: u64,
    /// Blocks with cells.
    pub blocks: usize,
    /// Empty blocks kept for later.
    pub reserve_blocks: usize,
    /// Malloc'ed bytes that cells own, dead but unswept ones included.
    pub payload_bytes: usize,
    /// Time of marking, in pauses, and of sweeping, there and on the way of allocations; not while [`Heap::time_collections`](crate::Heap::time_collections) is off.
    pub mark_nanos: u64,
    pub sweep_nanos: u64,
    pub last_pause_nanos: u64,
    pub max_pause_nanos: u64,
    /// Cell and payload bytes allocated since the last collection at which the heap wants the next one.
    pub limit: usize,
    /// Cell and payload bytes allocated since the last collection.
    pub since: usize,
    /// Bytes by which the old part has grown since the last full collection, as the last collection has found, and by which it may.
    pub grown: usize,
    pub growth: usize,
    /// Blocks had from the ledger, and given back.
    pub taken: Lots,
    pub given: Lots,
    /// Dead cells of the last collection are still to be swept.
    pub is_sweeping: bool,
    /// A marking in steps goes on.
    pub is_marking: bool,
}

/// Blocks that went between a heap and the ledger, and in how many lots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lots {
    pub lots: u64,
    pub blocks: u64,
}

impl Lots {
    pub(crate) fn add(&mut self, blocks: usize) {
        if blocks > 0 {
            self.lots += 1;
            self.blocks += blocks as u64;
        }
    }
}

/// Why a collection was made, in CRuby's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reason {
    /// Why everything was marked (`force`, `oldgen`, `oldmalloc`); None: a minor collection, or none yet.
    pub full: Option<&'static str>,
    /// What called for it (`newobj`, `malloc`, `method`); None: there was none yet.
    pub by: Option<&'static str>,
    /// What died was swept at once.
    pub swept: bool,
}

/// One collection.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// Numbers of collections count up from 0.
    pub number: u64,
    pub reason: Reason,
    /// When its last pause began, and processor time that the process had used.
    pub began: Instant,
    pub cpu: Duration,
    /// Its last, or only, pause.
    pub pause: Duration,
    pub mark: Duration,
    /// In the pause; what allocations sweep later is added.
    pub sweep: Duration,
    pub live_bytes: usize,
    pub blocks: usize,
    /// Cells of the blocks.
    pub cells: usize,
}

/// Records are kept when somebody asked for them.
pub(crate) struct Log {
    records: VecDeque<Record>,
    most: usize,
}

/// What is counted for those who ask.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) taken: Lots,
    pub(crate) given: Lots,
    pub(crate) reason: Reason,
    /// Full collections only where somebody asks for one, or memory is short.
    pub(crate) minor_only: bool,
    /// Nanoseconds.
    mark: u64,
    sweep: u64,
    /// `sweep` when the pause began.
    sweep_then: u64,
    untimed: bool,
    log: Option<Box<Log>>,
}

impl Told {
    /// A pause begins.
    pub(crate) fn pause_begins(&mut self) -> Instant {
        self.sweep_then = self.sweep;
        Instant::now()
    }
    /// It has taken so long: what was not sweeping was marking.
    pub(crate) fn pause_ended(&mut self, pause: Duration) {
        if !self.untimed {
            self.mark += nanos(pause).saturating_sub(self.sweep - self.sweep_then);
        }
    }
    /// Something is swept from here on. None: nobody wants to know how long.
    #[inline]
    pub(crate) fn sweep_begins(&self) -> Option<Instant> {
        (!self.untimed).then(Instant::now)
    }
    #[inline]
    pub(crate) fn sweep_ended(&mut self, began: Option<Instant>) {
        let Some(began) = began else { return };
        let time = began.elapsed();
        self.sweep += nanos(time);
        if let Some(last) = self.log.as_mut().and_then(|log| log.records.back_mut()) {
            last.sweep += time;
        }
    }
    /// A collection is over.
    pub(crate) fn keeps_records(&self) -> bool {
        self.log.is_some()
    }
    pub(crate) fn sweep_in_pause(&self) -> Duration {
        Duration::from_nanos(self.sweep - self.sweep_then)
    }
    pub(crate) fn record(&mut self, r: Record) {
        if let Some(log) = &mut self.log {
            while log.records.len() >= log.most {
                log.records.pop_front();
            }
            log.records.push_back(r);
        }
    }
}

/// Those of half a millennium, at most.
pub(crate) fn nanos(time: Duration) -> u64 {
    time.as_nanos() as u64
}

/// Processor time of the process.
pub(crate) fn cpu_time() -> Duration {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one plain struct.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    Duration::new(t.tv_sec.max(0) as u64, t.tv_nsec as u32)
}

impl HeapState {
    pub fn size_classes(&self) -> Vec<SizeClass> {
        let empty = |(size, i): (&u16, usize)| SizeClass {
            size: usize::from(*size),
            blocks: 0,
            cells: 0,
            live: 0,
            marked: 0,
            allocated: self.classes[i].cells,
            opened: self.classes[i].opened,
        };
        let mut out: Vec<SizeClass> = SIZES.iter().zip(0..).map(empty).collect();
        self.each_block(|class, block| {
            // SAFETY: this heap owns the block.
            let b = unsafe { &*self.body(block) };
            let c = &mut out[class];
            c.blocks += 1;
            c.cells += usize::from(b.cells);
            c.marked += usize::from(b.marked);
            // What is not swept yet has the bits of the dead, too.
            c.live += match b.state {
                State::Unswept => usize::from(b.marked),
                State::Swept => b.alloc().iter().map(|w| w.count_ones() as usize).sum::<usize>(),
            };
        });
        // What a run holds counts as allocated in its block already.
        for (run, c) in self.runs.iter().zip(&mut out) {
            let rest = (run.end - run.bump) / c.size;
            c.live = c.live.saturating_sub(rest);
            c.allocated = c.allocated.saturating_sub(rest as u64);
        }
        out
    }

    /// [`HeapStats::collections`] alone.
    pub fn collections(&self) -> u64 {
        self.collections
    }
    pub fn stats(&self) -> HeapStats {
        let (cells, bytes) = self.unused();
        let counted = self.stats_as_counted();
        HeapStats {
            allocated_bytes: counted.allocated_bytes - bytes as u64,
            allocated_cells: counted.allocated_cells - cells as u64,
            is_sweeping: self.classes.iter().any(|c| c.unswept != NONE),
            ..counted
        }
    }
    /// The same without a look at the size classes: what open runs may still hand out counts as allocated, and nothing is said of sweeping.
    pub fn stats_as_counted(&self) -> HeapStats {
        HeapStats {
            collections: self.collections,
            full_collections: self.full_collections,
            live_bytes: self.live,
            allocated_bytes: self.allocated_bytes,
            allocated_cells: self.allocated_cells,
            blocks: self.blocks,
            reserve_blocks: self.reserve.len(),
            payload_bytes: self.payload,
            mark_nanos: self.told.mark,
            sweep_nanos: self.told.sweep,
            last_pause_nanos: self.last_pause,
            max_pause_nanos: self.max_pause,
            limit: self.limit.extra,
            since: self.since,
            grown: self.grown(),
            growth: self.limit.growth,
            taken: self.told.taken,
            given: self.told.given,
            is_sweeping: false,
            is_marking: self.marking.is_some(),
        }
    }

    /// Cells and bytes of the open runs that were counted but not handed out yet.
    pub(crate) fn unused(&self) -> (usize, usize) {
        // Programs ask for figures with each event: two dozen divisions would be most of what they take.
        const RECIPROCALS: [u64; SIZES.len()] = {
            let (mut all, mut class) = ([0; SIZES.len()], 0);
            while class < SIZES.len() {
                all[class] = reciprocal(SIZES[class]) as u64;
                class += 1;
            }
            all
        };
        let rest = self.runs.iter().zip(RECIPROCALS).map(|(run, reciprocal)| {
            let bytes = run.end - run.bump;
            (((bytes as u64 * reciprocal) >> 32) as usize, bytes)
        });
        rest.fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
    }

    pub fn reason(&self) -> Reason {
        self.told.reason
    }
    pub fn set_reason(&mut self, full: Option<&'static str>, by: &'static str) {
        self.told.reason = Reason { full, by: Some(by), swept: false };
    }
    pub fn sweep_now(&mut self) {
        self.finish_sweep();
        self.is_swept();
        self.told.reason.swept = true;
        if let Some(last) = self.told.log.as_mut().and_then(|log| log.records.back_mut()) {
            last.reason = self.told.reason;
        }
    }
    /// Looks at what the last collection has kept, which takes sweeping what it has left.
    pub fn full_is_due(&mut self) -> Option<&'static str> {
        if self.marking.is_some() {
            return None;
        }
        self.finish_sweep();
        self.see_kept();
        match self.grown() >= self.limit.growth {
            true if self.pressure > self.limit.growth / 2 => Some("oldmalloc"),
            true => Some("oldgen"),
            false => None,
        }
    }

    pub fn time_collections(&mut self, on: bool) {
        self.told.untimed = !on;
    }
    pub fn allow_full(&mut self, on: bool) {
        self.told.minor_only = !on;
    }
    pub fn allows_full(&self) -> bool {
        !self.told.minor_only
    }

    pub fn keep_records(&mut self, most: usize) {
        let log = self.told.log.get_or_insert_with(|| Box::new(Log { records: VecDeque::new(), most }));
        log.most = most.max(1);
        let surplus = log.records.len().saturating_sub(log.most);
        log.records.drain(..surplus);
    }
    pub fn keep_no_records(&mut self) {
        self.told.log = None;
    }
    pub fn records(&self) -> Vec<Record> {
        self.told.log.as_ref().map_or_else(Vec::new, |log| log.records.iter().copied().collect())
    }
    /// Cells of all blocks.
    pub(crate) fn all_cells(&self) -> usize {
        let mut cells = 0;
        // SAFETY: this heap owns the block.
        self.each_block(|_, block| cells += unsafe { usize::from((*self.body(block)).cells) });
        cells
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "figures_tests.rs"]
mod tests;
