# Many threads wait for a lock for a moment, for more time than the run takes if one adds it up; after it the program sleeps.
lock = Mutex.new
50.times.map { Thread.new { lock.synchronize { sleep 0.002 } } }.each(&:join)
sleep 1.5
