//! Time: a moment in nanoseconds (and, for Rational or Float input, an exact rest) with a way to read the clock: UTC, the VM's time zone, or a
//! fixed offset. What is beyond seconds of 64 bits is counted in eras of 400 years, after which the calendar begins anew. [`make`] constructs, [`zone`] knows the time zones, [`calc`] calculates; simple derived methods are in prelude/time.rb.

pub mod calc;
pub mod make;
pub mod zone;

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{ToPrimitive, Zero};
use zakuro_macros::{Trace, ruby_class};
use zakuro_text::strftime::{Civil, ERA_YEARS, civil_from_days, strftime_long};
use zakuro_vm::*;

/// How a Time reads its clock.
#[derive(Clone, Debug, PartialEq)]
pub enum Clock {
    Utc,
    /// The VM's zone: offset, abbreviation and daylight saving at this moment.
    Local { offset: i32, zone: Abbreviation, dst: bool },
    Fixed(i32),
    /// An offset with a part of a second, a fraction in (0, 1) above the seconds.
    Exact(i32, Box<(BigInt, BigInt)>),
}

/// What a zone is called at a moment ("CEST"): a few bytes in place, as nearly each is.
#[derive(Clone, PartialEq)]
pub enum Abbreviation {
    Short(u8, [u8; Abbreviation::FEW]),
    Long(Box<[u8]>),
}
impl Abbreviation {
    const FEW: usize = 7;

    pub fn new(name: &[u8]) -> Abbreviation {
        let mut short = [0; Abbreviation::FEW];
        match short.get_mut(..name.len()) {
            Some(room) => {
                room.copy_from_slice(name);
                Abbreviation::Short(name.len() as u8, short)
            }
            None => Abbreviation::Long(name.into()),
        }
    }
}
impl std::ops::Deref for Abbreviation {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            Abbreviation::Short(n, bytes) => bytes.get(..usize::from(*n)).unwrap_or_default(),
            Abbreviation::Long(bytes) => bytes,
        }
    }
}
impl std::fmt::Debug for Abbreviation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(self))
    }
}

/// Payload of Time.
#[derive(Trace, Clone, Debug)]
pub struct TimeData {
    pub sec: i64,
    pub nsec: u32,
    /// Part of a nanosecond as fraction in [0, 1), when there is one.
    #[untraced]
    pub rest: Option<Box<(BigInt, BigInt)>>,
    /// How many eras later than `sec` says, of a moment that is beyond it ([`calc::Moment`]).
    #[untraced]
    pub eras: Option<Box<BigInt>>,
    #[untraced]
    pub clock: Clock,
}
impl NativeData for TimeData {
    fn refers(&self) -> bool {
        false
    }
    fn send_copy(&self) -> Option<SendPayload> {
        Some(Box::new(self.clone()))
    }
    fn save(&self, out: &mut Saved) -> Option<&'static str> {
        out.signed(self.sec).number(self.nsec.into()).flag(self.rest.is_some());
        if let Some(r) = &self.rest {
            out.big(&r.0).big(&r.1);
        }
        out.flag(self.eras.is_some());
        if let Some(eras) = &self.eras {
            out.big(eras);
        }
        match &self.clock {
            Clock::Utc => out.number(0),
            Clock::Local { offset, zone, dst } => out.number(1).signed((*offset).into()).blob(zone).flag(*dst),
            Clock::Fixed(offset) => out.number(2).signed((*offset).into()),
            Clock::Exact(offset, part) => out.number(3).signed((*offset).into()).big(&part.0).big(&part.1),
        };
        Some("Time")
    }
}
zakuro_vm::saved_loader!("Time", |r| {
    let (sec, nsec) = (r.signed()?, r.narrow()?);
    let rest = if r.flag()? { Some(Box::new((r.big()?, r.big()?))) } else { None };
    let eras = if r.flag()? { Some(Box::new(r.big()?)) } else { None };
    // What divides by it.
    if nsec >= 1_000_000_000 || !calc::NEAR.contains(&sec) || rest.as_ref().is_some_and(|r| r.1 <= BigInt::ZERO) {
        return None;
    }
    let offset = |r: &mut SavedReader| i32::try_from(r.signed()?).ok().filter(|o| (-86_400..86_400).contains(o));
    let clock = match r.number()? {
        0 => Clock::Utc,
        1 => Clock::Local { offset: offset(r)?, zone: Abbreviation::new(r.blob()?), dst: r.flag()? },
        2 => Clock::Fixed(offset(r)?),
        3 => {
            let (whole, part) = (offset(r)?, (r.big()?, r.big()?));
            if part.0 <= BigInt::ZERO || part.0 >= part.1 {
                return None;
            }
            Clock::Exact(whole, Box::new(part))
        }
        _ => return None,
    };
    r.ends(0)?;
    let time = TimeData { sec, nsec, rest, eras, clock };
    Some(rebuild(move |_, _| Some(Box::new(time.clone()))))
});

