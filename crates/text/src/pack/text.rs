//! Bytes as text for mail and the like: base64 (`m`), uuencode (`u`), quoted-printable (`M`), both ways.

use super::{PackError, argument};
use zakuro_base::progress::{Pace, Progress, Stopped, step};

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(super) fn base64(s: &[u8], out: &mut Vec<u8>) {
    for c in s.chunks(3) {
        let v = (c[0] as u32) << 16 | (*c.get(1).unwrap_or(&0) as u32) << 8 | *c.get(2).unwrap_or(&0) as u32;
        for i in 0..4 {
            out.push(if i <= c.len() { BASE64[(v >> (18 - 6 * i) & 63) as usize] } else { b'=' });
        }
    }
}

pub(super) fn uuencode(line: &[u8], out: &mut Vec<u8>) {
    let letter = |v: u32| if v & 63 == 0 { b'`' } else { b' ' + (v & 63) as u8 };
    out.push(letter(line.len() as u32));
    for c in line.chunks(3) {
        let v = (c[0] as u32) << 16 | (*c.get(1).unwrap_or(&0) as u32) << 8 | *c.get(2).unwrap_or(&0) as u32;
        (0..4).for_each(|i| out.push(letter(v >> (18 - 6 * i))));
    }
    out.push(b'\n');
}

pub(super) fn quoted_printable<E>(
    s: &[u8],
    width: usize,
    out: &mut Vec<u8>,
    mut pause: impl FnMut(usize) -> Result<(), E>,
) -> Result<(), E> {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut column = 0;
    let mut prev = 0u8;
    for (at, &b) in s.iter().enumerate() {
        pause(at)?;
        if b > 126 || (b < 32 && b != b'\n' && b != b'\t') || b == b'=' {
            out.extend([b'=', HEX[usize::from(b >> 4)], HEX[usize::from(b & 15)]]);
            column += 3;
            prev = 0;
        } else if b == b'\n' {
            if prev == b' ' || prev == b'\t' {
                // White space before a line's end would be lost.
                out.extend_from_slice(b"=\n");
            }
            out.push(b'\n');
            column = 0;
            prev = b'\n';
        } else {
            out.push(b);
            column += 1;
            prev = b;
        }
        if column > width {
            out.extend_from_slice(b"=\n");
            column = 0;
            prev = b'\n';
        }
    }
    if column > 0 {
        out.extend_from_slice(b"=\n");
    }
    Ok(())
}

fn base64_value(b: u8) -> Option<u32> {
    Some(BASE64_VALUES[b as usize]).filter(|v| *v != NO_DIGIT).map(u32::from)
}

/// A byte that is no digit of base 64; digits have none of its bits.
const NO_DIGIT: u8 = 0x80;

/// What each byte counts as a digit of base 64.
static BASE64_VALUES: [u8; 256] = {
    let mut all = [NO_DIGIT; 256];
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut i = 0;
    while i < digits.len() {
        all[digits[i] as usize] = i as u8;
        i += 1;
    }
    all
};

