# Keywords that are passed by name: machine code that inlines the method moves each value to its parameter, and knows which defaults are taken.
def a(x, k:, l: k + 1, m: (l * 2)) = [x, k, l, m]
def b(x = 3, y = x, *, k: 1) = [x, y, k]
def c(k: 1, l: 2) = block_given? ? yield(k, l) : [k, l]
def d(k:, l: binding.local_variables.size) = [k, l]
def e(k:, l: 5) = -> { l += k }
def f(n:, acc: 1) = n == 0 ? acc : f(acc: acc * n % 1_000_003, n: n - 1)
def g(k:, l: raise("no")) = [k, l]
def h(k: nil) = k.nil?
def i(x, k: (x += 1; x * 2), l: k.then { |v| return [:early, v] })
  w ||= :none
  [x, k, l, w]
end
def j(x, y = x + 1, k: y, l: 2.5) = [x, y, k, l * 2]
def l(k:, **rest) = [k, rest]
def m(k: yield) = k + 1

class Made
  attr_reader :list
  def initialize(a, b: a, c: [b]) = @list = [a, b, c]
  def set(x: 1, y: @list) = [x, y.size]
  def ask(n) = [hidden(k: n), self.set(y: [n]), self.hidden(k: 1, l: n)]

  private

  def hidden(k:, l: @list[0]) = k * 2 + l
end

def calls(n)
  m = Made.new(n, b: n + 1)
  [a(n, k: 1), a(n, l: 2, k: 1), a(n, m: 3, k: 1), a(n, m: n, l: 0, k: n), b(k: n), b(n), b(n, 4, k: 2), c, c(l: n), c(k: n, l: 1), c(l: n) { |v, w| v + w }, d(k: n), d(l: n, k: 1), e(k: n).call, e(k: n, l: 1).call,
   f(n: n % 10), (g(k: n) rescue $!.message), g(k: n, l: 2), h, h(k: n), h(k: nil), i(n), i(n, l: 1), i(n, k: 7), i(n, k: 7, l: 8), j(n), j(n, k: 1), j(n, 2, l: 1.5), l(k: n, z: 1), m(k: 2), m { n },
   m.list, m.set, m.set(x: n), m.set(y: [1, 2, 3], x: n), m.ask(n)]
end
all = nil
1500.times { |n| all = calls(n) }
p all
p f(n: 2000)

# What is left of in the middle of the defaults has the others' values.
def middle(n, k: (n > 900 ? n.to_s : n), l: k * 2, m: [l]) = [k, l, m]
p((1..1000).map { |n| middle(n) }.values_at(0, 899, 900, 999), (1..1000).map { |n| middle(n, m: n) }.last)

# Others at the same call.
class Two; def a(x, k: :two) = [x, k]; end
class Three; def a(x, l: 0, k: :three) = [x, k, l]; end
class Rest; def a(*x, **k) = [x, k]; end
class Plain; def a(x, k) = [x, k]; end
class Missing; def method_missing(name, *x, **k) = [name, x, k]; def respond_to_missing?(*) = true; end
list = [Two.new, Three.new, Rest.new, Plain.new, Missing.new]
def ask(o, n) = o.a(n, k: n + 1)
seen = nil
2000.times { |n| seen = list.map { |o| ask(o, n) } }
p seen

# Wrong ones, and another method in a hot loop.
def wrong(n) = n == 0 ? a(1) : n == 1 ? a(1, k: 2, z: 3) : n == 2 ? a(k: 1) : a(1, 2, k: 3)
p((0..600).map { |n| wrong(n % 4) rescue $!.message }.tally)
p((1..1200).map do |n|
  eval("def a(x, m: :later, k:) = [x, k, m]") if n == 900
  a(n, k: 2)
end.values_at(0, 898, 899, 1199))

def deep(n:, x: 1) = n == 0 ? raise("below") : deep(x: x, n: n - 1) + 1
400.times do
  deep(n: 20)
rescue => error
  raise unless error.backtrace.count { |line| line.include?("deep") } == 21
end
def endless(n: 0) = endless(n: n + 1) + 1
3.times do
  endless
rescue SystemStackError
  print "."
end
puts
