//! Time-outs.

use std::time::Duration;
use zakuro_vm::*;

/// A time-out argument: seconds.
pub fn duration(cx: &mut Cx, v: Value) -> Result<Duration> {
    let seconds = match v.as_fixnum() {
        Some(i) => i as f64,
        None => match v.as_float() {
            Some(f) => f,
            None if v.is_kind(Kind::Rational) || v.is_kind(Kind::Bignum) => cx.to_f64(v)?,
            // As CRuby: whatever answers divmod counts as a time.
            None if !v.is_kind(Kind::String) && !v.is_nil() && cx.responds(v, sym::divmod, false)? => {
                let one = Value::fixnum(1);
                let pair = cx.call(v, sym::divmod, &[one])?;
                let pair = cx.to_ary(pair)?;
                let (whole, part) = (pair.get(0).unwrap_or(Value::NIL), pair.get(1).unwrap_or(Value::NIL));
                cx.to_f64(whole)? + cx.to_f64(part)?
            }
            None => {
                let what = cx.describe_for_conversion(v);
                return cx.type_error(format!("can't convert {what} into time interval"));
            }
        },
    };
    if seconds.is_nan() || seconds < 0.0 {
        return cx.arg_error("time interval must not be negative");
    }
    Ok(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(86_400 * 365 * 50)))
}
