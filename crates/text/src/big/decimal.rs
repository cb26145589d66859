//! Decimal digits of numbers of some dozen limbs: nineteen at a time, each time by one pass of divisions by a constant, which are multiplications with its reciprocal.
//!
//! Möller and Granlund, "Improved division by invariant integers" (2011), algorithm 4. The loop is quadratic; [`super::text`] splits what is longer.

use num_bigint::{BigInt, BigUint, Sign};

/// Digits of a chunk, and the power of ten above it, whose highest bit is set.
const WIDTH: usize = 19;
const CHUNK: u64 = 10_000_000_000_000_000_000;
const RECIPROCAL: u64 = (u128::MAX / CHUNK as u128 - (1 << 64)) as u64;

/// Divides `rest` and the limb below it by [`CHUNK`]: quotient and remainder.
#[inline(always)]
fn divide(rest: u64, limb: u64) -> (u64, u64) {
    let product = (RECIPROCAL as u128 * rest as u128).wrapping_add((rest as u128) << 64 | limb as u128);
    let (mut quotient, low) = (((product >> 64) as u64).wrapping_add(1), product as u64);
    let mut rest = limb.wrapping_sub(quotient.wrapping_mul(CHUNK));
    if rest > low {
        quotient = quotient.wrapping_sub(1);
        rest = rest.wrapping_add(CHUNK);
    }
    if rest >= CHUNK {
        quotient = quotient.wrapping_add(1);
        rest -= CHUNK;
    }
    (quotient, rest)
}

/// Divides limbs, the lowest first, by [`CHUNK`] in place, N times. The remainders. One division waits for the one of the limb above, so those of several rounds go side by side.
fn take_chunks<const N: usize>(limbs: &mut [u64]) -> [u64; N] {
    let mut rests = [0; N];
    for limb in limbs.iter_mut().rev() {
        for rest in &mut rests {
            (*limb, *rest) = divide(*rest, *limb);
        }
    }
    rests
}

/// Digits of a number below 100, as letters.
const PAIRS: [[u8; 2]; 100] = {
    let mut all = [[0; 2]; 100];
    let mut i = 0;
    while i < 100 {
        all[i] = [b'0' + (i / 10) as u8, b'0' + (i % 10) as u8];
        i += 1;
    }
    all
};

fn pair(n: u32) -> [u8; 2] {
    PAIRS.get(n as usize).copied().unwrap_or_default()
}

/// Eight digits, as letters. The divisions of the halves do not wait for each other.
fn eight(n: u32) -> [u8; 8] {
    let (high, low) = (n / 10_000, n % 10_000);
    let ([a, b], [c, d], [e, f], [g, h]) = (pair(high / 100), pair(high % 100), pair(low / 100), pair(low % 100));
    [a, b, c, d, e, f, g, h]
}

/// All digits of a chunk, as letters.
fn letters(chunk: u64) -> [u8; WIDTH] {
    const EIGHT: u64 = 100_000_000;
    let (rest, low) = (chunk / EIGHT, eight((chunk % EIGHT) as u32));
    let (top, middle) = ((rest / EIGHT) as u32, eight((rest % EIGHT) as u32));
    let mut all = [0; WIDTH];
    all[0] = b'0' + (top / 100) as u8;
    all[1..3].copy_from_slice(&pair(top % 100));
    all[3..11].copy_from_slice(&middle);
    all[11..].copy_from_slice(&low);
    all
}

/// Calls `f` with the chunks of a number, the lowest first: none for 0.
fn each_chunk(n: &BigUint, mut f: impl FnMut(u64)) {
    const FEW: usize = 16;
    let (mut few, mut many);
    let length = n.iter_u64_digits().len();
    let limbs = if length <= FEW {
        few = [0; FEW];
        few.iter_mut().zip(n.iter_u64_digits()).for_each(|(to, from)| *to = from);
        few.get_mut(..length).unwrap_or_default()
    } else {
        many = n.iter_u64_digits().collect::<Vec<u64>>();
        &mut many[..]
    };
    let mut left = length;
    while let Some(part) = limbs.get_mut(..left).filter(|part| !part.is_empty()) {
        match part.last() {
            Some(0) => left -= 1,
            // What four rounds take is less than five limbs.
            _ if left > 4 => take_chunks::<4>(part).into_iter().for_each(&mut f),
            _ => take_chunks::<1>(part).into_iter().for_each(&mut f),
        }
    }
}

/// The digits (not their letters), the lowest first; none for 0.
pub(super) fn digits(n: &BigUint, out: &mut Vec<u8>) {
    let begin = out.len();
    each_chunk(n, |chunk| out.extend(letters(chunk).iter().rev().map(|d| d - b'0')));
    while out.len() > begin && out.last() == Some(&0) {
        out.pop();
    }
}

/// The text of a number of some dozen limbs.
pub(super) fn text(n: &BigInt) -> String {
    let mut chunks = Vec::with_capacity(n.magnitude().iter_u64_digits().len() + 2);
    each_chunk(n.magnitude(), |chunk| chunks.push(chunk));
    let mut out = Vec::with_capacity((chunks.len() + 1) * WIDTH);
    if n.sign() == Sign::Minus {
        out.push(b'-');
    }
    let first = letters(chunks.pop().unwrap_or(0));
    let zeros = first.iter().take(WIDTH - 1).take_while(|d| **d == b'0').count();
    out.extend_from_slice(first.get(zeros..).unwrap_or_default());
    for chunk in chunks.into_iter().rev() {
        out.extend_from_slice(&letters(chunk));
    }
    String::from_utf8(out).unwrap_or_default()
}
