# Instance variables in machine code go by a table that is looked at once: what changes objects in between must be seen.

class Point
  attr_accessor :x, :late
  def initialize(x)
    @x = x
    @y = 0
  end

  def walk(n)
    i = 0
    while i < n
      @y = @y + @x
      @x = 1 if @x > 100
      i += 1
    end
    @y
  end

  def walk_in_block(n)
    n.times { |i| @y += @x; @z = i }
    [@y, @z]
  end

  def never = @never
  def memo = @memo ||= @x * 2

  def other(o)
    o.x = @x
    @x += o.x
    self
  end

  # What a call in between does to self.
  def around
    a = @x
    yield self
    [a, @x, @y, @late]
  end

  # A writer adds the variable that is read next.
  def adds(other)
    a = [@x, @late]
    other.late = @x
    a << @late
  end

  def grown(n)
    a = @x
    n.times { |i| instance_variable_set("@v#{i}", i) }
    [a, @x, @y, @v0, @v9, @late]
  end

  def set(x)
    @x = x
    @y = x
  end
end

class Named < Point
  def initialize(x)
    @name = "n"
    super
  end
end

def show(o) = o.instance_variables.to_h { |n| [n, o.instance_variable_get(n)] }

points = [Point.new(1), Named.new(2)]
sum = 0
3000.times do |k|
  o = points[k & 1]
  o.walk(20)
  o.walk_in_block(20)
  sum += 1 if o.never.nil?
  sum += o.memo
  o.other(points[(k + 1) & 1])
  o.x = 1 if o.x > 1000
  sum += Point.new(3).memo
end
p sum
points.each { |o| p show(o) }

p (0...3000).map { |k|
  o = Point.new(k)
  o.around do |me|
    case k % 7
    when 1 then me.x = -1
    when 2 then me.late = 5
    when 3 then me.remove_instance_variable(:@y)
    when 4 then 20.times { |i| me.instance_variable_set("@w#{i}", i) }
    when 5 then me.set(8)
    end
  end
}.last(14)
p (0...3000).map { |k| a = Point.new(k); [a.adds(a), a.adds(Point.new(1))] }.last(2)
p (0...2000).map { |k| Point.new(k).grown(k % 3 * 10) }.last(3)

# More shapes than there are tables for; classes that go, and whose numbers are used again.
many = (0...12).map { |i| o = Point.allocate; i.times { |k| o.instance_variable_set("@a#{k}", k) }; o.set(i); o }
p (0...6000).map { |k| many[k % 12].walk(2) }.last(12)
p (0...300).sum { |k|
  c = Class.new(Point) { def initialize(x) = (@first = x; super) }
  GC.start if k % 60 == 0
  50.times.sum { c.new(k).walk(3) }
}

# Frozen, in the middle too.
frozen = points.map { |o| o.dup.freeze }
p (0...2000).map { |k| frozen[k & 1].set(1) rescue $!.class }.uniq
class Point
  def set_frozen(at)
    @x = 1
    freeze if at
    @y = 2
  end
end
p (0...2000).map { |k| Point.new(k).set_frozen(k % 100 == 99) rescue [$!.class, $!.receiver.x] }.uniq

# An object whose variables stand elsewhere; values that have none of their own.
wide = Point.new(1)
300.times { |i| wide.instance_variable_set("@w#{i}", i) }
p (0...2000).sum { wide.walk(2) }
class Integer
  def ask = [@nothing, self]
end
p (0...2000).map(&:ask).last
class String
  def mark = @mark = (@mark || 0) + 1
end
s = +"text"
p (0...2000).map { s.mark }.last

# References to young objects from old ones.
class Keeper
  def keep(v)
    @a = v
    @b = [v]
  end
  def kept = [@a, @b]
end
keepers = Array.new(50) { Keeper.new }
GC.start
3000.times { |k| keepers[k % 50].keep("v#{k}") }
GC.start(full_mark: false)
p keepers.sum { |o| o.kept.flatten.sum(&:size) }

# Variables of core objects, which stand in lists: written in place as long as the list is as it was.
class Random
  attr_reader :one
  def advance
    @one = (@one || 0) + 1
    @two = [@one]
    @one += @two[0] & 1
    @one
  end
  def begin_with_two
    @two = nil
    @one = 7
  end
end
a, b = Random.new(1), Random.new(2)
b.begin_with_two
50.times { a.advance; b.advance if _1.even? }
p a.one, b.one, a.instance_variables, b.instance_variables
a.remove_instance_variable(:@one)
p a.advance, a.instance_variables
30.times { a.advance; b.advance }
p a.one, b.one
c = Array.new(3) { Random.new(3).tap(&:begin_with_two) }
60.times { |i| c[i % 3].advance }
p c.map(&:one)
GC.start
p c.map { |x| x.instance_variable_get(:@two) }
class Queue
  def turn
    @turns = (@turns || 0) + 1
    @turns = @turns * 3 & 1023
  end
end
q = Queue.new
p 40.times.map { q.turn }.last
class << q
  def odd = @turns | 1
end
p q.odd, q.turn
s = +"text"
def s.count_up = @n = (@n || 0) + 1
30.times { s.count_up }
s.freeze
begin
  3.times { s.count_up }
rescue FrozenError => e
  puts e.message
end
p s.count_up rescue p $!.class
class Class
  def noted = @noted = (@noted || 0) + 1
end
40.times { Integer.noted; String.noted if _1 % 3 == 0 }
p Integer.noted, String.noted
