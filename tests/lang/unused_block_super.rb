# A `super` with a block of its own does not use the method's.
$VERBOSE = false
short = Object.new
def short.write(*texts) = texts.join("").gsub(%r{\S*/(\w+\.rb)}, '\1').then { |t| $stdout.write(t) }
$stderr = short
class Base
  6.times { |i| define_method(:"m#{i}") { nil } }
end
class Derived < Base
  def m0 = super
  def m1 = super()
  def m2(&_) = super(&_)
  def m3 = super(&nil)
  def m4 = super() {}
  def m5 = super {}
end
Warning[:strict_unused_block] = true
d = Derived.new
d.m0 {}
d.m1 {}
d.m2 {}
d.m3 {}
d.m4 {}
d.m5 {}
