# Which places a module gets depends on the order in which it is included and prepended; a place that it has stays.
module M; def foo = 1; end
module N; include M; end
class Super; end
class Sub < Super; end
Sub.include N
Super.include M
class Super; def foo = 9; end
p Sub.ancestors.first(5), Sub.new.foo
Super.include N
p Sub.ancestors.first(6)
Sub.prepend N
p Sub.ancestors.first(7)
class Late < Super; include M; end
p Late.ancestors.first(3)

class E; include M; prepend M; end
p E.ancestors.first(3)
class F; prepend M; include M; end
p F.ancestors.first(3)
class G; include M; prepend N; end
p G.ancestors.first(4)
class H; prepend N; include M; end
p H.ancestors.first(4)
class I; prepend M; include N; end
p I.ancestors.first(4)
class J < E; prepend M; end
p J.ancestors.first(5)

# A module that has one twice gives it once.
module Twice; include M; prepend M; end
p Twice.ancestors
class K; include Twice; end
class L; prepend Twice; end
p K.ancestors.first(4), L.ancestors.first(4)

# Copies have the places of the original.
class Object; def places = singleton_class.ancestors.drop(1).first(4); end
p E.dup.ancestors.values_at(0, 2), F.dup.ancestors.values_at(0, 2), G.clone.ancestors.values_at(0, 1, 3)
copy = Sub.dup
p copy.ancestors.map { |c| c == copy ? :copy : c }.first(7)

# An object that was extended keeps the module when its class gets it, too.
o = (class O; self; end).new
o.extend M
O.include M
O.undef_method :foo
p o.respond_to?(:foo), o.foo, o.clone.foo, (O.new.foo rescue $!.message), o.places

# Visibility is changed in the class, whatever it prepends.
module Q; def q = 1; def both = [:Q, super]; end
class C; prepend Q; def both = :C; end
p((C.send(:private, :q) rescue $!.message), C.new.q)
C.send(:private, :both)
p C.new.both, C.private_instance_methods(false), C.instance_methods(false)
module Mod; prepend Q; end
p((Mod.send(:private, :q) rescue $!.message), Mod.send(:private, :puts))

# Required keywords are told with the number of arguments.
class A
  def a(k:, **o) = 1
  def b(a, b = 1, k:, l:) = 1
end
p((A.new.a(1, 2, 3, e: 9) rescue $!.message), (A.new.a(1, k: 2) rescue $!.message), (A.new.b(1, 2, 3, k: 1, l: 2) rescue $!.message), (A.new.b(z: 1) rescue $!.message))
p((->(x, k:) { }.call(k: 1) rescue $!.message), (A.new.a(e: 1) rescue $!.message))

# Names of singleton classes in messages.
p((A.method(:q) rescue $!.message), (A.singleton_class.send(:private, :q) rescue $!.message), (A.singleton_class.undef_method(:q) rescue $!.message))
a = A.new
a.singleton_class
p((a.method(:q) rescue $!.message.gsub(/0x\h+/, "0x")), (A.new.method(:q) rescue $!.message), (A.singleton_method(:q) rescue $!.message))
