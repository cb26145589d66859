//! Floats in Marshal data: decimal numbers, and what old writers put behind them.

/// A Float of its text in Marshal data.
pub fn read(text: &[u8]) -> f64 {
    match text {
        b"nan" => f64::NAN,
        b"inf" => f64::INFINITY,
        b"-inf" => f64::NEG_INFINITY,
        _ => {
            let end = decimal_end(text);
            let f = std::str::from_utf8(&text[..end]).ok().and_then(|t| t.trim_start().parse().ok()).unwrap_or(0.0);
            match &text[end..] {
                [0, bits @ ..] if !bits.is_empty() => with_low_bits(f, bits),
                _ => f,
            }
        }
    }
}

/// Where a decimal number ends; what is behind it does not count.
fn decimal_end(text: &[u8]) -> usize {
    let digits = |from: usize| text.get(from..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count();
    let spaces = text.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let start = spaces + usize::from(matches!(text.get(spaces), Some(b'+' | b'-')));
    let whole = digits(start);
    let mut end = start + whole;
    if text.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    if end == start {
        return 0;
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let from = end + 1 + usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        if digits(from) > 0 {
            end = from + digits(from);
        }
    }
    end
}

/// Bits of a Float's mantissa that old writers left to the decimal number.
const DECIMAL_BITS: u32 = 37;

/// A Float as old writers dumped it: the decimal number has the upper bits of the mantissa right, bytes behind a NUL are those below.
fn with_low_bits(f: f64, bytes: &[u8]) -> f64 {
    let mut low = [0; 8];
    low.iter_mut().zip(bytes).for_each(|(to, b)| *to = *b);
    let low = u64::from_be_bytes(low);
    if f == 0.0 {
        return (low as f64 * 2f64.powi(-64 - DECIMAL_BITS as i32)).copysign(f);
    }
    if !f.is_normal() {
        return f;
    }
    const MANTISSA: u32 = f64::MANTISSA_DIGITS - 1;
    let (exponent, upper) = (f.to_bits() >> MANTISSA & 0x7ff, 1 << MANTISSA | f.to_bits() & ((1 << MANTISSA) - 1));
    let whole = u128::from(upper >> (MANTISSA + 1 - DECIMAL_BITS)) << 64 | u128::from(low);
    // Rounded to a Float of its own, whose exponent shows a carry.
    let rounded = whole as f64;
    let carry = (rounded.to_bits() >> MANTISSA & 0x7ff) - u64::from(1023 + 63 + DECIMAL_BITS);
    if exponent + carry >= 0x7ff {
        return f64::INFINITY.copysign(f);
    }
    f64::from_bits((exponent + carry) << MANTISSA | rounded.to_bits() & ((1 << MANTISSA) - 1)).copysign(f)
}
