# Variables that blocks capture, while these run as part of a loop: kept in registers, and seen by all that may look.

def repeat(n) = n.times { |i| yield i }

def counts(list)
  sum = 0
  odd = 0.0
  last = nil
  list.each do |x|
    sum += x
    odd += 1.5 if x.odd?
    last = x
  end
  [sum, odd, last]
end
repeat(200) { counts([1, 2, 3, 4]) }
p counts((1..50).to_a), counts([1, 2**62, 3]), counts([2**62 - 1, 2**62 - 1, 2**62]), counts([])
p((counts([1, nil, 3]) rescue $!.class), (counts([1, 2.5]) rescue $!.message))

# The kind changes on the way.
def kinds(list)
  total = 0
  list.each { |x| total += x }
  total
end
repeat(300) { kinds([1, 2, 3]) }
p kinds([1, 2.5, 3]), kinds([1, 2, 3]), kinds([2**62, 2**62]), kinds([1r, 2])

# Loops in loops, with environments of their own.
def products(a, b)
  (0...a.size).map do |i|
    row = a[i]
    b.map do |column|
      sum = 0.0
      (0...row.size).each { |k| sum += row[k] * column[k] }
      sum
    end
  end
end
m = [[1.0, 2.0], [3.0, 4.5]]
repeat(200) { products(m, m) }
p products(m, m), products([[1, 2]], [[3, 4.5]])

# A Proc that has the variable, too: made before, on the way, and after.
def shared
  n = 0
  add = -> { n += 10 }
  seen = []
  5.times do |i|
    n += 1
    add.call if i == 2
    seen << n
  end
  [n, seen, add.call, n]
end
def made(list)
  n = 0
  procs = []
  list.each do |x|
    n += x
    procs << -> { n += 1 } if x == 3
    procs.last&.call if x > 4
  end
  [n, procs.map(&:call), n]
end
def later(list)
  n = 0
  list.each { |x| n += x }
  l = -> { n += 100 }
  list.each { |x| n += x }
  [l.call, n, l.call]
end
repeat(200) { shared; made([1, 2, 3, 4, 5, 6]); later([1, 2, 3]) }
p shared, made([1, 2, 3, 4, 5, 6, 3, 7]), later([1, 2, 3])

# Operators, `hash`, `eql?` and conversions that write it behind the loop's back.
class Odd
  attr_accessor :hook
  def +(other) = (hook&.call; other)
  def coerce(other) = [self, other]
  def hash = (hook&.call; 1)
  def eql?(other) = true
  def ==(other) = (hook&.call; false)
  def [](i) = (hook&.call; i)
end
def behind(list, odd)
  n = 0
  x = 0.5
  odd.hook = -> { n += 1000; x = x * 2 } if odd
  list.each do |v|
    n += 1
    x += 1.0
    v + 1
    n += 1
  end
  [n, x]
end
def keys(list, odd)
  n = 0
  h = { 1 => 2, :a => 3 }
  odd.hook = -> { n += 1000 } if odd
  list.each do |k|
    n += 1
    h[k]
    n += 1
    h[k] = n
    n += 1
  end
  n
end
def elements(list, odd)
  n = 0
  odd.hook = -> { n += 1000 } if odd
  list.each do |a|
    n += 1
    a[0]
    n += 1 if a == 5
  end
  n
end
repeat(300) { behind([1, 2, 3], nil); keys([1, :a, 3], nil); elements([[1], [2], 5], nil) }
odd = Odd.new
p behind([1, odd, 3, odd], odd), keys([1, odd, 3, odd], odd), elements([[1], odd, 5, odd], odd)
repeat(50) { behind([1, odd, 3, odd], odd) }
p behind([1, odd, 3, odd], odd)

# Bindings, and code that is given as text.
def bound(list)
  n = 0
  b = binding
  list.each do |x|
    n += x
    b.local_variable_set(:n, n * 2) if x == 2
    eval("n += 100") if x == 3
  end
  [n, b.local_variable_get(:n)]
end
repeat(100) { bound([1, 2, 3, 4]) }
p bound([1, 2, 3, 4])

# Ways out: `break`, `next`, `return`, `redo`, exceptions; what was counted is there.
def ways(list, way)
  n = 0
  r = list.each do |x|
    n += 1
    next if x == 1
    break :broken if x == 5 && way == :break
    return [n, :returned] if x == 5 && way == :return
    raise "at #{n}" if x == 5 && way == :raise
    throw :out, n if x == 5 && way == :throw
  end
  [n, r.class]
rescue => e
  [n, e.message]
ensure
  $after = n
end
repeat(200) { ways([1, 2, 3], nil) }
p %i[break return raise none].map { |w| [ways([1, 2, 5, 4], w), $after] }
p catch(:out) { ways([1, 5], :throw) }, $after

# Many rounds: collections, other threads, and a time slice end on the way.
def long(n)
  sum = 0
  text = nil
  n.times do |i|
    sum += i
    text = i.to_s if i % 50_000 == 0
    GC.start if i == 120_000
  end
  [sum, text]
end
p long(200_000)
def threads(n)
  count = 0
  t = Thread.new { Thread.pass until count > 50_000; count += 1_000_000; :done }
  n.times { count += 1; Thread.pass if count % 100_000 == 0 }
  [t.value, count > 1_000_000]
end
p threads(300_000)

# A `while` in a method whose variables a block has captured, and one in a block.
def whiles(limit)
  n = 0
  step = ->(k) { n += k }
  i = 0
  while i < limit
    n += i
    step.call(1) if i % 1000 == 0
    i += 1
  end
  3.times do
    k = 0
    while k < limit
      n += 1
      k += 1
    end
  end
  n
end
p whiles(10), whiles(5_000), whiles(5_000)

# Arrays that are written by index: short, long, shared, frozen, beyond the end, from the end.
def fill(a, list)
  list.each { |i| a[i] = i }
  a
end
repeat(200) { fill([0, 0, 0], [0, 1, 2]); fill(Array.new(9, 0), [0, 5, 8]) }
long = (0..30).to_a
part = long[3, 20]
p fill([1, 2], [1, -1, 0, 4]), fill(part, [0, 19, 25]), long[3, 4], (fill([1].freeze, [0]) rescue $!.class), (fill([1], [-5]) rescue $!.class)
old = Array.new(50, nil)
3.times { GC.start }
fill(old, [1, 2, 3])
old.each_index { |i| old[i] = "s#{i}" }
2.times { GC.start }
p old.first(4), old.last

# Strings that grow, and their bytes.
def bytes(s)
  n = 0
  i = 0
  while (b = s.getbyte(i))
    n += b
    i += 1
  end
  [n, s.getbyte(-1), s.getbyte(-100)]
end
def joined(parts)
  out = +""
  parts.each { |x| out << x << "," }
  out
end
repeat(200) { bytes("abc"); joined(%w[a b]) }
p bytes("hé"), (bytes(:a) rescue $!.class), ("a".getbyte("x") rescue $!.class)
p joined(%w[a é b]), joined(["a", 98, "é".encode("ISO-8859-1")]) rescue p $!.class
p (joined(["a", nil]) rescue $!.class), joined(["é", "b", "ü"]).valid_encoding?, joined([]).encoding
class String
  alias old_append <<
  def <<(other) = old_append("<#{other}>")
end
p joined(%w[a b])
