//! What the tests of the cells share.

use crate::trace;
use zakuro_heap::Heap;

/// Miri is a thousand times slower.
pub(crate) const fn many(n: usize, under_miri: usize) -> usize {
    if cfg!(miri) { under_miri } else { n }
}

pub(crate) fn heap() -> Heap {
    Heap::new(trace::trace, trace::finalize)
}

/// A small generator of pseudo-random numbers (Marsaglia, xorshift).
pub(crate) fn random(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    }
}
