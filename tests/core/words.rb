# Sets of small Integers and Symbols, and of what only looks like one.
class Like
  def initialize(v) = @v = v
  def hash = @v.hash
  def eql?(other) = other == @v || other.is_a?(Like)
  def inspect = "like #{@v}"
end
a = (0...40).to_a + (0...20).to_a
b = (10...30).to_a + [:x, nil, true, false]
p a & b, (a | b).size, a - b, a.uniq.size, a.intersect?([39] * 20), a.intersect?((100...130).to_a)
p [3, 1, 3, 2, 1, :a, :b, :a, nil, nil, true].uniq
p (a + [Like.new(3)]).uniq.size, ([Like.new(3)] * 17) & (0..20).to_a, (0..20).to_a - [Like.new(3)] * 17
p [0.0, -0.0, 0, 1, 1.0, 2, 2.0, 3, 4].uniq, (0..20).to_a & (0..20).map(&:to_f), [1, 1.0] * 10 | [1.0, 2] * 10
p ([2**62, 2**62, 2**70, 2**70, 1, 1] * 4).uniq, ((0..20).to_a + [2**70]) & [2**70, 5]
p %w[b a b c a].uniq, %w[a b].cycle(10).to_a & %w[b z] * 10, %w[x y x] * 8 - %w[x]
s = +"text"
u = [s, "text", s.dup] * 6
p u.uniq.size, u.uniq[0].equal?(s), u.uniq[0].frozen?
h = {}
p u.uniq { |x| h[x] = x.size }, h.keys.all?(&:frozen?)
p [1, 2, 3, 4].uniq { |x| x.odd? }, [[1], [1], [2]].uniq, [1, 2].each_entry.uniq
class Array
  def hash = raise("not asked")
end
p (1..30).to_a & (5..40).to_a

# Small tables look for words by themselves.
h = { 1 => :int, :a => :sym, nil => :nil, true => :true, 1.0 => :float, "s" => :str, 2**64 => :big }
p h[1], h[:a], h[nil], h[true], h[1.0], h["s"], h[2**64], h[false], h[2], h[:b]
h[:a] = 1
h[nil] = 2
p h.size, h.delete(1), h[1], h.fetch(:a), h.key?(nil), h.key?(1)
z = { 0.0 => 1 }
p z[-0.0], z[0], { -0.0 => 1 }[0.0]
i = {}.compare_by_identity
i[1] = :one
i["a"] = 1
i["a"] = 2
p i.size, i[1], i["a"]
big = (0...100).to_h { |n| [n, n] }
big.delete_if { |k, _| k % 3 == 0 }
p big.size, big[3], big[4], big.keys.first(3)
big.delete_if { |k, v| big.delete(k) if v > 90; v == 4 }
p big.size, big.keys.last, big[4]
big.reject! { |k, _| k > 10 }
p big, big.select! { |k, _| k == 7 }, big.keep_if { |_, v| v }
d = Hash.new { |hash, k| hash[k] = k.to_s }
20.times { |n| d[n] }
p d.size, d[19], d[:q], d.size
