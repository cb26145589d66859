//! The text that the scanner reads: UTF-8, with libyaml's errors of bytes that are no text. They come when it would have read them.

/// Portion at a time: bytes that are no text are reported before anything else of the portion that holds them.
const PORTION: usize = 16 << 10;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    Utf8 = 1,
    Utf16Le = 2,
    Utf16Be = 3,
}

/// Where reading ends before the text does, and how it is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    pub problem: &'static str,
    /// In bytes of what was given.
    pub offset: usize,
    /// Valid bytes before it, in UTF-8.
    at: usize,
}

/// UTF-8, up to the first fault.
pub struct Input {
    text: String,
    fault: Option<Fault>,
}

impl Input {
    /// Text in an encoding; None: a byte order mark tells, else UTF-8. Also returns the encoding.
    pub fn new(mut bytes: Vec<u8>, encoding: Option<Encoding>) -> (Input, Encoding) {
        let mut skipped = 0;
        let encoding = encoding.unwrap_or_else(|| match &bytes[..] {
            [0xff, 0xfe, ..] => {
                skipped = 2;
                Encoding::Utf16Le
            }
            [0xfe, 0xff, ..] => {
                skipped = 2;
                Encoding::Utf16Be
            }
            [0xef, 0xbb, 0xbf, ..] => {
                skipped = 3;
                Encoding::Utf8
            }
            _ => Encoding::Utf8,
        });
        bytes.drain(..skipped);
        let (text, fault) = match encoding {
            Encoding::Utf8 => {
                let fault = utf8_fault(&bytes);
                if let Some(f) = fault {
                    bytes.truncate(f.at);
                }
                (String::from_utf8(bytes).unwrap_or_default(), fault)
            }
            e => utf16(&bytes, e == Encoding::Utf16Be),
        };
        (Input { text, fault: fault.map(|f| Fault { offset: f.offset + skipped, ..f }) }, encoding)
    }
    pub fn text(&self) -> &str {
        &self.text
    }
    /// The fault, once the portion that holds it is read.
    pub fn fault_before(&self, pos: usize) -> Option<Fault> {
        self.fault.filter(|f| pos >= f.at / PORTION * PORTION)
    }
}

fn allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

fn utf8_fault(b: &[u8]) -> Option<Fault> {
    let (valid, error) = match std::str::from_utf8(b) {
        Ok(s) => (s, None),
        // The bytes before the error are valid.
        Err(e) => (std::str::from_utf8(&b[..e.valid_up_to()]).unwrap_or(""), Some(e.valid_up_to())),
    };
    if let Some((at, _)) = valid.char_indices().find(|(_, c)| !allowed(*c)) {
        return Some(Fault { problem: "control characters are not allowed", offset: at, at });
    }
    let at = error?;
    let width = match b[at] {
        0..=0x7f => 1,
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf7 => 4,
        _ => return Some(Fault { problem: "invalid leading UTF-8 octet", offset: at, at }),
    };
    if at + width > b.len() {
        return Some(Fault { problem: "incomplete UTF-8 octet sequence", offset: at, at });
    }
    if let Some(k) = (1..width).find(|k| b[at + k] & 0xc0 != 0x80) {
        return Some(Fault { problem: "invalid trailing UTF-8 octet", offset: at + k, at });
    }
    let value = b[at + 1..at + width].iter().fold(u32::from(b[at]) & (0x7f >> width), |n, b| n << 6 | u32::from(b & 0x3f));
    let shortest = matches!((width, value), (2, 0x80..) | (3, 0x800..) | (4, 0x10000..));
    Some(Fault { problem: if shortest { "invalid Unicode character" } else { "invalid length of a UTF-8 sequence" }, offset: at, at })
}

fn utf16(b: &[u8], big: bool) -> (String, Option<Fault>) {
    let mut text = String::with_capacity(b.len());
    let unit = |i: usize| b.get(i..i + 2).map(|u| if big { u16::from_be_bytes([u[0], u[1]]) } else { u16::from_le_bytes([u[0], u[1]]) });
    let mut i = 0;
    let fault = loop {
        if i >= b.len() {
            break None;
        }
        let Some(first) = unit(i) else { break Some(("incomplete UTF-16 character", i)) };
        let (c, width) = match first {
            0xdc00..=0xdfff => break Some(("unexpected low surrogate area", i)),
            0xd800..=0xdbff => {
                let Some(second) = unit(i + 2) else { break Some(("incomplete UTF-16 surrogate pair", i)) };
                if !(0xdc00..=0xdfff).contains(&second) {
                    break Some(("expected low surrogate area", i + 2));
                }
                (0x10000 + (u32::from(first & 0x3ff) << 10) + u32::from(second & 0x3ff), 4)
            }
            u => (u32::from(u), 2),
        };
        match char::from_u32(c).filter(|c| allowed(*c)) {
            Some(c) => text.push(c),
            None => break Some(("control characters are not allowed", i)),
        }
        i += width;
    };
    let fault = fault.map(|(problem, offset)| Fault { problem, offset, at: text.len() });
    (text, fault)
}
