//! Prints nanoseconds per allocation, collections included: `cargo run --release -p zakuro-heap --example alloc_bench`.

use std::hint::black_box;
use std::time::Instant;

use zakuro_heap::{FinalizeCx, Header, Heap, Marker};

unsafe fn trace(cell: *mut Header, m: &mut Marker<'_>) {
    // SAFETY: every cell here is header + two references.
    unsafe {
        let refs = cell.add(1).cast::<*mut Header>();
        m.mark(*refs);
        m.mark(*refs.add(1));
    }
}

unsafe fn finalize(_: *mut Header, _: &mut FinalizeCx) {}

#[inline(always)]
fn cell(h: &mut Heap, size: usize, a: *mut Header, b: *mut Header) -> *mut Header {
    let c = h.alloc(size);
    // SAFETY: at least 24 bytes.
    unsafe {
        c.write(Header { shape: 1, kind: 1, flags: 0, aux: 0 });
        let refs = c.add(1).cast::<*mut Header>();
        *refs = a;
        *refs.add(1) = b;
    }
    c
}

fn tree(h: &mut Heap, depth: u32) -> *mut Header {
    let (a, b) = if depth == 0 { (std::ptr::null_mut(), std::ptr::null_mut()) } else { (tree(h, depth - 1), tree(h, depth - 1)) };
    cell(h, 32, a, b)
}

fn report(name: &str, n: usize, start: Instant, h: &Heap) {
    let ns = start.elapsed().as_nanos() as f64 / n as f64;
    let s = h.stats();
    println!(
        "{name:<44} {ns:6.2} ns/alloc  {:4} GCs, {:5.1}% of the time, last pause {:7.1} us, live {:6.1} MB, limit {:6.1} MB, {} blocks",
        s.collections,
        (s.mark_nanos + s.sweep_nanos) as f64 * 100.0 / start.elapsed().as_nanos() as f64,
        s.last_pause_nanos as f64 / 1e3,
        s.live_bytes as f64 / 1e6,
        s.limit as f64 / 1e6,
        s.blocks + s.reserve_blocks
    );
}

fn garbage<const SIZE: usize>(name: &str, n: usize, finalized: bool) {
    let mut h = Heap::new(trace, finalize);
    let start = Instant::now();
    for _ in 0..n {
        let c = black_box(cell(&mut h, SIZE, std::ptr::null_mut(), std::ptr::null_mut()));
        if finalized {
            h.set_finalized(c);
        }
        if h.wants_collection() {
            h.collect(&mut |_| {});
        }
    }
    report(name, n, start, &h);
}

/// Garbage beside a live tree.
fn with_live(name: &str, depth: u32, n: usize) {
    let mut h = Heap::new(trace, finalize);
    let root = tree(&mut h, depth);
    let start = Instant::now();
    for _ in 0..n {
        black_box(cell(&mut h, 32, root, std::ptr::null_mut()));
        if h.wants_collection() {
            h.collect(&mut |m| m.mark(root));
        }
    }
    report(name, n, start, &h);
}

/// A ring of survivors replaced at random: every block is fragmented.
fn fragmented(name: &str, keep: usize, n: usize) {
    let mut h = Heap::new(trace, finalize);
    let mut ring = vec![std::ptr::null_mut(); keep];
    let mut seed = 88172645463325252u64;
    let start = Instant::now();
    for i in 0..n {
        let c = cell(&mut h, 32, std::ptr::null_mut(), std::ptr::null_mut());
        if i % 4 == 0 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            ring[seed as usize % keep] = c;
        }
        if h.wants_collection() {
            h.collect(&mut |m| ring.iter().for_each(|&c| m.mark(c)));
        }
    }
    report(name, n, start, &h);
}

fn main() {
    for _ in 0..2 {
        garbage::<32>("32 B, garbage", 200_000_000, false);
        garbage::<64>("64 B, garbage", 100_000_000, false);
        garbage::<32>("32 B, garbage, finalized", 20_000_000, true);
        with_live("32 B, garbage beside 2 MB live", 15, 100_000_000);
        with_live("32 B, garbage beside 64 MB live", 20, 100_000_000);
        fragmented("32 B, 1 of 4 kept, 100k live at random", 100_000, 50_000_000);
        fragmented("32 B, 1 of 4 kept, 1M live at random", 1_000_000, 50_000_000);
    }
    let start = Instant::now();
    const HEAPS: usize = 200_000;
    for _ in 0..HEAPS {
        let mut h = Heap::new(trace, finalize);
        black_box(cell(&mut h, 32, std::ptr::null_mut(), std::ptr::null_mut()));
    }
    println!(
        "{:<44} {:6.2} ns, {} bytes each",
        "heap made, used once, dropped",
        start.elapsed().as_nanos() as f64 / HEAPS as f64,
        size_of::<Heap>()
    );
}
