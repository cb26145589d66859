# Attributes of one object that are asked for one after the other: its shape is looked at once, whatever the objects are, and whatever changes meanwhile.

class Point
  attr_accessor :x, :y, :z, :w

  def initialize(x, y, z)
    @x = x
    @y = y
    @z = z
  end

  def pull(other, by)
    dx = @x - other.x
    dy = @y - other.y
    dz = @z - other.z
    @x -= dx * by
    other.x += dx * by
    other.y += dy * by
    other.z += dz * by
  end

  def sum(other) = [other.x, other.y, other.z, other.w]
end

class Far < Point
  # More variables than there is room for in a cell.
  def initialize(x, y, z)
    30.times { |i| instance_variable_set("@v#{i}", i) }
    super
  end
end

class Other
  attr_accessor :z, :y, :x

  def initialize(x, y, z) = (@z, @y, @x = z, y, x)
end

class Told < Point
  def y = @y.to_f + 1
end

def run(a, b, n)
  n.times { a.pull(b, 0.001) }
  puts format("%s %.6f %.6f %.6f %.6f", b.class, a.x, b.x, b.y, b.z)
end

a = Point.new(1.0, 2.0, 3.0)
run(a, Point.new(4.0, 5.0, 6.0), 30_000)
run(a, Far.new(4.0, 5.0, 6.0), 3_000)
run(a, Other.new(4.0, 5.0, 6.0), 3_000)
run(a, Told.new(4.0, 5.0, 6.0), 3_000)
run(a, a, 3_000)

# Old objects, which the collector must be told of, and values that only they hold.
b = Point.new(4.0, 5.0, 6.0)
20.times do |i|
  GC.start
  run(a, b, 10) if i % 10 == 0
  500.times { |k| b.x = "a#{k}"; b.y = "b#{k}"; b.z = "c#{k}" }
  GC.start(full_mark: false)
  puts b.sum(b).inspect if i % 10 == 0
  b.x, b.y, b.z = 4.0, 5.0, 6.0
end

# Numbers of any kind.
c = Point.new(4, 5r, 6)
run(a, c, 100)
p c.x.class, c.y.class, c.w

# What is frozen half way.
def write(o, freezes)
  o.x = 1
  o.freeze if freezes
  o.y = 2
  o.z = o.x + o.y
end

5_000.times { write(Point.new(0, 0, 0), false) }
begin
  write(b, true)
rescue => e
  puts e.class, b.x, b.y
end

# A shape that changes between two accesses.
def grow(o, more)
  v = o.x
  w = o.y
  o.instance_variable_set(:@more, 1) if more
  def o.z = 7 if more
  [v, w, o.z, o.x]
end

5_000.times { grow(a, false) }
p grow(Point.new(1, 2, 3), true)
p grow(Other.new(1, 2, 3), true)

# A variable of self that was not there.
class Watched
  attr_reader :seen

  def look(o)
    @first = o.x
    t = [o.y, @never]
    @last = o.z
    t << o.x << @first << @last
  end
end

w = Watched.new
5_000.times { w.look(a) }
p w.look(Point.new(1, 2, 3)), Watched.new.look(Other.new(4, 5, 6))

# Accessors that become methods, and undefined ones.
def all(o) = [o.x, o.y, o.z]

d = Point.new(1, 2, 3)
5_000.times { all(d) }
p all(d)
class Point
  def y = :method
end
p all(d)
5_000.times { all(d) }
class Point
  undef z
end
begin
  all(d)
rescue NoMethodError => e
  puts e.message[/undefined method '\w+'/]
end
p all(Other.new(1, 2, 3))
begin
  all(nil)
rescue NoMethodError => e
  puts e.message
end
begin
  all(5)
rescue NoMethodError => e
  puts e.message
end

# Two objects at a time.
def both(a, b)
  a.x = b.y
  b.x = a.y
  a.z = b.z
  b.y = a.x
  [a.x, a.y, a.z, b.x, b.y, b.z]
end

e, f = Other.new(1, 2, 3), Other.new(4, 5, 6)
5_000.times { both(e, f) }
p both(e, f), both(e, e), both(Other.new(1, 2, 3), f)

# A Float is one object through all of them.
class Kept
  attr_accessor :a, :b, :c
end

def same(k, v)
  k.a = v * 1.0e300
  k.b = k.a
  k.c = k.b
  k.a.equal?(k.b) && k.b.equal?(k.c)
end

k = Kept.new
k.a = k.b = k.c = 0.0
5_000.times { |i| same(k, i + 1.0) }
p same(k, 3.0)

# The sum that a block's round ends with.
def total(list)
  sum = 0.0
  list.each { |v| sum += v * 1.0e290 }
  t = sum
  list.each { |v| sum += v * 1.0e290 }
  [t, sum, t.equal?(sum)]
end

2_000.times { total([1.5, 2.5, 3.5]) }
p total([1.5, 2.5, 3.5])
