# Standard output that nobody reads: an error that can be rescued; who does not ends by the signal, without a word.
require "rbconfig"
def run(program)
  r, w = IO.pipe
  er, ew = IO.pipe
  pid = spawn(RbConfig.ruby, "-e", program, out: w, err: ew)
  [w, ew, r].each(&:close)
  Process.wait(pid)
  puts er.read.lines.reject { it.include?(" from ") }.join.gsub(/#<Thread:\S+/, "#<Thread"), [$?.exitstatus, $?.termsig].inspect
end
many = "loop { puts 'y' * 100 }"
run "begin; #{many}; rescue Errno::EPIPE; warn $!.class; exit 0; end"
run "begin; #{many}; rescue => e; warn e.class; exit! 5; end"
run "at_exit { warn 'at_exit' }; begin; #{many}; ensure; warn 'ensure'; end"
run many
run "Thread.new { begin; #{many}; rescue Errno::EPIPE; warn 'in a thread'; end }.join"
run "$stdout.sync = true; begin; $stdout.write('x'); rescue SystemCallError; warn $!.class; end; raise 'other'"
run "begin; #{many}; rescue Errno::EPIPE => e; end; raise e"

# What a pipe takes without waiting is what there is room for.
r, w = IO.pipe
n = w.write_nonblock("x" * 200_000)
p n > 4096, (w.write_nonblock("x") rescue $!.class), r.read_nonblock(300_000).size == n
p w.write_nonblock("x" * 10), r.read_nonblock(100)

# Signals of Linux.
p Signal.list.values_at("PWR", "POLL", "IO"), Signal.signame(30), Signal.signame(29)
trap("PWR") { puts "pwr" }
Process.kill("PWR", $$)
sleep 0.01

# A daemon leads its session and group.
r, w = IO.pipe
fork do
  Process.daemon(true, true)
  w.puts [Process.getpgrp == $$, Process.getsid == $$].inspect
  w.close
end
w.close
puts r.read
# Needs the standard library.
