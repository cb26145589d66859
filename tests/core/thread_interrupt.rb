# handle_interrupt, Timeout, preemption, signals.
require "timeout"
log = []
t = Thread.new do
  Thread.handle_interrupt(RuntimeError => :never) do
    Thread.pass until Thread.pending_interrupt?
    log << :inside
  end
  log << :not_reached
rescue => e
  log << e.message
end
Thread.pass
t.raise "later"
t.join
p log
t = Thread.new do
  Thread.handle_interrupt(RuntimeError => :on_blocking) do
    begin
      Thread.pass until Thread.pending_interrupt?
      log << :spun
      sleep
    rescue => e
      log << [:blocking, e.message]
    end
  end
end
Thread.pass
t.raise "b"
t.join
p log
p((Thread.handle_interrupt(RuntimeError => :foo) {} rescue $!.message))
p((Thread.handle_interrupt(RuntimeError => :never) rescue $!.message))
p Timeout.timeout(5) { :fine }
begin
  Timeout.timeout(0.02) { sleep }
rescue Timeout::Error => e
  p e.message
end
begin
  Timeout.timeout(0.02) { loop {} }
rescue Timeout::Error => e
  p e.class
end
begin
  Timeout.timeout(0.02) { Queue.new.pop }
rescue Timeout::Error => e
  p e.class
end
count = [0, 0]
stop = false
a = 2.times.map { |i| Thread.new { count[i] += 1 until stop } }
sleep 0.1
stop = true
a.each(&:join)
p count.all? { |c| c > 10 }
p trap(:USR1) { |n| log << n }
log.clear
Process.kill(:USR1, $$)
p log == [Signal.list["USR1"]]
p trap(:USR1, "IGNORE").class
Process.kill(:USR1, $$)
p trap("SIGUSR1", "DEFAULT")
begin
  Process.kill(:INT, $$)
  sleep 1
rescue Interrupt => e
  p e.class, e.signo
end
begin
  Process.kill("TERM", $$)
  sleep 1
rescue SignalException => e
  p e.message
end
p((trap("FOO") {} rescue $!.class), (trap(:KILL) {} rescue $!.class), (trap(:SEGV) {} rescue $!.message))
r = []
trap(:USR2) { r << Thread.current.main?; raise "from trap" }
t = Thread.new { Thread.pass; Process.kill(:USR2, $$) }
begin
  sleep 2
rescue => e
  r << e.message
end
p r
m = Thread.new { begin; sleep; ensure; puts "thread ends" ; end }
Thread.pass until m.stop?
trap(0) { puts "exit trap" }
at_exit { puts "at exit" }
# Needs the standard library.
