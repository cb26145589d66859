# Threads hold a lock while they wait for something.
lock = Mutex.new
threads = 4.times.map do
  Thread.new do
    25.times { lock.synchronize { sleep 0.005 } }
  end
end
threads.each(&:join)
