# Patterns that use what only Ruby's syntax has, in several encodings.

def m(re, s) = (d = re.match(s)) && [d.byteoffset(0), *d.captures]
def e(source, enc = "UTF-8") = (Regexp.new(source.dup.force_encoding(enc)); :fine) rescue $!.message

p m(/(?<a>.)(?<b>.)\k<b>\k<a>/, "xabba"), m(/(.)(.)\k<-1>\k<-2>/, "xabba")
p m(/\A(?<a>|.|(?:(?<b>.)\g<a>\k<b+0>))\z/, "reviver"), m(/\A(?<a>|.|(?:(?<b>.)\g<a>\k<b+0>))\z/, "reviwer")
p m(/(?<par>\((?:[^()]|\g<par>)*\))/, "a(b(c)(d))e(")
p m(/(?:(a)|b)(?(1)c|d)/, "bcacbd"), m(/(?<q>")?x(?(<q>)")/, "\"x"), m(%r{/\*(?~\*/)\*/}, "/* a */ */")
p m(/a(?i)b|c/, "aC"), m(/a(?-i:b)c/i, "AbC"), m(/(?x: a b # c
)d/, "abd"), m(/a(?#comment)b/, "ab")
p m(/a\Kb/, "ab"), m(/\R+/, "a\r\n\n\u2028b"), m(/\X/, "👨‍👩‍👧!"), m(/\h+\H/, "xyzcafe!"), m(/\u{61 62 3042}/, "xabあ")
p m(/(?<=a|bc)d/, "xbcd"), m(/(?<!a|bc)d/, "bcdad d"), m(/(?<=\w{2})x/, "abx"), m(/(?<=(a))b/, "ab")
p m(/a++b/, "aaab"), m(/a{2}+b/, "aaaab"), m(/a{2}?b/, "ab"), m(/a{,2}b/, "aaab"), m(/a{,}b/, "a{,}b")
p m(/[a-z&&[^aeiou]]+/, "abcde"), m(/[[a-c][x-z]&&[^b]]+/, "abxyzc"), m(/[^\W\d]+/, "12ab"), m(Regexp.new("[]a]+"), "x]a"), m(/[a\-b]+/, "c-a")
p m(/ß/i, "xSS"), m(/ss/i, "xẞ"), m(/[ß]x/i, "ssX"), m(/ﬀ/i, "FF"), m(/(?i)k/, "\u212a"), m(/\w/i, "\u017f"), m(/[s]/i, "\u017f")
p m(/\w+/, "é1"), m(/(?u)\w+/, "é1"), m(/(?a)[[:alpha:]]/, "é"), m(/[[:alpha:]]/, "é"), m(/(?a:\b)é/, "é"), m(/\bé/, "é")
p m(/\p{Hiragana}+\p{^Latin}\P{Greek}/, "aひらabc"), m(/\p{In_Cyrillic}/, "aж"), m(/\p{Age=6.0}/, "a"), m(/\p{Lu}\p{Ll}/, "aBc"), m(/\p{Emoji}/, "x😀")
p m(/\G\d/, "a1"), "1a2".scan(/\G\d/), "ab12cd".gsub(/\G[a-z]/, "-"), "aXbX".rindex(/(?<=b)X/), m(/(a*)+b|(?:(x)|a)+c/, "aac")
p m(/(a|ab)(c|bcd)(d*)/, "abcd"), m(/(?>a|ab)c/, "abc"), m(/(?:(a)|(b))+/, "ab"), m(/(?:a|(b))*?c/, "abac")
p m(/^b$/, "a\nb\n"), m(/\Ab|c\Z/, "ac\n"), m(/c\z/, "c\n"), m(/^/, "\n"), "a\nb\n".scan(/^/).size, "a\nb\n".scan(/$/).size, m(/a.b/, "a\nb"), m(/a.b/m, "a\nb")

p "あいう".encode("EUC-JP")[Regexp.new("い".encode("EUC-JP"))].encode("UTF-8"), "表\\".encode("Windows-31J") =~ /\\/
p "\xc9t\xe9".dup.force_encoding("ISO-8859-1") =~ Regexp.new("\xe9T".dup.force_encoding("ISO-8859-1"), true), "\xff\xfe".b =~ /\xfe/n
p "ab\u3042".encode("UTF-16LE") =~ Regexp.new("b.$".encode("UTF-16LE")), "é".encode("ISO-8859-1") =~ /[[:alpha:]]/, "é".b =~ /[[:alpha:]]/
p(("é".encode("ISO-8859-1") =~ /é/ rescue $!.class), ("あ".encode("EUC-JP") =~ /\p{Hiragana}/ rescue $!.class), Regexp.new("\\p{Hiragana}".encode("EUC-JP")) =~ "あ".encode("EUC-JP"))

["(", ")", "[", "[]", "[a-", "[b-a]", "[a-\\d]", "[\\d-a]", "[[:foo:]]", "*", "a|*", "(?:+)", "a{3,1}", "a{100001}", "\\", "\\x", "\\u12", "\\u{110000}", "\\u{}", "\\xff",
 "\\xE3", "\\c", "\\M-", "\\C-", "\\400", "\\8", "\\k<n>", "\\k<n", "\\k<-1>", "\\k<1>", "\\g<n>", "\\g<1>", "(\\g<1>)", "(?<n>\\g<n>|a\\g<n>)", "(?<n>a)(?<n>b)\\g<n>",
 "(?<n>a)\\1", "(?<1>a)", "(?<>a)", "(?<n", "(?", "(?#", "(?z)", "(?P<n>a)", "(?(1)a)", "(a)(?(1)a|b|c)", "(?<=a+)", "(?<!(a))", "(?<=(?>a))", "(?<=x(?:a|bc))",
 "(?<=\\1)(a)", "(?~", "\\p{Foo}", "\\p{"].each { |s| puts e(s) }
puts e("\\p{Hiragana}", "ISO-8859-1"), e("a", "ISO-2022-JP").encode("UTF-8", invalid: :replace) rescue p $!.class
puts e("(" * 5000)[0, 40], Regexp.linear_time?("(?=a)*b"), Regexp.linear_time?("(a)\\1"), Regexp.linear_time?("(?>a*)+")
