//! date: Date and DateTime. A Date is a payload of numbers ([`moment`]); what it is asked, its text, and how everyday's texts are read is native. What is
//! rare (numbers that are no Integers, texts in unusual forms) is Ruby, in `ruby/date.rb` and `ruby/date_parse.rb`: such methods have names with `__`.
//!
//! Rejected: plain objects of Integers, whose instance variables cost more than the calculations; calendar by the hour, as CRuby keeps it (civil and
//! day number, each calculated when first asked for): a conversion takes fewer nanoseconds than a look whether it was made.

mod arithmetic;
mod calendar;
mod elements;
mod forms;
mod moment;
mod read;
mod strptime;
mod text;
mod zone;

use arithmetic::{between, later, order, plus};
use calendar::{ITALY, is_near};
use elements::Elements;
use forms::Form;
use moment::{Moment, Near};
use num_bigint::BigInt;
use read::{hash_of_form, moment_of_integers, of_elements, of_form, strptime_date};
use std::cmp::Ordering;
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::held::Held;
use zakuro_vm::*;

/// The classes in a VM, once they have been asked for.
#[derive(Trace, Default)]
struct Classes {
    date: Option<ClassId>,
    date_time: Option<ClassId>,
}
impl VmState for Classes {}

fn date_id(cx: &mut Cx) -> Result<ClassId> {
    if let Some(c) = cx.state::<Classes>().date {
        return Ok(c);
    }
    let c = cx.class_named("Date")?;
    cx.state::<Classes>().date = Some(c);
    Ok(c)
}
fn date_time_id(cx: &mut Cx) -> Result<ClassId> {
    if let Some(c) = cx.state::<Classes>().date_time {
        return Ok(c);
    }
    let c = cx.class_named("DateTime")?;
    cx.state::<Classes>().date_time = Some(c);
    Ok(c)
}
/// The class Date, to call its functions.
fn date_class(cx: &mut Cx) -> Result<Value> {
    let c = date_id(cx)?;
    Ok(cx.class_value(c))
}

/// What a Date holds. One whose `initialize` was never called is day 0.
fn get(cx: &mut Cx, v: Value) -> Result<&Moment> {
    if Ref::<DataCell>::from_value(v).is_some_and(|d| !d.is_set()) {
        let date = date_id(cx)?;
        if cx.is_a(v, date) {
            cx.data_init(v, Moment::default())?;
        }
    }
    cx.data_ref::<Moment>(v)
}
/// The same of an everyday one.
fn plain(cx: &mut Cx, v: Value) -> Result<Option<Near>> {
    Ok(get(cx, v)?.plain())
}
/// Of an argument: None too for what is no Date.
fn plain_other(cx: &mut Cx, v: Value) -> Option<Near> {
    Ref::<DataCell>::from_value(v)?;
    get(cx, v).ok()?.plain()
}
fn is_date(cx: &mut Cx, v: Value) -> Result<bool> {
    if cx.is_data::<Moment>(v) {
        return Ok(true);
    }
    let date = date_id(cx)?;
    Ok(cx.is_a(v, date))
}

/// A Date of the same class.
fn like(cx: &mut Cx, this: Value, m: impl Into<Moment>) -> Value {
    let class = cx.class_of(this);
    cx.data(class, m.into())
}

fn invalid<T>(cx: &mut Cx) -> Result<T> {
    let class = cx.class_named("Date::Error")?;
    cx.raise(class, "invalid date")
}

/// An Integer's word, when it is near.
fn near(v: Value) -> Option<i64> {
    v.as_fixnum().filter(|n| is_near(*n))
}

fn check_numeric(cx: &mut Cx, v: Value, name: &str) -> Result<()> {
    if v.is_fixnum() || cx.is_a(v, ids::NUMERIC) {
        return Ok(());
    }
    cx.type_error(format!("invalid {name} (not numeric)"))
}
/// An Integer of a number: a fraction goes.
fn whole(cx: &mut Cx, v: Value, name: &str) -> Result<Value> {
    check_numeric(cx, v, name)?;
    if cx.is_integer(v) {
        return Ok(v);
    }
    let v = cx.call(v, sym::floor, &[])?;
    cx.to_int(v)
}
/// The day from which the Gregorian calendar counts.
fn start_of(cx: &mut Cx, v: Option<Value>) -> Result<f64> {
    let Some(v) = v else { return Ok(ITALY) };
    if v == Value::fixnum(ITALY as i64) {
        return Ok(ITALY);
    }
    check_numeric(cx, v, "start")?;
    let start = cx.to_f64(v)?;
    if start.is_infinite() || (2_298_874.0..=2_426_355.0).contains(&start) {
        return Ok(start);
    }
    let date = date_class(cx)?;
    let text = cx.str("invalid start is ignored");
    cx.call_private(date, Sym::intern("warn"), &[text])?;
    Ok(ITALY)
}

