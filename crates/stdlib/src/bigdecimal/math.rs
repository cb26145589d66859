//! Square root, exponential function and logarithm, to a number of digits. Fixed-point numbers of `bits` binary places, with some to spare.

use super::num::{Num, Round, Rules, count_digits, pow10};
use num_bigint::{BigInt, BigUint};
use num_traits::{Signed, ToPrimitive, Zero};
use zakuro_text::big::{self, Progress, Result};

/// Decimal digits computed beyond those asked for.
const SPARE: u64 = 25;

fn bits_for(digits: u64) -> u64 {
    (digits as f64 * std::f64::consts::LOG2_10) as u64 + 64
}

/// The root of a positive number, correctly rounded.
pub fn sqrt(rules: &mut Rules, n: &Num, digits: u64, p: &mut dyn Progress) -> Result<Num> {
    let Num::Finite { digits: d, exp, .. } = n else { return Ok(n.clone()) };
    // An even exponent, and twice the digits that are wanted.
    let have = count_digits(d);
    let mut shift = (2 * (digits + 2)).saturating_sub(have);
    if (i128::from(*exp) - i128::from(shift)).rem_euclid(2) != 0 {
        shift += 1;
    }
    let square = big::product(d, &pow10(shift, p)?, p)?;
    let root = big::sqrt(&square, p)?;
    let exp = (i128::from(*exp) - i128::from(shift)) / 2;
    let exact = big::product(&root, &root, p)? == square;
    let root = if exact { rules.number(false, root, exp, p)? } else { rules.number(false, root * 10u32 + 1u32, exp - 1, p)? };
    rules.significant(root, digits, rules.round, p)
}

/// The number in fixed point.
fn fixed(n: &Num, bits: u64, p: &mut dyn Progress) -> Result<BigInt> {
    let Num::Finite { neg, digits, exp } = n else { return Ok(BigInt::zero()) };
    let v = if *exp >= 0 {
        big::product(digits, &pow10(exp.unsigned_abs(), p)?, p)? << bits
    } else if exp.unsigned_abs() > bits {
        BigUint::zero()
    } else {
        big::div_rem(&(digits << bits), &pow10(exp.unsigned_abs(), p)?, p)?.0
    };
    let v = BigInt::from(v);
    Ok(if *neg { -v } else { v })
}

/// A fixed-point number times `10^shift`, rounded to digits.
fn decimal(rules: &mut Rules, v: &BigInt, bits: u64, shift: i64, digits: u64, p: &mut dyn Progress) -> Result<Num> {
    let scaled = big::product(v.magnitude(), &pow10(digits + SPARE, p)?, p)? >> bits;
    let n = rules.number(v.is_negative(), scaled, i128::from(shift) - i128::from(digits + SPARE), p)?;
    rules.significant(n, digits, rules.round, p)
}

/// artanh(1/n)
fn artanh_inverse(n: u32, bits: u64, p: &mut dyn Progress) -> Result<BigInt> {
    let mut power = (BigInt::from(1) << bits) / n;
    let (mut sum, mut k) = (power.clone(), 3u32);
    while !power.is_zero() {
        p.poll()?;
        power /= n * n;
        sum += &power / k;
        k += 2;
    }
    Ok(sum)
}

/// ln 10 = 46 artanh(1/31) + 34 artanh(1/49) + 20 artanh(1/161)
fn ln10(bits: u64, p: &mut dyn Progress) -> Result<BigInt> {
    Ok(artanh_inverse(31, bits, p)? * 46 + artanh_inverse(49, bits, p)? * 34 + artanh_inverse(161, bits, p)? * 20)
}

