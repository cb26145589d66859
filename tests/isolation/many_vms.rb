# Many VMs alive at once, each waiting on a channel; every message is delivered exactly once.
n = ENV["ZAKURO_TEST_SCALE"] == "small" ? 20 : 300
work = RubyVM::Channel.new
done = RubyVM::Channel.new
code = "work, done = RubyVM::ARGV\nwhile (x = work.recv)\n  done << [x, x * x]\nend"
vms = Array.new(n) do
  vm = RubyVM.new("ruby", "-e", code)
  vm.start(work, done)
  vm
end
(1..2000).each { |i| work << i }
answers = Array.new(2000) { done.recv }
n.times { work << nil }
vms.each(&:join)
p answers.map(&:first).sort == (1..2000).to_a
p answers.all? { |x, y| y == x * x }
p answers.sum(&:last)
