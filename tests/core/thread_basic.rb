# Life of threads: values, states, exceptions, kill.
p Thread.new(2, 3) { |a, b| a * b }.value
p Thread.new(k: 1) { |k:| k }.value
t = Thread.new { Thread.stop; :woken }
Thread.pass until t.stop?
p t.status, t.alive?, t.stop?
t.run
p t.value, t.status, t.alive?
t = Thread.new { raise ArgumentError, "bad" }
t.report_on_exception = false
begin
  t.join
rescue => e
  p e.class, e.message
end
p t.status
log = []
t = Thread.new do
  begin
    sleep
  ensure
    log << :ensure
  end
end
Thread.pass until t.stop?
p t.kill.equal?(t)
p t.join.equal?(t), t.value, log
t = Thread.new { begin; sleep; rescue IOError => e; [e.class, e.message]; end }
Thread.pass until t.stop?
p t.raise(IOError, "now")
p t.value
p Thread.new {}.join(1).class
t = Thread.new { sleep }
p t.join(0.01)
t.kill.join
p((t.wakeup rescue [$!.class, $!.message]))
p((Thread.new rescue [$!.class, $!.message]))
p((Thread.current.join rescue [$!.class, $!.message]))
class Quiet < Thread
  def initialize; end
end
p((Quiet.new {} rescue $!.class))
class Named < Thread
  def initialize(n)
    @n = n
    super() { @n + 1 }
  end
end
p Named.new(4).value
p Thread.main == Thread.current, Thread.list.size
a = 5.times.map { |i| Thread.new { Thread.pass; i } }
p a.map(&:value)
p Thread.new { Thread.exit; 1 }.value
r = []
x = Thread.new { 3.times { |i| r << [:x, i]; Thread.pass } }
y = Thread.new { 3.times { |i| r << [:y, i]; Thread.pass } }
x.join; y.join
p r.sort, r.size
begin
  Thread.new { exit 3 }.join
rescue SystemExit => e
  p e.status
end
old = $stderr
err = Object.new
def err.write(*s) = $out = $out.to_s + s.join
$stderr = err
t = Thread.new { raise "seen" }
(t.join rescue 0)
$stderr = old
puts $out.gsub(/0x\h+/, "0x").sub(/#{Regexp.escape(__FILE__)}/, "FILE").lines.first.sub(/FILE:\d+/, "FILE")
p Thread.new { Thread.current.report_on_exception }.value
p Thread.new { catch(:a) { throw :a, 7 } }.value
$done = false
spin = Thread.new { n = 0; n += 1 until $done; n > 0 }
Thread.pass
$done = true
p spin.value
