# A pool whose owner takes long for each result.
require_relative "work"
RubyVM::Pool.open(size: 2) { |pool| pool.stream(1..100) { |n| work(0.3); n }.each { work(4) } }
