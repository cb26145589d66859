# `kill(grace: 0)` at a random moment ends a VM, whatever it waits for and whoever wakes it just then: in quiet, and beside VMs that keep all workers busy.
require "monitor"
require "timeout"
require "socket"
require "tmpdir"
small = ENV["ZAKURO_TEST_SCALE"] == "small"
DIR = Dir.mktmpdir
at_exit { Dir.children(DIR).each { File.unlink("#{DIR}/#{_1}") }; Dir.rmdir(DIR) }
def beside(&job) = Thread.new { loop(&job) }
kinds = {
  "sleep" => -> { loop { sleep 0.0005 } },
  "sleep, woken" => -> { t = Thread.current; beside { t.wakeup; Thread.pass }; loop { sleep } },
  "stop" => -> { t = Thread.current; beside { t.run if t.stop? }; loop { Thread.stop } },
  "pipe" => -> { r, w = IO.pipe; beside { w << "x\n"; sleep 0.0001 }; loop { r.gets } },
  "full pipe" => -> { r, w = IO.pipe; beside { r.readpartial(70_000) }; loop { w << "x" * 200_000 } },
  "full pipe, buffered" => -> { r, w = IO.pipe; w.sync = false; nil while w.write_nonblock("x" * 4096, exception: false) != :wait_writable; w << "abc"; $r, $w = r, w; sleep },
  "full pipe at the end" => -> { n = "#{DIR}/e#{RubyVM.current.id}"; File.mkfifo(n); r = File.open(n, "r+"); w = File.open(n, "w"); w.sync = false; nil while w.write_nonblock("x" * 4096, exception: false) != :wait_writable; w << "abc"; exit },
  "select" => -> { r, w = IO.pipe; beside { w << "x"; r.readpartial(9) }; loop { IO.select([r], nil, nil, 0.0003) } },
  "socket" => -> { a, b = UNIXSocket.pair; beside { b << "x"; Thread.pass }; loop { a.readpartial(10) } },
  "accept" => -> { s = UNIXServer.new("#{DIR}/#{RubyVM.current.id}"); beside { UNIXSocket.new(s.path).close }; loop { s.accept.close } },
  "lock of a file" => -> { f = File.open(__FILE__); g = File.open(__FILE__); g.flock(File::LOCK_EX); loop { f.flock(File::LOCK_EX) } },
  "fifo without a writer" => -> { n = "#{DIR}/f#{RubyVM.current.id}"; File.mkfifo(n); File.open(n) },
  "fifo without a reader" => -> { n = "#{DIR}/g#{RubyVM.current.id}"; File.mkfifo(n); File.open(n, "w") },
  "child process" => -> { loop { system("true") } },
  "receive" => -> { c = RubyVM::Channel.new; beside { c << 1; Thread.pass }; loop { c.recv } },
  "receive in time" => -> { c = RubyVM::Channel.new; beside { c << 1; sleep 0.0001 }; loop { c.recv(timeout: 0.0001) } },
  "send" => -> { c = RubyVM::Channel.new(1); beside { c.recv }; loop { c << 1 } },
  "selection of channels" => -> { a, b = RubyVM::Channel.new, RubyVM::Channel.new; beside { a << 1; b << 2; sleep 0.0001 }; loop { RubyVM.select(a, b) } },
  "queue" => -> { q = Queue.new; beside { q << 1; Thread.pass }; loop { q.pop } },
  "queue in time" => -> { q = Queue.new; beside { q << 1; sleep 0.0001 }; loop { q.pop(timeout: 0.0001) } },
  "sized queue" => -> { q = SizedQueue.new(1); beside { q.pop }; loop { q << 1 } },
  "mutex" => -> { m = Mutex.new; 3.times { beside { m.synchronize { Thread.pass } } }; loop { m.synchronize { Thread.pass } } },
  "mutex, asleep" => -> { m = Mutex.new; beside { m.synchronize { Thread.pass } }; loop { m.synchronize { m.sleep(0.0005) } } },
  "condition" => -> { m, c = Mutex.new, ConditionVariable.new; beside { m.synchronize { c.signal } }; loop { m.synchronize { c.wait(m, 0.001) } } },
  "conditions" => -> { m, c = Mutex.new, ConditionVariable.new; 5.times { beside { m.synchronize { c.wait(m) } } }; loop { m.synchronize { c.broadcast }; Thread.pass } },
  "monitor" => -> { m = Monitor.new; 3.times { beside { m.synchronize { m.synchronize { Thread.pass } } } }; loop { m.synchronize { Thread.pass } } },
  "condition of a monitor" => -> { m = Monitor.new; c = m.new_cond; beside { m.synchronize { c.signal } }; loop { m.synchronize { c.wait(0.001) } } },
  "join of threads" => -> { loop { Thread.new { Thread.pass }.join } },
  "value of a thread" => -> { t = Thread.new { sleep }; t.value },
  "storm of exceptions" => -> { t = Thread.current; m = Mutex.new; beside { m.synchronize { t.raise("x") } }; Thread.handle_interrupt(RuntimeError => :on_blocking) { loop { m.synchronize { m.sleep(0.0001) } rescue 0 } } },
  "storm of kills" => -> { m, c = Mutex.new, ConditionVariable.new; loop { t = Thread.new { loop { m.synchronize { c.wait(m, 0.0001) } } }; Thread.pass; t.kill; t.join } },
  "join of a VM" => -> { loop { RubyVM.fork { 1 }.join } },
  "join of each other" => -> { me = RubyVM.current; RubyVM.fork(me, wall_limit: 10) { |v| v.join }.join },
  "ractor" => -> { r = Ractor.new { loop { Ractor.receive } }; at_exit { r }; loop { r.send(1); sleep 0.0005 } },
  "fibers" => -> { deep = ->(n) { n == 0 ? loop { sleep 0.0001 } : Fiber.new { deep.(n - 1) }.resume }; deep.(30) },
  "transfers" => -> { f = nil; g = Fiber.new { loop { f.transfer } }; f = Fiber.new { loop { g.transfer } }; f.transfer },
  "enumerators" => -> { e = (1..).lazy.map { Thread.pass; _1 }.each_entry; f = Enumerator.new { |y| loop { y << e.next } }; loop { f.next } },
  "timeout" => -> { loop { Timeout.timeout(0.0005) { sleep } rescue 0 } },
  "timeouts inside" => -> { loop { Timeout.timeout(10) { Timeout.timeout(0.0005) { Queue.new.pop } } rescue 0 } },
  "masked" => -> { Thread.handle_interrupt(Object => :never) { loop { sleep 0.0005 } } },
  "ensure" => -> { loop { begin; sleep 0.0005; ensure; sleep 0.0005; end } },
  "rescue" => -> { loop { begin; sleep; rescue Exception; retry; end } },
  "traps" => -> { trap(:USR1) { sleep 0.0003 }; beside { Process.kill(:USR1, $$); sleep 0.0001 }; loop { sleep 0.0005 } },
  "finalizers" => -> { loop { ObjectSpace.define_finalizer(+"x", proc { sleep 0.0005 }); GC.start } },
  "at_exit" => -> { again = -> { at_exit(&again); sleep 0.0005 }; at_exit(&again); exit },
  "end of threads" => -> { 5.times { Thread.new { begin; sleep; ensure; Thread.new { sleep }; sleep 0.001 while true; end } }; Thread.pass; exit },
  "loads" => -> { n = "#{DIR}/l#{RubyVM.current.id}.rb"; File.write(n, "sleep"); Thread.new { load n; require n }; Thread.new { require n }; require n },
}
busy = nil
2.times do |under_load|
  busy = Array.new(2) { RubyVM.fork { loop {} } } if under_load == 1
  kinds.each do |name, job|
    (small ? 1 : 3 - under_load).times do |i|
      begun = RubyVM::Channel.new
      vm = RubyVM.fork(begun, job, name: name) { |c, job| c << 1; $stderr = File.open(File::NULL, "w"); job.call }
      begun.recv
      sleep(rand * 0.003 * i)
      vm.kill(grace: 0)
      begin
        vm.join(30) or puts "#{name}: not killed"
        puts "#{name}: ended, #{vm.report}"
      rescue RubyVM::Error => e
        puts e.message unless vm.report[:kind] == :killed
      end
    end
  end
end
busy.each { |v| v.kill(grace: 0) }
p kinds.size
# Needs the standard library.
