//! BigDecimal: decimal numbers of any precision, as bigdecimal 4.0 has them. [`num`] calculates; powers, BigMath and the `to_d`s are Ruby
//! (`ruby/bigdecimal.rb`).
//!
//! Modes (rounding, exceptions, limit) are the fiber's, in its own variables, as the reference keeps them; until a VM sets one, none is looked up.

mod class;
mod convert;
mod math;
mod num;
#[cfg(test)]
mod num_tests;
mod text;

use convert::{Operand, coerced, operand, wanted};
use num::{Num, Round, Rules};
use num_bigint::BigInt;
use std::cmp::Ordering;
use std::sync::Arc;
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

/// Payload of a BigDecimal: a number that never changes, which calculations keep.
#[derive(Trace)]
struct Number(#[untraced] Arc<Num>);

impl NativeData for Number {
    fn refers(&self) -> bool {
        false
    }
    fn weight(&self) -> usize {
        self.block() + std::mem::size_of::<Num>() + 48
    }
    fn block(&self) -> usize {
        match &*self.0 {
            Num::Finite { digits, .. } => digits.bits() as usize / 8,
            _ => 0,
        }
    }
    fn send_copy(&self) -> Option<SendPayload> {
        Some(Box::new(Number(Arc::new((*self.0).clone()))))
    }
    fn save(&self, out: &mut Saved) -> Option<&'static str> {
        match &*self.0 {
            Num::NaN => out.number(0),
            Num::Infinite { neg } => out.number(1).flag(*neg),
            Num::Zero { neg } => out.number(2).flag(*neg),
            Num::Finite { neg, digits, exp } => out.number(3).flag(*neg).signed(*exp).blob(&digits.to_bytes_le()),
        };
        Some("BigDecimal")
    }
}
zakuro_vm::saved_loader!("BigDecimal", |r| {
    let number = match r.number()? {
        0 => Num::NaN,
        1 => Num::Infinite { neg: r.flag()? },
        2 => Num::Zero { neg: r.flag()? },
        3 => {
            let (neg, exp, digits) = (r.flag()?, r.signed()?, num_bigint::BigUint::from_bytes_le(r.blob()?));
            if digits == num_bigint::BigUint::ZERO {
                return None;
            }
            Num::Finite { neg, digits, exp }
        }
        _ => return None,
    };
    r.ends(0)?;
    let number = Arc::new(number);
    Some(rebuild(move |_, _| Some(Box::new(Number(number.clone())))))
});

/// What of BigDecimal a VM has.
#[derive(Trace, Default)]
struct Modes {
    #[untraced]
    class: Option<ClassId>,
    /// A mode was set: fibers are asked for theirs.
    set: bool,
}
impl VmState for Modes {}

const ROUNDING: &str = "BigDecimal_rounding_mode";
const EXCEPTIONS: &str = "BigDecimal_exception_mode";
const LIMIT: &str = "BigDecimal_precision_limit";
const ROUND_MODE: i64 = 256;

fn current_thread(cx: &mut Cx) -> Result<Value> {
    let class = cx.class_value(ids::THREAD);
    cx.call(class, Sym::intern("current"), &[])
}

/// A mode of the running fiber.
fn mode(cx: &mut Cx, name: &str, default: i64) -> Result<i64> {
    if !cx.state::<Modes>().set {
        return Ok(default);
    }
    let thread = current_thread(cx)?;
    let v = cx.call(thread, sym::aref, &[Value::sym(Sym::intern(name))])?;
    Ok(if v.is_fixnum() { v.fix() } else { default })
}
fn set_mode(cx: &mut Cx, name: &str, value: i64) -> Result<()> {
    cx.state::<Modes>().set = true;
    let thread = current_thread(cx)?;
    cx.call(thread, sym::aset, &[Value::sym(Sym::intern(name)), Value::fixnum(value)])?;
    Ok(())
}

fn round_of(n: i64) -> Option<Round> {
    Some(match n {
        1 => Round::Up,
        2 => Round::Down,
        3 => Round::HalfUp,
        4 => Round::HalfDown,
        5 => Round::Ceiling,
        6 => Round::Floor,
        7 => Round::HalfEven,
        _ => return None,
    })
}

fn rules(cx: &mut Cx) -> Result<Rules> {
    let round = round_of(mode(cx, ROUNDING, 3)?).unwrap_or(Round::HalfUp);
    Ok(Rules { round, limit: mode(cx, LIMIT, 0)? as u64, flags: 0, too_big: false })
}
/// Without the limit of digits.
fn exact(cx: &mut Cx) -> Result<Rules> {
    Ok(Rules { limit: 0, ..rules(cx)? })
}