/// A day by a year of any size.
fn of_year(cx: &mut Cx, y: Value, start: f64, day: impl FnOnce(i64, f64) -> Option<i64>) -> Option<BigInt> {
    match near(y) {
        Some(y) => day(y, start).map(BigInt::from),
        None => calendar::of_far_year(&cx.as_big(y)?, start, day),
    }
}

fn far_day(jd: BigInt, start: f64) -> Moment {
    Moment::of_parts(jd, 0, (0.into(), 1.into()), 0, start)
}

/// The date of `Date.civil`'s arguments.
fn civil(cx: &mut Cx, y: Option<Value>, m: Option<Value>, d: Option<Value>, start: Option<Value>) -> Result<Moment> {
    let one = Value::fixnum(1);
    let (y, m, d) = (y.unwrap_or(Value::fixnum(-4712)), m.unwrap_or(one), d.unwrap_or(one));
    let (y, m, d) = match (near(y), m.as_fixnum(), d.as_fixnum()) {
        (Some(_), Some(m), Some(d)) => (y, m, d),
        _ => {
            let y = whole(cx, y, "year")?;
            check_numeric(cx, m, "month")?;
            let m = cx.to_i64(m)?;
            let d = whole(cx, d, "day")?;
            (y, m, cx.to_i64(d)?)
        }
    };
    let start = start_of(cx, start)?;
    if let Some(y) = near(y) {
        return match calendar::valid_civil(y, m, d, start).filter(|jd| is_near(*jd)) {
            Some(jd) => Ok(Near::of_day(jd, start).into()),
            None if is_near(y * 366) => invalid(cx),
            None => match calendar::valid_civil(y, m, d, start) {
                Some(jd) => Ok(far_day(jd.into(), start)),
                None => invalid(cx),
            },
        };
    }
    match of_year(cx, y, start, |y, start| calendar::valid_civil(y, m, d, start)) {
        Some(jd) => Ok(far_day(jd, start)),
        None => invalid(cx),
    }
}

fn is_wday(cx: &mut Cx, date: Value, wday: i64) -> Result<bool> {
    Ok((get(cx, date)?.read().jd + 1).rem_euclid(7) == wday)
}

/// Methods of `Date`.
#[ruby_class(ids::OBJECT)]
mod class {
    use super::*;

