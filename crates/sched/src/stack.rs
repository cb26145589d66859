//! Stacks: one slot holds a native stack (growing down) and a VM stack (growing up) that begin at the same place, the seam.
//!
//! ```text
//! base        native_limit                         top      vm_area                end of slot
//!  | guard 4 KiB  |            <--- native stack     | header | --->                     | guard of the next
//! ```
//!
//! The page at the seam is shared by what both begin with, and the page table of what a shallow coroutine touches is one: that of the next slot's guard, too.
//!
//! Invariants: a slot belongs to one `Stack` or to one free list; it has guards at both ends as long as it is in use, and in a list until its page tables are given
//! back. Memory of a slot is dirty when it is handed out: whoever reads it writes it first. Slots are never unmapped one by one.
//!
//! What nobody needs goes back to the kernel, three quarters at a time ([`StackPool::relax`]), and then the page tables of neighbours that both are free: a guard keeps the table that
//! it stands in, so those between them go first. (100,000 VMs that had ended left 430 MB of page tables.) Both are done piece by piece: it is the timer thread that does it.
//! Rejected: release per use (madvise costs 1.5-2.7 us against 30 ns for a whole unit); mprotect guards (run out of mappings
//! near 32,000 slots); huge pages (65 KB per parked unit); equal stack tops (walking 1,000 units: 15.2 instead of 6.2 ns each);
//! the VM stack at the bottom (four pages and three page tables for a VM that waits, instead of two and two).

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::num::NonZeroUsize;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use zakuro_base::sync::held::Mutex;

use crate::native;
use crate::reactor::Care;

const PAGE: usize = 4096;
const MADV_GUARD_INSTALL: libc::c_int = 102;
const MADV_GUARD_REMOVE: libc::c_int = 103;
/// Addresses that one page of page tables maps.
const REACH: usize = 2 << 20;
/// From the seam's page down to the next multiple of [`REACH`]: native stacks of usual depth.
const SHALLOW: usize = 32 << 10;
/// Tops lie on so many cache lines, the highest so many below the end of the seam's page: for the first frames.
const COLOURS: usize = 8;
const FIRST_FRAMES: usize = 192;

/// Bytes on each side of the seam's page that a trimmed slot keeps.
const KEEP: usize = 16 << 10;
/// A stack that was used further than this is trimmed when it comes back.
const DEEP: usize = 128 << 10;
const SHARDS: usize = 16;
/// So many slots are looked at under one hold of the lock that whoever makes a VM may wait for. More than those of a lot.
const LOOKED_AT: usize = 4096;
/// For so long one call of [`StackPool::relax`] gives memory back: as long timers may be late.
const A_WHILE: Duration = Duration::from_millis(2);

/// Which of the two slot sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackSize {
    /// Threads, a VM's main one too: 16 MiB, of which 14 are the native stack (8 and 6 where address space or data are limited). Builtins that go into nested
    /// structures take up to 600 bytes a level; CRuby has 8 MiB for theirs.
    Main,
    /// Fibers: 768 KiB, of which 512 are the native stack (512 and 256 there).
    Fiber,
}

impl StackSize {
    /// Bytes of the interpreter's part, nearly.
    const fn vm_bytes(self) -> usize {
        match self {
            StackSize::Main => REACH - PAGE,
            StackSize::Fiber => 256 << 10,
        }
    }

    /// Slots per mapping.
    const fn lot(self) -> usize {
        match self {
            StackSize::Main => 32,
            StackSize::Fiber => 256,
        }
    }

    /// A shard that holds twice as many free slots gives this many to the common list.
    const fn exchange(self) -> usize {
        match self {
            StackSize::Main => 8,
            StackSize::Fiber => 64,
        }
    }

    const fn index(self) -> usize {
        self as usize
    }

    /// The page of the seam, in a slot of so many bytes.
    const fn seam(self, bytes: usize) -> usize {
        bytes - self.vm_bytes() + SHALLOW
    }
}

/// Lives at the seam of a slot. Written by the coroutine that runs on the stack (one thread at a time), read by its owner while
/// it is suspended.
pub(crate) struct Header {
    /// Approximate native stack pointer at the last suspension.
    pub(crate) saved_sp: Cell<usize>,
    /// Lowest `saved_sp` since the slot was handed out.
    pub(crate) deepest: Cell<usize>,
    /// The running coroutine's `corosensei::Yielder`; null before the first resume.
    pub(crate) yielder: Cell<*const ()>,
}

