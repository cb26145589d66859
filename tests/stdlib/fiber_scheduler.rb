# Fibers under a scheduler: what blocks waits by its hooks, so that many waits of one thread overlap.
require "zakuro/fiber_scheduler"
require "socket"
require "timeout"
require "monitor"

now = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) }
start = now.call
log = []
result = RubyVM::FiberScheduler.run do
  100.times { Fiber.schedule { sleep 0.2 } }
  q = Queue.new
  Fiber.schedule { log << [:queue, q.pop, q.pop, q.pop(timeout: 0.01)] }
  Fiber.schedule { q << 1; sleep 0.02; q << 2 }
  r, w = IO.pipe
  Fiber.schedule { log << [:pipe, r.read(5), r.read]; r.close }
  Fiber.schedule { w << "hello"; sleep 0.05; w << " you"; w.close }
  Fiber.schedule { system("exit 3"); log << [:system, $?.exitstatus, `echo hi`] }
  Fiber.schedule { log << [:timeout, (Timeout.timeout(0.05) { sleep 1 } rescue $!.class)] }
  mutex, order, all_wait = Mutex.new, [], Queue.new
  # Who comes to a free Mutex takes it, whoever was told: the first one holds it until the others stand in line.
  3.times { |i| Fiber.schedule { mutex.synchronize { all_wait.pop if i == 0; sleep 0.01; order << i } } }
  all_wait << 1
  channel = RubyVM::Channel.new
  Fiber.schedule { log << [:channel, channel.recv, channel.recv] }
  RubyVM.fork(channel) { |c| sleep 0.1; c << :from_vm; c << [1] }
  thread = Thread.new { sleep 0.1; :thread }
  Fiber.schedule { log << [:join, thread.value, order] }
  server = TCPServer.new("127.0.0.1", 0)
  Fiber.schedule { 3.times { s = server.accept; Fiber.schedule { s.puts s.gets.upcase; s.close } }; server.close }
  3.times do |i|
    Fiber.schedule do
      s = TCPSocket.new("localhost", server.addr[1])
      sleep 0.02 * (3 - i)
      s.puts "abc#{i}"
      log << [:socket, i, s.gets]
      s.close
    end
  end
  monitor = Monitor.new
  cond = monitor.new_cond
  Fiber.schedule { monitor.synchronize { cond.wait; log << [:signalled] } }
  Fiber.schedule { monitor.synchronize { cond.signal } }
  a, b = IO.pipe
  Fiber.schedule { log << [:closed, (a.read rescue $!.message)] }
  Fiber.schedule { a.close; b.close }
  Fiber.schedule { log << [:nested, [1, 2].each.next, Fiber.new { Fiber.yield(sleep 0.01) }.resume] }
  :result
end
p result, now.call - start < 5
log.sort_by(&:inspect).each { p _1 }

# What a fiber raises ends the run, like the block of a thread.
p((RubyVM::FiberScheduler.run { Fiber.schedule { raise "lost" }; sleep 0.01 } rescue $!.message))
# A scheduler goes with its thread, which runs what is left.
Thread.new { Fiber.set_scheduler(RubyVM::FiberScheduler.new); Fiber.schedule { sleep 0.01; p Fiber.scheduler.class, Fiber.current_scheduler.class } }.join
p Fiber.scheduler, Fiber.current_scheduler
p((Fiber.schedule {} rescue $!), (Fiber.set_scheduler(Object.new) rescue $!.message))
# Nothing but the end of a child, or of a thread, ends these waits.
RubyVM::FiberScheduler.run { p Process.wait2(spawn("exit 12"))[1].exitstatus, Thread.new { sleep 0.01; 7 }.value }
# Kills leave: a VM whose fibers all wait.
# One sleeps, which a signal could end: else it would be a deadlock, which is told if the kill does not come first.
vm = RubyVM.fork { RubyVM::FiberScheduler.run { 50.times { Fiber.schedule { Queue.new.pop } }; Fiber.schedule { sleep } } }
sleep 0.1
vm.kill(grace: 0)
p !(vm.join(5) rescue :ended).nil?
# Needs the standard library.
