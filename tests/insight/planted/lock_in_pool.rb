# Threads of each VM of a pool wait for one lock.
RubyVM::Pool.open(size: 2) do |pool|
  pool.each([1, 2]) do
    lock = Mutex.new
    4.times.map { Thread.new { 20.times { lock.synchronize { sleep 0.005 } } } }.each(&:join)
  end
end
