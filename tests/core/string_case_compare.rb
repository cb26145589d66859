p "a" < "b"
p "A" < "a"
p "a" == "a".b
p "é" == "é".b
p "abc".eql?("abc")
p "a" <=> "a\0"
p "" <=> "a"
p "a".casecmp("B")
p "a".casecmp(1)
p "ab" =~ /B/i
p %w[banana Apple cherry].sort
p %w[banana Apple cherry].sort_by(&:downcase)
p %w[a10 a9 a1].sort
p %w[a b].max
p "z".ord <=> "a".ord
p "a".equal?("a")
p "a".hash == "a".hash
p "straße".upcase
p "ÄÖ".downcase
p "i".upcase(:turkic)
p "ABC".downcase(:ascii)
p "éa".capitalize
p "HELLO wORLD".capitalize
p "x" === "x"
p(("a".."c") === "b")
p "10" <=> "9"
p "a" * 3 <=> "aab"
p "abc" > "abd"
p "abc".between?("a", "b")
