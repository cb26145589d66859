//! Blocks come back: many heaps on several threads, and the ledger's books balance. One test function, because the ledger is
//! the process's own and tests of one binary run side by side.

use zakuro_heap::{FinalizeCx, Header, Heap, Ledger, Marker};

unsafe fn trace(cell: *mut Header, m: &mut Marker<'_>) {
    // SAFETY: every cell here is header + one reference.
    unsafe { m.mark(*cell.add(1).cast::<*mut Header>()) }
}

unsafe fn finalize(_: *mut Header, cx: &mut FinalizeCx) {
    cx.sub_payload(8);
}

fn live_and_die(cells: usize) {
    let mut h = Heap::new(trace, finalize);
    let mut last: *mut Header = std::ptr::null_mut();
    for i in 0..cells {
        let size = 16 + i * 37 % 2000;
        let cell = if i % 5 == 0 {
            h.add_payload(8);
            h.alloc_finalized(size)
        } else {
            h.alloc(size)
        };
        // SAFETY: the cell has at least 16 bytes.
        unsafe {
            cell.write(Header { shape: 0, kind: 0, flags: 0, aux: 0 });
            cell.add(1).cast::<*mut Header>().write(last);
        }
        last = if i % 1000 == 0 { std::ptr::null_mut() } else { cell };
        if h.wants_collection() {
            h.collect(&mut |m| m.mark(last));
        }
    }
}

#[test]
fn every_block_comes_back() {
    let before = Ledger::stats();
    assert_eq!((before.in_use, before.free_dirty), (0, 0));
    assert!(before.reserved_bytes >= 1 << 30);
    drop(Heap::new(trace, finalize));
    assert_eq!(Ledger::stats(), before);

    let threads: Vec<_> = (0..4).map(|t| std::thread::spawn(move || (0..50).for_each(|i| live_and_die((t + 1) * i * 40)))).collect();
    assert!(threads.into_iter().all(|t| t.join().is_ok()));
    let after = Ledger::stats();
    assert_eq!(after.in_use, 0);
    assert!(after.free_dirty > 0 && after.chunks == 1);

    // A heap moves between threads, and 200 at once are alive.
    let heaps: Vec<Heap> = (0..200)
        .map(|_| {
            let h = Heap::new(trace, finalize);
            assert!(!h.alloc(32).is_null());
            h
        })
        .collect();
    assert_eq!(Ledger::stats().in_use, 200);
    std::thread::spawn(move || drop(heaps)).join().expect("drop elsewhere");
    assert_eq!(Ledger::stats().in_use, 0);

    // More than the dirty threshold: the surplus gives its pages back, nothing is lost, and is zero when it returns.
    let h = Heap::new(trace, finalize);
    for _ in 0..(200 << 20) / 2048 {
        let cell = h.alloc(2048);
        // SAFETY: a fresh cell.
        unsafe { cell.cast::<u8>().write_bytes(0xAA, 2048) };
    }
    let used = h.stats().blocks + h.stats().reserve_blocks;
    assert_eq!(Ledger::stats().in_use, used);
    drop(h);
    let end = Ledger::stats();
    assert_eq!(end.in_use, 0);
    assert_eq!(end.free_dirty, 1024);
    assert!(end.free_clean >= used - 1024);
    live_and_die(20_000);
    let again = Ledger::stats();
    assert_eq!((again.in_use, again.free_dirty + again.free_clean), (0, end.free_dirty + end.free_clean));
}
