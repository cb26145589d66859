//! Arithmetic on Integer values: Fixnums inline, the rest through num-bigint, long operations through [`zakuro_text::big`]. Both operands of every
//! function here *are* Integers (callers test). What returns a Result has safepoints; [`long`] keeps the operands meanwhile.

use num_bigint::{BigInt, Sign};
use num_integer::Integer as _;
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::borrow::Cow;
use std::cmp::Ordering;
use zakuro_text::big;
use zakuro_vm::convert::big_to_f64;
use zakuro_vm::*;

/// Bits that a power may have. CRuby 4.0 goes further (to 16 GB); a VM among thousands should not.
pub const POW_LIMIT_BITS: u64 = 1 << 28;
/// `<<` refuses beyond 2 Gi bits (256 MB); no program gets there on purpose.
const SHIFT_LIMIT_BITS: u64 = 1 << 31;

/// Numbers of fewer bits are multiplied at once.
const SHORT_BITS: u64 = 1 << 17;

pub const ZERO: Value = Value::fixnum(0);
pub const ONE: Value = Value::fixnum(1);
pub const TEN: Value = Value::fixnum(10);

#[inline(always)]
pub fn is_int(v: Value) -> bool {
    v.is_fixnum() || v.is_kind(Kind::Bignum)
}

/// The big number of a Bignum cell, for as long as the variable is there that holds the value.
#[inline(always)]
fn big_ref(v: &Value) -> Option<&BigInt> {
    // SAFETY: cells don't move, and who holds the value keeps the box: this module collects only within `long`, which holds both operands.
    Ref::<BignumCell>::from_value(*v).map(|b| unsafe { &*(&*(*b.as_ptr()).value as *const BigInt) })
}

/// An Integer as big number, borrowed when it is one. Zero for anything else.
pub fn big_of(v: &Value) -> Cow<'_, BigInt> {
    match big_ref(v) {
        Some(b) => Cow::Borrowed(b),
        None => Cow::Owned(BigInt::from(v.as_fixnum().unwrap_or(0))),
    }
}

/// An operation with safepoints on the magnitudes of two Integers, which live as long as it lasts.
fn long<T>(cx: &mut Cx, a: Value, b: Value, work: impl FnOnce(&BigInt, &BigInt, &mut Cx) -> big::Result<T>) -> Result<T> {
    let r = work(&big_of(&a), &big_of(&b), cx);
    // The collector finds them on the native stack.
    std::hint::black_box((a, b));
    Ok(r?)
}

/// Whether a division is short in any case.
fn short(a: Value, b: Value) -> bool {
    magnitude_bits(a).max(magnitude_bits(b)) < 1 << 14
}

