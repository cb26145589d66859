//! Arrays against a Vec: inline, in a buffer, as slices that share one; what a window leaves in front and behind.

use super::*;
use crate::test_help::{heap, many, random};
use zakuro_heap::Marker;

impl Ref<ArrayCell> {
    /// A copy of the elements.
    fn list(self) -> Vec<Value> {
        (0..self.len()).map_while(|i| self.get(i)).collect()
    }
}
fn fix(n: usize) -> Value {
    Value::fixnum(n as i64)
}
fn numbers(n: usize) -> Vec<Value> {
    (0..n).map(fix).collect()
}

#[test]
fn inline_and_back_and_forth() {
    let mut h = heap();
    let a = ArrayCell::plain(&h, &numbers(INLINE));
    assert!(a.is_inline() && a.list() == numbers(INLINE));
    assert_eq!(ArrayCell::shift(a, &mut h), Some(fix(0)));
    assert_eq!(ArrayCell::pop(a), Some(fix(2)));
    ArrayCell::splice(a, &mut h, 0, 0, &[fix(7)]);
    assert_eq!(a.list(), [fix(7), fix(1)]);
    // It leaves the cell.
    for _ in 0..2 {
        let copy = a.list().to_vec();
        ArrayCell::extend(a, &mut h, &copy);
    }
    assert!(!a.is_inline());
    assert_eq!(a.list(), [7, 1, 7, 1, 7, 1, 7, 1].map(fix));
    ArrayCell::truncate(a, 0);
    assert_eq!((a.len(), ArrayCell::pop(a), ArrayCell::shift(a, &mut h)), (0, None, None));
    ArrayCell::store(a, &mut h, 20, fix(1));
    assert_eq!((a.len(), a.get(19), a.get(20), a.get(21)), (21, Some(Value::NIL), Some(fix(1)), None));
}

#[test]
fn cells_are_as_large_as_what_they_are_made_for() {
    let mut h = heap();
    for n in 0..=MOST_INLINE + 2 {
        let a = ArrayCell::plain(&h, &numbers(n));
        assert_eq!((a.list(), a.is_inline()), (numbers(n), n <= MOST_INLINE));
        let cell = h.cell_size(a.as_ptr() as *mut Header);
        assert!(cell >= if n <= MOST_INLINE { (room_for(n) + 1) * 8 } else { size_of::<ArrayCell>() });
        // Filled to its end, it leaves the cell, and comes back as what it is.
        let room = if a.is_inline() { a.room() } else { a.len() };
        for i in n..room {
            assert!(ArrayCell::try_push(a, fix(i)) && a.is_inline());
        }
        ArrayCell::push(a, &mut h, fix(room));
        assert_eq!((a.list(), a.is_inline()), (numbers(room + 1), false));
        assert_eq!(ArrayCell::shift(a, &mut h), Some(fix(0)));
        ArrayCell::release(a, &mut h);
        assert!(a.is_inline() && a.is_empty());
        ArrayCell::extend(a, &mut h, &numbers(a.room()));
        assert!(a.is_inline());
        let twin = ArrayCell::twin(&mut h, None, a);
        assert_eq!((twin.list(), twin.is_inline()), (a.list(), true));
        crate::cells::empty_moved(&mut h, a.as_value(), ids::OBJECT.0);
        assert_eq!((a.len(), a.get(0)), (0, None));
    }
}

#[test]
fn a_queue_uses_the_room_in_front() {
    let mut h = heap();
    let a = ArrayCell::plain(&h, &numbers(20));
    for i in 0..10 {
        assert_eq!(ArrayCell::shift(a, &mut h), Some(fix(i)));
    }
    let before = a.ptr();
    ArrayCell::splice(a, &mut h, 0, 0, &[fix(100), fix(101)]);
    assert_eq!(a.ptr(), before.wrapping_sub(2), "unshift into the room that shift left");
    assert_eq!((a.len(), a.get(0), a.get(2)), (12, Some(fix(100)), Some(fix(10))));
    ArrayCell::splice(a, &mut h, 1, 11, &[]);
    assert_eq!(a.list(), [fix(100), fix(19)]);
    ArrayCell::splice(a, &mut h, 2, 2, &numbers(30));
    assert_eq!((a.len(), a.get(31)), (32, Some(fix(29))));
}

