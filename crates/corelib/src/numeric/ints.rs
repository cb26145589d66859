//! Arithmetic on Integer values: Fixnums inline, the rest through num-bigint. Both operands of every function here *are* Integers (callers test);
//! nothing here calls Ruby, so nothing here needs rooting.

use dashu_int::UBig;
use dashu_int::ops::Gcd as _;
use num_bigint::{BigInt, Sign};
use num_integer::Integer as _;
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::borrow::Cow;
use std::cmp::Ordering;
use zakuro_vm::convert::big_to_f64;
use zakuro_vm::*;

/// Bits that a power may have. CRuby 4.0 goes further (to 16 GB); a VM among thousands should not.
pub const POW_LIMIT_BITS: u64 = 1 << 28;
/// `<<` refuses beyond 2 Gi bits (256 MB); no program gets there on purpose.
const SHIFT_LIMIT_BITS: u64 = 1 << 31;

pub const ZERO: Value = Value::fixnum(0);
pub const ONE: Value = Value::fixnum(1);
pub const TEN: Value = Value::fixnum(10);

#[inline(always)]
pub fn is_int(v: Value) -> bool {
    v.is_fixnum() || v.is_kind(Kind::Bignum)
}

/// The big number of a Bignum cell.
#[inline(always)]
pub fn big_ref(v: Value) -> Option<&'static BigInt> {
    // SAFETY: cells don't move and nothing in this module collects, so the box outlives the operation that asked for it.
    Ref::<BignumCell>::from_value(v).map(|b| unsafe { &*(&*(*b.as_ptr()).value as *const BigInt) })
}

/// An Integer as big number, borrowed when it is one. Zero for anything else.
pub fn big(v: Value) -> Cow<'static, BigInt> {
    match big_ref(v) {
        Some(b) => Cow::Borrowed(b),
        None => Cow::Owned(BigInt::from(v.as_fixnum().unwrap_or(0))),
    }
}

macro_rules! big_op {
    ($cx:ident, $a:ident, $b:ident, $op:tt) => {
        match (big_ref($a), big_ref($b)) {
            (Some(x), Some(y)) => $cx.big(x $op y),
            (Some(x), None) => $cx.big(x $op $b.fix()),
            (None, Some(y)) => $cx.big($a.fix() $op y),
            (None, None) => $cx.big(BigInt::from($a.fix()) $op $b.fix()),
        }
    };
}

#[inline]
pub fn add(cx: &mut Cx, a: Value, b: Value) -> Value {
    if Value::both_fixnum(a, b) { cx.int(a.fix() + b.fix()) } else { big_op!(cx, a, b, +) }
}
#[inline]
pub fn sub(cx: &mut Cx, a: Value, b: Value) -> Value {
    if Value::both_fixnum(a, b) { cx.int(a.fix() - b.fix()) } else { big_op!(cx, a, b, -) }
}
#[inline]
pub fn mul(cx: &mut Cx, a: Value, b: Value) -> Value {
    if Value::both_fixnum(a, b) { cx.int_i128(a.fix() as i128 * b.fix() as i128) } else { big_op!(cx, a, b, *) }
}
pub fn neg(cx: &mut Cx, a: Value) -> Value {
    match big_ref(a) {
        Some(b) => cx.big(-b),
        None => cx.int(-a.fix()),
    }
}
pub fn abs(cx: &mut Cx, a: Value) -> Value {
    if is_negative(a) { neg(cx, a) } else { a }
}

pub fn is_zero(a: Value) -> bool {
    a == ZERO
}
pub fn is_negative(a: Value) -> bool {
    match big_ref(a) {
        Some(b) => b.is_negative(),
        None => a.fix() < 0,
    }
}
/// -1, 0 or 1.
pub fn signum(a: Value) -> i64 {
    match big_ref(a) {
        Some(b) if b.is_negative() => -1,
        Some(_) => 1,
        None => a.fix().signum(),
    }
}
pub fn is_odd(a: Value) -> bool {
    match big_ref(a) {
        Some(b) => b.is_odd(),
        None => a.fix() & 1 == 1,
    }
}

