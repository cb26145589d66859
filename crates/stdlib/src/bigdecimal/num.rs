//! Decimal numbers of any precision: `digits * 10^exp`, over [`zakuro_text::big`]. No VM here; what can take long asks a Progress and may be left.
//!
//! Invariant: the digits of a finite number are neither zero nor a multiple of ten, so equal numbers have equal parts. Binary digits, not packed
//! decimals: products and quotients are num-bigint's, and finding the number of decimal digits is one logarithm. Numbers that leave the range
//! of exponents become infinite or zero and say so in [`Rules::flags`].

use num_bigint::{BigInt, BigUint, Sign};
use num_traits::{ToPrimitive, Zero};
use std::cmp::Ordering;
use zakuro_text::big::{self, Progress, Result};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Num {
    NaN,
    Infinite { neg: bool },
    Zero { neg: bool },
    Finite { neg: bool, digits: BigUint, exp: i64 },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Round {
    Up = 1,
    Down,
    HalfUp,
    HalfDown,
    Ceiling,
    Floor,
    HalfEven,
}

pub const NAN: u8 = 2;
pub const INFINITY: u8 = 1;
pub const UNDERFLOW: u8 = 4;
pub const ZERO_DIVIDE: u8 = 16;

/// How results are rounded, and what happened meanwhile.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub round: Round,
    /// Significant digits of results; 0: all.
    pub limit: u64,
    /// UNDERFLOW, ZERO_DIVIDE, and INFINITY for an overflow.
    pub flags: u8,
    /// A result would have more digits than memory holds.
    pub too_big: bool,
}

/// Digits that a Float tells.
pub const DOUBLE_FIG: u64 = 16;
/// Digits in a word of the reference's numbers: some defaults depend on it.
const WORD: i64 = 9;
/// More digits than this are refused.
const MOST: u64 = 500_000_000;

pub fn pow10(n: u64, p: &mut dyn Progress) -> Result<BigUint> {
    match u32::try_from(n).ok().and_then(|n| 10u64.checked_pow(n)) {
        Some(p) => Ok(p.into()),
        None => big::pow10(n as u32, p),
    }
}

/// Number of decimal digits of a number that isn't 0.
pub fn count_digits(n: &BigUint) -> u64 {
    let bits = n.bits();
    if bits <= 64 {
        return n.to_u64().map_or(1, |n| u64::from(n.max(1).ilog10()) + 1);
    }
    let top = (n >> (bits - 64)).to_u64().unwrap_or(u64::MAX) as f64;
    let log = (top.log2() + (bits - 64) as f64) * std::f64::consts::LOG10_2;
    let (whole, rest) = (log.floor(), log.fract());
    if rest > 1e-6 && rest < 1.0 - 1e-6 {
        return whole as u64 + 1;
    }
    // Too near to a power of ten for a logarithm to tell.
    let power = log.round() as u64;
    if *n >= BigUint::from(10u32).pow(power as u32) { power + 1 } else { power }
}

/// Divides by the largest power of ten that divides; returns its exponent.
fn trim(n: &mut BigUint, p: &mut dyn Progress) -> Result<u64> {
    let mut removed = 0;
    loop {
        // A multiple of 10^k is one of 2^k.
        let most = n.trailing_zeros().unwrap_or(0);
        if most == 0 {
            return Ok(removed);
        }
        let mut step = most.min(1 << 20);
        loop {
            let (q, r) = big::div_rem(n, &pow10(step, p)?, p)?;
            if r.is_zero() {
                *n = q;
                removed += step;
                break;
            }
            // What the remainder has at its end, the number has.
            if step == 1 {
                return Ok(removed);
            }
            step = step.div_ceil(2);
        }
    }
}

impl Rules {
    /// A number of digits and exponent; trims and checks the range.
    pub fn number(&mut self, neg: bool, mut digits: BigUint, exp: i128, p: &mut dyn Progress) -> Result<Num> {
        if digits.is_zero() {
            return Ok(Num::Zero { neg });
        }
        let exp = exp + i128::from(trim(&mut digits, p)?);
        let top = exp + i128::from(count_digits(&digits));
        if top > i128::from(i64::MAX) {
            self.flags |= INFINITY;
            return Ok(Num::Infinite { neg });
        }
        Ok(match i64::try_from(exp) {
            Ok(exp) => Num::Finite { neg, digits, exp },
            Err(_) => {
                self.flags |= UNDERFLOW;
                Num::Zero { neg }
            }
        })
    }
    fn limited(&mut self, n: Num, p: &mut dyn Progress) -> Result<Num> {
        if self.limit == 0 { Ok(n) } else { self.significant(n, self.limit, self.round, p) }
    }

