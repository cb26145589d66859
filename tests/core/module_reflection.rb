class A
  attr_accessor :acc
  CONST = 1
  @@cv = 2
  def pub; end
  def self.cm; end
  protected def prot; end
  private def priv; end
end
class B < A
  def own; end
end
p A.instance_methods(false).sort
p B.instance_methods(false)
p A.private_instance_methods(false)
p A.protected_instance_methods(false)
p A.singleton_methods
p A.constants
p A.class_variables
p A.name
p A.instance_method(:pub).class
p A.method_defined?(:pub)
p A.public_method_defined?(:pub)
p A.private_method_defined?(:priv)
p A.instance_methods.include?(:prot)
p B.superclass
p B.ancestors.first(2)
p A.const_get(:CONST)
p A.const_defined?(:CONST)
p B.const_defined?(:CONST)
p B.const_defined?(:CONST, false)
p A.class_variable_get(:@@cv)
p A.new.respond_to?(:pub)
p A.public_instance_methods(false).sort
p A.instance_methods(false).size
p B.instance_method(:pub).owner
p B.method_defined?(:pub, false)
p A.include?(Kernel)
p A.included_modules.include?(Kernel)
p A.respond_to?(:cm)
p A.singleton_class.instance_methods(false)
p A.to_s
p A.hash == A.hash
p A == A.itself
p A.frozen?
p A.instance_of?(Class)
m = Module.new do
  def x = 1
  def self.y = 2
end
p m.instance_methods
p m.y
p m.name
p m.inspect.start_with?("#<Module:0x")
p Module.new.to_s.size > 10
p Class.new(A).superclass
p Class.new(A) { def z = 3 }.new.z
p m.module_eval { def w = 2; :r }
p m.instance_methods.sort
p m.class_eval("self").equal?(m)
A.class_eval { remove_method :pub }
p A.method_defined?(:pub)
p A.const_set(:NEWC, 5)
p A::NEWC
p A.send(:remove_const, :NEWC)
p A.constants
p A.class_variable_set(:@@z, 1)
p A.class_variables.sort
p A.remove_class_variable(:@@z)
p((A.const_set("lower", 1) rescue $!.class))
p A.public_instance_method(:acc).name
p A.instance_method(:acc=).arity
o = A.new
p o.methods(false)
p((o.methods - Object.instance_methods).sort)
p o.public_methods(false).sort.include?(:acc)
p o.private_methods(false).include?(:priv)
p o.singleton_class.ancestors.first == o.singleton_class
p o.method(:acc).unbind.bind(B.new).call
p o.instance_variable_set(:@q, 1)
p o.instance_variables
p o.is_a?(Kernel)
p Kernel === o
p BasicObject.instance_methods.sort
p o.class.class
p A.instance_method(:acc).source_location.class
p Class.instance_methods(false).sort.first(3)
p Module.nesting
p Comparable.class
p Kernel.singleton_class?
p A.singleton_class.singleton_class?
module Outer; module Inner; p Module.nesting; end; end
class Module; def my_hook = :hooked; end
p A.my_hook, Comparable.my_hook
p A.public_method_defined?(:acc)
p A.undef_method(:acc=).equal?(A)
p A.new.respond_to?(:acc=)
p B.new.frozen?
