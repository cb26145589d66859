class A
  def m(a, b = 2, *c, k: 0, &blk) = [a, b, c, k, blk && blk.call]
  def plain = :plain
  def self.cm = :cm
  def to_s = "A"
end
class B < A
  def m(a, b = 5, *c, k: 1, &blk)
    a += 1
    super
  end
  def plain = [super, super()]
  def self.cm = [super, :b]
  def to_s = super + "B"
end
p B.new.m(1), B.new.m(1, 2, 3, k: 4) { 5 }
p B.new.plain, B.cm, B.new.to_s
class C < A
  def m(*) = super
  def plain = [1].map { |x| [x, super()] }
end
p C.new.m(1, 2), C.new.plain
class D < A
  def m(...) = super(...)
end
p D.new.m(1, k: 2) { 3 }
class E < A
  def m(a) = super(a, 9, k: 8, &nil)
end
p E.new.m(1) { 1 }
class F
  def respond_to_missing?(n, p = false) = n == :ghost || super
  def method_missing(n, *a)
    n == :ghost ? [:ghost, a] : super
  end
end
f = F.new
p f.ghost(1), f.respond_to?(:ghost), f.respond_to?(:nope)
class G < A
  define_method(:plain) { [super(), :dm] }
end
p G.new.plain
class H < A
  def plain = defined?(super)
  def other = defined?(super)
end
p H.new.plain, H.new.other
module Mix
  def plain = [:mix, super]
end
class I < A
  include Mix
  def plain = [:i, super]
end
p I.new.plain
s = A.new
def s.plain = [:single, super]
p s.plain
class J < A
  alias old plain
  def plain = [old, :new]
end
p J.new.plain
begin
  Class.new { def x = super }.new.x
rescue NoMethodError => e
  p e.name
end
class K
  def initialize(a:, b: 1) = @v = [a, b]
  attr_reader :v
end
class L < K
  def initialize(a:, **o)
    super
  end
end
p L.new(a: 3, b: 4).v
