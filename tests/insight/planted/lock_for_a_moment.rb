# Threads of a VM wait for a lock for a moment; after it everybody sleeps.
RubyVM.fork(name: "locks") do
  lock = Mutex.new
  2.times.map { Thread.new { lock.synchronize { sleep 0.01 } } }.each(&:join)
  nil
end.join
sleep 1
