# What a class or module prepends stands before it for methods; its own constants and class variables stay where they are, and so do lists of what is its own.
def t
  r = yield
  p r
rescue Exception => e
  puts "#{e.class}: #{e.message[/\A[^#\n]*/]}"
end

class A
  X = 1
  @@c = 1
  prepend Module.new
end
t { [A.constants(false), A.class_variables(false), A.class_variables] }
Math.prepend(Module.new)
t { Math.constants(false).sort }

module PM
  PX = 1
  @@pc = 3
  def pm = 1
  def both = :pm
  private def ppm = 1
end
class Base
  BX = 1
  @@b = 1
  def base = 1
end
class Foo < Base
  X = 1
  @@own = 2
  prepend PM
  def own = 1
  def both = :foo
  private def pown = 1
  protected def prown = 1
end
t { [Foo.constants(false), Foo.constants] }
t { [Foo.dup.constants(false), Foo.dup.constants, Foo.clone.class_variables(false)] }
t { [Foo.singleton_class.constants(false), Foo.singleton_class.constants] }
t { Foo.const_set(:Y, 2); Foo.constants(false).sort }
t { Foo.autoload(:Z, "no_such_z"); [Foo.constants(false).sort, Foo.autoload?(:Z, false)] }
t { [Foo.const_source_location(:PX, false), Foo.const_defined?(:PX, false), Foo.const_defined?(:X, false), Foo.const_get(:PX)] }
t { Foo.const_get(:PX, false) }
t { Foo.private_constant(:Y); Foo.constants(false).sort }
t { Foo.private_constant(:PX) }
t { Foo.deprecate_constant(:PX) }
t { Foo.send(:remove_const, :PX) }
t { Foo.send(:remove_const, :Y) }
t { [Foo.class_variables(false), Foo.class_variables, Foo.class_variable_get(:@@own), Foo.class_variable_get(:@@pc)] }
t { Foo.class_variable_set(:@@pc, 9); [Foo.class_variables(false), PM.class_variable_get(:@@pc)] }
t { Foo.class_variable_set(:@@new, 9); [Foo.class_variables(false), PM.class_variables] }
t { Foo.remove_class_variable(:@@new) }
t { Foo.remove_class_variable(:@@pc) }
t { [Foo.instance_methods(false).sort, Foo.private_instance_methods(false), Foo.instance_method(:both).owner] }
t { [Foo.method_defined?(:pm, false), Foo.private_method_defined?(:ppm, false), Foo.protected_method_defined?(:prown, false)] }
t { [Foo.new.public_methods(false).sort, Foo.new.private_methods(false) & [:ppm, :pown], Foo.new.protected_methods(false)] }
t { Foo.class_eval { remove_method :both }; Foo.new.both }
t { Foo.class_eval { undef_method :own }; Foo.undefined_instance_methods }
class Sub < Foo; SX = 2; end
t { [Sub.constants.sort, Sub.class_variables] }
module Mod
  MX = 1
  prepend PM
end
class Uses
  include Mod
  UX = 1
end
t { [Mod.constants(false), Mod.constants, Uses.constants, Uses.constants(false)] }
t { Foo.singleton_class.prepend(Module.new { const_set(:SSX, 1) }); Foo.singleton_class.const_set(:SCX, 1); Foo.singleton_class.constants(false) }

# Which one is read.
module P
  X = :px
  Y = :py
  @@v = :pv
  @@w = :pw
  def c = X
end
class B
  Y = :by
  @@w = :bw
end
class C < B
  X = :cx
  @@v = :cv
  prepend P
  class << self
    def x = X
    def y = Y
  end
  def self.v = @@v
  def self.w = @@w
  def self.w!
    @@w = 5
  end
end
class D < C
  def self.x = X
end
t { [C::X, C.x, C::Y, C.y, C.new.c] }
t { C.v }
t { C.w }
t { C.w! }
t { C.class_variable_get(:@@v) }
t { C.class_variable_set(:@@v, 3) }
t { [D.x, D::X, D.const_get(:X), D.const_source_location(:X)[1], C.const_source_location(:X)[1], C.const_source_location(:Y)[1]] }
module Q; X = :qx; end
module M
  X = :mx
  prepend Q
end
class E; include M; end
t { [E::X, M::X] }
module S; prepend Q; end
class G
  prepend S
  X = :gx
end
class H; prepend S; end
t { [G::X, G.constants(false), H::X] }

# A class variable that two of the places have is an error wherever they stand.
module IP; @@w = :pw; end
class CI < B
  include IP
  def self.w = @@w
  def self.w!
    @@w = 3
  end
end
t { CI.w }
t { CI.w! }
t { [CI.class_variable_defined?(:@@w), (class CI; defined?(@@w); end)] }
t { CI.remove_class_variable(:@@w) }
t { E.remove_class_variable(:@@zz) }

# A singleton class has its own class variables, and sees those of its class; its body sees those around it.
class X1; @@a = 1; end
t { X1.singleton_class.class_variable_get(:@@a) }
t { X1.singleton_class.class_variables }
t { X1.singleton_class.class_variable_set(:@@q, 1); [X1.class_variables, X1.singleton_class.class_variables.sort] }
class Around
  @@a = :around
  class << X1
    def a_around = @@a
  end
end
t { X1.a_around }

# Singleton methods are not those that the class prepends.
o = Foo.new
def o.sing = 1
o.extend(Module.new { def ext = 1 })
o.singleton_class.prepend(Module.new { def other = 1 })
t { [o.singleton_methods(false), o.singleton_methods.sort, o.public_methods(false).sort - [:pm]] }
t { [:sing, :ext, :other].map { |n| o.singleton_method(n).name } }
t { o.singleton_method(:pm) }
