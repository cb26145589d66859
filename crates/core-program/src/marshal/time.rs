//! Time in Marshal data: eight bytes of calendar fields in UTC, the rest in variables of the String that holds them.

use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive, Zero};
use zakuro_macros::ruby_class;
use zakuro_object::string::{BINARY, US_ASCII};
use zakuro_text::strftime::{ERA_SECONDS, ERA_YEARS};
use zakuro_vm::*;

/// What the field of the year holds: sixteen bits from the first on.
const FIRST_YEAR: i64 = 1900;
const LAST_YEAR: i64 = FIRST_YEAR + 0xffff;
/// Bytes of a year beyond these, whose number is written in one.
const MOST_DIGITS: usize = 122;

fn field(cx: &mut Cx, t: Value, name: &str) -> Result<i64> {
    let v = cx.call(t, Sym::intern(name), &[])?;
    cx.to_i64(v)
}

/// The String that stands for a Time.
pub fn dump(cx: &mut Cx, v: Value) -> Result<Value> {
    let utc = cx.call(v, Sym::intern("getutc"), &[])?;
    let is_utc = cx.call(v, Sym::intern("utc?"), &[])?.truthy();
    let real_year = cx.call(utc, Sym::intern("year"), &[])?;
    let real_year = cx.as_big(real_year).unwrap_or_default();
    // Years beyond the field's bits: how far beyond stands behind the fields.
    let year = real_year.to_i64().unwrap_or(if real_year.is_negative() { FIRST_YEAR } else { LAST_YEAR }).clamp(FIRST_YEAR, LAST_YEAR);
    let beyond = (real_year - year).into_parts().1;
    let nsec = field(cx, utc, "nsec")?;
    let high = 1 << 31
        | i64::from(is_utc) << 30
        | (year - 1900) << 14
        | (field(cx, utc, "month")? - 1) << 10
        | field(cx, utc, "day")? << 5
        | field(cx, utc, "hour")?;
    let low = (field(cx, utc, "min")? << 26) | (field(cx, utc, "sec")? << 20) | (nsec / 1000);
    let mut bytes = [(high as u32).to_le_bytes(), (low as u32).to_le_bytes()].concat();
    if !beyond.is_zero() {
        let digits = beyond.to_bytes_le();
        if digits.len() > MOST_DIGITS {
            return cx.arg_error("year too big to marshal");
        }
        // A small length as Marshal writes numbers: itself and five.
        bytes.push(digits.len() as u8 + 5);
        bytes.extend(digits);
    }
    let s = cx.str_bytes(&bytes, BINARY);
    for (name, value) in cx.ivar_list(v).iter().filter(|(n, _)| Cx::is_ivar_name(*n)) {
        cx.ivar_set_raw(s, name, value);
    }
    // What the fields have no room for, parts of a nanosecond included.
    let rest = nsec % 1000;
    let part = zakuro_core_system::time::get(cx, v)?.rest.clone();
    if rest != 0 || part.is_some() {
        let (num, den) = match part.map(|p| *p) {
            None => (Value::fixnum(rest), Value::fixnum(1)),
            Some((num, den)) => (cx.big(num + rest * &den), cx.big(den)),
        };
        cx.ivar_set_raw(s, Sym::intern("nano_num"), num);
        cx.ivar_set_raw(s, Sym::intern("nano_den"), den);
    }
    if rest != 0 {
        // The same digits, two to a byte, for readers of old.
        let digits = [((rest / 100) << 4) | (rest / 10 % 10), (rest % 10) << 4].map(|b| b as u8);
        let submicro = cx.str_bytes(if digits[1] == 0 { &digits[..1] } else { &digits }, BINARY);
        cx.ivar_set_raw(s, Sym::intern("submicro"), submicro);
    }
    if !is_utc {
        let offset = cx.call(v, Sym::intern("utc_offset"), &[])?;
        cx.ivar_set_raw(s, Sym::intern("offset"), offset);
    }
    let zone = cx.call(v, Sym::intern("zone"), &[])?;
    let zone = match Ref::<StringCell>::from_value(zone) {
        Some(z) if z.is_ascii() => {
            let bytes = z.to_vec();
            cx.str_bytes(&bytes, US_ASCII)
        }
        // A time zone object goes by its name.
        None if !zone.is_nil() => cx.call(zone, Sym::intern("name"), &[])?,
        _ => zone,
    };
    cx.ivar_set_raw(s, Sym::intern("zone"), zone);
    Ok(s)
}

/// Days since 1970-01-01 of a date (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms").
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let yoe = y - era * 400;
    let doy = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719_468
}

