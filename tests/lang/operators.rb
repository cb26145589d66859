class Vec
  attr_reader :x, :y
  def initialize(x, y) = (@x, @y = x, y)
  def +(o) = Vec.new(x + o.x, y + o.y)
  def -(o) = Vec.new(x - o.x, y - o.y)
  def *(k) = Vec.new(x * k, y * k)
  def -@ = Vec.new(-x, -y)
  def +@ = self
  def ! = :not
  def ~ = :tilde
  def ==(o) = o.is_a?(Vec) && x == o.x && y == o.y
  def [](i) = i == 0 ? x : y
  def []=(i, v)
    i == 0 ? @x = v : @y = v
  end
  def call(*a) = [:called, a]
  def =~(o) = :match
  def <<(v) = (@y += v; self)
  def %(v) = [:mod, v]
  def to_s = "(#{x}, #{y})"
  def inspect = "#<Vec #{x},#{y}>"
  def ===(o) = o == :vec
  def to_str = "vec"
  def `(s) = "tick #{s}"
  def tick = `ls`
end
v = Vec.new(1, 2)
w = Vec.new(3, 4)
p v + w
p v - w
p v * 3
p(-v)
p(+v)
p(!v)
p(~v)
p v == w
p v != w
p v == Vec.new(1, 2)
p v[0]
p v.(1, 2)
p v =~ 1
p v % 3
v[1] = 9
v << 1 << 2
p v
p "#{v}"
p "a" + v
p v.tick
p (case :vec when v then :yes end)
p 1 + 2 * 3**2 - 4 / 2 % 3
p(-2**2)
p((-2)**2)
p 2**3**2
p(!true == false)
p 1 + 1 == 2 && 3 > 2 || false
p((not 1 == 2))
p [1, 2, *[3]]
p 5 & 3 | 4 ^ 1
p 1 < 2 ? 3 : 4
p 10 - 2 - 3, 2 << 1 + 1, 7 <=> 7.0
t = true and false
p t
f = nil || :x
p f, [1, 2, 3].sum - 1, [*1..3, *"a".."c"]
