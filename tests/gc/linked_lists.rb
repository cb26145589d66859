# Long chains: marking must not recurse on the native stack.
scale = ENV["ZAKURO_TEST_SCALE"] == "small" ? 2_000 : 300_000
Node = Struct.new(:value, :rest)
list = nil
scale.times { |i| list = Node.new(i, list) }
GC.start
n = 0
sum = 0
while list
  n += 1
  sum += list.value
  list = list.rest
end
p n == scale, sum == scale * (scale - 1) / 2
nested = []
scale.times { nested = [nested] }
GC.start
depth = 0
until nested.empty?
  nested = nested[0]
  depth += 1
end
p depth == scale