#[inline]
pub fn cmp(a: Value, b: Value) -> Ordering {
    if Value::both_fixnum(a, b) {
        return a.fix().cmp(&b.fix());
    }
    match (big_ref(a), big_ref(b)) {
        (Some(x), Some(y)) => x.cmp(y),
        // A Bignum is beyond every Fixnum.
        (Some(x), None) => {
            if x.is_negative() {
                Ordering::Less
            } else {
                Ordering::Greater
            }
        }
        (None, _) => match big_ref(b) {
            Some(y) if y.is_negative() => Ordering::Greater,
            _ => Ordering::Less,
        },
    }
}
#[inline]
pub fn equal(a: Value, b: Value) -> bool {
    a == b || matches!((big_ref(a), big_ref(b)), (Some(x), Some(y)) if x == y)
}

/// Exact comparison with a double; None for NaN.
pub fn cmp_f64(a: Value, f: f64) -> Option<Ordering> {
    if f.is_nan() {
        return None;
    }
    if f.is_infinite() {
        return Some(if f > 0.0 { Ordering::Less } else { Ordering::Greater });
    }
    if a.is_fixnum() && f.abs() < 9.2e18 {
        let t = f.trunc();
        return Some(a.fix().cmp(&(t as i64)).then_with(|| 0.0f64.partial_cmp(&(f - t)).unwrap_or(Ordering::Equal)));
    }
    // Beyond 2**53 a double has no fraction; below, a Bignum's order is decided by its integer part.
    let t = zakuro_text::float::float_to_bigint(f);
    Some(big(a).as_ref().cmp(&t))
}

#[inline]
pub fn to_f64(a: Value) -> f64 {
    match big_ref(a) {
        Some(b) => big_to_f64(b),
        None => a.fix() as f64,
    }
}

#[cold]
pub fn zero_division<T>(cx: &mut Cx) -> Result<T> {
    cx.raise(ids::ZERO_DIVISION_ERROR, "divided by 0")
}

/// Floored quotient and remainder. ZeroDivisionError.
pub fn divmod(cx: &mut Cx, a: Value, b: Value) -> Result<(Value, Value)> {
    if b == ZERO {
        return zero_division(cx);
    }
    if Value::both_fixnum(a, b) {
        let (x, y) = (a.fix(), b.fix());
        let (q, m) = x.div_mod_floor(&y);
        return Ok((cx.int(q), cx.int(m)));
    }
    let (q, m) = big(a).div_mod_floor(&big(b));
    Ok((cx.big(q), cx.big(m)))
}
pub fn div(cx: &mut Cx, a: Value, b: Value) -> Result<Value> {
    Ok(divmod(cx, a, b)?.0)
}
pub fn modulo(cx: &mut Cx, a: Value, b: Value) -> Result<Value> {
    if Value::both_fixnum(a, b) && b != ZERO {
        return Ok(cx.int(a.fix().mod_floor(&b.fix())));
    }
    Ok(divmod(cx, a, b)?.1)
}
/// Remainder with the sign of the dividend.
pub fn remainder(cx: &mut Cx, a: Value, b: Value) -> Result<Value> {
    if b == ZERO {
        return zero_division(cx);
    }
    if Value::both_fixnum(a, b) {
        return Ok(cx.int(a.fix() % b.fix()));
    }
    let r = big(a).as_ref() % big(b).as_ref();
    Ok(cx.big(r))
}
/// Greatest common divisor, never negative.
pub fn gcd(cx: &mut Cx, a: Value, b: Value) -> Value {
    if Value::both_fixnum(a, b) {
        return cx.int(a.fix().gcd(&b.fix()));
    }
    let g = big_gcd(big(a).as_ref(), big(b).as_ref());
    cx.big(g)
}
pub fn lcm(cx: &mut Cx, a: Value, b: Value) -> Value {
    let (a, b) = (big(a), big(b));
    if a.is_zero() || b.is_zero() {
        return ZERO;
    }
    let l = (a.as_ref() / big_gcd(a.as_ref(), b.as_ref()) * b.as_ref()).abs();
    cx.big(l)
}
/// By dashu-int, which has Lehmer's algorithm; num-bigint's binary one takes thirteen times as long for 30,000 bits.
fn big_gcd(a: &BigInt, b: &BigInt) -> BigInt {
    if a.is_zero() || b.is_zero() {
        return (a + b).abs();
    }
    let natural = |n: &BigInt| UBig::from_le_bytes(&n.magnitude().to_bytes_le());
    BigInt::from_bytes_le(Sign::Plus, &natural(a).gcd(natural(b)).to_le_bytes())
}
/// Exact quotient of a division that leaves no remainder; `b` is not zero.
pub fn exact_div(cx: &mut Cx, a: Value, b: Value) -> Value {
    if b == ONE {
        return a;
    }
    if Value::both_fixnum(a, b) && b != ZERO {
        return cx.int(a.fix() / b.fix());
    }
    let q = big(a).as_ref() / big(b).as_ref();
    cx.big(q)
}

