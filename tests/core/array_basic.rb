a = [5, 3, 8, 1]
p a.length
p a.first
p a.last
p a.first(2)
p a.last(2)
p a[0]
p a[-1]
p a[1, 2]
p a[1..]
p a[..1]
p a[10]
p a[4]
p a[4, 1]
p a[5, 1]
p a[-2..]
p a[0...-1]
p a[(1..).step(2)]
p a.at(1)
p a.dig(0)
p a.fetch(1)
p a.fetch(9, :d)
p a.fetch(9) { |i| i * 2 }
p a.values_at(0, 2, 9, -1)
p a.take(2)
p a.drop(2)
p a.include?(3)
p a.index(8)
p a.index { |x| x < 4 }
p a.rindex(1)
p a.find_index(99)
p a.count
p a.count(3)
p a.count(&:odd?)
p a.empty?
p [].empty?
p a.sum
p a.min
p a.max
p a.minmax
p a.sort
p a.sort { |x, y| y <=> x }
p a.sort_by { |x| -x }
p a.reverse
p a.rotate
p a.rotate(-1)
p a.to_a.equal?(a)
p a.inspect
p a.to_s
p a.join("-")
p a.hash == [5, 3, 8, 1].hash
begin; a.fetch(10); rescue IndexError => e; p e.message; end
begin; a.fetch(-10); rescue IndexError => e; p e.message; end
begin; a.first(-1); rescue ArgumentError => e; p e.message; end
begin; a["x"]; rescue TypeError => e; p e.message; end
p Array.new(3)
p Array.new(2, 0)
p Array.new(3) { |i| i * i }
p Array(nil)
p Array([1])
p Array(1..3)
p Array("a")
p Array({ a: 1 })
p [1, 2] + [3]
p [1, 2, 2, 3] - [2]
p [1, 2] * 2
p [1, 2] * ","
p [1, 2] & [2, 3]
p [1, 2] | [2, 3]
p [1, 2] <=> [1, 3]
p [1, [2]] == [1, [2]]
p [1].eql?([1.0])
p [1] == [1.0]
p [[1, 2], [3]].flatten
p [1, [2, [3, [4]]]].flatten(1)
p [nil, 1, false].compact
p [1, 1, 2].uniq
p [1, 2, 3, 4].uniq(&:odd?)
p [3, 1].minmax
p [[1, :a], [2, :b]].to_h.to_a
p [1, 2].zip([3, 4], [5])
p [[1, 2], [3, 4]].transpose
p [1, 2, 3].each_slice(2).to_a
p [1, [2, nil, "s", :s, 1.5, [], {}]].to_s
p [[]].inspect
p [1, 2].to_s
p [nil].to_s
p [1, 2, 3].first
p [].first
p [].last
p [].sum
p [].max
p [].min
p [].inject(:+)
p [0.1] * 3
p [0.1, 0.2, 0.3].sum
p [1, 2.5].sum
p ["a", "b"].sum("")
p [[1], [2]].sum([])
p [1e100, 1.0, -1e100].sum
