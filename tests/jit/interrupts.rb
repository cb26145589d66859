# Without --gc=stress. Timeout, Thread#raise, Thread#kill and signals reach every kind of hot loop, and `ensure` runs.
require "timeout"
LOOPS = {
  while: -> { i = 0; i = (i + 1) & 0xffff while true },
  floats: -> { x = 0.5; x = x * 0.5 + 0.25 while x > 0.0 },
  times: -> { 1_000_000_000.times { |i| i + 1 } },
  each: -> { a = [1, 2, 3]; a.each { |v| v + 1 } while true },
  loop: -> { loop { 1 + 1 } },
  recursion: -> { fib(90) },
  upto: -> { s = 0; 1.upto(1_000_000_000) { |i| s ^= i } },
  blocks: -> { yields { |v| v + 1 } while true },
  nested: -> { while true; [1, 2].each { |v| j = 0; j += v while j < 100 }; end },
}
def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
def yields = (yield 1; yield 2)
class Stop < StandardError; end
LOOPS.each do |name, body|
  began = Queue.new
  out = []
  begin
    Timeout.timeout(0.05) { begin; body.call; ensure; out << :ensure; end }
  rescue Timeout::Error => e
    out << e.class
  end
  t = Thread.new { begin; began << 1; body.call; rescue Stop => e; e.message; ensure; out << :thread; end }
  began.pop
  sleep 0.03
  t.raise(Stop, "stopped")
  out << t.value
  t = Thread.new { begin; began << 1; body.call; ensure; out << :killed; end }
  began.pop
  sleep 0.03
  t.kill.join
  old = trap("USR1") { raise Stop, "signal" }
  Thread.new { sleep 0.03; Process.kill("USR1", $$) }
  begin
    body.call
  rescue Stop => e
    out << e.message
  end
  trap("USR1", old || "DEFAULT")
  puts "#{name}: #{out.join(" ")}"
end
# Other threads get their turn beside a hot loop, and see what it has written.
$stop = false
n = 0
t = Thread.new { n += 1 until $stop }
sleep 0.01 until n > 0
$stop = true
t.join
p n > 0
# An interrupt that is masked comes when the mask ends.
began = Queue.new
r = Thread.new do
  Thread.handle_interrupt(Stop => :never) do
    i = 0
    began << 1
    i += 1 while i < 3_000_000
    $done = i
    begin
      Thread.handle_interrupt(Stop => :immediate) { i += 1 while true }
    rescue Stop
      :late
    end
  end
end
began.pop
r.raise(Stop)
p r.value, $done
# Needs the standard library.