    /// The date of a year, month and day; negative months and days count from the end.
    ///
    ///     Date.civil(2024, 2, -1).to_s   #=> "2024-02-29"
    #[method("civil", singleton)]
    fn civil(cx: &mut Cx, this: ClassId, y: Option<Value>, m: Option<Value>, d: Option<Value>, start: Option<Value>) -> Result<Value> {
        let m = super::civil(cx, y, m, d, start)?;
        let v = cx.data(this, m);
        match d {
            // A part of the day is kept, though no method of a Date tells it.
            Some(d) if !cx.is_integer(d) => {
                let whole = whole(cx, d, "day")?;
                let part = cx.call(d, sym::sub, &[whole])?;
                cx.call(v, sym::add, &[part])
            }
            _ => Ok(v),
        }
    }
    /// The date of a chronological Julian day number.
    ///
    ///     Date.jd(2451944).to_s   #=> "2001-02-03"
    #[method("jd", singleton, min = 0, max = 2)]
    fn jd(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        if let (false, 1, Some(jd)) = (args.kw, args.len(), args.get(0).and_then(near)) {
            let class = ClassId::from_value(cx, this)?;
            return Ok(cx.data(class, Moment::from(Near::of_day(jd, ITALY))));
        }
        cx.forward(this, Sym::intern("__jd"), args)
    }
    /// Whether there is such a date.
    ///
    ///     Date.valid_date?(2023, 2, 29)   #=> false
    #[method("valid_civil?", "valid_date?", singleton)]
    fn is_valid(cx: &mut Cx, _this: Value, y: Value, m: Value, d: Value, start: Option<Value>) -> Result<bool> {
        if let (Some(y), Some(m), Some(d), None) = (near(y), m.as_fixnum(), d.as_fixnum(), start) {
            return Ok(calendar::valid_civil(y, m, d, ITALY).is_some());
        }
        for v in [y, m, d] {
            if !cx.is_a(v, ids::NUMERIC) {
                return Ok(false);
            }
        }
        let y = whole(cx, y, "year")?;
        let m = cx.to_i64(m)?;
        let d = whole(cx, d, "day")?;
        let d = cx.to_i64(d)?;
        let start = start_of(cx, start)?;
        Ok(of_year(cx, y, start, |y, start| calendar::valid_civil(y, m, d, start)).is_some())
    }
    /// `(kind, year, a, b, start)`: the day number of a date that exists, or nil. Kinds: 0 year and day, 1 commercial, 2 and 3 weeks from Sunday and Monday, 4 civil.
    #[method("__valid_jd", singleton, private)]
    fn valid_jd(cx: &mut Cx, _this: Value, kind: i64, y: Value, a: Value, b: Value, start: f64) -> Option<Value> {
        let (a, b) = (a.as_fixnum()?, b.as_fixnum()?);
        let jd = of_year(cx, y, start, |y, start| match kind {
            0 => calendar::valid_ordinal(y, a, start),
            1 => calendar::valid_commercial(y, a, b, start),
            2 | 3 => calendar::valid_weeknum(y, a, b, kind - 2, start),
            _ => calendar::valid_civil(y, a, b, start),
        })?;
        Some(cx.big(jd))
    }
    #[method("__start", singleton, private)]
    fn start(cx: &mut Cx, _this: Value, start: Value) -> Result<f64> {
        start_of(cx, Some(start))
    }
    /// `(jd, seconds, nanoseconds, offset, start)`: a new object of the class.
    #[method("__of", singleton, private)]
    fn of(cx: &mut Cx, this: ClassId, jd: Value, df: i64, sf: Value, of: i64, start: f64) -> Result<Value> {
        let m = moment_of(cx, jd, df, sf, of, start)?;
        Ok(cx.data(this, m))
    }
    /// The date (of DateTime, the moment) that elements tell, when they are everyday's; else nil.
    #[method("__everyday", singleton, private)]
    fn everyday(cx: &mut Cx, this: ClassId, elements: Ref<HashCell>, start: f64) -> Result<Option<Value>> {
        let e = Elements::of_hash(cx, elements);
        of_elements(cx, this, &e, start)
    }
    /// The elements of a text that follows a format, or nil.
    ///
    ///     Date._strptime("3 Feb", "%d %b")   #=> {mday: 3, mon: 2}
    #[method("_strptime", singleton)]
    fn strptime_hash(cx: &mut Cx, _this: Value, s: Value, format: Option<Value>) -> Result<Value> {
        read::strptime_hash(cx, s, format, b"%F")
    }
    /// The date in a text that follows a format.
    ///
    ///     Date.strptime("3.2.2024", "%d.%m.%Y").to_s   #=> "2024-02-03"
    #[method("strptime", singleton)]
    fn strptime(cx: &mut Cx, this: Value, s: Option<Value>, format: Option<Value>, start: Option<Value>) -> Result<Value> {
        strptime_date(cx, this, &[s, format, start], ["-4712-01-01", "%F"])
    }
    /// The elements that a text tells somehow, as a Hash: `(text, complete = true, limit: 128)`.
    ///
    ///     Date._parse("10:20 3 Feb")   #=> {hour: 10, min: 20, mon: 2, mday: 3}
    #[method("_parse", singleton, min = 0, max = -1)]
    fn parse_hash(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        hash_of_form(cx, this, args, Form::Any, "__parse_hash")
    }
    /// The date that a text tells somehow.
    ///
    ///     Date.parse("3rd Feb 2024").to_s   #=> "2024-02-03"
    #[method("parse", singleton, min = 0, max = -1)]
    fn parse(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        of_form(cx, this, args, Form::Any, "__parse")
    }
    /// The elements of a text as ISO 8601 has it, as a Hash; an empty one if it is none: `(text, limit: 128)`.
    #[method("_iso8601", singleton, min = 0, max = -1)]
    fn iso8601_hash(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        hash_of_form(cx, this, args, Form::Iso8601, "__iso8601_hash")
    }
    /// The date in a text as ISO 8601 has it: `(text, start, limit: 128)`; Date::Error if it is none.
    ///
    ///     Date.iso8601("2024-W05-6").to_s   #=> "2024-02-03"
    #[method("iso8601", singleton, min = 0, max = -1)]
    fn iso8601(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        of_form(cx, this, args, Form::Iso8601, "__iso8601")
    }
    /// The elements of a text as RFC 3339 has it, as a Hash; an empty one if it is none: `(text, limit: 128)`.
    #[method("_rfc3339", singleton, min = 0, max = -1)]
    fn rfc3339_hash(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        hash_of_form(cx, this, args, Form::Rfc3339, "__rfc3339_hash")
    }
    /// The date in a text as RFC 3339 has it: `(text, start, limit: 128)`; Date::Error if it is none.
    #[method("rfc3339", singleton, min = 0, max = -1)]
    fn rfc3339(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        of_form(cx, this, args, Form::Rfc3339, "__rfc3339")
    }
    /// The elements of a text as XML Schema has dates, as a Hash; an empty one if it is none: `(text, limit: 128)`.
    #[method("_xmlschema", singleton, min = 0, max = -1)]
    fn xmlschema_hash(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        hash_of_form(cx, this, args, Form::Xmlschema, "__xmlschema_hash")
    }
    /// The date in a text as XML Schema has it: `(text, start, limit: 128)`; Date::Error if it is none.
    #[method("xmlschema", singleton, min = 0, max = -1)]
    fn xmlschema(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        of_form(cx, this, args, Form::Xmlschema, "__xmlschema")
    }
    /// The elements of a text as RFC 2822 has it, as a Hash; an empty one if it is none: `(text, limit: 128)`.
    #[method("_rfc2822", "_rfc822", singleton, min = 0, max = -1)]
    fn rfc2822_hash(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        hash_of_form(cx, this, args, Form::Rfc2822, "__rfc2822_hash")
    }
    /// The date in a text as RFC 2822 has it: `(text, start, limit: 128)`; Date::Error if it is none.
    #[method("rfc2822", "rfc822", singleton, min = 0, max = -1)]
    fn rfc2822(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        of_form(cx, this, args, Form::Rfc2822, "__rfc2822")
    }
    /// The elements of a text as HTTP's headers have it, as a Hash; an empty one if it is none: `(text, limit: 128)`.
    #[method("_httpdate", singleton, min = 0, max = -1)]
    fn httpdate_hash(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        hash_of_form(cx, this, args, Form::Httpdate, "__httpdate_hash")
    }
    /// The date in a text as HTTP's headers have it: `(text, start, limit: 128)`; Date::Error if it is none.
    #[method("httpdate", singleton, min = 0, max = -1)]
    fn httpdate(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        of_form(cx, this, args, Form::Httpdate, "__httpdate")
    }
}

