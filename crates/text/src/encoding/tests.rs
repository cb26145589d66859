//! Encodings against an installed Ruby.

use super::case::{CaseOp, CaseOptions, map};
use super::transcode::{OnInvalid, OnUndefined, Policy, transcode};
use super::*;
use crate::reference::{Rng, compare};
use zakuro_base::progress::to_the_end;

const PIECES: [&str; 34] = [
    "a",
    "Z",
    "é",
    "ß",
    "あ",
    "漢",
    "😀",
    "#",
    "{",
    "$",
    "@",
    "\"",
    "\\",
    "\n",
    "\t",
    "\u{1b}",
    "\u{1}",
    "\u{7f}",
    "\u{85}",
    "\u{a0}",
    "\u{2028}",
    "\u{378}",
    "\u{e000}",
    "\u{10ffff}",
    "ǆ",
    "İ",
    "ı",
    "Σ",
    "ﬁ",
    "~",
    "～",
    "€",
    "ё",
    "\0",
];

fn broken(seed: u64, n: usize) -> Vec<Vec<u8>> {
    let mut rng = Rng(seed);
    (0..n)
        .map(|_| {
            let mut s = rng.join(&PIECES, 6);
            for _ in 0..rng.below(3) {
                if !s.is_empty() {
                    let i = rng.below(s.len());
                    if rng.next() & 1 == 0 {
                        s[i] = rng.next() as u8;
                    } else {
                        s.truncate(i);
                    }
                }
            }
            s
        })
        .collect()
}

#[test]
fn inspect_and_dump_as_ruby() {
    let mut cases = broken(1, 5000);
    // CRuby of today escapes U+0085, 3.1 does not.
    cases.retain(|c| !c.windows(2).any(|w| w == [0xc2, 0x85]));
    compare(&cases, "s.inspect", |s| inspect::inspect_str(s, Encoding::UTF_8).into_bytes());
    compare(&cases, "s.dump", |s| to_the_end(|p| inspect::dump(s, Encoding::UTF_8, p)).into_bytes());
    compare(&cases, "s.b.inspect", |s| inspect::inspect_str(s, Encoding::BINARY).into_bytes());
    compare(&cases, "s.dup.force_encoding('Shift_JIS').inspect", |s| {
        inspect::inspect_str(s, Encoding::find(b"shift_jis").unwrap()).into_bytes()
    });
    compare(&cases, "s.dup.force_encoding('UTF-16LE').inspect", |s| inspect::inspect_str(s, Encoding::UTF_16LE).into_bytes());
}

#[test]
fn symbols_as_ruby() {
    let mut rng = Rng(2);
    let parts = [
        "a", "B", "1", "_", "?", "!", "=", "[]", "@", "$", "é", " ", "<", ">", "*", "+", "-", "~", "&", "0", "あ", "|", "^", "`",
        "\u{2028}",
    ];
    let mut cases: Vec<Vec<u8>> = (0..5000).map(|_| rng.join(&parts, 4)).collect();
    // A grammar of its own: the reference accepts `:a?=` in some versions only.
    // And CRuby 3.1 shows `:"1="` unquoted.
    cases.retain(|c| !c.ends_with(b"=") || inspect::is_simple_symbol(&c[..c.len() - 1]));
    cases.retain(|c| !c.ends_with(b"?=") && !c.ends_with(b"!="));
    compare(&cases, "s.to_sym.inspect", |s| inspect::inspect_sym(s, Encoding::UTF_8).into_bytes());
}

#[test]
fn characters_as_ruby() {
    let cases = broken(3, 4000);
    compare(&cases, "s.chars.map { |c| c.unpack1('H*') }.join(',')", |s| {
        utf8::chars(s).map(crate::reference::hex).collect::<Vec<_>>().join(",").into_bytes()
    });
    compare(&cases, "[s.size, s.valid_encoding?, s.ascii_only?].inspect", |s| {
        let r = utf8::code_range(s);
        format!("[{}, {}, {}]", utf8::char_count(s), r != CodeRange::Broken, r == CodeRange::SevenBit).into_bytes()
    });
    compare(&cases, "(0..s.size + 1).map { |i| s.byteslice(0, s[0, i].bytesize).bytesize }.join(',')", |s| {
        let n = utf8::char_count(s);
        (0..=n + 1).map(|i| utf8::byte_offset(s, i).unwrap_or(s.len()).to_string()).collect::<Vec<_>>().join(",").into_bytes()
    });
    for e in ["UTF-16LE", "EUC-JP", "Shift_JIS", "US-ASCII", "GB18030"] {
        let enc = Encoding::find(e.as_bytes()).unwrap();
        compare(&cases, &format!("s.dup.force_encoding('{e}').valid_encoding?.inspect"), |s| enc.is_valid(s).to_string().into_bytes());
    }
}

