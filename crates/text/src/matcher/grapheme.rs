//! Extended grapheme clusters (`\X`), by the rules of Unicode's annex 29.
//!
//! The rules GB3 to GB13, without GB9c, which Ruby's engine has not. Tables are regex-syntax's.
//! Rejected: compiling the rules to instructions (a thousand of them, with sets of all scripts, for each `\X`).

use super::codec::Codec;
use super::property;
use super::ranges::Ranges;

#[derive(Debug)]
pub struct Tables {
    control: Ranges,
    extend: Ranges,
    prepend: Ranges,
    spacing: Ranges,
    l: Ranges,
    v: Ranges,
    t: Ranges,
    lv: Ranges,
    lvt: Ranges,
    flag: Ranges,
    picture: Ranges,
}

#[derive(Clone, Copy, PartialEq)]
enum Class {
    Cr,
    Lf,
    Control,
    Extend,
    Joiner,
    Prepend,
    Spacing,
    L,
    V,
    T,
    Lv,
    Lvt,
    Flag,
    Picture,
    Other,
}

impl Tables {
    pub fn new() -> Tables {
        let b = property::grapheme_break;
        Tables {
            control: b("Control"),
            extend: b("Extend"),
            prepend: b("Prepend"),
            spacing: b("SpacingMark"),
            l: b("L"),
            v: b("V"),
            t: b("T"),
            lv: b("LV"),
            lvt: b("LVT"),
            flag: b("Regional_Indicator"),
            picture: property::binary("Extended_Pictographic"),
        }
    }

    fn class(&self, c: u32) -> Class {
        match c {
            13 => return Class::Cr,
            10 => return Class::Lf,
            0x20..=0x7e => return Class::Other,
            0x200d => return Class::Joiner,
            _ => {}
        }
        let tables = [
            (&self.extend, Class::Extend),
            (&self.picture, Class::Picture),
            (&self.control, Class::Control),
            (&self.prepend, Class::Prepend),
            (&self.spacing, Class::Spacing),
            (&self.l, Class::L),
            (&self.v, Class::V),
            (&self.t, Class::T),
            (&self.lv, Class::Lv),
            (&self.lvt, Class::Lvt),
            (&self.flag, Class::Flag),
        ];
        tables.iter().find(|t| t.0.contains(c)).map_or(Class::Other, |t| t.1)
    }

    /// Where the cluster that begins at `at` ends; `at` is inside.
    pub fn end<C: Codec>(&self, codec: C, s: &[u8], at: usize, end: usize) -> usize {
        let (c, n) = codec.decode(s, at);
        let mut before = self.class(c);
        let mut at = at + n;
        // After a picture and what extends it: does a joiner join a picture?
        let mut picture = before == Class::Picture;
        let mut flags = usize::from(before == Class::Flag);
        while at < end {
            let (c, n) = codec.decode(s, at);
            let next = self.class(c);
            use Class::*;
            let joins = match (before, next) {
                (Cr, Lf) => true,
                (Cr | Lf | Control, _) | (_, Cr | Lf | Control) => false,
                (L, L | V | Lv | Lvt) | (Lv | V, V | T) | (Lvt | T, T) => true,
                (_, Extend | Joiner | Spacing) | (Prepend, _) => true,
                (Joiner, Picture) => picture,
                (Flag, Flag) => flags % 2 == 1,
                _ => false,
            };
            if !joins {
                break;
            }
            flags = if next == Flag { flags + 1 } else { 0 };
            picture = next == Picture || picture && matches!(next, Extend | Joiner);
            before = next;
            at += n;
        }
        at.min(end)
    }
}
