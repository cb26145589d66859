//! Regexps against an installed Ruby: generated patterns over generated texts.

use super::*;
use crate::reference::{Rng, compare};

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

fn check(cases: &[Vec<u8>], bits: u32, method: &str, f: impl Fn(&Regexp, &[u8]) -> Option<Captures>) {
    // MatchData#byteoffset is younger than the reference.
    let prelude = "class MatchData; def byteoffset(i) = [pre_of(self.begin(i)), pre_of(self.end(i))]; def pre_of(n) = string[0, n].bytesize; end unless MatchData.method_defined?(:pre_of);";
    let block = format!("{prelude} {}", RUBY.replace("OPTS", &bits.to_string()).replace("METHOD", method));
    compare(cases, &block, |case| {
        let (pattern, text) = parts(case);
        match Regexp::new(pattern, RegexFlags::from_bits(bits), Encoding::UTF_8) {
            Ok(re) => shown(f(&re, text)),
            Err(RegexpError(message)) => format!("RegexpError: {message}").into_bytes(),
        }
    });
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
#[ignore = "does not end: some case takes exponential time in one of the two; to be found (docs/plan.md)"]
fn generated_patterns_as_ruby() {
    let mut rng = Rng(6);
    let pieces = ["a", "b", "c", "A", "\n", " ", "1", "é", "ß", "ss", "S", "_", "α", "\r\n", "-"];
    let cases: Vec<Vec<u8>> = (0..6000)
        .map(|_| {
            // Deeper ones take the reference exponential time.
            let depth = 1;
            let mut case = Grammar { rng: &mut rng, groups: 0 }.ways(depth).into_bytes();
            case.push(0);
            case.extend(rng.join(&pieces, 6));
            case
        })
        .collect();
    for (cases, bits) in cases.chunks(1500).zip([0, 0, 4, 1]) {
        check(cases, bits, "re.match(text)", |re, t| re.search(t, 0, false));
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
    assert_eq!(re.search(b"a\xffb\xe3", 0, false).unwrap().groups, [Some((1, 3))]);
    assert!(re.search(b"\xe3\x81", 0, false).is_none());
    let bytes = Regexp::new(b"\\xff+", RegexFlags { no_encoding: true, ..Default::default() }, Encoding::UTF_8).unwrap();
    let text = Text { bytes: b"a\xff\xff", enc: Encoding::BINARY, range: None, lane: Lane::ONLY };
    assert_eq!(bytes.search_text(text, 0, false, 0).unwrap().unwrap().groups, [Some((1, 3))]);
}

#[test]
fn what_younger_rubies_do() {
    let groups = |pattern: &str, bits: u32, text: &str| {
        let re = Regexp::new(pattern.as_bytes(), RegexFlags::from_bits(bits), Encoding::UTF_8).unwrap();
        re.search(text.as_bytes(), 0, false).map(|c| c.groups)
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
