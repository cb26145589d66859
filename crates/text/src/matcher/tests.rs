//! The matcher by itself: pauses, bounds, folds, encodings. What matches is compared with an installed Ruby in `regexp/tests.rs`.

use super::program::PIECE;
use super::ranges::Ranges;
use super::state::State;
use super::*;
use crate::reference::Rng;

fn program(pattern: &str) -> Program {
    compile(pattern.as_bytes(), Options::new(false, false, false), Encoding::UTF_8, &mut Poll::new(&mut || true)).unwrap()
}

fn error(pattern: &str) -> String {
    compile(pattern.as_bytes(), Options::new(false, false, false), Encoding::UTF_8, &mut Poll::new(&mut || true)).err().unwrap_or_default()
}

type Groups = Option<crate::regexp::Groups>;

/// The match, got in portions of `steps`, and how many there were.
fn search(p: &Program, text: &[u8], steps: usize) -> (Groups, usize) {
    let mut m = Matcher::new(0, Mode::Forward);
    for n in 1.. {
        // Another address each time.
        let copy = text.to_vec();
        match m.run(p, &copy, steps) {
            Outcome::Match => return (Some(m.groups(p)), n),
            Outcome::No => return (None, n),
            Outcome::Paused => {}
            Outcome::Overflow => panic!("overflow"),
        }
    }
    unreachable!()
}

#[test]
fn pauses_change_nothing() {
    let text = "xaaabaabab\nfoo(bar(baz)) aab".repeat(3);
    for pattern in [
        "(a|ab)(c|bcd)*b",
        "(?:a|b)*?ab$",
        "(?<p>\\((?:[^()]|\\g<p>)*\\))",
        "(?~ab)b",
        "(a+)b\\1",
        "(?=(a+))a*b\\1",
        "(?<!a)b|z",
        "(?:(a)|b){3,}+",
        "\\w+?\\W",
        "(?:a?){30}a{30}",
    ] {
        let p = program(pattern);
        let (whole, runs) = search(&p, text.as_bytes(), 1 << 30);
        assert_eq!(runs, 1);
        for steps in [1, 2, 7, 50] {
            assert_eq!(search(&p, text.as_bytes(), steps).0, whole, "{pattern} in portions of {steps}");
        }
    }
}

#[test]
fn failures_are_remembered() {
    // Exponential without memory: each of these is decided within a few steps for each character.
    for pattern in [
        "\\A(?:a|a)*+?\\z|b",
        "^(a*)*$",
        "^([a-z]*){1,256}$",
        "^(?:(a|a)*|b)*?$",
        "^(?:a|aa){1,3000}$",
        "^(?:a|aa){3000,}?$",
        "^((a?)*?|a){2,}$",
        "^(a+)+$",
        "(?:a*)*b",
        "(?:a|aa)+c",
        "^(?:[a-z]+\\s?)*$x",
        "(?:a+?)+?b",
        "(?=(?:a+)+b)",
        "(?>(?:a|aa)+b)",
    ] {
        let p = program(pattern);
        let text = "a".repeat(5000) + "!";
        let (_, runs) = search(&p, text.as_bytes(), 100_000);
        assert!(runs < 300, "{pattern}: {runs} times 100,000 steps");
    }
    // Quadratic without it: a loop from each place to the end.
    let p = program("\\w+(?=x)x");
    let text = "a".repeat(200_000);
    assert!(search(&p, text.as_bytes(), 100_000).1 < 200);
}

#[test]
fn empty_rounds_end() {
    for pattern in [
        "(?=(a))*b",
        "(?=(a))+b",
        "(?:(?=(a))|(?<=(b)))*?c",
        "(?:()(?=(a)))*b",
        "(?:(?~(a)))*x",
        "(?=.+?(a?b*))+c",
        "(?:(?=(a))\\1?){2,}+b",
    ] {
        assert_eq!(search(&program(pattern), b"aaa", 100_000), (None, 1), "{pattern}");
    }
}

#[test]
fn what_cannot_be_remembered_pauses() {
    let p = program("\\A((a|a)+\\2?)*b\\z");
    let mut m = Matcher::new(0, Mode::Forward);
    let text = "a".repeat(100) + "cb";
    assert!((0..50).all(|_| m.run(&p, text.as_bytes(), 1000) == Outcome::Paused));
}

