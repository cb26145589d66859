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
