//! Letters and other classes of characters in the upper halves of single-byte encodings, as CRuby knows them.
//!
//! Where the classes of a byte are not those of the character that it stands for (a no-break space is blank in all of them, a section sign no
//! punctuation in some), CRuby's count. Encodings that are not in the table have neither letters nor cases beyond ASCII.
//! `tests/core/single_byte_letters.rb` reads all of it back from a Ruby.
//! Rejected: classes and cases of the characters' Unicode counterparts, which differ from CRuby's for a third of the encodings.

use super::Encoding;
use super::case::CaseOp;

/// What one encoding has from 0x80 on.
pub struct Letters {
    names: &'static [&'static str],
    /// A letter for the classes of each byte, see [`is`].
    kinds: &'static [u8; 128],
    /// Upper case letters, their lower case ones, and how many follow one another.
    pairs: &'static [(u8, u8, u8)],
    /// Lower case letters whose upper case ones have other lower case ones: letter, upper case, lower case of that.
    strays: &'static [(u8, u8, u8)],
    /// 0xDF is `ß`: SS in upper case.
    sharp_s: bool,
    /// The capital dotted I and the small dotless one: case pairs with `i` and `I`.
    dotted: Option<(u8, u8)>,
    /// `:turkic` makes these of `i` and `I`, but nothing makes `i` and `I` of these.
    dotted_one_way: bool,
    /// Strings are mapped; else regexps alone ignore case.
    maps: bool,
}

const NONE: Letters =
    Letters { names: &[], kinds: &[b'.'; 128], pairs: &[], strays: &[], sharp_s: false, dotted: None, dotted_one_way: false, maps: true };

/// Classes of characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Alnum,
    Alpha,
    Ascii,
    Blank,
    Cntrl,
    Digit,
    Graph,
    Lower,
    Print,
    Punct,
    Space,
    Upper,
    Word,
    XDigit,
}

/// Is a byte of this kind in a class? (No digit is beyond ASCII.)
fn is(kind: u8, class: Class) -> bool {
    match class {
        Class::Alnum | Class::Alpha => matches!(kind, b'u' | b'l' | b'L' | b'a'),
        Class::Lower => matches!(kind, b'l' | b'L'),
        Class::Upper => kind == b'u',
        Class::Word => matches!(kind, b'u' | b'l' | b'L' | b'a' | b'n' | b'N'),
        Class::Punct => matches!(kind, b'p' | b'L' | b'N'),
        Class::Graph => matches!(kind, b'u' | b'l' | b'L' | b'a' | b'n' | b'N' | b's' | b'p'),
        Class::Print => !matches!(kind, b'.' | b'c'),
        Class::Cntrl => kind == b'c',
        Class::Blank => kind == b'b',
        Class::Space => matches!(kind, b'b' | b't'),
        Class::Ascii | Class::Digit | Class::XDigit => false,
    }
}

/// What a byte becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mapped {
    Byte(u8),
    /// `ß`
    SharpS,
}

