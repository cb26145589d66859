class Fix < Numeric
  def initialize(n) = @n = n
  attr_reader :n
  def <=>(o) = n <=> (o.is_a?(Fix) ? o.n : o)
  def coerce(o) = [Fix.new(o), self]
  def +(o) = Fix.new(n + (o.is_a?(Fix) ? o.n : o))
  def -(o) = Fix.new(n - (o.is_a?(Fix) ? o.n : o))
  def to_i = n
  def inspect = "Fix(#{n})"
end
p Fix.new(3) > Fix.new(2)
p Fix.new(3) + 1
p 1 + Fix.new(3)
p Fix.new(5).positive?
p Fix.new(0).zero? == true
p Fix.new(2).between?(1, 3)
p Fix.new(3).integer?
p Fix.new(4).clamp(1, 3)
p [Fix.new(2), Fix.new(1)].max
p Fix.new(1).nonzero?.class
p(+Fix.new(1))
p 3.7.to_i
p 3.7.truncate
p(-3.7.truncate)
p 3.2.ceil
p(-3.2.floor)
p 12.34.ceil(1)
p 12.34.floor(1)
p 1234.ceil(-2)
p 1234.floor(-2)
p 5.fdiv(2)
p 7.divmod(-2)
p(-7.abs)
p 3.zero?
p 0.0.zero?
p 5.integer?
p 5.0.integer?
p 5.real?
p 5.0.finite?
p 1.0.infinite?.inspect
p 3.14.to_i
p 10.numerator
p 0.75.numerator
p 0.75.denominator
p 1.5.rationalize(Rational(1, 100))
p 4.pow(2)
p 4.pow(-1)
p 2.pow(10, 1000)
p 3.14.truncate(1)
p 6.lcm(4)
p 1.0.next_float > 1.0
p 5.step(1, -2).to_a
p 1.0.step(2.0, 0.5).to_a
p 10.clamp(..5)
p 5.0.divmod(1.5)
p(-5 / 2)
p(-5 % 3)
p(-5.remainder(3))
p 5.0.floor
p 5.9.to_i
p 1e3.to_i
p 0.1 + 0.2
p 1.23456789e-7
p 100.0.to_s
p 1e100.to_i.to_s.size
