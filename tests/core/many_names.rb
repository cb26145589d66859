# Many names that come and go: constants, methods, instance variables.
m = Module.new
300.times { |i| m.const_set("C#{i}", i) }
(0...300).step(3) { |i| m.send(:remove_const, "C#{i}") }
p m.constants.size, m.constants.first(4), m.constants.last
(0...300).step(6) { |i| m.const_set("C#{i}", -i) }
p m.constants.size, m.constants.sort.last(2), m.constants.uniq.size, m.const_get(:C6), m.const_defined?(:C3)
m.constants.each { |c| m.send(:remove_const, c) }
p m.constants
m.const_set(:AGAIN, 1)
p m.constants

c = Class.new
200.times { |i| c.define_method("m#{i}") { i } }
199.downto(100) { |i| c.remove_method("m#{i}") }
150.times { |i| c.define_method("m#{i}") { -i } }
p c.instance_methods(false).size, c.instance_methods(false).sort.values_at(0, 99, 100, 149), c.new.m5, c.new.m120
p c.dup.instance_methods(false).sort == c.instance_methods(false).sort
150.times { |i| c.remove_method("m#{i}") }
p c.instance_methods(false), (c.new.m5 rescue $!.class)

module Outer
  A = 1
  module Inner
    B = 2
    p Module.constants.first(2), Module.constants.include?(:A), Module.constants.uniq.size == Module.constants.size
  end
end

# Objects with many variables, looked at in turn and at different stages.
objects = Array.new(6) { Object.new }
objects.each_with_index { |o, k| (1000 + 100 * k).times { |i| o.instance_variable_set("@v#{i}", [k, i]) } }
p objects.map { |o| o.instance_variables.size }
p objects.map { |o| [0, 499, 500, 999, 1000, 1499].map { |i| o.instance_variable_get("@v#{i}")&.last } }
p objects.map { |o| (0...1000).all? { |i| o.instance_variable_get("@v#{i}")[1] == i } }
objects.each { |o| 3.times { |i| o.instance_variable_set("@later#{i}", i) } }
p objects.map { |o| [o.instance_variable_get(:@later2), o.instance_variable_defined?(:@v1200), o.instance_variables.last] }
o = objects[2]
p o.remove_instance_variable(:@v600), o.instance_variable_defined?(:@v600), o.instance_variable_get(:@v601), o.instance_variables.size
o.instance_variable_set(:@v600, :new)
p o.instance_variable_get(:@v600), o.instance_variables.last, o.dup.instance_variables == o.instance_variables
branch = o.dup
branch.instance_variable_set(:@own, 1)
o.instance_variable_set(:@other, 2)
p branch.instance_variable_defined?(:@other), o.instance_variable_defined?(:@own), branch.instance_variables.last, o.instance_variables.last
