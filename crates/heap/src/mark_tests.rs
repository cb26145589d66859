//! Marking without memory for its stack, and marking that is cut short.

use super::*;
use crate::FinalizeCx;
use crate::Heap;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// The stack does not grow.
    pub(super) static NO_STACK: Cell<bool> = const { Cell::new(false) };
    /// Cells to trace until the tracer panics.
    static FUSE: Cell<usize> = const { Cell::new(usize::MAX) };
    static FINALIZED: Cell<usize> = const { Cell::new(0) };
}

const SLOTS: usize = 8;

unsafe fn trace(cell: *mut Header, m: &mut Marker<'_>) {
    FUSE.with(|f| match f.get() {
        0 => panic!("in the middle of marking"),
        n => f.set(n - 1),
    });
    // SAFETY: every cell of these tests has a header and SLOTS references.
    unsafe { (0..SLOTS).for_each(|i| m.mark(*slot(cell, i))) }
}

unsafe fn finalize(_cell: *mut Header, cx: &mut FinalizeCx) {
    FINALIZED.with(|n| n.set(n.get() + 1));
    cx.sub_payload(1);
}

unsafe fn slot(cell: *mut Header, i: usize) -> *mut *mut Header {
    // SAFETY: as in `node`.
    unsafe { cell.add(1).cast::<*mut Header>().add(i) }
}

fn node(h: &mut Heap) -> *mut Header {
    let cell = h.alloc_finalized(size_of::<Header>() + SLOTS * 8);
    h.add_payload(1);
    // SAFETY: the cell is that large.
    unsafe {
        cell.write(Header { shape: 1, kind: 1, flags: 0, aux: 0 });
        (0..SLOTS).for_each(|i| slot(cell, i).write(ptr::null_mut()));
    }
    cell
}

/// A tree of `depth` levels of SLOTS children each, and as many dead cells; its root and number of cells.
fn forest(h: &mut Heap, depth: usize) -> (*mut Header, usize) {
    let root = node(h);
    node(h);
    let mut level = vec![root];
    let mut count = 1;
    for _ in 0..depth {
        let mut next = Vec::new();
        for cell in level {
            for i in 0..SLOTS {
                let child = node(h);
                node(h);
                // SAFETY: made by `node`.
                unsafe { slot(cell, i).write(child) };
                next.push(child);
                count += 1;
            }
        }
        level = next;
    }
    (root, count)
}

#[test]
fn marks_everything_without_memory_for_its_stack() {
    let mut h = Heap::new(trace, finalize);
    let (root, count) = forest(&mut h, if cfg!(miri) { 2 } else { 5 });
    let before = FINALIZED.with(|n| n.get());
    NO_STACK.with(|n| n.set(true));
    h.collect(&mut |m| {
        // Nothing but the root fits.
        m.stack = Vec::with_capacity(1);
        m.mark(root);
    });
    NO_STACK.with(|n| n.set(false));
    h.collect_all_sweep();
    let mut cells = 0;
    h.each_cell(&mut |_| cells += 1);
    assert_eq!(cells, count);
    assert_eq!(FINALIZED.with(|n| n.get()) - before, count);
}

#[test]
fn a_panic_in_the_middle_leaves_a_heap_that_can_be_dropped_or_used() {
    let first = FINALIZED.with(|n| n.get());
    let mut made = 0;
    for fuse in [0, 1, 7, 50] {
        let mut h = Heap::new(trace, finalize);
        let (root, count) = forest(&mut h, 3);
        made += 2 * count;
        FUSE.with(|f| f.set(fuse));
        let r = catch_unwind(AssertUnwindSafe(|| h.collect(&mut |m| m.mark(root))));
        FUSE.with(|f| f.set(usize::MAX));
        assert!(r.is_err());
        // Whoever frees what the VM owned may still allocate.
        node(&mut h);
        made += 1;
        if fuse == 7 {
            // Marks of the first attempt don't hide anything from the next.
            h.collect(&mut |m| m.mark(root));
            let mut cells = 0;
            h.each_cell(&mut |_| cells += 1);
            assert_eq!(cells, count);
        }
    }
    assert_eq!(FINALIZED.with(|n| n.get()) - first, made, "every finalizer ran once");
}
