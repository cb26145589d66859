//! Every size and every offset, exhaustively: the domain is small.

use super::*;

#[test]
fn smallest_class_that_fits() {
    for size in 1..=MAX_CELL {
        let class = class_of(size);
        assert!(SIZES[class] as usize >= size);
        assert!(class == 0 || (SIZES[class - 1] as usize) < size, "size {size}");
    }
}

#[test]
fn reciprocal_divides_exactly() {
    for size in SIZES {
        let r = reciprocal(size) as u64;
        for offset in (0..BLOCK_SIZE as u64).step_by(if cfg!(miri) { 509 } else { 1 }) {
            assert_eq!((offset * r) >> 32, offset / size as u64);
        }
    }
}
