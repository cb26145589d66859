//! Regexps against an installed Ruby: generated patterns over generated texts.

use super::*;
use crate::reference::{ENDLESS, Rng, compare};

fn shown(c: Option<Captures>) -> Vec<u8> {
    match c {
        None => b"nil".to_vec(),
        Some(c) => {
            c.groups.iter().map(|g| g.map_or("nil".to_owned(), |(a, b)| format!("{a}-{b}"))).collect::<Vec<_>>().join(",").into_bytes()
        }
    }
}

/// Case: pattern NUL text.
fn parts(case: &[u8]) -> (&[u8], &[u8]) {
    let at = case.iter().position(|&b| b == 0).unwrap();
    (&case[..at], &case[at + 1..])
}

const RUBY: &str = "pat, text = s.split(\"\\0\", 2); re = Regexp.new(pat, OPTS); m = METHOD; \
                    m ? (0...m.size).map { |i| m[i] ? m.byteoffset(i).then { |a, b| \"#{a}-#{b}\" } : 'nil' }.join(',') : 'nil'";

/// The reference takes exponential time on some cases: it gives those up.
const BOUNDED: &str =
    "require 'timeout' unless defined?(Timeout); begin; Timeout.timeout(0.3) { BODY }; rescue Timeout::Error; 'ENDLESS'; end";

fn check(cases: &[Vec<u8>], bits: u32, method: &str, f: impl Fn(&Regexp, &[u8]) -> Option<Captures>) {
    // MatchData#byteoffset is younger than the reference.
    let prelude = "class MatchData; def byteoffset(i) = [pre_of(self.begin(i)), pre_of(self.end(i))]; def pre_of(n) = string[0, n].bytesize; end unless MatchData.method_defined?(:pre_of);";
    let body = RUBY.replace("OPTS", &bits.to_string()).replace("METHOD", method);
    let bounded = BOUNDED.replace("BODY", &body).replace("ENDLESS", std::str::from_utf8(ENDLESS).unwrap());
    let block = format!("{prelude} {bounded}");
    compare(cases, &block, |case| {
        let (pattern, text) = parts(case);
        match Regexp::new(pattern, RegexFlags::from_bits(bits), Encoding::UTF_8) {
            Ok(re) => {
                let matcher = shown(f(&re, text));
                let automaton = shown(f(&warm(re), text));
                // Both are shown where they differ: that is no Ruby's answer.
                if matcher == automaton { matcher } else { [&matcher[..], b" and by automaton ", &automaton].concat() }
            }
            Err(RegexpError(message)) => format!("RegexpError: {message}").into_bytes(),
        }
    });
}

/// Searched with so often that its automaton is built, if there is one for it, and asked for groups, too.
fn warm(re: Regexp) -> Regexp {
    for _ in 0..64 {
        if let Engine::Linear { regex, .. } = &re.engine {
            regex.matcher_took(usize::MAX, 0);
        }
        let _ = re.search_text(Text::utf8(b"x"), 0, false, 1000);
    }
    if let Engine::Linear { regex, .. } = &re.engine {
        assert!(regex.made().is_some() || regex.automaton().is_none());
    }
    re
}

fn generate(seed: u64, atoms: &[&str], n: usize) -> Vec<Vec<u8>> {
    let mut rng = Rng(seed);
    let pieces = ["a", "b", "c", "A", "\n", " ", "1", "é", "ab", "_", "あ", "-", "."];
    (0..n)
        .map(|_| {
            let mut case = rng.join(atoms, 6);
            case.push(0);
            case.extend(rng.join(&pieces, 8));
            case
        })
        .collect()
}

const REGULAR: [&str; 40] = [
    "a",
    "b",
    "c",
    ".",
    "a*",
    "b+",
    "c?",
    "(a)",
    "(b|c)",
    "(?:ab)+",
    "[a-c]",
    "[^a]",
    "\\d",
    "\\w",
    "\\s",
    "\\W",
    "^",
    "$",
    "|",
    "\\A",
    "\\z",
    "a*?",
    "b+?",
    "(a|ab)(c|b)?",
    "é",
    "[é\\w]",
    "(?i:a)",
    "\\b",
    "\\.",
    "-",
    "{",
    "a{2}",
    "b{1,2}",
    "a{,2}",
    "\\n",
    "[-a]",
    "[a\\-b]",
    "\\u00e9",
    "\\h",
    "(?<x>a)",
];

