def try
  yield
rescue Exception => e
  "#{e.class}: #{e.message}"
end
C = RubyVM::Channel
a, b, c = C.new, C.new, C.new(1)
b << :b
p RubyVM.select(a, b, c) == [b, :b]
p RubyVM.select(a, b, timeout: 0), RubyVM.select(a, timeout: 0.001)

# Fair between ready ones: all are served while all have something.
100.times { [a, b].each { _1 << 1 } }
first = 100.times.map { RubyVM.select(a, b)[0] }
p first.count(a).between?(30, 70), first.count(b).between?(30, 70)
100.times { RubyVM.select(a, b) }
p a.empty?, b.empty?

# The same channel twice, one channel, a splat.
a << 1 << 2
p RubyVM.select(a, a) == [a, 1], RubyVM.select(*[b, a, b, a]) == [a, 2], RubyVM.select(a, a, timeout: 0)

# A wait that a message of another VM ends, at each place.
list = Array.new(5) { C.new }
vms = list.map { |ch| RubyVM.fork { ch << ch.hash } }
got = 5.times.map { RubyVM.select(*list) }
p got.map { |ch, m| ch.hash == m }.uniq, got.map(&:first).sort_by(&:hash) == list.sort_by(&:hash)
vms.each(&:join)
p list.map(&:num_waiting)

# Closed ones have nothing to give; when all are closed and empty it is an error.
a << :last
a.close
p RubyVM.select(b, a) == [a, :last], RubyVM.select(a, b, timeout: 0)
b << 1
p RubyVM.select(a, b) == [b, 1]
t = Thread.new { try { RubyVM.select(a, b, c) } }
Thread.pass until b.num_waiting == 1 && c.num_waiting == 1
b.close
Thread.pass
p t.alive?
c.close
p t.value, try { RubyVM.select(a, b) }, try { RubyVM.select(a, timeout: 0) }

# Bad arguments.
p try { RubyVM.select }, try { RubyVM.select(1) }, try { RubyVM.select([C.new]) }, try { RubyVM.select(C.new, nil) }
p try { RubyVM.select(timeout: 1) }, try { RubyVM.select(C.new, timeout: -1) }, try { RubyVM.select(C.new, timeouts: 1) }

# A select that is given up leaves no trace: the next receiver gets the message.
d, e = C.new, C.new
t = Thread.new { RubyVM.select(d, e) }
Thread.pass until e.num_waiting == 1
t.kill.join
p d.num_waiting, e.num_waiting
e << 1
p e.recv
t = Thread.new { try { RubyVM.select(d, e) } }
Thread.pass until d.num_waiting == 1
t.raise("stop")
p t.value
d << 2
p d.try_recv

# Several VMs that select among the same channels take each message once.
ins = Array.new(3) { C.new }
out = C.new
takers = Array.new(4) do
  RubyVM.fork do
    n = 0
    loop do
      _, m = RubyVM.select(*ins)
      out << m
      n += 1
    rescue RubyVM::ClosedError
      break
    end
    n
  end
end
senders = ins.each_with_index.map { |ch, i| RubyVM.fork { 200.times { |k| ch << i * 200 + k }; ch.close } }
all = 600.times.map { out.recv }
p all.sort == (0...600).to_a, takers.sum(&:value)
senders.each(&:join)
