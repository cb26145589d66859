//! The calendar: day numbers, and what they are called in the Julian calendar until a day (`start`) and in the Gregorian from it on.
//!
//! A day number is the chronological Julian one (day 0 is the first of January of -4712, Julian). Formulas over years that begin in March. Numbers beyond
//! [`NEAR`] are taken back by whole cycles of their calendar, with whole weeks, to where machine words do: [`far`].

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive};

/// Where Italy went over to the Gregorian calendar: the start unless another is given.
pub const ITALY: f64 = 2_299_161.0;

/// Days and years nearer to 0 are calculated in machine words: milliseconds of such days are, too.
pub const NEAR: i64 = 1 << 35;

pub fn is_near(n: i64) -> bool {
    (-NEAR..NEAR).contains(&n)
}

/// Whether a day belongs to the Gregorian calendar.
pub fn gregorian(jd: i64, start: f64) -> bool {
    jd as f64 >= start
}

/// The day of a year, month (1 to 12) and day, which need not exist.
pub fn civil_to_jd(y: i64, m: i64, d: i64, start: f64) -> i64 {
    let a = (14 - m) / 12;
    let y2 = y + 4800 - a;
    let days = d + (153 * (m + 12 * a - 3) + 2) / 5 + 365 * y2 + y2.div_euclid(4);
    let jd = days - y2.div_euclid(100) + y2.div_euclid(400) - 32045;
    if gregorian(jd, start) { jd } else { days - 32083 }
}

/// Year, month and day.
pub fn jd_to_civil(jd: i64, start: f64) -> (i64, i64, i64) {
    let (b, c) = if gregorian(jd, start) {
        let a = jd + 32044;
        let b = (4 * a + 3).div_euclid(146_097);
        (b, a - (146_097 * b).div_euclid(4))
    } else {
        (0, jd + 32082)
    };
    let d = (4 * c + 3).div_euclid(1461);
    let e = c - (1461 * d).div_euclid(4);
    let m = (5 * e + 2) / 153;
    (100 * b + d - 4800 + m / 10, m + 3 - 12 * (m / 10), e - (153 * m + 2) / 5 + 1)
}

fn commercial_to_jd(y: i64, w: i64, d: i64, start: f64) -> i64 {
    let jan4 = civil_to_jd(y, 1, 4, start);
    jan4 - jan4.rem_euclid(7) + 7 * (w - 1) + (d - 1)
}

/// Year, week and day (1 is Monday) as ISO 8601 counts them.
pub fn jd_to_commercial(jd: i64, start: f64) -> (i64, i64, i64) {
    let mut y = jd_to_civil(jd - 3, start).0;
    if jd >= commercial_to_jd(y + 1, 1, 1, start) {
        y += 1;
    }
    let first = commercial_to_jd(y, 1, 1, start);
    (y, (jd - first).div_euclid(7) + 1, jd.rem_euclid(7) + 1)
}

/// The first day of a year that exists.
fn year_start(y: i64, start: f64) -> Option<i64> {
    (1..=31).find_map(|d| valid_civil(y, 1, d, start))
}
fn year_end(y: i64, start: f64) -> Option<i64> {
    (1..=31).rev().find_map(|d| valid_civil(y, 12, d, start))
}

/// Day of the year, from 1.
pub fn yday(jd: i64, start: f64) -> i64 {
    let y = jd_to_civil(jd, start).0;
    jd - year_start(y, start).unwrap_or(jd) + 1
}

/// A civil date that exists; negative months and days count from the end. The year is near.
pub fn valid_civil(y: i64, m: i64, d: i64, start: f64) -> Option<i64> {
    let m = if (-12..0).contains(&m) { m + 13 } else { m };
    if !(1..=12).contains(&m) || !(-31..=31).contains(&d) || d == 0 {
        return None;
    }
    if d < 0 {
        let last = (1..=31).rev().find_map(|day| valid_civil(y, m, day, start))?;
        let jd = last + d + 1;
        let c = jd_to_civil(jd, start);
        return (c.0 == y && c.1 == m).then_some(jd);
    }
    let jd = civil_to_jd(y, m, d, start);
    let day = jd as f64;
    if d < 29 && (day >= start && start <= day - 31.0 || day < start - 31.0) {
        return Some(jd);
    }
    (jd_to_civil(jd, start) == (y, m, d)).then_some(jd)
}

/// A day of a year that exists; negative ones count from the end.
pub fn valid_ordinal(y: i64, d: i64, start: f64) -> Option<i64> {
    if !(-366..=366).contains(&d) || d == 0 {
        return None;
    }
    let jd = if d < 0 { year_end(y, start)? + d + 1 } else { year_start(y, start)? + d - 1 };
    (jd_to_civil(jd, start).0 == y).then_some(jd)
}

pub fn valid_commercial(y: i64, w: i64, d: i64, start: f64) -> Option<i64> {
    let d = if (-7..0).contains(&d) { d + 8 } else { d };
    if !(1..=7).contains(&d) || !(-53..=53).contains(&w) {
        return None;
    }
    let mut week = w;
    if w < 0 {
        let (year, from_end, _) = jd_to_commercial(commercial_to_jd(y + 1, 1, 1, start) + w * 7, start);
        if year != y {
            return None;
        }
        week = from_end;
    }
    let jd = commercial_to_jd(y, week, d, start);
    (jd_to_commercial(jd, start) == (y, week, d)).then_some(jd)
}

/// Weeks that begin on Sunday (`first` = 0) or Monday (1), as `%U` and `%W` count them.
pub fn valid_weeknum(y: i64, w: i64, d: i64, first: i64, start: f64) -> Option<i64> {
    let d = if (-7..0).contains(&d) { d + 7 } else { d };
    if !(0..=6).contains(&d) || !(-54..=54).contains(&w) {
        return None;
    }
    let a = year_start(y, start)? + 6;
    let jd = a - (a - first + 1).rem_euclid(7) - 7 + 7 * w + d;
    (jd_to_civil(jd, start).0 == y).then_some(jd)
}

pub fn leap(jd: i64, start: f64) -> bool {
    let y = jd_to_civil(jd, start).0;
    let march = civil_to_jd(y, 3, 1, start);
    jd_to_civil(march - 1, start).2 == 29
}

/// A calendar's cycle: so many years have always so many days, of whole weeks.
#[derive(Clone, Copy)]
pub struct Cycle {
    pub years: i64,
    pub days: i64,
    /// As start: all days are of this calendar.
    pub start: f64,
}

/// The cycle of what is far away, where no start lies.
pub fn cycle(negative: bool, start: f64) -> Cycle {
    if start == f64::NEG_INFINITY || start != f64::INFINITY && !negative {
        Cycle { years: 400, days: 146_097, start: f64::NEG_INFINITY }
    } else {
        Cycle { years: 28, days: 10_227, start: f64::INFINITY }
    }
}

/// A far day: whole cycles, and a day near 0 of the cycle's calendar.
pub fn far(jd: &BigInt, start: f64) -> (BigInt, i64, Cycle) {
    let c = cycle(jd.is_negative(), start);
    let (cycles, rest) = jd.div_mod_floor(&BigInt::from(c.days));
    (cycles, rest.to_i64().unwrap_or(0), c)
}

/// The day of a far year by a function of a near one and a start.
pub fn of_far_year(y: &BigInt, start: f64, day: impl FnOnce(i64, f64) -> Option<i64>) -> Option<BigInt> {
    let c = cycle(y.is_negative(), start);
    let (cycles, rest) = y.div_mod_floor(&BigInt::from(c.years));
    Some(cycles * c.days + day(rest.to_i64()?, c.start)?)
}
