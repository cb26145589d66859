//! Greatest common divisors: Lehmer's algorithm (Knuth, TAOCP 2, 4.5.2, algorithm L) on two limbs at a time.

use super::{Progress, Result, div_rem, limbs};
use dashu_int::UBig;
use dashu_int::ops::Gcd as _;
use num_bigint::BigUint;
use num_traits::Zero;

/// Limbs that dashu-int is given at once. (num-bigint's binary algorithm takes thirteen times as long for 30,000 bits.)
const DIRECT: usize = 2000;

/// Greatest common divisor of natural numbers; 0 with 0 is 0.
pub fn gcd(a: &BigUint, b: &BigUint, p: &mut dyn Progress) -> Result<BigUint> {
    if limbs(a).max(limbs(b)) <= DIRECT && !a.is_zero() && !b.is_zero() {
        p.poll()?;
        return Ok(direct(a, b));
    }
    // Both, and a division's parts.
    p.needs(8 * 8 * limbs(a).max(limbs(b)))?;
    let (mut a, mut b) = if a >= b { (a.clone(), b.clone()) } else { (b.clone(), a.clone()) };
    loop {
        if b.is_zero() {
            return Ok(a);
        }
        if limbs(&a) <= DIRECT {
            p.poll()?;
            return Ok(direct(&a, &b));
        }
        // One step of Euclid's brings numbers of different size together, and goes on where Lehmer's finds no quotient.
        let r = div_rem(&a, &b, p)?.1;
        (a, b) = lehmer(b, r, p)?;
    }
}

fn direct(a: &BigUint, b: &BigUint) -> BigUint {
    let natural = |n: &BigUint| UBig::from_le_bytes(&n.to_bytes_le());
    BigUint::from_bytes_le(&natural(a).gcd(natural(b)).to_le_bytes())
}

/// Steps of Euclid's algorithm while they are found from the leading limbs; `a >= b`.
fn lehmer(a: BigUint, b: BigUint, p: &mut dyn Progress) -> Result<(BigUint, BigUint)> {
    let mut x = a.to_u64_digits();
    let mut y = b.to_u64_digits();
    drop((a, b));
    y.resize(x.len(), 0);
    while x.len() > DIRECT {
        p.poll()?;
        let Some(m) = steps(&x, &y) else { break };
        combine(&mut x, &mut y, m);
        while x.last() == Some(&0) {
            x.pop();
        }
        y.truncate(x.len());
    }
    let number = |v: Vec<u64>| BigUint::new(v.into_iter().flat_map(|d| [d as u32, (d >> 32) as u32]).collect());
    Ok((number(x), number(y)))
}

/// The matrix of the steps that the leading 126 bits decide; None when they decide none.
fn steps(x: &[u64], y: &[u64]) -> Option<[i64; 4]> {
    let n = x.len();
    let zeros = x[n - 1].leading_zeros();
    let head = |v: &[u64]| {
        let top = (v[n - 1] as u128) << 64 | v[n - 2] as u128;
        let top = if zeros == 0 { top } else { top << zeros | (v[n - 3] >> (64 - zeros)) as u128 };
        (top >> 2) as i128
    };
    let (mut u, mut v) = (head(x), head(y));
    let [mut a, mut b, mut c, mut d] = [1i64, 0, 0, 1];
    const MOST: i128 = 1 << 62;
    loop {
        let (low, high) = (v + c as i128, v + d as i128);
        if low <= 0 || high <= 0 {
            break;
        }
        let q = (u + a as i128) / low;
        if q != (u + b as i128) / high || q >= MOST {
            break;
        }
        let (e, f) = (a as i128 - q * c as i128, b as i128 - q * d as i128);
        if e.abs() >= MOST || f.abs() >= MOST {
            break;
        }
        (a, b, c, d) = (c, d, e as i64, f as i64);
        (u, v) = (v, u - q * v);
    }
    (b != 0).then_some([a, b, c, d])
}

/// `x, y = a*x + b*y, c*x + d*y`, neither of them negative or longer than before.
fn combine(x: &mut [u64], y: &mut [u64], [a, b, c, d]: [i64; 4]) {
    let (mut carry_x, mut carry_y) = (0i128, 0i128);
    for (x, y) in x.iter_mut().zip(y) {
        let (u, v) = (*x as i128, *y as i128);
        carry_x += a as i128 * u + b as i128 * v;
        carry_y += c as i128 * u + d as i128 * v;
        (*x, *y) = (carry_x as u64, carry_y as u64);
        carry_x >>= 64;
        carry_y >>= 64;
    }
    debug_assert!(carry_x == 0 && carry_y == 0);
}
