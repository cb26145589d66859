s = Set.new([3, 1, 2, 3])
p s, s.size, s.include?(2), s === 2, s.add(5), s << 1, s.delete(3), s.to_a.sort, s.add?(1), s.add?(9).equal?(s)
p Set[1, 2] | [3], Set[1, 2] & [2], Set[1, 2] - [1], Set[1, 2] ^ [2, 3], Set[1] < Set[1, 2], Set[1, 2].superset?(Set[1]), Set[1].disjoint?([2]), Set[1, 2] == Set[2, 1]
p Set.new([1, 2]) { |x| x * 10 }, [1, 1].to_set, Set[], Set[[1], "a", nil], Set[1].hash == Set[1].hash, { Set[1] => :k }[Set[1]]
p Set[3, 1].map { |x| x + 1 }, Set[1, 2].partition(&:odd?), Set[1, [2]].flatten, Set[1, 2].sum, Set[3, 1].min, Set[1].frozen?, Set[1, 2].inspect, Set[1, 2].to_s
