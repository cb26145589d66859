# Without --gc=stress. Recursion in machine code: deep, endless, through blocks; the error is rescued, and what comes after works.
def depth(n) = n == 0 ? 0 : 1 + depth(n - 1)
def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
p fib(18)
p 50.times.map { depth(2000) }.uniq, depth(9000)
def endless(n) = endless(n + 1) + 1
def by_blocks(n) = [n].each { |v| by_blocks(v + 1) }
def floats(x) = floats(x + 0.5) + 1.0
def with_ensure(n)
  with_ensure(n + 1)
ensure
  $ended += 1
end
def mutual_a(n) = mutual_b(n + 1)
def mutual_b(n) = n.then { |m| mutual_a(m) }
3.times do
  $ended = 0
  %i[endless by_blocks mutual_a with_ensure].each do |m|
    send(m, 0)
    p :never
  rescue SystemStackError => e
    puts "#{m} #{e.class} #{e.message} #{e.backtrace.size > 100}"
  end
  begin
    floats(0.5)
  rescue SystemStackError => e
    puts "floats #{e.class}"
  end
  p $ended > 500
  p depth(3000), fib(12)
end
# In a fiber and in a thread, whose stacks are smaller.
p Fiber.new { depth(500) }.resume, Thread.new { depth(1500) }.value
def ends = (begin; endless(0); rescue SystemStackError; $!.class; end)
p Fiber.new { ends }.resume, Thread.new { ends }.value
# In the middle of a hot loop that goes on.
s = 0
300.times { |i| s += depth(i); begin; endless(i); rescue SystemStackError; s += 1; end if i % 100 == 0 }
p s
# Recursion whose arguments are kept on the way down.
def trail(n, list) = n == 0 ? list.size : trail(n - 1, list << n)
p trail(3000, [])
def ack(m, n) = m == 0 ? n + 1 : (n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1)))
p ack(2, 60)