    pub fn add(&mut self, a: &Num, b: &Num, negate: bool, digits: u64, p: &mut dyn Progress) -> Result<Num> {
        let b_neg = b.is_negative() != negate;
        Ok(match (a, b) {
            (Num::NaN, _) | (_, Num::NaN) => Num::NaN,
            (Num::Infinite { neg }, Num::Infinite { .. }) => {
                if *neg == b_neg {
                    Num::Infinite { neg: *neg }
                } else {
                    Num::NaN
                }
            }
            (Num::Infinite { neg }, _) => Num::Infinite { neg: *neg },
            (_, Num::Infinite { .. }) => Num::Infinite { neg: b_neg },
            (Num::Zero { neg }, Num::Zero { .. }) => Num::Zero { neg: *neg && b_neg },
            (Num::Zero { .. }, Num::Finite { digits: d, exp, .. }) => {
                let n = Num::Finite { neg: b_neg, digits: d.clone(), exp: *exp };
                self.rounded(n, digits, p)?
            }
            (Num::Finite { .. }, Num::Zero { .. }) => self.rounded(a.clone(), digits, p)?,
            (Num::Finite { neg, digits: d, exp }, Num::Finite { digits: e, exp: f, .. }) => {
                let wanted = if digits > 0 { digits } else { self.limit };
                let (one, other) = ((*neg, d, *exp), (b_neg, e, *f));
                let sum = match near(one, other, wanted) {
                    Some((x, y)) => self.sum(x, y, p)?,
                    None => self.sum((one.0, one.1.clone(), one.2), (other.0, other.1.clone(), other.2), p)?,
                };
                self.rounded(sum, digits, p)?
            }
        })
    }
    fn sum(&mut self, a: (bool, BigUint, i64), b: (bool, BigUint, i64), p: &mut dyn Progress) -> Result<Num> {
        let exp = a.2.min(b.2);
        let (Some(x), Some(y)) = (self.shifted(a.1, a.2.abs_diff(exp), p)?, self.shifted(b.1, b.2.abs_diff(exp), p)?) else {
            return Ok(Num::NaN);
        };
        let sign = |neg| if neg { Sign::Minus } else { Sign::Plus };
        let sum = BigInt::from_biguint(sign(a.0), x) + BigInt::from_biguint(sign(b.0), y);
        let (sign, digits) = sum.into_parts();
        self.number(sign == Sign::Minus, digits, exp.into(), p)
    }
    fn shifted(&mut self, n: BigUint, by: u64, p: &mut dyn Progress) -> Result<Option<BigUint>> {
        if by == 0 {
            return Ok(Some(n));
        }
        if by > MOST {
            self.too_big = true;
            return Ok(None);
        }
        Ok(Some(big::product(&n, &pow10(by, p)?, p)?))
    }
    fn rounded(&mut self, n: Num, digits: u64, p: &mut dyn Progress) -> Result<Num> {
        if digits > 0 { self.significant(n, digits, self.round, p) } else { self.limited(n, p) }
    }

    pub fn mul(&mut self, a: &Num, b: &Num, digits: u64, p: &mut dyn Progress) -> Result<Num> {
        let neg = a.is_negative() != b.is_negative();
        Ok(match (a, b) {
            (Num::NaN, _) | (_, Num::NaN) => Num::NaN,
            (Num::Infinite { .. }, Num::Zero { .. }) | (Num::Zero { .. }, Num::Infinite { .. }) => Num::NaN,
            (Num::Infinite { .. }, _) | (_, Num::Infinite { .. }) => Num::Infinite { neg },
            (Num::Zero { .. }, _) | (_, Num::Zero { .. }) => Num::Zero { neg },
            (Num::Finite { digits: d, exp, .. }, Num::Finite { digits: e, exp: f, .. }) => {
                let n = self.number(neg, big::product(d, e, p)?, i128::from(*exp) + i128::from(*f), p)?;
                self.rounded(n, digits, p)?
            }
        })
    }

