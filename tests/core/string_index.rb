s = "hello world, hello moon"
p s.index("hello")
p s.index("hello", 1)
p s.index("zzz")
p s.index("o", -4)
p s.index(/o\w/)
p s.index("", 5)
p s.index("x", 100)
p s.rindex("hello")
p s.rindex("o")
p s.rindex("o", 10)
p s.rindex(/l+/)
p s.rindex("")
p s.rindex("h", -24)
p s["hello"]
p s[/w(or)(ld)/, 2]
p s[/nope/]
p s[0]
p s[-1]
p s[-4..]
p s[2..4]
p s[2...4]
p s[100..]
p s[23..]
p s[23]
p s[4, 3]
p s[-5, 2]
u = "añb日c"
p u.index("日")
p u.index("c")
p u.rindex("ñ")
p u[1]
p u[3]
p u[1..3]
p u[-2]
p u.byteslice(1, 2)
p u.getbyte(1)
p u.slice(0, 2)
p u.start_with?("añ")
p u.end_with?("日c")
p u.start_with?("")
p u.include?("b日")
p u.partition("b")
p u.rpartition("b")
p u.each_char.to_a.rindex("c")
p "aaa".index("a", 1)
p "aaa".rindex("a", 1)
p "abcabc".index(/c/, 3)
p "abcabc".byteslice(-3..)
p "\u{1F600}x".index("x")
p "\u{1F600}x"[1]
