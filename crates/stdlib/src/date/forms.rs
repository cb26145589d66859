//! The strict forms as they are usually written: a date with four digits of the year, then perhaps a time of day with a zone, and nothing around it.
//! Whatever looks otherwise, right or wrong, is for the regular expressions in `ruby/date_parse.rb`.

use super::elements::{Elements, Key};
use super::strptime::{DAYS, MONTHS, fraction, name_at};
use super::zone;
use zakuro_vm::*;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Iso8601,
    Rfc3339,
    Xmlschema,
    Rfc2822,
    Httpdate,
    /// What `Date._parse` finds in texts that look like ISO 8601.
    Any,
}

struct Cursor<'a> {
    s: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn number(&mut self, digits: usize) -> Option<i64> {
        let run = self.s.get(self.at..self.at + digits)?;
        self.at += digits;
        run.iter().try_fold(0, |n, d| d.is_ascii_digit().then(|| n * 10 + i64::from(d - b'0')))
    }
    fn eat(&mut self, any: &[u8]) -> Option<u8> {
        let b = *self.s.get(self.at)?;
        any.contains(&b).then(|| {
            self.at += 1;
            b
        })
    }
    fn name(&mut self, names: &[&[u8]]) -> Option<i64> {
        let (i, _) = name_at(self.s.get(self.at..self.at + 3)?, names)?;
        self.at += 3;
        Some(i)
    }
    fn digits(&mut self) -> Option<&'a [u8]> {
        let rest = &self.s[self.at..];
        let n = rest.iter().position(|b| !b.is_ascii_digit()).unwrap_or(rest.len());
        self.at += n;
        (n > 0).then(|| &rest[..n])
    }
    fn end(&self) -> Option<()> {
        (self.at == self.s.len()).then_some(())
    }
}

/// What was found, before values are made of it.
#[derive(Default)]
struct Found<'a> {
    wday: Option<i64>,
    date: (i64, i64, i64),
    hour: Option<i64>,
    min: Option<i64>,
    sec: Option<i64>,
    fraction: Option<&'a [u8]>,
    zone: Option<&'a [u8]>,
}

/// `2001-02-03T04:05:06.7+08:00`, of which forms allow the end to be missing.
fn iso<'a>(form: Form, s: &'a [u8]) -> Option<Found<'a>> {
    let mut c = Cursor { s, at: 0 };
    let mut found = Found::default();
    found.date.0 = c.number(4)?;
    c.eat(b"-")?;
    found.date.1 = c.number(2)?;
    c.eat(b"-")?;
    found.date.2 = c.number(2)?;
    if c.end().is_some() {
        return (form != Form::Rfc3339).then_some(found);
    }
    c.eat(if let Form::Xmlschema | Form::Iso8601 = form { b"Tt" } else { b"Tt " })?;
    found.hour = Some(c.number(2)?);
    c.eat(b":")?;
    found.min = Some(c.number(2)?);
    c.eat(b":")?;
    found.sec = Some(c.number(2)?);
    if c.eat(b".").is_some() {
        found.fraction = Some(c.digits()?);
    }
    // As Time#to_s and #inspect write it: the zone by itself, without a colon.
    let apart = form == Form::Any && c.eat(b" ").is_some();
    let from = c.at;
    if apart && s[from..].eq_ignore_ascii_case(b"utc") {
        found.zone = Some(&s[from..]);
        return Some(found);
    }
    match c.eat(b"Zz+-") {
        None if apart => return None,
        None if form == Form::Rfc3339 => return None,
        None => {}
        Some(sign) => {
            if let b'+' | b'-' = sign {
                c.number(2)?;
                if c.eat(b":").is_none() && form != Form::Any {
                    return None;
                }
                c.number(2)?;
            }
            found.zone = Some(&s[from..c.at]);
        }
    }
    c.end()?;
    Some(found)
}

/// `Sat, 3 Feb 2001 04:05:06 +0000`
fn mail<'a>(form: Form, s: &'a [u8]) -> Option<Found<'a>> {
    let mut c = Cursor { s, at: 0 };
    let mut found = Found { wday: Some(c.name(&DAYS)?), ..Found::default() };
    c.eat(b",")?;
    c.eat(b" ")?;
    found.date.2 = if form == Form::Rfc2822 && !s.get(c.at + 1)?.is_ascii_digit() { c.number(1)? } else { c.number(2)? };
    c.eat(b" ")?;
    found.date.1 = c.name(&MONTHS)? + 1;
    c.eat(b" ")?;
    found.date.0 = c.number(4)?;
    c.eat(b" ")?;
    found.hour = Some(c.number(2)?);
    c.eat(b":")?;
    found.min = Some(c.number(2)?);
    c.eat(b":")?;
    found.sec = Some(c.number(2)?);
    c.eat(b" ")?;
    let zone = &s[c.at..];
    let known = match zone {
        [b'+' | b'-', rest @ ..] if form == Form::Rfc2822 => rest.len() == 4 && rest.iter().all(u8::is_ascii_digit),
        _ => zone.eq_ignore_ascii_case(b"gmt"),
    };
    found.zone = Some(zone);
    known.then_some(found)
}

/// Elements of a text in everyday's form, in the order in which each form has them.
pub fn scan(cx: &mut Cx, form: Form, s: &[u8], encoding: u8) -> Result<Option<Elements>> {
    let found = match form {
        Form::Rfc2822 | Form::Httpdate => mail(form, s),
        _ => iso(form, s),
    };
    let Some(found) = found else { return Ok(None) };
    let mut e = Elements::new();
    let zone = match found.zone {
        None => None,
        Some(z) => {
            let text = cx.str_bytes(z, encoding);
            Some((text, zone::offset(cx, z, text)?))
        }
    };
    let (y, m, d) = found.date;
    let date = match form {
        Form::Rfc2822 | Form::Httpdate => [(Key::Mday, d), (Key::Mon, m), (Key::Year, y)],
        Form::Iso8601 => [(Key::Mday, d), (Key::Year, y), (Key::Mon, m)],
        _ => [(Key::Year, y), (Key::Mon, m), (Key::Mday, d)],
    };
    let set_date = |e: &mut Elements| date.iter().for_each(|(k, n)| e.set_int(*k, *n));
    if let Some(w) = found.wday {
        e.set_int(Key::Wday, w);
    }
    if form != Form::Any {
        set_date(&mut e);
    } else if let Some((z, _)) = zone {
        e.set(Key::Zone, z);
    }
    for (key, n) in [(Key::Hour, found.hour), (Key::Min, found.min), (Key::Sec, found.sec)] {
        if let Some(n) = n {
            e.set_int(key, n);
        }
    }
    let part = match found.fraction {
        None => None,
        Some(f) => Some(fraction(cx, f, false)?),
    };
    if let Some(f) = part
        && form != Form::Rfc3339
    {
        e.set(Key::SecFraction, f);
    }
    if form == Form::Any {
        set_date(&mut e);
    }
    if let Some((z, offset)) = zone {
        e.set(Key::Zone, z);
        e.set(Key::Offset, offset);
    }
    if let Some(f) = part {
        e.set(Key::SecFraction, f);
    }
    Ok(Some(e))
}
