p 5.clamp(1, 3)
p 5.clamp(..3)
p 0.clamp(1..)
p 2.clamp(1..3)
p "b".clamp("a", "c")
p 1.5.clamp(2, 3)
p((5.clamp(3, 1) rescue $!.class))
p((5.clamp(1...3) rescue $!.class))
p 5.between?(1, 5)
class W
  include Comparable
  attr_reader :v
  def initialize(v) = @v = v
  def <=>(o) = v <=> o.v
end
p [W.new(2), W.new(1)].min.v
p [W.new(2), W.new(1)].sort.map(&:v)
p W.new(1) == W.new(1)
p W.new(1).eql?(W.new(1))
p W.new(1).equal?(W.new(1))
p [W.new(3), W.new(5)].minmax.map(&:v)
p W.new(2).clamp(W.new(3), W.new(4)).v
