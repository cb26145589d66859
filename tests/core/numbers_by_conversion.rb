# Numbers that are asked how they convert: beginnings of sums, parts of Rationals, arguments of Math; and where Floats and exponents end.
def t
  p yield
rescue => e
  puts "#{e.class}: #{e.message}"
end
t { (1..10).sum(1r) }
t { (1..10).sum(1i) }
t { (1..10).sum("x") }
t { (1..10).sum(1.5) }
t { (1..10).sum(nil) }
t { (3..1).sum(1r) }
t { (1..2**70).sum(1r) }
t { (1..2**70).sum(2**70) }

whole = Object.new
def whole.to_int = 6
exact = Object.new
def exact.to_r = 3/2r
t { Rational(whole, 4) }
t { Rational(4, whole) }
t { Rational(whole, whole) }
t { Rational(exact, 2) }
t { Rational(2, exact) }
t { Rational(Object.new, 1) }
t { Rational(1, Object.new) }
own = Class.new(Numeric) do
  def /(other) = 42
  def to_r = 1r
  def to_int = 1
end
t { Rational(own.new, 2) }
broken = Object.new
def broken.to_int = raise("no")
t { Rational(broken, 1) }

t { (0.0).step(2.0**62 - 1.0, 1.0).size }
t { (0.0...2.0**62).step(1.0).size }
t { (0.0).step(1.0, 0.1).size }
t { ("1e10000000".to_r).numerator.bit_length }
t { ("1e-5000000".to_r).denominator.bit_length }
t { "0e10000000".to_r }
t { "0/0".to_r }

class Integer
  alias plain_to_f to_f
  def to_f = (self + 1).plain_to_f
end
t { [Math.sqrt(3), Math.cos(-1), Math.exp(-1), Math.log(0), Math.hypot(2, 3.0), Math.atan2(-1, 1.0), Math.sqrt(4.0)] }
class Integer
  alias to_f plain_to_f
end
t { [Math.sqrt(4), Math.cos(0)] }
