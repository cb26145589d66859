//! Math: functions of real numbers, through the C library, with CRuby's domain checks.

use super::ints;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

unsafe extern "C" {
    safe fn erf(x: f64) -> f64;
    safe fn erfc(x: f64) -> f64;
    #[link_name = "asinh"]
    safe fn c_asinh(x: f64) -> f64;
    #[link_name = "acosh"]
    safe fn c_acosh(x: f64) -> f64;
    #[link_name = "atanh"]
    safe fn c_atanh(x: f64) -> f64;
    safe fn tgamma(x: f64) -> f64;
    fn lgamma_r(x: f64, sign: *mut i32) -> f64;
}

pub fn setup(cx: &mut Cx) {
    for (name, v) in [("PI", std::f64::consts::PI), ("E", std::f64::consts::E)] {
        let v = cx.float(v);
        cx.const_set(ids::MATH, Sym::intern(name), v);
    }
}

/// A number as the functions take it: an Integer by its `to_f`, which a program may have redefined.
struct Real(f64);

impl FromValue for Real {
    const EFFECTS: Effects = Effects::ALL;
    fn from_value(cx: &mut Cx, v: Value) -> Result<Real> {
        real(cx, v).map(Real)
    }
}

fn real(cx: &mut Cx, v: Value) -> Result<f64> {
    if cx.redefined & zakuro_vm::methods::fast::TO_F != 0 && cx.is_integer(v) {
        let f = cx.call(v, sym::to_f, &[])?;
        return cx.to_f64(f);
    }
    cx.to_f64(v)
}

#[cold]
fn domain<T>(cx: &mut Cx, name: &str) -> Result<T> {
    cx.raise(ids::DOMAIN_ERROR, format!("Numerical argument is out of domain - {name}"))
}

/// A logarithm's argument as double times a power of two, so that Bignums beyond the range of doubles work.
fn split(cx: &mut Cx, v: Value, name: &str) -> Result<(f64, f64)> {
    if ints::is_int(v) {
        if ints::is_negative(v) {
            return domain(cx, name);
        }
        let bits = ints::magnitude_bits(v);
        if bits >= 1024 {
            let drop = bits - 53;
            let top = ints::shift_left(cx, v, Value::fixnum(-(drop as i64)))?;
            return Ok((real(cx, top)?, drop as f64));
        }
    }
    let x = real(cx, v)?;
    if x < 0.0 { domain(cx, name) } else { Ok((x, 0.0)) }
}

/// Natural logarithm of any real number.
fn natural_log(cx: &mut Cx, v: Value) -> Result<f64> {
    let (x, bits) = split(cx, v, "log")?;
    if x == 0.0 {
        return Ok(f64::NEG_INFINITY);
    }
    Ok(x.ln() + if bits > 0.0 { bits * std::f64::consts::LN_2 } else { 0.0 })
}

/// `cbrt` with the correction step that CRuby applies to glibc's.
pub fn cube_root(x: f64) -> f64 {
    let r = x.cbrt();
    if r.is_finite() && !(x == 0.0 && r == 0.0) { (2.0 * r + (x / r / r)) / 3.0 } else { r }
}

/// x = m * 2**e with 0.5 <= |m| < 1.
fn frexp(x: f64) -> (f64, i64) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    let (m, e) = super::rat::decompose(x);
    (m as f64 / 9007199254740992.0, e as i64 + 53)
}

#[ruby_class(ids::MATH)]
mod math {
    use super::*;

