//! Construction: Time.now, at, new, utc, local.

use std::num::IntErrorKind;
use super::calc::{self, Moment};
use super::zone::{self, Zoned};
use super::{Clock, TimeData};
use num_bigint::BigInt;
use zakuro_macros::ruby_class;
use num_integer::Integer;
use num_traits::ToPrimitive;
use zakuro_text::int;
use zakuro_text::strftime::{ERA_SECONDS, ERA_YEARS, days_from_civil};
use zakuro_vm::*;

fn in_keyword(cx: &mut Cx, kw: &Kwargs) -> Result<Option<Value>> {
    if kw.is_empty() {
        return Ok(None);
    }
    kw.only(cx, &[sym::in_zone, sym::precision])?;
    Ok(kw.get(sym::in_zone).filter(|v| !v.is_nil()))
}

fn now() -> Moment {
    let mut ts = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: ts is writable.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &mut ts) };
    Moment { nsec: ts.tv_nsec as u32, ..Moment::whole(ts.tv_sec) }
}

fn clock_or_local(cx: &mut Cx, class: ClassId, zone_arg: Option<Value>, at: &Moment) -> Result<Zoned> {
    match zone_arg {
        Some(z) => zone::zoned(cx, class, z, at),
        None => Ok((zone::local_clock(cx, at.by_rules()), Value::NIL)),
    }
}

/// Fields of a date and time as given.
struct Fields {
    year: Year,
    mon: i64,
    day: i64,
    hour: i64,
    min: i64,
    sec: i64,
    nsec: u32,
    rest: Option<Box<(BigInt, BigInt)>>,
}

/// A year, less than so many eras later.
struct Year {
    of_era: i64,
    eras: Option<Box<BigInt>>,
}

impl Year {
    fn near(year: i64) -> Year {
        Year { of_era: year, eras: None }
    }
    fn of(year: &BigInt) -> Year {
        // What seconds of 64 bits reach.
        if let Some(year) = year.to_i64().filter(|y| y.unsigned_abs() < 100_000_000_000) {
            return Year::near(year);
        }
        let (eras, of_era) = year.div_mod_floor(&ERA_YEARS.into());
        Year { of_era: of_era.to_i64().unwrap_or(0), eras: Some(Box::new(eras)) }
    }
}

impl Fields {
    /// Is there such a time of day in some month? (The 31st of a shorter month is a day of the next one.)
    fn check(&self, cx: &mut Cx) -> Result<()> {
        let last = |n: i64| if self.hour == 24 { 0 } else { n };
        let ranges = [
            ("mon", self.mon, 1, 12),
            ("mday", self.day, 1, 31),
            ("hour", self.hour, 0, 24),
            ("min", self.min, 0, last(59)),
            ("sec", self.sec, 0, last(60)),
        ];
        match ranges.iter().find(|(_, n, low, high)| n < low || n > high) {
            Some((name, ..)) => cx.arg_error(format!("{name} out of range")),
            None => Ok(()),
        }
    }
    /// The reading as if it were UTC.
    fn as_utc(&self) -> Moment {
        let days = days_from_civil(self.year.of_era, self.mon as u8, 1) + self.day - 1;
        let sec = days * 86_400 + self.hour * 3600 + self.min * 60 + self.sec;
        let m = match &self.year.eras {
            None => Moment::whole(sec),
            Some(eras) => Moment::of_seconds(&(&**eras * ERA_SECONDS + sec)),
        };
        Moment { nsec: self.nsec, rest: self.rest.clone(), ..m }
    }
}

/// An Integer argument: strings are read as decimal numbers.
fn int_arg(cx: &mut Cx, v: Value) -> Result<i64> {
    if let Some(s) = Ref::<StringCell>::from_value(v) {
        let text = s.to_text();
        return match text.trim().parse::<i64>() {
            Ok(n) => Ok(n),
            Err(e) if matches!(e.kind(), IntErrorKind::PosOverflow | IntErrorKind::NegOverflow) => {
                cx.range_error("bignum too big to convert into 'long'")
            }
            Err(_) => {
                let shown = cx.inspect_text(v)?;
                cx.arg_error(format!("invalid value for Integer(): {shown}"))
            }
        };
    }
    cx.to_i64(v)
}

