//! The algorithms against num-bigint's own, for sizes at which each way is taken; and that they stop when told to.

use super::*;
use crate::reference::Rng;
use num_bigint::BigInt;
use num_integer::Integer;
use zakuro_base::progress::ToTheEnd;

fn number(rng: &mut Rng, limbs: usize) -> BigUint {
    let digits = (0..limbs * 2).map(|_| match rng.below(8) {
        // Long runs of equal bits are where carries and corrections happen.
        0 => 0,
        1 => u32::MAX,
        _ => (rng.below(1 << 16) << 16 | rng.below(1 << 16)) as u32,
    });
    BigUint::new(digits.collect())
}

/// Stops at the n-th question.
struct Stop(usize);
impl Progress for Stop {
    fn poll(&mut self) -> Result<()> {
        self.0 = self.0.checked_sub(1).ok_or(Stopped)?;
        Ok(())
    }
}

#[test]
fn products() {
    let mut rng = Rng(3);
    for (n, m) in [(40_000, 40_000), (40_001, 30_000), (70_000, 9_000), (100_000, 100), (90_000, 25_000)] {
        let (a, b) = (number(&mut rng, n), number(&mut rng, m));
        assert!(product(&a, &b, &mut ToTheEnd) == Ok(&a * &b), "{n} {m}");
    }
    let ones = (BigUint::from(1u32) << 3_000_000u32) - 1u32;
    assert!(product(&ones, &ones, &mut ToTheEnd) == Ok(&ones * &ones));
}

#[test]
fn quotients() {
    let mut rng = Rng(4);
    for (n, m) in [(20_000, 5_000), (20_000, 10_001), (9_000, 600), (30_000, 29_000), (200_000, 100), (3_000_000, 1), (7000, 3333), (5, 9)]
    {
        let (mut a, mut b) = (number(&mut rng, n), number(&mut rng, m) + 1u32);
        if a < b {
            std::mem::swap(&mut a, &mut b);
        }
        let (q, r) = divide::div_rem(&a, &b, &mut ToTheEnd).unwrap();
        assert!(r < b && &q * &b + &r == a, "{n} {m}");
        // One below a multiple: the largest remainder.
        let edge = &q * &b - 1u32;
        let (q, r) = divide::div_rem(&edge, &b, &mut ToTheEnd).unwrap();
        assert!(r < b && &q * &b + &r == edge, "{n} {m} edge");
    }
    for (a, b) in [(7, 2), (-7, 2), (7, -2), (-7, -2), (-6, 2), (0, 5)] {
        let (x, y) = (BigInt::from(a), BigInt::from(b));
        assert_eq!(div_floor(&x, &y, &mut ToTheEnd), Ok(x.div_mod_floor(&y)));
        assert_eq!(div_trunc(&x, &y, &mut ToTheEnd), Ok(x.div_rem(&y)));
    }
}

#[test]
fn divisors() {
    let mut rng = Rng(5);
    for (n, m, common) in [(2500, 2500, 300), (2600, 2100, 1), (5000, 2200, 700), (2100, 3, 1), (4000, 0, 2)] {
        let g = number(&mut rng, common);
        let (a, b) = (number(&mut rng, n) * &g, number(&mut rng, m) * &g);
        assert!(gcd(&a, &b, &mut ToTheEnd) == Ok(a.gcd(&b)), "{n} {m}");
    }
    // All quotients are 1.
    let (mut a, mut b) = (BigUint::from(1u32), BigUint::from(1u32));
    while a.bits() < 140_000 {
        b += &a;
        std::mem::swap(&mut a, &mut b);
    }
    assert!(gcd(&a, &b, &mut ToTheEnd) == Ok(BigUint::from(1u32)));
}

