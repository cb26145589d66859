# Nearly all of the run is one job of a pool.
require_relative "work"
RubyVM::Pool.open(size: 2) { |pool| pool.map([1] * 20 + [1000]) { |size| work(size) } }
