# Each job of a pool is waited for before the next one is given.
require_relative "work"
RubyVM::Pool.open(size: 4) { |pool| 150.times { |n| pool.submit(n) { work(4) }.value } }
