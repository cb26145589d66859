def twice
  yield 1
  yield 2
end
twice { |x| p x }
def pass(&b) = b
p pass.inspect
b = pass { |x, y = 5, *z, k: 1| [x, y, z, k] }
p b.call(1)
p b.call(1, 2, 3)
p b.(1, k: 9)
p b[[7, 8, 9]]
def given? = block_given?
p given?, given? {}
def yielder
  r = yield 1, 2, 3
  p r
end
yielder { |a, b| [a, b] }
yielder { |a, *b| [a, b] }
yielder { |a| a }
yielder { |*a, b| [a, b] }
yielder { |a, (b, c), d| [a, b, c, d] }
def y2 = yield([1, [2, 3]])
y2 { |a, (b, c)| p [a, b, c] }
y2 { |a| p a }
y2 { |a,| p a }
x = 10
[1].each { |i; x| x = i }
p x
p [1, 2, 3].map { _1 * 2 }
p [[1, 2], [3, 4]].map { _1 + _2 }
def m(a, &blk) = blk.call(a)
p m(3) { |v| v + 1 }
p m(3, &:succ)
p [1, 2, 3].inject(:+), %w[a b].each_with_index.map { |s, i| s * (i + 1) }
p [3, 1, 2].sort { |a, b| b <=> a }
def ret_from_block
  [1, 2, 3].each { |v| return v * 10 if v == 2 }
  :none
end
p ret_from_block
r = [1, 2, 3, 4].each { |v| break v * 100 if v == 3 }
p r
p [1, 2, 3, 4].map { |v| next 0 if v.even?; v }
