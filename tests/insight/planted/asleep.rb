# VMs that sleep, and one that waits for them.
4.times.map { RubyVM.fork { sleep 0.3 } }.each(&:join)
