# Weak maps find, add and remove in time that does not grow with them.
keys = 60_000.times.map { |i| "key#{i}" }
map = ObjectSpace::WeakKeyMap.new
keys.each_with_index { |k, i| map[k] = i }
p keys.each_with_index.all? { |k, i| map[k.dup] == i } #=> true
p map.inspect[/size=\d+/] #=> size=60000
keys.first(50_000).each { |k| map.delete(k) }
p map[keys[49_999]], map[keys[50_000]] #=> nil, 50000
p map.getkey("key59999").equal?(keys[59_999]) #=> true

map = ObjectSpace::WeakMap.new
keys.each_with_index { |k, i| map[k] = i }
keys.first(50_000).each { |k| map.delete(k) }
p map.size, map[keys[50_000]], map[keys[1]], map.keys.first #=> 10000, 50000, nil, key50000

# Keys with Ruby code that changes the map while it is asked.
class Key
  attr_reader :n
  def initialize(n, map) = (@n, @map = n, map)
  def hash = 1
  def eql?(other) = (GC.start; @map.delete(other) if n == 3 && other.n == 1; n == other.n)
end
map = ObjectSpace::WeakKeyMap.new
list = 4.times.map { |n| Key.new(n, map) }
list.first(3).each { |k| map[k] = k.n }
map[list[3]] = 3
p list.map { |k| map[k] } #=> [0, nil, 2, 3]
