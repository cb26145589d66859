//! Operations on big numbers that can be left: num-bigint's for small numbers, and above them algorithms whose portions are small numbers again.
//!
//! num-bigint has no way to stop it, and its division, roots, powers modulo a number and conversions are quadratic or worse. Here each portion
//! costs some milliseconds at most, and a [`Progress`] is asked between them. Sizes are counted in limbs of 64 bits.
//! Linear operations (sums, shifts, bits) are left to num-bigint: numbers are bounded to 256 MB.
//! Rejected: a process of its own for long operations; a fast Fourier multiplication (six times the operands' memory, which a limited VM may not have).

mod decimal;
mod divide;
mod gcd;
mod multiply;
mod power;
mod text;

#[cfg(test)]
mod tests;

pub use divide::{div_floor, div_rem, div_trunc, exact_div};
pub use gcd::gcd;
pub use multiply::{mul, product};
pub use power::{mod_pow, pow, pow10, sqrt};
pub use text::{digits, from_digits, small_digits, to_text};

use num_bigint::BigUint;
pub use zakuro_base::progress::{Progress, Stopped, step};

pub type Result<T> = std::result::Result<T, Stopped>;

/// Number of limbs.
fn limbs(n: &BigUint) -> usize {
    n.bits().div_ceil(64) as usize
}

/// The number of limbs from..to of a number.
fn part(n: &BigUint, from: usize, to: usize) -> BigUint {
    let mut out = Vec::with_capacity(2 * (to - from));
    out.extend(n.iter_u64_digits().skip(from).take(to - from).flat_map(|d| [d as u32, (d >> 32) as u32]));
    BigUint::new(out)
}

/// Low `at` limbs, and the rest.
fn split(n: &BigUint, at: usize) -> (BigUint, BigUint) {
    (part(n, 0, at), n >> (64 * at as u64))
}

/// Sum of parts that don't overlap: part k begins at limb `k * size` and has no more than `size` limbs.
fn join(parts: &[BigUint], size: usize) -> BigUint {
    let mut out: Vec<u32> = Vec::with_capacity(2 * size * parts.len());
    for (k, p) in parts.iter().enumerate() {
        out.resize(2 * size * k, 0);
        out.extend(p.iter_u32_digits());
    }
    BigUint::new(out)
}
