//! DES (FIPS 46-3) with crypt's change: bits of the salt swap halves of the expansion.
//!
//! The standard's tables, read bit by bit, make the keys and one table at compile time, which does a round's boxes, their permutation and the next round's expansion in eight
//! look-ups: both halves stay expanded, 48 bits each, since each bit of an expansion is one of what it expands. The last permutation of one encryption and the first of the next undo each other.

use super::DIGITS;

/// Positions of the standard's tables count from 1 and from the left.
static LAST: [u8; 64] = [
    40, 8, 48, 16, 56, 24, 64, 32, 39, 7, 47, 15, 55, 23, 63, 31, 38, 6, 46, 14, 54, 22, 62, 30, 37, 5, 45, 13, 53, 21, 61, 29, 36, 4, 44,
    12, 52, 20, 60, 28, 35, 3, 43, 11, 51, 19, 59, 27, 34, 2, 42, 10, 50, 18, 58, 26, 33, 1, 41, 9, 49, 17, 57, 25,
];
const EXPANSION: [u8; 48] = [
    32, 1, 2, 3, 4, 5, 4, 5, 6, 7, 8, 9, 8, 9, 10, 11, 12, 13, 12, 13, 14, 15, 16, 17, 16, 17, 18, 19, 20, 21, 20, 21, 22, 23, 24, 25, 24,
    25, 26, 27, 28, 29, 28, 29, 30, 31, 32, 1,
];
const PERMUTATION: [u8; 32] =
    [16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10, 2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4, 25];
static CHOICE_1: [u8; 56] = [
    57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44, 36, 63, 55, 47, 39, 31, 23, 15,
    7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20, 12, 4,
];
static CHOICE_2: [u8; 48] = [
    14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2, 41, 52, 31, 37, 47, 55, 30, 40, 51, 45, 33, 48,
    44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
];
static SHIFTS: [u32; 16] = [1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1];
const BOXES: [[u8; 64]; 8] = [
    [
        14, 4, 13, 1, 2, 15, 11, 8, 3, 10, 6, 12, 5, 9, 0, 7, 0, 15, 7, 4, 14, 2, 13, 1, 10, 6, 12, 11, 9, 5, 3, 8, 4, 1, 14, 8, 13, 6, 2,
        11, 15, 12, 9, 7, 3, 10, 5, 0, 15, 12, 8, 2, 4, 9, 1, 7, 5, 11, 3, 14, 10, 0, 6, 13,
    ],
    [
        15, 1, 8, 14, 6, 11, 3, 4, 9, 7, 2, 13, 12, 0, 5, 10, 3, 13, 4, 7, 15, 2, 8, 14, 12, 0, 1, 10, 6, 9, 11, 5, 0, 14, 7, 11, 10, 4,
        13, 1, 5, 8, 12, 6, 9, 3, 2, 15, 13, 8, 10, 1, 3, 15, 4, 2, 11, 6, 7, 12, 0, 5, 14, 9,
    ],
    [
        10, 0, 9, 14, 6, 3, 15, 5, 1, 13, 12, 7, 11, 4, 2, 8, 13, 7, 0, 9, 3, 4, 6, 10, 2, 8, 5, 14, 12, 11, 15, 1, 13, 6, 4, 9, 8, 15, 3,
        0, 11, 1, 2, 12, 5, 10, 14, 7, 1, 10, 13, 0, 6, 9, 8, 7, 4, 15, 14, 3, 11, 5, 2, 12,
    ],
    [
        7, 13, 14, 3, 0, 6, 9, 10, 1, 2, 8, 5, 11, 12, 4, 15, 13, 8, 11, 5, 6, 15, 0, 3, 4, 7, 2, 12, 1, 10, 14, 9, 10, 6, 9, 0, 12, 11, 7,
        13, 15, 1, 3, 14, 5, 2, 8, 4, 3, 15, 0, 6, 10, 1, 13, 8, 9, 4, 5, 11, 12, 7, 2, 14,
    ],
    [
        2, 12, 4, 1, 7, 10, 11, 6, 8, 5, 3, 15, 13, 0, 14, 9, 14, 11, 2, 12, 4, 7, 13, 1, 5, 0, 15, 10, 3, 9, 8, 6, 4, 2, 1, 11, 10, 13, 7,
        8, 15, 9, 12, 5, 6, 3, 0, 14, 11, 8, 12, 7, 1, 14, 2, 13, 6, 15, 0, 9, 10, 4, 5, 3,
    ],
    [
        12, 1, 10, 15, 9, 2, 6, 8, 0, 13, 3, 4, 14, 7, 5, 11, 10, 15, 4, 2, 7, 12, 9, 5, 6, 1, 13, 14, 0, 11, 3, 8, 9, 14, 15, 5, 2, 8, 12,
        3, 7, 0, 4, 10, 1, 13, 11, 6, 4, 3, 2, 12, 9, 5, 15, 10, 11, 14, 1, 7, 6, 0, 8, 13,
    ],
    [
        4, 11, 2, 14, 15, 0, 8, 13, 3, 12, 9, 7, 5, 10, 6, 1, 13, 0, 11, 7, 4, 9, 1, 10, 14, 3, 5, 12, 2, 15, 8, 6, 1, 4, 11, 13, 12, 3, 7,
        14, 10, 15, 6, 8, 0, 5, 9, 2, 6, 11, 13, 8, 1, 4, 10, 7, 9, 5, 0, 15, 14, 2, 3, 12,
    ],
    [
        13, 2, 8, 4, 6, 15, 11, 1, 10, 9, 3, 14, 5, 0, 12, 7, 1, 15, 13, 8, 10, 3, 7, 4, 12, 5, 6, 11, 0, 14, 9, 2, 7, 11, 4, 1, 9, 12, 14,
        2, 0, 6, 10, 13, 15, 3, 5, 8, 2, 1, 14, 7, 4, 10, 8, 13, 15, 12, 9, 0, 3, 5, 6, 11,
    ],
];

