t = Thread.new { Thread.current[:a] = 1; 5 }
p t.value
p t.alive?
p t[:a]
p t.join.equal?(t)
p Thread.current.class
p Thread.main == Thread.current
p Thread.new { raise "x" }.tap { |x| x.report_on_exception = false }.then { |x| (x.value rescue $!.message) }
q = Queue.new
producer = Thread.new { 5.times { |i| q << i }; q << nil }
r = []
while (v = q.pop); r << v; end
p r
p q.empty?
p producer.join.status
p q.size
m = Mutex.new
n = 0
4.times.map { Thread.new { 100.times { m.synchronize { n += 1 } } } }.each(&:join)
p n
p m.locked?
p m.try_lock
p m.owned?
p m.unlock.locked?
p Thread.new { Thread.stop; 1 }.tap { |x| sleep 0.01 until x.status == "sleep"; x.run }.value, Thread.new { sleep }.tap { |x| Thread.pass; x.kill; x.join }.status
sq = SizedQueue.new(1)
th = Thread.new { 3.times { |i| sq.push(i) } }
p 3.times.map { sq.pop }
p th.join.class
p((q.pop(true) rescue $!.class))
p q.close.closed?
p((q << 1 rescue $!.class))
cv = ConditionVariable.new
ready = false
w = Thread.new { m.synchronize { cv.wait(m) until ready; :woken } }
m.synchronize { ready = true; cv.signal }
p w.value
p Thread.new { throw :x }.tap { |x| x.report_on_exception = false }.then { |x| (x.join rescue $!.class) }
p Thread.current.name.class
p Thread.list.size >= 1
th = Thread.new { begin; sleep; ensure; $ens = :ran; end }
Thread.pass until th.status == "sleep"
th.raise(ArgumentError, "into") 
th.report_on_exception = false
p (th.join rescue $!.message), $ens