/// A year as an argument: an Integer of any size, or a text of one.
fn year_arg(cx: &mut Cx, v: Value) -> Result<Year> {
    if let Some(s) = Ref::<StringCell>::from_value(v) {
        let text = s.to_text();
        let (negative, digits) = match text.trim().strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text.trim().strip_prefix('+').unwrap_or(text.trim())),
        };
        if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
            let year = int::from_digits(digits.as_bytes(), 10, negative, cx)?;
            return Ok(Year::of(&year.to_big()));
        }
    }
    if v.as_fixnum().is_none()
        && let Some(year) = cx.as_big(v)
    {
        return Ok(Year::of(&year));
    }
    let year = int_arg(cx, v)?;
    Ok(Year::of(&year.into()))
}

fn month_arg(cx: &mut Cx, v: Value) -> Result<i64> {
    if let Some(s) = cx.try_str(v)? {
        let t = s.to_text().to_ascii_lowercase();
        const NAMES: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
        if let Some(i) = NAMES.iter().position(|n| *n == t) {
            return Ok(i as i64 + 1);
        }
        let n = int_arg(cx, s.as_value())?;
        return in_bits(cx, n, 4);
    }
    let n = cx.to_i64(v)?;
    in_bits(cx, n, 4)
}

/// A field as an argument has so many bits; what it may be besides is told by its name ([`Fields::check`]).
fn in_bits(cx: &mut Cx, n: i64, bits: u32) -> Result<i64> {
    let n = cx.int(n);
    let n = i64::from(cx.to_i32(n)?);
    if n < 0 || n >> bits > 0 { cx.arg_error("argument out of range") } else { Ok(n) }
}

/// Year, month, day, hour, minute, second as positional arguments.
fn fields(cx: &mut Cx, args: &[Value], usec: Option<Value>) -> Result<Fields> {
    let arg = |i: usize| args.get(i).copied().filter(|v| !v.is_nil());
    let year = match args.first() {
        Some(v) => year_arg(cx, *v)?,
        None => Year::near(0),
    };
    let mon = match arg(1) {
        Some(v) => month_arg(cx, v)?,
        None => 1,
    };
    let mut small = |i: usize, bits: u32, missing: i64| match arg(i) {
        Some(v) => {
            let n = int_arg(cx, v)?;
            in_bits(cx, n, bits)
        }
        None => Ok(missing),
    };
    let (day, hour, min) = (small(2, 5, 1)?, small(3, 5, 0)?, small(4, 6, 0)?);
    let mut f = Fields { year, mon, day, hour, min, sec: 0, nsec: 0, rest: None };
    if let Some(v) = arg(5) {
        let m = if v.is_kind(Kind::String) { second_text(cx, v)? } else { calc::exact(cx, v)? };
        let sec = m.near(cx)?;
        f.sec = in_bits(cx, sec, 6)?;
        f.nsec = m.nsec;
        f.rest = m.rest;
    }
    if let Some(u) = usec.filter(|u| !u.is_nil()) {
        let (n, d) = if u.is_kind(Kind::String) { (BigInt::from(int_arg(cx, u)?), BigInt::from(1)) } else { calc::exact_ratio(cx, u)? };
        let m = Moment::of_ratio(&n, &(d * 1_000_000));
        if m.nearest() != 0 {
            return cx.arg_error("subsecx out of range");
        }
        f.nsec = m.nsec;
        f.rest = m.rest;
    }
    Ok(f)
}

