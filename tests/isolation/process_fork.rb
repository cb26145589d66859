# fork(2): the copy has the calling thread and the main VM, the parent goes on as if nothing were.
p Process.wait2(fork { exit 3 })[1].exitstatus
pid = fork
if pid
  Process.wait(pid); p $?.exitstatus
else
  at_exit { puts "child at_exit" }
  puts "child #{Process.pid == $$} #{Thread.list.size}"
  exit 5
end
r, w = IO.pipe
pid = fork do
  r.close
  t = Thread.new { sleep 0.05; 42 }
  w.puts t.value
  vm = RubyVM.fork(20) { |x| x + 1 }
  w.puts vm.value
  q = Queue.new
  Thread.new { sleep 0.01; q << 7 }
  w.puts q.pop
  w.puts `echo sub`
  w.puts Process.wait2(fork { exit 9 })[1].exitstatus
  trap(:USR1) { w.puts "trapped" }
  Process.kill(:USR1, $$); sleep 0.1
end
w.close
print r.read
Process.wait(pid); p $?.success?
begin
  fork { $stderr = File.open(File::NULL, "w"); raise "oops" }
ensure
  puts "ensure once"
end
Process.wait; p $?.exitstatus
p Process.wait2(fork { exit! 4 })[1].exitstatus
p Process.wait2(fork { Process.kill(:TERM, $$); sleep 1 })[1].termsig
# other VMs live on in the parent and can't be reached in the child
c = RubyVM::Channel.new
vms = 4.times.map { |i| RubyVM.fork(c, i) { |c, i| loop { 1000.times {}; sleep 0.001; c << i } } }
10.times { c.recv }
pids = 8.times.map { fork { c << 1 rescue 0; exit(vms.none?(&:alive?) ? 0 : 1) } }
p pids.map { Process.wait2(_1)[1].exitstatus }
50.times { c.recv }
vms.each { |v| v.kill(grace: 0) }
IO.popen("-") { |io| io ? p(io.read) : puts("from child #{io.inspect}") }
p RubyVM.fork { begin; fork { }; rescue NotImplementedError; $!.class; end }.value
m = Mutex.new
t = Thread.new { m.synchronize { sleep } }
sleep 0.01
p Process.wait2(fork { m.synchronize { exit 6 } })[1].exitstatus
th = Thread.new { pid = fork { exit Thread.main == Thread.current ? 8 : 9 }; Process.wait2(pid)[1].exitstatus }
p th.value
th = Thread.new { if (pid = fork) then Process.wait2(pid)[1].exitstatus else at_exit { exit 11 }; Thread.current[:a] = 1 end }
p th.value
a = rand; r1 = IO.popen("-") { |io| io ? io.read : print(rand) }
r2 = IO.popen("-") { |io| io ? io.read : print(rand) }
p r1 != r2
# The child has no fiber scheduler.
require "zakuro/fiber_scheduler"
RubyVM::FiberScheduler.run { p Process.wait2(fork { exit(Fiber.scheduler.nil? && Fiber.current.blocking? ? 12 : 13) })[1].exitstatus }
puts :end
