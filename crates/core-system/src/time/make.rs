//! Construction: Time.now, at, new, utc, local.

use super::calc::{self, Moment};
use super::zone::{self, Offset, Zoned};
use super::{Clock, TimeData};
use num_bigint::BigInt;
use zakuro_macros::ruby_class;
use zakuro_text::strftime::days_from_civil;
use zakuro_vm::*;

fn in_keyword(cx: &mut Cx, kw: &Kwargs) -> Result<Option<Value>> {
    if kw.is_empty() {
        return Ok(None);
    }
    kw.only(cx, &[Sym::intern("in"), Sym::intern("precision")])?;
    Ok(kw.get(Sym::intern("in")).filter(|v| !v.is_nil()))
}

fn now() -> Moment {
    let mut ts = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: ts is writable.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &mut ts) };
    Moment { sec: ts.tv_sec, nsec: ts.tv_nsec as u32, rest: None }
}

fn clock_or_local(cx: &mut Cx, class: ClassId, zone_arg: Option<Value>, sec: i64) -> Result<Zoned> {
    match zone_arg {
        Some(z) => zone::zoned(cx, class, z, sec),
        None => Ok((zone::local_clock(cx, sec), Value::NIL)),
    }
}

/// Fields of a date and time as given.
struct Fields {
    year: i64,
    mon: i64,
    day: i64,
    hour: i64,
    min: i64,
    sec: i64,
    nsec: u32,
    rest: Option<Box<(BigInt, BigInt)>>,
}

impl Fields {
    /// Seconds of the reading as if it were UTC.
    fn as_utc(&self) -> Option<i64> {
        if self.year.unsigned_abs() > 290_000_000_000 {
            return None;
        }
        let days = days_from_civil(self.year, self.mon as u8, 1) + self.day - 1;
        Some(days * 86_400 + self.hour * 3600 + self.min * 60 + self.sec)
    }
}

/// An Integer argument: strings are read as decimal numbers.
fn int_arg(cx: &mut Cx, v: Value) -> Result<i64> {
    if let Some(s) = Ref::<StringCell>::from_value(v) {
        let text = s.to_text();
        return match text.trim().parse::<i64>() {
            Ok(n) => Ok(n),
            Err(_) => {
                let shown = cx.inspect_text(v)?;
                cx.arg_error(format!("invalid value for Integer(): {shown}"))
            }
        };
    }
    cx.to_i64(v)
}

fn month_arg(cx: &mut Cx, v: Value) -> Result<i64> {
    if let Some(s) = cx.try_str(v)? {
        let t = s.to_text().to_ascii_lowercase();
        const NAMES: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
        if let Some(i) = NAMES.iter().position(|n| *n == t) {
            return Ok(i as i64 + 1);
        }
        let n = int_arg(cx, s.as_value())?;
        return in_range(cx, n, 1, 12, "mon out of range");
    }
    let n = cx.to_i64(v)?;
    in_range(cx, n, 1, 12, "mon out of range")
}

fn in_range(cx: &mut Cx, n: i64, low: i64, high: i64, message: &str) -> Result<i64> {
    if n < low || n > high { cx.arg_error(message) } else { Ok(n) }
}

