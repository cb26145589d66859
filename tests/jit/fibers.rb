# Fibers and threads that are switched in the middle of machine code, enumerators, and what they leave behind.
gen = Fiber.new do
  a = 0
  b = 1
  loop { Fiber.yield a; a, b = b, a + b }
end
s = 0
1500.times { s ^= gen.resume & 0xffff }
p s
fibers = 20.times.map { |k| Fiber.new { n = 0; 400.times { |i| n += i * k; Fiber.yield n if i % 7 == 0 }; n } }
total = 0
60.times { fibers.each { |f| total += f.resume.to_i if f.alive? } }
p total
e = (1..Float::INFINITY).lazy.map { |x| x * 2 }.select { |x| x % 3 == 0 }
p e.first(5)
en = Enumerator.new { |y| i = 0.5; loop { y << i; i += 0.25 } }
f = 0.0
1000.times { f += en.next }
p f
def walk(n, &b) = n == 0 ? nil : (walk(n - 1, &b); b.call(n); walk(n - 1, &b))
tree = Fiber.new { walk(9) { |v| Fiber.yield v }; :done }
sum = 0
while (v = tree.resume) != :done
  sum += v
end
p sum
# A fiber that is dropped while it waits in a hot loop, and one that is raised into.
300.times { |i| g = Fiber.new { x = i; while true; x += 1; Fiber.yield x; end }; g.resume; g.resume }
GC.start
g = Fiber.new do
  x = 0
  begin
    while true
      x += 1
      Fiber.yield x
    end
  rescue ArgumentError
    x * 1000
  end
end
700.times { g.resume }
p g.raise(ArgumentError)
# Threads that take turns in hot loops of one method.
def count(n)
  i = 0
  i += 1 while i < n
  i
end
p 8.times.map { |k| Thread.new { count(20_000 + k) } }.map(&:value)
q = Queue.new
t = Thread.new { s = 0; while (v = q.pop); s += v; end; s }
5000.times { |i| q << i }
q << nil
p t.value
m = Mutex.new
n = 0
4.times.map { Thread.new { 1000.times { m.synchronize { n += 1 } } } }.each(&:join)
p n
