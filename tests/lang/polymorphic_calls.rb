# One call site, many receivers: caches must keep them apart.
classes = (0...12).map { |i| Class.new { define_method(:v) { i }; define_method(:w) { |x = i| x } } }
objs = classes.map(&:new)
sum = 0
5.times { objs.each { |o| sum += o.v + o.w } }
p sum
def size_of(x) = x.size
p [[1, 2], "abc", { a: 1 }, 1..4, :sym, 8].map { |x| size_of(x) }
def add(a, b) = a + b
p add(1, 2)
p add(1.5, 2)
p add("a", "b")
p add([1], [2])
p add(2**70, 1)
p add(1, 2**70)
def idx(x, i) = x[i]
p idx([1, 2], 1)
p idx("ab", 1)
p idx({ 1 => :h }, 1)
p idx(5, 0)
p idx(:sym, 1)
p idx(->(v) { v * 9 }, 1)
def eq(a, b) = a == b
p eq(1, 1.0)
p eq("a", "a")
p eq(:a, "a")
p eq([1], [1])
p eq(nil, nil)
p eq(0.0, -0.0)
p eq(Float::NAN, Float::NAN)
o = objs[3]
def o.v = :singleton
p objs.map(&:v)
classes[5].class_eval { def v = :redefined }
p objs[5].v
module Late; def v = [:late, super]; end
classes[6].prepend(Late)
p objs[6].v
classes[7].send(:remove_method, :w)
p (objs[7].w rescue :removed)
class Base; def who = :base; end
class Mid < Base; end
class Leaf < Mid; end
l = Leaf.new
p l.who
class Mid; def who = :mid; end
p l.who
class Mid; remove_method :who; end
p l.who
