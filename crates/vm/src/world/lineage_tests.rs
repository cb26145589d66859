//! Lines of VMs: who descends from whom, and what is kept of those that ended.

use super::Identity;
use std::collections::HashMap;
use std::sync::Arc;

fn descends(i: &Arc<Identity>, ancestor: u64) -> bool {
    i.descends_from(ancestor, &mut HashMap::new())
}

#[test]
fn descendants_are_not_siblings() {
    let root = Identity::new(1, "root", None);
    let a = Identity::new(2, "a", Some(&root));
    let b = Identity::new(3, "b", Some(&root));
    let c = Identity::new(4, "c", Some(&a));
    assert!(descends(&c, 4) && descends(&c, 2) && descends(&c, 1));
    assert!(!descends(&c, 3) && !descends(&a, 4) && !descends(&root, 2) && !descends(&b, 2));
}

#[test]
fn an_ended_maker_is_skipped() {
    let root = Identity::new(1, "root", None);
    let a = Identity::new(2, "a", Some(&root));
    let b = Identity::new(3, "b", Some(&a));
    a.set_ended();
    assert!(descends(&b, 1));
    assert_eq!(Arc::strong_count(&a), 1, "nobody holds it any more");
}

#[test]
fn a_line_keeps_none_that_ended() {
    let root = Identity::new(1, "root", None);
    let mut line = vec![Arc::downgrade(&root)];
    let mut last = root.clone();
    for id in 2..1000 {
        let next = Identity::new(id, "next", Some(&last));
        line.push(Arc::downgrade(&next));
        last.set_ended();
        last = next;
    }
    drop(root);
    assert!(line.iter().filter(|w| w.strong_count() > 0).count() <= 3);
}

#[test]
fn a_long_line_is_dropped_without_recursion() {
    let mut last = Identity::new(1, "first", None);
    for id in 2..200_000 {
        last = Identity::new(id, "next", Some(&last));
    }
    let mut known = HashMap::new();
    assert!(last.descends_from(1, &mut known) && known.len() > 100_000);
    std::thread::Builder::new().stack_size(64 << 10).spawn(move || drop(last)).unwrap().join().unwrap();
}