impl TimeData {
    /// Whole seconds between the second of the moment and that of the reading.
    pub fn offset(&self) -> i32 {
        match &self.clock {
            Clock::Utc => 0,
            Clock::Local { offset, .. } => *offset,
            Clock::Fixed(o) => *o,
            Clock::Exact(o, part) => {
                let (n, d) = self.subsec();
                o + i32::from(n * &part.1 + &part.0 * &d >= d * &part.1)
            }
        }
    }
    /// What texts show of the offset: the nearest whole number, of two as near the one further from 0.
    fn shown_offset(&self) -> i32 {
        match &self.clock {
            Clock::Exact(o, part) => {
                let twice: BigInt = &part.0 * 2;
                o + i32::from(if *o < 0 { twice > part.1 } else { twice >= part.1 })
            }
            _ => self.offset(),
        }
    }
    pub fn zone(&self) -> Option<&[u8]> {
        match &self.clock {
            Clock::Utc => Some(b"UTC"),
            Clock::Local { zone, .. } => Some(zone),
            Clock::Fixed(_) | Clock::Exact(..) => None,
        }
    }
    /// Year, month and day of the reading, the year without what `eras` adds.
    pub fn date(&self) -> (i64, u8, u8) {
        civil_from_days((self.sec + i64::from(self.offset())).div_euclid(86_400))
    }
    /// Seconds since midnight of the reading.
    fn second_of_day(&self) -> i64 {
        (self.sec + i64::from(self.offset())).rem_euclid(86_400)
    }
    /// The reading without what only texts ask for: the zone's name, and digits behind the nanoseconds.
    pub fn reading(&self) -> Civil {
        Civil::from_epoch(self.sec, self.nsec, self.offset(), b"")
    }
    pub fn civil(&self) -> Civil {
        let mut c = Civil::from_epoch(self.sec, self.nsec, self.offset(), self.zone().unwrap_or(b""));
        c.eras = self.eras.clone();
        if let Clock::Exact(..) = self.clock {
            c.shown_offset = Some(self.shown_offset());
        }
        if let Some(r) = &self.rest {
            // Decimal digits behind the nanoseconds, as many as %N may ask for in practice.
            let (mut num, den) = (r.0.clone(), &r.1);
            for _ in 0..24 {
                num *= 10;
                let (d, m) = num.div_rem(den);
                c.subnano_digits.push(b'0' + d.to_u8().unwrap_or(0));
                num = m;
                if num.is_zero() {
                    break;
                }
            }
        }
        c
    }
    /// Whole seconds since 1970.
    pub fn seconds(&self) -> BigInt {
        calc::seconds(self.sec, self.eras.as_deref())
    }
    /// Seconds as exact fraction.
    pub fn ratio(&self) -> (BigInt, BigInt) {
        calc::Moment::of(self).ratio()
    }
    /// Part of a second as exact fraction.
    pub fn subsec(&self) -> (BigInt, BigInt) {
        calc::Moment { sec: 0, nsec: self.nsec, rest: self.rest.clone(), eras: None }.ratio()
    }
    /// The year of a reading.
    fn year(&self, cx: &mut Cx, year: i64) -> Value {
        match &self.eras {
            None => cx.int(year),
            Some(eras) => cx.big(&**eras * ERA_YEARS + year),
        }
    }
    pub fn to_f(&self) -> f64 {
        if self.eras.is_some() {
            return calc::Moment::of(self).to_f();
        }
        let rest = self.rest.as_ref().map_or(0.0, |r| r.0.to_f64().unwrap_or(0.0) / r.1.to_f64().unwrap_or(1.0));
        self.sec as f64 + (self.nsec as f64 + rest) / 1e9
    }
}

