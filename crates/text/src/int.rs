//! Integers from and to text in any radix, as `String#to_i`, `Integer()` and `Integer#to_s`.
//!
//! Small results never touch the big number code; long text is read and written by [`crate::big`].
//! Rejected: handing cleaned text to `BigInt::parse_bytes` always (it is quadratic).

use crate::big;
use num_bigint::{BigInt, Sign};
use num_traits::ToPrimitive;
use zakuro_base::progress::{Progress, Stopped, step};

/// An integer of any size; `Small` whenever it fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Int {
    Small(i64),
    Big(BigInt),
}

impl Int {
    /// Small when it fits.
    pub fn from_big(b: BigInt) -> Int {
        match b.to_i64() {
            Some(i) => Int::Small(i),
            None => Int::Big(b),
        }
    }

    pub fn to_big(&self) -> BigInt {
        match self {
            Int::Small(i) => BigInt::from(*i),
            Int::Big(b) => b.clone(),
        }
    }

    pub fn is_negative(&self) -> bool {
        match self {
            Int::Small(i) => *i < 0,
            Int::Big(b) => b.sign() == Sign::Minus,
        }
    }
}

/// Why `Integer(str, base)` refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntError {
    /// ArgumentError `invalid value for Integer(): "..."`
    Invalid,
    /// ArgumentError `invalid radix N`
    Radix,
    /// Left on the way.
    Stopped,
}

impl From<Stopped> for IntError {
    fn from(_: Stopped) -> IntError {
        IntError::Stopped
    }
}

fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t'..=b'\r')
}

fn digit(b: u8) -> u32 {
    match b {
        b'0'..=b'9' => (b - b'0') as u32,
        b'a'..=b'z' => (b - b'a') as u32 + 10,
        b'A'..=b'Z' => (b - b'A') as u32 + 10,
        _ => 99,
    }
}

/// `String#to_i(base)`: the longest valid prefix, 0 when there is none. `base` 0 reads the radix from the prefix.
pub fn parse_prefix(s: &[u8], base: i32, p: &mut dyn Progress) -> Result<Int, IntError> {
    parse(s, base, false, p)
}

/// `Integer(str, base)`: the whole text must be one integer.
pub fn parse_strict(s: &[u8], base: i32, p: &mut dyn Progress) -> Result<Int, IntError> {
    parse(s, base, true, p)
}

fn parse(s: &[u8], base: i32, strict: bool, p: &mut dyn Progress) -> Result<Int, IntError> {
    let fail = || if strict { Err(IntError::Invalid) } else { Ok(Int::Small(0)) };
    let mut i = s.iter().position(|&b| !is_space(b)).unwrap_or(s.len());
    let negative = s.get(i) == Some(&b'-');
    if matches!(s.get(i), Some(b'+' | b'-')) {
        i += 1;
    }
    let prefix = match (s.get(i), s.get(i + 1).map(|b| b | 32)) {
        (Some(b'0'), Some(b'x')) => Some(16),
        (Some(b'0'), Some(b'b')) => Some(2),
        (Some(b'0'), Some(b'o')) => Some(8),
        (Some(b'0'), Some(b'd')) => Some(10),
        _ => None,
    };
    let radix = if base > 0 {
        base as u32
    } else {
        match prefix {
            Some(r) => r,
            None if s.get(i) == Some(&b'0') && s.len() > i + 1 => 8,
            None if base < -1 => base.unsigned_abs(),
            None => 10,
        }
    };
    if !(2..=36).contains(&radix) {
        return Err(IntError::Radix);
    }
    if prefix == Some(radix) {
        // A prefix is one only before a digit: "0x" and "0x_1" are a zero and a tail.
        if s.get(i + 2).is_none_or(|&b| digit(b) >= radix) {
            return fail();
        }
        i += 2;
    }
    let start = i;
    let mut end = i;
    let mut underscores = false;
    while end < s.len() {
        step(end, p)?;
        if digit(s[end]) < radix {
            end += 1;
        } else if s[end] == b'_' && end > start && s[end - 1] != b'_' && s.get(end + 1).is_some_and(|&b| digit(b) < radix) {
            underscores = true;
            end += 1;
        } else {
            break;
        }
    }
    if end == start {
        return fail();
    }
    if strict && !s[end..].iter().all(|&b| is_space(b)) {
        return Err(IntError::Invalid);
    }
    let run = &s[start..end];
    let cleaned;
    let run = if underscores {
        p.poll()?;
        cleaned = run.iter().copied().filter(|&b| b != b'_').collect::<Vec<_>>();
        &cleaned[..]
    } else {
        run
    };
    Ok(from_digits(run, radix, negative, p)?)
}

/// Value of valid digits in `radix`.
pub fn from_digits(run: &[u8], radix: u32, negative: bool, p: &mut dyn Progress) -> big::Result<Int> {
    let mut v: u64 = 0;
    let mut overflow = false;
    for &b in run.iter() {
        match v.checked_mul(radix as u64).and_then(|x| x.checked_add(digit(b) as u64)) {
            Some(x) => v = x,
            None => {
                overflow = true;
                break;
            }
        }
    }
    let sign = if negative { Sign::Minus } else { Sign::Plus };
    if !overflow {
        if !negative && v <= i64::MAX as u64 {
            return Ok(Int::Small(v as i64));
        }
        if negative && v <= 1 << 63 {
            return Ok(Int::Small((v as i64).wrapping_neg()));
        }
        return Ok(Int::from_big(BigInt::from_biguint(sign, v.into())));
    }
    let mut values = Vec::with_capacity(run.len());
    for piece in run.chunks(zakuro_base::progress::STRIDE) {
        p.poll()?;
        values.extend(piece.iter().map(|&b| digit(b) as u8));
    }
    Ok(Int::from_big(BigInt::from_biguint(sign, big::from_digits(&values, radix, p)?)))
}

/// `Integer#to_s(radix)`; `radix` in 2..=36.
pub fn to_s(v: &Int, radix: u32, p: &mut dyn Progress) -> big::Result<String> {
    match v {
        Int::Small(i) if radix == 10 => Ok(i.to_string()),
        Int::Small(i) => Ok(small_to_s(*i, radix)),
        Int::Big(b) => big::to_text(b, radix, p),
    }
}

/// `Integer#to_s(radix)` of a number that fits.
pub fn small_to_s(i: i64, radix: u32) -> String {
    let radix = radix.clamp(2, 36) as u64;
    let mut buf = [0u8; 65];
    let mut at = buf.len();
    let mut m = i.unsigned_abs();
    loop {
        at -= 1;
        buf[at] = b"0123456789abcdefghijklmnopqrstuvwxyz"[(m % radix) as usize];
        m /= radix;
        if m == 0 {
            break;
        }
    }
    if i < 0 {
        at -= 1;
        buf[at] = b'-';
    }
    String::from_utf8_lossy(&buf[at..]).into_owned()
}
