//! What is asked of the class: modes, limits, and `BigDecimal()` itself.

use super::convert;
use super::num::{self, Num};
use super::{EXCEPTIONS, LIMIT, ROUND_MODE, ROUNDING, exact, give, round_arg, set_mode, text};
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// Methods of `BigDecimal`.
#[ruby_class(ids::NUMERIC)]
pub mod class {
    use super::*;

    /// Reads or sets a mode: `EXCEPTION_*` (true or false) or `ROUND_MODE`.
    ///
    ///     BigDecimal.mode(BigDecimal::ROUND_MODE)   #=> 3
    #[method("mode", singleton)]
    fn mode(cx: &mut Cx, _this: Value, which: i64, value: Option<Value>) -> Result<Value> {
        let value = value.filter(|v| !v.is_nil());
        if which & 255 != 0 {
            let mut now = super::super::mode(cx, EXCEPTIONS, 0)?;
            if let Some(v) = value {
                let bits = which & i64::from(num::INFINITY | num::NAN | num::UNDERFLOW | num::ZERO_DIVIDE);
                match v {
                    Value::TRUE => now |= bits,
                    Value::FALSE => now &= !bits,
                    _ => return cx.arg_error("second argument must be true or false"),
                }
                set_mode(cx, EXCEPTIONS, now)?;
            }
            return Ok(Value::fixnum(now));
        }
        if which != ROUND_MODE {
            return cx.type_error("first argument for BigDecimal.mode invalid");
        }
        if let Some(v) = value {
            let round = round_arg(cx, v)?;
            set_mode(cx, ROUNDING, round as i64)?;
        }
        Ok(Value::fixnum(super::super::mode(cx, ROUNDING, 3)?))
    }
    /// Most digits of results, 0: any number. Returns what it was.
    #[method("limit", singleton)]
    fn limit(cx: &mut Cx, _this: Value, digits: Option<Value>) -> Result<i64> {
        let was = super::super::mode(cx, LIMIT, 0)?;
        if let Some(v) = digits.filter(|v| !v.is_nil()) {
            let n = cx.to_i32(v)?;
            if n < 0 {
                return cx.arg_error("argument must be positive");
            }
            set_mode(cx, LIMIT, i64::from(n))?;
        }
        Ok(was)
    }
    /// Digits of a Float that count.
    ///
    ///     BigDecimal.double_fig   #=> 16
    #[method("double_fig", singleton)]
    fn double_fig(_this: Value) -> i64 {
        num::DOUBLE_FIG as i64
    }
    /// The number at the beginning of a String, 0 without one.
    #[method("interpret_loosely", singleton)]
    fn interpret_loosely(cx: &mut Cx, _this: Value, text: Ref<StringCell>) -> Result<Value> {
        let mut r = exact(cx)?;
        // Another thread may change the String meanwhile.
        let own = text.to_text();
        let n = text::parse(&own, false, &mut r, cx)?.unwrap_or(Num::Zero { neg: false });
        give(cx, r, n)
    }
    /// The number that `_dump` wrote.
    #[method("_load", singleton)]
    fn load(cx: &mut Cx, _this: Value, text: Ref<StringCell>) -> Result<Value> {
        let text = text.to_text();
        let (digits, rest) = text.split_once(':').unwrap_or((&text, ""));
        if !digits.bytes().all(|b| b.is_ascii_digit()) {
            return cx.type_error("load failed: invalid character in the marshaled string");
        }
        convert::from_text(cx, rest, true)
    }
}

#[ruby_class(ids::KERNEL)]
pub mod kernel {
    use super::*;

    fn big_decimal(cx: &mut Cx, mut args: Args) -> Result<Value> {
        let kw = args.take_kw();
        kw.only(cx, &[sym::exception])?;
        builtin::check_arity(cx, args.len(), 1, 2)?;
        let raises = kw.get(sym::exception).is_none_or(Value::truthy);
        let value = args.get(0).unwrap_or(Value::NIL);
        convert::convert(cx, value, args.get(1), raises)
    }

    /// A BigDecimal of a String, an Integer, a Float or Rational (to a number of digits), ...
    ///
    ///     BigDecimal("1.50").to_s            #=> "0.15e1"
    ///     BigDecimal(2r/3, 5).to_s           #=> "0.66667e0"
    ///     BigDecimal("x", exception: false)  #=> nil
    #[method("BigDecimal", private, min = 0, max = -1)]
    fn private_one(cx: &mut Cx, _this: Value, args: Args) -> Result<Value> {
        big_decimal(cx, args)
    }
    /// A BigDecimal of a String, an Integer, a Float or Rational (to a number of digits), ...
    #[method("BigDecimal", singleton, min = 0, max = -1)]
    fn public_one(cx: &mut Cx, _this: Value, args: Args) -> Result<Value> {
        big_decimal(cx, args)
    }
}