#[test]
fn depth_costs_no_native_stack() {
    let deep = |n: usize, open: &str, close: &str| format!("{}a{}", open.repeat(n), close.repeat(n));
    let run = std::thread::Builder::new().stack_size(256 << 10).spawn(move || {
        for (open, close) in [("(", ")"), ("(?:", ")*"), ("(?>", ")"), ("(?=", ")"), ("(?i)(", ")"), ("(?:b|", ")+?"), ("(?~", ")")] {
            let p = program(&deep(2000, open, close));
            let _ = Matcher::new(0, Mode::Forward).run(&p, b"aaa", 10_000);
            assert_eq!(error(&deep(5000, open, close)), "parse depth limit over");
        }
        assert_eq!(error(&"[".repeat(100_000)), "premature end of char-class");
        assert_eq!(
            search(&program("(?<p>a\\g<p>?b)"), &[vec![b'a'; 50_000], vec![b'b'; 50_000]].concat(), 1 << 30).0.unwrap()[0],
            Some((0, 100_000))
        );
    });
    run.unwrap().join().unwrap();
}

#[test]
fn memory_is_bounded() {
    let p = program("(?<q>x\\g<q>?)y");
    let text = b"x".repeat(1_000_000);
    let mut m = Matcher::new(0, Mode::Forward);
    assert!(!matches!(m.run(&p, &text, 50_000_000), Outcome::Match));
    assert_eq!(error("(?:(?:(?:(?:a{1000}){1000}){1000}){1000})b"), "");
    assert_eq!(error("a{100001}"), "too big number for repeat range");
    assert!(std::mem::size_of::<State>() < 800);
}

#[test]
fn folds_agree_with_unicode() {
    for c in (0..0x11000).chain(0x1e900..0x1e950).filter(|c| char::from_u32(*c).is_some()) {
        let whole = folding::unicode(c);
        if whole.codes().len() != 1 {
            continue;
        }
        let class = folding::Folder::of(Encoding::UTF_8).closed(&Ranges::single(c));
        for other in class.codes().filter(|o| folding::unicode(*o).codes().len() == 1) {
            assert_eq!(folding::unicode(other), whole, "{c:x} {other:x}");
        }
    }
    assert_eq!(folding::unicode(0xdf).codes(), [0x73, 0x73]);
    assert_eq!(folding::unicode(0x1e9e).codes(), [0x73, 0x73]);
    assert_eq!(folding::unicode(0x131).codes(), [0x131]);
    assert_eq!(folding::expanding().count(), 104);
}

#[test]
fn sets_are_sets() {
    let mut rng = Rng(5);
    for _ in 0..2000 {
        let mut make = || {
            let mut r = Ranges::new();
            for _ in 0..rng.below(5) {
                let a = rng.below(40) as u32;
                r.add(a, a + rng.below(6) as u32);
            }
            r
        };
        let (a, b) = (make(), make());
        let mut union = a.clone();
        union.union(&b);
        let (both, not, minus) = (a.intersection(&b), a.negated(), a.minus(&b));
        for c in 0..50 {
            let (x, y) = (a.contains(c), b.contains(c));
            assert_eq!((union.contains(c), both.contains(c), not.contains(c), minus.contains(c)), (x || y, x && y, !x, x && !y));
        }
        assert_eq!(not.negated(), a);
    }
}

