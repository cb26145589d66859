# `[a, b].max`, `min` and `include?` of a literal: what is answered without the Array, and what is not.
def max(a, b, c) = [[a, b].max, [a, b, c].min, [a].max, [c, b, a].max]
p max(1, 2, 3), max(3, 2, 1), max(-1, 0, -1), max(1.5, 2.5, -0.5), max(0.0, -0.0, 0.0), max(1, 2.5, 3r), max("a", "b", "c")
p max(2**70, 1, -2**70), (max(1, nil, 2) rescue $!.class), (max(1, "a", 2) rescue $!.class)
p (max(Float::NAN, 1.0, 2.0) rescue $!.class), max(2**62 - 1, 2**62, -2**62)
def in?(x, a, b) = [[1, :a, nil, a].include?(x), [a, b].include?(x), [:a, :b, :c, :d, 1, nil, true].include?(x), ["a", "b"].include?(x), [b].include?(x)]
p in?(1, 2, 3), in?(:a, :b, :c), in?(nil, nil, 1), in?(1.0, 1, 2), in?(1, 1.0, 2), in?("a", "b", "a"), in?(:d, [], {}), in?([], [], {}), in?(true, 1, true)
class Odd
  def ==(o) = o == :a || o == "s" || o == 7
end
p in?(Odd.new, Odd.new, 1), in?(:a, Odd.new, 1), in?("s", 1, Odd.new), in?(7, :x, Odd.new)
class Ordered
  include Comparable
  attr_reader :n
  def initialize(n) = @n = n
  def <=>(o) = n <=> o.n
end
p max(Ordered.new(1), Ordered.new(3), Ordered.new(2)).map { Array(_1).map(&:n) }
# What an element's `==` sees is an Array's own.
class Seen
  def ==(o) = (o << "!") && false
end
s = +"x"
p [Seen.new, 1].include?(s), s, ["y", Seen.new].include?(s), s

# Arguments in order, values as they were.
log = []
x = 1
p [(log << 1; x), (x = 5), (log << 2; 3)].max, [x, (x = 2)].include?((log << 3; x)), log
p [*[1, 2]].max, [1, *[5]].max, [1, 2].max(1), [1, 2].max { |a, b| b <=> a }, [1, 2]&.max, [].max, [[1, 2].max, 3].min
p [1, 2].include?(*[2]), ([1].include? rescue $!.message), ([1, 2].include?(1, 2) rescue $!.message)
[1, 2].max
[1, log].include?(1)
def hot(n)
  i = sum = 0
  while i < n
    sum += [i & 7, 3].max - [i & 7, 3].min + ([1, 2, 3].include?(i & 3) ? 1 : 0) + (%i[a b c d e f g].include?(:g) ? 1 : 0)
    sum += [i * 0.5, 2.0].max.to_i & 3
    i += 1
  end
  sum
end
p hot(5000)

def objects
  before = GC.stat(:total_allocated_objects)
  yield
  GC.stat(:total_allocated_objects) - before
end
def asks(a, b)
  i = 0
  while i < 200
    [a, b].max
    [a, b].min
    [a, i].include?(b)
    i += 1
  end
end
asks(1, 2)
p objects { asks(3, 4) } < 50

# Redefined ones.
module Loud
  def include?(x) = "loud #{x}"
end
class Array
  def max(*) = "own max"
  prepend Loud
end
p [1, 2].max, [1, 2].min, [1, 2].include?(1), [:a, :b, :c, :d, :e, :f].include?(:a), (hot(1) rescue $!.message)