const HEADER: usize = 64;
const _: () = assert!(size_of::<Header>() <= HEADER);

/// Where a slot begins, and in the lower bits what it is like. In order of addresses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Slot(usize);

impl Slot {
    /// At both ends.
    const GUARDED: usize = 1;
    const TRIMMED: usize = 2;

    fn base(self) -> usize {
        self.0 & !(PAGE - 1)
    }
    fn is(self, what: usize) -> bool {
        self.0 & what != 0
    }
    fn set(&mut self, what: usize, on: bool) {
        self.0 = if on { self.0 | what } else { self.0 & !what };
    }
}

/// Slots that were mapped at once.
#[derive(Clone, Copy)]
struct Mapping {
    /// Of the whole, with the guard behind the last slot.
    bytes: usize,
    /// Where the first slot begins.
    first: usize,
    slots: usize,
}

#[derive(Default)]
struct Mappings {
    /// By address. Unmapped when all slots of one are released and nothing of it is needed, or with the pool.
    mappings: BTreeMap<usize, Mapping>,
    /// Never used slots of the newest mapping: next address, how many are left.
    fresh: (usize, usize),
    free: Slots,
    /// Those whose pages are about to be released: taken after those that are free.
    leaving: Vec<Slot>,
    /// Those that hold no pages: taken last.
    released: BTreeSet<Slot>,
    /// From here on some of these may have page tables.
    tables: Option<Slot>,
    made: usize,
}

impl Mappings {
    /// The mapping in which a slot lies, and its address.
    fn mapping_of(&self, slot: Slot) -> Option<(usize, Mapping)> {
        let (address, mapping) = self.mappings.range(..=slot.base()).next_back()?;
        (slot.base() < address + mapping.bytes).then_some((*address, *mapping))
    }
    /// A mapping goes whose slots are in no list any more, and in no use.
    fn unmap(&mut self, address: usize, mapping: Mapping) {
        self.mappings.remove(&address);
        self.made -= mapping.slots;
        // SAFETY: nobody has a slot of it.
        unsafe { libc::munmap(address as *mut _, mapping.bytes) };
    }
}

/// A free list, LIFO.
#[derive(Default)]
struct Slots {
    list: Vec<Slot>,
    /// Fewest since [`Slots::unused`]: nobody needed these, the oldest ones.
    least: usize,
}

impl Slots {
    fn pop(&mut self) -> Option<Slot> {
        let slot = self.list.pop();
        self.least = self.least.min(self.list.len());
        slot
    }
    /// Three quarters of what nobody has needed since the last call.
    fn unused(&mut self) -> Vec<Slot> {
        let count = self.least - self.least / 4;
        let unused = self.list.drain(..count).collect();
        self.least = self.list.len();
        if self.list.capacity() > 64 && self.list.capacity() / 4 > self.list.len() {
            self.list.shrink_to(self.list.len() * 2);
        }
        unused
    }
}

struct PoolInner {
    /// Free lists by worker, LIFO. Taken for a push or a pop only, mostly by one worker; lock order: shard, then common.
    shards: [[Mutex<Slots>; SHARDS]; 2],
    /// What shards exchange in lots, and where slots are carved. Taken once per lot.
    common: [Mutex<Mappings>; 2],
    /// Bytes of a slot of each size, both stacks and the guard together.
    bytes: [usize; 2],
    /// Whether MADV_GUARD_INSTALL works; cleared by the first slot for which it fails, read before each installation.
    guards: AtomicBool,
}

/// All stacks of a process. A handle; clones share the pool, and a count of users: see [`StackPool::separate`].
#[derive(Clone)]
pub struct StackPool(Arc<Handle>);

/// What one count of users stands for.
struct Handle(Arc<PoolInner>);

impl std::ops::Deref for Handle {
    type Target = PoolInner;
    fn deref(&self) -> &PoolInner {
        &self.0
    }
}

