//! Who accounts for a buffer that several cells show.
//!
//! As long as only cells of one heap hold it ("home"), the heap counts its bytes from its making until the last of them lets go of it, whichever made it. So a match, or a substring,
//! that keeps a large text alive keeps it counted.
//!
//! What messages, images and other heaps may hold, too ("abroad"), counts because of the cells that have the flag COUNTED, until they die: nobody knows who holds the rest. A heap with
//! a limit counts it anew for each of its cells that shows it, as if it were a copy, and copies what shows less than half of it: or others could keep for it what it does not
//! account for. The large ones among those that a family of VMs counts so are counted once for all of them ([`zakuro_heap::Shown`]): each cell with COUNTED says that it shows one, and
//! says so when it does no more.
//!
//! Rejected: an account in each buffer (16 bytes and two atomic operations per String; and who would pay for what a receiver keeps?); counting what a substring shows (10 bytes may
//! keep a megabyte alive).

use zakuro_heap::{BufRef, Heap, SharedBuf};

/// Where the content of a cell lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placed {
    /// In the cell.
    Embedded,
    /// In a buffer of its own.
    Apart,
    /// In a buffer that others hold, too.
    Shared,
}

impl Placed {
    /// # Safety
    /// `buf` is a live buffer that a cell holds.
    pub(crate) unsafe fn of(buf: *mut SharedBuf) -> Placed {
        // SAFETY: the caller's word.
        if unsafe { SharedBuf::is_sole(buf) } { Placed::Apart } else { Placed::Shared }
    }
}

/// One more holder of a buffer, for a cell of `heap` that shows `len` bytes of it; whether the heap accounts for it because of that cell. None: it shall be a copy instead. `foreign`: the
/// cell that shows it is none of a VM's heap.
///
/// # Safety
/// `buf` is a live buffer that a cell holds.
#[inline]
pub(crate) unsafe fn retain(heap: &Heap, buf: *mut SharedBuf, foreign: bool, len: usize) -> Option<bool> {
    // SAFETY: the caller's word.
    unsafe {
        if foreign {
            SharedBuf::set_abroad(buf);
        }
        let alone = SharedBuf::is_abroad(buf) && heap.room() != usize::MAX;
        if alone {
            if len < SharedBuf::cap(buf) / 2 {
                return None;
            }
            heap.add_payload(SharedBuf::weight(buf));
            heap.shows(buf.addr(), SharedBuf::weight(buf));
        }
        SharedBuf::retain(buf);
        Some(alone)
    }
}

/// A reference to a cell's buffer for outside of its heap, with the place of the content, and whether the cell is now the one that the heap accounts for it by. What is shared
/// among cells of the heap is copied: they would not know any more who accounts for it.
///
/// # Safety
/// `buf` is a live buffer that a cell of `heap` holds; `len` bytes at `data` are its content.
pub(crate) unsafe fn send(
    heap: Option<&Heap>,
    buf: *mut SharedBuf,
    data: *const u8,
    len: usize,
    counted: bool,
) -> Option<(BufRef, usize, bool)> {
    // SAFETY: the caller's word.
    unsafe {
        if !SharedBuf::is_abroad(buf) && !SharedBuf::is_sole(buf) {
            let copy = BufRef::new(len)?;
            std::ptr::copy_nonoverlapping(data, copy.data(), len);
            SharedBuf::set_abroad(copy.as_ptr());
            return Some((copy, 0, counted));
        }
        // A sole holder at home is who the heap accounts for it by, whoever that was before.
        let counted = counted || !SharedBuf::is_abroad(buf);
        if let (Some(heap), false) = (heap, SharedBuf::is_abroad(buf)) {
            heap.shows(buf.addr(), SharedBuf::weight(buf));
        }
        SharedBuf::set_abroad(buf);
        let offset = data.addr() - SharedBuf::data(buf).addr();
        Some((BufRef::retained(buf)?, offset, counted))
    }
}

/// A buffer has come to a cell of `heap` from outside. Whether the heap accounts for it because of that cell: if nobody else holds it, or the heap has a limit. (Otherwise it is its sender's
/// to account for, or each message would call for a collection.)
///
/// # Safety
/// `buf` is a live buffer, of which the new cell is a holder.
pub(crate) unsafe fn receive(heap: &Heap, buf: *mut SharedBuf) -> bool {
    // SAFETY: the caller's word.
    unsafe {
        let weight = SharedBuf::weight(buf);
        if SharedBuf::is_sole(buf) {
            SharedBuf::set_home(buf);
            heap.add_payload(weight);
            return true;
        }
        SharedBuf::set_abroad(buf);
        if heap.room() != usize::MAX {
            heap.add_payload(weight);
            heap.shows(buf.addr(), weight);
            return true;
        }
        heap.receive(buf.addr(), weight);
        false
    }
}
