# What one GC.start finds dead goes back to the process, also what was swept behind its marking.
def grow
  kept = Array.new(300_000) { |i| i.odd? ? "a text that is not within its cell, number #{i}" : { i => i.to_f } }
  GC.start
  [kept.size, GC.stat(:heap_allocated_pages)]
end
size, grown = grow
GC.start
p size, grown > 200, GC.stat(:heap_allocated_pages) < grown / 2
