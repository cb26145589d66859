//! Kernel: the conversion functions Integer(), Float(), Rational() and Complex().

use super::coerce::{Num, classify, complex_parts};
use super::parse::{self, ComplexText};
use super::{ints, rat, rational};
use zakuro_macros::ruby_class;
use zakuro_text::encoding::Encoding;
use zakuro_text::{float, int};
use zakuro_vm::*;

/// `exception:` keyword: whether to raise.
fn raises(cx: &mut Cx, kw: Kwargs) -> Result<bool> {
    if kw.is_none() {
        return Ok(true);
    }
    kw.only(cx, &[sym::exception])?;
    match kw.get(sym::exception) {
        None | Some(Value::TRUE) => Ok(true),
        Some(Value::FALSE) => Ok(false),
        Some(v) => {
            let t = cx.inspect_for_error(v);
            cx.arg_error(format!("expected true or false as exception: {t}"))
        }
    }
}

/// Runs a conversion of these values; nil instead of an error when errors are unwanted, unless it is about the encoding of a text.
fn quietly(cx: &mut Cx, raise: bool, texts: &[Value], f: impl FnOnce(&mut Cx) -> Result<Value>) -> Result<Value> {
    if raise {
        return f(cx);
    }
    for s in texts.iter().filter_map(|v| Ref::<StringCell>::from_value(*v)) {
        check_ascii(cx, s)?;
    }
    Ok(cx.rescue(&[ids::STANDARD_ERROR], f)?.unwrap_or(Value::NIL))
}

fn shown(heap: &Heap, s: Ref<StringCell>) -> String {
    zakuro_text::encoding::inspect::inspect_str(s.content(heap), Encoding::from_id(s.encoding()).unwrap_or(Encoding::UTF_8))
}
fn check_ascii(cx: &mut Cx, s: Ref<StringCell>) -> Result<()> {
    match Encoding::from_id(s.encoding()) {
        Some(e) if !e.is_ascii_compatible() => cx.raise(ids::COMPAT_ERROR, format!("ASCII incompatible encoding: {}", e.name())),
        _ => Ok(()),
    }
}

fn cannot_convert<T>(cx: &mut Cx, v: Value, target: &str) -> Result<T> {
    let what = cx.describe_for_conversion(v);
    cx.type_error(format!("can't convert {what} into {target}"))
}

/// Integer value of a String as `Integer("...", base)` reads it.
pub fn str_to_int(cx: &mut Cx, s: Ref<StringCell>, base: i32) -> Result<Value> {
    check_ascii(cx, s)?;
    match int::parse_strict(&Held::of(s), base, cx) {
        Ok(int::Int::Small(i)) => Ok(cx.int(i)),
        Ok(int::Int::Big(b)) => Ok(cx.big(b)),
        Err(int::IntError::Radix) => cx.arg_error(format!("invalid radix {}", base.unsigned_abs())),
        Err(int::IntError::Stopped) => Err(Exc),
        Err(int::IntError::Invalid) => {
            let t = shown(&cx.heap, s);
            cx.arg_error(format!("invalid value for Integer(): {t}"))
        }
    }
}

/// Double of a String as `Float("...")` reads it.
pub fn str_to_float(cx: &mut Cx, s: Ref<StringCell>) -> Result<f64> {
    check_ascii(cx, s)?;
    if s.has_nul() {
        return cx.arg_error("string for Float contains null byte");
    }
    match float::parse_float(s.content(&cx.heap), true) {
        Some(f) => Ok(f),
        None => {
            let t = shown(&cx.heap, s);
            cx.arg_error(format!("invalid value for Float(): {t}"))
        }
    }
}

/// The number of `Float(v)`.
pub fn to_float(cx: &mut Cx, v: Value) -> Result<f64> {
    Ok(to_float_value(cx, v)?.as_float().unwrap_or(f64::NAN))
}

/// Conversion as `Float(v)` does it: what `to_f` gives stays the same object.
fn to_float_value(cx: &mut Cx, v: Value) -> Result<Value> {
    let f = match classify(v) {
        Num::Float(_) => return Ok(v),
        Num::Int(i) => Some(ints::to_f64(i)),
        Num::Rational(n, d) => Some(rat::to_f64((n, d))),
        Num::Other => match Ref::<StringCell>::from_value(v) {
            Some(s) => Some(str_to_float(cx, s)?),
            None => None,
        },
    };
    if let Some(f) = f {
        return Ok(cx.float(f));
    }
    if !v.is_cell() {
        return cannot_convert(cx, v, "Float");
    }
    match cx.call_if_responds(v, sym::to_f, &[])? {
        None => cannot_convert(cx, v, "Float"),
        Some(r) => match r.as_float() {
            Some(_) => Ok(r),
            None => {
                let (c, g) = (cx.class_shown(v), cx.class_shown(r));
                cx.type_error(format!("can't convert {c} to Float ({c}#to_f gives {g})"))
            }
        },
    }
}

