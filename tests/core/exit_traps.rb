# The trap of EXIT sees what ends the program, and one that fails ends it as an at_exit block does.
program = <<~'RUBY'
  at_exit { p [:at_exit, $!] }
  trap(:EXIT) { p [:trap, $!]; ARGV[1] == "raise" ? raise("in trap") : ARGV[1] == "exit" ? exit(7) : nil }
  case ARGV[0]
  when "exit" then exit 3
  when "raise" then raise "x"
  when "kill" then Process.kill(:TERM, $$); sleep 5
  when "abort" then abort "bye"
  when "thread" then Thread.new { exit 4 }.join
  end
RUBY
require "open3"
require "rbconfig"
%w[none exit raise kill abort thread].product(["", "raise", "exit"]).each do |ends, trap|
  out, status = Open3.capture2e(RbConfig.ruby, "-e", program, ends, trap)
  puts "== #{ends} #{trap}", out, status.exitstatus.inspect, status.termsig.inspect
end
# Needs the standard library.
