//! A toy object model over the heap: random graphs against a model, conservative lookups, depth, weak hooks, payload.

use std::collections::{HashMap, HashSet};

use super::*;
use crate::ledger::BLOCK_SIZE;
use crate::size_class::SIZES;
use crate::state::{BORROWED, FinalizeCx, LENDER};
use std::ptr;

/// Miri is a thousand times slower.
const fn many(n: usize, under_miri: usize) -> usize {
    if cfg!(miri) { under_miri } else { n }
}

const NODE: u8 = 1;
const TABLE: u8 = 2;

/// header | pointer to a counter, bumped by the finalizer (may be null) | id | slots (aux of them)
#[repr(C)]
struct Node {
    header: Header,
    died: *mut u32,
    id: u64,
    slots: [*mut Header; 0],
}

/// header | malloc'ed vector of references
#[repr(C)]
struct Table {
    header: Header,
    refs: *mut Vec<*mut Header>,
}

fn slot(cell: *mut Header, i: usize) -> *mut *mut Header {
    // SAFETY: tests ask for slots below aux only.
    unsafe { (&raw mut (*cell.cast::<Node>()).slots).cast::<*mut Header>().add(i) }
}

unsafe fn trace(cell: *mut Header, m: &mut Marker<'_>) {
    // SAFETY: kinds tell the layout.
    unsafe {
        match (*cell).kind {
            NODE => (0..(*cell).aux as usize).for_each(|i| m.mark_value_bits(*slot(cell, i) as u64)),
            TABLE => (*(*cell.cast::<Table>()).refs).iter().for_each(|&c| m.mark(c)),
            kind => panic!("kind {kind}"),
        }
    }
}

unsafe fn finalize(cell: *mut Header, cx: &mut FinalizeCx) {
    // SAFETY: kinds tell the layout.
    unsafe {
        match (*cell).kind {
            NODE => {
                let died = (*cell.cast::<Node>()).died;
                *died += 1;
                cx.sub_payload((*cell).aux as usize);
            }
            TABLE => drop(Box::from_raw((*cell.cast::<Table>()).refs)),
            kind => panic!("kind {kind}"),
        }
    }
}

fn heap() -> Heap {
    Heap::new(trace, finalize)
}

fn node(h: &mut Heap, id: u64, slots: usize, died: *mut u32) -> *mut Header {
    let size = size_of::<Node>() + slots * 8;
    let cell = if died.is_null() { h.alloc(size) } else { h.alloc_finalized(size) };
    assert!(!cell.is_null() && cell.addr() % 16 == 0 && h.cell_size(cell) >= size);
    // SAFETY: the cell is at least `size` bytes.
    unsafe {
        cell.cast::<Node>().write(Node { header: Header { shape: 1, kind: NODE, flags: 0, aux: slots as u16 }, died, id, slots: [] });
        (0..slots).for_each(|i| *slot(cell, i) = ptr::null_mut());
    }
    if !died.is_null() {
        h.add_payload(slots);
    }
    cell
}