/// Seconds of the day, a fraction of a second in nanoseconds, and so on, as they come from Ruby.
fn moment_of(cx: &mut Cx, jd: Value, df: i64, sf: Value, of: i64, start: f64) -> Result<Moment> {
    let jd = cx.to_int(jd)?;
    let (df, of) = (df.clamp(0, 86399) as i32, of.clamp(-86400, 86400) as i32);
    if let (Some(jd), Some(ns @ 0..1_000_000_000)) = (near(jd), sf.as_fixnum()) {
        return Ok(Near { jd, df, ns: ns as u32, of, start }.into());
    }
    let (n, d) = match PairCell::from_value(sf, Kind::Rational) {
        Some(p) => p,
        None => (cx.to_int(sf)?, Value::fixnum(1)),
    };
    let (Some(jd), Some(n), Some(d)) = (cx.as_big(jd), cx.as_big(n), cx.as_big(d)) else { return cx.type_error("not an Integer") };
    if n < BigInt::from(0) || n >= &d * 1_000_000_000 {
        return cx.arg_error("nanoseconds out of range");
    }
    Ok(Moment::of_parts(jd, df, (n, d), of, start))
}

/// Methods of `Date`.
#[ruby_class(ids::OBJECT)]
mod date {
    use super::*;

    /// The date of a year, month and day; negative months and days count from the end. Date::Error if there is none.
    ///
    ///     Date.new(2024, 2, -1).to_s   #=> "2024-02-29"
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, y: Option<Value>, m: Option<Value>, d: Option<Value>, start: Option<Value>) -> Result<Value> {
        cx.check_frozen(this)?;
        let m = civil(cx, y, m, d, start)?;
        cx.data_init(this, m)?;
        Ok(this)
    }
    #[method("initialize_copy", private)]
    fn initialize_copy(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        cx.check_frozen(this)?;
        let m = get(cx, other)?.clone();
        cx.data_init(this, m)?;
        Ok(this)
    }
    #[method("__set", private)]
    fn set(cx: &mut Cx, this: Value, jd: Value, df: i64, sf: Value, of: i64, start: f64) -> Result<Value> {
        cx.check_frozen(this)?;
        let m = moment_of(cx, jd, df, sf, of, start)?;
        cx.data_init(this, m)?;
        Ok(this)
    }
    /// `[jd, seconds, nanoseconds, offset, start]`
    #[method("__parts", private)]
    fn parts(cx: &mut Cx, this: Value) -> Result<Value> {
        let m = get(cx, this)?.clone();
        let (n, d) = m.sf();
        let sf = if d == BigInt::from(1) {
            cx.big(n)
        } else {
            let (n, d) = (cx.big(n), cx.big(d));
            PairCell::make(&cx.heap, ids::RATIONAL, Kind::Rational, n, d)
        };
        let jd = cx.big(m.jd());
        let start = cx.float(m.near.start);
        Ok(cx.array(&[jd, Value::fixnum(m.near.df.into()), sf, Value::fixnum(m.near.of.into()), start]))
    }
    /// The same class with another start, or another offset.
    #[method("__restarted", private)]
    fn restarted(cx: &mut Cx, this: Value, start: f64) -> Result<Value> {
        let m = get(cx, this)?.with(|n| n.start = start);
        Ok(like(cx, this, m))
    }
    #[method("__moved", private)]
    fn moved(cx: &mut Cx, this: Value, of: i64) -> Result<Value> {
        let m = get(cx, this)?.with(|n| n.of = of.clamp(-86400, 86400) as i32);
        Ok(like(cx, this, m))
    }

    /// The chronological Julian day number.
    ///
    ///     Date.new(2001, 2, 3).jd   #=> 2451944
    #[method("jd")]
    fn jd(cx: &mut Cx, this: Value) -> Result<Value> {
        let r = get(cx, this)?.read();
        Ok(r.day(cx, r.jd))
    }
    /// The modified Julian day number: days since November 17, 1858.
    #[method("mjd")]
    fn mjd(cx: &mut Cx, this: Value) -> Result<Value> {
        let r = get(cx, this)?.read();
        Ok(r.day(cx, r.jd - 2_400_001))
    }
    /// The Lilian day number: days since October 15, 1582, which is 1.
    #[method("ld")]
    fn ld(cx: &mut Cx, this: Value) -> Result<Value> {
        let r = get(cx, this)?.read();
        Ok(r.day(cx, r.jd - 2_299_160))
    }
    /// Year.
    #[method("year")]
    fn year(cx: &mut Cx, this: Value) -> Result<Value> {
        let r = get(cx, this)?.read();
        let y = r.civil().0;
        Ok(r.year(cx, y))
    }
    /// Month, 1 to 12.
    #[method("mon", "month")]
    fn month(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(get(cx, this)?.read().civil().1)
    }
    /// Day of the month.
    #[method("mday", "day")]
    fn mday(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(get(cx, this)?.read().civil().2)
    }
    /// Day of the week, 0 is Sunday.
    #[method("wday")]
    fn wday(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok((get(cx, this)?.read().jd + 1).rem_euclid(7))
    }
    /// Day of the year, from 1.
    #[method("yday")]
    fn yday(cx: &mut Cx, this: Value) -> Result<i64> {
        let r = get(cx, this)?.read();
        Ok(calendar::yday(r.jd, r.start))
    }
    /// The year that the ISO week belongs to.
    #[method("cwyear")]
    fn cwyear(cx: &mut Cx, this: Value) -> Result<Value> {
        let r = get(cx, this)?.read();
        let y = calendar::jd_to_commercial(r.jd, r.start).0;
        Ok(r.year(cx, y))
    }
    /// The ISO week, 1 to 53.
    ///
    ///     Date.new(2024, 12, 30).cweek   #=> 1
    #[method("cweek")]
    fn cweek(cx: &mut Cx, this: Value) -> Result<i64> {
        let r = get(cx, this)?.read();
        Ok(calendar::jd_to_commercial(r.jd, r.start).1)
    }
    /// The day of the ISO week: 1 is Monday, 7 Sunday.
    #[method("cwday")]
    fn cwday(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(get(cx, this)?.read().jd.rem_euclid(7) + 1)
    }
    /// Whether it is a Sunday.
    #[method("sunday?")]
    fn sunday(cx: &mut Cx, this: Value) -> Result<bool> {
        is_wday(cx, this, 0)
    }
    /// Whether it is a Monday.
    #[method("monday?")]
    fn monday(cx: &mut Cx, this: Value) -> Result<bool> {
        is_wday(cx, this, 1)
    }
    /// Whether it is a Tuesday.
    #[method("tuesday?")]
    fn tuesday(cx: &mut Cx, this: Value) -> Result<bool> {
        is_wday(cx, this, 2)
    }
    /// Whether it is a Wednesday.
    #[method("wednesday?")]
    fn wednesday(cx: &mut Cx, this: Value) -> Result<bool> {
        is_wday(cx, this, 3)
    }
    /// Whether it is a Thursday.
    #[method("thursday?")]
    fn thursday(cx: &mut Cx, this: Value) -> Result<bool> {
        is_wday(cx, this, 4)
    }
    /// Whether it is a Friday.
    #[method("friday?")]
    fn friday(cx: &mut Cx, this: Value) -> Result<bool> {
        is_wday(cx, this, 5)
    }
    /// Whether it is a Saturday.
    #[method("saturday?")]
    fn saturday(cx: &mut Cx, this: Value) -> Result<bool> {
        is_wday(cx, this, 6)
    }
    /// Whether the year has 366 days.
    #[method("leap?")]
    fn is_leap(cx: &mut Cx, this: Value) -> Result<bool> {
        let r = get(cx, this)?.read();
        Ok(calendar::leap(r.jd, r.start))
    }
    /// Whether the Julian calendar counts on this day.
    #[method("julian?")]
    fn is_julian(cx: &mut Cx, this: Value) -> Result<bool> {
        let r = get(cx, this)?.read();
        Ok(!calendar::gregorian(r.jd, r.start))
    }
    /// Whether the Gregorian calendar counts on this day.
    #[method("gregorian?")]
    fn is_gregorian(cx: &mut Cx, this: Value) -> Result<bool> {
        let r = get(cx, this)?.read();
        Ok(calendar::gregorian(r.jd, r.start))
    }
    /// The day number from which on the Gregorian calendar counts.
    #[method("start")]
    fn start(cx: &mut Cx, this: Value) -> Result<f64> {
        Ok(get(cx, this)?.near.start)
    }
    #[method("hour", private)]
    fn hour(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(get(cx, this)?.near.seconds() / 3600)
    }
    #[method("min", "minute", private)]
    fn min(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(get(cx, this)?.near.seconds() / 60 % 60)
    }
    #[method("sec", "second", private)]
    fn sec(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(get(cx, this)?.near.seconds() % 60)
    }

    /// So many days later.
    ///
    ///     (Date.new(2024, 2, 28) + 2).to_s   #=> "2024-03-01"
    #[method("+")]
    fn add(cx: &mut Cx, this: Value, days: Value) -> Result<Value> {
        match plain(cx, this)?.and_then(|n| plus(n, days, false)) {
            Some(n) => Ok(like(cx, this, n)),
            None => cx.call_private(this, Sym::intern("__plus"), &[days]),
        }
    }
    /// Days between two dates, or so many days earlier.
    ///
    ///     Date.new(2024, 3, 1) - Date.new(2024, 2, 1)   #=> (29/1)
    #[method("-")]
    fn sub(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        if let Some(n) = plain(cx, this)? {
            if let Some(o) = plain_other(cx, other) {
                return Ok(between(cx, n, o));
            }
            if let Some(n) = plus(n, other, true) {
                return Ok(like(cx, this, n));
            }
        }
        cx.call_private(this, Sym::intern("__minus"), &[other])
    }
    /// The date `n` days later, without an argument the next day.
    #[method("next_day")]
    fn next_day(cx: &mut Cx, this: Value, n: Option<Value>) -> Result<Value> {
        cx.call(this, sym::add, &[n.unwrap_or(Value::fixnum(1))])
    }
    /// The date `n` days earlier, without an argument the day before.
    #[method("prev_day")]
    fn prev_day(cx: &mut Cx, this: Value, n: Option<Value>) -> Result<Value> {
        cx.call(this, sym::sub, &[n.unwrap_or(Value::fixnum(1))])
    }
    /// The next day.
    #[method("succ", "next")]
    fn succ(cx: &mut Cx, this: Value) -> Result<Value> {
        match plain(cx, this)?.and_then(|n| later(n, 1, 0)) {
            Some(n) => Ok(like(cx, this, n)),
            None => cx.call_private(this, Sym::intern("__plus"), &[Value::fixnum(1)]),
        }
    }
    /// So many months later, on the last day of the month where it is shorter.
    ///
    ///     (Date.new(2024, 1, 31) >> 1).to_s   #=> "2024-02-29"
    #[method(">>")]
    fn months_later(cx: &mut Cx, this: Value, months: Value) -> Result<Value> {
        match (plain(cx, this)?, near(months)) {
            (Some(n), Some(months)) if let Some(n) = arithmetic::months_later(n, months) => Ok(like(cx, this, n)),
            _ => cx.call_private(this, Sym::intern("__months_later"), &[months]),
        }
    }
    /// So many months earlier.
    #[method("<<")]
    fn months_earlier(cx: &mut Cx, this: Value, months: Value) -> Result<Value> {
        match (plain(cx, this)?, near(months)) {
            (Some(n), Some(months)) if let Some(n) = arithmetic::months_later(n, -months) => Ok(like(cx, this, n)),
            _ => cx.call_private(this, Sym::intern("__months_earlier"), &[months]),
        }
    }
    /// Earlier, same, later: -1, 0, 1. A number is compared with `ajd`.
    #[method("<=>")]
    fn compare(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        if let (Some(a), Some(b)) = (plain(cx, this)?, plain_other(cx, other)) {
            return Ok(Value::fixnum(order(&a, &b) as i64));
        }
        cx.call_private(this, Sym::intern("__compare"), &[other])
    }
    /// Whether it is the same day.
    #[method("===")]
    fn same_day(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        if let (Some(a), Some(b)) = (plain(cx, this)?, plain_other(cx, other)) {
            return Ok(Value::bool(a.local_jd() == b.local_jd()));
        }
        cx.call_private(this, Sym::intern("__same_day"), &[other])
    }
    /// Whether the other is a Date of the same moment.
    #[method("eql?")]
    fn eql(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        if !is_date(cx, other)? {
            return Ok(false);
        }
        if let (Some(a), Some(b)) = (plain(cx, this)?, plain_other(cx, other)) {
            return Ok(order(&a, &b) == Ordering::Equal);
        }
        let key = get(cx, this)?.key();
        Ok(get(cx, other)?.key() == key)
    }
    /// The same for dates that are `eql?`.
    #[method("hash")]
    fn hash(cx: &mut Cx, this: Value) -> Result<Value> {
        let h = match plain(cx, this)? {
            Some(n) => zakuro_vm::equality::hash_bytes(&n.key()),
            None => zakuro_vm::equality::hash_bytes(&get(cx, this)?.key()),
        };
        Ok(cx.shown_hash(h))
    }

    /// Text by a format of `%` directives.
    ///
    ///     Date.new(2024, 2, 3).strftime("%d.%m.%Y %a %j")   #=> "03.02.2024 Sat 034"
    #[method("strftime")]
    fn strftime(cx: &mut Cx, this: Value, format: Option<Value>) -> Result<Value> {
        match format {
            None => text::day(cx, this),
            Some(f) => {
                let f = cx.to_str(f)?;
                text::strftime(cx, this, &Held::of(f), f.encoding())
            }
        }
    }
    /// The date as ISO 8601 has it.
    ///
    ///     Date.new(2024, 2, 3).to_s   #=> "2024-02-03"
    #[method("to_s", "iso8601", "xmlschema")]
    fn to_s(cx: &mut Cx, this: Value) -> Result<Value> {
        text::day(cx, this)
    }
    /// The zone as offset.
    #[method("zone", private)]
    fn zone(cx: &mut Cx, this: Value) -> Result<Value> {
        let of = get(cx, this)?.near.of;
        Ok(cx.str_bytes(&text::zone(of), string::US_ASCII))
    }
    /// The day without a time of it.
    #[method("to_date")]
    fn to_date(cx: &mut Cx, this: Value) -> Result<Value> {
        let (date, date_time) = (date_id(cx)?, date_time_id(cx)?);
        if !cx.is_a(this, date_time) {
            return Ok(this);
        }
        let m = get(cx, this)?;
        let m = match m.odd.as_ref().and_then(|o| o.jd.clone()) {
            None => Near::of_day(m.near.local_jd(), m.near.start).into(),
            Some(jd) => far_day(jd + m.near.clock().div_euclid(86400), m.near.start),
        };
        Ok(cx.data(date, m))
    }
}
/// Methods of `DateTime`.
#[ruby_class(ids::OBJECT)]
mod date_time {
    use super::*;