impl StackPool {
    pub fn new() -> StackPool {
        let unlimited = address_space() == usize::MAX && limit(libc::RLIMIT_DATA) == usize::MAX;
        let bytes = if unlimited { [16 << 20, 768 << 10] } else { [8 << 20, 512 << 10] };
        let inner = PoolInner { shards: Default::default(), common: Default::default(), bytes, guards: AtomicBool::new(true) };
        StackPool(Arc::new(Handle(Arc::new(inner))))
    }

    /// A handle to the same pool that counts its stacks by itself: for one VM. (VMs that made fibers side by side wrote to one count.)
    pub fn separate(&self) -> StackPool {
        StackPool(Arc::new(Handle(self.0.0.clone())))
    }

    /// Takes a slot, the most recently used one of this worker if there is any. Fails when the kernel refuses a mapping.
    pub fn take(&self, size: StackSize) -> io::Result<Stack> {
        let shard = native::current_index() % SHARDS;
        let popped = self.0.shards[size.index()][shard].lock().pop();
        let mut slot = match popped {
            Some(slot) => slot,
            // Slots of the other size may hold what the kernel has not got.
            None => self.refill(size, shard).or_else(|e| if self.shed() { self.refill(size, shard) } else { Err(e) })?,
        };
        if !slot.is(Slot::GUARDED) {
            slot.set(Slot::GUARDED, true);
            if self.0.guards.load(Ordering::Relaxed) {
                for guard in [slot.base(), slot.base() + self.0.bytes(size)] {
                    // SAFETY: mapped; the first page of the slot, which is ours, and that of the next one or behind the last, which nobody uses.
                    let result = unsafe { libc::madvise(guard as *mut _, PAGE, MADV_GUARD_INSTALL) };
                    if result != 0 {
                        self.0.guards.store(false, Ordering::Relaxed);
                    }
                }
            }
        }
        let end_of_seam = slot.base() + size.seam(self.0.bytes(size)) + PAGE;
        let top = end_of_seam - FIRST_FRAMES - (slot.base() / self.0.bytes(size) % COLOURS) * 64 - HEADER;
        let stack = Stack { pool: self.0.clone(), slot, size, top, vm_depth: 0 };
        // SAFETY: `top` has room for a header, is 64-byte aligned and ours alone.
        unsafe {
            (top as *mut Header).write(Header { saved_sp: Cell::new(top), deepest: Cell::new(top), yielder: Cell::new(ptr::null()) });
        }
        Ok(stack)
    }

    /// Moves a lot from the common list into the shard and returns one slot of it.
    fn refill(&self, size: StackSize, shard: usize) -> io::Result<Slot> {
        let slot_bytes = self.0.bytes(size);
        let mut common = self.0.common[size.index()].lock();
        if let Some(slot) = common.free.pop() {
            let rest = common.free.list.len();
            let stay = rest - rest.min(size.exchange() / 2);
            let moved: Vec<Slot> = common.free.list.drain(stay..).collect();
            common.free.least = common.free.least.min(stay);
            drop(common);
            self.0.shards[size.index()][shard].lock().list.extend(moved);
            return Ok(slot);
        }
        if let Some(slot) = common.leaving.pop() {
            return Ok(slot);
        }
        if let Some(slot) = common.released.pop_first() {
            return Ok(slot);
        }
        if common.fresh.1 == 0 {
            // Where address space is short, fewer slots at a time; but the first VMs keep an eighth of it, so that others start while some hoard memory.
            let mut slots = size.lot().min(address_space() / if common.made == 0 { 8 } else { 32 } / slot_bytes).max(1);
            // Where address space is short, so are page tables.
            let align = if address_space() == usize::MAX { REACH } else { PAGE };
            // Behind the last slot there is a guard, too.
            let bytes = |slots: usize| slot_bytes * slots + align;
            let address = loop {
                // SAFETY: a fresh anonymous mapping, no address asked for.
                let address = unsafe {
                    libc::mmap(
                        ptr::null_mut(),
                        bytes(slots),
                        libc::PROT_READ | libc::PROT_WRITE,
                        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                        -1,
                        0,
                    )
                };
                if address != libc::MAP_FAILED {
                    break address;
                }
                if slots == 1 {
                    return Err(io::Error::last_os_error());
                }
                slots = (slots / 4).max(1);
            };
            // SAFETY: the mapping just made. Advice only: a failure costs memory, not correctness.
            unsafe { libc::madvise(address, bytes(slots), libc::MADV_NOHUGEPAGE) };
            // Its first page is the last that a page of page tables maps, as is the guard at its end.
            let first = (address as usize + align) / align * align - PAGE;
            common.mappings.insert(address as usize, Mapping { bytes: bytes(slots), first, slots });
            common.fresh = (first, slots);
        }
        let slot = Slot(common.fresh.0 | Slot::TRIMMED);
        common.fresh = (common.fresh.0 + slot_bytes, common.fresh.1 - 1);
        common.made += 1;
        Ok(slot)
    }