fn to_integer(cx: &mut Cx, v: Value, base: Option<Value>) -> Result<Value> {
    let base_given = base.is_some_and(|b| !b.is_nil());
    let radix = match base {
        Some(b) if !b.is_nil() => {
            let b = cx.to_i64(b)?;
            i32::try_from(b).unwrap_or(i32::MAX)
        }
        _ => 0,
    };
    if let Some(s) = Ref::<StringCell>::from_value(v) {
        return str_to_int(cx, s, radix);
    }
    if base_given {
        return match cx.try_str(v)? {
            Some(s) => str_to_int(cx, s, radix),
            None => cx.arg_error("base specified for non string value"),
        };
    }
    match classify(v) {
        Num::Int(i) => return Ok(i),
        Num::Float(f) => return cx.float_to_int(f),
        _ => {}
    }
    if v.is_nil() {
        return cx.type_error("can't convert nil into Integer");
    }
    if let Ok(Some(r)) = cx.rescue(&[ids::STANDARD_ERROR], |cx| cx.call_if_responds(v, sym::to_int, &[]))?
        && ints::is_int(r)
    {
        return Ok(r);
    }
    if v.is_cell()
        && let Some(s) = cx.try_str(v)?
    {
        return str_to_int(cx, s, radix);
    }
    match cx.call_if_responds(v, sym::to_i, &[])? {
        None => cannot_convert(cx, v, "Integer"),
        Some(r) if ints::is_int(r) => Ok(r),
        Some(r) => {
            let (c, g) = (cx.class_shown(v), cx.class_shown(r));
            cx.type_error(format!("can't convert {c} to Integer ({c}#to_i gives {g})"))
        }
    }
}

/// One argument of Rational(): an exact number, or what division makes one of.
fn rational_part(cx: &mut Cx, v: Value) -> Result<Value> {
    if v.is_nil() {
        return cx.type_error("can't convert nil into Rational");
    }
    if let Some((re, im)) = complex_parts(v)
        && im == ints::ZERO
    {
        return rational_part(cx, re);
    }
    match classify(v) {
        Num::Int(_) | Num::Rational(..) => return Ok(v),
        Num::Float(_) => {
            let p = rational::exact(cx, v)?;
            return Ok(rat::object(cx, p));
        }
        Num::Other => {}
    }
    let s = if v.is_cell() && !cx.is_a(v, ids::NUMERIC) { cx.try_str(v)? } else { None };
    if let Some(s) = s {
        check_ascii(cx, s)?;
        if s.has_nul() {
            return cx.arg_error("string contains null byte");
        }
        let bytes = s.to_vec();
        return match parse::rational(cx, &bytes, true)? {
            Some(p) => Ok(rat::object(cx, p)),
            None => {
                let t = shown(&cx.heap, s);
                cx.arg_error(format!("invalid value for convert(): {t}"))
            }
        };
    }
    Ok(v)
}

/// What something that is no number is as one of two parts of a Rational: by `to_r`, or by `to_int`, whose exceptions do not matter.
fn of_no_number(cx: &mut Cx, v: Value) -> Result<Value> {
    if !matches!(classify(v), Num::Other) || cx.is_a(v, ids::NUMERIC) {
        return Ok(v);
    }
    match cx.call_if_responds(v, sym::to_r, &[])? {
        Some(r) if r.is_kind(Kind::Rational) => Ok(r),
        Some(_) => Ok(v),
        None => match cx.rescue(&[ids::STANDARD_ERROR], |cx| cx.call_if_responds(v, sym::to_int, &[]))? {
            Ok(Some(i)) if ints::is_int(i) => Ok(i),
            _ => Ok(v),
        },
    }
}

