//! Counting, reallocation, overflow, and release from several threads.

use super::*;

#[test]
fn counts_and_reallocates() {
    // SAFETY: one holder at a time, released at the end.
    unsafe {
        let b = SharedBuf::new(100);
        assert_eq!(SharedBuf::data(b).addr() % 16, 0);
        assert_eq!(SharedBuf::cap(b), 100);
        SharedBuf::data(b).write_bytes(7, 100);
        SharedBuf::retain(b);
        assert!(!SharedBuf::is_unique(b));
        assert!(!SharedBuf::release(b));
        assert!(SharedBuf::is_unique(b));
        let b = SharedBuf::realloc_unique(b, 100_000);
        assert_eq!(SharedBuf::cap(b), 100_000);
        assert!((0..100).all(|i| *SharedBuf::data(b).add(i) == 7));
        assert!(SharedBuf::realloc_unique(b, usize::MAX).is_null());
        assert!(SharedBuf::realloc_unique(b, isize::MAX as usize).is_null());
        assert_eq!(SharedBuf::cap(b), 100_000);
        assert!(SharedBuf::release(b));
    }
}

#[test]
fn impossible_sizes_are_refused() {
    for cap in [usize::MAX, usize::MAX - 15, isize::MAX as usize, isize::MAX as usize - 15] {
        assert!(BufRef::new(cap).is_none());
    }
    assert_eq!(BufRef::new(0).map(|b| b.cap()), Some(0));
}

#[test]
fn last_holder_frees_whatever_the_thread() {
    for _ in 0..if cfg!(miri) { 5 } else { 200 } {
        let b = BufRef::new(64).expect("64 bytes");
        // SAFETY: sole holder.
        unsafe { b.data().write_bytes(1, 64) };
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let b = b.clone();
                std::thread::spawn(move || {
                    let c = b.clone();
                    drop(b);
                    // SAFETY: read while a holder.
                    unsafe { *c.data().add(63) }
                })
            })
            .collect();
        drop(b);
        assert!(threads.into_iter().all(|t| t.join().is_ok_and(|v| v == 1)));
    }
}

#[test]
fn a_marked_buffer_is_nobodys_to_write() {
    // SAFETY: this test holds what it makes.
    unsafe {
        let buf = SharedBuf::new(64);
        SharedBuf::mark(buf);
        SharedBuf::mark(buf);
        assert!(!SharedBuf::is_unique(buf) && SharedBuf::is_sole(buf));
        SharedBuf::retain(buf);
        assert!(!SharedBuf::is_sole(buf));
        assert!(!SharedBuf::release(buf), "one holder is left");
        assert!(SharedBuf::is_sole(buf));
        SharedBuf::unmark(buf);
        assert!(SharedBuf::is_unique(buf));
        SharedBuf::mark(buf);
        assert!(SharedBuf::release(buf), "the last holder frees a marked buffer too");
    }
}
