# An image is the program state of one moment; the block and its arguments are of the moment of spawn.
class A; attr_accessor :v; end
L = [1]
img = RubyVM::Image.capture
L << 2
class B < A; def hi = "B#{v}"; end
b = B.new; b.v = L
x = 5
p img.spawn(b) { |o| [L, o.hi, o.v, x, defined?(B), o.class.name, self.inspect, o.is_a?(A), o.class.superclass.equal?(A)] }.value
p 4.times.map { |i| img.spawn(i) { |k| L << k; L } }.map(&:value), L
p RubyVM.fork(img) { |im| im.spawn { L.size }.value }.value
p img.spawn { RubyVM.fork { L.size }.value }.value
