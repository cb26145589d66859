//! Strings against a Vec: inline, in a buffer, as substrings that share one; appending to itself.

use super::*;
use crate::test_help::{heap, many, random};
use zakuro_heap::Marker;

fn text(n: usize) -> Vec<u8> {
    (0..n).map(|i| b'a' + (i % 26) as u8).collect()
}

#[test]
fn inline_to_buffer() {
    let mut h = heap();
    for n in [0, 1, INLINE - 1, INLINE, INLINE + 1, 100] {
        let s = StringCell::plain(&h, &text(n), UTF8);
        assert_eq!((s.bytes(), s.len(), s.is_inline(), s.encoding()), (&*text(n), n, n <= INLINE, UTF8));
        StringCell::append(s, &mut h, b"xyz");
        assert_eq!(s.bytes(), [&text(n)[..], b"xyz"].concat());
        // To itself: in place where it fits, else into the next buffer.
        let once = s.bytes().to_vec();
        for _ in 0..4 {
            StringCell::try_append_string(s, &mut h, s).unwrap();
        }
        assert_eq!(s.bytes(), once.repeat(16));
        // A part of itself is another String, which may share the buffer.
        let part = StringCell::substring(&h, ids::STRING.0, s, 1, s.len());
        StringCell::set_bytes(s, &mut h, part.bytes());
        StringCell::try_append_string(s, &mut h, part).unwrap();
        assert_eq!(s.bytes(), once.repeat(16)[1..].repeat(2));
        StringCell::splice(s, &mut h, 0, 2, b"");
        StringCell::splice(s, &mut h, 1, 2, part.bytes());
        assert_eq!(s.bytes()[part.len() + 1..], part.bytes().repeat(2)[4..]);
    }
}

#[test]
fn room_is_kept() {
    let mut h = heap();
    let s = StringCell::plain(&h, b"", BINARY);
    StringCell::ensure_capacity(s, &mut h, 1000).unwrap();
    let at = s.bytes().as_ptr();
    for _ in 0..100 {
        StringCell::try_append(s, &mut h, b"0123456789").unwrap();
    }
    assert_eq!((s.bytes().as_ptr(), s.len()), (at, 1000));
    StringCell::truncate(s, &mut h, 5);
    StringCell::bytes_mut(s, &mut h)[0] = b'X';
    assert_eq!(s.bytes(), b"X1234");
}

#[test]
fn substrings_share_until_somebody_writes() {
    let mut h = heap();
    let all = text(300);
    let s = StringCell::plain(&h, &all, UTF8);
    let a = StringCell::substring(&h, ids::STRING.0, s, 10, 290);
    let b = StringCell::substring(&h, ids::STRING.0, a, 5, 200);
    assert_eq!(b.bytes().as_ptr(), s.bytes().as_ptr().wrapping_add(15));
    StringCell::append(a, &mut h, b"!");
    let c = b;
    StringCell::bytes_mut(c, &mut h)[0] = b'?';
    assert_eq!((s.bytes(), &a.bytes()[..280], a.len(), &b.bytes()[1..]), (&*all, &all[10..290], 281, &all[16..210]));
    // As `split` does: pieces that share, and short ones that don't.
    let pieces: Vec<_> = [(0, 100), (100, 103), (103, 300)].map(|(x, y)| StringCell::substring(&h, ids::STRING.0, s, x, y)).into();
    assert!(pieces[1].is_inline());
    StringCell::set_bytes(s, &mut h, b"gone");
    let joined: Vec<u8> = pieces.iter().flat_map(|p| p.bytes().to_vec()).collect();
    assert_eq!(joined, all);
}

#[test]
fn buffers_on_their_way() {
    let (mut h, mut other) = (heap(), heap());
    let s = StringCell::plain(&h, &text(500), UTF8);
    assert!(StringCell::share(StringCell::plain(&h, b"short", UTF8), Some(&h)).is_none());
    let (buf, offset, len) = StringCell::share(s, Some(&h)).unwrap();
    let t = StringCell::from_shared(&other, ids::STRING.0, buf, offset, len, UTF8);
    assert_eq!(t.bytes().as_ptr(), s.bytes().as_ptr());
    let twin = StringCell::twin(&mut other, None, t);
    StringCell::append(t, &mut other, b"?");
    StringCell::append(s, &mut h, b"!");
    assert_eq!((s.bytes()[500], t.bytes()[500], twin.bytes()), (b'!', b'?', &*text(500)));
    drop(h);
    assert_eq!((t.len(), twin.len()), (501, 500));
    crate::cells::empty_moved(&mut other, t.as_value(), ids::OBJECT.0);
    assert_eq!(t.bytes(), b"");
}

/// What a heap accounts for after a full collection from these roots.
fn counted(h: &mut Heap, roots: &[Value]) -> usize {
    h.collect(&mut |m| roots.iter().for_each(|v| m.mark_value_bits(v.bits())));
    h.collect_all_sweep();
    h.stats().payload_bytes
}

