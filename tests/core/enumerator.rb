e = [1, 2, 3].each
p e.next
p e.peek
p e.next
p e.next
p((e.next rescue "stop"))
p e.rewind.next
p e.size
p e.class
p e.inspect
p [1, 2].each_with_index.inspect
p [1].map.with_index(1).inspect
p e.with_index(1).to_a
p e.each_with_index.to_a
p e.with_object(:o).to_a
p [4, 5].map.with_index { |x, i| x * i }
p [4, 5].each.with_index(1).map { |x, i| x * i }
p %w[a b].each_with_index.to_h.to_a
p [1, 2, 3].select.with_index { |x, i| i > 0 }
g = Enumerator.new { |y| y << 1 << 2; y.yield 3, 4; :done }
p g.to_a
p g.next
p g.next
p g.next
p((begin; g.next; rescue StopIteration => s; s.result; end))
p g.size
p g.rewind.next
p g.take(2)
p g.lazy.map { |x| x }.to_a
p Enumerator.new(5) { }.size
p g.each_slice(2).to_a
p g.next_values
p g.peek_values
fib = Enumerator.new { |y| a, b = 0, 1; loop { y << a; a, b = b, a + b } }
p fib.take(8)
p fib.lazy.select(&:odd?).map { |x| x * x }.reject { |x| x % 3 == 0 }.first(4)
p fib.each_with_index.first(3)
p fib.each_slice(3).first(2)
p fib.first(3)
p fib.take_while { |x| x < 20 }
p fib.lazy.take_while { |x| x < 10 }.to_a
p fib.find { |x| x > 50 }
p fib.next
p fib.next
p fib.peek
l = (1..Float::INFINITY).lazy
p l.map { |x| x * 2 }.first(3)
p l.zip(l).first(2)
p l.flat_map { |x| [x, x] }.first(3)
p l.take(5).force
p l.drop(2).first(2)
p l.each_slice(2).first(2)
p l.uniq { |x| x % 3 }.first(3)
p l.filter_map { |x| x * 2 if x.even? }.first(2)
p l.with_index.map { |x, i| x * i }.first(3)
p l.take(3).eager.class
p l.chunk_while { |a, b| b % 3 != 0 }.first(2)
p l.class
p l.select(&:even?).inspect
p Enumerator.produce(1) { |x| x * 2 }.take(5)
p Enumerator.produce([0, 1]) { |a, b| [b, a + b] }.lazy.map(&:first).first(6)
p Enumerator::Chain.new([1], [2]).to_a
p(([1].each + [2]).size)
p((1..3).each_entry.to_a)
p 5.times.to_a
p 3.upto(5).to_a
p "ab".each_char.to_a
p "ab".each_char.next
p({ a: 1 }.each.next)
p loop { break 3 }
p [1, 2].each.with_object([]).each { |x, m| m << x }
p ObjectSpace.respond_to?(:each_object)
z = [1, 2, 3].each
out = []
begin
  while true
    out << z.next
  end
rescue StopIteration
  out << :end
end
p out
tree = { v: 1, kids: [{ v: 2, kids: [] }, { v: 3, kids: [{ v: 4, kids: [] }] }] }
walk = ->(t, &b) { b.call(t[:v]); t[:kids].each { |k| walk.call(k, &b) } }
ee = Enumerator.new { |y| walk.call(tree) { |v| y << v } }
p ee.to_a
p ee.next
p ee.next
p ee.with_index.to_a
en = Enumerator.new { |y| r = y.yield(1); y << r }
p en.next
500.times { Enumerator.new { |y| y << 1; y << 2 }.next }
p :many_abandoned
