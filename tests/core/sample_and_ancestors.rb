# Numbers of a seeded generator are drawn in CRuby's order, whatever draws them.
r = -> { Random.new(42) }
a = (1..100).to_a
p a.sample(random: r.()), (0..15).map { |n| a.sample(n, random: r.()) }
p a.shuffle(random: r.()).first(20), a.sample(50, random: r.()), (1..1000).to_a.sample(20, random: r.()), (1..3000).to_a.sample(2900, random: r.()).sum
srand(7)
p a.sample, a.sample(3), a.shuffle.first(5), [1].sample(2), [].sample, [].sample(2), a.sample(0), Kernel.rand(10), Random.rand(3)
srand(7)
p a.sample(random: Random), a.sample(3, random: Random)

gen = Object.new
def gen.rand(n) = n - 1
p a.sample(random: gen), a.sample(3, random: gen), a.sample(15, random: gen), [1, 2, 3].shuffle(random: gen)
def gen.rand(n) = n
p [1, 2].sample(random: gen) rescue p $!.class, $!.message
def gen.rand(n) = -1
p [1, 2].shuffle(random: gen) rescue p $!.class, $!.message
def gen.rand(n) = 0.9
p [1, 2].sample(random: gen)
p [1, 2].sample(random: BasicObject.new) rescue p $!.class
p [1, 2].sample(foo: 1) rescue p $!.message
class Mine < Random
  def rand(*) = 0
end
p a.sample(random: Mine.new(42)) == a.sample(random: Random.new(42))

# `===` and `<` of classes with many modules.
modules = Array.new(100) { Module.new }
c = Class.new { modules.each { include _1 } }
d = Class.new(c) { prepend modules[3] }
other = Module.new
p modules.all? { _1 === c.new }, modules.all? { _1 === d.new }, other === c.new, c === d.new, d === c.new, Object === d.new, Comparable === d.new, Kernel === d.new
modules[50].include(other)
p other === Class.new(c).new, c.ancestors.size - modules.size, c < modules[99], modules[99] > d, c < other
c.include(other)
p other === c.new, other === d.new, c.include?(other)
d.new.extend(e = Module.new)
o = d.new.extend(e)
p e === o, e === d.new, modules.last === o

t = Time.at(1, 500_000_000, :nsec)
p t.subsec, Time.at(1, 123_456_789, :nsec).subsec, Time.at(5).subsec, Time.at(Rational(1, 3)).subsec, Time.at(0, 1, :nsec).subsec, Time.at(1, 250, :millisecond).subsec.class, Time.at(7).subsec.class
