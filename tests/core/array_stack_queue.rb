q = []
1000.times { |i| q.push(i); q.shift if i.odd? }
p q.size, q.first, q.last
1000.times { |i| q.unshift(-i) }
p q.size
p q[0]
p q[999]
p q[1000]
500.times { q.pop }
p q.size, q.last
q.insert(3, :x)
p q.index(:x), q.delete_at(3), q.size
q.clear
p q
p q.pop
p q.shift
p q.first
p q.pop(2)
p q.shift(2)
r = [1, 2, 3]
p r.push
p r.unshift
p r.push(4, 5).shift(2)
p r
p r.rotate(2)
p r.rotate!(1)
p r
s = [1, 2, 3].each_slice(2).to_a.push([9]).flatten
p s
d = Array.new(3) { [] }
d[0] << 1
p d
e = Array.new(2, [])
e[0] << 1
p e
