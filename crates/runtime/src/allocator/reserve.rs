//! Memory for small requests when malloc has none.
//!
//! Segments of [`SEGMENT`] bytes: two that are mapped when the process starts (address space only, until they are needed), and more that are mapped while little
//! is left and the system gives them. A segment consists of slabs of [`SLAB`] bytes. A slab holds pieces of one power of two, or is part of a run of slabs
//! that is one piece. The first slab of a segment holds what is known about the others. A piece that is given back is free at once for
//! others: a piece that stays (a name, compiled code, what an ended VM's frames owned) costs its slab, not the reserve.
//!
//! The last [`LAST`] slabs that are free are for those who have to go on: the runtime itself, and who holds a lock of the process. The [`MODEST`] before them
//! are not for VMs that hold much: those are refused while the others still get what they need to come to a safepoint, and wait.
//!
//! Everything is behind one spinning lock that is taken when malloc has refused a request, and when such a piece is given back; never while there is memory.
//! Rejected: a row that is free again when its last piece is (one piece that stays used it up for good); a list of pieces by the system's malloc
//! (which is what has nothing).

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// Bytes of a segment.
pub const SEGMENT: usize = 16 << 20;
/// Bytes of a slab, and the largest alignment.
const SLAB: usize = 64 << 10;
const SLABS: usize = SEGMENT / SLAB;
/// Segments that are there from the start, and at most.
const FIRST: usize = 2;
const MOST: usize = 64;
/// Free slabs that are kept for who has to go on: 8 MB.
const LAST: usize = 128;
/// Free slabs that are kept for VMs that hold little, beside those: 12 MB.
const MODEST: usize = 192;
/// When fewer are free, another segment is asked for.
const FEW: usize = LAST + MODEST + LAST;
/// Pieces of up to `1 << LARGEST` bytes share slabs.
const SMALLEST: u32 = 4;
const LARGEST: u32 = 14;

/// The largest piece.
pub const PIECE: usize = SEGMENT - SLAB;

/// Who asks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// It has to go on.
    Urgent,
    /// A VM that holds little.
    Modest,
    /// One that holds much.
    Holder,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Free,
    /// Part of a run.
    Run,
    /// Pieces of this power of two.
    Pieces(u8),
}

#[derive(Clone, Copy)]
struct Slab {
    used: Use,
    /// Pages may be resident.
    dirty: bool,
    /// Pieces in use.
    pieces: u16,
    /// The first that was given back, as offset in the slab + 1; it holds the next one's.
    free: u32,
    /// Where no piece was yet.
    fresh: u32,
}

impl Slab {
    const fn new(used: Use, dirty: bool) -> Slab {
        Slab { used, dirty, pieces: 0, free: 0, fresh: 0 }
    }
}

/// What the first slab of a segment holds.
struct Table {
    slabs: [Slab; SLABS],
}

const _: () = assert!(size_of::<Table>() <= SLAB);

/// See the module.
pub struct Reserve {
    /// Whoever works on the fields below. Set by a compare-exchange (acquire), cleared by the holder (release).
    busy: AtomicBool,
    /// Where the segments are; 0: none. Written by the holder of `busy`; read without it by who asks what a pointer is (relaxed: he has the
    /// pointer from somebody who saw the segment, or it is none of ours).
    segments: [AtomicUsize; MOST],
    /// No segment was ever outside of this; grows only. `low` is kept as its complement: all of the reserve is zero at first, and so
    /// takes no room in the program's file.
    not_low: AtomicUsize,
    high: AtomicUsize,
    /// Free slabs of all segments.
    free: AtomicUsize,
    /// Slabs that are free and may be resident.
    dirty: AtomicUsize,
}

// SAFETY: each piece belongs to who was given it; tables are touched under `busy` only.
unsafe impl Sync for Reserve {}

struct Busy<'a>(&'a AtomicBool);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.store(false, Release);
    }
}

/// Bits of a piece's size; None: a run.
fn class(layout: Layout) -> Option<u32> {
    let size = layout.size().max(layout.align()).max(1 << SMALLEST);
    let bits = size.next_power_of_two().trailing_zeros();
    (bits <= LARGEST).then_some(bits)
}

impl Reserve {
    pub const fn new() -> Reserve {
        Reserve {
            busy: AtomicBool::new(false),
            segments: [const { AtomicUsize::new(0) }; MOST],
            not_low: AtomicUsize::new(0),
            high: AtomicUsize::new(0),
            free: AtomicUsize::new(0),
            dirty: AtomicUsize::new(0),
        }
    }

