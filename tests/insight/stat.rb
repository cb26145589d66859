# What is counted of VMs, channels and threads, and who may see it.
EXE = File.readlink("/proc/self/exe")

def counted(code, *options)
  r, w = IO.pipe
  pid = spawn({ "RUBY_MAX_CPU" => "2" }, EXE, "-W0", *options, "-e", code, out: w, err: w)
  w.close
  said = r.read
  Process.wait(pid)
  puts said
end

puts "-- nothing is counted"
counted <<'RUBY'
p RubyVM.current.stat, Thread.current.stat, RubyVM.stat.keys.size
p RubyVM::Channel.new(name: "a").stat, RubyVM::Channel.new.name
p((RubyVM.report rescue $!), (RubyVM.trace(0.01) rescue $!))
p((RubyVM.report(format: :xml) rescue $!.class), (RubyVM::Channel.new(name: 3) rescue $!))
RUBY

puts "-- a channel and its ends"
counted <<'RUBY', "--account"
pipe = RubyVM::Channel.new(2, name: "pipe")
sender = RubyVM.fork(pipe, name: "sender") { |c| 5.times { |i| c << "x" * 100; sleep 0.01 if i == 0 }; c.close }
sleep 0.05
got = pipe.each.to_a.size rescue 0
sender.join
s = pipe.stat
p got, s[:sent], s[:received], s[:deepest], s[:bytes] >= 500, s[:closed], s[:senders], s[:receivers]
p s[:send_wait] > 0
v = sender.stat
p v[:state], v[:waits].keys.sort, v[:wait] == v[:waits].values.sum, v[:life] >= v[:run] + v[:wait]
p v.keys
RUBY

puts "-- a VM that waits tells for what"
counted <<'RUBY', "--account"
c = RubyVM::Channel.new
v = RubyVM.fork(c) { |c| c.recv }
sleep 0.01 until v.stat[:state] == :receive
p v.stat[:channel] == c.inspect[/\d+/].to_i, c.stat[:receive_wait] > 0, v.stat[:waits].keys
c << 1
v.join
p v.stat[:received], v.stat[:state]
w = RubyVM.fork { sleep }
sleep 0.01 until w.stat[:state] == :sleep
p w.stat[:waits].keys
w.kill
(w.join rescue nil)
p w.stat[:state]
RUBY

puts "-- threads"
counted <<'RUBY', "--account"
lock, queue = Mutex.new, Thread::Queue.new
lock.lock
a = Thread.new { lock.synchronize { 1 } }
b = Thread.new { queue.pop }
c = Thread.new { sleep 0.02 }
c.join
lock.unlock
queue << 1
[a, b].each(&:join)
p [a, b, c].map { |t| t.stat[:waits].keys }, Thread.current.stat[:waits].keys
p a.stat[:waits][:lock] > 0
over = c.stat
sleep 0.02
p c.stat == over
# What a tick of the clock is gets better known: no figure falls by it.
seen = 2000.times.map { Thread.current.stat.values_at(:run, :ready, :wait) }
p seen.each_cons(2).all? { |a, b| a.zip(b).all? { |before, now| now >= before } }
RUBY

# What is kept for a timeline takes time, which is none of the VM's.
[[], ["--trace", File::NULL]].each do |options|
  puts "-- what VMs did is all of their lives#{", and events are kept" if options.any?}"
  counted <<'RUBY', "--account", *options
vms = 300.times.map { RubyVM.new("v", "-e", "1").start.tap(&:join) }
stats = vms.map(&:stat)
parts = %i[run collect pack open image compile load ready wait]
life = stats.sum { |s| s[:life] }
p (life - stats.sum { |s| s.values_at(*parts).sum }).abs < 0.05 * life
sleep 0.02
p vms.map(&:stat) == stats
RUBY
end

puts "-- copying the program's state is no running"
counted <<'RUBY', "--account"
$large = Array.new(50_000) { |i| [i, "s#{i}", { i => 1 }] }
s = RubyVM.fork { $large.size }.tap(&:join).stat
p s[:image] > 5 * s[:run]
RUBY

puts "-- workers whose turns did not end count, and those that took their places"
counted <<'RUBY', "--account"
vms = 4.times.map { RubyVM.fork { s = "z" * 60_000_000; 4.times { s = s.reverse }; nil } }.each(&:join)
active = vms.sum { |v| v.stat.values_at(:run, :collect, :image).sum }
p RubyVM.stat[:busy] > 0.95 * active
RUBY

puts "-- the lock of a file"
counted <<'RUBY', "--account"
require "tempfile"
Tempfile.create("lock") do |f|
  f.flock(File::LOCK_EX)
  v = RubyVM.fork(f.path) { |path| File.open(path) { |g| g.flock(File::LOCK_EX) }; nil }
  sleep 0.05
  f.flock(File::LOCK_UN)
  v.join
  p v.stat[:waits].keys
end
RUBY

puts "-- what a VM does"
counted <<'RUBY', "--account"
kept = Array.new(50_000) { |i| [i.to_s] }
GC.start
eval("x = #{(1..300).to_a}; x.sum" * 1)
s = RubyVM.current.stat
p s[:collect] > 0, s[:collections] > 0, s[:run] > 0, s[:compile] > 0
c = RubyVM::Channel.new
c << kept
c.recv
s = RubyVM.current.stat
p s[:pack] > 0, s[:open] > 0, s[:image]
RubyVM.fork { 1 }.value
p RubyVM.current.stat[:image] > 0
p RubyVM.stat.keys.last(5), RubyVM.stat(:vms), RubyVM.stat(:workers)
RUBY

puts "-- who may see what"
counted <<'RUBY', "--account"
RubyVM.fork(name: "other") { 1 }.value
seen = RubyVM.fork(name: "child") do
  RubyVM.fork(name: "grandchild") { 1 }.value
  text = RubyVM.report
  [%w[main other child grandchild].map { |name| text.match?(/^#{name} /) }, (RubyVM.trace(0.01) rescue $!.class), RubyVM.stat(:vms)]
end.value
p seen
text = RubyVM.report
p %w[main other child grandchild].map { |name| text.match?(/^#{name} /) }
c = RubyVM::Channel.new
RubyVM.fork(c) { |c| c << 1 }.value
p RubyVM.fork(c) { |c| c.stat.values_at(:sent, :senders) }.value
RUBY
