e = [1, 2, 3].each
p e.next
p e.peek
p e.next
p e.next
begin
  e.next
rescue StopIteration => s
  p s.message, s.result
end
e.rewind
p e.next
fib = Enumerator.new do |y|
  a, b = 0, 1
  loop { y << a; a, b = b, a + b }
end
p fib.take(10)
p fib.lazy.select(&:even?).first(5)
p fib.next
p fib.next
p fib.next
def each_pair_of(x)
  return to_enum(:each_pair_of, x) { 2 } unless block_given?
  yield x
  yield x * 2
end
p each_pair_of(4).to_a, each_pair_of(4).size
f = Fiber.new do |x|
  y = Fiber.yield(x + 1)
  z = Fiber.yield(y * 2)
  [x, y, z]
end
p f.resume(1), f.resume(10), f.resume(:end)
begin
  f.resume
rescue FiberError => err
  p err.class
end
g = Fiber.new { raise "in fiber" }
begin
  g.resume
rescue => err
  p err.message
end
ee = Enumerator.new { |y| y.yield 1, 2; y << 3; :ret }
p ee.next
p ee.next
p((ee.next rescue $!.result))
p ee.to_a
p ee.size
a = [1, 2, 3].each
b = %w[x y z].each
r = []
loop { r << [a.next, b.next] }
p r, Enumerator.produce(1) { |v| v * 2 }.take(6), ([1].each + [2, 3]).to_a
