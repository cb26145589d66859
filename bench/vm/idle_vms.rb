# Resident memory and creation time of idle VMs: COUNT VMs (100,000 unless given) that each wait on a channel, then end. Other Rubies do it with
# threads that wait on a Queue (2,000 unless given).
# idle_vms.rb [COUNT] prints lines `name value unit`: resident memory and page tables per waiting one, time to make and to end one, native threads of the process while
# they wait, the process's resident memory before, with them and after, and its page tables after.
zakuro = defined?(RubyVM::Channel)
count = Integer(ARGV[0] || (zakuro ? 100_000 : 2_000))
field = ->(name) { File.read("/proc/self/status")[/^#{name}:\s*(\d+)/, 1].to_i }
now = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) }
if zakuro
  kind = "vm"
  go, ready = RubyVM::Channel.new, RubyVM::Channel.new
  # In a method of its own: a fork's block brings the variables around it along.
  def idle_vm(ready, go) = RubyVM.fork(ready, go) { |r, g| r << 1; g.recv rescue nil }
  make = -> { idle_vm(ready, go) }
  wait = -> { ready.recv }
else
  kind = "thread"
  go, ready = Queue.new, Queue.new
  make = -> { Thread.new { ready << 1; go.pop } }
  wait = -> { ready.pop }
end
# What the first ones make once for all.
warm = Array.new(100) { make.call }
warm.size.times { wait.call }
before, tables = field.call("VmRSS"), field.call("VmPTE")
start = now.call
all = Array.new(count) { make.call }
count.times { wait.call }
made = now.call - start
during = field.call("VmRSS")
puts format("%s_idle_resident %.2f KB", kind, (during - before).fdiv(count))
puts format("%s_idle_page_tables %.2f KB", kind, (field.call("VmPTE") - tables).fdiv(count))
puts format("%s_idle_make %.2f us", kind, made * 1e6 / count)
puts format("%s_idle_native_threads %d x", kind, field.call("Threads"))
start = now.call
go.close
all.each(&:join)
puts format("%s_idle_end %.2f us", kind, (now.call - start) * 1e6 / count)
all = nil
GC.start
# Unused memory goes back three quarters at a time, a few times a second, and its page tables then.
sleep 5
puts format("%s_process_before %.1f MB", kind, before / 1024.0)
puts format("%s_process_with_them %.1f MB", kind, during / 1024.0)
puts format("%s_process_after %.1f MB", kind, field.call("VmRSS") / 1024.0)
puts format("%s_page_tables_after %.1f MB", kind, field.call("VmPTE") / 1024.0)
