//! The rule's ends: small heaps get the minimum, large ones may grow by at most as much again as they hold (or the root), nurseries stay small.

use super::*;

const MB: usize = 1 << 20;

#[test]
fn empty_heap_gets_the_minimum() {
    let mut l = Limit::new();
    l.full(0, 4 * MB, None, Duration::from_micros(5), 100);
    assert_eq!((l.extra, l.growth), (MB, MB));
}

#[test]
fn costly_roots_raise_the_floor_to_its_end() {
    let after = |fixed| {
        let mut l = Limit::new();
        for _ in 0..20 {
            // 1 GB/s.
            l.minor(l.extra, Some(Duration::from_nanos(l.extra as u64)), Duration::from_micros(10), Duration::from_micros(fixed));
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
    let growth = |live| {
        let mut l = Limit::new();
        l.full(live, 100 * MB, Some(Duration::from_millis(400)), Duration::from_nanos(live as u64 * 2), 100);
        assert!(l.extra <= 8 * MB);
        l.growth
    };
    assert!(growth(4 * MB) > growth(MB));
    assert!(growth(400 * MB) > growth(100 * MB));
    assert!(growth(100 * MB) < 100 * growth(MB));
    assert!(growth(1000 * MB) <= 1001 * MB);
}

#[test]
fn costly_minor_collections_of_a_large_heap_come_less_often() {
    let mut l = Limit::new();
    l.full(200 * MB, 100 * MB, Some(Duration::from_millis(100)), Duration::from_millis(100), 100);
    let before = l.extra;
    l.minor(8 * MB, Some(Duration::from_millis(4)), Duration::from_millis(1), Duration::from_millis(8));
    assert!(l.extra > 2 * before && l.extra <= l.growth / 4);
}

/// What lives of that many bytes is marked within the time for a pause, but not of less than the least nursery.
#[test]
fn a_pause_is_short_where_much_lives() {
    let after = |live: usize, per_mb: u64| {
        let mut l = Limit::new();
        l.full(live * MB, 100 * MB, Some(Duration::from_millis(100)), Duration::from_millis(100), 100);
        for _ in 0..20 {
            let marking = Duration::from_micros(per_mb * l.extra as u64 / MB as u64);
            l.minor(l.extra, Some(Duration::from_millis(100)), marking, Duration::from_micros(20));
        }
        l.extra
    };
    assert_eq!(after(200, 60), 8 * MB);
    assert!((3 * MB / 2..5 * MB / 2).contains(&after(200, 350)));
    assert_eq!(after(200, 50_000), MB / 4);
    // And shorter where very much does.
    assert!((2 * MB / 3..3 * MB / 2).contains(&after(400, 300)));
    assert_eq!(after(400, 50_000), MB / 8);
    // Of a small heap, more lives for a moment alone.
    assert_eq!(after(20, 50_000), MB);
}

/// Half of the growth where memory is scarce, but never less than the floor.
#[test]
fn what_is_granted() {
    let growth = |granted| {
        let mut l = Limit::new();
        l.full(100 << 20, 0, None, Duration::from_millis(100), granted);
        l.growth
    };
    assert_eq!(growth(50), growth(100) / 2);
    assert_eq!(growth(0), FLOOR.0 as usize);
}
