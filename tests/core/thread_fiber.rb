# Fibers and enumerators inside threads; collection while threads wait.
t = Thread.new do
  f = Fiber.new { |x| y = Fiber.yield(x + 1); sleep 0.001; Thread.pass; Fiber.yield(y * 2); :end }
  [f.resume(1), f.resume(5), f.resume, f.alive?]
end
p t.value
ths = 3.times.map do |k|
  Thread.new do
    e = Enumerator.new { |y| 4.times { |i| Thread.pass; y << "#{k}-#{i}" } }
    [e.next, e.next, e.next, e.next]
  end
end
p ths.map(&:value)
f = Fiber.new { Fiber.yield 1 }
f.resume
p Thread.new { (f.resume rescue [$!.class, $!.message]) }.value
p Thread.new { Fiber.current.class }.value, Fiber.current.equal?(Thread.new { Fiber.current }.value)
keep = 4.times.map do |i|
  Thread.new do
    a = Array.new(50) { |j| "v#{i}-#{j}" * 2 }
    fi = Fiber.new { b = a.map(&:dup); Thread.stop; b.last }
    [fi.resume, a.first]
  end
end
Thread.pass until keep.all?(&:stop?)
GC.start
junk = Array.new(2000) { |i| "junk#{i}" }
GC.start
keep.each(&:run)
p keep.map(&:value)
q = Queue.new
g = Fiber.new { q.pop }
t = Thread.new { Thread.pass; q << :from_thread }
p g.resume
t.join
p junk.size
p Thread.new { [1, 2, 3].each { |x| Thread.pass; break x * 10 if x == 2 } }.value
def deep(n) = n == 0 ? 0 : 1 + deep(n - 1)
p Thread.new { deep(5000) }.value
def forever(n) = forever(n + 1)
p Thread.new { begin; forever(0); rescue SystemStackError => e; e.class; end }.value
