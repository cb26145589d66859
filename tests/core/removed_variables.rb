# Instance variables that are removed: those that came later move up.
class A; def initialize = (@a, @b, @c = 1, 2, 3); attr_reader :a, :b, :c, :d; end
x = A.new
p x.remove_instance_variable(:@b), x.instance_variables, x.a, x.b, x.c
x.instance_variable_set(:@b, 5); p x.instance_variables, x.b
x.remove_instance_variable(:@b); p x.instance_variables
x.remove_instance_variable(:@a); p x.instance_variables, x.c
x.remove_instance_variable(:@c); p x.instance_variables
begin; x.remove_instance_variable(:@c); rescue NameError; p $!.message; end
def x.q = 1
x.instance_variable_set(:@z, 9); x.instance_variable_set(:@y, 8); x.remove_instance_variable(:@z); p x.instance_variables, x.q
e = RuntimeError.new("m"); e.instance_variable_set(:@p, 1); e.instance_variable_set(:@q, 2); e.remove_instance_variable(:@p); p e.instance_variables, e.message
o = Object.new
300.times { |i| o.instance_variable_set("@i#{i}", i) }
(0...300).step(3) { |i| o.remove_instance_variable("@i#{i}") }
p o.instance_variables.size, o.instance_variables.map { |n| o.instance_variable_get(n) }.sum, o.dup.instance_variables.size
