//! The rule's ends: small heaps get the minimum, large ones at most as much again as they hold (or the root).

use super::*;

const MB: usize = 1 << 20;

#[test]
fn empty_heap_gets_the_minimum() {
    let mut l = Limit::new();
    l.update(0, 4 * MB, None, Duration::from_micros(5));
    assert_eq!(l.extra, MB);
}

#[test]
fn costly_roots_raise_the_floor_to_its_end() {
    let after = |marking| {
        let mut l = Limit::new();
        for _ in 0..20 {
            // 1 GB/s.
            l.update(0, l.extra, Some(Duration::from_nanos(l.extra as u64)), Duration::from_micros(marking));
        }
        l.extra
    };
    assert_eq!(after(10), MB);
    // A tenth of the time for 2 MB at this rate is 200 us.
    assert!((2 * MB - MB / 4..2 * MB + MB / 4).contains(&after(200)));
    assert_eq!(after(2000), 4 * MB);
}

#[test]
fn grows_with_the_live_size_and_less_than_linearly() {
    let extra = |live| {
        let mut l = Limit::new();
        l.update(live, 100 * MB, Some(Duration::from_millis(400)), Duration::from_nanos(live as u64 * 2));
        l.extra
    };
    assert!(extra(4 * MB) > extra(MB));
    assert!(extra(400 * MB) > extra(100 * MB));
    assert!(extra(100 * MB) < 100 * extra(MB));
    assert!(extra(1000 * MB) <= 1001 * MB);
}
