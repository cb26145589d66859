# Loops of builtins that do something with what their blocks answer, each entered once: machine code of the block asks the builtin for the next round.
N = 20_000
list = Array.new(N) { |i| i & 255 }
p list.size, list[300]
p list.map { |x| x * 2 }.sum
p list.map { |x| "s#{x}" if x == 7 }.compact.size
p list.select { |x| x > 200 }.size, list.reject { |x| x > 200 }.size, list.filter_map { |x| x + 1 if x.odd? }.sum
sum = 0
list.each_with_index { |x, i| sum += x ^ i }
p sum
sum = 0
list.each_with_index { |x| sum += x }
p sum
p list.each_with_object([0]) { |x, a| a[0] += x }
p list.inject { |a, x| a ^ x }, list.inject(5) { |a, x| (a + x) & 0xffff }, [].inject { |a, x| a + x }, [3].inject { |a, x| a + x }
p list.sum { |x| x & 3 }, list.sum { |x| x * 0.5 }, list.sum(2**70) { |x| x }, list.sum { |x| x == 9 ? 0.25r : x }
p list.count { |x| x.even? }, list.all? { |x| x < 256 }, list.any? { |x| x > 255 }, list.none? { |x| x == 255 }
p list.find { |x| x == 255 }, list.find { |x| x < 0 }, (1..).find { |x| x > N }
p (1..N).map { |x| x & 3 }.sum, (1...N).select { |x| x % 1000 == 0 }.size, (1..N).inject { |a, x| a + x }, (1..N).sum { |x| x & 1 }
sum = 0
list.reverse_each { |x| sum = (sum * 3 + x) & 0xffff }
p sum
sum = 0
list.each_index { |i| sum += i }
p sum
h = (0...N).to_h { |i| [i, i & 7] }
sum = 0
h.each { |k, v| sum += k ^ v }
p sum
h.each_key { |k| sum -= k }
h.each_value { |v| sum -= v }
p sum

# What is walked changes.
grown = [1]
p grown.map { |x| grown << x + 1 if grown.size < N; x }.size
shrunk = Array.new(N) { |i| i }
p shrunk.reverse_each { |x| shrunk.pop if x.odd? }.size
p shrunk.each_with_index.count { |x, i| shrunk.pop; x == i }
own = Array.new(5) { |i| i }
own.send(:initialize, N) { |i| own.clear if i == 15_000; i }
p own.size, own[14_999], own[15_000], own.last
seen = 0
h2 = (0...N).to_h { |i| [i, i] }
h2.each { |k, v| h2.delete(k + 1); seen += 1 }
p seen, h2.size
p((h2.each { |k, v| h2[:new] = 1 if k == 18_000 } rescue $!.class))
h2[:later] = 1
p h2.size

# Ways out, and what happens meanwhile.
p list.map { |x| break x if x == 200 }
p list.each_with_index { |x, i| break i if i == 15_000 }
p h.each { |k, v| break k if k == 15_000 }
h[:not_iterating] = 1
def found(list) = list.each_with_index { |x, i| return i if i == 16_000 }
p found(list)
p (list.map { |x| raise "at #{x}" if x == 99; x } rescue $!.message)
p (list.sum { |x| x == 77 ? nil : x } rescue $!.class)
p (list.sum { |x| x == 78 ? "s" : x } rescue $!.class)
kept = list.map { |x| [x] }
GC.start
p kept.sum { |a| a[0] }
strings = list.map { |x| x.to_s }
p strings.sum("") { |s| s.size == 3 ? "" : "." }.size
p list.inject([]) { |a, x| a.size < 3 ? a + [x] : a }
fiber = Fiber.new { list.map { |x| x == 100 ? Fiber.yield(x) : x }.size }
p fiber.resume, fiber.resume(1)
p Array.new(N) { |i| Array.new(2) { |j| i + j } }.sum { |a, b| a + b }
p list.each_slice(3).map { |a, b, c| a + (b || 0) }.sum, list.each_cons(2).count { |a, b| a < b }
pairs = list.map { |x| [x, x + 1] }
p pairs.map { |a, b| a * b }.sum, pairs.each_with_index.sum { |(a, b), i| a + b + i }
p list.map { _1 + 1 }.sum, list.each_with_index.map { it }.size, list.each_with_index.map { _1 + _2 }.sum, pairs.sum { _1[0] }
change = 0
p list.map { |x|
  change += 1
  class Integer; def succ = 7; end if change == 15_000
  x.succ
}.sum
class Integer
  remove_method :succ
  def succ = self + 1
end
class Array
  alias old_each each
  def each(&) = first(3).old_each(&)
end
p list.sum { |x| x }, list.map { |x| x }.size
class Array
  alias each old_each
end
vm = RubyVM.fork { Array.new(1 << 30) { |i| i & 1 } }
vm.kill(grace: 0)
p((vm.join rescue $!.class))
