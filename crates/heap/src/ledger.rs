//! The arena ledger: who holds which 64 KiB block of the process's one cell reservation.
//!
//! Goal: handing blocks to heaps and taking them back costs one short lock per batch, and an address is turned into its
//! block's metadata by one shift.
//!
//! Invariants
//! - The reservation is address space only (PROT_NONE). It is opened chunk by chunk together with the chunk's rows of the
//!   side table, in ascending order; a row below `opened` is readable for ever.
//! - A block is in exactly one place: not yet opened, fresh, `dirty`, `clean`, or with a heap (`owner` != 0).
//! - Clean blocks hold no pages; at most [`DIRTY_LIMIT`] bytes of free blocks do.
//!
//! Rejected
//! - One mmap per chunk at an address of the kernel's choice: needs a tree or hash to find a block from an address.
//! - Opening the whole reservation at once: fails where overcommit is off, and then for the sum, not for what is used.
//! - A lock-free block stack: the lock is taken once per batch of up to 1 MiB, and its critical section is a memcpy of
//!   at most a few hundred bytes.

use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use zakuro_base::sync::held::{Mutex, MutexGuard};

use zakuro_base::sync::wide::point;

use crate::block::{BlockMeta, FarBits};
use crate::budget::{self, Watch};

/// Bytes per block; blocks are aligned to it.
pub const BLOCK_SIZE: usize = 64 << 10;
pub(crate) const BLOCK_SHIFT: u32 = BLOCK_SIZE.trailing_zeros();
/// Bytes of the reservation that are opened at a time. (Miri keeps account of every byte, and has no inaccessible memory.)
pub const CHUNK_SIZE: usize = if cfg!(miri) { 4 << 20 } else { 128 << 20 };
const BLOCKS_PER_CHUNK: usize = CHUNK_SIZE / BLOCK_SIZE;
const LARGEST_RESERVATION: usize = if cfg!(miri) { 4 * CHUNK_SIZE } else { 1 << 40 };
const SMALLEST_RESERVATION: usize = if cfg!(miri) { LARGEST_RESERVATION } else { 32 << 20 };
/// Free blocks beyond this many bytes give their pages back to the system.
const DIRTY_LIMIT: usize = 64 << 20;

/// Blocks of the reservation that are kept for the desperate, where they are no more than one in 64.
const SPARE: usize = 256;
const LEAST_SPARE: usize = 64;
const PAGE: usize = 4096;
/// Free blocks without pages after which their rows are looked at.
const MANY_ROWS: usize = 1024;
/// Free blocks that keep their pages in any case.
const KEEP_DIRTY: usize = 64;

/// The process's ledger. Read-only after creation but for `books`.
static LEDGER: OnceLock<Ledger> = OnceLock::new();

/// Process-wide owner of all cell memory.
pub struct Ledger {
    /// Address of block 0.
    base: usize,
    /// Blocks in the reservation; 0 if even the smallest could not be had.
    blocks: usize,
    /// One row per block.
    table: *mut BlockMeta,
    /// Long bitmaps, by block.
    far: *mut FarBits,
    /// Locked by any heap that takes or returns blocks and by `stats`; held for a few hundred nanoseconds, and for
    /// one mprotect pair per 128 MiB. No other lock is taken inside.
    books: Mutex<Books>,
    /// Percent of their growth that heaps are granted (module `budget`). Written by [`Ledger::look`], read by each heap after a full collection.
    granted: AtomicU32,
    /// What [`Ledger::look`] has seen: its own affair. Tried, never waited for: in the child of a fork that came in the middle nobody looks any more.
    watch: std::sync::Mutex<Watch>,
}

// SAFETY: `table` points to rows that are Sync; the rest is immutable or locked.
unsafe impl Send for Ledger {}
// SAFETY: as above.
unsafe impl Sync for Ledger {}

struct Books {
    /// Heap ids, never reused (2^64 of them); 0 means none.
    last_heap_id: u64,
    /// Blocks below this index have been handed out at least once.
    fresh: usize,
    /// Blocks below this index are open.
    opened: usize,
    /// Free, pages still there.
    dirty: Vec<u32>,
    /// Free, pages given back.
    clean: Vec<u32>,
    /// So many of `clean` have given their rows' pages back.
    rows_clean: usize,
    /// Fewest of `dirty` since [`Ledger::relax`]: nobody needed these.
    least_dirty: usize,
    /// Blocks with heaps.
    in_use: usize,
    /// Blocks whose pages are being given back, outside the lock.
    in_flight: usize,
    /// Calls that took blocks, and that gave some back.
    lots_out: u64,
    lots_back: u64,
}

