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
    if size <= MONTGOMERY && size > 1 {
        let modulus = BigInt::from(m.magnitude().clone());
        let base = div_floor(a, &modulus, p)?.1.into_parts().1;
        let r = BigInt::from(even_power(&base, n.magnitude(), modulus.magnitude(), p)?);
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

/// `t + x * y + carry` in two limbs; it fits.
#[inline(always)]
fn step(t: u64, x: u64, y: u64, carry: u64) -> (u64, u64) {
    let sum = t as u128 + x as u128 * y as u128 + carry as u128;
    (sum as u64, (sum >> 64) as u64)
}
/// Adds `x * b` to as many limbs; the carry.
#[inline(always)]
fn add_product(to: &mut [u64], b: &[u64], x: u64) -> u64 {
    let mut carry = 0;
    for (t, b) in to.iter_mut().zip(b) {
        (*t, carry) = step(*t, x, *b, carry);
    }
    carry
}
/// Takes `m` away; whether that was too much.
#[inline(always)]
fn subtract(from: &mut [u64], m: &[u64]) -> bool {
    let mut borrow = false;
    for (t, m) in from.iter_mut().zip(m) {
        let (d, one) = t.overflowing_sub(*m);
        let (d, other) = d.overflowing_sub(borrow.into());
        (*t, borrow) = (d, one | other);
    }
    borrow
}

/// Numbers modulo an odd m of k limbs, each as its product with 2**64k (P. L. Montgomery, "Modular Multiplication Without Trial Division", 1985).
trait Montgomery {
    /// The product of two of them.
    fn multiply(&mut self, a: &[u64], b: &[u64], out: &mut [u64]);
    fn square(&mut self, a: &[u64], out: &mut [u64]) {
        self.multiply(a, a, out);
    }
}

/// `-1 / m` modulo a limb, for an odd m.
fn negative_inverse(m: u64) -> u64 {
    // Each step doubles the bits that are right; an odd number is its own inverse in the lowest three.
    let inverse = (0..5).fold(m, |x, _| x.wrapping_mul(2u64.wrapping_sub(m.wrapping_mul(x))));
    inverse.wrapping_neg()
}

/// Of so few limbs that loops over them are unrolled.
struct Few<const K: usize> {
    m: [u64; K],
    inverse: u64,
}

impl<const K: usize> Few<K> {
    fn new(m: &BigUint) -> Self {
        let mut limbs = [0; K];
        limbs.iter_mut().zip(m.iter_u64_digits()).for_each(|(to, d)| *to = d);
        Few { inverse: negative_inverse(limbs[0]), m: limbs }
    }
    /// Limb by limb of `a`: its product with `b`, and as much of m as makes the lowest limb 0, which is dropped (Koc, Acar, Kaliski, "Analyzing and Comparing Montgomery
    /// Multiplication Algorithms", 1996: CIOS).
    #[inline(always)]
    fn product(&self, a: &[u64; K], b: &[u64; K]) -> [u64; K] {
        let (mut t, mut top) = ([0; K], 0);
        for x in a {
            let carry = add_product(&mut t, b, *x);
            let (high, over) = carry.overflowing_add(top);
            let q = t[0].wrapping_mul(self.inverse);
            let (_, mut carry) = step(t[0], q, self.m[0], 0);
            for j in 1..K {
                (t[j - 1], carry) = step(t[j], q, self.m[j], carry);
            }
            let over_again;
            (t[K - 1], over_again) = high.overflowing_add(carry);
            top = over as u64 + over_again as u64;
        }
        let mut less = t;
        if subtract(&mut less, &self.m) && top == 0 { t } else { less }
    }
}

impl<const K: usize> Montgomery for Few<K> {
    fn multiply(&mut self, a: &[u64], b: &[u64], out: &mut [u64]) {
        if let (Some(a), Some(b)) = (a.first_chunk(), b.first_chunk()) {
            out.copy_from_slice(&self.product(a, b));
        }
    }
}

/// Of any number of limbs: the whole product first, then its lower half is made 0 limb by limb.
struct Many {
    m: Vec<u64>,
    inverse: u64,
    /// Room for a product: 2k limbs.
    t: Vec<u64>,
}

impl Many {
    fn new(m: &BigUint) -> Many {
        let m = m.to_u64_digits();
        Many { t: vec![0; 2 * m.len()], inverse: negative_inverse(m.first().copied().unwrap_or(1)), m }
    }
    fn reduce(&mut self, out: &mut [u64]) {
        let (k, mut over) = (self.m.len(), 0);
        for i in 0..k {
            let (low, high) = self.t[i..].split_at_mut(k);
            let q = low[0].wrapping_mul(self.inverse);
            let carry = add_product(low, &self.m, q);
            let (sum, one) = high[0].overflowing_add(carry);
            let (sum, other) = sum.overflowing_add(over);
            (high[0], over) = (sum, (one | other).into());
        }
        let r = &mut self.t[k..];
        if over != 0 || r.iter().rev().ge(self.m.iter().rev()) {
            subtract(r, &self.m);
        }
        out.copy_from_slice(r);
    }
}

impl Montgomery for Many {
    fn multiply(&mut self, a: &[u64], b: &[u64], out: &mut [u64]) {
        let k = self.m.len();
        self.t[..k].fill(0);
        for (i, x) in a.iter().enumerate() {
            let (to, above) = self.t[i..].split_at_mut(k);
            above[0] = add_product(to, b, *x);
        }
        self.reduce(out);
    }
    fn square(&mut self, a: &[u64], out: &mut [u64]) {
        let k = self.m.len();
        self.t.fill(0);
        // Products of different limbs count twice.
        for (i, x) in a.iter().enumerate() {
            let (to, above) = self.t[2 * i + 1..].split_at_mut(k - i - 1);
            let carry = add_product(to, &a[i + 1..], *x);
            if let Some(first) = above.first_mut() {
                *first = carry;
            }
        }
        let (mut carry, mut shifted) = (0u128, 0);
        for (x, pair) in a.iter().zip(self.t.chunks_exact_mut(2)) {
            let doubled = [pair[0] << 1 | shifted, pair[1] << 1 | pair[0] >> 63];
            shifted = pair[1] >> 63;
            let low = *x as u128 * *x as u128 + doubled[0] as u128 + carry;
            let high = (low >> 64) + doubled[1] as u128;
            (pair[0], pair[1], carry) = (low as u64, high as u64, high >> 64);
        }
        self.reduce(out);
    }
}

/// `base ** n % m` for an odd m of more than one limb.
fn odd_power(base: &BigUint, n: &BigUint, m: &BigUint, p: &mut dyn Progress) -> Result<BigUint> {
    match limbs(m) {
        2 => windows(&mut Few::<2>::new(m), 2, (base, n, m), p),
        3 => windows(&mut Few::<3>::new(m), 3, (base, n, m), p),
        4 => windows(&mut Few::<4>::new(m), 4, (base, n, m), p),
        5 | 6 => windows(&mut Few::<6>::new(m), 6, (base, n, m), p),
        7 | 8 => windows(&mut Few::<8>::new(m), 8, (base, n, m), p),
        k => windows(&mut Many::new(m), k, (base, n, m), p),
    }
}

/// The same by some bits of the exponent at a time, in k limbs.
fn windows(by: &mut impl Montgomery, k: usize, (base, n, m): (&BigUint, &BigUint, &BigUint), p: &mut dyn Progress) -> Result<BigUint> {
    let window = match n.bits() {
        0..32 => 1,
        32..256 => 3,
        _ => 5,
    };
    let mut powers = vec![0; k << window];
    for (x, to) in [&BigUint::one(), base].into_iter().zip(powers.chunks_exact_mut(k)) {
        to.iter_mut().zip(((x << (64 * k as u64)) % m).iter_u64_digits()).for_each(|(to, d)| *to = d);
    }
    for i in 2..1 << window {
        let (known, next) = powers.split_at_mut(i * k);
        by.multiply(&known[(i - 1) * k..], &known[k..2 * k], &mut next[..k]);
    }
    let (mut r, mut next) = (powers[..k].to_vec(), vec![0; k]);
    for at in (0..n.bits().div_ceil(window)).rev() {
        p.poll()?;
        for _ in 0..window {
            by.square(&r, &mut next);
            std::mem::swap(&mut r, &mut next);
        }
        let digit = (0..window).fold(0, |d, i| d | (n.bit(at * window + i) as usize) << i);
        if digit != 0 {
            by.multiply(&r, &powers[digit * k..][..k], &mut next);
            std::mem::swap(&mut r, &mut next);
        }
    }
    let mut one = vec![0; k];
    one[0] = 1;
    by.multiply(&r, &one, &mut next);
    Ok(BigUint::new(next.iter().flat_map(|d| [*d as u32, (d >> 32) as u32]).collect()))
}

/// `base ** n % m` for an even m: modulo its odd part q and modulo the power of two, put together by the Chinese remainder theorem.
fn even_power(base: &BigUint, n: &BigUint, m: &BigUint, p: &mut dyn Progress) -> Result<BigUint> {
    let twos = m.trailing_zeros().unwrap_or(0);
    let low = (BigUint::one() << twos) - 1u32;
    let q = m >> twos;
    let of_q = match limbs(&q) {
        1 => {
            let q = q.iter_u64_digits().next().unwrap_or(1);
            word_power((base % q).iter_u64_digits().next().unwrap_or(0), n, q, p)?.into()
        }
        _ => odd_power(&(base % &q), n, &q, p)?,
    };
    let of_twos = low_power(base & &low, n, &low, p)?;
    // What q has to be taken times, so that the lower bits are right.
    let missing = (of_twos + &low + 1u32 - (&of_q & &low)) & &low;
    let times = (missing * low_inverse(&q, twos)) & low;
    Ok(of_q + q * times)
}

/// `base ** n` modulo a power of two, given as its predecessor.
fn low_power(base: BigUint, n: &BigUint, low: &BigUint, p: &mut dyn Progress) -> Result<BigUint> {
    if low.bits() <= 64 {
        let word = |x: &BigUint| x.iter_u64_digits().next().unwrap_or(0);
        let (base, mut r) = (word(&base), 1u64);
        for bit in (0..n.bits()).rev() {
            if bit.is_multiple_of(1 << 14) {
                p.poll()?;
            }
            r = r.wrapping_mul(r).wrapping_mul(if n.bit(bit) { base } else { 1 });
        }
        return Ok((r & word(low)).into());
    }
    let mut r = BigUint::one();
    for bit in (0..n.bits()).rev() {
        p.poll()?;
        r = (&r * &r) & low;
        if n.bit(bit) {
            r = (r * &base) & low;
        }
    }
    Ok(r)
}

/// `1 / q` modulo a power of two, for an odd q: Newton's steps double the bits that are right.
fn low_inverse(q: &BigUint, twos: u64) -> BigUint {
    let mut inverse = BigUint::from(negative_inverse(q.iter_u64_digits().next().unwrap_or(1)).wrapping_neg());
    let mut right = 64;
    while right < twos {
        right *= 2;
        let low = (BigUint::one() << right) - 1u32;
        let product = (q * &inverse) & &low;
        inverse = (inverse * (&low + 3u32 - product)) & low;
    }
    inverse
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
