//! `Time#strftime` and the calendar arithmetic under it.
//!
//! Proleptic Gregorian calendar over i64 years, by counting days in 400-year eras that start in March (the method of Hinnant's
//! "chrono-compatible low-level date algorithms"). Flags, widths and paddings as in CRuby; month and day names are English.
//! Rejected: libc's strftime (locale, no width flags, years of an int).

use crate::int::Int;
use num_bigint::{BigInt, Sign};
use zakuro_base::progress::{Pace, Progress, Stopped, to_the_end};

/// Years after which the calendar begins anew.
pub const ERA_YEARS: i64 = 400;
/// Seconds of these years.
pub const ERA_SECONDS: i64 = 146_097 * 86_400;

/// A moment as a civil reading.
#[derive(Clone, Debug, Default)]
pub struct Civil {
    pub year: i64,
    /// How many times [`ERA_YEARS`] the year is later, where it is beyond what seconds of 64 bits reach.
    pub eras: Option<Box<BigInt>>,
    /// 1..=12
    pub mon: u8,
    /// 1..=31
    pub day: u8,
    pub hour: u8,
    pub min: u8,
    /// 0..=60
    pub sec: u8,
    pub nsec: u32,
    /// Decimal digits behind the nanoseconds, for Rational subseconds; usually empty.
    pub subnano_digits: Vec<u8>,
    /// Seconds east of Greenwich.
    pub utc_offset: i32,
    /// What `%z` shows where that is another number, since the offset has a part of a second: the nearest one.
    pub shown_offset: Option<i32>,
    /// `Time#zone`, empty for none.
    pub zone: Vec<u8>,
    /// 0 is Sunday.
    pub wday: u8,
    /// 1..=366
    pub yday: u16,
    /// What a Date tells besides; its rules where they differ from Time's: `-` drops the zero of an offset's hours and the room around `%c` and the like.
    pub of_date: Option<OfDate>,
}

/// What can't be told from the reading of a Date's clock, whose calendar may be the Julian.
#[derive(Clone, Copy, Debug, Default)]
pub struct OfDate {
    /// Of any size that fits; `Civil::year` is not looked at.
    pub year: i128,
    /// Seconds since 1970.
    pub seconds: i128,
    /// Milliseconds since 1970, cut off towards 0.
    pub milliseconds: i128,
    /// ISO 8601 year and week.
    pub week: (i128, i64),
}

/// Days from 1970-01-01 to the given date.
pub fn days_from_civil(year: i64, mon: u8, day: u8) -> i64 {
    let y = if mon <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let yoe = y.rem_euclid(400);
    let from_march = (mon as i64 + 9) % 12;
    let doy = (153 * from_march + 2) / 5 + day as i64 - 1;
    era * 146_097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719_468
}

/// Year, month and day of a day count from 1970-01-01.
pub fn civil_from_days(days: i64) -> (i64, u8, u8) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let mon = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + (mon <= 2) as i64;
    (year, mon as u8, (doy - (153 * mp + 2) / 5 + 1) as u8)
}

pub fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

impl Civil {
    /// The reading of a clock `utc_offset` seconds east of Greenwich at `epoch` seconds (+ `nsec`).
    pub fn from_epoch(epoch: i64, nsec: u32, utc_offset: i32, zone: &[u8]) -> Civil {
        let local = epoch + utc_offset as i64;
        let days = local.div_euclid(86_400);
        let rest = local.rem_euclid(86_400);
        let (year, mon, day) = civil_from_days(days);
        Civil {
            year,
            eras: None,
            mon,
            day,
            hour: (rest / 3600) as u8,
            min: (rest / 60 % 60) as u8,
            sec: (rest % 60) as u8,
            nsec,
            subnano_digits: Vec::new(),
            utc_offset,
            shown_offset: None,
            zone: zone.to_vec(),
            wday: (days + 4).rem_euclid(7) as u8,
            yday: (days - days_from_civil(year, 1, 1) + 1) as u16,
            of_date: None,
        }
    }

    /// Seconds since the epoch.
    pub fn epoch(&self) -> i64 {
        days_from_civil(self.year, self.mon, self.day) * 86_400 + self.hour as i64 * 3600 + self.min as i64 * 60 + self.sec as i64
            - self.utc_offset as i64
    }

    /// As the format shows it.
    fn shown_year(&self) -> i128 {
        self.of_date.map_or(self.year.into(), |d| d.year)
    }
    /// ISO 8601 year and week.
    fn iso_week(&self) -> (i128, i64) {
        if let Some(d) = &self.of_date {
            return d.week;
        }
        let (year, week) = self.week_of_reading();
        (year.into(), week)
    }
    fn week_of_reading(&self) -> (i64, i64) {
        let monday_based = (self.wday as i64 + 6) % 7;
        let week = (self.yday as i64 - 1 - monday_based + 10) / 7;
        if week < 1 {
            let days = 365 + is_leap(self.year - 1) as i64;
            return (self.year - 1, (self.yday as i64 - 1 + days - monday_based + 10) / 7);
        }
        let days = 365 + is_leap(self.year) as i64;
        if week == 53 && self.yday as i64 - 1 - monday_based + 3 >= days { (self.year + 1, 1) } else { (self.year, week) }
    }
}

