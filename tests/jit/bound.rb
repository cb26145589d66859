# Calls whose arguments have to be bound, from a loop that is hot: optional ones, keywords by name, `super`, Proc#call, `new`; and what changes under way.
ROUNDS = 30_000

def optional(a, b = a + 1, c = b * 2) = a + b + c
def keywords(a, b: 1, c: a + b, d:) = [a, b, c, d].sum
def both(a, b = 10, *, k: 3, **others, &block) = a + b + k + others.size + (block ? block.call(a) : 0)

class Base
  def value(n, by: 2) = n * by
  def plain(n) = n + 1
end
module Between
  def plain(n) = super + 10
end
class Derived < Base
  include Between
  def value(n, by: 3) = super(n, by:) + super
  def plain(n) = super
end
class Made
  attr_reader :sum
  def initialize(a, b = 2, *rest, last: 5) = @sum = a + b + rest.sum + last
end

def run(rounds, object)
  add = proc { |a, b = 7| a + (b || 0) }
  twice = ->(n) { n * 2 }
  sums = Hash.new(0)
  rounds.times do |i|
    n = i & 7
    sums[:optional] += optional(n) + optional(n, 2) + optional(n, 2, 3)
    sums[:keywords] += keywords(n, d: 1) + keywords(n, d: 1, b: n) + keywords(n, c: 2, d: 3, b: 4)
    sums[:both] += both(n) + both(n, 1, k: n) + both(n, 1, 2, 3, z: 1) { |x| x + 1 }
    sums[:super] += object.value(n) + object.value(n, by: 4) + object.plain(n)
    sums[:proc] += add.call(n) + add.(n, 1) + add[n, nil] + add.yield([n, 2]) + twice.call(n)
    sums[:new] += Made.new(n).sum + Made.new(n, 1).sum + Made.new(n, 1, 2, 3).sum + Made.new(n, last: n).sum
  end
  sums
end

p run(ROUNDS, Derived.new)
# The same sites, other methods.
def optional(a, b = 1, *c) = a + b + c.sum
def keywords(a, d:, **rest) = a + d + rest.values.sum
module Between
  def plain(n) = super + 100
end
class Derived
  def value(n, by: 1) = super(n, by: by + 1)
end
class Made
  def initialize(a, b = 0, c = 0, d = 0, last: 1) = @sum = [a, b, c, d, last].max
end
p run(ROUNDS, Derived.new)
# Arguments that don't fit, met by a site that has run often.
def tries(rounds, given)
  told = Hash.new(0)
  rounds.times do |i|
    list = i == rounds - 1 ? given : [1]
    optional(*list)
    Made.new(*list)
    ->(a, b = 1) { a }.call(*list)
  rescue ArgumentError => e
    told[[e.message, e.backtrace.first[/'.*'/]]] += 1
  end
  told
end
p tries(ROUNDS, [])
p tries(ROUNDS, [1, 2, 3, 4, 5])
begin
  run(100, Object.new)
rescue NoMethodError => e
  puts e.message
end
