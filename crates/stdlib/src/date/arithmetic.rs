//! What comes later, and how much: of everyday moments. None: Ruby calculates (`__plus` and the like).

use super::calendar::{self, is_near};
use super::moment::Near;
use super::{near, strptime};
use num_integer::Integer;
use std::cmp::Ordering;
use zakuro_vm::*;

const DAY_NS: i128 = 86_400_000_000_000;

/// Of nanoseconds later, when that is near.
pub fn later(n: Near, days: i64, ns: i128) -> Option<Near> {
    let ns = i128::from(n.ns) + ns;
    let seconds = i64::try_from(ns.div_euclid(1_000_000_000)).ok()?.checked_add(n.df.into())?;
    let jd = n.jd.checked_add(days)?.checked_add(seconds.div_euclid(86400)).filter(|jd| is_near(*jd))?;
    Some(Near { jd, df: seconds.rem_euclid(86400) as i32, ns: ns.rem_euclid(1_000_000_000) as u32, ..n })
}

/// `date + number`, when both are everyday's.
pub fn plus(n: Near, other: Value, negate: bool) -> Option<Near> {
    if let Some(days) = near(other) {
        return later(n, if negate { -days } else { days }, 0);
    }
    if let Some(f) = other.as_float() {
        let f = if negate { -f } else { f };
        // Of a Float nobody means more than its nanoseconds.
        let whole = f.floor();
        return if whole.abs() < 1e10 { later(n, whole as i64, ((f - whole) * DAY_NS as f64).round() as i128) } else { None };
    }
    let (num, den) = PairCell::from_value(other, Kind::Rational)?;
    let (num, den) = (i128::from(num.as_fixnum()?), i128::from(den.as_fixnum()?));
    let ns = num.checked_mul(DAY_NS)?;
    (ns % den == 0).then(|| later(n, 0, if negate { -ns / den } else { ns / den }))?
}

/// Days between two moments, as exact number.
pub fn between(cx: &mut Cx, a: Near, b: Near) -> Value {
    let days = a.jd - b.jd;
    if a.df == b.df && a.ns == b.ns {
        return strptime::ratio(cx, days, 1);
    }
    let seconds = i128::from(days) * 86400 + i128::from(a.df - b.df);
    let ns = seconds * 1_000_000_000 + i128::from(a.ns) - i128::from(b.ns);
    let g = ns.gcd(&DAY_NS);
    let (n, d) = (cx.int_i128(ns / g), cx.int_i128(DAY_NS / g));
    PairCell::make(&cx.heap, ids::RATIONAL, Kind::Rational, n, d)
}

/// So many months later; the last day of the month where it has fewer days.
pub fn months_later(n: Near, months: i64) -> Option<Near> {
    let jd = n.local_jd();
    let (y, m, d) = calendar::jd_to_civil(jd, n.start);
    let t = y * 12 + m - 1 + months;
    let (y, m) = (t.div_euclid(12), t.rem_euclid(12) + 1);
    let to = (1..=d).rev().find_map(|d| calendar::valid_civil(y, m, d, n.start))?;
    later(n, to - jd, 0)
}

/// Which is earlier.
pub fn order(a: &Near, b: &Near) -> Ordering {
    (a.jd, a.df, a.ns).cmp(&(b.jd, b.df, b.ns))
}
