# `return` and `break` in blocks that machine code inlines.

def find(list, wanted)
  list.each { |v| return v if v == wanted }
  nil
end

def find_at(list, wanted)
  list.each_with_index { |v, i| return i, v if v == wanted }
  :none
end

def nested(n, wanted)
  count = 0
  n.times do |i|
    n.times do |j|
      count += 1
      return [i, j, count] if i * j == wanted
    end
    count += 100
  end
  count
end

def broken(n, at)
  sum = 0
  r = n.times do |i|
    break i * 2.5 if i == at
    sum += i
  end
  [r, sum]
end

def inner_break(n, at)
  sum = 0
  r = n.times { |i| 1.upto(n) { |k| sum += k; break sum if k == at }; sum += 1000 }
  [r, sum]
end

def twice
  a = yield 1
  b = yield 2
  [a, b]
end

def breaks_yield(x) = twice { |n| break x if n + x == 5; n * 10 }
def returns_yield(x)
  twice { |n| return [x] if n + x == 5; n * 10 }.sum
end

def through(list)
  list.each { |v| yield v }
  :through
end

def breaks_through(list, at)
  seen = []
  r = through(list) { |v| seen << v; break v * 2 if v == at }
  [r, seen.size]
end

def returns_through(list, at)
  through(list) { |v| return v * 3 if v == at }
end

def ensured(list, at)
  log = []
  list.each do |v|
    begin
      return log if v == at
    ensure
      log << v
    end
  end
  log << :end
end

def ensures_outside(list, at)
  log = [0]
  begin
    list.each { |v| log[0] += 1; return log if v == at }
  ensure
    log << :ensured
  end
  log << :end
end

def holds(n, at)
  kept = nil
  r = n.times do |i|
    held = i
    kept = -> { held += 1 } if i == at
    break held if i == at
  end
  [r, kept&.call, kept&.call]
end

class Made
  attr_reader :n
  def initialize(list)
    @n = 0
    list.each { |v| @n += v; return 7 if v == 3 }
    @n = -1
  end
end
def make(list) = Made.new(list).n

def kinds(list, at)
  [
    list.map { |v| break v if v == at; v }.then { |r| r.is_a?(Array) ? r.size : r },
    list.select { |v| break :none if v == at; v.even? }.then { |r| r.is_a?(Array) ? r.size : r },
    list.inject { |a, v| break a if v == at; a + v },
    list.any? { |v| break 5 if v == at; false },
    list.find { |v| break if v == at; false },
    1.step(9, 2) { |v| break v if v >= at },
    9.downto(1) { |v| break v if v <= at },
    (1..).each { |v| break v * v if v == at },
  ]
end

# A method calls one that returns from a block, in a loop of its own.
def outer(list)
  sum = 0.0
  list.each { |v| sum += find(list, v) || 0; break if v > 4 }
  sum
end

list = (1..6).to_a
2.times do
  p (0...3000).map { |k| find(list, k % 8) }.tally
  p (0...3000).map { |k| find_at(list, k % 8) }.tally
  p (0...2000).map { |k| nested(7, k % 40) }.tally.size, nested(7, 35), nested(5, 12)
  p (0...2000).map { |k| broken(9, k % 12) }.uniq
  p (0...2000).map { |k| inner_break(5, k % 7 + 1) }.uniq
  p (0...2000).map { |k| [breaks_yield(k % 6), returns_yield(k % 6)] }.uniq
  p (0...2000).map { |k| [breaks_through(list, k % 8), returns_through(list, k % 8)] }.uniq
  p (0...2000).map { |k| [ensured(list, k % 8), ensures_outside(list, k % 8)] }.uniq
  p (0...2000).map { |k| holds(4, k % 5) }.uniq
  p (0...2000).map { |k| make(k % 3 == 0 ? [1, 2] : list) }.tally
  p (0...2000).map { |k| kinds(list, k % 7 + 1) }.uniq
  p (0...2000).sum { outer(list) }
end

# The method that a block would leave is over.
def proc_of(list) = list.each { |v| return -> { v } if v == 2 }
p proc_of(list).call
def stale = [1].each { |v| return Proc.new { return v } }
p 2000.times.count { stale.call rescue $!.is_a?(LocalJumpError) }
# Backtraces and lines afterwards.
def raises(list)
  list.each { |v| break if v == 3 }
  raise "here"
end
p 2000.times.map { raises(list) rescue $!.backtrace_locations[0].lineno }.uniq