fn id(cell: *mut Header) -> u64 {
    // SAFETY: a live node.
    unsafe { (*cell.cast::<Node>()).id }
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

#[test]
fn random_graphs_survive_intact_and_the_dead_are_finalized_once() {
    for seed in 1..=many(6, 1) as u64 {
        let mut r = Random(0x9e37_79b9_7f4a_7c15u64.wrapping_mul(seed));
        let total = many(60_000, 150);
        let mut died = vec![0u32; total];
        let mut h = heap();
        let died_base = died.as_mut_ptr();
        // The model: id -> (address, ids in slots).
        let mut model: HashMap<u64, (*mut Header, Vec<u64>)> = HashMap::new();
        let mut finalized = HashSet::new();
        let mut roots: Vec<u64> = Vec::new();
        let mut known: Vec<u64> = Vec::new();
        for n in 0..total as u64 {
            let slots = match r.below(50) {
                0 => r.below(250),
                1..10 => r.below(20),
                _ => r.below(4),
            };
            // SAFETY: n < total.
            let counter = if r.below(3) == 0 { unsafe { died_base.add(n as usize) } } else { ptr::null_mut() };
            let cell = node(&mut h, n, slots, counter);
            if !counter.is_null() {
                finalized.insert(n);
            }
            let mut to = vec![u64::MAX; slots];
            for (i, to) in to.iter_mut().enumerate() {
                if !known.is_empty() && r.below(2) == 0 {
                    *to = known[r.below(known.len())];
                    // SAFETY: i < slots.
                    unsafe { *slot(cell, i) = model[to].0 };
                }
            }
            assert!(model.insert(n, (cell, to)).is_none());
            known.push(n);
            match r.below(8) {
                0 => roots.push(n),
                1 if !roots.is_empty() => {
                    let at = r.below(roots.len());
                    roots.swap_remove(at);
                }
                _ => {}
            }
            if r.below(3000) == 0 {
                if r.below(2) == 0 {
                    roots.truncate(r.below(5));
                }
                let cells: Vec<_> = roots.iter().map(|id| model[id].0).collect();
                let mut seen = HashSet::new();
                let mut todo = roots.clone();
                while let Some(id) = todo.pop() {
                    if id != u64::MAX && seen.insert(id) {
                        todo.extend(&model[&id].1);
                    }
                }
                let conservative = r.below(2) == 0;
                h.collect_with_weak(
                    &mut |m| {
                        if conservative {
                            let words: Vec<usize> = cells.iter().enumerate().map(|(i, c)| c.addr() + i % 32).collect();
                            let range = words.as_ptr_range();
                            m.mark_range(range.start, range.end);
                        } else {
                            cells.iter().for_each(|&c| m.mark(c));
                        }
                    },
                    &mut |h| model.iter().for_each(|(id, (cell, _))| assert_eq!(h.is_marked_or_new(*cell), seen.contains(id))),
                );
                // Blocks without a live cell may have gone back.
                model.iter().for_each(|(id, (cell, _))| assert_eq!(h.owns(*cell) && h.is_marked_or_new(*cell), seen.contains(id)));
                model.retain(|id, _| seen.contains(id));
                known.retain(|id| seen.contains(id));
                if r.below(2) == 0 {
                    h.collect_all_sweep();
                    for id in &finalized {
                        assert_eq!(died[*id as usize], !model.contains_key(id) as u32);
                    }
                    let mut count = 0;
                    h.each_cell(&mut |cell| {
                        assert_eq!(model[&id(cell)].0, cell);
                        count += 1;
                    });
                    assert_eq!(count, model.len());
                }
                check(&h, &model);
            }
        }
        check(&h, &model);
        let alive = model.keys().filter(|id| finalized.contains(id)).count();
        assert!(died.iter().sum::<u32>() as usize <= finalized.len() - alive);
        drop(h);
        for (n, &died) in died.iter().enumerate() {
            assert_eq!(died, finalized.contains(&(n as u64)) as u32);
        }
    }
}

fn check(h: &Heap, model: &HashMap<u64, (*mut Header, Vec<u64>)>) {
    for (&n, (cell, to)) in model {
        assert_eq!(id(*cell), n);
        assert_eq!(h.cell_at(cell.addr()), Some(*cell));
        for (i, to) in to.iter().enumerate() {
            // SAFETY: i < slots.
            let found = unsafe { *slot(*cell, i) };
            assert_eq!(found, model.get(to).map_or(ptr::null_mut(), |m| m.0));
        }
    }
}

#[test]
fn conservative_lookups() {
    let mut h = heap();
    // Those are larger than asked for.
    (0..BORROWED).for_each(|_| _ = h.alloc(32));
    assert_eq!(h.cell_at(0), None);
    assert_eq!(h.cell_at(usize::MAX), None);
    for class in SIZES {
        let size = class as usize;
        let a = node(&mut h, 1, (size - 24) / 8, ptr::null_mut());
        let b = node(&mut h, 2, (size - 24) / 8, ptr::null_mut());
        assert_eq!(b.addr(), a.addr() + size);
        for offset in (0..size).step_by(many(1, 37)) {
            assert_eq!(h.cell_at(a.addr() + offset), Some(a));
            assert_eq!(h.cell_at(b.addr() + offset), Some(b));
        }
        // The rest of the run, and the end of the block that no cell fits in.
        let end = (a.addr() & !(BLOCK_SIZE - 1)) + BLOCK_SIZE;
        (b.addr() + size..end).step_by(many(1, 4001)).for_each(|addr| assert_eq!(h.cell_at(addr), None));
        // Other blocks, taken or not.
        let dead = h.cell_at(end);
        assert!(dead.is_none_or(|c| h.owns(c)));
        h.collect(&mut |m| m.mark_conservative(b.addr() + size - 1));
        h.collect_all_sweep();
        assert_eq!(h.cell_at(a.addr()), None);
        assert_eq!(h.cell_at(b.addr() + 5), Some(b));
        let again = node(&mut h, 3, (size - 24) / 8, ptr::null_mut());
        assert_eq!(again, a, "the gap is used first");
        assert_eq!(h.cell_at(a.addr() + 1), Some(a));
    }
    let on_stack = 0usize;
    assert_eq!(h.cell_at((&raw const on_stack).addr()), None);
}

#[test]
fn empty_blocks_hold_no_cells() {
    let mut h = heap();
    let cells: Vec<_> = (0..many(30_000, 2_100) as u64).map(|i| node(&mut h, i, 0, ptr::null_mut())).collect();
    h.collect(&mut |_| {});
    // In the reserve, without a sweep: stale words must not bring them back to life.
    assert!(h.stats().reserve_blocks > 0);
    assert!(cells.iter().all(|c| h.cell_at(c.addr()).is_none() && !h.is_marked_or_new(*c)));
    h.collect(&mut |m| cells.iter().for_each(|c| m.mark_conservative(c.addr())));
    assert_eq!(h.stats().live_bytes, 0);
    drop(h);
    // Taken over by another heap, still with the first one's metadata.
    let mut h = heap();
    let kept = node(&mut h, 1, 100, ptr::null_mut());
    h.collect(&mut |m| cells.iter().chain([&kept]).for_each(|c| m.mark_conservative(c.addr())));
    assert_eq!(h.stats().live_bytes, h.cell_size(kept));
}

#[test]
fn heaps_dont_see_each_other() {
    let (mut a, mut b) = (heap(), heap());
    let cells: Vec<_> =
        (0..many(40_000, 800) as u64).map(|i| node(if i % 2 == 0 { &mut a } else { &mut b }, i, 0, ptr::null_mut())).collect();
    for (i, &c) in cells.iter().enumerate() {
        let (mine, other) = if i % 2 == 0 { (&a, &b) } else { (&b, &a) };
        assert!(mine.owns(c) && !other.owns(c) && other.cell_at(c.addr()).is_none() && other.cell_size(c) == 0);
        assert!(other.is_marked_or_new(c));
    }
    // Marking another heap's cells is a no-op.
    a.collect(&mut |m| cells.iter().for_each(|&c| m.mark(c)));
    assert_eq!(a.stats().live_bytes, cells.iter().map(|&c| a.cell_size(c)).sum::<usize>());
    b.collect(&mut |m| m.mark(ptr::null_mut()));
    assert_eq!((b.stats().live_bytes, b.stats().blocks), (0, 0));
}

#[test]
fn the_first_small_cells_share_a_block() {
    let h = heap();
    let cells: Vec<_> = (0..BORROWED).map(|i| h.alloc(SIZES[i as usize % LENDER] as usize)).collect();
    assert_eq!(h.stats().blocks, 1);
    assert!(cells.iter().all(|c| h.cell_size(*c) == 128 && c.addr() - cells[0].addr() < 4096));
    // Then each size has blocks of its own, and goes on there.
    for size in &SIZES[..LENDER] {
        let own = [h.alloc(*size as usize), h.alloc(*size as usize)];
        assert_eq!((h.cell_size(own[0]), own[1].addr() - own[0].addr()), (*size as usize, *size as usize));
    }
    assert_eq!(h.stats().blocks, 1 + LENDER);
}

#[test]
fn long_chain_and_wide_table() {
    const N: u64 = many(1_000_000, 400) as u64;
    let mut h = heap();
    let mut chain = ptr::null_mut();
    for i in 0..N {
        let next = node(&mut h, i, 1, ptr::null_mut());
        // SAFETY: one slot.
        unsafe { *slot(next, 0) = chain };
        chain = next;
    }
    let refs: Vec<_> = (0..N).map(|i| node(&mut h, i, 0, ptr::null_mut())).collect();
    let table = h.alloc_finalized(size_of::<Table>());
    let refs = Box::into_raw(Box::new(refs));
    // SAFETY: a fresh cell of that size.
    unsafe { table.cast::<Table>().write(Table { header: Header { shape: 0, kind: TABLE, flags: 0, aux: 0 }, refs }) };
    for _ in 0..2 {
        h.collect(&mut |m| {
            m.mark(chain);
            m.mark(table);
        });
        assert_eq!(h.stats().live_bytes, (2 * N as usize + 1) * 32 + BORROWED as usize * (128 - 32));
    }
    let mut count = 0u64;
    h.each_cell(&mut |_| count += 1);
    assert_eq!(count, 2 * N + 1);
    h.collect(&mut |_| {});
    h.collect_all_sweep();
    assert_eq!((h.stats().live_bytes, h.stats().blocks), (0, 0));
}

#[test]
fn finalizer_bit_set_and_cleared_later() {
    let mut died = [0u32; 3];
    let base = died.as_mut_ptr();
    let mut h = heap();
    // SAFETY: three counters.
    let cells: Vec<_> = (0..3).map(|i| node(&mut h, i, 0, unsafe { base.add(i as usize) })).collect();
    h.clear_finalized(cells[0]);
    h.clear_finalized(cells[0]);
    h.clear_finalized(cells[1]);
    h.set_finalized(cells[1]);
    h.set_finalized(cells[1]);
    h.collect(&mut |m| m.mark(cells[2]));
    h.collect_all_sweep();
    assert_eq!(died, [0, 1, 0]);
    drop(h);
    assert_eq!(died, [0, 1, 1]);
}

#[test]
fn payload_counts_and_asks_for_a_collection() {
    let mut died = 0u32;
    let counter = &raw mut died;
    let mut h = heap();
    assert!(!h.wants_collection());
    for i in 0..100 {
        node(&mut h, i, 100, counter);
    }
    assert_eq!(h.stats().payload_bytes, 10_000);
    h.add_payload(8 << 20);
    assert!(h.wants_collection());
    h.sub_payload(8 << 20);
    assert!(!h.wants_collection());
    h.collect(&mut |_| {});
    // More payload than cells lived: finalized in the pause.
    assert_eq!((h.stats().payload_bytes, died, h.stats().collections), (0, 100, 1));
}

#[test]
fn steady_garbage_keeps_the_heap_small() {
    let mut h = heap();
    let mut keep: Vec<*mut Header> = Vec::new();
    let mut r = Random(77);
    let mut most = 0;
    const N: u64 = many(3_000_000, 300) as u64;
    for i in 0..N {
        let c = node(&mut h, i, r.below(8), ptr::null_mut());
        if keep.len() < 1000 {
            keep.push(c);
        } else if r.below(100) == 0 {
            keep[r.below(1000)] = c;
        }
        if h.wants_collection() {
            h.collect(&mut |m| keep.iter().for_each(|&c| m.mark(c)));
        }
        most = most.max(h.stats().blocks + h.stats().reserve_blocks);
    }
    let s = h.stats();
    assert_eq!(s.allocated_cells, N);
    assert!((cfg!(miri) || s.collections > 10) && most * BLOCK_SIZE < 32 << 20, "{most} blocks, {s:?}");
}

#[test]
fn a_limit_calls_for_a_collection_then_refuses() {
    let mut h = heap();
    let soft = 1 << 20;
    h.set_limit(soft, 256 << 10);
    let refused = |h: &mut Heap| {
        let r = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            while !h.wants_collection() {
                h.alloc(64);
            }
        }));
        r.is_err_and(|p| p.is::<crate::OutOfMemory>())
    };
    // Wanted when half of what was left is used at the latest, and garbage makes room again.
    for _ in 0..many(3, 1) {
        assert!(!refused(&mut h));
        assert!(h.used() >= soft / 2 - (128 << 10) && !h.over_limit());
        h.collect(&mut |_| {});
        assert!(!h.over_limit() && h.room() > soft);
    }
    // Payload counts; beyond the reserve nothing is given.
    h.add_payload(soft + (200 << 10));
    assert!(h.over_limit() && h.over_reserve() && !h.admits(128 << 10));
    h.extend_reserve(0);
    assert!(!h.over_reserve() && h.admits(128 << 10));
    // However far beyond: there is room for the exception that says so.
    h.restore_reserve();
    h.add_payload(soft);
    h.extend_reserve(0);
    assert!(h.over_reserve() && !h.admits(1));
    h.extend_reserve(512 << 10);
    assert!(!h.over_reserve() && h.admits(128 << 10) && !h.admits(1 << 20));
    h.restore_reserve();
    h.sub_payload(soft);
    h.sub_payload(soft);
    assert!(!h.over_limit() && h.admits(soft - (256 << 10)));
    // Blocks of native code count, those that payload tells of once.
    let native = h.native().unwrap();
    let (before, block) = (h.used(), 2 * crate::WATCHED);
    native.add_large(2 * block);
    assert_eq!(h.used(), before + 2 * block);
    h.add_payload(block);
    h.add_watched(block);
    // Small ones are malloc's alone.
    h.add_payload(100);
    h.add_watched(100);
    assert_eq!(h.used(), before + 2 * block + 100);
    // SAFETY: the heap is alive and this thread's.
    assert_eq!(unsafe { (Heap::room_in_passing(&h, 0), Heap::native_in_passing(&h).is_some()) }, (h.room(), true));
    h.sub_payload(block + 100);
    h.sub_watched(block);
    native.sub_large(block);
    assert_eq!(h.used(), before + block);
    h.lift_limit();
    assert!(h.admits(usize::MAX) && h.room() == usize::MAX);
}

#[test]
fn capacity_near_the_limit_grows_in_steps_or_not_at_all() {
    let mut h = heap();
    assert_eq!(h.capacity_for(1000, 1001, 1500, 8), Some(1500), "no limit");
    h.set_limit(1 << 20, 0);
    let room = h.room();
    let len = room * 3 / 4;
    assert_eq!(h.capacity_for(100, 101, 150, 1), Some(150));
    // Half more is too much, a quarter or a 32nd is not.
    assert_eq!(h.capacity_for(len, len + 1, len + len / 2, 1), Some(len + len / 4));
    let len = room - room / 20;
    assert_eq!(h.capacity_for(len, len + 1, len + len / 2, 1), Some(len + len / 32));
    // What fits exactly: for a request of its own, not for the next of many small ones.
    let len = room - 10;
    assert_eq!(h.capacity_for(len, len + 1, len + len / 2, 1), None);
    assert_eq!(h.capacity_for(100, room, room * 2, 1), Some(room));
    assert_eq!(h.capacity_for(100, room + 1, room * 2, 1), None);
}
