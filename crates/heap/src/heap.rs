//! The heap as the rest of the runtime holds it: the token that says what a piece of code may do.
//!
//! What lies in a cell outside of plain fields (the elements of an Array, the bytes of a String, the payload of a data object) moves or goes when
//! the cell is changed, and when it dies. So whoever looks at it borrows the heap for as long: `fn bytes(self, heap: &'a Heap) -> &'a [u8]`.
//!
//! - A shared borrow lets code allocate and look. Allocation never collects and never runs Ruby, so what is being looked at stays where it is.
//! - A mutable borrow lets code change cells' content, collect, and (as part of the VM) run Ruby. It ends every look.
//!
//! Holding a payload over a call into Ruby thus does not compile.
//!
//! Invariant: no reference into the state outlives a call of a method here, so that the exclusive access each takes to it is one.
//!
//! Rejected: a zero-sized token beside the heap. Each constructor of a cell would take both, and nothing would be told apart that the two kinds
//! of borrow do not tell.

use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use crate::figures::{HeapStats, Reason, Record, SizeClass};
use crate::size_class::{SIZES, class_of};
use crate::state::{FinalizeFn, HeapState, Native, Run, TraceFn};
use crate::{Header, Marker, Region, Share};

/// The cells of one VM. May move between native threads; is never shared.
#[repr(transparent)]
pub struct Heap(UnsafeCell<HeapState>);

