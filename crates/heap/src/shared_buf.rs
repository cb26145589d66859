//! Shared buffers: atomically counted blocks of bytes, outside all heaps.
//!
//! Goal: large String bytes and Array elements that VMs share and hand over in O(1). Who holds a buffer alone may write to it;
//! otherwise he copies first.
//!
//! Invariants
//! - One allocation: count, capacity, then `cap` bytes aligned to 16. The capacity never changes while shared.
//! - A count of 1 seen by a holder stays 1 until that holder retains: nobody else has a reference to copy.
//! - A marked buffer is unique for nobody, so its next write takes the writer's slow path, which takes the mark off.
//!
//! Rejected
//! - `Arc<[u8]>`: fat pointer, 8-byte aligned, no reallocation in place, zeroes or copies on creation.
//! - A per-VM count beside the atomic one: measured 0.7-1.5 ns against 14 ns uncontended, yet releases mostly find a
//!   count of 1, which costs a load here.

use std::alloc::{Layout, alloc, dealloc, realloc};
use std::process::abort;
use std::ptr::{self, NonNull};

use zakuro_base::sync::atomic::AtomicUsize;
use zakuro_base::sync::atomic::Ordering::{Acquire, Relaxed, Release};

const HEAD: usize = size_of::<SharedBuf>();
const ALIGN: usize = 16;
const MAX_REFS: usize = ABROAD / 2;
/// Bit of the count: some holder relies on what is in the buffer. See [`SharedBuf::mark`].
const MARK: usize = 1 << (usize::BITS - 1);
/// Bit of the count: others than cells of one heap may hold it, or have held it. See [`SharedBuf::set_abroad`].
const ABROAD: usize = 1 << (usize::BITS - 2);
const COUNT: usize = !(MARK | ABROAD);

/// A counted block; `cap` bytes of data follow.
#[repr(C, align(16))]
pub struct SharedBuf {
    /// Holders. Each holder may read; `retain` adds (Relaxed: the caller's own reference keeps it alive), `release` subtracts (Release),
    /// and who goes on to free or write loads with Acquire, so that all former holders' accesses come before. The top bit is the
    /// mark, set by any holder (Relaxed: it says something about content that the setter has read) and cleared by a sole one; so is the bit below, `ABROAD`.
    refs: AtomicUsize,
    /// Bytes of data. Written by the creator, or by the only holder in `realloc_unique`.
    cap: usize,
    /// Stands for the bytes in models: who reads, writes and frees them tells loom so.
    #[cfg(feature = "loom")]
    content: loom::cell::UnsafeCell<u64>,
}

const _: () = assert!(cfg!(any(feature = "loom", feature = "shuttle")) || HEAD == 16);

/// Requests of at least this many bytes may be refused by the allocator of the `zakuro` program, when a VM's limit stands against them.
pub const LARGE: usize = 16 << 20;
/// Alignment of a request of at least [`FALLIBLE`] bytes whose maker copes with null: the allocator lets it fail, where it would end the VM otherwise.
pub const MAY_FAIL: usize = 64;
/// A block of at least this size that native code asks for on behalf of a VM with a memory limit counts for that VM while it lives, whoever frees it (the allocator of the `zakuro`
/// program sees to it), except for buffers, which cells account for.
pub const WATCHED: usize = 256 << 10;
/// A buffer of at least so many bytes that several of a family with a memory limit account for counts once.
pub const SHOWN_FROM: usize = 16 << 10;
/// From this size on, what a program makes large asks whether there is memory before anything is changed.
pub const FALLIBLE: usize = 64 << 10;

/// Whether malloc can give `bytes` now: asked for and given back. For growing what can't be told that there is no memory (`Vec`, hash tables).
/// Always true for less than [`FALLIBLE`].
#[inline]
pub fn malloc_has(bytes: usize) -> bool {
    bytes < FALLIBLE || asked(bytes)
}

#[cold]
#[inline(never)]
fn asked(bytes: usize) -> bool {
    if bytes >= LARGE && !machine_has(bytes) {
        return false;
    }
    let Ok(layout) = Layout::from_size_align(bytes, MAY_FAIL) else { return false };
    // SAFETY: not of size zero; freed as it was made.
    unsafe {
        let p = alloc(layout);
        let given = !p.is_null();
        if given {
            dealloc(p, layout);
        }
        given
    }
}

