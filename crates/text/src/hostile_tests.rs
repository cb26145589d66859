//! Nothing here may panic, whatever the bytes: random input through every public entry.

use crate::encoding::{Encoding, case, inspect, transcode, utf8};
use crate::reference::Rng;
use crate::regexp::{RegexFlags, Regexp, Text};
use crate::{float, int, pack, strftime, tr};
use zakuro_base::progress::ToTheEnd;

fn noise(rng: &mut Rng, atoms: &[&str], max: usize) -> Vec<u8> {
    let n = rng.below(max + 1);
    (0..n).flat_map(|_| if rng.below(3) == 0 { vec![rng.next() as u8] } else { rng.pick(atoms).bytes().collect() }).collect()
}

#[test]
fn text_functions_survive_noise() {
    let mut rng = Rng(77);
    let atoms = ["a", "é", "あ", "😀", "%", "0", "1", "-", "\\", "x", "\u{301}", "*", "9", ".", "e", "_", "^"];
    let encodings: Vec<Encoding> = Encoding::all().collect();
    for _ in 0..20_000 {
        let s = noise(&mut rng, &atoms, 10);
        let t = noise(&mut rng, &atoms, 6);
        let e = encodings[rng.below(encodings.len())];
        let f = encodings[rng.below(encodings.len())];
        let _ = (
            float::parse_float(&s, true),
            float::parse_float(&s, false),
            int::parse_prefix(&s, 36, &mut ToTheEnd),
            int::parse_strict(&s, 0, &mut ToTheEnd),
        );
        let _ = (
            e.code_range(&s),
            e.char_count(&s),
            e.byte_offset(&s, 3),
            inspect::inspect_str(&s, e),
            inspect::dump(&s, e, &mut ToTheEnd),
            inspect::inspect_sym(&s, e),
        );
        assert_eq!(e.chars(&s).map(<[u8]>::len).sum::<usize>(), s.len());
        let _ = e.encode(rng.next() as u32 >> rng.below(32), &mut Vec::new());
        let _ = case::map(&s, case::CaseOp::Capitalize, case::CaseOptions::default(), &mut ToTheEnd);
        let _ = transcode::scrub(&s, e, |_, _| Ok::<_, ()>(()), |_| Ok(()));
        for invalid in [transcode::OnInvalid::Raise, transcode::OnInvalid::Replace] {
            let policy = transcode::Policy { invalid, undefined: transcode::OnUndefined::CharRef, replace: None };
            let _ = transcode::transcode(e, f, &s, &policy);
        }
        for unit in [tr::Unit::Byte, tr::Unit::Utf8, tr::Unit::Of(Encoding::find(b"EUC-JP").expect("known"))] {
            let _ = (tr::tr(&s, &t, &s, true, unit, &mut ToTheEnd), tr::tr(&s, &s, &t, false, unit, &mut ToTheEnd));
        }
        let civil = strftime::Civil::from_epoch(rng.next() as i64 >> rng.below(40).max(12), 0, 0, b"");
        let _ = strftime::strftime(&t, &civil);
        let _ = pack::unpack(&t, &s, 0, &mut pack::Each(|_| true));
        let mut starts = vec![0];
        starts.extend(e.chars(&s).scan(0, |at, c| {
            *at += c.len();
            Some(*at)
        }));
        for i in 0..=s.len() {
            assert_eq!(Some(&e.char_start(&s, i)), starts.iter().rfind(|start| **start <= i), "{e:?} {s:?} {i}");
            assert_eq!(
                utf8::is_boundary(&s, i),
                i == s.len()
                    || utf8::chars(&s)
                        .scan(0, |at, c| {
                            let b = *at;
                            *at += c.len();
                            Some(b)
                        })
                        .any(|b| b == i)
            );
            if i > 0 && utf8::is_boundary(&s, i) {
                assert!(utf8::is_boundary(&s, utf8::prev_char(&s, i)), "{s:?} {i}");
            }
        }
    }
}

#[test]
fn regexps_survive_noise() {
    let mut rng = Rng(78);
    let atoms = [
        "a", "é", "(", ")", "[", "]", "*", "?", "\\w", "|", "{2}", "(?<n>", "(?=", "\\x", "\\u{", "}", "^", "$", ".", "あ", "(?i)", "&&",
        "\\b",
    ];
    for _ in 0..10_000 {
        let pattern = noise(&mut rng, &atoms, 6);
        let text = noise(&mut rng, &["a", "é", "あ", "b", "\n"], 8);
        for enc in [Encoding::UTF_8, Encoding::BINARY] {
            let flags = RegexFlags::from_bits(rng.below(8) as u32);
            let Ok(re) = Regexp::new(&pattern, flags, enc) else { continue };
            let _ = (re.inspect(), re.to_s());
            for text_enc in [Encoding::UTF_8, Encoding::BINARY, Encoding::US_ASCII] {
                let t = Text { bytes: &text, enc: text_enc, range: None, lane: crate::regexp::Lane::ONLY };
                for backward in [false, true] {
                    if let Ok(Some(c)) = re.search_text(t, if backward { text.len() } else { 0 }, backward, 100_000) {
                        assert_eq!(c.groups.len(), re.group_count());
                        assert!(c.groups.iter().flatten().all(|&(a, b)| a <= b && b <= text.len()));
                    }
                }
                let _ = re.match_text_at(t, 0, 100_000);
            }
        }
    }
}
