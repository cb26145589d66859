//! Free runs against a bit-by-bit model.

use super::*;

fn zeroed() -> Box<Body> {
    // SAFETY: all fields of Body are valid when zero (State::Swept is 0).
    unsafe { Box::new(std::mem::zeroed()) }
}

#[test]
fn fresh_block_is_one_run() {
    for (class, size) in SIZES.iter().enumerate().step_by(if cfg!(miri) { 5 } else { 1 }) {
        let mut b = zeroed();
        let cells = b.init(class, 0, &Cell::new(NONE));
        assert_eq!(cells, BLOCK_SIZE / *size as usize);
        assert_eq!(b.take_run(0), None);
        assert_eq!(b.alloc.iter().map(|w| w.count_ones() as usize).sum::<usize>(), cells);
        b.give_back(0, cells);
        assert_eq!(b.take_run(0), Some((0, cells)));
        assert_eq!(b.alloc.iter().map(|w| w.count_ones() as usize).sum::<usize>(), cells);
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
        let mut b = zeroed();
        b.init(class, 0, &Cell::new(NONE));
        let cells = b.cells as usize;
        for w in 0..b.words() {
            b.alloc[w] = match next() % 4 {
                0 => 0,
                1 => !0,
                2 => next() & next(),
                _ => next() | next(),
            };
        }
        let model: Vec<bool> = (0..cells).map(|i| b.alloc[i / 64] >> (i % 64) & 1 == 1).collect();
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