    /// Whether `p` is a piece.
    #[inline(always)]
    pub fn holds(&self, p: *mut u8) -> bool {
        let p = p as usize;
        p < self.high.load(Relaxed) && p >= !self.not_low.load(Relaxed) && self.segment(p).is_some()
    }

    #[cold]
    #[inline(never)]
    fn segment(&self, p: usize) -> Option<usize> {
        self.all().find(|&s| p.wrapping_sub(s) < SEGMENT)
    }

    fn all(&self) -> impl Iterator<Item = usize> {
        self.segments.iter().map(|s| s.load(Relaxed)).filter(|&s| s != 0)
    }

    fn lock(&self) -> Busy<'_> {
        let mut tries = 0;
        while self.busy.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() {
            tries += 1;
            // The holder may have lost its CPU.
            if tries % 64 == 0 { std::thread::yield_now() } else { std::hint::spin_loop() }
        }
        Busy(&self.busy)
    }

    /// # Safety
    /// Under the lock; `segment` is one of ours, and no other reference to its table is alive.
    #[allow(clippy::mut_from_ref)]
    unsafe fn slabs(&self, segment: usize) -> &mut [Slab; SLABS] {
        // SAFETY: the first slab of each segment is its table, written when the segment was added.
        unsafe { &mut (*(segment as *mut Table)).slabs }
    }

    /// # Safety
    /// Under the lock; `at` is `SEGMENT` bytes of writable memory, aligned to `SLAB`, which nobody else touches while it is a segment.
    unsafe fn add(&self, at: usize) {
        let Some(place) = self.segments.iter().find(|s| s.load(Relaxed) == 0) else { return };
        let mut slabs = [Slab::new(Use::Free, false); SLABS];
        slabs[0] = Slab::new(Use::Run, true);
        // SAFETY: by contract.
        unsafe { (at as *mut Table).write(Table { slabs }) };
        self.free.fetch_add(SLABS - 1, Relaxed);
        place.store(at, Relaxed);
    }

    /// Another segment, if the system has one. Under the lock.
    fn grow(&self) {
        if self.all().count() == MOST {
            return;
        }
        if cfg!(miri) {
            // Miri maps nothing with these flags; a block that is never freed will do.
            if self.all().count() < FIRST {
                // SAFETY: the size is not 0; the block is nobody else's.
                unsafe { self.segment_at(std::alloc::System.alloc_zeroed(Layout::from_size_align_unchecked(SEGMENT, SLAB)) as usize) };
            }
            return;
        }
        // SAFETY: a new mapping; what lies outside of the aligned part is given back.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let p = libc::mmap(std::ptr::null_mut(), SEGMENT + SLAB, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            if p == libc::MAP_FAILED {
                return;
            }
            let from = p as usize;
            let at = from.next_multiple_of(SLAB);
            if at > from {
                libc::munmap(p, at - from);
            }
            libc::munmap((at + SEGMENT) as *mut _, from + SLAB - at);
            self.segment_at(at);
        }
    }

    /// # Safety
    /// As for `add`.
    unsafe fn segment_at(&self, at: usize) {
        self.not_low.fetch_max(!at, Relaxed);
        self.high.fetch_max(at + SEGMENT, Relaxed);
        // SAFETY: by contract.
        unsafe { self.add(at) };
    }

    /// Maps the first segments: false when the system has no room for them. They are no part of the program's image, for the kernel ends a program
    /// that has no room for its image (`ulimit -d`) before it can say so.
    pub fn open(&self) -> bool {
        let _busy = self.lock();
        while self.all().count() < FIRST {
            let had = self.all().count();
            self.grow();
            if self.all().count() == had {
                return false;
            }
        }
        true
    }

    /// A piece; null when there is none for `who`.
    pub fn take(&self, layout: Layout, who: Who) -> *mut u8 {
        if layout.align() > SLAB || layout.size() > PIECE {
            return std::ptr::null_mut();
        }
        let _busy = self.lock();
        if self.free.load(Relaxed) < FEW {
            self.grow();
        }
        let spare = match who {
            Who::Urgent => 0,
            Who::Modest => LAST,
            Who::Holder => LAST + MODEST,
        };
        let get = || match class(layout) {
            Some(bits) => self.piece(bits, spare),
            None => self.run(layout.size().div_ceil(SLAB), spare).map(|(at, _)| at),
        };
        // There may be free slabs, but not so many in a row.
        let at = get().or_else(|| {
            self.grow();
            get()
        });
        at.map_or(std::ptr::null_mut(), |at| at as *mut u8)
    }

    fn piece(&self, bits: u32, spare: usize) -> Option<usize> {
        let used = Use::Pieces(bits as u8);
        let size = 1u32 << bits;
        for s in self.all() {
            // SAFETY: under the lock.
            let slabs = unsafe { self.slabs(s) };
            if let Some(k) = slabs.iter().position(|l| l.used == used && (l.free != 0 || l.fresh + size <= SLAB as u32)) {
                return Some(Self::piece_of(&mut slabs[k], s + k * SLAB, size));
            }
        }
        let (at, slab) = self.run(1, spare)?;
        slab.used = used;
        Some(Self::piece_of(slab, at, size))
    }

    fn piece_of(slab: &mut Slab, at: usize, size: u32) -> usize {
        slab.pieces += 1;
        if slab.free == 0 {
            slab.fresh += size;
            return at + (slab.fresh - size) as usize;
        }
        let piece = at + slab.free as usize - 1;
        // SAFETY: a piece of ours that nobody uses; it holds the next one's offset.
        slab.free = unsafe { (piece as *const u32).read() };
        piece
    }

    /// `count` slabs in a row, and what is known about the first. Under the lock.
    #[expect(clippy::mut_from_ref, reason = "the lock is held, and each caller lets go of one slab before it asks for another")]
    fn run(&self, count: usize, spare: usize) -> Option<(usize, &mut Slab)> {
        if self.free.load(Relaxed) < count + spare {
            return None;
        }
        for s in self.all() {
            // SAFETY: under the lock.
            let slabs = unsafe { self.slabs(s) };
            let mut row = 0;
            for k in 0..SLABS {
                row = if slabs[k].used == Use::Free { row + 1 } else { 0 };
                if row < count {
                    continue;
                }
                let first = k + 1 - count;
                for slab in &mut slabs[first..=k] {
                    self.dirty.fetch_sub(usize::from(slab.dirty), Relaxed);
                    *slab = Slab::new(Use::Run, true);
                }
                self.free.fetch_sub(count, Relaxed);
                return Some((s + first * SLAB, &mut slabs[first]));
            }
        }
        None
    }

    /// A piece of this layout is given back.
    ///
    /// # Safety
    /// `p` came from `take` with this layout, and nobody uses it any more.
    pub unsafe fn give(&self, p: *mut u8, layout: Layout) {
        let _busy = self.lock();
        let p = p as usize;
        let Some(s) = self.segment(p) else { return };
        // SAFETY: under the lock.
        let slabs = unsafe { self.slabs(s) };
        let k = (p - s) / SLAB;
        let emptied = match class(layout) {
            Some(_) => {
                let slab = &mut slabs[k];
                // SAFETY: by contract the piece is free; it has room for the number.
                unsafe { (p as *mut u32).write(slab.free) };
                slab.free = (p - s - k * SLAB) as u32 + 1;
                slab.pieces -= 1;
                usize::from(slab.pieces == 0)
            }
            None => layout.size().div_ceil(SLAB),
        };
        slabs[k..k + emptied].fill(Slab::new(Use::Free, true));
        self.free.fetch_add(emptied, Relaxed);
        self.dirty.fetch_add(emptied, Relaxed);
    }

    /// Gives pages of free slabs back to the system, and segments of which nothing is in use. Called now and then.
    pub fn tidy(&self) {
        if self.dirty.load(Relaxed) == 0 {
            return;
        }
        let _busy = self.lock();
        for (index, place) in self.segments.iter().enumerate() {
            let s = place.load(Relaxed);
            if s == 0 {
                continue;
            }
            // SAFETY: under the lock.
            let slabs = unsafe { self.slabs(s) };
            let empty = slabs[1..].iter().all(|slab| slab.used == Use::Free);
            for (k, slab) in slabs.iter_mut().enumerate().filter(|(_, slab)| slab.used == Use::Free && slab.dirty) {
                slab.dirty = false;
                self.dirty.fetch_sub(1, Relaxed);
                if !cfg!(miri) {
                    // SAFETY: pages of ours that nobody uses.
                    unsafe { libc::madvise((s + k * SLAB) as *mut _, SLAB, libc::MADV_DONTNEED) };
                }
            }
            if empty && index >= FIRST {
                place.store(0, Relaxed);
                self.free.fetch_sub(SLABS - 1, Relaxed);
                // SAFETY: nothing of the mapping is in use, and nobody finds it any more.
                unsafe { libc::munmap(s as *mut _, SEGMENT) };
            }
        }
    }

    /// Slabs in use, those of tables not counted.
    #[cfg(test)]
    pub fn in_use(&self) -> usize {
        self.all().count() * (SLABS - 1) - self.free.load(Relaxed)
    }
}
