# A thread that is ended in the block of IO.popen, or with a stream to a program open, does not wait for the program.
require "rbconfig"
began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
pids = Queue.new
t = Thread.new { IO.popen(["sleep", "60"]) { |io| pids << io.pid; sleep } }
pid = pids.pop
Thread.pass until t.stop?
t.kill.join
p Process.kill(0, pid)
Process.kill(:KILL, pid)
program = 'Thread.new { IO.popen(["sleep", "60"]) { |io| puts io.pid; $stdout.flush; sleep } }; sleep 0.01 until Thread.list.last.stop? && Thread.list.size == 2; sleep 0.3'
pid = IO.popen([RbConfig.ruby, "-e", program], &:gets).to_i
Process.kill(:KILL, pid)
# One that ends by itself is waited for.
IO.popen(["sh", "-c", "sleep 0.05; exit 3"]) { |io| io.read }
p $?.exitstatus
p Process.clock_gettime(Process::CLOCK_MONOTONIC) - began < 40
