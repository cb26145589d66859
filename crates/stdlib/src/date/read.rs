//! Dates of numbers and texts, where both are everyday's; the rest goes on to Ruby.

use super::calendar::{self, ITALY, is_near};
use super::elements::Elements;
use super::forms::{self, Form};
use super::moment::{Moment, Near};
use super::{date_time_id, near, start_of, strptime, zone};
use zakuro_vm::held::Held;
use zakuro_vm::*;

/// `DateTime.civil` of Integers that are a moment of everyday; None: Ruby looks closer.
pub fn moment_of_integers(cx: &mut Cx, args: Args) -> Result<Option<Near>> {
    if args.kw || args.len() > 7 {
        return Ok(None);
    }
    let mut n = [-4712, 1, 1, 0, 0, 0];
    for (i, n) in n.iter_mut().enumerate() {
        if let Some(v) = args.get(i) {
            let Some(v) = near(v) else { return Ok(None) };
            *n = v;
        }
    }
    let of = match args.get(6) {
        None => 0,
        Some(v) => match Ref::<StringCell>::from_value(v) {
            Some(s) => match zone::offset(cx, &Held::of(s), v)?.as_fixnum() {
                Some(n) => n,
                None => return Ok(None),
            },
            None if v == Value::fixnum(0) => 0,
            None => return Ok(None),
        },
    };
    let [y, m, d, h, min, s] = n;
    let (h, min, s) = (h + if h < 0 { 24 } else { 0 }, min + if min < 0 { 60 } else { 0 }, s + if s < 0 { 60 } else { 0 });
    if !(0..24).contains(&h) || !(0..60).contains(&min) || !(0..60).contains(&s) || of.abs() > 86400 {
        return Ok(None);
    }
    Ok(calendar::valid_civil(y, m, d, ITALY).and_then(|jd| Near::at(jd, h * 3600 + min * 60 + s, 0, of as i32, ITALY)))
}

/// Makes a Date (or DateTime) of what a text told, when that is everyday's.
pub fn of_elements(cx: &mut Cx, class: ClassId, e: &Elements, start: f64) -> Result<Option<Value>> {
    let date_time = date_time_id(cx)?;
    let n = if class == date_time || cx.inherits(class, date_time) {
        e.moment(start)
    } else {
        e.day(start).filter(|jd| is_near(*jd)).map(|jd| Near::of_day(jd, start))
    };
    Ok(n.map(|n| cx.data(class, Moment::from(n))))
}

/// The elements of a text in everyday's form, when nothing is given that says how; None: Ruby looks closer.
fn form_elements(cx: &mut Cx, args: &Args, form: Form) -> Result<Option<Elements>> {
    // Whether years of two digits are of this age (`comp`) says nothing of those of four.
    let most = if form == Form::Any { 2 } else { 1 };
    let Some(s) = args.get(0).and_then(Ref::<StringCell>::from_value).filter(|_| args.len() <= most) else { return Ok(None) };
    // Longer ones are refused.
    if args.kw || s.len() > 128 || !crate::args::encoding_of(s.encoding()).is_ascii_compatible() {
        return Ok(None);
    }
    forms::scan(cx, form, &Held::of(s), s.encoding())
}
pub fn hash_of_form(cx: &mut Cx, this: Value, args: Args, form: Form, else_: &str) -> Result<Value> {
    match form_elements(cx, &args, form)? {
        Some(e) => e.hash(cx),
        None => cx.forward(this, Sym::intern(else_), args),
    }
}
pub fn of_form(cx: &mut Cx, this: Value, args: Args, form: Form, else_: &str) -> Result<Value> {
    if let Some(e) = form_elements(cx, &args, form)? {
        let class = ClassId::from_value(cx, this)?;
        if let Some(v) = of_elements(cx, class, &e, ITALY)? {
            return Ok(v);
        }
    }
    cx.forward(this, Sym::intern(else_), args)
}

fn read_strptime(cx: &mut Cx, s: Value, format: Option<Value>, default: &[u8]) -> Result<Option<Elements>> {
    let ascii_based = |cx: &mut Cx, s: Ref<StringCell>, what: &str| match crate::args::encoding_of(s.encoding()).is_ascii_compatible() {
        true => Ok(()),
        false => cx.arg_error(format!("{what} should have ASCII compatible encoding")),
    };
    let s = cx.to_str(s)?;
    ascii_based(cx, s, "string")?;
    match format {
        None => strptime::strptime(cx, s, default),
        Some(f) => {
            let f = cx.to_str(f)?;
            ascii_based(cx, f, "format")?;
            strptime::strptime(cx, s, &Held::of(f))
        }
    }
}
pub fn strptime_hash(cx: &mut Cx, s: Value, format: Option<Value>, default: &[u8]) -> Result<Value> {
    match read_strptime(cx, s, format, default)? {
        Some(e) => e.hash(cx),
        None => Ok(Value::NIL),
    }
}
pub fn strptime_date(cx: &mut Cx, this: Value, args: &[Option<Value>; 3], defaults: [&str; 2]) -> Result<Value> {
    let class = ClassId::from_value(cx, this)?;
    let s = args[0].unwrap_or_else(|| cx.str(defaults[0]));
    let found = read_strptime(cx, s, args[1], defaults[1].as_bytes())?;
    let start = start_of(cx, args[2])?;
    let elements = match found {
        None => Value::NIL,
        Some(e) => match of_elements(cx, class, &e, start)? {
            Some(v) => return Ok(v),
            None => e.hash(cx)?,
        },
    };
    let start = cx.float(start);
    cx.call_private(this, Sym::intern("__date"), &[elements, start])
}