/// Rational (or Integer when `whole` and it is one) of a fraction.
pub fn rational(cx: &mut Cx, num: BigInt, den: BigInt, whole: bool) -> Value {
    let g = num.gcd(&den);
    let (n, d) = if g.is_zero() { (num, den) } else { (num / &g, den / &g) };
    if whole && d == BigInt::from(1) {
        return cx.big(n);
    }
    let (n, d) = (cx.big(n), cx.big(d));
    PairCell::make(&cx.heap, ids::RATIONAL, Kind::Rational, n, d)
}

/// The Time of a value that is one.
pub fn get(cx: &mut Cx, v: Value) -> Result<&TimeData> {
    cx.data_ref::<TimeData>(v)
}

/// Time in the VM's zone.
pub fn local(cx: &mut Cx, sec: i64, nsec: u32) -> Result<Value> {
    let clock = zone::local_clock(cx, sec);
    Ok(cx.data(ids::TIME, calc::Moment { nsec, ..calc::Moment::whole(sec) }.at(clock)))
}

/// Seconds and nanoseconds of a Time or number.
pub fn parts_of(cx: &mut Cx, v: Value) -> Result<(i64, u32)> {
    if cx.is_data::<TimeData>(v) {
        let m = calc::Moment::of(get(cx, v)?);
        return Ok((m.near(cx)?, m.nsec));
    }
    let m = calc::exact(cx, v)?;
    Ok((m.near(cx)?, m.nsec))
}

/// New Time of the same class and clock (the local one read anew) at another moment.
pub fn moved(cx: &mut Cx, like: Value, m: calc::Moment) -> Result<Value> {
    let zone = zone::object(cx, like);
    let (clock, zone) = match get(cx, like)?.clock.clone() {
        // Only a name is left of a loaded Time's zone.
        clock if zone.is_kind(Kind::String) => (clock, zone),
        _ if !zone.is_nil() => zone::zoned(cx, ids::TIME, zone, &m)?,
        Clock::Local { .. } => (zone::local_clock(cx, m.by_rules()), Value::NIL),
        other => (other, Value::NIL),
    };
    let v = cx.data(ids::TIME, m.at(clock));
    if !zone.is_nil() {
        zone::set_object(cx, v, zone);
    }
    Ok(v)
}

/// New Time with the same clock, less than a second away.
fn rounded(cx: &mut Cx, like: Value, digits: Option<i64>, how: calc::Round) -> Result<Value> {
    let t = get(cx, like)?;
    let m = calc::Moment::of(t).rounded(digits.unwrap_or(0), how);
    let clock = t.clock.clone();
    let v = cx.data(ids::TIME, m.at(clock));
    let zone = zone::object(cx, like);
    zone::set_object(cx, v, zone);
    Ok(v)
}

/// What a time zone object calls itself at a Time: by `abbr`, else `name`.
fn abbreviation(cx: &mut Cx, zone: Value, time: Value) -> Result<Vec<u8>> {
    let name = match cx.call_if_responds(zone, Sym::intern("abbr"), &[time])? {
        _ if zone.is_kind(Kind::String) => zone,
        Some(a) => a,
        None => cx.call_if_responds(zone, Sym::intern("name"), &[])?.unwrap_or(Value::NIL),
    };
    Ok(Ref::<StringCell>::from_value(name).map_or_else(Vec::new, |s| s.to_vec()))
}

/// Formats a Time.
pub fn format(cx: &mut Cx, v: Value, fmt: &[u8]) -> Result<Vec<u8>> {
    let zone = zone::object(cx, v);
    let mut civil = get(cx, v)?.civil();
    if !zone.is_nil() && fmt.contains(&b'Z') {
        civil.zone = abbreviation(cx, zone, v)?;
    }
    match strftime_long(fmt, &civil, cx)? {
        Some(s) => Ok(s),
        None => crate::io::fail(cx, libc::ERANGE, &String::from_utf8_lossy(fmt)),
    }
}

