# A killed VM ends, whatever it waits for.
def killed(name, &job)
  started = RubyVM::Channel.new
  vm = RubyVM.fork(started, job, name: name) { |c, job| c << 1; job.call }
  started.recv
  sleep 0.02
  vm.kill(grace: 5)
  vm.join(60) ? puts("#{name}: not killed") : puts("#{name}: timed out")
rescue RubyVM::Error => e
  puts "#{e.message} #{vm.report[:kind]}"
end

killed("sleep") { sleep }
killed("sleep 1000") { sleep 1000 }
killed("read") { r, w = IO.pipe; r.read }
killed("gets") { r, w = IO.pipe; r.gets }
killed("write") { r, w = IO.pipe; w.write("x" * 1_000_000) }
killed("select") { r, w = IO.pipe; IO.select([r]) }
killed("recv") { RubyVM::Channel.new.recv }
killed("send") { c = RubyVM::Channel.new(1); loop { c << 1 } }
killed("queue") { Thread.new { sleep }; Queue.new.pop }
killed("sized queue") { Thread.new { sleep }; q = SizedQueue.new(1); loop { q << 1 } }
killed("mutex") { m = Mutex.new; Thread.new { m.lock; sleep }; Thread.pass until m.locked?; m.lock }
killed("condition") { Thread.new { sleep }; m = Mutex.new; c = ConditionVariable.new; m.synchronize { c.wait(m) } }
killed("thread join") { Thread.new { sleep }.join }
killed("vm join") { RubyVM.fork(wall_limit: 1) { sleep }.join }
killed("child process") { Process.wait(spawn("sleep 5")) }
killed("fiber") { Fiber.new { Fiber.new { sleep }.resume }.resume }
killed("threads") { 20.times { Thread.new { sleep } }; sleep }
killed("masked") { Thread.handle_interrupt(Object => :never) { sleep } }

# Before it has run at all.
vms = Array.new(30) { RubyVM.fork { sleep } }
vms.each(&:kill)
p vms.map { |v| v.join(60) rescue v.report[:kind] }.tally
not_started = RubyVM.new("late", "-e", "sleep")
not_started.kill
p((not_started.start.join rescue $!.message))
