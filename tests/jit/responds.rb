# respond_to? of a name that is written there, where the answer changes while it is asked for.
class Has; def yes = 1; private def hidden = 2; protected def guarded = 3; end
class Sub < Has; end
class Missing; def respond_to_missing?(name, all) = name == :ghost || super; end
class Own; def respond_to?(name, all = false) = name == :own; end

def asks(o) = [o.respond_to?(:yes), o.respond_to?(:hidden), o.respond_to?(:guarded), o.respond_to?(:ghost), o.respond_to?(:own), o.respond_to?(:upcase)]
class Has; def self_asks = [respond_to?(:yes), respond_to?(:hidden), respond_to?(:later), itself.equal?(self)]; end

objects = [Has.new, Sub.new, Missing.new, Own.new, "text", :symbol, nil, true, 1, 1.5, Has, Comparable, [], {}]
3000.times { |i| asks(objects[i % objects.size]) }
objects.each { |o| p asks(o) }
h = Has.new
got = nil
3000.times { got = asks(h) }
p got
3000.times { got = h.self_asks }
p got
class Has; def later = 1; end
p h.self_asks

def count(o, n)
  yes = 0
  i = 0
  while i < n
    yes += 1 if o.respond_to?(:now)
    yield i
    i += 1
  end
  yes
end
p count(h, 4000) { |i| Has.define_method(:now) { 1 } if i == 1000; Has.send(:private, :now) if i == 3000 }
p count(h, 4000) { |i| Has.send(:public, :now) if i == 1000; Has.send(:undef_method, :now) if i == 2000 }
o = Object.new
p count(o, 4000) { |i| o.define_singleton_method(:now) { 1 } if i == 1000 }
o = Object.new
p count(o, 4000) { |i| o.extend(Module.new { def now = 1 }) if i == 3000 }
p count(o = Object.new, 4000) { |i| def o.respond_to_missing?(n, all) = n == :now if i == 1000 }
class Later; end
p count(l = Later.new, 4000) { |i| class Later; def respond_to?(n) = true; end if i == 1000 }
class Plain; end
p count(Plain.new, 4000) { |i| Module.new { def now = 1; Object.include(self) } if i == 3500 }
class Object; undef_method :now rescue 0; end
p count(5, 4000) { |i| class Integer; def now = 1; end if i == 2000 }

module Refined
  refine(Plain) { def only_here = 1 }
end
def outside(o) = o.respond_to?(:only_here)
r = nil
3000.times { r = outside(Plain.new) }
p r
using Refined
def inside(o) = o.respond_to?(:only_here)
3000.times { r = inside(Plain.new) }
p r, outside(Plain.new)

def itselves(o, n)
  i = 0
  while i < n
    r = o.itself
    i += 1
  end
  r
end
p itselves(3, 3000), itselves("a", 3000), itselves(nil, 3000)
class Odd; def itself = :odd; end
p itselves(Odd.new, 3000), itselves(2.5, 3000)
class String; def itself = :string; end
p itselves("a", 10)
def own = itself
3000.times { r = own }
p r.equal?(self)
def self.itself = 7
3000.times { r = own }
p r
