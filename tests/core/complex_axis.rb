# Complex numbers on an axis stay there, and what else belongs to no single operation.
def t
  p yield
rescue StandardError => e
  p [e.class, e.message]
end
inf=Float::INFINITY
t { Complex(inf,0)*Complex(1,0) }
t { Complex(inf,0)*Complex(0,1) }
t { Complex(0,inf)*Complex(1,0) }
t { Complex(0,inf)*Complex(0,1) }
t { Complex(-0.0,0)*Complex(0,0) }
t { Complex(inf,inf)*Complex(1,1) }
t { Complex(inf,0)*1 }
t { Complex(inf,0)*2.0 }
t { Complex(1,2).fdiv(Complex(2,3)) }
t { Complex(1,2).fdiv(2) }
t { 1.fdiv(Complex(1,2)) }
t { 1.0.fdiv(Complex(1,2)) }
t { 1r.fdiv(Complex(1,2)) }
t { Complex(1,2).fdiv(nil) }
t { Complex(0.0, -888888888888888.0)**8888 }
t { Complex(0, -3)**5 }
t { Complex(1.5, 1.5)**5 }
t { Complex(1.5, 1.5)**6 }
t { Complex(-2,2)**-3 }
t { Marshal.load("\x04\x08o:\x0cComplex\x07:\x0a@reali\x06:\x0b@imagei\x07") }
t { Marshal.load("\x04\bo:\rRational\a:\x0F@numeratori\x06:\x11@denominatori\b") }
  class ObjectX < Numeric
    def initialize(real = true, n = 1) @n = n; @real = real; end
    def +(x) Rational(@n) end
    alias - +
    alias * +
    alias / +
    alias quo +
    alias ** +
    def coerce(x) [x, Complex(@n)] end
    def real?; @real; end
  end
t { Complex(1) <=> ObjectX.new }
t { Complex(1) <=> ObjectX.new(false) }
t { Complex(1,2) <=> ObjectX.new(false) }
t { Complex(1) <=> "s" }
t { Complex(1) <=> nil }
t { Complex(1) <=> Complex(2,1) }
 c = Class.new(Numeric)

    num = 0
    c.define_method(:to_s) { num.to_s }
    c.define_method(:==) { num == it }
    c.define_method(:<)  { num <  it }
    o = c.new
t {  Complex(3, o).to_r }
num = 1
t {  Complex(3, o).to_r }
    c.define_method(:to_r) { 0r }
t {  Complex(3, o).to_r }
t { Complex(3, 0.0).to_r }
t { Complex(3, 0.0).to_i }
t { Complex(3, 0.0).to_f }
t { Complex(3, 0.0).rationalize }
t { Rational(Complex(3,0.0)) }
t { 1.extend(Module.new) }
t { :a.extend(Module.new) }
t { 1.5.extend(Module.new) }

[[0.0, 1.5], [-1.5, 0.0], [2, 0], [0, -2], [1, 1], [-1, 1], [1.5, -1.5], [-2, -2], [3, 2], [1r, 1r], [0, 1.5]].each do |a, b|
  p((2..9).map { |n| Complex(a, b)**n })
end
p Rational(0)**Rational(2, 3), Rational(0)**5
p((Rational(0)**Rational(-2, 3) rescue $!.class))
p (0.0..).step(1.0i).take(3), (..10).step(2).first, (1..).step(1i).first
class TrueClass; def ==(other) = !other; end
p true === true, true === false, true === 1
class NilClass; undef_method :==; end
p nil === nil, ((nil === 1) rescue $!.class)
p Float("0x.1"), Float("0x1."), Float("0x1.p+1"), (Float("0x._1") rescue $!.class)
big = 1 << 66
p 1**-big, (-1)**-big, (-1)**-(big + 1)