/// Seconds as text: "1", "1.5".
fn second_text(cx: &mut Cx, v: Value) -> Result<Moment> {
    let text = Ref::<StringCell>::from_value(v).map(|s| s.to_text()).unwrap_or_default();
    let (whole, frac) = text.split_once('.').unwrap_or((&text, ""));
    match (whole.parse::<i64>(), frac.bytes().all(|b| b.is_ascii_digit())) {
        (Ok(s), true) => {
            let n = int::from_digits(frac.as_bytes(), 10, false, cx)?.to_big();
            let m = Moment::of_ratio(&n, &BigInt::from(10).pow(frac.len() as u32));
            Ok(Moment { nsec: m.nsec, rest: m.rest, ..Moment::whole(s) })
        }
        // What is no number with a fraction either may be one that is too large.
        _ => Ok(Moment::whole(int_arg(cx, v)?)),
    }
}

/// The moment of fields on a clock.
fn resolve(cx: &mut Cx, class: ClassId, f: Fields, zone_arg: Option<Value>, summer: bool) -> Result<(TimeData, Value)> {
    let zone_arg = match zone_arg {
        Some(z) => Some(zone::named(cx, class, z)?.unwrap_or(z)),
        None => None,
    };
    let object = match zone_arg {
        Some(z) if zone::is_zone(cx, z, "local_to_utc")? => Some(z),
        _ => None,
    };
    // A text that is no offset is told before a wrong field, an offset that is too large after it.
    if let Some(z) = zone_arg
        && object.is_none()
        && let Some(s) = Ref::<StringCell>::from_value(z)
        && matches!(zone::parse_offset(s.content(&cx.heap)), zone::Offset::Bad)
    {
        zone::clock_of(cx, z)?;
    }
    f.check(cx)?;
    let clock = match zone_arg {
        Some(z) if object.is_none() => Some(zone::clock_of(cx, z)?),
        _ => None,
    };
    let as_utc = f.as_utc();
    let (m, clock) = match (object, clock) {
        (Some(z), _) => {
            let second = Moment { nsec: 0, rest: None, ..as_utc.clone() };
            let t = cx.data(ids::TIME, second.at(Clock::Utc));
            let u = cx.call(z, Sym::intern("local_to_utc"), &[t])?;
            let sec = zone::answer(cx, u, false)?;
            let offset = zone::checked(cx, &(as_utc.seconds() - &sec))?;
            (Moment { nsec: f.nsec, rest: f.rest, ..Moment::of_seconds(&sec) }, Clock::Fixed(offset))
        }
        (None, Some(clock)) => {
            let offset = match &clock {
                Clock::Fixed(o) => Moment::whole(i64::from(*o)),
                Clock::Exact(o, part) => Moment::of_ratio(&(&part.1 * *o + &part.0), &part.1),
                _ => Moment::whole(0),
            };
            (as_utc.plus(&offset.negated()), clock)
        }
        (None, None) => {
            let reading = as_utc.by_rules();
            let offset = zone::local_epoch(cx, reading, summer) - reading;
            let m = as_utc.plus(&Moment::whole(offset));
            let clock = zone::local_clock(cx, m.by_rules());
            (m, clock)
        }
    };
    Ok((m.at(clock), object.unwrap_or(Value::NIL)))
}

/// A new Time of a class with its time zone object.
fn finish(cx: &mut Cx, class: ClassId, made: (TimeData, Value)) -> Value {
    let v = cx.data(class, made.0);
    if !made.1.is_nil() {
        zone::set_object(cx, v, made.1);
    }
    v
}