pub(super) fn from_base64(s: &[u8], strict: bool, p: &mut dyn Progress) -> Result<Vec<u8>, PackError> {
    let mut out = Vec::with_capacity(s.len() / 4 * 3);
    let bad = || argument("invalid base64");
    if strict {
        if !s.len().is_multiple_of(4) {
            return Err(bad());
        }
        let (whole, last) = s.split_at(s.len().saturating_sub(4));
        out.resize(whole.len() / 4 * 3, 0);
        for (i, (q, o)) in whole.chunks_exact(4).zip(out.chunks_exact_mut(3)).enumerate() {
            step(i, p)?;
            let [a, b, c, d] = [q[0], q[1], q[2], q[3]].map(|b| BASE64_VALUES[b as usize]);
            if (a | b | c | d) & NO_DIGIT != 0 {
                return Err(bad());
            }
            let v = (a as u32) << 18 | (b as u32) << 12 | (c as u32) << 6 | d as u32;
            o.copy_from_slice(&v.to_be_bytes()[1..]);
        }
        for q in last.chunks(4) {
            let padding = q.iter().rev().take_while(|&&b| b == b'=').count();
            if padding > 2 {
                return Err(bad());
            }
            let mut v = 0;
            for &b in &q[..4 - padding] {
                v = v << 6 | base64_value(b).ok_or_else(bad)?;
            }
            v <<= 6 * padding;
            // The bits that padding leaves over must be zero.
            if v & ((1 << (8 * padding)) - 1) != 0 {
                return Err(bad());
            }
            out.extend_from_slice(&v.to_be_bytes()[1..4 - padding]);
        }
        return Ok(out);
    }
    let (mut v, mut n) = (0u32, 0);
    for (at, &b) in s.iter().enumerate() {
        step(at, p)?;
        if b == b'=' && n >= 2 {
            break;
        }
        let Some(d) = base64_value(b) else { continue };
        v = v << 6 | d;
        n += 1;
        if n == 4 {
            out.extend_from_slice(&v.to_be_bytes()[1..]);
            (v, n) = (0, 0);
        }
    }
    match n {
        2 => out.push((v >> 4) as u8),
        3 => out.extend_from_slice(&[(v >> 10) as u8, (v >> 2) as u8]),
        _ => {}
    }
    Ok(out)
}

pub(super) fn from_uu(s: &[u8], at: &mut usize, p: &mut dyn Progress) -> Result<Vec<u8>, Stopped> {
    let mut out = Vec::new();
    let mut pace = Pace::new();
    // No more than the text has room for; what is missing in a line counts as zeros.
    let room = s.len().saturating_sub(*at) * 3 / 4;
    while let Some(&first) = s.get(*at).filter(|b| (b'!'..b'a').contains(b)) {
        pace.at(*at, p)?;
        let mut left = (first.wrapping_sub(b' ') & 63) as usize;
        left = left.min(room - out.len());
        *at += 1;
        while left > 0 {
            let mut v = 0u32;
            for _ in 0..4 {
                let b = s.get(*at).copied().filter(|b| (b' '..b'a').contains(b));
                *at += b.is_some() as usize;
                v = v << 6 | (b.unwrap_or(b' ').wrapping_sub(b' ') & 63) as u32;
            }
            let n = left.min(3);
            out.extend_from_slice(&v.to_be_bytes()[1..1 + n]);
            left -= n;
        }
        // A check character may stand before the line's end.
        if s.get(*at).is_some_and(|b| !matches!(b, b'\r' | b'\n')) {
            *at += 1;
        }
        if s.get(*at) == Some(&b'\r') {
            *at += 1;
        }
        if s.get(*at) == Some(&b'\n') {
            *at += 1;
        }
    }
    Ok(out)
}

pub(super) fn from_quoted_printable(s: &[u8], p: &mut dyn Progress) -> Result<Vec<u8>, Stopped> {
    let mut out = Vec::with_capacity(s.len());
    let mut i = 0;
    let mut pace = Pace::new();
    while i < s.len() {
        pace.at(i, p)?;
        if s[i] != b'=' {
            out.push(s[i]);
            i += 1;
            continue;
        }
        match (s.get(i + 1), s.get(i + 2)) {
            (Some(b'\n'), _) => i += 2,
            (Some(b'\r'), Some(b'\n')) => i += 3,
            (Some(&a), Some(&b)) if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => {
                let digit = |c: u8| (c as char).to_digit(16).unwrap_or(0) as u8;
                out.push(digit(a) << 4 | digit(b));
                i += 3;
            }
            _ => {
                // What isn't an escape ends the decoding; the rest stays as it is.
                out.extend_from_slice(&s[i..]);
                break;
            }
        }
    }
    Ok(out)
}