    /// Gives the memory of slots back that nobody has needed since the last call, three quarters of them at a time; called now and then while the process
    /// lives. Takes about [`A_WHILE`] at most, and says [`Care::Soon`] where that was not enough.
    pub fn relax(&self) -> Care {
        let until = Instant::now() + A_WHILE;
        [StackSize::Main, StackSize::Fiber].map(|size| self.relax_size(size, until)).into_iter().max().unwrap_or(Care::Done)
    }

    fn relax_size(&self, size: StackSize, until: Instant) -> Care {
        let common = &self.0.common[size.index()];
        let mut more = Care::Done;
        if common.lock().leaving.is_empty() {
            let mut unused = Vec::new();
            for shard in &self.0.shards[size.index()] {
                let mut shard = shard.lock();
                unused.append(&mut shard.unused());
                more = more.max(if shard.list.is_empty() { Care::Done } else { Care::Later });
            }
            let mut common = common.lock();
            unused.append(&mut common.free.unused());
            more = more.max(if common.free.list.is_empty() { Care::Done } else { Care::Later });
            common.leaving = unused;
        }
        loop {
            let mut lot: Vec<Slot> = {
                let mut common = common.lock();
                let stay = common.leaving.len().saturating_sub(size.exchange());
                common.leaving.drain(stay..).collect()
            };
            if lot.is_empty() {
                break;
            }
            lot.iter_mut().for_each(|slot| release(self.0.bytes(size), slot));
            let mut common = common.lock();
            // Their neighbours may have waited for them.
            let first = lot.iter().min().and_then(|slot| common.mapping_of(*slot)).map_or(0, |(_, mapping)| mapping.first);
            common.released.extend(lot);
            common.tables = Some(common.tables.map_or(Slot(first), |before| before.min(Slot(first))));
            more = more.max(Care::Later);
            if Instant::now() > until {
                return Care::Soon;
            }
        }
        common.lock().leaving.shrink_to_fit();
        if more == Care::Done { self.give_tables_back(size, until) } else { more }
    }

    /// Unmaps all mappings that are free as a whole. Whether there was one.
    #[cold]
    fn shed(&self) -> bool {
        let mut any = false;
        for size in [StackSize::Main, StackSize::Fiber] {
            let mut free: Vec<Slot> =
                self.0.shards[size.index()].iter().flat_map(|shard| std::mem::take(&mut *shard.lock()).list).collect();
            let mut common = self.0.common[size.index()].lock();
            free.append(&mut std::mem::take(&mut common.free).list);
            free.append(&mut common.leaving);
            free.extend(std::mem::take(&mut common.released));
            free.sort_unstable();
            let mut rest = free.as_slice();
            while let Some((first, _)) = rest.split_first() {
                let Some((address, mapping)) = common.mapping_of(*first) else { break };
                let (of_it, behind) = rest.split_at(rest.iter().take_while(|slot| slot.base() < address + mapping.bytes).count());
                rest = behind;
                if of_it.len() == mapping.slots {
                    common.unmap(address, mapping);
                    any = true;
                } else {
                    common.free.list.extend_from_slice(of_it);
                }
            }
        }
        any
    }

