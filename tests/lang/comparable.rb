class V
  include Comparable
  attr_reader :n
  def initialize(n) = @n = n
  def <=>(o) = o.is_a?(V) ? n <=> o.n : nil
  def succ = V.new(n + 1)
  def inspect = "V#{n}"
end
a, b, c = V.new(1), V.new(2), V.new(3)
p a < b
p a > b
p a == V.new(1)
p a != b
p b.between?(a, c)
p b.clamp(a, a)
p c.clamp(..b)
p [c, a, b].sort
p [a, c].max
p (a..c).to_a, (a..c).include?(b), (a...c).to_a
begin
  a < 5
rescue ArgumentError => e
  p e.message
end
p a == 5
p [1, 2] <=> [1, 3]
p "a" <=> "b"
p nil <=> nil
p nil <=> 1
p :a <=> :b
p 1 <=> "x"
p true <=> true
p [1] <=> [1, 2]
