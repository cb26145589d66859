//! Time zones: the VM's own by its ENV["TZ"], and offsets as arguments.

use super::calc::Moment;
use super::{Abbreviation, Clock};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Dst, TimeZone};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{ToPrimitive, Zero};
use std::ops::Range;
use zakuro_macros::Trace;
use zakuro_text::strftime::ERA_SECONDS;
use zakuro_vm::*;

/// The VM's zone as of a version of its ENV.
#[derive(Trace)]
struct Zones {
    version: Option<u64>,
    #[untraced]
    zone: TimeZone,
    /// The last answer, and the seconds for which it holds: up to the zone's next change of clocks.
    #[untraced]
    last: Option<(Range<i64>, Clock)>,
}
impl Default for Zones {
    fn default() -> Zones {
        Zones { version: None, zone: TimeZone::UTC, last: None }
    }
}
impl VmState for Zones {}

/// Whether the machine's clock shows UTC, as those of servers do: jiff would list all zones there are to find its name, which takes a millisecond.
fn is_utc_here() -> bool {
    std::fs::read_link("/etc/localtime").is_ok_and(|to| to.ends_with("zoneinfo/Etc/UTC") || to.ends_with("zoneinfo/UTC"))
}

/// The VM's zone. A reference: VMs share the zone's rules, whose count they would all write to.
fn zone(cx: &mut Cx) -> &TimeZone {
    let version = cx.state::<crate::env::Env>().version;
    if cx.state::<Zones>().version == Some(version) {
        return &cx.state::<Zones>().zone;
    }
    let zone = match crate::env::get(cx, b"TZ") {
        None if is_utc_here() => TimeZone::UTC,
        None => TimeZone::try_system().unwrap_or(TimeZone::UTC),
        Some(tz) => {
            let name = String::from_utf8_lossy(&tz).into_owned();
            let name = name.strip_prefix(':').unwrap_or(&name);
            if name.is_empty() {
                TimeZone::UTC
            } else {
                TimeZone::get(name).or_else(|_| TimeZone::posix(name)).unwrap_or(TimeZone::UTC)
            }
        }
    };
    let z = cx.state::<Zones>();
    z.version = Some(version);
    z.zone = zone;
    z.last = None;
    &z.zone
}

/// The begin of the last year that rules of time zones are asked of; they come again each era.
const LAST_YEAR: i64 = 253_370_764_800;

/// A second that the rules can be asked of instead of another one.
fn by_rules(sec: i64) -> i64 {
    if sec < LAST_YEAR { sec } else { sec.rem_euclid(ERA_SECONDS) + ERA_SECONDS }
}

/// Reading of the VM's clock at a moment.
pub fn local_clock(cx: &mut Cx, sec: i64) -> Clock {
    let sec = by_rules(sec);
    let version = cx.state::<crate::env::Env>().version;
    let zones = cx.state::<Zones>();
    if zones.version == Some(version)
        && let Some((range, clock)) = &zones.last
        && range.contains(&sec)
    {
        return clock.clone();
    }
    let tz = zone(cx);
    let ts = Timestamp::from_second(sec).unwrap_or(if sec < 0 { Timestamp::MIN } else { Timestamp::MAX });
    let info = tz.to_offset_info(ts);
    let name = info.abbreviation();
    // UTC is "UTC" however the zone calls it.
    let clock = Clock::Local { offset: info.offset().seconds(), zone: Abbreviation::new(name.as_bytes()), dst: info.dst() == Dst::Yes };
    let next = tz.following(ts).next().map_or(i64::MAX, |t| t.timestamp().as_second());
    cx.state::<Zones>().last = Some((sec..next.max(sec), clock.clone()));
    clock
}

/// Seconds since 1970 of a reading of the VM's clock, given as if it were UTC.
///
/// Of a reading that the clock shows twice, the second is meant, or with `summer` the first.
pub fn local_epoch(cx: &mut Cx, as_utc: i64, summer: bool) -> i64 {
    let (real, as_utc) = (as_utc, by_rules(as_utc));
    real - as_utc + epoch_by_rules(cx, as_utc, summer)
}

