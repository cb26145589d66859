//! Turns Ruby's pattern syntax into what Oniguruma reads with the same meaning.
//!
//! Onigmo (Ruby's engine) differs from Oniguruma: `\d \s \w` are ASCII unless `(?u)`, `\u` escapes exist, `(?a)` `(?d)` `(?u)` switch
//! character sets, raw `\xHH` bytes join to characters. Everything else is copied.
//! Invariant: the output of valid UTF-8 is valid UTF-8 when `unicode` is set.
//! Rejected: a full parse to a tree (Oniguruma parses anyway; its error messages are Ruby's).

use super::RegexFlags;
use crate::encoding::utf8;

pub(super) struct Rewritten {
    pub pattern: Vec<u8>,
    /// `\u` escapes make the pattern UTF-8 for good.
    pub needs_utf8: bool,
    /// `\x80` and above in a pattern without Unicode.
    pub raw_bytes: bool,
    /// Named groups in order, without repeats.
    pub names: Vec<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum Set {
    Default,
    Ascii,
    Unicode,
}

/// An open group, and what holds again behind it.
struct Scope {
    set: Set,
    extended: bool,
    /// Groups opened around it by bare options.
    extra: usize,
    /// Where it begins in the output.
    start: usize,
    kind: Kind,
    asserts: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// `(?=`, `(?!`, `(?<=`, `(?<!`
    Look,
    /// `(?:`
    Plain,
    Other,
}

struct Rewriter<'a> {
    s: &'a [u8],
    at: usize,
    out: Vec<u8>,
    unicode: bool,
    needs_utf8: bool,
    raw_bytes: bool,
    names: Vec<String>,
    scopes: Vec<Scope>,
    set: Set,
    extended: bool,
    class_depth: usize,
    extra: usize,
    /// The innermost group holds an assertion.
    asserts: bool,
    bad_interval: bool,
}

pub(super) fn rewrite(source: &[u8], flags: &RegexFlags, unicode: bool) -> Result<Rewritten, String> {
    if unicode && !utf8::is_valid(source) {
        return Err("invalid multibyte character".into());
    }
    let mut r = Rewriter {
        s: source,
        at: 0,
        out: Vec::with_capacity(source.len() + 16),
        unicode,
        needs_utf8: false,
        raw_bytes: false,
        names: Vec::new(),
        scopes: Vec::new(),
        set: Set::Default,
        extended: flags.extended,
        class_depth: 0,
        extra: 0,
        asserts: false,
        bad_interval: false,
    };
    while r.at < r.s.len() {
        r.step(flags)?;
    }
    r.close_extra();
    // Escapes are looked at before anything else, as in CRuby.
    if r.bad_interval {
        return Err("upper is smaller than lower in repeat range".into());
    }
    Ok(Rewritten { pattern: r.out, needs_utf8: r.needs_utf8, raw_bytes: r.raw_bytes, names: r.names })
}