/// Whether the machine has as much memory as one request asks for. (Where the kernel overcommits, it would hand out any address space, and the
/// process would be killed while it fills it.)
pub fn machine_has(bytes: usize) -> bool {
    if cfg!(miri) {
        return bytes < LARGE * 64;
    }
    // SAFETY: writes one plain struct.
    unsafe {
        let mut info: libc::sysinfo = std::mem::zeroed();
        libc::sysinfo(&mut info) != 0 || bytes as u128 <= (info.totalram as u128 + info.totalswap as u128) * info.mem_unit as u128
    }
}

fn layout(cap: usize) -> Option<Layout> {
    let size = cap.checked_add(HEAD)?;
    Layout::from_size_align(size, if size >= FALLIBLE { MAY_FAIL } else { ALIGN }).ok()
}

impl SharedBuf {
    /// A buffer of `cap` uninitialised bytes with a count of 1. Null if the size overflows or memory is short.
    ///
    /// # Safety
    /// None beyond the duty to release it; unsafe like its siblings.
    pub unsafe fn new(cap: usize) -> *mut SharedBuf {
        let Some(layout) = layout(cap) else { return ptr::null_mut() };
        if cap >= LARGE && !machine_has(cap) {
            return ptr::null_mut();
        }
        // SAFETY: the layout is at least HEAD bytes.
        unsafe {
            let buf = alloc(layout).cast::<SharedBuf>();
            if !buf.is_null() {
                buf.write(SharedBuf {
                    refs: AtomicUsize::new(1),
                    cap,
                    #[cfg(feature = "loom")]
                    content: loom::cell::UnsafeCell::new(0),
                });
            }
            buf
        }
    }

    /// Where the bytes start; 16-byte aligned.
    ///
    /// # Safety
    /// `buf` is a live buffer.
    #[inline(always)]
    pub unsafe fn data(buf: *mut SharedBuf) -> *mut u8 {
        // SAFETY: HEAD bytes are always there.
        unsafe { buf.cast::<u8>().add(HEAD) }
    }

    /// Bytes that fit.
    ///
    /// # Safety
    /// `buf` is a live buffer.
    #[inline(always)]
    pub unsafe fn cap(buf: *mut SharedBuf) -> usize {
        // SAFETY: by contract.
        unsafe { (*buf).cap }
    }

    /// What it counts for a memory limit, in bytes.
    ///
    /// # Safety
    /// `buf` is a live buffer.
    #[inline(always)]
    pub unsafe fn weight(buf: *mut SharedBuf) -> usize {
        // SAFETY: by contract.
        unsafe { (*buf).cap + HEAD }
    }

    /// One more holder.
    ///
    /// # Safety
    /// `buf` is a live buffer of which the caller is a holder.
    #[inline]
    pub unsafe fn retain(buf: *mut SharedBuf) {
        // SAFETY: by contract.
        if unsafe { (*buf).refs.fetch_add(1, Relaxed) } & COUNT > MAX_REFS {
            // 2^62 forgotten references: like Arc, stop before the count wraps.
            abort();
        }
    }

    /// One holder less. True if that was the last and the buffer is freed.
    ///
    /// # Safety
    /// The caller is a holder of `buf` and stops being one.
    #[inline]
    pub unsafe fn release(buf: *mut SharedBuf) -> bool {
        // SAFETY: by contract the count is at least 1; at 1 nobody else can reach the buffer.
        unsafe {
            if (*buf).refs.load(Acquire) & COUNT != 1 {
                if (*buf).refs.fetch_sub(1, Release) & COUNT != 1 {
                    return false;
                }
                // Not a fence: ThreadSanitizer understands loads.
                (*buf).refs.load(Acquire);
            }
            SharedBuf::free(buf);
            true
        }
    }

    #[cold]
    unsafe fn free(buf: *mut SharedBuf) {
        // SAFETY: the caller is the last holder; the layout is the one of its creation.
        unsafe {
            if let Some(layout) = layout((*buf).cap) {
                #[cfg(feature = "loom")]
                (*buf).content.with_mut(|_| {});
                // As dead cells: a look that outlives the buffer shows at once. (The beginning will do for large ones.)
                if cfg!(debug_assertions) {
                    SharedBuf::data(buf).write_bytes(0xDB, SharedBuf::cap(buf).min(1 << 16));
                }
                ptr::drop_in_place(buf);
                dealloc(buf.cast(), layout);
            }
        }
    }