#[test]
fn slices_share_until_somebody_writes() {
    let mut h = heap();
    let all = numbers(40);
    let a = ArrayCell::plain(&h, &all);
    let b = ArrayCell::slice(&h, ids::ARRAY.0, a, 5, 35);
    let c = ArrayCell::slice(&h, ids::ARRAY.0, b, 1, 30);
    assert_eq!(b.ptr(), a.ptr().wrapping_add(5));
    assert_eq!(c.list(), &all[6..35]);
    // Shifting and truncating move the window only.
    ArrayCell::shift(c, &mut h);
    ArrayCell::truncate(c, 20);
    assert_eq!(c.ptr(), a.ptr().wrapping_add(7));
    ArrayCell::set(b, &mut h, 0, Value::NIL);
    ArrayCell::push(c, &mut h, Value::TRUE);
    assert_eq!(a.list(), all);
    assert_eq!((b.get(0), b.get(1), c.get(0), c.get(20)), (Some(Value::NIL), Some(fix(6)), Some(fix(7)), Some(Value::TRUE)));
    // The last holder writes in place.
    ArrayCell::truncate(b, 0);
    let d = ArrayCell::empty(&h, ids::ARRAY.0);
    ArrayCell::replace_shared(d, &mut h, a);
    ArrayCell::replace_shared(d, &mut h, d);
    ArrayCell::replace_shared(c, &mut h, d);
    ArrayCell::as_mut_slice(d, &mut h).reverse();
    assert_eq!((a.list(), c.list(), d.get(0)), (all.clone(), all.clone(), Some(fix(39))));
}

#[test]
fn shared_buffers_of_immediates() {
    let (mut h, mut other) = (heap(), heap());
    let a = ArrayCell::plain(&h, &numbers(32));
    let (buf, offset, len) = ArrayCell::share(a, Some(&h)).unwrap();
    assert!(a.is_immediate());
    let b = ArrayCell::from_shared(&other, ids::ARRAY.0, buf, offset, len);
    assert_eq!(b.ptr(), a.ptr());
    // Either side copies before it writes, and is told so by the mark.
    ArrayCell::push(a, &mut h, a.as_value());
    assert!(!a.is_immediate() && ArrayCell::share(a, Some(&h)).is_none());
    assert_eq!(b.list(), numbers(32));
    ArrayCell::shift(b, &mut other);
    let twin = ArrayCell::twin(&mut other, None, b);
    assert_eq!(twin.ptr(), b.ptr());
    drop(h);
    ArrayCell::set(b, &mut other, 0, Value::NIL);
    assert_eq!((twin.get(0), b.get(0), b.len()), (Some(fix(1)), Some(Value::NIL), 31));
}

#[test]
fn moved_away_in_the_middle() {
    let mut h = heap();
    for n in [2, 20] {
        let a = ArrayCell::plain(&h, &numbers(n));
        let kept: Ref<ArrayCell> = a;
        crate::cells::empty_moved(&mut h, a.as_value(), ids::OBJECT.0);
        assert_eq!((kept.len(), kept.get(0)), (0, None));
        assert_eq!(a.as_value().kind_of_cell(), Kind::MovedArray);
    }
}