#[test]
fn regular_patterns_as_ruby() {
    let cases = generate(1, &REGULAR, 6000);
    check(&cases, 0, "re.match(text)", |re, t| re.search(t, 0, false));
    check(&cases[..2000], 1, "re.match(text)", |re, t| re.search(t, 0, false));
    check(&cases[2000..4000], 4, "re.match(text)", |re, t| re.search(t, 0, false));
    check(&cases[4000..], 2, "re.match(text)", |re, t| re.search(t, 0, false));
    check(&cases[..3000], 0, "(text.rindex(re); $~)", |re, t| re.search(t, t.len(), true));
}

#[test]
fn irregular_patterns_as_ruby() {
    let atoms = [
        "a",
        "b",
        "(a)",
        "(?=b)",
        "(?!a)",
        "(?<=a)",
        "(?<!b)",
        "\\1",
        "(?>a+)",
        "a++",
        "\\K",
        "[[:alpha:]]",
        "\\p{Alpha}",
        "[a&&[^b]]",
        "(?a)",
        "\\w",
        "(?u:\\w)",
        "\\u{61 62}",
        "\\xC3\\xA9",
        "\\R",
        "\\X",
        "(?i)",
        "\\G",
        "\\Z",
        "[[:space:]]",
        "a{2}?",
        "(a*)*",
        "(?<n>a)",
        "\\k<n>",
        "\\D",
        "[\\S]",
        "[^\\w]",
        "|",
        "c",
        "(?m:.)",
        "\\bb",
    ];
    let cases = generate(2, &atoms, 5000);
    check(&cases, 0, "re.match(text)", |re, t| re.search(t, 0, false));
    check(&cases[..1500], 1, "re.match(text)", |re, t| re.search(t, 0, false));
}

/// Patterns from a grammar, up to three groups deep.
struct Grammar<'a> {
    rng: &'a mut Rng,
    groups: usize,
}

impl Grammar<'_> {
    fn atom(&mut self, depth: u32) -> String {
        match self.rng.below(if depth == 0 { 12 } else { 26 }) {
            0..=4 => self.rng.pick(&["a", "b", "c", "ab", "1", "_", "é", " ", "-", "ss", "ß", "S", "A", "\\n"]).into(),
            5 => ".".into(),
            6 => self.rng.pick(&["\\w", "\\d", "\\s", "\\W", "\\D", "\\S", "\\h", "\\H"]).into(),
            7 => {
                let classes =
                    ["[a-c]", "[^a]", "[[:alpha:]]", "[^\\w]", "[a&&[^b]]", "[ß]", "[^[:digit:]a]", "[]a]", "[a-]", "[[ab]&&[bc]]"];
                self.rng.pick(&classes).into()
            }
            8 => self.rng.pick(&["^", "$", "\\A", "\\z", "\\Z", "\\b", "\\B", "\\G"]).into(),
            9 => self.rng.pick(&["\\p{Alpha}", "\\p{^Alpha}", "\\p{Greek}", "\\R", "\\X", "\\K"]).into(),
            10 => "b".into(),
            11 if self.groups > 0 => format!("\\{}", 1 + self.rng.below(self.groups.min(9))),
            12..=15 => {
                // Known once it is closed: what it holds does not refer to it.
                let inside = self.ways(depth - 1);
                self.groups += 1;
                format!("({inside})")
            }
            16..=18 => format!("(?:{})", self.ways(depth - 1)),
            19 => format!("(?={})", self.ways(depth - 1)),
            20 => format!("(?!{})", self.ways(depth - 1)),
            21 => format!("(?>{})", self.ways(depth - 1)),
            22 => format!("(?i:{})", self.ways(depth - 1)),
            23 => self.rng.pick(&["(?<=a|bc)", "(?<!b)", "(?<=\\w)", "(?<!é|ab)"]).into(),
            _ => "a".into(),
        }
    }

    fn ways(&mut self, depth: u32) -> String {
        const TIMES: [&str; 18] =
            ["*", "+", "?", "*?", "+?", "??", "*+", "++", "?+", "{2}", "{1,2}", "{,2}", "{2,}", "{0}", "{2}?", "{1,3}?", "{1,2}+", "{3}"];
        let ways = if self.rng.below(3) == 0 { 2 } else { 1 };
        let mut out = String::new();
        for i in 0..ways {
            out.push_str(if i > 0 { "|" } else { "" });
            for _ in 0..self.rng.below(4) {
                out.push_str(&self.atom(depth));
                if self.rng.below(4) == 0 {
                    out.push_str(self.rng.pick(&TIMES));
                }
            }
        }
        out
    }
}

