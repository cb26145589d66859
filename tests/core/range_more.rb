p((1..10).each_slice(3).to_a)
p((1..4).each_cons(2).to_a)
p((1...10).step(3).to_a)
p((1..10).step(3).map { |x| x })
p((0.0..1.0).step(0.25).to_a)
p(("a".."e").each_slice(2).to_a)
p((1..5).sum)
p((1..5).reduce(:*))
p((1..5).to_a.reverse)
p((1..5).inject { |a, b| a - b })
p((1..3).each_with_index.to_a)
p((1..3).zip(4..6))
p((1..6).each_with_object([]) { |x, a| a << x if x.even? })
p((1..10) === 5)
p((1..10).cover?(3..4))
p((1...10).cover?(10))
p((1..).cover?(10**20))
p(("a".."z").cover?("mm"))
p((1..10).include?(5.5))
p((..5) === 3)
p((1..nil).first(2))
p((nil..).inspect)
p((1..10).minmax)
p((1...10).last(3))
p((1.5..3.2).include?(2))
p((3..1).to_a)
p((3..1).size)
p((1..3).size)
p((1...3.5).size)
p((1..3).count)
p(("a".."c").count)
p((1..).size)
p((1..3).eql?(1..3))
p((1..3) == (1...4))
p((1..3).hash == (1..3).hash)
p((1..3).frozen?)
p Range.new(1, 5).to_s
p((1..3).inspect)
p(("a".."b").inspect)
p((1..3).dup)
p((1..20).bsearch { |x| x * x >= 50 })
p((0.0..10.0).bsearch { |x| x >= 2.5 })
p((1..3).each_entry.map { |x| x * 2 })
p((1..10).find { |i| i % 7 == 0 })
p((1..10).each_slice(4).map(&:sum))
p((1..3).flat_map { |i| [i] * i })
p((1..4).each_cons(2).map { |a, b| b - a })
p((1..3).lazy.map { |x| x + 1 }.to_a)
case 42
when ..0 then p :neg
when 1..9 then p :small
when 10.. then p :large
end

# Steps: sequences of numbers, what else is enumerated, and what is refused.
def told
  r = yield
  r.is_a?(Enumerator) ? [r.class, r.inspect, r.size] : r
rescue => e
  [e.class, e.message]
end
class Odd < Numeric
  def initialize(n) = @n = n
  def to_s = "odd #{@n}"
  def inspect = to_s
  def coerce(other) = [other, @n]
  def +(other) = @n + other
  def <=>(other) = @n <=> other
  def ==(other) = @n == other
end
p told { (1..10).step(3) }, told { (1...10) % 3 }, told { (1..).step(2) }, told { (..10).step(2) }, told { (1.0..2.0).step(0.5) }, told { (1..2).step(0.5) }
p told { (1..10).step }, told { (1..10).step(-3) }, told { (10..1).step(-3) }, told { (1..10).step(1r) }, told { ((1..10) % 3).to_a }
p told { (1..10).step(0) }, told { (1..10) % 0 }, told { (1..10).step(0.0) }, told { (..10).step(0) }, told { (1..10).step(Odd.new(0)) }
p told { (1..10).step(nil) }, told { (1..10).step("a") }, told { ("a".."e").step(2).to_a }, told { ("a".."e").step }, told { (nil..nil).step(1) }
p told { (1..10).step(1, 2) }, told { (1..10).send(:%) }, told { (Time.at(0)..Time.at(9)).step }, told { (1..10).step(Odd.new(4)).class }
class Range
  alias old_begin begin
  def begin = 100
end
p told { (1..10).step(5) }, (1..10).step(5) { |i| p i }
class Range
  alias begin old_begin
end
seen = []
p((1..10).step(3) { |i| seen << i }, (1...10).step(3) { |i| seen << i }, (1..3).step(-1) { |i| seen << i }, (5..1).step(-2) { |i| seen << i }, (5...1).step(-2) { |i| seen << i }, seen)
p (1..10).step(3) { |i| break i * 2 if i > 4 }, (1..2).step(2**70) { |i| p i }, (4611686018427387900..4611686018427387903).step(2) { |i| p i }
p((1..10).step(3).frozen?, ((1..10) % 3) == (1..10).step(3), ((1..10) % 3).hash == (1..10).step(3).hash, (1..10).step(3).begin, (1..10).step(3).exclude_end?)
p 1.step(10, 4).inspect, 1.step(by: 2, to: 5).inspect, 1.step(by: -1).first(2), 1.step(10, 4) == (1..10).step(4), 1.step(by: 2, to: 5).to_a
p Enumerator::ArithmeticSequence.respond_to?(:new), (Enumerator::ArithmeticSequence.allocate rescue $!.message)