/// Runs once per marking, between marking and sweeping.
type AfterMark<'a> = &'a mut dyn FnMut(&Heap);
type Roots<'a> = &'a mut dyn FnMut(&mut Marker<'_>);

impl Heap {
    /// An empty heap: no block, no lock, no allocation.
    pub fn new(trace: TraceFn, finalize: FinalizeFn) -> Heap {
        Heap(UnsafeCell::new(HeapState::new(trace, finalize)))
    }
    pub(crate) fn into_state(self) -> HeapState {
        self.0.into_inner()
    }
    /// The same heap, as hooks of a collection see it.
    pub(crate) fn of(state: &mut HeapState) -> &Heap {
        // SAFETY: Heap and UnsafeCell are transparent, and the state is borrowed mutably for as long.
        unsafe { &*(state as *mut HeapState as *const Heap) }
    }
    #[inline(always)]
    pub(crate) fn state(&mut self) -> &mut HeapState {
        self.0.get_mut()
    }
    /// # Safety
    /// Nothing else uses the state, or a reference into it, until the result is gone.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)]
    unsafe fn exclusive(&self) -> &mut HeapState {
        // SAFETY: a Heap is not Sync; the rest is the caller's word.
        unsafe { &mut *self.0.get() }
    }
}

/// Where a heap keeps the open free run that serves a size, in bytes from its beginning, for machine code that takes cells itself: the address of the next cell, and the run's end, where
/// [`Heap::alloc`] has to be asked instead. A cell that was taken must have its header before the collector can next run.
#[derive(Clone, Copy, Debug)]
pub struct RunLayout {
    pub next: usize,
    pub end: usize,
    /// Bytes of each cell.
    pub cell: usize,
}

impl RunLayout {
    /// `size`: at most [`crate::MAX_CELL`] bytes.
    pub fn of(size: usize) -> RunLayout {
        let class = class_of(size);
        let run = std::mem::offset_of!(HeapState, runs) + class * size_of::<Run>();
        RunLayout { next: run + std::mem::offset_of!(Run, bump), end: run + std::mem::offset_of!(Run, end), cell: SIZES[class] as usize }
    }
}

/// Methods that look at the state or change what no look of a cell's content sees. None keeps a reference into the state, none calls back.
macro_rules! shared {
    ($($(#[$attribute:meta])* fn $name:ident($($arg:ident : $type:ty),*) $(-> $result:ty)?;)*) => {
        impl Heap {
            $($(#[$attribute])* pub fn $name(&self, $($arg: $type),*) $(-> $result)? {
                // SAFETY: the method neither keeps nor returns a reference into the state, and calls nothing that knows this heap
                // (finalizers, which a lazy sweep runs, do not).
                unsafe { self.exclusive() }.$name($($arg),*)
            })*
        }
    };
}
/// Methods that end every look.
macro_rules! exclusive {
    ($($(#[$attribute:meta])* fn $name:ident($($arg:ident : $type:ty),*) $(-> $result:ty)?;)*) => {
        impl Heap {
            $($(#[$attribute])* pub fn $name(&mut self, $($arg: $type),*) $(-> $result)? { self.state().$name($($arg),*) })*
        }
    };
}

shared! {
    /// An uninitialised cell of at least `size` bytes (8..=[`MAX_CELL`]), 16-byte aligned. Never collects. Unwinds with
    /// [`OutOfMemory`] when the heap's limit, the reservation or the system's memory is used up. The caller writes header and references before the
    /// next collection. Panics if `size` is beyond [`MAX_CELL`].
    #[inline(always)]
    fn alloc(size: usize) -> *mut Header;
    /// [`Heap::alloc`], and the finalizer runs when the cell dies. The finalizer must be able to cope with the cell from
    /// the next collection (or drop of the heap) on.
    #[inline]
    fn alloc_finalized(size: usize) -> *mut Header;
    /// From now on the finalizer runs when `cell` dies. Ignores null and cells of others.
    #[inline]
    fn set_finalized(cell: *mut Header);
    /// Takes [`Heap::set_finalized`] back.
    #[inline]
    fn clear_finalized(cell: *mut Header);
    /// Calls `f` with each allocated cell of a heap that nobody uses any more: the boot image's. In an order that follows from what was allocated, not from where.
    fn each_cell_at_rest(f: &mut dyn FnMut(*mut Header));
    /// Whether this heap is none of those that have taken the memory which is not there.
    #[inline]
    fn is_modest() -> bool;
    /// Whether the heap lives on the last blocks of the reservation.
    #[inline]
    fn is_short() -> bool;
    /// Cells of this heap own `bytes` more outside it.
    #[inline(always)]
    fn add_payload(bytes: usize);
    /// Cells of this heap own `bytes` less outside it (freed or handed over by the program, not by a finalizer).
    #[inline(always)]
    fn sub_payload(bytes: usize);
    /// A cell accounts for a buffer of `bytes` that others than cells of this heap may hold, as `add_payload` has been told: those of the same share count it once.
    #[inline]
    fn shows(buffer: usize, bytes: usize);
    /// A cell does so no more. Told before it lets go of the buffer.
    #[inline]
    fn hides(buffer: usize);
    /// One block of so many of these bytes is of native code's (a table, the digits of a number): what [`WATCHED`](crate::WATCHED) says of it must not count twice.
    #[inline]
    fn add_watched(block: usize);
    /// Takes [`Heap::add_watched`] back.
    #[inline]
    fn sub_watched(block: usize);
    /// What counts the large blocks of native code; None without a limit.
    #[inline]
    fn native() -> Option<Arc<Native>>;
    /// `bytes` that a collection may free, beside cells and payload. Whether it has is not known: a full one may be needed.
    #[inline]
    fn add_pressure(bytes: usize);
    /// A buffer (or region) that somebody else holds too came to this heap: no payload of its own, but it may be one's alone by the time it dies. One
    /// that goes to and fro calls for no collection. (An address that comes again is that buffer, or its successor: then it was freed.)
    #[inline]
    fn receive(buffer: usize, bytes: usize);
    /// Bytes of cells, payload, large native blocks and regions held, what died since the last collection included, and what is spent.
    #[inline]
    fn used() -> usize;
    /// Whether `bytes` more may be allocated. Asked before large payload is made.
    #[inline]
    fn admits(bytes: usize) -> bool;
    /// How many elements of `unit` bytes a buffer gets that has `len` of them and needs `cap`: `ideal` as long as the budget admits it, less otherwise. None: no
    /// memory, also where only such a small step would be admitted that a buffer filled one by one would be copied nearly each time.
    #[inline]
    fn capacity_for(len: usize, cap: usize, ideal: usize, unit: usize) -> Option<usize>;
    /// Bytes for which [`Heap::admits`] says yes.
    #[inline]
    fn room() -> usize;
    /// What the program has allocated is more than it may.
    #[inline]
    fn over_limit() -> bool;
    /// Whether the heap, which was over its limit, is well below it.
    #[inline]
    fn has_room_again() -> bool;
    /// Allocation is about to be refused.
    #[inline]
    fn over_reserve() -> bool;
    /// Allocation since the last collection passed the limit (module `limit`): collect at the next safepoint.
    #[inline(always)]
    fn wants_collection() -> bool;
    /// The cell of this heap around `addr`, any address at all. Cells that died but were not swept yet are found, free
    /// space and swept cells are not.
    #[inline]
    fn cell_at(addr: usize) -> Option<*mut Header>;
    /// Whether `cell` lies in a block of this heap.
    #[inline]
    fn owns(cell: *mut Header) -> bool;
    /// Bytes of `cell`, at least what was asked for; 0 if it isn't this heap's.
    #[inline]
    fn cell_size(cell: *mut Header) -> usize;
    /// In the hook of [`Heap::collect_with_weak`]: marking reached `cell`. Later: it lived at the last marking or was allocated
    /// since. In the hook of a full collection, a region's cells count as marked when any of them was reached.
    /// True for other cells (null too): this heap doesn't decide about them.
    #[inline]
    fn is_marked_or_new(cell: *mut Header) -> bool;
    /// Figures at this moment.
    #[inline]
    fn stats() -> HeapStats;
    /// The same without a look at the size classes: what open runs may still hand out counts as allocated, and nothing is said of sweeping.
    #[inline]
    fn stats_as_counted() -> HeapStats;
    /// Collections so far.
    fn collections() -> u64;
    /// Figures of the cells by their size, ascending.
    fn size_classes() -> Vec<SizeClass>;
    /// Whether a collection has found the cell alive. False for cells of others.
    #[inline]
    fn is_old(cell: *mut Header) -> bool;
    /// Why the last collection was made.
    #[inline]
    fn reason() -> Reason;
    /// Whether everything may be marked when the old part has grown enough.
    #[inline]
    fn allows_full() -> bool;
    /// The collections that were recorded, the oldest first.
    fn records() -> Vec<Record>;
    /// The running collection, or the last one, is full.
    #[inline]
    fn is_full() -> bool;
    /// What the owner has noted about a region with [`Heap::set_stamp`] since this heap holds it; 0: nothing, or it is not held.
    #[inline]
    fn stamp(region: &Region) -> u32;
    /// The regions held. Those that the next marking meets no cell of are among them.
    #[inline]
    fn regions() -> Vec<Region>;
    /// Number and bytes of the regions held.
    #[inline]
    fn region_stats() -> (usize, usize);
}

exclusive! {
    /// References are stored in a cell that has the OLD flag, at `count` indices from `at` on, and in no other way. True: they are noted, and [`remember`](crate::remember) need not be called; that of
    /// a cell that its tracer has watched (module `slots`).
    fn writes_slots(cell: *mut Header, at: usize, count: usize) -> bool;
    /// Cells of this heap, its stacks and tables may refer to cells of `region` from now on, and to cells of the regions that it holds. Once a
    /// collection finds none that does, the heap lets go.
    fn hold(region: &Region);
    /// Notes something about a region that this heap holds. Forgotten when the heap lets go.
    fn set_stamp(region: &Region, stamp: u32);
    /// [`Heap::is_short`] is told: false from now on, until it happens again.
    fn told_short() -> bool;
    /// Bytes, all in all, that the owner's limit stands against though no collection can give them back.
    fn set_spent(bytes: usize);
    /// After a collection: what the owner's tables hold, `before` bytes of the payload so far, is `now` bytes, of which `idle` belong to nothing that lives: they do not put off the next full
    /// collection.
    fn weighed(before: usize, now: usize, idle: usize);
    /// Sets a limit: beyond `soft` bytes [`Heap::over_limit`] holds after a collection; `reserve` bytes later allocation is refused.
    fn set_limit(soft: usize, reserve: usize);
    /// The limit is one of a share, set before.
    fn join(share: &Arc<Share>);
    /// Tells those who share the limit what this heap uses. It does so at each collection, and when it has grown by much.
    fn post();
    /// Makes room for another reserve from here on, as far as all reserves together stay small beside the limit, and for `least` bytes in any case.
    fn extend_reserve(least: usize);
    /// Takes [`Heap::extend_reserve`] back.
    fn restore_reserve();
    /// Nothing is refused any more: the owner is on its way out.
    fn lift_limit();
    /// Says why the last collection was made.
    fn set_reason(full: Option<&'static str>, by: &'static str);
    /// Finishes lazy sweeping now, as part of the last collection.
    fn sweep_now();
    /// Why the next collection that is due marks everything; None: it does not. Sweeps what the last one has left.
    fn full_is_due() -> Option<&'static str>;
    /// Whether marking and sweeping are timed: they are, unless this says otherwise.
    fn time_collections(on: bool);
    /// Whether everything is marked when the old part has grown enough: it is, unless this says otherwise. Where the limit stands against more it is in any case.
    fn allow_full(on: bool);
    /// Records collections from now on, the last `most` of them.
    fn keep_records(most: usize);
    /// Ends that, and forgets them.
    fn keep_no_records();
    /// Finishes lazy sweeping now: every finalizer of a dead cell has run, and empty blocks are given back.
    fn collect_all_sweep();
    /// Gives all but `keep` empty blocks back (a VM falls idle, memory is short).
    fn trim(keep: usize);
    /// Calls `f` with each allocated cell, after finishing the sweep.
    fn each_cell(f: &mut dyn FnMut(*mut Header));
    /// Calls `f` with address and size of each free cell of the blocks in use.
    fn each_free(f: &mut dyn FnMut(usize, usize));
    /// The cells of this heap that a live cell refers to, each once. None: a marking is under way; a full collection ends it.
    fn references(cell: *mut Header) -> Option<Vec<*mut Header>>;
    /// Whether cells are noted from now on, as they are allocated: slow. Forgets what was noted. Not while a marking is under way.
    fn note_allocations(on: bool);
    /// From now on `bit` is set in the poll word whenever about so many bytes were allocated: the owner looks what it runs, and calls [`Heap::take_sample`].
    fn sample_allocations(every: usize, bit: u32);
    /// Bytes of cells and payload, and cells, allocated since this was asked last; None: nobody samples.
    fn take_sample() -> Option<(u64, u64)>;
    /// Addresses of the cells noted since this was asked last; some may be dead.
    fn noted_allocations() -> Vec<usize>;
    /// Marks everything from `roots`, then leaves the dead to lazy sweeping.
    fn collect(roots: Roots<'_>);
    /// [`Heap::collect`] with `after_mark` run between marking and sweeping, for weak tables: they drop the entries whose cell
    /// is not [`Heap::is_marked_or_new`].
    fn collect_with_weak(roots: Roots<'_>, after_mark: AfterMark<'_>);
    /// [`Heap::collect_with_weak`] of what is young, or of everything when the old part has grown enough or the limit stands against it. Of a large heap everything is
    /// marked in steps: the call only begins, or does a step, and the hook is called with the last. The hook asks [`Heap::is_full`].
    fn collect_due(roots: Roots<'_>, after_mark: AfterMark<'_>);
    /// Begins a marking in steps, or does a step that traces about `work` cells, and ends the collection when nothing is left: for tests.
    fn collect_step(work: usize, roots: Roots<'_>, after_mark: AfterMark<'_>);
    /// [`Heap::collect_with_weak`] of what is young; the rest of a marking in steps, if one goes on.
    fn collect_minor(roots: Roots<'_>, after_mark: AfterMark<'_>);
    /// How messages of the check name a cell.
    fn set_describe(describe: fn(*mut Header) -> String);
}

impl Heap {
    /// What [`Heap::room`] is about to say, if `beyond` more bytes were allowed, for an allocator: native code asks it in the middle of anything that this heap may be doing, on the thread that does it.
    /// usize::MAX while a collection marks, for that comes to its end.
    ///
    /// # Safety
    /// `heap` is alive, and belongs to the calling thread's turn.
    pub unsafe fn room_in_passing(heap: *const Heap, beyond: usize) -> usize {
        // SAFETY: by contract; plain numbers are read where they stand, without a reference to the state, which may be borrowed.
        unsafe { HeapState::room_in_passing(heap.cast(), beyond) }
    }
    /// [`Heap::native`] in the same way.
    ///
    /// # Safety
    /// As there.
    pub unsafe fn native_in_passing(heap: *const Heap) -> Option<Arc<Native>> {
        // SAFETY: as there; the field is written before the VM runs.
        unsafe { (*heap.cast::<HeapState>()).native.clone() }
    }
    /// The region around `cell`, which this heap holds. None for cells of heaps, of static regions, null.
    pub fn region_of(&self, cell: *mut Header) -> Option<&Region> {
        // SAFETY: the reference leads into an entry of the table of regions; what may take that away borrows the heap mutably, and `hold`, which
        // may move the entry, does so too.
        unsafe { (*self.0.get()).region_of(cell) }
    }
    /// Who is asked what cells name by number, with what it is given; before each collection, as far as `owner` may have moved.
    ///
    /// # Safety
    /// Whenever a collection goes on, `owner` is what `named` takes it for.
    pub unsafe fn set_named(&mut self, named: crate::NamedFn, owner: *const ()) {
        self.state().named = (Some(named), owner);
    }
    /// From now on `bit` is set in the word at `poll` when a collection is wanted.
    ///
    /// # Safety
    /// The word outlives the heap.
    pub unsafe fn set_poll(&mut self, poll: *const AtomicU32, bit: u32) {
        // SAFETY: the caller's word.
        unsafe { self.state().set_poll(poll, bit) }
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "heap_tests.rs"]
mod tests;
