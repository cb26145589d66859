use super::*;
use crate::{Header, Heap, Marker};

unsafe fn trace(_: *mut Header, _: &mut Marker<'_>) {}
unsafe fn finalize(_: *mut Header, _: &mut crate::FinalizeCx) {}

fn cell(h: &mut Heap, size: usize) -> *mut Header {
    let cell = h.alloc(size);
    // SAFETY: a new cell.
    unsafe { cell.write(Header { shape: 1, kind: 1, flags: 0, aux: 0 }) };
    cell
}

/// What was handed out is alive or free again, in each class, swept or not.
#[test]
fn classes_add_up() {
    let mut h = Heap::new(trace, finalize);
    let kept: Vec<_> = (0..5_000).map(|i| cell(&mut h, if i % 2 == 0 { 32 } else { 200 })).collect();
    let alive = |h: &Heap| h.size_classes().iter().map(|c| c.live).sum::<usize>();
    let made = |h: &Heap| h.size_classes().iter().map(|c| c.allocated).sum::<u64>();
    assert_eq!((alive(&h), made(&h)), (5_000, 5_000));
    h.collect(&mut |m| kept.iter().step_by(4).for_each(|c| m.mark(*c)));
    let s = h.stats();
    assert!(s.is_sweeping && s.mark_nanos > 0);
    assert_eq!((alive(&h), made(&h)), (1_250, 5_000));
    h.sweep_now();
    let s = h.stats();
    assert!(!s.is_sweeping && s.sweep_nanos > 0 && h.reason().swept);
    assert_eq!((alive(&h), made(&h)), (1_250, 5_000));
    assert_eq!(h.size_classes().iter().map(|c| c.blocks).sum::<usize>(), s.blocks);
    assert_eq!(h.size_classes().iter().map(|c| c.marked).sum::<usize>(), 1_250);
    assert_eq!(s.taken.blocks - s.given.blocks, (s.blocks + s.reserve_blocks) as u64);
}

#[test]
fn reasons_and_records() {
    let mut h = Heap::new(trace, finalize);
    h.keep_records(2);
    cell(&mut h, 32);
    h.collect(&mut |_| ());
    assert_eq!(h.reason(), Reason { full: Some("force"), by: Some("method"), swept: false });
    h.collect_minor(&mut |_| (), &mut |_| ());
    assert_eq!(h.reason(), Reason { full: None, by: Some("method"), swept: false });
    h.time_collections(false);
    let before = h.stats();
    h.collect(&mut |_| ());
    let after = h.stats();
    assert_eq!((before.mark_nanos, before.sweep_nanos), (after.mark_nanos, after.sweep_nanos));
    assert_eq!(h.records().iter().map(|r| r.number).collect::<Vec<_>>(), [1, 2]);
    h.keep_no_records();
    assert!(h.records().is_empty());
}

/// Nothing but minor collections, unless it is asked for.
#[test]
fn full_ones_can_be_left_out() {
    let mut h = Heap::new(trace, finalize);
    h.allow_full(false);
    h.add_pressure(usize::MAX / 2);
    assert_eq!(h.full_is_due(), Some("oldmalloc"));
    h.collect_due(&mut |_| (), &mut |_| ());
    assert_eq!((h.stats().full_collections, h.is_full()), (0, false));
    h.allow_full(true);
    h.collect_due(&mut |_| (), &mut |_| ());
    assert_eq!(h.reason().full, Some("oldmalloc"));
}