    /// The moment of year, month, day, hour, minute, second and offset; Date::Error if there is none.
    #[method("initialize", private, min = 0, max = 8)]
    fn initialize(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        cx.check_frozen(this)?;
        let m = match moment_of_integers(cx, args)? {
            Some(n) => n.into(),
            None => {
                let class = date_time_id(cx)?;
                let class = cx.class_value(class);
                let v = cx.forward(class, Sym::intern("__civil"), args)?;
                get(cx, v)?.clone()
            }
        };
        cx.data_init(this, m)?;
        Ok(this)
    }
    /// The moment of year, month, day, hour, minute, second and offset.
    ///
    ///     DateTime.civil(2024, 2, 3, 4, 5, 6, "+09:00").to_s   #=> "2024-02-03T04:05:06+09:00"
    #[method("civil", singleton, min = 0, max = 8)]
    fn civil(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        match moment_of_integers(cx, args)? {
            Some(n) => {
                let class = ClassId::from_value(cx, this)?;
                Ok(cx.data(class, Moment::from(n)))
            }
            None => cx.forward(this, Sym::intern("__civil"), args),
        }
    }
    /// The moment of a day number, hour, minute, second and offset.
    #[method("jd", singleton, min = 0, max = -1)]
    fn jd(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        cx.forward(this, Sym::intern("__jd"), args)
    }
    /// The elements of a text that follows a format, by default "%FT%T%z", as a Hash, or nil.
    #[method("_strptime", singleton)]
    fn strptime_hash(cx: &mut Cx, _this: Value, s: Value, format: Option<Value>) -> Result<Value> {
        read::strptime_hash(cx, s, format, b"%FT%T%z")
    }
    /// The moment in a text that follows a format, by default "%FT%T%z"; Date::Error if it does not.
    ///
    ///     DateTime.strptime("3.2.2024 14:05", "%d.%m.%Y %H:%M").to_s   #=> "2024-02-03T14:05:00+00:00"
    #[method("strptime", singleton)]
    fn strptime(cx: &mut Cx, this: Value, s: Option<Value>, format: Option<Value>, start: Option<Value>) -> Result<Value> {
        strptime_date(cx, this, &[s, format, start], ["-4712-01-01T00:00:00+00:00", "%FT%T%z"])
    }
    /// Text by a format of `%` directives, by default "%FT%T%:z".
    #[method("strftime")]
    fn strftime(cx: &mut Cx, this: Value, format: Option<Value>) -> Result<Value> {
        match format {
            None => text::moment(cx, this, 0),
            Some(f) => {
                let f = cx.to_str(f)?;
                text::strftime(cx, this, &Held::of(f), f.encoding())
            }
        }
    }
    /// Date, time of day and offset as ISO 8601 has them.
    #[method("to_s")]
    fn to_s(cx: &mut Cx, this: Value) -> Result<Value> {
        text::moment(cx, this, 0)
    }
    /// The same with so many digits of the second.
    ///
    ///     DateTime.new(2024, 2, 3, 4, 5, 6.5r).iso8601(2)   #=> "2024-02-03T04:05:06.50+00:00"
    #[method("iso8601", "xmlschema", "rfc3339")]
    fn iso8601(cx: &mut Cx, this: Value, digits: Option<i64>) -> Result<Value> {
        text::moment(cx, this, digits.unwrap_or(0))
    }
}

pub static DOCUMENTED: &[(&str, &str, &[MethodRow])] =
    &[("date", "Date", class::METHODS), ("date", "Date", date::METHODS), ("date", "DateTime", date_time::METHODS)];

/// `require "date"`
pub fn load(cx: &mut Cx) -> Result<()> {
    if cx.const_by_path("DateTime").is_some() {
        return Ok(());
    }
    let class = cx.define_class(ids::OBJECT, "Date", ids::OBJECT);
    cx.class_mut(class).alloc = Alloc::Data;
    let date_time = cx.define_class(ids::OBJECT, "DateTime", class);
    cx.class_mut(date_time).alloc = Alloc::Data;
    cx.define_natives(class, &[class::METHODS, date::METHODS]);
    cx.define_natives(date_time, &[date_time::METHODS]);
    cx.run_builtin("date")?;
    cx.run_builtin("date/parse")
}
