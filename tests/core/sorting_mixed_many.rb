# Without --gc=stress.
# Integers and Floats side by side, so many that a collection takes a while.
long = Array.new(300_000) { |i| i.even? ? (i * 7919) % 100_003 : ((i * 104_729) % 100_003) + 0.5 }
sorted = long.sort
p sorted.each_cons(2).all? { |a, b| a <= b }, sorted.size, sorted.first(3), sorted.last(3)
order = (0...long.size).sort_by { |i| long[i] }
p order.each_cons(2).all? { |a, b| long[a] <= long[b] }
