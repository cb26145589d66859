a = 5
a += 1; p a
a -= 2; p a
a *= 3; p a
a /= 2; p a
a **= 2; p a
a %= 7; p a
a <<= 3; p a
a >>= 1; p a
a |= 3; p a
a &= 6; p a
a ^= 5; p a
h = Hash.new(0)
h[:x] += 1
h[:y] ||= 5
h[:x] &&= 10
p h.to_a
class C
  attr_accessor :v
  def [](i) = (@d ||= {})[i]
  def []=(i, x)
    (@d ||= {})[i] = x
  end
end
c = C.new
c.v ||= 3
c.v += 1
p c.v
c.v &&= nil
p c.v
c[1] ||= 2
c[1] += 5
p c[1]
@i ||= 1
@i += 1
p @i
$gg ||= "g"
$gg += "h"
p $gg
CONST ||= 4
p CONST
module M; end
M::X ||= 9
p M::X
n = nil
n&.foo += 1
p n
s = "ab"
s *= 2
p s
arr = [1]
arr += [2]
arr <<= 3 rescue arr << 3
p arr
i = 0
idx = -> { i += 1 }
data = [1, 2, 3]
data[idx.()] += 10
p data, i

x = (y ||= 3) + 1
p x, y