#[test]
fn generated_patterns_as_ruby() {
    let mut rng = Rng(6);
    let pieces = ["a", "b", "c", "A", "\n", " ", "1", "é", "ß", "ss", "S", "_", "α", "\r\n", "-"];
    let cases: Vec<Vec<u8>> = (0..6000)
        .map(|_| {
            let depth = 1;
            let mut case = Grammar { rng: &mut rng, groups: 0 }.ways(depth).into_bytes();
            case.push(0);
            case.extend(rng.join(&pieces, 6));
            case
        })
        .collect();
    for (cases, bits) in cases.chunks(1500).zip([0, 0, 4, 1]) {
        check(cases, bits, "re.match(text)", |re, t| {
            // Ours ends in time on each of them.
            re.search_text(Text::utf8(t), 0, false, 5_000_000).expect("few steps")
        });
    }
}

/// Looking backward finds what trying each place from the end on finds.
#[test]
fn backward_as_from_each_place() {
    let mut rng = Rng(8);
    let pieces = ["a", "b", "c", "A", "\n", " ", "1", "é", "ab", "_"];
    for _ in 0..3000 {
        let pattern = rng.join(&REGULAR, 4);
        let Ok(re) = Regexp::new(&pattern, RegexFlags::default(), Encoding::UTF_8) else { continue };
        let text = String::from_utf8(rng.join(&pieces, 8)).unwrap();
        let from = text.char_indices().map(|c| c.0).nth(rng.below(6)).unwrap_or(text.len());
        let places = (0..=from).rev().filter(|&i| text.is_char_boundary(i));
        let expected = places.clone().filter_map(|i| re.match_at(text.as_bytes(), i)).next();
        let re = warm(re);
        let by_automaton = places.filter_map(|i| re.match_at(text.as_bytes(), i)).next();
        assert_eq!(by_automaton, expected, "{re:?} at each place to {from} in {text:?}");
        assert_eq!(re.search(text.as_bytes(), from, true), expected, "{re:?} backward from {from} in {text:?}");
    }
}

/// Searches of texts that are gone over piece by piece.
#[test]
fn long_texts_are_searched_in_pieces() {
    let far = 9 << 20;
    let text = ["x".repeat(far), "key=value; ab".to_owned(), "y".repeat(1 << 20)].concat();
    let (bytes, at) = (text.as_bytes(), far);
    for (pattern, groups) in [
        ("key=value", vec![Some((at, at + 9))]),
        ("(k\\w+)=(\\w+)", vec![Some((at, at + 9)), Some((at, at + 3)), Some((at + 4, at + 9))]),
        ("\\w+; ", vec![Some((at + 4, at + 11))]),
        ("(x+)k", vec![Some((0, at + 1)), Some((0, at))]),
        ("(?<==)v", vec![Some((at + 4, at + 5))]),
        ("; \\Bab|; (a)", vec![Some((at + 9, at + 12)), Some((at + 11, at + 12))]),
    ] {
        let re = Regexp::new(pattern.as_bytes(), RegexFlags::default(), Encoding::UTF_8).unwrap();
        let mut search = Search::new(0, Mode::Forward);
        let mut pauses = 0;
        let found: Option<Captures> = loop {
            match search.run(&re, Text::utf8(bytes), 50_000).unwrap() {
                Progress::Done(found) => break found,
                Progress::Paused => pauses += 1,
            }
        };
        assert_eq!(found.unwrap().groups[..], groups, "{pattern}");
        assert!(pauses > 0, "{pattern}");
    }
}

