# A module that stands more than once among the ancestors: each `super` goes on from the place that it was reached at.
module M; def foo(*) = [:M, (defined?(super) ? super : 0)]; end
class A; include M; end
class B < A; prepend M; def foo(*) = [:B, super]; end
class B2 < B; prepend M; def foo(*) = [:B2, super]; end
2.times { p A.new.foo, B.new.foo, B2.new.foo }
m = B2.new.method(:foo)
while m
  p [m.owner, m.call]
  m = m.super_method
end
m = B2.instance_method(:foo)
4.times { m = m.super_method }
p m.bind_call(B2.new), m.super_method

# What a method leaves behind knows its place, too.
module N
  def block = [1].map { |x| [:N, (defined?(super) ? super : 0)] }
  define_method(:defined) { [:N, (defined?(super) ? super() : 0)] }
  def evaluated = eval("[:N, (defined?(super) ? super : 0)]")
  def bound = binding.eval("[:N, (defined?(super) ? super() : 0)]")
  def fiber = Fiber.new { [:N, (defined?(super) ? super() : 0)] }.resume
  def thread = Thread.new { [:N, (defined?(super) ? super() : 0)] }.value
  def later = -> { [:N, (defined?(super) ? super() : 0)] }
  def ancestor(n) = n == 0 ? [:end, (defined?(super) ? super : 0)] : [n, ancestor(n - 1), (defined?(super) ? super : 0)]
  def rescued = begin; raise "x"; rescue; [:N, (defined?(super) ? super() : 0)]; end
  def nowhere = super
  def method_missing(n, *a) = n == :ghost ? [:mm, (begin; super; rescue NoMethodError; $!.message; end)] : super
  def respond_to_missing?(n, priv = false) = n == :ghost || super
  def to_s = "N(" + super[0, 3] + ")"
  def initialize
    (@log ||= []) << :N
    super
  end
  attr_reader :log
end
NAMES = %i[block defined evaluated bound fiber thread rescued]
class P; include N; end
class Q < P
  prepend N
  NAMES.each { |n| define_method(n) { [:Q, super()] } }
  def later = -> { [:Q, super().call] }
  def ancestor(n) = [:Q, super]
end
class R < Q; include Comparable; prepend N; end
[P, Q, R].each do |k|
  o = k.new
  p k, o.log
  NAMES.each { |n| p [n, o.send(n)] }
  one = o.later
  one = one.call while one.is_a?(Proc)
  p one.flatten.grep(Symbol), o.ancestor(1), o.ghost, o.to_s, (o.nowhere rescue $!.message), (o.nope rescue $!.message), o.method(:ghost).call
end

# One site, receivers with the module at several places.
def call(o) = o.defined
p call(P.new), call(Q.new), call(P.new), call(R.new), call(Q.new)
module N; def defined = [:again, (defined?(super) ? super : nil)]; end
p call(P.new), call(Q.new), call(R.new)
o = Q.new
o.extend(N)
p o.defined

# Changes of visibility, aliases, singleton classes.
class V < A; prepend M; public :foo; private :foo; end
p V.new.foo, V.ancestors.first(4), V.private_instance_methods(false)
class W < A; prepend M; def foo(*) = [:W, super]; alias bar foo; end
p W.new.bar, M.instance_method(:foo).bind_call(W.new), M.instance_method(:foo).bind_call(Object.new)
class S1; extend M; end
class S2 < S1; singleton_class.prepend M; def self.foo(*) = [:s2, super]; end
p S2.foo
class U < A; prepend M; undef_method :foo; end
p U.new.foo, (class U; undef_method :none; end rescue $!.message)
many = Class.new { include M }
12.times { many = Class.new(many) { prepend M } }
p many.new.foo.flatten.size
