s = "Hello, World"
p s.length
p s.size
p s.bytesize
p s.upcase
p s.downcase
p s.swapcase
p s.capitalize
p s.reverse
p s.empty?
p "".empty?
p s.chars.first(3)
p s.bytes.first(3)
p s.lines
p s[0]
p s[-1]
p s[0, 5]
p s[7..]
p s[..4]
p s[1...-1]
p s[100]
p s[12]
p s[12, 1]
p s[13, 1]
p s[/W\w+/]
p s[/(H)(e)/, 2]
p s["World"]
p s["zzz"]
p s.slice(0, 3)
p s.byteslice(0, 2)
p s.getbyte(0)
p s.index("o")
p s.index("o", 5)
p s.rindex("o")
p s.index(/[A-Z]/, 1)
p s.rindex("o", 5)
p s.include?("World")
p s.start_with?("Hell", "x")
p s.start_with?(/h/i)
p s.end_with?("ld")
p s.count("lo")
p s.count("a-z", "^l")
p s.delete("l")
p s.squeeze
p "aaabbb".squeeze("a")
p s.tr("lo", "01")
p s.tr("a-y", "b-z")
p s.tr("^a-z", "*")
p s.tr_s("l", "r")
p s + "!"
p s * 2
p s <=> "Help"
p s == "Hello, World"
p s.eql?("x")
p s.equal?(s)
p s.casecmp("HELLO, WORLD")
p s.casecmp?("hello, world")
p s =~ /W/
p s.match?(/z/)
p s.hash == "Hello, World".hash
p "abc".center(9, "*")
p "abc".ljust(6, ".")
p "abc".rjust(6)
p "%-5s|" % "ab"
p "  x ".strip
p "  x ".lstrip
p "  x ".rstrip
p "xx\n".chomp
p "xx\r\n".chomp
p "xx".chomp("x")
p "xyz".chop
p "\0 a \0".strip
p "abc".chomp("bc")
p "a\n\n".chomp("")
p "abc".delete_prefix("a")
p "abc".delete_suffix("c")
p "abc".succ, "az".succ, "zz".succ, "a9".succ, "Zz".succ, "-9".succ, "1.9.9".succ, "".succ, "a-".succ, "<<koala>>".succ, "***".succ, "a".ord, "abc".sum
p "abc".each_char.to_a
p "a b c".split
p "a,b,,c,,".split(",")
p "a,b,,c,,".split(",", -1)
p "a,b,c".split(",", 2)
p "abc".split("")
p " a  b ".split(" ")
p "a1b2".split(/\d/)
p "a1b2".split(/(\d)/)
p "".split(",")
p "abc".partition("b")
p "abcbd".rpartition("b")
p "abc".partition("z")
p "aXbXc".partition(/X/)
p "abc".between?("abb", "abd")
p "b".clamp("a", "c")
p "abc".insert(1, "X")
p "abc".prepend("x")
p "abc".concat("d", "e")
p "abc".replace("z")
p "ab".freeze.frozen?
p "abc".unpack("C*")
p "abc".to_sym
p "12".to_i
p "0x1f".hex
p "17".oct
p "1e2".to_f
p "3/4".to_r
p "1+2i".to_c
p "abc".to_s.equal?("abc")
p "ab".upto("ad").to_a
p "9".upto("11").to_a
p "hello world".each_char.with_index.select { |c, i| c == "o" }.map(&:last)
p "a".upto("e").to_a.join
p "hello"*0
p "line1\nline2\r\nline3".lines
p "a\nb".each_line(chomp: true).to_a
p "abab".each_line("b").to_a
