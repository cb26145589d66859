# Finalizers of very many objects: what each defines, copies and forgets costs nothing by the others.
list = Array.new(100_000) { Object.new }
ran = 0
list.each { |o| ObjectSpace.define_finalizer(o, proc { ran += 1 }) }
copies = list.first(1_000).map(&:dup)
other = "x"
100_000.times { other.dup }
list.drop(10).each { |o| ObjectSpace.undefine_finalizer(o) }
# An equal one counts once.
named = Object.new
said = proc { puts "first: #{ran}" }
2.times { ObjectSpace.define_finalizer(named, said) }
ObjectSpace.define_finalizer(Object.new.tap { |o| copies << o }, proc { ran += 1 })
at_exit { puts "at exit: #{ran}" }
class Plain
  attr_accessor :a, :b, :c, :d, :e
  def initialize = (@a, @b, @c, @d = 1, [2], nil, self)
end
# Copies of objects: with variables that were removed, with more than there is room for, with singleton classes.
one = Plain.new
two = one.dup
p two.a, two.b.equal?(one.b), two.d.equal?(one), two.instance_variables, one == two
two.e = 5
two.b = 6
p one.instance_variables, one.b, two.instance_variables
one.remove_instance_variable(:@b)
p one.dup.instance_variables
def one.single = 1
p one.dup.respond_to?(:single), one.clone.single, one.dup.instance_variables
300.times { |i| one.instance_variable_set("@v#{i}", i) }
p one.dup.instance_variables.size, one.dup.instance_variable_get(:@v299), one.clone.instance_variable_get(:@v0)
p one.freeze.dup.frozen?, one.clone.frozen?
class Sub < Plain
  def initialize_copy(other) = (@copied = other.a)
end
p Sub.new.dup.instance_variables
