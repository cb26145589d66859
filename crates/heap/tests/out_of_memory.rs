//! With little address space the reservation shrinks, and when it is used up `alloc` unwinds with `OutOfMemory`; what was allocated
//! stays usable and memory comes back. A binary of its own, because the limit and the ledger are the process's.

use std::panic::{AssertUnwindSafe, catch_unwind};
use zakuro_heap::{FinalizeCx, Header, Heap, Ledger, Marker, OutOfMemory};

unsafe fn trace(_: *mut Header, _: &mut Marker<'_>) {}
unsafe fn finalize(_: *mut Header, _: &mut FinalizeCx) {}

/// Whether the heap gives a cell; a refusal is an [`OutOfMemory`] and nothing else.
fn gives(h: &mut Heap, size: usize) -> bool {
    match catch_unwind(AssertUnwindSafe(|| h.alloc(size))) {
        Ok(cell) => !cell.is_null(),
        Err(panic) => {
            assert!(panic.is::<OutOfMemory>());
            false
        }
    }
}

#[test]
fn refused_when_the_reservation_is_used_up() {
    let limit = libc::rlimit { rlim_cur: 3 << 30, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: a plain system call.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
    let mut h = Heap::new(trace, finalize);
    let first = h.alloc(2048);
    assert!(!first.is_null());
    let reserved = Ledger::stats().reserved_bytes;
    assert!(((1 << 30)..(3 << 30)).contains(&reserved));
    let mut count = 1;
    while gives(&mut h, 2048) {
        count += 1;
    }
    // The last 256 blocks are for those who have been refused: what raising the exception needs.
    assert_eq!(count, (reserved - 256 * zakuro_heap::BLOCK_SIZE) / 2048);
    let mut other = Heap::new(trace, finalize);
    // Who holds little goes on with them for a while, and is told.
    assert!(!other.is_short() && gives(&mut other, 32) && other.told_short() && !other.is_short());
    assert_eq!(other.cell_at(first.addr()), None);
    let mut spare = 0;
    while gives(&mut h, 2048) {
        spare += 1;
    }
    assert_eq!(spare, (256 - 1) * zakuro_heap::BLOCK_SIZE / 2048);
    while gives(&mut other, 2048) {}
    assert!(!gives(&mut h, 2048) && !gives(&mut h, 32) && !gives(&mut other, 2048));
    h.collect(&mut |m| m.mark(first));
    assert!(gives(&mut h, 32) && gives(&mut h, 2048));
    h.collect_all_sweep();
    assert!(gives(&mut other, 32));
    drop((h, other));
    let end = Ledger::stats();
    assert_eq!((end.in_use, (end.free_dirty + end.free_clean) * zakuro_heap::BLOCK_SIZE), (0, reserved));
}