/// Picks bits of a number of `width` bits.
const fn pick(bits: u64, width: u32, table: &[u8]) -> u64 {
    let (mut out, mut i) = (0, 0);
    while i < table.len() {
        out = out << 1 | bits >> (width - table[i] as u32) & 1;
        i += 1;
    }
    out
}

/// What each box puts out for six bits, permuted and expanded.
static EXPANDED: [[u64; 64]; 8] = {
    let mut all = [[0; 64]; 8];
    let mut i = 0;
    while i < 8 {
        let mut six = 0;
        while six < 64 {
            // Row: the outer bits; column: the inner ones.
            let four = BOXES[i][(six & 32 | (six & 1) << 4) | six >> 1 & 15] as u64;
            all[i][six] = pick(pick(four << (28 - 4 * i), 32, &PERMUTATION), 32, &EXPANSION);
            six += 1;
        }
        i += 1;
    }
    all
};

/// The half that an expansion is of: the inner four of each six bits.
fn unexpanded(e: u64) -> u64 {
    (0..8).fold(0, |half, i| half << 4 | e >> (43 - 6 * i) & 15)
}

fn keys(key: u64) -> [u64; 16] {
    let chosen = pick(key, 64, &CHOICE_1);
    let (mut c, mut d) = (chosen >> 28, chosen & 0xfff_ffff);
    std::array::from_fn(|i| {
        let n = SHIFTS[i];
        c = (c << n | c >> (28 - n)) & 0xfff_ffff;
        d = (d << n | d >> (28 - n)) & 0xfff_ffff;
        pick(c << 28 | d, 56, &CHOICE_2)
    })
}

/// A bit of `swap` exchanges a bit of the expansion's left half with the one 24 places on.
fn round(right: u64, key: u64, swap: u64) -> u64 {
    let changed = (right >> 24 ^ right) & swap;
    let e = right ^ changed << 24 ^ changed ^ key;
    EXPANDED.iter().enumerate().fold(0, |out, (i, table)| out ^ table[(e >> (42 - 6 * i) & 63) as usize])
}

/// The two characters of the salt, and eleven digits.
pub fn hash(password: &[u8], name: [u8; 2], salt: u32) -> Vec<u8> {
    let key = (0..8).fold(0, |key, i| key << 8 | (password.get(i).copied().unwrap_or(0) as u64 & 127) << 1);
    let keys = keys(key);
    // The salt's lowest bit is the expansion's first.
    let swap = (salt.reverse_bits() >> 8) as u64;
    let (mut left, mut right) = (0, 0);
    for _ in 0..25 {
        for key in keys {
            (left, right) = (right, left ^ round(right, key, swap));
        }
        (left, right) = (right, left);
    }
    let block = pick(unexpanded(left) << 32 | unexpanded(right), 64, &LAST);
    let mut out = name.to_vec();
    // 66 bits, the last two of them 0.
    out.extend((0..11).map(|i| DIGITS[(((block as u128) << 2) >> (60 - 6 * i) & 63) as usize]));
    out
}
