//! Products: Toom and Cook's way with three parts (Knuth, TAOCP 2, 4.3.3) down to what num-bigint multiplies in a few milliseconds.

use super::{Progress, Result, join, limbs, part};
use num_bigint::{BigInt, BigUint};

/// Limbs of factors that num-bigint multiplies at once.
const DIRECT: usize = 12_000;

pub fn mul(a: &BigInt, b: &BigInt, p: &mut dyn Progress) -> Result<BigInt> {
    if limbs(a.magnitude()).max(limbs(b.magnitude())) <= DIRECT {
        p.poll()?;
        return Ok(a * b);
    }
    Ok(BigInt::from_biguint(a.sign() * b.sign(), product(a.magnitude(), b.magnitude(), p)?))
}

/// The product of natural numbers.
pub fn product(a: &BigUint, b: &BigUint, p: &mut dyn Progress) -> Result<BigUint> {
    let (a, b) = if a.bits() >= b.bits() { (a, b) } else { (b, a) };
    let (n, m) = (limbs(a), limbs(b));
    p.poll()?;
    if n <= DIRECT || n as u64 * m as u64 <= 1 << 22 {
        return Ok(a * b);
    }
    if m <= DIRECT || m <= n / 2 {
        return by_blocks(a, b, m.max(DIRECT), p);
    }
    // See `toom`: products of 10/3 * n limbs, what becomes of three of them, 2 * n, and the sum, 2 * n. That is more than the parts take, and those of a third of the length.
    p.needs(8 * 8 * n)?;
    toom(a, b, n.div_ceil(3), p)
}

/// A long factor in blocks. Each product is shorter than two blocks, so those of every other block lie side by side.
fn by_blocks(a: &BigUint, b: &BigUint, block: usize, p: &mut dyn Progress) -> Result<BigUint> {
    let (mut even, mut odd) = (Vec::new(), Vec::new());
    let n = limbs(a);
    // All products, twice as much when they are joined, and one of the halves shifted.
    p.needs(8 * 4 * (n + block))?;
    for (k, at) in (0..n).step_by(block).enumerate() {
        let one = product(&part(a, at, (at + block).min(n)), b, p)?;
        if k.is_multiple_of(2) { even.push(one) } else { odd.push(one) }
    }
    Ok(join(&even, 2 * block) + (join(&odd, 2 * block) << (64 * block as u64)))
}

/// Parts of `k` limbs as coefficients of polynomials of degree 2, multiplied by their values at 0, 1, -1, -2 and infinity.
fn toom(a: &BigUint, b: &BigUint, k: usize, p: &mut dyn Progress) -> Result<BigUint> {
    let values = |n: &BigUint| {
        let [low, middle, high] = [0, 1, 2].map(|i| BigInt::from(part(n, i * k, (i + 1) * k)));
        let ends = &low + &high;
        let (one, minus_one) = (&ends + &middle, ends - &middle);
        let minus_two = ((&minus_one + &high) << 1u32) - &low;
        [low, one, minus_one, minus_two, high]
    };
    let (x, y) = (values(a), values(b));
    let mut at = Vec::with_capacity(5);
    for (x, y) in x.into_iter().zip(y) {
        at.push(mul(&x, &y, p)?);
    }
    let [zero, one, minus_one, minus_two, infinity] = &at[..] else { return Ok(a * b) };
    let mut third = (minus_two - one) / 3;
    let mut first: BigInt = (one - minus_one) >> 1u32;
    let mut second = minus_one - zero;
    p.poll()?;
    third = ((&second - third) >> 1u32) + (infinity << 1u32);
    second = second + &first - infinity;
    first -= &third;
    let mut sum = join(&[zero.magnitude().clone(), infinity.magnitude().clone()], 4 * k);
    for (n, middle) in [first, second, third].into_iter().enumerate() {
        sum += middle.into_parts().1 << (64 * k as u64 * (n as u64 + 1));
    }
    Ok(sum)
}
