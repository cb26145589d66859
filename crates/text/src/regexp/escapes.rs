//! The look at a pattern's escapes that comes before parsing: Unicode escapes, control and meta escapes and escaped bytes become characters, and the
//! encoding that they fix is found.
//!
//! Everything else is copied, escapes of ASCII characters as `\xHH`, so that none of them gets a meaning.
//! Invariant: what comes out is valid in the encoding that is found.
//! Rejected: leaving it to the parser (errors of escapes come before all others, wherever they stand).

use crate::encoding::Encoding;
use crate::matcher::Poll;

#[derive(Debug)]
pub(super) struct Unescaped {
    pub pattern: Vec<u8>,
    /// Encoding of what is not ASCII, and of properties; None: there is none.
    pub fixed: Option<Encoding>,
}

struct Reader<'a> {
    s: &'a [u8],
    at: usize,
    enc: Encoding,
    out: Vec<u8>,
    fixed: Option<Encoding>,
    property: bool,
    /// `x`: here, and in the groups around.
    extended: bool,
    outer: Vec<bool>,
    /// Brackets that are open.
    classes: usize,
}

type Result<T> = std::result::Result<T, String>;

/// # Errors
/// Ruby's message, without the source.
pub(super) fn unescape(source: &[u8], enc: Encoding, extended: bool, poll: &mut Poll<'_>) -> Result<Unescaped> {
    if !enc.is_ascii_compatible() {
        // UTF-16 and UTF-32: the same characters in UTF-8.
        let mut text = Vec::with_capacity(source.len());
        for c in enc.chars(source) {
            let code = enc.ord(c).filter(|_| enc.char_len(c) == Ok(c.len())).ok_or("invalid multibyte character")?;
            Encoding::UTF_8.encode(code, &mut text);
        }
        return Ok(Unescaped { fixed: Some(enc), ..unescape(&text, Encoding::UTF_8, extended, poll)? });
    }
    let out = Vec::with_capacity(source.len() + 16);
    let mut r = Reader { s: source, at: 0, enc, out, fixed: None, property: false, extended, outer: Vec::new(), classes: 0 };
    while r.at < r.s.len() {
        let from = r.at;
        r.step()?;
        if r.at - from > 8 || r.at & 7 == 0 {
            poll.work(1 + (r.at - from) / 8)?;
        }
    }
    // A property means what it does in this encoding.
    let fixed = r.fixed.or((r.property && enc != Encoding::US_ASCII).then_some(enc));
    Ok(Unescaped { pattern: r.out, fixed })
}

