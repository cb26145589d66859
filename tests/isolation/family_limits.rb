# Limits stand for a VM and all that descend from it: together they get no more than it would alone.
require_relative "support/family"

puts "-- memory: 10 VMs of 60 MB each under 64"
before = peak
p(outcome(memory_limit: 64 << 20) do
  10.times.map { RubyVM.fork { a = Array.new(60) { "x" * 1_000_000 }; sleep 0.2; a.size } }.map { |vm| vm.value rescue :refused }.include?(:refused)
end)
p peak - before < 128

puts "-- small objects, in VMs that make the next one"
before = peak
p(outcome(memory_limit: 32 << 20) do
  RubyVM.fork { k = Array.new(100_000) { |i| i.to_s }; RubyVM.fork { j = Array.new(100_000) { |i| i.to_s }; RubyVM.fork { Array.new(400_000) { |i| i.to_s }.size }.value + j.size }.value + k.size }.value
end)
p peak - before < 60

puts "-- what dies is given back"
p(outcome(memory_limit: 48 << 20) { 40.times.sum { RubyVM.fork { ("x" * 20_000_000).size / 1_000_000 }.value } })

puts "-- a frozen graph that many hold counts once"
p(outcome(memory_limit: 96 << 20) do
  words = Array.new(100_000) { |i| "word number #{i}".freeze }.freeze
  Ractor.make_shareable(words)
  c = RubyVM::Channel.new
  vms = 12.times.map { RubyVM.fork(c) { |c| list = c.recv; sleep 0.1; list.size } }
  12.times { c << words }
  vms.sum(&:value)
end)

puts "-- narrower limits within it stand as well"
p(outcome(memory_limit: 64 << 20) { RubyVM.fork(memory_limit: 8 << 20) { "x" * 20_000_000 }.value })
p(outcome(memory_limit: 64 << 20) { a = "x" * 20_000_000; RubyVM.fork(memory_limit: 8 << 20) { ("x" * 2_000_000).size }.value })

puts "-- CPU time"
p(outcome(cpu_limit: 0.3, grace: 0) { 3000.times { RubyVM.fork { 3_000_000.times { } }.value }; :done })

puts "-- time: the next of kin ends when the first would have"
told = RubyVM::Channel.new
again = <<~RUBY
  n, told, again = RubyVM::ARGV[0]
  told << n
  sleep 0.2
  RubyVM.new("next", "-e", again).start([n + 1, told, again])
  sleep
RUBY
vm = RubyVM.new("first", "-e", again, wall_limit: 0.7, grace: 0).start([1, told, again])
(vm.join rescue nil)
sleep 0.6
count = 0
count += 1 while told.try_recv
p count.between?(2, 5)
sleep 0.5
p told.try_recv

puts "-- threads, the main one of each VM included"
p(outcome(thread_limit: 5) { 5.times.map { RubyVM.fork { sleep 3 } } })
p(outcome(thread_limit: 5) { 4.times.sum { RubyVM.fork { 1 }.value } + 4.times.map { Thread.new { sleep 0.1; 1 } }.sum(&:value) })
p(outcome(thread_limit: 4) { RubyVM.fork { 3.times.map { Thread.new { sleep 3 } } }.value })

puts "-- descriptors"
two = proc { a = [File.open("/dev/null"), File.open("/dev/null")]; a.count(&:closed?) }
p(outcome(fd_limit: 5) { f = Array.new(4) { File.open("/dev/null") }; RubyVM.fork(&two).value + f.count(&:closed?) })
p(outcome(fd_limit: 5) { 4.times { IO.sysopen("/dev/null") }; RubyVM.fork { IO.sysopen("/dev/null"); IO.sysopen("/dev/null") }.value })
p(outcome(fd_limit: 5) { 20.times.sum { RubyVM.fork { IO.sysopen("/dev/null"); File.open("/dev/null"); 1 }.value } })
p(outcome(fd_limit: 4) { 20.times { IO.for_fd(IO.sysopen("/dev/null")).close }; 4.times.map { File.open("/dev/null") }.size })
