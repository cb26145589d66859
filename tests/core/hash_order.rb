h = {}
%w[z a m].each_with_index { |k, i| h[k] = i }
h["a"] = 9
p h.to_a
h.delete("z")
h["z"] = 5
p h.keys
p h.first
p h.min_by { |k, v| v }
p h.sort.first
p h.to_a.last
100.times { |i| h[i] = i }
50.times { |i| h.delete(i) }
p h.size
p h.keys[3]
p h.keys.last
p h.values.last(2)
h.shift
p h.first, h.size
n = h.select { |k, v| k.is_a?(String) }
p n.to_a, h.reject { |k, v| k.is_a?(Integer) }.to_a
m = { b: 1 }.merge({ a: 2 }, { b: 3, c: 4 })
p m.to_a
p m.sort.to_a
p m.sort_by { |k, v| -v }.to_a
p m.invert.to_a
p m.min_by(2) { |k, v| v }
p m.each_with_index.map { |(k, v), i| [k, v, i] }
p m.reduce([]) { |a, (k, v)| a << k << v }
p m.filter_map { |k, v| k if v > 2 }
p m.each_slice(2).to_a
p m.sum { |_, v| v }
