# Elements of Arrays in loops that call nothing: what is known of an Array at their beginning, and what ends that.

ROUNDS = 300

def sum(a, n)
  s = 0
  i = 0
  while i < n
    s += a[i]
    i += 1
  end
  s
end

def dot(a, b)
  s = 0.0
  i = 0
  while i < a.size
    s += a[i] * b[i]
    i += 1
  end
  s
end

def fill(a, n, v)
  i = 0
  while i < n
    a[i] = v
    i += 1
  end
  a
end

def copy(from, to)
  i = 0
  until i == from.length
    to[i] = from[i]
    i += 1
  end
  to
end

def reverse(a)
  i = 0
  j = a.size - 1
  while i < j
    a[i], a[j] = a[j], a[i]
    i += 1
    j -= 1
  end
  a
end

def warm
  ints = Array.new(40) { |i| i }
  floats = Array.new(40) { |i| i * 0.5 }
  ROUNDS.times { sum(ints, 40) }
  ROUNDS.times { dot(floats, floats) }
  ROUNDS.times { fill(Array.new(40, 1), 40, true) }
  ROUNDS.times { copy(ints, Array.new(40)) }
  ROUNDS.times { reverse(ints) }
end

# What isn't there, small and large Arrays, subclasses, frozen ones.
warm
p sum([1, 2, 3], 3), sum((1..100).to_a, 100), sum([], 0), sum(nil, 0)
begin
  sum([1, 2], 3)
rescue => e
  puts "#{e.class}: #{e.message}"
end
begin
  sum(nil, 1)
rescue => e
  puts "#{e.class}: #{e.message}"
end
Named = Class.new(Array)
p sum(Named.new([4, 5, 6]), 3), fill(Named.new, 3, 7).class
p fill([], 5, 1), fill([1], 3, "x"), fill([0] * 30, 4, 9).size
begin
  fill([1, 2, 3].freeze, 2, 0)
rescue => e
  puts "#{e.class}: #{e.message}"
end
p dot([1.5, 2.5], [2, 4.0]), dot([1, 2], [3, 4]), dot([], nil)
p copy([1, :a, "b", nil, 2.5], []), copy((1..50).to_a, [1]).sum
p reverse([1, 2, 3, 4]), reverse((1..30).to_a).first(3), reverse([])

# Others hold the same buffer.
large = (1..60).to_a
other = large.dup
fill(large, 60, 0)
p large.sum, other.sum
part = other[10, 30]
fill(part, 5, -1)
p part.first(6), other[10, 6]
third = other.drop(5)
fill(other, 3, 100)
p third.sum, other.sum

# It grows while it is walked, and so do others that are the same.
def grow(a, n)
  i = 0
  b = a
  s = 0
  while i < n
    a[i] = i
    s += b[i] + b.size
    i += 1
  end
  [s, a.size, b.equal?(a)]
end
ROUNDS.times { grow([], 30) }
p grow([], 100), grow([5] * 10, 25)

def push_while(a, n)
  i = 0
  while a.size < n
    a << i
    i += a[i] ? 1 : 2
  end
  a
end
ROUNDS.times { push_while([], 20) }
p push_while([], 8), push_while([1, 2], 25).size

# Indices from the end and beyond it.
def wrap(a)
  s = 0
  i = -a.size
  while i < a.size + 3
    v = a[i]
    s += v if v
    i += 1
  end
  s
end
ROUNDS.times { wrap([1, 2, 3]) }
p wrap([1, 2, 3]), wrap((1..40).to_a), wrap([])

def set_from_end(a, n)
  i = 1
  while i <= n
    a[-i] = i
    i += 1
  end
  a
end
ROUNDS.times { set_from_end([0, 0, 0, 0], 4) }
p set_from_end([0, 0, 0], 3)
begin
  set_from_end([0, 0], 3)
rescue => e
  puts "#{e.class}: #{e.message}"
end

# A call between rounds changes what was known.
class Holder
  attr_reader :list
  def initialize(list) = @list = list
  def touch(i)
    case i
    when 10 then @list.clear
    when 12 then @list.replace((0..50).to_a)
    when 20 then def @list.[](i) = 1000
    when 25 then @list.freeze
    end
  end
end
def with_calls(holder, n)
  a = holder.list
  s = 0
  i = 0
  while i < n
    j = 0
    while j < 3
      s += a[j] || -1
      j += 1
    end
    holder.touch(i)
    i += 1
  end
  s
end
(ROUNDS / 10).times { with_calls(Holder.new([1, 2, 3]), 9) }
p with_calls(Holder.new([1, 2, 3]), 9), with_calls(Holder.new([1, 2, 3]), 15), with_calls(Holder.new([1, 2, 3]), 30)

# Blocks: the Array, the sum and the bound are variables of the method.
def by_blocks(a, b, n)
  s = 0.0
  t = 0
  (0...n).each { |k| s += a[k] * b[k] }
  n.times { |k| t += k; a[k] = s }
  1.upto(n - 1) { |k| b[k] = b[k - 1] }
  0.step(n - 1, 2) { |k| s -= b[k] }
  [s, t, a.last, b.last]
