# `a[i]` of `a[i][k]`, where the loop changes neither: what may change it all the same, or make it something else.

def sum(a, i, n)
  s = 0
  k = 0
  while k < n
    s += a[i][k]
    k += 1
  end
  s
end
a = Array.new(20) { |i| Array.new(50) { |k| i * k } }
puts (0...20).sum { |i| sum(a, i, 50) }
200.times { |t| sum(a, t % 20, 50) }
puts sum(a, -1, 50), sum(a, 3, 0), sum(a, 99, 0)
begin
  sum(a, 99, 1)
rescue NoMethodError => e
  puts e.message
end
puts sum([[1.5] * 50], 0, 50), sum(["\x01"] * 2, 1, 0), sum([{ 0 => 4, 1 => 5 }], 0, 2)

# Before, behind, and by a number.
def around(a, n)
  s = 0
  i = 1
  while i < a.size - 1
    k = 0
    while k < n
      s += a[i - 1][k] - a[i + 1][k] * 2 + a[0][k] + a[-1][k]
      k += 1
    end
    i += 1
  end
  s
end
30.times { around(a, 50) }
puts around(a, 50)

# Three levels, in blocks, with variables that blocks capture.
def deep(t)
  s = 0
  t.size.times { |i| t[i].size.times { |j| (0...t[i][j].size).each { |k| s += t[i][j][k] } } }
  s
end
cube = Array.new(6) { |i| Array.new(7) { |j| Array.new(30) { |k| i + j * k } } }
40.times { deep(cube) }
puts deep(cube)

# A store in the Array that the element was found in, by another name.
def replaced(a, other, n)
  s = 0
  k = 0
  while k < n
    other[1] = [100] * n if k == n - 3
    s += a[1][k]
    k += 1
  end
  s
end
200.times { replaced([[1] * 30, [2] * 30], [0, 0], 30) }
rows = [[1] * 30, [2] * 30]
puts replaced(rows, rows, 30)
puts replaced(rows, [0, 0], 30)

# One that holds itself.
def itself(a, n)
  k = 0
  while k < n
    a[0][k % 4] = k == n - 1 ? nil : a
    k += 1
  end
  a.map { |x| x.equal?(a) ? :itself : x }
end
own = []
4.times { own << own }
100.times { itself(own, 4); own[3] = own }
p itself(own, 5), (itself(own, 2) rescue $!.class)

# Rows that grow, are shared, frozen, or of a subclass.
def grow(a, i, n)
  k = 0
  while k < n
    a[i][k] = k * i
    a[i][k + 1] = a[i][k] + 1
    k += 1
  end
  a[i].sum
end
puts (0...40).sum { |t| grow([[], [1], [2]], t % 3, t) }
shared = Array.new(100) { 7 }
copy = [shared.dup, shared.dup]
puts grow(copy, 1, 60), shared.sum
begin
  grow([[], [3].freeze], 1, 2)
rescue FrozenError => e
  puts e.message
end
class Odd < Array
  def [](k) = super.to_i + 1
end
puts sum([Odd.new([1, 2, 3])], 0, 3)

# The operands change on some rounds only.
def sometimes(a, n)
  s = 0
  i = 0
  k = 0
  while k < n
    i += 1 if k % 40 == 39
    a = a.reverse if k == n / 2
    s += a[i][k % 10]
    k += 1
  end
  s
end
50.times { sometimes(a, 200) }
puts sometimes(a, 200)

# Another thread puts other rows where the loop found its own.
board = Array.new(4) { [1] * 64 }
seen = Queue.new
reader = Thread.new do
  i = 2
  rounds = 0
  until board[i][0] == 9
    k = 0
    while k < 64
      break if board[i][k] == 9
      k += 1
    end
    rounds += 1
    seen << 1 if rounds == 300
  end
  rounds >= 300
end
seen.pop
board[2] = [9] * 64
puts reader.value

def last_seen(board, i)
  n = 0
  n += 1 until board[i][n % 64] == 9
  n % 64
end
waiter = Thread.new { last_seen(board, 1) }
sleep 0.05
board[1] = [9] * 64
puts waiter.value.between?(0, 63)

# A loop that is left in the middle goes on with what it has.
def ends(a, n)
  n.times { |i| n.times { |k| return [i, k] if a[i][k] == 21 } }
  nil
end
30.times { ends(a, 20) }
p ends(a, 20)

# Redefined, in the end.
class Array
  alias old_aref []
  def [](i) = i == 1 ? [5] * 50 : old_aref(i)
end
puts sum(a, 1, 1)
