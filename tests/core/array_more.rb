p((1..5).to_a.values_at(1..2, 4, 10))
p [1, 2, 3].dig(0)
p [[1, [2]]].dig(0, 1, 0)
p [1, 2, 3, 4, 5].bsearch { |x| x >= 3 }
p [1, 2, 3].assoc(1)
p [[1, :a], [2, :b]].assoc(2)
p [[1, :a]].rassoc(:a)
p [1, 2, 3].intersect?([3])
p [1, 2].union([3], [1])
p [1, 2, 3].difference([2])
p [1, 2].intersection([2, 3])
p [3, 1, 2].sort.reverse
p [1, 2, 3, 4].sum
p ["x", "y"].cycle(2).to_a.join
p [1, 2, 3].pack("C*")
p [1, 2] <=> [1, "a"]
p [] <=> [1]
p [[2], [1]].min
p [0.0, -0.0].uniq.size
p [1, 1.0, 1r].uniq.size
p [nil, 2].compact.sum
p [1, 2, 3].first(10)
p Array.try_convert([1])
p Array.try_convert("x")
a = [1, 2, 3, 4, 5, 6]
p a.each_slice(4).to_a
p a.select.with_index { |x, i| i.odd? }
p a.find_all(&:even?)
p a.collect { |x| x }
p a.entries
p a.slice(1..3)
p a.slice(1, 2)
p a.partition.with_index { |x, i| i < 2 }
p a.inject { |m, x| m > x ? m : x }
p a.each_with_index.select { |x, i| x * i > 5 }
p a.sample(random: Random.new(3))
p a.shuffle(random: Random.new(42))
p a.sample(3, random: Random.new(5))
p a.sum { |x| 1.0 / x }.round(5)
p a.minmax
p a.take(0)
p a.drop(10)
p a.first(3).zip(a.last(3)).to_h.to_a
p a * ", "
r = []
r << r
p r, r == r, r.hash == r.hash, ([r].flatten.size rescue $!.message)
p [3, 1, 2].sort!.freeze.frozen?
p [1, 2, 3].to_a.frozen?
p [[1, 2], [3, 4]].each { |x, y| print x + y, " " }
p [[1, [2, 3]]].each { |x, (y, z)| print x + y + z }
p [1, 2, 3, 4].each_cons(2).to_a.flatten.tally.to_a
p ["a", "B"].max_by(&:downcase)
p [0.1, 0.2, 0.3].sum == 0.6
p [0.1, 0.2, 0.3].inject(:+) == 0.6
p [1, 2, 3].none?(4)
p %w[a b c].each_slice(2).include?(["c"])
p [1, 2, 3].reverse_each.map { |x| x }
p [4, 5].each_with_index.to_h.to_a
p [1, 2, 3].inject { |a, b| break a if b == 3; a + b }
p((0...20).to_a.each_slice(7).map(&:size))
p Array.new(5) { |i| i }.each_cons(2).all? { |a, b| a < b }
p [1, 2, 3].sum / 2.0
p ["1", "2"].sum(&:to_i)
p [[1, 2], [3, 4]].sum { |a, b| a * b }
p %w[x y z].zip(1..3)
p [1, 2, 3].zip([4, 5, 6]).map { |a, b| a * b }.sum
p [1, 2].product([3], [4, 5])
p [1, 2, 3].combination(0).to_a
p [1, 2].combination(3).to_a
p [*"a".."e"].values_at(0, -1)
p [5, 1].minmax
p ["b", "a"].max(1)
p [1, [2, [3]]].flatten.inspect
p [1, 2, 3, 4, 5].filter_map { _1 * 2 if _1.odd? }
