//! Numbers of the process.

use super::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn no_number_is_given_twice() {
    let lots = LotCounter::new(LAST_LOT - LOT);
    assert_eq!(lots.take(), LAST_LOT - LOT);
    for _ in 0..1000 {
        assert!(catch_unwind(AssertUnwindSafe(|| lots.take())).is_err(), "beyond the last lot");
    }
}
