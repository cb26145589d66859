//! Characters of two to four bytes: encoding_rs, one at a time, corrected where its tables, which are the web's, differ from Ruby's.

use super::transcode::Step;
use super::{Encoding, Kind, Multi, charset, emoji};
use encoding_rs::{DecoderResult, EncoderResult};

/// The place of a character among the rows of JIS, as EUC-JP writes it: the Japanese charsets take each other's places, even of no character.
pub(super) fn jis_place(src: Encoding, c: &[u8]) -> Option<[u8; 2]> {
    match (src.kind(), c) {
        (Kind::Multi(Multi::EucJp), &[a @ 0xa1..=0xff, b]) => Some([a, b]),
        (Kind::Multi(Multi::StatelessJp), &[0x92, a, b]) => Some([a, b]),
        (Kind::Multi(Multi::Iso2022Jp), &[a, b]) => Some([a | 0x80, b | 0x80]),
        (Kind::Multi(Multi::ShiftJis), &[a @ 0x81..=0xef, b]) => {
            let row = 2 * (a - if a < 0xa0 { 0x81 } else { 0xc1 }) + u8::from(b >= 0x9f);
            let cell = if b >= 0x9f { b - 0x9f } else { b - 0x40 - u8::from(b > 0x7f) };
            Some([row + 0xa1, cell + 0xa1])
        }
        _ => None,
    }
}

/// Writes a place of JIS; false where the target has no such places.
pub(super) fn put_place(dst: Encoding, [a, b]: [u8; 2], out: &mut Vec<u8>) -> bool {
    match dst.kind() {
        Kind::Multi(Multi::EucJp) => out.extend([a, b]),
        Kind::Multi(Multi::StatelessJp) => out.extend([0x92, a, b]),
        Kind::Multi(Multi::ShiftJis) => {
            let (row, cell) = (a - 0xa1, b - 0xa1);
            let lead = row / 2 + if row < 62 { 0x81 } else { 0xc1 };
            let trail = if row % 2 == 1 { cell + 0x9f } else { cell + 0x40 + u8::from(cell >= 0x3f) };
            out.extend([lead, trail]);
        }
        _ => return false,
    }
    true
}

pub(super) fn is_lead(m: Multi, b: u8) -> bool {
    match m {
        Multi::ShiftJis | Multi::Windows31J | Multi::SjisDoCoMo | Multi::SjisKddi | Multi::SjisSoftBank => {
            matches!(b, 0x81..=0x9f | 0xe0..=0xfc)
        }
        Multi::EucJp | Multi::EucJpMs | Multi::Cp51932 | Multi::EucJis2004 => matches!(b, 0x8e | 0x8f | 0xa1..=0xfe),
        Multi::EucKr | Multi::Gb2312 => (0xa1..=0xfe).contains(&b),
        Multi::StatelessJp | Multi::StatelessKddi => matches!(b, 0x90 | 0x92),
        _ => (0x81..=0xfe).contains(&b),
    }
}

fn engine(m: Multi) -> &'static encoding_rs::Encoding {
    match m {
        Multi::EucJp | Multi::EucJpMs | Multi::Cp51932 => encoding_rs::EUC_JP,
        Multi::ShiftJis | Multi::Windows31J | Multi::SjisDoCoMo | Multi::SjisKddi | Multi::SjisSoftBank => encoding_rs::SHIFT_JIS,
        Multi::Gbk | Multi::Gb2312 => encoding_rs::GBK,
        Multi::Gb18030 => encoding_rs::GB18030,
        Multi::Big5 | Multi::Cp950 | Multi::Big5Hkscs | Multi::Big5Uao => encoding_rs::BIG5,
        Multi::EucKr | Multi::Cp949 => encoding_rs::EUC_KR,
        // These have ways of their own.
        Multi::Iso2022Jp | Multi::Cp50220 | Multi::Cp50221 | Multi::StatelessJp => encoding_rs::EUC_JP,
        Multi::Iso2022JpKddi | Multi::StatelessKddi => encoding_rs::EUC_JP,
        Multi::Cesu8 | Multi::Ibm037 | Multi::EucTw | Multi::EucJis2004 => encoding_rs::EUC_JP,
    }
}

/// JIS and Microsoft disagree on a few symbols; the web's tables follow Microsoft: (JIS, Microsoft).
const JIS: [(char, char); 7] = [
    ('\u{2014}', '\u{2015}'),
    ('\u{301c}', '\u{ff5e}'),
    ('\u{2016}', '\u{2225}'),
    ('\u{2212}', '\u{ff0d}'),
    ('\u{a2}', '\u{ffe0}'),
    ('\u{a3}', '\u{ffe1}'),
    ('\u{ac}', '\u{ffe2}'),
];

fn is_jis(m: Multi) -> bool {
    matches!(m, Multi::EucJp | Multi::ShiftJis)
}

/// Rows that NEC, IBM and Microsoft added to JIS X 0208.
fn is_vendor_row(m: Multi, c: &[u8]) -> bool {
    c.len() == 2
        && match m {
            Multi::ShiftJis => matches!(c[0], 0x85..=0x87 | 0xeb..=0xfc),
            Multi::EucJp => matches!(c[0], 0xa9..=0xaf | 0xf5..=0xfe),
            _ => false,
        }
}