/// A new BigDecimal.
fn make(cx: &mut Cx, n: Num) -> Result<Value> {
    let class = match cx.state::<Modes>().class {
        Some(c) => c,
        None => {
            let c = cx.class_named("BigDecimal")?;
            cx.state::<Modes>().class = Some(c);
            c
        }
    };
    let v = cx.data(class, Number(Arc::new(n)));
    v.set_flags(flags::FROZEN);
    Ok(v)
}

fn domain<T>(cx: &mut Cx, message: &str) -> Result<T> {
    cx.raise(ids::FLOAT_DOMAIN_ERROR, message)
}

/// FloatDomainError for NaN and infinities.
fn check_finite(cx: &mut Cx, n: &Num) -> Result<()> {
    match n {
        Num::NaN => domain(cx, "Computation results in 'NaN' (Not a Number)"),
        Num::Infinite { neg: false } => domain(cx, "Computation results in 'Infinity'"),
        Num::Infinite { neg: true } => domain(cx, "Computation results in '-Infinity'"),
        _ => Ok(()),
    }
}

/// The result of an operation, unless the fiber wants an exception for what happened.
fn checked(cx: &mut Cx, rules: Rules, n: Num) -> Result<Num> {
    if rules.too_big {
        return cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory");
    }
    if rules.flags == 0 && !matches!(n, Num::NaN | Num::Infinite { .. }) {
        return Ok(n);
    }
    let wanted = mode(cx, EXCEPTIONS, 0)? as u8;
    if rules.flags & wanted & num::ZERO_DIVIDE != 0 {
        return domain(cx, "Divide by zero");
    }
    if rules.flags & wanted & num::UNDERFLOW != 0 {
        return domain(cx, "Exponent underflow");
    }
    if rules.flags & wanted & num::INFINITY != 0 {
        return domain(cx, "Exponent overflow");
    }
    let kind = if matches!(n, Num::NaN) { num::NAN } else { num::INFINITY };
    if matches!(n, Num::NaN | Num::Infinite { .. }) && wanted & kind != 0 {
        check_finite(cx, &n)?;
    }
    Ok(n)
}
fn give(cx: &mut Cx, rules: Rules, n: Num) -> Result<Value> {
    let n = checked(cx, rules, n)?;
    make(cx, n)
}

/// The number of a receiver.
fn number(cx: &mut Cx, this: Value) -> Result<Arc<Num>> {
    Ok(cx.data_ref::<Number>(this)?.0.clone())
}

fn to_integer(cx: &mut Cx, n: &Num) -> Result<Value> {
    check_finite(cx, n)?;
    match n.to_integer(cx)? {
        Some(i) => Ok(cx.big(i)),
        None => cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory"),
    }
}

fn digits_arg(cx: &mut Cx, v: Value) -> Result<u64> {
    let n = cx.to_i64(v)?;
    match u64::try_from(n) {
        Ok(n) => Ok(n),
        Err(_) => cx.arg_error("negative precision"),
    }
}

/// A rounding mode by name or number.
fn round_arg(cx: &mut Cx, v: Value) -> Result<Round> {
    let found = match v.as_sym() {
        Some(s) => match &*s.name() {
            "up" => Some(Round::Up),
            "down" | "truncate" => Some(Round::Down),
            "half_up" | "default" => Some(Round::HalfUp),
            "half_down" => Some(Round::HalfDown),
            "half_even" | "banker" => Some(Round::HalfEven),
            "ceiling" | "ceil" => Some(Round::Ceiling),
            "floor" => Some(Round::Floor),
            _ => None,
        },
        None => round_of(cx.to_i64(v)?),
    };
    match found {
        Some(r) => Ok(r),
        None => {
            let shown = cx.to_s_text(v)?;
            cx.arg_error(format!("invalid rounding mode ({shown})"))
        }
    }
}
/// `half: :up`; None: as the mode says.
fn half_arg(cx: &mut Cx, kw: &Kwargs) -> Result<Option<Round>> {
    let Some(v) = kw.named("half").filter(|v| !v.is_nil()) else { return Ok(None) };
    let name = match v.as_sym() {
        Some(s) => s.name().into_owned(),
        None => match cx.try_str(v)? {
            Some(s) => s.to_text(),
            None => String::new(),
        },
    };
    match name.to_ascii_lowercase().as_str() {
        "up" => Ok(Some(Round::HalfUp)),
        "down" => Ok(Some(Round::HalfDown)),
        "even" => Ok(Some(Round::HalfEven)),
        _ => {
            let shown = cx.to_s_text(v)?;
            cx.arg_error(format!("invalid rounding mode ({shown})"))
        }
    }
}

