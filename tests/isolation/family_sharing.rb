# What several VMs of a limited family show counts once for them; descriptors that nobody has any more make room for copies of streams.
require_relative "support/family"

LIMIT = 48 << 20
before = peak
puts "-- 20 MB that ten VMs show: a String and an Array that are sent, and those that a fork and an image bring along"
p(outcome(memory_limit: LIMIT) do
  text = ("x" * 20_000_000).freeze
  c = RubyVM::Channel.new
  vms = 10.times.map { RubyVM.fork(c) { |c| t = c.recv; sleep 0.1; t.size / 1_000_000 } }
  10.times { c << text }
  vms.sum(&:value)
end)
p(outcome(memory_limit: LIMIT) do
  list = Array.new(2_500_000, 1)
  c = RubyVM::Channel.new
  vms = 10.times.map { RubyVM.fork(c) { |c| l = c.recv; GC.start; sleep 0.1; l.size / 100_000 } }
  10.times { c << list }
  vms.sum(&:value)
end)
p(outcome(memory_limit: LIMIT) do
  text = ("x" * 20_000_000).freeze
  10.times.map { RubyVM.fork { sleep 0.1; GC.start; text.size / 1_000_000 } }.sum(&:value)
end)
p(outcome(memory_limit: LIMIT) do
  $text = ("x" * 20_000_000).freeze
  image = RubyVM::Image.capture
  10.times.map { image.spawn { GC.start; sleep 0.1; $text.size / 1_000_000 } }.sum(&:value)
end)
puts "-- messages that wait, and some in a VM with a limit of its own"
p(outcome(memory_limit: LIMIT) do
  text = ("x" * 20_000_000).freeze
  c = RubyVM::Channel.new
  5.times { c << [text, 1] }
  RubyVM.fork(c, memory_limit: 30 << 20) { |c| Array.new(5) { c.recv }.sum { |t, n| GC.start; n } }.value
end)
p peak - before < 60

puts "-- what is no longer the same does not"
p(outcome(memory_limit: LIMIT) { c = RubyVM::Channel.new; 5.times { c << "x" * 20_000_000 } })
p(outcome(memory_limit: LIMIT) { c = RubyVM::Channel.new; t = "x" * 20_000_000; 5.times { c << t; t << "y" } })
puts "-- and what was shared leaves nothing behind"
p(outcome(memory_limit: LIMIT) do
  c = RubyVM::Channel.new
  d = RubyVM::Channel.new
  RubyVM.fork(c, d) { |c, d| loop { c.recv.size; d << 1 } }
  50.times { text = "x" * 5_000_000; 3.times { c << text; d.recv } }
  50.times { ("y" * 8_000_000).size }
end)
p(outcome(memory_limit: LIMIT) do
  text = ("x" * 10_000_000).freeze
  30.times { RubyVM.fork(text) { |t| t.size }.value }
  Array.new(3) { "y" * 10_000_000 }.size
end)
p peak - before < 80

puts "-- streams that are dead but not collected, at a limit of descriptors"
def litter(n) = n.times { File.open("/dev/null") }
p(outcome(fd_limit: 8) { f = File.open("/dev/zero"); litter(6); RubyVM.fork { f.read(2) }.value })
p(outcome(fd_limit: 8) { f = File.open("/dev/zero"); litter(6); RubyVM.fork(f) { |g| g.read(2) }.value })
p(outcome(fd_limit: 8) { $f = File.open("/dev/zero"); litter(6); i = RubyVM::Image.capture; i.spawn { $f.read(2) }.value })
p(outcome(fd_limit: 8) { f = File.open("/dev/zero"); i = RubyVM::Image.capture; litter(5); i.spawn(f) { |g| g.read(2) }.value })
p(outcome(fd_limit: 8) { f = File.open("/dev/zero"); litter(7); RubyVM.new("a", "-e", "exit RubyVM::ARGV[0].read(2).size").start(f).join.status })
p(outcome(fd_limit: 8) { f = File.open("/dev/zero"); litter(7); c = RubyVM::Channel.new; c << [f, [1, "x"] * 3]; c.recv[1] })
p(outcome(fd_limit: 8) { f = File.open("/dev/zero"); c = RubyVM::Channel.new; 20.times { litter(3); c << f; c.recv.read(2) }; :fine })
p(outcome(fd_limit: 8) { 30.times { f = File.open("/dev/zero"); RubyVM.fork { f.read(1) }.value }; :fine })
puts "-- those that live"
p(outcome(fd_limit: 8) { f = File.open("/dev/zero"); c = RubyVM::Channel.new; 20.times { c << f } })
