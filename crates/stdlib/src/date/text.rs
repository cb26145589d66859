//! Texts of dates.

use super::moment::Moment;
use super::{calendar, get};
use num_traits::ToPrimitive;
use zakuro_text::strftime::{Civil, OfDate, strftime_long};
use zakuro_vm::*;

const UNIX_EPOCH: i64 = 2_440_588;

/// `+09:00`
pub fn zone(of: i32) -> [u8; 6] {
    let minutes = of.unsigned_abs() / 60;
    let (h, m) = ((minutes / 60) as u8, (minutes % 60) as u8);
    [if of < 0 { b'-' } else { b'+' }, b'0' + h / 10, b'0' + h % 10, b':', b'0' + m / 10, b'0' + m % 10]
}

/// `2024-02-03`; None for years that have not four digits.
fn iso_day(m: &Moment) -> Option<[u8; 10]> {
    if m.odd.is_some() {
        return None;
    }
    let (y, mon, d) = m.read().civil();
    let y = u16::try_from(y).ok().filter(|y| *y < 10_000)?;
    let digit = |n: u16| b'0' + (n % 10) as u8;
    let (mon, d) = (mon as u16, d as u16);
    Some([digit(y / 1000), digit(y / 100), digit(y / 10), digit(y), b'-', digit(mon / 10), digit(mon), b'-', digit(d / 10), digit(d)])
}

/// `%Y-%m-%d`
pub fn day(cx: &mut Cx, this: Value) -> Result<Value> {
    match iso_day(get(cx, this)?) {
        Some(text) => Ok(cx.str_bytes(&text, string::US_ASCII)),
        None => strftime(cx, this, b"%Y-%m-%d", string::US_ASCII),
    }
}

/// `%Y-%m-%dT%H:%M:%S%:z`, with so many digits of the second.
pub fn moment(cx: &mut Cx, this: Value, digits: i64) -> Result<Value> {
    let m = get(cx, this)?;
    if digits > 0 {
        let format = format!("%Y-%m-%dT%H:%M:%S.%{digits}N%:z");
        return strftime(cx, this, format.as_bytes(), string::US_ASCII);
    }
    let Some(day) = iso_day(m) else { return strftime(cx, this, b"%Y-%m-%dT%H:%M:%S%:z", string::US_ASCII) };
    let (s, zone) = (m.near.seconds(), zone(m.near.of));
    let mut text = [0; 25];
    text[..10].copy_from_slice(&day);
    for (i, (before, n)) in [(b'T', s / 3600), (b':', s / 60 % 60), (b':', s % 60)].into_iter().enumerate() {
        text[10 + 3 * i..13 + 3 * i].copy_from_slice(&[before, b'0' + (n / 10) as u8, b'0' + (n % 10) as u8]);
    }
    text[19..].copy_from_slice(&zone);
    Ok(cx.str_bytes(&text, string::US_ASCII))
}

/// Text by a format. Errno::ERANGE
pub fn strftime(cx: &mut Cx, this: Value, format: &[u8], encoding: u8) -> Result<Value> {
    let m = get(cx, this)?;
    let (r, n) = (m.read(), m.near);
    let (y, mon, day) = r.civil();
    let seconds = n.seconds();
    // Of a long one nobody needs to know.
    let asks_for = |any: &[u8]| format.len() > 4096 || format.iter().any(|b| any.contains(b));
    let week = if asks_for(b"GgV") { calendar::jd_to_commercial(r.jd, r.start) } else { (0, 0, 0) };
    // What fits in no machine word is refused as texts of such a size are.
    let wide = |near: i64| r.far_year(near).map_or(Some(i128::from(near)), |far| far.to_i128());
    let (year, week_year) = (wide(y), wide(week.0));
    let seconds_since = if asks_for(b"Qs") {
        let day = m.odd.as_ref().and_then(|o| o.jd.as_ref()).map_or(Some(i128::from(n.jd)), |jd| jd.to_i128());
        day.and_then(|d| (d - i128::from(UNIX_EPOCH)).checked_mul(86_400)?.checked_add(n.df.into()))
    } else {
        Some(0)
    };
    let milliseconds = seconds_since.and_then(|s| {
        let below = s < 0 && (n.ns % 1_000_000 != 0 || m.has_rest());
        s.checked_mul(1000)?.checked_add(i128::from(n.ns / 1_000_000) + i128::from(below))
    });
    let (Some(year), Some(week_year), Some(seconds_since), Some(milliseconds)) = (year, week_year, seconds_since, milliseconds) else {
        let shown = String::from_utf8_lossy(format).into_owned();
        return crate::raise_errno(cx, "ERANGE", Some(&shown));
    };
    let civil = Civil {
        year: y,
        eras: None,
        mon: mon as u8,
        day: day as u8,
        hour: (seconds / 3600) as u8,
        min: (seconds / 60 % 60) as u8,
        sec: (seconds % 60) as u8,
        nsec: n.ns,
        subnano_digits: m.digits(),
        utc_offset: n.of,
        shown_offset: None,
        zone: if asks_for(b"Z+") { zone(n.of).to_vec() } else { Vec::new() },
        wday: (r.jd + 1).rem_euclid(7) as u8,
        yday: if asks_for(b"jUW") { calendar::yday(r.jd, r.start) as u16 } else { 1 },
        of_date: Some(OfDate { year, seconds: seconds_since, milliseconds, week: (week_year, week.1) }),
    };
    match strftime_long(format, &civil, cx)? {
        Some(b) => Ok(cx.str_bytes(&b, encoding)),
        None => {
            let shown = String::from_utf8_lossy(format).into_owned();
            crate::raise_errno(cx, "ERANGE", Some(&shown))
        }
    }
}
