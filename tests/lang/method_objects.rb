class A
  def m(a, b = 1) = [a, b]
  def self.s = :s
  def to_proc = ->(x) { x * 3 }
end
a = A.new
m = a.method(:m)
p m.call(1)
p m.(2, 3)
p m[4]
p m.arity
p m.name
p m.owner
p m.receiver.equal?(a)
p m.parameters
um = m.unbind
p um.class
p um.bind(A.new).call(9)
p A.method(:s).call
p [1, 2].map(&a)
p %w[1 2].map(&method(:Integer))
p (a.method(:m) == a.method(:m)), a.method(:m).eql?(A.new.method(:m))
begin
  a.method(:nope)
rescue NameError => e
  p e.name
end
p m.to_proc.lambda?, m.curry(2)[1][2], a.public_method(:m).name
def a.sing = 1
p a.singleton_method(:sing).call, 5.method(:+).call(3), [3, 1].method(:sort).unbind.bind_call([2, 1])
p m.source_location.last, a.method(:puts).owner, 1.method(:+).source_location
method(:puts).to_proc.call("via method")
p (5.method(:+) >> 2.method(:*)).call(1), A.instance_method(:m).bind_call(a, 7)
class B < A
  def m(a) = super
end
p B.new.method(:m).super_method.call(1)
