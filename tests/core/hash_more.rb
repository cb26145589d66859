h = { a: 1, b: 2, c: 3, d: 4 }
p h.each_slice(2).map(&:to_h).map(&:keys)
p h.sum { |k, v| v }
p h.filter_map { |k, v| k if v.even? }
p h.each_with_object({}) { |(k, v), m| m[v] = k }.to_a
p h.inject(0) { |s, (_, v)| s + v }
p h.group_by { |_, v| v.odd? }.transform_values(&:size).to_a
p h.partition { |_, v| v > 2 }.map(&:to_h).map(&:keys)
p h.min_by(2) { |_, v| -v }.to_h.to_a
p h.sort_by { |k, v| [-v, k] }.to_h.keys
p h.zip(h.keys).first
p h.reduce { |a, b| a + b }
p h.to_a.flatten
p h.flat_map { |k, v| [k] * v }.size
p h.each_entry.first
p h.detect { |k, v| v == 3 }
p h.find_all { |k, v| v < 3 }
p h.take_while { |k, v| v < 3 }
p h.drop(2)
p h.tally.size
p h.uniq { |k, v| v % 2 }
p h.count { |k, v| v > 1 }
p h.cycle.first(5).size
p h.chunk_while { |a, b| b[1] == a[1] + 1 }.size
p h.lazy.map { |k, v| v }.first(2)
p h.each_cons(2).map { |(a, _), (b, _)| [a, b] }
p h.dig(:a)
p h.filter_map { _1 }
p h.map { |k, v| [k, v * 2] }.to_h.values
p h.max_by { |_, v| v }.first
p h.sum { _2 }
p h.any? { |k, v| v > 3 }
p h.all?(Array)
p h.key(3)
p h.invert[4]
p h.transform_keys({ a: :z }).keys
p h.transform_keys({ a: :z }, &:to_s).keys
p h.to_proc.call(:a)
p %i[a b].map(&h)
p h.deconstruct_keys(nil).equal?(h)
p h.default_proc
p h.compare_by_identity?
p h.values.each_slice(2).to_a
p Hash.new { |_, k| k }.then { |x| [x[1], x.size] }
def opts(**o) = o.keys
p opts(**h)
