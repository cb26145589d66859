# Whether each of two VMs at work runs as fast as the other: calls and small integers, the least of many short rounds, which noise can't lower. By chance of
# memory placement the second one ran 16% slower (docs/decisions/0009-hot-handlers-save-no-registers.md).
#   second_vm.rb [VMS]   (2 by default; pinned to one core, `taskset -c 0`, all run one after the other)
# Prints `vm_N VALUE us` for each and `slowest_to_fastest VALUE x`.

def tak(x, y, z) = x <= y ? y : tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y))

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

if defined?(RubyVM::ARGV) && RubyVM::ARGV && !RubyVM::ARGV.empty?
  number, out = RubyVM::ARGV
  best = Float::INFINITY
  400.times do
    start = now
    20.times { |i| tak(8 + i % 2, 4, i % 2) }
    took = now - start
    best = took if took < best
  end
  out << [number, best]
else
  out = RubyVM::Channel.new
  vms = Array.new((ARGV[0] || 2).to_i) { |i| RubyVM.new("tak-#{i}", __FILE__).start(i, out) }
  bests = vms.map { out.recv }.sort.map { |_, best| best * 1e6 }
  vms.each(&:join)
  bests.each_with_index { |best, i| puts "vm_#{i} #{format('%.0f', best)} us" }
  puts "slowest_to_fastest #{format('%.3f', bests.max / bests.min)} x"
end
