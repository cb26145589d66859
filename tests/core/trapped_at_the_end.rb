# A signal that is trapped, and comes while the process ends, does not end it.
require "rbconfig"
program = <<'RUBY'
trap(:INT) {}
pid = $$
fork do
  300.times { Process.kill(:INT, pid) }
rescue SystemCallError
  nil
ensure
  exit!(0)
end
sleep 0.005
exit 3
RUBY
p 24.times.map { spawn(RbConfig.ruby, "-e", program) }.map { |pid| Process.wait2(pid)[1].then { |s| [s.exitstatus, s.termsig] } }.uniq
