//! Minor collections against a model: random graphs that are written to through the barrier; what the check finds when it is forgotten.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use super::*;
use crate::state::FinalizeCx;

const SLOTS: usize = 4;
/// Written to without the barrier; traced by each collection.
const UNTOLD: u8 = 2;

#[repr(C)]
struct Node {
    header: Header,
    died: *mut u32,
    slots: [*mut Header; SLOTS],
}

unsafe fn trace(cell: *mut Header, m: &mut Marker<'_>) {
    // SAFETY: all cells are nodes.
    unsafe {
        if (*cell).kind == UNTOLD {
            m.revisit(cell);
        } else {
            (*cell).flags |= flags::OLD;
        }
        (*cell.cast::<Node>()).slots.iter().for_each(|s| m.mark(*s));
    }
}

unsafe fn finalize(cell: *mut Header, _: &mut FinalizeCx) {
    // SAFETY: all finalized cells are nodes with a counter.
    unsafe { *(*cell.cast::<Node>()).died += 1 }
}

fn node(h: &mut Heap, kind: u8, died: *mut u32) -> *mut Header {
    let cell = if died.is_null() { h.alloc(size_of::<Node>()) } else { h.alloc_finalized(size_of::<Node>()) };
    // SAFETY: a new cell of that size.
    unsafe {
        cell.cast::<Node>().write(Node { header: Header { shape: 1, kind, flags: 0, aux: 0 }, died, slots: [ptr::null_mut(); SLOTS] })
    };
    cell
}

