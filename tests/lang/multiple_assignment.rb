a, b = 1, 2
p a, b
a, b = b, a
p [a, b]
a, *b = 1, 2, 3
p a, b
*a, b = [1, 2, 3]
p a, b
a, (b, *c), d = 1, [2, 3, 4], 5
p [a, b, c, d]
a, b, c = 1, 2
p c
a, = [9, 8]
p a
a = 1, 2
p a
a = *nil
p a
a = *1..3
p a
a, b = nil
p a, b
h = {}
h[:x], h[:y] = 1, 2
p h.to_a
class O; attr_accessor :q, :r; end
o = O.new
o.q, o.r = [3, 4]
p o.q, o.r
def two = return 1, 2
x, y = two
p x + y
a, b, *c = *[1, 2], *[3, 4]
p a, b, c
(a, b), c = [1, 2], 3
p a, b, c
a = b = c = 4
p a + b + c
a, b = (r = [5, 6])
p r
i = 0
arr = [1, 2]
i, arr[i] = 1, 9
p i, arr
*, last = [1, 2, 3]
p last
first, * = [1, 2]
p first
a, (b, (c, d)) = 1, [2, [3, 4]]
p [a, b, c, d]
$g, @i, K = 1, 2, 3
p $g, @i, K
class ToAry; def to_ary = [7, 8]; end
a, b = ToAry.new
p a, b
class ToA; def to_a = [1, 2]; end
p [*ToA.new]
p [*nil]
p [*[1]]
p [*{ a: 1 }]
s = (a, b = 3, 4)
p s