#[test]
fn quadratic_searches_are_linear() {
    let text = "a".repeat(1_000_000);
    for (pattern, backward) in [("a+b", true), ("a*b", true), ("(?=a)a+b", false), ("[a-z]*\\d", true), ("(a+)(?!a)b", true)] {
        let re = Regexp::new(pattern.as_bytes(), RegexFlags::default(), Encoding::UTF_8).unwrap();
        let start = if backward { text.len() } else { 0 };
        assert_eq!(re.search_text(Text::utf8(text.as_bytes()), start, backward, 30_000_000), Ok(None), "{pattern}");
    }
}

/// Each is quadratic or worse where something is looked for in a list.
#[test]
fn large_patterns_compile_in_time() {
    let groups = |n: usize| (0..n).map(|i| format!("(?<g{i}>a)")).collect::<String>();
    let many = |part: &str, n: usize| part.repeat(n);
    let large = [
        groups(20_000) + &(0..2000).map(|i| format!("\\k<g{i}>")).collect::<String>(),
        (0..100_000).map(|i| format!("word{i}|")).collect(),
        format!("[{}]", (0..20_000).rev().filter_map(|i| char::from_u32(0x4e00 + i)).collect::<String>()),
        many("\\p{L}", 10_000),
        format!("[{}]", many("\\p{L}[:alpha:]", 2000)),
        (0..20_000).map(|i| format!("[ab{}]", char::from_u32(0x4e00 + i).unwrap())).collect(),
        format!("(?i){}", many("[a]b|", 20_000)),
        many("(?:", 4000) + "a" + &many("b){2,3}", 4000),
        many("(?:", 4000) + &many("(a)?", 500) + &many(")*", 4000),
    ];
    for pattern in large {
        let begun = std::time::Instant::now();
        let made = Regexp::new(pattern.as_bytes(), RegexFlags::default(), Encoding::UTF_8);
        assert!(made.is_ok(), "{:?}", made.map_err(|e| e.0[..60.min(e.0.len())].to_owned()));
        // Seconds without optimization; minutes if it were quadratic.
        assert!(begun.elapsed().as_secs() < 40, "{}: {:?}", &pattern[..20], begun.elapsed());
    }
    let error = |pattern: &str| {
        Regexp::new(pattern.as_bytes(), RegexFlags::default(), Encoding::UTF_8).map(|_| ()).map_err(|e| e.0[..14].to_owned())
    };
    assert_eq!(error(&many("(a?)|", 32_760)), Ok(()));
    assert_eq!(error("(?:(?:a{1,1000}b){1,1000}c){1,1000}"), Ok(()));
}

#[test]
fn compilation_stops_when_told() {
    let pattern = "(?<a>b)|".repeat(30_000);
    let mut asked = 0;
    let made = Regexp::compile(pattern.as_bytes(), RegexFlags::default(), Encoding::UTF_8, &mut || {
        asked += 1;
        asked < 5
    });
    assert!(made.is_err() && asked == 5, "{asked}");
}

#[test]
fn comments_hold_no_escapes() {
    let new = |source: &str, bits| Regexp::new(source.as_bytes(), RegexFlags::from_bits(bits), Encoding::UTF_8);
    for (source, bits) in [("a # C:\\users\n", 2), ("(?x)a # \\u\nb", 0), ("(?#\\u)a", 0), ("(?x: # \\u\n)b", 0), ("(?x)[ # \\x41]", 0)] {
        assert!(new(source, bits).is_ok(), "{source}");
    }
    for (source, bits) in [("a # C:\\users\n", 0), ("(?x:a # \\u\n)b # \\u", 0), ("[#\\u]", 2), ("(?-x) # \\u", 2)] {
        assert!(new(source, bits).is_err(), "{source}");
    }
    // What is not ASCII counts in them, too.
    assert_eq!(new("(?x) # é", 0).unwrap().encoding(), Encoding::UTF_8);
}