/// The Time (of `class`) that a String stands for.
pub fn load(cx: &mut Cx, class: Value, data: Value) -> Result<Value> {
    let s = cx.to_str(data)?;
    let (Some(high), Some(low)) = (word(&cx.heap, s, 0), word(&cx.heap, s, 4)) else { return cx.type_error("marshaled time format differ") };
    if high >> 31 == 0 {
        return cx.call(class, Sym::intern("at"), &[Value::fixnum(high), Value::fixnum(low)]);
    }
    // A month beyond December is one of the next year.
    let month = high >> 10 & 0xf;
    let (mut year, mut eras) = (FIRST_YEAR + (high >> 14 & 0xffff), BigInt::ZERO);
    if s.len() > 8 {
        let Some(beyond) = beyond(&cx.heap, s) else { return cx.type_error("marshaled time format differ") };
        let far = (if year == FIRST_YEAR { -beyond } else { beyond }) + year;
        let (whole, of_era) = far.div_mod_floor(&ERA_YEARS.into());
        (year, eras) = (of_era.to_i64().unwrap_or(0), whole);
    }
    let days = days_from_civil(year + month / 12, month % 12 + 1, high >> 5 & 0x1f);
    let seconds = days * 86_400 + (high & 0x1f) * 3600 + (low >> 26 & 0x3f) * 60 + (low >> 20 & 0x3f);
    let seconds = cx.big(eras * ERA_SECONDS + seconds);
    let mut nsec = Value::fixnum((low & 0xf_ffff) * 1000);
    let num = cx.ivar_get(data, Sym::intern("nano_num"));
    let den = cx.ivar_get(data, Sym::intern("nano_den"));
    let submicro = cx.ivar_get(data, Sym::intern("submicro"));
    if num.is_fixnum() && den == Value::fixnum(1) && (0..1000).contains(&num.fix()) {
        nsec = Value::fixnum(nsec.fix() + num.fix());
    } else if cx.is_integer(num) && cx.is_integer(den) && den != Value::fixnum(0) {
        let rest = cx.call(num, Sym::intern("quo"), &[den])?;
        nsec = cx.call(rest, Sym::intern("+"), &[nsec])?;
    } else if let Some(digits) = Ref::<StringCell>::from_value(submicro) {
        nsec = Value::fixnum(nsec.fix() + below_micro(digits.content(&cx.heap)));
    }
    let unit = Value::sym(Sym::intern("nsec"));
    let t = cx.call(class, Sym::intern("at"), &[seconds, nsec, unit])?;
    if high >> 30 & 1 == 1 {
        cx.call(t, Sym::intern("utc"), &[])?;
    } else {
        let offset = cx.ivar_get(data, Sym::intern("offset"));
        if cx.is_integer(offset) || offset.is_kind(Kind::Rational) {
            cx.call(t, Sym::intern("localtime"), &[offset])?;
        }
        let name = cx.ivar_get(data, Sym::intern("zone"));
        // No zone has a NUL in its name.
        if Ref::<StringCell>::from_value(name).is_some_and(|n| !n.content(&cx.heap).contains(&0))
            && let Some(class) = cx.class_id(class)
        {
            // A class that does not know the name leaves it a name.
            let found = cx.rescue(&[ids::STANDARD_ERROR], |cx| zakuro_core_system::time::zone::named(cx, class, name))?;
            let zone = found.ok().flatten().unwrap_or(name);
            zakuro_core_system::time::zone::set_object(cx, t, zone);
        }
    }
    for (name, value) in cx.ivar_list(data).iter().filter(|(n, _)| Cx::is_ivar_name(*n)) {
        cx.ivar_set_raw(t, name, value);
    }
    Ok(t)
}

/// Nanoseconds of the digits behind the microseconds, two to a byte; none when one is no digit.
fn below_micro(bytes: &[u8]) -> i64 {
    let digits = bytes.iter().flat_map(|b| [b >> 4, b & 0xf]).zip([100, 10, 1]);
    let sum = digits.map(|(digit, worth)| (digit < 10).then_some(i64::from(digit) * worth)).sum::<Option<i64>>();
    sum.unwrap_or(0)
}

/// Years before the first or after the last one, which stand behind the fields; None: nonsense, or too many.
fn beyond(heap: &Heap, s: Ref<StringCell>) -> Option<BigInt> {
    let (length, digits) = s.content(heap).get(8..)?.split_first()?;
    let n = usize::from(length.checked_sub(5)?);
    let digits = digits.get(..n).filter(|_| n <= MOST_DIGITS)?;
    Some(BigInt::from_bytes_le(Sign::Plus, digits))
}

fn word(heap: &Heap, s: Ref<StringCell>, at: usize) -> Option<i64> {
    let b: [u8; 4] = s.content(heap).get(at..at + 4)?.try_into().ok()?;
    Some(i64::from(u32::from_le_bytes(b)))
}

#[ruby_class(ids::TIME)]
pub mod times {
    use super::*;

    /// What Marshal writes of the time.
    #[method("_dump", private)]
    fn dump_(cx: &mut Cx, this: Value, _limit: Option<Value>) -> Result<Value> {
        dump(cx, this)
    }

    /// The time that Marshal wrote.
    #[method("_load", singleton, private)]
    fn load_(cx: &mut Cx, this: Value, data: Value) -> Result<Value> {
        load(cx, this, data)
    }
}
