//! Tables against a Vec of pairs: small and indexed, deleting while walking, tombstones and their removal.

use super::*;
use crate::array::ArrayCell;
use crate::class::ids;
use crate::test_help::{heap, many, random};
use zakuro_heap::Marker;

fn fix(n: usize) -> Value {
    Value::fixnum(n as i64)
}
/// Few different ones, so that keys share them.
fn code(n: usize) -> u64 {
    (n as u64 % 7).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
fn find(t: &HashTable, n: usize) -> Option<usize> {
    let found = t.find(code(n), |k| k == fix(n));
    let candidate = t.candidates(code(n)).into_iter().find(|i| t.entry(*i).is_some_and(|e| e.key == fix(n)));
    assert_eq!(found, candidate);
    found
}
fn pairs(t: &HashTable) -> Vec<(Value, Value)> {
    t.iter().map(|e| (e.key, e.value)).collect()
}

#[test]
fn small_then_indexed() {
    let mut h = heap();
    let c = HashCell::make(&h, ids::HASH.0);
    assert!(c.table(&h).is_none());
    for n in 0..many(1000, 60) {
        HashCell::change(c, &mut h, |t| {
            assert!(find(t, n).is_none());
            t.push(code(n), fix(n), fix(n * 2));
            assert_eq!(t.wide.is_some(), n >= LINEAR);
        });
    }
    let t = c.table(&h).unwrap();
    for n in 0..t.len() {
        assert_eq!(find(t, n), Some(n));
        assert_eq!(t.entry(n).unwrap().value, fix(n * 2));
    }
    assert_eq!(HashTable::from_entries(t.iter().copied().collect::<Vec<_>>().into_iter()).len(), t.len());
    let d = HashCell::make(&h, ids::HASH.0);
    HashCell::replace(d, &mut h, c);
    HashCell::change(c, &mut h, |t| t.clear());
    assert_eq!((c.len(), d.len()), (0, many(1000, 60)));
}

#[test]
fn deleting_while_walking() {
    for size in [5, 8, 9, many(500, 50)] {
        let mut t = HashTable::default();
        (0..size).for_each(|n| {
            t.push(code(n), fix(n), Value::NIL);
        });
        t.iterating += 1;
        let mut seen = 0;
        // Positions stay what they are, although every entry goes when it is seen.
        for i in 0..t.slots() {
            let e = *t.entry(i).unwrap();
            assert_eq!(e.key, fix(i));
            assert_eq!(t.remove_at(i).key, fix(i));
            assert!(find(&t, i).is_none() && t.slots() == size);
            seen += 1;
        }
        assert_eq!((seen, t.len(), t.iter().count()), (size, 0, 0));
        t.clear();
        assert_eq!(t.slots(), size);
        t.iterating -= 1;
        t.compact();
        assert_eq!((t.slots(), t.wide.is_some()), (0, false));
        t.push(code(1), fix(1), Value::TRUE);
        assert_eq!(find(&t, 1), Some(0));
    }
}

#[test]
fn a_queue_does_not_grow() {
    let mut t = HashTable::default();
    for n in 0..many(20_000, 300) {
        t.push(code(n), fix(n), Value::NIL);
        if n >= 10 {
            let first = find(&t, n - 10).unwrap();
            t.remove_at(first);
        }
        assert!(t.slots() < 200, "{} entries for 10", t.slots());
    }
    assert_eq!(pairs(&t).len(), 10);
}

#[test]
fn against_a_model() {
    let mut below = random(0xdead_beef_1234_5679);
    let mut h = heap();
    let c = HashCell::make(&h, ids::HASH.0);
    let mut model: Vec<(Value, Value)> = Vec::new();
    let mut keys = 40;
    for step in 0..many(60_000, 1200) {
        let n = below(keys);
        let known = model.iter().position(|(k, _)| *k == fix(n));
        let none = HashTable::default();
        let t = c.table(&h).unwrap_or(&none);
        let at = find(t, n);
        assert_eq!(at.is_some(), known.is_some());
        match (below(12), at, known) {
            (0..=4, None, _) => {
                HashCell::change(c, &mut h, |t| t.push(code(n), fix(n), fix(step)));
                model.push((fix(n), fix(step)));
            }
            (0..=4, Some(i), Some(m)) => {
                HashCell::change(c, &mut h, |t| t.set_value(i, fix(step)));
                model[m].1 = fix(step);
            }
            (5..=9, Some(i), Some(m)) => {
                HashCell::change(c, &mut h, |t| t.remove_at(i));
                model.remove(m);
            }
            (10, ..) => HashCell::change(c, &mut h, |t| t.compact()),
            (11, ..) if below(20) == 0 => {
                HashCell::change(c, &mut h, |t| t.clear());
                model.clear();
                keys = [3, 9, 40, 200][below(4)];
            }
            _ => {}
        }
        assert_eq!(c.len(), model.len());
        if step % many(100, 60) == 0 {
            assert_eq!(c.table(&h).map_or(Vec::new(), pairs), model);
            assert_eq!(c.table(&h).map_or(0, |t| t.image().len()), model.len());
            h.collect(&mut |m: &mut Marker<'_>| m.mark_value_bits(c.as_value().bits()));
        }
    }
}

/// Debug builds check each minor marking against a full one, so an entry that was not noted panics.
#[test]
fn a_large_table_is_looked_at_where_it_was_written() {
    let (first, rounds) = if cfg!(miri) { (ALWAYS + 100, 6) } else { (6000, 300) };
    let mut h = heap();
    let hash = HashCell::make(&h, ids::HASH.0);
    let value = |h: &mut Heap, i: usize| ArrayCell::plain(h, &[fix(i)]).as_value();
    let set = |h: &mut Heap, i: usize, v: Value| {
        HashCell::change(hash, h, |t| match t.find(i as u64, |_| true) {
            Some(at) => t.set_value(at, v),
            None => {
                t.push(i as u64, Value::fixnum(i as i64), v);
            }
        })
    };
    for i in 0..first {
        let v = value(&mut h, i);
        set(&mut h, i, v);
    }
    let (mut seed, mut last) = (7usize, first);
    for round in 0..rounds {
        let mut roots = |m: &mut Marker<'_>| m.mark(hash.as_ptr().cast());
        match round % 7 {
            1..=3 => h.collect_step(12_000, &mut roots, &mut |_| {}),
            5 => h.collect(&mut roots),
            _ => h.collect_minor(&mut roots, &mut |_| {}),
        }
        for _ in 0..4 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let i = (seed >> 33) % last;
            let v = value(&mut h, i);
            match seed >> 60 {
                0 => HashCell::change(hash, &mut h, |t| {
                    if let Some(at) = t.find(i as u64, |_| true) {
                        t.remove_at(at);
                    }
                }),
                1 => HashCell::change(hash, &mut h, |t| t.compact()),
                2..5 => {
                    let v = value(&mut h, last);
                    set(&mut h, last, v);
                    last += 1;
                }
                _ => set(&mut h, i, v),
            }
        }
    }
    // Each value is its key's.
    for e in hash.table(&h).unwrap().iter() {
        assert_eq!(Ref::<ArrayCell>::of(e.value).elements(&h), [e.key]);
    }
    // What was written is noted, and little else is looked at.
    if !cfg!(miri) {
        h.collect_minor(&mut |m| m.mark(hash.as_ptr().cast()), &mut |_| {});
        let v = value(&mut h, 0);
        HashCell::change(hash, &mut h, |t| t.set_value(ALWAYS + 77, v));
        let noted = |h: Ref<HashCell>| h.table.wide.as_ref().unwrap().written.count();
        assert_eq!(noted(hash), 1);
        h.collect_minor(&mut |m| m.mark(hash.as_ptr().cast()), &mut |_| {});
        assert_eq!(noted(hash), 0);
    }
}
