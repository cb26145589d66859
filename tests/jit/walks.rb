# Builtins' loops over Integers, Ranges and Arrays whose blocks become part of machine code: values, edges, ways out, and what changes below them.
TURNS = ENV["ZAKURO_TEST_SCALE"] == "small" ? 1 : 3
# What each turn answers, which is the same in all.
def turns = (1..TURNS).map { yield }.uniq.map(&:inspect)

def ranges(n) = [0, 0].then { |s| (1..n).each { |i| s[0] += i }; (1...n).each { |i| s[1] += i }; s }
def steps(n)
  s = [0, 0, 0]
  1.step(n) { |i| s[0] += i }
  0.step(n, 3) { |i| s[1] += i }
  n.step(-n, -7) { |i| s[2] = s[2] * 3 + i & 0xffff }
  s
end
def endless(n) = (n..).each { |i| break i if i % 1000 == 999 }
def acts(n)
  r = 0...n
  a = r.to_a
  [r, a].map do |e|
    [
      e.map { |x| x * 2 }.sum, e.select { |x| x % 3 == 0 }.size, e.reject { |x| x % 3 == 0 }.size, e.inject { |s, x| s ^ x }, e.inject(7) { |s, x| s + x },
      e.any? { |x| x == n - 1 }, e.any? { |x| x < 0 }, e.all? { |x| x < n }, e.all? { |x| x < 5 }, e.none? { |x| x > n }, e.none? { |x| x == 3 },
      e.find { |x| x > n - 3 }, e.find { |x| x > n }, e.count { |x| x.odd? }, e.each_with_object([0]) { |x, m| m[0] += x },
    ].tap { |l| e.each_with_index { |x, i| l[4] += x * i } }
  end.uniq
end
def floats(a) = [a.inject { |s, x| s + x }, a.inject(0.5) { |s, x| s * 0.5 + x }, a.count { |x| x > 1.0 }]
def few = [[], [3]].map { |a| [a.inject { |s, x| s + x }, a.inject(1) { |s, x| s + x }, a.map { |x| x }, a.find { |x| x }, a.all? { |x| x }, a.any? { |x| x }] }
def empty = [(3..1).inject { |s, x| s + x }, (3...3).map { |x| x }, (1..1).inject { |s, x| s + x }, (5..4).each { |x| raise }, 5.step(4) { raise }, 4.step(5, -1) { raise }]

puts turns { [ranges(5000), steps(5000), endless(3000), acts(3000), floats((0...3000).map { |i| i * 0.25 }), few, empty] }

# Ends where Fixnums end, and what is no Fixnum at all.
BIG = 2**62
def edges(low, high) = [].then { |l| (low..high).each { |i| l << i - low; break if l.size > 3 }; (low...high).each { |i| l << i - low; break if l.size > 8 }; l }
def stepped(from, to, by) = [].then { |l| from.step(to, by) { |i| l << i; break if l.size > 4 }; l }
300.times { edges(1, 3); stepped(1, 9, 2) }
[[BIG - 3, BIG - 1], [BIG - 3, BIG + 1], [BIG - 2, nil], [BIG, BIG + 2], [-BIG, -BIG + 2], [-BIG, -BIG], [1, 2.5], [1, Float::INFINITY], ["a", "d"]].each do |low, high|
  p low.is_a?(String) ? (low..high).each.to_a : edges(low, high)
end
[[1, 3.0, 1], [1.0, 2.0, 0.25], [BIG - 3, BIG - 1, 1], [BIG - 3, BIG - 1, 3], [-BIG + 3, -BIG, -2], [1, nil, 2], [1, 9, BIG], [9, 1, -BIG], [1, 5, 1r]].each { |a| p stepped(*a) }
begin
  stepped(1, 5, 0)
rescue ArgumentError => e
  p e.message, e.backtrace_locations.map(&:label).first(2)
end

# Ways out of a round.
def leaves(n)
  l = []
  l << (1..n).each { |i| break i * 2 if i == n - 1 }
  l << (1..n).inject { |s, i| next s if i.odd?; s + i }
  l << (1..n).map { |i| next 1 if i < n; break :mapped }
  l << 1.step(n, 2) { |i| break i if i > n / 2 }
  l << [1, 2, 3].each { |v| (1..n).each { |i| break if i > v }; l << v }
  tries = 0
  l << (0...n).count { |i| tries += 1; redo if tries == n / 2; i.even? }
  l
end
def returned(n) = (0..n).each { |i| 0.step(n, 5) { |k| return [i, k] if i + k > n } }
def raised(n)
  (0...n).to_a.select { |i| i < n - 1 ? i.even? : raise("at #{i}") }
rescue => e
  [e.message, e.backtrace_locations.map { |b| [b.label, b.lineno] }.first(3)]
end
puts turns { [leaves(2000), returned(500), raised(2000)] }
def backtraces(n)
  out = nil
  n.times { |i| (i..i + 2).each { |k| [k].inject(1) { |s, x| out = caller_locations(0, 6).map(&:label) if i == n - 1; s + x } } }
  out
end
p backtraces(1500)

# An Array that changes while it is walked.
def grows(n) = [1].then { |a| a.each { |x| a << x + 1 if a.size < n }; a.size }
def shrinks(n) = (0...n).to_a.then { |a| [a.count { |x| a.pop; true }, a.size] }
def cleared(n) = (0...n).to_a.then { |a| [a.inject { |s, x| a.clear if x == n / 2; s + x }, a.any? { true }] }
puts turns { [grows(2000), shrinks(2000), cleared(2000)] }

# What is redefined below a loop: it goes on as it has begun.
class Range
  def kept = 1
end
def changing(n, at)
  s = 0
  (0...n).each do |i|
    s += i
    Integer.class_eval { def +(o) = self - -o } if i == at
  end
  s
end
p changing(3000, -1), changing(3000, 1500), changing(3000, -1)
def mapped(n) = (0...n).map { |i| i }.size
p mapped(1000), mapped(1000)
class Range
  alias plain_each each
  def each(&b) = (plain_each { |x| b.(x); b.(x) }; self)
end
p mapped(1000), (1..3).inject { |s, x| s * x }
class Array
  def any? = :mine
end
p [1].any? { |x| x }
