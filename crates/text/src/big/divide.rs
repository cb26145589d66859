//! Quotients and remainders: Burnikel and Ziegler's recursive division ("Fast Recursive Division", 1998) over products that can be left.

use super::{Progress, Result, join, limbs, part, product, split};
use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_traits::{One, Zero};

/// Steps of limb by limb that num-bigint does at once.
const DIRECT: u64 = 1 << 21;
/// Divisors of up to so many limbs are left to num-bigint.
const LEAF: usize = 512;

/// Quotient and remainder of natural numbers; `b` is not zero.
pub fn div_rem(a: &BigUint, b: &BigUint, p: &mut dyn Progress) -> Result<(BigUint, BigUint)> {
    let (n, m) = (limbs(a), limbs(b));
    p.poll()?;
    if n < m || (n - m + 1) as u64 * m as u64 <= DIRECT {
        return Ok(a.div_rem(b));
    }
    if m <= LEAF {
        return by_blocks(a, n, (DIRECT as usize / 4 / m).max(m), p, |x, p| {
            p.poll()?;
            Ok(x.div_rem(b))
        });
    }
    // Both shifted, the quotients and their sum; products and remainders of blocks.
    p.needs(8 * (3 * n + 6 * m))?;
    let wanted = n - m + 2;
    if wanted < m / 2 {
        return short_quotient(a, b, m - wanted, p);
    }
    // A divisor of leaf * 2^k limbs with its highest bit set.
    let halvings = (m.div_ceil(LEAF) as u64).next_power_of_two().trailing_zeros();
    let size = m.div_ceil(1 << halvings) << halvings;
    let shift = 64 * size as u64 - b.bits();
    let (a, b) = (a << shift, b << shift);
    let (low, high) = split(&b, size / 2);
    let (q, r) = by_blocks(&a, limbs(&a), size, p, |x, p| two_by_one(x, &b, &low, &high, size, p))?;
    Ok((q, r >> shift))
}

/// Long division with digits of `size` limbs: `one` divides a number of up to two digits whose quotient has one.
fn by_blocks(
    a: &BigUint,
    n: usize,
    size: usize,
    p: &mut dyn Progress,
    mut one: impl FnMut(BigUint, &mut dyn Progress) -> Result<(BigUint, BigUint)>,
) -> Result<(BigUint, BigUint)> {
    let blocks = n.div_ceil(size);
    let mut quotients = vec![BigUint::zero(); blocks];
    let mut rest = BigUint::zero();
    for k in (0..blocks).rev() {
        let x = join(&[part(a, k * size, ((k + 1) * size).min(n)), rest], size);
        (quotients[k], rest) = one(x, p)?;
    }
    Ok((join(&quotients, size), rest))
}

/// A quotient that is much shorter than the divisor: that of the leading limbs, which is too large by two at most.
fn short_quotient(a: &BigUint, b: &BigUint, drop: usize, p: &mut dyn Progress) -> Result<(BigUint, BigUint)> {
    let bits = 64 * drop as u64;
    let (mut q, _) = div_rem(&(a >> bits), &(b >> bits), p)?;
    let mut r = BigInt::from(a.clone()) - BigInt::from(product(&q, b, p)?);
    while r.sign() == Sign::Minus {
        q -= 1u32;
        r += BigInt::from(b.clone());
    }
    Ok((q, r.into_parts().1))
}

/// `a / b` for `b` of `n` limbs with its highest bit set and `a < b << 64n`. `low` and `high` are the halves of `b`.
fn two_by_one(a: BigUint, b: &BigUint, low: &BigUint, high: &BigUint, n: usize, p: &mut dyn Progress) -> Result<(BigUint, BigUint)> {
    if n % 2 == 1 || n <= LEAF {
        p.poll()?;
        return Ok(a.div_rem(b));
    }
    let half = n / 2;
    let (halves_low, halves_high) = split(high, half / 2);
    let (rest, upper) = split(&a, half);
    let (q1, r1) = three_by_two(upper, b, low, high, (&halves_low, &halves_high), half, p)?;
    let (q0, r0) = three_by_two(join(&[rest, r1], half), b, low, high, (&halves_low, &halves_high), half, p)?;
    Ok((join(&[q0, q1], half), r0))
}

/// `a / b` for `a` of three and `b` of two digits of `n` limbs, the quotient having one.
fn three_by_two(
    a: BigUint,
    b: &BigUint,
    low: &BigUint,
    high: &BigUint,
    halves: (&BigUint, &BigUint),
    n: usize,
    p: &mut dyn Progress,
) -> Result<(BigUint, BigUint)> {
    let (last, upper) = split(&a, n);
    let (mut q, r) = if &upper >> (64 * n as u64) < *high {
        two_by_one(upper, high, halves.0, halves.1, n, p)?
    } else {
        let power = BigUint::one() << (64 * n as u64);
        let r = upper + high - (high << (64 * n as u64));
        (power - 1u32, r)
    };
    let mut rest = BigInt::from(join(&[last, r], n)) - BigInt::from(product(&q, low, p)?);
    while rest.sign() == Sign::Minus {
        q -= 1u32;
        rest += BigInt::from(b.clone());
    }
    Ok((q, rest.into_parts().1))
}

/// Quotient and remainder with the sign of the dividend; `b` is not zero.
pub fn div_trunc(a: &BigInt, b: &BigInt, p: &mut dyn Progress) -> Result<(BigInt, BigInt)> {
    let (q, r) = div_rem(a.magnitude(), b.magnitude(), p)?;
    Ok((BigInt::from_biguint(a.sign() * b.sign(), q), BigInt::from_biguint(a.sign(), r)))
}

/// Quotient, rounded down, and remainder with the sign of the divisor; `b` is not zero.
pub fn div_floor(a: &BigInt, b: &BigInt, p: &mut dyn Progress) -> Result<(BigInt, BigInt)> {
    let (q, r) = div_trunc(a, b, p)?;
    if r.is_zero() || r.sign() == b.sign() { Ok((q, r)) } else { Ok((q - 1, r + b)) }
}

/// The quotient of a division that leaves no remainder.
pub fn exact_div(a: &BigInt, b: &BigInt, p: &mut dyn Progress) -> Result<BigInt> {
    Ok(div_trunc(a, b, p)?.0)
}
