# Blocks that a builtin's loop calls and asks for nothing: machine code of the block begins the next round itself.
# Each of these is entered once, so that no caller's machine code has the loop.
N = 30_000

# Counted loops, with variables of the block, captured ones, and calls.
sum = 0
N.times { |i| sum += i & 7 }
p sum
sum = 0
N.times { sum += 1 }
p sum
sum = 0
5.upto(N) { |i| twice = i * 2; sum += twice unless i.odd? }
p sum
sum = 0
N.downto(-5) { |i| next if i % 3 == 0; sum += i }
p sum
sum = 0
1.step(N, 7) { |i| sum ^= i }
p sum
sum = 0
N.step(1, -7) { |i| sum ^= i }
p sum
sum = 0
(3...N).each { |i| sum += i }
p sum

# A variable of the block is nil at each beginning.
seen = []
N.times { |i|
  last = i if i % 10_000 == 0
  seen << [i, last] if last || i == 15_001
}
p seen
nils = 0
N.times { |i| x = 1 if i.odd?; nils += 1 if x.nil? }
p nils

# Elements, of an Array that changes meanwhile.
list = Array.new(N) { |i| i % 3 == 0 ? i.to_s : i }
kinds = Hash.new(0)
list.each { |x| kinds[x.class] += 1 }
p kinds
grows = [1, 2, 3]
count = 0
grows.each { |x| count += x; grows << 1 if grows.size < N }
p count, grows.size
shrinks = Array.new(N, 2)
count = 0
shrinks.each { |x| count += x; shrinks.pop }
p count, shrinks.size
inline = [1, 2, 3, 4]
10_000.times { inline.each { |x| count += x } }
p count
replaced = Array.new(N, 5)
at = 0
replaced.each { |x| at += 1; replaced.replace([7, 8, 9]) if at == 20_000; count += x }
p at, count

# Ways out.
p N.times { |i| break i * 2 if i == 25_000 }
p((1..).each { |i| break i if i > N })
p list.each { |x| break x if x == 29_998 }
def first_above(list, n)
  list.each { |x| return x if x.is_a?(Integer) && x > n }
  nil
end
p first_above(list, 25_000)
begin
  N.times { |i| raise ArgumentError, "at #{i}" if i == 20_000 }
rescue => e
  p e.message, e.backtrace.map { |l| l[/:(\d+):/, 1] }.size
end
rescued = 0
N.times { |i| begin; raise "x" if i % 5_000 == 1; rescue; rescued += 1; end }
p rescued
p catch(:done) { N.times { |i| throw :done, i if i == 22_222 } }
tries = 0
N.times { |i| tries += 1; redo if i == 15_000 && tries == 15_001 }
p tries

# Kinds change in the middle, and so do methods.
sum = 0
N.times { |i| sum += i == 20_000 ? 0.5 : 1 }
p sum
x = 1
N.times { |i| x = i > 25_000 ? "s" : i }
p x
def step_by = 1
sum = 0
N.times { |i|
  eval "def step_by = 10" if i == 20_000
  sum += step_by
}
p sum
sum = 0
N.times { |i|
  if i == 29_000
    class Integer
      alias plus +
      def +(other) = plus(other).plus(1)
    end
  end
  sum += 1
}
class Integer
  alias + plus
end
p sum

# Objects that hold what a round had.
procs = []
N.times { |i| procs << -> { i } if i % 10_000 == 5 }
p procs.map(&:call)
bindings = []
N.times { |i| y = i + 1; bindings << binding if i % 10_000 == 7 }
p bindings.map { |b| [b.local_variable_get(:i), b.local_variable_get(:y)] }
p N.times.map { |i| i if i % 10_000 == 3 }.compact
lambda_sum = 0
count_it = ->(i) { return (lambda_sum += 1) if i.even?; lambda_sum += 2 }
N.times(&count_it)
p lambda_sum
object = Object.new
def object.to_proc = proc { |i| @sum = (@sum || 0) + i }
def object.sum = @sum
p N.times(&object), instance_variable_get(:@sum)

# Nested: the inner loop, the outer one, and both.
sum = 0
600.times { |i| 600.times { |j| sum += i ^ j } }
p sum
sum = 0
N.times { |i| [i, 1].each { |x| sum += x } }
p sum

# Fibers, threads and collections in the middle.
f = Fiber.new { N.times { |i| Fiber.yield i if i % 75_000 == 1 }; :over }
p 6.times.map { f.alive? ? f.resume : nil }
ticks = 0
other = Thread.new { 20.times { ticks += 1; Thread.pass } }
(N * 3).times { |i| sum += 1 }
other.join
p ticks
strings = []
N.times { |i| strings << "s#{i}" if i % 3_000 == 0; GC.start if i % 10_000 == 5_000 }
p strings
lines = []
trace = TracePoint.new(:b_call) { lines << :call }
N.times { |i| trace.enable if i == N - 3 }
trace.disable
p lines.size
p (Timeout rescue require("timeout")) && (begin; Timeout.timeout(0.05) { (1 << 40).times { |i| sum = i } }; rescue Timeout::Error; :late; end)
vm = RubyVM.fork { (1 << 50).times { |i| i & 1 } }
vm.kill(grace: 0)
p((vm.join rescue $!.class))

# Steps at the end of Fixnums.
big = []
(2**62 - 3).step(by: 1) { |i| big << i; break if big.size == 5 }
p big
big = []
(2**62 - 4).step(2**62 - 1, 2) { |i| big << i }
(-2**62 + 3).downto(-2**62) { |i| big << i }
((2**62 - 2)..(2**62 + 1)).each { |i| big << i }
(2**62 - 3).upto(2**62 - 1) { |i| big << i }
p big
p((1.step(5, 0) { break } rescue $!.class), 3.step(1) { }, 1.step(3, -1) { }, 0.times { }, -3.times { }, (5..1).each { })