/// The first digits after the point of a fraction below one.
fn fraction_digits(out: &mut Vec<u8>, (num, den): &(BigInt, BigInt), digits: usize) {
    if let (Some(mut n), Some(d)) = (num.to_u64().map(u128::from), den.to_u64().map(u128::from)) {
        for _ in 0..digits {
            n *= 10;
            out.push(b'0' + n.checked_div(d).unwrap_or(0) as u8);
            n = n.checked_rem(d).unwrap_or(0);
        }
        return;
    }
    let shifted = num * BigInt::from(10).pow(digits as u32) / den;
    out.extend(format!("{shifted:0digits$}").bytes());
}

/// `2024-02-03T04:05:06.7Z`, of a year that is not negative; `rest`: what there is of a nanosecond.
fn iso_text(c: &Civil, digits: usize, rest: Option<&(BigInt, BigInt)>, utc: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(32 + digits);
    let two = |out: &mut Vec<u8>, n: u8, before: u8| out.extend_from_slice(&[before, b'0' + n / 10, b'0' + n % 10]);
    let (thousands, year) = (c.year / 1000, (c.year % 1000) as u16);
    match u8::try_from(thousands) {
        Ok(d @ ..10) => out.push(b'0' + d),
        _ => out.extend(thousands.to_string().bytes()),
    }
    out.extend([year / 100, year / 10 % 10, year % 10].map(|d| b'0' + d as u8));
    two(&mut out, c.mon, b'-');
    two(&mut out, c.day, b'-');
    two(&mut out, c.hour, b'T');
    two(&mut out, c.min, b':');
    two(&mut out, c.sec, b':');
    if digits > 0 {
        out.push(b'.');
        let (mut n, mut unit) = (c.nsec, 100_000_000);
        for _ in 0..digits.min(9) {
            out.push(b'0' + (n / unit) as u8);
            n %= unit;
            unit = (unit / 10).max(1);
        }
        match rest {
            Some(r) if digits > 9 => fraction_digits(&mut out, r, digits - 9),
            _ => out.resize(out.len() + digits.saturating_sub(9), b'0'),
        }
    }
    if utc {
        out.push(b'Z');
    } else {
        let minutes = c.utc_offset.unsigned_abs() / 60;
        two(&mut out, (minutes / 60) as u8, if c.utc_offset < 0 { b'-' } else { b'+' });
        two(&mut out, (minutes % 60) as u8, b':');
    }
    out
}

fn main_format(t: &TimeData) -> &'static [u8] {
    if t.clock == Clock::Utc { b"%Y-%m-%d %H:%M:%S UTC" } else { b"%Y-%m-%d %H:%M:%S %z" }
}

