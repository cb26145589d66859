//! Powers, powers modulo a number, and square roots.

use super::{Progress, Result, div_floor, div_rem, limbs, mul, product};
use num_bigint::{BigInt, BigUint, Sign};
use num_traits::{One, Zero};

/// `a ** n`
pub fn pow(a: &BigInt, n: u32, p: &mut dyn Progress) -> Result<BigInt> {
    if a.bits().saturating_mul(n.into()) <= 1 << 18 {
        return Ok(a.pow(n));
    }
    let mut r = a.clone();
    // The bits below the highest one, from the top.
    for bit in (0..n.ilog2()).rev() {
        r = mul(&r, &r, p)?;
        if n >> bit & 1 == 1 {
            r = mul(&r, a, p)?;
        }
    }
    Ok(r)
}

/// `10 ** n`
pub fn pow10(n: u32, p: &mut dyn Progress) -> Result<BigUint> {
    Ok(pow(&BigInt::from(5), n, p)?.into_parts().1 << n)
}

/// `a ** n` modulo `m`, with the sign of `m`; n >= 0, m not zero.
pub fn mod_pow(a: &BigInt, n: &BigInt, m: &BigInt, p: &mut dyn Progress) -> Result<BigInt> {
    let (size, bits) = (limbs(m.magnitude()) as u64, n.bits());
    if bits.saturating_mul(size * size) <= 1 << 24 {
        p.poll()?;
        return Ok(div_floor(a, m, p)?.1.modpow(n, m));
    }
    // The remainder of the magnitudes; a power of a negative number is one of `m - a`.
    let modulus = BigInt::from(m.magnitude().clone());
    let base = div_floor(a, &modulus, p)?.1.into_parts().1;
    let r = if modulus.bits() <= 64 {
        word_power(base.iter_u64_digits().next().unwrap_or(0), n.magnitude(), modulus.iter_u64_digits().next().unwrap_or(1), p)?.into()
    } else {
        window_power(base, n.magnitude(), modulus.magnitude(), p)?
    };
    let r = BigInt::from(r);
    Ok(if m.sign() == Sign::Minus && !r.is_zero() { r + m } else { r })
}

fn word_power(base: u64, n: &BigUint, m: u64, p: &mut dyn Progress) -> Result<u64> {
    let times = |a: u64, b: u64| (a as u128 * b as u128 % m as u128) as u64;
    let mut r = 1 % m;
    let digits = n.to_u64_digits();
    for (at, &word) in digits.iter().rev().enumerate() {
        if at.is_multiple_of(256) {
            p.poll()?;
        }
        for bit in (0..64).rev() {
            r = times(r, r);
            if word >> bit & 1 == 1 {
                r = times(r, base);
            }
        }
    }
    Ok(r)
}

/// Square and multiply by five bits of the exponent at a time.
fn window_power(base: BigUint, n: &BigUint, m: &BigUint, p: &mut dyn Progress) -> Result<BigUint> {
    const WINDOW: u64 = 5;
    let mut powers = vec![BigUint::one() % m, base];
    for i in 2..1 << WINDOW {
        let next = product(&powers[i - 1], &powers[1], p)?;
        powers.push(div_rem(&next, m, p)?.1);
    }
    let mut r = powers[0].clone();
    for window in (0..n.bits().div_ceil(WINDOW)).rev() {
        for _ in 0..WINDOW {
            r = div_rem(&product(&r, &r, p)?, m, p)?.1;
        }
        let digit = (0..WINDOW).fold(0, |d, i| d | (n.bit(window * WINDOW + i) as usize) << i);
        if digit != 0 {
            r = div_rem(&product(&r, &powers[digit], p)?, m, p)?.1;
        }
    }
    Ok(r)
}

/// Integer square root, by Newton's steps whose precision doubles: each is right up to one unit, so the next may use it.
pub fn sqrt(n: &BigUint, p: &mut dyn Progress) -> Result<BigUint> {
    if limbs(n) <= 100 {
        return Ok(n.sqrt());
    }
    let half = (n.bits() - 1) / 2;
    let mut root = BigUint::one();
    let mut have = 0;
    for s in (0..64 - half.leading_zeros()).rev() {
        let want = half >> s;
        let quotient = div_rem(&(n >> (2 * half - have - want + 1)), &root, p)?.0;
        root = (root << (want - have - 1)) + quotient;
        have = want;
    }
    if product(&root, &root, p)? > *n {
        root -= 1u32;
    }
    Ok(root)
}