fn store(cell: *mut Header, i: usize, to: *mut Header) {
    // SAFETY: a live node.
    unsafe {
        if (*cell).kind != UNTOLD && (*cell).flags & flags::OLD != 0 {
            remember(cell);
        }
        (*cell.cast::<Node>()).slots[i] = to;
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

fn reachable(roots: &[*mut Header]) -> HashSet<*mut Header> {
    let mut seen = HashSet::new();
    let mut work = roots.to_vec();
    while let Some(c) = work.pop() {
        if !c.is_null() && seen.insert(c) {
            // SAFETY: reachable, hence alive.
            work.extend(unsafe { (*c.cast::<Node>()).slots });
        }
    }
    seen
}

#[test]
fn random_graphs_survive_minor_collections_and_steps() {
    let rounds = if cfg!(miri) { 15 } else { 600 };
    for seed in 1..=if cfg!(miri) { 1 } else { 5u64 } {
        let mut r = Random(0x9e37_79b9_7f4a_7c15u64.wrapping_mul(seed));
        let mut died = vec![0u32; rounds * 60];
        let counters = died.as_mut_ptr();
        let mut h = Heap::new(trace, finalize);
        let mut roots = vec![ptr::null_mut(); 12];
        let (mut made, mut owners) = (0, Vec::new());
        for round in 0..rounds {
            let mut known: Vec<_> = reachable(&roots).into_iter().collect();
            for _ in 0..50 {
                // SAFETY: fewer cells are made than there are counters.
                let counter = if r.below(4) == 0 { unsafe { counters.add(made) } } else { ptr::null_mut() };
                let cell = node(&mut h, if r.below(10) == 0 { UNTOLD } else { 1 }, counter);
                if !counter.is_null() {
                    owners.push(made);
                }
                made += 1;
                known.push(cell);
            }
            for _ in 0..60 {
                let (a, b) = (known[r.below(known.len())], known[r.below(known.len())]);
                store(a, r.below(SLOTS), if r.below(3) == 0 { ptr::null_mut() } else { b });
            }
            for _ in 0..3 {
                let i = r.below(roots.len());
                roots[i] = known[r.below(known.len())];
            }
            let live = reachable(&roots);
            let mut mark = |m: &mut Marker<'_>| roots.iter().for_each(|c| m.mark(*c));
            let full = r.below(8) == 0;
            let old = h.state().full_collections;
            if full {
                h.collect(&mut mark)
            } else {
                h.collect_minor(&mut mark, &mut |h| assert!(!h.is_full()))
            }
            assert_eq!(h.state().full_collections - old, full as u64, "round {round}");
            assert!(live.iter().all(|c| h.is_marked_or_new(*c)));
            if full {
                h.collect_all_sweep();
                let mut left = HashSet::new();
                h.each_cell(&mut |c| assert!(left.insert(c)));
                assert_eq!(left, live);
                // SAFETY: reachable nodes; the counters outlive the heap.
                let alive: HashSet<_> = live.iter().map(|c| unsafe { (*c.cast::<Node>()).died }).collect();
                // SAFETY: live cells, of a heap that this test has for itself.
                owners.iter().for_each(|&n| assert_eq!(unsafe { *counters.add(n) }, !alive.contains(&unsafe { counters.add(n) }) as u32));
            }
        }
        drop(h);
        assert!(died.iter().all(|d| *d <= 1));
    }
}

#[test]
fn what_died_old_goes_with_a_full_collection() {
    let mut h = Heap::new(trace, finalize);
    let mut died = 0;
    let cell = node(&mut h, 1, &mut died);
    h.collect_minor(&mut |m| m.mark(cell), &mut |_| {});
    for _ in 0..3 {
        h.collect_minor(&mut |_| {}, &mut |_| {});
        h.collect_all_sweep();
        assert_eq!(died, 0);
    }
    h.collect(&mut |_| {});
    h.collect_all_sweep();
    // SAFETY: `died` is written by the finalizer through a pointer.
    assert_eq!(unsafe { ptr::read_volatile(&died) }, 1);
}

/// A cell with very many references, of which the program moves some between the steps.
#[repr(C)]
struct Wide {
    header: Header,
    slots: [*mut Header; 300],
}

unsafe fn trace_wide(cell: *mut Header, m: &mut Marker<'_>) {
    // SAFETY: kind 9 is wide, the others have no references.
    unsafe {
        if (*cell).kind == 9 {
            (*cell).flags |= flags::OLD;
            let many = (crate::mark::PART * 5).max(300);
            for i in m.part(cell, many) {
                m.mark((*cell.cast::<Wide>()).slots[i * 300 / many]);
            }
        }
    }
}

#[test]
fn a_large_cell_is_traced_in_parts() {
    let mut h = Heap::new(trace_wide, finalize);
    let wide = h.alloc(size_of::<Wide>()).cast::<Wide>();
    // SAFETY: a new cell of that size.
    unsafe { wide.write(Wide { header: Header { shape: 1, kind: 9, flags: 0, aux: 0 }, slots: [ptr::null_mut(); 300] }) };
    for i in 0..300 {
        let cell = node(&mut h, 1, ptr::null_mut());
        // SAFETY: a live cell.
        unsafe { (*wide).slots[i] = cell };
    }
    let mut mark = |m: &mut Marker<'_>| m.mark(wide.cast());
    let (mut steps, mut moved) = (0, 0);
    while h.state().full_collections == 0 {
        h.collect_step(1, &mut mark, &mut |_| {});
        steps += 1;
        if h.state().marking.as_ref().is_some_and(|m| !m.open.is_empty()) {
            // SAFETY: a live cell. To where the marking was, as `shift` does.
            unsafe {
                if (*wide).header.flags & flags::OLD != 0 {
                    remember(wide.cast());
                }
                (*wide).slots.swap(moved, 299 - moved);
            }
            moved += 1;
        }
    }
    assert!(steps > 20 && moved > 1, "{steps} {moved}");
    // SAFETY: a live cell.
    assert!(unsafe { (*wide).slots }.iter().all(|c| h.is_marked_or_new(*c)));
    h.collect(&mut mark);
    h.collect_all_sweep();
    let mut left = 0;
    h.each_cell(&mut |_| left += 1);
    assert_eq!(left, 301);
}

unsafe fn trace_words(cell: *mut Header, m: &mut Marker<'_>) {
    // SAFETY: kind 9 holds the addresses of others as a suspended stack does, conservatively.
    unsafe {
        if (*cell).kind == 9 {
            m.revisit(cell);
            (*cell.cast::<Wide>()).slots.iter().for_each(|s| m.mark_conservative(s.addr() + 5));
        } else {
            assert_eq!((*cell).kind, 1, "a free cell is traced");
            (*cell).flags |= flags::OLD;
            (*cell.cast::<Node>()).slots.iter().for_each(|s| m.mark(*s));
        }
    }
}

#[test]
fn a_step_does_not_mark_the_free_cells_of_open_runs() {
    let mut h = Heap::new(trace_words, finalize);
    let stack = h.alloc(size_of::<Wide>()).cast::<Wide>();
    // SAFETY: a new cell of that size.
    unsafe { stack.write(Wide { header: Header { shape: 1, kind: 9, flags: 0, aux: 0 }, slots: [ptr::null_mut(); 300] }) };
    let root: *mut Header = stack.cast();
    let mut mark = |m: &mut Marker<'_>| m.mark(root);
    let first = node(&mut h, 1, ptr::null_mut());
    h.collect_step(1, &mut mark, &mut |_| {});
    // The rest of the run that this one opens is free.
    let next = node(&mut h, 1, ptr::null_mut());
    let size = h.cell_size(next);
    // SAFETY: a live cell, and free ones behind it.
    unsafe {
        (*stack).slots[0] = first;
        for i in 1..300 {
            (*stack).slots[i] = next.byte_add(i * size);
            (*(*stack).slots[i]).kind = 77;
        }
    }
    while h.state().full_collections == 0 {
        h.collect_step(1, &mut mark, &mut |_| {});
    }
    assert!(h.is_marked_or_new(first) && !h.is_marked_or_new(next));
    h.collect(&mut mark);
    let mut left = 0;
    h.each_cell(&mut |_| left += 1);
    assert_eq!(left, 2);
}

#[test]
#[cfg_attr(miri, ignore = "a megabyte of cells")]
fn the_old_part_calls_for_a_full_collection_when_it_has_grown() {
    let mut h = Heap::new(trace, finalize);
    let mut keep = Vec::new();
    for _ in 0..40 {
        for _ in 0..20_000 {
            keep.push(node(&mut h, 1, ptr::null_mut()));
        }
        h.collect_due(&mut |m| keep.iter().for_each(|c| m.mark(*c)), &mut |_| {});
    }
    while h.state().marking.is_some() {
        h.collect_due(&mut |m| keep.iter().for_each(|c| m.mark(*c)), &mut |_| {});
    }
    assert!(keep.iter().all(|c| h.is_marked_or_new(*c)));
    let s = h.stats();
    assert!(s.full_collections > 0 && s.full_collections < s.collections, "{s:?}");
}

#[test]
#[cfg(debug_assertions)]
fn the_check_names_who_was_written_to_without_the_barrier() {
    let mut h = Heap::new(trace, finalize);
    // SAFETY: a live cell.
    h.set_describe(|c| format!("cell of kind {}", unsafe { (*c).kind }));
    let (old, young) = (node(&mut h, 1, ptr::null_mut()), node(&mut h, 3, ptr::null_mut()));
    h.collect_minor(&mut |m| m.mark(old), &mut |_| {});
    let young = if h.is_marked_or_new(young) { young } else { node(&mut h, 3, ptr::null_mut()) };
    // SAFETY: a live node.
    unsafe { (*old.cast::<Node>()).slots[0] = young };
    let r = catch_unwind(AssertUnwindSafe(|| h.collect_minor(&mut |m| m.mark(old), &mut |_| {})));
    let message = *r.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("cell of kind 3 <- cell of kind 1:"), "{message}");
    // The next one is full, and finds it.
    h.collect_minor(&mut |m| m.mark(old), &mut |h| assert!(h.is_full() && h.is_marked_or_new(young)));
}

/// Cells that became old too early may hold what others have sent: small cells, large buffers.
#[test]
fn pressure_calls_for_full_collections() {
    let mut h = Heap::new(trace, finalize);
    let (mut ring, mut died) = ([ptr::null_mut(); 3], [0u32; 60]);
    let counters = died.as_mut_ptr();
    for i in 0..60 {
        // SAFETY: one counter each.
        ring[i % 3] = node(&mut h, 1, unsafe { counters.add(i) });
        h.receive(i * 4096 + 4096, 1 << 20);
        if h.wants_collection() {
            h.collect_due(&mut |m| ring.iter().for_each(|c| m.mark(*c)), &mut |_| {});
        }
    }
    h.collect_all_sweep();
    drop(h);
    // SAFETY: written by the finalizer through a pointer.
    assert_eq!(unsafe { ptr::read_volatile(&died) }, [1; 60]);
}

/// Many dead cells with finalizers make no long pause: they go as blocks are opened, all of them in half a cycle, whatever their size; and blocks without young cells stay where they are.
#[test]
#[cfg_attr(miri, ignore = "takes too long")]
fn the_dead_go_while_the_program_allocates() {
    let mut h = Heap::new(trace, finalize);
    let mut died = 0_u32;
    let kept: Vec<_> = (0..40_000).map(|_| node(&mut h, 1, ptr::null_mut())).collect();
    for _ in 0..40_000 {
        node(&mut h, 1, &raw mut died);
    }
    // Less payload than cells: none is finalized in the pause.
    h.collect(&mut |m| kept.iter().for_each(|c| m.mark(*c)));
    // SAFETY: `died` is written by the finalizer through a pointer.
    let gone = || unsafe { (&raw const died).read_volatile() };
    assert!(gone() < 40_000);
    let (limit, mut allocated) = (h.stats().limit, 0);
    while gone() < 40_000 && allocated < limit {
        // Another size: the dead of one class don't wait for its own next allocation.
        h.alloc(1024);
        allocated += 1024;
    }
    assert_eq!(gone(), 40_000);
    assert!(allocated <= limit / 2 + 2 * BLOCK_SIZE, "{allocated} of {limit}");
}

/// What a full collection has left is there beside minor ones, and a word that leads to one of the dead gives it no life.
#[test]
#[cfg_attr(miri, ignore = "takes too long")]
fn minor_collections_beside_the_dead() {
    let mut h = Heap::new(trace, finalize);
    let mut died = 0_u32;
    let (mut kept, mut dead) = (Vec::new(), Vec::new());
    for i in 0..200_000 {
        if i % 4 == 0 {
            kept.push(node(&mut h, 1, ptr::null_mut()));
        } else {
            dead.push(node(&mut h, 1, &raw mut died).addr());
        }
    }
    h.collect(&mut |m| kept.iter().for_each(|c| m.mark(*c)));
    let mut beside = 0;
    while h.state().has_unswept() {
        beside += 1;
        let (old, young) = (kept[beside * 7], node(&mut h, 1, ptr::null_mut()));
        // SAFETY: a live node. The barrier, then the store.
        unsafe {
            if (*old).flags & flags::OLD != 0 {
                remember(old);
            }
            (*old.cast::<Node>()).slots[0] = young;
        }
        h.collect_minor(
            &mut |m| {
                kept.iter().for_each(|c| m.mark(*c));
                dead.iter().for_each(|word| m.mark_conservative(*word));
            },
            &mut |_| {},
        );
        assert!(h.is_marked_or_new(young));
        for _ in 0..2000 {
            node(&mut h, 1, ptr::null_mut());
        }
    }
    assert!(beside > 5, "{beside}");
    h.collect(&mut |m| kept.iter().for_each(|c| m.mark(*c)));
    h.collect_all_sweep();
    // SAFETY: `died` is written by the finalizer through a pointer.
    assert_eq!(unsafe { (&raw const died).read_volatile() }, 150_000);
}
