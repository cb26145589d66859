# Streams of a pool that are used by `next` and dropped are collected, with their blocks in the pool's VMs, and those that are gone on with after the pool has ended hear of it.
pool = RubyVM::Pool.new(size: 2)
dropped = ObjectSpace::WeakMap.new
take = lambda do |i|
  stream = pool.stream(1.step) { |n| n * i }
  dropped[stream] = true
  [stream.next, stream.next]
end
p((1..100).map(&take).sum { |first, second| second - first })
def room = Array.new(50) { |i| "#{i}" * 3 }
10.times do
  room
  GC.start
  pool.map([1]) { |n| n }
end
p dropped.size < 20
blocks = pool.instance_variable_get(:@crew).members.sum { |member| member.instance_variable_get(:@blocks).size }
p blocks < 40 ? :forgotten : blocks

kept = pool.stream(1.step, ahead: 10) { |n| n + 1 }
done = pool.stream([1, 2, 3]) { |n| n * 10 }
p kept.next, done.next
two = [pool.stream(1..200) { |n| n }, pool.stream(201..400) { |n| n }].map { |stream| Thread.new { stream.sum } }
p two.sum(&:value)
pool.close
p((begin; 1000.times { kept.next }; rescue => e; e; end))
p [done.next, done.next]
p((begin; done.next; rescue StopIteration => e; e.class; end))

pool = RubyVM::Pool.new(size: 2)
kept = pool.stream(1.step, ahead: 10) { |n| n + 1 }
p kept.next
pool.shutdown
p((begin; 1000.times { kept.next }; rescue => e; e.class; end))