    /// Gives the page tables of released slots back that are neighbours. Kernels that free no tables with their pages (before 6.14) lose nothing by it.
    fn give_tables_back(&self, size: StackSize, until: Instant) -> Care {
        let bytes = self.0.bytes(size);
        let common = &self.0.common[size.index()];
        loop {
            // They are in no list meanwhile: so few that who needs a slot finds others.
            let run: Vec<Slot> = {
                let mut common = common.lock();
                let Some(from) = common.tables else { return Care::Done };
                let mut run: Vec<Slot> = Vec::new();
                let mut further = None;
                for (seen, slot) in common.released.range(from..).enumerate() {
                    if seen >= LOOKED_AT {
                        further = Some(run.first().map_or(*slot, |first| Slot(first.base())));
                        break;
                    }
                    // Between slots of two mappings there is a page at least.
                    if run.last().is_some_and(|last| last.base() + bytes != slot.base()) {
                        if run.len() > 1 && run.iter().any(|s| s.is(Slot::GUARDED)) {
                            break;
                        }
                        run.clear();
                    }
                    run.push(*slot);
                }
                if run.len() < 2 || !run.iter().any(|s| s.is(Slot::GUARDED)) || further.is_some() {
                    common.tables = further;
                    drop(common);
                    match further {
                        None => return Care::Done,
                        Some(_) if Instant::now() > until => return Care::Soon,
                        Some(_) => continue,
                    }
                }
                for slot in &run {
                    common.released.remove(slot);
                }
                common.tables = Some(Slot(run[run.len() - 1].base() + bytes));
                if let Some((address, mapping)) = common.mapping_of(run[0]).filter(|(_, mapping)| mapping.slots == run.len()) {
                    common.unmap(address, mapping);
                    drop(common);
                    if Instant::now() > until {
                        return Care::Soon;
                    }
                    continue;
                }
                run
            };
            let (first, last) = (run[0].base(), run[run.len() - 1].base());
            // SAFETY: what lies between the guard before the first slot and the one behind the last is ours; the guards within are those slots' own.
            let gone = unsafe {
                libc::madvise((first + bytes) as *mut _, last + PAGE - (first + bytes), MADV_GUARD_REMOVE) == 0
                    && libc::madvise((first + PAGE) as *mut _, last + bytes - (first + PAGE), libc::MADV_DONTNEED) == 0
            };
            common.lock().released.extend(run.into_iter().map(|mut slot| {
                slot.set(Slot::GUARDED, slot.is(Slot::GUARDED) && !gone);
                slot
            }));
            if Instant::now() > until {
                return Care::Soon;
            }
        }
    }

    /// Stacks that are in use through this handle and its clones, besides those handles themselves: see [`StackPool::separate`].
    pub fn in_use(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }

    /// Slots ever carved, of both sizes.
    pub fn slots_made(&self) -> usize {
        self.0.common.iter().map(|c| c.lock().made).sum()
    }
}

impl PoolInner {
    fn bytes(&self, size: StackSize) -> usize {
        self.bytes[size.index()]
    }

    fn put_back(&self, size: StackSize, slot: Slot) {
        let shard = native::current_index() % SHARDS;
        let mut surplus = Vec::new();
        {
            let mut free = self.shards[size.index()][shard].lock();
            free.list.push(slot);
            if free.list.len() >= 2 * size.exchange() {
                // The oldest ones: what is hot stays here.
                surplus.extend(free.list.drain(..size.exchange()));
                free.least = free.least.saturating_sub(size.exchange());
            }
        }
        if !surplus.is_empty() {
            // Not trimmed: threads and fibers come and go by the thousand, and each call would interrupt the other cores of the process. What was deep is trimmed
            // already, and `relax` is for the rest.
            self.common[size.index()].lock().free.list.append(&mut surplus);
        }
    }
}

impl Drop for PoolInner {
    fn drop(&mut self) {
        for common in &self.common {
            for (address, mapping) in &common.lock().mappings {
                // SAFETY: mapped by `refill`; every Stack holds the pool, so none is left.
                unsafe { libc::munmap(*address as *mut _, mapping.bytes) };
            }
        }
    }
}

/// Bytes of address space that the process may have.
pub(crate) fn address_space() -> usize {
    limit(libc::RLIMIT_AS)
}

fn limit(resource: libc::__rlimit_resource_t) -> usize {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: writes one plain struct.
    unsafe { libc::getrlimit(resource, &mut limit) };
    limit.rlim_cur.try_into().unwrap_or(usize::MAX)
}