#[test]
fn names_begin_with_anything_but_digits() {
    for name in ["@t", "$t", ".", " t", "t@"] {
        let re = Regexp::new(format!("(?<{name}>a)\\k<{name}>").as_bytes(), RegexFlags::default(), Encoding::UTF_8).unwrap();
        assert_eq!(re.names()[0].0, name);
        assert!(re.search(b"aa", 0, false).is_some());
    }
    for name in ["1", "-", "-a"] {
        assert!(Regexp::new(format!("(?<{name}>a)").as_bytes(), RegexFlags::default(), Encoding::UTF_8).is_err());
    }
}

#[test]
fn repeated_assertions_as_ruby() {
    let atoms = [
        "a",
        "b",
        "(?=a)?",
        "(?=(a))?",
        "^?",
        "(?:^|a)*",
        "\\b*",
        "(?:(?!b)|a)+",
        "(?<=a)*",
        "(?:(?:^)|b)*",
        "$+",
        "c",
        "|",
        "(?:(?=a)b?){1,2}",
    ];
    let cases = generate(5, &atoms, 3000);
    check(&cases, 0, "re.match(text)", |re, t| re.search(t, 0, false));
    check(&cases[..1000], 2, "re.match(text)", |re, t| re.search(t, 0, false));
}

#[test]
fn shows_itself_as_ruby() {
    let atoms = ["a", "/", "\\/", "(?i:b)", "(?mi-x:", ")", "(?x)", " ", "\n", "\u{1}", "\\\\", "(?-mix:c)", "(", "[/]"];
    let mut rng = Rng(3);
    let cases: Vec<Vec<u8>> = (0..3000).map(|_| rng.join(&atoms, 5)).collect();
    for bits in [0, 1, 6, 7] {
        for method in ["inspect", "to_s"] {
            compare(&cases, &format!("(Regexp.new(s, {bits}).{method}) rescue $!.message"), |s| {
                match Regexp::new(s, RegexFlags::from_bits(bits), Encoding::UTF_8) {
                    Ok(re) => {
                        if method == "to_s" {
                            re.to_s()
                        } else {
                            re.inspect()
                        }
                    }
                    Err(e) => e.0,
                }
                .into_bytes()
            });
        }
    }
    compare(&cases, "Regexp.escape(s)", escape);
}

#[test]
fn errors_as_ruby() {
    let wrong = [
        "(",
        ")",
        "[",
        "*",
        "?",
        "\\",
        "a{2,1}",
        "\\k<m>",
        "\\1",
        "\\p{Foo}",
        "[[:foo:]]",
        "\\u12",
        "\\xff",
        "\\u{110000}",
        "\\g<x>",
        "\\x",
        "(?<1a>x)",
        "(?z)",
        "[b-a]",
        "[]",
        "[^]",
        "\\u{}",
    ];
    let right = ["a", "(b)", "d+", "\\.", "-", "(?:e)"];
    let mut rng = Rng(4);
    let cases: Vec<Vec<u8>> =
        (0..1500).map(|_| [&rng.join(&right, 3)[..], rng.pick(&wrong).as_bytes(), &rng.join(&right, 2)].concat()).collect();
    compare(&cases, "Regexp.new(s); 'ok'", |s| match Regexp::new(s, RegexFlags::default(), Encoding::UTF_8) {
        Ok(_) => b"ok".to_vec(),
        Err(e) => format!("RegexpError: {}", e.0).into_bytes(),
    });
}

#[test]
fn broken_text_is_searched_safely() {
    let re = Regexp::new(b"(?<=a).b", RegexFlags::default(), Encoding::UTF_8).unwrap();
    assert_eq!(re.search(b"a\xffb\xe3", 0, false).unwrap().groups[..], [Some((1, 3))]);
    assert!(re.search(b"\xe3\x81", 0, false).is_none());
    let bytes = Regexp::new(b"\\xff+", RegexFlags { no_encoding: true, ..Default::default() }, Encoding::UTF_8).unwrap();
    let text = Text { bytes: b"a\xff\xff", enc: Encoding::BINARY, range: None, lane: Lane::ONLY };
    assert_eq!(bytes.search_text(text, 0, false, 0).unwrap().unwrap().groups[..], [Some((1, 3))]);
}

