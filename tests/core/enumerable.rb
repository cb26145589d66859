class Num
  include Enumerable
  def initialize(*a) = @a = a
  def each(&b)
    return enum_for(:each) unless b
    @a.each(&b)
    self
  end
end
n = Num.new(3, 1, 2)
p n.sort
p n.map { |x| x * 2 }
p n.select(&:odd?)
p n.include?(2)
p n.first
p n.first(2)
p n.min
p n.max
p n.sum
p n.reduce(:+)
p n.to_a
p n.entries
p n.sort_by { |x| -x }
p n.each_slice(2).to_a
p n.each_cons(2).to_a
p n.each_with_index.to_a
p n.each_with_object([]) { |x, a| a << x }
p n.inject { |a, b| a * b }
p n.partition { |x| x > 1 }
p n.group_by(&:odd?).to_a
p n.zip([1, 2, 3])
p n.min_by { |x| -x }
p n.minmax
p n.take_while { |x| x > 2 }
p n.drop(1)
p n.drop_while { |x| x > 2 }
p n.find { |x| x < 3 }
p n.find_index(2)
p n.reject(&:odd?)
p n.count
p n.tally.to_a
p n.each_entry.to_a
p n.reverse_each.to_a
p n.lazy.map { |x| x + 1 }.first(2)
p n.chunk { |x| x > 1 }.to_a
p n.slice_when { |a, b| b > a }.to_a
p n.flat_map { |x| [x, x] }
p n.uniq
p n.cycle.first(4)
p n.each_slice(2).size
p n.all?(Integer)
p n.any?(3)
p n.none?(9)
p n.one?(1)
p n.sum { |x| x / 2.0 }
p n.filter_map { |x| x if x > 1 }
p n.zip(n)
p n.to_h { |x| [x, 1] }.to_a
p n.max(2)
p n.min(2)
p n.minmax_by { |x| -x }
p n.inject(:-)
p n.each.next
p n.collect_concat { |x| [x] }
p n.chunk_while { |a, b| b == a + 1 }.to_a
p n.slice_before { |x| x == 1 }.to_a
p n.slice_after { |x| x == 1 }.to_a
p n.compact
p n.member?(3)
p n.each_with_index.map { |x, i| x * i }
p n.tally.max_by(&:last)
class Pairs
  include Enumerable
  def each
    yield 1, 2
    yield 3
    yield
  end
end
q = Pairs.new
p q.to_a
p q.map { |x| x }
p q.map { |x, y| [x, y] }
p q.each_with_index.to_a
p q.first
p q.each_slice(2).to_a
p q.include?([1, 2])
p q.count
p q.each_entry.to_a
p q.select { |x| x }
p q.sort_by { |x| x.to_s }
p q.group_by { |x| x.class }.keys
p q.min_by { |x| x.to_s }
p q.inject { |a, b| [a, b] }
p q.each_with_object([]) { |x, m| m << x }
p q.zip([1, 2, 3])
p q.find { |x| x }
p q.reject { |x| x }
p q.partition { |x, y| y }