/// Gives the deep parts of both stacks back to the kernel.
fn trim(size: StackSize, bytes: usize, slot: &mut Slot) {
    if slot.is(Slot::TRIMMED) {
        return;
    }
    slot.set(Slot::TRIMMED, true);
    let (low, high) = (size.seam(bytes) - KEEP, size.seam(bytes) + PAGE + KEEP);
    // SAFETY: both ranges lie inside a slot that nobody uses; they leave the guard page alone.
    unsafe {
        libc::madvise((slot.base() + PAGE) as *mut _, low - PAGE, libc::MADV_DONTNEED);
        libc::madvise((slot.base() + high) as *mut _, bytes - high, libc::MADV_DONTNEED);
    }
}

/// Gives all of both stacks back.
fn release(bytes: usize, slot: &mut Slot) {
    slot.set(Slot::TRIMMED, true);
    // SAFETY: as in `trim`.
    unsafe { libc::madvise((slot.base() + PAGE) as *mut _, bytes - PAGE, libc::MADV_DONTNEED) };
}

/// Whether the native stack reached `DEEP` bytes. Costs a system call: for main stacks only, where the end of a VM hides it.
fn native_was_deep(bytes: usize, slot: &Slot) -> bool {
    let mut resident = [0u8; 16];
    let address = slot.base() + StackSize::Main.seam(bytes) + PAGE - DEEP - resident.len() * PAGE;
    // SAFETY: the range lies inside the slot; `resident` has one byte for each of its pages.
    let result = unsafe { libc::mincore(address as *mut _, resident.len() * PAGE, resident.as_mut_ptr().cast()) };
    result == 0 && resident.iter().any(|r| r & 1 != 0)
}

/// One slot. Goes back to its pool when dropped.
pub struct Stack {
    pool: Arc<Handle>,
    slot: Slot,
    size: StackSize,
    top: usize,
    vm_depth: usize,
}

impl Stack {
    /// Lowest address of the slot.
    pub fn base(&self) -> *mut u8 {
        self.slot.base() as *mut u8
    }

    /// The interpreter's part: address and bytes. Contents are whatever the last user left.
    pub fn vm_area(&self) -> (*mut u8, usize) {
        let start = self.top + HEADER;
        (start as *mut u8, self.slot.base() + self.pool.bytes(self.size) - start)
    }

    /// Lowest address that the native stack may use.
    pub fn native_limit(&self) -> *mut u8 {
        (self.slot.base() + PAGE) as *mut u8
    }

    /// Where the native stack begins (its highest address, exclusive).
    pub fn top(&self) -> *mut u8 {
        self.top as *mut u8
    }

    pub fn size(&self) -> StackSize {
        self.size
    }

    /// The interpreter's high-water mark in bytes, for trimming. Call it when the VM stack was deep, at the latest before the
    /// stack is dropped.
    pub fn note_vm_depth(&mut self, bytes: usize) {
        self.vm_depth = self.vm_depth.max(bytes);
    }

    pub(crate) fn header(&self) -> &Header {
        // SAFETY: written by `StackPool::take`, lives as long as the slot is ours; all fields are cells and the owner is the
        // only one who looks while the coroutine does not run.
        unsafe { &*(self.top as *const Header) }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        let mut slot = self.slot;
        slot.set(Slot::TRIMMED, false);
        let noted = self.top - self.header().deepest.get().min(self.top);
        let deep = self.vm_depth > DEEP / 2 || noted > DEEP / 2;
        let bytes = self.pool.bytes(self.size);
        if deep || (self.size == StackSize::Main && native_was_deep(bytes, &slot)) {
            trim(self.size, bytes, &mut slot);
        }
        self.pool.put_back(self.size, slot);
    }
}

// SAFETY: `base` and `limit` delimit memory that this Stack owns, far above MIN_STACK_SIZE; `base` is 64-byte aligned. The guard
// is installed where the kernel has one; elsewhere the interpreter's depth checks against `native_limit` stand in for it.
unsafe impl corosensei::stack::Stack for Stack {
    fn base(&self) -> NonZeroUsize {
        NonZeroUsize::new(self.top).unwrap_or(NonZeroUsize::MIN)
    }

    fn limit(&self) -> NonZeroUsize {
        NonZeroUsize::new(self.native_limit() as usize).unwrap_or(NonZeroUsize::MIN)
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "stack_tests.rs"]
mod tests;
