//! Programs for the fuzzer that match generated patterns against generated texts, in every way that String and Regexp offer.
//!
//! Such a program prints "internal error" when a match lies outside its text, or when two ways of asking disagree; a pattern may be refused, and a match
//! may run out of time. Rejected: a target of its own in Rust (the unit tests of crates/text have one; here encodings, `$~` and time limits take part).

use crate::fuzz::Random;

const ATOMS: &[&str] = &[
    "a",
    "b",
    "c",
    "ab",
    "ss",
    "ß",
    "é",
    "あ",
    "\\n",
    " ",
    ".",
    "\\w",
    "\\W",
    "\\d",
    "\\s",
    "\\h",
    "\\b",
    "\\B",
    "\\A",
    "\\z",
    "\\Z",
    "\\G",
    "\\K",
    "\\R",
    "\\X",
    "^",
    "$",
    "[ab]",
    "[^a]",
    "[a-c&&[^b]]",
    "[[:alpha:]]",
    "[[:^upper:]\\d]",
    "[é-ü]",
    "\\p{L}",
    "\\p{^Greek}",
    "\\1",
    "\\k<n>",
    "\\k<n+1>",
    "\\g<n>",
    "\\g<1>",
    "\\g<0>",
    "(?i)",
    "(?m-i)",
    "(?a)",
    "(?u)",
    "\\u{61 e9}",
    "\\xE9",
    "\\x61",
    "\\0",
    "]",
    "[",
    "{",
    "(?#x)",
    "#",
    "-",
    "&&",
    "\\",
];

const OPEN: &[&str] =
    &["(", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?~", "(?<n>", "(?<m>", "(?(1)", "(?(<n>)", "(?i:", "(?mx-i:", "(?'n'"];

const TIMES: &[&str] =
    &["*", "+", "?", "*?", "+?", "??", "*+", "++", "{2}", "{0}", "{1,3}", "{,2}", "{2,}?", "{3}?", "{70}", "{2,1}", "{1001}"];

const TEXTS: &[&str] = &[
    "a",
    "b",
    "ab",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "ss",
    "ß",
    "é",
    "あ",
    "\\n",
    "\\r\\n",
    " ",
    "1",
    "_",
    "\\u{1f468 200d 1f469}",
    "\\xff",
    "\\xE3",
];

fn pattern(random: &mut Random, depth: usize, out: &mut String) {
    for _ in 0..1 + random.below(4) {
        if depth > 0 && random.below(3) == 0 {
            out.push_str(random.pick::<&str>(OPEN));
            pattern(random, depth - 1, out);
            if random.below(4) == 0 {
                out.push('|');
                pattern(random, depth - 1, out);
            }
            out.push_str(if random.below(30) == 0 { "" } else { ")" });
        } else {
            out.push_str(random.pick::<&str>(ATOMS));
        }
        if random.below(3) == 0 {
            out.push_str(random.pick::<&str>(TIMES));
        }
    }
}

/// A program of some pairs.
pub fn program(random: &mut Random) -> Vec<u8> {
    let mut pairs = String::new();
    for _ in 0..40 {
        let mut source = String::new();
        let depth = random.below(5);
        pattern(random, depth, &mut source);
        let text: String = (0..random.below(8)).map(|_| *random.pick(TEXTS)).collect();
        let enc = random.pick(&["UTF-8", "UTF-8", "UTF-8", "BINARY", "US-ASCII", "EUC-JP", "Windows-31J", "ISO-8859-1", "UTF-16LE"]);
        pairs.push_str(&format!(
            "  ['{}', {}, \"{text}\", '{enc}'],\n",
            source.replace('\\', "\\\\").replace('\'', "\\'"),
            random.below(8)
        ));
    }
    format!(
        "Regexp.timeout = 0.02\nPAIRS = [\n{pairs}]\n{}",
        r#"PAIRS.each do |source, options, text, enc|
  begin
    pattern = options == 5 ? source.dup.force_encoding(enc) : source
    re = Regexp.new(pattern, options)
    text = text.dup.force_encoding(enc)
    wrong = ->(what) { $stderr.puts "internal error: #{what} #{source.inspect} #{options} #{text.inspect}" }
    m = re.match(text)
    wrong["match?"] if re.match?(text) != !m.nil?
    if m
      m.size.times { |i| b, e = m.byteoffset(i); wrong["outside"] if b && !(0 <= b && b <= e && e <= text.bytesize) }
      wrong["pieces"] if (m.pre_match + m[0] + m.post_match) != text
    end
    text.scan(re).size
    text.gsub(re) { $~[0] }.then { |t| wrong["gsub"] if t != text && !source.include?("K") }
    text.rindex(re)
    text.split(re, 4)
    text.start_with?(re)
    text.partition(re)
    Regexp.linear_time?(re)
    Regexp.union(re, "x").inspect
  rescue RegexpError, ArgumentError, EncodingError, NoMatchingPatternError
  end
end
"#
    )
    .into_bytes()
}