    /// Whether the caller is the only holder and may write. False while the buffer is marked.
    ///
    /// # Safety
    /// The caller is a holder of `buf`.
    #[inline(always)]
    pub unsafe fn is_unique(buf: *mut SharedBuf) -> bool {
        // SAFETY: by contract.
        unsafe { (*buf).refs.load(Acquire) & !ABROAD == 1 }
    }

    /// For machine code, which asks as [`SharedBuf::is_unique`] does: where holders are counted, and what of that is no holder.
    pub const HOLDERS: usize = std::mem::offset_of!(SharedBuf, refs);
    pub const NO_HOLDER: usize = ABROAD;

    /// Whether the caller is the only holder. He may write once he has taken the mark off.
    ///
    /// # Safety
    /// The caller is a holder of `buf`.
    #[inline]
    pub unsafe fn is_sole(buf: *mut SharedBuf) -> bool {
        // SAFETY: by contract.
        unsafe { (*buf).refs.load(Acquire) & COUNT == 1 }
    }

    /// From now on the buffer is unique for nobody, so that whoever wants to write next notices: a holder has learned something about
    /// the content (all elements are immediates) and need not look again while it stands.
    ///
    /// # Safety
    /// The caller is a holder of `buf`.
    pub unsafe fn mark(buf: *mut SharedBuf) {
        // SAFETY: by contract. A mark that is seen stays: its taker is a sole holder, and the caller is one, too.
        unsafe {
            if (*buf).refs.load(Relaxed) & MARK == 0 {
                (*buf).refs.fetch_or(MARK, Relaxed);
            }
        }
    }

    /// Takes the mark off before writing.
    ///
    /// # Safety
    /// The caller is the only holder of `buf`.
    pub unsafe fn unmark(buf: *mut SharedBuf) {
        // SAFETY: by contract nobody else reaches the count.
        unsafe {
            debug_assert!(SharedBuf::is_sole(buf));
            (*buf).refs.fetch_and(!MARK, Relaxed);
        }
    }

    /// From now on holders outside of the heap that accounts for the buffer are possible: a message, an image, another heap. Until then only cells of one heap hold it, and whichever
    /// of them lets go of it last says so to the heap ([`SharedBuf::let_go`]); from then on the cell that accounts for it does when it dies, since nobody knows who holds the rest.
    ///
    /// # Safety
    /// The caller is a holder of `buf`.
    pub unsafe fn set_abroad(buf: *mut SharedBuf) {
        // SAFETY: by contract. Read by who lets go of the buffer later, in the same heap, or by those to whom it is handed, which synchronises.
        unsafe {
            if (*buf).refs.load(Relaxed) & ABROAD == 0 {
                (*buf).refs.fetch_or(ABROAD, Relaxed);
            }
        }
    }

    /// Takes [`SharedBuf::set_abroad`] back: a heap has received the buffer, and nobody else holds it.
    ///
    /// # Safety
    /// The caller is the only holder of `buf`.
    pub unsafe fn set_home(buf: *mut SharedBuf) {
        // SAFETY: by contract nobody else reaches the count.
        unsafe {
            (*buf).refs.fetch_and(!ABROAD, Relaxed);
        }
    }

    /// Whether others than cells of one heap may hold it.
    ///
    /// # Safety
    /// The caller is a holder of `buf`.
    #[inline]
    pub unsafe fn is_abroad(buf: *mut SharedBuf) -> bool {
        // SAFETY: by contract.
        unsafe { (*buf).refs.load(Relaxed) & ABROAD != 0 }
    }

    /// [`SharedBuf::release`] by a cell, or for its heap: gives the bytes that the heap accounts for no more. `counted`: the holder is the cell that made the heap account for it.
    /// `hidden` hears of the address first where others may account for it, too ([`Shown`](crate::Shown)).
    ///
    /// # Safety
    /// As for [`SharedBuf::release`].
    #[inline]
    pub unsafe fn let_go(buf: *mut SharedBuf, counted: bool, hidden: impl FnOnce(usize)) -> usize {
        // SAFETY: by contract; capacity and bit are read while the caller is still a holder.
        unsafe {
            let (weight, abroad) = (SharedBuf::weight(buf), SharedBuf::is_abroad(buf));
            if abroad && counted && weight >= SHOWN_FROM {
                hidden(buf.addr());
            }
            let freed = SharedBuf::release(buf);
            if if abroad { counted } else { freed } { weight } else { 0 }
        }
    }

