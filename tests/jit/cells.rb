# Cells that machine code takes itself: objects whose classes grow, Strings and Arrays of literals, environments, in hot loops.
class Point
  attr_reader :x, :y, :z

  def initialize(x, y)
    @x = x
    @y = y
  end

  def more(n)
    n.times { |k| instance_variable_set("@extra#{k}", k) }
    self
  end
end

class Plain
end

class Deep < Point
  def initialize(x)
    super(x, [x])
    @z = "z#{x}"
  end
end

def points(n)
  kept = []
  n.times do |i|
    p = Point.new(i, i.to_s)
    kept << p if i % 1000 == 0
  end
  kept
end
p points(30_000).map { |q| [q.x, q.y, q.instance_variables] }.last(2)

# The class grows: later objects are made larger, earlier ones stay as they are.
old = points(2000)
p Point.new(1, 2).more(12).instance_variables.size
p points(30_000).sum { |q| q.x + q.y.to_i }
p old.map { |q| q.more(3).instance_variables.size }.uniq
p Point.allocate.instance_variables, Point.new(5, 6).more(40).instance_variable_get(:@extra39)

def plains(n)
  made = nil
  n.times { made = Plain.new }
  made
end
p plains(20_000).instance_variables
Plain.class_eval { def initialize(*) = @late = 1 }
p plains(20_000).instance_variables
p (0...20_000).sum { |i| Deep.new(i).z.size }, Deep.new(3).y

# Strings of literals are new each time, and may be changed; long ones, too.
def strings(n)
  seen = []
  n.times do |i|
    short = "ab"
    short << "c" if i.odd?
    long = "this literal does not lie in its cell"
    long << "!" if i.even?
    seen << short.size << long.size if i % 5000 < 2
  end
  seen
end
p strings(20_000)
# frozen_string_literal does not hold here, but for what is frozen by hand.
def frozen(n)
  same = 0
  n.times { same += 1 if "lit".freeze.equal?("lit".freeze) }
  same
end
p frozen(20_000)

def arrays(n)
  sum = 0
  n.times do |i|
    a = []
    b = [i]
    c = [i, 1.5]
    d = [i, c, nil]
    e = [i, 1, 2, 3]
    a << e.size
    d << a
    sum += a.size + b[0] + c.size + d.size + e.last + d.last[0]
  end
  sum
end
p arrays(20_000)

# Environments with few and many variables.
def environments(n)
  procs = []
  n.times do |i|
    a = i
    add = ->(x) { a += x }
    procs << add if i % 4000 == 0
    add.(1)
  end
  procs.map { |f| f.(10) }
end
p environments(20_000)
def many(n)
  a = b = c = d = e = f = g = h = i = j = k = l = m = o = q = r = s = t = n
  -> { a + b + c + d + e + f + g + h + i + j + k + l + m + o + q + r + s + t }
end
p (0...10_000).sum { |n| many(n).call }

# Kept objects survive collections, and see what was stored.
list = nil
60_000.times { |i| list = Point.new(list, i) if i % 3 == 0 }
GC.start
n = 0
n += 1 while (list = list.x)
p n