fn to_rational(cx: &mut Cx, a: Value, b: Option<Value>) -> Result<Value> {
    if b == Some(Value::NIL) {
        return cx.type_error("can't convert nil into Rational");
    }
    let a = rational_part(cx, a)?;
    let Some(b) = b else {
        return match classify(a) {
            Num::Int(i) => Ok(rat::object(cx, (i, ints::ONE))),
            Num::Rational(..) => Ok(a),
            _ => match cx.call_if_responds(a, sym::to_r, &[])? {
                Some(r) if r.is_kind(Kind::Rational) => Ok(r),
                Some(r) => {
                    let (c, g) = (cx.class_shown(a), cx.class_shown(r));
                    cx.type_error(format!("can't convert {c} to Rational ({c}#to_r gives {g})"))
                }
                // What `to_int` raises does not matter.
                None => match cx.rescue(&[ids::STANDARD_ERROR], |cx| cx.call_if_responds(a, sym::to_int, &[]))? {
                    Ok(Some(i)) if ints::is_int(i) => Ok(rat::object(cx, (i, ints::ONE))),
                    _ => cannot_convert(cx, a, "Rational"),
                },
            },
        };
    };
    let b = rational_part(cx, b)?;
    let a = of_no_number(cx, a)?;
    let b = of_no_number(cx, b)?;
    std::hint::black_box(a);
    match (classify(a), classify(b)) {
        (Num::Int(n), Num::Int(d)) => rat::make(cx, n, d),
        (Num::Other, _) if !cx.is_a(a, ids::NUMERIC) => cx.type_error("not an integer"),
        (_, Num::Other) if !cx.is_a(b, ids::NUMERIC) => cx.type_error("not an integer"),
        _ => {
            // Division of Integers would round: make the dividend exact.
            let a = match classify(a) {
                Num::Int(n) => rat::object(cx, (n, ints::ONE)),
                // What `to_r` raises does not matter.
                Num::Other => match cx.rescue(&[ids::STANDARD_ERROR], |cx| cx.call_if_responds(a, sym::to_r, &[]))? {
                    Ok(Some(r)) if r.is_kind(Kind::Rational) => r,
                    _ => a,
                },
                _ => a,
            };
            std::hint::black_box(b);
            cx.call(a, sym::div, &[b])
        }
    }
}

/// Makes a Complex of parts as they are.
pub fn make_complex(cx: &mut Cx, re: Value, im: Value) -> Value {
    PairCell::make(&cx.heap, ids::COMPLEX, Kind::Complex, re, im)
}

/// The Complex that text stands for.
pub fn complex_of_text(cx: &mut Cx, t: ComplexText) -> Result<Value> {
    match t {
        ComplexText::Rect(re, im) => Ok(make_complex(cx, re, im)),
        ComplexText::Polar(r, angle) => {
            let class = cx.class_value(ids::COMPLEX);
            cx.call(class, Sym::intern("polar"), &[r, angle])
        }
    }
}

fn complex_part(cx: &mut Cx, v: Value) -> Result<Value> {
    if v.is_nil() {
        return cx.type_error("can't convert nil into Complex");
    }
    let Some(s) = Ref::<StringCell>::from_value(v) else { return Ok(v) };
    check_ascii(cx, s)?;
    if s.has_nul() {
        return cx.arg_error("string contains null byte");
    }
    let bytes = s.to_vec();
    match parse::complex(cx, &bytes, true)? {
        Some(t) => complex_of_text(cx, t),
        None => {
            let t = shown(&cx.heap, s);
            cx.arg_error(format!("invalid value for convert(): {t}"))
        }
    }
}
/// A Complex whose imaginary part is an exact zero counts as its real part.
fn simplified(v: Value) -> Value {
    match complex_parts(v) {
        Some((re, im)) if im == ints::ZERO => re,
        _ => v,
    }
}

/// `v.real?` of a Numeric.
fn is_real(cx: &mut Cx, v: Value) -> Result<bool> {
    match classify(v) {
        Num::Other if v.is_kind(Kind::Complex) => Ok(false),
        Num::Other => Ok(cx.call(v, Sym::intern("real?"), &[])?.truthy()),
        _ => Ok(true),
    }
}

/// What `Complex()` raises even with `exception: false`.
fn check_complex_args(cx: &mut Cx, a: Value, b: Option<Value>) -> Result<()> {
    for s in [Some(a), b].into_iter().flatten().filter_map(Ref::<StringCell>::from_value) {
        check_ascii(cx, s)?;
    }
    match b {
        Some(b) if cx.is_a(b, ids::NUMERIC) && !a.is_nil() && !a.is_kind(Kind::String) && !cx.is_a(a, ids::NUMERIC) => cx.type_error("not a real"),
        _ => Ok(()),
    }
}

fn to_complex(cx: &mut Cx, a: Value, b: Option<Value>) -> Result<Value> {
    if b == Some(Value::NIL) {
        return cx.type_error("can't convert nil into Complex");
    }
    let first = complex_part(cx, a)?;
    let Some(b) = b else {
        if first.is_kind(Kind::Complex) {
            return Ok(first);
        }
        if cx.is_a(first, ids::NUMERIC) {
            let real = Sym::intern("real?");
            return if cx.call(first, real, &[])?.truthy() { Ok(make_complex(cx, first, ints::ZERO)) } else { Ok(first) };
        }
        return match cx.call_if_responds(first, sym::to_c, &[])? {
            Some(c) if c.is_kind(Kind::Complex) => Ok(c),
            _ => cannot_convert(cx, first, "Complex"),
        };
    };
    let second = complex_part(cx, b)?;
    let (x, y) = (simplified(first), simplified(second));
    for v in [x, y] {
        if !cx.is_a(v, ids::NUMERIC) {
            return cx.type_error("not a real");
        }
    }
    if is_real(cx, x)? && is_real(cx, y)? {
        return Ok(make_complex(cx, x, y));
    }
    // x + y * i
    let i = make_complex(cx, ints::ZERO, ints::ONE);
    let yi = cx.call(y, sym::mul, &[i])?;
    cx.call(x, sym::add, &[yi])
}

