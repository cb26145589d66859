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
    if size <= MONTGOMERY && size > 1 && m.magnitude().bit(0) {
        let modulus = BigInt::from(m.magnitude().clone());
        let base = div_floor(a, &modulus, p)?.1.into_parts().1;
        let r = BigInt::from(odd_power(&base, n.magnitude(), modulus.magnitude(), p)?);
        return Ok(if m.sign() == Sign::Minus && !r.is_zero() { r + m } else { r });
    }
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

/// Odd moduli of up to so many limbs are reduced by Montgomery's way.
const MONTGOMERY: u64 = 64;

/// Numbers modulo an odd number of k limbs, each as its product with 2**64k (P. L. Montgomery, "Modular Multiplication Without Trial Division", 1985).
struct Montgomery {
    m: Vec<u64>,
    /// `-1 / m` modulo a limb.
    inverse: u64,
    /// Room for a product: k limbs and two.
    t: Vec<u64>,
}

impl Montgomery {
    fn new(m: &BigUint) -> Montgomery {
        let m = m.to_u64_digits();
        let low = m.first().copied().unwrap_or(1);
        // Each step doubles the bits that are right; an odd number is its own inverse in the lowest three.
        let inverse = (0..5).fold(low, |x, _| x.wrapping_mul(2u64.wrapping_sub(low.wrapping_mul(x))));
        Montgomery { t: vec![0; m.len() + 2], inverse: inverse.wrapping_neg(), m }
    }
    /// Limb by limb of `a`: its product with `b`, and as much of m as makes the lowest limb 0, which is dropped (Koc, Acar, Kaliski, "Analyzing and Comparing Montgomery
    /// Multiplication Algorithms", 1996: CIOS).
    fn multiply(&mut self, a: &[u64], b: &[u64], out: &mut [u64]) {
        let (k, m, t) = (self.m.len(), &self.m[..], &mut self.t[..]);
        let step = |t: u64, x: u64, y: u64, carry: u64| {
            let sum = t as u128 + x as u128 * y as u128 + carry as u128;
            (sum as u64, (sum >> 64) as u64)
        };
        t.fill(0);
        for &x in a {
            let mut carry = 0;
            for (t, y) in t.iter_mut().zip(b) {
                (*t, carry) = step(*t, x, *y, carry);
            }
            let over;
            (t[k], over) = step(t[k], 0, 0, carry);
            let q = t[0].wrapping_mul(self.inverse);
            (_, carry) = step(t[0], q, m[0], 0);
            for j in 1..k {
                (t[j - 1], carry) = step(t[j], q, m[j], carry);
            }
            (t[k - 1], carry) = step(t[k], 0, 0, carry);
            t[k] = over + carry;
        }
        if t[k] != 0 || t[..k].iter().rev().ge(m.iter().rev()) {
            let mut borrow = false;
            for (t, m) in t.iter_mut().zip(m) {
                let (d, one) = t.overflowing_sub(*m);
                let (d, other) = d.overflowing_sub(borrow.into());
                (*t, borrow) = (d, one | other);
            }
        }
        out.copy_from_slice(&t[..k]);
    }
}

/// `base ** n % m` for an odd m of more than one limb, by some bits of the exponent at a time.
fn odd_power(base: &BigUint, n: &BigUint, m: &BigUint, p: &mut dyn Progress) -> Result<BigUint> {
    let mut by = Montgomery::new(m);
    let k = by.m.len();
    let entered = |x: &BigUint| {
        let mut limbs = ((x << (64 * k as u64)) % m).to_u64_digits();
        limbs.resize(k, 0);
        limbs
    };
    let window = match n.bits() {
        0..32 => 1,
        32..256 => 3,
        _ => 5,
    };
    let mut powers = vec![entered(&BigUint::one()), entered(base)];
    for i in 2..1 << window {
        let mut next = vec![0; k];
        by.multiply(&powers[i - 1], &powers[1], &mut next);
        powers.push(next);
    }
    let (mut r, mut next) = (powers[0].clone(), vec![0; k]);
    for at in (0..n.bits().div_ceil(window)).rev() {
        p.poll()?;
        for _ in 0..window {
            by.multiply(&r, &r, &mut next);
            std::mem::swap(&mut r, &mut next);
        }
        let digit = (0..window).fold(0, |d, i| d | (n.bit(at * window + i) as usize) << i);
        if digit != 0 {
            by.multiply(&r, &powers[digit], &mut next);
            std::mem::swap(&mut r, &mut next);
        }
    }
    let mut one = vec![0; k];
    one[0] = 1;
    by.multiply(&r, &one, &mut next);
    Ok(BigUint::new(next.iter().flat_map(|d| [*d as u32, (d >> 32) as u32]).collect()))
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