const MONTHS: [&str; 12] =
    ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Flags and width of one directive.
#[derive(Clone, Copy, Default)]
struct Spec {
    /// `0` or `_`; 0 for the directive's own padding.
    pad: u8,
    /// `-`: no padding at all.
    bare: bool,
    upper: bool,
    change: bool,
    colons: usize,
    width: Option<usize>,
}

/// Widths beyond this are refused, as CRuby does with Errno::ERANGE.
pub const MAX_WIDTH: usize = 1 << 16;

/// `Time#strftime`. Unknown directives are copied; a width above [`MAX_WIDTH`] is None (Errno::ERANGE).
pub fn strftime(fmt: &[u8], t: &Civil) -> Option<Vec<u8>> {
    to_the_end(|p| strftime_long(fmt, t, p))
}

/// [`strftime`] that can be left.
///
/// # Errors
/// It was stopped.
pub fn strftime_long(fmt: &[u8], t: &Civil, p: &mut dyn Progress) -> Result<Option<Vec<u8>>, Stopped> {
    let mut out = Vec::with_capacity(fmt.len() + 32);
    let (mut at, mut pace) = (0, Pace::new());
    while let Some(n) = memchr::memchr(b'%', &fmt[at..]) {
        // Few bytes may ask for many.
        pace.at(at + out.len(), p)?;
        zakuro_base::memory::grow(|| out.try_reserve(n).is_ok());
        out.extend_from_slice(&fmt[at..at + n]);
        at += n;
        match directive(&fmt[at..], t, &mut out) {
            Ok(used) => at += used,
            Err(true) => return Ok(None),
            Err(false) => {
                out.push(b'%');
                at += 1;
            }
        }
    }
    out.extend_from_slice(&fmt[at..]);
    Ok(Some(out))
}

/// Renders the directive at the start of `f`; the bytes used, or Err: true for a width too large, false for no directive.
fn directive(f: &[u8], t: &Civil, out: &mut Vec<u8>) -> Result<usize, bool> {
    let mut spec = Spec::default();
    let mut i = 1;
    let mut modifier = 0;
    loop {
        let c = *f.get(i).ok_or(false)?;
        i += 1;
        match c {
            b'-' | b'_' | b'^' | b'#' if spec.width.is_some() => return Err(false),
            b'-' => spec.bare = true,
            b'_' => spec.pad = c,
            b'0' if spec.width.is_none() => spec.pad = c,
            b'^' => spec.upper = true,
            b'#' => spec.change = true,
            b':' => {
                // Colons belong to a z right behind them.
                let n = f[i - 1..].iter().take_while(|&&b| b == b':').count();
                if n > 3 || f.get(i - 1 + n) != Some(&b'z') {
                    return Err(false);
                }
                spec.colons = n;
                i += n - 1;
            }
            b'1'..=b'9' => {
                let mut n = (c - b'0') as usize;
                while let Some(d) = f.get(i).filter(|b| b.is_ascii_digit()) {
                    n = n * 10 + (d - b'0') as usize;
                    if n > MAX_WIDTH {
                        return Err(true);
                    }
                    i += 1;
                }
                spec.width = Some(n);
            }
            b'E' | b'O' if modifier == 0 => {
                let next = *f.get(i).ok_or(false)?;
                let known: &[u8] = if c == b'E' { b"cCxXyY" } else { b"deHkIlmMSuUVwWy" };
                if !known.contains(&next) {
                    return Err(false);
                }
                modifier = c;
            }
            _ => {
                return if conversion(c, &spec, t, out) { Ok(i) } else { Err(false) };
            }
        }
    }
}

/// The directives that show a year or the seconds since 1970, of a year that is so many eras later.
fn conversion_beyond(c: u8, spec: &Spec, t: &Civil, eras: &BigInt, out: &mut Vec<u8>) -> bool {
    let (n, width) = match c {
        b'Y' => (eras * ERA_YEARS + t.year, 4),
        b'C' => (eras * (ERA_YEARS / 100) + t.year.div_euclid(100), 2),
        b'G' => (eras * ERA_YEARS + t.week_of_reading().0, 4),
        b's' => (eras * ERA_SECONDS + t.epoch(), 1),
        _ => return false,
    };
    let negative = n.sign() == Sign::Minus;
    let digits = to_the_end(|p| crate::int::to_s(&Int::from_big(n.magnitude().clone().into()), 10, p));
    push_digits(out, spec, negative, digits.as_bytes(), width, b'0');
    true
}

