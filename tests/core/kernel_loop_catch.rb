r = loop do
  break [1, 2]
end
p r
i = 0
p (loop { i += 1; raise StopIteration if i > 3 }), i
e = [1, 2].each
p loop { e.next }, catch(:x) { loop { throw :x, :out } }, [1, 2, 3].each_with_index.find { |x, j| x * j > 1 }
def gen
  return enum_for(:gen) unless block_given?
  yield :a
  yield :b
  :result
end
g = gen
p g.next
p g.next
p((begin; g.next; rescue StopIteration => s; s.result; end))
p gen.to_a
p gen { |x| x }
p [1, 2, 3].each { |x| next if x == 1; break x }
p((1..3).each { |x| })
p 3.times { |x| }
p [4].each_with_index { |x, k| }
p 1.step(3) { }
p({ a: 1 }.each { }.to_a)
p "ab".each_char { }
p loop { break }
out = []
[1, 2].each { |a| [3, 4].each { |b| next if b == 3; out << a * b } }
p out
p (begin; [1].each { |x| raise "e#{x}" }; rescue => x; x.message; end), [1, 2].map { |x| begin; raise "q" if x == 1; x; rescue; :r; end }
