//! Free runs against a bit-by-bit model.

use super::*;

/// A block's row and its long bitmaps, of the least favourable past.
struct Row(Box<BlockMeta>, Box<FarBits>);

impl Row {
    fn new() -> Row {
        // SAFETY: all fields are valid when zero (State::Swept is 0).
        let meta: Box<BlockMeta> = unsafe { Box::new(std::mem::zeroed()) };
        // SAFETY: nobody else looks at it.
        unsafe { meta.near().write_bytes(0xa5, 4 * NEAR) };
        Row(meta, Box::new([!0; 4 * WORDS]))
    }
    fn init(&mut self, class: usize) -> &mut Body {
        // SAFETY: the row and its bitmaps live as long as the result.
        unsafe {
            let body = &mut *self.0.body();
            body.init(class, 0, &Cell::new(NONE), self.0.near(), self.1.as_mut_ptr());
            body
        }
    }
}

#[test]
fn bitmaps_stand_apart() {
    for (class, size) in SIZES.iter().enumerate() {
        let mut row = Row::new();
        let b = row.init(class);
        let words = b.words();
        assert_eq!(words, (BLOCK_SIZE / *size as usize).div_ceil(64));
        let all = [b.mark().to_vec(), b.fin().to_vec(), b.revisit().to_vec()];
        assert_eq!(all, [vec![0; words], vec![0; words], vec![0; words]], "class {class}");
        b.mark_mut().fill(1);
        b.fin_mut().fill(2);
        b.revisit_mut().fill(3);
        b.alloc_mut().fill(4);
        let all = [b.alloc().to_vec(), b.mark().to_vec(), b.fin().to_vec(), b.revisit().to_vec()];
        assert_eq!(all, [vec![4; words], vec![1; words], vec![2; words], vec![3; words]], "class {class}");
        let (near, marks) = (words <= NEAR, b.marks());
        assert!(b.is_marked(0) && !b.is_marked(1));
        b.clear_marks();
        assert!(!b.is_marked(0));
        b.set_marks(&marks);
        assert_eq!((b.mark(), b.revisit()), (&*vec![1; words], &*vec![3; words]));
        assert_eq!(row.1.iter().all(|w| *w == !0), near, "short bitmaps stand behind the row, long ones do not");
    }
}

#[test]
fn fresh_block_is_one_run() {
    for (class, size) in SIZES.iter().enumerate().step_by(if cfg!(miri) { 5 } else { 1 }) {
        let mut row = Row::new();
        let b = row.init(class);
        let cells = b.cells as usize;
        assert_eq!(cells, BLOCK_SIZE / *size as usize);
        assert_eq!(b.take_run(0), None);
        assert_eq!(b.alloc().iter().map(|w| w.count_ones() as usize).sum::<usize>(), cells);
        b.give_back(0, cells);
        assert_eq!(b.take_run(0), Some((0, cells)));
        assert_eq!(b.alloc().iter().map(|w| w.count_ones() as usize).sum::<usize>(), cells);
        b.give_back(3, cells);
        assert_eq!(b.take_run(1), Some((3, cells)));
    }
}

#[test]
fn runs_match_the_model() {
    let mut seed = 0x1234_5678_9abc_def1u64;
    let mut next = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    for round in (0..500).step_by(if cfg!(miri) { 99 } else { 1 }) {
        let class = round % SIZES.len();
        let mut row = Row::new();
        let b = row.init(class);
        let cells = b.cells as usize;
        for w in 0..b.words() {
            b.alloc_mut()[w] = match next() % 4 {
                0 => 0,
                1 => !0,
                2 => next() & next(),
                _ => next() | next(),
            };
        }
        let model: Vec<bool> = (0..cells).map(|i| b.alloc()[i / 64] >> (i % 64) & 1 == 1).collect();
        let mut at = 0;
        loop {
            let start = (at..cells).find(|&i| !model[i]);
            let want = start.map(|s| (s, (s..cells).find(|&i| model[i]).unwrap_or(cells)));
            assert_eq!(b.take_run(at), want);
            match want {
                Some((_, end)) => at = end,
                None => break,
            }
        }
        assert_eq!(b.take_run(0), None);
    }
}