fn conversion(c: u8, spec: &Spec, t: &Civil, out: &mut Vec<u8>) -> bool {
    if let Some(eras) = &t.eras
        && conversion_beyond(c, spec, t, eras, out)
    {
        return true;
    }
    let mut number = |v: i128, width: usize, pad: u8| push_number(out, spec, v, width, pad);
    let hour12 = (t.hour as i64 + 11) % 12 + 1;
    match c {
        b'Y' => number(t.shown_year(), if t.shown_year() < 0 { 5 } else { 4 }, b'0'),
        b'C' => number(t.shown_year().div_euclid(100), 2, b'0'),
        b'y' => number(t.shown_year().rem_euclid(100), 2, b'0'),
        b'm' => number(t.mon.into(), 2, b'0'),
        b'd' => number(t.day.into(), 2, b'0'),
        b'e' => number(t.day.into(), 2, b' '),
        b'j' => number(t.yday.into(), 3, b'0'),
        b'H' => number(t.hour.into(), 2, b'0'),
        b'k' => number(t.hour.into(), 2, b' '),
        b'I' => number(hour12.into(), 2, b'0'),
        b'l' => number(hour12.into(), 2, b' '),
        b'M' => number(t.min.into(), 2, b'0'),
        b'S' => number(t.sec.into(), 2, b'0'),
        b'u' => number(if t.wday == 0 { 7 } else { t.wday.into() }, 1, b'0'),
        b'w' => number(t.wday.into(), 1, b'0'),
        b'U' => number(((t.yday as i64 - 1 + 7 - t.wday as i64) / 7).into(), 2, b'0'),
        b'W' => number(((t.yday as i64 - 1 + 7 - (t.wday as i64 + 6) % 7) / 7).into(), 2, b'0'),
        b'V' => number(t.iso_week().1.into(), 2, b'0'),
        b'G' => {
            let y = t.iso_week().0;
            number(y, if y < 0 { 5 } else { 4 }, b'0');
        }
        b'g' => number(t.iso_week().0.rem_euclid(100), 2, b'0'),
        b's' => number(t.of_date.map_or_else(|| i128::from(t.epoch()), |d| d.seconds), 1, b'0'),
        b'L' => fraction(out, spec, t, 3),
        b'N' => fraction(out, spec, t, 9),
        b'z' => offset(out, spec, t),
        b'A' => text(out, spec, DAYS[t.wday as usize % 7].as_bytes(), spec.change, false),
        b'a' => text(out, spec, &DAYS[t.wday as usize % 7].as_bytes()[..3], spec.change, false),
        b'B' => text(out, spec, MONTHS[(t.mon as usize + 11) % 12].as_bytes(), spec.change, false),
        b'b' | b'h' => text(out, spec, &MONTHS[(t.mon as usize + 11) % 12].as_bytes()[..3], spec.change, false),
        b'p' => text(out, spec, if t.hour < 12 { b"AM" } else { b"PM" }, false, spec.change),
        b'P' => text(out, spec, if t.hour < 12 { b"am" } else { b"pm" }, spec.change, false),
        b'Z' if t.zone.is_empty() => {}
        b'Z' => text(out, spec, &t.zone, false, spec.change),
        b'n' => text(out, spec, b"\n", false, false),
        b't' => text(out, spec, b"\t", false, false),
        b'%' => text(out, spec, b"%", false, false),
        b'c' => composite(out, spec, t, b"%a %b %e %H:%M:%S %Y"),
        b'D' | b'x' => composite(out, spec, t, b"%m/%d/%y"),
        b'F' => composite(out, spec, t, b"%Y-%m-%d"),
        b'T' | b'X' => composite(out, spec, t, b"%H:%M:%S"),
        b'R' => composite(out, spec, t, b"%H:%M"),
        b'r' => composite(out, spec, t, b"%I:%M:%S %p"),
        b'v' => composite(out, spec, t, b"%e-%^b-%4Y"),
        b'Q' if t.of_date.is_some() => number(t.of_date.map_or(0, |d| d.milliseconds), 1, b'0'),
        b'+' if t.of_date.is_some() => composite(out, spec, t, b"%a %b %e %H:%M:%S %Z %Y"),
        _ => return false,
    }
    true
}

impl Spec {
    /// Width and filling of a number.
    fn of_number(&self, width: usize, pad: u8) -> (usize, u8) {
        let width = if self.bare { 0 } else { self.width.unwrap_or(width) };
        (
            width,
            if self.pad == 0 {
                pad
            } else if self.pad == b'_' {
                b' '
            } else {
                self.pad
            },
        )
    }
}

