class Key
  attr_reader :n, :calls
  def initialize(n) = @n = n
  def hash = @n % 3
  def eql?(o) = o.is_a?(Key) && n == o.n
end
h = {}
30.times { |i| h[Key.new(i)] = i }
p h.size, (0...30).all? { |i| h[Key.new(i)] == i }, h[Key.new(99)]
10.times { |i| h.delete(Key.new(i * 3)) }
p h.size, h.values
p h.key?(Key.new(1)), h.key?(Key.new(0))
g = { 1 => :int, 1.0 => :float, "1" => :str, :"1" => :sym, [1] => :arr, nil => :nil, true => :t, (1..2) => :range, 2**80 => :big, Key => :cls }
p g[1]
p g[1.0]
p g["1"]
p g[:"1"]
p g[[1]]
p g[nil]
p g[true]
p g[1..2]
p g[2**80]
p g[Key]
p g[2]
p g[false]
a = [1]
w = { a => 1 }
a << 2
p w[[1, 2]], w[a], w.rehash[a]
s = Struct.new(:a, :b)
p({ s.new(1, 2) => :x }[s.new(1, 2)], { { a: 1 } => :y }[{ a: 1 }], { 0.1 + 0.2 => 1 }[0.3])

# Plain objects by identity; with a `hash` of the class's own, or the object's, from some time on; one that asks for the builtin one.
class Lone; end
a, b = Lone.new, Lone.new
h = { a => 1, b => 2 }
p h[a], h[b], h.key?(Lone.new), h.key?(a), [a, b, a].uniq.size, Set[a, b, a].size, [a, b, a].tally.values
class Above < Lone
  def hash = super
  def eql?(other) = true
end
s = Above.new
p({ s => 1 }[s], { s => 1 }[Above.new], s.hash == s.hash)
def a.hash = 7
p h[a], h.rehash[a], { a => 3 }[a], { b => 1 }[b]
class Lone
  def hash = 5
  def eql?(other) = other.is_a?(Lone)
end
p({ Lone.new => 1 }[Lone.new], [Lone.new, Lone.new].uniq.size, [Lone.new, Lone.new].tally.values)
class Lone
  remove_method :hash, :eql?
end
p({ Lone.new => 1 }[Lone.new], [Lone.new, Lone.new].uniq.size)
l = []
m = { l => 1 }
l << 1
m[l] = 2
p m.size, m.compare_by_identity, m.size