/// Year, month, day, hour, minute, second as positional arguments.
fn fields(cx: &mut Cx, args: &[Value], usec: Option<Value>) -> Result<Fields> {
    let arg = |i: usize| args.get(i).copied().filter(|v| !v.is_nil());
    const RANGE: &str = "argument out of range";
    let year = match args.first() {
        Some(v) => int_arg(cx, *v)?,
        None => 0,
    };
    let mon = match arg(1) {
        Some(v) => month_arg(cx, v)?,
        None => 1,
    };
    let day = match arg(2) {
        Some(v) => {
            let n = int_arg(cx, v)?;
            in_range(cx, n, 1, 31, RANGE)?
        }
        None => 1,
    };
    let hour = match arg(3) {
        Some(v) => {
            let n = int_arg(cx, v)?;
            in_range(cx, n, 0, 24, RANGE)?
        }
        None => 0,
    };
    let min = match arg(4) {
        Some(v) => {
            let n = int_arg(cx, v)?;
            in_range(cx, n, 0, 59, RANGE)?
        }
        None => 0,
    };
    let mut f = Fields { year, mon, day, hour, min, sec: 0, nsec: 0, rest: None };
    if let Some(v) = arg(5) {
        let m = if v.is_kind(Kind::String) { second_text(cx, v)? } else { calc::exact(cx, v)? };
        in_range(cx, m.sec, 0, 60, RANGE)?;
        f.sec = m.sec;
        f.nsec = m.nsec;
        f.rest = m.rest;
    }
    if let Some(u) = usec.filter(|u| !u.is_nil()) {
        let (n, d) = if u.is_kind(Kind::String) { (BigInt::from(int_arg(cx, u)?), BigInt::from(1)) } else { calc::exact_ratio(cx, u)? };
        match Moment::of_ratio(&n, &(d * 1_000_000)) {
            Some(m) if m.sec == 0 => {
                f.nsec = m.nsec;
                f.rest = m.rest;
            }
            _ => return cx.arg_error("subsecx out of range"),
        }
    }
    if f.hour == 24 && (f.min > 0 || f.sec > 0) {
        return cx.arg_error(RANGE);
    }
    // The 31st of a shorter month is a day of the next one.
    Ok(f)
}

/// Seconds as text: "1", "1.5".
fn second_text(cx: &mut Cx, v: Value) -> Result<Moment> {
    let text = Ref::<StringCell>::from_value(v).map(|s| s.to_text()).unwrap_or_default();
    let (whole, frac) = text.split_once('.').unwrap_or((&text, ""));
    match (whole.parse::<i64>(), frac.bytes().all(|b| b.is_ascii_digit())) {
        (Ok(s), true) => {
            let n: BigInt = format!("0{frac}").parse().unwrap_or_default();
            let m = Moment::of_ratio(&n, &BigInt::from(10).pow(frac.len() as u32)).unwrap_or_else(|| Moment::whole(0));
            Ok(Moment { sec: s, ..m })
        }
        _ => {
            let shown = cx.inspect_text(v)?;
            cx.arg_error(format!("invalid value for Integer(): {shown}"))
        }
    }
}

/// The moment of fields on a clock.
fn resolve(cx: &mut Cx, class: ClassId, f: Fields, zone_arg: Option<Value>, summer: bool) -> Result<(TimeData, Value)> {
    let Some(as_utc) = f.as_utc() else { return cx.range_error("year too big") };
    let zone_arg = match zone_arg {
        Some(z) => Some(zone::named(cx, class, z)?.unwrap_or(z)),
        None => None,
    };
    let (sec, clock, object) = match zone_arg {
        None => {
            let sec = zone::local_epoch(cx, as_utc, summer);
            (sec, zone::local_clock(cx, sec), Value::NIL)
        }
        Some(z) if zone::is_zone(cx, z, "local_to_utc")? => {
            let t = cx.data(ids::TIME, TimeData { sec: as_utc, nsec: 0, rest: None, clock: Clock::Utc });
            let u = cx.call(z, Sym::intern("local_to_utc"), &[t])?;
            let sec = zone::answer(cx, u, false)?;
            (sec, Clock::Fixed(zone::checked(cx, as_utc - sec)?), z)
        }
        Some(z) => {
            let clock = zone::clock_of(cx, z)?;
            let off = match &clock {
                Clock::Fixed(o) => *o,
                _ => 0,
            };
            (as_utc - off as i64, clock, Value::NIL)
        }
    };
    Ok((TimeData { sec, nsec: f.nsec, rest: f.rest, clock }, object))
}

/// A new Time of a class with its time zone object.
fn finish(cx: &mut Cx, class: ClassId, made: (TimeData, Value)) -> Value {
    let v = cx.data(class, made.0);
    if !made.1.is_nil() {
        zone::set_object(cx, v, made.1);
    }
    v
}

