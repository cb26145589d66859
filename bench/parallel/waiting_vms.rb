# N VMs alive at once, each waiting on a channel: native threads of the process and resident memory per VM.
#   waiting_vms.rb [N]
# Prints `name value unit` lines.

count = (ARGV[0] || 1000).to_i

def status(field) = File.read("/proc/self/status")[/^#{field}:\s*(\d+)/, 1].to_i

gate = RubyVM::Channel.new
before = status("VmRSS")
vms = Array.new(count) { |i| RubyVM.new("w#{i}", "-e", "RubyVM::ARGV[0].recv").start(gate) }
Thread.pass while gate.num_waiting < count
puts "waiting_vms #{count} VMs"
puts "native_threads #{status("Threads")} threads"
puts "resident_per_vm #{((status("VmRSS") - before) / count.to_f).round(1)} KB"
count.times { gate << nil }
vms.each(&:join)
puts "resident_after #{status("VmRSS") - before} KB"
