class V
  include Comparable
  attr_reader :n
  def initialize(n) = @n = n
  def <=>(o) = o.is_a?(V) ? n <=> o.n : nil
  def succ = V.new(n + 1)
  def inspect = "V#{n}"
end
a, b, c = V.new(1), V.new(2), V.new(3)
p a < b, a > b, a == V.new(1), a != b, b.between?(a, c), b.clamp(a, a), c.clamp(..b), [c, a, b].sort, [a, c].max
p (a..c).to_a, (a..c).include?(b), (a...c).to_a
begin
  a < 5
rescue ArgumentError => e
  p e.message
end
p a == 5
p [1, 2] <=> [1, 3], "a" <=> "b", nil <=> nil, nil <=> 1, :a <=> :b, 1 <=> "x", true <=> true, [1] <=> [1, 2]
