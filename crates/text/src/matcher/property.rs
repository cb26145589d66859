//! Character sets by name: POSIX brackets, `\p{...}`, and the types behind `\w \d \s \h`, for each encoding.
//!
//! Unicode's sets come from regex-syntax; names that only Ruby has (`Alnum`, `In_Greek_and_Coptic`, `Age=6.0`) are put together from them. The sets
//! of single-byte encodings stand in a table; multi-byte ones know words and what is printed, and the Japanese ones scripts.
//! Rejected: tables of our own, but for the names of blocks, which no crate in use has.

use super::blocks::BLOCKS;
use super::codec::BROKEN;
use super::ranges::Ranges;
pub use crate::encoding::letters::Class as Type;
use crate::encoding::letters::Letters;
use crate::encoding::{Encoding, transcode};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, HirKind};

impl Type {
    /// By its name between `[:` and `:]`.
    pub fn find(name: &[u8]) -> Option<Type> {
        Some(match name {
            b"alnum" => Type::Alnum,
            b"alpha" => Type::Alpha,
            b"ascii" => Type::Ascii,
            b"blank" => Type::Blank,
            b"cntrl" => Type::Cntrl,
            b"digit" => Type::Digit,
            b"graph" => Type::Graph,
            b"lower" => Type::Lower,
            b"print" => Type::Print,
            b"punct" => Type::Punct,
            b"space" => Type::Space,
            b"upper" => Type::Upper,
            b"word" => Type::Word,
            b"xdigit" => Type::XDigit,
            _ => return None,
        })
    }

    /// The ASCII characters of the type.
    pub fn ascii(self) -> Ranges {
        Ranges::of(match self {
            Type::Alnum => &[(0x30, 0x39), (0x41, 0x5a), (0x61, 0x7a)],
            Type::Alpha => &[(0x41, 0x5a), (0x61, 0x7a)],
            Type::Ascii => &[(0, 0x7f)],
            Type::Blank => &[(9, 9), (0x20, 0x20)],
            Type::Cntrl => &[(0, 0x1f), (0x7f, 0x7f)],
            Type::Digit => &[(0x30, 0x39)],
            Type::Graph => &[(0x21, 0x7e)],
            Type::Lower => &[(0x61, 0x7a)],
            Type::Print => &[(0x20, 0x7e)],
            Type::Punct => &[(0x21, 0x2f), (0x3a, 0x40), (0x5b, 0x60), (0x7b, 0x7e)],
            Type::Space => &[(9, 13), (0x20, 0x20)],
            Type::Upper => &[(0x41, 0x5a)],
            Type::Word => &[(0x30, 0x39), (0x41, 0x5a), (0x5f, 0x5f), (0x61, 0x7a)],
            Type::XDigit => &[(0x30, 0x39), (0x41, 0x46), (0x61, 0x66)],
        })
    }

    fn unicode(self) -> Ranges {
        let all = |names: &[&str]| {
            let mut r = Ranges::new();
            names.iter().filter_map(|n| table(n)).for_each(|t| r.union(&t));
            r
        };
        match self {
            Type::Alnum => all(&["Alphabetic", "Nd"]),
            Type::Alpha => all(&["Alphabetic"]),
            Type::Blank => {
                let mut r = all(&["Zs"]);
                r.add(9, 9);
                r
            }
            Type::Cntrl => all(&["Cc"]),
            Type::Digit => all(&["Nd"]),
            Type::Graph => {
                let mut not = all(&["White_Space", "Cc", "Cn"]);
                not.add(0xd800, 0xdfff);
                not.negated().within(0, 0x10ffff)
            }
            Type::Lower => all(&["Lowercase"]),
            Type::Print => {
                let mut r = Type::Graph.unicode();
                r.union(&all(&["Zs"]));
                r
            }
            Type::Punct => {
                let mut r = all(&["P"]);
                r.union(&Type::Punct.ascii());
                r
            }
            Type::Space => all(&["White_Space"]),
            Type::Upper => all(&["Uppercase"]),
            Type::Word => all(&["Alphabetic", "M", "Nd", "Pc", "Join_Control"]),
            Type::Ascii | Type::XDigit => self.ascii(),
        }
    }

    /// The characters of the type.
    pub fn set(self, enc: Encoding) -> Ranges {
        if enc.is_unicode() {
            return self.unicode();
        }
        let mut r = self.ascii();
        if enc.is_single_byte() {
            if let Some(letters) = Letters::of(enc) {
                letters.members(self).for_each(|b| r.add(u32::from(b), u32::from(b)));
            }
        } else if let Type::Graph | Type::Print | Type::Word = self {
            // All that multi-byte encodings have beyond ASCII; the other types are ASCII's alone.
            r.add(0x81, BROKEN - 1);
        }
        r
    }