    /// Sine of radians.
    ///
    ///     Math.sin(0)    #=> 0.0
    #[method("sin", module_function)]
    fn sin(this: Value, x: Real) -> f64 {
        let Real(x) = x;
        let _ = this;
        x.sin()
    }
    /// Cosine of radians.
    ///
    ///     Math.cos(0)    #=> 1.0
    #[method("cos", module_function)]
    fn cos(this: Value, x: Real) -> f64 {
        let Real(x) = x;
        let _ = this;
        x.cos()
    }
    /// Tangent of radians.
    ///
    ///     Math.tan(0)    #=> 0.0
    #[method("tan", module_function)]
    fn tan(this: Value, x: Real) -> f64 {
        let Real(x) = x;
        let _ = this;
        x.tan()
    }
    /// Arc sine. Math::DomainError outside its domain.
    ///
    ///     Math.asin(0)    #=> 0.0
    #[method("asin", module_function)]
    fn asin(cx: &mut Cx, this: Value, x: Real) -> Result<f64> {
        let Real(x) = x;
        let _ = this;
        if !(-1.0..=1.0).contains(&x) && !x.is_nan() {
            return domain(cx, "asin");
        }
        Ok(x.asin())
    }
    /// Arc cosine. Math::DomainError outside its domain.
    ///
    ///     Math.acos(1)    #=> 0.0
    #[method("acos", module_function)]
    fn acos(cx: &mut Cx, this: Value, x: Real) -> Result<f64> {
        let Real(x) = x;
        let _ = this;
        if !(-1.0..=1.0).contains(&x) && !x.is_nan() {
            return domain(cx, "acos");
        }
        Ok(x.acos())
    }
    /// Arc tangent.
    ///
    ///     Math.atan(0)    #=> 0.0
    #[method("atan", module_function)]
    fn atan(this: Value, x: Real) -> f64 {
        let Real(x) = x;
        let _ = this;
        x.atan()
    }
    /// Hyperbolic sine.
    ///
    ///     Math.sinh(0)    #=> 0.0
    #[method("sinh", module_function)]
    fn sinh(this: Value, x: Real) -> f64 {
        let Real(x) = x;
        let _ = this;
        x.sinh()
    }
    /// Hyperbolic cosine.
    ///
    ///     Math.cosh(0)    #=> 1.0
    #[method("cosh", module_function)]
    fn cosh(this: Value, x: Real) -> f64 {
        let Real(x) = x;
        let _ = this;
        x.cosh()
    }
    /// Hyperbolic tangent.
    ///
    ///     Math.tanh(0)    #=> 0.0
    #[method("tanh", module_function)]
    fn tanh(this: Value, x: Real) -> f64 {
        let Real(x) = x;
        let _ = this;
        x.tanh()
    }
    /// Inverse hyperbolic sine.
    ///
    ///     Math.asinh(0)    #=> 0.0
    #[method("asinh", module_function)]
    fn asinh(this: Value, x: Real) -> f64 {
        let Real(x) = x;
        let _ = this;
        c_asinh(x)
    }
    /// Inverse hyperbolic cosine. Math::DomainError outside its domain.
    ///
    ///     Math.acosh(1)    #=> 0.0
    #[method("acosh", module_function)]
    fn acosh(cx: &mut Cx, this: Value, x: Real) -> Result<f64> {
        let Real(x) = x;
        let _ = this;
        if x < 1.0 {
            return domain(cx, "acosh");
        }
        Ok(c_acosh(x))
    }
    /// Inverse hyperbolic tangent. Math::DomainError outside its domain.
    ///
    ///     Math.atanh(1)    #=> Infinity
    #[method("atanh", module_function)]
    fn atanh(cx: &mut Cx, this: Value, x: Real) -> Result<f64> {
        let Real(x) = x;
        let _ = this;
        if !(-1.0..=1.0).contains(&x) && !x.is_nan() {
            return domain(cx, "atanh");
        }
        Ok(c_atanh(x))
    }
    /// e to a power.
    ///
    ///     Math.exp(0)    #=> 1.0
    #[method("exp", module_function)]
    fn exp(this: Value, x: Real) -> f64 {
        let Real(x) = x;
        let _ = this;
        x.exp()
    }
    /// `exp(x) - 1`, exact near 0.
    ///
    ///     Math.expm1(0)    #=> 0.0
    #[method("expm1", module_function)]
    fn expm1(this: Value, x: Real) -> f64 {
        let Real(x) = x;
        let _ = this;
        x.exp_m1()
    }
    /// `log(x + 1)`, exact near 0. Math::DomainError outside its domain.
    ///
    ///     Math.log1p(0)    #=> 0.0
    #[method("log1p", module_function)]
    fn log1p(cx: &mut Cx, this: Value, x: Real) -> Result<f64> {
        let Real(x) = x;
        let _ = this;
        if x < -1.0 {
            return domain(cx, "log1p");
        }
        Ok(x.ln_1p())
    }
    /// Square root. Math::DomainError outside its domain.
    ///
    ///     Math.sqrt(4)    #=> 2.0
    #[method("sqrt", module_function)]
    fn sqrt(cx: &mut Cx, this: Value, x: Real) -> Result<f64> {
        let Real(x) = x;
        let _ = this;
        if x < 0.0 {
            return domain(cx, "sqrt");
        }
        Ok(if x == 0.0 { 0.0 } else { x.sqrt() })
    }
    /// Cube root.
    ///
    ///     Math.cbrt(-27)    #=> -3.0
    #[method("cbrt", module_function)]
    fn cbrt(this: Value, x: Real) -> f64 {
        let Real(x) = x;
        let _ = this;
        cube_root(x)
    }
    /// Error function.
    ///
    ///     Math.erf(0)    #=> 0.0
    #[method("erf", module_function)]
    fn erf_(this: Value, x: Real) -> f64 {
        let Real(x) = x;
        let _ = this;
        erf(x)
    }
    /// Complementary error function.
    ///
    ///     Math.erfc(0)    #=> 1.0
    #[method("erfc", module_function)]
    fn erfc_(this: Value, x: Real) -> f64 {
        let Real(x) = x;
        let _ = this;
        erfc(x)
    }
    /// Angle of a point, in -pi..pi.
    ///
    ///     Math.atan2(1, 0)    #=> 1.5707963267948966
    #[method("atan2", module_function)]
    fn atan2(this: Value, y: Real, x: Real) -> f64 {
        let (Real(y), Real(x)) = (y, x);
        let _ = this;
        y.atan2(x)
    }
    /// Length of the hypotenuse.
    ///
    ///     Math.hypot(3, 4)    #=> 5.0
    #[method("hypot", module_function)]
    fn hypot(this: Value, x: Real, y: Real) -> f64 {
        let (Real(x), Real(y)) = (x, y);
        let _ = this;
        x.hypot(y)
    }
    /// Logarithm, natural or to a base.
    ///
    ///     Math.log(1)          #=> 0.0
    ///     Math.log(8, 2)       #=> 3.0
    ///     Math.log(10**400, 10**200)    #=> 2.0
    #[method("log", module_function)]
    fn log(cx: &mut Cx, this: Value, v: Value, base: Option<Value>) -> Result<f64> {
        let _ = this;
        let x = natural_log(cx, v)?;
        let Some(b) = base else { return Ok(x) };
        if b.is_nil() || !b.is_fixnum() && !cx.is_a(b, ids::NUMERIC) {
            let what = cx.describe_for_conversion(b);
            return cx.type_error(format!("can't convert {what} into Float"));
        }
        let b = natural_log(cx, b)?;
        if x == f64::NEG_INFINITY && b == f64::NEG_INFINITY {
            return Ok(f64::NAN);
        }
        if b == f64::NEG_INFINITY {
            return Ok(-0.0);
        }
        Ok(x / b)
    }
    /// Logarithm to base 2.
    ///
    ///     Math.log2(2**2000)    #=> 2000.0
    #[method("log2", module_function)]
    fn log2(cx: &mut Cx, this: Value, v: Value) -> Result<f64> {
        let _ = this;
        let (x, bits) = split(cx, v, "log2")?;
        Ok(if x == 0.0 { f64::NEG_INFINITY } else { x.log2() + bits })
    }
    /// Logarithm to base 10.
    ///
    ///     Math.log10(1000)    #=> 3.0
    #[method("log10", module_function)]
    fn log10(cx: &mut Cx, this: Value, v: Value) -> Result<f64> {
        let _ = this;
        let (x, bits) = split(cx, v, "log10")?;
        if x == 0.0 {
            return Ok(f64::NEG_INFINITY);
        }
        Ok(x.log10() + if bits > 0.0 { bits * std::f64::consts::LOG10_2 } else { 0.0 })
    }
    /// Gamma function. Math::DomainError for negative Integers.
    ///
    ///     Math.gamma(5)    #=> 24.0
    #[method("gamma", module_function)]
    fn gamma(cx: &mut Cx, this: Value, x: Real) -> Result<f64> {
        let Real(x) = x;
        let _ = this;
        if x == 0.0 {
            return Ok(if x.is_sign_negative() { f64::NEG_INFINITY } else { f64::INFINITY });
        }
        if x < 0.0 && (x == x.floor() || x.is_infinite()) {
            return domain(cx, "gamma");
        }
        if x == x.floor() && (1.0..=23.0).contains(&x) {
            // Exact: all these factorials are doubles.
            return Ok((2..x as u64).map(|i| i as f64).product());
        }
        Ok(tgamma(x))
    }
    /// Logarithm of |gamma(x)| and the sign of gamma(x).
    ///
    ///     Math.lgamma(1)    #=> [0.0, 1]
    #[method("lgamma", module_function)]
    fn lgamma(cx: &mut Cx, this: Value, x: Real) -> Result<Value> {
        let Real(x) = x;
        let _ = this;
        let (v, s) = if x == f64::NEG_INFINITY {
            return domain(cx, "lgamma");
        } else if x == f64::INFINITY {
            (x, 1)
        } else if x == 0.0 {
            (f64::INFINITY, if x.is_sign_negative() { -1 } else { 1 })
        } else {
            let mut sign = 1;
            // SAFETY: sign is a valid place for the result.
            let v = unsafe { lgamma_r(x, &mut sign) };
            (v, if sign < 0 { -1 } else { 1 })
        };
        let v = cx.float(v);
        Ok(cx.array(&[v, Value::fixnum(s)]))
    }
    /// Fraction and exponent: x = fraction * 2**exponent.
    ///
    ///     Math.frexp(1234)    #=> [0.6025390625, 11]
    #[method("frexp", module_function)]
    fn frexp_(cx: &Cx, this: Value, x: Real) -> Value {
        let Real(x) = x;
        let _ = this;
        let (m, e) = frexp(x);
        let m = cx.float(m);
        cx.array(&[m, Value::fixnum(e)])
    }
    /// fraction * 2**exponent.
    ///
    ///     Math.ldexp(0.6025390625, 11)    #=> 1234.0
    #[method("ldexp", module_function)]
    fn ldexp(cx: &mut Cx, this: Value, x: Real, e: Value) -> Result<f64> {
        let Real(x) = x;
        let _ = this;
        let e = cx.to_i64(e)?;
        Ok(ints::ldexp(x, e))
    }
}

pub(crate) use math::METHODS;