impl Rewriter<'_> {
    fn copy(&mut self, n: usize) {
        let end = (self.at + n).min(self.s.len());
        self.out.extend_from_slice(&self.s[self.at..end]);
        self.at = end;
    }

    fn step(&mut self, flags: &RegexFlags) -> Result<(), String> {
        match self.s[self.at] {
            b'\\' => return self.escape(flags),
            b'[' if self.class_depth > 0 && self.s[self.at..].starts_with(b"[:") => self.posix(),
            b'[' => {
                self.class_depth += 1;
                self.copy(1);
                if self.s.get(self.at) == Some(&b'^') {
                    self.copy(1);
                }
                // A bracket in first place is a literal (when another closes the class).
                if self.s.get(self.at) == Some(&b']') && self.s[self.at + 1..].contains(&b']') {
                    self.out.extend_from_slice(b"\\]");
                    self.at += 1;
                }
            }
            b']' if self.class_depth > 0 => {
                self.class_depth -= 1;
                self.copy(1);
            }
            _ if self.class_depth > 0 => self.copy(1),
            b'(' => self.open(),
            b')' => {
                if let Some(scope) = self.scopes.pop() {
                    self.close_extra();
                    self.extra = scope.extra;
                    self.set = scope.set;
                    self.extended = scope.extended;
                    self.copy(1);
                    self.close(&scope);
                } else {
                    self.copy(1);
                }
            }
            b'^' | b'$' => self.assertion(1),
            b'{' => {
                self.check_interval();
                self.copy(1);
            }
            b'#' if self.extended => {
                let n = memchr::memchr(b'\n', &self.s[self.at..]).map_or(self.s.len() - self.at, |n| n + 1);
                // Comments may hold anything; drop them.
                self.at += n;
                self.out.push(b'\n');
            }
            _ => self.copy(1),
        }
        Ok(())
    }

    fn close_extra(&mut self) {
        (0..std::mem::take(&mut self.extra)).for_each(|_| self.out.push(b')'));
    }

    /// Remembers the scope around a group that opens here.
    fn enter(&mut self, set: Set, extended: bool, kind: Kind) {
        let (extra, asserts) = (std::mem::take(&mut self.extra), std::mem::take(&mut self.asserts));
        self.scopes.push(Scope { set, extended, extra, start: self.out.len(), kind, asserts });
    }

    /// Is what follows a quantifier?
    fn is_quantified(&self) -> bool {
        match self.s.get(self.at) {
            Some(b'*' | b'+' | b'?') => true,
            Some(b'{') => {
                let rest = &self.s[self.at + 1..];
                memchr::memchr(b'}', rest).is_some_and(|n| {
                    let bounds = &rest[..n];
                    bounds.iter().any(u8::is_ascii_digit) && bounds.iter().all(|b| b.is_ascii_digit() || *b == b',')
                })
            }
            _ => false,
        }
    }

    /// Behind the parenthesis that closes a group. Oniguruma refuses to repeat an assertion, alone or as a branch of a plain group; groups of
    /// another kind hide it.
    fn close(&mut self, scope: &Scope) {
        let inner = std::mem::replace(&mut self.asserts, scope.asserts);
        let repeated = self.is_quantified();
        match scope.kind {
            Kind::Look => {
                self.asserts = true;
                if repeated {
                    self.out.splice(scope.start..scope.start, *b"(?>");
                    self.out.push(b')');
                }
            }
            Kind::Plain => {
                if repeated && inner && self.out[scope.start..].starts_with(b"(?:") {
                    let flag: &[u8] = if self.extended { b"(?x:" } else { b"(?-x:" };
                    self.out.splice(scope.start..scope.start + 3, flag.iter().copied());
                } else {
                    self.asserts |= inner;
                }
            }
            Kind::Other => {}
        }
    }

    /// An assertion of `n` bytes (`^`, `\b`).
    fn assertion(&mut self, n: usize) {
        self.asserts = true;
        let start = self.out.len();
        self.copy(n);
        if self.is_quantified() {
            self.out.splice(start..start, *b"(?>");
            self.out.push(b')');
        }
    }

    fn open(&mut self) {
        let rest = &self.s[self.at..];
        if rest.starts_with(b"(?#") {
            let n = memchr::memchr(b')', rest).map_or(rest.len(), |n| n + 1);
            self.copy(n);
            return;
        }
        let scope = (self.set, self.extended);
        if rest.starts_with(b"(?<")
            && !matches!(rest.get(3), Some(b'=' | b'!'))
            && let Some(n) = memchr::memchr(b'>', rest)
        {
            let name = String::from_utf8_lossy(&rest[3..n]).into_owned();
            if !self.names.contains(&name) {
                self.names.push(name);
            }
            self.enter(scope.0, scope.1, Kind::Other);
            self.copy(n + 1);
            return;
        }
        if let Some(options) = rest.strip_prefix(b"(?")
            && let Some(n) = options.iter().position(|b| !matches!(b, b'm' | b'i' | b'x' | b'a' | b'd' | b'u' | b'-'))
            && matches!(options[n], b':' | b')')
        {
            let mut on = true;
            let mut kept = Vec::new();
            for &b in &options[..n] {
                match b {
                    b'-' => {
                        on = false;
                        kept.push(b);
                    }
                    b'a' if on => self.set = Set::Ascii,
                    b'u' if on => self.set = Set::Unicode,
                    b'd' if on => self.set = Set::Default,
                    b'x' => {
                        self.extended = on;
                        kept.push(b);
                    }
                    b => kept.push(b),
                }
            }
            self.at += 2 + n + 1;
            if options[n] == b':' {
                self.enter(scope.0, scope.1, if kept.is_empty() { Kind::Plain } else { Kind::Other });
            } else if kept.is_empty() {
                // `(?a)` alone holds until the group ends, as if a group opened here.
                self.out.extend_from_slice(b"(?:");
                self.extra += 1;
                return;
            }
            self.out.extend_from_slice(b"(?");
            self.out.extend_from_slice(&kept);
            self.out.push(options[n]);
            return;
        }
        let kind = match rest {
            [b'(', b'?', b'=' | b'!', ..] | [b'(', b'?', b'<', b'=' | b'!', ..] => Kind::Look,
            _ => Kind::Other,
        };
        self.enter(scope.0, scope.1, kind);
        // `(?<=`, `(?!`, `(?>`, `(?~`, `(?(`, plain groups: copied up to what they hold.
        self.copy(1);
        if self.s.get(self.at) == Some(&b'?') {
            self.copy(2);
        }
    }

    /// Oniguruma swaps the bounds of `{3,1}`; Ruby refuses.
    fn check_interval(&mut self) {
        let rest = &self.s[self.at + 1..];
        let bounds = memchr::memchr(b'}', rest).and_then(|n| std::str::from_utf8(&rest[..n]).ok()).and_then(|t| t.split_once(','));
        if let Some((low, high)) = bounds
            && let (Ok(low), Ok(high)) = (low.parse::<u32>(), high.parse::<u32>())
            && low > high
        {
            self.bad_interval = true;
        }
    }

    /// `[:alpha:]`, inside a class.
    fn posix(&mut self) {
        let rest = &self.s[self.at..];
        let end = rest.windows(2).position(|w| w == b":]");
        let Some(end) = end.filter(|&e| e < 20) else {
            // A class inside a class that starts with a colon.
            self.class_depth += 1;
            self.copy(1);
            return;
        };
        let name = &rest[2..end];
        let (negated, name) = match name.strip_prefix(b"^") {
            Some(n) => (true, n),
            None => (false, name),
        };
        let ascii: Option<&[u8]> = match name {
            _ if self.set != Set::Ascii => None,
            b"alpha" => Some(b"a-zA-Z"),
            b"digit" => Some(b"0-9"),
            b"alnum" => Some(b"a-zA-Z0-9"),
            b"upper" => Some(b"A-Z"),
            b"lower" => Some(b"a-z"),
            b"space" => Some(b"\\t-\\r "),
            b"word" => Some(b"a-zA-Z0-9_"),
            b"punct" => Some(b"!-/:-@\\[-`{-~"),
            _ => None,
        };
        match ascii {
            Some(set) => {
                self.out.extend_from_slice(if negated { b"[^" } else { b"[" });
                self.out.extend_from_slice(set);
                self.out.push(b']');
                self.at += end + 2;
            }
            None => self.copy(end + 2),
        }
    }

    fn escape(&mut self, flags: &RegexFlags) -> Result<(), String> {
        let Some(&c) = self.s.get(self.at + 1) else {
            return Err("too short escape sequence".into());
        };
        match c {
            b'w' | b'W' | b'd' | b'D' | b's' | b'S' if self.set != Set::Unicode && self.unicode => {
                let set: &[u8] = match c | 32 {
                    b'w' => b"a-zA-Z0-9_",
                    b'd' => b"0-9",
                    _ => b"\\t-\\r ",
                };
                let negated = c.is_ascii_uppercase();
                // A class may not end a range: keep the set as a nested class and let the range be read as literal.
                self.out.extend_from_slice(if negated { b"[^" } else { b"[" });
                self.out.extend_from_slice(set);
                self.out.push(b']');
                self.at += 2;
            }
            b'b' | b'B' | b'A' | b'z' | b'Z' | b'G' if self.class_depth == 0 => self.assertion(2),
            b'u' => {
                self.at += 2;
                self.unicode_escape()?;
            }
            b'x' => self.hex_bytes(flags)?,
            b'0'..=b'3' if self.octal_byte().is_some_and(|b| b >= 0x80) => self.hex_bytes(flags)?,
            b'k' | b'g' if self.class_depth == 0 && self.s.get(self.at + 2) == Some(&b'<') => {
                let n = memchr::memchr(b'>', &self.s[self.at..]).map_or(2, |n| n + 1);
                self.copy(n);
            }
            _ => {
                let n = utf8::char_len(&self.s[self.at + 1..]);
                self.copy(1 + n);
            }
        }
        Ok(())
    }

    /// A code point, written so that it stands for itself.
    fn literal(&mut self, c: u32) -> Result<(), String> {
        if c > 0x10ffff {
            return Err("invalid Unicode range".into());
        }
        if c < 0x80 {
            self.out.extend(format!("\\x{c:02x}").bytes());
            return Ok(());
        }
        self.needs_utf8 = true;
        if !utf8::encode(c, &mut self.out) {
            return Err("invalid Unicode range".into());
        }
        Ok(())
    }

    fn unicode_escape(&mut self) -> Result<(), String> {
        let rest = &self.s[self.at..];
        let parse = |h: &[u8]| {
            std::str::from_utf8(h).ok().filter(|h| h.bytes().all(|b| b.is_ascii_hexdigit())).and_then(|h| u32::from_str_radix(h, 16).ok())
        };
        if rest.first() == Some(&b'{') {
            let Some(end) = memchr::memchr(b'}', rest) else {
                return Err("unterminated Unicode escape".into());
            };
            let mut any = false;
            for part in rest[1..end].split(|b| b.is_ascii_whitespace()).filter(|p| !p.is_empty()) {
                any = true;
                if part.len() > 6 {
                    return Err("invalid Unicode range".into());
                }
                let c = parse(part).ok_or("invalid Unicode list")?;
                self.literal(c)?;
            }
            if !any {
                return Err("invalid Unicode list".into());
            }
            self.at += end + 1;
            return Ok(());
        }
        let c = rest.get(..4).and_then(parse).ok_or("invalid Unicode escape")?;
        self.at += 4;
        self.literal(c)
    }

    fn octal_byte(&self) -> Option<u8> {
        let d = self.s.get(self.at + 1..self.at + 4)?;
        d.iter().all(|b| (b'0'..=b'7').contains(b)).then(|| d.iter().fold(0u32, |v, b| v * 8 + (b - b'0') as u32) as u8)
    }

    /// Consecutive `\xHH` (and `\3NN`) escapes: ASCII stays escaped, the rest joins to characters.
    fn hex_bytes(&mut self, flags: &RegexFlags) -> Result<(), String> {
        let mut bytes = Vec::new();
        let start = self.at;
        while self.s.get(self.at) == Some(&b'\\') {
            let byte = match self.s.get(self.at + 1) {
                Some(b'x') => {
                    let digits = self.s[self.at + 2..].iter().take(2).take_while(|b| b.is_ascii_hexdigit()).count();
                    if digits == 0 {
                        return Err("invalid hex escape".into());
                    }
                    let h = String::from_utf8_lossy(&self.s[self.at + 2..self.at + 2 + digits]);
                    let v = u8::from_str_radix(&h, 16).unwrap_or(0);
                    if v < 0x80 && !bytes.is_empty() {
                        break;
                    }
                    self.at += 2 + digits;
                    v
                }
                Some(b'0'..=b'3') => match self.octal_byte() {
                    Some(v) if v >= 0x80 => {
                        self.at += 4;
                        v
                    }
                    _ => break,
                },
                _ => break,
            };
            bytes.push(byte);
            if byte < 0x80 {
                break;
            }
        }
        if bytes.first().is_none_or(|&b| b < 0x80) {
            self.out.extend_from_slice(&self.s[start..self.at]);
            return Ok(());
        }
        if self.unicode && !flags.no_encoding {
            if !utf8::is_valid(&bytes) {
                return Err("invalid multibyte escape".into());
            }
            self.needs_utf8 = true;
            self.out.extend_from_slice(&bytes);
        } else {
            self.raw_bytes = true;
            bytes.iter().for_each(|b| self.out.extend(format!("\\x{b:02x}").bytes()));
        }
        Ok(())
    }
}
