# A module that a class prepends gets another one: it gets a place there, unless the class or what is above it has that already.
def made
  c = Class.new { def foo = [:c] }
  s = Class.new(c) { def foo = [:s] + super }
  ms = %i[m1 m2 m3].map { |n| Module.new { define_method(:foo) { [n] + super() } } }
  [c, s, *ms]
end
c, s, m1, m2 = made; c.include m2; s.prepend m1; m1.include m2; p s.new.foo
c, s, m1, m2 = made; c.prepend m2; s.prepend m1; m1.include m2; p s.new.foo
c, s, m1, m2 = made; s.include m2; s.prepend m1; m1.include m2; p s.new.foo
c, s, m1, m2 = made; s.include m2; m1.include m2; s.prepend m1; p s.new.foo
c, s, m1, m2, m3 = made; s.include m2; m1.include m2; s.prepend m1; m1.include m3; p s.new.foo
c, s, m1, m2, m3 = made; s.include m3; s.include m2; s.prepend m1; m1.include m2; m1.include m3; p s.new.foo
c, s, m1, m2, m3 = made; s.include m2; s.prepend m1; m1.include m2; m1.include m3; p s.new.foo
c, s, m1, m2, m3 = made; s.prepend m1; m1.include m2; m2.include m3; p s.new.foo
c, s, m1, m2 = made; s.prepend m1; m1.include m2; c.include m2; p s.new.foo
