//! Indices against a set, and tables that go with what they are about.

use super::*;
use std::collections::BTreeSet;

#[test]
fn indices_against_a_set() {
    let (mut written, mut model) = (Written::default(), BTreeSet::new());
    let mut seed = 11_usize;
    for _ in 0..if cfg!(miri) { 50 } else { 2000 } {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let (at, count) = ((seed >> 20) % 900, [0, 1, 1, 2, 64, 65, 200][(seed >> 50) % 7]);
        assert!(written.note(at, count));
        model.extend(at..at + count);
        assert_eq!(written.count(), model.len());
        if seed.is_multiple_of(9) {
            let mut taken = Vec::new();
            written.take(|i| taken.push(i));
            assert_eq!(taken, std::mem::take(&mut model).into_iter().collect::<Vec<_>>());
        }
    }
}

/// No table stays larger than its cell, and none stays that no marking has come to.
#[test]
fn tables_follow_their_cells() {
    let (mut slots, cells) = (Slots::default(), [16_usize, 32].map(std::ptr::without_provenance_mut));
    for cell in cells {
        slots.watch(cell, 1 << 20, 1);
        assert!(slots.0.get_mut(&cell.addr()).is_some_and(|t| t.written.note((1 << 20) - 1, 1)));
    }
    slots.watch(cells[0], 2000, 2);
    assert!(slots.0[&16].written.0.capacity() < 100);
    slots.retain(2);
    assert!(slots.take(cells[0], |i| panic!("{i} was not written")));
    assert!(!slots.take(cells[1], |_| {}));
}
