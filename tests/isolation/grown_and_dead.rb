# Without --gc=stress. What queues and buffers have grown by is taken off when they die: a limit of memory is for what lives.
def within_limit(&work) = RubyVM.fork(memory_limit: 24 << 20, &work).value

p within_limit { 15_000.times { q = Queue.new; 600.times { q << nil } }; :queues }
p within_limit { 15_000.times { q = Queue.new; 600.times { q << nil }; q.clear; q << 1 }; :cleared }
p within_limit { 15_000.times { Queue.new(Array.new(600)) }; :filled }
p within_limit { 15_000.times { q = SizedQueue.new(600); 600.times { q << nil } }; :sized }
p((within_limit { Array.new(15_000) { q = Queue.new; 600.times { q << nil }; q } } rescue $!.message[/memory limit/]))
