# Queue and SizedQueue.
def try = [yield, nil].first rescue [$!.class, $!.message]
q = Queue.new
p q.empty?, q.push(1).equal?(q), q << 2 << 3 && q.size, q.pop, q.shift, q.deq, q.length
p try { q.pop(true) }
p Queue.new([1, 2]).size, try { Queue.new(1) }
p try { q.freeze }.first
t = 2.times.map { Thread.new { q.pop } }
Thread.pass until t.all?(&:stop?)
p q.num_waiting
q << :a; q << :b
p t.map(&:value).sort, q.num_waiting
t = Thread.new { q.pop }
Thread.pass until t.stop?
q.close
p t.value, q.closed?, q.pop, try { q << 1 }
s = SizedQueue.new(2)
p s.max, try { SizedQueue.new(0) }
got = []
prod = Thread.new { 6.times { |i| s.push(i) }; s.close }
while (v = s.pop)
  got << v
end
p got, prod.join.alive?
s = SizedQueue.new(1)
s << 1
p try { s.push(2, true) }
t = Thread.new { s << 2 }
Thread.pass until t.stop?
p s.num_waiting
s.max = 2
t.join
p s.size
s.clear
p s.size
s << 1 << 2
t = Thread.new { s << 3 }
Thread.pass until t.stop?
s.close
t.report_on_exception = false
p try { t.value }
a = Queue.new
b = Queue.new
pong = Thread.new { while (x = a.pop); b << x * 2; end }
p 5.times.map { |i| a << i; b.pop }
a.close
pong.join
w = 2.times.map { Thread.new { b.pop } }
Thread.pass until w.all?(&:stop?)
w[0].kill.join
b << :last
p w[1].value
p try { Marshal.dump(Queue.new) }
begin
  Queue.new.pop
rescue Exception => e
  p e.class, e.message.lines.first.chomp
end