/// What `Time.new` reads in a text.
struct Reading<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reading<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }
    fn digits(&self, from: usize) -> usize {
        self.text.get(from..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count()
    }
    fn number(&self, from: usize, to: usize) -> i64 {
        self.text[from..to].iter().try_fold(0i64, |n, b| n.checked_mul(10)?.checked_add(i64::from(b - b'0'))).unwrap_or(i64::MAX)
    }
    /// A part of the text for a message, which a NUL ends.
    fn shown(&self, from: usize, to: usize) -> String {
        let part = &self.text[from..to.min(self.text.len())];
        String::from_utf8_lossy(part.split(|b| *b == 0).next().unwrap_or_default()).into_owned()
    }
    fn skip_spaces(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
    }
    /// Two digits behind the byte at which the reader stands, of which so many bits count.
    fn two(&mut self, cx: &mut Cx, name: &str, bits: u32) -> Result<i64> {
        let from = self.at + 1;
        if self.digits(from) != 2 {
            let after = match self.text[self.at] {
                c @ (b'-' | b':') => format!(" after '{}'", c as char),
                _ => String::new(),
            };
            return cx.arg_error(format!("two digits {name} is expected{after}: {}", self.shown(self.at, self.at + 11)));
        }
        self.at = from + 2;
        let n = self.number(from, self.at);
        if n >> bits > 0 { cx.arg_error(format!("{name} out of range")) } else { Ok(n) }
    }
    /// The colon before the next part of a time of day that began at `start`.
    fn colon(&self, cx: &mut Cx, start: usize, before: &str, next: &str) -> Result<()> {
        match self.peek() {
            Some(b':') => Ok(()),
            Some(b'.') => cx.arg_error(format!("fraction {before} is not supported: {}", self.shown(start, self.at + 1))),
            _ => cx.arg_error(format!("missing {next} part: {}", self.shown(start, self.at + 1))),
        }
    }
}

fn is_space(b: u8) -> bool {
    b.is_ascii_whitespace() || b == 0x0b
}

/// `Time.new("2024-01-02 03:04:05.678 +09:00")`: fields, and the word behind them, which is a zone.
fn parse_text(cx: &mut Cx, text: &[u8], precision: usize) -> Result<(Fields, Option<Vec<u8>>)> {
    let mut r = Reading { text, at: 0 };
    let sign = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let n = r.digits(sign);
    if text.first().is_some_and(|b| is_space(*b)) || text.last().is_some_and(|b| is_space(*b)) || n == 0 {
        let s = cx.str_auto(text);
        let quoted = cx.inspect_text(s)?;
        return cx.arg_error(format!("can't parse: {quoted}"));
    }
    r.at = sign + n;
    // A sign counts as one.
    if r.at < 4 {
        return cx.arg_error(format!("year must be 4 or more digits: {}", r.shown(0, r.at)));
    }
    let year = int::from_digits(&text[sign..r.at], 10, text[0] == b'-', cx)?;
    let year = Year::of(&year.to_big());
    let mut f = Fields { year, mon: 1, day: 1, hour: 0, min: 0, sec: 0, nsec: 0, rest: None };
    if r.at == text.len() {
        return Ok((f, None));
    }
    let has_time = date_and_time(cx, &mut r, &mut f, precision)?;
    r.skip_spaces();
    let from = r.at;
    while r.peek().is_some_and(|b| !is_space(b)) {
        r.at += 1;
    }
    let zone = &text[from..r.at];
    r.skip_spaces();
    if r.at < text.len() {
        return cx.arg_error(format!("can't parse at: {}", String::from_utf8_lossy(&text[r.at..])));
    }
    if zone.is_empty() && !has_time {
        return cx.arg_error("no time information");
    }
    Ok((f, (!zone.is_empty()).then(|| zone.to_vec())))
}

/// Month, day and time of day behind a year, as far as they are there. Is there a time?
fn date_and_time(cx: &mut Cx, r: &mut Reading, f: &mut Fields, precision: usize) -> Result<bool> {
    if r.peek() != Some(b'-') {
        return Ok(false);
    }
    f.mon = r.two(cx, "mon", 4)?;
    if r.peek() != Some(b'-') {
        return Ok(false);
    }
    f.day = r.two(cx, "mday", 5)?;
    let start = r.at + 1;
    if !matches!(r.peek(), Some(b' ' | b'T')) || r.digits(start) == 0 {
        return Ok(false);
    }
    f.hour = r.two(cx, "hour", 5)?;
    r.colon(cx, start, "hour", "min")?;
    f.min = r.two(cx, "min", 6)?;
    r.colon(cx, start, "min", "sec")?;
    f.sec = r.two(cx, "sec", 6)?;
    if r.peek() == Some(b'.') {
        r.at += 1;
        let digits = r.digits(r.at);
        if digits.min(precision) == 0 {
            let next = zakuro_text::encoding::Encoding::UTF_8.chars(&r.text[r.at..]).next().map_or(0, <[u8]>::len);
            return cx.arg_error(format!("subsecond expected after dot: {}", r.shown(start, r.at + next)));
        }
        let part = &r.text[r.at..r.at + digits.min(precision)];
        let n = int::from_digits(part, 10, false, cx)?.to_big();
        let m = Moment::of_ratio(&n, &BigInt::from(10).pow(part.len() as u32));
        f.nsec = m.nsec;
        f.rest = m.rest;
        r.at += digits;
    }
    Ok(true)
}

