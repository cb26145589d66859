# A pool whose owner makes what it works on, in little steps: the pool's own thread is ready all the time, which is none of the program's.
require_relative "work"
RubyVM::Pool.open(size: 2) { |pool| pool.map((1..100).lazy.map { |n| work(4); n }) { |n| work(0.3); n } }
