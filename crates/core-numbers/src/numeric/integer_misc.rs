//! Integer: text, digits, rounding, divisors and conversions.

use super::coerce::{Num, classify};
use super::num::{ascii, rounding_half};
use super::{ints, rat};
use num_integer::Integer as _;
use zakuro_macros::ruby_class;
use zakuro_object::string::{BINARY, US_ASCII};
use zakuro_text::encoding::Encoding;
use zakuro_text::float::RoundHalf;
use zakuro_vm::*;

/// Which way `round_to` goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Floor,
    Ceil,
    Truncate,
    Round(RoundHalf),
}

/// An Integer rounded to a multiple of `10 ** -digits`; unchanged for digits >= 0.
pub fn round_to(cx: &mut Cx, n: Value, digits: i64, way: Way) -> Result<Value> {
    if digits >= 0 || n == ints::ZERO {
        return Ok(n);
    }
    let negative = ints::is_negative(n);
    let way = match way {
        Way::Truncate => {
            if negative {
                Way::Ceil
            } else {
                Way::Floor
            }
        }
        w => w,
    };
    // Far more digits than the number has: no power of ten is needed.
    let zeros = digits.unsigned_abs();
    if zeros as f64 * 3.32 > ints::magnitude_bits(n) as f64 + 8.0 {
        match way {
            Way::Floor if negative => {}
            Way::Ceil if !negative => {}
            _ => return Ok(ints::ZERO),
        }
    }
    let unit = ints::pow10(cx, zeros)?;
    let rest = ints::modulo(cx, n, unit)?;
    let low = ints::sub(cx, n, rest);
    let up = match way {
        Way::Floor | Way::Truncate => false,
        Way::Ceil => rest != ints::ZERO,
        Way::Round(half) => {
            let twice = ints::add(cx, rest, rest);
            match ints::cmp(twice, unit) {
                std::cmp::Ordering::Greater => true,
                std::cmp::Ordering::Less => false,
                std::cmp::Ordering::Equal => match half {
                    RoundHalf::Up => !negative,
                    RoundHalf::Down => negative,
                    RoundHalf::Even => {
                        let q = ints::exact_div(cx, low, unit)?;
                        ints::is_odd(q)
                    }
                },
            }
        }
    };
    Ok(if up { ints::add(cx, low, unit) } else { low })
}

/// The number of digits argument, 0 when absent.
pub fn digits_arg(cx: &mut Cx, v: Option<Value>) -> Result<i64> {
    v.map_or(Ok(0), |v| to_int32(cx, v).map(i64::from))
}

/// What CRuby keeps in a C `int`.
pub fn to_int32(cx: &mut Cx, v: Value) -> Result<i32> {
    let n = cx.to_i64(v)?;
    match i32::try_from(n) {
        Ok(n) => Ok(n),
        Err(_) => cx.range_error(format!("integer {n} too {} to convert to 'int'", if n < 0 { "small" } else { "big" })),
    }
}

fn expect_int(cx: &mut Cx, v: Value) -> Result<Value> {
    if ints::is_int(v) { Ok(v) } else { cx.type_error("not an integer") }
}

#[ruby_class(ids::INTEGER)]
mod misc {
    use super::*;

