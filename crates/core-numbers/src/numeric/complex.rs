//! Complex: the parts, and the operations that loops over Floats spend their time in. The rest is Ruby (prelude/complex.rb).

use super::coerce::{self, complex_parts};
use super::kernel::make_complex;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

pub fn setup(cx: &mut Cx) {
    let i = make_complex(cx, Value::fixnum(0), Value::fixnum(1));
    cx.const_set(ids::COMPLEX, Sym::intern("I"), i);
}

/// Receiver of Complex methods.
#[derive(Clone, Copy)]
struct Parts(Value, Value);
impl FromSelf for Parts {
    const EFFECTS: Effects = Effects::LEAF;
    fn from_self(cx: &mut Cx, v: Value) -> Result<Self> {
        match complex_parts(v) {
            Some((re, im)) => Ok(Parts(re, im)),
            None => cx.wrong_receiver(v, "Complex"),
        }
    }
}

/// All four parts as doubles when they are Floats.
fn floats(a: Parts, b: Value) -> Option<(f64, f64, f64, f64)> {
    let (c, d) = complex_parts(b)?;
    Some((a.0.as_float()?, a.1.as_float()?, c.as_float()?, d.as_float()?))
}
fn make_f64(cx: &mut Cx, re: f64, im: f64) -> Value {
    let (re, im) = (cx.float(re), cx.float(im));
    make_complex(cx, re, im)
}
fn is_real(cx: &mut Cx, v: Value) -> Result<bool> {
    coerce::is_real(cx, v)
}
/// Whether parts are equal as numbers: NaN is not.
fn same(cx: &mut Cx, a: Value, b: Value) -> Result<bool> {
    match (a.as_float(), b.as_float()) {
        (Some(x), Some(y)) => Ok(x == y),
        _ => cx.eq(a, b),
    }
}
/// A real number, or the real part of a Complex without imaginary part.
fn real_part(cx: &mut Cx, v: Value) -> Result<Value> {
    if let Some((re, im)) = complex_parts(v)
        && cx.eq(im, Value::fixnum(0))?
    {
        return Ok(re);
    }
    if is_real(cx, v)? { Ok(v) } else { cx.type_error("not a real") }
}
/// Two parts multiplied. Beside a zero an infinite one counts by its sign: a number on an axis stays there, where NaN would come of Float's rules.
fn part_product(cx: &mut Cx, a: Value, b: Value) -> Result<Value> {
    let (a_zero, b_zero) = (is_zero(cx, a)?, is_zero(cx, b)?);
    let sign = |cx: &mut Cx, v: Value| match v.as_float() {
        Some(f) if !f.is_nan() => cx.float(1f64.copysign(f)),
        _ => v,
    };
    let a = if b_zero && !a_zero { sign(cx, a) } else { a };
    let b = if a_zero && !b_zero { sign(cx, b) } else { b };
    coerce::mul(cx, a, b)
}
fn is_zero(cx: &mut Cx, v: Value) -> Result<bool> {
    match v.as_float() {
        Some(f) => Ok(f == 0.0),
        None => cx.eq(v, Value::fixnum(0)),
    }
}
fn component_product(cx: &mut Cx, a: Parts, b: (Value, Value)) -> Result<Value> {
    let ac = part_product(cx, a.0, b.0)?;
    let bd = part_product(cx, a.1, b.1)?;
    let ad = part_product(cx, a.0, b.1)?;
    let bc = part_product(cx, a.1, b.0)?;
    // An exact zero leaves the other as it is, -0.0 too.
    let re = if bd == Value::fixnum(0) { ac } else { coerce::sub(cx, ac, bd)? };
    let im = match (ad, bc) {
        (x, y) if y == Value::fixnum(0) => x,
        (x, y) if x == Value::fixnum(0) => y,
        (x, y) => coerce::add(cx, x, y)?,
    };
    Ok(make_complex(cx, re, im))
}

#[ruby_class(ids::COMPLEX)]
mod complex {
    use super::*;

