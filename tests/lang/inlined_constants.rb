# Constants in methods that hot loops of other classes call: each method sees its own scope's, also after one was set anew.
class Outer
  LIMIT = 10
  def self.loop_over(small, large, rounds)
    sum = 0
    rounds.times { sum += small.step + large.step + LIMIT }
    sum
  end
end
class Small
  LIMIT = 1
  def step = LIMIT
end
class Large
  module Inner
    LIMIT = 1000
    class Deep
      def step = LIMIT + OTHER
    end
  end
  OTHER = 5
  Inner::OTHER = 7
end
small, large = Small.new, Large::Inner::Deep.new
3.times { p Outer.loop_over(small, large, 50_000) }
Small.send(:remove_const, :LIMIT)
begin
  Outer.loop_over(small, large, 1)
rescue NameError => e
  puts e.message.lines.first
end
Small.const_set(:LIMIT, 2)
3.times { p Outer.loop_over(small, large, 50_000) }
# One method cell for each of two places: a module's method sees the module's constants wherever it was included.
module Counted
  UNIT = 3
  def unit = UNIT
end
class First; UNIT = 100; include Counted; end
class Second; UNIT = 200; include Counted; end
def units(objects)
  sum = 0
  i = 0
  while i < 60_000
    sum += objects[i & 1].unit
    i += 1
  end
  sum
end
p units([First.new, Second.new]), units([First.new, First.new])
# nil, Symbols and objects compared, whoever is first.
Empty = nil
class Node
  def ==(other) = other.nil? ? :none.itself && true : super
end
def told(values)
  yes = no = 0
  20_000.times do |i|
    v = values[i % values.size]
    if Empty == v then yes += 1 else no += 1 end
    yes += 10 if :a == v
    no += 10 if true != v
    yes += 100 if v == Empty
  end
  [yes, no]
end
p told([nil, :a, "a", true, Node.new, 1, 1.5])
p told([nil, nil])
