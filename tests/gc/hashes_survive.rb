scale = ENV["ZAKURO_TEST_SCALE"] == "small" ? 200 : 20_000
h = {}
scale.times { |i| h["key #{i}"] = { n: i, list: [i] * (i % 5), "s" => "v#{i}" } }
scale.times { |i| h.delete("key #{i}") if i % 3 == 0 }
GC.start
p h.size == scale - (scale + 2) / 3
p h.all? { |k, v| k == "key #{v[:n]}" && v[:list].size == v[:n] % 5 && v["s"] == "v#{v[:n]}" }
by_object = {}.compare_by_identity
keys = Array.new(scale / 10) { Object.new }
keys.each_with_index { |k, i| by_object[k] = i }
GC.start
p keys.each_with_index.all? { |k, i| by_object[k] == i }