#[test]
fn a_buffer_counts_until_the_last_cell_lets_go() {
    let mut h = heap();
    let s = StringCell::plain(&h, &text(5000), UTF8).as_value();
    let all = counted(&mut h, &[s]);
    assert!(all >= 5000);
    let part = StringCell::substring(&h, ids::STRING.0, Ref::of(s), 10, 110).as_value();
    let other = StringCell::substring(&h, ids::STRING.0, Ref::of(s), 500, 900).as_value();
    assert_eq!(counted(&mut h, &[s, part, other]), all);
    assert_eq!(counted(&mut h, &[part, other]), all);
    // A writer gets one of its own.
    StringCell::append(Ref::of(other), &mut h, b"!");
    let (with, own) = (h.stats().payload_bytes, counted(&mut h, &[other]));
    assert!(own > 400 && with == all + own, "{with} {own}");
    assert_eq!(counted(&mut h, &[]), 0);

    // Who shows a part sends a copy; who is left alone sends what it has, and counts it from then on.
    let s = StringCell::plain(&h, &text(5000), UTF8).as_value();
    let part = StringCell::substring(&h, ids::STRING.0, Ref::of(s), 10, 4010).as_value();
    let at = Ref::<StringCell>::of(part).address();
    let copy = StringCell::share(Ref::of(part), Some(&h)).unwrap();
    assert!(copy.0.is_unique() && copy.2 == 4000 && counted(&mut h, &[part]) == all);
    let sent = StringCell::share(Ref::of(part), Some(&h)).unwrap();
    assert_eq!((sent.0.data().addr() + sent.1, counted(&mut h, &[part])), (at, all));
    // Its receiver counts it anew if it has a limit, and when nobody else has it.
    let mut limited = heap();
    limited.set_limit(1 << 20, 0);
    let t = StringCell::from_shared(&limited, ids::STRING.0, sent.0.clone(), sent.1, sent.2, UTF8).as_value();
    assert_eq!(counted(&mut limited, &[t]), all);
    let much = StringCell::substring(&limited, ids::STRING.0, Ref::of(t), 0, 3900).as_value();
    let little = StringCell::substring(&limited, ids::STRING.0, Ref::of(t), 0, 1000).as_value();
    assert_eq!(Ref::<StringCell>::of(much).address(), at);
    let copied = counted(&mut limited, &[t, much, little]) - 2 * all;
    assert!((1000..2000).contains(&copied), "{copied}");
    assert_eq!((counted(&mut limited, &[much]), counted(&mut h, &[])), (all, 0));
    assert_eq!(counted(&mut limited, &[]), 0);
    let mut last = heap();
    let (buf, offset, len) = sent;
    let u = StringCell::from_shared(&last, ids::STRING.0, buf, offset, len, UTF8).as_value();
    let part = StringCell::substring(&last, ids::STRING.0, Ref::of(u), 0, 100).as_value();
    assert_eq!((counted(&mut last, &[part]), counted(&mut last, &[])), (all, 0));
}

#[test]
fn against_a_model() {
    let mut below = random(0x1234_5678_9abc_def1);
    let mut h = heap();
    let mut cells: Vec<(Ref<StringCell>, Vec<u8>)> = vec![(StringCell::plain(&h, &text(150), UTF8), text(150))];
    for step in 0..many(40_000, 400) {
        let k = below(cells.len());
        let n = cells[k].1.len();
        match below(8) {
            0..=2 => {
                let more = text(below(40));
                StringCell::append(cells[k].0, &mut h, &more);
                cells[k].1.extend(more);
            }
            3 => {
                let from = below(cells.len());
                let other: Ref<StringCell> = cells[from].0;
                StringCell::try_append_string(cells[k].0, &mut h, other).unwrap();
                let more = cells[from].1.clone();
                cells[k].1.extend(more);
            }
            4 | 5 => {
                let start = below(n + 1);
                let end = start + below(n - start + 1);
                let s = StringCell::substring(&h, ids::STRING.0, cells[k].0, start, end);
                let model = cells[k].1[start..end].to_vec();
                cells.push((s, model));
            }
            6 => {
                let (start, with) = (below(n + 1), text(below(6)));
                let end = start + below(n - start + 1);
                StringCell::splice(cells[k].0, &mut h, start, end, &with);
                cells[k].1.splice(start..end, with);
            }
            _ => {
                StringCell::truncate(cells[k].0, &mut h, n / 2);
                cells[k].1.truncate(n / 2);
            }
        }
        if cells[k].1.len() > 2000 {
            StringCell::truncate(cells[k].0, &mut h, 10);
            cells[k].1.truncate(10);
        }
        if cells.len() > 12 {
            cells.swap_remove(below(12));
        }
        if step % many(1000, 100) == 0 {
            h.collect(&mut |m: &mut Marker<'_>| cells.iter().for_each(|c| m.mark_value_bits(c.0.as_value().bits())));
        }
        let k = below(cells.len());
        assert_eq!(cells[k].0.bytes(), cells[k].1);
    }
}