/// `Rational(...)`
pub(super) fn rational_of(cx: &mut Cx, a: Value, b: Option<Value>, kw: Kwargs) -> Result<Value> {
    let raise = raises(cx, kw)?;
    quietly(cx, raise, &[a, b.unwrap_or(Value::NIL)], |cx| to_rational(cx, a, b))
}

/// `Complex(...)`
pub(super) fn complex_of(cx: &mut Cx, a: Value, b: Option<Value>, kw: Kwargs) -> Result<Value> {
    let raise = raises(cx, kw)?;
    if !raise {
        check_complex_args(cx, a, b)?;
    }
    quietly(cx, raise, &[a, b.unwrap_or(Value::NIL)], |cx| to_complex(cx, a, b))
}

#[ruby_class(ids::KERNEL)]
mod kernel {
    use super::*;

    /// Strict conversion to an Integer.
    ///
    ///     Integer("0x1f", 16)               #=> 31
    ///     Integer("1_000")                  #=> 1000
    ///     Integer("x", exception: false)    #=> nil
    #[method("Integer", module_function)]
    fn integer(cx: &mut Cx, this: Value, v: Value, base: Option<Value>, kw: Kwargs) -> Result<Value> {
        let _ = this;
        let raise = raises(cx, kw)?;
        if !raise && base.is_none() && let Some(s) = Ref::<StringCell>::from_value(v) {
            check_ascii(cx, s)?;
            // No error is made that nobody sees.
            return match int::parse_strict(&Held::of(s), 0, cx) {
                Ok(int::Int::Small(i)) => Ok(cx.int(i)),
                Ok(int::Int::Big(b)) => Ok(cx.big(b)),
                Err(int::IntError::Stopped) => Err(Exc),
                Err(int::IntError::Radix | int::IntError::Invalid) => Ok(Value::NIL),
            };
        }
        // Whatever `exception:` says.
        let no_radix = base.and_then(Value::as_fixnum).is_some_and(|b| b == 1 || b.unsigned_abs() > 36);
        quietly(cx, raise || no_radix && v.is_kind(Kind::String), &[v], |cx| to_integer(cx, v, base))
    }
    /// Strict conversion to a Float.
    ///
    ///     Float("1.5e3")                   #=> 1500.0
    ///     Float("abc", exception: false)   #=> nil
    #[method("Float", module_function)]
    fn float(cx: &mut Cx, this: Value, v: Value, kw: Kwargs) -> Result<Value> {
        let _ = this;
        let raise = raises(cx, kw)?;
        if v.as_float().is_some() {
            return Ok(v);
        }
        if let Some(n) = v.as_fixnum() {
            return Ok(cx.float(n as f64));
        }
        if !raise && let Some(s) = Ref::<StringCell>::from_value(v) {
            check_ascii(cx, s)?;
            // No error is made that nobody sees.
            let found = if s.has_nul() { None } else { float::parse_float(s.content(&cx.heap), true) };
            return Ok(found.map_or(Value::NIL, |f| cx.float(f)));
        }
        quietly(cx, raise, &[], |cx| to_float_value(cx, v))
    }
    /// A Rational of one number or text, or a quotient of two.
    ///
    ///     Rational("1/3")     #=> (1/3)
    ///     Rational(6, 4)      #=> (3/2)
    ///     Rational(0.5)       #=> (1/2)
    #[method("Rational", module_function)]
    fn rational(cx: &mut Cx, this: Value, a: Value, b: Option<Value>, kw: Kwargs) -> Result<Value> {
        let _ = this;
        rational_of(cx, a, b, kw)
    }
    /// A Complex of parts or text.
    ///
    ///     Complex(1, 2)      #=> (1+2i)
    ///     Complex("3-4i")    #=> (3-4i)
    #[method("Complex", module_function)]
    fn complex(cx: &mut Cx, this: Value, a: Value, b: Option<Value>, kw: Kwargs) -> Result<Value> {
        let _ = this;
        complex_of(cx, a, b, kw)
    }
}

pub(crate) use kernel::METHODS;