    /// The quotient, rounded to `digits` significant digits.
    pub fn div(&mut self, a: &Num, b: &Num, digits: u64, p: &mut dyn Progress) -> Result<Num> {
        let neg = a.is_negative() != b.is_negative();
        Ok(match (a, b) {
            (Num::NaN, _) | (_, Num::NaN) | (Num::Infinite { .. }, Num::Infinite { .. }) | (Num::Zero { .. }, Num::Zero { .. }) => Num::NaN,
            (Num::Infinite { .. }, _) => Num::Infinite { neg },
            (_, Num::Infinite { .. }) => Num::Zero { neg },
            (_, Num::Zero { .. }) => {
                self.flags |= ZERO_DIVIDE;
                Num::Infinite { neg }
            }
            (Num::Zero { .. }, _) => Num::Zero { neg },
            (Num::Finite { digits: d, exp, .. }, Num::Finite { digits: e, exp: f, .. }) => {
                let shift = (digits as i128 + 1 + i128::from(count_digits(e)) - i128::from(count_digits(d))).max(0);
                let Some(top) = self.shifted(d.clone(), u64::try_from(shift).unwrap_or(u64::MAX), p)? else { return Ok(Num::NaN) };
                let (q, r) = big::div_rem(&top, e, p)?;
                let exp = i128::from(*exp) - i128::from(*f) - shift;
                let n = if r.is_zero() {
                    self.number(neg, q, exp, p)?
                } else {
                    // A digit more, so that rounding sees that something follows.
                    self.number(neg, q * 10u32 + 1u32, exp - 1, p)?
                };
                self.significant(n, digits, self.round, p)?
            }
        })
    }

    /// Integer quotient and remainder of finite numbers that aren't 0; the quotient is rounded down, or towards 0.
    pub fn div_rem(&mut self, a: &Num, b: &Num, truncate: bool, p: &mut dyn Progress) -> Result<Option<(BigInt, Num)>> {
        let (Num::Finite { neg, digits: d, exp }, Num::Finite { neg: b_neg, digits: e, exp: f }) = (a, b) else { return Ok(None) };
        // Far smaller than the divisor: nothing to divide.
        let top = |n: &BigUint, exp: i64| count_digits(n) as i128 + i128::from(exp);
        if top(d, *exp) < top(e, *f) && (truncate || neg == b_neg) {
            return Ok(Some((BigInt::zero(), a.clone())));
        }
        let low = *exp.min(f);
        let (x, y) = (self.shifted(d.clone(), exp.abs_diff(low), p)?, self.shifted(e.clone(), f.abs_diff(low), p)?);
        let (Some(x), Some(y)) = (x, y) else { return Ok(None) };
        let sign = |neg: bool| if neg { Sign::Minus } else { Sign::Plus };
        let (x, y) = (BigInt::from_biguint(sign(*neg), x), BigInt::from_biguint(sign(*b_neg), y));
        let (q, r) = if truncate { big::div_trunc(&x, &y, p)? } else { big::div_floor(&x, &y, p)? };
        let (sign, digits) = r.into_parts();
        // A remainder of 0 has the sign that subtraction gives it: none.
        let r = self.number(sign == Sign::Minus, digits, low.into(), p)?;
        Ok(Some((q, r)))
    }

    /// Rounds to a number of significant digits.
    pub fn significant(&mut self, n: Num, digits: u64, how: Round, p: &mut dyn Progress) -> Result<Num> {
        let Num::Finite { digits: d, exp, .. } = &n else { return Ok(n) };
        let have = count_digits(d);
        if have <= digits {
            return Ok(n);
        }
        let place = i128::from(*exp) + i128::from(have - digits);
        self.to_place(n, place, how, p)
    }
    /// Rounds to a multiple of `10^place`.
    pub fn to_place(&mut self, n: Num, place: i128, how: Round, p: &mut dyn Progress) -> Result<Num> {
        let Num::Finite { neg, digits, exp } = &n else { return Ok(n) };
        let drop = place - i128::from(*exp);
        if drop <= 0 {
            return Ok(n);
        }
        let neg = *neg;
        let have = i128::from(count_digits(digits));
        // The part that stays, and how the rest compares to one half.
        let (kept, rest) = if drop > have {
            (BigUint::zero(), Ordering::Less)
        } else {
            let power = pow10(drop as u64, p)?;
            let (q, r) = big::div_rem(digits, &power, p)?;
            let rest = (r << 1u32).cmp(&power);
            (q, rest)
        };
        let up = match how {
            Round::Up => true,
            Round::Down => false,
            Round::Ceiling => !neg,
            Round::Floor => neg,
            Round::HalfUp => rest != Ordering::Less,
            Round::HalfDown => rest == Ordering::Greater,
            Round::HalfEven => rest == Ordering::Greater || rest == Ordering::Equal && kept.bit(0),
        };
        self.number(neg, if up { kept + 1u32 } else { kept }, place, p)
    }
}

/// Where one summand lies beyond the digits that are wanted: the other one, and a tiny number in its place.
fn near(a: (bool, &BigUint, i64), b: (bool, &BigUint, i64), wanted: u64) -> Option<((bool, BigUint, i64), (bool, BigUint, i64))> {
    if wanted == 0 {
        return None;
    }
    let top = |x: &(bool, &BigUint, i64)| i128::from(x.2) + i128::from(count_digits(x.1));
    let (big, small) = if top(&a) >= top(&b) { (a, b) } else { (b, a) };
    let floor = i128::from(big.2).min(top(&big) - i128::from(wanted) - 2) - 2;
    if top(&small) >= floor {
        return None;
    }
    Some(((big.0, big.1.clone(), big.2), (small.0, BigUint::from(1u32), i64::try_from(floor).ok()?)))
}

