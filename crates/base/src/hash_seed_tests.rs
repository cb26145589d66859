//! Tests of seeds and masks.

use super::*;

fn seed(n: u64) -> HashSeed {
    let mut state = n;
    HashSeed::new([(); 5].map(|()| next_word(&mut state)))
}

#[test]
fn mask_is_a_permutation() {
    let s = seed(1);
    for _ in 0..10 {
        let m = s.mask();
        let mut state = 7;
        for i in 0..1000u64 {
            for code in [i, i << 40, next_word(&mut state), !i] {
                let shown = m.show(code);
                assert!((-(1 << 61)..1 << 61).contains(&shown));
                assert_eq!(m.hidden(shown), whole(code), "{code:x}");
            }
        }
    }
}

#[test]
fn masks_and_seeds_differ() {
    let (a, b) = (seed(1), seed(2));
    let (m, n) = (a.mask(), a.mask());
    let shown: std::collections::HashSet<i64> =
        [a.bytes(b"abc"), b.bytes(b"abc"), a.word(3), b.word(3)].iter().flat_map(|c| [m.show(*c), n.show(*c)]).collect();
    assert_eq!(shown.len(), 8);
}

/// Places that keys chosen without knowing the seed take in a table of as many: as evenly as random ones.
#[test]
fn keys_with_a_pattern_spread() {
    let patterns: [fn(u64) -> u64; 6] =
        [|i| i, |i| i << 12, |i| i << 48, |i| i * 0x1_0001, |i| i.reverse_bits(), |i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)];
    for n in 0..50 {
        let s = seed(n);
        for (at, p) in patterns.iter().enumerate() {
            for bytes in [false, true] {
                let mut places = vec![0u32; 4096];
                for i in 0..4096 {
                    let code = if bytes { s.bytes(&p(i).to_le_bytes()) } else { s.word(p(i)) };
                    places[code as usize % 4096] += 1;
                }
                let most = places.iter().max().copied().unwrap_or(0);
                assert!(most < 40, "seed {n}, pattern {at}: {most} in one place");
            }
        }
    }
}