/// `this` and what it is combined with; None: the other one has to know how.
fn pair(cx: &mut Cx, this: Value, other: Value, digits: u64) -> Result<Option<(Arc<Num>, Operand)>> {
    let a = number(cx, this)?;
    let digits = wanted(&a, digits);
    Ok(operand(cx, other, digits)?.map(|b| (a, b)))
}
/// As `pair`, TypeError for others.
fn must_pair(cx: &mut Cx, this: Value, other: Value, digits: u64) -> Result<(Arc<Num>, Operand)> {
    match pair(cx, this, other, digits)? {
        Some(p) => Ok(p),
        None => {
            let what = cx.describe_for_conversion(other);
            cx.type_error(format!("{what} can't be coerced into BigDecimal"))
        }
    }
}

fn add(cx: &mut Cx, this: Value, other: Value, negate: bool, digits: u64) -> Result<Value> {
    let (a, b) = must_pair(cx, this, other, digits)?;
    let mut r = rules(cx)?;
    let n = r.add(&a, &b, negate, digits, cx)?;
    give(cx, r, n)
}
fn multiply(cx: &mut Cx, this: Value, other: Value, digits: u64) -> Result<Value> {
    let (a, b) = must_pair(cx, this, other, digits)?;
    let mut r = rules(cx)?;
    let n = r.mul(&a, &b, digits, cx)?;
    give(cx, r, n)
}
fn divide(cx: &mut Cx, this: Value, other: Value, digits: u64) -> Result<Value> {
    let (a, b) = must_pair(cx, this, other, digits)?;
    let mut r = rules(cx)?;
    let n = convert::divide(&mut r, &a, &b, digits, cx)?;
    give(cx, r, n)
}

/// Integer quotient and remainder. None: the other one has to know how.
fn div_mod(cx: &mut Cx, this: Value, other: Value, truncate: bool) -> Result<Option<(Num, Num)>> {
    let Some((a, b)) = pair(cx, this, other, 0)? else { return Ok(None) };
    let neg = a.is_negative() != b.is_negative();
    let zero = Num::Zero { neg: false };
    Ok(Some(match (&*a, &*b) {
        (Num::NaN, _) | (_, Num::NaN) | (Num::Infinite { .. }, Num::Infinite { .. }) => (Num::NaN, Num::NaN),
        (_, Num::Zero { .. }) => return cx.raise(ids::ZERO_DIVISION_ERROR, "divided by 0"),
        (Num::Infinite { .. }, _) => (Num::Infinite { neg }, Num::NaN),
        (Num::Zero { .. }, _) => (zero, (*a).clone()),
        (_, Num::Infinite { .. }) if !truncate && neg => (Num::integer(&BigInt::from(-1), cx)?, b.clone()),
        (_, Num::Infinite { .. }) => (zero, (*a).clone()),
        _ => {
            let mut r = exact(cx)?;
            match r.div_rem(&a, &b, truncate, cx)? {
                Some((q, m)) => (Num::integer(&q, cx)?, m),
                None => return cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory"),
            }
        }
    }))
}

/// `<=>`; None: not comparable (NaN), or the other one has to know how (the error).
fn compare(cx: &mut Cx, this: Value, other: Value) -> Result<std::result::Result<Option<Ordering>, ()>> {
    Ok(match pair(cx, this, other, 0)? {
        Some((a, b)) => Ok(a.compare(&b, cx)?),
        None => Err(()),
    })
}
fn relation(cx: &mut Cx, this: Value, other: Value, name: &str, holds: fn(Ordering) -> bool) -> Result<Value> {
    if let Ok(o) = compare(cx, this, other)? {
        return Ok(Value::bool(o.is_some_and(holds)));
    }
    if let Some((a, b)) = coerced(cx, this, other, false)? {
        let r = cx.call(a, Sym::intern(name), &[b])?;
        if !r.is_nil() {
            return Ok(r);
        }
    }
    let shown = if other.is_cell() && other.as_float().is_none() { cx.class_name_of(other) } else { cx.inspect_for_error(other) };
    cx.arg_error(format!("comparison of BigDecimal with {shown} failed"))
}