/// `Time.new("2024-01-02 03:04:05.678 +09:00")`
fn parse_text(cx: &mut Cx, text: &[u8], precision: usize) -> Result<(Fields, Option<Vec<u8>>)> {
    let shown = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    let digits = |at: usize| text[at.min(text.len())..].iter().take_while(|b| b.is_ascii_digit()).count();
    let quoted = {
        let s = cx.str_auto(text);
        cx.inspect_text(s)?
    };
    let space = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_whitespace() || *b == 0x0b);
    if space(text.first()) || space(text.last()) || digits(0) == 0 {
        return cx.arg_error(format!("can't parse: {quoted}"));
    }
    let n = digits(0);
    if n < 4 {
        return cx.arg_error(format!("year must be 4 or more digits: {}", shown(&text[..n])));
    }
    let num = |from: usize, to: usize| shown(&text[from..to]).parse::<i64>().unwrap_or(i64::MAX);
    let mut f = Fields { year: num(0, n), mon: 1, day: 1, hour: 0, min: 0, sec: 0, nsec: 0, rest: None };
    let mut at = n;
    if at == text.len() {
        return Ok((f, None));
    }
    let two = |cx: &mut Cx, at: &mut usize, name: &str, low: i64, high: i64| -> Result<i64> {
        let start = *at;
        if digits(start) != 2 {
            let end = (start + 10).min(text.len());
            let from = start.saturating_sub(1);
            let after = if name == "hour" { String::new() } else { format!(" after '{}'", text[from] as char) };
            return cx.arg_error(format!("two digits {name} is expected{after}: {}", shown(&text[from..end])));
        }
        *at += 2;
        let v = num(start, start + 2);
        if v < low || v > high { cx.arg_error(format!("{name} out of range")) } else { Ok(v) }
    };
    if text.get(at) != Some(&b'-') {
        return cx.arg_error(format!("can't parse: {quoted}"));
    }
    at += 1;
    f.mon = two(cx, &mut at, "mon", 1, 12)?;
    if text.get(at) != Some(&b'-') {
        return cx.arg_error("no time information");
    }
    at += 1;
    f.day = two(cx, &mut at, "mday", 1, 31)?;
    if at == text.len() {
        return cx.arg_error("no time information");
    }
    if !matches!(text[at], b' ' | b'T') {
        return cx.arg_error(format!("can't parse: {quoted}"));
    }
    at += 1;
    let time_start = at;
    if digits(at) == 0 {
        return cx.arg_error("no time information");
    }
    f.hour = two(cx, &mut at, "hour", 0, 24)?;
    if text.get(at) == Some(&b'.') {
        return cx.arg_error(format!("fraction hour is not supported: {}", shown(&text[time_start..=at])));
    }
    if text.get(at) != Some(&b':') {
        return cx.arg_error(format!("missing min part: {} ", shown(&text[time_start..at])));
    }
    at += 1;
    f.min = two(cx, &mut at, "min", 0, 59)?;
    if text.get(at) == Some(&b'.') {
        return cx.arg_error(format!("fraction min is not supported: {}", shown(&text[time_start..=at])));
    }
    if text.get(at) != Some(&b':') {
        return cx.arg_error(format!("missing sec part: {} ", shown(&text[time_start..at])));
    }
    at += 1;
    f.sec = two(cx, &mut at, "sec", 0, 60)?;
    if text.get(at) == Some(&b'.') {
        let k = digits(at + 1);
        if k == 0 {
            return cx.arg_error(format!("subsecond expected after dot: {}", shown(&text[time_start..(at + 2).min(text.len())])));
        }
        let frac = &text[at + 1..at + 1 + k.min(precision)];
        let n: BigInt = format!("0{}", shown(frac)).parse().unwrap_or_default();
        if let Some(m) = Moment::of_ratio(&n, &BigInt::from(10).pow(frac.len() as u32)) {
            f.nsec = m.nsec;
            f.rest = m.rest;
        }
        at += 1 + k;
    }
    while text.get(at) == Some(&b' ') {
        at += 1;
    }
    if at == text.len() {
        return Ok((f, None));
    }
    let z = text[at..].to_vec();
    // What looks like an offset is judged as one.
    let looks = matches!(z[0], b'+' | b'-') && z[1..].iter().all(|b| b.is_ascii_digit() || *b == b':');
    if !looks && matches!(zone::parse_offset(&z), Offset::Bad) {
        return cx.arg_error(format!("can't parse at: {}", shown(&text[at.saturating_sub(1)..])));
    }
    Ok((f, Some(z)))
}

