# Classes that get constants, variables and methods between minor collections keep what they got, whether they were made just now or long ago.
old = Class.new
kept = []
3000.times do |i|
  c = Class.new(i.odd? ? old : Object)
  c.const_set(:X, "x#{i}")
  c.instance_variable_set(:@v, [i])
  c.class_variable_set(:@@w, { i => i })
  c.define_singleton_method(:s) { i }
  kept << c if i % 100 == 0
  GC.start(full_mark: false) if i % 500 == 0
end
GC.start(full_mark: false)
p kept.each_with_index.all? { |c, n| i = n * 100; c::X == "x#{i}" && c.instance_variable_get(:@v) == [i] && c.class_variable_get(:@@w) == { i => i } && c.s == i }
GC.start
# They are old now, and get something new.
kept.each_with_index do |c, n|
  c.const_set(:Y, "y#{n}")
  GC.start(full_mark: false) if n % 10 == 0
  c.const_set(:Z, Object.new)
  c.singleton_class.const_set(:S, "s#{n}")
  c.include(Module.new { define_method(:m) { "m#{n}" } })
end
2.times { GC.start(full_mark: false) }
junk = Array.new(50_000) { |i| "junk #{i}" }
p kept.each_with_index.all? { |c, n| c::Y == "y#{n}" && c::Z.instance_of?(Object) && c.singleton_class::S == "s#{n}" && c.new.m == "m#{n}" }
p old.subclasses.all? { |c| c.superclass == old }, junk.size
# Objects with singleton classes and modules of their own.
mod = Module.new { def hi = "hi" }
list = Array.new(2000) { |i| o = Object.new; o.extend(mod) if i.even?; o.define_singleton_method(:n) { i }; o }
GC.start(full_mark: false)
p list.each_with_index.all? { |o, i| o.n == i && o.respond_to?(:hi) == i.even? && o.singleton_methods(false) == [:n] }
# A module with an operator that has a fast path, in single objects.
ops = Module.new { def ==(o) = "eq"; def ! = "not"; def nil? = "nil"; def each = yield(7) }
o = Object.new.extend(ops)
p o == 1, !o, o.nil?, 1 == 1, !nil, nil.nil?
a = [1, 2].extend(ops)
p a.map { |x| x }, [1, 2].map { |x| x }, a == [1, 2], [1, 2] == [1, 2]
