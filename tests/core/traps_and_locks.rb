# What a signal's handler may not do, and which exception it sees.
require "monitor"
m = Mutex.new
tell = ->(&b) { begin; p b.call; rescue ThreadError => e; puts "#{e.class}: #{e.message}"; end }

trap(:USR1) do
  tell.() { m.lock }
  tell.() { m.synchronize { 1 } }
  tell.() { [m.try_lock, m.owned?, m.unlock.locked?] }
  tell.() { Monitor.new.synchronize { 1 } }
  tell.() { Monitor.new.enter }
  tell.() { Monitor.new.then { |x| [x.try_enter, x.synchronize { 2 }, x.exit] } }
  tell.() { Thread.new { m.synchronize { :thread } }.value }
  tell.() { Fiber.new { m.synchronize { :fiber } }.resume }
  tell.() { Thread::Queue.new.then { |q| q << 1; q.pop } }
end
Process.kill(:USR1, $$)
Thread.pass until m.synchronize { true }
tell.() { m.synchronize { :after } }

# Handlers do not interrupt each other.
trap(:USR2) { Process.kill(:USR1, $$); sleep 0.01; puts "the first is done" }
Process.kill(:USR2, $$)
sleep 0.01
tell.() { m.synchronize { :after } }

# One that is left by an exception.
trap(:USR2) { tell.() { m.lock }; raise "left" }
begin
  Process.kill(:USR2, $$)
  sleep 5
rescue => e
  p e
end
tell.() { m.synchronize { :after } }

trap(:USR1) { p $!; begin; raise "inner"; rescue; p $!; end }
Process.kill(:USR1, $$)
begin
  raise "outer"
rescue
  Process.kill(:USR1, $$)
  sleep 0.01
  p $!
end
p $!

# While a handler waits, other threads lock as ever.
q = Thread::Queue.new
other = Thread.new { q.pop; m.synchronize { :other } }
trap(:USR1) { q << 1; p other.value }
Process.kill(:USR1, $$)
sleep 0.01

# A handler that leaves its fiber for ever: others lock, and signals come, as ever.
trap(:USR1) { Fiber.yield(:left) }
trap(:USR2) { puts "usr2" }
p Fiber.new { Process.kill(:USR1, $$); sleep 1 }.resume
p m.synchronize { :root }
Process.kill(:USR2, $$)
sleep 0.01
p Fiber.new { m.synchronize { :another } }.resume
