//! Size classes: which cell size serves a request.
//!
//! Goal: a table lookup that folds to a constant when the size is one. Steps grow by about a quarter, so a cell wastes
//! at most a fifth beyond the rounding to 16 bytes; the rare ones beyond 1,536 bytes a third.
//!
//! Invariant: every class size is a multiple of 16 and at most [`MAX_CELL`]; a block holds at most [`MAX_CELLS`] cells.
//!
//! Rejected: a 16-byte class. No Ruby object fits in header plus one word often enough, and the bitmaps of every
//! block would double.

use crate::MAX_CELL;
use crate::ledger::BLOCK_SIZE;

pub(crate) const CLASSES: usize = 24;
pub(crate) const SIZES: [u16; CLASSES] =
    [32, 48, 64, 80, 96, 128, 160, 192, 256, 320, 384, 512, 640, 768, 1024, 1280, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384];

/// Cells of the smallest class in one block.
pub(crate) const MAX_CELLS: usize = BLOCK_SIZE / SIZES[0] as usize;

static CLASS_OF: [u8; MAX_CELL / 16 + 1] = {
    let mut table = [0u8; MAX_CELL / 16 + 1];
    let mut i = 0;
    let mut class = 0;
    while i < table.len() {
        if i * 16 > SIZES[class] as usize {
            class += 1;
        }
        table[i] = class as u8;
        i += 1;
    }
    table
};

/// The class that serves `size` bytes. Panics beyond [`MAX_CELL`]: the caller broke its contract.
#[inline(always)]
pub(crate) const fn class_of(size: usize) -> usize {
    CLASS_OF[(size + 15) >> 4] as usize
}

/// Bytes of the cell that serves `size` bytes, at most [`MAX_CELL`].
pub const fn size_of_cell(size: usize) -> usize {
    SIZES[class_of(size)] as usize
}

/// `ceil(2^32 / size)`: `(offset * reciprocal(size)) >> 32 == offset / size` for every offset within a block.
///
/// With e = reciprocal * size - 2^32 < size the error is offset * e / (size * 2^32) < 2^-16 < 1 / size.
pub(crate) const fn reciprocal(size: u16) -> u32 {
    (1u64 << 32).div_ceil(size as u64) as u32
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "size_class_tests.rs"]
mod tests;
