A = 1
module M
  A = 2
  B = 3
  class C
    A = 4
    def get = [A, B, ::A, M::A]
    def self.nest = Module.nesting
  end
  module Inner
    def self.get = A
  end
end
p M::C.new.get, M::Inner.get, M::C.nest
p M.constants.sort
p M.const_get(:A)
p M.const_defined?(:Z)
p Object.const_get("M::C::A")
class Parent; P = :parent; end
class Child < Parent
  def get = P
end
p Child.new.get
p Child::P
p Child.constants
p Child.constants(false)
M.const_set(:NEW, 10)
p M::NEW
class Miss
  def self.const_missing(n) = "missing #{n}"
end
p Miss::Foo
begin
  M::Nope
rescue NameError => e
  p e.message, e.receiver
end
class M::D
  def a = A
end
p M::D.new.a
p M::D.name
p M::C.to_s
p Class.new.name
X = Class.new
p X.name, X.new.class
m = Module.new
p m.name
Named = m
p m.name
module Deep; module Er; class Est; end; end; end
p Deep::Er::Est.name
p defined?(M::B), defined?(M::Q), defined?(::A)
M.send(:remove_const, :NEW)
p M.const_defined?(:NEW)
M.private_constant :B
begin
  M::B
rescue NameError => e
  p e.message
end
p Object.const_source_location(:A).last
class Reopen; V = 1; end
class Reopen; def v = V; end
p Reopen.new.v
def in_method = M::C
p in_method, self.class::A, [1].map { |x| A + x }
