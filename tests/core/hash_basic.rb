h = { "a" => 1, :b => 2, 3 => [4], nil => nil }
p h.size
p h["a"]
p h[:b]
p h[3]
p h[nil]
p h[:zz]
p h.key?("a")
p h.has_value?(2)
p h.include?(:b)
p h.member?(4)
p h.value?(nil)
p h.key(2)
p h.keys
p h.values
p h.to_a
p h.fetch(:b)
p h.fetch(:q, 0)
p h.fetch(:q) { |k| k.to_s }
p h.dig(3, 0)
p h.values_at(:b, :zz)
p h.fetch_values(:b)
p h.length
p h.empty?
p({}.empty?)
p h.first
p h.first(2)
p h.count
p h.any?
p h.all? { |k, v| v }
p h.sum { |k, v| v.is_a?(Integer) ? v : 0 }
p h.invert.to_a
p h.min_by { |k, v| v.to_s }
p h.find { |k, v| v == 2 }
p h.sort_by { |k, v| k.to_s }
p h.each_with_index.map { |(k, v), i| [k, i] }
p h.partition { |k, v| v }
p h.group_by { |k, v| v.class }.keys
p h.reduce(0) { |s, (k, v)| s + 1 }
p h.each_slice(2).to_a
p h.zip([1])
p h.flat_map { |k, v| [k] }
p h.max_by { |k, v| k.to_s }
p h.assoc(:b)
p h.rassoc(2)
p h.each_with_object([]) { |(k, v), m| m << k }
p h.inject { |a, b| a }
p h.entries.size
p h.filter_map { |k, v| k if v }
p h.to_h { |k, v| [v, k] }.keys
p h.map { |k, v| v }
p h.each_entry.to_a.size
begin; h.fetch(:nope); rescue KeyError => e; p e.message, e.key, e.receiver.equal?(h); end
begin; h.fetch("nope"); rescue KeyError => e; p e.message; end
h.each { |k, v| print k.inspect, v.inspect, " " }
h.each { |pair| print pair.inspect }
h.each_pair { |k, v| print k }
h.each_key { |k| print k }
h.each_value { |v| print v }
puts
p h.each { |k, v| break k }
p h.select { |k, v| v }.keys
p h.filter { |k, v| k == 3 }.to_a
p h.reject { |k, v| v }.to_a
p h.transform_values { |v| v.to_s }.to_a
p h.transform_keys(&:to_s).keys
p h.slice(:b, 9).to_a
p h.except(:b).keys
p h.compact.keys
p h == h.dup
p h.eql?(h.dup)
p h.equal?(h)
p h.hash == h.dup.hash
p({ a: 1, b: 2 } == { b: 2, a: 1 })
p({ a: 1 } > {})
p({ a: 1 } <= { a: 1, b: 2 })
p h.frozen?
p h.sort { |a, b| a[0].to_s <=> b[0].to_s }
p Hash[[[1, 2]]].to_a
p Hash[1, 2, 3, 4].to_a
p [[1, 2]].to_h.to_a
p Hash.new.default
p h.class
p h.sum { 1 }
p h.none?
p h.each_cons(2).count
p h.minmax_by { |k, v| k.to_s }
