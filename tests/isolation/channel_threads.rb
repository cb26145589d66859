C = RubyVM::Channel
# Threads of one VM wait at channels while others of it run; each gets what is its own.
work = Array.new(20) { C.new }
count = 0
runner = Thread.new { loop { count += 1; Thread.pass } }
waiting = work.map { |ch| Thread.new { Array.new(3) { ch.recv } } }
Thread.pass until work.all? { _1.num_waiting == 1 }
before = count
feeder = RubyVM.fork { 3.times { |round| work.each_with_index { |ch, i| ch << i * 10 + round } } }
p waiting.map(&:value) == Array.new(20) { |i| Array.new(3) { i * 10 + _1 } }
Thread.pass until count > before
runner.kill
feeder.join

# Threads that take turns at a bounded channel; FIFO for each sender.
ch = C.new(2)
senders = Array.new(4) { |s| Thread.new { 50.times { |i| ch << [s, i] } } }
got = Array.new(200) { ch.recv }
p got.group_by(&:first).values.all? { |l| l.map(&:last) == (0...50).to_a }
senders.each(&:join)

# Waiters are served in the order in which they came.
ch = C.new
order = []
ts = Array.new(6) { |i| Thread.new { ch.recv; order << i }.tap { Thread.pass until ch.num_waiting == i + 1 } }
6.times { ch << nil }
ts.each(&:join)
p order
full = C.new(1) << :x
ts = Array.new(5) { |i| Thread.new { full << i }.tap { Thread.pass until full.num_waiting == i + 1 } }
p Array.new(6) { full.recv }
ts.each(&:join)

# A large message waits for its turn and is not overtaken by small ones.
w = C.new(bytes: 1000)
w << "a" * 600
big = Thread.new { w << "b" * 900 }
Thread.pass until w.num_waiting == 1
small = Thread.new { w << "c" }
Thread.pass until w.num_waiting == 2
p w.try_send(1), w.recv[0], w.recv[0], w.recv[0]
[big, small].each(&:join)
# The large one gives up: the small one behind it goes.
w << "a" * 600
big = Thread.new { w.send("b" * 900, timeout: 0.01) }
Thread.pass until w.num_waiting == 1
small = Thread.new { w << "c" }
p big.value, small.value == w, w.size

# A killed waiter loses nothing.
ch = C.new
t = Thread.new { ch.recv }
Thread.pass until ch.num_waiting == 1
t.kill
ch << 1
t.join
p ch.recv
vm = RubyVM.fork { ch.recv }
Thread.pass until ch.num_waiting == 1
vm.kill
begin
  vm.join
rescue RubyVM::Error => e
  puts e.message
end
ch << 2
p ch.recv, ch.num_waiting

# Nothing can ever come: the deadlock error.
begin
  C.new.recv
rescue Exception => e
  p e.class
end