#[test]
fn other_encodings() {
    let find = |pattern: &[u8], text: &[u8], name: &str, fold: bool| {
        let enc = Encoding::find(name.as_bytes()).unwrap();
        let p = compile(pattern, Options::new(fold, false, false), enc, &mut Poll::new(&mut || true)).unwrap();
        let mut m = Matcher::new(0, Mode::Forward);
        (m.run(&p, text, 1 << 30) == Outcome::Match).then(|| m.span(&p))
    };
    // The second byte of a character is no character.
    assert_eq!(find(b"\\\\", b"\x83\x5c\x5c", "Shift_JIS", false), Some((2, 3)));
    assert_eq!(find(b"\xa4\xa2", b"\xa2\xa4\xa2\xa4\xa4\xa2", "EUC-JP", false), Some((4, 6)));
    assert_eq!(find(b"(?<=.)\\p{Hiragana}", b"a\xa4\xa2", "EUC-JP", false), Some((1, 3)));
    assert_eq!(find(b"[[:upper:]]\xe9", b"\xc9\xc9", "ISO-8859-1", true), Some((0, 2)));
    assert_eq!(find(b"\xdf", b"xSs", "ISO-8859-1", true), Some((1, 3)));
    assert_eq!(find(b"[[:alpha:]]", b"\xe9", "ASCII-8BIT", false), None);
    assert_eq!(
        find(b"b.$", "ab\u{3042}\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>().as_slice(), "UTF-16LE", false),
        Some((2, 6))
    );
    assert_eq!(
        find(b"^\\w+", "\nab".encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>().as_slice(), "UTF-16BE", false),
        Some((2, 6))
    );
}

#[test]
fn nothing_panics() {
    let mut rng = Rng(79);
    let atoms = [
        "a",
        "é",
        "(",
        ")",
        "(?:",
        "(?=",
        "(?<!",
        "(?<=",
        "(?>",
        "(?~",
        "(?<n>",
        "\\g<n>",
        "\\k<n>",
        "\\k<n+1>",
        "\\1",
        "\\g<1>",
        "(?(1)",
        "|",
        "*",
        "+",
        "?",
        "{2}",
        "{,3}",
        "[",
        "]",
        "^",
        "&&",
        "-",
        "[:alpha:]",
        "\\w",
        "\\b",
        "\\K",
        "\\R",
        "\\X",
        "\\p{L}",
        ".",
        "$",
        "\\G",
        "(?i)",
        "ss",
    ];
    let encodings: Vec<Encoding> = Encoding::all().filter(|e| !e.is_dummy()).collect();
    for i in 0..10_000 {
        let pattern = rng.join(&atoms, 9);
        let enc = if i % 4 == 0 { encodings[rng.below(encodings.len())] } else { Encoding::UTF_8 };
        let Ok(p) = compile(&pattern, Options::new(i % 3 == 0, i % 5 == 0, i % 7 == 0), enc, &mut Poll::new(&mut || true)) else {
            continue;
        };
        let n = rng.below(9);
        let text: Vec<u8> = (0..n)
            .flat_map(|_| if rng.below(4) == 0 { vec![rng.next() as u8] } else { rng.pick(&["a", "é", "ss", "\n", "b"]).bytes().collect() })
            .collect();
        for (from, mode) in [(0, Mode::Forward), (text.len(), Mode::Backward), (text.len() / 2, Mode::Anchored)] {
            let mut m = Matcher::new(from, mode);
            for _ in 0..100 {
                match m.run(&p, &text, 100) {
                    Outcome::Paused => {}
                    Outcome::Match => {
                        assert!(m.groups(&p).iter().flatten().all(|g| g.0 <= g.1 && g.1 <= text.len()));
                        break;
                    }
                    _ => break,
                }
            }
        }
    }
}

#[test]
fn guards_are_remembered() {
    // Quadratic at least unless what came through in them is remembered: a few steps for each character, not thousands.
    let text = "a".repeat(100_000) + "x";
    for pattern in [
        "(?:(?=a*)a)+",
        "^(?:(?=a*)a)+$",
        "^(?:(?!a*b)a)*$",
        "(?:(?=(?!a*b)a*)a)+y",
        "^a*?(?=a*a*)$",
        "^a*?(?>a*a*)$",
        "^(?:(?>a*?x?)|a)*$",
        "(?:(?>a*b?)a)+y|z",
        "a*+b",
        "(?<!a)a*b|(?<=a)a*?c",
        "^(?:a|a)*+(?!x)",
    ] {
        let p = program(pattern);
        let (_, runs) = search(&p, text.as_bytes(), 100_000);
        assert!(runs < 100, "{pattern}: {runs} times 100,000 steps");
    }
}

/// What is remembered changes no answer: matches from the first step on with memory, and without.
#[test]
fn memory_changes_nothing() {
    const ATOMS: [&str; 26] = [
        "a",
        "b",
        "(a|ab)",
        "a*",
        "a*?",
        "b+",
        "a*+",
        "(?:a|b)*",
        "(?:a?)*",
        "(a*)*",
        "(?:a|b)*?",
        "(?>a*b?)",
        "(?>a|ab)",
        "(?=a*b)",
        "(?!b*a)",
        "(?=(a*))",
        "(?<=a)",
        "(?<!b)",
        "[ab]{2,}",
        "(?:ab?){900,}",
        "(?:a|b?){0,900}",
        "(?:(?>a?b?)a){1,800}?",
        "(?:(?=a*b?)[ab])+",
        "$",
        "|",
        "(?>(?:a|ab)*)",
    ];
    let mut rng = Rng(11);
    for _ in 0..20_000 {
        let mut pattern = String::from_utf8(rng.join(&ATOMS, 4)).unwrap();
        match rng.below(4) {
            0 => pattern = format!("(?:{pattern})*"),
            1 => pattern = format!("(?>{pattern})b|(?:{pattern})+$"),
            2 => pattern = format!("^(?:(?={pattern})[ab])*?$"),
            _ => {}
        }
        let p = program(&pattern);
        let text = rng.join(&["a", "b", "ab", "aa"], 8);
        let found = |with: bool| {
            let mut m = Matcher::new(0, Mode::Forward);
            m.remember_at_once(&p, &text, with);
            match m.run(&p, &text, 1_000_000) {
                Outcome::Match => Some(m.groups(&p)),
                _ => None,
            }
        };
        assert_eq!(found(true), found(false), "{pattern} on {}", String::from_utf8_lossy(&text));
    }
}

#[test]
fn long_stretches_pause() {
    let text = "a".repeat(PIECE * 5);
    for pattern in ["\\Aa*b", "a+", "[ab]*+", "(?=[^b]+)a", "[a-z]{9,}", "\\A.*?b", "é*(?=a+)"] {
        let p = program(pattern);
        let (whole, _) = search(&p, text.as_bytes(), 1 << 30);
        let (parts, runs) = search(&p, text.as_bytes(), 1000);
        assert_eq!(parts, whole, "{pattern}");
        assert!(runs >= 5, "{pattern}: {runs}");
    }
}

#[test]
fn linear_time_as_ruby() {
    let linear = |pattern: &str| program(pattern).linear;
    for pattern in [
        "(?=a)",
        "(?>a*)*b",
        "(a*)*",
        "([a-z]*){1,256}",
        "(?<=(a))b",
        "(?>a)(?>b)",
        "(?=(?!a))",
        "(?:a{2}b){3}",
        "(?=.*b)",
        "(?=\\w*b)",
        "(?:a{9,10}b)*",
        "(?:.{2}){40}",
    ] {
        assert!(linear(pattern), "{pattern}");
    }
    for pattern in [
        "(?=(a))",
        "(?!(a))",
        "(?>(a))",
        "(?>(?=a))",
        "(?=(?>ab))",
        "(?>(?>ab)c)",
        "(a)\\1",
        "(?<n>a)\\g<n>",
        "(?~a)",
        "(a)?(?(1)b|c)",
        "(?:[a-z]{30}x){30}",
        "(?:a{2,60}b)*",
        "(?=(?>a*))",
        "(?=a*b)",
        "(?>a*b)",
        "(?:[ab]{2}c)*",
        "(?:[ab]{60}b)?",
        "(?=\\R)",
    ] {
        assert!(!linear(pattern), "{pattern}");
    }
}

/// What [`super::quick`] finds, and ways that take all characters that come, are compared with what the state finds, and with a pattern that says the same otherwise.
#[test]
fn simple_programs_find_the_same_without_a_state() {
    const ATOMS: [&str; 18] = [
        "a",
        "b",
        "[ab]",
        "[^b\\n]",
        "a*",
        "b+",
        "[ab]{1,2}",
        "(a|b)",
        "(?:a|ab)",
        "(ab?)",
        "(?:[ab]|c)*",
        "(?:[^ac]|c[ab])*",
        "(?:a|[bc]d?)+",
        "a?",
        "ä",
        "^",
        "$",
        "\\b",
    ];
    let mut rng = Rng(0x51);
    let (mut simple, mut matches) = (0, 0);
    for _ in 0..20_000 {
        let pattern = String::from_utf8(rng.join(&ATOMS, 4)).unwrap();
        let p = program(&pattern);
        simple += usize::from(p.quick);
        // With a look behind it nothing is simple, and all loops give back.
        let other = program(&format!("{pattern}(?=)"));
        let text = rng.join(&["a", "b", "c", "cb", "ä", "d", "\n"], 8);
        for mode in [Mode::Forward, Mode::Anchored, Mode::Backward] {
            let from = if mode == Mode::Backward { text.len() } else { 0 };
            let found = |p: &Program, with_state: bool| {
                let mut m = Matcher::new(from, mode);
                if with_state {
                    m.remember_at_once(p, &text, false);
                }
                match m.run(p, &text, 1_000_000) {
                    Outcome::Match => Some((m.groups(p), m.found_at())),
                    _ => None,
                }
            };
            let expected = found(&p, true);
            matches += usize::from(expected.is_some());
            assert_eq!(found(&p, false), expected, "{pattern} on {:?}, {mode:?}", String::from_utf8_lossy(&text));
            assert_eq!(found(&other, true), expected, "{pattern} on {:?}, {mode:?}", String::from_utf8_lossy(&text));
        }
    }
    assert!(simple > 10_000 && matches > 10_000, "{simple} {matches}");
}

/// A loop over ways gives back what one of them took where something else could go on with that.
#[test]
fn ways_of_loops_give_back_what_others_need() {
    for (pattern, text, to) in [
        ("(?:[^\"\\\\]|\\\\.)*\"", "ab\\\"c\"d", Some(6)),
        ("(?:[ab]|c)*b", "abcab", Some(5)),
        ("(?:[ab]|ac)*$", "abac", Some(4)),
        ("(?:a|b)*(?:ab|c)", "aabab", Some(5)),
        ("(?:[^,]|,x)*,", "ab,x,", Some(5)),
        ("(?>(?:a|b)*)b", "aab", None),
        ("(?:a|b)*+c", "aabc", Some(4)),
    ] {
        let found = search(&program(pattern), text.as_bytes(), 1 << 30).0;
        assert_eq!(found.and_then(|g| g[0]).map(|g| g.1), to, "{pattern} on {text}");
    }
}
