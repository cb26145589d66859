# Resident memory and creation time of idle VMs: COUNT VMs (100,000 unless given) that each wait on a channel, then end.
#
#   zakuro bench/vm/idle_vms.rb [COUNT]
count = Integer(ARGV[0] || 100_000)
field = ->(name) { File.read("/proc/self/status")[/^#{name}:\s*(\d+)/, 1].to_i }
now = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) }
go, ready = RubyVM::Channel.new, RubyVM::Channel.new
# What the first VMs make once for all.
warm = Array.new(100) { RubyVM.fork(ready, go) { |r, g| r << 1; g.recv rescue nil } }
warm.size.times { ready.recv }
before = field.call("VmRSS")
start = now.call
vms = Array.new(count) { RubyVM.fork(ready, go) { |r, g| r << 1; g.recv rescue nil } }
count.times { ready.recv }
made = now.call - start
during = field.call("VmRSS")
printf("%d VMs waiting: %.1f KB resident each, %.1f us to make one, %d native threads\n",
       count, (during - before).fdiv(count), made * 1e6 / count, field.call("Threads"))
start = now.call
go.close
vms.each { |v| v.join }
printf("ended: %.1f us each\n", (now.call - start) * 1e6 / count)
vms = nil
GC.start
# Unused memory goes back by halves, a few times a second.
sleep 5
printf("resident: %.1f MB before, %.1f MB with them, %.1f MB after; %d descriptors\n",
       before / 1024.0, during / 1024.0, field.call("VmRSS") / 1024.0, Dir.children("/proc/self/fd").size)