fn push_number(out: &mut Vec<u8>, spec: &Spec, v: i128, width: usize, pad: u8) {
    if (0..100).contains(&v) && spec.of_number(width, pad) == (2, b'0') {
        out.extend_from_slice(&[b'0' + v as u8 / 10, b'0' + v as u8 % 10]);
        return;
    }
    let (mut room, long);
    let digits = match u64::try_from(v.unsigned_abs()) {
        Ok(n) => {
            room = [0; 20];
            decimal(n, &mut room)
        }
        Err(_) => {
            long = v.unsigned_abs().to_string();
            long.as_bytes()
        }
    };
    push_digits(out, spec, v < 0, digits, width, pad);
}

fn push_digits(out: &mut Vec<u8>, spec: &Spec, negative: bool, digits: &[u8], width: usize, pad: u8) {
    let (width, pad) = spec.of_number(width, pad);
    let fill = width.saturating_sub(digits.len() + usize::from(negative));
    if negative && pad == b'0' {
        out.push(b'-');
    }
    zakuro_base::memory::fill(out, fill, pad);
    if negative && pad != b'0' {
        out.push(b'-');
    }
    out.extend_from_slice(digits);
}

/// Decimal digits of a number.
fn decimal(mut n: u64, room: &mut [u8; 20]) -> &[u8] {
    let mut at = room.len();
    loop {
        at -= 1;
        room[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            return &room[at..];
        }
    }
}

fn two_digits(n: u32) -> [u8; 2] {
    [b'0' + (n / 10 % 10) as u8, b'0' + (n % 10) as u8]
}

/// `%L`, `%N`: the width is the number of digits, cut off rather than rounded.
fn fraction(out: &mut Vec<u8>, spec: &Spec, t: &Civil, default: usize) {
    let width = spec.width.unwrap_or(default);
    let mut nine = [b'0'; 9];
    let mut n = t.nsec;
    for d in nine.iter_mut().rev() {
        *d += (n % 10) as u8;
        n /= 10;
    }
    if let Some(first) = nine.get(..width) {
        out.extend_from_slice(first);
        return;
    }
    let mut digits = nine.to_vec();
    digits.extend_from_slice(&t.subnano_digits);
    let missing = width.saturating_sub(digits.len());
    zakuro_base::memory::fill(&mut digits, missing, b'0');
    digits.truncate(width);
    out.extend_from_slice(&digits);
}

fn offset(out: &mut Vec<u8>, spec: &Spec, t: &Civil) {
    let shown = t.shown_offset.unwrap_or(t.utc_offset);
    let (negative, off) = (shown < 0, shown.unsigned_abs());
    let (h, m, s) = (off / 3600, off / 60 % 60, off % 60);
    let ([m1, m2], [s1, s2]) = (two_digits(m), two_digits(s));
    let whole = [b':', m1, m2, b':', s1, s2];
    let tail = match spec.colons {
        0 => &whole[1..3],
        1 => &whole[..3],
        2 => &whole[..],
        _ if s != 0 => &whole[..],
        _ if m != 0 => &whole[..3],
        _ => &[],
    };
    let wanted = spec.width.unwrap_or(0);
    // Room for the hours: the sign takes one place.
    let hours = wanted.saturating_sub(tail.len() + 1).max(if spec.bare && t.of_date.is_some() { 1 } else { 2 });
    // `-` says that the clock is UTC and nobody knows of which place (RFC 3339).
    let unknown = spec.bare && off == 0 && t.zone == b"UTC";
    let sign = if negative || unknown { b'-' } else { b'+' };
    let mut room = [0; 20];
    let digits = decimal(u64::from(h), &mut room);
    if spec.pad == b'_' {
        zakuro_base::memory::fill(out, hours.saturating_sub(digits.len()), b' ');
        out.push(sign);
    } else {
        out.push(sign);
        zakuro_base::memory::fill(out, hours.saturating_sub(digits.len()), b'0');
    }
    out.extend_from_slice(digits);
    out.extend_from_slice(tail);
}

fn text(out: &mut Vec<u8>, spec: &Spec, s: &[u8], upper: bool, lower: bool) {
    if !spec.bare {
        let fill = spec.width.unwrap_or(0).saturating_sub(s.len());
        zakuro_base::memory::fill(out, fill, if spec.pad == b'0' { b'0' } else { b' ' });
    }
    let start = out.len();
    out.extend_from_slice(s);
    if lower {
        out[start..].make_ascii_lowercase();
    } else if upper || spec.upper {
        out[start..].make_ascii_uppercase();
    }
}

fn composite(out: &mut Vec<u8>, spec: &Spec, t: &Civil, fmt: &[u8]) {
    let s = strftime(fmt, t).unwrap_or_default();
    text(out, &Spec { bare: spec.bare && t.of_date.is_some(), ..*spec }, &s, false, false);
}
