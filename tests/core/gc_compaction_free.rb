# Objects keep their identity and address-based ids over collections.
a = Array.new(50) { Object.new }
ids = a.map(&:object_id)
hashes = a.map(&:hash)
3.times { GC.start; Array.new(1000) { "x" * 20 } }
p a.map(&:object_id) == ids
p a.map(&:hash) == hashes
p ids.uniq.size
p a.each_with_index.all? { |o, i| a.index(o) == i }
h = {}.compare_by_identity
a.each_with_index { |o, i| h[o] = i }
GC.start
p a.each_with_index.all? { |o, i| h[o] == i }
p "lit".object_id == "lit".object_id
p :sym.object_id == :sym.object_id
p 5.object_id == 5.object_id
p nil.object_id
p true.object_id
p 1.object_id
