m = "John Smith 42".match(/(?<first>\w+) (?<last>\w+) (\d+)?/)
p m[0]
p m[:first]
p m["last"]
p m.names
p m.captures
p m.named_captures.to_a
p m.pre_match
p m.post_match
p m.begin(0)
p m.end(:last)
p m.offset(1)
p m.to_a
p m.size
p m.values_at(1, 2)
p m.string
p m.regexp
if /(?<year>\d{4})-(?<mon>\d\d)/ =~ "on 2024-05"
  p year, mon
end
p "abc" =~ /b/
p "abc" !~ /z/
p(/b/ === "abc")
p(/b/.match?("abc"))
p(/(.)(.)/.match("xy").captures)
p(/a/.match("b"))
p "foo bar baz".scan(/ba./)
p "k1=v1;k2=v2".scan(/(\w+)=(\w+)/)
p "test123abc".slice(/\d+/)
p "aaa".scan(/a*/)
p "a1b2".scan(/[a-z]\d/) { |x| print x, " " }
p(/a.c/m.match?("a\nc"))
p(/A/i.match?("a"))
p(/a b # comment
  c/x.match?("abc"))
p(/a/.source)
p(/a\/b/.source)
p(/a/mix.options)
p(/a/i.inspect)
p(/a/i.to_s)
p Regexp.escape("a.b*c[d]")
p Regexp.union("a.b", /c/i, "d")
p Regexp.union
p Regexp.new("a+", Regexp::IGNORECASE)
p(/x/ == /x/)
p(/x/.eql?(/x/i))
p(/x/.hash == /x/.hash)
p(/(a)(?<n>b)/.names)
p(/(?<a>.)(?<b>.)/.named_captures.to_a)
p "foobar"[/o+/]
p "foobar"[/(o)(o)b/, 1]
p "2024-01-02".match(/(\d+)-(\d+)-(\d+)/).captures.map(&:to_i)
p "aXbXc".split(/x/i)
p "hello"[/l(?=o)/]
p "hello"[/(?<=e)l/]
p "hello"[/(?<!h)e/]
p "aab"[/a+?/]
p "aab"[/a++b/]
p "<<a>>"[/<(?<x>.*?)>/, :x]
p "abab"[/(ab)\1/]
p "xyz".gsub(/(?<c>[xz])/, '[\k<c>]')
p "éa"[/\p{L}+/]
p "日本"[/\p{Han}+/]
p "a1_ -"[/[[:alnum:]_]+/]
p "tab\t"[/[[:space:]]/]
p "a\nb"[/^b$/]
p "a\nb"[/\Ab/]
p "ab\n"[/b\Z/]
p "ab\n"[/b\z/]
p "((a)(b))"[/\((?:[^()]|\g<0>)*\)/]
p "foo.bar"[/\.(\w+)\z/, 1]
p "AbC".scan(/[[:upper:]]/)
p "x" * 3 =~ /x{3}/
p "x,y;z".split(/[,;]/)
p "a  b".split(/\s+/)
p "%41"[/%(\h\h)/, 1].hex.chr
p "cat"[/c(?:a|o)t/]
p "ab12"[/(?<l>[a-z]+)(?<d>\d+)/, "d"]
p "aaa".gsub(/a{2}/, "b")
p "word word"[/\b(\w+)\s+\1\b/]
p "ab" =~ /(?i)B/
p "a.b".split(".")
p "R\u00e9sum\u00e9" =~ /É/i
$~ = nil
p $~
p $1
p(("xay" =~ /a/ && [$`, $&, $']))
p Regexp.last_match(0)
p Regexp.last_match.pre_match
begin; Regexp.new("("); rescue RegexpError => e; p e.class; end
begin; Regexp.new("[z-a]"); rescue RegexpError => e; p e.class; end
begin; "a".match(/(a)/)[:nope]; rescue IndexError => e; p e.message; end
p "ab".match(/(?<x>a)|(?<y>b)/)[:y]
p "b".match(/(a)?b/)[1]
p "b".match(/(a)?b/).captures
p "abc".match(/b/, 2)
p "abcb".match(/b/, 2).begin(0)
p "foo" .match(/(?<a>o)/) { |mm| mm[:a] * 3 }
p "a,b".match(/,/).then { |x| [x.pre_match, x.post_match] }
p "héllo".match(/l+/).begin(0)
p "abc".rindex(/[ab]/)
p "path/to/file".rpartition("/")
p "x=1 y=2".gsub(/(\w)=(\d)/) { "#{$2}=#{$1}" }
p "CamelCaseString".gsub(/([A-Z])/) { "_" + $1.downcase }
p "a-b_c".tr("-_", "  ")
p "1234567".gsub(/(?<=\d)(?=(\d{3})+$)/, ",")
p m.inspect
p(/\//.inspect)
p %r{a/b}.inspect
p(/a#{1 + 1}b/.source)
p(/#{"x"}/o.source)
p "a\\b"[/\\/]
