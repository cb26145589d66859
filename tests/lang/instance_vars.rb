class A
  def initialize
    @b = 1
    @a = 2
  end
  def all = instance_variables
  def unset = @zzz
end
a = A.new
p a.all
p a.unset
p a.instance_variable_get(:@b)
p a.instance_variable_defined?(:@q)
a.instance_variable_set(:@c, 3)
p a.instance_variables, a.remove_instance_variable(:@a), a.instance_variables
begin
  a.instance_variable_get("bad")
rescue NameError => e
  p e.name
end
20.times { |i| a.instance_variable_set("@v#{i}", i) }
p a.instance_variables.size, a.instance_variable_get(:@v19)
s = +"string"
s.instance_variable_set(:@x, 1)
p s.instance_variable_get(:@x), s.dup.instance_variable_get(:@x)
class << A
  def cfg = @cfg ||= []
end
A.cfg << 1
p A.cfg, A.instance_variables
b2 = (b = A.new).dup
b2.instance_variable_set(:@b, 99)
p b.instance_variable_get(:@b), b2.instance_variable_get(:@b)
class Copy
  attr_reader :list
  def initialize = @list = [1]
  def initialize_copy(o)
    @list = o.list.dup
  end
end
c = Copy.new
d = c.dup
d.list << 2
p c.list, d.list