fn epoch_by_rules(cx: &mut Cx, as_utc: i64, summer: bool) -> i64 {
    let tz = zone(cx);
    let (days, rest) = (as_utc.div_euclid(86_400), as_utc.rem_euclid(86_400));
    let (y, m, d) = zakuro_text::strftime::civil_from_days(days);
    let dt = i16::try_from(y).ok().and_then(|y| {
        DateTime::new(y, m as i8, d as i8, (rest / 3600) as i8, (rest / 60 % 60) as i8, (rest % 60) as i8, 0).ok()
    });
    let meant = dt.map(|dt| tz.to_ambiguous_timestamp(dt)).and_then(|t| match t.offset() {
        AmbiguousOffset::Fold { .. } if summer => t.earlier().ok(),
        _ => t.later().ok(),
    });
    match meant {
        Some(ts) => ts.as_second(),
        None => match local_clock(cx, as_utc) {
            Clock::Local { offset, .. } => as_utc - offset as i64,
            _ => as_utc,
        },
    }
}

fn bad<T>(cx: &mut Cx, text: &str) -> Result<T> {
    cx.arg_error(format!("\"+HH:MM\", \"-HH:MM\", \"UTC\" or \"A\"..\"I\",\"K\"..\"Z\" expected for utc_offset: {text}"))
}

/// A clock and the time zone object that it comes from, or nil.
pub type Zoned = (Clock, Value);

/// Hidden variable of a Time: its time zone object.
fn variable() -> Sym {
    Sym::intern("__zone")
}
/// The time zone object of a Time, or nil.
pub fn object(cx: &mut Cx, time: Value) -> Value {
    if time.is_kind(Kind::Data) && time.flags() & flags::HAS_IVARS == 0 {
        return Value::NIL;
    }
    cx.ivar_get(time, variable())
}
/// Sets the time zone object of a Time.
pub fn set_object(cx: &mut Cx, time: Value, zone: Value) {
    if !zone.is_nil() || !object(cx, time).is_nil() {
        cx.ivar_set_raw(time, variable(), zone);
    }
}

/// Is it something with a time zone's methods?
pub fn is_zone(cx: &mut Cx, v: Value, method: &str) -> Result<bool> {
    Ok(!v.is_nil() && !v.is_kind(Kind::String) && !cx.is_integer(v) && v.as_float().is_none() && cx.responds(v, Sym::intern(method), false)?)
}

/// A time zone's answer: of a Time its reading (`of_clock`) or its moment, of other objects their `to_i`.
pub fn answer(cx: &mut Cx, v: Value, of_clock: bool) -> Result<BigInt> {
    if cx.is_data::<super::TimeData>(v) {
        let t = super::get(cx, v)?;
        return Ok(t.seconds() + if of_clock { t.offset() } else { 0 });
    }
    let n = if cx.is_integer(v) { v } else { cx.call(v, sym::to_i, &[])? };
    match cx.as_big(n) {
        Some(n) => Ok(n),
        None => Ok(cx.to_i64(n)?.into()),
    }
}

/// An offset of less than a day. ArgumentError
pub fn checked(cx: &mut Cx, offset: &BigInt) -> Result<i32> {
    match offset.to_i32() {
        Some(o) if o.abs() < 86_400 => Ok(o),
        _ => cx.arg_error("utc_offset out of range"),
    }
}

/// Time zone object of a name that is no offset, when the class knows such.
pub fn named(cx: &mut Cx, class: ClassId, v: Value) -> Result<Option<Value>> {
    let Some(s) = Ref::<StringCell>::from_value(v) else { return Ok(None) };
    if !matches!(parse_offset(s.content(&cx.heap)), Offset::Bad) {
        return Ok(None);
    }
    let class = cx.class_value(class);
    if !cx.responds(class, Sym::intern("find_timezone"), true)? {
        return Ok(None);
    }
    cx.call(class, Sym::intern("find_timezone"), &[v]).map(Some)
}

