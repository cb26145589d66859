# What a pool works on is made by its owner, which takes longer than the work.
require_relative "work"
RubyVM::Pool.open(size: 4) { |pool| pool.each(Enumerator.new { |out| 200.times { |n| work(6); out << n } }) { work(0.3) } }