impl Letters {
    /// The letters of an encoding, where CRuby knows any.
    pub fn of(enc: Encoding) -> Option<&'static Letters> {
        LETTERS.iter().find(|l| l.names.contains(&enc.name()))
    }

    /// Do Strings have cases here?
    pub fn maps(&self) -> bool {
        self.maps && (self.sharp_s || !self.pairs.is_empty())
    }

    /// The bytes from 0x80 on that are in a class.
    pub fn members(&self, class: Class) -> impl Iterator<Item = u8> {
        (0x80..=0xff).zip(self.kinds).filter(move |k| is(*k.1, class)).map(|k| k.0)
    }

    fn upper(&self, b: u8, turkic: bool) -> Mapped {
        Mapped::Byte(match self.dotted {
            Some((dotted, _)) if turkic && b == b'i' => dotted,
            Some((_, dotless)) if b == dotless && !self.dotted_one_way => b'I',
            _ if b < 0x80 => b.to_ascii_uppercase(),
            _ if b == 0xdf && self.sharp_s => return Mapped::SharpS,
            _ => match self.strays.iter().find(|s| s.0 == b) {
                Some(s) => s.1,
                None => self.pairs.iter().find(|p| b.wrapping_sub(p.1) < p.2).map_or(b, |p| b - p.1 + p.0),
            },
        })
    }

    fn lower(&self, b: u8, turkic: bool) -> u8 {
        match self.dotted {
            Some((_, dotless)) if turkic && b == b'I' => dotless,
            Some((dotted, _)) if b == dotted && !self.dotted_one_way => b'i',
            _ if b < 0x80 => b.to_ascii_lowercase(),
            _ => self.pairs.iter().find(|p| b.wrapping_sub(p.0) < p.2).map_or(b, |p| b - p.0 + p.1),
        }
    }

    /// What a byte is compared as when case is ignored; None for `ß`, which is `ss`.
    pub fn fold(&self, b: u8) -> Option<u8> {
        match self.strays.iter().find(|s| s.0 == b) {
            _ if b == 0xdf && self.sharp_s => None,
            Some(s) => Some(s.2),
            None => Some(self.lower(b, false)),
        }
    }

    /// What a byte is compared as in a regexp that ignores case; None for `ß`. A letter that only upper case knows (a final sigma) stands for itself.
    pub fn regexp_fold(&self, b: u8) -> Option<u8> {
        if b == 0xdf && self.sharp_s { None } else { Some(self.lower(b, false)) }
    }

    /// Appends a byte, mapped. `first`: it is the first one of its text.
    pub fn map(&self, b: u8, op: CaseOp, first: bool, turkic: bool, out: &mut Vec<u8>) {
        let mapped = match op {
            CaseOp::Up => self.upper(b, turkic),
            CaseOp::Capitalize if first => self.upper(b, turkic),
            CaseOp::Fold => self.fold(b).map_or(Mapped::SharpS, Mapped::Byte),
            CaseOp::Down | CaseOp::Capitalize => Mapped::Byte(self.lower(b, turkic)),
            CaseOp::Swap => match self.lower(b, turkic) {
                same if same == b => self.upper(b, turkic),
                other => Mapped::Byte(other),
            },
        };
        match (mapped, op) {
            (Mapped::Byte(b), _) => out.push(b),
            (Mapped::SharpS, CaseOp::Fold) => out.extend_from_slice(b"ss"),
            (Mapped::SharpS, CaseOp::Capitalize) => out.extend_from_slice(b"Ss"),
            (Mapped::SharpS, _) => out.extend_from_slice(b"SS"),
        }
    }
}

