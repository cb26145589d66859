# Arrays that are taken apart by an assignment whose other targets leave machine code: each variable has its value then.
def t(h, i)
  h[0], y, z = [i, 4, 5].itself
  [y, z]
end
[[], [], {}, [], {}].each { |h| 30000.times { |i| y = t(h, i); raise [i, y].inspect if y != [4, 5] } }
def t3(i, e)
  x, (y, z), w = [i, e, 3].itself
  [x, y, z, w]
end
20000.times { |i| y = t3(i, [7, 8]); raise [i, y].inspect if y != [i, 7, 8, 3] }
20000.times { |i| y = t3(i, 2); raise [i, y].inspect if y != [i, 2, nil, 3] }
class Q; attr_accessor :x; end
class Q2; attr_accessor :x; end
class Q3; attr_accessor :x; end
def pr(a) = [a, 4]
def t5(o, i)
  o.x, y = pr(i)
  [o.x, y]
end
[Q.new, Q2.new, Q3.new].each { |o| 20000.times { |i| y = t5(o, i); raise [i, y].inspect if y != [i, 4] } }
def pr6(a, b = a + 1, c: b + 1) = [a, b, c]
def t6(i)
  x, (y, z), w = pr6(i)
  [x, y, z, w]
end
3000.times { |i| y = t6(i); raise [i, y].inspect if y != [i, i + 1, nil, i + 2] }
1000.times { |i| b, k, j = [1, 2, 3].itself; raise [i, b, k, j].inspect if [b, k, j] != [1, 2, 3] }
def cap(a) = [1, 2]
500.times { |i| b, k = cap(i); raise [i,b,k].inspect if k != 2 }
def ds(a, (b, c), d = b, k: c) = [a, b, c, d, k]
def ds1(i) = [ds(1, [i, 3]), ds(i, i), ds(i, [1], k: 2), ds(0, [1,2,3], 4)]
r = nil; 5000.times { r = ds1(_1) }; p r
def t1b(h, i)
  w = 0
  while w < 300
    h[w], y, z = [i, w, 5].itself
    raise [w, y, z, i].inspect if y != w
    w += 1
  end
end
[[], {}].each { |h| 500.times { |i| t1b(h, i) } }
p :ok
