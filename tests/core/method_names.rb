# Names and owners of methods that were made from others; curried arity; the one TOPLEVEL_BINDING.
class Src
  def my_method = __method__
  def hidden = :h
  private :hidden
  def self.make = 1
end
class Dst < Src
  define_method(:renamed, Src.instance_method(:my_method))
  alias again renamed
  public :hidden
  class << self
    alias other make
  end
  def my_method = super
end
d = Dst.new
m = d.method(:renamed)
p m.name, m.original_name, m.owner, d.renamed, d.again, d.my_method
p d.method(:again).name, d.method(:again).original_name
p Dst.instance_method(:renamed).inspect.include?("renamed(my_method)")
p d.method(:hidden).owner, d.hidden
p Dst.singleton_class.instance_method(:make).owner, Dst.singleton_class.instance_method(:other).owner
k = Class.new { define_method(:my_inspect, Kernel.instance_method(:inspect)) }
p k.new.method(:my_inspect).original_name

def one(a, b = 2) = a
def rest(a, *b) = a
begin
  method(:one).curry(3)
rescue ArgumentError => e
  puts e.message
end
begin
  lambda { |a, b| a }.curry(1)
rescue ArgumentError => e
  puts e.message
end
p method(:one).curry(2)[1][2], method(:rest).curry(3)[1][2][3], lambda { |a, b = 1| [a, b] }.curry(2)[1][2]
p method(:one).to_proc.source_location == method(:one).source_location
p method(:one).to_proc.binding.receiver == self
p proc { }.to_s.encoding

top = 1
TOPLEVEL_BINDING.local_variable_set(:added, 3)
p TOPLEVEL_BINDING.local_variable_get(:added), TOPLEVEL_BINDING.equal?(TOPLEVEL_BINDING)
TOPLEVEL_BINDING.eval("more = 7")
p TOPLEVEL_BINDING.eval("more + top"), TOPLEVEL_BINDING.local_variable_defined?(:top)
top = 2
p TOPLEVEL_BINDING.local_variable_get(:top)
p Thread.new { TOPLEVEL_BINDING.local_variable_get(:added) }.value
