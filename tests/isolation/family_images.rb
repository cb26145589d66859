# What forks, images and waiting messages keep of their maker's state counts for the family of a limited VM, whoever lets go of it first.
require_relative "support/family"

before = peak
puts "-- kept by children, by images, by messages about an end"
p(outcome(memory_limit: 32 << 20) { 100.times { $a = "x" * 2_000_000; RubyVM.fork { sleep 3 } } })
p(outcome(memory_limit: 32 << 20) { Array.new(200) { $a = "x" * 2_000_000; RubyVM::Image.capture }.size })
p(outcome(memory_limit: 32 << 20) { Array.new(60) { $a = Array.new(20) { "x" * 100_000 }; RubyVM::Image.capture }.size })
p(outcome(memory_limit: 32 << 20) { v = RubyVM.fork { sleep 3 }; 200.times { v.monitor(RubyVM::Channel.new, "x" * 2_000_000) } })

puts "-- a line of VMs of which one is alive at a time"
def hop(n, told)
  RubyVM.fork(n, told) { |m, c| $keep = Array.new(200) { "x" * 100_000 }; m > 0 ? hop(m - 1, c) : c << :all }
end
told = RubyVM::Channel.new
RubyVM.fork(told, memory_limit: 64 << 20) { |c| hop(20, c); sleep 1 }.join rescue nil
p told.try_recv
p peak - before < 300

puts "-- what is let go of is given back"
p(outcome(memory_limit: 48 << 20) { $d = "x" * 8_000_000; 50.times.sum { RubyVM.fork { $d.size / 1_000_000 }.value } })
p(outcome(memory_limit: 48 << 20) { 100.times { $d = "x" * 2_000_000; RubyVM::Image.capture.spawn { $d.size }.value }; :fine })
p(outcome(fd_limit: 10) { 50.times { Dir.for_fd(IO.sysopen("/tmp")); GC.start }; :fine })
