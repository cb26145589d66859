p [1, 2, 2, 3] | [3, 4, 4]
p [1, 1, 2] & [1, 2, 2]
p [1, 2, 2, 3, 3] - [2]
p [1, 2] + [2]
p [1, 1.0, 2] | [2.0]
p [[1], [2]] & [[2]]
p ["a", "b"] - ["b".dup]
p [nil, false] | [nil]
p [1, 2, 3].union([4], [1, 5])
p [1, 2].difference([2], [1])
p [1, 2, 3].intersection([1, 3], [3])
p [1].intersect?([2])
p [3, 1, 2, 3, 1].uniq, [3, 1, 2].uniq { |x| x.odd? }, [[1, 2], [2, 1]].uniq(&:sort)
p (1..100).to_a & (50..200).to_a == (50..100).to_a, ((1..100).to_a - (1..99).to_a)
p [1, 2, 3].include?(2.0)
p [1, 2, 3].member?(4)
p [nil].include?(nil)
p ["x"].include?("x")
p [1, 2, 1].tally.to_a, %w[a b a].tally.max_by(&:last), [1, 2, 3, 4].sum { |x| x.even? ? x : 0 }
p [1, 2, 3].product([1, 2]).select { |a, b| a == b }, [1, 2].product, [[1, 2], [3]].inject(:product)