macro_rules! big_op {
    ($cx:ident, $a:ident, $b:ident, $op:tt) => {
        match (big_ref(&$a), big_ref(&$b)) {
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
pub fn mul(cx: &mut Cx, a: Value, b: Value) -> Result<Value> {
    if Value::both_fixnum(a, b) {
        return Ok(cx.int_i128(a.fix() as i128 * b.fix() as i128));
    }
    if magnitude_bits(a).max(magnitude_bits(b)) < SHORT_BITS {
        return Ok(big_op!(cx, a, b, *));
    }
    let r = long(cx, a, b, |a, b, p| big::mul(a, b, p))?;
    Ok(cx.big(r))
}
pub fn neg(cx: &mut Cx, a: Value) -> Value {
    match big_ref(&a) {
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
    match big_ref(&a) {
        Some(b) => b.is_negative(),
        None => a.fix() < 0,
    }
}
/// -1, 0 or 1.
pub fn signum(a: Value) -> i64 {
    match big_ref(&a) {
        Some(b) if b.is_negative() => -1,
        Some(_) => 1,
        None => a.fix().signum(),
    }
}
pub fn is_odd(a: Value) -> bool {
    match big_ref(&a) {
        Some(b) => b.is_odd(),
        None => a.fix() & 1 == 1,
    }
}

#[inline]
pub fn cmp(a: Value, b: Value) -> Ordering {
    if Value::both_fixnum(a, b) {
        return a.fix().cmp(&b.fix());
    }
    match (big_ref(&a), big_ref(&b)) {
        (Some(x), Some(y)) => x.cmp(y),
        // A Bignum is beyond every Fixnum.
        (Some(x), None) => {
            if x.is_negative() {
                Ordering::Less
            } else {
                Ordering::Greater
            }
        }
        (None, _) => match big_ref(&b) {
            Some(y) if y.is_negative() => Ordering::Greater,
            _ => Ordering::Less,
        },
    }
}
#[inline]
pub fn equal(a: Value, b: Value) -> bool {
    a == b || matches!((big_ref(&a), big_ref(&b)), (Some(x), Some(y)) if x == y)
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
    Some(big_of(&a).as_ref().cmp(&t))
}

#[inline]
pub fn to_f64(a: Value) -> f64 {
    match big_ref(&a) {
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
    let (q, m) = if short(a, b) { big_of(&a).div_mod_floor(&big_of(&b)) } else { long(cx, a, b, |a, b, p| big::div_floor(a, b, p))? };
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
    let (_, r) = long(cx, a, b, |a, b, p| big::div_trunc(a, b, p))?;
    Ok(cx.big(r))
}
/// Greatest common divisor, never negative.
pub fn gcd(cx: &mut Cx, a: Value, b: Value) -> Result<Value> {
    if Value::both_fixnum(a, b) {
        return Ok(cx.int(a.fix().gcd(&b.fix())));
    }
    let g = long(cx, a, b, |a, b, p| big::gcd(a.magnitude(), b.magnitude(), p))?;
    Ok(cx.big(g.into()))
}
pub fn lcm(cx: &mut Cx, a: Value, b: Value) -> Result<Value> {
    if a == ZERO || b == ZERO {
        return Ok(ZERO);
    }
    let g = gcd(cx, a, b)?;
    let q = exact_div(cx, a, g)?;
    let l = mul(cx, q, b)?;
    Ok(abs(cx, l))
}
/// Exact quotient of a division that leaves no remainder; `b` is not zero.
pub fn exact_div(cx: &mut Cx, a: Value, b: Value) -> Result<Value> {
    if b == ONE {
        return Ok(a);
    }
    if Value::both_fixnum(a, b) && b != ZERO {
        return Ok(cx.int(a.fix() / b.fix()));
    }
    let q = if short(a, b) { big_of(&a).as_ref() / big_of(&b).as_ref() } else { long(cx, a, b, |a, b, p| big::exact_div(a, b, p))? };
    Ok(cx.big(q))
}

/// Number of bits of the magnitude.
pub fn magnitude_bits(a: Value) -> u64 {
    match big_ref(&a) {
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
    let r = long(cx, a, a, |a, _, p| big::pow(a, e, p))?;
    Ok(cx.big(r))
}

/// `10 ** n`; n is bounded by the caller's sense.
pub fn pow10(cx: &mut Cx, n: u64) -> Result<Value> {
    let n = cx.int_u64(n);
    pow(cx, TEN, n)
}

/// `(a ** n) % m` by square and multiply; n >= 0, m not zero. The result has the sign of m.
pub fn pow_mod(cx: &mut Cx, a: Value, n: Value, m: Value) -> Result<Value> {
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
        return Ok(cx.int(if m < 0 && r != 0 { r + m } else { r }));
    }
    let r = long(cx, a, m, |a, m, p| big::mod_pow(a, &big_of(&n), m, p));
    std::hint::black_box(n);
    let r = r?;
    Ok(cx.big(r))
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
        let b = big_of(&a);
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
    let r = big_of(&a).as_ref() << (n as u64);
    Ok(cx.big(r))
}

pub fn bit_and(cx: &mut Cx, a: Value, b: Value) -> Value {
    if Value::both_fixnum(a, b) {
        return Value::fixnum(a.fix() & b.fix());
    }
    let r = big_of(&a).as_ref() & big_of(&b).as_ref();
    cx.big(r)
}
pub fn bit_or(cx: &mut Cx, a: Value, b: Value) -> Value {
    if Value::both_fixnum(a, b) {
        return Value::fixnum(a.fix() | b.fix());
    }
    let r = big_of(&a).as_ref() | big_of(&b).as_ref();
    cx.big(r)
}
pub fn bit_xor(cx: &mut Cx, a: Value, b: Value) -> Value {
    if Value::both_fixnum(a, b) {
        return Value::fixnum(a.fix() ^ b.fix());
    }
    let r = big_of(&a).as_ref() ^ big_of(&b).as_ref();
    cx.big(r)
}

/// Bit `n` of the two's complement.
pub fn bit_at(a: Value, n: Value) -> bool {
    if is_negative(n) {
        return false;
    }
    let Some(n) = n.as_fixnum() else { return is_negative(a) };
    match big_ref(&a) {
        Some(b) => b.bit(n as u64),
        None => a.fix() >> n.min(63) & 1 == 1,
    }
}
/// Bits needed without the sign bit, as Integer#bit_length.
pub fn bit_length(a: Value) -> u64 {
    match big_ref(&a) {
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
pub fn isqrt(cx: &mut Cx, a: Value) -> Result<Value> {
    if let Some(a) = a.as_fixnum() {
        return Ok(Value::fixnum(a.max(0).isqrt()));
    }
    let r = long(cx, a, a, |a, _, p| big::sqrt(a.magnitude(), p))?;
    Ok(cx.big(r.into()))
}

pub fn to_text(cx: &mut Cx, a: Value, radix: u32) -> Result<String> {
    match a.as_fixnum() {
        Some(i) => Ok(zakuro_text::int::small_to_s(i, radix)),
        None => long(cx, a, a, |a, _, p| big::to_text(a, radix, p)),
    }
}
/// Digits in a base of 2 or more, the lowest first, of a number that is not negative.
pub fn digits(cx: &mut Cx, a: Value, base: Value) -> Result<Value> {
    let out = cx.new_array();
    let push = |cx: &mut Cx, at: usize, d: Value| {
        ArrayCell::push(out, &mut cx.heap, d);
        big::step(at, cx)
    };
    if let Some(b) = base.as_fixnum().filter(|b| *b <= 256) {
        let all = long(cx, a, a, |a, _, p| big::small_digits(a.magnitude(), b as u32, p))?;
        for (at, d) in all.into_iter().enumerate() {
            push(cx, at, Value::fixnum(d as i64))?;
        }
    } else {
        let all = long(cx, a, base, |a, b, p| big::digits(a.magnitude(), b.magnitude(), p))?;
        for (at, d) in all.into_iter().enumerate() {
            let d = cx.big(d.into());
            push(cx, at, d)?;
        }
    }
    Ok(out.as_value())
}

/// Quotient of two Integers as the nearest double, exact even when both are beyond the range of doubles.
pub fn quotient_f64(a: Value, b: Value) -> f64 {
    let (x, y) = (to_f64(a), to_f64(b));
    // The numbers above are rounded to this one.
    if x.abs() < 9007199254740992.0 && y.abs() < 9007199254740992.0 {
        return x / y;
    }
    big_quotient_f64(&big_of(&a), &big_of(&b))
}
fn big_quotient_f64(a: &BigInt, b: &BigInt) -> f64 {
    if b.is_zero() || a.is_zero() {
        return big_to_f64(a) / big_to_f64(b);
    }
    if a.bits().max(b.bits()) > 4 * TOP
        && let Some(v) = quotient_of_tops(a, b)
    {
        return v;
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
/// Bits that are looked at first.
const TOP: u64 = 256;
/// The quotient of large numbers by their highest bits, if those below make no difference: the least and the largest that it can be round to the same Float.
fn quotient_of_tops(a: &BigInt, b: &BigInt) -> Option<f64> {
    let (below_a, below_b) = (a.bits().saturating_sub(TOP), b.bits().saturating_sub(TOP));
    let (n, d) = (BigInt::from(a.magnitude() >> below_a), BigInt::from(b.magnitude() >> below_b));
    let shift = (130 + d.bits()).saturating_sub(n.bits());
    let e = below_a as i64 - below_b as i64 - shift as i64;
    let least = scale_big(&((&n << shift) / (&d + 1u32)), e);
    let largest = scale_big(&(((n + 1u32) << shift) / d + 1u32), e);
    let negative = (a.sign() == Sign::Minus) != (b.sign() == Sign::Minus);
    (least == largest).then_some(if negative { -least } else { least })
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
