scale = ENV["ZAKURO_TEST_SCALE"] == "small" ? 100 : 20_000
def make(i)
  a = "a#{i}"
  b = [i]
  inner = -> { a << "!"; b << b.size; [a, b] }
  -> { inner.call }
end
procs = Array.new(scale) { |i| make(i) }
GC.start
p procs.each_with_index.all? { |f, i| f.call == ["a#{i}!", [i, 1]] }
p procs.each_with_index.all? { |f, i| f.call == ["a#{i}!!", [i, 1, 2]] }
enums = Array.new(scale / 50) { |i| [i, i + 1].each }
enums.each(&:next)
GC.start
p enums.each_with_index.all? { |e, i| e.next == i + 1 }
fibers = Array.new(scale / 50) { |i| Fiber.new { |x| y = Fiber.yield("f#{i} #{x}"); [x, y, "end #{i}"] } }
p fibers.each_with_index.all? { |f, i| f.resume(i) == "f#{i} #{i}" }
GC.start
p fibers.each_with_index.all? { |f, i| f.resume(:y) == [i, :y, "end #{i}"] }