end
ROUNDS.times { by_blocks([1.0, 2.0, 3.0], [0.5, 0.25, 0.125], 3) }
p by_blocks([1.0, 2.0, 3.0], [0.5, 0.25, 0.125], 3), by_blocks([1, 2], [3, 4], 2), by_blocks([], [], 0)
p by_blocks([2**70, 1], [1, 2], 2)

def last_of(a)
  last = nil
  a.each_index { |i| last = a[i] + 1 }
  last
end
ROUNDS.times { last_of([1, 2, 3]) }
p last_of([1, 2, 3]), last_of([1.5]), last_of([]), last_of([2**62, 2**62 - 1, 4])

def turns(n)
  s = 0
  n.times { |i| s += i < n / 2 ? 1 : 0.5 }
  s
end
ROUNDS.times { turns(4) }
p turns(4), turns(1), turns(7), turns(0)

def primes(limit)
  composite = Array.new(limit + 1, false)
  found = 0
  (2..limit).each do |i|
    next if composite[i]
    found += 1
    k = i * i
    while k <= limit
      composite[k] = true
      k += i
    end
  end
  found
end
20.times { primes(500) }
p primes(10), primes(1000), primes(1)

# The Array that a block asks becomes another one, or none.
def replaced(lists)
  a = lists[0]
  s = 0
  lists.size.times do |k|
    i = 0
    while i < 4
      s += a[i] || 10
      i += 1
    end
    a = lists[k]
  end
  s
end
ROUNDS.times { replaced([[1, 2, 3, 4], [5, 6, 7, 8]]) }
p replaced([[1, 2, 3, 4], [5, 6], [7]]), replaced([{ 0 => 1, 1 => 2 }, [1]])

# Tables of tables.
def product(a, b, n)
  c = Array.new(n) { Array.new(n, 0) }
  i = 0
  while i < n
    j = 0
    while j < n
      s = 0
      k = 0
      while k < n
        s += a[i][k] * b[k][j]
        k += 1
      end
      c[i][j] = s
      j += 1
    end
    i += 1
  end
  c
end
small = [[1, 2], [3, 4]]
ROUNDS.times { product(small, small, 2) }
p product(small, small, 2), product(small, [[0.5, 1], [2**64, 2]], 2)
big = Array.new(25) { |i| Array.new(25) { |j| i - j } }
p product(big, big, 25).flatten.sum
begin
  product(small, [[1, 2], nil], 2)
rescue => e
  puts "#{e.class}: #{e.message}"
end

def moving(a, n)
  s = 0
  i = 0
  while i < n
    a[i % 3][0] = a[(i + 1) % 3][0] + 1
    s += a[0][0] + a[1][0] * 2
    a[i % 3] = [s % 7] if i % 5 == 4
    i += 1
  end
  s
end
ROUNDS.times { moving([[1], [2], [3]], 12) }
p moving([[1], [2], [3]], 12), moving([[0], [0], [0]], 40)

# Collections on the way: references in old and new Arrays, Floats that are objects.
def floats(a, n)
  i = 0
  while i < n
    a[i] = a[i] * 1e-300 * 1e-5
    i += 1
  end
  a
end
ROUNDS.times { floats([1.0] * 5, 5) }
f = [1e200, 2e-300, 3.0] * 400
GC.start
floats(f, 1200)
p f.first(3), f.last

def strings(from, to)
  i = 0
  while i < from.size
    to[i] = from[i]
    i += 1
  end
  to
end
old = Array.new(500)
3.times { GC.start }
40.times { |k| strings(Array.new(500) { |i| "text #{k} #{i}" }, old); GC.start if k % 10 == 0 }
p old[0], old[499]

# Another thread changes what is asked.
shared = [1] * 50
seen = 0
stop = false
writer = Thread.new do
  n = 0
  until stop
    n += 1
    shared.concat([1] * 20)
    shared.shift(20)
    Thread.pass
  end
  n
end
200.times do
  i = 0
  while i < 2000
    seen += shared[i % 50]
    i += 1
  end
  Thread.pass
end
stop = true
p seen, writer.value > 0, shared.size

# Methods of Integer and Array that become others.
def count_up(a)
  i = 0
  i += 1 while i < a.size && a[i]
  i
end
ROUNDS.times { count_up([1, 2, nil]) }
p count_up([1, 2, nil])
class Array
  alias_method :old_size, :size
  def size = old_size + 1
end
p count_up([1, 2, 3])
class Array
  alias_method :size, :old_size
  alias_method :old_get, :[]
  def [](i) = old_get(i + 1)
end
p count_up([1, 2, nil]), sum([1, 2, 3, 4], 3)
class Array
  alias_method :[], :old_get
end
p count_up([1, 2, nil]), sum([1, 2, 3, 4], 3)
