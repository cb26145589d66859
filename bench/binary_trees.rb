# Builds and walks many complete binary trees while one long-lived tree stays: allocation and collection of small objects.

class Node
  attr_reader :left, :right

  def initialize(left, right)
    @left = left
    @right = right
  end

  def count
    @left ? 1 + @left.count + @right.count : 1
  end
end

def grow(depth)
  return Node.new(nil, nil) if depth == 0
  Node.new(grow(depth - 1), grow(depth - 1))
end

max = (ARGV[0] || 16).to_i
min = 4
stretch = max + 1
puts "stretch tree of depth #{stretch}: #{grow(stretch).count} nodes"
long_lived = grow(max)
min.step(max, 2) do |depth|
  trees = 1 << (max - depth + min)
  sum = 0
  trees.times { sum += grow(depth).count }
  puts "#{trees} trees of depth #{depth}: #{sum} nodes"
end
puts "long lived tree of depth #{max}: #{long_lived.count} nodes"
