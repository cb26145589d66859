a = [4, 7, 1]
a.each_with_index { |x, i| print x, i, " " }
a.each_index { |i| print i }
a.reverse_each { |x| print x }
puts
p a.map.with_index { |x, i| x * i }
p a.each_with_object([]) { |x, m| m << x }
p a.inject { |s, x| s + x }
p a.inject(10) { |s, x| s + x }
p a.inject(:*)
p a.reduce(1, :+)
p a.select(&:odd?)
p a.reject(&:odd?)
p a.filter_map { |x| x * 2 if x > 3 }
p a.flat_map { |x| [x, x] }
p a.partition { |x| x > 3 }
p a.group_by(&:odd?).to_a
p a.min_by { |x| -x }
p a.max_by { |x| -x }
p a.find { |x| x > 4 }
p a.detect { |x| x > 40 }
p a.all?(&:positive?)
p a.any? { |x| x > 6 }
p a.none?
p a.one? { |x| x == 1 }
p a.all?(Integer)
p a.any?(5..8)
p a.sum { |x| x * 2 }
p a.each_slice(2).to_a
p a.each_cons(2).to_a
p a.tally.to_a
p a.zip(a.rotate)
p a.cycle.first(5)
p a.take_while { |x| x > 3 }
p a.drop_while { |x| x > 3 }
p a.chunk_while { |x, y| y > x }.to_a
p a.slice_when { |x, y| y < x }.to_a
p a.each_entry.to_a
p a.minmax_by { |x| x % 4 }
p a.max(2)
p a.min(2)
p a.sort.bsearch { |x| x >= 4 }
p a.to_h { |x| [x, x.to_s] }.to_a
p a.sum.fdiv(a.size).round(2)
p a.combination(2).to_a
p a.permutation(2).count
p a.product([1, 2]).size
p a.repeated_combination(2).count
p a.each_with_index.max
p a.lazy.map { |x| x + 1 }.to_a
p a.cycle(2).to_a
p a.values_at(0, 2)
p a.dup.push(1).uniq
p [[3, 1], [1, 2]].sort
p [[1, "b"], [1, "a"]].sort
p %w[bb a ccc].sort_by(&:size)
p %w[b A c].sort_by(&:downcase)
p [1, 2, 3, 4].each_slice(2).map(&:sum)
p [1, 2, 4, 9, 10, 11].slice_when { |i, j| i + 1 != j }.map { |g| g.size < 3 ? g : "#{g[0]}-#{g[-1]}" }
p((1..6).each_cons(3).map(&:sum))
p [3, 5].each_with_index.to_a
p %w[a b c].each_with_index.map { |s, i| s * i }
p a.each.next
p a.each_with_index.to_a
p a.map.class
p a.each { break 5 }
p [].each { 1 }
p [1, 2, 3].sum { _1 * 2 }
p [1, 2, 3].each_entry.to_a
p a.none? { |x| x > 10 }
p [nil, false].none?
p [nil, 1].one?
p [].all?
p [].any?
p [1, 2].cycle.lazy.map { |x| x * 3 }.first(3)
begin; mixed = [1, "a"]; mixed.max; rescue ArgumentError => e; p e.message; end
begin; [1, nil].sum; rescue TypeError => e; p e.message; end