#[ruby_class(ids::TIME)]
pub mod time {
    use super::*;
    /// Year.
    ///
    ///     Time.utc(2024, 2, 3).year   #=> 2024
    #[method("year")]
    fn year(cx: &mut Cx, this: Value) -> Result<Value> {
        let t = get(cx, this)?;
        let year = t.date().0;
        if t.eras.is_none() {
            return Ok(cx.int(year));
        }
        Ok(t.clone().year(cx, year))
    }
    /// Month, 1 to 12.
    #[method("month", "mon")]
    fn month(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(i64::from(get(cx, this)?.date().1))
    }
    /// Day of the month.
    #[method("day", "mday")]
    fn day(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(i64::from(get(cx, this)?.date().2))
    }
    /// Hour, 0 to 23.
    #[method("hour")]
    fn hour(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(get(cx, this)?.second_of_day() / 3600)
    }
    /// Minute.
    #[method("min")]
    fn min(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(get(cx, this)?.second_of_day() / 60 % 60)
    }
    /// Second.
    #[method("sec")]
    fn sec(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(get(cx, this)?.second_of_day() % 60)
    }
    /// Nanoseconds of the second.
    #[method("nsec", "tv_nsec")]
    fn nsec(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(get(cx, this)?.nsec as i64)
    }
    /// Microseconds of the second.
    #[method("usec", "tv_usec")]
    fn usec(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(get(cx, this)?.nsec as i64 / 1000)
    }
    /// The part of the second as exact number.
    ///
    ///     Time.at(0, 500, :millisecond).subsec   #=> (1/2)
    #[method("subsec")]
    fn subsec(cx: &mut Cx, this: Value) -> Result<Value> {
        let t = get(cx, this)?;
        if t.rest.is_none() {
            // Nanoseconds over a power of ten, without machinery for large numbers.
            let (n, mut g, mut rest) = (t.nsec, 1_000_000_000, t.nsec);
            while rest != 0 {
                (g, rest) = (rest, g % rest);
            }
            if n == 0 {
                return Ok(Value::fixnum(0));
            }
            let (n, d) = (Value::fixnum((n / g) as i64), Value::fixnum((1_000_000_000 / g) as i64));
            return Ok(PairCell::make(&cx.heap, ids::RATIONAL, Kind::Rational, n, d));
        }
        let (n, d) = t.subsec();
        Ok(rational(cx, n, d, true))
    }
    /// Day of the week, 0 is Sunday.
    ///
    ///     Time.utc(2024, 2, 3).wday   #=> 6
    #[method("wday")]
    fn wday(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(get(cx, this)?.reading().wday as i64)
    }
    /// Day of the year, from 1.
    #[method("yday")]
    fn yday(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(get(cx, this)?.reading().yday as i64)
    }
    /// Whether daylight saving time is on.
    #[method("dst?", "isdst")]
    fn is_dst(cx: &mut Cx, this: Value) -> Result<bool> {
        let zone = super::zone::object(cx, this);
        if !zone.is_nil()
            && let Some(d) = cx.call_if_responds(zone, Sym::intern("dst?"), &[this])?
        {
            return Ok(d.truthy());
        }
        Ok(matches!(get(cx, this)?.clock, Clock::Local { dst: true, .. }))
    }
    /// Name of the time zone, or the time zone object that was given; nil for a plain offset.
    ///
    ///     Time.utc(2000).zone   #=> "UTC"
    #[method("zone")]
    fn zone(cx: &mut Cx, this: Value) -> Result<Value> {
        let object = super::zone::object(cx, this);
        if !object.is_nil() {
            return Ok(object);
        }
        match get(cx, this)?.zone().map(<[u8]>::to_vec) {
            Some(z) => Ok(cx.str_bytes(&z, zakuro_object::string::US_ASCII)),
            None => Ok(Value::NIL),
        }
    }
    /// `[sec, min, hour, day, month, year, wday, yday, isdst, zone]`
    ///
    ///     Time.utc(2000, 1, 2, 3, 4, 5).to_a   #=> [5, 4, 3, 2, 1, 2000, 0, 2, false, "UTC"]
    #[method("to_a")]
    fn to_a(cx: &mut Cx, this: Value) -> Result<Value> {
        let t = get(cx, this)?;
        let (r, second) = (t.reading(), t.second_of_day());
        let dst = Value::bool(is_dst(cx, this)?);
        let year = year(cx, this)?;
        let zone = zone(cx, this)?;
        let early = [second % 60, second / 60 % 60, second / 3600, r.day.into(), r.mon.into()].map(Value::fixnum);
        let late = [i64::from(r.wday), i64::from(r.yday)].map(Value::fixnum);
        let [second, minute, hour, day, month] = early;
        Ok(cx.array(&[second, minute, hour, day, month, year, late[0], late[1], dst, zone]))
    }
    /// Seconds east of Greenwich.
    ///
    ///     Time.new(2000, 1, 1, in: "+02:30").utc_offset   #=> 9000
    #[method("utc_offset", "gmt_offset", "gmtoff")]
    fn utc_offset(cx: &mut Cx, this: Value) -> Result<Value> {
        let t = get(cx, this)?;
        if let Clock::Exact(whole, part) = &t.clock {
            let (n, d) = (&part.1 * *whole + &part.0, part.1.clone());
            return Ok(rational(cx, n, d, false));
        }
        Ok(Value::fixnum(t.offset().into()))
    }
    /// Whether the clock is UTC.
    #[method("utc?", "gmt?")]
    fn is_utc(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(get(cx, this)?.clock == Clock::Utc)
    }
    /// Whole seconds since 1970.
    ///
    ///     Time.utc(2000).to_i   #=> 946684800
    #[method("to_i", "tv_sec")]
    fn to_i(cx: &mut Cx, this: Value) -> Result<Value> {
        let t = get(cx, this)?;
        if t.eras.is_some() {
            let seconds = t.seconds();
            return Ok(cx.big(seconds));
        }
        let sec = t.sec;
        Ok(cx.int(sec))
    }
    /// Seconds since 1970.
    #[method("to_f")]
    fn to_f(cx: &mut Cx, this: Value) -> Result<f64> {
        Ok(get(cx, this)?.to_f())
    }
    /// Seconds since 1970 as exact number.
    #[method("to_r")]
    fn to_r(cx: &mut Cx, this: Value) -> Result<Value> {
        let (n, d) = get(cx, this)?.ratio();
        Ok(rational(cx, n, d, false))
    }
    /// Text by a format of `%` directives.
    ///
    ///     Time.utc(2024, 2, 3, 4, 5, 6).strftime("%d.%m.%Y %I:%M %p %j")   #=> "03.02.2024 04:05 AM 034"
    #[method("strftime")]
    fn strftime(cx: &mut Cx, this: Value, fmt: Ref<StringCell>) -> Result<Value> {
        let e = fmt.encoding();
        if zakuro_text::encoding::Encoding::from_id(e).is_some_and(|e| !e.is_ascii_compatible()) {
            return cx.arg_error("format should have ASCII compatible encoding");
        }
        let f = fmt.to_vec();
        if f.is_empty() && cx.is_verbose() {
            cx.warn_here("strftime called with empty format string")?;
        }
        let s = super::format(cx, this, &f)?;
        Ok(cx.str_bytes(&s, e))
    }
    /// Date and time of day as ISO 8601 and XML Schema have them, with so many digits of the second.
    ///
    ///     Time.utc(2024, 2, 3, 4, 5, 6).iso8601   #=> "2024-02-03T04:05:06Z"
    #[method("xmlschema", "iso8601")]
    fn xmlschema(cx: &mut Cx, this: Value, digits: Option<Value>) -> Result<Value> {
        let digits = match digits {
            None => 0,
            Some(d) => cx.to_i64(d)?,
        };
        let t = get(cx, this)?;
        if digits < 1000 {
            let (c, utc) = (t.reading(), t.clock == Clock::Utc);
            if c.year >= 0 && t.eras.is_none() {
                let text = iso_text(&c, usize::try_from(digits).unwrap_or(0), t.rest.as_deref(), utc);
                return Ok(cx.str_bytes(&text, zakuro_object::string::US_ASCII));
            }
        }
        let utc = t.clock == Clock::Utc;
        let mut f = b"%Y-%m-%dT%H:%M:%S".to_vec();
        if digits > 0 {
            f.extend(format!(".%{digits}N").bytes());
        }
        f.extend_from_slice(if utc { b"Z" } else { b"%:z" });
        let s = super::format(cx, this, &f)?;
        Ok(cx.str_bytes(&s, zakuro_object::string::US_ASCII))
    }
    /// Date, time and zone.
    ///
    ///     Time.utc(2024, 2, 3).to_s   #=> "2024-02-03 00:00:00 UTC"
    #[method("to_s")]
    fn to_s(cx: &mut Cx, this: Value) -> Result<Value> {
        let f = main_format(get(cx, this)?);
        let s = super::format(cx, this, f)?;
        Ok(cx.str_bytes(&s, zakuro_object::string::US_ASCII))
    }
    /// As `to_s`, with the part of the second.
    ///
    ///     Time.at(0, 1500, :millisecond).utc   #=> 1970-01-01 00:00:01.5 UTC
    #[method("inspect")]
    fn inspect(cx: &mut Cx, this: Value) -> Result<Value> {
        let t = get(cx, this)?;
        // An offset's seconds only where there are some: local mean times.
        let tail = match (&t.clock, t.shown_offset() % 60) {
            (Clock::Utc, _) => b" UTC".to_vec(),
            (_, 0) => b" %z".to_vec(),
            (_, seconds) => format!(" %z{:02}", seconds.abs()).into_bytes(),
        };
        let mut f = b"%Y-%m-%d %H:%M:%S".to_vec();
        if t.rest.is_some() {
            let (n, d) = t.subsec();
            let g = n.gcd(&d);
            f.extend(format!(" {}/{}", n / &g, d / &g).bytes());
        } else if t.nsec > 0 {
            let digits = format!("{:09}", t.nsec);
            f.push(b'.');
            f.extend(digits.trim_end_matches('0').bytes());
        }
        f.extend_from_slice(&tail);
        let s = super::format(cx, this, &f)?;
        Ok(cx.str_bytes(&s, zakuro_object::string::US_ASCII))
    }
    /// "Sat Feb  3 00:00:00 2024"
    ///
    ///     Time.utc(2024, 2, 3).ctime   #=> "Sat Feb  3 00:00:00 2024"
    #[method("ctime", "asctime")]
    fn ctime(cx: &mut Cx, this: Value) -> Result<Value> {
        let s = super::format(cx, this, b"%a %b %e %T %Y")?;
        Ok(cx.str_bytes(&s, zakuro_object::string::US_ASCII))
    }
    /// Same moment, bit by bit.
    #[method("eql?")]
    fn eql(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        if !cx.is_data::<TimeData>(other) {
            return Ok(false);
        }
        let (a, b) = cx.data_pair::<TimeData>(this, other)?;
        Ok(a.ratio_cmp(b) == std::cmp::Ordering::Equal)
    }
    /// Hash by the moment.
    #[method("hash")]
    fn hash(cx: &mut Cx, this: Value) -> Result<Value> {
        let t = get(cx, this)?;
        let mut b = t.sec.to_le_bytes().to_vec();
        b.extend(t.nsec.to_le_bytes());
        if let Some(r) = &t.rest {
            b.extend(r.0.to_signed_bytes_le());
        }
        if let Some(eras) = &t.eras {
            b.extend(eras.to_signed_bytes_le());
        }
        let h = zakuro_vm::equality::hash_bytes(&b);
        Ok(cx.shown_hash(h))
    }
    /// Earlier, same, later: -1, 0, 1.
    ///
    ///     Time.at(1) <=> Time.at(2)   #=> -1
    #[method("<=>")]
    fn cmp(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        if cx.is_data::<TimeData>(other) {
            let (a, b) = cx.data_pair::<TimeData>(this, other)?;
            let o = a.ratio_cmp(b);
            return Ok(Value::fixnum(o as i64));
        }
        // The other side may know how to compare.
        match cx.guard_recursion(this, |cx| cx.call(other, sym::cmp, &[this]))? {
            None | Some(Value::NIL) => Ok(Value::NIL),
            Some(r) => {
                let zero = Value::fixnum(0);
                if cx.call(r, sym::gt, &[zero])?.truthy() {
                    return Ok(Value::fixnum(-1));
                }
                Ok(Value::fixnum(cx.call(r, sym::lt, &[zero])?.truthy() as i64))
            }
        }
    }
    /// Same moment.
    ///
    ///     Time.at(0) == Time.at(0).utc   #=> true
    #[method("==")]
    fn eq(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        if cx.is_data::<TimeData>(other) {
            return eql(cx, this, other);
        }
        Ok(cmp(cx, this, other)? == Value::fixnum(0))
    }
    /// This many seconds later.
    ///
    ///     (Time.utc(2000) + 1.5).inspect   #=> "2000-01-01 00:00:01.5 UTC"
    #[method("+")]
    fn add(cx: &mut Cx, this: Value, seconds: Value) -> Result<Value> {
        if cx.is_data::<TimeData>(seconds) {
            return cx.type_error("time + time?");
        }
        let d = calc::exact(cx, seconds)?;
        let m = calc::Moment::of(get(cx, this)?).plus(&d);
        moved(cx, this, m)
    }
    /// Seconds between two times, or the time this many seconds before.
    ///
    ///     Time.at(5) - Time.at(3)   #=> 2.0
    #[method("-")]
    fn sub(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        if cx.is_data::<TimeData>(other) {
            let (a, b) = cx.data_pair::<TimeData>(this, other)?;
            let f = calc::Moment::of(a).plus(&calc::Moment::of(b).negated()).to_f();
            return Ok(cx.float(f));
        }
        let d = calc::exact(cx, other)?.negated();
        let m = calc::Moment::of(get(cx, this)?).plus(&d);
        moved(cx, this, m)
    }
    /// Rounded to a number of digits of the second.
    ///
    ///     Time.at(1, 600, :millisecond).round.to_i   #=> 2
    #[method("round")]
    fn round(cx: &mut Cx, this: Value, digits: Option<i64>) -> Result<Value> {
        rounded(cx, this, digits, calc::Round::Half)
    }
    /// Cut to a number of digits of the second.
    #[method("floor")]
    fn floor(cx: &mut Cx, this: Value, digits: Option<i64>) -> Result<Value> {
        rounded(cx, this, digits, calc::Round::Down)
    }
    /// Rounded up to a number of digits of the second.
    #[method("ceil")]
    fn ceil(cx: &mut Cx, this: Value, digits: Option<i64>) -> Result<Value> {
        rounded(cx, this, digits, calc::Round::Up)
    }
    /// Reads this object's clock as UTC.
    #[method("utc", "gmtime")]
    fn utc(cx: &mut Cx, this: Value) -> Result<Value> {
        if get(cx, this)?.clock != Clock::Utc {
            cx.check_frozen(this)?;
            cx.data_mut::<TimeData>(this)?.clock = Clock::Utc;
            super::zone::set_object(cx, this, Value::NIL);
        }
        Ok(this)
    }
    /// Reads this object's clock in the VM's zone, or at an offset.
    #[method("localtime")]
    fn localtime(cx: &mut Cx, this: Value, offset: Option<Value>) -> Result<Value> {
        let m = calc::Moment::of(get(cx, this)?);
        let class = cx.class_of(this);
        let (clock, object) = match offset.filter(|o| !o.is_nil()) {
            Some(o) => super::zone::zoned(cx, class, o, &m)?,
            None if matches!(get(cx, this)?.clock, Clock::Local { .. }) => return Ok(this),
            None => (super::zone::local_clock(cx, m.by_rules()), Value::NIL),
        };
        if get(cx, this)?.clock != clock || super::zone::object(cx, this) != object {
            cx.check_frozen(this)?;
            cx.data_mut::<TimeData>(this)?.clock = clock;
            super::zone::set_object(cx, this, object);
        }
        Ok(this)
    }
    /// The same moment in the VM's zone, or at an offset.
    #[method("getlocal")]
    fn getlocal(cx: &mut Cx, this: Value, offset: Option<Value>) -> Result<Value> {
        let mut t = get(cx, this)?.clone();
        let class = cx.class_of(this);
        let (clock, object) = match offset.filter(|o| !o.is_nil()) {
            Some(o) => super::zone::zoned(cx, class, o, &calc::Moment::of(&t))?,
            None => (super::zone::local_clock(cx, calc::Moment::of(&t).by_rules()), Value::NIL),
        };
        t.clock = clock;
        let v = cx.data(class, t);
        super::zone::set_object(cx, v, object);
        Ok(v)
    }
    /// The same moment in UTC.
    #[method("getutc", "getgm")]
    fn getutc(cx: &mut Cx, this: Value) -> Result<Value> {
        let mut t = get(cx, this)?.clone();
        t.clock = Clock::Utc;
        let class = cx.class_of(this);
        Ok(cx.data(class, t))
    }
    /// Copies moment and clock.
    #[method("initialize_copy", private)]
    fn initialize_copy(cx: &mut Cx, this: Value, from: Value) -> Result<Value> {
        let t = get(cx, from)?.clone();
        cx.data_init(this, t)?;
        let object = super::zone::object(cx, from);
        super::zone::set_object(cx, this, object);
        Ok(this)
    }
}

impl TimeData {
    fn ratio_cmp(&self, o: &TimeData) -> std::cmp::Ordering {
        let eras = |t: &TimeData| t.eras.as_deref().cloned().unwrap_or_default();
        let far = self.eras.is_some() || o.eras.is_some();
        let begin = if far { eras(self).cmp(&eras(o)) } else { std::cmp::Ordering::Equal };
        begin.then((self.sec, self.nsec).cmp(&(o.sec, o.nsec))).then_with(|| match (&self.rest, &o.rest) {
            (None, None) => std::cmp::Ordering::Equal,
            (Some(_), None) => std::cmp::Ordering::Greater,
            (None, Some(_)) => std::cmp::Ordering::Less,
            (Some(a), Some(b)) => (&a.0 * &b.1).cmp(&(&b.0 * &a.1)),
        })
    }
}

pub static TABLES: &[&[MethodRow]] = &[time::METHODS, make::time::METHODS];

pub fn setup(cx: &mut Cx) {
    let _ = cx.include_module(ids::TIME, ids::COMPARABLE);
}