/// Number of bits of the magnitude.
pub fn magnitude_bits(a: Value) -> u64 {
    match big_ref(a) {
        Some(b) => b.bits(),
        None => 64 - a.fix().unsigned_abs().leading_zeros() as u64,
    }
}

/// `a ** n` for n >= 0. ArgumentError when the result would be absurdly long.
pub fn pow(cx: &mut Cx, a: Value, n: Value) -> Result<Value> {
    if n == ZERO {
        return Ok(ONE);
    }
    if n == ONE || a == ONE || a == ZERO {
        return Ok(a);
    }
    if a == Value::fixnum(-1) {
        return Ok(if is_odd(n) { a } else { ONE });
    }
    let Some(e) = n.as_fixnum().and_then(|n| u32::try_from(n).ok()) else { return cx.arg_error("exponent is too large") };
    if let Some(x) = a.as_fixnum()
        && let Some(r) = x.checked_pow(e)
    {
        return Ok(cx.int(r));
    }
    // Powers of two are exact in length: bits - 1 per factor.
    if magnitude_bits(a).saturating_sub(1).saturating_mul(e as u64) > POW_LIMIT_BITS {
        return cx.arg_error("exponent is too large");
    }
    if let Some(x) = a.as_fixnum()
        && x > 0
        && x.count_ones() == 1
    {
        let b = BigInt::one() << (x.trailing_zeros() as u64 * e as u64);
        return Ok(cx.big(b));
    }
    let b = big(a).pow(e);
    Ok(cx.big(b))
}

/// `10 ** n`; n is bounded by the caller's sense.
pub fn pow10(cx: &mut Cx, n: u64) -> Result<Value> {
    let n = cx.int_u64(n);
    pow(cx, TEN, n)
}

/// `(a ** n) % m` by square and multiply; n >= 0, m not zero. The result has the sign of m.
pub fn pow_mod(cx: &mut Cx, a: Value, n: Value, m: Value) -> Value {
    if let (Some(x), Some(e), Some(m)) = (a.as_fixnum(), n.as_fixnum(), m.as_fixnum()) {
        let modulus = m.unsigned_abs() as u128;
        let mut base = x.mod_floor(&(m.unsigned_abs() as i64)) as u128;
        let (mut e, mut r) = (e as u64, 1 % modulus);
        while e > 0 {
            if e & 1 == 1 {
                r = r * base % modulus;
            }
            base = base * base % modulus;
            e >>= 1;
        }
        let r = r as i64;
        return cx.int(if m < 0 && r != 0 { r + m } else { r });
    }
    let r = big(a).modpow(&big(n), &big(m));
    cx.big(r)
}

