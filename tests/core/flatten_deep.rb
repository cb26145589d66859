# Array#flatten: nesting of any depth, cycles, limits, to_ary.
deep = []
30_000.times { deep = [deep, 1] }
p deep.flatten.size, deep.flatten(3).size
a = [1, [2, [3, [4]]]]
p (-1..4).map { |n| a.flatten(n) }
p a.dup.flatten!, [1].flatten!, a.dup.flatten!(0), [1, []].flatten!
loop = [1]
loop << [2, loop]
begin
  loop.flatten
rescue ArgumentError => e
  puts e.message
end
p loop.flatten(2).size
far = [0]
inner = far
100.times { inner = [inner] }
far << inner
begin
  far.flatten
rescue ArgumentError => e
  puts e.message
end
twice = [1, 2]
p [twice, [twice, [twice]]].flatten
wide = (1..50).inject([]) { |x, i| [x, [i, twice]] }
p wide.flatten.size
class Pair
  def initialize(a, b) = (@a, @b = a, b)
  def to_ary = [@a, @b]
end
p [Pair.new(1, Pair.new(2, [3])), nil].flatten
p [Pair.new(1, Pair.new(2, 3))].flatten(1).map(&:class)
class Odd
  def to_ary = 5
end
begin
  [Odd.new].flatten
rescue TypeError => e
  puts e.message
end
grown = [1, 2]
g = Object.new
g.define_singleton_method(:to_ary) { grown << 9 if grown.size < 5; [7] }
grown.unshift(g)
p grown.flatten, grown.size
