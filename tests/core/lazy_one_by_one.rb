# Lazies over what yields one element at a time, several at once, Arrays, nothing; and `each` of one's own.
class Pairs
  include Enumerable
  def each
    yield 1, 2
    yield [3, 4]
    yield 5
  end
end
class Doubled < Array
  def each = super { |x| yield x, x }
end
sources = [[1, [2, 3], nil, [[4]], 2], 1..4, Pairs.new, Doubled[1, 2], { a: 1, b: 2 }, [1, 2].each_with_index, [[1, 2], [3, 4]].lazy.map { |a, b| [b, a] }, [5, 6].lazy.with_index]
ops = {
  map: ->(l) { l.map { |*v| v } }, map_one: ->(l) { l.map { |v| v } }, map_two: ->(l) { l.map { |a, b| [a, b] } }, map_lambda: ->(l) { l.map(&->(v) { [v] }) },
  select: ->(l) { l.select { |v| v } }, select_two: ->(l) { l.select { |a, b| b } }, reject: ->(l) { l.reject { |a, b| b } }, filter_map: ->(l) { l.filter_map { |a, b| b || a } },
  flat_map: ->(l) { l.flat_map { |v| v } }, flat_map_two: ->(l) { l.flat_map { |a, b| [b, a] } }, flat_lazy: ->(l) { l.flat_map { |v| [v, v].lazy } }, uniq: ->(l) { l.uniq }, uniq_by: ->(l) { l.uniq { |a, b| b } },
  take: ->(l) { l.take(2) }, take_none: ->(l) { l.take(0) }, chain: ->(l) { l.map { |*v| v }.uniq.select { |v| v }.take(3).flat_map { |a, b| [a, b] } }, index: ->(l) { l.map { |v| v }.with_index.map { |v, i| [i, v] } }
}
sources.each do |s|
  ops.each do |name, op|
    l = op.(s.lazy)
    p [name, l.to_a, l.first(1), l.eager.map { |*v| v }]
  rescue => e
    puts "#{name}: #{e.class}: #{e.message}"
  end
end
p (1..3).lazy.map { |x| x * 2 }.each_with_index.to_a, (1..).lazy.map { |x| x * 2 }.select { |x| x % 3 == 0 }.first(2), [3, 1].lazy.map { |x| x }.inspect
p (1..3).lazy.map { |x| break x }.to_a rescue p $!.class
seen = []
p (1..5).lazy.map { |x| seen << x; x }.take(2).to_a, seen
class Array
  def each
    i = -1
    yield self[i], i while (i += 1) < size
    self
  end
end
p [7, 8].lazy.map { |*v| v }.to_a, [7, 8].lazy.select { |v| v }.to_a, [7, 8].lazy.uniq { |*v| v }.to_a, [7, 8].lazy.flat_map { |*v| v }.to_a, [7, 8].lazy.take(1).to_a