    /// What is left of the type where it is told to be ASCII's: spaces of single-byte encodings stay, as in CRuby.
    pub fn narrow(self, enc: Encoding) -> Ranges {
        if self == Type::Space && enc.is_single_byte() { self.set(enc) } else { self.ascii() }
    }
}

/// Encodings that know letters beyond ASCII; the others treat such bytes as neither.
pub fn has_own_letters(enc: Encoding) -> bool {
    !enc.is_single_byte() || Letters::of(enc).is_some()
}

/// The characters of `enc` whose Unicode counterparts are in the set.
fn translated(enc: Encoding, set: &Ranges) -> Ranges {
    let mut r = Ranges::new();
    let mut test = |bytes: &[u8]| {
        if enc.char_len(bytes) == Ok(bytes.len()) && transcode::decode_char(enc, bytes).is_some_and(|c| set.contains(c)) {
            let code = bytes.iter().fold(0, |v, &b| v << 8 | u32::from(b));
            r.add(code, code);
        }
    };
    (0..=255u8).for_each(|b| test(&[b]));
    for a in 0x80..=0xffu8 {
        (0x40..=0xffu8).for_each(|b| test(&[a, b]));
    }
    for (a, b) in (0xa1..=0xfeu8).flat_map(|a| (0xa1..=0xfeu8).map(move |b| (a, b))) {
        test(&[0x8f, a, b]);
    }
    r
}

/// A set that regex-syntax knows by this name.
fn table(name: &str) -> Option<Ranges> {
    let hir = ParserBuilder::new().utf8(false).build().parse(&format!("\\p{{{name}}}")).ok()?;
    match hir.into_kind() {
        HirKind::Class(Class::Unicode(class)) => {
            let pairs: Vec<(u32, u32)> = class.ranges().iter().map(|r| (r.start() as u32, r.end() as u32)).collect();
            Some(Ranges::of(&pairs))
        }
        // A class of one character.
        HirKind::Literal(literal) => {
            let s = std::str::from_utf8(&literal.0).ok()?;
            s.chars().next().map(|c| Ranges::single(c as u32))
        }
        // A class of none (unpaired surrogates).
        _ => Some(Ranges::new()),
    }
}

/// The Unicode set of a Grapheme_Cluster_Break value.
pub fn grapheme_break(value: &str) -> Ranges {
    table(&format!("gcb={value}")).unwrap_or_default()
}

/// The Unicode set of a binary property.
pub fn binary(name: &str) -> Ranges {
    table(name).unwrap_or_default()
}

/// Names compare without case, blanks, dashes and underscores.
fn normalized(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, ' ' | '-' | '_')).map(|c| c.to_ascii_lowercase()).collect()
}

fn unicode_named(name: &str) -> Option<Ranges> {
    if let Some(version) = name.strip_prefix("age=") {
        return table(&format!("age={version}"));
    }
    if let Some(block) = name.strip_prefix("in") {
        let found = BLOCKS.iter().find(|b| normalized(b.0) == block);
        if let Some(&(_, from, to)) = found {
            return Some(Ranges::of(&[(from, to)]));
        }
        if block == "noblock" {
            let pairs: Vec<(u32, u32)> = BLOCKS.iter().map(|b| (b.1, b.2)).collect();
            return Some(Ranges::of(&pairs).negated().within(0, 0x10ffff));
        }
    }
    if let Some(value) = name.strip_prefix("graphemeclusterbreak") {
        return table(&format!("gcb={value}"));
    }
    match name {
        "any" => return Some(Ranges::of(&[(0, 0x10ffff)])),
        "assigned" => return table("Cn").map(|r| r.negated().within(0, 0x10ffff)),
        "xposixpunct" | "posixpunct" => return Some(Type::Punct.unicode()),
        "c" | "other" => return table("C").map(|r| r.minus(&Ranges::new())),
        "cs" | "surrogate" => return Some(Ranges::of(&[(0xd800, 0xdfff)])),
        _ => {}
    }
    // regex-syntax takes more forms than Ruby.
    if !name.bytes().all(|b| b.is_ascii_alphanumeric()) || name.starts_with("is") || name.is_empty() {
        return None;
    }
    table(name)
}

/// The set of `\p{name}`; None when there is none.
pub fn named(enc: Encoding, name: &[u8]) -> Option<Ranges> {
    let name = normalized(std::str::from_utf8(name).ok()?);
    if let Some(t) = Type::find(name.as_bytes()) {
        return Some(if enc.is_unicode() && t == Type::Punct { table("P")? } else { t.set(enc) });
    }
    if enc.is_unicode() {
        return unicode_named(&name);
    }
    // Beside the types, encodings of Japanese know their scripts.
    let japanese =
        enc.name().starts_with("EUC-J") || enc.name().starts_with("euc") || enc.name().contains("JIS") || enc.name() == "Windows-31J";
    if japanese && matches!(name.as_str(), "hiragana" | "katakana" | "han" | "latin" | "greek" | "cyrillic") {
        return Some(translated(enc, &table(&name)?));
    }
    None
}
