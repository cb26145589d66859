# Who writes to a terminal that nobody reads is left at once, on both sides of it.
require "pty"

master, slave = PTY.open
writers = [[slave, "x"], [master, "y"]].map { |io, c| Thread.new { io.write(c * 200_000) } }
sleep 0.2
begun = Process.clock_gettime(Process::CLOCK_MONOTONIC)
writers.each(&:kill).each(&:join)
p Process.clock_gettime(Process::CLOCK_MONOTONIC) - begun < 2

vm = RubyVM.fork { _, s = PTY.open; loop { s.write("z" * 10_000) } }
sleep 0.2
begun = Process.clock_gettime(Process::CLOCK_MONOTONIC)
vm.kill(grace: 0)
vm.join(5) rescue p $!.class
p Process.clock_gettime(Process::CLOCK_MONOTONIC) - begun < 2
