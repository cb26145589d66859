//! Big numbers from and to digits, by halves: a few products or quotients instead of a quadratic loop.

use super::{Progress, Result, decimal, div_rem, product};
use num_bigint::{BigInt, BigUint, Sign};
use num_traits::Zero;

/// Below this many digits the quadratic way is faster than splitting.
const SPLIT: usize = 1200;
/// The same the other way, where num-bigint's loop divides by a limb at each step; and the bits from which on it is split.
const SPLIT_DIGITS: usize = 304;
const SPLIT_BITS: u64 = 4096;
/// Digits of a radix that is a power of two are bits: they are taken in pieces of so many limbs.
const PIECE: usize = 1 << 13;

/// The value of digits (not of their letters), the highest first.
pub fn from_digits(run: &[u8], radix: u32, p: &mut dyn Progress) -> Result<BigUint> {
    if radix.is_power_of_two() {
        return from_bits(run, radix, p);
    }
    // powers[k] = radix ** (SPLIT << k)
    let mut powers = Vec::new();
    if run.len() > SPLIT {
        powers.push(BigUint::from(radix).pow(SPLIT as u32));
    }
    while !powers.is_empty() && (SPLIT << powers.len()) < run.len() {
        let last = &powers[powers.len() - 1];
        powers.push(product(last, last, p)?);
    }
    halves(run, radix, &powers, p)
}

fn halves(run: &[u8], radix: u32, powers: &[BigUint], p: &mut dyn Progress) -> Result<BigUint> {
    if run.len() <= SPLIT {
        p.poll()?;
        return Ok(BigUint::from_radix_be(run, radix).unwrap_or_default());
    }
    let mut k = powers.len() - 1;
    while (SPLIT << k) >= run.len() {
        k -= 1;
    }
    let at = run.len() - (SPLIT << k);
    let high = halves(&run[..at], radix, powers, p)?;
    Ok(product(&high, &powers[k], p)? + halves(&run[at..], radix, powers, p)?)
}

fn from_bits(run: &[u8], radix: u32, p: &mut dyn Progress) -> Result<BigUint> {
    let width = radix.trailing_zeros();
    let mut out: Vec<u32> = Vec::with_capacity(run.len() * width as usize / 32 + 1);
    let (mut word, mut have) = (0u64, 0u32);
    for (at, &d) in run.iter().rev().enumerate() {
        zakuro_base::progress::step(at, p)?;
        word |= (d as u64) << have;
        have += width;
        if have >= 32 {
            out.push(word as u32);
            word >>= 32;
            have -= 32;
        }
    }
    out.push(word as u32);
    Ok(BigUint::new(out))
}

/// Digits (not their letters), the lowest first; none for 0. `radix` in 2..=256.
pub fn small_digits(n: &BigUint, radix: u32, p: &mut dyn Progress) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity((n.bits() as f64 / (radix as f64).log2()) as usize + 2);
    if radix.is_power_of_two() {
        // A piece has whole digits, whatever their width.
        let (width, limbs) = (radix.trailing_zeros() as usize, super::limbs(n));
        let size = PIECE * width;
        for at in (0..limbs).step_by(size) {
            p.poll()?;
            let piece = super::part(n, at, (at + size).min(limbs));
            out.resize(at * 64 / width, 0);
            out.extend(piece.to_radix_le(radix));
        }
    } else {
        let mut powers = Vec::new();
        let mut width = SPLIT_DIGITS;
        if n.bits() > SPLIT_BITS {
            powers.push(BigUint::from(radix).pow(SPLIT_DIGITS as u32));
            while let Some(last) = powers.last()
                && last.bits() * 2 <= n.bits() + 2
            {
                let next = product(last, last, p)?;
                powers.push(next);
                width *= 2;
            }
        }
        parts(n, radix, &powers, width, &mut out, p)?;
    }
    while out.last() == Some(&0) {
        out.pop();
    }
    Ok(out)
}

/// Appends the digits of `n`, less than the square of the last power, each of whose parts has `width` digits.
fn parts(n: &BigUint, radix: u32, powers: &[BigUint], width: usize, out: &mut Vec<u8>, p: &mut dyn Progress) -> Result<()> {
    let Some((power, rest)) = powers.split_last() else {
        p.poll()?;
        if radix == 10 {
            decimal::digits(n, out);
        } else {
            out.extend(n.to_radix_le(radix));
        }
        return Ok(());
    };
    let begin = out.len();
    let (high, low) = div_rem(n, power, p)?;
    parts(&low, radix, rest, width / 2, out, p)?;
    if !high.is_zero() {
        out.resize(begin + width, 0);
        parts(&high, radix, rest, width / 2, out, p)?;
    }
    Ok(())
}

/// Digits in any base of 2 or more, the lowest first; none for 0.
pub fn digits(n: &BigUint, base: &BigUint, p: &mut dyn Progress) -> Result<Vec<BigUint>> {
    let mut powers = vec![base.clone()];
    while let Some(last) = powers.last()
        && last.bits() * 2 <= n.bits() + 2
    {
        let next = product(last, last, p)?;
        powers.push(next);
    }
    let mut out = Vec::new();
    let width = 1 << (powers.len() - 1);
    fn go(n: &BigUint, powers: &[BigUint], width: usize, out: &mut Vec<BigUint>, p: &mut dyn Progress) -> Result<()> {
        let Some((power, rest)) = powers.split_last() else {
            out.push(n.clone());
            return Ok(());
        };
        let begin = out.len();
        let (high, low) = div_rem(n, power, p)?;
        go(&low, rest, width / 2, out, p)?;
        if !high.is_zero() {
            out.resize(begin + width, BigUint::zero());
            go(&high, rest, width / 2, out, p)?;
        }
        Ok(())
    }
    go(n, &powers, width, &mut out, p)?;
    while out.last().is_some_and(Zero::is_zero) {
        out.pop();
    }
    Ok(out)
}

/// Text in a radix of 2 to 36.
pub fn to_text(n: &BigInt, radix: u32, p: &mut dyn Progress) -> Result<String> {
    if n.bits() <= SPLIT_BITS {
        return Ok(if radix == 10 { decimal::text(n) } else { n.to_str_radix(radix) });
    }
    let mut out = small_digits(n.magnitude(), radix, p)?;
    match n.sign() {
        Sign::Minus => out.push(u8::MAX),
        Sign::NoSign => out.push(0),
        Sign::Plus => {}
    }
    out.reverse();
    for piece in out.chunks_mut(zakuro_base::progress::STRIDE) {
        p.poll()?;
        for d in piece {
            *d = match *d {
                u8::MAX => b'-',
                d => b"0123456789abcdefghijklmnopqrstuvwxyz"[usize::from(d) % 36],
            };
        }
    }
    Ok(String::from_utf8(out).unwrap_or_default())
}
