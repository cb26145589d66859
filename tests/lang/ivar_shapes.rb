# Objects of one class whose ivars come in different orders and numbers.
class S
  def set(*names)
    names.each_with_index { |n, i| instance_variable_set("@#{n}", i) }
    self
  end
  def a = @a
  def b = @b
end
x = S.new.set(:a, :b)
y = S.new.set(:b, :a)
z = S.new.set(:c, :d, :e, :a)
[x, y, z, S.new].each { |o| p [o.a, o.b, o.instance_variables] }
100.times { |i| x.instance_variable_set("@n#{i}", i) }
p x.a, x.instance_variables.size
x.remove_instance_variable(:@a)
p x.a, x.b, x.instance_variable_get(:@n99)
x.set(:a)
p x.a, x.instance_variables.size
class T < S
  def initialize = @own = 1
  attr_accessor :own, :late
end
t = T.new
t.late = 5
u = T.new
p t.late, u.late, u.own
t2 = t.clone
t2.own = 7
p t.own, t2.own, t2.late
c = Class.new(T) { def initialize; super; @more = 2; end; attr_reader :more }
p c.new.more, c.new.own
