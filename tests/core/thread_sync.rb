# Mutex, ConditionVariable, Monitor.
def try = [yield, nil].first rescue [$!.class, $!.message]
m = Mutex.new
n = 0
8.times.map { Thread.new { 50.times { m.synchronize { v = n; Thread.pass; n = v + 1 } } } }.each(&:join)
p n
p m.locked?, m.try_lock, m.try_lock, m.owned?, Thread.new { m.owned? }.value
p try { m.lock }
p try { Thread.new { Thread.current.report_on_exception = false; m.unlock }.value }
m.unlock
p try { m.unlock }
p try { m.synchronize }
m.lock
t = Thread.new { m.lock; :got }
Thread.pass until t.stop?
m.unlock
p t.value, m.locked?
p m.synchronize { m.sleep(0.001) }.class
c = ConditionVariable.new
ready = []
w = 3.times.map { |i| Thread.new { m.synchronize { c.wait(m) while ready.empty?; ready.shift } } }
Thread.pass until w.all?(&:stop?)
m.synchronize { ready.concat([1, 2, 3]); c.broadcast }
p w.map(&:value).sort
t = Thread.new { m.synchronize { c.wait(m); :signalled } }
Thread.pass until t.stop?
m.synchronize { c.signal }
p t.value
t = Thread.new { m.synchronize { begin; c.wait(m); rescue => e; [e.message, m.owned?]; end } }
Thread.pass until t.stop?
t.raise "out"
p t.value, m.locked?
require "monitor"
mo = Monitor.new
p mo.synchronize { mo.synchronize { mo.mon_owned? } }, mo.mon_locked?
p mo.try_enter, Thread.new { mo.try_enter }.value
mo.exit
p try { mo.exit }.first
class Stack
  include MonitorMixin
  def initialize
    super()
    @a = []
    @c = new_cond
  end
  def push(x) = synchronize { @a.push(x); @c.signal }
  def pop = synchronize { @c.wait_while { @a.empty? }; @a.pop }
end
s = Stack.new
t = Thread.new { 3.times.map { s.pop } }
3.times { |i| s.push(i); Thread.pass }
p t.value.sort
o = Object.new.extend(MonitorMixin)
p o.mon_synchronize { 4 }
f = Fiber.new { m.lock; Fiber.yield; m.unlock }
f.resume
p try { m.lock }
f.resume
p m.locked?
begin
  Thread.new { m.lock; Thread.new { m.lock }.join }.join
rescue Exception => e
  p e.class, e.message.lines.first.chomp
end
