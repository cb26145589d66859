//! Regions over a toy object model: who keeps one alive, when it goes, what is freed. Small enough for Miri.

use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::{FinalizeCx, Marker};

/// header | reference | counter that the finalizer bumps (may be null)
#[repr(C)]
struct Pair {
    header: Header,
    next: *mut Header,
    died: *const AtomicU32,
}

unsafe fn trace(cell: *mut Header, m: &mut Marker<'_>) {
    // SAFETY: every cell is a Pair.
    m.mark(unsafe { (*cell.cast::<Pair>()).next });
}

unsafe fn finalize(cell: *mut Header, _: &mut FinalizeCx) {
    // SAFETY: every finalized cell is a Pair with a counter.
    unsafe { (*(*cell.cast::<Pair>()).died).fetch_add(1, Ordering::Relaxed) };
}

fn heap() -> Heap {
    Heap::new(trace, finalize)
}

fn pair(h: &mut Heap, next: *mut Header, died: *const AtomicU32) -> *mut Header {
    let cell = if died.is_null() { h.alloc(24) } else { h.alloc_finalized(24) };
    assert!(!cell.is_null());
    // SAFETY: the cell is large enough.
    unsafe { cell.cast::<Pair>().write(Pair { header: Header { shape: 1, kind: 1, flags: 0, aux: 0 }, next, died }) };
    cell
}

/// A region of a chain of `n` cells that ends in `next`, and its first cell.
fn chain(n: usize, next: *mut Header, held: Vec<Region>, died: *const AtomicU32) -> (Region, *mut Header) {
    let mut h = heap();
    let mut first = next;
    for _ in 0..n {
        first = pair(&mut h, first, died);
    }
    // SAFETY: the cells are not written to again.
    (unsafe { Region::seal(h, held, None) }, first)
}

fn collect(h: &mut Heap, roots: &[*mut Header]) {
    h.collect(&mut |m| roots.iter().for_each(|r| m.mark(*r)));
}

#[test]
fn cells_are_flagged_and_found() {
    let (region, first) = chain(5, ptr::null_mut(), Vec::new(), ptr::null());
    assert_eq!(region.cells(), 5);
    assert!(region.bytes() >= 5 * 24);
    let mut at = first;
    while !at.is_null() {
        // SAFETY: live cells of the region.
        unsafe {
            assert_eq!((*at).flags, flags::SHARED | flags::CAPTURED);
            assert!(region.owns(at));
            at = (*at.cast::<Pair>()).next;
        }
    }
    let mut h = heap();
    assert!(h.region_of(first).is_none(), "not held yet");
    h.hold(&region);
    assert_eq!(h.region_of(first).map(Region::key), Some(region.key()));
    assert!(!h.owns(first));
    let own = pair(&mut h, ptr::null_mut(), ptr::null());
    assert!(h.region_of(own).is_none());
    assert!(h.region_of(ptr::null_mut()).is_none());
}

#[test]
fn a_heap_holds_what_marking_meets() {
    let died = AtomicU32::new(0);
    let (region, first) = chain(3, ptr::null_mut(), Vec::new(), &died);
    let mut h = heap();
    h.hold(&region);
    drop(region);
    let own = pair(&mut h, first, ptr::null());
    collect(&mut h, &[own]);
    assert_eq!((died.load(Ordering::Relaxed), h.region_stats().0), (0, 1), "a cell of the heap refers to it");
    collect(&mut h, &[first]);
    assert_eq!(died.load(Ordering::Relaxed), 0, "a root refers to it");
    h.collect(&mut |m| m.mark_conservative(first.addr() + 9));
    assert_eq!(died.load(Ordering::Relaxed), 0, "an address inside a cell, as on a stack");
    collect(&mut h, &[]);
    assert_eq!((died.load(Ordering::Relaxed), h.region_stats()), (3, (0, 0)), "nothing does");
    collect(&mut h, &[]);
    assert_eq!(died.load(Ordering::Relaxed), 3);
}

#[test]
fn the_last_holder_frees() {
    let died = AtomicU32::new(0);
    let (region, first) = chain(2, ptr::null_mut(), Vec::new(), &died);
    let (mut a, mut b) = (heap(), heap());
    a.hold(&region);
    b.hold(&region);
    a.hold(&region);
    assert_eq!(region.holders(), 3);
    drop(region);
    collect(&mut a, &[]);
    assert_eq!(died.load(Ordering::Relaxed), 0);
    collect(&mut b, &[first]);
    assert_eq!(died.load(Ordering::Relaxed), 0);
    drop(b);
    assert_eq!(died.load(Ordering::Relaxed), 2, "a heap's end lets go of all");
}

