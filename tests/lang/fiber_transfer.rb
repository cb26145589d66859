# Fiber#transfer and its rules, from every state.
def t(n)
  r = begin
    yield.inspect
  rescue => e
    "#{e.class}: #{e.message}"
  end
  puts "#{n}: #{r}"
end
t(1) { f2 = nil; f1 = Fiber.new { f2.transfer(1); :never }; f2 = Fiber.new { |x| [:f2, x] }; f1.transfer }
t(2) { f2 = nil; f1 = Fiber.new { [:f1end, f2.transfer(1)] }; f2 = Fiber.new { |x| [f1.transfer(x + 1), :f2] }; f1.transfer }
t(3) { Fiber.new { Fiber.yield 1 }.transfer }
t(4) { f = Fiber.new { Fiber.yield 1 }; f.resume; f.transfer }
t(5) { m = Fiber.current; f = Fiber.new { m.transfer(3); 4 }; [f.transfer, (f.resume rescue $!.message), f.transfer, f.alive?] }
t(6) { f1 = nil; f2 = Fiber.new { f1.transfer }; f1 = Fiber.new { f2.resume }; f1.resume }
t(7) { f = Fiber.new { f.resume }; f.resume }
t(8) { f = Fiber.new { Fiber.new { f.resume }.resume }; f.resume }
t(9) { f = Fiber.new {}; f.resume; f.transfer }
t(10) { f = Fiber.new { Fiber.yield }; f.resume; Thread.new { f.resume rescue $!.message }.value }
t(11) { m = Fiber.current; f = Fiber.new { begin; m.transfer; rescue => e; e.message; end }; f.transfer; f.raise "zork" }
t(12) { Fiber.new { raise "in" }.transfer }
t(13) { Fiber.new { Fiber.new { Fiber.new { Fiber.yield 4; 5 }.resume + 1 }.resume + 1 }.resume }
t(14) { r = []; a = Fiber.new { r << 1; b = Fiber.new { r << 2; (a.transfer rescue r << $!.message); r << 3 }; b.resume; r << 4 }; a.resume; r }
t(15) { Fiber.new { Fiber.current.transfer(9) }.resume }
t(16) { Fiber.current.resume(8) }
# Ping-pong between two fibers, far deeper than any stack.
a = b = nil
a = Fiber.new { |n| n = b.transfer(n + 1) while n < 20_000; n }
b = Fiber.new { |n| n = a.transfer(n + 1) while true }
p a.transfer(0)
# A chain of resumes deeper than native stacks allow.
deep = lambda { |n| n == 0 ? Fiber.yield(:bottom) : Fiber.new { deep.(n - 1) }.resume }
p Fiber.new { deep.(300) }.resume
# Waiting in a transferred fiber lets other threads run.
q = Queue.new
th = Thread.new { sleep 0.01; q << :late }
m = Fiber.current
f = Fiber.new { m.transfer(q.pop) }
p f.transfer
th.join
