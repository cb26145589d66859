# A class that only changes the visibility of what it inherits, and aliases onto a definition that a name has already.
class A
  def m; :m; end
  def n; :n; end
  private def pv; :pv; end
end
class B < A
  protected :m
  def call_m(o) = o.m
end
class C < B; end
class D < A
  def call_m(o) = o.m
end
def t(n)
  puts "#{n}: #{yield.inspect}"
rescue NoMethodError, NameError, ArgumentError, TypeError => e
  puts "#{n}: #{e.class} #{e.message.sub(/0x\h+/, "")}"
end
t(1) { B.new.m }
t(2) { B.new.call_m(B.new) }
t(3) { D.new.call_m(B.new) }
t(4) { C.new.call_m(B.new) }
t(5) { B.new.call_m(C.new) }
t(6) { B.instance_method(:m).owner }
t(7) { B.new.method(:m).owner }
t(8) { B.protected_instance_methods(false) }
t(9) { B.new.method(:m).inspect }
class E < A
  private :m
  alias_method :m2, :m
  public :m2
end
t(10) { E.new.m2 }
t(11) { E.instance_method(:m2).owner }
t(12) { E.new.m }
class F
  def a; :a; end
  alias_method :b, :a
  private :b
  alias_method :b, :a
end
t(13) { F.new.b }
class G
  def a; :a; end
  private :a
  alias_method :a, :a
end
t(14) { G.new.a }
class H
  def a; :a; end
  alias b a
  private :a
  alias_method :a, :b
end
t(15) { H.new.a }
class I < A
  alias_method :pv, :pv
end
t(16) { I.new.pv }
t(17) { I.private_instance_methods(false) }
module M; def mm; end; end
class J; include M; protected :mm; def c(o)=o.mm; end
class K; include M; def c(o)=o.mm; end
t(18) { J.new.c(J.new) }
t(19) { K.new.c(J.new) }
t(20) { J.instance_method(:mm).owner }
class L < A; public :pv; end
t(21) { L.new.pv }
t(22) { L.instance_methods(false) }
t(23) { L.instance_method(:pv).owner }
t(24) { L.new.public_method(:pv).unbind.inspect }
class A; def pv; :redefined; end; end
t(25) { L.new.pv }
class A; remove_method :pv; end
t(26) { L.new.pv }
t(27) { L.instance_method(:pv) }
t(29) { L.instance_methods(false) }

class Obj; end
x = Obj.new
class << x
  protected
  def hidden = :hidden
end
Obj.send(:define_method, :show) { x.hidden }
t(30) { x.hidden }
t(31) { x.show }
t(32) { Obj.new.show }
t(33) { [defined?(x.hidden), x.instance_eval { defined?(x.hidden) }] }
module Refined
  refine Obj do
    def ask(other) = other.told
    protected def told = :told
  end
end
using Refined
t(34) { Obj.new.ask(Obj.new) }
class Two
  # One that asks for both of respond_to?'s arguments is given both.
  def respond_to?(name, all) = (p [name, all]; true)
end
p defined?(Two.new.something)
m = Module.new { private :class }
[-> { m.alias_method :xyz, :class }, -> { m.undef_method :class }].each do |l|
  l.call
rescue NameError => e
  puts e.message.sub(/0x\h+/, "")
end