/// Arguments of `Time.utc` and `Time.local`: six fields and microseconds, or ten as `to_a` gives them. Of eight the last two count for nothing.
fn civil_args(cx: &mut Cx, args: &[Value]) -> Result<Fields> {
    match args.len() {
        10 => {
            let a = [args[5], args[4], args[3], args[2], args[1], args[0]];
            fields(cx, &a, None)
        }
        1..=7 => fields(cx, &args[..args.len().min(6)], args.get(6).copied()),
        8 => fields(cx, &args[..6], None),
        n => cx.arity_error(n, 1, Some(8)),
    }
}

#[ruby_class(ids::TIME)]
pub mod time {
    use super::*;
    /// The current time.
    ///
    ///     Time.now(in: "+03:00").utc_offset   #=> 10800
    #[method("now", singleton)]
    fn now(cx: &mut Cx, this: ClassId, kw: Kwargs) -> Result<Value> {
        let z = in_keyword(cx, &kw)?;
        let m = super::now();
        let (clock, object) = clock_or_local(cx, this, z, m.sec)?;
        Ok(finish(cx, this, (TimeData { sec: m.sec, nsec: m.nsec, rest: None, clock }, object)))
    }
    /// The time so many seconds after 1970 (plus a part of a second), or a copy of a Time.
    ///
    ///     Time.at(0, 5, :millisecond).nsec   #=> 5000000
    ///     Time.at(946684800, in: "UTC").year   #=> 2000
    #[method("at", singleton)]
    fn at(cx: &mut Cx, this: ClassId, time: Value, sub: Option<Value>, unit: Option<Value>, kw: Kwargs) -> Result<Value> {
        let z = in_keyword(cx, &kw)?;
        let (mut m, old) = if cx.is_data::<TimeData>(time) {
            if sub.is_some() {
                return cx.type_error("can't convert Time into an exact number");
            }
            let t = super::super::get(cx, time)?;
            (Moment::of(t), Some(t.clock.clone()))
        } else {
            (calc::exact(cx, time)?, None)
        };
        if let Some(s) = sub {
            let per: i64 = match unit.unwrap_or(Value::NIL).as_sym().map(|s| s.name().into_owned()).as_deref() {
                None if unit.is_none() => 1_000_000,
                Some("microsecond" | "usec") => 1_000_000,
                Some("millisecond") => 1000,
                Some("nanosecond" | "nsec") => 1_000_000_000,
                _ => {
                    let u = cx.to_s_text(unit.unwrap_or(Value::NIL))?;
                    return cx.arg_error(format!("unexpected unit: {u}"));
                }
            };
            let (n, d) = calc::exact_ratio(cx, s)?;
            let extra = Moment::of_ratio(&n, &(d * per));
            m = match extra.and_then(|e| m.plus(&e)) {
                Some(m) => m,
                None => return cx.range_error("time out of range"),
            };
        }
        let (clock, object) = match (z, old) {
            (Some(z), _) => zone::zoned(cx, this, z, m.sec)?,
            (None, Some(c)) => (c, zone::object(cx, time)),
            _ => (zone::local_clock(cx, m.sec), Value::NIL),
        };
        Ok(finish(cx, this, (TimeData { sec: m.sec, nsec: m.nsec, rest: m.rest, clock }, object)))
    }
    /// Time of a UTC date: year, month, day, hour, minute, second, microsecond.
    ///
    ///     Time.utc(2024, "feb", 29, 12).inspect   #=> "2024-02-29 12:00:00 UTC"
    #[method("utc", "gm", singleton)]
    fn utc(cx: &mut Cx, this: ClassId, args: Rest) -> Result<Value> {
        let f = civil_args(cx, args)?;
        let Some(sec) = f.as_utc() else { return cx.range_error("year too big") };
        Ok(cx.data(this, TimeData { sec, nsec: f.nsec, rest: f.rest, clock: Clock::Utc }))
    }
    /// Time of a date in the VM's zone: year, month, day, hour, minute, second, microsecond.
    #[method("local", "mktime", singleton)]
    fn local(cx: &mut Cx, this: ClassId, args: Rest) -> Result<Value> {
        let f = civil_args(cx, args)?;
        // Of ten arguments the ninth says whether daylight saving time is meant.
        let summer = args.len() == 10 && args[8].truthy();
        let t = resolve(cx, this, f, None, summer)?;
        Ok(finish(cx, this, t))
    }
    /// The current time, the time of a date in a zone, or of a text like "2024-01-02 03:04:05".
    ///
    ///     Time.new(2024, 1, 2, in: "+01:00").inspect   #=> "2024-01-02 00:00:00 +0100"
    ///     Time.new("2024-01-02 03:04:05Z").inspect   #=> "2024-01-02 03:04:05 UTC"
    #[method("initialize", private, max = 7)]
    fn initialize(cx: &mut Cx, this: Value, args: Rest, kw: Kwargs) -> Result<()> {
        let z = in_keyword(cx, &kw)?;
        let class = cx.class_of(this);
        if args.is_empty() {
            let m = super::now();
            let (clock, object) = clock_or_local(cx, class, z, m.sec)?;
            cx.data_init(this, TimeData { sec: m.sec, nsec: m.nsec, rest: None, clock })?;
            zone::set_object(cx, this, object);
            return Ok(());
        }
        let offset = args.get(6).copied().filter(|v| !v.is_nil());
        if offset.is_some() && z.is_some() {
            return cx.arg_error("timezone argument given as positional and keyword arguments");
        }
        if let ([text], Some(s)) = (args, Ref::<StringCell>::from_value(args[0])) {
            let _ = text;
            let precision = match kw.get(Sym::intern("precision")) {
                Some(Value::NIL) => usize::MAX,
                Some(p) => cx.to_i64(p)?.max(0) as usize,
                None => 9,
            };
            if !zakuro_core_text::string::util::enc(s).is_ascii_compatible() {
                return cx.arg_error("time string should have ASCII compatible encoding");
            }
            let bytes = s.to_vec();
            let (f, tail) = parse_text(cx, &bytes, precision)?;
            let zone_arg = match tail {
                Some(t) => Some(cx.str_bytes(&t, zakuro_object::string::UTF8)),
                None => z,
            };
            let (t, object) = resolve(cx, class, f, zone_arg, false)?;
            cx.data_init(this, t)?;
            zone::set_object(cx, this, object);
            return Ok(());
        }
        if args[0].is_nil() {
            return cx.no_conversion(Value::NIL, "Integer");
        }
        let f = fields(cx, &args[..args.len().min(6)], None)?;
        // `:dst` and `:std` name no zone, but which of two readings of the VM's clock is meant.
        let summer = offset.and_then(Value::as_sym).and_then(|s| match &*s.name() {
            "dst" => Some(true),
            "std" => Some(false),
            _ => None,
        });
        let named = offset.filter(|_| summer.is_none());
        let (t, object) = resolve(cx, class, f, z.or(named), summer.unwrap_or(false))?;
        cx.data_init(this, t)?;
        zone::set_object(cx, this, object);
        Ok(())
    }
}
