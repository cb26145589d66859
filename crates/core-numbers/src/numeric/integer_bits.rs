//! Integer: bit operations. Negative numbers act as endless two's complement.

use super::coerce;
use super::ints;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// `this op other` by coercion for operands that are no Integers.
fn coerced(cx: &mut Cx, this: Value, op: Sym, other: Value) -> Result<Value> {
    match coerce::binary_if_responds(cx, this, op, other)? {
        Some(r) if !r.is_nil() => Ok(r),
        _ => coerce::coerce_failed(cx, this, other),
    }
}

/// The mask argument of allbits? and friends.
fn mask(cx: &mut Cx, v: Value) -> Result<Value> {
    cx.to_int(v)
}

#[ruby_class(ids::INTEGER)]
mod bits {
    use super::*;

    /// Bitwise and.
    ///
    ///     -(2**70) & 0xff     #=> 0
    ///     12 & 10             #=> 8
    #[method("&")]
    fn and(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        if ints::is_int(other) { Ok(ints::bit_and(cx, this, other)) } else { coerced(cx, this, sym::and, other) }
    }
    /// Bitwise or.
    ///
    ///     12 | 3    #=> 15
    #[method("|")]
    fn or(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        if ints::is_int(other) { Ok(ints::bit_or(cx, this, other)) } else { coerced(cx, this, sym::or, other) }
    }
    /// Bitwise exclusive or.
    ///
    ///     12 ^ 10    #=> 6
    #[method("^")]
    fn xor(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        if ints::is_int(other) { Ok(ints::bit_xor(cx, this, other)) } else { coerced(cx, this, sym::xor, other) }
    }
    /// Every bit flipped.
    ///
    ///     ~5    #=> -6
    #[method("~")]
    fn not(cx: &mut Cx, this: Value) -> Value {
        let n = ints::neg(cx, this);
        ints::sub(cx, n, ints::ONE)
    }
    /// Shifted left; right for negative widths.
    ///
    ///     1 << 70     #=> 1180591620717411303424
    ///     8 << -2     #=> 2
    #[method("<<")]
    fn shl(cx: &mut Cx, this: Value, n: Value) -> Result<Value> {
        let n = cx.to_int(n)?;
        ints::shift_left(cx, this, n)
    }
    /// Shifted right, rounding down.
    ///
    ///     -5 >> 1    #=> -3
    #[method(">>")]
    fn shr(cx: &mut Cx, this: Value, n: Value) -> Result<Value> {
        let n = cx.to_int(n)?;
        let n = ints::neg(cx, n);
        ints::shift_left(cx, this, n)
    }
    /// Bit `n`; with a length or a Range the bits there as an Integer.
    ///
    ///     5[0]            #=> 1
    ///     -1[1000]        #=> 1
    ///     0b11110000[4, 4]    #=> 15
    ///     0b11110000[4..5]    #=> 3
    #[method("[]")]
    fn aref(cx: &mut Cx, this: Value, at: Value, len: Option<Value>) -> Result<Value> {
        if let Some(len) = len {
            let at = cx.to_int(at)?;
            let len = cx.to_int(len)?;
            let down = ints::neg(cx, at);
            let shifted = ints::shift_left(cx, this, down)?;
            return low_bits(cx, shifted, len);
        }
        if !at.is_fixnum()
            && let Some(r) = zakuro_core_base::ranges::as_range(cx, at)?
        {
            return range(cx, this, r);
        }
        let at = match at.as_fixnum() {
            Some(_) => at,
            None => cx.to_int(at)?,
        };
        Ok(Value::fixnum(ints::bit_at(this, at) as i64))
    }
    /// Whether all bits of the mask are set.
    ///
    ///     6.allbits?(2)    #=> true
    #[method("allbits?")]
    fn allbits(cx: &mut Cx, this: Value, m: Value) -> Result<bool> {
        let m = mask(cx, m)?;
        let r = ints::bit_and(cx, this, m);
        Ok(ints::equal(r, m))
    }
    /// Whether any bit of the mask is set.
    ///
    ///     6.anybits?(3)    #=> true
    #[method("anybits?")]
    fn anybits(cx: &mut Cx, this: Value, m: Value) -> Result<bool> {
        let m = mask(cx, m)?;
        Ok(ints::bit_and(cx, this, m) != ints::ZERO)
    }
    /// Whether no bit of the mask is set.
    ///
    ///     6.nobits?(9)    #=> true
    #[method("nobits?")]
    fn nobits(cx: &mut Cx, this: Value, m: Value) -> Result<bool> {
        let m = mask(cx, m)?;
        Ok(ints::bit_and(cx, this, m) == ints::ZERO)
    }
    /// Bits needed for the number without its sign.
    ///
    ///     255.bit_length       #=> 8
    ///     -256.bit_length      #=> 8
    ///     (2**64).bit_length   #=> 65
    #[method("bit_length")]
    fn bit_length(this: Value) -> i64 {
        ints::bit_length(this) as i64
    }
    /// Bytes of the machine representation.
    ///
    ///     1.size           #=> 8
    ///     (256**10).size   #=> 11
    #[method("size")]
    fn size(this: Value) -> i64 {
        if this.is_fixnum() { 8 } else { ints::magnitude_bits(this).div_ceil(8) as i64 }
    }

    /// The lowest `len` bits; all for negative lengths.
    fn low_bits(cx: &mut Cx, v: Value, len: Value) -> Result<Value> {
        if ints::is_negative(len) {
            return Ok(v);
        }
        if !ints::is_negative(v) && ints::cmp(Value::fixnum(ints::magnitude_bits(v) as i64), len).is_le() {
            return Ok(v);
        }
        let top = ints::shift_left(cx, ints::ONE, len)?;
        let m = ints::sub(cx, top, ints::ONE);
        Ok(ints::bit_and(cx, v, m))
    }
    fn range(cx: &mut Cx, this: Value, r: Ref<RangeCell>) -> Result<Value> {
        let (low, high, exclusive) = (r.low(), r.high(), r.exclusive());
        if low.is_nil() {
            // `n[..high]` only says whether these bits are all zero.
            let high = cx.to_int(high)?;
            if ints::is_negative(high) {
                return Ok(ints::ZERO);
            }
            let len = if exclusive { high } else { ints::add(cx, high, ints::ONE) };
            let bits = low_bits(cx, this, len)?;
            if bits == ints::ZERO {
                return Ok(ints::ZERO);
            }
            return cx.arg_error("The beginless range for Integer#[] results in infinity");
        }
        let low = cx.to_int(low)?;
        let down = ints::neg(cx, low);
        let shifted = ints::shift_left(cx, this, down)?;
        if high.is_nil() {
            return Ok(shifted);
        }
        let high = cx.to_int(high)?;
        if ints::cmp(high, low).is_lt() {
            return Ok(shifted);
        }
        let len = ints::sub(cx, high, low);
        let len = if exclusive { len } else { ints::add(cx, len, ints::ONE) };
        low_bits(cx, shifted, len)
    }
}

pub(crate) use bits::METHODS;