/// `a << n` (`>>` for negative n).
pub fn shift_left(cx: &mut Cx, a: Value, n: Value) -> Result<Value> {
    if a == ZERO || n == ZERO {
        return Ok(a);
    }
    let negative = is_negative(a);
    let Some(n) = n.as_fixnum() else {
        if is_negative(n) {
            return Ok(Value::fixnum(if negative { -1 } else { 0 }));
        }
        return cx.range_error("shift width too big");
    };
    if n < 0 {
        let n = n.unsigned_abs();
        if let Some(x) = a.as_fixnum() {
            return Ok(Value::fixnum(x >> n.min(63)));
        }
        let b = big(a);
        if n >= b.bits() {
            return Ok(Value::fixnum(if negative { -1 } else { 0 }));
        }
        let r = b.as_ref() >> n;
        return Ok(cx.big(r));
    }
    if let Some(x) = a.as_fixnum()
        && n < 63
    {
        return Ok(cx.int_i128((x as i128) << n));
    }
    if n as u64 + magnitude_bits(a) > SHIFT_LIMIT_BITS {
        if n >= 1 << 60 {
            return cx.range_error("shift width too big");
        }
        return cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory");
    }
    let r = big(a).as_ref() << (n as u64);
    Ok(cx.big(r))
}

pub fn bit_and(cx: &mut Cx, a: Value, b: Value) -> Value {
    if Value::both_fixnum(a, b) {
        return Value::fixnum(a.fix() & b.fix());
    }
    let r = big(a).as_ref() & big(b).as_ref();
    cx.big(r)
}
pub fn bit_or(cx: &mut Cx, a: Value, b: Value) -> Value {
    if Value::both_fixnum(a, b) {
        return Value::fixnum(a.fix() | b.fix());
    }
    let r = big(a).as_ref() | big(b).as_ref();
    cx.big(r)
}
pub fn bit_xor(cx: &mut Cx, a: Value, b: Value) -> Value {
    if Value::both_fixnum(a, b) {
        return Value::fixnum(a.fix() ^ b.fix());
    }
    let r = big(a).as_ref() ^ big(b).as_ref();
    cx.big(r)
}

/// Bit `n` of the two's complement.
pub fn bit_at(a: Value, n: Value) -> bool {
    if is_negative(n) {
        return false;
    }
    let Some(n) = n.as_fixnum() else { return is_negative(a) };
    match big_ref(a) {
        Some(b) => b.bit(n as u64),
        None => a.fix() >> n.min(63) & 1 == 1,
    }
}
/// Bits needed without the sign bit, as Integer#bit_length.
pub fn bit_length(a: Value) -> u64 {
    match big_ref(a) {
        Some(b) if b.is_negative() => {
            let n: BigInt = b + BigInt::one();
            n.bits()
        }
        Some(b) => b.bits(),
        None => {
            let x = a.fix();
            64 - (if x < 0 { !x } else { x }).leading_zeros() as u64
        }
    }
}

/// Integer square root of a >= 0.
pub fn isqrt(cx: &mut Cx, a: Value) -> Value {
    match big_ref(a) {
        Some(b) => {
            let r = b.sqrt();
            cx.big(r)
        }
        None => Value::fixnum(a.fix().max(0).isqrt()),
    }
}

pub fn to_text(a: Value, radix: u32) -> String {
    match big_ref(a) {
        Some(b) => big_to_text(b, radix),
        None => zakuro_text::int::to_s(&zakuro_text::int::Int::Small(a.fix()), radix),
    }
}