/// Counts of [`Ledger::stats`]; bytes where the name says so, else blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerStats {
    /// Address space set aside.
    pub reserved_bytes: usize,
    /// Chunks opened so far.
    pub chunks: usize,
    /// Held by heaps, used or in their reserves.
    pub in_use: usize,
    /// Free with pages.
    pub free_dirty: usize,
    /// Free without pages.
    pub free_clean: usize,
    /// How often heaps took blocks, and gave some back.
    pub lots_out: u64,
    pub lots_back: u64,
}

impl Ledger {
    /// The ledger of the process, created on first use.
    pub fn get() -> &'static Ledger {
        LEDGER.get_or_init(Ledger::create)
    }

    /// What is where, at one instant.
    pub fn stats() -> LedgerStats {
        let ledger = Ledger::get();
        let books = ledger.lock();
        LedgerStats {
            reserved_bytes: ledger.blocks * BLOCK_SIZE,
            chunks: books.opened.div_ceil(BLOCKS_PER_CHUNK),
            in_use: books.in_use,
            free_dirty: books.dirty.len(),
            free_clean: books.clean.len() + books.in_flight,
            lots_out: books.lots_out,
            lots_back: books.lots_back,
        }
    }

    fn create() -> Ledger {
        let mut bytes = largest_reservation();
        while bytes >= SMALLEST_RESERVATION {
            let blocks = bytes / BLOCK_SIZE;
            if let Some(cells) = reserve(bytes + BLOCK_SIZE) {
                // Both in one mapping; rows of all blocks fill whole pages.
                let rows = (blocks * size_of::<BlockMeta>()).next_multiple_of(64 << 10);
                if let Some(table) = reserve(rows + blocks * size_of::<FarBits>()) {
                    let base = cells.next_multiple_of(BLOCK_SIZE);
                    let (table, far) = (ptr::with_exposed_provenance_mut(table), ptr::with_exposed_provenance_mut(table + rows));
                    return Ledger { base, blocks, table, far, ..Ledger::empty() };
                }
                // SAFETY: the mapping was made above and nothing refers to it.
                unsafe { libc::munmap(ptr::with_exposed_provenance_mut(cells), bytes + BLOCK_SIZE) };
            }
            bytes /= 2;
        }
        // No address space: every request will be refused, so the VMs see memory exhaustion instead of an abort.
        Ledger::empty()
    }
    fn empty() -> Ledger {
        let (books, watch) = (Mutex::new(Books::new()), std::sync::Mutex::new(Watch::new()));
        Ledger { base: 0, blocks: 0, table: ptr::null_mut(), far: ptr::null_mut(), books, granted: AtomicU32::new(budget::ALL), watch }
    }

    /// Percent of their growth that heaps are granted.
    pub fn granted(&self) -> u32 {
        self.granted.load(Relaxed)
    }
    /// Looks how scarce memory is, if that was not done within the last second.
    pub fn look(&self) {
        if let Ok(mut watch) = self.watch.try_lock()
            && let Some(percent) = watch.look(self.granted())
        {
            self.granted.store(percent, Relaxed);
        }
    }

    /// Nobody takes or gives blocks meanwhile: for fork(2), whose child must not find the lock taken by a thread that it does not have.
    pub fn hold(&self) -> impl Drop + '_ {
        self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, Books> {
        self.books.lock()
    }

    #[inline]
    pub(crate) fn base(&self) -> usize {
        self.base
    }

    #[inline]
    pub(crate) fn table(&self) -> *mut BlockMeta {
        self.table
    }

    /// Where long bitmaps of a block stand.
    pub(crate) fn far(&self, block: u32) -> *mut FarBits {
        self.far.wrapping_add(block as usize)
    }

    /// Appends up to `want` blocks to `out`, whose `owner` is `id` afterwards; gives the heap its id if it has none.
    /// Appends nothing when the reservation or the system's memory is used up.
    /// Of the last blocks of the reservation only who is `desperate` gets some: to raise the exception that says that there are no more.
    pub(crate) fn take(&self, want: usize, desperate: bool, id: &mut u64, out: &mut Vec<u32>) {
        let first = out.len();
        {
            let mut books = self.lock();
            let left = books.dirty.len() + books.clean.len() + (self.blocks - books.fresh);
            let want = if desperate { want.min(left).min(4) } else { want.min(left.saturating_sub(self.spare())) };
            out.reserve(want);
            if *id == 0 {
                books.last_heap_id += 1;
                *id = books.last_heap_id;
            }
            let dirty = want.min(books.dirty.len());
            let clean = (want - dirty).min(books.clean.len());
            let fresh = want - dirty - clean;
            // Heaps pop from the end, so the order here is the reverse of use: the block freed last, likely still in
            // the cache, comes last, fresh ones come first and descend.
            if fresh > 0 && (books.fresh + fresh <= books.opened || self.open(&mut books)) {
                let n = fresh.min(books.opened - books.fresh);
                out.extend((books.fresh..books.fresh + n).rev().map(|b| b as u32));
                books.fresh += n;
            }
            let at = books.clean.len() - clean;
            out.extend(books.clean.drain(at..));
            let at = books.dirty.len() - dirty;
            out.extend(books.dirty.drain(at..));
            books.least_dirty = books.least_dirty.min(at);
            books.in_use += out.len() - first;
            books.lots_out += u64::from(out.len() > first);
        }
        for &block in &out[first..] {
            point();
            // SAFETY: the block is open, hence its row mapped.
            unsafe { (*self.table.add(block as usize)).owner.store(*id, Relaxed) };
        }
    }

    fn spare(&self) -> usize {
        (self.blocks / 64).clamp(LEAST_SPARE, SPARE)
    }

    /// Whether there are blocks for who is not desperate.
    pub fn has_spare(&self) -> bool {
        let books = self.lock();
        books.dirty.len() + books.clean.len() + (self.blocks - books.fresh) > 2 * self.spare()
    }

    /// Takes blocks back from a heap; beyond [`DIRTY_LIMIT`] their pages go back to the system.
    pub(crate) fn give(&self, blocks: &[u32]) {
        if blocks.is_empty() {
            return;
        }
        for &block in blocks {
            point();
            // SAFETY: the block is open, hence its row mapped.
            unsafe {
                let meta = &*self.table.add(block as usize);
                meta.owner.store(0, Relaxed);
                meta.region.store(0, Relaxed);
            }
        }
        point();
        let surplus = {
            let mut books = self.lock();
            let room = (DIRTY_LIMIT / BLOCK_SIZE).saturating_sub(books.dirty.len());
            let (keep, surplus) = blocks.split_at(room.min(blocks.len()));
            books.dirty.extend_from_slice(keep);
            books.in_use -= blocks.len();
            books.lots_back += 1;
            books.in_flight += surplus.len();
            surplus
        };
        if !surplus.is_empty() {
            self.clean(surplus.to_vec());
        }
    }

    /// Gives pages of free blocks back that nobody has needed since the last call, half of them at a time; called now and then while the process
    /// lives. True: there may be more to give later.
    pub fn relax(&self) -> bool {
        let (surplus, more) = {
            let mut books = self.lock();
            // Where memory is scarce all that is free goes, at once.
            let scarce = self.granted() < budget::ALL;
            let unused = if scarce { books.dirty.len() } else { books.least_dirty.min(books.dirty.len()).saturating_sub(KEEP_DIRTY) };
            let going = if scarce { unused } else { unused.div_ceil(2) };
            // The blocks freed longest ago are at the front.
            let surplus: Vec<u32> = books.dirty.drain(..going).collect();
            books.in_flight += surplus.len();
            books.least_dirty = books.dirty.len();
            (surplus, books.dirty.len() > KEEP_DIRTY)
        };
        if !surplus.is_empty() {
            self.clean(surplus);
        }
        self.relax_rows();
        more
    }

    /// Gives pages of rows back whose blocks are all free without pages: 65 MB after 20,000 idle VMs. A row of zeros is that of a block which
    /// nobody owns.
    fn relax_rows(&self) {
        let mut free = {
            let mut books = self.lock();
            books.rows_clean = books.rows_clean.min(books.clean.len());
            // Nobody must be refused a block meanwhile.
            if cfg!(miri) || books.clean.len() < books.rows_clean + MANY_ROWS || self.blocks - books.fresh < books.clean.len() {
                return;
            }
            let free = std::mem::take(&mut books.clean);
            books.in_flight += free.len();
            free
        };
        free.sort_unstable();
        for run in free.chunk_by(|a, b| a + 1 == *b) {
            for (table, bytes) in [(self.table.cast::<u8>(), size_of::<BlockMeta>()), (self.far.cast::<u8>(), size_of::<FarBits>())] {
                let rows = table as usize + run[0] as usize * bytes;
                let (from, to) = (rows.next_multiple_of(PAGE), (rows + run.len() * bytes) / PAGE * PAGE);
                if from < to {
                    // SAFETY: these rows belong to nobody but this call, and are open. Whoever looks for an owner meanwhile finds none, before and after.
                    unsafe { libc::madvise(table.add(from - table as usize).cast(), to - from, libc::MADV_DONTNEED) };
                }
            }
        }
        let mut books = self.lock();
        books.in_flight -= free.len();
        // Lowest address last, so that it is taken first.
        free.reverse();
        free.append(&mut books.clean);
        books.rows_clean = free.len();
        books.clean = free;
    }

    /// Gives the pages of blocks back that are in flight.
    fn clean(&self, mut surplus: Vec<u32>) {
        surplus.sort_unstable();
        for run in surplus.chunk_by(|a, b| a + 1 == *b) {
            if cfg!(miri) {
                break;
            }
            let start = self.base + ((run[0] as usize) << BLOCK_SHIFT);
            // SAFETY: these blocks belong to nobody but this call; their content is dead.
            unsafe { libc::madvise(ptr::with_exposed_provenance_mut(start), run.len() * BLOCK_SIZE, libc::MADV_DONTNEED) };
        }
        let mut books = self.lock();
        books.in_flight -= surplus.len();
        // Lowest address last, so that it is taken first.
        books.clean.extend(surplus.iter().rev());
    }

    /// Opens the next chunk. False if there is none, or the system refuses.
    #[cold]
    fn open(&self, books: &mut Books) -> bool {
        // A small reservation is less than a chunk.
        let more = BLOCKS_PER_CHUNK.min(self.blocks - books.opened);
        if more == 0 {
            return books.fresh < books.opened;
        }
        let cells = self.base + books.opened * BLOCK_SIZE;
        // SAFETY: the chunk lies within the reservation.
        unsafe {
            let (rows, far) = (self.table.add(books.opened), self.far.add(books.opened));
            let rw = libc::PROT_READ | libc::PROT_WRITE;
            let opened = cfg!(miri)
                || libc::mprotect(rows.cast(), more * size_of::<BlockMeta>(), rw) == 0
                    && libc::mprotect(far.cast(), more * size_of::<FarBits>(), rw) == 0
                    && libc::mprotect(ptr::with_exposed_provenance_mut(cells), more * BLOCK_SIZE, rw) == 0;
            if !opened {
                return books.fresh < books.opened;
            }
        }
        books.opened += more;
        true
    }
}

