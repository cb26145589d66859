# CPU and wall-clock limits: an exception in the VM, the grace time, the end; the report names the limit.
def limited(name, **limits, &job)
  vm = RubyVM.fork(name: name, **limits, &job)
  vm.join(60) ? puts("#{name}: ended") : puts("#{name}: timed out")
rescue RubyVM::Error => e
  puts e.message
ensure
  p vm.report
end
$stderr.reopen(File::NULL, "w")
limited("busy", cpu_limit: 0.05) { loop {} }
limited("busy threads", cpu_limit: 0.05) { 3.times { Thread.new { loop {} } }; sleep }
limited("sleeper", wall_limit: 0.05) { sleep }
limited("waiter", wall_limit: 0.05) { Thread.new { sleep }; Queue.new.pop }
limited("reader", wall_limit: 0.05) { r, w = IO.pipe; r.read }
limited("stubborn", cpu_limit: 0.05, grace: 0.05) { begin; loop {}; rescue RubyVM::LimitError; loop {}; end }
limited("both", cpu_limit: 1000, wall_limit: 0.05) { loop {} }
limited("sleeping costs no CPU", cpu_limit: 0.5) { 5.times { sleep 0.01 }; 1 }
limited("quick", cpu_limit: 100, wall_limit: 100, memory_limit: 100_000_000) { 1 }

# The VM sees what happens, and may say so; it ends all the same.
out = RubyVM::Channel.new
vm = RubyVM.fork(out, wall_limit: 0.05) { |c| begin; sleep; rescue RubyVM::LimitError => e; c << [e.class.name, e.message, e.is_a?(StandardError)]; end; :rescued }
p out.recv
p((vm.value rescue $!.message))

# Limits of a VM hold for those that it makes.
p((RubyVM.fork(wall_limit: 0.05) { RubyVM.fork(wall_limit: 1000) { sleep }.join rescue $!.message }.join(60) rescue $!.message))
vm = RubyVM.new("program", "-e", "loop {}", cpu_limit: 0.05, grace: 0)
p((vm.start.join(60) rescue $!.message))
p((RubyVM::Image.capture.spawn(wall_limit: 0.02) { sleep }.join(60) rescue $!.message))
p((RubyVM.fork(memory_limit: 0) {} rescue $!.message), (RubyVM.fork(cpu_limit: -1) {} rescue $!.message), (RubyVM.fork(cpu_limit: "x") {} rescue $!.class))
p((RubyVM.fork(limit: 1) {} rescue $!.message))
