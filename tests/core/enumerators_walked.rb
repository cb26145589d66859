# Methods of Enumerable on Enumerators of `each` and `times`.
p 5.times.map { |i| i * 2 }, 5.times.select(&:even?), 0.times.map { 1 }, -3.times.to_a, 5.times.each_slice(2).to_a, 5.times.sum, 5.times.inject(:+), 5.times.inject { |a, b| a * 2 + b }
p 5.times.each_with_index.map { |a, b| a * b }, 5.times.zip(5.times), 5.times.first(2), 5.times.first, 5.times.find { |i| i > 2 }, 5.times.find_index(3), 5.times.each_cons(2).to_a, 5.times.include?(4)
p 5.times.to_set, 5.times.each_with_object([]) { |i, a| a << i }, 5.times.each_entry.to_a, 5.times.reverse_each.to_a, 5.times.min_by { |i| -i }, 5.times.sort_by { |i| -i }, 5.times.group_by(&:odd?)
p 5.times.take_while { |i| i < 3 }, 5.times.drop(2), 5.times.partition(&:odd?), 5.times.flat_map { |i| [i] * i }, 5.times.uniq { |i| i / 2 }, 5.times.tally, 5.times.to_h { |i| [i, -i] }, 5.times.cycle.first(7), 5.times.chunk_while { |a, b| b != 3 }.to_a
p 5.times.each_with_index { |a, b| }, 5.times.each_slice(2) { }, 5.times.each_cons(2) { }, 5.times.each_entry { }, 5.times.each { }, 5.times.with_index(1) { }, 5.times.with_index(1).to_a
p [1, 2].each.map { |x| break x }, (1..3).each.map { |x| x * 2 }, [3, 1].each.sort, [[1, 2], [3, 4]].each.map { |a, b| a + b }, [1, 2, 3].each_entry.select(&:odd?), { a: 1 }.each.map { |k, v| [v, k] }, [3, 4].each.max, [1, 2].each.entries
def found(n) = n.times.each { |i| return i if i > 2 }
def mapped(n) = n.times.map { |i| return [:mapped, i] if i > 2 }
p found(9), mapped(9), 5.times.lazy.map { |i| i + 1 }.select(&:even?).to_a, 5.times.size, [1].each.size
e = [1, 2, 3].each
p e.next, e.map { |x| x * 10 }, e.next, e.include?(3), e.next, (e.next rescue $!.class)
# What is walked changes; what it is asked of is the program's.
a = [1]
p a.each.map { |x| a << x + 1 if a.size < 5; x }
class Own < Array
  def each = yield(:own)
end
p Own[1, 2].to_enum.map { |x| x }, Own[1, 2].each_entry.to_a
begin
  3.times.map { |i| raise "at #{i}" if i == 1 }
rescue => e
  p e.message
end
class Backwards < Enumerator
  def each(&block) = block ? super { |x| block.call(-x) } : super
end
p Backwards.new { |y| y << 1 << 2 }.map { |x| x }
counted = 3.times
def counted.each = yield(:single)
p counted.map { |x| x }
class Integer
  alias_method :old_times, :times
  def times
    return to_enum(:times) unless block_given?
    yield :redefined
  end
end
p 3.times.map { |x| x }, 3.times.to_a