impl Books {
    fn new() -> Books {
        Books {
            last_heap_id: 0,
            fresh: 0,
            opened: 0,
            dirty: Vec::new(),
            clean: Vec::new(),
            rows_clean: 0,
            least_dirty: 0,
            in_use: 0,
            in_flight: 0,
            lots_out: 0,
            lots_back: 0,
        }
    }
}

/// Bytes to try first: where address space is limited (`ulimit -v`), a third of it at most, for the rest of the process needs some too.
fn largest_reservation() -> usize {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    if cfg!(miri) {
        return LARGEST_RESERVATION;
    }
    // SAFETY: writes one plain struct.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) } == 0 && limit.rlim_cur != libc::RLIM_INFINITY;
    match known {
        true => LARGEST_RESERVATION.min(1 << (limit.rlim_cur / 3).max(SMALLEST_RESERVATION as u64).ilog2()),
        false => LARGEST_RESERVATION,
    }
}

/// Address space without memory; None if refused.
fn reserve(bytes: usize) -> Option<usize> {
    let (access, lazily) = if cfg!(miri) { (libc::PROT_READ | libc::PROT_WRITE, 0) } else { (libc::PROT_NONE, libc::MAP_NORESERVE) };
    // SAFETY: a new anonymous mapping touches nothing that exists.
    unsafe {
        let at = libc::mmap(ptr::null_mut(), bytes, access, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | lazily, -1, 0);
        if at == libc::MAP_FAILED {
            return None;
        }
        // Sparse use by thousands of heaps: a huge page per touched block would multiply the footprint.
        #[cfg(all(target_os = "linux", not(miri)))]
        libc::madvise(at, bytes, libc::MADV_NOHUGEPAGE);
        Some(at.expose_provenance())
    }
}

// Rows of a chunk fill whole pages, so opening one chunk never opens rows of the next (checked for 64 KiB pages too).
const _: () = {
    assert!(cfg!(miri) || (BLOCKS_PER_CHUNK * size_of::<BlockMeta>()).is_multiple_of(64 << 10));
    assert!(cfg!(miri) || (BLOCKS_PER_CHUNK * size_of::<FarBits>()).is_multiple_of(64 << 10));
};