static LETTERS: &[Letters] = &[
    Letters {
        names: &["ISO-8859-1"],
        kinds: b"ccccccccccccccccccccccccccccccccbpsssssssslpspssssnnslspsnlpnnnpuuuuuuuuuuuuuuuuuuuuuuusuuuuuuullllllllllllllllllllllllsllllllll",
        pairs: &[(0xc0, 0xe0, 23), (0xd8, 0xf8, 7)],
        sharp_s: true,
        ..NONE
    },
    Letters {
        names: &["ISO-8859-2"],
        kinds: b"ccccccccccccccccccccccccccccccccbususuussuuuupuuslslsllssllllslluuuuuuuuuuuuuuuuuuuuuuusuuuuuuullllllllllllllllllllllllsllllllls",
        pairs: &[(0xa1, 0xb1, 1), (0xa3, 0xb3, 1), (0xa5, 0xb5, 2), (0xa9, 0xb9, 4), (0xae, 0xbe, 2), (0xc0, 0xe0, 23), (0xd8, 0xf8, 7)],
        sharp_s: true,
        ..NONE
    },
    Letters {
        names: &["ISO-8859-3"],
        kinds: b"ccccccccccccccccccccccccccccccccbusss.ussuuuup.uslnnsllpsllllN.luuu.uuuuuuuuuuuu.uuuuuusuuuuuuullll.llllllllllll.llllllsllllllls",
        pairs: &[(0xa1, 0xb1, 1), (0xa6, 0xb6, 1), (0xaa, 0xba, 3), (0xaf, 0xbf, 1), (0xc0, 0xe0, 3), (0xc4, 0xe4, 12), (0xd1, 0xf1, 6), (0xd8, 0xf8, 7)],
        sharp_s: true,
        dotted: Some((0xa9, 0xb9)),
        ..NONE
    },
    Letters {
        names: &["ISO-8859-4"],
        kinds: b"ccccccccccccccccccccccccccccccccbulusuussuuuupusslslsllssllllulluuuuuuuuuuuuuuuuuuuuuuusuuuuuuullllllllllllllllllllllllsllllllls",
        pairs: &[(0xa1, 0xb1, 1), (0xa3, 0xb3, 1), (0xa5, 0xb5, 2), (0xa9, 0xb9, 4), (0xae, 0xbe, 1), (0xbd, 0xbf, 1), (0xc0, 0xe0, 23), (0xd8, 0xf8, 7)],
        sharp_s: true,
        ..NONE
    },
    Letters {
        names: &["ISO-8859-5"],
        kinds: b"ccccccccccccccccccccccccccccccccbuuuuuuuuuuuupuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuullllllllllllllllllllllllllllllllsllllllllllllsll",
        pairs: &[(0xb0, 0xd0, 32), (0xa1, 0xf1, 12), (0xae, 0xfe, 2)],
        ..NONE
    },
    Letters {
        names: &["ISO-8859-6", "Windows-1256"],
        kinds: b"ccccccccccccccccccccccccccccccccb...s.......pp.............p...p.aaaaaaaaaaaaaaaaaaaaaaaaaa.....aaaaaaaaaaaaaaaaaaa.............",
        ..NONE
    },
    Letters {
        names: &["ISO-8859-7"],
        kinds: b"ccccccccccccccccccccccccccccccccbpps..ssss.psp.pssnnssupuuupunuuluuuuuuuuuuuuuuuuu.uuuuuuuuulllllllllllllllllllllllllllllllllll.",
        pairs: &[(0xb6, 0xdc, 1), (0xb8, 0xdd, 3), (0xc1, 0xe1, 17), (0xd3, 0xf3, 9), (0xbc, 0xfc, 1), (0xbe, 0xfd, 2)],
        strays: &[(0xf2, 0xd3, 0xf3)],
        ..NONE
    },
    Letters {
        names: &["ISO-8859-8", "Windows-1255"],
        kinds: b"ccccccccccccccccccccccccccccccccb.ssssssssspspssssnnslspsnspnnn................................paaaaaaaaaaaaaaaaaaaaaaaaaaa.....",
        ..NONE
    },
    Letters {
        names: &["ISO-8859-9"],
        kinds: b"ccccccccccccccccccccccccccccccccbpsssssssslpspssssnnslspsnlpnnnpuuuuuuuuuuuuuuuuuuuuuuusuuuuuuullllllllllllllllllllllllsllllllll",
        pairs: &[(0xc0, 0xe0, 23), (0xd8, 0xf8, 5), (0xde, 0xfe, 1)],
        sharp_s: true,
        dotted: Some((0xdd, 0xfd)),
        ..NONE
    },
    Letters {
        names: &["ISO-8859-10"],
        kinds: b"ccccccccccccccccccccccccccccccccbuuuuuusuuuuupuusllllllplllllplluuuuuuuuuuuuuuuuuuuuuuuuuuuuuuulllllllllllllllllllllllllllllllll",
        pairs: &[(0xa1, 0xb1, 6), (0xa8, 0xb8, 5), (0xae, 0xbe, 2), (0xc0, 0xe0, 31)],
        sharp_s: true,
        ..NONE
    },
    Letters {
        names: &["ISO-8859-11", "Windows-874", "TIS-620"],
        kinds: b"ccccccccccccccccccccccccccccccccbaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa....aaaaaaaaaaaaaaaaaaaaaaaaaaaaa....",
        ..NONE
    },
    Letters {
        names: &["ISO-8859-13"],
        kinds: b"ccccccccccccccccccccccccccccccccbpssspssusupspsussnnplsplnlpnnnluuuuuuuuuuuuuuuuuuuuuuusuuuuuuullllllllllllllllllllllllslllllllp",
        pairs: &[(0xa8, 0xb8, 1), (0xaa, 0xba, 1), (0xaf, 0xbf, 1), (0xc0, 0xe0, 23), (0xd8, 0xf8, 7)],
        sharp_s: true,
        ..NONE
    },
    Letters {
        names: &["ISO-8859-14"],
        kinds: b"ccccccccccccccccccccccccccccccccbulsulususulupsuulululsulllululluuuuuuuuuuuuuuuuuuuuuuuuuuuuuuulllllllllllllllllllllllllllllllll",
        pairs: &[(0xa1, 0xa2, 1), (0xa4, 0xa5, 1), (0xa6, 0xab, 1), (0xb0, 0xb1, 1), (0xb2, 0xb3, 1), (0xb4, 0xb5, 1), (0xa8, 0xb8, 1), (0xb7, 0xb9, 1), (0xaa, 0xba, 1), (0xac, 0xbc, 1), (0xbd, 0xbe, 1), (0xbb, 0xbf, 1), (0xc0, 0xe0, 31), (0xaf, 0xff, 1)],
        sharp_s: true,
        ..NONE
    },
    Letters {
        names: &["ISO-8859-15"],
        kinds: b"ccccccccccccccccccccccccccccccccbpssssuslslpspssssnnulsplnlpulupuuuuuuuuuuuuuuuuuuuuuuusuuuuuuullllllllllllllllllllllllsllllllll",
        pairs: &[(0xa6, 0xa8, 1), (0xb4, 0xb8, 1), (0xbc, 0xbd, 1), (0xc0, 0xe0, 23), (0xd8, 0xf8, 7), (0xbe, 0xff, 1)],
        sharp_s: true,
        ..NONE
    },
    Letters {
        names: &["ISO-8859-16"],
        kinds: b"ccccccccccccccccccccccccccccccccbuluspuslsupuplussulupsplllpululuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuulllllllllllllllllllllllllllllllll",
        pairs: &[(0xa1, 0xa2, 1), (0xa6, 0xa8, 1), (0xac, 0xae, 1), (0xa3, 0xb3, 1), (0xb4, 0xb8, 1), (0xb2, 0xb9, 1), (0xaa, 0xba, 1), (0xbc, 0xbd, 1), (0xaf, 0xbf, 1), (0xc0, 0xe0, 31), (0xbe, 0xff, 1)],
        sharp_s: true,
        ..NONE
    },
    Letters {
        names: &["Windows-1250"],
        kinds: b"s.ccccccccucuuuu.ccccccccclcllllbpsusussssupspsussnlslspsllpunlluuuuuuuuuuuuuuuuuuuuuuusuuuuuuullllllllllllllllllllllllsllllllls",
        pairs: &[(0x8a, 0x9a, 1), (0x8c, 0x9c, 4), (0xa3, 0xb3, 1), (0xa5, 0xb9, 1), (0xaa, 0xba, 1), (0xbc, 0xbe, 1), (0xaf, 0xbf, 1), (0xc0, 0xe0, 23), (0xd8, 0xf8, 7)],
        sharp_s: true,
        ..NONE
    },
    Letters {
        names: &["Windows-1251"],
        kinds: b"uuplpppp.pupuuuulpppppppc.lplllltulupuppupuppppuppullLppl.lplulluuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuullllllllllllllllllllllllllllllll",
        pairs: &[(0x81, 0x83, 1), (0x80, 0x90, 1), (0x8a, 0x9a, 1), (0x8c, 0x9c, 4), (0xa1, 0xa2, 1), (0xb2, 0xb3, 1), (0xa5, 0xb4, 1), (0xa8, 0xb8, 1), (0xaa, 0xba, 1), (0xa3, 0xbc, 1), (0xbd, 0xbe, 1), (0xaf, 0xbf, 1), (0xc0, 0xe0, 32)],
        ..NONE
    },
    Letters {
        names: &["Windows-1252"],
        kinds: b"s.ccccccccucu.u..ccccccccclcl.lubpsssssssslpspssssnnslspsnlpnnnpuuuuuuuuuuuuuuuuuuuuuuusuuuuuuullllllllllllllllllllllllsllllllll",
        pairs: &[(0x8a, 0x9a, 1), (0x8c, 0x9c, 1), (0x8e, 0x9e, 1), (0xc0, 0xe0, 23), (0xd8, 0xf8, 7), (0x9f, 0xff, 1)],
        sharp_s: true,
        ..NONE
    },
    Letters {
        names: &["Windows-1253"],
        kinds: b"ccccccccccccccccccccccccccccccccbpus..ssss.psp.pssnnslupuuupunuuluuuuuuuuuuuuuuuuu.uuuuuuuuulllllllllllllllllllllllllllllllllll.",
        pairs: &[(0xa2, 0xdc, 1), (0xb8, 0xdd, 3), (0xc1, 0xe1, 17), (0xd3, 0xf3, 9), (0xbc, 0xfc, 1), (0xbe, 0xfd, 2)],
        strays: &[(0xb5, 0xcc, 0xec), (0xf2, 0xd3, 0xf3)],
        ..NONE
    },
    Letters {
        names: &["Windows-1254"],
        kinds: b"ccccccccccucuccccccccccccclclccubpsssssssslpspssssnnslspsnlpnnnpuuuuuuuuuuuuuuuuuuuuuuusuuuuuuullllllllllllllllllllllllsllllllll",
        pairs: &[(0x8a, 0x9a, 1), (0x8c, 0x9c, 1), (0xc0, 0xe0, 23), (0xd8, 0xf8, 5), (0xde, 0xfe, 1), (0x9f, 0xff, 1)],
        sharp_s: true,
        dotted: Some((0xdd, 0xfd)),
        ..NONE
    },
    Letters {
        names: &["Windows-1257"],
        kinds: b"ccccccccccccccccccccccccccccccccbpssspssusupspsussnnplsplnlpnnnluuuuuuuuuuuuuuuuuuuuuuusuuuuuuullllllllllllllllllllllllslllllllp",
        pairs: &[(0xa8, 0xb8, 1), (0xaa, 0xba, 1), (0xaf, 0xbf, 1), (0xc0, 0xe0, 23), (0xd8, 0xf8, 7)],
        sharp_s: true,
        dotted: Some((0xa9, 0xb9)),
        dotted_one_way: true,
        ..NONE
    },
    Letters {
        names: &["KOI8-R"],
        kinds: b"ssssssssssssssssssssssssssbssnpsssslsssssssssssssssusssssssssssslllllllllllllllllllllllllllllllluuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu",
        pairs: &[(0xe0, 0xc0, 32), (0xb3, 0xa3, 1)],
        maps: false,
        ..NONE
    },
    Letters {
        names: &["KOI8-U"],
        kinds: b"ssssssssssssssssssssssssssbssnpssssllsllssssslsssssuusuusssssusslllllllllllllllllllllllllllllllluuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu",
        pairs: &[(0xe0, 0xc0, 32), (0xb3, 0xa3, 1), (0xb4, 0xa4, 1), (0xb6, 0xa6, 2), (0xbd, 0xad, 1)],
        maps: false,
        ..NONE
    },
];
