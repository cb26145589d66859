//! References of single cells between collections, and notes of allocations.

use crate::{FinalizeCx, Header, Heap, Marker};
use std::ptr;

const SLOTS: usize = 4;

unsafe fn trace(cell: *mut Header, m: &mut Marker<'_>) {
    // SAFETY: every cell of these tests has a header and SLOTS references.
    unsafe { (0..SLOTS).for_each(|i| m.mark(*slot(cell, i))) }
}

unsafe fn finalize(_cell: *mut Header, _cx: &mut FinalizeCx) {}

unsafe fn slot(cell: *mut Header, i: usize) -> *mut *mut Header {
    // SAFETY: as in `node`.
    unsafe { cell.add(1).cast::<*mut Header>().add(i) }
}

fn node(h: &mut Heap, refs: &[*mut Header]) -> *mut Header {
    let cell = h.alloc(size_of::<Header>() + SLOTS * 8);
    // SAFETY: the cell is that large.
    unsafe {
        cell.write(Header { shape: 1, kind: 1, flags: 0, aux: 0 });
        (0..SLOTS).for_each(|i| slot(cell, i).write(refs.get(i).copied().unwrap_or(ptr::null_mut())));
    }
    cell
}

#[test]
fn references_leave_the_marks_as_they_are() {
    let mut h = Heap::new(trace, finalize);
    let leaf = node(&mut h, &[]);
    let dead = node(&mut h, &[leaf]);
    let root = node(&mut h, &[leaf, leaf]);
    let top = node(&mut h, &[root, leaf, root]);
    h.collect(&mut |m| m.mark(top));
    let mut told = h.references(top).unwrap();
    told.sort();
    let mut expected = vec![root, leaf];
    expected.sort();
    assert_eq!(told, expected);
    assert_eq!(h.references(root).unwrap(), [leaf]);
    assert!(h.references(leaf).unwrap().is_empty());
    // What is old stays so: a minor collection finds the new cell, and the old ones live.
    let young = node(&mut h, &[]);
    h.collect_minor(&mut |m| m.mark(young), &mut |_| {});
    for cell in [leaf, root, top, young] {
        assert_eq!(h.cell_at(cell.addr()), Some(cell));
    }
    h.collect_all_sweep();
    assert!(dead == young || h.cell_at(dead.addr()).is_none());
}

#[test]
fn allocations_are_noted_while_asked() {
    let mut h = Heap::new(trace, finalize);
    node(&mut h, &[]);
    h.note_allocations(true);
    let cells: Vec<usize> = (0..3000).map(|_| node(&mut h, &[]).addr()).collect();
    assert_eq!(h.noted_allocations(), cells);
    assert!(h.noted_allocations().is_empty());
    let kept = node(&mut h, &[]);
    h.collect(&mut |m| m.mark(kept));
    let after = node(&mut h, &[]);
    assert_eq!(h.noted_allocations(), [kept.addr(), after.addr()]);
    h.note_allocations(false);
    node(&mut h, &[]);
    assert!(h.noted_allocations().is_empty());
    let before = h.stats().allocated_cells;
    (0..100).for_each(|_| {
        node(&mut h, &[]);
    });
    assert_eq!(h.stats().allocated_cells, before + 100);
}

/// Samples add up to what was allocated, and their number goes by bytes.
#[test]
fn samples_go_by_bytes() {
    let poll = std::sync::atomic::AtomicU32::new(0);
    let mut h = Heap::new(trace, finalize);
    // SAFETY: the word outlives the heap.
    unsafe { h.set_poll(&poll, 2) };
    h.sample_allocations(16 << 10, 128);
    let (mut bytes, mut cells, mut samples) = (0, 0, 0);
    for i in 0..40_000u32 {
        let cell = h.alloc(if i % 4 == 0 { 96 } else { 32 });
        // SAFETY: a new cell.
        unsafe { cell.write(Header { shape: 1, kind: 0, flags: 0, aux: 0 }) };
        if i % 100 == 0 {
            h.add_payload(1_000);
        }
        if poll.fetch_and(!128, std::sync::atomic::Ordering::Relaxed) & 128 != 0 {
            let (b, c) = h.take_sample().unwrap_or_default();
            (bytes, cells, samples) = (bytes + b, cells + c, samples + 1);
        }
        if i % 9_000 == 0 {
            h.collect(&mut |_| ());
        }
    }
    let (b, c) = h.take_sample().unwrap_or_default();
    assert_eq!(cells + c, 40_000);
    // The first 32 take 128 bytes each.
    assert_eq!(bytes + b, 10_000 * 96 + 30_000 * 32 + 8 * 32 + 24 * 96 + 400_000);
    assert!((80..=220).contains(&samples), "{samples}");
}
