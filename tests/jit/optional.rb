# Methods with optional parameters: their arguments stay where the caller put them, and machine code that inlines such a method knows which defaults are taken.
def a(x, y = x + 1, z = y * 2) = [x, y, z]

def b(x, y = x.then { |v| return [:early, v] }, z = 3)
  [x, y, z]
end
def c(x = 1) = block_given? ? yield(x) : x
def d(x, y = binding.local_variables) = y
def e(x, y = 5) = -> { y += x }
def f(n, acc = 1) = n == 0 ? acc : f(n - 1, acc * n % 1_000_003)
def g(x, y = raise("no")) = [x, y]
def h(x, y = nil) = y.nil?
def i(x, y = (x += 1; x * 2), z = (w = y; w + x))
  w ||= :none
  [x, y, z, w]
end
def j(x = (@count = (@count || 0) + 1), y = x) = [x, y]
def k(x, y = 2.5) = x * y
def l(x, y = yield) = x + y

class Made
  def initialize(a, b = a, c = [b])
    @a, @b, @c = a, b, c
  end
  def to_a = [@a, @b, @c]
  def set(x = 1, y = @a) = [x, y]
end

class Heir < Made
  def initialize(a, b = super(a, :up)) = (@d = b)
  def set(x = super()) = x
end

def all(n)
  m = Made.new(n, n + 1)
  [a(n), a(n, 5), a(n, 5, 7), b(n), b(n, 2), b(n, 2, 1), c, c(n), c { |v| v + 1 }, c(n) { |v| v * 2 }, d(n), e(n).call, e(n, 2).call, f(n % 10), (g(n) rescue $!.message), g(n, 2), h(n), h(n, 2), h(n, nil),
   i(n), i(n, 7), i(n, 7, 8), j(n), j(n, 1), k(n), k(n, 2), l(n) { 4 }, l(n, 3), Made.new(n).to_a, m.to_a, Made.new(n, 1, 2).to_a, m.set, m.set(n), m.set(n, 3), Heir.new(n).to_a, Heir.new(n).set]
end
sum = nil
1500.times { |n| sum = all(n).hash if n % 300 == 0; sum = all(n) }
p sum
p f(2000)

# Others at the same call.
class Two; def a(x, y = :two) = [x, y]; end
class Three; def a(x, y = :three, z = 1, w = 2) = [x, y, z, w]; end
class Rest; def a(x, *y) = [x, y]; end
class One; def a(x) = x; end
class Key; def a(x, y = 1, k: 2) = [x, y, k]; end
list = [Two.new, Three.new, Rest.new, One.new, Key.new]
def ask(o, n) = o.a(n)
seen = nil
2000.times { |n| seen = list.map { |o| ask(o, n) } }
p seen

# Wrong numbers, redefinition in a hot loop, a default that changes.
def wrong(n) = n ? a : a(1, 2, 3, 4)
p((1..600).map { |n| wrong(n.even?) rescue $!.message }.tally)
p((1..1200).map do |n|
  eval("def a(x, y = :later) = [x, y]") if n == 900
  a(n)
end.values_at(0, 898, 899, 1199))

def deep(n, x = 1) = n == 0 ? raise("below") : deep(n - 1, x) + 1
400.times do
  deep(20)
rescue => error
  raise unless error.backtrace.count { |line| line.include?("deep") } == 21
end
def endless(n = 0) = endless(n + 1) + 1
3.times do
  endless
rescue SystemStackError
  print "."
end
puts