pub(super) fn multi_decode(m: Multi, c: &[u8]) -> Step {
    if m == Multi::StatelessJp {
        return match multi_decode(Multi::EucJp, &c[1..]) {
            Step::Char(decoded, _) => Step::Char(decoded, c.len()),
            _ => Step::Undefined(c.len()),
        };
    }
    if m == Multi::StatelessKddi {
        return match emoji::kddi_row(&c[1..]) {
            Some(sign) => Step::Char(sign, c.len()),
            None => match multi_decode(Multi::Cp51932, &c[1..]) {
                Step::Char(decoded, _) => Step::Char(decoded, c.len()),
                _ => Step::Undefined(c.len()),
            },
        };
    }
    if let Some(sign) = emoji::private_row(m, c) {
        return Step::Char(sign, c.len());
    }
    if let &[a, b] = c {
        let pair = u16::from_be_bytes([a, b]);
        let gaps = charset::gaps(m);
        if gaps.get(gaps.partition_point(|g| g.1 < pair)).is_some_and(|g| g.0 <= pair) {
            return Step::Undefined(2);
        }
        match m {
            Multi::Gb18030 => {
                if let Some(moved) = charset::MOVED.iter().find(|p| p.0 == pair) {
                    return Step::Char(moved.1, 2);
                }
            }
            Multi::Big5 => match big5_row(a, b) {
                Ok(Some(c)) => return Step::Char(c, 2),
                Ok(None) => {}
                Err(()) => return Step::Undefined(2),
            },
            // User-defined rows: private characters in order.
            Multi::EucJpMs if a >= 0xf5 => {
                let i = (a - 0xf5) as u32 * 94 + (b - 0xa1) as u32;
                return char::from_u32(0xe000 + i).map_or(Step::Undefined(2), |c| Step::Char(c, 2));
            }
            _ => {}
        }
    }
    // The engine has the places of two letters exchanged.
    if m == Multi::Gb18030 && c == [0x81, 0x35, 0xf4, 0x37] {
        return Step::Char('\u{1e3f}', 4);
    }
    if let (Multi::EucJpMs, &[0x8f, a @ 0xf5..=0xff, b]) = (m, c) {
        let i = (a - 0xf5) as u32 * 94 + (b - 0xa1) as u32;
        return char::from_u32(0xe3ac + i).map_or(Step::Undefined(3), |c| Step::Char(c, 3));
    }
    let mut units = [0; 16];
    let (done, _, n) = engine(m).new_decoder_without_bom_handling().decode_to_utf16_without_replacement(c, &mut units, true);
    if done != DecoderResult::InputEmpty {
        return Step::Undefined(c.len());
    }
    let units = &units[..n];
    if is_jis(m) && (is_vendor_row(m, c) || units.iter().any(|u| (0xe000..=0xf8ff).contains(u))) {
        return Step::Undefined(c.len());
    }
    let mut chars = char::decode_utf16(units.iter().copied()).map_while(|c| c.ok());
    match (chars.next(), chars.next()) {
        (Some(a), None) => {
            let a = if is_jis(m) { JIS.iter().find(|p| p.1 == a).map_or(a, |p| p.0) } else { a };
            Step::Char(a, c.len())
        }
        (Some(a), Some(b)) => Step::Pair(a, b, c.len()),
        _ => Step::Undefined(c.len()),
    }
}

fn is_japanese(m: Multi) -> bool {
    std::ptr::eq(engine(m), encoding_rs::EUC_JP) || std::ptr::eq(engine(m), encoding_rs::SHIFT_JIS)
}

/// GB 18030's four bytes of a character of the first plane: its number among those that have no two.
fn four_bytes(c: char) -> [u8; 4] {
    // The numbers of U+1E3F, of U+9FB4 and its neighbours, and of the vertical forms U+FE10 to U+FE19.
    let n = match c as u32 {
        0x1e3f => 7457,
        c @ 0x9fb4..=0x9fbb => 19057 + (c - 0x9fb4),
        c => 39076 + (c.saturating_sub(0xfe10)),
    };
    [(n / 12600 + 0x81) as u8, (n / 1260 % 10 + 0x30) as u8, (n / 10 % 126 + 0x81) as u8, (n % 10 + 0x30) as u8]
}

/// Rows of Big5 that differ from the engine's, which is Hong Kong's: a private character, nothing particular, or no character.
fn big5_row(a: u8, b: u8) -> Result<Option<char>, ()> {
    if (0x80..=0xa0).contains(&b) || !(0xa1..=0xf9).contains(&a) {
        return Err(());
    }
    let cell = if b >= 0xa1 { b - 0xa1 + 63 } else { b - 0x40 } as u32;
    match (a, b) {
        (0xa3, 0xe1) => Ok(None),
        (0xa3, 0xc0..) => Err(()),
        (0xc6, 0xa1..) | (0xc7 | 0xc8, _) => Ok(char::from_u32(0xf6b1 + (a as u32 - 0xc6) * 157 + cell - 63)),
        _ => Ok(None),
    }
}

