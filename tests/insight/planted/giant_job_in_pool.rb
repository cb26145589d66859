# Jobs of a pool, of which the last one takes longer than all others together.
require_relative "work"
RubyVM::Pool.open(size: 4) { |pool| pool.map([4] * 200 + [1500]) { |size| work(size) } }
