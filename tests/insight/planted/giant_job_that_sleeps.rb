# Jobs of a pool that wait for something outside; the last one waits longer than all others together.
RubyVM::Pool.open(size: 4) { |pool| pool.map([0.02] * 40 + [0.8]) { |seconds| sleep(seconds) } }
