# Objects that live for a moment, beside some that stay: what allocation and collection cost.

class Node
  attr_accessor :left, :right, :value

  def initialize(left, right, value)
    @left = left
    @right = right
    @value = value
  end
end

def tree(depth, n)
  return Node.new(nil, nil, n) if depth == 0
  Node.new(tree(depth - 1, n * 2), tree(depth - 1, n * 2 + 1), n)
end

def sum(node)
  node ? node.value + sum(node.left) + sum(node.right) : 0
end

kept = []
total = 0
500.times do |i|
  t = tree(10, 1)
  total += sum(t)
  kept << t if i % 20 == 0
  list = (0...3000).map { |k| [k, k.to_s] }
  total += list.select { |k, _| k.even? }.sum { |_, s| s.size }
  hash = {}
  list.each { |k, s| hash[s] = { key: k } }
  total += hash.size
end
puts total, kept.size
