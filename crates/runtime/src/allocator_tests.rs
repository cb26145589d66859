//! The reserve, under an allocator that refuses.

use super::*;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// Refuses while told to.
struct Mean;
static REFUSES: AtomicBool = AtomicBool::new(false);

// SAFETY: the system's allocator, or null.
unsafe impl GlobalAlloc for Mean {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract.
        if REFUSES.load(Relaxed) { std::ptr::null_mut() } else { unsafe { std::alloc::System.alloc(layout) } }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract.
        unsafe { std::alloc::System.dealloc(p, layout) }
    }
}

#[test]
fn small_requests_are_met_and_the_reserve_comes_back() {
    let allocator = ReserveAllocator(Mean);
    let layout = Layout::from_size_align(100, 32).unwrap();
    // SAFETY: blocks are used within their layouts and freed once.
    unsafe {
        let outside = allocator.alloc(layout);
        outside.write_bytes(7, 100);
        REFUSES.store(true, Relaxed);
        let a = allocator.alloc(layout);
        assert!(RESERVE.holds(a) && (a as usize).is_multiple_of(32));
        a.write_bytes(1, 100);
        let b = allocator.alloc_zeroed(layout);
        assert!(RESERVE.holds(b) && *b == 0 && *b.add(99) == 0 && (b as usize).abs_diff(a as usize) >= 100);
        // A piece that is given back is the next one's.
        allocator.dealloc(b, layout);
        assert_eq!(allocator.alloc(layout), b);
        // A block of the inner allocator that can't grow moves, with its content.
        let c = allocator.realloc(outside, layout, 1000);
        assert!(RESERVE.holds(c) && *c == 7 && *c.add(99) == 7);
        // Who copes gets null, and so does who wants too much.
        assert!(allocator.alloc(Layout::from_size_align(FALLIBLE, MAY_FAIL).unwrap()).is_null());
        assert!(allocator.alloc(Layout::from_size_align(reserve::PIECE + 1, 8).unwrap()).is_null());
        // More segments are added, as long as the system has memory.
        let page = Layout::from_size_align(SMALL, 8).unwrap();
        let mut all: Vec<*mut u8> = Vec::with_capacity(64);
        for k in 0..40 {
            let p = allocator.alloc(page);
            assert!(RESERVE.holds(p) && (p as usize).is_multiple_of(4096));
            p.write_bytes(k, SMALL);
            all.push(p);
        }
        assert!(all.iter().enumerate().all(|(k, p)| **p == k as u8 && *p.add(SMALL - 1) == k as u8));
        REFUSES.store(false, Relaxed);
        // Out of the reserve again.
        let d = allocator.realloc(c, Layout::from_size_align(1000, 32).unwrap(), 50);
        assert!(!RESERVE.holds(d) && *d == 7);
        allocator.dealloc(d, Layout::from_size_align(50, 32).unwrap());
        allocator.dealloc(a, layout);
        all.into_iter().for_each(|p| allocator.dealloc(p, page));
        assert_ne!(RESERVE.in_use(), 0);
        allocator.dealloc(b, layout);
        assert_eq!(RESERVE.in_use(), 0);
        blocks_keep_their_content(&allocator);
        RESERVE.tidy();
        let again = RESERVE.take(layout, reserve::Who::Modest);
        assert!(RESERVE.holds(again));
        RESERVE.give(again, layout);
    }
}

/// From malloc's to watched ones, from those to the reserve, and back; with large alignments, too.
unsafe fn blocks_keep_their_content(allocator: &ReserveAllocator<Mean>) {
    let steps = [1000, WATCHED - 1, WATCHED, 3 * WATCHED, SMALL, 20 << 20, WATCHED + 1, WATCHED, 5000, 2 * WATCHED, 8];
    for align in [1, 16, 64, 256, 4096, 8192] {
        for refuses in [false, true] {
            let mut layout = Layout::from_size_align(500, align).unwrap();
            // SAFETY: blocks are used within their layouts and freed once.
            unsafe {
                let mut p = allocator.alloc_zeroed(layout);
                assert_eq!(*p.add(499), 0);
                p.write(17);
                for size in steps {
                    // Not what is too much for the reserve, and not buffers, whose makers cope with null.
                    REFUSES.store(refuses && size <= SMALL && align < MAY_FAIL, Relaxed);
                    let kept = size.min(layout.size());
                    p.add(kept - 1).write(kept as u8);
                    if kept > 1 {
                        p.write(17);
                    }
                    p = allocator.realloc(p, layout, size);
                    layout = Layout::from_size_align(size, align).unwrap();
                    assert!(!p.is_null() && (p as usize).is_multiple_of(align), "{size} {align}");
                    assert!((kept == 1 || *p == 17) && *p.add(kept - 1) == kept as u8, "{size} {align} {refuses}");
                }
                REFUSES.store(false, Relaxed);
                allocator.dealloc(p, layout);
                let large = Layout::from_size_align(2 * WATCHED, align).unwrap();
                let zeros = allocator.alloc_zeroed(large);
                assert!((zeros as usize).is_multiple_of(align) && *zeros == 0 && *zeros.add(2 * WATCHED - 1) == 0);
                allocator.dealloc(zeros, large);
            }
        }
    }
    assert_eq!(RESERVE.in_use(), 0);
}