/// Long decimal numbers are split in halves: num-bigint's own conversion is quadratic.
fn big_to_text(b: &BigInt, radix: u32) -> String {
    const DIRECT_BITS: u64 = 20_000;
    if b.bits() <= DIRECT_BITS || radix.is_power_of_two() {
        return b.to_str_radix(radix);
    }
    // powers[k] = radix ** (FIRST << k)
    const FIRST: usize = 2048;
    let mut powers = vec![BigInt::from(radix).pow(FIRST as u32)];
    while let Some(last) = powers.last()
        && last.bits() * 2 <= b.bits()
    {
        let next = last * last;
        powers.push(next);
    }
    let mut out = String::new();
    if b.is_negative() {
        out.push('-');
    }
    split_text(&b.abs(), radix, &powers, FIRST << (powers.len() - 1), 0, &mut out);
    out
}
fn split_text(b: &BigInt, radix: u32, powers: &[BigInt], low_digits: usize, width: usize, out: &mut String) {
    let Some((p, rest)) = powers.split_last() else {
        let t = b.to_str_radix(radix);
        (t.len()..width).for_each(|_| out.push('0'));
        out.push_str(&t);
        return;
    };
    let (high, low) = b.div_rem(p);
    if high.is_zero() && width == 0 {
        return split_text(&low, radix, rest, low_digits / 2, 0, out);
    }
    split_text(&high, radix, rest, low_digits / 2, width.saturating_sub(low_digits), out);
    split_text(&low, radix, rest, low_digits / 2, low_digits, out);
}

/// Quotient of two Integers as the nearest double, exact even when both are beyond the range of doubles.
pub fn quotient_f64(a: Value, b: Value) -> f64 {
    let (x, y) = (to_f64(a), to_f64(b));
    if x.abs() <= 9007199254740992.0 && y.abs() <= 9007199254740992.0 {
        return x / y;
    }
    big_quotient_f64(&big(a), &big(b))
}
fn big_quotient_f64(a: &BigInt, b: &BigInt) -> f64 {
    if b.is_zero() || a.is_zero() {
        return big_to_f64(a) / big_to_f64(b);
    }
    // Scale so that the quotient has 66 bits or more, keep a sticky bit, round once.
    let shift = 66 - (a.bits() as i64 - b.bits() as i64);
    let (n, d) = (a.abs(), b.abs());
    let (q, r) = if shift >= 0 { (n << shift as u64).div_rem(&d) } else { n.div_rem(&(d << shift.unsigned_abs())) };
    let q = if r.is_zero() { q } else { q | BigInt::one() };
    let negative = (a.sign() == Sign::Minus) != (b.sign() == Sign::Minus);
    let v = scale_big(&q, -shift);
    if negative { -v } else { v }
}
/// `q * 2**e` rounded once; the lowest bit of q may be sticky.
fn scale_big(q: &BigInt, e: i64) -> f64 {
    let bits = q.bits() as i64;
    // Below the normal range fewer bits survive: cut to what is left first.
    let top = bits + e;
    let keep = if top < -1021 { (53 - (-1021 - top)).max(0) } else { 53 };
    let drop = bits - keep;
    if keep == 0 && drop > bits {
        return 0.0;
    }
    if drop <= 0 {
        return ldexp(q.to_u64().unwrap_or(0) as f64, e);
    }
    let mut m: BigInt = q >> (drop as u64);
    let mask: BigInt = (BigInt::one() << (drop as u64)) - BigInt::one();
    let rest: BigInt = q & mask;
    let half = BigInt::one() << (drop as u64 - 1);
    match rest.cmp(&half) {
        Ordering::Greater => m += 1,
        Ordering::Equal if m.is_odd() => m += 1,
        _ => {}
    }
    ldexp(m.to_u64().unwrap_or(0) as f64, e + drop)
}
/// `x * 2**e` with x exact in 53 bits: no double rounding as long as the caller left only bits that fit.
pub fn ldexp(x: f64, e: i64) -> f64 {
    let (mut x, mut e) = (x, e.clamp(-4000, 4000) as i32);
    while e > 1000 {
        x *= 2f64.powi(1000);
        e -= 1000;
    }
    while e < -1000 {
        // Powers of two below the normal range lose bits only in the last step.
        let step = (-e - 900).min(900);
        x *= 2f64.powi(-step);
        e += step;
    }
    x * 2f64.powi(e)
}