impl Num {
    pub fn is_negative(&self) -> bool {
        match self {
            Num::NaN => false,
            Num::Infinite { neg } | Num::Zero { neg } | Num::Finite { neg, .. } => *neg,
        }
    }
    pub fn negated(&self) -> Num {
        self.with_sign(!self.is_negative())
    }
    pub fn with_sign(&self, neg: bool) -> Num {
        match self {
            Num::NaN => Num::NaN,
            Num::Infinite { .. } => Num::Infinite { neg },
            Num::Zero { .. } => Num::Zero { neg },
            Num::Finite { digits, exp, .. } => Num::Finite { neg, digits: digits.clone(), exp: *exp },
        }
    }
    pub fn integer(n: &BigInt, p: &mut dyn Progress) -> Result<Num> {
        let mut rules = Rules { round: Round::HalfUp, limit: 0, flags: 0, too_big: false };
        rules.number(n.sign() == Sign::Minus, n.magnitude().clone(), 0, p)
    }
    /// `n` of `0.d * 10^n`; 0 for what isn't finite.
    pub fn exponent(&self) -> i64 {
        match self {
            Num::Finite { digits, exp, .. } => exp.saturating_add(count_digits(digits) as i64),
            _ => 0,
        }
    }
    /// Digits before and behind the point that are needed, and those behind it.
    pub fn precision_scale(&self) -> (i64, i64) {
        match self {
            Num::Finite { exp, .. } => {
                let (top, scale) = (self.exponent(), exp.checked_neg().unwrap_or(i64::MAX).max(0));
                (top.max(0).saturating_add(scale), scale)
            }
            _ => (0, 0),
        }
    }
    pub fn significant_digits(&self) -> u64 {
        match self {
            Num::Finite { digits, .. } => count_digits(digits),
            _ => 0,
        }
    }
    /// Digits of the words of nine that hold the number, as the reference keeps it.
    pub fn word_digits(&self) -> u64 {
        match self {
            Num::Finite { exp, .. } => {
                let top = i128::from(self.exponent());
                let word = i128::from(WORD);
                ((-(-top).div_euclid(word) - i128::from(*exp).div_euclid(word)) * word) as u64
            }
            _ => WORD as u64,
        }
    }
    /// None with NaN.
    pub fn compare(&self, other: &Num, p: &mut dyn Progress) -> Result<Option<Ordering>> {
        let rank = |n: &Num| match n {
            Num::NaN => None,
            Num::Zero { .. } => Some(0),
            Num::Infinite { neg } => Some(if *neg { -2 } else { 2 }),
            Num::Finite { neg, .. } => Some(if *neg { -1 } else { 1 }),
        };
        let (Some(a), Some(b)) = (rank(self), rank(other)) else { return Ok(None) };
        let (Num::Finite { neg, digits: d, exp }, Num::Finite { digits: e, exp: f, .. }) = (self, other) else {
            return Ok(Some(a.cmp(&b)));
        };
        if a != b {
            return Ok(Some(a.cmp(&b)));
        }
        let mut order = self.exponent().cmp(&other.exponent());
        if order.is_eq() {
            // Of equal exponent: the digits, brought to the same length.
            let power = pow10(exp.abs_diff(*f), p)?;
            order = if exp >= f { big::product(d, &power, p)?.cmp(e) } else { d.cmp(&big::product(e, &power, p)?) };
        }
        Ok(Some(if *neg { order.reverse() } else { order }))
    }
    /// The integer part. None for what has none, or too many digits.
    pub fn to_integer(&self, p: &mut dyn Progress) -> Result<Option<BigInt>> {
        Ok(match self {
            Num::Zero { .. } => Some(BigInt::zero()),
            Num::Finite { neg, digits, exp } => {
                let n = match exp {
                    0.. if *exp as u64 > MOST => return Ok(None),
                    0.. => big::product(digits, &pow10(*exp as u64, p)?, p)?,
                    _ if self.exponent() <= 0 => return Ok(Some(BigInt::zero())),
                    _ => big::div_rem(digits, &pow10(exp.unsigned_abs(), p)?, p)?.0,
                };
                Some(BigInt::from_biguint(if *neg { Sign::Minus } else { Sign::Plus }, n))
            }
            _ => None,
        })
    }
}
