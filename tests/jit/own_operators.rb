# Operators that met nothing but objects of the program are calls in machine code; what else comes to the same places later is right, too.
class Vec
  attr_reader :x, :size
  def initialize(x, size = 3) = (@x, @size = x, size)
  def +(other) = Vec.new(@x + (other.is_a?(Vec) ? other.x : other), @size)
  def -(other) = @x - (other.is_a?(Vec) ? other.x : other)
  def *(n) = Vec.new(@x * n, @size)
  def <(other) = @x < (other.is_a?(Vec) ? other.x : other)
  def [](i) = @x + i
  def []=(i, v)
    @x = i + v
  end
  def <<(n) = self + n
  def -@ = Vec.new(-@x, @size)
  def empty? = @size == 0
  def succ = Vec.new(@x + 1, @size)
  def coerce(n) = [Vec.new(n), self]
end

def each_of(list, rounds)
  sum = 0
  less = 0
  rounds.times do |i|
    a = list[i % list.size]
    b = a + 1
    less += 1 if a < b
    less += 1 while less.odd? && a < b
    sum += b - 1
    sum += (a * 2) - a
    sum += a[1] if a[1]
    sum += -(-a) - a
    sum += a.succ - a
    sum += 1 if a.size == 3
    sum += 1 unless a.respond_to?(:empty?) && a.empty?
  end
  [sum, less]
end

p each_of([Vec.new(1), Vec.new(2)], 30_000)
p each_of([1, 2, 3], 30_000)
p each_of([Vec.new(1), 5, 7], 3_000)

def fill(list, rounds)
  rounds.times { |i| list[i & 3] = i }
  rounds.times { |i| list << i if list.size < 8 }
  list
end
v = Vec.new(0, 9)
p fill(v, 30_000).x
p fill([], 30_000)
p fill({}, 5) rescue puts $!.class
# A method of the program is taken away while a loop uses it.
class Vec
  alias plus +
  def +(other) = plus(other).plus(1000)
end
p each_of([Vec.new(1)], 30_000)
class Vec
  undef -
end
begin
  each_of([Vec.new(1)], 10)
rescue NoMethodError => e
  puts e.message
end