/// Clock of an `in:` or offset argument: "+09:00", "UTC", "A", seconds, a time zone object, or for a class with `find_timezone` the name of one.
pub fn zoned(cx: &mut Cx, class: ClassId, v: Value, at: &Moment) -> Result<Zoned> {
    let v = named(cx, class, v)?.unwrap_or(v);
    if is_zone(cx, v, "utc_to_local")? {
        let second = Moment { nsec: 0, rest: None, ..at.clone() };
        let t = cx.data(ids::TIME, second.at(Clock::Utc));
        let l = cx.call(v, Sym::intern("utc_to_local"), &[t])?;
        let local = answer(cx, l, true)?;
        let offset = checked(cx, &(local - at.seconds()))?;
        return Ok((Clock::Fixed(offset), v));
    }
    Ok((clock_of(cx, v)?, Value::NIL))
}

/// Clock of an offset.
pub fn clock_of(cx: &mut Cx, v: Value) -> Result<Clock> {
    if let Some(s) = cx.try_str(v)? {
        let b = s.to_vec();
        return match parse_offset(&b) {
            Offset::Utc => Ok(Clock::Utc),
            Offset::Seconds(n) => Ok(Clock::Fixed(n)),
            Offset::Range => cx.arg_error("utc_offset out of range"),
            Offset::Bad if b.contains(&0) => cx.arg_error("string contains null byte"),
            Offset::Bad => bad(cx, &String::from_utf8_lossy(&b)),
        };
    }
    let m = super::calc::exact(cx, v)?;
    let whole = i32::try_from(m.nearest()).unwrap_or(i32::MAX);
    let (n, d) = Moment { sec: 0, eras: None, ..m }.ratio();
    if whole >= 86_400 || whole < -86_400 || whole == -86_400 && n.is_zero() {
        return cx.arg_error("utc_offset out of range");
    }
    if n.is_zero() {
        return Ok(Clock::Fixed(whole));
    }
    let g = n.gcd(&d);
    Ok(Clock::Exact(whole, Box::new((n / &g, d / g))))
}

pub enum Offset {
    Utc,
    Seconds(i32),
    Range,
    Bad,
}

/// "+HH", "+HHMM", "+HH:MM", "+HHMMSS", "+HH:MM:SS", "UTC", "Z", "-00:00", military letters.
pub fn parse_offset(b: &[u8]) -> Offset {
    match numbered_offset(b) {
        // A zero behind a minus: the offset is not known.
        Offset::Seconds(0) if b[0] == b'-' => Offset::Utc,
        other => other,
    }
}

fn numbered_offset(b: &[u8]) -> Offset {
    match b {
        b"Z" => return Offset::Utc,
        [_, _, _] if b.eq_ignore_ascii_case(b"UTC") => return Offset::Utc,
        [c @ b'A'..=b'I'] => return Offset::Seconds((c - b'A' + 1) as i32 * 3600),
        [c @ b'K'..=b'M'] => return Offset::Seconds((c - b'K' + 10) as i32 * 3600),
        [c @ b'N'..=b'Y'] => return Offset::Seconds(-((c - b'N' + 1) as i32) * 3600),
        _ => {}
    }
    let (sign, rest) = match b.split_first() {
        Some((b'+', r)) => (1, r),
        Some((b'-', r)) => (-1, r),
        _ => return Offset::Bad,
    };
    let two = |at: usize| -> Option<i32> {
        let d = rest.get(at..at + 2)?;
        d.iter().all(u8::is_ascii_digit).then(|| ((d[0] - b'0') * 10 + d[1] - b'0') as i32)
    };
    let fields = match (rest.len(), rest.get(2), rest.get(5)) {
        (2, _, _) => (two(0), Some(0), Some(0)),
        (4, _, _) => (two(0), two(2), Some(0)),
        (5, Some(b':'), _) => (two(0), two(3), Some(0)),
        (6, _, _) => (two(0), two(2), two(4)),
        (8, Some(b':'), Some(b':')) => (two(0), two(3), two(6)),
        _ => return Offset::Bad,
    };
    let (Some(h), Some(m), Some(s)) = fields else { return Offset::Bad };
    if h > 23 || m > 59 || s > 59 {
        return if m > 59 || s > 59 { Offset::Bad } else { Offset::Range };
    }
    Offset::Seconds(sign * (h * 3600 + m * 60 + s))
}
