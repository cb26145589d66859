# Hash work: counting, string/integer/symbol/array/object keys, growth, deletion, grouping, merging, ordered iteration.

class Point
  attr_reader :x, :y

  def initialize(x, y)
    @x = x
    @y = y
  end

  def hash
    @x * 31 + @y
  end

  def eql?(other)
    @x == other.x && @y == other.y
  end
end

rounds = (ARGV[0] || 28).to_i
total = 0

rounds.times do |round|
  ints = {}
  40_000.times { |i| ints[i * 7 % 65_537] = i }
  40_000.times { |i| total += ints[i] || 1 }
  ints.delete_if { |k, _| k.odd? }
  total += ints.size

  counts = Hash.new(0)
  40_000.times { |i| counts["word#{i * i % 997}"] += 1 }
  total += counts.size + counts.values.max + counts.sort_by { |w, n| [-n, w] }.first[1]

  lists = Hash.new { |h, k| h[k] = [] }
  20_000.times { |i| lists[i % 101] << i }
  total += lists.sum { |k, v| k * v.size }

  points = {}
  8_000.times { |i| points[Point.new(i % 80, i / 80)] = i }
  8_000.times { |i| total += points[Point.new(i % 80, i / 80)] }

  pairs = {}
  8_000.times { |i| pairs[[i % 50, i / 50]] = i }
  total += pairs.count { |(a, b), v| a + b < v % 100 }

  small = 0
  30_000.times do |i|
    h = { id: i, name: "n", size: i + 1 }
    small += h[:id] + h[:size]
    h[:id] = 0
  end
  total += small

  merged = counts.merge(counts) { |_, a, b| a + b }
  total += merged.values.sum
  total += counts.group_by { |_, n| n }.transform_values(&:size).to_a.flatten.sum
  total += counts.to_a.each_with_index.to_h { |(w, _), i| [i, w.size] }.values.sum
  same = {}.compare_by_identity
  500.times { |i| same["s#{i % 3}"] = i }
  total += same.size + round
end
puts "total #{total}"