/// Arguments of `Time.utc` and `Time.local`: six fields and microseconds, or ten as `to_a` gives them. Of eight the last two count for nothing.
fn civil_args(cx: &mut Cx, args: &[Value]) -> Result<Fields> {
    let (at, usec) = match args.len() {
        10 => ([5, 4, 3, 2, 1, 0], None),
        1..=7 => ([0, 1, 2, 3, 4, 5], args.get(6).copied()),
        8 => ([0, 1, 2, 3, 4, 5], None),
        n => return cx.arity_error(n, 1, Some(8)),
    };
    let mut six = at.map(|i| args.get(i).copied().unwrap_or(Value::NIL));
    // Unlike for `Time.new`, seconds in a text have no fraction here.
    if six[5].is_kind(Kind::String) {
        let n = int_arg(cx, six[5])?;
        six[5] = cx.int(n);
    }
    fields(cx, &six, usec)
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
        let (clock, object) = clock_or_local(cx, this, z, &m)?;
        Ok(finish(cx, this, (m.at(clock), object)))
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
            let extra = match s.as_fixnum() {
                Some(n) => Moment { nsec: (n.rem_euclid(per) * (1_000_000_000 / per)) as u32, ..Moment::whole(n.div_euclid(per)) },
                None => {
                    let (n, d) = calc::exact_ratio(cx, s)?;
                    Moment::of_ratio(&n, &(d * per))
                }
            };
            m = m.plus(&extra);
        }
        let (clock, object) = match (z, old) {
            (Some(z), _) => zone::zoned(cx, this, z, &m)?,
            (None, Some(c)) => (c, zone::object(cx, time)),
            _ => (zone::local_clock(cx, m.by_rules()), Value::NIL),
        };
        Ok(finish(cx, this, (m.at(clock), object)))
    }
    /// Time of a UTC date: year, month, day, hour, minute, second, microsecond.
    ///
    ///     Time.utc(2024, "feb", 29, 12).inspect   #=> "2024-02-29 12:00:00 UTC"
    #[method("utc", "gm", singleton)]
    fn utc(cx: &mut Cx, this: ClassId, args: Rest) -> Result<Value> {
        let f = civil_args(cx, args)?;
        f.check(cx)?;
        let t = f.as_utc().at(Clock::Utc);
        Ok(cx.data(this, t))
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
        if cx.is_data::<TimeData>(this) {
            return cx.type_error("already initialized Time");
        }
        let z = in_keyword(cx, &kw)?;
        let class = cx.class_of(this);
        if args.is_empty() {
            let m = super::now();
            let (clock, object) = clock_or_local(cx, class, z, &m)?;
            cx.data_init(this, m.at(clock))?;
            zone::set_object(cx, this, object);
            return Ok(());
        }
        let offset = args.get(6).copied().filter(|v| !v.is_nil());
        if offset.is_some() && z.is_some() {
            return cx.arg_error("timezone argument given as positional and keyword arguments");
        }
        if let ([_], Some(s)) = (args, Ref::<StringCell>::from_value(args[0])) {
            let precision = match kw.get(sym::precision) {
                Some(Value::NIL) => usize::MAX,
                // As in CRuby, a negative one takes all digits.
                Some(p) => usize::try_from(cx.to_i64(p)?).unwrap_or(usize::MAX),
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
