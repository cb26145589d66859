# `ensure` runs after a kill, for the grace time; nothing swallows a kill for longer than that.
seen = RubyVM::Channel.new
vm = RubyVM.fork(seen) { |c| begin; c << :begun; sleep; ensure; c << :ensured; end }
p seen.recv
vm.kill
p seen.recv
p((vm.join rescue $!.message))

# Each of these would go on for ever.
{
  "ensure that loops" => -> { begin; sleep; ensure; loop {}; end },
  "ensure that sleeps" => -> { begin; sleep; ensure; sleep; end },
  "ensure that waits" => -> { Thread.new { sleep }; begin; sleep; ensure; Queue.new.pop; end },
  "rescue Exception" => -> { loop { begin; sleep; rescue Exception; end } },
  "next in ensure" => -> { loop { begin; loop {}; ensure; next; end } },
  "return in ensure" => -> { m = -> { begin; sleep; ensure; return 1; end }; loop { m.call } },
  "ensure in threads" => -> { 3.times { Thread.new { begin; sleep; ensure; loop {}; end } }; sleep },
  "one thread" => -> { Thread.new { begin; sleep; ensure; loop {}; end }; sleep },
  "waiting threads" => -> { 3.times { Thread.new { begin; sleep; ensure; Queue.new.pop; end } }; Thread.new { sleep }; sleep },
  "ensure in a fiber" => -> { Fiber.new { begin; sleep; ensure; loop {}; end }.resume },
  "at_exit" => -> { at_exit { loop {} }; sleep },
  "retry" => -> { begin; loop { raise "x" }; rescue; retry; end },
}.each do |name, job|
  started = RubyVM::Channel.new
  vm = RubyVM.fork(started, job, name: name) { |c, job| c << 1; job.call }
  started.recv
  vm.kill(grace: 0.03)
  puts(begin vm.join(60) ? "not killed" : "timed out"; rescue RubyVM::Error then $!.message end)
end

# Without grace, not even `ensure` runs.
out = RubyVM::Channel.new
vm = RubyVM.fork(out) { |c| begin; c << 1; sleep; ensure; c << 2; end }
out.recv
vm.kill(grace: 0)
p((vm.join rescue $!.message), out.try_recv)

# A second kill may shorten the grace time.
vm = RubyVM.fork(out) { |c| begin; c << 1; sleep; ensure; c << 2; sleep; end }
out.recv
vm.kill(grace: 1000)
p out.recv
vm.kill(grace: 0)
p((vm.join(60) rescue $!.message))

# The killer learns of it once.
c = RubyVM::Channel.new
vm = RubyVM.fork { sleep }
p vm.monitor(c), vm.monitor(RubyVM::Channel.new, 1)
3.times { vm.kill }
p c.recv, c.recv(timeout: 0.01)
p vm.monitor(c), c.recv
p((vm.kill(pace: 1) rescue $!.message), (vm.kill(grace: -1) rescue $!.message))
