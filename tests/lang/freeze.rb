s = "abc".freeze
p s.frozen?
p s.dup.frozen?
p s.clone.frozen?
p s.clone(freeze: false).frozen?
def try
  yield
  puts "changed"
rescue FrozenError => e
  puts e.message
end
try { s << "d" }
try { [1].freeze << 2 }
try { :sym.instance_variable_set(:@a, 1) }
try { 1.instance_variable_set(:@a, 1) }
class P
  attr_accessor :x
  def initialize = @x = 1
  def inspect = "#<P>"
end
o = P.new.freeze
try { o.x = 2 }
try { o.instance_variable_set(:@y, 1) }
p [1, :a, nil, true, 1.5, 2**70, (1..2)].map(&:frozen?)
key = +"k"
h2 = { key => 1 }
p h2.keys[0].frozen?, key.frozen?, h2.keys[0].equal?(key)
arr = [+"x"].freeze
arr[0] << "y"
p arr
p (+"lit").frozen?, (-"lit").frozen?, (-"a").equal?(-"a")
p "a#{1}".frozen?
p 1.to_s.frozen?
p "lit".dup.frozen?
p String.new.frozen?
p nil.to_s.frozen?
p true.to_s.frozen?