#[test]
fn powers_and_roots() {
    let mut rng = Rng(6);
    assert!(pow(&BigInt::from(-7), 50_001, &mut ToTheEnd) == Ok(BigInt::from(-7).pow(50_001)));
    for n in [0, 1, 19, 100_000] {
        assert!(pow10(n, &mut ToTheEnd) == Ok(BigUint::from(10u32).pow(n)));
    }
    for (a, n, m) in [(3, 900, 2), (120, 50, 120), (10, 7_000, 1), (200, 1, 1200)] {
        let (a, n, m) = (BigInt::from(number(&mut rng, a)), BigInt::from(number(&mut rng, n)), BigInt::from(number(&mut rng, m)));
        for (a, m) in [(a.clone(), m.clone()), (-&a, m.clone()), (a.clone(), -&m), (-&a, -&m)] {
            assert!(mod_pow(&a, &n, &m, &mut ToTheEnd) == Ok(a.modpow(&n, &m)));
        }
    }
    // Odd moduli, by Montgomery's way up to 64 limbs, and exponents for each of its windows.
    for m in [1, 2, 3, 4, 5, 6, 7, 8, 9, 64, 65] {
        for n in [0, 1, 3, 9] {
            let all_ones = (BigInt::from(1u32) << (64 * m)) - 1u32;
            let m = if n == 3 { all_ones } else { BigInt::from(number(&mut rng, m)) * 2u32 + 1u32 };
            let (a, n) = (BigInt::from(number(&mut rng, 5)), BigInt::from(number(&mut rng, n)));
            for (a, m) in [(a.clone(), m.clone()), (-&a, -&m), (&m - 1, m.clone())] {
                assert!(mod_pow(&a, &n, &m, &mut ToTheEnd) == Ok(a.modpow(&n, &m)));
            }
        }
    }
    // Even ones: powers of two, and times odd numbers, of one limb too.
    for (odd, twos) in [
        (0, 65),
        (0, 64),
        (0, 1000),
        (1, 64),
        (1, 300),
        (2, 1),
        (2, 63),
        (3, 64),
        (5, 65),
        (9, 128),
        (20, 129),
        (40, 900),
        (63, 1),
        (64, 1),
    ] {
        for n in [0, 1, 5] {
            let m: BigInt = (BigInt::from(number(&mut rng, odd)) * 2u32 + 1u32) << twos;
            let (a, n) = (BigInt::from(number(&mut rng, 5)), BigInt::from(number(&mut rng, n)));
            for (a, m) in
                [(a.clone(), m.clone()), (-&a, m.clone()), (a.clone(), -&m), (-&a, -&m), (&m - 1, m.clone()), (&a << 30, m.clone())]
            {
                assert!(mod_pow(&a, &n, &m, &mut ToTheEnd) == Ok(a.modpow(&n, &m)), "{odd} {twos}");
            }
        }
    }
    for limbs in [1, 2, 101, 150, 999] {
        let n = number(&mut rng, limbs) + 1u32;
        let square = &n * &n;
        for n in [n, &square - 1u32, square.clone(), &square + 1u32] {
            assert!(sqrt(&n, &mut ToTheEnd) == Ok(n.sqrt()), "{limbs}");
        }
    }
}

#[test]
fn digits_there_and_back() {
    let mut rng = Rng(7);
    for limbs in [0, 1, 38, 39, 40, 47, 48, 80, 300, 313, 314, 700, 5000] {
        let n = number(&mut rng, limbs);
        for radix in [2, 3, 8, 10, 16, 32, 36] {
            let text = to_text(&BigInt::from(n.clone()), radix, &mut ToTheEnd).unwrap();
            assert!(text == n.to_str_radix(radix), "{limbs} {radix}");
            let values: Vec<u8> = text.bytes().map(|b| (b as char).to_digit(36).unwrap() as u8).collect();
            assert!(from_digits(&values, radix, &mut ToTheEnd) == Ok(n.clone()), "{limbs} {radix}");
        }
        let zero = n.bits() == 0;
        assert!(small_digits(&n, 255, &mut ToTheEnd).unwrap() == if zero { vec![] } else { n.to_radix_le(255) });
        let base = BigUint::from(10u32).pow(40);
        let all = digits(&n, &base, &mut ToTheEnd).unwrap();
        let sum = all.iter().rev().fold(BigUint::default(), |sum, d| sum * &base + d);
        assert!(sum == n && all.iter().all(|d| *d < base) && all.last().is_none_or(|d| d.bits() > 0));
    }
    for power in 0..80 {
        let n = BigInt::from(10).pow(power);
        for n in [&n - 1, n.clone(), n + 1] {
            assert!(to_text(&n, 10, &mut ToTheEnd) == Ok(n.to_str_radix(10)), "{n}");
        }
    }
    // Zeros within and at the end.
    let n = BigInt::from(10).pow(30_000);
    assert!(to_text(&-n, 10, &mut ToTheEnd) == Ok(format!("-1{}", "0".repeat(30_000))));
}

#[test]
fn all_of_them_stop() {
    let mut rng = Rng(8);
    let (a, b) = (number(&mut rng, 60_000), number(&mut rng, 30_000));
    let digits = vec![7u8; 200_000];
    for n in [0, 1, 5] {
        assert!(product(&a, &b, &mut Stop(n)).is_err());
        assert!(divide::div_rem(&a, &b, &mut Stop(n)).is_err());
        assert!(gcd(&a, &b, &mut Stop(n)).is_err());
        assert!(mod_pow(&a.clone().into(), &b.clone().into(), &b.clone().into(), &mut Stop(n)).is_err());
        assert!(sqrt(&a, &mut Stop(n)).is_err());
        assert!(to_text(&a.clone().into(), 10, &mut Stop(n)).is_err());
        assert!(from_digits(&digits, 10, &mut Stop(n)).is_err());
        assert!(pow(&b.clone().into(), 9, &mut Stop(n)).is_err());
    }
}
