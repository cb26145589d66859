//! Zones as texts have them: where one ends, and what offset it means.

use super::strptime::run;
use zakuro_vm::*;

fn has(s: &[u8], at: usize, word: &[u8]) -> bool {
    s.get(at..at + word.len()).is_some_and(|w| w.eq_ignore_ascii_case(word))
}

fn letter(s: &[u8], at: usize) -> bool {
    s.get(at).is_some_and(u8::is_ascii_alphabetic)
}

/// No word goes on behind a place that is in or behind one.
fn ends_word(s: &[u8], at: usize) -> bool {
    !s.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_')
}

fn space(b: u8) -> bool {
    matches!(b, b' ' | b'\t'..=b'\r')
}

/// Where the zone that begins at a place ends: an offset, words before "standard time" or "daylight time", or one word with or without "dst".
pub fn end(s: &[u8], at: usize, cx: &mut Cx) -> Result<Option<usize>> {
    let signed = [&b"gmt"[..], b"utc", b"ut", b""].into_iter().find(|p| has(s, at, p) && matches!(s.get(at + p.len()), Some(b'-' | b'+')));
    if let Some(prefix) = signed {
        let digit = |b: u8| b.is_ascii_digit();
        let from = at + prefix.len() + 1;
        let mut to = run(s, from, usize::MAX, digit, cx)?;
        if to > from {
            if let Some(b',' | b'.' | b':') = s.get(to) {
                let minutes = run(s, to + 1, usize::MAX, digit, cx)?;
                if minutes > to + 1 {
                    to = minutes;
                    if s.get(to) == Some(&b':') {
                        let seconds = run(s, to + 1, usize::MAX, digit, cx)?;
                        to = if seconds > to + 1 { seconds } else { to };
                    }
                }
            }
            return Ok(Some(to));
        }
    }
    // Words, points and spaces; where the first word ends.
    let (mut to, mut word) = (at, None);
    let mut pace = zakuro_base::progress::Pace::new();
    loop {
        pace.at(to, cx)?;
        match s.get(to) {
            Some(b) if space(*b) || *b == b'.' => {
                word = word.or(Some(to));
                to += 1;
            }
            _ if letter(s, to) => to += 1,
            _ => break,
        }
    }
    let first = word.unwrap_or(to);
    // The last "standard time" counts.
    let mut from = to.saturating_sub("standard time".len());
    while from > at {
        pace.at(to - from, cx)?;
        for name in [&b"standard"[..], b"daylight"] {
            if space(s[from - 1]) && has(s, from, name) {
                let gap = from + name.len();
                let time = run(s, gap, usize::MAX, space, cx)?;
                if time > gap && has(s, time, b"time") && ends_word(s, time + 4) {
                    return Ok(Some(time + 4));
                }
            }
        }
        from -= 1;
    }
    if first == at || !ends_word(s, first) {
        return Ok(None);
    }
    let gap = run(s, first, usize::MAX, space, cx)?;
    let dst = gap > first && has(s, gap, b"dst") && ends_word(s, gap + 3);
    Ok(Some(if dst { gap + 3 } else { first }))
}

/// Seconds east of Greenwich of everyday's zones.
fn known(s: &[u8]) -> Option<i64> {
    let mut name = [0; 3];
    if s.len() <= 3 && s.iter().all(u8::is_ascii_alphabetic) {
        for (to, from) in name.iter_mut().zip(s) {
            *to = from.to_ascii_lowercase();
        }
        return Some(match &name[..s.len()] {
            b"z" | b"ut" | b"utc" | b"gmt" => 0,
            b"edt" => -4 * 3600,
            b"est" | b"cdt" => -5 * 3600,
            b"cst" | b"mdt" => -6 * 3600,
            b"mst" | b"pdt" => -7 * 3600,
            b"pst" => -8 * 3600,
            b"jst" => 9 * 3600,
            b"cet" => 3600,
            _ => return None,
        });
    }
    let prefix = [&b"gmt"[..], b"utc", b""].into_iter().find(|p| has(s, 0, p))?;
    let negative = match s.get(prefix.len())? {
        b'-' => true,
        b'+' => false,
        _ => return None,
    };
    let rest = &s[prefix.len() + 1..];
    let two = |t: &[u8]| match t {
        [d @ b'0'..=b'9'] => Some(i64::from(d - b'0')),
        [a @ b'0'..=b'9', b @ b'0'..=b'9'] => Some(i64::from(a - b'0') * 10 + i64::from(b - b'0')),
        _ => None,
    };
    let total = match rest.len() {
        2 => two(rest)? * 3600,
        4 if !rest.contains(&b':') => two(&rest[..2])? * 3600 + two(&rest[2..])? * 60,
        5 if rest[2] == b':' => {
            let (h, m) = (two(&rest[..2])?, two(&rest[3..])?);
            if h > 23 || m > 59 {
                return None;
            }
            h * 3600 + m * 60
        }
        _ => return None,
    };
    Some(if negative { -total } else { total })
}

/// Seconds east of Greenwich, an Integer or Rational, or nil. `text` is the same as a String.
pub fn offset(cx: &mut Cx, s: &[u8], text: Value) -> Result<Value> {
    match known(s) {
        Some(n) => Ok(Value::fixnum(n)),
        None => {
            let date = super::date_class(cx)?;
            cx.call(date, Sym::intern("__zone_to_diff"), &[text])
        }
    }
}