/// e^x: the series of x / 2^k, squared k times.
fn exp_fixed(x: &BigInt, bits: u64, p: &mut dyn Progress) -> Result<BigInt> {
    let halvings = bits.isqrt();
    let deep = bits + 2 * halvings + 16;
    let x: BigInt = (x << (deep - bits)) >> halvings;
    let one = BigInt::from(1) << deep;
    let (mut term, mut sum, mut k) = (one.clone(), one, 1u32);
    loop {
        term = (big::mul(&term, &x, p)? >> deep) / k;
        if term.is_zero() || term == BigInt::from(-1) {
            break;
        }
        sum += &term;
        k += 1;
    }
    for _ in 0..halvings {
        sum = big::mul(&sum, &sum, p)? >> deep;
    }
    Ok(sum >> (deep - bits))
}

/// e^n, finite and not 0.
pub fn exp(rules: &mut Rules, n: &Num, digits: u64, p: &mut dyn Progress) -> Result<Num> {
    let top = n.exponent();
    if top > 19 {
        let neg = n.is_negative();
        rules.flags |= if neg { super::num::UNDERFLOW } else { super::num::INFINITY };
        return Ok(if neg { Num::Zero { neg: false } } else { Num::Infinite { neg: false } });
    }
    // e^x of a tiny x is 1 and a bit.
    let reach = i64::try_from(digits + 2).unwrap_or(i64::MAX);
    if top < -reach {
        let one = Num::integer(&BigInt::from(1), p)?;
        let tiny = Num::Finite { neg: n.is_negative(), digits: BigUint::from(1u32), exp: -reach };
        return rules.add(&one, &tiny, false, digits, p);
    }
    let bits = bits_for(digits + SPARE + top.max(0) as u64);
    let x = fixed(n, bits, p)?;
    let (powers, rest) = big::div_floor(&x, &ln10(bits, p)?, p)?;
    let v = exp_fixed(&rest, bits, p)?;
    decimal(rules, &v, bits, powers.to_i64().unwrap_or(0), digits, p)
}

/// ln n of a positive finite number that isn't 1.
pub fn ln(rules: &mut Rules, n: &Num, digits: u64, p: &mut dyn Progress) -> Result<Num> {
    let Num::Finite { digits: d, exp, .. } = n else { return Ok(n.clone()) };
    let mut exact = Rules { round: Round::HalfUp, limit: 0, flags: 0, too_big: false };
    let one = Num::integer(&BigInt::from(1), p)?;
    // Near 1 the logarithm is as small as the difference.
    let top = n.exponent();
    let lost = if (0..=1).contains(&top) { exact.add(n, &one, true, 0, p)?.exponent().min(0).unsigned_abs() } else { 0 };
    let bits = bits_for(digits + SPARE + lost);
    // n = m * 10^k, 1 <= m < 10; beyond 3, below 1.
    let (mut k, have) = (top - 1, count_digits(d) as i64);
    let mut m = Num::Finite { neg: false, digits: d.clone(), exp: 1 - have };
    if m.compare(&Num::integer(&BigInt::from(3), p)?, p)?.is_some_and(|o| o.is_gt()) {
        k += 1;
        m = Num::Finite { neg: false, digits: d.clone(), exp: -have };
    }
    let m = fixed(&m, bits, p)?;
    debug_assert!(top == exp.saturating_add(have));
    // Halley's iteration from a Float: each step trebles the digits.
    let start = (&m >> (bits - 60)).to_f64().unwrap_or(1.0) / (1u64 << 60) as f64;
    let mut y = BigInt::from((start.ln() * (1u64 << 60) as f64) as i64) << (bits - 60);
    let mut sure = 48u64;
    loop {
        let e = exp_fixed(&y, bits, p)?;
        let (step, _) = big::div_trunc(&((&m - &e) << (bits + 1)), &(&m + &e), p)?;
        y += step;
        sure *= 3;
        if sure > bits + 16 {
            break;
        }
    }
    let v = y + ln10(bits, p)? * k;
    let scaled = big::product(v.magnitude(), &pow10(digits + SPARE + lost, p)?, p)? >> bits;
    let n = rules.number(v.is_negative(), scaled, -i128::from(digits + SPARE + lost), p)?;
    rules.significant(n, digits, rules.round, p)
}
