# Classes that die young go with a minor collection; those that anything old names by then stay.
def minor = GC.start(full_mark: false, immediate_sweep: true)

class Old
  def who = :old
end
kept = Array.new(20) { Old.new }
methods = []
3.times { minor }

# Old objects get singleton classes, which nothing else refers to.
kept.each_with_index do |o, i|
  o.define_singleton_method(:number) { i }
  minor if i % 5 == 0
end
2.times { minor }
GC.start
p kept.sum(&:number), kept.all? { |o| o.who == :old }

# Modules made for an old class, an old object, an old module.
M = Module.new
2.times { minor }
Old.include(Module.new { def included_here = :included })
M.include(Module.new { def deep = :deep })
kept[0].extend(Module.new { def extended_here = :extended })
kept[1].extend(M)
2.times { minor }
GC.start
p kept[3].included_here, kept[0].extended_here, kept[1].deep

# Methods, bindings and subclasses keep their classes.
20.times do |i|
  c = Class.new(Old) { define_method(:nth) { i } }
  methods << c.new.method(:nth)
  minor if i.even?
end
3.times { minor }
GC.start
p methods.sum(&:call), methods.map { |m| m.owner.superclass }.uniq

# What has died is nobody's subclass.
50.times { Class.new(Old) }
50.times { Object.new.singleton_class.include(M) }
5.times { minor }
GC.start
methods.clear
5.times { GC.start }
p Old.subclasses.size < 40

# Caches that met dead ones meet those that come after.
results = 200.times.map do |i|
  c = Class.new(i.odd? ? Old : Object) { define_method(:to_s) { "c#{i}" } }
  o = c.new
  o.instance_variable_set(:"@v#{i % 7}", i)
  def o.single = to_s
  minor if i % 17 == 0
  GC.start if i % 61 == 0
  [o.single, o.instance_variable_get(:"@v#{i % 7}")]
end
p results.each_with_index.all? { |(s, v), i| s == "c#{i}" && v == i }

# Constants of modules that die.
p((1..100).sum { |i| m = Module.new; m.const_set(:X, Class.new { define_singleton_method(:n) { i } }); minor if i % 10 == 0; m::X.n })

# A copy of a class, a class made again within itself.
100.times do |i|
  c = Class.new(Old) { attr_accessor :a }
  d = c.clone
  e = Class.new(d)
  minor if i % 9 == 0
  x = e.new
  x.a = i
  raise "copy" unless x.a == i && x.who == :old && e.ancestors.include?(Old)
end
puts "done"
