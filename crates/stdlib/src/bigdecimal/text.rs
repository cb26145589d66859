//! Decimal numbers as text.

use super::num::{Num, Rules};
use zakuro_text::big::{self, Progress, Result, step};

/// Reads a number as `BigDecimal("...")` does, or (not strict) what stands at the beginning. None: no number.
pub fn parse(text: &str, strict: bool, rules: &mut Rules, p: &mut dyn Progress) -> Result<Option<Num>> {
    let space = |c: char| c.is_ascii_whitespace() || c == '\x0b';
    let s = text.trim_start_matches(space);
    for (name, n) in [
        ("Infinity", Num::Infinite { neg: false }),
        ("+Infinity", Num::Infinite { neg: false }),
        ("-Infinity", Num::Infinite { neg: true }),
        ("NaN", Num::NaN),
    ] {
        if s.strip_prefix(name).is_some_and(|rest| rest.trim_start_matches(space).is_empty()) {
            return Ok(Some(n));
        }
    }
    let mut reader = Reader { rest: s.as_bytes(), strict, broken: false };
    let neg = reader.sign();
    let whole = reader.digits(true, p)?;
    let mut fraction = Vec::new();
    if reader.next_is(b".") {
        fraction = reader.digits(false, p)?;
    }
    let (mut exp, mut has_exp, mut exp_neg) = (Vec::new(), false, false);
    if reader.next_is(b"eEdD") {
        has_exp = true;
        exp_neg = reader.sign();
        exp = reader.digits(false, p)?;
    }
    let left = reader.rest.iter().any(|b| !space(char::from(*b)));
    if strict && (reader.broken || left || whole.is_empty() && fraction.is_empty() || has_exp && exp.is_empty()) {
        return Ok(None);
    }
    let scale = fraction.len() as i128;
    let mut all = whole;
    all.extend_from_slice(&fraction);
    let digits = zakuro_text::int::from_digits(&all, 10, false, p)?.to_big().magnitude().clone();
    // An exponent of many digits is beyond every bound.
    let exp = std::str::from_utf8(&exp).ok().filter(|e| !e.is_empty()).map_or(Some(0), |e| e.parse::<i128>().ok()).unwrap_or(i128::MAX / 4);
    Ok(Some(rules.number(neg, digits, if exp_neg { -exp } else { exp } - scale, p)?))
}

struct Reader<'a> {
    rest: &'a [u8],
    strict: bool,
    /// An underscore stands where none may.
    broken: bool,
}
impl Reader<'_> {
    fn next_is(&mut self, set: &[u8]) -> bool {
        let is = self.rest.first().is_some_and(|b| set.contains(b)) && !self.broken;
        if is {
            self.rest = &self.rest[1..];
        }
        is
    }
    fn sign(&mut self) -> bool {
        let neg = self.rest.first() == Some(&b'-');
        self.next_is(b"+-");
        neg
    }
    fn digits(&mut self, whole: bool, p: &mut dyn Progress) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        while let Some(b) = self.rest.first().copied() {
            step(self.rest.len(), p)?;
            if b == b'_' {
                let next = self.rest.get(1).copied();
                let end = whole && next.is_none_or(|n| n.is_ascii_whitespace());
                if out.is_empty() || !end && !next.is_some_and(|n| n.is_ascii_digit()) {
                    self.broken = true;
                    if !self.strict {
                        self.rest = &[];
                    }
                    break;
                }
            } else if b.is_ascii_digit() {
                out.push(b);
            } else {
                break;
            }
            self.rest = &self.rest[1..];
        }
        Ok(out)
    }
}

/// How `to_s` writes.
#[derive(Default, Clone, Copy)]
pub struct Format {
    /// With a point, without exponent.
    pub plain: bool,
    /// What stands before numbers that aren't negative.
    pub plus: Option<char>,
    /// Digits in a group; 0: no groups.
    pub group: usize,
}

/// None: too many digits.
pub fn format(n: &Num, f: Format, p: &mut dyn Progress) -> Result<Option<String>> {
    let mut out = String::new();
    match n {
        Num::NaN => return Ok(Some("NaN".into())),
        _ if n.is_negative() => out.push('-'),
        _ => out.extend(f.plus),
    }
    let (digits, exp) = match n {
        Num::Finite { digits, exp, .. } => (big::to_text(&digits.clone().into(), 10, p)?, *exp),
        Num::Infinite { .. } => return Ok(Some(out + "Infinity")),
        _ => return Ok(Some(out + "0.0")),
    };
    if !f.plain {
        out.push_str("0.");
        group_left(&mut out, digits.as_bytes(), f.group);
        out.push_str(&format!("e{}", n.exponent()));
        return Ok(Some(out));
    }
    let top = n.exponent();
    if top.unsigned_abs().max(exp.unsigned_abs()) > 500_000_000 {
        return Ok(None);
    }
    let (whole, fraction) = if top <= 0 {
        ("0".to_string(), zeros(top.unsigned_abs() as usize) + &digits)
    } else if exp >= 0 {
        (digits + &zeros(exp as usize), "0".to_string())
    } else {
        let (w, f) = digits.split_at(top as usize);
        (w.to_string(), f.to_string())
    };
    if f.group > 0 {
        // The groups of the integer part end at the point.
        let first = whole.len() % f.group;
        if first > 0 {
            out.push_str(&whole[..first]);
            if whole.len() > first {
                out.push(' ');
            }
        }
        group_left(&mut out, &whole.as_bytes()[first..], f.group);
    } else {
        out.push_str(&whole);
    }
    out.push('.');
    group_left(&mut out, fraction.as_bytes(), f.group);
    Ok(Some(out))
}

fn group_left(out: &mut String, digits: &[u8], group: usize) {
    for (i, d) in digits.iter().enumerate() {
        if group > 0 && i > 0 && i % group == 0 {
            out.push(' ');
        }
        out.push(char::from(*d));
    }
}

fn zeros(n: usize) -> String {
    let mut out = zakuro_base::memory::with_room(n);
    out.resize(n, b'0');
    String::from_utf8(out).unwrap_or_default()
}