#[test]
fn regions_keep_regions() {
    let died = AtomicU32::new(0);
    let (inner, inner_first) = chain(1, ptr::null_mut(), Vec::new(), &died);
    let (outer, outer_first) = chain(1, inner_first, vec![inner.clone()], &died);
    let mut h = heap();
    h.hold(&outer);
    assert_eq!(h.region_stats().0, 2, "what it holds is held too");
    assert_eq!(h.region_of(inner_first).map(Region::key), Some(inner.key()));
    drop((inner, outer));
    collect(&mut h, &[outer_first]);
    assert_eq!(h.region_stats().0, 2, "marking doesn't descend, and yet the inner one stays");
    collect(&mut h, &[inner_first]);
    assert_eq!((h.region_stats().0, died.load(Ordering::Relaxed)), (1, 1), "the outer one goes alone");
    collect(&mut h, &[]);
    assert_eq!(died.load(Ordering::Relaxed), 2);
}

#[test]
fn long_chains_of_regions_end_without_recursion() {
    let died = AtomicU32::new(0);
    let n = if cfg!(miri) { 20 } else { 20_000 };
    let (mut region, mut first) = chain(1, ptr::null_mut(), Vec::new(), &died);
    for _ in 1..n {
        (region, first) = chain(1, first, vec![region], &died);
    }
    let mut h = heap();
    h.hold(&region);
    drop(region);
    assert_eq!(h.region_stats().0, n);
    collect(&mut h, &[first]);
    assert_eq!(h.region_stats().0, n);
    collect(&mut h, &[]);
    assert_eq!(died.load(Ordering::Relaxed) as usize, n);
}

#[test]
fn weak_tables_hear_of_regions() {
    let (kept, kept_first) = chain(1, ptr::null_mut(), Vec::new(), ptr::null());
    let (lost, lost_first) = chain(1, ptr::null_mut(), Vec::new(), ptr::null());
    let mut h = heap();
    h.hold(&kept);
    h.hold(&lost);
    let mut answers = Vec::new();
    h.collect_with_weak(&mut |m| m.mark(kept_first), &mut |h| {
        answers = [kept_first, lost_first].map(|c| h.is_marked_or_new(c)).to_vec();
    });
    assert_eq!(answers, [true, false]);
}

#[test]
fn a_new_hold_asks_for_a_collection() {
    let mut h = heap();
    let mut big = heap();
    let first = pair(&mut big, ptr::null_mut(), ptr::null());
    big.add_payload(64 << 20);
    // SAFETY: the cell is not written to again.
    let region = unsafe { Region::seal(big, Vec::new(), None) };
    assert!(!h.wants_collection());
    h.hold(&region);
    assert!(h.wants_collection(), "regions count, or a VM that only receives would never let go");
    collect(&mut h, &[first]);
    h.hold(&region);
    assert!(!h.wants_collection(), "it is held already");
}

#[test]
fn blocks_come_back_unnamed() {
    let (region, first) = chain(1, ptr::null_mut(), Vec::new(), ptr::null());
    let mut h = heap();
    h.hold(&region);
    let (other, _) = chain(1, ptr::null_mut(), Vec::new(), ptr::null());
    drop(region);
    collect(&mut h, &[]);
    h.hold(&other);
    // Whoever has that block now, it names no region that this heap holds.
    assert!(h.region_of(first).is_none_or(|r| r.key() == other.key()));
    assert_eq!(h.region_stats().0, 1);
}

#[test]
fn regions_travel_between_threads() {
    let died = Arc::new(AtomicU32::new(0));
    let (region, first) = chain(4, ptr::null_mut(), Vec::new(), Arc::as_ptr(&died));
    let first = first.expose_provenance();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let region = region.clone();
            std::thread::spawn(move || {
                let first = ptr::with_exposed_provenance_mut::<Header>(first);
                let mut h = heap();
                h.hold(&region);
                drop(region);
                let own = pair(&mut h, first, ptr::null());
                collect(&mut h, &[own]);
                let (mut n, mut at) = (0, first);
                while !at.is_null() {
                    n += 1;
                    // SAFETY: the heap holds the region.
                    at = unsafe { (*at.cast::<Pair>()).next };
                }
                collect(&mut h, &[]);
                n
            })
        })
        .collect();
    drop(region);
    assert!(threads.into_iter().all(|t| t.join().is_ok_and(|n| n == 4)));
    assert_eq!(died.load(Ordering::Relaxed), 4);
}

#[test]
fn baggage_is_given_back_by_type() {
    let mut h = heap();
    pair(&mut h, ptr::null_mut(), ptr::null());
    // SAFETY: the cell is not written to again.
    let region = unsafe { Region::seal(h, Vec::new(), Some(Box::new(42u8))) };
    assert_eq!(region.baggage::<u8>(), Some(&42));
    assert_eq!(region.baggage::<u16>(), None);
}
