# Threads of a VM that wait for each other's messages, and sleep in between.
pairs = 3.times.flat_map do
  there, back = Queue.new, Queue.new
  [Thread.new { 20.times { there.pop; sleep 0.01; back << 1 } }, Thread.new { 20.times { there << 1; back.pop; sleep 0.01 } }]
end
pairs.each(&:join)