#[test]
fn a_collection_frees_what_nothing_holds() {
    let mut h = heap();
    let a = ArrayCell::plain(&h, &[Value::NIL; 30]);
    for i in 0..30 {
        let inner = ArrayCell::plain(&h, &numbers(i));
        ArrayCell::set(a, &mut h, i, inner.as_value());
    }
    let b = ArrayCell::slice(&h, ids::ARRAY.0, a, 10, 30);
    // Only the slice is a root: the buffer, and what it shows of it, stay.
    h.collect(&mut |m: &mut Marker<'_>| m.mark_value_bits(b.as_value().bits()));
    h.collect_all_sweep();
    for i in 0..20 {
        assert_eq!(Ref::<ArrayCell>::of(b.get(i).unwrap()).list(), numbers(i + 10));
    }
}

#[test]
fn against_a_model() {
    let mut below = random(0x9e37_79b9_7f4a_7c15);
    let mut h = heap();
    let mut cells: Vec<(Ref<ArrayCell>, Vec<Value>)> = vec![(ArrayCell::plain(&h, &numbers(25)), numbers(25))];
    for step in 0..many(40_000, 400) {
        let k = below(cells.len());
        let n = cells[k].1.len();
        match below(11) {
            0 | 1 => {
                ArrayCell::push(cells[k].0, &mut h, fix(step));
                cells[k].1.push(fix(step));
            }
            2 => assert_eq!(ArrayCell::pop(cells[k].0), cells[k].1.pop()),
            3 => assert_eq!(ArrayCell::shift(cells[k].0, &mut h), (n > 0).then(|| cells[k].1.remove(0))),
            4 => {
                let (start, with) = (below(n + 1), numbers(below(6)));
                let end = start + below(n - start + 1);
                ArrayCell::splice(cells[k].0, &mut h, start, end, &with);
                cells[k].1.splice(start..end, with);
            }
            5 if n > 0 => {
                let i = below(n);
                ArrayCell::set(cells[k].0, &mut h, i, fix(step));
                cells[k].1[i] = fix(step);
            }
            6 | 7 => {
                let start = below(n + 1);
                let end = start + below(n - start + 1);
                let a = ArrayCell::slice(&h, ids::ARRAY.0, cells[k].0, start, end);
                let model = cells[k].1[start..end].to_vec();
                cells.push((a, model));
            }
            8 => {
                let from = below(cells.len());
                ArrayCell::replace_shared(cells[k].0, &mut h, cells[from].0);
                cells[k].1 = cells[from].1.clone();
            }
            9 => {
                let more = numbers(below(20));
                ArrayCell::extend(cells[k].0, &mut h, &more);
                cells[k].1.extend(more);
            }
            _ => {
                let _ = ArrayCell::share(cells[k].0, Some(&h));
            }
        }
        if cells.len() > 12 {
            cells.swap_remove(below(12));
        }
        if step % many(1000, 100) == 0 {
            h.collect(&mut |m: &mut Marker<'_>| cells.iter().for_each(|c| m.mark_value_bits(c.0.as_value().bits())));
        }
        if n > 200 {
            ArrayCell::truncate(cells[0].0, 3);
            cells[0].1.truncate(3);
        }
        let k = below(cells.len());
        assert_eq!(cells[k].0.list(), cells[k].1);
    }
}

/// Debug builds check each minor marking against a full one, so a store that was not noted panics.
#[test]
fn a_large_array_is_looked_at_where_it_was_written() {
    let (first, rounds) = if cfg!(miri) { (WATCHED + 40, 8) } else { (40_000, 400) };
    let mut h = heap();
    let a = ArrayCell::empty(&h, ids::ARRAY.0);
    let value = |h: &Heap, i: usize| ArrayCell::plain(h, &[fix(i)]).as_value();
    for i in 0..first {
        let v = value(&h, i);
        ArrayCell::push(a, &mut h, v);
    }
    let mut model: Vec<usize> = (0..first).collect();
    let mut seed = 7usize;
    for round in 0..rounds {
        let mut roots = |m: &mut Marker<'_>| m.mark(a.as_ptr().cast());
        match round % 7 {
            1..=3 => h.collect_step(12_000, &mut roots, &mut |_| {}),
            5 => h.collect(&mut roots),
            _ => h.collect_minor(&mut roots, &mut |_| {}),
        }
        for _ in 0..6 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let (i, n) = ((seed >> 33) % model.len(), round + first);
            let v = value(&h, n);
            match seed >> 60 {
                0 => {
                    ArrayCell::shift(a, &mut h);
                    model.remove(0);
                }
                1 => {
                    ArrayCell::pop(a);
                    model.pop();
                }
                2 => {
                    let more = [value(&h, n), value(&h, n + 1)];
                    ArrayCell::extend(a, &mut h, &more);
                    model.extend([n, n + 1]);
                }
                3 => {
                    ArrayCell::splice(a, &mut h, i, i, &[v]);
                    model.insert(i, n);
                }
                4..8 => {
                    ArrayCell::push(a, &mut h, v);
                    model.push(n);
                }
                8 => {
                    // Two change places, perhaps across the parts of a marking.
                    let (j, moved) = (model.len() - 1 - i, a.get(i).unwrap());
                    let other = a.get(j).unwrap();
                    ArrayCell::set(a, &mut h, i, other);
                    ArrayCell::set(a, &mut h, j, moved);
                    model.swap(i, j);
                }
                _ => {
                    ArrayCell::set(a, &mut h, i, v);
                    model[i] = n;
                }
            }
        }
    }
    let kept: Vec<Value> = a.elements(&h).iter().map(|v| Ref::<ArrayCell>::of(*v).elements(&h)[0]).collect();
    assert_eq!(kept, model.iter().map(|n| fix(*n)).collect::<Vec<_>>());
    // What was written is traced again, and the Array keeps the flag by which single stores are told.
    h.collect_minor(&mut |m| m.mark(a.as_ptr().cast()), &mut |_| {});
    let v = value(&h, 0);
    ArrayCell::set(a, &mut h, 3, v);
    assert_ne!(a.header.flags & flags::OLD, 0);
    ArrayCell::shift(a, &mut h);
    assert_eq!(a.header.flags & flags::OLD, 0);
}