impl Reader<'_> {
    fn step(&mut self) -> Result<()> {
        let rest = &self.s[self.at..];
        let n = self.enc.char_len(rest).map_err(|_| "invalid multibyte character")?;
        if n > 1 || rest[0] >= 0x80 || !self.enc.is_ascii_compatible() {
            if n > 1 || rest[0] >= 0x80 {
                self.fix(self.enc, "non ASCII character in UTF-8 regexp")?;
            }
            self.out.extend_from_slice(&rest[..n]);
            self.at += n;
            return Ok(());
        }
        if rest[0] != b'\\' {
            if let Some(n) = self.comment() {
                if !rest[..n].is_ascii() {
                    self.fix(self.enc, "non ASCII character in UTF-8 regexp")?;
                }
                self.copy(n);
                return Ok(());
            }
            self.out.push(rest[0]);
            self.at += 1;
            return Ok(());
        }
        let Some(&c) = rest.get(1) else { return Err("too short escape sequence".into()) };
        if c >= 0x80 {
            let n = self.enc.char_len(&rest[1..]).map_err(|_| "invalid multibyte character")?;
            self.fix(self.enc, "non ASCII character in UTF-8 regexp")?;
            // An escaped character beyond ASCII is that character.
            self.out.extend_from_slice(&rest[..1 + n]);
            self.at += 1 + n;
            return Ok(());
        }
        match c {
            b'1'..=b'7' => {
                let digits = rest[1..].iter().take(3).take_while(|b| (b'0'..=b'7').contains(b)).count();
                let value = rest[1..1 + digits].iter().fold(0u32, |v, b| v * 8 + u32::from(b - b'0'));
                if value <= 0o177 {
                    // A reference to a group, perhaps.
                    self.copy(2);
                    return Ok(());
                }
                self.bytes()
            }
            b'0' | b'x' | b'c' | b'C' | b'M' => {
                if self.enc == Encoding::US_ASCII {
                    let from = self.at;
                    self.byte()?;
                    self.out.extend_from_slice(&self.s[from..self.at]);
                    return Ok(());
                }
                self.bytes()
            }
            b'u' => {
                self.at += 2;
                self.unicode()
            }
            _ => {
                self.property |= matches!(c, b'p' | b'P');
                self.copy(2);
                Ok(())
            }
        }
    }

    /// The length of a comment that begins here: escapes in it are none. Keeps account of brackets, and of groups and their `x`.
    fn comment(&mut self) -> Option<usize> {
        let rest = &self.s[self.at..];
        match rest[0] {
            b'[' => self.classes += 1,
            b']' => self.classes = self.classes.saturating_sub(1),
            _ if self.classes > 0 => {}
            b'#' if self.extended => return Some(memchr::memchr(b'\n', rest).unwrap_or(rest.len())),
            b'(' if rest.starts_with(b"(?#") => {
                let mut at = 3;
                while at < rest.len() && rest[at] != b')' {
                    at += if rest[at] == b'\\' { 2 } else { self.enc.char_len(&rest[at..]).unwrap_or(1) };
                }
                return Some(at.min(rest.len()));
            }
            b'(' => {
                let outer = self.extended;
                let letters = rest.strip_prefix(b"(?").unwrap_or(b"");
                let n = letters.iter().take_while(|b| matches!(b, b'i' | b'm' | b'x' | b'a' | b'd' | b'u' | b'-')).count();
                if let Some(b':' | b')') = letters.get(n) {
                    let (on, off) = match letters[..n].iter().position(|&b| b == b'-') {
                        Some(i) => (&letters[..i], &letters[i..n]),
                        None => (&letters[..n], &letters[n..n]),
                    };
                    self.extended = (self.extended || on.contains(&b'x')) && !off.contains(&b'x');
                }
                // Options in the middle of a group hold up to its end: their parenthesis closes nothing.
                let alone = letters.get(n) == Some(&b')');
                self.outer.push(if alone { self.extended } else { outer });
            }
            b')' => {
                if let Some(outer) = self.outer.pop() {
                    self.extended = outer;
                }
            }
            _ => {}
        }
        None
    }

    fn copy(&mut self, n: usize) {
        self.out.extend_from_slice(&self.s[self.at..self.at + n]);
        self.at += n;
    }

    fn fix(&mut self, enc: Encoding, message: &str) -> Result<()> {
        match self.fixed {
            Some(known) if known != enc => Err(message.into()),
            _ => {
                self.fixed = Some(enc);
                Ok(())
            }
        }
    }

    /// The byte of an escape.
    fn byte(&mut self) -> Result<u8> {
        let (mut meta, mut control) = (false, false);
        loop {
            // Behind a backslash.
            let Some(&c) = self.s.get(self.at + 1) else { return Err("too short escaped multibyte character".into()) };
            self.at += 2;
            let rest = &self.s[self.at..];
            let (mut value, again) = match c {
                b'x' => {
                    let digits = rest.iter().take(2).take_while(|b| b.is_ascii_hexdigit()).count();
                    let text = std::str::from_utf8(&rest[..digits]).unwrap_or("");
                    self.at += digits;
                    (u8::from_str_radix(text, 16).map_err(|_| "invalid hex escape")?, false)
                }
                b'0'..=b'7' => {
                    let more = rest.iter().take(2).take_while(|b| (b'0'..=b'7').contains(b)).count();
                    let value = self.s[self.at - 1..self.at + more].iter().fold(0u32, |v, b| v * 8 + u32::from(b - b'0'));
                    self.at += more;
                    (u8::try_from(value).map_err(|_| "invalid escape code")?, false)
                }
                b'n' => (b'\n', false),
                b't' => (b'\t', false),
                b'r' => (b'\r', false),
                b'f' => (0x0c, false),
                b'v' => (0x0b, false),
                b'a' => (7, false),
                b'e' => (0x1b, false),
                b'M' => {
                    if meta {
                        return Err("duplicate meta escape".into());
                    }
                    meta = true;
                    match rest {
                        [b'-', b'\\', ..] if rest.len() > 2 => {
                            self.at += 1;
                            (0, true)
                        }
                        [b'-', c, ..] if c.is_ascii() && *c != b'\\' => {
                            self.at += 2;
                            (*c, false)
                        }
                        _ => return Err("too short meta escape".into()),
                    }
                }
                b'C' | b'c' => {
                    if control {
                        return Err("duplicate ctrl escape".into());
                    }
                    control = true;
                    let rest = match (c, rest) {
                        (b'c', rest) => rest,
                        (_, [b'-', rest @ ..]) => {
                            self.at += 1;
                            rest
                        }
                        _ => return Err("too short control escape".into()),
                    };
                    match rest {
                        [b'?', ..] => {
                            self.at += 1;
                            return Ok(if meta { 0xff } else { 0x7f });
                        }
                        [b'\\', _, ..] => (0, true),
                        [c, ..] if c.is_ascii() && *c != b'\\' => {
                            self.at += 1;
                            (*c, false)
                        }
                        _ => return Err("too short control escape".into()),
                    }
                }
                _ => return Err("unexpected escape sequence".into()),
            };
            if again {
                continue;
            }
            if control {
                value &= 0x1f;
            }
            return Ok(if meta { value | 0x80 } else { value });
        }
    }

    /// Escaped bytes that make up a character.
    fn bytes(&mut self) -> Result<()> {
        let mut bytes = vec![self.byte()?];
        if bytes[0] < 0x80 {
            self.out.extend(format!("\\x{:02X}", bytes[0]).bytes());
            return Ok(());
        }
        let longest = if self.enc.is_single_byte() { 1 } else { 4 };
        while self.enc.char_len(&bytes) != Ok(bytes.len())
            && bytes.len() < longest
            && may_go_on(self.enc, &bytes)
            && self.s.get(self.at) == Some(&b'\\')
        {
            bytes.push(self.byte()?);
        }
        if self.enc.char_len(&bytes) != Ok(bytes.len()) {
            let short = bytes.len() < longest && may_go_on(self.enc, &bytes);
            return Err(if short { "too short escaped multibyte character" } else { "invalid multibyte escape" }.into());
        }
        self.fix(self.enc, "escaped non ASCII character in UTF-8 regexp")?;
        if self.enc.is_single_byte() {
            // A byte that might be taken for syntax is none beyond ASCII.
            self.out.push(bytes[0]);
        } else {
            self.out.extend_from_slice(&bytes);
        }
        Ok(())
    }

    fn code(&mut self, c: u32) -> Result<()> {
        if c > 0x10ffff {
            return Err("invalid Unicode range".into());
        }
        if c < 0x80 {
            self.out.extend(format!("\\x{c:02X}").bytes());
            return Ok(());
        }
        if !Encoding::UTF_8.encode(c, &mut self.out) {
            return Err("invalid Unicode range".into());
        }
        self.fix(Encoding::UTF_8, "UTF-8 character in non UTF-8 regexp")
    }

    /// Behind `\u`.
    fn unicode(&mut self) -> Result<()> {
        let rest = &self.s[self.at..];
        let parse = |h: &[u8]| {
            std::str::from_utf8(h).ok().filter(|h| h.bytes().all(|b| b.is_ascii_hexdigit())).and_then(|h| u32::from_str_radix(h, 16).ok())
        };
        if rest.is_empty() {
            return Err("too short escape sequence".into());
        }
        if rest[0] == b'{' {
            const BAD: &str = "invalid Unicode list";
            let mut at = 1;
            let mut any = false;
            let blanks = |at: usize| rest[at..].iter().take_while(|b| b.is_ascii_whitespace()).count();
            loop {
                at += blanks(at);
                let digits = rest[at..].iter().take_while(|b| b.is_ascii_hexdigit()).count();
                if digits == 0 {
                    break;
                }
                if digits > 6 {
                    return Err("invalid Unicode range".into());
                }
                self.code(parse(&rest[at..at + digits]).ok_or(BAD)?)?;
                any = true;
                at += digits;
            }
            if !any || rest.get(at) != Some(&b'}') {
                return Err(BAD.into());
            }
            self.at += at + 1;
            return Ok(());
        }
        let c = rest.get(..4).and_then(parse).ok_or("invalid Unicode escape")?;
        self.at += 4;
        self.code(c)
    }
}

/// Could more bytes make these a character?
fn may_go_on(enc: Encoding, bytes: &[u8]) -> bool {
    enc != Encoding::UTF_8
        || match bytes[0] {
            0xc2..=0xdf => bytes.len() < 2,
            0xe0..=0xef => bytes.len() < 3,
            0xf0..=0xf4 => bytes.len() < 4,
            _ => false,
        }
}