#[test]
fn what_younger_rubies_do() {
    let groups = |pattern: &str, bits: u32, text: &str| {
        let re = Regexp::new(pattern.as_bytes(), RegexFlags::from_bits(bits), Encoding::UTF_8).unwrap();
        re.search(text.as_bytes(), 0, false).map(|c| c.groups.to_vec())
    };
    let at = |a, b| Some(vec![Some((a, b))]);
    // Characters of a look-behind keep their length.
    assert_eq!(groups("(?<=ss)x", 1, "SSx"), at(2, 3));
    assert_eq!(groups("(?<=ß)x", 1, "ssx"), None);
    // Classes fold whatever a code's size (older Rubies forget U+0080 to U+00FF).
    assert_eq!(groups("[[:upper:]]", 1, "é"), at(0, 2));
    assert_eq!(groups("[^ÉX]", 1, "é"), None);
    assert_eq!(groups("\\G\\X", 0, "👨‍👩‍👧a"), at(0, 18));
    assert_eq!(groups("(?~ab)", 0, "xxab"), at(0, 3));
    assert_eq!(groups("/\\*(?~\\*/)\\*/", 0, "/* a */ */"), at(0, 7));
    // The palindrome: a reference to the group of the same level.
    let palindrome = "\\A(?<a>|.|(?:(?<b>.)\\g<a>\\k<b+0>))\\z";
    assert!(groups(palindrome, 0, "reviver").is_some() && groups(palindrome, 0, "reviwer").is_none());
}

#[test]
fn automata_are_built_when_it_is_worth_it() {
    let re = Regexp::new(b"a[bc]+d", RegexFlags::default(), Encoding::UTF_8).unwrap();
    let Engine::Linear { regex, .. } = &re.engine else { panic!("no regular pattern") };
    let made = || regex.made().is_some();
    let before = re.memory();
    assert_eq!(re.search(b"xabcd", 0, false).unwrap().groups[..], [Some((1, 5))]);
    assert!(!made(), "by one short search");
    assert_eq!(re.search(&b"x".repeat(2000), 0, false), None);
    assert!(made() && re.memory() > before, "by one over a longer text");
    assert_eq!(re.search(b"xabcd", 0, false).unwrap().groups[..], [Some((1, 5))]);
    // What takes the matcher for ever is the automaton's from the first search on, however short the text.
    for (pattern, text) in [("(?:a{1,30}){1,30}b", "a".repeat(60) + "cb"), ("(?:[ab]{1,20}){2,10}[ac]{1,20}d", "ab".repeat(200) + "cd")] {
        let re = Regexp::new(pattern.as_bytes(), RegexFlags::default(), Encoding::UTF_8).unwrap();
        let Engine::Linear { regex, .. } = &re.engine else { panic!("no regular pattern") };
        let found = re.search(text.as_bytes(), 0, false);
        assert!(regex.made().is_some(), "{pattern}");
        assert_eq!(found, warm(re).search(text.as_bytes(), 0, false));
    }
}

#[test]
fn engines_are_chosen() {
    let linear = |s: &str| Regexp::new(s.as_bytes(), RegexFlags::default(), Encoding::UTF_8).unwrap().is_linear_time();
    assert!(linear("abc") && linear("a(b|c)+") && linear("^\\w+@\\w+\\.com$") && linear("(?-mix:a)|(?i-mx:b)"));
    assert!(linear("(?=a)b") && linear("a*+") && linear("^") && linear("(?>a)*b"));
    assert!(!linear("(a)\\1") && !linear("(?<n>a)\\g<n>") && !linear("(?~a)"));
    fn shared<T: Send + Sync>() {}
    shared::<Regexp>();
}

#[test]
fn retries_are_bounded() {
    let re = Regexp::new(b"(?=a)(a*)*\\1[bc]", RegexFlags::default(), Encoding::UTF_8).unwrap();
    let text = [b'a'; 40];
    assert_eq!(re.search_text(Text::utf8(&text), 0, false, 10_000), Err(MatchError::RetryLimit));
}
