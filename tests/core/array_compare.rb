p [1, 2] == [1, 2.0]
p [1, 2].eql?([1, 2.0])
p [1, 2].hash == [1, 2].hash
p [] == nil
p [1, 2] <=> [1, 2, 3]
p [1, 3] <=> [1, 2, 9]
p [] <=> []
p [1] <=> ["a"]
p [1] <=> 1
p [[1, "b"], [1, "a"], [0, "z"]].sort
p [[2], [1, 5], [1]].sort
p [[3, 1], [2, 9]].max
p [[3, 1], [2, 9]].min_by(&:last)
p [1, [2, [3]]] == [1, [2, [3]]], [nil] == [nil], [Float::NAN] == [Float::NAN]
p %w[b B a A].sort
p %w[b B a A].sort_by { |s| [s.downcase, s] }
p %w[bb a ccc].sort_by(&:length)
p [3, 1, 2].sort { |a, b| b <=> a }
p [0.5, 1, 2r, -3].sort
p [1, 2, 3].sort.frozen?
p [:b, :a].sort
p [true, true].uniq
p [[1], [1]].uniq
p [3, 5, 2].max { |a, b| a <=> b }
p [3, 5, 2].minmax
p %w[aa b].max_by(&:size)
p [1, 2, 3, 4].max(2)
p [4, 1].min(5)
list = Array.new(200) { |i| (i * 7919) % 211 }
p list.sort == list.sort_by { |x| x }, list.sort.each_cons(2).all? { |x, y| x <= y }, list.sort { |a, b| -(a <=> b) } == list.sort.reverse
p list.sort_by { |x| [x % 10, x] }.first(5), list.partition { |x| x > 100 }.map(&:size), list.group_by { |x| x % 3 }.map { |k, v| [k, v.size] }.sort
