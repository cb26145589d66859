# Temporary names, hooks of visibility changes, order of const_added and inherited, constants of BasicObject.
m = Module.new
m::N = Module.new
m.set_temporary_name("outer")
p m.name, m::N.name
m::N::M = m
m.set_temporary_name(nil)
p m.name, m::N.name
["a::B", "A::b", "A=", "A::B::", "x y"].each { |n| m.set_temporary_name(n); p m.name }
["A", "A::B", "::A", ""].each { |n| m.set_temporary_name(n) rescue p $! }
outer = Module.new
t = Module.new.set_temporary_name("t")
outer::T = t
p t.name
Kept = t
p t.name, (t.set_temporary_name("x") rescue $!)

class Base
  def shown = 1
  def self.inherited(c) = p([:inherited, c.name])
end
class Object
  def self.const_added(n) = p([:const_added, n])
end
class Derived < Base
  def self.method_added(n) = p([:method_added, n])
  private :shown
  public :to_s
end
class << Object
  remove_method :const_added
end
p Derived.instance_methods(false), Derived.private_instance_methods(false)
p Module.private_instance_methods(false) & [:public, :private, :protected, :module_function]
p (Class.new.send(:module_function) rescue $!.class), (Class.new.send(:refine, String) {} rescue $!.class)
p (Derived.singleton_class.send(:undef_method, :nope) rescue $!.message)
r = nil
Module.new { r = refine(String) {} }
p (Module.new { include r } rescue $!), (Module.new { prepend r } rescue $!)

class Blank < BasicObject
  def basic = BasicObject
end
p Blank.new.basic, BasicObject.const_defined?(:Kernel), BasicObject.constants, Comparable.const_defined?(:Kernel)

p SystemExit.new(3).message, (begin; exit; rescue SystemExit => e; e.message; end)
p (SignalException.new(Object.new) rescue $!)
w = ObjectSpace::WeakMap.new
k = "key"
w[k] = 1
w.each_key { |x| p x }
w.each_value { |x| p x }