    /// Text in a base of 2 to 36.
    ///
    ///     255.to_s        #=> "255"
    ///     255.to_s(16)    #=> "ff"
    #[method("to_s", "inspect")]
    fn to_s(cx: &mut Cx, this: Value, base: Option<i64>) -> Result<Value> {
        let base = base.unwrap_or(10);
        if let Some(n) = this.as_fixnum().filter(|_| base == 10) {
            return Ok(ascii(cx, itoa::Buffer::new().format(n)));
        }
        if !(2..=36).contains(&base) {
            return cx.arg_error(format!("invalid radix {base}"));
        }
        let text = ints::to_text(cx, this, base as u32)?;
        Ok(ascii(cx, &text))
    }
    /// self.
    ///
    ///     5.to_i    #=> 5
    #[method("to_i", "to_int", "numerator", "ord")]
    fn to_i(this: Value) -> Value {
        this
    }
    /// The nearest Float.
    ///
    ///     5.to_f    #=> 5.0
    #[method("to_f")]
    fn to_f(this: Value) -> f64 {
        ints::to_f64(this)
    }
    /// As Rational.
    ///
    ///     5.to_r    #=> (5/1)
    #[method("to_r")]
    fn to_r(cx: &Cx, this: Value) -> Value {
        rat::object(cx, (this, ints::ONE))
    }
    /// As Rational; the precision is ignored.
    ///
    ///     5.rationalize    #=> (5/1)
    #[method("rationalize")]
    fn rationalize(cx: &Cx, this: Value, precision: Option<Value>) -> Value {
        let _ = precision;
        rat::object(cx, (this, ints::ONE))
    }
    /// 1.
    ///
    ///     5.denominator    #=> 1
    #[method("denominator")]
    fn denominator(this: Value) -> i64 {
        let _ = this;
        1
    }
    /// true.
    ///
    ///     5.integer?    #=> true
    #[method("integer?")]
    fn integer_p(this: Value) -> bool {
        let _ = this;
        true
    }
    /// Whether it is 0.
    ///
    ///     0.zero?    #=> true
    #[method("zero?")]
    fn zero_p(this: Value) -> bool {
        this == ints::ZERO
    }
    /// Whether it is above 0.
    ///
    ///     5.positive?    #=> true
    #[method("positive?")]
    fn positive_p(this: Value) -> bool {
        ints::signum(this) > 0
    }
    /// Whether it is below 0.
    ///
    ///     5.negative?    #=> false
    #[method("negative?")]
    fn negative_p(this: Value) -> bool {
        ints::signum(this) < 0
    }
    /// Divisible by two.
    ///
    ///     4.even?    #=> true
    #[method("even?")]
    fn even_p(this: Value) -> bool {
        !ints::is_odd(this)
    }
    /// Not divisible by two.
    ///
    ///     4.odd?    #=> false
    #[method("odd?")]
    fn odd_p(this: Value) -> bool {
        ints::is_odd(this)
    }
    /// The character with this code.
    ///
    ///     65.chr              #=> "A"
    ///     0x3042.chr("UTF-8") #=> "あ"
    #[method("chr")]
    fn chr(cx: &mut Cx, this: Value, encoding: Option<Value>) -> Result<Value> {
        let Some(code) = this.as_fixnum().and_then(|c| u32::try_from(c).ok()) else {
            let shown = ints::to_text(cx, this, 10)?;
            return if this.is_fixnum() {
                cx.range_error(format!("{shown} out of char range"))
            } else {
                cx.range_error("bignum out of char range")
            };
        };
        let encoding = match encoding {
            None if code > 0xff => {
                let class = cx.class_value(ids::ENCODING);
                let internal = Sym::intern("default_internal");
                cx.call_if_responds(class, internal, &[])?.filter(|e| !e.is_nil())
            }
            e => e,
        };
        let Some(e) = encoding else {
            return match code {
                0..=0x7f => Ok(cx.str_bytes(&[code as u8], US_ASCII)),
                0x80..=0xff => Ok(cx.str_bytes(&[code as u8], BINARY)),
                _ => cx.range_error(format!("{code} out of char range")),
            };
        };
        let name = if e.is_kind(Kind::String) {
            cx.to_str(e)?
        } else if cx.is_a(e, ids::ENCODING) {
            cx.to_s(e)?
        } else {
            cx.to_str(e)?
        };
        let Some(enc) = Encoding::find(name.content(&cx.heap)) else {
            let t = name.to_text();
            return cx.arg_error(format!("unknown encoding name - {t}"));
        };
        let mut out = Vec::new();
        if !enc.encode(code, &mut out) {
            return if enc.is_unicode() && code <= 0x10ffff || enc == Encoding::US_ASCII && code <= 0xff {
                cx.range_error(format!("invalid codepoint 0x{code:X} in {}", enc.name()))
            } else {
                cx.range_error(format!("{code} out of char range"))
            };
        }
        Ok(cx.str_bytes(&out, enc.id()))
    }
    /// Digits from the least significant one.
    ///
    ///     1234.digits       #=> [4, 3, 2, 1]
    ///     255.digits(16)    #=> [15, 15]
    #[method("digits")]
    fn digits(cx: &mut Cx, this: Value, base: Option<Value>) -> Result<Value> {
        let base = match base {
            None => ints::TEN,
            Some(b) => {
                let t = cx.to_int(b)?;
                if ints::is_negative(t) {
                    return cx.arg_error("negative radix");
                }
                if ints::cmp(t, Value::fixnum(2)).is_lt() {
                    let shown = ints::to_text(cx, t, 10)?;
                    return cx.arg_error(format!("invalid radix {shown}"));
                }
                t
            }
        };
        if ints::is_negative(this) {
            return cx.raise(ids::DOMAIN_ERROR, "out of domain");
        }
        let out = cx.new_array();
        if this == ints::ZERO {
            ArrayCell::push(out, &mut cx.heap, ints::ZERO);
            return Ok(out.as_value());
        }
        if let (Some(mut n), Some(b)) = (this.as_fixnum(), base.as_fixnum()) {
            while n > 0 {
                ArrayCell::push(out, &mut cx.heap, Value::fixnum(n % b));
                n /= b;
            }
            return Ok(out.as_value());
        }
        ints::digits(cx, this, base)
    }
    /// Rounded to a power of ten when digits are negative.
    ///
    ///     15.round(-1)                #=> 20
    ///     25.round(-1, half: :even)   #=> 20
    #[method("round")]
    fn round(cx: &mut Cx, this: Value, digits: Option<Value>, kw: Kwargs) -> Result<Value> {
        // Without digits nothing is rounded, and the mode is not looked at.
        if digits.is_none() {
            return Ok(this);
        }
        let half = rounding_half(cx, kw)?;
        let n = digits_arg(cx, digits)?;
        round_to(cx, this, n, Way::Round(half))
    }
    /// Rounded down.
    ///
    ///     -15.floor(-1)    #=> -20
    #[method("floor")]
    fn floor(cx: &mut Cx, this: Value, digits: Option<Value>) -> Result<Value> {
        let n = digits_arg(cx, digits)?;
        round_to(cx, this, n, Way::Floor)
    }
    /// Rounded up.
    ///
    ///     11.ceil(-1)    #=> 20
    #[method("ceil")]
    fn ceil(cx: &mut Cx, this: Value, digits: Option<Value>) -> Result<Value> {
        let n = digits_arg(cx, digits)?;
        round_to(cx, this, n, Way::Ceil)
    }
    /// Rounded towards zero.
    ///
    ///     -19.truncate(-1)    #=> -10
    #[method("truncate")]
    fn truncate(cx: &mut Cx, this: Value, digits: Option<Value>) -> Result<Value> {
        let n = digits_arg(cx, digits)?;
        round_to(cx, this, n, Way::Truncate)
    }
    /// Greatest common divisor.
    ///
    ///     12.gcd(-18)    #=> 6
    #[method("gcd")]
    fn gcd(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        let other = expect_int(cx, other)?;
        ints::gcd(cx, this, other)
    }
    /// Least common multiple.
    ///
    ///     4.lcm(6)    #=> 12
    #[method("lcm")]
    fn lcm(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        let other = expect_int(cx, other)?;
        ints::lcm(cx, this, other)
    }
    /// Both.
    ///
    ///     4.gcdlcm(6)    #=> [2, 12]
    #[method("gcdlcm")]
    fn gcdlcm(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        let other = expect_int(cx, other)?;
        let (g, l) = (ints::gcd(cx, this, other)?, ints::lcm(cx, this, other)?);
        Ok(cx.array(&[g, l]))
    }
    /// Integer square root. Math::DomainError for negative numbers.
    ///
    ///     Integer.sqrt(24)    #=> 4
    #[method("sqrt", singleton)]
    fn sqrt(cx: &mut Cx, this: Value, n: Value) -> Result<Value> {
        let _ = this;
        let n = cx.to_int(n)?;
        if ints::is_negative(n) {
            return cx.raise(ids::DOMAIN_ERROR, "Numerical argument is out of domain - \"isqrt\"");
        }
        ints::isqrt(cx, n)
    }
    /// The argument, or its `to_int`; nil when it has none.
    ///
    ///     Integer.try_convert(1.5)    #=> 1
    ///     Integer.try_convert("1")    #=> nil
    #[method("try_convert", singleton)]
    fn try_convert(cx: &mut Cx, this: Value, v: Value) -> Result<Value> {
        let _ = this;
        if ints::is_int(v) {
            return Ok(v);
        }
        match cx.call_if_responds(v, sym::to_int, &[])? {
            None | Some(Value::NIL) => Ok(Value::NIL),
            Some(r) if ints::is_int(r) => Ok(r),
            Some(r) => {
                let (c, g) = (cx.class_name_of(v), cx.class_name_of(r));
                cx.type_error(format!("can't convert {c} to Integer ({c}#to_int gives {g})"))
            }
        }
    }
}

/// Whether a number is an even Integer: what rounding and powers ask.
pub fn is_even(v: Value) -> bool {
    match classify(v) {
        Num::Int(v) => match v.as_fixnum() {
            Some(i) => i.is_even(),
            None => !ints::is_odd(v),
        },
        _ => false,
    }
}

pub(crate) use misc::METHODS;
