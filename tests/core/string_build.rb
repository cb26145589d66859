s = +""
p s << "a" << "b"
p s.concat("c", "d")
p s.prepend("<")
p s + ">"
p s * 3
p s.insert(2, "-")
p s.replace("new")
t = String.new
p t.encoding.to_s
p t.empty?
p String.new("x").frozen?
p String.new("abc", capacity: 100)
p String.new(capacity: 10).size
big = +""
1000.times { |i| big << i.to_s }
p big.size
p big[1000, 10]
p big.hash == big.dup.hash
p big.count("7")
p big.sum
p "a" + "b" * 3 + "c"
p "x".ljust(5, ".") + "y".rjust(5, ".")
p ["a", "b", 1, nil, :s].join("-")
p [1, [2, [3]]].join(",")
p "%s=%p" % ["k", "v"]
a = "x"
b = "#{a}#{a}#{1}#{nil}#{:s}#{1.5}#{[a]}"
p b
p "#{b}".equal?(b)
p "é#{"a".b}"
p(("é" + "a".b).encoding.to_s)
p "abc".each_char.map { |c| c.ord.to_s(16) }.join, "abc".bytes.inject { |m, x| (m * 31 + x) % 1009 }, "ab".unpack("C*").pack("C*")