pub(super) fn multi_encode(m: Multi, c: char, out: &mut Vec<u8>) -> bool {
    if c.is_ascii() {
        out.push(c as u8);
        return true;
    }
    if m == Multi::StatelessKddi {
        let mut bytes = Vec::with_capacity(2);
        let known = match emoji::kddi_bytes(c) {
            Some(pair) => {
                bytes.extend(pair);
                true
            }
            None => multi_encode(Multi::Cp51932, c, &mut bytes) && matches!(bytes[..], [0xa1..=0xfe, _]),
        };
        if known {
            out.push(0x92);
            out.extend(bytes);
        }
        return known;
    }
    if let Some(pair) = emoji::private_bytes(m, c) {
        out.extend(pair);
        return true;
    }
    if m == Multi::StatelessJp {
        let mut bytes = Vec::with_capacity(3);
        let known = multi_encode(Multi::EucJp, c, &mut bytes) && matches!(bytes[..], [0xa1..=0xfe, _]);
        if known {
            out.push(0x92);
            out.extend(bytes);
        }
        return known;
    }
    // The web writes a yen sign and an overline as ASCII; Ruby has no such fallback.
    if matches!(c, '\u{a5}' | '\u{203e}') && is_japanese(m) {
        return false;
    }
    // Its minus sign is the full-width one; the web takes both.
    if c == '\u{2212}' && is_japanese(m) && !is_jis(m) {
        return false;
    }
    match m {
        Multi::Gb18030 => {
            // What was moved has the four bytes that the engine has for nobody else.
            if let Some(i) = charset::MOVED.iter().position(|p| p.1 == c) {
                out.extend(charset::MOVED[i].0.to_be_bytes());
                return true;
            }
            if charset::MOVED.iter().any(|p| p.2 == c && c != '\u{3000}') {
                out.extend(four_bytes(c));
                return true;
            }
        }
        Multi::Gb2312 => {
            let pair = match c {
                '\u{2015}' => Some([0xa1, 0xaa]),
                '\u{30fb}' => Some([0xa1, 0xa4]),
                _ => None,
            };
            if let Some(pair) = pair {
                out.extend(pair);
                return true;
            }
        }
        Multi::Big5 if ('\u{f6b1}'..='\u{f848}').contains(&c) => {
            let i = c as u32 - 0xf6b1;
            // The first row begins in its middle.
            let i = i + 63;
            let cell = i % 157;
            out.extend([(0xc6 + i / 157) as u8, (if cell < 63 { cell + 0x40 } else { cell - 63 + 0xa1 }) as u8]);
            return true;
        }
        Multi::EucJpMs if ('\u{e000}'..='\u{e757}').contains(&c) => {
            let i = c as u32 - 0xe000;
            let (second, i) = if i < 940 { (false, i) } else { (true, i - 940) };
            if second {
                out.push(0x8f);
            }
            out.extend([(0xf5 + i / 94) as u8, (0xa1 + i % 94) as u8]);
            return true;
        }
        _ => {}
    }
    let c = if is_jis(m) {
        match JIS.iter().find(|p| p.0 == c || p.1 == c) {
            // The Microsoft form has no place in a JIS charset, but for the bar.
            Some(p) if p.1 == c && c != '\u{2015}' => return false,
            Some(p) => p.1,
            None => c,
        }
    } else {
        c
    };
    // User-defined rows: private characters in order.
    if ('\u{e000}'..='\u{e757}').contains(&c) && m != Multi::ShiftJis && std::ptr::eq(engine(m), encoding_rs::SHIFT_JIS) {
        let i = c as u32 - 0xe000;
        let trail = 0x40 + i % 188;
        out.extend_from_slice(&[(0xf0 + i / 188) as u8, (trail + (trail >= 0x7f) as u32) as u8]);
        return true;
    }
    let (mut utf8, mut bytes) = ([0; 4], [0; 32]);
    let text: &str = c.encode_utf8(&mut utf8);
    let (done, _, n) = engine(m).new_encoder().encode_from_utf8_without_replacement(text, &mut bytes, true);
    if done != EncoderResult::InputEmpty {
        return false;
    }
    let bytes = &bytes[..n];
    // The web keeps U+0080 as a byte.
    if c == '\u{80}' && m != Multi::Gb18030 {
        return false;
    }
    // EUC-KR and GB2312 are parts of the engine's charsets.
    if matches!(m, Multi::EucKr | Multi::Gb2312) && !(bytes.len() == 2 && bytes.iter().all(|b| *b >= 0xa1)) {
        return false;
    }
    if is_vendor_row(m, bytes) {
        return false;
    }
    // What a charset has not got where the engine puts it.
    if matches!(m, Multi::Gbk | Multi::Gb2312 | Multi::Big5) && !matches!(multi_decode(m, bytes), Step::Char(d, _) if d == c) {
        return false;
    }
    out.extend_from_slice(bytes);
    true
}