#[test]
fn case_as_ruby() {
    // Only letters that Unicode 13 had.
    let mut cases: Vec<Vec<u8>> =
        (1..0x2fff).filter_map(char::from_u32).filter(|c| c.is_alphabetic()).map(|c| format!("{c}{c}").into_bytes()).collect();
    cases.retain(|c| !matches!(utf8::decode(c), Some((0x2c2f | 0x2c5f | 0xa7c0..=0xa7da | 0x1c89 | 0x1c8a | 0x19b | 0x264, _))));
    let none = CaseOptions::default();
    let map = |s: &[u8], op, options| to_the_end(|p| map(s, op, options, p));
    compare(&cases, "s.upcase", |s| map(s, CaseOp::Up, none));
    compare(&cases, "s.downcase", |s| map(s, CaseOp::Down, none));
    compare(&cases, "s.capitalize", |s| map(s, CaseOp::Capitalize, none));
    compare(&cases, "s.swapcase", |s| map(s, CaseOp::Swap, none));
    compare(&cases, "s.downcase(:fold)", |s| map(s, CaseOp::Fold, none));
    compare(&cases, "s.upcase(:turkic) + s.downcase(:turkic)", |s| {
        let turkic = CaseOptions { turkic: true, ..none };
        [map(s, CaseOp::Up, turkic), map(s, CaseOp::Down, turkic)].concat()
    });
}

#[test]
fn transcode_as_ruby() {
    let cases = broken(4, 1500);
    for dst in [
        "UTF-16LE",
        "UTF-16",
        "UTF-32BE",
        "ISO-8859-1",
        "ISO-8859-15",
        "US-ASCII",
        "ASCII-8BIT",
        "Windows-1252",
        "Shift_JIS",
        "EUC-JP",
        "Windows-31J",
        "IBM437",
    ] {
        let to = Encoding::find(dst.as_bytes()).unwrap();
        compare(&cases, &format!("s.encode('{dst}') rescue $!.message"), |s| {
            transcode(Encoding::UTF_8, to, s, &Policy::default()).unwrap_or_else(|e| e.message.into_bytes())
        });
        let lax = Policy { invalid: OnInvalid::Replace, undefined: OnUndefined::Replace, replace: None };
        compare(&cases, &format!("s.encode('{dst}', invalid: :replace, undef: :replace)"), |s| {
            transcode(Encoding::UTF_8, to, s, &lax).unwrap()
        });
        if dst == "UTF-16" {
            continue; // Without a mark CRuby gives up; here it means big-endian.
        }
        compare(&cases, &format!("s.dup.force_encoding('{dst}').encode('UTF-8', invalid: :replace, undef: :replace)"), |s| {
            transcode(to, Encoding::UTF_8, s, &lax).unwrap()
        });
    }
    compare(&cases, "s.scrub('<>')", |s| {
        transcode::scrub(
            s,
            Encoding::UTF_8,
            |_, out| {
                out.extend_from_slice(b"<>");
                Ok::<_, ()>(())
            },
            |_| Ok(()),
        )
        .unwrap()
    });
}

#[test]
fn the_table_holds() {
    for (id, name) in [(0, "ASCII-8BIT"), (1, "UTF-8"), (2, "US-ASCII"), (3, "UTF-16LE"), (9, "ISO-8859-1")] {
        assert_eq!(Encoding::from_id(id).unwrap().name(), name);
    }
    assert_eq!(Encoding::find(b"binary"), Some(Encoding::BINARY));
    assert!(single::TABLES.iter().all(|t| t.chars().count() == 128));
}
