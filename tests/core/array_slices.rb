a = %w[a b c d e]
p a[1..3]
p a[1...3]
p a[-3..-2]
p a[3..1]
p a[5..]
p a[6..]
p a[0..-1]
p a[..-2]
p a[-6..]
p a[2, 0]
p a[2, 10]
p a[5, 1]
p a[6, 1]
p a[-2, 1]
p a[1, -1]
p a[(0..).step(2)], a[(1..3) % 2]
p a.slice(1, 2)
p a.first(2)
p a.last(2)
p a.take(9)
p a.drop(9)
b = a.dup
b[1..2] = "x"
p b
b[1, 0] = %w[p q]
p b
b[10] = :end
p b.size, b.compact.size
b[2..] = []
p b
c = [1, 2, 3, 4, 5]
p c.slice!(1..2)
p c
p c.slice!(0)
p c
p c.slice!(9)
p c.slice!(-1, 1)
p c
d = (1..10).to_a
p d.each_slice(3).to_a, d.each_cons(9).to_a, d.values_at(0, -1, 20, 1..2)
# Blocks that change what is walked: a short group is the last one, and `fill` ends where the Array does.
d = [3, 1, 2]
d.each_slice(2) { d << 5 if d.size < 12 }
p d
p [16, 3.5].then { |a| a.fill { |i| a.shift; i } }
p [1, 2, 3, 4].then { |a| a.fill { |i| a.clear; i } }, [1, 2, 3, 4].then { |a| a.fill(1) { |i| a.pop; i } }
a = [1]
begin
  a.fill(0, 4) { |i| raise "no" if i == 2; i }
rescue => e
  p e, a
end
