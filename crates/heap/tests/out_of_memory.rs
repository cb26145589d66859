//! With little address space the reservation shrinks, and when it is used up `alloc` says so with null; what was allocated stays
//! usable and memory comes back. A binary of its own, because the limit and the ledger are the process's.

use zakuro_heap::{FinalizeCx, Header, Heap, Ledger, Marker};

unsafe fn trace(_: *mut Header, _: &mut Marker<'_>) {}
unsafe fn finalize(_: *mut Header, _: &mut FinalizeCx) {}

#[test]
fn null_when_the_reservation_is_used_up() {
    let limit = libc::rlimit { rlim_cur: 3 << 30, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: a plain system call.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
    let mut h = Heap::new(trace, finalize);
    let first = h.alloc(2048);
    assert!(!first.is_null());
    let reserved = Ledger::stats().reserved_bytes;
    assert!(((1 << 30)..(3 << 30)).contains(&reserved));
    let mut count = 1;
    while !h.alloc(2048).is_null() {
        count += 1;
    }
    assert_eq!(count, reserved / 2048);
    assert!(h.alloc(2048).is_null() && h.alloc_finalized(32).is_null());
    let mut other = Heap::new(trace, finalize);
    assert!(other.alloc(32).is_null());
    assert_eq!(other.cell_at(first.addr()), None);
    h.collect(&mut |m| m.mark(first));
    assert!(!h.alloc(32).is_null() && !h.alloc(2048).is_null());
    h.collect_all_sweep();
    assert!(!other.alloc(32).is_null());
    drop((h, other));
    let end = Ledger::stats();
    assert_eq!((end.in_use, (end.free_dirty + end.free_clean) * zakuro_heap::BLOCK_SIZE), (0, reserved));
}