    /// Changes the capacity, keeping the bytes that fit. Null if the size overflows or memory is short; `buf` is intact then.
    ///
    /// # Safety
    /// The caller is the only holder of `buf`, and uses the result instead if it isn't null.
    pub unsafe fn realloc_unique(buf: *mut SharedBuf, new_cap: usize) -> *mut SharedBuf {
        let Some(new) = layout(new_cap) else { return ptr::null_mut() };
        // SAFETY: by contract; the old layout is the one of its creation.
        unsafe {
            debug_assert!(SharedBuf::is_unique(buf));
            let Some(old) = layout((*buf).cap) else { return ptr::null_mut() };
            if old.align() != new.align() {
                let other = SharedBuf::new(new_cap);
                if !other.is_null() {
                    ptr::copy_nonoverlapping(SharedBuf::data(buf), SharedBuf::data(other), new_cap.min((*buf).cap));
                    SharedBuf::release(buf);
                }
                return other;
            }
            let buf = realloc(buf.cast(), old, new.size()).cast::<SharedBuf>();
            if !buf.is_null() {
                (*buf).cap = new_cap;
            }
            buf
        }
    }
}

/// A holder of a [`SharedBuf`], for envelopes and other places outside of cells.
pub struct BufRef(NonNull<SharedBuf>);

// SAFETY: the count is atomic; the bytes are written only by a sole holder.
unsafe impl Send for BufRef {}
// SAFETY: through `&BufRef` one can only read and retain.
unsafe impl Sync for BufRef {}

impl BufRef {
    /// Where the buffer is: as long as it lives no other one has the same.
    pub fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }

    /// A new buffer of `cap` uninitialised bytes. None if the size overflows or memory is short.
    pub fn new(cap: usize) -> Option<BufRef> {
        // SAFETY: the reference is kept here and released by drop.
        NonNull::new(unsafe { SharedBuf::new(cap) }).map(BufRef)
    }

    /// Takes over the caller's reference. None if null.
    ///
    /// # Safety
    /// `buf` is null or a live buffer of which the caller is a holder.
    pub unsafe fn from_raw(buf: *mut SharedBuf) -> Option<BufRef> {
        NonNull::new(buf).map(BufRef)
    }

    /// Makes one more reference to a buffer that a cell keeps. None if null.
    ///
    /// # Safety
    /// As for [`BufRef::from_raw`].
    pub unsafe fn retained(buf: *mut SharedBuf) -> Option<BufRef> {
        let buf = NonNull::new(buf)?;
        // SAFETY: by contract.
        unsafe { SharedBuf::retain(buf.as_ptr()) };
        Some(BufRef(buf))
    }

    /// Hands the reference over to the caller.
    #[must_use = "the reference leaks"]
    pub fn into_raw(self) -> *mut SharedBuf {
        let buf = self.0.as_ptr();
        std::mem::forget(self);
        buf
    }

    pub fn as_ptr(&self) -> *mut SharedBuf {
        self.0.as_ptr()
    }

    /// Where the bytes start. To be written only while [`BufRef::is_unique`].
    pub fn data(&self) -> *mut u8 {
        // SAFETY: self is a holder.
        unsafe { SharedBuf::data(self.0.as_ptr()) }
    }

    pub fn cap(&self) -> usize {
        // SAFETY: self is a holder.
        unsafe { SharedBuf::cap(self.0.as_ptr()) }
    }

    pub fn is_unique(&self) -> bool {
        // SAFETY: self is a holder.
        unsafe { SharedBuf::is_unique(self.0.as_ptr()) }
    }
}

impl Clone for BufRef {
    fn clone(&self) -> BufRef {
        // SAFETY: self is a holder.
        unsafe { SharedBuf::retain(self.0.as_ptr()) };
        BufRef(self.0)
    }
}

impl Drop for BufRef {
    fn drop(&mut self) {
        // SAFETY: self is a holder and ends here.
        unsafe { SharedBuf::release(self.0.as_ptr()) };
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "loom_tests.rs"]
mod loom_tests;
#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "shared_buf_tests.rs"]
mod tests;