    /// As `Kernel#Complex`.
    ///
    ///     Complex.send(:convert, 1, 2)    #=> (1+2i)
    #[method("convert", singleton, private)]
    fn convert(cx: &mut Cx, _this: Value, a: Value, b: Option<Value>, kw: Kwargs) -> Result<Value> {
        super::super::kernel::complex_of(cx, a, b, kw)
    }
    /// A Complex of real and imaginary part.
    ///
    ///     Complex.rect(1, 2)    #=> (1+2i)
    #[method("rect", "rectangular", singleton)]
    fn rect(cx: &mut Cx, this: Value, re: Value, im: Option<Value>) -> Result<Value> {
        let _ = this;
        let im = im.unwrap_or(Value::fixnum(0));
        let (re, im) = (real_part(cx, re)?, real_part(cx, im)?);
        Ok(make_complex(cx, re, im))
    }
    #[method("__make", singleton, private)]
    fn make(cx: &mut Cx, this: Value, re: Value, im: Value) -> Value {
        let _ = this;
        make_complex(cx, re, im)
    }
    /// Real part.
    ///
    ///     Complex(1, 2).real    #=> 1
    #[method("real")]
    fn real(this: Parts) -> Value {
        this.0
    }
    /// Imaginary part.
    ///
    ///     Complex(1, 2).imaginary    #=> 2
    #[method("imaginary", "imag")]
    fn imaginary(this: Parts) -> Value {
        this.1
    }
    /// Sum.
    ///
    ///     Complex(1, 2) + Complex(3, 4)    #=> (4+6i)
    #[method("+")]
    fn add(cx: &mut Cx, this: Parts, v: Value) -> Result<Value> {
        if let Some((a, b, c, d)) = floats(this, v) {
            return Ok(make_f64(cx, a + c, b + d));
        }
        if let Some((c, d)) = complex_parts(v) {
            let (re, im) = (coerce::add(cx, this.0, c)?, coerce::add(cx, this.1, d)?);
            return Ok(make_complex(cx, re, im));
        }
        if is_real(cx, v)? {
            let re = coerce::add(cx, this.0, v)?;
            return Ok(make_complex(cx, re, this.1));
        }
        let me = make_complex(cx, this.0, this.1);
        coerce::binary(cx, me, sym::add, v)
    }
    /// Difference.
    ///
    ///     Complex(1, 2) - 1    #=> (0+2i)
    #[method("-")]
    fn sub(cx: &mut Cx, this: Parts, v: Value) -> Result<Value> {
        if let Some((a, b, c, d)) = floats(this, v) {
            return Ok(make_f64(cx, a - c, b - d));
        }
        if let Some((c, d)) = complex_parts(v) {
            let (re, im) = (coerce::sub(cx, this.0, c)?, coerce::sub(cx, this.1, d)?);
            return Ok(make_complex(cx, re, im));
        }
        if is_real(cx, v)? {
            let re = coerce::sub(cx, this.0, v)?;
            return Ok(make_complex(cx, re, this.1));
        }
        let me = make_complex(cx, this.0, this.1);
        coerce::binary(cx, me, sym::sub, v)
    }
    /// Product.
    ///
    ///     Complex(1, 2) * Complex(3, 4)    #=> (-5+10i)
    #[method("*")]
    fn mul(cx: &mut Cx, this: Parts, v: Value) -> Result<Value> {
        if let Some((a, b, c, d)) = floats(this, v)
            && [a, b, c, d].iter().all(|f| f.is_finite())
        {
            return Ok(make_f64(cx, a * c - b * d, a * d + b * c));
        }
        if let Some(parts) = complex_parts(v) {
            return component_product(cx, this, parts);
        }
        if is_real(cx, v)? {
            let (re, im) = (coerce::mul(cx, this.0, v)?, coerce::mul(cx, this.1, v)?);
            return Ok(make_complex(cx, re, im));
        }
        let me = make_complex(cx, this.0, this.1);
        coerce::binary(cx, me, sym::mul, v)
    }
    /// Equality by value.
    ///
    ///     Complex(1, 0) == 1    #=> true
    #[method("==")]
    fn eq(cx: &mut Cx, this: Parts, v: Value) -> Result<bool> {
        if let Some((c, d)) = complex_parts(v) {
            return Ok(same(cx, this.0, c)? && same(cx, this.1, d)?);
        }
        if is_real(cx, v)? {
            return Ok(same(cx, this.0, v)? && same(cx, this.1, Value::fixnum(0))?);
        }
        let me = make_complex(cx, this.0, this.1);
        coerce::equal(cx, me, v)
    }
    /// For Marshal: the parts.
    #[method("marshal_dump", private)]
    fn marshal_dump(cx: &Cx, this: Parts) -> Value {
        cx.array(&[this.0, this.1])
    }
    /// Hash code.
    ///
    ///     Complex(1, 2).hash == Complex(1, 2).hash    #=> true
    #[method("hash")]
    fn hash(cx: &mut Cx, this: Parts) -> Result<Value> {
        let parts = [cx.hash_of(this.0)?, cx.hash_of(this.1)?, u64::from(ids::COMPLEX.0)];
        Ok(cx.shown_hash(equality::combine(&parts)))
    }
}

pub(crate) use complex::METHODS;
