//! Exact arithmetic of moments and durations.

use super::{Clock, TimeData};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::ops::Range;
use zakuro_text::strftime::ERA_SECONDS;
use zakuro_vm::*;

const GIGA: i64 = 1_000_000_000;

/// Seconds that are counted as they are: an offset more or less does not leave 64 bits. Others are seconds of an era, and eras.
pub const NEAR: Range<i64> = i64::MIN / 2..i64::MAX / 2;

/// Seconds: whole (may be negative), nanoseconds above them, and a rest of a nanosecond.
#[derive(Clone, Debug)]
pub struct Moment {
    pub sec: i64,
    pub nsec: u32,
    pub rest: Option<Box<(BigInt, BigInt)>>,
    /// Eras to add to the seconds, which then are those of one: there if and only if all seconds together are not [`NEAR`].
    pub eras: Option<Box<BigInt>>,
}

/// Seconds with those of the eras.
pub fn seconds(sec: i64, eras: Option<&BigInt>) -> BigInt {
    eras.map_or_else(BigInt::default, |e| e * ERA_SECONDS) + sec
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Round {
    Down,
    Up,
    Half,
}

impl Moment {
    pub fn of(t: &TimeData) -> Moment {
        Moment { sec: t.sec, nsec: t.nsec, rest: t.rest.clone(), eras: t.eras.clone() }
    }
    pub fn whole(sec: i64) -> Moment {
        if NEAR.contains(&sec) { Moment { sec, nsec: 0, rest: None, eras: None } } else { Moment::of_seconds(&sec.into()) }
    }
    pub fn of_seconds(sec: &BigInt) -> Moment {
        if let Some(sec) = sec.to_i64().filter(|s| NEAR.contains(s)) {
            return Moment { sec, nsec: 0, rest: None, eras: None };
        }
        let (eras, sec) = sec.div_mod_floor(&ERA_SECONDS.into());
        Moment { sec: sec.to_i64().unwrap_or(0), nsec: 0, rest: None, eras: Some(Box::new(eras)) }
    }
    /// The Time of the moment on a clock.
    pub fn at(self, clock: Clock) -> TimeData {
        TimeData { sec: self.sec, nsec: self.nsec, rest: self.rest, eras: self.eras, clock }
    }
    /// Whole seconds.
    pub fn seconds(&self) -> BigInt {
        seconds(self.sec, self.eras.as_deref())
    }
    /// Whole seconds, or the first or last that 64 bits hold.
    pub fn nearest(&self) -> i64 {
        match &self.eras {
            None => self.sec,
            Some(e) => self.seconds().to_i64().unwrap_or(if e.is_negative() { i64::MIN } else { i64::MAX }),
        }
    }
    /// A second whose reading by the rules of a time zone is as that of this one: of years to come, one of the era after those that clocks were changed in.
    pub fn by_rules(&self) -> i64 {
        match &self.eras {
            Some(e) if !e.is_negative() => self.sec + ERA_SECONDS,
            // Before all rules.
            Some(_) => -20 * ERA_SECONDS,
            None => self.sec,
        }
    }
    /// Whole seconds as far as 64 bits hold them. RangeError
    pub fn near(&self, cx: &mut Cx) -> Result<i64> {
        match &self.eras {
            None => Ok(self.sec),
            Some(_) => match self.seconds().to_i64() {
                Some(sec) => Ok(sec),
                None => cx.range_error("bignum too big to convert into 'long'"),
            },
        }
    }
    pub fn of_ratio(num: &BigInt, den: &BigInt) -> Moment {
        if let (Some(n), Some(d)) = (num.to_i64(), den.to_i64())
            && d > 0
            && NEAR.contains(&n)
        {
            let (n, giga) = (i128::from(n) * i128::from(GIGA), i128::from(GIGA));
            let (ns, m) = (n.div_euclid(i128::from(d)), n.rem_euclid(i128::from(d)) as i64);
            let rest = (m != 0).then(|| {
                let g = m.gcd(&d);
                Box::new((BigInt::from(m / g), BigInt::from(d / g)))
            });
            return Moment { nsec: ns.rem_euclid(giga) as u32, rest, ..Moment::whole(ns.div_euclid(giga) as i64) };
        }
        let (ns, m) = (num * GIGA).div_mod_floor(den);
        let (sec, nsec) = ns.div_mod_floor(&BigInt::from(GIGA));
        let rest = if m.is_zero() {
            None
        } else {
            let g = m.gcd(den);
            Some(Box::new((m / &g, den / &g)))
        };
        Moment { nsec: nsec.to_u32().unwrap_or(0), rest, ..Moment::of_seconds(&sec) }
    }
    pub fn ratio(&self) -> (BigInt, BigInt) {
        let ns = match &self.eras {
            None => BigInt::from(self.sec as i128 * GIGA as i128 + self.nsec as i128),
            Some(_) => self.seconds() * GIGA + self.nsec,
        };
        match &self.rest {
            None => (ns, BigInt::from(GIGA)),
            Some(r) => (ns * &r.1 + &r.0, BigInt::from(GIGA) * &r.1),
        }
    }
    /// Whether it is seconds and nanoseconds alone.
    fn is_plain(&self) -> bool {
        self.rest.is_none() && self.eras.is_none()
    }
    pub fn plus(&self, o: &Moment) -> Moment {
        if self.eras.is_none() && o.eras.is_none() && (self.rest.is_none() || o.rest.is_none()) {
            let ns = self.nsec as i64 + o.nsec as i64;
            // Of two halves of what 64 bits hold, less the last second.
            let sec = self.sec + o.sec + ns / GIGA;
            let rest = self.rest.as_ref().or(o.rest.as_ref()).cloned();
            return Moment { nsec: (ns % GIGA) as u32, rest, ..Moment::whole(sec) };
        }
        let ((a, b), (c, d)) = (self.ratio(), o.ratio());
        Moment::of_ratio(&(a * &d + c * &b), &(b * d))
    }
    pub fn negated(&self) -> Moment {
        if self.is_plain() {
            return if self.nsec == 0 {
                Moment::whole(-self.sec)
            } else {
                Moment { nsec: GIGA as u32 - self.nsec, ..Moment::whole(-self.sec - 1) }
            };
        }
        let (n, d) = self.ratio();
        Moment::of_ratio(&-n, &d)
    }
    pub fn to_f(&self) -> f64 {
        if self.is_plain() && self.sec.unsigned_abs() < 1 << 32 {
            return if self.nsec == 0 { self.sec as f64 } else { (self.sec * GIGA + i64::from(self.nsec)) as f64 / 1e9 };
        }
        let (n, d) = self.ratio();
        let neg = n.is_negative();
        let (q, r) = n.abs().div_rem(&d);
        let f = q.to_f64().unwrap_or(f64::INFINITY) + r.to_f64().unwrap_or(0.0) / d.to_f64().unwrap_or(1.0);
        if neg { -f } else { f }
    }
    /// Rounded to `digits` decimal digits of the second.
    pub fn rounded(&self, digits: i64, how: Round) -> Moment {
        if digits >= 9 && self.rest.is_none() {
            return self.clone();
        }
        let (n, d) = self.ratio();
        let p = BigInt::from(10).pow(digits.clamp(0, 1000) as u32);
        let (mut q, m) = (n * &p).div_mod_floor(&d);
        let up = match how {
            Round::Down => false,
            Round::Up => !m.is_zero(),
            Round::Half => &m * 2 >= d,
        };
        if up {
            q += BigInt::one();
        }
        Moment::of_ratio(&q, &p)
    }
}

/// A number of seconds as Time takes it: Integer, Float, Rational, or something with `to_r` or `to_int`; no String, no nil.
pub fn exact(cx: &mut Cx, v: Value) -> Result<Moment> {
    if let Some(n) = v.as_fixnum() {
        return Ok(Moment::whole(n));
    }
    let (n, d) = exact_ratio(cx, v)?;
    Ok(Moment::of_ratio(&n, &d))
}

/// The same as fraction.
pub fn exact_ratio(cx: &mut Cx, v: Value) -> Result<(BigInt, BigInt)> {
    if let Some(i) = cx.as_big(v) {
        return Ok((i, BigInt::one()));
    }
    if let Some(f) = v.as_float() {
        return float_ratio(cx, f);
    }
    if let Some((n, d)) = PairCell::from_value(v, Kind::Rational) {
        return Ok((cx.as_big(n).unwrap_or_default(), cx.as_big(d).unwrap_or_else(BigInt::one)));
    }
    if !v.is_nil() && !v.is_kind(Kind::String) {
        // A number of some other class: its exact value.
        if let Some(r) = if cx.responds(v, sym::to_int, false)? { cx.call_if_responds(v, sym::to_r, &[])? } else { None } {
            if let Some((n, d)) = PairCell::from_value(r, Kind::Rational) {
                return Ok((cx.as_big(n).unwrap_or_default(), cx.as_big(d).unwrap_or_else(BigInt::one)));
            }
            if let Some(i) = cx.as_big(r) {
                return Ok((i, BigInt::one()));
            }
        } else if let Some(i) = cx.call_if_responds(v, sym::to_int, &[])?
            && let Some(i) = cx.as_big(i)
        {
            return Ok((i, BigInt::one()));
        }
    }
    let c = match v {
        Value::NIL => "nil".to_string(),
        _ => cx.class_shown(v),
    };
    cx.type_error(format!("can't convert {c} into an exact number"))
}

fn float_ratio(cx: &mut Cx, f: f64) -> Result<(BigInt, BigInt)> {
    if !f.is_finite() {
        let t = if f.is_nan() {
            "NaN"
        } else if f > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        };
        return cx.raise(ids::FLOAT_DOMAIN_ERROR, t);
    }
    let bits = f.to_bits();
    let exp = (bits >> 52 & 0x7ff) as i64;
    let mant = bits & ((1 << 52) - 1) | if exp == 0 { 0 } else { 1 << 52 };
    let shift = exp.max(1) - 1075;
    let mut n = BigInt::from(mant);
    if f < 0.0 {
        n = -n;
    }
    Ok(if shift >= 0 { (n << shift, BigInt::one()) } else { (n, BigInt::one() << -shift) })
}
