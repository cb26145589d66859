# What a fiber that raises in another one goes on with, who wakes a stopped thread, and waits that nothing can end.
require "zakuro/fiber_scheduler"

S = RubyVM::FiberScheduler
def fatal
  yield
  :none
rescue Exception
  [$!.class, $!.message.lines[0].chomp]
end

# Thread.stop stops the thread with all its fibers.
$woken = false
t = Thread.new { Fiber.set_scheduler(S.new); Fiber.schedule { Thread.stop; $woken = true } }
Thread.pass until t.stop?
p t.status, $woken
t.wakeup
p !!t.join(5), $woken

log = []
S.run do
  a = Fiber.schedule { begin; sleep; rescue => e; log << e.message; end; log << :a }
  Fiber.schedule { log << [:after, a.raise("x")] }
  b = Fiber.schedule { begin; sleep; ensure; log << :ensure; sleep 0.01; log << :slept; end }
  Fiber.schedule { log << b.kill.equal?(b) << b.alive? }
  c = Fiber.schedule { begin; Queue.new.pop; rescue => e; log << e.message; end }
  Fiber.schedule { log << Fiber.new { c.raise("y"); log << :inner; 5 }.resume }
end
p log - [:slept], log.include?(:slept)

p fatal { S.run { Fiber.schedule { Queue.new.pop } } }
p fatal { S.run { m = Mutex.new; m.lock; Fiber.schedule { m.lock }; Thread.new { sleep 0.01 }; Queue.new.pop } }
p fatal { S.run { m, c = Mutex.new, ConditionVariable.new; m.synchronize { c.wait(m) } } }
# What others end is none.
p fatal { S.run { q = Queue.new; Thread.new { sleep 0.01; q << 3 }; p q.pop } }
p fatal { S.run { q = Queue.new; Fiber.schedule { sleep 0.01; q << 4 }; p q.pop } }
p fatal { S.run { c, d = 2.times.map { RubyVM::Channel.new }; RubyVM.fork(c) { |c| sleep 0.01; c << 5 }; Fiber.schedule { c.recv; d << 6 }; p d.recv } }
p fatal { S.run { done, q = Queue.new, Queue.new; Fiber.schedule { p `sleep 0.02; echo 7`; done << 1 }; Thread.new { done.pop; q << 8 }; p q.pop } }
trap(:USR1) { $q << :signal }
p fatal { S.run { $q = Queue.new; Fiber.schedule { sleep }; Thread.new { sleep 0.01; Process.kill(:USR1, $$) }; p $q.pop; Thread.main.raise("stop") } }
# Needs the standard library.
