p %w[a z az zz a9 Az Zz zZ9 -9 1.9 9 a-9 <<z>> é zé].map(&:succ)
p "a".upto("f").to_a
p "a".upto("f", true).to_a
p "08".upto("11").to_a
p "9".upto("11").to_a
p "aa".upto("ad").map(&:to_sym)
p "25".upto("5").to_a
p "b".upto("a").to_a
p(("a".."e").step(2).to_a)
p(("A".."zz").count)
p(("a".."c").sum(""))
p(("az".."bc").to_a)
p(("1".."10").to_a.size)