/// `floor(n)` and the like: an Integer without `n`.
fn to_place(cx: &mut Cx, this: Value, places: Option<Value>, how: Round) -> Result<Value> {
    let n = number(cx, this)?;
    let place = match places {
        Some(p) => cx.to_i64(p)?,
        None => 0,
    };
    let mut r = exact(cx)?;
    let n = r.to_place((*n).clone(), -i128::from(place), how, cx)?;
    if places.is_some() { give(cx, r, n) } else { to_integer(cx, &n) }
}

fn shown(cx: &mut Cx, n: &Num, f: text::Format) -> Result<Value> {
    match text::format(n, f, cx)? {
        Some(s) => Ok(cx.str_bytes(s.as_bytes(), string::US_ASCII)),
        None => cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory"),
    }
}

/// Methods of `BigDecimal`.
#[ruby_class(ids::NUMERIC)]
mod decimal {
    use super::*;

    /// The sum. More exact than needed is no sum: `BigDecimal.limit` rounds.
    ///
    ///     (BigDecimal("0.1") + BigDecimal("0.2")).to_s   #=> "0.3e0"
    #[method("+")]
    fn plus(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        if !convert::known(cx, other) {
            return convert::other_way(cx, this, other, "+");
        }
        add(cx, this, other, false, 0)
    }
    /// The difference, exact.
    #[method("-")]
    fn minus(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        if !convert::known(cx, other) {
            return convert::other_way(cx, this, other, "-");
        }
        add(cx, this, other, true, 0)
    }
    /// The product, exact.
    #[method("*")]
    fn times(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        if !convert::known(cx, other) {
            return convert::other_way(cx, this, other, "*");
        }
        multiply(cx, this, other, 0)
    }
    /// The quotient, to at least 32 digits.
    ///
    ///     (BigDecimal(1) / 3).to_s   #=> "0.33333333333333333333333333333333e0"
    #[method("/")]
    fn over(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        if !convert::known(cx, other) {
            return convert::other_way(cx, this, other, "/");
        }
        divide(cx, this, other, 0)
    }
    /// The sum to a number of digits (0: all).
    #[method("add")]
    fn add_digits(cx: &mut Cx, this: Value, other: Value, digits: Value) -> Result<Value> {
        let digits = digits_arg(cx, digits)?;
        add(cx, this, other, false, digits)
    }
    /// The difference to a number of digits (0: all).
    #[method("sub")]
    fn sub_digits(cx: &mut Cx, this: Value, other: Value, digits: Value) -> Result<Value> {
        let digits = digits_arg(cx, digits)?;
        add(cx, this, other, true, digits)
    }
    /// The product to a number of digits (0: all).
    #[method("mult")]
    fn mult_digits(cx: &mut Cx, this: Value, other: Value, digits: Value) -> Result<Value> {
        let digits = digits_arg(cx, digits)?;
        multiply(cx, this, other, digits)
    }
    /// The quotient to a number of digits, without one as `/`.
    #[method("quo")]
    fn quo(cx: &mut Cx, this: Value, other: Value, digits: Option<Value>) -> Result<Value> {
        let digits = match digits {
            Some(d) => digits_arg(cx, d)?,
            None => 0,
        };
        if !convert::known(cx, other) {
            return convert::other_way(cx, this, other, "/");
        }
        divide(cx, this, other, digits)
    }
    /// The quotient rounded down, an Integer; or to a number of digits.
    ///
    ///     BigDecimal("7.5").div(2)            #=> 3
    ///     BigDecimal("7").div(3, 4).to_s      #=> "0.2333e1"
    #[method("div")]
    fn div(cx: &mut Cx, this: Value, other: Value, digits: Option<Value>) -> Result<Value> {
        if let Some(d) = digits.filter(|d| !d.is_nil()) {
            let digits = digits_arg(cx, d)?;
            return divide(cx, this, other, digits);
        }
        match div_mod(cx, this, other, false)? {
            Some((q, _)) => to_integer(cx, &q),
            None => convert::other_way(cx, this, other, "div"),
        }
    }
    /// What is left over when the quotient is rounded down.
    #[method("%", "modulo")]
    fn modulo(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        let r = exact(cx)?;
        match div_mod(cx, this, other, false)? {
            Some((_, m)) => give(cx, r, m),
            None => convert::other_way(cx, this, other, "%"),
        }
    }
    /// The quotient rounded down, an Integer, and what is left over.
    #[method("divmod")]
    fn divmod(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        let r = exact(cx)?;
        match div_mod(cx, this, other, false)? {
            Some((q, m)) => {
                let q = to_integer(cx, &q)?;
                let m = give(cx, r, m)?;
                Ok(cx.array(&[q, m]))
            }
            None => convert::other_way(cx, this, other, "divmod"),
        }
    }
    /// What is left over when the quotient is rounded towards 0.
    #[method("remainder")]
    fn remainder(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        let r = exact(cx)?;
        match div_mod(cx, this, other, true)? {
            Some((_, m)) => give(cx, r, m),
            None => convert::other_way(cx, this, other, "remainder"),
        }
    }
    /// The number itself.
    #[method("+@", "to_d")]
    fn itself(this: Value) -> Value {
        this
    }
    /// The number itself: it never changes.
    #[method("clone", "dup", min = 0, max = 0)]
    fn copy(this: Value, _args: Args) -> Value {
        this
    }
    /// The number with the other sign.
    #[method("-@")]
    fn negate(cx: &mut Cx, this: Value) -> Result<Value> {
        let (n, r) = (number(cx, this)?.negated(), exact(cx)?);
        give(cx, r, n)
    }
    /// The number without sign.
    #[method("abs")]
    fn abs(cx: &mut Cx, this: Value) -> Result<Value> {
        let (n, r) = (number(cx, this)?.with_sign(false), exact(cx)?);
        give(cx, r, n)
    }
    /// Smaller, equal, larger: -1, 0, 1; nil where nothing can be compared, as with NaN.
    #[method("<=>")]
    fn compare_to(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        if let Ok(o) = compare(cx, this, other)? {
            return Ok(o.map_or(Value::NIL, |o| Value::fixnum(o as i64)));
        }
        match coerced(cx, this, other, false)? {
            Some((a, b)) => cx.call(a, Sym::intern("<=>"), &[b]),
            None => Ok(Value::NIL),
        }
    }
    /// Whether the other is a number of the same value.
    #[method("==", "===", "eql?")]
    fn equal(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        if let Ok(o) = compare(cx, this, other)? {
            return Ok(o == Some(Ordering::Equal));
        }
        match coerced(cx, this, other, false)? {
            Some((a, b)) => Ok(cx.call(a, Sym::intern("=="), &[b])?.truthy()),
            None => Ok(false),
        }
    }
    /// Whether the number is smaller; ArgumentError if the other can't be compared.
    #[method("<")]
    fn less(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        relation(cx, this, other, "<", Ordering::is_lt)
    }
    /// Whether the number is smaller or equal; ArgumentError if the other can't be compared.
    #[method("<=")]
    fn less_or_equal(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        relation(cx, this, other, "<=", Ordering::is_le)
    }
    /// Whether the number is larger; ArgumentError if the other can't be compared.
    #[method(">")]
    fn greater(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        relation(cx, this, other, ">", Ordering::is_gt)
    }
    /// Whether the number is larger or equal; ArgumentError if the other can't be compared.
    #[method(">=")]
    fn greater_or_equal(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        relation(cx, this, other, ">=", Ordering::is_ge)
    }
    /// The same for numbers of the same value.
    #[method("hash")]
    fn hash(cx: &mut Cx, this: Value) -> Result<Value> {
        let bytes = match &*number(cx, this)? {
            Num::Finite { neg, digits, exp } => {
                let mut b = digits.to_bytes_le();
                b.extend_from_slice(&exp.to_le_bytes());
                b.push(u8::from(*neg));
                b
            }
            n => format!("{n:?}").into_bytes(),
        };
        let s = cx.str_bytes(&bytes, string::BINARY);
        cx.call(s, Sym::intern("hash"), &[])
    }
    /// `[other as BigDecimal, self]`
    #[method("coerce")]
    fn coerce(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        let (_, b) = must_pair(cx, this, other, 0)?;
        let r = exact(cx)?;
        let b = give(cx, r, b.into_num())?;
        Ok(cx.array(&[b, this]))
    }

