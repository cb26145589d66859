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

/// What a table lists is another's until something changes in it, and pages stay whose they were.
#[test]
fn a_view_leaves_what_it_looks_at() {
    let (early, late) = (LOT + 3, FIRST_DYNAMIC + LOT + 5);
    let mut below = LotTable::new();
    *below.slot(early) = Some("early");
    *below.slot(late) = Some("late");
    // SAFETY: `below` stays, as it is, until the views are gone.
    let mut view = unsafe { below.share() };
    assert_eq!((view.get(early), view.get(late), view.get(late + 1)), (Some(&"early"), Some(&"late"), None));
    assert_eq!(view.own_bytes(), 0, "nothing of its own");
    let owned = |t: &LotTable<&'static str>| {
        let mut all = Vec::new();
        t.each_own(&mut |id, v| all.push((id, *v)));
        let mut n = 0;
        t.each_own_unordered(&mut |_| n += 1);
        assert_eq!(n, all.len());
        all
    };
    assert_eq!(owned(&view), [], "what another owns is not walked");
    *view.slot(late + 1) = Some("mine");
    *view.slot(FIRST_DYNAMIC + 9 * LOT) = Some("far");
    assert_eq!((view.get(late), view.get(late + 1), view.get(early)), (Some(&"late"), Some(&"mine"), Some(&"early")));
    assert_eq!((below.get(late + 1), below.get(FIRST_DYNAMIC + 9 * LOT)), (None, None));
    assert_eq!(owned(&view), [(late, "late"), (late + 1, "mine"), (FIRST_DYNAMIC + 9 * LOT, "far")], "the copied page, and the new one");
    // SAFETY: the same of this one.
    let again = unsafe { view.share() };
    let mut all = Vec::new();
    again.each(&mut |id, v| all.push((id, *v)));
    assert_eq!(all, [(early, "early"), (late, "late"), (late + 1, "mine"), (FIRST_DYNAMIC + 9 * LOT, "far")]);
    assert_eq!(owned(&below), [(early, "early"), (late, "late")]);
}
