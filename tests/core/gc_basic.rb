before = GC.count
200_000.times { |i| "garbage #{i}" }
GC.start
p GC.count > before
p GC.stat[:count].class
p GC.stat.key?(:total_allocated_objects)
p GC.stat(:total_allocated_objects) > 0
p GC.stress