    /// As text: `"0.123e2"`, or `"12.3"` with "F". A number before it groups digits; a space or plus sign stands before positive numbers.
    ///
    ///     BigDecimal("1234567.8").to_s             #=> "0.12345678e7"
    ///     BigDecimal("1234567.8").to_s("+3F")      #=> "+1 234 567.8"
    #[method("to_s")]
    fn to_s(cx: &mut Cx, this: Value, format: Option<Value>) -> Result<Value> {
        let n = number(cx, this)?;
        let mut f = text::Format::default();
        match format {
            None => {}
            Some(v) => match Ref::<StringCell>::from_value(v) {
                Some(s) => {
                    let s = s.to_text();
                    let mut rest = s.as_str();
                    f.plus = rest.chars().next().filter(|c| matches!(c, ' ' | '+'));
                    if f.plus.is_some() {
                        rest = &rest[1..];
                    }
                    for c in rest.chars() {
                        match c {
                            c if c.is_ascii_whitespace() => {}
                            '0'..='9' => f.group = f.group.saturating_mul(10).saturating_add(c as usize - '0' as usize),
                            c => {
                                f.plain = matches!(c, 'F' | 'f');
                                break;
                            }
                        }
                    }
                }
                None => {
                    let group = cx.to_i64(v)?;
                    if group <= 0 {
                        return cx.arg_error("argument must be positive");
                    }
                    f.group = group as usize;
                }
            },
        }
        shown(cx, &n, f)
    }
    /// The number as `to_s` writes it.
    #[method("inspect")]
    fn inspect(cx: &mut Cx, this: Value) -> Result<Value> {
        let n = number(cx, this)?;
        shown(cx, &n, text::Format::default())
    }
    /// What Marshal writes.
    #[method("_dump")]
    fn dump(cx: &mut Cx, this: Value, _level: Option<Value>) -> Result<Value> {
        let n = number(cx, this)?;
        let text = text::format(&n, text::Format::default(), cx)?.unwrap_or_default();
        Ok(cx.str_bytes(format!("{}:{text}", n.word_digits()).as_bytes(), string::US_ASCII))
    }
    /// The part before the point as Integer; FloatDomainError for infinities and NaN.
    #[method("to_i", "to_int")]
    fn to_i(cx: &mut Cx, this: Value) -> Result<Value> {
        let n = number(cx, this)?;
        to_integer(cx, &n)
    }
    /// The nearest Float.
    #[method("to_f")]
    fn to_f(cx: &mut Cx, this: Value) -> Result<Value> {
        let n = number(cx, this)?;
        let f = match &*n {
            Num::NaN => f64::NAN,
            Num::Infinite { neg } => {
                if *neg {
                    f64::NEG_INFINITY
                } else {
                    f64::INFINITY
                }
            }
            Num::Zero { neg } => {
                if *neg {
                    -0.0
                } else {
                    0.0
                }
            }
            Num::Finite { neg, .. } => {
                let sign = if *neg { -1.0 } else { 1.0 };
                let top = n.exponent();
                let f = if top > 320 {
                    sign * f64::INFINITY
                } else if top < -340 {
                    sign * 0.0
                } else {
                    text::format(&n, text::Format::default(), cx)?.and_then(|s| s.parse::<f64>().ok()).unwrap_or(f64::NAN)
                };
                if f.is_infinite() && mode(cx, EXCEPTIONS, 0)? as u8 & num::INFINITY != 0 {
                    return domain(cx, "BigDecimal to Float conversion");
                }
                if f == 0.0 && mode(cx, EXCEPTIONS, 0)? as u8 & num::UNDERFLOW != 0 {
                    return domain(cx, "BigDecimal to Float conversion");
                }
                f
            }
        };
        Ok(cx.float(f))
    }
    /// The number as Rational; FloatDomainError for infinities and NaN.
    #[method("to_r")]
    fn to_r(cx: &mut Cx, this: Value) -> Result<Value> {
        let n = number(cx, this)?;
        check_finite(cx, &n)?;
        let (top, bottom) = match &*n {
            Num::Finite { neg, digits, exp } if *exp < 0 => {
                if exp.unsigned_abs() > 500_000_000 {
                    return cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory");
                }
                let n = BigInt::from(digits.clone());
                let power = num::pow10(exp.unsigned_abs(), cx)?;
                (cx.big(if *neg { -n } else { n }), cx.big(power.into()))
            }
            _ => (to_integer(cx, &n)?, Value::fixnum(1)),
        };
        let kernel = cx.class_value(ids::KERNEL);
        cx.call(kernel, Sym::intern("Rational"), &[top, bottom])
    }
    /// Sign, digits, base (10) and exponent.
    #[method("split")]
    fn split(cx: &mut Cx, this: Value) -> Result<Value> {
        let n = number(cx, this)?;
        let (sign, digits) = match &*n {
            Num::NaN => (0, "NaN".to_string()),
            Num::Infinite { neg } => (if *neg { -1 } else { 1 }, "Infinity".into()),
            Num::Zero { neg } => (if *neg { -1 } else { 1 }, "0".into()),
            Num::Finite { neg, digits, .. } => (if *neg { -1 } else { 1 }, zakuro_text::big::to_text(&digits.clone().into(), 10, cx)?),
        };
        let digits = cx.str_bytes(digits.as_bytes(), string::US_ASCII);
        let exponent = cx.int(n.exponent());
        Ok(cx.array(&[Value::fixnum(sign), digits, Value::fixnum(10), exponent]))
    }
    /// `n` of `0.ddd * 10**n`.
    #[method("exponent")]
    fn exponent(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(number(cx, this)?.exponent())
    }
    /// The digits of the number written without an exponent, but for a 0 before the point.
    ///
    ///     BigDecimal("12.34").precision   #=> 4
    #[method("precision")]
    fn precision(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(number(cx, this)?.precision_scale().0)
    }
    /// The digits behind the point.
    #[method("scale")]
    fn scale(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(number(cx, this)?.precision_scale().1)
    }
    /// `[precision, scale]`
    #[method("precision_scale")]
    fn precision_scale(cx: &mut Cx, this: Value) -> Result<Value> {
        let (p, s) = number(cx, this)?.precision_scale();
        let both = [cx.int(p), cx.int(s)];
        Ok(cx.array(&both))
    }
    /// The digits between the first and the last that are not 0.
    #[method("n_significant_digits")]
    fn significant_digits(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(number(cx, this)?.significant_digits() as i64)
    }
    /// `SIGN_POSITIVE_FINITE` and the like.
    #[method("sign")]
    fn sign(cx: &mut Cx, this: Value) -> Result<i64> {
        let n = number(cx, this)?;
        let kind = match &*n {
            Num::NaN => return Ok(0),
            Num::Zero { .. } => 1,
            Num::Finite { .. } => 2,
            Num::Infinite { .. } => 3,
        };
        Ok(if n.is_negative() { -kind } else { kind })
    }
    /// Whether it is no number.
    #[method("nan?")]
    fn is_nan(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(matches!(*number(cx, this)?, Num::NaN))
    }
    /// Whether it is neither infinite nor NaN.
    #[method("finite?")]
    fn is_finite(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(matches!(*number(cx, this)?, Num::Finite { .. } | Num::Zero { .. }))
    }
    /// 1 or -1 for infinities, else nil.
    #[method("infinite?")]
    fn is_infinite(cx: &mut Cx, this: Value) -> Result<Option<i64>> {
        Ok(match &*number(cx, this)? {
            Num::Infinite { neg } => Some(if *neg { -1 } else { 1 }),
            _ => None,
        })
    }
    /// Whether it is 0 or -0.
    #[method("zero?")]
    fn is_zero(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(matches!(*number(cx, this)?, Num::Zero { .. }))
    }
    /// The number itself, or nil for 0.
    #[method("nonzero?")]
    fn nonzero(cx: &mut Cx, this: Value) -> Result<Value> {
        Ok(if matches!(*number(cx, this)?, Num::Zero { .. }) { Value::NIL } else { this })
    }
    /// The integer part, a BigDecimal.
    #[method("fix")]
    fn fix(cx: &mut Cx, this: Value) -> Result<Value> {
        to_place(cx, this, Some(Value::fixnum(0)), Round::Down)
    }
    /// The part behind the point.
    #[method("frac")]
    fn frac(cx: &mut Cx, this: Value) -> Result<Value> {
        let n = number(cx, this)?;
        let mut r = exact(cx)?;
        let frac = match &*n {
            Num::Finite { exp: 0.., neg, .. } => Num::Zero { neg: *neg },
            Num::Finite { .. } => {
                let whole = r.to_place((*n).clone(), 0, Round::Down, cx)?;
                r.add(&n, &whole, true, 0, cx)?
            }
            n => n.clone(),
        };
        give(cx, r, frac)
    }
    /// Cuts off behind the point: an Integer; with `places` a BigDecimal with so many digits behind it.
    #[method("truncate")]
    fn truncate(cx: &mut Cx, this: Value, places: Option<Value>) -> Result<Value> {
        to_place(cx, this, places, Round::Down)
    }
    /// Rounded down, an Integer; with `places` a BigDecimal with so many digits behind the point.
    #[method("floor")]
    fn floor(cx: &mut Cx, this: Value, places: Option<Value>) -> Result<Value> {
        to_place(cx, this, places, Round::Floor)
    }
    /// Rounded up, an Integer; with `places` a BigDecimal with so many digits behind the point.
    ///
    ///     BigDecimal("1.21").ceil(1).to_s   #=> "0.13e1"
    #[method("ceil")]
    fn ceil(cx: &mut Cx, this: Value, places: Option<Value>) -> Result<Value> {
        to_place(cx, this, places, Round::Ceiling)
    }
    /// Rounded to `n` places behind the point, by `mode`; an Integer when no mode is given, and no positive `n`.
    ///
    ///     BigDecimal("2.5").round                          #=> 3
    ///     BigDecimal("2.5").round(half: :even).to_s        #=> "0.2e1"
    ///     BigDecimal("1.2345").round(3, :down).to_s        #=> "0.1234e1"
    #[method("round", min = 0, max = 2)]
    fn round(cx: &mut Cx, this: Value, mut args: Args) -> Result<Value> {
        let kw = args.take_kw();
        kw.only(cx, &[Sym::intern("half")])?;
        let half = half_arg(cx, &kw)?;
        let n = number(cx, this)?;
        let mut r = exact(cx)?;
        let place = match args.get(0) {
            Some(v) => cx.to_i64(v)?,
            None => 0,
        };
        let how = match args.get(1) {
            Some(v) => round_arg(cx, v)?,
            None => half.unwrap_or(r.round),
        };
        let integer = args.get(1).is_none() && place < 1 && kw.named("half").is_none();
        let n = r.to_place((*n).clone(), -i128::from(place), how, cx)?;
        if integer { to_integer(cx, &n) } else { give(cx, r, n) }
    }
    /// Times `10**n`.
    #[method("_decimal_shift")]
    fn decimal_shift(cx: &mut Cx, this: Value, by: i64) -> Result<Value> {
        let n = number(cx, this)?;
        let mut r = exact(cx)?;
        let n = match &*n {
            Num::Finite { neg, digits, exp } => r.number(*neg, digits.clone(), i128::from(*exp) + i128::from(by), cx)?,
            n => n.clone(),
        };
        give(cx, r, n)
    }
    /// The square root to `n` digits.
    #[method("__sqrt", private)]
    fn sqrt(cx: &mut Cx, this: Value, digits: i64) -> Result<Value> {
        let n = number(cx, this)?;
        let mut r = exact(cx)?;
        let n = math::sqrt(&mut r, &n, digits.max(1) as u64, cx)?;
        give(cx, r, n)
    }
    #[method("__exp", private)]
    fn exp(cx: &mut Cx, this: Value, digits: i64) -> Result<Value> {
        let n = number(cx, this)?;
        let mut r = exact(cx)?;
        let n = math::exp(&mut r, &n, digits.max(1) as u64, cx)?;
        give(cx, r, n)
    }
    #[method("__log", private)]
    fn log(cx: &mut Cx, this: Value, digits: i64) -> Result<Value> {
        let n = number(cx, this)?;
        let mut r = exact(cx)?;
        let n = math::ln(&mut r, &n, digits.max(1) as u64, cx)?;
        give(cx, r, n)
    }
}

pub static DOCUMENTED: [(&str, &str, &[MethodRow]); 3] = [
    ("bigdecimal", "BigDecimal", decimal::METHODS),
    ("bigdecimal", "BigDecimal", class::class::METHODS),
    ("bigdecimal", "Kernel", class::kernel::METHODS),
];

/// `require "bigdecimal"`
pub fn load(cx: &mut Cx) -> Result<()> {
    if cx.const_by_path("BigDecimal::VERSION").is_some() {
        return Ok(());
    }
    let class = cx.define_class(ids::OBJECT, "BigDecimal", ids::NUMERIC);
    cx.class_mut(class).alloc = Alloc::None;
    cx.define_natives(class, &[decimal::METHODS, class::class::METHODS]);
    cx.define_natives(ids::KERNEL, &[class::kernel::METHODS]);
    cx.run_builtin("bigdecimal")
}
/// `require "bigdecimal/util"`
pub fn load_util(cx: &mut Cx) -> Result<()> {
    load(cx)?;
    cx.run_builtin("bigdecimal/util")
}
