# `==` and `!=` in loops: objects whose class, or who themselves, answer otherwise from some time on, and again as before; private ones, missing ones, refinements.
class Plain; end
class Under < Plain; end
many = [Plain.new, Under.new, Object.new, Plain.new]
def asks(list, n)
  c = 0
  i = 0
  while i < n
    v = list[i % 4]
    w = list[i * 7 % 4]
    c += 1 if v == w
    c += 10 unless v != w
    c += 100 if v != w
    e = (v == w)
    u = (v != w)
    c += 1000 if e
    c += 10_000 if u
    c += 100_000 if u == 5 || e == 5
    c += 1_000_000 if v == 1
    yield if i == n / 2
    i += 1
  end
  c
end
p asks(many, 4000) {}
p asks(many, 4000) { class Plain; def ==(o) = true; end }
p asks(many, 4000) { class Plain; remove_method :==; end }
p asks(many, 4000) { class Under; def !=(o) = false; end }
p asks(many, 4000) { class Under; remove_method :!=; end }
p asks(many, 4000) { def (many[0]).==(o) = 5 }
p asks(many, 4000) { many[0].singleton_class.remove_method(:==) }
p asks(many, 4000) { many[3].instance_eval { @a = 1 } }
p asks(many, 4000) { module Same; def ==(o) = o.equal?(self) ? nil : 5; end; Under.include(Same) }
p asks(many, 4000) { Under.prepend(Module.new { def ==(o) = false }) }
class Private; private def ==(o) = true; end
p((asks([Private.new] * 4, 4000) {} rescue $!.class))
class Gone; undef ==, !=; end
p((asks([Gone.new] * 4, 4000) {} rescue $!.class))
class Missing < BasicObject; undef ==; def method_missing(*a) = true; end
p asks([Missing.new] * 4, 4000) {}
p asks([1, :a, "b", nil], 4000) {}
30.times { |k| c = Class.new; c.define_method(:==) { |o| k.odd? }; p(asks([c.new, c.new, Object.new, 1], 400) {}) if k < 2; GC.start if k % 10 == 0 }

# Refined after it was asked: where that is active it is called, elsewhere not.
class Refined; end
a, b = Refined.new, Refined.new
def elsewhere(a, b, n)
  c = 0
  n.times { c += 1 if a == b }
  c
end
p elsewhere(a, b, 3000)
module Loose
  refine(Refined) { def ==(o) = true }
end
module Strict
  refine(Refined) { def !=(o) = "no" }
end
module Here
  using Loose
  using Strict
  def self.here(a, b, n)
    c = 0
    d = nil
    i = 0
    while i < n
      c += 1 if a == b
      d = a != b
      i += 1
    end
    [c, d]
  end
end
p Here.here(a, b, 3000), elsewhere(a, b, 3000), Here.here(Object.new, b, 3000)

# The builtin method is another one at last.
def last(a, b, n)
  c = 0
  n.times { |i| c += 1 if a == b; c += 10 if a != b }
  c
end
x = Plain.new
p last(x, x, 3000), last(x, Plain.new, 3000)
class BasicObject
  alias old ==
  def ==(o) = false
end
p last(x, x, 3000)
class BasicObject
  alias == old
end
p last(x, x, 3000)
