# A message wakes the thread that waits for it, not the others of its VM: what it costs does not depend on how many there are.
SMALL = ENV["ZAKURO_TEST_SCALE"] == "small"

def used = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)

# Processor time of some round trips to another VM while so many threads wait at channels of their own.
def cost(waiting, rounds)
  silent = Array.new(waiting) { RubyVM::Channel.new }
  threads = silent.map { |channel| Thread.new { channel.recv } }
  Thread.pass until threads.all? { |t| t.status == "sleep" }
  there, back = RubyVM::Channel.new, RubyVM::Channel.new
  echo = RubyVM.fork(there, back) { |from, to| from.each { |n| to << n } }
  there << 0
  back.recv
  before = used
  rounds.times { |n| there << n; back.recv == n or raise "lost" }
  spent = used - before
  there.close
  echo.join
  # Each is still there, and is woken by its own channel alone.
  silent.each_with_index { |channel, n| channel << n }
  threads.each_with_index { |thread, n| thread.value == n or raise "another's message" }
  spent
end

few, many = SMALL ? [5, 40] : [100, 3_000]
rounds = SMALL ? 20 : 1_500
spent = [few, many].map { |n| Array.new(3) { cost(n, rounds) }.min }
puts "#{spent[1] < 5 * spent[0] + 0.01}"

# Waits that end otherwise: by time, by an exception, by `close`, by select at several channels, by room.
c = RubyVM::Channel.new
p Thread.new { c.recv(timeout: 0.01) }.value
t = Thread.new { c.recv rescue $!.message }
Thread.pass until t.status == "sleep"
t.raise("out")
p t.value
waiting = 3.times.map { Thread.new { c.recv } }
Thread.pass until waiting.all? { |thread| thread.status == "sleep" }
c.close
p waiting.map(&:value)
a, b = RubyVM::Channel.new, RubyVM::Channel.new
chosen = 2.times.map { Thread.new { RubyVM.select(a, b)[1] } }
Thread.pass until chosen.all? { |thread| thread.status == "sleep" }
b << 1
a << 2
p chosen.map(&:value).sort
full = RubyVM::Channel.new(1)
full << 0
senders = 4.times.map { |n| Thread.new { full << n + 1 } }
Thread.pass until senders.all? { |thread| thread.status == "sleep" }
p Array.new(5) { full.recv }.sort, senders.each(&:join).size
# A thread that waits at a channel now, and at a lock or a pipe afterwards.
lock, r, w = Mutex.new, *IO.pipe
lock.lock
d = RubyVM::Channel.new
t = Thread.new { [d.recv, lock.synchronize { :locked }, r.gets, d.recv] }
Thread.pass until t.status == "sleep"
d << 1
sleep 0.01
lock.unlock
sleep 0.01
w.puts "line"
sleep 0.01
d << 2
p t.value
